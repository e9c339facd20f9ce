// Arrays, textures and surfaces of the driver's interface: its descriptions -> the runtime's.
#include "cudart/array.h"
#include "cudart/driver.h"

EXPORT CudaError cudaMalloc3DArray(Array **array, const ChannelDesc *channels, Extent extent, uint32_t flags);
EXPORT CudaError cudaMallocMipmappedArray(Mipmap **mipmap, const ChannelDesc *channels, Extent extent, uint32_t levels, uint32_t flags);
EXPORT CudaError cudaCreateTextureObject(uint64_t *object, const ResourceDesc *resource, const TextureDesc *texture,
                                         const ResourceViewDesc *view);
EXPORT CudaError cudaCreateSurfaceObject(uint64_t *object, const ResourceDesc *resource);

typedef struct ArrayDescription { // CUDA_ARRAY_DESCRIPTOR
  size_t width, height;
  int format;
  uint32_t channels;
} ArrayDescription;
_Static_assert(sizeof(ArrayDescription) == 24, "CUDA_ARRAY_DESCRIPTOR");

typedef struct ArrayDescription3D { // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  uint32_t channels, flags;
} ArrayDescription3D;
_Static_assert(sizeof(ArrayDescription3D) == 40, "CUDA_ARRAY3D_DESCRIPTOR");

// ---- Formats ---------------------------------------------------------------------------------------

static const struct {
  int format; // CUarray_format
  int bits, kind;
} formats[] = {{0x01, 8, CHANNEL_UNSIGNED}, {0x02, 16, CHANNEL_UNSIGNED}, {0x03, 32, CHANNEL_UNSIGNED}, {0x08, 8, CHANNEL_SIGNED},
               {0x09, 16, CHANNEL_SIGNED},  {0x0a, 32, CHANNEL_SIGNED},   {0x10, 16, CHANNEL_FLOAT},    {0x20, 32, CHANNEL_FLOAT}};

static bool read_format(int format, uint32_t count, ChannelDesc *channels) {
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    int bits = formats[i].bits;
    if (formats[i].format != format) continue;
    *channels = (ChannelDesc){bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, formats[i].kind};
    return count == 1 || count == 2 || count == 4;
  }
  return false;
}

static int format_of(const ChannelDesc *channels) {
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    if (formats[i].bits == channels->x && formats[i].kind == channels->kind) return formats[i].format;
  }
  return 0;
}

// ---- Arrays ----------------------------------------------------------------------------------------

CUDART(cuArray3DCreate_v2, Array **array, const ArrayDescription3D *wish) {
  ChannelDesc channels;
  bool good = wish != NULL && read_format(wish->format, wish->channels, &channels);
  return good ? driver_code(cudaMalloc3DArray(array, &channels, (Extent){wish->width, wish->height, wish->depth}, wish->flags))
              : cudaErrorInvalidValue;
}
CUDART(cuArrayCreate_v2, Array **array, const ArrayDescription *wish) {
  if (wish == NULL) return cudaErrorInvalidValue;
  return cuArray3DCreate_v2(array, &(ArrayDescription3D){wish->width, wish->height, 0, wish->format, wish->channels, 0});
}
CUDART(cuMipmappedArrayCreate, Mipmap **mipmap, const ArrayDescription3D *wish, uint32_t levels) {
  ChannelDesc channels;
  bool good = wish != NULL && read_format(wish->format, wish->channels, &channels);
  return good ? driver_code(
                    cudaMallocMipmappedArray(mipmap, &channels, (Extent){wish->width, wish->height, wish->depth}, levels, wish->flags))
              : cudaErrorInvalidValue;
}

