// The text of a fragment program; see shader.h. One pass: jumps of structured branches are filled in when their ends are met, calls at the end.
#include "shader/shader.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum OpenKind { OPEN_IF, OPEN_ELSE, OPEN_REP, OPEN_LOOP } OpenKind;
typedef struct Open { // a branch or loop whose end is to come
  OpenKind kind;
  uint32_t at; // its instruction
} Open;
typedef struct Label {
  const char *name;
  uint32_t at;
  int line;
} Label;

enum { MOST_OPEN = 64 };

typedef struct Parser {
  const char *file, *next, *end;
  int line;
  const char *line_start;
  Diags *diags;
  Arena *arena;
  VEC(ShaderInstr) code;
  VEC(ShaderParameter) constants;
  VEC(Label) labels, calls;
  VEC(uint32_t) breaks; // BRK whose loop is open: instruction, in the order of the text
  Open open[MOST_OPEN];
  uint32_t open_count;
  bool failed; // in this statement
} Parser;

// ---- Words ---------------------------------------------------------------------------------------------------------

static bool wrong(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool wrong(Parser *p, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!p->failed) diags_add(p->diags, p->file, p->line, (int)(p->next - p->line_start) + 1, "%s", text);
  p->failed = true;
  return false;
}

static void skip(Parser *p) {
  for (; p->next < p->end; p->next++) {
    if (*p->next == '#') {
      while (p->next + 1 < p->end && p->next[1] != '\n') p->next++;
    } else if (*p->next == '\n') {
      p->line++;
      p->line_start = p->next + 1;
    } else if (!isspace((unsigned char)*p->next)) {
      return;
    }
  }
}

static bool at(Parser *p, char c) {
  skip(p);
  return p->next < p->end && *p->next == c;
}

static bool take(Parser *p, char c) {
  if (!at(p, c)) return false;
  p->next++;
  return true;
}

static bool want(Parser *p, char c) { return take(p, c) || wrong(p, "'%c' is missing here", c); }

enum { MOST_WORD = 63 };

// Letters, digits and '_' into `word`; false: there are none, or (which has been said) too many.
static bool take_word(Parser *p, char word[64]) {
  skip(p);
  size_t length = 0;
  while (p->next < p->end && (isalnum((unsigned char)*p->next) || *p->next == '_')) {
    if (length == MOST_WORD) return wrong(p, "a name or number has at most %d characters", MOST_WORD);
    word[length++] = *p->next++;
  }
  word[length] = '\0';
  return length > 0;
}

static bool take_number(Parser *p, float *value) {
  skip(p);
  char text[64];
  size_t length = 0;
  const char *from = p->next;
  while (p->next < p->end && length < MOST_WORD && (isalnum((unsigned char)*p->next) || strchr("+-.", *p->next) != NULL)) {
    bool is_sign = *p->next == '+' || *p->next == '-';
    bool follows_e = length > 0 && (text[length - 1] == 'e' || text[length - 1] == 'E');
    if (is_sign && length > 0 && !follows_e) break;
    text[length++] = *p->next++;
  }
  text[length] = '\0';
  char *rest;
  *value = strtof(text, &rest);
  if (length > 0 && *rest == '\0') return true;
  p->next = from;
  return wrong(p, "a number is missing here");
}

static bool take_index(Parser *p, const char *digits, uint32_t most, uint32_t *index) {
  char *rest;
  unsigned long value = isdigit((unsigned char)*digits) ? strtoul(digits, &rest, 10) : ULONG_MAX;
  if (value == ULONG_MAX || *rest != '\0') return false;
  *index = (uint32_t)value;
  return value < most || wrong(p, "there are only %u of these, from 0", most);
}

// ---- Components ------------------------------------------------------------------------------------------------------

static int component_of(char c) {
  static const char names[] = "xyzwrgba";
  const char *found = c != '\0' ? strchr(names, c) : NULL;
  return found != NULL ? (int)(found - names) % 4 : -1;
}

// ".xyz" as a mask; without it all.
static bool take_mask(Parser *p, uint8_t *mask) {
  *mask = 0xF;
  if (!take(p, '.')) return true;
  char word[64];
  int last = -1;
  *mask = 0;
  if (!take_word(p, word)) return wrong(p, "components are missing after '.'");
  for (const char *c = word; *c != '\0'; c++) {
    int component = component_of(*c);
    if (component <= last) return wrong(p, "'.%s' is no write mask: some of x, y, z, w, in this order", word);
    last = component;
    *mask |= (uint8_t)(1 << component);
  }
  return true;
}

