// Control flow on the functional machine: divergence, loops, calls, recursion, indirect branches, barriers, warp-wide
// instructions in divergent code, forward progress. Programs are assembled by hand.
#include "machine/test_assembler.h"

static int open_bench(void **state) {
  *state = test_malloc(sizeof(Bench));
  bench_open(*state);
  return 0;
}
static int close_bench(void **state) {
  bench_close(*state);
  test_free(*state);
  return 0;
}

// if (tid < 10) r8 = 1 else r8 = 2; r8 += 16
static void test_if_else(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 10);
  Instr *branch = put_branch(bench, 0, true, 0, 0);
  put_move(bench, 8, 1);
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  put_move(bench, 8, 2);
  skip->imm = branch->reconverge = bench->count;
  put_dai(bench, OP_ADD_B32, 8, 8, 16);
  put_result(bench, 8);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 10 ? 17 : 18);
  assert_int_equal(bench->stats.value[STAT_DIVERGENT_BRANCHES], 1);
  // After the paths meet, all 32 lanes go together: 13 instructions in common (the branches count for all that meet them).
  assert_int_equal(bench->stats.value[STAT_WARP_INSTRUCTIONS], 8 + 2 + 2 + 1 + 3);
  assert_int_equal(bench->stats.value[STAT_THREAD_INSTRUCTIONS], 32 * (8 + 2 + 3) + 10 * 2 + 22);
}

// Each lane loops tid times around an inner loop of (tid & 3) turns.
static void test_nested_loops(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_move(bench, 8, 0); // sum
  put_move(bench, 9, 0); // i
  put_dai(bench, OP_AND_B32, 10, 4, 3);
  Instr *outer_exit = NULL, *inner_exit = NULL;
  uint32_t outer = bench->count;
  put_dab(bench, OP_SETP_GE_U32, REG_ZERO, 9, 4)->pd[0] = 0; // compares registers: b is r4
  outer_exit = put_branch(bench, 0, false, 0, 0);
  put_move(bench, 11, 0);
  uint32_t inner = bench->count;
  put_dab(bench, OP_SETP_GE_U32, REG_ZERO, 11, 10)->pd[0] = 1;
  inner_exit = put_branch(bench, 1, false, 0, 0);
  put_dai(bench, OP_ADD_B32, 8, 8, 1);
  put_dai(bench, OP_ADD_B32, 11, 11, 1);
  put_branch(bench, PRED_TRUE, false, inner, NO_RECONVERGE);
  inner_exit->imm = inner_exit->reconverge = bench->count;
  put_dai(bench, OP_ADD_B32, 9, 9, 1);
  put_branch(bench, PRED_TRUE, false, outer, NO_RECONVERGE);
  outer_exit->imm = outer_exit->reconverge = bench->count;
  put_result(bench, 8);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i * (i & 3));
}

// f(n) = n == 0 ? 0 : n + f(n - 1), with n and the result in the frame; r0 is the frame pointer.
static void put_recursive_sum(Bench *bench, uint32_t frame) {
  put_memory(bench, OP_LD_LOCAL_B32, 8, 0, 0); // n
  put_setp(bench, OP_SETP_EQ_B32, 0, 8, 0);
  put_memory(bench, OP_ST_LOCAL_B32, REG_ZERO, 0, 4)->guard = 0; // result = 0
  put(bench, OP_RET)->guard = 0;
  put_dai(bench, OP_ADD_B32, 9, 8, UINT32_MAX);
  put_memory(bench, OP_ST_LOCAL_B32, 9, 0, frame);
  put_dai(bench, OP_ADD_B32, 0, 0, frame);
  Instr *call = put(bench, OP_CALL);
  call->imm = bench->count - 8;
  put_dai(bench, OP_ADD_B32, 0, 0, (uint32_t) - (int32_t)frame);
  put_memory(bench, OP_LD_LOCAL_B32, 9, 0, frame + 4);
  put_memory(bench, OP_LD_LOCAL_B32, 8, 0, 0);
  put_dab(bench, OP_ADD_B32, 9, 9, 8);
  put_memory(bench, OP_ST_LOCAL_B32, 9, 0, 4);
  put(bench, OP_RET);
}

