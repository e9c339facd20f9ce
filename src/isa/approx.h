// The approximate functions of PTX (ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt, div .approx). PTX gives
// error bounds, no bits; these are our own: polynomials in double, rounded once to f32, so the
// error stays near half a unit in the last place over the whole range (test_approx.c measures
// it against MPFR). Only + - * / and square roots, which IEEE defines to the bit: the same result
// on any compiler and processor. Branch-free for vector code; special cases are selects.
// Source: PTX ISA, the instructions' "Floating Point Notes"; polynomials are Taylor series.
#ifndef REDOUBT_APPROX_H
#define REDOUBT_APPROX_H

#include "isa/float_half.h"

// ---- 2^x ---------------------------------------------------------------------------------------------
// 2^x for |x| <= 1000: x = k + f, f in [-1/2, 1/2], 2^f by its series (error below 2^-36).
static inline double f64_ex2(double x) {
  double k = (x + 0x1.8p52) - 0x1.8p52, f = x - k;
  double p = 0x1.b5253d395e7c4p-24;
  p = p * f + 0x1.62c0223a5c824p-20;
  p = p * f + 0x1.ffcbfc588b0c7p-17;
  p = p * f + 0x1.430912f86c787p-13;
  p = p * f + 0x1.5d87fe78a6731p-10;
  p = p * f + 0x1.3b2ab6fba4e77p-7;
  p = p * f + 0x1.c6b08d704a0c0p-5;
  p = p * f + 0x1.ebfbdff82c58fp-3;
  p = p * f + 0x1.62e42fefa39efp-1;
  p = p * f + 1.0;
  uint32_t exponent = (uint32_t)((int32_t)k + 1023);
  return p * f64_of((uint64_t)exponent << 52);
}
static inline float f32_ex2(float x) {
  float bounded = x > -200.0f ? x : -200.0f;
  bounded = bounded < 200.0f ? bounded : 200.0f;
  float result = (float)f64_ex2((double)bounded);
  return x != x ? f32_of(F32_NAN) : result;
}

// ---- log2 x --------------------------------------------------------------------------------------------
// x = 2^k m, m in [sqrt 1/2, sqrt 2); log2 m = 2 / ln 2 * atanh((m - 1) / (m + 1)).
static inline float f32_lg2(float x) {
  uint64_t bits = bits_of_f64((double)x);
  uint32_t shifted = (uint32_t)(bits >> 32) - 0x3FE6A09Eu + (1024u << 20); // exponent counts from sqrt 1/2 on
  int32_t k = (int32_t)(shifted >> 20) - 1024;
  double m = f64_of((uint64_t)((shifted & 0xFFFFFu) + 0x3FE6A09Eu) << 32 | (bits & 0xFFFFFFFFu));
  double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 0x1.89f3b1694cffep-3;
  p = p * q + 0x1.c68f568d31760p-3;
  p = p * q + 0x1.0c9a84994022dp-2;
  p = p * q + 0x1.484b13d7c02a9p-2;
  p = p * q + 0x1.a61762a7aded9p-2;
  p = p * q + 0x1.2776c50ef9bfep-1;
  p = p * q + 0x1.ec709dc3a03fdp-1;
  p = p * q + 0x1.71547652b82fep+1;
  float result = (float)((double)k + p * s);
  result = x == 0.0f ? f32_of(F32_INFINITY | F32_SIGN) : result;
  result = bits_of_f32(x) == F32_INFINITY ? x : result;
  return x < 0.0f || x != x ? f32_of(F32_NAN) : result;
}

// ---- sin x, cos x ------------------------------------------------------------------------------------------
// The binary digits of 2 / pi, one word of zeros before them.
static const uint32_t two_over_pi[10] = {0,           0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u,
                                         0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au};

