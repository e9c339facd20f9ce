// cuRAND's host interface: known answers of the publications, the same numbers on the device and on the host, errors.
#include "libraries/rand/generators.h"
#include "libraries/rand/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Generator Generator;
enum { SUCCESS = 0, NOT_INITIALIZED = 101, TYPE_ERROR = 103, OUT_OF_RANGE = 104, LENGTH_NOT_MULTIPLE = 105 };
enum { XORWOW = 101, MRG32K3A = 121, MTGP32 = 141, PHILOX = 161 };

int cudaMalloc(void **pointer, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaFree(void *pointer);
int curandCreateGenerator(Generator **generator, int type);
int curandCreateGeneratorHost(Generator **generator, int type);
int curandDestroyGenerator(Generator *generator);
int curandSetPseudoRandomGeneratorSeed(Generator *generator, unsigned long long seed);
int curandSetGeneratorOffset(Generator *generator, unsigned long long offset);
int curandSetGeneratorOrdering(Generator *generator, int ordering);
int curandGenerate(Generator *generator, unsigned *to, size_t count);
int curandGenerateUniform(Generator *generator, float *to, size_t count);
int curandGenerateUniformDouble(Generator *generator, double *to, size_t count);
int curandGenerateNormal(Generator *generator, float *to, size_t count, float mean, float deviation);
int curandGenerateNormalDouble(Generator *generator, double *to, size_t count, double mean, double deviation);
int curandGenerateLogNormal(Generator *generator, float *to, size_t count, float mean, float deviation);
int curandGenerateLogNormalDouble(Generator *generator, double *to, size_t count, double mean, double deviation);
int curandGeneratePoisson(Generator *generator, unsigned *to, size_t count, double lambda);
int curandGetVersion(int *version);
int curandGetProperty(int property, int *value);
int curandGetDirectionVectors32(void *vectors, int set);

static int failures;
#define EXPECT(fact)                                                          \
  do {                                                                        \
    if (!(fact) && failures++ < 20) printf("line %d: %s\n", __LINE__, #fact); \
  } while (0)

enum { MOST = 10000 };
static double *on_device; // room for MOST doubles

static Generator *new_generator(int type, bool on_host, uint64_t seed, uint64_t offset) {
  Generator *generator = NULL;
  EXPECT((on_host ? curandCreateGeneratorHost(&generator, type) : curandCreateGenerator(&generator, type)) == SUCCESS);
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, seed) == SUCCESS && curandSetGeneratorOffset(generator, offset) == SUCCESS);
  return generator;
}

static void words(int type, uint64_t offset, unsigned *to, size_t count) {
  Generator *generator = new_generator(type, false, 0, offset);
  EXPECT(curandGenerate(generator, (unsigned *)on_device, count) == SUCCESS);
  EXPECT(cudaMemcpy(to, on_device, count * sizeof *to, 2) == 0);
  EXPECT(curandDestroyGenerator(generator) == SUCCESS);
}

// ---- Known answers ---------------------------------------------------------------------------------

