// Operand collectors: an instruction waits here until its source registers have been read.
//
// The register file has banks (collector.layout says which row is in which), and a bank gives one or two rows of 32 lanes a cycle (collector.rows).
// Collectors are served round robin, each from as many banks as are free. Immediates, constants, RZ and implied masks need no bank.
// The lanes of a row are addressed one by one, so a part with threads of several warps reads their rows in one access (Narasiman et
// al., MICRO 2011, section 3.2). What is read goes to the thread's lane slot.
//
// Invariants: collect_order lists the collectors of collect_used, oldest first; a collector not in it is all zeros, but for what
// faults have done to its rows; pending is 0 for collectors outside collect_pending.
#include "machine/simt/facts.h"
#include "machine/simt/part.h"

enum { INJECTABLE_ROWS = 3 }; // collector, collector.b, collector.c of state.def

// Instructions that a hook wants once more wait in their flights for a collector. They go first: new ones would take every
// collector and then wait for a flight.
// Their time has come and write-back goes through the queue in order, so they are at its front.
uint32_t collect_repeats(const Simt *m, uint32_t sm) {
  const SmState *state = &m->at.sms[sm];
  uint32_t waiting = 0;
  if ((m->wants & WANT_REPEAT) == 0) return 0;
  for (uint32_t place = 0; place < state->flight_count; place++) {
    uint8_t waits = flight_at(m, sm, state->flight_queue[place])->waits;
    if (waits == FLIGHT_GOES) break;
    waiting += waits == FLIGHT_AGAIN ? 1 : 0;
  }
  return waiting;
}

// Collectors may be apart for SPs, for the other units of arithmetic, and for memory.
typedef enum CollectorClass { FOR_SP, FOR_SFU, FOR_MEMORY } CollectorClass;

static CollectorClass class_of(Port port) {
  if (port == PORT_SP) return FOR_SP;
  return port == PORT_LDST || port == PORT_GATHER ? FOR_MEMORY : FOR_SFU;
}

bool collect_class_is_full(const Simt *m, uint32_t sm, uint32_t port) {
  const SmState *state = &m->at.sms[sm];
  CollectorClass class = class_of((Port)port);
  const uint64_t units[] = {[FOR_SP] = m->spec->collector_sp, [FOR_SFU] = m->spec->collector_sfu, [FOR_MEMORY] = m->spec->collector_memory};
  uint64_t taken = 0;
  if (units[class] == 0) return false;
  for (uint32_t place = 0; place < state->collect_count; place++)
    taken += class_of((Port)state->collect_port[state->collect_order[place]]) == class ? 1 : 0;
  return taken >= units[class];
}

bool collect_has_room(const Simt *m, uint32_t sm, const Instr *instr) {
  if (collect_is_full(m, sm)) return false;
  Facts scratch;
  Port port = (Port)facts_at(m, instr, &scratch)->port;
  if (collect_class_is_full(m, sm, port)) return false;
  switch (port) {
  case PORT_LDST: return ldst_has_room(m, sm);
  case PORT_GATHER: return gather_has_room(m, sm, instr);
  default: return true;
  }
}

// ---- Taking an instruction -------------------------------------------------------------------------

static uint64_t row_of(const Simt *m, const Collector *collector) { return (uint64_t)(collector - m->at.collectors); }

static void fill_row(Collector *collector, unsigned row, uint32_t value) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) collector->row[row][lane] = value;
}

// The value of the operand that an immediate or a constant stands for; it has at most two registers.
static uint64_t selected_value(Simt *m, uint32_t sm, const Instr *instr, const Facts *facts) {
  if ((facts->flags & FACT_CONSTANT) == 0) return imm_value(operand_type(&op_info[instr->op], facts->value_operand), instr->imm);
  return constant_value(m, sm, facts->constant_bank, facts->constant_offset, facts->constant_bytes);
}

