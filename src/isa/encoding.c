// The binary form of an instruction (layout in isa.h) and which operands a row uses.
// Invariant: every word that decodes is canonical, so encoding it again gives the same word; a
// flipped bit in an instruction word is another legal instruction or none at all.
#include "isa/isa.h"

// ---- What a row uses -----------------------------------------------------------------------------
static bool is_memory(const OpInfo *row) { return row->space != SPACE_NONE; }

static bool has_address_pair(const OpInfo *row) {
  if (row->kind == KIND_ATOMIC) return row->space == SPACE_GENERIC || row->space == SPACE_GLOBAL;
  return is_memory(row) && type_info[row->a].registers == 2;
}

uint16_t op_legal_mods(Op op) {
  const OpInfo *row = &op_info[op];
  unsigned mods = 0;
  if (row->flags & IT_FLOAT) mods |= MOD_FTZ;
  if (row->flags & IT_SAT) mods |= MOD_SAT;
  if (row->flags & IT_MEMBER_MASK) mods |= MOD_FULL_MASK;
  if (is_memory(row)) mods |= MOD_VOLATILE | MOD_CACHE_GLOBAL | MOD_STREAMING | MOD_ORDERED;
  if (row->kind == KIND_LOAD) mods |= MOD_NON_COHERENT;
  if (row->kind == KIND_LOAD || row->kind == KIND_STORE) mods |= MOD_VECTOR_MASK;
  if (has_address_pair(row)) mods |= MOD_ADDRESS32;
  return (uint16_t)mods;
}

unsigned mods_vector_count(uint16_t mods) {
  unsigned count = 1u << ((mods & MOD_VECTOR_MASK) >> MOD_VECTOR_SHIFT);
  return count > 4 ? 4 : count;
}

static bool is_vector_kind(Kind kind) { return kind == KIND_LOAD || kind == KIND_STORE; }

static unsigned d_count(const OpInfo *row, uint16_t mods) {
  if (type_info[row->d].registers == 0) return 0;
  if (row->kind == KIND_TEXTURE) return 4;
  return is_vector_kind(row->kind) ? mods_vector_count(mods) : 1;
}

static unsigned address_registers(const OpInfo *row, uint16_t mods) { return has_address_pair(row) && !(mods & MOD_ADDRESS32) ? 2 : 1; }

// The operand (OPERAND_A..OPERAND_C) of the member mask; 0 when the row has none.
static unsigned mask_operand(const OpInfo *row) {
  if (!(row->flags & IT_MEMBER_MASK)) return 0;
  return row->c != TYPE_none ? OPERAND_C : row->b != TYPE_none ? OPERAND_B : OPERAND_A;
}

static OperandUse source_use(const OpInfo *row, unsigned operand, uint16_t mods) {
  TypeId type = operand == OPERAND_A ? row->a : operand == OPERAND_B ? row->b : row->c;
  unsigned registers = type_info[type].registers;
  if (operand == OPERAND_A && is_memory(row)) registers = address_registers(row, mods);
  return (OperandUse){(uint8_t)operand, (uint8_t)registers, type == TYPE_pred, false};
}

static bool source_present(const OpInfo *row, unsigned operand, uint16_t mods) {
  TypeId type = operand == OPERAND_A ? row->a : operand == OPERAND_B ? row->b : row->c;
  return type != TYPE_none && !((mods & MOD_FULL_MASK) && mask_operand(row) == operand);
}

static bool reads_ps(const OpInfo *row) { return row->flags & (IT_PRED_IN | IT_CARRY_IN); }

