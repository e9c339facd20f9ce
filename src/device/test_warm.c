// Caches that outlive launches: a later launch finds what an earlier one left, and never what the host, another program or the launch itself has
// changed since.
#include "device/device.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { THREADS = 64, BYTES = THREADS * 4 };

// out[i] = in[i] * FACTOR + c
#define KERNEL(factor)                                                                                 \
  ".version 6.0\n.target sm_35\n.address_size 64\n.const .align 4 .u32 c[64] = {5};\n"                 \
  ".visible .entry go(.param .u64 to, .param .u64 from)\n{\n"                                          \
  ".reg .u64 %p<4>; .reg .u32 %r<5>;\n"                                                                \
  "ld.param.u64 %p0, [to]; ld.param.u64 %p1, [from]; mov.u32 %r0, %tid.x; mul.wide.u32 %p2, %r0, 4;\n" \
  "add.u64 %p0, %p0, %p2; add.u64 %p1, %p1, %p2; ld.global.u32 %r1, [%p1]; ld.const.u32 %r2, [c];\n"   \
  "mul.lo.u32 %r3, %r1, " factor "; add.u32 %r4, %r3, %r2; st.global.u32 [%p0], %r4; ret;\n}\n"

typedef struct Bench {
  Arena *arena;
  Spec spec;
  Device *device;
  Module *modules[2];
  DeviceAddress in, out;
} Bench;

static void bench_free(Bench *bench) {
  device_free(bench->device);
  arena_free(bench->arena);
}

static Module *load(Device *device, const char *text) {
  Diags diags = {0};
  PtxSource source = {"warm.ptx", text, strlen(text)};
  Module *module = device_load_ptx(device, &source, 1, &diags);
  if (module == NULL) fail_msg("%s", diags.items[0].text);
  return module;
}

static void bench_new(Bench *bench, bool keeps, bool through) {
  Diags diags = {0};
  bench->arena = arena_new();
  assert_true(spec_load(&bench->spec, bench->arena, "fermi-gtx480", &diags));
  bench->spec.launch_l2 = bench->spec.launch_icache = bench->spec.launch_constant = keeps;
  bench->spec.launch_host_writes = through;
  bench->device = device_new(&(DeviceOptions){.spec = &bench->spec}, &diags);
  assert_non_null(bench->device);
  bench->modules[0] = load(bench->device, KERNEL("3"));
  bench->modules[1] = load(bench->device, KERNEL("7"));
  bench->in = device_alloc(bench->device, BYTES);
  bench->out = device_alloc(bench->device, BYTES);
}

static void fill(Bench *bench, DeviceAddress to, uint32_t value) {
  uint32_t values[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) values[i] = value;
  assert_true(device_write(bench->device, to, values, BYTES));
}

static const Stats *go(Bench *bench, uint32_t module, DeviceAddress to, DeviceAddress from) {
  const void *arguments[] = {&to, &from};
  LaunchRequest request = {
      .module = bench->modules[module], .kernel = "go", .grid = {1}, .block = {THREADS}, .arguments = arguments, .argument_count = 2};
  if (!device_launch(bench->device, &request)) fail_msg("%s", device_error(bench->device));
  return &device_launch_record(bench->device, device_launch_count(bench->device) - 1)->stats;
}

static void expect(Bench *bench, uint32_t value) {
  uint32_t values[THREADS];
  assert_true(device_read(bench->device, values, bench->out, BYTES));
  for (uint32_t i = 0; i < THREADS; i++) assert_int_equal(values[i], value);
}

static void warm_and_cold(void **state) {
  (void)state;
  Bench bench;
  for (uint32_t keeps = 0; keeps < 2; keeps++) {
    bench_new(&bench, keeps != 0, false);
    fill(&bench, bench.in, 2);
    Stats first = *go(&bench, 0, bench.out, bench.in), second = *go(&bench, 0, bench.out, bench.in);
    expect(&bench, 11);
    const uint64_t *a = first.value, *b = second.value;
    assert_true(a[STAT_ICACHE_MISSES] > 0 && a[STAT_L2_MISSES] > 0);
    if (keeps == 0) {
      assert_memory_equal(&first, &second, sizeof first); // every launch begins cold
      bench_free(&bench);
      continue;
    }
    assert_int_equal(b[STAT_ICACHE_MISSES], 0);
    assert_int_equal(b[STAT_L2_MISSES], 1); // parameters are the launch's own
    assert_true(b[STAT_CYCLES] < a[STAT_CYCLES]);
    bench_free(&bench);
  }
}

