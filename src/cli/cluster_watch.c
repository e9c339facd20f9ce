// The command that planned: hands tasks out, and watches till the result is there. Ctrl-C ends the watching; on Slurm the jobs go on by themselves.
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/interrupt.h"
#include "cli/screen.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 50, IDLE_LOOKS = 2, RECEIPTS_A_SECOND = 200 };

// ---- Shown ---------------------------------------------------------------------------------------------------------------

typedef struct Watch {
  bool quiet, terminal;
  char *last; // line that was shown
} Watch;

static void clear_line(const Watch *watch) {
  if (watch->terminal && watch->last != NULL) fputs("\r\033[K", stderr);
}

// On a terminal one line that changes; elsewhere a line when something has changed.
static void show(Watch *watch, const ClusterPlan *plan, const SlurmJobs *jobs) {
  Arena *arena = arena_new();
  ClusterCount count = {0};
  Text line = {0};
  cluster_count(plan, arena, &count);
  cluster_progress(plan, &count, &line);
  if (jobs != NULL) text_add(&line, "; %u running, %u waiting", jobs->running, jobs->waiting);
  if (!watch->quiet && (watch->last == NULL || strcmp(watch->last, line.at) != 0)) {
    clear_line(watch);
    fprintf(stderr, watch->terminal ? "%s" : "%s\n", line.at);
    fflush(stderr);
    free(watch->last);
    watch->last = line.at;
    line.at = NULL;
  }
  free(line.at);
  arena_free(arena);
}

// ---- Processes of this computer ----------------------------------------------------------------------------------------------

