// The state of one resident block: warps, registers, SIMT stacks, barriers, shared and local memory.
// One pointer-free stretch of bytes, laid out once per launch, so that it can be copied, set aside
// and hashed as it is; the block_ functions give typed pointers into it.
#ifndef REDOUBT_PARTS_BLOCK_H
#define REDOUBT_PARTS_BLOCK_H

#include "machine/machine.h"
#include "machine/parts/simt_stack.h"

enum {
  BLOCK_BARRIERS = 16,
  BLOCK_CLUSTER_BARRIER = BLOCK_BARRIERS, // the cluster's, as far as this block's threads have arrived
  BLOCK_MAX_WARPS = 64,
  PREDICATE_SINK = MAX_PREDICATES + 1, // where writes to PRED_TRUE go; predicates[PRED_TRUE] is all ones
  PREDICATE_SLOTS = PREDICATE_SINK + 1,
  RZ_ROWS = 8, // widest value: so many rows after a warp's registers take writes to RZ, as many more always read zero
};

typedef struct Warp {
  SimtStack stack;
  uint32_t lanes; // that exist: the last warp of a block may be partial
  bool waits;     // no leaf is ready: something outside the warp has to happen
  uint32_t spins; // backward branches since other lanes last had a turn
  uint32_t polls; // looks at what others may change, since the warp last changed anything itself
  uint32_t predicates[PREDICATE_SLOTS];
} Warp;

// A block barrier. Threads are counted, not warps, so that divergent warps may come in parts.
typedef struct Barrier {
  uint32_t expected; // threads; 0 = all that are alive
  uint32_t holds;    // arrived threads whose predicate held (bar.red)
  uint32_t any;      // threads that have arrived; 0 = idle
  uint32_t arrived[BLOCK_MAX_WARPS];
} Barrier;

typedef struct Block {
  uint32_t index[3];
  uint32_t linear;        // index in launch order
  uint32_t alive;         // threads
  uint32_t waiting;       // barriers with arrivals
  uint32_t local_touched; // local memory below this offset was written, in some thread
  uint32_t next_warp;     // who runs next
  uint32_t barrier_count; // completed barriers: progress
  Barrier barriers[BLOCK_BARRIERS + 1];
} Block;

typedef struct BlockLayout {
  uint32_t threads, warps;
  uint32_t register_rows;  // per warp, with those for RZ
  uint32_t stack_capacity; // SIMT entries per warp
  uint32_t shared_bytes;   // static and dynamic
  uint32_t dynamic_bytes;
  uint32_t local_bytes; // per thread, a multiple of 16
  size_t warps_at, registers_at, entries_at, shared_at, local_at, bytes;
} BlockLayout;

void block_layout(BlockLayout *layout, const Launch *launch, uint64_t stack_bytes);

static inline Warp *block_warp(const BlockLayout *layout, Block *block, uint32_t warp) {
  return (Warp *)(void *)((uint8_t *)block + layout->warps_at) + warp;
}
static inline uint32_t *block_registers(const BlockLayout *layout, Block *block, uint32_t warp) {
  return (uint32_t *)(void *)((uint8_t *)block + layout->registers_at) + (size_t)warp * layout->register_rows * WARP_LANES;
}
static inline SimtEntry *block_entries(const BlockLayout *layout, Block *block, uint32_t warp) {
  return (SimtEntry *)(void *)((uint8_t *)block + layout->entries_at) + (size_t)warp * layout->stack_capacity;
}
static inline uint8_t *block_shared(const BlockLayout *layout, Block *block) { return (uint8_t *)block + layout->shared_at; }
// Local memory of a warp: 32-bit word w of lane l at [w][l], so that equal offsets lie side by side.
static inline uint8_t *block_local(const BlockLayout *layout, Block *block, uint32_t warp) {
  return (uint8_t *)block + layout->local_at + (size_t)warp * layout->local_bytes * WARP_LANES;
}

// Makes the state that of block number `linear` before its first instruction. The bytes were zero, or
// held another block of the same layout.
void block_start(const BlockLayout *layout, Block *block, const Launch *launch, uint64_t linear);

// ---- Barriers ------------------------------------------------------------------------------------
// How barriers reach the warps of a block, wherever a machine keeps them: warp i is `warp` + i strides, and so on.
typedef struct BlockView {
  Block *block;
  uint32_t warps;
  Warp *warp;
  size_t warp_bytes; // from one to the next
  SimtEntry *entries;
  size_t entries_bytes;
  // The reduction at `entry` gives its lanes their results; barrier_holds says which. The entry still has the barrier's pc.
  void (*give)(void *context, uint32_t warp, const SimtEntry *entry, const Barrier *barrier);
  void *context;
} BlockView;

static inline Warp *view_warp(const BlockView *view, uint32_t warp) {
  return (Warp *)(void *)((uint8_t *)view->warp + warp * view->warp_bytes);
}
static inline SimtEntry *view_entries(const BlockView *view, uint32_t warp) {
  return (SimtEntry *)(void *)((uint8_t *)view->entries + warp * view->entries_bytes);
}

// `lanes` of a warp arrive at a barrier; `holds` are those whose predicate holds.
void barrier_arrive(Block *block, uint32_t barrier, uint32_t expected, uint32_t warp, uint32_t lanes, uint32_t holds);
bool barrier_is_complete(const BlockView *view, uint32_t barrier);
// Lets everyone who waits there go on, with the results of reductions.
void barrier_release(const BlockView *view, uint32_t barrier);
// After threads have ended: releases every barrier that waits for all and now has them.
void barrier_recheck(const BlockView *view);
// What a reduction with a predicate as its result gives.
bool barrier_holds(const Barrier *barrier, Op op);

#endif
