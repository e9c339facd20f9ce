// redoubt task FOLDER NUMBER...: tasks of a plan, one after the other. A task works on a disk of its own computer, since SQLite's journal does not
// work on network file systems; its result then appears whole in the shared folder.
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char SCRATCH_NAME[] = "redoubt-task-";
enum { STALE_SECONDS = 60 };

typedef struct TaskRun {
  const ClusterPlan *plan;
  uint32_t task;
  Arena *arena;
  const char *folder; // of its own, on a local disk
  int lock;           // held as long as somebody works there
  int stopped_by;
  Diags *diags;
} TaskRun;

// ---- The local disk ---------------------------------------------------------------------------------------------------

static const char *scratch_root(const ClusterPlan *plan) {
  const char *names[] = {"SLURM_TMPDIR", "TMPDIR"};
  if (plan->options.scratch != NULL) return plan->options.scratch;
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const char *folder = getenv(names[i]);
    if (folder != NULL && access(folder, W_OK) == 0) return folder;
  }
  return P_tmpdir;
}

// Left behind by a task that was killed: nobody holds its lock, and it is not just being made.
static bool is_stale(Arena *arena, const char *path) {
  struct stat about;
  if (stat(path, &about) != 0 || about.st_uid != geteuid() || time(NULL) - about.st_mtime < STALE_SECONDS) return false;
  int lock = open(arena_format(arena, "%s/lock", path), O_RDWR | O_CLOEXEC);
  bool is_free = lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0;
  if (lock >= 0) close(lock);
  return is_free;
}

static void sweep(Arena *arena, const char *root) {
  DIR *folder = opendir(root);
  for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    if (strncmp(entry->d_name, SCRATCH_NAME, sizeof SCRATCH_NAME - 1) != 0) continue;
    const char *path = arena_format(arena, "%s/%s", root, entry->d_name);
    if (is_stale(arena, path)) folder_remove(path);
  }
  if (folder != NULL) closedir(folder);
}

static bool open_scratch(TaskRun *run) {
  const char *root = scratch_root(run->plan);
  sweep(run->arena, root);
  char *path = arena_format(run->arena, "%s/%sXXXXXX", root, SCRATCH_NAME);
  if (mkdtemp(path) == NULL) return diags_add(run->diags, root, 0, 0, "no folder can be made there: %s", strerror(errno));
  run->folder = path;
  run->lock = open(arena_format(run->arena, "%s/lock", path), O_RDWR | O_CREAT, 0600); // the process of the task has it too
  if (run->lock >= 0) flock(run->lock, LOCK_EX);
  return true;
}

static void close_scratch(TaskRun *run) {
  if (run->folder == NULL) return;
  folder_remove(run->folder);
  if (run->lock >= 0) close(run->lock);
}

// ---- One task ---------------------------------------------------------------------------------------------------------

static const char *const *task_words(const TaskRun *run, const char *local) {
  const ClusterTask *task = &run->plan->tasks.items[run->task];
  const ClusterOutput *output = &run->plan->outputs.items[task->output];
  const char *more[16] = {"--quiet"};
  uint32_t count = 1;
  if (output->is_run) {
    more[count++] = arena_format(run->arena, "--json=%s", local);
  } else {
    more[count++] = "-o";
    more[count++] = local;
    more[count++] = "-j";
    more[count++] = arena_format(run->arena, "%u", run->plan->options.cpus);
  }
  if (task->end > 0) {
    more[count++] = "--part";
    more[count++] = arena_format(run->arena, "%llu-%llu", (unsigned long long)task->first, (unsigned long long)task->end);
  }
  if (task->enough != NULL && task->enough[0] != '\0') {
    more[count++] = "--enough";
    more[count++] = task->enough;
  }
  ClusterWords words = {0};
  *VEC_PUSH(&words, run->arena) = "redoubt";
  cluster_words(&words, run->arena, (const char *const *)output->words.items, output->words.count, more);
  *VEC_PUSH(&words, run->arena) = NULL;
  return words.items;
}

static const char *host_name(Arena *arena) {
  struct utsname host = {0};
  uname(&host);
  return arena_copy_text(arena, host.nodename, strlen(host.nodename));
}

static bool publish(TaskRun *run, const char *local, double seconds) {
  const ClusterPlan *plan = run->plan;
  bool is_run = plan->outputs.items[plan->tasks.items[run->task].output].is_run;
  Receipt receipt = {.seconds = seconds, .host = host_name(run->arena)};
  receipt_name(&receipt, plan, run->task);
  bool good = (is_run || receipt_count(&receipt, local, run->arena, run->diags)) &&
              (!plan->is_study || cluster_seal_cell(plan, run->task, local, run->diags)) &&
              result_publish(local, cluster_task_file(plan, run->task), &receipt, run->diags) &&
              receipt_write(cluster_task_receipt(plan, run->task), &receipt, run->diags);
  if (!good) return false;
  unlink(cluster_task_unfinished(plan, run->task));
  unlink(cluster_task_failure(plan, run->task));
  return true;
}

