// The matrix products. Fragments are spread out into plain matrices, multiplied, and put back.
// Order of arithmetic (the manual leaves it open; here it is fixed): every element of D starts
// from C and takes the products in order of k; see matrix.h for the roundings. 8- and 4-bit
// integers go through the same f32 loop, where all their sums are exact (below 2^24).
#include "isa/matrix_internal.h"
#include "isa/float.h"

enum { MAX_FACTOR = 1024, MAX_PRODUCT = 256, BLOCK = 8 }; // elements of A or B, of C; columns done at once

// A as [row][k], B as [k][column].
typedef struct Factors {
  float a[MAX_FACTOR], b[MAX_FACTOR];
} Factors;

// ---- Spreading out A and B -----------------------------------------------------------------------
typedef float LaneFloats[8][WARP_LANES]; // element e of every lane's register

static void decode_f16(const uint32_t *row, LaneFloats out) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    out[0][lane] = f16_to_f32((uint16_t)row[lane]);
    out[1][lane] = f16_to_f32((uint16_t)(row[lane] >> 16));
  }
}
static void decode_bf16(const uint32_t *row, LaneFloats out) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    out[0][lane] = f32_of(row[lane] << 16);
    out[1][lane] = f32_of(row[lane] & 0xFFFF0000u);
  }
}
// tf32: the low 13 bits of an f32 do not take part.
static void decode_tf32(const uint32_t *row, LaneFloats out) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) out[0][lane] = f32_of(row[lane] & 0xFFFFE000u);
}
static void decode_integers(const uint32_t *row, unsigned bits, bool is_signed, LaneFloats out) {
  unsigned top = 32 - bits;
  for (unsigned e = 0; e < 32 / bits; e++) {
    unsigned left = top - e * bits;
    if (is_signed)
      for (unsigned lane = 0; lane < WARP_LANES; lane++) out[e][lane] = (float)((int32_t)(row[lane] << left) >> top);
    else
      for (unsigned lane = 0; lane < WARP_LANES; lane++) out[e][lane] = (float)(int32_t)(row[lane] << left >> top);
  }
}
static void decode_f8(const uint32_t *row, bool is_e5m2, LaneFloats out) {
  for (unsigned e = 0; e < 4; e++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      uint8_t bits = (uint8_t)(row[lane] >> 8 * e);
      out[e][lane] = f16_to_f32(is_e5m2 ? e5m2_to_f16(bits) : e4m3_to_f16(bits));
    }
}

static void decode(const MatrixShape *shape, const uint32_t *row, bool is_signed, LaneFloats out) {
  switch ((MatrixClass)shape->element) {
  case MATRIX_F16: decode_f16(row, out); break;
  case MATRIX_BF16: decode_bf16(row, out); break;
  case MATRIX_TF32: decode_tf32(row, out); break;
  case MATRIX_F8: decode_f8(row, is_signed, out); break;
  case MATRIX_I8: decode_integers(row, 8, is_signed, out); break;
  default: decode_integers(row, 4, is_signed, out); break;
  }
}

static void spread(const MatrixShape *shape, MatrixPart part, const uint32_t *rows, bool is_signed, float *out) {
  unsigned width = matrix_elements_per_register(shape), registers = matrix_registers(shape, part, false);
  unsigned row_step = part == PART_A ? matrix_depth(shape, part) : 1, k_step = part == PART_A ? 1 : shape->n;
  for (unsigned reg = 0; reg < registers; reg++) {
    MatrixPlace place = matrix_place(shape, part, reg);
    float *first = out + place.row * row_step + place.column * k_step;
    LaneFloats values;
    decode(shape, rows + reg * WARP_LANES, is_signed, values);
    for (unsigned e = 0; e < width; e++)
      for (unsigned lane = 0; lane < WARP_LANES; lane++) first[lane / 4 * row_step + (lane % 4 * width + e) * k_step] = values[e][lane];
  }
}

// sums[row][column] += A * B, in order of k. Two rows of eight columns at once: enough independent sums to
// keep the adders busy, each of them still in order.
typedef float Eight __attribute__((vector_size(32)));
static void accumulate(const Factors *factors, unsigned m, unsigned n, unsigned k, float *sums) {
  for (unsigned row = 0; row < m; row += 2)
    for (unsigned column = 0; column < n; column += BLOCK) {
      const float *a = factors->a + row * k, *b = factors->b + column;
      float *upper = sums + row * n + column, *lower = upper + n;
      Eight sum0, sum1, line;
      memcpy(&sum0, upper, sizeof sum0);
      memcpy(&sum1, lower, sizeof sum1);
      for (unsigned i = 0; i < k; i++) {
        memcpy(&line, b + i * n, sizeof line);
        sum0 += a[i] * line;
        sum1 += a[k + i] * line;
      }
      memcpy(upper, &sum0, sizeof sum0);
      memcpy(lower, &sum1, sizeof sum1);
    }
}

