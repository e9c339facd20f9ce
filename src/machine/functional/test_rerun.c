// Blocks carried out again: as the launch did it, with bits of registers and predicates changed on the way, and in a given order.
// What cannot be told without time is said to be unknown.
#include "machine/test_assembler.h"

enum { ENOUGH = 100000, AFTER_PROLOGUE = 8 };

typedef struct Fixture {
  Bench bench;
  MachineWatch watch;
  uint8_t before[TEST_OUT_BYTES]; // as the launch left it
} Fixture;

static void on_step(void *context, const WatchedStep *step) { (void)context, (void)step; }
static void on_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  (void)context, (void)space, (void)address, (void)bytes, (void)how;
}
static void on_lost(void *context) { (void)context; }

static int open_fixture(void **state) {
  Fixture *fixture = test_calloc(1, sizeof *fixture);
  bench_open(&fixture->bench);
  fixture->watch = (MachineWatch){.step = on_step, .touch = on_touch, .lost = on_lost};
  fixture->bench.environment.watch = &fixture->watch;
  *state = fixture;
  return 0;
}
static int close_fixture(void **state) {
  Fixture *fixture = *state;
  bench_close(&fixture->bench);
  test_free(fixture);
  return 0;
}

static uint8_t *out_bytes(const Bench *bench) { return memory_at(bench->memory, bench->out, TEST_OUT_BYTES); }

// The launch as it is; its results are kept and taken away again.
static void run_launch(Fixture *fixture) {
  Bench *bench = &fixture->bench;
  assert_int_equal(bench_run(bench), TRAP_NONE);
  memcpy(fixture->before, out_bytes(bench), TEST_OUT_BYTES);
  memset(out_bytes(bench), 0, TEST_OUT_BYTES);
}

static uint32_t result_before(const Fixture *fixture, uint32_t index) {
  uint32_t value;
  memcpy(&value, fixture->before + 4 * (size_t)index, 4);
  return value;
}

// One block; the trap's text goes to `said` unless NULL.
static RerunEnd rerun_one(Fixture *fixture, uint64_t block, const RerunFlip *flip, uint64_t most, Text *said) {
  Bench *bench = &fixture->bench;
  Rerun *rerun = rerun_new(&bench->environment, &bench->launch, NULL);
  RerunEnd end = rerun_block(rerun, block, flip, most);
  if (said != NULL) trap_format(rerun_trap(rerun), &bench->program, said);
  rerun_free(rerun);
  return end;
}

// r9 = 3 * r4 + 100, one more for the first ten threads; 2 blocks of 96 threads.
static void put_program(Bench *bench) {
  bench->launch.grid[0] = 2;
  bench->launch.block[0] = 96;
  put_prologue(bench);
  put_dai(bench, OP_MUL_LO_B32, 8, 4, 3);
  put_dai(bench, OP_ADD_B32, 9, 8, 100);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 10);
  put_dai(bench, OP_ADD_B32, 9, 9, 1)->guard = 0;
  put_result(bench, 9);
  put_exit(bench);
}

static void test_without_flip(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  bench->kernel.shared_bytes = 4 * 96;
  bench->launch.grid[0] = 3;
  bench->launch.block[0] = 96;
  put_prologue(bench);
  put_dai(bench, OP_SHL_B32, 8, 4, 2);
  put_dai(bench, OP_MUL_LO_B32, 9, 5, 7);
  put_memory(bench, OP_ST_SHARED_B32, 9, 8, 0);
  put(bench, OP_BAR_SYNC);
  put_move(bench, 10, 4 * 95);
  put_dab(bench, OP_SUB_B32, 10, 10, 8);
  put_memory(bench, OP_LD_SHARED_B32, 11, 10, 0);
  put_result(bench, 11);
  put_exit(bench);
  run_launch(fixture);
  assert_int_equal(rerun_one(fixture, 1, NULL, ENOUGH, NULL), RERUN_ENDED);
  for (uint32_t i = 0; i < 3 * 96; i++) assert_int_equal(bench_out(bench, i), i / 96 == 1 ? result_before(fixture, i) : 0);
  assert_int_equal(rerun_one(fixture, 2, NULL, ENOUGH, NULL), RERUN_ENDED);
  assert_int_equal(rerun_one(fixture, 0, NULL, ENOUGH, NULL), RERUN_ENDED);
  assert_memory_equal(out_bytes(bench), fixture->before, TEST_OUT_BYTES);
}

static void assert_one_differs(const Fixture *fixture, uint32_t first, uint32_t index, uint32_t change) {
  for (uint32_t i = first; i < first + 96; i++) {
    assert_int_equal(bench_out(&fixture->bench, i), i == index ? result_before(fixture, i) + change : result_before(fixture, i));
  }
}