static void put_recursive_kernel(Bench *bench) {
  bench->kernel.recursive = true;
  bench->kernel.stack_bytes = 32;
  put_prologue(bench);
  put_memory(bench, OP_ST_LOCAL_B32, 4, REG_ZERO, 0);
  put_move(bench, 0, 0);
  Instr *call = put(bench, OP_CALL);
  put_memory(bench, OP_LD_LOCAL_B32, 8, REG_ZERO, 4);
  put_result(bench, 8);
  put_exit(bench);
  call->imm = bench->count;
  put_recursive_sum(bench, 16);
}

static void test_recursion(void **state) {
  Bench *bench = *state;
  put_recursive_kernel(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i * (i + 1) / 2);
}

static void test_recursion_overflows(void **state) {
  Bench *bench = *state;
  bench->environment.stack_bytes = 256; // 18 frames of 16 bytes in all
  put_recursive_kernel(bench);
  assert_int_equal(bench_run(bench), TRAP_STACK_OVERFLOW);
  assert_int_equal(bench->trap.space, SPACE_LOCAL);
}

// brx to one of four places by tid & 3, all meeting afterwards; a call through one of two code addresses.
static void test_indirect(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_dai(bench, OP_AND_B32, 8, 4, 3);
  put_dai(bench, OP_SHL_B32, 8, 8, 1);
  Instr *base = put_dai(bench, OP_ADD_B32, 8, 8, 0);
  Instr *branch = put(bench, OP_BRX);
  branch->a = 8;
  base->imm = bench->count;
  Instr *jumps[4];
  for (uint32_t i = 0; i < 4; i++) {
    put_move(bench, 9, 100 * i);
    jumps[i] = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  }
  for (uint32_t i = 0; i < 4; i++) jumps[i]->imm = bench->count;
  branch->reconverge = bench->count;
  put_dai(bench, OP_AND_B32, 10, 4, 1);
  put_dai(bench, OP_SHL_B32, 10, 10, 5); // two instructions each
  Instr *address = put_dai(bench, OP_ADD_B32, 10, 10, 0);
  put_move(bench, 11, 0);
  put(bench, OP_CALL_INDIRECT)->a = 10;
  put_result(bench, 9);
  put_exit(bench);
  address->imm = (uint32_t)FUNCTION_ADDRESS(bench->count);
  put_dai(bench, OP_ADD_B32, 9, 9, 1);
  put(bench, OP_RET);
  put_dai(bench, OP_ADD_B32, 9, 9, 2);
  put(bench, OP_RET);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), 100 * (i & 3) + 1 + (i & 1));
}

// Threads exchange through shared memory: thread i reads what thread n - 1 - i wrote.
static void put_exchange(Bench *bench) {
  put_dai(bench, OP_SHL_B32, 8, 4, 2);
  put_dai(bench, OP_ADD_B32, 9, 4, 1000);
  put_memory(bench, OP_ST_SHARED_B32, 9, 8, 0);
}

static void test_barrier(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 200; // the last warp is partial
  bench->launch.grid[0] = 3;
  bench->kernel.shared_bytes = 800;
  put_prologue(bench);
  put_exchange(bench);
  put(bench, OP_BAR_SYNC);
  put_move(bench, 10, 796);
  put_dab(bench, OP_SUB_B32, 10, 10, 8);
  put_memory(bench, OP_LD_SHARED_B32, 11, 10, 0);
  put_result(bench, 11);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 600; i++) assert_int_equal(bench_out(bench, i), 1000 + 199 - i % 200);
  assert_int_equal(bench->stats.value[STAT_BLOCKS], 3);
  assert_int_equal(bench->stats.value[STAT_WARPS], 21);
  assert_int_equal(bench->stats.value[STAT_BARRIERS], 21);
}

