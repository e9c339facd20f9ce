// The journal refuses what is not its own, keeps what it was given, and survives interruption, damage and a full disk.
#include "journal/test_scene.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

// ---- Kept ------------------------------------------------------------------------------------------

static void rows_come_back(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 100);
  Journal *journal = journal_read(scene->path, &scene->diags);
  assert_non_null(journal);
  assert_int_equal(journal_fault_count(journal), 100);
  assert_true(journal_meta(journal)->seed == meta.seed && journal_meta(journal)->program_hash == meta.program_hash);
  assert_string_equal(journal_meta(journal)->settings, meta.settings);
  FaultCursor *cursor = journal_faults(journal);
  FaultRow row;
  for (uint64_t id = 0; id < 100; id++) {
    char text[64];
    FaultRow wanted = fault_of(id, text);
    assert_true(journal_next_fault(cursor, &row));
    assert_string_equal(row.fault, wanted.fault);
    assert_string_equal(row.note, wanted.note);
    assert_string_equal(row.opcode, wanted.opcode);
    assert_true(row.sm == wanted.sm && row.reg == wanted.reg && row.pc == wanted.pc && row.bit == NOTHING && row.pattern == wanted.pattern);
    assert_true(row.id == id && row.outcome == wanted.outcome && row.settled == wanted.settled && row.worst == wanted.worst);
    assert_true(row.cycle == wanted.cycle && row.line == wanted.line && row.class_of == wanted.class_of && row.cycles == wanted.cycles);
    assert_true(row.region == wanted.region && row.launch == wanted.launch && row.wrong == wanted.wrong && row.read == wanted.read);
  }
  assert_false(journal_next_fault(cursor, &row));
  assert_true(journal_end_faults(cursor));
  Arena *arena = arena_new();
  assert_true(journal_find_fault(journal, 99, &row, arena) && row.cycles == 3099);
  assert_false(journal_find_fault(journal, 100, &row, arena));
  arena_free(arena);
  journal_close(journal);
  char side[128]; // at rest it is one file
  snprintf(side, sizeof side, "%s-wal", scene->path);
  assert_int_not_equal(access(side, F_OK), 0);
}

static bool has_fault(const Journal *journal, uint64_t id) {
  char sql[64];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM faults WHERE id = %u", (unsigned)id);
  return journal_number(journal, sql) == 1;
}

static void resumed_is_as_if_never_stopped(void **state) {
  Scene *scene = *state;
  char whole[128];
  JournalMeta meta = meta_of(0, 1);
  snprintf(whole, sizeof whole, "%s/whole.db", scene->folder);
  write_journal(whole, &meta, 0, 1, 200);
  write_journal(scene->path, &meta, 0, 1, 77);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_non_null(journal);
  assert_true(has_fault(journal, 76));
  assert_false(has_fault(journal, 77));
  journal_close(journal);
  write_journal(scene->path, &meta, 77, 1, 200);
  assert_same_content(scene->path, whole);
}

static void shards_merge_to_the_whole(void **state) {
  Scene *scene = *state;
  char paths[3][96], whole[128];
  const char *shards[3] = {paths[2], paths[0], paths[1]};
  JournalMeta meta = meta_of(0, 1);
  snprintf(whole, sizeof whole, "%s/whole.db", scene->folder);
  write_journal(whole, &meta, 0, 1, 100);
  for (uint32_t i = 0; i < 3; i++) {
    snprintf(paths[i], sizeof paths[i], "%s/shard%u.db", scene->folder, i);
    JournalMeta part = meta_of(i, 3);
    write_journal(paths[i], &part, i, 3, 100);
  }
  assert_true(journal_merge(scene->path, shards, 3, &scene->diags));
  assert_same_content(scene->path, whole);
}

