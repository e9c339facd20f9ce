// The fragment processor as others see it, and its cycle. A launch ends when every fragment has its result in the
// frame, or none, and the frame is in memory.
#include "machine/fragment/fragment_internal.h"
#include "machine/machines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRESS_CYCLES = 1 << 20 };

static uint32_t abilities(const Spec *spec) {
  (void)spec;
  return MACHINE_HAS_TIME | MACHINE_TELLS_ACCESSES | MACHINE_TELLS_FREE;
}

// ---- Making one ------------------------------------------------------------------------------------------------------

static Machine *make(const Spec *spec, const HookChain *hooks, Diags *diags) {
  Arena *arena = arena_new();
  Fragment *m = ARENA_NEW(arena, Fragment);
  *m = (Fragment){.base = {.kind = &fragment_machine}, .arena = arena, .spec = spec};
  if (hooks != NULL) m->hooks = *hooks;
  m->machine = (HookMachine){.spec = spec, .is_free = fragment_is_free};
  m->block = fragment_layout(m, diags) ? state_block_make(&m->regions, diags) : NULL;
  if (m->block == NULL) {
    arena_free(arena);
    return NULL;
  }
  m->wants = hook_chain_wants(&m->hooks);
  fragment_bind(m);
  hooks_begin(&m->hooks, &m->machine);
  return &m->base;
}

static void release(Machine *machine) {
  Fragment *m = fragment_of(machine);
  state_block_free(m->block, m->regions.block_bytes);
  arena_free(m->arena);
}

// ---- A launch --------------------------------------------------------------------------------------------------------

static bool admits(const Machine *machine, const Launch *launch, Diags *diags) {
  const ShaderProgram *shader = launch->program->shader;
  FragmentParams params;
  memcpy(&params, launch->params, sizeof params);
  if (launch->grid[0] > FRAGMENT_MOST_EDGE || launch->grid[1] > FRAGMENT_MOST_EDGE || launch->grid[2] > 1)
    return diags_add(diags, NULL, 0, 0, "a domain has at most %d x %d fragments", FRAGMENT_MOST_EDGE, FRAGMENT_MOST_EDGE);
  uint64_t room = fragment_in(machine)->dims.store;
  if (shader->count > room)
    return diags_add(diags, launch->program->file, 0, 0,
                     "the program has %u instructions, and the program store room for %" PRIu64 ": --set fragment.store=%u", shader->count,
                     room, shader->count);
  for (uint32_t i = 0; i < shader->count; i++) {
    const ShaderInstr *instr = &shader->code[i];
    if (shader_op_info[instr->op].kind != SHADER_TEXTURE) continue;
    if (instr->shape == SHAPE_3D || instr->shape == SHAPE_CUBE)
      return diags_add(diags, launch->program->file, (int)instr->line, 0, "textures of this machine are 1D, 2D or RECT");
    if (params.texture[instr->texture].width == 0)
      return diags_add(diags, launch->program->file, (int)instr->line, 0,
                       "texture %u is read here and was not given: --texture %u=random:64x64", instr->texture, instr->texture);
  }
  return true;
}

static void begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch) {
  Fragment *m = fragment_of(machine);
  FragCore *core = m->core;
  m->environment = environment;
  m->launch = launch;
  m->memory = environment->memory;
  m->shader = launch->program->shader;
  m->width = launch->grid[0];
  m->height = launch->grid[1];
  memcpy(&m->params, launch->params, sizeof m->params);
  m->trap = (Trap){0};
  m->machine.program = launch->program;
  m->machine.memory = memory_bytes(m->memory);
  core->start = core->cycle;
  core->is_running = 1;
  shader_constants(m->shader, m->constants);
  Who who = WHO_NOBODY;
  who.launch = launch->number;
  m->machine.cycle = core->cycle;
  LaunchEvent event = {.who = &who, .kernel = launch->kernel->name, .grid = {m->width, m->height, 1}, .block = {1, 1, 1}};
  if (hooks_launch(&m->hooks, &m->machine, &event) == VERDICT_HALT) core->halted = 1;
  tell_whole_memory(m, true); // what the host has written
}

static void note_trap(Fragment *m) {
  const Refusal *refused = &m->machine.refused;
  TrapKind kind = refused->hook != NULL ? TRAP_REFUSED : m->core->halted != 0 ? TRAP_DETECTED : (TrapKind)m->core->outcome;
  if (kind == TRAP_NONE || kind >= TRAP_COUNT || m->trap.kind != TRAP_NONE) return;
  m->trap = (Trap){.kind = kind, .kernel = m->launch->kernel->name};
  Text note = {0};
  if (refused->hook != NULL) hook_refusal_format(refused, &note);
  else if (kind == TRAP_DETECTED) hook_halt_format(&m->machine, &note);
  else if (kind == TRAP_LIMIT) text_add(&note, "fragment.cycle_limit");
  snprintf(m->trap.note, sizeof m->trap.note, "%s", note.at == NULL ? "" : note.at);
  text_free(&note);
  Who who = WHO_NOBODY;
  who.launch = m->launch->number;
  TrapEvent event = {.who = &who, .kind = kind};
  hooks_trap(&m->hooks, &m->machine, &event);
}

