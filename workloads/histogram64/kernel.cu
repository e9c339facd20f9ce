// Histogram of bytes in 64 bins: atomics on a block's own bins in shared memory, then one atomic a bin.
#include "../cuda.h"

enum { BINS = 64 };

extern "C" __global__ void histogram64(const unsigned char *data, unsigned *bins, unsigned n) {
  __shared__ unsigned own[BINS];
  if (threadIdx.x < BINS) own[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[data[i] >> 2], 1);
  __syncthreads();
  if (threadIdx.x < BINS) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
