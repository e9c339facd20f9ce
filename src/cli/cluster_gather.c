// redoubt gather FOLDER: what the tasks of a plan have come to. Missing results are handed out again, whole ones are put together.
#include "cli/cli.h"
#include "cli/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- What is there -----------------------------------------------------------------------------------------------------

// The part of the campaign that the task was to settle.
static bool holds_its_faults(const ClusterPlan *plan, uint32_t number) {
  const ClusterTask *task = &plan->tasks.items[number];
  Diags ignored = {0};
  Journal *journal = journal_read(cluster_task_file(plan, number), &ignored);
  const JournalMeta *meta = journal != NULL ? journal_meta(journal) : NULL;
  bool good = meta != NULL && meta->first == task->first && meta->end == task->end;
  journal_close(journal);
  diags_free(&ignored);
  return good;
}

// Thorough: its content, too.
static ResultState look_at(const ClusterPlan *plan, uint32_t task, bool thorough, Arena *arena) {
  Receipt receipt;
  ResultState state = result_state(plan, task, thorough, arena, &receipt);
  if (state != RESULT_GOOD || !thorough) return state;
  return (plan->is_study ? cluster_is_cell : holds_its_faults)(plan, task) ? RESULT_GOOD : RESULT_OTHER;
}

// What is damaged, or belongs elsewhere, is as good as nothing: it is removed, so that nobody takes it for this task's.
static void find_missing(const ClusterPlan *plan, bool thorough, TaskList *missing) {
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < plan->tasks.count; i++) {
    ResultState state = look_at(plan, i, thorough, arena);
    if (state == RESULT_DAMAGED || state == RESULT_OTHER) {
      message_error("task %u: its result %s; it is done again", i,
                    state == RESULT_DAMAGED ? "is damaged or was cut off" : "is of another task, or was changed");
      unlink(cluster_task_receipt(plan, i));
      unlink(cluster_task_file(plan, i));
    }
    if (state != RESULT_GOOD) *VEC_PUSH(missing, plan->arena) = i;
  }
  arena_free(arena);
}

static bool too_many_tries(ClusterPlan *plan, const TaskList *missing) {
  for (uint32_t i = 0; i < missing->count; i++) {
    const ClusterTask *task = &plan->tasks.items[missing->items[i]];
    if (task->tries < plan->options.tries) continue;
    plan->state = CLUSTER_FAILED;
    plan->message = arena_format(plan->arena, "task %u has left no result after %u tries", missing->items[i], task->tries);
    return true;
  }
  return false;
}

// ---- A campaign ---------------------------------------------------------------------------------------------------------

static const char *const *part_paths(const ClusterPlan *plan) {
  const char **paths = ARENA_ARRAY(plan->arena, const char *, plan->tasks.count + 1);
  for (uint32_t i = 0; i < plan->tasks.count; i++) paths[i] = cluster_task_file(plan, i);
  return paths;
}

static bool take_row(void *context, const FaultRow *row) {
  rounds_take(context, row);
  return true;
}

// Tasks are in order of their faults.
static bool read_rounds(const ClusterPlan *plan, Rounds *rounds, Diags *diags) {
  const char *const *paths = part_paths(plan);
  Journal *journal = journal_read(paths[0], diags);
  if (journal == NULL) return false;
  rounds_begin(rounds, journal, plan->arena);
  bool good = true;
  for (uint32_t i = 0; i < plan->tasks.count && good && rounds->margin > 0; i++) {
    if (i > 0) journal = journal_read(paths[i], diags);
    good = journal != NULL && (journal_each_fault(journal, take_row, rounds) || journal_damaged(journal, diags));
    journal_close(journal);
    journal = NULL;
  }
  journal_close(journal);
  uint64_t end = plan->tasks.items[plan->tasks.count - 1].end;
  if (good) rounds_end(rounds, min_u64(end, rounds->total));
  return good;
}

static const char *tight_names(const ClusterPlan *plan, const Rounds *rounds) {
  Text names = {0};
  text_add(&names, "%s", "");
  for (uint32_t i = 0; i < rounds->structures.count; i++) {
    const RoundStructure *structure = &rounds->structures.items[i];
    if (structure->is_tight) text_add(&names, "%s%s", names.length == 0 ? "" : ",", structure->name);
  }
  const char *copy = arena_copy_text(plan->arena, names.at, names.length);
  text_free(&names);
  return copy;
}

// One more round, if the intervals are not narrow enough. It has as many tasks as its faults need at the size that was chosen at first.
static bool add_round(ClusterPlan *plan, TaskList *missing, Diags *diags) {
  Rounds rounds;
  if (!read_rounds(plan, &rounds, diags)) return false;
  uint64_t end = plan->tasks.items[plan->tasks.count - 1].end, size = plan->tasks.items[0].end;
  if (rounds.margin <= 0 || rounds.is_sure || end >= rounds.total) return true;
  uint32_t before = plan->tasks.count;
  uint64_t next = min_u64(end + rounds_foresee(&rounds), rounds.total);
  cluster_plan_cut(plan, end, next, size, rounds.batch, tight_names(plan, &rounds));
  plan->rounds++;
  for (uint32_t i = before; i < plan->tasks.count; i++) *VEC_PUSH(missing, plan->arena) = i;
  message_note(false, "round %u: %llu faults more, in %u tasks", plan->rounds, (unsigned long long)(next - end), missing->count);
  return cluster_plan_write(plan, diags);
}

