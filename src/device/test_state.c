// The state of a machine with time is one block without pointers: it may be moved, cloned, saved and struck at any cycle.
#include "device/workload.h"
#include "machine/simt/simt.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

typedef struct Result {
  uint64_t cycles, instructions, output_hash;
  TrapKind trap;
} Result;

// A hook for tests: `act` is called at the start of every `every`-th cycle.
typedef struct Ticker {
  Hook hook;
  Device **device;
  uint64_t every;
  void (*act)(struct Ticker *ticker, HookMachine *machine);
  uint64_t seed, ticks;
  Machine *clone;
  Memory *clone_memory;
  uint64_t clone_until, clone_hash, compared;
  uint64_t clone_digest, scrambled; // scrambled: words of clones
  bool scrambles;                   // clones get other times in the place of those that have come
  uint64_t struck[128];             // by region
} Ticker;

static void on_cycle(Hook *hook, HookMachine *machine) {
  Ticker *ticker = hook->own;
  hook->next_cycle = machine->cycle + ticker->every;
  ticker->ticks++;
  if (ticker->act != NULL) ticker->act(ticker, machine);
}

static void spec_of(Spec *spec, Arena *arena, const char *machine) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, machine, &diags));
  assert_true(spec_set(spec, "sm.count", "2", NULL, 0, &diags));
  assert_true(spec_set(spec, "dram.controllers", "2", NULL, 0, &diags));
  diags_free(&diags);
}

static void small_spec(Spec *spec, Arena *arena) { spec_of(spec, arena, "fermi-gtx480"); }

static Result run_with(const Workload *workload, const Spec *spec, Ticker *ticker) {
  Diags diags = {0};
  Device *device = NULL;
  HookChain chain = {0};
  if (ticker != NULL) {
    Verdict (*decide)(Hook *, HookMachine *, const DecideEvent *) = ticker->hook.decide;
    ticker->hook = (Hook){.name = "ticker", .kind = HOOK_FAULT, .own = ticker, .cycle = on_cycle, .next_cycle = ticker->every};
    ticker->hook.decide = decide;
    ticker->device = &device;
    assert_true(hook_chain_add(&chain, &ticker->hook));
  }
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun run = {0};
  assert_true(workload_start(&run, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&run));
  Result result = {0};
  bool done = workload->launch(&run);
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const LaunchRecord *record = device_launch_record(device, i);
    result.cycles += record->stats.value[STAT_CYCLES];
    result.instructions += record->stats.value[STAT_THREAD_INSTRUCTIONS];
  }
  result.trap = device_trap(device)->kind;
  for (uint32_t i = 0; i < run.output_count && done; i++) {
    uint64_t bytes = run.outputs[i].count * element_bytes(run.outputs[i].type);
    uint8_t *copy = arena_alloc(run.arena, bytes + 1);
    assert_true(device_read(device, copy, run.outputs[i].address, bytes));
    result.output_hash = hash_bytes(copy, bytes, result.output_hash);
  }
  workload_finish(&run);
  device_free(device);
  diags_free(&diags);
  return result;
}

static void assert_same(const Result *a, const Result *b) {
  assert_int_equal(a->trap, b->trap);
  assert_int_equal(a->cycles, b->cycles);
  assert_int_equal(a->instructions, b->instructions);
  assert_int_equal(a->output_hash, b->output_hash);
}

static const char *const subjects[] = {"matmul", "bfs", "hybridsort", "reduction"};

// Cycles in which nothing is due change nothing, and the same run twice gives the same; also where loads mostly wait for miss registers.
static void stopping_changes_nothing(void **state) {
  Arena *arena = *state;
  Spec spec;
  for (size_t i = 0; i < 2 * COUNT_OF(subjects); i++) {
    const Workload *workload = workload_find(subjects[i / 2]);
    small_spec(&spec, arena);
    if (i % 2 == 1) spec.l1d_mshrs = 2;
    Ticker ticker = {.every = 7};
    Result plain = run_with(workload, &spec, NULL), again = run_with(workload, &spec, NULL), ticked = run_with(workload, &spec, &ticker);
    assert_int_equal(plain.trap, TRAP_NONE);
    assert_same(&plain, &again);
    assert_same(&plain, &ticked);
    assert_true(ticker.ticks > plain.cycles / 8);
  }
}

static void move(Ticker *ticker, HookMachine *machine) {
  (void)machine;
  machine_move(device_machine(*ticker->device));
}

