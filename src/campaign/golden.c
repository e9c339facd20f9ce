// The golden run: what happens without faults, with a hash of the state at many cycles.
#include "campaign/golden.h"
#include "campaign/order.h"
#include "base/process.h"
#include "device/energy.h"
#include "machine/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

// What a launch asks of an SM.
typedef struct Demand {
  uint32_t warp_rows, block_warps, block_shared_rows;
} Demand;
typedef VEC(Demand) DemandVec;

typedef struct Watcher {
  Hook hook;
  Golden *golden;
  Target *target;
  DemandVec demands; // per launch
} Watcher;

enum { LEAST_ALLOWANCE = 60, ALLOWANCE_FACTOR = 100 };

static const char *keep(Arena *arena, const char *text) { return arena_copy_text(arena, text, strlen(text)); }

// Twice as far apart when there are too many: every second one stays.
static void thin_out(Golden *golden) {
  golden->spacing *= 2;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < golden->checkpoint_count; i++) {
    if (golden->checkpoints[i].cycle % golden->spacing == 0) golden->checkpoints[kept++] = golden->checkpoints[i];
  }
  golden->checkpoint_count = kept;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Watcher *watcher = hook->own;
  Golden *golden = watcher->golden;
  if (golden->checkpoint_count == MOST_CHECKPOINTS) thin_out(golden);
  if (machine->cycle % golden->spacing == 0) {
    golden->checkpoints[golden->checkpoint_count++] =
        (Checkpoint){.cycle = machine->cycle,
                     .hash = target_hash(watcher->target),
                     .digest = machine_digest(device_machine(watcher->target->device(watcher->target))),
                     .corrected = *machine->corrected + target_stat(watcher->target, STAT_CORRECTED)};
  }
  hook->next_cycle = machine->cycle / golden->spacing * golden->spacing + golden->spacing;
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Watcher *watcher = hook->own;
  Golden *golden = watcher->golden;
  uint32_t threads = event->block[0] * event->block[1] * event->block[2], row_bytes = region_shared_row(machine->regions);
  *VEC_PUSH(&watcher->demands, golden->arena) = (Demand){.warp_rows = machine->warp_rows,
                                                         .block_warps = max_u32((threads + WARP_LANES - 1) / WARP_LANES, 1),
                                                         .block_shared_rows = (event->shared_bytes + row_bytes - 1) / row_bytes};
  golden->adds_floats += machine->program != NULL && program_adds_floats(machine->program) ? 1 : 0;
  GoldenRow *row = VEC_PUSH(&golden->launches, golden->arena);
  *row = (GoldenRow){.launch = golden->launches.count,
                     .kernel = keep(golden->arena, event->kernel),
                     .began_at = machine_now(device_machine(watcher->target->device(watcher->target)))};
  golden->program_hash = hash_bytes(&machine->program->hash, sizeof machine->program->hash, golden->program_hash);
  return VERDICT_PASS;
}

static Verdict on_phase(Hook *hook, HookMachine *machine, const PhaseEvent *event) {
  Golden *golden = ((Watcher *)hook->own)->golden;
  (void)machine;
  *VEC_PUSH(&golden->phases, golden->arena) = (GoldenPhase){.launch = golden->launches.count,
                                                            .sm = event->who->sm == WHO_NO_INDEX ? -1 : (int64_t)event->who->sm,
                                                            .name = keep(golden->arena, event->name),
                                                            .at = event->at};
  return VERDICT_PASS;
}

