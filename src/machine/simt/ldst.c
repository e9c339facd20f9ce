// The load/store unit of an SM. Instructions enter in program order, spend `latency.address` in address generation, and stay in a
// ring until all their requests are made. Only the head of the ring makes requests, one a cycle: a store and
// a later load of the same address reach shared memory, the L1 and the L2 in this order. Loads wait for their replies outside
// the ring, so that those behind them go on; one a cycle writes back.
#include "machine/simt/memop.h"
#include "machine/simt/facts.h"
#include "machine/simt/plan.h"

enum { MOST_REPEATS = 16 }; // of one address generation: a hook that never agrees shall not stop the machine

static MemOp *memop_at(const Simt *m, uint32_t sm, uint32_t index) { return &m->at.memops[sm * m->dims.memops + index]; }

void ldst_enqueue(Simt *m, uint32_t sm, uint32_t entry) {
  SmState *state = &m->at.sms[sm];
  ASSERT(state->memory_count < SIMT_MEMORY_RING);
  state->memory_ring[ring_next(state->memory_head + state->memory_count, SIMT_MEMORY_RING)] = (uint16_t)entry;
  state->memory_count++;
}

static void leave_ring(SmState *state) {
  state->memory_ring[state->memory_head] = 0;
  state->memory_count--;
  state->memory_head = state->memory_count == 0 ? 0 : ring_next(state->memory_head + 1, SIMT_MEMORY_RING);
}

// ---- Dispatch ----------------------------------------------------------------------------------------

static inline void lane_addresses(const Simt *m, const Collector *collector, const OperandRows *rows, uint32_t offset,
                                  uint32_t address[2][WARP_LANES]) {
  const uint32_t *low = collector->row[rows->first[OPERAND_A]], *high = rows->count[OPERAND_A] == 2 ? low + WARP_LANES : NULL;
  m->rows->add(low, high, (uint64_t)(int64_t)(int32_t)offset, collector->uop.mask, address);
}

void address_of_lanes(const Simt *m, const Collector *collector, const Instr *instr, uint32_t offset, uint32_t address[2][WARP_LANES]) {
  Facts scratch;
  lane_addresses(m, collector, &facts_at(m, instr, &scratch)->sources, offset, address);
}

// What address generation has made, by lane slot of a part.
static inline Verdict tell_addresses(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]) {
  ResultEvent *event = part_show(m, sm, uop, who_uop(m, sm, uop));
  event->instr = instr;
  event->region = REGION_UNIT_AGU;
  event->row = sm;
  event->cycles = m->unit_interval[UNIT_LDST];
  event->rows = address[0];
  event->row_count = 2;
  event->predicates = NULL;
  return part_tell(m, uop, event);
}

// Once more, perhaps on other lanes; the addresses come back to the lane slots that they were on.
static Verdict repeat_addresses(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]) {
  Uop again = *uop;
  uint8_t origin[WARP_LANES];
  uint32_t moved[2][WARP_LANES] = {{0}};
  if (again_asks(m, sm, &again, instr, origin) != AGAIN_MOVES) return tell_addresses(m, sm, uop, instr, address);
  for (uint32_t left = again.mask; left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    for (uint32_t r = 0; r < 2; r++) moved[r][i] = address[r][origin[i] % WARP_LANES];
  }
  Verdict verdict = tell_addresses(m, sm, &again, instr, moved);
  for (uint32_t left = part_written(m, sm, &again); left != 0; left &= left - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(left);
    for (uint32_t r = 0; r < 2; r++) address[r][origin[i] % WARP_LANES] = moved[r][i];
  }
  part_ends(m, sm, &again);
  return verdict;
}

// False: a hook has taken it.
static __attribute__((noinline)) bool tell_until_good(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]) {
  uint32_t made[2][WARP_LANES];
  memcpy(made, address, sizeof made);
  for (uint32_t tries = 0; tries < MOST_REPEATS; tries++) {
    if (tries > 0) memcpy(address, made, sizeof made);
    Verdict verdict = tries == 0 ? tell_addresses(m, sm, uop, instr, address) : repeat_addresses(m, sm, uop, instr, address);
    if (verdict == VERDICT_HOLD) return false;
    if (verdict != VERDICT_REPEAT) return true;
    uop->copy = uop->copies++;
    simt_count(m, STAT_ISSUED, 1);
    simt_count(m, STAT_COPIES, 1);
  }
  return true;
}

