// f16 and bf16 arithmetic on 16-bit patterns, alone and in pairs. Every operation rounds once:
// sums, differences and f16 products are taken in f32, whose 24 bits are more than twice the
// target's, so the second rounding cannot go wrong; the rest is taken in doubles rounded to odd.
// NaN results are 0x7FFF in both formats. Source: PTX ISA, "Half Precision Floating Point Instructions".
#ifndef REDOUBT_FLOAT_HALF_H
#define REDOUBT_FLOAT_HALF_H

#include "isa/float_core.h"

#define HALF_SIGN 0x8000u
#define HALF_MAGNITUDE 0x7FFFu
#define HALF_NAN 0x7FFFu
#define F16_INFINITY 0x7C00u
#define BF16_INFINITY 0x7F80u

// ---- To and from f32 ---------------------------------------------------------------------------------
static inline float f16_to_f32(uint16_t h) {
  uint32_t magnitude = h & HALF_MAGNITUDE, sign = (uint32_t)(h & HALF_SIGN) << 16;
  uint32_t bits = (magnitude << 13) + (112u << 23);
  bits = magnitude >= F16_INFINITY ? bits + (112u << 23) : bits;
  uint32_t subnormal = bits_of_f32((float)(int32_t)magnitude * 0x1p-24f);
  bits = magnitude < 0x0400u ? subnormal : bits;
  return f32_of(bits | sign);
}
static inline float bf16_to_f32(uint16_t h) { return f32_of((uint32_t)h << 16); }

// A magnitude cut by `shift` places (1 to 31) and rounded.
static inline uint32_t shift_rounded(uint32_t magnitude, uint32_t shift, uint32_t is_negative, Rounding mode) {
  uint32_t rest = (1u << shift) - 1u; // what may be cut off; added to what is there, it carries unless that is zero
  uint32_t carry = mode == ROUND_RM ? rest & (0u - is_negative) : mode == ROUND_RP ? rest & (is_negative - 1u) : 0u;
  if (mode == ROUND_RN) carry = (rest >> 1) + ((magnitude >> shift) & 1u);
  return (magnitude + carry) >> shift;
}

static inline uint16_t f32_to_f16(float x, Rounding mode) {
  uint32_t bits = bits_of_f32(x), magnitude = bits & F32_MAGNITUDE, is_negative = bits >> 31;
  uint32_t exponent = magnitude >> 23;
  uint32_t significand = (magnitude & 0x7FFFFFu) | (exponent != 0 ? 0x800000u : 0u);
  uint32_t normal = max_u32(exponent, 113u), below = 113u - min_u32(exponent, 113u); // places by which it is subnormal
  uint32_t shift = 13u + min_u32(below, 17u);
  uint32_t out = shift_rounded(significand, shift, is_negative, mode) + ((normal - 113u) << 10);
  uint32_t goes_infinite = mode == ROUND_RM ? is_negative : mode == ROUND_RP ? is_negative ^ 1u : mode == ROUND_RN ? 1u : 0u;
  out = magnitude >= 0x47800000u ? F16_INFINITY - 1u + goes_infinite : out;
  out = magnitude >= F32_INFINITY ? F16_INFINITY : out;
  return (uint16_t)(magnitude > F32_INFINITY ? HALF_NAN : out | is_negative << 15);
}
static inline uint16_t f32_to_bf16(float x, Rounding mode) {
  uint32_t bits = bits_of_f32(x), magnitude = bits & F32_MAGNITUDE, is_negative = bits >> 31;
  uint32_t out = shift_rounded(magnitude, 16, is_negative, mode);
  return (uint16_t)(magnitude > F32_INFINITY ? HALF_NAN : out | is_negative << 15);
}
static inline uint16_t f64_to_f16(double x, Rounding mode) { return f32_to_f16(f64_to_f32_odd(x), mode); }
static inline uint16_t f64_to_bf16(double x, Rounding mode) { return f32_to_bf16(f64_to_f32_odd(x), mode); }

// ---- Bits --------------------------------------------------------------------------------------------
static inline uint16_t half_abs(uint16_t a) { return (uint16_t)(a & HALF_MAGNITUDE); }
static inline uint16_t half_neg(uint16_t a) { return (uint16_t)(a ^ HALF_SIGN); }
static inline uint16_t f16_flush(uint16_t a) { return (uint16_t)((a & HALF_MAGNITUDE) < 0x0400u ? a & HALF_SIGN : a); }
static inline uint16_t bf16_flush(uint16_t a) { return (uint16_t)((a & HALF_MAGNITUDE) < 0x0080u ? a & HALF_SIGN : a); }
static inline bool f16_is_nan(uint16_t a) { return (a & HALF_MAGNITUDE) > F16_INFINITY; }
static inline bool bf16_is_nan(uint16_t a) { return (a & HALF_MAGNITUDE) > BF16_INFINITY; }
static inline uint16_t f16_canonical(uint16_t a) { return (uint16_t)(f16_is_nan(a) ? HALF_NAN : a); }
static inline uint16_t bf16_canonical(uint16_t a) { return (uint16_t)(bf16_is_nan(a) ? HALF_NAN : a); }

