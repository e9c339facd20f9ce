// How many registers a thread of a kernel owns. Our compiler and NVIDIA's need different numbers, and the number decides how many blocks
// an SM holds and which rows of the register file belong to somebody.
#include "device/device_internal.h"

// What ptxas would use, from what our compiler uses: a straight line through the kernels of the workloads (docs/machines.md).
enum { ESTIMATE_BASE = 550, ESTIMATE_SLOPE = 110, ESTIMATE_UNIT = 100 };

static uint32_t estimate(uint32_t ours) { return (ours * ESTIMATE_SLOPE + ESTIMATE_BASE + ESTIMATE_UNIT / 2) / ESTIMATE_UNIT; }

uint32_t device_registers(const Spec *spec, const Function *kernel) {
  uint32_t ours = kernel->registers, count = ours;
  if (ours == 0) return 0; // a program of another form
  switch ((RegisterSource)spec->sm_register_source) {
  case REGISTERS_OURS: return ours;
  case REGISTERS_ESTIMATE: count = estimate(ours); break;
  case REGISTERS_GIVEN: count = kernel->given_registers != 0 ? kernel->given_registers : estimate(ours); break;
  }
  return max_u32(ours, (uint32_t)min_u64(count, spec->limit_registers));
}

// A number that the compiler for this machine could not have used is lowered: it would have had to fit too.
uint32_t launch_registers(const Spec *spec, const Function *kernel, uint64_t threads) {
  uint64_t rounded = align_up(threads, WARP_LANES), unit = spec->sm_register_unit;
  uint64_t count = align_up(device_registers(spec, kernel), unit), room = rounded == 0 ? count : spec->sm_registers / rounded;
  return (uint32_t)max_u64(kernel->registers, min_u64(count, room / unit * unit));
}

void module_give_registers(Module *module, const char *kernel, uint32_t count) { program_give_registers(module->program, kernel, count); }
