// What the files of ace share.
#ifndef REDOUBT_ACE_INTERNAL_H
#define REDOUBT_ACE_INTERNAL_H

#include "ace/ace.h"

#include <stdlib.h>

#define NOBODY 0u
static inline void *new_array(size_t count, size_t size) { // zeros; to be freed
  void *array = calloc(count > 0 ? count : 1, size);
  ASSERT(array != NULL);
  return array;
}
static inline uint32_t count_ones(uint32_t mask) { return (uint32_t)__builtin_popcount(mask); }

// ---- Sums (tally.c) --------------------------------------------------------------------------------
// Times count the cycles of a launch from 1. A stretch (from, to] is met by what strikes at the beginning of cycles from + 1 to `to`; 0 is before the launch.
typedef struct Slices {
  int64_t partial[ACE_SLICES], level[ACE_SLICES + 1];
} Slices;
typedef struct LineSum {
  uint64_t key; // 1 + kernel << 32 | line
  uint64_t *bits;
} LineSum;
typedef struct Tally {
  const RegionTable *regions;
  AceStructure *structures;
  char **names;        // of theirs; NULL: the regions'
  uint16_t *of_region; // structure of a region; REGION_NONE: not wanted
  uint32_t count;
  AceSums *launch; // by structure: of the launch that runs
  AceSums *last;   // of the one before it
  uint64_t last_cycles, cycles;
  AceKernel *kernels;
  uint32_t kernel_count, kernel_room, kernel;
  Slices *slices;    // by structure
  uint64_t slice;    // cycles of each
  uint64_t began_at; // the launch, in the machine's cycles
  const Program *program;
  uint64_t **by_pc; // by structure that has lines: ACE bits by instruction of the launch
  uint32_t by_pc_room;
  AceLine *lines;
  uint32_t line_count, line_room;
  AceProbe *probes; // by region, row and cycle
  uint32_t probe_count;
  uint32_t *probe_first; // by region: 1 + the first; 0: none
} Tally;
bool tally_open(Tally *tally, const RegionTable *regions, const char *names, Diags *diags);
void tally_close(Tally *tally);
void tally_launch(Tally *tally, const HookMachine *machine, const char *kernel);
void tally_finish(Tally *tally, const HookMachine *machine);
void tally_ask(Tally *tally, AceProbe *probes, uint32_t count);
static inline bool tally_wants(const Tally *tally, uint16_t region) { return tally->of_region[region] != REGION_NONE; }
static inline uint32_t tally_time(const Tally *tally, const HookMachine *machine) {
  return (uint32_t)(machine->cycle - tally->began_at) + 1;
}
static inline void tally_sum(Tally *tally, uint16_t region, AceCause cause, uint64_t bits) {
  tally->launch[tally->of_region[region]].bits[cause] += bits;
}
void tally_slice(Tally *tally, uint16_t region, uint32_t from, uint32_t to, uint64_t weight); // ACE bits of each cycle
void tally_slice_at(Tally *tally, uint16_t region, uint32_t time, uint64_t bits);
void tally_line(Tally *tally, uint16_t region, uint32_t pc, uint64_t bits);
// Somebody asks about this row; then all that is summed of it is told to tally_answer, too.
uint32_t tally_first(const Tally *tally, uint16_t region, uint64_t row); // the row's first probe; probe_count: none
bool tally_is_asked(const Tally *tally, uint16_t region, uint64_t row);
void tally_answer(Tally *tally, uint16_t region, uint64_t row, uint32_t unit, uint64_t bits, uint32_t from, uint32_t to, AceCause cause);

Tally *ace_tally(const Ace *ace);
Ace *ace_empty(uint32_t window, bool all_reads_count); // to be filled from bytes

