// Every way of filling lane slots, by toy schemes on the SIMT machine: no plan changes any result; what is computed twice is the same.
#include "device/workload.h"
#include "protect/protect.h"
#include "protect/redundancy.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { MOST_CYCLES = 4000000, TABLE = 4096 };

typedef enum Way {
  PLAIN,        // asks, looks at all warps, and does nothing
  COPIES,       // everything twice, on the same lanes
  COPIES_MOVED, // the second time on other lanes
  HALVES,       // sub-warps, planned
  QUARTERS,     // sub-warps by what place leaves out
  GUESTS,       // idle lane slots compute threads of a warp that is ready at the same instruction
  TWICE,        // and of the same warp
  SHUFFLED,     // threads live on other lanes
  BOUND,        // all on SP 0
  LATE,         // results take longer
  RANDOM,       // all of it
  WAYS
} Way;

// Row 0 of what shadows of guests have computed, until their own instruction comes.
typedef struct Lent {
  uint64_t issue;
  uint32_t sm, warp, threads, values[WARP_LANES];
} Lent;

typedef struct Toy {
  Hook hook;
  Way way;
  uint64_t seed, draws;
  uint64_t parts, moved, shadows, within, lent, met; // what the test has seen
  uint64_t wrong;
  uint64_t block; // that began last
  Hook *striker;  // NULL: no faults
  Lent table[TABLE];
} Toy;

static uint64_t draw(Toy *toy, uint64_t below) { return random_below(random_draw(toy->seed, toy->draws++, 0), below); }
static bool random_is(const Toy *toy, Way way) { return toy->way == way || toy->way == RANDOM; }
static bool chance(Toy *toy, Way way, uint64_t one_in) { return toy->way == way || (toy->way == RANDOM && draw(toy, one_in) == 0); }

// ---- Plan --------------------------------------------------------------------------------------------

static void keep_some(Toy *toy, LanePart *part) {
  uint32_t keep = 0, parts = toy->way == RANDOM ? 1 + (uint32_t)draw(toy, 5) : 2;
  for (uint32_t left = part->filled; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    bool is_kept = toy->way == RANDOM ? draw(toy, parts) == 0 : part->thread[slot] % 2 == part->thread[__builtin_ctz(part->filled)] % 2;
    if (is_kept) keep |= 1u << slot;
  }
  if (keep != 0) part_take_out(part, ~keep);
}

static void invite(const HookMachine *machine, PlanEvent *event) {
  WarpView other;
  uint32_t sm = event->who->sm;
  for (uint32_t warp = 0; warp < 64 && event->part->filled != UINT32_MAX; warp++) {
    if (warp == event->who->warp || !machine->look_at(machine, sm, warp, &other) || !other.is_ready || other.pc != event->who->pc) continue;
    for (uint32_t thread = 0; thread < WARP_LANES; thread++) {
      bool fits = (other.threads >> thread & 1) != 0 && (event->part->filled >> thread & 1) == 0;
      if (fits) part_put(event->part, thread, warp, thread, true);
    }
    event->next = (uint8_t)warp;
    return;
  }
}

// Threads of the warp once more, in lane slots that are idle.
static void duplicate(LanePart *part) {
  uint32_t idle = ~part->filled;
  for (uint32_t left = part->filled & ~part->shadow; left != 0 && idle != 0; left &= left - 1, idle &= idle - 1) {
    uint32_t from = (uint32_t)__builtin_ctz(left);
    part_put(part, (uint32_t)__builtin_ctz(idle), part->warp[from], part->thread[from], true);
  }
}

static Verdict on_plan(Hook *hook, HookMachine *machine, PlanEvent *event) {
  Toy *toy = hook->own;
  WarpView view;
  toy->parts++;
  if (toy->way == PLAIN) {
    for (uint32_t warp = 0; warp < 64; warp++) machine->look_at(machine, event->who->sm, warp, &view);
    return VERDICT_PASS;
  }
  if (toy->striker != NULL && machine->cycle > 100000) return VERDICT_HALT;
  if (toy->way == RANDOM && draw(toy, 20) == 0) return VERDICT_STALL;
  bool may_copy = redundancy_covers(event->instr) && event->copy == 0;
  if (may_copy && (toy->way == COPIES || toy->way == COPIES_MOVED)) event->copies = 2;
  if (may_copy && toy->way == RANDOM && draw(toy, 4) == 0) event->copies = (uint8_t)(2 + draw(toy, 2));
  if (chance(toy, HALVES, 4)) keep_some(toy, event->part);
  if (chance(toy, GUESTS, 3)) invite(machine, event);
  if (chance(toy, TWICE, 3)) duplicate(event->part);
  return VERDICT_PASS;
}

