// Sets of kernels against every set looked at one by one; journals of kernels against a count by other code.
#include "report/grade.h"
#include "report/test_shelf.h"

#include <math.h>
#include <stdio.h>

enum { FAULTS = 60, MOST_SETS = 10 };

static double covered(const GradeFault *faults, KernelSet set) {
  double hit = 0, all = 0;
  for (uint32_t i = 0; i < FAULTS; i++) {
    hit += (faults[i].detected_by & set) != 0 ? faults[i].weight : 0;
    all += faults[i].weight;
  }
  return hit / all;
}

// Fewest kernels, then fewest cycles.
static bool brute_force(const GradeFault *faults, const uint64_t *cycles, uint32_t kernels, double goal, uint32_t *size, uint64_t *length) {
  bool found = false;
  for (KernelSet set = 0; set < UINT64_C(1) << kernels; set++) {
    uint32_t own_size = 0;
    uint64_t own_length = 0;
    for (uint32_t k = 0; k < kernels; k++) {
      bool is_in = (set >> k & 1) != 0;
      own_size += is_in;
      own_length += is_in ? cycles[k] : 0;
    }
    if (covered(faults, set) < goal - 1e-9) continue;
    if (found && (own_size > *size || (own_size == *size && own_length >= *length))) continue;
    found = true;
    *size = own_size;
    *length = own_length;
  }
  return found;
}

static void check_choice(const GradeFault *faults, const uint64_t *cycles, uint32_t kernels, double goal) {
  uint32_t size = 0;
  uint64_t length = 0, chosen_length = 0;
  bool possible = brute_force(faults, cycles, kernels, goal, &size, &length);
  GradeChoice exact = grade_choose(faults, FAULTS, cycles, kernels, goal, GRADE_EXACT);
  GradeChoice greedy = grade_choose(faults, FAULTS, cycles, kernels, goal, 0);
  assert_int_equal(exact.is_reached, possible);
  assert_int_equal(greedy.is_reached, possible);
  if (!possible) return;
  for (uint32_t k = 0; k < kernels; k++) chosen_length += (exact.kernels >> k & 1) != 0 ? cycles[k] : 0;
  assert_int_equal(exact.count, size);
  assert_int_equal(chosen_length, length);
  assert_true(covered(faults, exact.kernels) >= goal - 1e-9);
  assert_true(fabs(grade_covered(faults, FAULTS, exact.kernels) - covered(faults, exact.kernels)) < 1e-12);
  assert_true(covered(faults, greedy.kernels) >= goal - 1e-9);
  assert_true(greedy.least <= size && size <= greedy.count); // the bound holds
  if (greedy.is_smallest) assert_int_equal(greedy.count, size);
}

static void test_choices(void **state) {
  (void)state;
  for (uint64_t round = 0; round < 60; round++) {
    GradeFault faults[FAULTS];
    uint64_t cycles[MOST_SETS];
    uint32_t kernels = 1 + (uint32_t)random_below(random_draw(9, round, 0), MOST_SETS - 2);
    for (uint32_t i = 0; i < FAULTS; i++) { // sparse, or one kernel would do
      KernelSet all = (UINT64_C(1) << kernels) - 1;
      faults[i].detected_by = random_draw(1, round, i) & random_draw(2, round, i) & random_draw(3, round, i) & all;
      faults[i].weight = 1 + (double)random_below(random_draw(4, round, i), 3);
    }
    for (uint32_t k = 0; k < kernels; k++) cycles[k] = 100 + random_below(random_draw(5, round, k), 50);
    const double goals[] = {0.2, 0.5, 0.7, covered(faults, (UINT64_C(1) << kernels) - 1)};
    for (size_t g = 0; g < COUNT_OF(goals); g++) check_choice(faults, cycles, kernels, goals[g]);
  }
}

// ---- Journals ------------------------------------------------------------------------------------------

