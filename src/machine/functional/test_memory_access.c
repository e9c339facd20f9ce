// Loads, stores and atomics of a warp, in every width, space and address pattern, against a lane-by-lane model.
#include "machine/test_assembler.h"

enum { PATTERN_LINEAR, PATTERN_UNIFORM, PATTERN_REVERSED, PATTERN_STRIDED, PATTERN_RANDOM, PATTERN_COUNT };

// Element index of a lane.
static uint32_t pattern_index(unsigned pattern, uint32_t lane) {
  switch (pattern) {
  case PATTERN_LINEAR: return lane;
  case PATTERN_UNIFORM: return 5;
  case PATTERN_REVERSED: return 31 - lane;
  case PATTERN_STRIDED: return 3 * lane;
  default: return (uint32_t)(random_draw(7, lane, 0) % 128);
  }
}

typedef struct LoadCase {
  Op op;
  unsigned bytes, vector;
  bool is_signed;
  Space space;
} LoadCase;

static const LoadCase load_cases[] = {
    {OP_LD_GLOBAL_U8, 1, 1, false, SPACE_GLOBAL},  {OP_LD_GLOBAL_S8, 1, 1, true, SPACE_GLOBAL},
    {OP_LD_GLOBAL_U16, 2, 1, false, SPACE_GLOBAL}, {OP_LD_GLOBAL_S16, 2, 1, true, SPACE_GLOBAL},
    {OP_LD_GLOBAL_B32, 4, 1, false, SPACE_GLOBAL}, {OP_LD_GLOBAL_B64, 8, 1, false, SPACE_GLOBAL},
    {OP_LD_GLOBAL_B32, 4, 2, false, SPACE_GLOBAL}, {OP_LD_GLOBAL_B32, 4, 4, false, SPACE_GLOBAL},
    {OP_LD_GLOBAL_B64, 8, 2, false, SPACE_GLOBAL}, {OP_LD_GLOBAL_U8, 1, 4, false, SPACE_GLOBAL},
    {OP_LD_GLOBAL_S16, 2, 4, true, SPACE_GLOBAL},  {OP_LD_B32, 4, 1, false, SPACE_GLOBAL},
    {OP_LD_B64, 8, 2, false, SPACE_GLOBAL},        {OP_LD_SHARED_U8, 1, 1, false, SPACE_SHARED},
    {OP_LD_SHARED_B32, 4, 1, false, SPACE_SHARED}, {OP_LD_SHARED_B64, 8, 1, false, SPACE_SHARED},
    {OP_LD_SHARED_B32, 4, 4, false, SPACE_SHARED}, {OP_LD_LOCAL_U8, 1, 1, false, SPACE_LOCAL},
    {OP_LD_LOCAL_S16, 2, 1, true, SPACE_LOCAL},    {OP_LD_LOCAL_B32, 4, 1, false, SPACE_LOCAL},
    {OP_LD_LOCAL_B64, 8, 1, false, SPACE_LOCAL},   {OP_LD_LOCAL_B32, 4, 4, false, SPACE_LOCAL},
    {OP_LD_CONST_B32, 4, 1, false, SPACE_CONST},   {OP_LD_CONST_U8, 1, 4, false, SPACE_CONST},
    {OP_LD_U8, 1, 1, false, SPACE_SHARED},         {OP_LD_B32, 4, 1, false, SPACE_SHARED},
    {OP_LD_B64, 8, 1, false, SPACE_LOCAL},         {OP_LD_B32, 4, 4, false, SPACE_CONST},
    {OP_LD_S8, 1, 1, true, SPACE_LOCAL},
};

enum { DATA_BYTES = 4096, RESULT_AT = 8192, INDEX_AT = 32768 };

// Copies the DATA_BYTES at parameter 0 to shared or local memory, word by word.
static void put_copy(Bench *bench, Op store) {
  put_param64(bench, 8, 0);
  put_move(bench, 10, 0);
  uint32_t loop = bench->count;
  put_memory(bench, OP_LD_GLOBAL_B32, 11, 8, 0);
  put_memory(bench, store, 11, 10, 0);
  put_dai(bench, OP_ADD_B64, 8, 8, 4);
  put_dai(bench, OP_ADD_B32, 10, 10, 4);
  put_setp(bench, OP_SETP_LT_U32, 0, 10, DATA_BYTES);
  put_branch(bench, 0, false, loop, bench->count + 1);
}

