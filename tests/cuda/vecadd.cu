// Smoke: allocate, copy, launch, copy back, check; error state of good and bad calls.
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 10000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; i++) a[i] = i * 0.5f, b[i] = 3.0f * i;
  float *da, *db, *dc;
  size_t bytes = n * sizeof(float);
  if (cudaMalloc(&da, bytes) || cudaMalloc(&db, bytes) || cudaMalloc(&dc, bytes)) return printf("cudaMalloc failed\n"), 1;
  cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return printf("launch: %s\n", cudaGetErrorString(error)), 1;
  cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    if (c[i] != a[i] + b[i]) return printf("c[%d] = %g\n", i, c[i]), 1;
  if (cudaMemcpy(c.data(), dc, bytes + 1, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue) return printf("overlong copy was taken\n"), 1;
  if (cudaGetLastError() != cudaErrorInvalidValue || cudaGetLastError() != cudaSuccess) return printf("last error is wrong\n"), 1;
  add<<<1, 2048>>>(da, db, dc, n);
  if (cudaGetLastError() != cudaErrorInvalidConfiguration) return printf("block of 2048 was taken\n"), 1;
  if (cudaFree(da) || cudaFree(db) || cudaFree(dc) || cudaFree(nullptr)) return printf("cudaFree failed\n"), 1;
  if (cudaFree(reinterpret_cast<void *>(0x1234567)) == cudaSuccess) return printf("cudaFree took garbage\n"), 1;
  printf("PASS\n");
}
