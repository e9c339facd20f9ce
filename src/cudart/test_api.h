// The interface as programs call it, for tests and fuzz targets: no header of NVIDIA's is needed.
#ifndef REDOUBT_CUDART_TEST_API_H
#define REDOUBT_CUDART_TEST_API_H

#include "cudart/runtime.h"

CudaError cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t wanted, uint64_t flags);
CudaError cuMemAlloc_v2(uint64_t *address, size_t bytes);
CudaError cuMemCreate(void **piece, size_t bytes, const void *properties, uint64_t flags);
CudaError cuMemsetD16_v2(uint64_t to, uint16_t value, size_t count);
CudaError cuMemsetD32_v2(uint64_t to, uint32_t value, size_t count);
CudaError cuModuleLoad(Binary **module, const char *path);
CudaError cuModuleLoadData(Binary **module, const void *image);
CudaError cuModuleUnload(Binary *module);
CudaError cudaCreateTextureObject(uint64_t *object, const ResourceDesc *resource, const TextureDesc *texture, const ResourceViewDesc *view);
CudaError cudaDestroyTextureObject(uint64_t object);
CudaError cudaDeviceSetLimit(int limit, size_t value);
CudaError cudaFree(void *pointer);
CudaError cudaFreeArray(Array *array);
CudaError cudaFreeMipmappedArray(Mipmap *mipmap);
CudaError cudaGetMipmappedArrayLevel(Array **array, const Mipmap *mipmap, uint32_t level);
CudaError cudaHostAlloc(void **pointer, size_t bytes, uint32_t flags);
CudaError cudaHostRegister(void *pointer, size_t bytes, uint32_t flags);
CudaError cudaHostUnregister(void *pointer);
CudaError cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream);
CudaError cudaMalloc(void **pointer, size_t bytes);
CudaError cudaMalloc3D(PitchedPointer *pitched, Extent extent);
CudaError cudaMalloc3DArray(Array **array, const ChannelDesc *channels, Extent extent, uint32_t flags);
CudaError cudaMallocArray(Array **array, const ChannelDesc *channels, size_t width, size_t height, uint32_t flags);
CudaError cudaMallocAsync(void **pointer, size_t bytes, Stream *stream);
CudaError cudaMallocManaged(void **pointer, size_t bytes, uint32_t flags);
CudaError cudaMallocMipmappedArray(Mipmap **mipmap, const ChannelDesc *channels, Extent extent, uint32_t levels, uint32_t flags);
CudaError cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
CudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
CudaError cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);
CudaError cudaMemcpy2DFromArray(void *to, size_t pitch, const Array *from, size_t x, size_t y, size_t width, size_t height, int kind);
CudaError cudaMemcpy2DToArray(Array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind);
CudaError cudaMemcpy3D(const Copy3D *copy);
CudaError cudaMemcpyArrayToArray(Array *to, size_t to_x, size_t to_y, Array *from, size_t from_x, size_t from_y, size_t bytes, int kind);
CudaError cudaMemcpyToArray(Array *to, size_t x, size_t y, const void *from, size_t bytes, int kind);
CudaError cudaMemset(void *pointer, int value, size_t bytes);
CudaError cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
CudaError cudaMemset3D(PitchedPointer pitched, int value, Extent extent);

#endif
