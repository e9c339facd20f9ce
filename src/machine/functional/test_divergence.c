// Random structured programs (branches, loops with divergent trip counts, calls, guarded returns and exits) on a full
// warp, held against the same program run with one thread at a time, where nothing can diverge.
#include "machine/test_assembler.h"

enum { VALUES = 6, FIRST_VALUE = 8, COUNTER = 20, DEPTH = 3, MOST_FUNCTIONS = 2 };

typedef struct Generator {
  Bench *bench;
  uint64_t seed, draws;
  unsigned counters; // loop counters in use
  Instr *calls[32];  // to be directed at a function once that has a place
  uint32_t call_count;
  bool in_function;
} Generator;

static uint32_t draw(Generator *to, uint32_t bound) { return (uint32_t)(random_draw(to->seed, to->draws++, 0) % bound); }
static unsigned draw_value(Generator *to) { return FIRST_VALUE + draw(to, VALUES); }
static bool has_room(const Generator *to) { return to->bench->count < TEST_MOST_CODE - 64; }

static void put_arithmetic(Generator *to) {
  static const Op ops[] = {OP_ADD_B32, OP_XOR_B32, OP_MUL_LO_B32, OP_AND_B32, OP_SUB_B32};
  Op op = ops[draw(to, COUNT_OF(ops))];
  unsigned d = draw_value(to), a = draw_value(to);
  if (draw(to, 2) == 0) put_dai(to->bench, op, d, a, draw(to, 1000) + 1);
  else put_dab(to->bench, op, d, a, draw_value(to));
}

// pd = some bits of a value are zero: true for some lanes.
static void put_condition(Generator *to, unsigned pd) {
  put_dai(to->bench, OP_AND_B32, 7, draw_value(to), 1u << draw(to, 5));
  put_setp(to->bench, OP_SETP_EQ_B32, pd, 7, 0);
}

static void put_statements(Generator *to, unsigned depth);

static void put_if(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  put_condition(to, 0);
  Instr *branch = put_branch(bench, 0, draw(to, 2) == 0, 0, 0);
  put_statements(to, depth - 1);
  if (draw(to, 2) == 0) {
    branch->imm = branch->reconverge = bench->count;
    return;
  }
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  put_statements(to, depth - 1);
  skip->imm = branch->reconverge = bench->count;
}

// Between 0 and 7 turns, by a value of the lane.
static void put_loop(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  unsigned counter = COUNTER + to->counters++;
  put_dai(bench, OP_AND_B32, counter, draw_value(to), 7);
  uint32_t head = bench->count;
  put_setp(bench, OP_SETP_EQ_B32, 1, counter, 0);
  Instr *leave = put_branch(bench, 1, false, 0, 0);
  put_dai(bench, OP_ADD_B32, counter, counter, UINT32_MAX);
  put_statements(to, depth - 1);
  put_branch(bench, PRED_TRUE, false, head, NO_RECONVERGE);
  leave->imm = leave->reconverge = bench->count;
  to->counters--;
}

static void put_statement(Generator *to, unsigned depth) {
  Bench *bench = to->bench;
  uint32_t choice = draw(to, 10);
  if (!has_room(to) || depth == 0 || choice < 4) {
    put_arithmetic(to);
  } else if (choice < 6) {
    put_if(to, depth);
  } else if (choice < 8) {
    put_loop(to, depth);
  } else if (choice == 8 && !to->in_function && to->call_count < COUNT_OF(to->calls)) {
    put_condition(to, 2);
    Instr *call = put(bench, OP_CALL);
    call->guard = draw(to, 2) == 0 ? 2 : PRED_TRUE;
    to->calls[to->call_count++] = call;
  } else if (to->in_function) {
    put_condition(to, 3);
    put(bench, OP_RET)->guard = 3;
  } else if (draw(to, 4) == 0) {
    put_dai(bench, OP_AND_B32, 7, draw_value(to), 31);
    put_setp(bench, OP_SETP_EQ_B32, 4, 7, 3);
    put_result(bench, draw_value(to)); // a lane that ends early has left a value
    put_exit(bench)->guard = 4;
  }
}

static void put_statements(Generator *to, unsigned depth) {
  for (uint32_t left = 1 + draw(to, 4); left > 0; left--) put_statement(to, depth);
}

static void generate(Generator *to) {
  Bench *bench = to->bench;
  put_param64(bench, 2, 0);
  put_sreg(bench, 4, SREG_TID_X);
  put_memory(bench, OP_LD_PARAM_B32, 5, REG_ZERO, 8); // first thread's number
  put_dab(bench, OP_ADD_B32, 4, 4, 5);
  put_dai(bench, OP_SHL_B32, 6, 4, 2);
  put_move(bench, 7, 0);
  put_dab(bench, OP_ADD_B64, 2, 2, 6);
  for (unsigned i = 0; i < VALUES; i++) put_dai(bench, OP_MUL_LO_B32, FIRST_VALUE + i, 4, 2654435761u >> i);
  put_statements(to, DEPTH);
  put_statements(to, DEPTH);
  put_dab(bench, OP_XOR_B32, FIRST_VALUE, FIRST_VALUE, FIRST_VALUE + 1);
  put_dab(bench, OP_XOR_B32, FIRST_VALUE, FIRST_VALUE, FIRST_VALUE + 2);
  put_result(bench, FIRST_VALUE);
  put_exit(bench);
  to->in_function = true;
  to->counters = DEPTH; // callers may be in loops of their own
  uint32_t entries[MOST_FUNCTIONS];
  for (unsigned f = 0; f < MOST_FUNCTIONS; f++) {
    entries[f] = bench->count;
    put_statements(to, 2);
    put(bench, OP_RET);
  }
  for (uint32_t i = 0; i < to->call_count; i++) to->calls[i]->imm = entries[i % MOST_FUNCTIONS];
}

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
