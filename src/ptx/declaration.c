// Declarations of variables, registers and parameters (PTX ISA, "State spaces, types, and variables").
#include "ptx/parser_internal.h"

static bool space_parse(Slice text, PtxSpace *space) {
  static const struct {
    const char *text;
    PtxSpace space;
  } spaces[] = {
      {"reg", PTX_SPACE_REG},     {"sreg", PTX_SPACE_SREG},   {"const", PTX_SPACE_CONST},   {"global", PTX_SPACE_GLOBAL},
      {"local", PTX_SPACE_LOCAL}, {"param", PTX_SPACE_PARAM}, {"shared", PTX_SPACE_SHARED}, {"tex", PTX_SPACE_TEX},
  };
  for (size_t i = 0; i < COUNT_OF(spaces); i++) {
    if (!slice_is(text, spaces[i].text)) continue;
    *space = spaces[i].space;
    return true;
  }
  return false;
}

bool at_space(const Parser *parser) {
  PtxSpace space;
  return parser->token.kind == TOKEN_DOT_NAME && space_parse(parser->token.text, &space);
}

static bool parse_align(Parser *parser, uint32_t *align) {
  PtxPlace place = parser->token.place;
  uint64_t value;
  if (!parse_count(parser, 1 << 20, &value, "the alignment")) return false;
  if (value == 0 || (value & (value - 1)) != 0) {
    return parser_error(parser, place, "the alignment is %llu; it must be a power of two", (unsigned long long)value);
  }
  *align = (uint32_t)value;
  return true;
}

// .attribute(.managed, .unified(1, 2))
static bool parse_attributes(Parser *parser, PtxVariable *variable) {
  if (!parser_expect(parser, '(', "after '.attribute'")) return false;
  do {
    if (parser->token.kind != TOKEN_DOT_NAME) return parser_expected(parser, "an attribute");
    if (parser_at_directive(parser, "managed")) variable->managed = true;
    parser_advance(parser);
    if (!parser_accept(parser, '(')) continue;
    int64_t ignored;
    do {
      if (!parse_integer(parser, &ignored, "an integer")) return false;
    } while (parser_accept(parser, ','));
    if (!parser_expect(parser, ')', "after the attribute")) return false;
  } while (parser_accept(parser, ','));
  return parser_expect(parser, ')', "after the attributes");
}

// One of the words with a dot before the name; *pointee: .ptr was read, so an alignment is the target's.
static bool parse_head_word(Parser *parser, Head *head, bool *pointee) {
  PtxVariable *variable = &head->variable;
  const Token token = parser->token;
  PtxSpace space;
  uint32_t target_align;
  parser_advance(parser);
  if (ptx_type_parse(token.text, &variable->type)) return true;
  if (space_parse(token.text, &space)) {
    if (!head->has_space) variable->space = space;
    else if (!*pointee)
      return parser_error(parser, token.place, "second state space '.%.*s' in one declaration", (int)token.text.length, token.text.at);
    head->has_space = true;
    if (space != PTX_SPACE_CONST || !parser_accept(parser, '[')) return true;
    uint64_t bank;
    return parse_count(parser, 10, &bank, "the constant bank") && parser_expect(parser, ']', "after the constant bank");
  }
  if (slice_is(token.text, "align")) return parse_align(parser, *pointee ? &target_align : &variable->align);
  if (slice_is(token.text, "ptr")) {
    *pointee = variable->is_pointer = true;
    return true;
  }
  if (slice_is(token.text, "attribute")) return parse_attributes(parser, variable);
  if (slice_is(token.text, "unified")) return true;
  if (slice_is(token.text, "v2") || slice_is(token.text, "v4") || slice_is(token.text, "v8")) {
    variable->vector = (uint32_t)(token.text.at[1] - '0');
    return true;
  }
  static const char *const words[] = {"reg", "const", "global", "local", "param", "shared", "tex", "align", "ptr", "attribute",
                                      "v2",  "v4",    "pred",   "b8",    "b16",   "b32",    "b64", "b128",  "u8",  "u16",
                                      "u32", "u64",   "s8",     "s16",   "s32",   "s64",    "f16", "f32",   "f64"};
  const char *nearest = text_nearest(arena_copy_text(parser->scratch, token.text.at, token.text.length), words, COUNT_OF(words));
  const char *quoted = parser_quote(parser, (Slice){token.text.at - 1, token.text.length + 1});
  if (nearest == NULL) return parser_error(parser, token.place, "%s is no type or state space", quoted);
  return parser_error(parser, token.place, "%s is no type or state space; did you mean '.%s'?", quoted, nearest);
}

