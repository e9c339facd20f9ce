// Actions of schemes: the queues, and who carries out what.
//
// Each SM has a ring of actions. What a hook asks for in one cycle is carried out at the start of the next, SM by SM, before anything else happens.
// Only a copy may wait there, for the two blocks to drain, and holds up what is queued behind it; after MOST_WAIT cycles it is given up.
// Nothing is checked when an action is queued: a fault may strike it there, so the check is made when it is carried out.
#include "machine/simt/simt.h"

enum { MOST_WAIT = 0xFFFF };

static uint64_t field(uint64_t word, unsigned at, unsigned bits) { return word >> at & ((UINT64_C(1) << bits) - 1); }

static ActionEntry entry_of(const Action *action) {
  bool is_line = action->kind == ACTION_PREFETCH;
  bool holds = action->kind == ACTION_HOLD || action->kind == ACTION_MIRROR;
  uint64_t choice = is_line ? (uint64_t)action->cache : holds ? (uint64_t)action->hold : 0;
  uint64_t word =
      (uint64_t)action->kind << ACTION_KIND_AT | (choice & 7) << ACTION_CHOICE_AT |
      (uint64_t)(action->block_slot & 63) << ACTION_BLOCK_SLOT_AT | (uint64_t)(action->from_block_slot & 63) << ACTION_FROM_BLOCK_SLOT_AT |
      (uint64_t)(action->from_sm & 1023) << ACTION_FROM_SM_AT | (uint64_t)(action->on ? 1 : 0) << ACTION_ON_AT |
      (uint64_t)(action->sends ? 1 : 0) << ACTION_SENDS_AT | (uint64_t)min_u32(action->cycles, ACTION_MOST_CYCLES) << ACTION_CYCLES_AT;
  return (ActionEntry){.word = word, .operand = is_line ? action->address & PHYSICAL_MASK : action->block & UINT32_MAX};
}

static Action action_of(uint32_t sm, const ActionEntry *entry) {
  uint64_t word = entry->word;
  return (Action){.kind = (ActionKind)field(word, ACTION_KIND_AT, 4),
                  .sm = sm,
                  .block_slot = (uint32_t)field(word, ACTION_BLOCK_SLOT_AT, 6),
                  .block = entry->operand & UINT32_MAX,
                  .cache = (ActionCache)field(word, ACTION_CHOICE_AT, 3),
                  .hold = (ActionHold)field(word, ACTION_CHOICE_AT, 3),
                  .address = entry->operand & PHYSICAL_MASK,
                  .from_sm = (uint32_t)field(word, ACTION_FROM_SM_AT, 10),
                  .from_block_slot = (uint32_t)field(word, ACTION_FROM_BLOCK_SLOT_AT, 6),
                  .cycles = (uint32_t)field(word, ACTION_CYCLES_AT, 16),
                  .on = field(word, ACTION_ON_AT, 1) != 0,
                  .sends = field(word, ACTION_SENDS_AT, 1) != 0};
}

static ActionEntry *entry_at(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.actions[sm * SIMT_ACTIONS + (simt_actor(m, sm)->head + index) % SIMT_ACTIONS];
}

// ---- Asking ----------------------------------------------------------------------------------------

bool simt_act(HookMachine *machine, const Action *action) {
  Simt *m = (Simt *)(void *)((uint8_t *)machine - offsetof(Simt, hook_machine));
  bool is_known = action->kind > ACTION_NONE && action->kind < ACTION_KINDS && (m->actions & ACTION_BIT(action->kind)) != 0;
  if (!is_known || action->sm >= m->dims.sms || action->from_sm >= m->dims.sms || action->block > UINT32_MAX) return false;
  if (action->block_slot >= m->dims.blocks || action->from_block_slot >= m->dims.blocks || action->cache >= PREFETCH_CACHES) return false;
  if (action->hold >= HOLD_STEPS || (action->kind == ACTION_HOLD && action->hold == HOLD_NONE)) return false;
  Actor *actor = simt_actor(m, action->sm);
  if (actor->count >= SIMT_ACTIONS) return false;
  *entry_at(m, action->sm, actor->count) = entry_of(action);
  actor->count++;
  return true;
}

bool actions_wait(const Simt *m) {
  for (uint32_t sm = 0; sm < m->dims.acts * m->dims.sms; sm++) {
    if (simt_actor(m, sm)->count != 0 || simt_actor(m, sm)->fallen != 0) return true;
  }
  return false;
}

bool actions_hold(const Simt *m) {
  for (uint32_t sm = 0; sm < m->dims.acts * m->dims.sms; sm++) {
    for (uint32_t i = 0; i < simt_actor(m, sm)->count; i++) {
      if (action_of(sm, entry_at(m, sm, i)).kind == ACTION_REDISPATCH) return true;
    }
  }
  return false;
}

// ---- Carrying out ----------------------------------------------------------------------------------

