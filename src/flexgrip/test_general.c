// The engine that campaigns use on every machine finds, fault by fault, what the study's own engine finds.
// With a number as its argument: so many faults in each campaign.
#include "campaign/campaign.h"
#include "settle/settlers.h"
#include "flexgrip/study_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t faults_each = 60;

// ---- A configuration of the study as a target ------------------------------------------------------------------------
typedef struct Bench {
  Arena *arena;
  const StudyConfig *config;
  Golden *golden; // the study's
  Spec spec;
  Target target;
  Device *device;
  DeviceAddress memory;
  LaunchRequest request;
  const void *params[G80_MAX_PARAMS];
  uint64_t counts[OUTCOME_COUNT];
} Bench;

static const uint8_t *cells(const Bench *bench, const char *name) {
  const RegionTable *table = machine_regions(bench->golden->machine);
  return machine_block(bench->golden->machine) + table->items[region_find(table, name)].base;
}

static Program *compile(const StudyConfig *config, Diags *diags) {
  static const char *const texts[APP_COUNT] = {g80_vecadd_sass, g80_scalarprod_sass, g80_gray_sass, g80_nn_sass};
  const char *text = texts[config->app];
  SassProgram *sass = sass_assemble(study_app_name[config->app], text, strlen(text), diags);
  assert_non_null(sass);
  sass->blocks_per_core = config->blocks_per_core;
  return sass_to_program(sass);
}

static bool start(Target *target, const HookChain *hooks, Diags *diags) {
  Bench *bench = target->own;
  Program *program = compile(bench->config, diags);
  DeviceOptions options = {.spec = target->spec, .hooks = hooks, .address_bits = 32};
  bench->device = device_new(&options, diags);
  assert_non_null(bench->device);
  bench->request = (LaunchRequest){.module = device_load_program(bench->device, program, diags), .arguments = bench->params};
  assert_non_null(bench->request.module);
  bench->request.kernel = program->functions[0].name;
  bench->request.argument_count = program->functions[0].param_count;
  for (uint32_t i = 0; i < 2; i++) bench->request.grid[i] = bench->config->grid[i], bench->request.block[i] = bench->config->block[i];
  const uint8_t *words = cells(bench, "cfg_params");
  for (uint32_t i = 0; i < G80_MAX_PARAMS; i++) bench->params[i] = words + 4 * i;
  bench->memory = device_alloc(bench->device, G80_GLOBAL_BYTES);
  return device_write(bench->device, bench->memory, cells(bench, "global"), G80_GLOBAL_BYTES);
}

static bool run(Target *target) {
  Bench *bench = target->own;
  return device_launch(bench->device, &bench->request);
}

static void outputs(Target *target, TargetOutputs *all, Arena *arena) {
  Bench *bench = target->own;
  all->count = 1;
  all->items[0] = (TargetOutput){.name = "global", .type = ELEMENT_U32, .count = G80_GLOBAL_BYTES / 4, .address = bench->memory};
  all->items[0].bytes = arena_alloc(arena, G80_GLOBAL_BYTES);
  device_read(bench->device, all->items[0].bytes, bench->memory, G80_GLOBAL_BYTES);
}

static Device *device_of(Target *target) { return ((Bench *)target->own)->device; }

static void finish(Target *target) {
  Bench *bench = target->own;
  device_free(bench->device);
  bench->device = NULL;
}

static void set_up(Bench *bench, const StudyConfig *config, bool snapshots) {
  Diags diags = {0};
  *bench = (Bench){.arena = arena_new(), .config = config};
  bench->golden = golden_new(config, STRUCTURE_SCHEDULER, snapshots, &diags);
  assert_non_null(bench->golden);
  assert_true(spec_load(&bench->spec, bench->arena, "flexgrip-thesis", &diags));
  bench->spec.g80_sms = config->sms;
  bench->spec.g80_sps = config->sps == 32 ? 2 : config->sps == 16 ? 1 : 0;
  bench->spec.g80_cycle_limit = bench->golden->start + STUDY_LIMIT * bench->golden->result.cycles; // as the study's
  bench->target = (Target){.name = "study", .arguments = "", .spec = &bench->spec, .own = bench, .start = start, .run = run};
  bench->target.outputs = outputs;
  bench->target.device = device_of;
  bench->target.finish = finish;
}

