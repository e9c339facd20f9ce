// What a written statement means: the row whose suffixes and operands fit, as an instruction. The result is encoded and
// decoded again, so that operands which share bits of the word and disagree are refused.
#include "sass/sass_internal.h"

typedef struct Binding {
  const Statement *statement;
  const Layout *layout;
  SassInstr instr;
  uint64_t bits; // suffixes and parts that only the word keeps
  Slice label;
  Diags *diags;
} Binding;

static bool fail(const Binding *binding, int column, const char *text) {
  return diags_add(binding->diags, binding->statement->file, binding->statement->line, column, "%s", text);
}

static bool fits(Field field, uint32_t value) { return field.width >= 32 || value >> field.width == 0; }

// ---- Mnemonics -------------------------------------------------------------------------------------------------------
static bool take(Slice *text, const char *prefix) {
  if (!slice_starts(*text, prefix)) return false;
  uint32_t length = (uint32_t)strlen(prefix);
  *text = (Slice){text->at + length, text->length - length};
  return true;
}

static bool take_numbered(Slice *text, const char *prefix, uint8_t *number) {
  Slice rest = *text;
  if (!take(&rest, prefix) || rest.length == 0 || rest.at[0] < '0' || rest.at[0] > '3') return false;
  if (rest.length > 1 && rest.at[1] != '.') return false;
  *number = (uint8_t)(rest.at[0] - '0');
  *text = (Slice){rest.at + 1, rest.length - 1};
  return true;
}

// ".CARRY1", ".C0", ".S" behind the suffixes of the style.
static bool bind_tail(Binding *binding, Slice tail) {
  SassInstr *instr = &binding->instr;
  bool shows_carry = binding->layout->carry && instr->action != SASS_DO_FROM_FLAGS;
  if (shows_carry != take_numbered(&tail, ".CARRY", &instr->guard_register)) return false;
  instr->reads_carry = shows_carry;
  bool plain = instr->format == SASS_LONG && instr->read != SASS_READ_NOP;
  instr->sets_predicate = plain && take_numbered(&tail, ".C", &instr->predicate);
  instr->join = (instr->format == SASS_LONG || instr->format == SASS_CONTROL) && take(&tail, ".S");
  return tail.length == 0;
}

static bool bind_second_style(Binding *binding, Slice rest) {
  uint64_t bits = binding->bits;
  for (uint32_t i = 0; i < sass_style_entry_count; i++) {
    const StyleEntry *entry = &sass_style_entries[i];
    Slice tail = rest;
    if (entry->style != binding->layout->styles[1] || !take(&tail, entry->text)) continue;
    binding->bits = bits | entry->bits;
    if (bind_tail(binding, tail)) return true;
  }
  binding->bits = bits;
  return false;
}

static bool bind_suffixes(Binding *binding, Slice suffixes) {
  for (uint32_t i = 0; i < sass_style_entry_count; i++) {
    const StyleEntry *entry = &sass_style_entries[i];
    Slice rest = suffixes;
    if (entry->style != binding->layout->styles[0] || !take(&rest, entry->text)) continue;
    binding->bits = entry->bits;
    if (bind_second_style(binding, rest)) return true;
  }
  return false;
}

// ---- Operands --------------------------------------------------------------------------------------------------------
static bool bind_register(Binding *binding, const Written *written, Field field, unsigned rule, SassOperand *operand) {
  uint64_t word = sass_rows[binding->instr.row].value | binding->bits;
  bool narrow = layout_narrow(binding->layout, rule, word);
  if (narrow && written->half == SASS_WHOLE) return fail(binding, written->column, "needs a half register here, like R1L or R1H");
  if (!narrow && written->half != SASS_WHOLE) return fail(binding, written->column, "needs a whole register here, like R1");
  uint32_t number = narrow ? written->value * 2 + (written->half == SASS_HIGH) : written->value;
  if (!fits(field, number)) return fail(binding, written->column, "this form of the instruction cannot name so high a register");
  *operand = register_operand(number, narrow);
  return true;
}

static bool bind_shared(Binding *binding, const Written *written) {
  const Layout *layout = binding->layout;
  if (layout->a_shared.width == 0) return fail(binding, written->column, "no shared operand is possible here");
  if (!fits(layout->a_index, written->value)) return fail(binding, written->column, "the index of the shared operand is too large");
  binding->instr.a = (SassOperand){.kind = SASS_SHARED, .type = written->type, .value = written->value * sass_type_bytes(written->type)};
  binding->instr.address = written->address;
  return true;
}

