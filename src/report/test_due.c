// What DUEs consist of, counted by hand; what a protection does with harm that was there without it.
#include "report/test_made.h"

enum { MASKED = 60, WRONG = 10, ADDRESS = 8, ENDLESS = 2, FOUND = 20, FAULTS = MASKED + WRONG + ADDRESS + ENDLESS + FOUND };

// Of 20 detected faults 9 would have been wrong results (3 of them tolerable), 4 crashes, 1 a hang, 5 right (2 of them late); of one it is not known.
static void make_found(Shelf *shelf) {
  static uint8_t outcomes[FAULTS], unanswered[FAULTS];
  const uint32_t first = FAULTS - FOUND;
  lay(outcomes, (Stretch[]){{MASKED, OUTCOME_MASKED},
                            {WRONG, OUTCOME_SDC_CRITICAL},
                            {ADDRESS, OUTCOME_DUE_ADDRESS},
                            {1, OUTCOME_DUE_HANG},
                            {1, OUTCOME_TIMEOUT},
                            {FOUND, OUTCOME_DETECTED},
                            {0}});
  memset(unanswered, OUTCOME_COUNT, sizeof unanswered);
  lay(unanswered + first, (Stretch[]){{6, OUTCOME_SDC_CRITICAL},
                                      {3, OUTCOME_SDC_TOLERABLE},
                                      {4, OUTCOME_DUE_MISALIGNED},
                                      {1, OUTCOME_TIMEOUT},
                                      {3, OUTCOME_MASKED},
                                      {2, OUTCOME_PERFORMANCE},
                                      {0}});
  make(shelf, &(Made){"parity", "flip", "rf", .outcomes = outcomes, .unanswered = unanswered, .count = FAULTS, .fit_per_mbit = 50});
}

static void test_parts(void **state) {
  (void)state;
  const uint64_t expected[DUE_ROWS] = {[DUE_CRASH] = 8,      [DUE_HANG] = 2,      [DUE_DETECTED] = 20, [DUE_TRUE_SDC] = 9,
                                       [DUE_TRUE_CRASH] = 4, [DUE_TRUE_HANG] = 1, [DUE_FALSE] = 5,     [DUE_NOT_RECORDED] = 1};
  Shelf shelf = {0};
  Diags diags = {0};
  make_found(&shelf);
  const Report *report = shelf.reports[0];
  DueCounts *counts;
  assert_true(report_due(report, &counts, &diags));
  for (uint32_t row = 0; row < DUE_ROWS; row++) {
    if (due_faults(report, counts, (DueRow)row) != expected[row])
      fail_msg("%s: %u", due_names[row], (unsigned)due_faults(report, counts, (DueRow)row));
    Interval interval = wilson_interval(expected[row], FAULTS, 0.95);
    Estimate one = due_of_structure(report, counts, 0, (DueRow)row), all = due_of_all(report, counts, (DueRow)row);
    assert_near(one.value, (double)expected[row] / FAULTS, 1e-12);
    assert_near(one.low, interval.low, 1e-12);
    assert_near(all.high, interval.high, 1e-12);
  }
  assert_near(report_chip(report, MEASURE_DUE).value, 0.30, 1e-12); // crash, hang and detected
  assert_near(report_chip(report, MEASURE_AVF).value, 0.40, 1e-12);
  assert_int_equal(tally_part(&report->all, "detected"), FOUND);
  Text text = {0};
  report_text(report, &text);
  assert_non_null(strstr(text.at, "  true: SDC            9  9.00"));
  assert_non_null(strstr(text.at, "  false                5  5.00"));
  assert_non_null(strstr(text.at, "  not recorded         1  1.00"));
  text_free(&text);
  shelf_clear(&shelf);
}

// Without: 4 SDCs, 6 crashes. With: 3 of the SDCs are detected, one is corrected; 5 of the crashes are detected, one stays; 2 masked ones are detected.
static void test_loud(void **state) {
  (void)state;
  Shelf shelf = {0};
  Diags diags = {0};
  uint8_t outcomes[20];
  lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {4, OUTCOME_SDC}, {6, OUTCOME_DUE_ADDRESS}, {0}});
  make(&shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .count = 20, .fit_per_mbit = 50});
  lay(outcomes,
      (Stretch[]){
          {8, OUTCOME_MASKED}, {5, OUTCOME_DETECTED}, {1, OUTCOME_CORRECTED}, {5, OUTCOME_DETECTED}, {1, OUTCOME_DUE_ADDRESS}, {0}});
  make(&shelf, &(Made){"parity", "flip", "rf", .outcomes = outcomes, .count = 20, .fit_per_mbit = 50});
  Text text = {0};
  assert_true(report_compare(shelf.reports[0], shelf.reports[1], &text, &diags));
  assert_non_null(strstr(text.at, "4 SDCs in A: 1 removed by B, 3 turned into DUEs, 0 left; 3 of them detected in B\n"));
  assert_non_null(strstr(text.at, "6 DUEs in A: 0 removed by B, 0 turned into SDCs, 6 left; 5 of them detected in B\n"));
  assert_non_null(strstr(text.at, "added by B where A has no harm: 0 SDCs, 2 DUEs\n"));
  text_free(&text);
  shelf_clear(&shelf);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_loud)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
