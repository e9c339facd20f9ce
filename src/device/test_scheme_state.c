// The state of protections on a machine with time: it lives as long as it says, and goes with clones and snapshots, wake-ups included.
#include "device/workload.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { TOY_EVERY = 97, FIRST_AT = 4 * TOY_EVERY, MEET_AT = 8 * TOY_EVERY, AHEAD = 1000 };

// A protection with state of every lifetime that wakes up now and then. Configuration only: the regions' numbers.
typedef struct Toy {
  Hook hook;
  uint16_t brief, launch, lasting;
  bool wakes;
  uint32_t issues, launches, wakings; // what the test has seen, of all machines
} Toy;

static uint64_t *cell(const HookMachine *machine, uint16_t region, uint64_t row) {
  const Region *item = &machine->regions->items[region];
  return (uint64_t *)(void *)(machine->block + item->base + row * item->row_bytes);
}

static bool toy_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Toy *toy = hook->own;
  const HookShape *shape = hook_layout_shape(layout);
  Region brief = {.name = "toy.brief", .unit = "entry", .dims = {{"sm", shape->sms}, {"warp", shape->warps}, {"instruction", 3}}};
  brief.dim_count = 3;
  brief.units = 1;
  brief.bits = 64;
  brief.unit_bytes = 8;
  Region one = {.name = "toy.launch", .unit = "entry", .dims = {{"gpu", 1}}, .dim_count = 1, .units = 1, .bits = 64, .unit_bytes = 8};
  toy->brief = hook_add_region(layout, &brief, LIFE_INSTRUCTION, diags);
  toy->launch = hook_add_region(layout, &one, LIFE_LAUNCH, diags);
  one.name = "toy.lasting";
  toy->lasting = hook_add_region(layout, &one, LIFE_MACHINE, diags);
  return toy->brief != REGION_NONE && toy->launch != REGION_NONE && toy->lasting != REGION_NONE;
}

static Verdict toy_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Toy *toy = hook->own;
  (void)event;
  assert_int_equal(*cell(machine, toy->launch, 0), 0);
  assert_int_equal(*cell(machine, toy->lasting, 0), toy->launches);
  ++*cell(machine, toy->launch, 0);
  ++*cell(machine, toy->lasting, 0);
  toy->launches++;
  return VERDICT_PASS;
}

static Verdict toy_issue(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  Toy *toy = hook->own;
  uint64_t row = hook_instruction_row(&machine->regions->items[toy->brief], event->who->sm, event->who->warp, event->who->issue);
  assert_int_equal(*cell(machine, toy->brief, row), 0);
  *cell(machine, toy->brief, row) = event->who->issue + 1;
  toy->issues++;
  return VERDICT_PASS;
}

// At the end of an instruction its own state is there, unless three others of its warp have issued since.
static Verdict toy_commit(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  Toy *toy = hook->own;
  uint64_t row = hook_instruction_row(&machine->regions->items[toy->brief], event->who->sm, event->who->warp, event->who->issue);
  uint64_t value = *cell(machine, toy->brief, row);
  assert_true(value == event->who->issue + 1 || value > event->who->issue + 3);
  return VERDICT_PASS;
}

static void toy_cycle(Hook *hook, HookMachine *machine) {
  Toy *toy = hook->own;
  *cell(machine, toy->launch, 0) += 1000; // so that it matters whether this has happened
  toy->wakings++;
  hook_wake(hook, machine, machine->cycle + TOY_EVERY);
}

static void toy_make(Toy *toy, bool wakes) {
  *toy = (Toy){.wakes = wakes};
  toy->hook = (Hook){.name = "toy", .kind = HOOK_PROTECTION, .own = toy, .attach = toy_attach, .launch = toy_launch, .issue = toy_issue};
  toy->hook.commit = toy_commit;
  toy->hook.next_cycle = UINT64_MAX;
  if (!wakes) return;
  toy->hook.cycle = toy_cycle;
  toy->hook.next_cycle = TOY_EVERY;
}

// ---- A run with protections and somebody who clones ----------------------------------------------------
typedef struct Cloner {
  Hook hook;
  Device *device;
  Machine *clones[3];
  Memory *memories[3];
  uint32_t count, compared;
  char path[64];
} Cloner;

static Machine *clone_now(Cloner *at) {
  Memory *memory = at->memories[at->count] = memory_clone(device_memory(at->device), NULL);
  return at->clones[at->count++] = machine_clone(device_machine(at->device), memory, NULL);
}

static void assert_equal_states(const Machine *a, const Machine *b) {
  Text text = {0};
  if (machine_diff(a, b, &text)) fail_msg("%s", text.at);
  assert_int_equal(machine_hash(a), machine_hash(b));
}