bool parse_head(Parser *parser, Head *head) {
  head->place = parser->token.place;
  head->variable.vector = 1;
  bool pointee = false;
  while (parser->token.kind == TOKEN_DOT_NAME) {
    if (!parse_head_word(parser, head, &pointee)) return false;
  }
  if (!head->has_space) return parser_expected(parser, "a state space such as '.global'");
  if (head->variable.type == PTX_NO_TYPE) return parser_expected(parser, "a type such as '.u32'");
  return true;
}

// [4][8] or []; the element count of the whole.
bool parse_dimensions(Parser *parser, PtxVariable *variable, uint64_t dimensions[], uint32_t *count) {
  uint64_t product = 1; // of all but an open or empty one: nothing computed from dimensions can overflow
  *count = 0;
  variable->count = 1;
  while ((int)parser->token.kind == '[') {
    PtxPlace place = parser->token.place;
    parser_advance(parser);
    if (*count == MAX_DIMENSIONS) return parser_error(parser, place, "more than %d dimensions", MAX_DIMENSIONS);
    uint64_t extent = 0;
    bool open = (int)parser->token.kind == ']';
    if (open && *count > 0) return parser_error(parser, place, "only the first dimension of an array may be empty");
    if (!open && !parse_count(parser, MAX_VARIABLE_BYTES >> 8, &extent, "the array size")) return false;
    if (!parser_expect(parser, ']', "after the array size")) return false;
    dimensions[(*count)++] = open ? OPEN_DIMENSION : extent;
    variable->is_array = true;
    variable->count *= extent;
    product *= max_u64(extent, 1);
    if (product > MAX_VARIABLE_BYTES >> 8) return parser_error(parser, place, "the array is too large");
  }
  return true;
}

void size_variable(PtxVariable *variable) {
  uint64_t element = (uint64_t)variable->vector * ((ptx_type_bits(variable->type) + 7) / 8);
  variable->bytes = variable->count * element;
  if (variable->align == 0) variable->align = (uint32_t)element;
}

// ---- Registers -----------------------------------------------------------------------------------
// name<count>
static bool declare_range(Parser *parser, const Head *head, Slice name, PtxPlace place) {
  uint64_t count;
  PtxPlace count_place = parser->token.place;
  if (parser->token.kind != TOKEN_INT) return parser_expected(parser, "the number of registers");
  count = parser->token.bits;
  parser_advance(parser);
  if (!parser_expect(parser, '>', "after the number of registers")) return false;
  if (count > MAX_FUNCTION_REGISTERS || parser->module_registers + count > MAX_MODULE_REGISTERS) {
    return parser_error(parser, count_place, "too many registers: %llu", (unsigned long long)count);
  }
  parser->module_registers += (uint32_t)count;
  Symbol *symbol = symbol_add(parser, SYMBOL_RANGE, name, place);
  if (symbol == NULL) return true;
  symbol->count = (uint32_t)count;
  symbol->registers = ARENA_ARRAY(parser->scratch, uint32_t, count);
  symbol->type = head->variable.type;
  symbol->vector = head->variable.vector;
  return true;
}

static bool parse_registers(Parser *parser, const Head *head) {
  if (parser->function == NULL) return parser_error(parser, head->place, "registers can be declared in functions only");
  do {
    Slice name;
    PtxPlace place;
    if (!parser_expect_name(parser, &name, &place, "the name of a register")) return false;
    if (parser_accept(parser, '<')) {
      if (!declare_range(parser, head, name, place)) return false;
      continue;
    }
    Symbol *symbol = symbol_add(parser, SYMBOL_REGISTER, name, place);
    if (symbol != NULL) symbol->index = register_add(parser, name, head->variable.type, head->variable.vector);
  } while (parser_accept(parser, ','));
  return parser_end(parser, "after the registers");
}

// ---- Variables -----------------------------------------------------------------------------------
// A kernel parameter declared in the body, before PTX 1.4. The array is reserved whole so that it never moves.
static PtxVariable *old_param(Parser *parser, const PtxVariable *variable) {
  PtxSignature *signature = &parser->function->signature;
  if (signature->params.items == NULL) {
    signature->params.items = ARENA_ARRAY(parser->arena, PtxVariable, MAX_OLD_PARAMS);
    signature->params.capacity = MAX_OLD_PARAMS;
  }
  if (signature->params.count == MAX_OLD_PARAMS) {
    parser_error(parser, variable->place, "more than %d parameters", MAX_OLD_PARAMS);
    return NULL;
  }
  return &signature->params.items[signature->params.count++];
}

