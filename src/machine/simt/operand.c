// Layout of operands in collectors and latches; see operand.h. Computed directly from the row's columns, since every stage asks for
// it for every instruction; test_operand.c holds it against op_operands for all rows and modifiers.
#include "machine/simt/operand.h"

static bool has_vector(const OpInfo *info) { return info->kind == KIND_LOAD || info->kind == KIND_STORE; }

static unsigned data_slots(const Instr *instr, const OpInfo *info) {
  if (type_info[info->d].registers == 0) return 0;
  if (info->kind == KIND_TEXTURE) return 4;
  return has_vector(info) ? mods_vector_count(instr->mods) : 1;
}

// The address of a memory instruction is a pair unless its space is small or a modifier says so.
static unsigned address_rows(const Instr *instr, const OpInfo *info) {
  bool wide = info->kind == KIND_ATOMIC ? info->space == SPACE_GENERIC || info->space == SPACE_GLOBAL : type_info[info->a].registers == 2;
  return wide && (instr->mods & MOD_ADDRESS32) == 0 ? 2 : 1;
}

static inline void add_rows(OperandRows *at, unsigned slot, unsigned count) {
  if (count == 0) return;
  at->first[slot] = at->rows;
  at->count[slot] = (uint8_t)count;
  at->rows = (uint8_t)(at->rows + count);
}

static void add_data(OperandRows *at, const Instr *instr, const OpInfo *info) {
  unsigned slots = data_slots(instr, info), registers = type_info[info->d].registers;
  for (unsigned slot = 0; slot < slots; slot++) add_rows(at, SLOT_D + slot, registers);
}

OperandRows operand_sources(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  OperandRows at = {0};
  if ((info->flags & OP_DATA_IN) != 0) add_data(&at, instr, info);
  bool has_address = info->space != SPACE_NONE && info->a != TYPE_none;
  add_rows(&at, SLOT_A, has_address ? address_rows(instr, info) : type_info[info->a].registers);
  add_rows(&at, SLOT_B, type_info[info->b].registers);
  add_rows(&at, SLOT_C, type_info[info->c].registers);
  return at;
}

OperandRows operand_results(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  OperandRows at = {0};
  if ((info->flags & OP_DATA_IN) == 0) add_data(&at, instr, info);
  return at;
}

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