static bool take_swizzle(Parser *p, uint8_t swizzle[4]) {
  for (uint8_t i = 0; i < 4; i++) swizzle[i] = i;
  if (!take(p, '.')) return true;
  char word[64];
  bool good = take_word(p, word);
  size_t length = strlen(word);
  good = good && (length == 1 || length == 4);
  for (size_t i = 0; i < length && good; i++) good = component_of(word[i]) >= 0;
  if (!good) return wrong(p, "'.%s' is no swizzle: one of x, y, z, w, or four of them", word);
  for (uint8_t i = 0; i < 4; i++) swizzle[i] = (uint8_t)component_of(word[length == 1 ? 0 : i]);
  return true;
}

static bool find_test(const char *name, uint8_t *test) {
  static const struct {
    const char *name;
    uint8_t test;
  } tests[] = {{"EQ", CODE_EQUAL},   {"NE", CODE_LESS | CODE_GREATER | CODE_UNORDERED},
               {"LT", CODE_LESS},    {"LE", CODE_LESS | CODE_EQUAL},
               {"GT", CODE_GREATER}, {"GE", CODE_GREATER | CODE_EQUAL},
               {"TR", CODE_ANY},     {"FL", 0}};
  for (size_t i = 0; i < COUNT_OF(tests); i++) {
    if (strcmp(tests[i].name, name) != 0) continue;
    *test = tests[i].test;
    return true;
  }
  return false;
}

// GT, GT.x, (GT.x)
static bool take_test(Parser *p, ShaderInstr *instr) {
  bool has_bracket = take(p, '(');
  char word[64];
  if (!take_word(p, word) || !find_test(word, &instr->test))
    return wrong(p, "a condition is missing here: EQ, NE, LT, LE, GT, GE, TR or FL");
  return take_swizzle(p, instr->test_swizzle) && (!has_bracket || want(p, ')'));
}

// ---- Constants ---------------------------------------------------------------------------------------------------------

// {1, 2}: what is not said is 0, and 1 in w.
static bool take_vector(Parser *p, float value[4]) {
  uint32_t count = 0;
  value[0] = value[1] = value[2] = 0.0f;
  value[3] = 1.0f;
  if (!want(p, '{')) return false;
  do {
    float x;
    if (count == 4) return wrong(p, "a vector has at most four numbers");
    if (!take_number(p, &x)) return false;
    value[count++] = x;
  } while (take(p, ','));
  return want(p, '}');
}

static bool find_constant(const Parser *p, const char *name, uint32_t *index) {
  for (uint32_t i = 0; i < p->constants.count; i++) {
    const char *other = p->constants.items[i].name;
    if (other == NULL || strcmp(other, name) != 0) continue;
    *index = i;
    return true;
  }
  return false;
}

static bool add_constant(Parser *p, const char *name, const float value[4], uint32_t *index) {
  for (uint32_t i = 0; i < p->constants.count && name == NULL; i++) {
    *index = i;
    if (p->constants.items[i].name == NULL && memcmp(p->constants.items[i].value, value, 4 * sizeof(float)) == 0) return true;
  }
  if (p->constants.count == SHADER_MOST_CONSTANTS)
    return wrong(p, "a program has at most %d constants and parameters", SHADER_MOST_CONSTANTS);
  *index = p->constants.count;
  ShaderParameter *constant = VEC_PUSH(&p->constants, p->arena);
  *constant = (ShaderParameter){.name = name};
  memcpy(constant->value, value, sizeof constant->value);
  return true;
}

// DEFINE name = {...}; DECLARE name; DECLARE name = {...};
static bool declaration(Parser *p, bool needs_value) {
  char word[64];
  float value[4] = {0};
  uint32_t index;
  if (!take_word(p, word)) return wrong(p, "a name is missing here");
  if (find_constant(p, word, &index)) return wrong(p, "'%s' is there already", word);
  if (take(p, '=')) {
    if (at(p, '{') ? !take_vector(p, value) : !take_number(p, &value[0])) return false;
  } else if (needs_value) {
    return wrong(p, "DEFINE wants '= {...}'");
  }
  return add_constant(p, arena_copy_text(p->arena, word, strlen(word)), value, &index);
}

// ---- Sources -----------------------------------------------------------------------------------------------------------

static const char *const input_names[] = {"WPOS", "COL0", "COL1", "FOGC", "TEX0", "TEX1", "TEX2", "TEX3", "TEX4", "TEX5", "TEX6", "TEX7"};

