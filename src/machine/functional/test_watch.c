// What is told to somebody who watches the functional machine: every step, every lane's access with its address as it was when the
// instruction began, and when results may depend on what is not told.
#include "machine/test_assembler.h"

enum { MOST_TOUCHES = 512 };

typedef struct Touch {
  Space space;
  uint64_t address;
  uint32_t bytes;
  unsigned how;
  WatchedStep step;
  uint32_t lane;
} Touch;

typedef struct Fixture {
  Bench bench;
  MachineWatch watch;
  WatchedStep now;
  uint32_t steps, touches, lost, ended;
  uint32_t stop_at; // number of the step; 0: never
  Touch touch[MOST_TOUCHES];
} Fixture;

static void on_step(void *context, const WatchedStep *step) {
  Fixture *fixture = context;
  fixture->now = *step;
  fixture->steps++;
  if (fixture->steps == fixture->stop_at) fixture->watch.stop = true;
}

static void on_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Fixture *fixture = context;
  assert_true(fixture->touches < MOST_TOUCHES);
  fixture->touch[fixture->touches++] = (Touch){space, address, bytes, how, fixture->now, fixture->watch.lane};
}

static void on_lost(void *context) { ((Fixture *)context)->lost++; }
static void on_ended(void *context, uint32_t block) {
  Fixture *fixture = context;
  assert_int_equal(block, fixture->ended++); // in their order
}

static int open_fixture(void **state) {
  Fixture *fixture = test_calloc(1, sizeof *fixture);
  bench_open(&fixture->bench);
  fixture->bench.kernel.shared_bytes = 512;
  fixture->bench.kernel.stack_bytes = 256;
  fixture->watch = (MachineWatch){.context = fixture, .step = on_step, .touch = on_touch, .lost = on_lost, .ended = on_ended};
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

// ---- Steps -----------------------------------------------------------------------------------------

static void test_steps(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  bench->launch.grid[0] = 2;
  bench->launch.block[0] = 40; // the second warp has 8 threads
  put_prologue(bench);
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 36);
  put(bench, OP_BAR_SYNC);
  put_memory(bench, OP_ST_GLOBAL_B32, 4, 2, 0)->guard = 0;
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  assert_int_equal(fixture->steps, 2 * 2 * 12);
  assert_int_equal(fixture->steps, bench->stats.value[STAT_WARP_INSTRUCTIONS]);
  assert_int_equal(fixture->touches, 2 * 4);
  assert_int_equal(fixture->ended, 2);
  assert_int_equal(fixture->lost, 0);
  for (uint32_t i = 0; i < fixture->touches; i++) {
    const Touch *touch = &fixture->touch[i];
    uint32_t thread = 36 + i % 4;
    assert_int_equal(touch->step.block, i / 4);
    assert_int_equal(touch->step.warp, 1);
    assert_int_equal(touch->step.epoch, 1); // after the barrier
    assert_int_equal(touch->step.pc, 10);
    assert_int_equal(touch->step.mask, 0xFF);
    assert_int_equal(touch->step.active, 0xF0);
    assert_int_equal(touch->lane, thread - 32);
    assert_int_equal(touch->address, bench->out + 4 * (40 * (i / 4) + thread));
    assert_true(touch->space == SPACE_GLOBAL && touch->bytes == 4 && touch->how == WATCH_WRITE);
  }
}

static void put_result_of(Bench *bench) {
  put_result(bench, 4);
  put_exit(bench);
}

// ---- Spaces ----------------------------------------------------------------------------------------

typedef struct Case {
  Op op;
  uint32_t bytes;
  unsigned how;
  Space space;
  uint64_t window; // what a generic address begins with
} Case;

