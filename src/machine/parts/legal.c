// See legal.h.
#include "machine/parts/legal.h"

static bool registers_fit(const Instr *instr, uint32_t registers) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  const uint8_t fields[] = {instr->d[0], instr->d[1], instr->d[2], instr->d[3], instr->a, instr->b, instr->c};
  for (unsigned i = 0; i < count; i++) {
    if (uses[i].predicate || uses[i].operand >= COUNT_OF(fields) || fields[uses[i].operand] == REG_ZERO) continue;
    if ((uint32_t)fields[uses[i].operand] + uses[i].registers > registers) return false;
  }
  return true;
}

bool legal_for(const Instr *instr, uint32_t registers) {
  const OpInfo *info = &op_info[instr->op];
  if (!registers_fit(instr, registers)) return false;
  const TypeId types[] = {info->a, info->b, info->c};
  for (unsigned operand = 0; operand < COUNT_OF(types); operand++) {
    bool is_constant = instr->select == SELECT_IMM_A + operand || instr->select == SELECT_CONST_A + operand;
    if (is_constant && type_info[types[operand]].registers > 2) return false;
  }
  bool is_access = info->kind == KIND_LOAD || info->kind == KIND_STORE;
  return (!is_access || mods_vector_count(instr->mods) <= 4) && (info->kind != KIND_ATOMIC || type_info[info->a].bits <= 64);
}
