// Units: complete instructions leave their collector, oldest first, for a unit that can begin one; the result enters a latch and
// waits there until its latency is over (writeback.c).
//
// An SP serves integer, logic and single precision; an instruction may take any, and prefers the one of its warp's number, unless a hook has
// bound it to one: then it waits for that, and others pass it on their way to the rest. The
// special function, double-precision and tensor units are one each. Memory instructions leave in the order in which they were
// issued, so that what one warp stores before a barrier another finds after it.
//
// Invariant: flight_queue lists the flights of flights_used by done_at, equal times by dispatch.
#include "machine/simt/execute.h"
#include "machine/parts/special.h"
#include "machine/simt/facts.h"
#include "machine/simt/part.h"

Port port_of(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  switch (info->kind) {
  case KIND_LOAD:
  case KIND_STORE:
  case KIND_ATOMIC: return PORT_LDST;
  case KIND_TEXTURE: return PORT_GATHER;
  case KIND_MATRIX:
    if (info->space != SPACE_NONE) return PORT_GATHER;
    break;
  case KIND_ALU:
  case KIND_WARP:
  case KIND_SREG: break;
  default: return PORT_NONE;
  }
  switch (info->unit) {
  case UNIT_SFU: return PORT_SFU;
  case UNIT_FP64: return PORT_FP64;
  case UNIT_TENSOR: return PORT_TENSOR;
  default: return PORT_SP;
  }
}

// ---- What units compute ------------------------------------------------------------------------------

static uint64_t nanoseconds(const Simt *m) {
  uint64_t now = simt_now(m), khz = m->spec->clock_core_khz;
  return now / khz * 1000000 + now % khz * 1000000 / khz;
}

static void read_special(const Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, Flight *flight) {
  unsigned registers = type_info[op_info[instr->op].d].registers;
  for (uint32_t left = uop->mask; left != 0;) {
    PartGroup group = {uop->warp % m->dims.warps, left};
    if (uop->plan != 0) group = part_group(m, sm, uop, left);
    const SimtWarp *warp = simt_warp(m, sm, group.warp);
    SpecialContext context = {.launch = m->launch,
                              .layout = &m->layout,
                              .block = &m->at.blocks[sm * m->dims.blocks + warp->block_slot % m->dims.blocks],
                              .warp = warp->index,
                              .sm = sm,
                              .sm_count = m->dims.sms,
                              .clock = simt_now(m),
                              .nanoseconds = nanoseconds(m)};
    if (uop->plan == 0) {
      special_read(&context, instr->imm, registers, group.slots, flight->row[0]);
    } else {
      const Plan *plan = plan_at(m, sm, uop->plan);
      uint32_t rows[2][WARP_LANES] = {{0}};
      special_read(&context, instr->imm, registers, part_bits_to_threads(m, plan, group.slots, group.slots), rows[0]);
      for (unsigned r = 0; r < registers; r++) part_row_to_slots(m, plan, group.slots, rows[r], flight->row[r]);
    }
    left &= ~group.slots;
  }
}

// Warp-wide and not plain: carried out by thread for all threads of the instruction; the part's lane slots take their results.
static void compute_wide(const Simt *m, uint32_t sm, const Uop *uop, LaneFunction function, LaneOp *op, Flight *flight) {
  const Plan *plan = plan_at(m, sm, uop->plan);
  uint32_t rows[SIMT_RESULT_ROWS][WARP_LANES];
  memset(rows, 0, sizeof rows);
  op->d = rows[0];
  op->active = plan->members;
  function(op);
  for (uint32_t r = 0; r < flight->rows; r++) part_row_to_slots(m, plan, uop->mask, rows[r], flight->row[r]);
  for (uint32_t i = 0; i < 2; i++) flight->predicates[i] = part_bits_to_slots(m, plan, uop->mask, op->pd[i]);
}

static inline void compute(const Simt *m, uint32_t sm, const Collector *collector, const Instr *instr, const Facts *facts, Flight *flight) {
  const Uop *uop = &collector->uop;
  const OperandRows *at = &facts->sources;
  if (uop->mask == 0) return;
  if ((facts->flags & FACT_SPECIAL) != 0) {
    read_special(m, sm, uop, instr, flight);
    return;
  }
  LaneOp op = {.d = flight->row[0],
               .a = collector->row[at->first[OPERAND_A]],
               .b = collector->row[at->first[OPERAND_B]],
               .c = collector->row[at->first[OPERAND_C]],
               .active = uop->mask,
               .ps = uop->ps,
               .pa = uop->pa,
               .mods = instr->mods,
               .imm = instr->imm};
  LaneFunction function = m->functions[instr->op];
  ASSERT(function != NULL);
  if (uop->plan != 0 && (facts->flags & FACT_WIDE) != 0) {
    compute_wide(m, sm, uop, function, &op, flight);
    return;
  }
  function(&op);
  memcpy(flight->predicates, op.pd, sizeof op.pd);
}

