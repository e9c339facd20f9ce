// Faults in functional units: an output bit of one hardware lane of one unit is wrong in every result that it makes while the
// fault lasts. Which thread that hits is decided by the thread-to-lane map of the instruction.
#include "fault/fault_internal.h"

// Index into fault_units. What has no unit of its own runs on the SPs; of memory instructions the addresses are results.
static uint32_t kind_of(Unit unit) {
  switch (unit) {
  case UNIT_SFU: return 1;
  case UNIT_FP64: return 2;
  case UNIT_TENSOR: return 3;
  case UNIT_LDST:
  case UNIT_TEX: return 4;
  default: return 0;
  }
}

static bool is_active(const Fault *fault, uint64_t cycle) {
  return cycle >= fault->from && (cycle <= fault->to || fault->model == FAULT_UNIT);
}

static void damage(const Fault *fault, ResultEvent *event, uint32_t thread) {
  uint32_t mask = 1u << fault->site.bit % 32;
  for (uint32_t row = 0; row < event->row_count; row++) {
    uint32_t *word = &event->rows[row * WARP_LANES + thread];
    if (fault->model == FAULT_UNIT) *word ^= mask;
    else if (fault->model == FAULT_UNIT_STUCK0) *word &= ~mask;
    else *word |= mask;
  }
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Fault *fault = &((FaultHook *)hook->own)->fault;
  bool same = unit_row(event->sm, kind_of(event->unit), event->sp) == fault->site.row;
  if (!same || !is_active(fault, machine->cycle)) return VERDICT_PASS;
  for (uint32_t thread = 0; thread < WARP_LANES; thread++) {
    if ((event->mask >> thread & 1) == 0 || event->lane_of[thread] != fault->site.unit) continue;
    damage(fault, event, thread);
    if (fault->model == FAULT_UNIT) fault->from = UINT64_MAX; // a transient: the first result at or after its time
  }
  return VERDICT_PASS;
}

void unit_hook(FaultHook *at) { at->hook.result = on_result; }
