// redoubt campaign TARGET: faults injected until the answer is sure enough. What describes the target is as for `redoubt run`.
#include "app/app.h"
#include "settle/settlers.h"
#include "cli/fault.h"
#include "cli/app.h"
#include "cli/campaign.h"
#include "cli/cluster.h"
#include "cli/cores.h"
#include "cli/interrupt.h"
#include "cli/out_file.h"
#include "cli/reading.h"
#include "cli/run.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char DEFAULT_MACHINE[] = "fermi-gtx480"; // faults need a machine with time

// ---- Options ---------------------------------------------------------------------------------------

static bool take_shard(const OptionUse *use) {
  CampaignOptions *options = option_field(use);
  uint32_t pair[2] = {0};
  bool good = pair_parse(use->text, '/', pair);
  options->shard = pair[0];
  options->shards = pair[1];
  return good || option_wrong(use, "write I/N, with I from 0 to N-1");
}

bool option_fault_seed(const OptionUse *use) {
  CampaignRun *run = use->wishes;
  return run->has_seed = option_u64(use);
}

static bool keeps_rule(const OptionUse *use, double value) {
  const char *rule = campaign_number_rule(use->option->name, value);
  return rule == NULL || option_wrong(use, "%s", rule);
}

bool option_campaign_whole(const OptionUse *use) {
  uint64_t *value = option_field(use);
  return option_u64(use) && keeps_rule(use, (double)*value);
}

bool option_campaign_real(const OptionUse *use) {
  double *value = option_field(use);
  return keeps_rule(use, *value = option_value(use));
}

bool option_faults(const OptionUse *use) {
  CampaignRun *run = use->wishes;
  run->options.every = strcmp(use->text, "all") == 0;
  if (run->options.every) run->options.faults = 1; // a number is given: there is no margin
  return run->options.every || option_campaign_whole(use);
}

static bool take_sampling(const OptionUse *use) {
  bool *by_bits = option_field(use);
  *by_bits = strcmp(use->text, "bits") == 0;
  return *by_bits || strcmp(use->text, "even") == 0 || option_wrong(use, "is 'even' or 'bits'");
}

static bool take_part(const OptionUse *use) {
  CampaignOptions *options = option_field(use);
  const char *at = use->text;
  bool good = text_number(&at, false, &options->first) && *at++ == '-' && text_number(&at, false, &options->end) && *at == '\0';
  return (good && options->end > 0) || option_wrong(use, "write FROM-TO: faults with the numbers FROM to TO-1");
}

static bool take_draw(const OptionUse *use) {
  bool *from_used = option_field(use);
  *from_used = strcmp(use->text, "used") == 0;
  return *from_used || strcmp(use->text, "all") == 0 || option_wrong(use, "is 'used' or 'all'");
}

#define FIELD(name) offsetof(CampaignRun, options.name)
static const Option fault_options[] = {
    {"structure", 0, "LIST",
     "what is struck: rf, shared, unit.sp, ... ('redoubt list structures'; default rf); stack is every stack.* or stack_*, all is every "
     "cell on the "
     "chip, rf[sm=1,lane=3] a part of one; several: repeat it, or commas",
     .take = option_list, .offset = FIELD(structures)},
    {"model", 0, "MODEL", "how ('redoubt list faults'; default flip)", .take = option_text, .offset = FIELD(model)},
    {"window", 0, "WHEN", "all (default), kernel:NAME or cycles:FROM-TO; faults that last begin then", .take = option_text,
     .offset = FIELD(window)},
    {"faults", 0, "N",
     "how many faults, dealt over the structures of the machine (--sampling); those that a protection adds get as many each beyond N; all: "
     "every bit once",
     .take = option_faults, .offset = FIELD(faults), .most = UINT64_MAX},
    {"sampling", 0, "HOW",
     "even (default): as many faults for each structure; bits: N faults, each bit of all structures as likely as any other",
     .take = take_sampling, .offset = FIELD(by_bits)},
    {"draw", 0, "FROM",
     "all (default): from all bits and cycles; used: from those that the run without faults reads before they are written; what strikes "
     "the "
     "others is masked, and counts as that",
     .take = take_draw, .offset = FIELD(from_used)},
    {"margin", 0, "E", "or: until the interval of each structure is within +-E (default 0.01)", .take = option_campaign_real,
     .offset = FIELD(margin)},
    {"confidence", 0, "C", "of the intervals (default 0.99)", .take = option_campaign_real, .offset = FIELD(confidence)},
    {"fault-seed", 0, "N", "other faults, but the same inputs (default: --seed, which changes both)", .take = option_fault_seed,
     .offset = FIELD(seed), .most = UINT64_MAX},
    {"with-fault", 0, "FAULT", "a first fault that stands in every run, also in the one that the others are compared with",
     .take = option_text, .offset = FIELD(standing)},
    {"tolerance", 0, "BUFFER:TYPE:rel=X|abs=X", TOLERANCE_HELP, .take = option_tolerance,
     .offset = offsetof(CampaignRun, target.tolerances)},
    {"timeout", 0, "N", "a run of N times the fault-free cycles counts as endless (default 10)", .take = option_campaign_whole,
     .offset = FIELD(timeout), .most = UINT64_MAX},
};
static const OptionGroup fault_group = OPTION_GROUP("Faults", fault_options);

