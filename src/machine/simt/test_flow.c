// Control flow: random structured programs give the same results and thread instructions as on the functional machine, whatever the front
// end is like: every scheduling policy, large warps, small caches and buffers.
#include "machine/test_generator.h"

enum { THREADS = 160, SEEDS = 200 }; // five warps

static void vary(Spec *spec, uint64_t seed) {
  static const uint64_t schedulers[] = {1, 2, 3, 4}, large_warps[] = {0, 0, 2, 4, 8}, buffers[] = {2, 2, 3, 8};
  spec->scheduler_policy = (uint32_t)(random_draw(seed, 0, 1) % 5);
  spec->sm_schedulers = schedulers[random_draw(seed, 1, 1) % COUNT_OF(schedulers)];
  spec->scheduler_large_warp = large_warps[random_draw(seed, 2, 1) % COUNT_OF(large_warps)];
  spec->front_buffer = buffers[random_draw(seed, 3, 1) % COUNT_OF(buffers)];
  spec->scheduler_active = 1 + random_draw(seed, 4, 1) % 4;
  spec->icache_bytes = 256 << random_draw(seed, 5, 1) % 4;
  spec->icache_line = 32 << random_draw(seed, 6, 1) % 3;
  spec->icache2_bytes = random_draw(seed, 7, 1) % 2 * 1024;
  spec->icache_latency = 1 + random_draw(seed, 8, 1) % 4;
  spec->icache_mshrs = 1 + random_draw(seed, 9, 1) % 4;
  spec->collector_units = 1 + random_draw(seed, 10, 1) % 8;
  spec->collector_banks = 1 + random_draw(seed, 11, 1) % 8;
  spec->latency_alu = 1 + random_draw(seed, 12, 1) % 20;
  spec->latency_branch = 1 + random_draw(seed, 13, 1) % 8;
  spec->dispatch_policy = (uint32_t)(random_draw(seed, 14, 1) % 4);
}

static void machines_agree_on_random_programs(void **state) {
  (void)state;
  uint64_t divergent = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    Generator to = {.bench = bench, .seed = seed + 1000};
    generate(&to);
    bench->launch.block[0] = THREADS;
    bench_finish(bench);
    bench_launch_functional(bench);
    assert_int_equal(bench->trap.kind, TRAP_NONE);
    uint32_t expected[THREADS];
    Stats stats = bench->stats;
    uint8_t *out = memory_at(bench->memory, bench->out, sizeof expected);
    memcpy(expected, out, sizeof expected);
    memset(out, 0, sizeof expected);
    bench_launch_simt(bench, vary, seed);
    assert_int_equal(bench->trap.kind, TRAP_NONE);
    if (memcmp(expected, out, sizeof expected) != 0) fail_msg("seed %u: other results", (unsigned)seed);
    assert_int_equal(bench->stats.value[STAT_THREAD_INSTRUCTIONS], stats.value[STAT_THREAD_INSTRUCTIONS]);
    assert_int_equal(bench->stats.value[STAT_WARP_INSTRUCTIONS], stats.value[STAT_WARP_INSTRUCTIONS]);
    assert_int_equal(bench->stats.value[STAT_DIVERGENT_BRANCHES], stats.value[STAT_DIVERGENT_BRANCHES]);
    divergent += stats.value[STAT_DIVERGENT_BRANCHES];
    bench_close(bench);
    test_free(bench);
  }
  assert_true(divergent > 10000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines_agree_on_random_programs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
