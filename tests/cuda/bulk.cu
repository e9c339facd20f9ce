// cuda::barrier, cuda::memcpy_async and bulk copies as a compiler makes them for sm_90.
// nvcc: -arch=sm_90
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

enum { WORDS = 256, BLOCKS = 4, COUNT = WORDS * BLOCKS };

// One thread asks for the copy; all wait at the barrier, over several phases.
__global__ void reverse(const int *in, int *out) {
  __shared__ alignas(16) int tile[WORDS];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 3; round++) {
    if (threadIdx.x == 0) cuda::memcpy_async(tile, in + (blockIdx.x + round) % BLOCKS * WORDS, cuda::aligned_size_t<16>(sizeof tile), bar);
    bar.arrive_and_wait();
    sum += tile[WORDS - 1 - threadIdx.x] << round;
    bar.arrive_and_wait();
  }
  out[blockIdx.x * WORDS + threadIdx.x] = sum;
}

__global__ void groups(const int *in, int *out) {
  __shared__ alignas(16) int tile[WORDS];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * WORDS, sizeof tile);
  cg::wait(block);
  out[blockIdx.x * WORDS + threadIdx.x] = tile[WORDS - 1 - threadIdx.x];
}

// In by a bulk copy, changed, and out by another.
__global__ void add_one(int *data) {
  __shared__ alignas(16) int tile[WORDS];
  __shared__ Barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(tile, data + blockIdx.x * WORDS, cuda::aligned_size_t<16>(sizeof tile), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  tile[threadIdx.x] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data + blockIdx.x * WORDS, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

int main() {
  static int in[COUNT], out[COUNT];
  for (int i = 0; i < COUNT; i++) in[i] = 7 * i + 3;
  int *source = device_copy(in, COUNT), *target = device_array<int>(COUNT);
  reverse<<<BLOCKS, WORDS>>>(source, target);
  LAUNCHED();
  host_copy(out, target, COUNT);
  for (int i = 0; i < COUNT; i++) {
    int sum = 0;
    for (int round = 0; round < 3; round++) sum += in[(i / WORDS + round) % BLOCKS * WORDS + WORDS - 1 - i % WORDS] << round;
    EXPECT(out[i] == sum);
  }
  groups<<<BLOCKS, WORDS>>>(source, target);
  LAUNCHED();
  host_copy(out, target, COUNT);
  for (int i = 0; i < COUNT; i++) EXPECT(out[i] == in[i / WORDS * WORDS + WORDS - 1 - i % WORDS]);
  add_one<<<BLOCKS, WORDS>>>(source);
  LAUNCHED();
  host_copy(out, source, COUNT);
  for (int i = 0; i < COUNT; i++) EXPECT(out[i] == in[i] + 1);
  return verdict();
}
