// Whole journals: content as text and as a hash, and shards put together.
#include "journal/journal_internal.h"

#include <inttypes.h>
#include <stdlib.h>

// ---- As text -----------------------------------------------------------------------------------------

static bool dump_launch(void *context, const GoldenRow *row) {
  text_add(context, "launch %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u\n", row->launch, row->kernel, row->began_at,
           row->cycles, row->thread_instructions, row->warp_instructions, row->registers, row->source);
  if (row->needs != 0) text_add(context, "needs %u\n", row->needs);
  return true;
}

static bool dump_structure(void *context, const StructureRow *row) {
  text_add(context, "structure %u %s %" PRIu64 " %u %u %.9g %.9g %s\n", row->region, row->name, row->rows, row->units, row->bits, row->used,
           row->raw_fit_per_mbit, structure_kinds[row->kind]);
  if (row->origin[0] != '\0') text_add(context, "needed %.9g, %s %s\n", row->needed, row->origin, row->stands_for);
  if (row->drawn < 1) text_add(context, "drawn %.17g\n", row->drawn);
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
  if (meta->tolerance[0] != '\0') text_add(out, "tolerance %s\n", meta->tolerance);
  if (meta->sampling[0] != '\0') text_add(out, "sampling %s\n", meta->sampling);
  if (strcmp(meta->draw, "used") == 0) text_add(out, "drawn from what is used\n");
  const JournalNote notes[] = {NOTE_ASKED_FAULTS,   NOTE_ASKED_MARGIN,  NOTE_ASKED_CONFIDENCE, NOTE_SETTLED_BELOW,      NOTE_COMPLETE,
                               NOTE_SCHEME_BITS,    NOTE_CELLS,         NOTE_CHIP_BITS,        NOTE_OUTPUT_ELEMENTS,    NOTE_ENERGY_DYNAMIC,
                               NOTE_ENERGY_LEAKAGE, NOTE_OCCUPANCY_SMS, NOTE_OCCUPANCY_WARPS,  NOTE_OCCUPANCY_REGISTERS};
  for (size_t i = 0; i < COUNT_OF(notes); i++) text_add(out, "%s %s\n", note_keys[notes[i]], journal_note(journal, notes[i]));
  journal_each_golden(journal, dump_launch, out);
  journal_each_structure(journal, dump_structure, out);
  if (journal_has_drawn(journal)) dump_rows(journal, "SELECT * FROM drawn ORDER BY region, launch, slice", out);
  dump_rows(journal, "SELECT * FROM sources ORDER BY source", out);
  dump_rows(journal, "SELECT * FROM faults ORDER BY id", out);
}

// ---- As a hash ---------------------------------------------------------------------------------------

static uint64_t hash_cell(Cell cell, uint64_t hash) {
  hash = hash_bytes(&(uint64_t){cell.kind}, sizeof(uint64_t), hash);
  if (cell.kind == CELL_INTEGER) return hash_bytes(&cell.integer, sizeof cell.integer, hash);
  if (cell.kind == CELL_REAL) return hash_bytes(&cell.real, sizeof cell.real, hash);
  return hash_bytes(cell.text, strlen(cell.text), hash);
}

static bool hash_rows(const Journal *journal, const char *sql, uint64_t *hash) {
  Query *query = journal_query(journal, sql);
  while (query_next(query)) {
    for (uint32_t i = 0; i < query_columns(query); i++) *hash = hash_cell(query_cell(query, i), *hash);
  }
  return query_end(query);
}

bool journal_hash(const Journal *journal, uint64_t *hash) {
  Text meta = {0};
  text_add(&meta, "SELECT key, value FROM meta WHERE key NOT IN ('%s', '%s', '%s', '%s') ORDER BY key", note_keys[NOTE_DATE],
           note_keys[NOTE_COMMAND], note_keys[NOTE_HOST], note_keys[NOTE_FOLDER]);
  const char *drawn = journal_has_drawn(journal) ? "SELECT * FROM main.drawn ORDER BY region, launch, slice" : "SELECT 0 WHERE 0";
  const char *const tables[] = {meta.at,
                                "SELECT * FROM main.launches ORDER BY launch",
                                "SELECT * FROM main.structures ORDER BY region",
                                drawn,
                                "SELECT * FROM main.sources ORDER BY source",
                                "SELECT * FROM main.outcomes ORDER BY outcome",
                                "SELECT * FROM main.faults ORDER BY id"};
  bool good = true;
  *hash = JOURNAL_VERSION;
  for (size_t i = 0; i < COUNT_OF(tables) && good; i++) {
    *hash = hash_bytes(&(uint64_t){i}, sizeof(uint64_t), *hash);
    good = hash_rows(journal, tables[i], hash);
  }
  text_free(&meta);
  return good;
}

