// The outermost level: the header directives, module variables, and the heads of functions.
#include "ptx/parser_internal.h"

#include <stdio.h>

// ---- Header --------------------------------------------------------------------------------------
// .version 7.8: the lexer sees one decimal number; its digits are what counts.
static bool parse_version(Parser *parser) {
  const Token token = parser->token;
  uint64_t numbers[2] = {0};
  bool ok = token.kind == TOKEN_FLOAT64 && token.text.length < 12;
  uint32_t which = 0, digits = 0;
  for (uint32_t i = 0; ok && i < token.text.length; i++) {
    char c = token.text.at[i];
    if (c == '.' && which == 0 && digits > 0) {
      which = 1;
      digits = 0;
    } else if (c >= '0' && c <= '9') {
      numbers[which] = numbers[which] * 10 + (uint64_t)(c - '0');
      digits++;
    } else {
      ok = false;
    }
  }
  if (!ok || which == 0 || digits == 0) return parser_expected(parser, "a version such as '7.8'");
  parser->module->version_major = (uint32_t)min_u64(numbers[0], 1000);
  parser->module->version_minor = (uint32_t)min_u64(numbers[1], 1000);
  parser->has_version = true;
  parser_advance(parser);
  return true;
}

static bool parse_target_word(Parser *parser, Slice word, PtxPlace place) {
  static const char *const options[] = {"texmode_unified", "texmode_independent", "texmode_raw", "debug", "map_f64_to_f32"};
  bool is_sm = slice_starts(word, "sm_"), is_compute = slice_starts(word, "compute_");
  if (is_sm || is_compute) {
    uint32_t number = 0, i = is_sm ? 3 : 8, start = i;
    for (; i < word.length && i - start < 4 && word.at[i] >= '0' && word.at[i] <= '9'; i++)
      number = number * 10 + (uint32_t)(word.at[i] - '0');
    bool suffixed = i + 1 == word.length && (word.at[i] == 'a' || word.at[i] == 'f');
    if (i == start || (i < word.length && !suffixed)) {
      return parser_error(parser, place, "expected a target such as 'sm_75', found %s", parser_quote(parser, word));
    }
    parser->module->sm = number;
    parser->has_target = true;
    return true;
  }
  for (size_t i = 0; i < COUNT_OF(options); i++) {
    if (slice_is(word, options[i])) return true;
  }
  const char *nearest = text_nearest(arena_copy_text(parser->scratch, word.at, word.length), options, COUNT_OF(options));
  if (nearest == NULL) return parser_error(parser, place, "unknown target %s; expected one such as 'sm_75'", parser_quote(parser, word));
  return parser_error(parser, place, "unknown target option %s; did you mean '%s'?", parser_quote(parser, word), nearest);
}

static bool parse_target(Parser *parser) {
  do {
    Slice word;
    PtxPlace place;
    if (!parser_expect_name(parser, &word, &place, "a target such as 'sm_75'")) return false;
    parse_target_word(parser, word, place);
  } while (parser_accept(parser, ','));
  return true;
}

static bool parse_address_size(Parser *parser) {
  if (parser->token.kind != TOKEN_INT || (parser->token.bits != 32 && parser->token.bits != 64)) return parser_expected(parser, "32 or 64");
  parser->module->address_bits = (uint32_t)parser->token.bits;
  parser->has_address_size = true;
  parser_advance(parser);
  return true;
}

// .alias name, function;
static bool parse_alias(Parser *parser) {
  PtxAlias alias;
  Pending target = {0};
  if (!parser_expect_name(parser, &alias.name, &alias.place, "the alias")) return false;
  if (!parser_expect(parser, ',', "after the alias")) return false;
  if (!parser_expect_name(parser, &alias.target, &target.place, "the name of a function")) return false;
  target.name = alias.target;
  *VEC_PUSH(&parser->module_pending, parser->scratch) = target;
  *VEC_PUSH(&parser->module->aliases, parser->arena) = alias;
  if (symbol_find_here(parser, alias.name) == NULL) symbol_add(parser, SYMBOL_FUNCTION, alias.name, alias.place);
  return parser_end(parser, "after '.alias'");
}

// ---- Functions -----------------------------------------------------------------------------------
// Up to `limit` numbers with commas between; those not given stay as they are.
static bool parse_numbers(Parser *parser, uint32_t numbers[], uint32_t limit) {
  for (uint32_t i = 0; i < limit; i++) {
    uint64_t value;
    if (i > 0 && !parser_accept(parser, ',')) break;
    if (!parse_count(parser, UINT32_MAX, &value, "the number")) return false;
    numbers[i] = (uint32_t)value;
  }
  return true;
}

