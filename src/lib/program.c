// Programs of the library: what is run, a run without faults, a run with one, and campaigns.
#include "lib/lib_internal.h"

#include "campaign/campaign.h"
#include "settle/settlers.h"
#include "explain/explain.h"

#include <stdlib.h>

RedoubtProgram *lib_program_new(const RedoubtMachine *machine, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(machine, "machine", error)) return NULL;
  Diags diags = {0};
  if (!spec_check(&machine->spec, NULL, &diags)) return lib_fail(error, &diags), NULL;
  Arena *arena = arena_new();
  RedoubtProgram *program = ARENA_NEW(arena, RedoubtProgram);
  program->arena = arena;
  program->spec = machine->spec;
  program->spec.machine = arena_copy_text(arena, machine->spec.machine, strlen(machine->spec.machine));
  const char *protections = machine->protections;
  if (protections != NULL) program->protections = arena_copy_text(arena, protections, strlen(protections));
  return program;
}

void redoubt_program_close(RedoubtProgram *program) {
  if (program == NULL) return;
  arena_free(program->run);
  arena_free(program->injection);
  arena_free(program->arena);
}

// ---- Workloads -------------------------------------------------------------------------------------

static bool find_size(const char *text, WorkloadSize *size) {
  for (uint32_t i = 0; i < SIZE_COUNT; i++) {
    if (strcmp(workload_size_text[i], text) != 0) continue;
    *size = (WorkloadSize)i;
    return true;
  }
  return false;
}

// "n=64 m=3" as words.
static void split_params(WorkloadChoice *choice, Arena *arena, const char *params) {
  const char **words = ARENA_ARRAY(arena, const char *, strlen(params) / 2 + 1);
  for (const char *word = params + strspn(params, " "); *word != '\0';) {
    size_t length = strcspn(word, " ");
    words[choice->param_count++] = arena_copy_text(arena, word, length);
    word += length + strspn(word + length, " ");
  }
  choice->params = words;
}

static const Workload *find_workload(const char *name, RedoubtError *error) {
  const Workload *found = workload_find(name);
  if (found != NULL) return found;
  const char *names[256];
  uint32_t count = min_u32(workload_count, (uint32_t)COUNT_OF(names));
  for (uint32_t i = 0; i < count; i++) names[i] = workloads[i]->name;
  const char *near = text_nearest(name, names, count);
  if (near == NULL) lib_fail_text(error, "no workload '%s'", name);
  else lib_fail_text(error, "no workload '%s'; did you mean '%s'?", name, near);
  return NULL;
}

// Whether it can be started at all, so that wrong parameters are told when it is opened.
static bool starts(RedoubtProgram *program, Diags *diags) {
  HookChain none = {0};
  bool good = program->target->start(program->target, &none, diags);
  program->target->finish(program->target);
  return good;
}

RedoubtProgram *redoubt_workload_open(const RedoubtMachine *machine, const char *name, const char *size, const char *params, uint64_t seed,
                                      RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(name, "name", error) || !lib_given(size, "size", error)) return NULL;
  RedoubtProgram *program = lib_program_new(machine, error);
  if (program == NULL) return NULL;
  Diags diags = {0};
  WorkloadChoice choice = {.workload = find_workload(name, error), .seed = seed};
  bool good = choice.workload != NULL;
  if (good && !find_size(size, &choice.size)) good = lib_fail_text(error, "size '%s': must be tiny, small, default or large", size);
  if (good && params != NULL) split_params(&choice, program->arena, params);
  if (good) program->target = target_workload(program->arena, &choice, &program->spec, &diags);
  if (good && (program->target == NULL || !starts(program, &diags))) good = lib_fail(error, &diags);
  diags_free(&diags);
  if (good) return program;
  redoubt_program_close(program);
  return NULL;
}

RedoubtProgram *redoubt_ptx_open(const RedoubtMachine *machine, const char *name, const char *text, const RedoubtLaunch *launch,
                                 RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(name, "name", error) || !lib_given(text, "text", error) || !lib_given(launch, "launch", error)) return NULL;
  RedoubtProgram *program = lib_program_new(machine, error);
  if (program == NULL) return NULL;
  Diags diags = {0};
  bool good = launch->size >= sizeof(RedoubtLaunch) || lib_fail_text(error, "RedoubtLaunch.size is not set");
  if (good) program->target = lib_ptx_target(program, name, text, launch, &diags);
  if (good && (program->target == NULL || !starts(program, &diags))) good = lib_fail(error, &diags);
  diags_free(&diags);
  if (good) return program;
  redoubt_program_close(program);
  return NULL;
}

// ---- A run without faults --------------------------------------------------------------------------

static void read_run(RedoubtProgram *program, bool done, RedoubtRun *run) {
  Target *target = program->target;
  Device *device = target->device(target);
  *run = (RedoubtRun){.trapped = !done, .launches = device_launch_count(device), .note = ""};
  for (uint32_t i = 0; i < run->launches; i++) {
    const Stats *stats = &device_launch_record(device, i)->stats;
    run->cycles += stats->value[STAT_CYCLES];
    run->thread_instructions += stats->value[STAT_THREAD_INSTRUCTIONS];
    run->warp_instructions += stats->value[STAT_WARP_INSTRUCTIONS];
  }
  if (!done) {
    const char *why = device_error(device);
    run->note = arena_copy_text(program->run, why, strlen(why));
  }
  run->passed = done && target->check(target);
  target->outputs(target, &program->outputs, program->run);
}

