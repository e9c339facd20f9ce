// Rows of the journal: launches, structures, faults; merging; content as text.
#include "journal/journal_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// ---- Writing ---------------------------------------------------------------------------------------

static bool finish(Journal *journal, sqlite3_stmt *statement, bool good, Diags *diags) {
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(statement);
  return good;
}

bool journal_put_golden(Journal *journal, const GoldenRow *rows, uint32_t count, Diags *diags) {
  sqlite3_stmt *put = NULL;
  bool good =
      sqlite3_prepare_v2(journal->database, "INSERT OR REPLACE INTO launches VALUES (?1,?2,?3,?4,?5,?6)", -1, &put, NULL) == SQLITE_OK;
  for (uint32_t i = 0; i < count && good; i++) {
    const GoldenRow *row = &rows[i];
    sqlite3_bind_int64(put, 1, row->launch);
    sqlite3_bind_text(put, 2, row->kernel, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(put, 3, (sqlite3_int64)row->began_at);
    sqlite3_bind_int64(put, 4, (sqlite3_int64)row->cycles);
    sqlite3_bind_int64(put, 5, (sqlite3_int64)row->thread_instructions);
    sqlite3_bind_int64(put, 6, (sqlite3_int64)row->warp_instructions);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  return finish(journal, put, good, diags);
}

bool journal_put_structures(Journal *journal, const StructureRow *rows, uint32_t count, Diags *diags) {
  sqlite3_stmt *put = NULL;
  const char *sql = "INSERT OR REPLACE INTO structures VALUES (?1,?2,?3,?4,?5,?6,?7,?8)";
  bool good = sqlite3_prepare_v2(journal->database, sql, -1, &put, NULL) == SQLITE_OK;
  for (uint32_t i = 0; i < count && good; i++) {
    const StructureRow *row = &rows[i];
    sqlite3_bind_int64(put, 1, row->region);
    sqlite3_bind_text(put, 2, row->name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(put, 3, row->title, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(put, 4, (sqlite3_int64)row->rows);
    sqlite3_bind_int64(put, 5, row->units);
    sqlite3_bind_int64(put, 6, row->bits);
    sqlite3_bind_double(put, 7, row->used);
    sqlite3_bind_double(put, 8, row->raw_fit_per_mbit);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  return finish(journal, put, good, diags);
}

bool journal_put_fault(Journal *journal, const FaultRow *row, Diags *diags) {
  sqlite3_stmt *put = journal->put;
  if (sqlite3_get_autocommit(journal->database) != 0) return false; // an earlier row or commit failed, and that has been told
  sqlite3_bind_int64(put, 1, (sqlite3_int64)row->id);
  sqlite3_bind_text(put, 2, row->fault, -1, SQLITE_TRANSIENT);
  sqlite3_bind_int64(put, 3, row->region);
  sqlite3_bind_int64(put, 4, (sqlite3_int64)row->cycle);
  sqlite3_bind_int64(put, 5, row->launch);
  sqlite3_bind_int64(put, 6, row->line);
  sqlite3_bind_text(put, 7, outcome_info[row->outcome].name, -1, SQLITE_STATIC);
  sqlite3_bind_text(put, 8, settled_text[row->settled], -1, SQLITE_STATIC);
  sqlite3_bind_int64(put, 9, (sqlite3_int64)row->class_of);
  sqlite3_bind_int64(put, 10, (sqlite3_int64)row->cycles);
  sqlite3_bind_int64(put, 11, (sqlite3_int64)row->wrong);
  sqlite3_bind_double(put, 12, row->worst);
  sqlite3_bind_text(put, 13, row->note, -1, SQLITE_TRANSIENT);
  bool good = sqlite3_step(put) == SQLITE_DONE;
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_reset(put);
  return good;
}

// ---- Reading ---------------------------------------------------------------------------------------

static const char *text_at(sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return text == NULL ? "" : text;
}

static uint64_t number_at(sqlite3_stmt *statement, int column) { return (uint64_t)sqlite3_column_int64(statement, column); }

static uint8_t outcome_named(const char *name) { // OUTCOME_COUNT: none
  uint8_t i = 0;
  while (i < OUTCOME_COUNT && strcmp(outcome_info[i].name, name) != 0) i++;
  return i;
}

static uint8_t settled_named(const char *name) { // SETTLED_COUNT: none
  uint8_t i = 0;
  while (i < SETTLED_COUNT && strcmp(settled_text[i], name) != 0) i++;
  return i;
}

// Words that nobody wrote come from a damaged file.
static bool is_sound(const FaultRow *row) { return row->outcome < OUTCOME_COUNT && row->settled < SETTLED_COUNT; }

static FaultRow fault_at(sqlite3_stmt *at) {
  return (FaultRow){.id = number_at(at, 0),
                    .fault = text_at(at, 1),
                    .region = (uint16_t)number_at(at, 2),
                    .cycle = number_at(at, 3),
                    .launch = (uint32_t)number_at(at, 4),
                    .line = (uint32_t)number_at(at, 5),
                    .outcome = outcome_named(text_at(at, 6)),
                    .settled = settled_named(text_at(at, 7)),
                    .class_of = number_at(at, 8),
                    .cycles = number_at(at, 9),
                    .wrong = number_at(at, 10),
                    .worst = sqlite3_column_double(at, 11),
                    .note = text_at(at, 12)};
}

// Ends a reading statement. A damaged file must not look like a short one.
static bool read_out(sqlite3_stmt *statement, bool good) { return sqlite3_finalize(statement) == SQLITE_OK && good; }

struct FaultCursor {
  sqlite3_stmt *get;
  bool good;
};

FaultCursor *journal_faults(const Journal *journal) {
  FaultCursor *cursor = calloc(1, sizeof *cursor);
  ASSERT(cursor != NULL);
  cursor->good = sqlite3_prepare_v2(journal->database, "SELECT * FROM faults ORDER BY id", -1, &cursor->get, NULL) == SQLITE_OK;
  return cursor;
}

bool journal_next_fault(FaultCursor *cursor, FaultRow *row) {
  int code = cursor->good ? sqlite3_step(cursor->get) : SQLITE_ERROR;
  if (code == SQLITE_ROW) *row = fault_at(cursor->get);
  cursor->good = code == SQLITE_DONE || (code == SQLITE_ROW && is_sound(row));
  return code == SQLITE_ROW && cursor->good;
}

bool journal_end_faults(FaultCursor *cursor) {
  bool good = cursor->good;
  sqlite3_finalize(cursor->get);
  free(cursor);
  return good;
}

bool journal_each_fault(const Journal *journal, bool (*each)(void *context, const FaultRow *row), void *context) {
  FaultCursor *cursor = journal_faults(journal);
  FaultRow row;
  bool good = true;
  while (good && journal_next_fault(cursor, &row)) good = each(context, &row);
  return journal_end_faults(cursor) && good;
}

bool journal_find_fault(const Journal *journal, uint64_t id, FaultRow *row, Arena *arena) {
  sqlite3_stmt *get = NULL;
  bool found = sqlite3_prepare_v2(journal->database, "SELECT * FROM faults WHERE id = ?1", -1, &get, NULL) == SQLITE_OK;
  if (found) sqlite3_bind_int64(get, 1, (sqlite3_int64)id);
  found = found && sqlite3_step(get) == SQLITE_ROW;
  if (found) *row = fault_at(get);
  found = found && is_sound(row);
  if (found) {
    row->fault = arena_copy_text(arena, row->fault, strlen(row->fault));
    row->note = arena_copy_text(arena, row->note, strlen(row->note));
  }
  sqlite3_finalize(get);
  return found;
}

bool journal_each_golden(const Journal *journal, bool (*each)(void *context, const GoldenRow *row), void *context) {
  sqlite3_stmt *get = NULL;
  bool good = sqlite3_prepare_v2(journal->database, "SELECT * FROM launches ORDER BY launch", -1, &get, NULL) == SQLITE_OK;
  while (good && sqlite3_step(get) == SQLITE_ROW) {
    GoldenRow row = {.launch = (uint32_t)number_at(get, 0),
                     .kernel = text_at(get, 1),
                     .began_at = number_at(get, 2),
                     .cycles = number_at(get, 3),
                     .thread_instructions = number_at(get, 4),
                     .warp_instructions = number_at(get, 5)};
    good = each(context, &row);
  }
  return read_out(get, good);
}

bool journal_each_structure(const Journal *journal, bool (*each)(void *context, const StructureRow *row), void *context) {
  sqlite3_stmt *get = NULL;
  bool good = sqlite3_prepare_v2(journal->database, "SELECT * FROM structures ORDER BY region", -1, &get, NULL) == SQLITE_OK;
  while (good && sqlite3_step(get) == SQLITE_ROW) {
    StructureRow row = {.region = (uint16_t)number_at(get, 0),
                        .name = text_at(get, 1),
                        .title = text_at(get, 2),
                        .rows = number_at(get, 3),
                        .units = (uint32_t)number_at(get, 4),
                        .bits = (uint32_t)number_at(get, 5),
                        .used = sqlite3_column_double(get, 6),
                        .raw_fit_per_mbit = sqlite3_column_double(get, 7)};
    good = each(context, &row);
  }
  return read_out(get, good);
}

bool journal_each_count(const Journal *journal, bool (*each)(void *context, uint16_t region, uint64_t faults), void *context) {
  sqlite3_stmt *get = NULL;
  const char *sql = "SELECT region, COUNT(*) FROM faults GROUP BY region ORDER BY region";
  bool good = sqlite3_prepare_v2(journal->database, sql, -1, &get, NULL) == SQLITE_OK;
  while (good && sqlite3_step(get) == SQLITE_ROW) good = each(context, (uint16_t)number_at(get, 0), number_at(get, 1));
  return read_out(get, good);
}

// ---- Whole journals --------------------------------------------------------------------------------

static bool dump_launch(void *context, const GoldenRow *row) {
  text_add(context, "launch %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row->launch, row->kernel, row->began_at, row->cycles,
           row->thread_instructions, row->warp_instructions);
  return true;
}

static bool dump_structure(void *context, const StructureRow *row) {
  text_add(context, "structure %u %s %" PRIu64 " %u %u %.9g %.9g\n", row->region, row->name, row->rows, row->units, row->bits, row->used,
           row->raw_fit_per_mbit);
  return true;
}

static bool dump_fault(void *context, const FaultRow *row) {
  text_add(context, "fault %" PRIu64 " %s %u %" PRIu64 " %u %u %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.17g %s\n", row->id, row->fault,
           row->region, row->cycle, row->launch, row->line, outcome_info[row->outcome].name, settled_text[row->settled], row->class_of,
           row->cycles, row->wrong, row->worst, row->note);
  return true;
}

void journal_dump(const Journal *journal, Text *out) {
  const JournalMeta *meta = &journal->meta;
  text_add(out, "%s\n%s%s\n%s%s\n%s\n%s\n%s\n%016" PRIx64 "\n%016" PRIx64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "/%" PRIu64 "\n",
           meta->target, meta->arguments, meta->machine, meta->settings, meta->protection, meta->model, meta->structures, meta->window,
           meta->program_hash, meta->layout_hash, meta->seed, meta->timeout, meta->shard, meta->shards);
  journal_each_golden(journal, dump_launch, out);
  journal_each_structure(journal, dump_structure, out);
  journal_each_fault(journal, dump_fault, out);
}

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
  meta.shard = number;
  return journal_same_meta(shard, &meta, diags);
}

static bool merge_shard(Journal *into, const Journal *shard, Diags *diags) {
  Merge merge = {into, diags};
  bool good = journal_each_golden(shard, merge_launch, &merge) && journal_each_structure(shard, merge_structure, &merge) &&
              journal_each_fault(shard, merge_fault, &merge);
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
    good = into != NULL;
  }
  for (uint32_t i = 0; i < count && good; i++) good = merge_shard(into, all[i], diags);
  journal_close(into);
  for (uint32_t i = 0; i < count; i++) journal_close(all[i]);
  free(all);
  free(seen);
  return good;
}
