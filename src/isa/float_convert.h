// Conversions: float to integer, integer to float, rounding to integral values, tf32 and the 8-bit
// formats. Float to integer clamps to the range of the target. A NaN gives 0, but from f64 or to
// a 64-bit integer it gives the integer with the highest bit alone set.
// Source: PTX ISA, "Data Movement and Conversion Instructions: cvt".
#ifndef REDOUBT_FLOAT_CONVERT_H
#define REDOUBT_FLOAT_CONVERT_H

#include "isa/float_half.h"

// ---- Rounding to an integral value, sign of zero kept --------------------------------------------------
static inline double f64_integral(double x, Rounding mode) {
  double magnitude = f64_abs(x);
  double near = (magnitude + 0x1p52) - 0x1p52; // nearest even integer below 2^52
  bool is_negative = bits_of_f64(x) >> 63 != 0;
  bool goes_up = mode == ROUND_RP ? !is_negative : mode == ROUND_RM ? is_negative : false; // in magnitude
  if (mode != ROUND_RN) {
    near = near > magnitude ? near - 1.0 : near;
    near = goes_up && near < magnitude ? near + 1.0 : near;
  }
  near = magnitude < 0x1p52 ? near : magnitude; // already integral, infinite or NaN
  return f64_of(bits_of_f64(near) | (bits_of_f64(x) & F64_SIGN));
}
static inline float f32_integral(float x, Rounding mode) { return (float)f64_integral((double)x, mode); }
static inline uint16_t f16_integral(uint16_t x, Rounding mode) { return f32_to_f16(f32_integral(f16_to_f32(x), mode), ROUND_RN); }
static inline uint16_t bf16_integral(uint16_t x, Rounding mode) { return f32_to_bf16(f32_integral(bf16_to_f32(x), mode), ROUND_RN); }

// ---- Float to integer ------------------------------------------------------------------------------------
static inline double clamp_f64(double x, double low, double high) { // NaN becomes low
  double above = x > low ? x : low;
  return above < high ? above : high;
}
static inline int32_t f64_to_s32(double x, Rounding mode, int32_t nan) {
  int32_t value = (int32_t)clamp_f64(f64_integral(x, mode), -0x1p31, 0x1p31 - 1.0);
  return x != x ? nan : value;
}
static inline uint32_t f64_to_u32(double x, Rounding mode, uint32_t nan) {
  double value = clamp_f64(f64_integral(x, mode), 0.0, 0x1p32 - 1.0);
  return x != x ? nan : (uint32_t)(int32_t)(value - 0x1p31) ^ 0x80000000u;
}
static inline int64_t f64_to_s64(double x, Rounding mode) {
  double value = f64_integral(x, mode);
  bool is_above = value >= 0x1p63;
  int64_t inside = (int64_t)clamp_f64(value, -0x1p63, 0x1.fffffffffffffp62);
  return is_above ? INT64_MAX : inside; // NaN: the clamp gives INT64_MIN
}
static inline uint64_t f64_to_u64(double x, Rounding mode) {
  double value = f64_integral(x, mode);
  bool is_upper = value >= 0x1p63, is_above = value >= 0x1p64;
  double offset = is_upper ? 0x1p63 : 0.0;
  uint64_t inside = (uint64_t)(int64_t)clamp_f64(value - offset, 0.0, 0x1.fffffffffffffp62) + (is_upper ? 1ull << 63 : 0ull);
  inside = is_above ? UINT64_MAX : inside;
  return x != x ? 1ull << 63 : inside;
}
// Narrow integers: the clamp is tighter.
static inline int32_t f64_to_narrow(double x, Rounding mode, int32_t low, int32_t high, int32_t nan) {
  int32_t value = (int32_t)clamp_f64(f64_integral(x, mode), (double)low, (double)high);
  return x != x ? nan : value;
}
// By target; `is_f64` tells a source of f64 (see the file head about NaN).
#define FLOAT_TO_u8(x, mode, is_f64) ((uint8_t)f64_to_narrow(x, mode, 0, UINT8_MAX, (is_f64) ? 0x80 : 0))
#define FLOAT_TO_s8(x, mode, is_f64) ((int8_t)f64_to_narrow(x, mode, INT8_MIN, INT8_MAX, (is_f64) ? INT8_MIN : 0))
#define FLOAT_TO_u16(x, mode, is_f64) ((uint16_t)f64_to_narrow(x, mode, 0, UINT16_MAX, (is_f64) ? 0x8000 : 0))
#define FLOAT_TO_s16(x, mode, is_f64) ((int16_t)f64_to_narrow(x, mode, INT16_MIN, INT16_MAX, (is_f64) ? INT16_MIN : 0))
#define FLOAT_TO_u32(x, mode, is_f64) f64_to_u32(x, mode, (is_f64) ? 0x80000000u : 0u)
#define FLOAT_TO_s32(x, mode, is_f64) f64_to_s32(x, mode, (is_f64) ? INT32_MIN : 0)
#define FLOAT_TO_u64(x, mode, is_f64) f64_to_u64(x, mode)
#define FLOAT_TO_s64(x, mode, is_f64) f64_to_s64(x, mode)

