// Issue: each scheduler looks for a warp whose next instruction can go, reads its predicates and sends it on its way.
//
// An instruction may issue when it is in the warp's buffer, its registers and predicates have no result under way (scoreboard),
// its constant operand is in the constant cache and a collector is free. Control flow, barriers and calls out are
// carried out here (control.c); everything else goes to a collector. Warps that wait for something that will announce itself
// are not looked at until it does: see front_sleep.
#include "machine/simt/issue.h"
#include "machine/simt/facts.h"
#include "machine/simt/plan.h"

// ---- Scoreboard ------------------------------------------------------------------------------------

static inline bool board_is_free(const Scoreboard *board, const Scoreboard *marks) {
  uint64_t both = board->predicates & marks->predicates;
  for (uint32_t i = 0; i < 4; i++) both |= board->registers[i] & marks->registers[i];
  return both == 0;
}

static inline void board_mark(Scoreboard *board, const Scoreboard *marks) {
  for (uint32_t i = 0; i < 4; i++) board->registers[i] |= marks->registers[i];
  board->predicates |= marks->predicates;
}

bool scoreboard_is_free(const Simt *m, uint32_t sm, uint32_t warp, const Instr *instr) {
  Facts scratch;
  return board_is_free(simt_scoreboard(m, sm, warp), &facts_at(m, instr, &scratch)->uses);
}

void scoreboard_mark(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr) {
  Facts scratch;
  board_mark(simt_scoreboard(m, sm, warp), &facts_at(m, instr, &scratch)->writes);
}

void scoreboard_clear(Simt *m, uint32_t sm, uint32_t warp, const Instr *instr) {
  Facts scratch;
  board_clear(m, sm, warp, facts_at(m, instr, &scratch));
}

// An older instruction of the warp still has to read, in its collector, a register that this one writes.
static bool overtakes_reader(const Simt *m, uint32_t sm, uint32_t warp, const Facts *facts) {
  for (uint64_t left = m->at.sms[sm].collect_pending; left != 0; left &= left - 1) {
    const Collector *collector = collector_at(m, sm, (uint32_t)__builtin_ctzll(left));
    const Uop *uop = &collector->uop;
    if (uop->warp != warp && (uop->plan == 0 || !part_has_warp(m, sm, uop, warp))) continue;
    const Scoreboard *marks = &facts->writes;
    for (uint32_t rows = collector->pending; rows != 0; rows &= rows - 1) {
      uint32_t source = collector->source[__builtin_ctz(rows) % SIMT_SOURCE_ROWS];
      uint32_t number = uop->plan != 0 ? source : source - register_row(m, sm, warp, 0);
      if (number < MAX_REGISTERS && (marks->registers[number / 64] >> number % 64 & 1) != 0) return true;
    }
  }
  return false;
}

bool next_is_free(const Simt *m, const Next *n) {
  return board_is_free(simt_scoreboard(m, n->sm, n->warp), &n->facts->uses) && !overtakes_reader(m, n->sm, n->warp, n->facts);
}

// ---- What is under way -----------------------------------------------------------------------------

// The instruction is of the block whose warps begin with `first`. Guests of other blocks are not waited for: nothing of theirs is written.
static bool uop_is_of(const Simt *m, const Uop *uop, uint32_t first) { return uop->warp >= first && uop->warp < first + m->layout.warps; }

// Nothing of the warp waits in a collector or for memory.
static bool has_drained(const Simt *m, uint32_t sm, uint32_t warp) {
  const SimtWarp *at = simt_warp(m, sm, warp);
  if (at->loads != 0 || at->stores != 0) return false;
  for (uint64_t left = m->at.sms[sm].collect_used; left != 0; left &= left - 1) {
    if (part_has_warp(m, sm, &collector_at(m, sm, (uint32_t)__builtin_ctzll(left))->uop, warp)) return false;
  }
  return true;
}

// Nothing of the block's warps [first, first + warps) is under way.
static bool has_ended(const Simt *m, uint32_t sm, uint32_t first) {
  const SmState *state = &m->at.sms[sm];
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    const SimtWarp *at = simt_warp(m, sm, (first + i) % m->dims.warps);
    if (at->loads != 0 || at->stores != 0) return false;
  }
  for (uint64_t left = state->collect_used; left != 0; left &= left - 1) {
    if (uop_is_of(m, &collector_at(m, sm, (uint32_t)__builtin_ctzll(left))->uop, first)) return false;
  }
  for (uint32_t left = state->flights_used; left != 0; left &= left - 1) {
    if (uop_is_of(m, &flight_at(m, sm, (uint32_t)__builtin_ctz(left))->uop, first)) return false;
  }
  for (uint32_t i = 0; i < m->dims.memops; i++) {
    const MemOp *op = &m->at.memops[sm * m->dims.memops + i];
    if (op->stage != MEM_FREE && uop_is_of(m, &op->uop, first)) return false;
  }
  for (uint32_t i = 0; i < m->dims.gathers; i++) {
    const Gather *gather = &m->at.gathers[sm * m->dims.gathers + i];
    if (gather->stage != MEM_FREE && uop_is_of(m, &gather->uop, first)) return false;
  }
  return true;
}

bool block_is_quiet(const Simt *m, uint32_t sm, uint32_t block_slot) { return has_ended(m, sm, block_slot * m->layout.warps); }

