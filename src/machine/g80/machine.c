// The FlexGripPlus machine as others see it. Global memory is a table of the block, as all its memories are: the host's is copied into it when a
// launch begins, and back when it ends.
#include "machine/g80/g80_internal.h"
#include "machine/machines.h"
#include "machine/pages.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROGRESS_CYCLES = 1 << 24 };

static uint32_t abilities(const Spec *spec) {
  (void)spec;
  return MACHINE_HAS_TIME | MACHINE_TELLS_ACCESSES | MACHINE_TELLS_FREE;
}

// ---- A launch --------------------------------------------------------------------------------------------------------
// Where the program does not say: as many as the machine's setting allows and an SM takes.
static uint32_t blocks_that_fit(const G80Launch *launch) {
  uint32_t warps = max_u32((launch->block[0] * launch->block[1] * launch->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
  uint32_t shared = (launch->param_count + launch->shared_bytes + 16 + 255) & ~255u;
  uint32_t fits = min_u32(G80_WARPS / min_u32(warps, G80_WARPS), G80_REGISTERS / min_u32(warps * launch->gprs, G80_REGISTERS));
  fits = min_u32(fits, G80_SHARED_BYTES / min_u32(max_u32(shared, 1), G80_SHARED_BYTES));
  return max_u32(min_u32(fits, launch->blocks_per_core), 1);
}

static void launch_of(const Spec *spec, const Launch *from, G80Launch *launch) {
  g80_launch_default(launch, spec, from->program->sass);
  memcpy(launch->grid, from->grid, sizeof launch->grid);
  memcpy(launch->block, from->block, sizeof launch->block);
  launch->shared_bytes = from->kernel->shared_bytes + from->dynamic_shared_bytes;
  launch->param_count = min_u32(from->kernel->param_count, G80_MAX_PARAMS);
  memcpy(launch->params, from->params, launch->param_count * sizeof launch->params[0]);
  if (from->program->sass->blocks_per_core == 0) launch->blocks_per_core = blocks_that_fit(launch);
}

static bool admits(const Machine *machine, const Launch *launch, Diags *diags) {
  G80Launch wanted;
  launch_of(g80_in(machine)->spec, launch, &wanted);
  if (launch->grid[2] > 1) return diags_add(diags, NULL, 0, 0, "grids of the FlexGripPlus machine have two dimensions");
  return g80_check(&wanted, diags);
}

static void flush(Machine *machine) {
  const G80Machine *m = g80_in(machine);
  memcpy(memory_bytes(m->memory), global_bytes(m), min_u64(memory_extent(m->memory), G80_GLOBAL_BYTES));
}

static void begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch) {
  G80Machine *m = g80_of(machine);
  G80Launch own;
  Diags diags = {0};
  m->environment = environment;
  m->launch = launch;
  m->memory = environment->memory;
  m->hooks->machine.program = launch->program;
  m->hooks->machine.memory = memory_bytes(environment->memory);
  launch_of(m->spec, launch, &own);
  own.global = memory_bytes(m->memory);
  own.global_bytes = (uint32_t)min_u64(memory_extent(m->memory), G80_GLOBAL_BYTES);
  bool good = g80_load(m, launch->program->sass, &own, &diags);
  ASSERT(good); // it was admitted
}

static void note_trap(G80Machine *m) {
  static const TrapKind kinds[] = {[G80_RUNNING] = TRAP_NONE,  [G80_DONE] = TRAP_NONE,       [G80_HANG] = TRAP_HANG,
                                   [G80_TIMEOUT] = TRAP_LIMIT, [G80_HALTED] = TRAP_DETECTED, [G80_STOPPED] = TRAP_STOPPED};
  const Refusal *refused = &m->hooks->machine.refused;
  TrapKind kind = refused->hook != NULL ? TRAP_REFUSED : kinds[m->shared->outcome];
  if (kind == TRAP_NONE || m->trap.kind != TRAP_NONE) return;
  Text note = {0};
  if (refused->hook != NULL) hook_refusal_format(refused, &note);
  else if (kind == TRAP_DETECTED) hook_halt_format(&m->hooks->machine, &note);
  else if (kind == TRAP_LIMIT) text_add(&note, "g80.cycle_limit");
  m->trap = (Trap){.kind = kind, .kernel = m->launch == NULL ? "kernel" : m->launch->kernel->name};
  snprintf(m->trap.note, sizeof m->trap.note, "%s", note.at == NULL ? "" : note.at);
  text_free(&note);
  tell_trap(m, kind);
}

static bool run(Machine *machine, uint64_t until) {
  G80Machine *m = g80_of(machine);
  bool ended = false;
  while (!ended && m->shared->cycle < until) {
    bool asks = m->environment != NULL && m->environment->progress != NULL;
    ended = g80_run(machine, asks ? min_u64(until, m->shared->cycle + PROGRESS_CYCLES) : until);
    if (ended || !asks) continue;
    Stats stats = {.value = {[STAT_CYCLES] = m->shared->cycle - m->shared->start}};
    if (m->environment->progress(m->environment->progress_context, &stats)) continue;
    m->shared->outcome = G80_STOPPED;
  }
  if (m->shared->outcome != G80_RUNNING) note_trap(m);
  return m->shared->outcome != G80_RUNNING;
}

// A launch begins with everything at rest.
static void rest(G80Machine *m) {
  uint64_t cycle = m->shared->cycle;
  pages_zero(m->block, m->own_bytes);
  hooks_launch_ended(&m->regions, m->block);
  m->shared->cycle = cycle;
}

static void end(Machine *machine, Stats *stats, Trap *trap) {
  G80Machine *m = g80_of(machine);
  const G80Shared *shared = m->shared;
  flush(machine);
  *stats = (Stats){0};
  stats->value[STAT_CYCLES] = shared->cycle - min_u64(shared->start, shared->cycle);
  stats->value[STAT_WARP_INSTRUCTIONS] = shared->warp_instructions;
  stats->value[STAT_THREAD_INSTRUCTIONS] = shared->thread_instructions;
  stats->value[STAT_BLOCKS] = shared->blocks;
  stats->value[STAT_BLOCK_PASSES] = shared->pass_count;
  stats->value[STAT_CORRECTED] = shared->corrected;
  stats->value[STAT_DETECTED] = shared->detected;
  stats->value[STAT_REPEATED] = shared->repeated;
  for (uint32_t i = 0; i < TALLY_COUNT; i++) stats->value[STAT_COUNT - TALLY_COUNT + i] = shared->tally[i];
  *trap = m->trap;
  hooks_finish(&m->hooks->chain, &m->hooks->machine);
  rest(m);
}

// ---- State -----------------------------------------------------------------------------------------------------------
static uint64_t now(const Machine *machine) { return g80_in(machine)->shared->cycle; }
static const RegionTable *regions(const Machine *machine) { return &g80_in(machine)->regions; }
static uint8_t *block(Machine *machine) { return g80_of(machine)->block; }
static const Trap *trap_so_far(const Machine *machine) { return &g80_in(machine)->trap; }

static Machine *clone(const Machine *machine, Memory *memory, const HookChain *given) {
  const G80Machine *from = g80_in(machine);
  Arena *arena = arena_new();
  G80Machine *m = ARENA_NEW(arena, G80Machine);
  *m = *from;
  m->arena = arena;
  m->memory = memory;
  m->environment = NULL; // prints nothing, tells no progress
  m->program = NULL;     // the first's
  state_layout_copy(arena, &from->layout, &m->layout, &m->regions);
  m->hooks = ARENA_NEW(arena, G80Hooks);
  m->hooks->machine = from->hooks->machine;
  m->hooks->machine.regions = &m->regions;
  ASSERT(hook_chain_clone(&from->hooks->chain, given, &m->hooks->chain));
  m->block = state_block_new(m->regions.block_bytes);
  memcpy(m->block, from->block, m->regions.block_bytes);
  g80_bind(m);
  return &m->base;
}

static void copy(Machine *to, const Machine *from) {
  memcpy(g80_of(to)->block, g80_in(from)->block, g80_in(from)->regions.block_bytes);
  g80_of(to)->trap = g80_in(from)->trap;
  tell_whom(g80_of(to));
}

static void move(Machine *machine) {
  G80Machine *m = g80_of(machine);
  m->block = state_block_moved(m->block, m->regions.block_bytes);
  g80_bind(m);
}

static uint64_t hash(const Machine *machine) { return state_hash(&g80_in(machine)->layout, g80_in(machine)->block, NULL); }

static bool diff(const Machine *a, const Machine *b, Text *out) {
  uint64_t bits = state_diff(&g80_in(a)->layout, g80_in(a)->block, g80_in(b)->block, out);
  bool same = bits == 0 && hash(a) == hash(b);
  if (bits == 0 && !same) text_add(out, "state that is no hardware cell differs\n");
  return !same;
}

// ---- Files -----------------------------------------------------------------------------------------------------------
static Snapshot snapshot_of(const G80Machine *m) {
  return (Snapshot){.layout = &m->layout,
                    .block = m->block,
                    .memory = m->memory,
                    .spec = spec_hash(m->spec),
                    .program = m->launch->program->hash,
                    .launch = launch_hash(m->launch)};
}

static bool save(Machine *machine, const char *path, Diags *diags) {
  Snapshot snapshot = snapshot_of(g80_in(machine));
  return snapshot_save(path, &snapshot, diags);
}

static bool load(Machine *machine, const char *path, Diags *diags) {
  G80Machine *m = g80_of(machine);
  Snapshot snapshot = snapshot_of(m);
  if (!snapshot_load(path, &snapshot, diags)) return false;
  g80_bind(m);
  return true;
}

const MachineKind g80_machine = {
    .name = "flexgrip",
    .form = FORM_G80,
    .abilities = abilities,
    .make = g80_make,
    .free = g80_free,
    .admits = admits,
    .begin = begin,
    .run = run,
    .end = end,
    .now = now,
    .regions = regions,
    .block = block,
    .clone = clone,
    .copy = copy,
    .trap = trap_so_far,
    .save = save,
    .load = load,
    .flush = flush,
    .move = move,
    .hash = hash,
    .diff = diff,
};
