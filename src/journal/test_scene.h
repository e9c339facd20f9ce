// A folder with a journal in it, for tests of journals: rows to write, and what a file says afterwards.
#ifndef REDOUBT_TEST_SCENE_H
#define REDOUBT_TEST_SCENE_H

#include "journal/journal_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Scene {
  char folder[64];
  char path[96];
  Diags diags;
} Scene;

static inline int set_up(void **state) {
  Scene *scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  snprintf(scene->folder, sizeof scene->folder, P_tmpdir "/redoubt-journal-XXXXXX");
  assert_non_null(mkdtemp(scene->folder));
  snprintf(scene->path, sizeof scene->path, "%s/a.db", scene->folder);
  *state = scene;
  return 0;
}

static inline int tear_down(void **state) {
  Scene *scene = *state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", scene->folder);
  assert_int_equal(system(command), 0);
  diags_free(&scene->diags);
  free(scene);
  return 0;
}

static inline JournalMeta meta_of(uint64_t shard, uint64_t shards) {
  return (JournalMeta){.target = "scalarprod",
                       .arguments = "size=tiny\nseed=1\n",
                       .machine = "fermi-gtx480",
                       .settings = "sm.count=15\nsm.warps=48\n",
                       .protection = "none",
                       .model = "flip",
                       .structures = "rf",
                       .window = "all",
                       .program_hash = 0xfedcba9876543210,
                       .layout_hash = 17,
                       .seed = 18446744073709551615u,
                       .timeout = 10,
                       .shard = shard,
                       .shards = shards};
}

static inline FaultRow fault_of(uint64_t id, char text[64]) {
  snprintf(text, 64, "flip:rf[reg=%u]@%u", (unsigned)id, (unsigned)id * 7);
  FaultRow row = fault_row();
  row.id = id;
  row.fault = text;
  row.model = "flip";
  row.region = 3;
  row.sm = (int64_t)id % 15;
  row.reg = id % 2 == 0 ? NOTHING : (int64_t)id;
  row.cycle = id * 7;
  row.launch = 1;
  row.pc = id % 4 == 0 ? NOTHING : (int64_t)id;
  row.opcode = id % 4 == 0 ? "" : "add.f32";
  row.line = (uint32_t)id % 40;
  row.outcome = (uint8_t)(id % OUTCOME_COUNT);
  row.settled = (uint8_t)(id % SETTLED_COUNT);
  row.class_of = row.settled == SETTLED_CLASS ? id / 2 : id;
  row.cycles = 3000 + id;
  row.wrong = id % 5;
  row.worst = row.wrong == 0 ? 0 : (double)id / 3;
  row.pattern = (uint8_t)(id % PATTERN_COUNT);
  row.read = (int64_t)(id % 3) - 1;
  row.number = (int64_t)id / 2;
  row.note = id % 3 == 0 ? "a note, 'with' \"quotes\"" : "";
  return row;
}

static inline bool put(Journal *journal, uint64_t id, Diags *diags) {
  char text[64];
  FaultRow row = fault_of(id, text);
  return journal_put_fault(journal, &row, diags);
}

static inline void put_frame(Journal *journal, Diags *diags) {
  GoldenRow launch = {.launch = 1, .kernel = "k", .cycles = 3000, .thread_instructions = 64, .warp_instructions = 2};
  StructureRow structure = {.region = 3, .name = "rf", .title = "register file", .rows = 15, .units = 32, .bits = 32, .used = 0.5};
  structure.kind = KIND_CELLS;
  assert_true(journal_put_golden(journal, &launch, 1, diags));
  assert_true(journal_put_structures(journal, &structure, 1, diags));
}

// Writes the faults `first`, first + step, ... below `end`, which are all that were asked for, and closes.
static inline void write_journal(const char *path, const JournalMeta *meta, uint64_t first, uint64_t step, uint64_t end) {
  Diags diags = {0};
  Journal *journal = journal_open(path, meta, &diags);
  assert_non_null(journal);
  put_frame(journal, &diags);
  assert_true(journal_begin(journal, &(JournalPlan){end, 0, 0.99}, &diags));
  for (uint64_t id = first; id < end; id += step) assert_true(put(journal, id, &diags));
  assert_true(journal_reached(journal, end, true, &diags));
  assert_true(journal_commit(journal, &diags));
  journal_close(journal);
}

static inline char *dump_of(const char *path) {
  Diags diags = {0};
  Text text = {0};
  Journal *journal = journal_read(path, &diags);
  assert_non_null(journal);
  journal_dump(journal, &text);
  journal_close(journal);
  return text.at;
}

static inline void assert_same_content(const char *a, const char *b) {
  char *left = dump_of(a), *right = dump_of(b);
  assert_string_equal(left, right);
  free(left);
  free(right);
}

static inline void assert_says(const Scene *scene, const char *what) {
  assert_int_equal(scene->diags.count, 1);
  if (strstr(scene->diags.items[0].text, what) == NULL) fail_msg("'%s' does not say '%s'", scene->diags.items[0].text, what);
}

static inline void run_sql(const char *path, const char *sql) {
  sqlite3 *database;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(database);
}

#endif
