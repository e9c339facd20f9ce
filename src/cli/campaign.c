// redoubt campaign TARGET: faults injected until the answer is sure enough. What describes the target is as for `redoubt run`.
#include "campaign/app.h"
#include "campaign/campaign.h"
#include "campaign/statistics.h"
#include "cli/fault.h"
#include "cli/app.h"
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
  const char *outputs[APP_MOST_OUTPUTS]; // files that an application writes
  uint32_t output_count;
  const char *library;               // folder of the CUDA runtime
  bool show;                         // progress
  uint32_t lines;                    // of progress on the screen
  double began, faults_began, shown; // host seconds
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

static bool take_jobs(CampaignOptions *options, const char *text) {
  uint64_t jobs = 0;
  if (!count("-j", text, 256, &jobs)) return false;
  options->jobs = (uint32_t)jobs;
  return true;
}

static bool take_output(CampaignRun *run, const char *path) {
  if (run->output_count < COUNT_OF(run->outputs)) return run->outputs[run->output_count++] = path, true;
  message_usage("campaign", "--output %s: at most %d files", path, APP_MOST_OUTPUTS);
  return false;
}

// 1: taken with its value, 0: taken alone, -1: not a campaign's option, -2: wrong.
static int take_option(CampaignRun *run, const char *name, const char *value) {
  CampaignOptions *o = &run->options;
  if (strcmp(name, "--no-prune") == 0) return o->prune = false, 0;
  if (strcmp(name, "--no-snapshot") == 0) return o->snapshot = false, 0;
  if (strcmp(name, "--progress") == 0) return run->show = true, 0;
  if (strncmp(name, "-j", 2) == 0 && name[2] != '\0') return take_jobs(o, name + 2) ? 0 : -2;
  if (value == NULL) return -1;
  if (strcmp(name, "--structure") == 0) return o->structures = value, 1;
  if (strcmp(name, "--model") == 0) return o->model = value, 1;
  if (strcmp(name, "--window") == 0) return o->window = value, 1;
  if (strcmp(name, "-o") == 0) return o->journal = value, 1;
  if (strcmp(name, "--output") == 0) return take_output(run, value) ? 1 : -2;
  if (strcmp(name, "--faults") == 0) return count(name, value, 1000000000, &o->faults) ? 1 : -2;
  if (strcmp(name, "--timeout") == 0) return count(name, value, 1000000, &o->timeout) ? 1 : -2;
  if (strcmp(name, "--margin") == 0) return number(name, value, 0.0001, 0.5, &o->margin) ? 1 : -2;
  if (strcmp(name, "--confidence") == 0) return number(name, value, 0.5, 0.99999, &o->confidence) ? 1 : -2;
  if (strcmp(name, "--shard") == 0) return parse_shard(o, value) ? 1 : -2;
  if (strcmp(name, "-j") == 0) return take_jobs(o, value) ? 1 : -2;
  return -1;
}

// Takes the campaign's own options out of argv; the rest describes the target.
static bool parse(CampaignRun *run, int argc, char **argv) {
  char **rest = ARENA_ARRAY(run->arena, char *, argc + 1);
  int kept = 0;
  bool own = true; // what follows "--" is an application's
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) own = false;
    int taken = i == 0 || !own ? -1 : take_option(run, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
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

static const char *target_name(const CampaignRun *run) {
  return run->target.application != NULL ? run->target.application[0] : run->target.target;
}

// What the campaign will cost: said once, before the first simulation.
static void say_estimate(CampaignRun *run, const CampaignProgress *progress, double now) {
  const CampaignOptions *o = &run->options;
  uint64_t left = progress->total - progress->done;
  double golden = (now - run->began) / (o->prune ? 2 : 1), share = o->snapshot ? 0.5 : 1;
  double seconds = (double)progress->simulations * golden * share / o->jobs;
  fprintf(stderr,
          "%s: %llu cycles, %.2f s for a run without faults; %llu faults, of which about %llu (%.1f%%) need a simulation: about %.0f s\n",
          target_name(run), (unsigned long long)progress->golden_cycles, golden, (unsigned long long)left,
          (unsigned long long)progress->simulations, left == 0 ? 0 : 100 * (double)progress->simulations / (double)left, seconds);
}

// One line for each group of outcomes that has been seen, with its interval.
static void show_outcomes(CampaignRun *run, const CampaignProgress *progress) {
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    bool is_first = true;
    uint64_t hits = 0;
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      if (strcmp(outcome_info[k].group, outcome_info[i].group) != 0) continue;
      is_first = is_first && k >= i;
      hits += progress->counts[k];
    }
    if (!is_first || hits == 0) continue;
    Interval interval = wilson_interval(hits, progress->done, run->options.confidence);
    fprintf(stderr, "\033[K  %-12s %10llu %8.2f%%  (%.2f to %.2f)\n", outcome_info[i].group, (unsigned long long)hits,
            100 * (double)hits / (double)progress->done, 100 * interval.low, 100 * interval.high);
    run->lines++;
  }
}

