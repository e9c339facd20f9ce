// Function bodies: instructions, labels, blocks and the directives that may stand among them.
#include "ptx/parser_internal.h"

static bool parse_block(Parser *parser);

// ---- Directives without effect -------------------------------------------------------------------
// .loc file line column [, function_name label [+ n], inlined_at file line column]
static bool parse_loc(Parser *parser) {
  int64_t ignored;
  for (int i = 0; i < 3; i++) {
    if (!parse_integer(parser, &ignored, "a number after '.loc'")) return false;
  }
  while (parser_accept(parser, ',')) {
    Slice word;
    PtxPlace place;
    if (!parser_expect_name(parser, &word, &place, "'function_name' or 'inlined_at'")) return false;
    if (parser->token.kind == TOKEN_NAME) parser_advance(parser);
    if (parser_accept(parser, '+') && !parse_integer(parser, &ignored, "an offset")) return false;
    while (parser->token.kind == TOKEN_INT) parser_advance(parser);
  }
  return true;
}

// .file number "name" [, time, size]
static bool parse_file(Parser *parser) {
  int64_t ignored;
  if (!parse_integer(parser, &ignored, "the file's number")) return false;
  if (parser->token.kind != TOKEN_STRING) return parser_expected(parser, "the file's name in quotes");
  parser_advance(parser);
  while (parser_accept(parser, ',')) {
    if (!parse_integer(parser, &ignored, "a number")) return false;
  }
  return true;
}

static bool parse_pragma(Parser *parser) {
  do {
    if (parser->token.kind != TOKEN_STRING) return parser_expected(parser, "a string after '.pragma'");
    parser_advance(parser);
  } while (parser_accept(parser, ','));
  return parser_end(parser, "after '.pragma'");
}

// .section name { anything }: debug information.
static bool parse_section(Parser *parser, PtxPlace place) {
  if (parser->token.kind != TOKEN_DOT_NAME && parser->token.kind != TOKEN_NAME) return parser_expected(parser, "the section's name");
  Construct section;
  parser_open(parser, &section, "section", parser->token.text, place);
  parser_advance(parser);
  bool ok = parser_expect(parser, '{', "before the section's contents");
  for (uint32_t depth = 1; ok && depth > 0;) {
    int kind = (int)parser->token.kind;
    if (kind == TOKEN_END) ok = parser_expected(parser, "'}'");
    depth += kind == '{';
    depth -= kind == '}';
    parser_advance(parser);
  }
  parser_close(parser, &section);
  return ok;
}

bool parse_ignored(Parser *parser, bool *taken) {
  static const char *const names[] = {"loc", "file", "pragma", "section"};
  const Token token = parser->token;
  size_t which = 0;
  while (which < COUNT_OF(names) && !(token.kind == TOKEN_DOT_NAME && slice_is(token.text, names[which]))) which++;
  *taken = which < COUNT_OF(names);
  if (!*taken) return true;
  parser_advance(parser);
  switch (which) {
  case 0: return parse_loc(parser);
  case 1: return parse_file(parser);
  case 2: return parse_pragma(parser);
  default: return parse_section(parser, token.place);
  }
}

// ---- Instructions --------------------------------------------------------------------------------
static PtxStatement *add_statement(Parser *parser, PtxStatementKind kind) {
  PtxStatement *statement = VEC_PUSH(&parser->statements, parser->scratch);
  statement->kind = kind;
  return statement;
}

static bool add_part(Parser *parser, PtxInstr *instr, Slice part) {
  if (instr->part_count == COUNT_OF(instr->parts)) {
    return parser_error(parser, instr->place, "more than %d parts in the opcode %s", (int)COUNT_OF(instr->parts),
                        parser_quote(parser, instr->text));
  }
  instr->parts[instr->part_count++] = part;
  instr->text.length = (uint32_t)(part.at + part.length - instr->text.at);
  return true;
}

// The opcode at the current token; leaves the token behind it.
static bool parse_opcode(Parser *parser, PtxInstr *instr) {
  bool word = parser->token.kind == TOKEN_NAME && parser->token.text.at[0] != '%' && parser->token.text.at[0] != '$';
  if (!word) return parser_expected(parser, "an instruction");
  instr->place = parser->token.place;
  instr->text = parser->token.text;
  if (!add_part(parser, instr, parser->token.text)) return false;
  Slice part;
  while (lexer_modifier(&parser->lexer, &part)) {
    if (!add_part(parser, instr, part)) return false;
  }
  parser_advance(parser);
  for (; parser->token.kind == TOKEN_DOT_NAME; parser_advance(parser)) { // modifiers after a blank
    if (!add_part(parser, instr, parser->token.text)) return false;
  }
  return true;
}