// f[TEX0], f[TEX[A0.x + 1]]
static bool take_input(Parser *p, ShaderSource *source) {
  char word[64];
  source->file = SHADER_INPUT;
  if (!want(p, '[')) return false;
  if (!take_word(p, word)) return wrong(p, "a name is missing here");
  if (strcmp(word, "TEX") == 0 && take(p, '[')) {
    uint32_t offset = 0;
    bool good = take_word(p, word) && strcmp(word, "A0") == 0 && take(p, '.') && take_word(p, word) && strcmp(word, "x") == 0;
    if (!good) return wrong(p, "texture coordinates are numbered by A0.x");
    if (take(p, '+') && (!take_word(p, word) || !take_index(p, word, 8, &offset))) return wrong(p, "a number from 0 to 7 is missing here");
    source->is_indexed = true;
    source->index = (uint8_t)(INPUT_TEX0 + offset);
    return want(p, ']') && want(p, ']');
  }
  for (uint8_t i = 0; i < COUNT_OF(input_names); i++) {
    if (strcmp(input_names[i], word) != 0) continue;
    source->index = i;
    return want(p, ']');
  }
  return wrong(p, "no input 'f[%s]': there are WPOS, COL0, COL1, FOGC and TEX0 to TEX7", word);
}

// p[3]: the program's parameter of that number.
static bool take_parameter(Parser *p, ShaderSource *source) {
  char word[64], name[80];
  uint32_t index;
  static const float zeros[4] = {0};
  if (!want(p, '[')) return false;
  if (!take_word(p, word)) return wrong(p, "a number or a name is missing here");
  snprintf(name, sizeof name, isdigit((unsigned char)word[0]) ? "p[%s]" : "%s", word);
  bool known = find_constant(p, name, &index);
  if (!known && !isdigit((unsigned char)word[0])) return wrong(p, "no parameter '%s' was declared", word);
  if (!known && !add_constant(p, arena_copy_text(p->arena, name, strlen(name)), zeros, &index)) return false;
  source->file = SHADER_CONSTANT;
  source->index = (uint8_t)index;
  return want(p, ']');
}

static bool take_literal(Parser *p, ShaderSource *source) {
  float value[4];
  uint32_t index;
  bool is_vector = at(p, '{');
  if (is_vector ? !take_vector(p, value) : !take_number(p, &value[0])) return false;
  if (!is_vector) value[1] = value[2] = value[3] = value[0];
  if (!add_constant(p, NULL, value, &index)) return false;
  source->file = SHADER_CONSTANT;
  source->index = (uint8_t)index;
  return true;
}

static bool take_register(Parser *p, ShaderSource *source) {
  char word[64];
  uint32_t index;
  skip(p);
  if (p->next < p->end && (isdigit((unsigned char)*p->next) || strchr("{.+", *p->next) != NULL)) return take_literal(p, source);
  if (!take_word(p, word)) return wrong(p, "an operand is missing here");
  if (strcmp(word, "f") == 0) return take_input(p, source);
  if (strcmp(word, "p") == 0) return take_parameter(p, source);
  if (find_constant(p, word, &index)) {
    source->file = SHADER_CONSTANT;
    source->index = (uint8_t)index;
    return true;
  }
  bool is_temp = word[0] == 'R' && take_index(p, word + 1, SHADER_TEMPS, &index);
  bool is_half = !is_temp && word[0] == 'H' && take_index(p, word + 1, SHADER_HALVES, &index);
  if (!is_temp && !is_half) return wrong(p, "'%s' is neither a register nor a constant that was defined", word);
  source->file = is_temp ? SHADER_TEMP : SHADER_HALF;
  source->index = (uint8_t)index;
  return true;
}

static bool take_source(Parser *p, ShaderSource *source) {
  *source = (ShaderSource){.negate = take(p, '-')};
  if (!source->negate) take(p, '+');
  source->absolute = take(p, '|');
  return take_register(p, source) && take_swizzle(p, source->swizzle) && (!source->absolute || want(p, '|'));
}

// ---- Instructions ----------------------------------------------------------------------------------------------------------

