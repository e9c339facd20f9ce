// Half and bfloat16 arithmetic, and matrix products on tensor cores through wmma.
// nvcc: -arch=sm_80
#include "check.h"
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>

using namespace nvcuda;

__global__ void half_arithmetic(const float *in, float *out, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  half a = __float2half(in[i]), b = __float2half(in[n - 1 - i]);
  half2 pair = __halves2half2(a, b);
  half2 mixed = __hfma2(pair, __float2half2_rn(2.0f), __lowhigh2highlow(pair));
  out[i * 8 + 0] = __half2float(a + b);
  out[i * 8 + 1] = __half2float(__hmul(a, b));
  out[i * 8 + 2] = __low2float(mixed);
  out[i * 8 + 3] = __high2float(mixed);
  out[i * 8 + 4] = __half2float(hsqrt(__habs(a)));
  out[i * 8 + 5] = __hgt(a, b) ? 1.0f : 0.0f;
  out[i * 8 + 6] = __bfloat162float(__float2bfloat16(in[i]) * __float2bfloat16(2.0f));
  out[i * 8 + 7] = (float)__half2int_rn(a) + (float)__half_as_ushort(__int2half_rn(i));
}

static float rounded(float value) { return __half2float(__float2half(value)); }

static void test_arithmetic() {
  const int n = 64;
  std::vector<float> in(n), out(n * 8);
  for (int i = 0; i < n; i++) in[i] = (float)(i * i % 37) * 0.37f - 5.0f;
  float *source = device_copy(in.data(), n), *result = device_array<float>(n * 8);
  half_arithmetic<<<1, n>>>(source, result, n);
  LAUNCHED();
  host_copy(out.data(), result, n * 8);
  for (int i = 0; i < n; i++) {
    float a = rounded(in[i]), b = rounded(in[n - 1 - i]);
    EXPECT(out[i * 8 + 0] == rounded(a + b));
    EXPECT(out[i * 8 + 1] == rounded(a * b));
    EXPECT(out[i * 8 + 2] == rounded(a * 2 + b));
    EXPECT(out[i * 8 + 3] == rounded(b * 2 + a));
    EXPECT(std::fabs(out[i * 8 + 4] - std::sqrt(std::fabs(a))) <= 0.001f * std::sqrt(std::fabs(a)));
    EXPECT(out[i * 8 + 5] == (a > b ? 1.0f : 0.0f));
    EXPECT(out[i * 8 + 6] == __bfloat162float(__float2bfloat16(in[i])) * 2);
    EXPECT(out[i * 8 + 7] == std::nearbyint(a) + (float)__half_as_ushort(__float2half((float)i)));
  }
}

template <typename In, typename Out, typename Layout> __global__ void product(const In *a, const In *b, Out *c, int n) {
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, In, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, In, Layout> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Out> sum;
  wmma::fill_fragment(sum, (Out)0);
  for (int k = 0; k < n; k += 16) {
    bool rows = std::is_same<Layout, wmma::row_major>::value;
    wmma::load_matrix_sync(left, a + row * n + k, n);
    wmma::load_matrix_sync(right, rows ? b + k * n + column : b + column * n + k, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

template <typename In, typename Out, typename Layout> static void test_product() {
  const int n = 48;
  std::vector<In> a(n * n), b(n * n);
  std::vector<Out> c(n * n);
  std::vector<int> x(n * n), y(n * n);
  bool rows = std::is_same<Layout, wmma::row_major>::value;
  for (int i = 0; i < n * n; i++) {
    x[i] = i % 5, y[i] = i % 3;
    a[i] = (In)(float)x[i], b[i] = (In)(float)y[i];
  }
  In *da = device_copy(a.data(), n * n), *db = device_copy(b.data(), n * n);
  Out *dc = device_array<Out>(n * n);
  product<In, Out, Layout><<<dim3(n / 16, n / 16), 32>>>(da, db, dc, n);
  LAUNCHED();
  host_copy(c.data(), dc, n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int sum = 0;
      for (int k = 0; k < n; k++) sum += x[i * n + k] * (rows ? y[k * n + j] : y[j * n + k]);
      EXPECT((float)c[i * n + j] == (float)(2 * sum));
    }
}

int main() {
  test_arithmetic();
  test_product<half, float, wmma::row_major>();
  test_product<half, half, wmma::col_major>();
  test_product<__nv_bfloat16, float, wmma::col_major>();
  test_product<signed char, int, wmma::row_major>();
  return verdict();
}