static bool bind_modifiers(Binding *binding, const Written *written, Field negate, SassOperand *operand) {
  const SassInstr *instr = &binding->instr;
  bool is_a = operand == &instr->a;
  bool subtracts = instr->action == SASS_DO_SUBTRACT && is_a;
  operand->negate = written->negate && !subtracts;
  operand->absolute = written->absolute;
  operand->invert = written->invert;
  if (operand->negate && negate.width == 0) return fail(binding, written->column, "this operand cannot be negated");
  if (operand->absolute && binding->layout->absolute.width == 0)
    return fail(binding, written->column, "no absolute value is possible here");
  if (operand->invert && binding->layout->inverts.width == 0) return fail(binding, written->column, "this operand cannot be inverted");
  return true;
}

static bool bind_a(Binding *binding, const Written *written) {
  const Layout *layout = binding->layout;
  SassOperand *a = &binding->instr.a;
  bool ok;
  if (written->kind == WRITTEN_SHARED) {
    ok = bind_shared(binding, written);
  } else if (written->kind == WRITTEN_REGISTER) {
    ok = bind_register(binding, written, layout->a, layout->a_width, a);
  } else {
    ok = fail(binding, written->column, "expected a register or a shared operand");
  }
  return ok && bind_modifiers(binding, written, layout->a_negate, a);
}

static bool bind_constant(Binding *binding, const Written *written, Field index, bool narrow, SassOperand *operand) {
  if (index.width == 0) return fail(binding, written->column, "no constant operand is possible here");
  if (!fits(index, written->value)) return fail(binding, written->column, "the index of the constant operand is too large");
  *operand = (SassOperand){.kind = SASS_CONSTANT, .type = narrow ? SASS_U16 : SASS_U32};
  operand->field = (uint8_t)(written->value & 127);
  operand->value = written->value * (narrow ? 2 : 4);
  return true;
}

static bool bind_literal(Binding *binding, const Written *written) {
  const Layout *layout = binding->layout;
  if (!layout->literal_in_text) return fail(binding, written->column, "this form of the instruction has no place for a number");
  if (!fits(layout->b, written->value)) return fail(binding, written->column, "numbers here are 0 to 127");
  binding->instr.b = (SassOperand){.kind = SASS_IMMEDIATE, .field = (uint8_t)written->value, .value = written->value};
  return true;
}

static bool bind_b(Binding *binding, const Written *written) {
  const Layout *layout = binding->layout;
  SassOperand *b = &binding->instr.b;
  uint64_t word = sass_rows[binding->instr.row].value | binding->bits;
  bool narrow = layout_narrow(layout, layout->b_width == WIDTH_VALUE ? WIDTH_BIT : layout->b_width, word);
  bool ok;
  switch (written->kind) {
  case WRITTEN_REGISTER: ok = bind_register(binding, written, layout->b, layout->b_width, b); break;
  case WRITTEN_CONSTANT: ok = bind_constant(binding, written, layout->b_index, narrow, b); break;
  case WRITTEN_NUMBER: ok = bind_literal(binding, written); break;
  default: ok = fail(binding, written->column, "expected a register, a constant or a number");
  }
  return ok && bind_modifiers(binding, written, layout->b_negate, b);
}

// A third operand of R64 and above sets the bit that makes the second one a number (the literal rule).
static void apply_literal_rule(Binding *binding) {
  const Layout *layout = binding->layout;
  SassInstr *instr = &binding->instr;
  bool alone = instr->a.kind != SASS_SHARED || instr->address == 0;
  if (!layout->literals || layout->literal_in_text || !alone || instr->b.kind != SASS_GPR) return;
  unsigned field = layout->c.width != 0 ? instr->c.field : instr->b.field;
  if (field >= 64) instr->b.kind = SASS_IMMEDIATE;
}

static bool bind_c(Binding *binding, const Written *written) {
  const Layout *layout = binding->layout;
  SassOperand *c = &binding->instr.c;
  if (layout->c_is_d) {
    bool same = written->kind == WRITTEN_REGISTER && written->half == SASS_WHOLE && written->value == binding->instr.d.field;
    *c = register_operand(binding->instr.d.field, false);
    return same || fail(binding, written->column, "the third operand of this form is the destination register");
  }
  bool ok;
  if (written->kind == WRITTEN_CONSTANT && layout->c_const.width != 0) {
    ok = bind_constant(binding, written, layout->c, false, c);
  } else if (written->kind == WRITTEN_REGISTER) {
    ok = bind_register(binding, written, layout->c, layout->c_width, c);
  } else {
    ok = fail(binding, written->column, "expected a register");
  }
  return ok && bind_modifiers(binding, written, layout->c_negate, c);
}

