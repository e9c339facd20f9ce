// Initialisers of variables (PTX ISA, "Initializers"): numbers, addresses of variables and functions, and
// lists of them. Lists fill the array in order; a nested list starts at the next row of its dimension, and
// what is not given is zero.
#include "ptx/parser_internal.h"

enum { MAX_LEVELS = MAX_DIMENSIONS + 2 };

typedef struct Filler {
  PtxVariable *variable;
  uint64_t element_bytes;
  uint64_t position;            // next element to fill
  uint64_t capacity;            // elements in all; 0 = open
  uint64_t strides[MAX_LEVELS]; // elements per row at each nesting level of lists
  uint32_t levels;
} Filler;

// The bits of a number as the variable's type holds it; false where it cannot.
static bool number_bits(PtxType type, Constant value, uint64_t *bits) {
  bool is_f32 = value.kind == PTX_FLOAT32, is_f64 = value.kind == PTX_FLOAT64;
  *bits = value.bits;
  if (type == PTX_F64 && !is_f64) *bits = bits_of_f64(constant_f64(value));
  if (type == PTX_F32 && !is_f32) *bits = bits_of_f32((float)constant_f64(value));
  if (type == PTX_F64 || type == PTX_F32) return true;
  return (!is_f32 || ptx_type_bits(type) == 32) && (!is_f64 || ptx_type_bits(type) == 64);
}

static bool add_number(Parser *parser, Filler *filler, Constant value, PtxPlace place) {
  PtxVariable *variable = filler->variable;
  uint32_t bytes = (uint32_t)min_u64(filler->element_bytes, 8);
  uint64_t offset = filler->position * filler->element_bytes;
  uint64_t bits;
  if (!number_bits(variable->type, value, &bits)) {
    return parser_error(parser, place, "a floating-point number cannot initialise a .%s", ptx_type_text(variable->type));
  }
  if (bytes < 8) bits &= (UINT64_C(1) << (8 * bytes)) - 1;
  PtxInitial *last = variable->initials.count > 0 ? &variable->initials.items[variable->initials.count - 1] : NULL;
  bool joins = last != NULL && !last->is_address && last->offset + last->bytes == offset && last->offset / 8 == (offset + bytes - 1) / 8;
  if (joins) {
    last->bits |= bits << (8 * last->bytes);
    last->bytes += bytes;
    return true;
  }
  *VEC_PUSH(&variable->initials, parser->arena) = (PtxInitial){.offset = offset, .bytes = bytes, .bits = bits, .mask = UINT64_MAX};
  return true;
}

// name, name+4, generic(name)+4; `mask` of 0xFF(name).
static bool parse_symbol(Parser *parser, Filler *filler, uint64_t mask) {
  PtxInitial initial = {.is_address = true, .mask = mask, .bytes = (uint32_t)min_u64(filler->element_bytes, 8)};
  initial.offset = filler->position * filler->element_bytes;
  PtxPlace place;
  bool named = parser_expect_name(parser, &initial.symbol, &place, "the name of a variable or function");
  if (!named) return false;
  if (slice_is(initial.symbol, "generic") && parser_accept(parser, '(')) {
    initial.generic = true;
    if (!parser_expect_name(parser, &initial.symbol, &place, "the name of a variable")) return false;
    if (!parser_expect(parser, ')', "after 'generic(name'")) return false;
  }
  while ((int)parser->token.kind == '+' || (int)parser->token.kind == '-') {
    bool minus = (int)parser->token.kind == '-';
    parser_advance(parser);
    Constant value;
    if (!parse_product(parser, &value)) return false;
    if (value.kind != PTX_INT) return parser_error(parser, place, "an offset must be an integer");
    initial.addend = (int64_t)(minus ? (uint64_t)initial.addend - value.bits : (uint64_t)initial.addend + value.bits);
  }
  *VEC_PUSH(&parser->module_pending, parser->scratch) = (Pending){.name = initial.symbol, .place = place};
  *VEC_PUSH(&filler->variable->initials, parser->arena) = initial;
  return true;
}

static bool has_room(Parser *parser, const Filler *filler) {
  bool full = filler->position >= (filler->capacity != 0 ? filler->capacity : MAX_VARIABLE_BYTES >> 8);
  const char *name = full ? parser_quote(parser, filler->variable->name) : NULL;
  return full ? parser_error(parser, parser->token.place, "too many initial values for %s", name) : true;
}

