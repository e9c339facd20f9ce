// Every workload gives the same output memory on the functional machine and on every machine with time, and passes its own check.
#include "device/workload.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

typedef struct Outputs {
  Arena *arena;
  uint8_t *bytes[WORKLOAD_MAX_OUTPUTS];
  uint64_t sizes[WORKLOAD_MAX_OUTPUTS];
  uint32_t count;
  uint64_t cycles;
  Stats stats; // of all launches
} Outputs;

// Counts that are parts of others.
static void check_counts(const Stats *stats, const Spec *spec) {
  const uint64_t *of = stats->value;
  uint64_t mix = of[STAT_INSTRUCTIONS_ALU] + of[STAT_INSTRUCTIONS_SFU] + of[STAT_INSTRUCTIONS_MEMORY] + of[STAT_INSTRUCTIONS_CONTROL];
  assert_int_equal(mix, of[STAT_WARP_INSTRUCTIONS]);
  assert_int_equal(of[STAT_SM_SHARES], spec->sm_count);
  assert_int_equal(of[STAT_SM_CYCLES], of[STAT_CYCLES] * spec->sm_count);
  assert_int_equal(of[STAT_WARP_SLOTS], of[STAT_SM_CYCLES] * (spec->sm_threads / WARP_LANES));
  assert_int_equal(of[STAT_ISSUE_SLOTS], of[STAT_SM_CYCLES] * spec->sm_schedulers);
}

static void run_on(const Workload *workload, const Spec *spec, Outputs *outputs) {
  Diags diags = {0};
  DeviceOptions options = {.spec = spec};
  Device *device = device_new(&options, &diags);
  if (device == NULL) fail_msg("%s: %s", spec->machine, diags.items[0].text);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  if (!workload->prepare(&run) || !workload->launch(&run)) fail_msg("%s on %s: %s", workload->name, spec->machine, device_error(device));
  if (!workload_check(&run, workload)) fail_msg("%s on %s: %s", workload->name, spec->machine, run.failure);
  outputs->count = run.output_count;
  for (uint32_t i = 0; i < run.output_count; i++) {
    const WorkloadOutput *output = &run.outputs[i];
    outputs->sizes[i] = output->count * element_bytes(output->type);
    outputs->bytes[i] = arena_alloc(outputs->arena, outputs->sizes[i]);
    assert_true(device_read(device, outputs->bytes[i], output->address, outputs->sizes[i]));
  }
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const Stats *stats = &device_launch_record(device, i)->stats;
    outputs->cycles += stats->value[STAT_CYCLES];
    for (int k = 0; k < STAT_COUNT; k++) outputs->stats.value[k] += stats->value[k];
    if (machine_can(spec, MACHINE_HAS_TIME)) check_counts(stats, spec);
  }
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
}

static void compare(const Workload *workload, const char *machine, const Outputs *expected, const Outputs *got) {
  assert_int_equal(got->count, expected->count);
  for (uint32_t i = 0; i < expected->count; i++) {
    assert_int_equal(got->sizes[i], expected->sizes[i]);
    for (uint64_t at = 0; at < expected->sizes[i]; at++) {
      if (got->bytes[i][at] == expected->bytes[i][at]) continue;
      fail_msg("%s on %s: output %u differs at byte %llu", workload->name, machine, i, (unsigned long long)at);
    }
  }
}

// What the functional machine gives, once for each workload.
static Outputs *expected_outputs(Arena *arena) {
  Spec functional;
  spec_default(&functional);
  Outputs *expected = ARENA_ARRAY(arena, Outputs, workload_count);
  for (uint32_t w = 0; w < workload_count; w++) {
    expected[w].arena = arena;
    run_on(workloads[w], &functional, &expected[w]);
  }
  return expected;
}

// Every step-th workload, the first of them by `from`.
static void same_results_on(const Spec *spec, const char *what, const Outputs *expected, uint32_t from, uint32_t step) {
  for (uint32_t w = from % step; w < workload_count; w += step) {
    Outputs got = {.arena = arena_new()};
    run_on(workloads[w], spec, &got);
    compare(workloads[w], what, &expected[w], &got);
    print_message("%-14s %-14s %8llu cycles\n", what, workloads[w]->name, (unsigned long long)got.cycles);
    arena_free(got.arena);
  }
}

