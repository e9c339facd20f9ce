// Matrix instructions: wmma.load/store/mma, mma.sync, ldmatrix, stmatrix, movmatrix.
//
// A fragment is a tuple of consecutive registers in each of the 32 lanes. One layout serves all
// shapes: the one that the PTX ISA manual gives for mma.sync. With g = lane / 4, t = lane % 4 and
// w elements per 32-bit register, each register of A covers a tile of 8 rows x 4w columns (row g,
// columns w*t ...), registers in the order: rows 0..7, rows 8..15, then the next 4w columns, then the
// next 16 rows. B is the same with n for rows and k for columns, the next columns before the next 8 rows. C and D: columns 2t and 2t + 1 of row g,
// then row g + 8, then the next 8 columns, then the next 16 rows. wmma fragments, which PTX
// leaves opaque, use it too, so that row- and column-major loads give equal fragments; where PTX
// lists more registers than the matrix fills (f16 A and B), the tiles repeat.
// Only mma.m8n8k4 on f16 differs (quad pairs); see matrix.c.
//
// mma.sp: A's registers hold half of k, laid out as a dense A of that size. The metadata says which k each element has: 4 bits for a
// chunk of a row. A chunk is 4 elements of which 2 are there (f16, bf16, 8 bits; two indices of 2 bits), 2 of which one is (tf32:
// 0100 the first, 1110 the second), or 4 pairs of which 2 are (4 bits). Lanes of a group of four hold it: with elements of 16 and 32 bits, lane j of them (counted from
// the selected one) has chunks 4j .. 4j + 3 of row g in bits 15:0, of row g + 8 in bits 31:16; with smaller ones, an even lane has 8 chunks of row g,
// the odd one after it those of row g + 8. Metadata that PTX calls invalid is taken as it stands.
//
// ldmatrix and stmatrix of 8-bit elements (sm_100a) lie as mma's operands need them. .m16n16.trans: lane 4g + t takes byte g (first register)
// and g + 8 (second) of the rows 4t .. 4t + 3, which is A stored by columns and B stored by rows. .m8n16: elements 4t .. 4t + 3 of row g, as .m8n8. stmatrix
// .m16n8.trans: a register has columns 2t and 2t + 1 of row g, then of row g + 8, as four elements of D have them; column n goes to the row of
// memory n. NVIDIA's manual has this in pictures, which were not at hand.
//
// Arithmetic: f16, bf16, tf32 products are formed in f32 and added to an f32 accumulator one by one
// in order of k, from c on, each sum rounded to nearest; f16 results are rounded once at the end.
// f64: fused multiply-add in order of k. Integers: modulo 2^32, or exact and then clamped (.satfinite).
#ifndef REDOUBT_ISA_MATRIX_H
#define REDOUBT_ISA_MATRIX_H

#include "isa/isa.h"

// ---- For the front end -----------------------------------------------------------------------
typedef enum MatrixUse {
  MATRIX_MMA,   // d = a * b + c: register row; operands d, a, b, c are fragments
  MATRIX_LOAD,  // d = fragment; a = address, b = stride in elements (RZ when has_stride is false)
  MATRIX_STORE, // d = fragment, a source; a and b as above. PTX lists the address first
  MATRIX_MOVE,  // movmatrix: d and a are one register each
} MatrixUse;

typedef struct MatrixForm {
  Op op;
  uint32_t imm;
  MatrixUse use;
  Space space;     // of loads and stores; generic and global take a 64-bit address pair, shared a 32-bit register
  bool has_stride; // wmma.load/store: a stride may follow; when it is not written, default_stride
  uint32_t default_stride;
  // 32-bit registers of each fragment (0 = absent): d, a, b, c. 64-bit elements (f64) count two each.
  uint8_t d, a, b, c;
  bool a_is_wide, c_is_wide; // PTX lists 64-bit registers (f64): for a and b, for c and d
  // Emit `op` so many times: step i takes the i-th a registers of PTX's A list and the i-th b of B's,
  // and accumulates onto d of the step before. 1 but for mma.m16n8k16 on f64 (2).
  uint8_t steps;
  // mma.sp: how many values the sparsity selector has (1, 2 or 4); 0: A is not sparse. The tuple of A is a / 2 registers of
  // PTX's A list, then the metadata in the others. matrix_select puts the selector into imm.
  uint8_t selectors;
  // ldmatrix of elements of 6 or 4 bits, 16 of them at the start of each row of 16 bytes: bits of an element; 0: other forms.
  // Not transposed: `op` leaves a lane's four elements side by side in each register; each becomes a byte afterwards.
  // Transposed: no row does it. Lane 4g + t takes element g (register 2i of matrix i) and 8 + g (2i + 1) of the rows 4t .. 4t + 3, whose addresses
  // are in lanes 16i + 4t .. 16i + 4t + 3.
  uint8_t packed_bits;
  bool is_transposed;
} MatrixForm;
uint32_t matrix_select(uint32_t imm, uint32_t selector);

// From the opcode's dot parts, parts[0] being "wmma", "mma", "ldmatrix", "stmatrix" or "movmatrix".
// False: no supported matrix opcode.
bool matrix_parse(const Slice *parts, unsigned count, MatrixForm *form);

