// Faulty SMs that send hints, on the whole machine: results stay right whatever is broken in them, and a good one's hints are right.
#include "device/workload.h"
#include "protect/protect.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST_CYCLES = 3000000 };
static const char *const programs[] = {"aes",       "bfs",     "libor",    "laplace3d", "mummer",
                                       "neuralnet", "nqueens", "raytrace", "storegpu",  "weather"};

typedef struct Result {
  TrapKind trap;
  uint64_t output_hash;
  Stats stats;
} Result;

// A permanent fault: a cell of the SM that holds 0 or 1, or an output of a unit.
typedef struct Broken {
  uint64_t seed;
  uint32_t sm;
  Site site;
  bool one, is_output;
  char text[80]; // the site
} Broken;

static void hold_cell(Hook *hook, HookMachine *machine) {
  const Broken *broken = hook->own;
  uint8_t *byte = &machine->block[site_byte(&machine->regions->items[broken->site.region], &broken->site)], mask = site_mask(&broken->site);
  if (machine->cycle > MOST_CYCLES) fail_msg("seed %lu: the machine hangs", broken->seed);
  *byte = broken->one ? *byte | mask : (uint8_t)(*byte & ~mask);
  hook_wake(hook, machine, machine->cycle + 1);
}

static Verdict hold_output(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Broken *broken = hook->own;
  const Region *region = &machine->regions->items[broken->site.region];
  if (event->region != broken->site.region || event->row != broken->site.row) return VERDICT_PASS;
  uint32_t row = broken->site.bit / 32;
  for (uint32_t slot = broken->site.unit; slot < 32 && row < event->row_count; slot += region->units) {
    uint32_t *word = &event->rows[row * 32 + slot], mask = 1u << broken->site.bit % 32;
    *word = broken->one ? *word | mask : *word & ~mask;
  }
  return VERDICT_PASS;
}

// Any bit of any structure of this SM, or of the scheme in its TPC.
static bool draw_site(const RegionTable *table, Broken *broken) {
  const char *only = getenv("REDOUBT_STRUCTURE"); // those whose name begins so
  uint64_t first = random_below(random_draw(broken->seed, 0, 0), table->count);
  for (uint32_t i = 0; i < table->count; i++) {
    uint16_t region = (uint16_t)((first + i) % table->count);
    const Region *item = &table->items[region];
    if (item->dim_count == 0 || (item->flags & REGION_INJECTABLE) == 0 || region_bits(item) == 0) continue;
    bool is_of_sm = strcmp(item->dims[0].name, "sm") == 0, is_of_tpc = strncmp(item->name, "hints.", 6) == 0 && !is_of_sm;
    if (!is_of_sm && !is_of_tpc) continue;
    if (only != NULL && strncmp(item->name, only, strlen(only)) != 0) continue;
    uint64_t share = region_bits(item) / item->dims[0].count, index = is_of_tpc ? broken->sm / 2 : broken->sm;
    broken->site = region_site(table, region, index * share + random_below(random_draw(broken->seed, 0, 1), share));
    Text text = {0};
    site_format(table, &broken->site, &text);
    snprintf(broken->text, sizeof broken->text, "%s", text.at);
    text_free(&text);
    broken->is_output = (item->flags & REGION_OUTPUT) != 0;
    broken->one = (random_draw(broken->seed, 0, 2) & 1) != 0;
    return true;
  }
  return false;
}

static void spec_of(Spec *spec, Arena *arena) {
  Diags diags = {0};
  assert_true(spec_load(spec, arena, "tesla-hints", &diags));
  assert_true(spec_set(spec, "sm.count", "4", NULL, 0, &diags));
  assert_true(spec_set(spec, "dram.controllers", "2", NULL, 0, &diags));
  assert_true(spec_set(spec, "limit.instructions", "2000000", NULL, 0, &diags));
  diags_free(&diags);
}

static Verdict see_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Broken *broken = hook->own;
  (void)event;
  if (broken->site.region == REGION_NONE) assert_true(draw_site(machine->regions, broken));
  if (!broken->is_output) hook_wake(hook, machine, machine->cycle + 1);
  return VERDICT_PASS;
}