// Names of schemes' regions live only as long as the machine.
void golden_keep_regions(Golden *golden, const RegionTable *table) {
  golden->regions = ARENA_ARRAY(golden->arena, Region, table->count);
  memcpy(golden->regions, table->items, table->count * sizeof *table->items);
  for (uint32_t i = 0; i < table->count; i++) {
    Region *region = &golden->regions[i];
    region->name = keep(golden->arena, region->name);
    region->title = keep(golden->arena, region->title);
    region->unit = keep(golden->arena, region->unit);
    region->meaning = keep(golden->arena, region->meaning);
    for (uint32_t k = 0; k < region->dim_count; k++) region->dims[k].name = keep(golden->arena, region->dims[k].name);
  }
  golden->table = (RegionTable){golden->regions, table->count, table->block_bytes};
  StateLayout layout = {.regions = table};
  golden->layout_hash = layout_hash(&layout);
}

Resident resident_of(const LaunchRecord *launch) {
  const uint64_t *value = launch->stats.value;
  return (Resident){.warps = (double)value[STAT_RESIDENT_WARPS],
                    .register_rows = (double)launch->register_rows,
                    .sm_cycles = (double)value[STAT_SM_CYCLES],
                    .busy_cycles = (double)(value[STAT_SM_CYCLES] - value[STAT_IDLE_EMPTY])};
}

static void measure_residents(const Watcher *watcher, Golden *golden) {
  Device *device = watcher->target->device(watcher->target);
  golden->residents = ARENA_ARRAY(golden->arena, Resident, golden->launches.count + 1);
  for (uint32_t i = 0; i < golden->launches.count && i < watcher->demands.count && i < device_launch_count(device); i++) {
    const Demand *demand = &watcher->demands.items[i];
    uint32_t named = device_launch_record(device, i)->needs, needs = named == 0 ? demand->warp_rows : min_u32(named, demand->warp_rows);
    Resident *resident = &golden->residents[i];
    *resident = resident_of(device_launch_record(device, i));
    resident->register_rows = resident->warps * demand->warp_rows;
    resident->shared_rows = resident->warps / demand->block_warps * demand->block_shared_rows;
    resident->needed_rows = resident->warps * needs;
    golden->launches.items[i].registers = demand->warp_rows;
    golden->launches.items[i].needs = needs;
  }
}

// Summed over the launches of a kernel, and their cycles.
static Resident resident_in(const Golden *golden, const char *kernel, double *cycles) {
  Resident sum = {0};
  *cycles = 0;
  for (uint32_t i = 0; i < golden->launches.count; i++) {
    const GoldenRow *launch = &golden->launches.items[i];
    if (kernel != NULL && strcmp(launch->kernel, kernel) != 0) continue;
    sum.warps += golden->residents[i].warps;
    sum.register_rows += golden->residents[i].register_rows;
    sum.shared_rows += golden->residents[i].shared_rows;
    sum.needed_rows += golden->residents[i].needed_rows;
    sum.sm_cycles += golden->residents[i].sm_cycles;
    sum.busy_cycles += golden->residents[i].busy_cycles;
    *cycles += (double)launch->cycles;
  }
  return sum;
}

// Machines without places for warps do not tell.
Occupancy occupancy_of(const Spec *spec, const Resident *resident) {
  double slots = resident->sm_cycles * (double)(spec->sm_threads / WARP_LANES);
  double rows = resident->sm_cycles * (double)(spec->sm_registers / WARP_LANES);
  if (slots <= 0 || rows <= 0 || resident->warps <= 0) return (Occupancy){0};
  return (Occupancy){.is_known = true,
                     .sms = resident->busy_cycles / resident->sm_cycles,
                     .warps = resident->warps / slots,
                     .registers = resident->register_rows / rows,
                     .sm_count = spec->sm_count};
}

Occupancy golden_occupancy(const Golden *golden, const Spec *spec, const char *kernel) {
  double cycles;
  Resident resident = resident_in(golden, kernel, &cycles);
  return occupancy_of(spec, &resident);
}

