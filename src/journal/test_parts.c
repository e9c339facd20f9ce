// Parts of a campaign: journals with a run of fault numbers each, put together, and batches with a margin.
#include "journal/journal.h"
#include "journal/statistics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Scene {
  char folder[32];
  Arena *arena;
  Diags diags;
} Scene;

static int set_up(void **state) {
  Scene *scene = calloc(1, sizeof *scene);
  snprintf(scene->folder, sizeof scene->folder, P_tmpdir "/redoubt-parts-XXXXXX");
  assert_non_null(mkdtemp(scene->folder));
  scene->arena = arena_new();
  *state = scene;
  return 0;
}

static int tear_down(void **state) {
  Scene *scene = *state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", scene->folder);
  assert_int_equal(system(command), 0);
  diags_free(&scene->diags);
  arena_free(scene->arena);
  free(scene);
  return 0;
}

static const char *path_of(Scene *scene, const char *name) { return arena_format(scene->arena, "%s/%s.db", scene->folder, name); }

// What was asked for, and which faults there are: of structure 3 each third is bad, of structure 5 none.
typedef struct Wish {
  JournalPlan plan;
  uint64_t first, end;
  const char *enough; // "s5": no faults of structure 5
} Wish;

static FaultRow fault_of(uint64_t id, char text[64]) {
  snprintf(text, 64, "flip:s[row=%u]@1", (unsigned)id);
  FaultRow row = fault_row();
  row.id = row.class_of = id;
  row.fault = text;
  row.model = "flip";
  row.region = id % 2 == 0 ? 3 : 5;
  row.launch = 1;
  row.outcome = id % 6 == 0 ? OUTCOME_SDC : OUTCOME_MASKED;
  row.settled = SETTLED_RUN;
  row.opcode = row.note = "";
  return row;
}

static const StructureRow structures[] = {{.region = 3, .name = "s3", .title = "three", .rows = 1, .units = 1, .bits = 1},
                                          {.region = 5, .name = "s5", .title = "five", .rows = 1, .units = 1, .bits = 1}};

static const char *write_part(Scene *scene, const char *name, const Wish *wish) {
  const char *path = path_of(scene, name);
  JournalMeta meta = {.target = "t", .arguments = "", .machine = "m", .settings = "", .protection = "none", .model = "flip"};
  meta.structures = "s3,s5";
  meta.window = "all";
  meta.shards = 1;
  meta.first = wish->first;
  meta.end = wish->end;
  meta.enough = wish->enough;
  Journal *journal = journal_open(path, &meta, &scene->diags);
  assert_non_null(journal);
  GoldenRow launch = {.launch = 1, .kernel = "k", .cycles = 3000};
  assert_true(journal_put_golden(journal, &launch, 1, &scene->diags));
  assert_true(journal_put_structures(journal, structures, 2, &scene->diags));
  assert_true(journal_begin(journal, &wish->plan, &scene->diags));
  uint64_t end = wish->end > 0 ? min_u64(wish->end, wish->plan.faults) : wish->plan.faults;
  for (uint64_t id = wish->first; id < end; id++) {
    char text[64];
    FaultRow row = fault_of(id, text);
    if (wish->enough == NULL || row.region == 3) assert_true(journal_put_fault(journal, &row, &scene->diags));
  }
  assert_true(journal_reached(journal, end, true, &scene->diags));
  assert_true(journal_commit(journal, &scene->diags));
  journal_close(journal);
  return path;
}

static void assert_same(Scene *scene, const char *a, const char *b) {
  Text texts[2] = {0};
  const char *paths[2] = {a, b};
  for (uint32_t i = 0; i < 2; i++) {
    Journal *journal = journal_read(paths[i], &scene->diags);
    assert_non_null(journal);
    journal_dump(journal, &texts[i]);
    journal_close(journal);
  }
  assert_string_equal(texts[0].at, texts[1].at);
  text_free(&texts[0]);
  text_free(&texts[1]);
}

static void assert_refused(Scene *scene, const char *const *paths, uint32_t count, const char *why) {
  const char *merged = path_of(scene, "refused");
  assert_false(journal_merge(merged, paths, count, &scene->diags));
  assert_int_equal(scene->diags.count, 1);
  if (strstr(scene->diags.items[0].text, why) == NULL) fail_msg("'%s' does not say '%s'", scene->diags.items[0].text, why);
  diags_free(&scene->diags);
  scene->diags = (Diags){0};
}

