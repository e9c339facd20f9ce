// Moves: mov in all its forms, conversions between generic addresses and spaces, and sums that
// only feed addresses.
//
// Generic addresses are windows (program.h): a space's generic address is its offset plus the
// window's base; global addresses are generic ones as they are.
#include "ptx/lower.h"

// ---- Packing and unpacking -------------------------------------------------------------------------
static unsigned element_bits(const PtxOperand *vector, unsigned whole_bits) {
  return vector->item_count ? whole_bits / vector->item_count : 0;
}

// {a, b} into 16-bit halves or bytes of 32 bits: shifted and or-ed together.
static bool pack_word(Fn *fn, const PtxOperand *items, uint32_t count, unsigned bits, Vref d) {
  Value word = {0};
  PtxType type = bits == 16 ? PTX_B16 : PTX_B8;
  for (uint32_t i = 0; i < count; i++) {
    Value item;
    if (!read_value(fn, &items[i], type, &item)) return false;
    bool is_register = items[i].kind == PTX_REG;
    bool is_wide = is_register && (item.width != 1 || (bits == 16 && ptx_type_bits(fn->ptx->registers.items[items[i].reg].type) > 16));
    if (is_wide) return complain(fn, items[i].place, "this register is too wide to be packed here");
    if (i == 0) {
      word = item;
      continue;
    }
    Value amount = value_of_bits(i * bits);
    Vref shifted = VREF(temp(fn, 1)), sum = i + 1 == count ? d : VREF(temp(fn, 1));
    emit_alu(fn, row(fn, "shl.b32"), shifted, &item, &amount, NULL);
    Value upper = value_of_vref(shifted, 1);
    (i + 1 == count ? emit_alu_guarded : emit_alu)(fn, row(fn, "or.b32"), sum, &word, &upper, NULL);
    word = value_of_vref(sum, 1);
  }
  return true;
}

static bool pack(Fn *fn, const PtxInstr *instr, unsigned whole_bits) {
  const PtxOperand *vector = &instr->operands[1];
  unsigned bits = element_bits(vector, whole_bits), width = whole_bits / 32;
  Vref d;
  if (!write_register(fn, &instr->operands[0], width ? width : 1, &d)) return false;
  if (bits < 8 || (bits & (bits - 1)))
    return complain(fn, vector->place, "%u elements do not make %u bits", vector->item_count, whole_bits);
  if (bits < 32) {
    uint32_t per_word = min_u32(32 / bits, vector->item_count);
    for (uint32_t i = 0; i < vector->item_count; i += per_word) {
      if (!pack_word(fn, vector->items + i, per_word, bits, vref_part(d, i / per_word))) return false;
    }
    return true;
  }
  for (uint32_t i = 0; i < vector->item_count; i++) {
    Value item;
    if (!read_value(fn, &vector->items[i], bits == 64 ? PTX_B64 : PTX_B32, &item)) return false;
    if (vector->items[i].kind == PTX_REG && item.width != bits / 32) {
      return complain(fn, vector->items[i].place, "an element of %u bits is needed here", bits);
    }
    move_value(fn, true, vref_part(d, i * bits / 32), bits / 32, &item);
  }
  return true;
}

// Bits [bit, bit + bits) of a word.
static void unpack_word(Fn *fn, Vref d, Vref word, unsigned bit, unsigned bits) {
  Value source = value_of_vref(word, 1), amount = value_of_bits(bit), mask = value_of_bits((1u << bits) - 1);
  if (bit + bits == 32) {
    emit_alu_guarded(fn, row(fn, "shr.b32"), d, &source, &amount, NULL);
    return;
  }
  if (bit) {
    Vref shifted = VREF(temp(fn, 1));
    emit_alu(fn, row(fn, "shr.b32"), shifted, &source, &amount, NULL);
    source = value_of_vref(shifted, 1);
  }
  emit_alu_guarded(fn, row(fn, "and.b32"), d, &source, &mask, NULL);
}

static bool unpack(Fn *fn, const PtxInstr *instr, unsigned whole_bits) {
  const PtxOperand *vector = &instr->operands[0];
  unsigned bits = element_bits(vector, whole_bits), width = whole_bits > 32 ? whole_bits / 32 : 1;
  Vref source;
  if (!read_register(fn, &instr->operands[1], whole_bits == 64 ? PTX_B64 : PTX_B32, width, &source)) return false;
  if (bits < 8 || (bits & (bits - 1)))
    return complain(fn, vector->place, "%u elements do not make %u bits", vector->item_count, whole_bits);
  for (uint32_t i = 0; i < vector->item_count; i++) {
    Vref d;
    if (vector->items[i].kind == PTX_SINK) continue;
    if (!write_register(fn, &vector->items[i], bits >= 32 ? bits / 32 : 1, &d)) return false;
    Vref part = vref_part(source, i * bits / 32);
    if (bits < 32) {
      unpack_word(fn, d, part, i * bits % 32, bits);
    } else {
      Value value = value_of_vref(part, bits / 32);
      move_value(fn, true, d, bits / 32, &value);
    }
  }
  return true;
}

