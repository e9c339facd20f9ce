// The file's format: tables, views, and how older files become this version. docs/journal.md says the same to people.
#include "journal/journal_internal.h"

#include <inttypes.h>
#include <stdlib.h>

enum { APPLICATION_ID = 0x52444254 }; // "RDBT"
enum { MOST_STRUCTURES = 256, MOST_LAUNCHES = 1 << 16, MOST_META = 256 };

#define COLUMN(name, type, meaning) #name " " #type ","
static const char fault_columns[] = // ends in a comma
#include "journal/fault.def"
    ;
#undef COLUMN
static const char tables[] = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
                             "CREATE TABLE launches (launch INTEGER PRIMARY KEY, kernel TEXT, began_at INTEGER, cycles INTEGER,"
                             " thread_instructions INTEGER, warp_instructions INTEGER, name TEXT, registers INTEGER, source INTEGER,"
                             " needs INTEGER);"
                             "CREATE TABLE structures (region INTEGER PRIMARY KEY, name TEXT, title TEXT, rows INTEGER, units INTEGER,"
                             " bits INTEGER, used REAL, raw_fit REAL, kind TEXT, needed REAL, origin TEXT, stands_for TEXT, drawn REAL);"
                             "CREATE TABLE drawn (region INTEGER, launch INTEGER, slice INTEGER, share REAL,"
                             " PRIMARY KEY (region, launch, slice)) WITHOUT ROWID;"
                             "CREATE TABLE sources (source INTEGER PRIMARY KEY, name TEXT, text TEXT);";
// %s: "" or "TEMP". Files of older versions have other groups, so whoever reads a file makes a table of its own.
static const char outcomes_table[] =
    "CREATE %s TABLE outcomes (outcome TEXT PRIMARY KEY, outcome_group TEXT, part TEXT, vulnerable INTEGER, meaning TEXT) WITHOUT ROWID";

// Views, for people and for reports. %s: "" or "TEMP", and "main" or "temp", where the table of outcomes is; %lld: faults with larger numbers are left out.
// A detected fault is a false DUE if the run comes to a right output when nobody answers the detection.
static const char results_view[] =
    "CREATE %s VIEW results AS SELECT f.id AS id, s.name AS structure, f.model AS model, f.sm AS sm, f.warp AS warp, f.reg AS reg,"
    " f.row AS row, f.lane AS lane, f.unit AS unit, f.bit AS bit, f.cycle AS cycle, f.launch AS launch, l.name AS kernel,"
    " l.kernel AS symbol, f.block AS block, f.pc AS pc, f.opcode AS opcode, f.line AS line, f.outcome AS outcome,"
    " o.outcome_group AS outcome_group, f.settled AS settled, "
    "f.class_of AS class_of, f.cycles AS cycles, f.wrong AS wrong,"
    " f.worst AS worst, f.pattern AS pattern, o.part AS due_part, f.unanswered AS unanswered, CASE WHEN f.outcome = 'detected' THEN"
    " f.unanswered IN ('masked', 'performance', 'corrected') WHEN o.outcome_group = 'due' THEN 0 END AS false_due, f.read AS read, f.note "
    "AS note,"
    " f.fault AS fault, f.number AS number, f.verified AS verified, ifnull(s.drawn, 1.0) AS drawn"
    " FROM faults f LEFT JOIN structures s ON s.region = f.region LEFT JOIN main.launches l ON l.launch = f.launch"
    " LEFT JOIN %s.outcomes o ON o.outcome = f.outcome WHERE f.id < %lld";
static const char avf_view[] = "CREATE VIEW avf AS SELECT structure, count(*) AS faults, avg(drawn * (outcome_group = 'sdc')) AS sdc_avf,"
                               " avg(drawn * (outcome_group = 'due')) AS due_avf, avg(drawn * (outcome = 'detected')) AS detected_avf,"
                               " avg(drawn * (outcome_group IN ('sdc', 'due'))) AS avf FROM results GROUP BY structure ORDER BY structure";

