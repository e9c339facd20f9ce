// The SIMT machine as others see it: made for a Spec, given launches, run, cloned, hashed, compared.
#include "machine/machines.h"
#include "machine/mirror.h"
#include "machine/pages.h"
#include "machine/simt/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PROGRESS_CYCLES = 1 << 18 };

// ---- Made and freed ----------------------------------------------------------------------------------

void machine_bind(Simt *m) {
  simt_bind(&m->dims, m->block, &m->at);
  simt_name_warps(m);
  m->backing.local_touched = &m->at.core->local_touched;
  m->backing.const_written = &m->at.core->const_written;
  m->hook_machine.block = m->block;
  m->hook_machine.corrected = &m->at.stats->value[STAT_CORRECTED];
  m->hook_machine.detected = &m->at.stats->value[STAT_DETECTED];
  m->hook_machine.repeated = &m->at.stats->value[STAT_REPEATED];
  m->hook_machine.tally = &m->at.stats->value[STAT_COUNT - TALLY_COUNT];
}

static void unit_times(Simt *m) {
  const Spec *spec = m->spec;
  uint32_t least = max_u32(WARP_LANES / (uint32_t)min_u64(spec->sm_sp_lanes * spec->sm_sp_clock, WARP_LANES), 1);
  const uint64_t latency[UNIT_COUNT] = {
      [UNIT_ALU] = spec->latency_alu,       [UNIT_FP32] = spec->latency_fp32,   [UNIT_FP64] = spec->latency_fp64,
      [UNIT_SFU] = spec->latency_sfu,       [UNIT_IMUL] = spec->latency_imul,   [UNIT_IDIV] = spec->latency_idiv,
      [UNIT_LDST] = spec->latency_address,  [UNIT_TEX] = spec->texture_latency, [UNIT_TENSOR] = spec->latency_tensor,
      [UNIT_BRANCH] = spec->latency_branch,
  };
  const uint64_t interval[UNIT_COUNT] = {
      [UNIT_ALU] = max_u64(spec->interval_alu, least),
      [UNIT_FP32] = max_u64(spec->interval_fp32, least),
      [UNIT_FP64] = spec->interval_fp64,
      [UNIT_SFU] = spec->interval_sfu,
      [UNIT_IMUL] = max_u64(spec->interval_imul, least),
      [UNIT_IDIV] = max_u64(spec->interval_idiv, least),
      [UNIT_LDST] = spec->interval_ldst,
      [UNIT_TEX] = 1,
      [UNIT_TENSOR] = spec->interval_tensor,
      [UNIT_BRANCH] = 1,
  };
  for (uint32_t unit = 0; unit < UNIT_COUNT; unit++) {
    m->unit_latency[unit] = (uint32_t)latency[unit];
    m->unit_interval[unit] = (uint32_t)interval[unit];
  }
  timing_prepare(m);
  fetch_prepare(m);
  m->has_collector_classes = (spec->collector_sp | spec->collector_sfu | spec->collector_memory) != 0;
}

static const uint64_t *statistic(const HookMachine *machine, const char *name) {
  const Simt *m = (const Simt *)(const void *)((const uint8_t *)machine - offsetof(Simt, hook_machine));
  for (uint32_t i = 0; i < STAT_COUNT; i++) {
    if (strcmp(stat_info[i].name, name) == 0) return &m->at.stats->value[i];
  }
  return NULL;
}

// The machine's own arrays but statistics, and what schemes have added behind them.
static StateLayout hashed_layout(Simt *m) {
  ByteRange *ranges = ARENA_ARRAY(m->arena, ByteRange, SIMT_MOST_RANGES);
  uint32_t count = simt_hashed(&m->dims, ranges, SIMT_MOST_RANGES - 1);
  if (m->block_bytes > m->own_bytes) ranges[count++] = (ByteRange){m->own_bytes, m->block_bytes - m->own_bytes};
  StateLayout layout = {.regions = &m->regions, .hashed = ranges, .hashed_count = count, .clock = offsetof(SimtCore, cycle)};
  layout.field_count = simt_fields(&m->dims, layout.fields);
  layout.digest = simt_digested(&m->dims);
  return layout;
}

// Not faults and observers: they come and go.
static bool protections_want(const HookChain *chain, uint32_t events) {
  HookChain protections;
  return hook_chain_clone(chain, NULL, &protections) && (hook_chain_wants(&protections) & events) != 0;
}