// The file of known answers that comes with Salmon et al. (kat_vectors): counter, key, result.
static void test_philox(void) {
  static const unsigned known[][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  for (int i = 0; i < 3; i++) {
    PhiloxBlock counter;
    memcpy(counter.word, known[i], sizeof counter.word);
    PhiloxBlock got = philox(counter, known[i][4], known[i][5]);
    EXPECT(memcmp(got.word, known[i] + 6, sizeof got.word) == 0);
  }
  unsigned got[1003];
  words(PHILOX, 0, got, 4);
  EXPECT(memcmp(got, known[0] + 6, 4 * sizeof *got) == 0);
  words(PHILOX, 3, got, 1003); // begins and ends inside of a block
  for (unsigned i = 0; i < 1003; i++) {
    PhiloxBlock counter = {{(i + 3) / 4, 0, 0, 0}};
    EXPECT(got[i] == philox(counter, 0, 0).word[(i + 3) % 4]);
  }
}

// Marsaglia's function as the paper has it.
static unsigned paper_xorwow(void) {
  static unsigned x = 123456789, y = 362436069, z = 521288629, w = 88675123, v = 5783321, d = 6615241;
  unsigned t = x ^ (x >> 2);
  x = y, y = z, z = w, w = v;
  v = (v ^ (v << 4)) ^ (t ^ (t << 1));
  return (d += 362437) + v;
}

static void test_xorwow(void) {
  static unsigned got[MOST], expected[MOST];
  for (int i = 0; i < MOST; i++) expected[i] = paper_xorwow();
  words(XORWOW, 0, got, MOST);
  EXPECT(memcmp(got, expected, sizeof got) == 0);
  words(XORWOW, 777, got, MOST - 777);
  EXPECT(memcmp(got, expected + 777, (MOST - 777) * sizeof *got) == 0);
}

// L'Ecuyer's generator from the state of six times 12345: values of his package RngStreams.
static void test_mrg(void) {
  static const double first[] = {0.12701112204657714, 0.3185275653967945, 0.30918601558327008, 0.82584686292711362, 0.2216299157820229};
  static const struct {
    uint64_t place;
    double value;
  } far[] = {{999, 0.98607848680213228}, {99999, 0.69628910995743587}, {999999, 0.37578835621568801}};
  double got[5];
  Generator *generator = new_generator(MRG32K3A, false, 0, 0);
  EXPECT(curandGenerateUniformDouble(generator, on_device, 5) == SUCCESS && cudaMemcpy(got, on_device, sizeof got, 2) == 0);
  EXPECT(memcmp(got, first, sizeof got) == 0);
  for (int i = 0; i < 3; i++) {
    EXPECT(curandSetGeneratorOffset(generator, far[i].place) == SUCCESS);
    EXPECT(curandGenerateUniformDouble(generator, on_device, 1) == SUCCESS && cudaMemcpy(got, on_device, sizeof *got, 2) == 0);
    EXPECT(got[0] == far[i].value);
  }
  EXPECT(curandDestroyGenerator(generator) == SUCCESS);
}

// ---- Device and host -------------------------------------------------------------------------------

enum { WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE, POISSON, DISTRIBUTIONS };
static const size_t size_of[] = {4, 4, 8, 4, 8, 4, 8, 4};

static int generate(Generator *generator, int distribution, void *to, size_t count) {
  switch (distribution) {
  case WORDS: return curandGenerate(generator, to, count);
  case UNIFORM: return curandGenerateUniform(generator, to, count);
  case UNIFORM_DOUBLE: return curandGenerateUniformDouble(generator, to, count);
  case NORMAL: return curandGenerateNormal(generator, to, count, 1, 2);
  case NORMAL_DOUBLE: return curandGenerateNormalDouble(generator, to, count, 1, 2);
  case LOG_NORMAL: return curandGenerateLogNormal(generator, to, count, 0, 0.5f);
  case LOG_NORMAL_DOUBLE: return curandGenerateLogNormalDouble(generator, to, count, 0, 0.5);
  default: return curandGeneratePoisson(generator, to, count, 7.5);
  }
}

static double number_at(int distribution, const void *numbers, size_t i) {
  if (distribution == WORDS || distribution == POISSON) return ((const unsigned *)numbers)[i];
  return size_of[distribution] == 8 ? ((const double *)numbers)[i] : (double)((const float *)numbers)[i];
}

// The same bits, in one call or in two; a mean and a deviation that are about right.
static void test_distribution(int type, int distribution) {
  static double host[MOST], device[MOST];
  static const double means[] = {2147483648.0, 0.5, 0.5, 1, 1, 1.1331, 1.1331, 7.5};
  static const double deviations[] = {1239850262.0, 0.288675, 0.288675, 2, 2, 0.6039, 0.6039, 2.7386};
  enum { COUNT = 6000, FIRST = 1000 };
  Generator *on_host = new_generator(type, true, 99, 5), *generator = new_generator(type, false, 99, 5);
  EXPECT(generate(on_host, distribution, host, COUNT) == SUCCESS);
  EXPECT(generate(generator, distribution, on_device, FIRST) == SUCCESS);
  EXPECT(generate(generator, distribution, (char *)on_device + FIRST * size_of[distribution], COUNT - FIRST) == SUCCESS);
  EXPECT(cudaMemcpy(device, on_device, COUNT * size_of[distribution], 2) == 0);
  EXPECT(memcmp(device, host, COUNT * size_of[distribution]) == 0);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < COUNT; i++) sum += number_at(distribution, host, i);
  for (size_t i = 0; i < COUNT; i++) squares += pow(number_at(distribution, host, i) - sum / COUNT, 2);
  EXPECT(fabs(sum / COUNT - means[distribution]) < 4 * deviations[distribution] / sqrt(COUNT));
  EXPECT(fabs(sqrt(squares / COUNT) / deviations[distribution] - 1) < 0.05);
  EXPECT(curandDestroyGenerator(on_host) == SUCCESS && curandDestroyGenerator(generator) == SUCCESS);
}

