// The host interface of cuRAND. A generator for the device launches kernels: one for the words, one that makes numbers of them.
#include "libraries/rand/rand.h"

#include "libraries/rand/numbers.h"

#include <stdlib.h>

enum { NEWEST_GENERATION = 13, VERSION_MAJOR = 10 };

extern const char rand_ptx[];
static Kernels kernels = {.file = "libcurand:kernels.ptx", .text = rand_ptx};

typedef struct Generator { // curandGenerator_t
  Sequence sequence;
  bool on_host;
  uint64_t offset, position; // of the next word
  void *stream;
  const Cuda *cuda;   // once it is needed: by then the program has chosen its runtime
  void *matrices;     // in device memory; NULL: none yet
  long long uploaded; // steps of the first of them
} Generator;

#define API(name, ...)                         \
  LIBRARY_EXPORT RandStatus name(__VA_ARGS__); \
  RandStatus name(__VA_ARGS__)

static Handles generators;

static bool is_generator(const Generator *generator) { return handles_have(&generators, generator); }

// ---- Making and setting ----------------------------------------------------------------------------

static int generator_of(int type) {
  enum { DEFAULT = 100, XORWOW = 101, MRG32K3A = 121, PHILOX = 161 };
  switch (type) {
  case DEFAULT:
  case XORWOW: return RAND_XORWOW;
  case MRG32K3A: return RAND_MRG;
  case PHILOX: return RAND_PHILOX;
  default: return -1;
  }
}

static RandStatus create(Generator **result, int type, bool on_host) {
  if (result == NULL) return CURAND_STATUS_INTERNAL_ERROR;
  *result = NULL;
  int kind = generator_of(type);
  if (kind < 0) {
    library_say("cuRAND's generator %d is not offered: XORWOW, MRG32K3A and PHILOX4_32_10 are; CURAND_STATUS_TYPE_ERROR is returned "
                "(docs/libraries.md)",
                type);
    return CURAND_STATUS_TYPE_ERROR;
  }
  Generator *generator = calloc(1, sizeof *generator);
  if (generator == NULL || !sequence_new(&generator->sequence, kind)) {
    free(generator);
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  generator->on_host = on_host;
  if (!handles_add(&generators, generator)) {
    sequence_free(&generator->sequence);
    free(generator);
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  *result = generator;
  return CURAND_STATUS_SUCCESS;
}

API(curandCreateGenerator, Generator **generator, int type) { return create(generator, type, false); }
API(curandCreateGeneratorHost, Generator **generator, int type) { return create(generator, type, true); }

API(curandDestroyGenerator, Generator *generator) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->matrices != NULL) generator->cuda->cudaFree(generator->matrices);
  sequence_free(&generator->sequence);
  handles_remove(&generators, generator);
  free(generator);
  return CURAND_STATUS_SUCCESS;
}

API(curandSetStream, Generator *generator, void *stream) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

API(curandSetPseudoRandomGeneratorSeed, Generator *generator, unsigned long long seed) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  sequence_seed(&generator->sequence, seed);
  generator->position = generator->offset;
  return CURAND_STATUS_SUCCESS;
}

API(curandSetGeneratorOffset, Generator *generator, unsigned long long offset) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = generator->position = offset;
  return CURAND_STATUS_SUCCESS;
}

