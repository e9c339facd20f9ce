// For tests: IEEE formats as MPFR sees them, and operands that are likely to hurt.
#ifndef REDOUBT_TEST_FLOAT_REFERENCE_H
#define REDOUBT_TEST_FLOAT_REFERENCE_H

#include "isa/float.h"

#include <setjmp.h>
#include <stdio.h>

#include <cmocka.h>
#include <mpfr.h>

typedef struct Format {
  const char *name;
  unsigned bits, precision; // precision counts the implicit bit
  mpfr_exp_t emin, emax;    // in MPFR's sense: significands in [1/2, 1)
} Format;
static const Format format_f16 = {"f16", 16, 11, -23, 16};
static const Format format_bf16 = {"bf16", 16, 8, -132, 128};
static const Format format_f32 = {"f32", 32, 24, -148, 128};
static const Format format_f64 = {"f64", 64, 53, -1073, 1024};

static const mpfr_rnd_t mpfr_rounding[4] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDD, MPFR_RNDU};
static const char *const rounding_name[4] = {"rn", "rz", "rm", "rp"};

static inline unsigned fraction_bits(const Format *format) { return format->precision - 1; }
static inline uint64_t sign_bit(const Format *format) { return 1ull << (format->bits - 1); }
static inline uint64_t infinity_bits(const Format *format) { return (sign_bit(format) - 1) & ~((1ull << fraction_bits(format)) - 1); }
static inline bool is_nan_bits(const Format *format, uint64_t bits) { return (bits & ~sign_bit(format)) > infinity_bits(format); }

// The value of a pattern; exact in any precision of 53 bits or more.
static inline void reference_set(mpfr_t out, const Format *format, uint64_t bits) {
  uint64_t magnitude = bits & ~sign_bit(format), fraction = magnitude & ((1ull << fraction_bits(format)) - 1);
  long exponent = (long)(magnitude >> fraction_bits(format)), lowest = (long)format->emin - 1;
  bool negative = (bits & sign_bit(format)) != 0;
  if (magnitude > infinity_bits(format)) mpfr_set_nan(out);
  else if (magnitude == infinity_bits(format)) mpfr_set_inf(out, 1);
  else if (exponent == 0) mpfr_set_uj_2exp(out, fraction, lowest, MPFR_RNDN);
  else mpfr_set_uj_2exp(out, fraction | 1ull << fraction_bits(format), lowest + exponent - 1, MPFR_RNDN);
  mpfr_setsign(out, out, negative, MPFR_RNDN);
}

// The pattern of a value that the format holds exactly; NaN as the largest magnitude.
static inline uint64_t reference_bits(const Format *format, mpfr_t value) {
  uint64_t sign = mpfr_signbit(value) ? sign_bit(format) : 0;
  if (mpfr_nan_p(value)) return sign_bit(format) - 1;
  if (mpfr_inf_p(value)) return sign | infinity_bits(format);
  if (mpfr_zero_p(value)) return sign;
  long lowest = (long)format->emin - 1, exponent = (long)mpfr_get_exp(value) - (long)format->precision;
  if (exponent < lowest) exponent = lowest;
  mpfr_t scaled;
  mpfr_init2(scaled, 64);
  mpfr_abs(scaled, value, MPFR_RNDN);
  mpfr_mul_2si(scaled, scaled, -exponent, MPFR_RNDN);
  uint64_t significand = (uint64_t)mpfr_get_uj(scaled, MPFR_RNDN);
  mpfr_clear(scaled);
  return sign | (((uint64_t)(exponent - lowest) << fraction_bits(format)) + significand);
}

// Rounds a value of any precision to the format.
static inline uint64_t reference_round(const Format *format, mpfr_t exact, int ternary, mpfr_rnd_t rounding) {
  mpfr_exp_t old_min = mpfr_get_emin(), old_max = mpfr_get_emax();
  mpfr_t rounded;
  mpfr_init2(rounded, format->precision);
  mpfr_set_emin(format->emin), mpfr_set_emax(format->emax);
  (void)ternary; // the callers' values are exact
  int inexact = mpfr_set(rounded, exact, rounding);
  inexact = mpfr_check_range(rounded, inexact, rounding);
  mpfr_subnormalize(rounded, inexact, rounding);
  uint64_t bits = reference_bits(format, rounded);
  mpfr_set_emin(old_min), mpfr_set_emax(old_max);
  mpfr_clear(rounded);
  return bits;
}

// ---- Operands --------------------------------------------------------------------------------------------
// Hard patterns: zeros, ends of the subnormals and normals, ones, halves, infinities, NaN.
static inline uint64_t hard_bits(const Format *format, unsigned index) {
  unsigned f = fraction_bits(format);
  uint64_t infinity = infinity_bits(format), one = (infinity >> 1) & ~((1ull << f) - 1);
  const uint64_t magnitudes[] = {0,
                                 1,
                                 2,
                                 3,
                                 (1ull << f) - 1,
                                 1ull << f,
                                 (1ull << f) + 1,
                                 one - (1ull << f),
                                 one - 1,
                                 one,
                                 one + 1,
                                 one + 2,
                                 one + (1ull << f),
                                 one + ((uint64_t)f << f),
                                 one + ((uint64_t)(f + 1) << f),
                                 one + ((uint64_t)(f + 1) << f) + 1,
                                 infinity - 2,
                                 infinity - 1,
                                 infinity,
                                 infinity + 1,
                                 infinity | 1ull << (f - 1),
                                 infinity - (1ull << f),
                                 one >> 1,
                                 (one >> 1) + 1};
  unsigned count = (unsigned)COUNT_OF(magnitudes);
  return magnitudes[index % count] | (index / count % 2 != 0 ? sign_bit(format) : 0);
}
enum { HARD_BITS = 48 };

// A random pattern; every second one near `other` in exponent, some with few bits set (ties), some subnormal.
static inline uint64_t random_bits(const Format *format, uint64_t draw, uint64_t other) {
  uint64_t mask = sign_bit(format) * 2 - 1, bits = random_draw(17, draw, 0), kind = random_draw(17, draw, 1);
  unsigned f = fraction_bits(format);
  if ((kind & 1) != 0) {
    uint64_t exponent = (other >> f) + (kind >> 8) % (2 * f + 5) - (f + 2);
    bits = (bits & (((1ull << f) - 1) | sign_bit(format))) | (exponent << f & infinity_bits(format));
  }
  if ((kind & 6) == 2) bits &= ~0ull << ((kind >> 40) % (f + 1));       // few bits: exact results and ties
  if ((kind & 0x78) == 8) bits &= sign_bit(format) | ((1ull << f) - 1); // subnormal
  if ((kind & 0x780) == 0x80) bits = hard_bits(format, (unsigned)(kind >> 20));
  return bits & mask;
}

#endif