// ---- The cycle -------------------------------------------------------------------------------------------------------

uint64_t fragment_next(const Fragment *m) {
  const FragCore *core = m->core;
  uint64_t next = UINT64_MAX;
  if (core->flying.count > 0) next = min_u64(next, m->flying[core->flying.head % m->dims.flying].at);
  if (core->asked.count > 0)
    next = min_u64(next, max_u64(max_u64(m->asked[core->asked.head % m->dims.asked].at, core->memory_at), core->cycle + 1));
  if (core->result.count > 0) next = min_u64(next, max_u64(m->result[core->result.head % m->dims.asked].at, core->cycle + 1));
  if (core->is_drained != 0) next = min_u64(next, max_u64(core->memory_at, core->cycle + 1));
  return next;
}

// From the end of the pipeline to its beginning, so that nothing passes two stages in a cycle. True: something was done.
static bool machine_cycle(Fragment *m) {
  bool any = rops_work(m);
  any = results_cross(m) || any;
  any = memory_replies(m) || any;
  any = memory_takes(m) || any;
  any = pipelines_work(m) || any;
  any = contexts_fill(m) || any;
  any = rasteriser_fills(m) || any;
  if (m->core->is_drained != 0) any = rops_give_back(m) || any;
  return any;
}

static void tell_cycle(Fragment *m) {
  m->machine.cycle = m->core->cycle;
  if (hooks_next_cycle(&m->hooks, &m->machine) <= m->core->cycle) hooks_cycle(&m->hooks, &m->machine);
}

static bool has_ended(const Fragment *m) {
  const FragCore *core = m->core;
  return core->is_over != 0 || core->outcome != TRAP_NONE || core->halted != 0 || m->machine.refused.hook != NULL;
}

static bool run(Machine *machine, uint64_t until) {
  Fragment *m = fragment_of(machine);
  FragCore *core = m->core;
  uint64_t limit = m->spec->fragment_cycle_limit, progress = core->cycle + PROGRESS_CYCLES;
  bool hears_cycles = (m->wants & WANT_CYCLE) != 0;
  while (core->cycle < until && !has_ended(m)) {
    if (hears_cycles) tell_cycle(m);
    m->machine.cycle = core->cycle;
    bool any = machine_cycle(m);
    uint64_t next = any ? core->cycle + 1 : fragment_next(m);
    bool hangs = next == UINT64_MAX && (!hears_cycles || hooks_next_change(&m->hooks, &m->machine) == UINT64_MAX); // whoever looks on
    if (hears_cycles) next = min_u64(next, max_u64(hooks_next_cycle(&m->hooks, &m->machine), core->cycle + 1));
    if (hangs) core->outcome = TRAP_HANG;
    else core->cycle = max_u64(core->cycle + 1, min_u64(next, until));
    if (limit != 0 && core->cycle - core->start > limit && core->outcome == TRAP_NONE) core->outcome = TRAP_LIMIT;
    if (core->cycle < progress || m->environment == NULL || m->environment->progress == NULL) continue;
    progress = core->cycle + PROGRESS_CYCLES;
    Stats stats = {.value = {[STAT_CYCLES] = core->cycle - core->start}};
    if (!m->environment->progress(m->environment->progress_context, &stats)) core->outcome = TRAP_STOPPED;
  }
  bool ended = has_ended(m);
  if (ended) note_trap(m);
  return ended;
}

static void flush(Machine *machine) { rops_flush(fragment_of(machine)); }

// Over both crossbars: lines that caches asked for and got, and results on their way to raster operations. A header has 8 bytes, as on other machines.
static uint64_t network_bytes(const FragStats *own) {
  return own->memory_reads * (8 + 8 + FRAG_LINE) + own->rop_accesses * (8 + FRAGMENT_TEXEL_BYTES);
}

