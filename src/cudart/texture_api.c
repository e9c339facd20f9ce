// Texture and surface objects: CUDA's descriptions -> the machine's Texture.
#include "cudart/array.h"

#include <stdlib.h>

// Of textures in linear memory: what property.def tells programs.
enum { MOST_LINEAR = 1 << 28, MOST_WIDTH = 131072, MOST_HEIGHT = 65000, MOST_PITCH = 2097120 };

// What a program may ask back about an object.
typedef struct ObjectDesc {
  ResourceDesc resource;
  TextureDesc texture;
  ResourceViewDesc view;
} ObjectDesc;

static bool set_channels(Texture *texture, const ChannelDesc *channels) {
  const int bits[4] = {channels->x, channels->y, channels->z, channels->w};
  for (int i = 0; i < 4; i++) {
    if (bits[i] != 0 && bits[i] != 8 && bits[i] != 16 && bits[i] != 32) return false;
    texture->channel_bits[i] = (uint8_t)bits[i];
  }
  int kind = channels->kind;
  bool unsigned_norm = kind >= CHANNEL_UNORM_FIRST && kind <= CHANNEL_UNORM_LAST;
  bool signed_norm = kind >= CHANNEL_SNORM_FIRST && kind <= CHANNEL_SNORM_LAST;
  if (unsigned_norm || signed_norm) texture->read_as_float = true;
  if (kind == CHANNEL_FLOAT) texture->kind = TEXEL_FLOAT;
  else if (kind == CHANNEL_SIGNED || signed_norm) texture->kind = TEXEL_SIGNED;
  else if (kind == CHANNEL_UNSIGNED || unsigned_norm) texture->kind = TEXEL_UNSIGNED;
  else return false;
  return texture->channel_bits[0] != 0;
}

static void set_level(TextureLevel *level, const Array *array) {
  bool layered = (array->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)) != 0;
  *level = (TextureLevel){.address = array->address,
                          .width = (uint32_t)array->extent.width,
                          .height = (uint32_t)array->extent.height,
                          .depth = layered ? 0 : (uint32_t)array->extent.depth,
                          .row_pitch = array->row_pitch,
                          .slice_pitch = array->slice_pitch};
}

static bool set_arrays(Texture *texture, Array *const *levels, uint32_t count) {
  const Array *base = levels[0];
  bool cube = (base->flags & ARRAY_CUBEMAP) != 0, layered = (base->flags & ARRAY_LAYERED) != 0;
  if (layered) texture->layers = (uint32_t)base->extent.depth / (cube ? 6 : 1);
  if (cube) texture->shape = TEXTURE_CUBE;
  else if (base->extent.depth != 0 && !layered) texture->shape = TEXTURE_3D;
  else texture->shape = base->extent.height != 0 ? TEXTURE_2D : TEXTURE_1D;
  texture->level_count = min_u32(count, COUNT_OF(texture->levels));
  for (uint32_t i = 0; i < texture->level_count; i++) set_level(&texture->levels[i], levels[i]);
  return set_channels(texture, &base->channels);
}

static uint32_t texel_bytes(const Texture *texture) {
  const uint8_t *bits = texture->channel_bits;
  return (uint32_t)(bits[0] + bits[1] + bits[2] + bits[3]) / 8;
}

static CudaError set_linear(Texture *texture, const ResourceDesc *resource) {
  if (!set_channels(texture, &resource->of.linear.channels)) return cudaErrorInvalidChannelDescriptor;
  uint64_t texels = resource->of.linear.bytes / texel_bytes(texture);
  if (resource->of.linear.pointer == NULL || texels == 0 || texels > MOST_LINEAR) return cudaErrorInvalidValue;
  texture->shape = TEXTURE_1D;
  texture->linear_memory = true;
  texture->level_count = 1;
  texture->levels[0] = (TextureLevel){.address = address_of(resource->of.linear.pointer),
                                      .width = (uint32_t)texels,
                                      .row_pitch = resource->of.linear.bytes,
                                      .slice_pitch = resource->of.linear.bytes};
  return cudaSuccess;
}

