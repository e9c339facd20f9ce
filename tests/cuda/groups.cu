// Cooperative groups: tiles, coalesced and labelled groups, block and grid synchronisation, group reductions and scans.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <vector>

namespace cg = cooperative_groups;

__global__ void tiles(int *tile_sums, int *scans, int *coalesced_ranks, int *partition_sizes) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  int rank = block.thread_rank();
  tile_sums[rank] = cg::reduce(eight, rank, cg::plus<int>());
  scans[rank] = cg::exclusive_scan(warp, 1 + rank % 4, cg::plus<int>());
  coalesced_ranks[rank] = -1;
  if (rank % 3 == 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    coalesced_ranks[rank] = active.thread_rank() + 100 * active.size();
  }
  warp.sync();
  auto odd = cg::binary_partition(warp, rank % 5 == 0);
  partition_sizes[rank] = odd.size();
  block.sync();
}

__device__ int aggregated(int *counter) {
  auto group = cg::coalesced_threads();
  int first = 0;
  if (group.thread_rank() == 0) first = atomicAdd(counter, (int)group.size());
  return group.shfl(first, 0) + group.thread_rank();
}

__global__ void filter(const int *in, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) out[aggregated(count)] = in[i];
}

__global__ void rounds(int *data, int *next, int n, int count) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < count; round++) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) next[i] = data[(i + 1) % n] + data[(i + n - 1) % n];
    grid.sync();
    int *swap = data;
    data = next, next = swap;
  }
  if (!grid.is_valid()) data[0] = -1;
}

static void test_tiles() {
  const int n = 128;
  int *out = device_array<int>(4 * n), host[4 * n];
  tiles<<<1, n>>>(out, out + n, out + 2 * n, out + 3 * n);
  LAUNCHED();
  host_copy(host, out, 4 * n);
  for (int i = 0; i < n; i++) {
    int base = i & ~31, scan = 0, rank = 0, size = 0, fives = 0;
    for (int j = base; j < base + 32; j++) {
      scan += j < i ? 1 + j % 4 : 0;
      rank += j < i && j % 3 == 1;
      size += j % 3 == 1;
      fives += j % 5 == 0;
    }
    EXPECT(host[i] == (i & ~7) * 8 + 28);
    EXPECT(host[n + i] == scan);
    EXPECT(host[2 * n + i] == (i % 3 == 1 ? rank + 100 * size : -1));
    EXPECT(host[3 * n + i] == (i % 5 == 0 ? fives : 32 - fives));
  }
  CHECK(cudaFree(out));
}

static void test_filter() {
  const int n = 1000;
  std::vector<int> in(n), out(n);
  long long expected = 0, sum = 0;
  int count = 0, wanted = 0;
  for (int i = 0; i < n; i++) {
    in[i] = (i * 7919) % 1000;
    if (in[i] % 3 == 0) expected += in[i], wanted++;
  }
  int *source = device_copy(in.data(), n), *kept = device_array<int>(n), *counter = device_array<int>(1);
  filter<<<8, 128>>>(source, kept, counter, n);
  LAUNCHED();
  host_copy(&count, counter, 1);
  host_copy(out.data(), kept, n);
  for (int i = 0; i < count; i++) sum += out[i];
  EXPECT(count == wanted && sum == expected);
}

static void test_grid() {
  int n = 700, count = 5, per_sm = 0, sms = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rounds, 64, 0));
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  std::vector<int> host(n), next(n), result(n);
  for (int i = 0; i < n; i++) host[i] = i % 11;
  int *a = device_copy(host.data(), n), *b = device_array<int>(n);
  void *arguments[] = {&a, &b, &n, &count};
  int blocks = per_sm * sms < 6 ? per_sm * sms : 6;
  CHECK(cudaLaunchCooperativeKernel((void *)rounds, dim3(blocks), dim3(64), arguments, 0, 0));
  LAUNCHED();
  for (int round = 0; round < count; round++) {
    for (int i = 0; i < n; i++) next[i] = host[(i + 1) % n] + host[(i + n - 1) % n];
    host.swap(next);
  }
  host_copy(result.data(), count % 2 ? b : a, n);
  for (int i = 0; i < n; i++) EXPECT(result[i] == host[i]);
  EXPECT_ERROR(cudaErrorCooperativeLaunchTooLarge,
               cudaLaunchCooperativeKernel((void *)rounds, dim3(per_sm * sms + 1), dim3(64), arguments, 0, 0));
  cudaGetLastError();
}

int main() {
  test_tiles();
  test_filter();
  test_grid();
  return verdict();
}
