// redoubt status FOLDER: how far the tasks of a plan are, what they have found, what has failed.
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/screen.h"
#include "journal/statistics.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct StatusWishes {
  bool missing;
} StatusWishes;

enum { TROUBLES_SHOWN = 20 };

// ---- Counted ---------------------------------------------------------------------------------------------------------------

static ReceiptStructure *structure_named(ClusterCount *count, Arena *arena, const char *name) {
  for (uint32_t i = 0; i < count->structures.count; i++) {
    if (strcmp(count->structures.items[i].name, name) == 0) return &count->structures.items[i];
  }
  ReceiptStructure *structure = VEC_PUSH(&count->structures, arena);
  structure->name = name;
  return structure;
}

void cluster_count(const ClusterPlan *plan, Arena *arena, ClusterCount *count) {
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    Receipt receipt;
    ResultState state = result_state(plan, i, false, arena, &receipt);
    count->faults_in_all += plan->tasks.items[i].end - plan->tasks.items[i].first;
    count->damaged += state == RESULT_DAMAGED || state == RESULT_OTHER;
    count->missing += state == RESULT_MISSING;
    if (state != RESULT_GOOD) continue;
    count->done++;
    count->faults += receipt.faults;
    for (uint32_t k = 0; k < receipt.structures.count; k++) {
      ReceiptStructure *structure = structure_named(count, arena, receipt.structures.items[k].name);
      for (uint32_t outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        structure->counts[outcome] += receipt.structures.items[k].counts[outcome];
      structure->undrawn = receipt.structures.items[k].undrawn;
    }
  }
}

void cluster_progress(const ClusterPlan *plan, const ClusterCount *count, Text *out) {
  text_add(out, "%u of %u tasks done", count->done, plan->tasks.count);
  if (count->faults > 0) text_add(out, ", %llu faults", (unsigned long long)count->faults);
  if (count->damaged > 0) text_add(out, ", %u damaged", count->damaged);
  if (plan->rounds > 1) text_add(out, ", round %u", plan->rounds);
}

// ---- Shown -----------------------------------------------------------------------------------------------------------------

static uint64_t of_group(const ReceiptStructure *structure, const char *group) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? structure->counts[i] : 0;
  return sum;
}

static uint64_t of_part(const ReceiptStructure *structure, const char *part) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].part, part) == 0 ? structure->counts[i] : 0;
  return sum;
}

static void add_share(Text *out, uint64_t hits, uint64_t all, double drawn) {
  Interval interval = wilson_interval(hits, all, 0.99);
  char text[ESTIMATE_TEXT];
  Estimate share = {true, all == 0 ? 0 : drawn * (double)hits / (double)all, drawn * interval.low, drawn * interval.high};
  text_add(out, "  %-22s", estimate_text(share, AS_PERCENT, text));
}

static void add_outcomes(const ClusterCount *count, Text *out) {
  if (count->structures.count == 0) return;
  text_add(out, "\nOutcomes so far, of the tasks that are done; percent, intervals at 99%%\n%-14s %8s  %-22s  %-22s  %s\n", "structure",
           "faults", "SDC", "DUE", "of it detected");
  for (uint32_t i = 0; i < count->structures.count; i++) {
    const ReceiptStructure *structure = &count->structures.items[i];
    uint64_t all = 0;
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) all += structure->counts[k];
    text_add(out, "%-14s %8llu", structure->name, (unsigned long long)all);
    add_share(out, of_group(structure, "sdc"), all, 1 - structure->undrawn);
    add_share(out, of_group(structure, "due"), all, 1 - structure->undrawn);
    add_share(out, of_part(structure, "detected"), all, 1 - structure->undrawn);
    text_add(out, "\n");
    if (structure->counts[OUTCOME_INTERNAL] > 0)
      text_add(out, "  %llu simulations failed in Redoubt itself\n", (unsigned long long)structure->counts[OUTCOME_INTERNAL]);
  }
}

// What a failed task has left: one line.
static const char *failure_of(const ClusterPlan *plan, uint32_t task, Arena *arena) {
  Diags ignored = {0};
  char *text;
  size_t length;
  const char *path = cluster_task_failure(plan, task), *line = "left no result";
  if (access(path, F_OK) == 0 && file_read(arena, path, &text, &length, &ignored)) {
    text[strcspn(text, "\n")] = '\0';
    line = text;
  }
  diags_free(&ignored);
  return line;
}

