// What the cells gave, in one SQLite file, so that a measure is an SQL expression.
//   - each [run] is a table: target, machine, size, a column for each sweep, and one for each statistic and ratio of the run;
//   - each [campaign] is a table: the same first columns, `structure` ('all' for the chip) and counts and shares of outcomes;
//   - each CSV file beside the study is a table named as the file;
//   - each [measure] is a table too, made once, so that a later one can build on it at no cost.
#include "report/report.h"
#include "study/sql_bounds.h"
#include "study/study.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct StudyResults {
  sqlite3 *database;
  const StudyFile *study;
  const char *folder;
  Diags *diags;
  double confidence;
  SqlBounds bounds; // of users' SQL
};

static bool failed(StudyResults *results, const StudyPart *part) {
  const char *why = sqlite3_errmsg(results->database);
  if (part == NULL) return diags_add(results->diags, results->study->path, 0, 0, "its results cannot be stored: %s", why);
  Arena *arena = arena_new();
  const char *remedy = sql_remedy(sqlite3_errcode(results->database), &results->bounds, arena);
  if (strncmp(why, "no such table: ", 15) == 0) remedy = " (neither a run, a campaign, a measure above, nor a CSV file beside the study)";
  diags_add(results->diags, results->study->path, study_line(part, "sql"), 0, "[%s %s]: %s%s", study_section_names[part->section],
            part->name, why, remedy);
  arena_free(arena);
  return false;
}

static bool run(StudyResults *results, const char *sql, const StudyPart *part) {
  return sqlite3_exec(results->database, sql, NULL, NULL, NULL) == SQLITE_OK || failed(results, part);
}

// ---- Functions for measures ----------------------------------------------------------------------------------------

typedef struct Mean {
  double logs;
  uint64_t count;
  bool bad;
} Mean;

static void geomean_step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  Mean *mean = sqlite3_aggregate_context(context, sizeof *mean);
  if (mean == NULL || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
  double value = sqlite3_value_double(values[0]);
  mean->bad = mean->bad || value <= 0;
  mean->logs += value > 0 ? log(value) : 0;
  mean->count++;
}

static void geomean_final(sqlite3_context *context) {
  const Mean *mean = sqlite3_aggregate_context(context, 0);
  if (mean == NULL || mean->count == 0 || mean->bad) sqlite3_result_null(context);
  else sqlite3_result_double(context, exp(mean->logs / (double)mean->count));
}

static Interval interval_of(sqlite3_context *context, sqlite3_value **values) {
  const StudyResults *results = sqlite3_user_data(context);
  sqlite3_int64 hits = sqlite3_value_int64(values[0]), trials = sqlite3_value_int64(values[1]);
  if (hits < 0 || hits > trials) return (Interval){0, 1};
  return wilson_interval((uint64_t)hits, (uint64_t)trials, results->confidence);
}

static void wilson_low(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_result_double(context, interval_of(context, values).low);
}

static void wilson_high(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_result_double(context, interval_of(context, values).high);
}

// An interval for the difference of two shares, the second less the first (Newcombe 1998, method 10).
static Interval difference_of(sqlite3_context *context, sqlite3_value **values) {
  double faults[2] = {sqlite3_value_double(values[1]), sqlite3_value_double(values[3])};
  double p = faults[0] > 0 ? sqlite3_value_double(values[0]) / faults[0] : 0;
  double q = faults[1] > 0 ? sqlite3_value_double(values[2]) / faults[1] : 0;
  Interval left = interval_of(context, values), right = interval_of(context, values + 2);
  double down = sqrt((q - right.low) * (q - right.low) + (left.high - p) * (left.high - p));
  double up = sqrt((right.high - q) * (right.high - q) + (p - left.low) * (p - left.low));
  return (Interval){q - p - down, q - p + up};
}

static void difference_low(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_result_double(context, difference_of(context, values).low);
}

static void difference_high(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  sqlite3_result_double(context, difference_of(context, values).high);
}

