// The SIMT stack of a warp: which lanes are at which pc, and where they meet again.
//
// An entry is a set of lanes at one pc. The chain of a lane is the entries that hold it, lowest
// first: the topmost is where the lane is, those below are where it will be once that one is gone.
// An entry disappears when its pc reaches its `reconverge`, where the next entry of each of its lanes waits.
//   Leaf: an entry whose lanes no entry above holds. Only leaves run. The order of two entries matters
//   only if they share lanes, so a leaf may be moved to the top at any time: this is how lanes
//   of one warp make progress independently of each other, as on Volta and later.
//   The top of the stack is what runs; it is always a leaf.
// Plain data without pointers: part of a machine's state block.
#ifndef REDOUBT_PARTS_SIMT_STACK_H
#define REDOUBT_PARTS_SIMT_STACK_H

#include "isa/isa.h"

typedef enum EntryKind { ENTRY_NORMAL, ENTRY_CALL } EntryKind;
typedef enum EntryState {
  ENTRY_READY,
  ENTRY_FORCED,       // ready, and at a warp-wide instruction for whose other members it shall not wait
  ENTRY_AT_BARRIER,   // waits at the block barrier numbered by `place`
  ENTRY_AT_WARP_SYNC, // waits for other lanes of the warp: at one instruction, or anywhere of the kind `place`
} EntryState;

// What lanes that wait for others of their warp wait at.
typedef enum SyncPlace {
  SYNC_HERE,    // an instruction that exchanges data: only lanes at the same pc can take part
  SYNC_BARRIER, // a warp barrier: those at any other one can, too
} SyncPlace;

typedef struct SimtEntry {
  uint32_t pc, reconverge; // NO_RECONVERGE: runs until exit or return
  uint32_t mask;           // lanes; never 0
  uint8_t kind, state;
  uint8_t place; // where it waits: barrier number or SyncPlace
  uint8_t spare;
} SimtEntry;

typedef struct SimtStack {
  uint32_t depth, capacity; // entries in use and in all
  uint32_t alive;           // lanes that have not ended
} SimtStack;
// Where the entries of a stack lie is its owner's affair: every function takes both.

void simt_start(SimtStack *stack, SimtEntry *entries, uint32_t pc, uint32_t mask);

// The functions that add entries return false when the stack is full.

// The top's lanes in `taken` go to `target`, its others to `next`; they meet at `reconverge`.
bool simt_diverge(SimtStack *stack, SimtEntry *entries, uint32_t taken, uint32_t target, uint32_t next, uint32_t reconverge);
// Splits `lanes` (some of the top's) off: they become the new top, at the pc of the old, and the others go on at `rest_pc`.
// They meet where the old top would have met its own kind.
bool simt_split(SimtStack *stack, SimtEntry *entries, uint32_t lanes, uint32_t rest_pc);
// `lanes` of the top call `target`; all of the top continue at `next` afterwards.
bool simt_call(SimtStack *stack, SimtEntry *entries, uint32_t lanes, uint32_t target, uint32_t next);
// `lanes` leave the function they are in; those that are in none (the kernel itself) end.
void simt_return(SimtStack *stack, SimtEntry *entries, uint32_t lanes);
void simt_exit(SimtStack *stack, SimtEntry *entries, uint32_t lanes);

static inline bool entry_is_ready(const SimtEntry *entry) { return entry->state <= ENTRY_FORCED; }

// Makes the lowest ready leaf the top. False: there is none. With `but_top` the present top does not count.
bool simt_rotate(SimtStack *stack, SimtEntry *entries, bool but_top);
// Lanes that only wait for others to reconverge go on without them: they become the new top.
// For spinning or blocked tops; false: there are no such lanes.
bool simt_release_waiting(SimtStack *stack, SimtEntry *entries);
// Lanes of other leaves that wait at such a place; SYNC_HERE: at `pc`.
uint32_t simt_waiting_at(const SimtStack *stack, const SimtEntry *entries, uint32_t pc, SyncPlace place);
// The leaves that wait at a warp-wide instruction at one of `lanes`' pcs go on after it.
void simt_pass_sync(SimtStack *stack, SimtEntry *entries, uint32_t lanes);
// The lowest leaf that waits at a warp-wide instruction shall wait no longer. False: there is none.
bool simt_force(SimtStack *stack, SimtEntry *entries);
bool simt_has_state(const SimtStack *stack, const SimtEntry *entries, EntryState state);

#endif
