// Workloads measured side by side, each in a process of its own; see measure.h.
#include "cli/measure.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- One workload, in its own process ------------------------------------------------------------------

static void measure_here(RunOptions *options, Measured *result) {
  Run run = {.options = options, .arena = arena_new()};
  run.progress.start = host_seconds();
  result->code = run_workload(&run, result->workload);
  result->launches = run.result.launches.count;
  result->total = result_total(&run.result);
  result->total.kernel = NULL; // of this process
  result->check = run.result.check;
}

// What it says on stderr goes to `messages`: that of several at a time would be mixed.
static pid_t start(RunOptions *options, Measured *result, int messages) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL); // whoever ends the command ends its workloads
  dup2(messages, STDERR_FILENO);
  measure_here(options, result);
  _exit(EXIT_OK);
}

// ---- All of them -----------------------------------------------------------------------------------------

typedef struct Job {
  pid_t pid;
  int messages; // a file in memory
} Job;

typedef struct Crew {
  RunOptions *options;
  Measured *results;
  Job *jobs; // of results[i]
  uint32_t count, started, ended;
  bool shows; // stderr is a terminal
} Crew;

static void show_progress(const Crew *crew) {
  if (!crew->shows) return;
  if (crew->ended < crew->count) fprintf(stderr, "\r\033[K%u of %u workloads", crew->ended, crew->count);
  else fputs("\r\033[K", stderr);
  fflush(stderr);
}

static bool start_one(Crew *crew) {
  Job *job = &crew->jobs[crew->started];
  job->messages = memfd_create("messages", MFD_CLOEXEC);
  job->pid = job->messages < 0 ? -1 : start(crew->options, &crew->results[crew->started], job->messages);
  if (job->pid > 0) crew->started++;
  else message_error("cannot start a process: %s", strerror(errno));
  return job->pid > 0;
}

static void take_result(Measured *result, Job *job, int status) {
  ssize_t length = pread(job->messages, result->message, sizeof result->message - 1, 0);
  result->message[length < 0 ? 0 : length] = '\0';
  close(job->messages);
  job->pid = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK) return;
  result->code = EXIT_INTERNAL;
  size_t used = strlen(result->message);
  if (WIFSIGNALED(status)) snprintf(result->message + used, sizeof result->message - used, "ended by signal %d\n", WTERMSIG(status));
}

static void end_one(Crew *crew) {
  int status = 0;
  pid_t pid = wait(&status);
  for (uint32_t i = 0; i < crew->started && pid > 0; i++) {
    if (crew->jobs[i].pid != pid) continue;
    take_result(&crew->results[i], &crew->jobs[i], status);
    crew->ended++;
    break;
  }
  show_progress(crew);
}

Measured *measure(RunOptions *options, const WorkloadList *list, uint32_t processes) {
  size_t bytes = sizeof(Measured) * list->count;
  Measured *results = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (results == MAP_FAILED) {
    message_error("no memory for the results of %u workloads: %s", list->count, strerror(errno));
    return NULL;
  }
  Arena *arena = arena_new();
  Crew crew = {.options = options, .results = results, .jobs = ARENA_ARRAY(arena, Job, list->count), .count = list->count};
  crew.shows = isatty(STDERR_FILENO) != 0;
  for (uint32_t i = 0; i < list->count; i++) results[i].workload = list->items[i];
  bool ok = true;
  while (crew.ended < crew.started || (ok && crew.started < crew.count)) {
    bool has_room = ok && crew.started < crew.count && crew.started - crew.ended < processes;
    if (has_room) ok = start_one(&crew);
    else end_one(&crew);
  }
  arena_free(arena);
  if (ok) return results;
  measured_free(results, list->count);
  return NULL;
}

void measured_free(Measured *results, uint32_t count) {
  if (results != NULL) munmap(results, sizeof(Measured) * count);
}

// An internal error is worse than a trap, a trap than a wrong result, that than a refusal.
static int worse(int a, int b) {
  static const int order[] = {EXIT_INTERNAL, EXIT_TRAPPED, EXIT_CHECK_FAILED, EXIT_BAD_INPUT};
  for (size_t i = 0; i < COUNT_OF(order); i++) {
    if (a == order[i] || b == order[i]) return order[i];
  }
  return EXIT_OK;
}

int measured_failures(const Measured *results, uint32_t count) {
  int code = EXIT_OK;
  Text names = {0};
  uint32_t failed = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (results[i].code == EXIT_OK) continue;
    code = worse(code, results[i].code);
    text_add(&names, "%s%s", failed++ == 0 ? "" : ", ", results[i].workload->name);
    fflush(stdout);
    fputs(results[i].message, stderr);
  }
  if (failed > 0) message_error("%u of %u workloads failed: %s", failed, count, names.at);
  text_free(&names);
  return code;
}
