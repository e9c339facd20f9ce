// One line of assembly to its parts: mnemonic, guard, operands as written. What they mean for an instruction is bind.c's.
#include "sass/sass_internal.h"

#include <stdlib.h>

typedef struct Cursor {
  const char *at, *end, *line_start;
  Statement *statement;
  Diags *diags;
} Cursor;

static int column_of(const Cursor *cursor, const char *at) { return (int)(at - cursor->line_start) + 1; }

static bool fail(const Cursor *cursor, const char *at, const char *text) {
  return diags_add(cursor->diags, cursor->statement->file, cursor->statement->line, column_of(cursor, at), "%s", text);
}

static bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}

static void skip_space(Cursor *cursor) {
  while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' || *cursor->at == '\r')) cursor->at++;
}

static bool accept(Cursor *cursor, char c) {
  skip_space(cursor);
  if (cursor->at == cursor->end || *cursor->at != c) return false;
  cursor->at++;
  return true;
}

static bool expect(Cursor *cursor, char c) {
  if (accept(cursor, c)) return true;
  char text[] = "expected ' '";
  text[10] = c;
  return fail(cursor, cursor->at, text);
}

static Slice word_next(Cursor *cursor) {
  skip_space(cursor);
  const char *start = cursor->at;
  while (cursor->at < cursor->end && is_word(*cursor->at)) cursor->at++;
  return (Slice){start, (uint32_t)(cursor->at - start)};
}

