// Allocations: device, managed and pinned host memory, all in the device's memory, which host and device
// see at the same addresses; and host memory that the program registers.
#include "cudart/runtime.h"

#include "cudart/size.h"

#include <stdlib.h>

uint64_t allocation_new(Runtime *runtime, uint64_t bytes, MemoryType type, uint32_t flags) {
  Device *device = runtime_device(runtime);
  if (device == NULL) return 0;
  bool counted = type != MEMORY_HOST;
  if (counted &&
      (bytes > runtime->environment.spec.memory_bytes || runtime->device_in_use > runtime->environment.spec.memory_bytes - bytes))
    return 0;
  uint64_t start = device_alloc(device, bytes);
  if (start == 0) return 0;
  if (counted) runtime->device_in_use += bytes;
  if (type != MEMORY_DEVICE) { // the host writes there without a word
    memory_note_write(device_memory(device), start, bytes);
    memory_share(device_memory(device), start);
  }
  Allocation *allocation = calloc(1, sizeof *allocation);
  ASSERT(allocation != NULL);
  *allocation = (Allocation){.start = start, .bytes = bytes, .type = type, .flags = flags};
  pointer_map_put(&runtime->allocations, pointer_of(start), allocation);
  return start;
}

CudaError allocation_free(Runtime *runtime, uint64_t start, bool host) {
  Allocation *allocation = pointer_map_get(&runtime->allocations, pointer_of(start));
  if (allocation == NULL || (allocation->type == MEMORY_HOST) != host) return cudaErrorInvalidValue;
  if (allocation->of_graph) return cudaSuccess; // the graph may be launched again and use the address
  pointer_map_take(&runtime->allocations, pointer_of(start));
  if (!host) runtime->device_in_use -= allocation->bytes;
  device_release(runtime->device, start);
  free(allocation);
  return cudaSuccess;
}

void allocation_free_all(Runtime *runtime) {
  PointerMap *map = &runtime->allocations;
  for (uint32_t i = 0; i < map->capacity;) {
    const Allocation *allocation = map->keys[i] == NULL ? NULL : map->values[i];
    bool freed = allocation != NULL && allocation->type != MEMORY_HOST && !allocation->of_graph && !allocation->of_array;
    if (freed) allocation_free(runtime, allocation->start, false); // another may have moved into its place
    else i++;
  }
}

const Allocation *allocation_find(Runtime *runtime, uint64_t address) {
  uint64_t start, bytes;
  for (uint32_t i = 0; i < runtime->range_count; i++) {
    if (address - runtime->ranges[i]->start < runtime->ranges[i]->bytes) return runtime->ranges[i];
  }
  if (runtime->device == NULL || !memory_find(device_memory(runtime->device), address, &start, &bytes)) return NULL;
  return pointer_map_get(&runtime->allocations, pointer_of(start));
}

// ---- The API ------------------------------------------------------------------------------------------

static CudaError allocate(Runtime *runtime, void **pointer, size_t bytes, MemoryType type, uint32_t flags) {
  if (pointer == NULL) return cudaErrorInvalidValue;
  *pointer = NULL;
  if (bytes == 0 && type != MEMORY_MANAGED) return cudaSuccess;
  if (bytes == 0) return cudaErrorInvalidValue;
  uint64_t address = allocation_new(runtime, bytes, type, flags);
  *pointer = pointer_of(address);
  return address == 0 ? cudaErrorMemoryAllocation : cudaSuccess;
}

CUDART(cudaMalloc, void **pointer, size_t bytes) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, allocate(runtime, pointer, bytes, MEMORY_DEVICE, 0));
}

CUDART(cudaMallocManaged, void **pointer, size_t bytes, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  bool known = flags == 1 || flags == 2;
  return runtime_leave(runtime, known ? allocate(runtime, pointer, bytes, MEMORY_MANAGED, flags) : cudaErrorInvalidValue);
}

CUDART(cudaHostAlloc, void **pointer, size_t bytes, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, flags <= 7 ? allocate(runtime, pointer, bytes, MEMORY_HOST, flags) : cudaErrorInvalidValue);
}

CUDART(cudaMallocHost, void **pointer, size_t bytes) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, allocate(runtime, pointer, bytes, MEMORY_HOST, 0));
}

// What a program frees by its address: arrays have their own call.
static CudaError free_pointer(Runtime *runtime, void *pointer) {
  const Allocation *allocation = pointer_map_get(&runtime->allocations, pointer);
  bool good = allocation != NULL && !allocation->of_array;
  return good ? allocation_free(runtime, address_of(pointer), false) : cudaErrorInvalidValue;
}

