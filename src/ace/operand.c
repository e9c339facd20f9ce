// What an instruction does with each of its operands. Addresses, what decides the flow and what goes out of the block always matter: a wrong one
// may trap or lead elsewhere, whatever becomes of the result. All else matters if the result does.
#include "ace/ace_internal.h"

static TypeId type_of(const OpInfo *info, unsigned operand) {
  return operand < OPERAND_A ? info->d : operand == OPERAND_A ? info->a : operand == OPERAND_B ? info->b : info->c;
}

// The operand that holds the member mask of a warp-wide instruction; 0: none.
static unsigned member_mask(const OpInfo *info) {
  if ((info->flags & IT_MEMBER_MASK) == 0) return 0;
  return info->c != TYPE_none ? OPERAND_C : info->b != TYPE_none ? OPERAND_B : OPERAND_A;
}

static Role role_of(const OpInfo *info, unsigned operand) {
  if (operand == OPERAND_GUARD) return ROLE_CONTROL;
  switch (info->kind) {
  case KIND_ALU:
  case KIND_SREG: return ROLE_LINK;
  case KIND_WARP: return operand >= OPERAND_A && operand == member_mask(info) ? ROLE_CONTROL : ROLE_WHOLE;
  case KIND_MATRIX: return info->space == SPACE_NONE ? ROLE_WHOLE : operand == OPERAND_A ? ROLE_ADDRESS : ROLE_OUTPUT;
  case KIND_STORE: return operand == OPERAND_A ? ROLE_ADDRESS : info->space == SPACE_SHARED ? ROLE_LINK : ROLE_OUTPUT;
  case KIND_ATOMIC: return operand == OPERAND_A ? ROLE_ADDRESS : ROLE_OUTPUT;
  case KIND_LOAD:
  case KIND_TEXTURE: return ROLE_ADDRESS;
  default: return ROLE_CONTROL;
  }
}

static uint8_t number_of(const Instr *instr, unsigned operand) {
  if (operand < OPERAND_A) return instr->d[operand];
  if (operand <= OPERAND_C) return operand == OPERAND_A ? instr->a : operand == OPERAND_B ? instr->b : instr->c;
  return operand == OPERAND_PS ? instr->ps : instr->guard;
}

static void add_role(const Instr *instr, InstrRoles *roles, unsigned operand, unsigned registers, bool is_predicate) {
  const OpInfo *info = &op_info[instr->op];
  if (roles->count == OPERAND_ROLES) { // more than any row has: nothing is known of it then
    roles->items[0] = (OperandRole){.first = 0, .count = UINT8_MAX, .role = ROLE_DATA, .care = {UINT32_MAX, UINT32_MAX}};
    return;
  }
  OperandRole role = {.first = number_of(instr, operand),
                      .count = (uint8_t)max_u32(registers, 1),
                      .role = (uint8_t)role_of(info, operand),
                      .is_predicate = is_predicate};
  bool is_data = operand <= OPERAND_C && (role.role == ROLE_LINK || role.role == ROLE_OUTPUT);
  uint64_t care = is_predicate ? 1 : is_data ? instr_care(instr, operand) : UINT64_MAX;
  role.care[0] = (uint32_t)care;
  role.care[1] = type_info[type_of(info, min_u32(operand, OPERAND_C))].bits > 32 || !is_data ? (uint32_t)(care >> 32) : UINT32_MAX;
  roles->items[roles->count++] = role;
}

void instr_roles(const Instr *instr, InstrRoles *roles) {
  const OpInfo *info = &op_info[instr->op];
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  *roles = (InstrRoles){.is_known = true};
  for (unsigned i = 0; i < count; i++) {
    if (!uses[i].written) add_role(instr, roles, uses[i].operand, uses[i].registers, uses[i].predicate);
  }
  roles->stores = info->kind == KIND_STORE && info->space == SPACE_SHARED;
  bool has_results = info->kind == KIND_ALU || info->kind == KIND_SREG || info->kind == KIND_WARP || info->kind == KIND_LOAD ||
                     info->kind == KIND_ATOMIC || info->kind == KIND_TEXTURE || info->kind == KIND_MATRIX;
  roles->has_node = has_results || roles->stores;
}

Role instr_role(const InstrRoles *roles, uint32_t number, bool is_predicate, uint32_t *care) {
  Role found = ROLE_NONE;
  *care = 0;
  for (uint32_t i = 0; i < roles->count; i++) {
    const OperandRole *role = &roles->items[i];
    if (role->is_predicate != is_predicate || number < role->first || number >= (uint32_t)role->first + role->count) continue;
    uint32_t word = number - role->first;
    *care |= word < 2 ? role->care[word] : UINT32_MAX;
    if (role->role > found) found = (Role)role->role; // what always matters comes after links
  }
  return found;
}
