// Write-back: results whose time has come go from the latch to the register file and the predicates.
//
// Hooks see a unit's results here (ResultEvent) and may hold them or ask for the instruction again; then it goes back to a
// collector with the operands it had, as a further copy. Destinations stay marked in the scoreboard until the last
// part of the instruction is through. Whatever faults have made of mask, word and results is written as it is.
#include "machine/simt/facts.h"
#include "machine/simt/plan.h"

// ---- Registers and predicates --------------------------------------------------------------------------

// `who`: NULL, nobody wants to know.
static inline void write_row(Simt *m, const Who *who, uint32_t sm, uint32_t row, uint32_t lanes, const uint32_t from[WARP_LANES]) {
  RegisterRow *to = register_at(m, sm, row);
  if (lanes == UINT32_MAX) memcpy(to->lane, from, sizeof to->lane);
  else m->rows->blend(from, lanes, to->lane);
  if (who != NULL && cells_are_wanted(m)) tell_write_here(m, who, REGION_RF, (uint64_t)sm * m->dims.register_rows + row, lanes, to->lane);
  simt_count(m, STAT_REGISTER_WRITES, 1);
}

// A predicate holds a bit of each lane: a write of some is a read and a write of the whole.
static void write_predicate(Simt *m, const Who *who, uint32_t sm, uint32_t warp, uint32_t number, uint32_t lanes, uint32_t value) {
  SimtWarp *at = simt_warp(m, sm, warp);
  uint64_t row = (uint64_t)sm * m->dims.warps + warp;
  if (lanes != UINT32_MAX) cells_read(m, &m->nobody, REGION_PREDICATES, row, 1u << number, at->warp.predicates);
  at->warp.predicates[number] = (at->warp.predicates[number] & ~lanes) | (value & lanes);
  cells_written(m, who, REGION_PREDICATES, row, 1u << number, at->warp.predicates);
}

typedef struct Results {
  uint32_t (*rows)[WARP_LANES];
  uint32_t row_count;
  const uint32_t *predicates; // NULL: none
} Results;

static inline void write_warp(Simt *m, const Who *who, uint32_t sm, uint32_t warp, uint32_t lanes, const Instr *instr, const Facts *facts,
                              const Results *results) {
  unsigned registers = facts->results.registers;
  for (unsigned operand = 0, row = 0; operand < facts->results.count; operand++, row += registers) {
    uint8_t number = instr->d[operand];
    if (number == REG_ZERO) continue;
    for (unsigned k = 0; k < registers && row + k < results->row_count; k++) {
      write_row(m, who, sm, register_row(m, sm, warp, number + k), lanes, results->rows[row + k]);
    }
  }
  unsigned written = results->predicates == NULL ? 0 : facts->predicates;
  for (unsigned k = 0; written >> k != 0; k++) {
    if ((written >> k & 1) == 0 || instr->pd[k] == PRED_TRUE) continue;
    write_predicate(m, who, sm, warp, instr->pd[k], lanes, results->predicates[k]);
  }
}

// ---- One instruction -------------------------------------------------------------------------------------

// Not plain: each group of lane slots goes to its own warp.
static void write_planned(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts, const Results *results) {
  const Plan *plan = plan_at(m, sm, uop->plan);
  const Who *who = cells_uop(m, sm, uop);
  for (uint32_t left = part_written(m, sm, uop); left != 0;) {
    PartGroup group = part_group(m, sm, uop, left);
    uint32_t rows[SIMT_RESULT_ROWS][WARP_LANES], predicates[2] = {0, 0}, count = min_u32(results->row_count, SIMT_RESULT_ROWS);
    memset(rows, 0, sizeof rows);
    PartThreads threads;
    part_threads(m, plan, group.slots, &threads);
    for (uint32_t r = 0; r < count; r++) part_row_to_threads(m, &threads, results->rows[r], rows[r]);
    for (uint32_t i = 0; i < 2 && results->predicates != NULL; i++) {
      predicates[i] = part_bits_to_threads(m, plan, group.slots, results->predicates[i]);
    }
    Results own = {rows, count, results->predicates == NULL ? NULL : predicates};
    write_warp(m, who, sm, group.warp, threads.all, instr, facts, &own);
    left &= ~group.slots;
  }
}

static inline void tell_commit(Simt *m, const Who *who, uint32_t sm, const Uop *uop, const Instr *instr) {
  uint32_t threads = uop->mask;
  if (__builtin_expect(uop->plan != 0, 0)) {
    threads = part_bits_to_threads(m, plan_at(m, sm, uop->plan), uop->mask, part_written(m, sm, uop));
    who = who_uop(m, sm, uop);
  }
  CommitEvent event = {.who = who, .mask = threads, .instr = instr, .issued_at = uop->issued_at};
  simt_obey(m, event.who, hook_tell_commit(m->listener, &m->hook_machine, &event));
}

