// What the issue stage and large-warp packing share: a warp's next instruction and the steps of its way out of the buffer.
#ifndef REDOUBT_SIMT_ISSUE_H
#define REDOUBT_SIMT_ISSUE_H

#include "machine/simt/facts.h"

// A warp's next instruction.
typedef struct Next {
  uint32_t sm, scheduler, warp;
  SimtWarp *at;
  SimtEntry *top; // of its stack
  BufferEntry *entry;
  const Instr *instr; // NULL: no legal instruction, or no code
  const Facts *facts;
  uint32_t pc, mask; // of the top of the stack
  bool is_rest;      // a further part of an instruction that has begun: see Rest
  Instr scratch;     // of a damaged word
  Facts own;
} Next;

static inline uint64_t bit_of(uint32_t warp) { return UINT64_C(1) << warp; }
static inline uint32_t count_warps(uint64_t warps) {
  warps -= warps >> 1 & UINT64_C(0x5555555555555555);
  warps = (warps & UINT64_C(0x3333333333333333)) + (warps >> 2 & UINT64_C(0x3333333333333333));
  return (uint32_t)(((warps + (warps >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F)) * UINT64_C(0x0101010101010101) >> 56);
}
static inline uint32_t next_guard(const Next *n) {
  return n->at->warp.predicates[n->instr->guard] ^ (n->instr->guard_negated ? UINT32_MAX : 0);
}

// Two-level scheduling: the active set without those that wait, filled up with pending warps that are ready.
static inline uint64_t schedule_active(const Simt *m, const SmState *state, SchedulerState *scheduler, uint64_t ready) {
  uint64_t active = scheduler->active & state->present & ~(state->waits[IDLE_MEMORY] | state->waits[IDLE_BARRIER]);
  uint64_t others = ready & ~active;
  for (uint64_t count = others == 0 ? 0 : count_warps(active); others != 0 && count < m->spec->scheduler_active; count++) {
    scheduler->entered = schedule_first_after(others, scheduler->entered);
    active |= bit_of(scheduler->entered);
    others &= ~bit_of(scheduler->entered);
  }
  scheduler->active = active;
  return active;
}

// The instruction at the top's pc, if the buffer has it (IDLE_NONE); `sm` and `warp` and `at` are given, the top is ready.
IdleReason next_find(Simt *m, Next *n);
bool next_is_free(const Simt *m, const Next *n); // no hazard with older instructions of the warp
// Tells the hooks which predicates an instruction of the warp reads.
void predicates_tell(Simt *m, uint32_t sm, uint32_t warp, uint32_t pc, const Instr *instr);
typedef struct PredicateBits {
  uint32_t ps, pa; // source predicates of the threads, negation applied
} PredicateBits;
PredicateBits predicates_of(const Simt *m, uint32_t sm, uint32_t warp, const Instr *instr);
Uop next_uop(const Simt *m, const Next *n, uint32_t threads); // by thread
void next_begins(Simt *m, const Next *n, uint32_t threads);   // counts it
void next_issues(Simt *m, const Next *n, uint32_t threads);   // counts the issue slot; notes whether it polls memory
void next_passes(Simt *m, const Next *n);                     // leaves the buffer; the warp goes on after it

// What a warp would issue next; changes nothing. False: there is nothing to be seen.
bool warp_look(const Simt *m, uint32_t sm, uint32_t warp, WarpView *view);

// pack.c: large-warp mode. False: some of the warps that are there cannot issue it yet, or a hook wants to be asked again.
bool pack_issue(Simt *m, const Next *n);
bool issue_told(Simt *m, const Next *n, uint32_t threads, uint32_t idle); // tells the hooks. False: not now

#endif
