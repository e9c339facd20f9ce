// Protections on the SIMT machine: alone they change no result; against the faults that they are made for, results stay right.
#include "device/workload.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { MOST_CYCLES = 500000 }; // the longest run takes a tenth

typedef struct Outcome {
  TrapKind trap;
  uint64_t cycles, copies, corrected, detected, repeated, output_hash;
} Outcome;

// Flips a random bit of the named structures every so many cycles.
typedef struct Striker {
  const char *const *names; // NULL ends
  uint64_t every, seed, strikes;
} Striker;

static void strike(Hook *hook, HookMachine *machine) {
  Striker *striker = hook->own;
  if (machine->cycle > MOST_CYCLES) fail_msg("seed %lu: the machine hangs", striker->seed);
  uint32_t count = 0;
  while (striker->names[count] != NULL) count++;
  uint64_t which = random_below(random_draw(striker->seed, striker->strikes, 0), count);
  uint16_t region = region_find(machine->regions, striker->names[which]);
  assert_int_not_equal(region, REGION_NONE);
  uint64_t bits = region_bits(&machine->regions->items[region]);
  Site site = region_site(machine->regions, region, random_below(random_draw(striker->seed, striker->strikes, 1), bits));
  machine->block[site_byte(&machine->regions->items[region], &site)] ^= site_mask(&site);
  striker->strikes++;
  hook->next_cycle = machine->cycle + striker->every;
}

static Outcome run(const char *name, const Spec *spec, const char *protection, Striker *striker) {
  Arena *arena = arena_new();
  Diags diags = {0};
  HookChain chain = {0};
  Hook fault = {.name = "striker", .kind = HOOK_FAULT, .own = striker, .cycle = strike, .next_cycle = 50};
  char text[64]; // protections, with spaces between them
  assert_true(snprintf(text, sizeof text, "%s", protection == NULL ? "" : protection) < (int)sizeof text);
  for (char *left, *word = strtok_r(text, " ", &left); word != NULL; word = strtok_r(NULL, " ", &left)) {
    assert_true(hook_chain_add(&chain, protect_new(arena_format(arena, "%s", word), arena, &diags)));
  }
  if (striker != NULL) assert_true(hook_chain_add(&chain, &fault));
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
    outcome.copies += value[STAT_COPIES];
    outcome.corrected += value[STAT_CORRECTED];
    outcome.detected += value[STAT_DETECTED];
    outcome.repeated += value[STAT_REPEATED];
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

static void assert_same(const Outcome *a, const Outcome *b) {
  assert_int_equal(a->trap, b->trap);
  assert_int_equal(a->cycles, b->cycles);
  assert_int_equal(a->copies, b->copies);
  assert_int_equal(a->output_hash, b->output_hash);
  assert_int_equal(b->corrected + b->detected + b->repeated, 0);
}

static const char *const machines[] = {"fermi-gtx480", "gt200-rise", "turing-rtx2060"};

static void load_small(Spec *spec, Arena *arena, const char *machine) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, machine, &diags));
  assert_true(spec_set(spec, "sm.count", "2", NULL, 0, &diags));
  diags_free(&diags);
}

static void alone_they_change_nothing(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (size_t k = 0; k < COUNT_OF(machines); k++) {
    Spec spec;
    load_small(&spec, arena, machines[k]);
    for (size_t i = k % TEST_STEP; i < workload_count; i += TEST_STEP) {
      const char *name = workloads[i]->name;
      Outcome plain = run(name, &spec, NULL, NULL), null = run(name, &spec, "null:plan", NULL), ecc = run(name, &spec, "secded:all", NULL);
      assert_int_equal(plain.trap, TRAP_NONE);
      assert_same(&plain, &null);
      assert_same(&plain, &ecc);
      Outcome twice = run(name, &spec, "dmr", NULL);
      assert_int_equal(twice.trap, TRAP_NONE);
      assert_int_equal(twice.output_hash, plain.output_hash);
      assert_true(twice.copies > 0);
      assert_int_equal(twice.corrected + twice.detected + twice.repeated, 0);
    }
  }
  arena_free(arena);
}

