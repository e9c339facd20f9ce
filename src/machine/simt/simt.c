// The cycle of the SIMT machine, and what its stages share: hooks at cells, traps, decoding, accounting of time.
#include "machine/simt/part.h"
#include "machine/parts/violation.h"
#include "machine/parts/legal.h"

#include <stdio.h>

// ---- Hooks -----------------------------------------------------------------------------------------

static uint32_t known(uint32_t index) { return index == WHO_NO_INDEX ? 0 : index; }

// The mirrors that an event is of, as block slots of its SM; 0: of others too, or nobody knows.
static uint64_t mirrors_of(const Simt *m, const Who *who) {
  if (m->dims.acts == 0 || who->sm >= m->dims.sms) return 0;
  uint64_t taken = m->at.sms[who->sm].block_slots, mirrors = actor_mirrors(simt_actor(m, who->sm)) & taken;
  if (who->block_slot < m->dims.blocks) return mirrors & UINT64_C(1) << who->block_slot;
  return taken == mirrors ? mirrors : 0;
}

static bool tell_trap(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, bool of_thread);
static void end_launch(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const AccessViolation *violation, const char *note);

// A protection has found what it cannot repair: the launch ends and says who that was, and where, as far as that is known.
static void end_detected(Simt *m, const Who *who) {
  uint32_t sm = known(who->sm), warp = known(who->warp), pc = known(who->pc);
  AccessViolation violation = {.kind = TRAP_DETECTED};
  Text note = {0};
  hook_halt_format(&m->hook_machine, &note);
  if (tell_trap(m, sm, warp, pc, TRAP_DETECTED, false)) {
    end_launch(m, sm, warp, pc, &violation, note.at == NULL ? "" : note.at);
    if (who->pc == WHO_NO_INDEX) m->trap.function = NULL, m->trap.pc = m->trap.line = 0; // of a cache line: no instruction's
  }
  text_free(&note);
}

void simt_halt(Simt *m, const Who *who) {
  uint64_t mirrors = mirrors_of(m, who);
  if (mirrors != 0) simt_actor(m, who->sm)->fallen |= mirrors;
  else end_detected(m, who);
}

void simt_meet_hooks(Simt *m) {
  m->wants = hook_chain_wants(&m->hooks);
  m->listens = (m->wants & ~(uint32_t)(WANT_CYCLE | WANT_FINISH)) != 0; // those two come once a cycle, or a launch
  part_show_plain(m);
  m->listener = hook_chain_listener(&m->hooks, &m->walker);
}

const Who *who_block(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear) {
  m->who = m->nobody;
  m->who.sm = sm;
  m->who.block = linear;
  m->who.block_slot = block_slot;
  return &m->who;
}

static void fill_warp(const Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, uint64_t issue, Who *who) {
  const SimtWarp *at = simt_warp(m, sm, warp < m->dims.warps ? warp : warp % m->dims.warps);
  const Block *block = &m->at.blocks[sm * m->dims.blocks + at->block_slot];
  *who = (Who){.launch = m->nobody.launch,
               .block = block->linear,
               .issue = issue,
               .request = WHO_NO_NUMBER,
               .sm = sm,
               .block_slot = at->block_slot,
               .warp = warp,
               .pc = pc,
               .client = CLIENT_NONE};
}

void simt_name_warp(Simt *m, uint32_t sm, uint32_t warp) {
  if (m->whos != NULL) fill_warp(m, sm, warp, WHO_NO_INDEX, WHO_NO_NUMBER, &m->whos[sm * SIMT_MOST_WARPS + warp].who);
}

void simt_name_sms(Simt *m) {
  if (m->wants == 0) return;
  if (m->sm_whos == NULL) m->sm_whos = ARENA_ARRAY(m->arena, WhoCell, m->dims.sms);
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    m->sm_whos[sm].who = m->nobody;
    m->sm_whos[sm].who.sm = sm;
  }
}

void simt_name_warps(Simt *m) {
  uint32_t warps = m->dims.sms * m->dims.warps;
  if (m->wants == 0) return;
  if (m->whos == NULL) m->whos = ARENA_ARRAY(m->arena, WhoCell, (size_t)m->dims.sms * SIMT_MOST_WARPS);
  simt_name_sms(m);
  for (uint32_t i = 0; i < warps; i++) simt_name_warp(m, i / m->dims.warps, i % m->dims.warps);
  if (!places_are_wanted(m)) return;
  if (m->levels_told == NULL) m->levels_told = ARENA_ARRAY(m->arena, uint32_t, warps);
  for (uint32_t i = 0; i < warps; i++) m->levels_told[i] = min_u32(m->at.warps[i].warp.stack.depth, m->dims.levels);
}

