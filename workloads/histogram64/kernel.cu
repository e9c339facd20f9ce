// Histogram of bytes in 64 bins without atomics: every thread counts in bytes of its own in shared memory, a block adds them up, and
// a second kernel merges the blocks.
#include "../cuda.h"

enum { BINS = 64, THREADS = 64, MERGERS = 256 };

static __device__ void count(unsigned char *own, unsigned value) { own[(value >> 2) * THREADS]++; }

// A thread takes `each` words of four bytes, at most 63: its counters cannot overflow.
extern "C" __global__ void histogram64_blocks(const unsigned *data, unsigned *partial, unsigned words, unsigned each) {
  __shared__ unsigned char counters[BINS * THREADS]; // [bin][thread]
  for (unsigned i = threadIdx.x; i < BINS * THREADS / 4; i += THREADS) ((unsigned *)counters)[i] = 0;
  __syncthreads();
  // Threads of a half-warp count in bytes that lie in different banks.
  unsigned char *own = counters + ((threadIdx.x & 15) * 4 + threadIdx.x / 16);
  for (unsigned k = 0; k < each; k++) {
    unsigned i = (blockIdx.x * each + k) * THREADS + threadIdx.x;
    if (i >= words) break;
    unsigned four = data[i];
    count(own, four & 255);
    count(own, four >> 8 & 255);
    count(own, four >> 16 & 255);
    count(own, four >> 24);
  }
  __syncthreads();
  // A thread a bin; each begins at another place of its row.
  unsigned sum = 0;
  for (unsigned k = 0; k < THREADS; k++) sum += counters[threadIdx.x * THREADS + (k + threadIdx.x * 4) % THREADS];
  partial[blockIdx.x * BINS + threadIdx.x] = sum;
}

// A block a bin.
extern "C" __global__ void histogram64_merge(const unsigned *partial, unsigned *bins, unsigned blocks) {
  __shared__ unsigned sums[MERGERS];
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < blocks; i += MERGERS) sum += partial[i * BINS + blockIdx.x];
  sums[threadIdx.x] = sum;
  for (unsigned width = MERGERS / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
  }
  if (threadIdx.x == 0) bins[blockIdx.x] = sums[0];
}