static CudaError set_pitch2d(Texture *texture, const ResourceDesc *resource) {
  if (!set_channels(texture, &resource->of.pitch2d.channels)) return cudaErrorInvalidChannelDescriptor;
  uint64_t width = resource->of.pitch2d.width, height = resource->of.pitch2d.height, pitch = resource->of.pitch2d.pitch;
  bool good = resource->of.pitch2d.pointer != NULL && width >= 1 && width <= MOST_WIDTH && height >= 1 && height <= MOST_HEIGHT &&
              pitch <= MOST_PITCH && pitch >= width * texel_bytes(texture);
  if (!good) return cudaErrorInvalidValue;
  texture->shape = TEXTURE_2D;
  texture->level_count = 1;
  texture->levels[0] = (TextureLevel){.address = address_of(resource->of.pitch2d.pointer),
                                      .width = (uint32_t)width,
                                      .height = (uint32_t)height,
                                      .row_pitch = pitch,
                                      .slice_pitch = pitch * height};
  return cudaSuccess;
}

static CudaError set_resource(Runtime *runtime, Texture *texture, const ResourceDesc *resource) {
  switch (resource->type) {
  case RESOURCE_ARRAY:
    if (!handle_is(runtime, resource->of.array, HANDLE_ARRAY)) return cudaErrorInvalidResourceHandle;
    return set_arrays(texture, &resource->of.array, 1) ? cudaSuccess : cudaErrorInvalidChannelDescriptor;
  case RESOURCE_MIPMAP:
    if (!handle_is(runtime, resource->of.mipmap, HANDLE_MIPMAP)) return cudaErrorInvalidResourceHandle;
    return set_arrays(texture, resource->of.mipmap->levels, resource->of.mipmap->level_count) ? cudaSuccess
                                                                                              : cudaErrorInvalidChannelDescriptor;
  case RESOURCE_LINEAR: return set_linear(texture, resource);
  case RESOURCE_PITCH2D: return set_pitch2d(texture, resource);
  default: return cudaErrorInvalidValue;
  }
}

static CudaError set_sampling(Texture *texture, const TextureDesc *desc) {
  texture->normalized_coords = desc->normalized_coords != 0;
  for (int i = 0; i < 3; i++) {
    int mode = desc->address_mode[i];
    if (mode < ADDRESS_WRAP || mode > ADDRESS_BORDER) return cudaErrorInvalidValue;
    // Texel coordinates know no wrapping and mirroring: they clamp.
    bool clamps = !texture->normalized_coords && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR);
    texture->address_mode[i] = clamps ? ADDRESS_CLAMP : (AddressMode)mode;
  }
  texture->linear_filter = desc->filter_mode == 1;
  if (desc->read_mode == 1 && texture->kind != TEXEL_FLOAT) texture->read_as_float = true;
  if (texture->linear_filter && texture->kind != TEXEL_FLOAT && !texture->read_as_float) return cudaErrorInvalidFilterSetting;
  texture->srgb = desc->srgb != 0;
  memcpy(texture->border, desc->border, sizeof texture->border);
  texture->mip_linear = desc->mipmap_filter_mode == 1;
  texture->lod_bias = desc->mipmap_bias;
  texture->lod_min = desc->mipmap_least;
  texture->lod_max = desc->mipmap_most;
  return cudaSuccess;
}

// Formats 1 to 24: unsigned and signed of 8, 16, 32 bits, half, float; of 1, 2 or 4 channels each.
static void set_view_format(Texture *texture, int format) {
  static const struct {
    uint8_t bits;
    TexelKind kind;
  } formats[] = {{8, TEXEL_UNSIGNED},  {8, TEXEL_SIGNED},  {16, TEXEL_UNSIGNED}, {16, TEXEL_SIGNED},
                 {32, TEXEL_UNSIGNED}, {32, TEXEL_SIGNED}, {16, TEXEL_FLOAT},    {32, TEXEL_FLOAT}};
  if (format < 1 || format > 24) return;
  uint32_t group = (uint32_t)(format - 1) / 3, channels = 1u << (uint32_t)(format - 1) % 3;
  texture->kind = formats[group].kind;
  for (uint32_t i = 0; i < 4; i++) texture->channel_bits[i] = i < channels ? formats[group].bits : 0;
}