unsigned op_operands(Op op, uint16_t mods, OperandSelect select, OperandUse uses[MAX_OPERANDS]) {
  const OpInfo *row = &op_info[op];
  unsigned count = 0;
  (void)select; // an operand taken by imm is listed too; its register field rests at REG_ZERO
  bool d_written = !(row->flags & IT_DATA_IN);
  for (unsigned i = 0; i < d_count(row, mods); i++)
    uses[count++] = (OperandUse){(uint8_t)(OPERAND_D + i), type_info[row->d].registers, false, d_written};
  for (unsigned operand = OPERAND_A; operand <= OPERAND_C; operand++)
    if (source_present(row, operand, mods)) uses[count++] = source_use(row, operand, mods);
  if (row->flags & (IT_PRED_OUT | IT_CARRY_OUT)) uses[count++] = (OperandUse){OPERAND_PD, 0, true, true};
  if (row->flags & IT_PRED_OUT) uses[count++] = (OperandUse){OPERAND_PD + 1, 0, true, true};
  if (reads_ps(row)) uses[count++] = (OperandUse){OPERAND_PS, 0, true, false};
  uses[count++] = (OperandUse){OPERAND_GUARD, 0, true, false};
  return count;
}

// ---- Encoding --------------------------------------------------------------------------------------
Instr instr_rest(Op op) {
  Instr instr = {.op = (uint16_t)op, .guard = PRED_TRUE, .ps = PRED_TRUE};
  memset(instr.pd, PRED_TRUE, sizeof instr.pd);
  memset(instr.d, REG_ZERO, sizeof instr.d);
  instr.a = op_info[op].a == TYPE_pred ? PRED_TRUE : REG_ZERO;
  instr.b = instr.c = REG_ZERO;
  return instr;
}

InstrWord instr_encode(const Instr *instr) {
  const OpInfo *row = &op_info[instr->op];
  uint8_t ps = (uint8_t)((instr->ps & 15) | (instr->ps_negated ? 16 : 0));
  uint8_t c = instr->c, d[4];
  memcpy(d, instr->d, sizeof d);
  if (reads_ps(row) && row->c == TYPE_none) c = ps;
  if (reads_ps(row) && row->c != TYPE_none) d[1] = ps;
  if (row->flags & IT_BRANCH)
    for (unsigned i = 0; i < 3; i++) d[1 + i] = (uint8_t)(instr->reconverge >> 8 * i);
  InstrWord word = {0, 0};
  word.low = (instr->op & 0xFFFu) | (uint64_t)(instr->guard & 15) << 12 | (uint64_t)instr->guard_negated << 16 |
             (uint64_t)(instr->select & 7) << 17 | (uint64_t)(instr->mods & 0xFFFu) << 20 | (uint64_t)d[0] << 32 |
             (uint64_t)instr->a << 40 | (uint64_t)instr->b << 48 | (uint64_t)c << 56;
  word.high = instr->imm | (uint64_t)d[1] << 32 | (uint64_t)d[2] << 40 | (uint64_t)d[3] << 48 | (uint64_t)(instr->pd[0] & 15) << 56 |
              (uint64_t)(instr->pd[1] & 15) << 60;
  return word;
}

// ---- Decoding --------------------------------------------------------------------------------------
static uint8_t *register_field(Instr *instr, unsigned operand) {
  if (operand < OPERAND_A) return &instr->d[operand];
  return operand == OPERAND_A ? &instr->a : operand == OPERAND_B ? &instr->b : &instr->c;
}

static bool mods_legal(const OpInfo *row, Op op, uint16_t mods) {
  if (mods & ~op_legal_mods(op)) return false;
  return !is_vector_kind(row->kind) || (mods & MOD_VECTOR_MASK) >> MOD_VECTOR_SHIFT <= 2;
}

// imm can stand for an operand where it has no other meaning and the operand holds a value.
static bool select_legal(const OpInfo *row, const Instr *instr) {
  if (instr->select == SELECT_REGISTERS) return true;
  if (instr->select >= SELECT_COUNT || row->flags & IT_IMM) return false;
  if (row->kind != KIND_ALU && row->kind != KIND_WARP && row->kind != KIND_BARRIER && row->kind != KIND_SYSTEM) return false;
  bool is_const = instr->select >= SELECT_CONST_A;
  unsigned first = is_const ? SELECT_CONST_A : SELECT_IMM_A;
  unsigned operand = OPERAND_A + (instr->select - first);
  if (!source_present(row, operand, instr->mods)) return false;
  OperandUse use = source_use(row, operand, instr->mods);
  if (use.predicate || use.registers == 0 || use.registers > 2) return false;
  return !is_const || instr->imm >> 24 < BANK_COUNT;
}