// The process of a task; its log is opened before.
static bool start_task(Pool *pool, const ClusterPlan *plan, uint32_t task) {
  const char *words[] = {"redoubt", "task", plan->folder, arena_format(plan->arena, "%u", task), NULL};
  int log = open(cluster_task_log(plan, task), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  OwnProcess process = {.words = words, .out = log, .err = log};
  PoolSide side = pool_start(pool, &(PoolWish){.tag = task, .dies_by = SIGTERM}, NULL);
  if (side == POOL_CHILD) own_process_become(&process);
  if (log >= 0) close(log);
  return side == POOL_PARENT;
}

static void end_task(Pool *pool, PoolJob *job) {
  unsigned task = (unsigned)job->tag;
  int pid = (int)job->pid;
  if (pool_end(pool, job) == SILENT_END)
    message_error("task %u (process %d) did nothing for %d s: it was ended", task, pid, SILENCE_SECONDS);
}

// Every missing task once. Whether they have left results is looked at afterwards.
static bool run_pool(ClusterPlan *plan, const TaskList *tasks, Watch *watch, int *stopped_by, Diags *diags) {
  plan->submissions++;
  for (uint32_t i = 0; i < tasks->count; i++) {
    ClusterTask *task = &plan->tasks.items[tasks->items[i]];
    task->tries++;
    task->submission = plan->submissions;
    task->place = i;
  }
  if (!cluster_plan_write(plan, diags)) return false;
  Pool *pool = ARENA_NEW(plan->arena, Pool);
  uint32_t started = 0;
  bool starts = true; // as long as there is room for processes
  while (pool->running > 0 || (*stopped_by == 0 && starts && started < tasks->count)) {
    starts = true;
    while (*stopped_by == 0 && starts && started < tasks->count && pool->running < plan->options.processes) {
      starts = start_task(pool, plan, tasks->items[started]);
      started += starts;
    }
    PoolJob *job = pool_wait(pool);
    if (job != NULL) end_task(pool, job);
    if (job != NULL) show(watch, plan, NULL);
    int number = interrupt_take();
    if (number != 0) *stopped_by = number;
    if (number != 0) pool_signal(pool, SIGTERM);
  }
  return true;
}

static int watch_local(ClusterPlan *plan, Watch *watch) {
  for (;;) {
    Diags diags = {0};
    TaskList missing = {0};
    Advance advance;
    int stopped_by = 0;
    if (!cluster_advance(plan, &advance, &missing, &diags)) return message_diags(&diags);
    if (advance == ADVANCE_FAILED) cluster_say_failed(plan);
    if (advance != ADVANCE_MISSING) return advance == ADVANCE_DONE ? EXIT_OK : EXIT_INTERNAL;
    if (!run_pool(plan, &missing, watch, &stopped_by, &diags)) return message_diags(&diags);
    if (stopped_by == 0) continue;
    message_error("stopped; what is done is in %s: the same command goes on", plan->folder);
    return EXIT_SIGNAL + stopped_by;
  }
}

// ---- Slurm -------------------------------------------------------------------------------------------------------------------

// The signal that has come meanwhile; 0: none.
static int wait_seconds(uint32_t seconds) {
  double until = host_seconds() + seconds;
  int number = 0;
  while (number == 0 && host_seconds() < until) {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    number = interrupt_take();
  }
  return number;
}

// A look opens a file for each task: no file server shall suffer from it.
static uint32_t look_every(const ClusterPlan *plan) { return max_u32(plan->options.poll, plan->tasks.count / RECEIPTS_A_SECOND); }

static int leave(const ClusterPlan *plan, Watch *watch, int number) {
  clear_line(watch);
  message_error("the jobs go on without this command. The same command comes back; 'redoubt status %s' says how far it is; "
                "'scancel --name=%s' ends it all",
                plan->folder, cluster_plan_name(plan));
  return EXIT_SIGNAL + number;
}

// Nobody is left who works on it: what is missing is handed out, what is whole is put together.
static bool take_over(ClusterPlan *plan, bool quiet, Diags *diags) {
  TaskList missing = {0};
  Advance advance;
  return cluster_advance(plan, &advance, &missing, diags) && (advance != ADVANCE_MISSING || slurm_submit(plan, &missing, quiet, diags));
}

typedef struct Slurm {
  uint32_t idle;  // looks at which no job of ours was there
  bool is_silent; // Slurm did not answer last time
} Slurm;

static bool look(ClusterPlan *plan, Watch *watch, Slurm *slurm, Diags *diags) {
  SlurmJobs jobs;
  bool answers = slurm_jobs(plan, &jobs);
  if (answers == slurm->is_silent)
    message_note(watch->quiet, answers ? "Slurm answers again" : "Slurm does not answer; waiting for it, nothing is lost");
  slurm->is_silent = !answers;
  if (!answers) return true;
  show(watch, plan, &jobs);
  slurm->idle = jobs.running + jobs.waiting > 0 || jobs.gathers ? 0 : slurm->idle + 1;
  if (slurm->idle < IDLE_LOOKS) return true;
  slurm->idle = 0;
  clear_line(watch);
  return take_over(plan, watch->quiet, diags);
}

static int watch_slurm(const char *folder, bool is_begun, Watch *watch) {
  Slurm slurm = {.idle = is_begun ? 0 : IDLE_LOOKS - 1}; // a new plan is handed out at once
  for (;;) {
    Diags diags = {0};
    Arena *arena = arena_new();
    ClusterPlan *plan = cluster_plan_read(folder, arena, &diags);
    bool good = plan != NULL && (plan->state != CLUSTER_RUNNING || look(plan, watch, &slurm, &diags));
    int code = good ? EXIT_OK : message_diags(&diags);
    bool is_over = good && plan->state != CLUSTER_RUNNING;
    if (is_over) clear_line(watch);
    if (is_over && plan->state == CLUSTER_FAILED) cluster_say_failed(plan);
    if (is_over) code = plan->state == CLUSTER_DONE ? EXIT_OK : EXIT_INTERNAL;
    int number = good && !is_over ? wait_seconds(look_every(plan)) : 0;
    if (number != 0) code = leave(plan, watch, number);
    arena_free(arena);
    if (!good || is_over || number != 0) return code;
  }
}

// ---- All kinds -----------------------------------------------------------------------------------------------------------------

int cluster_watch(ClusterPlan *plan, bool quiet) {
  Diags diags = {0};
  Watch watch = {.quiet = quiet, .terminal = isatty(STDERR_FILENO) != 0};
  bool is_begun = plan->submissions > 0;
  if (plan->state == CLUSTER_FAILED) cluster_try_again(plan);
  if (!cluster_plan_write(plan, &diags)) return message_diags(&diags);
  int code = EXIT_OK;
  if (plan->options.kind == CLUSTER_FOLDER) {
    message_note(quiet,
                 "%s: %u tasks. Carry them out with 'redoubt task %s NUMBER...', on any computer that sees the folder, "
                 "then call 'redoubt gather %s'",
                 plan->folder, plan->tasks.count, plan->folder, plan->folder);
    return EXIT_UNFINISHED;
  }
  interrupt_hold();
  code = plan->options.kind == CLUSTER_LOCAL ? watch_local(plan, &watch) : watch_slurm(plan->folder, is_begun, &watch);
  interrupt_release();
  free(watch.last);
  return code;
}

int cluster_show_scripts(const ClusterPlan *plan) {
  ClusterPlan copy = *plan;
  uint32_t lines = (plan->tasks.count + plan->bundle - 1) / plan->bundle, most = slurm_array_size();
  Text text = {0};
  for (uint32_t first = 0; first < lines; first += most) {
    ArrayJob job = {.submission = ++copy.submissions, .count = min_u32(most, lines - first), .tries = 1};
    text_add(&text, "# ---- %s/submit/%03u.sh\n", plan->folder, job.submission);
    script_array(&copy, &job, &text);
    text_add(&text, "\n");
  }
  text_add(&text, "# ---- %s/submit/gather.sh, after the arrays\n", plan->folder);
  script_gather(&copy, &text);
  bool good = screen_print(text.at);
  text_free(&text);
  return good ? EXIT_OK : EXIT_INTERNAL;
}