// Thread t accesses its own element of the space; the address register is what a load or an atomic overwrites.
static void check_case(Fixture *fixture, const Case *at) {
  Bench *bench = &fixture->bench;
  bool is_wide = op_info[at->op].space == SPACE_GLOBAL || op_info[at->op].space == SPACE_GENERIC;
  put_prologue(bench);
  put_dai(bench, OP_AND_B32, 8, 4, 1);
  put_dai(bench, OP_SHL_B32, 8, 8, 3);
  if (is_wide) put_dab(bench, OP_CVT_U64_U32, 8, 8, REG_ZERO);
  if (at->space == SPACE_GLOBAL) {
    put_param64(bench, 10, 0);
    put_dab(bench, OP_ADD_B64, 8, 8, 10);
  } else {
    put_dai(bench, OP_ADD_B32, 8, 8, (uint32_t)at->window);
  }
  uint32_t pc = bench->count;
  if (op_info[at->op].kind == KIND_ATOMIC) put_dab(bench, at->op, 8, 8, 4)->imm = 16;
  else put_memory(bench, at->op, 8, 8, 16);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  assert_int_equal(fixture->touches, 32);
  for (uint32_t lane = 0; lane < 32; lane++) {
    const Touch *touch = &fixture->touch[lane];
    uint64_t start = at->space == SPACE_GLOBAL ? bench->out : 0;
    assert_int_equal(touch->space, at->space);
    assert_int_equal(touch->address, start + 8 * (lane & 1) + 16);
    assert_int_equal(touch->bytes, at->bytes);
    assert_int_equal(touch->how, at->how);
    assert_int_equal(touch->step.pc, pc);
  }
  assert_int_equal(fixture->lost, 0);
}

static void test_spaces(void **state) {
  static const Case cases[] = {
      {OP_LD_GLOBAL_B32, 4, WATCH_READ, SPACE_GLOBAL, 0},    {OP_LD_GLOBAL_B64, 8, WATCH_READ, SPACE_GLOBAL, 0},
      {OP_LD_GLOBAL_U8, 1, WATCH_READ, SPACE_GLOBAL, 0},     {OP_ST_GLOBAL_B32, 4, WATCH_WRITE, SPACE_GLOBAL, 0},
      {OP_ST_GLOBAL_B64, 8, WATCH_WRITE, SPACE_GLOBAL, 0},   {OP_ATOM_ADD_U32, 4, WATCH_READ | WATCH_WRITE, SPACE_GLOBAL, 0},
      {OP_LD_SHARED_B32, 4, WATCH_READ, SPACE_SHARED, 0},    {OP_ST_SHARED_B32, 4, WATCH_WRITE, SPACE_SHARED, 0},
      {OP_LD_LOCAL_B32, 4, WATCH_READ, SPACE_LOCAL, 0},      {OP_ST_LOCAL_B32, 4, WATCH_WRITE, SPACE_LOCAL, 0},
      {OP_LD_B32, 4, WATCH_READ, SPACE_GLOBAL, 0},           {OP_LD_B32, 4, WATCH_READ, SPACE_SHARED, SHARED_WINDOW},
      {OP_LD_B32, 4, WATCH_READ, SPACE_LOCAL, LOCAL_WINDOW}, {OP_ST_B32, 4, WATCH_WRITE, SPACE_SHARED, SHARED_WINDOW},
  };
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Fixture *fixture = NULL;
    open_fixture((void **)&fixture);
    check_case(fixture, &cases[i]);
    close_fixture((void **)&fixture);
  }
}