bool redoubt_run(RedoubtProgram *program, RedoubtRun *run, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(program, "program", error) || !lib_given(run, "run", error)) return false;
  *run = (RedoubtRun){.note = ""};
  arena_free(program->run);
  program->run = arena_new();
  program->outputs.count = 0;
  Diags diags = {0};
  Attachments attachments;
  AttachmentWishes wishes = {.protections = program->protections};
  if (!attachments_open(&attachments, &wishes, &diags)) return lib_fail(error, &diags);
  Target *target = program->target;
  bool good = target->start(target, &attachments.chain, &diags);
  if (good) read_run(program, target->run(target), run);
  else lib_fail(error, &diags);
  target->finish(target);
  attachments_close(&attachments, &diags);
  diags_free(&diags);
  return good;
}

uint32_t redoubt_output_count(const RedoubtProgram *program) { return program == NULL ? 0 : program->outputs.count; }

bool redoubt_output(const RedoubtProgram *program, uint32_t index, RedoubtOutput *output) {
  if (output == NULL || index >= redoubt_output_count(program)) return false;
  const TargetOutput *from = &program->outputs.items[index];
  *output = (RedoubtOutput){
      .name = from->name, .type = element_names[from->type], .data = from->bytes, .count = from->count, .width = from->width};
  return true;
}

// ---- One fault -------------------------------------------------------------------------------------

static void copy_outcome(RedoubtProgram *program, const FaultRun *run, bool explain, RedoubtOutcome *outcome) {
  const Judgement *judgement = &run->judgement;
  const OutcomeInfo *info = &outcome_info[judgement->outcome];
  Text why = {0};
  if (explain) explanation_format(run, &why);
  *outcome = (RedoubtOutcome){.name = info->name,
                              .group = info->group,
                              .meaning = info->meaning,
                              .note = arena_copy_text(program->injection, judgement->note, strlen(judgement->note)),
                              .why = why.at == NULL ? "" : arena_copy_text(program->injection, why.at, why.length),
                              .cycles = judgement->cycles,
                              .fault_free_cycles = run->golden_cycles,
                              .wrong_elements = judgement->wrong,
                              .largest_error = judgement->worst};
  text_free(&why);
}

bool redoubt_inject(RedoubtProgram *program, const char *fault, bool explain, RedoubtOutcome *outcome, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(program, "program", error) || !lib_given(fault, "fault", error) || !lib_given(outcome, "outcome", error)) return false;
  arena_free(program->injection);
  program->injection = arena_new();
  Diags diags = {0};
  Attachments attachments;
  AttachmentWishes wishes = {.protections = program->protections};
  if (!attachments_open(&attachments, &wishes, &diags)) return lib_fail(error, &diags);
  FaultRunOptions options = {.protections = &attachments.chain, .faults = &fault, .fault_count = 1, .timeout = 10, .explain = explain};
  FaultRun *run = ARENA_NEW(program->injection, FaultRun);
  bool good = fault_run(program->target, &options, program->injection, run, &diags);
  if (good && run->judgement.outcome == OUTCOME_INTERNAL)
    good = diags_add(&diags, NULL, 0, 0, "the simulation failed in Redoubt itself: %s", run->judgement.note);
  if (good) copy_outcome(program, run, explain, outcome);
  else lib_fail(error, &diags);
  attachments_close(&attachments, &diags);
  diags_free(&diags);
  return good;
}

// ---- Campaigns -------------------------------------------------------------------------------------

static bool told(void *context, const CampaignProgress *progress) {
  const RedoubtCampaign *campaign = context;
  return campaign->progress == NULL || campaign->progress(campaign->context, progress->done, progress->total);
}

static const char *text_or(const char *text, const char *otherwise) { return text == NULL ? otherwise : text; }

static CampaignOptions campaign_options(const RedoubtProgram *program, RedoubtCampaign *campaign) {
  CampaignOptions options = campaign_defaults();
  options.settlers = all_settlers;
  options.structures = text_or(campaign->structures, options.structures);
  options.model = text_or(campaign->model, options.model);
  options.window = text_or(campaign->window, options.window);
  options.protection = text_or(program->protections, options.protection);
  options.faults = campaign->faults;
  options.margin = campaign->margin;
  if (campaign->confidence != 0) options.confidence = campaign->confidence;
  options.seed = campaign->seed;
  if (campaign->jobs != 0) options.jobs = campaign->jobs;
  options.journal = campaign->journal;
  options.origin = (CampaignOrigin){.version = redoubt_version(), .command = "libredoubt"};
  options.progress = told;
  options.context = campaign;
  return options;
}

RedoubtEnd redoubt_campaign(RedoubtProgram *program, const RedoubtCampaign *campaign, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(program, "program", error) || !lib_given(campaign, "campaign", error)) return REDOUBT_FAILED;
  RedoubtCampaign wishes = *campaign;
  if (campaign->size < sizeof *campaign || campaign->journal == NULL)
    return lib_fail_text(error, "RedoubtCampaign.size and .journal must be set"), REDOUBT_FAILED;
  CampaignOptions options = campaign_options(program, &wishes);
  Diags diags = {0};
  Attachments attachments;
  AttachmentWishes protections = {.protections = program->protections};
  if (!attachments_open(&attachments, &protections, &diags)) return lib_fail(error, &diags), REDOUBT_FAILED;
  options.protections = &attachments.chain;
  CampaignEnd end = campaign_run(program->target, &options, &diags);
  if (end == CAMPAIGN_INTERNAL)
    diags_add(&diags, NULL, 0, 0, "some simulations failed in Redoubt itself; %s says which", campaign->journal);
  if (end == CAMPAIGN_FAILED || end == CAMPAIGN_DIFFERS || end == CAMPAIGN_INTERNAL) lib_fail(error, &diags);
  attachments_close(&attachments, &diags);
  diags_free(&diags);
  return end == CAMPAIGN_COMPLETE ? REDOUBT_COMPLETE : end == CAMPAIGN_STOPPED ? REDOUBT_STOPPED : REDOUBT_FAILED;
}
