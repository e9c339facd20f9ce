// c = a * b for square matrices, in 16 x 16 tiles kept in shared memory. n is a multiple of 16.
#include "../cuda.h"

enum { TILE = 16 };

extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned n) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  unsigned row = blockIdx.y * TILE + threadIdx.y;
  unsigned column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (unsigned tile = 0; tile < n; tile += TILE) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < TILE; k++) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