static bool parse_float(Slice text, uint32_t *value) {
  char copy[64];
  if (text.length >= sizeof copy) return false;
  memcpy(copy, text.at, text.length);
  copy[text.length] = '\0';
  char *end;
  float number = strtof(copy, &end);
  *value = bits_of_f32(number);
  return end == copy + text.length;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

bool number_parse(Slice text, uint32_t *value, bool *negative) {
  *negative = text.length > 0 && text.at[0] == '-';
  if (*negative) text = (Slice){text.at + 1, text.length - 1};
  if (text.length == 0 || text.at[0] < '0' || text.at[0] > '9') return false;
  bool hexadecimal = text.length > 2 && text.at[0] == '0' && (text.at[1] == 'x' || text.at[1] == 'X');
  if (!hexadecimal && memchr(text.at, '.', text.length) != NULL) {
    if (!parse_float(text, value)) return false;
    if (*negative) *value ^= 0x80000000; // a float's sign is a bit of it
    *negative = false;
    return true;
  }
  uint64_t number = 0;
  for (uint32_t i = hexadecimal ? 2 : 0; i < text.length; i++) {
    int digit = digit_of(text.at[i]);
    if (digit >= (hexadecimal ? 16 : 10)) return false;
    number = number * (hexadecimal ? 16 : 10) + (uint64_t)digit;
    if (number > UINT32_MAX) return false;
  }
  *value = (uint32_t)number;
  return true;
}

// "R12", "A3": a letter and decimal digits, then `tail` for what follows.
static bool numbered(Slice word, char letter, uint32_t most, uint32_t *number, Slice *tail) {
  if (word.length < 2 || word.at[0] != letter) return false;
  uint32_t i = 1, value = 0;
  for (; i < word.length && word.at[i] >= '0' && word.at[i] <= '9' && i < 5; i++) value = value * 10 + (uint32_t)(word.at[i] - '0');
  *number = value;
  *tail = (Slice){word.at + i, word.length - i};
  return i > 1 && value <= most;
}

static bool parse_register(Slice word, Written *written) {
  Slice tail;
  if (!numbered(word, 'R', 127, &written->value, &tail)) return false;
  written->kind = WRITTEN_REGISTER;
  if (tail.length == 0) return true;
  written->half = tail.at[0] == 'L' ? SASS_LOW : SASS_HIGH;
  return tail.length == 1 && (tail.at[0] == 'L' || tail.at[0] == 'H') && written->value < 64;
}

static bool parse_name_like(Slice word, Written *written) {
  Slice tail;
  if (parse_register(word, written)) return true;
  *written = (Written){.column = written->column, .negate = written->negate, .absolute = written->absolute, .invert = written->invert};
  if (numbered(word, 'A', 4, &written->value, &tail) && tail.length == 0 && written->value != 0) {
    written->kind = WRITTEN_ADDRESS;
  } else if (numbered(word, 'C', 3, &written->value, &tail) && tail.length == 0) {
    written->kind = WRITTEN_FLAGS;
  } else if (numbered(word, 'b', 15, &written->value, &tail) && tail.length == 0) {
    written->kind = WRITTEN_BARRIER;
  } else {
    written->kind = WRITTEN_NAME;
    written->name = word;
  }
  return true;
}

static bool parse_index(Cursor *cursor, uint32_t *value) {
  Slice word = word_next(cursor);
  bool negative;
  if (word.length == 0 || !number_parse(word, value, &negative)) return fail(cursor, word.at, "expected a number");
  return true;
}

// "[A1+0x2]", "[A1]" or "[0x2]"; with `registers` also "[R2]" and "[A1+R2]".
static bool parse_place(Cursor *cursor, Written *written, bool registers) {
  if (!expect(cursor, '[')) return false;
  Slice word = word_next(cursor);
  Slice tail;
  uint32_t number;
  if (numbered(word, 'A', 4, &number, &tail) && tail.length == 0 && number != 0) {
    written->address = (uint8_t)number;
    if (!accept(cursor, '+')) return expect(cursor, ']');
    word = word_next(cursor);
  }
  Written inner = {0};
  bool negative = false;
  if (registers && parse_register(word, &inner) && inner.half == SASS_WHOLE) {
    written->is_register = true;
    written->value = inner.value;
  } else if (!number_parse(word, &written->value, &negative)) {
    return fail(cursor, word.at, registers ? "expected a register or a number" : "expected a number");
  }
  return expect(cursor, ']');
}

static bool parse_shared(Cursor *cursor, Written *written) {
  written->kind = WRITTEN_SHARED;
  written->type = SASS_U32;
  if (!parse_place(cursor, written, false)) return false;
  const char *at = cursor->at;
  Slice type = word_next(cursor);
  if (type.length == 0 || slice_is(type, ".U32")) return true;
  for (unsigned i = 0; i < 3; i++) {
    written->type = (uint8_t)i;
    if (slice_is(type, sass_type_text[i])) return true;
  }
  return fail(cursor, at, "unknown type of a shared operand; there are .U8, .U16, .S16 and .U32");
}

static bool parse_constant(Cursor *cursor, Written *written) {
  written->kind = WRITTEN_CONSTANT;
  uint32_t segment; // all segments are the same memory
  return expect(cursor, '[') && parse_index(cursor, &segment) && expect(cursor, ']') && expect(cursor, '[') &&
         parse_index(cursor, &written->value) && expect(cursor, ']');
}

static bool parse_output(Cursor *cursor, Written *written) {
  written->kind = WRITTEN_OUTPUT;
  const char *at = cursor->at;
  if (!expect(cursor, '[') || !parse_index(cursor, &written->value) || !expect(cursor, ']')) return false;
  return written->value == SASS_DISCARD_FIELD || fail(cursor, at, "the one output register is o[0x7f]");
}

static bool parse_number(Cursor *cursor, Slice word, Written *written) {
  bool negative;
  written->kind = WRITTEN_NUMBER;
  if (!number_parse(word, &written->value, &negative)) return fail(cursor, word.at, "not a number of 32 bits");
  if (memchr(word.at, '.', word.length) != NULL && written->negate) {
    written->value ^= 0x80000000;
    written->negate = false;
  }
  return true;
}

static bool parse_operand(Cursor *cursor, Written *written) {
  skip_space(cursor);
  *written = (Written){.column = column_of(cursor, cursor->at)};
  written->negate = accept(cursor, '-');
  written->invert = accept(cursor, '~');
  written->absolute = accept(cursor, '|');
  Slice word = word_next(cursor);
  bool ok;
  if (word.length == 0) {
    ok = fail(cursor, cursor->at, "expected an operand");
  } else if (slice_is(word, "g")) {
    ok = parse_shared(cursor, written);
  } else if (slice_is(word, "c")) {
    ok = parse_constant(cursor, written);
  } else if (slice_is(word, "o")) {
    ok = parse_output(cursor, written);
  } else if (slice_is(word, "global14") || slice_is(word, "global")) {
    written->kind = WRITTEN_GLOBAL;
    ok = parse_place(cursor, written, true);
  } else if (word.at[0] >= '0' && word.at[0] <= '9') {
    ok = parse_number(cursor, word, written);
  } else {
    ok = parse_name_like(word, written);
  }
  return ok && (!written->absolute || expect(cursor, '|'));
}

static bool find_condition(Slice name, uint8_t *condition) {
  for (unsigned i = 0; i < 32; i++) {
    if (sass_condition_text[i] == NULL || !slice_is(name, sass_condition_text[i])) continue;
    *condition = (uint8_t)i;
    return true;
  }
  return false;
}

// "C0.NE"
static bool guard_of(Slice word, Statement *statement) {
  Slice tail;
  uint32_t number;
  if (!numbered(word, 'C', 3, &number, &tail) || tail.length < 2 || tail.at[0] != '.') return false;
  if (!find_condition((Slice){tail.at + 1, tail.length - 1}, &statement->guard_condition)) return false;
  statement->guarded = true;
  statement->guard_register = (uint8_t)number;
  return true;
}

static bool parse_guard(Cursor *cursor) {
  Statement *statement = cursor->statement;
  if (!accept(cursor, '(')) return true;
  Slice word = word_next(cursor);
  statement->guard_column = column_of(cursor, word.at);
  if (!guard_of(word, statement)) return fail(cursor, word.at, "expected a guard like C0.NE");
  return expect(cursor, ')');
}

bool statement_parse(const char *at, const char *end, const char *line_start, Statement *statement, Diags *diags) {
  Cursor cursor = {at, end, line_start, statement, diags};
  statement->mnemonic = word_next(&cursor);
  statement->column = column_of(&cursor, statement->mnemonic.at);
  if (statement->mnemonic.length == 0) return fail(&cursor, cursor.at, "expected an instruction");
  skip_space(&cursor);
  while (cursor.at < cursor.end) {
    if (statement->count == MOST_OPERANDS) return fail(&cursor, cursor.at, "too many operands");
    Written *written = &statement->operands[statement->count];
    if (!parse_operand(&cursor, written)) return false;
    statement->count++;
    if (statement->count == 1 && written->kind == WRITTEN_NAME && guard_of(written->name, statement)) {
      statement->count = 0; // control instructions name their guard first
      statement->guard_column = written->column;
    } else if (statement->count == 1 && !parse_guard(&cursor)) {
      return false;
    }
    skip_space(&cursor);
    if (cursor.at == cursor.end) break;
    if (!expect(&cursor, ',')) return false;
    skip_space(&cursor);
    if (cursor.at == cursor.end) return fail(&cursor, cursor.at, "expected an operand");
  }
  return true;
}