// ---- Into flight -------------------------------------------------------------------------------------

static inline void queue_flight(Simt *m, uint32_t sm, uint32_t index, uint64_t done_at) {
  SmState *state = &m->at.sms[sm];
  uint32_t place = state->flight_count++;
  for (; place > 0 && flight_at(m, sm, state->flight_queue[place - 1])->done_at > done_at; place--) {
    state->flight_queue[place] = state->flight_queue[place - 1];
  }
  state->flight_queue[place] = (uint8_t)index;
  state->flights_used |= 1u << index;
  sm_wake(m, sm, done_at);
}

static inline void launch_flight(Simt *m, uint32_t sm, const Collector *collector, const Instr *instr, const Facts *facts) {
  uint32_t index = (uint32_t)__builtin_ctz(~m->at.sms[sm].flights_used);
  Flight *flight = flight_at(m, sm, index);
  flight->uop = collector->uop;
  flight->done_at = simt_now(m) + latency_of(m, facts) + collector->uop.late;
  flight->rows = (uint16_t)facts->results.rows;
  flight->has_predicates = facts->predicates;
  compute(m, sm, collector, instr, facts, flight);
  if ((m->wants & WANT_REPEAT) != 0 || facts->port == PORT_TENSOR) { // of matrix products always: states hash alike whoever looks on
    flight->operand_rows = collector->rows;
    memcpy(flight_operands(m, sm, index)->row, collector->row, collector->rows * sizeof collector->row[0]);
  }
  queue_flight(m, sm, index, flight->done_at);
  if (places_are_wanted(m))
    simt_take(m, who_uop(m, sm, &flight->uop), REGION_LATCH, REGION_LATCH_PRED, (uint64_t)sm * SIMT_FLIGHTS + index);
}

// ---- Units -------------------------------------------------------------------------------------------

// STAT_COUNT: not counted here.
static const StatId unit_stat[UNIT_COUNT] = {
    [UNIT_ALU] = STAT_UNIT_ALU,       [UNIT_FP32] = STAT_UNIT_FP32,  [UNIT_FP64] = STAT_UNIT_FP64, [UNIT_SFU] = STAT_UNIT_SFU,
    [UNIT_IMUL] = STAT_UNIT_ALU,      [UNIT_IDIV] = STAT_UNIT_ALU,   [UNIT_LDST] = STAT_UNIT_LDST, [UNIT_TEX] = STAT_COUNT,
    [UNIT_TENSOR] = STAT_UNIT_TENSOR, [UNIT_BRANCH] = STAT_UNIT_ALU,
};

// What its lanes do.
static const StatId operation_stat[UNIT_COUNT] = {
    [UNIT_ALU] = STAT_OPERATIONS_ALU,      [UNIT_FP32] = STAT_OPERATIONS_FP32,   [UNIT_FP64] = STAT_OPERATIONS_FP64,
    [UNIT_SFU] = STAT_OPERATIONS_SFU,      [UNIT_IMUL] = STAT_OPERATIONS_IMUL,   [UNIT_IDIV] = STAT_OPERATIONS_IDIV,
    [UNIT_LDST] = STAT_OPERATIONS_ADDRESS, [UNIT_TEX] = STAT_OPERATIONS_ADDRESS, [UNIT_TENSOR] = STAT_OPERATIONS_TENSOR,
    [UNIT_BRANCH] = STAT_OPERATIONS_ALU,
};

static const char *const port_track[PORT_COUNT] = {
    [PORT_SP] = "sp",     [PORT_SFU] = "sfu",       [PORT_FP64] = "fp64", [PORT_TENSOR] = "tensor",
    [PORT_LDST] = "ldst", [PORT_GATHER] = "gather", [PORT_NONE] = "none",
};

// An SP that can begin the instruction; sm_sps: none. `kept` are SPs for which older instructions wait that are bound to them.
static inline uint32_t free_sp(const Simt *m, const SmState *state, const Uop *uop, uint32_t kept) {
  uint64_t now = simt_now(m);
  uint32_t sps = (uint32_t)m->spec->sm_sps, wanted = (sps & (sps - 1)) == 0 ? uop->warp & (sps - 1) : uop->warp % sps;
  if (uop->bound_to != 0) {
    wanted = (uop->bound_to - 1u) % sps;
    return state->sp_free_at[wanted] <= now && (kept >> wanted & 1) == 0 ? wanted : sps;
  }
  if (state->sp_free_at[wanted] <= now && (kept >> wanted & 1) == 0) return wanted;
  for (uint32_t sp = 0; sp < sps; sp++) {
    if (state->sp_free_at[sp] <= now && (kept >> sp & 1) == 0) return sp;
  }
  return sps;
}

