// The driver's virtual memory management: an address range is reserved with its memory at once; mapping then only
// checks sizes. One mapping of a piece of memory at a time: the same bytes at two addresses are refused.
#include "cudart/driver.h"

enum { GRANULARITY = 2 << 20 };

typedef struct Piece { // of physical memory, as a program sees it
  uint64_t bytes;
  uint64_t mapped_at; // 0: not mapped
} Piece;

CUDART(cuMemGetAllocationGranularity, size_t *granularity, const void *properties, int option) {
  (void)properties, (void)option;
  if (granularity != NULL) *granularity = GRANULARITY;
  return granularity == NULL ? cudaErrorInvalidValue : cudaSuccess;
}

CUDART(cuMemAddressReserve, uint64_t *address, size_t bytes, size_t alignment, uint64_t wanted, uint64_t flags) {
  (void)alignment, (void)wanted, (void)flags;
  Runtime *runtime = runtime_enter();
  if (address == NULL || bytes == 0 || bytes % GRANULARITY != 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  uint64_t start = allocation_new(runtime, bytes, MEMORY_DEVICE, 0);
  if (start != 0) *address = start;
  return runtime_leave(runtime, start == 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

CUDART(cuMemAddressFree, uint64_t address, size_t bytes) {
  Runtime *runtime = runtime_enter();
  const Allocation *range = allocation_find(runtime, address);
  bool good = range != NULL && range->start == address && range->bytes == bytes;
  return runtime_leave(runtime, good ? allocation_free(runtime, address, false) : cudaErrorInvalidValue);
}

CUDART(cuMemCreate, Piece **piece, size_t bytes, const void *properties, uint64_t flags) {
  (void)properties, (void)flags;
  Runtime *runtime = runtime_enter();
  if (piece == NULL || bytes == 0 || bytes % GRANULARITY != 0) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (bytes > runtime->environment.spec.memory_bytes) return runtime_leave(runtime, cudaErrorMemoryAllocation);
  *piece = handle_new(runtime, HANDLE_PIECE, sizeof **piece);
  (*piece)->bytes = bytes;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuMemRelease, Piece *piece) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, piece, HANDLE_PIECE);
  if (good) handle_free(runtime, piece);
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}

CUDART(cuMemMap, uint64_t address, size_t bytes, size_t offset, Piece *piece, uint64_t flags) {
  (void)flags;
  Runtime *runtime = runtime_enter();
  const Allocation *range = allocation_find(runtime, address);
  bool good = handle_is(runtime, piece, HANDLE_PIECE) && range != NULL && offset == 0 && bytes != 0 && bytes <= piece->bytes &&
              bytes <= range->start + range->bytes - address;
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (piece->mapped_at != 0 && piece->mapped_at != address) return runtime_leave(runtime, cudaErrorNotSupported);
  piece->mapped_at = address;
  return runtime_leave(runtime, cudaSuccess);
}

static CudaError know_range(uint64_t address, size_t bytes) {
  Runtime *runtime = runtime_enter();
  const Allocation *range = allocation_find(runtime, address);
  bool good = range != NULL && bytes <= range->start + range->bytes - address;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}
CUDART(cuMemUnmap, uint64_t address, size_t bytes) { return know_range(address, bytes); }
CUDART(cuMemSetAccess, uint64_t address, size_t bytes, const void *access, size_t count) {
  (void)access, (void)count;
  return know_range(address, bytes);
}

// ---- What memory is -------------------------------------------------------------------------------------

CUDART(cuMemGetAddressRange_v2, uint64_t *start, size_t *bytes, uint64_t address) {
  Runtime *runtime = runtime_enter();
  const Allocation *range = allocation_find(runtime, address);
  if (range == NULL) return runtime_leave(runtime, DRIVER_NOT_FOUND);
  if (start != NULL) *start = range->start;
  if (bytes != NULL) *bytes = range->bytes;
  return runtime_leave(runtime, cudaSuccess);
}

static CudaError give_attribute(Runtime *runtime, void *data, int attribute, uint64_t address) {
  enum {
    CONTEXT = 1,
    MEMORY_KIND,
    DEVICE_POINTER,
    HOST_POINTER,
    BUFFER_ID = 7,
    IS_MANAGED,
    ORDINAL,
    RANGE_START = 11,
    RANGE_BYTES,
    MAPPED
  };
  enum { KIND_HOST = 1, KIND_DEVICE = 2 };
  const Allocation *range = allocation_find(runtime, address);
  if (data == NULL || range == NULL) return cudaErrorInvalidValue;
  switch (attribute) {
  case CONTEXT: *(Context **)data = context_primary(runtime); return cudaSuccess;
  case MEMORY_KIND: *(uint32_t *)data = range->type == MEMORY_HOST ? KIND_HOST : KIND_DEVICE; return cudaSuccess;
  case DEVICE_POINTER: *(uint64_t *)data = address; return cudaSuccess;
  case HOST_POINTER:
    if (range->type == MEMORY_DEVICE) return cudaErrorInvalidValue;
    *(void **)data = pointer_of(address);
    return cudaSuccess;
  case BUFFER_ID: *(uint64_t *)data = range->start; return cudaSuccess;
  case IS_MANAGED: *(bool *)data = range->type == MEMORY_MANAGED; return cudaSuccess;
  case ORDINAL: *(int *)data = 0; return cudaSuccess;
  case RANGE_START: *(uint64_t *)data = range->start; return cudaSuccess;
  case RANGE_BYTES: *(size_t *)data = range->bytes; return cudaSuccess;
  case MAPPED: *(bool *)data = true; return cudaSuccess;
  default: return cudaErrorNotSupported;
  }
}
CUDART(cuPointerGetAttribute, void *data, int attribute, uint64_t address) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, give_attribute(runtime, data, attribute, address));
}
// What is not known of a pointer stays as it is.
CUDART(cuPointerGetAttributes, uint32_t count, const int *attributes, void **data, uint64_t address) {
  Runtime *runtime = runtime_enter();
  if (attributes == NULL || data == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  for (uint32_t i = 0; i < count; i++) give_attribute(runtime, data[i], attributes[i], address);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cuMemAdvise, uint64_t address, size_t bytes, int advice, int device) {
  (void)advice, (void)device;
  return know_range(address, bytes);
}
CUDART(cuMemPrefetchAsync, uint64_t address, size_t bytes, int device, Stream *stream) {
  (void)device, (void)stream;
  return know_range(address, bytes);
}
