// Arithmetic of f16, bf16, f32, f64 in every rounding against MPFR: all pairs of hard operands, then
// random ones with many ties, cancellations and subnormals. A hash of all results tells when a compiler
// or an optimisation level changes a bit.
#include "isa/test_float_reference.h"

typedef enum Function { ADD, SUB, MUL, FMA, DIV, RCP, SQRT } Function;
typedef uint64_t (*BitsFunction)(uint64_t a, uint64_t b, uint64_t c, Rounding mode);

typedef struct Operation {
  const char *name;
  const Format *format;
  Function function;
  unsigned operands, roundings;
  BitsFunction ours;
} Operation;

#define F32(bits) f32_of((uint32_t)(bits))
#define OURS_F32(name, expression)                                          \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, Rounding mode) { \
    (void)b, (void)c, (void)mode;                                           \
    return bits_of_f32(f32_canonical(expression));                          \
  }
#define OURS_F64(name, expression)                                          \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, Rounding mode) { \
    (void)b, (void)c, (void)mode;                                           \
    return bits_of_f64(f64_canonical(expression));                          \
  }
#define OURS_HALF(name, expression)                                         \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, Rounding mode) { \
    (void)b, (void)c, (void)mode;                                           \
    return expression;                                                      \
  }
OURS_F32(add_f32, f32_add(F32(a), F32(b), mode))
OURS_F32(sub_f32, f32_sub(F32(a), F32(b), mode))
OURS_F32(mul_f32, f32_mul(F32(a), F32(b), mode))
OURS_F32(fma_f32, f32_fma(F32(a), F32(b), F32(c), mode))
OURS_F32(fma_plain_f32, f32_fma_plain(F32(a), F32(b), F32(c)))
OURS_F32(div_f32, f32_div(F32(a), F32(b), mode))
OURS_F32(rcp_f32, f32_rcp(F32(a), mode))
OURS_F32(sqrt_f32, f32_sqrt(F32(a), mode))
OURS_F64(add_f64, f64_add(f64_of(a), f64_of(b), mode))
OURS_F64(sub_f64, f64_sub(f64_of(a), f64_of(b), mode))
OURS_F64(mul_f64, f64_mul(f64_of(a), f64_of(b), mode))
OURS_F64(fma_f64, f64_fma(f64_of(a), f64_of(b), f64_of(c), mode))
OURS_F64(div_f64, f64_div(f64_of(a), f64_of(b), mode))
OURS_F64(rcp_f64, f64_rcp(f64_of(a), mode))
OURS_F64(sqrt_f64, f64_sqrt(f64_of(a), mode))
OURS_HALF(add_f16, f16_add((uint16_t)a, (uint16_t)b))
OURS_HALF(sub_f16, f16_sub((uint16_t)a, (uint16_t)b))
OURS_HALF(mul_f16, f16_mul((uint16_t)a, (uint16_t)b))
OURS_HALF(fma_f16, f16_fma((uint16_t)a, (uint16_t)b, (uint16_t)c))
OURS_HALF(add_bf16, bf16_add((uint16_t)a, (uint16_t)b))
OURS_HALF(sub_bf16, bf16_sub((uint16_t)a, (uint16_t)b))
OURS_HALF(mul_bf16, bf16_mul((uint16_t)a, (uint16_t)b))
OURS_HALF(fma_bf16, bf16_fma((uint16_t)a, (uint16_t)b, (uint16_t)c))

static const Operation operations[] = {
    {"add", &format_f32, ADD, 2, 4, add_f32},
    {"sub", &format_f32, SUB, 2, 4, sub_f32},
    {"mul", &format_f32, MUL, 2, 4, mul_f32},
    {"fma", &format_f32, FMA, 3, 4, fma_f32},
    {"fma plain", &format_f32, FMA, 3, 1, fma_plain_f32},
    {"div", &format_f32, DIV, 2, 4, div_f32},
    {"rcp", &format_f32, RCP, 1, 4, rcp_f32},
    {"sqrt", &format_f32, SQRT, 1, 4, sqrt_f32},
    {"add", &format_f64, ADD, 2, 4, add_f64},
    {"sub", &format_f64, SUB, 2, 4, sub_f64},
    {"mul", &format_f64, MUL, 2, 4, mul_f64},
    {"fma", &format_f64, FMA, 3, 4, fma_f64},
    {"div", &format_f64, DIV, 2, 4, div_f64},
    {"rcp", &format_f64, RCP, 1, 4, rcp_f64},
    {"sqrt", &format_f64, SQRT, 1, 4, sqrt_f64},
    {"add", &format_f16, ADD, 2, 1, add_f16},
    {"sub", &format_f16, SUB, 2, 1, sub_f16},
    {"mul", &format_f16, MUL, 2, 1, mul_f16},
    {"fma", &format_f16, FMA, 3, 1, fma_f16},
    {"add", &format_bf16, ADD, 2, 1, add_bf16},
    {"sub", &format_bf16, SUB, 2, 1, sub_bf16},
    {"mul", &format_bf16, MUL, 2, 1, mul_bf16},
    {"fma", &format_bf16, FMA, 3, 1, fma_bf16},
};
static const uint64_t expected_hash = 0xad8f1cf084a15794;