// ---- mov ---------------------------------------------------------------------------------------
static bool move_predicate(Fn *fn, const PtxInstr *instr) {
  Vref d;
  Value source;
  if (!write_predicate(fn, &instr->operands[0], &d) || !read_predicate(fn, &instr->operands[1], &source)) return false;
  MirInstr *out = emit_guarded(fn, row(fn, "mov.pred"));
  out->pd[0] = d;
  out->ps = source.ref;
  out->ps_negated = source.negated;
  return true;
}

static bool move_b128(Fn *fn, const PtxInstr *instr) {
  Vref d, source;
  if (!write_register(fn, &instr->operands[0], 4, &d) || !read_register(fn, &instr->operands[1], PTX_B128, 4, &source)) return false;
  for (unsigned part = 0; part < 4; part += 2) {
    Value half = value_of_vref(vref_part(source, part), 2);
    move_value(fn, true, vref_part(d, part), 2, &half);
  }
  return true;
}

bool lower_mov(Fn *fn, const PtxInstr *instr) {
  if (!expect_operands(fn, instr, 2, 2)) return false;
  PtxType type = last_type(instr);
  if (type == PTX_NO_TYPE || instr->part_count != 2) return unsupported(fn, instr);
  if (type == PTX_PRED) return move_predicate(fn, instr);
  if (instr->operands[1].kind == PTX_VECTOR) return pack(fn, instr, ptx_type_bits(type));
  if (instr->operands[0].kind == PTX_VECTOR) return unpack(fn, instr, ptx_type_bits(type));
  if (type == PTX_B128) return move_b128(fn, instr);
  unsigned width = type_width(type);
  Vref d;
  Value value;
  if (!write_register(fn, &instr->operands[0], width, &d) || !read_value(fn, &instr->operands[1], type, &value)) return false;
  if (instr->operands[1].kind == PTX_REG && value.width != width) {
    return complain(fn, instr->operands[1].place, "'%.*s' needs a source of %u bits", (int)instr->text.length, instr->text.at, 32 * width);
  }
  if (value.fact.kind != FACT_NONE) set_fact(fn, &instr->operands[0], value.fact);
  move_value(fn, true, d, width, &value);
  return true;
}

// ---- Generic addresses -----------------------------------------------------------------------------
static bool window_of(const PtxInstr *instr, uint64_t *window) {
  static const struct {
    const char *part;
    uint64_t window;
  } windows[] = {{"global", 0},           {"shared", SHARED_WINDOW}, {"shared::cta", SHARED_WINDOW}, {"shared::cluster", SHARED_WINDOW},
                 {"local", LOCAL_WINDOW}, {"const", CONST_WINDOW},   {"param", PARAM_WINDOW},        {"param::entry", PARAM_WINDOW}};
  for (size_t i = 0; i < COUNT_OF(windows); i++) {
    if (has_part(instr, windows[i].part)) {
      *window = windows[i].window;
      return true;
    }
  }
  return false;
}

// The frame's own parameters lie in local memory.
static uint64_t window_for(const Fn *fn, const PtxInstr *instr, uint64_t window) {
  return window == PARAM_WINDOW && !fn->ptx->is_entry && !has_part(instr, "param::entry") ? LOCAL_WINDOW : window;
}

bool lower_cvta(Fn *fn, const PtxInstr *instr) {
  uint64_t window;
  PtxType type = last_type(instr);
  unsigned width = type_width(type);
  Vref d;
  Value value;
  if (!expect_operands(fn, instr, 2, 2)) return false;
  if (!window_of(instr, &window) || (ptx_type_bits(type) != 32 && ptx_type_bits(type) != 64)) return unsupported(fn, instr);
  window = window_for(fn, instr, window);
  if (!write_register(fn, &instr->operands[0], width, &d) || !read_value(fn, &instr->operands[1], type, &value)) return false;
  if (instr->operands[1].kind == PTX_REG && value.width != width) {
    return complain(fn, instr->operands[1].place, "'%.*s' needs a source of %u bits", (int)instr->text.length, instr->text.at, 32 * width);
  }
  uint64_t added = has_part(instr, "to") ? (uint64_t)0 - window : window;
  if (value.fact.kind == FACT_IMMEDIATE) value = value_of_bits(value.fact.bits + added);
  if (added == 0 || (!value.in_register && value.fact.kind == FACT_IMMEDIATE)) {
    if (value.fact.kind != FACT_NONE) set_fact(fn, &instr->operands[0], value.fact);
    move_value(fn, true, d, width, &value);
    return true;
  }
  Value offset = value_of_bits(width == 1 ? (uint32_t)added : added);
  emit_alu_guarded(fn, width == 2 ? row(fn, "add.b64") : OP_ADD_B32, d, &value, &offset, NULL);
  return true;
}