static void moving_changes_nothing(void **state) {
  Arena *arena = *state;
  Spec spec;
  small_spec(&spec, arena);
  for (size_t i = 0; i < COUNT_OF(subjects); i++) {
    const Workload *workload = workload_find(subjects[i]);
    Ticker ticker = {.every = 53, .act = move};
    Result plain = run_with(workload, &spec, NULL), moved = run_with(workload, &spec, &ticker);
    assert_same(&plain, &moved);
    assert_true(ticker.ticks > 2);
  }
}

// Times of which the hash says that they decide nothing become others of that kind.
static void scramble(Ticker *ticker) {
  Simt *m = simt_of(ticker->clone);
  const StateLayout *layout = &m->state_layout;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const StateField *field = &layout->fields[i];
    uint64_t now = machine_now(ticker->clone) * field->scale;
    for (uint64_t k = 0; field->kind == FIELD_UNTIL && k < field->count * field->words; k++) {
      uint64_t *time = (uint64_t *)(void *)(m->block + field->offset + k / field->words * field->stride) + k % field->words;
      if (*time > now) continue;
      *time = random_below(random_draw(ticker->ticks, i, k), now + 1);
      ticker->scrambled++;
    }
  }
}

static void run_ahead(Ticker *ticker, const HookMachine *machine) {
  Machine *original = device_machine(*ticker->device);
  if (ticker->scrambles) scramble(ticker);
  assert_int_equal(machine_hash(ticker->clone), machine_hash(original));
  assert_int_equal(machine_digest(ticker->clone), machine_digest(original));
  ticker->clone_until = machine->cycle + ticker->every;
  machine_run(ticker->clone, ticker->clone_until);
  ticker->clone_hash = machine_hash(ticker->clone);
  ticker->clone_digest = machine_digest(ticker->clone);
}

// Clones the machine, runs the clone ahead, compares when the original gets there, and takes the clone on from there; within a launch.
static void clone_ahead(Ticker *ticker, HookMachine *machine) {
  Machine *original = device_machine(*ticker->device);
  Text difference = {0};
  if (ticker->clone != NULL && machine->cycle == ticker->clone_until && machine_now(ticker->clone) == machine->cycle) {
    bool differs = !ticker->scrambles && machine_diff(original, ticker->clone, &difference);
    if (differs) fail_msg("a clone went another way: %s", difference.at);
    assert_int_equal(machine_hash(original), ticker->clone_hash);
    assert_int_equal(machine_digest(original), ticker->clone_digest);
    ticker->compared++;
    machine_run(ticker->clone, machine->cycle + 3 * ticker->every); // off the way, and back
    machine_copy(ticker->clone, original);
    run_ahead(ticker, machine);
  } else if (ticker->clone != NULL && machine->cycle >= ticker->clone_until) {
    machine_free(ticker->clone);
    memory_free(ticker->clone_memory);
    ticker->clone = NULL;
  }
  if (ticker->clone == NULL) {
    ticker->clone_memory = memory_clone(device_memory(*ticker->device), NULL);
    ticker->clone = machine_clone(original, ticker->clone_memory, NULL);
    run_ahead(ticker, machine);
  }
  text_free(&difference);
}

static void clones_go_the_same_way(void **state) {
  Arena *arena = *state;
  Spec spec;
  small_spec(&spec, arena);
  for (size_t i = 0; i < COUNT_OF(subjects); i++) {
    const Workload *workload = workload_find(subjects[i]);
    Ticker ticker = {.every = 211, .act = clone_ahead};
    Result plain = run_with(workload, &spec, NULL), cloned = run_with(workload, &spec, &ticker);
    assert_same(&plain, &cloned);
    assert_true(ticker.compared > 2);
    machine_free(ticker.clone);
    memory_free(ticker.clone_memory);
  }
}

static void times_that_have_come_do_not_matter(void **state) {
  Arena *arena = *state;
  Spec spec;
  small_spec(&spec, arena);
  for (size_t i = 0; i < COUNT_OF(subjects); i++) {
    const Workload *workload = workload_find(subjects[i]);
    Ticker ticker = {.every = 97, .act = clone_ahead, .scrambles = true};
    Result plain = run_with(workload, &spec, NULL), cloned = run_with(workload, &spec, &ticker);
    assert_same(&plain, &cloned);
    assert_true(ticker.compared > 2 && ticker.scrambled > 1000);
    machine_free(ticker.clone);
    memory_free(ticker.clone_memory);
  }
}