static bool add_functions(StudyResults *results) {
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
  sqlite3 *database = results->database;
  return sqlite3_create_function(database, "geomean", 1, flags, NULL, NULL, geomean_step, geomean_final) == SQLITE_OK &&
         sqlite3_create_function(database, "wilson_low", 2, flags, results, wilson_low, NULL, NULL) == SQLITE_OK &&
         sqlite3_create_function(database, "wilson_high", 2, flags, results, wilson_high, NULL, NULL) == SQLITE_OK &&
         sqlite3_create_function(database, "difference_low", 4, flags, results, difference_low, NULL, NULL) == SQLITE_OK &&
         sqlite3_create_function(database, "difference_high", 4, flags, results, difference_high, NULL, NULL) == SQLITE_OK &&
         (sqlite3_compileoption_used("ENABLE_MATH_FUNCTIONS") || sql_add_mathematics(database));
}

// ---- Rows of any shape -----------------------------------------------------------------------------------------------

typedef struct Column {
  const char *name, *text; // text NULL: a number
  double number;           // NAN: nothing
} Column;
typedef struct Row {
  Arena *arena;
  VEC(Column) columns;
} Row;

static void put_text(Row *row, const char *name, const char *text) {
  *VEC_PUSH(&row->columns, row->arena) = (Column){.name = name, .text = text};
}
static void put_number(Row *row, const char *name, double number) {
  *VEC_PUSH(&row->columns, row->arena) = (Column){.name = name, .number = number};
}

// A sweep's value is a number where it reads as one.
static void put_word(Row *row, const char *name, const char *word) {
  char *end;
  double number = strtod(word, &end);
  if (*word != '\0' && *end == '\0' && isfinite(number)) put_number(row, name, number);
  else put_text(row, name, word);
}

// VERB "table" ("column", "column", ...
static void add_columns(Text *sql, const char *verb, const char *table, const Row *row) {
  char *name = sqlite3_mprintf("%s \"%w\" (", verb, table);
  text_add(sql, "%s", name);
  sqlite3_free(name);
  for (uint32_t i = 0; i < row->columns.count; i++) {
    char *column = sqlite3_mprintf("%s\"%w\"", i == 0 ? "" : ", ", row->columns.items[i].name);
    text_add(sql, "%s", column);
    sqlite3_free(column);
  }
}

static bool make_table(StudyResults *results, const char *table, const Row *row, const StudyPart *part) {
  Text sql = {0};
  add_columns(&sql, "CREATE TABLE", table, row);
  text_add(&sql, ")");
  bool good = run(results, sql.at, part);
  text_free(&sql);
  return good;
}

static void bind(sqlite3_stmt *statement, int at, const Column *column) {
  if (column->text != NULL) sqlite3_bind_text(statement, at, column->text, -1, SQLITE_TRANSIENT);
  else if (isnan(column->number)) sqlite3_bind_null(statement, at);
  else if (column->number == trunc(column->number) && fabs(column->number) < 9e15)
    sqlite3_bind_int64(statement, at, (sqlite3_int64)column->number);
  else sqlite3_bind_double(statement, at, column->number);
}

// NULL: there is no such table.
static sqlite3_stmt *insertion(StudyResults *results, const char *table, const Row *row) {
  Text sql = {0};
  add_columns(&sql, "INSERT INTO", table, row);
  text_add(&sql, ") VALUES (");
  for (uint32_t i = 0; i < row->columns.count; i++) text_add(&sql, i == 0 ? "?" : ", ?");
  text_add(&sql, ")");
  sqlite3_stmt *statement = NULL;
  sqlite3_prepare_v2(results->database, sql.at, -1, &statement, NULL);
  text_free(&sql);
  return statement;
}

static bool insert_with(sqlite3_stmt *statement, const Row *row) {
  for (uint32_t i = 0; i < row->columns.count; i++) bind(statement, (int)i + 1, &row->columns.items[i]);
  bool good = sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_reset(statement);
  return good;
}

static bool insert(StudyResults *results, const char *table, const Row *row, const StudyPart *part) {
  sqlite3_stmt *statement = insertion(results, table, row);
  bool good = (statement != NULL && insert_with(statement, row)) || failed(results, part);
  sqlite3_finalize(statement);
  return good;
}

// ---- Cells -------------------------------------------------------------------------------------------------------------

static Row first_columns(Arena *arena, const StudyCell *cell) {
  Row row = {.arena = arena};
  const char *slash = strrchr(cell->target, '/');
  put_text(&row, "target", slash != NULL ? slash + 1 : cell->target);
  put_text(&row, "machine", cell->machine);
  put_text(&row, "size", cell->size);
  for (uint32_t i = 0; i < cell->sweep_count; i++) put_word(&row, cell->sweeps[i].name, cell->sweeps[i].value);
  return row;
}

