// The PTX lexer (PTX ISA, "Lexical elements"). Skips blanks, both kinds of comments, lines of the
// C preprocessor and the @@DWARF lines of PTX 1.x.
// Invariant: `at` never passes `end`; no byte is read at or after `end`.
#include "ptx/lexer.h"

#include <stdlib.h>

enum { SPACE = 1, NAME_START = 2, NAME_PART = 4, DIGIT = 8, HEX = 16 };

#define LETTER (NAME_START | NAME_PART)
static const uint8_t char_class[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\r'] = SPACE,
    ['\n'] = SPACE,
    ['\f'] = SPACE,
    ['\v'] = SPACE,
    ['0' ... '9'] = NAME_PART | DIGIT | HEX,
    ['a' ... 'f'] = LETTER | HEX,
    ['g' ... 'z'] = LETTER,
    ['A' ... 'F'] = LETTER | HEX,
    ['G' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    ['$'] = LETTER,
    ['%'] = NAME_START,
};

static bool is_class(const Lexer *lexer, const char *at, uint8_t classes) {
  return at < lexer->end && (char_class[(uint8_t)*at] & classes) != 0;
}

static bool is_char(const Lexer *lexer, const char *at, char c) { return at < lexer->end && *at == c; }

Lexer lexer_start(const char *text, size_t length) {
  Lexer lexer = {text, text + length, text, 1};
  if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) lexer.at = lexer.line_start = text + 3; // byte order mark of some editors
  return lexer;
}

PtxPlace lexer_place(const Lexer *lexer, const char *at) { return (PtxPlace){lexer->line, (uint32_t)(at - lexer->line_start) + 1}; }

static void new_line(Lexer *lexer, const char *newline) {
  lexer->line++;
  lexer->line_start = newline + 1;
}

static void skip_line(Lexer *lexer) {
  const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
  lexer->at = newline == NULL ? lexer->end : newline;
}

// After "/*"; false when it does not end.
static bool skip_comment(Lexer *lexer) {
  for (const char *at = lexer->at + 2; at < lexer->end; at++) {
    if (*at == '\n') new_line(lexer, at);
    if (*at == '*' && is_char(lexer, at + 1, '/')) {
      lexer->at = at + 2;
      return true;
    }
  }
  lexer->at = lexer->end;
  return false;
}

// Skips what is no token. False for a comment without end: then *comment tells where it began.
static bool skip_blanks(Lexer *lexer, bool *first_on_line, Token *comment) {
  for (;;) {
    while (is_class(lexer, lexer->at, SPACE)) {
      if (*lexer->at == '\n') {
        new_line(lexer, lexer->at);
        *first_on_line = true;
      }
      lexer->at++;
    }
    const char *at = lexer->at;
    if (at >= lexer->end) return true;
    if (*at == '/' && is_char(lexer, at + 1, '/')) {
      skip_line(lexer);
    } else if (*at == '/' && is_char(lexer, at + 1, '*')) {
      PtxPlace place = lexer_place(lexer, at);
      if (skip_comment(lexer)) continue;
      *comment = (Token){.kind = TOKEN_BAD, .place = place, .fatal = true, .problem = "the file ends inside the comment"};
      comment->text = (Slice){at, (uint32_t)(lexer->end - at)};
      return false;
    } else if (*first_on_line && (*at == '#' || (*at == '@' && is_char(lexer, at + 1, '@')))) {
      skip_line(lexer);
    } else {
      return true;
    }
  }
}

static uint32_t hex_digit(char c) { return c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 32) - 'a') + 10; }

// Digits in [from, to); NULL or a problem.
static const char *digits_value(const char *from, const char *to, uint32_t base, uint64_t *value) {
  *value = 0;
  if (from == to) return "number without digits";
  bool overflow = false;
  for (const char *at = from; at < to; at++) {
    if ((char_class[(uint8_t)*at] & HEX) == 0 || hex_digit(*at) >= base) return "malformed number";
    overflow |= __builtin_mul_overflow(*value, (uint64_t)base, value);
    overflow |= __builtin_add_overflow(*value, (uint64_t)hex_digit(*at), value);
  }
  return overflow ? "integer does not fit in 64 bits:" : NULL;
}

