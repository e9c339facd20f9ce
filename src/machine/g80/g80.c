// The machine as a whole: making it, the loop over events, results.
//
// The loop goes from one cycle in which something can happen, or that a hook wants, to the next. Within a cycle ports come first, then the SMs in
// order, then the block scheduler: an SM sees the scheduler's registers as they were before the edge.
#include "machine/g80/g80_internal.h"
#include "machine/machines.h"

#include <stdlib.h>

// ---- Making one ------------------------------------------------------------------------------------------------------
enum { START_NS = 1535, START_WORDS = 20, START_PARAMS = 4, START_CONSTANT_BYTES = 32, EN_AFTER_START = 1 };

void g80_launch_default(G80Launch *launch, const Spec *spec, const SassProgram *program) {
  *launch = (G80Launch){.grid = {1, 1}, .block = {32, 1, 1}, .cycle_limit = spec->g80_cycle_limit};
  for (uint32_t i = 0; i < 2; i++) launch->grid[i] = max_u32(program->grid[i], 1);
  for (uint32_t i = 0; i < 3; i++) launch->block[i] = max_u32(program->block[i], 1);
  if (program->block[0] == 0) launch->block[0] = 32;
  launch->blocks_per_core = program->blocks_per_core != 0 ? program->blocks_per_core : (uint32_t)spec->g80_blocks_per_core;
  uint32_t unit = (uint32_t)spec->g80_gprs_unit, gprs = program->gprs != 0 ? program->gprs : (uint32_t)spec->g80_gprs;
  launch->gprs = (gprs + unit - 1) / unit * unit;
  launch->shared_bytes = program->shared_bytes;
  launch->param_count = min_u32(program->param_count, G80_MAX_PARAMS);
  launch->constants = program->constants;
  launch->constant_count = program->constant_count;
  launch->constant_bytes = program->constant_bytes;
}

static bool in_range(Diags *diags, const char *what, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return true;
  return diags_add(diags, NULL, 0, 0, "%s is %llu; the FlexGripPlus machine takes %llu to %llu", what, (unsigned long long)value,
                   (unsigned long long)least, (unsigned long long)most);
}

bool g80_check(const G80Launch *l, Diags *diags) {
  uint32_t before = diags->count;
  in_range(diags, "grid x", l->grid[0], 1, 65535);
  in_range(diags, "grid y", l->grid[1], 1, 65535);
  in_range(diags, "number of blocks", (uint64_t)l->grid[0] * l->grid[1], 1, 65535);
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  in_range(diags, "number of threads per block", threads, 1, 1024);
  in_range(diags, "number of blocks per core", l->blocks_per_core, 1, 15);
  in_range(diags, "number of registers per thread", l->gprs, 1, 128);
  in_range(diags, "number of parameters", l->param_count, 0, G80_MAX_PARAMS);
  in_range(diags, "number of constant words", l->constant_count, 0, G80_CONSTANT_BYTES / 4);
  in_range(diags, "size of the global image", l->global_bytes, 0, G80_GLOBAL_BYTES);
  if (diags->count != before) return false;
  uint64_t resident = min_u64(l->blocks_per_core, (uint64_t)l->grid[0] * l->grid[1]), warps = resident * ((threads + 31) / 32);
  uint64_t shared = (l->param_count + (uint64_t)l->shared_bytes + 16 + 255) & ~UINT64_C(255);
  in_range(diags, "number of resident warps (blocks per core x warps per block)", warps, 1, G80_WARPS);
  in_range(diags, "number of resident registers (warps x registers per thread)", warps * l->gprs, 1, G80_REGISTERS);
  in_range(diags, "shared memory of the resident blocks", shared * resident, 0, G80_SHARED_BYTES);
  return diags->count == before;
}

static void take_spec(G80Machine *m, const Spec *spec) {
  m->sms = (uint32_t)spec->g80_sms;
  m->sps = 8u << spec->g80_sps;
  m->groups = 32 / m->sps;
  m->predicate_cycles = 6 + 2 * m->groups;
  enum { ARBITERS_RELEASED, ARBITERS_THESIS, ARBITERS_PRIVATE }; // as g80.arbiters
  m->outside = spec->g80_arbiters != ARBITERS_RELEASED || m->sms > 1;
  m->loses_requests = spec->g80_arbiters == ARBITERS_RELEASED && m->sms > 1;
  m->private_ports = spec->g80_arbiters == ARBITERS_PRIVATE;
  m->thesis_registers = spec->g80_thesis_register_addressing != 0;
  m->policy = (uint32_t)spec->dispatch_policy;
  m->policy_seed = spec->dispatch_seed;
  m->block_cycles = (uint32_t)spec->g80_calibration_block;
  m->arbiter = (ArbiterTiming){(uint32_t)spec->g80_arbiter_grant, (uint32_t)spec->g80_arbiter_turn, (uint32_t)spec->g80_arbiter_walk};
}

