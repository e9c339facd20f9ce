// Dynamic parallelism: every thread of a block launches a small grid of its own. Prints whether all have run.
// nvcc: -rdc=true -lcudadevrt
#include <cstdio>
#include <cstdlib>

__global__ void child(unsigned *sums, unsigned parent) { atomicAdd(&sums[parent], threadIdx.x + 1); }

__global__ void parent(unsigned *sums) { child<<<2, 64>>>(sums, blockIdx.x * blockDim.x + threadIdx.x); }

int main(int count, char **arguments) {
  unsigned parents = count > 1 ? (unsigned)atoi(arguments[1]) : 128, wrong = 0;
  unsigned *sums = (unsigned *)malloc(parents * sizeof *sums), *device;
  cudaMalloc(&device, parents * sizeof *sums);
  cudaMemset(device, 0, parents * sizeof *sums);
  parent<<<(parents + 31) / 32, 32>>>(device);
  cudaMemcpy(sums, device, parents * sizeof *sums, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < parents; i++) wrong += sums[i] != 2 * 64 * 65 / 2;
  printf("%u parents wrong\n", wrong);
  return wrong != 0;
}
