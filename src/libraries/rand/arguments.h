// What the kernels of cuRAND are given: the same for the host (C) and for kernels.cu.
#ifndef REDOUBT_LIBRARIES_RAND_ARGUMENTS_H
#define REDOUBT_LIBRARIES_RAND_ARGUMENTS_H

#include "generators.h"

enum {
  RAND_THREADS = 128,      // of a block
  RAND_CHUNK = 64,         // words of a thread, at least
  RAND_MOST = 2048,        // threads of a generator, at most; a chunk becomes longer
  RAND_LEVELS = 11,        // matrices that reach each of them
  RAND_MOST_BLOCKS = 1024, // of kernels for single numbers
};

typedef struct RandWords { // words of a generator
  RandWord *to;
  long long count, stride; // how many; to[i * stride] is word i
  long long chunk;         // words of a thread
  Xorwow xorwow;           // states before the first word
  Mrg mrg;
  const void *matrices; // RAND_LEVELS of them: chunk, 2 chunk, 4 chunk, ... steps
  RandWord key[2];      // Philox
  RandLong first;       // its number of the first word
} RandWords;

typedef struct RandNumbers { // words become numbers, where they lie
  void *at;
  long long count;
  double mean, deviation; // Poisson: lambda, e^-lambda
  long long generator;
  long long exponential; // log-normal
} RandNumbers;

#endif
