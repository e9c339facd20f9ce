// Scripts for Slurm. All that a script does is to call this program with the numbers of tasks; the rest is known from the folder.
#include "cluster/cluster.h"

enum { GATHER_MINUTES = 60 };

static void directive(Text *out, const char *name, const char *value) {
  if (value != NULL) text_add(out, "#SBATCH --%s=\"%s\"\n", name, value);
}

static void common_lines(const ClusterPlan *plan, Text *out) {
  const ClusterOptions *options = &plan->options;
  directive(out, "job-name", cluster_plan_name(plan));
  directive(out, "chdir", plan->work);
  directive(out, "partition", options->partition);
  directive(out, "account", options->account);
  directive(out, "qos", options->qos);
  text_add(out, "#SBATCH --open-mode=append\n");
  for (uint32_t i = 0; i < options->extra.count; i++) text_add(out, "#SBATCH %s\n", options->extra.items[i]);
}

static void program_and_folder(const ClusterPlan *plan, const char *command, Text *out) {
  text_add(out, "exec ");
  text_add_shell_word(out, plan->program);
  text_add(out, " %s ", command);
  text_add_shell_word(out, plan->folder);
}

// --requeue: what Slurm itself knows to be lost or preempted it runs again. TERM a minute before the limit: what is done by then is kept.
void script_array(const ClusterPlan *plan, const ArrayJob *job, Text *out) {
  const ClusterOptions *options = &plan->options;
  text_add(out, "#!/bin/sh\n# Tasks of Redoubt, one array. Written by 'redoubt ... --cluster slurm'; docs/cluster.md says more.\n");
  text_add(out, "#SBATCH --array=0-%u", job->count - 1);
  if (options->throttle > 0) text_add(out, "%%%u", options->throttle);
  text_add(out, "\n");
  common_lines(plan, out);
  directive(out, "output", cluster_plan_file(plan, arena_format(plan->arena, "logs/%03u-%%a.log", job->submission)));
  directive(out, "mem", options->memory);
  uint32_t minutes = cluster_plan_limit(plan, job->tries);
  text_add(out, "#SBATCH --cpus-per-task=%u\n#SBATCH --time=%u\n#SBATCH --requeue\n", options->cpus, minutes);
  if (minutes > 2) text_add(out, "#SBATCH --signal=B:TERM@60\n");
  text_add(out, "set -eu\n# The numbers of this process's tasks: a line of the list.\ntasks=$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" ");
  text_add_shell_word(out, cluster_plan_file(plan, arena_format(plan->arena, "submit/%03u.tasks", job->submission)));
  text_add(out, ")\n# shellcheck disable=SC2086 # a word for each number\n");
  program_and_folder(plan, "task", out);
  text_add(out, " $tasks\n");
}

void script_gather(const ClusterPlan *plan, Text *out) {
  text_add(out, "#!/bin/sh\n# When the tasks of Redoubt have ended: what is missing is submitted again, what is whole is put together.\n");
  common_lines(plan, out);
  directive(out, "output", cluster_plan_file(plan, "logs/gather.log"));
  text_add(out, "#SBATCH --cpus-per-task=1\n#SBATCH --time=%d\n#SBATCH --requeue\nset -eu\n", GATHER_MINUTES);
  program_and_folder(plan, "gather", out);
  text_add(out, "\n");
}

uint32_t script_list(ClusterPlan *plan, const uint32_t *tasks, uint32_t count, Text *out) {
  // Dealt like cards: neighbours are often alike, and some are long.
  uint32_t lines = (count + plan->bundle - 1) / plan->bundle;
  for (uint32_t line = 0; line < lines; line++) {
    for (uint32_t i = line; i < count; i += lines) {
      text_add(out, "%s%u", i == line ? "" : " ", tasks[i]);
      plan->tasks.items[tasks[i]].place = line;
    }
    text_add(out, "\n");
  }
  return lines;
}
