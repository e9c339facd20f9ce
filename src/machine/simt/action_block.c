// Actions on blocks: a block is abandoned, runs again, or a mirror is made equal to another block.
//
// Abandoning takes two steps. At once nothing of the block is issued, collected, computed or written back any more. Requests that have left
// for memory come back as all do, are thrown away, and until the last of them is there the block slot stays taken: so no reply can be
// mistaken for one of the next block in the block slot, and no store of the old run can come after those of a new one.
//
// A block that was abandoned is owed: the launch does not end before it has run again. One that has ended counts as not done when it is to run
// again. Mirrors are never owed.
//
// Copying waits until neither block has an instruction under way, so that registers, stacks and memory are what the program sees.
#include "machine/simt/execute.h"

static Block *block_at(const Simt *m, uint32_t sm, uint32_t block_slot) { return &m->at.blocks[sm * m->dims.blocks + block_slot]; }
static uint32_t first_warp(const Simt *m, uint32_t block_slot) { return block_slot * m->layout.warps; }
static bool is_taken(const Simt *m, uint32_t sm, uint32_t block_slot) {
  return block_slot < m->blocks_per_sm && (m->at.sms[sm].block_slots >> block_slot & 1) != 0 &&
         (simt_actor(m, sm)->stopping >> block_slot & 1) == 0;
}
static bool is_mirror(const Simt *m, uint32_t sm, uint32_t block_slot) { return (actor_mirrors(simt_actor(m, sm)) >> block_slot & 1) != 0; }

// ---- Blocks that run again -----------------------------------------------------------------------------

static Owed *owed_find(const Simt *m, uint64_t linear) {
  if (m->at.act_core->owed == 0) return NULL;
  for (uint32_t i = 0; i < m->dims.sms * m->dims.blocks; i++) {
    Owed *owed = &m->at.owed[i];
    if (owed->state != 0 && owed->block == linear) return owed;
  }
  return NULL;
}

static bool owed_new(Simt *m, uint64_t linear, uint32_t state) {
  for (uint32_t i = 0; i < m->dims.sms * m->dims.blocks; i++) {
    if (m->at.owed[i].state != 0) continue;
    m->at.owed[i] = (Owed){.block = (uint32_t)linear, .state = state};
    m->at.act_core->owed++;
    return true;
  }
  return false;
}

void owed_gone(Simt *m, uint64_t linear) {
  Owed *owed = owed_find(m, linear);
  if (owed != NULL) owed->state |= OWED_GONE;
}

bool owed_next(const Simt *m, uint64_t *linear) {
  const uint32_t wanted = OWED_ENTRY | OWED_GONE | OWED_WANTED;
  bool found = false;
  uint32_t count = m->dims.acts == 0 || m->at.act_core->owed == 0 ? 0 : m->dims.sms * m->dims.blocks;
  for (uint32_t i = 0; i < count; i++) {
    const Owed *owed = &m->at.owed[i];
    if ((owed->state & wanted) != wanted || owed->block >= m->at.core->block_total) continue;
    if (!found || owed->block < *linear) *linear = owed->block;
    found = true;
  }
  return found;
}

void owed_started(Simt *m, uint64_t linear) {
  Owed *owed = owed_find(m, linear);
  if (owed == NULL) return;
  *owed = (Owed){0};
  m->at.act_core->owed -= m->at.act_core->owed > 0;
}

// Some SM has the block, and it is no mirror.
static bool is_running(const Simt *m, uint64_t linear) {
  for (uint32_t i = 0; i < m->dims.sms * m->dims.blocks; i++) {
    uint32_t sm = i / m->dims.blocks, block_slot = i % m->dims.blocks;
    if ((m->at.sms[sm].block_slots >> block_slot & 1) != 0 && !is_mirror(m, sm, block_slot) && m->at.blocks[i].linear == linear)
      return true;
  }
  return false;
}

bool block_again(Simt *m, uint64_t linear) {
  SimtCore *core = m->at.core;
  Owed *owed = owed_find(m, linear);
  if (owed != NULL) {
    bool is_new = (owed->state & OWED_WANTED) == 0;
    owed->state |= OWED_WANTED;
    return is_new;
  }
  if (linear >= core->next_block || is_running(m, linear)) return false;
  if (!owed_new(m, linear, OWED_ENTRY | OWED_GONE | OWED_WANTED)) return false;
  core->blocks_done -= core->blocks_done > 0;
  core->dispatch_at = max_u64(core->dispatch_at, simt_now(m));
  return true;
}

// ---- Abandoning ----------------------------------------------------------------------------------------

