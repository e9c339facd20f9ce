// Which block is where, as the hooks of a golden run learn it; see campaign_internal.h.
#include "settle/settle.h"

enum { SHARED_ROW_BYTES = 128 };

void residents_attach(Residents *at, Arena *arena, const HookLayout *layout) {
  const HookShape *shape = hook_layout_shape(layout);
  at->slots = max_u32(shape->block_slots, 1);
  at->blocks = ARENA_ARRAY(arena, uint32_t, shape->sms * at->slots);
}

void residents_launch(Residents *at, const LaunchEvent *event) {
  at->launch = (uint32_t)event->who->launch;
  at->shared_rows = max_u32((event->shared_bytes + SHARED_ROW_BYTES - 1) / SHARED_ROW_BYTES, 1);
  at->block_warps = max_u32((event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
}

void residents_block(Residents *at, const BlockEvent *event) {
  if (!event->done) at->blocks[event->who->sm * at->slots + event->who->block_slot % at->slots] = (uint32_t)event->who->block;
}

uint32_t residents_of(const Residents *at, uint32_t sm, uint32_t slot) { return at->blocks[sm * at->slots + slot % at->slots]; }