static void cloner_free(Cloner *at) {
  for (uint32_t i = 0; i < at->count; i++) {
    machine_free(at->clones[i]);
    memory_free(at->memories[i]);
  }
}

// Runs a workload on two SMs; true: right results.
static bool run(const char *name, const char *machine, const HookChain *chain, Cloner *cloner) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  assert_true(spec_load(&spec, arena, machine, &diags));
  assert_true(spec_set(&spec, "sm.count", "2", NULL, 0, &diags));
  HookChain all = *chain;
  if (cloner != NULL) assert_true(hook_chain_add(&all, &cloner->hook));
  Device *device = device_new(&(DeviceOptions){.spec = &spec, .hooks = &all}, &diags);
  assert_non_null(device);
  if (cloner != NULL) cloner->device = device;
  const Workload *workload = workload_find(name);
  WorkloadRun work = {0};
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags));
  bool right = workload->prepare(&work) && workload->launch(&work);
  right = right && workload_check(&work, workload);
  if (cloner != NULL) cloner_free(cloner);
  workload_finish(&work);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
  return right;
}

static void add_protections(HookChain *chain, Arena *arena, const char *const *texts, uint32_t count) {
  Diags diags = {0};
  for (uint32_t i = 0; i < count; i++) assert_true(hook_chain_add(chain, protect_new(texts[i], arena, &diags)));
}

// ---- Tests -------------------------------------------------------------------------------------------
static void state_lives_as_long_as_it_says(void **state) {
  (void)state;
  Toy toy;
  toy_make(&toy, false);
  HookChain chain = {.hooks = {&toy.hook}, .count = 1};
  assert_true(run("hybridsort", "fermi-gtx480", &chain, NULL));
  assert_true(toy.launches > 2 && toy.issues > 1000);
}

// A first clone waits just before the cycle in which the protection wakes up; a second is taken in that cycle.
static void on_meeting(Hook *hook, HookMachine *machine) {
  Cloner *at = hook->own;
  Machine *original = device_machine(at->device);
  if (machine->cycle == FIRST_AT) {
    machine_run(clone_now(at), MEET_AT);
    hook->next_cycle = MEET_AT;
  } else if (machine->cycle == MEET_AT) {
    Machine *early = at->clones[0], *late = clone_now(at);
    assert_equal_states(early, original);
    assert_equal_states(early, late);
    machine_run(early, MEET_AT + AHEAD);
    machine_run(late, MEET_AT + AHEAD);
    assert_equal_states(early, late);
    hook->next_cycle = MEET_AT + AHEAD;
  } else {
    assert_equal_states(at->clones[0], original);
    at->compared++;
  }
}

static void a_clone_in_a_cycle_event_equals_one_before(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2; i++) {
    Toy toy;
    toy_make(&toy, true);
    HookChain chain = {.hooks = {&toy.hook}, .count = 1};
    Cloner cloner = {.hook = {.name = "cloner", .kind = i == 0 ? HOOK_OBSERVER : HOOK_FAULT, .cycle = on_meeting, .next_cycle = FIRST_AT}};
    cloner.hook.own = &cloner;
    assert_true(run("matmul", "fermi-gtx480", &chain, &cloner));
    assert_int_equal(cloner.compared, 1);
    assert_true(toy.wakings > (MEET_AT + AHEAD) / TOY_EVERY);
  }
}

// A protection that clones the machine when it wakes up: the clone has the same waking still before it.
typedef struct Selfish {
  Toy toy;
  Cloner cloner;
} Selfish;

static void on_own_waking(Hook *hook, HookMachine *machine) {
  Selfish *at = (Selfish *)hook->own;
  if (machine->cycle == MEET_AT && at->cloner.count == 0) {
    clone_now(&at->cloner);
    machine_run(at->cloner.clones[0], MEET_AT + AHEAD / TOY_EVERY * TOY_EVERY);
  }
  if (machine->block == machine_block(device_machine(at->cloner.device)) && machine->cycle == MEET_AT + AHEAD / TOY_EVERY * TOY_EVERY) {
    assert_equal_states(at->cloner.clones[0], device_machine(at->cloner.device));
    at->cloner.compared++;
  }
  toy_cycle(hook, machine);
}

static void a_protection_may_clone_when_it_wakes_up(void **state) {
  (void)state;
  Selfish at = {0};
  toy_make(&at.toy, true);
  at.toy.hook.own = &at;
  at.toy.hook.cycle = on_own_waking;
  at.cloner.hook = (Hook){.name = "holder", .kind = HOOK_OBSERVER, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&at.toy.hook}, .count = 1};
  assert_true(run("matmul", "fermi-gtx480", &chain, &at.cloner));
  assert_int_equal(at.cloner.compared, 1);
}