// ---- What an instruction does with its operands (operand.c) -------------------------------------------
typedef enum Role {
  ROLE_NONE,
  ROLE_LINK,    // its value goes into the results of the same lane
  ROLE_WHOLE,   // of any lane
  ROLE_ADDRESS, // these always matter
  ROLE_CONTROL,
  ROLE_OUTPUT,
  ROLE_DATA,
} Role;
typedef struct OperandRole {
  uint8_t first, count; // registers, or one predicate
  uint8_t role;
  bool is_predicate;
  uint32_t care[2]; // bits of each register that it looks at; of further ones, all
} OperandRole;
enum { OPERAND_ROLES = 8 };
typedef struct InstrRoles {
  OperandRole items[OPERAND_ROLES];
  uint8_t count;
  bool is_known;
  bool has_node; // something may be dead because of it: it has results, or stores to shared memory
  bool stores;   // its results lie in shared memory: by word, not by lane
} InstrRoles;
void instr_roles(const Instr *instr, InstrRoles *roles);
// What it does with a register or predicate; bits that it looks at.
Role instr_role(const InstrRoles *roles, uint32_t number, bool is_predicate, uint32_t *care);

// ---- Values and who needs them (flow.c) ---------------------------------------------------------------
// A value: what one write has left in a row of 32 lanes: a register, a predicate, 32 words of shared memory.
typedef struct Value {
  uint32_t maker;                   // number of the node; NOBODY: nobody that is known
  uint32_t next;                    // of its row; of the free list
  uint32_t held;                    // lanes where it still lies
  uint32_t read, live, sure, later; // lanes: read; by somebody that matters; for certain; if dead, only transitively
  uint32_t care;                    // bits of a lane that those look at
  uint32_t open;                    // reads of which it is not known whether they matter
  uint32_t born, pc, row;
  uint16_t region;
  uint8_t unit;                    // predicates: which
  uint8_t word;                    // of the maker's results
  uint8_t role;                    // strongest of its readers
  bool is_empty;                   // what was there before the first write, or after a place was cleared
  uint32_t lanes;                  // that it began with
  uint32_t read_until, live_until; // the last read, and the last that matters; of all lanes alike, or
  uint32_t times;                  // of each lane there; 0: alike
} Value;
typedef struct LaneTimes {
  uint32_t read_until[WARP_LANES], live_until[WARP_LANES];
  uint32_t next; // of the free list
} LaneTimes;

typedef struct Source { // a node's read of a value
  uint32_t value, lanes, time, care;
  bool is_whole;
} Source;
typedef struct Pass { // results that passed a unit's outputs; of one part of the instruction
  uint32_t threads, time;
  uint32_t weight; // ACE_PARTS of a lane-cycle for each thread
  uint16_t region;
  uint8_t groups; // in which the words of a result pass
  uint8_t words;  // of each; 0: predicates
} Pass;
enum { NODE_SOURCES = 8, NODE_PASSES = 2, REF_PLANES = 5, NODE_WORDS = 4 };
// A warp instruction that is under way, or whose results may still be needed.
typedef struct Node {
  uint64_t issue;
  uint32_t warp, pc; // warp of all SMs
  uint32_t mask, committed;
  uint32_t live, sure, dead, read; // lanes of its results; of a store, lane 0 is all of it
  uint32_t refs[REF_PLANES];       // how often a lane of its results may still be needed, a plane per binary digit
  uint32_t many;                   // lanes for which that was too often to count
  uint32_t ref_count;              // of stores
  uint32_t queued_live, queued_dead, next_live, next_dead;
  uint32_t care[NODE_WORDS]; // bits of its results that are needed
  uint32_t predicates_needed;
  uint32_t asked; // probes that wait for it: 1 + index of the first
  uint8_t source_count, pass_count, value_count;
  bool is_store, is_settled;
  Source sources[NODE_SOURCES];
  Pass passes[NODE_PASSES];
} Node;

typedef struct PendingPredicates { // predicates are read before the instruction that reads them is told
  uint64_t issue;
  uint32_t units, time, pc;
  bool is_there;
} PendingPredicates;
enum { RECENT = 128 }; // instructions of a warp that can be found by their number

