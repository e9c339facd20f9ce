// Units and write-back: results of every row, latency and interval of every unit, ports, hooks, lane maps, large warps, faults.
#include "machine/simt/part.h"
#include "machine/simt/test_pipe.h"

// ---- Results -----------------------------------------------------------------------------------------

typedef struct Reference {
  uint32_t registers[PIPE_REGISTERS][WARP_LANES];
  uint32_t predicates[PREDICATE_SLOTS];
} Reference;

static uint64_t drawn(uint64_t *draws) { return random_draw(7, 0, (*draws)++); }

// A source row of the reference, as the functional machine would point at it.
static const uint32_t *reference_row(const Reference *at, const Instr *instr, unsigned operand, uint32_t constant[2][WARP_LANES]) {
  static const uint32_t zeros[8][WARP_LANES];
  uint8_t number = operand_register(instr, operand);
  if (operand == operand_full_mask(instr)) {
    memset(constant, 0xFF, WARP_LANES * 4);
    return constant[0];
  }
  if (operand == operand_selected(instr)) {
    uint64_t value = imm_value(operand_type(&op_info[instr->op], operand), instr->imm);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(constant[0], lane, 2, value);
    return constant[0];
  }
  return number == REG_ZERO || operand_type(&op_info[instr->op], operand) == TYPE_pred ? zeros[0] : at->registers[number];
}

static void reference_run(Reference *at, const Instr *instr, const Uop *uop) {
  uint32_t a[2][WARP_LANES], b[2][WARP_LANES], c[2][WARP_LANES];
  LaneOp op = {.d = at->registers[instr->d[0] % PIPE_REGISTERS],
               .a = reference_row(at, instr, OPERAND_A, a),
               .b = reference_row(at, instr, OPERAND_B, b),
               .c = reference_row(at, instr, OPERAND_C, c),
               .active = uop->mask,
               .ps = uop->ps,
               .pa = uop->pa,
               .mods = instr->mods,
               .imm = instr->imm};
  uint8_t pd[2];
  for (unsigned k = 0; k < 2; k++) pd[k] = instr->pd[k] == PRED_TRUE ? PREDICATE_SINK : instr->pd[k], op.pd[k] = at->predicates[pd[k]];
  lane_functions()[instr->op](&op);
  for (unsigned k = 0; k < 2; k++) at->predicates[pd[k]] = op.pd[k];
}

static uint8_t random_register(uint64_t *draws) { return (uint8_t)(2 * random_below(drawn(draws), PIPE_REGISTERS / 2 - 4)); }

// Some legal instruction of the row, with registers, an immediate now and then, and modifiers. False: not found.
static bool random_instr(Op op, uint64_t *draws, Instr *instr) {
  const OpInfo *info = &op_info[op];
  OperandUse uses[MAX_OPERANDS];
  for (unsigned tries = 0; tries < 50; tries++) {
    *instr = instr_rest(op);
    instr->mods = (uint16_t)(drawn(draws) & op_legal_mods(op));
    unsigned count = op_operands(op, instr->mods, SELECT_REGISTERS, uses);
    for (unsigned i = 0; i < count; i++) {
      unsigned operand = uses[i].operand;
      uint8_t number = random_register(draws), predicate = (uint8_t)random_below(drawn(draws), MAX_PREDICATES + 1);
      if (operand < OPERAND_A) instr->d[operand] = number;
      if (operand == OPERAND_A) instr->a = uses[i].predicate ? predicate : number;
      if (operand == OPERAND_B) instr->b = number;
      if (operand == OPERAND_C) instr->c = number;
      if (operand == OPERAND_PD || operand == OPERAND_PD + 1) instr->pd[operand - OPERAND_PD] = predicate;
      if (operand == OPERAND_PS) instr->ps = predicate, instr->ps_negated = drawn(draws) % 2 != 0;
    }
    if ((info->flags & IT_IMM) != 0 || info->kind == KIND_MATRIX) instr->imm = (uint32_t)drawn(draws);
    unsigned operand = (unsigned)random_below(drawn(draws), 6);
    if (operand < 3 && instr->imm == 0) {
      instr->select = (uint8_t)(SELECT_IMM_A + operand), instr->imm = (uint32_t)drawn(draws);
      *(operand == 0 ? &instr->a : operand == 1 ? &instr->b : &instr->c) = REG_ZERO;
    }
    Instr decoded;
    if (instr_decode(instr_encode(instr), &decoded) && memcmp(&decoded, instr, sizeof decoded) == 0) return true;
  }
  return false;
}