// Faults of two structures in turn, one eight times as large as the other.
static void make(Shelf *shelf, const char *kernel, const char *model, const uint8_t *outcomes, uint32_t count, const char *sampling) {
  JournalMeta meta = {.target = kernel,
                      .arguments = "",
                      .machine = "somewhere",
                      .settings = "",
                      .protection = "none",
                      .model = model,
                      .structures = "a,b",
                      .window = "cycles:0-1",
                      .sampling = sampling,
                      .timeout = 10,
                      .shards = 1};
  StructureRow structures[] = {{.region = 1, .name = "a", .title = "a", .rows = 8, .units = 1, .bits = 32},
                               {.region = 2, .name = "b", .title = "b", .rows = 1, .units = 1, .bits = 32}};
  Journal *journal = shelf_begin(&meta, structures, 2, 100 * (shelf->count + 1), count);
  for (uint32_t i = 0; i < count; i++) {
    char fault[64];
    snprintf(fault, sizeof fault, "%s:%s[row=%u,bit=0]@0-", model, i % 2 == 0 ? "a" : "b", i);
    FaultRow row = fault_row();
    row.id = row.class_of = i;
    row.fault = fault;
    row.model = model;
    row.region = (uint16_t)(1 + i % 2);
    row.outcome = outcomes[i];
    shelf_put(journal, &row);
  }
  shelf_end(shelf, journal, count);
}

// By hand. Structure a (faults 0, 2, 4, 6; 256 bits): kernel one detects 0 and 2, kernel two 2 and 4. Structure b (1, 3, 5, 7; 32 bits): one
// detects 1, two detects nothing (a late result tells nothing).
static void test_by_hand(void **state) {
  (void)state;
  Shelf shelf = {0};
  Diags diags = {0};
  const uint8_t one[8] = {OUTCOME_SDC, OUTCOME_TIMEOUT, OUTCOME_DUE_ADDRESS, 0, 0, 0, 0, 0};
  const uint8_t two[8] = {0, OUTCOME_PERFORMANCE, OUTCOME_SDC_TOLERABLE, 0, OUTCOME_DETECTED, OUTCOME_CORRECTED, 0, 0};
  make(&shelf, "one", "stuck0", one, 8, "");
  make(&shelf, "two", "stuck0", two, 8, "");
  Grade *grade = grade_read(shelf.reports, 2, &(GradeOptions){0.95, 0.4}, &diags);
  assert_non_null(grade);
  assert_true(fabs(grade_coverage(grade, "a", NULL, 3).value - 0.75) < 1e-12);
  assert_true(fabs(grade_coverage(grade, "b", "stuck0", 3).value - 0.25) < 1e-12);
  assert_true(fabs(grade_coverage(grade, "b", NULL, 2).value - 0) < 1e-12);
  assert_true(fabs(grade_coverage(grade, NULL, NULL, 3).value - (256 * 0.75 + 32 * 0.25) / 288) < 1e-12);
  Interval wilson = wilson_interval(3, 4, 0.95);
  assert_true(fabs(grade_coverage(grade, "a", NULL, 3).low - wilson.low) < 1e-12);
  assert_int_equal(grade->choice.count, 1); // 40%: either has half of a, and one costs less
  assert_int_equal(grade->choice.kernels, 1);
  assert_true(fabs(grade->kernels.items[1].only - 256 * 0.25 / 288) < 1e-12);
  grade_free(grade);
  shelf_clear(&shelf);
}

// Every bit struck: there is no chance. Other faults: refused.
static void test_lists(void **state) {
  (void)state;
  Shelf shelf = {0};
  Diags diags = {0};
  const uint8_t outcomes[8] = {OUTCOME_SDC, OUTCOME_SDC};
  make(&shelf, "one", "stuck0", outcomes, 8, "every bit");
  make(&shelf, "two", "stuck0", outcomes, 6, "every bit");
  make(&shelf, "two", "stuck1", outcomes, 8, "every bit");
  Grade *grade = grade_read(shelf.reports, 1, &(GradeOptions){0.95, 0}, &diags);
  assert_non_null(grade);
  Estimate all = grade_coverage(grade, NULL, NULL, 1);
  assert_true(all.low == all.value && all.high == all.value && fabs(all.value - 0.25) < 1e-12);
  assert_true(grade->choice.is_reached && grade->choice.count == 1);
  grade_free(grade);
  assert_null(grade_read(shelf.reports, 2, &(GradeOptions){0.95, 0}, &diags));
  assert_non_null(strstr(diags.items[0].text, "not struck by the same faults"));
  Report *const mixed[] = {shelf.reports[0], shelf.reports[2]};
  assert_null(grade_read(mixed, 2, &(GradeOptions){0.95, 0}, &diags));
  assert_non_null(strstr(diags.items[1].text, "has no journal of model"));
  diags_free(&diags);
  shelf_clear(&shelf);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices), cmocka_unit_test(test_by_hand), cmocka_unit_test(test_lists)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
