// The device: how many (one), which, what it is like, limits and flags.
#include "cudart/driver.h"

#include <stdio.h>

enum { CLOCK_KHZ = 1000000, DEFAULT_SHARED = 48 << 10, RUNTIME_VERSION = 1000 * CUDART_GENERATION };
enum { NAME_BYTES = 256, UUID_BYTES = 16, LUID_BYTES = 8 };

static CudaError check_device(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }

CUDART(cudaGetDeviceCount, int *count) {
  Runtime *runtime = runtime_enter();
  if (count != NULL) *count = 1;
  return runtime_leave(runtime, count == NULL ? cudaErrorInvalidValue : cudaSuccess);
}

CUDART(cudaGetDevice, int *device) {
  Runtime *runtime = runtime_enter();
  if (device != NULL) *device = 0;
  return runtime_leave(runtime, device == NULL ? cudaErrorInvalidValue : cudaSuccess);
}

CUDART(cudaSetDevice, int device) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, check_device(device));
}

CUDART(cudaInitDevice, int device, uint32_t device_flags, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (flags & 1) runtime->device_flags = device_flags;
  return runtime_leave(runtime, check_device(device));
}

CUDART(cudaSetValidDevices, int *devices, int count) {
  Runtime *runtime = runtime_enter();
  CudaError error = count < 0 || (count > 0 && devices == NULL) ? cudaErrorInvalidValue : cudaSuccess;
  for (int i = 0; error == cudaSuccess && i < count; i++) error = check_device(devices[i]);
  return runtime_leave(runtime, error);
}

CUDART(cudaChooseDevice, int *device, const void *properties) {
  (void)properties;
  return cudaGetDevice(device);
}

CUDART(cudaSetDeviceFlags, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (flags > 255) return runtime_leave(runtime, cudaErrorInvalidValue);
  runtime->device_flags = flags;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGetDeviceFlags, uint32_t *flags) {
  Runtime *runtime = runtime_enter();
  if (flags == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *flags = runtime->device_flags | 8; // host memory can always be mapped
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaDeviceSynchronize, void) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, cudaSuccess);
}

