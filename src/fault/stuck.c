// Permanent and intermittent faults in cells: the bit holds its value from the fault's first cycle to its last, whatever
// is written. Cells whose accesses the machine tells are forced after every write; others at the start of every cycle.
#include "fault/fault_internal.h"

bool stuck_is_active(const Fault *fault, uint64_t cycle) {
  if (cycle < fault->from || cycle > fault->to) return false;
  if (fault->model != FAULT_DUTY) return true;
  return (cycle - fault->from) % (fault->arguments[0] + fault->arguments[1]) < fault->arguments[0];
}

bool fault_alters_cells(const RegionTable *regions, const Fault *fault, const CellEvent *event) {
  const Region *region = &regions->items[fault->site.region];
  HookMachine nowhere = {.regions = regions};
  Site bits[FAULT_MAX_BITS];
  uint32_t count = fault_bits(regions, &nowhere, fault, bits);
  for (uint32_t i = 0; i < count; i++) {
    if (bits[i].row != event->row || (event->units >> bits[i].unit & 1) == 0) continue;
    const uint8_t *unit = event->data + bits[i].unit * region->unit_bytes;
    bool is_set = (unit[bits[i].bit / 8] & site_mask(&bits[i])) != 0;
    if (is_set == (fault->model == FAULT_STUCK0)) return true;
  }
  return false;
}

// True: a bit was not as the fault holds it.
static bool force(const HookMachine *machine, const Fault *fault) {
  Site bits[FAULT_MAX_BITS];
  bool changed = false;
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  for (uint32_t i = 0; i < count; i++) {
    uint8_t *byte = fault_byte(machine, &bits[i]), mask = site_mask(&bits[i]);
    changed |= ((*byte & mask) != 0) == (fault->model == FAULT_STUCK0);
    *byte = fault->model == FAULT_STUCK0 ? (uint8_t)(*byte & ~mask) : (uint8_t)(*byte | mask);
  }
  return changed;
}

static bool holds(const HookMachine *machine, const Fault *fault) {
  Site bits[FAULT_MAX_BITS];
  bool all = true;
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  for (uint32_t i = 0; i < count; i++)
    all &= ((*fault_byte(machine, &bits[i]) & site_mask(&bits[i])) == 0) == (fault->model == FAULT_STUCK0);
  return all;
}

static Verdict after_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  const Fault *fault = &((FaultHook *)hook->own)->fault;
  if (event->region == fault->site.region && stuck_is_active(fault, machine->cycle)) force(machine, fault);
  return VERDICT_PASS;
}

// When the fault next does something by itself: begins, or is forced anew. What it holds already stays so while cells are still; if they are so for
// ever, it does nothing any more, and the machine hangs.
static uint64_t next_time(const HookMachine *machine, const Fault *fault, bool changed) {
  bool is_still = !changed && machine->still_until > machine->cycle && fault->model != FAULT_DUTY;
  uint64_t next = (is_still && machine->still_until != UINT64_MAX ? machine->still_until : machine->cycle) + 1;
  if (!changed && machine->still_until == UINT64_MAX && holds(machine, fault)) return UINT64_MAX;
  bool told = (machine->regions->items[fault->site.region].flags & REGION_TRACED) != 0;
  if (next > fault->to) return UINT64_MAX;
  if (!told) return next;
  if (fault->model != FAULT_DUTY) return UINT64_MAX;
  uint64_t period = fault->arguments[0] + fault->arguments[1];
  return fault->from + (machine->cycle - fault->from) / period * period + period;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  const Fault *fault = &((FaultHook *)hook->own)->fault;
  bool changed = stuck_is_active(fault, machine->cycle) && force(machine, fault);
  hook->next_cycle = next_time(machine, fault, changed);
}

// Cells are put to rest between launches, but for those that cannot be; and warps' registers lie elsewhere.
static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Fault *fault = &((FaultHook *)hook->own)->fault;
  (void)event;
  if (fault->is_output) return VERDICT_PASS;
  if (machine->cycle >= fault->from && machine->cycle <= fault->to) hook->next_cycle = machine->cycle;
  return VERDICT_PASS;
}

void stuck_hook(FaultHook *at) {
  at->hook.launch = on_launch;
  at->hook.cycle = on_cycle;
  at->hook.write = after_write;
  at->hook.next_cycle = at->fault.from;
}