static void end_blocks(Simt *m, uint32_t sm) {
  for (uint64_t left = m->at.sms[sm].ending; left != 0; left &= left - 1) {
    uint32_t block_slot = (uint32_t)__builtin_ctzll(left);
    bool has = has_ended(m, sm, block_slot * m->layout.warps);
    if (has && (m->dims.held == 0 || held_lets_end(m, sm, block_slot))) dispatch_block_ended(m, sm, block_slot);
  }
}

// ---- May it go? ------------------------------------------------------------------------------------

static bool is_memory_port(uint8_t port) { return port == PORT_LDST || port == PORT_GATHER; }

// A result is missing: is it memory's? An access counts from its issue on, also while it waits in a collector for the unit.
static IdleReason missing_result(const Simt *m, const Next *n) {
  if (n->at->loads > 0) return IDLE_MEMORY;
  const SmState *state = &m->at.sms[n->sm];
  for (uint64_t left = state->collect_used; left != 0; left &= left - 1) {
    uint32_t index = (uint32_t)__builtin_ctzll(left);
    bool is_own = is_memory_port(state->collect_port[index]) && part_has_warp(m, n->sm, &collector_at(m, n->sm, index)->uop, n->warp);
    if (is_own) return IDLE_MEMORY;
  }
  return IDLE_PIPELINE;
}

static IdleReason sleep(Simt *m, const Next *n, IdleReason why) {
  front_sleep(m, n->sm, n->warp, why);
  return why;
}

static bool constant_is_ready(Simt *m, const Next *n) {
  const Facts *facts = n->facts;
  return (facts->flags & FACT_CONSTANT) == 0 ||
         constant_ready(m, n->sm, n->warp, facts->constant_bank, facts->constant_offset, facts->constant_bytes);
}

// A collector and what lies behind it; constants are there. Changes nothing.
static inline IdleReason units_reason(const Simt *m, const Next *n) {
  const Facts *facts = n->facts;
  if ((facts->flags & FACT_DRAINS) != 0) return has_drained(m, n->sm, n->warp) ? IDLE_NONE : IDLE_MEMORY;
  if ((facts->flags & FACT_CONTROL) != 0) return IDLE_NONE;
  bool has_room = !collect_is_full(m, n->sm);
  if (has_room && m->has_collector_classes) has_room = !collect_class_is_full(m, n->sm, facts->port);
  if (has_room && facts->port == PORT_LDST) has_room = ldst_has_room(m, n->sm);
  if (has_room && facts->port == PORT_GATHER) has_room = gather_has_room(m, n->sm, n->instr);
  if (has_room) return IDLE_NONE;
  return facts->unit == UNIT_LDST || facts->unit == UNIT_TEX ? IDLE_MEMORY : IDLE_PIPELINE;
}

static inline IdleReason look_at_units(Simt *m, const Next *n) {
  if (!constant_is_ready(m, n)) return IDLE_MEMORY;
  IdleReason reason = units_reason(m, n);
  if (reason == IDLE_NONE || (n->facts->flags & FACT_DRAINS) != 0) return reason;
  // Room appears in a cycle of this SM, before the issue stage: nobody needs to wake it.
  SmState *state = &m->at.sms[n->sm];
  if (state->collect_count >= m->dims.collectors) state->wants_collector |= bit_of(n->warp);
  else if (n->facts->unit == UNIT_LDST) state->wants_ldst |= bit_of(n->warp);
  return reason;
}

// Is the instruction at the top's pc in the buffer?
typedef enum Seen { SEEN_ELSEWHERE, SEEN_NOTHING, SEEN_ARRIVING, SEEN_THERE } Seen;
static inline void next_know(const Simt *m, Next *n, const Instr *instr) {
  n->instr = instr;
  n->facts = instr == NULL ? NULL : facts_at(m, instr, &n->own);
}

static inline Seen next_see(const Simt *m, Next *n) {
  const SimtWarp *at = n->at;
  size_t index = (size_t)(at - m->at.warps);
  n->top = &m->at.entries[index * m->dims.stack + at->warp.stack.depth - 1];
  n->entry = &m->at.buffers[index * m->dims.buffer + ring_next(at->head, m->dims.buffer)];
  n->pc = n->top->pc;
  n->mask = n->top->mask;
  if ((at->buffered > 0 ? n->entry->pc : at->fetch_pc) != n->pc) return SEEN_ELSEWHERE;
  if (at->buffered == 0) return SEEN_NOTHING;
  if (at->buffered <= at->arriving && at->fetched_at > simt_now(m)) return SEEN_ARRIVING;
  next_know(m, n, n->pc < m->program->code_count ? simt_decode(m, n->pc, n->entry->word, &n->scratch) : NULL);
  return SEEN_THERE;
}

IdleReason next_find(Simt *m, Next *n) {
  switch (next_see(m, n)) {
  case SEEN_ELSEWHERE: fetch_restart(m, n->sm, n->warp, n->pc); return sleep(m, n, IDLE_FETCH);
  case SEEN_NOTHING: return sleep(m, n, IDLE_FETCH);
  case SEEN_ARRIVING: sm_wake(m, n->sm, n->at->fetched_at); return IDLE_FETCH;
  default: return IDLE_NONE;
  }
}

