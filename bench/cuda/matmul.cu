// Matrix product in shared memory, checked by the host: one launch, one copy back.
#include <cstdio>
#include <cuda_runtime.h>

const int n = 128, tile = 16;

__global__ void multiply(const float *a, const float *b, float *c) {
  __shared__ float left[tile][tile], right[tile][tile];
  int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += tile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < tile; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

static float a[n * n], b[n * n], c[n * n];

int main() {
  float *da, *db, *dc;
  for (int i = 0; i < n * n; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5);
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&dc, sizeof c);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  multiply<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(da, db, dc);
  if (cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  int wrong = 0;
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
      wrong += c[y * n + x] != sum;
    }
  }
  printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
