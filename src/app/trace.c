// A run of a CUDA program for `redoubt run --fault` and `redoubt replay`: with faults, or without them to be observed. The tracer is in
// the program's process; what it finds comes back in the exchange, and what the next run needs of it stays in a file.
#include "app/app_internal.h"

#include <errno.h>
#include <stdio.h>

static void take_judgement(const AppTarget *own, const AppExchange *exchange, const AppResult *result, Judgement *judgement) {
  Record record = {0};
  record.outcome = app_judge(own, exchange, &exchange->runs[0], result, &record);
  *judgement = (Judgement){.outcome = (Outcome)record.outcome, .cycles = record.cycles, .wrong = record.wrong};
  snprintf(judgement->note, sizeof judgement->note, "%s", record.note);
}

// What the tracer found; the rest of a FaultRun is this process's.
static void take_traced(const FaultRun *traced, FaultRun *run) {
  memcpy(run->accesses, traced->accesses, sizeof run->accesses);
  memcpy(run->steps, traced->steps, sizeof run->steps);
  run->different = traced->different;
  run->different_stores = traced->different_stores;
  run->different_global = traced->different_global;
  run->step_count = min_u32(traced->step_count, COUNT_OF(run->steps));
  run->log_full = traced->log_full;
}

static bool run_program(AppTarget *own, AppExchange *exchange, const TracedRun *wish, Diags *diags) {
  AppMode mode = (AppMode)exchange->mode;
  pid_t pid = app_start(own, 0, mode);
  if (pid < 0) return diags_add(diags, NULL, 0, 0, "the program cannot be started: %s", strerror(errno));
  int status = 0;
  bool ended = app_wait(own, pid, NULL, exchange, &status, diags);
  AppResult result = app_result(own, &exchange->runs[0], 0, status);
  if (!ended) return false;
  if (mode == APP_TRACE && !app_check_alone(own, exchange, diags)) return false;
  if (mode == APP_TRACE && exchange->runs[0].finished == 0)
    return diags_add(diags, NULL, 0, 0, "another run without faults could not be kept: the fault cannot be explained");
  if (mode == APP_TRACE && !app_check_same(own, exchange, &result, diags)) return false;
  if (mode == APP_TRACE) app_say_masked(own);
  if (mode == APP_STRIKE) take_judgement(own, exchange, &result, &wish->run->judgement);
  take_traced(&exchange->traced, wish->run);
  return true;
}

bool app_traced(Target *target, const TracedRun *wish, Diags *diags) {
  AppTarget *own = target->own;
  if (wish->explain && own->values < 0) own->values = app_temporary(own->choice.temporary);
  AppExchange *exchange = app_exchange_new(own, wish->mode == TRACE_COMPARE ? APP_STRIKE : APP_TRACE, 0, 0);
  if (exchange == NULL) return diags_add(diags, own->choice.temporary, 0, 0, "no room for the run's files: %s", strerror(errno));
  exchange->explain = wish->explain;
  exchange->trace = wish->mode;
  exchange->limit = wish->limit;
  snprintf(exchange->marks, sizeof exchange->marks, "%s", wish->marks == NULL ? "" : wish->marks);
  exchange->fault_count = wish->run->fault_count;
  memcpy(exchange->faults, wish->faults, exchange->fault_count * sizeof *wish->faults);
  exchange->traced = *wish->run;
  bool good = run_program(own, exchange, wish, diags);
  app_exchange_free(exchange, 0);
  return good;
}
