// RISE on the SIMT machine: under no scheduler does it change a result, and no single strike of a result that it computes twice gets through.
//   device_test_rise [STRIKES SHARD SHARDS]      with arguments the strikes alone, for tests/proof/rise.sh
#include "device/workload.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { SAMPLE = 200 };
static uint64_t strikes = SAMPLE, shard = 0, shards = 1;

typedef struct Outcome {
  TrapKind trap;
  uint64_t cycles, copies, compared, helped, corrected, detected, repeated, unused, output_hash;
} Outcome;

// ---- A strike of a result that is computed twice -----------------------------------------------------------

// A result of an SP of which some lane slots are compared. Runs are alike until the strike, so what a run without one has told holds for it.
typedef struct Candidate {
  uint64_t number; // of the result in its run
  uint32_t slots;
} Candidate;

typedef struct Striker {
  Hook hook, observer;
  uint64_t seed, draw;  // bits are drawn of them
  uint64_t results;     // so far
  const Candidate *aim; // NULL: none is struck, candidates are gathered
  uint32_t bits;        // how many bits of the lane flip
  bool has_struck;
  Candidate *candidates; // malloc
  size_t count, room;
} Striker;

static bool is_of_sp(const HookMachine *machine, const ResultEvent *event) {
  return event->mask != 0 && strcmp(machine->regions->items[event->region].name, "unit.sp") == 0;
}

// Comes after the protection, which has said what it compares.
static Verdict gather(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Striker *striker = hook->own;
  if (striker->aim != NULL || !is_of_sp(machine, event) || event->compared == 0) return VERDICT_PASS;
  if (striker->count == striker->room) {
    striker->room = striker->room * 2 + 1024;
    striker->candidates = realloc(striker->candidates, striker->room * sizeof *striker->candidates);
    assert_non_null(striker->candidates);
  }
  striker->candidates[striker->count++] = (Candidate){striker->results - 1, event->compared & event->mask};
  return VERDICT_PASS;
}

static Verdict strike(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Striker *striker = hook->own;
  if (!is_of_sp(machine, event)) return VERDICT_PASS;
  striker->results++;
  if (striker->aim == NULL || striker->aim->number != striker->results - 1) return VERDICT_PASS;
  uint32_t slots = striker->aim->slots;
  uint64_t which = random_below(random_draw(striker->seed, striker->draw, 1), (uint64_t)__builtin_popcount(slots));
  while (which-- > 0) slots &= slots - 1;
  uint32_t slot = (uint32_t)__builtin_ctz(slots);
  for (uint32_t i = 0; i < striker->bits; i++) {
    uint32_t draw = (uint32_t)random_draw(striker->seed, striker->draw, 2 + i);
    if (event->row_count == 0 && event->predicates != NULL) event->predicates[draw % 2] ^= 1u << slot;
    else if (event->row_count != 0) event->rows[draw / 32 % event->row_count * WARP_LANES + slot] ^= 1u << draw % 32;
  }
  striker->has_struck = true;
  return VERDICT_PASS;
}

// ---- Runs ----------------------------------------------------------------------------------------------------

static void add_up(const Device *device, Outcome *outcome) {
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const uint64_t *value = device_launch_record(device, i)->stats.value;
    outcome->cycles += value[STAT_CYCLES];
    outcome->copies += value[STAT_COPIES];
    outcome->compared += value[STAT_REDUNDANCY_COMPARED];
    outcome->helped += value[STAT_RISE_HELPED];
    outcome->unused += value[STAT_REDUNDANCY_UNUSED];
    outcome->corrected += value[STAT_CORRECTED];
    outcome->detected += value[STAT_DETECTED];
    outcome->repeated += value[STAT_REPEATED];
  }
  outcome->trap = device_trap(device)->kind;
}

static Outcome run(const char *name, const Spec *spec, const char *protection, Striker *striker) {
  Arena *arena = arena_new();
  Diags diags = {0};
  HookChain chain = {0};
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  if (striker != NULL) {
    striker->hook = (Hook){.name = "striker", .kind = HOOK_FAULT, .own = striker, .result = strike, .next_cycle = UINT64_MAX};
    striker->observer = (Hook){.name = "gatherer", .kind = HOOK_OBSERVER, .own = striker, .result = gather, .next_cycle = UINT64_MAX};
    assert_true(hook_chain_add(&chain, &striker->hook));
    assert_true(hook_chain_add(&chain, &striker->observer));
  }
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  const Workload *workload = workload_find(name);
  WorkloadRun work = {0};
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&work));
  Outcome outcome = {0};
  bool done = workload->launch(&work);
  add_up(device, &outcome);
  for (uint32_t i = 0; i < work.output_count && done; i++) {
    uint64_t bytes = work.outputs[i].count * element_bytes(work.outputs[i].type);
    uint8_t *copy = arena_alloc(arena, bytes + 1);
    assert_true(device_read(device, copy, work.outputs[i].address, bytes));
    outcome.output_hash = hash_bytes(copy, bytes, outcome.output_hash);
  }
  workload_finish(&work);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
  return outcome;
}

// The GPU of the paper with three SMs and few entries at its controllers, so that tiny programs wait for memory and leave a remainder.
static void load_small(Spec *spec, Arena *arena, const char *const *settings) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, "gt200-rise", &diags));
  assert_true(spec_set(spec, "sm.count", "3", NULL, 0, &diags));
  assert_true(spec_set(spec, "sm.per_tpc", "1", NULL, 0, &diags));
  assert_true(spec_set(spec, "dram.controllers", "1", NULL, 0, &diags));
  assert_true(spec_set(spec, "limit.instructions", "10000000", NULL, 0, &diags));
  for (; settings[0] != NULL; settings += 2) assert_true(spec_set(spec, settings[0], settings[1], NULL, 0, &diags));
  diags_free(&diags);
}

