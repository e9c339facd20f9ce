// Clusters of the functional machine: the barrier of their blocks, which take turns. See parts/cluster.h.
#include "machine/functional/functional.h"

ClusterView cluster_view(const Runner *run) {
  const BlockLayout *layout = &run->layout;
  ClusterView view = {.count = cluster_blocks(run->launch), .is_whole = true};
  for (uint32_t i = 0; i < view.count; i++) {
    Block *block = run->members[i];
    if (block == NULL) continue;
    view.blocks[i] = (BlockView){.block = block,
                                 .warps = layout->warps,
                                 .warp = block_warp(layout, block, 0),
                                 .warp_bytes = sizeof(Warp),
                                 .entries = block_entries(layout, block, 0),
                                 .entries_bytes = layout->stack_capacity * sizeof(SimtEntry),
                                 .give = cluster_gives_nothing};
  }
  return view;
}

void cluster_recheck(WarpContext *at) {
  Runner *run = at->run;
  if (!launch_has_clusters(run->launch)) {
    if (at->block->barriers[BLOCK_CLUSTER_BARRIER].any == 0) return;
    run->members[0] = at->block;
  }
  ClusterView view = cluster_view(run);
  if (!cluster_barrier_is_complete(&view)) return;
  run->progress = true;
  cluster_barrier_release(&view);
}

// Without clusters the block is one of its own.
StepResult step_cluster_barrier(WarpContext *at, const Step *step, uint32_t active) {
  Runner *run = at->run;
  SimtStack *stack = &at->warp->stack;
  if (active == 0) return STEP_NEXT;
  if (!launch_has_clusters(run->launch)) run->members[0] = at->block;
  bool waits = step->op == OP_BARRIER_CLUSTER_WAIT;
  // Whoever has arrived and is not marked any more has seen the others arrive.
  if (waits && (at->block->barriers[BLOCK_CLUSTER_BARRIER].arrived[at->index] & active) == 0) return STEP_NEXT;
  run->stats->value[STAT_BARRIERS] += waits;
  front_save(at);
  if (active != at->mask && !simt_split(stack, at->entries, active, at->pc + 1)) return step_trap(at, TRAP_STACK_OVERFLOW, active);
  SimtEntry *top = &at->entries[stack->depth - 1];
  if (waits) {
    top->state = ENTRY_AT_BARRIER;
    top->place = BLOCK_CLUSTER_BARRIER;
    return STEP_RELOAD;
  }
  top->pc++;
  barrier_arrive(at->block, BLOCK_CLUSTER_BARRIER, 0, at->index, active, 0);
  ClusterView view = cluster_view(run);
  if (cluster_barrier_is_complete(&view)) {
    run->progress = true;
    cluster_barrier_release(&view);
  }
  return STEP_RELOAD;
}
