// The fault-free run: its times, snapshots to start faulty runs from, and who reads the scheduler's registers when.
//
// Why pruning is exact. (1) A register of the scheduler whose accesses are told to hooks: a flip stays until the next access. If that
// writes, the flip is gone; if it reads, flips at all cycles since the last access are one fault. (2) Registers that are
// read in every cycle (REGION_LOOKED_AT): every cycle is a fault of its own, but for num_blocks in the long wait (below). (3) Combinational signals: a flip lasts for
// one cycle and only a clock edge in CALC_BLOCKS or CHECK_BLOCKS uses them; those edges always change registers, so that
// the fault-free run simulated them. Test: test_study.c compares with simulation from beginning to end.
#include "flexgrip/study_internal.h"

#include <stdlib.h>

enum { SNAPSHOTS = 48, SNAPSHOT_CYCLES = 2048, SNAPSHOT_BYTES = 80 << 20 };

const char *const study_structure_name[STRUCTURE_COUNT] = {"block scheduler", "SM controller", "warp unit", "arbiters",
                                                           "pipeline registers"};

static bool in_structure(StudyStructure structure, const char *name) {
  static const char *const prefixes[STRUCTURE_COUNT][14] = {
      {"bs_"}, {"ctl_"}, {"wu_", "wp_"}, {"arb_"}, {"fetch_", "decode_", "read_", "execute_", "write_"},
  };
  for (uint32_t i = 0; prefixes[structure][i] != NULL; i++) {
    if (strncmp(name, prefixes[structure][i], strlen(prefixes[structure][i])) == 0) return true;
  }
  return false;
}

static void choose_regions(Golden *g) {
  const RegionTable *table = machine_regions(g->machine);
  g->regions = ARENA_ARRAY(g->arena, uint16_t, table->count);
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    if ((region->flags & REGION_INJECTABLE) == 0 || !in_structure(g->structure, region->name)) continue;
    g->regions[g->region_count++] = (uint16_t)i;
    g->bits += region_bits(region);
  }
}

// ---- Accesses ------------------------------------------------------------------------------------------------------------
// The cycle that counts is the one being simulated: flips come before it or after it.
static void note(Golden *g, uint64_t cycle, uint16_t region, uint64_t row, bool write) {
  if (region == g->state_region && !write && (g->edges.count == 0 || g->edges.items[g->edges.count - 1] != cycle)) {
    *VEC_PUSH(&g->edges, g->arena) = cycle;
  }
  if (g->first_log[region] == UINT32_MAX) return;
  CellLog *log = &g->logs[g->first_log[region] + row];
  if (log->count > 0 && log->items[log->count - 1].cycle == cycle) return;
  *VEC_PUSH(log, g->arena) = (CellAccess){cycle, write};
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  note(hook->own, machine->cycle, event->region, event->row, false);
  return VERDICT_PASS;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  note(hook->own, machine->cycle, event->region, event->row, true);
  return VERDICT_PASS;
}

static bool watches(const Hook *hook, uint16_t region) { return ((const Golden *)hook->own)->first_log[region] != UINT32_MAX; }

static void make_logs(Golden *g) {
  const RegionTable *table = machine_regions(g->machine);
  uint32_t cells = 0;
  g->state_region = region_find(table, "bs_state");
  g->num_blocks_region = region_find(table, "bs_num_blocks");
  g->first_log = ARENA_ARRAY(g->arena, uint32_t, table->count);
  for (uint32_t i = 0; i < table->count; i++) {
    bool logged = in_structure(STRUCTURE_SCHEDULER, table->items[i].name);
    g->first_log[i] = logged ? cells : UINT32_MAX;
    cells += logged ? (uint32_t)table->items[i].rows : 0;
  }
  g->logs = ARENA_ARRAY(g->arena, CellLog, cells);
}

static bool has_edge(const Golden *g, uint64_t cycle) {
  uint32_t low = 0, high = g->edges.count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (g->edges.items[middle] < cycle) low = middle + 1;
    else high = middle;
  }
  return low < g->edges.count && g->edges.items[low] == cycle;
}

// num_blocks while the scheduler waits for the SMs: the next state writes it anew, and until then only done counting looks, whether
// it is zero.
static bool hides_in_wait(const Golden *g, const StudyFault *fault) {
  const Region *region = &machine_regions(g->machine)->items[fault->site.region];
  if (fault->site.region != g->num_blocks_region) return false;
  for (uint32_t i = 0; i < g->snapshot_count; i++) {
    const Snapshot *snapshot = &g->snapshots[i];
    if (snapshot->wait_until < fault->cycle || snapshot->cycle > fault->cycle) continue;
    const uint8_t *cell = machine_block(snapshot->machine) + region->base + fault->site.row * region->row_bytes;
    uint64_t value = unit_get(region, cell), flipped = value ^ UINT64_C(1) << fault->site.bit;
    return (value == 0) == (flipped == 0);
  }
  return false;
}