double golden_used(const Golden *golden, const Region *region, const char *kernel) {
  double cycles;
  Resident resident = resident_in(golden, kernel, &cycles);
  if (cycles <= 0) return 0;
  if (region->role == REGION_ROLE_REGISTERS) return resident.register_rows / cycles / (double)region->rows;
  if (region->role == REGION_ROLE_SHARED) return resident.shared_rows / cycles / (double)region->rows;
  uint64_t places = 1;
  bool is_by_warp = false;
  for (uint32_t i = 0; i < region->dim_count && !is_by_warp; i++) { // 15 sm x 48 warp x ...
    places *= region->dims[i].count;
    is_by_warp = strcmp(region->dims[i].name, "warp") == 0;
  }
  return is_by_warp ? resident.warps / cycles / (double)places : 0;
}

double golden_needed(const Golden *golden, const Region *region, const char *kernel) {
  double cycles;
  if (region->role != REGION_ROLE_REGISTERS) return golden_used(golden, region, kernel);
  Resident resident = resident_in(golden, kernel, &cycles);
  return cycles <= 0 ? 0 : resident.needed_rows / cycles / (double)region->rows;
}

void golden_limit_memory(Golden *golden, uint64_t bytes) {
  for (uint32_t i = 0; i < golden->table.count; i++) {
    Region *region = &golden->regions[i];
    if ((region->flags & REGION_OUTSIDE) == 0) continue;
    region->rows = min_u64(region->rows, (bytes + region->row_bytes - 1) / region->row_bytes);
    region->dims[0].count = (uint32_t)region->rows;
  }
}

static void measure_energy(Target *target, Device *device, Golden *golden) {
  PowerModel model;
  Stats sum = {0};
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    for (uint32_t k = 0; k < STAT_COUNT; k++) sum.value[k] += device_launch_record(device, i)->stats.value[k];
  }
  energy_model(&model, target->spec, machine_regions(device_machine(device)));
  Energy energy = energy_of(&model, &sum);
  golden->dynamic_nj = energy.dynamic / 1000;
  golden->leakage_nj = energy.leakage / 1000;
}

void golden_measure(const Hook *watch, Golden *golden) {
  const Watcher *watcher = watch->own;
  Device *device = watcher->target->device(watcher->target);
  for (uint32_t i = 0; i < golden->launches.count && i < device_launch_count(device); i++) {
    const LaunchRecord *record = device_launch_record(device, i);
    const Stats *stats = &record->stats;
    if (record->note[0] != '\0' && golden->uncovered[0] == '\0')
      snprintf(golden->uncovered, sizeof golden->uncovered, "kernel %s: %s", SHORT_NAME(record->kernel), record->note);
    golden->launches.items[i].cycles = stats->value[STAT_CYCLES];
    golden->launches.items[i].thread_instructions = stats->value[STAT_THREAD_INSTRUCTIONS];
    golden->launches.items[i].warp_instructions = stats->value[STAT_WARP_INSTRUCTIONS];
  }
  Text idle = {0};
  device_idle(device, &idle);
  snprintf(golden->idle, sizeof golden->idle, "%s", idle.at == NULL ? "" : idle.at);
  text_free(&idle);
  golden->cycles = machine_now(device_machine(device));
  measure_residents(watcher, golden);
  measure_energy(watcher->target, device, golden);
}

static bool fill_golden(const Hook *watch, bool done, Golden *golden, Diags *diags) {
  Target *target = ((const Watcher *)watch->own)->target;
  Device *device = target->device(target);
  if (!done) return diags_add(diags, NULL, 0, 0, "%s: the run without faults fails: %s", target->name, device_error(device));
  if (target->has_check && !target->check(target)) {
    return diags_add(diags, NULL, 0, 0, "%s: the run without faults gives wrong results; no campaign can be judged by it", target->name);
  }
  golden_measure(watch, golden);
  golden_limit_memory(golden, memory_in_use(device_memory(device)));
  target->outputs(target, &golden->outputs, golden->arena);
  golden->memory_hash = memory_hash(device_memory(device), 0);
  golden->corrected = target_corrected(target);
  return true;
}

