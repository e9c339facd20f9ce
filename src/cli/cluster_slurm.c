// Slurm: jobs submitted and asked for. There may be no accounting, so Slurm is only asked what is in its queue; what has become of a task is known
// from the folder.
#include "cli/cli.h"
#include "cli/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { USUAL_ARRAY = 1001, MOST_ARRAYS = 1024 };

// ---- Whether it is there ----------------------------------------------------------------------------------------------

// As execvp finds it.
static bool is_command(const char *name) {
  const char *path = getenv("PATH");
  bool found = false;
  for (const char *next = path != NULL ? path : "/bin:/usr/bin"; !found && *next != '\0'; next += *next == ':') {
    Text file = {0};
    size_t length = strcspn(next, ":");
    text_add(&file, "%.*s%s%s", (int)length, next, length > 0 ? "/" : "", name);
    found = access(file.at, X_OK) == 0;
    text_free(&file);
    next += length;
  }
  return found;
}

bool slurm_is_here(Diags *diags) {
  static const char *const needed[] = {"sbatch", "squeue"};
  for (size_t i = 0; i < COUNT_OF(needed); i++) {
    if (!is_command(needed[i]))
      return diags_add(diags, NULL, 0, 0,
                       "--cluster slurm: there is no '%s' here: go to a computer that has Slurm's commands, install them, or take "
                       "--cluster local:N or folder",
                       needed[i]);
  }
  return true;
}

// ---- Asked --------------------------------------------------------------------------------------------------------------

uint32_t slurm_array_size(void) {
  Text text = {0};
  unsigned size = USUAL_ARRAY;
  const char *const words[] = {"scontrol", "show", "config", NULL};
  bool good = process_output(words, &text) == 0 && text.at != NULL;
  const char *line = good ? strstr(text.at, "MaxArraySize") : NULL;
  if (line != NULL && sscanf(line, "MaxArraySize = %u", &size) != 1) size = USUAL_ARRAY;
  text_free(&text);
  return max_u32(size, 1); // numbers from 0 to one less
}

// One line for each task that is not yet in the queue as a range.
bool slurm_jobs(const ClusterPlan *plan, SlurmJobs *jobs) {
  *jobs = (SlurmJobs){0};
  Text text = {0};
  const char *name = arena_format(plan->arena, "--name=%s", cluster_plan_name(plan));
  const char *const words[] = {"squeue", "--noheader", "--array", name, "--format=%T %K", NULL};
  bool good = process_output(words, &text) == 0;
  for (const char *line = text.at; good && line != NULL && *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
    char state[32] = "", place[64] = "";
    if (sscanf(line, "%31s %63s", state, place) < 2) continue;
    if (strcmp(place, "N/A") == 0) jobs->gathers = true;
    else if (strcmp(state, "PENDING") == 0) jobs->waiting++;
    else jobs->running++;
  }
  text_free(&text);
  return good;
}

// ---- Submitted ------------------------------------------------------------------------------------------------------------

// The number of the job; NULL, after a message: Slurm has refused it.
static const char *submit(const ClusterPlan *plan, const char *dependency, const char *script) {
  Text text = {0};
  const char *const plain[] = {"sbatch", "--parsable", script, NULL}, *const later[] = {"sbatch", "--parsable", dependency, script, NULL};
  int code = process_output(dependency == NULL ? plain : later, &text);
  size_t length = text.at == NULL ? 0 : strspn(text.at, "0123456789");
  const char *number = code == 0 && length > 0 ? arena_copy_text(plan->arena, text.at, length) : NULL;
  if (number == NULL) {
    size_t end = text.at == NULL ? 0 : strcspn(text.at, "\n");
    message_error("sbatch %s: %.*s", script, (int)end, text.at == NULL ? "cannot be started" : text.at);
  }
  text_free(&text);
  return number;
}

static bool write_file(const ClusterPlan *plan, const char *name, const Text *text, Diags *diags) {
  return text_publish(cluster_plan_file(plan, name), text, diags);
}

// One array. The tries are counted before it is submitted, since its tasks may begin at once, and taken back if it is refused.
static const char *submit_array(ClusterPlan *plan, const uint32_t *tasks, uint32_t count, Diags *diags) {
  ArrayJob job = {.submission = ++plan->submissions};
  Text list = {0}, script = {0};
  for (uint32_t i = 0; i < count; i++) {
    ClusterTask *task = &plan->tasks.items[tasks[i]];
    task->submission = job.submission;
    job.tries = max_u32(job.tries, ++task->tries);
  }
  job.count = script_list(plan, tasks, count, &list);
  script_array(plan, &job, &script);
  const char *name = arena_format(plan->arena, "submit/%03u.sh", job.submission), *number = NULL;
  bool good = write_file(plan, arena_format(plan->arena, "submit/%03u.tasks", job.submission), &list, diags) &&
              write_file(plan, name, &script, diags) && cluster_plan_write(plan, diags);
  if (good) number = submit(plan, NULL, cluster_plan_file(plan, name));
  for (uint32_t i = 0; i < count && number == NULL; i++) plan->tasks.items[tasks[i]].tries--;
  text_free(&list);
  text_free(&script);
  return number;
}

// Without it the command that watches does its work.
static void submit_gather(const ClusterPlan *plan, const char *dependency, Diags *diags) {
  Text script = {0};
  script_gather(plan, &script);
  if (write_file(plan, "submit/gather.sh", &script, diags)) submit(plan, dependency, cluster_plan_file(plan, "submit/gather.sh"));
  text_free(&script);
}

bool slurm_submit(ClusterPlan *plan, const TaskList *tasks, bool quiet, Diags *diags) {
  if (!slurm_is_here(diags)) return false;
  uint64_t most = (uint64_t)slurm_array_size() * plan->bundle;
  Text after = {0};
  uint32_t arrays = 0, handed = 0;
  const char *number = "";
  text_add(&after, "--dependency=afterany");
  for (uint32_t first = 0, count; first < tasks->count && number != NULL && arrays < MOST_ARRAYS; first += count) {
    count = (uint32_t)min_u64(most, tasks->count - first);
    number = submit_array(plan, tasks->items + first, count, diags);
    if (number == NULL) break;
    text_add(&after, ":%s", number);
    arrays++;
    handed += count;
  }
  bool good = arrays > 0 && cluster_plan_write(plan, diags);
  if (good) submit_gather(plan, after.at, diags);
  text_free(&after);
  if (arrays == 0 && diags->count == 0) diags_add(diags, NULL, 0, 0, "no task could be submitted to Slurm; the same command tries again");
  if (good)
    message_note(quiet, "submitted %u of %u missing tasks in %u array%s as %s", handed, tasks->count, arrays, arrays == 1 ? "" : "s",
                 cluster_plan_name(plan));
  return good && diags->count == 0;
}