// A module variable may be declared .extern any number of times beside its definition: all are one.
static bool same_variable(Parser *parser, PtxVariable *variable) {
  const Symbol *symbol = symbol_find_here(parser, variable->name);
  if (symbol == NULL || symbol->kind != SYMBOL_VARIABLE) return false;
  PtxVariable *before = symbol->variable;
  bool extern_pair = before->linkage == PTX_EXTERN || variable->linkage == PTX_EXTERN || before->linkage == PTX_COMMON;
  if (!extern_pair || before->space != variable->space || before->type != variable->type) return false;
  if (before->linkage == PTX_EXTERN) *before = *variable;
  return true;
}

static void declare_variable(Parser *parser, PtxVariable *variable) {
  if (same_variable(parser, variable)) return;
  Symbol *symbol = symbol_add(parser, SYMBOL_VARIABLE, variable->name, variable->place);
  if (symbol == NULL) return;
  bool is_param = parser->old_params && parser->depth == 1 && variable->space == PTX_SPACE_PARAM;
  PtxVariable *kept = is_param ? old_param(parser, variable) : ARENA_NEW(parser->arena, PtxVariable);
  if (kept == NULL) return;
  *kept = *variable;
  symbol->variable = kept;
  if (is_param) return;
  if (parser->function == NULL) *VEC_PUSH(&parser->module->variables, parser->arena) = kept;
  else *VEC_PUSH(&parser->function->variables, parser->arena) = kept;
}

static bool parse_variable(Parser *parser, const Head *head, PtxLinkage linkage) {
  PtxVariable variable = head->variable;
  uint64_t dimensions[MAX_DIMENSIONS];
  uint32_t dimension_count;
  if (!parser_expect_name(parser, &variable.name, &variable.place, "the name of a variable")) return false;
  variable.linkage = linkage;
  if ((int)parser->token.kind == '<') return parser_error(parser, parser->token.place, "only registers can be numbered with '<n>'");
  if (!parse_dimensions(parser, &variable, dimensions, &dimension_count)) return false;
  if (variable.type == PTX_PRED) return parser_error(parser, variable.place, "a .pred can be held in registers only");
  size_variable(&variable);
  if (parser_accept(parser, '=') && !parse_initial(parser, &variable, dimensions, dimension_count)) return false;
  bool open_array = dimension_count > 0 && dimensions[0] == OPEN_DIMENSION && variable.count == 0;
  if (open_array && linkage != PTX_EXTERN && variable.space != PTX_SPACE_PARAM) {
    parser_error(parser, variable.place, "array %s needs a size, an initialiser or '.extern'", parser_quote(parser, variable.name));
  }
  declare_variable(parser, &variable);
  return true;
}

bool parse_declaration(Parser *parser, PtxLinkage linkage) {
  Head head = {0};
  if (!parse_head(parser, &head)) return false;
  if (head.variable.space == PTX_SPACE_REG) return parse_registers(parser, &head);
  do {
    if (!parse_variable(parser, &head, linkage)) return false;
  } while (parser_accept(parser, ','));
  return parser_end(parser, "after the variable");
}

// ---- Parameters ----------------------------------------------------------------------------------
// One of a list; prototypes may leave the name out or write '_'.
static bool parse_parameter(Parser *parser, PtxVariable *out, bool prototype) {
  Head head = {0};
  uint64_t dimensions[MAX_DIMENSIONS];
  uint32_t dimension_count;
  if (!parse_head(parser, &head)) return false;
  PtxVariable variable = head.variable;
  variable.place = head.place;
  if (variable.space != PTX_SPACE_REG && variable.space != PTX_SPACE_PARAM) {
    return parser_error(parser, head.place, "a parameter must be in .param or .reg space");
  }
  bool unnamed = prototype && parser->token.kind != TOKEN_NAME;
  if (!unnamed && !parser_expect_name(parser, &variable.name, &variable.place, "the name of a parameter")) return false;
  if (!parse_dimensions(parser, &variable, dimensions, &dimension_count)) return false;
  size_variable(&variable);
  *out = variable;
  return true;
}

// At '('.
bool parse_parameters(Parser *parser, PtxSignature *signature, bool results, bool prototype) {
  Construct list;
  parser_open(parser, &list, results ? "result list" : "parameter list", (Slice){0}, parser->token.place);
  parser_advance(parser);
  bool ok = true;
  for (bool first = true; ok && (int)parser->token.kind != ')'; first = false) {
    PtxVariable parameter;
    if (!first) ok = parser_expect(parser, ',', "between parameters");
    if (!ok || !parse_parameter(parser, &parameter, prototype)) ok = false;
    else if (results) *VEC_PUSH(&signature->results, parser->arena) = parameter;
    else *VEC_PUSH(&signature->params, parser->arena) = parameter;
  }
  ok = ok && parser_expect(parser, ')', "after the parameters");
  parser_close(parser, &list);
  return ok;
}