// The same for a sparse A: each element of its rows names its row of B.
static void accumulate_sparse(const LaneOp *op, const MatrixShape *shape, const Factors *factors, float *sums) {
  unsigned depth = matrix_depth(shape, PART_A);
  for (unsigned row = 0; row < shape->m; row++)
    for (unsigned i = 0; i < depth; i++) {
      const float *b = factors->b + matrix_sparse_k(shape, op->imm, op->a, row, i) * shape->n;
      for (unsigned column = 0; column < shape->n; column++) sums[row * shape->n + column] += factors->a[row * depth + i] * b[column];
    }
}
static void multiply_factors(const LaneOp *op, const MatrixShape *shape, Factors *factors, float *sums) {
  spread(shape, PART_A, op->a, op->imm & IMM_A_SIGNED, factors->a);
  spread(shape, PART_B, op->b, op->imm & IMM_B_SIGNED, factors->b);
  if (shape->family == MATRIX_SPARSE) accumulate_sparse(op, shape, factors, sums);
  else accumulate(factors, shape->m, shape->n, shape->k, sums);
}

// ---- C and D ---------------------------------------------------------------------------------------
static unsigned units_of(const MatrixShape *shape) { return (unsigned)shape->m * shape->n / WARP_LANES; }
// Index in [row][column] of unit `unit` of lane 0; lane 4g + t is g * n + 2t further on.
static unsigned unit_at(const MatrixShape *shape, unsigned unit) {
  MatrixPlace place = matrix_place(shape, PART_C, unit);
  return place.row * shape->n + place.column;
}
static void take_unit(const float *sums, unsigned n, float lanes[WARP_LANES]) {
  for (unsigned g = 0; g < 8; g++)
    for (unsigned t = 0; t < 4; t++) lanes[4 * g + t] = sums[g * n + 2 * t];
}
static void put_unit(float *sums, unsigned n, const float lanes[WARP_LANES]) {
  for (unsigned g = 0; g < 8; g++)
    for (unsigned t = 0; t < 4; t++) sums[g * n + 2 * t] = lanes[4 * g + t];
}

static void take_floats(const MatrixShape *shape, const uint32_t *rows, bool is_f16, float *sums) {
  LaneFloats values;
  for (unsigned unit = 0; unit < units_of(shape); unit += 2) {
    if (is_f16) decode_f16(rows + unit / 2 * WARP_LANES, values);
    else memcpy(values, rows + unit * WARP_LANES, 2 * sizeof values[0]);
    for (unsigned i = 0; i < 2; i++) put_unit(sums + unit_at(shape, unit + i), shape->n, values[i]);
  }
}

static void put_floats(const MatrixShape *shape, const float *sums, bool is_f16, uint32_t *rows) {
  LaneFloats values;
  for (unsigned unit = 0; unit < units_of(shape); unit += 2) {
    for (unsigned i = 0; i < 2; i++) take_unit(sums + unit_at(shape, unit + i), shape->n, values[i]);
    uint32_t *row = rows + (is_f16 ? unit / 2 : unit) * WARP_LANES;
    for (unsigned lane = 0; is_f16 && lane < WARP_LANES; lane++)
      row[lane] = f32_to_f16(values[0][lane], ROUND_RN) | (uint32_t)f32_to_f16(values[1][lane], ROUND_RN) << 16;
    for (unsigned i = 0; !is_f16 && i < 2; i++)
      for (unsigned lane = 0; lane < WARP_LANES; lane++) row[i * WARP_LANES + lane] = bits_of_f32(f32_canonical(values[i][lane]));
  }
}

static void multiply_floats(const LaneOp *op, const MatrixShape *shape, uint32_t *out) {
  Factors factors;
  float sums[MAX_PRODUCT];
  take_floats(shape, op->c, op->imm & IMM_C_F16, sums);
  multiply_factors(op, shape, &factors, sums);
  put_floats(shape, sums, op->imm & IMM_D_F16, out);
}

