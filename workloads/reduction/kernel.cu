// Sums of integers and of floats: two elements a thread, then a tree in shared memory.
#include "../cuda.h"

enum { THREADS = 256 };

template <typename T> static __device__ void reduce(const T *in, T *out, unsigned n, T *sums) {
  unsigned i = blockIdx.x * THREADS * 2 + threadIdx.x;
  T sum = i < n ? in[i] : (T)0;
  if (i + THREADS < n) sum += in[i + THREADS];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_int(const int *in, int *out, unsigned n) {
  __shared__ int sums[THREADS];
  reduce(in, out, n, sums);
}

extern "C" __global__ void reduce_float(const float *in, float *out, unsigned n) {
  __shared__ float sums[THREADS];
  reduce(in, out, n, sums);
}