CUDART(cudaFree, void *pointer) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, pointer == NULL ? cudaSuccess : free_pointer(runtime, pointer));
}

CUDART(cudaFreeHost, void *pointer) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, pointer == NULL ? cudaSuccess : allocation_free(runtime, address_of(pointer), true));
}

// In a capture the address is fixed now, and the node only marks the place.
static CudaError graph_allocate(Runtime *runtime, void **pointer, size_t bytes, Stream *stream) {
  CudaError error = graph_memory_new(runtime, pointer, bytes);
  if (error != cudaSuccess) return error;
  Operation operation = {.params = {.type = NODE_MEM_ALLOC}};
  operation.params.of.alloc = (MemAllocNodeParams){.bytes = bytes, .pointer = *pointer};
  return graph_capture(runtime, stream, &operation);
}

CudaError graph_memory_new(Runtime *runtime, void **pointer, size_t bytes) {
  CudaError error = allocate(runtime, pointer, bytes, MEMORY_DEVICE, 0);
  if (error != cudaSuccess || *pointer == NULL) return error == cudaSuccess ? cudaErrorInvalidValue : error;
  Allocation *allocation = pointer_map_get(&runtime->allocations, *pointer);
  allocation->of_graph = true;
  runtime->graph_in_use += bytes;
  return cudaSuccess;
}

CudaError stream_allocate(Runtime *runtime, void **pointer, size_t bytes, Stream *handle) {
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return cudaErrorInvalidResourceHandle;
  return stream->capture != NULL ? graph_allocate(runtime, pointer, bytes, stream) : allocate(runtime, pointer, bytes, MEMORY_DEVICE, 0);
}

CUDART(cudaMallocAsync, void **pointer, size_t bytes, Stream *stream) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, stream_allocate(runtime, pointer, bytes, stream));
}
CUDART_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync)

static CudaError stream_free(Runtime *runtime, void *pointer, Stream *handle) {
  Stream *stream = stream_of(runtime, handle);
  if (stream == NULL) return cudaErrorInvalidResourceHandle;
  if (pointer == NULL) return cudaErrorInvalidValue;
  if (stream->capture == NULL) return free_pointer(runtime, pointer);
  Operation operation = {.params = {.type = NODE_MEM_FREE, .of.free = pointer}};
  return graph_capture(runtime, stream, &operation);
}

CUDART(cudaFreeAsync, void *pointer, Stream *stream) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, stream_free(runtime, pointer, stream));
}
CUDART_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync)

// Pitched memory: rows begin at multiples of PITCH_ALIGN.
enum { PITCH_ALIGN = 512 };

static CudaError allocate_rows(Runtime *runtime, void **pointer, const Extent *extent, size_t *pitch) {
  uint64_t row = size_align_up(extent->width, PITCH_ALIGN);
  uint64_t bytes = row == SIZE_TOO_BIG ? SIZE_TOO_BIG : size_multiply(size_multiply(row, extent->height), extent->depth);
  CudaError error = allocate(runtime, pointer, bytes, MEMORY_DEVICE, 0);
  if (error == cudaSuccess) *pitch = row;
  return error;
}

CUDART(cudaMallocPitch, void **pointer, size_t *pitch, size_t width, size_t height) {
  Runtime *runtime = runtime_enter();
  Extent extent = {width, height, 1};
  return runtime_leave(runtime, pitch == NULL ? cudaErrorInvalidValue : allocate_rows(runtime, pointer, &extent, pitch));
}

CUDART(cudaMalloc3D, PitchedPointer *pitched, Extent extent) {
  Runtime *runtime = runtime_enter();
  PitchedPointer made = {.width = extent.width, .height = extent.height};
  CudaError error = pitched == NULL ? cudaErrorInvalidValue : allocate_rows(runtime, &made.pointer, &extent, &made.pitch);
  if (error == cudaSuccess) *pitched = made;
  return runtime_leave(runtime, error);
}

