// Dot product: each block strides over the vectors and reduces its threads' sums in shared memory.
#include "../cuda.h"

enum { THREADS = 256 };

extern "C" __global__ void scalarprod(const float *a, const float *b, float *partial, unsigned n) {
  __shared__ float sums[THREADS];
  float sum = 0.0f;
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) sum += a[i] * b[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
