// What the issue stage and large-warp packing share: a warp's next instruction and the steps of its way out of the buffer.
#ifndef REDOUBT_SIMT_ISSUE_H
#define REDOUBT_SIMT_ISSUE_H

#include "machine/simt/execute.h"

// A warp's next instruction.
typedef struct Next {
  uint32_t sm, scheduler, warp;
  SimtWarp *at;
  BufferEntry *entry;
  const Instr *instr; // NULL: no legal instruction, or no code
  const OpInfo *info;
  uint32_t pc, mask; // of the top of the stack
  bool is_copy;      // hooks: issues once more, from its Slot
  Instr scratch;
} Next;

static inline uint64_t bit_of(uint32_t warp) { return UINT64_C(1) << warp; }
static inline uint32_t count_lanes(uint32_t lanes) { // faster than a call where the processor's own cannot be used
  lanes -= lanes >> 1 & 0x55555555;
  lanes = (lanes & 0x33333333) + (lanes >> 2 & 0x33333333);
  return ((lanes + (lanes >> 4)) & 0x0F0F0F0F) * 0x01010101 >> 24;
}
static inline uint32_t count_warps(uint64_t warps) { return count_lanes((uint32_t)warps) + count_lanes((uint32_t)(warps >> 32)); }
static inline uint32_t next_guard(const Next *n) {
  return n->at->warp.predicates[n->instr->guard] ^ (n->instr->guard_negated ? UINT32_MAX : 0);
}

// The instruction at the top's pc, if the buffer has it (IDLE_NONE); `sm` and `warp` and `at` are given, the top is ready.
IdleReason next_find(Simt *m, Next *n);
bool next_is_free(const Simt *m, const Next *n); // no hazard with older instructions of the warp
void next_predicates(Simt *m, const Next *n);    // tells the hooks which predicates it reads
Slot next_slot(const Simt *m, const Next *n, uint32_t mask);
void next_begins(Simt *m, const Next *n, uint32_t threads); // counts it
void next_passes(Simt *m, const Next *n);                   // leaves the buffer; the warp goes on after it

// pack.c: large-warp mode.
enum { PACK_MOST_WARPS = 8 };
typedef struct Pack {
  Slot slot;
  uint32_t count;
  Next row[PACK_MOST_WARPS];        // warps that take part
  uint32_t active[PACK_MOST_WARPS]; // lanes of each that execute the instruction, in this part or another
  uint32_t taken[PACK_MOST_WARPS];  // those in this part
} Pack;
// Puts the same instruction of the warps of one large warp together. False: some of them cannot issue it yet.
// Changes nothing but what looking changes.
bool pack_gather(Simt *m, const Next *n, Pack *pack);
void pack_begin(Simt *m, const Pack *pack); // it has issued: scoreboards, and the warps that are through go on

#endif
