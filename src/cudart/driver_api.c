// The part of the driver's interface (libcuda.so.1) that programs use beside or instead of the runtime's: devices,
// modules, memory, launches. Contexts are in driver_context.c. Result codes are those of the runtime wherever both exist.
#include "cudart/driver.h"

#include <stdio.h>

typedef struct DriverLink { // PTX on its way to a module (cuLink*)
  Text ptx;
} DriverLink;

EXPORT CudaError cudaDeviceGetAttribute(int *value, int attribute, int device);
EXPORT CudaError cudaMalloc(void **pointer, size_t bytes);
EXPORT CudaError cudaFree(void *pointer);
EXPORT CudaError cudaHostAlloc(void **pointer, size_t bytes, uint32_t flags);
EXPORT CudaError cudaFreeHost(void *pointer);
EXPORT CudaError cudaMallocManaged(void **pointer, size_t bytes, uint32_t flags);
EXPORT CudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
EXPORT CudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, Stream *stream);
EXPORT CudaError cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
EXPORT CudaError cudaDriverGetVersion(int *version);
EXPORT CudaError cudaStreamCreateWithFlags(Stream **stream, uint32_t flags);
EXPORT CudaError cudaStreamDestroy(Stream *stream);
EXPORT CudaError cudaStreamSynchronize(Stream *stream);
EXPORT CudaError cudaEventCreateWithFlags(Event **event, uint32_t flags);
EXPORT CudaError cudaEventDestroy(Event *event);
EXPORT CudaError cudaEventRecord(Event *event, Stream *stream);
EXPORT CudaError cudaEventSynchronize(Event *event);
EXPORT CudaError cudaEventElapsedTime(float *milliseconds, Event *first, Event *last);
EXPORT CudaError cudaFuncSetAttribute(const void *host, int attribute, int value);
EXPORT CudaError cudaFuncSetCacheConfig(const void *host, int config);
EXPORT CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared_bytes);
EXPORT const char *cudaGetErrorName(CudaError error);
EXPORT const char *cudaGetErrorString(CudaError error);

CudaError driver_code(CudaError error) {
  switch (error) {
  case cudaErrorInvalidDeviceFunction: return cudaErrorInvalidResourceHandle; // CUDA_ERROR_INVALID_HANDLE
  case cudaErrorInvalidConfiguration:
  case cudaErrorInvalidPitchValue:
  case cudaErrorInvalidMemcpyDirection: return cudaErrorInvalidValue;
  default: return error;
  }
}

// ---- Device -----------------------------------------------------------------------------------------

// A program that finds the driver by dlopen shows here that it is simulated (see loaded.c).
CUDART(cuInit, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  runtime_greet();
  return runtime_leave(runtime, flags == 0 ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cuDriverGetVersion, int *version) { return cudaDriverGetVersion(version); }

CUDART(cuDeviceGetCount, int *count) {
  if (count != NULL) *count = 1;
  return count == NULL ? cudaErrorInvalidValue : cudaSuccess;
}
CUDART(cuDeviceGet, DriverDevice *device, int ordinal) {
  if (device == NULL) return cudaErrorInvalidValue;
  *device = 0;
  return ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
CUDART(cuDeviceGetName, char *name, int bytes, DriverDevice device) {
  if (device != 0 || name == NULL || bytes <= 0) return cudaErrorInvalidValue;
  Runtime *runtime = runtime_enter();
  snprintf(name, (size_t)bytes, "Redoubt %s", runtime->environment.spec.machine);
  runtime_leave_quietly(runtime);
  return cudaSuccess;
}
CUDART(cuDeviceGetAttribute, int *value, int attribute, DriverDevice device) { return cudaDeviceGetAttribute(value, attribute, device); }
CUDART(cuDeviceTotalMem_v2, size_t *bytes, DriverDevice device) {
  return device == 0 ? cudaMemGetInfo(NULL, bytes) : cudaErrorInvalidDevice;
}
CUDART(cuDeviceComputeCapability, int *major, int *minor, DriverDevice device) {
  if (major == NULL || minor == NULL) return cudaErrorInvalidValue;
  *major = 7;
  *minor = 5;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
CUDART(cuDeviceCanAccessPeer, int *can, DriverDevice device, DriverDevice peer) {
  (void)device, (void)peer;
  if (can == NULL) return cudaErrorInvalidValue;
  *can = 0;
  return cudaSuccess;
}

static CudaError give_text(const char **place, const char *text) {
  if (place == NULL) return cudaErrorInvalidValue;
  *place = text;
  return cudaSuccess;
}
CUDART(cuGetErrorName, CudaError error, const char **name) { return give_text(name, cudaGetErrorName(error)); }
CUDART(cuGetErrorString, CudaError error, const char **text) { return give_text(text, cudaGetErrorString(error)); }

// ---- Modules ------------------------------------------------------------------------------------------------------

CUDART(cuModuleLoadData, Binary **module, const void *image) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_from_image(runtime, image, 0, module));
}
CUDART(cuModuleLoadDataEx, Binary **module, const void *image, uint32_t count, int *options, void **values) {
  (void)count, (void)options, (void)values;
  return cuModuleLoadData(module, image);
}
CUDART_ALIAS(cuModuleLoadFatBinary, cuModuleLoadData)

CUDART(cuModuleLoad, Binary **module, const char *path) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_from_file(runtime, path, module));
}

