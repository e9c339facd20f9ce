// Which bits of an operand decide the result; see masking.def.
#include "isa/isa.h"

typedef enum MaskingRule {
  RULE_ALL,
  RULE_AND,
  RULE_OR,
  RULE_LOGIC3,
  RULE_LEFT,
  RULE_RIGHT,
  RULE_BELOW,
  RULE_ABOVE,
  RULE_INSERT,
  RULE_PICK,
  RULE_LOW24,
  RULE_NARROW,
  RULE_SIGN,
  RULE_AMOUNT
} MaskingRule;

static const uint8_t rules[OP_COUNT] = {
#define MASKS(id, rule) [OP_##id] = RULE_##rule,
#include "isa/masking.def"
#undef MASKS
};

static uint64_t low_bits(unsigned count) { return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

static TypeId type_of(const OpInfo *info, unsigned operand) {
  return operand < OPERAND_A ? info->d : operand == OPERAND_A ? info->a : operand == OPERAND_B ? info->b : info->c;
}

// The immediate of an operand. False: it has none.
static bool constant_of(const Instr *instr, unsigned operand, uint64_t *value) {
  if (instr->select != SELECT_IMM_A + (operand - OPERAND_A)) return false;
  *value = imm_value(type_of(&op_info[instr->op], operand), instr->imm);
  return true;
}

// Operands whose bit of the table's index never changes what is found there.
static uint64_t care_logic3(uint32_t table, unsigned operand) {
  unsigned step = operand == OPERAND_A ? 4 : operand == OPERAND_B ? 2 : 1;
  for (unsigned i = 0; i < 8; i++) {
    if ((i & step) == 0 && (table >> i & 1) != (table >> (i + step) & 1)) return UINT32_MAX;
  }
  return 0;
}

static uint64_t care_insert(uint64_t place, unsigned operand) {
  unsigned from = place & 0xFF, length = place >> 8 & 0xFF;
  if (operand == OPERAND_A) return low_bits(length);
  return from >= 32 ? UINT32_MAX : ~(low_bits(length) << from) & UINT32_MAX;
}

// Nibble i picks the byte of the i-th result: 0 to 3 of a, 4 to 7 of b. A replicated sign is of that byte, too.
static uint64_t care_pick(uint64_t nibbles, unsigned operand) {
  uint64_t care = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned byte = nibbles >> 4 * i & 7;
    if (byte / 4 == operand - OPERAND_A) care |= UINT64_C(0xFF) << 8 * (byte % 4);
  }
  return care;
}

// a < c depends on bits from the lowest one of c on; a < 0 on the sign, or on nothing.
static uint64_t care_below(uint64_t threshold, unsigned bits) {
  threshold &= low_bits(bits);
  unsigned lowest = threshold == 0 ? bits - 1 : (unsigned)__builtin_ctzll(threshold);
  return low_bits(bits) & ~low_bits(lowest);
}

static uint64_t care_order(const Instr *instr, unsigned operand, bool is_above, uint64_t all) {
  uint64_t value;
  unsigned bits = type_info[type_of(&op_info[instr->op], operand)].bits, other = operand == OPERAND_A ? OPERAND_B : OPERAND_A;
  if (!constant_of(instr, other, &value)) return all;
  bool takes_next = is_above == (operand == OPERAND_A); // c < b is b > c, which is b >= c + 1
  return care_below(value + (takes_next ? 1 : 0), bits) & all;
}

static uint64_t care_shift(const Instr *instr, unsigned operand, bool is_left, uint64_t all) {
  uint64_t amount;
  unsigned bits = type_info[op_info[instr->op].a].bits;
  if (operand != OPERAND_A || !constant_of(instr, OPERAND_B, &amount)) return all;
  TypeId type = op_info[instr->op].a;
  bool is_signed = type == TYPE_s16 || type == TYPE_s32 || type == TYPE_s64;
  if (amount >= bits) return !is_left && is_signed ? UINT64_C(1) << (bits - 1) : 0;
  return is_left ? low_bits(bits - (unsigned)amount) : all & ~low_bits((unsigned)amount);
}

uint64_t instr_care(const Instr *instr, unsigned operand) {
  const OpInfo *info = &op_info[instr->op];
  TypeId type = type_of(info, operand);
  uint64_t all = low_bits(type_info[type].bits), value;
  unsigned other = operand == OPERAND_A ? OPERAND_B : OPERAND_A;
  if (info->kind != KIND_ALU && info->kind != KIND_STORE) return UINT64_MAX;
  if (operand < OPERAND_A) return all;
  switch ((MaskingRule)rules[instr->op]) {
  case RULE_AND: return constant_of(instr, other, &value) ? value & all : all;
  case RULE_OR: return constant_of(instr, other, &value) ? ~value & all : all;
  case RULE_LOGIC3: return care_logic3(instr->imm, operand);
  case RULE_LEFT: return care_shift(instr, operand, true, all);
  case RULE_RIGHT: return care_shift(instr, operand, false, all);
  case RULE_BELOW: return care_order(instr, operand, false, all);
  case RULE_ABOVE: return care_order(instr, operand, true, all);
  case RULE_INSERT: return operand != OPERAND_C && constant_of(instr, OPERAND_C, &value) ? care_insert(value, operand) & all : all;
  case RULE_PICK: return operand != OPERAND_C && constant_of(instr, OPERAND_C, &value) ? care_pick(value, operand) : all;
  case RULE_LOW24: return operand != OPERAND_C ? low_bits(24) : all;
  case RULE_NARROW: return (instr->mods & MOD_SAT) == 0 ? low_bits(type_info[info->d].bits) : all;
  case RULE_SIGN: return operand == OPERAND_C ? UINT64_C(1) << 31 : all;
  case RULE_AMOUNT: return operand == OPERAND_C ? 31 : all;
  default: return all;
  }
}
