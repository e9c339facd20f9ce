// Instructions whose operands are packed differently from PTX's list: bit fields, lookup tables, video.
#include "ptx/lower.h"

#include "isa/video.h"

// bfi d, a, b, position, length: the row takes position | length << 8.
bool lower_bfi(Fn *fn, const PtxInstr *instr) {
  Opcode opcode;
  Sources sources = {0};
  Value position, length;
  Vref d;
  if (!expect_operands(fn, instr, 5, 5)) return false;
  if (!opcode_resolve(fn->lower, instr->parts, instr->part_count, &opcode)) return unsupported(fn, instr);
  if (!write_register(fn, &instr->operands[0], type_info[op_info[opcode.op].d].registers, &d)) return false;
  if (!read_source(fn, &opcode, &instr->operands[1], 0, &sources) || !read_source(fn, &opcode, &instr->operands[2], 1, &sources))
    return false;
  if (!read_value(fn, &instr->operands[3], PTX_U32, &position) || !read_value(fn, &instr->operands[4], PTX_U32, &length)) return false;
  sources.used[2] = true;
  if (position.fact.kind == FACT_IMMEDIATE && length.fact.kind == FACT_IMMEDIATE) {
    sources.value[2] = value_of_bits((position.fact.bits & 0xFF) | (length.fact.bits & 0xFF) << 8);
  } else {
    // prmt takes byte 0 of the position and byte 0 of the length; the other two do not matter.
    Vref packed = VREF(temp(fn, 1));
    Value selector = value_of_bits(0x4440);
    emit_alu(fn, row(fn, "prmt.b32"), packed, &position, &length, &selector);
    sources.value[2] = value_of_vref(packed, 1);
  }
  settle_sources(fn, opcode.op, &sources);
  MirInstr *out = emit_guarded(fn, opcode.op);
  out->d[0] = d;
  put_sources(out, &sources);
  return true;
}

// lop3.b32 d, a, b, c, table; lop3.or.b32 d|p, a, b, c, table, q: p = (d != 0) or q
bool lower_lop3(Fn *fn, const PtxInstr *instr) {
  const char *combine = has_part(instr, "or") ? "or.pred" : has_part(instr, "and") ? "and.pred" : NULL;
  uint32_t operands = combine ? 6 : 5;
  if (!expect_operands(fn, instr, operands, operands)) return false;
  const PtxOperand *table = &instr->operands[4], *d_operand = &instr->operands[0], *p_operand = NULL;
  if (table->kind != PTX_INT || table->bits > 255) return complain(fn, table->place, "the table is a number from 0 to 255");
  if (combine && d_operand->kind == PTX_PAIR) {
    p_operand = &d_operand->items[1];
    d_operand = &d_operand->items[0];
  }
  Vref d, sources[3], p = VREF_NONE;
  Value q = {.ref = VREF_NONE};
  if (!write_register(fn, d_operand, 1, &d) || (p_operand && !write_predicate(fn, p_operand, &p))) return false;
  for (unsigned i = 0; i < 3; i++) {
    if (!read_register(fn, &instr->operands[1 + i], PTX_B32, 1, &sources[i])) return false;
  }
  if (combine && !read_predicate(fn, &instr->operands[5], &q)) return false;
  Vref result = p_operand ? VREF(temp(fn, 1)) : d;
  MirInstr *out = p_operand ? emit(fn, row(fn, "lop3.b32")) : emit_guarded(fn, row(fn, "lop3.b32"));
  out->d[0] = result;
  out->a = sources[0];
  out->b = sources[1];
  out->c = sources[2];
  out->imm = (uint32_t)table->bits;
  if (!p_operand) return true;
  Value value = value_of_vref(result, 1), zero = value_of_bits(0);
  Vref nonzero = VREF(temp(fn, 0));
  emit_alu(fn, OP_SETP_NE_B32, VREF_NONE, &value, &zero, NULL)->pd[0] = nonzero;
  move_value(fn, true, d, 1, &value);
  MirInstr *combined = emit_guarded(fn, row(fn, combine));
  combined->pd[0] = p;
  combined->a = nonzero;
  combined->ps = q.ref;
  combined->ps_negated = q.negated;
  return true;
}

// ---- Video -------------------------------------------------------------------------------------
static bool take_selector(Fn *fn, Op op, const PtxOperand *operand, VideoOperand role, uint32_t *imm) {
  if (!operand->selector.length || video_select(op, role, operand->selector, imm)) return true;
  return complain(fn, operand->place, "no such selector here: '%.*s'", (int)operand->selector.length, operand->selector.at);
}

// Operands d, a, b and, where present, c; vmad's may be negated.
bool lower_video(Fn *fn, const PtxInstr *instr) {
  Op op;
  uint32_t imm;
  uint16_t mods;
  Vref d, sources[3] = {VREF_NONE, VREF_NONE, VREF_NONE};
  if (!video_parse(instr->parts, instr->part_count, &op, &imm, &mods)) return unsupported(fn, instr);
  if (!expect_operands(fn, instr, 3, 4)) return false;
  static const VideoOperand roles[] = {VIDEO_OPERAND_D, VIDEO_OPERAND_A, VIDEO_OPERAND_B};
  for (unsigned i = 0; i < 3; i++) {
    if (!take_selector(fn, op, &instr->operands[i], roles[i], &imm)) return false;
  }
  bool product = false, addend = false;
  if (!write_register(fn, &instr->operands[0], 1, &d)) return false;
  for (unsigned i = 1; i < instr->operand_count; i++) {
    PtxOperand operand = instr->operands[i];
    if (operand.negated && i < 3) product = !product;
    if (operand.negated && i == 3) addend = true;
    operand.negated = false;
    if (!read_register(fn, &operand, PTX_B32, 1, &sources[i - 1])) return false;
  }
  MirInstr *out = emit_guarded(fn, op);
  out->mods = mods;
  out->imm = product || addend ? video_negate(imm, product, addend) : imm;
  out->d[0] = d;
  out->a = sources[0];
  out->b = sources[1];
  out->c = sources[2];
  return true;
}
