// Copies of the driver's interface that have shapes or arrays: its descriptions -> the runtime's Copy3D.
#include "cudart/array.h"
#include "cudart/driver.h"

EXPORT CudaError cudaMemcpy3DAsync(const Copy3D *copy, Stream *stream);
EXPORT CudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, Stream *stream);
EXPORT CudaError cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);

typedef enum SideType { SIDE_HOST = 1, SIDE_DEVICE, SIDE_ARRAY, SIDE_UNIFIED } SideType;

typedef struct DriverCopy2D { // CUDA_MEMCPY2D
  struct DriverSide2D {
    size_t x_bytes, y;
    int type; // SideType
    void *host;
    uint64_t device;
    Array *array;
    size_t pitch;
  } source, destination;
  size_t width_bytes, height;
} DriverCopy2D;
_Static_assert(sizeof(DriverCopy2D) == 128, "CUDA_MEMCPY2D");

typedef struct DriverSide3D {
  size_t x_bytes, y, z, level;
  int type; // SideType
  void *host;
  uint64_t device;
  Array *array;
  void *reserved;
  size_t pitch, height;
} DriverSide3D;

typedef struct DriverCopy3D { // CUDA_MEMCPY3D
  DriverSide3D source, destination;
  size_t width_bytes, height, depth;
} DriverCopy3D;
_Static_assert(sizeof(DriverCopy3D) == 200, "CUDA_MEMCPY3D");

// ---- Shapes ----------------------------------------------------------------------------------------

typedef struct CopyEnd {
  Array *array;
  Position position;
  PitchedPointer memory;
} CopyEnd;

static bool read_end(const Runtime *runtime, const DriverSide3D *side, CopyEnd *end) {
  *end = (CopyEnd){.position = {side->x_bytes, side->y, side->z}};
  switch (side->type) {
  case SIDE_HOST: end->memory.pointer = side->host; break;
  case SIDE_DEVICE:
  case SIDE_UNIFIED: end->memory.pointer = pointer_of(side->device); break;
  case SIDE_ARRAY: end->array = side->array; break;
  default: return false;
  }
  end->memory.pitch = end->memory.width = side->pitch;
  end->memory.height = side->height;
  if (side->type != SIDE_ARRAY) return true;
  if (!handle_is(runtime, side->array, HANDLE_ARRAY)) return false;
  end->position.x /= array_texel_bytes(side->array);
  return true;
}

static int kind_of(int from, int to) {
  if (from == SIDE_UNIFIED || to == SIDE_UNIFIED) return COPY_DEFAULT;
  if (from == SIDE_HOST) return to == SIDE_HOST ? HOST_TO_HOST : HOST_TO_DEVICE;
  return to == SIDE_HOST ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
}

static CudaError copy_shape(const DriverCopy3D *wish, Stream *stream) {
  Runtime *runtime = runtime_enter();
  CopyEnd from, to;
  bool good = read_end(runtime, &wish->source, &from) && read_end(runtime, &wish->destination, &to);
  if (!good) return runtime_leave(runtime, cudaErrorInvalidValue);
  const Array *array = from.array != NULL ? from.array : to.array;
  size_t unit = array == NULL ? 1 : array_texel_bytes(array);
  Copy3D copy = {.source_array = from.array,
                 .source_position = from.position,
                 .source = from.memory,
                 .destination_array = to.array,
                 .destination_position = to.position,
                 .destination = to.memory,
                 .extent = {wish->width_bytes / unit, wish->height, wish->depth},
                 .kind = kind_of(wish->source.type, wish->destination.type)};
  return runtime_leave(runtime, driver_code(cudaMemcpy3DAsync(&copy, stream)));
}

static DriverSide3D flat(const struct DriverSide2D *side) {
  return (DriverSide3D){.x_bytes = side->x_bytes,
                        .y = side->y,
                        .type = side->type,
                        .host = side->host,
                        .device = side->device,
                        .array = side->array,
                        .pitch = side->pitch};
}

CUDART(cuMemcpy3DAsync_v2, const DriverCopy3D *copy, Stream *stream) {
  return copy == NULL ? cudaErrorInvalidValue : copy_shape(copy, stream);
}
CUDART(cuMemcpy3D_v2, const DriverCopy3D *copy) { return cuMemcpy3DAsync_v2(copy, NULL); }
CUDART(cuMemcpy2DAsync_v2, const DriverCopy2D *copy, Stream *stream) {
  if (copy == NULL) return cudaErrorInvalidValue;
  DriverCopy3D wish = {flat(&copy->source), flat(&copy->destination), copy->width_bytes, copy->height, 1};
  return copy_shape(&wish, stream);
}
CUDART(cuMemcpy2D_v2, const DriverCopy2D *copy) { return cuMemcpy2DAsync_v2(copy, NULL); }
CUDART_ALIAS(cuMemcpy2DUnaligned_v2, cuMemcpy2D_v2)

