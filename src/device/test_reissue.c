// Reissue for direct compute: without faults nothing is reissued and nothing differs, with a fault nothing wrong gets out, and kernels that cannot run
// twice are told by name.
#include "device/test_actions.h"
#include "protect/protect.h"

static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};
enum { STRIKES = 96 };

typedef struct Outcome {
  TrapKind trap;
  bool done;
  uint64_t hash;
  Stats stats;
  char note[LAUNCH_NOTE_BYTES];  // of the first launch that has one
  char error[LAUNCH_NOTE_BYTES]; // of the device
} Outcome;

static uint64_t count(const Outcome *outcome, const char *name) {
  for (int i = 0; i < STAT_COUNT; i++) {
    if (strcmp(stat_info[i].name, name) == 0) return outcome->stats.value[i];
  }
  fail_msg("no statistic %s", name);
  return 0;
}

static void read_launches(const Device *device, Outcome *outcome) {
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    const LaunchRecord *record = device_launch_record(device, i);
    for (int k = 0; k < STAT_COUNT; k++) outcome->stats.value[k] += record->stats.value[k];
    if (outcome->note[0] == '\0') memcpy(outcome->note, record->note, sizeof outcome->note);
  }
  outcome->trap = device_trap(device)->kind;
  snprintf(outcome->error, sizeof outcome->error, "%s", device_error(device));
}

// `protection` and `fault` may be NULL.
static Outcome run(const Workload *workload, const Spec *spec, const char *protection, Hook *fault) {
  Diags diags = {0};
  HookChain chain = {0};
  Arena *arena = arena_new();
  if (protection != NULL) assert_true(hook_chain_add(&chain, protect_new(protection, arena, &diags)));
  if (fault != NULL) assert_true(hook_chain_add(&chain, fault));
  DeviceOptions options = {.spec = spec, .hooks = &chain};
  Device *device = device_new(&options, &diags);
  assert_non_null(device);
  WorkloadRun work = {0};
  assert_true(workload_start(&work, workload, SIZE_TINY, device, &diags));
  assert_true(workload->prepare(&work));
  Outcome outcome = {.done = workload->launch(&work)};
  read_launches(device, &outcome);
  for (uint32_t i = 0; i < work.output_count && outcome.done; i++) {
    uint64_t bytes = work.outputs[i].count * element_bytes(work.outputs[i].type);
    uint8_t *copy = arena_alloc(work.arena, bytes + 1);
    assert_true(device_read(device, copy, work.outputs[i].address, bytes));
    outcome.hash = hash_bytes(copy, bytes, outcome.hash);
  }
  workload_finish(&work);
  device_free(device);
  arena_free(arena);
  diags_free(&diags);
  return outcome;
}

// ---- Without faults ------------------------------------------------------------------------------------

static void nothing_is_reissued_without_faults(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    Spec spec;
    toy_spec(&spec, arena, machines[i / TEST_STEP % COUNT_OF(machines)]);
    Outcome plain = run(workloads[i], &spec, NULL, NULL), twice = run(workloads[i], &spec, "reissue", NULL);
    assert_int_equal(twice.trap, TRAP_NONE);
    assert_int_equal(twice.hash, plain.hash);
    if (count(&twice, "reissue_reissues") > 0)
      fail_msg("%s on %s: %lu differ, %lu late", workloads[i]->name, spec.machine, count(&twice, "reissue_mismatches"),
               count(&twice, "reissue_late"));
    assert_int_equal(count(&twice, "reissue_mismatches"), 0);
    bool is_refused = count(&twice, "reissue_refused") > 0;
    assert_int_equal(is_refused, strcmp(workloads[i]->name, "hybridsort") == 0);
    assert_int_equal(twice.note[0] != '\0', is_refused || count(&twice, "reissue_overflows") > 0);
    if (is_refused) continue;
    assert_int_equal(count(&twice, "reissue_blocks") + count(&twice, "reissue_overflows"), plain.stats.value[STAT_BLOCKS]);
    assert_int_equal(twice.stats.value[STAT_BLOCKS], plain.stats.value[STAT_BLOCKS]);
    assert_true(count(&twice, "reissue_sectors") > 0);
  }
  arena_free(arena);
}

