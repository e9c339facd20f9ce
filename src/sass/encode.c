// Instructions to their canonical words: the inverse of decode.c, through the same layouts. Bits without effect rest.
#include "sass/sass_internal.h"

// Aliases (other sub-operations that act alike) are written as the first row of their name and format.
static unsigned canonical_row(unsigned row) {
  for (unsigned first = 0; first < row; first++) {
    bool same = sass_row_details[first].layout == LAYOUT_I2I_LONG && sass_row_details[row].layout == LAYOUT_I2I_ALIAS;
    if (same) return first;
  }
  return row;
}

static uint64_t encode_guard(const SassInstr *instr, const Layout *layout) {
  uint64_t word = 0;
  unsigned condition = layout->guard_silent ? 0 : instr->guard_condition;
  word = field_put(word, FIELD_GUARD_CONDITION, condition);
  if (!layout->guard_silent) word = field_put(word, FIELD_GUARD_REGISTER, instr->guard_register);
  if (instr->sets_predicate) {
    word = field_put(word, FIELD_SETS, 1);
    word = field_put(word, FIELD_PREDICATE, instr->predicate);
  }
  return field_put(word, FIELD_MARKER, instr->join ? MARKER_JOIN : MARKER_NORMAL);
}

static uint64_t encode_address(uint64_t word, const SassInstr *instr, const Layout *layout) {
  if (instr->a.kind != SASS_SHARED && !layout->uses_address) return word;
  word |= (uint64_t)(instr->address & 3) << 26;
  return instr->address == 4 ? word | UINT64_C(1) << 34 : word;
}

static unsigned shift_of(unsigned type) { return type == SASS_U32 ? 2 : type == SASS_U8 ? 0 : 1; }

static uint64_t encode_a(uint64_t word, const SassInstr *instr, const Layout *layout) {
  const SassOperand *a = &instr->a;
  if (a->kind == SASS_SHARED) {
    word = field_put(word, layout->a_type, a->type);
    word = field_put(word, layout->a_index, a->value >> shift_of(a->type));
    word = field_put(word, layout->a_shared, 1) | layout->shared_rest;
  } else if (a->kind == SASS_GPR) {
    word = field_put(word, layout->a, a->field);
  }
  return field_put(word, layout->a_negate, a->negate);
}

static uint64_t encode_b(uint64_t word, const SassInstr *instr, const Layout *layout) {
  const SassOperand *b = &instr->b;
  if (b->kind == SASS_CONSTANT) {
    word = field_put(word, layout->b_index, b->value >> shift_of(b->type)) | layout->constant_rest;
    word = field_put(word, layout->b_const, 1);
  } else if (layout->b_immediate.width != 0) {
    word = sass_immediate_put(word, instr->row == SASS_MVI ? instr->a.value : b->value);
  } else if (b->kind == SASS_GPR || (b->kind == SASS_IMMEDIATE && layout->b.width != 0)) {
    bool number = layout->literal_in_text || instr->action == SASS_DO_TO_ADDRESS;
    word = field_put(word, layout->b, b->kind == SASS_IMMEDIATE && number ? b->value : b->field);
    if (b->kind == SASS_IMMEDIATE && layout->literals) word |= UINT64_C(1) << 52;
  }
  return field_put(word, layout->b_negate, b->negate);
}

static uint64_t encode_c(uint64_t word, const SassInstr *instr, const Layout *layout) {
  const SassOperand *c = &instr->c;
  if (layout->c.width == 0) return word;
  bool bit52 = (word >> 52 & 1) != 0;
  word = field_put(word, layout->c, c->field);
  if (bit52) word |= UINT64_C(1) << 52;
  if (c->kind == SASS_CONSTANT) {
    word = field_put(word, layout->c_const, 1);
    word = layout->one_selector ? field_put(word, layout->b_const, 1) : word | layout->constant_rest;
  }
  return field_put(word, layout->c_negate, c->negate);
}

