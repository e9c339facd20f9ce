// CUDA arrays and mipmaps: made, freed, described.
#include "cudart/array.h"

#include "cudart/size.h"

static uint32_t channel_bytes(const ChannelDesc *channels) { return (uint32_t)(channels->x + channels->y + channels->z + channels->w) / 8; }

uint32_t array_texel_bytes(const Array *array) { return channel_bytes(&array->channels); }

static bool channels_are_good(const ChannelDesc *channels) {
  const int bits[4] = {channels->x, channels->y, channels->z, channels->w};
  int sum = 0;
  for (int i = 0; i < 4; i++) {
    if (bits[i] < 0 || bits[i] > 32) return false;
    sum += bits[i];
  }
  return sum > 0 && sum % 8 == 0;
}

// ---- How large arrays may be: what property.def tells programs ------------------------------------------

static bool is_within(const Extent *extent, size_t width, size_t height, size_t depth) {
  return extent->width >= 1 && extent->width <= width && extent->height <= height && extent->depth <= depth;
}

static bool layers_are_good(const Extent *extent, uint32_t flags) {
  bool cube = (flags & ARRAY_CUBEMAP) != 0, layered = (flags & ARRAY_LAYERED) != 0;
  if (cube && (extent->width != extent->height || extent->depth % 6 != 0)) return false;
  if (extent->depth == 0) return false;
  return is_within(extent, 32768, 32768, !cube ? 2048 : layered ? 2046 : 6);
}

static bool extent_is_good(const Extent *extent, uint32_t flags, bool mipmapped) {
  if ((flags & (ARRAY_CUBEMAP | ARRAY_LAYERED)) != 0) return layers_are_good(extent, flags);
  if (extent->depth != 0)
    return extent->height != 0 && (is_within(extent, 16384, 16384, 16384) || (!mipmapped && is_within(extent, 8192, 8192, 32768)));
  return mipmapped ? is_within(extent, 32768, 32768, 0) : is_within(extent, 131072, 65536, 0);
}

static CudaError check_array(const ChannelDesc *channels, const Extent *extent, uint32_t flags, bool mipmapped) {
  if (channels == NULL) return cudaErrorInvalidValue;
  if (!channels_are_good(channels)) return cudaErrorInvalidChannelDescriptor;
  return extent_is_good(extent, flags, mipmapped) ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- Arrays ---------------------------------------------------------------------------------------------

static Array *new_array(Runtime *runtime, const ChannelDesc *channels, Extent extent, uint32_t flags) {
  uint64_t row = size_align_up(size_multiply(extent.width, channel_bytes(channels)), 64), rows = max_u64(extent.height, 1);
  uint64_t slice = size_multiply(row, rows);
  uint64_t address = allocation_new(runtime, size_multiply(slice, max_u64(extent.depth, 1)), MEMORY_DEVICE, 0);
  if (address == 0) return NULL;
  Allocation *storage = pointer_map_get(&runtime->allocations, pointer_of(address));
  storage->of_array = true;
  Array *array = handle_new(runtime, HANDLE_ARRAY, sizeof *array);
  *array = (Array){*channels, extent, flags, address, row, slice, false};
  return array;
}

static void free_array(Runtime *runtime, Array *array) {
  allocation_free(runtime, array->address, false);
  handle_free(runtime, array);
}

static CudaError make_array(Runtime *runtime, Array **array, const ChannelDesc *channels, Extent extent, uint32_t flags) {
  if (array == NULL) return cudaErrorInvalidValue;
  CudaError error = check_array(channels, &extent, flags, false);
  if (error != cudaSuccess) return error;
  *array = new_array(runtime, channels, extent, flags);
  return *array == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}

CUDART(cudaMallocArray, Array **array, const ChannelDesc *channels, size_t width, size_t height, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, make_array(runtime, array, channels, (Extent){width, height, 0}, flags));
}

CUDART(cudaMalloc3DArray, Array **array, const ChannelDesc *channels, Extent extent, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, make_array(runtime, array, channels, extent, flags));
}