// What control_front finds nearly always.
static inline bool top_is_ready(const Simt *m, const Next *n) {
  uint32_t depth = n->at->warp.stack.depth;
  if (depth == 0 || depth > m->dims.stack) return false;
  const SimtEntry *top = &simt_entries(m, n->sm, n->warp)[depth - 1];
  return entry_is_ready(top) && top->pc != top->reconverge && top->mask != 0;
}

static IdleReason look_at_rest(Simt *m, Next *n) {
  const Rest *rest = rest_of(m, n->sm, n->warp);
  n->is_rest = true;
  next_know(m, n, rest->empty != 0 ? NULL : simt_decode(m, rest->uop.pc, rest->uop.word, &n->scratch));
  if (rest_waits(m, n)) return IDLE_PIPELINE; // collecting wakes the SM
  return n->instr == NULL ? IDLE_NONE : look_at_units(m, n);
}

// The top of the stack is ready, the buffer holds its instruction, and that is the program's own: nearly always.
static inline bool sees_at_once(const Simt *m, Next *n, size_t index) {
  const SimtWarp *at = n->at;
  uint32_t level = at->warp.stack.depth - 1, room = m->dims.buffer;
  if (level >= m->dims.stack || at->buffered == 0) return false;
  SimtEntry *top = &m->at.entries[index * m->dims.stack + level];
  BufferEntry *entry = &m->at.buffers[index * room + ring_next(at->head, room)];
  uint32_t pc = top->pc, mask = top->mask;
  if (!entry_is_ready(top) || pc == top->reconverge || mask == 0 || entry->pc != pc || pc >= m->facts_count) return false;
  if (at->buffered <= at->arriving && at->fetched_at > simt_now(m)) return false;
  const InstrWord *word = &m->program->code[pc];
  if (((entry->word.low ^ word->low) | (entry->word.high ^ word->high)) != 0) return false;
  n->top = top;
  n->entry = entry;
  n->pc = pc;
  n->mask = mask;
  n->instr = &m->facts_of[pc];
  n->facts = &m->facts[pc];
  return true;
}

// What the instruction needs: its operands, and room for it.
ALWAYS_INLINE static inline IdleReason look_at_needs(Simt *m, Next *n) {
  bool is_begun = n->at->to_issue != 0; // large-warp mode: it has marked its destinations itself
  if (!is_begun && !board_is_free(&m->at.scoreboards[n->at - m->at.warps], &n->facts->uses)) return sleep(m, n, missing_result(m, n));
  if (!is_begun && m->at.sms[n->sm].collect_pending != 0 && overtakes_reader(m, n->sm, n->warp, n->facts))
    return IDLE_PIPELINE; // collecting wakes the SM
  return look_at_units(m, n);
}

// IDLE_NONE: it can issue now. Warps that cannot are put to sleep where something will wake them; lines that are missing are asked for.
ALWAYS_INLINE static inline IdleReason look(Simt *m, Next *n) {
  size_t index = (size_t)n->sm * m->dims.warps + n->warp;
  SimtWarp *at = n->at = &m->at.warps[index];
  if (__builtin_expect(at->has_rest != 0, 0)) return look_at_rest(m, n);
  if (at->next_issue_at > simt_now(m)) {
    sm_wake(m, n->sm, at->next_issue_at);
    return IDLE_PIPELINE;
  }
  if ((at->valid & 1) == 0) return sleep(m, n, IDLE_PIPELINE);
  if (!sees_at_once(m, n, index)) {
    if (!top_is_ready(m, n) && !control_front(m, n->sm, n->warp)) return sleep(m, n, IDLE_BARRIER);
    IdleReason reason = next_find(m, n);
    if (reason != IDLE_NONE || n->instr == NULL) return reason;
  }
  return look_at_needs(m, n);
}

// The same without any effect. A warp whose flow has to be put in order first is not ready.
bool warp_look(const Simt *m, uint32_t sm, uint32_t warp, WarpView *view) {
  Next n = {.sm = sm, .warp = warp};
  if (sm >= m->dims.sms || warp >= m->dims.warps || (m->at.sms[sm].present >> warp & 1) == 0) return false;
  const SimtWarp *at = n.at = simt_warp(m, sm, warp);
  if ((at->valid & 1) == 0 || at->has_rest != 0 || !top_is_ready(m, &n) || next_see(m, &n) != SEEN_THERE || n.instr == NULL) return false;
  *view = (WarpView){.pc = n.pc,
                     .threads = n.mask & next_guard(&n),
                     .issue = at->issued,
                     .word = n.entry->word,
                     .scheduler = scheduler_of_warp(m, warp),
                     .block_slot = at->block_slot,
                     .home = at->shuffled != 0 ? at->home : part_identity};
  const Facts *facts = n.facts;
  bool has_constant =
      (facts->flags & FACT_CONSTANT) == 0 || constant_is_there(m, sm, facts->constant_bank, facts->constant_offset, facts->constant_bytes);
  view->is_ready =
      at->next_issue_at <= simt_now(m) && has_constant && at->to_issue == 0 && next_is_free(m, &n) && units_reason(m, &n) == IDLE_NONE;
  return true;
}

bool simt_look_at(const HookMachine *machine, uint32_t sm, uint32_t warp, WarpView *view) {
  return warp_look((const Simt *)(const void *)((const uint8_t *)machine - offsetof(Simt, hook_machine)), sm, warp, view);
}

// ---- It goes ---------------------------------------------------------------------------------------

