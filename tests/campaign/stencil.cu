// A program that checks its own results, as samples do. What it does with a wrong one is an option:
//   silent  nothing           code  ends with code 1        word  says PASSED or FAILED
//   exact   like code, without tolerance                    clock  like word, and prints the time as well
//   month   like word, and prints a word that is never the same
//   early   like code, and gives up after the first half    managed  like code; results are never copied
//   print   like code, and a kernel prints what is out of range; it leaves nothing in memory
//   timed   like code, and prints how long the kernels took on the device
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <time.h>

const int n = 512, steps = 3;

__global__ void smooth(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = in[i == 0 ? 0 : i - 1], right = in[i == n - 1 ? i : i + 1];
  out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;
}

__global__ void show(const float *in) {
  float sum = 0;
  for (int k = 0; k < 16; k++) sum += static_cast<float>(k) * in[(blockIdx.x * 16 + threadIdx.x + k) % n];
  if (!(sum > 0 && sum < 1e5f)) printf("%d: %g\n", blockIdx.x, sum);
}

static float first(int i) { return static_cast<float>(i * 37 % 101); }

static void expect(float *values) {
  float other[n];
  for (int i = 0; i < n; i++) values[i] = first(i);
  for (int step = 0; step < steps; step++) {
    for (int i = 0; i < n; i++) other[i] = 0.25f * values[i == 0 ? 0 : i - 1] + 0.5f * values[i] + 0.25f * values[i == n - 1 ? i : i + 1];
    memcpy(values, other, sizeof other);
  }
}

static bool is_right(const float *got, const float *expected, int count, float tolerance) {
  for (int i = 0; i < count; i++) {
    if (!(std::fabs(got[i] - expected[i]) <= tolerance * expected[i])) return false;
  }
  return true;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "silent";
  auto is = [&](const char *name) { return strcmp(how, name) == 0; };
  float host[n], expected[n], *in, *out, tolerance = is("exact") ? 0 : 1e-3f;
  for (int i = 0; i < n; i++) host[i] = first(i);
  expect(expected);
  if (is("managed")) {
    cudaMallocManaged(&in, sizeof host);
    cudaMallocManaged(&out, sizeof host);
    memcpy(in, host, sizeof host);
  } else {
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  }
  cudaEvent_t begin, end;
  if (is("timed")) {
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
  }
  for (int step = 0; step < steps; step++) {
    smooth<<<n / 64, 64>>>(in, out);
    float *swap = in;
    in = out;
    out = swap;
  }
  if (is("print")) show<<<48, 32>>>(in);
  if (is("timed")) {
    float took = 0;
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess) return 2;
    cudaEventElapsedTime(&took, begin, end);
    printf("%.9g\n", took);
  }
  bool right = true;
  if (is("managed")) {
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    right = is_right(in, expected, n, tolerance);
  } else {
    for (int half = 0; half < 2; half++) {
      int from = half * n / 2;
      if (cudaMemcpy(host + from, in + from, sizeof host / 2, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
      right = right && is_right(host + from, expected + from, n / 2, tolerance);
      if (is("early") && !right) return 1;
    }
  }
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (is("clock")) printf("%d values\ntook until %6ld.%09ld, %.3g a second\n", n, static_cast<long>(now.tv_sec), now.tv_nsec, 1e9 / (double)now.tv_nsec);
  else if (is("month") || is("word")) printf("%d values\n", n);
  if (is("month")) {
    printf("now: ");
    for (long ticks = now.tv_nsec; ticks > 0; ticks /= 26) putchar('a' + static_cast<int>(ticks % 26));
    printf("\n");
  }
  if (is("word") || is("clock") || is("month")) printf("Test %s\n", right ? "PASSED" : "FAILED");
  bool tells = is("code") || is("exact") || is("early") || is("managed") || is("print") || is("timed");
  return tells && !right ? 1 : 0;
}
