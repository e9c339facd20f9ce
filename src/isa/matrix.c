// Layout of matrix fragments (see matrix.h) and the memory accesses that fill and empty them.
// Source: PTX ISA manual, "Matrix multiply-accumulate operation using mma instruction", fragment
// figures; "ldmatrix", "stmatrix".
#include "isa/matrix_internal.h"

enum { FAMILY_WMMA = MATRIX_WMMA, FAMILY_MMA = MATRIX_MMA_SYNC, FAMILY_QUAD = MATRIX_QUAD, FAMILY_SPARSE = MATRIX_SPARSE };
const MatrixShape matrix_shapes[MATRIX_SHAPES] = {
#define SHAPE(family, m, n, k, element) {FAMILY_##family, MATRIX_##element, m, n, k},
#include "isa/matrix_shapes.def"
#undef SHAPE
};

unsigned matrix_element_bits(const MatrixShape *shape) {
  static const uint8_t bits[] = {[MATRIX_F16] = 16, [MATRIX_BF16] = 16, [MATRIX_TF32] = 32, [MATRIX_F64] = 64,
                                 [MATRIX_I8] = 8,   [MATRIX_I4] = 4,    [MATRIX_B1] = 1,    [MATRIX_F8] = 8};
  return bits[shape->element];
}
unsigned matrix_elements_per_register(const MatrixShape *shape) {
  return shape->element == MATRIX_F64 ? 1 : 32 / matrix_element_bits(shape);
}

// Tiles of 4 registers' worth of k.
static unsigned tiles_of_k(const MatrixShape *shape, MatrixPart part) {
  return max_u32(matrix_depth(shape, part) / (4 * matrix_elements_per_register(shape)), 1);
}

unsigned matrix_registers(const MatrixShape *shape, MatrixPart part, bool is_f16) {
  unsigned wide = shape->element == MATRIX_F64 ? 2 : 1;
  if (part == PART_C) return (unsigned)shape->m * shape->n / WARP_LANES * wide / (is_f16 ? 2 : 1) * (shape->family == MATRIX_QUAD ? 4 : 1);
  if (shape->family == MATRIX_QUAD) return 2;
  return (part == PART_A ? shape->m : shape->n) / 8u * tiles_of_k(shape, part) * wide;
}
unsigned matrix_listed(const MatrixShape *shape, MatrixPart part, bool is_f16) {
  if (part != PART_C && shape->family == MATRIX_WMMA && shape->element == MATRIX_F16) return 8;
  // The metadata follows a sparse A in its tuple, and fills it up.
  if (part == PART_A && shape->family == MATRIX_SPARSE) return 2 * matrix_registers(shape, part, is_f16);
  return matrix_registers(shape, part, is_f16);
}

MatrixPlace matrix_place(const MatrixShape *shape, MatrixPart part, unsigned unit) {
  unsigned halves = shape->m >= 16 ? 2 : 1, tiles = tiles_of_k(shape, part), width = 4 * matrix_elements_per_register(shape);
  if (part == PART_A) {
    unsigned half = unit % halves, tile = unit / halves % tiles, block = unit / (halves * tiles);
    return (MatrixPlace){16 * block + 8 * half, width * tile};
  }
  if (part == PART_B) return (MatrixPlace){8 * (unit / tiles), width * (unit % tiles)};
  unsigned columns = shape->n / 8u;
  unsigned half = unit / 2 % halves, column = unit / (2 * halves) % columns, block = unit / (2 * halves * columns);
  return (MatrixPlace){16 * block + 8 * half, 8 * column + unit % 2};
}
unsigned matrix_step(const MatrixShape *shape, MatrixPart part) { return part == PART_C ? 2 : matrix_elements_per_register(shape); }

// ---- Sparse A --------------------------------------------------------------------------------
static unsigned chunk_elements(const MatrixShape *shape) { return shape->element == MATRIX_TF32 ? 2 : shape->element == MATRIX_I4 ? 8 : 4; }
unsigned matrix_metadata_lanes(const MatrixShape *shape) { return min_u32(max_u32(shape->k / chunk_elements(shape) / 4u, 1), 4); }
uint32_t matrix_select(uint32_t imm, uint32_t selector) { return (imm & ~(3u << IMM_SELECTOR)) | (selector & 3) << IMM_SELECTOR; }