static inline bool tell_or_wait(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]) {
  bool goes = true;
  if (__builtin_expect((m->wants & WANT_REPEAT) != 0, 0)) goes = tell_until_good(m, sm, uop, instr, address);
  else if ((m->wants & WANT_RESULT) != 0) goes = tell_addresses(m, sm, uop, instr, address) != VERDICT_HOLD;
  return goes && uop->is_early == 0; // of copies only the addresses are made; the last one makes the access
}

bool address_tell(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint32_t address[2][WARP_LANES]) {
  return tell_or_wait(m, sm, uop, instr, address);
}

static void count_instruction(Simt *m, const OpInfo *info) {
  bool is_load = info->kind == KIND_LOAD;
  if (info->kind == KIND_ATOMIC) {
    simt_count(m, STAT_ATOMICS, 1);
    return;
  }
  switch (info->space) {
  case SPACE_GENERIC:
  case SPACE_GLOBAL: simt_count(m, is_load ? STAT_LOADS_GLOBAL : STAT_STORES_GLOBAL, 1); break;
  case SPACE_SHARED: simt_count(m, is_load ? STAT_LOADS_SHARED : STAT_STORES_SHARED, 1); break;
  case SPACE_LOCAL: simt_count(m, is_load ? STAT_LOADS_LOCAL : STAT_STORES_LOCAL, 1); break;
  default: break;
  }
}

static inline void describe(const Simt *m, MemOp *op, const Instr *instr, const Facts *facts) {
  op->op = instr->op;
  op->mods = instr->mods;
  op->action = facts->action;
  op->element_bytes = facts->element_bytes;
  op->elements = facts->elements;
  op->sign_extend = facts->sign_extend;
  op->cached = m->dims.l1d_lines > 0 && m->spec->l1d_globals != 0 && !facts->bypasses;
}

// What a store or atomic writes.
static void take_data(MemOp *op, const Collector *collector, const OperandRows *rows) {
  if (op->action == ACTION_STORE) {
    uint32_t count = 0;
    for (unsigned k = 0; k < op->elements; k++) count += rows->count[OPERAND_D + k];
    memcpy(op->data, collector->row[rows->first[OPERAND_D]], min_u32(count, SIMT_MEMORY_ROWS) * sizeof op->data[0]);
  } else if (op->action == ACTION_ATOMIC) {
    memcpy(op->data, collector->row[rows->first[OPERAND_B]], min_u32(rows->count[OPERAND_B], 2) * sizeof op->data[0]);
    memcpy(op->other, collector->row[rows->first[OPERAND_C]], min_u32(rows->count[OPERAND_C], 2) * sizeof op->other[0]);
  }
}

MemOp *ldst_new(Simt *m, uint32_t sm, const Uop *uop) {
  uint32_t index = memop_free(m, &m->at.sms[sm]);
  if (index >= m->dims.memops) return NULL;
  MemOp *op = memop_at(m, sm, index);
  memset(op->data[0], 0, sizeof op->data[0]); // what faults may have left in it
  op->uop = *uop;
  op->left = uop->mask;
  return op;
}

void ldst_begin(Simt *m, uint32_t sm, MemOp *op) {
  SmState *state = &m->at.sms[sm];
  uint32_t index = (uint32_t)(op - &m->at.memops[sm * m->dims.memops]);
  uint64_t begins = max_u64(simt_now(m), state->ldst_free_at);
  state->ldst_free_at = begins + m->unit_interval[UNIT_LDST];
  op->stage = MEM_ADDRESS;
  op->ready_at = begins + m->unit_latency[UNIT_LDST] + op->uop.late;
  state->memory_used[index / 64] |= UINT64_C(1) << index % 64;
  if (places_are_wanted(m))
    simt_take(m, who_uop(m, sm, &op->uop), REGION_LDST_ADDRESS, REGION_LDST_DATA, (uint64_t)sm * m->dims.memops + index);
  ldst_enqueue(m, sm, index);
  if (op->uop.plan == 0) simt_warp(m, sm, ring_place(op->uop.warp, m->dims.warps))->loads++;
  else warps_begin_memory(m, sm, part_warps(m, sm, &op->uop, op->uop.mask));
  sm_wake(m, sm, op->ready_at);
}

