// How runs of CUDA programs are judged: results first, then what the program itself says.
#include "app/app_internal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { CODE_1 = 1 << 8 }; // as waitpid tells it

typedef struct Fixture {
  AppTarget target;
  AppExchange exchange;
  AppResult result;
  FILE *output, *before;
  char paths[2][APP_FILE_PATH];
} Fixture;

static const char *path_of(FILE *file, char path[APP_FILE_PATH]) { return app_file_path(getpid(), fileno(file), path); }

static void print(FILE *file, const char *text) {
  rewind(file);
  assert_int_equal(ftruncate(fileno(file), 0), 0);
  fputs(text, file);
  fflush(file);
}

static int set_up(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  if (fixture == NULL || (fixture->output = tmpfile()) == NULL || (fixture->before = tmpfile()) == NULL) return -1;
  AppRun *run = &fixture->exchange.runs[0];
  fixture->target.golden = fixture->result = (AppResult){.output = 1, .files = 2, .seen = 3, .cycles = 100};
  fixture->exchange.has_time = 1;
  *run = (AppRun){.finished = 1, .delivered = 1, .output = fileno(fixture->output)};
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  Fixture *fixture = *state;
  fclose(fixture->output);
  fclose(fixture->before);
  text_free(&fixture->target.good_lines);
  free(fixture);
  return 0;
}

static void assert_outcome(Fixture *fixture, Outcome expected, const char *note) {
  Record record = {0};
  Outcome outcome = app_judge(&fixture->target, &fixture->exchange, &fixture->exchange.runs[0], &fixture->result, &record);
  assert_string_equal(outcome_info[outcome].name, outcome_info[expected].name);
  assert_string_equal(record.note, note);
  assert_true((record.wrong > 0) == (strcmp(outcome_info[outcome].group, "sdc") == 0));
}

static void test_results_come_first(void **state) {
  Fixture *fixture = *state;
  assert_outcome(fixture, OUTCOME_MASKED, "");
  fixture->result.seen = 4;
  assert_outcome(fixture, OUTCOME_SDC, "wrong: data copied back");
  fixture->result.status = CODE_1;
  assert_outcome(fixture, OUTCOME_SDC_CRITICAL, "wrong: data copied back, exit code 1");
  fixture->result.seen = 3;
  assert_outcome(fixture, OUTCOME_SDC_CRITICAL, "wrong: exit code 1");
}

static void test_no_results(void **state) {
  Fixture *fixture = *state;
  AppRun *run = &fixture->exchange.runs[0];
  fixture->result.seen = 4;
  run->delivered = 0;
  assert_outcome(fixture, OUTCOME_SDC, "wrong: data copied back"); // fewer of them, and it says that all is well
  fixture->result.status = CODE_1;
  assert_outcome(fixture, OUTCOME_DUE_HOST, "the program ended before its results were copied back, with code 1");
  run->finished = 0;
  assert_outcome(fixture, OUTCOME_DUE_HOST, "the program ended in haste, with code 1");
  run->delivered = run->finished = 1;
  fixture->result.status = SIGSEGV;
  assert_outcome(fixture, OUTCOME_DUE_HOST, "the program was ended by signal 11");
}

static void says(Fixture *fixture, const char *before, const char *now) {
  char path[APP_FILE_PATH];
  text_free(&fixture->target.good_lines);
  fixture->target.good_lines = (Text){0};
  print(fixture->before, before);
  print(fixture->output, now);
  fixture->target.good_line_count = app_good_lines(&fixture->target.mask, path_of(fixture->before, path), &fixture->target.good_lines);
}