// `who`: NULL, there are no hooks.
ALWAYS_INLINE static inline void write(Simt *m, const Who *who, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts,
                                       const Results *results) {
  uint32_t warp = ring_place(uop->warp, m->dims.warps);
  if (uop->plan == 0) write_warp(m, who, sm, warp, uop->mask, instr, facts, results);
  else write_planned(m, sm, uop, instr, facts, results);
  if ((uop->plan | uop->ticket) == 0) board_clear(m, sm, warp, facts);
  else part_returns(m, sm, uop, instr, false);
  if (who != NULL && (m->wants & WANT_COMMIT) != 0) tell_commit(m, who, sm, uop, instr);
}

ALWAYS_INLINE static inline void write_any(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts,
                                           const Results *results) {
  if (__builtin_expect(m->listens, 0)) write(m, who_uop(m, sm, uop), sm, uop, instr, facts, results);
  else write(m, NULL, sm, uop, instr, facts, results);
}

void writeback_known(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts, uint32_t (*rows)[WARP_LANES],
                     const uint32_t *predicates) {
  Results results = {.rows = rows, .row_count = facts->results.rows, .predicates = predicates};
  write_any(m, sm, uop, instr, facts, &results);
}

void writeback_rows(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, uint32_t (*rows)[WARP_LANES], uint32_t row_count,
                    const uint32_t *predicates) {
  Results results = {.rows = rows, .row_count = row_count, .predicates = predicates};
  Facts scratch;
  write_any(m, sm, uop, instr, facts_at(m, instr, &scratch), &results);
}

// Whose outputs the result leaves. What a fault has made of the instruction may have no unit: it was in an SP, then.
static const uint16_t output_region[PORT_COUNT] = {
    [PORT_SP] = REGION_UNIT_SP,   [PORT_SFU] = REGION_UNIT_SFU,   [PORT_FP64] = REGION_UNIT_FP64, [PORT_TENSOR] = REGION_UNIT_TENSOR,
    [PORT_LDST] = REGION_UNIT_SP, [PORT_GATHER] = REGION_UNIT_SP, [PORT_NONE] = REGION_UNIT_SP,
};

// The operands of a matrix product; false: it is none, or its word is no longer that of the operands.
static bool look_inside(const Simt *m, uint32_t sm, const Flight *flight, const Instr *instr, ResultInside *inside) {
  const OpInfo *info = &op_info[instr->op];
  if (info->kind != KIND_MATRIX || info->space != SPACE_NONE) return false;
  Facts scratch;
  const OperandRows *at = &facts_at(m, instr, &scratch)->sources;
  if (at->rows != flight->operand_rows || at->rows > SIMT_SOURCE_ROWS) return false;
  const FlightOperands *operands = flight_operands(m, sm, (uint32_t)(flight - flight_at(m, sm, 0)));
  *inside = (ResultInside){.product = REGION_TENSOR_PRODUCT,
                           .sum = REGION_TENSOR_SUM,
                           .steps = SIMT_TENSOR_STEPS,
                           .a = operands->row[at->first[OPERAND_A]],
                           .b = operands->row[at->first[OPERAND_B]],
                           .c = operands->row[at->first[OPERAND_C]]};
  return true;
}

static inline Verdict ask(Simt *m, const Who *who, uint32_t sm, Flight *flight, const Instr *instr, const Facts *facts) {
  const Uop *uop = &flight->uop;
  uint16_t region = output_region[facts->port];
  ResultEvent *event = part_show(m, sm, uop, who);
  event->instr = instr;
  event->region = region;
  event->row = region == REGION_UNIT_SP ? sm * m->dims.sps + ring_place(uop->sp, m->dims.sps) : sm;
  event->cycles = interval_of(m, facts);
  event->rows = flight->row[0];
  event->row_count = flight->rows;
  event->predicates = flight->has_predicates != 0 ? flight->predicates : NULL;
  if (__builtin_expect(region != REGION_UNIT_TENSOR, 1)) return part_tell(m, uop, event);
  ResultInside inside;
  if (look_inside(m, sm, flight, instr, &inside)) event->inside = &inside;
  Verdict verdict = part_tell(m, uop, event);
  event->inside = NULL;
  return verdict;
}

// ---- The stage -----------------------------------------------------------------------------------------

// The hooks' answer, once per flight.
static inline Verdict judge(Simt *m, const Who *who, uint32_t sm, Flight *flight, const Instr *instr, const Facts *facts) {
  if (flight->waits == FLIGHT_AGAIN) return VERDICT_REPEAT;
  if (flight->waits == FLIGHT_WRITES || who == NULL || (m->wants & WANT_RESULT) == 0) return VERDICT_PASS;
  Verdict verdict = ask(m, who, sm, flight, instr, facts);
  bool is_again = verdict == VERDICT_REPEAT && (m->wants & WANT_REPEAT) != 0;
  if (!is_again) return verdict == VERDICT_REPEAT ? VERDICT_PASS : verdict;
  flight->waits = FLIGHT_AGAIN;
  flight->uop.copy = flight->uop.copies++;
  simt_count(m, STAT_ISSUED, 1);
  simt_count(m, STAT_COPIES, 1);
  return verdict;
}