// Start of SMP_Processing: the test bench has loaded program, parameters and constants by then.
static uint64_t start_ns(const SassProgram *program, const G80Launch *launch) {
  int64_t constant_bytes = launch->constant_bytes != 0 ? launch->constant_bytes : max_u32(4 * launch->constant_count, START_CONSTANT_BYTES);
  int64_t ns = START_NS + 10 * ((int64_t)program->count - START_WORDS) + 30 * ((int64_t)launch->param_count - START_PARAMS) +
               30 * (constant_bytes - START_CONSTANT_BYTES);
  return ns < 5 ? 5 : (uint64_t)ns;
}

static void load_memories(G80Machine *m, const SassProgram *program, const G80Launch *launch) {
  if (program->count != 0) memcpy(table_words(m, REGION_ID_system), program->words, program->count * sizeof(uint32_t));
  if (launch->constant_count != 0) memcpy(table_words(m, REGION_ID_constant), launch->constants, launch->constant_count * sizeof(uint32_t));
  if (launch->global_bytes != 0) memcpy(global_bytes(m), launch->global, launch->global_bytes);
}

static void configure(G80Machine *m, const G80Launch *launch) {
  G80Config *config = &m->shared->config;
  *config = (G80Config){.blocks_per_core = launch->blocks_per_core,
                        .num_gprs = launch->gprs,
                        .shmem_size = launch->shared_bytes,
                        .parameter_size = launch->param_count};
  memcpy(config->block, launch->block, sizeof config->block);
  memcpy(config->grid, launch->grid, sizeof config->grid);
  memcpy(config->params, launch->params, launch->param_count * sizeof launch->params[0]);
}

// The block is all zeros. The clock goes on from `now`; while the host loads, nothing happens in the machine.
static void start(G80Machine *m, uint64_t now, uint64_t ns) {
  G80Shared *shared = m->shared;
  shared->cycle = shared->start = now + (ns + 5) / G80_CLOCK_NS;
  shared->host_at = shared->start + EN_AFTER_START;
  shared->ended_at = shared->scheduler_next = G80_NEVER;
  shared->outcome = G80_RUNNING;
  for (uint32_t i = 0; i < PORT_COUNT; i++) shared->ports[i].next = G80_NEVER;
  scheduler_reset(m);
  for (uint32_t i = 0; i < m->sms; i++) sm_reset(m, i);
}

static void decode_program(G80Machine *m, const SassProgram *program) {
  if (m->program != NULL) arena_free(m->program);
  m->program = arena_new();
  SassInstr *decoded = ARENA_ARRAY(m->program, SassInstr, program->count + 1);
  for (uint32_t i = 0; i < program->count; i++) {
    sass_decode(program->words[i], i + 1 < program->count ? program->words[i + 1] : 0, &decoded[i]);
  }
  m->decoded = decoded;
  m->decoded_count = program->count;
}

void g80_bind(G80Machine *m) {
  HookMachine *machine = &m->hooks->machine;
  m->shared = (G80Shared *)(void *)m->block;
  m->sm = (G80Sm *)(void *)(m->block + m->hashed_from_sms);
  machine->block = m->block;
  machine->corrected = &m->shared->corrected;
  machine->detected = &m->shared->detected;
  machine->repeated = &m->shared->repeated;
  machine->tally = m->shared->tally;
  tell_whom(m);
}

Machine *g80_make(const Spec *spec, const HookChain *hooks, Diags *diags) {
  Arena *arena = arena_new();
  G80Machine *m = ARENA_NEW(arena, G80Machine);
  m->base.kind = &g80_machine;
  m->arena = arena;
  Spec *own = ARENA_NEW(arena, Spec); // those who launch without a device need not keep theirs
  *own = *spec;
  m->spec = own;
  m->functions = lane_functions();
  m->hooks = ARENA_NEW(arena, G80Hooks);
  if (hooks != NULL) m->hooks->chain = *hooks;
  take_spec(m, spec);
  m->block = layout_build(m, diags) ? state_block_make(&m->regions, diags) : NULL;
  if (m->block == NULL) {
    arena_free(arena);
    return NULL;
  }
  m->hooks->machine = (HookMachine){.regions = &m->regions, .spec = spec, .is_free = is_free_cell};
  g80_bind(m);
  hooks_begin(&m->hooks->chain, &m->hooks->machine);
  return &m->base;
}