static void kernels_that_cannot_run_twice_are_told(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "fermi-gtx480");
  const Workload *sort = workload_find("hybridsort");
  Outcome outcome = run(sort, &spec, "reissue", NULL);
  assert_string_equal(outcome.note,
                      "reissue does not cover it: atomic on global memory in line 84: its order between blocks is not the same for "
                      "both copies");
  Outcome strict = run(sort, &spec, "reissue:strict", NULL);
  assert_false(strict.done);
  assert_int_equal(strict.trap, TRAP_NONE); // refused before it begins
  assert_non_null(strstr(strict.error, "reissue:strict does not run kernel 'hybridsort_histogram': atomic on global memory in line 84"));
  arena_free(arena);
}

// One rule each, in the body of a kernel; NULL: it is covered.
typedef struct Rule {
  const char *body, *why;
} Rule;

static const Rule rules[] = {
    {"st.global.u32 [%rd1], 1;", NULL},
    {"atom.shared.add.u32 %r1, [cell], 1;", NULL},
    {"membar.cta;", NULL},
    {"ld.volatile.shared.u32 %r1, [cell];", NULL},
    {"mov.u32 %r1, %laneid;", NULL},
    {"st.volatile.global.u32 [%rd1], 1;", NULL},
    {"red.global.add.u32 [%rd1], 1;", "atomic on global memory in line 6: its order between blocks is not the same for both copies"},
    {"atom.add.u32 %r1, [%rd1], 1;", "atomic on global memory in line 6: its order between blocks is not the same for both copies"},
    {"mov.u32 %r1, %clock;", "%clock in line 6: the copies read the clock at different times"},
    {"mov.u64 %rd2, %globaltimer;", "%globaltimer in line 6: the copies read the clock at different times"},
    {"mov.u32 %r1, %smid;", "%smid in line 6: the copies run in different places"},
    {"membar.gl;", "membar.gl in line 6: blocks communicate within the launch, and held stores are not seen"},
    {"ld.volatile.global.u32 %r1, [%rd1];",
     "volatile or acquiring load in line 6: the block waits for what another one stores in the same launch"},
};

static void every_rule_is_told(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Diags diags = {0};
  const Hook *hook = protect_new("reissue", arena, &diags);
  for (uint32_t i = 0; i < COUNT_OF(rules); i++) {
    Text source = {0}, why = {0};
    text_add(&source, ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry kernel(.param .u64 out) {\n"
                      ".reg .b64 %%rd<3>; .reg .b32 %%r<2>; .shared .u32 cell; ld.param.u64 %%rd1, [out];\n");
    text_add(&source, "%s\nst.global.u32 [%%rd1], %%r1;\nst.global.u64 [%%rd1], %%rd2;\nret;\n}\n", rules[i].body);
    PtxSource ptx = {"test.ptx", source.at, source.length};
    MirOptions options = {0};
    Program *program = ptx_compile(&ptx, 1, &options, &diags);
    if (program == NULL) fail_msg("%s: %s", rules[i].body, diags.items[0].text);
    assert_int_equal(hook->covers(hook, program, "kernel", &why), rules[i].why == NULL);
    if (rules[i].why != NULL) assert_string_equal(why.at, rules[i].why);
    program_free(program);
    text_free(&source);
    text_free(&why);
  }
  arena_free(arena);
}

// Blocks that find no room run once more, alone: the results stay right.
static void blocks_without_room_run_alone(void **state) {
  (void)state;
  static const char *const schemes[] = {"reissue:lines=8", "reissue:sectors=4"};
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < 4; i++) {
    Spec spec;
    toy_spec(&spec, arena, machines[i]);
    const Workload *workload = workload_find(i % 2 == 0 ? "fwt" : "matmul");
    Outcome plain = run(workload, &spec, NULL, NULL), small = run(workload, &spec, schemes[i / 2], NULL);
    assert_int_equal(small.hash, plain.hash);
    assert_true(count(&small, "reissue_overflows") > 0);
    assert_non_null(strstr(small.note, "blocks ran alone and unprotected"));
    assert_int_equal(count(&small, "reissue_reissues"), 0);
  }
  arena_free(arena);
}

// ---- With faults ---------------------------------------------------------------------------------------

// Flips a bit of one lane's result of a unit; `every`: of each result of SM 0.
typedef struct Striker {
  Hook hook;
  const char *unit;
  uint64_t number, seen;
  uint32_t bit;
  bool every;
} Striker;

static Verdict strike(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Striker *striker = hook->own;
  if (event->mask == 0 || strcmp(machine->regions->items[event->region].name, striker->unit) != 0) return VERDICT_PASS;
  bool is_struck = striker->every ? event->who->sm == 0 : striker->seen++ == striker->number;
  if (is_struck && event->row_count > 0) event->rows[__builtin_ctz(event->mask)] ^= 1u << striker->bit;
  return VERDICT_PASS;
}

