// Times of the memory pipeline to the cycle: hits, bank conflicts, full caches, miss registers and queues at N - 1 and N.
#include "machine/simt/test_bed.h"

enum { ADDRESS = 2, SHARED = 20, HIT = 10, CONSTANT_HIT = 5, FAR = 200 };

static void open_timed(Bed *bed) {
  bed_open(bed, 1);
  Spec *spec = &bed->pipe.spec;
  spec->latency_address = ADDRESS;
  spec->latency_shared = SHARED;
  spec->l1d_latency = HIT;
  spec->constant_latency = CONSTANT_HIT;
  spec->interval_ldst = 1;
  bed->delay = FAR;
}

// A load of register 16 + number from addresses in registers 0 and 1, or a store of register 2.
static uint32_t put(Bed *bed, Op op, uint32_t number) {
  Instr instr = instr_rest(op);
  instr.a = 0;
  instr.d[0] = (uint8_t)(op_info[op].kind == KIND_STORE ? 2 : 16 + number);
  if (op_info[op].b != TYPE_none) instr.b = 2;
  return pipe_put(&bed->pipe, &instr);
}

static void set_lanes(Bed *bed, uint32_t warp, uint64_t first, uint64_t stride) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint64_t at = first + stride * lane;
    bed->registers[warp][0][lane] = (uint32_t)at;
    bed->registers[warp][1][lane] = (uint32_t)(at >> 32);
  }
}

static bool is_under_way(const Bed *bed) { return (bed->pipe.m.at.sms[0].memory_used[0] | bed->pipe.m.at.sms[0].memory_used[1]) != 0; }

// Cycles until every instruction has written back.
static uint32_t time_of(Bed *bed) {
  uint32_t cycles = 0;
  while (is_under_way(bed)) {
    assert_true(cycles < 5000);
    bed_step(bed);
    cycles++;
  }
  return cycles;
}

// ---- Shared memory ---------------------------------------------------------------------------------------

static void test_shared_conflicts(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= WARP_LANES; n++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.sm_shared = 16384;
    bed_build(&bed);
    bed.pipe.m.layout.shared_bytes = 8192;
    uint32_t pc = put(&bed, OP_LD_SHARED_B32, 0);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) bed.registers[0][0][lane] = lane < n ? 128 * lane : 4;
    take(&bed, 0, pc, UINT32_MAX);
    assert_int_equal(time_of(&bed), SHARED + n - 1);
    assert_int_equal(pipe_stat(&bed.pipe, STAT_SHARED_CONFLICTS), n - 1);
    bed_close(&bed);
  }
}

// The unit is taken by the passes of the first: the second follows them.
static void test_shared_follows(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  uint32_t pc = put(&bed, OP_LD_SHARED_B32, 0), other = put(&bed, OP_LD_SHARED_B32, 1);
  set_lanes(&bed, 0, 0, 8); // two passes
  set_lanes(&bed, 1, 0, 4);
  take(&bed, 0, pc, UINT32_MAX);
  take(&bed, 1, other, UINT32_MAX);
  assert_int_equal(time_of(&bed), SHARED + 2);
  bed_close(&bed);
}

// Atomics on one word: a pass per lane, in order of lanes.
static void test_shared_atomics(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  uint32_t pc = put(&bed, OP_ATOM_SHARED_ADD_U32, 0);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) bed.registers[0][2][lane] = 1;
  take(&bed, 0, pc, 0xFF);
  assert_int_equal(time_of(&bed), SHARED + 8 - 1);
  for (unsigned lane = 0; lane < 8; lane++) assert_int_equal(pipe_register(&bed.pipe, 0, 16)[lane], lane);
  assert_int_equal(bed.pipe.m.at.shared[0].word[0], 8);
  bed_close(&bed);
}

// ---- L1 data cache -----------------------------------------------------------------------------------------

static void load_line(Bed *bed, uint32_t pc, uint32_t line) {
  set_lanes(bed, 0, bed->buffer + 128 * line, 4);
  take(bed, 0, pc, UINT32_MAX);
}

// A miss takes its way to memory and back, and what the cache needs to know of it. A hit does not change.
static void test_late_tags(void **state) {
  (void)state;
  uint32_t missed[2], hit[2];
  for (uint32_t late = 0; late < 2; late++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.l1d_lookup = 34 * late;
    bed_build(&bed);
    uint32_t pc = put(&bed, OP_LD_GLOBAL_B32, 0);
    load_line(&bed, pc, 0);
    missed[late] = time_of(&bed);
    load_line(&bed, pc, 0);
    hit[late] = time_of(&bed);
    bed_close(&bed);
  }
  assert_int_equal(missed[1], missed[0] + 34);
  assert_int_equal(hit[1], hit[0]);
}