static bool parse_scalar(Parser *parser, Filler *filler) {
  PtxPlace place = parser->token.place;
  if (!has_room(parser, filler)) return false;
  bool ok;
  if (parser->token.kind == TOKEN_NAME && !starts_constant(parser)) {
    ok = parse_symbol(parser, filler, UINT64_MAX);
  } else {
    if (!starts_constant(parser)) return parser_expected(parser, "an initial value");
    Constant value;
    ok = parse_constant(parser, &value);
    if (ok && parser_accept(parser, '(')) {
      ok = parse_symbol(parser, filler, value.bits) && parser_expect(parser, ')', "after the masked name");
    } else if (ok) {
      ok = add_number(parser, filler, value, place);
    }
  }
  filler->position++;
  return ok;
}

// filter_mode = nearest, ... of opaque types: what matters is set when textures are bound.
static bool parse_property(Parser *parser) {
  parser_advance(parser);
  if (!parser_expect(parser, '=', "after the property")) return false;
  if (parser->token.kind != TOKEN_NAME && parser->token.kind != TOKEN_INT) return parser_expected(parser, "the value of the property");
  parser_advance(parser);
  return true;
}

static bool is_opaque(PtxType type) { return type == PTX_TEXREF || type == PTX_SAMPLERREF || type == PTX_SURFREF; }

static bool parse_braces(Parser *parser, Filler *filler, uint32_t level);

static bool parse_element(Parser *parser, Filler *filler, uint32_t level) {
  if (is_opaque(filler->variable->type) && parser->token.kind == TOKEN_NAME) return parse_property(parser);
  return (int)parser->token.kind == '{' ? parse_braces(parser, filler, level + 1) : parse_scalar(parser, filler);
}

// The list after '{', with the '}'.
static bool parse_rows(Parser *parser, Filler *filler, uint32_t level) {
  parser->open_braces++;
  parser_advance(parser);
  for (bool first = true; (int)parser->token.kind != '}'; first = false) {
    if (!first && !parser_expect(parser, ',', "between initial values")) return false;
    if (!first && (int)parser->token.kind == '}') break; // a comma behind the last one
    if (!parse_element(parser, filler, level)) return false;
  }
  parser->open_braces--;
  return parser_expect(parser, '}', "after the initial values");
}

// At '{'. Level 0 is the outermost list; each deeper one fills one row of its level.
static bool parse_braces(Parser *parser, Filler *filler, uint32_t level) {
  if (level > filler->levels) return parser_error(parser, parser->token.place, "list nested deeper than the array has dimensions");
  if (level == 0) return parse_rows(parser, filler, level);
  uint64_t stride = max_u64(1, filler->strides[level - 1]);
  filler->position += (stride - filler->position % stride) % stride;
  uint64_t start = filler->position;
  if (!has_room(parser, filler) || !parse_rows(parser, filler, level)) return false;
  if (filler->position > start + stride) return parser_error(parser, parser->token.place, "too many initial values in this row");
  filler->position = start + stride;
  return true;
}

// Rows of each level: the array's dimensions but the first, then the vector's elements.
static void set_strides(Filler *filler, const uint64_t dimensions[], uint32_t count) {
  uint64_t stride = filler->variable->vector;
  uint32_t level = 0;
  uint64_t reversed[MAX_LEVELS];
  if (filler->variable->vector > 1) reversed[level++] = stride;
  for (uint32_t i = count; i > 1; i--) {
    stride *= dimensions[i - 1];
    reversed[level++] = stride;
  }
  filler->levels = level;
  for (uint32_t i = 0; i < level; i++) filler->strides[i] = reversed[level - 1 - i];
  if (count == 0 && filler->variable->vector > 1) filler->levels = 0; // {1,2,3,4} alone is the vector
}

bool parse_initial(Parser *parser, PtxVariable *variable, const uint64_t dimensions[], uint32_t count) {
  Construct construct;
  parser_open(parser, &construct, "initialiser of", variable->name, parser->token.place);
  Filler filler = {.variable = variable, .element_bytes = (ptx_type_bits(variable->type) + 7) / 8};
  bool open_array = count > 0 && dimensions[0] == OPEN_DIMENSION;
  filler.capacity = open_array ? 0 : max_u64(1, variable->count * variable->vector);
  set_strides(&filler, dimensions, count);
  bool ok = (int)parser->token.kind == '{' ? parse_braces(parser, &filler, 0) : parse_scalar(parser, &filler);
  if (ok && open_array) {
    uint64_t row = variable->vector;
    for (uint32_t i = 1; i < count; i++) row *= dimensions[i];
    uint64_t rows = row == 0 ? 0 : (filler.position + row - 1) / row;
    variable->count = rows * row / variable->vector;
    size_variable(variable);
  }
  parser_close(parser, &construct);
  return ok;
}
