// f64 arithmetic in the directed roundings, on integers. A finite nonzero value is sign, 128-bit
// significand and exponent (value = significand * 2^exponent); bits that fall off the low end are
// remembered in the lowest bit, which is enough for one correct rounding at the end.
// NaN results are the canonical NaN. Source: IEEE 754-2019, sections 4.3, 5.4, 6.3.
#include "isa/float_core.h"

typedef unsigned __int128 Wide;

typedef struct Unpacked {
  Wide significand; // nonzero
  int exponent;
  bool negative;
} Unpacked;

static bool is_zero(double x) { return (bits_of_f64(x) & F64_MAGNITUDE) == 0; }
static bool is_negative(double x) { return bits_of_f64(x) >> 63 != 0; }
static double signed_zero(bool negative) { return f64_of(negative ? F64_SIGN : 0); }
static double signed_infinity(bool negative) { return f64_of(F64_INFINITY | (negative ? F64_SIGN : 0)); }

static unsigned leading_zeros(Wide x) {
  uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
  return high != 0 ? (unsigned)__builtin_clzll(high) : 64u + (unsigned)__builtin_clzll(low);
}

// Shifts right; whatever falls off sets the lowest bit.
static Wide shift_right_jam(Wide x, unsigned count) {
  if (count == 0) return x;
  if (count > 127) return x != 0;
  return (x >> count) | ((x << (128 - count)) != 0);
}

// A finite nonzero value with its leading bit at bit 52, subnormals too.
static Unpacked unpack(double x) {
  uint64_t bits = bits_of_f64(x), fraction = bits & 0x000FFFFFFFFFFFFFu;
  int biased = (int)(bits >> 52 & 0x7FF);
  Unpacked value = {.significand = fraction | 1ull << 52, .exponent = biased - 1075, .negative = bits >> 63 != 0};
  if (biased == 0) {
    unsigned shift = (unsigned)__builtin_clzll(fraction) - 11;
    value.significand = fraction << shift;
    value.exponent = -1074 - (int)shift;
  }
  return value;
}

static bool rounds_away(bool negative, Rounding mode) { return (mode == ROUND_RP && !negative) || (mode == ROUND_RM && negative); }

static double overflow(bool negative, Rounding mode) {
  return rounds_away(negative, mode) || mode == ROUND_RN ? signed_infinity(negative)
                                                         : f64_of((F64_INFINITY - 1) | (negative ? F64_SIGN : 0));
}

static double round_pack(Unpacked value, Rounding mode) {
  unsigned zeros = leading_zeros(value.significand);
  Wide significand = value.significand << zeros;
  int top = value.exponent - (int)zeros + 127; // exponent of the leading bit
  if (top > 1023) return overflow(value.negative, mode);
  unsigned shift = 75; // keep 53 bits
  if (top < -1022) shift += (unsigned)(-1022 - top);
  if (shift > 127) significand = shift_right_jam(significand, shift - 127), shift = 127;
  uint64_t kept = (uint64_t)(significand >> shift);
  Wide rest = significand << (128 - shift), half = (Wide)1 << 127;
  bool up = mode == ROUND_RN ? rest > half || (rest == half && (kept & 1) != 0) : rest != 0 && rounds_away(value.negative, mode);
  kept += up;
  // The leading bit of a normal value adds one to the exponent field, a carry another.
  uint64_t field = top < -1022 ? 0 : (uint64_t)(top + 1022);
  uint64_t bits = (field << 52) + kept;
  if (bits >= F64_INFINITY) return overflow(value.negative, mode);
  return f64_of(bits | (value.negative ? F64_SIGN : 0));
}