static bool has_column(const Row *row, const char *name) {
  bool any = false;
  for (uint32_t i = 0; i < row->columns.count && !any; i++) any = strcmp(row->columns.items[i].name, name) == 0;
  return any;
}

// What every run has besides its statistics.
static void put_end(Row *row, double right, const char *trap) {
  put_number(row, "right", right);
  put_text(row, "trap", trap);
}

static bool add_run(StudyResults *results, const StudyCell *cell, bool is_first) {
  Arena *arena = arena_new();
  const char *path = arena_format(arena, "%s/%s", results->folder, cell->file), *key;
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error), *value;
  const json_t *total = json_object_get(root, "total");
  Row row = first_columns(arena, cell);
  json_object_foreach((json_t *)(uintptr_t)total, key, value) {
    bool known = has_column(&row, key); // a sweep may have the name of a statistic: then it is the sweep's
    if (!known && json_is_number(value)) put_number(&row, key, json_number_value(value));
    else if (!known && json_is_null(value)) put_number(&row, key, NAN);
  }
  const char *check = json_string_value(json_object_get(total, "check")), *trap = json_string_value(json_object_get(total, "trap"));
  bool is_checked = check != NULL && strcmp(check, "none") != 0;
  put_end(&row, is_checked ? (double)(strcmp(check, "passed") == 0) : NAN, trap != NULL ? arena_copy_text(arena, trap, strlen(trap)) : "");
  bool good = total != NULL || diags_add(results->diags, path, 0, 0, "is not the result of a run: %s", error.text);
  good =
      good && (!is_first || make_table(results, cell->part->name, &row, cell->part)) && insert(results, cell->part->name, &row, cell->part);
  json_decref(root);
  arena_free(arena);
  return good;
}

static void put_estimate(Row *row, const char *name, Estimate estimate) {
  put_number(row, name, estimate.is_known ? estimate.value : NAN);
  put_number(row, arena_format(row->arena, "%s_low", name), estimate.is_known ? estimate.low : NAN);
  put_number(row, arena_format(row->arena, "%s_high", name), estimate.is_known ? estimate.high : NAN);
}

static const char *const structure_names[] = {"structure", "bits", "faults", "golden_cycles"};

// A structure, or (NULL) the chip.
static bool add_structure(StudyResults *results, const StudyCell *cell, const Report *report, const StructureSummary *structure,
                          bool is_first) {
  Arena *arena = arena_new();
  Row row = first_columns(arena, cell);
  const Tally *tally = structure != NULL ? &structure->tally : &report->all;
  put_text(&row, structure_names[0], structure != NULL ? structure->name : "all");
  put_number(&row, structure_names[1], structure != NULL ? (double)structure->bits : report_struck_bits(report));
  put_number(&row, structure_names[2], (double)tally->total);
  put_number(&row, structure_names[3], (double)report->cycles);
  for (uint32_t i = 0; i < REPORT_GROUPS; i++) put_number(&row, report_groups[i], (double)tally_group(tally, report_groups[i]));
  for (uint32_t i = 0; i < DUE_PARTS; i++) put_number(&row, due_parts[i], (double)tally_part(tally, due_parts[i]));
  for (uint32_t i = 0; i < MEASURES; i++)
    put_estimate(&row, measures[i].key, structure != NULL ? report_estimate(report, tally, (Measure)i) : report_chip(report, (Measure)i));
  bool good = (!is_first || make_table(results, cell->part->name, &row, cell->part)) && insert(results, cell->part->name, &row, cell->part);
  arena_free(arena);
  return good;
}

// Whether any measure, claim, table or chart names a table: those of faults are large, and made only for who wants them.
static bool is_named(const StudyResults *results, const char *table) {
  bool any = false;
  for (uint32_t i = 0; i < results->study->parts.count && !any; i++) {
    const char *sql = study_value(&results->study->parts.items[i], "sql");
    any = sql != NULL && strstr(sql, table) != NULL;
  }
  return any;
}

static void put_cell(Row *row, const char *name, const Cell *cell) {
  if (cell->kind == CELL_TEXT) put_text(row, name, cell->text);
  else put_number(row, name, cell->kind == CELL_INTEGER ? (double)cell->integer : cell->kind == CELL_REAL ? cell->real : NAN);
}