static void merging_refuses_what_does_not_fit(void **state) {
  Scene *scene = *state;
  char a[96], b[96];
  snprintf(a, sizeof a, "%s/s0.db", scene->folder);
  snprintf(b, sizeof b, "%s/s1.db", scene->folder);
  JournalMeta first = meta_of(0, 2), second = meta_of(1, 2);
  second.seed = 5;
  write_journal(a, &first, 0, 2, 10);
  write_journal(b, &second, 1, 2, 10);
  assert_false(journal_merge(scene->path, (const char *const[]){a, b}, 2, &scene->diags));
  assert_says(scene, "its seed is");
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_int_equal(unlink(b), 0);
  second = meta_of(1, 2);
  second.timeout = 3;
  write_journal(b, &second, 1, 2, 10);
  assert_false(journal_merge(scene->path, (const char *const[]){a, b}, 2, &scene->diags));
  assert_says(scene, "its timeout is '3', not '10'");
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_false(journal_merge(scene->path, (const char *const[]){a, a}, 2, &scene->diags));
  assert_says(scene, "given twice");
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_false(journal_merge(scene->path, (const char *const[]){a}, 1, &scene->diags));
  assert_says(scene, "shard 0 of 2");
  assert_int_not_equal(access(scene->path, F_OK), 0); // and nothing was written
}

static void merging_refuses_an_unfinished_shard(void **state) {
  Scene *scene = *state;
  char a[96], b[96];
  snprintf(a, sizeof a, "%s/s0.db", scene->folder);
  snprintf(b, sizeof b, "%s/s1.db", scene->folder);
  JournalMeta first = meta_of(0, 2), second = meta_of(1, 2);
  write_journal(a, &first, 0, 2, 10);
  write_journal(b, &second, 1, 2, 10);
  run_sql(b, "UPDATE meta SET value = '0' WHERE key IN ('complete', 'settled below'); DELETE FROM faults WHERE id = 5");
  assert_false(journal_merge(scene->path, (const char *const[]){a, b}, 2, &scene->diags));
  assert_says(scene, "is unfinished: 4 of 5 faults");
  assert_int_not_equal(access(scene->path, F_OK), 0);
}

static void errors_that_are_not_known_are_null(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 3);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  for (uint64_t id = 0; id < 3; id++) { // a CUDA program's, a workload's, and one of version 3
    char text[64];
    FaultRow row = fault_of(id, text);
    row.wrong = 2;
    row.worst = id == 2 ? 0.5 : 0;
    row.pattern = id == 1 ? PATTERN_ROW : PATTERN_NONE;
    assert_true(journal_put_fault(journal, &row, &scene->diags));
  }
  Query *query = journal_query(journal, "SELECT worst FROM results ORDER BY id");
  assert_true(query_next(query) && query_cell(query, 0).kind == CELL_NULL);
  assert_true(query_next(query) && query_cell(query, 0).kind == CELL_REAL);
  assert_true(query_next(query) && query_cell(query, 0).kind == CELL_REAL);
  assert_true(query_end(query));
  journal_close(journal);
}

// ---- How far it is -----------------------------------------------------------------------------------

// A plan of which these faults are there.
static JournalState state_of_plan(const Scene *scene, const JournalMeta *meta, JournalPlan plan, const uint64_t *ids, uint32_t count,
                                  uint64_t reached) {
  Diags diags = {0};
  Journal *journal = journal_open(scene->path, meta, &diags);
  assert_non_null(journal);
  assert_true(journal_begin(journal, &plan, &diags));
  for (uint32_t i = 0; i < count; i++) assert_true(put(journal, ids[i], &diags));
  assert_true(journal_reached(journal, reached, false, &diags));
  JournalState known = journal_state(journal);
  journal_close(journal);
  return known;
}

static JournalState state_with(const Scene *scene, const JournalMeta *meta, const uint64_t *ids, uint32_t count, uint64_t reached) {
  return state_of_plan(scene, meta, (JournalPlan){100, 0, 0.99}, ids, count, reached);
}

