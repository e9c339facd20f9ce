// The machine as a whole: making it, the loop over events, results.
//
// The loop goes from one cycle in which something can happen to the next. Within a cycle ports come first, then the SMs in
// order, then the block scheduler: an SM sees the scheduler's registers as they were before the edge.
#include "machine/g80/g80_internal.h"

#include <stdlib.h>

// ---- Making one ------------------------------------------------------------------------------------------------------
enum { START_NS = 1535, START_WORDS = 20, START_PARAMS = 4, START_CONSTANT_BYTES = 32, EN_AFTER_START = 1 };

void g80_launch_default(G80Launch *launch, const Spec *spec, const SassProgram *program) {
  *launch = (G80Launch){.grid = {1, 1}, .block = {32, 1, 1}, .cycle_limit = spec->g80_cycle_limit};
  for (uint32_t i = 0; i < 2; i++) launch->grid[i] = max_u32(program->grid[i], 1);
  for (uint32_t i = 0; i < 3; i++) launch->block[i] = max_u32(program->block[i], 1);
  if (program->block[0] == 0) launch->block[0] = 32;
  launch->blocks_per_core = program->blocks_per_core != 0 ? program->blocks_per_core : (uint32_t)spec->g80_blocks_per_core;
  launch->gprs = program->gprs != 0 ? program->gprs : (uint32_t)spec->g80_gprs;
  launch->shared_bytes = program->shared_bytes;
  launch->param_count = min_u32(program->param_count, G80_MAX_PARAMS);
  launch->constants = program->constants;
  launch->constant_count = program->constant_count;
}

static bool in_range(Diags *diags, const char *what, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return true;
  return diags_add(diags, NULL, 0, 0, "%s is %llu; the FlexGripPlus machine takes %llu to %llu", what, (unsigned long long)value,
                   (unsigned long long)least, (unsigned long long)most);
}

static bool check_launch(const G80Launch *l, Diags *diags) {
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
  m->outside = spec->g80_arbiters != 0 || m->sms > 1;
  m->thesis_registers = spec->g80_thesis_register_addressing != 0;
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

static void load(G80Machine *m, const SassProgram *program, const G80Launch *launch) {
  G80Shared *shared = m->shared;
  G80Config *config = &shared->config;
  *config = (G80Config){.blocks_per_core = launch->blocks_per_core,
                        .num_gprs = launch->gprs,
                        .shmem_size = launch->shared_bytes,
                        .parameter_size = launch->param_count};
  memcpy(config->block, launch->block, sizeof config->block);
  memcpy(config->grid, launch->grid, sizeof config->grid);
  memcpy(config->params, launch->params, launch->param_count * sizeof launch->params[0]);
  if (program->count != 0) memcpy(table_words(m, REGION_ID_system), program->words, program->count * sizeof(uint32_t));
  if (launch->constant_count != 0) memcpy(table_words(m, REGION_ID_constant), launch->constants, launch->constant_count * sizeof(uint32_t));
  if (launch->global_bytes != 0) memcpy(global_bytes(m), launch->global, launch->global_bytes);
  shared->start = (start_ns(program, launch) + 5) / G80_CLOCK_NS;
  shared->host_at = shared->start + EN_AFTER_START;
  shared->ended_at = shared->scheduler_next = G80_NEVER;
  shared->outcome = G80_RUNNING;
  for (uint32_t i = 0; i < PORT_COUNT; i++) shared->ports[i].next = G80_NEVER;
  scheduler_reset(m);
  for (uint32_t i = 0; i < m->sms; i++) sm_reset(m, i);
}

static void decode_program(G80Machine *m, const SassProgram *program) {
  SassInstr *decoded = ARENA_ARRAY(m->arena, SassInstr, program->count + 1);
  for (uint32_t i = 0; i < program->count; i++) {
    sass_decode(program->words[i], i + 1 < program->count ? program->words[i + 1] : 0, &decoded[i]);
  }
  m->decoded = decoded;
  m->decoded_count = program->count;
}

static void find_block(G80Machine *m) {
  m->shared = (G80Shared *)(void *)m->block;
  m->sm = (G80Sm *)(void *)(m->block + m->hashed_from_sms);
}

static uint8_t *block_alloc(size_t bytes) {
  uint8_t *block = aligned_alloc(64, bytes);
  ASSERT(block != NULL);
  return block;
}

G80Machine *g80_new(const Spec *spec, const SassProgram *program, const G80Launch *launch, Diags *diags) {
  if (!check_launch(launch, diags) || !in_range(diags, "size of the program in words", program->count, 0, G80_SYSTEM_WORDS)) return NULL;
  Arena *arena = arena_new();
  G80Machine *m = ARENA_NEW(arena, G80Machine);
  m->arena = arena;
  m->cycle_limit = launch->cycle_limit;
  m->functions = lane_functions();
  take_spec(m, spec);
  layout_build(m);
  decode_program(m, program);
  m->block = block_alloc(m->block_bytes);
  memset(m->block, 0, m->block_bytes);
  find_block(m);
  load(m, program, launch);
  scheduler_settle(m, 0);
  return m;
}

void g80_free(G80Machine *m) {
  if (m == NULL) return;
  free(m->block);
  if (m->arena != NULL) {
    arena_free(m->arena);
  } else {
    free(m);
  }
}

G80Machine *g80_clone(const G80Machine *m) {
  G80Machine *clone = malloc(sizeof *clone);
  ASSERT(clone != NULL);
  *clone = *m;
  clone->arena = NULL;
  clone->watch = NULL;
  clone->block = block_alloc(m->block_bytes);
  memcpy(clone->block, m->block, m->block_bytes);
  find_block(clone);
  return clone;
}

void g80_copy(G80Machine *to, const G80Machine *from) { memcpy(to->block, from->block, to->block_bytes); }

uint64_t g80_hash(const G80Machine *m) {
  uint64_t hash = hash_bytes(m->block, G80_SHARED_HASHED, 0);
  return hash_bytes(m->block + m->hashed_from_sms, m->block_bytes - m->hashed_from_sms, hash);
}

const RegionTable *g80_regions(const G80Machine *m) { return &m->regions; }
uint8_t *g80_block(G80Machine *m) { return m->block; }
uint64_t g80_cycle(const G80Machine *m) { return m->shared->cycle; }

void g80_watch(G80Machine *m, G80Watch watch, void *own) {
  m->watch = watch;
  m->watch_own = own;
}

void g80_stick(G80Machine *m, const Site *site, bool value) {
  m->stuck_mask = site == NULL ? 0 : site_mask(site);
  m->stuck_byte = site == NULL ? 0 : site_byte(&m->regions.items[site->region], site);
  m->stuck_bits = value ? m->stuck_mask : 0;
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
    if (port->next == G80_NEVER && (port->state & 3) <= ARBITER_REQUESTED && port->request != 0) port->next = shared->cycle;
  }
}

