// What the parser's files share. One Parser lives for one call of ptx_parse.
//
// Functions that can meet a syntax error return false after reporting it; the caller unwinds to the
// statement or directive, which skips to a safe place (parser_recover) and goes on. Errors of meaning
// (an undeclared name) are reported and parsing simply continues.
#ifndef REDOUBT_PTX_PARSER_INTERNAL_H
#define REDOUBT_PTX_PARSER_INTERNAL_H

#include "ptx/lexer.h"

enum { MAX_NESTING = 256, MAX_ERRORS = 100, MAX_FUNCTION_REGISTERS = 1 << 20, MAX_MODULE_REGISTERS = 1 << 23, MAX_OLD_PARAMS = 1024 };
#define NO_LABEL UINT32_MAX

typedef enum SymbolKind { SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_REGISTER, SYMBOL_RANGE, SYMBOL_LABEL } SymbolKind;

typedef struct Symbol {
  Slice name;
  SymbolKind kind;
  uint32_t depth; // of its scope; 0 = module
  uint32_t next;  // older symbol of the same bucket, index + 1
  PtxPlace place;
  PtxVariable *variable; // SYMBOL_VARIABLE
  PtxFunction *function; // SYMBOL_FUNCTION
  uint32_t index;        // SYMBOL_REGISTER, SYMBOL_LABEL: index in the function
  uint32_t count;        // SYMBOL_RANGE: %r<count>
  uint32_t *registers;   // SYMBOL_RANGE: 1 + index of each member, 0 while it has not been named
  PtxType type;          // SYMBOL_RANGE
  uint32_t vector;       // SYMBOL_RANGE
} Symbol;

// A hash table whose symbols also form a stack: a scope that ends pops its own.
typedef struct Symbols {
  VEC(Symbol) stack;
  uint32_t *buckets;     // newest symbol of each, index + 1
  uint32_t bucket_count; // a power of two
  bool digit_ranges;     // some %r1<10> was declared: its prefix ends with a digit
} Symbols;

// A name used before it is known what it means.
typedef struct Pending {
  Slice name;
  PtxPlace place;
  PtxOperand *operand; // to be completed, or
  uint32_t *label;     // a .branchtargets entry; neither: must merely exist
  bool must_be_label;
  const char *nearest; // best guess among the names of its function
} Pending;

// Something that was opened and must be closed; for the message about a truncated file.
typedef struct Construct {
  const char *what;
  Slice name;
  PtxPlace place;
  struct Construct *outer;
} Construct;

typedef struct Parser {
  Arena *arena;   // the module's
  Arena *scratch; // the parser's own
  const char *file;
  Diags *diags;
  uint32_t error_count;
  bool stopped; // nothing more to say about this file
  Lexer lexer;
  Token token;            // the current one
  PtxPlace last_expected; // where parser_expected last complained: once for each place is enough
  PtxModule *module;
  PtxFunction *function; // NULL at module level
  bool has_version, has_target, has_address_size, uses_address64;
  bool old_params;                  // kernel parameters are declared in the body (before PTX 1.4)
  bool in_call, in_branch, in_move; // kind of the instruction being read
  uint32_t depth;                   // scopes open
  uint32_t nesting;                 // recursion of the parser itself
  uint32_t open_braces;             // of vectors and initialisers, for recovery
  uint32_t module_registers;
  uint32_t guesses; // nearest names looked for ahead of need
  Construct *open;
  Symbols symbols;
  VEC(PtxOperand) operands;     // stack of operands under construction
  VEC(PtxStatement) statements; // of the function being read
  VEC(Pending) pending;         // names of the open scopes; those of a scope start at its mark
  VEC(Pending) module_pending;  // names to be looked up when the module ends
} Parser;