// Odd and even lanes come to barrier 0 from different places in the program, half of a warp has already ended.
static void test_divergent_barrier(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 64;
  bench->kernel.shared_bytes = 256;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 2, 4, 16);
  put_exit(bench)->guard = 2;
  put_exchange(bench);
  put_dai(bench, OP_AND_B32, 10, 4, 1);
  put_setp(bench, OP_SETP_EQ_B32, 0, 10, 0);
  Instr *branch = put_branch(bench, 0, false, 0, 0);
  put(bench, OP_BAR_SYNC);
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  put(bench, OP_BAR_SYNC);
  skip->imm = branch->reconverge = bench->count;
  put_move(bench, 10, 79 * 4);
  put_dab(bench, OP_SUB_B32, 10, 10, 8);
  put_memory(bench, OP_LD_SHARED_B32, 11, 10, 0);
  put_result(bench, 11);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 16; i < 64; i++) assert_int_equal(bench_out(bench, i), 1000 + 79 - i);
}

static void test_barrier_reductions(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 96;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 40);
  Instr *count = put(bench, OP_BAR_RED_POPC);
  count->d[0] = 8, count->ps = 0;
  Instr *all = put(bench, OP_BAR_RED_AND);
  all->pd[0] = 1, all->ps = 0;
  Instr *any = put(bench, OP_BAR_RED_OR);
  any->pd[0] = 2, any->ps = 0;
  put_dai(bench, OP_ADD_B32, 8, 8, 1000)->guard = 1;
  put_dai(bench, OP_ADD_B32, 8, 8, 2000)->guard = 2;
  put_result(bench, 8);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 96; i++) assert_int_equal(bench_out(bench, i), 2040);
}

// Warp 0 produces, warp 1 consumes: bar.arrive on one side, bar.sync on the other, 64 threads in all.
static void test_named_barrier(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 64;
  bench->kernel.shared_bytes = 256;
  put_prologue(bench);
  put_dai(bench, OP_SHL_B32, 8, 4, 2);
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 32);
  Instr *branch = put_branch(bench, 0, false, 0, 0);
  put_memory(bench, OP_ST_SHARED_B32, 4, 8, 128);
  Instr *arrive = put(bench, OP_BAR_ARRIVE);
  arrive->a = 12, arrive->select = SELECT_IMM_B, arrive->imm = 64;
  put_move(bench, 9, 7);
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->a = 12, sync->select = SELECT_IMM_B, sync->imm = 64;
  put_memory(bench, OP_LD_SHARED_B32, 9, 8, 0);
  skip->imm = branch->reconverge = bench->count;
  put_result(bench, 9);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(bench_out(bench, i), i < 32 ? 7 : i - 32);
}

static void test_deadlock(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 64;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 32);
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->guard = 0, sync->select = SELECT_IMM_A, sync->imm = 3;
  put(bench, OP_BAR_SYNC); // warp 1 waits at barrier 0, warp 0 at 3
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_BARRIER_DEADLOCK);
  assert_non_null(strstr(bench->trap.note, "32 of 64"));
  Text text = {0};
  trap_format(&bench->trap, &bench->program, &text);
  assert_non_null(strstr(text.at, "barrier"));
  text_free(&text);
}

// A vote in both arms of a branch, each with its own half as members; then a ballot of all.
static void test_votes_in_divergent_code(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 12);
  Instr *branch = put_branch(bench, 0, false, 0, 0);
  Instr *vote = put(bench, OP_VOTE_SYNC_BALLOT_B32);
  vote->d[0] = 8, vote->select = SELECT_IMM_A, vote->imm = 0xFFFFF000;
  Instr *skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  branch->imm = bench->count;
  vote = put(bench, OP_VOTE_SYNC_BALLOT_B32);
  vote->d[0] = 8, vote->select = SELECT_IMM_A, vote->imm = 0xFFF;
  skip->imm = branch->reconverge = bench->count;
  vote = put(bench, OP_VOTE_SYNC_BALLOT_B32);
  vote->d[0] = 9, vote->mods = MOD_FULL_MASK, vote->ps = 0;
  put_dab(bench, OP_XOR_B32, 8, 8, 9);
  put_result(bench, 8);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 12 ? 0 : UINT32_MAX);
}