static void check_row(Pipe *pipe, Op op, uint64_t *draws) {
  Instr instr;
  assert_true(random_instr(op, draws, &instr));
  pipe->program.code_count = 0;
  uint32_t pc = pipe_put(pipe, &instr), warp = (uint32_t)random_below(drawn(draws), pipe->m.dims.warps);
  uint32_t mask = drawn(draws) % 2 != 0 ? UINT32_MAX : (uint32_t)drawn(draws) | 1;
  SimtWarp *at = simt_warp(&pipe->m, 0, warp);
  Reference reference;
  for (unsigned i = 0; i < PIPE_REGISTERS * WARP_LANES; i++) pipe_register(pipe, warp, 0)[i] = (uint32_t)drawn(draws);
  for (unsigned i = 0; i < MAX_PREDICATES; i++) at->warp.predicates[i] = (uint32_t)drawn(draws);
  memcpy(reference.registers, pipe_register(pipe, warp, 0), sizeof reference.registers);
  memcpy(reference.predicates, at->warp.predicates, sizeof reference.predicates);
  Uop uop = pipe_uop(pipe, pc, warp, mask);
  reference_run(&reference, &instr, &uop);
  pipe_take(pipe, &uop);
  pipe_drain(pipe);
  if (memcmp(reference.registers, pipe_register(pipe, warp, 0), sizeof reference.registers) != 0) fail_msg("%s", op_info[op].id);
  if (memcmp(reference.predicates, at->warp.predicates, MAX_PREDICATES * 4) != 0) fail_msg("%s: predicates", op_info[op].id);
  const Scoreboard free = {0};
  assert_memory_equal(simt_scoreboard(&pipe->m, 0, warp), &free, sizeof free);
}

static void every_row_gives_what_its_function_does(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe_build(&pipe);
  uint64_t draws = 0;
  uint32_t rows = 0;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    Instr instr = instr_rest((Op)op);
    Port port = port_of(&instr);
    if (port >= PORT_LDST || op_info[op].kind == KIND_SREG) continue;
    for (unsigned i = 0; i < 6; i++) check_row(&pipe, (Op)op, &draws);
    rows++;
  }
  assert_true(rows > 500);
  // Nothing is left behind: collectors and latches are as they were at the start.
  const Simt *m = &pipe.m;
  for (size_t i = 0; i < m->dims.collectors * sizeof(Collector); i++) assert_int_equal(((uint8_t *)m->at.collectors)[i], 0);
  for (size_t i = 0; i < SIMT_FLIGHTS * sizeof(Flight); i++) assert_int_equal(((uint8_t *)m->at.flights)[i], 0);
  pipe_close(&pipe);
}

static void special_registers_are_those_of_the_warp(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe_build(&pipe);
  Instr instr = instr_rest(OP_S2R);
  instr.d[0] = 3, instr.imm = SREG_TID_X;
  pipe_issue(&pipe, pipe_put(&pipe, &instr), 5, UINT32_MAX);
  instr.imm = SREG_CLOCK;
  pipe_issue(&pipe, pipe_put(&pipe, &instr), 6, 2);
  pipe_drain(&pipe);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(pipe_register(&pipe, 5, 3)[lane], 5 * WARP_LANES + lane);
  assert_int_equal(pipe_register(&pipe, 6, 3)[0], 0);
  assert_int_equal(pipe_register(&pipe, 6, 3)[1], 1); // no operands to collect: the unit begins in the next cycle
  pipe_close(&pipe);
}

// ---- Time --------------------------------------------------------------------------------------------

typedef struct UnitCase {
  Op op;
  Unit unit;
  StatId stat, operations;
  bool on_sp;
} UnitCase;
static const UnitCase unit_cases[] = {
    {OP_ADD_B32, UNIT_ALU, STAT_UNIT_ALU, STAT_OPERATIONS_ALU, true},
    {OP_ADD_RN_F32, UNIT_FP32, STAT_UNIT_FP32, STAT_OPERATIONS_FP32, true},
    {OP_MUL_LO_B32, UNIT_IMUL, STAT_UNIT_ALU, STAT_OPERATIONS_IMUL, true},
    {OP_DIV_U32, UNIT_IDIV, STAT_UNIT_ALU, STAT_OPERATIONS_IDIV, true},
    {OP_RCP_APPROX_F32, UNIT_SFU, STAT_UNIT_SFU, STAT_OPERATIONS_SFU, false},
    {OP_ADD_RN_F64, UNIT_FP64, STAT_UNIT_FP64, STAT_OPERATIONS_FP64, false},
    {OP_MOVMATRIX, UNIT_TENSOR, STAT_UNIT_TENSOR, STAT_OPERATIONS_TENSOR, false},
};

