// The other half of linked.cu.
#include "check.h"
#include "linked/part.h"

__device__ int part_counter;
__device__ int part_numbers[3] = {7, 8, 9};
static __device__ int own_counter = 40; // another file's variable of the same name is not meant

__device__ int part_sum(int a, int b) { return a + b + shared_table[a % 4]; }
__device__ int part_apply(int (*function)(int), int value) { return function(value) + 1; }
__device__ int part_depth(int value) { return value == 0 ? 0 : 1 + part_depth(value - 1); }

static __global__ void use_part(int *out) { out[threadIdx.x] = threadIdx.x * 2 + own_counter; }

int part_read_counter() {
  int value = -1;
  CHECK(cudaMemcpyFromSymbol(&value, part_counter, sizeof value));
  return failures ? -1 : value;
}

void part_launch(int *out, int n) {
  use_part<<<1, n>>>(out);
  cudaDeviceSynchronize();
}
