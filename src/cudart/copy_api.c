// cudaMemcpy and cudaMemset in all their shapes: each becomes one operation (a 3D copy or a fill).
#include "cudart/array.h"
#include "cudart/size.h"

static CudaError queue(Runtime *runtime, const Copy3D *copy, Stream *stream) {
  Operation operation = {.params = {.type = NODE_MEMCPY, .of.copy.copy = *copy}};
  return operation_queue(runtime, &operation, stream);
}

static PitchedPointer plain(const void *pointer, size_t pitch, size_t width, size_t height) {
  return (PitchedPointer){pointer_of(address_of(pointer)), pitch, width, height};
}

// ---- Plain memory ---------------------------------------------------------------------------------------------

static CudaError copy_plain(void *to, const void *from, size_t bytes, int kind, Stream *stream) {
  Runtime *runtime = runtime_enter();
  if (bytes == 0) return runtime_leave(runtime, cudaSuccess);
  Copy3D copy = {.source = plain(from, bytes, bytes, 1), .destination = plain(to, bytes, bytes, 1), .extent = {bytes, 1, 1}, .kind = kind};
  return runtime_leave(runtime, queue(runtime, &copy, stream));
}

CUDART(cudaMemcpy, void *to, const void *from, size_t bytes, int kind) { return copy_plain(to, from, bytes, kind, NULL); }
CUDART_ALIAS(cudaMemcpy_ptds, cudaMemcpy)
CUDART(cudaMemcpyAsync, void *to, const void *from, size_t bytes, int kind, Stream *stream) {
  return copy_plain(to, from, bytes, kind, stream);
}
CUDART_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync)

CUDART(cudaMemcpyPeerAsync, void *to, int to_device, const void *from, int from_device, size_t bytes, Stream *stream) {
  if (to_device != 0 || from_device != 0) return runtime_leave(runtime_enter(), cudaErrorInvalidDevice);
  return copy_plain(to, from, bytes, DEVICE_TO_DEVICE, stream);
}
CUDART(cudaMemcpyPeer, void *to, int to_device, const void *from, int from_device, size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, NULL);
}

CUDART(cudaMemcpyBatchAsync, void *const *to, const void *const *from, const size_t *bytes, size_t count, void *attributes,
       size_t *attribute_indices, size_t attribute_count, Stream *stream) {
  (void)attributes, (void)attribute_indices, (void)attribute_count;
  bool good = count == 0 || (to != NULL && from != NULL && bytes != NULL);
  if (!good) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  CudaError error = cudaSuccess;
  for (size_t i = 0; i < count && error == cudaSuccess; i++) error = copy_plain(to[i], from[i], bytes[i], COPY_DEFAULT, stream);
  return error;
}
CUDART_ALIAS(cudaMemcpyBatchAsync_ptsz, cudaMemcpyBatchAsync)

CUDART(cudaMemcpy2DAsync, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
       Stream *stream) {
  Runtime *runtime = runtime_enter();
  if (width > to_pitch || width > from_pitch) return runtime_leave(runtime, cudaErrorInvalidPitchValue);
  Copy3D copy = {.source = plain(from, from_pitch, width, height),
                 .destination = plain(to, to_pitch, width, height),
                 .extent = {width, height, 1},
                 .kind = kind};
  if (width == 0 || height == 0) return runtime_leave(runtime, cudaSuccess);
  return runtime_leave(runtime, queue(runtime, &copy, stream));
}
CUDART_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync)
CUDART(cudaMemcpy2D, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D)

CUDART(cudaMemcpy3DAsync, const Copy3D *copy, Stream *stream) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, copy == NULL ? cudaErrorInvalidValue : queue(runtime, copy, stream));
}
CUDART_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync)
CUDART(cudaMemcpy3D, const Copy3D *copy) { return cudaMemcpy3DAsync(copy, NULL); }
CUDART_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D)