// `unprotected` runs must fail sometimes, or the test would show nothing.
static void assert_protected(const char *protection, const char *const *names, uint64_t every, bool repairs) {
  static const char *const subjects[] = {"matmul", "scalarprod", "hotspot"};
  Arena *arena = arena_new();
  uint32_t failed = 0, ended = 0;
  uint64_t corrected = 0;
  for (size_t k = 0; k < COUNT_OF(machines); k++) {
    Spec spec;
    load_small(&spec, arena, machines[k]);
    assert_true(spec_set(&spec, "limit.instructions", "1000000", NULL, 0, NULL));
    for (size_t i = 0; i < COUNT_OF(subjects); i++) {
      Outcome golden = run(subjects[i], &spec, NULL, NULL);
      for (uint64_t seed = 0; seed < 4; seed++) {
        Striker bare = {.names = names, .every = every, .seed = seed}, guarded = bare;
        Outcome broken = run(subjects[i], &spec, NULL, &bare), saved = run(subjects[i], &spec, protection, &guarded);
        failed += broken.trap != TRAP_NONE || broken.output_hash != golden.output_hash;
        ended += saved.trap == TRAP_DETECTED; // two strikes in one place, or nothing to repair it with
        if (saved.trap == TRAP_DETECTED) continue;
        assert_int_equal(saved.trap, TRAP_NONE);
        assert_int_equal(saved.output_hash, golden.output_hash);
        corrected += saved.corrected;
      }
    }
  }
  assert_true(failed > 0);
  assert_true(!repairs || (corrected > 0 && ended < 9));
  assert_true(repairs || ended > 0);
  print_message("%s: of 36 runs %u went wrong unprotected; protected, %u ended, %lu errors were corrected\n", protection, failed, ended,
                corrected);
  arena_free(arena);
}

static void redundancy_repairs_latches(void **state) {
  (void)state;
  static const char *const latches[] = {"latch.result", "latch.pred", NULL}, *const masks[] = {"latch.mask", NULL};
  assert_protected("dmr", latches, 3, true);
  assert_protected("dmr", masks, 3, false);
}

static void codes_repair_registers_and_shared_memory(void **state) {
  (void)state;
  static const char *const cells[] = {"rf", "shared", "pred", NULL};
  assert_protected("secded:rf,shared,pred", cells, 20, true);
}

// Each repairs what it is made for, while the other is there.
static void two_protections_go_together(void **state) {
  (void)state;
  static const char *const both[] = {"latch.result", "rf", NULL}, *const subjects[] = {"matmul", "hotspot"};
  Arena *arena = arena_new();
  Spec spec;
  load_small(&spec, arena, "fermi-gtx480");
  uint64_t corrected[3] = {0}; // by redundancy, by the code, by both
  static const char *const texts[] = {"dmr", "secded:rf", "dmr secded:rf"};
  for (size_t i = 0; i < COUNT_OF(subjects); i++) {
    Outcome plain = run(subjects[i], &spec, "dmr", NULL), quiet = run(subjects[i], &spec, "dmr secded:rf", NULL);
    assert_same(&plain, &quiet);
    for (uint64_t seed = 0; seed < 3; seed++) {
      for (size_t p = 0; p < COUNT_OF(texts); p++) {
        Striker striker = {.names = both, .every = 4, .seed = seed};
        Outcome struck = run(subjects[i], &spec, texts[p], &striker);
        corrected[p] += struck.corrected;
        if (p == 2 && struck.trap != TRAP_DETECTED) assert_int_equal(struck.output_hash, plain.output_hash);
      }
    }
  }
  assert_true(corrected[0] > 0 && corrected[1] > 0);
  assert_true(corrected[2] > corrected[0] && corrected[2] > corrected[1]);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alone_they_change_nothing),
      cmocka_unit_test(redundancy_repairs_latches),
      cmocka_unit_test(codes_repair_registers_and_shared_memory),
      cmocka_unit_test(two_protections_go_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