static const char *const fault_names[] = {"id",      "structure", "row",   "unit",  "bit",     "cycle",     "outcome", "outcome_group",
                                          "settled", "late",      "wrong", "worst", "pattern", "unanswered"};
static const char faults_sql[] =
    "SELECT id, structure, row, unit, bit, cycle, outcome, outcome_group, settled,"
    " nullif(cycles, 0) - (SELECT max(began_at + cycles) FROM launches), wrong, worst, pattern, unanswered FROM results ORDER BY id";

static bool copy_faults(StudyResults *results, const StudyCell *cell, Query *query, const char *table, Row *row, bool is_first) {
  const uint32_t kept = row->columns.count;
  sqlite3_stmt *statement = NULL;
  bool good = true;
  while (good && query_next(query)) {
    row->columns.count = kept;
    for (uint32_t i = 0; i < COUNT_OF(fault_names); i++) {
      Cell value = query_cell(query, i);
      put_cell(row, fault_names[i], &value);
    }
    if (statement == NULL) {
      good = !is_first || make_table(results, table, row, cell->part);
      statement = good ? insertion(results, table, row) : NULL;
    }
    good = good && ((statement != NULL && insert_with(statement, row)) || failed(results, cell->part));
  }
  sqlite3_finalize(statement);
  return good;
}

// NAME_faults: every fault. `late`: cycles by which the run ended after the one without faults; nothing where that is not known.
static bool add_faults(StudyResults *results, const StudyCell *cell, const Journal *journal, bool is_first) {
  Arena *arena = arena_new();
  const char *table = arena_format(arena, "%s_faults", cell->part->name);
  bool good = true;
  if (is_named(results, table)) {
    Row row = first_columns(arena, cell);
    Query *query = journal_query(journal, faults_sql);
    good = copy_faults(results, cell, query, table, &row, is_first);
    good = (query_end(query) || journal_damaged(journal, results->diags)) && good;
  }
  arena_free(arena);
  return good;
}

static const char *const phase_names[] = {"launch", "sm", "phase", "at"};

// NAME_phases: the phases of the run without faults, as machines tell them.
static bool add_phases(StudyResults *results, const StudyCell *cell, const Journal *journal, bool is_first) {
  Arena *arena = arena_new();
  const char *table = arena_format(arena, "%s_phases", cell->part->name), *text = journal_note(journal, NOTE_PHASES);
  json_t *phases = is_named(results, table) ? json_loads(*text != '\0' ? text : "[]", 0, NULL) : NULL, *phase;
  bool good = true;
  size_t i;
  json_array_foreach(phases, i, phase) {
    Row row = first_columns(arena, cell);
    put_number(&row, phase_names[0], json_number_value(json_array_get(phase, 0)));
    put_number(&row, phase_names[1], json_number_value(json_array_get(phase, 1)));
    put_text(&row, phase_names[2], json_string_value(json_array_get(phase, 2)));
    put_number(&row, phase_names[3], json_number_value(json_array_get(phase, 3)));
    good = good && (!is_first || i > 0 || make_table(results, table, &row, cell->part)) && insert(results, table, &row, cell->part);
  }
  json_decref(phases);
  arena_free(arena);
  return good;
}

static bool add_campaign(StudyResults *results, const StudyCell *cell, bool is_first) {
  Arena *arena = arena_new();
  const char *path = arena_format(arena, "%s/%s", results->folder, cell->file);
  Journal *journal = journal_read(path, results->diags);
  Report *report = journal != NULL ? report_read(journal, &(ReportOptions){.confidence = results->confidence}, results->diags) : NULL;
  bool good = report != NULL && report_is_whole(report, results->diags) && add_structure(results, cell, report, NULL, is_first);
  for (uint32_t i = 0; good && i < report->structures.count; i++)
    good = add_structure(results, cell, report, &report->structures.items[i], false);
  good = good && add_faults(results, cell, journal, is_first) && add_phases(results, cell, journal, is_first);
  if (report != NULL) report_free(report);
  if (journal != NULL) journal_close(journal);
  arena_free(arena);
  return good;
}