static bool bind_d(Binding *binding, const Written *written) {
  Written discard = *written;
  if (written->kind == WRITTEN_OUTPUT) {
    uint64_t word = sass_rows[binding->instr.row].value | binding->bits;
    bool narrow = layout_narrow(binding->layout, binding->layout->d_width, word);
    discard.half = narrow ? SASS_HIGH : SASS_WHOLE;
    discard.value = narrow ? SASS_DISCARD_FIELD / 2 : SASS_DISCARD_FIELD;
  } else if (written->kind != WRITTEN_REGISTER) {
    return fail(binding, written->column, "expected a destination register");
  }
  return bind_register(binding, &discard, binding->layout->d, binding->layout->d_width, &binding->instr.d);
}

static bool bind_address_register(Binding *binding, const Written *written, uint32_t *number) {
  *number = written->value;
  return written->kind == WRITTEN_ADDRESS || fail(binding, written->column, "expected an address register, A1 to A4");
}

static bool bind_amount(Binding *binding, const Written *written) {
  bool adds = binding->instr.action == SASS_DO_ADD_ADDRESS;
  uint32_t most = adds ? 0x3FFF : 127;
  if (written->kind != WRITTEN_NUMBER) return fail(binding, written->column, "expected a number");
  bool ok = written->value <= most && (adds ? written->negate == (written->value > 0x1FFF) : !written->negate);
  if (!ok) return fail(binding, written->column, adds ? "amounts are 0 to 0x1fff and -0x2000 to -0x3fff" : "amounts are 0 to 127");
  uint32_t value = written->negate ? 0 - written->value : written->value;
  binding->instr.b = (SassOperand){.kind = SASS_IMMEDIATE, .field = (uint8_t)(value & 127), .value = value};
  return true;
}

static bool bind_immediate(Binding *binding, const Written *written) {
  SassInstr *instr = &binding->instr;
  if (written->kind != WRITTEN_NUMBER) return fail(binding, written->column, "expected a number");
  bool has_sign = binding->layout->b_negate.width != 0;
  SassOperand operand = {.kind = SASS_IMMEDIATE, .value = written->negate && !has_sign ? 0 - written->value : written->value};
  operand.negate = written->negate && has_sign;
  if (instr->row == SASS_MVI) {
    instr->a = operand;
  } else {
    instr->b = operand;
  }
  return true;
}

static void set_access(Binding *binding) {
  SassInstr probe;
  uint64_t word = sass_rows[binding->instr.row].value | binding->bits | 1;
  sass_decode((uint32_t)word, (uint32_t)(word >> 32), &probe);
  binding->instr.access_bytes = probe.access_bytes;
  binding->instr.access_signed = probe.access_signed;
}

static bool bind_global(Binding *binding, const Written *written) {
  if (written->kind != WRITTEN_GLOBAL) return fail(binding, written->column, "expected a place in global memory, like global14[R1]");
  set_access(binding);
  binding->instr.address = written->address;
  if (written->is_register) {
    binding->instr.a = register_operand(written->value, false);
    return true;
  }
  unsigned bytes = binding->instr.access_bytes;
  bool ok = written->value % bytes == 0 && written->value / bytes < 128;
  binding->instr.a = (SassOperand){.kind = SASS_IMMEDIATE, .value = written->value};
  return ok || fail(binding, written->column, "fixed addresses are 0 to 127 times the size of the access");
}

static bool bind_store(Binding *binding, const Written *written) {
  if (written->kind != WRITTEN_SHARED) return fail(binding, written->column, "expected a place in shared memory, like g[A1+0x4]");
  if (!fits(FIELD_STORE_INDEX, written->value)) return fail(binding, written->column, "the index is too large");
  set_access(binding);
  binding->instr.address = written->address;
  binding->instr.shared_offset = written->value * binding->instr.access_bytes;
  return true;
}

static bool bind_data(Binding *binding, const Written *written) {
  if (written->kind != WRITTEN_REGISTER) return fail(binding, written->column, "expected a register");
  bool byte_of_shared = binding->instr.action == SASS_DO_STORE_SHARED && binding->instr.access_bytes == 1;
  unsigned rule = byte_of_shared ? WIDTH_32 : binding->layout->c_width;
  return bind_register(binding, written, binding->layout->c, rule, &binding->instr.c);
}

static bool bind_name(Binding *binding, const Written *written, const char *const *names, unsigned count, uint32_t *index) {
  for (unsigned i = 0; i < count && written->kind == WRITTEN_NAME; i++) {
    *index = i;
    if (slice_is(written->name, names[i])) return true;
  }
  return fail(binding, written->column, count == 2 ? "expected SIN or EX2" : "expected a comparison: LT, EQ, LE, GT, NE, GE, TR or FL");
}

