// Floating-point arithmetic of one lane: pure functions of bits, the same on every compiler and
// processor. Rows of float.def and convert.def are made of these, and so are atomics and matrices.
//
// f32 and f64 use the processor's IEEE arithmetic in its standing mode (nearest even, no flushing);
// the directed roundings of f32 are derived from a double and the sign of what that double left
// out, those of f64 are done on integers (float_f64.c). No rounding mode is ever changed.
// f16 and bf16 are in float_half.h, conversions in float_convert.h, approximate functions in approx.h.
// Source: IEEE 754-2019; PTX ISA, "Floating Point Instructions".
//
// Functions are branch-free wherever a loop over 32 lanes should become vector code. `mode` is
// a constant at every call, so its tests fold away.
#ifndef REDOUBT_FLOAT_CORE_H
#define REDOUBT_FLOAT_CORE_H

#include "base/base.h"

typedef enum Rounding {
  ROUND_RN, // to nearest, ties to even
  ROUND_RZ, // toward zero
  ROUND_RM, // toward minus infinity
  ROUND_RP, // toward plus infinity
} Rounding;

#define F32_SIGN 0x80000000u
#define F32_MAGNITUDE 0x7FFFFFFFu
#define F32_INFINITY 0x7F800000u
#define F32_NAN 0x7FFFFFFFu // canonical, as PTX gives it
#define F64_SIGN 0x8000000000000000u
#define F64_MAGNITUDE 0x7FFFFFFFFFFFFFFFu
#define F64_INFINITY 0x7FF0000000000000u
#define F64_NAN 0x7FF8000000000000u

// ---- Bits ----------------------------------------------------------------------------------------
static inline float f32_canonical(float x) { return x != x ? f32_of(F32_NAN) : x; }
static inline double f64_canonical(double x) { return x != x ? f64_of(F64_NAN) : x; }

// .ftz: subnormals become zeros of the same sign.
static inline float f32_flush(float x) {
  uint32_t bits = bits_of_f32(x);
  return f32_of((bits & F32_MAGNITUDE) < 0x00800000u ? bits & F32_SIGN : bits);
}
static inline double f64_flush(double x) {
  uint64_t bits = bits_of_f64(x);
  return f64_of((bits & F64_MAGNITUDE) < 0x0010000000000000u ? bits & F64_SIGN : bits);
}

// .sat: clamp to [0, 1]; NaN and -0 become +0.
static inline float f32_saturate(float x) {
  float low = x > 0.0f ? x : 0.0f;
  return low < 1.0f ? low : 1.0f;
}
static inline double f64_saturate(double x) {
  double low = x > 0.0 ? x : 0.0;
  return low < 1.0 ? low : 1.0;
}

static inline float f32_abs(float a) { return f32_of(bits_of_f32(a) & F32_MAGNITUDE); }
static inline float f32_neg(float a) { return f32_of(bits_of_f32(a) ^ F32_SIGN); }
static inline double f64_abs(double a) { return f64_of(bits_of_f64(a) & F64_MAGNITUDE); }
static inline double f64_neg(double a) { return f64_of(bits_of_f64(a) ^ F64_SIGN); }
// PTX's order: the sign of a, the magnitude of b.
static inline float f32_copysign(float a, float b) { return f32_of((bits_of_f32(a) & F32_SIGN) | (bits_of_f32(b) & F32_MAGNITUDE)); }
static inline double f64_copysign(double a, double b) { return f64_of((bits_of_f64(a) & F64_SIGN) | (bits_of_f64(b) & F64_MAGNITUDE)); }

static inline bool f32_is_nan(float x) { return (bits_of_f32(x) & F32_MAGNITUDE) > F32_INFINITY; }
static inline bool f32_is_finite(float x) { return (bits_of_f32(x) & F32_MAGNITUDE) < F32_INFINITY; }
static inline bool f32_is_infinite(float x) { return (bits_of_f32(x) & F32_MAGNITUDE) == F32_INFINITY; }
// testp counts zeros as normal.
static inline bool f32_is_subnormal(float x) { return (bits_of_f32(x) & F32_MAGNITUDE) - 1u < 0x007FFFFFu; }
static inline bool f32_is_normal(float x) { return f32_is_finite(x) && !f32_is_subnormal(x); }
static inline bool f64_is_nan(double x) { return (bits_of_f64(x) & F64_MAGNITUDE) > F64_INFINITY; }
static inline bool f64_is_finite(double x) { return (bits_of_f64(x) & F64_MAGNITUDE) < F64_INFINITY; }
static inline bool f64_is_infinite(double x) { return (bits_of_f64(x) & F64_MAGNITUDE) == F64_INFINITY; }
static inline bool f64_is_subnormal(double x) { return (bits_of_f64(x) & F64_MAGNITUDE) - 1u < 0x000FFFFFFFFFFFFFu; }
static inline bool f64_is_normal(double x) { return f64_is_finite(x) && !f64_is_subnormal(x); }