// An SM that is alone meets nobody but the scheduler.
static void run_alone(G80Machine *m, uint64_t until) {
  G80Shared *shared = m->shared;
  G80Sm *s = &m->sm[0];
  while (s->next < until && s->next < shared->scheduler_next) {
    shared->cycle = s->next;
    sm_step(m, 0, s->next);
  }
}

// A stuck cell was written: whoever reads it sees what it is stuck at from the next cycle on.
static void force_after(G80Machine *m, uint64_t cycle) {
  if (m->stuck_mask == 0 || !force_stuck(m)) return;
  if ((m->shared->scheduler.kernel_done & 1) != 0) return; // ended at this edge: nobody looks any more
  m->shared->cycle = cycle + 1;
  look_again(m);
  for (uint32_t i = 0; i < m->sms; i++) { // a controller that was started at this edge begins at it
    if (m->sm[i].controller_at != cycle) continue;
    m->sm[i].next = m->shared->cycle = cycle;
  }
}

static bool touches_scheduler(const G80Machine *m, uint64_t cycle) {
  bool touches = m->shared->scheduler_next <= cycle || m->shared->host_at <= cycle;
  for (uint32_t i = 0; i < m->sms; i++) touches = touches || m->sm[i].controller_at <= cycle || m->sm[i].done_at <= cycle;
  return touches;
}

static bool run(G80Machine *m, uint64_t until, bool to_scheduler) {
  G80Shared *shared = m->shared;
  if (shared->outcome != G80_RUNNING) return true;
  uint64_t limit = m->cycle_limit == 0 ? G80_NEVER : m->cycle_limit;
  force_stuck(m);
  look_again(m);
  for (;;) {
    uint64_t cycle = next_event(m);
    bool done = (shared->scheduler.kernel_done & 1) != 0;
    if (done) {
      finish(m, G80_DONE, shared->cycle);
    } else if (cycle == G80_NEVER) {
      finish(m, G80_HANG, shared->cycle);
    } else if (min_u64(cycle, until) >= limit && limit != G80_NEVER) {
      finish(m, G80_TIMEOUT, limit);
    }
    if (shared->outcome != G80_RUNNING) return true;
    if (cycle >= until || (to_scheduler && cycle > shared->cycle && touches_scheduler(m, cycle))) {
      shared->cycle = min_u64(cycle, until);
      break;
    }
    shared->cycle = cycle;
    cycle_step(m, cycle);
    force_after(m, cycle);
    if (!m->outside && !to_scheduler && m->stuck_mask == 0) run_alone(m, min_u64(min_u64(until, shared->host_at), limit));
  }
  scheduler_settle(m, shared->cycle);
  return false;
}

bool g80_run(G80Machine *m, uint64_t until) { return run(m, until, false); }
bool g80_run_to_scheduler_event(G80Machine *m, uint64_t until) { return run(m, until, true); }

void g80_result(const G80Machine *m, G80Result *result) {
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
