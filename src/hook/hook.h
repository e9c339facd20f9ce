// The one table through which anything sees or touches a machine: faults, protections, observers.
//
// A hook is a struct of nullable functions. The machine calls the chain at each place and obeys the strongest
// verdict; it never learns who is there. Order is physics: bits that leave a cell or unit walk the chain forwards
// [faults, protections, observers]: damage, then check; bits that enter a cell walk it backwards over faults
// and protections: encode, then damage. Observers come last and change nothing.
//
// A scheme's own state is a region of the machine's block, asked for in `attach`; so it is cloned, hashed
// and itself injectable. `own` holds configuration only.
#ifndef REDOUBT_HOOK_H
#define REDOUBT_HOOK_H

#include "config/config.h"
#include "hook/region.h"
#include "program/program.h"

typedef enum Verdict {
  VERDICT_PASS,
  VERDICT_FIXED,     // something was wrong and has been put right
  VERDICT_STALL,     // not now: ask again next cycle (fetch, issue, dispatch, memory request)
  VERDICT_HOLD,      // result: the hook has taken it, nothing is written back
  VERDICT_REPLAY,    // result: carry the instruction out once more
  VERDICT_ROLL_BACK, // back to the last checkpoint; a machine that keeps none ends the launch as for HALT
  VERDICT_HALT,      // detected and not to be repaired: the launch ends with TRAP_DETECTED
} Verdict;

typedef enum HookClass { HOOK_FAULT, HOOK_PROTECTION, HOOK_OBSERVER } HookClass;

// What hooks may know of the machine they are attached to. Pointers are re-made when the block moves.
typedef struct HookMachine HookMachine;
struct HookMachine {
  uint8_t *block;
  uint8_t *memory; // host address of device memory's first byte; for REGION_OUTSIDE
  const RegionTable *regions;
  const Spec *spec;
  const Program *program; // of the current launch
  uint32_t warp_rows;     // register rows of each warp in it: those of warp w start at w * warp_rows
  uint32_t pc;            // instruction on whose behalf cells are accessed, where that is known; else UINT32_MAX
  uint64_t issue;         // beside pc: how many instructions its warp had issued before it; UINT64_MAX: not known
  uint32_t warp;          // beside issue: that warp of the SM
  uint64_t cycle;
  uint64_t *corrected, *detected, *replayed; // counters in the block, part of every launch's statistics; hooks count
  // The place holds nothing now: nobody reads this bit before somebody takes the place, and who does writes it. NULL: not known.
  bool (*is_free)(const HookMachine *machine, const Site *site);
  // A statistic of the launch so far, by its name (docs/statistics.md): NULL: there is none. NULL as a whole: not known.
  const uint64_t *(*stat)(const HookMachine *machine, const char *name);
};

// ---- Events ------------------------------------------------------------------------------------
// Bits leave cells (read) or have entered them (write). `data` is unit 0 of the row; the machine has the row's
// units in `units` in its hands, so a hook that repairs changes them in place. A write of part of a unit is told
// as a read and then a write.
typedef struct CellEvent {
  uint16_t region;
  uint32_t units; // bit i: unit i
  uint64_t row;
  uint8_t *data;
} CellEvent;

typedef struct LaunchEvent {
  uint64_t number; // of the launch, from 1
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; // of a block
} LaunchEvent;

typedef struct BlockEvent { // a block goes to an SM, or (done) leaves it
  uint32_t sm, slot;
  uint64_t block; // linear index
  bool done;
} BlockEvent;

typedef struct FetchEvent { // instruction words enter a warp's buffer
  uint32_t sm, warp, pc;
  InstrWord *word;
} FetchEvent;

// A warp instruction is about to issue. What hooks may change is marked (in/out). A hook may be asked again for the
// same instruction when another said STALL: `issue` tells.
typedef struct IssueEvent {
  uint32_t sm, warp, scheduler, block_slot;
  uint32_t pc;
  uint64_t issue; // number of the instruction within its warp, as the ResultEvents of its copies will have it
  const Instr *instr;
  Unit unit;
  uint32_t mask;               // lanes that will execute: active and guard
  uint8_t lane_of[WARP_LANES]; // (in/out) hardware lane that thread i of the warp runs on: a permutation
  uint8_t copies;              // (in/out) how often it issues, in consecutive slots; 1 = once
  uint32_t idle_lanes;         // hardware lanes this issue leaves unused
} IssueEvent;