// ---- Rounding a double to f32 ----------------------------------------------------------------------
// What a + b leaves out when it is rounded to a double; exact (Knuth's two-sum). NaN where an infinity is about.
static inline double sum_error(double a, double b, double sum) {
  double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

// The f32 for the exact value x + e, where x is that value rounded to a double and e, of which only the sign
// matters, is what that rounding left out. For ROUND_RN, e must be 0.
static inline float f32_round(double x, double e, Rounding mode) {
  float nearest = (float)x;
  if (mode == ROUND_RN) return nearest;
  uint32_t bits = bits_of_f32(nearest), is_negative = bits >> 31;
  // In magnitudes, so that a step of one unit in the last place is one in the bits.
  double exact = f64_abs(x), rounded = f64_abs((double)nearest);
  double rest = f64_of(bits_of_f64(e) ^ (bits_of_f64(x) & F64_SIGN));
  uint32_t is_same = exact == rounded;
  uint32_t inward = (uint32_t)(exact < rounded) | (is_same & (uint32_t)(rest < 0.0));
  uint32_t outward = (uint32_t)(exact > rounded) | (is_same & (uint32_t)(rest > 0.0));
  if (mode == ROUND_RZ) return f32_of(bits - inward);
  uint32_t toward_negative = mode == ROUND_RM ? 1u : 0u;
  return f32_of(is_negative == toward_negative ? bits + outward : bits - inward);
}
static inline float f64_to_f32(double x, Rounding mode) { return f32_round(x, 0.0, mode); }

// Round to odd: truncate, and set the last bit if anything was cut off. Rounding the result again to a format of
// two bits less gives what one rounding of the exact value would have given.
static inline double f64_sum_odd(double a, double b) {
  double sum = a + b, error = sum_error(a, b, sum);
  uint64_t bits = bits_of_f64(sum);
  uint64_t is_inexact = (uint64_t)(error < 0.0) | (uint64_t)(error > 0.0);
  uint64_t is_too_far = is_inexact & (uint64_t)((error < 0.0) != (sum < 0.0)); // the sum was rounded away from zero
  return f64_of((bits - is_too_far) | is_inexact);
}
static inline float f64_to_f32_odd(double x) {
  float nearest = (float)x;
  double back = (double)nearest;
  uint32_t bits = bits_of_f32(nearest);
  uint32_t is_inexact = (uint32_t)(x < back) | (uint32_t)(x > back);
  uint32_t is_too_far = x < 0.0 ? (uint32_t)(x > back) : (uint32_t)(x < back);
  return f32_of((bits - is_too_far) | is_inexact);
}

// ---- f32 arithmetic --------------------------------------------------------------------------------
// An exact zero from operands of unlike sign is -0 when rounding down, +0 otherwise.
static inline float f32_zero_sign(float result, double x, double y, double sum, Rounding mode) {
  if (mode != ROUND_RM) return result;
  uint32_t signs = (uint32_t)((bits_of_f64(x) | bits_of_f64(y)) >> 32) & F32_SIGN;
  return sum == 0.0 ? f32_of(signs) : result;
}
static inline float f32_sum(double x, double y, Rounding mode) {
  double sum = x + y;
  return f32_zero_sign(f32_round(sum, sum_error(x, y, sum), mode), x, y, sum, mode);
}
static inline float f32_add(float a, float b, Rounding mode) { return mode == ROUND_RN ? a + b : f32_sum((double)a, (double)b, mode); }
static inline float f32_sub(float a, float b, Rounding mode) { return mode == ROUND_RN ? a - b : f32_sum((double)a, -(double)b, mode); }
static inline float f32_mul(float a, float b, Rounding mode) {
  return mode == ROUND_RN ? a * b : f64_to_f32((double)a * (double)b, mode); // 48 bits: exact in a double
}
// A quotient or root of f32 that is no f32 is at least 2^-49 away from any, so the double tells the side.
static inline float f32_div(float a, float b, Rounding mode) { return mode == ROUND_RN ? a / b : f64_to_f32((double)a / (double)b, mode); }
static inline float f32_rcp(float a, Rounding mode) { return f32_div(1.0f, a, mode); }
static inline float f32_sqrt(float a, Rounding mode) {
  return mode == ROUND_RN ? __builtin_sqrtf(a) : f64_to_f32(__builtin_sqrt((double)a), mode);
}
// Fused multiply-add without the processor's help: the product is exact, the sum is rounded to odd.
static inline float f32_fma_plain(float a, float b, float c) { return (float)f64_sum_odd((double)a * (double)b, (double)c); }
static inline float f32_fma(float a, float b, float c, Rounding mode) {
  if (mode != ROUND_RN) return f32_sum((double)a * (double)b, (double)c, mode);
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return f32_fma_plain(a, b, c);
#endif
}

// ---- f64 arithmetic --------------------------------------------------------------------------------
// The directed roundings, on integers (float_f64.c).
double f64_add_directed(double a, double b, Rounding mode);
double f64_mul_directed(double a, double b, Rounding mode);
double f64_fma_directed(double a, double b, double c, Rounding mode);
double f64_div_directed(double a, double b, Rounding mode);
double f64_sqrt_directed(double a, Rounding mode);

static inline double f64_add(double a, double b, Rounding mode) { return mode == ROUND_RN ? a + b : f64_add_directed(a, b, mode); }
static inline double f64_sub(double a, double b, Rounding mode) { return mode == ROUND_RN ? a - b : f64_add_directed(a, f64_neg(b), mode); }
static inline double f64_mul(double a, double b, Rounding mode) { return mode == ROUND_RN ? a * b : f64_mul_directed(a, b, mode); }
static inline double f64_div(double a, double b, Rounding mode) { return mode == ROUND_RN ? a / b : f64_div_directed(a, b, mode); }
static inline double f64_rcp(double a, Rounding mode) { return f64_div(1.0, a, mode); }
static inline double f64_sqrt(double a, Rounding mode) { return mode == ROUND_RN ? __builtin_sqrt(a) : f64_sqrt_directed(a, mode); }
static inline double f64_fma(double a, double b, double c, Rounding mode) {
  return mode == ROUND_RN ? __builtin_fma(a, b, c) : f64_fma_directed(a, b, c, mode);
}

// ---- Minimum and maximum ---------------------------------------------------------------------------
// -0 is less than +0. A NaN loses against a number; with two NaNs, and in the .NaN forms with one, the
// result is the canonical NaN.
#define MIN_MAX(F, Float, Bits, bits_of, of, CANONICAL)                                                          \
  static inline Float F##_min(Float a, Float b) {                                                                \
    Float least = a < b ? a : b;                                                                                 \
    least = a == b ? of(bits_of(a) | bits_of(b)) : least;                                                        \
    least = a != a ? b : b != b ? a : least;                                                                     \
    return least != least ? of(CANONICAL) : least;                                                               \
  }                                                                                                              \
  static inline Float F##_max(Float a, Float b) {                                                                \
    Float most = a > b ? a : b;                                                                                  \
    most = a == b ? of(bits_of(a) & bits_of(b)) : most;                                                          \
    most = a != a ? b : b != b ? a : most;                                                                       \
    return most != most ? of(CANONICAL) : most;                                                                  \
  }                                                                                                              \
  static inline Float F##_min_nan(Float a, Float b) { return a != a || b != b ? of(CANONICAL) : F##_min(a, b); } \
  static inline Float F##_max_nan(Float a, Float b) { return a != a || b != b ? of(CANONICAL) : F##_max(a, b); }