// Requests are numbered by when and where they were sent, so that two runs in the same state number alike whatever was before.
static uint64_t request_number(const Simt *m, const Packet *packet) {
  uint64_t sources = (uint64_t)m->dims.sms + m->dims.partitions;
  uint64_t source = packet->sm == PACKET_NO_SM ? (uint64_t)m->dims.sms + packet->partition : packet->sm;
  return ((packet->sent_at - m->at.core->began_at) * sources + source) * (UINT8_MAX + 1) + packet->turn;
}

static inline void fill_packet(const Simt *m, const Packet *packet, Who *who) {
  if (__builtin_expect(packet->sm == PACKET_NO_SM || packet->prefetch != 0, 0)) { // no instruction has asked
    *who = m->nobody;
    who->sm = packet->sm == PACKET_NO_SM ? WHO_NO_INDEX : packet->sm;
  } else {
    who->launch = m->nobody.launch;
    who->block = packet->block;
    who->issue = packet->issue == UINT32_MAX ? WHO_NO_NUMBER : packet->issue;
    who->sm = packet->sm;
    who->block_slot = packet->block_slot;
    who->warp = packet->warp;
    who->pc = packet->pc;
  }
  who->client = (Client)packet->client;
  who->request = request_number(m, packet);
}

const Who *who_packet(Simt *m, const Packet *packet) {
  fill_packet(m, packet, &m->who);
  return &m->who;
}

void packet_for_warp(const Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, Packet *packet) {
  const SimtWarp *at = simt_warp(m, sm, warp < m->dims.warps ? warp : warp % m->dims.warps);
  packet->warp = (uint16_t)warp;
  packet->block_slot = at->block_slot;
  packet->block = m->at.blocks[sm * m->dims.blocks + at->block_slot].linear;
  packet->pc = pc;
  packet->issue = UINT32_MAX;
  packet->quiet = warp_is_mirror(m, sm, warp);
}

void packet_for_uop(const Simt *m, uint32_t sm, const Uop *uop, Packet *packet) {
  packet_for_warp(m, sm, uop->warp, uop->pc, packet);
  packet->issue = (uint32_t)uop->issue;
}

void packet_for_nobody(Packet *packet, ActionCache cache) {
  packet->client = CLIENT_PREFETCH;
  packet->prefetch = (uint8_t)(1 + cache);
}

static bool changes_memory(const Packet *packet) {
  return packet->client == CLIENT_STORE || packet->client == CLIENT_ATOMIC || packet->client == CLIENT_WRITE_BACK;
}

const MemoryEvent *packet_story(Simt *m, Packet *packet, MemoryMoment moment, PacketStory *story) {
  bool has_data = packet->kind != PACKET_READ && packet->kind != PACKET_WRITE_REPLY;
  uint64_t now = simt_now(m);
  memcpy(story->stages, packet->spent, sizeof story->stages);
  story->stages[packet->stage % MEMORY_STAGES] += (uint32_t)now - packet->since;
  fill_packet(m, packet, &story->own);
  MemoryEvent *event = &story->event; // filled by hand: it is large
  event->who = event->waiters = &story->own;
  event->waiter_count = 1;
  event->moment = moment;
  event->partition = packet->partition;
  event->address = packet->address;
  event->mask[0] = packet->bytes.half[0];
  event->mask[1] = packet->bytes.half[1];
  event->bytes = bytes_count(packet->bytes);
  event->data = has_data ? packet->data : NULL;
  event->write = changes_memory(packet);
  event->waited = now - min_u64(packet->sent_at, now);
  event->entry = 0;
  event->stages = story->stages;
  event->join = NULL;
  event->word = &packet->word;
  return &story->event;
}

static uint32_t sm_of_row(const Simt *m, SimtRegion region, uint64_t row) {
  const Region *at = &m->regions.items[region];
  bool has_sm = at->dim_count > 0 && strcmp(at->dims[0].name, "sm") == 0;
  return has_sm ? (uint32_t)(row / (at->rows / at->dims[0].count)) : WHO_NO_INDEX;
}

// Who reads or writes a structure that belongs to no SM may not be known.
static __attribute__((noinline, cold)) void halt_at_cells(Simt *m, const CellEvent *event) {
  Who who = *event->who;
  if (who.sm == WHO_NO_INDEX) who.sm = sm_of_row(m, (SimtRegion)event->region, event->row);
  simt_obey(m, &who, VERDICT_HALT);
}

