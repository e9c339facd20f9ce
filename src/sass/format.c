// Instructions as text, spelled as NVIDIA's disassembler does. Second operands that the literal rule turns into numbers by
// accident (their field's own bit 52) are shown as the registers they look like, as that disassembler shows them.
#include "sass/sass_internal.h"

static void add_register(const SassOperand *operand, Text *out) {
  if (operand->half == SASS_WHOLE) {
    text_add(out, "R%u", operand->field);
  } else {
    text_add(out, "R%u%c", operand->field >> 1, (operand->field & 1) != 0 ? 'H' : 'L');
  }
}

static void add_shared(const SassInstr *instr, const SassOperand *operand, Text *out) {
  text_add(out, "g [");
  if (instr->address != 0) text_add(out, "A%u+", instr->address);
  text_add(out, "0x%x]%s", operand->value / sass_type_bytes(operand->type), sass_type_text[operand->type]);
}

static void add_plain(const SassInstr *instr, const SassOperand *operand, Text *out) {
  bool is_c = operand == &instr->c;
  switch (operand->kind) {
  case SASS_SHARED: add_shared(instr, operand, out); break;
  case SASS_CONSTANT: text_add(out, "c[0x1][0x%x]", is_c ? operand->field : operand->value / sass_type_bytes(operand->type)); break;
  case SASS_IMMEDIATE:
    if (row_layout(instr->row)->literal_in_text) {
      text_add(out, "0x%x", operand->value);
      break;
    }
    add_register(operand, out);
    break;
  default: add_register(operand, out); break;
  }
}

static void add_source(const SassInstr *instr, const SassOperand *operand, Text *out) {
  bool subtracted = instr->action == SASS_DO_SUBTRACT && operand == &instr->a;
  if (operand->negate || subtracted) text_add(out, "-");
  if (operand->invert) text_add(out, "~");
  if (operand->absolute) text_add(out, "|");
  add_plain(instr, operand, out);
  if (operand->absolute) text_add(out, "|");
}

static void add_immediate(const SassInstr *instr, Text *out) {
  uint32_t value = instr->row == SASS_MVI ? instr->a.value : instr->b.value;
  bool negative = row_layout(instr->row)->signed_immediate && (value >> 31) != 0;
  text_add(out, "%s0x%x", negative || instr->b.negate ? "-" : "", negative ? 0 - value : value);
}

static void add_global(const SassInstr *instr, Text *out) {
  text_add(out, "global14[");
  if (instr->address != 0) text_add(out, "A%u+", instr->address);
  if (instr->a.kind == SASS_IMMEDIATE) {
    text_add(out, "0x%x", instr->a.value);
  } else {
    add_register(&instr->a, out);
  }
  text_add(out, "]");
}

static void add_amount(const SassInstr *instr, Text *out) {
  bool negative = instr->action == SASS_DO_ADD_ADDRESS && (instr->b.value >> 31) != 0;
  text_add(out, "%s0x%x", negative ? "-" : "", negative ? 0 - instr->b.value : instr->b.value);
}

static void add_store(const SassInstr *instr, Text *out) {
  text_add(out, "g[");
  if (instr->address != 0) text_add(out, "A%u+", instr->address);
  text_add(out, "0x%x]", instr->shared_offset / instr->access_bytes);
}

static void add_destination(const SassInstr *instr, Text *out) {
  if (instr->d.field == SASS_DISCARD_FIELD && instr->format == SASS_LONG) {
    text_add(out, "o[0x7f]");
  } else {
    add_register(&instr->d, out);
  }
}

static void add_operand_text(const SassInstr *instr, unsigned text, Text *out) {
  uint64_t word = (uint64_t)instr->high << 32 | instr->low;
  switch (text) {
  case TEXT_D: add_destination(instr, out); break;
  case TEXT_D_ADDRESS: text_add(out, "A%u", instr->d.value); break;
  case TEXT_A: add_source(instr, &instr->a, out); break;
  case TEXT_B: add_source(instr, &instr->b, out); break;
  case TEXT_C: add_source(instr, &instr->c, out); break;
  case TEXT_ADDRESS: text_add(out, "A%u", instr->address); break;
  case TEXT_AMOUNT: add_amount(instr, out); break;
  case TEXT_GLOBAL: add_global(instr, out); break;
  case TEXT_SHARED_STORE: add_store(instr, out); break;
  case TEXT_DATA: add_register(&instr->c, out); break;
  case TEXT_COMPARE: text_add(out, "%s", sass_compare_text[instr->select & 7]); break;
  case TEXT_REDUCTION: text_add(out, "%s", sass_reduction_text[field_get(word, FIELD_REDUCTION)]); break;
  case TEXT_FLAGS: text_add(out, "C%u", instr->guard_register); break;
  case TEXT_CONSTANT: text_add(out, "c[0x1] [0x%x]", instr->a.value / 4); break;
  case TEXT_TARGET: text_add(out, "0x%x", instr->target); break;
  case TEXT_BARRIER: text_add(out, "b%u", field_get(word, FIELD_BARRIER)); break;
  case TEXT_THREADS: text_add(out, "0x%x", field_get(word, FIELD_THREADS)); break;
  default: add_immediate(instr, out); break;
  }
}

static bool shows_guard(const SassInstr *instr, const Layout *layout) {
  if (instr->format == SASS_HALF || instr->format == SASS_IMM || layout->guard_silent) return false;
  return instr->guard_condition != (layout->guard_never ? 0 : SASS_ALWAYS);
}

static void add_guard(const SassInstr *instr, Text *out) {
  text_add(out, "C%u.%s", instr->guard_register, sass_condition_text[instr->guard_condition]);
}

static void add_mnemonic(const SassInstr *instr, const Layout *layout, Text *out) {
  uint64_t word = (uint64_t)instr->high << 32 | instr->low;
  text_add(out, "%s", sass_rows[instr->row].mnemonic);
  for (unsigned i = 0; i < MAX_STYLES; i++) text_add(out, "%s", style_of_word(layout->styles[i], word)->text);
  if (instr->reads_carry) text_add(out, ".CARRY%u", instr->guard_register);
  if (instr->sets_predicate) text_add(out, ".C%u", instr->predicate);
  if (instr->join) text_add(out, ".S");
}

void sass_format(const SassInstr *instr, Text *out) {
  if (!instr->legal) {
    text_add(out, instr->bytes == 8 ? ".word 0x%08x, 0x%08x;" : ".word 0x%08x;", instr->low, instr->high);
    return;
  }
  const Layout *layout = row_layout(instr->row);
  add_mnemonic(instr, layout, out);
  bool guard = shows_guard(instr, layout);
  const char *separator = " ";
  if (guard && instr->format == SASS_CONTROL) {
    text_add(out, " ");
    add_guard(instr, out);
    separator = ", ";
  }
  for (unsigned i = 0; i < MOST_OPERANDS && layout->texts[i] != TEXT_NOTHING; i++) {
    text_add(out, "%s", separator);
    add_operand_text(instr, layout->texts[i], out);
    separator = ", ";
    if (i > 0 || !guard || instr->format == SASS_CONTROL) continue;
    text_add(out, " (");
    add_guard(instr, out);
    text_add(out, ")");
  }
  text_add(out, ";");
}