static void a_part_is_known_as_such(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  JournalState known = state_with(scene, &meta, (const uint64_t[]){0, 1, 2, 5, 9}, 5, 0);
  assert_false(known.complete);
  assert_true(known.asked == 100 && known.done == 5 && known.below == 3 && known.sample == 3);
  Journal *journal = journal_read(scene->path, &scene->diags);
  assert_true(journal_limit(journal, known.below, &scene->diags));
  FaultCursor *cursor = journal_faults(journal);
  FaultRow row;
  for (uint64_t id = 0; id < 3; id++) assert_true(journal_next_fault(cursor, &row) && row.id == id);
  assert_false(journal_next_fault(cursor, &row));
  assert_true(journal_end_faults(cursor));
  Query *query = journal_query(journal, "SELECT count(*) FROM results");
  assert_true(query_next(query) && query_cell(query, 0).integer == 3);
  assert_true(query_end(query));
  journal_close(journal);
}

static void faults_left_out_on_purpose_are_not_missing(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  const uint64_t ids[] = {0, 3, 6, 8, 9, 11}; // enough was known of others' structures
  JournalState known = state_of_plan(scene, &meta, (JournalPlan){100, 0.01, 0.99}, ids, 6, 8);
  assert_true(known.below == 10 && known.sample == 5);
}

static void removed_rows_are_missed(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 10);
  run_sql(scene->path, "DELETE FROM faults WHERE id = 4");
  Journal *journal = journal_read(scene->path, &scene->diags);
  JournalState known = journal_state(journal);
  journal_close(journal);
  assert_false(known.complete);
  assert_true(known.asked == 10 && known.done == 9 && known.below == 4 && known.sample == 4);
}

static void a_shard_counts_its_own(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(2, 7);
  JournalState known = state_with(scene, &meta, (const uint64_t[]){2, 9, 16, 30}, 4, 0);
  assert_true(known.asked == 14 && known.sample == 3 && known.below == 23);
}

static void all_that_was_asked_for_is_complete(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  uint64_t ids[100];
  for (uint64_t i = 0; i < 100; i++) ids[i] = i;
  assert_true(state_with(scene, &meta, ids, 100, 0).complete); // killed before it could say so
}

// ---- From elsewhere ----------------------------------------------------------------------------------

static void hostile_files_are_refused_at_once(void **state) {
  Scene *scene = *state;
  static const char *const changes[] = {
      "ALTER TABLE faults RENAME TO x; CREATE VIEW faults AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * "
      "FROM n",
      "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO structures (region, name, title, "
      "rows, units, bits, used, raw_fit, kind) SELECT i, 'x', '', 1, 1, "
      "1, 0, 0, NULL "
      "FROM n",
      "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO launches (launch, kernel) SELECT i, "
      "i FROM n",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO meta SELECT i, i FROM n",
      "CREATE TRIGGER t AFTER INSERT ON faults BEGIN DELETE FROM faults; END",
  };
  JournalMeta meta = meta_of(0, 1);
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    unlink(scene->path);
    write_journal(scene->path, &meta, 0, 1, 5);
    run_sql(scene->path, changes[i]);
    assert_null(journal_read(scene->path, &scene->diags));
    assert_says(scene, "is damaged");
    diags_free(&scene->diags);
    scene->diags = (Diags){0};
  }
}

// A view of the file's own is not what reports read.
static void views_of_the_file_are_not_used(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 5);
  run_sql(scene->path,
          "DROP VIEW results; CREATE VIEW results AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n");
  Journal *journal = journal_read(scene->path, &scene->diags);
  assert_non_null(journal);
  Query *query = journal_query(journal, "SELECT count(*) FROM results");
  assert_true(query_next(query) && query_cell(query, 0).integer == 5);
  assert_true(query_end(query));
  journal_close(journal);
}

static void notes_are_kept(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_true(journal_put_note(journal, NOTE_COMMAND, "redoubt campaign 'a b'", &scene->diags));
  assert_true(journal_put_source(journal, 1, "k.ptx", "line one\nline two\n", &scene->diags));
  GoldenRow launch = {.launch = 1, .kernel = "_Z6kernelPKfS0_Pfi", .cycles = 3000, .source = 1};
  assert_true(journal_put_golden(journal, &launch, 1, &scene->diags));
  journal_close(journal);
  journal = journal_read(scene->path, &scene->diags);
  assert_string_equal(journal_note(journal, NOTE_COMMAND), "redoubt campaign 'a b'");
  assert_string_equal(journal_note(journal, NOTE_HOST), "");
  Query *query = journal_query(journal, "SELECT l.name, s.text FROM launches l JOIN sources s USING (source)");
  assert_true(query_next(query));
  assert_string_equal(query_cell(query, 0).text, "kernel(float const*, float const*, float*, int)");
  assert_string_equal(query_cell(query, 1).text, "line one\nline two\n");
  assert_true(query_end(query));
  journal_close(journal);
}