static bool take_target(Parser *p, ShaderInstr *instr) {
  char word[64];
  uint32_t index;
  if (!take_word(p, word)) return wrong(p, "the register for the result is missing here");
  if (strcmp(word, "RC") == 0 || strcmp(word, "HC") == 0) {
    instr->file = SHADER_NOWHERE;
  } else if (strcmp(word, "o") == 0) {
    instr->file = SHADER_OUTPUT;
    if (!want(p, '[') || !take_word(p, word)) return wrong(p, "the name of an output is missing here");
    bool is_color = strcmp(word, "COLR") == 0 || strcmp(word, "COLH") == 0;
    bool is_place = strcmp(word, "WPOS") == 0;
    if (!is_color && !is_place && strcmp(word, "DEPR") != 0)
      return wrong(p, "no output 'o[%s]': there are COLR, COLH, DEPR and WPOS", word);
    instr->index = is_color ? OUTPUT_COLOR : is_place ? OUTPUT_PLACE : OUTPUT_DEPTH;
    if (!want(p, ']')) return false;
  } else if (word[0] == 'R' && take_index(p, word + 1, SHADER_TEMPS, &index)) {
    instr->file = SHADER_TEMP;
    instr->index = (uint8_t)index;
  } else if (word[0] == 'H' && take_index(p, word + 1, SHADER_HALVES, &index)) {
    instr->file = SHADER_HALF;
    instr->index = (uint8_t)index;
  } else {
    return wrong(p, "'%s' takes no result: R0 to R31, H0 to H63, RC, HC, o[COLR], o[COLH], o[DEPR] and o[WPOS] do", word);
  }
  return take_mask(p, &instr->mask) && (!at(p, '(') || take_test(p, instr));
}

static bool take_texture(Parser *p, ShaderInstr *instr) {
  static const char *const shapes[] = {"1D", "2D", "3D", "CUBE", "RECT"};
  char word[64];
  uint32_t index;
  if (!want(p, ',')) return false;
  if (!take_word(p, word) || strncmp(word, "TEX", 3) != 0 || !take_index(p, word + 3, SHADER_TEXTURES, &index))
    return wrong(p, "a texture is missing here: TEX0 to TEX%d", SHADER_TEXTURES - 1);
  instr->texture = (uint8_t)index;
  if (!want(p, ',') || !take_word(p, word)) return wrong(p, "the texture's shape is missing here");
  for (uint8_t i = 0; i < COUNT_OF(shapes); i++) {
    instr->shape = i;
    if (strcmp(shapes[i], word) == 0) return true;
  }
  return wrong(p, "no shape '%s': there are 1D, 2D, 3D, CUBE and RECT", word);
}

// MULRC_SAT: the instruction, its precision (by default that of the register for the result), C and _SAT.
static bool find_op(const char *word, ShaderInstr *instr, bool *has_precision) {
  for (uint32_t op = 0; op < SHADER_OPS; op++) {
    size_t length = strlen(shader_op_info[op].name);
    if (strncmp(word, shader_op_info[op].name, length) != 0) continue;
    const char *rest = word + length;
    *has_precision = *rest == 'R' || *rest == 'H' || *rest == 'X';
    instr->precision = *rest == 'H' ? PRECISION_HALF : *rest == 'X' ? PRECISION_FIXED : PRECISION_FLOAT;
    if (*has_precision) rest++;
    instr->sets_code = *rest == 'C';
    if (instr->sets_code) rest++;
    instr->saturates = strcmp(rest, "_SAT") == 0;
    bool is_plain = shader_op_info[op].kind == SHADER_KILL || shader_op_info[op].kind == SHADER_FLOW;
    if ((*rest != '\0' && !instr->saturates) || (is_plain && word[length] != '\0')) continue;
    instr->op = (uint16_t)op;
    return true;
  }
  return false;
}

static bool computation(Parser *p, ShaderInstr *instr, bool has_precision) {
  const ShaderOpInfo *info = &shader_op_info[instr->op];
  if (!take_target(p, instr)) return false;
  if (!has_precision && instr->file == SHADER_HALF) instr->precision = PRECISION_HALF;
  for (uint32_t i = 0; i < info->sources; i++) {
    if (!want(p, ',') || !take_source(p, &instr->source[i])) return false;
  }
  return info->kind != SHADER_TEXTURE || take_texture(p, instr);
}

// ---- Flow --------------------------------------------------------------------------------------------------------------

static bool begin(Parser *p, OpenKind kind) {
  uint32_t loops = 0;
  for (uint32_t i = 0; i < p->open_count; i++) loops += p->open[i].kind == OPEN_REP || p->open[i].kind == OPEN_LOOP;
  if (kind != OPEN_IF && loops == SHADER_NESTING) return wrong(p, "loops are nested more than %d deep", SHADER_NESTING);
  if (p->open_count == MOST_OPEN) return wrong(p, "branches are nested more than %d deep", MOST_OPEN);
  p->open[p->open_count++] = (Open){kind, p->code.count};
  return true;
}