static uint64_t first_sp_free_at(const Simt *m, const SmState *state) {
  uint64_t first = state->sp_free_at[0];
  for (uint32_t sp = 1; sp < m->spec->sm_sps; sp++) first = min_u64(first, state->sp_free_at[sp]);
  return first;
}

// When the port can begin an instruction; UINT64_MAX: when something that wakes the SM has happened.
static uint64_t port_free_at(const Simt *m, uint32_t sm, Port port, const Instr *instr) {
  const SmState *state = &m->at.sms[sm];
  switch (port) {
  case PORT_SP: return first_sp_free_at(m, state);
  case PORT_SFU: return state->sfu_free_at;
  case PORT_FP64: return state->fp64_free_at;
  case PORT_TENSOR: return state->tensor_free_at;
  case PORT_LDST: return ldst_can_begin(m, sm) ? state->ldst_free_at : UINT64_MAX;
  case PORT_GATHER: return gather_has_room(m, sm, instr) ? 0 : UINT64_MAX;
  default: return 0;
  }
}

// Hardware lanes at work, and whether any is idle (statistics of SPs).
static inline void note_lanes(Simt *m, SmState *state, const Uop *uop, uint32_t sp) {
  uint64_t now = simt_now(m);
  for (uint64_t left = state->sp_partial; left != 0; left &= left - 1) {
    if (state->sp_free_at[__builtin_ctzll(left) % SIMT_MOST_SPS] <= now) state->sp_partial &= ~(left & -left);
  }
  if (uop->mask != UINT32_MAX) state->sp_partial |= UINT64_C(1) << sp;
  m->rows->count(&m->at.stats->value[STAT_LANE_0], uop->mask);
}

static inline void tell_span(Simt *m, uint32_t sm, Port port, const Uop *uop, const char *what, uint64_t until) {
  SpanEvent event = {.who = who_uop(m, sm, uop),
                     .track = port_track[port],
                     .instance = port == PORT_SP ? sm * (uint32_t)m->spec->sm_sps + uop->sp : sm,
                     .what = what,
                     .start = simt_now(m),
                     .end = until};
  hook_tell_span(m->listener, &m->hook_machine, &event);
}

// The port is taken for the instruction's interval.
static inline void occupy(Simt *m, uint32_t sm, Port port, Uop *uop, const Instr *instr, const Facts *facts) {
  SmState *state = &m->at.sms[sm];
  Unit unit = (Unit)facts->unit;
  uint64_t until = simt_now(m) + interval_of(m, facts);
  if (unit_stat[unit] != STAT_COUNT) simt_count(m, unit_stat[unit], 1);
  simt_count(m, operation_stat[unit], count_ones(uop->mask));
  switch (port) {
  case PORT_SP:
    note_lanes(m, state, uop, uop->sp);
    state->sp_free_at[uop->sp] = until;
    state->sp_busy_until = max_u64(state->sp_busy_until, until);
    break;
  case PORT_SFU: state->sfu_free_at = until; break;
  case PORT_FP64: state->fp64_free_at = until; break;
  case PORT_TENSOR: state->tensor_free_at = until; break;
  default: break; // ldst_take and gather_take see to themselves
  }
  if (__builtin_expect((m->wants & WANT_SPAN) != 0, 0)) tell_span(m, sm, port, uop, op_info[instr->op].text, until);
}

// ---- The stage ---------------------------------------------------------------------------------------

enum { MEMORY_PORTS = 1 << PORT_LDST | 1 << PORT_GATHER };
static inline bool is_memory(Port port) { return (MEMORY_PORTS >> port & 1) != 0; }

// A unit that can begin the instruction; an SP is chosen for it. False: none can in this cycle.
static inline bool find_unit(Simt *m, uint32_t sm, Port port, Uop *uop, const Instr *instr, uint32_t kept) {
  const SmState *state = &m->at.sms[sm];
  uint32_t sps = (uint32_t)m->spec->sm_sps, sp = port == PORT_SP ? free_sp(m, state, uop, kept) : 0;
  if (port != PORT_SP || sp >= sps) {
    uint64_t free_at = port_free_at(m, sm, port, instr);
    if (port == PORT_SP && uop->bound_to != 0) free_at = state->sp_free_at[(uop->bound_to - 1u) % sps];
    if (free_at > simt_now(m)) {
      sm_wake(m, sm, free_at);
      return false;
    }
  }
  if (!is_memory(port) && state->flights_used == UINT32_MAX) return false;
  if (sp >= sps) sm_wake(m, sm, simt_now(m) + 1);
  if (port == PORT_SP) uop->sp = sp < sps ? (uint8_t)sp : uop->sp;
  return sp < sps;
}