void g80_free(Machine *machine) {
  G80Machine *m = g80_of(machine);
  state_block_free(m->block, m->regions.block_bytes);
  if (m->program != NULL) arena_free(m->program);
  arena_free(m->arena);
}

bool g80_load(G80Machine *m, const SassProgram *program, const G80Launch *launch, Diags *diags) {
  if (!g80_check(launch, diags) || !in_range(diags, "size of the program in words", program->count, 0, G80_SYSTEM_WORDS)) return false;
  uint64_t now = m->shared->cycle; // all else is at rest: zeros
  decode_program(m, program);
  m->tells_cells = false; // until the launch has been told
  memset(m->tells, 0, sizeof m->tells);
  configure(m, launch);
  load_memories(m, program, launch);
  start(m, now, start_ns(program, launch));
  m->cycle_limit = launch->cycle_limit == 0 ? G80_NEVER : now + launch->cycle_limit;
  m->hooks->machine.warp_rows = launch->gprs;
  m->trap = (Trap){0};
  tell_whom(m);
  tell_launch(m);
  tell_loaded(m);
  scheduler_settle(m, m->shared->cycle);
  return true;
}

Machine *g80_launch(const Spec *spec, const HookChain *hooks, const SassProgram *program, const G80Launch *launch, Diags *diags) {
  Machine *machine = g80_make(spec, hooks, diags);
  if (machine == NULL || g80_load(g80_of(machine), program, launch, diags)) return machine;
  g80_free(machine);
  return NULL;
}

// ---- Running ---------------------------------------------------------------------------------------------------------
static void finish(G80Machine *m, G80Outcome outcome, uint64_t cycle) {
  m->shared->outcome = outcome;
  m->shared->ended_at = cycle;
  m->shared->cycle = cycle;
}

static void sm_step(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  if (s->controller_at <= cycle) controller_step(m, sm, cycle);
  if (s->done_at <= cycle) controller_done(m, sm, cycle);
  pipeline_step(m, sm, cycle);
  if (s->poll_at <= cycle) warp_unit_poll(m, sm, cycle);
  sm_schedule(s);
}

// The next cycle in which anything can happen, and the next but the SMs' pipelines (`others`).
static uint64_t next_event(const G80Machine *m) {
  const G80Shared *shared = m->shared;
  uint64_t next = min_u64(shared->scheduler_next, shared->host_at);
  if (m->outside) {
    for (uint32_t i = 0; i < PORT_COUNT; i++) next = min_u64(next, shared->ports[i].next);
  }
  for (uint32_t i = 0; i < m->sms; i++) next = min_u64(next, m->sm[i].next);
  return next;
}

static void cycle_step(G80Machine *m, uint64_t cycle) {
  G80Shared *shared = m->shared;
  for (uint32_t i = 0; m->outside && i < PORT_COUNT; i++) {
    if (shared->ports[i].next <= cycle) arbiter_step(m, (PortId)i, cycle);
  }
  for (uint32_t i = 0; i < m->sms; i++) {
    if (m->sm[i].next <= cycle) sm_step(m, i, cycle);
  }
  if (shared->scheduler_next <= cycle) scheduler_edge(m, cycle);
  if (shared->host_at <= cycle) {
    shared->config.en = 1;
    writes(m, REGION_ID_cfg_en, 0);
    shared->host_at = G80_NEVER;
    shared->scheduler_next = cycle + 1;
  }
}

// Cells may have been changed by hand: let everybody look again.
static void look_again(G80Machine *m) {
  G80Shared *shared = m->shared;
  shared->scheduler_next = shared->cycle;
  for (uint32_t i = 0; i < m->sms; i++) {
    warp_unit_rearm(m, i, shared->cycle);
    sm_schedule(&m->sm[i]);
    m->sm[i].next = max_u64(m->sm[i].next, shared->cycle);
  }
  for (uint32_t i = 0; m->outside && i < PORT_COUNT; i++) {
    G80Port *port = &shared->ports[i];
    uint32_t state = port->state & 3; // REQUESTED without a round goes back to IDLE at the next edge, whoever wants the port
    bool acts = state == ARBITER_REQUESTED || (state == ARBITER_IDLE && port->request != 0);
    if (port->next == G80_NEVER && acts) port->next = shared->cycle;
  }
}