static void test_own_word(void **state) {
  static const struct {
    const char *before, *now;
    Outcome outcome;
  } cases[] = {
      {"sum 1\n", "sum 2\n", OUTCOME_SDC},
      {"sum 1\nTest PASSED\n", "sum 2\nTest PASSED\n", OUTCOME_SDC_TOLERABLE},
      {"sum 1\nTest PASSED\n", "sum 2\nTest FAILED\n", OUTCOME_SDC_CRITICAL},
      {"sum 1\nTest PASSED\n", "sum 2\n", OUTCOME_SDC_CRITICAL},
      {"result: ok", "result: not ok", OUTCOME_SDC_CRITICAL},
      {"a: ok\nb: ok\n", "a: ok\nb: bad\n", OUTCOME_SDC_CRITICAL},
      {"3 of 3 passed\n", "2 of 3 passed\n", OUTCOME_SDC}, // nobody can tell
      {"all values are correct\n", "all values are incorrect\n", OUTCOME_SDC_CRITICAL},
      {"password 1\n", "password 2\n", OUTCOME_SDC}, // other words with these in them
  };
  Fixture *fixture = *state;
  fixture->result.output = 4;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    says(fixture, cases[i].before, cases[i].now);
    assert_outcome(fixture, cases[i].outcome, "wrong: standard output");
  }
}

static void test_copies(void **state) {
  (void)state;
  AppCopies *golden = calloc(1, sizeof *golden), *now = calloc(1, sizeof *now);
  assert_true(golden != NULL && now != NULL);
  assert_true(app_copies_reach(now, golden)); // none of none
  for (int round = 0; round < 3; round++) app_copies_add(golden, 100, 4, 0);
  app_copies_add(golden, 200, 4000, 0);
  app_copies_add(now, 100, 4, 0);
  assert_false(app_copies_reach(now, golden));
  app_copies_add(now, 200, 3000, 0); // shorter
  assert_false(app_copies_reach(now, golden));
  app_copies_add(now, 200, 4000, 0); // after fewer rounds
  assert_true(app_copies_reach(now, golden));
  app_copies_add(now, 100, 4, 0); // on its way to the next result
  assert_false(app_copies_reach(now, golden));
  free(golden);
  free(now);
}

// More kinds than are kept: there must be as many copies.
static void test_many_copies(void **state) {
  (void)state;
  AppCopies *golden = calloc(1, sizeof *golden), *now = calloc(1, sizeof *now);
  assert_true(golden != NULL && now != NULL);
  for (uint64_t i = 0; i < 3 * APP_MOST_COPIES; i++) app_copies_add(golden, i, 4, 0);
  for (uint64_t i = 0; i < APP_MOST_COPIES; i++) app_copies_add(now, i, 4, 0);
  app_copies_add(now, 3 * APP_MOST_COPIES - 1, 4, 0);
  assert_false(app_copies_reach(now, golden));
  assert_true(app_copies_reach(golden, golden));
  free(golden);
  free(now);
}

static void assert_difference(Fixture *fixture, const char *before, const char *now, const char *expected) {
  Text text = {0};
  print(fixture->before, before);
  print(fixture->output, now);
  bool differ = app_first_difference(path_of(fixture->before, fixture->paths[0]), path_of(fixture->output, fixture->paths[1]), "it", &text);
  assert_int_equal(differ, expected != NULL);
  if (expected != NULL) assert_string_equal(text.at, expected);
  text_free(&text);
}

static void test_first_difference(void **state) {
  Fixture *fixture = *state;
  assert_difference(fixture, "one\ntwo\n", "one\ntwo\n", NULL);
  assert_difference(fixture, "one\ntwo\n", "one\n2\n", "line 2 of it is 'two', then '2'");
  assert_difference(fixture, "one\n", "one\ntwo\n", "line 2 of it is nothing, then 'two'");
  assert_difference(fixture, "one", "one\n", "line 1 of it is 'one' without a line feed, then 'one'");
  assert_difference(fixture, "\033[1m\n", "2\n", "line 1 of it is '?[1m', then '2'");
}

