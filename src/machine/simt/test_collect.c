// Operand collectors: bank conflicts, order of service, what is read and what is told.
#include "machine/simt/test_pipe.h"

static const uint8_t move_dabc[4] = {1, 2, REG_ZERO, REG_ZERO};

// n instructions whose sources lie in one bank take n cycles to collect; in different banks, one.
static void conflicts_cost_a_cycle_each(void **state) {
  (void)state;
  for (uint32_t n = 1; n <= 8; n++) {
    for (uint32_t same = 0; same < 2; same++) {
      Pipe pipe;
      pipe_open(&pipe);
      pipe.spec.collector_units = 8;
      pipe.spec.collector_banks = 16;
      pipe_build(&pipe);
      for (uint32_t i = 0; i < n; i++) {
        uint8_t source = (uint8_t)(same ? 16 * (i % 4) : i); // 64 registers a warp: every warp begins in bank 0
        uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){40, source, REG_ZERO, REG_ZERO});
        pipe_issue(&pipe, pc, i, UINT32_MAX);
      }
      uint32_t cycles = 0;
      for (; pipe.m.at.sms[0].collect_pending != 0; cycles++) {
        pipe.m.at.core->cycle++;
        collect_cycle(&pipe.m, 0);
      }
      assert_int_equal(cycles, same ? n : 1);
      assert_int_equal(pipe_stat(&pipe, STAT_REGISTER_READS), n);
      assert_int_equal(pipe_stat(&pipe, STAT_REGISTER_CONFLICTS), same ? n * (n - 1) / 2 : 0);
      pipe_close(&pipe);
    }
  }
}

// Sixteen banks; an instruction for each of four warps, which reads one register, the same for all.
static void layouts_say_which_warps_meet(void **state) {
  (void)state;
  const struct {
    BankLayout layout;
    uint32_t schedulers, rows, cycles;
  } cases[] = {
      {BANKS_BY_ROW, 2, 1, 4},      {BANKS_BY_ROW, 2, 2, 2},      {BANKS_BY_WARP, 2, 1, 1},
      {BANKS_OF_SUBCORES, 2, 1, 2}, {BANKS_OF_SUBCORES, 2, 2, 1}, {BANKS_OF_SUBCORES, 4, 1, 1},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe.spec.collector_units = 8;
    pipe.spec.collector_banks = 16;
    pipe.spec.collector_layout = cases[i].layout;
    pipe.spec.collector_rows = cases[i].rows;
    pipe.spec.sm_schedulers = cases[i].schedulers;
    pipe_build(&pipe);
    uint32_t cycles = 0;
    for (uint32_t warp = 0; warp < 4; warp++) pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MOV_B32, move_dabc), warp, UINT32_MAX);
    for (; pipe.m.at.sms[0].collect_pending != 0; cycles++) {
      pipe.m.at.core->cycle++;
      collect_cycle(&pipe.m, 0);
    }
    assert_int_equal(cycles, cases[i].cycles);
    pipe_close(&pipe);
  }
}

// The operands of one instruction compete as well.
static void operands_of_one_instruction_conflict(void **state) {
  (void)state;
  const uint8_t registers[][4] = {{1, 2, 3, 4}, {1, 2, 18, 4}, {1, 2, 18, 34}, {1, 2, 2, 3}, {1, REG_ZERO, REG_ZERO, 2}};
  const uint32_t cycles[] = {1, 2, 3, 2, 1};
  for (uint32_t i = 0; i < COUNT_OF(cycles); i++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe_build(&pipe);
    pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MAD_LO_B32, registers[i]), 0, UINT32_MAX);
    for (uint32_t k = 0; k < cycles[i]; k++) {
      assert_int_not_equal(pipe.m.at.sms[0].collect_pending, 0);
      pipe_step(&pipe);
    }
    assert_int_equal(pipe.m.at.sms[0].collect_pending, 0);
    pipe_close(&pipe);
  }
}