static bool add_cells(StudyResults *results, const StudyCells *cells) {
  const StudyPart *last = NULL;
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    bool is_first = cell->part != last, is_run = cell->part->section == SECTION_RUN;
    if (!(is_run ? add_run : add_campaign)(results, cell, is_first)) return false;
    last = cell->part;
  }
  return true;
}

// ---- CSV files beside the study ------------------------------------------------------------------------------------------

// One line of CSV: quotes may stand around a cell, "" in it is a quote. Lines that begin with # are comments.
static const char *read_line(Arena *arena, const char *text, Row *names, Row *row) {
  uint32_t at = 0;
  for (bool more = true; more; at++) {
    Text cell = {0};
    bool quoted = *text == '"';
    if (quoted) text++;
    for (; *text != '\0' && (quoted ? !(text[0] == '"' && text[1] != '"') : strchr(",\r\n", *text) == NULL); text++) {
      if (quoted && *text == '"') text++;
      text_add_bytes(&cell, text, 1);
    }
    if (quoted && *text == '"') text++;
    const char *copy = arena_copy_text(arena, cell.length > 0 ? cell.at : "", cell.length);
    text_free(&cell);
    if (row == NULL) put_text(names, copy, copy);
    else if (at < names->columns.count) put_word(row, names->columns.items[at].name, copy);
    more = *text == ',';
    if (more) text++;
  }
  text += strspn(text, "\r");
  return text + (*text == '\n');
}

static bool add_csv(StudyResults *results, Arena *arena, const char *name, const char *text) {
  const char *table = arena_copy_text(arena, name, strlen(name) - 4);
  Row names = {.arena = arena};
  bool good = true;
  for (const char *next = text; good && *next != '\0';) {
    if (*next == '#' || *next == '\n') {
      next += strcspn(next, "\n");
      next += *next == '\n';
      continue;
    }
    Row row = {.arena = arena};
    bool is_head = names.columns.count == 0;
    next = read_line(arena, next, &names, is_head ? NULL : &row);
    good = is_head ? make_table(results, table, &names, NULL) : insert(results, table, &row, NULL);
  }
  return good;
}

static bool is_csv(const char *name) {
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, ".csv") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }
static int is_csv_entry(const struct dirent *entry) { return is_csv(entry->d_name); }

static bool add_files_beside(StudyResults *results, Arena *arena) {
  struct dirent **entries = NULL;
  int count = scandir(results->study->folder, &entries, is_csv_entry, by_name);
  bool good = true;
  for (int i = 0; i < count; i++) {
    char *bytes;
    size_t length;
    const char *path = arena_format(arena, "%s/%s", results->study->folder, entries[i]->d_name);
    good = good && file_read(arena, path, &bytes, &length, results->diags) && add_csv(results, arena, entries[i]->d_name, bytes);
    free(entries[i]);
  }
  free(entries);
  return good;
}

static bool add_files(StudyResults *results) {
  Arena *arena = arena_new();
  bool good = true;
  if (results->study->builtin == NULL) good = add_files_beside(results, arena);
  for (uint32_t i = 0; i < builtin_study_file_count && results->study->builtin != NULL && good; i++) {
    const BuiltinStudyFile *file = &builtin_study_files[i];
    if (strcmp(file->study, results->study->builtin) == 0 && is_csv(file->name)) good = add_csv(results, arena, file->name, file->text);
  }
  arena_free(arena);
  return good;
}

// ---- Measures --------------------------------------------------------------------------------------------------------------

// A part's `sql`, which is one SELECT. NULL, with a diagnostic: it is not, or is wrong.
static sqlite3_stmt *prepare(StudyResults *results, const StudyPart *part) {
  sqlite3_stmt *statement = NULL;
  const char *sql = study_value(part, "sql"), *rest = "";
  sql_begin(&results->bounds);
  if (sqlite3_prepare_v2(results->database, sql, -1, &statement, &rest) != SQLITE_OK) {
    failed(results, part);
    return NULL;
  }
  if (statement != NULL && sqlite3_stmt_readonly(statement) && sqlite3_column_count(statement) > 0 && rest[strspn(rest, " ;")] == '\0')
    return statement;
  sqlite3_finalize(statement);
  diags_add(results->diags, results->study->path, study_line(part, "sql"), 0, "[%s %s]: 'sql' is one SELECT",
            study_section_names[part->section], part->name);
  return NULL;
}

