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
  ProcessWatch watch;
} AppJob;

typedef struct Jobs {
  AppTarget *own;
  const CampaignOptions *options;
  const Golden *golden;
  const Draw *draws;
  uint32_t count;
  const Listener *listener;
  bool *done;                              // by draw
  bool stopped;                            // no more of them
  bool given_up;                           // nor those that are running: they were killed
  uint32_t most;                           // at one time: runs that write the same files follow each other
  ProcessWatch watches[APP_MOST_JOBS + 1]; // by place, of one run that forks
  // Of faults that are followed
  Record *records; // by draw: told when the run that they were forked from has ended as it must; NULL: they are not followed
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

static void say_silent(const Jobs *at, pid_t pid) {
  const AppTarget *own = at->own;
  if (own->choice.say == NULL) return;
  own->choice.say(own->choice.context,
                  arena_format(own->arena, "%s (process %d) has done nothing for %u s and was ended: its faults are simulated one by one",
                               own->choice.arguments[0], (int)pid, own->patience));
}

// It is time to look up. A process of a fault that does nothing any more is endless, and is ended: true, the first time.
static bool end_if_silent(const Jobs *at, AppRun *run, pid_t pid, ProcessWatch *watch) {
  if (pid <= 0 || process_silence(watch, pid) < at->own->patience) return false;
  bool is_first = run->stop != APP_SILENT;
  run->stop = APP_SILENT;
  kill(pid, SIGKILL);
  return is_first;
}

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

// A right result says nothing of the time if it is not known.
static bool is_followed(const AppRun *run, const Record *record) {
  bool is_right = record->outcome == OUTCOME_MASKED || record->outcome == OUTCOME_PERFORMANCE;
  return run->stop != APP_LOST && record->outcome != OUTCOME_INTERNAL && (!is_right || run->same_flow != 0);
}

static void end_forked(Jobs *at, AppExchange *exchange, AppRun *run, int status) {
  Record record = {.id = at->draws[run->draw].id};
  AppResult result = app_result(at->own, run, (uint32_t)(run - exchange->runs), status);
  record.outcome = app_judge(at->own, exchange, run, &result, &record);
  at->done[run->draw] = at->records == NULL || is_followed(run, &record);
  if (at->records != NULL) at->records[run->draw] = record;
  else if (!at->given_up) give(at, &record);
  restore_outputs(exchange);
  exchange->stopped = at->stopped;
  run->pid = 0;
  sem_post(&exchange->room);
}

// The end of such a process is not seen if it is not this one's child, whatever the program has done: its fault is simulated from the
// beginning.
static void lose_forked(AppExchange *exchange, AppRun *run) {
  restore_outputs(exchange);
  run->pid = 0;
  sem_post(&exchange->room);
}

// The forking process waits for those that it has forked; it is ended if there are none, and it does nothing itself.
static void look_at_silent(Jobs *at, AppExchange *exchange, pid_t forking) {
  enum { GRACE_SECONDS = 5 };
  for (uint32_t i = 1; i <= exchange->place_count; i++) {
    AppRun *run = &exchange->runs[i];
    end_if_silent(at, run, run->pid, &at->watches[i]);
    bool is_deaf = at->watches[i].silent >= at->own->patience + GRACE_SECONDS, is_gone = kill(run->pid, 0) != 0 && errno == ESRCH;
    if (run->pid != 0 && (is_deaf || is_gone)) lose_forked(exchange, run);
  }
  if (any_run(exchange)) at->watches[0] = (ProcessWatch){0};
  else if (end_if_silent(at, &exchange->runs[0], forking, &at->watches[0])) say_silent(at, forking);
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

static AppExchange *open_exchange(const Jobs *at, AppMode mode) {
  AppExchange *exchange = app_exchange_new(at->own, mode, 0, at->count);
  if (exchange == NULL || !app_exchange_places(at->own, exchange, at->most)) {
    if (exchange != NULL) app_exchange_free(exchange, at->count);
    return NULL;
  }
  fill_exchange(at, exchange);
  return exchange;
}

// One run, and those that it forks. How it ended itself.
static int run_forking(Jobs *at, AppExchange *exchange, AppMode mode) {
  int ended = -1;
  pid_t forking = app_start(at->own, 0, mode);
  while (forking > 0 || any_run(exchange)) {
    int status;
    pid_t pid = wait_for_any(at, &status);
    if (pid < 0) break;
    AppRun *run = pid > 0 ? find_run(exchange, pid) : NULL;
    if (pid == 0) look_at_silent(at, exchange, forking);
    if (pid == forking) ended = status;
    if (pid == forking) forking = 0;
    else if (run != NULL) end_forked(at, exchange, run, status);
    else exchange->stopped = at->stopped;
    for (uint32_t i = 1; i <= exchange->place_count && at->given_up; i++) end_at_once(exchange->runs[i].pid);
    if (at->given_up) end_at_once(forking);
  }
  for (uint32_t i = 0; i <= (at->given_up ? at->most : 0); i++) app_end_left(getpid(), i); // of the forking process, and half-made ones
  sem_destroy(&exchange->room);
  return ended;
}

static void inject_forking(Jobs *at) {
  AppExchange *exchange = open_exchange(at, APP_FORK);
  if (exchange == NULL) return; // all of them from the beginning
  run_forking(at, exchange, APP_FORK);
  app_exchange_free(exchange, at->count);
}

// ---- Followed without time -------------------------------------------------------------------------

// The run that was carried out without time did what the one with time does: whatever was forked from it holds.
static bool is_golden(const Jobs *at, const AppExchange *exchange, int status) {
  const AppResult *golden = &at->own->golden;
  if (status < 0 || exchange->runs[0].finished == 0 || at->given_up) return false;
  AppResult result = app_result(at->own, &exchange->runs[0], 0, status);
  return result.status == golden->status && result.output == golden->output && result.files == golden->files && result.seen == golden->seen;
}

// Tells what is known, and keeps the others.
static void tell_followed(Jobs *at, const AppExchange *exchange, Draw *live, uint32_t *count) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < at->count; i++) {
    bool is_settled = exchange->followed[i] != 0;
    if (is_settled) at->records[i] = (Record){.id = live[i].id, .outcome = exchange->followed[i] - 1u, .cycles = at->golden->cycles};
    if (is_settled && at->records[i].outcome == OUTCOME_TIMEOUT) record_timeout(&at->records[i]);
    at->records[i].settled = exchange->returned >= 0 ? SETTLED_BLOCK : SETTLED_FOLLOWED;
    if ((is_settled || at->done[i]) && !at->stopped) give(at, &at->records[i]);
    else live[left++] = live[i];
  }
  *count = left;
}