static bool imm_legal(const OpInfo *row, const Instr *instr) {
  if (instr->select != SELECT_REGISTERS) return true;
  if (row->kind == KIND_SREG) return instr->imm < SREG_COUNT;
  if (is_memory(row) || row->kind == KIND_MATRIX || row->kind == KIND_TEXTURE || row->flags & IT_IMM) return true;
  if (row->flags & (IT_BRANCH | IT_CALLS) && !(row->flags & IT_INDIRECT)) return true;
  return instr->imm == 0;
}

static bool selected(const Instr *instr, unsigned operand) {
  unsigned first = instr->select >= SELECT_CONST_A ? SELECT_CONST_A : SELECT_IMM_A;
  return instr->select != SELECT_REGISTERS && operand == OPERAND_A + (instr->select - first);
}

// Registers in range where the row uses them, at rest everywhere else.
static bool registers_legal(Instr *instr) {
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  bool used[OPERAND_C + 1] = {false};
  for (unsigned i = 0; i < count; i++) {
    if (uses[i].operand > OPERAND_C) continue;
    uint8_t number = *register_field(instr, uses[i].operand);
    if (selected(instr, uses[i].operand)) continue;
    used[uses[i].operand] = true;
    if (uses[i].predicate && number > PRED_TRUE) return false;
    if (!uses[i].predicate && number != REG_ZERO && number + uses[i].registers > MAX_REGISTERS) return false;
  }
  for (unsigned operand = 0; operand <= OPERAND_C; operand++)
    if (!used[operand] && *register_field(instr, operand) != REG_ZERO) return false;
  return true;
}

static bool predicates_legal(const OpInfo *row, const Instr *instr) {
  if (!(row->flags & (IT_PRED_OUT | IT_CARRY_OUT)) && instr->pd[0] != PRED_TRUE) return false;
  return row->flags & IT_PRED_OUT || instr->pd[1] == PRED_TRUE;
}

// Takes ps out of the operand that carries it; the operand then rests.
static bool take_ps(const OpInfo *row, Instr *instr) {
  if (!reads_ps(row)) return true;
  uint8_t *field = row->c == TYPE_none ? &instr->c : &instr->d[1];
  if (*field > 31) return false;
  instr->ps = *field & 15;
  instr->ps_negated = *field >> 4;
  *field = REG_ZERO;
  return true;
}

static void take_reconverge(const OpInfo *row, Instr *instr) {
  if (!(row->flags & IT_BRANCH)) return;
  instr->reconverge = instr->d[1] | (uint32_t)instr->d[2] << 8 | (uint32_t)instr->d[3] << 16;
  memset(instr->d + 1, REG_ZERO, 3);
}

bool instr_decode(InstrWord word, Instr *instr) {
  unsigned op = word.low & 0xFFF;
  if (op >= OP_COUNT) return false;
  const OpInfo *row = &op_info[op];
  *instr = (Instr){
      .op = (uint16_t)op,
      .mods = (uint16_t)(word.low >> 20 & 0xFFF),
      .select = (uint8_t)(word.low >> 17 & 7),
      .guard = (uint8_t)(word.low >> 12 & 15),
      .guard_negated = word.low >> 16 & 1,
      .pd = {(uint8_t)(word.high >> 56 & 15), (uint8_t)(word.high >> 60)},
      .ps = PRED_TRUE,
      .d = {(uint8_t)(word.low >> 32), (uint8_t)(word.high >> 32), (uint8_t)(word.high >> 40), (uint8_t)(word.high >> 48)},
      .a = (uint8_t)(word.low >> 40),
      .b = (uint8_t)(word.low >> 48),
      .c = (uint8_t)(word.low >> 56),
      .imm = (uint32_t)word.high,
  };
  if (!mods_legal(row, (Op)op, instr->mods) || !select_legal(row, instr) || !imm_legal(row, instr)) return false;
  if (!take_ps(row, instr) || !predicates_legal(row, instr)) return false;
  take_reconverge(row, instr);
  return registers_legal(instr);
}