CUDART(cuArray3DGetDescriptor_v2, ArrayDescription3D *description, Array *array) {
  Runtime *runtime = runtime_enter();
  if (description == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  if (!handle_is(runtime, array, HANDLE_ARRAY)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  const ChannelDesc *channels = &array->channels;
  uint32_t count = 1u + (channels->y != 0) + (channels->z != 0) + (channels->w != 0);
  *description =
      (ArrayDescription3D){array->extent.width, array->extent.height, array->extent.depth, format_of(channels), count, array->flags};
  return runtime_leave(runtime, cudaSuccess);
}
CUDART(cuArrayGetDescriptor_v2, ArrayDescription *description, Array *array) {
  ArrayDescription3D all;
  CudaError error = description == NULL ? cudaErrorInvalidValue : cuArray3DGetDescriptor_v2(&all, array);
  if (error == cudaSuccess) *description = (ArrayDescription){all.width, all.height, all.format, all.channels};
  return error;
}

// ---- Objects ---------------------------------------------------------------------------------------

typedef struct DriverResource { // CUDA_RESOURCE_DESC
  int type;                     // ResourceType
  union {
    Array *array;
    Mipmap *mipmap;
    struct DriverLinear {
      uint64_t address;
      int format;
      uint32_t channels;
      size_t bytes;
    } linear;
    struct DriverPitch2D {
      uint64_t address;
      int format;
      uint32_t channels;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  uint32_t flags;
} DriverResource;
_Static_assert(sizeof(DriverResource) == 144, "CUDA_RESOURCE_DESC");

typedef struct DriverTexture { // CUDA_TEXTURE_DESC
  int address_mode[3], filter_mode;
  uint32_t flags, max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, mipmap_least, mipmap_most, border[4];
  int reserved[12];
} DriverTexture;
_Static_assert(sizeof(DriverTexture) == 104, "CUDA_TEXTURE_DESC");
enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2, SRGB = 16 };

static bool read_resource(const DriverResource *wish, ResourceDesc *resource) {
  *resource = (ResourceDesc){.type = wish->type};
  switch (wish->type) {
  case RESOURCE_ARRAY: resource->of.array = wish->of.array; return true;
  case RESOURCE_MIPMAP: resource->of.mipmap = wish->of.mipmap; return true;
  case RESOURCE_LINEAR:
    resource->of.linear.pointer = pointer_of(wish->of.linear.address);
    resource->of.linear.bytes = wish->of.linear.bytes;
    return read_format(wish->of.linear.format, wish->of.linear.channels, &resource->of.linear.channels);
  case RESOURCE_PITCH2D:
    resource->of.pitch2d.pointer = pointer_of(wish->of.pitch2d.address);
    resource->of.pitch2d.width = wish->of.pitch2d.width;
    resource->of.pitch2d.height = wish->of.pitch2d.height;
    resource->of.pitch2d.pitch = wish->of.pitch2d.pitch;
    return read_format(wish->of.pitch2d.format, wish->of.pitch2d.channels, &resource->of.pitch2d.channels);
  default: return false;
  }
}

// Integers of 32 bits are never read as floating-point numbers; smaller ones are, unless told otherwise.
static bool reads_integers(const Runtime *runtime, const ResourceDesc *resource, uint32_t flags) {
  const ChannelDesc *channels = NULL;
  if (resource->type == RESOURCE_LINEAR) channels = &resource->of.linear.channels;
  if (resource->type == RESOURCE_PITCH2D) channels = &resource->of.pitch2d.channels;
  if (resource->type == RESOURCE_ARRAY && handle_is(runtime, resource->of.array, HANDLE_ARRAY)) channels = &resource->of.array->channels;
  if (resource->type == RESOURCE_MIPMAP && handle_is(runtime, resource->of.mipmap, HANDLE_MIPMAP))
    channels = &resource->of.mipmap->channels;
  return (flags & READ_AS_INTEGER) != 0 || channels == NULL || channels->kind == CHANNEL_FLOAT || channels->x == 32;
}

CUDART(cuTexObjectCreate, uint64_t *object, const DriverResource *resource, const DriverTexture *texture, const ResourceViewDesc *view) {
  ResourceDesc made;
  if (resource == NULL || texture == NULL || !read_resource(resource, &made)) return cudaErrorInvalidValue;
  Runtime *runtime = runtime_enter();
  TextureDesc desc = {.filter_mode = texture->filter_mode,
                      .read_mode = reads_integers(runtime, &made, texture->flags) ? 0 : 1,
                      .srgb = (texture->flags & SRGB) != 0,
                      .normalized_coords = (texture->flags & NORMALIZED_COORDINATES) != 0,
                      .max_anisotropy = texture->max_anisotropy,
                      .mipmap_filter_mode = texture->mipmap_filter_mode,
                      .mipmap_bias = texture->mipmap_bias,
                      .mipmap_least = texture->mipmap_least,
                      .mipmap_most = texture->mipmap_most};
  memcpy(desc.address_mode, texture->address_mode, sizeof desc.address_mode);
  memcpy(desc.border, texture->border, sizeof desc.border);
  return runtime_leave(runtime, driver_code(cudaCreateTextureObject(object, &made, &desc, view)));
}

CUDART(cuSurfObjectCreate, uint64_t *object, const DriverResource *resource) {
  ResourceDesc made;
  if (resource == NULL || !read_resource(resource, &made)) return cudaErrorInvalidValue;
  return driver_code(cudaCreateSurfaceObject(object, &made));
}