static void same_results_everywhere(void **state) {
  (void)state;
  Arena *arena = arena_new();
  const Outputs *expected = expected_outputs(arena);
  for (uint32_t m = 0; m < builtin_machine_count; m++) {
    Diags diags = {0};
    Spec spec;
    if (!spec_load(&spec, arena, builtin_machines[m].name, &diags)) fail_msg("%s: %s", builtin_machines[m].name, diags.items[0].text);
    if (machine_can(&spec, MACHINE_HAS_TIME) && machine_form(&spec) == FORM_REDOUBT)
      same_results_on(&spec, spec.machine, expected, m, TEST_STEP);
    diags_free(&diags);
  }
  arena_free(arena);
}

// What may be chosen changes time, never results. Each variant has every third workload.
enum { VARIANT_STEP = 3 * TEST_STEP };
static const char *const variants[][2] = {
    {"scheduler.policy", "lrr"},
    {"scheduler.policy", "gto"},
    {"scheduler.policy", "two-level"},
    {"scheduler.policy", "fair"},
    {"scheduler.policy", "frfs"},
    {"scheduler.large_warp", "4"},
    {"dispatch.policy", "ordered"},
    {"dispatch.policy", "even-odd"},
    {"dispatch.policy", "random"},
    {"network.kind", "mesh"},
    {"network.buffer", "1"},
    {"l1d.bytes", "0"},
    {"l2.bytes", "0"},
    {"ldst.coalescer", "gt200"},
    {"ldst.coalescer", "turing"},
    {"dram.policy", "fcfs"},
    {"dram.queue", "1"},
    {"l1d.mshrs", "1"},
    {"ldst.pending", "1"},
    {"ldst.out", "1"},
    {"collector.units", "1"},
    {"front.decode", "1"},
    {"icache.bytes", "512"},
    {"l2.queue", "1"},
    {"l2.mshrs", "1"},
    {"l1d.merge", "1"},
    {"constant.bytes", "256"},
    {"l1d.globals", "local-only"},
    {"sm.count", "1"},
    {"sm.writeback", "1"},
    {"sm.results", "1"},
    {"sm.register_source", "estimate"},
    {"front.refill", "empty"},
    {"collector.operands", "1"},
    {"collector.rows", "2"},
    {"collector.layout", "rows"},
    {"collector.layout", "subcores"},
    {"ldst.queue", "1"},
    {"l2.fetch", "apart"},
    {"dram.groups", "4"},
};

static void same_results_whatever_is_chosen(void **state) {
  (void)state;
  Arena *arena = arena_new();
  const Outputs *expected = expected_outputs(arena);
  for (size_t v = 0; v < COUNT_OF(variants); v++) {
    Diags diags = {0};
    Spec spec;
    assert_true(spec_load(&spec, arena, "fermi-gtx480", &diags));
    if (!spec_set(&spec, variants[v][0], variants[v][1], NULL, 0, &diags)) fail_msg("%s", diags.items[0].text);
    same_results_on(&spec, arena_format(arena, "%s=%s", variants[v][0], variants[v][1]), expected, (uint32_t)v, VARIANT_STEP);
    diags_free(&diags);
  }
  arena_free(arena);
}

// Who waits for a scattered load waits for memory, also while the load is still on its way to the load/store unit.
static void waits_for_scattered_loads_are_memory(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  assert_true(spec_load(&spec, arena, "gt200-rise", &diags));
  assert_true(spec_set(&spec, "sm.count", "1", NULL, 0, &diags));
  Outputs outputs = {.arena = arena};
  run_on(workload_find("bfs"), &spec, &outputs);
  assert_true(outputs.stats.value[STAT_IDLE_MEMORY] > outputs.stats.value[STAT_IDLE_FULL] / 2);
  assert_true(outputs.stats.value[STAT_IDLE_MEMORY] > 5 * outputs.stats.value[STAT_IDLE_PIPELINE]);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(same_results_everywhere),
      cmocka_unit_test(same_results_whatever_is_chosen),
      cmocka_unit_test(waits_for_scattered_loads_are_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