// r8:r9 = address of the lane's element, as the space and the instruction's form need it.
static void put_address(Bench *bench, const LoadCase *load) {
  const OpInfo *info = &op_info[load->op];
  bool generic = info->space == SPACE_GENERIC;
  uint64_t base = load->space == SPACE_GLOBAL   ? bench->out
                  : !generic                    ? 0
                  : load->space == SPACE_SHARED ? SHARED_WINDOW
                  : load->space == SPACE_LOCAL  ? LOCAL_WINDOW
                                                : CONST_WINDOW;
  memcpy(bench->params + 8, &base, 8);
  put_param64(bench, 10, 0);
  put_sreg(bench, 4, SREG_TID_X);
  put_dai(bench, OP_SHL_B32, 4, 4, 2);
  put_dab(bench, OP_CVT_U64_U32, 6, 4, REG_ZERO);
  put_dab(bench, OP_ADD_B64, 10, 10, 6);
  put_memory(bench, OP_LD_GLOBAL_B32, 8, 10, INDEX_AT); // byte offset of the element
  put_move(bench, 9, 0);
  put_param64(bench, 12, 8);
  put_dab(bench, OP_ADD_B64, 8, 8, 12);
}

static uint64_t expected_element(const uint8_t *data, const LoadCase *load, uint32_t at) {
  uint64_t value = 0;
  memcpy(&value, data + at, load->bytes);
  if (load->is_signed && load->bytes < 4) {
    unsigned top = 8 * load->bytes - 1;
    if ((value >> top & 1) != 0) value |= UINT32_MAX & ~((UINT64_C(1) << top) - 1);
  }
  return value;
}

static void run_load(const LoadCase *load, unsigned pattern, uint32_t lanes, bool in_place) {
  static const uint8_t registers[4] = {16, 20, 24, 28};
  Bench *bench = test_malloc(sizeof *bench);
  bench_open(bench);
  bench->kernel.shared_bytes = bench->kernel.stack_bytes = DATA_BYTES;
  uint8_t *data = memory_at(bench->memory, bench->out, TEST_OUT_BYTES);
  for (uint32_t i = 0; i < DATA_BYTES; i++) data[i] = (uint8_t)random_draw(3, i, 0);
  uint32_t unit = load->bytes * load->vector, bias = 16;
  for (uint32_t lane = 0; lane < 32; lane++) {
    uint32_t at = pattern_index(pattern, lane) * unit % (DATA_BYTES - 64);
    memcpy(data + INDEX_AT + 4 * lane, &at, 4);
  }
  bench->environment.const_bank = data;
  if (load->space == SPACE_SHARED) put_copy(bench, OP_ST_SHARED_B32);
  if (load->space == SPACE_LOCAL) put_copy(bench, OP_ST_LOCAL_B32);
  put_address(bench, load);
  put_sreg(bench, 5, SREG_LANEMASK_EQ);
  put_dai(bench, OP_AND_B32, 5, 5, lanes);
  put_setp(bench, OP_SETP_NE_B32, 1, 5, 0);
  put_dab(bench, OP_MOV_B64, 14, 10, REG_ZERO);
  uint8_t address = 8;
  Instr *instr = put_memory(bench, load->op, registers[0], address, bias);
  instr->guard = 1;
  if (in_place) instr->d[0] = address;
  for (unsigned k = 1; k < load->vector; k++) instr->d[k] = registers[k];
  if (load->vector > 1) instr->mods = (uint16_t)((load->vector == 2 ? 1u : 2u) << MOD_VECTOR_SHIFT);
  for (unsigned k = 0; k < load->vector; k++) {
    uint8_t from = k == 0 && in_place ? address : registers[k];
    put_memory(bench, OP_ST_GLOBAL_B32, from, 14, RESULT_AT + 256 * k)->guard = 1;
    if (load->bytes == 8) put_memory(bench, OP_ST_GLOBAL_B32, from + 1u, 14, RESULT_AT + 128 + 256 * k)->guard = 1;
  }
  put_exit(bench);
  bench->program.const_bytes = DATA_BYTES;
  TrapKind kind = bench_run(bench);
  if (kind != TRAP_NONE) fail_msg("%s pattern %u: %s %s", op_info[load->op].text, pattern, trap_info[kind].name, bench->trap.note);
  for (uint32_t i = 0; i < 32 * load->vector; i++) {
    uint32_t lane = i % 32, k = i / 32, at;
    memcpy(&at, data + INDEX_AT + 4 * lane, 4);
    uint64_t expected = expected_element(data, load, at + bias + k * load->bytes), got = bench_out(bench, RESULT_AT / 4 + 64 * k + lane);
    if (load->bytes == 8) got |= (uint64_t)bench_out(bench, RESULT_AT / 4 + 32 + 64 * k + lane) << 32;
    if ((lanes >> lane & 1) == 0) expected = 0;
    if (got != expected) {
      fail_msg("%s vector %u pattern %u lanes %x: lane %u element %u is %llx, not %llx", op_info[load->op].text, load->vector, pattern,
               lanes, lane, k, (unsigned long long)got, (unsigned long long)expected);
    }
  }
  bench_close(bench);
  test_free(bench);
}

