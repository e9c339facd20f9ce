// Generators as sequences: seeds, and skipping ahead by powers of two.
#include "libraries/rand/rand.h"

#include <stdlib.h>
#include <string.h>

// ---- Seeds -----------------------------------------------------------------------------------------

// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
static uint64_t split_mix(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Seed 0 is the state that the publication begins with. Other seeds fill the state with words of SplitMix64.
static Xorwow xorwow_seeded(uint64_t seed) {
  Xorwow state = {{123456789, 362436069, 521288629, 88675123, 5783321}, 6615241};
  RandWord last = state.x[4], any = 0;
  if (seed == 0) return state;
  for (int i = 0; i < XORWOW_WORDS; i++) any |= state.x[i] = (RandWord)split_mix(&seed);
  if (any == 0) state.x[4] = last; // a state of zeros would stay so
  state.counter = (RandWord)split_mix(&seed);
  return state;
}

static Mrg mrg_seeded(uint64_t seed) {
  enum { PUBLISHED = 12345 };
  Mrg state = {{PUBLISHED, PUBLISHED, PUBLISHED}, {PUBLISHED, PUBLISHED, PUBLISHED}};
  if (seed == 0) return state;
  for (int i = 0; i < 3; i++) state.first[i] = 1 + split_mix(&seed) % (MRG_M1 - 1);
  for (int i = 0; i < 3; i++) state.second[i] = 1 + split_mix(&seed) % (MRG_M2 - 1);
  return state;
}

void sequence_seed(Sequence *sequence, uint64_t seed) {
  sequence->xorwow = xorwow_seeded(seed);
  sequence->mrg = mrg_seeded(seed);
  sequence->key[0] = (RandWord)seed;
  sequence->key[1] = (RandWord)(seed >> 32);
}

// ---- Powers ----------------------------------------------------------------------------------------

// One step of a state with one bit set says where that bit goes; a square is the matrix applied to its own columns.
static void xorwow_powers(XorwowMatrix *powers) {
  for (int bit = 0; bit < XORWOW_BITS; bit++) {
    Xorwow state = {0};
    state.x[bit / 32] = (RandWord)1 << bit % 32;
    xorwow_next(&state);
    memcpy(powers[0].column[bit], state.x, sizeof state.x);
  }
  for (int i = 1; i < RAND_POWERS; i++) {
    powers[i] = powers[i - 1];
    for (int bit = 0; bit < XORWOW_BITS; bit++) xorwow_multiply(powers[i].column[bit], &powers[i - 1]);
  }
}

static void square(RandLong (*to)[3], const RandLong (*from)[3], RandLong modulus) {
  for (int column = 0; column < 3; column++) {
    RandLong x[3] = {from[0][column], from[1][column], from[2][column]};
    mrg_multiply_one(x, from, modulus);
    for (int row = 0; row < 3; row++) to[row][column] = x[row];
  }
}

static void mrg_powers(MrgMatrix *powers) {
  powers[0] = (MrgMatrix){{{0, 1, 0}, {0, 0, 1}, {MRG_M1 - MRG_A13, MRG_A12, 0}}, {{0, 1, 0}, {0, 0, 1}, {MRG_M2 - MRG_A23, 0, MRG_A21}}};
  for (int i = 1; i < RAND_POWERS; i++) {
    square(powers[i].first, powers[i - 1].first, MRG_M1);
    square(powers[i].second, powers[i - 1].second, MRG_M2);
  }
}

size_t sequence_matrix_bytes(const Sequence *sequence) {
  static const size_t bytes[] = {[RAND_XORWOW] = sizeof(XorwowMatrix), [RAND_PHILOX] = 0, [RAND_MRG] = sizeof(MrgMatrix)};
  return bytes[sequence->generator];
}

bool sequence_new(Sequence *sequence, int generator) {
  *sequence = (Sequence){.generator = generator};
  sequence_seed(sequence, 0);
  size_t bytes = sequence_matrix_bytes(sequence);
  if (bytes == 0) return true;
  sequence->powers = malloc(bytes * RAND_POWERS);
  if (sequence->powers == NULL) return false;
  if (generator == RAND_XORWOW) xorwow_powers(sequence->powers);
  else mrg_powers(sequence->powers);
  return true;
}

void sequence_free(Sequence *sequence) { free(sequence->powers); }

RandWords sequence_at(const Sequence *sequence, uint64_t position) {
  RandWords words = {.xorwow = sequence->xorwow, .mrg = sequence->mrg, .first = position};
  memcpy(words.key, sequence->key, sizeof words.key);
  for (int i = 0; i < RAND_POWERS; i++) {
    bool skips = position >> i & 1;
    if (skips && sequence->generator == RAND_XORWOW) xorwow_multiply(words.xorwow.x, (const XorwowMatrix *)sequence->powers + i);
    if (skips && sequence->generator == RAND_MRG) mrg_multiply(&words.mrg, (const MrgMatrix *)sequence->powers + i);
  }
  words.xorwow.counter += (RandWord)position * XORWOW_ADDEND;
  return words;
}