static void parts_merge_to_the_whole(void **state) {
  Scene *scene = *state;
  JournalPlan plan = {100, 0, 0.99};
  const char *whole = write_part(scene, "whole", &(Wish){plan, 0, 0, NULL});
  const char *a = write_part(scene, "a", &(Wish){plan, 0, 30, NULL}), *b = write_part(scene, "b", &(Wish){plan, 30, 31, NULL});
  const char *c = write_part(scene, "c", &(Wish){plan, 31, 200, NULL}), *merged = path_of(scene, "merged");
  assert_true(journal_merge(merged, (const char *const[]){c, a, b}, 3, &scene->diags));
  assert_same(scene, whole, merged);
  assert_refused(scene, (const char *const[]){a, c}, 2, "no journal with faults 30 to 30 is given");
  assert_refused(scene, (const char *const[]){a, b}, 2, "no journal with faults 31 to 99 is given");
  assert_refused(scene, (const char *const[]){b, c}, 2, "no journal with faults 0 to 29 is given");
  assert_refused(scene, (const char *const[]){a, b, b, c}, 4, "fault 30 is given twice");
  assert_refused(scene, (const char *const[]){a, whole}, 2, "its part is ''");
}

static void a_part_counts_its_own(void **state) {
  Scene *scene = *state;
  const char *path = write_part(scene, "a", &(Wish){{100, 0, 0.99}, 30, 50, NULL});
  Journal *journal = journal_read(path, &scene->diags);
  JournalState known = journal_state(journal);
  assert_true(journal_meta(journal)->first == 30 && journal_meta(journal)->end == 50);
  journal_close(journal);
  assert_true(known.complete && known.asked == 20 && known.done == 20 && known.sample == 20 && known.below == 50);
}

// Two batches settled at once, of which one machine would have settled the first alone.
static void a_margin_leaves_out_what_is_too_much(void **state) {
  Scene *scene = *state;
  uint32_t batch = journal_batch(true, 2);
  double tight = 0.029; // half the interval after one batch: 0.027 for s3
  assert_true(wilson_is_tight(batch / 6 + 1, batch / 2, 1, tight, 0.99) && !wilson_is_tight(batch / 6 + 1, batch / 2, 1, 0.02, 0.99));
  JournalPlan plan = {10 * batch, tight, 0.99};
  const char *much = write_part(scene, "much", &(Wish){plan, 0, 2 * batch, NULL}), *merged = path_of(scene, "merged");
  assert_true(journal_merge(merged, &much, 1, &scene->diags));
  Journal *journal = journal_read(merged, &scene->diags);
  assert_int_equal(journal_fault_count(journal), batch);
  assert_string_equal(journal_note(journal, NOTE_SETTLED_BELOW), arena_format(scene->arena, "%u", batch));
  assert_true(journal_state(journal).complete);
  journal_close(journal);
}

// Of structure 5 the first batch is enough, of structure 3 it takes two: whoever settles three of everything, or a second without structure
// 5, comes to the same.
static void structures_end_one_by_one(void **state) {
  Scene *scene = *state;
  uint32_t batch = journal_batch(true, 2);
  JournalPlan plan = {10 * batch, 0.02, 0.99};
  const char *all = write_part(scene, "all", &(Wish){plan, 0, 3 * batch, NULL});
  const char *one = write_part(scene, "one", &(Wish){plan, 0, batch, NULL});
  const char *two = write_part(scene, "two", &(Wish){plan, batch, 2 * batch, "s5"});
  const char *a = path_of(scene, "merged-a"), *b = path_of(scene, "merged-b");
  assert_true(journal_merge(a, &all, 1, &scene->diags));
  assert_true(journal_merge(b, (const char *const[]){one, two}, 2, &scene->diags));
  assert_same(scene, a, b);
  Journal *journal = journal_read(a, &scene->diags);
  assert_int_equal(journal_fault_count(journal), batch + batch / 2);
  journal_close(journal);
  assert_refused(scene, &one, 1, "no journal with faults");
}

static void what_is_still_needed_is_foreseen(void **state) {
  Scene *scene = *state;
  uint32_t batch = journal_batch(true, 2);
  const char *one = write_part(scene, "one", &(Wish){{100 * (uint64_t)batch, 0.01, 0.99}, 0, batch, NULL});
  Journal *journal = journal_read(one, &scene->diags);
  Rounds rounds;
  rounds_begin(&rounds, journal, scene->arena);
  FaultCursor *cursor = journal_faults(journal);
  for (FaultRow row; journal_next_fault(cursor, &row);) assert_true(rounds_take(&rounds, &row));
  assert_true(journal_end_faults(cursor));
  rounds_end(&rounds, batch);
  journal_close(journal);
  assert_false(rounds.is_sure);
  assert_true(rounds.structures.items[1].is_tight && !rounds.structures.items[0].is_tight);
  // A third of them is bad: 0.01 needs about 2.576^2 * (1/3) * (2/3) / 0.01^2 = 14,745 faults of structure 3, which gets 2,048 a batch.
  assert_int_equal(rounds_foresee(&rounds) / batch, 7);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CASE(parts_merge_to_the_whole),
      CASE(a_part_counts_its_own),
      CASE(a_margin_leaves_out_what_is_too_much),
      CASE(structures_end_one_by_one),
      CASE(what_is_still_needed_is_foreseen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
