// Marks of trials: a trial that comes upon one ends as the trial that left it, and nobody else's.
#include "settle/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { TRIALS = 3000, LOOKS = 7 };

static TrialLook look_of(uint64_t trial, uint64_t number) {
  return (TrialLook){.cycle = 64 * number, .hash = random_draw(1, trial, number), .corrected = trial % 3};
}

static void end_trial(TrialEnds *ends, uint64_t trial) {
  WordList words = {0};
  for (uint64_t i = 0; i < trial % 4; i++) words_add(&words, 4 * i, (uint32_t)trial);
  TrialHead head = {.record = {.id = trial, .cycles = 1000 + trial}, .count = words.count};
  trial_ends_add(ends, &head, &words);
  words_free(&words);
}

static void test_finds_its_own(void **state) {
  (void)state;
  TrialEnds *ends = trial_ends_new();
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    trial_ends_begin(ends);
    for (uint64_t i = 0; i < LOOKS; i++) {
      TrialLook look = look_of(trial, i);
      assert_null(trial_ends_find(ends, &look));
      trial_ends_mark(ends, &look);
      assert_null(trial_ends_find(ends, &look)); // it is under way itself
    }
    end_trial(ends, trial);
  }
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    for (uint64_t i = 0; i < LOOKS; i++) {
      TrialLook look = look_of(trial, i);
      const KnownEnd *end = trial_ends_find(ends, &look);
      assert_non_null(end);
      assert_int_equal(end->head.record.id, trial);
      assert_int_equal(end->words.count, trial % 4);
      for (uint32_t k = 0; k < end->words.count; k++) assert_int_equal(end->words.items[k].value, trial);
    }
  }
  trial_ends_free(ends);
}

// The same state at another time, or with another number of corrections, is another way; so is one that was left without an end.
static void test_finds_no_other(void **state) {
  (void)state;
  TrialEnds *ends = trial_ends_new();
  TrialLook look = look_of(5, 2), later = look, corrected = look, dropped = look_of(6, 2);
  later.cycle += 64;
  corrected.corrected++;
  trial_ends_begin(ends);
  trial_ends_mark(ends, &dropped);
  trial_ends_begin(ends); // the first was in vain
  trial_ends_mark(ends, &look);
  end_trial(ends, 5);
  assert_non_null(trial_ends_find(ends, &look));
  assert_null(trial_ends_find(ends, &later));
  assert_null(trial_ends_find(ends, &corrected));
  assert_null(trial_ends_find(ends, &dropped));
  trial_ends_free(ends);
  trial_ends_free(NULL);
}

// Marks without a hash tell that somebody was there in a state that may be the same. They are not taken for any state.
static void test_marks_without_hash(void **state) {
  (void)state;
  TrialEnds *ends = trial_ends_new();
  TrialLook bare = {.cycle = 64, .digest = 7}, whole = {.cycle = 64, .digest = 7, .hash = 9}, other = {.cycle = 64, .digest = 8};
  trial_ends_begin(ends);
  trial_ends_mark(ends, &bare);
  end_trial(ends, 1);
  assert_non_null(trial_ends_find(ends, &bare));
  assert_null(trial_ends_find(ends, &whole));
  assert_null(trial_ends_find(ends, &other));
  trial_ends_begin(ends);
  trial_ends_mark(ends, &whole);
  end_trial(ends, 2);
  assert_int_equal(trial_ends_find(ends, &whole)->head.record.id, 2);
  assert_int_equal(trial_ends_find(ends, &bare)->head.record.id, 1);
  trial_ends_free(ends);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_finds_its_own), cmocka_unit_test(test_finds_no_other),
                                     cmocka_unit_test(test_marks_without_hash)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