static void show_progress(CampaignRun *run, const CampaignProgress *progress, double now) {
  double rate = now > run->faults_began ? (double)(progress->done - run->began_done) / (now - run->faults_began) : 0;
  double left = rate > 0 ? (double)(progress->total - progress->done) / rate : 0;
  if (run->lines > 0) fprintf(stderr, "\033[%uA", run->lines);
  run->lines = 1;
  fprintf(stderr, "\r\033[K%llu of %llu faults, %.0f/s, %.0f s left\n", (unsigned long long)progress->done,
          (unsigned long long)progress->total, rate, left);
  show_outcomes(run, progress);
}

static bool on_progress(void *context, const CampaignProgress *progress) {
  CampaignRun *run = context;
  double now = host_seconds();
  if (run->began == 0) run->began = now;
  if (progress->total > 0 && run->faults_began == 0) {
    run->faults_began = now;
    run->began_done = progress->done;
    say_estimate(run, progress, now);
  }
  if (run->show && progress->done > 0 && (now - run->shown > 0.5 || progress->done == progress->total)) {
    run->shown = now;
    show_progress(run, progress, now);
  }
  return !was_interrupted();
}

// ---- The command -----------------------------------------------------------------------------------

static const char *journal_name(CampaignRun *run) {
  const char *name = target_name(run), *slash = strrchr(name, '/');
  return arena_format(run->arena, "%s-%s.db", slash == NULL ? name : slash + 1, run->target.spec.machine);
}

// In an application's process.
static void prepare_application(void *context, const char *exchange) {
  CampaignRun *run = context;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGINT, SIG_IGN); // Ctrl-C is for the campaign, which lets it end
  app_environment(&run->target, run->arena, run->library, NULL);
  setenv(APP_EXCHANGE, exchange, 1);
}

static Target *make_application(CampaignRun *run, Diags *diags) {
  run->library = app_library_folder(run->arena);
  if (run->library == NULL) {
    diags_add(diags, NULL, 0, 0, "Redoubt's CUDA runtime library (cudart/libcudart.so.13) is not beside the redoubt command");
    return NULL;
  }
  AppChoice choice = {.arguments = run->target.application,
                      .outputs = run->outputs,
                      .output_count = run->output_count,
                      .protections = run->options.protections,
                      .prepare = prepare_application,
                      .context = run};
  return target_app(run->arena, &choice, &run->target.spec, diags);
}

static Target *unknown_workload(const char *name, Diags *diags) {
  const char *names[64];
  uint32_t known = min_u32(workload_count, COUNT_OF(names));
  for (uint32_t i = 0; i < known; i++) names[i] = workloads[i]->name;
  const char *near = text_nearest(name, names, known);
  if (near != NULL) diags_add(diags, NULL, 0, 0, "no workload '%s'; did you mean '%s'?", name, near);
  else diags_add(diags, NULL, 0, 0, "no workload '%s'; 'redoubt list workloads' shows all", name);
  return NULL;
}

