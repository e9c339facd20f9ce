// What the runtime says of the device and of kernels: properties, attributes, occupancy, limits, versions, interoperability.
#include "check.h"
#include <cstring>

__global__ void __launch_bounds__(128, 2) bounded(float *data) { data[threadIdx.x] = data[threadIdx.x] * 2.0f; }

__global__ void sharing(float *data) {
  __shared__ float tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[255 - threadIdx.x];
}

// The interoperability with OpenGL needs a display: the entry points exist and refuse.
extern "C" {
cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(cudaGraphicsResource **resource, unsigned buffer, unsigned flags);
cudaError_t CUDARTAPI cudaGraphicsGLRegisterImage(cudaGraphicsResource **resource, unsigned image, unsigned target, unsigned flags);
}

static void test_properties() {
  int count = 0, device = -1;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  EXPECT(device == 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaSetDevice(count));
  cudaGetLastError();
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(std::strlen(properties.name) > 0 && properties.totalGlobalMem > 0);
  EXPECT(properties.warpSize == 32 && properties.major >= 7 && properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.maxThreadsDim[0] == 1024 && properties.maxThreadsDim[2] == 64 && properties.maxGridSize[0] == 2147483647);
  EXPECT(properties.sharedMemPerBlock >= 16 * 1024 && properties.totalConstMem == 65536 && properties.regsPerBlock > 0);
  EXPECT(properties.canMapHostMemory && properties.unifiedAddressing && properties.managedMemory);
  struct Pair {
    cudaDeviceAttr attribute;
    int value;
  } pairs[] = {
      {cudaDevAttrWarpSize, properties.warpSize},
      {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
      {cudaDevAttrComputeCapabilityMajor, properties.major},
      {cudaDevAttrComputeCapabilityMinor, properties.minor},
      {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, (int)properties.sharedMemPerBlock},
      {cudaDevAttrMaxThreadsPerMultiProcessor, properties.maxThreadsPerMultiProcessor},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrUnifiedAddressing, 1},
  };
  for (const Pair &pair : pairs) {
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, pair.attribute, 0));
    EXPECT(value == pair.value);
  }
  int clock = 0;
  CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
  EXPECT(clock > 0);
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 7));
  cudaGetLastError();
}

static void test_functions() {
  int most = 0; // bytes of shared memory: machines differ
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, sharing));
  EXPECT(attributes.sharedSizeBytes == 1024 && attributes.numRegs > 0 && attributes.maxThreadsPerBlock >= 256);
  CHECK(cudaFuncGetAttributes(&attributes, bounded));
  EXPECT(attributes.maxThreadsPerBlock == 128 && attributes.ptxVersion >= 70);
  CHECK(cudaFuncSetCacheConfig(sharing, cudaFuncCachePreferShared));
  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  CHECK(cudaFuncSetAttribute(sharing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  int blocks = 0, grid = 0, size = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sharing, 256, 0));
  EXPECT(blocks > 0 && blocks <= 8);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, sharing, 256, most - 8 * 1024, cudaOccupancyDefault));
  EXPECT(blocks >= 1);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, sharing, 0, 0));
  EXPECT(size >= 32 && size <= 1024 && size % 32 == 0 && grid >= 1);
  size_t dynamic = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, sharing, 1, 256));
  EXPECT(dynamic >= most - 8 * 1024);
  float host[256], *data = device_array<float>(256);
  sharing<<<1, 256>>>(data);
  LAUNCHED();
  bounded<<<1, 129>>>(data);
  EXPECT(cudaGetLastError() != cudaSuccess);
  host_copy(host, data, 256);
  CHECK(cudaFree(data));
}

static void test_limits_and_versions() {
  size_t bytes = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes >= 32 << 20);
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  EXPECT(bytes >= 1024);
  CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
  int driver = 0, runtime = 0, peer = 1;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  EXPECT(driver >= runtime && runtime >= 11000);
  CHECK(cudaDeviceCanAccessPeer(&peer, 0, 0));
  EXPECT(peer == 0);
  EXPECT(cudaDeviceEnablePeerAccess(0, 0) != cudaSuccess);
  EXPECT(cudaDeviceDisablePeerAccess(0) != cudaSuccess);
  cudaGetLastError();
  EXPECT(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
  EXPECT(std::strlen(cudaGetErrorString(cudaErrorInvalidValue)) > 0);
  char bus[32];
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
}

static void test_graphics() {
  cudaGraphicsResource *resource = nullptr;
  EXPECT(cudaGraphicsGLRegisterBuffer(&resource, 1, 0) != cudaSuccess);
  EXPECT(cudaGraphicsGLRegisterImage(&resource, 1, 0x0de1, 0) != cudaSuccess);
  void *pointer = nullptr;
  size_t size = 0;
  EXPECT(cudaGraphicsMapResources(1, &resource, 0) != cudaSuccess);
  EXPECT(cudaGraphicsResourceGetMappedPointer(&pointer, &size, resource) != cudaSuccess);
  EXPECT(cudaGraphicsUnmapResources(1, &resource, 0) != cudaSuccess);
  EXPECT(cudaGraphicsUnregisterResource(resource) != cudaSuccess);
  cudaGetLastError();
}

int main() {
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
  test_properties();
  test_functions();
  test_limits_and_versions();
  test_graphics();
  CHECK(cudaDeviceReset());
  float *data = device_array<float>(128);
  bounded<<<1, 128>>>(data);
  LAUNCHED();
  return verdict();
}