// Issued in cycle 0, operands read in 1, begun in 2: the result is written in 2 + latency and not in the cycle before.
static void a_unit_takes_its_latency(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(unit_cases); i++) {
    for (uint32_t latency = 1; latency <= 40; latency += 13) {
      Pipe pipe;
      pipe_open(&pipe);
      pipe_build(&pipe);
      pipe.m.unit_latency[unit_cases[i].unit] = latency;
      uint8_t b = op_info[unit_cases[i].op].b == TYPE_none ? REG_ZERO : 8;
      uint32_t pc = pipe_put_dabc(&pipe, unit_cases[i].op, (const uint8_t[]){2, 4, b, REG_ZERO});
      assert_int_equal(op_info[unit_cases[i].op].unit, unit_cases[i].unit);
      pipe_issue(&pipe, pc, 0, UINT32_MAX);
      for (uint32_t cycle = 1; cycle < 2 + latency; cycle++) pipe_step(&pipe);
      assert_int_equal(pipe.m.at.sms[0].flight_count, 1);
      assert_int_not_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 0);
      pipe_step(&pipe);
      assert_int_equal(pipe.m.at.sms[0].flight_count, 0);
      assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 0);
      assert_int_equal(pipe_stat(&pipe, unit_cases[i].stat), 1);
      assert_int_equal(pipe_stat(&pipe, unit_cases[i].operations), WARP_LANES);
      pipe_close(&pipe);
    }
  }
}

// A class with a latency of its own has that; others of the unit keep the unit's.
static void a_class_takes_its_own_latency(void **state) {
  (void)state;
  const Op ops[] = {OP_ADD_B32, OP_AND_B32};
  for (uint32_t i = 0; i < COUNT_OF(ops); i++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe_build(&pipe);
    pipe.m.unit_latency[UNIT_ALU] = 5;
    pipe.m.class_latency[TIMING_add] = 11;
    pipe_issue(&pipe, pipe_put_dabc(&pipe, ops[i], (const uint8_t[]){2, 4, 8, REG_ZERO}), 0, UINT32_MAX);
    for (uint32_t cycle = 1; cycle < 2u + (i == 0 ? 11 : 5); cycle++) pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, 1);
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, 0);
    pipe_close(&pipe);
  }
}

// Instructions of a unit that is there once begin `interval` cycles apart.
static void a_unit_begins_one_per_interval(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(unit_cases); i++) {
    for (uint32_t interval = 1; interval <= 5; interval += 2) {
      Pipe pipe;
      pipe_open(&pipe);
      pipe.spec.sm_sps = 1;
      pipe.spec.collector_banks = 64;
      pipe_build(&pipe);
      pipe.m.unit_latency[unit_cases[i].unit] = 100;
      pipe.m.unit_interval[unit_cases[i].unit] = interval;
      for (uint8_t n = 0; n < 3; n++) { // operands in different banks
        uint8_t b = op_info[unit_cases[i].op].b == TYPE_none ? REG_ZERO : (uint8_t)(20 + 2 * n);
        uint32_t pc = pipe_put_dabc(&pipe, unit_cases[i].op, (const uint8_t[]){2, (uint8_t)(4 + 2 * n), b, REG_ZERO});
        pipe_issue(&pipe, pc, 0, UINT32_MAX);
      }
      for (uint32_t cycle = 1; cycle < 40; cycle++) pipe_step(&pipe);
      assert_int_equal(pipe.m.at.sms[0].flight_count, 3);
      for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(flight_at(&pipe.m, 0, pipe.m.at.sms[0].flight_queue[n])->done_at, 100 + 2 + n * interval);
      }
      pipe_close(&pipe);
    }
  }
}

// With n SPs, n instructions begin in one cycle.
static void each_sp_begins_one(void **state) {
  (void)state;
  for (uint32_t sps = 1; sps <= 4; sps++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe.spec.sm_sps = sps;
    pipe.spec.collector_banks = 64;
    pipe_build(&pipe);
    pipe.m.unit_latency[UNIT_ALU] = 50;
    pipe.m.unit_interval[UNIT_ALU] = 20;
    for (uint32_t i = 0; i < 6; i++) {
      uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){20, (uint8_t)i, REG_ZERO, REG_ZERO});
      pipe_issue(&pipe, pc, 0, UINT32_MAX);
    }
    pipe_step(&pipe);
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, sps);
    uint32_t used = 0;
    for (uint32_t i = 0; i < sps; i++) used |= 1u << flight_at(&pipe.m, 0, i)->uop.sp;
    assert_int_equal(used, (1u << sps) - 1);
    assert_int_equal(pipe.m.at.wake_at[0], 22); // nothing to do before an SP is free
    for (uint32_t cycle = 3; cycle < 22; cycle++) pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, sps);
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, min_u32(2 * sps, 6));
    pipe_close(&pipe);
  }
}