CUDART(cudaMemGetInfo, size_t *free_bytes, size_t *total_bytes) {
  Runtime *runtime = runtime_enter();
  uint64_t total = runtime->environment.spec.memory_bytes;
  if (total_bytes != NULL) *total_bytes = total;
  if (free_bytes != NULL) *free_bytes = total - min_u64(total, runtime->device_in_use);
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Host memory that the program registers -----------------------------------------------------------

static bool is_registered(const Runtime *runtime, uint64_t start, uint64_t bytes) {
  for (uint32_t i = 0; i < runtime->range_count; i++) {
    const Allocation *range = runtime->ranges[i];
    if (start < range->start + range->bytes && range->start < start + bytes) return true;
  }
  return false;
}

// Kernels and campaigns read registered memory, so all of it must be there.
static CudaError register_range(Runtime *runtime, void *pointer, uint64_t bytes, uint32_t flags) {
  uint64_t start = address_of(pointer);
  if (bytes == 0 || bytes > mapped_bytes(pointer)) return cudaErrorInvalidValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  if (is_registered(runtime, start, bytes) || allocation_find(runtime, start) != NULL) return cudaErrorHostMemoryAlreadyRegistered;
  if (!memory_register_host(device_memory(runtime->device), start, bytes)) return cudaErrorNotSupported;
  Allocation **ranges = realloc(runtime->ranges, (runtime->range_count + 1) * sizeof *ranges);
  Allocation *range = calloc(1, sizeof *range);
  ASSERT(ranges != NULL && range != NULL);
  *range = (Allocation){.start = start, .bytes = bytes, .type = MEMORY_HOST, .flags = flags, .registered = true};
  ranges[runtime->range_count++] = range;
  app_process_registers(runtime->environment.campaign);
  runtime->ranges = ranges;
  return cudaSuccess;
}

static CudaError unregister_range(Runtime *runtime, uint64_t start) {
  for (uint32_t i = 0; i < runtime->range_count; i++) {
    if (runtime->ranges[i]->start != start) continue;
    memory_unregister_host(device_memory(runtime->device), start);
    free(runtime->ranges[i]);
    runtime->ranges[i] = runtime->ranges[--runtime->range_count];
    return cudaSuccess;
  }
  return cudaErrorHostMemoryNotRegistered;
}

CUDART(cudaHostRegister, void *pointer, size_t bytes, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, register_range(runtime, pointer, bytes, flags));
}

CUDART(cudaHostUnregister, void *pointer) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, unregister_range(runtime, address_of(pointer)));
}

CUDART(cudaHostGetDevicePointer, void **device_pointer, void *pointer, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  const Allocation *allocation = allocation_find(runtime, address_of(pointer));
  bool good = device_pointer != NULL && flags == 0 && allocation != NULL && allocation->type != MEMORY_DEVICE;
  if (good) *device_pointer = pointer;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}

CUDART(cudaHostGetFlags, uint32_t *flags, void *pointer) {
  Runtime *runtime = runtime_enter();
  const Allocation *allocation = allocation_find(runtime, address_of(pointer));
  bool good = flags != NULL && allocation != NULL && allocation->type == MEMORY_HOST;
  if (good) *flags = allocation->flags | 2; // always mapped, as with unified addressing
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidValue);
}

CUDART(cudaPointerGetAttributes, PointerAttributes *attributes, const void *pointer) {
  Runtime *runtime = runtime_enter();
  if (attributes == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  const Allocation *allocation = allocation_find(runtime, address_of(pointer));
  uint64_t start, bytes;
  bool is_symbol = allocation == NULL && runtime->device != NULL &&
                   memory_find(device_memory(runtime->device), address_of(pointer), &start, &bytes); // a module's variable
  MemoryType type = allocation != NULL ? allocation->type : is_symbol ? MEMORY_DEVICE : MEMORY_UNREGISTERED;
  void *same = pointer_of(address_of(pointer));
  *attributes = (PointerAttributes){.type = (int)type,
                                    .device = type == MEMORY_UNREGISTERED ? -2 : 0,
                                    .device_pointer = type == MEMORY_UNREGISTERED ? NULL : same,
                                    .host_pointer = type == MEMORY_DEVICE ? NULL : same};
  return runtime_leave(runtime, cudaSuccess);
}

// ---- For campaigns --------------------------------------------------------------------------------------

void allocation_each_host(const void *context, AppHostRange each, void *each_context) {
  const Runtime *runtime = context;
  const PointerMap *map = &runtime->allocations;
  for (uint32_t i = 0; i < map->capacity; i++) {
    const Allocation *allocation = map->keys[i] == NULL ? NULL : map->values[i];
    bool shared = allocation != NULL && allocation->type != MEMORY_DEVICE;
    if (shared) each(each_context, allocation->start, allocation->bytes);
  }
  for (uint32_t i = 0; i < runtime->range_count; i++) each(each_context, runtime->ranges[i]->start, runtime->ranges[i]->bytes);
  variable_each_managed(runtime, each, each_context);
}

static void hash_range(void *context, uint64_t start, uint64_t bytes) {
  uint64_t *hash = context;
  *hash = hash_bytes(pointer_of(start), bytes, *hash);
}

uint64_t allocation_hash_host(const void *context, uint64_t seed) {
  allocation_each_host(context, hash_range, &seed);
  return seed;
}
