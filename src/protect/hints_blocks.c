// Which blocks a faulty SM runs: mirrors of its partner's, from their beginning, one for each.
//
// A mirror that still runs when its block has ended is abandoned. One that traps is gone, and with it its hints, until the SMs are made equal
// again. Making them equal copies registers, predicates, stacks, barriers, shared and local memory of each block of the partner into its
// mirror; both wait `resync` cycles, or as many as a row of 32 registers a cycle takes.
#include "protect/hints.h"

static uint64_t *block_at(const Hints *own, const HookMachine *machine, uint32_t sm, uint32_t block_slot) {
  return hints_at(own, machine, CELLS_BLOCK, (uint64_t)sm * own->block_slots + block_slot);
}

// The block slot of the SM that has this block; own->block_slots: none.
static uint32_t block_slot_of(const Hints *own, const HookMachine *machine, uint32_t sm, uint64_t block) {
  uint32_t block_slot = 0;
  while (block_slot < own->block_slots && block_at(own, machine, sm, block_slot)[0] != 1 + block) block_slot++;
  return block_slot;
}

// The faulty SM that mirrors what is in this block slot of the partner: several share the block slots.
static uint32_t helper_of(const Hints *own, uint32_t partner, uint32_t block_slot) {
  uint32_t sm = partner / own->tpc_sms * own->tpc_sms, rank = block_slot % max_u32(own->helpers[partner], 1);
  while (sm < own->sms && !(hints_is_faulty(own, sm) && own->partner[sm] == partner && own->helper_rank[sm] == rank)) sm++;
  return min_u32(sm, own->sms - 1);
}

static void warps_begin(const Hints *own, const HookMachine *machine, uint32_t sm, uint32_t block_slot) {
  uint32_t count = hints_block_warps(own, machine);
  for (uint32_t i = 0; i < count && block_slot * count + i < own->warps; i++) {
    uint64_t *at = hints_at(own, machine, CELLS_AT, (uint64_t)sm * own->warps + block_slot * count + i);
    at[0] = at[1] = 0;
    at[2] = HINT_NOT_ISSUED;
  }
}

bool hints_partner_warp(const Hints *own, const HookMachine *machine, const Who *who, uint32_t *warp) {
  uint32_t count = hints_block_warps(own, machine);
  if (who->block_slot >= own->block_slots || who->warp >= own->warps || own->partner[who->sm] == HINT_NO_SM) return false;
  const uint64_t *block = block_at(own, machine, who->sm, who->block_slot);
  if (block[0] == 0) return false;
  *warp = (uint32_t)block[1] * count + who->warp % count;
  return *warp < own->warps;
}

// ---- A partner's blocks --------------------------------------------------------------------------------

static void ask_mirror(HookMachine *machine, uint32_t helper, uint64_t block) {
  machine->act(machine, &(Action){.kind = ACTION_MIRROR, .sm = helper, .block = block});
}

static void block_begins(const Hints *own, HookMachine *machine, const Who *who) {
  uint64_t *block = block_at(own, machine, who->sm, who->block_slot);
  block[0] = 1 + who->block;
  block[1] = 0;
  warps_begin(own, machine, who->sm, who->block_slot);
  ask_mirror(machine, helper_of(own, who->sm, who->block_slot), who->block);
}

static void block_ends(const Hints *own, HookMachine *machine, const Who *who) {
  uint32_t helper = helper_of(own, who->sm, who->block_slot), block_slot = block_slot_of(own, machine, helper, who->block);
  uint64_t *block = block_at(own, machine, who->sm, who->block_slot);
  block[0] = block[1] = 0;
  if (block_slot < own->block_slots) machine->act(machine, &(Action){.kind = ACTION_ABANDON, .sm = helper, .block_slot = block_slot});
}

// ---- Mirrors -------------------------------------------------------------------------------------------

static void ask_copy(const Hints *own, HookMachine *machine, uint32_t helper, uint32_t block_slot, uint32_t from_block_slot) {
  uint32_t rows = hints_block_warps(own, machine) * machine->warp_rows;
  machine->act(machine, &(Action){.kind = ACTION_COPY,
                                  .sm = helper,
                                  .block_slot = block_slot,
                                  .from_sm = own->partner[helper],
                                  .from_block_slot = from_block_slot,
                                  .cycles = min_u32(own->resync > 0 ? own->resync : rows, ACTION_MOST_CYCLES)});
}