// Tasks that were tried before and are not done.
static void add_troubles(const ClusterPlan *plan, Arena *arena, Text *out) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    const ClusterTask *task = &plan->tasks.items[i];
    Receipt receipt;
    bool is_tried = task->tries > 1 || access(cluster_task_failure(plan, i), F_OK) == 0 || plan->state == CLUSTER_FAILED;
    if (!is_tried || task->tries == 0) continue;
    ResultState state = result_state(plan, i, false, arena, &receipt);
    if (state == RESULT_GOOD || shown++ >= TROUBLES_SHOWN) continue;
    const char *trouble = state == RESULT_OTHER ? "its result is of another task" : "its result is damaged or cut off";
    if (shown == 1) text_add(out, "\nTasks in trouble\n");
    text_add(out, "task %u, try %u of %u: %s; log %s\n", i, task->tries, plan->options.tries,
             state == RESULT_MISSING ? failure_of(plan, i, arena) : trouble, cluster_task_log(plan, i));
  }
  if (shown > TROUBLES_SHOWN) text_add(out, "and %u more\n", shown - TROUBLES_SHOWN);
}

static void add_queue(const ClusterPlan *plan, const ClusterCount *count, Text *out) {
  SlurmJobs jobs;
  if (plan->options.kind != CLUSTER_SLURM || plan->state != CLUSTER_RUNNING) return;
  if (!slurm_jobs(plan, &jobs)) {
    text_add(out, "Slurm does not answer\n");
    return;
  }
  text_add(out, "in the queue as %s: %u running, %u waiting\n", cluster_plan_name(plan), jobs.running, jobs.waiting);
  bool is_idle = jobs.running + jobs.waiting == 0 && !jobs.gathers;
  if (is_idle)
    text_add(out, "nobody works on %s: the first command, or 'redoubt gather %s', goes on\n",
             count->done < plan->tasks.count ? "the rest" : "it", plan->folder);
}

static const char *state_text(const ClusterPlan *plan) {
  return plan->state == CLUSTER_DONE ? "done" : plan->state == CLUSTER_FAILED ? "failed" : "not finished";
}

static void add_all(const ClusterPlan *plan, Arena *arena, Text *out) {
  ClusterCount count = {0};
  cluster_count(plan, arena, &count);
  text_add(out, "%s\n%s, cluster %s: %s", plan->command, plan->folder, plan->options_text, state_text(plan));
  if (plan->message[0] != '\0') text_add(out, ": %s", plan->message);
  text_add(out, "\n");
  cluster_progress(plan, &count, out);
  text_add(out, "\n");
  add_queue(plan, &count, out);
  if (!plan->is_study) add_outcomes(&count, out); // of a study every campaign counts for itself
  add_troubles(plan, arena, out);
  if (plan->state == CLUSTER_DONE && !plan->is_study) text_add(out, "\nThe journal: %s\n", plan->outputs.items[0].file);
}

// The numbers alone, for scripts.
static void add_missing(const ClusterPlan *plan, Arena *arena, Text *out) {
  text_add(out, "%s", "");
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    Receipt receipt;
    if (result_state(plan, i, false, arena, &receipt) != RESULT_GOOD) text_add(out, "%u\n", i);
  }
}

static int status(const StatusWishes *wishes, const char *folder, Arena *arena) {
  Diags diags = {0};
  const ClusterPlan *plan = cluster_plan_read(folder, arena, &diags);
  if (plan == NULL) return message_diags(&diags);
  Text text = {0};
  (wishes->missing ? add_missing : add_all)(plan, arena, &text);
  bool good = screen_print(text.at);
  text_free(&text);
  if (!good) return EXIT_INTERNAL;
  return plan->state == CLUSTER_DONE ? EXIT_OK : plan->state == CLUSTER_FAILED ? EXIT_INTERNAL : EXIT_UNFINISHED;
}

static int run_command(int argc, char **argv) {
  StatusWishes wishes = {0};
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (!options_parse(&command_status, &wishes, arena, argc, argv, &operands)) code = operands.exit_code;
  else code = status(&wishes, cluster_folder(operands.items[0], arena), arena);
  arena_free(arena);
  return code;
}

static const Option options[] = {
    {"missing", 0, NULL, "only the numbers of tasks without a result, one a line, for scripts", .take = option_flag,
     .offset = offsetof(StatusWishes, missing)},
};
static const OptionGroup group = OPTION_GROUP(NULL, options);

const Command command_status = {
    .name = "status",
    .usage = "FOLDER",
    .summary = "how far a campaign or study on a cluster is",
    .synopsis = "redoubt status FOLDER [--missing]\n",
    .about = "Shows the tasks that 'redoubt campaign' or 'redoubt study' have planned with --cluster: how many are done, what they\n"
             "have found so far, which have failed, and where their logs are. Changes nothing.\n",
    .groups = {&group},
    .ending = "Exit codes: 0 all is done, 2 bad usage or input, 4 a task fails again and again, 5 not finished.\n",
    .operand = "folder",
    .wanted = "name the journal, the folder of the study, or the folder of the plan",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_command,
};
