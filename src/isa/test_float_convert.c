// Conversions against MPFR: all 65,536 patterns of f16 and bf16, hard and random patterns of f32 and f64 with many
// halfway cases, integers of every length; the 8-bit formats against a search through all their values.
#include "isa/test_float_reference.h"

#include <math.h>

static const uint64_t expected_hash = 0x335834a1070067ed;

typedef struct Context {
  mpfr_t x, y;
  uint64_t hash;
} Context;

static void expect(Context *context, uint64_t ours, uint64_t theirs, const char *what, unsigned mode, uint64_t source) {
  context->hash = context->hash * 0x9E3779B97F4A7C15u + ours + (context->hash >> 29);
  if (ours != theirs) {
    fail_msg("%s.%s of %llx: %llx, not %llx", what, rounding_name[mode], (unsigned long long)source, (unsigned long long)theirs,
             (unsigned long long)ours);
  }
}

// ---- Float to float ----------------------------------------------------------------------------------------------
static uint64_t canonical(const Format *format, uint64_t bits) {
  if (!is_nan_bits(format, bits)) return bits;
  return format->bits == 64 ? F64_NAN : sign_bit(format) - 1;
}

static uint64_t rounded_to(Context *context, const Format *to, unsigned mode) {
  return canonical(to, reference_round(to, context->x, 0, mpfr_rounding[mode]));
}

static void check_f32(Context *context, uint32_t bits) {
  float x = f32_of(bits);
  reference_set(context->x, &format_f32, bits);
  for (unsigned mode = 0; mode < 4; mode++) {
    expect(context, f32_to_f16(x, (Rounding)mode), rounded_to(context, &format_f16, mode), "f32 to f16", mode, bits);
    expect(context, f32_to_bf16(x, (Rounding)mode), rounded_to(context, &format_bf16, mode), "f32 to bf16", mode, bits);
  }
}

static void check_f64(Context *context, uint64_t bits) {
  double x = f64_of(bits);
  reference_set(context->x, &format_f64, bits);
  for (unsigned mode = 0; mode < 4; mode++) {
    float single = f32_canonical(f64_to_f32(x, (Rounding)mode));
    expect(context, bits_of_f32(single), rounded_to(context, &format_f32, mode), "f64 to f32", mode, bits);
    expect(context, f64_to_f16(x, (Rounding)mode), rounded_to(context, &format_f16, mode), "f64 to f16", mode, bits);
    expect(context, f64_to_bf16(x, (Rounding)mode), rounded_to(context, &format_bf16, mode), "f64 to bf16", mode, bits);
  }
}

// A finite f16 or bf16, the point halfway to the next one, and the neighbours of that point.
static void check_halfway(Context *context, float low, float high) {
  if (!f32_is_finite(low)) return;
  double middle = f32_is_finite(high) ? ((double)low + (double)high) / 2 : (double)low * 1.001;
  check_f32(context, bits_of_f32(low));
  check_f32(context, bits_of_f32((float)middle));
  check_f32(context, bits_of_f32((float)middle) + 1);
  check_f32(context, bits_of_f32((float)middle) - 1);
  check_f64(context, bits_of_f64(middle));
  check_f64(context, bits_of_f64(middle) + 1);
  check_f64(context, bits_of_f64(middle) - 1);
}

