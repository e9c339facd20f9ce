// Operands: PTX registers to virtual registers, literals and known constants to immediate and
// constant-bank operands, names to addresses.
#include "ptx/lower.h"

unsigned type_width(PtxType type) {
  uint32_t bits = ptx_type_bits(type);
  if (type == PTX_PRED) return 0;
  return bits <= 32 ? 1 : bits / 32;
}

Vref vref_part(Vref ref, unsigned part) {
  if (ref.vreg == VREG_NONE) return ref;
  return (Vref){ref.vreg, (uint8_t)(ref.part + part)};
}

Value value_of_vref(Vref ref, unsigned width) { return (Value){.in_register = true, .ref = ref, .width = (uint8_t)width}; }

Value value_of_bits(uint64_t bits) { return (Value){.fact = {.kind = FACT_IMMEDIATE, .bits = bits}}; }

// ---- Registers ---------------------------------------------------------------------------------
Vref register_ref(Fn *fn, uint32_t reg, unsigned element) {
  RegisterState *state = &fn->registers[reg];
  if (state->ref.vreg == VREG_NONE) {
    uint32_t vector = fn->ptx->registers.items[reg].vector;
    state->ref = VREF(temp(fn, state->width));
    for (uint32_t i = 1; i < vector; i++) (void)temp(fn, state->width);
  }
  if (!element) return state->ref;
  return (Vref){state->ref.vreg + element, 0};
}

static unsigned operand_element(const PtxOperand *operand) { return operand->part ? operand->part - 1u : 0; }

const RegisterState *operand_state(const Fn *fn, const PtxOperand *operand) {
  return operand->kind == PTX_REG ? &fn->registers[operand->reg] : NULL;
}

static bool wrong_width(Fn *fn, const PtxOperand *operand, unsigned width) {
  const PtxRegister *reg = &fn->ptx->registers.items[operand->reg];
  if (width == 0) {
    return complain(fn, operand->place, "'%.*s' is a .%s register, but a predicate is needed here", (int)reg->name.length, reg->name.at,
                    ptx_type_text(reg->type));
  }
  return complain(fn, operand->place, "'%.*s' is a .%s register, but a value of %u bits is needed here", (int)reg->name.length,
                  reg->name.at, ptx_type_text(reg->type), 32 * width);
}

bool write_register(Fn *fn, const PtxOperand *operand, unsigned width, Vref *ref) {
  *ref = VREF_NONE;
  if (operand->kind == PTX_SINK) return true;
  if (operand->kind != PTX_REG) return complain(fn, operand->place, "the destination must be a register");
  if (fn->registers[operand->reg].width != width) return wrong_width(fn, operand, width);
  *ref = register_ref(fn, operand->reg, operand_element(operand));
  return true;
}

bool write_predicate(Fn *fn, const PtxOperand *operand, Vref *ref) { return write_register(fn, operand, 0, ref); }

bool read_predicate(Fn *fn, const PtxOperand *operand, Value *value) {
  if (operand->kind == PTX_SREG_OPERAND && slice_is(operand->text, "%is_explicit_cluster")) {
    Vref word = VREF(temp(fn, 1)), holds = VREF(temp(fn, 0));
    MirInstr *read = emit(fn, OP_S2R);
    read->d[0] = word;
    read->imm = SREG_IS_EXPLICIT_CLUSTER;
    Value given = value_of_vref(word, 1), zero = value_of_bits(0);
    emit_alu(fn, OP_SETP_NE_B32, VREF_NONE, &given, &zero, NULL)->pd[0] = holds;
    *value = (Value){.in_register = true, .ref = holds, .negated = operand->negated};
    return true;
  }
  if (operand->kind == PTX_INT) {
    *value = (Value){.in_register = true, .ref = VREF_NONE, .negated = !operand->bits != operand->negated};
    return true;
  }
  if (operand->kind != PTX_REG) return complain(fn, operand->place, "a predicate is needed here");
  if (fn->registers[operand->reg].width != 0) return wrong_width(fn, operand, 0);
  *value = (Value){.in_register = true, .ref = register_ref(fn, operand->reg, 0), .negated = operand->negated};
  return true;
}