// @p or @!p, after the '@'.
static bool parse_guard(Parser *parser, PtxInstr *instr) {
  instr->has_guard = true;
  instr->guard_negated = parser_accept(parser, '!');
  Slice name;
  PtxPlace place;
  if (!parser_expect_name(parser, &name, &place, "a predicate register after '@'")) return false;
  if (!register_find(parser, name, &instr->guard)) {
    report_unknown(parser, name, place, false, NULL);
  } else if (parser->function->registers.items[instr->guard].type != PTX_PRED) {
    parser_error(parser, place, "the guard %s is a .%s register; it must be .pred", parser_quote(parser, name),
                 ptx_type_text(parser->function->registers.items[instr->guard].type));
  }
  return true;
}

static bool parse_instruction(Parser *parser) {
  PtxInstr instr = {0};
  if (parser_accept(parser, '@') && !parse_guard(parser, &instr)) return false;
  if (!parse_opcode(parser, &instr)) return false;
  Slice base = instr.parts[0];
  parser->in_call = slice_is(base, "call");
  parser->in_branch = slice_is(base, "bra") || slice_is(base, "brx");
  parser->in_move = slice_is(base, "mov") || slice_is(base, "cvta");
  if (!parse_operands(parser, &instr.operands, &instr.operand_count)) return false;
  add_statement(parser, PTX_INSTR)->instr = instr;
  return parser_end(parser, instr.operand_count > 0 ? "after the operand" : "after the instruction");
}

// ---- Labels and tables ---------------------------------------------------------------------------
static bool parse_branch_targets(Parser *parser, PtxStatement *statement) {
  VEC(Pending) names = {0};
  do {
    Pending *pending = VEC_PUSH(&names, parser->scratch);
    pending->must_be_label = true;
    if (!parser_expect_name(parser, &pending->name, &pending->place, "a label")) return false;
  } while (parser_accept(parser, ','));
  statement->targets.count = statement->targets.capacity = names.count;
  statement->targets.items = ARENA_ARRAY(parser->arena, uint32_t, names.count);
  for (uint32_t i = 0; i < names.count; i++) {
    names.items[i].label = &statement->targets.items[i];
    *VEC_PUSH(&parser->pending, parser->scratch) = names.items[i];
  }
  return true;
}

static bool parse_call_targets(Parser *parser, PtxStatement *statement) {
  do {
    Pending pending = {0};
    if (!parser_expect_name(parser, &pending.name, &pending.place, "the name of a function")) return false;
    *VEC_PUSH(&statement->functions, parser->arena) = pending.name;
    *VEC_PUSH(&parser->module_pending, parser->scratch) = pending;
  } while (parser_accept(parser, ','));
  return true;
}

// (results) _ (parameters) [.noreturn]
static bool parse_prototype(Parser *parser, PtxStatement *statement) {
  PtxSignature *signature = statement->signature = ARENA_NEW(parser->arena, PtxSignature);
  Slice name;
  PtxPlace place;
  if ((int)parser->token.kind == '(' && !parse_parameters(parser, signature, true, true)) return false;
  if (!parser_expect_name(parser, &name, &place, "'_'")) return false;
  if ((int)parser->token.kind == '(' && !parse_parameters(parser, signature, false, true)) return false;
  while (parser->token.kind == TOKEN_DOT_NAME) {
    if (parser_at_directive(parser, "noreturn")) signature->noreturn = true;
    parser_advance(parser);
    if (parser->token.kind == TOKEN_INT) parser_advance(parser); // .abi_preserve n
  }
  return true;
}

// Behind "name:". Directives that define a table take the label; else it marks a place in the code.
static bool parse_labelled(Parser *parser, uint32_t label) {
  PtxStatement table = {.label = label};
  bool ok;
  if (parser_at_directive(parser, "branchtargets")) {
    table.kind = PTX_BRANCH_TARGETS;
    parser_advance(parser);
    ok = parse_branch_targets(parser, &table);
  } else if (parser_at_directive(parser, "callprototype")) {
    table.kind = PTX_CALL_PROTOTYPE;
    parser_advance(parser);
    ok = parse_prototype(parser, &table);
  } else if (parser_at_directive(parser, "calltargets")) {
    table.kind = PTX_CALL_TARGETS;
    parser_advance(parser);
    ok = parse_call_targets(parser, &table);
  } else {
    add_statement(parser, PTX_LABEL_HERE)->label = label;
    return true;
  }
  parser->function->labels.items[label].statement = (int32_t)parser->statements.count;
  *add_statement(parser, table.kind) = table;
  return ok && parser_end(parser, "after the directive");
}

static bool parse_label(Parser *parser) {
  Slice name = parser->token.text;
  PtxPlace place = parser->token.place;
  parser_advance(parser);
  parser_advance(parser); // the colon
  uint32_t index = parser->function->labels.count;
  PtxLabel *label = VEC_PUSH(&parser->function->labels, parser->arena);
  *label = (PtxLabel){.name = name, .place = place, .defined = true, .statement = -1};
  Symbol *symbol = symbol_add(parser, SYMBOL_LABEL, name, place);
  if (symbol != NULL) symbol->index = index;
  return parse_labelled(parser, index);
}

