// Shapes of matrix products and where their elements lie in registers; shared by matrix*.c.
#ifndef REDOUBT_ISA_MATRIX_INTERNAL_H
#define REDOUBT_ISA_MATRIX_INTERNAL_H

#include "isa/matrix.h"

typedef enum MatrixFamily { MATRIX_WMMA, MATRIX_MMA_SYNC, MATRIX_QUAD, MATRIX_SPARSE } MatrixFamily;
typedef enum MatrixClass { MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_F64, MATRIX_I8, MATRIX_I4, MATRIX_B1, MATRIX_F8 } MatrixClass;

typedef struct MatrixShape {
  uint8_t family, element; // MatrixFamily, MatrixClass
  uint8_t m, n;
  uint16_t k;
} MatrixShape;
enum {
#define SHAPE(family, m, n, k, element) +1
  MATRIX_SHAPES = 0
#include "isa/matrix_shapes.def"
#undef SHAPE
};
extern const MatrixShape matrix_shapes[MATRIX_SHAPES];

// ---- Packing of imm ------------------------------------------------------------------------
// mma:             [5:0] shape [6] A's integers are signed (F8: e5m2) [7] B's [8] C is f16 [9] D is f16 [10] .satfinite
//                  [11] b1: and, else xor [12] A column-major [13] B row-major (QUAD) [15:14] rounding of f64: rn rz rm rp
//                  [17:16] SPARSE: selector, which lanes of a group of four hold the metadata
// wmma.load/store: [5:0] shape [7:6] part: A, B, C [8] C is f16 [9] column-major [31:30] = 1
// ld/stmatrix:     [1:0] log2 of the number of matrices [2] transposed [4:3] elements: 16 bits, 8, 6, 4 [31:30] = 2
enum {
  IMM_SHAPE = 0x3F,
  IMM_A_SIGNED = 1u << 6,
  IMM_B_SIGNED = 1u << 7,
  IMM_C_F16 = 1u << 8,
  IMM_D_F16 = 1u << 9,
  IMM_SATFINITE = 1u << 10,
  IMM_AND = 1u << 11,
  IMM_A_COLUMN = 1u << 12,
  IMM_B_ROW = 1u << 13,
  IMM_ROUNDING = 14,
  IMM_SELECTOR = 16,
  IMM_PART = 6,
  IMM_FRAGMENT_F16 = 1u << 8,
  IMM_COLUMN = 1u << 9,
  IMM_TRANSPOSED = 1u << 2,
  IMM_ROW_ELEMENT = 3,
  IMM_FORM = 30,
  FORM_FRAGMENT = 1,
  FORM_LDMATRIX = 2,
};
typedef enum RowElement { ROW_B16, ROW_B8, ROW_B6, ROW_B4 } RowElement; // of ldmatrix and stmatrix
typedef enum MatrixPart { PART_A, PART_B, PART_C } MatrixPart;

static inline const MatrixShape *matrix_shape(uint32_t imm) { return &matrix_shapes[(imm & IMM_SHAPE) % MATRIX_SHAPES]; }

// Elements of k that a row of A holds in registers: half of them where A is sparse.
static inline unsigned matrix_depth(const MatrixShape *shape, MatrixPart part) {
  return part == PART_A && shape->family == MATRIX_SPARSE ? shape->k / 2u : shape->k;
}
// Bits of an element of A and B; elements that a 32-bit register holds (1 for f64, which takes two).
unsigned matrix_element_bits(const MatrixShape *shape);
unsigned matrix_elements_per_register(const MatrixShape *shape);
// 32-bit registers that the fragment's distinct elements take; as PTX lists them (with repetitions).
unsigned matrix_registers(const MatrixShape *shape, MatrixPart part, bool is_f16);
unsigned matrix_listed(const MatrixShape *shape, MatrixPart part, bool is_f16);

// Sparse A: lanes of a group of four that hold metadata (1, 2, 4); the k of element i of A's row, `rows` being A's tuple.
unsigned matrix_metadata_lanes(const MatrixShape *shape);
unsigned matrix_sparse_k(const MatrixShape *shape, uint32_t imm, const uint32_t *rows, unsigned row, unsigned i);

// Place of lane 0's element: unit q of A (row, k), of B (n, k) or of C (row, column). A unit is a 32-bit
// register of A or B (f64: two registers), and one element of C. Others: row + lane / 4, column + (lane % 4) * step.
typedef struct MatrixPlace {
  unsigned row, column;
} MatrixPlace;
MatrixPlace matrix_place(const MatrixShape *shape, MatrixPart part, unsigned unit);
unsigned matrix_step(const MatrixShape *shape, MatrixPart part);

#endif