// isspacep.space p, a: a lies in the space's window; global: outside of all.
bool lower_isspacep(Fn *fn, const PtxInstr *instr) {
  uint64_t window;
  Vref d, address;
  if (!expect_operands(fn, instr, 2, 2)) return false;
  if (!window_of(instr, &window)) return unsupported(fn, instr);
  const RegisterState *state = operand_state(fn, &instr->operands[1]);
  unsigned width = state && state->width == 1 ? 1 : 2;
  if (!write_predicate(fn, &instr->operands[0], &d) || !read_register(fn, &instr->operands[1], PTX_B64, width, &address)) return false;
  Value value = value_of_vref(address, width), bound = value_of_bits(window), size = value_of_bits(WINDOW_BYTES);
  Vref difference = VREF(temp(fn, width));
  MirInstr *out;
  if (window == 0) {
    bound = value_of_bits(GLOBAL_BASE32);
    out = emit_alu_guarded(fn, row(fn, width == 2 ? "setp.ge.u64" : "setp.ge.u32"), VREF_NONE, &value, &bound, NULL);
  } else if (has_part(instr, "shared::cluster")) { // the block's own, or that of another
    Vref own = VREF(temp(fn, 0)), other = VREF(temp(fn, 0)), far = VREF(temp(fn, width));
    Value cluster = value_of_bits(CLUSTER_WINDOW), both = value_of_bits(2 * WINDOW_BYTES);
    const char *sub = width == 2 ? "sub.b64" : "sub.b32", *less = width == 2 ? "setp.lt.u64" : "setp.lt.u32";
    emit_alu(fn, row(fn, sub), difference, &value, &bound, NULL);
    emit_alu(fn, row(fn, sub), far, &value, &cluster, NULL);
    Value near_value = value_of_vref(difference, width), far_value = value_of_vref(far, width);
    emit_alu(fn, row(fn, less), VREF_NONE, &near_value, &size, NULL)->pd[0] = own;
    emit_alu(fn, row(fn, less), VREF_NONE, &far_value, &both, NULL)->pd[0] = other;
    out = emit_guarded(fn, row(fn, "or.pred"));
    out->a = own;
    out->ps = other;
  } else {
    if (window == LOCAL_WINDOW) size = value_of_bits(2 * WINDOW_BYTES);
    emit_alu(fn, row(fn, width == 2 ? "sub.b64" : "sub.b32"), difference, &value, &bound, NULL);
    value = value_of_vref(difference, width);
    out = emit_alu_guarded(fn, row(fn, width == 2 ? "setp.lt.u64" : "setp.lt.u32"), VREF_NONE, &value, &size, NULL);
  }
  out->pd[0] = d;
  return true;
}

// ---- Sums that feed addresses ------------------------------------------------------------------------
// The constant that an operand of a sum is, if it is one.
static bool sum_constant(const Fn *fn, const PtxOperand *operand, int64_t *offset) {
  const RegisterState *state = operand_state(fn, operand);
  bool known = state && state->fact.kind == FACT_IMMEDIATE && !operand->part;
  if (operand->kind != PTX_INT && !known) return false;
  uint64_t bits = known ? state->fact.bits : operand->bits;
  *offset = known && state->width == 1 ? (int32_t)(uint32_t)bits : (int64_t)bits;
  return *offset == (int32_t)*offset;
}

// d = base + offset: remembered, so that loads and stores of this block take base and offset.
static void note_base(Fn *fn, const PtxInstr *instr, const PtxOperand *a, int64_t offset) {
  const PtxOperand *d = &instr->operands[0];
  if (d->kind != PTX_REG || a->kind != PTX_REG || d->part || a->part || instr->has_guard) return;
  RegisterState *sum = &fn->registers[d->reg];
  const RegisterState *base = &fn->registers[a->reg];
  bool once = sum->definitions == 1 && base->definitions == 1 && base->first_definition < fn->statement;
  if (!once || sum->width != base->width || base->fact.kind != FACT_NONE) return;
  sum->base_register = a->reg;
  if (base->base_block == fn->block + 1) {
    offset += base->base_offset;
    sum->base_register = base->base_register;
  }
  if (offset != (int32_t)offset) return;
  sum->base_offset = (int32_t)offset;
  sum->base_block = fn->block + 1;
}

bool lower_add(Fn *fn, const PtxInstr *instr) {
  if (!lower_arithmetic(fn, instr)) return false;
  PtxType type = last_type(instr);
  bool integer = type == PTX_S64 || type == PTX_U64 || type == PTX_S32 || type == PTX_U32;
  int64_t offset;
  if (!integer || instr->part_count != 2 || instr->operand_count != 3) return true;
  if (sum_constant(fn, &instr->operands[2], &offset)) {
    note_base(fn, instr, &instr->operands[1], offset);
  } else if (sum_constant(fn, &instr->operands[1], &offset)) {
    note_base(fn, instr, &instr->operands[2], offset);
  }
  return true;
}
