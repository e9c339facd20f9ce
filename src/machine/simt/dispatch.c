// The block scheduler: which SM gets the next block, and what a block starts and ends with.
//
// Blocks go out one per dispatch.interval, in launch order. A block takes the lowest free block slot of its SM; block slot s owns the warp-table
// entries, register rows and shared-memory rows that follow from s, so nothing is ever fragmented. Registers and shared
// memory are zeroed at the start: what a block computes never depends on who was there before it. And at the end: what
// a block leaves behind decides nothing, so that two runs that differ in it alone are in the same state.
// A block ends when its threads have ended and none of its instructions is under way any more.
#include "machine/parts/cluster.h"
#include "machine/simt/simt.h"

static bool has_room(const Simt *m, uint32_t sm) { return m->at.sms[sm].resident < m->blocks_per_sm; }
static bool is_fenced(const Simt *m, uint32_t sm) { return m->dims.acts != 0 && (simt_actor(m, sm)->fenced & 1) != 0; }

// The SM asked as number `turn`, if number 0 is `first` in round robin; each is asked once in `sms` turns.
static uint32_t sm_at_turn(const Simt *m, uint32_t first, uint32_t turn) {
  const SimtCore *core = m->at.core;
  uint32_t sms = m->dims.sms, even = (sms + 1) / 2;
  switch ((DispatchPolicy)m->spec->dispatch_policy) {
  case DISPATCH_ORDERED: return turn;
  case DISPATCH_EVEN_ODD: return turn < even ? 2 * turn : 2 * (turn - even) + 1;
  case DISPATCH_RANDOM: {
    uint64_t draw = random_draw(m->spec->dispatch_seed, core->next_block, m->launch->number);
    return (uint32_t)((random_below(draw, sms) + turn) % sms);
  }
  default: return (uint32_t)(((uint64_t)first + turn) % sms);
  }
}

static bool hook_allows(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear, bool mirror) {
  if ((m->wants & WANT_BLOCK) == 0) return true;
  BlockEvent event = {.who = who_block(m, sm, block_slot, linear), .done = false, .mirror = mirror};
  Verdict verdict = simt_obey(m, event.who, hooks_block(&m->hooks, &m->hook_machine, &event));
  return verdict != VERDICT_STALL && !simt_has_trapped(m);
}

// ---- A block starts --------------------------------------------------------------------------------

static void zero_registers(Simt *m, uint32_t sm, uint32_t base) {
  for (uint32_t i = 0; i < m->warp_registers; i++) {
    uint32_t row = sm * m->dims.register_rows + (base + i) % m->dims.register_rows;
    m->at.registers[row] = (RegisterRow){{0}};
    cells_written(m, cells_sm(m, sm), REGION_RF, row, UINT32_MAX, &m->at.registers[row]);
  }
}

static void zero_shared(Simt *m, uint32_t sm, uint32_t block_slot) {
  uint32_t rows = (m->layout.shared_bytes + LINE_BYTES - 1) / LINE_BYTES;
  for (uint32_t i = 0; i < rows; i++) {
    uint32_t row = sm * m->dims.shared_rows + (block_slot * rows + i) % m->dims.shared_rows;
    m->at.shared[row] = (SharedRow){{0}};
    cells_written(m, cells_sm(m, sm), REGION_SHARED, row, UINT32_MAX, &m->at.shared[row]);
  }
}

// Hooks may shuffle a warp's threads over the lanes.
static void ask_home(Simt *m, uint32_t sm, uint32_t number) {
  if ((m->wants & WANT_HOME) == 0) return;
  SimtWarp *at = simt_warp(m, sm, number);
  uint8_t home[WARP_LANES];
  uint32_t lanes = 0, moved = 0;
  for (uint32_t i = 0; i < WARP_LANES; i++) home[i] = (uint8_t)i;
  HomeEvent event = {
      .who = who_warp(m, sm, number, m->launch->kernel->entry, 0), .index = at->index, .threads = at->warp.lanes, .home = home};
  simt_obey(m, event.who, hooks_home(&m->hooks, &m->hook_machine, &event));
  for (uint32_t i = 0; i < WARP_LANES; i++) {
    lanes |= home[i] < WARP_LANES ? 1u << home[i] : 0;
    moved |= home[i] != i;
  }
  if (lanes != UINT32_MAX || moved == 0) return;
  at->shuffled = 1;
  memcpy(at->home, home, sizeof at->home);
}