static void test_flip_of_register(void **state) {
  Fixture *fixture = *state;
  put_program(&fixture->bench);
  run_launch(fixture);
  RerunFlip flip = {.warp = 1, .before = AFTER_PROLOGUE + 1, .pc = AFTER_PROLOGUE + 1, .row = 8};
  flip.change[5] = 1 << 20; // thread 37: the bit is not set
  assert_int_equal(rerun_one(fixture, 1, &flip, ENOUGH, NULL), RERUN_ENDED);
  assert_one_differs(fixture, 96, 96 + 37, 1 << 20);
  flip.before = flip.pc = AFTER_PROLOGUE; // it is overwritten
  assert_int_equal(rerun_one(fixture, 1, &flip, ENOUGH, NULL), RERUN_ENDED);
  assert_one_differs(fixture, 96, UINT32_MAX, 0);
}

static void test_flip_of_predicate(void **state) {
  Fixture *fixture = *state;
  put_program(&fixture->bench);
  run_launch(fixture);
  RerunFlip flip = {.warp = 0, .before = AFTER_PROLOGUE + 3, .pc = AFTER_PROLOGUE + 3, .place = RERUN_PREDICATES};
  flip.change[0] = 1u << 20;
  assert_int_equal(rerun_one(fixture, 0, &flip, ENOUGH, NULL), RERUN_ENDED);
  assert_one_differs(fixture, 0, 20, 1);
}

// The instruction is another than the one that was announced, or never comes.
static void test_flip_elsewhere(void **state) {
  Fixture *fixture = *state;
  put_program(&fixture->bench);
  run_launch(fixture);
  RerunFlip flip = {.warp = 1, .before = AFTER_PROLOGUE + 1, .pc = AFTER_PROLOGUE + 2, .row = 8};
  assert_int_equal(rerun_one(fixture, 0, &flip, ENOUGH, NULL), RERUN_UNKNOWN);
  flip = (RerunFlip){.warp = 1, .before = AFTER_PROLOGUE + 6, .pc = AFTER_PROLOGUE + 6, .row = 8};
  assert_int_equal(rerun_one(fixture, 0, &flip, ENOUGH, NULL), RERUN_UNKNOWN);
  flip.before = --flip.pc; // the exit
  assert_int_equal(rerun_one(fixture, 0, &flip, ENOUGH, NULL), RERUN_ENDED);
}

static void test_trapped(void **state) {
  Fixture *fixture = *state;
  put_program(&fixture->bench);
  run_launch(fixture);
  RerunFlip flip = {.warp = 2, .before = AFTER_PROLOGUE + 4, .pc = AFTER_PROLOGUE + 4, .row = 3};
  flip.change[7] = 1 << 4; // of the address's upper half
  Text text = {0};
  assert_int_equal(rerun_one(fixture, 0, &flip, ENOUGH, &text), RERUN_TRAPPED);
  assert_non_null(strstr(text.at, trap_info[TRAP_ILLEGAL_ADDRESS].text));
  assert_non_null(strstr(text.at, "thread (71,0,0)"));
  text_free(&text);
  flip.row = 2;
  flip.change[7] = 2;
  assert_int_equal(rerun_one(fixture, 1, &flip, ENOUGH, &text), RERUN_TRAPPED);
  assert_non_null(strstr(text.at, trap_info[TRAP_MISALIGNED].text));
  text_free(&text);
}

// A wrong address in every warp from the `first` on: of two traps, which comes first depends on time.
static RerunEnd run_traps(Fixture *fixture, uint32_t first) {
  Bench *bench = &fixture->bench;
  bench->launch.block[0] = 96;
  put_prologue(bench);
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 32 * first);
  put_move(bench, 3, 5)->guard = 0;
  put_result(bench, 4);
  put_exit(bench);
  bench_finish(bench);
  return rerun_one(fixture, 0, NULL, ENOUGH, NULL);
}
static void test_one_trap(void **state) { assert_int_equal(run_traps(*state, 2), RERUN_TRAPPED); }
static void test_two_traps(void **state) { assert_int_equal(run_traps(*state, 1), RERUN_UNKNOWN); }

// Another trap than one of an address.
static void test_other_trap(void **state) {
  Fixture *fixture = *state;
  put_prologue(&fixture->bench);
  put(&fixture->bench, OP_TRAP);
  put_exit(&fixture->bench);
  bench_finish(&fixture->bench);
  assert_int_equal(rerun_one(fixture, 0, NULL, ENOUGH, NULL), RERUN_UNKNOWN);
}