// ---- Merged ------------------------------------------------------------------------------------------

// One file of a merge. Files are opened one at a time: there may be thousands.
typedef struct Piece {
  const char *path;
  uint64_t number, end; // shard; or first fault of a part, and the one after its last
} Piece;

// Rows of parts come in order of their numbers, so that what is committed is not touched again. Rows of shards go everywhere: each page changes with
// each shard, and is written once if it stays in memory till the end.
enum { COMMIT_ROWS = 1 << 16, CACHE_KILOBYTES = 256 * 1024 };

typedef struct Merge {
  const char *path;
  Piece *pieces;
  uint32_t count;
  Journal *first, *into; // the first that was given; what is written
  uint64_t uncommitted;  // rows
  Rounds rounds;
  Arena *arena;
  Diags *diags;
} Merge;

static bool merge_launch(void *context, const GoldenRow *row) {
  return journal_put_golden(((Merge *)context)->into, row, 1, ((Merge *)context)->diags);
}
static bool merge_structure(void *context, const StructureRow *row) {
  return journal_put_structures(((Merge *)context)->into, row, 1, ((Merge *)context)->diags);
}
static bool merge_drawn(void *context, const DrawnRow *row) {
  return journal_put_drawn(((Merge *)context)->into, row, 1, ((Merge *)context)->diags);
}
static bool merge_fault(void *context, const FaultRow *row) {
  Merge *merge = context;
  merge->uncommitted++;
  return !rounds_take(&merge->rounds, row) || journal_put_fault(merge->into, row, merge->diags);
}

static bool check_wish(const Merge *merge, const Journal *shard) {
  const JournalNote asked[] = {NOTE_ASKED_FAULTS, NOTE_ASKED_MARGIN, NOTE_ASKED_CONFIDENCE};
  for (size_t i = 0; i < COUNT_OF(asked); i++) {
    const char *here = journal_note(shard, asked[i]), *there = journal_note(merge->first, asked[i]);
    if (strcmp(here, there) != 0)
      return diags_add(merge->diags, shard->path, 0, 0, "was made with another wish: its %s is %s, of the first shard %s",
                       note_keys[asked[i]], here, there);
  }
  return true;
}

// Whether it belongs to the campaign of the first one, and is complete: known before anything is written.
static bool check_shard(const Merge *merge, const Journal *shard) {
  JournalMeta meta = merge->first->meta;
  uint64_t number = shard->meta.shard, shards = shard->meta.shards;
  bool is_part = merge->first->meta.end > 0;
  if (!is_part && shards != merge->count) {
    return diags_add(merge->diags, shard->path, 0, 0, "is shard %" PRIu64 " of %" PRIu64 ", but %u journals are given", number, shards,
                     merge->count);
  }
  JournalState state = journal_state(shard);
  if (!state.complete) {
    return diags_add(merge->diags, shard->path, 0, 0,
                     "is unfinished: %" PRIu64 " of %" PRIu64 " faults; run its campaign again to the end, then merge", state.done,
                     state.asked);
  }
  meta.shard = number;
  if (is_part && shard->meta.end > 0) {
    meta.first = shard->meta.first;
    meta.end = shard->meta.end;
    meta.enough = shard->meta.enough;
  }
  return check_wish(merge, shard) && journal_same_meta(shard, &meta, merge->diags);
}

static bool look_at(Merge *merge, Piece *piece) {
  bool is_first = merge->first == NULL;
  Journal *shard = journal_read(piece->path, merge->diags);
  if (is_first) merge->first = shard;
  bool good = shard != NULL && check_shard(merge, shard);
  if (good) piece->number = shard->meta.end > 0 ? shard->meta.first : shard->meta.shard;
  if (good) piece->end = shard->meta.end > 0 ? shard->meta.end : piece->number + 1;
  if (!is_first) journal_close(shard);
  return good;
}

