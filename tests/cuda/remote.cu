// Stores, reductions and bulk copies into other blocks of a cluster, and copies to several of them, as a compiler makes them for sm_90.
// nvcc: -arch=sm_90a -lcuda
#include "check.h"

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
enum { THREADS = 64, RANKS = 4, BLOCKS = 8, WORDS = 64, COUNT = BLOCKS * WORDS };

// A barrier that waits for so many bytes; all threads of the cluster see it.
__device__ void expect(uint64_t *bar, uint32_t bytes) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, bytes);
  }
  cg::this_cluster().sync();
}
__device__ void wait(uint64_t *bar) {
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 0)) {}
}

// A transposition over the cluster: word (rank, i) goes to block i % RANKS, four of them at once where they adjoin.
__global__ void __cluster_dims__(RANKS, 1, 1) exchange(const int *in, int *out) {
  __shared__ alignas(16) int tile[WORDS];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), lane = threadIdx.x;
  expect(&bar, sizeof tile);
  unsigned to = lane % RANKS, place = rank * (WORDS / RANKS) + lane / RANKS;
  ptx::st_async(cluster.map_shared_rank(&tile[place], to), in[blockIdx.x * WORDS + lane], cluster.map_shared_rank(&bar, to));
  wait(&bar);
  out[blockIdx.x * WORDS + lane] = tile[lane];
  cluster.sync();
}

// Four words in one store.
__global__ void __cluster_dims__(2, 1, 1) pass_vector(int *out) {
  __shared__ alignas(16) int tile[4];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  unsigned other = cluster.block_rank() ^ 1;
  expect(&bar, sizeof tile);
  const int values[4] = {(int)other, 10, 20, 30};
  if (threadIdx.x == 0) ptx::st_async(cluster.map_shared_rank(tile, other), values, cluster.map_shared_rank(&bar, other));
  wait(&bar);
  if (threadIdx.x < 4) out[blockIdx.x * 4 + threadIdx.x] = tile[threadIdx.x];
  cluster.sync();
}

// Counts in the block of rank 0: sum, largest, increments.
__global__ void __cluster_dims__(RANKS, 1, 1) count(unsigned *out) {
  __shared__ unsigned sums[3];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  unsigned number = cluster.thread_rank();
  if (threadIdx.x < 3) sums[threadIdx.x] = 0;
  expect(&bar, cluster.block_rank() == 0 ? 3 * sizeof(unsigned) * RANKS * THREADS : 0);
  unsigned *there = cluster.map_shared_rank(sums, 0);
  uint64_t *told = cluster.map_shared_rank(&bar, 0);
  ptx::red_async(ptx::op_add, &there[0], number, told);
  ptx::red_async(ptx::op_max, &there[1], number, told);
  ptx::red_async(ptx::op_inc, &there[2], 99u, told);
  wait(&bar);
  if (cluster.block_rank() == 0 && threadIdx.x < 3) out[blockIdx.x / RANKS * 3 + threadIdx.x] = sums[threadIdx.x];
  cluster.sync();
}

// One block asks for data of global memory, for all blocks of the cluster; then each hands its part on to the next.
__global__ void __cluster_dims__(RANKS, 1, 1) spread(const int *in, int *out) {
  __shared__ alignas(16) int tile[WORDS], next[WORDS];
  __shared__ alignas(8) uint64_t bar, bar2;
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), after = (rank + 1) % RANKS;
  expect(&bar, sizeof tile);
  expect(&bar2, sizeof next);
  if (rank == 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(tile)),
                 "l"(__cvta_generic_to_global(in + blockIdx.x / RANKS * WORDS)), "r"((unsigned)sizeof tile),
                 "r"((unsigned)__cvta_generic_to_shared(&bar)), "h"((uint16_t)0xF)
                 : "memory");
  wait(&bar);
  tile[threadIdx.x] += 1000 * rank;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(next, after), tile, sizeof tile,
                       cluster.map_shared_rank(&bar2, after));
  wait(&bar2);
  out[blockIdx.x * WORDS + threadIdx.x] = next[threadIdx.x];
  cluster.sync();
}

// Leaves the size of its clusters to the launch.
__global__ void open_size(int *out) { out[0] = 1; }

static void check_occupancy() {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = BLOCKS;
  config.blockDim = THREADS;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = RANKS;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0, size = 0, same = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, open_size, &config));
  EXPECT(clusters > 0);
  CHECK(cudaOccupancyMaxPotentialClusterSize(&size, open_size, &config));
  EXPECT(size == 8);
  CHECK(cudaOccupancyMaxPotentialClusterSize(&size, pass_vector, &config));
  EXPECT(size == 2);
  cudaFunction_t function;
  CHECK(cudaGetFuncBySymbol(&function, (const void *)open_size));
  CUlaunchConfig driver = {BLOCKS, 1, 1, THREADS, 1, 1, 0, 0, (CUlaunchAttribute *)&attribute, 1};
  EXPECT(cuOccupancyMaxActiveClusters(&same, function, &driver) == CUDA_SUCCESS && same == clusters);
  EXPECT(cuOccupancyMaxPotentialClusterSize(&same, function, &driver) == CUDA_SUCCESS && same == 8);
  CHECK(cudaFuncSetAttribute(open_size, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(cudaOccupancyMaxPotentialClusterSize(&size, open_size, &config));
  EXPECT(size > 8 && size <= 16);
}

int main() {
  static int in[COUNT], out[COUNT];
  for (int i = 0; i < COUNT; i++) in[i] = 3 * i + 1;
  int *source = device_copy(in, COUNT), *target = device_array<int>(COUNT);
  exchange<<<BLOCKS, THREADS>>>(source, target);
  LAUNCHED();
  host_copy(out, target, COUNT);
  for (int i = 0; i < COUNT; i++) {
    int cluster = i / WORDS / RANKS, rank = i / WORDS % RANKS, place = i % WORDS;
    EXPECT(out[i] == in[(cluster * RANKS + place / (WORDS / RANKS)) * WORDS + place % (WORDS / RANKS) * RANKS + rank]);
  }
  pass_vector<<<2, 32>>>(target);
  LAUNCHED();
  host_copy(out, target, 8);
  for (int i = 0; i < 8; i++) EXPECT(out[i] == (i % 4 == 0 ? i / 4 : 10 * (i % 4)));
  unsigned *sums = device_array<unsigned>(6), counted[6];
  count<<<BLOCKS, THREADS>>>(sums);
  LAUNCHED();
  host_copy(counted, sums, 6);
  for (int i = 0; i < 6; i++) EXPECT(counted[i] == (i % 3 == 0 ? 255u * 128 : i % 3 == 1 ? 255u : 256u % 100));
  spread<<<BLOCKS, THREADS>>>(source, target);
  LAUNCHED();
  host_copy(out, target, COUNT);
  for (int i = 0; i < COUNT; i++) EXPECT(out[i] == in[i / WORDS / RANKS * WORDS + i % WORDS] + 1000 * ((i / WORDS + RANKS - 1) % RANKS));
  check_occupancy();
  return verdict();
}
