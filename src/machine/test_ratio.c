// Unit tests of ratios of statistics.
#include "machine/ratio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static Stats some_stats(void) {
  Stats stats = {0};
  stats.value[STAT_CYCLES] = 700000;
  stats.value[STAT_THREAD_INSTRUCTIONS] = 2800000;
  stats.value[STAT_WARP_INSTRUCTIONS] = 175000;
  stats.value[STAT_SM_CYCLES] = 10500000;
  stats.value[STAT_RESIDENT_WARPS] = 252000000; // 24 of 48 warps
  stats.value[STAT_WARP_SLOTS] = 504000000;
  stats.value[STAT_BLOCKS] = 90;
  stats.value[STAT_SM_SHARES] = 30; // two launches on 15 SMs
  stats.value[STAT_LOADS_GLOBAL] = 100;
  stats.value[STAT_LOADS_LOCAL] = 50;
  stats.value[STAT_TRANSACTIONS_LOAD] = 300;
  stats.value[STAT_TRANSACTIONS_STORE] = 30;
  stats.value[STAT_TRANSACTIONS_ATOMIC] = 15;
  stats.value[STAT_TEXTURE_ACCESSES] = 5;
  stats.value[STAT_DRAM_READS] = 30;
  stats.value[STAT_DRAM_WRITES] = 10;
  stats.value[STAT_DRAM_ROW_HITS] = 30;
  stats.value[STAT_DRAM_ROW_MISSES] = 10;
  stats.value[STAT_DRAM_WAIT] = 100;
  stats.value[STAT_ISSUE_SLOTS] = 160;
  stats.value[STAT_PARTIAL_SP] = 1050000;
  stats.value[STAT_ACTIVE_0] = 4;
  stats.value[STAT_ACTIVE_1] = 6;
  stats.value[STAT_ACTIVE_31] = 10;
  stats.value[STAT_ACTIVE_32] = 44;
  return stats;
}

static void assert_ratio(RatioId ratio, const Stats *stats, double expected) {
  double value = -1;
  assert_true(ratio_value(ratio, stats, &value));
  assert_true(value == expected);
}

static void ratios_are_sums_divided(void **state) {
  (void)state;
  Stats stats = some_stats();
  assert_ratio(RATIO_THREAD_IPC, &stats, 4.0);
  assert_ratio(RATIO_WARP_IPC, &stats, 0.25);
  assert_ratio(RATIO_ACTIVE_THREADS, &stats, 16.0);
  assert_ratio(RATIO_BLOCKS_PER_SM, &stats, 3.0);
  assert_ratio(RATIO_OCCUPANCY, &stats, 0.5);
  assert_ratio(RATIO_LOAD_TRANSACTIONS, &stats, 2.0); // 300 of 100 + 50
  assert_ratio(RATIO_PARTIAL_ISSUES, &stats, 0.25);   // 6 + 10 of 64: the ends of the range count, 0 and 32 do not
  assert_ratio(RATIO_PARTIAL_TIME, &stats, 0.1);      // the same 16 of 160 chances to issue
  assert_ratio(RATIO_PARTIAL_SP, &stats, 0.1);        // cycles of SPs: another count
  assert_ratio(RATIO_MEMORY_INTENSITY, &stats, 2.0);  // 300 + 30 + 15 + 5 of 175 thousand
  assert_ratio(RATIO_DRAM_ROWS, &stats, 0.75);
  assert_ratio(RATIO_DRAM_WAIT, &stats, 2.5);
  double value;
  assert_false(ratio_value(RATIO_L1D, &stats, &value)); // nothing to divide by
  Spec spec;
  spec_default(&spec);
  spec.clock_core_khz = 700000;
  assert_true(simulated_milliseconds(&stats, &spec) == 1.0);
}

static void names_are_unique(void **state) {
  (void)state;
  for (int i = 0; i < RATIO_COUNT; i++) {
    for (int k = 0; k < i; k++) assert_string_not_equal(ratio_info[i].name, ratio_info[k].name);
    for (int k = 0; k < STAT_COUNT; k++) assert_string_not_equal(ratio_info[i].name, stat_info[k].name);
  }
}

static void the_page_names_every_term(void **state) {
  (void)state;
  Text text = {0};
  ratios_markdown(&text);
  assert_non_null(strstr(text.at, "| `thread_ipc` | `thread_instructions` | `cycles` | "));
  assert_non_null(strstr(text.at, "| `partial_issue_share` | `active_1` to `active_31` | `active_0` to `active_32` | "));
  assert_non_null(strstr(text.at, "| `dram_intensity` | 1000 x `dram_reads` + `dram_writes` | `warp_instructions` | "));
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ratios_are_sums_divided),
      cmocka_unit_test(names_are_unique),
      cmocka_unit_test(the_page_names_every_term),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
