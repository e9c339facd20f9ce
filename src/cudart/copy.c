// Copies and fills. Every range in device memory is checked against its allocation, as the driver does;
// host pointers are the program's business. One row at a time, so that all shapes share one loop.
#include "cudart/runtime.h"

#include "cudart/array.h"
#include "cudart/size.h"

enum {
  COPY_NS = 1000,
  COPY_BYTES_PER_NS = 12,
  MOST_PITCH = 2147483647, // memPitch of cudaDeviceProp
  LEAST_ADDRESS = 1 << 16  // below it nothing is mapped: a null pointer and an offset
};

// Is the address in device memory at all? Then it must be inside one allocation.
static bool is_device(const Runtime *runtime, uint64_t address) {
  if (runtime->device == NULL) return false;
  const Memory *memory = device_memory(runtime->device);
  return address - memory_base(memory) < memory_capacity(memory);
}

static bool range_is_good(const Runtime *runtime, uint64_t address, uint64_t bytes) {
  uint64_t start, size;
  if (!is_device(runtime, address)) return address >= LEAST_ADDRESS && size_is_within(address, bytes, UINT64_MAX);
  if (!memory_find(device_memory(runtime->device), address, &start, &size)) return false;
  return bytes <= start + size - address;
}

// What fills may write: one device allocation, or host memory that kernels may use too.
bool device_range_is_good(const Runtime *runtime, uint64_t address, uint64_t bytes) {
  return memory_at(device_memory(runtime->device), address, bytes) != NULL && range_is_good(runtime, address, bytes);
}