void ldst_take(Simt *m, uint32_t sm, Collector *collector, const Instr *instr, const Facts *facts) {
  const OperandRows *rows = &facts->sources;
  uint32_t address[2][WARP_LANES];
  bool is_asked = (m->wants & WANT_RESULT) != 0 || collector->uop.is_early != 0, is_plain = !is_asked && collector->uop.plan == 0;
  if (!is_plain) lane_addresses(m, collector, rows, instr->imm, address);
  if (is_asked && !tell_or_wait(m, sm, &collector->uop, instr, address)) {
    part_returns(m, sm, &collector->uop, instr, true);
    part_ends(m, sm, &collector->uop);
    return;
  }
  if (collector->uop.plan != 0) part_to_threads(m, sm, collector, address, 2);
  MemOp *op = ldst_new(m, sm, &collector->uop);
  if (op == NULL) return;
  describe(m, op, instr, facts);
  const uint32_t *low = collector->row[rows->first[OPERAND_A]], *high = rows->count[OPERAND_A] == 2 ? low + WARP_LANES : NULL;
  if (!is_plain || !address_place(m, sm, op_info[instr->op].space, low, high, instr->imm, op)) {
    if (is_plain) lane_addresses(m, collector, rows, instr->imm, address);
    if (op->left == 0) memset(op->address, 0, sizeof op->address); // what faults may have left in it
    if (!address_translate(m, sm, instr, (const uint32_t(*)[WARP_LANES])address, op)) {
      memset(op, 0, sizeof *op);
      return;
    }
  }
  if (facts->action != ACTION_LOAD) take_data(op, collector, &facts->sources);
  if (op->uop.mask != 0) count_instruction(m, &op_info[instr->op]);
  ldst_begin(m, sm, op);
}

// ---- Requests ----------------------------------------------------------------------------------------

static uint32_t lanes_like(const Simt *m, const MemOp *op, unsigned lane) {
  uint64_t window = UINT64_MAX << PHYSICAL_SHIFT;
  return m->rows->matching(op->address, window, op->address[lane] & window) & op->left;
}

static bool may_join(const Simt *m, const MemOp *op) { return m->dims.acts != 0 && m->dims.l1d_lines == 0 && memop_may_join(op); }

static MemStep read_past(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction) {
  MemOp *op = memop_at(m, sm, index);
  Packet packet;
  memset(&packet, 0, offsetof(Packet, data));
  packet.address = transaction->line;
  packet.bytes = transaction->fetch;
  packet.kind = PACKET_READ;
  packet.client = CLIENT_LOAD;
  packet.lanes = transaction->lanes;
  packet_for_uop(m, sm, &op->uop, &packet);
  packet.tag = tag_make(TAG_DIRECT, index | (uint32_t)(op->word & 7) << TAG_WORD_SHIFT);
  packet.joins = m->dims.acts != 0 && memop_may_join(op);
  if (may_join(m, op) && l1d_join(m, sm, index, transaction)) return MEMORY_DONE;
  if (!sm_send(m, sm, &packet)) return memop_unsent(m, sm);
  op->outstanding++;
  return MEMORY_DONE;
}

static MemStep write_past(Simt *m, uint32_t sm, MemOp *op, const Transaction *transaction, bool is_local) {
  Packet packet = {.address = transaction->line, .bytes = transaction->bytes};
  uint32_t run = memop_run_bytes(op, is_local);
  for (uint32_t left = transaction->lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    memop_get(op, lane, op->word, (uint8_t *)packet.data + memop_offset(op, lane, run), run);
  }
  packet_for_uop(m, sm, &op->uop, &packet);
  if (!memory_send_store(m, sm, &packet, part_warps(m, sm, &op->uop, transaction->lanes))) return memop_unsent(m, sm);
  l1d_written(m, sm, transaction->line);
  return MEMORY_DONE;
}

