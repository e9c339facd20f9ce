// Words to instructions. Total: whatever the bits are, the result says what the machine does (reference, sections 2 to 4, 7
// and 9). The literal rule (section 2.2): in LONG ALU words without address register, I[52] turns a register b into the
// number in its field, also where I[52] belongs to the field of b or c.
#include "sass/sass_internal.h"

static SassFormat format_of(uint64_t word) {
  if ((word & 2) != 0) return SASS_CONTROL;
  if ((word & 1) == 0) return SASS_HALF;
  return field_get(word, FIELD_MARKER) == MARKER_IMM ? SASS_IMM : SASS_LONG;
}

// Every format ends with a row that takes all words.
static unsigned find_row(SassFormat format, uint64_t word) {
  unsigned row = 0;
  while (sass_rows[row].format != format || (word & sass_rows[row].mask) != sass_rows[row].value) row++;
  return row;
}

bool layout_narrow(const Layout *layout, unsigned rule, uint64_t word) {
  switch (rule) {
  case WIDTH_16: return true;
  case WIDTH_BIT: return field_get(word, layout->wide) == 0;
  case WIDTH_TYPE: return (field_get(word, layout->type) & 1) == 0; // 16- and 8-bit types are even
  case WIDTH_MAD: return word >> 61 <= 2;
  default: return false;
  }
}

SassOperand register_operand(uint32_t field, bool narrow) {
  SassOperand operand = {.kind = SASS_GPR, .field = (uint8_t)field, .value = field};
  if (narrow) {
    operand.half = (field & 1) != 0 ? SASS_HIGH : SASS_LOW;
    operand.value = field >> 1;
  }
  operand.zero = field == SASS_ZERO_FIELD;
  return operand;
}

static SassOperand constant_operand(uint32_t index, bool narrow) {
  return (SassOperand){.kind = SASS_CONSTANT, .type = narrow ? SASS_U16 : SASS_U32, .value = index * (narrow ? 2 : 4)};
}

static SassOperand immediate_operand(uint32_t value) { return (SassOperand){.kind = SASS_IMMEDIATE, .value = value}; }

static unsigned log2_bytes(unsigned bytes) { return bytes == 4 ? 2 : bytes == 2 ? 1 : 0; }

static void decode_a(const Layout *layout, uint64_t word, SassInstr *instr) {
  if (layout->a.width == 0) return;
  if (layout->a_shared.width != 0 && field_get(word, layout->a_shared) != 0) {
    unsigned type = field_get(word, layout->a_type);
    uint32_t offset = field_get(word, layout->a_index) << log2_bytes(sass_type_bytes(type));
    instr->a = (SassOperand){.kind = SASS_SHARED, .type = (uint8_t)type, .value = offset};
  } else {
    uint32_t field = field_get(word, layout->a);
    if (layout->six_bits) field &= 63;
    instr->a = register_operand(field, layout_narrow(layout, layout->a_width, word));
  }
  instr->a.negate = field_get(word, layout->a_negate) != 0;
}

static bool c_is_constant(const Layout *layout, uint64_t word) {
  bool selected = field_get(word, layout->c_const) != 0;
  return selected && (!layout->one_selector || field_get(word, layout->b_const) != 0);
}

static bool b_is_constant(const Layout *layout, uint64_t word) {
  bool selected = field_get(word, layout->b_const) != 0;
  return selected && !(layout->one_selector && field_get(word, layout->c_const) != 0);
}

static void decode_b(const Layout *layout, uint64_t word, SassInstr *instr) {
  bool narrow = layout_narrow(layout, layout->b_width, word);
  if (layout->b_immediate.width != 0) {
    instr->b = immediate_operand(sass_immediate(word));
  } else if (layout->b.width == 0) {
    return;
  } else if (b_is_constant(layout, word)) {
    bool value_narrow = layout->b_width == WIDTH_VALUE && field_get(word, layout->wide) == 0;
    instr->b = constant_operand(field_get(word, layout->b_index), narrow || value_narrow);
  } else {
    instr->b = register_operand(field_get(word, layout->b), narrow);
    if (layout_literal(layout, word, instr->address)) {
      instr->b.kind = SASS_IMMEDIATE;
      instr->b.value = instr->b.field;
      instr->b.zero = false;
    }
  }
  instr->b.negate = field_get(word, layout->b_negate) != 0;
}

