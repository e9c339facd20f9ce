// What a campaign runs again and again: a workload, or kernels of a PTX file, on a device of its own. It declares outputs; a run is
// judged by comparing them with the golden run's.
#ifndef REDOUBT_TARGET_H
#define REDOUBT_TARGET_H

#include "campaign/tolerance.h"
#include "journal/journal.h"
#include "device/workload.h"

typedef struct TargetOutput {
  const char *name;
  ElementType type;
  uint64_t count;
  uint64_t width;                   // elements in a row of a matrix; 0: an array
  uint8_t *bytes;                   // a copy
  DeviceAddress address;            // of the first element
  const OutputTolerance *tolerance; // of the run without faults: how far others may be from it; NULL: every bit counts
} TargetOutput;
double target_element(const TargetOutput *output, uint64_t index); // as a number

enum { TARGET_MAX_OUTPUTS = 64 };
typedef struct TargetOutputs {
  TargetOutput items[TARGET_MAX_OUTPUTS];
  uint32_t count;
} TargetOutputs;

// PTX text that kernels of a target are made of. A line of a program is a line of the text that its function is from.
typedef struct TargetSource {
  const char *file; // as messages name it
  const char *text;
  size_t length;
  uint64_t program;    // hash of the program that was made of it, alone or linked with others; 0: there is no other source
  uint32_t index;      // among those: Function.source
  const char *kernels; // that it defines, a line feed after each; "": all
  PtxOrigins origins;  // .cu file and line of its lines, where the compiler was told to say so
} TargetSource;
typedef VEC(TargetSource) TargetSources;
const TargetSource *target_source_of(const TargetSources *sources, const char *kernel);               // that defines it; NULL: none
const TargetSource *target_source_at(const TargetSources *sources, uint64_t program, uint32_t index); // NULL: none
Slice target_source_line(const TargetSource *source, uint32_t line); // up to its semicolon, no blanks before it; empty: there is none

typedef struct Target Target;
struct Golden;
struct Draw;
struct UsedSpace;
struct CampaignOptions;
struct Settling;
struct Record;
struct TracedRun;
struct OrderLog;
// Whom the stages of a campaign tell what they find, and ask now and then whether to go on; false: stop.
typedef struct Listener {
  bool (*take)(void *context, const struct Record *record);
  bool (*goes_on)(void *context);
  void *context;
} Listener;
struct Target {
  const char *name;      // as users name it
  const char *arguments; // what decides the run, one per line
  TargetSources sources; // PTX of its kernels; of a CUDA program, as far as it was loaded by the first run
  const Spec *spec;
  const Launcher *launcher; // see DeviceOptions; NULL but where campaigns follow faults
  bool has_check;
  bool is_repeatable; // name, arguments and Spec decide all of its run: nothing comes from a file
  void *own;
  uint32_t repaired;                                                   // errors that its own host code has found and put right in this run
  bool gave_up;                                                        // and one that it could not put right
  bool unanswered;                                                     // which then changes nothing: it goes on with what it computed first
  bool (*start)(Target *target, const HookChain *hooks, Diags *diags); // a fresh device, inputs in place
  bool (*run)(Target *target);                                         // all launches and the host code between them; false: a trap
  bool (*check)(Target *target);                                       // the target's own idea of right
  void (*outputs)(Target *target, TargetOutputs *outputs, Arena *arena);
  Device *(*device)(Target *target);
  uint64_t (*seen)(Target *target); // hash of what the host knows from the device; NULL: of what it has read
  void (*finish)(Target *target);
  uint64_t (*inputs)(
      Target
          *target); // hash of all that its files decide, as a run would begin now, or 0: they cannot be read. NULL: no files, or who knows
  // Programs that run in processes of their own do the campaign's stages themselves (app.c); NULL: this process does. As golden_run
  // with the cells of `draws` watched, as inject_all, and a run for fault_run. A golden run that is stopped has no diagnostics. `used` is filled
  // (used.h); NULL: it is not wanted.
  bool (*golden)(Target *target, struct Draw *draws, uint32_t count, struct UsedSpace *used, struct Golden *golden,
                 const Listener *listener, Diags *diags);
  bool (*inject)(Target *target, const struct CampaignOptions *options, const struct Golden *golden, const struct Draw *draws,
                 uint32_t count, const Listener *listener);
  // Follows what it can of live[0, *count) without time, tells the listener, and keeps the others (settle/follow.c). is_again: those that come back from
  // trials. try_faults: trials of live[0, count) (settle/trial.c); without follow there are none.
  bool (*follow)(Target *target, struct Settling *settling, bool is_again, struct Draw *live, uint32_t *count);
  bool (*try_faults)(Target *target, struct Settling *settling, const struct Draw *live, uint32_t count);
  bool (*traced)(Target *target, const struct TracedRun *wish, Diags *diags);
};

void target_add_source(Target *target, Arena *arena, const TargetSource *source); // finds the origins, too

typedef struct WorkloadChoice {
  const Workload *workload;
  WorkloadSize size;
  const char *const *params; // "name=value"
  uint32_t param_count;
  uint64_t seed;
} WorkloadChoice;
// NULL, with diagnostics, when a parameter is wrong. Lives in the arena.
Target *target_workload(Arena *arena, const WorkloadChoice *choice, const Spec *spec, Diags *diags);

// Where elements are wrong: the smallest rectangle that holds them.
typedef struct WrongArea {
  const TargetOutput *output;                              // that the first of them is in
  bool in_several;                                         // outputs
  uint64_t least_row, most_row, least_column, most_column; // of an array: one row
} WrongArea;

// How a run compares with the golden one.
enum { JUDGEMENT_NOTE = 1024 };
typedef struct Judgement {
  Outcome outcome;
  uint64_t cycles, wrong; // wrong: output elements that differ
  uint64_t beyond;        // of these: not within the tolerance
  double worst;           // largest relative error among them
  WrongArea area;
  char note[JUDGEMENT_NOTE]; // trap line
} Judgement;
// What a run must come to.
typedef struct TargetRight {
  const TargetOutputs *outputs;
  uint64_t cycles, corrected;   // corrected: by protections, in the golden run already
  const struct OrderLog *order; // in which the run's additions came (order.h); NULL: not known
} TargetRight;
uint64_t target_hash(Target *target); // of the machine and of what the host has read from it: equal = the same future
uint64_t target_hash_with(Target *target, const Machine *machine); // likewise, with another machine in the place of its own
uint64_t target_cycles(Target *target);                            // of the machine's clock; the host's loading counts
uint64_t target_stat(Target *target, StatId stat);
uint64_t target_corrected(Target *target); // by protections, and by its own host code
Outcome target_trap_outcome(TrapKind kind);
// False: one is of no output of the run without faults, or does not fit it.
bool target_tolerate(TargetOutputs *golden, const OutputTolerances *tolerances, Arena *arena, Diags *diags);
// Of a run whose outputs are wrong, and are where its own check finds them: all ways to settle a fault ask here.
Outcome target_wrong_outcome(Target *target, const Judgement *judgement);
void target_compare(const TargetOutputs *golden, const TargetOutputs *got, Judgement *judgement); // adds to wrong and worst
WrongPattern target_pattern(const Judgement *judgement);
void target_compare_element(const TargetOutput *golden, const TargetOutput *got, uint64_t index, Judgement *judgement);
// Whether detections, of protections and of its own host code, end a run; false: it goes on, and shows what would have come.
void target_answers(Target *target, const HookChain *protections, bool answers);
// After run; `done` is what it returned.
void target_judge(Target *target, bool done, const TargetRight *right, Arena *arena, Judgement *judgement);

#endif