// ---- Refused ---------------------------------------------------------------------------------------

static void refused(Scene *scene, const char *reading, const char *writing) {
  JournalMeta meta = meta_of(0, 1);
  assert_null(journal_read(scene->path, &scene->diags));
  assert_says(scene, reading);
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, writing);
}

static void refuses_what_is_no_database(void **state) {
  Scene *scene = *state;
  FILE *file = fopen(scene->path, "wb");
  assert_non_null(file);
  for (int i = 0; i < 1000; i++) fputs("plain text, line after line\n", file);
  fclose(file);
  refused(scene, "is not a journal", "is not a journal");
  struct stat about;
  assert_int_equal(stat(scene->path, &about), 0);
  assert_int_equal(about.st_size, 28000);
}

static void refuses_a_foreign_database_and_leaves_it_alone(void **state) {
  Scene *scene = *state;
  run_sql(scene->path, "CREATE TABLE cats (name TEXT); INSERT INTO cats VALUES ('Tom');");
  Arena *arena = arena_new();
  char *before, *after;
  size_t before_count, after_count;
  assert_true(file_read(arena, scene->path, &before, &before_count, &scene->diags));
  refused(scene, "is not a journal", "is not a journal");
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_true(file_read(arena, scene->path, &after, &after_count, &scene->diags));
  assert_int_equal(before_count, after_count);
  assert_memory_equal(before, after, before_count);
  arena_free(arena);
}

static void refuses_another_version(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 5);
  run_sql(scene->path, "PRAGMA user_version = 99");
  refused(scene, "version 99", "use the Redoubt that wrote it, or repeat the campaign");
}

static void says_that_there_is_no_file(void **state) {
  Scene *scene = *state;
  assert_null(journal_read(scene->path, &scene->diags));
  assert_says(scene, "no such file");
}

static void names_what_differs(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 5);
  JournalMeta other[6] = {meta, meta, meta, meta, meta, meta};
  const char *said[6] = {"its seed is '18446744073709551615', not '2'",
                         "its machine is 'fermi-gtx480', not 'tesla'",
                         "its settings is 'sm.warps=48', not 'sm.warps=32'",
                         "its program hash is",
                         "its shards is '1', not '4'",
                         "its timeout is '10', not '20'"};
  other[0].seed = 2;
  other[1].machine = "tesla";
  other[2].settings = "sm.count=15\nsm.warps=32\n";
  other[3].program_hash = 1;
  other[4].shards = 4;
  other[5].timeout = 20;
  for (uint32_t i = 0; i < 6; i++) {
    assert_null(journal_open(scene->path, &other[i], &scene->diags));
    assert_says(scene, said[i]);
    diags_free(&scene->diags);
    scene->diags = (Diags){0};
  }
}

static void one_writer_at_a_time(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_non_null(journal);
  assert_true(put(journal, 0, &scene->diags));
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, "another campaign is writing");
  Journal *reader = journal_read(scene->path, &scene->diags); // while readers come at any time
  assert_non_null(reader);
  journal_close(reader);
  journal_close(journal);
}

// ---- Damaged, full, killed -------------------------------------------------------------------------

// Any page of the file overwritten is noticed by reading everything or by resuming, or it was not in use.
static void damage_is_noticed(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 3000);
  struct stat about;
  assert_int_equal(stat(scene->path, &about), 0);
  int file = open(scene->path, O_RDWR);
  uint8_t bad[4096];
  memset(bad, 0xa5, sizeof bad);
  assert_int_equal(pwrite(file, bad, sizeof bad, about.st_size / 2 / 4096 * 4096), sizeof bad);
  close(file);
  Journal *journal = journal_read(scene->path, &scene->diags);
  assert_non_null(journal); // its head is whole
  FaultCursor *cursor = journal_faults(journal);
  FaultRow row;
  uint64_t rows = 0;
  while (journal_next_fault(cursor, &row)) rows++;
  assert_true(rows < 3000);
  assert_false(journal_end_faults(cursor));
  assert_false(journal_damaged(journal, &scene->diags));
  assert_says(scene, "is damaged");
  journal_close(journal);
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, "is damaged");
}