static bool add_measure(StudyResults *results, const StudyPart *part) {
  sqlite3_stmt *statement = prepare(results, part);
  if (statement == NULL) return false;
  sqlite3_finalize(statement);
  char *sql = sqlite3_mprintf("CREATE TABLE \"%w\" AS %s", part->name, study_value(part, "sql"));
  bool good = run(results, sql, part);
  sqlite3_free(sql);
  return good;
}

// From here on the SQL is the user's; what is not is short.
static bool add_measures(StudyResults *results) {
  bool good = true;
  sql_bound(results->database, &results->bounds);
  for (uint32_t i = 0; i < results->study->parts.count; i++) {
    const StudyPart *part = &results->study->parts.items[i];
    if (part->section == SECTION_MEASURE) good = add_measure(results, part) && good;
  }
  sql_begin(&results->bounds);
  return good;
}

// ---- All of it -------------------------------------------------------------------------------------------------------------

static bool collect(StudyResults *results, const StudyCells *cells) {
  return add_functions(results) && run(results, "PRAGMA synchronous = OFF; BEGIN", NULL) && add_files(results) &&
         add_cells(results, cells) && add_measures(results) && run(results, "COMMIT", NULL);
}

StudyResults *study_collect(const StudyFile *study, const StudyCells *cells, const char *folder, Diags *diags) {
  StudyResults *results = calloc(1, sizeof *results);
  ASSERT(results != NULL);
  *results = (StudyResults){.study = study, .folder = folder, .diags = diags, .confidence = study->confidence};
  results->bounds.seconds = SQL_SECONDS;
  Arena *arena = arena_new();
  const char *path = arena_format(arena, "%s/study.db", folder);
  unlink(path);
  bool good = sqlite3_open(path, &results->database) == SQLITE_OK ||
              diags_add(diags, path, 0, 0, "cannot be written: %s", sqlite3_errmsg(results->database));
  good = good && collect(results, cells);
  arena_free(arena);
  if (good) return results;
  study_results_close(results);
  return NULL;
}

void study_results_close(StudyResults *results) {
  if (results == NULL) return;
  sqlite3_close(results->database);
  free(results);
}

// ---- Questions -------------------------------------------------------------------------------------------------------------

uint32_t study_column(const StudyTable *table, const char *name) {
  for (uint32_t i = 0; i < table->columns.count; i++) {
    if (strcmp(table->columns.items[i], name) == 0) return i;
  }
  return UINT32_MAX;
}

static StudyDatum datum_of(sqlite3_stmt *statement, int at, Arena *arena) {
  int type = sqlite3_column_type(statement, at);
  const char *text = type == SQLITE_NULL ? NULL : (const char *)sqlite3_column_text(statement, at);
  if (text == NULL) return (StudyDatum){DATUM_NOTHING, NAN, ""};
  char *copy = arena_copy_text(arena, text, strlen(text));
  if (type == SQLITE_TEXT || type == SQLITE_BLOB) return (StudyDatum){DATUM_TEXT, NAN, copy};
  double number = sqlite3_column_double(statement, at);
  return (StudyDatum){DATUM_NUMBER, number, type == SQLITE_INTEGER ? copy : arena_format(arena, "%.6g", number)};
}

static bool too_large(const StudyResults *results, const StudyPart *part) {
  return diags_add(results->diags, results->study->path, study_line(part, "sql"), 0,
                   "[%s %s]: 'sql' gives more than %d MB: group its rows, or LIMIT them", study_section_names[part->section], part->name,
                   SQL_TABLE_BYTES >> 20);
}

bool study_query(StudyResults *results, const StudyPart *part, Arena *arena, StudyTable *table, Diags *diags) {
  *table = (StudyTable){0};
  results->diags = diags;
  sqlite3_stmt *statement = prepare(results, part);
  if (statement == NULL) return false;
  int columns = sqlite3_column_count(statement), state = SQLITE_DONE;
  for (int i = 0; i < columns; i++) {
    const char *name = sqlite3_column_name(statement, i);
    *VEC_PUSH(&table->columns, arena) = arena_copy_text(arena, name, strlen(name));
  }
  const size_t before = arena_bytes(arena);
  bool fits = true;
  while (fits && (state = sqlite3_step(statement)) == SQLITE_ROW) {
    StudyDatum *row = ARENA_ARRAY(arena, StudyDatum, columns);
    for (int i = 0; i < columns; i++) row[i] = datum_of(statement, i, arena);
    *VEC_PUSH(&table->rows, arena) = row;
    fits = arena_bytes(arena) - before <= SQL_TABLE_BYTES;
  }
  bool good = fits ? state == SQLITE_DONE || failed(results, part) : too_large(results, part);
  sqlite3_finalize(statement);
  return good;
}