static bool bind_target(Binding *binding, const Written *written) {
  if (written->kind == WRITTEN_NAME) {
    binding->label = written->name;
    return true;
  }
  if (written->kind != WRITTEN_NUMBER || written->negate) return fail(binding, written->column, "expected a label or an address");
  if (!fits(FIELD_TARGET, written->value)) return fail(binding, written->column, "addresses of instructions have 19 bits");
  binding->instr.target = written->value;
  return true;
}

static bool bind_field(Binding *binding, const Written *written, unsigned kind, Field field) {
  if (written->kind != kind || written->negate)
    return fail(binding, written->column, kind == WRITTEN_BARRIER ? "expected a barrier, b0" : "expected a number");
  if (!fits(field, written->value)) return fail(binding, written->column, "the number is too large");
  binding->bits = field_put(binding->bits, field, written->value);
  return true;
}

static bool bind_flags(Binding *binding, const Written *written) {
  binding->instr.guard_register = (uint8_t)written->value;
  return written->kind == WRITTEN_FLAGS || fail(binding, written->column, "expected a predicate register, C0 to C3");
}

static bool bind_text(Binding *binding, unsigned text, const Written *written) {
  SassInstr *instr = &binding->instr;
  uint32_t number = 0;
  bool ok;
  switch (text) {
  case TEXT_D: return bind_d(binding, written);
  case TEXT_A: return bind_a(binding, written);
  case TEXT_B: return bind_b(binding, written);
  case TEXT_C: return bind_c(binding, written);
  case TEXT_AMOUNT: return bind_amount(binding, written);
  case TEXT_GLOBAL: return bind_global(binding, written);
  case TEXT_SHARED_STORE: return bind_store(binding, written);
  case TEXT_DATA: return bind_data(binding, written);
  case TEXT_TARGET: return bind_target(binding, written);
  case TEXT_BARRIER: return bind_field(binding, written, WRITTEN_BARRIER, FIELD_BARRIER);
  case TEXT_THREADS: return bind_field(binding, written, WRITTEN_NUMBER, FIELD_THREADS);
  case TEXT_IMMEDIATE: return bind_immediate(binding, written);
  case TEXT_FLAGS: return bind_flags(binding, written);
  case TEXT_D_ADDRESS:
    ok = bind_address_register(binding, written, &number);
    instr->d = (SassOperand){.kind = SASS_ADDRESS, .value = number};
    return ok;
  case TEXT_ADDRESS:
    ok = bind_address_register(binding, written, &number);
    instr->address = (uint8_t)number;
    return ok;
  case TEXT_COMPARE:
    ok = bind_name(binding, written, sass_compare_text, 8, &number);
    instr->select = (uint8_t)number;
    return ok;
  case TEXT_REDUCTION:
    ok = bind_name(binding, written, sass_reduction_text, 2, &number);
    binding->bits = field_put(binding->bits, FIELD_REDUCTION, number);
    return ok;
  default: // TEXT_CONSTANT
    if (written->kind != WRITTEN_CONSTANT) return fail(binding, written->column, "expected a constant, like c[0x1][0x2]");
    return bind_constant(binding, written, (Field){9, 7}, false, &instr->a);
  }
}

// ---- Statements ------------------------------------------------------------------------------------------------------
static bool bind_guard(Binding *binding) {
  const Statement *statement = binding->statement;
  SassInstr *instr = &binding->instr;
  instr->guard_condition = binding->layout->guard_never ? 0 : SASS_ALWAYS;
  if (!statement->guarded) return true;
  bool possible = (instr->format == SASS_LONG || instr->format == SASS_CONTROL) && !binding->layout->guard_silent;
  if (!possible) return fail(binding, statement->guard_column, "this form of the instruction cannot be guarded");
  bool shown = binding->layout->carry;
  if (shown && statement->guard_register != instr->guard_register)
    return fail(binding, statement->guard_column, "the guard and the carry are of the same predicate register");
  instr->guard_condition = statement->guard_condition;
  bool unlooked = instr->guard_condition == SASS_ALWAYS || (instr->guard_condition == 0 && binding->layout->guard_never);
  instr->guard_register = unlooked && !shown ? 0 : statement->guard_register;
  return true;
}

