// Matrix products bit for bit: random bits of every format, dense and sparse, against a plain loop that decodes the formats itself and finds
// elements and metadata by the manual's formulas. All pairs of types that PTX allows, all accumulators, all roundings of f64.
#include "isa/float.h"
#include "isa/matrix.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { MAX_PARTS = 16, ROW_WORDS = 8 * WARP_LANES, MAX_K = 128 };
typedef enum Format { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4 } Format;

typedef struct Case {
  const char *text;
  unsigned k;
  Format a, b;
  unsigned lanes; // that hold metadata; 0: A is dense
  bool is_f16;    // C and D
} Case;
static const Case cases[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, F16, F16, 0, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, F16, F16, 0, false},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, F16, F16, 0, true},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, BF16, BF16, 0, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, BF16, BF16, 0, false},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, TF32, TF32, 0, false},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, TF32, TF32, 0, false},
    {"mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", 16, E4M3, E4M3, 0, false},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 32, E4M3, E5M2, 0, false},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 32, E5M2, E4M3, 0, false},
    {"mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", 32, E5M2, E5M2, 0, true},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, F16, F16, 1, false},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, F16, F16, 1, true},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 32, F16, F16, 2, false},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", 32, F16, F16, 2, true},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, BF16, BF16, 1, false},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 32, BF16, BF16, 2, false},
    {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, TF32, TF32, 1, false},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 16, TF32, TF32, 2, false},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", 64, E4M3, E5M2, 4, false},
    {"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 32, S8, U8, 2, false},
    {"mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.u8.s8.s32", 64, U8, S8, 4, false},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 64, S4, U4, 2, false},
    {"mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32", 128, U4, S4, 4, false},
};

static unsigned bits_of(Format format) { return (const unsigned[]){16, 16, 32, 8, 8, 8, 8, 4, 4}[format]; }
static bool is_integer(Format format) { return format >= S8; }

// Sign, exponent field and fraction by their definition. `top`: the largest exponent means infinity and NaN.
static float decode_float(uint32_t raw, unsigned exponent_bits, unsigned fraction_bits, bool top) {
  uint32_t fraction = raw & ((1u << fraction_bits) - 1), all = (1u << exponent_bits) - 1, exponent = raw >> fraction_bits & all;
  int bias = (int)all / 2;
  float sign = raw >> (exponent_bits + fraction_bits) & 1 ? -1.0f : 1.0f;
  if (top && exponent == all) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexpf((float)fraction, 1 - bias - (int)fraction_bits);
  return sign * ldexpf((float)(fraction + (1u << fraction_bits)), (int)exponent - bias - (int)fraction_bits);
}
static float decode(Format format, uint32_t raw) {
  switch (format) {
  case F16: return decode_float(raw, 5, 10, true);
  case BF16: return decode_float(raw, 8, 7, true);
  case TF32: return decode_float(raw >> 13, 8, 10, true);
  case E4M3: return (raw & 0x7F) == 0x7F ? NAN : decode_float(raw, 4, 3, false);
  case E5M2: return decode_float(raw, 5, 2, true);
  case S8: return (float)(int8_t)raw;
  case S4: return (float)((int32_t)(raw << 28) >> 28);
  default: return (float)raw;
  }
}

static uint32_t random_bits(unsigned salt, unsigned i) { return (uint32_t)random_draw(1, salt, i); }
// Mostly values of similar size, so that sums round in many ways; now and then any bits.
static uint32_t random_element(Format format, unsigned salt, unsigned i) {
  uint32_t raw = random_bits(salt, i);
  if (is_integer(format) || raw % 61 == 0) return raw >> (32 - bits_of(format));
  uint32_t small = bits_of_f32(ldexpf((float)(raw >> 8) - 8388608.0f, (int)(raw % 7) - 25));
  if (format == F16) return f32_to_f16(f32_of(small), ROUND_RN);
  if (format == BF16) return small >> 16;
  return format == TF32 ? small : raw >> 24;
}

// Elements as the manual counts them: [row][k] of A as it lies in registers (half of k where sparse), [k][column] of B.
typedef struct Matrices {
  uint32_t a[16][MAX_K], b[MAX_K][8], c[16][8];
  unsigned place[16][MAX_K]; // k of each element of A
} Matrices;