unsigned matrix_sparse_k(const MatrixShape *shape, uint32_t imm, const uint32_t *rows, unsigned row, unsigned i) {
  const uint32_t *metadata = rows + matrix_registers(shape, PART_A, false) * WARP_LANES;
  unsigned elements = chunk_elements(shape), chunk = i / (elements / 2), lanes = matrix_metadata_lanes(shape), lane, shift;
  unsigned first = ((imm >> IMM_SELECTOR) & 3) * lanes % 4;
  if (matrix_element_bits(shape) >= 16) lane = first + chunk / 4, shift = row / 8 * 16 + chunk % 4 * 4;
  else lane = first + chunk / 8 * 2 + row / 8, shift = chunk % 8 * 4;
  unsigned indices = metadata[row % 8 * 4 + lane % 4] >> shift & 15;
  if (elements == 2) return chunk * 2 + indices / 2 % 2;
  if (elements == 8) return chunk * 8 + (indices >> i / 2 % 2 * 2 & 3) * 2 + i % 2;
  return chunk * 4 + (indices >> i % 2 * 2 & 3);
}

// ---- Memory ----------------------------------------------------------------------------------
static void add_piece(MatrixPlan *plan, unsigned limit, MatrixPiece piece) {
  if (plan->count < MATRIX_MAX_PIECES && piece.reg + (piece.bytes == 8 ? 1u : 0u) < limit) plan->pieces[plan->count++] = piece;
}

// How an element's place in the matrix becomes an offset: bytes per row and per column, in bits so that
// 4-bit and 1-bit elements count too.
typedef struct Strides {
  int64_t row_bits, column_bits;
} Strides;

// One 32-bit register of A, B or an f16 C: a single access if its elements adjoin and stay aligned, else one each.
static void plan_register(MatrixPlan *plan, unsigned limit, unsigned reg, int64_t first_bit, int64_t step_bits, unsigned bits) {
  int64_t offset = first_bit / 8;
  if (bits < 8 || (step_bits == bits && offset % 4 == 0 && plan->offset_per_g % 4 == 0)) {
    add_piece(plan, limit, (MatrixPiece){.reg = (uint8_t)reg, .bytes = 4, .offset = offset});
    return;
  }
  for (unsigned i = 0; i < 32 / bits; i++)
    add_piece(
        plan, limit,
        (MatrixPiece){
            .reg = (uint8_t)reg, .byte = (uint8_t)(i * bits / 8), .bytes = (uint8_t)(bits / 8), .offset = (first_bit + step_bits * i) / 8});
}

static void plan_fragment(uint32_t imm, uint32_t stride, unsigned limit, MatrixPlan *plan) {
  const MatrixShape *shape = matrix_shape(imm);
  MatrixPart part = (MatrixPart)min_u32((imm >> IMM_PART) & 3, PART_C);
  bool is_f16 = part == PART_C && (imm & IMM_FRAGMENT_F16), is_wide = shape->element == MATRIX_F64;
  unsigned bits = part != PART_C ? matrix_element_bits(shape) : is_wide ? 64 : is_f16 ? 16 : 32;
  // B's places are (n, k), so its row-major is the column-major of the others.
  bool columns = !(imm & IMM_COLUMN) == (part == PART_B);
  Strides strides = {columns ? bits : (int64_t)stride * bits, columns ? (int64_t)stride * bits : bits};
  unsigned registers = is_wide ? 2 : 1, distinct = max_u32(matrix_registers(shape, part, is_f16), 1);
  plan->source_per_g = 4, plan->source_per_t = 1;
  plan->offset_per_g = strides.row_bits / 8;
  plan->offset_per_t = matrix_step(shape, part) * strides.column_bits / 8;
  for (unsigned reg = 0; reg < limit; reg += registers) {
    unsigned unit = reg % distinct / registers * (is_f16 ? 2 : 1);
    MatrixPlace place = matrix_place(shape, part, unit);
    int64_t first_bit = place.row * strides.row_bits + place.column * strides.column_bits;
    if (bits >= 32) add_piece(plan, limit, (MatrixPiece){.reg = (uint8_t)reg, .bytes = (uint8_t)(bits / 8), .offset = first_bit / 8});
    else plan_register(plan, limit, reg, first_bit, strides.column_bits, bits);
  }
}