// The warps hold nothing any more but the number of their packets under way.
static void clear_warps(Simt *m, uint32_t sm, uint32_t block_slot) {
  SmState *state = &m->at.sms[sm];
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    uint32_t number = (first_warp(m, block_slot) + i) % m->dims.warps;
    SimtWarp *at = simt_warp(m, sm, number), cleared = {.block_slot = (uint8_t)block_slot, .index = (uint8_t)i};
    uint64_t bit = UINT64_C(1) << number;
    cleared.register_base = at->register_base;
    cleared.loads = at->loads;
    cleared.stores = at->stores;
    *at = cleared;
    memset(simt_entries(m, sm, number), 0, m->dims.stack * sizeof(SimtEntry));
    memset(simt_buffer(m, sm, number), 0, m->dims.buffer * sizeof(BufferEntry));
    memset(simt_scoreboard(m, sm, number), 0, sizeof(Scoreboard));
    front_awake(m, sm, bit);
    state->present &= ~bit;
    state->wants_collector &= ~bit;
    state->wants_ldst &= ~bit;
    state->fetch_wants &= ~bit;
    state->fetch_stalled &= ~bit;
  }
}

static void tell_stopped(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear) {
  if ((m->wants & WANT_BLOCK) == 0) return;
  BlockEvent event = {.who = who_block(m, sm, block_slot, linear), .stopped = true, .mirror = is_mirror(m, sm, block_slot)};
  simt_obey(m, event.who, hooks_block(&m->hooks, &m->hook_machine, &event));
}

bool block_abandon(Simt *m, uint32_t sm, uint32_t block_slot) {
  if (!is_taken(m, sm, block_slot)) return false;
  Block *block = block_at(m, sm, block_slot);
  uint64_t linear = block->linear;
  if (!is_mirror(m, sm, block_slot) && !owed_new(m, linear, OWED_ENTRY)) return false;
  collect_abandon(m, sm, block_slot);
  parts_abandon(m, sm, block_slot);
  writeback_abandon(m, sm, block_slot);
  ldst_abandon(m, sm, block_slot);
  if (m->dims.held != 0) held_begin(m, sm, block_slot, HOLD_NONE);
  gather_abandon(m, sm, block_slot);
  clear_warps(m, sm, block_slot);
  block->alive = block->waiting = 0;
  memset(block->barriers, 0, sizeof block->barriers);
  m->at.sms[sm].ending |= UINT64_C(1) << block_slot;
  simt_actor(m, sm)->stopping |= UINT64_C(1) << block_slot;
  sm_wake(m, sm, simt_now(m));
  tell_stopped(m, sm, block_slot, linear);
  return true;
}

// ---- Copying -------------------------------------------------------------------------------------------

// The block's warps issue nothing before that cycle.
static void hold(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t until) {
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    SimtWarp *at = simt_warp(m, sm, (first_warp(m, block_slot) + i) % m->dims.warps);
    at->next_issue_at = max_u64(at->next_issue_at, until);
  }
}

static bool is_quiet(const Simt *m, uint32_t sm, uint32_t block_slot) {
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    if (simt_warp(m, sm, (first_warp(m, block_slot) + i) % m->dims.warps)->has_rest != 0) return false;
  }
  return block_is_quiet(m, sm, block_slot);
}

static void copy_registers(Simt *m, uint32_t to_sm, uint32_t to_warp, uint32_t from_sm, uint32_t from_warp) {
  for (uint32_t i = 0; i < m->warp_registers; i++) {
    uint32_t from_row = register_row(m, from_sm, from_warp, i), to_row = register_row(m, to_sm, to_warp, i);
    RegisterRow *from = register_at(m, from_sm, from_row), *to = register_at(m, to_sm, to_row);
    cells_read(m, cells_sm(m, from_sm), REGION_RF, (uint64_t)from_sm * m->dims.register_rows + from_row, UINT32_MAX, from->lane);
    *to = *from;
    cells_written(m, cells_sm(m, to_sm), REGION_RF, (uint64_t)to_sm * m->dims.register_rows + to_row, UINT32_MAX, to->lane);
  }
}

