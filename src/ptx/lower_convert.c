// cvt: rows convert between registers of the types' own widths. PTX also allows wider registers: a
// source gives its low bits, a result is extended to the register by its type's sign.
#include "ptx/lower.h"

static bool is_signed_integer(PtxType type) { return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64; }

static bool is_integer(PtxType type) {
  return is_signed_integer(type) || type == PTX_U8 || type == PTX_U16 || type == PTX_U32 || type == PTX_U64;
}

// Results are in 32-bit registers zero-extended, but .s8, which rows sign-extend to 32 bits.
static void extend_result(Fn *fn, PtxType type, unsigned register_bits, Vref d) {
  Value value = value_of_vref(d, 1), mask = value_of_bits(0xFFFF), sign = value_of_bits(31), zero = value_of_bits(0);
  if (type == PTX_S8 && register_bits == 16) emit_alu_guarded(fn, row(fn, "and.b32"), d, &value, &mask, NULL);
  if (type == PTX_S16 && register_bits > 16) emit_alu_guarded(fn, row(fn, "cvt.s32.s16"), d, &value, NULL, NULL);
  if (register_bits != 64 || ptx_type_bits(type) == 64) return;
  if (is_signed_integer(type)) {
    emit_alu_guarded(fn, row(fn, "shr.s32"), vref_part(d, 1), &value, &sign, NULL);
  } else {
    move_value(fn, true, vref_part(d, 1), 1, &zero);
  }
}

// Integers to 32 bits from at least as many: a copy of the low register.
static bool is_truncation(const PtxInstr *instr, PtxType to, PtxType from) {
  return instr->part_count == 3 && is_integer(to) && is_integer(from) && ptx_type_bits(to) == 32 && ptx_type_bits(from) >= 32;
}

static bool read_converted(Fn *fn, const PtxOperand *operand, PtxType type, Value *value) {
  unsigned width = type_width(type);
  if (!read_value(fn, operand, type, value)) return false;
  if (operand->kind != PTX_REG) return true;
  if (value->width == 0 || value->bits_wide < ptx_type_bits(type)) {
    const PtxRegister *reg = &fn->ptx->registers.items[operand->reg];
    return complain(fn, operand->place, "'%.*s' is a .%s register, too narrow for .%s", (int)reg->name.length, reg->name.at,
                    ptx_type_text(reg->type), ptx_type_text(type));
  }
  if (value->width > width && value->fact.kind == FACT_IMMEDIATE) value->fact.bits = (uint32_t)value->fact.bits;
  return true;
}

static bool find_types(const PtxInstr *instr, PtxType *to, PtxType *from) {
  uint32_t count = instr->part_count;
  return count >= 3 && ptx_type_parse(instr->parts[count - 2], to) && ptx_type_parse(instr->parts[count - 1], from);
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: the type of c is not in the row's text.
static bool lower_pack(Fn *fn, const PtxInstr *instr) {
  PtxInstr shorter = *instr;
  if (slice_is(instr->parts[instr->part_count - 1], "b32")) shorter.part_count--;
  return lower_instr_generic(fn, &shorter);
}

bool lower_cvt(Fn *fn, const PtxInstr *instr) {
  PtxType to, from;
  Opcode opcode;
  if (has_part(instr, "pack")) return lower_pack(fn, instr);
  if (!opcode_resolve(fn->lower, instr->parts, instr->part_count, &opcode)) return unsupported(fn, instr);
  if (op_info[opcode.op].b != TYPE_none || !find_types(instr, &to, &from)) return lower_row(fn, instr, &opcode);
  if (!expect_operands(fn, instr, 2, 2)) return false;
  const RegisterState *d_state = operand_state(fn, &instr->operands[0]);
  unsigned d_width = d_state ? d_state->width : type_width(to);
  Vref d;
  Value source;
  if (!write_register(fn, &instr->operands[0], max_u32(d_width, type_width(to)), &d)) return false;
  if (d_state && d_state->bits < ptx_type_bits(to)) {
    return complain(fn, instr->operands[0].place, "the destination is too narrow for .%s", ptx_type_text(to));
  }
  if (!read_converted(fn, &instr->operands[1], from, &source)) return false;
  MirInstr *out;
  if (is_truncation(instr, to, from)) {
    out = emit_alu_guarded(fn, OP_MOV_B32, d, &source, NULL, NULL);
  } else {
    out = emit_alu_guarded(fn, opcode.op, d, &source, NULL, NULL);
    out->mods = opcode.mods | legacy_flush(fn, &opcode);
  }
  if (d_state) extend_result(fn, to, d_state->bits, d);
  return true;
}
