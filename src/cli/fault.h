// What the commands about single faults and campaigns share.
#ifndef REDOUBT_CLI_FAULT_H
#define REDOUBT_CLI_FAULT_H

#include "explain/explain.h"
#include "cli/run.h"

// The workload, PTX file or G80 code that the options name, as a target of faults; NULL, with diagnostics. Lives in the arena.
Target *run_as_target(const RunOptions *options, Arena *arena, Diags *diags);
Target *ptx_target(const RunOptions *options, Arena *arena, Diags *diags);    // ptx_target.c
Target *shader_target(const RunOptions *options, Arena *arena, Diags *diags); // shader_target.c
Target *g80_target(const RunOptions *options, Arena *arena, Diags *diags);    // g80_target.c
// Arrays among arguments, as they are in device memory now (ptx_target.c).
void arguments_as_outputs(const Argument *arguments, uint32_t count, Device *device, TargetOutputs *outputs, Arena *arena);

typedef struct FaultWishes {
  const char *const *faults;
  uint32_t count;
  uint64_t timeout;
  bool explain;
  const JournalMeta *meta; // the run must be the journal's; NULL: any
} FaultWishes;
// Runs the target with the faults and prints what they did. The exit code: EXIT_OK unless the input is bad or Redoubt fails.
int fault_report(const RunOptions *options, const FaultWishes *wishes, Arena *arena, FaultRun *result);
int run_with_faults(const RunOptions *options, Arena *arena); // those of the options

#endif