// Matrix i of an ldmatrix has its rows' addresses in lanes 8i..8i+7; lane 4g + t takes elements 2t and 2t + 1 of row g,
// transposed: of column g.
static void plan_halves(uint32_t imm, unsigned limit, MatrixPlan *plan) {
  unsigned matrices = min_u32(1u << (imm & 3), 4);
  bool transposed = imm & IMM_TRANSPOSED;
  plan->source_per_g = transposed ? 0 : 1, plan->source_per_t = transposed ? 2 : 0;
  plan->offset_per_g = transposed ? 2 : 0, plan->offset_per_t = transposed ? 0 : 4;
  for (unsigned i = 0; i < matrices; i++) {
    MatrixPiece piece = {.source = (uint8_t)(8 * i), .reg = (uint8_t)i, .bytes = transposed ? 2 : 4};
    add_piece(plan, limit, piece);
    if (!transposed) continue;
    piece.source++, piece.byte = 2;
    add_piece(plan, limit, piece);
  }
}

// Elements of 8 bits and less. A row's address is in a lane of its own; matrix.h says which elements a lane takes.
static void plan_bytes(Op op, uint32_t imm, unsigned limit, MatrixPlan *plan) {
  unsigned matrices = min_u32(1u << (imm & 3), 4), bits = 10 - 2 * (imm >> IMM_ROW_ELEMENT & 3);
  bool stores = op_info[op].flags & IT_DATA_IN;
  if (!(imm & IMM_TRANSPOSED)) { // four elements side by side
    plan->source_per_g = 1, plan->offset_per_t = bits / 2;
    for (unsigned i = 0; i < matrices * bits / 2; i++)
      add_piece(plan, limit,
                (MatrixPiece){.source = (uint8_t)(8 * (i / (bits / 2))),
                              .reg = (uint8_t)(i / (bits / 2)),
                              .byte = (uint8_t)(i % (bits / 2)),
                              .bytes = 1,
                              .offset = i % (bits / 2)});
    return;
  }
  plan->source_per_t = stores ? 2 : 4, plan->offset_per_g = 1;
  for (unsigned i = 0; i < matrices * (stores ? 4 : 8); i++) {
    MatrixPiece piece = {.reg = (uint8_t)(i / 4), .byte = (uint8_t)(i % 4), .bytes = 1};
    piece.source = (uint8_t)(stores ? 8 * (i / 4) + i % 2 : 16 * (i / 8) + i % 4);
    piece.offset = 8 * (stores ? i / 2 % 2 : i / 4 % 2);
    add_piece(plan, limit, piece);
  }
}

void matrix_plan(Op op, uint32_t imm, uint32_t stride, MatrixPlan *plan) {
  unsigned limit = type_info[op_info[op].d].registers;
  *plan = (MatrixPlan){0};
  if (imm >> IMM_FORM == FORM_LDMATRIX && (imm >> IMM_ROW_ELEMENT & 3) == ROW_B16) plan_halves(imm, limit, plan);
  else if (imm >> IMM_FORM == FORM_LDMATRIX) plan_bytes(op, imm, limit, plan);
  else plan_fragment(imm, stride, limit, plan);
}

unsigned matrix_pieces(Op op, uint32_t imm, unsigned lane, uint32_t stride, MatrixPiece pieces[MATRIX_MAX_PIECES]) {
  MatrixPlan plan;
  matrix_plan(op, imm, stride, &plan);
  for (unsigned i = 0; i < plan.count; i++) {
    pieces[i] = plan.pieces[i];
    pieces[i].source = (uint8_t)matrix_source(&plan, i, lane);
    pieces[i].offset = matrix_offset(&plan, i, lane);
  }
  return plan.count;
}
