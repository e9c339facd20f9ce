// Hybrid sort (Sintorn and Assarsson 2008): a bucket sort into 1,024 buckets of about the same size, then a merge sort of each bucket.
// Buckets begin at multiples of four elements and are filled up with a number above all others, so that threads merge four at a time.
#include "../cuda.h"

enum { BUCKETS = 1024, WARP = 32, ITEMS = 1024 }; // ITEMS: elements of a block in the bucket phase

__constant__ unsigned starts[BUCKETS + 1]; // of the buckets with their filling, in vectors of four
__constant__ unsigned firsts[BUCKETS + 1]; // of the buckets in the sorted list

static __device__ unsigned end_of_block(unsigned n) {
  unsigned end = (blockIdx.x + 1) * ITEMS;
  return end < n ? end : n;
}

// ---- The bucket phase: a warp a block -------------------------------------------------------------------------------------------

// How many elements lie in each of 1,024 bins of the same width; the host chooses the buckets' limits by it.
extern "C" __global__ void hybridsort_histogram(const float *in, unsigned *bins, float least, float bins_per_unit, unsigned n) {
  __shared__ unsigned own[BUCKETS];
  for (unsigned i = threadIdx.x; i < BUCKETS; i += WARP) own[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * ITEMS + threadIdx.x; i < end_of_block(n); i += WARP) {
    int bin = (int)((in[i] - least) * bins_per_unit);
    atomicAdd(&own[bin < 0 ? 0 : bin >= BUCKETS ? BUCKETS - 1 : bin], 1);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < BUCKETS; i += WARP) atomicAdd(&bins[i], own[i]);
}

// A bucket holds what is at least its lower limit; limit i is the lower one of bucket i + 1.
static __device__ unsigned bucket_of(float value, Texture limits) {
  unsigned bucket = 0;
  for (unsigned step = BUCKETS / 2; step > 0; step /= 2) {
    if (value >= fetch_float(limits, (int)(bucket + step - 1))) bucket += step;
  }
  return bucket;
}

// The bucket of each element, and how many of the same bucket come before it in the block.
extern "C" __global__ void hybridsort_count(const float *in, unsigned *place, unsigned *counts, Texture limits, unsigned n) {
  __shared__ unsigned own[BUCKETS];
  for (unsigned i = threadIdx.x; i < BUCKETS; i += WARP) own[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * ITEMS + threadIdx.x; i < end_of_block(n); i += WARP) {
    unsigned bucket = bucket_of(in[i], limits);
    place[i] = atomicAdd(&own[bucket], 1) * BUCKETS + bucket;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < BUCKETS; i += WARP) counts[blockIdx.x * BUCKETS + i] = own[i];
}

// For each bucket: the counts of the blocks become sums over the blocks before.
extern "C" __global__ void hybridsort_prefix(unsigned *counts, unsigned *totals, unsigned blocks) {
  unsigned bucket = blockIdx.x * WARP + threadIdx.x, sum = 0;
  for (unsigned block = 0; block < blocks; block++) {
    unsigned count = counts[block * BUCKETS + bucket];
    counts[block * BUCKETS + bucket] = sum;
    sum += count;
  }
  totals[bucket] = sum;
}

extern "C" __global__ void hybridsort_scatter(const float *in, float *out, const unsigned *place, const unsigned *counts, const unsigned *offsets,
                                              unsigned n) {
  __shared__ unsigned own[BUCKETS];
  for (unsigned i = threadIdx.x; i < BUCKETS; i += WARP) own[i] = offsets[i] + counts[blockIdx.x * BUCKETS + i];
  __syncthreads();
  for (unsigned i = blockIdx.x * ITEMS + threadIdx.x; i < end_of_block(n); i += WARP) out[own[place[i] % BUCKETS] + place[i] / BUCKETS] = in[i];
}

// ---- The merge phase: every bucket has as many threads as the largest needs ---------------------------------------------------------

static __device__ void order(float &a, float &b) {
  float less = fminf(a, b), more = fmaxf(a, b);
  a = less;
  b = more;
}

// Sorts what first rises and then falls, or the other way round.
static __device__ void sort_bitonic(float4 &v) {
  order(v.x, v.z);
  order(v.y, v.w);
  order(v.x, v.y);
  order(v.z, v.w);
}

// Sorts each four elements.
extern "C" __global__ void hybridsort_fours(float4 *list, unsigned threads_per_bucket) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, bucket = thread / threads_per_bucket;
  if (bucket >= BUCKETS) return;
  unsigned at = starts[bucket] + thread % threads_per_bucket;
  if (at >= starts[bucket + 1]) return;
  float4 v = list[at];
  order(v.x, v.y);
  order(v.w, v.z); // falls
  sort_bitonic(v);
  list[at] = v;
}

// a gets the four least of two sorted vectors, b the others.
static __device__ void merge(float4 &a, float4 &b) {
  float4 low = {fminf(a.x, b.w), fminf(a.y, b.z), fminf(a.z, b.y), fminf(a.w, b.x)};
  float4 high = {fmaxf(a.x, b.w), fmaxf(a.y, b.z), fmaxf(a.z, b.y), fmaxf(a.w, b.x)};
  sort_bitonic(low);
  sort_bitonic(high);
  a = low;
  b = high;
}

// A thread merges two sorted runs of `run` vectors; at a bucket's end they may be shorter, or there may be one.
extern "C" __global__ void hybridsort_merge(const float4 *from, float4 *to, unsigned threads_per_bucket, unsigned run) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, bucket = thread / threads_per_bucket;
  if (bucket >= BUCKETS) return;
  unsigned end = starts[bucket + 1], left = starts[bucket] + thread % threads_per_bucket * 2 * run, out = left;
  if (left >= end) return;
  unsigned left_end = left + run < end ? left + run : end, right = left_end, right_end = left_end + run < end ? left_end + run : end;
  float4 rest = from[left++];
  while (left < left_end || right < right_end) {
    bool from_left = right == right_end || (left < left_end && from[left].x <= from[right].x);
    float4 next = from[from_left ? left : right];
    if (from_left)
      left++;
    else
      right++;
    merge(next, rest);
    to[out++] = next;
  }
  to[out] = rest;
}

// Leaves out what the buckets were filled up with.
extern "C" __global__ void hybridsort_pack(const float *from, float *out, unsigned threads_per_bucket) {
  unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, bucket = thread / threads_per_bucket;
  if (bucket >= BUCKETS) return;
  unsigned i = thread % threads_per_bucket, first = firsts[bucket];
  if (i < firsts[bucket + 1] - first) out[first + i] = from[starts[bucket] * 4 + i];
}
