// The runs of a CUDA program with faults. One process runs the program without faults and forks whenever a fault's moment comes
// (fork.c). What it forks becomes this process's child as soon as the process between them has ended, so its end is seen
// here, and judged here. Its result is in a place of the exchange that is then free again.
//
// Faults for which there was no such process are struck in a run of the program from its beginning: all of them without snapshots, and
// those at whose moment the program could not be forked.
#include "app/app_internal.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct AppJob { // a run from the beginning
  pid_t pid;
  AppExchange *exchange;
  const Draw *draw;
} AppJob;

typedef struct Jobs {
  AppTarget *own;
  const CampaignOptions *options;
  const Golden *golden;
  const Draw *draws;
  uint32_t count;
  const Listener *listener;
  bool *done;    // by draw
  bool stopped;  // no more of them
  bool given_up; // nor those that are running: they were killed
  uint32_t most; // at one time: runs that write the same files follow each other
} Jobs;

// ---- Records ---------------------------------------------------------------------------------------

static void give(Jobs *at, const Record *record) {
  if (!at->listener->take(at->listener->context, record)) at->stopped = true;
}

// For one of the processes; 0: it is time to look up; -1: there are none.
static pid_t wait_for_any(Jobs *at, int *status) {
  pid_t pid = process_wait(-1, status);
  if (pid != 0) return pid;
  if (!at->listener->goes_on(at->listener->context)) at->stopped = true;
  if (!app_goes_on(at->own)) at->given_up = at->stopped = true;
  return pid;
}

static void end_at_once(pid_t pid) {
  if (pid > 0) kill(pid, SIGKILL);
}

static void set_checkpoints(const Jobs *at, AppExchange *exchange) {
  exchange->limit = at->golden->cycles * at->options->timeout;
  exchange->checkpoint_count = at->golden->checkpoint_count;
  memcpy(exchange->checkpoints, at->golden->checkpoints, sizeof exchange->checkpoints);
}

// ---- Forked from one run ---------------------------------------------------------------------------

static AppRun *find_run(AppExchange *exchange, pid_t pid) {
  for (uint32_t i = 1; i <= exchange->place_count; i++) {
    if (exchange->runs[i].pid == pid) return &exchange->runs[i];
  }
  return NULL;
}

static bool any_run(const AppExchange *exchange) {
  for (uint32_t i = 1; i <= exchange->place_count; i++) {
    if (exchange->runs[i].pid != 0) return true;
  }
  return false;
}

// The forking process has its output files again.
static void restore_outputs(const AppExchange *exchange) {
  char aside[APP_PATH];
  for (uint32_t i = 0; i < exchange->kept_count; i++) {
    if (rename(app_aside(exchange->kept[i], aside), exchange->kept[i]) != 0) unlink(exchange->kept[i]);
  }
}

static void end_forked(Jobs *at, AppExchange *exchange, AppRun *run, int status) {
  Record record = {.id = at->draws[run->draw].id};
  AppResult result = app_result(at->own, run, (uint32_t)(run - exchange->runs), status);
  record.outcome = app_judge(at->own, exchange, run, &result, &record);
  at->done[run->draw] = true;
  if (!at->given_up) give(at, &record);
  restore_outputs(exchange);
  exchange->stopped = at->stopped;
  run->pid = 0;
  sem_post(&exchange->room);
}

static void fill_exchange(const Jobs *at, AppExchange *exchange) {
  const AppTarget *own = at->own;
  set_checkpoints(at, exchange);
  exchange->can_settle = true;
  exchange->cpu_seconds = own->cpu_seconds;
  exchange->kept_count = own->originals.count;
  for (uint32_t i = 0; i < exchange->kept_count; i++) snprintf(exchange->kept[i], APP_PATH, "%s", own->originals.items[i].path);
  exchange->draw_count = at->count;
  memcpy(exchange->draws, at->draws, at->count * sizeof *at->draws);
  sem_init(&exchange->room, 1, at->most);
}

