// Thrust and CUB: sort, scan, reduce, unique, select, histogram, sort by key. The only program that includes them.
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <vector>

struct LowHalf {
  __host__ __device__ unsigned operator()(unsigned x) const { return x & 0xffff; }
};
struct Even {
  __host__ __device__ bool operator()(unsigned x) const { return x % 2 == 0; }
};

static std::vector<unsigned> numbers(int n) {
  std::vector<unsigned> values(n);
  unsigned state = 12345;
  for (unsigned &value : values) value = (state = state * 1664525u + 1013904223u) >> 8;
  return values;
}

static void test_thrust(const std::vector<unsigned> &in) {
  thrust::device_vector<unsigned> data(in.begin(), in.end());
  std::vector<unsigned> expected = in, out(in.size());
  std::sort(expected.begin(), expected.end());
  thrust::sort(data.begin(), data.end());
  thrust::copy(data.begin(), data.end(), out.begin());
  EXPECT(out == expected);
  EXPECT(thrust::reduce(data.begin(), data.end(), 0ull) == std::accumulate(in.begin(), in.end(), 0ull));
  unsigned most = thrust::transform_reduce(
      data.begin(), data.end(), LowHalf(), 0u, thrust::maximum<unsigned>());
  unsigned largest = 0;
  for (unsigned value : in) largest = std::max(largest, value & 0xffff);
  EXPECT(most == largest);
  thrust::inclusive_scan(data.begin(), data.end(), data.begin());
  std::partial_sum(expected.begin(), expected.end(), expected.begin());
  thrust::copy(data.begin(), data.end(), out.begin());
  EXPECT(out == expected);
}

// Calls a CUB algorithm twice: for the size of its scratch memory, then for good.
template <typename Algorithm> static void twice(Algorithm algorithm) {
  void *scratch = nullptr;
  size_t bytes = 0;
  CHECK(algorithm(scratch, bytes));
  CHECK(cudaMalloc(&scratch, bytes));
  CHECK(algorithm(scratch, bytes));
  LAUNCHED();
  CHECK(cudaFree(scratch));
}

static void test_cub(const std::vector<unsigned> &in) {
  int n = (int)in.size();
  unsigned *source = device_copy(in.data(), n), *keys = device_array<unsigned>(n);
  std::vector<unsigned> expected = in, out(n);
  std::vector<int> positions(n), order(n);
  std::iota(positions.begin(), positions.end(), 0);
  order = positions;
  int *places = device_copy(positions.data(), n), *sorted = device_array<int>(n), *count = device_array<int>(1);
  twice([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairs(s, b, source, keys, places, sorted, n); });
  host_copy(out.data(), keys, n);
  host_copy(positions.data(), sorted, n);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] < in[b]; });
  std::sort(expected.begin(), expected.end());
  EXPECT(out == expected && positions == order);
  Even even;
  twice([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, source, keys, count, n, even); });
  int kept = 0;
  host_copy(&kept, count, 1);
  host_copy(out.data(), keys, n);
  expected.clear();
  std::copy_if(in.begin(), in.end(), std::back_inserter(expected), [](unsigned x) { return x % 2 == 0; });
  EXPECT(kept == (int)expected.size() && std::equal(expected.begin(), expected.end(), out.begin()));
  twice([&](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, source, keys, n); });
  host_copy(out.data(), keys, n);
  unsigned sum = 0;
  for (int i = 0; i < n; i++) {
    EXPECT(out[i] == sum);
    sum += in[i];
  }
}

int main() {
  test_thrust(numbers(5000));
  test_cub(numbers(3000));
  return verdict();
}