// c + sum of products, modulo 2^32 or clamped.
static uint32_t add_integers(uint32_t c, int64_t sum, bool saturate) {
  int64_t total = (int64_t)(int32_t)c + sum;
  if (saturate) total = total > INT32_MAX ? INT32_MAX : total < INT32_MIN ? INT32_MIN : total;
  return (uint32_t)total;
}

static void multiply_integers(const LaneOp *op, const MatrixShape *shape, uint32_t *out) {
  Factors factors;
  float sums[MAX_PRODUCT] = {0};
  multiply_factors(op, shape, &factors, sums);
  for (unsigned unit = 0; unit < units_of(shape); unit++) {
    float lanes[WARP_LANES];
    take_unit(sums + unit_at(shape, unit), shape->n, lanes);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      unsigned at = unit * WARP_LANES + lane;
      out[at] = add_integers(op->c[at], (int32_t)lanes[lane], op->imm & IMM_SATFINITE);
    }
  }
}

// ---- Single bits: population count of xor or and ------------------------------------------------------
static void multiply_bits(const LaneOp *op, const MatrixShape *shape, uint32_t *out) {
  enum { MAX_WORDS = 8 };
  uint32_t a[16][MAX_WORDS] = {{0}}, b[8][MAX_WORDS] = {{0}};
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    for (unsigned reg = 0; reg < matrix_registers(shape, PART_A, false); reg++) {
      MatrixPlace place = matrix_place(shape, PART_A, reg);
      a[place.row + lane / 4][place.column / 32 + lane % 4] = op->a[reg * WARP_LANES + lane];
    }
    for (unsigned reg = 0; reg < matrix_registers(shape, PART_B, false); reg++)
      b[lane / 4][matrix_place(shape, PART_B, reg).column / 32 + lane % 4] = op->b[reg * WARP_LANES + lane];
  }
  for (unsigned unit = 0; unit < units_of(shape); unit++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      MatrixPlace place = matrix_place(shape, PART_C, unit);
      const uint32_t *x = a[place.row + lane / 4], *y = b[place.column + lane % 4 * 2];
      int64_t sum = 0;
      for (unsigned word = 0; word < MAX_WORDS; word++)
        sum += __builtin_popcount(op->imm & IMM_AND ? x[word] & y[word] : x[word] ^ y[word]);
      out[unit * WARP_LANES + lane] = add_integers(op->c[unit * WARP_LANES + lane], sum, false);
    }
}

// ---- Doubles -------------------------------------------------------------------------------------------
static double fused(double a, double b, double c, unsigned rounding) {
  switch (rounding) {
  case ROUND_RZ: return f64_fma(a, b, c, ROUND_RZ);
  case ROUND_RM: return f64_fma(a, b, c, ROUND_RM);
  case ROUND_RP: return f64_fma(a, b, c, ROUND_RP);
  default: return __builtin_fma(a, b, c);
  }
}

static void spread_doubles(const MatrixShape *shape, MatrixPart part, const uint32_t *rows, double *out) {
  for (unsigned unit = 0; unit < matrix_registers(shape, part, false) / 2; unit++) {
    MatrixPlace place = matrix_place(shape, part, unit);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      out[(place.row + lane / 4) * shape->k + place.column + lane % 4] = f64_of(row_get(rows + 2 * unit * WARP_LANES, lane, 2));
  }
}

static void multiply_doubles(const LaneOp *op, const MatrixShape *shape, uint32_t *out) {
  double a[16 * 8], b[8 * 8];
  spread_doubles(shape, PART_A, op->a, a);
  spread_doubles(shape, PART_B, op->b, b);
  for (unsigned unit = 0; unit < units_of(shape); unit++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      MatrixPlace place = matrix_place(shape, PART_C, unit);
      const double *x = a + (place.row + lane / 4) * shape->k, *y = b + (place.column + lane % 4 * 2) * shape->k;
      double sum = f64_of(row_get(op->c + 2 * unit * WARP_LANES, lane, 2));
      for (unsigned i = 0; i < shape->k; i++) sum = fused(x[i], y[i], sum, (op->imm >> IMM_ROUNDING) & 3);
      row_set(out + 2 * unit * WARP_LANES, lane, 2, bits_of_f64(f64_canonical(sum)));
    }
}

