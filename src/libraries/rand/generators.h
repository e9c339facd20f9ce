// The generators of cuRAND by their published algorithms, for the host (C) and for kernels.cu alike: same bits on both sides.
//
// - XORWOW: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003, section 3.1.
// - Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
// - MRG32k3a: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators",
//   Operations Research 47 (1), 1999, figure I.
//
// A generator is one sequence of 32-bit words. Threads begin at places of it that they reach by skipping ahead: a multiplication by a
// power of the generator's matrix.
#ifndef REDOUBT_LIBRARIES_RAND_GENERATORS_H
#define REDOUBT_LIBRARIES_RAND_GENERATORS_H

#ifdef __CUDA__
#define RAND_FUNCTION static __attribute__((device)) __inline__ __attribute__((always_inline))
#else
#define RAND_FUNCTION static inline
#endif

typedef unsigned RandWord;
typedef unsigned long long RandLong;

enum { RAND_XORWOW, RAND_PHILOX, RAND_MRG };

// ---- XORWOW ----------------------------------------------------------------------------------------

enum { XORWOW_WORDS = 5, XORWOW_BITS = 160, XORWOW_ADDEND = 362437 };
typedef struct Xorwow {
  RandWord x[XORWOW_WORDS]; // a linear generator over bits
  RandWord counter;         // and an arithmetic sequence, which is added
} Xorwow;

RAND_FUNCTION RandWord xorwow_next(Xorwow *s) {
  RandWord t = s->x[0] ^ (s->x[0] >> 2);
  s->x[0] = s->x[1];
  s->x[1] = s->x[2];
  s->x[2] = s->x[3];
  s->x[3] = s->x[4];
  s->x[4] = (s->x[4] ^ (s->x[4] << 4)) ^ (t ^ (t << 1));
  s->counter += XORWOW_ADDEND;
  return s->counter + s->x[4];
}

// What some number of steps does to the linear part: column i is what becomes of a state whose bit i alone is set.
typedef struct XorwowMatrix {
  RandWord column[XORWOW_BITS][XORWOW_WORDS];
} XorwowMatrix;

RAND_FUNCTION void xorwow_multiply(RandWord *x, const XorwowMatrix *matrix) {
  RandWord product[XORWOW_WORDS] = {0, 0, 0, 0, 0};
  for (int bit = 0; bit < XORWOW_BITS; bit++) {
    RandWord all = 0 - (x[bit / 32] >> bit % 32 & 1);
    for (int word = 0; word < XORWOW_WORDS; word++) product[word] ^= matrix->column[bit][word] & all;
  }
  for (int word = 0; word < XORWOW_WORDS; word++) x[word] = product[word];
}

// ---- Philox ----------------------------------------------------------------------------------------

typedef struct PhiloxBlock {
  RandWord word[4];
} PhiloxBlock;

RAND_FUNCTION PhiloxBlock philox(PhiloxBlock counter, RandWord key0, RandWord key1) {
  for (int round = 0; round < 10; round++) {
    RandLong first = 0xD2511F53ull * counter.word[0], second = 0xCD9E8D57ull * counter.word[2];
    PhiloxBlock next = {{(RandWord)(second >> 32) ^ counter.word[1] ^ key0, (RandWord)second,
                         (RandWord)(first >> 32) ^ counter.word[3] ^ key1, (RandWord)first}};
    counter = next;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

// ---- MRG32k3a --------------------------------------------------------------------------------------

#define MRG_M1 4294967087ull
#define MRG_M2 4294944443ull
#define MRG_NORM 2.328306549295727688e-10 // 1 / (m1 + 1)
enum { MRG_A12 = 1403580, MRG_A13 = 810728, MRG_A21 = 527612, MRG_A23 = 1370589 };
typedef struct Mrg { // the last three numbers of both components, the oldest first
  RandLong first[3], second[3];
} Mrg;

RAND_FUNCTION RandWord mrg_next(Mrg *s) { // 1 ... m1
  RandLong p1 = (MRG_A12 * s->first[1] + MRG_A13 * (MRG_M1 - s->first[0])) % MRG_M1;
  RandLong p2 = (MRG_A21 * s->second[2] + MRG_A23 * (MRG_M2 - s->second[0])) % MRG_M2;
  s->first[0] = s->first[1], s->first[1] = s->first[2], s->first[2] = p1;
  s->second[0] = s->second[1], s->second[1] = s->second[2], s->second[2] = p2;
  return (RandWord)(p1 <= p2 ? p1 + MRG_M1 - p2 : p1 - p2);
}

typedef struct MrgMatrix { // what some number of steps does
  RandLong first[3][3], second[3][3];
} MrgMatrix;

RAND_FUNCTION void mrg_multiply_one(RandLong *x, const RandLong (*matrix)[3], RandLong modulus) {
  RandLong product[3];
  for (int row = 0; row < 3; row++) {
    RandLong sum = 0;
    for (int i = 0; i < 3; i++) sum = (sum + matrix[row][i] * x[i] % modulus) % modulus;
    product[row] = sum;
  }
  for (int row = 0; row < 3; row++) x[row] = product[row];
}
RAND_FUNCTION void mrg_multiply(Mrg *s, const MrgMatrix *matrix) {
  mrg_multiply_one(s->first, matrix->first, MRG_M1);
  mrg_multiply_one(s->second, matrix->second, MRG_M2);
}

#endif