static bool any_reader(const Draw *draws, uint32_t count) {
  bool any = false;
  for (uint32_t i = 0; i < count && !any; i++) any = draws[i].reader.launch != 0 && !fault_lasts(&draws[i].fault);
  return any;
}

static void jobs_begin(Jobs *at) {
  at->most = at->own->choice.output_count > 0 ? 1 : min_u32(at->options->jobs, APP_MOST_JOBS);
  at->done = calloc(at->count + 1, sizeof *at->done);
  ASSERT(at->done != NULL);
}

// What those need who follow and try.
static void fill_following(const Jobs *at, const Settling *settling, AppExchange *exchange) {
  const AppTarget *own = at->own;
  exchange->cycles = settling->golden->cycles;
  exchange->is_protected = settling->following->is_protected;
  exchange->passes_values = settling->following->passes_values;
  exchange->asks_time = own->asks_time;
  exchange->launch_count = own->launch_count;
  memcpy(exchange->launches, own->launches, own->launch_count * sizeof *own->launches);
}

// A file for processes of the program; -1: none.
static int empty_file(const AppTarget *own, int *file) {
  if (*file < 0) *file = app_temporary(own->choice.temporary);
  return *file >= 0 && ftruncate(*file, 0) == 0 ? *file : -1;
}

// False: it cannot be written.
static bool fill_returned(const Jobs *at, const Settling *settling, AppExchange *exchange) {
  char path[APP_FILE_PATH];
  Following returned = {.returned = settling->following->returned};
  exchange->returned = empty_file(at->own, &at->own->returned);
  return exchange->returned >= 0 && following_save(&returned, app_file_path(getpid(), exchange->returned, path));
}