// Clones have the protections: they repair what strikes the clone, and the original does not notice.
static void on_strike(Hook *hook, HookMachine *machine) {
  Cloner *at = hook->own;
  Machine *original = device_machine(at->device);
  if (at->count == 0) {
    Machine *clone = clone_now(at), *other = clone_now(at);
    const RegionTable *regions = machine_regions(clone);
    const Region *rf = &regions->items[region_find(regions, "rf")];
    for (uint64_t row = 0; row < rf->rows; row++) machine_block(clone)[rf->base + row * rf->row_bytes] ^= 4; // lane 0, bit 2 of all
    assert_int_not_equal(machine_hash(clone), machine_hash(original));
    machine_run(clone, machine->cycle + AHEAD);
    machine_run(other, machine->cycle + AHEAD);
    hook->next_cycle = machine->cycle + AHEAD;
    return;
  }
  assert_equal_states(at->clones[1], original);
  Text text = {0};
  machine_diff(at->clones[0], original, &text); // registers that nobody has read since are still wrong, and nothing else
  for (const char *line = text.at; line != NULL && *line != '\0'; line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1) {
    if (strncmp(line, "rf[", 3) != 0) fail_msg("%s", line);
  }
  assert_int_equal(machine_trap(at->clones[0])->kind, TRAP_NONE);
  text_free(&text);
  at->compared++;
}

static void clones_keep_protections(void **state) {
  (void)state;
  static const char *const texts[] = {"secded:rf", "dmr"};
  Arena *arena = arena_new();
  HookChain chain = {0};
  add_protections(&chain, arena, texts, COUNT_OF(texts));
  Cloner cloner = {.hook = {.name = "cloner", .kind = HOOK_OBSERVER, .cycle = on_strike, .next_cycle = 700}};
  cloner.hook.own = &cloner;
  assert_true(run("matmul", "fermi-gtx480", &chain, &cloner));
  assert_int_equal(cloner.compared, 1);
  arena_free(arena);
}

// ---- Snapshots in the middle of a comparison ------------------------------------------------------------
static bool holds_something(const Machine *machine, const uint8_t *block) {
  const RegionTable *regions = machine_regions(machine);
  uint16_t index = region_find(regions, "dmr.rows");
  assert_int_not_equal(index, REGION_NONE);
  const Region *region = &regions->items[index];
  const uint8_t *bytes = block + region->base;
  size_t count = region->rows * region->row_bytes, i = 0;
  while (i < count && bytes[i] == 0) i++;
  return i < count;
}

static void on_held(Hook *hook, HookMachine *machine) {
  Cloner *at = hook->own;
  Machine *original = device_machine(at->device);
  Diags diags = {0};
  if (at->count == 0) {
    hook->next_cycle = machine->cycle + 1;
    if (!holds_something(original, machine->block)) return;
    uint64_t hash = machine_hash(original);
    assert_true(machine_save(original, at->path, &diags));
    Machine *clone = clone_now(at);
    machine_run(clone, machine->cycle + 300);
    assert_int_not_equal(machine_hash(clone), hash);
    assert_true(machine_load(clone, at->path, &diags));
    assert_int_equal(machine_hash(clone), hash);
    assert_true(holds_something(clone, machine_block(clone)));
    hook->next_cycle = machine->cycle + AHEAD;
    return;
  }
  machine_run(at->clones[0], machine->cycle);
  assert_equal_states(at->clones[0], original);
  at->compared++;
}

static void snapshots_hold_what_is_being_compared(void **state) {
  (void)state;
  static const char *const texts[] = {"dmr", "secded:rf,shared"}, *const machines[] = {"fermi-gtx480", "gt200-rise"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    Arena *arena = arena_new();
    Toy toy;
    toy_make(&toy, true);
    HookChain chain = {.hooks = {&toy.hook}, .count = 1};
    add_protections(&chain, arena, texts, COUNT_OF(texts));
    Cloner cloner = {.path = P_tmpdir "/redoubt-held-XXXXXX"};
    cloner.hook = (Hook){.name = "cloner", .kind = HOOK_OBSERVER, .own = &cloner, .cycle = on_held, .next_cycle = 600};
    close(mkstemp(cloner.path));
    assert_true(run("matmul", machines[i], &chain, &cloner));
    assert_int_equal(cloner.compared, 1);
    unlink(cloner.path);
    arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(state_lives_as_long_as_it_says),          cmocka_unit_test(a_clone_in_a_cycle_event_equals_one_before),
      cmocka_unit_test(a_protection_may_clone_when_it_wakes_up), cmocka_unit_test(clones_keep_protections),
      cmocka_unit_test(snapshots_hold_what_is_being_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