static CudaError check_ends(const Runtime *runtime, uint64_t to, uint64_t from, uint64_t to_bytes, uint64_t from_bytes, int kind) {
  if (kind < HOST_TO_HOST || kind > COPY_DEFAULT) return cudaErrorInvalidMemcpyDirection;
  bool to_device = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE;
  bool from_device = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
  if (to_device && memory_at(device_memory(runtime->device), to, to_bytes) == NULL) return cudaErrorInvalidValue;
  if (from_device && memory_at(device_memory(runtime->device), from, from_bytes) == NULL) return cudaErrorInvalidValue;
  return range_is_good(runtime, to, to_bytes) && range_is_good(runtime, from, from_bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

// Campaigns are told of what the host has from the device.
static bool is_told(Runtime *runtime, uint64_t to, uint64_t from) {
  if (runtime->environment.campaign == NULL || !is_device(runtime, from)) return false;
  const Allocation *allocation = allocation_find(runtime, to);
  return !is_device(runtime, to) || (allocation != NULL && allocation->type != MEMORY_DEVICE);
}

static void move(Runtime *runtime, void *to, const void *from, size_t bytes) {
  bool is_seen = is_told(runtime, address_of(to), address_of(from));
  app_process_moves(runtime->environment.campaign, address_of(to), address_of(from), bytes, is_seen);
  memmove(to, from, bytes);
  memory_note_copy(device_memory(runtime->device), address_of(to), address_of(from), bytes);
  if (is_seen) app_process_saw(runtime->environment.campaign, to, bytes, true);
}

// After the last of its moves.
static void end_copy(Runtime *runtime, uint64_t to, uint64_t from, uint64_t bytes) {
  if (is_told(runtime, to, from)) app_process_copied(runtime->environment.campaign, from, bytes);
}

static void advance(Runtime *runtime, uint64_t bytes) { runtime->clock_ns += COPY_NS + bytes / COPY_BYTES_PER_NS; }

// ---- Boxes: rows of rows --------------------------------------------------------------------------------

// One side of a copy: where row (y, z) starts.
typedef struct Side {
  uint64_t start;
  uint64_t row_pitch, slice_pitch;
} Side;

// Pitched memory: rows may not overlap, and slices hold the rows that are copied.
static CudaError side_of_memory(const PitchedPointer *pointer, const Position *position, const Extent *box, Side *side) {
  if (pointer->pointer == NULL) return cudaErrorInvalidValue;
  bool one_row = box->height == 1 && box->depth == 1; // then the pitch is not used
  if (!one_row && (pointer->pitch > MOST_PITCH || !size_is_within(position->x, box->width, pointer->pitch)))
    return cudaErrorInvalidPitchValue;
  if (box->depth > 1 && !size_is_within(position->y, box->height, pointer->height)) return cudaErrorInvalidValue;
  uint64_t slice_pitch = size_multiply(pointer->pitch, pointer->height);
  uint64_t offset = size_add(size_multiply(position->y, pointer->pitch), size_multiply(position->z, slice_pitch));
  *side = (Side){size_add(address_of(pointer->pointer), size_add(position->x, offset)), pointer->pitch, slice_pitch};
  return cudaSuccess;
}

static CudaError side_of_array(const Array *array, const Position *position, const Extent *box, Side *side) {
  uint32_t texel = array_texel_bytes(array);
  const Extent *room = &array->extent;
  bool fits = size_is_within(size_multiply(position->x, texel), box->width, room->width * texel) &&
              size_is_within(position->y, box->height, max_u64(room->height, 1)) &&
              size_is_within(position->z, box->depth, max_u64(room->depth, 1));
  if (!fits) return cudaErrorInvalidValue;
  uint64_t offset = position->x * texel + position->y * array->row_pitch + position->z * array->slice_pitch;
  *side = (Side){array->address + offset, array->row_pitch, array->slice_pitch};
  return cudaSuccess;
}

static uint64_t span_of(const Side *side, const Extent *box) {
  return size_of_box(box->width, box->height, box->depth, side->row_pitch, side->slice_pitch);
}

static CudaError copy_box(Runtime *runtime, const Side *to, const Side *from, const Extent *box, int kind) {
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
  uint64_t bytes = size_multiply(size_multiply(box->width, box->height), box->depth);
  end_copy(runtime, to->start, from->start, bytes);
  advance(runtime, bytes);
  return cudaSuccess;
}

// Extents count texels where an array takes part, else bytes. 0: two arrays that do not match, or a handle that is none.
static uint32_t unit_of(const Runtime *runtime, const Copy3D *copy) {
  const Array *arrays[] = {copy->source_array, copy->destination_array};
  uint32_t unit = 0;
  for (size_t i = 0; i < COUNT_OF(arrays); i++) {
    if (arrays[i] == NULL) continue;
    if (!handle_is(runtime, arrays[i], HANDLE_ARRAY)) return 0;
    uint32_t texel = array_texel_bytes(arrays[i]);
    if (unit != 0 && unit != texel) return 0;
    unit = texel;
  }
  return unit == 0 ? 1 : unit;
}

CudaError copy_3d(Runtime *runtime, const Copy3D *copy) {
  uint32_t unit = unit_of(runtime, copy);
  if (unit == 0) return cudaErrorInvalidValue;
  Extent box = {size_multiply(copy->extent.width, unit), copy->extent.height, copy->extent.depth};
  if (box.width == 0 || box.height == 0 || box.depth == 0) return cudaSuccess;
  Side to, from;
  CudaError error = copy->source_array == NULL ? side_of_memory(&copy->source, &copy->source_position, &box, &from)
                                               : side_of_array(copy->source_array, &copy->source_position, &box, &from);
  if (error != cudaSuccess) return error;
  error = copy->destination_array == NULL ? side_of_memory(&copy->destination, &copy->destination_position, &box, &to)
                                          : side_of_array(copy->destination_array, &copy->destination_position, &box, &to);
  return error != cudaSuccess ? error : copy_box(runtime, &to, &from, &box, copy->kind);
}

bool set_is_known(const MemsetParams *set) { return set->element_bytes == 1 || set->element_bytes == 2 || set->element_bytes == 4; }

CudaError set_bytes(Runtime *runtime, const MemsetParams *set) {
  if (set->width == 0 || set->height == 0) return cudaSuccess;
  if (!set_is_known(set)) return cudaErrorInvalidValue;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  if (runtime->sticky != cudaSuccess) return runtime->sticky;
  uint64_t element = set->element_bytes, row = size_multiply(set->width, element);
  if (set->height > 1 && set->pitch < row) return cudaErrorInvalidValue;
  uint64_t bytes = size_of_box(row, set->height, 1, set->pitch, 0);
  if (!device_range_is_good(runtime, address_of(set->destination), bytes)) return cudaErrorInvalidValue;
  for (size_t y = 0; y < set->height; y++) {
    uint8_t *at = (uint8_t *)set->destination + y * set->pitch;
    app_process_fills(runtime->environment.campaign, address_of(at), row);
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
