// Hashes and counter-based random numbers.
#include "base/base.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

// Hashes are of words as they lie in memory, and registers of 64 bits, encoded instructions and what CUDA programs copy are read and written as bytes too.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Redoubt needs a little-endian host, such as x86-64 or aarch64");

// The same hash by the widest vectors that this processor has: in Debian's shared library for x86-64, not in the static one, nor everywhere else.
__attribute__((weak)) XXH64_hash_t XXH3_64bits_withSeed_dispatch(const void *bytes, size_t count, XXH64_hash_t seed);
__attribute__((weak)) XXH_errorcode XXH3_64bits_update_dispatch(XXH3_state_t *state, const void *bytes, size_t count);

uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed) {
  return XXH3_64bits_withSeed_dispatch != NULL ? XXH3_64bits_withSeed_dispatch(bytes, count, seed)
                                               : XXH3_64bits_withSeed(bytes, count, seed);
}

static void hash_more(XXH3_state_t *state, const void *bytes, size_t count) {
  if (XXH3_64bits_update_dispatch != NULL) XXH3_64bits_update_dispatch(state, bytes, count);
  else XXH3_64bits_update(state, bytes, count);
}

bool file_hash(const char *path, uint64_t *hash) {
  enum { PART = 1 << 16 };
  char bytes[PART];
  ssize_t count = -1;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  XXH3_state_t *state = XXH3_createState();
  ASSERT(state != NULL);
  XXH3_64bits_reset(state);
  while (file >= 0 && (count = read(file, bytes, sizeof bytes)) > 0) hash_more(state, bytes, (size_t)count);
  *hash = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  if (file >= 0) close(file);
  return count == 0;
}

// SplitMix64's finaliser: a bijection of 64 bits that passes BigCrush on counters.
static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

uint64_t random_draw(uint64_t seed, uint64_t index, uint64_t draw) { return mix(mix(mix(seed) ^ index) ^ draw); }

uint64_t random_below(uint64_t bits, uint64_t bound) { return (uint64_t)(((unsigned __int128)bits * bound) >> 64); }

float random_unit_f32(uint64_t bits) { return (float)(bits >> 40) * 0x1p-24f; }

double random_unit_f64(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }
