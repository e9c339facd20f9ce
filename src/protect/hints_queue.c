// The hint queue of a TPC and the processing units of its healthy SMs.
//
// The queue is a ring. A processing unit takes the hint at its front into its register and compares the hint's time stamp with where the
// partner's warp is: ahead by less than the threshold, the hint is used and gone; further ahead, it goes to the end of the queue;
// behind, it is thrown away. It compares `checks` hints in the time in which an SM issues one instruction, and rests when
// all hints have been compared and no warp has moved since. A used hint that finds the SM's queue of actions full waits in the register.
#include "protect/hints.h"

static uint64_t ones(unsigned bits) { return (UINT64_C(1) << bits) - 1; }

void hint_pack(const Hint *hint, uint64_t cells[2]) {
  uint64_t high = hint->specific >> HINT_UNIT_BITS & 3;
  cells[0] = (hint->sm & ones(HINT_SM_BITS)) | ((uint64_t)hint->type & ones(HINT_TYPE_BITS)) << 6 | (uint64_t)hint->stamp << 8 |
             (hint->warp & ones(HINT_WARP_BITS)) << 40 | high << 50;
  cells[1] = hint->specific & ones(HINT_UNIT_BITS);
}

Hint hint_unpack(const uint64_t cells[2]) {
  return (Hint){.sm = (uint32_t)(cells[0] & ones(HINT_SM_BITS)),
                .type = (HintType)(cells[0] >> 6 & ones(HINT_TYPE_BITS)),
                .stamp = (uint32_t)(cells[0] >> 8),
                .warp = (uint32_t)(cells[0] >> 40 & ones(HINT_WARP_BITS)),
                .specific = (cells[0] >> 50 & 3) << HINT_UNIT_BITS | (cells[1] & ones(HINT_UNIT_BITS))};
}

// ---- The ring ------------------------------------------------------------------------------------------

static uint64_t *place(const Hints *own, const HookMachine *machine, uint32_t tpc, uint64_t index) {
  return hints_at(own, machine, CELLS_QUEUE, (uint64_t)tpc * own->queue + index % own->queue);
}

bool hints_push(const Hints *own, const HookMachine *machine, uint32_t tpc, const uint64_t cells[2]) {
  uint64_t *ring = hints_at(own, machine, CELLS_RING, tpc);
  if (ring[1] >= own->queue) return false;
  memcpy(place(own, machine, tpc, ring[0] + ring[1]), cells, 2 * sizeof *cells);
  ring[1]++;
  return true;
}

static bool pop(const Hints *own, const HookMachine *machine, uint32_t tpc, uint64_t cells[2]) {
  uint64_t *ring = hints_at(own, machine, CELLS_RING, tpc);
  if (ring[1] == 0) return false;
  uint64_t *front = place(own, machine, tpc, ring[0]);
  memcpy(cells, front, 2 * sizeof *cells);
  memset(front, 0, 2 * sizeof *front);
  ring[1]--;
  ring[0] = ring[1] == 0 ? 0 : (ring[0] + 1) % own->queue; // empty queues are equal
  return true;
}

// ---- Where a hint stands -------------------------------------------------------------------------------

HintTime hints_judge(const Hints *own, const HookMachine *machine, const Hint *hint, uint32_t *distance) {
  uint32_t partner = own->partner[hint->sm % HINT_MOST_SMS], block_slot = hint->warp / hints_block_warps(own, machine);
  *distance = 0;
  if (partner == HINT_NO_SM || hint->warp >= own->warps || block_slot >= own->block_slots) return HINT_LATE; // a fault has struck it
  if (hints_at(own, machine, CELLS_BLOCK, (uint64_t)partner * own->block_slots + block_slot)[0] == 0) return HINT_LATE;
  const uint64_t *at = hints_at(own, machine, CELLS_AT, (uint64_t)partner * own->warps + hint->warp);
  if (own->order == ORDER_PC && (at[2] & HINT_NOT_ISSUED) != 0) return HINT_NOW;
  int64_t ahead = (int32_t)(hint->stamp - (uint32_t)at[own->order == ORDER_PC ? 0 : 1]);
  if (ahead < 0) return HINT_LATE;
  *distance = (uint32_t)ahead;
  return *distance < own->threshold ? HINT_NOW : HINT_EARLY;
}

// ---- Using it ------------------------------------------------------------------------------------------

static bool ask(HookMachine *machine, uint32_t sm, ActionCache cache, uint64_t address) {
  return machine->act(machine, &(Action){.kind = ACTION_PREFETCH, .sm = sm, .cache = cache, .address = address});
}