static void tear_down(Bench *bench) {
  golden_free(bench->golden);
  arena_free(bench->arena);
}

// ---- Both engines ------------------------------------------------------------------------------------------------------
static Outcome outcome_there(StudyOutcome outcome) {
  static const Outcome same[STUDY_OUTCOMES] = {
      [EFFECT_MASKED] = OUTCOME_MASKED, [EFFECT_TIME] = OUTCOME_PERFORMANCE, [EFFECT_SDC] = OUTCOME_SDC,
      [EFFECT_SDC_TIME] = OUTCOME_SDC,  [EFFECT_HANG] = OUTCOME_DUE_HANG,    [EFFECT_TIMEOUT] = OUTCOME_TIMEOUT};
  return same[outcome];
}

static bool compare(void *context, const FaultRow *row) {
  Bench *bench = context;
  Diags diags = {0};
  Fault fault;
  const RegionTable *table = machine_regions(bench->golden->machine);
  assert_true(fault_parse(table, row->fault, &fault, &diags));
  StudyFault same = {.site = fault.site, .cycle = fault.from};
  if (fault_lasts(&fault)) same.model = fault.model == FAULT_STUCK1 ? MODEL_STUCK_1 : MODEL_STUCK_0;
  StudyFound found = {0};
  if (strncmp(table->items[fault.site.region].name, "bs_", 3) == 0) study_settle(bench->golden, &same, 1, 0, 1, &found);
  else found.outcome = (uint8_t)study_simulate(bench->golden, &same);
  if (row->outcome != outcome_there((StudyOutcome)found.outcome)) {
    fail_msg("%s: %s in a campaign, settled by %s; %s in the study", row->fault, outcome_info[row->outcome].name,
             settled_text[row->settled], study_outcome_name[found.outcome]);
  }
  bench->counts[row->outcome]++;
  diags_free(&diags);
  return true;
}

// How many faults were not masked.
static uint64_t check(const StudyConfig *config, const char *structures, const char *model) {
  Bench bench;
  Diags diags = {0};
  bool lasts = strcmp(model, "flip") != 0;
  set_up(&bench, config, !lasts);
  char path[] = P_tmpdir "/redoubt-general-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0 && close(file) == 0 && unlink(path) == 0);
  CampaignOptions options = {
      .settlers = all_settlers, .structures = structures, .model = model, .window = "all", .protection = "none", .confidence = 0.99};
  options.faults = faults_each;
  options.jobs = 2;
  options.shards = 1;
  options.timeout = 10;
  options.prune = options.snapshot = true;
  options.journal = path;
  if (lasts)
    options.window = arena_format(bench.arena, "cycles:%llu-%llu", (unsigned long long)bench.golden->start,
                                  (unsigned long long)bench.golden->start + 1); // the study's are there from the start
  if (campaign_run(&bench.target, &options, &diags) != CAMPAIGN_COMPLETE) fail_msg("%s", diags.count > 0 ? diags.items[0].text : "failed");
  Journal *journal = journal_read(path, &diags);
  assert_non_null(journal);
  assert_true(journal_each_fault(journal, compare, &bench));
  uint64_t all = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) all += bench.counts[i];
  assert_int_equal(all, faults_each);
  all -= bench.counts[OUTCOME_MASKED];
  journal_close(journal);
  assert_int_equal(unlink(path), 0);
  diags_free(&diags);
  tear_down(&bench);
  return all;
}

static void both_engines_agree(void **state) {
  (void)state;
  uint64_t effects = 0;
  effects += check(&study_configs[0], "bs", "flip");
  effects += check(&study_configs[3], "bs", "flip"); // two SMs
  effects += check(&study_configs[15], "bs", "flip");
  effects += check(&study_configs[2], "ctl,wu,wp", "flip");
  effects += check(&study_configs[2], "arb,fetch,decode,read,execute,write", "flip");
  effects += check(&study_configs[0], "bs", "stuck0");
  effects += check(&study_configs[2], "bs", "stuck1");
  effects += check(&study_configs[2], "ctl,wu,wp,arb,fetch,write", "stuck1");
  assert_true(effects > faults_each / 2);
}

int main(int argc, char **argv) {
  if (argc > 1) faults_each = strtoull(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_engines_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
