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
// Items that come and go are numbered from 1 in an array that grows; free ones are chained by a number of their own, at `next_at` bytes in an item.
typedef struct PoolShape {
  size_t size, next_at;
  uint32_t first_room;
} PoolShape;
#define POOL_SHAPE(Type, first) (&(PoolShape){sizeof(Type), offsetof(Type, next), first})
void *pool_grow(void *items, uint32_t *room, uint32_t *free_item, const PoolShape *shape); // twice the room; new items are zero

// ---- Sums (tally.c) --------------------------------------------------------------------------------
// Times count the cycles of a launch from 1. A stretch (from, to] is met by what strikes at the beginning of cycles from + 1 to `to`; 0 is before the launch.
typedef struct Slices {
  struct {
    int64_t part, after; // of stretches that begin or end in the slice: bit-cycles in it; bits, in all slices after it
  } at[ACE_SLICES];
} Slices;
// A launch of which something is not decided yet. What is found of it later is added to it.
typedef struct OpenLaunch {
  uint32_t kernel;
  uint64_t past;     // cycles of the launches before it
  uint64_t began_at; // in the machine's cycles
  AceSums *sums;     // by structure
} OpenLaunch;
typedef struct KernelCode { // ACE bits by instruction, until they are summed by line
  uint32_t *lines;
  uint32_t count;
  uint64_t **bits; // by structure
} KernelCode;
typedef struct Tally {
  const RegionTable *regions;
  AceStructure *structures;
  char **names;        // of theirs; NULL: the regions'
  uint16_t *of_region; // structure of a region; REGION_NONE: not wanted
  uint32_t count;
  OpenLaunch *open; // launches that are not decided yet: the first is number `open_first`
  uint32_t open_count, open_room, open_first;
  uint32_t launch_number; // of the last, from 1
  OpenLaunch *at;         // what is summed now
  uint64_t cycles;
  AceKernel *kernels;
  KernelCode *codes; // of the kernels
  uint32_t kernel_count, kernel_room, code_room;
  AceLaunch *launches;
  uint32_t launch_count, launch_room;
  Slices *slices; // by structure
  uint64_t slice; // cycles of each
  AceLine *lines;
  uint32_t line_count, line_room;
  AceProbe *probes; // by region, row and cycle
  uint32_t probe_count;
  uint32_t *probe_first; // by region: 1 + the first; 0: none
} Tally;
bool tally_open(Tally *tally, const RegionTable *regions, const char *names, Diags *diags);
void tally_close(Tally *tally);
// Another program of that name ran before: its lines must be summed first (tally_decided).
bool tally_is_new_code(const Tally *tally, const HookMachine *machine, const char *kernel);
void tally_launch(Tally *tally, const HookMachine *machine, const char *kernel);
void tally_finish(Tally *tally, const HookMachine *machine);
void tally_decided(Tally *tally, uint32_t before); // all launches before this one are
// What is summed now is of this launch.
static inline void tally_turn_to(Tally *tally, uint32_t launch) { tally->at = &tally->open[launch - tally->open_first]; }
void tally_ask(Tally *tally, AceProbe *probes, uint32_t count);
static inline bool tally_wants(const Tally *tally, uint16_t region) { return tally->of_region[region] != REGION_NONE; }
static inline uint32_t tally_time(const Tally *tally, const HookMachine *machine) {
  return (uint32_t)(machine->cycle - tally->open[tally->open_count - 1].began_at) + 1;
}
static inline void tally_sum(Tally *tally, uint16_t region, AceCause cause, uint64_t bits) {
  tally->at->sums[tally->of_region[region]].bits[cause] += bits;
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
  bool has_node;  // something may be dead because of it: it has results, or stores
  bool stores;    // its results lie in memory: by word, not by lane
  bool to_memory; // and that memory may be global or local
} InstrRoles;
void instr_roles(const Instr *instr, bool follows_memory, InstrRoles *roles);
// What it does with a register or predicate; bits that it looks at.
Role instr_role(const InstrRoles *roles, uint32_t number, bool is_predicate, uint32_t *care);

// ---- Values and who needs them (flow.c) ---------------------------------------------------------------
// A value: what one write has left in a row of 32 lanes: a register, a predicate, 32 words of shared, global or local memory.
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
  uint32_t launch;                 // in which it began
  // Of global and local memory (region is REGION_NONE, born a running number):
  uint32_t sm, gone; // words that were overwritten; loads that are under way may still read them
  uint32_t sibling;  // the next that the same store has left
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
// A warp instruction that is under way, or whose results may still be needed. There are many: what every event asks for lies in the first 64 bytes,
// a line of the host's cache.
typedef struct Node {
  uint64_t issue;
  uint32_t warp, pc; // warp of all SMs
  uint32_t mask, committed;
  uint32_t live, read;       // lanes of its results; of a store, lane 0 is all of it
  uint32_t refs[REF_PLANES]; // how often a lane of its results may still be needed, a plane per binary digit
  uint32_t many;             // lanes for which that was too often to count
  uint32_t launch;
  uint8_t source_count, pass_count;
  bool is_store : 1, is_memory : 1, is_settled : 1; // is_memory: a store to global or local memory, perhaps
  uint32_t sure, dead;                              // lanes, as live
  uint32_t ref_count;                               // of stores
  uint32_t queued_live, queued_dead, next_live, next_dead;
  uint32_t care[NODE_WORDS]; // bits of its results that are needed
  uint32_t predicates_needed;
  uint32_t asked;       // probes that wait for it: 1 + index of the first
  uint32_t first_value; // of a store: what it has left in global or local memory
  uint32_t placed;      // of a store: lanes of which it is known where they stored
  uint32_t access;      // of a load from there that is under way
  Source sources[NODE_SOURCES];
  Pass passes[NODE_PASSES];
} Node;