CUDART(cudaFreeArray, Array *array) {
  Runtime *runtime = runtime_enter();
  if (array == NULL) return runtime_leave(runtime, cudaSuccess);
  if (!handle_is(runtime, array, HANDLE_ARRAY) || array->is_level) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  free_array(runtime, array);
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Mipmaps ------------------------------------------------------------------------------------------

static Extent level_extent(Extent extent, uint32_t level, uint32_t flags) {
  Extent smaller = extent;
  smaller.width = max_u64(extent.width >> level, 1);
  if (extent.height != 0) smaller.height = max_u64(extent.height >> level, 1);
  bool layers = (flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)) != 0;
  if (extent.depth != 0 && !layers) smaller.depth = max_u64(extent.depth >> level, 1);
  return smaller;
}

// Down to one texel.
static uint32_t most_levels(const Extent *extent) {
  uint32_t levels = 1;
  for (uint64_t side = max_u64(extent->width, max_u64(extent->height, extent->depth)); side > 1; side /= 2) levels++;
  return min_u32(levels, MOST_LEVELS);
}

static void free_mipmap(Runtime *runtime, Mipmap *mipmap) {
  for (uint32_t i = 0; i < mipmap->level_count; i++) {
    if (mipmap->levels[i] != NULL) free_array(runtime, mipmap->levels[i]);
  }
  handle_free(runtime, mipmap);
}

static CudaError make_mipmap(Runtime *runtime, Mipmap **result, const ChannelDesc *channels, Extent extent, uint32_t levels,
                             uint32_t flags) {
  if (result == NULL || levels == 0) return cudaErrorInvalidValue;
  CudaError error = check_array(channels, &extent, flags, true);
  if (error != cudaSuccess) return error;
  Mipmap *mipmap = handle_new(runtime, HANDLE_MIPMAP, sizeof *mipmap);
  *mipmap = (Mipmap){.channels = *channels, .extent = extent, .flags = flags, .level_count = min_u32(levels, most_levels(&extent))};
  for (uint32_t i = 0; i < mipmap->level_count; i++) {
    mipmap->levels[i] = new_array(runtime, channels, level_extent(extent, i, flags), flags);
    if (mipmap->levels[i] == NULL) {
      free_mipmap(runtime, mipmap);
      return cudaErrorMemoryAllocation;
    }
    mipmap->levels[i]->is_level = true;
  }
  *result = mipmap;
  return cudaSuccess;
}

CUDART(cudaMallocMipmappedArray, Mipmap **mipmap, const ChannelDesc *channels, Extent extent, uint32_t levels, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  return runtime_leave(runtime, make_mipmap(runtime, mipmap, channels, extent, levels, flags));
}

CUDART(cudaFreeMipmappedArray, Mipmap *mipmap) {
  Runtime *runtime = runtime_enter();
  if (mipmap == NULL) return runtime_leave(runtime, cudaSuccess);
  if (!handle_is(runtime, mipmap, HANDLE_MIPMAP)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  free_mipmap(runtime, mipmap);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGetMipmappedArrayLevel, Array **array, const Mipmap *mipmap, uint32_t level) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, mipmap, HANDLE_MIPMAP)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (array == NULL || level >= mipmap->level_count) return runtime_leave(runtime, cudaErrorInvalidValue);
  *array = mipmap->levels[level];
  return runtime_leave(runtime, cudaSuccess);
}

// ---- Descriptions ---------------------------------------------------------------------------------------

CUDART(cudaArrayGetInfo, ChannelDesc *channels, Extent *extent, uint32_t *flags, Array *array) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, array, HANDLE_ARRAY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (channels != NULL) *channels = array->channels;
  if (extent != NULL) *extent = array->extent;
  if (flags != NULL) *flags = array->flags;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGetChannelDesc, ChannelDesc *channels, const Array *array) {
  Runtime *runtime = runtime_enter();
  bool good = channels != NULL && handle_is(runtime, array, HANDLE_ARRAY);
  if (good) *channels = array->channels;
  return runtime_leave(runtime, good ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

EXPORT ChannelDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
ChannelDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (ChannelDesc){x, y, z, w, kind}; }