// |x| = quadrant * pi / 2 + angle, angle in [-pi/4, pi/4] or so, for every finite x: the 24 bits of x times those
// 96 bits of 2 / pi that matter, modulo 4, with 62 binary places (Payne and Hanek's reduction).
static inline double reduce_angle(float x, uint32_t *quadrant) {
  uint32_t magnitude = bits_of_f32(x) & F32_MAGNITUDE;
  bool is_small = magnitude < 0x3F000000u; // below 1/2
  uint32_t exponent = is_small ? 126u : magnitude >> 23;
  uint64_t significand = (magnitude & 0x7FFFFFu) | 0x800000u;
  uint32_t first = exponent - 120u, word = first >> 5, shift = first & 31u;
  uint64_t w0 = two_over_pi[word], w1 = two_over_pi[word + 1], w2 = two_over_pi[word + 2], w3 = two_over_pi[word + 3];
  uint64_t high = (w0 << 32 | w1) << shift >> 32, middle = (w1 << 32 | w2) << shift >> 32, low = (w2 << 32 | w3) << shift >> 32;
  uint64_t turns = (significand * high << 32) + significand * middle + (significand * low >> 32);
  uint64_t nearest = turns + (1ull << 61);
  *quadrant = is_small ? 0u : (uint32_t)(nearest >> 62);
  double angle = (double)(int64_t)(turns - (nearest & 3ull << 62)) * 0x1.921fb54442d18p-62;
  return is_small ? (double)f32_of(magnitude) : angle;
}
static inline double sine_series(double y) {
  double q = y * y;
  double p = 0x1.6124613a86d09p-33;
  p = p * q + -0x1.ae64567f544e4p-26;
  p = p * q + 0x1.71de3a556c734p-19;
  p = p * q + -0x1.a01a01a01a01ap-13;
  p = p * q + 0x1.1111111111111p-7;
  p = p * q + -0x1.5555555555555p-3;
  return y + y * (q * p);
}
static inline double cosine_series(double y) {
  double q = y * y;
  double p = 0x1.1eed8eff8d898p-29;
  p = p * q + -0x1.27e4fb7789f5cp-22;
  p = p * q + 0x1.a01a01a01a01ap-16;
  p = p * q + -0x1.6c16c16c16c17p-10;
  p = p * q + 0x1.5555555555555p-5;
  p = p * q + -0.5;
  return 1.0 + q * p;
}
// sin(quadrant * pi / 2 + angle), negated if sign is F32_SIGN; infinite and NaN arguments give NaN.
static inline float turn_sine(float x, double angle, uint32_t quadrant, uint32_t sign) {
  double sine = sine_series(angle), cosine = cosine_series(angle);
  uint32_t bits = bits_of_f32((float)((quadrant & 1u) != 0 ? cosine : sine));
  bits ^= sign ^ (quadrant & 2u) << 30;
  return f32_of(f32_is_finite(x) ? bits : F32_NAN);
}
static inline float f32_sin(float x) {
  uint32_t quadrant;
  double angle = reduce_angle(x, &quadrant);
  return turn_sine(x, angle, quadrant, bits_of_f32(x) & F32_SIGN);
}
static inline float f32_cos(float x) {
  uint32_t quadrant;
  double angle = reduce_angle(x, &quadrant);
  return turn_sine(x, angle, quadrant + 1u, 0);
}

// ---- tanh x ------------------------------------------------------------------------------------------------
// Series below 1/4, 1 - 2 / (e^2x + 1) above.
static inline float f32_tanh(float x) {
  double magnitude = (double)f32_abs(x), q = magnitude * magnitude;
  double p = -0x1.7da36452b75e3p-10;
  p = p * q + 0x1.d6d3d0e157de0p-9;
  p = p * q + -0x1.226e355e6c23dp-7;
  p = p * q + 0x1.664f4882c10fap-6;
  p = p * q + -0x1.ba1ba1ba1ba1cp-5;
  p = p * q + 0x1.1111111111111p-3;
  p = p * q + -0x1.5555555555555p-2;
  double small = magnitude + magnitude * (q * p);
  double bounded = magnitude < 16.0 ? magnitude : 16.0;
  double large = 1.0 - 2.0 / (f64_ex2(bounded * 0x1.71547652b82fep+1) + 1.0);
  uint32_t bits = bits_of_f32((float)(magnitude < 0.25 ? small : large)) | (bits_of_f32(x) & F32_SIGN);
  return f32_of(x != x ? F32_NAN : bits);
}

// ---- Reciprocals and roots -----------------------------------------------------------------------------------
static inline float f32_rsqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
static inline double f64_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

// div.approx: a * (1 / b), whose reciprocal is 0 for |b| above 2^126; there the quotient is 0, or NaN for infinite a.
static inline float f32_div_approx(float a, float b) {
  uint32_t magnitude = bits_of_f32(b) & F32_MAGNITUDE;
  bool is_huge = magnitude > 0x7E800000u && magnitude < F32_INFINITY;
  float vanished = a * f32_of(bits_of_f32(b) & F32_SIGN);
  return is_huge ? vanished : a / b;
}

// The gross f64 forms (.approx.ftz.f64) see and give the upper 32 bits alone, subnormals as zeros.
static inline double f64_upper(double x) { // to nearest, so that the error is below 2^-20
  uint64_t bits = bits_of_f64(x);
  bits = f64_is_finite(x) ? bits + 0x80000000u : bits;
  return f64_of(bits & 0xFFFFFFFF00000000u);
}
static inline double f64_gross_operand(double x) { return f64_flush(f64_of(bits_of_f64(x) & 0xFFFFFFFF00000000u)); }
static inline double f64_rcp_gross(double x) { return f64_flush(f64_upper(1.0 / f64_gross_operand(x))); }
static inline double f64_rsqrt_gross(double x) { return f64_upper(1.0 / __builtin_sqrt(f64_gross_operand(x))); }

// ---- f16, bf16: by f32 -----------------------------------------------------------------------------------------
static inline uint16_t f16_ex2(uint16_t x) { return f32_to_f16(f32_ex2(f16_to_f32(x)), ROUND_RN); }
static inline uint16_t f16_tanh(uint16_t x) { return f32_to_f16(f32_tanh(f16_to_f32(x)), ROUND_RN); }
static inline uint16_t bf16_ex2(uint16_t x) { return f32_to_bf16(f32_ex2(bf16_to_f32(x)), ROUND_RN); }
static inline uint16_t bf16_tanh(uint16_t x) { return f32_to_bf16(f32_tanh(bf16_to_f32(x)), ROUND_RN); }

#endif