// The register file is larger than the host's inner caches, and a row is read a cycle later at the earliest: it may come meanwhile.
static inline void fetch_rows(const Simt *m, uint32_t sm, uint32_t base, const Facts *facts) {
  for (uint32_t left = facts->register_rows; left != 0; left &= left - 1) {
    const RegisterRow *row = register_at(m, sm, base + facts->registers[__builtin_ctz(left)]);
    __builtin_prefetch(&row->lane[0]);
    __builtin_prefetch(&row->lane[WARP_LANES / 2]);
  }
}

// Row numbers of the registers. SOURCES_AT_ONCE of them are one word: a plain part of an instruction with no more has them by one addition.
static inline void take_sources(Simt *m, uint32_t sm, Collector *collector, const Facts *facts) {
  const Uop *uop = &collector->uop;
  uint32_t base = register_row(m, sm, uop->warp, 0);
  bool is_inside = base + facts->highest < m->dims.register_rows; // unless a fault has struck the base
  collector->pending = facts->register_rows;
  if (is_inside) fetch_rows(m, sm, base, facts);
  if (__builtin_expect(uop->plan == 0 && is_inside && facts->sources.rows <= SOURCES_AT_ONCE, 1)) {
    uint64_t sources = ((base * SOURCES_EACH + facts->source_numbers) & facts->source_registers) | facts->source_others;
    memcpy(collector->source, &sources, sizeof sources);
    return;
  }
  for (uint32_t row = 0; row < facts->sources.rows; row++) {
    uint32_t number = facts->registers[row], at = is_inside ? base + number : register_row(m, sm, uop->warp, number);
    bool is_register = (facts->register_rows >> row & 1) != 0;
    collector->source[row] = (uint16_t)(!is_register ? SOURCE_NONE : uop->plan != 0 ? number : at);
  }
}

static void fill_others(Simt *m, uint32_t sm, Collector *collector, const Instr *instr, const Facts *facts) {
  uint64_t value = facts->value_row != NO_ROW ? selected_value(m, sm, instr, facts) : 0;
  unsigned values = facts->value_row != NO_ROW ? facts->sources.count[facts->value_operand] : 0;
  for (uint32_t left = facts->filled_rows; left != 0; left &= left - 1) {
    unsigned row = (unsigned)__builtin_ctz(left), k = row - facts->value_row; // of the value's own rows, if it is one of them
    if (row >= facts->value_row && k < values) fill_row(collector, row, k < 2 ? (uint32_t)(value >> 32 * k) : 0);
    else fill_row(collector, row, row == facts->ones_row ? UINT32_MAX : 0);
  }
}

void collect_take(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr) {
  Facts scratch;
  collect_known_facts(m, sm, uop, instr, facts_at(m, instr, &scratch));
}

void collect_known_facts(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts) {
  uint32_t index = collect_new(m, sm, facts->port);
  collector_at(m, sm, index)->uop = *uop;
  collect_begin(m, sm, index, instr, facts);
}

void collect_begin(Simt *m, uint32_t sm, uint32_t index, const Instr *instr, const Facts *facts) {
  Collector *collector = collector_at(m, sm, index);
  collector->uop.valid = 1;
  if (places_are_wanted(m)) simt_take(m, who_uop(m, sm, &collector->uop), REGION_COLLECTOR, REGION_COLLECTOR_MASK, row_of(m, collector));
  collector->whole = (facts->flags & FACT_WHOLE) != 0;
  collector->rows = facts->sources.rows;
  if (facts->filled_rows != 0) fill_others(m, sm, collector, instr, facts);
  take_sources(m, sm, collector, facts);
  if (collector->pending != 0) m->at.sms[sm].collect_pending |= UINT64_C(1) << index;
  else part_keep_operands(m, sm, collector);
  sm_wake(m, sm, simt_now(m) + 1);
}