static void test_endless(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  bench->launch.block[0] = 64;
  put_prologue(bench);
  put_dai(bench, OP_SHR_B32, 8, 4, 5); // warp 1 turns 100,000 times
  put_dai(bench, OP_MUL_LO_B32, 8, 8, 100000);
  uint32_t head = bench->count;
  put_setp(bench, OP_SETP_EQ_B32, 0, 8, 0);
  Instr *leave = put_branch(bench, 0, false, 0, 0);
  put_dai(bench, OP_ADD_B32, 8, 8, UINT32_MAX);
  put_branch(bench, PRED_TRUE, false, head, NO_RECONVERGE);
  leave->imm = leave->reconverge = bench->count;
  put_result(bench, 4);
  put_exit(bench);
  bench_finish(bench);
  const uint64_t all = AFTER_PROLOGUE + 2 + 4 * 100000 + 4;
  assert_int_equal(rerun_one(fixture, 0, NULL, all + 1, NULL), RERUN_ENDED);
  assert_int_equal(bench_out(bench, 40), 40);
  memset(out_bytes(bench), 0, TEST_OUT_BYTES);
  assert_int_equal(rerun_one(fixture, 0, NULL, all - 10000, NULL), RERUN_ENDLESS);
  assert_int_equal(bench_out(bench, 20), 20); // the others have gone on
  assert_int_equal(bench_out(bench, 40), 0);
}

static void test_deadlock(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  bench->launch.block[0] = 64;
  put_prologue(bench);
  put_setp(bench, OP_SETP_LT_U32, 0, 4, 32);
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->guard = 0, sync->select = SELECT_IMM_A, sync->imm = 3;
  put(bench, OP_BAR_SYNC); // warp 1 waits at barrier 0, warp 0 at 3
  put_exit(bench);
  bench_finish(bench);
  assert_int_equal(rerun_one(fixture, 0, NULL, ENOUGH, NULL), RERUN_UNKNOWN);
}

static void test_stopped(void **state) {
  Fixture *fixture = *state;
  put_program(&fixture->bench);
  run_launch(fixture);
  fixture->watch.stop = true;
  assert_int_equal(rerun_one(fixture, 0, NULL, ENOUGH, NULL), RERUN_UNKNOWN);
  fixture->watch.stop = false;
  assert_int_equal(rerun_one(fixture, 0, NULL, ENOUGH, NULL), RERUN_ENDED);
}

// ---- Order ---------------------------------------------------------------------------------------------

enum { STORE = 3 }; // instructions of a warp before it

typedef struct Order {
  uint64_t time[3]; // of each warp's store
  uint32_t asked;
} Order;

static uint64_t next_in_order(void *context, uint32_t warp, uint64_t count, uint32_t *left) {
  Order *order = context;
  order->asked++;
  *left = count <= STORE ? (uint32_t)(STORE - count) : 100;
  return count <= STORE ? order->time[warp] : UINT64_MAX;
}

// All warps write one word after a barrier: the last in the order wins, whoever comes to the barrier last.
static void test_order(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  bench->launch.block[0] = 96;
  put_sreg(bench, 4, SREG_TID_X);
  put_param64(bench, 2, 0);
  put(bench, OP_BAR_SYNC);
  put_memory(bench, OP_ST_GLOBAL_B32, 4, 2, 0);
  put_exit(bench);
  bench_finish(bench);
  static const uint64_t times[][3] = {{10, 20, 30}, {30, 20, 10}, {10, 30, 20}, {20, 10, 30}};
  static const uint32_t winner[] = {2, 0, 1, 2};
  for (uint32_t i = 0; i < COUNT_OF(times); i++) {
    Order own = {.time = {times[i][0], times[i][1], times[i][2]}};
    RerunOrder order = {.context = &own, .next = next_in_order};
    Rerun *rerun = rerun_new(&bench->environment, &bench->launch, &order);
    assert_int_equal(rerun_block(rerun, 0, NULL, ENOUGH), RERUN_ENDED);
    assert_int_equal(bench_out(bench, 0) / 32, winner[i]);
    assert_true(own.asked > 0);
    rerun_free(rerun);
  }
}

int main(void) {
#define RERUN_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
  const struct CMUnitTest tests[] = {
      RERUN_TEST(test_without_flip), RERUN_TEST(test_flip_of_register), RERUN_TEST(test_flip_of_predicate), RERUN_TEST(test_flip_elsewhere),
      RERUN_TEST(test_trapped),      RERUN_TEST(test_one_trap),         RERUN_TEST(test_two_traps),         RERUN_TEST(test_other_trap),
      RERUN_TEST(test_endless),      RERUN_TEST(test_deadlock),         RERUN_TEST(test_stopped),           RERUN_TEST(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