// A unit has its results. `rows` are 32 lanes each, in thread order. The unit's outputs are row `row` of the REGION_OUTPUT region `region`,
// which has as many units as the hardware has lanes: a warp passes them in turns, lane_of[i] / lanes is the turn of thread i and
// lane_of[i] % lanes its hardware lane.
typedef struct ResultEvent {
  uint32_t sm, warp, block_slot, pc;
  const Instr *instr;
  uint16_t region;
  uint64_t row;
  uint32_t cycles; // that the outputs are busy with it, this one the last
  uint32_t mask;
  const uint8_t *lane_of;
  uint8_t copy, copies; // this is issue `copy` (from 0) of `copies` so far
  uint64_t issue;       // number of the instruction within its warp: copies share it
  uint32_t *rows;       // row_count * 32 words (in/out)
  uint32_t row_count;   // result registers; addresses (2 rows) for memory instructions
  uint32_t *predicates; // two masks (in/out); NULL when it makes none
} ResultEvent;

typedef struct BranchEvent {
  uint32_t sm, warp, pc, target, mask, taken;
} BranchEvent;

typedef enum MemoryStage { MEMORY_REQUEST, MEMORY_SERVICE, MEMORY_RESPONSE } MemoryStage;
typedef struct MemoryEvent { // a packet leaves the SM, is served by DRAM, arrives back
  MemoryStage stage;
  uint32_t sm, warp, partition;
  uint64_t address;
  uint32_t bytes;
  bool write;
  uint64_t waited; // SERVICE: cycles in the controller's queue; RESPONSE: cycles since the request
} MemoryEvent;

typedef struct CommitEvent { // an instruction has written back
  uint32_t sm, warp, pc, mask;
  const Instr *instr;
  uint64_t issued_at; // cycle
  uint64_t issue;     // number of the instruction within its warp
} CommitEvent;

typedef struct TrapEvent {
  uint32_t kind; // TrapKind
  uint32_t sm, warp, pc;
} TrapEvent;

// One entry of a time line, for observers: unit busy, line filled, row opened.
typedef struct SpanEvent {
  const char *track; // "l2", "dram"
  uint32_t instance;
  const char *what;
  uint64_t start, end; // cycles
} SpanEvent;

// ---- The hook ----------------------------------------------------------------------------------
// Hands out regions while the machine is being laid out. How far events' indices go: hooks size their state by it.
typedef struct HookShape {
  uint32_t sms, warps, block_slots; // warps and slots per SM
} HookShape;
typedef struct HookLayout HookLayout;
// A new region: name, title, unit, meaning, dims, units, bits and unit_bytes of `wanted` say what; the rest is filled in. Its
// cells are zeroed bytes of the block, INJECTABLE and HASHED. REGION_NONE, with a diagnostic: the name is taken.
uint16_t hook_add_region(HookLayout *layout, const Region *wanted, Diags *diags);
const RegionTable *hook_layout_regions(const HookLayout *layout); // what is there already: the machine's own, and earlier hooks'
const HookShape *hook_layout_shape(const HookLayout *layout);

typedef struct Hook Hook;
struct Hook {
  const char *name;
  HookClass kind;
  void *own; // configuration; the owner of the hook frees it
  bool (*attach)(Hook *hook, HookLayout *layout, Diags *diags);
  void (*rebuild)(Hook *hook, const HookMachine *machine); // after the block has moved, been cloned or loaded
  Verdict (*launch)(Hook *hook, HookMachine *machine, const LaunchEvent *event);
  Verdict (*block)(Hook *hook, HookMachine *machine, const BlockEvent *event);
  Verdict (*fetch)(Hook *hook, HookMachine *machine, FetchEvent *event);
  Verdict (*issue)(Hook *hook, HookMachine *machine, IssueEvent *event);
  Verdict (*read)(Hook *hook, HookMachine *machine, const CellEvent *event);
  Verdict (*write)(Hook *hook, HookMachine *machine, const CellEvent *event);
  Verdict (*result)(Hook *hook, HookMachine *machine, ResultEvent *event);
  bool replays; // `result` may say REPLAY: operands are kept for it until then
  Verdict (*branch)(Hook *hook, HookMachine *machine, const BranchEvent *event);
  Verdict (*memory)(Hook *hook, HookMachine *machine, const MemoryEvent *event);
  Verdict (*commit)(Hook *hook, HookMachine *machine, const CommitEvent *event);
  Verdict (*trap)(Hook *hook, HookMachine *machine, const TrapEvent *event); // FIXED: the trap does not happen
  void (*cycle)(Hook *hook, HookMachine *machine);                           // start of the cycle named in next_cycle
  uint64_t next_cycle;                                                       // UINT64_MAX: never
  bool only_looks; // in `cycle`, as observers do: a machine in which nothing else is to come hangs, and need not wait for it
  void (*span)(Hook *hook, HookMachine *machine, const SpanEvent *event);
  void (*finish)(Hook *hook, HookMachine *machine);
};