// ---- Rows of arrays ----------------------------------------------------------------------------------

static CudaError copy_row(DriverSide3D from, DriverSide3D to, size_t bytes, Stream *stream) {
  DriverCopy3D wish = {from, to, bytes, 1, 1};
  return copy_shape(&wish, stream);
}
static DriverSide3D in_array(Array *array, size_t offset) { return (DriverSide3D){.type = SIDE_ARRAY, .array = array, .x_bytes = offset}; }
static DriverSide3D in_host(const void *host) { return (DriverSide3D){.type = SIDE_HOST, .host = pointer_of(address_of(host))}; }
static DriverSide3D in_device(uint64_t address) { return (DriverSide3D){.type = SIDE_DEVICE, .device = address}; }

CUDART(cuMemcpyHtoAAsync_v2, Array *to, size_t offset, const void *from, size_t bytes, Stream *stream) {
  return copy_row(in_host(from), in_array(to, offset), bytes, stream);
}
CUDART(cuMemcpyAtoHAsync_v2, void *to, Array *from, size_t offset, size_t bytes, Stream *stream) {
  return copy_row(in_array(from, offset), in_host(to), bytes, stream);
}
CUDART(cuMemcpyHtoA_v2, Array *to, size_t offset, const void *from, size_t bytes) {
  return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, NULL);
}
CUDART(cuMemcpyAtoH_v2, void *to, Array *from, size_t offset, size_t bytes) { return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, NULL); }
CUDART(cuMemcpyDtoA_v2, Array *to, size_t offset, uint64_t from, size_t bytes) {
  return copy_row(in_device(from), in_array(to, offset), bytes, NULL);
}
CUDART(cuMemcpyAtoD_v2, uint64_t to, Array *from, size_t offset, size_t bytes) {
  return copy_row(in_array(from, offset), in_device(to), bytes, NULL);
}
CUDART(cuMemcpyAtoA_v2, Array *to, size_t to_offset, Array *from, size_t from_offset, size_t bytes) {
  return copy_row(in_array(from, from_offset), in_array(to, to_offset), bytes, NULL);
}

// ---- Plain memory --------------------------------------------------------------------------------------

CUDART(cuMemcpyAsync, uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  return driver_code(cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, COPY_DEFAULT, stream));
}
CUDART(cuMemcpyDtoDAsync_v2, uint64_t to, uint64_t from, size_t bytes, Stream *stream) {
  return driver_code(cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, DEVICE_TO_DEVICE, stream));
}
CUDART(cuMemcpyPeerAsync, uint64_t to, Context *to_context, uint64_t from, Context *from_context, size_t bytes, Stream *stream) {
  (void)to_context, (void)from_context; // all contexts are of one device
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
CUDART(cuMemcpyPeer, uint64_t to, Context *to_context, uint64_t from, Context *from_context, size_t bytes) {
  return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, NULL);
}

CUDART(cuMemAllocPitch_v2, uint64_t *address, size_t *pitch, size_t width, size_t height, uint32_t element_bytes) {
  bool good = address != NULL && (element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
  void *pointer = NULL;
  CudaError error = good ? cudaMallocPitch(&pointer, pitch, width, height) : cudaErrorInvalidValue;
  if (error == cudaSuccess) *address = address_of(pointer);
  return driver_code(error);
}

// A fill is done at once, or becomes a node of the graph that the stream is captured into.
static CudaError fill(const MemsetParams *set, Stream *stream) {
  Runtime *runtime = runtime_enter();
  Operation operation = {.params = {.type = NODE_MEMSET}};
  operation.params.of.set = *set;
  return runtime_leave(runtime, driver_code(operation_queue(runtime, &operation, stream)));
}
#define FILL(bits)                                                                                                                 \
  CUDART(cuMemsetD##bits##Async, uint64_t to, uint##bits##_t value, size_t count, Stream *stream) {                                \
    return fill(&(MemsetParams){pointer_of(to), 0, value, bits / 8, count, 1}, stream);                                            \
  }                                                                                                                                \
  CUDART(cuMemsetD2D##bits##Async, uint64_t to, size_t pitch, uint##bits##_t value, size_t width, size_t height, Stream *stream) { \
    return fill(&(MemsetParams){pointer_of(to), pitch, value, bits / 8, width, height}, stream);                                   \
  }                                                                                                                                \
  CUDART(cuMemsetD2D##bits##_v2, uint64_t to, size_t pitch, uint##bits##_t value, size_t width, size_t height) {                   \
    return cuMemsetD2D##bits##Async(to, pitch, value, width, height, NULL);                                                        \
  }
FILL(8)
FILL(16)
FILL(32)
