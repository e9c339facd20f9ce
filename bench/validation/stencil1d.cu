// Sums of fifteen neighbours: for each block of 256 threads a tile with seven elements on either side. The program that public results of gpuFI-4 are of
// (docs/validation.md) has the same sizes; this is our own writing of it. stencil1d LENGTH
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { BLOCK = 256, RADIUS = 7 };

__global__ void stencil(const int *__restrict__ in, int *__restrict__ out, int length) {
  __shared__ int tile[BLOCK + 2 * RADIUS];
  int at = blockIdx.x * BLOCK + threadIdx.x, slot = threadIdx.x + RADIUS;
  if (at >= length) return;
  tile[slot] = in[at];
  if (threadIdx.x < RADIUS) {
    tile[slot - RADIUS] = at < RADIUS ? 0 : in[at - RADIUS];
    if (at + BLOCK < length + RADIUS) tile[slot + BLOCK] = in[at + BLOCK];
  }
  __syncthreads();
  int sum = 0;
  for (int i = -RADIUS; i <= RADIUS; i++) sum += tile[slot + i];
  out[at] = sum;
}

int main(int argc, char **argv) {
  int length = argc > 1 ? atoi(argv[1]) : BLOCK;
  if (length <= 0 || length % BLOCK != 0) return 2;
  std::vector<int> a(length + RADIUS), b(length);
  unsigned state = 9409;
  for (int &x : a) x = (state = 1664525 * state + 1013904223) >> 8 & 0xff;
  int *in, *out;
  cudaMalloc(&in, a.size() * sizeof(int));
  cudaMalloc(&out, b.size() * sizeof(int));
  cudaMemcpy(in, a.data(), a.size() * sizeof(int), cudaMemcpyHostToDevice);
  stencil<<<length / BLOCK, BLOCK>>>(in, out, length);
  cudaMemcpy(b.data(), out, b.size() * sizeof(int), cudaMemcpyDeviceToHost);
  unsigned hash = 0;
  for (int x : b) hash = 31 * hash + x;
  printf("%08x\n", hash);
}
