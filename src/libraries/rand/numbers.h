// Numbers of distributions from words of a generator, for the host (C) and for kernels.cu alike. Functions are of our own, from
// additions, products, quotients and roots that IEEE 754 defines, so that both sides have the same bits: errors of some units in the
// last place, which the test bounds.
#ifndef REDOUBT_LIBRARIES_RAND_NUMBERS_H
#define REDOUBT_LIBRARIES_RAND_NUMBERS_H

#include "generators.h"

#ifdef __CUDA__
RAND_FUNCTION double rand_fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
RAND_FUNCTION double rand_root(double x) { return __nvvm_sqrt_rn_d(x); }
RAND_FUNCTION double rand_product(double a, double b) { return __nvvm_mul_rn_d(a, b); }
RAND_FUNCTION double rand_sum(double a, double b) { return __nvvm_add_rn_d(a, b); }
RAND_FUNCTION double rand_quotient(double a, double b) { return __nvvm_div_rn_d(a, b); }
RAND_FUNCTION RandLong rand_bits(double x) { return __builtin_bit_cast(RandLong, x); }
RAND_FUNCTION double rand_of_bits(RandLong bits) { return __builtin_bit_cast(double, bits); }
#else
#include <math.h>
#include <string.h>
RAND_FUNCTION double rand_fma(double a, double b, double c) { return fma(a, b, c); }
RAND_FUNCTION double rand_root(double x) { return sqrt(x); }
RAND_FUNCTION double rand_product(double a, double b) { return a * b; }
RAND_FUNCTION double rand_sum(double a, double b) { return a + b; }
RAND_FUNCTION double rand_quotient(double a, double b) { return a / b; }
RAND_FUNCTION RandLong rand_bits(double x) {
  RandLong bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
RAND_FUNCTION double rand_of_bits(RandLong bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
#endif

#define RAND_PI 3.14159265358979311600
#define RAND_LN2_HIGH 6.93147180369123816490e-01 // its last 32 bits are 0: products with small integers are exact
#define RAND_LN2_LOW 1.90821492927058770002e-10
#define RAND_LOG2E 1.44269504088896338700

// ---- Functions -------------------------------------------------------------------------------------

// ln x, x a normal number above 0: x = 2^e m with m about 1; ln m = 2 artanh((m - 1) / (m + 1)).
RAND_FUNCTION double rand_log(double x) {
  RandLong bits = rand_bits(x), middle = 0x3fe6a09e667f3bcdull; // sqrt(1/2)
  long long exponent = (long long)(bits - middle) >> 52;
  double m = rand_of_bits(bits - ((RandLong)exponent << 52));
  double s = rand_quotient(rand_sum(m, -1), rand_sum(m, 1)), z = rand_product(s, s), sum = 0;
  for (int k = 11; k >= 1; k--) sum = rand_fma(sum, z, rand_quotient(1, 2 * k + 1));
  double tail = rand_product(rand_product(s, z), sum), e = (double)exponent; // artanh s = s + s z (1/3 + z/5 + ...)
  double low = rand_fma(e, RAND_LN2_LOW, rand_product(2, tail));
  return rand_fma(e, RAND_LN2_HIGH, rand_fma(2, s, low));
}

// sin and cos of 2 pi u, u in [0, 1]: u is brought to [-1/8, 1/8] by quarters of a turn, where both are short series.
typedef struct RandPair {
  double first, second;
} RandPair;
RAND_FUNCTION RandPair rand_turn(double u) { // {sin, cos}
  int quarter = (int)rand_fma(u, 4, 0.5);
  double x = rand_product(rand_fma(quarter, -0.25, u), 2 * RAND_PI), z = rand_product(x, x), sine = 0, cosine = 0;
  double sine_divisors[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
  double cosine_divisors[] = {-1.0 / 2,       1.0 / 24,          -1.0 / 720,           1.0 / 40320,
                              -1.0 / 3628800, 1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
  for (int k = 6; k >= 0; k--) sine = rand_fma(sine, z, sine_divisors[k]);
  for (int k = 7; k >= 0; k--) cosine = rand_fma(cosine, z, cosine_divisors[k]);
  sine = rand_fma(rand_product(x, z), sine, x);
  cosine = rand_fma(cosine, z, 1);
  double s = quarter & 1 ? cosine : sine, c = quarter & 1 ? sine : cosine;
  RandPair result = {quarter & 2 ? -s : s, (quarter + 1) & 2 ? -c : c};
  return result;
}

// e^x = 2^k e^r, |r| at most ln 2 / 2.
RAND_FUNCTION double rand_exp(double x) {
  if (x > 709.7) return rand_of_bits(0x7ff0000000000000ull);
  if (x < -708) return 0;
  double turns = rand_product(x, RAND_LOG2E);
  int k = (int)(turns < 0 ? rand_sum(turns, -0.5) : rand_sum(turns, 0.5));
  double r = rand_fma(k, -RAND_LN2_LOW, rand_fma(k, -RAND_LN2_HIGH, x)), sum = 1;
  for (int i = 13; i >= 1; i--) sum = rand_fma(rand_quotient(r, i), sum, 1);
  int half = k / 2; // 2^k may be too large by itself
  return rand_product(rand_product(sum, rand_of_bits((RandLong)(half + 1023) << 52)), rand_of_bits((RandLong)(k - half + 1023) << 52));
}

// ---- Distributions ---------------------------------------------------------------------------------

// In (0, 1], of one word. MRG32k3a's words are 1 ... m1: its own numbers, in (0, 1).
RAND_FUNCTION double rand_uniform_of_word(int generator, RandWord word) {
  if (generator == RAND_MRG) return rand_product(word, MRG_NORM);
  return rand_product(rand_sum(word, 1), 1.0 / 4294967296.0);
}
// Of two words: 53 bits. MRG32k3a takes the first alone, as published.
RAND_FUNCTION double rand_uniform_of_words(int generator, RandWord low, RandWord high) {
  if (generator == RAND_MRG) return rand_uniform_of_word(generator, low);
  return rand_product(rand_sum((double)(((RandLong)high << 32 | low) >> 11), 1), 1.0 / 9007199254740992.0);
}
// Two numbers of the standard normal distribution (Box and Muller, 1958).
RAND_FUNCTION RandPair rand_normals(double u, double v) {
  double radius = rand_root(rand_product(-2, rand_log(u)));
  RandPair turn = rand_turn(v), result = {rand_product(radius, turn.first), rand_product(radius, turn.second)};
  return result;
}

// Poisson, by inversion: how many terms of the distribution it takes until their sum reaches the middle of the word's interval.
// A larger lambda than this has a first term, e^-lambda, that is no normal number.
#define POISSON_MOST 700.0
RAND_FUNCTION RandWord rand_poisson(int generator, RandWord word, double lambda, double first) {
  double u = generator == RAND_MRG ? rand_uniform_of_word(generator, word) : rand_product(rand_sum(word, 0.5), 1.0 / 4294967296.0);
  double term = first, sum = first;
  RandWord n = 0;
  while (u > sum && term > 0) {
    n++;
    term = rand_quotient(rand_product(term, lambda), n);
    sum = rand_sum(sum, term);
  }
  return n;
}

#endif