static Striker striker_of(const char *unit, uint64_t number, uint32_t bit) {
  return (Striker){.hook = {.name = "striker", .kind = HOOK_FAULT, .result = strike, .next_cycle = UINT64_MAX},
                   .unit = unit,
                   .number = number,
                   .bit = bit};
}

// In results, and in addresses of loads and stores: what both copies do not do alike is done again. fwt and needleman update in place.
static void nothing_wrong_gets_out(void **state) {
  (void)state;
  static const char *const subjects[] = {"fwt", "needleman", "matmul", "scan"};
  Arena *arena = arena_new();
  uint64_t reissued = 0, trapped = 0, corrected = 0;
  Outcome plain[COUNT_OF(subjects)];
  Spec specs[COUNT_OF(subjects)];
  for (uint32_t i = 0; i < COUNT_OF(subjects); i++) {
    toy_spec(&specs[i], arena, machines[i]);
    plain[i] = run(workload_find(subjects[i]), &specs[i], NULL, NULL);
  }
  for (uint32_t i = 0; i < STRIKES; i++) {
    uint32_t subject = i % COUNT_OF(subjects);
    bool is_address = i / COUNT_OF(subjects) % 3 == 2;
    uint64_t number = random_below(random_draw(1, i, 0), is_address ? 100 : 600);
    Striker striker = striker_of(is_address ? "unit.agu" : "unit.sp", number, (uint32_t)random_below(random_draw(1, i, 1), 32));
    striker.hook.own = &striker;
    Outcome struck = run(workload_find(subjects[subject]), &specs[subject], "reissue", &striker.hook);
    if (struck.trap != TRAP_NONE || struck.hash != plain[subject].hash)
      fail_msg("%s: strike %u: trap %u, or wrong", subjects[subject], i, (unsigned)struck.trap);
    reissued += count(&struck, "reissue_reissues");
    trapped += count(&struck, "reissue_traps");
    corrected += struck.stats.value[STAT_CORRECTED];
  }
  print_message("%d strikes: %lu reissues, %lu of them for errors of a copy\n", STRIKES, reissued, trapped);
  assert_true(reissued > STRIKES / 3);
  assert_true(trapped > 0);
  assert_int_equal(corrected, reissued);
  arena_free(arena);
}

// An SM that is broken for good: a block whose copies differ goes out again, to other SMs in the end. Without tries the launch ends instead.
static void a_broken_sm_is_never_silent(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < 8; i++) {
    Spec spec;
    toy_spec(&spec, arena, machines[i % COUNT_OF(machines)]);
    const Workload *workload = workload_find(i < 4 ? "matmul" : "fwt");
    Striker striker = striker_of("unit.sp", 0, i % 5);
    striker.every = true;
    striker.hook.own = &striker;
    Outcome plain = run(workload, &spec, NULL, NULL), tried = run(workload, &spec, "reissue", &striker.hook);
    if (tried.trap == TRAP_NONE) assert_int_equal(tried.hash, plain.hash);
    else assert_int_equal(tried.trap, TRAP_DETECTED);
    assert_true(count(&tried, "reissue_reissues") > 0);
    assert_int_not_equal(run(workload, &spec, "reissue:tries=0", &striker.hook).trap, TRAP_NONE);
  }
  arena_free(arena);
}

// ---- Options -------------------------------------------------------------------------------------------

static void refused(const char *text, const char *why) {
  Arena *arena = arena_new();
  Diags diags = {0};
  assert_null(protect_new(text, arena, &diags));
  assert_string_equal(diags.items[0].text, why);
  diags_free(&diags);
  arena_free(arena);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  refused("reissue:lines=0", "reissue:lines=0: lines must be a whole number from 1 to 4096");
  refused("reissue:line=8", "reissue:line=8: unknown option 'line'; did you mean 'lines'?");
  refused("reissue:strict=1", "reissue:strict=1: strict takes no value");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_reissued_without_faults),
      cmocka_unit_test(kernels_that_cannot_run_twice_are_told),
      cmocka_unit_test(every_rule_is_told),
      cmocka_unit_test(blocks_without_room_run_alone),
      cmocka_unit_test(nothing_wrong_gets_out),
      cmocka_unit_test(a_broken_sm_is_never_silent),
      cmocka_unit_test(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