static void set_view(Texture *texture, const ResourceViewDesc *view) {
  set_view_format(texture, view->format);
  if (view->first_level <= view->last_level && view->last_level < texture->level_count) {
    texture->level_count = view->last_level - view->first_level + 1;
    memmove(texture->levels, texture->levels + view->first_level, texture->level_count * sizeof texture->levels[0]);
  }
  if (texture->layers == 0 || view->last_layer < view->first_layer || view->last_layer >= texture->layers) return;
  texture->layers = view->last_layer - view->first_layer + 1;
  uint32_t slices = texture->shape == TEXTURE_CUBE ? 6 : 1;
  for (uint32_t i = 0; i < texture->level_count; i++) {
    texture->levels[i].address += (uint64_t)view->first_layer * slices * texture->levels[i].slice_pitch;
  }
}

static CudaError create(Runtime *runtime, uint64_t *object, const ObjectDesc *desc, bool is_texture, bool has_view) {
  Texture texture = {0};
  CudaError error = set_resource(runtime, &texture, &desc->resource);
  if (error == cudaSuccess && has_view) set_view(&texture, &desc->view);
  if (error == cudaSuccess && is_texture) error = set_sampling(&texture, &desc->texture);
  if (error != cudaSuccess) return error;
  if (runtime_device(runtime) == NULL) return cudaErrorInitializationError;
  *object = device_texture_new(runtime->device, &texture);
  if (*object == 0) return cudaErrorMemoryAllocation;
  ObjectDesc *kept = malloc(sizeof *kept);
  ASSERT(kept != NULL);
  *kept = *desc;
  pointer_map_put(&runtime->textures, pointer_of(*object), kept);
  return cudaSuccess;
}

CUDART(cudaCreateTextureObject, uint64_t *object, const ResourceDesc *resource, const TextureDesc *texture, const ResourceViewDesc *view) {
  Runtime *runtime = runtime_enter();
  if (object == NULL || resource == NULL || texture == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  ObjectDesc desc = {.resource = *resource, .texture = *texture};
  if (view != NULL) desc.view = *view;
  return runtime_leave(runtime, create(runtime, object, &desc, true, view != NULL));
}

CUDART(cudaCreateSurfaceObject, uint64_t *object, const ResourceDesc *resource) {
  Runtime *runtime = runtime_enter();
  if (object == NULL || resource == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  ObjectDesc desc = {.resource = *resource};
  bool is_array = resource->type == RESOURCE_ARRAY;
  return runtime_leave(runtime, is_array ? create(runtime, object, &desc, false, false) : cudaErrorInvalidChannelDescriptor);
}

CUDART(cudaDestroyTextureObject, uint64_t object) {
  Runtime *runtime = runtime_enter();
  if (object == 0) return runtime_leave(runtime, cudaSuccess);
  ObjectDesc *desc = pointer_map_take(&runtime->textures, pointer_of(object));
  if (desc == NULL) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  free(desc);
  device_texture_release(runtime->device, object);
  return runtime_leave(runtime, cudaSuccess);
}
CUDART_ALIAS(cudaDestroySurfaceObject, cudaDestroyTextureObject)

#define OBJECT_QUESTION(name, Type, field)                                                   \
  CUDART(name, Type *value, uint64_t object) {                                               \
    Runtime *runtime = runtime_enter();                                                      \
    const ObjectDesc *desc = pointer_map_get(&runtime->textures, pointer_of(object));        \
    if (value == NULL || desc == NULL) return runtime_leave(runtime, cudaErrorInvalidValue); \
    *value = desc->field;                                                                    \
    return runtime_leave(runtime, cudaSuccess);                                              \
  }
OBJECT_QUESTION(cudaGetTextureObjectResourceDesc, ResourceDesc, resource)
OBJECT_QUESTION(cudaGetSurfaceObjectResourceDesc, ResourceDesc, resource)
OBJECT_QUESTION(cudaGetTextureObjectTextureDesc, TextureDesc, texture)
OBJECT_QUESTION(cudaGetTextureObjectResourceViewDesc, ResourceViewDesc, view)

CUDART(cudaDeviceGetTexture1DLinearMaxWidth, size_t *width, const ChannelDesc *channels, int device) {
  (void)channels, (void)device;
  if (width == NULL) return cudaErrorInvalidValue;
  *width = MOST_LINEAR;
  return cudaSuccess;
}