static void test_loads(void **state) {
  (void)state;
  const uint32_t lanes[] = {UINT32_MAX, 0x80000001, 0x0FF0F00F, 1};
  for (size_t i = 0; i < COUNT_OF(load_cases); i++) {
    for (unsigned pattern = 0; pattern < PATTERN_COUNT; pattern++) {
      for (size_t k = 0; k < COUNT_OF(lanes); k++) run_load(&load_cases[i], pattern, lanes[k], k % 2 == 0);
    }
  }
}

// Stores of every width by all or some lanes: neighbours keep their bytes; the highest lane wins where lanes meet.
static void test_stores(void **state) {
  (void)state;
  static const struct {
    Op op;
    unsigned bytes;
  } stores[] = {{OP_ST_GLOBAL_B8, 1}, {OP_ST_GLOBAL_B16, 2}, {OP_ST_GLOBAL_B32, 4}, {OP_ST_GLOBAL_B64, 8}, {OP_ST_B32, 4}};
  const uint32_t lanes[] = {UINT32_MAX, 0x55555555};
  for (unsigned n = 0; n < COUNT_OF(stores) * PATTERN_COUNT * 2; n++) {
    unsigned pattern = n / 2 % PATTERN_COUNT, bytes = stores[n / 2 / PATTERN_COUNT].bytes;
    uint32_t active = lanes[n % 2];
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    uint8_t *data = memory_at(bench->memory, bench->out, TEST_OUT_BYTES), expected[4096] = {0};
    for (uint32_t lane = 0; lane < 32; lane++) {
      uint32_t at = pattern_index(pattern, lane) * 2 * bytes;
      memcpy(data + INDEX_AT + 4 * lane, &at, 4);
      uint32_t value[2] = {lane * 0x01010101u + 1, ~lane};
      if ((active >> lane & 1) != 0) memcpy(expected + at, value, bytes);
    }
    put_address(bench, &load_cases[4]);
    put_sreg(bench, 5, SREG_LANEMASK_EQ);
    put_dai(bench, OP_AND_B32, 5, 5, active);
    put_setp(bench, OP_SETP_NE_B32, 1, 5, 0);
    put_sreg(bench, 4, SREG_LANEID);
    put_dai(bench, OP_MUL_LO_B32, 16, 4, 0x01010101);
    put_dai(bench, OP_ADD_B32, 16, 16, 1);
    put_dai(bench, OP_XOR_B32, 17, 4, UINT32_MAX);
    put_memory(bench, stores[n / 2 / PATTERN_COUNT].op, 16, 8, 0)->guard = 1;
    put_exit(bench);
    assert_int_equal(bench_run(bench), TRAP_NONE);
    assert_memory_equal(data, expected, sizeof expected);
    bench_close(bench);
    test_free(bench);
  }
}