// ---- Integer to float ------------------------------------------------------------------------------------
// A double with the leading 42 bits or more and, in its last place, whether anything below was cut off: rounds
// once more to f32, f16 or bf16 without harm.
static inline double u64_to_f64_sticky(uint64_t x) {
  uint64_t is_cut = (x & 0x7FFu) != 0 ? 0x800u : 0u;
  uint64_t cut = (x & ~0x7FFull) | is_cut;
  return (double)(x >> 53 != 0 ? cut : x);
}
static inline uint64_t magnitude_s64(int64_t x) { return x < 0 ? 0u - (uint64_t)x : (uint64_t)x; }
static inline double s64_to_f64_sticky(int64_t x) {
  double magnitude = u64_to_f64_sticky(magnitude_s64(x));
  return x < 0 ? -magnitude : magnitude;
}
static inline float u64_to_f32(uint64_t x, Rounding mode) { return f64_to_f32(u64_to_f64_sticky(x), mode); }
static inline float s64_to_f32(int64_t x, Rounding mode) { return f64_to_f32(s64_to_f64_sticky(x), mode); }
static inline float u32_to_f32(uint32_t x, Rounding mode) { return f64_to_f32((double)x, mode); }
static inline float s32_to_f32(int32_t x, Rounding mode) { return mode == ROUND_RN ? (float)x : f64_to_f32((double)x, mode); }

static inline double u64_to_f64(uint64_t x, Rounding mode) {
  double nearest = (double)x;
  if (mode == ROUND_RN) return nearest;
  uint64_t back = nearest < 0x1p64 ? (uint64_t)nearest : UINT64_MAX;
  uint64_t is_above = (uint64_t)(nearest >= 0x1p64) | (uint64_t)(back > x);
  uint64_t is_below = (is_above ^ 1u) & (uint64_t)(back < x);
  return f64_of(mode == ROUND_RP ? bits_of_f64(nearest) + is_below : bits_of_f64(nearest) - is_above);
}
static inline double s64_to_f64(int64_t x, Rounding mode) {
  if (mode == ROUND_RN) return (double)x;
  Rounding inward = mode == ROUND_RM ? ROUND_RP : mode == ROUND_RP ? ROUND_RM : ROUND_RZ; // of a negative's magnitude
  double positive = u64_to_f64(magnitude_s64(x), mode), negative = -u64_to_f64(magnitude_s64(x), inward);
  return x < 0 ? negative : positive;
}