// What kind of work an instruction is, by its unit.
static const StatId mix_stat[UNIT_COUNT] = {
    [UNIT_ALU] = STAT_INSTRUCTIONS_ALU,        [UNIT_FP32] = STAT_INSTRUCTIONS_ALU,   [UNIT_FP64] = STAT_INSTRUCTIONS_ALU,
    [UNIT_SFU] = STAT_INSTRUCTIONS_SFU,        [UNIT_IMUL] = STAT_INSTRUCTIONS_ALU,   [UNIT_IDIV] = STAT_INSTRUCTIONS_ALU,
    [UNIT_LDST] = STAT_INSTRUCTIONS_MEMORY,    [UNIT_TEX] = STAT_INSTRUCTIONS_MEMORY, [UNIT_TENSOR] = STAT_INSTRUCTIONS_ALU,
    [UNIT_BRANCH] = STAT_INSTRUCTIONS_CONTROL,
};

static inline void begin(Simt *m, const Next *n, uint32_t threads) {
  n->at->issued++;
  n->at->ready_since = 0;
  if (warp_is_mirror(m, n->sm, n->warp)) {
    simt_count(m, STAT_MIRROR_INSTRUCTIONS, 1);
    return;
  }
  uint64_t *counts = m->at.stats->value;
  m->at.core->instructions++;
  counts[STAT_WARP_INSTRUCTIONS]++;
  counts[STAT_THREAD_INSTRUCTIONS] += threads;
  counts[mix_stat[n->facts->unit]]++;
}

void next_begins(Simt *m, const Next *n, uint32_t threads) { begin(m, n, threads); }

static inline void count_issue(Simt *m, uint32_t threads) {
  simt_count(m, STAT_ISSUED, 1);
  simt_count(m, (StatId)(STAT_ACTIVE_0 + threads), 1);
}

// Predicates that the instruction reads, told to the hooks in one piece.
static void tell_predicates(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, uint32_t units) {
  SimtWarp *at = simt_warp(m, sm, warp);
  simt_tell_read(m, who_scheduled(m, sm, warp, pc, at->issued), REGION_PREDICATES, sm * m->dims.warps + warp, units, at->warp.predicates);
}

void predicates_tell(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const Instr *instr) {
  Facts scratch;
  if (!cells_are_wanted(m)) return;
  uint32_t units = facts_at(m, instr, &scratch)->predicates_read;
  if (units != 0) tell_predicates(m, sm, warp, pc, units);
}

PredicateBits predicates_of(const Simt *m, uint32_t sm, uint32_t warp, const Instr *instr) {
  const uint32_t *predicates = simt_warp(m, sm, warp)->warp.predicates;
  uint8_t pa = op_info[instr->op].a == TYPE_pred && instr->a < PRED_TRUE ? instr->a : PRED_TRUE;
  return (PredicateBits){predicates[instr->ps] ^ (instr->ps_negated ? UINT32_MAX : 0), predicates[pa]};
}

static inline PredicateBits bits_of(const Next *n) {
  const uint32_t *predicates = n->at->warp.predicates;
  return (PredicateBits){predicates[n->instr->ps] ^ (n->instr->ps_negated ? UINT32_MAX : 0), predicates[n->facts->pa]};
}

static inline Uop uop_of(const Simt *m, const Next *n, uint32_t threads) {
  PredicateBits bits = bits_of(n);
  return (Uop){.word = n->entry->word,
               .issue = n->at->issued,
               .issued_at = simt_now(m),
               .pc = n->pc,
               .mask = threads,
               .ps = bits.ps,
               .pa = bits.pa,
               .valid = 1,
               .warp = (uint8_t)n->warp,
               .copies = 1};
}

Uop next_uop(const Simt *m, const Next *n, uint32_t threads) { return uop_of(m, n, threads); }

// Home lanes of threads.
static inline uint32_t home_lanes(const Simt *m, const SimtWarp *at, uint32_t threads) {
  return at->shuffled == 0 ? threads : m->rows->bits_to(threads, at->home);
}

// False: not now.
static inline bool tell_issue(Simt *m, const Next *n, uint32_t threads, uint32_t idle) {
  uint64_t number = n->at->issued - (n->at->to_issue != 0 ? 1 : 0);
  bool begins = n->at->to_issue == 0; // not a further part of it
  if (begins && m->keeps_instructions) hooks_instruction_begins(&m->regions, m->block, n->sm, n->warp, number);
  if ((m->wants & WANT_ISSUE) == 0) return true;
  IssueEvent event = {.who = who_scheduled(m, n->sm, n->warp, n->pc, number),
                      .scheduler = n->scheduler,
                      .instr = n->instr,
                      .unit = n->facts->unit,
                      .mask = threads,
                      .idle_lanes = idle};
  Verdict verdict = hook_tell_issue(m->listener, &m->hook_machine, &event);
  if (__builtin_expect(verdict != VERDICT_PASS, 0)) {
    simt_obey(m, event.who, verdict);
    if (verdict == VERDICT_STALL) sm_wake(m, n->sm, simt_now(m) + 1);
    if (verdict == VERDICT_STALL) return false;
  }
  return !simt_has_trapped(m);
}

bool issue_told(Simt *m, const Next *n, uint32_t threads, uint32_t idle) { return tell_issue(m, n, threads, idle); }

