// Block barriers; declared in block.h. A barrier completes when the threads it expects have arrived.
// With a count, a warp's missing lanes (ended, or beyond the block's end) count once one of the
// warp's threads has come, as hardware counts warps. Without one, every thread that is alive must come.
#include "machine/parts/block.h"

static uint32_t count_bits(uint32_t bits) { return (uint32_t)__builtin_popcount(bits); }

void barrier_arrive(Block *block, uint32_t barrier, uint32_t expected, uint32_t warp, uint32_t lanes, uint32_t holds) {
  Barrier *at = &block->barriers[barrier];
  if (at->any == 0) block->waiting++;
  at->any += count_bits(lanes);
  at->expected = expected;
  at->holds += count_bits(holds);
  at->arrived[warp] |= lanes;
}

bool barrier_is_complete(const BlockView *view, uint32_t barrier) {
  const Barrier *at = &view->block->barriers[barrier];
  if (at->expected == 0) {
    if (at->any < view->block->alive) return false;
    for (uint32_t i = 0; i < view->warps; i++) {
      if ((view_warp(view, i)->stack.alive & ~at->arrived[i]) != 0) return false;
    }
    return true;
  }
  if (at->any >= at->expected) return true;
  uint32_t threads = 0;
  for (uint32_t i = 0; i < view->warps; i++) {
    if (at->arrived[i] != 0) threads += count_bits(at->arrived[i] | ~view_warp(view, i)->stack.alive);
  }
  return threads >= at->expected;
}

bool barrier_holds(const Barrier *barrier, Op op) { return op == OP_BAR_RED_AND ? barrier->holds == barrier->any : barrier->holds > 0; }

void barrier_release(const BlockView *view, uint32_t barrier) {
  Barrier *at = &view->block->barriers[barrier];
  for (uint32_t w = 0; w < view->warps; w++) {
    if (at->arrived[w] == 0) continue;
    Warp *warp = view_warp(view, w);
    SimtEntry *entries = view_entries(view, w);
    uint32_t depth = min_u32(warp->stack.depth, warp->stack.capacity);
    for (uint32_t i = 0; i < depth; i++) {
      SimtEntry *entry = &entries[i];
      if (entry->state != ENTRY_AT_BARRIER || entry->place != barrier) continue;
      view->give(view->context, w, entry, at);
      entry->state = ENTRY_READY;
      entry->pc++;
      warp->waits = false;
      warp->spins = warp->polls = 0;
    }
    at->arrived[w] = 0;
  }
  at->expected = at->holds = at->any = 0;
  view->block->waiting--;
  view->block->barrier_count++;
}

void barrier_recheck(const BlockView *view) {
  for (uint32_t barrier = 0; barrier < BLOCK_BARRIERS && view->block->waiting > 0; barrier++) {
    if (view->block->barriers[barrier].any == 0) continue;
    if (barrier_is_complete(view, barrier)) barrier_release(view, barrier);
  }
}