static void test_float_to_float(void **state) {
  Context *context = *state;
  for (uint32_t h = 0; h <= UINT16_MAX; h++) {
    uint16_t half = (uint16_t)h;
    reference_set(context->x, &format_f16, h);
    expect(context, bits_of_f32(f32_canonical(f16_to_f32(half))), rounded_to(context, &format_f32, 0), "f16 to f32", 0, h);
    expect(context, f32_to_bf16(f16_to_f32(half), ROUND_RN), rounded_to(context, &format_bf16, 0), "f16 to bf16", 0, h);
    reference_set(context->x, &format_bf16, h);
    expect(context, bits_of_f32(f32_canonical(bf16_to_f32(half))), rounded_to(context, &format_f32, 0), "bf16 to f32", 0, h);
    expect(context, f32_to_f16(bf16_to_f32(half), ROUND_RN), rounded_to(context, &format_f16, 0), "bf16 to f16", 0, h);
    if (h % 7 == 0 || h < 64 || (h & 0x3FF) > 0x3F0) {
      check_halfway(context, f16_to_f32(half), f16_to_f32((uint16_t)(h + 1)));
      check_halfway(context, bf16_to_f32(half), bf16_to_f32((uint16_t)(h + 1)));
    }
  }
  for (unsigned i = 0; i < HARD_BITS; i++) {
    check_f32(context, (uint32_t)hard_bits(&format_f32, i));
    check_f64(context, hard_bits(&format_f64, i));
    check_f64(context, bits_of_f64((double)f32_of((uint32_t)hard_bits(&format_f32, i))) + 1);
  }
  for (uint64_t i = 0; i < 100000; i++) {
    check_f32(context, (uint32_t)random_bits(&format_f32, i, 0));
    uint64_t bits = random_bits(&format_f64, i, 0);
    check_f64(context, bits);
    uint64_t near_f32 = (bits & 0x800FFFFFFFFFFFFFu) | (850 + (bits >> 52) % 330) << 52; // in and about the range of f32
    check_f64(context, i % 3 == 0 ? (near_f32 & ~0x1FFFFFFFull) | 0x10000000u : near_f32);
  }
}

// ---- Float to integer ------------------------------------------------------------------------------------------------
typedef struct IntegerType {
  const char *name;
  unsigned bits;
  bool is_signed;
} IntegerType;
static const IntegerType integer_types[8] = {{"u8", 8, false},   {"s8", 8, true},   {"u16", 16, false}, {"s16", 16, true},
                                             {"u32", 32, false}, {"s32", 32, true}, {"u64", 64, false}, {"s64", 64, true}};

static uint64_t type_mask(const IntegerType *type) { return ~0ull >> (64 - type->bits); }

static uint64_t our_integer(double x, unsigned type, Rounding mode, bool is_f64) {
  switch (type) {
  case 0: return FLOAT_TO_u8(x, mode, is_f64);
  case 1: return (uint8_t)FLOAT_TO_s8(x, mode, is_f64);
  case 2: return FLOAT_TO_u16(x, mode, is_f64);
  case 3: return (uint16_t)FLOAT_TO_s16(x, mode, is_f64);
  case 4: return FLOAT_TO_u32(x, mode, is_f64);
  case 5: return (uint32_t)FLOAT_TO_s32(x, mode, is_f64);
  case 6: return FLOAT_TO_u64(x, mode, is_f64);
  default: return (uint64_t)FLOAT_TO_s64(x, mode, is_f64);
  }
}

static uint64_t reference_integer(Context *context, const IntegerType *type, unsigned mode, bool is_f64) {
  uint64_t top = 1ull << (type->bits - 1);
  if (mpfr_nan_p(context->x)) return is_f64 || type->bits == 64 ? top : 0;
  mpfr_rint(context->y, context->x, mpfr_rounding[mode]);
  uint64_t high = type->is_signed ? top - 1 : type_mask(type), low = type->is_signed ? top : 0; // low as a magnitude
  if (mpfr_sgn(context->y) >= 0)
    return mpfr_cmp_d(context->y, 0x1p64) >= 0 || mpfr_get_uj(context->y, MPFR_RNDZ) > high ? high
                                                                                            : (uint64_t)mpfr_get_uj(context->y, MPFR_RNDZ);
  mpfr_neg(context->y, context->y, MPFR_RNDN);
  uint64_t magnitude = mpfr_cmp_d(context->y, 0x1p64) >= 0 ? UINT64_MAX : (uint64_t)mpfr_get_uj(context->y, MPFR_RNDZ);
  return (0u - (magnitude > low ? low : magnitude)) & type_mask(type);
}

