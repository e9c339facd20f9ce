// Which block is where, as the hooks of a golden run learn it; see settle.h.
#include "settle/settle.h"

static bool attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Residents *at = hook->own;
  const HookShape *shape = hook_layout_shape(layout);
  (void)diags;
  at->block_slots = max_u32(shape->block_slots, 1);
  at->shared_row_bytes = region_shared_row(hook_layout_regions(layout));
  at->blocks = ARENA_ARRAY(at->arena, uint32_t, shape->sms * at->block_slots);
  return true;
}

Verdict residents_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Residents *at = hook->own;
  (void)machine;
  at->launch = (uint32_t)event->who->launch;
  at->shared_rows = max_u32((event->shared_bytes + at->shared_row_bytes - 1) / at->shared_row_bytes, 1);
  at->block_warps = max_u32((event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Residents *at = hook->own;
  (void)machine;
  if (!event->done) at->blocks[event->who->sm * at->block_slots + event->who->block_slot % at->block_slots] = (uint32_t)event->who->block;
  return VERDICT_PASS;
}

Hook residents_hook(const char *name, Residents *own, Arena *arena) {
  own->arena = arena;
  Hook hook = {.name = name, .kind = HOOK_OBSERVER, .own = own, .attach = attach, .next_cycle = UINT64_MAX};
  hook.launch = residents_launch;
  hook.block = on_block;
  return hook;
}

uint32_t residents_of(const Residents *at, uint32_t sm, uint32_t block_slot) {
  return at->blocks[sm * at->block_slots + block_slot % at->block_slots];
}