static const Option work_options[] = {
    {"jobs", 'j', "N", "simulations at one time (default and most: the processors that this process may use)", .take = option_jobs,
     .offset = FIELD(jobs), .least = 1, .most = 256},
    {"journal", 'o', "FILE", "the journal (default TARGET-MACHINE.db); an unfinished one is resumed", .take = option_text,
     .offset = FIELD(journal)},
    {"golden", 0, "FOLDER", "keep runs without faults there, for campaigns that differ only in their faults; not of CUDA programs",
     .take = option_text, .offset = FIELD(golden_folder)},
    {"shard", 0, "I/N", "every N-th fault only, I from 0; 'redoubt merge' puts the journals together", .take = take_shard,
     .offset = offsetof(CampaignRun, options)},
    {"part", 0, "FROM-TO", "faults with the numbers FROM to TO-1 only; 'redoubt merge' puts the journals together", .take = take_part,
     .offset = offsetof(CampaignRun, options)},
    {"enough", 0, "LIST", "with --part: no faults of these structures, since enough is known of them", .take = option_text,
     .offset = FIELD(enough)},
    {"cluster", 0, "WHERE",
     "cut it into tasks: slurm[:OPTION,...], local:N processes, folder for other schedulers; options: partition=, account=, qos=, cpus=, "
     "memory=, minutes= a task, tasks=, throttle=, tries=, limit=, poll=, scratch=, folder=, sbatch=--WORD, dry-run",
     .take = option_text, .offset = offsetof(CampaignRun, cluster)},
    {"verbose", 'v', NULL, "all tables at the end, as 'redoubt report -v' shows them", .take = option_flag,
     .offset = offsetof(CampaignRun, verbose)},
    {"progress", 0, NULL, "say how far it is every ten seconds, if there is no terminal", .take = option_flag,
     .offset = offsetof(CampaignRun, screen.wanted)},
    {"verify", 0, "N",
     "decide N faults of each way to settle them once more, simulated from the beginning to the end, and compare (default: under "
     "protections, "
     "what was decided on their word; 0: none)",
     .take = option_u64, .offset = FIELD(verify), .most = 1000000000},
    {"no-prune", 0, NULL, "simulate also what is known to be masked", .take = option_off, .offset = FIELD(prune)},
    {"no-snapshot", 0, NULL, "simulate every fault from the beginning to the end", .take = option_off, .offset = FIELD(snapshot)},
};
#undef FIELD
static const OptionGroup work_group = OPTION_GROUP("The work", work_options);

static const char *target_name(const CampaignRun *run) {
  return run->target.application != NULL ? run->target.application[0] : run->target.target;
}

// For the terminal.
static const char *shown_name(const CampaignRun *run) {
  Text text = {0};
  text_add_visible(&text, target_name(run), strlen(target_name(run)), "");
  const char *shown = arena_copy_text(run->arena, text.length == 0 ? "" : text.at, text.length);
  text_free(&text);
  return shown;
}

// ---- The command -----------------------------------------------------------------------------------

static const char *journal_name(CampaignRun *run) {
  const char *name = target_name(run), *slash = strrchr(name, '/');
  return arena_format(run->arena, "%s-%s.db", slash == NULL ? name : slash + 1, run->target.spec.machine);
}

static int end_code(CampaignRun *run, CampaignEnd end, Diags *diags) {
  if (end == CAMPAIGN_COMPLETE || end == CAMPAIGN_INTERNAL) progress_close(&run->screen);
  if (end == CAMPAIGN_INTERNAL || run->screen.internal > 0) campaign_say_internal(run); // however it ended
  switch (end) {
  case CAMPAIGN_COMPLETE: return run->is_part ? EXIT_OK : campaign_show(run, diags);
  case CAMPAIGN_STOPPED:
    if (run->screen.last.total == 0) message_error("stopped before the first fault: nothing is lost");
    else message_error("stopped; everything reported done is in %s: run the same command again to go on", run->options.journal);
    return EXIT_SIGNAL + run->screen.stopped_by;
  case CAMPAIGN_INTERNAL: return EXIT_INTERNAL;
  case CAMPAIGN_DIFFERS: message_diags(diags); return EXIT_INTERNAL;
  default: return message_diags(diags);
  }
}

