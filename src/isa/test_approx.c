// The approximate functions over their whole range: every 1021st f32 pattern (4 million) against the C library's
// double functions, every 31337th (137,000) against MPFR, all 65,536 patterns of f16 and bf16 against MPFR, and the
// special points bit for bit. PTX allows 2 ulp for ex2 and div, 2^-22 or so for lg2, rsqrt and sqrt, 2^-20.5 for sin
// and cos in [-2 pi, 2 pi], 2^-11 for tanh; ours must stay within 0.501 ulp everywhere.
#include "isa/test_float_reference.h"

#include <math.h>

typedef struct Approximate {
  const char *name;
  float (*ours)(float);
  double (*library)(double);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
} Approximate;

static float rcp(float x) { return 1.0f / x; }
static float sqrt_nearest(float x) { return f32_sqrt(x, ROUND_RN); }
static double reciprocal(double x) { return 1.0 / x; }
static double reciprocal_root(double x) { return 1.0 / sqrt(x); }
static int exact_rcp(mpfr_t y, const mpfr_t x, mpfr_rnd_t rounding) { return mpfr_ui_div(y, 1, x, rounding); }

static const Approximate functions[] = {
    {"ex2", f32_ex2, exp2, mpfr_exp2},   {"lg2", f32_lg2, log2, mpfr_log2},       {"sin", f32_sin, sin, mpfr_sin},
    {"cos", f32_cos, cos, mpfr_cos},     {"tanh", f32_tanh, tanh, mpfr_tanh},     {"rsqrt", f32_rsqrt, reciprocal_root, mpfr_rec_sqrt},
    {"rcp", rcp, reciprocal, exact_rcp}, {"sqrt", sqrt_nearest, sqrt, mpfr_sqrt},
};
static const uint64_t expected_hash = 0xf6b82fd65d278933;

// Unit in the last place of f32 at a value.
static double unit(double value) {
  int exponent;
  (void)frexp(value, &exponent);
  return ldexp(1.0, (exponent > -125 ? exponent : -125) - 24);
}

// Error in ulp; 0 where both are NaN, or both infinite by overflow; a mismatch of these kinds is infinite.
static double error_in_ulp(float ours, double exact) {
  if (exact != exact || ours != ours) return exact != exact && ours != ours ? 0.0 : INFINITY;
  if (isinf((float)exact) || isinf(ours)) return (float)exact == ours ? 0.0 : INFINITY;
  return fabs((double)ours - exact) / unit(exact);
}

static void test_against_library(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (size_t f = 0; f < COUNT_OF(functions); f++) {
    double worst = 0.0;
    uint32_t worst_bits = 0;
    for (uint64_t bits = f; bits <= UINT32_MAX; bits += 1021) {
      float x = f32_of((uint32_t)bits), ours = functions[f].ours(x);
      double error = error_in_ulp(ours, functions[f].library((double)x));
      if (error > worst) worst = error, worst_bits = (uint32_t)bits;
      hash = hash * 0x9E3779B97F4A7C15u + bits_of_f32(f32_canonical(ours)) + (hash >> 29);
    }
    print_message("%-5s at most %.6f ulp, at 0x%08x\n", functions[f].name, worst, worst_bits);
    assert_true(worst <= 0.501);
  }
  print_message("hash of all results: 0x%016llx\n", (unsigned long long)hash);
  assert_true(hash == expected_hash);
}

static void test_against_mpfr(void **state) {
  (void)state;
  mpfr_t x, exact, ours;
  mpfr_inits2(90, x, exact, ours, (mpfr_ptr)0);
  for (size_t f = 0; f < COUNT_OF(functions); f++) {
    double worst = 0.0;
    for (uint64_t bits = f; bits <= UINT32_MAX; bits += 31337) {
      reference_set(x, &format_f32, bits);
      functions[f].exact(exact, x, MPFR_RNDN);
      float result = functions[f].ours(f32_of((uint32_t)bits));
      double nearest = mpfr_get_d(exact, MPFR_RNDN), error = error_in_ulp(result, nearest);
      if (f32_is_finite(result)) {
        mpfr_set_d(ours, (double)result, MPFR_RNDN);
        mpfr_sub(ours, ours, exact, MPFR_RNDN);
        error = isinf((float)nearest) ? INFINITY : fabs(mpfr_get_d(ours, MPFR_RNDN)) / unit(nearest);
      }
      if (error > worst) worst = error;
    }
    print_message("%-5s at most %.6f ulp (MPFR)\n", functions[f].name, worst);
    assert_true(worst <= 0.501);
  }
  mpfr_clears(x, exact, ours, (mpfr_ptr)0);
}

