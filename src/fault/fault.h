// Faults: what breaks, where, when, and how. One file per model; each makes a Hook that strikes the machine's
// cells at its time. Text form, as users write it and journals keep it:
//
//   MODEL:SITE@CYCLE            flip:rf[sm=3,warp=5,reg=12,lane=7,bit=4]@12345
//   MODEL:SITE@FROM-TO          stuck1:rf[sm=0,reg=3,lane=1,bit=0]@0-   (an open end: for ever)
//   MODEL(ARGUMENTS):SITE@...   adjacent(3):shared[...]@99   random(4,17):l2[...]@99   duty(100,900):...@0-
//   pattern(FILE):SITE@...      pattern(0.0.0+1.0.-3):rf[...]@99: the bits themselves, as a fault is written
//
// The second argument of `random` is the seed of what it draws; without one it is 0.
// Sites are cells, or outputs of functional units (unit.sp[sm=,sp=,lane=,bit=]); every model strikes both.
// `rf` takes either reg=row of the SM, or warp= and reg= of that warp in the launch that runs at that cycle.
#ifndef REDOUBT_FAULT_H
#define REDOUBT_FAULT_H

#include "hook/hook.h"

typedef enum FaultModel {
#define MODEL(id, name, arguments, permanent, summary) FAULT_##id,
#include "fault/fault.def"
#undef MODEL
  FAULT_MODELS
} FaultModel;
typedef struct FaultModelInfo {
  const char *name, *arguments, *summary;
  bool permanent; // lasts until its end, which may be never
} FaultModelInfo;
extern const FaultModelInfo fault_models[FAULT_MODELS];

enum { FAULT_MAX_BITS = 64, FAULT_NO_WARP = 0xFFFFFFFF };

// A bit of a pattern, counted from the site.
typedef struct FaultOffset {
  int32_t row, unit, bit;
} FaultOffset;

// Plain data: a journal row. Sites of one fault lie in one row of cells, but for patterns.
typedef struct Fault {
  FaultModel model;
  Site site;             // the first bit
  bool is_output;        // of a functional unit: its region is REGION_OUTPUT
  uint32_t warp;         // rf: site.row counts within this warp's registers; FAULT_NO_WARP: within the SM
  uint64_t from, to;     // cycles; to = UINT64_MAX: for ever; transients: to = from
  uint64_t arguments[2]; // by model: number of bits; on and off times
  uint64_t seed;         // of what the model draws itself (random bits)
  uint32_t pattern_count;
  FaultOffset pattern[FAULT_MAX_BITS];
} Fault;

static inline bool fault_lasts(const Fault *fault) { return fault_models[fault->model].permanent; }

bool fault_parse(const RegionTable *regions, const char *text, Fault *fault, Diags *diags);
bool fault_parse_model(const char *text, Fault *fault, Diags *diags); // "adjacent(2)": a fault without site and time
void fault_format(const RegionTable *regions, const Fault *fault, Text *out);
// Every bit that the fault strikes; at most FAULT_MAX_BITS, all inside the region.
uint32_t fault_bits(const RegionTable *regions, const HookMachine *machine, const Fault *fault, Site bits[FAULT_MAX_BITS]);

// The hook that makes it happen; lives in the arena.
Hook *fault_hook(Arena *arena, const Fault *fault);
// One that does nothing until it is given a fault that lasts, which begins now: by a hook before it in the chain, at the start of a cycle.
Hook *fault_hook_asleep(Arena *arena, bool cells, bool outputs); // which of them it may strike
void fault_hook_wake(Hook *hook, const HookMachine *machine, const Fault *fault);

// A transient struck by those who have chosen the moment themselves: cells change now, whatever the fault's time; outputs when a result
// passes them in the fault's cycle, so results must be told until that is over.
typedef struct Strike {
  const Fault *fault;
  bool waits; // for a result
} Strike;
enum { FAULT_OUTPUT_CYCLES = 1024 }; // more than any unit's outputs are busy with one result
Strike fault_strike(const HookMachine *machine, const Fault *fault);
void strike_result(Strike *strike, const HookMachine *machine, ResultEvent *event);
bool strike_is_over(const Strike *strike, uint64_t cycle);
// Of faults that last: whether bits that leave cells, or a result that passes outputs in this cycle, are not as the fault holds them.
bool fault_alters_cells(const RegionTable *regions, const Fault *fault, const CellEvent *event);
bool fault_alters_result(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event);
// What a transient in outputs changes of a result that is told in this cycle; 0: nothing.
typedef struct ResultBit {
  uint32_t slot, word, bit; // lane slot; result register
  bool is_predicate;        // or, of a comparison: bit 0 or 1 says which
} ResultBit;
bool fault_meets(const RegionTable *regions, const Fault *fault, const ResultEvent *event); // a thread of it is on a lane that is struck
// A result passes what is struck while the fault is there, whether that changes it or not.
bool fault_is_passed(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event);
uint32_t fault_result_bits(const RegionTable *regions, const Fault *fault, uint64_t cycle, const ResultEvent *event,
                           ResultBit bits[FAULT_MAX_BITS]);

#endif