static void decode_c(const Layout *layout, uint64_t word, SassInstr *instr) {
  if (layout->c_is_d) {
    instr->c = register_operand(field_get(word, layout->d), false);
  } else if (layout->c.width == 0) {
    return;
  } else {
    uint32_t field = field_get(word, layout->c);
    uint32_t number = layout->six_bits ? field & 63 : field;
    instr->c = c_is_constant(layout, word) ? constant_operand(number, false)
                                           : register_operand(number, layout_narrow(layout, layout->c_width, word));
    instr->c.field = (uint8_t)(layout->six_bits && instr->b.kind != SASS_IMMEDIATE ? number : field);
  }
  instr->c.negate = field_get(word, layout->c_negate) != 0;
}

static void decode_d(const Layout *layout, uint64_t word, SassInstr *instr) {
  instr->write = layout->write;
  if (layout->d.width == 0) return;
  uint32_t field = field_get(word, layout->d);
  if (layout->write == SASS_WRITE_ADDRESS) {
    instr->d = (SassOperand){.kind = SASS_ADDRESS, .value = (field & 3) == 0 ? 4 : field & 3};
    return;
  }
  instr->d = register_operand(field, layout_narrow(layout, layout->d_width, word));
  if (field == SASS_DISCARD_FIELD) {
    instr->write = SASS_WRITE_DISCARD;
  } else if (instr->d.half != SASS_WHOLE) {
    instr->write = SASS_WRITE_GPR16;
  }
}

// Absolute values: I2I takes them of signed types when I[52:51] is 2, the float forms by one bit, FSET of both operands.
static void decode_absolute(const Layout *layout, uint64_t word, SassInstr *instr) {
  uint32_t bits = field_get(word, layout->absolute);
  if (layout->absolute.width == 2) {
    instr->a.absolute = bits == 2 && instr->is_signed;
  } else {
    instr->a.absolute = bits != 0;
    instr->b.absolute = bits != 0 && instr->action == SASS_DO_FLOAT_COMPARE;
  }
  uint32_t inverts = field_get(word, layout->inverts);
  instr->a.invert = (inverts & 1) != 0;
  instr->b.invert = (inverts & 2) != 0;
}

static uint16_t from_float_op(const SassInstr *instr, unsigned rounding) {
  static const uint16_t ops[4][2][2] = {
      // [rounding][signed][wide]
      {{OP_CVT_RNI_U16_F32, OP_CVT_RNI_U32_F32}, {OP_CVT_RNI_S16_F32, OP_CVT_RNI_S32_F32}},
      {{OP_CVT_RMI_U16_F32, OP_CVT_RMI_U32_F32}, {OP_CVT_RMI_S16_F32, OP_CVT_RMI_S32_F32}},
      {{OP_CVT_RPI_U16_F32, OP_CVT_RPI_U32_F32}, {OP_CVT_RPI_S16_F32, OP_CVT_RPI_S32_F32}},
      {{OP_CVT_RZI_U16_F32, OP_CVT_RZI_U32_F32}, {OP_CVT_RZI_S16_F32, OP_CVT_RZI_S32_F32}},
  };
  return ops[rounding & 3][instr->is_signed][!instr->narrow];
}

