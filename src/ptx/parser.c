// The parser's ground floor: the current token, errors, recovery, and ptx_parse itself.
#include "ptx/parser_internal.h"

#include <stdio.h>

enum { QUOTED_BYTES = 40 };

const char *parser_quote(Parser *parser, Slice text) {
  char out[4 * QUOTED_BYTES + 8];
  size_t length = 0;
  out[length++] = '\'';
  for (uint32_t i = 0; i < text.length && text.at[i] != '\n'; i++) {
    if (i == QUOTED_BYTES) {
      memcpy(out + length, "...", 3);
      length += 3;
      break;
    }
    uint8_t byte = (uint8_t)text.at[i];
    if (byte >= ' ' && byte < 127) {
      out[length++] = (char)byte;
    } else {
      length += (size_t)snprintf(out + length, 5, "\\x%02X", byte);
    }
  }
  out[length++] = '\'';
  return arena_copy_text(parser->scratch, out, length);
}

static void stop(Parser *parser) {
  parser->stopped = true;
  parser->lexer.at = parser->lexer.end;
  parser->token = (Token){.kind = TOKEN_END, .first_on_line = true, .place = parser->token.place};
}

bool parser_error(Parser *parser, PtxPlace place, const char *format, ...) {
  if (parser->stopped) return false;
  if (parser->error_count++ == MAX_ERRORS) {
    diags_add(parser->diags, parser->file, (int)place.line, (int)place.column, "too many errors");
    stop(parser);
    return false;
  }
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return diags_add(parser->diags, parser->file, (int)place.line, (int)place.column, "%s", text);
}

void parser_advance(Parser *parser) {
  bool bad = false;
  do {
    parser->token = lexer_next(&parser->lexer);
    const Token *token = &parser->token;
    bad |= token->kind == TOKEN_BAD;
    if (token->problem == NULL) continue;
    parser_error(parser, token->place, "%s %s", token->problem, parser_quote(parser, token->text));
    if (token->fatal) stop(parser);
  } while (parser->token.kind == TOKEN_BAD);
  if (bad) parser->last_expected = parser->token.place; // what is missing here was just reported
}

bool parser_accept(Parser *parser, int kind) {
  if ((int)parser->token.kind != kind) return false;
  parser_advance(parser);
  return true;
}

// The text of the current token for messages, with the dot of directives and the quotes of strings.
static Slice token_spelling(const Parser *parser) {
  Slice text = parser->token.text;
  if (parser->token.kind == TOKEN_DOT_NAME) text = (Slice){text.at - 1, text.length + 1};
  return text;
}

bool parser_expected(Parser *parser, const char *what) {
  PtxPlace place = parser->token.place;
  if (place.line == parser->last_expected.line && place.column == parser->last_expected.column) return false;
  parser->last_expected = place;
  if (parser->token.kind != TOKEN_END) {
    return parser_error(parser, place, "expected %s, found %s", what, parser_quote(parser, token_spelling(parser)));
  }
  const Construct *open = parser->open;
  if (open == NULL) return parser_error(parser, place, "expected %s, found the end of the file", what);
  const char *name = open->name.length > 0 ? parser_quote(parser, open->name) : "";
  parser_error(parser, place, "the file ends inside the %s%s%s that begins at line %u; expected %s", open->what,
               open->name.length > 0 ? " " : "", name, open->place.line, what);
  stop(parser);
  return false;
}

bool parser_expect(Parser *parser, int kind, const char *where) {
  if (parser_accept(parser, kind)) return true;
  char what[96];
  snprintf(what, sizeof what, "'%c' %s", kind, where);
  return parser_expected(parser, what);
}

bool parser_end(Parser *parser, const char *where) {
  bool new_line = parser->token.first_on_line && parser->token.kind != TOKEN_END;
  return parser_expect(parser, ';', where) || new_line;
}

bool parser_expect_name(Parser *parser, Slice *name, PtxPlace *place, const char *what) {
  if (parser->token.kind != TOKEN_NAME) return parser_expected(parser, what);
  *name = parser->token.text;
  *place = parser->token.place;
  parser_advance(parser);
  return true;
}

bool parser_at_directive(const Parser *parser, const char *name) {
  return parser->token.kind == TOKEN_DOT_NAME && slice_is(parser->token.text, name);
}