// Two results a cycle: of four instructions that begin together, and one that takes a cycle less and begins after them, the last waits.
static void results_of_a_cycle_are_limited(void **state) {
  (void)state;
  for (uint32_t most = 0; most <= 4; most++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe.spec.sm_sps = 4;
    pipe.spec.sm_results = most;
    pipe.spec.collector_banks = 64;
    pipe_build(&pipe);
    pipe.m.unit_latency[UNIT_ALU] = 10;
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){20, (uint8_t)i, REG_ZERO, REG_ZERO});
      pipe_issue(&pipe, pc, 0, UINT32_MAX);
    }
    pipe_step(&pipe);
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, most == 0 ? 4 : most);
    pipe.m.unit_latency[UNIT_ALU] = 9; // their results would come in the same cycle
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, most == 0 ? 4 : most);
    pipe_step(&pipe);
    assert_int_equal(pipe.m.at.sms[0].flight_count, most == 0 ? 4 : min_u32(2 * most, 4));
    pipe_drain(&pipe);
    pipe_close(&pipe);
  }
}

static void write_ports_limit_a_cycle(void **state) {
  (void)state;
  for (uint32_t ports = 1; ports <= 5; ports++) {
    Pipe pipe;
    pipe_open(&pipe);
    pipe.spec.sm_sps = 8;
    pipe.spec.collector_banks = 64;
    pipe.spec.sm_writeback = ports;
    pipe_build(&pipe);
    for (uint32_t i = 0; i < 5; i++) {
      uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){20, (uint8_t)i, REG_ZERO, REG_ZERO});
      pipe_issue(&pipe, pc, 0, UINT32_MAX);
    }
    assert_int_equal(pipe_drain(&pipe), 2 + (5 + ports - 1) / ports);
    pipe_close(&pipe);
  }
}

// A result that is ready earlier is written earlier, whatever was begun first.
static void results_are_written_as_they_are_done(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.sm_writeback = 1;
  pipe_build(&pipe);
  pipe.m.unit_latency[UNIT_SFU] = 10;
  pipe.m.unit_latency[UNIT_ALU] = 3;
  pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_RCP_APPROX_F32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO}), 0, UINT32_MAX);
  pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){3, 4, REG_ZERO, REG_ZERO}), 0, UINT32_MAX);
  for (uint32_t cycle = 1; cycle <= 5; cycle++) pipe_step(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 1u << 1);
  assert_true(pipe.m.at.wake_at[0] <= 12);
  for (uint32_t cycle = 6; cycle <= 12; cycle++) pipe_step(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 0);
  pipe_close(&pipe);
}

// Whoever reads or writes a register or predicate that is under way waits until it is written, others do not.
static void hazards_last_until_write_back(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe_build(&pipe);
  pipe.m.unit_latency[UNIT_FP64] = 7;
  uint32_t first = pipe_put_dabc(&pipe, OP_ADD_RN_F64, (const uint8_t[]){2, 4, 6, REG_ZERO}); // writes R2 and R3
  Instr compare = instr_rest(OP_SETP_EQ_B32);
  compare.a = 24, compare.b = 25, compare.pd[0] = 3;
  uint32_t second = pipe_put(&pipe, &compare);
  Instr selects = instr_rest(OP_SELP_B32), guarded = instr_rest(OP_MOV_B32);
  selects.d[0] = 30, selects.a = selects.b = REG_ZERO, selects.ps = 3;
  guarded.d[0] = 31, guarded.a = REG_ZERO, guarded.guard = 3;
  const uint32_t of_first[] = {pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){10, 3, REG_ZERO, REG_ZERO}), // reads R3
                               pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){2, 11, REG_ZERO, REG_ZERO}), // writes R2
                               pipe_put_dabc(&pipe, OP_ADD_RN_F64, (const uint8_t[]){12, 14, 2, REG_ZERO})};   // reads the pair
  const uint32_t of_second[] = {pipe_put(&pipe, &selects), pipe_put(&pipe, &guarded), pipe_put(&pipe, &compare)};
  uint32_t other = pipe_put_dabc(&pipe, OP_ADD_RN_F64, (const uint8_t[]){4, 6, 8, REG_ZERO}); // writes what the first reads
  pipe_issue(&pipe, first, 0, UINT32_MAX);
  pipe_issue(&pipe, second, 0, UINT32_MAX);
  for (uint32_t cycle = 0; cycle < 12; cycle++) {
    for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(scoreboard_is_free(&pipe.m, 0, 0, &pipe.decoded[of_first[i]]), cycle >= 2 + 7);
      assert_int_equal(scoreboard_is_free(&pipe.m, 0, 0, &pipe.decoded[of_second[i]]), cycle >= 2 + 1);
      assert_true(scoreboard_is_free(&pipe.m, 0, 1, &pipe.decoded[of_first[i]])); // another warp
    }
    assert_true(scoreboard_is_free(&pipe.m, 0, 0, &pipe.decoded[other]));
    pipe_step(&pipe);
  }
  pipe_close(&pipe);
}