typedef enum Directive {
  DIRECTIVE_MAXNTID,
  DIRECTIVE_REQNTID,
  DIRECTIVE_CLUSTER,
  DIRECTIVE_MINNCTAPERSM,
  DIRECTIVE_MAXNCTAPERSM,
  DIRECTIVE_MAXNREG,
  DIRECTIVE_NORETURN,
  DIRECTIVE_IGNORED,
  DIRECTIVE_IGNORED_NUMBERS,
  DIRECTIVE_PRAGMA,
  DIRECTIVE_ATTRIBUTE,
  DIRECTIVE_UNKNOWN
} Directive;

static const struct {
  const char *text;
  Directive directive;
} directives[] = {
    {"maxntid", DIRECTIVE_MAXNTID},
    {"reqntid", DIRECTIVE_REQNTID},
    {"minnctapersm", DIRECTIVE_MINNCTAPERSM},
    {"maxnctapersm", DIRECTIVE_MAXNCTAPERSM},
    {"maxnreg", DIRECTIVE_MAXNREG},
    {"noreturn", DIRECTIVE_NORETURN},
    {"explicitcluster", DIRECTIVE_IGNORED},
    {"unified", DIRECTIVE_IGNORED},
    {"blocksareclusters", DIRECTIVE_IGNORED},
    {"reqnctapercluster", DIRECTIVE_CLUSTER},
    {"maxclusterrank", DIRECTIVE_IGNORED_NUMBERS},
    {"abi_preserve", DIRECTIVE_IGNORED_NUMBERS},
    {"abi_preserve_control", DIRECTIVE_IGNORED_NUMBERS},
    {"language", DIRECTIVE_IGNORED_NUMBERS},
    {"pragma", DIRECTIVE_PRAGMA},
    {"attribute", DIRECTIVE_ATTRIBUTE},
};

static Directive directive_find(Slice text) {
  for (size_t i = 0; i < COUNT_OF(directives); i++) {
    if (slice_is(text, directives[i].text)) return directives[i].directive;
  }
  return DIRECTIVE_UNKNOWN;
}

// Balanced parentheses after .attribute: nothing in them matters for functions.
static bool skip_parentheses(Parser *parser) {
  if (!parser_expect(parser, '(', "after '.attribute'")) return false;
  for (uint32_t depth = 1; depth > 0;) {
    if (parser->token.kind == TOKEN_END) return parser_expected(parser, "')'");
    depth += (int)parser->token.kind == '(';
    depth -= (int)parser->token.kind == ')';
    parser_advance(parser);
  }
  return true;
}

static bool unknown_directive(Parser *parser, const Token *token) {
  const char *words[COUNT_OF(directives)];
  for (size_t i = 0; i < COUNT_OF(directives); i++) words[i] = directives[i].text;
  const char *nearest = text_nearest(arena_copy_text(parser->scratch, token->text.at, token->text.length), words, COUNT_OF(words));
  const char *quoted = parser_quote(parser, (Slice){token->text.at - 1, token->text.length + 1});
  if (nearest == NULL) return parser_error(parser, token->place, "unknown directive %s of a function", quoted);
  return parser_error(parser, token->place, "unknown directive %s of a function; did you mean '.%s'?", quoted, nearest);
}

// One performance directive between head and body.
static bool parse_performance(Parser *parser, PtxFunction *function) {
  const Token token = parser->token;
  uint32_t ignored[3];
  parser_advance(parser);
  switch (directive_find(token.text)) {
  case DIRECTIVE_MAXNTID:
    function->max_threads[0] = function->max_threads[1] = function->max_threads[2] = 1;
    return parse_numbers(parser, function->max_threads, 3);
  case DIRECTIVE_REQNTID:
    function->required_threads[0] = function->required_threads[1] = function->required_threads[2] = 1;
    return parse_numbers(parser, function->required_threads, 3);
  case DIRECTIVE_CLUSTER:
    function->cluster[0] = function->cluster[1] = function->cluster[2] = 1;
    return parse_numbers(parser, function->cluster, 3);
  case DIRECTIVE_MINNCTAPERSM:
  case DIRECTIVE_MAXNCTAPERSM: return parse_numbers(parser, &function->min_blocks, 1);
  case DIRECTIVE_MAXNREG: return parse_numbers(parser, &function->max_registers, 1);
  case DIRECTIVE_NORETURN: function->noreturn = function->signature.noreturn = true; return true;
  case DIRECTIVE_IGNORED: return true;
  case DIRECTIVE_IGNORED_NUMBERS: return parser->token.kind == TOKEN_INT ? parse_numbers(parser, ignored, 3) : true;
  case DIRECTIVE_ATTRIBUTE: return skip_parentheses(parser);
  case DIRECTIVE_PRAGMA:
    do {
      if (parser->token.kind != TOKEN_STRING) return parser_expected(parser, "a string after '.pragma'");
      parser_advance(parser);
    } while (parser_accept(parser, ','));
    parser_accept(parser, ';');
    return true;
  default: return unknown_directive(parser, &token);
  }
}

