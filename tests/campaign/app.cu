// A program as campaigns meet it: two kernels, host code between them that looks at results, output on paper and in a file.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void square(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

__global__ void sum(const int *in, int *total, int n) {
  __shared__ int part[64];
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += 64) mine += in[i];
  part[threadIdx.x] = mine;
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *total = part[0];
}

int main(int argc, char **argv) {
  const int n = 1000;
  int host[n], total = 0, *in, *out, *result;
  for (int i = 0; i < n; i++) host[i] = i % 17;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&result, sizeof total);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  square<<<(n + 127) / 128, 128>>>(in, out, n);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  if (cudaGetLastError() != cudaSuccess) return 3;
  int rounds = host[n - 1] > 1000 ? 2 : 1; // what the host does depends on what it read
  for (int i = 0; i < rounds; i++) sum<<<1, 64>>>(out, result, n);
  if (cudaMemcpy(&total, result, sizeof total, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  printf("total %d\n", total);
  FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;
  if (file != NULL) {
    for (int i = 0; i < n; i++) fprintf(file, "%d\n", host[i]);
    fclose(file);
  }
  return 0;
}