static void a_cut_file_is_noticed(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 3000);
  struct stat about;
  assert_int_equal(stat(scene->path, &about), 0);
  assert_int_equal(truncate(scene->path, about.st_size / 3), 0);
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, "is damaged");
}

// What SQLite cannot know: words that are no outcomes, and numbers that no campaign has.
static void nonsense_is_noticed(void **state) {
  Scene *scene = *state;
  static const char *const changes[] = {"UPDATE faults SET outcome = 'mbsked' WHERE id = 50",
                                        "UPDATE faults SET settled = 'rum' WHERE id = 50",
                                        "UPDATE faults SET id = 1099511627776 WHERE id = 50", "UPDATE faults SET id = -50 WHERE id = 50"};
  JournalMeta meta = meta_of(0, 1);
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    unlink(scene->path);
    write_journal(scene->path, &meta, 0, 1, 100);
    run_sql(scene->path, changes[i]);
    assert_null(journal_open(scene->path, &meta, &scene->diags));
    assert_says(scene, "is damaged");
    diags_free(&scene->diags);
    scene->diags = (Diags){0};
  }
}

static bool take(void *context, const FaultRow *row) {
  (void)context;
  assert_true(row->outcome < OUTCOME_COUNT && row->settled < SETTLED_COUNT);
  return true;
}

static void nonsense_ends_a_report(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 100);
  run_sql(scene->path, "UPDATE faults SET outcome = 'mbsked' WHERE id = 50");
  Journal *journal = journal_read(scene->path, &scene->diags);
  Arena *arena = arena_new();
  FaultRow row;
  assert_non_null(journal);
  assert_false(journal_each_fault(journal, take, NULL));
  assert_false(journal_damaged(journal, &scene->diags));
  assert_says(scene, "is damaged");
  assert_true(journal_find_fault(journal, 49, &row, arena));
  assert_false(journal_find_fault(journal, 50, &row, arena));
  arena_free(arena);
  journal_close(journal);
}

// What a damaged journal holds is shown, not obeyed.
static void control_characters_are_not_repeated(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 5);
  run_sql(scene->path, "UPDATE meta SET value = 'a' || char(27) || '[2Jb' WHERE key = 'target'");
  assert_null(journal_open(scene->path, &meta, &scene->diags));
  assert_says(scene, "its target is 'a?[2Jb'");
}

// SQLite reports a page limit exactly as it reports a device without room.
static void full_disk_loses_nothing(void **state) {
  Scene *scene = *state;
  char whole[128];
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 500);
  Journal *journal = journal_open(scene->path, &meta, &scene->diags);
  assert_non_null(journal);
  assert_int_equal(sqlite3_exec(journal->database, "PRAGMA max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
  uint64_t id = 500;
  while (id < 5000 && put(journal, id, &scene->diags)) id++;
  assert_true(id < 5000);
  assert_says(scene, "the disk is full");
  journal_close(journal);
  char *before = dump_of(scene->path);
  assert_non_null(strstr(before, "\n499|flip:rf[reg=499]"));
  free(before);
  write_journal(scene->path, &meta, 500, 1, 1000); // room again: goes on
  snprintf(whole, sizeof whole, "%s/whole.db", scene->folder);
  write_journal(whole, &meta, 0, 1, 1000);
  assert_same_content(scene->path, whole);
}

static void write_until_killed(const char *path, int pipe_end) {
  JournalMeta meta = meta_of(0, 1);
  Diags diags = {0};
  Journal *journal = journal_open(path, &meta, &diags);
  if (journal == NULL) _exit(1);
  uint64_t id = journal_fault_count(journal);
  for (;; id++) {
    if (!put(journal, id, &diags)) _exit(1);
    if (id % 16 != 15) continue;
    if (!journal_commit(journal, &diags) || write(pipe_end, &id, sizeof id) != sizeof id) _exit(1);
  }
}

// What was reported committed is there after SIGKILL, whenever it comes, and the file is sound.
static void killed_loses_nothing_committed(void **state) {
  Scene *scene = *state;
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 16);
  for (uint32_t round = 0; round < 12; round++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) write_until_killed(scene->path, ends[1]);
    close(ends[1]);
    uint64_t last = 0, got = 0;
    for (uint32_t i = 0; i < 3 + round; i++) assert_int_equal(read(ends[0], &last, sizeof last), sizeof last);
    usleep(137 * round);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (read(ends[0], &got, sizeof got) == sizeof got) last = got;
    close(ends[0]);
    Journal *journal = journal_open(scene->path, &meta, &scene->diags);
    assert_non_null(journal);
    for (uint64_t id = 0; id <= last; id++) assert_true(has_fault(journal, id));
    journal_close(journal);
  }
}

