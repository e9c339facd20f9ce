// Special registers; see special.h and isa/sreg.def.
#include "machine/parts/special.h"
#include "machine/parts/cluster.h"

enum { WARP_SLOTS = 64 }; // %nwarpid

void special_thread(const Launch *launch, uint32_t warp, unsigned lane, uint32_t thread[3]) {
  uint32_t linear = warp * WARP_LANES + lane;
  thread[0] = linear % launch->block[0];
  thread[1] = linear / launch->block[0] % launch->block[1];
  thread[2] = linear / launch->block[0] / launch->block[1];
}

// One of the three thread indices of all lanes of a warp.
static void thread_row(const SpecialContext *context, unsigned dimension, uint32_t row[WARP_LANES]) {
  const uint32_t *block = context->launch->block;
  uint32_t thread[3];
  special_thread(context->launch, context->warp, 0, thread);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    row[lane] = thread[dimension];
    if (++thread[0] < block[0]) continue;
    thread[0] = 0;
    if (++thread[1] < block[1]) continue;
    thread[1] = 0;
    thread[2]++;
  }
}

// Registers that differ between the lanes of a warp. False: this is not one.
static bool lane_row(const SpecialContext *context, uint32_t number, uint32_t row[WARP_LANES]) {
  if (number <= SREG_TID_Z) {
    thread_row(context, number - SREG_TID_X, row);
    return true;
  }
  if (number != SREG_LANEID && (number < SREG_LANEMASK_EQ || number > SREG_LANEMASK_GT)) return false;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint64_t bit = UINT64_C(1) << lane;
    switch (number) {
    case SREG_LANEID: row[lane] = lane; break;
    case SREG_LANEMASK_EQ: row[lane] = (uint32_t)bit; break;
    case SREG_LANEMASK_LE: row[lane] = (uint32_t)((bit << 1) - 1); break;
    case SREG_LANEMASK_LT: row[lane] = (uint32_t)(bit - 1); break;
    case SREG_LANEMASK_GE: row[lane] = (uint32_t) ~(bit - 1); break;
    default: row[lane] = (uint32_t) ~((bit << 1) - 1); break;
    }
  }
  return true;
}

static uint64_t cluster_value(const SpecialContext *context, uint32_t number) {
  const Launch *launch = context->launch;
  if (number == SREG_CLUSTER_CTARANK) return cluster_rank(launch, context->block->index);
  if (number == SREG_CLUSTER_NCTARANK) return cluster_blocks(launch);
  if (number == SREG_IS_EXPLICIT_CLUSTER) return launch_has_clusters(launch);
  uint32_t i = (number - SREG_CLUSTERID_X) % 3, side = max_u32(launch->cluster[i], 1);
  if (number <= SREG_CLUSTERID_Z) return context->block->index[i] / side;
  if (number <= SREG_NCLUSTERID_Z) return launch->grid[i] / side;
  return number <= SREG_CLUSTER_CTAID_Z ? context->block->index[i] % side : side;
}

static uint64_t warp_value(const SpecialContext *context, uint32_t number) {
  const Launch *launch = context->launch;
  switch (number) {
  case SREG_NTID_X:
  case SREG_NTID_Y:
  case SREG_NTID_Z: return launch->block[number - SREG_NTID_X];
  case SREG_CTAID_X:
  case SREG_CTAID_Y:
  case SREG_CTAID_Z: return context->block->index[number - SREG_CTAID_X];
  case SREG_NCTAID_X:
  case SREG_NCTAID_Y:
  case SREG_NCTAID_Z: return launch->grid[number - SREG_NCTAID_X];
  case SREG_WARPID: return context->warp;
  case SREG_NWARPID: return WARP_SLOTS;
  case SREG_SMID: return context->sm;
  case SREG_NSMID: return context->sm_count;
  case SREG_GRIDID: return launch->number;
  case SREG_CLOCK: return (uint32_t)context->clock;
  case SREG_CLOCK_HI: return context->clock >> 32;
  case SREG_CLOCK64: return context->clock;
  case SREG_GLOBALTIMER: return context->nanoseconds;
  case SREG_GLOBALTIMER_LO: return (uint32_t)context->nanoseconds;
  case SREG_GLOBALTIMER_HI: return context->nanoseconds >> 32;
  case SREG_ENVREG1: return (uint32_t)(launch->grid_workspace >> 32);
  case SREG_ENVREG2: return (uint32_t)launch->grid_workspace;
  case SREG_DYNAMIC_SMEM_SIZE: return context->layout->dynamic_bytes;
  case SREG_TOTAL_SMEM_SIZE: return context->layout->shared_bytes;
  default: return number >= SREG_CLUSTERID_X && number < SREG_COUNT ? cluster_value(context, number) : 0;
  }
}

void special_read(const SpecialContext *context, uint32_t number, unsigned registers, uint32_t active, uint32_t *rows) {
  uint32_t row[WARP_LANES];
  if (active == UINT32_MAX && registers == 1 && lane_row(context, number, rows)) return;
  bool differs = lane_row(context, number, row);
  uint64_t value = differs ? 0 : warp_value(context, number);
  if (active == UINT32_MAX && registers == 1) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++) rows[lane] = (uint32_t)value;
    return;
  }
  for (; active != 0; active &= active - 1) {
    unsigned lane = (unsigned)__builtin_ctz(active);
    row_set(rows, lane, registers, differs ? row[lane] : value);
  }
}