// Atomics: every word of a line at most once in a packet; of lanes that collide the lowest goes first.
static Transaction atomic_lanes(const Simt *m, const MemOp *op) {
  uint32_t bytes = op->element_bytes, taken = 0;
  Transaction made = {.line = line_of(op->address[__builtin_ctz(op->left)])};
  uint32_t lanes = op->left & m->rows->matching(op->address, line_of(UINT64_MAX) | ADDRESS_SHARED, made.line);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint32_t words = (bytes == 8 ? 3u : 1u) << memop_offset(op, lane, bytes) / 4;
    if ((taken & words) != 0) continue;
    taken |= words;
    made.lanes |= 1u << lane;
  }
  m->rows->bytes_of(op->address, made.lanes, bytes, made.bytes.half);
  return made;
}

static MemStep atomic_past(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  Transaction made = atomic_lanes(m, op);
  Packet packet = {.address = made.line,
                   .bytes = made.bytes,
                   .kind = PACKET_ATOMIC,
                   .client = CLIENT_ATOMIC,
                   .lanes = made.lanes,
                   .op = op->op,
                   .mods = op->mods,
                   .tag = tag_make(TAG_DIRECT, index)};
  packet_for_uop(m, sm, &op->uop, &packet);
  unsigned registers = op->element_bytes == 8 ? 2 : 1;
  for (uint32_t left = made.lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint32_t at = memop_offset(op, lane, op->element_bytes);
    uint64_t b = row_get(op->data[0], lane, registers), c = row_get(op->other[0], lane, registers);
    memcpy((uint8_t *)packet.data + at, &b, op->element_bytes);
    memcpy((uint8_t *)packet.other + at, &c, op->element_bytes);
  }
  WriteWay way = write_way(m, sm, op->uop.warp, made.line, true);
  if (way == WRITE_HELD) {
    if (held_atomic(m, sm, op->uop.warp) == HELD_BLOCKED) return MEMORY_BLOCKED;
    way = write_way(m, sm, op->uop.warp, made.line, false);
  }
  if (way == WRITE_ENDS) packet.kind = PACKET_READ; // what it finds, and no more
  packet.quiet = way != WRITE_GOES;
  if (!sm_send(m, sm, &packet)) return memop_unsent(m, sm);
  l1d_written(m, sm, made.line);
  op->outstanding++;
  op->left &= ~made.lanes;
  simt_count(m, STAT_TRANSACTIONS_ATOMIC, 1);
  return MEMORY_DONE;
}

static MemStep one_transaction(Simt *m, uint32_t sm, uint32_t index, const Transaction *transaction, bool is_local) {
  MemOp *op = memop_at(m, sm, index);
  bool has_l1d = m->dims.l1d_lines > 0;
  if (op->action == ACTION_LOAD) {
    bool is_cached = is_local ? has_l1d : op->cached != 0;
    return is_cached ? l1d_load(m, sm, index, transaction) : read_past(m, sm, index, transaction);
  }
  if (is_local && has_l1d) return l1d_store_local(m, sm, op, transaction);
  return write_past(m, sm, op, transaction, is_local);
}

static void count_transaction(Simt *m, const MemOp *op) {
  simt_count(m, op->action == ACTION_LOAD ? STAT_TRANSACTIONS_LOAD : STAT_TRANSACTIONS_STORE, 1);
}

static MemStep global_request(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  Transaction made = coalesce_next(m, op->address, op->left, memop_lane_bytes(op));
  bool is_kept = __builtin_expect(m->dims.mirror_lines != 0, 0) && kept_load(m, sm, op, made.line, made.lanes);
  MemStep step = is_kept ? MEMORY_DONE : one_transaction(m, sm, index, &made, false);
  if (step != MEMORY_DONE) return step;
  op->left &= ~made.lanes;
  count_transaction(m, op);
  return step;
}

