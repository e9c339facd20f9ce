// Opcodes of the matrix instructions -> row, imm and the registers of each fragment.
// Source: PTX ISA manual, "Warp Level Matrix Multiply-Accumulate Instructions", syntax sections.
#include "isa/matrix_internal.h"
#include "isa/parts.h"

// ---- Element types -------------------------------------------------------------------------------
typedef struct Element {
  const char *text;
  uint8_t element; // MatrixClass
  bool is_signed;  // F8: e5m2
} Element;
static const Element elements[] = {
    {"f16", MATRIX_F16, false}, {"bf16", MATRIX_BF16, false}, {"tf32", MATRIX_TF32, false}, {"f64", MATRIX_F64, false},
    {"u8", MATRIX_I8, false},   {"s8", MATRIX_I8, true},      {"u4", MATRIX_I4, false},     {"s4", MATRIX_I4, true},
    {"b1", MATRIX_B1, false},   {"e4m3", MATRIX_F8, false},   {"e5m2", MATRIX_F8, true},
};
static const Element *next_element(Parts *parts) {
  for (size_t i = 0; i < COUNT_OF(elements); i++)
    if (next_is(parts, elements[i].text)) return &elements[i];
  return NULL;
}

// Accumulators: what the class of A and B leaves open is only whether floats are f16.
static bool next_accumulator(Parts *parts, MatrixClass element, bool *is_f16) {
  *is_f16 = false;
  switch (element) {
  case MATRIX_F16:
  case MATRIX_F8: return (*is_f16 = next_is(parts, "f16")) || next_is(parts, "f32");
  case MATRIX_BF16:
  case MATRIX_TF32: return next_is(parts, "f32");
  case MATRIX_F64: return next_is(parts, "f64");
  default: return next_is(parts, "s32");
  }
}

// ---- Shapes ----------------------------------------------------------------------------------------
// "m16n8k16" with the sizes read; false for anything else.
static bool read_shape(Slice text, unsigned sizes[3]) {
  static const char letters[3] = {'m', 'n', 'k'};
  uint32_t at = 0;
  for (unsigned i = 0; i < 3; i++) {
    if (at >= text.length || text.at[at++] != letters[i]) return false;
    sizes[i] = 0;
    uint32_t first = at;
    while (at < text.length && text.at[at] >= '0' && text.at[at] <= '9' && at < first + 3)
      sizes[i] = 10 * sizes[i] + (unsigned)(text.at[at++] - '0');
    if (at == first) return false;
  }
  return at == text.length;
}
static bool next_shape(Parts *parts, unsigned sizes[3]) {
  if (!parts->left || !read_shape(parts->at[0], sizes)) return false;
  parts->at++, parts->left--;
  return true;
}
typedef enum Syntax { SYNTAX_WMMA, SYNTAX_MMA, SYNTAX_SPARSE } Syntax;
static Syntax syntax_of(const MatrixShape *shape) {
  return shape->family == MATRIX_WMMA ? SYNTAX_WMMA : shape->family == MATRIX_SPARSE ? SYNTAX_SPARSE : SYNTAX_MMA;
}
static bool find_shape(Syntax syntax, const unsigned sizes[3], MatrixClass element, uint32_t *number) {
  for (*number = 0; *number < MATRIX_SHAPES; ++*number) {
    const MatrixShape *shape = &matrix_shapes[*number];
    if (syntax_of(shape) == syntax && shape->m == sizes[0] && shape->n == sizes[1] && shape->k == sizes[2] && shape->element == element)
      return true;
  }
  return false;
}

// ---- Rows ------------------------------------------------------------------------------------------
static bool find_mma_row(MatrixForm *form) {
  static const struct {
    uint8_t d, a, b, c;
    Op op;
  } rows[] = {
#define ROW(d, a, b, c) {d, a, b, c, OP_MMA_##d##a##b##c},
      MATRIX_WIDTHS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (rows[i].d != form->d || rows[i].a != form->a || rows[i].b != form->b || rows[i].c != form->c) continue;
    form->op = rows[i].op;
    return true;
  }
  return false;
}

