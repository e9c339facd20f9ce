// Transients in cells: the bits flip once, at the start of the fault's cycle. What they do then is the machine's affair.
#include "fault/fault_internal.h"

Strike fault_strike(const HookMachine *machine, const Fault *fault) {
  if (fault->is_output) return (Strike){.fault = fault, .waits = true};
  Site bits[FAULT_MAX_BITS];
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  for (uint32_t i = 0; i < count; i++) *fault_byte(machine, &bits[i]) ^= site_mask(&bits[i]);
  return (Strike){.fault = fault};
}

static void strike_now(Hook *hook, HookMachine *machine) { fault_strike(machine, &((FaultHook *)hook->own)->fault); }

void flip_hook(FaultHook *at) {
  at->hook.cycle = strike_now;
  at->hook.next_cycle = at->fault.from;
}