// One arm of a branch waits for all lanes at bar.warp.sync, so does the other, elsewhere: what each wrote before is
// there for the other afterwards.
static void test_warp_barrier_in_both_arms(void **state) {
  Bench *bench = *state;
  bench->kernel.shared_bytes = 128;
  put_prologue(bench);
  put_dai(bench, OP_SHL_B32, 8, 4, 2);
  put_dai(bench, OP_XOR_B32, 9, 8, 64);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 16);
  Instr *branch = put_branch(bench, 0, false, 0, 0);
  Instr *skip = NULL;
  for (int arm = 0; arm < 2; arm++) {
    if (arm == 1) branch->imm = bench->count;
    put_memory(bench, OP_ST_SHARED_B32, 4, 8, 0);
    put(bench, OP_BAR_WARP_SYNC)->mods = MOD_FULL_MASK;
    put_memory(bench, OP_LD_SHARED_B32, 10, 9, 0);
    if (arm == 0) skip = put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  }
  skip->imm = branch->reconverge = bench->count;
  put_result(bench, 10);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i ^ 16);
}

// A member that never comes does not hang the warp: it takes part with those that are there.
static void test_missing_member(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_move(bench, 8, 5);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 4);
  Instr *branch = put_branch(bench, 0, true, 0, 0);
  Instr *vote = put(bench, OP_VOTE_SYNC_BALLOT_B32);
  vote->d[0] = 8, vote->mods = MOD_FULL_MASK;
  branch->imm = branch->reconverge = bench->count;
  put_result(bench, 8);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 4 ? 0xF : 5);
}

// Spin lock: every lane of a warp takes the same lock in a loop that only the owner leaves; the lanes that have left wait at
// the loop's exit, and the lock is given back after it. Needs lanes that progress independently.
static void test_spin_lock_in_one_warp(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_param64(bench, 8, 0);
  put_dai(bench, OP_ADD_B64, 8, 8, 4096);
  put_move(bench, 11, 1);
  uint32_t loop = bench->count;
  Instr *swap = put(bench, OP_ATOM_GLOBAL_EXCH_B32);
  swap->d[0] = 10, swap->a = 8, swap->b = 11;
  put_setp(bench, OP_SETP_NE_B32, 0, 10, 0);
  put_branch(bench, 0, false, loop, loop + 3);
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 8, 8);
  put_dai(bench, OP_ADD_B32, 13, 12, 1);
  put_memory(bench, OP_ST_GLOBAL_B32, 13, 8, 8);
  put_memory(bench, OP_ST_GLOBAL_B32, REG_ZERO, 8, 0);
  put_result(bench, 12);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  uint64_t seen = 0;
  for (uint32_t i = 0; i < 32; i++) seen |= UINT64_C(1) << bench_out(bench, i);
  assert_int_equal(seen, UINT32_MAX); // every count was taken by exactly one lane
}

// Block 0 waits for what the last block writes. Whatever load it waits with: it gets nowhere, and gives way.
static void wait_for_later_block(Bench *bench, uint16_t mods, uint32_t interleave) {
  bench->environment.interleave = interleave;
  bench->launch.grid[0] = 40;
  put_prologue(bench);
  put_sreg(bench, 8, SREG_CTAID_X);
  put_param64(bench, 10, 0);
  put_setp(bench, OP_SETP_EQ_B32, 0, 8, 39);
  put_move(bench, 9, 77);
  put_memory(bench, OP_ST_GLOBAL_B32, 9, 10, 32768)->guard = 0;
  uint32_t loop = bench->count;
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 10, 32768)->mods = mods;
  put_setp(bench, OP_SETP_EQ_B32, 1, 12, 0);
  put_branch(bench, 1, false, loop, loop + 3);
  put_result(bench, 12);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 40 * 32; i++) assert_int_equal(bench_out(bench, i), 77);
  assert_int_equal(bench->stats.value[STAT_BLOCKS], 40);
  assert_true(bench->stats.value[STAT_WARP_INSTRUCTIONS] < 100000);
}
static void test_block_waits_for_later_block(void **state) { wait_for_later_block(*state, MOD_VOLATILE, 0); }
#ifndef TEST_ON_SIMT // there a plain load finds its own SM's cache, again and again, and warps go on together anyway
static void test_block_waits_with_plain_load(void **state) { wait_for_later_block(*state, 0, 0); }
static void test_block_waits_in_short_turns(void **state) { wait_for_later_block(*state, 0, 1); }
#endif

