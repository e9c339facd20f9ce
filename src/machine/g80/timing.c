// How long a job stays in READ, EXECUTE and WRITE. Source: instruction reference, section 10; micro-architecture notes,
// "Pipeline timing". Lane group 0 also reads the guard's predicate for the whole warp.
#include "machine/g80/g80_internal.h"

static uint32_t serial_cycles(const G80Machine *m, uint32_t fixed, uint32_t active, uint32_t bytes) {
  return fixed + active * (3 + bytes) + (m->sps - active);
}

static uint32_t broadcast_cycles(const SassOperand *operand) {
  unsigned bytes = sass_type_bytes(operand->type);
  return bytes == 1 ? 15 : bytes == 2 ? 16 : 18;
}

// Operands from registers and from a memory are read side by side.
static uint32_t operand_cycles(const G80Machine *m, const SassInstr *instr, uint32_t active) {
  uint32_t cycles = 8 + 5u * instr->gpr_reads - instr->zero_reads + (instr->reads_carry ? 4 : 0);
  if (instr->a.kind == SASS_SHARED) {
    uint32_t memory = instr->address == 0 ? broadcast_cycles(&instr->a) : serial_cycles(m, 20, active, sass_type_bytes(instr->a.type));
    cycles = max_u32(cycles, memory);
  }
  const SassOperand *operands[] = {&instr->a, &instr->b, &instr->c};
  for (uint32_t i = 0; i < COUNT_OF(operands); i++) {
    if (operands[i]->kind == SASS_CONSTANT) cycles = max_u32(cycles, broadcast_cycles(operands[i]));
  }
  return cycles;
}

static bool guard_is_always(const SassInstr *instr) { return instr->bytes == 4 || (instr->high >> 7 & 31) == SASS_ALWAYS; }

uint32_t read_cycles(const G80Machine *m, const SassInstr *instr, const G80Job *job) {
  bool first = (job->group & (m->groups - 1)) == 0;
  bool wide = instr->format == SASS_LONG;
  uint32_t active = (uint32_t)__builtin_popcount(group_mask(m, job, job->active));
  uint32_t extra = !first ? 0 : wide ? m->predicate_cycles : 2;
  uint32_t join = first && instr->join ? 4 : 0;
  switch ((SassRead)instr->read) {
  case SASS_READ_NOP: return instr->join ? 8 + extra + join : 2;
  case SASS_READ_CONTROL: return (!first ? 2 : guard_is_always(instr) ? 5 : 3 + m->predicate_cycles) + join;
  case SASS_READ_ADDRESS: return 12 + extra + join;
  case SASS_READ_ADA: return 12 + (first ? 2u : 0u) + join;
  case SASS_READ_GLOBAL: return serial_cycles(m, 21, active, instr->access_bytes) + extra + join;
  case SASS_READ_OPERANDS: break;
  }
  return operand_cycles(m, instr, active) + extra + join;
}

static bool any_subtracts(const G80Machine *m, const SassInstr *instr, const G80Sm *s) {
  for (uint32_t i = 0; i < m->sps; i++) {
    if (sass_fadd_subtracts(instr, s->execute.a[i], s->execute.b[i])) return true;
  }
  return false;
}

// Of flow instructions without what the stack adds on lane group 0.
uint32_t execute_cycles(const G80Machine *m, const SassInstr *instr, const G80Sm *s) {
  switch ((SassExec)instr->exec) {
  case SASS_EXEC_MOVE: return instr->action == SASS_DO_TO_ADDRESS && instr->b.value != 0 ? 3 : 2;
  case SASS_EXEC_INTEGER: return 3;
  case SASS_EXEC_CONVERT: return 13;
  case SASS_EXEC_FSET: return 15;
  case SASS_EXEC_FADD: return any_subtracts(m, instr, s) ? 26 : 25;
  case SASS_EXEC_FMUL: return 26;
  case SASS_EXEC_FMAD: return 30;
  case SASS_EXEC_SFU: return 4 + m->sps;
  case SASS_EXEC_BRANCH:
  case SASS_EXEC_PUSH:
  case SASS_EXEC_BREAK:
  case SASS_EXEC_BARRIER: return 5;
  case SASS_EXEC_RETURN: return 6;
  case SASS_EXEC_NEVER: break;
  }
  return CYCLES_FOR_EVER;
}

uint32_t write_cycles(const G80Machine *m, const SassInstr *instr, const G80Job *job) {
  uint32_t active = (uint32_t)__builtin_popcount(group_mask(m, job, job->active));
  uint32_t flags = instr->sets_predicate ? 3 : 0;
  switch ((SassWrite)instr->write) {
  case SASS_WRITE_NOTHING: return 4 + flags;
  case SASS_WRITE_GPR32: return 8 + flags;
  case SASS_WRITE_GPR16: return 10 + flags;
  case SASS_WRITE_DISCARD:
  case SASS_WRITE_ADDRESS: return 6 + flags;
  case SASS_WRITE_GLOBAL: return serial_cycles(m, 13, active, instr->access_bytes) + flags;
  case SASS_WRITE_SHARED: return serial_cycles(m, 12, active, instr->access_bytes) + flags;
  case SASS_WRITE_BARRIER: return 9;
  case SASS_WRITE_NEVER: break;
  }
  return CYCLES_FOR_EVER;
}