// ---- Place -------------------------------------------------------------------------------------------

static void rearrange(Toy *toy, LanePart *part) {
  for (uint32_t i = WARP_LANES; i-- > 1;) {
    uint32_t k = (uint32_t)draw(toy, i + 1);
    const LanePart was = *part;
    part_take_out(part, 1u << i | 1u << k);
    if ((was.filled >> i & 1) != 0) part_put(part, k, was.warp[i], was.thread[i], (was.shadow >> i & 1) != 0);
    if ((was.filled >> k & 1) != 0) part_put(part, i, was.warp[k], was.thread[k], (was.shadow >> k & 1) != 0);
  }
}

static Verdict on_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  if (toy->way == COPIES_MOVED && event->copy > 0) redundancy_rotate(event, 3);
  if (toy->way == QUARTERS) { // one lane in four is whole
    uint32_t quarter = 0x11111111u << __builtin_ctz(event->part->filled) % 4;
    part_take_out(event->part, ~quarter);
  }
  if (toy->way == RANDOM) {
    if (draw(toy, 2) == 0) rearrange(toy, event->part);
    if (draw(toy, 8) == 0) part_take_out(event->part, (uint32_t)random_draw(toy->seed, toy->draws++, 1));
    if (event->sps > 0 && draw(toy, 4) == 0) event->sp = (uint8_t)draw(toy, event->sps);
    if (draw(toy, 8) == 0) event->late = (uint8_t)draw(toy, 40);
  }
  if (toy->way == BOUND && event->sps > 0) event->sp = 0;
  if (toy->way == LATE) event->late = 20;
  return VERDICT_PASS;
}

static Verdict on_home(Hook *hook, HookMachine *machine, HomeEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  assert_int_equal(event->who->block, toy->block); // not the one that was there before
  for (uint32_t i = WARP_LANES; random_is(toy, SHUFFLED) && i-- > 1;) {
    uint32_t k = (uint32_t)draw(toy, i + 1);
    uint8_t was = event->home[i];
    event->home[i] = event->home[k];
    event->home[k] = was;
  }
  return VERDICT_PASS;
}

// ---- Results -----------------------------------------------------------------------------------------

static Lent *lent_at(Toy *toy, uint32_t sm, uint32_t warp) { return &toy->table[(sm * 64 + warp) % TABLE]; }

// What was computed for a guest is what the guest computes.
static void meet(Toy *toy, const ResultEvent *event) {
  for (uint32_t left = event->mask; left != 0 && event->row_count > 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), thread = event->thread[slot];
    const PartOwner *owner = &event->owner[event->owner_of[slot]];
    Lent *lent = lent_at(toy, event->who->sm, owner->warp);
    bool is_guest = (event->shadow >> slot & 1) != 0 && owner->warp != event->who->warp;
    if (is_guest) {
      if (lent->issue != owner->issue) *lent = (Lent){.issue = owner->issue};
      lent->threads |= 1u << thread;
      lent->values[thread] = event->rows[slot];
      toy->lent++;
    } else if (lent->issue == owner->issue && (lent->threads >> thread & 1) != 0) {
      toy->wrong += lent->values[thread] != event->rows[slot];
      toy->met++;
    }
  }
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  for (uint32_t left = event->mask; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    toy->moved += event->thread[slot] != slot;
    toy->shadows += event->shadow >> slot & 1;
  }
  if (!redundancy_agrees_within(event)) toy->wrong++;
  if ((op_info[event->instr->op].flags & IT_VOLATILE_RESULT) == 0) meet(toy, event);
  if (toy->way == RANDOM && event->copy < 3 && draw(toy, 30) == 0) return VERDICT_REPEAT;
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  if (!event->done) toy->block = event->who->block;
  for (uint32_t warp = 0; warp < 64; warp++) lent_at(toy, event->who->sm, warp)->issue = UINT64_MAX; // the next block counts from 0, too
  return VERDICT_PASS;
}

// ---- Runs ----------------------------------------------------------------------------------------------