enum { MAX_PROTECTIONS = 8, MAX_HOOKS = MAX_PROTECTIONS + 8 }; // and those of a campaign, of faults and a trace
// The hooks of one machine in their order: faults, protections, observers.
typedef struct HookChain {
  Hook *hooks[MAX_HOOKS];
  uint32_t count;
} HookChain;
bool hook_chain_add(HookChain *chain, Hook *hook); // keeps the order; false: the chain is full

// Which events anybody wants: machines test a bit before they build an event.
enum {
  WANT_LAUNCH = 1u << 0,
  WANT_BLOCK = 1u << 1,
  WANT_FETCH = 1u << 2,
  WANT_ISSUE = 1u << 3,
  WANT_CELLS = 1u << 4, // read or write
  WANT_RESULT = 1u << 5,
  WANT_BRANCH = 1u << 6,
  WANT_MEMORY = 1u << 7,
  WANT_COMMIT = 1u << 8,
  WANT_TRAP = 1u << 9,
  WANT_CYCLE = 1u << 10,
  WANT_SPAN = 1u << 11,
  WANT_REPLAY = 1u << 12,
};
uint32_t hook_chain_wants(const HookChain *chain);

// ---- For machines --------------------------------------------------------------------------------
// A machine lays its own state out, then lets the hooks append theirs; regions start at multiples of 64 bytes.
//   layout = hook_layout_begin(...); if (!hook_layout_attach(layout, &chain, diags)) ...; table = hook_layout_finish(layout);
// Everything lives in the arena, which must outlive the table. Bytes [own.block_bytes, table.block_bytes) are the schemes': all HASHED.
HookLayout *hook_layout_begin(Arena *arena, const RegionTable *own, const HookShape *shape);
bool hook_layout_attach(HookLayout *layout, const HookChain *chain, Diags *diags);
RegionTable hook_layout_finish(const HookLayout *layout);

// Call every hook that has the function; the strongest verdict. Reads, results and the rest walk forwards, writes backwards.
// What observers return is not looked at.
Verdict hooks_launch(const HookChain *chain, HookMachine *machine, const LaunchEvent *event);
Verdict hooks_block(const HookChain *chain, HookMachine *machine, const BlockEvent *event);
Verdict hooks_fetch(const HookChain *chain, HookMachine *machine, FetchEvent *event);
Verdict hooks_issue(const HookChain *chain, HookMachine *machine, IssueEvent *event);
Verdict hooks_read(const HookChain *chain, HookMachine *machine, const CellEvent *event);
Verdict hooks_write(const HookChain *chain, HookMachine *machine, const CellEvent *event);
Verdict hooks_result(const HookChain *chain, HookMachine *machine, ResultEvent *event);
Verdict hooks_branch(const HookChain *chain, HookMachine *machine, const BranchEvent *event);
Verdict hooks_memory(const HookChain *chain, HookMachine *machine, const MemoryEvent *event);
Verdict hooks_commit(const HookChain *chain, HookMachine *machine, const CommitEvent *event);
Verdict hooks_trap(const HookChain *chain, HookMachine *machine, const TrapEvent *event);
// Calls those whose next_cycle has come; each is disarmed first (next_cycle = UINT64_MAX) and arms itself again if it wants more.
void hooks_cycle(const HookChain *chain, HookMachine *machine);
uint64_t hooks_next_cycle(const HookChain *chain);  // the earliest that any wants
uint64_t hooks_next_change(const HookChain *chain); // of those that may change something then
void hooks_span(const HookChain *chain, HookMachine *machine, const SpanEvent *event);
void hooks_finish(const HookChain *chain, HookMachine *machine);
void hooks_rebuild(const HookChain *chain, const HookMachine *machine);

#endif
