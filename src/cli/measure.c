// Workloads measured side by side, each in a process of its own; see measure.h.
#include "cli/measure.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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

// In the new process. What it says on stderr goes to `messages`: that of several at a time would be mixed.
static _Noreturn void become_workload(RunOptions *options, Measured *result, int messages) {
  dup2(messages, STDERR_FILENO);
  measure_here(options, result);
  _exit(EXIT_OK);
}

// ---- All of them -----------------------------------------------------------------------------------------

typedef struct Crew {
  RunOptions *options;
  Measured *results;
  int *messages; // of results[i]: a file in memory
  Pool pool;
  uint32_t count, started, ended;
  bool shows; // stderr is a terminal
} Crew;

static void show_progress(const Crew *crew) {
  if (!crew->shows) return;
  if (crew->ended < crew->count) fprintf(stderr, "\r\033[K%u of %u workloads", crew->ended, crew->count);
  else fputs("\r\033[K", stderr);
  fflush(stderr);
}

// Whoever ends the command ends its workloads.
static bool start_one(Crew *crew) {
  uint32_t index = crew->started;
  int messages = memfd_create("messages", MFD_CLOEXEC);
  PoolWish wish = {.tag = index, .dies_by = SIGKILL};
  PoolSide side = messages < 0 ? POOL_FAILED : pool_start(&crew->pool, &wish, NULL);
  if (side == POOL_CHILD) become_workload(crew->options, &crew->results[index], messages);
  crew->messages[index] = messages;
  if (side == POOL_PARENT) crew->started++;
  else message_error("cannot start a process: %s", strerror(errno));
  return side == POOL_PARENT;
}

static void take_result(Measured *result, int messages, int status) {
  ssize_t length = pread(messages, result->message, sizeof result->message - 1, 0);
  result->message[length < 0 ? 0 : length] = '\0';
  close(messages);
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_OK) return;
  result->code = EXIT_INTERNAL;
  size_t used = strlen(result->message);
  if (status == SILENT_END) snprintf(result->message + used, sizeof result->message - used, "it did nothing any more and was ended\n");
  else if (WIFSIGNALED(status)) snprintf(result->message + used, sizeof result->message - used, "ended by signal %d\n", WTERMSIG(status));
}

static void end_one(Crew *crew) {
  PoolJob *job = pool_wait(&crew->pool);
  if (job == NULL) return;
  uint64_t index = job->tag;
  take_result(&crew->results[index], crew->messages[index], pool_end(&crew->pool, job));
  crew->ended++;
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
  Crew crew = {.options = options, .results = results, .messages = ARENA_ARRAY(arena, int, list->count), .count = list->count};
  crew.shows = isatty(STDERR_FILENO) != 0;
  for (uint32_t i = 0; i < list->count; i++) results[i].workload = list->items[i];
  bool ok = true;
  while (crew.ended < crew.started || (ok && crew.started < crew.count)) {
    bool has_room = ok && crew.started < crew.count && crew.started - crew.ended < min_u32(processes, MOST_JOBS);
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
