// Hashes of a file for a storage system, by MD5 (RFC 1321). The sliding kernel hashes a window of 48 bytes at every fourth byte,
// to find where contents repeat; the direct kernel hashes the file chunk by chunk. A thread makes a digest. Blocks bring what
// they hash to shared memory first.
#include "../cuda.h"

#include "md5.h"

enum {
  THREADS = 128,
  WINDOW_WORDS = 12,
  PIECE_WORDS = 16,             // what MD5 takes at a time
  PIECE_PITCH = PIECE_WORDS + 1 // in shared memory, so that threads of a warp meet different banks
};

// One piece more. Inline and unrolled, so that everything is in registers and the tables are immediates.
static inline __attribute__((always_inline)) __device__ void md5_add(unsigned state[4], const unsigned message[PIECE_WORDS]) {
  const unsigned sines[64] = MD5_SINES;
  const unsigned char turns[4][4] = MD5_TURNS;
  unsigned a = state[0], b = state[1], c = state[2], d = state[3];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    unsigned mixed = i < 16 ? d ^ (b & (c ^ d)) : i < 32 ? c ^ (d & (b ^ c)) : i < 48 ? b ^ c ^ d : c ^ (b | ~d);
    int word = i < 16 ? i : i < 32 ? (5 * i + 1) % 16 : i < 48 ? (3 * i + 5) % 16 : 7 * i % 16;
    unsigned sum = a + mixed + message[word] + sines[i], turn = turns[i / 16][i % 4];
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

static __device__ uint4 digest_of(const unsigned state[4]) {
  uint4 digest;
  digest.x = state[0];
  digest.y = state[1];
  digest.z = state[2];
  digest.w = state[3];
  return digest;
}

// digests[i]: of the 48 bytes from word i of the file.
extern "C" __global__ void storegpu_sliding(const unsigned *file, uint4 *digests, unsigned windows) {
  __shared__ unsigned staged[THREADS + WINDOW_WORDS - 1];
  unsigned t = threadIdx.x, first = blockIdx.x * THREADS, words = windows + WINDOW_WORDS - 1;
  for (unsigned i = t; i < THREADS + WINDOW_WORDS - 1; i += THREADS) {
    if (first + i < words) staged[i] = file[first + i];
  }
  __syncthreads();
  if (first + t >= windows) return;
  unsigned message[PIECE_WORDS] = {0}, state[4] = MD5_FIRST;
#pragma unroll
  for (int i = 0; i < WINDOW_WORDS; i++) message[i] = staged[t + i];
  message[WINDOW_WORDS] = 0x80; // the padding: a bit after the message, and its length in bits
  message[PIECE_WORDS - 2] = 32 * WINDOW_WORDS;
  md5_add(state, message);
  digests[first + t] = digest_of(state);
}

// digests[i]: of chunk i of the file, which is `pieces` times 64 bytes long.
extern "C" __global__ void storegpu_direct(const unsigned *file, uint4 *digests, unsigned chunks, unsigned pieces) {
  __shared__ unsigned staged[THREADS * PIECE_PITCH];
  unsigned t = threadIdx.x, first = blockIdx.x * THREADS;
  unsigned message[PIECE_WORDS], state[4] = MD5_FIRST;
  for (unsigned piece = 0; piece <= pieces; piece++) {
    bool padding = piece == pieces; // is a piece of its own
    __syncthreads();
    for (unsigned i = t; i < THREADS * PIECE_WORDS; i += THREADS) { // 16 threads bring a chunk's piece
      unsigned chunk = i / PIECE_WORDS, word = i % PIECE_WORDS;
      unsigned value = word == 0 ? 0x80 : word == PIECE_WORDS - 2 ? 32 * PIECE_WORDS * pieces : 0;
      if (!padding && first + chunk < chunks) value = file[((first + chunk) * pieces + piece) * PIECE_WORDS + word];
      staged[chunk * PIECE_PITCH + word] = value;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < PIECE_WORDS; i++) message[i] = staged[t * PIECE_PITCH + i];
    md5_add(state, message);
  }
  if (first + t < chunks) digests[first + t] = digest_of(state);
}