// x + y with leading bits at most at bit 124 and at least 20 zero bits below an operand of 106 bits.
static double add_unpacked(Unpacked x, Unpacked y, Rounding mode) {
  int x_top = x.exponent - (int)leading_zeros(x.significand), y_top = y.exponent - (int)leading_zeros(y.significand);
  if (x_top < y_top) {
    Unpacked swap = x;
    x = y;
    y = swap;
  }
  unsigned x_zeros = leading_zeros(x.significand) - 3, y_zeros = leading_zeros(y.significand) - 3;
  x.significand <<= x_zeros, x.exponent -= (int)x_zeros;
  y.significand <<= y_zeros, y.exponent -= (int)y_zeros;
  y.significand = shift_right_jam(y.significand, (unsigned)(x.exponent - y.exponent));
  if (x.negative == y.negative) {
    x.significand += y.significand;
  } else if (x.significand >= y.significand) {
    x.significand -= y.significand;
  } else {
    x.significand = y.significand - x.significand;
    x.negative = y.negative;
  }
  if (x.significand == 0) return signed_zero(mode == ROUND_RM);
  return round_pack(x, mode);
}

// Sum of two zeros: unlike signs give -0 when rounding down, +0 otherwise.
static double add_zeros(bool a_negative, bool b_negative, Rounding mode) {
  return signed_zero(a_negative == b_negative ? a_negative : mode == ROUND_RM);
}

double f64_add_directed(double a, double b, Rounding mode) {
  if (!f64_is_finite(a) || !f64_is_finite(b)) return f64_canonical(a + b);
  if (is_zero(a)) return is_zero(b) ? add_zeros(is_negative(a), is_negative(b), mode) : b;
  if (is_zero(b)) return a;
  return add_unpacked(unpack(a), unpack(b), mode);
}

static Unpacked multiply(double a, double b) {
  Unpacked x = unpack(a), y = unpack(b);
  return (Unpacked){x.significand * y.significand, x.exponent + y.exponent, x.negative != y.negative};
}

double f64_mul_directed(double a, double b, Rounding mode) {
  if (!f64_is_finite(a) || !f64_is_finite(b) || is_zero(a) || is_zero(b)) return f64_canonical(a * b);
  return round_pack(multiply(a, b), mode);
}

double f64_fma_directed(double a, double b, double c, Rounding mode) {
  if (!f64_is_finite(a) || !f64_is_finite(b)) return f64_canonical(a * b + c);
  if (!f64_is_finite(c)) return f64_canonical(c);
  bool product_negative = is_negative(a) != is_negative(b);
  if (is_zero(a) || is_zero(b)) return is_zero(c) ? add_zeros(product_negative, is_negative(c), mode) : c;
  if (is_zero(c)) return round_pack(multiply(a, b), mode);
  return add_unpacked(multiply(a, b), unpack(c), mode);
}

double f64_div_directed(double a, double b, Rounding mode) {
  if (!f64_is_finite(a) || !f64_is_finite(b) || is_zero(a) || is_zero(b)) return f64_canonical(a / b);
  Unpacked x = unpack(a), y = unpack(b);
  Wide dividend = x.significand << 64, quotient = dividend / y.significand; // at least 64 bits
  bool inexact = quotient * y.significand != dividend;
  return round_pack((Unpacked){quotient << 1 | inexact, x.exponent - y.exponent - 65, x.negative != y.negative}, mode);
}

double f64_sqrt_directed(double a, Rounding mode) {
  if (!f64_is_finite(a) || is_zero(a) || is_negative(a)) return f64_canonical(__builtin_sqrt(a));
  Unpacked x = unpack(a);
  if ((x.exponent & 1) != 0) x.significand <<= 1, x.exponent--;
  // Nearest root of the significand, then which side of it the exact root lies: both squares fit in 128 bits.
  double nearest = __builtin_sqrt((double)(uint64_t)x.significand);
  Unpacked root = unpack(nearest);
  int doubled = -2 * root.exponent; // nearest^2 = root.significand^2 * 2^-doubled, doubled in 50..56
  Wide square = root.significand * root.significand, exact = x.significand << doubled;
  root.exponent += x.exponent / 2;
  root.significand <<= 2, root.exponent -= 2;
  if (exact > square) root.significand += 1;
  if (exact < square) root.significand -= 1;
  return round_pack(root, mode);
}