static void start_warp(Simt *m, uint32_t sm, uint32_t block_slot, uint32_t index) {
  uint32_t number = (block_slot * m->layout.warps + index) % m->dims.warps, entry = m->launch->kernel->entry;
  SimtWarp *at = simt_warp(m, sm, number);
  uint32_t threads = min_u32(m->layout.threads - index * WARP_LANES, WARP_LANES);
  memset(at, 0, sizeof *at);
  memset(simt_scoreboard(m, sm, number), 0, sizeof(Scoreboard)); // what faults may have left in it
  at->warp.lanes = threads == WARP_LANES ? UINT32_MAX : (1u << threads) - 1;
  at->warp.predicates[PRED_TRUE] = UINT32_MAX;
  at->warp.stack.capacity = m->dims.stack;
  at->valid = 1;
  at->block_slot = (uint8_t)block_slot;
  at->index = (uint8_t)index;
  at->register_base = (uint16_t)(number * m->warp_registers);
  at->age = m->at.core->ages * SIMT_MOST_WARPS + index;
  simt_name_warp(m, sm, number); // before anybody is told of it
  ask_home(m, sm, number);
  simt_start(&at->warp.stack, simt_entries(m, sm, number), entry, at->warp.lanes);
  zero_registers(m, sm, at->register_base);
  cells_written(m, cells_sm(m, sm), REGION_PREDICATES, sm * m->dims.warps + number, (1u << MAX_PREDICATES) - 1, at->warp.predicates);
  m->at.sms[sm].present |= UINT64_C(1) << number;
  fetch_restart(m, sm, number, entry);
}

// Entries of the warp table, with their scoreboards.
static void tell_warps(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear, bool taken) {
  const Who *who = who_block(m, sm, block_slot, linear);
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    uint64_t row = (uint64_t)sm * m->dims.warps + (block_slot * m->layout.warps + i) % m->dims.warps;
    void (*tell)(Simt *, const Who *, SimtRegion, SimtRegion, uint64_t) = taken ? simt_take : simt_release;
    tell(m, who, REGION_WARP_PC, REGION_STACK_DEPTH, row);
    if (taken && m->at.warps[row].shuffled != 0) simt_take(m, who, REGION_WARP_HOME, REGION_WARP_HOME, row);
    tell(m, who, REGION_SCOREBOARD, REGION_SCOREBOARD, row);
  }
  simt_tell_levels(m, sm, UINT64_C(1) << block_slot);
}

static void tell_first_warps(Simt *m, uint32_t sm) {
  for (uint32_t i = 0; i < m->dims.schedulers; i++) {
    simt_decided(m, who_sm(m, sm), &(DecideEvent){.region = REGION_SCHEDULER_LAST, .row = sm, .unit = i, .written = UINT64_MAX});
  }
}

static void start_block(Simt *m, uint32_t sm, uint32_t block_slot, uint64_t linear) {
  SimtCore *core = m->at.core;
  SmState *state = &m->at.sms[sm];
  const uint32_t *grid = m->launch->grid;
  Block *block = &m->at.blocks[sm * m->dims.blocks + block_slot];
  memset(block, 0, sizeof *block);
  block->index[0] = (uint32_t)(linear % grid[0]);
  block->index[1] = (uint32_t)(linear / grid[0] % grid[1]);
  block->index[2] = (uint32_t)(linear / grid[0] / grid[1]);
  block->linear = (uint32_t)linear;
  block->alive = m->layout.threads;
  zero_shared(m, sm, block_slot);
  for (uint32_t i = 0; i < m->dims.schedulers && state->resident == 0; i++) { // an empty SM begins with warp 0
    state->schedulers[i].last = state->schedulers[i].entered = SIMT_MOST_WARPS - 1;
  }
  if (decisions_are_wanted(m) && state->resident == 0) tell_first_warps(m, sm);
  state->block_slots |= UINT64_C(1) << block_slot;
  state->resident++;
  core->resident++;
  for (uint32_t i = 0; i < m->layout.warps; i++) start_warp(m, sm, block_slot, i);
  core->ages++;
  if (places_are_wanted(m)) tell_warps(m, sm, block_slot, linear, true);
  sm_wake(m, sm, simt_now(m));
}

