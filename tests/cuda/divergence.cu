// Code that leans on how warps and blocks make progress: locks between blocks and between lanes, chains of blocks, threads that leave
// before a barrier, reductions in one warp without barriers, votes of a block.
#include "check.h"
#include <vector>

__device__ int lock;
__device__ volatile int turn;

__global__ void warp_synchronous(const int *in, int *out) {
  __shared__ volatile int sums[128];
  int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) sums[t] += sums[t + 64];
  __syncthreads();
  if (t < 32) {
    for (int step = 32; step > 0; step /= 2) sums[t] += sums[t + step];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void lock_by_block(int *counter) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {}
  __threadfence();
  *counter = *counter + 1;
  __threadfence();
  atomicExch(&lock, 0);
}

__global__ void lock_by_lane(volatile int *counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) != 0) continue;
    *counter = *counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
    done = true;
  }
}

// The last block goes first: every block waits for one that comes after it.
__global__ void backwards(int *out) {
  if (threadIdx.x != 0) return;
  while (turn != (int)(gridDim.x - 1 - blockIdx.x)) {}
  out[blockIdx.x] = turn;
  __threadfence();
  turn = turn + 1;
}

__global__ void leave_early(int *out, int n) {
  __shared__ int values[128];
  int t = threadIdx.x;
  if (t >= n) return;
  values[t] = t;
  __syncthreads();
  out[t] = values[n - 1 - t];
}

__global__ void votes(int *out) {
  int t = threadIdx.x;
  int any = __syncthreads_or(t == 77), odd = __syncthreads_count(t & 1), all = __syncthreads_and(t < 100);
  if (t == 5) out[0] = any != 0, out[1] = odd, out[2] = all;
}

__global__ void nested(int *out) {
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < t % 7; i++) {
    for (int k = 0; k < (t + i) % 5; k++) {
      if ((i + k) % 3 == 0) continue;
      if (k > t % 4) break;
      sum += i * 10 + k;
    }
    if (sum > 60) break;
  }
  out[t] = sum;
}

static int nested_on_host(int t) {
  int sum = 0;
  for (int i = 0; i < t % 7; i++) {
    for (int k = 0; k < (t + i) % 5; k++) {
      if ((i + k) % 3 == 0) continue;
      if (k > t % 4) break;
      sum += i * 10 + k;
    }
    if (sum > 60) break;
  }
  return sum;
}

int main() {
  const int n = 512;
  std::vector<int> in(n), host(n);
  for (int i = 0; i < n; i++) in[i] = i % 100;
  int *data = device_copy(in.data(), n), *out = device_array<int>(n);
  warp_synchronous<<<n / 128, 128>>>(data, out);
  LAUNCHED();
  host_copy(host.data(), out, n / 128);
  for (int b = 0; b < n / 128; b++) {
    int sum = 0;
    for (int i = 0; i < 128; i++) sum += in[b * 128 + i];
    EXPECT(host[b] == sum);
  }
  CHECK(cudaMemset(out, 0, 8));
  lock_by_block<<<50, 64>>>(out);
  lock_by_lane<<<3, 64>>>(out + 1);
  LAUNCHED();
  host_copy(host.data(), out, 2);
  EXPECT(host[0] == 50 && host[1] == 192);
  backwards<<<8, 32>>>(out);
  LAUNCHED();
  host_copy(host.data(), out, 8);
  for (int i = 0; i < 8; i++) EXPECT(host[i] == 7 - i);
  leave_early<<<1, 128>>>(out, 77);
  LAUNCHED();
  host_copy(host.data(), out, 77);
  for (int i = 0; i < 77; i++) EXPECT(host[i] == 76 - i);
  votes<<<1, 128>>>(out);
  LAUNCHED();
  host_copy(host.data(), out, 3);
  EXPECT(host[0] == 1 && host[1] == 64 && host[2] == 0);
  nested<<<1, 256>>>(out);
  LAUNCHED();
  host_copy(host.data(), out, 256);
  for (int i = 0; i < 256; i++) EXPECT(host[i] == nested_on_host(i));
  return verdict();
}