static uint16_t to_float_op(unsigned type, unsigned rounding) {
  static const uint16_t ops[8][4] = {
      {OP_CVT_RN_F32_U16, OP_CVT_RM_F32_U16, OP_CVT_RP_F32_U16, OP_CVT_RZ_F32_U16},
      {OP_CVT_RN_F32_U32, OP_CVT_RM_F32_U32, OP_CVT_RP_F32_U32, OP_CVT_RZ_F32_U32},
      {OP_CVT_RN_F32_U8, OP_CVT_RM_F32_U8, OP_CVT_RP_F32_U8, OP_CVT_RZ_F32_U8},
      {OP_CVT_RN_F32_U32, OP_CVT_RM_F32_U32, OP_CVT_RP_F32_U32, OP_CVT_RZ_F32_U32},
      {OP_CVT_RN_F32_S16, OP_CVT_RM_F32_S16, OP_CVT_RP_F32_S16, OP_CVT_RZ_F32_S16},
      {OP_CVT_RN_F32_S32, OP_CVT_RM_F32_S32, OP_CVT_RP_F32_S32, OP_CVT_RZ_F32_S32},
      {OP_CVT_RN_F32_S8, OP_CVT_RM_F32_S8, OP_CVT_RP_F32_S8, OP_CVT_RZ_F32_S8},
      {OP_CVT_RN_F32_U32, OP_CVT_RM_F32_U32, OP_CVT_RP_F32_U32, OP_CVT_RZ_F32_U32},
  };
  return ops[type & 7][rounding & 3];
}

static uint16_t convert_op(unsigned type) {
  static const uint16_t ops[8] = {OP_CVT_U32_U16, OP_MOV_B32, OP_CVT_U32_U8, OP_MOV_B32,
                                  OP_CVT_S32_S16, OP_MOV_B32, OP_CVT_S32_S8, OP_MOV_B32};
  return ops[type & 7];
}

static uint16_t compare_op(const SassInstr *instr) {
  static const uint16_t ops[2][2][8] = {
      // [signed][wide][select]; 0 and 7 are not compared
      {{OP_COUNT, OP_SETP_LT_U16, OP_SETP_EQ_B16, OP_SETP_LE_U16, OP_SETP_GT_U16, OP_SETP_NE_B16, OP_SETP_GE_U16, OP_COUNT},
       {OP_COUNT, OP_SETP_LT_U32, OP_SETP_EQ_B32, OP_SETP_LE_U32, OP_SETP_GT_U32, OP_SETP_NE_B32, OP_SETP_GE_U32, OP_COUNT}},
      {{OP_COUNT, OP_SETP_LT_S16, OP_SETP_EQ_B16, OP_SETP_LE_S16, OP_SETP_GT_S16, OP_SETP_NE_B16, OP_SETP_GE_S16, OP_COUNT},
       {OP_COUNT, OP_SETP_LT_S32, OP_SETP_EQ_B32, OP_SETP_LE_S32, OP_SETP_GT_S32, OP_SETP_NE_B32, OP_SETP_GE_S32, OP_COUNT}},
  };
  static const uint16_t floats[8] = {OP_COUNT,       OP_SETP_LT_F32,  OP_SETP_EQ_F32, OP_SETP_LE_F32,
                                     OP_SETP_GT_F32, OP_SETP_NEU_F32, OP_SETP_GE_F32, OP_COUNT};
  if (instr->action == SASS_DO_FLOAT_COMPARE) return floats[instr->select];
  return ops[instr->is_signed][!instr->narrow][instr->select];
}

static uint16_t logic_op(const SassInstr *instr) {
  static const uint16_t ops[4] = {OP_AND_B32, OP_OR_B32, OP_XOR_B32, OP_MOV_B32};
  return ops[instr->select & 3];
}

// The row of isa.def that does the arithmetic.
static uint16_t operation(const SassInstr *instr, const Layout *layout, uint64_t word) {
  unsigned rounding = field_get(word, layout->rounding);
  unsigned type = field_get(word, layout->type);
  switch (instr->action) {
  case SASS_DO_COMPARE:
  case SASS_DO_FLOAT_COMPARE: return compare_op(instr);
  case SASS_DO_LOGIC: return logic_op(instr);
  case SASS_DO_CONVERT: return convert_op(type);
  case SASS_DO_TO_FLOAT: return to_float_op(type, rounding);
  case SASS_DO_FROM_FLOAT: return from_float_op(instr, rounding);
  default: return sass_row_details[instr->row].ops[instr->is_signed || rounding == 3][!instr->narrow];
  }
}