// ---- For the machines ------------------------------------------------------------------------
// A run of memory bytes that belongs to a part of one register of a lane's fragment.
typedef struct MatrixPiece {
  uint8_t source;    // lane whose register a holds the base address (the lane itself but for ldmatrix)
  uint8_t reg, byte; // place in the fragment: register, byte inside it (a piece of 8 bytes runs on into reg + 1)
  uint8_t bytes;     // 1, 2, 4 or 8; also the alignment that the access needs
  int64_t offset;    // bytes from the base
} MatrixPiece;
enum { MATRIX_MAX_PIECES = 16 };

// The pieces of all lanes: those of lane 0, and how source and offset grow with g = lane / 4 and
// t = lane % 4; reg, byte and bytes are the same in every lane.
typedef struct MatrixPlan {
  unsigned count;
  MatrixPiece pieces[MATRIX_MAX_PIECES];
  int64_t offset_per_g, offset_per_t;
  uint8_t source_per_g, source_per_t;
} MatrixPlan;

// For a KIND_MATRIX row with a memory space. Total: any imm gives pieces inside the row's tuple and
// sources 0..31. `stride` is the row's operand b, in elements.
void matrix_plan(Op op, uint32_t imm, uint32_t stride, MatrixPlan *plan);
static inline int64_t matrix_offset(const MatrixPlan *plan, unsigned piece, unsigned lane) {
  return plan->pieces[piece].offset + (int64_t)(lane / 4) * plan->offset_per_g + (int64_t)(lane % 4) * plan->offset_per_t;
}
static inline unsigned matrix_source(const MatrixPlan *plan, unsigned piece, unsigned lane) {
  return (plan->pieces[piece].source + lane / 4 * plan->source_per_g + lane % 4 * plan->source_per_t) % WARP_LANES;
}
// The same for one lane, for users that go lane by lane.
unsigned matrix_pieces(Op op, uint32_t imm, unsigned lane, uint32_t stride, MatrixPiece pieces[MATRIX_MAX_PIECES]);

// ---- Inside a product ------------------------------------------------------------------------
// The values that an element of D is made of, in the order of matrix.h: at each step of k a product, and the sum so far with it. Floats
// are f32 bits, integers 32 bits of two's complement. b1: a step is a word of 32 bits, its product their population count. f64
// has sums alone (its products are never rounded); they are two words, low and high.
typedef enum MatrixStage { MATRIX_PRODUCT, MATRIX_SUM } MatrixStage;
typedef struct MatrixInside MatrixInside; // a product with its factors spread out
// Damages a value; `step` counts from 0, `word` is 0 but for f64.
typedef uint32_t (*MatrixTouch)(void *own, MatrixStage stage, unsigned step, unsigned word, uint32_t value);

enum { MATRIX_INSIDE_FLOATS = 2 * 1024 };
struct MatrixInside {
  const LaneOp *op;
  uint8_t shape;                       // number of the shape
  uint16_t steps;                      // of each element of D
  uint8_t elements;                    // of D in each lane
  uint8_t words;                       // of a value: 2 for f64
  uint8_t bits;                        // of an element of D: 16, 32 or 64
  float factors[MATRIX_INSIDE_FLOATS]; // A, then B; not for f64, b1 and m8n8k4
};
// False: `op` is no product, or a damaged one, which gives zeros. The rows of `lanes` must live as long as `inside`.
bool matrix_look_inside(Op op, const LaneOp *lanes, MatrixInside *inside);
// Element `element` of lane `lane` of D, made again with every value passed through `touch` (NULL: as it is).
uint64_t matrix_make_element(const MatrixInside *inside, unsigned lane, unsigned element, MatrixTouch touch, void *own);

// ---- Bodies: one per combination of tuple widths (d, a, b, c), as matrix.def lists them -----------
// All 32 lanes' fragments are used, whatever `active` says; active lanes get their part of d. A source tuple
// is always as many rows as its column says (for RZ: zeros). An imm that does not belong to the row's widths,
// which only a damaged instruction word has, gives zeros.
// clang-format off
#define MATRIX_WIDTHS(X)                                                                                     \
  X(8, 8, 8, 8) X(8, 8, 8, 4) X(4, 8, 8, 8) X(4, 8, 8, 4) X(8, 2, 2, 8) X(8, 4, 1, 8) X(8, 1, 4, 8)          \
  X(8, 4, 4, 8) X(8, 2, 8, 8) X(8, 8, 2, 8) X(4, 2, 2, 4) X(2, 1, 1, 2) X(4, 2, 1, 4) X(2, 2, 1, 2)          \
  X(4, 4, 2, 4) X(2, 4, 2, 2) X(8, 4, 2, 8) X(8, 8, 4, 8) X(4, 2, 2, 8) X(8, 2, 2, 4)          \
  X(4, 8, 4, 4) X(2, 8, 4, 2)
// clang-format on
#define MATRIX_DECLARE(d, a, b, c) void matrix_mma_##d##a##b##c(LaneOp *op);
MATRIX_WIDTHS(MATRIX_DECLARE)
#undef MATRIX_DECLARE
void matrix_transpose(LaneOp *op); // movmatrix

#endif