static Machine *make(const Spec *spec, const HookChain *hooks, Diags *diags) {
  Arena *arena = arena_new();
  SimtMachine *machine = ARENA_NEW(arena, SimtMachine);
  machine->base.kind = &simt_machine;
  Simt *m = &machine->simt;
  m->arena = arena;
  m->spec = spec;
  m->functions = lane_functions();
  m->rows = row_functions();
  if (hooks != NULL) m->hooks = *hooks;
  simt_meet_hooks(m);
  m->actions = hook_chain_actions(&m->hooks);
  simt_dims(spec, &m->dims);
  m->dims.word_bits = hook_chain_word_bits(&m->hooks);
  m->dims.acts = m->actions != 0 ? 1 : 0;
  m->dims.shuffled = protections_want(&m->hooks, WANT_HOME);
  m->dims.planned = m->dims.shuffled || protections_want(&m->hooks, WANT_PLAN | WANT_PLACE) || spec->scheduler_large_warp > 1;
  m->dims.held = (m->actions & ACTION_BIT(ACTION_HOLD)) != 0 ? hook_chain_held_lines(&m->hooks) : 0;
  MirrorWay mirrors = hook_chain_mirrors(&m->hooks);
  m->dims.mirror_lines = m->dims.acts * mirrors.lines;
  m->dims.mirror_free = m->dims.acts * mirrors.free_cycles;
  Region *own = ARENA_ARRAY(arena, Region, SIMT_REGIONS);
  size_t own_bytes = simt_layout(&m->dims, own);
  RegionTable table = {own, m->dims.acts != 0 ? SIMT_REGIONS : SIMT_PLAIN_REGIONS, own_bytes};
  HookShape shape = {.sms = m->dims.sms, .warps = m->dims.warps, .block_slots = m->dims.blocks};
  shape.tpc_sms = (uint32_t)spec->sm_per_tpc;
  shape.instruction_bytes = (uint32_t)spec->front_instruction;
  shape.untold = WANT_PHASE | WANT_POINT | WANT_MERGE;
  HookLayout *layout = hook_layout_begin(arena, &table, &shape);
  if (!hook_layout_attach(layout, &m->hooks, diags)) {
    arena_free(arena);
    return NULL;
  }
  simt_meet_hooks(m); // once more: a hook knows only now of what it need not hear
  m->regions = hook_layout_finish(layout);
  m->block_bytes = m->regions.block_bytes;
  m->own_bytes = own_bytes;
  m->keeps_instructions = hooks_keep_instructions(&m->regions);
  m->state_layout = hashed_layout(m);
  m->block = state_block_make(&m->regions, diags);
  if (m->block == NULL) {
    arena_free(arena);
    return NULL;
  }
  m->hook_machine = (HookMachine){
      .regions = &m->regions, .spec = spec, .is_free = simt_is_free, .is_told = simt_is_told, .look_at = simt_look_at, .stat = statistic};
  if (m->dims.acts != 0) m->hook_machine.act = simt_act;
  machine_bind(m);
  hooks_begin(&m->hooks, &m->hook_machine);
  unit_times(m);
  return &machine->base;
}

static void local_free(Simt *m) {
  if (m->backing.local != NULL) munmap(m->backing.local, m->backing.local_bytes);
  m->backing.local = NULL;
  m->backing.local_bytes = 0;
}

static void free_machine(Machine *machine) {
  Simt *m = simt_of(machine);
  local_free(m);
  facts_free(m);
  mirror_free(m->mirror);
  state_block_free(m->block, m->block_bytes);
  arena_free(m->arena);
}

// ---- A launch ------------------------------------------------------------------------------------------

static void local_new(Simt *m) {
  uint64_t warp_bytes = (uint64_t)m->layout.local_bytes * WARP_LANES;
  uint64_t bytes = align_up(warp_bytes * m->dims.warps * m->dims.sms, HOST_PAGE);
  local_free(m);
  m->backing.local_warp_bytes = warp_bytes;
  m->at.core->local_touched = 0;
  if (bytes == 0) return;
  void *local = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(local != MAP_FAILED);
  m->backing.local = local;
  m->backing.local_bytes = bytes;
}

static uint32_t blocks_that_fit(const Simt *m) {
  const BlockLayout *layout = &m->layout;
  uint32_t rows = (layout->shared_bytes + LINE_BYTES - 1) / LINE_BYTES;
  uint32_t blocks = min_u32(m->dims.blocks, m->dims.warps / layout->warps);
  blocks = min_u32(blocks, m->dims.register_rows / (layout->warps * m->warp_registers));
  return rows == 0 ? blocks : min_u32(blocks, m->dims.shared_rows / rows);
}