// f16 and bf16 from any integer: by way of a double that is exact or sticky.
#define INTEGER_TO_F64_u8(x) ((double)(x))
#define INTEGER_TO_F64_s8(x) ((double)(x))
#define INTEGER_TO_F64_u16(x) ((double)(x))
#define INTEGER_TO_F64_s16(x) ((double)(x))
#define INTEGER_TO_F64_u32(x) ((double)(x))
#define INTEGER_TO_F64_s32(x) ((double)(x))
#define INTEGER_TO_F64_u64(x) u64_to_f64_sticky(x)
#define INTEGER_TO_F64_s64(x) s64_to_f64_sticky(x)
static inline float u8_to_f32(uint8_t x, Rounding mode) { return s32_to_f32(x, mode); }
static inline float s8_to_f32(int8_t x, Rounding mode) { return s32_to_f32(x, mode); }
static inline float u16_to_f32(uint16_t x, Rounding mode) { return s32_to_f32(x, mode); }
static inline float s16_to_f32(int16_t x, Rounding mode) { return s32_to_f32(x, mode); }
static inline double u8_to_f64(uint8_t x, Rounding mode) { return (void)mode, (double)x; }
static inline double s8_to_f64(int8_t x, Rounding mode) { return (void)mode, (double)x; }
static inline double u16_to_f64(uint16_t x, Rounding mode) { return (void)mode, (double)x; }
static inline double s16_to_f64(int16_t x, Rounding mode) { return (void)mode, (double)x; }
static inline double u32_to_f64(uint32_t x, Rounding mode) { return (void)mode, (double)x; }
static inline double s32_to_f64(int32_t x, Rounding mode) { return (void)mode, (double)x; }

// ---- Integer to integer under .sat ---------------------------------------------------------------------------
static inline int64_t clamp_s64(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }
static inline uint64_t clamp_u64(uint64_t x, uint64_t high) { return x > high ? high : x; }
// A signed or an unsigned value clamped to the target's range.
#define CLAMP_SIGNED_u8(x) ((uint8_t)clamp_s64(x, 0, UINT8_MAX))
#define CLAMP_SIGNED_s8(x) ((int8_t)clamp_s64(x, INT8_MIN, INT8_MAX))
#define CLAMP_SIGNED_u16(x) ((uint16_t)clamp_s64(x, 0, UINT16_MAX))
#define CLAMP_SIGNED_s16(x) ((int16_t)clamp_s64(x, INT16_MIN, INT16_MAX))
#define CLAMP_SIGNED_u32(x) ((uint32_t)clamp_s64(x, 0, UINT32_MAX))
#define CLAMP_SIGNED_s32(x) ((int32_t)clamp_s64(x, INT32_MIN, INT32_MAX))
#define CLAMP_SIGNED_u64(x) ((uint64_t)clamp_s64(x, 0, INT64_MAX))
#define CLAMP_UNSIGNED_u8(x) ((uint8_t)clamp_u64(x, UINT8_MAX))
#define CLAMP_UNSIGNED_s8(x) ((int8_t)clamp_u64(x, INT8_MAX))
#define CLAMP_UNSIGNED_u16(x) ((uint16_t)clamp_u64(x, UINT16_MAX))
#define CLAMP_UNSIGNED_s16(x) ((int16_t)clamp_u64(x, INT16_MAX))
#define CLAMP_UNSIGNED_u32(x) ((uint32_t)clamp_u64(x, UINT32_MAX))
#define CLAMP_UNSIGNED_s32(x) ((int32_t)clamp_u64(x, INT32_MAX))
#define CLAMP_UNSIGNED_s64(x) ((int64_t)clamp_u64(x, INT64_MAX))

// cvt.pack: a and b clamped to `low`..`high`, in fields of `bits` bits, a above b, under c moved up by both.
static inline uint32_t pack_clamped(int32_t a, int32_t b, uint32_t c, unsigned bits, int32_t low, int32_t high) {
  uint32_t field = (1u << bits) - 1u;
  uint32_t upper = (uint32_t)clamp_s64(a, low, high) & field, lower = (uint32_t)clamp_s64(b, low, high) & field;
  return (bits < 16u ? c << (2u * bits) : 0u) | upper << bits | lower;
}

