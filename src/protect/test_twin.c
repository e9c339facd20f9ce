// Two arithmetic units: what differs is carried out again, and a unit that is broken ends the launch.
#include "protect/test_toy.h"

enum { PIPES = 2 };
static const HookShape shape = {.sms = PIPES, .warps = 1, .block_slots = 1};

static RegionTable units(Region *unit, uint32_t count) {
  *unit = (Region){.name = "unit", .title = "units", .unit = "component", .meaning = "outputs", .units = 4, .bits = 32, .dim_count = 2};
  unit->flags = REGION_INJECTABLE | REGION_OUTPUT;
  unit->dims[0] = (RegionDim){"pipe", PIPES};
  unit->dims[1] = (RegionDim){"unit", count};
  unit->rows = PIPES * count;
  return (RegionTable){unit, 1, 0};
}

// Both units of a pipeline put out a result; `wrong` is what the second has in component 2.
static Verdict compute(Toy *toy, uint32_t pipe, uint32_t mask, uint32_t wrong) {
  Who who = WHO_NOBODY;
  Verdict verdict = VERDICT_PASS;
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t rows[WARP_LANES] = {1, 2, 3 ^ (i * wrong), 4};
    ResultEvent event = {
        .who = &who, .region = 0, .row = pipe * 2 + i, .mask = mask, .rows = rows, .row_count = 1, .slots = 4, .cycles = 1};
    verdict = hooks_result(&toy->chain, &toy->machine, &event);
  }
  return verdict;
}

static void test_differences(void **state) {
  (void)state;
  Region unit;
  RegionTable own = units(&unit, 2);
  Toy toy;
  assert_true(toy_open(&toy, &own, &shape, "twin"));
  assert_int_equal(compute(&toy, 0, 0xF, 0), VERDICT_PASS);
  for (uint32_t bit = 0; bit < 32; bit++) {
    assert_int_equal(compute(&toy, 1, 0xF, 1u << bit), VERDICT_REPEAT);
    assert_int_equal(compute(&toy, 1, 0xF, 0), VERDICT_PASS);
  }
  assert_int_equal(toy.corrected, 32);
  assert_int_equal(compute(&toy, 0, 0xB, 8), VERDICT_PASS); // nobody writes this component
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(compute(&toy, 0, 0xF, 8), VERDICT_REPEAT);
  assert_int_equal(compute(&toy, 0, 0xF, 8), VERDICT_HALT);
  assert_int_equal(toy.detected, 1);
  toy_close(&toy);
}

static void test_refused(void **state) {
  (void)state;
  Region unit;
  RegionTable one = units(&unit, 1), none = {0};
  toy_refused(&one, &shape, "twin", "--set fragment.units=2");
  toy_refused(&none, &shape, "twin", "arithmetic units of their own");
  toy_refused(&one, &shape, "twin:3", "unknown option '3'");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_differences), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
