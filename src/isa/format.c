// Instructions as text, for dumps and traces: "@!p1 add.rn.ftz.f32 r4, r5, c[0][8]". Wide values show
// their first and last register, "r4:r5"; RZ and PT are the zero register and the true predicate.
#include "isa/isa.h"

// Where a modifier goes: before the first part of the spelling that is a type.
static bool is_type_part(const char *part, size_t length) {
  if (length >= 2 && strchr("usbf", part[0]) && part[1] >= '0' && part[1] <= '9') return true;
  static const char *const others[] = {"bf16", "bf16x2", "pred", "tf32", "e4m3x2", "e5m2x2"};
  for (size_t i = 0; i < COUNT_OF(others); i++)
    if (strlen(others[i]) == length && memcmp(part, others[i], length) == 0) return true;
  return false;
}

static size_t type_position(const char *text) {
  size_t length = strlen(text);
  for (size_t dot = 0; dot < length; dot++) {
    if (text[dot] != '.') continue;
    size_t part = strcspn(text + dot + 1, ".");
    if (is_type_part(text + dot + 1, part)) return dot;
  }
  return length;
}

static void add_mods(const Instr *instr, const OpInfo *row, Text *out) {
  if (row->flags & IT_FLOAT && instr->mods & MOD_FTZ) text_add(out, ".ftz");
  if (row->flags & IT_SAT && instr->mods & MOD_SAT) text_add(out, ".sat");
  if (row->space == SPACE_NONE) return;
  static const struct {
    uint16_t mod;
    const char *text;
  } names[] = {
      {MOD_VOLATILE, ".volatile"}, {MOD_ORDERED, ".ordered"}, {MOD_CACHE_GLOBAL, ".cg"}, {MOD_STREAMING, ".cs"}, {MOD_NON_COHERENT, ".nc"}};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (instr->mods & names[i].mod) text_add(out, "%s", names[i].text);
  bool is_vector = row->kind == KIND_LOAD || row->kind == KIND_STORE;
  if (is_vector && mods_vector_count(instr->mods) > 1) text_add(out, ".v%u", mods_vector_count(instr->mods));
}

static void add_opcode(const Instr *instr, const OpInfo *row, Text *out) {
  size_t position = type_position(row->text);
  text_add(out, "%.*s", (int)position, row->text);
  add_mods(instr, row, out);
  text_add(out, "%s", row->text + position);
}

static void add_register(unsigned number, unsigned registers, Text *out) {
  if (number == REG_ZERO) text_add(out, "rz");
  else if (registers > 1) text_add(out, "r%u:r%u", number, number + registers - 1);
  else text_add(out, "r%u", number);
}

static void add_predicate(unsigned number, bool negated, Text *out) {
  if (number == PRED_TRUE) text_add(out, "%spt", negated ? "!" : "");
  else text_add(out, "%sp%u", negated ? "!" : "", number);
}

static bool is_selected(const Instr *instr, unsigned operand, unsigned first) {
  return instr->select >= first && instr->select < first + 3 && operand == OPERAND_A + (instr->select - first);
}

static void add_source(const Instr *instr, const OpInfo *row, OperandUse use, Text *out) {
  uint8_t number = use.operand == OPERAND_A ? instr->a : use.operand == OPERAND_B ? instr->b : instr->c;
  if (is_selected(instr, use.operand, SELECT_IMM_A)) {
    text_add(out, "0x%x", instr->imm);
  } else if (is_selected(instr, use.operand, SELECT_CONST_A)) {
    text_add(out, "c[%u][0x%x]", instr->imm >> 24, instr->imm & 0xFFFFFF);
  } else if (use.predicate) {
    add_predicate(number, false, out);
  } else if (use.operand == OPERAND_A && row->space != SPACE_NONE) {
    text_add(out, "[");
    add_register(number, use.registers, out);
    if (instr->imm && row->kind != KIND_MATRIX) text_add(out, "%+d", (int32_t)instr->imm);
    text_add(out, "]");
  } else {
    add_register(number, use.registers, out);
  }
}

static void add_operand(const Instr *instr, const OpInfo *row, OperandUse use, Text *out) {
  if (use.operand < OPERAND_A) add_register(instr->d[use.operand], use.registers, out);
  else if (use.operand <= OPERAND_C) add_source(instr, row, use, out);
  else if (use.operand == OPERAND_PS) add_predicate(instr->ps, instr->ps_negated, out);
  else add_predicate(instr->pd[use.operand - OPERAND_PD], false, out);
}

// What the imm field means when no operand takes it and it is no address offset.
static void add_imm(const Instr *instr, const OpInfo *row, const char *separator, Text *out) {
  if (row->kind == KIND_SREG) {
    if (instr->imm < SREG_COUNT) text_add(out, "%s%s", separator, sreg_info[instr->imm].text);
  } else if (row->flags & (IT_BRANCH | IT_CALLS)) {
    if (!(row->flags & IT_INDIRECT)) text_add(out, "%s%u", separator, instr->imm);
    if (row->flags & IT_BRANCH && instr->reconverge != NO_RECONVERGE) text_add(out, " (meet at %u)", instr->reconverge);
  } else if (row->kind == KIND_MATRIX || row->kind == KIND_TEXTURE || row->flags & IT_IMM) {
    text_add(out, "%s0x%x", separator, instr->imm);
  }
}

void instr_format(const Instr *instr, Text *out) {
  const OpInfo *row = &op_info[instr->op];
  if (instr->guard != PRED_TRUE || instr->guard_negated) {
    text_add(out, "@");
    add_predicate(instr->guard, instr->guard_negated, out);
    text_add(out, " ");
  }
  add_opcode(instr, row, out);
  OperandUse uses[MAX_OPERANDS];
  unsigned count = op_operands((Op)instr->op, instr->mods, (OperandSelect)instr->select, uses);
  // Written operands first, as PTX has it: d, then predicates; then the sources (stores: the address first).
  const char *separator = " ";
  for (unsigned pass = 0; pass < 3; pass++) {
    for (unsigned i = 0; i < count; i++) {
      if (uses[i].operand == OPERAND_GUARD) continue;
      bool is_stored_data = !uses[i].written && uses[i].operand < OPERAND_A;
      if (pass != (uses[i].written ? 0u : is_stored_data ? 2u : 1u)) continue;
      bool is_spare = uses[i].operand == OPERAND_PD + 1 && instr->pd[1] == PRED_TRUE;
      if (is_spare) continue;
      text_add(out, "%s", separator);
      add_operand(instr, row, uses[i], out);
      separator = ", ";
    }
  }
  add_imm(instr, row, separator, out);
}