// One struck bit is a difference that machine_diff names.
static void strike_and_compare(Ticker *ticker, HookMachine *machine) {
  Machine *original = device_machine(*ticker->device);
  Memory *memory = memory_clone(device_memory(*ticker->device), NULL);
  Machine *clone = machine_clone(original, memory, NULL);
  const RegionTable *regions = machine_regions(clone);
  uint16_t rf = region_find(regions, "rf");
  Site site = region_site(regions, rf, random_below(random_draw(ticker->seed, ticker->ticks, 0), region_bits(&regions->items[rf])));
  machine_block(clone)[site_byte(&regions->items[rf], &site)] ^= site_mask(&site);
  assert_int_not_equal(machine_hash(clone), machine_hash(original));
  Text name = {0}, difference = {0};
  site_format(regions, &site, &name);
  assert_true(machine_diff(original, clone, &difference));
  if (strstr(difference.at, name.at) == NULL) fail_msg("%s is not in: %s", name.at, difference.at);
  text_free(&name);
  text_free(&difference);
  machine_free(clone);
  memory_free(memory);
  ticker->compared++;
  (void)machine;
}

static void differences_have_names(void **state) {
  Arena *arena = *state;
  Spec spec;
  small_spec(&spec, arena);
  Ticker ticker = {.every = 500, .act = strike_and_compare, .seed = 3};
  run_with(workload_find("matmul"), &spec, &ticker);
  assert_true(ticker.compared > 0);
}

// A bit of the block, drawn by structure first. False: that structure has none.
static bool draw_site(const RegionTable *regions, uint64_t seed, uint64_t number, Site *site) {
  uint32_t chosen = (uint32_t)random_below(random_draw(seed, number, 1), regions->count);
  const Region *region = &regions->items[chosen];
  if (region_bits(region) == 0 || !region_is_on_chip(region)) return false;
  *site = region_site(regions, (uint16_t)chosen, random_below(random_draw(seed, number, 2), region_bits(region)));
  return true;
}

static void flip(const HookMachine *machine, const Site *site) {
  machine->block[site_byte(&machine->regions->items[site->region], site)] ^= site_mask(site);
}

// Places that hold nothing may hold anything: neither results nor time depend on it.
static void strike_what_is_free(Ticker *ticker, HookMachine *machine) {
  enum { DRAWS = 3000 };
  for (uint32_t i = 0; i < DRAWS; i++) {
    Site site;
    if (!draw_site(machine->regions, ticker->seed, ticker->ticks * DRAWS + i, &site) || !machine->is_free(machine, &site)) continue;
    flip(machine, &site);
    ticker->struck[site.region % COUNT_OF(ticker->struck)]++;
  }
}

static void what_is_free_does_not_matter(void **state) {
  static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};
  Arena *arena = *state;
  uint64_t struck[COUNT_OF(((Ticker *)0)->struck)] = {0};
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    const Workload *workload = workloads[i];
    Spec spec;
    spec_of(&spec, arena, machines[i % COUNT_OF(machines)]);
    Ticker ticker = {.every = 19 + i % 5, .act = strike_what_is_free, .seed = i};
    Result plain = run_with(workload, &spec, NULL), free_struck = run_with(workload, &spec, &ticker);
    assert_same(&plain, &free_struck);
    for (size_t k = 0; k < COUNT_OF(struck); k++) struck[k] += ticker.struck[k];
  }
  uint32_t structures = 0;
  for (size_t k = 0; k < COUNT_OF(struck); k++) structures += struck[k] > 100;
  assert_in_range(structures, 32, 64); // all those with a FREE row in state.def
}

// What became of a bit of control logic, from a cycle on, as hooks are told.
typedef enum Fate { FATE_NOT_TOLD, FATE_STANDS, FATE_DECIDED, FATE_WRITTEN } Fate;
typedef struct Watched {
  Ticker ticker; // first: Hook.own
  Site site;
  bool flips; // the bit, instead of watching it
  Fate fate;
} Watched;

static void watch_or_flip(Ticker *ticker, HookMachine *machine) {
  Watched *watched = (Watched *)ticker;
  if (ticker->ticks != 1) return;
  if (watched->flips) flip(machine, &watched->site);
  else if (!machine->is_free(machine, &watched->site) && machine->is_told(machine, &watched->site)) watched->fate = FATE_STANDS;
}

