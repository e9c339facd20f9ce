// Single faults: one run with them, judged against the run without, and why it ended as it did. `redoubt run --fault` and
// `redoubt replay` are made of it. See docs/faults.md.
#ifndef REDOUBT_EXPLAIN_H
#define REDOUBT_EXPLAIN_H

#include "campaign/target.h"
#include "device/attachments.h"
#include "fault/fault.h"

enum { FAULT_RUN_MOST = 4, MOST_STEPS = 20, PLACE_TEXT = 80 };

// An instruction of a run.
typedef struct Place {
  uint64_t cycle;
  uint32_t launch, sm, warp;
  uint64_t block;
  uint32_t pc, line;     // pc UINT32_MAX: not known. PTX line; 0: none
  char text[PLACE_TEXT]; // the instruction
  uint64_t program;      // hash of the one that it is in
  uint32_t source;       // of its function
  // From the target's sources; empty: not known
  Slice ptx;        // what is on the line
  PtxOrigin origin; // where it comes from
} Place;

// What next became of the cells that a fault struck, in the run without faults.
typedef enum Fate {
  FATE_NOT_STRUCK, // the run was over before
  FATE_NO_CELL,    // warps of the launch had no such register
  FATE_NOT_TOLD,   // the structure's accesses are not told to hooks
  FATE_READ,
  FATE_OVERWRITTEN, // by an instruction
  FATE_RESET,       // as a block came or went
  FATE_DEAD,        // never accessed again
  FATE_RESULT,      // of outputs: a result passed
  FATE_IDLE,        // none did; `at` is the next one, if there is one (reads = 1)
  FATE_COUNT
} Fate;
extern const char *const fate_text[FATE_COUNT]; // "read"

typedef struct Access {
  Fate fate;
  Place at;       // READ, OVERWRITTEN, RESET, RESULT
  uint64_t reads; // until it was overwritten; results that passed
  bool unused;    // rf: no warp owned the register when it was struck
} Access;

// A value that differs from the run without faults.
typedef enum StepKind { STEP_REGISTER, STEP_PREDICATE, STEP_STORE_DATA, STEP_STORE_ADDRESS, STEP_PATH } StepKind;
typedef struct Step {
  StepKind kind;
  Place at;
  uint32_t number;        // of the register or predicate
  uint32_t active;        // lanes that executed here
  uint32_t lanes;         // that differ
  uint32_t lane;          // the first of them
  uint32_t expected, got; // its values
  bool idle, should_idle; // it does not execute, here and without faults
  bool known;             // the last six are
  uint64_t address;       // of stores, that lane's; 0: not known
  uint64_t key;           // of the value in the log
  uint32_t values[WARP_LANES];
  uint64_t addresses[WARP_LANES];
} Step;

typedef struct FaultRun {
  const char *faults[FAULT_RUN_MOST]; // as they were understood
  uint32_t fault_count;
  uint64_t golden_cycles;
  TargetOutputs outputs; // of the run without faults
  Judgement judgement;
  bool has_stats; // not of CUDA programs
  Stats stats;    // of the run with the faults, all its launches
  // With `explain`
  Access accesses[FAULT_RUN_MOST];
  uint64_t different, different_stores; // values that differ from the golden run's
  uint64_t different_global;            // those stores that go to global memory
  Step steps[MOST_STEPS + 2];           // the first; after them, where they came later, the first store and the first to global memory
  uint32_t step_count;
  bool log_full;      // later values were not compared
  const char *output; // first wrong element; NULL: none
  uint64_t output_index;
  double output_expected, output_got;
} FaultRun;

typedef struct FaultRunOptions {
  const char *standing; // a fault that stands in the run without faults, too; NULL: none
  const HookChain *protections;
  const char *const *faults; // text
  uint32_t fault_count;
  uint64_t timeout;                   // multiple of the golden run's cycles
  const OutputTolerances *tolerances; // of outputs; NULL: none
  bool explain;
  const AttachmentWishes *trace;      // of the run with the faults, which are marked in it; NULL: none
  uint64_t program_hash, layout_hash; // of the journal; 0: any
  // Shared memory that gets the first output of the run with the faults, as far as it was reached; NULL: not wanted. Not of CUDA programs.
  uint8_t *got;
  size_t got_bytes;
} FaultRunOptions;

// False, with diagnostics: a fault was not understood, or the run without faults fails. Text lives in the arena.
bool fault_run(Target *target, const FaultRunOptions *options, Arena *arena, FaultRun *run, Diags *diags);
void explanation_format(const FaultRun *run, Text *out); // the explanation for people

#endif