static Result run(const char *name, const Spec *spec, const char *protection, Broken *broken) {
  Arena *arena = arena_new();
  Diags diags = {0};
  HookChain chain = {0};
  Hook fault = {.name = "broken", .kind = HOOK_FAULT, .own = broken, .launch = see_launch, .cycle = hold_cell, .next_cycle = UINT64_MAX};
  fault.result = hold_output;
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  if (broken != NULL) {
    broken->site.region = REGION_NONE;
    assert_true(hook_chain_add(&chain, &fault));
  }
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun work = {0};
  const Workload *workload = workload_find(name);
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&work));
  Result result = {0};
  bool done = workload->launch(&work);
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    for (uint32_t k = 0; k < STAT_COUNT; k++) result.stats.value[k] += device_launch_record(device, i)->stats.value[k];
  }
  result.trap = device_trap(device)->kind;
  for (uint32_t i = 0; i < work.output_count && done; i++) {
    uint64_t bytes = work.outputs[i].count * element_bytes(work.outputs[i].type);
    uint8_t *copy = arena_alloc(work.arena, bytes + 1);
    assert_true(device_read(device, copy, work.outputs[i].address, bytes));
    result.output_hash = hash_bytes(copy, bytes, result.output_hash);
  }
  workload_finish(&work);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
  return result;
}

static uint64_t tally(const Result *result, TallyId id) { return result->stats.value[STAT_COUNT - TALLY_COUNT + (uint32_t)id]; }

// ---- Without faults --------------------------------------------------------------------------------------

static void without_a_faulty_sm_nothing_changes(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  spec_of(&spec, arena);
  for (uint32_t i = 0; i < COUNT_OF(programs); i += TEST_STEP) {
    Result plain = run(programs[i], &spec, NULL, NULL), none = run(programs[i], &spec, "hints:faulty=none", NULL);
    assert_int_equal(plain.output_hash, none.output_hash);
    assert_memory_equal(&plain.stats, &none.stats, sizeof plain.stats); // every cycle and every count
  }
  arena_free(arena);
}

// Warp instructions. Blocks of bfs race: how often a warp finds vertices without a level depends on who comes first. Each time it carries out five
// more, one of them a branch. All instructions less five times the branches are the same in any order.
static uint64_t work_done(const char *program, const Result *result) {
  uint64_t all = result->stats.value[STAT_WARP_INSTRUCTIONS], branches = result->stats.value[STAT_INSTRUCTIONS_CONTROL];
  return strcmp(program, "bfs") == 0 ? all - 5 * branches : all;
}

static void every_option_keeps_results(void **state) {
  (void)state;
  static const char *const options[] = {"hints",
                                        "hints:use=off",
                                        "hints:order=issue,disable=never",
                                        "hints:types=icache+merge+l2+other,l2=prefetch,disable=now",
                                        "hints:queue=3,checks=1,threshold=1,period=50,resync=9",
                                        "hints:perfect=yes,wrong=40,threshold=100000",
                                        "hints:faulty=0,period=64,view=8",
                                        "hints:merge=ask,view=1",
                                        "hints:free=3,l2=prefetch,order=issue",
                                        "hints:faulty=0+1,disable=now,period=300"};
  Arena *arena = arena_new();
  Spec spec;
  spec_of(&spec, arena);
  uint64_t copies = 0, gained = 0;
  for (uint32_t i = 0; i < COUNT_OF(programs); i++) {
    Result plain = run(programs[i], &spec, NULL, NULL);
    for (uint32_t k = i % 2; k < COUNT_OF(options); k += 2 * TEST_STEP) {
      Result result = run(programs[i], &spec, options[k], NULL);
      if (result.trap != TRAP_NONE || result.output_hash != plain.output_hash) fail_msg("%s with %s: wrong", programs[i], options[k]);
      assert_int_equal(work_done(programs[i], &result), work_done(programs[i], &plain));
      copies += tally(&result, TALLY_HINTS_RESYNCS);
      for (uint32_t type = 0; type < 4; type++) gained += tally(&result, (TallyId)(TALLY_HINTS_GAINED_ICACHE + type));
      for (uint32_t type = 0; type < 4; type++) {
        uint64_t made = tally(&result, (TallyId)(TALLY_HINTS_GENERATED_ICACHE + type));
        uint64_t gone =
            tally(&result, (TallyId)(TALLY_HINTS_LATE_ICACHE + type)) + tally(&result, (TallyId)(TALLY_HINTS_DELIVERED_ICACHE + type));
        assert_true(gone <= made);
      }
    }
  }
  assert_true(copies > 20 / TEST_STEP && gained > 100 / TEST_STEP);
  arena_free(arena);
}