static bool find_memory_row(MatrixForm *form) {
#define WIDTHS(use, space) \
  { OP_FRAGMENT_##use##_##space##1, OP_FRAGMENT_##use##_##space##2, OP_FRAGMENT_##use##_##space##4, OP_FRAGMENT_##use##_##space##8 }
  static const Op loads[3][4] = {WIDTHS(LOAD, X), WIDTHS(LOAD, GLOBAL_X), WIDTHS(LOAD, SHARED_X)};
  static const Op stores[3][4] = {WIDTHS(STORE, X), WIDTHS(STORE, GLOBAL_X), WIDTHS(STORE, SHARED_X)};
#undef WIDTHS
  unsigned space = form->space == SPACE_GLOBAL ? 1 : form->space == SPACE_SHARED ? 2 : 0, width = 0;
  while (width < 3 && 1u << width != form->d) width++;
  if (1u << width != form->d) return false;
  form->op = (form->use == MATRIX_STORE ? stores : loads)[space][width];
  return true;
}

static Space next_space(Parts *parts) {
  if (next_is(parts, "global")) return SPACE_GLOBAL;
  if (next_is(parts, "shared") || next_is(parts, "shared::cta")) return SPACE_SHARED;
  return SPACE_GENERIC;
}
static bool next_aligned(Parts *parts) { return next_is(parts, "sync") && (next_is(parts, "aligned"), true); }

// Layout: 0 = row, 1 = col; false: neither.
static bool next_layout(Parts *parts, bool *is_column) { return (*is_column = next_is(parts, "col")) || next_is(parts, "row"); }

// ---- wmma.load, wmma.store ---------------------------------------------------------------------------
// PTX's default stride is the extent of the matrix along the layout.
static uint32_t default_stride(const MatrixShape *shape, MatrixPart part, bool is_column) {
  if (part == PART_A) return is_column ? shape->m : shape->k;
  if (part == PART_B) return is_column ? shape->k : shape->n;
  return is_column ? shape->m : shape->n;
}

// The type alone does not name A's and B's class where it is that of C (f16 C, f32 C, s32 C): any class with
// that accumulator and size has the same C.
static bool find_part_shape(Parts *parts, const unsigned sizes[3], MatrixPart part, uint32_t *number, bool *is_f16) {
  *is_f16 = false;
  if (part != PART_C) {
    const Element *element = next_element(parts);
    return element && find_shape(SYNTAX_WMMA, sizes, (MatrixClass)element->element, number);
  }
  for (*number = 0; *number < MATRIX_SHAPES; ++*number) {
    const MatrixShape *shape = &matrix_shapes[*number];
    if (shape->family != MATRIX_WMMA || shape->m != sizes[0] || shape->n != sizes[1] || shape->k != sizes[2]) continue;
    if (next_accumulator(parts, (MatrixClass)shape->element, is_f16)) return true;
  }
  return false;
}

static bool parse_fragment(Parts *parts, MatrixForm *form) {
  MatrixPart part = PART_C;
  bool is_column, is_f16;
  unsigned sizes[3];
  uint32_t number;
  if (form->use == MATRIX_STORE) {
    if (!next_is(parts, "d")) return false;
  } else if (next_is(parts, "a")) {
    part = PART_A;
  } else if (next_is(parts, "b")) {
    part = PART_B;
  } else if (!next_is(parts, "c")) {
    return false;
  }
  if (!next_aligned(parts) || !next_layout(parts, &is_column) || !next_shape(parts, sizes)) return false;
  form->space = next_space(parts);
  if (!find_part_shape(parts, sizes, part, &number, &is_f16)) return false;
  const MatrixShape *shape = &matrix_shapes[number];
  bool is_wide = shape->element == MATRIX_F64;
  form->imm = number | (uint32_t)part << IMM_PART | (is_f16 ? IMM_FRAGMENT_F16 : 0u) | (is_column ? IMM_COLUMN : 0u) |
              (uint32_t)FORM_FRAGMENT << IMM_FORM;
  form->d = (uint8_t)matrix_listed(shape, part, is_f16);
  form->has_stride = true;
  form->default_stride = default_stride(shape, part, is_column);
  form->c_is_wide = is_wide;
  // Elements of less than a byte lie along k.
  if (matrix_element_bits(shape) < 8 && part != PART_C && is_column != (part == PART_B)) return false;
  return find_memory_row(form);
}

// ---- wmma.mma, mma.sync --------------------------------------------------------------------------------
typedef struct Product {
  bool is_wmma, a_column, b_column, saturates;
  bool is_and; // b1: .and.popc
  unsigned sizes[3];
  const Element *a, *b;
  bool c_f16, d_f16;
  unsigned rounding;
} Product;

// The types of wmma on f16 are those of D and C alone; all others name D, A, B, C.
static bool next_types(Parts *parts, Product *product) {
  Parts saved = *parts;
  if (product->is_wmma && next_accumulator(parts, MATRIX_F16, &product->d_f16) && next_accumulator(parts, MATRIX_F16, &product->c_f16)) {
    product->a = product->b = &elements[0];
    if (parts->left == 0 || slice_is(parts->at[0], "satfinite")) return parts->left == 0;
  }
  *parts = saved;
  if (!parts->left) return false;
  parts->at++, parts->left--; // D: checked below, when the class is known
  product->a = next_element(parts), product->b = product->a ? next_element(parts) : NULL;
  if (!product->b || product->a->element != product->b->element) return false;
  if (product->a->element < MATRIX_I8 && product->a != product->b) return false;
  MatrixClass element = (MatrixClass)product->a->element;
  return next_accumulator(&saved, element, &product->d_f16) && next_accumulator(parts, element, &product->c_f16);
}

static bool next_bit_operation(Parts *parts, Product *product) {
  product->is_and = next_is(parts, "and");
  return (product->is_and || next_is(parts, "xor")) && next_is(parts, "popc");
}

// Layouts, shape and what may follow the types.
static bool read_product(Parts *parts, Product *product) {
  bool has_operation = product->is_wmma && next_bit_operation(parts, product), saturates = false;
  if (!next_aligned(parts)) return false;
  if (!product->is_wmma && !next_shape(parts, product->sizes)) return false;
  if (!next_layout(parts, &product->a_column) || !next_layout(parts, &product->b_column)) return false;
  if (product->is_wmma && !next_shape(parts, product->sizes)) return false;
  saturates = next_is(parts, "satfinite");
  if (!next_types(parts, product)) return false;
  MatrixClass element = (MatrixClass)product->a->element;
  if (element == MATRIX_B1 && !has_operation && !next_bit_operation(parts, product)) return false;
  static const char *const roundings[] = {"rn", "rz", "rm", "rp"};
  for (unsigned i = 0; element == MATRIX_F64 && i < COUNT_OF(roundings); i++)
    if (next_is(parts, roundings[i])) product->rounding = i;
  product->saturates = next_is(parts, "satfinite") || saturates;
  return parts->left == 0 && (!product->saturates || element == MATRIX_I8 || element == MATRIX_I4);
}

static bool parse_product(Parts *parts, Syntax syntax, MatrixForm *form) {
  bool is_wmma = syntax == SYNTAX_WMMA;
  Product product = {.is_wmma = is_wmma};
  uint32_t number;
  if (!read_product(parts, &product)) return false;
  MatrixClass element = (MatrixClass)product.a->element;
  form->steps = 1;
  if (syntax == SYNTAX_MMA && element == MATRIX_F64 && product.sizes[2] == 16) product.sizes[2] = 8, form->steps = 2;
  if (!find_shape(syntax, product.sizes, element, &number)) return false;
  const MatrixShape *shape = &matrix_shapes[number];
  bool is_quad = shape->family == MATRIX_QUAD, is_free = is_wmma && matrix_element_bits(shape) >= 8;
  if (!is_quad && !is_free && (product.a_column || !product.b_column)) return false;
  form->imm = number | (product.a->is_signed ? IMM_A_SIGNED : 0u) | (product.b->is_signed ? IMM_B_SIGNED : 0u) |
              (product.c_f16 ? IMM_C_F16 : 0u) | (product.d_f16 ? IMM_D_F16 : 0u) | (product.saturates ? IMM_SATFINITE : 0u) |
              (product.is_and ? IMM_AND : 0u) | (is_quad && product.a_column ? IMM_A_COLUMN : 0u) |
              (is_quad && !product.b_column ? IMM_B_ROW : 0u) | product.rounding << IMM_ROUNDING;
  form->use = MATRIX_MMA;
  form->d = (uint8_t)matrix_listed(shape, PART_C, product.d_f16);
  form->a = (uint8_t)matrix_listed(shape, PART_A, false);
  form->b = (uint8_t)matrix_listed(shape, PART_B, false);
  form->c = (uint8_t)matrix_listed(shape, PART_C, product.c_f16);
  form->a_is_wide = form->c_is_wide = element == MATRIX_F64;
  form->selectors = (uint8_t)(syntax == SYNTAX_SPARSE ? 4 / matrix_metadata_lanes(shape) : 0);
  return find_mma_row(form);
}

// ---- ldmatrix, stmatrix, movmatrix ---------------------------------------------------------------------
// The type, or what 6 and 4 bits become and what they are.
static bool next_row_element(Parts *parts, RowElement *element) {
  *element = next_is(parts, "b16") ? ROW_B16 : ROW_B8;
  if (*element == ROW_B16 || next_is(parts, "b8")) return true;
  if (!next_is(parts, "b8x16")) return false;
  *element = next_is(parts, "b6x16_p32") ? ROW_B6 : ROW_B4;
  return *element == ROW_B6 || next_is(parts, "b4x16_p64");
}

// .m8n8: b16; .m16n16.trans: b8 or less, a load; .m8n16: less than 8 bits, a load; .m16n8.trans: b8, a store.
static bool parse_rows(Parts *parts, MatrixForm *form) {
  RowElement element;
  bool is_load = form->use == MATRIX_LOAD;
  if (!next_aligned(parts)) return false;
  bool small = next_is(parts, "m8n8"), square = !small && is_load && next_is(parts, "m16n16");
  bool wide = !small && !square && is_load && next_is(parts, "m8n16"), tall = !small && !is_load && next_is(parts, "m16n8");
  uint32_t log_count = next_is(parts, "x1") ? 0 : next_is(parts, "x2") ? 1 : next_is(parts, "x4") ? 2 : 3;
  bool transposed = next_is(parts, "trans");
  form->space = next_space(parts);
  if (!(small || square || wide || tall) || log_count == 3 || !next_row_element(parts, &element)) return false;
  if (small != (element == ROW_B16) || (wide && element == ROW_B8) || (tall && element != ROW_B8)) return false;
  if (!small && transposed == wide) return false;
  if (square && log_count == 2) return false;
  form->d = (uint8_t)(1u << (log_count + square));
  form->imm = log_count | (transposed ? IMM_TRANSPOSED : 0u) | (uint32_t)element << IMM_ROW_ELEMENT | (uint32_t)FORM_LDMATRIX << IMM_FORM;
  form->packed_bits = element == ROW_B6 ? 6 : element == ROW_B4 ? 4 : 0;
  form->is_transposed = transposed;
  return find_memory_row(form);
}

bool matrix_parse(const Slice *parts, unsigned count, MatrixForm *form) {
  Parts rest = {parts, count};
  *form = (MatrixForm){.steps = 1};
  bool fine = false;
  if (next_is(&rest, "mma")) {
    bool is_sparse = next_is(&rest, "sp") || next_is(&rest, "sp::ordered_metadata");
    fine = parse_product(&rest, is_sparse ? SYNTAX_SPARSE : SYNTAX_MMA, form);
  } else if (next_is(&rest, "ldmatrix")) {
    form->use = MATRIX_LOAD;
    fine = parse_rows(&rest, form);
  } else if (next_is(&rest, "stmatrix")) {
    form->use = MATRIX_STORE;
    fine = parse_rows(&rest, form);
  } else if (next_is(&rest, "movmatrix")) {
    form->use = MATRIX_MOVE, form->op = OP_MOVMATRIX, form->d = form->a = 1;
    fine = next_aligned(&rest) && next_is(&rest, "m8n8") && next_is(&rest, "trans") && next_is(&rest, "b16");
  } else if (next_is(&rest, "wmma")) {
    form->use = next_is(&rest, "load") ? MATRIX_LOAD : next_is(&rest, "store") ? MATRIX_STORE : MATRIX_MMA;
    fine = form->use != MATRIX_MMA ? parse_fragment(&rest, form) : next_is(&rest, "mma") && parse_product(&rest, SYNTAX_WMMA, form);
  }
  return fine && rest.left == 0;
}
