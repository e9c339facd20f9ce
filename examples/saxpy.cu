// y = a * x + y: a whole CUDA program, for docs/howto/cuda.md. saxpy [N]: of N elements, a multiple of 128.
//   nvcc -arch=sm_75 -cudart shared -o saxpy saxpy.cu
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void saxpy(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 131072;
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
