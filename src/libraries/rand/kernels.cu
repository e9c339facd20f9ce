// The kernels of Redoubt's cuRAND: a generator fills memory with words, then the words become numbers in the same place.
// `make ptx` makes kernels.ptx of it with clang.
#include "../../../workloads/cuda.h"
#include "arguments.h"
#include "numbers.h"

#define KERNEL extern "C" __global__ void
typedef long long Index;

static __device__ __forceinline__ Index thread_number(void) { return (Index)blockIdx.x * RAND_THREADS + threadIdx.x; }

// ---- Words -----------------------------------------------------------------------------------------

// A thread's chunk begins at chunk * thread: the matrices of the bits of its number lead there.
KERNEL curand_xorwow(RandWords w) {
  Index thread = thread_number(), begin = thread * w.chunk, end = begin + w.chunk < w.count ? begin + w.chunk : w.count;
  if (begin >= w.count) return;
  Xorwow state = w.xorwow;
  const XorwowMatrix *matrices = (const XorwowMatrix *)w.matrices;
#pragma unroll 1
  for (int level = 0; level < RAND_LEVELS; level++) {
    if ((thread >> level & 1) == 0) continue;
    RandWord product[XORWOW_WORDS] = {0, 0, 0, 0, 0};
#pragma unroll
    for (int word = 0; word < XORWOW_WORDS; word++) {
#pragma unroll 1
      for (int bit = 0; bit < 32; bit++) {
        RandWord all = 0 - (state.x[word] >> bit & 1);
#pragma unroll
        for (int i = 0; i < XORWOW_WORDS; i++) product[i] ^= matrices[level].column[word * 32 + bit][i] & all;
      }
    }
#pragma unroll
    for (int i = 0; i < XORWOW_WORDS; i++) state.x[i] = product[i];
  }
  state.counter += (RandWord)begin * XORWOW_ADDEND;
  for (Index i = begin; i < end; i++) w.to[i * w.stride] = xorwow_next(&state);
}

KERNEL curand_mrg32k3a(RandWords w) {
  Index thread = thread_number(), begin = thread * w.chunk, end = begin + w.chunk < w.count ? begin + w.chunk : w.count;
  if (begin >= w.count) return;
  Mrg state = w.mrg;
  const MrgMatrix *matrices = (const MrgMatrix *)w.matrices;
#pragma unroll 1
  for (int level = 0; level < RAND_LEVELS; level++) {
    if (thread >> level & 1) mrg_multiply(&state, &matrices[level]);
  }
  for (Index i = begin; i < end; i++) w.to[i * w.stride] = mrg_next(&state);
}

// A thread makes whole blocks of four words: those whose numbers begin at a multiple of four.
KERNEL curand_philox(RandWords w) {
  RandLong first_block = w.first / 4;
  Index blocks = (Index)((w.first + (RandLong)w.count + 3) / 4 - first_block);
  for (Index i = thread_number(); i < blocks; i += (Index)gridDim.x * RAND_THREADS) {
    RandLong number = first_block + (RandLong)i;
    PhiloxBlock counter = {{(RandWord)number, (RandWord)(number >> 32), 0, 0}}, words = philox(counter, w.key[0], w.key[1]);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      Index at = (Index)(number * 4 + k - w.first);
      if (at >= 0 && at < w.count) w.to[at * w.stride] = words.word[k];
    }
  }
}

// ---- Numbers ---------------------------------------------------------------------------------------

static __device__ __forceinline__ Index next(Index i) { return i + (Index)gridDim.x * RAND_THREADS; }

KERNEL curand_uniform(RandNumbers r) {
  for (Index i = thread_number(); i < r.count; i = next(i)) {
    RandWord word = ((const RandWord *)r.at)[i];
    ((float *)r.at)[i] = (float)rand_uniform_of_word((int)r.generator, word);
  }
}
KERNEL curand_uniform_double(RandNumbers r) {
  for (Index i = thread_number(); i < r.count; i = next(i)) {
    const RandWord *words = (const RandWord *)r.at + 2 * i;
    RandWord low = words[0], high = words[1];
    ((double *)r.at)[i] = rand_uniform_of_words((int)r.generator, low, high);
  }
}

static __device__ __forceinline__ double placed(const RandNumbers &r, double x) {
  double number = rand_fma(x, r.deviation, r.mean);
  return r.exponential ? rand_exp(number) : number;
}
KERNEL curand_normal(RandNumbers r) {
  for (Index i = thread_number(); i < r.count / 2; i = next(i)) {
    const RandWord *words = (const RandWord *)r.at + 2 * i;
    float *to = (float *)r.at + 2 * i;
    RandPair pair = rand_normals(rand_uniform_of_word((int)r.generator, words[0]), rand_uniform_of_word((int)r.generator, words[1]));
    to[0] = (float)placed(r, pair.first);
    to[1] = (float)placed(r, pair.second);
  }
}
KERNEL curand_normal_double(RandNumbers r) {
  for (Index i = thread_number(); i < r.count / 2; i = next(i)) {
    const RandWord *words = (const RandWord *)r.at + 4 * i;
    double *to = (double *)r.at + 2 * i;
    double u = rand_uniform_of_words((int)r.generator, words[0], words[1]), v = rand_uniform_of_words((int)r.generator, words[2], words[3]);
    RandPair pair = rand_normals(u, v);
    to[0] = placed(r, pair.first);
    to[1] = placed(r, pair.second);
  }
}

KERNEL curand_poisson(RandNumbers r) {
  for (Index i = thread_number(); i < r.count; i = next(i)) {
    RandWord *at = (RandWord *)r.at + i;
    *at = rand_poisson((int)r.generator, *at, r.mean, r.deviation);
  }
}
