// What the files of cuRAND share. Numbers of enumerations and prototypes are those of the interface of cuRAND.
#ifndef REDOUBT_LIBRARIES_RAND_H
#define REDOUBT_LIBRARIES_RAND_H

#include "libraries/cuda.h"
#include "libraries/rand/arguments.h"

typedef enum RandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_INTERNAL_ERROR = 999,
} RandStatus;

enum { RAND_POWERS = 64 }; // matrices of 1, 2, 4, ... steps

// ---- Sequences (sequence.c) ------------------------------------------------------------------------
typedef struct Sequence { // where a generator begins, and how to get further
  int generator;          // RAND_XORWOW, ...
  Xorwow xorwow;
  Mrg mrg;
  RandWord key[2];
  void *powers; // RAND_POWERS XorwowMatrix or MrgMatrix; malloc; Philox needs none
} Sequence;
bool sequence_new(Sequence *sequence, int generator); // seed 0; false: no memory
void sequence_free(Sequence *sequence);
void sequence_seed(Sequence *sequence, uint64_t seed);
size_t sequence_matrix_bytes(const Sequence *sequence); // of one; 0: none

// States before word `position`, where a kernel or the host begins. `count` and `stride` are the caller's.
RandWords sequence_at(const Sequence *sequence, uint64_t position);

// ---- On the host (host.c): what the kernels do -----------------------------------------------------
void host_words(int generator, RandWords *words);
void host_numbers(const char *kernel, const RandNumbers *numbers);

#endif