CUDART(cudaMemcpy3DPeerAsync, const Copy3DPeer *peer, Stream *stream) {
  if (peer == NULL) return runtime_leave(runtime_enter(), cudaErrorInvalidValue);
  Copy3D copy = {peer->source_array,         peer->source_position, peer->source, peer->destination_array,
                 peer->destination_position, peer->destination,     peer->extent, COPY_DEFAULT};
  return cudaMemcpy3DAsync(&copy, stream);
}
CUDART_ALIAS(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync)
CUDART(cudaMemcpy3DPeer, const Copy3DPeer *peer) { return cudaMemcpy3DPeerAsync(peer, NULL); }
CUDART_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer)

// ---- Arrays: offsets and widths in bytes, heights in rows -----------------------------------------------------

typedef struct ArrayPlace {
  const Array *array;
  size_t x_bytes, y;
} ArrayPlace;

static bool place_is_good(Runtime *runtime, const ArrayPlace *place) {
  return handle_is(runtime, place->array, HANDLE_ARRAY) && place->x_bytes % array_texel_bytes(place->array) == 0;
}

// As plain memory: the array's rows lie one pitch apart.
static PitchedPointer memory_of(const ArrayPlace *place, size_t width, size_t height) {
  const Array *array = place->array;
  return plain(pointer_of(array->address + place->y * array->row_pitch + place->x_bytes), array->row_pitch, width, height);
}

static bool fits(const ArrayPlace *place, size_t width, size_t height) {
  const Extent *extent = &place->array->extent;
  return size_is_within(place->x_bytes, width, extent->width * array_texel_bytes(place->array)) &&
         size_is_within(place->y, height, max_u64(extent->height, 1));
}

static CudaError copy_array_2d(const ArrayPlace *to, PitchedPointer to_memory, const ArrayPlace *from, PitchedPointer from_memory,
                               size_t width, size_t height, int kind, Stream *stream) {
  Runtime *runtime = runtime_enter();
  if (width == 0 || height == 0) return runtime_leave(runtime, cudaSuccess);
  bool good = (to == NULL || (place_is_good(runtime, to) && fits(to, width, height))) &&
              (from == NULL || (place_is_good(runtime, from) && fits(from, width, height)));
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  Copy3D copy = {.source = from != NULL ? memory_of(from, width, height) : from_memory,
                 .destination = to != NULL ? memory_of(to, width, height) : to_memory,
                 .extent = {width, height, 1},
                 .kind = kind};
  return runtime_leave(runtime, queue(runtime, &copy, stream));
}

CUDART(cudaMemcpy2DToArrayAsync, Array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
       Stream *stream) {
  ArrayPlace place = {to, x, y};
  return copy_array_2d(&place, plain(NULL, 0, 0, 0), NULL, plain(from, pitch, width, height), width, height, kind, stream);
}
CUDART_ALIAS(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync)
CUDART(cudaMemcpy2DToArray, Array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind) {
  return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray)

CUDART(cudaMemcpy2DFromArrayAsync, void *to, size_t pitch, const Array *from, size_t x, size_t y, size_t width, size_t height, int kind,
       Stream *stream) {
  ArrayPlace place = {from, x, y};
  return copy_array_2d(NULL, plain(to, pitch, width, height), &place, plain(NULL, 0, 0, 0), width, height, kind, stream);
}
CUDART_ALIAS(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync)
CUDART(cudaMemcpy2DFromArray, void *to, size_t pitch, const Array *from, size_t x, size_t y, size_t width, size_t height, int kind) {
  return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray)

CUDART(cudaMemcpy2DArrayToArray, Array *to, size_t to_x, size_t to_y, const Array *from, size_t from_x, size_t from_y, size_t width,
       size_t height, int kind) {
  ArrayPlace to_place = {to, to_x, to_y}, from_place = {from, from_x, from_y};
  PitchedPointer none = plain(NULL, 0, 0, 0);
  return copy_array_2d(&to_place, none, &from_place, none, width, height, kind, NULL);
}
CUDART_ALIAS(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray)

// A run of bytes from (x, y) on, row after row, ends before the array does.
static bool run_fits(const Array *array, size_t x, size_t y, size_t bytes) {
  uint64_t row = array->extent.width * array_texel_bytes(array), rows = max_u64(array->extent.height, 1);
  return x <= row && y < rows && size_is_within(y * row + x, bytes, row * rows);
}