// True: the flight is over. False: it waits. `is_told`: there are hooks.
ALWAYS_INLINE static inline bool retire(Simt *m, uint32_t sm, uint32_t index, bool is_told) {
  Flight *flight = flight_at(m, sm, index);
  Uop *uop = &flight->uop;
  Instr scratch;
  Facts own;
  const Facts *facts;
  const Instr *instr = facts_decode(m, uop, &scratch, &own, &facts);
  if (instr == NULL && flight->waits != FLIGHT_AGAIN) {
    simt_trap(m, sm, uop->warp, uop->pc, TRAP_ILLEGAL_INSTRUCTION, uop->mask);
    return true;
  }
  const Who *who = is_told ? who_uop(m, sm, uop) : NULL;
  Verdict verdict = judge(m, who, sm, flight, instr, facts);
  if (verdict == VERDICT_REPEAT) return again_goes(m, sm, flight, instr, flight_operands(m, sm, index));
  if (verdict == VERDICT_HOLD) part_returns(m, sm, uop, instr, true);
  if (verdict == VERDICT_HOLD || verdict > VERDICT_REPEAT) return true;
  if (uop->copies >= 2 && part_has_readers(m, sm, uop)) {
    flight->waits = FLIGHT_WRITES;
    return false;
  }
  Results results = {.rows = flight->row, .row_count = flight->rows, .predicates = flight->has_predicates != 0 ? flight->predicates : NULL};
  write(m, who, sm, uop, instr, facts, &results);
  return true;
}

static void release(Simt *m, uint32_t sm, uint32_t place) {
  SmState *state = &m->at.sms[sm];
  uint32_t index = state->flight_queue[place];
  Flight *flight = flight_at(m, sm, index);
  if (places_are_wanted(m))
    simt_release(m, who_uop(m, sm, &flight->uop), REGION_LATCH, REGION_LATCH_PRED, (uint64_t)sm * SIMT_FLIGHTS + index);
  state->flights_used &= ~(1u << index);
  part_ends(m, sm, &flight->uop);
  list_remove(state->flight_queue, state->flight_count--, place);
  FlightOperands *operands = flight_operands(m, sm, index);
  if (flight->operand_rows != 0) memset(operands->row, 0, flight->operand_rows * sizeof operands->row[0]);
  uint32_t rows = flight->rows;
  memset(flight, 0, offsetof(Flight, row));
  row_clear(flight->row[0]); // also without results: it is open to faults
  for (uint32_t row = 1; row < rows; row++) row_clear(flight->row[row]);
}

void writeback_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  const SmState *state = &m->at.sms[sm];
  for (uint32_t place = 0; place < state->flight_count;) {
    if (block_slot_of_warp(m, flight_at(m, sm, state->flight_queue[place])->uop.warp) == block_slot) release(m, sm, place);
    else place++;
  }
}

// Who waits for a collector is woken when one becomes free: if that never happens, the machine shall notice that nothing can.
static void wake_for_next(Simt *m, uint32_t sm) {
  const SmState *state = &m->at.sms[sm];
  for (uint32_t place = 0; place < state->flight_count; place++) {
    const Flight *flight = flight_at(m, sm, state->flight_queue[place]);
    if (flight->waits != FLIGHT_GOES) continue;
    sm_wake(m, sm, max_u64(flight->done_at, simt_now(m) + 1));
    return;
  }
}

ALWAYS_INLINE static inline void retire_all(Simt *m, uint32_t sm, bool is_told) {
  SmState *state = &m->at.sms[sm];
  uint64_t now = simt_now(m);
  uint32_t place = 0;
  for (uint64_t ports = m->spec->sm_writeback; ports > 0 && place < state->flight_count; ports--) {
    uint32_t index = state->flight_queue[place];
    if (flight_at(m, sm, index)->done_at > now) break;
    if (retire(m, sm, index, is_told)) {
      release(m, sm, place);
      continue;
    }
    ports += flight_at(m, sm, index)->waits == FLIGHT_WRITES ? 1 : 0; // others pass it
    place++;
  }
}

static __attribute__((noinline)) void retire_hooked(Simt *m, uint32_t sm) { retire_all(m, sm, true); }

void writeback_cycle(Simt *m, uint32_t sm) {
  if (__builtin_expect(m->listens, 0)) retire_hooked(m, sm);
  else retire_all(m, sm, false);
  wake_for_next(m, sm);
}