// ---- parser.c: tokens and errors -----------------------------------------------------------------
void parser_advance(Parser *parser);
bool parser_accept(Parser *parser, int kind);
bool parser_expect(Parser *parser, int kind, const char *where); // "after the operand"
bool parser_expected(Parser *parser, const char *what);          // "expected WHAT, found '...'"; always false
bool parser_error(Parser *parser, PtxPlace place, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *parser_quote(Parser *parser, Slice text); // 'text', cut and escaped
bool parser_expect_name(Parser *parser, Slice *name, PtxPlace *place, const char *what);
bool parser_at_directive(const Parser *parser, const char *name);
bool parser_enter(Parser *parser); // one level of recursion deeper
void parser_leave(Parser *parser);
void parser_open(Parser *parser, Construct *construct, const char *what, Slice name, PtxPlace place);
void parser_close(Parser *parser, Construct *construct);
bool parser_end(Parser *parser, const char *where); // the ';'; after the complaint a new line will do
void parser_recover(Parser *parser);                // to behind ';' or before '}'

// ---- symbols.c -----------------------------------------------------------------------------------
Symbol *symbol_find(Parser *parser, Slice name);                                 // innermost; NULL
Symbol *symbol_find_here(Parser *parser, Slice name);                            // of the current scope only
Symbol *symbol_add(Parser *parser, SymbolKind kind, Slice name, PtxPlace place); // NULL: redeclared, reported
void scope_enter(Parser *parser);
void scope_leave(Parser *parser, uint32_t first_symbol, uint32_t first_pending);
bool register_find(Parser *parser, Slice name, uint32_t *index); // declared registers, %r<n> too
uint32_t register_add(Parser *parser, Slice name, PtxType type, uint32_t vector);
bool sreg_known(Slice name);
void report_unknown(Parser *parser, Slice name, PtxPlace place, bool label, const char *guess);
void resolve_module_names(Parser *parser);

// ---- expression.c --------------------------------------------------------------------------------
// A constant: kind PTX_INT, PTX_FLOAT32 or PTX_FLOAT64, with bits and is_unsigned.
typedef struct Constant {
  PtxOperandKind kind;
  uint64_t bits;
  bool is_unsigned;
} Constant;
bool parse_constant(Parser *parser, Constant *value);
bool parse_product(Parser *parser, Constant *value); // without + and - outside parentheses
bool parse_integer(Parser *parser, int64_t *value, const char *what);
bool parse_count(Parser *parser, uint64_t limit, uint64_t *value, const char *what); // 0..limit
bool starts_constant(const Parser *parser);
double constant_f64(Constant value);

// ---- operand.c -----------------------------------------------------------------------------------
bool parse_operands(Parser *parser, PtxOperand **operands, uint32_t *count); // up to ';'

// ---- declaration.c, initial.c --------------------------------------------------------------------
typedef struct Head { // what stands before the names of a declaration
  PtxVariable variable;
  PtxPlace place;
  bool has_space;
} Head;
bool parse_head(Parser *parser, Head *head);
bool parse_dimensions(Parser *parser, PtxVariable *variable, uint64_t dimensions[], uint32_t *count);
void size_variable(PtxVariable *variable);
bool parse_declaration(Parser *parser, PtxLinkage linkage); // variables or registers, with the ';'
bool parse_parameters(Parser *parser, PtxSignature *signature, bool results, bool prototype);
bool parse_initial(Parser *parser, PtxVariable *variable, const uint64_t dimensions[], uint32_t count);
bool at_space(const Parser *parser);
enum { MAX_DIMENSIONS = 16 };
#define OPEN_DIMENSION UINT64_MAX // [] as opposed to [0]
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 40)

// ---- statement.c ---------------------------------------------------------------------------------
bool parse_body(Parser *parser, PtxPlace opened); // after '{', with the '}'
bool parse_ignored(Parser *parser, bool *taken);  // .loc .file .pragma .section

// ---- module.c ------------------------------------------------------------------------------------
void parse_module(Parser *parser);
bool parse_function(Parser *parser, PtxLinkage linkage); // at .entry or .func

#endif