// ---- mma.m8n8k4 on f16: four products, each held by lanes 4q..4q+3 and 16+4q..16+4q+3 -----------------
// Element i (0..3) of a lane is (row, k) of A resp. (k, column) of B; which index runs with i depends on the layout.
static float quad_element(const uint32_t *rows, unsigned lane, unsigned i) {
  return f16_to_f32((uint16_t)(rows[i / 2 * WARP_LANES + lane] >> 16 * (i % 2)));
}
static void quad_factors(const LaneOp *op, unsigned quad, float a[8][4], float b[4][8]) {
  for (unsigned half = 0; half < 2; half++)
    for (unsigned index = 0; index < 4; index++)
      for (unsigned i = 0; i < 4; i++) {
        unsigned lane = 16 * half + 4 * quad + index;
        float from_a = quad_element(op->a, lane, i), from_b = quad_element(op->b, lane, i);
        if (op->imm & IMM_A_COLUMN) a[4 * half + i][index] = from_a;
        else a[4 * half + index][i] = from_a;
        if (op->imm & IMM_B_ROW) b[index][4 * half + i] = from_b;
        else b[i][4 * half + index] = from_b;
      }
}
// Element i (0..7) of C and D: f16 holds a whole row, f32 is woven.
static MatrixPlace quad_place(unsigned lane, unsigned i, bool is_f16) {
  unsigned row = is_f16 ? lane & 3 : (lane & 1) + (i & 2);
  return (MatrixPlace){row + (lane < 16 ? 0 : 4), is_f16 ? i : (i & 4) + (lane & 2) + (i & 1)};
}

static void multiply_quads(const LaneOp *op, uint32_t *out) {
  bool c_f16 = op->imm & IMM_C_F16, d_f16 = op->imm & IMM_D_F16;
  float sums[4][8][8], a[8][4], b[4][8];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 8; i++) {
      MatrixPlace place = quad_place(lane, i, c_f16);
      sums[lane / 4 % 4][place.row][place.column] = c_f16 ? quad_element(op->c, lane, i) : f32_of(op->c[i * WARP_LANES + lane]);
    }
  for (unsigned quad = 0; quad < 4; quad++) {
    quad_factors(op, quad, a, b);
    for (unsigned i = 0; i < 8 * 8 * 4; i++) sums[quad][i / 32][i / 4 % 8] += a[i / 32][i % 4] * b[i % 4][i / 4 % 8];
  }
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 8; i++) {
      MatrixPlace place = quad_place(lane, i, d_f16);
      float sum = sums[lane / 4 % 4][place.row][place.column];
      if (d_f16) out[i / 2 * WARP_LANES + lane] |= (uint32_t)f32_to_f16(sum, ROUND_RN) << 16 * (i % 2);
      else out[i * WARP_LANES + lane] = bits_of_f32(f32_canonical(sum));
    }
}

// ---- The bodies ----------------------------------------------------------------------------------------
static void store_active(LaneOp *op, const uint32_t *from, unsigned registers) {
  if (op->active == ~0u) {
    memcpy(op->d, from, registers * WARP_LANES * sizeof *from);
    return;
  }
  for (unsigned i = 0; i < registers * WARP_LANES; i++)
    if (op->active >> i % WARP_LANES & 1) op->d[i] = from[i];
}

// Half-precision C and D exist for f16 and f8 alone; elsewhere the bits must be clear.
static bool widths_fit(const MatrixShape *shape, uint32_t imm, const uint8_t widths[4]) {
  bool c_f16 = imm & IMM_C_F16, d_f16 = imm & IMM_D_F16;
  if ((c_f16 || d_f16) && shape->element != MATRIX_F16 && shape->element != MATRIX_F8) return false;
  return matrix_listed(shape, PART_C, d_f16) == widths[0] && matrix_listed(shape, PART_A, false) == widths[1] &&
         matrix_listed(shape, PART_B, false) == widths[2] && matrix_listed(shape, PART_C, c_f16) == widths[3];
}

// ---- One element again, value by value ---------------------------------------------------------------
// `step` of the walk: a product is told, then added, then the sum is told.
typedef struct Walk {
  MatrixTouch touch;
  void *own;
} Walk;
static uint32_t touched(const Walk *walk, MatrixStage stage, unsigned step, uint32_t value) {
  return walk->touch == NULL ? value : walk->touch(walk->own, stage, step, 0, value);
}
static float walk_float(const Walk *walk, unsigned step, float product, float sum) {
  float added = sum + f32_of(touched(walk, MATRIX_PRODUCT, step, bits_of_f32(product)));
  return f32_of(touched(walk, MATRIX_SUM, step, bits_of_f32(added)));
}
// The sum is exact; a flip of one of its low 32 bits moves it by as much.
static int64_t walk_integer(const Walk *walk, unsigned step, int32_t product, int64_t sum) {
  int64_t added = sum + (int32_t)touched(walk, MATRIX_PRODUCT, step, (uint32_t)product);
  return added + ((int64_t)touched(walk, MATRIX_SUM, step, (uint32_t)added) - (int64_t)(uint32_t)added);
}
static double walk_double(const Walk *walk, unsigned step, double sum) {
  uint64_t bits = bits_of_f64(sum);
  if (walk->touch == NULL) return sum;
  uint32_t low = walk->touch(walk->own, MATRIX_SUM, step, 0, (uint32_t)bits),
           high = walk->touch(walk->own, MATRIX_SUM, step, 1, (uint32_t)(bits >> 32));
  return f64_of((uint64_t)high << 32 | low);
}

