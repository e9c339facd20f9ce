// A kernel that wants more registers than a block of 1,024 threads can have: it is compiled again with fewer, and shares its variables
// with the kernels that were not.
#include "check.h"

__device__ int calls;
__constant__ float step = 0.5f;

__global__ void note() { atomicAdd(&calls, 100); }

__global__ void many(const float *in, float *out) {
  float value[96];
  for (int i = 0; i < 96; i++) value[i] = in[(threadIdx.x + i) % blockDim.x];
  for (int round = 0; round < 3; round++) {
#pragma unroll
    for (int i = 0; i < 96; i++) value[i] = value[i] * step + value[(i + 17) % 96];
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 96; i++) sum += value[i];
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0) atomicAdd(&calls, 1);
}

static float expected(const float *in, int threads, int thread) {
  float value[96], sum = 0;
  for (int i = 0; i < 96; i++) value[i] = in[(thread + i) % threads];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 96; i++) value[i] = value[i] * 0.5f + value[(i + 17) % 96];
  }
  for (int i = 0; i < 96; i++) sum += value[i];
  return sum;
}

int main() {
  const int most = 1024;
  static float host[most], got[most];
  float *in, *out;
  for (int i = 0; i < most; i++) host[i] = static_cast<float>(i % 16);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  for (int threads = 64; threads <= most; threads *= 4) {
    note<<<1, 1>>>();
    many<<<1, threads>>>(in, out);
    EXPECT_ERROR(cudaSuccess, cudaMemcpy(got, out, threads * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) EXPECT(got[i] == expected(host, threads, i));
  }
  int count = 0;
  cudaMemcpyFromSymbol(&count, calls, sizeof count);
  EXPECT(count == 303);
  return verdict();
}