// A collector that takes one operand a cycle needs a cycle for each, however free the banks are, and one for a pair of registers. Others are
// served in the same cycles.
static void collectors_may_take_an_operand_at_a_time(void **state) {
  (void)state;
  for (uint32_t most = 0; most <= 3; most++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe.spec.collector_operands = most;
    pipe_build(&pipe);
    pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MAD_LO_B32, (const uint8_t[]){1, 2, 3, 4}), 0, UINT32_MAX);
    pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MAD_LO_B32, (const uint8_t[]){1, 5, 6, 7}), 0, UINT32_MAX);
    uint32_t cycles = 0;
    for (; pipe.m.at.sms[0].collect_pending != 0; cycles++) {
      pipe.m.at.core->cycle++;
      collect_cycle(&pipe.m, 0);
    }
    assert_int_equal(cycles, most == 0 ? 1 : (3 + most - 1) / most);
    pipe_drain(&pipe);
    pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_ADD_B64, (const uint8_t[]){2, 4, 6, REG_ZERO}), 0, UINT32_MAX);
    for (cycles = 0; pipe.m.at.sms[0].collect_pending != 0; cycles++) pipe_step(&pipe);
    assert_int_equal(cycles, most == 1 ? 2 : 1);
    pipe_close(&pipe);
  }
}

// Whoever lost the bank is first in the next cycle: with three collectors on one bank each waits at most three cycles.
static void banks_are_given_in_turn(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.collector_units = 4;
  pipe.spec.collector_banks = 1;
  pipe.spec.sm_sps = 4;
  pipe_build(&pipe);
  uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, move_dabc);
  for (uint32_t warp = 0; warp < 3; warp++) pipe_issue(&pipe, pc, warp, UINT32_MAX);
  for (uint32_t i = 0; i < 30; i++) {
    uint64_t before = pipe.m.at.sms[0].collect_pending;
    collect_cycle(&pipe.m, 0);
    uint64_t served = before & ~pipe.m.at.sms[0].collect_pending;
    assert_int_equal(served, UINT64_C(1) << i % 3);
    Collector *collector = collector_at(&pipe.m, 0, i % 3); // it comes back at once
    collector->pending = 1;
    pipe.m.at.sms[0].collect_pending |= served;
  }
  pipe_close(&pipe);
}

static void a_full_set_of_collectors_has_no_room(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.collector_units = 3;
  pipe.spec.sm_sps = 1;
  pipe_build(&pipe);
  uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, move_dabc);
  for (uint32_t i = 0; i < 3; i++) {
    assert_true(collect_has_room(&pipe.m, 0, &pipe.decoded[pc]));
    pipe_issue(&pipe, pc, i, UINT32_MAX);
  }
  assert_false(collect_has_room(&pipe.m, 0, &pipe.decoded[pc]));
  pipe_step(&pipe);
  assert_false(collect_has_room(&pipe.m, 0, &pipe.decoded[pc]));
  pipe_step(&pipe); // one goes to the SP
  assert_true(collect_has_room(&pipe.m, 0, &pipe.decoded[pc]));
  pipe_close(&pipe);
}

// Loads have two of eight collectors: a third waits, arithmetic goes on.
static void classes_have_collectors_of_their_own(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.collector_units = 8;
  pipe.spec.collector_memory = 2;
  pipe.spec.collector_sp = 3;
  pipe_build(&pipe);
  uint32_t load = pipe_put_dabc(&pipe, OP_LD_SHARED_B32, move_dabc), move = pipe_put_dabc(&pipe, OP_MOV_B32, move_dabc);
  uint32_t sine = pipe_put_dabc(&pipe, OP_SIN_APPROX_F32, move_dabc);
  for (uint32_t i = 0; i < 2; i++) pipe_issue(&pipe, load, i, UINT32_MAX);
  assert_false(collect_has_room(&pipe.m, 0, &pipe.decoded[load]));
  for (uint32_t i = 0; i < 3; i++) {
    assert_true(collect_has_room(&pipe.m, 0, &pipe.decoded[move]));
    pipe_issue(&pipe, move, i, UINT32_MAX);
  }
  assert_false(collect_has_room(&pipe.m, 0, &pipe.decoded[move]));
  assert_true(collect_has_room(&pipe.m, 0, &pipe.decoded[sine]));
  pipe_close(&pipe);
}