bool collect_known(Simt *m, uint32_t sm, const Uop *uop, const FlightOperands *operands, uint32_t rows) {
  if (m->at.sms[sm].collect_count >= m->dims.collectors) return false;
  Instr scratch;
  const Instr *instr = simt_decode(m, uop->pc, uop->word, &scratch);
  Collector *collector = collector_at(m, sm, collect_new(m, sm, (uint8_t)(instr == NULL ? PORT_NONE : port_of(instr))));
  collector->uop = *uop;
  if (places_are_wanted(m)) simt_take(m, who_uop(m, sm, uop), REGION_COLLECTOR, REGION_COLLECTOR_MASK, row_of(m, collector));
  collector->rows = (uint16_t)rows;
  for (uint32_t row = 0; row < rows; row++) collector->source[row] = SOURCE_NONE;
  memcpy(collector->row, operands->row, rows * sizeof operands->row[0]);
  sm_wake(m, sm, simt_now(m) + 1);
  return true;
}

void collect_release(Simt *m, uint32_t sm, uint32_t place) {
  SmState *state = &m->at.sms[sm];
  uint32_t index = state->collect_order[place];
  Collector *collector = collector_at(m, sm, index);
  uint32_t rows = collector->rows;
  if (places_are_wanted(m)) simt_release(m, who_uop(m, sm, &collector->uop), REGION_COLLECTOR, REGION_COLLECTOR_MASK, row_of(m, collector));
  state->collect_used &= ~(UINT64_C(1) << index);
  state->collect_port[index] = 0;
  list_remove(state->collect_order, state->collect_count--, place);
  collector->uop = (Uop){.valid = 0};
  collector->pending = collector->rows = collector->whole = 0;
  memset(collector->source, 0, sizeof collector->source);
  for (uint32_t row = 0; row < INJECTABLE_ROWS; row++) row_clear(collector->row[row]);
  for (uint32_t row = INJECTABLE_ROWS; row < rows; row++) row_clear(collector->row[row]);
  if (collect_repeats(m, sm) > 0) sm_wake(m, sm, simt_now(m) + 1);
}

void collect_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  SmState *state = &m->at.sms[sm];
  for (uint32_t place = 0; place < state->collect_count;) {
    uint32_t index = state->collect_order[place];
    if (block_slot_of_warp(m, collector_at(m, sm, index)->uop.warp) != block_slot) {
      place++;
      continue;
    }
    state->collect_pending &= ~(UINT64_C(1) << index);
    part_ends(m, sm, &collector_at(m, sm, index)->uop);
    collect_release(m, sm, place);
  }
}

// ---- Reading the register file -----------------------------------------------------------------------

static void read_row(Simt *m, uint32_t sm, Collector *collector, unsigned row, uint32_t number) {
  RegisterRow *from = register_at(m, sm, number);
  uint32_t lanes = collector->whole != 0 ? UINT32_MAX : collector->uop.mask;
  if (cells_are_wanted(m))
    tell_read_here(m, cells_uop(m, sm, &collector->uop), REGION_RF, (uint64_t)sm * m->dims.register_rows + number, lanes, from->lane);
  memcpy(collector->row[row], from->lane, sizeof from->lane);
  simt_count(m, STAT_REGISTER_READS, 1);
}

// Each lane slot from the row of its own warp.
static void read_planned(Simt *m, uint32_t sm, Collector *collector, unsigned row) {
  const Uop *uop = &collector->uop;
  const Plan *plan = plan_at(m, sm, uop->plan);
  for (uint32_t left = uop->mask; left != 0;) {
    PartGroup group = part_group(m, sm, uop, left);
    uint32_t number = register_row(m, sm, group.warp, collector->source[row]);
    RegisterRow *from = register_at(m, sm, number);
    if (cells_are_wanted(m)) {
      uint32_t threads = part_bits_to_threads(m, plan, group.slots, group.slots);
      tell_read_here(m, cells_uop(m, sm, uop), REGION_RF, (uint64_t)sm * m->dims.register_rows + number, threads, from->lane);
    }
    simt_count(m, STAT_REGISTER_READS, 1);
    part_row_to_slots(m, plan, group.slots, from->lane, collector->row[row]);
    left &= ~group.slots;
  }
}

// Banks are mostly a power of two, and a division for every waiting row and cycle is felt.
static inline uint32_t place_among(uint32_t row, uint32_t banks) { return (banks & (banks - 1)) == 0 ? row & (banks - 1) : row % banks; }

