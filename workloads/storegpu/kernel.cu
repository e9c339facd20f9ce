// Hashes of a file for a storage system, by MD5 (RFC 1321). The sliding kernel hashes a window of 48 bytes at every fourth byte,
// to find where contents repeat; the direct kernel hashes the file chunk by chunk. A thread makes a digest. Blocks bring what
// they hash to shared memory first.
#include "../cuda.h"

enum {
  THREADS = 128,
  WINDOW_WORDS = 12,
  PIECE_WORDS = 16,             // what MD5 takes at a time
  PIECE_PITCH = PIECE_WORDS + 1 // in shared memory, so that threads of a warp meet different banks
};

// One piece more. Inline and unrolled, so that everything is in registers and the tables are immediates.
static inline __attribute__((always_inline)) __device__ void md5_add(unsigned state[4], const unsigned message[PIECE_WORDS]) {
  const unsigned sines[64] = {
      0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
      0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
      0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
      0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
      0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
      0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
  const unsigned char turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
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
  unsigned message[PIECE_WORDS] = {0}, state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
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
  unsigned message[PIECE_WORDS], state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
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
