// Constant expressions (PTX ISA, "Constant expressions"): 64-bit integers and doubles, C's operators
// and precedence. Every operation is defined for every value, as on a two's complement machine.
#include "ptx/parser_internal.h"

static bool is_float(Constant value) { return value.kind != PTX_INT; }

double constant_f64(Constant value) {
  if (value.kind == PTX_FLOAT32) return (double)f32_of((uint32_t)value.bits);
  if (value.kind == PTX_FLOAT64) return f64_of(value.bits);
  return value.is_unsigned ? (double)value.bits : (double)(int64_t)value.bits;
}

static Constant of_f64(double value) { return (Constant){PTX_FLOAT64, bits_of_f64(value), false}; }
static Constant of_s64(int64_t value) { return (Constant){PTX_INT, (uint64_t)value, false}; }
static Constant of_bits(uint64_t bits, bool is_unsigned) { return (Constant){PTX_INT, bits, is_unsigned}; }
static bool is_true(Constant value) { return is_float(value) ? constant_f64(value) != 0.0 : value.bits != 0; }

static const struct {
  int kind;
  uint32_t level;
} operators[] = {
    {TOKEN_OR, 1},
    {TOKEN_AND, 2},
    {'|', 3},
    {'^', 4},
    {'&', 5},
    {TOKEN_EQUAL, 6},
    {TOKEN_NOT_EQUAL, 6},
    {'<', 7},
    {'>', 7},
    {TOKEN_LESS_EQUAL, 7},
    {TOKEN_GREATER_EQUAL, 7},
    {TOKEN_SHIFT_LEFT, 8},
    {TOKEN_SHIFT_RIGHT, 8},
    {'+', 9},
    {'-', 9},
    {'*', 10},
    {'/', 10},
    {'%', 10},
};
enum { LEVEL_LOWEST = 1, LEVEL_PRODUCT = 10 };

static uint32_t operator_level(int kind) {
  for (size_t i = 0; i < COUNT_OF(operators); i++) {
    if (operators[i].kind == kind) return operators[i].level;
  }
  return 0;
}

static bool compare(int kind, int order, Constant *result) {
  switch (kind) {
  case TOKEN_EQUAL: *result = of_s64(order == 0); return true;
  case TOKEN_NOT_EQUAL: *result = of_s64(order != 0); return true;
  case '<': *result = of_s64(order == -1); return true;
  case '>': *result = of_s64(order == 1); return true;
  case TOKEN_LESS_EQUAL: *result = of_s64(order == -1 || order == 0); return true;
  case TOKEN_GREATER_EQUAL: *result = of_s64(order == 1 || order == 0); return true;
  default: return false;
  }
}

// NULL, or why these floats cannot be combined so.
static const char *combine_floats(int kind, double a, double b, Constant *result) {
  int order = a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; // 2: unordered
  if (compare(kind, order, result)) return NULL;
  switch (kind) {
  case '+': *result = of_f64(a + b); return NULL;
  case '-': *result = of_f64(a - b); return NULL;
  case '*': *result = of_f64(a * b); return NULL;
  case '/':
    if (b == 0.0) return "division by zero in a constant expression";
    *result = of_f64(a / b);
    return NULL;
  default: return "this operator needs integers";
  }
}

static uint64_t shift_right(uint64_t value, uint64_t by, bool is_unsigned) {
  bool fill = !is_unsigned && value >> 63 != 0;
  if (by >= 64) return fill ? UINT64_MAX : 0;
  uint64_t shifted = value >> by;
  return fill && by > 0 ? shifted | UINT64_MAX << (64 - by) : shifted;
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a % b : a / b;
  if (b == UINT64_MAX) return remainder ? 0 : 0 - a; // by -1, without the overflow of INT64_MIN
  int64_t x = (int64_t)a, y = (int64_t)b;
  return (uint64_t)(remainder ? x % y : x / y);
}

static const char *combine_integers(int kind, Constant left, Constant right, Constant *result) {
  bool is_unsigned = left.is_unsigned || right.is_unsigned;
  uint64_t a = left.bits, b = right.bits;
  bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
  if (compare(kind, a == b ? 0 : less ? -1 : 1, result)) return NULL;
  switch (kind) {
  case '+': *result = of_bits(a + b, is_unsigned); return NULL;
  case '-': *result = of_bits(a - b, is_unsigned); return NULL;
  case '*': *result = of_bits(a * b, is_unsigned); return NULL;
  case '&': *result = of_bits(a & b, is_unsigned); return NULL;
  case '|': *result = of_bits(a | b, is_unsigned); return NULL;
  case '^': *result = of_bits(a ^ b, is_unsigned); return NULL;
  case TOKEN_SHIFT_LEFT: *result = of_bits(b >= 64 ? 0 : a << b, left.is_unsigned); return NULL;
  case TOKEN_SHIFT_RIGHT: *result = of_bits(shift_right(a, b, left.is_unsigned), left.is_unsigned); return NULL;
  case '/':
  case '%':
    if (b == 0) return "division by zero in a constant expression";
    *result = of_bits(divide(a, b, is_unsigned, kind == '%'), is_unsigned);
    return NULL;
  default: return "this operator is not for integers";
  }
}

static const char *combine(int kind, Constant a, Constant b, Constant *result) {
  if (kind == TOKEN_AND) *result = of_s64(is_true(a) && is_true(b));
  else if (kind == TOKEN_OR) *result = of_s64(is_true(a) || is_true(b));
  else if (is_float(a) || is_float(b)) return combine_floats(kind, constant_f64(a), constant_f64(b), result);
  else return combine_integers(kind, a, b, result);
  return NULL;
}

static bool parse_conditional(Parser *parser, Constant *value);
static bool parse_unary(Parser *parser, Constant *value);

