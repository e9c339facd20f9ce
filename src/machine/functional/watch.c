// What somebody who watches the functional machine is told; see MachineWatch in machine.h. Memory is told lane by lane, with generic
// addresses resolved; everything whose result could be another on a machine with time is told as lost.
#include "machine/functional/functional.h"

void watch_keep(Access *access, uint32_t kept[2 * WARP_LANES]) {
  memcpy(kept, access->address, WARP_LANES * sizeof *kept);
  if (access->wide) memcpy(kept + WARP_LANES, access->address + WARP_LANES, WARP_LANES * sizeof *kept);
  access->address = kept;
}

void watch_tell(const WarpContext *at, const Access *access, unsigned how) {
  const MachineWatch *watch = at->run->watch;
  uint32_t bytes = (uint32_t)access->element_bytes * access->elements;
  for (uint32_t left = access->active; left != 0; left &= left - 1) {
    uint64_t address = access_address(access, (unsigned)__builtin_ctz(left));
    Space space = access->space == SPACE_GENERIC ? generic_resolve(&address) : access->space;
    watch->touch(watch->context, space, address, bytes, how);
  }
}

StepResult watch_memory(WarpContext *at, Step *step, Access *access, bool store) {
  uint32_t kept[2 * WARP_LANES];
  AccessFault fault;
  watch_keep(access, kept);
  bool done =
      store ? access_store(&at->run->view, access, &step->window, &fault) : access_load(&at->run->view, access, &step->window, &fault);
  if (!done) access->active &= (1u << fault.lane % WARP_LANES) - 1; // lanes before the one that traps have stored
  if (done || store) watch_tell(at, access, store ? WATCH_WRITE : WATCH_READ);
  if (!done) return step_fault(at, &fault, NULL);
  return STEP_NEXT;
}

static bool tells_time_or_place(uint32_t number) { return number == SREG_SMID || (number >= SREG_CLOCK && number <= SREG_GLOBALTIMER_HI); }

// A barrier orders all warps of the block only if it waits for all of them.
static bool is_whole_barrier(const WarpContext *at, const Step *step, uint32_t active) {
  if ((op_info[step->op].flags & OP_MEMBER_MASK) != 0 || active == 0) return true;
  if (step->op == OP_BAR_ARRIVE) return false;
  const uint32_t *count = at->bases[step->b_base] + step->b;
  for (uint32_t left = active; left != 0; left &= left - 1) {
    uint32_t threads = count[__builtin_ctz(left)];
    if (threads != 0 && threads != at->run->layout.threads) return false;
  }
  return true;
}

void watch_rare(const WarpContext *at, const Step *step, uint32_t active) {
  const MachineWatch *watch = at->run->watch;
  bool is_told;
  switch (op_info[step->op].kind) {
  case KIND_CONTROL:
  case KIND_ATOMIC:
  case KIND_FENCE: is_told = true; break;
  case KIND_BARRIER: is_told = is_whole_barrier(at, step, active); break;
  case KIND_SREG: is_told = !tells_time_or_place(step->imm); break;
  default: is_told = false; break;
  }
  if (!is_told) watch->lost(watch->context);
}