Hook *golden_watch(Golden *golden, Target *target, const RegionTable *table) {
  Arena *arena = golden->arena;
  *golden = (Golden){.arena = arena, .spacing = FIRST_SPACING};
  if (table != NULL) golden_keep_regions(golden, table);
  Watcher *watcher = ARENA_NEW(arena, Watcher);
  *watcher = (Watcher){.golden = golden, .target = target};
  watcher->hook =
      (Hook){.name = "golden", .kind = HOOK_OBSERVER, .own = watcher, .cycle = on_cycle, .launch = on_launch, .phase = on_phase};
  watcher->hook.next_cycle = FIRST_SPACING;
  return &watcher->hook;
}

bool golden_run(Target *target, const HookChain *protections, const HookChain *watchers, Golden *golden, Diags *diags) {
  double began = process_seconds(RUSAGE_SELF);
  Hook *watch = golden_watch(golden, target, NULL);
  HookChain chain = protections == NULL ? (HookChain){0} : *protections;
  bool room = hook_chain_add(&chain, watch);
  for (uint32_t i = 0; watchers != NULL && i < watchers->count; i++) room = room && hook_chain_add(&chain, watchers->hooks[i]);
  if (!room) return diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
  if (!machine_can(target->spec, MACHINE_HAS_TIME)) {
    return diags_add(diags, NULL, 0, 0, "machine '%s' has no state to strike; take one with time, e.g. --machine fermi-gtx480",
                     target->spec->machine);
  }
  bool good = target->start(target, &chain, diags);
  if (good) {
    golden_keep_regions(golden, machine_regions(device_machine(target->device(target))));
    good = fill_golden(watch, target->run(target), golden, diags);
  }
  target->finish(target);
  golden->seconds = process_seconds(RUSAGE_SELF) - began;
  return good;
}

// Most states that are not the same differ in the digest, which costs a fiftieth of a hash.
bool golden_is_met(const Checkpoint *here, Target *target, const Machine *machine) {
  return machine_digest(machine) == here->digest && target_hash_with(target, machine) == here->hash;
}

TargetRight golden_right(const Golden *golden, const OrderLog *order) {
  return (TargetRight){&golden->outputs, golden->cycles, golden->corrected, order};
}

// ---- A fault that stands in all runs -----------------------------------------------------------------

bool standing_chain(const HookChain *protections, const Fault *standing, Arena *arena, HookChain *chain) {
  *chain = protections == NULL ? (HookChain){0} : *protections;
  return standing == NULL || hook_chain_add(chain, fault_hook(arena, standing));
}

bool golden_run_standing(Target *target, const HookChain *protections, const char *standing, Golden *golden, Diags *diags) {
  if (!golden_run(target, protections, NULL, golden, diags)) return false;
  if (standing == NULL) return true;
  TargetOutputs right = golden->outputs;
  Fault *fault = ARENA_NEW(golden->arena, Fault);
  HookChain chain;
  if (!fault_parse(&golden->table, standing, fault, diags)) return false;
  if (fault->from >= golden->cycles)
    return diags_add(diags, NULL, 0, 0, "%s never strikes: the run has %" PRIu64 " cycles, the first of them is cycle 0", standing,
                     golden->cycles);
  if (!standing_chain(protections, fault, golden->arena, &chain))
    return diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
  bool good = golden_run(target, &chain, NULL, golden, diags);
  Judgement judgement = {0};
  if (good) target_compare(&right, &golden->outputs, &judgement);
  if (!good || judgement.wrong > 0) {
    return diags_add(diags, NULL, 0, 0, "%s alone ends the run or spoils its outputs: it shows by itself, and no second fault is needed",
                     standing);
  }
  golden->standing = fault;
  return true;
}

uint64_t golden_allowance(const Golden *golden, uint64_t timeout) {
  return LEAST_ALLOWANCE + (uint64_t)(ALLOWANCE_FACTOR * golden->seconds * (double)timeout);
}
