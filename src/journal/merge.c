// Whole journals: content as text, and shards put together.
#include "journal/journal_internal.h"

#include <inttypes.h>
#include <stdlib.h>

// ---- As text -----------------------------------------------------------------------------------------

static bool dump_launch(void *context, const GoldenRow *row) {
  text_add(context, "launch %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", row->launch, row->kernel, row->began_at,
           row->cycles, row->thread_instructions, row->warp_instructions, row->registers, row->source);
  return true;
}

static bool dump_structure(void *context, const StructureRow *row) {
  text_add(context, "structure %u %s %" PRIu64 " %u %u %.9g %.9g\n", row->region, row->name, row->rows, row->units, row->bits, row->used,
           row->raw_fit_per_mbit);
  return true;
}

// Every column, as SQLite would show it.
static void dump_rows(const Journal *journal, const char *sql, Text *out) {
  Query *query = journal_query(journal, sql);
  while (query_next(query)) {
    for (uint32_t i = 0; i < query_columns(query); i++) {
      Cell cell = query_cell(query, i);
      if (cell.kind == CELL_INTEGER) text_add(out, "%" PRId64 "|", cell.integer);
      else if (cell.kind == CELL_REAL) text_add(out, "%.17g|", cell.real);
      else text_add(out, "%s|", cell.text);
    }
    text_add_bytes(out, "\n", 1);
  }
  query_end(query);
}

void journal_dump(const Journal *journal, Text *out) {
  const JournalMeta *meta = &journal->meta;
  text_add(out, "%s\n%s%s\n%s%s\n%s\n%s\n%s\n%016" PRIx64 "\n%016" PRIx64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "/%" PRIu64 "\n",
           meta->target, meta->arguments, meta->machine, meta->settings, meta->protection, meta->model, meta->structures, meta->window,
           meta->program_hash, meta->layout_hash, meta->seed, meta->timeout, meta->shard, meta->shards);
  if (meta->standing[0] != '\0') text_add(out, "standing fault %s\n", meta->standing);
  if (meta->sampling[0] != '\0') text_add(out, "sampling %s\n", meta->sampling);
  const JournalNote notes[] = {NOTE_ASKED_FAULTS, NOTE_ASKED_MARGIN, NOTE_ASKED_CONFIDENCE, NOTE_SETTLED_BELOW,
                               NOTE_COMPLETE,     NOTE_SCHEME_BITS,  NOTE_CHIP_BITS,        NOTE_OUTPUT_ELEMENTS};
  for (size_t i = 0; i < COUNT_OF(notes); i++) text_add(out, "%s %s\n", note_keys[notes[i]], journal_note(journal, notes[i]));
  journal_each_golden(journal, dump_launch, out);
  journal_each_structure(journal, dump_structure, out);
  dump_rows(journal, "SELECT * FROM sources ORDER BY source", out);
  dump_rows(journal, "SELECT * FROM faults ORDER BY id", out);
}

// ---- Merged ------------------------------------------------------------------------------------------

typedef struct Merge {
  Journal *into;
  Diags *diags;
} Merge;

static bool merge_launch(void *context, const GoldenRow *row) {
  return journal_put_golden(((Merge *)context)->into, row, 1, ((Merge *)context)->diags);
}
static bool merge_structure(void *context, const StructureRow *row) {
  return journal_put_structures(((Merge *)context)->into, row, 1, ((Merge *)context)->diags);
}
static bool merge_fault(void *context, const FaultRow *row) {
  return journal_put_fault(((Merge *)context)->into, row, ((Merge *)context)->diags);
}

// Whether these are all shards of one campaign: known before anything is written.
static bool check_shard(const Journal *shard, const Journal *first, bool *seen, uint32_t count, Diags *diags) {
  JournalMeta meta = first->meta;
  uint64_t number = shard->meta.shard, shards = shard->meta.shards;
  if (shards != count) {
    return diags_add(diags, shard->path, 0, 0, "is shard %" PRIu64 " of %" PRIu64 ", but %u journals are given", number, shards, count);
  }
  if (number >= count || seen[number]) return diags_add(diags, shard->path, 0, 0, "shard %" PRIu64 " is given twice", number);
  seen[number] = true;
  JournalState state = journal_state(shard);
  if (!state.complete) {
    return diags_add(diags, shard->path, 0, 0,
                     "is unfinished: %" PRIu64 " of %" PRIu64 " faults; run its campaign again to the end, then merge", state.done,
                     state.asked);
  }
  const JournalNote asked[] = {NOTE_ASKED_FAULTS, NOTE_ASKED_MARGIN, NOTE_ASKED_CONFIDENCE};
  for (size_t i = 0; i < COUNT_OF(asked); i++) {
    const char *here = journal_note(shard, asked[i]), *there = journal_note(first, asked[i]);
    if (strcmp(here, there) != 0)
      return diags_add(diags, shard->path, 0, 0, "was made with another wish: its %s is %s, of the first shard %s", note_keys[asked[i]],
                       here, there);
  }
  meta.shard = number;
  return journal_same_meta(shard, &meta, diags);
}

static bool merge_sources(Journal *into, const Journal *shard, Diags *diags) {
  Query *query = journal_query(shard, "SELECT source, name, text FROM sources ORDER BY source");
  bool good = true;
  while (good && query_next(query)) {
    good = journal_put_source(into, (uint32_t)query_cell(query, 0).integer, query_cell(query, 1).text, query_cell(query, 2).text, diags);
  }
  return query_end(query) && good;
}

// All shards were asked for the same, by commands that differ in the shard alone.
static bool merge_notes(Journal *into, const Journal *first, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < NOTE_COUNT && good; i++) {
    const char *value = journal_note(first, (JournalNote)i);
    if (value[0] != '\0') good = journal_put_note(into, (JournalNote)i, value, diags);
  }
  return good;
}

static bool merge_shard(Journal *into, const Journal *shard, Diags *diags) {
  Merge merge = {into, diags};
  bool good = journal_each_golden(shard, merge_launch, &merge) && journal_each_structure(shard, merge_structure, &merge) &&
              merge_sources(into, shard, diags) && journal_each_fault(shard, merge_fault, &merge);
  if (!good && diags->count == 0) return journal_damaged(shard, diags);
  return good && journal_commit(into, diags);
}

bool journal_merge(const char *path, const char *const *shards, uint32_t count, Diags *diags) {
  Journal **all = calloc(count + 1, sizeof *all), *into = NULL;
  bool *seen = calloc(count + 1, sizeof *seen), good = count > 0;
  ASSERT(all != NULL && seen != NULL);
  for (uint32_t i = 0; i < count && good; i++) {
    all[i] = journal_read(shards[i], diags);
    good = all[i] != NULL && check_shard(all[i], all[0], seen, count, diags);
  }
  if (good) {
    JournalMeta meta = all[0]->meta;
    meta.shard = 0;
    meta.shards = 1;
    into = journal_open(path, &meta, diags);
    good = into != NULL && merge_notes(into, all[0], diags);
  }
  for (uint32_t i = 0; i < count && good; i++) good = merge_shard(into, all[i], diags);
  journal_close(into);
  for (uint32_t i = 0; i < count; i++) journal_close(all[i]);
  free(all);
  free(seen);
  return good;
}