static void end(Machine *machine, Stats *stats, Trap *trap) {
  Fragment *m = fragment_of(machine);
  const FragCore *core = m->core;
  const FragStats *own = m->stats;
  flush(machine);
  *stats = (Stats){0};
  stats->value[STAT_CYCLES] = core->cycle - min_u64(core->start, core->cycle);
  stats->value[STAT_WARP_INSTRUCTIONS] = stats->value[STAT_THREAD_INSTRUCTIONS] = own->instructions;
  stats->value[STAT_BLOCKS] = min_u64(own->ended, (uint64_t)m->width * m->height); // one that goes out again counts once
  stats->value[STAT_TEXTURE_FETCHES] = own->reads;
  stats->value[STAT_TEXTURE_ACCESSES] = m->dims.has_perfect_textures ? 0 : own->reads - own->shared_reads; // of caches
  stats->value[STAT_TEXTURE_MISSES] = own->misses;
  stats->value[STAT_ISSUED] = own->instructions;
  stats->value[STAT_OPERATIONS_FP32] =
      4 * m->dims.units * (own->instructions - min_u64(own->reads, own->instructions) + own->repeats); // components
  stats->value[STAT_RASTER_ACCESSES] = own->rop_accesses;
  stats->value[STAT_RASTER_MISSES] = own->rop_misses;
  stats->value[STAT_NETWORK_BYTES] = network_bytes(own);
  stats->value[STAT_DRAM_READS] = own->memory_reads;
  stats->value[STAT_DRAM_WRITES] = own->memory_writes;
  stats->value[STAT_SM_CYCLES] = stats->value[STAT_CYCLES] * m->dims.pipes;
  stats->value[STAT_IDLE_FULL] = stats->value[STAT_SM_CYCLES] - min_u64(own->busy, stats->value[STAT_SM_CYCLES]);
  stats->value[STAT_CORRECTED] = core->corrected;
  stats->value[STAT_DETECTED] = core->detected;
  stats->value[STAT_REPEATED] = core->repeated;
  for (uint32_t i = 0; i < TALLY_COUNT; i++) stats->value[STAT_COUNT - TALLY_COUNT + i] = own->tally[i];
  *trap = m->trap;
  hooks_finish(&m->hooks, &m->machine);
  uint64_t cycle = core->cycle;
  memset(m->block, 0, m->own_bytes);
  hooks_launch_ended(&m->regions, m->block);
  m->core->cycle = cycle;
}

// ---- State -----------------------------------------------------------------------------------------------------------
static uint64_t now(const Machine *machine) { return fragment_in(machine)->core->cycle; }
static const RegionTable *regions(const Machine *machine) { return &fragment_in(machine)->regions; }
static uint8_t *block(Machine *machine) { return fragment_of(machine)->block; }
static const Trap *trap_so_far(const Machine *machine) { return &fragment_in(machine)->trap; }

static Machine *clone(const Machine *machine, Memory *memory, const HookChain *given) {
  const Fragment *from = fragment_in(machine);
  Arena *arena = arena_new();
  Fragment *m = ARENA_NEW(arena, Fragment);
  *m = *from;
  m->arena = arena;
  m->memory = memory;
  m->machine.memory = memory_bytes(memory);
  m->environment = NULL; // prints nothing, tells no progress
  state_layout_copy(arena, &from->layout, &m->layout, &m->regions);
  ASSERT(hook_chain_clone(&from->hooks, given, &m->hooks));
  m->wants = hook_chain_wants(&m->hooks);
  m->block = state_block_new(m->regions.block_bytes);
  memcpy(m->block, from->block, m->regions.block_bytes);
  fragment_bind(m);
  return &m->base;
}

static void copy(Machine *to, const Machine *from) {
  Fragment *m = fragment_of(to);
  memcpy(m->block, fragment_in(from)->block, fragment_in(from)->regions.block_bytes);
  memory_copy(m->memory, fragment_in(from)->memory);
  m->trap = fragment_in(from)->trap;
}

static void move(Machine *machine) {
  Fragment *m = fragment_of(machine);
  m->block = state_block_moved(m->block, m->regions.block_bytes);
  fragment_bind(m);
}

static uint64_t hash(const Machine *machine) {
  const Fragment *m = fragment_in(machine);
  return memory_hash(m->memory, state_hash(&m->layout, m->block, NULL));
}

static bool diff(const Machine *a, const Machine *b, Text *out) {
  uint64_t bits = state_diff(&fragment_in(a)->layout, fragment_in(a)->block, fragment_in(b)->block, out);
  bool same = bits == 0 && hash(a) == hash(b);
  if (bits == 0 && !same) text_add(out, "memory, or state that is no hardware cell, differs\n");
  return !same;
}

static Snapshot snapshot_of(const Fragment *m) {
  return (Snapshot){.layout = &m->layout,
                    .block = m->block,
                    .memory = m->memory,
                    .spec = spec_hash(m->spec),
                    .program = m->launch->program->hash,
                    .launch = launch_hash(m->launch)};
}

static bool save(Machine *machine, const char *path, Diags *diags) {
  Snapshot snapshot = snapshot_of(fragment_in(machine));
  return snapshot_save(path, &snapshot, diags);
}

static bool load(Machine *machine, const char *path, Diags *diags) {
  Fragment *m = fragment_of(machine);
  Snapshot snapshot = snapshot_of(m);
  if (!snapshot_load(path, &snapshot, diags)) return false;
  fragment_bind(m);
  return true;
}

const MachineKind fragment_machine = {
    .name = "fragment",
    .form = FORM_SHADER,
    .abilities = abilities,
    .make = make,
    .free = release,
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