// A load of eight lines makes a request a cycle. As long as it does, a unit for one such instruction begins no other, and a unit for two does.
static void test_queue_of_requests(void **state) {
  (void)state;
  for (uint32_t queue = 0; queue <= 2; queue++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.ldst_queue = queue;
    bed.pipe.spec.l1d_mshrs = 64;
    bed_build(&bed);
    uint32_t pc = put(&bed, OP_LD_GLOBAL_B32, 0);
    assert_true(ldst_can_begin(&bed.pipe.m, 0));
    set_lanes(&bed, 0, bed.buffer, 128);
    take(&bed, 0, pc, 0xFF);
    uint32_t cycles = 0;
    while (!ldst_can_begin(&bed.pipe.m, 0)) {
      assert_true(cycles++ < 1000);
      assert_true(ldst_has_room(&bed.pipe.m, 0)); // others may be issued and wait in collectors
      bed_step(&bed);
    }
    assert_int_equal(cycles, queue == 1 ? ADDRESS + 8 - 1 : 0);
    bed_drain(&bed);
    bed_close(&bed);
  }
}

static void test_hit_and_miss(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  uint32_t pc = put(&bed, OP_LD_GLOBAL_B32, 0);
  load_line(&bed, pc, 0);
  // Asked for at ADDRESS, carried out in the same cycle here, and written back in the cycle of the reply.
  assert_int_equal(time_of(&bed), ADDRESS + FAR);
  load_line(&bed, pc, 0);
  assert_int_equal(time_of(&bed), ADDRESS + HIT);
  assert_int_equal(pipe_stat(&bed.pipe, STAT_L1D_ACCESSES), 2);
  assert_int_equal(pipe_stat(&bed.pipe, STAT_L1D_MISSES), 1);
  bed_close(&bed);
}

// As many lines as ways stay; one more throws the oldest out.
static void test_ways(void **state) {
  (void)state;
  for (uint32_t lines = 3; lines <= 5; lines++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.l1d_bytes = 512;
    bed.pipe.spec.l1d_ways = 4;
    bed_build(&bed);
    uint32_t pc = put(&bed, OP_LD_GLOBAL_B32, 0);
    for (uint32_t i = 0; i < lines; i++) {
      load_line(&bed, pc, i);
      time_of(&bed);
    }
    load_line(&bed, pc, 0);
    assert_int_equal(time_of(&bed), lines <= 4 ? ADDRESS + HIT : ADDRESS + FAR);
    bed_close(&bed);
  }
}

// Misses beyond the miss registers wait for the first reply.
static void test_miss_registers(void **state) {
  (void)state;
  for (uint32_t misses = 3; misses <= 5; misses++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.l1d_mshrs = 4;
    bed_build(&bed);
    for (uint32_t i = 0; i < misses; i++) load_line(&bed, put(&bed, OP_LD_GLOBAL_B32, i), i);
    // One request a cycle from ADDRESS on; the fifth goes when the first reply has made room.
    assert_int_equal(time_of(&bed), misses <= 4 ? ADDRESS + misses - 1 + FAR : ADDRESS + 2 * FAR);
    assert_int_equal(pipe_stat(&bed.pipe, STAT_L1D_STALLS), misses <= 4 ? 0 : FAR - 4);
    bed_close(&bed);
  }
}

// Loads of a line under way join its miss, up to a limit.
static void test_merging(void **state) {
  (void)state;
  for (uint32_t loads = 2; loads <= 4; loads++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.l1d_merge = 3;
    bed_build(&bed);
    for (uint32_t i = 0; i < loads; i++) load_line(&bed, put(&bed, OP_LD_GLOBAL_B32, i), 0);
    time_of(&bed);
    assert_int_equal(bed.reads, 1);
    assert_int_equal(pipe_stat(&bed.pipe, STAT_L1D_MERGED), min_u32(loads, 3) - 1);
    assert_int_equal(pipe_stat(&bed.pipe, STAT_L1D_MISSES), min_u32(loads, 3)); // the fourth finds the line when it has come
    bed_close(&bed);
  }
}

// A store past the cache throws the line out, one to another line does not.
static void test_write_evicts(void **state) {
  (void)state;
  for (uint32_t line = 0; line < 2; line++) {
    Bed bed;
    open_timed(&bed);
    bed_build(&bed);
    uint32_t load = put(&bed, OP_LD_GLOBAL_B32, 0), store = put(&bed, OP_ST_GLOBAL_B32, 0);
    load_line(&bed, load, 0);
    time_of(&bed);
    load_line(&bed, store, line);
    time_of(&bed);
    load_line(&bed, load, 0);
    assert_int_equal(time_of(&bed), line == 0 ? ADDRESS + FAR : ADDRESS + HIT);
    bed_close(&bed);
  }
}

// Local memory: a store needs no memory at all, and what it wrote is found.
static void test_local_stays(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  uint32_t store = put(&bed, OP_ST_LOCAL_B32, 0), load = put(&bed, OP_LD_LOCAL_B32, 0);
  set_lanes(&bed, 0, 8, 0);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) bed.registers[0][2][lane] = 100 + lane;
  take(&bed, 0, store, UINT32_MAX);
  assert_int_equal(time_of(&bed), ADDRESS);
  take(&bed, 0, load, UINT32_MAX);
  assert_int_equal(time_of(&bed), ADDRESS + HIT);
  assert_int_equal(bed.reads, 0);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(pipe_register(&bed.pipe, 0, 16)[lane], 100 + lane);
  bed_close(&bed);
}