// Without branches, and with a partner that is slower, every block of instructions that a good SM names is fetched by its partner afterwards.
static const char straight_head[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out) {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n";
static const char straight_tail[] = "st.global.u32 [%rd1], %r1;\nret;\n}\n";

static Verdict slow_down(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  (void)hook;
  return event->who->sm == 0 && machine->cycle % 512 != 0 ? VERDICT_STALL : VERDICT_PASS;
}

// Its first fetch, too: else both fetch the first block at the same time.
static Verdict start_late(Hook *hook, HookMachine *machine, FetchEvent *event) {
  (void)hook;
  return event->who->sm == 0 && machine->cycle < 4000 ? VERDICT_STALL : VERDICT_PASS;
}

static void good_hints_are_all_right(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  Diags diags = {0};
  spec_of(&spec, arena);
  Text text = {0};
  text_add(&text, "%s", straight_head);
  for (uint32_t i = 0; i < 600; i++) text_add(&text, "mad.lo.u32 %%r1, %%r1, 5, %u;\n", i); // more than the L1 holds
  text_add(&text, "%s", straight_tail);
  Hook slow = {.name = "slow", .kind = HOOK_PROTECTION, .issue = slow_down, .fetch = start_late, .next_cycle = UINT64_MAX};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &slow));
  assert_true(hook_chain_add(&chain, protect_new("hints:faulty=1+3,types=icache,threshold=32", arena, &diags)));
  DeviceOptions options = {.spec = &spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  PtxSource source = {"test.ptx", text.at, text.length};
  Module *module = device_load_ptx(device, &source, 1, &diags);
  assert_non_null(module);
  DeviceAddress out = device_alloc(device, 128);
  const void *arguments[] = {&out};
  LaunchRequest request = {
      .module = module, .kernel = "kernel", .grid = {1, 1, 1}, .block = {32, 1, 1}, .arguments = arguments, .argument_count = 1};
  assert_true(device_launch(device, &request));
  Result result = {.stats = device_launch_record(device, 0)->stats};
  uint64_t made = tally(&result, TALLY_HINTS_GENERATED_ICACHE);
  assert_true(made > 150);
  assert_int_equal(tally(&result, TALLY_HINTS_LATE_ICACHE), 0);
  assert_int_equal(tally(&result, TALLY_HINTS_USEFUL_ICACHE), made);
  assert_true(tally(&result, TALLY_HINTS_GAINED_ICACHE) > 50);
  assert_int_equal(tally(&result, TALLY_HINTS_WASTED_ICACHE), 0);
  device_free(device);
  diags_free(&diags);
  text_free(&text);
  arena_free(arena);
}

// ---- With faults -----------------------------------------------------------------------------------------

// REDOUBT_FAULTS and REDOUBT_FIRST: how many, and from which number on (tests/proof/hints.sh).
static void no_permanent_fault_makes_a_wrong_result(void **state) {
  (void)state;
  const char *count_text = getenv("REDOUBT_FAULTS"), *first_text = getenv("REDOUBT_FIRST");
  uint64_t count = count_text != NULL ? strtoull(count_text, NULL, 10) : 60,
           first = first_text != NULL ? strtoull(first_text, NULL, 10) : 0;
  Arena *arena = arena_new();
  Spec spec;
  spec_of(&spec, arena);
  Result plain[COUNT_OF(programs)];
  for (uint32_t i = 0; i < COUNT_OF(programs); i++) plain[i] = run(programs[i], &spec, NULL, NULL);
  uint64_t traps = 0, copies = 0;
  for (uint64_t seed = first; seed < first + count; seed += TEST_STEP) {
    uint32_t i = (uint32_t)(seed % COUNT_OF(programs));
    Broken broken = {.seed = seed, .sm = 2 * (uint32_t)(seed / COUNT_OF(programs) % 2) + 1};
    static const char *const ways[] = {"hints:order=issue,disable=never,view=16", "hints",
                                       "hints:l2=prefetch,types=icache+merge+l2+other,period=300", "hints:merge=ask,view=2"};
    const char *options = ways[seed / 20 % COUNT_OF(ways)];
    Result result = run(programs[i], &spec, options, &broken);
    if (result.trap != TRAP_NONE || result.output_hash != plain[i].output_hash)
      fail_msg("fault %lu, stuck%d:%s, in %s with %s: %s", seed, broken.one, broken.text, programs[i], options,
               result.trap != TRAP_NONE ? trap_info[result.trap].name : "wrong result");
    traps += tally(&result, TALLY_HINTS_TRAPS) > 0;
    copies += tally(&result, TALLY_HINTS_RESYNCS);
  }
  printf("%lu permanent faults: no wrong result; in %lu runs a mirror trapped, %lu resynchronisations\n", count / TEST_STEP, traps, copies);
  assert_true(copies > 0);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_faulty_sm_nothing_changes),
      cmocka_unit_test(every_option_keeps_results),
      cmocka_unit_test(good_hints_are_all_right),
      cmocka_unit_test(no_permanent_fault_makes_a_wrong_result),
  };
  const struct CMUnitTest proof[] = {cmocka_unit_test(no_permanent_fault_makes_a_wrong_result)};
  return getenv("REDOUBT_FAULTS") != NULL ? cmocka_run_group_tests(proof, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