// A cell that is stuck at the only value it ever has changes nothing.
static bool sticks_to_its_value(const Golden *g, const StudyFault *fault) {
  if (g->ever_one == NULL) return false;
  size_t byte = site_byte(&machine_regions(g->machine)->items[fault->site.region], &fault->site);
  const uint8_t *other = fault->model == MODEL_STUCK_0 ? g->ever_one : g->ever_zero;
  return (other[byte] & site_mask(&fault->site)) == 0;
}

Knowledge golden_equal(const Golden *g, const StudyFault *fault, uint64_t *at) {
  const Region *region = &machine_regions(g->machine)->items[fault->site.region];
  *at = fault->cycle;
  if (fault->model != MODEL_UPSET) return sticks_to_its_value(g, fault) ? KNOWN_MASKED : KNOWN_EQUAL;
  if (g->structure != STRUCTURE_SCHEDULER) return KNOWN_EQUAL;
  if (hides_in_wait(g, fault)) return KNOWN_MASKED;
  if ((region->flags & REGION_HASHED) == 0) return has_edge(g, fault->cycle) ? KNOWN_EQUAL : KNOWN_MASKED;
  if ((region->flags & REGION_LOOKED_AT) != 0) return KNOWN_EQUAL;
  const CellLog *log = &g->logs[g->first_log[fault->site.region] + fault->site.row];
  uint32_t low = 0, high = log->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (log->items[middle].cycle < fault->cycle) low = middle + 1;
    else high = middle;
  }
  if (low == log->count || log->items[low].write) return KNOWN_MASKED;
  *at = log->items[low].cycle;
  return KNOWN_EQUAL;
}

// ---- Snapshots -----------------------------------------------------------------------------------------------------------
static int by_cycle(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

// Evenly, and where each pass has begun: by then the scheduler has rewritten most of its registers.
static uint32_t snapshot_cycles(const Golden *g, uint64_t *cycles) {
  uint64_t most = min_u64(SNAPSHOTS, SNAPSHOT_BYTES / machine_regions(g->machine)->block_bytes);
  uint32_t count = 0, even = (uint32_t)min_u64(most, 1 + (g->end - g->start) / SNAPSHOT_CYCLES);
  cycles[count++] = 0;
  for (uint32_t i = 0; i < even; i++) cycles[count++] = g->start + (g->end - g->start) * i / even;
  for (uint32_t i = 0; i < min_u32(g->result.pass_count, G80_MAX_PASSES); i++) cycles[count++] = g->result.passes[i].run + 1;
  qsort(cycles, count, sizeof *cycles, by_cycle);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (cycles[i] < g->end && (kept == 0 || cycles[kept - 1] != cycles[i])) cycles[kept++] = cycles[i];
  }
  return kept;
}

// Of the pass that has just begun at this cycle: the last cycle in which the scheduler waits for the SMs; else 0.
static uint64_t wait_until(const Golden *g, uint64_t cycle) {
  for (uint32_t i = 0; i < min_u32(g->result.pass_count, G80_MAX_PASSES); i++) {
    if (g->result.passes[i].run + 1 == cycle) return g->result.passes[i].done;
  }
  return 0;
}

static void take_snapshots(Golden *g, bool more) {
  uint64_t cycles[SNAPSHOTS + G80_MAX_PASSES + 1] = {0};
  g->snapshot_count = more ? snapshot_cycles(g, cycles) : 1;
  g->snapshots = ARENA_ARRAY(g->arena, Snapshot, g->snapshot_count);
  Hook *observer = ARENA_NEW(g->arena, Hook);
  *observer = (Hook){
      .name = "study", .kind = HOOK_OBSERVER, .own = g, .read = on_read, .write = on_write, .watches = watches, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {observer}, .count = 1};
  Machine *machine = g->ended = machine_clone(g->machine, NULL, &chain);
  for (uint32_t i = 0; i < g->snapshot_count; i++) {
    if (cycles[i] > 0) machine_run(machine, cycles[i]);
    g->snapshots[i] = (Snapshot){cycles[i], machine_clone(machine, NULL, NULL), machine_hash(machine), wait_until(g, cycles[i])};
  }
  machine_run(machine, G80_NEVER);
}