// There is one order, that of the published sequence.
API(curandSetGeneratorOrdering, Generator *generator, int ordering) {
  enum { PSEUDO_BEST = 100, PSEUDO_DYNAMIC = 104 };
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  return ordering >= PSEUDO_BEST && ordering <= PSEUDO_DYNAMIC ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

API(curandSetQuasiRandomGeneratorDimensions, Generator *generator, unsigned dimensions) {
  (void)dimensions;
  return is_generator(generator) ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

API(curandGenerateSeeds, Generator *generator) { return is_generator(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED; }

API(curandGetVersion, int *version) {
  enum { MAJOR = 1000 };
  if (version == NULL) return CURAND_STATUS_OUT_OF_RANGE;
  *version = VERSION_MAJOR * MAJOR;
  return CURAND_STATUS_SUCCESS;
}

API(curandGetProperty, int property, int *value) {
  enum { PROPERTY_MAJOR, PROPERTY_PATCH = 2 };
  if (value == NULL || property < PROPERTY_MAJOR || property > PROPERTY_PATCH) return CURAND_STATUS_OUT_OF_RANGE;
  *value = property == PROPERTY_MAJOR ? VERSION_MAJOR : 0;
  return CURAND_STATUS_SUCCESS;
}

// ---- Generating ------------------------------------------------------------------------------------

// Matrices that take a thread to its chunk.
static bool upload(Generator *generator, RandWords *words) {
  size_t bytes = sequence_matrix_bytes(&generator->sequence);
  long long chunk = RAND_CHUNK;
  int power = 6;
  while (chunk * RAND_MOST < words->count) chunk *= 2, power++;
  words->chunk = chunk;
  if (bytes == 0) return true;
  if (generator->matrices == NULL && generator->cuda->cudaMalloc(&generator->matrices, bytes * RAND_LEVELS) != 0) return false;
  words->matrices = generator->matrices;
  if (generator->uploaded == chunk) return true;
  const uint8_t *from = (const uint8_t *)generator->sequence.powers + bytes * (size_t)power;
  bool good = generator->cuda->cudaMemcpyAsync(generator->matrices, from, bytes * RAND_LEVELS, CUDA_COPY_DEFAULT, generator->stream) == 0;
  generator->uploaded = good ? chunk : 0;
  return good;
}

static CudaGrid blocks_for(long long threads) {
  long long blocks = (threads + RAND_THREADS - 1) / RAND_THREADS;
  return (CudaGrid){(unsigned)(blocks < RAND_MOST_BLOCKS ? blocks : RAND_MOST_BLOCKS), 1, 1};
}

static bool launch(const Generator *generator, const char *kernel, long long threads, void *argument) {
  return kernels_launch(&kernels, generator->cuda, kernel, blocks_for(threads), (CudaGrid){RAND_THREADS, 1, 1}, argument,
                        generator->stream);
}

static RandStatus put_words(Generator *generator, RandWords *words) {
  static const char *const names[] = {[RAND_XORWOW] = "curand_xorwow", [RAND_PHILOX] = "curand_philox", [RAND_MRG] = "curand_mrg32k3a"};
  int kind = generator->sequence.generator;
  if (generator->on_host) {
    host_words(kind, words);
    return CURAND_STATUS_SUCCESS;
  }
  if (generator->cuda == NULL) generator->cuda = cuda_of_process(NEWEST_GENERATION);
  if (generator->cuda == NULL) return CURAND_STATUS_INITIALIZATION_FAILED;
  if (!upload(generator, words)) return CURAND_STATUS_ALLOCATION_FAILED;
  long long threads = kind == RAND_PHILOX ? words->count / 4 + 2 : (words->count + words->chunk - 1) / words->chunk;
  return launch(generator, names[kind], threads, words) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

typedef struct Wish {
  const char *kernel; // NULL: words are what is wanted
  long long words;    // of a number
  bool in_pairs;      // numbers are made two at a time
  double mean, deviation;
  bool exponential;
} Wish;

static RandStatus generate(Generator *generator, void *to, size_t count, const Wish *wish) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (wish->in_pairs && count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  if (count > INT64_MAX / 16 || (to == NULL && count > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  int kind = generator->sequence.generator;
  bool has_gaps = wish->words == 2 && kind == RAND_MRG; // whose numbers take one word: the other stays empty
  RandWords words = sequence_at(&generator->sequence, generator->position);
  words.to = to;
  words.count = (long long)count * (has_gaps ? 1 : wish->words);
  words.stride = has_gaps ? 2 : 1;
  long long made = words.count;
  RandStatus status = put_words(generator, &words);
  if (status != CURAND_STATUS_SUCCESS) return status;
  generator->position += (uint64_t)made;
  RandNumbers numbers = {.at = to,
                         .count = (long long)count,
                         .mean = wish->mean,
                         .deviation = wish->deviation,
                         .generator = kind,
                         .exponential = wish->exponential};
  if (wish->kernel == NULL) return CURAND_STATUS_SUCCESS;
  if (generator->on_host) host_numbers(wish->kernel, &numbers);
  else if (!launch(generator, wish->kernel, numbers.count, &numbers)) return CURAND_STATUS_LAUNCH_FAILURE;
  return CURAND_STATUS_SUCCESS;
}

API(curandGenerate, Generator *generator, unsigned *to, size_t count) { return generate(generator, to, count, &(Wish){.words = 1}); }
API(curandGenerateLongLong, Generator *generator, unsigned long long *to, size_t count) { // of generators with 64 bits
  (void)to, (void)count;
  return is_generator(generator) ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}
API(curandGenerateUniform, Generator *generator, float *to, size_t count) {
  return generate(generator, to, count, &(Wish){.kernel = "curand_uniform", .words = 1});
}
API(curandGenerateUniformDouble, Generator *generator, double *to, size_t count) {
  return generate(generator, to, count, &(Wish){.kernel = "curand_uniform_double", .words = 2});
}
API(curandGenerateNormal, Generator *generator, float *to, size_t count, float mean, float deviation) {
  return generate(generator, to, count, &(Wish){"curand_normal", 1, true, (double)mean, (double)deviation, false});
}
API(curandGenerateNormalDouble, Generator *generator, double *to, size_t count, double mean, double deviation) {
  return generate(generator, to, count, &(Wish){"curand_normal_double", 2, true, mean, deviation, false});
}
API(curandGenerateLogNormal, Generator *generator, float *to, size_t count, float mean, float deviation) {
  return generate(generator, to, count, &(Wish){"curand_normal", 1, true, (double)mean, (double)deviation, true});
}
API(curandGenerateLogNormalDouble, Generator *generator, double *to, size_t count, double mean, double deviation) {
  return generate(generator, to, count, &(Wish){"curand_normal_double", 2, true, mean, deviation, true});
}
API(curandGeneratePoisson, Generator *generator, unsigned *to, size_t count, double lambda) {
  if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  static bool said;
  if (lambda > POISSON_MOST && !said)
    library_say("curandGeneratePoisson is not offered for lambda above %g: it returns CURAND_STATUS_OUT_OF_RANGE", POISSON_MOST);
  said |= lambda > POISSON_MOST;
  if (!(lambda > 0 && lambda <= POISSON_MOST)) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, to, count, &(Wish){.kernel = "curand_poisson", .words = 1, .mean = lambda, .deviation = rand_exp(-lambda)});
}

// ---- The rest of the interface: exported, so that programs load, and named when called ---------------

#define ABSENT(name) LIBRARY_ABSENT(name, CURAND_STATUS_INTERNAL_ERROR, "CURAND_STATUS_INTERNAL_ERROR")
ABSENT(curandCreatePoissonDistribution)
ABSENT(curandDestroyDistribution)
ABSENT(curandGeneratePoissonMethod)
ABSENT(curandGenerateBinomial)
ABSENT(curandGenerateBinomialMethod)
ABSENT(curandGetDirectionVectors32)
ABSENT(curandGetDirectionVectors64)
ABSENT(curandGetScrambleConstants32)
ABSENT(curandGetScrambleConstants64)