// An instruction that was wrong is not there.
static void set_jump(Parser *p, uint32_t instr, uint16_t to) {
  if (instr < p->code.count) p->code.items[instr].jump = to;
}

static void close_loop(Parser *p, uint32_t first, uint16_t past) {
  while (p->breaks.count > 0 && p->breaks.items[p->breaks.count - 1] > first) set_jump(p, p->breaks.items[--p->breaks.count], past);
}

// The instruction that ends or divides what was opened last.
static bool close(Parser *p, ShaderInstr *instr, OpenKind kind, const char *opener) {
  Open *open = p->open_count > 0 ? &p->open[p->open_count - 1] : NULL;
  bool fits = open != NULL && (open->kind == kind || (instr->op == SHADER_ENDIF && open->kind == OPEN_ELSE));
  if (!fits) return wrong(p, "%s without %s", shader_op_info[instr->op].name, opener);
  uint16_t past = (uint16_t)(p->code.count + 1);
  set_jump(p, open->at, past);
  if (instr->op == SHADER_ELSE) {
    *open = (Open){OPEN_ELSE, p->code.count};
    return true;
  }
  if (kind != OPEN_IF) {
    instr->jump = (uint16_t)(open->at + 1);
    close_loop(p, open->at, past);
  }
  p->open_count--;
  return true;
}

static bool is_in_loop(const Parser *p) {
  for (uint32_t i = 0; i < p->open_count; i++) {
    if (p->open[i].kind == OPEN_REP || p->open[i].kind == OPEN_LOOP) return true;
  }
  return false;
}

static bool call(Parser *p, ShaderInstr *instr) {
  char word[64];
  if (!take_word(p, word)) return wrong(p, "a label is missing here");
  *VEC_PUSH(&p->calls, p->arena) = (Label){arena_copy_text(p->arena, word, strlen(word)), p->code.count, p->line};
  return at(p, ';') || take_test(p, instr);
}

static bool flow(Parser *p, ShaderInstr *instr) {
  switch ((ShaderOp)instr->op) {
  case SHADER_IF: return begin(p, OPEN_IF) && take_test(p, instr);
  case SHADER_ELSE: return close(p, instr, OPEN_IF, "IF");
  case SHADER_ENDIF: return close(p, instr, OPEN_IF, "IF");
  case SHADER_REP: return begin(p, OPEN_REP) && take_source(p, &instr->source[0]);
  case SHADER_LOOP: return begin(p, OPEN_LOOP) && take_source(p, &instr->source[0]);
  case SHADER_ENDREP: return close(p, instr, OPEN_REP, "REP");
  case SHADER_ENDLOOP: return close(p, instr, OPEN_LOOP, "LOOP");
  case SHADER_BRK:
    if (!is_in_loop(p)) return wrong(p, "BRK outside a loop");
    *VEC_PUSH(&p->breaks, p->arena) = p->code.count;
    return at(p, ';') || take_test(p, instr);
  case SHADER_CAL: return call(p, instr);
  default: return at(p, ';') || take_test(p, instr); // RET, KIL
  }
}

// ---- Statements ----------------------------------------------------------------------------------------------------------

static bool label(Parser *p, const char *name) {
  for (uint32_t i = 0; i < p->labels.count; i++) {
    if (strcmp(p->labels.items[i].name, name) == 0) return wrong(p, "label '%s' is in line %d already", name, p->labels.items[i].line);
  }
  if (p->open_count > 0) return wrong(p, "label '%s' stands inside a branch or loop", name);
  *VEC_PUSH(&p->labels, p->arena) = (Label){arena_copy_text(p->arena, name, strlen(name)), p->code.count, p->line};
  return true;
}

static bool instruction(Parser *p, const char *word) {
  ShaderInstr instr = {.test = CODE_ANY, .test_swizzle = {0, 1, 2, 3}, .mask = 0xF, .line = (uint32_t)p->line};
  bool has_precision;
  if (!find_op(word, &instr, &has_precision)) return wrong(p, "no instruction '%s'", word);
  if (p->code.count == SHADER_MOST_INSTRUCTIONS) return wrong(p, "a program has at most %d instructions", SHADER_MOST_INSTRUCTIONS);
  ShaderKind kind = shader_op_info[instr.op].kind;
  bool good = kind == SHADER_FLOW || kind == SHADER_KILL ? flow(p, &instr) : computation(p, &instr, has_precision);
  if (good) *VEC_PUSH(&p->code, p->arena) = instr;
  return good;
}

