// Generators on the host (curandCreateGeneratorHost): the same numbers as the kernels', bit for bit.
#include "libraries/rand/rand.h"

#include "libraries/rand/numbers.h"

static RandWord philox_word(const RandWords *words, uint64_t number) {
  PhiloxBlock counter = {{(RandWord)(number / 4), (RandWord)(number / 4 >> 32), 0, 0}};
  return philox(counter, words->key[0], words->key[1]).word[number % 4];
}

void host_words(int generator, RandWords *words) {
  for (long long i = 0; i < words->count; i++) {
    RandWord *to = &words->to[i * words->stride];
    if (generator == RAND_XORWOW) *to = xorwow_next(&words->xorwow);
    else if (generator == RAND_MRG) *to = mrg_next(&words->mrg);
    else *to = philox_word(words, words->first + (uint64_t)i);
  }
}

static double placed(const RandNumbers *r, double x) {
  double number = rand_fma(x, r->deviation, r->mean);
  return r->exponential ? rand_exp(number) : number;
}

static void normal(const RandNumbers *r, bool is_double) {
  const RandWord *words = r->at;
  float *narrow = r->at;
  double *wide = r->at;
  int generator = (int)r->generator;
  for (long long i = 0; i < r->count / 2; i++) {
    double u = is_double ? rand_uniform_of_words(generator, words[4 * i], words[4 * i + 1]) : rand_uniform_of_word(generator, words[2 * i]);
    double v = is_double ? rand_uniform_of_words(generator, words[4 * i + 2], words[4 * i + 3])
                         : rand_uniform_of_word(generator, words[2 * i + 1]);
    RandPair pair = rand_normals(u, v);
    if (is_double) {
      wide[2 * i] = placed(r, pair.first);
      wide[2 * i + 1] = placed(r, pair.second);
    } else {
      narrow[2 * i] = (float)placed(r, pair.first);
      narrow[2 * i + 1] = (float)placed(r, pair.second);
    }
  }
}

static void uniform(const RandNumbers *r, bool is_double) {
  const RandWord *words = r->at;
  float *narrow = r->at;
  double *wide = r->at;
  int generator = (int)r->generator;
  for (long long i = 0; i < r->count; i++) {
    if (is_double) wide[i] = rand_uniform_of_words(generator, words[2 * i], words[2 * i + 1]);
    else narrow[i] = (float)rand_uniform_of_word(generator, words[i]);
  }
}

static void poisson(const RandNumbers *r) {
  RandWord *words = r->at;
  for (long long i = 0; i < r->count; i++) words[i] = rand_poisson((int)r->generator, words[i], r->mean, r->deviation);
}

void host_numbers(const char *kernel, const RandNumbers *numbers) {
  if (strcmp(kernel, "curand_uniform") == 0) uniform(numbers, false);
  else if (strcmp(kernel, "curand_uniform_double") == 0) uniform(numbers, true);
  else if (strcmp(kernel, "curand_normal") == 0) normal(numbers, false);
  else if (strcmp(kernel, "curand_normal_double") == 0) normal(numbers, true);
  else if (strcmp(kernel, "curand_poisson") == 0) poisson(numbers);
}
