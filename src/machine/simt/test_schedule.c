// Warp schedulers: which warp each policy takes, on states made by hand.
#include "machine/simt/test_front.h"

enum { WARPS = 8 };

static void open_with(Front *front, SchedulePolicy policy) {
  front_open(front);
  front->spec.scheduler_policy = policy;
  front->spec.scheduler_active = 2;
  front_build(front);
  front->m.at.sms[0].present = (1u << WARPS) - 1;
  for (uint32_t i = 0; i < WARPS; i++) simt_warp(&front->m, 0, i)->age = i;
}

// The order in which warps come out when each one taken is refused.
static void check_order(Front *front, uint64_t ready, const char *expected) {
  char order[SIMT_MOST_WARPS + 1] = "";
  uint64_t tried = 0;
  for (uint32_t i = 0; i < SIMT_MOST_WARPS; i++) {
    uint32_t warp = schedule_pick(&front->m, 0, 0, ready, tried);
    if (warp == SIMT_MOST_WARPS) break;
    assert_int_equal(tried >> warp & 1, 0);
    assert_int_equal(ready >> warp & 1, 1);
    order[i] = (char)('0' + warp);
    tried |= UINT64_C(1) << warp;
  }
  assert_string_equal(order, expected);
}

static void round_robin_goes_on_after_the_last(void **state) {
  (void)state;
  Front front;
  open_with(&front, SCHEDULE_LRR);
  check_order(&front, 0xFF, "12345670");
  schedule_issued(&front.m, 0, 0, 5, false);
  check_order(&front, 0xFF, "67012345");
  check_order(&front, 0x2D, "0235");
  schedule_issued(&front.m, 0, 0, 63, false);
  check_order(&front, 0x81, "07");
  check_order(&front, 0, "");
  front_close(&front);
}

static void greedy_stays_then_takes_the_oldest(void **state) {
  (void)state;
  Front front;
  open_with(&front, SCHEDULE_GTO);
  simt_warp(&front.m, 0, 6)->age = 0;
  simt_warp(&front.m, 0, 0)->age = 100;
  schedule_issued(&front.m, 0, 0, 4, false);
  check_order(&front, 0xFF, "46123570");
  check_order(&front, 0xEF, "6123570");
  front_close(&front);
}

static void fair_takes_who_has_issued_least(void **state) {
  (void)state;
  Front front;
  open_with(&front, SCHEDULE_FAIR);
  const uint64_t issued[WARPS] = {9, 3, 7, 3, 1, 9, 0, 2};
  for (uint32_t i = 0; i < WARPS; i++) simt_warp(&front.m, 0, i)->issued = issued[i];
  simt_warp(&front.m, 0, 1)->age = 50; // of two equal ones the older
  check_order(&front, 0xFF, "64731205");
  front_close(&front);
}

static void first_ready_is_first_served(void **state) {
  (void)state;
  Front front;
  open_with(&front, SCHEDULE_FRFS);
  for (uint32_t i = 0; i < WARPS; i++) simt_warp(&front.m, 0, i)->ready_since = 10 - i;
  check_order(&front, 0xFF, "76543210");
  front_close(&front);
}

// Two warps are active; who begins to wait leaves, and the next that is ready enters.
static void two_levels_keep_an_active_set(void **state) {
  (void)state;
  Front front;
  open_with(&front, SCHEDULE_TWO_LEVEL);
  Simt *m = &front.m;
  SchedulerState *scheduler = &m->at.sms[0].schedulers[0];
  check_order(&front, 0xFF, "12"); // the set is full with them: others do not get a turn
  assert_int_equal(scheduler->active, 0x06);
  schedule_issued(m, 0, 0, 1, false);
  check_order(&front, 0xFF, "21");
  schedule_issued(m, 0, 0, 2, true); // a load
  assert_int_equal(scheduler->active, 0x02);
  check_order(&front, 0xF9, "3"); // warp 1 is active and not ready, and 3 has entered
  front_sleep(m, 0, 1, IDLE_MEMORY);
  check_order(&front, 0xF9, "34");
  front_sleep(m, 0, 3, IDLE_PIPELINE); // short: stays
  check_order(&front, 0xF1, "4");
  front_close(&front);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_robin_goes_on_after_the_last), cmocka_unit_test(greedy_stays_then_takes_the_oldest),
      cmocka_unit_test(fair_takes_who_has_issued_least),    cmocka_unit_test(first_ready_is_first_served),
      cmocka_unit_test(two_levels_keep_an_active_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