CUDART(cuModuleUnload, Binary *module) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, binary_unload(runtime, module));
}

CUDART(cuModuleGetFunction, Kernel **function, Binary *module, const char *name) {
  Runtime *runtime = runtime_enter();
  if (function == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (!handle_is(runtime, module, HANDLE_BINARY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  Kernel *found = binary_kernel(runtime, module, name);
  if (found != NULL) *function = found;
  return runtime_leave(runtime, found == NULL ? DRIVER_NOT_FOUND : cudaSuccess);
}

CUDART(cuModuleGetGlobal_v2, uint64_t *address, size_t *bytes, Binary *module, const char *name) {
  Runtime *runtime = runtime_enter();
  uint64_t at, size;
  if (!handle_is(runtime, module, HANDLE_BINARY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  bool found = binary_symbol(runtime, module, name, &at, &size);
  if (found && address != NULL) *address = at;
  if (found && bytes != NULL) *bytes = size;
  return runtime_leave(runtime, found ? cudaSuccess : DRIVER_NOT_FOUND);
}

CUDART(cuFuncSetAttribute, const void *function, int attribute, int value) {
  return driver_code(cudaFuncSetAttribute(function, attribute, value));
}
CUDART(cuFuncSetCacheConfig, const void *function, int config) { return driver_code(cudaFuncSetCacheConfig(function, config)); }
CUDART(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, const void *function, int threads, size_t shared_bytes) {
  return driver_code(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared_bytes));
}

CUDART(cuLaunchKernel, const void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
       uint32_t block_z, uint32_t shared_bytes, Stream *stream, void **arguments, void **extra) {
  Runtime *runtime = runtime_enter();
  Operation operation = {.params = {.type = NODE_KERNEL}};
  operation.params.of.kernel = (KernelNodeParams){
      pointer_of(address_of(function)), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, arguments, extra};
  CudaError pending = runtime->sticky, error = driver_code(operation_queue(runtime, &operation, stream));
  if (pending != cudaSuccess || error != cudaSuccess) return runtime_leave(runtime, error);
  runtime_leave_quietly(runtime); // a trap shows at the next call
  return cudaSuccess;
}

// ---- Linking PTX at run time: the texts are kept and become one module -------------------------------------------

CUDART(cuLinkCreate_v2, uint32_t count, int *options, void **values, DriverLink **link) {
  (void)count, (void)options, (void)values;
  Runtime *runtime = runtime_enter();
  if (link == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *link = handle_new(runtime, HANDLE_LINK, sizeof **link);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuLinkAddData_v2, DriverLink *link, int type, const char *data, size_t bytes, const char *name, uint32_t count, int *options,
       void **values) {
  enum { INPUT_PTX = 1 };
  (void)name, (void)count, (void)options, (void)values;
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, link, HANDLE_LINK)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (data == NULL || bytes == 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (type != INPUT_PTX || link->ptx.length != 0) return runtime_leave(runtime, cudaErrorNotSupported);
  text_add_bytes(&link->ptx, data, strnlen(data, min_u64(bytes, mapped_bytes(data))));
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuLinkComplete, DriverLink *link, void **image, size_t *bytes) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, link, HANDLE_LINK)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (image == NULL || link->ptx.length == 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  *image = link->ptx.at;
  if (bytes != NULL) *bytes = link->ptx.length + 1;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuLinkDestroy, DriverLink *link) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, link, HANDLE_LINK)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  text_free(&link->ptx);
  handle_free(runtime, link);
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Memory, streams, events ------------------------------------------------------------------------------------------

CUDART(cuMemAlloc_v2, uint64_t *address, size_t bytes) {
  void *pointer = NULL;
  CudaError error = address == NULL || bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(&pointer, bytes);
  if (error == cudaSuccess) *address = address_of(pointer);
  return error;
}
CUDART(cuMemAllocManaged, uint64_t *address, size_t bytes, uint32_t flags) {
  void *pointer = NULL;
  CudaError error = address == NULL ? cudaErrorInvalidValue : cudaMallocManaged(&pointer, bytes, flags);
  if (error == cudaSuccess) *address = address_of(pointer);
  return error;
}
CUDART(cuMemFree_v2, uint64_t address) { return cudaFree(pointer_of(address)); }
CUDART(cuMemHostAlloc, void **pointer, size_t bytes, uint32_t flags) { return cudaHostAlloc(pointer, bytes, flags); }
CUDART(cuMemAllocHost_v2, void **pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }
CUDART(cuMemFreeHost, void *pointer) { return cudaFreeHost(pointer); }
CUDART(cuMemGetInfo_v2, size_t *free_bytes, size_t *total_bytes) { return cudaMemGetInfo(free_bytes, total_bytes); }
CUDART(cuMemcpyHtoD_v2, uint64_t to, const void *from, size_t bytes) { return cudaMemcpy(pointer_of(to), from, bytes, HOST_TO_DEVICE); }
CUDART(cuMemcpyDtoH_v2, void *to, uint64_t from, size_t bytes) { return cudaMemcpy(to, pointer_of(from), bytes, DEVICE_TO_HOST); }
CUDART(cuMemcpyDtoD_v2, uint64_t to, uint64_t from, size_t bytes) {
  return cudaMemcpy(pointer_of(to), pointer_of(from), bytes, DEVICE_TO_DEVICE);
}
CUDART(cuMemcpy, uint64_t to, uint64_t from, size_t bytes) { return cudaMemcpy(pointer_of(to), pointer_of(from), bytes, COPY_DEFAULT); }
CUDART(cuMemcpyHtoDAsync_v2, uint64_t to, const void *from, size_t bytes, Stream *stream) {
  return cudaMemcpyAsync(pointer_of(to), from, bytes, HOST_TO_DEVICE, stream);
}
CUDART(cuMemcpyDtoHAsync_v2, void *to, uint64_t from, size_t bytes, Stream *stream) {
  return cudaMemcpyAsync(to, pointer_of(from), bytes, DEVICE_TO_HOST, stream);
}

static CudaError fill(uint64_t to, uint32_t value, uint32_t element_bytes, size_t count) {
  Runtime *runtime = runtime_enter();
  MemsetParams set = {pointer_of(to), 0, value, element_bytes, count, 1};
  return runtime_leave(runtime, set_bytes(runtime, &set));
}
CUDART(cuMemsetD8_v2, uint64_t to, uint8_t value, size_t count) { return fill(to, value, 1, count); }
CUDART(cuMemsetD16_v2, uint64_t to, uint16_t value, size_t count) { return fill(to, value, 2, count); }
CUDART(cuMemsetD32_v2, uint64_t to, uint32_t value, size_t count) { return fill(to, value, 4, count); }

CUDART(cuStreamCreate, Stream **stream, uint32_t flags) { return cudaStreamCreateWithFlags(stream, flags); }
CUDART(cuStreamDestroy_v2, Stream *stream) { return cudaStreamDestroy(stream); }
CUDART(cuStreamSynchronize, Stream *stream) { return cudaStreamSynchronize(stream); }
CUDART(cuEventCreate, Event **event, uint32_t flags) { return cudaEventCreateWithFlags(event, flags); }
CUDART(cuEventDestroy_v2, Event *event) { return cudaEventDestroy(event); }
CUDART(cuEventRecord, Event *event, Stream *stream) { return cudaEventRecord(event, stream); }
CUDART(cuEventSynchronize, Event *event) { return cudaEventSynchronize(event); }
CUDART(cuEventElapsedTime, float *milliseconds, Event *first, Event *last) { return cudaEventElapsedTime(milliseconds, first, last); }
CUDART_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime)