// Local memory: the lanes' first words, then their second ones, which lie a line further on.
static MemStep local_request(Simt *m, uint32_t sm, uint32_t index, unsigned lane) {
  MemOp *op = memop_at(m, sm, index);
  uint32_t lanes = lanes_like(m, op, lane), words = (memop_lane_bytes(op) + 3) / 4;
  MemStep step = MEMORY_DONE;
  if ((lanes & ~op->part) != 0) {
    Transaction made = coalesce_next(m, op->address, lanes & ~op->part, memop_run_bytes(op, true));
    made.line = line_of(made.line + (uint64_t)op->word * LINE_BYTES);
    step = one_transaction(m, sm, index, &made, true);
    if (step != MEMORY_DONE) return step;
    op->part |= made.lanes;
    count_transaction(m, op);
  }
  if ((lanes & ~op->part) != 0) return step;
  op->part = 0;
  op->word++;
  if (op->word < words) return step;
  op->word = 0;
  op->left &= ~lanes;
  return step;
}

static MemStep shared_request(Simt *m, uint32_t sm, MemOp *op, unsigned lane) {
  SmState *state = &m->at.sms[sm];
  RowExtent extent = m->rows->extent(op->address, op->left);
  uint32_t lanes = op->left;
  if (extent.least >> PHYSICAL_SHIFT != extent.most >> PHYSICAL_SHIFT) { // some are elsewhere
    lanes = lanes_like(m, op, lane);
    extent = m->rows->extent(op->address, lanes);
  }
  uint32_t own = lanes, cycles;
  if (__builtin_expect(m->launch->cluster[0] != 0, 0)) {
    own = cluster_own_lanes(op, lanes);
    if (own != 0) extent = m->rows->extent(op->address, lanes = own);
  }
  if (__builtin_expect(own == 0, 0)) lanes = cluster_access(m, sm, op, lanes, &cycles);
  else cycles = shared_access(m, sm, op, lanes, extent);
  uint64_t now = simt_now(m);
  uint64_t rest = m->spec->latency_shared - min_u64(m->spec->latency_shared, m->unit_latency[UNIT_LDST]);
  state->shared_free_at = now + (own == 0 ? 1 : cycles);
  memop_result_at(op, now + rest + cycles - 1);
  op->left &= ~lanes;
  return MEMORY_DONE;
}

static MemStep make_request(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  if (op->left == 0) return MEMORY_DONE;
  unsigned lane = (unsigned)__builtin_ctz(op->left);
  // A release: everything that this SM has written before must be there first.
  bool releases = (op->mods & MOD_ORDERED) != 0 && op->action != ACTION_LOAD && !memop_is_shared(op, lane);
  if (releases && m->at.sms[sm].stores_out != 0) return MEMORY_BLOCKED;
  if (memop_is_shared(op, lane)) return shared_request(m, sm, op, lane);
  PhysicalWindow window = address_window(op->address[lane]);
  if (op->action == ACTION_ATOMIC) return atomic_past(m, sm, index);
  if (op->action == ACTION_LOAD && window == PHYSICAL_BANKS) return constant_load(m, sm, index);
  return window == PHYSICAL_LOCAL ? local_request(m, sm, index, lane) : global_request(m, sm, index);
}

// ---- The end -----------------------------------------------------------------------------------------

static void clear(MemOp *op) {
  if (op->action == ACTION_ATOMIC) memset(op->other, 0, sizeof op->other);
  uint32_t rows = op->element_bytes < 4 ? op->elements : memop_lane_bytes(op) / 4;
  memset(op, 0, offsetof(MemOp, data) + max_u32(min_u32(rows, SIMT_MEMORY_ROWS), 2) * sizeof op->data[0]);
}

// Its place is free again.
static void leave(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  SimtWarp *warp = simt_warp(m, sm, ring_place(op->uop.warp, m->dims.warps));
  if (op->uop.plan == 0) warp->loads -= warp->loads > 0;
  else warps_end_memory(m, sm, part_warps(m, sm, &op->uop, op->uop.mask));
  if (places_are_wanted(m))
    simt_release(m, who_uop(m, sm, &op->uop), REGION_LDST_ADDRESS, REGION_LDST_DATA, (uint64_t)sm * m->dims.memops + index);
  part_ends(m, sm, &op->uop);
  clear(op);
  m->at.sms[sm].memory_used[index / 64] &= ~(UINT64_C(1) << index % 64);
}

