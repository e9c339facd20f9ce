// Tuples: operands that are consecutive registers (matrix fragments, texture coordinates).
//
// PTX registers that an instruction lists together are bound to the parts of one wide virtual
// register before the body is lowered, the widest lists first, so that the values are made in
// place. A list that fits no binding is copied into a fresh tuple, or out of one.
#include "ptx/lower_tuple.h"

#include "isa/matrix.h"
#include "isa/texture.h"

static unsigned tuple_width(unsigned registers) { return registers <= 1 ? 1 : registers <= 2 ? 2 : registers <= 4 ? 4 : 8; }

static unsigned list_registers(const Fn *fn, const PtxOperand *items, uint32_t count) {
  unsigned registers = 0;
  for (uint32_t i = 0; i < count; i++) registers += items[i].kind == PTX_REG ? fn->registers[items[i].reg].width : 1u;
  return registers;
}

// ---- Binding -----------------------------------------------------------------------------------
static bool can_bind(const Fn *fn, const PtxOperand *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind != PTX_REG || items[i].part || fn->ptx->registers.items[items[i].reg].vector > 1) return false;
    const RegisterState *state = &fn->registers[items[i].reg];
    if (state->ref.vreg != VREG_NONE || state->width == 0 || state->width != fn->registers[items[0].reg].width) return false;
    for (uint32_t k = 0; k < i; k++) {
      if (items[k].reg == items[i].reg) return false;
    }
  }
  return true;
}

static void bind_list(Fn *fn, const PtxOperand *items, uint32_t count, unsigned wanted_width) {
  unsigned registers = list_registers(fn, items, count);
  if (count < 2 || registers > 8 || tuple_width(registers) != wanted_width || !can_bind(fn, items, count)) return;
  VregId tuple = temp(fn, wanted_width);
  unsigned part = 0;
  for (uint32_t i = 0; i < count; i++) {
    fn->registers[items[i].reg].ref = (Vref){tuple, (uint8_t)part};
    part += fn->registers[items[i].reg].width;
  }
}

static void bind_matrix(Fn *fn, const PtxInstr *instr, unsigned width) {
  MatrixForm form;
  if (!matrix_parse(instr->parts, instr->part_count, &form) || form.steps > 1) return;
  for (uint32_t i = 0; i < instr->operand_count; i++) {
    const PtxOperand *operand = &instr->operands[i];
    if (operand->kind == PTX_VECTOR) bind_list(fn, operand->items, operand->item_count, width);
  }
}

static void bind_texture(Fn *fn, const PtxInstr *instr, unsigned width) {
  TextureForm form;
  if (!texture_parse(instr->parts, instr->part_count, &form) || form.has_lod) return;
  for (uint32_t i = 0; i < instr->operand_count; i++) {
    const PtxOperand *operand = &instr->operands[i];
    if (operand->kind != PTX_TEXTURE || !operand->item_count) continue;
    const PtxOperand *coordinates = &operand->items[operand->item_count - 1];
    if (coordinates->kind == PTX_VECTOR) bind_list(fn, coordinates->items, min_u32(coordinates->item_count, form.coordinates), width);
  }
}

static bool is_texture_base(Slice base) {
  return slice_is(base, "tex") || slice_is(base, "tld4") || slice_is(base, "suld") || slice_is(base, "sust") || slice_is(base, "sured");
}

static bool is_matrix_base(Slice base) {
  return slice_is(base, "wmma") || slice_is(base, "mma") || slice_is(base, "ldmatrix") || slice_is(base, "stmatrix");
}

void bind_tuples(Fn *fn) {
  for (unsigned width = 8; width >= 2; width /= 2) {
    for (uint32_t i = 0; i < fn->ptx->statements.count; i++) {
      const PtxStatement *statement = &fn->ptx->statements.items[i];
      if (statement->kind != PTX_INSTR) continue;
      if (is_matrix_base(statement->instr.parts[0])) bind_matrix(fn, &statement->instr, width);
      if (is_texture_base(statement->instr.parts[0])) bind_texture(fn, &statement->instr, width);
    }
  }
}

// ---- Use ---------------------------------------------------------------------------------------
// Whether the registers already lie one after the other, at a place a tuple may begin.
static bool in_place(Fn *fn, const PtxOperand *items, uint32_t count, unsigned registers, Vref *first) {
  if (!count || items[0].kind != PTX_REG) return false;
  *first = register_ref(fn, items[0].reg, items[0].part ? items[0].part - 1u : 0);
  unsigned part = first->part, width = tuple_width(registers);
  if (part % (width == 8 ? 4 : width)) return false;
  if (part + registers > fn->mir->vregs.items[first->vreg].width) return false;
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind != PTX_REG || items[i].part) return count == 1;
    Vref ref = register_ref(fn, items[i].reg, 0);
    if (ref.vreg != first->vreg || ref.part != part) return false;
    part += fn->registers[items[i].reg].width;
  }
  return true;
}

static bool all_zero(const Fn *fn, const PtxOperand *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const Fact *fact = items[i].kind == PTX_REG ? &fn->registers[items[i].reg].fact : NULL;
    bool zero = fact ? fact->kind == FACT_IMMEDIATE && fact->bits == 0 : operand_is_literal(&items[i]) && items[i].bits == 0;
    if (!zero) return false;
  }
  return true;
}

static bool check_element_width(Fn *fn, const PtxOperand *item, unsigned width) {
  if (item->kind != PTX_REG || fn->registers[item->reg].width == width) return true;
  return complain(fn, item->place, "a register of %u bits is needed here", 32 * width);
}

static bool copy_in(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref tuple) {
  for (uint32_t i = 0; i < count; i++) {
    Value value;
    if (!read_value(fn, &items[i], width == 2 ? PTX_B64 : PTX_B32, &value)) return false;
    move_value(fn, false, vref_part(tuple, i * width), width, &value);
  }
  return true;
}

bool read_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref *tuple) {
  for (uint32_t i = 0; i < count; i++) {
    if (!check_element_width(fn, &items[i], width)) return false;
  }
  *tuple = VREF_NONE;
  if (count == 1 && width == 1) return read_register(fn, items, PTX_B32, 1, tuple);
  if (all_zero(fn, items, count) || in_place(fn, items, count, count * width, tuple)) {
    if (all_zero(fn, items, count)) *tuple = VREF_NONE;
    return true;
  }
  *tuple = VREF(temp(fn, tuple_width(count * width)));
  return copy_in(fn, items, count, width, *tuple);
}

bool write_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref *tuple) {
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind != PTX_REG && items[i].kind != PTX_SINK) return complain(fn, items[i].place, "the destination must be a register");
    if (!check_element_width(fn, &items[i], width)) return false;
  }
  if (!in_place(fn, items, count, count * width, tuple)) *tuple = VREF(temp(fn, tuple_width(count * width)));
  return true;
}

void finish_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref tuple) {
  for (uint32_t i = 0; i < count; i++) {
    if (items[i].kind != PTX_REG) continue;
    Vref d = register_ref(fn, items[i].reg, items[i].part ? items[i].part - 1u : 0), source = vref_part(tuple, i * width);
    if (d.vreg == source.vreg && d.part == source.part) continue;
    Value value = value_of_vref(source, width);
    move_value(fn, true, d, width, &value);
  }
}

uint32_t operand_items(const PtxOperand *operand, const PtxOperand **items) {
  *items = operand->kind == PTX_VECTOR ? operand->items : operand;
  return operand->kind == PTX_VECTOR ? operand->item_count : 1;
}