// A load of several elements is one access.
static void test_vector(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  put_prologue(bench);
  put_param64(bench, 8, 0);
  Instr *load = put_memory(bench, OP_LD_GLOBAL_B32, 8, 8, 64);
  load->mods = 2u << MOD_VECTOR_SHIFT;
  for (uint8_t i = 0; i < 4; i++) load->d[i] = (uint8_t)(8 + i);
  put_result_of(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  assert_int_equal(fixture->touches, 64);
  for (uint32_t lane = 0; lane < 32; lane++) {
    assert_int_equal(fixture->touch[lane].address, bench->out + 64);
    assert_int_equal(fixture->touch[lane].bytes, 16);
  }
}

// Lane 5 has no legal address: what the lanes before it have stored is told, and loads, which leave nothing, are not.
static void check_trap(Op op, uint32_t expected) {
  Fixture *fixture = NULL;
  open_fixture((void **)&fixture);
  Bench *bench = &fixture->bench;
  put_prologue(bench);
  put_setp(bench, OP_SETP_EQ_B32, 0, 4, 5);
  put_move(bench, 3, 1)->guard = 0;
  put_memory(bench, op, 4, 2, 0);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(fixture->touches, expected);
  for (uint32_t lane = 0; lane < expected; lane++) assert_int_equal(fixture->touch[lane].address, bench->out + 4 * lane);
  for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(bench_out(bench, lane), lane < expected ? lane : 0);
  close_fixture((void **)&fixture);
}

static void test_traps(void **state) {
  (void)state;
  check_trap(OP_ST_GLOBAL_B32, 5);
  check_trap(OP_LD_GLOBAL_B32, 0);
}

// ---- Lost ------------------------------------------------------------------------------------------

static void test_sregs(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  static const uint32_t harmless[] = {SREG_TID_X, SREG_CTAID_Y, SREG_LANEID, SREG_NCTAID_X, SREG_NSMID};
  for (size_t i = 0; i < COUNT_OF(harmless); i++) put_sreg(bench, 8, harmless[i]);
  put_exit(bench);
  assert_int_equal(bench_run(bench), TRAP_NONE);
  assert_int_equal(fixture->lost, 0);
}

static void check_lost(void (*fill)(Bench *bench), uint32_t expected) {
  Fixture *fixture = NULL;
  open_fixture((void **)&fixture);
  Bench *bench = &fixture->bench;
  bench->launch.block[0] = 64;
  put_prologue(bench);
  fill(bench);
  put_exit(bench);
  bench_run(bench);
  assert_int_equal(bench->trap.kind, TRAP_NONE);
  assert_int_equal(fixture->lost, expected);
  close_fixture((void **)&fixture);
}

static void fill_smid(Bench *bench) { put_sreg(bench, 8, SREG_SMID); }
static void fill_clock(Bench *bench) {
  Instr *clock = put(bench, OP_S2R_CLOCK);
  clock->d[0] = 8, clock->imm = SREG_CLOCK;
}
static void fill_clock64(Bench *bench) {
  Instr *clock = put(bench, OP_S2R_CLOCK64);
  clock->d[0] = 8, clock->imm = SREG_CLOCK64;
}
static void fill_malloc(Bench *bench) {
  put_move(bench, 8, 16);
  put_move(bench, 9, 0);
  put_memory(bench, OP_ST_LOCAL_B64, 8, REG_ZERO, 0);
  put(bench, OP_SYS_MALLOC);
}
static void fill_texture(Bench *bench) { put(bench, OP_TEX_X1)->guard = 0; } // no thread is there
static void fill_barrier(Bench *bench) { put(bench, OP_BAR_SYNC); }
static void fill_counted_barrier(Bench *bench) { // of all 64 threads
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->a = 12, sync->select = SELECT_IMM_B, sync->imm = 64;
}
static void fill_part_barrier(Bench *bench) { // warp 1 alone
  put_setp(bench, OP_SETP_GE_U32, 0, 4, 32);
  Instr *sync = put(bench, OP_BAR_SYNC);
  sync->a = 12, sync->select = SELECT_IMM_B, sync->imm = 32, sync->guard = 0;
}
static void fill_arrive(Bench *bench) {
  Instr *arrive = put(bench, OP_BAR_ARRIVE);
  arrive->a = 12, arrive->select = SELECT_IMM_B, arrive->imm = 64;
}
static void fill_fence(Bench *bench) { put(bench, OP_MEMBAR_GL); }

static void test_lost(void **state) {
  (void)state;
  check_lost(fill_smid, 2); // once per warp
  check_lost(fill_clock, 2);
  check_lost(fill_clock64, 2);
  check_lost(fill_malloc, 2);
  check_lost(fill_texture, 2);
  check_lost(fill_part_barrier, 1);
  check_lost(fill_arrive, 2);
  check_lost(fill_barrier, 0);
  check_lost(fill_counted_barrier, 0);
  check_lost(fill_fence, 0);
}

static void test_stop(void **state) {
  Fixture *fixture = *state;
  Bench *bench = &fixture->bench;
  fixture->stop_at = 9;
  put_prologue(bench);
  put_result_of(bench); // the ninth
  assert_int_equal(bench_run(bench), TRAP_STOPPED);
  assert_int_equal(fixture->steps, 9);
  assert_int_equal(fixture->touches, 0);
  assert_int_equal(bench_out(bench, 3), 0);
}

int main(void) {
#define WATCH_TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
  const struct CMUnitTest tests[] = {
      WATCH_TEST(test_steps),       cmocka_unit_test(test_spaces), WATCH_TEST(test_vector), WATCH_TEST(test_sregs),
      cmocka_unit_test(test_traps), cmocka_unit_test(test_lost),   WATCH_TEST(test_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