static void on_cycle(Hook *hook, HookMachine *machine) {
  if (machine->cycle > MOST_CYCLES) fail_msg("the machine hangs");
  hook_wake(hook, machine, machine->cycle + 10000);
}

typedef struct Outcome {
  TrapKind trap;
  uint64_t cycles, threads, issued, copies, parts, moved, bound, corrected, detected, output_hash;
} Outcome;

static void toy_make(Toy *toy, Way way, uint64_t seed) {
  memset(toy, 0, sizeof *toy);
  toy->way = way;
  toy->seed = seed;
  toy->hook = (Hook){.name = "toy", .kind = HOOK_PROTECTION, .own = toy, .plan = on_plan, .place = on_place, .home = on_home};
  toy->hook.result = on_result;
  toy->hook.block = on_block;
  toy->hook.repeats = way == RANDOM;
  toy->hook.cycle = on_cycle;
  toy->hook.next_cycle = 10000;
  for (uint32_t i = 0; i < TABLE; i++) toy->table[i].issue = UINT64_MAX;
}

static Outcome run(const char *name, const Spec *spec, Toy *toy, const char *protection) {
  Arena *arena = arena_new();
  Diags diags = {0};
  HookChain chain = {0};
  if (toy != NULL) assert_true(hook_chain_add(&chain, &toy->hook));
  if (toy != NULL && toy->striker != NULL) assert_true(hook_chain_add(&chain, toy->striker));
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  const Workload *workload = workload_find(name);
  WorkloadRun work = {0};
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&work));
  Outcome outcome = {0};
  bool done = workload->launch(&work);
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const uint64_t *value = device_launch_record(device, i)->stats.value;
    outcome.cycles += value[STAT_CYCLES];
    outcome.threads += value[STAT_THREAD_INSTRUCTIONS];
    outcome.issued += value[STAT_ISSUED];
    outcome.copies += value[STAT_COPIES];
    outcome.parts += value[STAT_PARTS];
    outcome.moved += value[STAT_MOVED];
    outcome.bound += value[STAT_BOUND];
    outcome.corrected += value[STAT_CORRECTED];
    outcome.detected += value[STAT_DETECTED];
  }
  outcome.trap = device_trap(device)->kind;
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

static void load(Spec *spec, Arena *arena, const char *machine, const char *key, const char *value) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, machine, &diags));
  assert_true(spec_set(spec, "sm.count", "2", NULL, 0, &diags));
  if (key != NULL) assert_true(spec_set(spec, key, value, NULL, 0, &diags));
  diags_free(&diags);
}

static const char *const machines[] = {"fermi-gtx480", "tesla-hints", "gt200-rise", "turing-rtx2060"};
static const char *const some[] = {"bfs", "scalarprod", "reduction"};

static void assert_right(const char *name, const char *machine, const Toy *toy, const Outcome *plain, const Outcome *planned) {
  bool good = planned->trap == TRAP_NONE && planned->output_hash == plain->output_hash && planned->detected == 0 && toy->wrong == 0;
  if (!good) {
    fail_msg("%s on %s, way %d, seed %lu: trap %d, hash %s, detected %lu, %lu results differ", name, machine, toy->way, toy->seed,
             planned->trap, planned->output_hash == plain->output_hash ? "right" : "wrong", planned->detected, toy->wrong);
  }
}