static uint64_t float_bits(const MatrixInside *inside, float sum) {
  return inside->bits == 16 ? f32_to_f16(sum, ROUND_RN) : bits_of_f32(f32_canonical(sum));
}
static float start_of(const LaneOp *op, unsigned lane, unsigned element) {
  if (op->imm & IMM_C_F16) return quad_element(op->c, lane, element);
  return f32_of(op->c[element * WARP_LANES + lane]);
}

static uint64_t make_spread(const MatrixInside *inside, const MatrixShape *shape, unsigned lane, unsigned element, const Walk *walk) {
  const LaneOp *op = inside->op;
  MatrixPlace place = matrix_place(shape, PART_C, element);
  unsigned row = place.row + lane / 4, column = place.column + lane % 4 * 2;
  const float *a = inside->factors + row * inside->steps, *b = inside->factors + MAX_FACTOR + column;
  bool is_float = shape->element != MATRIX_I8 && shape->element != MATRIX_I4, is_sparse = shape->family == MATRIX_SPARSE;
  float sum = is_float ? start_of(op, lane, element) : 0;
  int64_t whole = is_float ? 0 : (int32_t)op->c[element * WARP_LANES + lane];
  for (unsigned i = 0; i < inside->steps; i++) {
    unsigned k = is_sparse ? matrix_sparse_k(shape, op->imm, op->a, row, i) : i;
    float product = a[i] * b[k * shape->n];
    if (is_float) sum = walk_float(walk, i, product, sum);
    else whole = walk_integer(walk, i, (int32_t)product, whole);
  }
  return is_float ? float_bits(inside, sum) : add_integers(0, whole, op->imm & IMM_SATFINITE);
}

static uint64_t make_bits(const MatrixInside *inside, const MatrixShape *shape, unsigned lane, unsigned element, const Walk *walk) {
  const LaneOp *op = inside->op;
  MatrixPlace place = matrix_place(shape, PART_C, element);
  unsigned row = place.row + lane / 4, column = place.column + lane % 4 * 2, halves = shape->m / 8u;
  int64_t sum = (int32_t)op->c[element * WARP_LANES + lane];
  for (unsigned i = 0; i < inside->steps; i++) { // word i of a row: register of its tile of four words
    uint32_t x = op->a[(i / 4 * halves + row / 8) * WARP_LANES + row % 8 * 4 + i % 4], y = op->b[i / 4 * WARP_LANES + column * 4 + i % 4];
    sum = walk_integer(walk, i, __builtin_popcount(op->imm & IMM_AND ? x & y : x ^ y), sum);
  }
  return (uint32_t)sum;
}

static uint64_t make_double(const MatrixInside *inside, const MatrixShape *shape, unsigned lane, unsigned element, const Walk *walk) {
  const LaneOp *op = inside->op;
  double a[16 * 8], b[8 * 8], sum = f64_of(row_get(op->c + 2 * element * WARP_LANES, lane, 2));
  MatrixPlace place = matrix_place(shape, PART_C, element);
  spread_doubles(shape, PART_A, op->a, a);
  spread_doubles(shape, PART_B, op->b, b);
  const double *x = a + (place.row + lane / 4) * shape->k, *y = b + (place.column + lane % 4 * 2) * shape->k;
  for (unsigned i = 0; i < shape->k; i++) sum = walk_double(walk, i, fused(x[i], y[i], sum, (op->imm >> IMM_ROUNDING) & 3));
  return bits_of_f64(f64_canonical(sum));
}