// A young load whose address is there waits for an old one that still collects; other units do not.
static void memory_instructions_leave_in_order(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.collector_banks = 1;
  pipe_build(&pipe);
  uint32_t load = pipe_put_dabc(&pipe, OP_LD_SHARED_B32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO});
  uint32_t zero = pipe_put_dabc(&pipe, OP_LD_SHARED_B32, (const uint8_t[]){3, REG_ZERO, REG_ZERO, REG_ZERO});
  uint32_t move = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){5, REG_ZERO, REG_ZERO, REG_ZERO});
  pipe_issue(&pipe, load, 0, 0); // no lanes: only the way through the collectors is of interest
  pipe_issue(&pipe, zero, 1, 0);
  pipe_issue(&pipe, move, 2, UINT32_MAX);
  execute_cycle(&pipe.m, 0);
  assert_int_equal(pipe.m.at.sms[0].collect_count, 2);
  assert_int_equal(collector_at(&pipe.m, 0, 0)->uop.pc, load);
  assert_int_equal(collector_at(&pipe.m, 0, 1)->uop.pc, zero);
  pipe_close(&pipe);
}

// ---- Lanes -------------------------------------------------------------------------------------------

static void lane_slots_are_counted(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe_build(&pipe);
  uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO});
  Uop uop = pipe_uop(&pipe, pc, 0, 0x3u << 30);
  pipe_take(&pipe, &uop);
  pipe_step(&pipe);
  pipe_step(&pipe);
  assert_int_not_equal(pipe.m.at.sms[0].sp_partial, 0); // while it works
  pipe_step(&pipe);
  assert_int_equal(pipe.m.at.sms[0].sp_partial, 0);
  uop.mask = UINT32_MAX;
  pipe_take(&pipe, &uop);
  pipe_step(&pipe);
  pipe_step(&pipe);
  assert_int_equal(pipe.m.at.sms[0].sp_partial, 0);
  pipe_drain(&pipe);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(pipe_stat(&pipe, STAT_LANE_0 + lane), lane >= 30 ? 2 : 1);
  assert_int_equal(pipe_stat(&pipe, STAT_OPERATIONS_ALU) + pipe_stat(&pipe, STAT_OPERATIONS_FP32), 2 + WARP_LANES);
  pipe_close(&pipe);
}

// Threads of two warps in one instruction: each reads and writes registers of its own warp, and the scoreboards are
// cleared when the last part of a warp is through.
static void packed_threads_use_their_own_warps(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.sm_sps = 1;
  pipe_build(&pipe);
  uint32_t pc = pipe_put_dabc(&pipe, OP_ADD_B32, (const uint8_t[]){1, 2, 3, REG_ZERO});
  for (uint32_t warp = 0; warp < 2; warp++) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      pipe_register(&pipe, warp, 2)[lane] = 1000 * (warp + 1) + lane;
      pipe_register(&pipe, warp, 3)[lane] = 7;
    }
  }
  scoreboard_mark(&pipe.m, 0, 1, &pipe.decoded[pc]);
  Uop first = pipe_uop(&pipe, pc, 0, 0x0000FFFF), second = pipe_uop(&pipe, pc, 1, 0x0000000F);
  uint16_t ticket = (uint16_t)ticket_new(&pipe.m, 0, 1);
  ticket_at(&pipe.m, 0, ticket)->issued = 2;
  first.plan = (uint16_t)plan_new(&pipe.m, 0);
  second.ticket = ticket;
  Plan *plan = plan_at(&pipe.m, 0, first.plan);
  plan->owners = 2;
  plan->owner[1] = (PlanOwner){.warp = 1, .ticket = ticket};
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    plan->thread[lane] = (uint8_t)lane;
    plan->owner_of[lane] = lane >= 8;
  }
  pipe_take(&pipe, &first);
  pipe_take(&pipe, &second);
  while (simt_scoreboard(&pipe.m, 0, 0)->registers[0] != 0) pipe_step(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 1)->registers[0], 2); // the second part is under way
  pipe_drain(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 1)->registers[0], 0);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    assert_int_equal(pipe_register(&pipe, 0, 1)[lane], lane < 8 ? 1007 + lane : 0);
    assert_int_equal(pipe_register(&pipe, 1, 1)[lane], lane < 4 || (lane >= 8 && lane < 16) ? 2007 + lane : 0);
  }
  assert_int_equal(pipe_stat(&pipe, STAT_REGISTER_READS), 6); // two rows of two warps, then of one
  pipe_close(&pipe);
}