#define COLUMN(name, type, meaning) "?,"
const char fault_insert[] = "INSERT OR REPLACE INTO faults SELECT "
#include "journal/fault.def"
    ;
#undef COLUMN
#define COLUMN(name, type, meaning) #name ","
const char fault_select[] = "SELECT "
#include "journal/fault.def"
                            "NULL FROM faults ";
#undef COLUMN

// ---- Made ------------------------------------------------------------------------------------------

static bool run(Journal *journal, const char *sql, Diags *diags) {
  return sqlite3_exec(journal->database, sql, NULL, NULL, NULL) == SQLITE_OK || journal_error(journal, "cannot be written", diags);
}

static bool create_faults(Journal *journal, Diags *diags) {
  int length = (int)sizeof fault_columns - 2; // without the last comma
  return run(journal, arena_format(journal->arena, "CREATE TABLE faults (%.*s)", length, fault_columns), diags);
}

static bool create_outcomes(Journal *journal, const char *kind, const char *schema, Diags *diags) {
  if (!run(journal, arena_format(journal->arena, outcomes_table, kind), diags)) return false;
  sqlite3_stmt *put = journal_prepare(journal, arena_format(journal->arena, "INSERT INTO %s.outcomes VALUES (?1, ?2, ?3, ?4, ?5)", schema));
  bool good = put != NULL;
  for (uint32_t i = 0; i < OUTCOME_COUNT && good; i++) {
    const OutcomeInfo *info = &outcome_info[i];
    bool vulnerable = strcmp(info->group, "sdc") == 0 || strcmp(info->group, "due") == 0;
    sqlite3_bind_text(put, 1, info->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, info->group, -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 3, info->part, -1, SQLITE_STATIC);
    sqlite3_bind_int(put, 4, vulnerable);
    sqlite3_bind_text(put, 5, info->meaning, -1, SQLITE_STATIC);
    good = sqlite3_step(put) == SQLITE_DONE;
    sqlite3_reset(put);
  }
  if (!good) journal_error(journal, "cannot be written", diags);
  sqlite3_finalize(put);
  return good;
}

static bool create_views(Journal *journal, Diags *diags) {
  return run(journal, arena_format(journal->arena, results_view, "", "main", (long long)INT64_MAX), diags) && run(journal, avf_view, diags);
}

static bool set_version(Journal *journal, Diags *diags) {
  return run(journal, arena_format(journal->arena, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID, JOURNAL_VERSION),
             diags);
}

bool schema_create(Journal *journal, Diags *diags) {
  return run(journal, tables, diags) && create_faults(journal, diags) && create_outcomes(journal, "", "main", diags) &&
         create_views(journal, diags) && set_version(journal, diags);
}

// A view and a table of our own, in place of those that a file brings along.
bool journal_limit(Journal *journal, uint64_t below, Diags *diags) {
  journal->below = min_u64(below, INT64_MAX);
  return run(journal, "DROP VIEW IF EXISTS temp.results; DROP TABLE IF EXISTS temp.outcomes", diags) &&
         create_outcomes(journal, "TEMP", "temp", diags) &&
         run(journal, arena_format(journal->arena, results_view, "TEMP", "temp", (long long)journal->below), diags);
}

// ---- Checked ---------------------------------------------------------------------------------------

int schema_version(const Journal *journal) {
  int64_t version = journal_number(journal, "PRAGMA user_version");
  if (version == 0) version = journal_number(journal, "SELECT value FROM meta WHERE key = 'journal version'"); // up to version 3
  return (int)version;
}