// Whether there is room for its result in the cycle in which it will have it.
static bool result_has_room(Simt *m, uint32_t sm, const Facts *facts, const Uop *uop) {
  const SmState *state = &m->at.sms[sm];
  uint64_t done_at = simt_now(m) + latency_of(m, facts) + uop->late, others = 0;
  for (uint32_t place = state->flight_count; place > 0; place--) { // by time: the last first
    uint64_t other = flight_at(m, sm, state->flight_queue[place - 1])->done_at;
    if (other < done_at) break;
    others += other == done_at ? 1 : 0;
  }
  if (others >= m->spec->sm_results) sm_wake(m, sm, simt_now(m) + 1);
  return others < m->spec->sm_results;
}

// Sends the instruction of a complete collector to its unit. False: not in this cycle. `kept`: SPs that it may not take.
static inline bool dispatch(Simt *m, uint32_t sm, uint32_t index, uint32_t kept) {
  SmState *state = &m->at.sms[sm];
  Collector *collector = collector_at(m, sm, index);
  Uop *uop = &collector->uop;
  Instr scratch;
  Facts own;
  const Facts *facts;
  const Instr *instr = facts_decode(m, uop, &scratch, &own, &facts);
  if (instr == NULL) {
    simt_trap(m, sm, uop->warp, uop->pc, TRAP_ILLEGAL_INSTRUCTION, uop->mask);
    part_ends(m, sm, uop);
    return true;
  }
  Port port = (Port)facts->port; // not what it was when a fault has struck the word
  state->collect_port[index] = (uint8_t)port;
  if (port == PORT_NONE) { // no unit takes it
    part_is_lost(m, sm, uop);
    return true;
  }
  if (port == PORT_SP && m->spec->sm_results != 0 && !result_has_room(m, sm, facts, uop)) return false;
  if (!find_unit(m, sm, port, uop, instr, kept)) return false;
  occupy(m, sm, port, uop, instr, facts);
  if (port == PORT_LDST) ldst_take(m, sm, collector, instr, facts);
  else if (port == PORT_GATHER) gather_take(m, sm, collector, instr);
  else launch_flight(m, sm, collector, instr, facts);
  return true;
}

// Copies of an instruction that hooks have asked for leave in their order, whatever bank conflicts did to the first.
static inline bool waits_for_copy(const Simt *m, uint32_t sm, uint32_t place) {
  const SmState *state = &m->at.sms[sm];
  const Uop *uop = &collector_at(m, sm, state->collect_order[place])->uop;
  for (uint32_t i = 0; uop->copy > 0 && i < place; i++) {
    const Uop *other = &collector_at(m, sm, state->collect_order[i])->uop;
    if (other->warp == uop->warp && other->issue == uop->issue) return true;
  }
  return false;
}

void execute_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  if (state->sp_busy_until <= simt_now(m)) state->sp_partial = 0;
  uint64_t complete = state->collect_used & ~state->collect_pending; // of those that have not been looked at
  uint32_t blocked = 0, kept = 0;                                    // bit: port; SP that an older instruction waits for
  for (uint32_t place = 0; complete != 0 && place < state->collect_count;) {
    uint32_t index = state->collect_order[place], port = state->collect_port[index], is_access = MEMORY_PORTS >> port & 1;
    uint32_t bits = is_access != 0 ? MEMORY_PORTS : 1u << port;
    complete &= ~(UINT64_C(1) << index);
    if ((state->collect_pending >> index & 1) != 0) { // accesses behind it wait, others pass
      blocked |= is_access != 0 ? MEMORY_PORTS : 0;
      place++;
      continue;
    }
    if ((blocked & bits) == 0 && !waits_for_copy(m, sm, place) && dispatch(m, sm, index, kept)) {
      collect_release(m, sm, place);
      continue;
    }
    uint32_t bound_to = port == PORT_SP ? collector_at(m, sm, index)->uop.bound_to : 0;
    if (bound_to != 0) kept |= 1u << (bound_to - 1) % m->spec->sm_sps;
    else blocked |= bits;
    place++;
  }
}