// ---- Hooks -------------------------------------------------------------------------------------------

typedef struct Judge {
  Verdict verdicts[8];
  uint32_t asked;
  uint32_t damage; // flipped in lane 0 of the first result
  ResultEvent last;
} Judge;
static Verdict judge_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  (void)machine;
  Judge *judge = hook->own;
  judge->last = *event;
  if (judge->asked == 0) event->rows[0] ^= judge->damage;
  return judge->verdicts[judge->asked++ % COUNT_OF(judge->verdicts)];
}

// Results are told as passing the outputs of the unit that made them, for as long as it takes a warp.
static void results_pass_the_outputs_of_their_unit(void **state) {
  (void)state;
  static const struct {
    Op op;
    Unit unit;
    SimtRegion region;
    uint32_t lanes;
  } cases[] = {{OP_ADD_B32, UNIT_ALU, REGION_UNIT_SP, 16},         {OP_DIV_U32, UNIT_IDIV, REGION_UNIT_SP, 16},
               {OP_RCP_APPROX_F32, UNIT_SFU, REGION_UNIT_SFU, 2},  {OP_ADD_RN_F64, UNIT_FP64, REGION_UNIT_FP64, 8},
               {OP_MOVMATRIX, UNIT_TENSOR, REGION_UNIT_TENSOR, 4}, {OP_LD_SHARED_B32, UNIT_LDST, REGION_UNIT_AGU, 8}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Pipe pipe;
    Judge judge = {0};
    Hook hook = {.name = "judge", .kind = HOOK_OBSERVER, .own = &judge, .result = judge_result};
    pipe_open(&pipe);
    pipe_build(&pipe);
    pipe_hook(&pipe, &hook);
    uint8_t b = op_info[cases[i].op].b == TYPE_none ? REG_ZERO : 8;
    uint32_t warp = 3, pc = pipe_put_dabc(&pipe, cases[i].op, (const uint8_t[]){2, 4, b, REG_ZERO});
    pipe_issue(&pipe, pc, warp, UINT32_MAX);
    for (uint32_t cycle = 0; cycle < 400 && judge.asked == 0; cycle++) pipe_step(&pipe);
    assert_int_equal(judge.asked, 1);
    assert_int_equal(judge.last.region, cases[i].region);
    assert_int_equal(judge.last.row, cases[i].region == REGION_UNIT_SP ? warp % pipe.spec.sm_sps : 0);
    assert_int_equal(judge.last.cycles, pipe.m.unit_interval[cases[i].unit]);
    assert_int_equal(pipe.m.regions.items[judge.last.region].units, cases[i].lanes);
    pipe_close(&pipe);
  }
}