const char *command_text(Arena *arena, const char *const *words, uint32_t count) {
  Text text = {0};
  text_add(&text, "redoubt");
  for (uint32_t i = 0; i < count; i++) {
    text_add(&text, " ");
    text_add_shell_word(&text, words[i]);
  }
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// NULL: it cannot be read. What is no file is not read for that: of a pipe nothing would be left.
static const char *hash_text(Arena *arena, const char *path) {
  struct stat about;
  uint64_t hash;
  bool is_file = stat(path, &about) == 0 && S_ISREG(about.st_mode);
  return is_file && file_hash(path, &hash) ? arena_format(arena, "%016llx", (unsigned long long)hash) : NULL;
}

const char *program_file_hash(Arena *arena, const char *target) {
  bool is_file = workload_find(target) == NULL && (strchr(target, '/') != NULL || is_ptx_file(target));
  return is_file ? hash_text(arena, target) : NULL;
}

CampaignOrigin origin_of(Arena *arena, int argc, char **argv) {
  struct utsname host = {0};
  char date[32] = "";
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  uname(&host);
  char *folder = getcwd(NULL, 0);
  const char *here = folder == NULL ? NULL : arena_copy_text(arena, folder, strlen(folder));
  free(folder);
  return (CampaignOrigin){.version = version_number(),
                          .commit = version_commit(),
                          .binary = hash_text(arena, "/proc/self/exe"),
                          .folder = here,
                          .date = arena_copy_text(arena, date, strlen(date)),
                          .command = command_text(arena, (const char *const *)argv, (uint32_t)argc),
                          .host = arena_format(arena, "%s (%s %s, %s)", host.nodename, host.sysname, host.release, host.machine)};
}

void campaign_default(CampaignRun *run, int argc, char **argv) {
  run->arena = arena_new();
  run_options_default(&run->target);
  run->target.machine.machine = NULL;
  run->options = campaign_defaults();
  run->options.structures = NULL; // words of --structure add up
  run->options.jobs = min_u32(host_cores(), MOST_JOBS);
  run->options.progress = progress_told;
  run->options.context = &run->screen;
  run->options.origin = origin_of(run->arena, argc, argv);
  const char **words = ARENA_ARRAY(run->arena, const char *, argc + 1);
  for (int i = 0; i < argc; i++) words[i] = argv[i];
  run->words = words;
  run->word_count = (uint32_t)argc;
}

// What the program writes is not what the campaign writes.
static bool check_outputs(const CampaignRun *run, Diags *diags) {
  Files files = {.arena = run->arena};
  bool good = files_write(&files, run->options.journal, diags);
  for (uint32_t i = 0; i < run->target.outputs.count && good; i++) good = files_write(&files, run->target.outputs.items[i], diags);
  return good;
}

static int check_application(const CampaignRun *run) {
  const RunOptions *target = &run->target;
  if (target->target != NULL) return message_usage("campaign", "one target at a time, not '%s' and an application", target->target);
  if (!target->size_given && !target->ptx_given) return EXIT_OK;
  return message_usage("campaign",
                       "--size, --param, --kernel, --grid, --block, --shared, --cooperative and --arg are not for CUDA programs");
}

// What was not said follows from what was.
static bool complete_options(CampaignRun *run, Diags *diags) {
  CampaignOptions *options = &run->options;
  if (run->target.wishes.protections != NULL) options->protection = run->target.wishes.protections;
  if (!run->has_seed) options->seed = run->target.seed;
  if (options->journal == NULL) options->journal = journal_name(run);
  if (!campaign_check(options, diags)) return false;
  if (!files_write(&run->target.files, options->journal, diags) || !out_possible(options->journal, diags)) return false;
  if (options->golden_folder != NULL && !is_folder(options->golden_folder) && !out_possible(options->golden_folder, diags)) return false;
  if (run->machine_chosen) message_note(run->target.files.quiet, "machine %s, as no --machine was given", run->target.spec.machine);
  return true;
}

int campaign_one(CampaignRun *run) {
  CampaignOptions *options = &run->options;
  Diags diags = {0};
  Attachments attachments = {0};
  bool is_application = run->target.application != NULL && run->target.application[0] != NULL;
  if (!is_application && run->target.target == NULL)
    return message_usage("campaign", "nothing to run: name a workload, a PTX file, or an application after --");
  int bad = is_application ? check_application(run) : run_check_target(&run->target, "campaign");
  if (bad != EXIT_OK) return bad;
  if (!complete_options(run, &diags) || !attachments_open(&attachments, &run->target.wishes, &diags)) return message_diags(&diags);
  options->protections = &attachments.chain;
  options->settlers = all_settlers;
  options->origin.program = program_file_hash(run->arena, target_name(run));
  if (is_application && !check_outputs(run, &diags)) return message_diags(&diags);
  run->screen.quiet = run->target.files.quiet;
  progress_open(&run->screen, shown_name(run), options);
  AppInterrupts interrupts = {.first = &run->screen.stopped_by};
  run->screen.keeps_holding = is_application; // its files have to be put back
  if (is_application) interrupt_hold();
  Target *target = is_application ? app_target(&run->target, options->protections, &interrupts, run->arena, &diags)
                                  : run_as_target(&run->target, run->arena, &diags);
  CampaignEnd end = target == NULL ? CAMPAIGN_FAILED : campaign_run(target, options, &diags);
  if (is_application) target_app_free(target); // before anything is printed: nobody may listen any more
  int code = end_code(run, end, &diags);
  attachments_close(&attachments, &diags);
  return code;
}

// One campaign after the other, with a journal each, in the folder that -o names. Goes on when one fails; Ctrl-C ends all.
static int run_campaigns(CampaignRun *run) {
  Diags diags = {0};
  WorkloadList list = {0};
  if (!workload_list_add(&list, run->arena, run->target.target, &diags)) return message_diags(&diags);
  const char *folder = run->options.journal == NULL ? "." : run->options.journal;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    message_error("%s: cannot be made: %s", folder, strerror(errno));
    return EXIT_BAD_INPUT;
  }
  int worst = EXIT_OK;
  for (uint32_t i = 0; i < list.count && worst < EXIT_SIGNAL; i++) {
    CampaignRun one = *run; // campaigns note in it what they chose
    one.is_one_of_many = true;
    one.target.target = list.items[i]->name;
    one.options.journal = arena_format(run->arena, "%s/%s", folder, journal_name(&one));
    one.options.context = &one.screen;
    printf("%s%s: %s\n", i == 0 ? "" : "\n", one.target.target, one.options.journal);
    fflush(stdout);
    int code = campaign_one(&one);
    if (code > worst) worst = code;
  }
  if (worst == EXIT_OK) campaign_say_next_of_many(run, folder);
  return worst;
}