static void decode_arithmetic(const Layout *layout, uint64_t word, SassInstr *instr) {
  instr->is_signed = field_get(word, layout->is_signed) != 0;
  instr->saturate = field_get(word, layout->saturate) != 0;
  instr->select = (uint8_t)field_get(word, layout->select);
  instr->narrow = layout->wide.width != 0 ? field_get(word, layout->wide) == 0 : layout_narrow(layout, layout->a_width, word);
  if (layout->a_width == WIDTH_MAD) {
    unsigned sub = (unsigned)(word >> 61);
    instr->is_signed = sub == 1 || sub == 2 || sub == 4 || sub == 5 || sub == 7;
    instr->saturate = sub == 2 || sub == 5;
  } else if (layout->a_width == WIDTH_TYPE) {
    unsigned type = field_get(word, layout->type);
    instr->is_signed = type >= 4 && type <= 6;
  }
  instr->op = operation(instr, layout, word);
}

static void decode_guard(const Layout *layout, uint64_t word, SassInstr *instr) {
  unsigned marker = field_get(word, FIELD_MARKER);
  instr->guard_condition = SASS_ALWAYS;
  if (instr->format == SASS_HALF || instr->format == SASS_IMM || instr->bytes == 4) return;
  instr->join = marker == MARKER_JOIN;
  instr->guard_register = (uint8_t)field_get(word, FIELD_GUARD_REGISTER);
  bool ignored = (layout->guard_ignored && marker != MARKER_JOIN) || instr->read == SASS_READ_NOP || marker == MARKER_IMM;
  if (!ignored) instr->guard_condition = (uint8_t)field_get(word, FIELD_GUARD_CONDITION);
  if (sass_condition_text[instr->guard_condition] == NULL) instr->guard_condition = 0; // as never true as the others
  bool unlooked = instr->guard_condition == SASS_ALWAYS || (instr->guard_condition == 0 && layout->guard_never);
  if (unlooked && !layout->carry) instr->guard_register = 0;
  if (instr->format != SASS_LONG || instr->read == SASS_READ_NOP) return;
  instr->sets_predicate = field_get(word, FIELD_SETS) != 0;
  instr->predicate = (uint8_t)field_get(word, FIELD_PREDICATE);
  instr->reads_carry = layout->carry && instr->action != SASS_DO_FROM_FLAGS;
}

static uint8_t decode_address(uint64_t word, SassFormat format) {
  unsigned number = (unsigned)(word >> 26 & 3);
  if (format == SASS_LONG && (word >> 34 & 1) != 0 && number == 0) number = 4; // there are four: 5 to 7 are 1 to 3
  return (uint8_t)number;
}

// Sizes of GLD and GST by I[55:53]; those that the machine does not know move one byte.
static void decode_global(uint64_t word, SassInstr *instr) {
  static const uint8_t bytes[8] = {1, 1, 2, 2, 1, 1, 4, 1};
  unsigned size = field_get(word, FIELD_STORE_SIZE);
  instr->access_bytes = bytes[size];
  instr->access_signed = size == 1 || size == 3;
  if ((word >> 52 & 1) != 0) instr->a = immediate_operand((uint32_t)(word >> 9 & 127) << log2_bytes(instr->access_bytes));
}

static void decode_shared_store(uint64_t word, SassInstr *instr) {
  static const uint8_t bytes[8] = {2, 4, 1, 1, 1, 1, 1, 1};
  unsigned size = field_get(word, FIELD_STORE_SIZE);
  instr->access_bytes = bytes[size];
  instr->shared_offset = field_get(word, FIELD_STORE_INDEX) << log2_bytes(instr->access_bytes);
  if (instr->access_bytes == 1) instr->c = register_operand(instr->c.field, false);
}

static void decode_addressing(uint64_t word, SassInstr *instr) {
  uint32_t amount = field_get(word, FIELD_ADA_AMOUNT);
  switch (instr->action) {
  case SASS_DO_LOAD_GLOBAL:
  case SASS_DO_STORE_GLOBAL: decode_global(word, instr); break;
  case SASS_DO_STORE_SHARED: decode_shared_store(word, instr); break;
  case SASS_DO_TO_ADDRESS:
    instr->b = immediate_operand(instr->b.field);
    if (instr->b.value != 0) instr->exec = SASS_EXEC_INTEGER;
    break;
  case SASS_DO_ADD_ADDRESS: instr->b = immediate_operand((amount >> 13 & 1) != 0 ? 0 - amount : amount); break;
  default: break;
  }
  if (instr->action == SASS_DO_ADD_ADDRESS || instr->action == SASS_DO_FROM_ADDRESS) {
    if (instr->address == 0) instr->address = 4;
    instr->a = (SassOperand){.kind = SASS_ADDRESS, .value = instr->address};
  }
}

