// Shared memory, static and dynamic, under templates: reductions of several types, a tiled product, a transpose.
#include "check.h"
#include <vector>

template <typename T, int Threads> __global__ void __launch_bounds__(Threads) reduce(const T *in, T *out, int n) {
  __shared__ T partial[Threads];
  T sum = 0;
  for (int i = blockIdx.x * Threads + threadIdx.x; i < n; i += Threads * gridDim.x) sum += in[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int step = Threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

template <typename T, int Threads> static void test_reduce() {
  const int n = 4321, blocks = 7;
  std::vector<T> in(n), out(blocks);
  T expected = 0;
  for (int i = 0; i < n; i++) in[i] = (T)(i % 13), expected += in[i];
  T *data = device_copy(in.data(), n), *sums = device_array<T>(blocks);
  reduce<T, Threads><<<blocks, Threads>>>(data, sums, n);
  LAUNCHED();
  host_copy(out.data(), sums, blocks);
  T total = 0;
  for (T value : out) total += value;
  EXPECT(total == expected);
  CHECK(cudaFree(data));
  CHECK(cudaFree(sums));
}

template <int Tile> __global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float left[Tile][Tile], right[Tile][Tile + 1];
  int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += Tile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < Tile; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

static void test_product() {
  const int n = 64;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = (float)(i % 7), b[i] = (float)(i % 5) - 2;
  float *da = device_copy(a.data(), n * n), *db = device_copy(b.data(), n * n), *dc = device_array<float>(n * n);
  product<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da, db, dc, n);
  LAUNCHED();
  host_copy(c.data(), dc, n * n);
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
      EXPECT(c[y * n + x] == sum);
    }
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
}

extern __shared__ unsigned char dynamic[];

__global__ void reverse(int *data, short *halves, int n) {
  int *words = (int *)dynamic;
  short *shorts = (short *)(words + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) words[i] = data[i], shorts[n - 1 - i] = (short)data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = words[n - 1 - i], halves[i] = shorts[i];
}

static void test_dynamic(int n) {
  size_t bytes = n * 6;
  int most = 0;
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  std::vector<int> host(n);
  std::vector<short> halves(n);
  for (int i = 0; i < n; i++) host[i] = i * 3;
  int *data = device_copy(host.data(), n);
  short *small = device_array<short>(n);
  if (bytes > 48 * 1024) {
    if ((int)bytes > most) return;
    reverse<<<1, 256, bytes>>>(data, small, n);
    EXPECT(cudaGetLastError() != cudaSuccess);
    CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  }
  reverse<<<1, 256, bytes>>>(data, small, n);
  LAUNCHED();
  host_copy(host.data(), data, n);
  host_copy(halves.data(), small, n);
  for (int i = 0; i < n; i++) EXPECT(host[i] == (n - 1 - i) * 3 && halves[i] == (short)((n - 1 - i) * 3));
  CHECK(cudaFree(data));
  CHECK(cudaFree(small));
}

int main() {
  test_reduce<int, 128>();
  test_reduce<float, 256>();
  test_reduce<double, 64>();
  test_reduce<unsigned char, 32>();
  test_reduce<long long, 512>();
  test_product();
  test_dynamic(1000);
  test_dynamic(10000);
  return verdict();
}