// ---- On a cluster ----------------------------------------------------------------------------------

static bool can_be_cut(const CampaignRun *run, Diags *diags) {
  const CampaignOptions *options = &run->options;
  if (options->shards > 1 || options->end > 0) return diags_add(diags, NULL, 0, 0, "--cluster makes parts itself: no --shard, no --part");
  if (run->target.outputs.count > 0)
    return diags_add(diags, NULL, 0, 0, "--output names a file that all tasks would write at once: not with --cluster");
  return true;
}

// How it is shown, and by how many, decides nothing: the command is the same without. How many words that is, from this one on; 0: it decides.
static uint32_t idle_words(const char *word) {
  static const char *const alone[] = {"-q", "--quiet", "-v", "--verbose", "--progress"}, *const with_value[] = {"-j", "--jobs",
                                                                                                                "--cluster"};
  for (size_t i = 0; i < COUNT_OF(alone); i++) {
    if (strcmp(word, alone[i]) == 0) return 1;
  }
  for (size_t i = 0; i < COUNT_OF(with_value); i++) {
    size_t length = strlen(with_value[i]);
    if (strcmp(word, with_value[i]) == 0) return 2;
    if (strncmp(word, with_value[i], length) == 0 && (word[length] == '=' || length == 2)) return 1;
  }
  return 0;
}

static void add_words(const CampaignRun *run, ClusterWords *words) {
  bool is_ours = true;
  for (uint32_t i = 0; i < run->word_count;) {
    is_ours &= strcmp(run->words[i], "--") != 0; // then come an application's
    uint32_t idle = is_ours ? idle_words(run->words[i]) : 0;
    if (idle == 0) *VEC_PUSH(words, run->arena) = run->words[i];
    i += idle == 0 ? 1 : idle;
  }
}

