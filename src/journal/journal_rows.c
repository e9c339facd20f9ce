// Rows of the journal: launches, structures, sources, faults; queries.
#include "journal/journal_internal.h"

#include <math.h>
#include <stdlib.h>

// ---- Writing ---------------------------------------------------------------------------------------

static bool finish(Journal *journal, sqlite3_stmt *statement, bool good, Diags *diags) {
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(statement);
  return good;
}

static void bind_count(sqlite3_stmt *put, int at, uint64_t value) { // 0: nothing
  if (value == 0) sqlite3_bind_null(put, at);
  else sqlite3_bind_int64(put, at, (sqlite3_int64)value);
}

static void bind_place(sqlite3_stmt *put, int at, int64_t value) {
  if (value < 0) sqlite3_bind_null(put, at);
  else sqlite3_bind_int64(put, at, value);
}

static void bind_text(sqlite3_stmt *put, int at, const char *text) { // "": nothing
  if (text == NULL || text[0] == '\0') sqlite3_bind_null(put, at);
  else sqlite3_bind_text(put, at, text, -1, SQLITE_TRANSIENT);
}

// C++ names as people write them; others as they are.
static void bind_name(sqlite3_stmt *put, int at, const char *symbol) {
  Text name = {0};
  text_add_symbol(&name, symbol, SYMBOL_WHOLE);
  sqlite3_bind_text(put, at, name.at, -1, SQLITE_TRANSIENT);
  text_free(&name);
}