bool hints_deliver(const Hints *own, HookMachine *machine, const Hint *hint) {
  uint32_t partner = own->partner[hint->sm % HINT_MOST_SMS];
  bool taken = true;
  switch (hint->type) {
  case HINT_ICACHE: {
    uint32_t pc = (uint32_t)(hint->specific / own->code_bytes & 0xFFFFFF);
    taken = ask(machine, partner, PREFETCH_INSTRUCTION, action_code_address(pc));
    if (taken) hints_watch(own, machine, partner, WATCH_CODE, pc / own->code_block);
    break;
  }
  case HINT_MERGE: taken = !own->asks || ask(machine, partner, PREFETCH_DATA, hint_line(hint->specific)); break;
  case HINT_L2:
    taken = !own->sends || ask(machine, partner, PREFETCH_L2, hint_line(hint->specific));
    if (taken) hints_watch(own, machine, partner, WATCH_LINE, hint_line(hint->specific));
    break;
  default:
    taken = ask(machine, partner, (hint->specific & 1) != 0 ? PREFETCH_TEXTURE : PREFETCH_CONSTANT, hint_line(hint->specific));
    break;
  }
  if (taken) hints_count(machine, TALLY_HINTS_DELIVERED_ICACHE, hint->type, 1);
  return taken;
}

// The hint in the SM's register. False: it stays there.
static bool resolve(const Hints *own, HookMachine *machine, uint32_t tpc, uint32_t sm) {
  uint64_t *cells = hints_at(own, machine, CELLS_PROCESS, sm), *full = hints_at(own, machine, CELLS_FULL, sm);
  Hint hint = hint_unpack(cells);
  uint32_t partner = own->partner[hint.sm % HINT_MOST_SMS], distance;
  HintTime time = hints_judge(own, machine, &hint, &distance);
  // A load that has joined before its hint came to the front of the queue: the hint has done its work.
  if (time == HINT_LATE && hint.type == HINT_MERGE && !own->asks && partner == sm && !hints_is_offered(own, machine, &hint))
    time = HINT_NOW;
  bool is_other = partner != sm && partner < own->sms && partner / own->tpc_sms == tpc; // of another SM of the TPC
  if (is_other || time == HINT_EARLY) hints_push(own, machine, tpc, cells);
  else if (time == HINT_NOW && partner == sm) {
    if (!hints_deliver(own, machine, &hint)) return false;
    hook_tally(machine, TALLY_HINTS_LEAD, distance);
  } else {
    hints_count(machine, TALLY_HINTS_LATE_ICACHE, hint.type, 1);
    hints_down(own, machine, sm, hint.type);
  }
  memset(cells, 0, 2 * sizeof *cells);
  *full &= ~(uint64_t)FULL_PROCESS;
  return true;
}

static void one_sm(const Hints *own, HookMachine *machine, uint32_t tpc, uint32_t sm) {
  uint64_t *full = hints_at(own, machine, CELLS_FULL, sm), *turn = hints_at(own, machine, CELLS_TURN, tpc);
  for (uint32_t i = 0; i < own->checks; i++) {
    if ((*full & FULL_PROCESS) == 0) {
      if (turn[0] == 0 || !pop(own, machine, tpc, hints_at(own, machine, CELLS_PROCESS, sm))) {
        turn[0] = 0;
        return;
      }
      turn[0]--;
      *full |= FULL_PROCESS;
    }
    if (!resolve(own, machine, tpc, sm)) return;
  }
}

// Registers of gathering units go to the queue before anything is compared.
void hints_process(const Hints *own, HookMachine *machine, uint32_t tpc) {
  uint32_t first = tpc * own->tpc_sms, end = min_u32(first + own->tpc_sms, own->sms);
  for (uint32_t sm = first; sm < end; sm++) {
    uint64_t *full = hints_at(own, machine, CELLS_FULL, sm);
    if ((*full & FULL_GATHER) != 0 && hints_push(own, machine, tpc, hints_at(own, machine, CELLS_GATHER, sm))) {
      *full &= ~(uint64_t)FULL_GATHER;
      hints_at(own, machine, CELLS_TURN, tpc)[0]++;
    }
  }
  for (uint32_t sm = first; sm < end; sm++) {
    if (hints_is_helped(own, sm)) one_sm(own, machine, tpc, sm);
  }
}

void hints_moved(Hook *hook, HookMachine *machine, uint32_t sm) {
  const Hints *own = hints_own(hook);
  uint32_t tpc = sm / own->tpc_sms;
  uint64_t *turn = hints_at(own, machine, CELLS_TURN, tpc), waiting = hints_at(own, machine, CELLS_RING, tpc)[1];
  turn[0] = min_u64(waiting, own->queue);
  if (waiting == 0 && hints_is_helped(own, sm) && (*hints_at(own, machine, CELLS_FULL, sm) & FULL_PROCESS) == 0) return;
  uint64_t next = (machine->cycle / HINT_STEP + 1) * HINT_STEP;
  if (next < hook_wakes_at(hook, machine)) hook_wake(hook, machine, next);
}
