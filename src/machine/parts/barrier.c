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

bool barrier_is_complete(const BlockLayout *layout, Block *block, uint32_t barrier) {
  const Barrier *at = &block->barriers[barrier];
  if (at->expected == 0) {
    if (at->any < block->alive) return false;
    for (uint32_t i = 0; i < layout->warps; i++) {
      if ((block_warp(layout, block, i)->stack.alive & ~at->arrived[i]) != 0) return false;
    }
    return true;
  }
  if (at->any >= at->expected) return true;
  uint32_t threads = 0;
  for (uint32_t i = 0; i < layout->warps; i++) {
    if (at->arrived[i] != 0) threads += count_bits(at->arrived[i] | ~block_warp(layout, block, i)->stack.alive);
  }
  return threads >= at->expected;
}

// What a reduction gives the lanes that waited: a count, or a predicate.
static void give_result(Warp *warp, uint32_t *registers, const Instr *instr, uint32_t lanes, const Barrier *at) {
  const OpInfo *info = &op_info[instr->op];
  if (info->d == TYPE_u32 && instr->d[0] != REG_ZERO) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      if ((lanes >> lane & 1) != 0) registers[instr->d[0] * WARP_LANES + lane] = at->holds;
    }
  }
  if ((info->flags & OP_PRED_OUT) == 0) return;
  bool result = instr->op == OP_BAR_RED_AND ? at->holds == at->any : at->holds > 0;
  uint32_t value = result ? UINT32_MAX : 0;
  for (unsigned k = 0; k < 2; k++) {
    uint32_t *predicate = &warp->predicates[instr->pd[k] == PRED_TRUE ? PREDICATE_SINK : instr->pd[k]];
    *predicate = (*predicate & ~lanes) | ((k == 0 ? value : ~value) & lanes);
  }
}

void barrier_release(const BlockLayout *layout, Block *block, uint32_t barrier, const Instr *decoded) {
  Barrier *at = &block->barriers[barrier];
  for (uint32_t w = 0; w < layout->warps; w++) {
    if (at->arrived[w] == 0) continue;
    Warp *warp = block_warp(layout, block, w);
    SimtEntry *entries = block_entries(layout, block, w);
    for (uint32_t i = 0; i < warp->stack.depth; i++) {
      SimtEntry *entry = &entries[i];
      if (entry->state != ENTRY_AT_BARRIER || entry->place != barrier) continue;
      give_result(warp, block_registers(layout, block, w), &decoded[entry->pc], entry->mask, at);
      entry->state = ENTRY_READY;
      entry->pc++;
      warp->waits = false;
      warp->spins = warp->polls = 0;
    }
    at->arrived[w] = 0;
  }
  at->expected = at->holds = at->any = 0;
  block->waiting--;
  block->barrier_count++;
}

void barrier_recheck(const BlockLayout *layout, Block *block, const Instr *decoded) {
  for (uint32_t barrier = 0; barrier < BLOCK_BARRIERS && block->waiting > 0; barrier++) {
    if (block->barriers[barrier].any == 0) continue;
    if (barrier_is_complete(layout, block, barrier)) barrier_release(layout, block, barrier, decoded);
  }
}