bool journal_put_golden(Journal *journal, const GoldenRow *rows, uint32_t count, Diags *diags) {
  sqlite3_stmt *put = journal_prepare(journal, "INSERT OR REPLACE INTO launches VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)");
  bool good = put != NULL;
  for (uint32_t i = 0; i < count && good; i++) {
    const GoldenRow *row = &rows[i];
    sqlite3_bind_int64(put, 1, row->launch);
    sqlite3_bind_text(put, 2, row->kernel, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(put, 3, (sqlite3_int64)row->began_at);
    sqlite3_bind_int64(put, 4, (sqlite3_int64)row->cycles);
    sqlite3_bind_int64(put, 5, (sqlite3_int64)row->thread_instructions);
    sqlite3_bind_int64(put, 6, (sqlite3_int64)row->warp_instructions);
    bind_name(put, 7, row->kernel);
    bind_count(put, 8, row->registers);
    bind_count(put, 9, row->source);
    bind_count(put, 10, row->needs);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  return finish(journal, put, good, diags);
}

static bool draws_used(const Journal *journal) { return journal->meta.draw != NULL && strcmp(journal->meta.draw, "used") == 0; }

bool journal_put_structures(Journal *journal, const StructureRow *rows, uint32_t count, Diags *diags) {
  sqlite3_stmt *put = journal_prepare(journal, "INSERT OR REPLACE INTO structures VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)");
  bool good = put != NULL;
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
    bind_text(put, 9, structure_kinds[row->kind]);
    if (row->needed > 0) sqlite3_bind_double(put, 10, row->needed);
    else sqlite3_bind_null(put, 10);
    bind_text(put, 11, row->origin);
    bind_text(put, 12, row->stands_for);
    if (draws_used(journal)) sqlite3_bind_double(put, 13, row->drawn);
    else sqlite3_bind_null(put, 13);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  return finish(journal, put, good, diags);
}

bool journal_put_drawn(Journal *journal, const DrawnRow *rows, uint32_t count, Diags *diags) {
  sqlite3_stmt *put = journal_prepare(journal, "INSERT OR REPLACE INTO drawn VALUES (?1,?2,?3,?4)");
  bool good = put != NULL;
  for (uint32_t i = 0; i < count && good; i++) {
    sqlite3_bind_int64(put, 1, rows[i].region);
    sqlite3_bind_int64(put, 2, rows[i].launch);
    sqlite3_bind_int64(put, 3, rows[i].slice);
    sqlite3_bind_double(put, 4, rows[i].drawn);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  return finish(journal, put, good, diags);
}

bool journal_put_source(Journal *journal, uint32_t number, const char *name, const char *text, Diags *diags) {
  sqlite3_stmt *put = journal_prepare(journal, "INSERT OR REPLACE INTO sources VALUES (?1,?2,?3)");
  bool good = put != NULL;
  if (good) {
    sqlite3_bind_int64(put, 1, number);
    sqlite3_bind_text(put, 2, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(put, 3, text, -1, SQLITE_TRANSIENT);
    good = sqlite3_step(put) == SQLITE_DONE;
  }
  return finish(journal, put, good, diags);
}

FaultRow fault_row(void) {
  return (FaultRow){.sm = NOTHING,
                    .warp = NOTHING,
                    .reg = NOTHING,
                    .row = NOTHING,
                    .lane = NOTHING,
                    .unit = NOTHING,
                    .bit = NOTHING,
                    .block = NOTHING,
                    .pc = NOTHING,
                    .model = "",
                    .opcode = "",
                    .note = "",
                    .read = NOTHING,
                    .unanswered = OUTCOME_COUNT,
                    .number = NOTHING,
                    .verified = NOTHING};
}

bool journal_put_fault(Journal *journal, const FaultRow *row, Diags *diags) {
  sqlite3_stmt *put = journal->put;
  if (sqlite3_get_autocommit(journal->database) != 0) return false; // an earlier row or commit failed, and that has been told
  sqlite3_bind_int64(put, 1 + COLUMN_id, (sqlite3_int64)row->id);
  sqlite3_bind_text(put, 1 + COLUMN_fault, row->fault, -1, SQLITE_TRANSIENT);
  sqlite3_bind_int64(put, 1 + COLUMN_region, row->region);
  sqlite3_bind_text(put, 1 + COLUMN_model, row->model, -1, SQLITE_TRANSIENT);
  bind_place(put, 1 + COLUMN_sm, row->sm);
  bind_place(put, 1 + COLUMN_warp, row->warp);
  bind_place(put, 1 + COLUMN_reg, row->reg);
  bind_place(put, 1 + COLUMN_row, row->row);
  bind_place(put, 1 + COLUMN_lane, row->lane);
  bind_place(put, 1 + COLUMN_unit, row->unit);
  bind_place(put, 1 + COLUMN_bit, row->bit);
  sqlite3_bind_int64(put, 1 + COLUMN_cycle, (sqlite3_int64)row->cycle);
  bind_count(put, 1 + COLUMN_launch, row->launch);
  bind_place(put, 1 + COLUMN_block, row->block);
  bind_place(put, 1 + COLUMN_pc, row->pc);
  bind_text(put, 1 + COLUMN_opcode, row->opcode);
  bind_count(put, 1 + COLUMN_line, row->line);
  sqlite3_bind_text(put, 1 + COLUMN_outcome, outcome_info[row->outcome].name, -1, SQLITE_STATIC);
  sqlite3_bind_text(put, 1 + COLUMN_settled, settled_text[row->settled], -1, SQLITE_STATIC);
  bind_place(put, 1 + COLUMN_class_of, row->settled == SETTLED_CLASS ? (int64_t)row->class_of : NOTHING);
  bind_count(put, 1 + COLUMN_cycles, row->cycles);
  sqlite3_bind_int64(put, 1 + COLUMN_wrong, (sqlite3_int64)row->wrong);
  // Of CUDA programs it is known that results are wrong, but not which elements, nor how much.
  bool is_known = row->wrong > 0 && (row->pattern != PATTERN_NONE || row->worst > 0);
  if (is_known) sqlite3_bind_double(put, 1 + COLUMN_worst, row->worst);
  else sqlite3_bind_null(put, 1 + COLUMN_worst);
  bind_text(put, 1 + COLUMN_pattern, pattern_text[row->pattern]);
  bind_text(put, 1 + COLUMN_note, row->note);
  bind_place(put, 1 + COLUMN_read, row->read);
  bind_text(put, 1 + COLUMN_unanswered, row->unanswered < OUTCOME_COUNT ? outcome_info[row->unanswered].name : "");
  bind_place(put, 1 + COLUMN_number, row->number);
  bind_place(put, 1 + COLUMN_verified, row->verified);
  bool good = sqlite3_step(put) == SQLITE_DONE;
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_reset(put);
  return good;
}

// ---- Reading ---------------------------------------------------------------------------------------

static uint64_t number_at(sqlite3_stmt *statement, int column) { return (uint64_t)sqlite3_column_int64(statement, column); }

static int64_t place_at(sqlite3_stmt *statement, int column) {
  return sqlite3_column_type(statement, column) == SQLITE_NULL ? NOTHING : sqlite3_column_int64(statement, column);
}

// Which of the words it is; `count`: none.
static uint8_t word_number(const char *word, const char *const *words, uint8_t count) {
  uint8_t i = 0;
  while (i < count && strcmp(words[i], word) != 0) i++;
  return i;
}

static uint8_t outcome_named(const char *name) { // OUTCOME_COUNT: none
  uint8_t i = 0;
  while (i < OUTCOME_COUNT && strcmp(outcome_info[i].name, name) != 0) i++;
  return i;
}

// Words that nobody wrote come from a damaged file.
static bool is_sound(const FaultRow *row) {
  return row->outcome < OUTCOME_COUNT && row->settled < SETTLED_COUNT && row->pattern < PATTERN_COUNT;
}

static FaultRow fault_at(sqlite3_stmt *at) {
  FaultRow row = {.id = number_at(at, COLUMN_id),
                  .fault = text_at(at, COLUMN_fault),
                  .region = (uint16_t)number_at(at, COLUMN_region),
                  .model = text_at(at, COLUMN_model),
                  .sm = place_at(at, COLUMN_sm),
                  .warp = place_at(at, COLUMN_warp),
                  .reg = place_at(at, COLUMN_reg),
                  .row = place_at(at, COLUMN_row),
                  .lane = place_at(at, COLUMN_lane),
                  .unit = place_at(at, COLUMN_unit),
                  .bit = place_at(at, COLUMN_bit),
                  .cycle = number_at(at, COLUMN_cycle),
                  .launch = (uint32_t)number_at(at, COLUMN_launch),
                  .block = place_at(at, COLUMN_block),
                  .pc = place_at(at, COLUMN_pc),
                  .opcode = text_at(at, COLUMN_opcode),
                  .line = (uint32_t)number_at(at, COLUMN_line)};
  row.outcome = outcome_named(text_at(at, COLUMN_outcome));
  row.settled = word_number(text_at(at, COLUMN_settled), settled_text, SETTLED_COUNT);
  row.class_of = sqlite3_column_type(at, COLUMN_class_of) == SQLITE_NULL ? row.id : number_at(at, COLUMN_class_of);
  row.cycles = number_at(at, COLUMN_cycles);
  row.wrong = number_at(at, COLUMN_wrong);
  row.worst = sqlite3_column_double(at, COLUMN_worst);
  row.pattern = word_number(text_at(at, COLUMN_pattern), pattern_text, PATTERN_COUNT);
  row.note = text_at(at, COLUMN_note);
  row.read = place_at(at, COLUMN_read);
  row.unanswered = outcome_named(text_at(at, COLUMN_unanswered));
  row.number = place_at(at, COLUMN_number);
  row.verified = place_at(at, COLUMN_verified);
  return row;
}

// Ends a reading statement. A damaged file must not look like a short one.
static bool read_out(sqlite3_stmt *statement, bool good) { return sqlite3_finalize(statement) == SQLITE_OK && good; }

struct FaultCursor {
  sqlite3_stmt *get;
  bool good;
};

// Faults of which the end of the SELECT is true, with a number for ?1.
static sqlite3_stmt *prepare_faults(const Journal *journal, const char *end, uint64_t number) {
  Text sql = {0};
  text_add(&sql, "%s%s", fault_select, end);
  sqlite3_stmt *get = journal_prepare(journal, sql.at);
  text_free(&sql);
  if (get != NULL) sqlite3_bind_int64(get, 1, (sqlite3_int64)number);
  return get;
}

FaultCursor *journal_faults(const Journal *journal) {
  FaultCursor *cursor = calloc(1, sizeof *cursor);
  ASSERT(cursor != NULL);
  cursor->get = prepare_faults(journal, "WHERE id < ?1 ORDER BY id", journal->below);
  cursor->good = cursor->get != NULL;
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
  sqlite3_stmt *get = prepare_faults(journal, "WHERE id = ?1", id);
  bool found = get != NULL && sqlite3_step(get) == SQLITE_ROW;
  if (found) *row = fault_at(get);
  found = found && is_sound(row);
  if (found) {
    const char **texts[] = {&row->fault, &row->model, &row->opcode, &row->note};
    for (size_t i = 0; i < COUNT_OF(texts); i++) *texts[i] = arena_copy_text(arena, *texts[i], strlen(*texts[i]));
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
                     .warp_instructions = number_at(get, 5),
                     .registers = (uint32_t)number_at(get, 7),
                     .source = (uint32_t)number_at(get, 8),
                     .needs = (uint32_t)number_at(get, 9)};
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
                        .raw_fit_per_mbit = sqlite3_column_double(get, 7),
                        .needed = sqlite3_column_double(get, 9),
                        .origin = text_at(get, 10),
                        .stands_for = text_at(get, 11)};
    row.kind = word_number(text_at(get, 8), structure_kinds, KIND_COUNT) % KIND_COUNT;
    bool is_said = draws_used(journal) && sqlite3_column_type(get, 12) == SQLITE_FLOAT; // else faults are drawn from all
    row.drawn = is_said ? fmin(fmax(sqlite3_column_double(get, 12), 0), 1) : 1;
    good = each(context, &row);
  }
  return read_out(get, good);
}

bool journal_has_drawn(const Journal *journal) {
  return journal_number(journal, "SELECT count(*) FROM main.sqlite_master WHERE name = 'drawn' AND sql LIKE 'CREATE TABLE%'") == 1;
}

bool journal_each_drawn(const Journal *journal, bool (*each)(void *context, const DrawnRow *row), void *context) {
  sqlite3_stmt *get = NULL;
  if (!journal_has_drawn(journal)) return true;
  const char *sql = "SELECT region, launch, slice, share FROM main.drawn ORDER BY region, launch, slice";
  bool good = sqlite3_prepare_v2(journal->database, sql, -1, &get, NULL) == SQLITE_OK;
  while (good && sqlite3_step(get) == SQLITE_ROW) {
    DrawnRow row = {(uint16_t)number_at(get, 0), (uint32_t)number_at(get, 1), sqlite3_column_int64(get, 2),
                    fmin(fmax(sqlite3_column_double(get, 3), 0), 1)};
    good = each(context, &row);
  }
  return read_out(get, good);
}

// ---- Queries ---------------------------------------------------------------------------------------

struct Query {
  sqlite3_stmt *get;
  bool good;
};

Query *journal_query(const Journal *journal, const char *sql) {
  Query *query = calloc(1, sizeof *query);
  ASSERT(query != NULL);
  query->get = journal_prepare(journal, sql);
  query->good = query->get != NULL && sqlite3_stmt_readonly(query->get) != 0;
  return query;
}

uint32_t query_columns(const Query *query) { return query->get == NULL ? 0 : (uint32_t)sqlite3_column_count(query->get); }

const char *query_name(const Query *query, uint32_t column) { return sqlite3_column_name(query->get, (int)column); }

bool query_next(Query *query) {
  int code = query->good ? sqlite3_step(query->get) : SQLITE_ERROR;
  query->good = code == SQLITE_ROW || code == SQLITE_DONE;
  return code == SQLITE_ROW;
}

Cell query_cell(const Query *query, uint32_t column) {
  int at = (int)column, type = sqlite3_column_type(query->get, at);
  Cell cell = {.kind = type == SQLITE_NULL      ? CELL_NULL
                       : type == SQLITE_INTEGER ? CELL_INTEGER
                       : type == SQLITE_FLOAT   ? CELL_REAL
                                                : CELL_TEXT};
  cell.text = cell.kind == CELL_TEXT ? text_at(query->get, at) : "";
  cell.integer = sqlite3_column_int64(query->get, at);
  cell.real = sqlite3_column_double(query->get, at);
  return cell;
}

bool query_end(Query *query) {
  bool good = query->good;
  sqlite3_finalize(query->get);
  free(query);
  return good;
}
