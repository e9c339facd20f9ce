// Tokens of PTX text. The lexer makes one token at a time and is a small value: copying it is the
// way to look ahead. It never reports; a token that is wrong says so in `problem`.
#ifndef REDOUBT_PTX_LEXER_H
#define REDOUBT_PTX_LEXER_H

#include "ptx/ast.h"

// Punctuation is its own character code; the rest follows.
typedef enum TokenKind {
  TOKEN_END = 0,
  TOKEN_NAME = 256, // foo, %r1, $L_2, _
  TOKEN_DOT_NAME,   // .reg, .u32, .L2::128B; text without the dot
  TOKEN_INT,        // bits
  TOKEN_FLOAT32,    // 0f3F800000: bits
  TOKEN_FLOAT64,    // 0d..., or decimal: bits
  TOKEN_STRING,     // text without the quotes
  TOKEN_SHIFT_LEFT,
  TOKEN_SHIFT_RIGHT,
  TOKEN_LESS_EQUAL,
  TOKEN_GREATER_EQUAL,
  TOKEN_EQUAL,
  TOKEN_NOT_EQUAL,
  TOKEN_AND,
  TOKEN_OR,
  TOKEN_BAD, // nothing usable; see problem
} TokenKind;

typedef struct Token {
  TokenKind kind;
  bool first_on_line;
  bool is_unsigned; // integer with a U suffix, or too large for 63 bits
  bool fatal;       // the rest of the text is not worth reading
  PtxPlace place;
  Slice text;
  uint64_t bits;
  const char *problem; // NULL, or what is wrong with the text
} Token;

typedef struct Lexer {
  const char *at, *end;
  const char *line_start;
  uint32_t line;
} Lexer;

Lexer lexer_start(const char *text, size_t length);
Token lexer_next(Lexer *lexer);
// Directly after a name: the next modifier of an opcode, if a dot follows without space.
bool lexer_modifier(Lexer *lexer, Slice *part);
// Directly after a name: a lone colon is next, so the name is a label.
bool lexer_at_colon(Lexer lexer);
PtxPlace lexer_place(const Lexer *lexer, const char *at);

#endif
