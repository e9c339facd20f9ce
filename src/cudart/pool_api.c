// Stream-ordered allocation and managed-memory hints. Work is eager, so a pool is a name: its memory comes from
// the device at once and goes back at once.
#include "cudart/runtime.h"

struct MemPool {
  MemPoolProps properties;
  uint64_t attributes[9]; // by number; 5 to 8 are counts
};
enum { POOL_ATTRIBUTES = 9, POOL_USED_CURRENT = 7, POOL_RESERVED_CURRENT = 5, POOL_THRESHOLD = 4 };

static MemPool *default_pool(Runtime *runtime) {
  if (runtime->default_pool == NULL) {
    runtime->default_pool = handle_new(runtime, HANDLE_POOL, sizeof(MemPool));
    for (int i = 1; i <= 3; i++) runtime->default_pool->attributes[i] = 1;
  }
  return runtime->default_pool;
}

static MemPool *current_pool(Runtime *runtime) { return runtime->pool != NULL ? runtime->pool : default_pool(runtime); }

static CudaError give_pool(MemPool **pool, int device, bool current) {
  Runtime *runtime = runtime_enter();
  if (pool == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (device != 0) return runtime_leave(runtime, cudaErrorInvalidDevice);
  *pool = current ? current_pool(runtime) : default_pool(runtime);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaDeviceGetDefaultMemPool, MemPool **pool, int device) { return give_pool(pool, device, false); }
CUDART(cudaDeviceGetMemPool, MemPool **pool, int device) { return give_pool(pool, device, true); }
CUDART(cudaMemGetDefaultMemPool, MemPool **pool, MemLocation *location, int type) {
  (void)type;
  return give_pool(pool, location == NULL ? -1 : location->id, false);
}
CUDART(cudaMemGetMemPool, MemPool **pool, MemLocation *location, int type) {
  (void)type;
  return give_pool(pool, location == NULL ? -1 : location->id, true);
}

CUDART(cudaDeviceSetMemPool, int device, MemPool *pool) {
  Runtime *runtime = runtime_enter();
  bool good = device == 0 && handle_is(runtime, pool, HANDLE_POOL);
  if (good) runtime->pool = pool;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cudaMemSetMemPool, MemLocation *location, int type, MemPool *pool) {
  (void)type;
  return cudaDeviceSetMemPool(location == NULL ? -1 : location->id, pool);
}

CUDART(cudaMemPoolCreate, MemPool **pool, const MemPoolProps *properties) {
  Runtime *runtime = runtime_enter();
  if (pool == NULL || properties == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (properties->handle_types != 0) return runtime_leave(runtime, cudaErrorNotSupported); // sharing between processes
  *pool = handle_new(runtime, HANDLE_POOL, sizeof **pool);
  (*pool)->properties = *properties;
  for (int i = 1; i <= 3; i++) (*pool)->attributes[i] = 1;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaMemPoolDestroy, MemPool *pool) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, pool, HANDLE_POOL) || pool == runtime->default_pool) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (runtime->pool == pool) runtime->pool = NULL;
  handle_free(runtime, pool);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaMallocFromPoolAsync, void **pointer, size_t bytes, MemPool *pool, Stream *stream) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, pool, HANDLE_POOL);
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  return runtime_leave(runtime, stream_allocate(runtime, pointer, bytes, stream));
}
CUDART_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync)

// The first three attributes are ints, the others 64-bit counts.
static CudaError pool_attribute(MemPool *pool, int attribute, void *value, bool set) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, pool, HANDLE_POOL) && value != NULL && attribute > 0 && attribute < POOL_ATTRIBUTES;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  size_t bytes = attribute < POOL_THRESHOLD ? 4 : 8;
  if (attribute == POOL_USED_CURRENT || attribute == POOL_RESERVED_CURRENT) pool->attributes[attribute] = runtime->device_in_use;
  if (attribute > POOL_THRESHOLD && !set) pool->attributes[attribute] = max_u64(pool->attributes[attribute], runtime->device_in_use);
  if (set) memcpy(&pool->attributes[attribute], value, bytes);
  else memcpy(value, &pool->attributes[attribute], bytes);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaMemPoolSetAttribute, MemPool *pool, int attribute, void *value) { return pool_attribute(pool, attribute, value, true); }
CUDART(cudaMemPoolGetAttribute, MemPool *pool, int attribute, void *value) { return pool_attribute(pool, attribute, value, false); }

static CudaError know_pool(const MemPool *pool) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, handle_is(runtime, pool, HANDLE_POOL) ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cudaMemPoolTrimTo, MemPool *pool, size_t bytes) {
  (void)bytes;
  return know_pool(pool);
}
CUDART(cudaMemPoolSetAccess, MemPool *pool, const MemAccessDesc *access, size_t count) {
  (void)access, (void)count;
  return know_pool(pool);
}
CUDART(cudaMemPoolGetAccess, int *flags, MemPool *pool, MemLocation *location) {
  (void)location;
  if (flags != NULL) *flags = 3; // read and write
  return know_pool(pool);
}

// ---- Graph memory -----------------------------------------------------------------------------------------------

CUDART(cudaDeviceGraphMemTrim, int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
CUDART(cudaDeviceGetGraphMemAttribute, int device, int attribute, void *value) {
  Runtime *runtime = runtime_enter();
  if (device != 0 || value == NULL || attribute < 0 || attribute > 3) return runtime_leave(runtime, cudaErrorInvalidValue);
  memcpy(value, &runtime->graph_in_use, 8);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cudaDeviceSetGraphMemAttribute, int device, int attribute, void *value) {
  (void)value;
  return device == 0 && attribute >= 0 && attribute <= 3 ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- Hints for managed memory: nothing moves -------------------------------------------------------------------

static CudaError hint(const void *pointer, size_t bytes) {
  Runtime *runtime = runtime_enter();
  const Allocation *allocation = allocation_find(runtime, address_of(pointer));
  bool good = allocation != NULL && allocation->type != MEMORY_DEVICE && bytes != 0;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cudaMemPrefetchAsync, const void *pointer, size_t bytes, MemLocation location, uint32_t flags, Stream *stream) {
  (void)location, (void)flags, (void)stream; // before CUDA 13: (pointer, bytes, device, stream); none is looked at
  return hint(pointer, bytes);
}
CUDART_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync)
CUDART_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync)
CUDART(cudaMemAdvise, const void *pointer, size_t bytes, int advice, MemLocation location) {
  (void)advice, (void)location;
  return hint(pointer, bytes);
}
CUDART_ALIAS(cudaMemAdvise_v2, cudaMemAdvise)

CUDART(cudaMemRangeGetAttribute, void *data, size_t data_bytes, int attribute, const void *pointer, size_t bytes) {
  (void)attribute;
  if (data == NULL || data_bytes < sizeof(int)) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  memset(data, 0, data_bytes); // not read-mostly; location: device 0
  return hint(pointer, bytes);
}
