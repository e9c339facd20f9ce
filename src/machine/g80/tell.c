// What hooks are told of the machine: accesses of its cells, launches, blocks, instructions written back. A hook's wish to end the launch is
// kept in the block and obeyed at the end of the cycle.
#include "machine/g80/g80_internal.h"

static HookMachine *hook_machine(const G80Machine *m) {
  m->hooks->machine.cycle = m->shared->cycle;
  return &m->hooks->machine;
}

static void obey(const G80Machine *m, Verdict verdict) {
  if (verdict == VERDICT_HALT || m->hooks->machine.refused.hook != NULL) m->shared->halted = 1;
}

// Blocks, issues and requests have no numbers here.
static Who who_of(const G80Machine *m, uint32_t sm, const G80Job *job) {
  Who who = WHO_NOBODY;
  who.launch = m->launch == NULL ? 1 : m->launch->number;
  who.sm = sm;
  if (job == NULL) return who;
  who.warp = job->warp & (G80_WARPS - 1);
  who.block_slot = job->cta & (G80_BLOCK_SLOTS - 1);
  who.pc = job->pc >> 2;
  return who;
}

// ---- Cells -----------------------------------------------------------------------------------------------------------
// A hook that changes a register that was written may wake what has gone to sleep in the same cycle. Signals are followed at once.
static void tell_write(const G80Machine *m, const CellEvent *event, const Region *region) {
  size_t bytes = (region->units - 1) * region->unit_bytes + (region->bits + 7) / 8;
  uint8_t before[4 * WARP_LANES];
  ASSERT(bytes <= sizeof before);
  memcpy(before, event->data, bytes);
  obey(m, hooks_write(&m->hooks->chain, hook_machine(m), event));
  if ((region->flags & REGION_HASHED) != 0 && memcmp(before, event->data, bytes) != 0) m->hooks->disturbed = true;
}

void tell_cells(const G80Machine *m, RegionId id, uint32_t row, uint32_t units, bool write, const G80Job *job) {
  if (units == 0) return;
  const Region *region = &m->regions.items[m->region_index[id]];
  Who who = who_of(m, m->rows_of_sm[id] == 0 ? WHO_NO_INDEX : row / m->rows_of_sm[id], job);
  CellEvent event = {.who = &who, .region = m->region_index[id], .units = units, .row = row};
  event.data = m->block + region->base + row * region->row_bytes;
  if (write) tell_write(m, &event, region);
  else obey(m, hooks_read(&m->hooks->chain, hook_machine(m), &event));
}

// Bytes of a memory whose size is a power of two; row `first` is its first byte.
void tell_bytes(const G80Machine *m, RegionId id, uint32_t first, uint32_t address, uint32_t bytes, bool write, const G80Job *job) {
  const uint32_t size = id == REGION_ID_shared ? G80_SHARED_BYTES : G80_CONSTANT_BYTES;
  for (uint32_t i = 0; i < bytes; i++) tell_cells(m, id, first + ((address + i) & (size - 1)), 1, write, job);
}

// The controller and the arbiters look at all their registers whenever they do anything.
static void tell_all(const G80Machine *m, RegionId first, RegionId last, uint32_t row, bool write) {
  for (uint32_t id = first; id <= last; id++) {
    if (m->tells[id]) tell_cells(m, (RegionId)id, row, id == REGION_ID_ctl_thread ? 7 : 1, write, NULL);
  }
}

void tell_controller_cells(const G80Machine *m, uint32_t sm, bool write) {
  tell_all(m, REGION_ID_ctl_state, REGION_ID_ctl_done, sm, write);
}

void tell_port_cells(const G80Machine *m, PortId id, bool write) { tell_all(m, REGION_ID_arb_state, REGION_ID_arb_ack, id, write); }

static bool any_byte(const uint8_t *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] != 0) return true;
  }
  return false;
}

// Cells that are zero need no telling: to hooks a fresh block is all zeros.
void tell_loaded(const G80Machine *m) {
  for (uint32_t id = 0; id < REGION_ID_COUNT; id++) {
    if (!m->tells[id]) continue;
    const Region *region = &m->regions.items[m->region_index[id]];
    uint32_t units = region->units == 32 ? UINT32_MAX : (1u << region->units) - 1;
    for (uint32_t row = 0; row < region->rows; row++) {
      const uint8_t *cells = m->block + region->base + row * region->row_bytes;
      bool any = any_byte(cells, (region->units - 1) * region->unit_bytes + (region->bits + 7) / 8);
      if (any) tell_cells(m, (RegionId)id, row, units, true, NULL);
    }
  }
  m->hooks->disturbed = false;
}