typedef struct Flow {
  Tally *tally;
  uint16_t rf, predicates, shared; // REGION_NONE: not followed
  uint32_t sms, warps;
  uint32_t window;
  Node *nodes;             // a ring
  uint32_t oldest, newest; // numbers, from 1
  Value *values;
  uint32_t value_room, free;
  LaneTimes *times;
  uint32_t times_room, times_free;
  uint32_t *rows[3]; // by row of rf, of predicates times units, of shared: first value; NOBODY: untouched
  uint64_t row_count[3];
  uint32_t *recent;           // by warp and issue: node
  PendingPredicates *pending; // by warp
  struct {                    // a predicate is being written in part
    uint64_t row;
    uint32_t unit, time;
    bool is_there;
  } partial;
  InstrRoles *roles; // by pc
  uint32_t role_room;
  const Program *program;
  uint32_t live_queue, dead_queue;
  bool all_reads_count;
  // Probes of units that wait for a node: by number of the probe.
  struct Waiting *waiting;
  uint32_t waiting_count, waiting_room;
} Flow;
typedef struct Waiting {
  AceProbe *probe;
  uint32_t next, thread, word, bit;
  bool is_predicate;
} Waiting;

void flow_open(Flow *flow, Tally *tally, const HookLayout *layout, const AceOptions *options);
void flow_close(Flow *flow);
void flow_launch(Flow *flow, const HookMachine *machine);
void flow_finish(Flow *flow, const HookMachine *machine);
void flow_issue(Flow *flow, const IssueEvent *event);
void flow_commit(Flow *flow, const CommitEvent *event);
bool flow_has(const Flow *flow, uint16_t region);
void flow_read(Flow *flow, const HookMachine *machine, const CellEvent *event);
void flow_write(Flow *flow, const HookMachine *machine, const CellEvent *event);
uint32_t flow_find(const Flow *flow, const Who *who); // the node; NOBODY: not known
static inline Node *node_at(const Flow *flow, uint32_t number) { return &flow->nodes[number & (flow->window - 1)]; }
static inline bool node_is_there(const Flow *flow, uint32_t number) { return number != NOBODY && number >= flow->oldest; }

// node.c: whether the results of an instruction are needed
uint32_t node_new(Flow *flow, const Who *who, uint32_t mask);
void node_add(Node *node, uint32_t lanes);                                   // one more may need them
void node_drop(Flow *flow, uint32_t number, uint32_t lanes);                 // one fewer
void node_needed(Flow *flow, uint32_t number, uint32_t lanes, bool is_sure); // somebody that matters does
void node_retire(Flow *flow);                                                // the oldest leaves the window
void flow_spread(Flow *flow);                                                // what is queued of that

// value.c: how long a value was there and mattered
uint32_t value_new(Flow *flow, uint32_t lanes, uint32_t time);
void value_read(Flow *flow, Value *value, uint32_t lanes, uint32_t time);
void value_needed(Flow *flow, Value *value, const Source *source, uint32_t lanes, Role role, bool is_sure);
void value_ended(Flow *flow, const Value *value, uint32_t lanes, uint32_t time,
                 AceCause cause);              // gone from these lanes: since its last read, it was un-ACE
void value_settle(Flow *flow, uint32_t index); // gone from its row, and all its readers are decided: accounts for it

// ---- Outputs of units (unit.c) --------------------------------------------------------------------------
void unit_result(Flow *flow, const HookMachine *machine, const ResultEvent *event);
void unit_retire(Flow *flow, const Node *node);

// ---- Structures whose values are not followed (cells.c) ----------------------------------------------------
typedef struct Cells {
  Tally *tally;
  uint32_t **last;  // by region: 1 + time of the last access of each unit; 0: none yet. NULL: not of this kind
  uint32_t **taken; // by region: 1 + time at which the row was taken; 0: it is free
} Cells;
void cells_open(Cells *cells, Tally *tally, const Flow *flow);
void cells_close(Cells *cells);
void cells_read(Cells *cells, const HookMachine *machine, const CellEvent *event);
void cells_write(Cells *cells, const HookMachine *machine, const CellEvent *event);
void cells_take(Cells *cells, const HookMachine *machine, const HoldEvent *event);
void cells_release(Cells *cells, const HookMachine *machine, const HoldEvent *event);
void cells_finish(Cells *cells, const HookMachine *machine);

#endif
