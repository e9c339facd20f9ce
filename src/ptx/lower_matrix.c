// Matrix instructions: fragments are tuples; shape, types and layout are in imm (isa/matrix.h).
#include "isa/matrix.h"

#include "ptx/lower_tuple.h"

static bool check_fragment(Fn *fn, const PtxOperand *operand, uint32_t count, unsigned expected) {
  if (count == expected) return true;
  return complain(fn, operand->place, "this fragment has %u registers, not %u", expected, count);
}

static bool read_fragment(Fn *fn, const PtxOperand *operand, unsigned registers, bool wide, unsigned step, unsigned steps, Vref *tuple) {
  const PtxOperand *items;
  uint32_t count = operand_items(operand, &items), each = registers / (wide ? 2 : 1);
  if (!check_fragment(fn, operand, count, each * steps)) return false;
  return read_tuple(fn, items + step * each, each, wide ? 2 : 1, tuple);
}

// mma.sp d, a, b, c, metadata, selector: the metadata fills A's tuple up.
static bool read_sparse(Fn *fn, const PtxInstr *instr, const MatrixForm *form, Vref *a, uint32_t *imm) {
  const PtxOperand *items, *selector = &instr->operands[5];
  PtxOperand all[8];
  uint32_t count = operand_items(&instr->operands[1], &items);
  if (!check_fragment(fn, &instr->operands[1], count, form->a / 2)) return false;
  for (uint32_t i = 0; i < form->a; i++) all[i] = i < count ? items[i] : instr->operands[4];
  if (!operand_is_literal(selector) || selector->bits >= form->selectors)
    return complain(fn, selector->place, "the sparsity selector must be a constant from 0 to %u", form->selectors - 1u);
  *imm = matrix_select(form->imm, (uint32_t)selector->bits);
  return read_tuple(fn, all, form->a, 1, a);
}

static bool lower_multiply(Fn *fn, const PtxInstr *instr, const MatrixForm *form) {
  unsigned operands = form->selectors != 0 ? 6 : 4;
  uint32_t imm = form->imm;
  if (!expect_operands(fn, instr, operands, operands)) return false;
  const PtxOperand *items;
  unsigned wide = form->c_is_wide ? 2 : 1;
  uint32_t count = operand_items(&instr->operands[0], &items);
  Vref d, a, b, c;
  if (!check_fragment(fn, &instr->operands[0], count, form->d / wide) || !write_tuple(fn, items, count, wide, &d)) return false;
  if (!read_fragment(fn, &instr->operands[3], form->c, form->c_is_wide, 0, 1, &c)) return false;
  for (unsigned step = 0; step < form->steps; step++) {
    if (form->selectors != 0 ? !read_sparse(fn, instr, form, &a, &imm)
                             : !read_fragment(fn, &instr->operands[1], form->a, form->a_is_wide, step, form->steps, &a))
      return false;
    if (!read_fragment(fn, &instr->operands[2], form->b, form->a_is_wide, step, form->steps, &b)) return false;
    MirInstr *out = emit_guarded(fn, form->op);
    out->imm = imm;
    out->d[0] = d;
    out->a = a;
    out->b = b;
    out->c = c;
    c = d;
  }
  finish_tuple(fn, items, count, wide, d);
  return true;
}

static PtxSpace form_space(const MatrixForm *form) {
  return form->space == SPACE_SHARED ? PTX_SPACE_SHARED : form->space == SPACE_GLOBAL ? PTX_SPACE_GLOBAL : PTX_SPACE_NONE;
}

static bool lower_fragment(Fn *fn, const PtxInstr *instr, const MatrixForm *form) {
  bool load = form->use == MATRIX_LOAD;
  if (!expect_operands(fn, instr, 2, form->has_stride ? 3 : 2)) return false;
  const PtxOperand *fragment = &instr->operands[load ? 0 : 1], *items;
  Address address;
  unsigned wide = form->c_is_wide || form->a_is_wide ? 2 : 1;
  uint32_t count = operand_items(fragment, &items);
  Vref d, base, stride = VREF_NONE;
  if (!check_fragment(fn, fragment, count, form->d / wide)) return false;
  if (!read_address(fn, &instr->operands[load ? 1 : 0], form_space(form), &address)) return false;
  if (address.space != form->space) return complain(fn, instr->operands[load ? 1 : 0].place, "this address lies in another state space");
  base = address_register(fn, &address);
  if (form->has_stride && instr->operand_count == 3) {
    if (!read_register(fn, &instr->operands[2], PTX_U32, 1, &stride)) return false;
  } else if (form->has_stride) {
    Value value = value_of_bits(form->default_stride);
    stride = value_register(fn, &value, 1);
  }
  if (!(load ? write_tuple : read_tuple)(fn, items, count, wide, &d)) return false;
  MirInstr *out = emit_guarded(fn, form->op);
  out->imm = form->imm;
  if (address.address32) out->mods |= MOD_ADDRESS32 & op_legal_mods(form->op);
  out->d[0] = d;
  out->a = base;
  out->b = stride;
  if (load) finish_tuple(fn, items, count, wide, d);
  return true;
}

static bool lower_transpose(Fn *fn, const PtxInstr *instr, const MatrixForm *form) {
  Vref d, a;
  if (!expect_operands(fn, instr, 2, 2) || !write_register(fn, &instr->operands[0], 1, &d)) return false;
  if (!read_register(fn, &instr->operands[1], PTX_B32, 1, &a)) return false;
  MirInstr *out = emit_guarded(fn, form->op);
  out->imm = form->imm;
  out->d[0] = d;
  out->a = a;
  return true;
}

bool lower_matrix(Fn *fn, const PtxInstr *instr) {
  MatrixForm form;
  if (!matrix_parse(instr->parts, instr->part_count, &form)) return unsupported(fn, instr);
  switch (form.use) {
  case MATRIX_MMA: return lower_multiply(fn, instr, &form);
  case MATRIX_MOVE: return lower_transpose(fn, instr, &form);
  default: return lower_fragment(fn, instr, &form);
  }
}
