// The whole study: fault-free runs of Tables 1 and 2, then the campaigns.
#include "flexgrip/study_internal.h"

static const struct {
  uint32_t sms, blocks, threads;
  uint64_t ns;
} timed_rows[STUDY_TIMED] = {
#define TIMED(sms, blocks, threads, ns) {sms, blocks, threads, ns},
#include "flexgrip/thesis.def"
#undef TIMED
};
static const struct {
  uint32_t sms, blocks, threads, threads_per_sm;
  bool consistent;
} limit_rows[STUDY_LIMITS] = {
#define LIMIT(sms, blocks, threads, per_sm, consistent) {sms, blocks, threads, per_sm, consistent},
#include "flexgrip/thesis.def"
#undef LIMIT
};

enum { LIMIT_GPRS = 8, TIMED_BLOCKS_PER_CORE = 8, SPS = 8, CYCLES_AT_MOST = 10000000 };

static bool run_timed(Study *study, uint32_t i, Diags *diags) {
  StudyTimed *row = &study->timed[i];
  row->config =
      (StudyConfig){.app = APP_VECADD, .sms = timed_rows[i].sms, .grid = {timed_rows[i].blocks, 1}, .block = {timed_rows[i].threads, 1}};
  row->config.blocks_per_core = TIMED_BLOCKS_PER_CORE;
  row->config.sps = SPS;
  row->config.end_ns = timed_rows[i].ns;
  Machine *machine = study_machine(&row->config, CYCLES_AT_MOST, diags);
  if (machine == NULL) return false;
  machine_run(machine, G80_NEVER);
  G80Result result;
  g80_result(machine, &result);
  row->ns = result.kernel_done_ns;
  machine_free(machine);
  return true;
}

static bool run_limit(Study *study, uint32_t i, Diags *diags) {
  StudyLimit *row = &study->limits[i];
  row->config =
      (StudyConfig){.app = APP_VECADD, .sms = limit_rows[i].sms, .grid = {limit_rows[i].blocks, 1}, .block = {limit_rows[i].threads, 1}};
  row->threads_per_sm = limit_rows[i].threads_per_sm;
  row->published = limit_rows[i].consistent;
  row->config.blocks_per_core = row->threads_per_sm / row->config.block[0];
  row->config.sps = SPS;
  row->config.gprs = LIMIT_GPRS;
  for (uint32_t thesis = 0; thesis < 2; thesis++) {
    row->config.thesis_registers = thesis != 0;
    Machine *machine = study_machine(&row->config, CYCLES_AT_MOST, diags);
    if (machine == NULL) return false;
    machine_run(machine, G80_NEVER);
    *(thesis != 0 ? &row->thesis : &row->mended) = study_vecadd_right(&row->config, machine);
    machine_free(machine);
  }
  return true;
}

double study_mtbf(const StudyCampaign *campaign, double share) { return (double)golden_result(campaign->golden)->cycles / share; }

Study *study_new(const StudyOptions *options, Diags *diags) {
  Arena *arena = arena_new();
  Study *study = ARENA_NEW(arena, Study);
  study->arena = arena;
  study->seed = options->seed;
  study->confidence = options->confidence;
  bool good = true;
  for (uint32_t i = 0; i < STUDY_TIMED && good; i++) good = run_timed(study, i, diags);
  for (uint32_t i = 0; i < STUDY_LIMITS && good; i++) good = run_limit(study, i, diags);
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    StudyCampaign *campaign = &study->campaigns[i];
    campaign->config = study_configs[i];
    campaign->structure = STRUCTURE_SCHEDULER;
    campaign->faults = options->faults;
    campaign->stream = random_draw(options->seed, i, 0);
  }
  good = good && study_run(study->campaigns, STUDY_CAMPAIGNS, options->workers, diags);
  if (good) {
    study_judge(study);
    return study;
  }
  study_free(study);
  return NULL;
}

void study_free(Study *study) {
  if (study == NULL) return;
  study_campaigns_free(study->campaigns, STUDY_CAMPAIGNS);
  arena_free(study->arena);
}
