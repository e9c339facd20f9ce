// Special registers; see special.h and isa/sreg.def.
#include "machine/parts/special.h"

enum { WARP_SLOTS = 64 }; // %nwarpid

void special_thread(const Launch *launch, uint32_t warp, unsigned lane, uint32_t thread[3]) {
  uint32_t linear = warp * WARP_LANES + lane;
  thread[0] = linear % launch->block[0];
  thread[1] = linear / launch->block[0] % launch->block[1];
  thread[2] = linear / launch->block[0] / launch->block[1];
}

// Registers that differ between the lanes of a warp.
static bool lane_value(const SpecialContext *context, uint32_t number, unsigned lane, uint64_t *value) {
  uint32_t thread[3];
  uint64_t bit = UINT64_C(1) << lane;
  switch (number) {
  case SREG_TID_X:
  case SREG_TID_Y:
  case SREG_TID_Z:
    special_thread(context->launch, context->warp, lane, thread);
    *value = thread[number - SREG_TID_X];
    return true;
  case SREG_LANEID: *value = lane; return true;
  case SREG_LANEMASK_EQ: *value = bit; return true;
  case SREG_LANEMASK_LE: *value = (bit << 1) - 1; return true;
  case SREG_LANEMASK_LT: *value = bit - 1; return true;
  case SREG_LANEMASK_GE: *value = (uint32_t) ~(bit - 1); return true;
  case SREG_LANEMASK_GT: *value = (uint32_t) ~((bit << 1) - 1); return true;
  default: return false;
  }
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
  case SREG_ENVREG1: return (uint32_t)launch->grid_workspace;
  case SREG_ENVREG2: return launch->grid_workspace >> 32;
  case SREG_DYNAMIC_SMEM_SIZE: return context->layout->dynamic_bytes;
  case SREG_TOTAL_SMEM_SIZE: return context->layout->shared_bytes;
  default: return 0;
  }
}

void special_read(const SpecialContext *context, uint32_t number, unsigned registers, uint32_t active, uint32_t *rows) {
  uint64_t value = 0;
  bool differs = lane_value(context, number, 0, &value);
  if (!differs) value = warp_value(context, number);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if ((active >> lane & 1) == 0) continue;
    if (differs) lane_value(context, number, lane, &value);
    row_set(rows, lane, registers, value);
  }
}