// Many threads, longer chunks, then short ones again: the words are those of the host.
static void test_large(int type) {
  enum { COUNT = 64 * 2048 + 1000, FEW = 1000 };
  unsigned *host = malloc(COUNT * sizeof *host), *device = malloc(COUNT * sizeof *device), *to;
  Generator *on_host = new_generator(type, true, 1, 0), *generator = new_generator(type, false, 1, 0);
  EXPECT(cudaMalloc((void **)&to, COUNT * sizeof *to) == 0);
  EXPECT(curandGenerate(on_host, host, COUNT) == SUCCESS && curandGenerate(generator, to, COUNT) == SUCCESS);
  EXPECT(cudaMemcpy(device, to, COUNT * sizeof *to, 2) == 0 && memcmp(device, host, COUNT * sizeof *to) == 0);
  EXPECT(curandGenerate(on_host, host, FEW) == SUCCESS && curandGenerate(generator, to, FEW) == SUCCESS);
  EXPECT(cudaMemcpy(device, to, FEW * sizeof *to, 2) == 0 && memcmp(device, host, FEW * sizeof *to) == 0);
  EXPECT(curandDestroyGenerator(on_host) == SUCCESS && curandDestroyGenerator(generator) == SUCCESS && cudaFree(to) == 0);
  free(host);
  free(device);
}

// ---- The functions beneath -------------------------------------------------------------------------

static void test_functions(void) {
  double worst_log = 0, worst_turn = 0, worst_exp = 0;
  for (int i = 1; i <= 20000; i++) {
    double u = i / 20000.0, tiny = ldexp(u, -(i % 50));
    worst_log = fmax(worst_log, fabs(rand_log(tiny) - log(tiny)) / fmax(fabs(log(tiny)), 1e-300));
    RandPair turn = rand_turn(u);
    worst_turn = fmax(worst_turn, fabs(turn.first - sin(2 * RAND_PI * u)) + fabs(turn.second - cos(2 * RAND_PI * u)));
    double x = (u - 0.5) * 1400;
    worst_exp = fmax(worst_exp, fabs(rand_exp(x) / exp(x) - 1));
  }
  EXPECT(worst_log < 1e-15);
  EXPECT(worst_turn < 2e-15); // the argument of sin() has an error of its own
  EXPECT(worst_exp < 1e-15);
  EXPECT(rand_log(1) == 0 && isinf(rand_exp(1000)) && rand_exp(-1000) == 0 && rand_exp(0) == 1);
  double ends[2], first = rand_exp(-7.5);
  ends[0] = rand_poisson(RAND_XORWOW, 0, 7.5, first), ends[1] = rand_poisson(RAND_XORWOW, ~0u, 7.5, first);
  EXPECT(ends[0] == 0 && ends[1] > 25 && ends[1] < 40);
}

static void test_errors(void) {
  Generator *generator = NULL;
  float *to = (float *)on_device;
  int value = 0;
  EXPECT(curandCreateGenerator(&generator, MTGP32) == TYPE_ERROR && generator == NULL);
  EXPECT(curandCreateGenerator(&generator, 12) == TYPE_ERROR);
  EXPECT(curandGenerateUniform(NULL, to, 1) == NOT_INITIALIZED);
  EXPECT(curandGenerateUniform((Generator *)(uintptr_t)0x10, to, 1) == NOT_INITIALIZED);
  generator = new_generator(100, false, 0, 0); // the default
  EXPECT(curandGenerateNormal(generator, to, 3, 0, 1) == LENGTH_NOT_MULTIPLE && curandGenerateNormal(generator, to, 0, 0, 1) == SUCCESS);
  EXPECT(curandGeneratePoisson(generator, (unsigned *)to, 4, 0) == OUT_OF_RANGE);
  EXPECT(curandGeneratePoisson(generator, (unsigned *)to, 4, 701) == OUT_OF_RANGE);
  EXPECT(curandSetGeneratorOrdering(generator, 101) == SUCCESS && curandSetGeneratorOrdering(generator, 201) == OUT_OF_RANGE);
  EXPECT(curandGenerateUniform(generator, NULL, 4) == OUT_OF_RANGE);
  EXPECT(curandGetVersion(&value) == SUCCESS && value / 1000 == 10 && curandGetProperty(0, &value) == SUCCESS && value == 10);
  EXPECT(curandGetDirectionVectors32(NULL, 101) == 999);
  EXPECT(curandDestroyGenerator(generator) == SUCCESS);
}

int main(void) {
  static const int types[] = {XORWOW, MRG32K3A, PHILOX};
  if (cudaMalloc((void **)&on_device, MOST * sizeof *on_device) != 0) return 1;
  test_philox();
  test_xorwow();
  test_mrg();
  for (int i = 0; i < 3; i++) {
    for (int distribution = 0; distribution < DISTRIBUTIONS; distribution++) test_distribution(types[i], distribution);
    test_large(types[i]);
  }
  test_functions();
  test_errors();
  puts(failures == 0 ? "PASS" : "FAIL");
  return failures != 0;
}