// Who reads a file from elsewhere must not be kept busy by it: plain tables, and not more of what belongs in memory than any campaign has.
static bool is_bearable(const Journal *journal, Diags *diags) {
  const struct {
    const char *table;
    int64_t most;
  } parts[] = {{"meta", MOST_META}, {"launches", MOST_LAUNCHES}, {"structures", MOST_STRUCTURES}, {"faults", INT64_MAX}};
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    char sql[160];
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT count(*) FROM sqlite_master WHERE name = '%s' AND type = 'table' AND sql LIKE 'CREATE TABLE%%'",
                     parts[i].table);
    if (journal_number(journal, sql) != 1) return diags_add(diags, journal->path, 0, 0, "is damaged: it has no table '%s'", parts[i].table);
    sqlite3_snprintf(sizeof sql, sql, "SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %lld)", parts[i].table,
                     parts[i].most == INT64_MAX ? 1LL : (long long)parts[i].most + 1);
    if (journal_number(journal, sql) > parts[i].most)
      return diags_add(diags, journal->path, 0, 0, "is damaged: more than %" PRId64 " rows in table '%s'", parts[i].most, parts[i].table);
  }
  if (journal_number(journal, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") != 0)
    return diags_add(diags, journal->path, 0, 0, "is damaged: it has triggers, which no campaign makes");
  return true;
}

bool schema_check(const Journal *journal, Diags *diags) {
  int64_t id = journal_number(journal, "PRAGMA application_id");
  if (id < 0) return journal_error(journal, "cannot be read", diags);
  if (id == 0 && journal_number(journal, "SELECT count(*) FROM sqlite_master") == 0)
    return diags_add(diags, journal->path, 0, 0, "is empty, not a journal of Redoubt: a campaign that was to write it had not begun");
  if (id != APPLICATION_ID) return diags_add(diags, journal->path, 0, 0, "is not a journal of Redoubt");
  int version = schema_version(journal);
  if (sqlite3_errcode(journal->database) == SQLITE_CORRUPT) return journal_error(journal, "cannot be read", diags);
  if (version >= JOURNAL_OLDEST && version <= JOURNAL_VERSION) return is_bearable(journal, diags);
  return diags_add(diags, journal->path, 0, 0,
                   "is a journal of version %d, and this Redoubt reads versions %d to %d: use the Redoubt that wrote it, or repeat the "
                   "campaign under another name",
                   version, JOURNAL_OLDEST, JOURNAL_VERSION);
}

// ---- Brought up to date ------------------------------------------------------------------------------

// fault_field('flip:rf[sm=3,lane=7,bit=4]@99', 'lane') is 7; NULL: it has no such number.
static void fault_field(sqlite3_context *context, int count, sqlite3_value **values) {
  const char *fault = (const char *)sqlite3_value_text(values[0]), *key = (const char *)sqlite3_value_text(values[1]);
  const char *at = count == 2 && fault != NULL ? strchr(fault, '[') : NULL, *end = at == NULL ? NULL : strchr(at, ']');
  if (end == NULL || key == NULL) return;
  for (size_t length = strlen(key); at < end; at += 1 + strcspn(at + 1, ",]")) {
    if (strncmp(at + 1, key, length) != 0 || at[1 + length] != '=') continue;
    sqlite3_result_int64(context, (sqlite3_int64)strtoll(at + 2 + length, NULL, 10));
    return;
  }
}

// Version 3 had places only in the fault's text, took the rate of upsets for every model, and did not say what was asked for.
static const char from_version_3[] =
    "INSERT INTO faults SELECT id, fault, region, (SELECT value FROM meta WHERE key = 'model'), fault_field(fault, 'sm'),"
    " fault_field(fault, 'warp'), NULL, NULL, fault_field(fault, 'lane'), NULL, fault_field(fault, 'bit'), cycle, nullif(launch, 0), NULL,"
    " NULL, NULL, nullif(line, 0), outcome, settled, CASE settled WHEN 'class' THEN class_of END, nullif(cycles, 0), wrong, worst, NULL,"
    " nullif(note, ''), NULL, NULL, NULL, NULL FROM old_faults;"
    "INSERT INTO launches SELECT launch, kernel, began_at, cycles, thread_instructions, warp_instructions, kernel, NULL, NULL, NULL"
    " FROM old_launches;"
    "UPDATE structures SET raw_fit = 0 WHERE (SELECT value FROM meta WHERE key = 'model') <> 'flip';"
    "DELETE FROM meta WHERE key = 'journal version';"
    "DROP TABLE old_faults; DROP TABLE old_launches;";

// Version 4 did not say whether the run without faults reads what is struck, nor what kind of structure that is.
static const char from_version_4[] = "ALTER TABLE faults ADD COLUMN read INTEGER; ALTER TABLE structures ADD COLUMN kind TEXT;";
// Version 5 did not say what would have come of what was detected, had other groups of outcomes, and did not number the faults of a structure. Nor did it
// say which registers a kernel needs, and which cells a real GPU has, and had no self-check.
static const char from_version_5[] = "ALTER TABLE faults ADD COLUMN unanswered TEXT; ALTER TABLE faults ADD COLUMN number INTEGER; "
                                     "ALTER TABLE faults ADD COLUMN verified INTEGER;"
                                     "ALTER TABLE launches ADD COLUMN needs INTEGER; ALTER TABLE structures ADD COLUMN needed REAL;"
                                     "ALTER TABLE structures ADD COLUMN origin TEXT; ALTER TABLE structures ADD COLUMN stands_for TEXT;"
                                     "ALTER TABLE structures ADD COLUMN drawn REAL; CREATE TABLE drawn (region INTEGER, launch INTEGER,"
                                     " slice INTEGER, share REAL, PRIMARY KEY (region, launch, slice)) WITHOUT ROWID;"
                                     "DROP VIEW IF EXISTS results; DROP VIEW IF EXISTS avf; DROP TABLE IF EXISTS outcomes;";
// The same for a file that is only read, without a copy of it.
static const char as_if_from_version_4[] =
    "CREATE TEMP VIEW faults AS SELECT *, NULL AS read, NULL AS unanswered, NULL AS number, NULL AS verified FROM main.faults;"
    "CREATE TEMP VIEW launches AS SELECT *, NULL AS needs FROM main.launches;"
    "CREATE TEMP VIEW structures AS SELECT *, NULL AS kind, NULL AS needed, NULL AS origin, NULL AS stands_for, NULL AS drawn FROM "
    "main.structures;";
static const char as_if_from_version_5[] =
    "CREATE TEMP VIEW faults AS SELECT *, NULL AS unanswered, NULL AS number, NULL AS verified FROM main.faults;"
    "CREATE TEMP VIEW launches AS SELECT *, NULL AS needs FROM main.launches;"
    "CREATE TEMP VIEW structures AS SELECT *, NULL AS needed, NULL AS origin, NULL AS stands_for, NULL AS drawn FROM main.structures;";

bool schema_look_back(Journal *journal, Diags *diags) {
  return run(journal, schema_version(journal) == 4 ? as_if_from_version_4 : as_if_from_version_5, diags);
}

bool schema_migrate(Journal *journal, Diags *diags) {
  int version = schema_version(journal);
  if (version == JOURNAL_VERSION) return true;
  if (version >= 4)
    return (version == 5 || run(journal, from_version_4, diags)) && run(journal, from_version_5, diags) &&
           create_outcomes(journal, "", "main", diags) && create_views(journal, diags) && set_version(journal, diags);
  const char *keep = "ALTER TABLE faults RENAME TO old_faults; ALTER TABLE launches RENAME TO old_launches;"
                     "ALTER TABLE structures RENAME TO old_structures; ALTER TABLE meta RENAME TO old_meta;";
  const char *copy =
      "INSERT INTO meta SELECT * FROM old_meta; INSERT INTO structures SELECT *, NULL, NULL, NULL, NULL, NULL FROM old_structures;"
      "DROP TABLE old_meta; DROP TABLE old_structures;";
  bool good = sqlite3_create_function(journal->database, "fault_field", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, fault_field, NULL,
                                      NULL) == SQLITE_OK &&
              run(journal, keep, diags) && run(journal, tables, diags) && create_faults(journal, diags) && run(journal, copy, diags);
  return good && run(journal, from_version_3, diags) && create_outcomes(journal, "", "main", diags) && create_views(journal, diags) &&
         set_version(journal, diags);
}
