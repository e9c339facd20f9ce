// Time under Warped-Shield by hand: what an instruction costs that depends on the one before it.
//
// One warp runs a loop of dependent additions. An addition issues as s sub-warps in consecutive cycles, and its successor waits for the last of
// them: s - 1 cycles more than alone. Rounds of 4 and of 12 additions differ by 8 of them and by nothing else, once the code has been fetched: so long and
// short loops of both are compared.
#include "device/workload.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { SHORT = 20, LONG = 60, FEW = 4, MANY = 12 };

static void make_kernel(Text *text, uint32_t additions, uint32_t rounds, bool is_partial) {
  text_add(text, ".version 6.0\n.target sm_20\n.address_size 64\n.visible .entry chain(.param .u64 out)\n{\n"
                 ".reg .u32 %%r<8>; .reg .u64 %%d<4>; .reg .pred %%p<3>;\n"
                 "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, 0;\n");
  // Half of each cluster only: threads whose number is odd leave.
  if (is_partial) text_add(text, "and.b32 %%r5, %%r1, 1; setp.ne.u32 %%p2, %%r5, 0; @%%p2 exit;\n");
  text_add(text, "again:\n");
  for (uint32_t i = 0; i < additions; i++) text_add(text, "add.u32 %%r1, %%r1, %%r2;\n");
  text_add(text, "add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p1, %%r3, %u; @%%p1 bra again;\n", rounds);
  text_add(text, "ld.param.u64 %%d1, [out]; mov.u32 %%r4, %%tid.x; mul.wide.u32 %%d2, %%r4, 4; add.u64 %%d1, %%d1, %%d2;\n"
                 "st.global.u32 [%%d1], %%r1; exit;\n}\n");
}

static uint64_t cycles_of(const char *protection, uint32_t additions, uint32_t rounds, bool is_partial) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  Text text = {0};
  HookChain chain = {0};
  assert_true(spec_load(&spec, arena, "fermi-gtx480", &diags));
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  DeviceOptions options = {.spec = &spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  make_kernel(&text, additions, rounds, is_partial);
  PtxSource source = {.file = "chain.ptx", .text = text.at, .length = text.length};
  Module *module = device_load_ptx(device, &source, 1, &diags);
  if (module == NULL) fail_msg("%s", diags.items[0].text);
  DeviceAddress out = device_alloc(device, 128);
  const void *arguments[] = {&out};
  LaunchRequest request = {.module = module, .kernel = "chain", .grid = {1}, .block = {32}, .arguments = arguments, .argument_count = 1};
  assert_true(device_launch(device, &request));
  uint32_t values[32];
  assert_true(device_read(device, values, out, sizeof values));
  for (uint32_t i = 0; i < 32; i++) {
    if (!is_partial || i % 2 == 0) assert_int_equal(values[i], i + 32 * additions * rounds);
  }
  uint64_t cycles = device_launch_record(device, 0)->stats.value[STAT_CYCLES];
  device_free(device);
  text_free(&text);
  diags_free(&diags);
  arena_free(arena);
  return cycles;
}

// Of one addition.
static uint64_t cost(const char *protection, bool is_partial) {
  uint64_t many = cycles_of(protection, MANY, LONG, is_partial) - cycles_of(protection, MANY, SHORT, is_partial);
  uint64_t few = cycles_of(protection, FEW, LONG, is_partial) - cycles_of(protection, FEW, SHORT, is_partial);
  assert_int_equal((many - few) % ((LONG - SHORT) * (MANY - FEW)), 0);
  return (many - few) / ((LONG - SHORT) * (MANY - FEW));
}

