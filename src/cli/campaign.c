// redoubt campaign TARGET: faults injected until the answer is sure enough. What describes the target is as for `redoubt run`.
#include "campaign/campaign.h"
#include "campaign/statistics.h"
#include "cli/journal.h"
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_INTERRUPTED = 130 };

typedef struct CampaignRun {
  CampaignOptions options;
  RunOptions target;
  Arena *arena;
  bool show; // progress
  double began, shown;
  uint64_t began_done;
} CampaignRun;

// ---- Options ---------------------------------------------------------------------------------------

static bool number(const char *option, const char *text, double least, double most, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (end != text && *end == '\0' && *value >= least && *value <= most) return true;
  message_usage("campaign", "%s %s: must be a number from %g to %g", option, text, least, most);
  return false;
}

static bool count(const char *option, const char *text, uint64_t most, uint64_t *value) {
  double wanted;
  if (!number(option, text, 1, (double)most, &wanted)) return false;
  *value = (uint64_t)wanted;
  return true;
}

static bool parse_shard(CampaignOptions *options, const char *text) {
  int length = 0;
  bool good = sscanf(text, "%u/%u%n", &options->shard, &options->shards, &length) == 2 && text[length] == '\0';
  if (good && options->shards > 0 && options->shard < options->shards) return true;
  message_usage("campaign", "--shard %s: write I/N, with I from 0 to N-1", text);
  return false;
}

// 1: taken with its value, 0: taken alone, -1: not a campaign's option, -2: wrong.
static int take_option(CampaignRun *run, const char *name, const char *value) {
  CampaignOptions *o = &run->options;
  uint64_t jobs = 0;
  if (strcmp(name, "--no-prune") == 0) return o->prune = false, 0;
  if (strcmp(name, "--no-snapshot") == 0) return o->snapshot = false, 0;
  if (strcmp(name, "--progress") == 0) return run->show = true, 0;
  if (value == NULL) return -1;
  if (strcmp(name, "--structure") == 0) return o->structures = value, 1;
  if (strcmp(name, "--model") == 0) return o->model = value, 1;
  if (strcmp(name, "--window") == 0) return o->window = value, 1;
  if (strcmp(name, "-o") == 0) return o->journal = value, 1;
  if (strcmp(name, "--faults") == 0) return count(name, value, 1000000000, &o->faults) ? 1 : -2;
  if (strcmp(name, "--timeout") == 0) return count(name, value, 1000000, &o->timeout) ? 1 : -2;
  if (strcmp(name, "--margin") == 0) return number(name, value, 0.0001, 0.5, &o->margin) ? 1 : -2;
  if (strcmp(name, "--confidence") == 0) return number(name, value, 0.5, 0.99999, &o->confidence) ? 1 : -2;
  if (strcmp(name, "--shard") == 0) return parse_shard(o, value) ? 1 : -2;
  if (strcmp(name, "-j") != 0) return -1;
  if (!count(name, value, 256, &jobs)) return -2;
  o->jobs = (uint32_t)jobs;
  return 1;
}

// Takes the campaign's own options out of argv; the rest describes the target.
static bool parse(CampaignRun *run, int argc, char **argv) {
  char **rest = ARENA_ARRAY(run->arena, char *, argc + 1);
  int kept = 0;
  for (int i = 0; i < argc; i++) {
    int taken = i == 0 ? -1 : take_option(run, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    if (taken == -2) return false;
    if (taken == -1) rest[kept++] = argv[i];
    else i += taken;
  }
  return run_options_parse(&run->target, run->arena, kept, rest);
}

// ---- Progress --------------------------------------------------------------------------------------

// Ctrl-C stays pending until the campaign asks for it between two faults; simulations that run end by themselves.
static void hold_interrupts(void) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupts, NULL);
}