static void decode_reads(SassInstr *instr) {
  const SassOperand *operands[] = {&instr->a, &instr->b, &instr->c};
  unsigned most = sass_row_details[instr->row].reads;
  for (unsigned i = 0; i < COUNT_OF(operands) && instr->gpr_reads < most; i++) {
    if (operands[i]->kind != SASS_GPR) continue;
    instr->gpr_reads++;
    instr->zero_reads = (uint8_t)(instr->zero_reads + operands[i]->zero);
  }
  // A shared store through an address register reads R0 as well.
  if (instr->action == SASS_DO_STORE_SHARED && instr->address != 0) instr->gpr_reads++;
}

// After WRITE, A4 grows by the destination field, scaled by the size of the access.
static void decode_increment(uint64_t word, SassInstr *instr) {
  if (instr->format != SASS_LONG || instr->read == SASS_READ_NOP || field_get(word, FIELD_INCREMENT) == 0) return;
  unsigned bytes = instr->access_bytes != 0 ? instr->access_bytes : 4;
  instr->increment = (uint32_t)(word >> 2 & 127) << log2_bytes(bytes);
}

// An address register that no operand uses, but which switches the literal rule off, has no spelling.
static bool has_text(const SassInstr *instr, const Layout *layout, uint64_t word) {
  if (sass_rows[instr->row].mnemonic[0] == '\0' || instr->increment != 0) return false;
  if (instr->format == SASS_CONTROL && instr->bytes == 4) return false;
  bool silent = instr->address != 0 && instr->a.kind != SASS_SHARED && !layout->uses_address;
  bool matters = layout->literals && !layout->literal_in_text && !layout->six_bits && instr->b.kind == SASS_GPR && (word >> 52 & 1) != 0;
  return !(silent && matters);
}

static void decode_operands(const Layout *layout, uint64_t word, SassInstr *instr) {
  decode_a(layout, word, instr);
  decode_b(layout, word, instr);
  decode_c(layout, word, instr);
  decode_d(layout, word, instr);
  if (instr->row == SASS_MVI) instr->a = instr->b, instr->b = (SassOperand){0};
  if (instr->row == SASS_MVC) {
    instr->a = constant_operand((uint32_t)(word >> 9 & 127), false);
    instr->a.type = (uint8_t)field_get(word, layout->type);
  }
}

bool sass_decode(uint32_t low, uint32_t high, SassInstr *instr) {
  uint64_t word = (low & 1) != 0 ? (uint64_t)high << 32 | low : low;
  SassFormat format = format_of(word);
  unsigned row = find_row(format, word);
  const Layout *layout = row_layout(row);
  const RowDetail *detail = &sass_row_details[row];
  *instr = (SassInstr){
      .low = low,
      .high = (low & 1) != 0 ? high : 0,
      .row = (uint16_t)row,
      .format = (uint8_t)format,
      .bytes = (uint8_t)sass_word_bytes(low),
      .action = (uint8_t)sass_rows[row].action,
      .read = detail->read,
      .exec = detail->exec,
  };
  decode_guard(layout, word, instr);
  if (format == SASS_CONTROL) {
    instr->write = layout->write;
    if (layout->texts[0] == TEXT_TARGET) instr->target = field_get(word, FIELD_TARGET);
    instr->op = OP_COUNT;
  } else {
    instr->address = decode_address(word, format);
    decode_arithmetic(layout, word, instr);
    decode_operands(layout, word, instr);
    decode_absolute(layout, word, instr);
    decode_addressing(word, instr);
    decode_reads(instr);
    decode_increment(word, instr);
  }
  instr->legal = has_text(instr, layout, word);
  return instr->legal;
}