// As a mask.
static inline uint64_t bank_of(const Simt *m, uint32_t row, uint32_t warp) {
  uint32_t banks = (uint32_t)m->spec->collector_banks;
  if (m->spec->collector_layout == BANKS_OF_SUBCORES) {
    uint32_t own = banks / m->dims.schedulers;
    return UINT64_C(1) << (scheduler_of_warp(m, warp) * own + place_among(row, own));
  }
  return UINT64_C(1) << place_among(m->spec->collector_layout == BANKS_BY_WARP ? row + warp : row, banks);
}

// Rows of the first operands that wait, as many as a collector takes in a cycle. The rows of a wide operand count as one.
static __attribute__((noinline)) uint32_t rows_of_operands(Simt *m, const Collector *collector) {
  Instr scratch;
  Facts own;
  const Instr *instr = simt_decode(m, collector->uop.pc, collector->uop.word, &scratch);
  if (instr == NULL) return collector->pending; // struck meanwhile
  const OperandRows *at = &facts_at(m, instr, &own)->sources;
  uint32_t wanted = 0, left = (uint32_t)m->spec->collector_operands;
  for (unsigned operand = 0; operand < VALUE_OPERANDS && left > 0; operand++) {
    uint32_t rows = (uint32_t)(((UINT64_C(1) << at->count[operand]) - 1) << at->first[operand]) & collector->pending;
    wanted |= rows;
    left -= rows != 0 ? 1 : 0;
  }
  return wanted != 0 ? wanted : collector->pending;
}

static inline uint32_t rows_of_cycle(Simt *m, const Collector *collector) {
  return m->spec->collector_operands == 0 ? collector->pending : rows_of_operands(m, collector);
}

// Banks, as masks: those that have given a row in this cycle, and those that have no more to give.
typedef struct Banks {
  uint64_t used, spent;
} Banks;

static inline bool take_from(Banks *banks, uint64_t bank, bool gives_two) {
  if ((banks->spent & bank) != 0) return false;
  if (!gives_two || (banks->used & bank) != 0) banks->spent |= bank;
  banks->used |= bank;
  return true;
}

// Reads what the banks can still give.
static void serve(Simt *m, uint32_t sm, uint32_t index, Banks *banks) {
  Collector *collector = collector_at(m, sm, index);
  bool is_planned = collector->uop.plan != 0;
  for (uint32_t left = rows_of_cycle(m, collector); left != 0; left &= left - 1) {
    unsigned row = (unsigned)__builtin_ctz(left);
    uint32_t number = is_planned ? register_row(m, sm, collector->uop.warp, collector->source[row]) : collector->source[row];
    if (!take_from(banks, bank_of(m, number, collector->uop.warp), m->spec->collector_rows == 2)) {
      simt_count(m, STAT_REGISTER_CONFLICTS, 1);
      continue;
    }
    if (is_planned && collector->whole == 0) read_planned(m, sm, collector, row);
    else read_row(m, sm, collector, row, number);
    collector->pending &= ~(1u << row);
  }
  if (collector->pending != 0) return;
  m->at.sms[sm].collect_pending &= ~(UINT64_C(1) << index);
  part_keep_operands(m, sm, collector);
}

void collect_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  if (state->collect_pending == 0) return;
  uint64_t from_next = state->collect_pending >> state->collect_next << state->collect_next;
  uint64_t before_next = state->collect_pending & ~from_next;
  Banks banks = {0};
  uint32_t first = (uint32_t)__builtin_ctzll(from_next != 0 ? from_next : before_next);
  for (; from_next != 0; from_next &= from_next - 1) serve(m, sm, (uint32_t)__builtin_ctzll(from_next), &banks);
  for (; before_next != 0; before_next &= before_next - 1) serve(m, sm, (uint32_t)__builtin_ctzll(before_next), &banks);
  state->collect_next = ring_place(first + 1, m->dims.collectors);
  sm_wake(m, sm, simt_now(m) + 1);
}
