// Sums of floats: read back, and written to a file as they are.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
  const int n = 100;
  float host[n], *a, *b, *c;
  for (int i = 0; i < n; i++) host[i] = 1;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaMalloc(&c, sizeof host);
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<2, 64>>>(a, b, c, n);
  if (cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  FILE *file = argc > 1 ? fopen(argv[1], "wb") : NULL;
  if (file != NULL) {
    fwrite(host, sizeof host, 1, file);
    fclose(file);
  }
  return 0;
}