static void core_begin(Simt *m) {
  SimtCore *core = m->at.core;
  const uint32_t *grid = m->launch->grid;
  *core = (SimtCore){.cycle = core->cycle,
                     .dispatch_sm = m->dims.keeps_turn != 0 ? core->dispatch_sm : 0,
                     .began_at = core->cycle,
                     .block_total = (uint64_t)grid[0] * grid[1] * grid[2],
                     .dispatch_at = core->cycle + m->spec->dispatch_latency};
  memset(m->at.stats, 0, sizeof *m->at.stats);
  memset(m->at.head_waits, 0, m->dims.sms);
  memset(m->at.starved, 0, m->dims.sms * sizeof *m->at.starved);
  memset(m->at.sent, 0, (size_t)m->dims.acts * m->dims.sms * SIMT_SENT * sizeof *m->at.sent);
  memset(m->at.joined, 0, (size_t)m->dims.acts * m->dims.sms * SIMT_JOINED * sizeof *m->at.joined);
  memset(m->at.held, 0, (size_t)m->dims.sms * m->dims.held * sizeof *m->at.held);
  if (m->dims.held != 0) memset(m->at.held_blocks, 0, (size_t)m->dims.sms * m->dims.blocks * sizeof *m->at.held_blocks);
  for (uint32_t sm = 0; sm < m->dims.sms; sm++) {
    m->at.sms[sm] = (SmState){.counted_to = core->cycle, .idle_reason = IDLE_EMPTY};
    m->at.wake_at[sm] = UINT64_MAX;
  }
}

static void begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch) {
  Simt *m = simt_of(machine);
  m->environment = environment;
  m->launch = launch;
  m->program = launch->program;
  facts_prepare(m);
  m->hook_machine.program = launch->program;
  m->hook_machine.memory = memory_bytes(environment->memory);
  m->trap = (Trap){0};
  m->is_still = false;
  block_layout(&m->layout, launch, environment->stack_bytes);
  m->warp_registers = max_u32(launch->kernel->registers, 1);
  memset(m->cluster_places, 0, sizeof m->cluster_places);
  m->hook_machine.warp_rows = m->warp_registers;
  m->hook_machine.refused = (Refusal){0};
  m->nobody = WHO_NOBODY;
  m->nobody.launch = launch->number;
  simt_name_sms(m);
  m->blocks_per_sm = blocks_that_fit(m);
  core_begin(m);
  m->backing.memory = environment->memory;
  m->backing.program = launch->program;
  m->backing.banks[BANK_PARAM] = launch->params;
  m->backing.bank_bytes[BANK_PARAM] = launch->kernel->param_bytes;
  m->backing.banks[BANK_CONST] = environment->const_bank;
  m->backing.bank_bytes[BANK_CONST] = launch->program->const_bytes;
  m->backing.banks[BANK_SYMBOL] = environment->symbol_bank;
  m->backing.bank_bytes[BANK_SYMBOL] = launch->program->symbol_count * 8;
  m->backing.bank_base[BANK_CONST] = environment->const_address;
  m->backing.bank_base[BANK_SYMBOL] = environment->symbol_address;
  m->backing.code_base = environment->code_address;
  m->backing.splits_code = m->dims.split != 0;
  local_new(m);
  m->hook_machine.cycle = simt_now(m);
  LaunchEvent event = {
      .who = &m->nobody, .kernel = launch->kernel->name, .shared_bytes = m->layout.shared_bytes, .block_slots = m->blocks_per_sm};
  memcpy(event.grid, launch->grid, sizeof event.grid);
  memcpy(event.block, launch->block, sizeof event.block);
  if ((m->wants & WANT_LAUNCH) != 0) simt_obey(m, &m->nobody, hooks_launch(&m->hooks, &m->hook_machine, &event));
  caches_meet_host(m);
}

static bool is_over(const Simt *m) {
  const SimtCore *core = m->at.core;
  if (simt_has_trapped(m)) return true;
  return core->blocks_done >= core->block_total && (m->dims.acts == 0 || !actions_hold(m));
}

