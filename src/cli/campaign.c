// redoubt campaign TARGET: faults injected until the answer is sure enough. What describes the target is as for `redoubt run`.
#include "campaign/app.h"
#include "campaign/campaign.h"
#include "cli/fault.h"
#include "cli/app.h"
#include "cli/journal.h"
#include "cli/progress.h"
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
  bool has_seed; // of the faults; else it is that of the inputs
  Arena *arena;
  ProgressScreen screen;
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

static bool take_seed(CampaignRun *run, const char *text) {
  char *end;
  errno = 0;
  run->options.seed = strtoull(text, &end, 10);
  run->has_seed = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
  if (!run->has_seed) message_usage("campaign", "--fault-seed %s: must be a whole number", text);
  return run->has_seed;
}

// 1: taken with its value, 0: taken alone, -1: not a campaign's option, -2: wrong.
static int take_option(CampaignRun *run, const char *name, const char *value) {
  CampaignOptions *o = &run->options;
  if (strcmp(name, "--no-prune") == 0) return o->prune = false, 0;
  if (strcmp(name, "--no-snapshot") == 0) return o->snapshot = false, 0;
  if (strcmp(name, "--progress") == 0) return run->screen.wanted = true, 0;
  if (strncmp(name, "-j", 2) == 0 && name[2] != '\0') return take_jobs(o, name + 2) ? 0 : -2;
  if (value == NULL) return -1;
  if (strcmp(name, "--structure") == 0) return o->structures = value, 1;
  if (strcmp(name, "--model") == 0) return o->model = value, 1;
  if (strcmp(name, "--window") == 0) return o->window = value, 1;
  if (strcmp(name, "-o") == 0) return o->journal = value, 1;
  if (strcmp(name, "--faults") == 0) return count(name, value, 1000000000, &o->faults) ? 1 : -2;
  if (strcmp(name, "--timeout") == 0) return count(name, value, 1000000, &o->timeout) ? 1 : -2;
  if (strcmp(name, "--margin") == 0) return number(name, value, 0.0001, 0.5, &o->margin) ? 1 : -2;
  if (strcmp(name, "--confidence") == 0) return number(name, value, 0.5, 0.99999, &o->confidence) ? 1 : -2;
  if (strcmp(name, "--fault-seed") == 0) return take_seed(run, value) ? 1 : -2;
  if (strcmp(name, "--shard") == 0) return parse_shard(o, value) ? 1 : -2;
  if (strcmp(name, "-j") == 0) return take_jobs(o, value) ? 1 : -2;
  return -1;
}

// What of 'redoubt run' describes a target, and what does not go with a campaign.
static const char *const target_options[] = {"--size",   "--param",       "--seed",          "--kernel",          "--grid", "--block",
                                             "--shared", "--cooperative", "--arg",           "--machine",         "--set",  "--protect",
                                             "--output", "--help",        "--max-registers", "--max-instructions"};
static const char *const other_options[] = {"--dump",  "--json",    "--csv",     "--stats",    "--trace",   "--trace-cycles", "--repeat",
                                            "--fault", "--explain", "--gmem-in", "--gmem-out", "--cmem-in", "--cmem-bytes"};
static const char *const own_options[] = {"--structure",  "--model", "--window",     "--faults",   "--timeout",     "--margin",
                                          "--confidence", "--shard", "--fault-seed", "--no-prune", "--no-snapshot", "--progress"};

static bool is_one_of(const char *name, const char *const *names, size_t count) {
  size_t i = 0;
  while (i < count && strcmp(names[i], name) != 0) i++;
  return i < count;
}

// Something that 'redoubt run' will take, as far as the name goes.
static bool check_name(const char *name) {
  if (strncmp(name, "--", 2) != 0 || name[2] == '\0' || is_one_of(name, target_options, COUNT_OF(target_options))) return true;
  if (is_one_of(name, other_options, COUNT_OF(other_options))) {
    message_usage("campaign", "%s is for 'redoubt run'; 'redoubt report' shows what a campaign has found", name);
    return false;
  }
  if (is_one_of(name, own_options, COUNT_OF(own_options))) {
    message_usage("campaign", "option '%s' needs a value", name);
    return false;
  }
  const char *names[COUNT_OF(target_options) + COUNT_OF(own_options)];
  memcpy(names, target_options, sizeof target_options);
  memcpy(names + COUNT_OF(target_options), own_options, sizeof own_options);
  const char *near = text_nearest(name, names, COUNT_OF(names));
  if (near != NULL) message_usage("campaign", "unknown option '%s'; did you mean '%s'?", name, near);
  else message_usage("campaign", "unknown option '%s'", name);
  return false;
}