static void copy_warp(Simt *m, uint32_t to_sm, uint32_t to_warp, uint32_t from_sm, uint32_t from_warp) {
  SimtWarp *from = simt_warp(m, from_sm, from_warp), *to = simt_warp(m, to_sm, to_warp), before = *to;
  uint32_t predicates = (1u << MAX_PREDICATES) - 1;
  uint64_t bit = UINT64_C(1) << to_warp;
  SmState *state = &m->at.sms[to_sm];
  cells_read(m, cells_sm(m, from_sm), REGION_PREDICATES, (uint64_t)from_sm * m->dims.warps + from_warp, predicates, from->warp.predicates);
  *to = *from;
  to->block_slot = before.block_slot;
  to->register_base = before.register_base;
  to->age = before.age;
  to->fetch_wait = to->waits_constant = 0;
  simt_name_warp(m, to_sm, to_warp); // it is of another block now
  cells_written(m, cells_sm(m, to_sm), REGION_PREDICATES, (uint64_t)to_sm * m->dims.warps + to_warp, predicates, to->warp.predicates);
  memcpy(simt_entries(m, to_sm, to_warp), simt_entries(m, from_sm, from_warp), m->dims.stack * sizeof(SimtEntry));
  *simt_scoreboard(m, to_sm, to_warp) = *simt_scoreboard(m, from_sm, from_warp);
  copy_registers(m, to_sm, to_warp, from_sm, from_warp);
  memset(simt_buffer(m, to_sm, to_warp), 0, m->dims.buffer * sizeof(BufferEntry));
  front_awake(m, to_sm, bit);
  state->present &= ~bit;
  state->fetch_wants &= ~bit;
  if ((m->at.sms[from_sm].present >> from_warp & 1) == 0) return;
  uint32_t depth = min_u32(to->warp.stack.depth, m->dims.stack);
  state->present |= bit;
  fetch_restart(m, to_sm, to_warp, depth > 0 ? simt_entries(m, to_sm, to_warp)[depth - 1].pc : to->fetch_pc);
}

static void copy_shared(Simt *m, uint32_t to_sm, uint32_t to_slot, uint32_t from_sm, uint32_t from_block_slot) {
  uint32_t rows = (m->layout.shared_bytes + LINE_BYTES - 1) / LINE_BYTES;
  for (uint32_t i = 0; i < rows; i++) {
    uint64_t from = (uint64_t)from_sm * m->dims.shared_rows + (from_block_slot * rows + i) % m->dims.shared_rows;
    uint64_t to = (uint64_t)to_sm * m->dims.shared_rows + (to_slot * rows + i) % m->dims.shared_rows;
    cells_read(m, cells_sm(m, from_sm), REGION_SHARED, from, UINT32_MAX, m->at.shared[from].word);
    m->at.shared[to] = m->at.shared[from];
    cells_written(m, cells_sm(m, to_sm), REGION_SHARED, to, UINT32_MAX, m->at.shared[to].word);
  }
}

// Local memory lies in memory and caches: it goes to memory first, on both sides.
static void copy_local(Simt *m, uint32_t to_sm, uint32_t to_slot, uint32_t from_sm, uint32_t from_block_slot) {
  uint64_t bytes = m->layout.warps * m->backing.local_warp_bytes, mask = (UINT64_C(1) << PHYSICAL_SHIFT) - 1;
  if (bytes == 0 || m->backing.local == NULL) return;
  uint64_t from = local_address(m, from_sm, first_warp(m, from_block_slot), 0, 0),
           to = local_address(m, to_sm, first_warp(m, to_slot), 0, 0);
  caches_flush_range(m, from, from + bytes);
  caches_flush_range(m, to, to + bytes);
  memcpy(m->backing.local + (to & mask), m->backing.local + (from & mask), bytes);
}

CopyStep block_copy(Simt *m, uint32_t sm, uint32_t block_slot, const Action *action) {
  uint32_t from_sm = action->from_sm % m->dims.sms, from_block_slot = action->from_block_slot;
  uint64_t now = simt_now(m);
  if (!is_taken(m, sm, block_slot) || !is_taken(m, from_sm, from_block_slot) || !is_mirror(m, sm, block_slot)) return COPY_REFUSED;
  bool is_ending = (m->at.sms[sm].ending >> block_slot & 1) != 0 || (m->at.sms[from_sm].ending >> from_block_slot & 1) != 0;
  if (is_ending || (sm == from_sm && block_slot == from_block_slot)) return COPY_REFUSED;
  if (!is_quiet(m, sm, block_slot) || !is_quiet(m, from_sm, from_block_slot)) {
    hold(m, sm, block_slot, now + 1);
    hold(m, from_sm, from_block_slot, now + 1);
    return COPY_WAITS;
  }
  *block_at(m, sm, block_slot) = *block_at(m, from_sm, from_block_slot);
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    copy_warp(m, sm, (first_warp(m, block_slot) + i) % m->dims.warps, from_sm, (first_warp(m, from_block_slot) + i) % m->dims.warps);
  }
  copy_shared(m, sm, block_slot, from_sm, from_block_slot);
  copy_local(m, sm, block_slot, from_sm, from_block_slot);
  held_forget(m, sm, block_slot); // the other block has stored what it has stored
  hold(m, sm, block_slot, now + action->cycles);
  hold(m, from_sm, from_block_slot, now + action->cycles);
  sm_wake(m, sm, now);
  sm_wake(m, from_sm, now);
  return COPY_DONE;
}