static void retire(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  Instr scratch;
  Facts own;
  const Facts *facts;
  const Instr *instr = facts_decode(m, &op->uop, &scratch, &own, &facts);
  if (warp_is_stopping(m, sm, op->uop.warp)) instr = NULL; // its block was abandoned: thrown away
  else if (instr != NULL) writeback_known(m, sm, &op->uop, instr, facts, op->data, NULL);
  else simt_trap(m, sm, op->uop.warp, op->uop.pc, TRAP_ILLEGAL_INSTRUCTION, op->uop.mask);
  if ((op->mods & MOD_ORDERED) != 0 && op->action != ACTION_STORE) l1d_invalidate(m, sm); // an acquire
  leave(m, sm, index);
  sm_wake(m, sm, simt_now(m) + 1);
}

// The instruction whose results have been there longest writes back.
static void write_back(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  uint32_t index = state->done_queue[0];
  if (memop_at(m, sm, index)->ready_at <= simt_now(m)) {
    list_remove(state->done_queue, (uint32_t)state->done_count--, 0);
    retire(m, sm, index);
  }
  if (state->done_count > 0) sm_wake(m, sm, max_u64(memop_at(m, sm, state->done_queue[0])->ready_at, simt_now(m) + 1));
}

static void all_requested(Simt *m, uint32_t sm, uint32_t index) {
  MemOp *op = memop_at(m, sm, index);
  op->stage = MEM_WAIT;
  op->outstanding++; // as if the last reply came now
  if (op->action == ACTION_STORE) retire(m, sm, index);
  else memop_replied(m, sm, op);
}

// One request of the head. False: it could not be made.
static bool head_request(Simt *m, uint32_t sm, uint32_t entry) {
  if (entry >= RING_GATHERS) {
    MemStep made = gather_request(m, sm, entry - RING_GATHERS);
    if (made == MEMORY_DONE) leave_ring(&m->at.sms[sm]);
    return made != MEMORY_BLOCKED;
  }
  MemOp *op = memop_at(m, sm, entry);
  if (op->stage == MEM_ADDRESS) {
    op->stage = MEM_REQUEST;
    op->ready_at = 0;
  }
  MemStep step = make_request(m, sm, entry);
  if (op->left == 0) {
    leave_ring(&m->at.sms[sm]);
    all_requested(m, sm, entry);
  }
  return step != MEMORY_BLOCKED;
}

void ldst_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  uint64_t now = simt_now(m), begins;
  bool waits = m->at.head_waits[sm] != HEAD_GOES; // the head has made some requests: it has its addresses
  if (state->done_count > 0) write_back(m, sm);
  if (state->memory_count == 0) return;
  uint32_t entry = state->memory_ring[state->memory_head];
  begins = state->shared_free_at;
  if (!waits && entry < RING_GATHERS && memop_at(m, sm, entry)->stage == MEM_ADDRESS)
    begins = max_u64(begins, memop_at(m, sm, entry)->ready_at);
  if (begins > now) {
    sm_wake(m, sm, begins);
    return;
  }
  if (waits) return;
  if (head_request(m, sm, entry)) {
    if (state->memory_stalled_at != 0) simt_count(m, STAT_L1D_STALLS, now - state->memory_stalled_at);
    state->memory_stalled_at = 0;
    sm_wake(m, sm, now + 1);
  } else if (state->memory_stalled_at == 0) {
    state->memory_stalled_at = now;
  }
}

static bool entry_is_of(const Simt *m, uint32_t sm, uint32_t entry, uint32_t block_slot) {
  const Gather *gathers = &m->at.gathers[sm * m->dims.gathers];
  const Uop *of = entry >= RING_GATHERS ? &gathers[(entry - RING_GATHERS) % m->dims.gathers].uop : &memop_at(m, sm, entry)->uop;
  return block_slot_of_warp(m, of->warp) == block_slot;
}