// Takes the campaign's own options out of argv; the rest describes the target.
static bool parse(CampaignRun *run, int argc, char **argv) {
  char **rest = ARENA_ARRAY(run->arena, char *, argc + 1);
  int kept = 0;
  bool own = true; // what follows "--" is an application's
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--") == 0) own = false;
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL, *equals = strchr(name, '=');
    bool is_joined = own && strncmp(name, "--", 2) == 0 && equals != NULL; // --faults=100
    if (is_joined) name = arena_copy_text(run->arena, name, (size_t)(equals - name)), value = equals + 1;
    int taken = i == 0 || !own ? -1 : take_option(run, name, value);
    if (taken == -2 || (taken == -1 && i > 0 && own && !check_name(name))) return false;
    if (taken == -1) rest[kept++] = argv[i];
    else if (!is_joined) i += taken;
  }
  return run_options_parse(&run->target, run->arena, kept, rest);
}

static const char *target_name(const CampaignRun *run) {
  return run->target.application != NULL ? run->target.application[0] : run->target.target;
}

// ---- The command -----------------------------------------------------------------------------------

static const char *journal_name(CampaignRun *run) {
  const char *name = target_name(run), *slash = strrchr(name, '/');
  return arena_format(run->arena, "%s-%s.db", slash == NULL ? name : slash + 1, run->target.spec.machine);
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

static void say_internal(const CampaignRun *run) {
  Diags ignored = {0};
  Failures failures = {0};
  Journal *journal = journal_read(run->options.journal, &ignored);
  if (journal != NULL) journal_each_fault(journal, show_failure, &failures);
  journal_close(journal);
  diags_free(&ignored);
  message_error("INTERNAL ERROR: %llu simulations failed in Redoubt itself, not by their fault: no figure of this campaign can be trusted. "
                "They are in %s and are tried again by the same command; please report them",
                (unsigned long long)failures.count, run->options.journal);
}

// The journal of a campaign that has settled all its faults may still hold failures: of an earlier run with more faults.
static int complete_code(const CampaignRun *run, Diags *diags) {
  uint64_t internal = 0;
  if (!report_print(run->options.journal, run->options.confidence, &internal, diags)) return message_diags(diags);
  return internal > 0 ? EXIT_INTERNAL : EXIT_OK;
}

static int end_code(CampaignRun *run, CampaignEnd end, Diags *diags) {
  if (end == CAMPAIGN_COMPLETE || end == CAMPAIGN_INTERNAL) progress_close(&run->screen);
  if (end == CAMPAIGN_INTERNAL || run->screen.internal > 0) say_internal(run); // however it ended
  switch (end) {
  case CAMPAIGN_COMPLETE: return complete_code(run, diags);
  case CAMPAIGN_STOPPED:
    if (run->screen.last.total == 0) message_error("stopped before the first fault: nothing is lost");
    else message_error("stopped; everything reported done is in %s: run the same command again to go on", run->options.journal);
    return EXIT_INTERRUPTED;
  case CAMPAIGN_INTERNAL: return EXIT_INTERNAL;
  default: return message_diags(diags);
  }
}

static void set_defaults(CampaignRun *run) {
  run->arena = arena_new();
  run->options = (CampaignOptions){.structures = "rf", .model = "flip", .window = "all", .protection = "none", .confidence = 0.99};
  run->options.jobs = (uint32_t)max_u64((uint64_t)sysconf(_SC_NPROCESSORS_ONLN), 1);
  run->options.shards = 1;
  run->options.timeout = 10;
  run->options.prune = run->options.snapshot = true;
  run->options.progress = progress_told;
  run->options.context = &run->screen;
}

static int check_application(const CampaignRun *run) {
  const RunOptions *target = &run->target;
  if (target->target != NULL) return message_usage("campaign", "one target at a time, not '%s' and an application", target->target);
  if (!target->size_given && !target->ptx_given) return EXIT_OK;
  return message_usage("campaign",
                       "--size, --param, --kernel, --grid, --block, --shared, --cooperative and --arg are not for CUDA programs");
}

static int run_campaign(CampaignRun *run) {
  CampaignOptions *options = &run->options;
  Diags diags = {0};
  Attachments attachments = {0};
  bool is_application = run->target.application != NULL && run->target.application[0] != NULL;
  if (!is_application && run->target.target == NULL)
    return message_usage("campaign", "nothing to run: name a workload, a PTX file, or an application after --");
  int bad = is_application ? check_application(run) : run_check_target(&run->target, "campaign");
  if (bad != EXIT_OK) return bad;
  if (!attachments_open(&attachments, &run->target.wishes, &diags)) return message_diags(&diags);
  if (run->target.wishes.protections != NULL) options->protection = run->target.wishes.protections;
  options->protections = &attachments.chain;
  if (!run->has_seed) options->seed = run->target.seed;
  if (options->journal == NULL) options->journal = journal_name(run);
  if (options->faults == 0 && options->margin == 0) options->margin = 0.01;
  progress_open(&run->screen, target_name(run), options);
  if (is_application) progress_hold_interrupts(); // its files have to be removed
  Target *target =
      is_application ? app_target(&run->target, options->protections, run->arena, &diags) : run_as_target(&run->target, run->arena, &diags);
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