// ---- Literals ----------------------------------------------------------------------------------
bool operand_is_literal(const PtxOperand *operand) {
  return operand->kind == PTX_INT || operand->kind == PTX_FLOAT32 || operand->kind == PTX_FLOAT64;
}

static uint64_t float_literal(const PtxOperand *operand, PtxType type) {
  if (type == PTX_F32 && operand->kind == PTX_FLOAT64) return bits_of_f32((float)f64_of(operand->bits));
  if (type == PTX_F64 && operand->kind == PTX_FLOAT32) return bits_of_f64((double)f32_of((uint32_t)operand->bits));
  return operand->bits;
}

uint64_t literal_bits(const PtxOperand *operand, PtxType type) {
  uint64_t bits = operand->kind == PTX_INT ? operand->bits : float_literal(operand, type);
  uint32_t width = ptx_type_bits(type);
  return width && width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

// ---- Names as values ------------------------------------------------------------------------------
bool variable_home(Fn *fn, const PtxOperand *operand, Home *home) {
  const PtxVariable *variable = link_variable(fn->lower, fn->module, operand->variable);
  const LinkedFunction *linked = &fn->lower->functions.items[fn->function];
  if (home_find(&fn->homes, variable, home) || home_find(&linked->shared_homes, variable, home) ||
      home_find(&fn->lower->homes, variable, home)) {
    return true;
  }
  if (variable->space == PTX_SPACE_SHARED && variable->is_array && variable->count == 0) {
    *home = (Home){.kind = HOME_SHARED, .offset = (uint32_t)align_up(fn->mir->shared_bytes, 16)};
    return true;
  }
  return complain(fn, operand->place, "'%.*s' has no address here", (int)operand->text.length, operand->text.at);
}

static Value frame_address(Fn *fn, uint32_t offset, unsigned width) {
  VregId low = temp(fn, 1);
  MirInstr *add = emit(fn, OP_ADD_B32);
  add->d[0] = VREF(low);
  add->a = VREF(fn->mir->frame_pointer);
  add->select = SELECT_IMM_B;
  add->imm = offset;
  if (width == 1) return value_of_vref(VREF(low), 1);
  VregId wide = temp(fn, 2);
  Value low_value = value_of_vref(VREF(low), 1), zero = value_of_bits(0);
  move_value(fn, false, VREF(wide), 1, &low_value);
  move_value(fn, false, (Vref){wide, 1}, 1, &zero);
  return value_of_vref(VREF(wide), 2);
}

static bool function_value(Fn *fn, const PtxOperand *operand, Value *value) {
  uint32_t function;
  if (!link_function(fn->lower, fn->module, operand->text, &function)) {
    return complain(fn, operand->place, "unknown name '%.*s'", (int)operand->text.length, operand->text.at);
  }
  *value = (Value){.fact = {FACT_CONSTANT, 0, (uint32_t)BANK_SYMBOL << 24 | 8 * function_symbol(fn->lower, function)}};
  return true;
}

bool name_value(Fn *fn, const PtxOperand *operand, unsigned width, Value *value) {
  if (!operand->variable) return function_value(fn, operand, value);
  Home home;
  if (!variable_home(fn, operand, &home)) return false;
  uint64_t number = (uint64_t)home.offset + (uint64_t)operand->addend;
  switch (home.kind) {
  case HOME_SYMBOL:
    *value = (Value){.fact = {FACT_CONSTANT, 0, (uint32_t)BANK_SYMBOL << 24 | 8 * home.symbol}};
    if (operand->addend) {
      VregId sum = temp(fn, width);
      Value addend = value_of_bits((uint64_t)operand->addend);
      emit_alu(fn, width == 2 ? row(fn, "add.b64") : OP_ADD_B32, VREF(sum), value, &addend, NULL);
      *value = value_of_vref(VREF(sum), width);
    }
    return true;
  case HOME_FRAME:
    frame_pointer(fn);
    *value = frame_address(fn, (uint32_t)number, width);
    return true;
  case HOME_ARGUMENT:
    frame_pointer(fn);
    *value = frame_address(fn, (uint32_t)number + MIR_ARGUMENTS, width);
    return true;
  default: *value = value_of_bits(number); return true;
  }
}

// ---- Reading -----------------------------------------------------------------------------------
static bool special_register(Slice text, SpecialRegister *number) {
  for (unsigned i = 0; i < SREG_COUNT; i++) {
    if (slice_is(text, sreg_info[i].text)) {
      *number = (SpecialRegister)i;
      return true;
    }
  }
  // Registers of tools that we have not read 0.
  *number = SREG_TOTAL_SMEM_SIZE;
  if (slice_is(text, "%aggr_smem_size")) return true;
  *number = SREG_ZERO;
  return slice_starts(text, "%envreg") || slice_starts(text, "%pm") || slice_starts(text, "%reserved");
}

static bool read_special(Fn *fn, const PtxOperand *operand, unsigned width, Value *value) {
  SpecialRegister number;
  if (!special_register(operand->text, &number)) {
    return complain(fn, operand->place, "unsupported special register '%.*s'", (int)operand->text.length, operand->text.at);
  }
  bool wide = number == SREG_CLOCK64 || number == SREG_GLOBALTIMER || (number == SREG_GRIDID && width == 2);
  bool runs = number == SREG_CLOCK || number == SREG_CLOCK_HI || number == SREG_CLOCK64 || number == SREG_GLOBALTIMER ||
              number == SREG_GLOBALTIMER_LO || number == SREG_GLOBALTIMER_HI;
  Op narrow_op = runs ? OP_S2R_CLOCK : OP_S2R, wide_op = runs ? OP_S2R_CLOCK64 : OP_S2R_U64;
  VregId d = temp(fn, wide ? 2 : 1);
  MirInstr *instr = emit(fn, wide ? wide_op : narrow_op);
  instr->d[0] = VREF(d);
  instr->imm = (uint32_t)number;
  *value = value_of_vref(VREF(d), wide ? 2 : 1);
  if (width == 2 && !wide) {
    VregId both = temp(fn, 2);
    Value zero = value_of_bits(0);
    move_value(fn, false, VREF(both), 1, value);
    move_value(fn, false, (Vref){both, 1}, 1, &zero);
    *value = value_of_vref(VREF(both), 2);
  }
  if (width == 1) value->width = 1;
  return true;
}

bool read_value(Fn *fn, const PtxOperand *operand, PtxType type, Value *value) {
  switch (operand->kind) {
  case PTX_REG: {
    const RegisterState *state = &fn->registers[operand->reg];
    if (operand->negated) return complain(fn, operand->place, "a negated operand is not allowed here");
    *value = (Value){.in_register = true, .width = state->width, .bits_wide = state->bits, .fact = state->fact};
    value->ref = register_ref(fn, operand->reg, operand_element(operand));
    return true;
  }
  case PTX_INT:
  case PTX_FLOAT32:
  case PTX_FLOAT64: *value = value_of_bits(literal_bits(operand, type)); return true;
  case PTX_SREG_OPERAND: return read_special(fn, operand, type_width(type), value);
  case PTX_NAME: return name_value(fn, operand, type_width(type), value);
  case PTX_SINK: *value = value_of_bits(0); return true;
  default: return complain(fn, operand->place, "a register or a constant is needed here");
  }
}

void move_value(Fn *fn, bool guarded, Vref d, unsigned width, const Value *value) {
  uint32_t imm;
  if (width == 2 && !value->in_register && value->fact.kind == FACT_IMMEDIATE && !imm_fits(TYPE_u64, value->fact.bits, &imm)) {
    Value low = value_of_bits((uint32_t)value->fact.bits), high = value_of_bits(value->fact.bits >> 32);
    move_value(fn, guarded, d, 1, &low);
    move_value(fn, guarded, vref_part(d, 1), 1, &high);
    return;
  }
  (guarded ? emit_alu_guarded : emit_alu)(fn, width == 2 ? OP_MOV_B64 : OP_MOV_B32, d, value, NULL, NULL);
}

Vref value_register(Fn *fn, const Value *value, unsigned width) {
  if (value->in_register) return value->ref;
  if (value->fact.kind == FACT_IMMEDIATE && value->fact.bits == 0) return VREF_NONE;
  VregId d = temp(fn, width);
  move_value(fn, false, VREF(d), width, value);
  return VREF(d);
}

bool read_register(Fn *fn, const PtxOperand *operand, PtxType type, unsigned width, Vref *ref) {
  Value value;
  *ref = VREF_NONE;
  if (!read_value(fn, operand, type, &value)) return false;
  if (operand->kind == PTX_REG && value.width != width && !(value.width > width && width)) return wrong_width(fn, operand, width);
  *ref = value_register(fn, &value, width);
  return true;
}

void set_fact(Fn *fn, const PtxOperand *operand, Fact fact) {
  if (operand->kind != PTX_REG || operand->part || fn->instr->has_guard) return;
  if (fn->registers[operand->reg].definitions == 1) fn->registers[operand->reg].fact = fact;
}

// ---- Sources of one instruction ------------------------------------------------------------------
static TypeId source_type(const OpInfo *info, unsigned source) { return source == 0 ? info->a : source == 1 ? info->b : info->c; }

static bool takes_constants(const OpInfo *info) {
  if (info->flags & IT_IMM || info->space != SPACE_NONE) return false;
  return info->kind == KIND_ALU || info->kind == KIND_WARP || info->kind == KIND_BARRIER || info->kind == KIND_SYSTEM;
}

// Whether the source's constant can stand in the instruction; how.
static bool foldable(const OpInfo *info, const Sources *sources, unsigned source, uint32_t *imm, OperandSelect *select) {
  TypeId type = source_type(info, source);
  const Value *value = &sources->value[source];
  if (!sources->used[source] || type == TYPE_pred || type_info[type].registers == 0 || type_info[type].registers > 2) return false;
  if (value->fact.kind == FACT_IMMEDIATE) {
    *select = (OperandSelect)(SELECT_IMM_A + source);
    return imm_fits(type, value->fact.bits, imm);
  }
  *select = (OperandSelect)(SELECT_CONST_A + source);
  *imm = value->fact.reference;
  return value->fact.kind == FACT_CONSTANT;
}

// Which source to fold: a literal first, since it has no register; then any known constant.
static int choose_source(const OpInfo *info, Sources *sources) {
  for (int wanted = 0; wanted < 2; wanted++) {
    for (int source = 0; source < 3; source++) {
      bool zero = sources->value[source].fact.kind == FACT_IMMEDIATE && sources->value[source].fact.bits == 0;
      bool literal = !sources->value[source].in_register && !zero;
      if (literal == (wanted == 0) && foldable(info, sources, (unsigned)source, &sources->imm, &sources->select)) return source;
    }
  }
  sources->select = SELECT_REGISTERS;
  sources->imm = 0;
  return -1;
}

void settle_sources(Fn *fn, Op op, Sources *sources) {
  const OpInfo *info = &op_info[op];
  int folded = takes_constants(info) ? choose_source(info, sources) : -1;
  for (int source = 0; source < 3; source++) {
    sources->refs[source] = VREF_NONE;
    if (!sources->used[source] || source == folded) continue;
    sources->refs[source] = value_register(fn, &sources->value[source], type_info[source_type(info, (unsigned)source)].registers);
  }
}

void put_sources(MirInstr *instr, const Sources *sources) {
  instr->a = sources->refs[0];
  instr->b = sources->refs[1];
  instr->c = sources->refs[2];
  if (sources->select != SELECT_REGISTERS) {
    instr->select = (uint8_t)sources->select;
    instr->imm = sources->imm;
  }
}

static void gather_sources(Fn *fn, Op op, const Value *a, const Value *b, const Value *c, Sources *sources) {
  *sources = (Sources){.used = {a != NULL, b != NULL, c != NULL}};
  if (a) sources->value[0] = *a;
  if (b) sources->value[1] = *b;
  if (c) sources->value[2] = *c;
  settle_sources(fn, op, sources);
}

MirInstr *emit_alu(Fn *fn, Op op, Vref d, const Value *a, const Value *b, const Value *c) {
  Sources sources;
  gather_sources(fn, op, a, b, c, &sources);
  MirInstr *instr = emit(fn, op);
  instr->d[0] = d;
  put_sources(instr, &sources);
  return instr;
}

MirInstr *emit_alu_guarded(Fn *fn, Op op, Vref d, const Value *a, const Value *b, const Value *c) {
  Sources sources;
  gather_sources(fn, op, a, b, c, &sources);
  MirInstr *instr = emit_guarded(fn, op);
  instr->d[0] = d;
  put_sources(instr, &sources);
  return instr;
}