// The same words for each task, with its part and its journal behind them.
static ClusterPlan *plan_of(CampaignRun *run, Diags *diags) {
  const char *folder = arena_format(run->arena, "%s.cluster", run->options.journal);
  ClusterPlan *plan = cluster_plan_begin(folder, run->cluster, 0, NULL, run->arena, diags);
  if (plan == NULL) return NULL;
  plan->command = run->options.origin.command;
  ClusterOutput *output = VEC_PUSH(&plan->outputs, plan->arena);
  const char *journal = run->options.journal;
  output->file = journal[0] == '/' ? journal : arena_format(run->arena, "%s/%s", plan->work, journal);
  add_words(run, &output->words);
  return plan;
}

// That were asked for; all there are where nobody said a number.
static uint64_t most_faults(const CampaignOptions *options) {
  return options->faults > 0 && !options->every ? options->faults : UINT64_MAX;
}

static int campaign_on_cluster(CampaignRun *run) {
  Diags diags = {0};
  bool is_new, quiet = run->target.files.quiet;
  if (!can_be_cut(run, &diags) || !complete_options(run, &diags)) return message_diags(&diags);
  ClusterPlan *plan = plan_of(run, &diags);
  if (plan == NULL || (plan = cluster_plan_open(plan, &is_new, &diags)) == NULL) return message_diags(&diags);
  if (is_new && access(plan->outputs.items[0].file, F_OK) == 0) {
    message_error("%s is there already; choose another file with -o", run->options.journal);
    return EXIT_BAD_INPUT;
  }
  if (is_new && !cluster_plan_measure(plan, most_faults(&run->options), quiet, &diags)) return message_diags(&diags);
  if (plan->options.dry_run) return cluster_show_scripts(plan);
  int code = cluster_watch(plan, quiet);
  return code == EXIT_OK ? campaign_show(run, &diags) : code;
}

static bool is_of_several(const RunOptions *target) {
  return target->target != NULL && is_workload_list(target->target) && !is_ptx_file(target->target);
}

bool campaign_complete(CampaignRun *run, const Operands *operands) {
  run->machine_chosen = run->target.machine.machine == NULL;
  if (run->machine_chosen) run->target.machine.machine = DEFAULT_MACHINE;
  if (run->options.structures == NULL) run->options.structures = "rf";
  run->options.tolerances = run->target.tolerances;
  return run_options_complete(&run->target, operands, run->arena);
}

static int run_as_wished(CampaignRun *run) {
  bool on_cluster = run->cluster != NULL;
  if (!is_of_several(&run->target)) return on_cluster ? campaign_on_cluster(run) : campaign_one(run);
  if (!on_cluster) return run_campaigns(run);
  return message_usage("campaign", "one target at a time with --cluster; several are a study ('redoubt study FILE --cluster ...')");
}

static int run_command(int argc, char **argv) {
  CampaignRun *run = calloc(1, sizeof *run);
  ASSERT(run != NULL);
  campaign_default(run, argc, argv);
  Operands operands;
  int code = EXIT_BAD_INPUT;
  bool good = options_parse(&command_campaign, run, run->arena, argc, argv, &operands);
  if (!good) code = operands.exit_code;
  else if (campaign_complete(run, &operands)) code = run_as_wished(run);
  arena_free(run->arena);
  free(run);
  return code;
}

const Command command_campaign = {
    .name = "campaign",
    .usage = "TARGET",
    .summary = "inject faults until the answer is sure enough; resumes by default",
    .synopsis = "redoubt campaign WORKLOAD [options]                inject faults and say what they do, with confidence\n"
                "redoubt campaign @SET|NAME,NAME... [options]       several, one after the other, a journal each in the folder of -o\n"
                "redoubt campaign FILE.ptx [options]                the same for a kernel of a PTX file\n"
                "redoubt campaign [options] -- ./app ARGUMENTS      and for a CUDA program\n",
    .groups = {&fault_group, &work_group, &run_machine_group, &run_workload_group, &run_ptx_group, &run_shader_group},
    .ending = "Examples:\n"
              "  redoubt campaign scalarprod --machine fermi-gtx480 --structure rf,shared --faults 5000\n"
              "  redoubt campaign matmul --size tiny --machine turing-rtx2060 --structure rf,unit --margin 0.005 --confidence 0.95\n"
              "  redoubt campaign matmul --size tiny --machine fermi-gtx480 --structure unit.sp --model stuck1 --window cycles:0-1\n"
              "  redoubt campaign --machine fermi-gtx480 --faults 1000 --output result.txt -- ./app input.txt result.txt\n"
              "\n"
              "Exit codes: 0 all faults are settled, 2 bad usage or input, 4 internal error, 130 stopped by Ctrl-C,\n"
              "143 by SIGTERM, 129 by SIGHUP.\n",
    .operand = "target",
    .most_operands = 1,
    .takes_application = true,
    .run = run_command,
};
