// AES-128 encryption, one thread a column: shared-memory look-ups and staging, constants, all lanes at work.
// Source: FIPS-197 for the cipher; 257 blocks of 256 threads as in the papers. The first 16 bytes are the example of its
// appendix B under that example's key, so that the known answer is part of the check; the rest is random.
// Traits on fermi-gtx480 at default size: loads_shared / warp_instructions >= 15%; constant_accesses > 0; active_32 / issued
// >= 99%; idle_empty / sm_cycles <= 10% (balanced).
#include "device/workload.h"

#include <inttypes.h>

enum { BLOCK_BYTES = 16, THREADS = 256, ROUNDS = 10, KEY_BYTES = 16 * (ROUNDS + 1), BYTES_PER_BLOCK = 4 * THREADS };

static const uint8_t key[BLOCK_BYTES] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t known_plain[BLOCK_BYTES] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                                                 0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
static const uint8_t known_cipher[BLOCK_BYTES] = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb,
                                                  0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};

typedef struct Data {
  uint8_t *plain;
  uint8_t sbox[256], keys[KEY_BYTES];
  DeviceAddress device_plain, device_cipher;
  uint32_t blocks;
  uint64_t bytes;
} Data;

// ---- The cipher by its definition, byte by byte ------------------------------------------------

// Product by x in GF(2^8), modulo x^8 + x^4 + x^3 + x + 1 (section 4.2.1).
static uint8_t twice(uint8_t a) { return (uint8_t)(a << 1 ^ (a >> 7) * 0x1b); }

static uint8_t product(uint8_t a, uint8_t b) {
  uint8_t sum = 0;
  for (; b != 0; b >>= 1, a = twice(a)) sum ^= (b & 1) != 0 ? a : 0;
  return sum;
}

// Section 5.1.1: the inverse, then an affine map over GF(2).
static void fill_sbox(uint8_t sbox[256]) {
  for (unsigned a = 0; a < 256; a++) {
    uint8_t inverse = 0;
    for (unsigned b = 1; b < 256 && inverse == 0; b++) inverse = product((uint8_t)a, (uint8_t)b) == 1 ? (uint8_t)b : 0;
    unsigned value = 0x63;
    for (unsigned turn = 0; turn < 5; turn++) value ^= (unsigned)inverse << turn | (unsigned)inverse >> (8 - turn);
    sbox[a] = (uint8_t)value;
  }
}

// Section 5.2.
static void expand_key(const uint8_t sbox[256], uint8_t keys[KEY_BYTES]) {
  memcpy(keys, key, sizeof key);
  uint8_t constant = 1;
  for (unsigned at = BLOCK_BYTES; at < KEY_BYTES; at += 4) {
    uint8_t word[4];
    memcpy(word, keys + at - 4, 4);
    if (at % BLOCK_BYTES == 0) {
      const uint8_t first = word[0];
      for (unsigned i = 0; i < 3; i++) word[i] = sbox[word[i + 1]];
      word[3] = sbox[first];
      word[0] ^= constant;
      constant = twice(constant);
    }
    for (unsigned i = 0; i < 4; i++) keys[at + i] = keys[at + i - BLOCK_BYTES] ^ word[i];
  }
}

static void mix_column(uint8_t column[4]) {
  uint8_t a[4];
  memcpy(a, column, 4);
  for (unsigned i = 0; i < 4; i++) column[i] = twice(a[i]) ^ twice(a[(i + 1) % 4]) ^ a[(i + 1) % 4] ^ a[(i + 2) % 4] ^ a[(i + 3) % 4];
}

