// Single blocks of a launch carried out again, with bits of their state changed on the way; see machine.h.
//
// Warps take turns as in functional.c, or in the order that the caller knows. A result counts only if it does not depend on an order that
// nobody knows: the watcher stops the run when warps meet in memory, and a trap counts only if no other warp, left to itself, would
// trap too.
#include "machine/functional/functional.h"

#include <stdlib.h>

enum { TURN = 4096 }; // warp instructions

struct Rerun {
  Runner run;
  const RerunOrder *order;
  RunnerChunks chunks;
  Chunk block;
  Stats stats;
  Trap trap, first; // first: the one that ends the block
  uint64_t count[BLOCK_MAX_WARPS];
};

Rerun *rerun_new(const MachineEnvironment *environment, const Launch *launch, const RerunOrder *order) {
  Rerun *rerun = calloc(1, sizeof *rerun);
  ASSERT(rerun != NULL);
  rerun->order = order;
  rerun->run.stats = &rerun->stats;
  rerun->run.trap = &rerun->trap;
  runner_open(&rerun->run, environment, launch, &rerun->chunks);
  rerun->block = chunk_new(rerun->run.layout.bytes);
  ASSERT(rerun->block.start != NULL);
  return rerun;
}

void rerun_free(Rerun *rerun) {
  if (rerun == NULL) return;
  chunk_free(&rerun->block);
  runner_close(&rerun->chunks);
  free(rerun);
}

const Trap *rerun_trap(const Rerun *rerun) { return &rerun->first; }

const uint8_t *rerun_shared(const Rerun *rerun, uint32_t *bytes) {
  *bytes = rerun->run.layout.shared_bytes;
  return block_shared(&rerun->run.layout, rerun->block.start);
}

// One block under way.
typedef struct Turns {
  Rerun *rerun;
  Block *block;
  const RerunFlip *flip; // NULL: done, or none
  uint64_t most;
  RerunEnd end;
} Turns;

static void turn_over(const Turns *at) {
  const BlockLayout *layout = &at->rerun->run.layout;
  const RerunFlip *flip = at->flip;
  uint8_t *row = NULL;
  size_t bytes = sizeof flip->change;
  switch (flip->place) {
  case RERUN_REGISTER: row = (uint8_t *)(block_registers(layout, at->block, flip->warp) + (size_t)flip->row * WARP_LANES); break;
  case RERUN_PREDICATES:
    row = (uint8_t *)block_warp(layout, at->block, flip->warp)->predicates;
    bytes = MAX_PREDICATES * sizeof *flip->change;
    break;
  case RERUN_SHARED:
    row = block_shared(layout, at->block) + flip->row * sizeof flip->change;
    bytes = min_u64(bytes, layout->shared_bytes - flip->row * sizeof flip->change);
    break;
  case RERUN_NOWHERE: return;
  }
  for (size_t i = 0; i < bytes; i++) row[i] ^= ((const uint8_t *)flip->change)[i];
}

// Whether what it changes is there.
static bool has_place(const Rerun *rerun, const RerunFlip *flip) {
  const BlockLayout *layout = &rerun->run.layout;
  bool is_there = flip->warp < layout->warps && flip->place != RERUN_NOWHERE;
  if (flip->place == RERUN_REGISTER) is_there &= flip->row < rerun->run.launch->kernel->registers;
  if (flip->place == RERUN_SHARED) is_there &= flip->row * sizeof flip->change < layout->shared_bytes;
  return is_there;
}

// A warp is out of the race: the others go on without it.
static bool put_out(Turns *at, uint32_t warp, RerunEnd end) {
  if (at->end != RERUN_ENDED) return false; // a second one: which comes first depends on time
  at->end = end;
  at->rerun->first = at->rerun->trap;
  block_warp(&at->rerun->run.layout, at->block, warp)->waits = true;
  return true;
}

// False: nothing can be said.
static bool turn(Turns *at, uint32_t warp, uint64_t quantum) {
  Rerun *rerun = at->rerun;
  Runner *run = &rerun->run;
  uint64_t before = run->executed;
  const RerunFlip *flip = at->flip != NULL && at->flip->warp == warp ? at->flip : NULL;
  bool is_now = flip != NULL && rerun->count[warp] >= flip->before;
  if (is_now) turn_over(at);
  if (flip != NULL) quantum = is_now ? 1 : min_u64(quantum, flip->before - rerun->count[warp]);
  WarpEnd end = warp_run(run, at->block, warp, (uint32_t)quantum);
  rerun->count[warp] += run->executed - before;
  bool is_next = flip != NULL && !is_now && rerun->count[warp] == flip->before;
  if ((is_now || is_next) && is_now != flip->is_past && run->pc != flip->pc) return false; // not where it should be
  if (is_now) {
    if (run->executed == before) return false;
    at->flip = NULL;
  }
  if (end == WARP_TRAPPED && rerun->trap.kind == TRAP_STOPPED) return false;
  if (rerun->count[warp] >= at->most) return put_out(at, warp, RERUN_ENDLESS);
  if (end == WARP_TRAPPED) {
    bool is_address = rerun->trap.kind == TRAP_ILLEGAL_ADDRESS || rerun->trap.kind == TRAP_MISALIGNED;
    return is_address && put_out(at, warp, RERUN_TRAPPED);
  }
  return true;
}

static bool can_run(const Turns *at, uint32_t index) {
  const Warp *warp = block_warp(&at->rerun->run.layout, at->block, index);
  return !warp->waits && warp->stack.depth > 0;
}

// A turn of the warp that is first in the order, or of all. *ran: there was one that could. False: nothing can be said.
static bool round_of_turns(Turns *at, bool *ran) {
  const RerunOrder *order = at->rerun->order;
  uint32_t warps = at->rerun->run.layout.warps, first = warps, quantum = TURN;
  uint64_t earliest = 0;
  bool good = true;
  *ran = false;
  for (uint32_t i = 0; i < warps && good; i++) {
    if (!can_run(at, i)) continue;
    *ran = true;
    if (order == NULL) {
      good = turn(at, i, TURN);
      continue;
    }
    uint32_t left = TURN;
    uint64_t time = order->next(order->context, i, at->rerun->count[i], &left);
    if (first < warps && time >= earliest) continue;
    first = i;
    earliest = time;
    quantum = max_u32(left, 1);
  }
  return good && (first == warps || turn(at, first, quantum));
}

RerunEnd rerun_block(Rerun *rerun, uint64_t linear, const RerunFlip *flip, uint64_t most) {
  const BlockLayout *layout = &rerun->run.layout;
  if (flip != NULL && !has_place(rerun, flip)) return RERUN_UNKNOWN;
  Turns at = {.rerun = rerun, .block = rerun->block.start, .flip = flip, .most = most, .end = RERUN_ENDED};
  block_start(layout, at.block, rerun->run.launch, linear);
  memset(rerun->count, 0, sizeof rerun->count);
  rerun->run.executed = 0;
  for (bool ran = true; at.block->alive > 0 && ran;) {
    if (!round_of_turns(&at, &ran)) return RERUN_UNKNOWN;
  }
  bool is_stuck = at.end == RERUN_ENDED && at.block->alive > 0;
  return is_stuck || at.flip != NULL ? RERUN_UNKNOWN : at.end;
}