static const char *const schedulers[5][5] = {{"scheduler.policy", "lrr"},
                                             {"scheduler.policy", "fair"},
                                             {"scheduler.policy", "frfs"},
                                             {"scheduler.policy", "two-level"},
                                             {"scheduler.policy", "two-level", "scheduler.large_warp", "8"}};

static void no_result_changes(void **state) {
  (void)state;
  static const char *const schemes[] = {"rise:threshold=0",
                                        "rise:full,threshold=0,order=write",
                                        "rise:partial",
                                        "rise:rp,threshold=0,by=warp,scope=controller",
                                        "rise:is,idle=follow,order=write",
                                        "rise:is,idle=mirror",
                                        "rise:order=write,threshold=8,shuffle=off"};
  Arena *arena = arena_new();
  uint64_t copies = 0, helped = 0, runs = 0;
  for (uint32_t k = 0; k < COUNT_OF(schedulers); k++) {
    Spec spec;
    load_small(&spec, arena, schedulers[k]);
    for (uint32_t i = k % TEST_STEP; i < workload_count; i += TEST_STEP) {
      const char *name = workloads[i]->name;
      if (workloads[i]->form != FORM_REDOUBT) continue;
      Outcome plain = run(name, &spec, NULL, NULL);
      for (uint32_t s = 0; s < COUNT_OF(schemes); s++) {
        if (s != 0 && (i + k) % (COUNT_OF(schemes) - 1) + 1 != s) continue; // all of it always, the others in turn
        Outcome risen = run(name, &spec, schemes[s], NULL);
        bool is_same = risen.trap == plain.trap && risen.output_hash == plain.output_hash;
        if (!is_same || risen.corrected + risen.detected + risen.repeated != 0)
          fail_msg("%s, %s, scheduler %u: trap %d, %lu repeated", name, schemes[s], k, (int)risen.trap, risen.repeated);
        copies += risen.copies;
        helped += risen.helped;
        runs++;
      }
    }
  }
  assert_true(copies > 10000 && helped > 1000); // they have been at work
  print_message("%lu runs, %lu copies, %lu issues helped: no result changed\n", runs, copies, helped);
  arena_free(arena);
}

// ---- Strikes ---------------------------------------------------------------------------------------------------

typedef struct Sum {
  uint64_t struck, corrected, detected, unseen, wrong;
} Sum;

static void strike_once(const char *name, const Spec *spec, const char *protection, const Outcome *golden, Striker striker, Sum *sum) {
  Outcome outcome = run(name, spec, protection, &striker);
  assert_true(striker.has_struck);
  bool is_right = outcome.trap == TRAP_NONE && outcome.output_hash == golden->output_hash;
  sum->struck++;
  sum->corrected += outcome.corrected != 0;
  sum->detected += outcome.trap == TRAP_DETECTED;
  sum->unseen += is_right && outcome.corrected == 0; // the shadow was thrown away, or the result is not looked at
  if (is_right || outcome.trap == TRAP_DETECTED) return;
  sum->wrong++;
  print_error("%s under %s: strike %lu of seed %lu got through\n", name, protection, striker.draw, striker.seed);
}

static void no_strike_gets_through(void **state) {
  (void)state;
  static const char *const subjects[] = {"matmul", "bfs", "needleman", "hotspot", "nn", "transpose", "scan", "hybridsort"};
  static const char *const schemes[] = {"dmr", "rise:threshold=0", "rise:partial", "rise:full,threshold=0,order=write", "rise:is"};
  static const char *const settings[] = {NULL};
  Arena *arena = arena_new();
  Spec spec;
  load_small(&spec, arena, settings);
  Sum sum = {0};
  uint64_t each = (strikes + COUNT_OF(subjects) * COUNT_OF(schemes) - 1) / (COUNT_OF(subjects) * COUNT_OF(schemes));
  for (uint32_t i = 0; i < COUNT_OF(subjects); i++) {
    for (uint32_t s = 0; s < COUNT_OF(schemes); s++) {
      Striker all = {.aim = NULL};
      Outcome golden = run(subjects[i], &spec, schemes[s], &all);
      for (uint64_t n = shard; n < each && all.count > 0; n += shards) {
        Striker striker = {.seed = i * 16 + s, .draw = n, .bits = n % 4 == 3 ? 3 : 1};
        striker.aim = &all.candidates[random_below(random_draw(striker.seed, n, 0), all.count)];
        strike_once(subjects[i], &spec, schemes[s], &golden, striker, &sum);
      }
      free(all.candidates);
    }
  }
  print_message("struck %lu corrected %lu detected %lu unseen %lu wrong %lu\n", sum.struck, sum.corrected, sum.detected, sum.unseen,
                sum.wrong);
  assert_int_equal(sum.wrong, 0);
  assert_true(sum.corrected > sum.struck / 2);
  arena_free(arena);
}

int main(int count, char **arguments) {
  const struct CMUnitTest results[] = {cmocka_unit_test(no_result_changes)}, struck[] = {cmocka_unit_test(no_strike_gets_through)};
  if (count > 3)
    strikes = strtoull(arguments[1], NULL, 10), shard = strtoull(arguments[2], NULL, 10), shards = strtoull(arguments[3], NULL, 10);
  int failed = count > 3 ? 0 : cmocka_run_group_tests(results, NULL, NULL);
  return failed + cmocka_run_group_tests(struck, NULL, NULL);
}