// Section 5.1; byte 4 * c + r is row r of column c.
static void encrypt(const Data *data, const uint8_t plain[BLOCK_BYTES], uint8_t cipher[BLOCK_BYTES]) {
  uint8_t state[BLOCK_BYTES];
  for (unsigned i = 0; i < BLOCK_BYTES; i++) state[i] = plain[i] ^ data->keys[i];
  for (unsigned round = 1; round <= ROUNDS; round++) {
    uint8_t next[BLOCK_BYTES];
    for (unsigned i = 0; i < BLOCK_BYTES; i++) next[i] = data->sbox[state[(i + 4 * (i % 4)) % BLOCK_BYTES]];
    for (unsigned column = 0; column < 4 && round < ROUNDS; column++) mix_column(next + 4 * column);
    for (unsigned i = 0; i < BLOCK_BYTES; i++) state[i] = next[i] ^ data->keys[BLOCK_BYTES * round + i];
  }
  memcpy(cipher, state, sizeof state);
}

// ---- The workload --------------------------------------------------------------------------------

static uint32_t word_of(const uint8_t bytes[4]) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// Table i gives what a byte in row i of the shifted state adds to its column.
static bool fill_constants(WorkloadRun *run, const Data *data) {
  uint32_t tables[4][256], keys[KEY_BYTES / 4];
  for (unsigned a = 0; a < 256; a++) {
    for (unsigned row = 0; row < 4; row++) {
      uint8_t column[4] = {0};
      column[row] = data->sbox[a];
      mix_column(column);
      tables[row][a] = word_of(column);
    }
  }
  for (unsigned i = 0; i < COUNT_OF(keys); i++) keys[i] = word_of(data->keys + 4 * i);
  return workload_constant(run, "aes_tables", tables, sizeof tables) && workload_constant(run, "aes_keys", keys, sizeof keys);
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->blocks = (uint32_t)run->param[0];
  data->bytes = (uint64_t)data->blocks * BYTES_PER_BLOCK;
  fill_sbox(data->sbox);
  expand_key(data->sbox, data->keys);
  data->plain = ARENA_ARRAY(run->arena, uint8_t, data->bytes);
  for (uint64_t i = 0; i < data->bytes; i++) data->plain[i] = (uint8_t)random_draw(run->seed, i, 0);
  memcpy(data->plain, known_plain, sizeof known_plain);
  data->device_plain = workload_buffer(run, data->plain, data->bytes);
  data->device_cipher = workload_buffer(run, NULL, data->bytes);
  workload_output(run, "cipher", data->device_cipher, ELEMENT_U8, data->bytes);
  return data->device_plain && data->device_cipher && fill_constants(run, data);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1};
  const void *arguments[] = {&data->device_plain, &data->device_cipher};
  return workload_launch(run, "aes_encrypt", grid, block, 0, arguments, COUNT_OF(arguments));
}

// Exact: the known answer first, then every block against the definition.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint8_t *got = ARENA_ARRAY(run->arena, uint8_t, data->bytes);
  if (!device_read(run->device, got, data->device_cipher, data->bytes)) return false;
  if (memcmp(got, known_cipher, sizeof known_cipher) != 0) return workload_fail(run, "cipher[0..15] is not the known answer of FIPS-197");
  for (uint64_t at = 0; at < data->bytes; at += BLOCK_BYTES) {
    uint8_t expected[BLOCK_BYTES];
    encrypt(data, data->plain + at, expected);
    for (uint32_t i = 0; i < BLOCK_BYTES; i++) {
      if (got[at + i] == expected[i]) continue;
      return workload_fail(run, "cipher[%" PRIu64 "] = 0x%02x, expected 0x%02x", at + i, got[at + i], expected[i]);
    }
  }
  return true;
}

const Workload workload_aes = {
    .name = "aes",
    .summary = "AES-128 encryption; look-ups in shared memory, barriers, balanced",
    .params = {{"blocks", "blocks of 256 threads, 1 KiB each", {3, 16, 257, 4096}, 1, 65535}},
    .traits = {{RATIO_SHARED_SHARE, TRAIT_AT_LEAST, 0.15, "tables in shared memory", SIZE_TINY},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_MOST, 0.05, "whole warps", SIZE_SMALL},
               {RATIO_IDLE_EMPTY, TRAIT_AT_MOST, 0.15, "balanced", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
