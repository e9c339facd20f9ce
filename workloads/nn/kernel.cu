// Nearest neighbour: distances of all points to a query, then each block's nearest point.
#include "../cuda.h"

enum { THREADS = 128 };

extern "C" __global__ void nn_distances(const float *x, const float *y, float *distance, unsigned n, float query_x, float query_y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float dx = x[i] - query_x;
  float dy = y[i] - query_y;
  distance[i] = sqrtf(dx * dx + dy * dy);
}

// Ties go to the lower index, so that the answer does not depend on the order of threads.
extern "C" __global__ void nn_nearest(const float *distance, float *least, unsigned *where, unsigned n) {
  __shared__ float best[THREADS];
  __shared__ unsigned index[THREADS];
  unsigned i = blockIdx.x * THREADS + threadIdx.x;
  best[threadIdx.x] = i < n ? distance[i] : 1e30f;
  index[threadIdx.x] = i;
  __syncthreads();
  for (unsigned width = THREADS / 2; width > 0; width /= 2) {
    if (threadIdx.x < width && best[threadIdx.x + width] < best[threadIdx.x]) {
      best[threadIdx.x] = best[threadIdx.x + width];
      index[threadIdx.x] = index[threadIdx.x + width];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    least[blockIdx.x] = best[0];
    where[blockIdx.x] = index[0];
  }
}