static void put_bits(uint32_t *rows, unsigned lane, unsigned i, unsigned bits, uint32_t raw) {
  unsigned at = i * bits;
  uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1, *word = &rows[at / 32 * WARP_LANES + lane];
  *word = (*word & ~(mask << at % 32)) | (raw & mask) << at % 32;
}
static uint32_t get_bits(const uint32_t *rows, unsigned lane, unsigned i, unsigned bits) {
  return rows[i * bits / 32 * WARP_LANES + lane] >> i * bits % 32 & (bits == 32 ? ~0u : (1u << bits) - 1);
}

// The k of each element of a sparse A, and the metadata that says so.
static void choose_places(const Case *item, unsigned selector, unsigned salt, Matrices *at, uint32_t *metadata) {
  unsigned bits = bits_of(item->a);
  for (unsigned i = 0; i < WARP_LANES; i++) metadata[i] = random_bits(salt + 1, i); // lanes that are not selected
  for (unsigned row = 0; row < 16; row++)
    for (unsigned chunk = 0; chunk < item->k / (bits == 32 ? 2 : bits == 4 ? 8 : 4); chunk++) {
      unsigned draw = random_bits(salt, row * MAX_K + chunk), low = draw % 3, high = low + 1 + draw / 3 % (3 - low), code = high << 2 | low;
      if (bits == 32) {
        code = draw % 2 != 0 ? 0xE : 0x4;
        at->place[row][chunk] = 2 * chunk + draw % 2;
      } else if (bits == 4) {
        for (unsigned i = 0; i < 4; i++) at->place[row][4 * chunk + i] = 8 * chunk + 2 * (i < 2 ? low : high) + i % 2;
      } else {
        at->place[row][2 * chunk] = 4 * chunk + low, at->place[row][2 * chunk + 1] = 4 * chunk + high;
      }
      unsigned lane = item->lanes * selector + (bits >= 16 ? chunk / 4 : 2 * (chunk / 8) + row / 8);
      unsigned shift = bits >= 16 ? 16 * (row / 8) + 4 * (chunk % 4) : 4 * (chunk % 8);
      uint32_t *word = &metadata[row % 8 * 4 + lane];
      *word = (*word & ~(15u << shift)) | code << shift;
    }
}

static void draw_matrices(const Case *item, unsigned salt, Matrices *at) {
  unsigned depth = item->lanes != 0 ? item->k / 2 : item->k;
  for (unsigned row = 0; row < 16; row++) {
    for (unsigned i = 0; i < depth; i++) at->a[row][i] = random_element(item->a, salt, row * MAX_K + i), at->place[row][i] = i;
    for (unsigned column = 0; column < 8; column++)
      at->c[row][column] = is_integer(item->a) ? random_bits(salt + 3, row * 8 + column)
                                               : random_element(item->is_f16 ? F16 : TF32, salt + 3, row * 8 + column);
  }
  for (unsigned i = 0; i < item->k; i++)
    for (unsigned column = 0; column < 8; column++) at->b[i][column] = random_element(item->b, salt + 2, i * 8 + column);
}

static uint32_t expected(const Case *item, const Matrices *at, unsigned row, unsigned column) {
  unsigned depth = item->lanes != 0 ? item->k / 2 : item->k;
  int64_t whole = (int32_t)at->c[row][column];
  float sum = item->is_f16 ? decode(F16, at->c[row][column]) : f32_of(at->c[row][column]);
  for (unsigned i = 0; i < depth; i++) {
    volatile float product = decode(item->a, at->a[row][i]) * decode(item->b, at->b[at->place[row][i]][column]), next = sum + product;
    sum = next;
    if (is_integer(item->a)) whole += (int32_t)product;
  }
  bool saturates = strstr(item->text, "satfinite") != NULL;
  if (is_integer(item->a)) return (uint32_t)(!saturates ? whole : whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole);
  if (item->is_f16) return f32_to_f16(sum, ROUND_RN);
  return isnan(sum) ? 0x7FFFFFFF : bits_of_f32(sum);
}