// A run of bytes that fills an array's rows one after the other, from (x, y).
static CudaError copy_run(Array *array, size_t x, size_t y, uint8_t *memory, size_t bytes, int kind, Stream *stream, bool to_array) {
  Runtime *runtime = runtime_enter(); // locked throughout: the array stays
  bool good = memory != NULL && handle_is(runtime, array, HANDLE_ARRAY) && run_fits(array, x, y, bytes);
  CudaError error = good ? cudaSuccess : cudaErrorInvalidValue;
  size_t row = good ? array->extent.width * array_texel_bytes(array) : 0;
  while (bytes > 0 && error == cudaSuccess) {
    size_t step = min_u64(bytes, row - x);
    error = to_array ? cudaMemcpy2DToArrayAsync(array, x, y, memory, step, step, 1, kind, stream)
                     : cudaMemcpy2DFromArrayAsync(memory, step, array, x, y, step, 1, kind, stream);
    memory += step;
    bytes -= step;
    x = 0;
    y++;
  }
  return runtime_leave(runtime, error);
}

CUDART(cudaMemcpyToArrayAsync, Array *to, size_t x, size_t y, const void *from, size_t bytes, int kind, Stream *stream) {
  return copy_run(to, x, y, pointer_of(address_of(from)), bytes, kind, stream, true);
}
CUDART_ALIAS(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync)
CUDART(cudaMemcpyToArray, Array *to, size_t x, size_t y, const void *from, size_t bytes, int kind) {
  return cudaMemcpyToArrayAsync(to, x, y, from, bytes, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyToArray_ptds, cudaMemcpyToArray)
CUDART(cudaMemcpyFromArrayAsync, void *to, Array *from, size_t x, size_t y, size_t bytes, int kind, Stream *stream) {
  return copy_run(from, x, y, to, bytes, kind, stream, false);
}
CUDART_ALIAS(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync)
CUDART(cudaMemcpyFromArray, void *to, Array *from, size_t x, size_t y, size_t bytes, int kind) {
  return cudaMemcpyFromArrayAsync(to, from, x, y, bytes, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray)

CUDART(cudaMemcpyArrayToArray, Array *to, size_t to_x, size_t to_y, Array *from, size_t from_x, size_t from_y, size_t bytes, int kind) {
  Runtime *runtime = runtime_enter();
  bool good = handle_is(runtime, to, HANDLE_ARRAY) && handle_is(runtime, from, HANDLE_ARRAY) && run_fits(to, to_x, to_y, bytes) &&
              run_fits(from, from_x, from_y, bytes);
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  size_t to_row = to->extent.width * array_texel_bytes(to), from_row = from->extent.width * array_texel_bytes(from);
  CudaError error = cudaSuccess;
  while (bytes > 0 && error == cudaSuccess) {
    if (to_x == to_row) to_x = 0, to_y++;
    if (from_x == from_row) from_x = 0, from_y++;
    size_t step = min_u64(bytes, min_u64(to_row - to_x, from_row - from_x));
    error = cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, step, 1, kind);
    bytes -= step;
    to_x += step;
    from_x += step;
  }
  return runtime_leave(runtime, error);
}
CUDART_ALIAS(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray)

// ---- Variables ------------------------------------------------------------------------------------------------

static CudaError symbol_place(Runtime *runtime, const void *symbol, size_t bytes, size_t offset, void **place) {
  uint64_t address, size;
  CudaError error = variable_find(runtime, symbol, &address, &size);
  if (error != cudaSuccess) return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *place = pointer_of(address + offset);
  return cudaSuccess;
}

CUDART(cudaMemcpyToSymbolAsync, const void *symbol, const void *from, size_t bytes, size_t offset, int kind, Stream *stream) {
  Runtime *runtime = runtime_enter();
  void *place = NULL;
  CudaError error = symbol_place(runtime, symbol, bytes, offset, &place);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  runtime_leave_quietly(runtime);
  return copy_plain(place, from, bytes, kind, stream);
}
CUDART_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync)
CUDART(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t bytes, size_t offset, int kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol)