static void inject_forking(Jobs *at) {
  AppExchange *exchange = app_exchange_new(at->own, APP_FORK, 0, at->count);
  if (exchange == NULL || !app_exchange_places(at->own, exchange, at->most)) {
    if (exchange != NULL) app_exchange_free(exchange, at->count);
    return; // all of them from the beginning
  }
  fill_exchange(at, exchange);
  pid_t forking = app_start(at->own, 0, APP_FORK);
  while (forking > 0 || any_run(exchange)) {
    int status;
    pid_t pid = wait_for_any(at, &status);
    if (pid < 0) break;
    AppRun *run = pid > 0 ? find_run(exchange, pid) : NULL;
    if (pid == forking) forking = 0;
    else if (run != NULL) end_forked(at, exchange, run, status);
    else exchange->stopped = at->stopped;
    for (uint32_t i = 1; i <= exchange->place_count && at->given_up; i++) end_at_once(exchange->runs[i].pid);
    if (at->given_up) end_at_once(forking);
  }
  for (uint32_t i = 0; i <= (at->given_up ? at->most : 0); i++) app_end_left(getpid(), i); // of the forking process, and half-made ones
  sem_destroy(&exchange->room);
  app_exchange_free(exchange, at->count);
}

// ---- From the beginning ----------------------------------------------------------------------------

static bool start_job(Jobs *at, const Draw *draw, AppJob *job, uint32_t slot) {
  AppExchange *exchange = app_exchange_new(at->own, APP_STRIKE, slot, 0);
  if (exchange == NULL) return false;
  set_checkpoints(at, exchange);
  exchange->faults[0] = draw->fault;
  exchange->fault_count = 1;
  exchange->strike_at = draw->strike_at;
  exchange->can_settle = at->options->snapshot && !fault_lasts(&draw->fault);
  *job = (AppJob){app_start(at->own, slot, APP_STRIKE), exchange, draw};
  if (job->pid > 0) return true;
  app_exchange_free(exchange, 0);
  job->pid = 0;
  return false;
}

// Waits for one of them, or till it is time to look up.
static void end_one(Jobs *at, AppJob *jobs) {
  int status;
  pid_t pid = wait_for_any(at, &status);
  for (uint32_t slot = 0; slot < at->most; slot++) {
    AppJob *job = &jobs[slot];
    if (at->given_up) end_at_once(job->pid);
    if (job->pid != pid || pid <= 0) continue;
    Record record = {.id = job->draw->id};
    const AppRun *run = &job->exchange->runs[0];
    AppResult result = app_result(at->own, run, slot, status);
    record.outcome = app_judge(at->own, job->exchange, run, &result, &record);
    app_exchange_free(job->exchange, 0);
    job->pid = 0;
    if (!at->given_up) give(at, &record);
  }
}

static uint32_t free_slot(const Jobs *at, const AppJob *jobs) {
  uint32_t slot = 0;
  while (slot < at->most && jobs[slot].pid != 0) slot++;
  return slot;
}

static bool is_idle(const Jobs *at, const AppJob *jobs) {
  for (uint32_t slot = 0; slot < at->most; slot++) {
    if (jobs[slot].pid != 0) return false;
  }
  return true;
}

static void inject_from_start(Jobs *at) {
  AppJob jobs[APP_MOST_JOBS] = {{0}};
  for (uint32_t i = 0; i < at->count && !at->stopped; i++) {
    if (at->done[i]) continue;
    while (free_slot(at, jobs) == at->most) end_one(at, jobs);
    uint32_t slot = free_slot(at, jobs);
    if (at->stopped || start_job(at, &at->draws[i], &jobs[slot], slot)) continue;
    give(at, &(Record){.id = at->draws[i].id, .outcome = OUTCOME_INTERNAL, .note = "no process for the simulation"});
  }
  while (!is_idle(at, jobs)) end_one(at, jobs);
}

bool app_inject(Target *target, const CampaignOptions *options, const Golden *golden, const Draw *draws, uint32_t count,
                const Listener *listener) {
  AppTarget *own = target->own;
  Jobs at = {.own = own, .options = options, .golden = golden, .draws = draws, .count = count, .listener = listener};
  at.most = own->choice.output_count > 0 ? 1 : min_u32(options->jobs, APP_MOST_JOBS);
  at.done = calloc(count + 1, sizeof *at.done);
  ASSERT(at.done != NULL);
  if (options->snapshot && count > 0) inject_forking(&at);
  inject_from_start(&at);
  free(at.done);
  return true;
}