// One process of the program goes along with the faults.
static void follow_with(Jobs *at, Settling *settling, AppExchange *exchange, Draw *live, uint32_t *count) {
  char path[APP_FILE_PATH];
  fill_following(at, settling, exchange);
  exchange->timeline = at->own->timeline;
  exchange->following = exchange->returned < 0 ? empty_file(at->own, &at->own->following) : -1;
  int status = run_forking(at, exchange, APP_FOLLOW);
  if (!is_golden(at, exchange, status)) return;
  tell_followed(at, exchange, live, count);
  if (exchange->following >= 0) following_load(settling->following, settling->arena, app_file_path(getpid(), exchange->following, path));
}

bool app_follow(Target *target, Settling *settling, bool is_again, Draw *live, uint32_t *count) {
  AppTarget *own = target->own;
  Jobs at = {.own = own, .options = settling->options, .golden = settling->golden, .draws = live, .count = *count};
  settling->following->is_program = true;
  if (own->launches == NULL || *count > APP_MOST_FOLLOWED || !any_reader(live, *count)) return true;
  at.listener = settling->listener;
  jobs_begin(&at);
  at.records = calloc(*count, sizeof *at.records);
  ASSERT(at.records != NULL);
  AppExchange *exchange = open_exchange(&at, APP_FOLLOW);
  if (exchange != NULL) {
    if (!is_again || fill_returned(&at, settling, exchange)) follow_with(&at, settling, exchange, live, count);
    app_exchange_free(exchange, at.count);
  }
  free(at.records);
  free(at.done);
  return !at.stopped;
}

// ---- Tried -------------------------------------------------------------------------------------------

typedef struct AppWorker { // tries every n-th fault
  pid_t pid;
  int told; // file
  AppExchange *exchange;
  ProcessWatch watch;
} AppWorker;

// Without it, its faults are simulated.
static bool start_worker(Jobs *at, const Settling *settling, AppWorker *worker, uint32_t seat) {
  worker->told = app_temporary(at->own->choice.temporary);
  worker->exchange = worker->told < 0 ? NULL : app_exchange_new(at->own, APP_TRIAL, seat, at->count);
  if (worker->exchange == NULL) return false;
  fill_exchange(at, worker->exchange);
  fill_following(at, settling, worker->exchange);
  worker->exchange->following = at->own->following;
  worker->exchange->told = worker->told;
  worker->exchange->first_draw = seat;
  worker->exchange->draw_step = at->most;
  worker->pid = app_start(at->own, seat, APP_TRIAL);
  return worker->pid > 0;
}

static void look_at_worker(const Jobs *at, AppWorker *worker) {
  if (worker->pid > 0 && end_if_silent(at, &worker->exchange->runs[0], worker->pid, &worker->watch)) say_silent(at, worker->pid);
}

// Takes what it has found.
static void end_worker(Jobs *at, const Settling *settling, AppWorker *worker, uint32_t seat) {
  bool goes_on = !at->stopped;
  app_end_left(getpid(), seat);
  if (worker->told >= 0) lseek(worker->told, 0, SEEK_SET);
  while (goes_on && worker->told >= 0 && trials_take(settling, worker->told, &goes_on)) continue;
  if (!goes_on) at->stopped = true;
  if (worker->told >= 0) close(worker->told);
  if (worker->exchange != NULL) {
    sem_destroy(&worker->exchange->room);
    app_exchange_free(worker->exchange, at->count);
  }
  *worker = (AppWorker){.told = -1};
}

