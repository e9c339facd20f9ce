// What commands that start CUDA programs share.
#ifndef REDOUBT_CLI_APP_H
#define REDOUBT_CLI_APP_H

#include "campaign/target.h"
#include "cli/run.h"

const char *app_library_folder(Arena *arena); // of the CUDA runtime library; NULL: the build is incomplete
// In the new process: which library, machine and hooks. records: file for launch records; NULL: none.
void app_environment(const RunOptions *options, Arena *arena, const char *folder, const char *records);
// The options' application as a target of faults; NULL, with diagnostics. Lives in the arena; target_app_free.
Target *app_target(const RunOptions *options, const HookChain *protections, Arena *arena, Diags *diags);

#endif