static inline void pop_buffer(Simt *m, const Next *n) {
  SimtWarp *at = n->at;
  *n->entry = (BufferEntry){.valid = 0};
  at->head = (uint8_t)ring_next(at->head + 1u, m->dims.buffer);
  at->buffered--;
  at->arriving = (uint8_t)min_u32(at->arriving, at->buffered);
  if (at->fetch_wait == 0 && front_may_fetch(m, at)) m->at.sms[n->sm].fetch_wants |= bit_of(n->warp);
}

// After an instruction: reconvergence, and the buffer follows the flow.
static void follow_flow(Simt *m, const Next *n) {
  SimtWarp *at = n->at;
  if ((at->valid & 1) == 0 || simt_has_trapped(m)) return;
  if (!control_front(m, n->sm, n->warp)) {
    sleep(m, n, IDLE_BARRIER);
    return;
  }
  uint32_t pc = simt_entries(m, n->sm, n->warp)[at->warp.stack.depth - 1].pc;
  uint32_t buffered = at->buffered > 0 ? simt_buffer(m, n->sm, n->warp)[ring_next(at->head, m->dims.buffer)].pc : at->fetch_pc;
  if (pc != buffered) fetch_restart(m, n->sm, n->warp, pc);
}

void next_passes(Simt *m, const Next *n) {
  pop_buffer(m, n);
  SimtEntry *top = n->top;
  if (++top->pc == top->reconverge) follow_flow(m, n); // else the buffer has, or will have, what follows
}

// The same of a whole instruction. If the buffer is empty now, it need not be looked at to know that the warp has to wait.
static inline void pass(Simt *m, const Next *n) {
  const SimtWarp *at = n->at;
  next_passes(m, n);
  bool is_starved = at->buffered == 0 && at->fetch_pc == n->pc + 1 && n->top->pc == n->pc + 1 && n->top->reconverge != n->pc + 1;
  m->at.starved[n->sm] |= (uint64_t)is_starved << n->warp;
}

// Looks at memory that others may change; see branch_spins in control.c.
static void note_polls(const Next *n) {
  Warp *warp = &n->at->warp;
  if ((n->facts->flags & FACT_POLLS) == 0) return;
  if (op_info[n->instr->op].kind == KIND_STORE) warp->polls = 0;
  else if (op_info[n->instr->op].kind == KIND_LOAD) warp->polls++;
  else warp->polls = n->instr->d[0] == REG_ZERO ? 0 : warp->polls + 1;
}

void next_issues(Simt *m, const Next *n, uint32_t threads) {
  count_issue(m, threads);
  note_polls(n);
}

// Its uop is written where it will lie: a copy of what has just been written in pieces is slow. `number`: of the instruction within the warp.
ALWAYS_INLINE static inline void start(Simt *m, const Next *n, uint32_t threads, PredicateBits bits, InstrWord word, uint64_t number) {
  uint64_t now = simt_now(m);
  board_mark(simt_scoreboard(m, n->sm, n->warp), &n->facts->writes);
  note_polls(n);
  uint32_t index = collect_new(m, n->sm, n->facts->port);
  Uop *uop = &collector_at(m, n->sm, index)->uop; // see uop_of
  uop->word = word;
  uop->issue = number;
  uop->issued_at = now;
  uop->pc = n->pc;
  uop->mask = threads;
  uop->ps = bits.ps;
  uop->pa = bits.pa;
  uop->warp = (uint8_t)n->warp;
  uop->copies = 1;
  collect_begin(m, n->sm, index, n->instr, n->facts);
}

// False: it cannot be carried out, which is a trap. Without code there is no instruction, and without a limit (0) none is reached.
static inline bool check_word(Simt *m, const Next *n) {
  uint64_t most = m->environment->instruction_limit - 1;
  if (__builtin_expect(n->instr != NULL && m->at.core->instructions <= most, 1)) return true;
  TrapKind kind = n->instr != NULL ? TRAP_LIMIT : n->pc < m->program->code_count ? TRAP_ILLEGAL_INSTRUCTION : TRAP_INVALID_PC;
  simt_trap(m, n->sm, n->warp, n->pc, kind, n->mask);
  return false;
}

// A trap that a hook has undone: the warp goes on after the instruction.
static bool skip(Simt *m, const Next *n) {
  if (simt_has_trapped(m)) return false;
  m->at.core->instructions++;
  next_passes(m, n);
  return true;
}

// It changes the flow, or waits for other threads: carried out at once, or its members are known now (CONTROL_GO_ON).
static bool pass_control(Simt *m, const Next *n, uint32_t *members) {
  pop_buffer(m, n);
  return control_issue(m, n->sm, n->warp, n->instr, n->pc, members) == CONTROL_GO_ON && *members != 0;
}