static int by_number(const void *left, const void *right) {
  const Piece *a = left, *b = right;
  return a->number < b->number ? -1 : a->number > b->number;
}

// Nothing twice, nothing missing between two of them. What is missing at the end is known once a margin has been looked at.
static bool check_order(Merge *merge) {
  bool is_part = merge->first->meta.end > 0;
  qsort(merge->pieces, merge->count, sizeof *merge->pieces, by_number);
  for (uint32_t i = 0; i < merge->count; i++) {
    const Piece *piece = &merge->pieces[i];
    uint64_t wanted = i == 0 ? 0 : merge->pieces[i - 1].end;
    if (piece->number < wanted)
      return diags_add(merge->diags, piece->path, 0, 0, "%s %" PRIu64 " is given twice", is_part ? "fault" : "shard", piece->number);
    if (piece->number > wanted)
      return diags_add(merge->diags, merge->path, 0, 0, "no journal with %s %" PRIu64 " to %" PRIu64 " is given",
                       is_part ? "faults" : "shards", wanted, piece->number - 1);
  }
  return true;
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

// What is the same in all of them.
static bool merge_frame(Merge *merge) {
  JournalMeta meta = merge->first->meta;
  meta.shard = 0;
  meta.shards = 1;
  meta.first = meta.end = 0;
  meta.enough = "";
  merge->into = journal_open(merge->path, &meta, merge->diags);
  if (merge->into != NULL) journal_cache(merge->into, CACHE_KILOBYTES);
  return merge->into != NULL && merge_notes(merge->into, merge->first, merge->diags) &&
         journal_each_golden(merge->first, merge_launch, merge) && journal_each_structure(merge->first, merge_structure, merge) &&
         journal_each_drawn(merge->first, merge_drawn, merge) && merge_sources(merge->into, merge->first, merge->diags);
}

static bool merge_piece(Merge *merge, const Piece *piece) {
  Journal *shard = journal_read(piece->path, merge->diags);
  bool good = shard != NULL && journal_each_fault(shard, merge_fault, merge);
  if (shard != NULL && !good && merge->diags->count == 0) journal_damaged(shard, merge->diags);
  journal_close(shard);
  if (!good || merge->first->meta.end == 0 || merge->uncommitted < COMMIT_ROWS) return good;
  merge->uncommitted = 0;
  return journal_commit(merge->into, merge->diags);
}

// Parts: whether they reach as far as one machine would have come.
static bool finish_parts(Merge *merge) {
  uint64_t end = merge->pieces[merge->count - 1].end, total = merge->rounds.total;
  rounds_end(&merge->rounds, min_u64(end, total));
  if (end < total && !merge->rounds.is_sure)
    return diags_add(merge->diags, merge->path, 0, 0, "no journal with faults %" PRIu64 " to %" PRIu64 " is given", end, total - 1);
  return journal_reached(merge->into, rounds_below(&merge->rounds, min_u64(end, total)), true, merge->diags) &&
         journal_commit(merge->into, merge->diags);
}

static bool merge_all(Merge *merge) {
  for (uint32_t i = 0; i < merge->count; i++) {
    if (!look_at(merge, &merge->pieces[i])) return false;
  }
  if (!check_order(merge) || !merge_frame(merge)) return false;
  bool is_part = merge->first->meta.end > 0, good = true;
  if (is_part) rounds_begin(&merge->rounds, merge->first, merge->arena);
  for (uint32_t i = 0; i < merge->count && good; i++) good = merge_piece(merge, &merge->pieces[i]);
  return good && (is_part ? finish_parts(merge) : journal_commit(merge->into, merge->diags));
}

bool journal_merge(const char *path, const char *const *shards, uint32_t count, Diags *diags) {
  Merge merge = {.path = path, .count = count, .arena = arena_new(), .diags = diags};
  merge.pieces = ARENA_ARRAY(merge.arena, Piece, count + 1);
  for (uint32_t i = 0; i < count; i++) merge.pieces[i].path = shards[i];
  bool good = count > 0 && merge_all(&merge);
  journal_close(merge.into);
  journal_close(merge.first);
  arena_free(merge.arena);
  return good;
}
