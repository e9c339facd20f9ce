// nvcc: -lcuda
// Sizes at the edges of 64 bits and handles that are none, through NVIDIA's own headers: the errors of CUDA, never a crash.
#include "check.h"
#include <cstdint>
#include <cuda.h>

#define EXPECT_DRIVER(expected, call)                                                                          \
  do {                                                                                                         \
    CUresult result = (call);                                                                                  \
    if (result != (expected)) std::fprintf(stderr, "line %d: %d: %s\n", __LINE__, (int)result, #call), failures++; \
  } while (0)

static const size_t top = (size_t)1 << 63, large = (size_t)1 << 33, most = ~(size_t)0;

__global__ void twice(int *data) { data[threadIdx.x] *= 2; }

static void test_allocations() {
  void *pointer = nullptr;
  size_t pitch = 0;
  cudaPitchedPtr volume;
  cudaArray_t array;
  cudaMipmappedArray_t mipmap;
  cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocPitch(&pointer, &pitch, large, large));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMallocPitch(&pointer, &pitch, most, 1));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc3D(&volume, make_cudaExtent(large, large, 1)));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc3D(&volume, make_cudaExtent(1, large, large)));
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&pointer, most));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocArray(&array, &channels, most, most));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &channels, make_cudaExtent(large, large, large)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(most, most, most), 3));
  cudaGetLastError();
}

static void test_copies() {
  int *data = device_array<int>(1024);
  static int host[1024];
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(data, top, 1, 64, 3));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset2D(data, most, 1, 1, 2));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(data, 1, most));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset3D(make_cudaPitchedPtr(data, 0, 0, 0), 1, make_cudaExtent(1, 1, most)));
  EXPECT_ERROR(cudaErrorInvalidPitchValue, cudaMemcpy2D(data, top, host, top, 64, 3, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidPitchValue, cudaMemcpy2D(host, 64, data, top, 64, 3, cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = copy.dstPtr = make_cudaPitchedPtr(data, 64, 64, 8);
  copy.extent = make_cudaExtent(64, 8, 8);
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy.srcPos = make_cudaPos(0, 0, most);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&copy));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_VALUE, cuMemsetD32((CUdeviceptr)data, 1, ((size_t)1 << 62) + 1));
  cudaGetLastError();
  CHECK(cudaMemset(data, 0, 4096)); // none of it did harm
  twice<<<1, 32>>>(data);
  LAUNCHED();
  CHECK(cudaFree(data));
}

static void test_handles() {
  CUfunction function;
  CUmodule module = (CUmodule)0x41;
  CUcontext context;
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "f"));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)0x41, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)0x41));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, (void *)0x41));
  EXPECT_DRIVER(CUDA_SUCCESS, cuModuleLoadData(&module, ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"));
  EXPECT_DRIVER(CUDA_SUCCESS, cuModuleGetFunction(&function, module, "f"));
  EXPECT_DRIVER(CUDA_SUCCESS, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_DRIVER(CUDA_SUCCESS, cuModuleUnload(module));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_DRIVER(CUDA_SUCCESS, cuCtxCreate(&context, nullptr, 0, 0));
  EXPECT_DRIVER(CUDA_SUCCESS, cuCtxDestroy(context));
  EXPECT_DRIVER(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(context));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamDestroy(stream));
  EXPECT_ERROR(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(graph));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGraphLaunch((cudaGraphExec_t)0x41, 0));
  cudaGetLastError();
}

int main() {
  test_allocations();
  test_copies();
  test_handles();
  CHECK(cudaDeviceSynchronize());
  return verdict();
}