// All lanes add to few counters; each old value is seen once, in the order of lanes.
static void test_atomic_collisions(void **state) {
  (void)state;
  for (uint32_t counters = 1; counters <= 32; counters *= 2) {
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    put_prologue(bench);
    put_dai(bench, OP_AND_B32, 8, 4, counters - 1);
    put_dai(bench, OP_SHL_B32, 8, 8, 2);
    put_dab(bench, OP_CVT_U64_U32, 8, 8, REG_ZERO);
    put_param64(bench, 10, 0);
    put_dab(bench, OP_ADD_B64, 8, 8, 10);
    put_move(bench, 12, 3);
    put_dab(bench, OP_ATOM_ADD_U32, 12, 8, 12)->imm = 4096; // the result replaces the operand
    put_result(bench, 12);
    put_exit(bench);
    assert_int_equal(bench_run(bench), TRAP_NONE);
    for (uint32_t lane = 0; lane < 32; lane++) assert_int_equal(bench_out(bench, lane), lane / counters * 3);
    for (uint32_t i = 0; i < counters; i++) assert_int_equal(bench_out(bench, 1024 + i), 32 / counters * 3);
    assert_int_equal(bench->stats.value[STAT_ATOMICS], 1);
    bench_close(bench);
    test_free(bench);
  }
}

static void test_special_registers(void **state) {
  (void)state;
  static const struct {
    uint32_t number, expected; // of lane 5 in warp 1 of block (1, 2, 0)
  } cases[] = {
      {SREG_TID_X, 1},
      {SREG_TID_Y, 1},
      {SREG_TID_Z, 1},
      {SREG_NTID_X, 4},
      {SREG_NTID_Y, 8},
      {SREG_NTID_Z, 2},
      {SREG_CTAID_X, 1},
      {SREG_CTAID_Y, 2},
      {SREG_CTAID_Z, 0},
      {SREG_NCTAID_X, 2},
      {SREG_NCTAID_Y, 3},
      {SREG_NCTAID_Z, 1},
      {SREG_LANEID, 5},
      {SREG_WARPID, 1},
      {SREG_SMID, 5 % 4},
      {SREG_NSMID, 4},
      {SREG_GRIDID, 1},
      {SREG_LANEMASK_EQ, 32},
      {SREG_LANEMASK_LE, 63},
      {SREG_LANEMASK_LT, 31},
      {SREG_LANEMASK_GE, 0xFFFFFFE0},
      {SREG_LANEMASK_GT, 0xFFFFFFC0},
      {SREG_ZERO, 0},
      {SREG_DYNAMIC_SMEM_SIZE, 64},
      {SREG_TOTAL_SMEM_SIZE, 64},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Bench *bench = test_malloc(sizeof *bench);
    bench_open(bench);
    memcpy(bench->launch.block, (uint32_t[]){4, 8, 2}, 12);
    memcpy(bench->launch.grid, (uint32_t[]){2, 3, 1}, 12);
    bench->launch.dynamic_shared_bytes = 64;
    put_sreg(bench, 4, SREG_LANEID);
    put_sreg(bench, 5, SREG_WARPID);
    put_dai(bench, OP_SHL_B32, 5, 5, 5);
    put_dab(bench, OP_ADD_B32, 4, 4, 5);
    put_sreg(bench, 5, SREG_CTAID_Y);
    put_dai(bench, OP_SHL_B32, 5, 5, 1);
    put_sreg(bench, 6, SREG_CTAID_X);
    put_dab(bench, OP_ADD_B32, 5, 5, 6);
    put_dai(bench, OP_SHL_B32, 5, 5, 6);
    put_dab(bench, OP_ADD_B32, 4, 4, 5);
    put_dai(bench, OP_SHL_B32, 4, 4, 2);
    put_dab(bench, OP_CVT_U64_U32, 6, 4, REG_ZERO);
    put_param64(bench, 2, 0);
    put_dab(bench, OP_ADD_B64, 2, 2, 6);
    put_sreg(bench, 8, cases[i].number);
    put_result(bench, 8);
    put_exit(bench);
    assert_int_equal(bench_run(bench), TRAP_NONE);
    uint32_t got = bench_out(bench, (2 * 2 + 1) * 64 + 32 + 5);
    if (got != cases[i].expected) fail_msg("%s is %u, not %u", sreg_info[cases[i].number].text, got, cases[i].expected);
    bench_close(bench);
    test_free(bench);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads),
      cmocka_unit_test(test_stores),
      cmocka_unit_test(test_atomic_collisions),
      cmocka_unit_test(test_special_registers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
