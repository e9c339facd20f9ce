// Which operands need no register, and whether the registers exist; see operand.h.
#include "machine/simt/operand.h"

unsigned operand_selected(const Instr *instr) {
  if (instr->select == SELECT_REGISTERS) return OPERAND_SLOTS;
  unsigned first = instr->select >= SELECT_CONST_A ? SELECT_CONST_A : SELECT_IMM_A;
  return SLOT_A + instr->select - first;
}

unsigned operand_full_mask(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  if ((info->flags & OP_MEMBER_MASK) == 0 || (instr->mods & MOD_FULL_MASK) == 0) return OPERAND_SLOTS;
  return info->c != TYPE_none ? SLOT_C : info->b != TYPE_none ? SLOT_B : SLOT_A;
}

bool operand_is_possible(const Instr *instr, uint32_t registers) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  for (unsigned i = 0; i < count; i++) {
    if (uses[i].predicate || uses[i].slot >= OPERAND_SLOTS) continue;
    uint8_t first = operand_register(instr, uses[i].slot);
    if (first != REG_ZERO && (uint32_t)first + uses[i].registers > registers) return false;
  }
  return true;
}