// ---- Values ----------------------------------------------------------------------------------------------------------------
static void note_values(Golden *g, size_t bytes) {
  const uint8_t *block = machine_block(g->worker);
  for (size_t i = 0; i < bytes; i++) {
    g->ever_one[i] |= block[i];
    g->ever_zero[i] |= (uint8_t)~block[i];
  }
}

// Registers and signals of the scheduler change at its clock edges only.
static void collect_values(Golden *g) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < g->region_count; i++) {
    const Region *region = &machine_regions(g->machine)->items[g->regions[i]];
    bytes = max_u64(bytes, region->base + region->rows * region->row_bytes + sizeof(uint64_t));
  }
  g->ever_zero = ARENA_ARRAY(g->arena, uint8_t, bytes);
  g->ever_one = ARENA_ARRAY(g->arena, uint8_t, bytes);
  machine_copy(g->worker, g->machine);
  note_values(g, bytes);
  for (uint32_t i = 0; i < g->edges.count; i++) {
    for (uint32_t k = 0; k < 2; k++) {
      machine_run(g->worker, g->edges.items[i] + k);
      note_values(g, bytes);
    }
  }
  machine_run(g->worker, G80_NEVER);
  note_values(g, bytes);
}

// ---- Making one ------------------------------------------------------------------------------------------------------------
Golden *golden_new(const StudyConfig *config, StudyStructure structure, bool snapshots, Diags *diags) {
  Machine *first = study_machine(config, 0, diags);
  if (first == NULL) return NULL;
  Arena *arena = arena_new();
  Golden *g = ARENA_NEW(arena, Golden);
  *g = (Golden){.arena = arena, .config = *config, .structure = structure};
  machine_run(first, G80_NEVER);
  g80_result(first, &g->result);
  g->end = machine_now(first);
  g->start = g->end - g->result.cycles;
  machine_free(first);
  g->machine = study_machine(config, g->start + STUDY_LIMIT * g->result.cycles, diags);
  ASSERT(g->machine != NULL && g->result.outcome == G80_DONE);
  g->worker = machine_clone(g->machine, NULL, NULL);
  choose_regions(g);
  make_logs(g);
  take_snapshots(g, snapshots);
  if (structure == STRUCTURE_SCHEDULER && !snapshots) collect_values(g);
  g80_result(g->ended, &g->result);
  ASSERT(machine_now(g->ended) == g->end);
  return g;
}

void golden_free(Golden *g) {
  if (g == NULL) return;
  for (uint32_t i = 0; i < g->snapshot_count; i++) machine_free(g->snapshots[i].machine);
  machine_free(g->worker);
  machine_free(g->held);
  machine_free(g->ended);
  machine_free(g->machine);
  arena_free(g->arena);
}

const G80Result *golden_result(const Golden *g) { return &g->result; }
uint64_t golden_start(const Golden *g) { return g->start; }
uint64_t golden_end(const Golden *g) { return g->end; }
const RegionTable *golden_regions(const Golden *g) { return machine_regions(g->machine); }
uint64_t golden_bits(const Golden *g) { return g->bits; }

// ---- Phases ----------------------------------------------------------------------------------------------------------------
// Configuration: until the SMs' first instructions. Exchange: from the end of a pass to the first instructions of the next.
const char *const study_phase_name[PHASE_COUNT] = {"configuration", "processing", "exchange"};

static uint32_t passes_of(const Golden *g) { return min_u32(g->result.pass_count, G80_MAX_PASSES); }

StudyPhase golden_phase(const Golden *g, uint64_t cycle) {
  for (uint32_t i = 0; i < passes_of(g); i++) {
    uint64_t from = i == 0 ? 0 : g->result.passes[i - 1].done;
    if (cycle >= from && cycle <= g->result.passes[i].issue) return i == 0 ? PHASE_CONFIGURATION : PHASE_EXCHANGE;
  }
  return PHASE_PROCESSING;
}

uint64_t golden_phase_cycles(const Golden *g, StudyPhase phase) {
  uint64_t quiet = 0, configuration = g->result.passes[0].issue + 1 - g->start;
  for (uint32_t i = 1; i < passes_of(g); i++) quiet += g->result.passes[i].issue + 1 - g->result.passes[i - 1].done;
  if (phase == PHASE_CONFIGURATION) return configuration;
  return phase == PHASE_EXCHANGE ? quiet : g->end - g->start - quiet - configuration;
}

uint64_t golden_last_exchange(const Golden *g) { return passes_of(g) < 2 ? 0 : g->result.passes[passes_of(g) - 1].issue; }
