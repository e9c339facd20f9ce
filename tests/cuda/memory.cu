// Allocation and copies of every shape: linear, pitched, 3D, asynchronous, symbols, pinned and registered host memory.
#include "check.h"
#include <cstring>
#include <vector>

__constant__ float coefficients[16];
__device__ int counters[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ double single;

__global__ void scale(float *data, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((float *)((char *)data + y * pitch))[x] *= coefficients[x & 15];
}

__global__ void bump() { counters[threadIdx.x] += threadIdx.x * 10, single = 0.5 + counters[0]; }

__global__ void increment(int *data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i]++;
}

static void test_pitched() {
  const int width = 37, height = 21;
  std::vector<float> in(width * height), out(width * height);
  float constants[16];
  for (int i = 0; i < 16; i++) constants[i] = 1.0f + i;
  for (int i = 0; i < width * height; i++) in[i] = (float)i;
  CHECK(cudaMemcpyToSymbol(coefficients, constants, 8 * sizeof(float)));
  CHECK(cudaMemcpyToSymbol(coefficients, constants + 8, 8 * sizeof(float), 8 * sizeof(float), cudaMemcpyHostToDevice));
  float *data;
  size_t pitch;
  CHECK(cudaMallocPitch(&data, &pitch, width * sizeof(float), height));
  EXPECT(pitch >= width * sizeof(float) && pitch % 32 == 0);
  CHECK(cudaMemset2D(data, pitch, 0xff, width * sizeof(float), height));
  CHECK(cudaMemcpy2D(data, pitch, in.data(), width * sizeof(float), width * sizeof(float), height, cudaMemcpyHostToDevice));
  scale<<<dim3(3, 3), dim3(16, 8)>>>(data, pitch, width, height);
  LAUNCHED();
  CHECK(cudaMemcpy2DAsync(out.data(), width * sizeof(float), data, pitch, width * sizeof(float), height, cudaMemcpyDefault));
  for (int i = 0; i < width * height; i++) EXPECT(out[i] == in[i] * constants[i % width & 15]);
  CHECK(cudaFree(data));
}

static void test_volume() {
  const int width = 10, height = 6, depth = 4;
  std::vector<int> in(width * height * depth), out(in.size(), -1);
  for (size_t i = 0; i < in.size(); i++) in[i] = (int)(i * i);
  cudaExtent extent = make_cudaExtent(width * sizeof(int), height, depth);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, extent));
  CHECK(cudaMemset3D(volume, 0, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), width * sizeof(int), width, height);
  copy.dstPtr = volume;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms back = {};
  back.srcPtr = volume;
  back.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
  back.dstPtr = make_cudaPitchedPtr(out.data(), width * sizeof(int), width, height);
  back.dstPos = make_cudaPos(0, 0, 2);
  back.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  for (int z = 0; z < depth; z++)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        bool copied = x < 3 && y < 2 && z >= 2;
        int expected = copied ? in[((z - 1) * height + y + 1) * width + x + 2] : -1;
        EXPECT(out[(z * height + y) * width + x] == expected);
      }
  CHECK(cudaFree(volume.ptr));
}

static void test_symbols() {
  bump<<<1, 8>>>();
  LAUNCHED();
  int values[8];
  double number = 0;
  CHECK(cudaMemcpyFromSymbol(values, counters, sizeof values));
  CHECK(cudaMemcpyFromSymbol(&number, single, sizeof number));
  for (int i = 0; i < 8; i++) EXPECT(values[i] == i + 1 + i * 10);
  EXPECT(number == 1.5);
  void *address = nullptr;
  size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, counters));
  CHECK(cudaGetSymbolSize(&bytes, counters));
  EXPECT(bytes == sizeof counters);
  CHECK(cudaMemset(address, 0, 4));
  CHECK(cudaMemcpyFromSymbolAsync(values, counters, 8, 0, cudaMemcpyDeviceToHost, 0));
  EXPECT(values[0] == 0 && values[1] == 12);
  CHECK(cudaMemcpyToSymbolAsync(counters, values, 4, 28, cudaMemcpyHostToDevice, 0));
  CHECK(cudaMemcpyFromSymbol(values, counters, 4, 28));
  EXPECT(values[0] == 0);
}

static void test_host_memory() {
  const int n = 1000;
  int *pinned, *mapped, *pageable = (int *)std::aligned_alloc(4096, 4096), *alias = nullptr;
  int *data = device_array<int>(n);
  CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
  CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostRegister(pageable, 4096, cudaHostRegisterMapped));
  for (int i = 0; i < n; i++) pinned[i] = mapped[i] = pageable[i] = i;
  CHECK(cudaMemcpyAsync(data, pinned, n * sizeof(int), cudaMemcpyHostToDevice, 0));
  increment<<<(n + 127) / 128, 128>>>(data, n);
  CHECK(cudaMemcpyAsync(pinned, data, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
  CHECK(cudaMemsetAsync(data, 0, n * sizeof(int), 0));
  CHECK(cudaHostGetDevicePointer(&alias, mapped, 0));
  increment<<<(n + 127) / 128, 128>>>(alias, n);
  CHECK(cudaHostGetDevicePointer(&alias, pageable, 0));
  increment<<<(n + 127) / 128, 128>>>(alias, n);
  LAUNCHED();
  for (int i = 0; i < n; i++) EXPECT(pinned[i] == i + 1 && mapped[i] == i + 1 && pageable[i] == i + 1);
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, data));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == data);
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == pinned);
  CHECK(cudaHostUnregister(pageable));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaFree(data));
  std::free(pageable);
}

int main() {
  test_pitched();
  test_volume();
  test_symbols();
  test_host_memory();
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree((void *)0x1234));
  CHECK(cudaFree(nullptr));
  cudaGetLastError();
  void *huge = nullptr;
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&huge, (size_t)1 << 50));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaGetLastError());
  size_t available = 0, total = 0;
  CHECK(cudaMemGetInfo(&available, &total));
  EXPECT(available > 0 && available <= total);
  return verdict();
}