static bool was_interrupted(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

static bool on_progress(void *context, const CampaignProgress *progress) {
  CampaignRun *run = context;
  double now = host_seconds();
  if (run->began == 0 && progress->total > 0) run->began = now, run->began_done = progress->done;
  if (run->show && progress->total > 0 && (now - run->shown > 0.5 || progress->done == progress->total)) {
    run->shown = now;
    double rate = now > run->began ? (double)(progress->done - run->began_done) / (now - run->began) : 0;
    double left = rate > 0 ? (double)(progress->total - progress->done) / rate : 0;
    uint64_t masked = progress->counts[OUTCOME_MASKED] + progress->counts[OUTCOME_PERFORMANCE] + progress->counts[OUTCOME_CORRECTED];
    Interval avf = wilson_interval(progress->done - masked, progress->done, run->options.confidence);
    fprintf(stderr, "\r\033[K%llu of %llu faults, %.0f/s, %.0f s left, AVF %.2f%% to %.2f%%", (unsigned long long)progress->done,
            (unsigned long long)progress->total, rate, left, 100 * avf.low, 100 * avf.high);
  }
  return !was_interrupted();
}

// ---- The command -----------------------------------------------------------------------------------

static const char *journal_name(CampaignRun *run) {
  return arena_format(run->arena, "%s-%s.db", run->target.target, run->target.spec.machine);
}

static Target *make_target(CampaignRun *run, Diags *diags) {
  const RunOptions *target = &run->target;
  const Workload *workload = workload_find(target->target);
  if (workload == NULL) {
    diags_add(diags, NULL, 0, 0, "no workload '%s'; 'redoubt list workloads' shows all", target->target);
    return NULL;
  }
  const char **params = ARENA_ARRAY(run->arena, const char *, target->params.count + 1);
  for (uint32_t i = 0; i < target->params.count; i++) {
    params[i] = arena_format(run->arena, "%s=%s", target->params.items[i].key, target->params.items[i].value);
  }
  WorkloadChoice choice = {workload, target->size, params, target->params.count, target->seed};
  return target_workload(run->arena, &choice, &target->spec, diags);
}

static int end_code(const CampaignRun *run, CampaignEnd end, Diags *diags) {
  if (run->show) fputc('\n', stderr);
  switch (end) {
  case CAMPAIGN_COMPLETE: return report_print(run->options.journal, run->options.confidence, diags) ? EXIT_OK : message_diags(diags);
  case CAMPAIGN_STOPPED:
    message_error("stopped; everything reported done is in %s: run the same command again to go on", run->options.journal);
    return EXIT_INTERRUPTED;
  case CAMPAIGN_INTERNAL:
    message_error("INTERNAL ERROR: some simulations failed in Redoubt itself, not by their fault; %s names them", run->options.journal);
    return EXIT_INTERNAL;
  default: return message_diags(diags);
  }
}

int command_campaign(int argc, char **argv) {
  CampaignRun *run = calloc(1, sizeof *run);
  ASSERT(run != NULL);
  run->arena = arena_new();
  run->show = isatty(STDERR_FILENO) != 0;
  run->options = (CampaignOptions){.structures = "rf", .model = "flip", .window = "all", .protection = "none", .confidence = 0.99};
  CampaignOptions *options = &run->options;
  options->seed = 1;
  options->jobs = (uint32_t)max_u64((uint64_t)sysconf(_SC_NPROCESSORS_ONLN), 1);
  options->shards = 1;
  options->timeout = 10;
  options->prune = options->snapshot = true;
  options->progress = on_progress;
  options->context = run;
  int code = EXIT_BAD_INPUT;
  Diags diags = {0};
  Attachments attachments = {0};
  if (parse(run, argc, argv) && !run->target.help) {
    if (run->target.target == NULL) {
      code = message_usage("campaign", "nothing to run: name a workload");
    } else if (attachments_open(&attachments, &run->target.wishes, &diags)) {
      if (run->target.wishes.protections != NULL) options->protection = run->target.wishes.protections;
      options->protections = &attachments.chain;
      options->seed = run->target.seed;
      if (options->journal == NULL) options->journal = journal_name(run);
      if (options->faults == 0 && options->margin == 0) options->margin = 0.01;
      hold_interrupts();
      Target *target = make_target(run, &diags);
      code = target == NULL ? message_diags(&diags) : end_code(run, campaign_run(target, options, &diags), &diags);
      attachments_close(&attachments, &diags);
    } else {
      code = message_diags(&diags);
    }
  }
  arena_free(run->arena);
  free(run);
  return code;
}
