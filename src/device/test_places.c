// Lifetimes of places: what hooks are told of places taken and released is what is_free says, at any cycle, on machines of all kinds.
#include "device/workload.h"

#include "protect/protect.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

typedef struct Watch {
  Hook hook;
  Arena *arena;
  uint8_t **taken;            // by region and row; NULL: not told
  uint64_t takes, seed;       // takes: of all regions
  uint64_t by_region[128];    // takes of each
  uint64_t compared, in_use;  // rows looked at
  const RegionTable *regions; // of the machine
} Watch;

enum { ROWS = 16 }; // of each structure at each look

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Watch *watch = hook->own;
  const RegionTable *table = hook_layout_regions(layout);
  (void)diags;
  watch->taken = ARENA_ARRAY(watch->arena, uint8_t *, table->count);
  for (uint32_t i = 0; i < table->count; i++) {
    bool is_told = (table->items[i].flags & REGION_PLACES) != 0;
    if (is_told) watch->taken[i] = arena_alloc(watch->arena, table->items[i].rows + 1);
    if (is_told) assert_int_equal(table->items[i].flags & REGION_TRACED, 0);
  }
  return true;
}

static Verdict change(Watch *watch, const HoldEvent *event, uint8_t from, uint8_t to) {
  assert_true(event->region <= event->last);
  for (uint32_t region = event->region; region <= event->last; region++) {
    assert_non_null(watch->taken[region]);
    if (watch->regions != NULL && watch->regions->items[region].rows == 0) continue; // scheme words that nobody uses
    uint8_t *place = &watch->taken[region][event->row];
    if (*place != from) fail_msg("region %u row %llu: %u", region, (unsigned long long)event->row, *place);
    *place = to;
    watch->by_region[region] += to;
  }
  watch->takes += to;
  return VERDICT_PASS;
}

static Verdict on_take(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  ((Watch *)hook->own)->regions = machine->regions;
  return change(hook->own, event, 0, 1);
}

static Verdict on_release(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  (void)machine;
  return change(hook->own, event, 1, 0);
}

// At any cycle: is_free says of a row what the events have said.
static void on_cycle(Hook *hook, HookMachine *machine) {
  Watch *watch = hook->own;
  for (uint16_t region = 0; region < machine->regions->count; region++) {
    const Region *item = &machine->regions->items[region];
    if (watch->taken[region] == NULL || item->rows == 0) continue;
    for (uint64_t i = 0; i < ROWS; i++) {
      Site site = {.region = region, .row = random_draw(watch->seed, machine->cycle, region * ROWS + i) % item->rows};
      bool is_taken = watch->taken[region][site.row] != 0;
      if (machine->is_free(machine, &site) == is_taken)
        fail_msg("%s row %llu in cycle %llu: told %s", item->name, (unsigned long long)site.row, (unsigned long long)machine->cycle,
                 is_taken ? "taken" : "free");
      watch->compared++;
      watch->in_use += is_taken;
    }
  }
  hook->next_cycle = machine->cycle + 1 + random_draw(watch->seed, machine->cycle, UINT64_MAX) % 120;
}

// What is not kept for the next launch is put to rest.
static void on_finish(Hook *hook, HookMachine *machine) {
  Watch *watch = hook->own;
  for (uint32_t i = 0; i < machine->regions->count; i++) {
    bool is_kept = (machine->regions->items[i].flags & REGION_KEPT) != 0;
    if (watch->taken[i] != NULL && !is_kept) memset(watch->taken[i], 0, machine->regions->items[i].rows);
  }
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)event;
  hook->next_cycle = machine->cycle + 1;
  return VERDICT_PASS;
}

static void run_on(const Spec *spec, Watch *watch, const char *protection, const char *name) {
  Diags diags = {0};
  HookChain chain = {0};
  const Workload *workload = NULL;
  for (uint32_t i = 0; i < workload_count; i++) workload = strcmp(workloads[i]->name, name) == 0 ? workloads[i] : workload;
  assert_non_null(workload);
  watch->hook = (Hook){.name = "watch",
                       .kind = HOOK_OBSERVER,
                       .own = watch,
                       .attach = on_attach,
                       .launch = on_launch,
                       .take = on_take,
                       .release = on_release,
                       .cycle = on_cycle,
                       .finish = on_finish,
                       .next_cycle = UINT64_MAX};
  assert_true(hook_chain_add(&chain, &watch->hook));
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, watch->arena, &diags)));
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  if (!workload->prepare(&run) || !workload->launch(&run)) fail_msg("%s: %s", name, device_error(device));
  if (!workload_check(&run, workload)) fail_msg("%s: %s", name, run.failure);
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
}

static void events_and_polling_agree(void **state) {
  (void)state;
  static const char *const machines[][4] = {{"fermi-gtx480", "sm.count", "4"},
                                            {"turing-rtx2060", "l2.bytes", "16384"},
                                            {"gt200-rise", "sm.count", "4"},
                                            {"gt200-rise", "sm.count", "3", "rise"}, // plans, and threads that are shuffled
                                            {"tesla-hints", "scheduler.large_warp", "2"}};
  static const char *const names[] = {"bfs", "convolution", "hybridsort", "scan", "nqueens", "matmul"};
  uint64_t by_region[128] = {0};
  for (size_t m = 0; m < COUNT_OF(machines); m++) {
    Arena *arena = arena_new();
    Diags diags = {0};
    Spec spec;
    assert_true(spec_load(&spec, arena, machines[m][0], &diags));
    assert_true(spec_set(&spec, machines[m][1], machines[m][2], NULL, 0, &diags));
    Watch watch = {.arena = arena, .seed = m + 1};
    for (size_t w = 0; w < COUNT_OF(names); w++) run_on(&spec, &watch, machines[m][3], names[w]);
    print_message("%s: %llu takes, %llu rows compared, %llu of them taken\n", machines[m][0], (unsigned long long)watch.takes,
                  (unsigned long long)watch.compared, (unsigned long long)watch.in_use);
    assert_true(watch.takes > 1000 && watch.in_use > 1000 && watch.compared > 10 * watch.in_use / 9);
    for (size_t i = 0; i < COUNT_OF(by_region); i++) by_region[i] += watch.by_region[i];
    diags_free(&diags);
    arena_free(arena);
  }
  Spec spec;
  Diags diags = {0};
  Arena *arena = arena_new();
  assert_true(spec_load(&spec, arena, "fermi-gtx480", &diags));
  Device *device = device_new(&(DeviceOptions){.spec = &spec}, &diags);
  const RegionTable *table = machine_regions(device_machine(device));
  for (uint32_t i = 0; i < table->count; i++) {
    bool is_told = (table->items[i].flags & REGION_PLACES) != 0 && table->items[i].rows > 0;
    if (is_told && by_region[i] == 0) fail_msg("no place of %s was ever taken", table->items[i].name);
  }
  device_free(device);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(events_and_polling_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
