// Which operands need no register, and whether the registers exist; see operand.h.
#include "machine/simt/operand.h"

unsigned operand_selected(const Instr *instr) {
  if (instr->select == SELECT_REGISTERS) return VALUE_OPERANDS;
  unsigned first = instr->select >= SELECT_CONST_A ? SELECT_CONST_A : SELECT_IMM_A;
  return OPERAND_A + instr->select - first;
}

unsigned operand_full_mask(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  if ((info->flags & IT_MEMBER_MASK) == 0 || (instr->mods & MOD_FULL_MASK) == 0) return VALUE_OPERANDS;
  return info->c != TYPE_none ? OPERAND_C : info->b != TYPE_none ? OPERAND_B : OPERAND_A;
}

static inline void mark_registers(Scoreboard *marks, unsigned first, unsigned count) {
  if (count == 0 || first == REG_ZERO) return;
  uint64_t bits = (UINT64_C(1) << count) - 1;
  marks->registers[first / 64] |= bits << first % 64;
  if (first % 64 + count > 64 && first / 64 < 3) marks->registers[first / 64 + 1] |= bits >> (64 - first % 64);
}

static inline void mark_predicate(Scoreboard *marks, unsigned number) {
  if (number < MAX_PREDICATES) marks->predicates |= UINT64_C(1) << number;
}

void operand_marks(const Instr *instr, bool with_sources, Scoreboard *marks) {
  const OpInfo *info = &op_info[instr->op];
  *marks = (Scoreboard){{0}, 0};
  unsigned registers = type_info[info->d].registers, predicates = operand_predicates(info);
  bool is_marked = (info->flags & IT_DATA_IN) == 0 || with_sources;
  unsigned count = registers != 0 && is_marked ? operand_data_count(instr, info) : 0;
  for (unsigned operand = 0; operand < count; operand++) mark_registers(marks, instr->d[operand], registers);
  if ((predicates & 1) != 0) mark_predicate(marks, instr->pd[0]);
  if ((predicates & 2) != 0) mark_predicate(marks, instr->pd[1]);
  if (!with_sources) return;
  for (unsigned operand = OPERAND_A; operand <= OPERAND_C; operand++) {
    mark_registers(marks, operand_register(instr, operand), operand_source_rows(instr, info, operand));
  }
  if (info->a == TYPE_pred) mark_predicate(marks, instr->a);
  if ((info->flags & (IT_PRED_IN | IT_CARRY_IN)) != 0) mark_predicate(marks, instr->ps);
  mark_predicate(marks, instr->guard);
}

bool operand_is_possible(const Instr *instr, uint32_t registers) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  for (unsigned i = 0; i < count; i++) {
    if (uses[i].predicate || uses[i].operand >= VALUE_OPERANDS) continue;
    uint8_t first = operand_register(instr, uses[i].operand);
    if (first != REG_ZERO && (uint32_t)first + uses[i].registers > registers) return false;
  }
  return true;
}