// 0f followed by 8 hexadecimal digits, 0d by 16. True when the text begins so.
static bool lex_float_bits(const char *end, Token *token) {
  const char *at = token->text.at;
  char letter = end - at > 2 ? (char)(at[1] | 32) : ' ';
  if (at[0] != '0' || (letter != 'f' && letter != 'd')) return false;
  uint32_t digits = letter == 'f' ? 8 : 16;
  token->kind = letter == 'f' ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
  token->problem = digits_value(at + 2, end, 16, &token->bits);
  if (token->problem == NULL && token->text.length != 2 + digits) {
    token->problem = letter == 'f' ? "0f needs 8 hexadecimal digits:" : "0d needs 16 hexadecimal digits:";
    token->bits = 0;
  }
  return true;
}

static void lex_int(const char *end, Token *token) {
  const char *at = token->text.at;
  token->kind = TOKEN_INT;
  if (end - at > 1 && (end[-1] | 32) == 'u') {
    token->is_unsigned = true;
    end--;
  }
  char letter = end - at > 1 ? (char)(at[1] | 32) : ' ';
  if (at[0] == '0' && letter == 'x') {
    token->problem = digits_value(at + 2, end, 16, &token->bits);
  } else if (at[0] == '0' && letter == 'b') {
    token->problem = digits_value(at + 2, end, 2, &token->bits);
  } else if (at[0] == '0' && end - at > 1) {
    token->problem = digits_value(at + 1, end, 8, &token->bits);
  } else {
    token->problem = digits_value(at, end, 10, &token->bits);
  }
  if (token->bits > INT64_MAX) token->is_unsigned = true;
}

// A decimal floating constant: correctly rounded by the C library, in the "C" locale of a process
// that never sets one.
static void lex_decimal(Token *token) {
  char copy[512];
  token->kind = TOKEN_FLOAT64;
  if (token->text.length >= sizeof copy) {
    token->problem = "number too long:";
    return;
  }
  memcpy(copy, token->text.at, token->text.length);
  copy[token->text.length] = '\0';
  char *stopped;
  double value = strtod(copy, &stopped);
  if (*stopped != '\0') token->problem = "malformed number";
  token->bits = bits_of_f64(value);
}

static void skip_class(Lexer *lexer, uint8_t classes) {
  while (is_class(lexer, lexer->at, classes)) lexer->at++;
}

// Anything that starts with a digit. Letters that do not belong are taken along, as malformed.
static void lex_number(Lexer *lexer, Token *token) {
  const char *start = lexer->at;
  char letter = lexer->end - start > 1 ? (char)(start[1] | 32) : ' ';
  bool prefixed = start[0] == '0' && (letter == 'x' || letter == 'b' || letter == 'f' || letter == 'd');
  bool decimal = false;
  if (!prefixed) {
    skip_class(lexer, DIGIT);
    if (is_char(lexer, lexer->at, '.')) {
      decimal = true;
      lexer->at++;
      skip_class(lexer, DIGIT);
    }
    if (is_char(lexer, lexer->at, 'e') || is_char(lexer, lexer->at, 'E')) {
      decimal = true;
      lexer->at++;
      if (is_char(lexer, lexer->at, '+') || is_char(lexer, lexer->at, '-')) lexer->at++;
    }
  }
  skip_class(lexer, NAME_PART);
  token->text.length = (uint32_t)(lexer->at - start);
  if (decimal) {
    lex_decimal(token);
  } else if (!lex_float_bits(lexer->at, token)) {
    lex_int(lexer->at, token);
  }
}

// The characters of a name, from `at` on; "::" joins further parts where `joins`.
static const char *name_end(const Lexer *lexer, const char *at, bool joins) {
  for (;;) {
    while (is_class(lexer, at, NAME_PART)) at++;
    if (!joins || !is_char(lexer, at, ':') || !is_char(lexer, at + 1, ':') || !is_class(lexer, at + 2, NAME_PART)) return at;
    at += 2;
  }
}