static void check_to_integers(Context *context, const Format *format, uint64_t bits, double x) {
  bool is_f64 = format->bits == 64;
  reference_set(context->x, format, bits);
  for (unsigned mode = 0; mode < 4; mode++) {
    for (unsigned type = 0; type < 8; type++) {
      uint64_t theirs = reference_integer(context, &integer_types[type], mode, is_f64);
      expect(context, our_integer(x, type, (Rounding)mode, is_f64), theirs, integer_types[type].name, mode, bits);
    }
    mpfr_rint(context->y, context->x, mpfr_rounding[mode]);
    mpfr_swap(context->x, context->y);
    expect(context, bits_of_f64(f64_canonical(f64_integral(x, (Rounding)mode))), rounded_to(context, &format_f64, mode), "integral", mode,
           bits);
    mpfr_swap(context->x, context->y);
  }
}

static void test_float_to_integer(void **state) {
  Context *context = *state;
  for (uint32_t h = 0; h <= UINT16_MAX; h += 3) {
    check_to_integers(context, &format_f16, h, (double)f16_to_f32((uint16_t)h));
    check_to_integers(context, &format_bf16, h, (double)bf16_to_f32((uint16_t)h));
  }
  for (int power = -3; power <= 66; power++) {
    for (int step = -4; step <= 4; step++) {
      float single = f32_of(bits_of_f32(ldexpf(1.0f, power)) + (uint32_t)step);
      double edge = ldexp(1.0, power) + 0.5 * step, precise = f64_of(bits_of_f64(ldexp(1.0, power)) + (uint64_t)(int64_t)step);
      check_to_integers(context, &format_f32, bits_of_f32(single), (double)single);
      check_to_integers(context, &format_f32, bits_of_f32(-single), -(double)single);
      check_to_integers(context, &format_f64, bits_of_f64(edge), edge);
      check_to_integers(context, &format_f64, bits_of_f64(-edge), -edge);
      check_to_integers(context, &format_f64, bits_of_f64(precise), precise);
      check_to_integers(context, &format_f64, bits_of_f64(-precise), -precise);
    }
  }
  for (unsigned i = 0; i < HARD_BITS; i++) {
    check_to_integers(context, &format_f32, hard_bits(&format_f32, i), (double)f32_of((uint32_t)hard_bits(&format_f32, i)));
    check_to_integers(context, &format_f64, hard_bits(&format_f64, i), f64_of(hard_bits(&format_f64, i)));
  }
  for (uint64_t i = 0; i < 30000; i++) {
    uint64_t bits = random_draw(3, i, 0);
    bits = (bits & 0x800FFFFFFFFFFFFFu) | (1018 + random_draw(3, i, 1) % 72) << 52;
    if (i % 2 == 0) bits &= ~0ull << 48;
    check_to_integers(context, &format_f64, bits, f64_of(bits));
    float single = (float)f64_of(bits);
    check_to_integers(context, &format_f32, bits_of_f32(single), (double)single);
  }
}

// ---- Integer to float ----------------------------------------------------------------------------------------------
static void check_from_u64(Context *context, uint64_t x) {
  mpfr_set_uj(context->x, x, MPFR_RNDN);
  for (unsigned m = 0; m < 4; m++) {
    const Rounding mode = (Rounding)m;
    expect(context, bits_of_f64(u64_to_f64(x, mode)), rounded_to(context, &format_f64, m), "u64 to f64", m, x);
    expect(context, bits_of_f32(u64_to_f32(x, mode)), rounded_to(context, &format_f32, m), "u64 to f32", m, x);
    expect(context, f64_to_f16(INTEGER_TO_F64_u64(x), mode), rounded_to(context, &format_f16, m), "u64 to f16", m, x);
    expect(context, f64_to_bf16(INTEGER_TO_F64_u64(x), mode), rounded_to(context, &format_bf16, m), "u64 to bf16", m, x);
    if (x > UINT32_MAX) continue;
    expect(context, bits_of_f32(u32_to_f32((uint32_t)x, mode)), rounded_to(context, &format_f32, m), "u32 to f32", m, x);
    expect(context, f64_to_f16(INTEGER_TO_F64_u32((uint32_t)x), mode), rounded_to(context, &format_f16, m), "u32 to f16", m, x);
  }
}

