// Journals of older versions: read as if they were of this one and left alone, or resumed and brought up to date.
#include "journal/test_scene.h"

static const char version_3[] =
    "PRAGMA application_id = 1380205140;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE launches (launch INTEGER PRIMARY KEY, kernel TEXT, began_at INTEGER, cycles INTEGER,"
    " thread_instructions INTEGER, warp_instructions INTEGER);"
    "CREATE TABLE structures (region INTEGER PRIMARY KEY, name TEXT, title TEXT, rows INTEGER, units INTEGER,"
    " bits INTEGER, used REAL, raw_fit REAL);"
    "CREATE TABLE faults (id INTEGER PRIMARY KEY, fault TEXT, region INTEGER, cycle INTEGER, launch INTEGER,"
    " line INTEGER, outcome TEXT, settled TEXT, class_of INTEGER, cycles INTEGER, wrong INTEGER, worst REAL, note TEXT);"
    "INSERT INTO launches VALUES (1, '_Z3addPf', 0, 3000, 64, 2);"
    "INSERT INTO structures VALUES (3, 'rf', 'register file', 15, 32, 32, 0.5, 333);"
    "INSERT INTO faults VALUES (0, 'flip:rf[sm=3,reg=12,lane=7,bit=4]@99', 3, 99, 1, 17, 'sdc', 'run', 0, 0, 2, 0.5, ''),"
    " (1, 'flip:rf[sm=3,reg=2,lane=17,bit=31]@100', 3, 100, 1, 0, 'masked', 'unread', 1, 3000, 0, 0, '');"
    "INSERT INTO meta VALUES ('journal version', '3'), ('target', 'scalarprod'), ('arguments', 'size=tiny' || char(10) || 'seed=1' || "
    "char(10)),"
    " ('machine', 'fermi-gtx480'), ('settings', 'sm.count=15' || char(10) || 'sm.warps=48' || char(10)), ('protection', 'none'),"
    " ('model', 'flip'), ('structures', 'rf'), ('window', 'all'), ('program hash', 'fedcba9876543210'),"
    " ('layout hash', '0000000000000011'), ('seed', '18446744073709551615'), ('timeout', '10'), ('shard', '0'), ('shards', '1');";

static void check_migrated(const Journal *journal) {
  FaultCursor *cursor = journal_faults(journal);
  FaultRow row;
  assert_true(journal_next_fault(cursor, &row));
  assert_true(row.sm == 3 && row.lane == 7 && row.bit == 4 && row.line == 17 && row.outcome == OUTCOME_SDC && row.wrong == 2);
  assert_true(row.pc == NOTHING && row.row == NOTHING);
  assert_string_equal(row.model, "flip");
  assert_true(journal_next_fault(cursor, &row) && row.bit == 31 && row.line == 0);
  assert_true(journal_end_faults(cursor));
  JournalState known = journal_state(journal);
  assert_true(known.complete && known.asked == 0 && known.sample == 2);
}

static void version_3_is_read_and_left_alone(void **state) {
  Scene *scene = *state;
  run_sql(scene->path, version_3);
  for (uint32_t i = 0; i < 2; i++) { // the second time as the first
    Journal *journal = journal_read(scene->path, &scene->diags);
    assert_non_null(journal);
    assert_string_equal(journal_meta(journal)->target, "scalarprod");
    check_migrated(journal);
    journal_close(journal);
  }
}

static void version_3_is_resumed_as_this_version(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  run_sql(scene->path, version_3);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_non_null(journal);
  check_migrated(journal);
  assert_true(put(journal, 2, &scene->diags));
  journal_close(journal);
  journal = journal_read(scene->path, &scene->diags);
  assert_non_null(journal);
  assert_int_equal(journal_number(journal, "PRAGMA user_version"), JOURNAL_VERSION);
  assert_int_equal(journal_fault_count(journal), 3);
  journal_close(journal);
}

// What version 6 has brought.
#define WITHOUT_VERSION_6                                                                                                                  \
  "DROP VIEW results; DROP VIEW avf; DROP TABLE drawn; ALTER TABLE faults DROP COLUMN unanswered; ALTER TABLE faults DROP COLUMN number; " \
  "ALTER TABLE faults DROP COLUMN verified; ALTER TABLE launches DROP COLUMN needs; ALTER TABLE structures DROP COLUMN drawn; "            \
  "ALTER TABLE structures DROP COLUMN needed; ALTER TABLE structures DROP COLUMN origin; ALTER TABLE structures DROP COLUMN stands_for; "