__attribute__((noinline, cold)) void simt_cells_answered(Simt *m, const CellEvent *event, HookEventId id, Verdict said) {
  if (hook_said(&m->hook_machine, m->listener, id, said) == VERDICT_HALT) halt_at_cells(m, event);
}

void simt_tell_read(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  tell_read_here(m, who, region, row, units, data);
}

void simt_tell_write(Simt *m, const Who *who, SimtRegion region, uint64_t row, uint32_t units, void *data) {
  tell_write_here(m, who, region, row, units, data);
}

void simt_take(Simt *m, const Who *who, SimtRegion first, SimtRegion last, uint64_t row) {
  HoldEvent event = {.who = who, .region = (uint16_t)first, .last = (uint16_t)last, .row = row};
  hook_tell_take(m->listener, &m->hook_machine, &event);
}

void simt_release(Simt *m, const Who *who, SimtRegion first, SimtRegion last, uint64_t row) {
  HoldEvent event = {.who = who, .region = (uint16_t)first, .last = (uint16_t)last, .row = row};
  hook_tell_release(m->listener, &m->hook_machine, &event);
}

void simt_decided(Simt *m, const Who *who, const DecideEvent *event) {
  DecideEvent told = *event;
  told.who = who;
  hook_tell_decide(m->listener, &m->hook_machine, &told);
}

static __attribute__((noinline)) void tell_stack(Simt *m, uint32_t sm, uint32_t warp, uint32_t *told, uint32_t depth) {
  const Who *who = who_warp(m, sm, warp, WHO_NO_INDEX, WHO_NO_NUMBER);
  uint64_t first = ((uint64_t)sm * m->dims.warps + warp) * m->dims.levels;
  for (; *told < depth; (*told)++) simt_take(m, who, REGION_STACK_PC, REGION_STACK_STATE, first + *told);
  for (; *told > depth; (*told)--) simt_release(m, who, REGION_STACK_PC, REGION_STACK_STATE, first + *told - 1);
}

void simt_tell_levels(Simt *m, uint32_t sm, uint64_t block_slots) {
  for (; block_slots != 0; block_slots &= block_slots - 1) {
    uint32_t first = (uint32_t)__builtin_ctzll(block_slots) * m->layout.warps;
    for (uint32_t i = 0; i < m->layout.warps; i++) {
      uint32_t warp = (first + i) < m->dims.warps ? first + i : (first + i) % m->dims.warps; // further on only after a flip
      uint32_t *told = &m->levels_told[sm * m->dims.warps + warp],
               depth = min_u32(simt_warp(m, sm, warp)->warp.stack.depth, m->dims.levels);
      if (*told != depth) tell_stack(m, sm, warp, told, depth);
    }
  }
}

// ---- Traps -----------------------------------------------------------------------------------------

static MemoryView limits_of(const Simt *m) {
  MemoryView view = {.memory = m->backing.memory, .shared_bytes = m->layout.shared_bytes, .local_bytes = m->layout.local_bytes};
  memcpy(view.bank_bytes, m->backing.bank_bytes, sizeof view.bank_bytes);
  return view;
}

static bool outgrows_stack(const Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const AccessViolation *violation) {
  const Instr *instr = pc < m->program->code_count ? &m->program->decoded[pc] : NULL;
  bool through_frame = instr != NULL && instr->a == 0 && instr->select != SELECT_IMM_A && instr->select != SELECT_CONST_A;
  const RegisterRow *frames = register_at(m, sm % m->dims.sms, register_row(m, sm % m->dims.sms, warp, 0));
  return violation_outgrows(violation, m->launch, pc, through_frame, frames->lane[violation->lane % WARP_LANES], m->layout.local_bytes);
}

static void end_launch(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const AccessViolation *violation, const char *note) {
  MemoryView limits = limits_of(m);
  const SimtWarp *at = simt_warp(m, sm % m->dims.sms, warp % m->dims.warps);
  const Block *block = &m->at.blocks[sm % m->dims.sms * m->dims.blocks + at->block_slot % m->dims.blocks];
  violation_describe(violation, &limits, note, &m->trap);
  violation_locate(m->launch, block->index, at->index, violation->lane % WARP_LANES, pc, &m->trap);
  if (outgrows_stack(m, sm, warp, pc, violation)) m->trap.kind = TRAP_STACK_OVERFLOW;
  m->at.core->trapped = m->trap.kind;
}