bool app_try(Target *target, Settling *settling, const Draw *live, uint32_t count) {
  AppTarget *own = target->own;
  Jobs at = {.own = own, .options = settling->options, .golden = settling->golden, .draws = live, .count = count};
  AppWorker workers[APP_MOST_JOBS];
  if (own->launches == NULL) return true;
  at.listener = settling->listener;
  jobs_begin(&at);
  at.most = min_u32(at.most, count);
  uint32_t running = 0;
  for (uint32_t i = 0; i < at.most; i++) {
    workers[i] = (AppWorker){.told = -1};
    if (start_worker(&at, settling, &workers[i], i)) running++;
    else end_worker(&at, settling, &workers[i], i);
  }
  while (running > 0) {
    int status;
    pid_t pid = wait_for_any(&at, &status);
    if (pid < 0) break;
    for (uint32_t i = 0; i < at.most; i++) {
      if (at.stopped) end_at_once(workers[i].pid);
      if (pid == 0) look_at_worker(&at, &workers[i]);
      if (pid == 0 || workers[i].pid != pid) continue;
      end_worker(&at, settling, &workers[i], i);
      running--;
    }
  }
  free(at.done);
  return !at.stopped;
}

// ---- From the beginning ----------------------------------------------------------------------------

static bool start_job(Jobs *at, const Draw *draw, AppJob *job, uint32_t seat) {
  AppExchange *exchange = app_exchange_new(at->own, APP_STRIKE, seat, 0);
  if (exchange == NULL) return false;
  set_checkpoints(at, exchange);
  exchange->faults[0] = draw->fault;
  exchange->fault_count = 1;
  exchange->strike_at = draw->strike_at;
  exchange->can_settle = at->options->snapshot && !fault_lasts(&draw->fault);
  *job = (AppJob){.pid = app_start(at->own, seat, APP_STRIKE), .exchange = exchange, .draw = draw};
  if (job->pid > 0) return true;
  app_exchange_free(exchange, 0);
  job->pid = 0;
  return false;
}

// Waits for one of them, or till it is time to look up.
static void end_one(Jobs *at, AppJob *jobs) {
  int status;
  pid_t pid = wait_for_any(at, &status);
  for (uint32_t seat = 0; seat < at->most; seat++) {
    AppJob *job = &jobs[seat];
    if (at->given_up) end_at_once(job->pid);
    if (pid == 0 && job->pid > 0) end_if_silent(at, &job->exchange->runs[0], job->pid, &job->watch);
    if (job->pid != pid || pid <= 0) continue;
    Record record = {.id = job->draw->id};
    const AppRun *run = &job->exchange->runs[0];
    AppResult result = app_result(at->own, run, seat, status);
    record.outcome = app_judge(at->own, job->exchange, run, &result, &record);
    app_exchange_free(job->exchange, 0);
    job->pid = 0;
    if (!at->given_up) give(at, &record);
  }
}

static uint32_t free_seat(const Jobs *at, const AppJob *jobs) {
  uint32_t seat = 0;
  while (seat < at->most && jobs[seat].pid != 0) seat++;
  return seat;
}

static bool is_idle(const Jobs *at, const AppJob *jobs) {
  for (uint32_t seat = 0; seat < at->most; seat++) {
    if (jobs[seat].pid != 0) return false;
  }
  return true;
}

static void inject_from_start(Jobs *at) {
  AppJob jobs[APP_MOST_JOBS] = {{0}};
  for (uint32_t i = 0; i < at->count && !at->stopped; i++) {
    if (at->done[i]) continue;
    while (free_seat(at, jobs) == at->most) end_one(at, jobs);
    uint32_t seat = free_seat(at, jobs);
    if (at->stopped || start_job(at, &at->draws[i], &jobs[seat], seat)) continue;
    give(at, &(Record){.id = at->draws[i].id, .outcome = OUTCOME_INTERNAL, .note = "no process for the simulation"});
  }
  while (!is_idle(at, jobs)) end_one(at, jobs);
}

bool app_inject(Target *target, const CampaignOptions *options, const Golden *golden, const Draw *draws, uint32_t count,
                const Listener *listener) {
  AppTarget *own = target->own;
  Jobs at = {.own = own, .options = options, .golden = golden, .draws = draws, .count = count, .listener = listener};
  jobs_begin(&at);
  if (options->snapshot && count > 0) inject_forking(&at);
  inject_from_start(&at);
  free(at.done);
  return true;
}
