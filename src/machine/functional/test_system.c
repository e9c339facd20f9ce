// Calls out of the kernel, end to end: printf in thread order, assertions, the heap, nanosleep.
#include "machine/test_assembler.h"

static int open_bench(void **state) {
  Bench *bench = test_malloc(sizeof(Bench));
  bench_open(bench);
  bench->kernel.stack_bytes = 256;
  *state = bench;
  return 0;
}
static int close_bench(void **state) {
  bench_close(*state);
  test_free(*state);
  return 0;
}

static void place_text(Bench *bench, uint32_t at, const char *text) {
  memcpy(memory_at(bench->memory, bench->out + at, 256), text, strlen(text) + 1);
}

// Writes r[reg], r[reg + 1] to local memory at `at`.
static void put_argument64(Bench *bench, unsigned reg, uint32_t at) { put_memory(bench, OP_ST_LOCAL_B64, reg, REG_ZERO, at); }
static void put_address64(Bench *bench, uint32_t offset, uint32_t at) { // out + offset
  put_param64(bench, 20, 0);
  put_dai(bench, OP_ADD_B64, 20, 20, offset);
  put_argument64(bench, 20, at);
}

static void test_printf(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 40;
  place_text(bench, 8192, "thread %d of %s\n");
  place_text(bench, 8704, "forty");
  put_prologue(bench);
  put_address64(bench, 8192, 0); // format
  put_move(bench, 10, (uint32_t)LOCAL_WINDOW + 64);
  put_move(bench, 11, 0);
  put_argument64(bench, 10, 8); // arguments
  put_memory(bench, OP_ST_LOCAL_B32, 4, REG_ZERO, 64);
  put_address64(bench, 8704, 72);
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 38);
  Instr *call = put(bench, OP_SYS_VPRINTF);
  call->guard = 0;
  put_memory(bench, OP_LD_LOCAL_B32, 12, REG_ZERO, 16);
  put_result(bench, 12);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  assert_string_equal(bench->printed.at, "thread 38 of forty\nthread 39 of forty\n");
  assert_int_equal(bench_out(bench, 38), 2);
  assert_int_equal(bench_out(bench, 37), 0);
}

static void test_printf_of_bad_pointer(void **state) {
  Bench *bench = *state;
  put_move(bench, 10, 12345);
  put_move(bench, 11, 0);
  put_argument64(bench, 10, 0);
  put_argument64(bench, 10, 8);
  put(bench, OP_SYS_VPRINTF);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(bench->trap.address, 12345);
}

static void test_assert(void **state) {
  Bench *bench = *state;
  bench->launch.grid[0] = 2;
  place_text(bench, 8192, "x > 0");
  place_text(bench, 8448, "kernel.cu");
  place_text(bench, 8704, "void kernel(int)");
  put_prologue(bench);
  put_address64(bench, 8192, 0);
  put_address64(bench, 8448, 8);
  put_move(bench, 8, 17);
  put_memory(bench, OP_ST_LOCAL_B32, 8, REG_ZERO, 16);
  put_address64(bench, 8704, 24);
  put_setp(bench, OP_SETP_EQ_B32, 0, 4, 3);
  put(bench, OP_SYS_ASSERTFAIL)->guard = 0;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ASSERT);
  assert_string_equal(bench->trap.note, "kernel.cu:17: void kernel(int): block: [0,0,0], thread: [3,0,0] Assertion `x > 0` failed.");
  assert_int_equal(bench->trap.thread[0], 3);
}

// Every lane allocates 100 bytes, writes to the last word of them, reads it back and frees; 8 lanes too many for the heap.
static void test_heap(void **state) {
  Bench *bench = *state;
  bench->environment.heap_bytes = 2400;
  put_prologue(bench);
  put_move(bench, 8, 100);
  put_move(bench, 9, 0);
  put_argument64(bench, 8, 0);
  put(bench, OP_SYS_MALLOC);
  put_memory(bench, OP_LD_LOCAL_B64, 10, REG_ZERO, 8);
  put_setp(bench, OP_SETP_NE_B64, 0, 10, 0);
  put_memory(bench, OP_ST_GLOBAL_B32, 4, 10, 96)->guard = 0;
  put_memory(bench, OP_LD_B32, 12, 10, 96)->guard = 0;
  put_dai(bench, OP_ADD_B32, 12, 12, 5);
  put_argument64(bench, 10, 0);
  put(bench, OP_SYS_FREE);
  put_result(bench, 12);
  put_exit(bench);
  uint64_t before = memory_in_use(bench->memory);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 32; i++) assert_int_equal(bench_out(bench, i), i < 24 ? i + 5 : 5);
  assert_int_equal(memory_in_use(bench->memory), before);
}

static void test_use_after_free_in_kernel(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 1;
  put_move(bench, 8, 64);
  put_move(bench, 9, 0);
  put_argument64(bench, 8, 0);
  put(bench, OP_SYS_MALLOC);
  put_memory(bench, OP_LD_LOCAL_B64, 10, REG_ZERO, 8);
  put_move(bench, 13, 0);
  uint32_t loop = bench->count;
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 10, 0); // the second time the block is gone
  put_argument64(bench, 10, 0);
  put(bench, OP_SYS_FREE);
  put_branch(bench, PRED_TRUE, false, loop, NO_RECONVERGE);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(bench->trap.line, 100 + loop);
}

static void test_double_free(void **state) {
  Bench *bench = *state;
  put_address64(bench, 0, 0);
  put(bench, OP_SYS_FREE); // the host's buffer
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_non_null(strstr(bench->trap.note, "heap"));
}

// Warp 0 sleeps until warp 1 has written.
static void test_sleep(void **state) {
  Bench *bench = *state;
  bench->launch.block[0] = 64;
  put_prologue(bench);
  put_param64(bench, 10, 0);
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 32);
  put_move(bench, 9, 1);
  put_memory(bench, OP_ST_GLOBAL_B32, 9, 10, 4096)->guard = 0;
  uint32_t loop = bench->count;
  put(bench, OP_NANOSLEEP);
  put_memory(bench, OP_LD_GLOBAL_B32, 12, 10, 4096)->mods = MOD_VOLATILE;
  put_setp(bench, OP_SETP_EQ_B32, 1, 12, 0);
  put_branch(bench, 1, false, loop, bench->count + 1);
  put_result(bench, 12);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(bench_out(bench, i), 1);
  assert_true(bench->stats.value[STAT_WARP_INSTRUCTIONS] < 60); // sleeping gives way at once
}

#define BENCH_TEST(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)
int main(void) {
  const struct CMUnitTest tests[] = {
      BENCH_TEST(test_printf), BENCH_TEST(test_printf_of_bad_pointer),    BENCH_TEST(test_assert),      BENCH_TEST(test_heap),
      BENCH_TEST(test_sleep),  BENCH_TEST(test_use_after_free_in_kernel), BENCH_TEST(test_double_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