// The same where hooks have a say in who issues where, or threads are not on the lanes of their numbers.
static bool issue_planned(Simt *m, const Next *n, uint32_t active) {
  Offer offer;
  uint32_t threads = count_ones(active);
  Uop uop = uop_of(m, n, active);
  offer_begin(&offer, n->sm, &uop, n->instr);
  offer_owner(&offer, n->warp, uop.issue, 0);
  offer_threads(m, &offer, 0, active, uop.ps, uop.pa, true);
  if (!offer_plan(m, &offer) || (!offer.is_wide && !offer_place(m, &offer))) return false;
  next_begins(m, n, threads);
  if (!offer.is_wide) {
    bool is_whole = offer.is_plain && offer.copies == 1 && offer.sp == PART_ANY; // as if nobody had been asked
    next_issues(m, n, count_ones(offer.taken));
    scoreboard_mark(m, n->sm, n->warp, n->instr);
    if (is_whole) {
      uop.late = offer.late;
      offer_wish(m, &offer);
      collect_take(m, n->sm, &uop, n->instr);
    } else {
      rest_begin(m, n, &uop, offer.copies);
      rest_send(m, n, &offer);
    }
    next_passes(m, n);
    return true;
  }
  count_issue(m, threads);
  if (pass_control(m, n, &uop.mask)) {
    scoreboard_mark(m, n->sm, n->warp, n->instr);
    note_polls(n);
    rest_begin(m, n, &uop, offer.copies);
    offer_wish(m, &offer);
    rest_part(m, n);
  } else {
    rest_empty(m, n, offer.copies);
  }
  follow_flow(m, n);
  return true;
}

static inline uint32_t active_threads(const Next *n) { return n->mask & next_guard(n); }
static inline bool is_at_issue(const Next *n) { return (n->facts->flags & (FACT_CONTROL | FACT_WIDE)) != 0; }

typedef enum Told { TOLD_GOES, TOLD_SKIPS, TOLD_STAYS, TOLD_PACKS } Told;
// Before it issues: it can be carried out, or that is a trap. With hooks: its word leaves the buffer, predicates are read, it is about to issue.
ALWAYS_INLINE static inline Told prepare(Simt *m, Next *n, bool is_told) {
  bool has_cells = is_told && cells_are_wanted(m);
  if (has_cells && n->pc < m->program->code_count) {
    BufferEntry *entry = n->entry;
    InstrWord before = entry->word;
    tell_read_here(m, who_scheduled(m, n->sm, n->warp, WHO_NO_INDEX, WHO_NO_NUMBER), REGION_BUFFER, (uint64_t)(entry - m->at.buffers), 0xF,
                   &entry->word);
    if (__builtin_expect(((entry->word.low ^ before.low) | (entry->word.high ^ before.high)) != 0, 0)) {
      next_know(m, n, simt_decode(m, n->pc, entry->word, &n->scratch));
      if (n->instr != NULL && look_at_needs(m, n) != IDLE_NONE) return TOLD_STAYS; // another one was found ready
    }
  }
  if (!check_word(m, n)) return TOLD_SKIPS;
  if (is_told && simt_has_trapped(m)) return TOLD_STAYS;
  if (has_cells && n->facts->predicates_read != 0) tell_predicates(m, n->sm, n->warp, n->pc, n->facts->predicates_read);
  uint32_t active = active_threads(n);
  if (m->spec->scheduler_large_warp > 1 && active != 0 && !is_at_issue(n)) return TOLD_PACKS;
  return !is_told || tell_issue(m, n, active, (m->wants & WANT_ISSUE) == 0 ? 0 : ~home_lanes(m, n->at, active)) ? TOLD_GOES : TOLD_STAYS;
}

// False: it did not. `is_told`: there are hooks.
ALWAYS_INLINE static inline bool issue(Simt *m, Next *n, bool is_told) {
  if (n->is_rest) return rest_issue(m, n);
  Told told = prepare(m, n, is_told);
  if (told != TOLD_GOES) return told == TOLD_SKIPS ? skip(m, n) : told == TOLD_PACKS && pack_issue(m, n);
  uint32_t active = active_threads(n), flags = n->facts->flags;
  bool at_issue = is_at_issue(n), has_work = active != 0 && !at_issue;
  bool is_planned = (is_told && plan_is_asked(m)) || n->at->shuffled != 0;
  if (is_planned && active != 0 && (has_work || (flags & FACT_WIDE) != 0)) return issue_planned(m, n, active);
  uint32_t threads = count_ones((flags & FACT_BRANCH) != 0 ? n->mask : active);
  PredicateBits bits = bits_of(n);
  InstrWord word = n->entry->word;
  uint64_t number = n->at->issued;
  begin(m, n, threads);
  count_issue(m, threads);
  if (!at_issue) {
    if (has_work) start(m, n, active, bits, word, number);
    pass(m, n);
    return true;
  }
  if (pass_control(m, n, &active)) start(m, n, active, bits, word, number);
  follow_flow(m, n);
  return true;
}

// ---- The cycle -------------------------------------------------------------------------------------

// First ready, first served needs to know of all warps since when they have been ready.
static __attribute__((noinline)) void note_ready(Simt *m, uint32_t sm, uint32_t scheduler, uint64_t set) {
  for (uint64_t left = set; left != 0; left &= left - 1) {
    Next n = {.sm = sm, .scheduler = scheduler, .warp = (uint32_t)__builtin_ctzll(left)};
    bool ready = look(m, &n) == IDLE_NONE;
    if (!ready) n.at->ready_since = UINT64_MAX;
    else if (n.at->ready_since == 0 || n.at->ready_since == UINT64_MAX)
      n.at->ready_since = ++m->at.sms[sm].schedulers[scheduler].ready_order;
  }
}

// Warps from the one after `last` to the one before `next`, going round.
static inline uint64_t warps_between(uint32_t last, uint32_t next) {
  uint64_t later = UINT64_MAX << (last % SIMT_MOST_WARPS) << 1, before = bit_of(next) - 1;
  return next > last % SIMT_MOST_WARPS ? later & before : later | before;
}