static uint64_t hash_of(const char *path) {
  Diags diags = {0};
  uint64_t hash = 0;
  Journal *journal = journal_read(path, &diags);
  assert_non_null(journal);
  assert_true(journal_hash(journal, &hash));
  journal_close(journal);
  return hash;
}

// The hash is of what was found: other bytes of the file, another day and another computer are the same; any row is not.
static void every_row_is_hashed(void **state) {
  Scene *scene = *state;
  static const char *const same[] = {"VACUUM", "UPDATE meta SET value = 'x' WHERE key IN ('date', 'host', 'command')",
                                     "INSERT INTO meta VALUES ('host', 'another')"};
  static const char *const others[] = {"UPDATE meta SET value = '0' WHERE key = 'complete'",
                                       "UPDATE launches SET cycles = cycles + 1",
                                       "UPDATE structures SET bits = 33",
                                       "UPDATE outcomes SET outcome_group = 'masked' WHERE outcome = 'sdc'",
                                       "INSERT INTO sources VALUES (1, 'k.ptx', 'text')",
                                       "UPDATE faults SET outcome = 'masked' WHERE id = 4",
                                       "UPDATE faults SET pc = NULL WHERE id = 19",
                                       "DELETE FROM faults WHERE id = 19"};
  JournalMeta meta = meta_of(0, 1);
  write_journal(scene->path, &meta, 0, 1, 20);
  uint64_t last = hash_of(scene->path);
  for (size_t i = 0; i < COUNT_OF(same); i++) {
    run_sql(scene->path, same[i]);
    if (hash_of(scene->path) != last) fail_msg("%s", same[i]);
  }
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    run_sql(scene->path, others[i]);
    uint64_t now = hash_of(scene->path);
    if (now == last) fail_msg("%s", others[i]);
    last = now;
  }
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(rows_come_back),
      CASE(resumed_is_as_if_never_stopped),
      CASE(shards_merge_to_the_whole),
      CASE(merging_refuses_what_does_not_fit),
      CASE(merging_refuses_an_unfinished_shard),
      CASE(errors_that_are_not_known_are_null),
      CASE(a_part_is_known_as_such),
      CASE(faults_left_out_on_purpose_are_not_missing),
      CASE(a_shard_counts_its_own),
      CASE(removed_rows_are_missed),
      CASE(all_that_was_asked_for_is_complete),
      CASE(hostile_files_are_refused_at_once),
      CASE(views_of_the_file_are_not_used),
      CASE(notes_are_kept),
      CASE(every_row_is_hashed),
      CASE(refuses_what_is_no_database),
      CASE(refuses_a_foreign_database_and_leaves_it_alone),
      CASE(refuses_another_version),
      CASE(says_that_there_is_no_file),
      CASE(names_what_differs),
      CASE(one_writer_at_a_time),
      CASE(damage_is_noticed),
      CASE(a_cut_file_is_noticed),
      CASE(nonsense_is_noticed),
      CASE(nonsense_ends_a_report),
      CASE(control_characters_are_not_repeated),
      CASE(full_disk_loses_nothing),
      CASE(killed_loses_nothing_committed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