// What was settled before a signal came is not settled again by the next try. A journal that was not closed in order is left alone.
static void keep_unfinished(TaskRun *run, const char *local) {
  Diags ignored = {0};
  Receipt unused = {0};
  bool is_at_rest = access(local, F_OK) == 0 && access(arena_format(run->arena, "%s-wal", local), F_OK) != 0;
  if (is_at_rest) result_publish(local, cluster_task_unfinished(run->plan, run->task), &unused, &ignored);
  diags_free(&ignored);
}

static void note_failure(TaskRun *run, int code) {
  Diags ignored = {0};
  Text text = {0};
  text_add(&text, "exit code %d on %s\n", code, host_name(run->arena));
  text_publish(cluster_task_failure(run->plan, run->task), &text, &ignored);
  text_free(&text);
  diags_free(&ignored);
}

static int carry_out(TaskRun *run, const char *local) {
  OwnProcess process = {
      .words = task_words(run, local), .work = run->plan->work, .out = open("/dev/null", O_WRONLY | O_CLOEXEC), .err = -1};
  int code = own_process_run(&process, &run->stopped_by);
  if (process.out >= 0) close(process.out);
  return code;
}

static bool take_up(TaskRun *run, const char *local) {
  Diags ignored = {0};
  Receipt unused = {0};
  const char *unfinished = cluster_task_unfinished(run->plan, run->task);
  bool is_there = access(unfinished, F_OK) == 0 && result_publish(unfinished, local, &unused, &ignored);
  diags_free(&ignored);
  return is_there;
}

static int run_in_scratch(TaskRun *run) {
  bool is_run = run->plan->outputs.items[run->plan->tasks.items[run->task].output].is_run;
  const char *local = arena_format(run->arena, "%s/%s", run->folder, is_run ? "result.json" : "result.db");
  double began = host_seconds();
  bool goes_on = !is_run && take_up(run, local);
  int code = carry_out(run, local);
  if (goes_on && code == EXIT_BAD_INPUT && run->stopped_by == 0) { // what was kept is no good
    unlink(local);
    unlink(cluster_task_unfinished(run->plan, run->task));
    code = carry_out(run, local);
  }
  if (code == EXIT_OK) return publish(run, local, host_seconds() - began) ? EXIT_OK : message_diags(run->diags);
  if (!is_run && code >= EXIT_SIGNAL) keep_unfinished(run, local);
  if (run->stopped_by != 0) return EXIT_SIGNAL + run->stopped_by;
  note_failure(run, code);
  message_error("task %u ended with exit code %d", run->task, code);
  return code;
}

static int run_one(const ClusterPlan *plan, uint32_t task) {
  Diags diags = {0};
  TaskRun run = {.plan = plan, .task = task, .arena = arena_new(), .lock = -1, .diags = &diags};
  Receipt receipt;
  int code = EXIT_OK;
  if (result_state(plan, task, false, run.arena, &receipt) == RESULT_GOOD) message_note(false, "task %u is done already", task);
  else if (open_scratch(&run)) code = run_in_scratch(&run);
  else code = message_diags(&diags);
  close_scratch(&run);
  arena_free(run.arena);
  diags_free(&diags);
  return code;
}

static bool task_number(const ClusterPlan *plan, const char *text, uint32_t *task) {
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || number >= plan->tasks.count) {
    message_error("%s has no task '%s', but 0 to %u", plan->folder, text, plan->tasks.count - 1);
    return false;
  }
  *task = (uint32_t)number;
  return true;
}

static int run_tasks(const ClusterPlan *plan, char **numbers, uint32_t count) {
  int worst = EXIT_OK;
  if (plan->program_hash != own_hash()) {
    message_error("%s was planned by another build of Redoubt (%s): a result must come from one build", plan->folder, plan->program);
    return EXIT_BAD_INPUT;
  }
  interrupt_hold();
  for (uint32_t i = 0; i < count && worst < EXIT_SIGNAL; i++) {
    uint32_t task;
    if (!task_number(plan, numbers[i], &task)) return EXIT_BAD_INPUT;
    int code = run_one(plan, task);
    if (code > worst) worst = code;
  }
  return worst;
}

static int run_command(int argc, char **argv) {
  Operands operands;
  Diags diags = {0};
  Arena *arena = arena_new();
  int code = EXIT_OK;
  if (!options_parse(&command_task, NULL, arena, argc, argv, &operands)) {
    code = operands.exit_code;
  } else {
    const ClusterPlan *plan = cluster_plan_read(cluster_folder(operands.items[0], arena), arena, &diags);
    code = plan == NULL ? message_diags(&diags) : run_tasks(plan, operands.items + 1, operands.count - 1);
  }
  arena_free(arena);
  return code;
}

const Command command_task = {
    .name = "task",
    .usage = "FOLDER N...",
    .summary = "carry out tasks of a plan for a cluster",
    .synopsis = "redoubt task FOLDER NUMBER...\n",
    .about = "Carries out tasks that 'redoubt campaign' or 'redoubt study' have planned with --cluster, on a disk of this computer\n"
             "(TMPDIR), and puts each result into the folder. A task that is done is not done again. Scripts for Slurm call this;\n"
             "so can any other scheduler. 'redoubt status FOLDER --missing' says which numbers are left.\n",
    .ending = "docs/cluster.md describes the folder.\n",
    .operand = "folder",
    .wanted = "name the folder of the plan, then numbers of tasks",
    .least_operands = 2,
    .most_operands = 4096,
    .run = run_command,
};
