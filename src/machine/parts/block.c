// Layout and start of a block's state; see block.h.
#include "machine/parts/block.h"

enum { BASE_ENTRIES = 96, MOST_ENTRIES = 16384, LEAST_FRAME_BYTES = 16, ALIGN_BYTES = 64 };

void block_layout(BlockLayout *layout, const Launch *launch, uint64_t stack_bytes) {
  const Function *kernel = launch->kernel;
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
  uint64_t local = kernel->stack_bytes + (kernel->recursive ? stack_bytes : 0);
  local = min_u64(align_up(local, 16), 2 * WINDOW_BYTES);
  ASSERT(warps <= BLOCK_MAX_WARPS); // launches are checked by the device
  *layout = (BlockLayout){.threads = threads, .warps = warps, .dynamic_bytes = launch->dynamic_shared_bytes};
  layout->register_rows = min_u32(kernel->registers, MAX_REGISTERS) + 2 * RZ_ROWS;
  layout->local_bytes = (uint32_t)local;
  // Each activation takes an entry of its own besides those of divergence.
  layout->stack_capacity = (uint32_t)min_u64(BASE_ENTRIES + local / LEAST_FRAME_BYTES, MOST_ENTRIES);
  layout->shared_bytes = launch->dynamic_shared_bytes == 0 ? kernel->shared_bytes
                                                           : (uint32_t)align_up(kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
  layout->warps_at = align_up(sizeof(Block), ALIGN_BYTES);
  layout->registers_at = align_up(layout->warps_at + warps * sizeof(Warp), ALIGN_BYTES);
  layout->shared_at = layout->registers_at + (size_t)warps * layout->register_rows * WARP_LANES * sizeof(uint32_t);
  layout->entries_at = align_up(layout->shared_at + layout->shared_bytes, ALIGN_BYTES);
  layout->local_at = align_up(layout->entries_at + (size_t)warps * layout->stack_capacity * sizeof(SimtEntry), ALIGN_BYTES);
  layout->bytes = align_up(layout->local_at + (size_t)warps * WARP_LANES * layout->local_bytes, ALIGN_BYTES);
}

static void start_warp(const BlockLayout *layout, Block *block, uint32_t index, uint32_t entry) {
  Warp *warp = block_warp(layout, block, index);
  uint32_t threads = min_u32(layout->threads - index * WARP_LANES, WARP_LANES);
  uint32_t lanes = threads == WARP_LANES ? UINT32_MAX : (1u << threads) - 1;
  *warp = (Warp){.lanes = lanes};
  warp->predicates[PRED_TRUE] = UINT32_MAX;
  warp->stack.capacity = layout->stack_capacity;
  simt_start(&warp->stack, block_entries(layout, block, index), entry, lanes);
}

void block_start(const BlockLayout *layout, Block *block, const Launch *launch, uint64_t linear) {
  for (uint32_t warp = 0; warp < layout->warps && block->local_touched > 0; warp++) {
    memset(block_local(layout, block, warp), 0, (size_t)block->local_touched * WARP_LANES);
  }
  memset(block, 0, sizeof *block);
  memset((uint8_t *)block + layout->registers_at, 0, layout->shared_at + layout->shared_bytes - layout->registers_at);
  block->index[0] = (uint32_t)(linear % launch->grid[0]);
  block->index[1] = (uint32_t)(linear / launch->grid[0] % launch->grid[1]);
  block->index[2] = (uint32_t)(linear / launch->grid[0] / launch->grid[1]);
  block->linear = (uint32_t)linear;
  block->alive = layout->threads;
  for (uint32_t warp = 0; warp < layout->warps; warp++) start_warp(layout, block, warp, launch->kernel->entry);
}