static void hooks_damage_hold_and_repeat(void **state) {
  (void)state;
  Pipe pipe;
  Judge judge = {.verdicts = {VERDICT_REPEAT, VERDICT_PASS}, .damage = 1};
  Hook hook = {.name = "judge", .kind = HOOK_PROTECTION, .own = &judge, .result = judge_result, .repeats = true};
  pipe_open(&pipe);
  pipe_build(&pipe);
  pipe_hook(&pipe, &hook);
  uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO});
  pipe_register(&pipe, 0, 2)[0] = 42;
  pipe_issue(&pipe, pc, 0, UINT32_MAX);
  pipe_step(&pipe);
  pipe_step(&pipe);
  pipe_register(&pipe, 0, 2)[0] = 99; // a younger instruction has written the source by the time of the second run
  pipe_step(&pipe);
  assert_int_equal(judge.asked, 1);
  assert_int_equal(pipe_register(&pipe, 0, 1)[0], 0);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 2);
  pipe_drain(&pipe);
  assert_int_equal(judge.asked, 2);
  assert_int_equal(judge.last.copy, 1);
  assert_int_equal(judge.last.copies, 2);
  assert_int_equal(pipe_register(&pipe, 0, 1)[0], 42);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 0);
  assert_int_equal(pipe_stat(&pipe, STAT_COPIES), 1);
  // Held: nothing is written, the destination stays marked.
  judge.asked = 0, judge.damage = 0, judge.verdicts[0] = VERDICT_HOLD;
  pipe_issue(&pipe, pc, 1, UINT32_MAX);
  pipe_drain(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 1)->registers[0], 2);
  // Damage that nobody objects to is written.
  judge.asked = 0, judge.damage = 0x80, judge.verdicts[0] = VERDICT_PASS;
  pipe_issue(&pipe, pc, 0, UINT32_MAX);
  pipe_drain(&pipe);
  assert_int_equal(pipe_register(&pipe, 0, 1)[0], 99 ^ 0x80);
  // Detected and not to be repaired.
  const Verdict ends[] = {VERDICT_HALT};
  for (size_t i = 0; i < COUNT_OF(ends); i++) {
    judge.asked = 0, judge.verdicts[0] = ends[i];
    pipe.m.at.core->trapped = TRAP_NONE;
    pipe_issue(&pipe, pc, 2, UINT32_MAX);
    pipe_drain(&pipe);
    assert_int_equal(pipe.m.at.core->trapped, TRAP_DETECTED);
    assert_int_equal(pipe_stat(&pipe, STAT_REGISTER_WRITES), 2);
  }
  pipe_close(&pipe);
}

// A repeat that finds no collector does not keep the SM awake; it goes on in the cycle after one has become free.
static void a_replay_without_collector_sleeps(void **state) {
  (void)state;
  Pipe pipe;
  Judge judge = {.verdicts = {VERDICT_REPEAT}};
  Hook hook = {.name = "judge", .kind = HOOK_PROTECTION, .own = &judge, .result = judge_result, .repeats = true};
  pipe_open(&pipe);
  pipe.spec.collector_units = 1;
  pipe_build(&pipe);
  pipe_hook(&pipe, &hook);
  SmState *sm = &pipe.m.at.sms[0];
  pipe.m.unit_latency[UNIT_ALU] = 3;
  pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO}), 0, UINT32_MAX);
  pipe_step(&pipe);
  pipe_step(&pipe);
  pipe_issue(&pipe, pipe_put_dabc(&pipe, OP_LD_SHARED_B32, (const uint8_t[]){3, REG_ZERO, REG_ZERO, REG_ZERO}), 1, 1);
  memset(sm->memory_used, 0xFF, sizeof sm->memory_used); // the load finds no room
  for (uint32_t cycle = 3; cycle <= 7; cycle++) pipe_step(&pipe);
  assert_int_equal(judge.asked, 1);
  assert_int_equal(sm->flight_count, 1);
  assert_true(pipe.m.at.wake_at[0] == UINT64_MAX);
  collect_release(&pipe.m, 0, 0);
  assert_int_equal(pipe.m.at.wake_at[0], 8);
  memset(sm->memory_used, 0, sizeof sm->memory_used);
  pipe_step(&pipe);
  assert_int_equal(sm->collect_count, 0); // its operands were there: it has begun again
  assert_int_equal(sm->flight_count, 1);
  assert_int_equal(flight_at(&pipe.m, 0, sm->flight_queue[0])->uop.copy, 1);
  pipe_close(&pipe);
}

// With copies, the destination is free after the last.
static void copies_share_a_destination(void **state) {
  (void)state;
  Pipe pipe;
  pipe_open(&pipe);
  pipe.spec.sm_sps = 1;
  pipe_build(&pipe);
  uint32_t pc = pipe_put_dabc(&pipe, OP_MOV_B32, (const uint8_t[]){1, 2, REG_ZERO, REG_ZERO});
  Uop uop = pipe_uop(&pipe, pc, 0, UINT32_MAX);
  uop.copies = 2;
  uop.ticket = (uint16_t)ticket_new(&pipe.m, 0, 0);
  ticket_at(&pipe.m, 0, uop.ticket)->issued = 2;
  pipe_take(&pipe, &uop);
  uop.copy = 1;
  pipe_take(&pipe, &uop);
  while (pipe_stat(&pipe, STAT_REGISTER_WRITES) == 0) pipe_step(&pipe);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 2);
  pipe_drain(&pipe);
  assert_int_equal(pipe_stat(&pipe, STAT_REGISTER_WRITES), 2);
  assert_int_equal(simt_scoreboard(&pipe.m, 0, 0)->registers[0], 0);
  pipe_close(&pipe);
}