static uint64_t make_quad(const MatrixInside *inside, unsigned lane, unsigned element, const Walk *walk) {
  const LaneOp *op = inside->op;
  bool c_f16 = op->imm & IMM_C_F16;
  float a[8][4], b[4][8], sum = 0;
  MatrixPlace place = quad_place(lane, element, op->imm & IMM_D_F16);
  quad_factors(op, lane / 4 % 4, a, b);
  for (unsigned half = 0; half < 2; half++) // C may lie elsewhere than D: find its lane
    for (unsigned i = 0; i < 32; i++) {
      unsigned from = 16 * half + lane / 4 % 4 * 4 + i / 8;
      MatrixPlace there = quad_place(from, i % 8, c_f16);
      if (there.row == place.row && there.column == place.column)
        sum = c_f16 ? quad_element(op->c, from, i % 8) : f32_of(op->c[i % 8 * WARP_LANES + from]);
    }
  for (unsigned i = 0; i < 4; i++) sum = walk_float(walk, i, a[place.row][i] * b[i][place.column], sum);
  return float_bits(inside, sum);
}

bool matrix_look_inside(Op op, const LaneOp *lanes, MatrixInside *inside) {
  const MatrixShape *shape = matrix_shape(lanes->imm);
  const OpInfo *info = &op_info[op];
  if (info->kind != KIND_MATRIX || info->space != SPACE_NONE || op == OP_MOVMATRIX) return false;
  uint8_t widths[4] = {type_info[info->d].registers, type_info[info->a].registers, type_info[info->b].registers,
                       type_info[info->c].registers};
  if (!widths_fit(shape, lanes->imm, widths)) return false;
  bool is_wide = shape->element == MATRIX_F64, is_quad = shape->family == MATRIX_QUAD, is_bits = shape->element == MATRIX_B1;
  inside->op = lanes;
  inside->shape = (uint8_t)(shape - matrix_shapes);
  inside->steps = (uint16_t)(is_bits ? shape->k / 32u : matrix_depth(shape, PART_A));
  inside->elements = (uint8_t)(is_quad ? 8 : units_of(shape));
  inside->words = is_wide ? 2 : 1;
  inside->bits = is_wide ? 64 : lanes->imm & IMM_D_F16 ? 16 : 32;
  if (is_wide || is_quad || is_bits) return true;
  spread(shape, PART_A, lanes->a, lanes->imm & IMM_A_SIGNED, inside->factors);
  spread(shape, PART_B, lanes->b, lanes->imm & IMM_B_SIGNED, inside->factors + MAX_FACTOR);
  return true;
}

uint64_t matrix_make_element(const MatrixInside *inside, unsigned lane, unsigned element, MatrixTouch touch, void *own) {
  const MatrixShape *shape = &matrix_shapes[inside->shape];
  Walk walk = {touch, own};
  if (shape->family == MATRIX_QUAD) return make_quad(inside, lane, element, &walk);
  if (shape->element == MATRIX_F64) return make_double(inside, shape, lane, element, &walk);
  if (shape->element == MATRIX_B1) return make_bits(inside, shape, lane, element, &walk);
  return make_spread(inside, shape, lane, element, &walk);
}

static void multiply(LaneOp *op, const uint8_t widths[4]) {
  const MatrixShape *shape = matrix_shape(op->imm);
  uint32_t out[8 * WARP_LANES] = {0};
  if (!widths_fit(shape, op->imm, widths)) {
    store_active(op, out, widths[0]);
    return;
  }
  if (shape->family == MATRIX_QUAD) multiply_quads(op, out);
  else if (shape->element == MATRIX_F64) multiply_doubles(op, shape, out);
  else if (shape->element == MATRIX_B1) multiply_bits(op, shape, out);
  else if (shape->element == MATRIX_I8 || shape->element == MATRIX_I4) multiply_integers(op, shape, out);
  else multiply_floats(op, shape, out);
  store_active(op, out, widths[0]);
}

#define MATRIX_BODY(d, a, b, c)                    \
  void matrix_mma_##d##a##b##c(LaneOp *op) {       \
    static const uint8_t widths[4] = {d, a, b, c}; \
    multiply(op, widths);                          \
  }
MATRIX_WIDTHS(MATRIX_BODY)

// Lane 4g + t holds elements 2t and 2t + 1 of row g: the result's are rows 2t and 2t + 1, column g.
void matrix_transpose(LaneOp *op) {
  uint32_t out[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    unsigned g = lane / 4, t = lane % 4, shift = g % 2 * 16;
    uint32_t low = op->a[4 * (2 * t) + g / 2] >> shift & 0xFFFF, high = op->a[4 * (2 * t + 1) + g / 2] >> shift & 0xFFFF;
    out[lane] = low | high << 16;
  }
  store_active(op, out, 1);
}