// STALL: it is not to begin, since its block has ended meanwhile.
static Verdict mirror_begins(const Hints *own, HookMachine *machine, const Who *who) {
  uint32_t partner = own->partner[who->sm];
  if (partner == HINT_NO_SM) return VERDICT_STALL;
  uint32_t from = block_slot_of(own, machine, partner, who->block);
  if (from == own->block_slots || block_slot_of(own, machine, who->sm, who->block) < own->block_slots) return VERDICT_STALL;
  uint64_t *block = block_at(own, machine, who->sm, who->block_slot), *original = block_at(own, machine, partner, from);
  block[0] = 1 + who->block;
  block[1] = from;
  warps_begin(own, machine, who->sm, who->block_slot);
  *hints_at(own, machine, CELLS_SINCE, who->sm) = machine->cycle;
  hook_tally(machine, TALLY_HINTS_MIRRORS, 1);
  if ((original[1] & BLOCK_WANTS_COPY) != 0) ask_copy(own, machine, who->sm, who->block_slot, from);
  original[1] = 0;
  return VERDICT_PASS;
}

// A block of the partner that has no mirror, and whose last has not trapped, gets one now that there is room.
static void mirror_missing(const Hints *own, HookMachine *machine, uint32_t helper) {
  uint32_t partner = own->partner[helper];
  for (uint32_t block_slot = 0; block_slot < own->block_slots; block_slot++) {
    const uint64_t *block = block_at(own, machine, partner, block_slot);
    if (block[0] == 0 || (block[1] & BLOCK_FELL) != 0 || helper_of(own, partner, block_slot) != helper) continue;
    if (block_slot_of(own, machine, helper, block[0] - 1) < own->block_slots) continue;
    ask_mirror(machine, helper, block[0] - 1);
    return;
  }
}

static void mirror_ends(const Hints *own, HookMachine *machine, const BlockEvent *event) {
  const Who *who = event->who;
  uint32_t partner = own->partner[who->sm];
  uint64_t *block = block_at(own, machine, who->sm, who->block_slot);
  if (partner == HINT_NO_SM) return;
  uint32_t from = block_slot_of(own, machine, partner, who->block);
  // It has run to its end before its block, or has trapped: there is nothing to mirror again.
  if (from < own->block_slots && block[0] == 1 + who->block) block_at(own, machine, partner, from)[1] |= BLOCK_FELL;
  block[0] = block[1] = 0;
  if (event->done) mirror_missing(own, machine, who->sm);
}

Verdict hints_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Hints *own = hints_own(hook);
  const Who *who = event->who;
  bool begins = !event->done && !event->stopped;
  if (hints_is_faulty(own, who->sm)) {
    if (!event->mirror) return begins ? VERDICT_STALL : VERDICT_PASS;
    if (begins) return mirror_begins(own, machine, who);
    mirror_ends(own, machine, event);
    return VERDICT_PASS;
  }
  if (own->off || event->mirror || !hints_is_helped(own, who->sm)) return VERDICT_PASS;
  if (begins) block_begins(own, machine, who);
  else if (block_at(own, machine, who->sm, who->block_slot)[0] == 1 + who->block) block_ends(own, machine, who);
  return VERDICT_PASS;
}

// ---- Resynchronisation ---------------------------------------------------------------------------------

void hints_resynchronise(const Hints *own, HookMachine *machine, uint32_t partner) {
  for (uint32_t block_slot = 0; block_slot < own->block_slots; block_slot++) {
    uint64_t *block = block_at(own, machine, partner, block_slot);
    if (block[0] == 0) continue;
    uint32_t helper = helper_of(own, partner, block_slot), mirror = block_slot_of(own, machine, helper, block[0] - 1);
    if (mirror < own->block_slots) {
      ask_copy(own, machine, helper, mirror, block_slot);
    } else {
      block[1] = BLOCK_WANTS_COPY;
      ask_mirror(machine, helper, block[0] - 1);
    }
  }
}

static void mirror_is_equal(const Hints *own, const HookMachine *machine, const Action *action) {
  uint32_t count = hints_block_warps(own, machine), to = action->block_slot * count, from = action->from_block_slot * count;
  *hints_at(own, machine, CELLS_SINCE, action->sm) = machine->cycle;
  for (uint32_t i = 0; i < count && max_u32(to, from) + i < own->warps; i++) {
    memcpy(hints_at(own, machine, CELLS_AT, (uint64_t)action->sm * own->warps + to + i),
           hints_at(own, machine, CELLS_AT, (uint64_t)action->from_sm * own->warps + from + i), 3 * sizeof(uint64_t));
  }
}

Verdict hints_action(Hook *hook, HookMachine *machine, const ActionEvent *event) {
  const Hints *own = hints_own(hook);
  if (event->action->kind != ACTION_COPY || !hints_is_faulty(own, event->action->sm)) return VERDICT_PASS;
  hook_tally(machine, event->done ? TALLY_HINTS_RESYNCS : TALLY_HINTS_RESYNC_FAILS, 1);
  if (event->done) mirror_is_equal(own, machine, event->action);
  return VERDICT_PASS;
}