// False: after END, or at the end of the text.
static bool statement(Parser *p) {
  char word[64];
  p->failed = false;
  skip(p);
  if (p->next >= p->end) {
    wrong(p, "END is missing");
    return false;
  }
  if (!take_word(p, word)) wrong(p, "an instruction is missing here");
  else if (strcmp(word, "END") == 0) return false;
  else if (take(p, ':')) {
    label(p, word);
    return true;
  } else if (strcmp(word, "DEFINE") == 0 || strcmp(word, "DECLARE") == 0) declaration(p, word[2] == 'F');
  else instruction(p, word);
  if (!p->failed && !want(p, ';')) return true;                                           // what stands here instead is the next statement
  while (p->failed && p->next < p->end && *p->next != ';' && *p->next != '\n') p->next++; // goes on with the next
  if (p->failed) take(p, ';');
  return true;
}

static void resolve(Parser *p) {
  for (uint32_t i = 0; i < p->calls.count; i++) {
    const Label *call_at = &p->calls.items[i];
    bool found = false;
    for (uint32_t k = 0; k < p->labels.count && !found; k++) {
      found = strcmp(p->labels.items[k].name, call_at->name) == 0;
      if (found) set_jump(p, call_at->at, (uint16_t)p->labels.items[k].at);
    }
    if (!found) diags_add(p->diags, p->file, call_at->line, 0, "no label '%s'", call_at->name);
  }
  static const char *const openers[] = {"IF", "ELSE", "REP", "LOOP"};
  for (uint32_t i = 0; i < p->open_count; i++) {
    uint32_t open_at = p->open[i].at;
    int line = open_at < p->code.count ? (int)p->code.items[open_at].line : p->line;
    diags_add(p->diags, p->file, line, 0, "%s has no end", openers[p->open[i].kind]);
  }
}

ShaderProgram *shader_parse(const char *file, const char *text, size_t length, Diags *diags) {
  static const char header[] = "!!FP1.0";
  Parser p = {.file = file, .next = text, .end = text + length, .line = 1, .line_start = text, .diags = diags};
  uint32_t before = diags->count;
  if (length < sizeof header - 1 || strncmp(text, header, sizeof header - 1) != 0) {
    diags_add(diags, file, 1, 1, "a fragment program begins with %s", header);
    return NULL;
  }
  p.next += sizeof header - 1;
  p.arena = arena_new();
  while (statement(&p)) {}
  *VEC_PUSH(&p.code, p.arena) = (ShaderInstr){.op = SHADER_END, .line = (uint32_t)p.line};
  resolve(&p);
  if (diags->count != before) {
    arena_free(p.arena);
    return NULL;
  }
  ShaderProgram *program = ARENA_NEW(p.arena, ShaderProgram);
  *program = (ShaderProgram){
      .arena = p.arena, .code = p.code.items, .count = p.code.count, .constants = p.constants.items, .constant_count = p.constants.count};
  for (uint32_t i = 0; i < program->count; i++) {
    bool reads = shader_op_info[program->code[i].op].kind == SHADER_TEXTURE;
    program->texture_reads += reads;
    program->scatters |= program->code[i].file == SHADER_OUTPUT && program->code[i].index == OUTPUT_PLACE;
    if (reads) program->textures |= 1u << program->code[i].texture;
  }
  ShaderWord *words = ARENA_ARRAY(p.arena, ShaderWord, program->count);
  for (uint32_t i = 0; i < program->count; i++) shader_encode(&program->code[i], &words[i]);
  program->words = words;
  return program;
}

void shader_free(ShaderProgram *program) {
  if (program != NULL) arena_free(program->arena);
}

void shader_constants(const ShaderProgram *program, ShaderVector *constants) {
  for (uint32_t i = 0; i < program->constant_count; i++) memcpy(constants[i], program->constants[i].value, sizeof constants[i]);
}

bool shader_set(ShaderProgram *program, const char *name, const float value[4]) {
  for (uint32_t i = 0; i < program->constant_count; i++) {
    if (program->constants[i].name == NULL || strcmp(program->constants[i].name, name) != 0) continue;
    memcpy(program->constants[i].value, value, 4 * sizeof(float));
    return true;
  }
  return false;
}