// On a local disk, as the tasks: then the journal appears whole.
static bool merge_parts(const ClusterPlan *plan, Diags *diags) {
  const char *root = plan->options.scratch != NULL ? plan->options.scratch : getenv("TMPDIR");
  char *folder = arena_format(plan->arena, "%s/redoubt-merge-XXXXXX", root == NULL ? P_tmpdir : root);
  if (mkdtemp(folder) == NULL) return diags_add(diags, folder, 0, 0, "cannot be made: %s", strerror(errno));
  const char *local = arena_format(plan->arena, "%s/all.db", folder);
  Receipt unused = {0};
  bool good = journal_merge(local, part_paths(plan), plan->tasks.count, diags) &&
              journal_replace_note(local, NOTE_COMMAND, plan->command, diags) &&
              result_publish(local, plan->outputs.items[0].file, &unused, diags);
  unlink(local);
  rmdir(folder);
  return good;
}

// ---- A study -------------------------------------------------------------------------------------------------------------

// The study itself finds all its cells, and judges.
static bool judge_study(const ClusterPlan *plan, Diags *diags) {
  ClusterWords words = {0};
  *VEC_PUSH(&words, plan->arena) = "redoubt";
  for (uint32_t i = 0; i < plan->finish.count; i++) *VEC_PUSH(&words, plan->arena) = plan->finish.items[i];
  *VEC_PUSH(&words, plan->arena) = NULL;
  OwnProcess process = {.words = words.items, .work = plan->work, .out = open("/dev/null", O_WRONLY | O_CLOEXEC), .err = -1};
  int stopped_by = 0, code = own_process_run(&process, &stopped_by);
  if (process.out >= 0) close(process.out);
  return code == EXIT_OK || diags_add(diags, plan->folder, 0, 0, "all cells are there, but the study cannot be judged: exit code %d", code);
}

// ---- All of it -----------------------------------------------------------------------------------------------------------

bool cluster_advance(ClusterPlan *plan, Advance *advance, TaskList *missing, Diags *diags) {
  *advance = plan->state == CLUSTER_DONE ? ADVANCE_DONE : ADVANCE_FAILED;
  if (plan->state != CLUSTER_RUNNING) return true;
  find_missing(plan, false, missing);
  if (missing->count == 0) find_missing(plan, true, missing);
  if (missing->count > 0 && too_many_tries(plan, missing)) return cluster_plan_write(plan, diags);
  *advance = ADVANCE_MISSING;
  if (missing->count == 0 && !plan->is_study && !add_round(plan, missing, diags)) return false;
  if (missing->count > 0) return true;
  if (!(plan->is_study ? judge_study : merge_parts)(plan, diags)) return false;
  plan->state = CLUSTER_DONE;
  *advance = ADVANCE_DONE;
  return cluster_plan_write(plan, diags);
}

void cluster_say_failed(const ClusterPlan *plan) {
  message_error("%s: %s; 'redoubt status %s' says more, and the first command tries again", plan->folder, plan->message, plan->folder);
}

void cluster_try_again(ClusterPlan *plan) {
  plan->state = CLUSTER_RUNNING;
  plan->message = "";
  for (uint32_t i = 0; i < plan->tasks.count; i++) plan->tasks.items[i].tries = 0;
}

static void say_missing(const ClusterPlan *plan, const TaskList *missing) {
  message_error("%s: %u of %u tasks have left no result yet: 'redoubt status %s --missing' names them", plan->folder, missing->count,
                plan->tasks.count, plan->folder);
}

static int gather(const char *folder, Arena *arena, bool quiet) {
  Diags diags = {0};
  TaskList missing = {0};
  Advance advance;
  ClusterPlan *plan = cluster_plan_read(folder, arena, &diags);
  if (plan == NULL || !cluster_advance(plan, &advance, &missing, &diags)) return message_diags(&diags);
  if (advance == ADVANCE_FAILED) cluster_say_failed(plan);
  if (advance == ADVANCE_FAILED) return EXIT_INTERNAL;
  if (advance == ADVANCE_DONE) {
    message_note(quiet, "%s: all %u tasks are done%s%s", folder, plan->tasks.count, plan->is_study ? "" : ", and put together in ",
                 plan->is_study ? "" : plan->outputs.items[0].file);
    return EXIT_OK;
  }
  if (plan->options.kind == CLUSTER_SLURM) return slurm_submit(plan, &missing, quiet, &diags) ? EXIT_OK : message_diags(&diags);
  say_missing(plan, &missing);
  return EXIT_UNFINISHED;
}

static int run_command(int argc, char **argv) {
  Operands operands;
  Arena *arena = arena_new();
  int code;
  if (!options_parse(&command_gather, NULL, arena, argc, argv, &operands)) code = operands.exit_code;
  else code = gather(cluster_folder(operands.items[0], arena), arena, operands.quiet);
  arena_free(arena);
  return code;
}

const Command command_gather = {
    .name = "gather",
    .usage = "FOLDER",
    .summary = "put the results of a plan's tasks together, or say what is missing",
    .synopsis = "redoubt gather FOLDER\n",
    .about = "Looks at the result of every task that 'redoubt campaign' or 'redoubt study' have planned with --cluster. If all are\n"
             "whole, puts them together; a campaign with a margin may need a further round of tasks first. On Slurm, tasks that\n"
             "are missing are submitted again: a job that waits for the tasks calls this.\n",
    .ending = "Exit codes: 0 put together, or submitted again; 2 bad usage or input, 4 a task fails again and again,\n"
              "5 tasks are missing. docs/cluster.md describes the folder.\n",
    .operand = "folder",
    .wanted = "name the folder of the plan",
    .least_operands = 1,
    .most_operands = 1,
    .run = run_command,
};