MIN_MAX(f32, float, uint32_t, bits_of_f32, f32_of, F32_NAN)
MIN_MAX(f64, double, uint64_t, bits_of_f64, f64_of, F64_NAN)
#undef MIN_MAX

// .xorsign.abs: the smaller or larger magnitude with the product of the signs.
static inline float f32_xorsign(float magnitude, float a, float b) {
  uint32_t sign = (bits_of_f32(a) ^ bits_of_f32(b)) & F32_SIGN;
  return magnitude != magnitude ? f32_of(F32_NAN) : f32_of(bits_of_f32(magnitude) | sign);
}

// ---- Comparison ------------------------------------------------------------------------------------
// The ordered forms are false and the ...u forms true when an operand is NaN.
#define COMPARE_eq(a, b) ((a) == (b))
#define COMPARE_ne(a, b) ((a) < (b) || (a) > (b))
#define COMPARE_lt(a, b) ((a) < (b))
#define COMPARE_le(a, b) ((a) <= (b))
#define COMPARE_gt(a, b) ((a) > (b))
#define COMPARE_ge(a, b) ((a) >= (b))
#define COMPARE_equ(a, b) (!((a) < (b) || (a) > (b)))
#define COMPARE_neu(a, b) ((a) != (b))
#define COMPARE_ltu(a, b) (!((a) >= (b)))
#define COMPARE_leu(a, b) (!((a) > (b)))
#define COMPARE_gtu(a, b) (!((a) <= (b)))
#define COMPARE_geu(a, b) (!((a) < (b)))
#define COMPARE_num(a, b) ((a) == (a) && (b) == (b))
#define COMPARE_nan(a, b) ((a) != (a) || (b) != (b))

#endif