// Those of other blocks keep their order.
static void leave_ring_all(Simt *m, uint32_t sm, uint32_t block_slot) {
  SmState *state = &m->at.sms[sm];
  uint16_t kept[SIMT_MEMORY_RING];
  uint32_t count = 0, before = state->memory_count;
  for (uint32_t i = 0; i < before; i++) {
    uint32_t entry = state->memory_ring[(state->memory_head + i) % SIMT_MEMORY_RING];
    if (!entry_is_of(m, sm, entry, block_slot)) kept[count++] = (uint16_t)entry;
  }
  if (count == before) return;
  memset(state->memory_ring, 0, sizeof state->memory_ring);
  memcpy(state->memory_ring, kept, count * sizeof kept[0]);
  state->memory_head = 0;
  state->memory_count = count;
  state->memory_stalled_at = 0;
  m->at.head_waits[sm] = HEAD_GOES;
}

// Who has no reply to wait for goes at once; the others when it has come, see retire.
void ldst_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  leave_ring_all(m, sm, block_slot);
  for (uint32_t i = 0; i < m->dims.memops; i++) {
    MemOp *op = memop_at(m, sm, i);
    bool asks = op->stage == MEM_ADDRESS || op->stage == MEM_REQUEST;
    if (!asks || block_slot_of_warp(m, op->uop.warp) != block_slot) continue;
    op->left = op->part = 0;
    op->stage = MEM_WAIT;
    if (op->outstanding != 0) continue;
    leave(m, sm, i);
  }
}

// ---- Replies -----------------------------------------------------------------------------------------

static void store_replied(Simt *m, uint32_t sm, uint32_t value) {
  uint32_t base = value & (SIMT_MOST_WARPS - 1);
  m->at.sms[sm].stores_out -= m->at.sms[sm].stores_out > 0;
  for (uint32_t left = value >> TAG_WARPS_SHIFT & 0xFF; left != 0; left &= left - 1) {
    SimtWarp *warp = simt_warp(m, sm, (base + (uint32_t)__builtin_ctz(left)) % m->dims.warps);
    warp->stores -= warp->stores > 0;
  }
}

// Old values of an atomic, zero-extended as registers hold them.
static void deliver_old(MemOp *op, uint32_t lanes, const uint32_t line[LINE_WORDS]) {
  for (uint32_t left = lanes & op->uop.mask; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    uint64_t old = 0;
    memcpy(&old, (const uint8_t *)line + memop_offset(op, lane, op->element_bytes), op->element_bytes);
    row_set(op->data[0], lane, op->element_bytes == 8 ? 2 : 1, old);
  }
}

static void atomic_replied(Simt *m, uint32_t sm, MemOp *op, const Packet *packet) {
  uint32_t seen[LINE_WORDS];
  if (m->dims.mirror_lines != 0) kept_atomic(m, sm, op, packet, seen);
  deliver_old(op, packet->lanes, m->dims.mirror_lines != 0 ? seen : packet->data);
}

static void direct_replied(Simt *m, uint32_t sm, const Packet *packet) {
  uint32_t value = packet->tag & ((1u << TAG_SHIFT) - 1);
  MemOp *op = memop_at(m, sm, (value & ((1u << TAG_WORD_SHIFT) - 1)) % m->dims.memops);
  if (op->stage != MEM_REQUEST && op->stage != MEM_WAIT) return;
  if (op->action == ACTION_ATOMIC) atomic_replied(m, sm, op, packet);
  else {
    uint32_t scratch[LINE_WORDS];
    const uint32_t *data = held_view(m, sm, op->uop.warp, packet->address, packet->data, scratch);
    memop_deliver(m, op, packet->lanes & op->uop.mask, value >> TAG_WORD_SHIFT & 7, data, packet->bytes);
  }
  memop_replied(m, sm, op);
}

uint32_t ldst_waiters(Simt *m, uint32_t sm, const Packet *packet, Who waiters[MSHR_MOST_WAITERS]) {
  return packet->tag >> TAG_SHIFT == TAG_MISS ? l1d_waiters(m, sm, packet, waiters) : 1; // 1: whoever asked
}

bool ldst_reply(Simt *m, uint32_t sm, const Packet *packet) {
  switch ((DataTag)(packet->tag >> TAG_SHIFT)) {
  case TAG_MISS: l1d_reply(m, sm, packet); break;
  case TAG_DIRECT: direct_replied(m, sm, packet); break;
  case TAG_STORE: store_replied(m, sm, packet->tag & ((1u << TAG_SHIFT) - 1)); break;
  default: break;
  }
  return true;
}