// Every warp writes a word, and reads that of the next one without a barrier: right if warps go on together.
static void read_without_barrier(Bench *bench, uint32_t interleave, bool right) {
  bench->environment.interleave = interleave;
  bench->launch.block[0] = 256;
  bench->kernel.shared_bytes = 1024;
  put_prologue(bench);
  put_dai(bench, OP_SHL_B32, 8, 4, 2);
  put_dai(bench, OP_ADD_B32, 9, 8, 128);
  put_dai(bench, OP_AND_B32, 9, 9, 1023);
  put_memory(bench, OP_ST_SHARED_B32, 4, 8, 0);
  for (uint32_t i = 0; i < 8; i++) put_dai(bench, OP_ADD_B32, 10, 8, i); // something else to do
  put_memory(bench, OP_LD_SHARED_B32, 11, 9, 0);
  put_result(bench, 11);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  uint32_t found = 0;
  for (uint32_t i = 0; i < 256; i++) found += bench_out(bench, i) == (i + 32) % 256;
  assert_int_equal(found == 256, right);
}
static void test_short_turns_need_no_barrier(void **state) { read_without_barrier(*state, 4, true); }
#ifndef TEST_ON_SIMT
static void test_long_turns_do(void **state) { read_without_barrier(*state, 4096, false); }
#endif

static void test_guarded_call_and_return(void **state) {
  Bench *bench = *state;
  put_prologue(bench);
  put_move(bench, 8, 1);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 20);
  Instr *call = put(bench, OP_CALL);
  call->guard = 0;
  put_dai(bench, OP_ADD_B32, 8, 8, 100);
  put_result(bench, 8);
  put(bench, OP_RET); // ends a kernel
  call->imm = bench->count;
  put_dai(bench, OP_ADD_B32, 8, 8, 10);
  put_setp(bench, OP_SETP_LT_U32, 1, 4, 5);
  put(bench, OP_RET)->guard = 1;
  put_dai(bench, OP_ADD_B32, 8, 8, 1000);
  put(bench, OP_RET);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 5 ? 111 : i < 20 ? 1111 : 101);
}

#define BENCH_TEST(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)
int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(test_if_else),
      BENCH_TEST(test_nested_loops),
      BENCH_TEST(test_recursion),
      BENCH_TEST(test_recursion_overflows),
      BENCH_TEST(test_indirect),
      BENCH_TEST(test_barrier),
      BENCH_TEST(test_divergent_barrier),
      BENCH_TEST(test_barrier_reductions),
      BENCH_TEST(test_named_barrier),
      BENCH_TEST(test_deadlock),
      BENCH_TEST(test_votes_in_divergent_code),
      BENCH_TEST(test_warp_barrier_in_both_arms),
      BENCH_TEST(test_missing_member),
      BENCH_TEST(test_spin_lock_in_one_warp),
      BENCH_TEST(test_block_waits_for_later_block),
      BENCH_TEST(test_short_turns_need_no_barrier),
#ifndef TEST_ON_SIMT
      BENCH_TEST(test_block_waits_with_plain_load),
      BENCH_TEST(test_block_waits_in_short_turns),
      BENCH_TEST(test_long_turns_do),
#endif
      BENCH_TEST(test_guarded_call_and_return),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
