// Plans for a cluster: which tasks there are, from what a few faults cost here.
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// MOST_TASKS: what a queue of Slurm holds as it comes (MaxJobCount). A plan of more is also slow to read for each of them.
enum { FIRST_SAMPLE = 16, SECOND_SAMPLE = 256, MOST_TASKS = 10000 };

void cluster_words(ClusterWords *words, Arena *arena, const char *const *command, uint32_t count, const char *const *more) {
  uint32_t end = 0;
  while (end < count && strcmp(command[end], "--") != 0) end++;
  for (uint32_t i = 0; i < end; i++) *VEC_PUSH(words, arena) = command[i];
  for (; *more != NULL; more++) *VEC_PUSH(words, arena) = *more;
  for (uint32_t i = end; i < count; i++) *VEC_PUSH(words, arena) = command[i];
}

// ---- The folder -------------------------------------------------------------------------------------------------------

static bool make_folder(const char *path, Diags *diags) {
  return mkdir(path, 0777) == 0 || errno == EEXIST || diags_add(diags, path, 0, 0, "cannot be made: %s", strerror(errno));
}

static const char *absolute(Arena *arena, const char *path) {
  char folder[PATH_MAX];
  if (path[0] == '/' || getcwd(folder, sizeof folder) == NULL) return path;
  return arena_format(arena, "%s/%s", folder, path);
}

// It stands in lines of scripts, where Slurm takes % for a pattern.
static bool is_plain(const char *path, Diags *diags) {
  if (strpbrk(path, "%\"\\\n") == NULL) return true;
  return diags_add(diags, path, 0, 0, "a folder for a cluster may have no %%, quote, backslash or line feed in its name");
}

ClusterPlan *cluster_plan_begin(const char *folder, const char *options, int argc, char **argv, Arena *arena, Diags *diags) {
  char path[PATH_MAX];
  ClusterPlan *plan = cluster_plan_new(absolute(arena, folder), arena);
  plan->options_text = options;
  if (!cluster_options_parse(options, arena, &plan->options, diags)) return NULL;
  bool needs_slurm = plan->options.kind == CLUSTER_SLURM && !plan->options.dry_run;
  if (needs_slurm && !slurm_is_here(diags)) return NULL;
  if (plan->options.folder != NULL) plan->folder = absolute(arena, plan->options.folder);
  Text command = {0};
  text_add(&command, "redoubt");
  for (int i = 0; i < argc; i++) text_add(&command, " %s", argv[i]);
  plan->command = arena_copy_text(arena, command.at, command.length);
  text_free(&command);
  plan->work = getcwd(path, sizeof path) == NULL ? "/" : arena_copy_text(arena, path, strlen(path));
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  plan->program = length > 0 ? arena_copy_text(arena, path, (size_t)length) : "redoubt";
  plan->program_hash = own_hash();
  return is_plain(plan->folder, diags) && is_plain(plan->work, diags) ? plan : NULL;
}

static bool make_folders(const ClusterPlan *plan, Diags *diags) {
  return make_folder(plan->folder, diags) && make_folder(cluster_plan_file(plan, "results"), diags) &&
         make_folder(cluster_plan_file(plan, "submit"), diags) && make_folder(cluster_plan_file(plan, "logs"), diags);
}

ClusterPlan *cluster_plan_open(ClusterPlan *wanted, bool *is_new, Diags *diags) {
  wanted->identity = cluster_plan_identity(wanted);
  *is_new = wanted->options.dry_run || access(cluster_plan_file(wanted, "plan.json"), F_OK) != 0;
  if (*is_new) return wanted->options.dry_run || make_folders(wanted, diags) ? wanted : NULL;
  ClusterPlan *there = cluster_plan_read(wanted->folder, wanted->arena, diags);
  if (there == NULL || there->identity == wanted->identity) return there;
  const char *why =
      there->program_hash != wanted->program_hash ? "it was planned by another build of Redoubt" : "it belongs to another command";
  diags_add(diags, wanted->folder, 0, 0, "%s: %s. Finish that, remove the folder, or name another one with --cluster %s:folder=NAME", why,
            there->command, cluster_kind_names[wanted->options.kind]);
  return NULL;
}

const char *cluster_folder(const char *named, Arena *arena) {
  static const char *const endings[] = {"", ".cluster", "/cluster"};
  char path[PATH_MAX];
  for (size_t i = 0; i < COUNT_OF(endings); i++) {
    const char *folder = arena_format(arena, "%s%s", named, endings[i]);
    if (access(arena_format(arena, "%s/plan.json", folder), F_OK) != 0 || realpath(folder, path) == NULL) continue;
    return arena_copy_text(arena, path, strlen(path));
  }
  return named;
}

// ---- What faults cost ------------------------------------------------------------------------------------------------