static bool bind_operands(Binding *binding) {
  const Statement *statement = binding->statement;
  uint32_t count = 0;
  while (count < MOST_OPERANDS && binding->layout->texts[count] != TEXT_NOTHING) count++;
  if (statement->count != count) {
    return diags_add(binding->diags, statement->file, statement->line, statement->column, "%.*s takes %u operand%s, not %u",
                     (int)statement->mnemonic.length, statement->mnemonic.at, count, count == 1 ? "" : "s", statement->count);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!bind_text(binding, binding->layout->texts[i], &statement->operands[i])) return false;
  }
  return bind_guard(binding);
}

static bool same_text(const SassInstr *a, const SassInstr *b) {
  Text first = {0}, second = {0};
  sass_format(a, &first);
  sass_format(b, &second);
  bool same = strcmp(first.at, second.at) == 0;
  text_free(&first);
  text_free(&second);
  return same;
}

// Encodes and decodes again: what was written must be what the machine will see.
static bool settle(Binding *binding) {
  SassInstr *instr = &binding->instr;
  apply_literal_rule(binding);
  instr->low = (uint32_t)binding->bits;
  instr->high = (uint32_t)(binding->bits >> 32);
  uint32_t low, high;
  sass_encode(instr, &low, &high);
  SassInstr seen;
  bool legal = sass_decode(low, high, &seen);
  if (!legal || !same_text(instr, &seen)) return fail(binding, binding->statement->column, "these operands cannot be encoded together");
  *instr = seen;
  return true;
}

static void start_row(Binding *binding, unsigned row) {
  const SassRowInfo *info = &sass_rows[row];
  binding->layout = row_layout(row);
  binding->bits = 0;
  binding->label = (Slice){"", 0};
  binding->instr = (SassInstr){
      .row = (uint16_t)row,
      .format = (uint8_t)info->format,
      .bytes = info->format == SASS_HALF ? 4 : 8,
      .action = (uint8_t)info->action,
      .read = sass_row_details[row].read,
      .legal = true,
  };
}

static bool unknown_mnemonic(const Statement *statement, Slice base, Diags *diags) {
  const char *names[SASS_ROW_COUNT];
  size_t count = 0;
  for (unsigned row = 0; row < SASS_ROW_COUNT; row++) {
    if (sass_rows[row].mnemonic[0] != '\0') names[count++] = sass_rows[row].mnemonic;
  }
  char word[64] = {0};
  memcpy(word, base.at, base.length < sizeof word ? base.length : sizeof word - 1);
  const char *near = text_nearest(word, names, count);
  if (near == NULL) return diags_add(diags, statement->file, statement->line, statement->column, "unknown instruction '%s'", word);
  return diags_add(diags, statement->file, statement->line, statement->column, "unknown instruction '%s'; did you mean '%s'?", word, near);
}

static bool report_best(const Diags *tries, const Statement *statement, Diags *diags) {
  const Diag *best = NULL;
  for (uint32_t i = 0; i < tries->count; i++) {
    if (best == NULL || tries->items[i].column > best->column) best = &tries->items[i];
  }
  if (best == NULL) {
    return diags_add(diags, statement->file, statement->line, statement->column, "the suffixes of '%.*s' do not fit the instruction",
                     (int)statement->mnemonic.length, statement->mnemonic.at);
  }
  return diags_add(diags, best->file, best->line, best->column, "%s", best->text);
}

// Subtraction is spelled as an addition whose first source is negated.
static bool spelled_so(const Statement *statement, unsigned row) {
  bool negated = statement->count > 1 && statement->operands[1].negate;
  if (sass_rows[row].action == SASS_DO_SUBTRACT) return negated;
  return sass_rows[row].action != SASS_DO_ADD || !negated;
}

bool statement_bind(const Statement *statement, SassInstr *instr, Slice *label, Diags *diags) {
  const char *dot = memchr(statement->mnemonic.at, '.', statement->mnemonic.length);
  Slice base = statement->mnemonic;
  if (dot != NULL) base.length = (uint32_t)(dot - base.at);
  Slice suffixes = {base.at + base.length, statement->mnemonic.length - base.length};
  Diags tries = {0};
  bool known = false, done = false;
  for (unsigned row = 0; row < SASS_ROW_COUNT && !done; row++) {
    if (sass_rows[row].mnemonic[0] == '\0' || !slice_is(base, sass_rows[row].mnemonic)) continue;
    known = true;
    if (!spelled_so(statement, row)) continue;
    Binding binding = {.statement = statement, .diags = &tries};
    start_row(&binding, row);
    done = bind_suffixes(&binding, suffixes) && bind_operands(&binding) && settle(&binding);
    *instr = binding.instr;
    *label = binding.label;
  }
  if (!known) {
    unknown_mnemonic(statement, base, diags);
  } else if (!done) {
    report_best(&tries, statement, diags);
  }
  diags_free(&tries);
  return done;
}