static inline uint64_t asleep_warps(const SmState *state) {
  return state->wants_collector | state->wants_ldst | state->waits[IDLE_MEMORY] | state->waits[IDLE_BARRIER] | state->waits[IDLE_FETCH] |
         state->waits[IDLE_PIPELINE];
}

ALWAYS_INLINE static inline bool try_here(Simt *m, uint32_t sm, uint32_t scheduler, uint32_t warp, uint32_t refused[IDLE_REASONS],
                                          bool is_told) {
  Next n; // filled by hand: its scratch is large and need not be zero
  n.sm = sm, n.scheduler = scheduler, n.warp = warp, n.is_rest = false;
  IdleReason reason = look(m, &n);
  if (reason == IDLE_NONE && issue(m, &n, is_told)) {
    bool is_long = !n.is_rest && n.facts != NULL && (n.facts->flags & FACT_LONG) != 0;
    if (is_told && decisions_are_wanted(m)) {
      schedule_issued(m, sm, scheduler, warp, is_long);
      return true;
    }
    SchedulerState *at = &m->at.sms[sm].schedulers[scheduler];
    at->last = warp;
    if (at->wanted == warp + 1) at->wanted = 0;
    if (is_long) at->active &= ~bit_of(warp);
    return true;
  }
  uint32_t is_asleep = asleep_warps(&m->at.sms[sm]) >> warp & 1; // then it is counted there
  refused[reason == IDLE_NONE ? IDLE_PIPELINE : reason] += 1 - is_asleep;
  return false;
}

static __attribute__((noinline)) bool try_warp(Simt *m, uint32_t sm, uint32_t scheduler, uint32_t warp, uint32_t refused[IDLE_REASONS]) {
  return try_here(m, sm, scheduler, warp, refused, m->listens);
}

// The warps of a scheduler that may go, one after the other, until one does. Others than round robin and two-level ask schedule.c.
ALWAYS_INLINE static inline bool issue_from(Simt *m, uint32_t sm, uint32_t scheduler, uint64_t set, uint32_t refused[IDLE_REASONS],
                                            bool is_told) {
  SmState *state = &m->at.sms[sm];
  SchedulerState *at = &state->schedulers[scheduler];
  SchedulePolicy policy = is_told && decisions_are_wanted(m) ? SCHEDULE_POLICIES : (SchedulePolicy)m->spec->scheduler_policy;
  uint64_t active = policy == SCHEDULE_TWO_LEVEL ? schedule_active(m, state, at, set) : UINT64_MAX;
  for (;;) {
    uint32_t warp;
    if (policy == SCHEDULE_TWO_LEVEL || policy == SCHEDULE_LRR) {
      uint64_t starved = set & active & m->at.starved[sm], left = set & active & ~starved;
      warp = left == 0 ? SIMT_MOST_WARPS : schedule_first_after(left, at->last);
      if (left != 0) starved &= warps_between(at->last, warp); // those whose turn comes before
      state->waits[IDLE_FETCH] |= starved;
      set &= ~starved;
    } else {
      warp = schedule_pick(m, sm, scheduler, set, 0);
    }
    if (warp >= SIMT_MOST_WARPS) return false;
    if (try_here(m, sm, scheduler, warp, refused, is_told)) return true;
    if (simt_has_trapped(m)) return false;
    set &= ~bit_of(warp);
    // Others may take the place of one that has begun to wait. Else the set stays as it is.
    bool has_left = (state->waits[IDLE_MEMORY] | state->waits[IDLE_BARRIER]) >> warp & 1;
    if (policy == SCHEDULE_TWO_LEVEL && has_left) active = schedule_active(m, state, at, set);
  }
}

// Where hooks or the policy have a say before: some warp may go at once, and *set becomes those that may go after it.
static bool issue_wanted(Simt *m, uint32_t sm, uint32_t scheduler, uint64_t *set, uint32_t refused[IDLE_REASONS]) {
  SmState *state = &m->at.sms[sm];
  uint64_t own = m->dims.scheduler_warps[scheduler];
  uint32_t last = state->schedulers[scheduler].last % m->dims.warps;
  bool has_rest = plan_is_asked(m) && (own & bit_of(last)) != 0 && simt_warp(m, sm, last)->has_rest != 0;
  *set = has_rest ? 0 : state->present & ~asleep_warps(state) & own;
  if (has_rest) return try_warp(m, sm, scheduler, last, refused); // it takes the next issue slots, whatever else could go
  if (*set == 0) return false;
  if (m->spec->scheduler_policy == SCHEDULE_FRFS) note_ready(m, sm, scheduler, *set);
  uint32_t wanted = state->schedulers[scheduler].wanted;
  if (wanted == 0 || (*set & bit_of(wanted - 1)) == 0) return false;
  bool issued = try_warp(m, sm, scheduler, wanted - 1, refused);
  *set = issued || simt_has_trapped(m) ? 0 : *set & ~bit_of(wanted - 1);
  return issued;
}

// Collectors are full: mostly of accesses that the load/store unit does not take yet?
static bool memory_holds_collectors(const SmState *state) {
  uint32_t accesses = 0;
  for (uint32_t i = 0; i < state->collect_count; i++) accesses += is_memory_port(state->collect_port[state->collect_order[i]]) ? 1 : 0;
  return 2 * accesses >= state->collect_count;
}