typedef struct Scratch {
  mpfr_t a, b, c, d;
} Scratch;

static uint64_t reference(const Operation *operation, Scratch *s, Rounding mode) {
  const mpfr_rnd_t rounding = mpfr_rounding[mode];
  int inexact = 0;
  switch (operation->function) {
  case ADD: inexact = mpfr_add(s->d, s->a, s->b, rounding); break;
  case SUB: inexact = mpfr_sub(s->d, s->a, s->b, rounding); break;
  case MUL: inexact = mpfr_mul(s->d, s->a, s->b, rounding); break;
  case FMA: inexact = mpfr_fma(s->d, s->a, s->b, s->c, rounding); break;
  case DIV: inexact = mpfr_div(s->d, s->a, s->b, rounding); break;
  case RCP: inexact = mpfr_ui_div(s->d, 1, s->a, rounding); break;
  case SQRT: inexact = mpfr_sqrt(s->d, s->a, rounding); break;
  }
  mpfr_subnormalize(s->d, inexact, rounding);
  return reference_bits(operation->format, s->d);
}

// Compares one operand triple in all roundings; adds the results to the hash.
static void check(const Operation *operation, Scratch *s, const uint64_t bits[3], uint64_t *hash) {
  const Format *format = operation->format;
  reference_set(s->a, format, bits[0]), reference_set(s->b, format, bits[1]), reference_set(s->c, format, bits[2]);
  mpfr_set_emin(format->emin), mpfr_set_emax(format->emax);
  for (unsigned mode = 0; mode < operation->roundings; mode++) {
    uint64_t ours = operation->ours(bits[0], bits[1], bits[2], (Rounding)mode);
    uint64_t theirs = reference(operation, s, (Rounding)mode);
    bool same = ours == theirs || (is_nan_bits(format, ours) && is_nan_bits(format, theirs));
    if (!same) {
      fail_msg("%s.%s.%s %llx %llx %llx: %llx, not %llx", operation->name, rounding_name[mode], format->name, (unsigned long long)bits[0],
               (unsigned long long)bits[1], (unsigned long long)bits[2], (unsigned long long)theirs, (unsigned long long)ours);
    }
    *hash = *hash * 0x9E3779B97F4A7C15u + ours + (*hash >> 29);
  }
  mpfr_set_emin(mpfr_get_emin_min()), mpfr_set_emax(mpfr_get_emax_max());
}

static void check_operation(const Operation *operation, uint64_t *hash) {
  const Format *format = operation->format;
  Scratch s;
  mpfr_inits2(53, s.a, s.b, s.c, (mpfr_ptr)0);
  mpfr_init2(s.d, format->precision);
  unsigned b_count = operation->operands > 1 ? HARD_BITS : 1, c_count = operation->operands > 2 ? HARD_BITS : 1;
  for (unsigned i = 0; i < HARD_BITS * b_count * c_count; i++) {
    unsigned c = i % c_count, b = i / c_count % b_count, a = i / c_count / b_count;
    const uint64_t bits[3] = {hard_bits(format, a), hard_bits(format, b), hard_bits(format, c)};
    check(operation, &s, bits, hash);
  }
  for (uint64_t i = 0; i < 200000; i++) {
    uint64_t bits[3] = {random_bits(format, 3 * i, 0)};
    bits[1] = random_bits(format, 3 * i + 1, bits[0]);
    bits[2] = random_bits(format, 3 * i + 2, operation->function == FMA ? bits[0] + bits[1] - (infinity_bits(format) >> 1) : 0);
    check(operation, &s, bits, hash);
  }
  mpfr_clears(s.a, s.b, s.c, s.d, (mpfr_ptr)0);
}

static void test_arithmetic(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (size_t i = 0; i < COUNT_OF(operations); i++) check_operation(&operations[i], &hash);
  print_message("hash of all results: 0x%016llx\n", (unsigned long long)hash);
  assert_true(hash == expected_hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arithmetic)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_free_cache();
  return failed;
}