// The mask after two runs without faults, and whether a third output equals the first under it.
static void assert_masked(Fixture *fixture, const char *before, const char *now, const char *third, bool same) {
  Text text = {0};
  AppMask mask = {.arena = arena_new()};
  print(fixture->before, before);
  print(fixture->output, now);
  path_of(fixture->before, fixture->paths[0]);
  path_of(fixture->output, fixture->paths[1]);
  assert_true(app_mask_learn(&mask, fixture->paths[0], fixture->paths[1], &text));
  assert_true(app_mask_hash(&mask, fixture->paths[0], 1) == app_mask_hash(&mask, fixture->paths[1], 1));
  print(fixture->output, third);
  assert_int_equal(app_mask_hash(&mask, fixture->paths[0], 1) == app_mask_hash(&mask, fixture->paths[1], 1), same);
  arena_free(mask.arena);
}

static void test_masks(void **state) {
  Fixture *fixture = *state;
  assert_masked(fixture, "sum 7 in 1.25 s\n", "sum 7 in 12.5 s\n", "sum 7 in 3e-05 s\n", true);
  assert_masked(fixture, "sum 7 in 1.25 s\n", "sum 7 in 12.5 s\n", "sum 8 in 3 s\n", false);
  assert_masked(fixture, "a 1\nb 2\nc 3\n", "a 1\nb 4\nc 3\n", "a 1\nb 5\nc 3\n", true);
  assert_masked(fixture, "a 1\nb 2\nc 3\n", "a 1\nb 4\nc 3\n", "a 2\nb 5\nc 3\n", false);
  assert_masked(fixture, "a 1\nb 2\n", "a 1\nb 4\n", "a 1\nb 5\nb 6\n", false);
  assert_masked(fixture, "   9.5 GB/s\n", "  10.1 GB/s\n", "   inf GB/s\n", true);
  assert_masked(fixture, "at 0x7f10 ok\n", "at 0xabc ok\n", "at 0x1 ok\n", true);
  assert_masked(fixture, "-1.5, 2\n", "1.5, 2\n", "-nan, 2\n", true);
  assert_masked(fixture, "12:30:45\n", "12:30:46\n", "12:31:00\n", false);
}

static void assert_not_masked(Fixture *fixture, const char *before, const char *now) {
  Text text = {0};
  AppMask mask = {.arena = arena_new()};
  print(fixture->before, before);
  print(fixture->output, now);
  assert_false(app_mask_learn(&mask, path_of(fixture->before, fixture->paths[0]), path_of(fixture->output, fixture->paths[1]), &text));
  assert_int_equal(mask.numbers.count, 0);
  text_free(&text);
  arena_free(mask.arena);
}

static void test_what_is_not_masked(void **state) {
  Fixture *fixture = *state;
  assert_not_masked(fixture, "kernel2 1\n", "kernel3 1\n"); // a word, not a number
  assert_not_masked(fixture, "1 2\n", "1 2 3\n");
  assert_not_masked(fixture, "1\n", "1\n2\n");
  assert_not_masked(fixture, "1 ms\n", "1 s\n");
}

static void test_ignored_lines(void **state) {
  Fixture *fixture = *state;
  Diags diags = {0};
  AppMask mask = {.arena = arena_new()};
  assert_true(app_mask_ignore(&mask, "time|sec", &diags));
  assert_false(app_mask_ignore(&mask, "(", &diags));
  diags_free(&diags);
  print(fixture->before, "time: a\n1\n");
  print(fixture->output, "1\nsec: b\nsec: c\n");
  path_of(fixture->before, fixture->paths[0]);
  path_of(fixture->output, fixture->paths[1]);
  assert_true(app_mask_hash(&mask, fixture->paths[0], 1) == app_mask_hash(&mask, fixture->paths[1], 1));
  print(fixture->output, "2\nsec: b\n");
  assert_true(app_mask_hash(&mask, fixture->paths[0], 1) != app_mask_hash(&mask, fixture->paths[1], 1));
  app_mask_free(&mask);
  arena_free(mask.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_results_come_first, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_no_results, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_own_word, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_masks, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_what_is_not_masked, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_ignored_lines, set_up, tear_down),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_many_copies),
      cmocka_unit_test_setup_teardown(test_first_difference, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