static bool prefetch(Simt *m, const Action *action) {
  switch (action->cache) {
  case PREFETCH_INSTRUCTION: return fetch_prefetch(m, action->sm, action->address);
  case PREFETCH_DATA: return l1d_prefetch(m, action->sm, action->address);
  case PREFETCH_CONSTANT: return constant_prefetch(m, action->sm, action->address);
  case PREFETCH_TEXTURE: return texture_prefetch(m, action->sm, action->address);
  case PREFETCH_L2: return l2_prefetch(m, action->sm, action->address);
  default: return false;
  }
}

// Only an SM whose blocks are all mirrors: the launch waits for the others.
static bool fence(Simt *m, uint32_t sm, bool on) {
  Actor *actor = simt_actor(m, sm);
  if (on && (m->at.sms[sm].block_slots & ~actor->mirrors) != 0) return false;
  actor->fenced = on ? 1 : 0;
  return true;
}

// What no hook has asked for is not done: a fault has made another action of it.
static CopyStep carry_out(Simt *m, const Action *action) {
  bool done = false;
  if ((m->actions & ACTION_BIT(action->kind)) == 0) return COPY_REFUSED;
  switch (action->kind) {
  case ACTION_PREFETCH: done = prefetch(m, action); break;
  case ACTION_DROP:
    simt_actor(m, action->sm)->drops = action->on ? 1 : 0;
    done = true;
    break;
  case ACTION_MIRROR: done = dispatch_mirror(m, action); break;
  case ACTION_ABANDON: done = block_abandon(m, action->sm, action->block_slot); break;
  case ACTION_REDISPATCH: done = block_again(m, action->block); break;
  case ACTION_HOLD: done = held_action(m, action->sm, action->block_slot, action->hold); break;
  case ACTION_COPY: return block_copy(m, action->sm, action->block_slot, action);
  case ACTION_FENCE: done = fence(m, action->sm, action->on); break;
  default: break; // a fault has made nothing of it
  }
  return done ? COPY_DONE : COPY_REFUSED;
}

static void tell_done(Simt *m, const Action *action, bool done) {
  if ((m->wants & WANT_ACTION) == 0 || action->kind == ACTION_NONE || action->kind >= ACTION_KINDS) return;
  Who who = m->nobody;
  who.sm = action->sm;
  ActionEvent event = {.who = &who, .action = action, .done = done};
  simt_obey(m, &who, hooks_action(&m->hooks, &m->hook_machine, &event));
}

static void pop(Simt *m, uint32_t sm) {
  Actor *actor = simt_actor(m, sm);
  *entry_at(m, sm, 0) = (ActionEntry){0};
  actor->count--;
  actor->head = actor->count == 0 ? 0 : (actor->head + 1) % SIMT_ACTIONS; // empty queues are equal
}

// The head of an SM's queue. False: it waits, and so do those behind it.
static bool one_action(Simt *m, uint32_t sm) {
  ActionEntry *entry = entry_at(m, sm, 0);
  Action action = action_of(sm, entry);
  CopyStep step = carry_out(m, &action);
  uint64_t waited = field(entry->word, ACTION_WAITED_AT, 16);
  if (step == COPY_WAITS && waited < MOST_WAIT) {
    entry->word += UINT64_C(1) << ACTION_WAITED_AT;
    return false;
  }
  pop(m, sm);
  tell_done(m, &action, step == COPY_DONE);
  return true;
}

void actions_cycle(Simt *m, const uint8_t *due) {
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    uint64_t fallen = simt_actor(m, sm)->fallen;
    simt_actor(m, sm)->fallen = 0;
    for (; fallen != 0; fallen &= fallen - 1) block_abandon(m, sm, (uint32_t)__builtin_ctzll(fallen));
    for (uint32_t i = 0; i < due[sm] && !simt_has_trapped(m) && one_action(m, sm); i++) continue;
  }
}

// ---- Writes that have no effect ----------------------------------------------------------------------

// Local memory of the SM's own warps: private, so a mirror may write its own.
static bool is_own_local(const Simt *m, uint32_t sm, uint64_t address) {
  uint64_t bytes = m->backing.local_warp_bytes * m->dims.warps, offset = address & ((UINT64_C(1) << PHYSICAL_SHIFT) - 1);
  return (address >> PHYSICAL_SHIFT & 3) == PHYSICAL_LOCAL && offset >= sm * bytes && offset < (sm + 1) * bytes;
}

WriteWay action_write_way(const Simt *m, uint32_t sm, uint32_t warp, uint64_t address, bool may_hold) {
  const Actor *actor = simt_actor(m, sm);
  uint64_t block_slot = UINT64_C(1) << block_slot_of_warp(m, warp);
  bool is_held = may_hold && block_is_held(m, sm, block_slot_of_warp(m, warp));
  if ((actor->drops & 1) == 0 && (actor_mirrors(actor) & block_slot) == 0 && !is_held) return WRITE_GOES;
  if (is_own_local(m, sm, address)) return WRITE_GOES;
  if (is_held) return WRITE_HELD;
  return (actor->drops & 1) == 0 && (actor->senders & block_slot) != 0 ? WRITE_QUIET : WRITE_ENDS;
}