static void check_from_s64(Context *context, int64_t x) {
  mpfr_set_sj(context->x, x, MPFR_RNDN);
  for (unsigned m = 0; m < 4; m++) {
    const Rounding mode = (Rounding)m;
    uint64_t bits = (uint64_t)x;
    expect(context, bits_of_f64(s64_to_f64(x, mode)), rounded_to(context, &format_f64, m), "s64 to f64", m, bits);
    expect(context, bits_of_f32(s64_to_f32(x, mode)), rounded_to(context, &format_f32, m), "s64 to f32", m, bits);
    expect(context, f64_to_f16(INTEGER_TO_F64_s64(x), mode), rounded_to(context, &format_f16, m), "s64 to f16", m, bits);
    expect(context, f64_to_bf16(INTEGER_TO_F64_s64(x), mode), rounded_to(context, &format_bf16, m), "s64 to bf16", m, bits);
    if (x != (int32_t)x) continue;
    expect(context, bits_of_f32(s32_to_f32((int32_t)x, mode)), rounded_to(context, &format_f32, m), "s32 to f32", m, bits);
    expect(context, f64_to_bf16(INTEGER_TO_F64_s32((int32_t)x), mode), rounded_to(context, &format_bf16, m), "s32 to bf16", m, bits);
  }
}

static void test_integer_to_float(void **state) {
  Context *context = *state;
  for (unsigned power = 0; power < 64; power++) {
    for (unsigned cut = 0; cut <= power; cut++) {
      for (unsigned step = 0; step < 3; step++) {
        uint64_t x = (1ull << power) + (1ull << cut) + step - 1;
        check_from_u64(context, x);
        check_from_s64(context, (int64_t)x);
        check_from_s64(context, (int64_t)(0u - x));
      }
    }
  }
  for (uint64_t i = 0; i < 50000; i++) {
    uint64_t x = random_draw(9, i, 0) >> random_draw(9, i, 1) % 64;
    if (i % 2 == 0) x &= ~0ull << random_draw(9, i, 2) % 64;
    check_from_u64(context, x);
    check_from_s64(context, (int64_t)x);
  }
  check_from_u64(context, 0);
  check_from_u64(context, UINT64_MAX);
  check_from_s64(context, INT64_MIN);
  check_from_s64(context, INT64_MAX);
}

// ---- tf32, e4m3, e5m2 ----------------------------------------------------------------------------------------------
static const Format format_tf32 = {"tf32", 19, 11, -135, 128};

static uint64_t tf32_away(Context *context) { // to nearest, ties away from zero
  uint64_t inner = reference_round(&format_tf32, context->x, 0, MPFR_RNDZ), outer = reference_round(&format_tf32, context->x, 0, MPFR_RNDA);
  uint64_t nearest = reference_round(&format_tf32, context->x, 0, MPFR_RNDN);
  mpfr_t low, high;
  mpfr_inits2(60, low, high, (mpfr_ptr)0);
  reference_set(low, &format_tf32, inner), reference_set(high, &format_tf32, outer);
  mpfr_add(low, low, high, MPFR_RNDN);
  mpfr_div_ui(low, low, 2, MPFR_RNDN);
  bool is_tie = mpfr_equal_p(low, context->x) != 0;
  mpfr_clears(low, high, (mpfr_ptr)0);
  return is_tie ? outer : nearest;
}

static void check_tf32(Context *context, uint32_t bits) {
  float x = f32_of(bits);
  reference_set(context->x, &format_f32, bits);
  uint64_t nan = F32_NAN;
  expect(context, f32_to_tf32(x, ROUND_RN), f32_is_nan(x) ? nan : rounded_to(context, &format_tf32, 0) << 13, "tf32", 0, bits);
  expect(context, f32_to_tf32(x, ROUND_RZ), f32_is_nan(x) ? nan : rounded_to(context, &format_tf32, 1) << 13, "tf32", 1, bits);
  if (f32_is_finite(x) && (bits & F32_MAGNITUDE) < 0x7F7FF000u) {
    expect(context, f32_to_tf32_rna(x), tf32_away(context) << 13, "tf32.rna", 0, bits);
  }
}