typedef struct Sample {
  double seconds;
  uint64_t faults, total; // of the sample; that were asked for
  uint32_t structures;
  bool has_margin;
} Sample;

static bool count_structure(void *context, const StructureRow *row) {
  uint32_t *count = context;
  (void)row;
  ++*count;
  return true;
}

static bool read_sample(const char *path, Sample *sample, Diags *diags) {
  Journal *journal = journal_read(path, diags);
  if (journal == NULL) return false;
  sample->faults = journal_fault_count(journal);
  sample->total = strtoull(journal_note(journal, NOTE_ASKED_FAULTS), NULL, 10);
  sample->has_margin = strtod(journal_note(journal, NOTE_ASKED_MARGIN), NULL) > 0;
  bool good = journal_each_structure(journal, count_structure, &sample->structures) || journal_damaged(journal, diags);
  journal_close(journal);
  return good;
}

// The first faults, by a process of their own. What it says about wrong options is what the user hears.
static bool take_sample(const ClusterPlan *plan, const char *folder, uint32_t faults, Sample *sample, Diags *diags) {
  const char *path = arena_format(plan->arena, "%s/%u.db", folder, faults);
  const char *part = arena_format(plan->arena, "0-%u", faults), *jobs = arena_format(plan->arena, "%u", plan->options.cpus);
  const char *more[] = {"--quiet", "-o", path, "--part", part, "-j", jobs, NULL};
  ClusterWords words = {0};
  *VEC_PUSH(&words, plan->arena) = "redoubt";
  cluster_words(&words, plan->arena, (const char *const *)plan->outputs.items[0].words.items, plan->outputs.items[0].words.count, more);
  *VEC_PUSH(&words, plan->arena) = NULL;
  OwnProcess process = {.words = words.items, .out = open("/dev/null", O_WRONLY | O_CLOEXEC), .err = -1};
  double began = host_seconds();
  int stopped_by = 0, code = own_process_run(&process, &stopped_by);
  if (process.out >= 0) close(process.out);
  sample->seconds = host_seconds() - began;
  bool good = code == EXIT_OK && read_sample(path, sample, diags);
  if (code != EXIT_OK) diags_add(diags, NULL, 0, 0, "the first %u faults could not be settled here: nothing was submitted", faults);
  unlink(path);
  return good;
}

static void say_plan(const ClusterPlan *plan, const Sample *sample, const ClusterCost *cost, bool quiet) {
  Text text = {0};
  if (plan->seconds_per_task > 0) {
    text_add(&text, ", of about ");
    duration_format(plan->seconds_per_task, &text);
    text_add(&text, " each: a fault takes about %.2g s, and to begin %.2g s", cost->each, cost->fixed);
  }
  message_note(quiet, "%s%llu faults in %u tasks%s", sample->has_margin ? "first round of at most " : "", (unsigned long long)sample->total,
               plan->tasks.count, text.at == NULL ? "" : text.at);
  text_free(&text);
}

static bool measure_in(ClusterPlan *plan, const char *folder, uint64_t most, bool quiet, Diags *diags) {
  Sample first = {0}, second = {0};
  ClusterCost cost = {0};
  if (!take_sample(plan, folder, (uint32_t)min_u64(FIRST_SAMPLE, most), &first, diags)) return false;
  uint64_t batch = journal_batch(first.has_margin, first.structures), size, end = first.total;
  if (first.has_margin) end = min_u64(batch, end); // what more is needed is foreseen from these
  size = cluster_task_faults_of(end, plan->options.tasks > 0 ? plan->options.tasks : MOST_TASKS, batch);
  bool needs_cost =
      plan->options.tasks == 0 || (plan->options.kind == CLUSTER_SLURM && plan->options.limit == 0); // of the time that it gets
  if (needs_cost) {
    if (!take_sample(plan, folder, (uint32_t)min_u64(SECOND_SAMPLE, most), &second, diags)) return false;
    cost = cost_of(first.seconds, first.faults, second.seconds, second.faults);
    if (plan->options.tasks == 0) size = max_u64(size, cluster_task_faults(&cost, 60.0 * plan->options.minutes, batch));
    plan->seconds_per_task = cost.fixed + cost.each * (double)min_u64(size, end);
  }
  cluster_plan_cut(plan, 0, end, size, batch, "");
  plan->rounds = 1;
  say_plan(plan, &first, &cost, quiet);
  return true;
}

bool cluster_plan_measure(ClusterPlan *plan, uint64_t most, bool quiet, Diags *diags) {
  const char *root = getenv("TMPDIR");
  char *folder = arena_format(plan->arena, "%s/redoubt-sample-XXXXXX", root == NULL ? P_tmpdir : root);
  if (mkdtemp(folder) == NULL) return diags_add(diags, folder, 0, 0, "cannot be made: %s", strerror(errno));
  bool good = measure_in(plan, folder, most, quiet, diags);
  rmdir(folder);
  return good;
}