// Angles for which the reduction loses most: multiples of pi / 2 and the worst known f32 neighbours of them.
static void test_angles(void **state) {
  (void)state;
  mpfr_t x, exact;
  mpfr_inits2(200, x, exact, (mpfr_ptr)0);
  for (uint32_t i = 0; i < 40000; i++) {
    float near = (float)((double)i * 1.5707963267948966), neighbours[3] = {f32_of(bits_of_f32(near) + 1), near, -near};
    for (unsigned k = 0; k < 3; k++) {
      mpfr_set_d(x, (double)neighbours[k], MPFR_RNDN);
      mpfr_sin(exact, x, MPFR_RNDN);
      assert_true(error_in_ulp(f32_sin(neighbours[k]), mpfr_get_d(exact, MPFR_RNDN)) <= 0.501);
      mpfr_cos(exact, x, MPFR_RNDN);
      assert_true(error_in_ulp(f32_cos(neighbours[k]), mpfr_get_d(exact, MPFR_RNDN)) <= 0.501);
    }
  }
  mpfr_clears(x, exact, (mpfr_ptr)0);
}

typedef struct HalfFunction {
  const char *name;
  const Format *format;
  uint16_t (*ours)(uint16_t);
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
} HalfFunction;
static const HalfFunction half_functions[] = {
    {"ex2.f16", &format_f16, f16_ex2, mpfr_exp2},
    {"tanh.f16", &format_f16, f16_tanh, mpfr_tanh},
    {"ex2.bf16", &format_bf16, bf16_ex2, mpfr_exp2},
    {"tanh.bf16", &format_bf16, bf16_tanh, mpfr_tanh},
};

// Every pattern; at most one unit away from the correctly rounded result, which allows for rounding twice.
static void test_halves(void **state) {
  (void)state;
  mpfr_t x, exact;
  mpfr_inits2(60, x, exact, (mpfr_ptr)0);
  for (size_t f = 0; f < COUNT_OF(half_functions); f++) {
    const Format *format = half_functions[f].format;
    unsigned different = 0;
    for (uint32_t bits = 0; bits <= UINT16_MAX; bits++) {
      reference_set(x, format, bits);
      half_functions[f].exact(exact, x, MPFR_RNDN);
      uint64_t nearest = reference_round(format, exact, 0, MPFR_RNDN), ours = half_functions[f].ours((uint16_t)bits);
      if (nearest == ours) continue;
      different++;
      assert_true(nearest + 1 == ours || nearest == ours + 1);
    }
    print_message("%s: %u of 65536 not the nearest\n", half_functions[f].name, different);
    assert_true(different <= 8);
  }
  mpfr_clears(x, exact, (mpfr_ptr)0);
}

typedef struct Special {
  float (*function)(float);
  uint32_t x, y;
} Special;
static const Special specials[] = {
    {f32_ex2, 0xFF800000, 0x00000000},   {f32_ex2, 0x7F800000, 0x7F800000},   {f32_ex2, 0x00000000, 0x3F800000},
    {f32_ex2, 0x80000000, 0x3F800000},   {f32_ex2, 0x7FC12345, 0x7FFFFFFF},   {f32_ex2, 0x43000000, 0x7F800000},
    {f32_ex2, 0x42FE0000, 0x7F000000},   {f32_ex2, 0xC2FC0000, 0x00800000},   {f32_ex2, 0xC3150000, 0x00000001},
    {f32_ex2, 0xC3160000, 0x00000000},   {f32_ex2, 0x00000001, 0x3F800000},   {f32_lg2, 0x00000000, 0xFF800000},
    {f32_lg2, 0x80000000, 0xFF800000},   {f32_lg2, 0x3F800000, 0x00000000},   {f32_lg2, 0xBF800000, 0x7FFFFFFF},
    {f32_lg2, 0x7F800000, 0x7F800000},   {f32_lg2, 0xFF800000, 0x7FFFFFFF},   {f32_lg2, 0x7F800001, 0x7FFFFFFF},
    {f32_lg2, 0x00000001, 0xC3150000},   {f32_lg2, 0x40000000, 0x3F800000},   {f32_lg2, 0x00800000, 0xC2FC0000},
    {f32_lg2, 0x80000001, 0x7FFFFFFF},   {f32_sin, 0x00000000, 0x00000000},   {f32_sin, 0x80000000, 0x80000000},
    {f32_sin, 0x7F800000, 0x7FFFFFFF},   {f32_sin, 0xFF800000, 0x7FFFFFFF},   {f32_sin, 0x7FFFFFFF, 0x7FFFFFFF},
    {f32_sin, 0x00000001, 0x00000001},   {f32_sin, 0x807FFFFF, 0x807FFFFF},   {f32_cos, 0x00000000, 0x3F800000},
    {f32_cos, 0x80000000, 0x3F800000},   {f32_cos, 0x7F800000, 0x7FFFFFFF},   {f32_cos, 0xFF800000, 0x7FFFFFFF},
    {f32_cos, 0x00000001, 0x3F800000},   {f32_tanh, 0x00000000, 0x00000000},  {f32_tanh, 0x80000000, 0x80000000},
    {f32_tanh, 0x7F800000, 0x3F800000},  {f32_tanh, 0xFF800000, 0xBF800000},  {f32_tanh, 0x7FC00000, 0x7FFFFFFF},
    {f32_tanh, 0x00000001, 0x00000001},  {f32_tanh, 0x7F7FFFFF, 0x3F800000},  {f32_rsqrt, 0x00000000, 0x7F800000},
    {f32_rsqrt, 0x80000000, 0xFF800000}, {f32_rsqrt, 0x7F800000, 0x00000000}, {f32_rsqrt, 0x40800000, 0x3F000000},
    {f32_rsqrt, 0x00000001, 0x64B504F3}, {rcp, 0x00000000, 0x7F800000},       {rcp, 0x80000000, 0xFF800000},
    {rcp, 0x7F800000, 0x00000000},       {rcp, 0xFF800000, 0x80000000},       {rcp, 0x7F7FFFFF, 0x00200000},
};

