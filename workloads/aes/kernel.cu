// AES-128 encryption (FIPS-197) by tables: a thread computes one column of a 16-byte block. A round's SubBytes, ShiftRows
// and MixColumns are four look-ups (Daemen and Rijmen, "AES Proposal: Rijndael", section 5.2.1).
// The tables are copied from constant to shared memory; columns pass from thread to thread through two staging arrays there.
#include "../cuda.h"

enum { THREADS = 256, ROUNDS = 10, COLUMNS = 4 };

__constant__ unsigned aes_tables[4][256];
__constant__ unsigned aes_keys[(ROUNDS + 1) * COLUMNS];

static __device__ unsigned byte_of(unsigned word, int i) { return word >> (8 * i) & 0xFF; }

extern "C" __global__ void aes_encrypt(const unsigned *plain, unsigned *cipher) {
  __shared__ unsigned tables[4][256];
  __shared__ unsigned stage[2][THREADS];
  unsigned t = threadIdx.x, column = t % COLUMNS, first = t - column;
  unsigned at = blockIdx.x * THREADS + t;
  for (int i = 0; i < 4; i++) tables[i][t] = aes_tables[i][t];
  stage[0][t] = plain[at] ^ aes_keys[column];
  __syncthreads();
  // ShiftRows: row i of the new column comes from i columns further on.
  unsigned from[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) from[i] = first + (column + i) % COLUMNS;
#pragma unroll 1
  for (int round = 1; round < ROUNDS; round++) {
    const unsigned *now = stage[(round + 1) % 2];
    unsigned next = aes_keys[round * COLUMNS + column];
    for (int i = 0; i < 4; i++) next ^= tables[i][byte_of(now[from[i]], i)];
    stage[round % 2][t] = next;
    __syncthreads();
  }
  // The last round has no MixColumns: the S-box is the second byte of the first table.
  const unsigned *now = stage[(ROUNDS + 1) % 2];
  unsigned last = 0;
  for (int i = 0; i < 4; i++) last |= byte_of(tables[0][byte_of(now[from[i]], i)], 1) << (8 * i);
  cipher[at] = last ^ aes_keys[ROUNDS * COLUMNS + column];
}