static uint64_t encode_d(uint64_t word, const SassInstr *instr, const Layout *layout) {
  if (layout->d.width == 0) return word;
  if (instr->d.kind == SASS_ADDRESS) return field_put(word, layout->d, instr->d.value);
  word = field_put(word, layout->d, instr->d.field);
  bool discards = instr->d.field == SASS_DISCARD_FIELD && instr->format == SASS_LONG;
  return discards ? field_put(word, FIELD_OUTPUT, 1) : word;
}

static uint64_t encode_addressing(uint64_t word, const SassInstr *instr) {
  switch (instr->action) {
  case SASS_DO_ADD_ADDRESS: {
    uint32_t amount = (instr->b.value >> 31) != 0 ? 0 - instr->b.value : instr->b.value;
    return field_put(word, FIELD_ADA_AMOUNT, amount);
  }
  case SASS_DO_STORE_SHARED: return field_put(word, FIELD_STORE_INDEX, instr->shared_offset / instr->access_bytes);
  case SASS_DO_LOAD_GLOBAL:
  case SASS_DO_STORE_GLOBAL:
    if (instr->a.kind != SASS_IMMEDIATE) return word;
    return field_put(word | UINT64_C(1) << 52, (Field){9, 7}, instr->a.value / instr->access_bytes);
  default: return word;
  }
}

// Modifiers that the suffixes of the mnemonic name, and those of the operands that decode.c keeps nowhere else.
static uint64_t encode_modifiers(uint64_t word, const SassInstr *instr, const Layout *layout) {
  uint64_t given = (uint64_t)instr->high << 32 | instr->low;
  for (unsigned i = 0; i < MAX_STYLES; i++) {
    uint64_t mask = sass_style_masks[layout->styles[i]];
    word = (word & ~mask) | style_of_word(layout->styles[i], given)->bits;
  }
  if (layout->select.width == 3) word = field_put(word, layout->select, instr->select);
  if (layout->absolute.width == 2) {
    word = field_put(word, layout->absolute, instr->a.absolute ? 2 : 0);
  } else {
    word = field_put(word, layout->absolute, instr->a.absolute);
  }
  if (instr->row == SASS_RRO) word = field_put(word, FIELD_REDUCTION, field_get(given, FIELD_REDUCTION));
  if (instr->row == SASS_MVC) word = field_put(word, (Field){9, 7}, instr->a.value / 4) | layout->constant_rest;
  return field_put(word, layout->inverts, (uint32_t)instr->a.invert | (uint32_t)instr->b.invert << 1);
}

static uint64_t encode_control(const SassInstr *instr, const Layout *layout) {
  const uint64_t given = (uint64_t)instr->high << 32 | instr->low;
  uint64_t word = sass_rows[instr->row].value | sass_row_details[instr->row].rest | encode_guard(instr, layout) | 3;
  if (layout->texts[0] == TEXT_TARGET) word = field_put(word, FIELD_TARGET, instr->target);
  if (layout->texts[0] == TEXT_BARRIER) word |= given & (field_mask(FIELD_BARRIER) | field_mask(FIELD_THREADS));
  return word;
}

static uint64_t encode_plain(const SassInstr *instr) {
  unsigned row = canonical_row(instr->row);
  const Layout *layout = row_layout(row);
  uint64_t word = sass_rows[row].value | sass_row_details[row].rest;
  if (instr->format == SASS_LONG) word |= encode_guard(instr, layout);
  word = encode_modifiers(word, instr, layout);
  word = encode_address(word, instr, layout);
  word = encode_a(word, instr, layout);
  word = encode_b(word, instr, layout);
  word = encode_c(word, instr, layout);
  word = encode_d(word, instr, layout);
  word = encode_addressing(word, instr);
  if (instr->format == SASS_IMM) word = field_put(word, FIELD_MARKER, MARKER_IMM);
  return instr->format == SASS_HALF ? word : word | 1;
}

void sass_encode(const SassInstr *instr, uint32_t *low, uint32_t *high) {
  *low = instr->low;
  *high = instr->high;
  if (!instr->legal) return;
  uint64_t word = instr->format == SASS_CONTROL ? encode_control(instr, row_layout(instr->row)) : encode_plain(instr);
  *low = (uint32_t)word;
  *high = (uint32_t)(word >> 32);
}