static void test_special_points(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(specials); i++) {
    uint32_t y = bits_of_f32(specials[i].function(f32_of(specials[i].x)));
    if (y != specials[i].y) fail_msg("line %zu: f(%08x) = %08x, not %08x", i, specials[i].x, specials[i].y, y);
  }
  assert_true(f32_is_nan(f32_rsqrt(-1.0f)));
}

static void test_division(void **state) {
  (void)state;
  const float infinity = f32_of(F32_INFINITY);
  assert_true(bits_of_f32(f32_div_approx(1.0f, 0x1p127f)) == 0);
  assert_true(bits_of_f32(f32_div_approx(-1.0f, 0x1.8p126f)) == F32_SIGN);
  assert_true(f32_div_approx(0x1p126f, 0x1p126f) == 1.0f);
  assert_true(f32_is_nan(f32_div_approx(infinity, 0x1p127f)));
  assert_true(bits_of_f32(f32_div_approx(1.0f, -infinity)) == F32_SIGN);
  assert_true(f32_div_approx(1.0f, 0.0f) == infinity);
}

// The gross f64 forms: 20 bits, the lower word zero. Errors relative to the operand's upper word.
static void test_gross(void **state) {
  (void)state;
  double worst_rcp = 0.0, worst_rsqrt = 0.0, worst_full = 0.0;
  for (uint64_t i = 0; i < 300000; i++) {
    double x = f64_of((random_draw(5, i, 0) & F64_MAGNITUDE) >> 1 | 1ull << 61), upper = f64_gross_operand(x);
    double reciprocal_value = f64_rcp_gross(x), root = f64_rsqrt_gross(x);
    assert_true((bits_of_f64(reciprocal_value) & 0xFFFFFFFFu) == 0 && (bits_of_f64(root) & 0xFFFFFFFFu) == 0);
    worst_rcp = fmax(worst_rcp, fabs(reciprocal_value * upper - 1.0));
    worst_rsqrt = fmax(worst_rsqrt, fabs(root * sqrt(upper) - 1.0));
    worst_full = fmax(worst_full, fabs(f64_rsqrt(x) * sqrt(x) - 1.0));
  }
  print_message("rcp.ftz.f64 2^%.2f, rsqrt.ftz.f64 2^%.2f, rsqrt.f64 2^%.2f\n", log2(worst_rcp), log2(worst_rsqrt), log2(worst_full));
  assert_true(worst_rcp <= 0x1p-20 && worst_rsqrt <= 0x1p-20 && worst_full <= 0x1p-51);
  assert_true(bits_of_f64(f64_rcp_gross(0x1p-1074)) == F64_INFINITY); // a subnormal is 0
  assert_true(bits_of_f64(f64_rcp_gross(-0x1p1023)) == F64_SIGN);     // so is a subnormal result
  assert_true(bits_of_f64(f64_rcp_gross(f64_of(F64_INFINITY))) == 0);
  assert_true(bits_of_f64(f64_rsqrt_gross(-0.0)) == (F64_INFINITY | F64_SIGN));
  assert_true(f64_is_nan(f64_rcp_gross(f64_of(F64_NAN))) && f64_is_nan(f64_rsqrt_gross(-2.0)));
  assert_true(f64_rcp_gross(f64_of(0x3FF00000FFFFFFFFu)) == 1.0); // the lower word is not looked at
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_library), cmocka_unit_test(test_against_mpfr),   cmocka_unit_test(test_angles),
      cmocka_unit_test(test_halves),          cmocka_unit_test(test_special_points), cmocka_unit_test(test_division),
      cmocka_unit_test(test_gross),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_free_cache();
  return failed;
}