static uint32_t free_block_slot(const Simt *m, uint32_t sm) {
  uint64_t taken = m->at.sms[sm].block_slots;
  return taken == UINT64_MAX ? 0 : (uint32_t)__builtin_ctzll(~taken);
}

// What faults may have left in the bits of the block slot goes.
static void mark_mirror(Simt *m, uint32_t sm, uint32_t block_slot, bool mirror, bool sends) {
  if (m->dims.acts == 0) return;
  Actor *actor = simt_actor(m, sm);
  uint64_t bit = UINT64_C(1) << block_slot;
  actor->mirrors = mirror ? actor->mirrors | bit : actor->mirrors & ~bit;
  actor->senders = mirror && sends ? actor->senders | bit : actor->senders & ~bit;
  actor->stopping &= ~bit;
  actor->fallen &= ~bit;
  held_begin(m, sm, block_slot, HOLD_NONE);
}

bool dispatch_mirror(Simt *m, const Action *action) {
  uint32_t sm = action->sm;
  uint64_t linear = action->block;
  if (linear >= m->at.core->block_total || !has_room(m, sm)) return false;
  uint32_t block_slot = free_block_slot(m, sm);
  if (!hook_allows(m, sm, block_slot, linear, true)) return false;
  mark_mirror(m, sm, block_slot, true, action->sends);
  held_begin(m, sm, block_slot, action->hold);
  start_block(m, sm, block_slot, linear);
  return true;
}

// Which bits of the block scheduler's cells have made this SM the one that gets the next block. Hooks are asked in the order of the SMs; if one has
// refused, any other order may be another story.
static void tell_dispatch(Simt *m, uint32_t chosen, bool refused) {
  uint64_t decided = 0;
  for (uint32_t bit = 0; bit < 8; bit++) {
    uint32_t first = m->at.core->dispatch_sm ^ 1u << bit, turn = 0;
    while (turn < m->dims.sms && !has_room(m, sm_at_turn(m, first, turn))) turn++;
    bool is_same = !refused && turn < m->dims.sms && sm_at_turn(m, first, turn) == chosen;
    decided |= is_same ? 0 : UINT64_C(1) << bit;
  }
  simt_decided(m, &m->nobody, &(DecideEvent){.region = REGION_BLOCKS_SM, .decided = decided, .written = ~decided});
  simt_decided(m, &m->nobody, &(DecideEvent){.region = REGION_BLOCKS_NEXT, .decided = UINT64_MAX});
}

bool dispatch_cycle(Simt *m) {
  SimtCore *core = m->at.core;
  uint64_t now = simt_now(m), linear = cluster_block_at(m->launch, core->next_block);
  if (dispatch_next(m) > now) return false;
  bool refused = false, is_again = m->dims.acts != 0 && owed_next(m, &linear);
  for (uint32_t turn = 0; turn < m->dims.sms; turn++) {
    uint32_t sm = sm_at_turn(m, core->dispatch_sm, turn);
    if (!has_room(m, sm) || is_fenced(m, sm)) continue;
    uint32_t block_slot = free_block_slot(m, sm);
    if (!hook_allows(m, sm, block_slot, linear, false)) {
      refused = true;
      continue;
    }
    if (decisions_are_wanted(m)) tell_dispatch(m, sm, refused);
    mark_mirror(m, sm, block_slot, false, false);
    start_block(m, sm, block_slot, linear);
    simt_count(m, STAT_WARPS, m->layout.warps);
    if (is_again) owed_started(m, linear);
    else core->next_block++;
    core->dispatch_sm = (sm + 1) % m->dims.sms;
    core->dispatch_at = now + m->spec->dispatch_interval;
    return true;
  }
  if (decisions_are_wanted(m)) tell_dispatch(m, WHO_NO_INDEX, refused);
  core->dispatch_at = now + 1; // hooks have refused every SM
  return false;
}

