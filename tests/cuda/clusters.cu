// Thread-block clusters as a compiler makes them for sm_90: cooperative groups, distributed shared memory, launches with a cluster dimension.
// nvcc: -arch=sm_90
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
enum { THREADS = 64, BLOCKS = 8, BINS = 128, COUNT = BLOCKS * THREADS };

// Each block reads and changes the memory of its neighbour.
__global__ void __cluster_dims__(4, 1, 1) ring(int *out) {
  __shared__ int mine[THREADS];
  auto cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  mine[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  cluster.sync();
  int *other = cluster.map_shared_rank(mine, next);
  int value = other[threadIdx.x];
  cluster.sync();
  atomicAdd(&other[0], 1);
  bool good =
      cluster.query_shared_rank(other) == next && cluster.dim_blocks().x == 4 && cluster.thread_rank() == rank * THREADS + threadIdx.x;
  cluster.sync();
  out[blockIdx.x * THREADS + threadIdx.x] = good ? value + (mine[0] - (int)blockIdx.x * 1000) : -1;
}

// A histogram over the shared memory of all blocks of a cluster, whose size the launch says.
__global__ void histogram(const int *in, int count, int *bins) {
  extern __shared__ int part[];
  auto cluster = cg::this_cluster();
  int each = BINS / cluster.num_blocks();
  for (int i = threadIdx.x; i < each; i += blockDim.x) part[i] = 0;
  cluster.sync();
  for (int i = cg::this_grid().thread_rank(); i < count; i += cg::this_grid().size()) {
    int bin = in[i] % BINS;
    atomicAdd(cluster.map_shared_rank(part, bin / each) + bin % each, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(&bins[cluster.block_rank() * each + i], part[i]);
}

// Rank 1 tells rank 0 by a remote arrival.
__global__ void __cluster_dims__(2, 1, 1) tell(int *out) {
  __shared__ int word;
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) cuda::ptx::mbarrier_init(&bar, 1);
  cluster.sync();
  if (cluster.block_rank() == 1 && threadIdx.x == 0) {
    *cluster.map_shared_rank(&word, 0) = 42;
    cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster, cuda::ptx::space_cluster,
                               cluster.map_shared_rank(&bar, 0));
  }
  if (cluster.block_rank() == 0) {
    while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster, &bar, 0)) {}
    if (threadIdx.x == 5) out[0] = word;
  }
  cluster.sync();
}

static cudaError_t launch_histogram(unsigned blocks, unsigned size, const int *in, int *bins) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = blocks;
  config.blockDim = THREADS;
  config.dynamicSmemBytes = BINS / size * sizeof(int);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int clusters = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, histogram, &config));
  EXPECT(clusters > 0);
  return cudaLaunchKernelEx(&config, histogram, in, (int)COUNT, bins);
}

int main() {
  static int in[COUNT], out[COUNT], counted[BINS], expected[BINS];
  int *target = device_array<int>(COUNT), *bins = device_array<int>(BINS);
  ring<<<BLOCKS, THREADS>>>(target);
  LAUNCHED();
  host_copy(out, target, COUNT);
  for (int i = 0; i < COUNT; i++) {
    int block = i / THREADS, next = block / 4 * 4 + (block + 1) % 4;
    EXPECT(out[i] == next * 1000 + i % THREADS + THREADS);
  }
  for (int i = 0; i < COUNT; i++) expected[(in[i] = i * i + 7 * i) % BINS]++;
  int *source = device_copy(in, COUNT);
  for (unsigned size : {1u, 2u, 8u}) {
    CHECK(cudaMemset(bins, 0, BINS * sizeof(int)));
    CHECK(launch_histogram(BLOCKS, size, source, bins));
    LAUNCHED();
    host_copy(counted, bins, BINS);
    for (int i = 0; i < BINS; i++) EXPECT(counted[i] == expected[i]);
  }
  EXPECT_ERROR(cudaErrorInvalidClusterSize, launch_histogram(6, 4, source, bins));
  EXPECT_ERROR(cudaErrorInvalidClusterSize, launch_histogram(16, 16, source, bins));
  (void)cudaGetLastError();
  CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(launch_histogram(16, 16, source, bins));
  LAUNCHED();
  tell<<<2, 32>>>(target);
  LAUNCHED();
  host_copy(out, target, 1);
  EXPECT(out[0] == 42);
  return verdict();
}