// An SM that is alone meets nobody but the scheduler.
static void run_alone(G80Machine *m, uint64_t until) {
  G80Shared *shared = m->shared;
  G80Sm *s = &m->sm[0];
  while (s->next < until && s->next < shared->scheduler_next && shared->halted == 0) {
    shared->cycle = s->next;
    sm_step(m, 0, s->next);
  }
}

// A hook has changed what was written in this cycle: everybody sees it from the next one on.
static void look_after(G80Machine *m, uint64_t cycle) {
  if (!m->hooks->disturbed) return;
  m->hooks->disturbed = false;
  if ((m->shared->scheduler.kernel_done & 1) != 0) return; // ended at this edge: nobody looks any more
  m->shared->cycle = cycle + 1;
  look_again(m);
  for (uint32_t i = 0; i < m->sms; i++) { // a controller that was started at this edge begins at it
    if (m->sm[i].controller_at != cycle) continue;
    m->sm[i].next = m->shared->cycle = cycle;
  }
}

static uint64_t hooks_at(const G80Machine *m) {
  return m->tells_cycles ? hooks_next_cycle(&m->hooks->chain, &m->hooks->machine) : G80_NEVER;
}

// Those who want the next cycle are told, and may change any cell, but for those who only look on: for these the state has to stay what it is
// without them, also who waits until when. True: somebody was told.
static bool call_hooks(G80Machine *m, uint64_t next, uint64_t until) {
  uint64_t wanted = hooks_at(m);
  if (wanted > next || wanted >= min_u64(until, m->cycle_limit)) return false;
  bool may_change = hooks_next_change(&m->hooks->chain, &m->hooks->machine) <= wanted;
  m->shared->cycle = max_u64(m->shared->cycle, wanted);
  scheduler_settle(m, m->shared->cycle);
  tell_cycle(m, next);
  if (may_change) look_again(m);
  return true;
}

// Nothing will happen by itself, and nobody is about to change that.
static bool is_stuck(const G80Machine *m, uint64_t next) {
  return next == G80_NEVER && (!m->tells_cycles || hooks_next_change(&m->hooks->chain, &m->hooks->machine) == UINT64_MAX);
}

// True: it has ended.
static bool check_end(G80Machine *m, uint64_t next, uint64_t until) {
  G80Shared *shared = m->shared;
  if (shared->halted != 0) finish(m, G80_HALTED, shared->cycle);
  else if ((shared->scheduler.kernel_done & 1) != 0) finish(m, G80_DONE, shared->cycle);
  else if (is_stuck(m, next)) finish(m, G80_HANG, shared->cycle);
  else if (min_u64(next, until) >= m->cycle_limit && m->cycle_limit != G80_NEVER) finish(m, G80_TIMEOUT, m->cycle_limit);
  return shared->outcome != G80_RUNNING;
}

bool g80_run(Machine *machine, uint64_t until) {
  G80Machine *m = g80_of(machine);
  G80Shared *shared = m->shared;
  if (shared->outcome != G80_RUNNING) return true;
  if (until <= shared->cycle) return false;
  look_again(m);
  for (;;) {
    uint64_t cycle = next_event(m);
    if (check_end(m, cycle, until)) return true;
    if (m->tells_cycles && call_hooks(m, cycle, until)) continue;
    if (cycle >= until) break;
    shared->cycle = cycle;
    cycle_step(m, cycle);
    if (m->tells_cells) look_after(m, cycle);
    else if (!m->outside) run_alone(m, min_u64(min_u64(until, shared->host_at), min_u64(m->cycle_limit, hooks_at(m))));
  }
  shared->cycle = until;
  scheduler_settle(m, until);
  return false;
}

void g80_result(const Machine *machine, G80Result *result) {
  const G80Machine *m = g80_in(machine);
  const G80Shared *shared = m->shared;
  *result = (G80Result){.outcome = (G80Outcome)shared->outcome, .start_ns = shared->start * G80_CLOCK_NS - 5};
  result->kernel_done_ns = shared->cycle * G80_CLOCK_NS - 5;
  result->cycles = shared->cycle < shared->start ? 0 : shared->cycle - shared->start;
  result->pass_count = shared->pass_count;
  memcpy(result->passes, shared->passes, sizeof result->passes);
  result->warp_instructions = shared->warp_instructions;
  result->thread_instructions = shared->thread_instructions;
  result->jobs = shared->jobs;
  result->global = global_bytes(m);
}
