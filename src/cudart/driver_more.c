// The rest of the driver's interface that programs use directly: how its functions are found, what it tells of devices, contexts,
// functions and memory, and further ways to launch.
#include "cudart/driver.h"

#include <dlfcn.h>
#include <stdio.h>

EXPORT CudaError cudaDeviceGetAttribute(int *value, int attribute, int device);
EXPORT CudaError cudaFuncGetAttributes(FuncAttributes *attributes, const void *host);
EXPORT CudaError cudaKernelSetAttributeForDevice(const void *host, int attribute, int value, int device);
EXPORT CudaError cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes,
                                             Stream *stream);
EXPORT CudaError cudaLaunchKernelExC(const LaunchConfig *config, const void *function, void **arguments);
EXPORT CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared_bytes);
EXPORT CudaError cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const LaunchConfig *config);
EXPORT CudaError cudaOccupancyMaxPotentialClusterSize(int *size, const void *host, const LaunchConfig *config);
EXPORT CudaError cuLaunchKernel(const void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                                uint32_t block_z, uint32_t shared_bytes, Stream *stream, void **arguments, void **extra);
EXPORT CudaError cuLinkAddData_v2(void *link, int type, const char *data, size_t bytes, const char *name, uint32_t count, int *options,
                                  void **values);

// ---- Finding functions -------------------------------------------------------------------------------

