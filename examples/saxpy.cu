// y = a * x + y: a whole CUDA program, for docs/howto/cuda.md.
//   nvcc -arch=sm_75 -cudart shared -o saxpy saxpy.cu
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1024;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; i++) x[i] = (float)i, y[i] = 1;
  float *device_x, *device_y;
  cudaMalloc(&device_x, n * sizeof(float));
  cudaMalloc(&device_y, n * sizeof(float));
  cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<n / 128, 128>>>(2, device_x, device_y, n);
  if (cudaMemcpy(y.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  double sum = 0;
  for (float value : y) sum += value;
  printf("sum %.0f\n", sum);
}