// ---- Blocks --------------------------------------------------------------------------------------
static bool linkage_parse(Slice text, PtxLinkage *linkage) {
  if (slice_is(text, "extern")) *linkage = PTX_EXTERN;
  else if (slice_is(text, "visible")) *linkage = PTX_VISIBLE;
  else if (slice_is(text, "weak")) *linkage = PTX_WEAK;
  else return false;
  return true;
}

static bool parse_body_directive(Parser *parser) {
  static const char *const names[] = {"reg", "param",  "local", "shared",        "const",         "global",      "tex",
                                      "loc", "pragma", "file",  "branchtargets", "callprototype", "calltargets", "extern"};
  bool taken;
  bool ok = parse_ignored(parser, &taken);
  if (taken) return ok;
  PtxLinkage linkage = PTX_LOCAL;
  if (linkage_parse(parser->token.text, &linkage)) parser_advance(parser);
  if (at_space(parser)) return parse_declaration(parser, linkage);
  if (parser->token.kind != TOKEN_DOT_NAME) return parser_expected(parser, "a state space such as '.shared'");
  Slice text = parser->token.text;
  const char *quoted = parser_quote(parser, (Slice){text.at - 1, text.length + 1});
  if (slice_is(text, "branchtargets") || slice_is(text, "callprototype") || slice_is(text, "calltargets")) {
    return parser_error(parser, parser->token.place, "%s needs a label before it", quoted);
  }
  const char *nearest = text_nearest(arena_copy_text(parser->scratch, text.at, text.length), names, COUNT_OF(names));
  if (nearest == NULL) return parser_error(parser, parser->token.place, "unknown directive %s in a function", quoted);
  return parser_error(parser, parser->token.place, "unknown directive %s in a function; did you mean '.%s'?", quoted, nearest);
}

static bool parse_statement(Parser *parser) {
  switch ((int)parser->token.kind) {
  case ';': parser_advance(parser); return true;
  case '{': return parse_block(parser);
  case '@': return parse_instruction(parser);
  case TOKEN_DOT_NAME: return parse_body_directive(parser);
  case TOKEN_NAME: return lexer_at_colon(parser->lexer) ? parse_label(parser) : parse_instruction(parser);
  default: return parser_expected(parser, "an instruction");
  }
}

// A directive that can only stand outside functions: the closing brace is missing.
static bool at_next_function(const Parser *parser) {
  if (parser_at_directive(parser, "entry") || parser_at_directive(parser, "func")) return true;
  if (parser_at_directive(parser, "visible") || parser_at_directive(parser, "version")) return true;
  if (!parser_at_directive(parser, "extern") && !parser_at_directive(parser, "weak")) return false;
  Lexer ahead = parser->lexer;
  Token next = lexer_next(&ahead);
  return next.kind == TOKEN_DOT_NAME && (slice_is(next.text, "func") || slice_is(next.text, "entry"));
}

// Says so once, however many blocks are open.
static bool missing_brace(Parser *parser) {
  PtxPlace place = parser->token.place;
  const Construct *open = parser->open;
  if (place.line == parser->last_expected.line && place.column == parser->last_expected.column) return false;
  parser->last_expected = place;
  const char *name = open->name.length > 0 ? parser_quote(parser, open->name) : "";
  return parser_error(parser, place, "missing '}' before '.%.*s': the %s%s%s that begins at line %u is still open",
                      (int)parser->token.text.length, parser->token.text.at, open->what, *name == '\0' ? "" : " ", name, open->place.line);
}

static bool parse_statements(Parser *parser) {
  while ((int)parser->token.kind != '}') {
    if (parser->token.kind == TOKEN_END) return parser_expected(parser, "'}'");
    if (at_next_function(parser)) return missing_brace(parser);
    const char *before = parser->lexer.at;
    if (parse_statement(parser)) continue;
    if (parser->lexer.at == before && !at_next_function(parser)) parser_advance(parser);
    parser_recover(parser);
  }
  parser_advance(parser);
  return true;
}

// At '{' of a nested block. When its '}' is missing nobody else reports that again.
static bool parse_block(Parser *parser) {
  if (!parser_enter(parser)) return false;
  Construct block;
  parser_open(parser, &block, "block", (Slice){0}, parser->token.place);
  uint32_t first_symbol = parser->symbols.stack.count, first_pending = parser->pending.count;
  scope_enter(parser);
  parser_advance(parser);
  bool ok = parse_statements(parser);
  scope_leave(parser, first_symbol, first_pending);
  parser_close(parser, &block);
  parser_leave(parser);
  return ok;
}

bool parse_body(Parser *parser, PtxPlace opened) {
  PtxFunction *function = parser->function;
  Construct body;
  parser_open(parser, &body, "body of", function->name, opened);
  parser->statements.count = 0;
  bool ok = parse_statements(parser);
  parser_close(parser, &body);
  function->statements.count = function->statements.capacity = parser->statements.count;
  if (parser->statements.count > 0) {
    function->statements.items = ARENA_ARRAY(parser->arena, PtxStatement, parser->statements.count);
    memcpy(function->statements.items, parser->statements.items, parser->statements.count * sizeof(PtxStatement));
  }
  return ok;
}
