// Thread-block clusters; see cluster.h.
#include "machine/parts/cluster.h"

static uint32_t side(const Launch *launch, unsigned i) { return max_u32(launch->cluster[i], 1); }

uint32_t cluster_blocks(const Launch *launch) { return side(launch, 0) * side(launch, 1) * side(launch, 2); }

static uint64_t linear_of(const Launch *launch, const uint32_t index[3]) {
  return ((uint64_t)index[2] * launch->grid[1] + index[1]) * launch->grid[0] + index[0];
}

uint64_t cluster_block_at(const Launch *launch, uint64_t order) {
  if (!launch_has_clusters(launch)) return order;
  uint64_t number = order / cluster_blocks(launch);
  uint32_t rank = (uint32_t)(order % cluster_blocks(launch)), index[3];
  for (unsigned i = 0; i < 3; i++) {
    uint32_t clusters = max_u32(launch->grid[i] / side(launch, i), 1);
    index[i] = (uint32_t)(i < 2 ? number % clusters : number) * side(launch, i) + rank % side(launch, i);
    number /= clusters;
    rank /= side(launch, i);
  }
  return linear_of(launch, index);
}

uint32_t cluster_rank(const Launch *launch, const uint32_t index[3]) {
  uint32_t rank = 0;
  for (unsigned i = 3; i-- > 0;) rank = rank * side(launch, i) + index[i] % side(launch, i);
  return rank;
}

uint64_t cluster_number(const Launch *launch, const uint32_t index[3]) {
  uint64_t number = 0;
  for (unsigned i = 3; i-- > 0;) number = number * max_u32(launch->grid[i] / side(launch, i), 1) + index[i] / side(launch, i);
  return number;
}

uint64_t cluster_member(const Launch *launch, const uint32_t index[3], uint32_t rank) {
  uint32_t member[3];
  for (unsigned i = 0; i < 3; i++) {
    member[i] = index[i] - index[i] % side(launch, i) + rank % side(launch, i);
    rank /= side(launch, i);
  }
  return linear_of(launch, member);
}

bool cluster_place(const Launch *launch, uint64_t address, uint32_t *rank, uint64_t *offset) {
  if (address < CLUSTER_OFFSET) return false;
  uint64_t number = (address - CLUSTER_OFFSET) >> CLUSTER_RANK_SHIFT;
  *rank = (uint32_t)min_u64(number, UINT32_MAX);
  *offset = (address - CLUSTER_OFFSET) & ((UINT64_C(1) << CLUSTER_RANK_SHIFT) - 1);
  return number < cluster_blocks(launch);
}

// ---- The barrier -------------------------------------------------------------------------------------

void cluster_gives_nothing(void *context, uint32_t warp, const SimtEntry *entry, const Barrier *barrier) {
  (void)context, (void)warp, (void)entry, (void)barrier;
}

bool cluster_barrier_is_complete(const ClusterView *view) {
  bool has_any = false;
  if (!view->is_whole) return false;
  for (uint32_t i = 0; i < view->count; i++) {
    const BlockView *block = &view->blocks[i];
    if (block->block == NULL) continue;
    if (!barrier_is_complete(block, BLOCK_CLUSTER_BARRIER)) return false;
    has_any |= block->block->barriers[BLOCK_CLUSTER_BARRIER].any > 0;
  }
  return has_any;
}

void cluster_barrier_release(const ClusterView *view) {
  for (uint32_t i = 0; i < view->count; i++) {
    const BlockView *block = &view->blocks[i];
    if (block->block != NULL && block->block->barriers[BLOCK_CLUSTER_BARRIER].any > 0) barrier_release(block, BLOCK_CLUSTER_BARRIER);
  }
}