static double eight_bit_value(unsigned bits, unsigned fraction, int bias) {
  int exponent = (int)(bits >> fraction);
  unsigned significand = (bits & ((1u << fraction) - 1)) | (exponent != 0 ? 1u << fraction : 0);
  return ldexp((double)significand, (exponent != 0 ? exponent : 1) - bias - (int)fraction);
}

// The nearest of all finite values; on a tie the one with an even pattern.
static unsigned nearest_eight_bit(double x, unsigned fraction, int bias, unsigned largest) {
  unsigned best = 0;
  for (unsigned bits = 1; bits <= largest; bits++) {
    double old = fabs(fabs(x) - eight_bit_value(best, fraction, bias)), new = fabs(fabs(x) - eight_bit_value(bits, fraction, bias));
    if (new < old || (new == old &&bits % 2 == 0)) best = bits;
  }
  return best | (signbit(x) ? 0x80u : 0);
}

static void check_eight_bits(Context *context, float x) {
  uint32_t bits = bits_of_f32(x);
  if (fabsf(x) > 0x1p17f) x = copysignf(0x1p17f, x); // saturates
  expect(context, f32_to_e4m3(f32_of(bits)), f32_is_nan(x) ? 0x7F : nearest_eight_bit((double)x, 3, 7, 0x7E), "e4m3", 0, bits);
  expect(context, f32_to_e5m2(f32_of(bits)), f32_is_nan(x) ? 0x7F : nearest_eight_bit((double)x, 2, 15, 0x7B), "e5m2", 0, bits);
}

static void test_small_formats(void **state) {
  Context *context = *state;
  for (unsigned i = 0; i < HARD_BITS; i++) check_tf32(context, (uint32_t)hard_bits(&format_f32, i));
  for (uint64_t i = 0; i < 100000; i++) {
    uint32_t bits = (uint32_t)random_bits(&format_f32, i, 0);
    check_tf32(context, i % 2 == 0 ? (bits & ~0xFFFu) | (bits & 1) : bits);
  }
  for (uint32_t h = 0; h <= UINT16_MAX; h++) check_eight_bits(context, f16_to_f32((uint16_t)h));
  for (uint32_t h = 0; h <= UINT16_MAX; h += 5) check_eight_bits(context, f32_of(h << 16 | 1));
  for (unsigned bits = 0; bits < 256; bits++) {
    double e4m3 = eight_bit_value(bits & 0x7F, 3, 7), e5m2 = eight_bit_value(bits & 0x7F, 2, 15);
    uint64_t sign = (bits & 0x80u) << 8;
    mpfr_set_d(context->x, e4m3, MPFR_RNDN);
    uint64_t from_e4m3 = (bits & 0x7F) == 0x7F ? HALF_NAN : sign | rounded_to(context, &format_f16, 0);
    mpfr_set_d(context->x, e5m2, MPFR_RNDN);
    uint64_t from_e5m2 = (bits & 0x7F) > 0x7C ? HALF_NAN : sign | rounded_to(context, &format_f16, 0);
    expect(context, e4m3_to_f16((uint8_t)bits), from_e4m3, "e4m3 to f16", 0, bits);
    expect(context, e5m2_to_f16((uint8_t)bits), from_e5m2, "e5m2 to f16", 0, bits);
  }
}

static void test_hash(void **state) {
  const Context *context = *state;
  print_message("hash of all results: 0x%016llx\n", (unsigned long long)context->hash);
  assert_true(context->hash == expected_hash);
}

int main(void) {
  Context context = {.hash = 0};
  mpfr_inits2(64, context.x, context.y, (mpfr_ptr)0);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(test_float_to_float, &context),
      cmocka_unit_test_prestate(test_float_to_integer, &context),
      cmocka_unit_test_prestate(test_integer_to_float, &context),
      cmocka_unit_test_prestate(test_small_formats, &context),
      cmocka_unit_test_prestate(test_hash, &context),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_clears(context.x, context.y, (mpfr_ptr)0);
  mpfr_free_cache();
  return failed;
}
