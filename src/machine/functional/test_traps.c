// Traps of every kind: what raises them, and that they name thread, line, address and what lies nearby.
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

static void expect_text(const Bench *bench, const char *part) {
  Text text = {0};
  trap_format(&bench->trap, &bench->program, &text);
  if (strstr(text.at, part) == NULL) fail_msg("'%s' does not say '%s'", text.at, part);
  assert_null(strchr(text.at, '\n'));
  text_free(&text);
}

// One access at out + offset by lanes from `first` on; the others stay inside.
typedef struct WildCase {
  const char *name;
  Op op;
  int64_t offset; // from the start of the buffer; with `absolute` an address
  bool absolute;
  unsigned vector; // elements
  TrapKind kind;
  const char *says;
} WildCase;

static const WildCase wild_cases[] = {
    {"last word", OP_LD_GLOBAL_B32, TEST_OUT_BYTES - 4, false, 1, TRAP_NONE, NULL},
    {"past the end", OP_LD_GLOBAL_B32, TEST_OUT_BYTES, false, 1, TRAP_ILLEGAL_ADDRESS, "0 bytes past the end of a 65536-byte allocation"},
    {"before the start", OP_ST_GLOBAL_B32, -4, false, 1, TRAP_ILLEGAL_ADDRESS, "4 bytes before the start of a 65536-byte allocation"},
    {"half past the end", OP_LD_GLOBAL_B64, TEST_OUT_BYTES - 4, false, 1, TRAP_MISALIGNED, "8-byte global access"},
    {"misaligned word", OP_LD_GLOBAL_B32, 2, false, 1, TRAP_MISALIGNED, "not a multiple"},
    {"misaligned half", OP_LD_GLOBAL_U16, 1, false, 1, TRAP_MISALIGNED, "2-byte global access"},
    {"misaligned vector", OP_LD_GLOBAL_B32, 8, false, 4, TRAP_MISALIGNED, "16-byte global access"},
    {"vector past the end", OP_LD_GLOBAL_B32, TEST_OUT_BYTES, false, 4, TRAP_ILLEGAL_ADDRESS, "16-byte"},
    {"odd bytes are fine", OP_ST_GLOBAL_B8, 3, false, 1, TRAP_NONE, NULL},
    {"null", OP_LD_GLOBAL_B32, 0, true, 1, TRAP_ILLEGAL_ADDRESS, "null pointer"},
    {"null by generic", OP_ST_B32, 8, true, 1, TRAP_ILLEGAL_ADDRESS, "null pointer"},
    {"top of the address space", OP_LD_B64, -8, true, 1, TRAP_ILLEGAL_ADDRESS, "0xfffffffffffffff8"},
    {"shared window, no shared memory", OP_LD_B32, SHARED_WINDOW, true, 1, TRAP_ILLEGAL_ADDRESS, "0 bytes of shared memory"},
    {"shared window by ld.global", OP_LD_GLOBAL_B32, SHARED_WINDOW, true, 1, TRAP_ILLEGAL_ADDRESS, "bytes before"},
    {"local window, no local memory", OP_LD_B32, LOCAL_WINDOW, true, 1, TRAP_ILLEGAL_ADDRESS, "0 bytes of local memory"},
    {"parameters can be read", OP_LD_B32, PARAM_WINDOW + 60, true, 1, TRAP_NONE, NULL},
    {"parameters end", OP_LD_B32, PARAM_WINDOW + 64, true, 1, TRAP_ILLEGAL_ADDRESS, "64 bytes of parameters"},
    {"parameters cannot be written", OP_ST_B32, PARAM_WINDOW, true, 1, TRAP_ILLEGAL_ADDRESS, "generic access"},
    {"constants cannot be written", OP_ST_B32, CONST_WINDOW, true, 1, TRAP_ILLEGAL_ADDRESS, "generic access"},
    {"code is not data", OP_LD_B32, CODE_BASE, true, 1, TRAP_ILLEGAL_ADDRESS, "generic access"},
    {"atomic on null", OP_ATOM_GLOBAL_ADD_U32, 0, true, 1, TRAP_ILLEGAL_ADDRESS, "4-byte global access"},
    {"misaligned atomic", OP_ATOM_GLOBAL_ADD_U32, 2, false, 1, TRAP_MISALIGNED, "4-byte global access"},
    {"atomic past the end", OP_ATOM_ADD_U32, TEST_OUT_BYTES, false, 1, TRAP_ILLEGAL_ADDRESS, "past the end"},
};

// `first`: lanes below it access the middle of the buffer.
static void run_wild(Bench *bench, const WildCase *wild, uint32_t first) {
  uint64_t address = wild->absolute ? (uint64_t)wild->offset : bench->out + (uint64_t)wild->offset, good = bench->out + 1024;
  memcpy(bench->params + 8, &address, 8);
  memcpy(bench->params + 16, &good, 8);
  put_sreg(bench, 4, SREG_TID_X);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, first);
  put_param64(bench, 8, 8);
  put_param64(bench, 8, 16)->guard = 0;
  Instr *access = put_memory(bench, wild->op, 12, 8, 0);
  if (wild->op == OP_ATOM_GLOBAL_ADD_U32 || wild->op == OP_ATOM_ADD_U32) access->b = 4;
  for (unsigned k = 1; k < wild->vector; k++) access->d[k] = (uint8_t)(12 + k);
  if (wild->vector == 4) access->mods = 2u << MOD_VECTOR_SHIFT;
  put_exit(bench);
  TrapKind kind = bench_run(bench);
  if (kind != wild->kind) fail_msg("%s, lane %u: trap '%s'", wild->name, first, trap_info[kind].name);
  if (kind == TRAP_NONE) return;
  if (bench->trap.thread[0] != first || bench->trap.line != 104 || bench->trap.address != address) {
    fail_msg("%s: thread %u line %u address %llx", wild->name, bench->trap.thread[0], bench->trap.line,
             (unsigned long long)bench->trap.address);
  }
  expect_text(bench, wild->says);
  expect_text(bench, "line 104 of test.ptx");
}

