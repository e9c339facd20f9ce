// Heat on a plate by Jacobi's method. The host asks after every fourth step how much has changed: launches with reads between them.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

const int n = 128, block = 16, steps = 12;

__global__ void relax(const float *in, float *out) {
  int x = blockIdx.x * block + threadIdx.x, y = blockIdx.y * block + threadIdx.y, i = y * n + x;
  bool edge = x == 0 || y == 0 || x == n - 1 || y == n - 1;
  out[i] = edge ? in[i] : 0.25f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

// The largest change in each row.
__global__ void change(const float *a, const float *b, float *rows) {
  __shared__ float most[n];
  most[threadIdx.x] = fabsf(a[blockIdx.x * n + threadIdx.x] - b[blockIdx.x * n + threadIdx.x]);
  for (int step = n / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + step]);
  }
  if (threadIdx.x == 0) rows[blockIdx.x] = most[0];
}

static float plate[n * n], rows[n];

int main() {
  float *a, *b, *changes;
  for (int i = 0; i < n * n; i++) plate[i] = i < n ? 100.0f : 0.0f;
  cudaMalloc(&a, sizeof plate);
  cudaMalloc(&b, sizeof plate);
  cudaMalloc(&changes, sizeof rows);
  cudaMemcpy(a, plate, sizeof plate, cudaMemcpyHostToDevice);
  cudaMemcpy(b, plate, sizeof plate, cudaMemcpyHostToDevice);
  for (int step = 1; step <= steps; step++) {
    relax<<<dim3(n / block, n / block), dim3(block, block)>>>(a, b);
    if (step % 4 == 0) {
      float most = 0;
      change<<<n, n>>>(a, b, changes);
      if (cudaMemcpy(rows, changes, sizeof rows, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
      for (int i = 0; i < n; i++) most = std::fmax(most, rows[i]);
      printf("step %d: %g\n", step, most);
      if (most < 0.001f) break;
    }
    float *other = a;
    a = b;
    b = other;
  }
  if (cudaMemcpy(plate, a, sizeof plate, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  double sum = 0;
  for (int i = 0; i < n * n; i++) sum += plate[i];
  printf("mean %.6g\n", sum / (n * n));
  return 0;
}