// Version 4 had neither faults.read, structures.kind nor (as version 5) faults.unanswered.
static void make_version_4(const Scene *scene) {
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 10);
  run_sql(scene->path,
          WITHOUT_VERSION_6 "ALTER TABLE faults DROP COLUMN read; ALTER TABLE structures DROP COLUMN kind; PRAGMA user_version = 4");
}

static bool count_kinds(void *context, const StructureRow *row) {
  ((uint32_t *)context)[row->kind]++;
  return true;
}

static void check_version_4(const Journal *journal, uint32_t kind) {
  char text[64];
  FaultRow expected = fault_of(7, text), row;
  Arena *arena = arena_new();
  assert_true(journal_find_fault(journal, 7, &row, arena));
  assert_true(row.read == NOTHING && row.cycle == expected.cycle && row.wrong == expected.wrong);
  assert_string_equal(row.fault, expected.fault);
  arena_free(arena);
  Query *query = journal_query(journal, "SELECT count(*), count(read), sum(cycle) FROM results");
  assert_true(query_next(query) && query_cell(query, 0).integer == 10 && query_cell(query, 1).integer == 0);
  assert_true(query_end(query));
  uint32_t kinds[KIND_COUNT] = {0};
  assert_true(journal_each_structure(journal, count_kinds, kinds));
  assert_int_equal(kinds[kind], 1);
}

static void version_4_is_read_and_left_alone(void **state) {
  Scene *scene = *state;
  make_version_4(scene);
  for (uint32_t i = 0; i < 2; i++) {
    Journal *journal = journal_read(scene->path, &scene->diags);
    assert_non_null(journal);
    check_version_4(journal, KIND_NOT_KNOWN);
    assert_int_equal(journal_number(journal, "PRAGMA user_version"), 4);
    assert_true(journal_state(journal).complete);
    journal_close(journal);
  }
}

static void version_4_is_resumed_as_this_version(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  make_version_4(scene);
  char *before = dump_of(scene->path);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_non_null(journal);
  assert_int_equal(journal_number(journal, "PRAGMA user_version"), JOURNAL_VERSION);
  journal_close(journal);
  char *after = dump_of(scene->path);
  assert_string_equal(before, after); // it says what it said
  free(before);
  free(after);
  journal = journal_open(scene->path, &meta, &scene->diags);
  put_frame(journal, &scene->diags);
  check_version_4(journal, KIND_CELLS);
  assert_true(put(journal, 10, &scene->diags));
  journal_close(journal);
}

static void make_version_5(const Scene *scene) {
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 10);
  run_sql(scene->path, WITHOUT_VERSION_6 "PRAGMA user_version = 5");
}

static void check_version_5(const Journal *journal) {
  char text[64];
  FaultRow expected = fault_of(7, text), row;
  Arena *arena = arena_new();
  assert_true(journal_find_fault(journal, 7, &row, arena));
  assert_true(row.number == NOTHING && row.read == expected.read);
  arena_free(arena);
  Query *query = journal_query(journal, "SELECT count(*), count(number), count(read) FROM results");
  assert_true(query_next(query) && query_cell(query, 0).integer == 10 && query_cell(query, 1).integer == 0);
  assert_true(query_cell(query, 2).integer > 0);
  assert_true(query_end(query));
}

static void version_5_is_read_and_left_alone(void **state) {
  Scene *scene = *state;
  make_version_5(scene);
  Journal *journal = journal_read(scene->path, &scene->diags);
  assert_non_null(journal);
  check_version_5(journal);
  assert_int_equal(journal_number(journal, "PRAGMA user_version"), 5);
  journal_close(journal);
}

// Its campaign drew other faults: the same command of this version does not go on with it.
static void version_5_is_not_gone_on_with(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  make_version_5(scene);
  meta.sampling = "by structure";
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, "was made by an older Redoubt, which drew other faults");
  Diags diags = {0};
  Journal *journal = journal_read(scene->path, &diags);
  assert_int_equal(journal_number(journal, "PRAGMA user_version"), 5);
  journal_close(journal);
  meta.sampling = "";
  journal = journal_open(scene->path, &meta, &diags);
  assert_non_null(journal);
  assert_int_equal(journal_number(journal, "PRAGMA user_version"), JOURNAL_VERSION);
  check_version_5(journal);
  journal_close(journal);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(version_3_is_read_and_left_alone),     CASE(version_3_is_resumed_as_this_version), CASE(version_4_is_read_and_left_alone),
      CASE(version_4_is_resumed_as_this_version), CASE(version_5_is_read_and_left_alone),     CASE(version_5_is_not_gone_on_with),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