// ---- With .relu and .satfinite ---------------------------------------------------------------------------
// .satfinite: an infinite result becomes the largest finite one. NaN stays.
static inline uint16_t f16_finite(uint16_t h) { return (uint16_t)((h & HALF_MAGNITUDE) == F16_INFINITY ? h - 1u : h); }
static inline uint16_t bf16_finite(uint16_t h) { return (uint16_t)((h & HALF_MAGNITUDE) == BF16_INFINITY ? h - 1u : h); }
static inline uint16_t f16_limited(uint16_t h) { return f16_relu(f16_finite(h)); }
static inline uint16_t bf16_limited(uint16_t h) { return bf16_relu(bf16_finite(h)); }

// ---- tf32: f32 with ten bits of fraction --------------------------------------------------------------------
// rna rounds ties away from zero. NaN gives the canonical f32 NaN.
static inline uint32_t f32_to_tf32_rna(float x) {
  uint32_t bits = bits_of_f32(x);
  uint32_t rounded = (bits + 0x1000u) & ~0x1FFFu;
  rounded = (bits & F32_MAGNITUDE) == F32_INFINITY ? bits : rounded;
  return f32_is_nan(x) ? F32_NAN : rounded;
}
static inline uint32_t f32_to_tf32(float x, Rounding mode) { // rn or rz
  uint32_t bits = bits_of_f32(x);
  uint32_t rounded = shift_rounded(bits & F32_MAGNITUDE, 13, bits >> 31, mode) << 13;
  return f32_is_nan(x) ? F32_NAN : rounded | (bits & F32_SIGN);
}
static inline uint32_t tf32_finite(uint32_t bits) { return (bits & F32_MAGNITUDE) == F32_INFINITY ? bits - 0x2000u : bits; }
static inline uint32_t tf32_relu(uint32_t bits) { return bits == F32_NAN || bits >> 31 == 0 ? bits : 0u; }

// ---- e4m3 and e5m2 --------------------------------------------------------------------------------------------
// To nearest even, always .satfinite: beyond the range gives the largest finite value; NaN gives 0x7F.
// `bias` and `fraction_bits` describe the format, `largest` is its largest finite pattern.
static inline uint8_t f32_to_e8(float x, uint32_t bias, uint32_t fraction_bits, uint32_t largest) {
  uint32_t bits = bits_of_f32(x), magnitude = bits & F32_MAGNITUDE, exponent = magnitude >> 23;
  uint32_t significand = (magnitude & 0x7FFFFFu) | (exponent != 0 ? 0x800000u : 0u);
  uint32_t first = 128u - bias; // exponent field of the smallest normal value
  uint32_t normal = max_u32(exponent, first), below = first - min_u32(exponent, first);
  uint32_t shift = 23u - fraction_bits + min_u32(below, 8u);
  uint32_t out = shift_rounded(significand, shift, 0, ROUND_RN) + ((normal - first) << fraction_bits);
  out = out > largest ? largest : out;
  return (uint8_t)(magnitude > F32_INFINITY ? 0x7Fu : out | bits >> 31 << 7);
}
static inline uint8_t f32_to_e4m3(float x) { return f32_to_e8(x, 7, 3, 0x7E); }
static inline uint8_t f32_to_e5m2(float x) { return f32_to_e8(x, 15, 2, 0x7B); }
static inline uint8_t e8_relu(uint8_t x) { return (uint8_t)(x == 0x7Fu || (x & 0x80u) == 0 ? x : 0u); }

static inline uint16_t e5m2_to_f16(uint8_t x) { return f16_canonical((uint16_t)(x << 8)); }
static inline uint16_t e4m3_to_f16(uint8_t x) {
  uint32_t magnitude = x & 0x7Fu, sign = (uint32_t)(x & 0x80u) << 8;
  uint32_t normal = (magnitude << 7) + (8u << 10);
  uint32_t subnormal = f32_to_f16((float)(int32_t)magnitude * 0x1p-9f, ROUND_RN);
  uint32_t bits = magnitude < 8u ? subnormal : normal;
  return (uint16_t)(magnitude == 0x7Fu ? HALF_NAN : bits | sign);
}
static inline uint16_t bytes_of(uint8_t low, uint8_t high) { return (uint16_t)(low | high << 8); }

#endif
