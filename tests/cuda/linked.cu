// A relocatable program of two files: functions, variables, constants and a function pointer cross between them.
// nvcc: -rdc=true @/linked/part.cu -I@
#include "check.h"
#include "linked/part.h"

__device__ int own_counter;
__constant__ int shared_table[4] = {10, 20, 30, 40};

__device__ int callback(int value) { return value * 100; }

__global__ void use(int *out) {
  int i = threadIdx.x;
  out[i] = part_sum(i, 5) + part_apply(callback, i) + part_numbers[i % 3] + part_depth(i % 4);
  atomicAdd(&own_counter, 1);
  atomicAdd(&part_counter, 2);
}

int main() {
  const int n = 40, numbers[] = {7, 8, 9};
  int *out = device_array<int>(n), host[n], value = 0;
  use<<<1, n>>>(out);
  LAUNCHED();
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == i + 5 + 10 * (i % 4 + 1) + i * 100 + 1 + numbers[i % 3] + i % 4);
  CHECK(cudaMemcpyFromSymbol(&value, own_counter, sizeof value));
  EXPECT(value == n);
  EXPECT(part_read_counter() == 2 * n);
  part_launch(out, n);
  host_copy(host, out, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == i * 2 + 40);
  return verdict();
}
