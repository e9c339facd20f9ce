// Fast Walsh transform by steps of radix 4: those with strides below 1,024 in shared memory, the others in global memory.
#include "../cuda.h"

enum { THREADS = 256, BLOCK = 4 * THREADS };

// Of the four elements that thread t transforms at this stride: the first.
static __device__ unsigned first_of(unsigned t, unsigned stride) {
  unsigned low = t & (stride - 1);
  return (t - low) * 4 + low;
}

static __device__ void radix4(float *at, unsigned stride) {
  float a = at[0], b = at[stride], c = at[2 * stride], d = at[3 * stride];
  float sum_ac = a + c, sum_bd = b + d, less_ac = a - c, less_bd = b - d;
  at[0] = sum_ac + sum_bd;
  at[stride] = sum_ac - sum_bd;
  at[2 * stride] = less_ac + less_bd;
  at[3 * stride] = less_ac - less_bd;
}

extern "C" __global__ void fwt_shared(float *data) {
  __shared__ float part[BLOCK];
  float *own = data + blockIdx.x * BLOCK;
  unsigned t = threadIdx.x;
  for (unsigned i = t; i < BLOCK; i += THREADS) part[i] = own[i];
  for (unsigned stride = BLOCK / 4; stride > 0; stride /= 4) {
    __syncthreads();
    radix4(part + first_of(t, stride), stride);
  }
  __syncthreads();
  for (unsigned i = t; i < BLOCK; i += THREADS) own[i] = part[i];
}

extern "C" __global__ void fwt_global(float *data, unsigned stride) {
  radix4(data + first_of(blockIdx.x * THREADS + threadIdx.x, stride), stride);
}
