// Exclusive prefix sum: a work-efficient scan of each block (up-sweep, down-sweep), a scan of the
// blocks' totals by the same kernel, and an addition of those to every block.
#include "../cuda.h"

enum { THREADS = 128, ITEMS = 2 * THREADS };

extern "C" __global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *totals, unsigned n) {
  __shared__ unsigned tree[ITEMS];
  unsigned t = threadIdx.x;
  unsigned first = blockIdx.x * ITEMS;
  tree[t] = first + t < n ? in[first + t] : 0;
  tree[t + THREADS] = first + t + THREADS < n ? in[first + t + THREADS] : 0;
  unsigned offset = 1;
  for (unsigned nodes = THREADS; nodes > 0; nodes /= 2) {
    __syncthreads();
    if (t < nodes) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  __syncthreads();
  if (t == 0) {
    totals[blockIdx.x] = tree[ITEMS - 1];
    tree[ITEMS - 1] = 0;
  }
  for (unsigned nodes = 1; nodes <= THREADS; nodes *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < nodes) {
      unsigned left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      unsigned old = tree[left];
      tree[left] = tree[right];
      tree[right] += old;
    }
  }
  __syncthreads();
  if (first + t < n) out[first + t] = tree[t];
  if (first + t + THREADS < n) out[first + t + THREADS] = tree[t + THREADS];
}

extern "C" __global__ void scan_add(unsigned *out, const unsigned *sums, unsigned n) {
  unsigned i = blockIdx.x * ITEMS + threadIdx.x;
  unsigned sum = sums[blockIdx.x];
  if (i < n) out[i] += sum;
  if (i + THREADS < n) out[i + THREADS] += sum;
}