// Signals are looked at in two states of the scheduler only.
// Which structures anybody watches.
static bool is_watched(const G80Machine *m, uint16_t region) {
  bool any = false;
  for (uint32_t i = 0; i < m->hooks->chain.count && !any; i++) {
    const Hook *hook = m->hooks->chain.hooks[i];
    any = (hook->read != NULL || hook->write != NULL) && (hook->watches == NULL || hook->watches(hook, region));
  }
  return any;
}

void tell_whom(G80Machine *m) {
  uint32_t wants = hook_chain_wants(&m->hooks->chain);
  m->tells_cells = false;
  m->tells_cycles = (wants & WANT_CYCLE) != 0;
  m->tells_commits = (wants & WANT_COMMIT) != 0;
  for (uint32_t i = 0; i < REGION_ID_COUNT; i++) {
    uint16_t region = m->region_index[i];
    bool told = region != REGION_NONE && (m->regions.items[region].flags & REGION_TRACED) != 0;
    m->tells[i] = told && is_watched(m, region);
    m->tells_cells |= m->tells[i];
  }
}

// While the scheduler waits for the SMs, num_blocks is looked at only for whether it is zero, and written before the wait for the next pass.
// A clear bit of a number that is not zero does not matter then, however many such bits are struck at once.
static bool is_spare_count(const HookMachine *machine, const Region *region, const Site *site, uint32_t state) {
  if (state != BS_SCHEDULE_WAIT || strcmp(region->name, "bs_num_blocks") != 0) return false;
  uint64_t value = unit_get(region, machine->block + region->base + site->row * region->row_bytes);
  return value != 0 && (value >> site->bit & 1) == 0;
}

bool is_free_cell(const HookMachine *machine, const Site *site) {
  const Region *region = &machine->regions->items[site->region];
  uint32_t state = ((const G80Shared *)(const void *)machine->block)->scheduler.state & 7;
  bool is_signal = (region->flags & (REGION_HASHED | REGION_INJECTABLE)) == REGION_INJECTABLE;
  if (!is_signal) return is_spare_count(machine, region, site, state);
  return state != BS_CALC_BLOCKS && state != BS_CHECK_BLOCKS;
}

// ---- The rest --------------------------------------------------------------------------------------------------------
void tell_launch(G80Machine *m) {
  const G80Config *config = &m->shared->config;
  Who who = who_of(m, WHO_NO_INDEX, NULL);
  LaunchEvent event = {.who = &who,
                       .kernel = m->launch == NULL ? "kernel" : m->launch->kernel->name,
                       .grid = {config->grid[0], config->grid[1], 1},
                       .block = {config->block[0], config->block[1], config->block[2]},
                       .shared_bytes = config->shmem_size};
  obey(m, hooks_launch(&m->hooks->chain, hook_machine(m), &event));
  tell_phase(m, WHO_NO_INDEX, "configuration", m->shared->start);
}

void tell_block(const G80Machine *m, uint32_t sm, uint32_t block_slot, bool done) {
  Who who = who_of(m, sm, NULL);
  who.block = ((m->shared->scheduler.block_idx_out & 0xFFFF) + policy_place(m, sm) + block_slot * policy_step(m)) & 0xFFFF;
  who.block_slot = block_slot;
  BlockEvent event = {.who = &who, .done = done};
  m->shared->blocks += done;
  obey(m, hooks_block(&m->hooks->chain, hook_machine(m), &event));
}

void tell_commit(const G80Machine *m, uint32_t sm, const G80Job *job, uint64_t issued_at) {
  if (!m->tells_commits) return;
  uint32_t shift = (job->group & (m->groups - 1)) * m->sps;
  Who who = who_of(m, sm, job);
  CommitEvent event = {
      .who = &who, .mask = job->active & (m->sps == 32 ? UINT32_MAX : ((1u << m->sps) - 1) << shift), .issued_at = issued_at};
  obey(m, hooks_commit(&m->hooks->chain, hook_machine(m), &event));
}

void tell_phase(const G80Machine *m, uint32_t sm, const char *name, uint64_t at) {
  Who who = who_of(m, sm, NULL);
  hooks_phase(&m->hooks->chain, hook_machine(m), &(PhaseEvent){.who = &who, .name = name, .at = at});
}

void tell_trap(const G80Machine *m, uint32_t kind) {
  Who who = who_of(m, WHO_NO_INDEX, NULL);
  TrapEvent event = {.who = &who, .kind = kind};
  hooks_trap(&m->hooks->chain, hook_machine(m), &event); // what has stopped stays stopped
}

// Cells change in the cycles that are simulated, and by hooks. If there is one hook that may change them, it knows when they are still.
void tell_cycle(G80Machine *m, uint64_t next) {
  HookMachine *machine = hook_machine(m);
  machine->still_until = hooks_changing(&m->hooks->chain, machine) == 1 ? next : 0;
  hooks_cycle(&m->hooks->chain, machine);
  machine->still_until = 0;
}
