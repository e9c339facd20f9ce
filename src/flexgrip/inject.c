// Faults: drawing them, simulating them, and simulating each kind once.
#include "flexgrip/study_internal.h"

#include <stdlib.h>

const char *const study_outcome_name[STUDY_OUTCOMES] = {"masked", "performance", "sdc", "sdc_time", "hang", "timeout"};
const char *const study_class_name[CLASS_COUNT] = {"SDC", "DUE", "performance", "masked"};

StudyClass study_class(StudyOutcome outcome) {
  static const StudyClass classes[STUDY_OUTCOMES] = {CLASS_MASKED, CLASS_PERFORMANCE, CLASS_SDC, CLASS_SDC, CLASS_DUE, CLASS_DUE};
  return classes[outcome];
}

StudyFault study_draw(const Golden *g, StudyModel model, uint64_t stream, uint64_t index) {
  const RegionTable *table = machine_regions(g->machine);
  uint64_t bit = random_below(random_draw(stream, index, 0), g->bits);
  uint32_t i = 0;
  for (; bit >= region_bits(&table->items[g->regions[i]]); i++) bit -= region_bits(&table->items[g->regions[i]]);
  StudyFault fault = {.site = region_site(table, g->regions[i], bit), .model = model};
  fault.cycle = model == MODEL_UPSET ? g->start + random_below(random_draw(stream, index, 1), g->end - g->start) : g->start;
  return fault;
}

StudyOutcome outcome_of(const Golden *g, const Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  if (result.outcome == G80_HANG) return EFFECT_HANG;
  if (result.outcome != G80_DONE) return EFFECT_TIMEOUT;
  bool late = result.kernel_done_ns != g->result.kernel_done_ns;
  if (memcmp(result.global, g->result.global, G80_GLOBAL_BYTES) != 0) return late ? EFFECT_SDC_TIME : EFFECT_SDC;
  return late ? EFFECT_TIME : EFFECT_MASKED;
}

static void flip(Machine *machine, const Site *site) {
  machine_block(machine)[site_byte(&machine_regions(machine)->items[site->region], site)] ^= site_mask(site);
}

static StudyOutcome run_stuck(Golden *g, const StudyFault *fault) {
  Fault stuck = {.model = fault->model == MODEL_STUCK_1 ? FAULT_STUCK1 : FAULT_STUCK0, .site = fault->site, .warp = FAULT_NO_WARP};
  stuck.from = g->start;
  stuck.to = UINT64_MAX;
  if (g->held == NULL) {
    g->stuck = fault_hook_asleep(g->arena, true, false);
    g->held = machine_clone(g->machine, NULL, &(HookChain){.hooks = {g->stuck}, .count = 1});
  }
  fault_hook_wake(g->stuck, &(HookMachine){.cycle = g->start}, &stuck);
  machine_copy(g->held, g->machine); // from here on it is known which cells the fault watches
  machine_run(g->held, G80_NEVER);
  return outcome_of(g, g->held);
}

StudyOutcome study_brute(Golden *g, const StudyFault *fault) {
  if (fault->model != MODEL_UPSET) return run_stuck(g, fault);
  machine_copy(g->worker, g->machine);
  machine_run(g->worker, fault->cycle);
  flip(g->worker, &fault->site);
  machine_run(g->worker, G80_NEVER);
  return outcome_of(g, g->worker);
}

// A machine in the golden run's state at the same cycle goes on as it did.
StudyOutcome study_simulate(Golden *g, const StudyFault *fault) {
  if (fault->model != MODEL_UPSET) return run_stuck(g, fault);
  uint32_t next = g->snapshot_count;
  while (g->snapshots[next - 1].cycle > fault->cycle) next--;
  machine_copy(g->worker, g->snapshots[next - 1].machine);
  machine_run(g->worker, fault->cycle);
  flip(g->worker, &fault->site);
  for (; next < g->snapshot_count; next++) {
    if (machine_run(g->worker, g->snapshots[next].cycle)) return outcome_of(g, g->worker);
    if (machine_hash(g->worker) == g->snapshots[next].hash) return EFFECT_MASKED;
  }
  machine_run(g->worker, G80_NEVER);
  return outcome_of(g, g->worker);
}

// ---- Each kind once --------------------------------------------------------------------------------------------------------
typedef struct FaultKind { // faults with equal keys have equal outcomes
  Site site;
  uint64_t cycle;
  uint32_t index; // of the fault
} FaultKind;

static int by_number(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }
static int compare_keys(const FaultKind *x, const FaultKind *y) {
  int order = by_number(x->cycle, y->cycle);
  if (order == 0) order = by_number(x->site.region, y->site.region);
  if (order == 0) order = by_number(x->site.row, y->site.row);
  if (order == 0) order = by_number(x->site.unit, y->site.unit);
  return order != 0 ? order : by_number(x->site.bit, y->site.bit);
}
static int by_kind(const void *a, const void *b) {
  int order = compare_keys(a, b);
  return order != 0 ? order : by_number(((const FaultKind *)a)->index, ((const FaultKind *)b)->index);
}

void study_settle(Golden *g, const StudyFault *faults, uint32_t count, uint32_t slice, uint32_t slices, StudyFound *found) {
  Arena *arena = arena_new();
  FaultKind *kinds = ARENA_ARRAY(arena, FaultKind, count + 1);
  uint32_t kind_count = 0, number = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t at;
    if (golden_equal(g, &faults[i], &at) == KNOWN_EQUAL) {
      kinds[kind_count++] = (FaultKind){faults[i].site, at, i};
    } else if (slice == 0) {
      found[i] = (StudyFound){EFFECT_MASKED, FOUND_DEAD};
    }
  }
  qsort(kinds, kind_count, sizeof *kinds, by_kind);
  for (uint32_t i = 0, after; i < kind_count; i = after, number++) {
    for (after = i + 1; after < kind_count && compare_keys(&kinds[i], &kinds[after]) == 0;) after++;
    if (number % slices != slice) continue;
    StudyFault fault = {.site = kinds[i].site, .cycle = kinds[i].cycle, .model = faults[kinds[i].index].model};
    StudyOutcome outcome = study_simulate(g, &fault);
    for (uint32_t k = i; k < after; k++) found[kinds[k].index] = (StudyFound){(uint8_t)outcome, k == i ? FOUND_SIMULATED : FOUND_SAME};
  }
  arena_free(arena);
}
