// Textures and surfaces (isa/texture.h): handle in a, coordinates and what follows them as one tuple in b,
// gradients in c, results or data in the d operands.
#include "isa/texture.h"

#include "ptx/lower_tuple.h"

typedef struct TextureOperands {
  const PtxOperand *data;  // results, or what is stored
  const PtxOperand *place; // [handle, {coordinates}]
  const PtxOperand *rest;  // lod, gradients, offsets, depth reference
  uint32_t rest_count;
} TextureOperands;

static bool read_handle(Fn *fn, const PtxOperand *operand, Vref *handle) {
  const RegisterState *state = operand_state(fn, operand);
  if (!state || state->width == 2) return read_register(fn, operand, PTX_B64, 2, handle);
  Value low, high = value_of_bits(0);
  if (!read_value(fn, operand, PTX_B32, &low)) return false;
  *handle = VREF(temp(fn, 2));
  move_value(fn, false, *handle, 1, &low);
  move_value(fn, false, vref_part(*handle, 1), 1, &high);
  return true;
}

// Copies a list of 32-bit values to parts of a tuple, from part `first` on.
static bool copy_parts(Fn *fn, const PtxOperand *items, uint32_t count, Vref tuple, unsigned first) {
  for (uint32_t i = 0; i < count; i++) {
    Value value;
    if (!read_value(fn, &items[i], PTX_B32, &value)) return false;
    if (items[i].kind == PTX_REG && value.width != 1) return complain(fn, items[i].place, "a 32-bit value is needed here");
    move_value(fn, false, vref_part(tuple, first + i), 1, &value);
  }
  return true;
}

static unsigned column_registers(Op op) { return type_info[op_info[op].b].registers; }

static bool read_coordinates(Fn *fn, const TextureForm *form, const TextureOperands *operands, Vref *b) {
  *b = VREF_NONE;
  const PtxOperand *items = NULL;
  uint32_t listed = 0;
  if (form->coordinates) {
    if (operands->place->kind != PTX_TEXTURE || operands->place->item_count < 2) {
      return complain(fn, operands->place->place, "coordinates are needed here");
    }
    listed = operand_items(&operands->place->items[operands->place->item_count - 1], &items);
    if (listed < form->coordinates) return complain(fn, operands->place->place, "%u coordinates are needed here", form->coordinates);
  }
  if (form->b_registers == form->coordinates) {
    if (form->coordinates == 0) return true;
    return read_tuple(fn, items, form->coordinates, 1, b);
  }
  *b = VREF(temp(fn, column_registers(form->op)));
  if (!copy_parts(fn, items, form->coordinates, *b, 0)) return false;
  unsigned part = form->coordinates;
  for (uint32_t i = 0; i < operands->rest_count && part < form->b_registers; i++) {
    const PtxOperand *extra;
    uint32_t count = operand_items(&operands->rest[i], &extra);
    count = min_u32(count, form->b_registers - part);
    if (operands->rest[i].kind == PTX_VECTOR) count = min_u32(count, form->dimensions);
    if (!copy_parts(fn, extra, count, *b, part)) return false;
    part += count;
  }
  return true;
}

static bool read_gradients(Fn *fn, const TextureForm *form, TextureOperands *operands, Vref *c) {
  *c = VREF_NONE;
  if (!form->has_gradients) return true;
  if (operands->rest_count < 2) return complain(fn, operands->place->place, "two gradients are needed");
  *c = VREF(temp(fn, 8));
  for (unsigned i = 0; i < 2; i++) {
    const PtxOperand *items;
    uint32_t count = operand_items(&operands->rest[i], &items);
    if (!copy_parts(fn, items, min_u32(count, form->dimensions), *c, 4 * i)) return false;
  }
  operands->rest += 2;
  operands->rest_count -= 2;
  return true;
}

static bool split_texture(Fn *fn, const PtxInstr *instr, const TextureForm *form, TextureOperands *operands) {
  if (!expect_operands(fn, instr, 2, 6)) return false;
  operands->data = &instr->operands[form->is_store ? 1 : 0];
  operands->place = &instr->operands[form->is_store ? 0 : 1];
  operands->rest = instr->operands + 2;
  operands->rest_count = instr->operand_count - 2;
  if (operands->place->item_count == 0) return complain(fn, operands->place->place, "a texture or surface in brackets is needed here");
  if (operands->data->kind == PTX_PAIR) return complain(fn, operands->data->place, "unsupported: residency predicates of sparse textures");
  return true;
}

// What follows the place: a lod or gradients, then an offset vector, then a depth reference.
static void extend_form(TextureForm *form, const TextureOperands *operands) {
  uint32_t first = form->has_lod ? 1 : form->has_gradients ? 2 : 0;
  bool offset = false, compare = false;
  for (uint32_t i = first; i < operands->rest_count; i++) {
    if (operands->rest[i].kind == PTX_VECTOR || (i == first && operands->rest_count - first == 2)) {
      offset = true;
    } else {
      compare = true;
    }
  }
  if (offset || compare) texture_extend(form, offset, compare);
}

static bool data_registers(Fn *fn, const TextureForm *form, const TextureOperands *operands, Vref refs[4]) {
  const PtxOperand *items;
  uint32_t count = operand_items(operands->data, &items);
  unsigned width = form->wide_data ? 2 : 1;
  if (count != form->results) return complain(fn, operands->data->place, "%u registers are needed here, not %u", form->results, count);
  for (uint32_t i = 0; i < count && i < 4; i++) {
    bool good = form->is_store ? read_register(fn, &items[i], width == 2 ? PTX_B64 : PTX_B32, width, &refs[i])
                               : write_register(fn, &items[i], width, &refs[i]);
    if (!good) return false;
  }
  return true;
}

bool lower_texture(Fn *fn, const PtxInstr *instr) {
  TextureForm form;
  TextureOperands operands;
  Vref d[4] = {VREF_NONE, VREF_NONE, VREF_NONE, VREF_NONE}, a, b, c;
  if (!texture_parse(instr->parts, instr->part_count, &form)) return unsupported(fn, instr);
  if (!split_texture(fn, instr, &form, &operands)) return false;
  extend_form(&form, &operands);
  if (!data_registers(fn, &form, &operands, d) || !read_handle(fn, &operands.place->items[0], &a)) return false;
  if (!read_gradients(fn, &form, &operands, &c) || !read_coordinates(fn, &form, &operands, &b)) return false;
  MirInstr *out = emit_guarded(fn, form.op);
  out->imm = form.imm;
  memcpy(out->d, d, sizeof d);
  out->a = a;
  out->b = b;
  out->c = c;
  return true;
}