// (.s64) or (.u64): the bits stay, floats are cut towards zero and held inside the range.
static Constant cast(Constant value, bool to_unsigned) {
  if (!is_float(value)) return of_bits(value.bits, to_unsigned);
  double x = constant_f64(value);
  if (!(x > -9223372036854775808.0)) return of_bits(to_unsigned || x != x ? 0 : (uint64_t)INT64_MIN, to_unsigned);
  if (to_unsigned) return of_bits(x >= 18446744073709551616.0 ? UINT64_MAX : x <= 0.0 ? 0 : (uint64_t)x, true);
  return of_s64(x >= 9223372036854775808.0 ? INT64_MAX : (int64_t)x);
}

// After '(': a cast and its operand, or an expression in parentheses.
static bool parse_parentheses(Parser *parser, Constant *value) {
  bool to_unsigned = parser_at_directive(parser, "u64");
  if (to_unsigned || parser_at_directive(parser, "s64")) {
    parser_advance(parser);
    if (!parser_expect(parser, ')', "after the type of the cast") || !parse_unary(parser, value)) return false;
    *value = cast(*value, to_unsigned);
    return true;
  }
  return parse_conditional(parser, value) && parser_expect(parser, ')', "after the expression");
}

static bool parse_primary(Parser *parser, Constant *value) {
  const Token token = parser->token;
  switch ((int)token.kind) {
  case TOKEN_INT: *value = of_bits(token.bits, token.is_unsigned); break;
  case TOKEN_FLOAT32: *value = (Constant){PTX_FLOAT32, token.bits, false}; break;
  case TOKEN_FLOAT64: *value = (Constant){PTX_FLOAT64, token.bits, false}; break;
  case '(': parser_advance(parser); return parse_parentheses(parser, value);
  case TOKEN_NAME:
    if (slice_is(token.text, "WARP_SZ")) {
      *value = of_s64(WARP_LANES);
      break;
    }
    return parser_expected(parser, "a constant");
  default: return parser_expected(parser, "a constant");
  }
  parser_advance(parser);
  return true;
}

static Constant negate(Constant value) {
  if (value.kind == PTX_FLOAT32) value.bits ^= UINT64_C(1) << 31;
  else if (value.kind == PTX_FLOAT64) value.bits ^= UINT64_C(1) << 63;
  else value.bits = 0 - value.bits;
  return value;
}

static bool parse_unary(Parser *parser, Constant *value) {
  if (!parser_enter(parser)) return false;
  int kind = (int)parser->token.kind;
  PtxPlace place = parser->token.place;
  bool prefixed = kind == '-' || kind == '+' || kind == '!' || kind == '~';
  if (prefixed) parser_advance(parser);
  bool ok = prefixed ? parse_unary(parser, value) : parse_primary(parser, value);
  parser_leave(parser);
  if (!ok || !prefixed) return ok;
  if (kind == '-') *value = negate(*value);
  if (kind == '!') *value = of_s64(!is_true(*value));
  if (kind == '~' && is_float(*value)) return parser_error(parser, place, "'~' needs an integer");
  if (kind == '~') value->bits = ~value->bits;
  return true;
}

static bool parse_binary(Parser *parser, uint32_t lowest, Constant *value) {
  if (!parse_unary(parser, value)) return false;
  for (;;) {
    int kind = (int)parser->token.kind;
    PtxPlace place = parser->token.place;
    uint32_t level = operator_level(kind);
    if (level == 0 || level < lowest) return true;
    parser_advance(parser);
    Constant right;
    if (!parse_binary(parser, level + 1, &right)) return false;
    const char *problem = combine(kind, *value, right, value);
    if (problem != NULL) parser_error(parser, place, "%s", problem);
  }
}

static bool parse_conditional(Parser *parser, Constant *value) {
  if (!parser_enter(parser)) return false;
  bool ok = parse_binary(parser, LEVEL_LOWEST, value);
  if (ok && parser_accept(parser, '?')) {
    Constant yes, no;
    ok = parse_conditional(parser, &yes) && parser_expect(parser, ':', "in the conditional expression") && parse_conditional(parser, &no);
    if (ok) *value = is_true(*value) ? yes : no;
  }
  parser_leave(parser);
  return ok;
}

bool parse_constant(Parser *parser, Constant *value) { return parse_conditional(parser, value); }

bool parse_product(Parser *parser, Constant *value) { return parse_binary(parser, LEVEL_PRODUCT, value); }

bool starts_constant(const Parser *parser) {
  int kind = (int)parser->token.kind;
  if (kind == TOKEN_NAME) return slice_is(parser->token.text, "WARP_SZ");
  return kind == TOKEN_INT || kind == TOKEN_FLOAT32 || kind == TOKEN_FLOAT64 || (kind > 0 && kind < 128 && strchr("(-+!~", kind) != NULL);
}

bool parse_integer(Parser *parser, int64_t *value, const char *what) {
  PtxPlace place = parser->token.place;
  Constant constant;
  if (!starts_constant(parser)) return parser_expected(parser, what);
  if (!parse_constant(parser, &constant)) return false;
  *value = (int64_t)constant.bits;
  return is_float(constant) ? parser_error(parser, place, "expected %s, found a floating-point number", what) : true;
}

bool parse_count(Parser *parser, uint64_t limit, uint64_t *value, const char *what) {
  PtxPlace place = parser->token.place;
  int64_t number = 0;
  if (!parse_integer(parser, &number, what)) return false;
  *value = (uint64_t)number;
  if (number < 0 || *value > limit) {
    return parser_error(parser, place, "%s is %lld; it must be 0 to %llu", what, (long long)number, (unsigned long long)limit);
  }
  return true;
}
