// Unit tests of the summary of a machine with time, and of GPGPU-Sim's names.
#include "cli/gpgpusim.h"
#include "cli/run.h"
#include "machine/ratio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static Spec a_spec(void) {
  Spec spec;
  spec_default(&spec);
  spec.machine_model = MODEL_SIMT;
  spec.sm_threads = 1536;
  spec.sm_count = 15;
  spec.sm_registers = 32768;
  spec.clock_core_khz = 700000;
  return spec;
}

static Stats some_stats(void) {
  Stats stats = {0};
  stats.value[STAT_CYCLES] = 700000;
  stats.value[STAT_THREAD_INSTRUCTIONS] = 2800000;
  stats.value[STAT_WARP_INSTRUCTIONS] = 175000;
  stats.value[STAT_SM_CYCLES] = 10500000;
  stats.value[STAT_RESIDENT_WARPS] = 252000000; // 24 of 48 warps
  stats.value[STAT_WARP_SLOTS] = 504000000;
  stats.value[STAT_IDLE_FULL] = 2625000;   // a quarter
  stats.value[STAT_IDLE_MEMORY] = 1050000; // a tenth
  stats.value[STAT_LOADS_GLOBAL] = 100;
  stats.value[STAT_LOADS_LOCAL] = 50;
  stats.value[STAT_TRANSACTIONS_LOAD] = 300;
  stats.value[STAT_DRAM_READS] = 30;
  stats.value[STAT_DRAM_WRITES] = 10;
  stats.value[STAT_DRAM_ROW_HITS] = 30;
  stats.value[STAT_DRAM_ROW_MISSES] = 10;
  stats.value[STAT_DRAM_WAIT] = 100;
  stats.value[STAT_UNIT_ALU] = 60;
  stats.value[STAT_UNIT_FP32] = 40;
  for (int n = 0; n < WARP_LANES; n++) stats.value[STAT_LANE_0 + n] = n == 3 ? 25 : n == 7 ? 75 : 50;
  stats.value[STAT_ACTIVE_32] = 940;
  stats.value[STAT_ACTIVE_16] = 50;
  stats.value[STAT_ACTIVE_2] = 6;
  stats.value[STAT_ACTIVE_1] = 4;
  return stats;
}

static void summary_says_what_is_there(void **state) {
  (void)state;
  static const char *const lines[] = {
      "  time           700000 cycles, 1.0000 ms at 700 MHz\n",
      "  IPC            4.000 thread instructions, 0.250 warp instructions a cycle\n",
      "  occupancy      15.0 of 15 SMs with blocks, 50.0% of warps, 46.9% of registers\n",
      "  fully idle     25.0% of SM cycles: memory 10.0%\n",
      "  partly idle    6.0% of issues for 1 to 31 threads\n",
      "  units          alu 60.0%, fp32 40.0%\n",
      "  divergence     active threads 32: 94.0%, 16-31: 5.0%, 2-3: 0.6%, 1: 0.4%\n",
      "  lanes used     25.0% (lane 3) to 75.0% (lane 7) of the SPs' instructions\n",
      "  coalescing     2.00 requests per load\n",
      "  DRAM           30 reads, 10 writes, 75.0% row hits, 2.5 cycles mean queue wait\n",
  };
  Stats stats = some_stats();
  Spec spec = a_spec();
  Text text = {0};
  LaunchRecord launch = {.stats = stats, .register_rows = stats.value[STAT_RESIDENT_WARPS] * 20};
  summary_format(&launch, &spec, NULL, &text);
  size_t length = 0;
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    if (strstr(text.at, lines[i]) == NULL) fail_msg("no line '%s' in\n%s", lines[i], text.at);
    length += strlen(lines[i]);
  }
  if (text.length != length) fail_msg("%s", text.at); // no other: zeros are not shown
  text_free(&text);
}

static void gpgpusim_names_carry_the_right_numbers(void **state) {
  (void)state;
  Stats launch = some_stats(), so_far = some_stats();
  so_far.value[STAT_CYCLES] *= 2;
  so_far.value[STAT_L1D_ACCESSES] = 10;
  so_far.value[STAT_L1D_MISSES] = 4;
  Text text = {0};
  gpgpusim_launch("k", 2, &launch, &so_far, &text);
  static const char *const lines[] = {
      "kernel_name = k\nkernel_launch_uid = 2\n",
      "\ngpu_sim_cycle = 700000\n",
      "\ngpu_tot_sim_cycle = 1400000\n",
      "\ngpu_sim_insn = 2800000\n",
      "\ngpu_ipc = 4.0000\n",
      "\ngpu_tot_ipc = 2.0000\n",
      "\ngpu_occupancy = 50.0000%\n",
      "\nL1D_total_cache_accesses = 10\n",
      "\nL1D_total_cache_misses = 4\n",
      "\nL1D_total_cache_miss_rate = 0.4000\n",
      "\nW0_Idle:2625000\tW1:4\tW2:6\tW3:0\t",
      "\tW32:940\n",
  };
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    if (strstr(text.at, lines[i]) == NULL) fail_msg("no '%s' in\n%s", lines[i], text.at);
  }
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(summary_says_what_is_there),
      cmocka_unit_test(gpgpusim_names_carry_the_right_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