bool parser_enter(Parser *parser) {
  if (parser->nesting < MAX_NESTING) {
    parser->nesting++;
    return true;
  }
  parser_error(parser, parser->token.place, "nested more than %d levels deep", MAX_NESTING);
  stop(parser);
  return false;
}

void parser_leave(Parser *parser) { parser->nesting--; }

void parser_open(Parser *parser, Construct *construct, const char *what, Slice name, PtxPlace place) {
  *construct = (Construct){what, name, place, parser->open};
  parser->open = construct;
}

void parser_close(Parser *parser, Construct *construct) { parser->open = construct->outer; }

// A token that can only begin something new: where the rest of a broken statement is not worth skipping.
static bool begins_anew(const Parser *parser) {
  static const char *const starts[] = {"entry", "func", "visible", "extern", "weak", "common", "reg", "version", "target", "loc"};
  const Token *token = &parser->token;
  if (!token->first_on_line || token->kind != TOKEN_DOT_NAME) return false;
  for (size_t i = 0; i < COUNT_OF(starts); i++) {
    if (slice_is(token->text, starts[i])) return true;
  }
  return false;
}

void parser_recover(Parser *parser) {
  while (parser->token.kind != TOKEN_END && !begins_anew(parser)) {
    int kind = (int)parser->token.kind;
    if (kind == '}' && parser->open_braces == 0) break;
    if (kind == '}') parser->open_braces--;
    parser_advance(parser);
    if (kind == ';') break;
  }
  parser->open_braces = 0;
}

// ---- The whole file ------------------------------------------------------------------------------
static bool diag_after(const Diag *a, const Diag *b) { return a->line != b->line ? a->line > b->line : a->column > b->column; }

// Names are looked up late, so errors come out of order; there are at most MAX_ERRORS + 1.
static void sort_errors(Diags *diags, uint32_t first) {
  for (uint32_t i = first + 1; i < diags->count; i++) {
    Diag diag = diags->items[i];
    uint32_t j = i;
    for (; j > first && diag_after(&diags->items[j - 1], &diag); j--) diags->items[j] = diags->items[j - 1];
    diags->items[j] = diag;
  }
}

// What a binary file is, where its first bytes tell; NULL for what may be text.
static const char *binary_kind(const char *text, size_t length) {
  if (length >= 4 && memcmp(text, "\177ELF", 4) == 0) return "an ELF object or cubin";
  if (length >= 4 && memcmp(text, "\x50\xED\x55\xBA", 4) == 0) return "a CUDA fat binary";
  return memchr(text, '\0', length) != NULL ? "a binary file" : NULL;
}

static bool check_text(const char *file, const char *text, size_t length, Diags *diags) {
  if (length > INT32_MAX) return diags_add(diags, file, 0, 0, "the file is larger than 2 GB");
  const char *kind = binary_kind(text, length);
  if (kind == NULL) return true;
  Lexer lexer = lexer_start(text, length);
  const char *nul = memchr(text, '\0', length);
  if (nul == NULL) nul = text;
  for (const char *at = text; at < nul; at++) {
    if (*at == '\n') {
      lexer.line++;
      lexer.line_start = at + 1;
    }
  }
  PtxPlace place = lexer_place(&lexer, nul);
  return diags_add(diags, file, (int)place.line, (int)place.column, "this is not PTX text but %s: it holds the byte '\\x%02X'", kind,
                   (unsigned)(uint8_t)*nul);
}

PtxModule *ptx_parse(Arena *arena, const char *file, const char *text, size_t length, Diags *diags) {
  while (length > 0 && text[length - 1] == '\0') length--; // PTX taken from fat binaries ends with NULs
  if (!check_text(file, length > 0 ? text : "", length, diags)) return NULL;
  Parser parser = {.arena = arena, .scratch = arena_new(), .file = file, .diags = diags};
  uint32_t first_diag = diags->count;
  parser.lexer = lexer_start(length > 0 ? text : "", length);
  parser.module = ARENA_NEW(arena, PtxModule);
  parser.module->file = file == NULL ? NULL : arena_copy_text(arena, file, strlen(file));
  parser_advance(&parser);
  parse_module(&parser);
  resolve_module_names(&parser);
  if (!parser.has_address_size) parser.module->address_bits = parser.uses_address64 ? 64 : 32;
  sort_errors(diags, first_diag);
  arena_free(parser.scratch);
  return parser.module;
}
