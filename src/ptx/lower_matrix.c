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

// ---- ldmatrix of 6 and 4 bits ------------------------------------------------------------------------
// Four elements side by side in a register become four bytes, in place.
static void widen_elements(Fn *fn, Vref reg, unsigned bits) {
  Value raw = value_of_vref(reg, 1);
  Vref sum = VREF_NONE;
  for (unsigned i = 0; i < 4; i++) {
    Vref moved = VREF(temp(fn, 1)), element = VREF(temp(fn, 1)), both = VREF(temp(fn, 1));
    Value amount = value_of_bits((8 - bits) * i), mask = value_of_bits((uint64_t)((1u << bits) - 1) << 8 * i);
    emit_alu(fn, row(fn, "shl.b32"), moved, &raw, &amount, NULL);
    Value moved_value = value_of_vref(moved, 1), element_value = value_of_vref(element, 1), before = value_of_vref(sum, 1);
    emit_alu(fn, row(fn, "and.b32"), element, &moved_value, &mask, NULL);
    if (i == 0) sum = element;
    else if (i < 3) emit_alu(fn, row(fn, "or.b32"), sum = both, &before, &element_value, NULL);
    else emit_alu_guarded(fn, row(fn, "or.b32"), reg, &before, &element_value, NULL);
  }
}

typedef struct RowLane {
  Vref g_bits; // where element g begins in the row
  Vref four_t; // 4 * (lane % 4)
} RowLane;

static RowLane row_lane(Fn *fn, unsigned bits) {
  RowLane lane;
  lane.g_bits = VREF(temp(fn, 1));
  lane.four_t = VREF(temp(fn, 1));
  Vref number = VREF(temp(fn, 1)), g = VREF(temp(fn, 1)), t = VREF(temp(fn, 1));
  Value number_value = value_of_vref(number, 1), two = value_of_bits(2), three = value_of_bits(3), width = value_of_bits(bits);
  MirInstr *read = emit(fn, OP_S2R);
  read->d[0] = number;
  read->imm = SREG_LANEID;
  emit_alu(fn, row(fn, "shr.b32"), g, &number_value, &two, NULL);
  emit_alu(fn, row(fn, "and.b32"), t, &number_value, &three, NULL);
  Value g_value = value_of_vref(g, 1), t_value = value_of_vref(t, 1);
  emit_alu(fn, row(fn, "mul.lo.b32"), lane.g_bits, &g_value, &width, NULL);
  emit_alu(fn, row(fn, "shl.b32"), lane.four_t, &t_value, &two, NULL);
  return lane;
}

// The words of a row, whose address is in lane `first` + 4t.
static void load_row(Fn *fn, const Address *address, Vref base, const RowLane *lane, unsigned first, Vref words[4]) {
  bool is_shared = address->space == SPACE_SHARED;
  unsigned width = is_shared || address->address32 ? 1 : 2;
  Vref from = VREF(temp(fn, 1)), at = VREF(temp(fn, width));
  Value four_t = value_of_vref(lane->four_t, 1), more = value_of_bits(first | 31u << 8); // clamp at the last lane, one segment
  emit_alu(fn, OP_ADD_B32, from, &four_t, &more, NULL);
  for (unsigned i = 0; i < width; i++) {
    MirInstr *shuffle = emit(fn, row(fn, "shfl.sync.idx.b32"));
    shuffle->d[0] = vref_part(at, i);
    shuffle->a = vref_part(base, i);
    shuffle->b = from;
    shuffle->mods = MOD_FULL_MASK;
  }
  for (unsigned i = 0; i < 4; i++) words[i] = VREF(temp(fn, 1));
  MirInstr *load = emit_guarded(fn, row(fn, is_shared ? "ld.shared.b32" : "ld.b32"));
  memcpy(load->d, words, 4 * sizeof *words);
  load->a = at;
  load->mods = (uint16_t)(2u << MOD_VECTOR_SHIFT);
  if (address->address32) load->mods |= MOD_ADDRESS32 & op_legal_mods((Op)load->op);
}

// Element g, or 8 + g (`half` = 1), of a row of words, shifted to byte `byte`.
static Vref take_element(Fn *fn, const Vref words[4], const RowLane *lane, unsigned bits, unsigned half, unsigned byte) {
  Vref pair = VREF(temp(fn, 2)), moved = VREF(temp(fn, 2)), amount = VREF(temp(fn, 1)), element = VREF(temp(fn, 1)),
       placed = VREF(temp(fn, 1));
  Value low = value_of_vref(words[half], 1), high = value_of_vref(words[half + 1], 1), pair_value = value_of_vref(pair, 2);
  move_value(fn, false, vref_part(pair, 0), 1, &low);
  move_value(fn, false, vref_part(pair, 1), 1, &high);
  Value g_bits = value_of_vref(lane->g_bits, 1), start = value_of_bits(half * (8 * bits - 32)), amount_value = value_of_vref(amount, 1);
  emit_alu(fn, OP_ADD_B32, amount, &g_bits, &start, NULL);
  emit_alu(fn, row(fn, "shr.b64"), moved, &pair_value, &amount_value, NULL);
  Value moved_value = value_of_vref(moved, 1), mask = value_of_bits((1u << bits) - 1), shift = value_of_bits(8 * byte);
  emit_alu(fn, row(fn, "and.b32"), element, &moved_value, &mask, NULL);
  Value element_value = value_of_vref(element, 1);
  emit_alu(fn, row(fn, "shl.b32"), placed, &element_value, &shift, NULL);
  return placed;
}

// .m16n16.trans of 6 and 4 bits: every lane reads four rows, whose addresses it gets by shuffles, and picks its elements.
static void load_transposed(Fn *fn, const MatrixForm *form, const Address *address, Vref base, Vref d) {
  RowLane lane = row_lane(fn, form->packed_bits);
  for (unsigned i = 0; i < form->d / 2u; i++) {
    Vref sum[2] = {VREF_NONE, VREF_NONE};
    for (unsigned j = 0; j < 4; j++) {
      Vref words[4];
      load_row(fn, address, base, &lane, 16 * i + j, words);
      for (unsigned half = 0; half < 2; half++) {
        Vref element = take_element(fn, words, &lane, form->packed_bits, half, j), both = VREF(temp(fn, 1));
        Value before = value_of_vref(sum[half], 1), element_value = value_of_vref(element, 1);
        if (j == 0) sum[half] = element;
        else if (j < 3) emit_alu(fn, row(fn, "or.b32"), sum[half] = both, &before, &element_value, NULL);
        else emit_alu_guarded(fn, row(fn, "or.b32"), vref_part(d, 2 * i + half), &before, &element_value, NULL);
      }
    }
  }
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
  if (form->packed_bits != 0 && form->is_transposed) {
    load_transposed(fn, form, &address, base, d);
    finish_tuple(fn, items, count, wide, d);
    return true;
  }
  MirInstr *out = emit_guarded(fn, form->op);
  out->imm = form->imm;
  if (address.address32) out->mods |= MOD_ADDRESS32 & op_legal_mods(form->op);
  out->d[0] = d;
  out->a = base;
  out->b = stride;
  for (unsigned i = 0; form->packed_bits != 0 && i < form->d; i++) widen_elements(fn, vref_part(d, i), form->packed_bits);
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