// Nothing will ever happen again: say what the first warp waits for.
static void trap_hang(Simt *m) {
  for (uint32_t i = 0; i < m->dims.sms * m->dims.warps; i++) {
    const SimtWarp *warp = &m->at.warps[i];
    uint32_t sm = i / m->dims.warps, depth = min_u32(warp->warp.stack.depth, m->dims.stack);
    if (warp->valid == 0 || depth == 0 || warp_is_mirror(m, sm, i % m->dims.warps)) continue;
    const SimtEntry *top = &simt_entries(m, sm, i % m->dims.warps)[depth - 1];
    TrapKind kind = top->state == ENTRY_AT_BARRIER ? TRAP_BARRIER_DEADLOCK : TRAP_HANG;
    simt_end(m, sm, i % m->dims.warps, top->pc, kind, top->mask);
    return;
  }
  simt_end(m, 0, 0, m->launch->kernel->entry, TRAP_HANG, 0);
}

static bool run(Machine *machine, uint64_t until) {
  Simt *m = simt_of(machine);
  uint64_t next_progress = (simt_now(m) | (PROGRESS_CYCLES - 1)) + 1;
  if (m->blocks_per_sm == 0 && !is_over(m)) trap_hang(m);
  while (!is_over(m) && simt_now(m) < until) {
    uint64_t next = machine_cycle(m); // hooks may move the block: nothing here points into it across the call
    if (next == UINT64_MAX && !is_over(m)) trap_hang(m);
    m->at.core->cycle = is_over(m) ? simt_now(m) + 1 : min_u64(next, until);
    if (simt_now(m) < next_progress || m->environment->progress == NULL) continue;
    next_progress = (simt_now(m) | (PROGRESS_CYCLES - 1)) + 1;
    if (!m->environment->progress(m->environment->progress_context, m->at.stats)) simt_end(m, 0, 0, 0, TRAP_STOPPED, 0);
  }
  return is_over(m);
}

// What the launch could have used: the denominators of shares.
static void capacity_stats(Simt *m) {
  uint64_t cycles = m->at.stats->value[STAT_SM_CYCLES];
  simt_count(m, STAT_SM_SHARES, m->dims.sms);
  simt_count(m, STAT_WARP_SLOTS, cycles * m->dims.warps);
  simt_count(m, STAT_ISSUE_SLOTS, cycles * m->dims.schedulers);
}

static void dram_stats(Simt *m) {
  for (uint32_t i = 0; i < m->dims.controllers; i++) {
    const DramController *at = &m->at.controllers[i];
    simt_count(m, STAT_DRAM_READS, at->reads);
    simt_count(m, STAT_DRAM_WRITES, at->writes);
    simt_count(m, STAT_DRAM_ROW_HITS, at->row_hits);
    simt_count(m, STAT_DRAM_ROW_MISSES, at->row_misses);
    simt_count(m, STAT_DRAM_WAIT, at->waited);
  }
}

// Caches that outlive launches, in the order of the block. Tags, lines and data of one follow each other.
enum { MOST_KEPT = 7 };
static uint32_t kept_ranges(const Simt *m, ByteRange ranges[MOST_KEPT]) {
  const SimtDims *d = &m->dims;
  size_t constants = (size_t)d->sms * d->constant_lines, firsts = (size_t)d->sms * d->icache_lines,
         seconds = (size_t)d->tpcs * d->icache2_lines, l2 = (size_t)d->partitions * d->l2_lines;
  const struct {
    const void *from, *to;
    uint32_t keeps;
  } caches[MOST_KEPT] = {{m->at.constant_tags, &m->at.constant_data[constants], d->keeps_constant},
                         {m->at.icache_tags, &m->at.icache_data[firsts], d->keeps_icache},
                         {m->at.icache2_tags, &m->at.icache2_data[seconds], d->keeps_icache},
                         {m->at.icache_rest, &m->at.icache_rest[d->split * firsts], d->keeps_icache},
                         {m->at.icache2_rest, &m->at.icache2_rest[d->split * seconds], d->keeps_icache},
                         {m->at.l2_tags, &m->at.l2_data[l2], d->keeps_l2},
                         {m->at.l2_rest, &m->at.l2_rest[d->split * l2], d->keeps_l2}};
  uint32_t count = 0;
  for (uint32_t i = 0; i < MOST_KEPT; i++) {
    if (caches[i].keeps == 0 || caches[i].to == caches[i].from) continue;
    const uint8_t *from = caches[i].from, *to = caches[i].to;
    ranges[count++] = (ByteRange){(size_t)(from - m->block), (size_t)(to - from)};
  }
  return count;
}