static void every_way_gives_the_same_results(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Toy *toy = arena_alloc(arena, sizeof *toy);
  uint64_t lent = 0, shadows = 0, moved = 0;
  for (size_t k = 0; k < COUNT_OF(machines); k++) {
    Spec spec;
    load(&spec, arena, machines[k], NULL, NULL);
    for (size_t i = 0; i < COUNT_OF(some); i++) {
      Outcome plain = run(some[i], &spec, NULL, NULL);
      for (int way = PLAIN; way < WAYS; way++) {
        toy_make(toy, (Way)way, 7);
        Outcome planned = run(some[i], &spec, toy, NULL);
        assert_right(some[i], machines[k], toy, &plain, &planned);
        bool same_threads = i == 0 || way == RANDOM || planned.threads == plain.threads;
        if (!same_threads) fail_msg("%s, way %d: %lu thread instructions for %lu", some[i], way, planned.threads, plain.threads);
        if (way == PLAIN) assert_int_equal(planned.cycles, plain.cycles); // who asks and does nothing changes nothing
        if (way == COPIES) assert_true(planned.copies > planned.issued / 4 && toy->moved == 0);
        if (way == COPIES_MOVED || way == SHUFFLED) assert_true(toy->moved > 0);
        if (way == QUARTERS || way == HALVES) assert_true(planned.issued > plain.issued && planned.copies == 0);
        if (way == QUARTERS || way == HALVES) assert_true(planned.parts > 0 && planned.issued - planned.parts <= plain.issued * 2);
        if (way == PLAIN) assert_int_equal(planned.parts + planned.moved + planned.bound, 0);
        if (way == COPIES_MOVED) assert_true(planned.moved > 0 && planned.moved <= planned.copies);
        if (way == BOUND) assert_true(planned.bound > planned.issued / 4);
        if (way == LATE) assert_true(planned.cycles > plain.cycles && planned.moved + planned.parts == 0);
        lent += way == GUESTS ? toy->met : 0;
        shadows += way == TWICE ? toy->shadows : 0;
        moved += toy->moved;
      }
    }
  }
  assert_true(lent > 100 && shadows > 100 && moved > 1000);
  arena_free(arena);
}

// Threads dealt at random over parts, lanes and SPs, with copies, guests and repeats: nothing that any workload computes changes.
static void random_plans_change_no_result(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Toy *toy = arena_alloc(arena, sizeof *toy);
  Spec spec;
  load(&spec, arena, "fermi-gtx480", NULL, NULL);
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    const char *name = workloads[i]->name;
    Outcome plain = run(name, &spec, NULL, NULL);
    toy_make(toy, RANDOM, 100 + i);
    Outcome planned = run(name, &spec, toy, NULL);
    assert_right(name, "fermi-gtx480", toy, &plain, &planned);
    assert_true(toy->moved > 0);
  }
  arena_free(arena);
}

// Large warps, alone and with redundancy; and redundancy over a scheme that places.
static void schemes_and_large_warps_go_together(void **state) {
  (void)state;
  static const Way ways[] = {PLAIN, HALVES, QUARTERS, SHUFFLED, RANDOM};
  static const char *const protections[] = {NULL, "dmr", "dmr:shuffle=5", "dmr:entries=2"};
  Arena *arena = arena_new();
  Toy *toy = arena_alloc(arena, sizeof *toy);
  for (uint32_t large = 0; large <= 4; large += 4) {
    Spec spec;
    load(&spec, arena, "fermi-gtx480", "scheduler.large_warp", large == 0 ? "0" : "4");
    for (size_t i = 0; i < COUNT_OF(some); i++) {
      Outcome plain = run(some[i], &spec, NULL, NULL);
      for (size_t w = 0; w < COUNT_OF(ways); w++) {
        for (size_t p = (i + w) % TEST_STEP; p < COUNT_OF(protections); p += TEST_STEP) {
          if (ways[w] == RANDOM && protections[p] != NULL) continue; // its repeats are not redundancy's
          toy_make(toy, ways[w], 11);
          Outcome planned = run(some[i], &spec, toy, protections[p]);
          assert_right(some[i], protections[p] == NULL ? "none" : protections[p], toy, &plain, &planned);
        }
      }
    }
  }
  arena_free(arena);
}

// ---- Faults --------------------------------------------------------------------------------------------

// Flips random bits of the plans and of what depends on them.
typedef struct Striker {
  Hook hook;
  uint64_t seed, strikes;
} Striker;

static void strike(Hook *hook, HookMachine *machine) {
  static const char *const names[] = {"plan.warp",      "plan.thread", "plan.shadow", "plan.parts",     "warp.home", "collector.mask",
                                      "collector.word", "latch.mask",  "latch.word",  "scheduler.last", "warp.alive"};
  Striker *striker = hook->own;
  uint16_t region = region_find(machine->regions, names[random_below(random_draw(striker->seed, striker->strikes, 0), COUNT_OF(names))]);
  assert_int_not_equal(region, REGION_NONE);
  const Region *at = &machine->regions->items[region];
  uint64_t rows = min_u64(at->rows, 64); // of SM 0, where they are in use
  Site site = region_site(machine->regions, region,
                          random_below(random_draw(striker->seed, striker->strikes++, 1), region_bits(at) / at->rows * rows));
  machine->block[site_byte(at, &site)] ^= site_mask(&site);
  hook->next_cycle = machine->cycle > 20000 ? UINT64_MAX : machine->cycle + 40;
}

