// What commands that start CUDA programs share.
#ifndef REDOUBT_CLI_APP_H
#define REDOUBT_CLI_APP_H

#include "campaign/target.h"
#include "cli/run.h"

const char *app_library_folder(Arena *arena); // of the CUDA runtime library; NULL: the build is incomplete
// In the new process: which library, machine and hooks. records: file for launch records; NULL: none.
void app_environment(const RunOptions *options, Arena *arena, const char *folder, const char *records);
// Who hears the signals that end a command, while they are held.
typedef struct AppInterrupts {
  const int *first; // the one that somebody else takes, when it has come; the next one ends the program at once. NULL: the first one does
  int taken;        // that one; 0: none
} AppInterrupts;
// The options' application as a target of faults; NULL, with diagnostics. Lives in the arena; target_app_free.
Target *app_target(const RunOptions *options, const HookChain *protections, AppInterrupts *interrupts, Arena *arena, Diags *diags);

#endif
