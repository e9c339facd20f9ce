// Campaigns on CUDA programs. The program runs as a process of its own, with Redoubt's CUDA runtime library in it: twice
// without faults, then once for each fault that def-use leaves. What the campaign and the library tell each other is in a
// file that both map (AppExchange); the library's side is in app_process.c, the campaign's in app.c.
//
// A run is judged by what the host copies back, by standard output, by the files that the user names and by the exit code.
// The program must do the same every time it is run.
#ifndef REDOUBT_APP_H
#define REDOUBT_APP_H

#include "campaign/campaign_internal.h"

enum { APP_MOST_LAUNCHES = 4096, APP_MOST_OUTPUTS = 16 };
#define APP_EXCHANGE "REDOUBT_CAMPAIGN" // environment variable: the file's path

typedef enum AppMode { APP_GOLDEN, APP_STRIKE } AppMode;
// How the library ended the program before its end.
typedef enum AppStop { APP_RAN_ON, APP_SETTLED, APP_TIMED_OUT } AppStop;

typedef struct AppLaunch {
  char kernel[128];
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
} AppLaunch;

typedef struct AppExchange {
  uint64_t bytes; // of this struct: both sides are built alike
  uint32_t mode;  // AppMode
  // Of the run without faults: from it, and to the others
  uint32_t checkpoint_count;
  Checkpoint checkpoints[MOST_CHECKPOINTS];
  uint64_t cycles, program_hash, memory_bytes;
  double used_rf, used_shared;
  uint32_t launch_count;
  AppLaunch launches[APP_MOST_LAUNCHES];
  // The fault to strike
  Fault fault;
  uint64_t strike_at, limit;
  bool can_settle; // stop when the state is the golden run's again
  // What became of the run
  uint32_t inside;   // calls of the library under way: who dies then has died in Redoubt
  uint32_t has_time; // the device is a machine with time
  uint32_t finished; // the program ended by itself, and what follows holds
  uint32_t stop;     // AppStop
  uint32_t trap;     // TrapKind of the first launch that had one
  uint64_t seen, corrected, run_cycles;
  uint32_t draw_count;
  Draw draws[]; // to be watched
} AppExchange;

// ---- The campaign's side ---------------------------------------------------------------------------
typedef struct AppChoice {
  char *const *arguments;     // of the program, its name first, NULL last
  const char *const *outputs; // files that it writes
  uint32_t output_count;
  const HookChain *protections;                         // as the program's machine will have them: for the list of structures
  void (*prepare)(void *context, const char *exchange); // in the new process: sets the environment
  void *context;
} AppChoice;
Target *target_app(Arena *arena, const AppChoice *choice, const Spec *spec, Diags *diags); // NULL: no room for its files
void target_app_free(Target *target);                                                      // removes them

// ---- The library's side ----------------------------------------------------------------------------
typedef struct AppProcess AppProcess;
// NULL: no campaign, or the file cannot be used. Adds its hooks to the chain, for a device with this spec.
AppProcess *app_process_new(const char *exchange, HookChain *chain, const Spec *spec, Diags *diags);
void app_process_device(AppProcess *process, Device *device); // the device is there
void app_process_enter(AppProcess *process);                  // NULL is fine for these
void app_process_leave(AppProcess *process);
void app_process_finish(AppProcess *process); // the program ends

#endif