// ---- Faults ------------------------------------------------------------------------------------------

static void flip(Pipe *pipe, SimtRegion region, uint64_t draw) {
  const Region *at = &pipe->regions[region];
  Site site = region_site(&pipe->m.regions, (uint16_t)region, random_below(draw, region_bits(at)));
  pipe->m.block[site_byte(at, &site)] ^= site_mask(&site);
}

// Instructions that a flip has made a memory access are done for once they have left.
static void forget_memory(Pipe *pipe) {
  Simt *m = &pipe->m;
  SmState *sm = &m->at.sms[0];
  memset(m->at.memops, 0, m->dims.memops * sizeof *m->at.memops);
  memset(m->at.gathers, 0, m->dims.gathers * sizeof *m->at.gathers);
  memset(sm->memory_used, 0, sizeof sm->memory_used);
  sm->memory_count = 0;
  m->at.core->trapped = TRAP_NONE;
}

// Any flip leaves a state that goes on: whatever happens to the instruction, the collectors and latches become free.
static void flips_are_survived(void **state) {
  (void)state;
  const SimtRegion regions[] = {REGION_COLLECTOR,  REGION_COLLECTOR_WORD, REGION_COLLECTOR_MASK, REGION_LATCH, REGION_LATCH_WORD,
                                REGION_LATCH_MASK, REGION_LATCH_PRED,     REGION_WARP_BASE,      REGION_RF,    REGION_PREDICATES};
  uint64_t draws = 0;
  Pipe pipe;
  pipe_open(&pipe);
  pipe_build(&pipe);
  pipe.m.unit_latency[UNIT_ALU] = 4;
  uint32_t pcs[4] = {pipe_put_dabc(&pipe, OP_ADD_B32, (const uint8_t[]){1, 2, 3, REG_ZERO}),
                     pipe_put_dabc(&pipe, OP_FMA_RN_F64, (const uint8_t[]){2, 4, 6, 8}),
                     pipe_put_dabc(&pipe, OP_MMA_8888, (const uint8_t[]){0, 8, 16, 24}),
                     pipe_put_dabc(&pipe, OP_SETP_EQ_B32, (const uint8_t[]){REG_ZERO, 1, 2, REG_ZERO})};
  for (uint32_t run = 0; run < 3000; run++) {
    pipe_drain(&pipe);
    for (uint32_t i = 0; i < 4; i++) pipe_issue(&pipe, pcs[drawn(&draws) % 4], (uint32_t)(drawn(&draws) % 8), (uint32_t)drawn(&draws));
    for (uint32_t i = 0; i < 6; i++) {
      for (uint32_t k = 0; k < 4; k++) flip(&pipe, regions[random_below(drawn(&draws), COUNT_OF(regions))], drawn(&draws));
      // Where only instructions in flight are struck, most words become another or none.
      Collector *collector = collector_at(&pipe.m, 0, 0);
      if (collector->uop.valid != 0) collector->uop.word.low ^= UINT64_C(1) << drawn(&draws) % 64;
      Flight *flight = flight_at(&pipe.m, 0, 0);
      if (flight->uop.valid != 0) flight->uop.word.high ^= UINT64_C(1) << drawn(&draws) % 64;
      pipe_step(&pipe);
      forget_memory(&pipe);
    }
  }
  pipe_close(&pipe);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_gives_what_its_function_does),
      cmocka_unit_test(special_registers_are_those_of_the_warp),
      cmocka_unit_test(a_unit_takes_its_latency),
      cmocka_unit_test(a_class_takes_its_own_latency),
      cmocka_unit_test(a_unit_begins_one_per_interval),
      cmocka_unit_test(each_sp_begins_one),
      cmocka_unit_test(results_of_a_cycle_are_limited),
      cmocka_unit_test(write_ports_limit_a_cycle),
      cmocka_unit_test(results_are_written_as_they_are_done),
      cmocka_unit_test(hazards_last_until_write_back),
      cmocka_unit_test(memory_instructions_leave_in_order),
      cmocka_unit_test(lane_slots_are_counted),
      cmocka_unit_test(packed_threads_use_their_own_warps),
      cmocka_unit_test(results_pass_the_outputs_of_their_unit),
      cmocka_unit_test(hooks_damage_hold_and_repeat),
      cmocka_unit_test(a_replay_without_collector_sleeps),
      cmocka_unit_test(copies_share_a_destination),
      cmocka_unit_test(flips_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
