// Copies and fills. Every range in device memory is checked against its allocation, as the driver does;
// host pointers are the program's business. One row at a time, so that all shapes share one loop.
#include "cudart/runtime.h"

#include "cudart/array.h"

enum { COPY_NS = 1000, COPY_BYTES_PER_NS = 12 };

// Is the address in device memory at all? Then it must be inside one allocation.
static bool is_device(const Runtime *runtime, uint64_t address) {
  if (runtime->device == NULL) return false;
  const Memory *memory = device_memory(runtime->device);
  return address - memory_base(memory) < memory_capacity(memory);
}

static bool range_is_good(const Runtime *runtime, uint64_t address, uint64_t bytes) {
  uint64_t start, size;
  if (!is_device(runtime, address)) return address != 0;
  if (!memory_find(device_memory(runtime->device), address, &start, &size)) return false;
  return bytes <= start + size - address;
}

static CudaError check_ends(const Runtime *runtime, uint64_t to, uint64_t from, uint64_t to_bytes, uint64_t from_bytes, int kind) {
  if (kind < HOST_TO_HOST || kind > COPY_DEFAULT) return cudaErrorInvalidMemcpyDirection;
  bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
  bool from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
  if (to_device && memory_at(device_memory(runtime->device), to, 1) == NULL) return cudaErrorInvalidValue;
  if (from_device && memory_at(device_memory(runtime->device), from, 1) == NULL) return cudaErrorInvalidValue;
  return range_is_good(runtime, to, to_bytes) && range_is_good(runtime, from, from_bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

// Campaigns are told of what the host has from the device.
static bool is_told(Runtime *runtime, uint64_t to, uint64_t from) {
  if (runtime->environment.campaign == NULL || !is_device(runtime, from)) return false;
  const Allocation *allocation = allocation_find(runtime, to);
  return !is_device(runtime, to) || (allocation != NULL && allocation->type != MEMORY_DEVICE);
}

static void move(Runtime *runtime, void *to, const void *from, size_t bytes) {
  memmove(to, from, bytes);
  memory_note_copy(device_memory(runtime->device), address_of(to), address_of(from), bytes);
  if (is_told(runtime, address_of(to), address_of(from))) app_process_saw(runtime->environment.campaign, to, bytes, true);
}

// After the last of its moves.
static void end_copy(Runtime *runtime, uint64_t to, uint64_t from, uint64_t bytes) {
  if (is_told(runtime, to, from)) app_process_copied(runtime->environment.campaign, from, bytes);
}

static void advance(Runtime *runtime, uint64_t bytes) { runtime->clock_ns += COPY_NS + bytes / COPY_BYTES_PER_NS; }

CudaError copy_bytes(Runtime *runtime, void *to, const void *from, size_t bytes, int kind) {
  if (bytes == 0) return cudaSuccess;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  CudaError error = check_ends(runtime, address_of(to), address_of(from), bytes, bytes, kind);
  if (error != cudaSuccess) return error;
  move(runtime, to, from, bytes);
  end_copy(runtime, address_of(to), address_of(from), bytes);
  advance(runtime, bytes);
  return cudaSuccess;
}

// ---- Boxes: rows of rows --------------------------------------------------------------------------------

// One side of a copy: where row (y, z) starts.
typedef struct Side {
  uint64_t start;
  uint64_t row_pitch, slice_pitch;
} Side;

static bool side_of(const Runtime *runtime, const Array *array, const Position *position, const PitchedPointer *pointer, Side *side,
                    uint32_t *texel) {
  if (array == NULL) {
    *side = (Side){address_of(pointer->pointer), pointer->pitch, pointer->pitch * pointer->height};
    side->start += position->x + position->y * side->row_pitch + position->z * side->slice_pitch;
    return pointer->pointer != NULL;
  }
  if (!handle_is(runtime, array, HANDLE_ARRAY)) return false;
  *texel = array_texel_bytes(array);
  *side = (Side){array->address, array->row_pitch, array->slice_pitch};
  side->start += position->x * *texel + position->y * side->row_pitch + position->z * side->slice_pitch;
  return true;
}

static uint64_t span_of(const Side *side, const Extent *box) {
  return (box->depth - 1) * side->slice_pitch + (box->height - 1) * side->row_pitch + box->width;
}

static CudaError copy_box(Runtime *runtime, const Side *to, const Side *from, const Extent *box, int kind) {
  if (box->width == 0 || box->height == 0 || box->depth == 0) return cudaSuccess;
  if (box->height > 1 && (to->row_pitch < box->width || from->row_pitch < box->width)) return cudaErrorInvalidPitchValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  CudaError error = check_ends(runtime, to->start, from->start, span_of(to, box), span_of(from, box), kind);
  if (error != cudaSuccess) return error;
  for (size_t z = 0; z < box->depth; z++) {
    for (size_t y = 0; y < box->height; y++) {
      uint64_t target = to->start + z * to->slice_pitch + y * to->row_pitch;
      uint64_t source = from->start + z * from->slice_pitch + y * from->row_pitch;
      move(runtime, pointer_of(target), pointer_of(source), box->width);
    }
  }
  end_copy(runtime, to->start, from->start, box->width * box->height * box->depth);
  advance(runtime, box->width * box->height * box->depth);
  return cudaSuccess;
}

CudaError copy_3d(Runtime *runtime, const Copy3D *copy) {
  Side to, from;
  uint32_t texel = 0; // of the array, whose extents count texels; bytes when there is none
  bool good = side_of(runtime, copy->source_array, &copy->source_position, &copy->source, &from, &texel) &&
              side_of(runtime, copy->destination_array, &copy->destination_position, &copy->destination, &to, &texel);
  if (!good) return cudaErrorInvalidValue;
  Extent box = copy->extent;
  if (texel != 0) box.width *= texel;
  return copy_box(runtime, &to, &from, &box, copy->kind);
}

CudaError set_bytes(Runtime *runtime, const MemsetParams *set) {
  if (set->width == 0 || set->height == 0) return cudaSuccess;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  uint64_t element = max_u32(set->element_bytes, 1), row = set->width * element, start = address_of(set->destination);
  if (set->height > 1 && set->pitch < row) return cudaErrorInvalidPitchValue;
  uint64_t bytes = (set->height - 1) * set->pitch + row;
  if (memory_at(device_memory(runtime->device), start, 1) == NULL || !range_is_good(runtime, start, bytes)) return cudaErrorInvalidValue;
  for (size_t y = 0; y < set->height; y++) {
    uint8_t *at = (uint8_t *)set->destination + y * set->pitch;
    memory_note_write(device_memory(runtime->device), address_of(at), row);
    if (element == 1) {
      memset(at, (int)(set->value & 255), row);
      continue;
    }
    for (size_t x = 0; x < set->width; x++) memcpy(at + x * element, &set->value, element);
  }
  advance(runtime, bytes);
  return cudaSuccess;
}