// A launch begins with everything else at rest, whatever the one before it left in the pipelines. What schemes keep for longer stays.
static void rest(Simt *m) {
  uint64_t cycle = m->at.core->cycle;
  uint32_t turn = m->at.core->dispatch_sm;
  ByteRange kept[MOST_KEPT];
  size_t from = 0;
  for (uint32_t i = 0, count = kept_ranges(m, kept); i < count; i++) {
    ASSERT(kept[i].offset >= from);
    pages_zero_part(m->block + from, kept[i].offset - from);
    from = kept[i].offset + kept[i].bytes;
  }
  pages_zero_part(m->block + from, m->own_bytes - from);
  hooks_launch_ended(&m->regions, m->block);
  m->at.core->cycle = cycle;
  if (m->dims.keeps_turn != 0) m->at.core->dispatch_sm = turn;
  simt_name_warps(m);
}

static void flush(Machine *machine) { caches_flush(simt_of(machine)); }

static void end(Machine *machine, Stats *stats, Trap *trap) {
  Simt *m = simt_of(machine);
  simt_account_all(m);
  SimtCore *core = m->at.core;
  m->at.stats->value[STAT_CYCLES] = core->cycle - core->began_at;
  capacity_stats(m);
  dram_stats(m);
  caches_end_launch(m);
  *stats = *m->at.stats;
  *trap = m->trap;
  hooks_finish(&m->hooks, &m->hook_machine);
  rest(m);
  local_free(m);
}

// ---- What it can do ------------------------------------------------------------------------------------

// With large warps threads of several warps issue together: no warp has an order of its own.
static uint32_t abilities(const Spec *spec) {
  uint32_t all = MACHINE_HAS_TIME | MACHINE_TELLS_ACCESSES | MACHINE_TELLS_FREE;
  return spec->scheduler_large_warp <= 1 ? all | MACHINE_IS_FOLLOWED : all;
}

// MachineAccesses.longest, by the machine file: the way there and back, and as many rows opened in one bank as the queue and the lanes ask for.
static uint64_t longest_access(const Spec *spec) {
  uint64_t ports = spec->sm_count + spec->dram_controllers * spec->l2_slices, hops = 1;
  while (spec->network_kind == NETWORK_MESH && hops * hops < ports) hops++;
  uint64_t rows = (spec->dram_queue + WARP_LANES) * max_u64(spec->dram_rc, spec->dram_ras + spec->dram_rp);
  uint64_t dram = spec->dram_latency + (rows * spec->clock_core_khz + spec->clock_memory_khz - 1) / spec->clock_memory_khz;
  return spec->latency_address + 2 * (2 * hops * spec->network_latency + WARP_LANES) + spec->l2_latency + dram + spec->latency_cluster;
}

static MachineAccesses accesses(const Spec *spec) {
  SimtDims dims;
  simt_dims(spec, &dims);
  return (MachineAccesses){.line_words = LINE_WORDS,
                           .keeps_caches = (dims.keeps_l2 | dims.keeps_icache | dims.keeps_constant | dims.keeps_turn) != 0,
                           .joins_lanes = coalesce_joins_lanes(spec),
                           .longest = longest_access(spec),
                           .schedulers = (uint32_t)spec->sm_schedulers,
                           .shared_passes = shared_passes};
}

// Who moves, repeats or abandons single blocks knows nothing of those that share memory with them.
static bool admits(const Machine *machine, const Launch *launch, Diags *diags) {
  if (simt_in(machine)->dims.acts == 0 || launch->cluster[0] == 0) return true;
  return diags_add(diags, NULL, 0, 0, "kernel '%s' has clusters of blocks: a protection that acts on single blocks cannot run it",
                   SHORT_NAME(launch->kernel->name));
}

const MachineKind simt_machine = {
    .name = "simt",
    .form = FORM_REDOUBT,
    .abilities = abilities,
    .actions = ACTION_BIT(ACTION_PREFETCH) | ACTION_BIT(ACTION_DROP) | ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_ABANDON) |
               ACTION_BIT(ACTION_REDISPATCH) | ACTION_BIT(ACTION_COPY) | ACTION_BIT(ACTION_FENCE) | ACTION_BIT(ACTION_HOLD),
    .accesses = accesses,
    .admits = admits,
    .make = make,
    .free = free_machine,
    .begin = begin,
    .run = run,
    .end = end,
    .now = simt_machine_now,
    .regions = simt_machine_regions,
    .block = simt_machine_block,
    .clone = simt_machine_clone,
    .copy = simt_machine_copy,
    .trap = simt_machine_trap,
    .save = simt_machine_save,
    .load = simt_machine_load,
    .flush = flush,
    .move = simt_machine_move,
    .hash = simt_machine_hash,
    .digest = simt_machine_digest,
    .diff = simt_machine_diff,
};