// False: the launch has ended already, or a hook says that it shall not.
static bool tell_trap(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, bool of_thread) {
  if (simt_has_trapped(m)) return false;
  Who who;
  fill_warp(m, sm % m->dims.sms, warp, pc, WHO_NO_NUMBER, &who);
  TrapEvent event = {.who = &who, .kind = kind, .of_thread = of_thread};
  return (m->wants & WANT_TRAP) == 0 || hooks_trap(&m->hooks, &m->hook_machine, &event) != VERDICT_FIXED;
}

void simt_violation(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const AccessViolation *violation, const char *note) {
  if (!tell_trap(m, sm, warp, pc, violation->kind, true)) return;
  if (warp_is_mirror(m, sm % m->dims.sms, warp)) {
    simt_actor(m, sm % m->dims.sms)->fallen |= UINT64_C(1) << block_slot_of_warp(m, warp);
    return; // as if it did not happen; the mirror is abandoned before anything else does
  }
  end_launch(m, sm, warp, pc, violation, note);
}

void simt_end(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, uint32_t lanes) {
  if (!tell_trap(m, sm, warp, pc, kind, false)) return;
  AccessViolation violation = {.kind = kind, .lane = lanes == 0 ? 0 : (unsigned)__builtin_ctz(lanes)};
  end_launch(m, sm, warp, pc, &violation, NULL);
}

void simt_trap(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, TrapKind kind, uint32_t lanes) {
  AccessViolation violation = {.kind = kind, .lane = lanes == 0 ? 0 : (unsigned)__builtin_ctz(lanes)};
  char note[96] = ""; // here it is not local memory that is too small
  if (kind == TRAP_STACK_OVERFLOW) snprintf(note, sizeof note, "a warp has %u entries for branches and calls (sm.stack)", m->dims.stack);
  simt_violation(m, sm, warp, pc, &violation, note);
}

// ---- Decoding --------------------------------------------------------------------------------------

const Instr *simt_decode_damaged(const Simt *m, InstrWord word, Instr *scratch) {
  if (!instr_decode(word, scratch) || !legal_for(scratch, m->warp_registers)) return NULL;
  return scratch;
}

// ---- Time ------------------------------------------------------------------------------------------

static const StatId idle_stat[IDLE_REASONS] = {
    [IDLE_NONE] = STAT_IDLE_PIPELINE,   [IDLE_EMPTY] = STAT_IDLE_EMPTY, [IDLE_MEMORY] = STAT_IDLE_MEMORY,
    [IDLE_BARRIER] = STAT_IDLE_BARRIER, [IDLE_FETCH] = STAT_IDLE_FETCH, [IDLE_PIPELINE] = STAT_IDLE_PIPELINE,
};

// Time from counted_to on in which nothing issued: SPs may still have been at work for some of it.
ALWAYS_INLINE static inline void account_rest(Simt *m, uint32_t sm, uint64_t to) {
  SmState *state = &m->at.sms[sm];
  if (to <= state->counted_to) return;
  uint64_t cycles = to - state->counted_to;
  uint64_t busy = state->sp_busy_until > state->counted_to ? min_u64(state->sp_busy_until - state->counted_to, cycles) : 0;
  simt_count(m, STAT_SM_CYCLES, cycles);
  simt_count(m, STAT_RESIDENT_WARPS, cycles * state->resident * m->layout.warps);
  simt_count(m, STAT_IDLE_FULL, cycles - busy);
  simt_count(m, idle_stat[state->idle_reason % IDLE_REASONS], cycles - busy);
  if (state->sp_partial != 0) simt_count(m, STAT_PARTIAL_SP, busy);
  state->counted_to = to;
}

static void account_issued(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  simt_count(m, STAT_SM_CYCLES, 1);
  simt_count(m, STAT_RESIDENT_WARPS, (uint64_t)state->resident * m->layout.warps);
  if (state->sp_partial != 0) simt_count(m, STAT_PARTIAL_SP, 1);
  state->counted_to = simt_now(m) + 1;
}

void simt_account_all(Simt *m) {
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) account_rest(m, sm, simt_now(m));
}

// ---- The cycle -------------------------------------------------------------------------------------