static void lex_string(Lexer *lexer, Token *token) {
  const char *start = lexer->at + 1, *at = start;
  while (at < lexer->end && *at != '"' && *at != '\n') at += *at == '\\' && at + 1 < lexer->end && at[1] != '\n' ? 2 : 1;
  token->kind = TOKEN_STRING;
  token->text = (Slice){start, (uint32_t)(at - start)};
  if (!is_char(lexer, at, '"')) token->problem = "string is not closed:";
  lexer->at = is_char(lexer, at, '"') ? at + 1 : at;
}

static void lex_punctuation(Lexer *lexer, Token *token) {
  static const struct {
    char text[3];
    TokenKind kind;
  } pairs[] = {
      {"<<", TOKEN_SHIFT_LEFT}, {">>", TOKEN_SHIFT_RIGHT}, {"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_GREATER_EQUAL},
      {"==", TOKEN_EQUAL},      {"!=", TOKEN_NOT_EQUAL},   {"&&", TOKEN_AND},        {"||", TOKEN_OR},
  };
  const char *at = lexer->at;
  bool doubled = lexer->end - at > 1 && (at[1] == '=' || at[1] == at[0]);
  for (size_t i = 0; doubled && i < COUNT_OF(pairs); i++) {
    if (memcmp(at, pairs[i].text, 2) != 0) continue;
    token->kind = pairs[i].kind;
    token->text.length = 2;
    lexer->at += 2;
    return;
  }
  lexer->at++;
  token->kind = (TokenKind)(uint8_t)*at;
  if (*at > ' ' && *at < 127 && strchr(";,:(){}[]<>+-*/%&|^~!?=@", *at) != NULL) return;
  token->kind = TOKEN_BAD;
  token->problem = "unexpected character";
  token->fatal = *at <= ' ' || *at >= 127;
  if (token->fatal) token->problem = "this is not PTX text; it holds the byte";
}

Token lexer_next(Lexer *lexer) {
  Token token = {.first_on_line = lexer->at == lexer->line_start};
  if (!skip_blanks(lexer, &token.first_on_line, &token)) return token;
  const char *at = lexer->at;
  token.place = lexer_place(lexer, at);
  token.text = (Slice){at, at < lexer->end ? 1 : 0};
  if (at >= lexer->end) return token;
  if (is_class(lexer, at, NAME_START) && (*at != '%' || is_class(lexer, at + 1, NAME_PART))) {
    lexer->at = name_end(lexer, at + 1, false);
    token.kind = TOKEN_NAME;
    token.text.length = (uint32_t)(lexer->at - at);
  } else if (*at == '.' && is_class(lexer, at + 1, NAME_PART)) {
    lexer->at = name_end(lexer, at + 1, true);
    token.kind = TOKEN_DOT_NAME;
    token.text = (Slice){at + 1, (uint32_t)(lexer->at - at) - 1};
  } else if (is_class(lexer, at, DIGIT)) {
    lex_number(lexer, &token);
  } else if (*at == '"') {
    lex_string(lexer, &token);
  } else {
    lex_punctuation(lexer, &token);
  }
  return token;
}

bool lexer_modifier(Lexer *lexer, Slice *part) {
  const char *at = lexer->at;
  if (!is_char(lexer, at, '.') || !is_class(lexer, at + 1, NAME_PART)) return false;
  lexer->at = name_end(lexer, at + 1, true);
  *part = (Slice){at + 1, (uint32_t)(lexer->at - at) - 1};
  return true;
}

bool lexer_at_colon(Lexer lexer) {
  while (is_class(&lexer, lexer.at, SPACE)) lexer.at++;
  if (is_char(&lexer, lexer.at, '/')) { // a comment between name and colon: rare, the long way
    return (int)lexer_next(&lexer).kind == ':';
  }
  return is_char(&lexer, lexer.at, ':');
}