static Verdict note_decision(Hook *hook, HookMachine *machine, const DecideEvent *event) {
  Watched *watched = hook->own;
  const Site *site = &watched->site;
  (void)machine;
  if (watched->fate != FATE_STANDS || event->region != site->region || event->row != site->row || event->unit != site->unit)
    return VERDICT_PASS;
  if ((event->decided >> site->bit & 1) != 0) watched->fate = FATE_DECIDED;
  else if ((event->written >> site->bit & 1) != 0) watched->fate = FATE_WRITTEN;
  return VERDICT_PASS;
}

static bool draw_decided(const Spec *spec, uint64_t seed, Site *site) {
  static const char *const names[] = {"scheduler.last", "scheduler.active", "blocks.next", "blocks.sm"};
  Diags diags = {0};
  Device *device = device_new(&(DeviceOptions){.spec = spec}, &diags);
  const RegionTable *regions = machine_regions(device_machine(device));
  uint16_t region = region_find(regions, names[seed % COUNT_OF(names)]);
  bool is_decided = (regions->items[region].flags & REGION_DECIDED) != 0;
  *site = region_site(regions, region, random_below(random_draw(seed, 0, 1), region_bits(&regions->items[region])));
  device_free(device);
  return is_decided;
}

// A bit of a scheduler that made no difference until it was written may as well have been the other way.
static void what_did_not_decide_does_not_matter(void **state) {
  enum { TRIES = 200 };
  static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints"};
  uint32_t fates[FATE_WRITTEN + 1] = {0};
  for (uint32_t i = 0; i < TRIES; i++) {
    const Workload *workload = workload_find(subjects[i % 2]);
    Spec spec;
    spec_of(&spec, *state, machines[i % COUNT_OF(machines)]);
    spec.sm_count = 1;
    Watched watched = {.ticker = {.every = 1 + random_below(random_draw(i, 0, 0), 6000), .act = watch_or_flip}};
    assert_true(draw_decided(&spec, i, &watched.site));
    watched.ticker.hook.decide = note_decision;
    Result plain = run_with(workload, &spec, &watched.ticker);
    fates[watched.fate]++;
    if (watched.fate != FATE_WRITTEN && watched.fate != FATE_STANDS) continue;
    watched.flips = true;
    watched.ticker.ticks = 0;
    watched.ticker.hook.decide = NULL;
    Result flipped = run_with(workload, &spec, &watched.ticker);
    assert_same(&plain, &flipped);
  }
  assert_true(fates[FATE_DECIDED] > 2);
  assert_true(fates[FATE_WRITTEN] > 10);
}

// Whatever bit of the hardware flips: the simulated program may go wrong in any way, the simulator in none.
static void strike(Ticker *ticker, HookMachine *machine) {
  Site site;
  if (!draw_site(machine->regions, ticker->seed, ticker->ticks, &site)) return;
  flip(machine, &site);
  ticker->compared++;
}

enum { STRIKES = 10000, MOST_RUNS = 20000 };

static void any_flip_is_survived(void **state) {
  Arena *arena = *state;
  Spec spec;
  Diags diags = {0};
  small_spec(&spec, arena);
  assert_true(spec_set(&spec, "limit.instructions", "200000", NULL, 0, &diags));
  uint64_t strikes = 0, ended[TRAP_COUNT] = {0};
  for (uint32_t run = 0; run < MOST_RUNS && strikes < STRIKES; run++) {
    Ticker ticker = {.every = 5 + run % 37, .act = strike, .seed = run};
    Result result = run_with(workload_find(subjects[run % COUNT_OF(subjects)]), &spec, &ticker);
    strikes += ticker.compared;
    ended[result.trap]++;
  }
  for (uint32_t i = 0; i < TRAP_COUNT; i++) print_message("%s: %llu\n", trap_info[i].name, (unsigned long long)ended[i]);
  assert_true(strikes >= STRIKES);
}

static int make_arena(void **state) {
  *state = arena_new();
  return 0;
}
static int free_arena(void **state) {
  arena_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stopping_changes_nothing), cmocka_unit_test(moving_changes_nothing),
      cmocka_unit_test(clones_go_the_same_way),   cmocka_unit_test(times_that_have_come_do_not_matter),
      cmocka_unit_test(differences_have_names),   cmocka_unit_test(what_is_free_does_not_matter),
      cmocka_unit_test(any_flip_is_survived),     cmocka_unit_test(what_did_not_decide_does_not_matter),
  };
  return cmocka_run_group_tests(tests, make_arena, free_arena);
}