// What most warps wait for.
static IdleReason idle_reason(const Simt *m, uint32_t sm, bool is_tried, const uint32_t refused[IDLE_REASONS]) {
  static const IdleReason order[] = {IDLE_MEMORY, IDLE_BARRIER, IDLE_PIPELINE, IDLE_FETCH};
  const SmState *state = &m->at.sms[sm];
  if (state->resident == 0) return IDLE_EMPTY;
  uint64_t others = state->waits[IDLE_BARRIER] | state->waits[IDLE_FETCH] | state->waits[IDLE_PIPELINE] | state->wants_collector;
  if (!is_tried && (others & state->present) == 0) return IDLE_MEMORY;
  IdleReason best = IDLE_MEMORY; // also when threads have ended and only their stores are under way
  IdleReason collectors = state->wants_collector != 0 && memory_holds_collectors(state) ? IDLE_MEMORY : IDLE_PIPELINE;
  uint32_t most = 0;
  for (uint32_t i = 0; i < COUNT_OF(order); i++) {
    uint64_t waits = state->waits[order[i]];
    if (order[i] == IDLE_MEMORY) waits |= state->wants_ldst;
    if (order[i] == collectors) waits |= state->wants_collector;
    uint32_t warps = refused[order[i]] + ((waits & state->present) == 0 ? 0 : count_warps(waits & state->present));
    if (warps <= most) continue;
    most = warps;
    best = order[i];
  }
  return best;
}

ALWAYS_INLINE static inline bool issue_all(Simt *m, uint32_t sm, uint64_t may_go, uint32_t refused[IDLE_REASONS], bool is_told) {
  SmState *state = &m->at.sms[sm];
  bool issued = false, has_say = m->spec->scheduler_policy == SCHEDULE_FRFS || (is_told && plan_is_asked(m));
  for (uint32_t scheduler = 0; scheduler < m->dims.schedulers; scheduler++) {
    uint64_t set = may_go & m->dims.scheduler_warps[scheduler];
    if (has_say || state->schedulers[scheduler].wanted != 0) issued |= issue_wanted(m, sm, scheduler, &set, refused);
    if (set != 0) issued |= issue_from(m, sm, scheduler, set, refused, is_told);
    if (simt_has_trapped(m)) break;
    may_go = state->present & ~asleep_warps(state); // one that has gone may have woken others
  }
  return issued;
}

// Made twice: without hooks nothing of theirs is looked at.
static __attribute__((noinline)) bool issue_plain(Simt *m, uint32_t sm, uint64_t may_go, uint32_t refused[IDLE_REASONS]) {
  return issue_all(m, sm, may_go, refused, false);
}

static __attribute__((noinline)) bool issue_hooked(Simt *m, uint32_t sm, uint64_t may_go, uint32_t refused[IDLE_REASONS]) {
  return issue_all(m, sm, may_go, refused, true);
}

bool issue_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  if (state->ending != 0) end_blocks(m, sm);
  if (state->collect_count < m->dims.collectors) {
    state->wants_collector = 0;
    if (state->wants_ldst != 0 && ldst_has_room(m, sm)) state->wants_ldst = 0;
  }
  uint32_t refused[IDLE_REASONS] = {0};
  uint64_t may_go = state->present & ~asleep_warps(state);
  bool may_copy = plan_is_asked(m) && state->present != 0; // further parts go whatever their warp waits for
  bool is_tried = may_go != 0 || may_copy, issued = false;
  if (is_tried) issued = m->listens ? issue_hooked(m, sm, may_go, refused) : issue_plain(m, sm, may_go, refused);
  if (simt_has_trapped(m)) return issued;
  state->idle_reason = issued ? IDLE_NONE : idle_reason(m, sm, is_tried, refused);
  if (issued) sm_wake(m, sm, simt_now(m) + 1);
  return issued;
}

// Would a sleeping warp still wait if it were looked at? Without a change from outside it would.
static bool still_waits(Simt *m, const Next *n) {
  const SimtWarp *at = n->at;
  if ((at->valid & 1) == 0) return true;
  if (!top_is_ready(m, n) && !control_front(m, n->sm, n->warp)) return true;
  uint32_t pc = simt_entries(m, n->sm, n->warp)[at->warp.stack.depth - 1].pc;
  const BufferEntry *entry = &simt_buffer(m, n->sm, n->warp)[ring_next(at->head, m->dims.buffer)];
  if (at->buffered == 0) return at->fetch_pc == pc;
  if (entry->pc != pc) return false;
  Instr scratch;
  const Instr *instr = simt_decode(m, pc, entry->word, &scratch);
  return instr != NULL && !scoreboard_is_free(m, n->sm, n->warp, instr);
}

void front_disturbed(Simt *m) {
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    m->at.head_waits[sm] = HEAD_GOES;
    m->at.starved[sm] = 0;
    const SmState *state = &m->at.sms[sm];
    uint64_t asleep = state->waits[IDLE_MEMORY] | state->waits[IDLE_BARRIER] | state->waits[IDLE_FETCH] | state->waits[IDLE_PIPELINE];
    for (uint64_t left = asleep & state->present; left != 0; left &= left - 1) {
      Next n = {.sm = sm, .warp = (uint32_t)__builtin_ctzll(left)};
      n.at = simt_warp(m, sm, n.warp);
      if (still_waits(m, &n)) continue;
      front_awake(m, sm, bit_of(n.warp));
      sm_wake(m, sm, simt_now(m));
    }
  }
}