static void test_wild_accesses(void **state) {
  (void)state;
  const uint32_t firsts[] = {0, 1, 17, 31};
  for (size_t i = 0; i < COUNT_OF(wild_cases) * COUNT_OF(firsts); i++) {
    void *bench = NULL;
    open_bench(&bench);
    run_wild(bench, &wild_cases[i / COUNT_OF(firsts)], firsts[i % COUNT_OF(firsts)]);
    close_bench(&bench);
  }
}

static void test_use_after_free(void **state) {
  Bench *bench = *state;
  uint64_t freed = memory_alloc(bench->memory, 4096, 256);
  memcpy(bench->params + 8, &freed, 8);
  put_param64(bench, 8, 8);
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 8, 0);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  memory_release(bench->memory, freed);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
}

static void test_trap_instruction(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 8, bench->launch.block[1] = 2, bench->launch.block[2] = 2; // one warp, so that its first lane comes first
  bench->launch.grid[1] = 3;
  put_sreg(bench, 4, SREG_TID_Z);
  put_sreg(bench, 5, SREG_CTAID_Y);
  put_setp(bench, OP_SETP_EQ_B32, 0, 4, 1);
  put_setp(bench, OP_SETP_EQ_B32, 1, 5, 2);
  put_exit(bench)->guard = 1, bench->code[4].guard_negated = true;
  put(bench, OP_BRKPT);
  put(bench, OP_TRAP)->guard = 0;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_TRAP);
  assert_int_equal(bench->trap.block[1], 2);
  assert_int_equal(bench->trap.thread[2], 1);
  assert_int_equal(bench->trap.thread[0], 0);
  assert_string_equal(bench->trap.kernel, "kernel");
  expect_text(bench, "block (0,2,0), thread (0,0,1)");
}

static void test_endless_loop(void **state) {
  Bench *bench = *state;
  bench->environment.instruction_limit = 12345;
  put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  assert_int_equal(bench_run(bench), TRAP_LIMIT);
  assert_int_equal(bench->stats.value[STAT_WARP_INSTRUCTIONS], 12345);
  expect_text(bench, "instruction limit");
}

static void test_invalid_pc(void **state) {
  Bench *bench = *state;
  put_move(bench, 8, 3); // runs off the end
  assert_int_equal(bench_run(bench), TRAP_INVALID_PC);
  bench->count = 0;
  put_move(bench, 8, 99999);
  put(bench, OP_BRX)->a = 8;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_INVALID_PC);
  bench->count = 0;
  put_move(bench, 8, 16); // a pair with r9: no code address
  put(bench, OP_CALL_INDIRECT)->a = 8;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_INVALID_PC);
}

static void test_texture_handle(void **state) {
  Bench *bench = *state;
  put(bench, OP_TXQ)->d[0] = 9;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_INVALID_TEXTURE);
}

static void test_bad_barrier_number(void **state) {
  Bench *bench = *state;
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->select = SELECT_IMM_A, sync->imm = 16;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_INSTRUCTION);
}

static bool stop_soon(void *context, const Stats *stats) {
  (void)context;
  return stats->value[STAT_WARP_INSTRUCTIONS] < 500000;
}

static void test_stopped(void **state) {
  Bench *bench = *state;
  bench->environment.instruction_limit = 0;
  bench->environment.progress = stop_soon;
  put_branch(bench, PRED_TRUE, false, 0, NO_RECONVERGE);
  assert_int_equal(bench_run(bench), TRAP_STOPPED);
}

static void test_shared_and_local_bounds(void **state) {
  Bench *bench = *state;
  bench->kernel.shared_bytes = 100;
  bench->launch.dynamic_shared_bytes = 16;
  bench->kernel.stack_bytes = 32;
  put_memory(bench, OP_LD_SHARED_B32, 8, REG_ZERO, 124); // 112 + 16 in all
  put_memory(bench, OP_ST_LOCAL_B32, 8, REG_ZERO, 28);
  put_memory(bench, OP_LD_SHARED_B32, 8, REG_ZERO, 128);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(bench->trap.line, 102);
  expect_text(bench, "128 bytes of shared memory");
  bench->count = 2;
  put_memory(bench, OP_ST_LOCAL_B32, 8, REG_ZERO, 32);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(bench->trap.line, 102);
  expect_text(bench, "32 bytes of local memory");
}

#define BENCH_TEST(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)
int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wild_accesses), BENCH_TEST(test_use_after_free), BENCH_TEST(test_trap_instruction),
      BENCH_TEST(test_endless_loop),        BENCH_TEST(test_invalid_pc),     BENCH_TEST(test_texture_handle),
      BENCH_TEST(test_bad_barrier_number),  BENCH_TEST(test_stopped),        BENCH_TEST(test_shared_and_local_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