uint64_t dispatch_next(const Simt *m) {
  const SimtCore *core = m->at.core;
  uint64_t linear;
  if (core->next_block >= core->block_total && (m->dims.acts == 0 || !owed_next(m, &linear))) return UINT64_MAX;
  if (core->resident >= (uint64_t)m->blocks_per_sm * m->dims.sms || !cluster_has_room(m)) return UINT64_MAX;
  return core->dispatch_at;
}

// ---- A block ends ----------------------------------------------------------------------------------

// The count goes on, and the schedulers forget the block's warps.
static void tell_block_ended(Simt *m, uint32_t sm, uint32_t block_slot) {
  uint64_t warps = 0;
  for (uint32_t i = 0; i < m->layout.warps; i++) warps |= UINT64_C(1) << (block_slot * m->layout.warps + i) % m->dims.warps;
  for (uint32_t i = 0; i < m->dims.schedulers; i++) {
    simt_decided(m, who_sm(m, sm), &(DecideEvent){.region = REGION_SCHEDULER_ACTIVE, .row = sm, .unit = i, .written = warps});
  }
  simt_decided(m, &m->nobody, &(DecideEvent){.region = REGION_BLOCKS_DONE, .decided = UINT64_MAX});
}

void dispatch_block_ended(Simt *m, uint32_t sm, uint32_t block_slot) {
  SimtCore *core = m->at.core;
  SmState *state = &m->at.sms[sm];
  Block *block = &m->at.blocks[sm * m->dims.blocks + block_slot];
  uint64_t linear = block->linear;
  bool mirror = warp_is_mirror(m, sm, block_slot * m->layout.warps), stopped = warp_is_stopping(m, sm, block_slot * m->layout.warps);
  for (uint32_t i = 0; i < m->layout.warps; i++) {
    uint32_t warp = (block_slot * m->layout.warps + i) % m->dims.warps;
    memset(simt_entries(m, sm, warp), 0, m->dims.stack * sizeof(SimtEntry));
    memset(simt_buffer(m, sm, warp), 0, m->dims.buffer * sizeof(BufferEntry));
    memset(simt_scoreboard(m, sm, warp), 0, sizeof(Scoreboard));
    if (places_are_wanted(m) && simt_warp(m, sm, warp)->shuffled != 0)
      simt_release(m, who_sm(m, sm), REGION_WARP_HOME, REGION_WARP_HOME, (uint64_t)sm * m->dims.warps + warp);
    memset(simt_warp(m, sm, warp), 0, sizeof(SimtWarp));
    memset(&m->at.rests[sm * m->dims.warps + warp], 0, sizeof(Rest));
    zero_registers(m, sm, warp * m->warp_registers);
    uint64_t bit = UINT64_C(1) << warp;
    front_awake(m, sm, bit);
    state->present &= ~bit;
    state->fetch_wants &= ~bit;
    state->fetch_stalled &= ~bit;
    for (uint32_t s = 0; s < m->dims.schedulers; s++) state->schedulers[s].active &= ~bit;
  }
  zero_shared(m, sm, block_slot);
  memset(block, 0, sizeof *block);
  state->block_slots &= ~(UINT64_C(1) << block_slot);
  state->ending &= ~(UINT64_C(1) << block_slot);
  state->resident -= state->resident > 0;
  core->resident -= core->resident > 0;
  if (decisions_are_wanted(m)) tell_block_ended(m, sm, block_slot);
  core->blocks_done += mirror || stopped ? 0 : 1;
  core->dispatch_at = max_u64(core->dispatch_at, simt_now(m) + 1);
  if (places_are_wanted(m)) tell_warps(m, sm, block_slot, linear, false);
  simt_count(m, STAT_BLOCKS, mirror || stopped ? 0 : 1);
  if (stopped && !mirror) owed_gone(m, linear);
  mark_mirror(m, sm, block_slot, false, false);
  sm_wake(m, sm, simt_now(m) + 1);
  if ((m->wants & WANT_BLOCK) == 0) return;
  BlockEvent event = {.who = who_block(m, sm, block_slot, linear), .done = true, .mirror = mirror};
  simt_obey(m, event.who, hooks_block(&m->hooks, &m->hook_machine, &event));
}