// ---- Before anything is run ------------------------------------------------------------------------------------------------

// --observe ace gives columns that depend on the machine: every name of that form in the study's SQL is taken for one.
static void put_ace(const StudyResults *results, Row *row) {
  for (uint32_t i = 0; i < results->study->parts.count; i++) {
    const char *next = study_value(&results->study->parts.items[i], "sql");
    while (next != NULL && (next = strstr(next, "ace_")) != NULL) {
      size_t length = strspn(next, "abcdefghijklmnopqrstuvwxyz0123456789_");
      const char *name = arena_copy_text(row->arena, next, length);
      if (!has_column(row, name)) put_number(row, name, NAN);
      next += length;
    }
  }
}

static bool has_option(const StudyCell *cell, const char *option) {
  bool any = false;
  for (uint32_t i = 0; i < cell->words.count && !any; i++) any = strncmp(cell->words.items[i], option, strlen(option)) == 0;
  return any;
}

// The tables of a run or campaign, without rows.
static bool add_shape(StudyResults *results, const StudyCell *cell, const char *const *columns, Arena *arena) {
  const char *name = cell->part->name;
  Row row = first_columns(arena, cell), faults = first_columns(arena, cell), phases = first_columns(arena, cell);
  if (cell->part->section == SECTION_RUN) {
    for (; *columns != NULL; columns++) {
      if (!has_column(&row, *columns)) put_number(&row, *columns, NAN);
    }
    if (has_option(cell, "--observe")) put_ace(results, &row);
    if (has_option(cell, "--fault")) put_number(&row, "golden_cycles", NAN), put_number(&row, "wrong_elements", NAN);
    put_end(&row, NAN, "");
    return make_table(results, name, &row, cell->part);
  }
  for (uint32_t i = 0; i < COUNT_OF(structure_names); i++) put_number(&row, structure_names[i], NAN);
  for (uint32_t i = 0; i < REPORT_GROUPS; i++) put_number(&row, report_groups[i], NAN);
  for (uint32_t i = 0; i < DUE_PARTS; i++) put_number(&row, due_parts[i], NAN);
  for (uint32_t i = 0; i < MEASURES; i++) put_estimate(&row, measures[i].key, (Estimate){0});
  for (uint32_t i = 0; i < COUNT_OF(fault_names); i++) put_number(&faults, fault_names[i], NAN);
  for (uint32_t i = 0; i < COUNT_OF(phase_names); i++) put_number(&phases, phase_names[i], NAN);
  return make_table(results, name, &row, cell->part) && make_table(results, arena_format(arena, "%s_faults", name), &faults, cell->part) &&
         make_table(results, arena_format(arena, "%s_phases", name), &phases, cell->part);
}

static bool add_shapes(StudyResults *results, const StudyCells *cells, const char *const *columns) {
  Arena *arena = arena_new();
  bool good = true;
  for (uint32_t i = 0; i < cells->items.count && good; i++) {
    bool is_first = i == 0 || cells->items.items[i].part != cells->items.items[i - 1].part;
    if (is_first) good = add_shape(results, &cells->items.items[i], columns, arena);
  }
  arena_free(arena);
  return good;
}

StudyResults *study_shape(const StudyFile *study, const StudyCells *cells, const char *const *columns, Diags *diags) {
  StudyResults *results = calloc(1, sizeof *results);
  ASSERT(results != NULL);
  *results = (StudyResults){.study = study, .folder = "", .diags = diags, .confidence = study->confidence};
  results->bounds.seconds = SQL_CHECK_SECONDS;
  bool good = (sqlite3_open(":memory:", &results->database) == SQLITE_OK && add_functions(results)) || failed(results, NULL);
  if (good && add_files(results) && add_shapes(results, cells, columns) && add_measures(results)) return results;
  study_results_close(results);
  return NULL;
}