// A name of the interface means another function for programs of another version, where arguments changed.
static const struct {
  const char *name;
  int since; // version of CUDA
  const char *function;
} versions[] = {
    {"cuCtxCreate", 0, "cuCtxCreate_v2"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxGetDevice", 0, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 0, "cuCtxSynchronize"},
    {"cuGetProcAddress", 0, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuGraphInstantiate", 0, "cuGraphInstantiate_v2"},
    {"cuGraphInstantiate", 11040, "cuGraphInstantiateWithFlags"},
    {"cuMemAdvise", 0, "cuMemAdvise"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", 0, "cuMemPrefetchAsync"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCtx", 0, "cuStreamGetCtx"},
};

// Of this library, which may be loaded for a part of the program only.
static void *own_function(const char *name) {
  Dl_info about;
  if (dladdr(&versions, &about) == 0) return NULL;
  void *self = dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (self == NULL) return NULL;
  void *function = dlsym(self, name);
  dlclose(self);
  return function;
}

void *driver_function(const char *name, int version) {
  const char *chosen = NULL;
  for (size_t i = 0; i < COUNT_OF(versions); i++) {
    if (strcmp(versions[i].name, name) == 0 && version >= versions[i].since) chosen = versions[i].function;
  }
  if (strncmp(name, "cu", 2) != 0 || strncmp(name, "cuda", 4) == 0) return NULL;
  if (chosen != NULL) return own_function(chosen);
  char newer[128];
  snprintf(newer, sizeof newer, "%s_v2", name);
  void *function = own_function(newer);
  return function != NULL ? function : own_function(name);
}

CUDART(cuGetProcAddress_v2, const char *name, void **function, int version, uint64_t flags, int *status) {
  enum { FOUND = 0, NOT_FOUND = 1 };
  (void)flags;
  if (name == NULL || function == NULL) return cudaErrorInvalidValue;
  *function = driver_function(name, version);
  if (status != NULL) *status = *function == NULL ? NOT_FOUND : FOUND;
  return *function == NULL ? DRIVER_NOT_FOUND : cudaSuccess;
}
CUDART(cuGetProcAddress, const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}

// Private tables, which only NVIDIA's own libraries ask for: whoever does so carries a runtime that cannot be replaced.
CUDART(cuGetExportTable, const void **table, const void *which) {
  (void)which;
  Runtime *runtime = runtime_enter();
  if (!runtime->kernels_missing)
    runtime_say("a library asks for private functions of NVIDIA's driver: what it runs on a GPU is not simulated");
  runtime->kernels_missing = true;
  runtime_failed(runtime);
  if (table != NULL) *table = NULL;
  return runtime_leave(runtime, DRIVER_NOT_FOUND);
}

// ---- Devices -----------------------------------------------------------------------------------------

// Its fields are attributes 1 to 14, in their order.
CUDART(cuDeviceGetProperties, int properties[14], DriverDevice device) {
  if (properties == NULL) return cudaErrorInvalidValue;
  CudaError error = cudaSuccess;
  for (int i = 0; i < 14 && error == cudaSuccess; i++) error = cudaDeviceGetAttribute(&properties[i], i + 1, device);
  return error;
}
CUDART(cuDeviceGetUuid_v2, char uuid[16], DriverDevice device) {
  if (uuid == NULL) return cudaErrorInvalidValue;
  memcpy(uuid, "Redoubt simulate", 16);
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}
CUDART_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2)

// ---- Functions and modules -----------------------------------------------------------------------------

CUDART(cuFuncGetAttribute, int *value, int attribute, const void *function) {
  FuncAttributes all;
  if (value == NULL) return cudaErrorInvalidValue;
  CudaError error = driver_code(cudaFuncGetAttributes(&all, function));
  if (error != cudaSuccess) return error;
  const int values[] = {all.max_threads_per_block, (int)all.shared_bytes, (int)all.const_bytes, (int)all.local_bytes,   all.registers,
                        all.ptx_version,           all.binary_version,    all.cache_mode_ca,    all.max_dynamic_shared, all.carveout};
  if (attribute < 0 || attribute >= FUNC_ATTRIBUTE_COUNT) return cudaErrorInvalidValue;
  *value = (size_t)attribute < COUNT_OF(values) ? values[attribute] : 0;
  return cudaSuccess;
}
CUDART(cuKernelGetAttribute, int *value, int attribute, const void *kernel, DriverDevice device) {
  return device == 0 ? cuFuncGetAttribute(value, attribute, kernel) : cudaErrorInvalidDevice;
}
CUDART(cuKernelSetAttribute, int attribute, int value, const void *kernel, DriverDevice device) {
  return driver_code(cudaKernelSetAttributeForDevice(kernel, attribute, value, device));
}

// Kernels and functions are one; so are libraries and modules.
CUDART(cuKernelGetFunction, const void **function, const void *kernel) {
  Runtime *runtime = runtime_enter();
  if (function == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (kernel_find(runtime, kernel) == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  *function = kernel;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuFuncGetModule, Binary **module, const void *function) {
  Runtime *runtime = runtime_enter();
  const Kernel *kernel = kernel_find(runtime, function);
  if (module == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (kernel == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  *module = kernel->binary;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cuKernelGetLibrary, cuFuncGetModule)
CUDART(cuLibraryGetModule, Binary **module, Binary *library) {
  Runtime *runtime = runtime_enter();
  if (module == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (!handle_is(runtime, library, HANDLE_BINARY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  *module = library;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuFuncLoad, const void *function) {
  Runtime *runtime = runtime_enter();
  Kernel *kernel;
  return runtime_leave(runtime, driver_code(kernel_load(runtime, function, &kernel)));
}
CUDART(cuFuncIsLoaded, int *state, const void *function) {
  Runtime *runtime = runtime_enter();
  const Kernel *kernel = kernel_find(runtime, function);
  if (state == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (kernel == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  *state = kernel->function != NULL;
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuModuleGetLoadingMode, int *mode) {
  enum { EAGER = 1 };
  if (mode != NULL) *mode = EAGER;
  return mode == NULL ? cudaErrorInvalidValue : cudaSuccess;
}

CUDART(cuLinkAddFile_v2, void *link, int type, const char *path, uint32_t count, int *options, void **values) {
  Runtime *runtime = runtime_enter();
  Arena *arena = arena_new();
  Diags diags = {0};
  char *bytes;
  size_t size;
  bool there = path != NULL && file_read(arena, path, &bytes, &size, &diags);
  CudaError error = there ? cuLinkAddData_v2(link, type, bytes, size, path, count, options, values) : cudaErrorFileNotFound;
  arena_free(arena);
  diags_free(&diags);
  return runtime_leave(runtime, error);
}

// ---- Launches ------------------------------------------------------------------------------------------

CUDART(cuLaunchCooperativeKernel, const void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
       uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, Stream *stream, void **arguments) {
  Dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
  return driver_code(cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes, stream));
}

typedef struct DriverLaunchConfig { // CUlaunchConfig
  Dim3 grid, block;
  uint32_t shared_bytes;
  Stream *stream;
  LaunchAttribute *attributes;
  uint32_t attribute_count;
} DriverLaunchConfig;
_Static_assert(sizeof(DriverLaunchConfig) == 56, "CUlaunchConfig");

static LaunchConfig runtime_config(const DriverLaunchConfig *config) {
  return (LaunchConfig){config->grid, config->block, config->shared_bytes, config->stream, config->attributes, config->attribute_count};
}

CUDART(cuLaunchKernelEx, const DriverLaunchConfig *config, const void *function, void **arguments, void **extra) {
  if (config == NULL) return cudaErrorInvalidValue;
  Dim3 grid = config->grid, block = config->block;
  for (uint32_t i = 0; i < config->attribute_count && config->attributes != NULL; i++) {
    const LaunchAttribute *attribute = &config->attributes[i];
    if (attribute->id == LAUNCH_ATTRIBUTE_COOPERATIVE && attribute->value.number != 0)
      return driver_code(cudaLaunchCooperativeKernel(function, grid, block, arguments, config->shared_bytes, config->stream));
    LaunchConfig same = runtime_config(config);
    if (attribute->id == LAUNCH_ATTRIBUTE_CLUSTER && arguments != NULL) return driver_code(cudaLaunchKernelExC(&same, function, arguments));
    if (attribute->id == LAUNCH_ATTRIBUTE_CLUSTER && extra != NULL) return driver_code(cudaErrorNotSupported);
  }
  return cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, config->shared_bytes, config->stream, arguments,
                        extra);
}

CUDART(cuOccupancyMaxActiveClusters, int *clusters, const void *function, const DriverLaunchConfig *config) {
  if (config == NULL) return cudaErrorInvalidValue;
  LaunchConfig same = runtime_config(config);
  return driver_code(cudaOccupancyMaxActiveClusters(clusters, function, &same));
}

CUDART(cuOccupancyMaxPotentialClusterSize, int *size, const void *function, const DriverLaunchConfig *config) {
  if (config == NULL) return cudaErrorInvalidValue;
  LaunchConfig same = runtime_config(config);
  return driver_code(cudaOccupancyMaxPotentialClusterSize(size, function, &same));
}

// The largest of the block sizes that keep most threads of an SM busy.
typedef size_t (*SharedOfBlock)(int threads);
CUDART(cuOccupancyMaxPotentialBlockSize, int *least_grid, int *best_block, const void *function, SharedOfBlock shared_of,
       size_t shared_bytes, int limit) {
  enum { MULTIPROCESSORS = 16 }; // the attribute's number
  int most = 0, sms = 0, best = 0;
  if (least_grid == NULL || best_block == NULL) return cudaErrorInvalidValue;
  CudaError error = cuFuncGetAttribute(&most, 0, function);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, MULTIPROCESSORS, 0);
  if (limit > 0 && limit < most) most = limit;
  for (int threads = most; threads > 0 && error == cudaSuccess; threads = (threads - 1) / WARP_LANES * WARP_LANES) {
    int blocks = 0;
    size_t shared = shared_of != NULL ? shared_of(threads) : shared_bytes;
    error = driver_code(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared));
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *best_block = threads;
    *least_grid = blocks * sms;
  }
  return error == cudaSuccess && best == 0 ? cudaErrorInvalidValue : error;
}
CUDART(cuOccupancyMaxPotentialBlockSizeWithFlags, int *least_grid, int *best_block, const void *function, SharedOfBlock shared_of,
       size_t shared_bytes, int limit, uint32_t flags) {
  (void)flags;
  return cuOccupancyMaxPotentialBlockSize(least_grid, best_block, function, shared_of, shared_bytes, limit);
}