// Whatever they do to the program, the simulator survives.
static void flips_in_plans_are_survived(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Toy *toy = arena_alloc(arena, sizeof *toy);
  uint32_t traps = 0;
  for (uint64_t seed = 0; seed < 24; seed++) {
    Spec spec;
    Diags diags = {0};
    load(&spec, arena, machines[seed % 4], "scheduler.large_warp", seed % 3 == 0 ? "4" : "0");
    assert_true(spec_set(&spec, "limit.instructions", "50000", NULL, 0, &diags));
    diags_free(&diags);
    Striker striker = {.seed = seed};
    striker.hook = (Hook){.name = "striker", .kind = HOOK_FAULT, .own = &striker, .cycle = strike, .next_cycle = 100 + seed};
    toy_make(toy, seed % 2 == 0 ? RANDOM : SHUFFLED, seed);
    toy->striker = &striker.hook;
    toy->hook.cycle = NULL; // a machine in which nothing can happen any more shall notice
    traps += run(some[seed % COUNT_OF(some)], &spec, toy, seed % 2 == 0 ? NULL : "dmr:shuffle=1").trap != TRAP_NONE;
    assert_true(striker.strikes > 0);
  }
  assert_true(traps > 0);
  arena_free(arena);
}

// A lane of SP 0 of SM 0 whose output bit is stuck at 1, as a fault of unit.sp is.
typedef struct Stuck {
  Hook hook;
  uint32_t lane, bit;
} Stuck;

static Verdict on_stuck(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Stuck *stuck = hook->own;
  uint16_t region = region_find(machine->regions, "unit.sp");
  uint32_t lanes = machine->regions->items[region].units;
  if (event->region != region || event->row != 0) return VERDICT_PASS;
  for (uint32_t slot = stuck->lane; slot < WARP_LANES; slot += lanes) {
    for (uint32_t r = 0; r < event->row_count; r++) event->rows[r * WARP_LANES + slot] |= (event->mask >> slot & 1) << stuck->bit;
  }
  return VERDICT_PASS;
}

// Copies on the same lane agree on what is wrong; on another lane they do not, and a third finds out who is right.
static void shuffled_copies_find_stuck_lanes(void **state) {
  (void)state;
  static const char *const shuffles[] = {"dmr:shuffle=1", "dmr:shuffle=7"};
  Arena *arena = arena_new();
  Toy *toy = arena_alloc(arena, sizeof *toy);
  for (size_t k = 0; k < COUNT_OF(machines); k++) {
    uint32_t wrong = 0;
    Spec spec;
    load(&spec, arena, machines[k], "sm.sps", "1"); // a copy that finds its SP busy would go to the other one
    Outcome good = run("matmul", &spec, NULL, NULL);
    for (uint32_t lane = 0; lane < spec.sm_sp_lanes; lane += 1 + (uint32_t)spec.sm_sp_lanes / 5) {
      Stuck stuck = {.lane = lane, .bit = 12};
      stuck.hook = (Hook){.name = "stuck", .kind = HOOK_FAULT, .own = &stuck, .result = on_stuck, .next_cycle = UINT64_MAX};
      toy_make(toy, PLAIN, 0);
      toy->striker = &stuck.hook;
      Outcome blind = run("matmul", &spec, toy, "dmr");
      wrong += blind.trap != TRAP_NONE || blind.output_hash != good.output_hash;
      assert_int_equal(blind.corrected + blind.detected, 0);
      for (size_t i = 0; i < COUNT_OF(shuffles); i++) {
        toy_make(toy, PLAIN, 0);
        toy->striker = &stuck.hook;
        Outcome seeing = run("matmul", &spec, toy, shuffles[i]);
        assert_int_equal(seeing.trap, TRAP_NONE);
        assert_int_equal(seeing.output_hash, good.output_hash);
        assert_true(seeing.corrected > 0);
      }
    }
    assert_true(wrong > 0);
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_gives_the_same_results),    cmocka_unit_test(random_plans_change_no_result),
      cmocka_unit_test(schemes_and_large_warps_go_together), cmocka_unit_test(flips_in_plans_are_survived),
      cmocka_unit_test(shuffled_copies_find_stuck_lanes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
