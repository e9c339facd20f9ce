// Hashes of a file for a storage system: MD5 of a sliding window, then of chunks. Integer arithmetic, shared memory staging.
// The sliding kernel's 384 blocks of 128 threads are the papers'. Unrolled, MD5 is longer than the instruction caches of most
// machines: it is for instructions that SMs wait.
#include "device/workload.h"

#include <stdio.h>

#include "md5.h"

enum { THREADS = 128, WINDOW_WORDS = 12, PIECE_WORDS = 16, DIGEST_WORDS = 4 }; // as in kernel.cu

typedef struct Data {
  uint32_t *file;
  uint32_t *expected[2]; // digests of windows and of chunks, made by the first check
  DeviceAddress device_file, digests[2];
  uint32_t counts[2]; // windows, chunks
  uint32_t pieces;    // of 64 bytes, in a chunk
} Data;
static const char *const output_names[2] = {"sliding", "direct"};

// The file is as long as the windows need, and then to a whole number of chunks. Every byte is random.
static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->pieces = (uint32_t)run->param[1];
  uint32_t chunk_words = data->pieces * PIECE_WORDS;
  data->counts[0] = (uint32_t)run->param[0];
  data->counts[1] = (data->counts[0] + WINDOW_WORDS - 1 + chunk_words - 1) / chunk_words;
  uint64_t words = (uint64_t)data->counts[1] * chunk_words;
  data->file = ARENA_ARRAY(run->arena, uint32_t, words);
  for (uint64_t i = 0; i < words; i++) data->file[i] = (uint32_t)random_draw(run->seed, i, 0);
  data->device_file = workload_buffer(run, data->file, words * 4);
  if (!data->device_file) return false;
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t count = (uint64_t)data->counts[i] * DIGEST_WORDS;
    data->digests[i] = workload_buffer(run, NULL, count * 4);
    if (!data->digests[i]) return false;
    workload_output(run, output_names[i], data->digests[i], ELEMENT_U32, count);
  }
  return true;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1};
  const uint32_t sliding_grid[3] = {(data->counts[0] + THREADS - 1) / THREADS, 1, 1};
  const uint32_t direct_grid[3] = {(data->counts[1] + THREADS - 1) / THREADS, 1, 1};
  const void *sliding[] = {&data->device_file, &data->digests[0], &data->counts[0]};
  const void *direct[] = {&data->device_file, &data->digests[1], &data->counts[1], &data->pieces};
  return workload_launch(run, "storegpu_sliding", sliding_grid, block, 0, sliding, COUNT_OF(sliding)) &&
         workload_launch(run, "storegpu_direct", direct_grid, block, 0, direct, COUNT_OF(direct));
}

// ---- MD5 on the host, after RFC 1321, section 3 --------------------------------------------------
static void md5_add(uint32_t state[4], const uint8_t piece[64]) {
  static const uint32_t sines[64] = MD5_SINES;
  static const uint8_t turns[4][4] = MD5_TURNS;
  static const uint8_t starts[4] = {0, 1, 5, 0}, strides[4] = {1, 5, 3, 7}; // which word a round's steps take
  uint32_t message[16], a = state[0], b = state[1], c = state[2], d = state[3];
  memcpy(message, piece, sizeof message);
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t round = i / 16, step = i % 16;
    const uint32_t mixed[4] = {(b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d, c ^ (b | ~d)};
    uint32_t sum = a + mixed[round] + message[(starts[round] + strides[round] * step) % 16] + sines[i], turn = turns[round][i % 4];
    a = d;
    d = c;
    c = b;
    b += sum << turn | sum >> (32 - turn);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

static void md5(const void *message, uint64_t bytes, uint32_t digest[4]) {
  static const uint32_t first[4] = MD5_FIRST;
  const uint8_t *at = message;
  uint8_t tail[128] = {0};
  uint64_t rest = bytes % 64, tail_bytes = rest < 56 ? 64 : 128, bits = 8 * bytes;
  memcpy(digest, first, sizeof first);
  for (uint64_t i = 0; i + 64 <= bytes; i += 64) md5_add(digest, at + i);
  memcpy(tail, at + bytes - rest, rest);
  tail[rest] = 0x80;
  memcpy(tail + tail_bytes - 8, &bits, 8);
  for (uint64_t i = 0; i < tail_bytes; i += 64) md5_add(digest, tail + i);
}

// The test suite of RFC 1321, appendix A.5.
static bool md5_is_right(WorkloadRun *run) {
  static const struct {
    const char *message, *digest;
  } answers[] = {
      {"", "d41d8cd98f00b204e9800998ecf8427e"},
      {"a", "0cc175b9c0f1b6a831c399e269772661"},
      {"abc", "900150983cd24fb0d6963f7d28e17f72"},
      {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
      {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
      {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
      {"12345678901234567890123456789012345678901234567890123456789012345678901234567890", "57edf4a22be3c955ac49da2e2107b67a"},
  };
  for (uint32_t i = 0; i < COUNT_OF(answers); i++) {
    uint32_t digest[4];
    uint8_t bytes[16];
    char text[33];
    md5(answers[i].message, strlen(answers[i].message), digest);
    memcpy(bytes, digest, sizeof bytes);
    for (uint32_t b = 0; b < 16; b++) snprintf(text + 2 * b, 3, "%02x", bytes[b]);
    if (strcmp(text, answers[i].digest) != 0) return workload_fail(run, "MD5 of '%s' on the host is %s", answers[i].message, text);
  }
  return true;
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t steps[2] = {1, data->pieces * PIECE_WORDS}, lengths[2] = {WINDOW_WORDS, steps[1]}; // in words
  if (!md5_is_right(run)) return false;
  for (uint32_t k = 0; k < 2; k++) {
    uint64_t count = (uint64_t)data->counts[k] * DIGEST_WORDS;
    uint32_t *got = ARENA_ARRAY(run->arena, uint32_t, count), *expected = data->expected[k];
    if (!device_read(run->device, got, data->digests[k], count * 4)) return false;
    if (expected == NULL) {
      expected = data->expected[k] = ARENA_ARRAY(run->lasting, uint32_t, count);
      for (uint32_t i = 0; i < data->counts[k]; i++)
        md5(data->file + (uint64_t)i * steps[k], lengths[k] * 4ull, expected + (uint64_t)i * DIGEST_WORDS);
    }
    for (uint64_t i = 0; i < count; i++) {
      if (got[i] == expected[i]) continue;
      return workload_fail(run, "%s[%llu] = %08x, expected %08x", output_names[k], (unsigned long long)i, got[i], expected[i]);
    }
  }
  return true;
}

const Workload workload_storegpu = {
    .name = "storegpu",
    .summary = "MD5 of a sliding window over a file and of its chunks; integer arithmetic, staging in shared memory",
    .params = {{"windows", "windows of 48 bytes", {500, 4096, 49152, 1 << 20}, 1, 1u << 26},
               {"pieces", "64 bytes in a chunk", {1, 2, 1, 16}, 1, 1u << 16}},
    .traits = {{RATIO_ALU_SHARE, TRAIT_AT_LEAST, 0.85, "integer arithmetic", SIZE_TINY},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_MOST, 0.05, "does not diverge", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