static MatrixForm form_of(const char *text) {
  Slice parts[MAX_PARTS];
  MatrixForm form;
  unsigned count = 0;
  for (const char *at = text; at != NULL && count < MAX_PARTS;) {
    const char *dot = strchr(at, '.');
    parts[count++] = (Slice){at, (uint32_t)(dot ? (size_t)(dot - at) : strlen(at))};
    at = dot ? dot + 1 : NULL;
  }
  if (!matrix_parse(parts, count, &form)) fail_msg("not parsed: %s", text);
  return form;
}

static void fill_registers(const Case *item, const Matrices *at, uint32_t *a, uint32_t *b, uint32_t *c) {
  unsigned bits = bits_of(item->a), w = 32 / bits, depth = item->lanes != 0 ? item->k / 2 : item->k;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < 16 * depth / 32; i++)
      put_bits(a, lane, i, bits, at->a[g + 8 * (i / w % 2)][t * w + i % w + 4 * w * (i / (2 * w))]);
    for (unsigned i = 0; i < 8 * item->k / 32; i++) put_bits(b, lane, i, bits, at->b[t * w + i % w + 4 * w * (i / w)][g]);
    for (unsigned i = 0; i < 4; i++) put_bits(c, lane, i, item->is_f16 ? 16 : 32, at->c[g + 8 * (i / 2)][2 * t + i % 2]);
  }
}

static void check(const Case *item, unsigned selector, unsigned salt) {
  static Matrices at;
  MatrixForm form = form_of(item->text);
  uint32_t a[ROW_WORDS] = {0}, b[ROW_WORDS] = {0}, c[ROW_WORDS] = {0}, d[ROW_WORDS] = {0};
  draw_matrices(item, salt, &at);
  if (item->lanes != 0) choose_places(item, selector, salt + 4, &at, a + form.a / 2 * WARP_LANES);
  fill_registers(item, &at, a, b, c);
  LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .imm = matrix_select(form.imm, selector)};
  lane_functions()[form.op](&op);
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 4; i++) {
      unsigned row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      uint32_t have = get_bits(d, lane, i, item->is_f16 ? 16 : 32), want = expected(item, &at, row, column);
      if (have != want) fail_msg("%s, selector %u: (%u, %u) is %08x, not %08x", item->text, selector, row, column, have, want);
    }
}

static void test_bits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    unsigned selectors = cases[i].lanes != 0 ? 4 / cases[i].lanes : 1;
    assert_int_equal(form_of(cases[i].text).selectors, cases[i].lanes != 0 ? selectors : 0);
    for (unsigned round = 0; round < 12; round++) check(&cases[i], round % selectors, 100 * (unsigned)i + 8 * round);
  }
}