// ---- Queue, constants, order -------------------------------------------------------------------------------

// Packets beyond the queue wait until memory takes one.
static void test_full_queue(void **state) {
  (void)state;
  for (uint32_t stores = 3; stores <= 5; stores++) {
    Bed bed;
    open_timed(&bed);
    bed.pipe.spec.ldst_out = 4;
    bed_build(&bed);
    bed.stops = true;
    uint32_t pc = put(&bed, OP_ST_GLOBAL_B32, 0);
    for (uint32_t i = 0; i < stores; i++) load_line(&bed, pc, i);
    for (uint32_t i = 0; i < 50; i++) bed_step(&bed);
    assert_int_equal(is_under_way(&bed), stores > 4);
    assert_int_equal(simt_warp(&bed.pipe.m, 0, 0)->stores, min_u32(stores, 4));
    bed.stops = false;
    bed_drain(&bed);
    assert_int_equal(simt_warp(&bed.pipe.m, 0, 0)->stores, 0);
    bed_close(&bed);
  }
}

// Lanes with n different addresses in constant memory take n cycles.
static void test_constants(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= 32; n *= 2) {
    Bed bed;
    open_timed(&bed);
    bed_build(&bed);
    uint32_t pc = put(&bed, OP_LD_CONST_B32, 0);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) bed.registers[0][0][lane] = lane % n * 4;
    take(&bed, 0, pc, UINT32_MAX);
    time_of(&bed);
    take(&bed, 0, pc, UINT32_MAX);
    assert_int_equal(time_of(&bed), ADDRESS + n - 1 + CONSTANT_HIT);
    bed_close(&bed);
  }
}

// An operand's line is asked for once and the warp waits for it.
static void test_constant_operand(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  Simt *m = &bed.pipe.m;
  uint32_t expected;
  memcpy(&expected, bed.bank + 132, 4);
  assert_false(constant_ready(m, 0, 3, BANK_CONST, 132, 4));
  assert_int_equal(simt_warp(m, 0, 3)->waits_constant, 1);
  for (uint32_t i = 0; i < FAR; i++) bed_step(&bed);
  assert_false(constant_ready(m, 0, 3, BANK_CONST, 132, 4));
  bed_step(&bed);
  assert_int_equal(simt_warp(m, 0, 3)->waits_constant, 0);
  assert_true(constant_ready(m, 0, 3, BANK_CONST, 132, 4));
  assert_int_equal(constant_value(m, 0, BANK_CONST, 132, 4), expected);
  assert_int_equal(bed.reads, 1);
  // Past the end of the bank there are zeros; a bank that does not exist needs no line.
  assert_true(constant_ready(m, 0, 3, 9, 0, 4));
  assert_int_equal(constant_value(m, 0, 9, 0, 4), 0);
  bed_close(&bed);
}

// A release waits until memory has acknowledged the stores before it.
static void test_release_waits(void **state) {
  (void)state;
  Bed bed;
  open_timed(&bed);
  bed_build(&bed);
  uint32_t store = put(&bed, OP_ST_GLOBAL_B32, 0);
  Instr instr = bed.pipe.decoded[store];
  instr.mods |= MOD_VOLATILE | MOD_ORDERED;
  uint32_t release = pipe_put(&bed.pipe, &instr);
  load_line(&bed, store, 0);
  load_line(&bed, release, 1);
  assert_int_equal(time_of(&bed), ADDRESS + FAR);
  bed_drain(&bed);
  bed_close(&bed);
}

// Faults are those of the functional machine.
static void test_faults(void **state) {
  (void)state;
  const struct {
    Op op;
    uint64_t address;
    TrapKind kind;
  } cases[] = {
      {OP_LD_GLOBAL_B32, 2, TRAP_MISALIGNED},
      {OP_LD_GLOBAL_B32, GLOBAL_BYTES, TRAP_ILLEGAL_ADDRESS},
      {OP_ST_GLOBAL_B32, GLOBAL_BYTES - 4, TRAP_NONE},
      {OP_ATOM_GLOBAL_ADD_U64, 4, TRAP_MISALIGNED},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Bed bed;
    open_timed(&bed);
    bed_build(&bed);
    set_lanes(&bed, 0, bed.buffer + cases[i].address, 0);
    take(&bed, 0, put(&bed, cases[i].op, 0), 1u << 5);
    assert_int_equal(bed.pipe.m.at.core->trapped, cases[i].kind);
    bed_close(&bed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_conflicts),
      cmocka_unit_test(test_shared_follows),
      cmocka_unit_test(test_shared_atomics),
      cmocka_unit_test(test_late_tags),
      cmocka_unit_test(test_queue_of_requests),
      cmocka_unit_test(test_hit_and_miss),
      cmocka_unit_test(test_ways),
      cmocka_unit_test(test_miss_registers),
      cmocka_unit_test(test_merging),
      cmocka_unit_test(test_write_evicts),
      cmocka_unit_test(test_local_stays),
      cmocka_unit_test(test_full_queue),
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_constant_operand),
      cmocka_unit_test(test_release_waits),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