CUDART(cudaMemcpyFromSymbolAsync, void *to, const void *symbol, size_t bytes, size_t offset, int kind, Stream *stream) {
  Runtime *runtime = runtime_enter();
  void *place = NULL;
  CudaError error = symbol_place(runtime, symbol, bytes, offset, &place);
  if (error != cudaSuccess) return runtime_leave(runtime, error);
  runtime_leave_quietly(runtime);
  return copy_plain(to, place, bytes, kind, stream);
}
CUDART_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync)
CUDART(cudaMemcpyFromSymbol, void *to, const void *symbol, size_t bytes, size_t offset, int kind) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, NULL);
}
CUDART_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol)

CUDART(cudaGetSymbolAddress, void **pointer, const void *symbol) {
  Runtime *runtime = runtime_enter();
  uint64_t address = 0, bytes;
  CudaError error = variable_find(runtime, symbol, &address, &bytes);
  if (error == cudaSuccess && pointer != NULL) *pointer = pointer_of(address);
  return runtime_leave(runtime, error);
}

CUDART(cudaGetSymbolSize, size_t *size, const void *symbol) {
  Runtime *runtime = runtime_enter();
  uint64_t address, bytes = 0;
  CudaError error = variable_find(runtime, symbol, &address, &bytes);
  if (error == cudaSuccess && size != NULL) *size = bytes;
  return runtime_leave(runtime, error);
}

// ---- Fills ------------------------------------------------------------------------------------------------------

CUDART(cudaMemset2DAsync, void *pointer, size_t pitch, int value, size_t width, size_t height, Stream *stream) {
  Runtime *runtime = runtime_enter();
  Operation operation = {.params = {.type = NODE_MEMSET, .of.set = {pointer, pitch, (uint32_t)value & 255, 1, width, height}}};
  return runtime_leave(runtime, operation_queue(runtime, &operation, stream));
}
CUDART_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync)
CUDART(cudaMemset2D, void *pointer, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, NULL);
}
CUDART_ALIAS(cudaMemset2D_ptds, cudaMemset2D)
CUDART(cudaMemsetAsync, void *pointer, int value, size_t bytes, Stream *stream) {
  return cudaMemset2DAsync(pointer, bytes, value, bytes, 1, stream);
}
CUDART_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync)
CUDART(cudaMemset, void *pointer, int value, size_t bytes) { return cudaMemset2DAsync(pointer, bytes, value, bytes, 1, NULL); }
CUDART_ALIAS(cudaMemset_ptds, cudaMemset)

// All slices are checked before the first is filled: what fits is no larger than the memory.
static CudaError check_volume(Runtime *runtime, const PitchedPointer *pitched, const Extent *extent) {
  bool slices = extent->depth == 1 || (extent->width <= pitched->pitch && extent->height <= pitched->height);
  uint64_t slice_pitch = size_multiply(pitched->pitch, pitched->height);
  uint64_t bytes = size_of_box(extent->width, extent->height, extent->depth, pitched->pitch, slice_pitch);
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  return slices && device_range_is_good(runtime, address_of(pitched->pointer), bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

CUDART(cudaMemset3DAsync, PitchedPointer pitched, int value, Extent extent, Stream *stream) {
  Runtime *runtime = runtime_enter();
  bool empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
  CudaError error = empty ? cudaSuccess : check_volume(runtime, &pitched, &extent);
  for (size_t z = 0; !empty && z < extent.depth && error == cudaSuccess; z++) {
    uint8_t *slice = (uint8_t *)pitched.pointer + z * pitched.pitch * pitched.height;
    error = cudaMemset2DAsync(slice, pitched.pitch, value, extent.width, extent.height, stream);
  }
  return runtime_leave(runtime, error);
}
CUDART_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync)
CUDART(cudaMemset3D, PitchedPointer pitched, int value, Extent extent) { return cudaMemset3DAsync(pitched, value, extent, NULL); }
CUDART_ALIAS(cudaMemset3D_ptds, cudaMemset3D)