// Frees what the program allocated on the device; modules stay loaded. A trapped device stays so.
CUDART(cudaDeviceReset, void) {
  Runtime *runtime = runtime_enter();
  allocation_free_all(runtime);
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Properties -----------------------------------------------------------------------------------------

typedef struct Layout {
  uint8_t *at;
  size_t offset;
} Layout;
enum { INT = sizeof(int), SIZE = sizeof(size_t) };

static void put_number(Layout *layout, size_t bytes, uint64_t value) {
  layout->offset = align_up(layout->offset, bytes);
  memcpy(layout->at + layout->offset, &value, bytes); // little endian
  layout->offset += bytes;
}

static size_t put_properties(const Spec *spec, int generation, void *properties) {
  uint64_t shared_default = min_u64(spec->block_shared, DEFAULT_SHARED);
  Layout layout = {properties, NAME_BYTES + UUID_BYTES + LUID_BYTES};
  snprintf(properties, NAME_BYTES, "Redoubt %s", spec->machine);
  memcpy(layout.at + NAME_BYTES, "RedoubtSimulator", UUID_BYTES);
  memset(layout.at + NAME_BYTES + UUID_BYTES, 0, LUID_BYTES);
  put_number(&layout, INT, 0); // luidDeviceNodeMask
#define PROPERTY(first, last, type, value) \
  if (generation >= (first) && generation <= (last)) put_number(&layout, type, (uint64_t)(value));
#include "cudart/property.def"
#undef PROPERTY
  return layout.offset;
}

static CudaError get_properties(void *properties, int device, int generation) {
  Runtime *runtime = runtime_enter();
  if (properties == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = check_device(device);
  if (error == cudaSuccess) put_properties(&runtime->environment.spec, generation, properties);
  return runtime_leave(runtime, error);
}

// CUDA 12 gave the longer struct a name of its own; 13 dropped the suffix and some fields.
CUDART(cudaGetDeviceProperties, void *properties, int device) {
  return get_properties(properties, device, CUDART_GENERATION == 13 ? 13 : 11);
}
CUDART(cudaGetDeviceProperties_v2, void *properties, int device) { return get_properties(properties, device, 12); }

CUDART(cudaDeviceGetAttribute, int *value, int attribute, int device) {
  Runtime *runtime = runtime_enter();
  const Spec *spec = &runtime->environment.spec;
  uint64_t shared_default = min_u64(spec->block_shared, DEFAULT_SHARED);
  if (value == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  CudaError error = check_device(device);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  switch (attribute) {
#define ATTRIBUTE(number, what) \
  case number:                  \
    *value = (int)(what);       \
    break;
#include "cudart/attribute.def"
#undef ATTRIBUTE
  default: error = cudaErrorInvalidValue;
  }
  return runtime_leave(runtime, error);
}

CUDART(cudaDeviceGetPCIBusId, char *text, int length, int device) {
  if (check_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
  if (text == NULL || length < 13) return cudaErrorInvalidValue;
  snprintf(text, (size_t)length, "0000:01:00.0");
  return cudaSuccess;
}

CUDART(cudaDeviceGetByPCIBusId, int *device, const char *text) {
  if (device == NULL || text == NULL) return cudaErrorInvalidValue;
  *device = 0;
  return strcmp(text, "0000:01:00.0") == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

CUDART(cudaDriverGetVersion, int *version) {
  if (version == NULL) return cudaErrorInvalidValue;
  *version = RUNTIME_VERSION;
  return cudaSuccess;
}
CUDART_ALIAS(cudaRuntimeGetVersion, cudaDriverGetVersion)

// ---- Peers: there are none ----------------------------------------------------------------------------------

CUDART(cudaDeviceCanAccessPeer, int *can, int device, int peer) {
  Runtime *runtime = runtime_enter();
  if (can == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *can = 0;
  return runtime_leave(runtime, device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

CUDART(cudaDeviceEnablePeerAccess, int peer, uint32_t flags) {
  (void)peer, (void)flags;
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, cudaErrorInvalidDevice);
}

CUDART(cudaDeviceDisablePeerAccess, int peer) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

CUDART(cudaDeviceGetP2PAttribute, int *value, int attribute, int from, int to) {
  (void)attribute, (void)from, (void)to;
  Runtime *runtime = runtime_enter();
  if (value != NULL) *value = 0;
  return runtime_leave(runtime, cudaErrorInvalidDevice);
}

// ---- Limits and preferences -----------------------------------------------------------------------------------

enum { LIMIT_STACK = 0, LIMIT_HEAP = 2, LIMIT_PENDING_LAUNCHES = 4, LIMIT_COUNT = 7 };

CUDART(cudaDeviceSetLimit, int limit, size_t value) {
  Runtime *runtime = runtime_enter();
  if (limit < 0 || limit >= LIMIT_COUNT) return runtime_leave(runtime, cudaErrorUnsupportedLimit);
  Device *device = runtime_device(runtime);
  if (device == NULL) return runtime_leave(runtime, cudaErrorInitializationError);
  if (limit == LIMIT_HEAP && value > runtime->environment.spec.memory_bytes) return runtime_leave(runtime, cudaErrorMemoryAllocation);
  runtime->limits[limit] = value;
  // Our frames are larger than hardware's (arguments lie in memory): never below the machine's own limit.
  if (limit == LIMIT_STACK) device_set_stack_bytes(device, max_u64(value, runtime->environment.spec.limit_stack));
  if (limit == LIMIT_HEAP) device_set_heap_bytes(device, value);
  if (limit == LIMIT_PENDING_LAUNCHES) device_set_pending_launches(device, value);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaDeviceGetLimit, size_t *value, int limit) {
  Runtime *runtime = runtime_enter();
  if (limit < 0 || limit >= LIMIT_COUNT) return runtime_leave(runtime, cudaErrorUnsupportedLimit);
  if (value == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  *value = runtime->limits[limit];
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaDeviceSetCacheConfig, int config) { return config < 0 || config > 3 ? cudaErrorInvalidValue : cudaSuccess; }
CUDART(cudaDeviceGetCacheConfig, int *config) {
  if (config == NULL) return cudaErrorInvalidValue;
  *config = 0;
  return cudaSuccess;
}
CUDART(cudaDeviceSetSharedMemConfig, int config) { return config < 0 || config > 2 ? cudaErrorInvalidValue : cudaSuccess; }
CUDART(cudaDeviceGetSharedMemConfig, int *config) {
  if (config == NULL) return cudaErrorInvalidValue;
  *config = 1; // banks of four bytes
  return cudaSuccess;
}
CUDART(cudaCtxResetPersistingL2Cache, void) { return cudaSuccess; }
CUDART(cudaProfilerStart, void) { return cudaSuccess; }
CUDART(cudaProfilerStop, void) { return cudaSuccess; }
CUDART(cudaDeviceFlushGPUDirectRDMAWrites, int target, int scope) {
  (void)target, (void)scope;
  return cudaSuccess;
}

// ---- The driver's functions ------------------------------------------------------------------------------------

#if CUDART_GENERATION >= 12
CUDART(cudaGetDriverEntryPointByVersion, const char *symbol, void **function, uint32_t version, uint64_t flags, int *status) {
  enum { FOUND = 0, NOT_FOUND = 1 };
  (void)flags;
  if (symbol == NULL || function == NULL) return cudaErrorInvalidValue;
  *function = driver_function(symbol, (int)version);
  if (status != NULL) *status = *function == NULL ? NOT_FOUND : FOUND;
  return cudaSuccess;
}
CUDART_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion)
CUDART(cudaGetDriverEntryPoint, const char *symbol, void **function, uint64_t flags, int *status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, RUNTIME_VERSION, flags, status);
}
#else
CUDART(cudaGetDriverEntryPoint, const char *symbol, void **function, uint64_t flags) {
  (void)flags;
  if (symbol == NULL || function == NULL) return cudaErrorInvalidValue;
  *function = driver_function(symbol, RUNTIME_VERSION);
  return *function == NULL ? cudaErrorSymbolNotFound : cudaSuccess;
}
#endif
CUDART_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint)

// ---- Names that CUDA 13 dropped --------------------------------------------------------------------------------

#if CUDART_GENERATION < 13
CUDART(cudaThreadSynchronize, void) { return cudaDeviceSynchronize(); }
CUDART(cudaThreadExit, void) { return cudaDeviceReset(); }
CUDART(cudaThreadSetLimit, int limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
CUDART(cudaThreadGetLimit, size_t *value, int limit) { return cudaDeviceGetLimit(value, limit); }
CUDART(cudaThreadSetCacheConfig, int config) { return cudaDeviceSetCacheConfig(config); }
CUDART(cudaThreadGetCacheConfig, int *config) { return cudaDeviceGetCacheConfig(config); }
CUDART(cudaProfilerInitialize, const char *config, const char *output, int mode) {
  (void)config, (void)output, (void)mode;
  return cudaSuccess;
}
// Texture and surface references of CUDA 11 and before: known, never bound.
EXPORT void __cudaRegisterTexture(void);
void __cudaRegisterTexture(void) {}
EXPORT void __cudaRegisterSurface(void);
void __cudaRegisterSurface(void) {}
static CudaError refuse_reference(void) {
  Runtime *runtime = runtime_enter();
  runtime_say("texture references are not supported: use texture objects");
  return runtime_leave(runtime, cudaErrorNotSupported);
}
CUDART(cudaBindTexture, void) { return refuse_reference(); }
CUDART(cudaBindTexture2D, void) { return refuse_reference(); }
CUDART(cudaBindTextureToArray, void) { return refuse_reference(); }
CUDART(cudaBindTextureToMipmappedArray, void) { return refuse_reference(); }
CUDART(cudaUnbindTexture, void) { return refuse_reference(); }
CUDART(cudaGetTextureReference, void) { return refuse_reference(); }
CUDART(cudaGetTextureAlignmentOffset, void) { return refuse_reference(); }
CUDART(cudaBindSurfaceToArray, void) { return refuse_reference(); }
CUDART(cudaGetSurfaceReference, void) { return refuse_reference(); }
#endif