// ---- Every pair of types ---------------------------------------------------------------------------
static const char *const format_text[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4"};

// `depths`: k of dense products and, twice that, of sparse ones; 0: there is none.
typedef struct Family {
  Format first, last; // formats that may be paired with each other
  unsigned dense[2], sparse[2];
} Family;
static const Family families[] = {
    {F16, F16, {8, 16}, {16, 32}}, {BF16, BF16, {8, 16}, {16, 32}}, {TF32, TF32, {4, 8}, {8, 16}},
    {E4M3, E5M2, {16, 32}, {64}},  {S8, U8, {16, 32}, {32, 64}},    {S4, U4, {32, 64}, {64, 128}},
};

// With f32 and f16 sums, or with and without .satfinite; dense, and sparse with every selector.
static unsigned check_pair(Format a, Format b, unsigned k, bool is_sparse, unsigned salt) {
  unsigned done = 0, chunks = k / (bits_of(a) == 32 ? 2 : bits_of(a) == 4 ? 8 : 4), lanes = chunks < 8 ? 1 : chunks < 16 ? 2 : 4;
  for (unsigned other = 0; other < 2; other++) {
    if (other == 1 && (a == BF16 || a == TF32)) continue;
    char text[96];
    bool is_f16 = other == 1 && !is_integer(a);
    const char *sum = is_integer(a) ? "s32" : is_f16 ? "f16" : "f32", *clamp = other == 1 && is_integer(a) ? "satfinite." : "";
    snprintf(text, sizeof text, "mma.%ssync.aligned.m16n8k%u.row.col.%s%s.%s.%s.%s", is_sparse ? "sp." : "", k, clamp, sum, format_text[a],
             format_text[b], sum);
    const Case item = {text, k, a, b, is_sparse ? lanes : 0, is_f16};
    for (unsigned selector = 0; selector < (is_sparse ? 4 / lanes : 1); selector++, done++) check(&item, selector, salt + 16 * done);
  }
  return done;
}

static void test_pairs(void **state) {
  (void)state;
  unsigned done = 0;
  for (size_t i = 0; i < COUNT_OF(families); i++)
    for (unsigned a = families[i].first; a <= families[i].last; a++)
      for (unsigned b = families[i].first; b <= families[i].last; b++)
        for (unsigned way = 0; way < 4; way++) {
          unsigned k = way < 2 ? families[i].dense[way] : families[i].sparse[way - 2];
          if (k != 0) done += check_pair((Format)a, (Format)b, k, way >= 2, 7000 + 300 * done);
        }
  assert_in_range(done, 100, 300);
}

// ---- f64 -------------------------------------------------------------------------------------------
static uint64_t random_double(unsigned salt, unsigned i) {
  uint64_t raw = random_draw(2, salt, i);
  return raw % 31 == 0 ? raw : (raw & ~(UINT64_C(0x7FF) << 52)) | (1020 + raw % 7) << 52; // mostly of similar size
}

// m16n8k4: lane 4g + t has a of rows g, g + 8 at k = t, b of column g, and columns 2t, 2t + 1 of rows g, g + 8 of c.
static void check_doubles(const char *rounding, int mode, unsigned salt) {
  char text[80];
  static uint32_t a[ROW_WORDS], b[ROW_WORDS], c[ROW_WORDS], d[ROW_WORDS];
  snprintf(text, sizeof text, "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64%s", rounding);
  MatrixForm form = form_of(text);
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 8; i++) { // register pairs: 2 of a, 1 of b, 4 of c
      uint32_t *rows = i < 2 ? a : i < 3 ? b : c;
      unsigned pair = i < 2 ? i : i < 3 ? 0 : (i - 3) % 4;
      uint64_t raw = random_double(salt + i, lane);
      rows[2 * pair * WARP_LANES + lane] = (uint32_t)raw, rows[(2 * pair + 1) * WARP_LANES + lane] = (uint32_t)(raw >> 32);
    }
  LaneOp op = {.d = d, .a = a, .b = b, .c = c, .active = ~0u, .imm = form.imm};
  lane_functions()[form.op](&op);
#define DOUBLE(rows, pair, lane) \
  f64_of((rows)[2 * (pair)*WARP_LANES + (lane)] | (uint64_t)(rows)[(2 * (pair) + 1) * WARP_LANES + (lane)] << 32)
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    for (unsigned i = 0; i < 4; i++) {
      volatile double sum = DOUBLE(c, i, lane);
      fesetround(mode);
      for (unsigned k = 0; k < 4; k++) {
        volatile double x = DOUBLE(a, i / 2, lane / 4 * 4 + k), y = DOUBLE(b, 0, (lane % 4 * 2 + i % 2) * 4 + k);
        sum = fma(x, y, sum);
      }
      fesetround(FE_TONEAREST);
      double have = DOUBLE(d, i, lane), want = sum;
      if (isnan(want) ? !isnan(have) : bits_of_f64(have) != bits_of_f64(want))
        fail_msg("%s: lane %u, %u: %a, not %a", text, lane, i, have, want);
    }
#undef DOUBLE
}

static void test_doubles(void **state) {
  (void)state;
  for (unsigned round = 0; round < 12; round++) {
    check_doubles("", FE_TONEAREST, 20 * round);
    check_doubles(".rn", FE_TONEAREST, 20 * round + 5000);
    check_doubles(".rz", FE_TOWARDZERO, 20 * round);
    check_doubles(".rm", FE_DOWNWARD, 20 * round);
    check_doubles(".rp", FE_UPWARD, 20 * round);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_pairs), cmocka_unit_test(test_doubles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