// Stages that hold nothing are passed over.
ALWAYS_INLINE static inline void sm_cycle(Simt *m, uint32_t sm) {
  SmState *state = &m->at.sms[sm];
  account_rest(m, sm, simt_now(m));
  m->at.wake_at[sm] = UINT64_MAX;
  if (state->flight_count != 0) writeback_cycle(m, sm);
  if (!packet_queue_empty(&m->at.reply_queues[sm])) sm_take_reply(m, sm);
  if (__builtin_expect(m->dims.mirror_free != 0, 0)) oracle_cycle(m, sm);
  if ((state->done_count | state->memory_count) != 0) ldst_cycle(m, sm);
  if (__builtin_expect(m->dims.held != 0, 0)) held_cycle(m, sm);
  if (state->gathers_used != 0) gather_cycle(m, sm);
  if (state->sp_busy_until <= simt_now(m)) state->sp_partial = 0;
  if ((state->collect_used & ~state->collect_pending) != 0) execute_cycle(m, sm);
  if (state->collect_pending != 0) collect_cycle(m, sm);
  if (issue_cycle(m, sm)) account_issued(m, sm);
  if ((state->fetch_looks | (state->fetch_wants & ~state->fetch_stalled)) != 0) fetch_cycle(m, sm);
  if (places_are_wanted(m)) simt_tell_levels(m, sm, m->at.sms[sm].block_slots);
}

// A hook has said what it may not: the launch ends, and says who that was.
static __attribute__((noinline, cold)) void trap_refused(Simt *m) {
  Text note = {0};
  hook_refusal_format(&m->hook_machine.refused, &note);
  AccessViolation violation = {.kind = TRAP_REFUSED};
  if (tell_trap(m, 0, 0, 0, TRAP_REFUSED, false)) end_launch(m, 0, 0, 0, &violation, note.at);
  text_free(&note);
}

static void cycle_of_hooks(Simt *m) {
  if ((m->wants & WANT_CYCLE) == 0 || hooks_next_cycle(&m->hooks, &m->hook_machine) > simt_now(m)) return;
  m->hook_machine.still_until = m->is_still && hooks_changing(&m->hooks, &m->hook_machine) == 1 ? UINT64_MAX : 0;
  hooks_cycle(&m->hooks, &m->hook_machine);
  front_disturbed(m); // they may have changed any cell
}

// What was asked for before this cycle. Those who only look see the machine before it is done.
static __attribute__((noinline)) void cycle_of_actions(Simt *m) {
  uint8_t due[SIMT_MOST_SMS];
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) due[sm] = (uint8_t)simt_actor(m, sm)->count;
  cycle_of_hooks(m);
  actions_cycle(m, due);
}

// All SMs that are awake; returns when the next of them is. With actions or clusters an SM may wake another in its own cycle: one by one.
static __attribute__((noinline, cold)) uint64_t sms_in_turn(Simt *m) {
  uint64_t next = UINT64_MAX;
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    if (m->at.wake_at[sm] <= simt_now(m)) sm_cycle(m, sm);
    next = min_u64(next, m->at.wake_at[sm]);
  }
  return next;
}

static uint64_t sms_cycle(Simt *m) {
  if (__builtin_expect(m->dims.acts != 0 || m->launch->cluster[0] != 0, 0)) return sms_in_turn(m);
  for (uint32_t first = 0; first < m->dims.sms; first += TIMES_AT_ONCE) {
    for (uint32_t due = times_due(m, m->at.wake_at, first, m->dims.sms); due != 0; due &= due - 1)
      sm_cycle(m, first + (uint32_t)__builtin_ctz(due));
  }
  return times_least(m->at.wake_at, m->dims.sms);
}

uint64_t machine_cycle(Simt *m) {
  uint64_t now = simt_now(m), next = UINT64_MAX;
  m->hook_machine.cycle = now;
  if (m->dims.acts != 0) cycle_of_actions(m);
  else cycle_of_hooks(m);
  memory_cycle(m, &next);
  partitions_cycle(m, &next);
  interconnect_cycle(m, &next);
  dispatch_cycle(m);
  next = min_u64(next, sms_cycle(m));
  next = min_u64(next, dispatch_next(m));
  if (m->hook_machine.refused.hook != NULL) trap_refused(m);
  if (m->dims.acts != 0 && actions_wait(m)) next = now + 1;
  if ((m->wants & WANT_CYCLE) == 0) return max_u64(next, now + 1);
  m->is_still = next == UINT64_MAX;
  if (next <= now + 1) return now + 1; // sooner no hook can wake it
  if (next == UINT64_MAX && hooks_next_change(&m->hooks, &m->hook_machine) == UINT64_MAX)
    return next; // those who only look would wait for ever
  return max_u64(min_u64(next, hooks_next_cycle(&m->hooks, &m->hook_machine)), now + 1);
}