// Host writes, copies and sets; constants by the host and by a kernel; allocations that take an address over.
static void nothing_is_stale(void **state) {
  (void)state;
  Bench bench;
  for (uint32_t through = 0; through < 2; through++) {
    bench_new(&bench, true, through != 0);
    fill(&bench, bench.in, 2);
    go(&bench, 0, bench.out, bench.in);
    expect(&bench, 11);
    fill(&bench, bench.in, 4);
    const Stats *stats = go(&bench, 0, bench.out, bench.in);
    assert_int_equal(stats->value[STAT_L2_MISSES], through != 0 ? 1 : 3); // the parameters; and the two lines of the input
    expect(&bench, 17);
    assert_true(device_set(bench.device, bench.in, 0, BYTES));
    go(&bench, 0, bench.out, bench.in);
    expect(&bench, 5);
    DeviceAddress constant, other = device_alloc(bench.device, BYTES);
    uint64_t bytes;
    uint32_t value = 9;
    fill(&bench, other, 6);
    assert_true(device_copy(bench.device, bench.in, other, BYTES));
    assert_true(module_symbol(bench.modules[0], "c", &constant, &bytes));
    assert_true(device_write(bench.device, constant, &value, sizeof value));
    go(&bench, 0, bench.out, bench.in);
    expect(&bench, 6 * 3 + 9);
    go(&bench, 0, constant, bench.in); // writes over its own constants
    go(&bench, 0, bench.out, bench.in);
    expect(&bench, 6 * 3 + 6 * 3 + 9);
    assert_true(device_release(bench.device, other));
    assert_int_equal(device_alloc(bench.device, BYTES), other); // it is zero now
    go(&bench, 1, bench.out, other);
    expect(&bench, 5);
    bench_free(&bench);
  }
}

// Two programs with the same addresses of everything take turns.
static void programs_do_not_meet(void **state) {
  (void)state;
  Bench bench;
  bench_new(&bench, true, false);
  fill(&bench, bench.in, 2);
  for (uint32_t i = 0; i < 6; i++) {
    const Stats *stats = go(&bench, i % 2, bench.out, bench.in);
    expect(&bench, i % 2 == 0 ? 2 * 3 + 5 : 2 * 7 + 5);
    if (i >= 2) assert_int_equal(stats->value[STAT_ICACHE_MISSES], 0);
  }
  assert_true(device_unload(bench.device, bench.modules[0]));
  bench.modules[0] = load(bench.device, KERNEL("11")); // not at the addresses of what was there
  go(&bench, 0, bench.out, bench.in);
  expect(&bench, 2 * 11 + 5);
  bench_free(&bench);
}

// The host writes to shared memory without a word; and a launch that traps leaves nothing.
static void shared_and_trapped(void **state) {
  (void)state;
  Bench bench;
  bench_new(&bench, true, true);
  fill(&bench, bench.in, 2);
  memory_share(device_memory(bench.device), bench.in);
  go(&bench, 0, bench.out, bench.in);
  expect(&bench, 11);
  memset(memory_at(device_memory(bench.device), bench.in, BYTES), 0, BYTES);
  go(&bench, 0, bench.out, bench.in);
  expect(&bench, 5);
  DeviceAddress nowhere = 16, to = bench.out;
  const void *arguments[] = {&to, &nowhere};
  LaunchRequest request = {
      .module = bench.modules[0], .kernel = "go", .grid = {1}, .block = {THREADS}, .arguments = arguments, .argument_count = 2};
  assert_false(device_launch(bench.device, &request));
  assert_true(go(&bench, 0, bench.out, bench.in)->value[STAT_ICACHE_MISSES] > 0);
  expect(&bench, 5);
  bench_free(&bench);
}

// The block scheduler goes on with the SM after the last.
static void turns_go_on(void **state) {
  (void)state;
  Bench bench;
  bench_new(&bench, true, false);
  device_free(bench.device);
  Diags diags = {0};
  bench.spec.dispatch_first = 1;
  bench.device = device_new(&(DeviceOptions){.spec = &bench.spec}, &diags);
  bench.modules[0] = load(bench.device, KERNEL("3"));
  bench.in = device_alloc(bench.device, BYTES);
  bench.out = device_alloc(bench.device, BYTES);
  for (uint64_t i = 0; i <= bench.spec.sm_count; i++) { // each SM's instruction cache is cold once
    bool is_cold = go(&bench, 0, bench.out, bench.in)->value[STAT_ICACHE_MISSES] > 0;
    assert_int_equal(is_cold, i < bench.spec.sm_count);
  }
  bench_free(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(warm_and_cold), cmocka_unit_test(nothing_is_stale),
                                     cmocka_unit_test(programs_do_not_meet), cmocka_unit_test(shared_and_trapped),
                                     cmocka_unit_test(turns_go_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
