// Thread-block clusters (sm_90): which blocks form one, their barrier, and the shared memory of the others.
// A cluster is cluster[0] x cluster[1] x cluster[2] neighbouring blocks of the grid that run at the same time. A block's rank is its
// index in the cluster, x first. Blocks go out cluster by cluster, so that a cluster is never half there for long.
// Source: PTX ISA 8.x, "Cluster of Cooperative Thread Arrays", barrier.cluster, mapa.
#ifndef REDOUBT_PARTS_CLUSTER_H
#define REDOUBT_PARTS_CLUSTER_H

#include "machine/parts/block.h"

uint32_t cluster_blocks(const Launch *launch); // 1: no clusters
static inline bool launch_has_clusters(const Launch *launch) { return launch->cluster[0] != 0; }
// Block number `order` to go out, as an index in the grid.
uint64_t cluster_block_at(const Launch *launch, uint64_t order);
uint32_t cluster_rank(const Launch *launch, const uint32_t index[3]);
uint64_t cluster_number(const Launch *launch, const uint32_t index[3]);
// The block with this rank in the cluster of the block `index`, as an index in the grid.
uint64_t cluster_member(const Launch *launch, const uint32_t index[3], uint32_t rank);

// Rank and offset that an address of shared memory beyond the block's own names. False: none of the cluster. In a launch without clusters
// each block is a cluster of its own, in which it has rank 0.
bool cluster_place(const Launch *launch, uint64_t address, uint32_t *rank, uint64_t *offset);

// The blocks of a cluster that run.
typedef struct ClusterView {
  BlockView blocks[MOST_CLUSTER_BLOCKS]; // .block NULL: it has ended, or has not begun
  uint32_t count;
  bool is_whole; // all have begun
} ClusterView;

// All threads of the cluster that are alive have arrived, and at least one.
bool cluster_barrier_is_complete(const ClusterView *view);
void cluster_barrier_release(const ClusterView *view);
// A BlockView's give: nobody gets a result at this barrier.
void cluster_gives_nothing(void *context, uint32_t warp, const SimtEntry *entry, const Barrier *barrier);

#endif