// The module's symbol for a function: one for all its declarations and its definition.
static void declare_function(Parser *parser, PtxFunction *function) {
  Symbol *symbol = symbol_find_here(parser, function->name);
  if (symbol == NULL) symbol = symbol_add(parser, SYMBOL_FUNCTION, function->name, function->place);
  else if (symbol->kind != SYMBOL_FUNCTION || (function->has_body && symbol->function != NULL && symbol->function->has_body)) {
    parser_error(parser, function->place, "%s is already %s at line %u", parser_quote(parser, function->name),
                 symbol->kind == SYMBOL_FUNCTION ? "defined" : "declared", symbol->place.line);
    return;
  }
  if (symbol->function != NULL && symbol->function->has_body) return;
  symbol->function = function;
  symbol->place = function->place;
}

static void declare_parameters(Parser *parser, PtxVariable *parameters, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    PtxVariable *parameter = &parameters[i];
    if (slice_is(parameter->name, "_")) continue;
    bool in_register = parameter->space == PTX_SPACE_REG;
    if (in_register) parameter->reg = register_add(parser, parameter->name, parameter->type, parameter->vector);
    Symbol *symbol = symbol_add(parser, in_register ? SYMBOL_REGISTER : SYMBOL_VARIABLE, parameter->name, parameter->place);
    if (symbol == NULL) continue;
    symbol->index = parameter->reg;
    symbol->variable = in_register ? NULL : parameter;
  }
}

static bool parse_definition(Parser *parser, PtxFunction *function, bool has_list) {
  PtxPlace opened = parser->token.place;
  uint32_t first_symbol = parser->symbols.stack.count, first_pending = parser->pending.count;
  const PtxModule *module = parser->module;
  parser->old_params =
      function->is_entry && !has_list && (module->version_major < 1 || (module->version_major == 1 && module->version_minor < 4));
  parser->function = function;
  scope_enter(parser);
  declare_parameters(parser, function->signature.results.items, function->signature.results.count);
  declare_parameters(parser, function->signature.params.items, function->signature.params.count);
  parser_advance(parser);
  bool ok = parse_body(parser, opened);
  scope_leave(parser, first_symbol, first_pending);
  parser->function = NULL;
  return ok;
}

// Results, name, parameters and performance directives, up to the ';' or '{'.
static bool parse_function_head(Parser *parser, PtxFunction *function, bool *has_list) {
  while (parser->token.kind == TOKEN_DOT_NAME) {
    if (!parse_performance(parser, function)) return false;
  }
  if ((int)parser->token.kind == '(' && !function->is_entry && !parse_parameters(parser, &function->signature, true, false)) return false;
  if (!parser_expect_name(parser, &function->name, &function->place, "the name of the function")) return false;
  *has_list = (int)parser->token.kind == '(';
  if (*has_list && !parse_parameters(parser, &function->signature, false, false)) return false;
  while (parser->token.kind == TOKEN_DOT_NAME) {
    if (!parse_performance(parser, function)) return false;
  }
  return true;
}

bool parse_function(Parser *parser, PtxLinkage linkage) {
  PtxFunction *function = ARENA_NEW(parser->arena, PtxFunction);
  function->linkage = linkage;
  function->is_entry = parser_at_directive(parser, "entry");
  parser_advance(parser);
  bool has_list = false;
  if (!parse_function_head(parser, function, &has_list)) return false;
  function->has_body = (int)parser->token.kind == '{';
  declare_function(parser, function);
  *VEC_PUSH(&parser->module->functions, parser->arena) = function;
  if (function->has_body) return parse_definition(parser, function, has_list);
  if ((int)parser->token.kind != ';') return parser_expected(parser, "'{' or ';' after the function's head");
  parser_advance(parser);
  return true;
}