// .sat: clamp to [0, 1]; NaN and negatives become +0.
static inline uint16_t f16_saturate(uint16_t a) {
  uint16_t low = (uint16_t)(a > F16_INFINITY ? 0u : a); // negative or NaN
  return (uint16_t)(low > 0x3C00u ? 0x3C00u : low);
}
static inline uint16_t bf16_saturate(uint16_t a) {
  uint16_t low = (uint16_t)(a > BF16_INFINITY ? 0u : a);
  return (uint16_t)(low > 0x3F80u ? 0x3F80u : low);
}
// .relu: negatives become +0, NaN stays NaN.
static inline uint16_t f16_relu(uint16_t a) { return (uint16_t)(f16_is_nan(a) ? HALF_NAN : (a & HALF_SIGN) != 0 ? 0u : a); }
static inline uint16_t bf16_relu(uint16_t a) { return (uint16_t)(bf16_is_nan(a) ? HALF_NAN : (a & HALF_SIGN) != 0 ? 0u : a); }

// ---- Arithmetic, to nearest ----------------------------------------------------------------------------
static inline uint16_t f16_add(uint16_t a, uint16_t b) { return f32_to_f16(f16_to_f32(a) + f16_to_f32(b), ROUND_RN); }
static inline uint16_t f16_sub(uint16_t a, uint16_t b) { return f32_to_f16(f16_to_f32(a) - f16_to_f32(b), ROUND_RN); }
static inline uint16_t f16_mul(uint16_t a, uint16_t b) { return f32_to_f16(f16_to_f32(a) * f16_to_f32(b), ROUND_RN); }
static inline uint16_t f16_fma(uint16_t a, uint16_t b, uint16_t c) {
  double product = (double)f16_to_f32(a) * (double)f16_to_f32(b);
  return f64_to_f16(f64_sum_odd(product, (double)f16_to_f32(c)), ROUND_RN);
}
static inline uint16_t bf16_add(uint16_t a, uint16_t b) { return f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b), ROUND_RN); }
static inline uint16_t bf16_sub(uint16_t a, uint16_t b) { return f32_to_bf16(bf16_to_f32(a) - bf16_to_f32(b), ROUND_RN); }
static inline uint16_t bf16_mul(uint16_t a, uint16_t b) { // a tiny product would round twice in f32
  return f64_to_bf16((double)bf16_to_f32(a) * (double)bf16_to_f32(b), ROUND_RN);
}
static inline uint16_t bf16_fma(uint16_t a, uint16_t b, uint16_t c) {
  double product = (double)bf16_to_f32(a) * (double)bf16_to_f32(b);
  return f64_to_bf16(f64_sum_odd(product, (double)bf16_to_f32(c)), ROUND_RN);
}

// ---- Minimum and maximum: as for f32, on the order of the patterns ---------------------------------------
static inline int32_t half_order(uint16_t a) { return (a & HALF_SIGN) != 0 ? -(int32_t)(a & HALF_MAGNITUDE) - 1 : (int32_t)a; }
static inline uint16_t half_min(uint16_t a, uint16_t b) { return half_order(a) < half_order(b) ? a : b; }
static inline uint16_t half_max(uint16_t a, uint16_t b) { return half_order(a) > half_order(b) ? a : b; }
static inline uint16_t half_xorsign(uint16_t magnitude, uint16_t a, uint16_t b) {
  return (uint16_t)(magnitude == HALF_NAN ? HALF_NAN : magnitude | ((a ^ b) & HALF_SIGN));
}
#define HALF_MIN_MAX(H, name)                                                                                                              \
  static inline uint16_t H##_##name(uint16_t a, uint16_t b) {                                                                              \
    uint16_t number = H##_is_nan(a) ? b : H##_is_nan(b) ? a : half_##name(a, b);                                                           \
    return H##_canonical(number);                                                                                                          \
  }                                                                                                                                        \
  static inline uint16_t H##_##name##_nan(uint16_t a, uint16_t b) {                                                                        \
    return (uint16_t)(H##_is_nan(a) || H##_is_nan(b) ? HALF_NAN : half_##name(a, b));                                                      \
  }                                                                                                                                        \
  static inline uint16_t H##_##name##_xorsign(uint16_t a, uint16_t b) { return half_xorsign(H##_##name(half_abs(a), half_abs(b)), a, b); } \
  static inline uint16_t H##_##name##_nan_xorsign(uint16_t a, uint16_t b) {                                                                \
    return half_xorsign(H##_##name##_nan(half_abs(a), half_abs(b)), a, b);                                                                 \
  }
HALF_MIN_MAX(f16, min)
HALF_MIN_MAX(f16, max)
HALF_MIN_MAX(bf16, min)
HALF_MIN_MAX(bf16, max)
#undef HALF_MIN_MAX

// ---- Pairs ---------------------------------------------------------------------------------------------
static inline uint16_t pair_low(uint32_t pair) { return (uint16_t)pair; }
static inline uint16_t pair_high(uint32_t pair) { return (uint16_t)(pair >> 16); }
static inline uint32_t pair_of(uint16_t low, uint16_t high) { return (uint32_t)low | (uint32_t)high << 16; }

// f(a...) of both halves, for any function of patterns above.
#define PAIR1(function, a) pair_of(function(pair_low(a)), function(pair_high(a)))
#define PAIR2(function, a, b) pair_of(function(pair_low(a), pair_low(b)), function(pair_high(a), pair_high(b)))
#define PAIR3(function, a, b, c) \
  pair_of(function(pair_low(a), pair_low(b), pair_low(c)), function(pair_high(a), pair_high(b), pair_high(c)))

#endif