typedef struct PendingPredicates { // predicates are read before the instruction that reads them is told
  uint64_t issue;
  uint32_t units, time, pc;
  bool is_there;
} PendingPredicates;
enum { RECENT = 128 }; // instructions of a warp that can be found by their number

// Global and local memory (memory.c).
typedef struct MemoryRow { // a line of global memory, or a word of the lanes of a warp
  uint64_t key;
  uint32_t head, next; // first value; next of its bucket, or of the free list
} MemoryRow;
typedef struct Touch {
  uint64_t key;
  uint32_t words, whole; // that an instruction touches; all bytes of them
} Touch;
enum { ACCESS_TOUCHES = 4 * WARP_LANES }; // four words of local memory for each lane at most
typedef struct Access {
  uint32_t count, since; // number of the last value that was there when it began
  uint32_t next;         // of the free list
  Touch touches[ACCESS_TOUCHES];
} Access;
typedef struct Memories {
  uint32_t *buckets;
  uint32_t bucket_count;
  MemoryRow *rows;
  uint32_t row_room, row_used, row_free;
  Access *accesses;
  uint32_t access_room, access_free;
  Access scratch;
  uint32_t serial;                  // of values
  uint64_t shown_first, shown_last; // memory that the launch reads in other ways
  bool is_lost;                     // somebody reads this launch's memory who does not say where
} Memories;

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
  bool follows_memory;
  Memories memory;
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
void flow_decide_all(Flow *flow); // what is not known now counts as ACE
void flow_issue(Flow *flow, const IssueEvent *event);
void flow_commit(Flow *flow, const CommitEvent *event);
bool flow_has(const Flow *flow, uint16_t region);
void flow_read(Flow *flow, const HookMachine *machine, const CellEvent *event);
void flow_write(Flow *flow, const HookMachine *machine, const CellEvent *event);
uint32_t flow_find(const Flow *flow, const Who *who); // the node; NOBODY: not known
static inline Node *node_at(const Flow *flow, uint32_t number) { return &flow->nodes[number & (flow->window - 1)]; }
static inline bool node_is_there(const Flow *flow, uint32_t number) { return number != NOBODY && number >= flow->oldest; }

static inline uint32_t flow_oldest_launch(const Flow *flow) { // of which something is undecided
  bool is_open = flow->nodes != NULL && flow->oldest <= flow->newest;
  return is_open ? node_at(flow, flow->oldest)->launch : flow->tally->launch_number + 1;
}

// node.c: whether the results of an instruction are needed
uint32_t node_new(Flow *flow, const Who *who, uint32_t mask);
void node_add(Node *node, uint32_t lanes);                                   // one more may need them
void node_drop(Flow *flow, uint32_t number, uint32_t lanes);                 // one fewer
void node_needed(Flow *flow, uint32_t number, uint32_t lanes, bool is_sure); // somebody that matters does
void node_retire(Flow *flow);                                                // the oldest leaves the window
void flow_spread(Flow *flow);                                                // what is queued of that

// memory.c: global and local memory
void memory_launch(Flow *flow);
void memory_finish(Flow *flow);
void memory_host(Flow *flow, const HostEvent *event);
void memory_end(Flow *flow, bool host_sees); // nothing runs any more: the host reads what is left, or not
void memory_addresses(Flow *flow, const ResultEvent *event);
void memory_commit(Flow *flow, uint32_t number);
void memory_retire(Flow *flow, Node *node);
void memory_forget_access(Flow *flow, Node *node);
void memory_unchain(Flow *flow, uint32_t index); // a value that is about to be freed
void memory_close(Flow *flow);

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
typedef struct Decided { // a cell of control logic
  uint64_t told;         // bits of which all that they decide is told
  uint32_t *since;       // by bit: when it last decided something or was written
} Decided;
typedef struct Tail { // of a unit that is KEPT: since when, before this launch, it has not been accessed
  uint32_t launch;    // number; 0: it was not accessed before
  uint32_t from;      // time in that one
} Tail;
typedef struct Cells {
  Tally *tally;
  Tail **tails;         // by region that is KEPT: of each unit; else NULL
  uint32_t oldest_tail; // launch of the oldest; UINT32_MAX: there is none
  uint32_t **last;      // by region: 1 + time of the last access of each unit; 0: none yet. NULL: not of this kind
  uint32_t **taken;     // by region: 1 + time at which the row was taken; 0: it is free
  uint8_t **was_read;   // by region at which logic looks between accesses: the last access of each unit was a read
  Decided **decided;    // by region: of each unit
} Cells;
void cells_open(Cells *cells, Tally *tally, const Flow *flow);
void cells_close(Cells *cells);
bool cells_decide_any(const Cells *cells); // it needs to hear what control logic decides
bool cells_take_any(const Cells *cells);   // or of places
void cells_read(Cells *cells, const HookMachine *machine, const CellEvent *event);
void cells_write(Cells *cells, const HookMachine *machine, const CellEvent *event);
void cells_take(Cells *cells, const HookMachine *machine, const HoldEvent *event);
void cells_release(Cells *cells, const HookMachine *machine, const HoldEvent *event);
void cells_decide(Cells *cells, const HookMachine *machine, const DecideEvent *event);
void cells_launch(Cells *cells, const HookMachine *machine);
void cells_finish(Cells *cells, const HookMachine *machine);
uint32_t cells_oldest_launch(Cells *cells); // of which something is not decided yet
void cells_end(Cells *cells);               // there will be no further launch

#endif