static void sub_warps_cost_a_cycle_each(void **state) {
  (void)state;
  static const struct {
    const char *protection;
    uint64_t full, half; // cycles more than alone: full warps, and warps with two threads in each cluster
  } cases[] = {
      {"shield:map=none", 0, 0},
      {"shield:map=1-per-cluster", 1, 0},           // four threads on three lanes: two sub-warps; two threads: they fit
      {"shield:map=2-per-cluster", 1, 0},           // on two lanes
      {"shield:map=3-per-cluster", 3, 1},           // on one: four, two
      {"shield:map=3-per-cluster,pool=true", 3, 1}, // eight threads on two lane slots; four
      {"shield:map=3+0-per-cluster", 0, 0},         // the other SP
      {"shield:map=3+2-per-cluster", 1, 0},
      {"shield:map=3+0-per-cluster,shuffle,deform", 3, 1}, // warp 0 goes to SP 0
      {"shield:map=0+3-per-cluster,shuffle,deform", 0, 0},
      {"shield:map=none,crossbar=5", 5, 5},
      {"shield:map=1-per-cluster,crossbar=2,control=4", 7, 6}, // the second sub-warp: a cycle, and six on its way
  };
  uint64_t full = cost(NULL, false), half = cost(NULL, true);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint64_t more_full = cost(cases[i].protection, false) - full, more_half = cost(cases[i].protection, true) - half;
    if (more_full != cases[i].full || more_half != cases[i].half) {
      fail_msg("%s: %lu and %lu cycles more, for %lu and %lu", cases[i].protection, more_full, more_half, cases[i].full, cases[i].half);
    }
  }
}

// ---- Faults in the schemes' own cells ------------------------------------------------------------------

typedef struct Striker {
  Hook hook;
  uint64_t seed, strikes;
} Striker;

// Flips a random bit of a structure that belongs to a scheme.
static void strike(Hook *hook, HookMachine *machine) {
  Striker *striker = hook->own;
  uint32_t region = (uint32_t)random_below(random_draw(striker->seed, striker->strikes, 0), machine->regions->count);
  const Region *at = &machine->regions->items[region];
  if (at->owned_by_scheme == 0 || (at->flags & REGION_INJECTABLE) == 0) {
    hook->next_cycle = machine->cycle + 1; // draws again
  } else {
    hook->next_cycle = machine->cycle + 1 + striker->seed % 40;
    Site site =
        region_site(machine->regions, (uint16_t)region, random_below(random_draw(striker->seed, striker->strikes, 1), region_bits(at)));
    machine->block[site_byte(at, &site)] ^= site_mask(&site);
  }
  striker->strikes++;
}

static void struck_run(const char *protection, uint64_t seed) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  assert_true(spec_load(&spec, arena, "fermi-gtx480", &diags));
  assert_true(spec_set(&spec, "sm.count", "2", NULL, 0, &diags));
  assert_true(spec_set(&spec, "limit.instructions", "300000", NULL, 0, &diags));
  Striker striker = {.seed = seed};
  striker.hook = (Hook){.name = "striker", .kind = HOOK_FAULT, .own = &striker, .cycle = strike, .next_cycle = 50};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &striker.hook) && hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  DeviceOptions options = {.spec = &spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun work = {0};
  const Workload *workload = workload_find(seed % 2 == 0 ? "scan" : "bfs");
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags) && workload->prepare(&work));
  bool is_done = workload->launch(&work);
  assert_true(striker.strikes > 10);
  // No lane is really broken here: what is wrong in the schemes' cells costs time, or the launch.
  if (is_done) assert_true(workload_check(&work, workload));
  else assert_int_equal(device_trap(device)->kind, TRAP_DETECTED);
  workload_finish(&work);
  device_free(device);
  diags_free(&diags);
  arena_free(arena);
}

static void flips_in_the_schemes_are_survived(void **state) {
  (void)state;
  static const char *const protections[] = {"shield:map=2-per-cluster", "shield:map=random,density=60,retire=true", "heal",
                                            "heal:threshold=1,window=64,trials=1"};
  for (uint64_t seed = 0; seed < 16; seed++) { struck_run(protections[seed % COUNT_OF(protections)], seed); }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sub_warps_cost_a_cycle_each), cmocka_unit_test(flips_in_the_schemes_are_survived)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
