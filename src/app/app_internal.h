// What the files of the campaign's side of CUDA programs share; see app.h.
#ifndef REDOUBT_APP_INTERNAL_H
#define REDOUBT_APP_INTERNAL_H

#include "app/app.h"
#include "app/mask.h"
#include "explain/explain_internal.h"
#include "settle/follow.h"

#include <sys/types.h>

// What a run leaves behind, besides what the library tells.
typedef struct AppResult {
  int status;                      // as waitpid gives it
  uint64_t output;                 // hash of standard output
  uint64_t files;                  // of the files
  uint64_t file[APP_MOST_OUTPUTS]; // of each of them
  uint64_t seen, cycles;           // of the exchange
  bool is_tolerated;               // some bytes are off, but within a tolerance: then hashes are those of the right ones
} AppResult;

typedef struct AppSeat { // files of one run at a time, by number; -1: not there yet
  int exchange, output;
} AppSeat;

typedef struct AppTarget {
  AppChoice choice;
  Arena *arena;
  AppSeat seats[APP_MOST_JOBS + 1];
  int values;                            // file of the tracer's log
  int sources;                           // of the PTX that is loaded
  int timeline;                          // of the golden run's times
  int used;                              // of what is used in it
  int following, returned;               // of what following and trials give each other
  const char *outputs[APP_MOST_OUTPUTS]; // absolute
  Originals originals;                   // of the outputs
  AppMask mask;                          // what of standard output is not compared
  // Of the run without faults
  bool has_golden;
  AppResult golden;
  AppCopies copies;
  Text good_lines; // in which its standard output says that all is well
  uint32_t good_line_count;
  int golden_output, golden_files[APP_MOST_OUTPUTS]; // copies; -1: not written
  AppTolerances tolerances;                          // of copies from the device
  AppLaunch *launches;                               // NULL: faults are not followed
  uint32_t launch_count;
  bool asks_time;
  uint64_t cpu_seconds; // beyond which a process counts as endless
  uint32_t patience;    // seconds of silence after which a process with a fault is ended; see process.h
} AppTarget;

// ---- app.c -------------------------------------------------------------------------------------------
AppExchange *app_exchange_new(AppTarget *own, AppMode mode, uint32_t seat, uint32_t draws); // NULL: see errno
bool app_exchange_places(AppTarget *own, AppExchange *exchange, uint32_t count);            // for processes that are forked
void app_exchange_free(AppExchange *exchange, uint32_t draws);
pid_t app_start(AppTarget *own, uint32_t seat, AppMode mode); // of the exchange in that seat; -1: no process
bool app_goes_on(const AppTarget *own);                       // false: whatever runs is ended at once
// For the end of this run. False: it was killed, because the listener (NULL: none) wants no more, or the user; or, with a diagnostic, since it
// was silent without a fault.
bool app_wait(const AppTarget *own, pid_t pid, const Listener *listener, AppExchange *exchange, int *status, Diags *diags);
bool app_check_alone(const AppTarget *own, const AppExchange *exchange, Diags *diags); // one process has used the device
uint64_t app_hash_file(const char *path, uint64_t seed);
AppResult app_result(const AppTarget *own, const AppRun *run, uint32_t seat, int status); // ends what it has left behind

// ---- jobs.c --------------------------------------------------------------------------------------
bool app_inject(Target *target, const CampaignOptions *options, const Golden *golden, const Draw *draws, uint32_t count,
                const Listener *listener); // Target.inject

bool app_follow(Target *target, Settling *settling, bool is_again, Draw *live, uint32_t *count); // Target.follow
bool app_try(Target *target, Settling *settling, const Draw *live, uint32_t count);              // Target.try_faults

// ---- judge.c -------------------------------------------------------------------------------------
Outcome app_judge(const AppTarget *own, const AppExchange *exchange, const AppRun *run, const AppResult *result, Record *record);
uint32_t app_good_lines(const AppMask *mask, const char *path, Text *lines); // those of the file that say that all is well; how many

// ---- same.c --------------------------------------------------------------------------------------
// As the first run? Numbers of standard output that are not the same are compared no more; *now is as it is compared then.
bool app_check_same(AppTarget *own, const AppExchange *exchange, AppResult *now, Diags *diags);
void app_keep_golden(AppTarget *own, const AppExchange *exchange, const AppResult *result); // for the next ones
void app_forget_golden(AppTarget *own);
void app_say_masked(AppTarget *own); // which numbers are not compared, once

// ---- trace.c -------------------------------------------------------------------------------------
bool app_traced(Target *target, const TracedRun *wish, Diags *diags); // Target.traced

// ---- tolerated.c ---------------------------------------------------------------------------------
bool app_tolerates(AppTarget *own, Diags *diags);             // takes what was asked for; false: of no file or copy
bool app_tolerances_fit(const AppTarget *own, Diags *diags);  // after the run without faults
bool app_tolerates_file(const AppTarget *own, uint32_t file); // as it is now
// The library's side: a piece of copy `number`, `at` bytes from its start. The hash of those bytes by which the run is judged.
uint64_t app_judged_piece(AppExchange *exchange, uint64_t number, uint64_t at, const void *bytes, uint64_t count, uint64_t hash);

// ---- sources.c -----------------------------------------------------------------------------------
void app_sources_write(const AppExchange *exchange, const Program *program, const PtxSource *sources, uint32_t count);
void app_sources_read(Target *target, Arena *arena, int number);

// ---- follow.c: the library's side of faults that are followed ------------------------------------------
typedef struct AppFollow AppFollow;
// What it needs of the process that it is in.
typedef struct AppParting {
  void *context;
  bool (*is_own)(void *context);              // not one that the program has forked
  void (*parted)(void *context, AppRun *run); // this is now the process of a fault
  void (*stop)(void *context, AppStop how);   // ends it
} AppParting;
// What both need of the run without faults, in the program's process: settling->target and settling->arena are there. False: with diagnostics.
typedef struct AppSettling {
  Settling settling;
  Golden golden;
  CampaignOptions options;
  Following following;
  Listener listener;
} AppSettling;
bool app_settling_fill(AppSettling *at, AppExchange *exchange, const HookChain *chain, Diags *diags);
AppFollow *app_follow_new(AppExchange *exchange, const AppParting *parting, Target *target, const HookChain *chain, Arena *arena,
                          Diags *diags);
const Launcher *app_follow_launcher(const AppFollow *follow);
void app_follow_begin(AppFollow *follow, Memory *memory);
void app_follow_launches(AppFollow *follow, uint64_t request);
void app_follow_moves(AppFollow *follow, uint64_t to, uint64_t from, uint64_t bytes, bool is_seen);
void app_follow_shows(AppFollow *follow, uint64_t from, uint64_t bytes);
void app_follow_fails(AppFollow *follow); // nothing is followed further
void app_follow_asks_time(const AppFollow *follow);
void app_follow_end(AppFollow *follow);              // tells what is settled without a process of its own, and what trials need
uint64_t app_follow_cycles(const AppFollow *follow); // of the run
uint64_t app_memory_hash(const Memory *memory);

// ---- trial.c: the library's side of faults that are tried ------------------------------------------------
typedef struct AppTrial AppTrial;
AppTrial *app_trial_new(AppExchange *exchange, Target *target, const HookChain *chain, Arena *arena, Diags *diags);
Hook *app_trial_hook(const AppTrial *trial);
// The launch after the first `count` begins. If it is not that of the golden run, nothing more is tried.
void app_trial_launches(AppTrial *trial, uint32_t count, uint64_t request, const Memory *memory);

#endif