typedef struct Told {
  uint32_t reads, writes;
  CellEvent last_read, last_write;
} Told;
static Verdict tell_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Told *told = hook->own;
  told->reads++;
  told->last_read = *event;
  return VERDICT_PASS;
}
static Verdict tell_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Told *told = hook->own;
  told->writes++;
  told->last_write = *event;
  return VERDICT_PASS;
}

static void accesses_are_told_with_their_lanes(void **state) {
  (void)state;
  Pipe pipe;
  Told told = {0};
  Hook hook = {.name = "told", .kind = HOOK_OBSERVER, .own = &told, .read = tell_read, .write = tell_write};
  pipe_open(&pipe);
  pipe_build(&pipe);
  pipe_hook(&pipe, &hook);
  pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MOV_B32, move_dabc), 3, 0x00FF0010);
  pipe_drain(&pipe);
  assert_int_equal(told.reads, 1);
  assert_int_equal(told.last_read.region, REGION_RF);
  assert_int_equal(told.last_read.row, 3 * PIPE_REGISTERS + 2);
  assert_int_equal(told.last_read.units, 0x00FF0010);
  assert_ptr_equal(told.last_read.data, pipe_register(&pipe, 3, 2));
  assert_int_equal(told.writes, 1);
  assert_int_equal(told.last_write.row, 3 * PIPE_REGISTERS + 1);
  assert_int_equal(told.last_write.units, 0x00FF0010);
  // A warp-wide instruction may take the value of any lane.
  Instr shuffle = instr_rest(OP_SHFL_SYNC_IDX_B32);
  shuffle.d[0] = 4, shuffle.a = 2, shuffle.b = REG_ZERO, shuffle.mods = MOD_FULL_MASK;
  pipe_issue(&pipe, pipe_put(&pipe, &shuffle), 0, 1);
  pipe_drain(&pipe);
  assert_int_equal(told.reads, 2);
  assert_int_equal(told.last_read.units, UINT32_MAX);
  // A predicate is one cell for all lanes: writing some of them reads it first.
  Instr compare = instr_rest(OP_SETP_EQ_B32);
  compare.a = compare.b = REG_ZERO, compare.pd[0] = 5;
  uint32_t pc = pipe_put(&pipe, &compare);
  pipe_issue(&pipe, pc, 1, 0xF);
  pipe_drain(&pipe);
  assert_int_equal(told.reads, 3);
  assert_int_equal(told.last_read.region, REGION_PREDICATES);
  assert_int_equal(told.last_read.row, 1);
  assert_int_equal(told.last_write.units, 1u << 5);
  assert_int_equal(simt_warp(&pipe.m, 0, 1)->warp.predicates[5], 0xF);
  pipe_issue(&pipe, pc, 1, UINT32_MAX);
  pipe_drain(&pipe);
  assert_int_equal(told.reads, 3);
  pipe_close(&pipe);
}

static void lists_close_up(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= SIMT_FLIGHTS; count++) {
    for (uint32_t place = 0; place < count; place++) {
      uint8_t list[SIMT_FLIGHTS + 1] = {0}; // and one behind it that stays
      for (uint32_t i = 0; i < count; i++) list[i] = (uint8_t)(i + 1);
      list[SIMT_FLIGHTS] = 99;
      list_remove(list, count, place);
      for (uint32_t i = 0; i < SIMT_FLIGHTS; i++) assert_int_equal(list[i], i >= count - 1 ? 0 : i < place ? i + 1 : i + 2);
      assert_int_equal(list[SIMT_FLIGHTS], 99);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conflicts_cost_a_cycle_each),
      cmocka_unit_test(layouts_say_which_warps_meet),
      cmocka_unit_test(operands_of_one_instruction_conflict),
      cmocka_unit_test(collectors_may_take_an_operand_at_a_time),
      cmocka_unit_test(banks_are_given_in_turn),
      cmocka_unit_test(lists_close_up),
      cmocka_unit_test(a_full_set_of_collectors_has_no_room),
      cmocka_unit_test(classes_have_collectors_of_their_own),
      cmocka_unit_test(accesses_are_told_with_their_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