// ---- Module --------------------------------------------------------------------------------------
static bool module_linkage(Slice text, PtxLinkage *linkage) {
  static const struct {
    const char *text;
    PtxLinkage linkage;
  } words[] = {{"extern", PTX_EXTERN}, {"visible", PTX_VISIBLE}, {"weak", PTX_WEAK}, {"common", PTX_COMMON}};
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    if (!slice_is(text, words[i].text)) continue;
    *linkage = words[i].linkage;
    return true;
  }
  return false;
}

static bool unknown_module_directive(Parser *parser) {
  static const char *const words[] = {"version", "target", "address_size", "entry", "func",   "visible", "extern",
                                      "weak",    "common", "global",       "const", "shared", "file",    "loc",
                                      "section", "pragma", "alias",        "tex",   "local",  "param"};
  Slice text = parser->token.text;
  const char *nearest = text_nearest(arena_copy_text(parser->scratch, text.at, text.length), words, COUNT_OF(words));
  const char *quoted = parser_quote(parser, (Slice){text.at - 1, text.length + 1});
  if (nearest == NULL) return parser_error(parser, parser->token.place, "unknown directive %s", quoted);
  return parser_error(parser, parser->token.place, "unknown directive %s; did you mean '.%s'?", quoted, nearest);
}

static bool parse_directive(Parser *parser) {
  PtxLinkage linkage = PTX_LOCAL;
  bool taken;
  bool ok = parse_ignored(parser, &taken);
  if (taken) return ok;
  if (parser_at_directive(parser, "version")) return parser_advance(parser), parse_version(parser);
  if (parser_at_directive(parser, "target")) return parser_advance(parser), parse_target(parser);
  if (parser_at_directive(parser, "address_size")) return parser_advance(parser), parse_address_size(parser);
  if (parser_at_directive(parser, "alias")) return parser_advance(parser), parse_alias(parser);
  while (parser->token.kind == TOKEN_DOT_NAME && module_linkage(parser->token.text, &linkage)) parser_advance(parser);
  if (parser_at_directive(parser, "entry") || parser_at_directive(parser, "func")) return parse_function(parser, linkage);
  if (at_space(parser)) return parse_declaration(parser, linkage);
  if (parser->token.kind != TOKEN_DOT_NAME) return parser_expected(parser, "'.entry', '.func' or a state space");
  return unknown_module_directive(parser);
}

// Skips the remains of a broken directive, with the body that may follow it.
static void recover_module(Parser *parser) {
  uint32_t depth = parser->open_braces;
  parser->open_braces = 0;
  while (parser->token.kind != TOKEN_END) {
    int kind = (int)parser->token.kind;
    PtxLinkage linkage;
    if (depth == 0 && parser->token.first_on_line && kind == TOKEN_DOT_NAME &&
        (module_linkage(parser->token.text, &linkage) || parser_at_directive(parser, "entry") || parser_at_directive(parser, "func") ||
         parser_at_directive(parser, "version") || parser_at_directive(parser, "global")))
      return;
    parser_advance(parser);
    depth += kind == '{';
    if (kind == '}' && depth > 0) depth--;
    if (depth == 0 && (kind == ';' || kind == '}')) return;
  }
}

static bool parse_item(Parser *parser) {
  if (parser->token.kind == TOKEN_DOT_NAME) return parse_directive(parser);
  return parser_accept(parser, ';') || parser_expected(parser, "a directive such as '.entry'");
}

void parse_module(Parser *parser) {
  if (parser->token.kind == TOKEN_END) {
    parser_error(parser, parser->token.place, "the file is empty; PTX begins with '.version'");
    return;
  }
  if (!parser_at_directive(parser, "version")) {
    parser_expected(parser, "'.version' at the beginning of the PTX");
    if (parser->token.kind != TOKEN_DOT_NAME) return; // what begins otherwise is no PTX at all: every line of it would be wrong
  }
  while (parser->token.kind != TOKEN_END) {
    const char *before = parser->lexer.at;
    if (parse_item(parser)) continue;
    if (parser->lexer.at == before) parser_advance(parser);
    recover_module(parser);
  }
  if (parser->has_version && !parser->has_target) { parser_error(parser, parser->token.place, "there is no '.target' directive"); }
}
