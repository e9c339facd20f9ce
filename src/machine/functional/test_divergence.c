// Random structured programs (branches, loops with divergent trip counts, calls, guarded returns and exits) on a full
// warp, held against the same program run with one thread at a time, where nothing can diverge.
#include "machine/test_generator.h"

static void test_random_programs(void **state) {
  (void)state;
  uint64_t divergent = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    Generator to = {.bench = bench, .seed = seed};
    generate(&to);
    bench->launch.block[0] = 64;
    assert_int_equal(bench_run(bench), TRAP_NONE);
    divergent += bench->stats.value[STAT_DIVERGENT_BRANCHES];
    uint32_t together[64];
    uint64_t threads = bench->stats.value[STAT_THREAD_INSTRUCTIONS], alone = 0;
    memcpy(together, memory_at(bench->memory, bench->out, sizeof together), sizeof together);
    memset(memory_at(bench->memory, bench->out, sizeof together), 0, sizeof together);
    bench->launch.block[0] = 1;
    for (uint32_t thread = 0; thread < 64; thread++) {
      memcpy(bench->params + 8, &thread, 4);
      assert_int_equal(bench_run(bench), TRAP_NONE);
      alone += bench->stats.value[STAT_THREAD_INSTRUCTIONS];
      if (bench_out(bench, thread) != together[thread]) fail_msg("seed %u: thread %u", (unsigned)seed, thread);
    }
    if (alone != threads)
      fail_msg("seed %u: %u thread instructions together, %u alone", (unsigned)seed, (unsigned)threads, (unsigned)alone);
    bench_close(bench);
    test_free(bench);
  }
  assert_true(divergent > 10000);
}

// A barrier of the whole grid: every block counts itself, and waits until all have.
static void run_grid_barrier(bool cooperative, uint32_t blocks) {
  Bench *bench = test_malloc(sizeof *bench);
  bench_open(bench);
  bench->launch.grid[0] = blocks;
  bench->launch.cooperative = cooperative;
  bench->environment.instruction_limit = UINT64_C(200000000);
  put_prologue(bench);
  put_setp(bench, OP_SETP_NE_B32, 0, 4, 0);
  Instr *wait = put_branch(bench, 0, false, 0, 0);
  put_param64(bench, 8, 0);
  put_move(bench, 10, 1);
  put_dab(bench, OP_ATOM_GLOBAL_ADD_U32, 11, 8, 10)->imm = 32768;
  uint32_t loop = bench->count;
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 8, 32768)->mods = MOD_VOLATILE;
  put_setp(bench, OP_SETP_LT_U32, 1, 12, blocks);
  put_branch(bench, 1, false, loop, bench->count + 1);
  wait->imm = wait->reconverge = bench->count;
  put(bench, OP_BAR_SYNC);
  put_param64(bench, 8, 0);
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 8, 32768);
  put_result(bench, 12);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32 * blocks; i++) assert_int_equal(bench_out(bench, i), blocks);
  bench_close(bench);
  test_free(bench);
}

static void test_grid_barrier(void **state) {
  (void)state;
  run_grid_barrier(true, 200);
  run_grid_barrier(false, 200);
}

// Half of the warp waits at a shuffle for all, the other half at a warp barrier for all: neither may take the other's place.
static void test_shuffle_is_no_barrier(void **state) {
  (void)state;
  Bench *bench = test_malloc(sizeof *bench);
  bench_open(bench);
  put_prologue(bench);
  put_move(bench, 9, 5);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 16);
  Instr *branch = put_branch(bench, 0, false, 0, 0);
  Instr *vote = put(bench, OP_VOTE_SYNC_BALLOT_B32);
  vote->d[0] = 9, vote->mods = MOD_FULL_MASK;
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  put(bench, OP_BAR_WARP_SYNC)->mods = MOD_FULL_MASK;
  skip->imm = branch->reconverge = bench->count;
  put_result(bench, 9);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 16 ? 5 : 0xFFFF0000);
  bench_close(bench);
  test_free(bench);
}

static void test_illegal_word(void **state) {
  (void)state;
  Bench *bench = test_malloc(sizeof *bench);
  bench_open(bench);
  put(bench, OP_NOP);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  bench->words[1].low = UINT64_MAX;
  functional_run(&bench->environment, &bench->launch, &bench->stats, &bench->trap);
  assert_int_equal(bench->trap.kind, TRAP_ILLEGAL_INSTRUCTION);
  assert_int_equal(bench->trap.pc, 1);
  bench_close(bench);
  test_free(bench);
}

// Damaged words: whatever they decode to, the launch ends or traps, and the simulator lives.
static void test_damaged_words(void **state) {
  (void)state;
  uint32_t ended[TRAP_COUNT] = {0};
  for (uint64_t seed = 1; seed <= 4000; seed++) {
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    bench->environment.instruction_limit = 20000;
    bench->kernel.shared_bytes = 256;
    bench->kernel.stack_bytes = 64;
    Generator to = {.bench = bench, .seed = seed};
    generate(&to);
    (void)bench_run(bench);
    for (uint64_t flip = 0; flip < 1 + seed % 3; flip++) {
      uint64_t bit = random_draw(seed, flip, 9), pc = random_draw(seed, flip, 8) % bench->count;
      InstrWord *word = &bench->words[pc];
      if ((bit & 64) != 0) word->low ^= UINT64_C(1) << (bit & 63);
      else word->high ^= UINT64_C(1) << (bit & 63);
      Instr decoded;
      if (seed % 2 == 0) { // half of them: a legal row in its place
        *word = (InstrWord){.low = random_draw(seed, flip, 7) % OP_COUNT | (word->low & ~UINT64_C(0xFFF)), .high = word->high};
      }
      if (instr_decode(*word, &decoded)) bench->code[pc] = decoded;
    }
    functional_run(&bench->environment, &bench->launch, &bench->stats, &bench->trap);
    ended[bench->trap.kind]++;
    bench_close(bench);
    test_free(bench);
  }
  assert_true(ended[TRAP_NONE] > 0);
  assert_true(ended[TRAP_ILLEGAL_INSTRUCTION] > 0);
  assert_true(ended[TRAP_ILLEGAL_ADDRESS] > 0);
  assert_true(ended[TRAP_LIMIT] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs), cmocka_unit_test(test_grid_barrier),  cmocka_unit_test(test_shuffle_is_no_barrier),
      cmocka_unit_test(test_illegal_word),    cmocka_unit_test(test_damaged_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