static Target *make_target(CampaignRun *run, Diags *diags) {
  const RunOptions *target = &run->target;
  bool is_workload = workload_find(target->target) != NULL;
  if (!is_workload && !is_ptx_file(target->target)) return unknown_workload(target->target, diags);
  return run_as_target(target, run->arena, diags);
}

// Failures of Redoubt itself, one by one: the first few.
typedef struct Failures {
  uint64_t count;
} Failures;
enum { FAILURES_SHOWN = 10 };

static bool show_failure(void *context, const FaultRow *row) {
  Failures *failures = context;
  if (row->outcome != OUTCOME_INTERNAL) return true;
  if (failures->count++ < FAILURES_SHOWN)
    message_error("INTERNAL ERROR: fault %llu, %s: %s", (unsigned long long)row->id, row->fault, row->note);
  return true;
}

static int internal_end(const CampaignRun *run) {
  Diags ignored = {0};
  Failures failures = {0};
  Journal *journal = journal_read(run->options.journal, &ignored);
  if (journal != NULL) journal_each_fault(journal, show_failure, &failures);
  journal_close(journal);
  diags_free(&ignored);
  message_error("INTERNAL ERROR: %llu simulations failed in Redoubt itself, not by their fault: no figure of this campaign can be trusted. "
                "They are in %s and are tried again by the same command; please report them",
                (unsigned long long)failures.count, run->options.journal);
  return EXIT_INTERNAL;
}

static int end_code(const CampaignRun *run, CampaignEnd end, Diags *diags) {
  switch (end) {
  case CAMPAIGN_COMPLETE: return report_print(run->options.journal, run->options.confidence, diags) ? EXIT_OK : message_diags(diags);
  case CAMPAIGN_STOPPED:
    message_error("stopped; everything reported done is in %s: run the same command again to go on", run->options.journal);
    return EXIT_INTERRUPTED;
  case CAMPAIGN_INTERNAL: return internal_end(run);
  default: return message_diags(diags);
  }
}

static void set_defaults(CampaignRun *run) {
  run->arena = arena_new();
  run->show = isatty(STDERR_FILENO) != 0;
  run->options = (CampaignOptions){.structures = "rf", .model = "flip", .window = "all", .protection = "none", .confidence = 0.99};
  run->options.jobs = (uint32_t)max_u64((uint64_t)sysconf(_SC_NPROCESSORS_ONLN), 1);
  run->options.shards = 1;
  run->options.timeout = 10;
  run->options.prune = run->options.snapshot = true;
  run->options.progress = on_progress;
  run->options.context = run;
}

static int run_campaign(CampaignRun *run) {
  CampaignOptions *options = &run->options;
  Diags diags = {0};
  Attachments attachments = {0};
  bool is_application = run->target.application != NULL && run->target.application[0] != NULL;
  if (is_application && run->target.target != NULL)
    return message_usage("campaign", "one target at a time, not '%s' and an application", run->target.target);
  if (!is_application && run->target.target == NULL)
    return message_usage("campaign", "nothing to run: name a workload, or an application after --");
  if (!attachments_open(&attachments, &run->target.wishes, &diags)) return message_diags(&diags);
  if (run->target.wishes.protections != NULL) options->protection = run->target.wishes.protections;
  options->protections = &attachments.chain;
  options->seed = run->target.seed;
  if (options->journal == NULL) options->journal = journal_name(run);
  if (options->faults == 0 && options->margin == 0) options->margin = 0.01;
  hold_interrupts();
  Target *target = is_application ? make_application(run, &diags) : make_target(run, &diags);
  int code = target == NULL ? message_diags(&diags) : end_code(run, campaign_run(target, options, &diags), &diags);
  if (is_application) target_app_free(target);
  attachments_close(&attachments, &diags);
  return code;
}

int command_campaign(int argc, char **argv) {
  CampaignRun *run = calloc(1, sizeof *run);
  ASSERT(run != NULL);
  set_defaults(run);
  int code = EXIT_BAD_INPUT;
  if (parse(run, argc, argv)) {
    if (run->target.help) help_campaign();
    code = run->target.help ? EXIT_OK : run_campaign(run);
  }
  arena_free(run->arena);
  free(run);
  return code;
}
