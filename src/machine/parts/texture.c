// Texture fetches. Coordinates become texel positions in doubles, where scaling is exact; weights of
// linear filtering are rounded to 8 fractional bits, products and sums are taken in doubles and
// rounded to f32 once. Implicit level of detail is 0: kernels have no screen-space derivatives.
// Cube faces are filtered each by itself, clamped at their edges.
// Source: CUDA C Programming Guide, appendix "Texture Fetching" (nearest-point sampling, linear filtering,
// table lookup, cubemap textures); PTX ISA manual, "tex", "tld4", "txq".
#include "machine/parts/texture_math.h"
#include "isa/float.h"

// A fetch: where in the texture, in which level, how.
typedef struct Fetch {
  unsigned level;
  unsigned dimensions;
  double at[3];    // position in texels of the level; the centre of texel 0 is 0.5
  bool whole;      // integer coordinates: at[] is a texel index
  int64_t slice;   // layer, or cube face
  bool is_layered; // slices are apart from the third dimension
  AddressMode modes[3];
  bool compares;
  float reference; // of the depth comparison
} Fetch;

// ---- Addressing --------------------------------------------------------------------------------------
static uint32_t border_bits(const Texture *texture, unsigned channel, bool is_float) {
  float value = texture->border[channel];
  if (is_float) return bits_of_f32(value);
  return value >= 0.0f && value < 4294967296.0f ? (uint32_t)value : value < 0.0f && value >= -2147483648.0f ? (uint32_t)(int32_t)value : 0;
}

// The texel at whole indices.
static Texel texel_at(TexelAccess *access, const Fetch *fetch, const int64_t index[3]) {
  const Texture *texture = access->texture;
  int64_t inside[3] = {0, 0, 0};
  bool is_border = false;
  for (unsigned i = 0; i < fetch->dimensions; i++) {
    inside[i] = texture_resolve(index[i], texture_extent(texture, fetch->level, i), fetch->modes[i]);
    is_border = is_border || inside[i] < 0;
  }
  Texel texel;
  if (is_border) {
    texel.is_float = texel_reads_float(texture);
    for (unsigned i = 0; i < 4; i++) texel.u[i] = border_bits(texture, i, texel.is_float);
  } else {
    int64_t z = fetch->is_layered ? fetch->slice : inside[2];
    texel = texel_read(access, texel_address(texture, fetch->level, (uint64_t)inside[0], (uint64_t)inside[1], (uint64_t)z));
  }
  if (fetch->compares && texel.is_float) texel.f[0] = fetch->reference <= texel.f[0] ? 1.0f : 0.0f;
  return texel;
}

// ---- Filtering ---------------------------------------------------------------------------------------
static Texel point_sample(TexelAccess *access, const Fetch *fetch) {
  int64_t index[3];
  for (unsigned i = 0; i < 3; i++) index[i] = texture_floor(fetch->at[i]);
  return texel_at(access, fetch, index);
}

// Weighted sum of the 2, 4 or 8 nearest texels. Weights are whole numbers of 1/256; texels of weight 0
// are not looked at, so that an infinity there does not matter.
static Texel linear_sample(TexelAccess *access, const Fetch *fetch) {
  int64_t first[3];
  unsigned weight[3];
  double sums[4] = {0, 0, 0, 0};
  for (unsigned i = 0; i < fetch->dimensions; i++) {
    double from_centre = fetch->at[i] - 0.5;
    first[i] = texture_floor(from_centre);
    weight[i] = texture_weight(from_centre, first[i]);
  }
  for (unsigned corner = 0; corner < 1u << fetch->dimensions; corner++) {
    int64_t index[3] = {0, 0, 0};
    double product = 1.0;
    for (unsigned i = 0; i < fetch->dimensions; i++) {
      bool upper = corner >> i & 1;
      index[i] = first[i] + upper;
      product *= (upper ? weight[i] : 256 - weight[i]) / 256.0;
    }
    if (product == 0.0) continue;
    Texel texel = texel_at(access, fetch, index);
    for (unsigned i = 0; i < 4; i++) sums[i] += product * (double)texel.f[i];
  }
  Texel result = {.is_float = true};
  for (unsigned i = 0; i < 4; i++) result.f[i] = f32_canonical((float)sums[i]);
  return result;
}

static bool filters(const Texture *texture, const Fetch *fetch) {
  return texture->linear_filter && texel_reads_float(texture) && !fetch->whole && !texture->linear_memory;
}
static Texel sample(TexelAccess *access, const Fetch *fetch) {
  return filters(access->texture, fetch) ? linear_sample(access, fetch) : point_sample(access, fetch);
}

// ---- Coordinates ---------------------------------------------------------------------------------------
// The operands of one fetch, taken apart.
typedef struct Operands {
  TextureGeometry geometry;
  bool is_float;
  uint32_t layer;
  uint32_t place[3];
  uint32_t lod, compare;
  int32_t offset[3];
} Operands;

static Operands take_apart(uint32_t imm, const uint32_t coordinates[8]) {
  static const uint8_t dimensions[8] = {1, 2, 3, 1, 2, 3, 3, 1};
  unsigned geometry = texture_field(imm, TEXTURE_GEOMETRY, 3), at = 0;
  Operands operands = {.geometry = (TextureGeometry)geometry, .is_float = imm & TEXTURE_COORDINATES_F32};
  if (geometry == GEOMETRY_A1D || geometry == GEOMETRY_A2D || geometry == GEOMETRY_ACUBE) operands.layer = coordinates[at++];
  for (unsigned i = 0; i < dimensions[geometry]; i++) operands.place[i] = coordinates[at++];
  if (texture_field(imm, TEXTURE_OPERATION, 4) == TEXTURE_TEX_LEVEL) operands.lod = coordinates[at++ & 7];
  for (unsigned i = 0; (imm & TEXTURE_HAS_OFFSET) && i < dimensions[geometry]; i++) operands.offset[i] = (int32_t)coordinates[at++ & 7];
  if (imm & TEXTURE_HAS_COMPARE) operands.compare = coordinates[at & 7];
  return operands;
}

// A direction picks the face of its largest component; s and t are its position there, 0..1.
static int64_t cube_face(const uint32_t direction[3], double position[2]) {
  double x = (double)f32_of(direction[0]), y = (double)f32_of(direction[1]), z = (double)f32_of(direction[2]);
  double ax = __builtin_fabs(x), ay = __builtin_fabs(y), az = __builtin_fabs(z), m, s, t;
  int64_t face;
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : 4, m = az, s = z < 0 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2, m = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0, m = ax, s = x < 0 ? z : -z, t = -y;
  }
  position[0] = m > 0.0 ? (s / m + 1.0) / 2.0 : 0.5;
  position[1] = m > 0.0 ? (t / m + 1.0) / 2.0 : 0.5;
  return face;
}

static int64_t clamp_layer(const Texture *texture, uint32_t layer) { return texture->layers ? min_u32(layer, texture->layers - 1) : 0; }

static Fetch place_fetch(const Texture *texture, const Operands *operands, unsigned level) {
  static const uint8_t dimensions[8] = {1, 2, 3, 1, 2, 2, 2, 1};
  bool is_cube = operands->geometry == GEOMETRY_CUBE || operands->geometry == GEOMETRY_ACUBE;
  Fetch fetch = {.level = level, .dimensions = dimensions[operands->geometry], .whole = !operands->is_float && !is_cube};
  bool is_normalized = (texture->normalized_coords || is_cube) && !fetch.whole;
  double position[3] = {0, 0, 0};
  fetch.is_layered = is_cube || operands->geometry == GEOMETRY_A1D || operands->geometry == GEOMETRY_A2D;
  fetch.slice = clamp_layer(texture, operands->layer);
  if (is_cube) fetch.slice = 6 * fetch.slice + cube_face(operands->place, position);
  for (unsigned i = 0; i < fetch.dimensions; i++) {
    AddressMode mode = is_cube ? ADDRESS_CLAMP : texture->address_mode[i];
    if (!is_normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR)) mode = ADDRESS_CLAMP;
    if (fetch.whole) position[i] = (double)(int32_t)operands->place[i];
    else if (!is_cube) position[i] = (double)f32_of(operands->place[i]);
    fetch.at[i] = texture_scale(position[i], mode, is_normalized, texture_extent(texture, level, i)) + (double)operands->offset[i];
    fetch.modes[i] = mode;
  }
  return fetch;
}

// ---- Level of detail -------------------------------------------------------------------------------------
// log2 of the longer of the two gradients, in texels of level 0.
static float gradient_lod(const Texture *texture, const Operands *operands, const uint32_t gradients[8]) {
  static const uint8_t dimensions[8] = {1, 2, 3, 1, 2, 3, 3, 1};
  double longest = 0.0;
  for (unsigned axis = 0; axis < 2; axis++) {
    double square = 0.0;
    for (unsigned i = 0; i < dimensions[operands->geometry]; i++) {
      double size =
          texture->normalized_coords ? (double)texture_extent(texture, 0, i == 2 && operands->geometry != GEOMETRY_3D ? 0 : i) : 1.0;
      double step = (double)f32_of(gradients[4 * axis + i]) * size;
      square += step * step;
    }
    if (square > longest) longest = square;
  }
  return 0.5f * f32_lg2((float)longest);
}

static float level_of_detail(const Texture *texture, uint32_t imm, const Operands *operands, const uint32_t gradients[8]) {
  unsigned operation = texture_field(imm, TEXTURE_OPERATION, 4);
  float lod = 0.0f;
  if (operation == TEXTURE_TEX_LEVEL) lod = operands->is_float ? f32_of(operands->lod) : (float)(int32_t)operands->lod;
  if (operation == TEXTURE_TEX_GRAD) lod = gradient_lod(texture, operands, gradients);
  lod += texture->lod_bias;
  lod = lod < texture->lod_max ? lod : texture->lod_max;
  lod = lod > texture->lod_min ? lod : texture->lod_min;
  float last = (float)(max_u32(texture->level_count, 1) - 1);
  return lod > 0.0f ? (lod < last ? lod : last) : 0.0f;
}

// Between two levels the weight has 8 fractional bits, as inside a level.
static Texel sample_levels(TexelAccess *access, const Operands *operands, float lod, bool compares) {
  const Texture *texture = access->texture;
  unsigned fixed = (unsigned)__builtin_floor((double)lod * 256.0 + 0.5);
  unsigned level = texture->mip_linear ? fixed >> 8 : (fixed + 128) >> 8, weight = texture->mip_linear ? fixed & 255 : 0;
  Fetch fetch = place_fetch(texture, operands, level);
  fetch.compares = compares;
  fetch.reference = f32_of(operands->compare);
  Texel near = sample(access, &fetch);
  if (weight == 0 || !near.is_float || level + 1 >= texture->level_count) return near;
  fetch = place_fetch(texture, operands, level + 1);
  fetch.compares = compares;
  fetch.reference = f32_of(operands->compare);
  Texel far = sample(access, &fetch);
  for (unsigned i = 0; i < 4; i++)
    near.f[i] = f32_canonical((float)(((256 - weight) * (double)near.f[i] + weight * (double)far.f[i]) / 256.0));
  return near;
}

// ---- The operations ----------------------------------------------------------------------------------------
// tex1Dfetch from plain memory: outside there are zeros.
static bool outside_memory(const Texture *texture, const Operands *operands) {
  int64_t index = operands->is_float ? texture_floor((double)f32_of(operands->place[0])) : (int64_t)(int32_t)operands->place[0];
  return texture->linear_memory && operands->geometry == GEOMETRY_1D && (index < 0 || index >= (int64_t)texture->levels[0].width);
}

// One component of the four texels around the place, from the lower left against the clock.
static Texel gather(TexelAccess *access, const Operands *operands, bool compares) {
  static const uint8_t right[4] = {0, 1, 1, 0}, below[4] = {1, 1, 0, 0};
  Fetch fetch = place_fetch(access->texture, operands, 0);
  fetch.compares = compares;
  fetch.reference = f32_of(operands->compare);
  unsigned component = compares ? 0 : texture_field(access->imm, TEXTURE_COMPONENT, 2);
  int64_t x = texture_floor(fetch.at[0] - 0.5), y = texture_floor(fetch.at[1] - 0.5);
  Texel result = {.is_float = true};
  for (unsigned i = 0; i < 4; i++) {
    Texel texel = texel_at(access, &fetch, (const int64_t[3]){x + right[i], y + below[i], 0});
    result.is_float = texel.is_float;
    result.u[i] = texel.u[component];
  }
  return result;
}

static void put_result(uint32_t imm, const Texel *texel, uint32_t data[8]) {
  memset(data, 0, 8 * sizeof *data);
  if (texture_field(imm, TEXTURE_RESULT, 2) != TEXTURE_F16X2) {
    memcpy(data, texel->u, 4 * sizeof *data);
    return;
  }
  for (unsigned i = 0; i < 4; i++) {
    float value = texel->is_float ? texel->f[i] : (float)texel->u[i];
    data[i / 2] |= (uint32_t)f32_to_f16(value, ROUND_RN) << 16 * (i % 2);
  }
}

static void execute_fetch(TexelAccess *access, const uint32_t coordinates[8], const uint32_t gradients[8], uint32_t data[8]) {
  const Texture *texture = access->texture;
  Operands operands = take_apart(access->imm, coordinates);
  bool compares = access->imm & TEXTURE_HAS_COMPARE;
  Texel texel = {.is_float = false};
  if (outside_memory(texture, &operands)) texel.u[0] = 0;
  else if (texture_field(access->imm, TEXTURE_OPERATION, 4) == TEXTURE_TLD4) texel = gather(access, &operands, compares);
  else texel = sample_levels(access, &operands, level_of_detail(texture, access->imm, &operands, gradients), compares);
  put_result(access->imm, &texel, data);
}

// ---- Queries -----------------------------------------------------------------------------------------------
// The numbers are those of the manual's tables, which follow OpenCL's.
static uint32_t channel_data_type(const Texture *texture) {
  unsigned size = texture->channel_bits[0] == 8 ? 0 : texture->channel_bits[0] == 16 ? 1 : 2;
  if (texture->kind == TEXEL_FLOAT) return size == 1 ? 0x10DD : 0x10DE;
  if (texture->read_as_float && size < 2) return (texture->kind == TEXEL_SIGNED ? 0x10D0u : 0x10D2u) + size;
  return (texture->kind == TEXEL_SIGNED ? 0x10D7u : 0x10DAu) + size;
}
static uint32_t channel_order(const Texture *texture) {
  static const uint16_t orders[4] = {0x10B0, 0x10B2, 0x10B4, 0x10B5}; // R, RG, RGB, RGBA
  unsigned channels = 0;
  for (unsigned i = 0; i < 4; i++) channels += texture->channel_bits[i] != 0;
  return orders[max_u32(channels, 1) - 1];
}

static uint32_t query(const Texture *texture, TextureQuery what, unsigned level) {
  static const uint8_t modes[4] = {0, 3, 1, 4}; // wrap, clamp to edge, mirror, clamp to border
  const TextureLevel *at = &texture->levels[level];
  switch (what) {
  case QUERY_WIDTH: return at->width;
  case QUERY_HEIGHT: return at->height;
  case QUERY_DEPTH: return at->depth;
  case QUERY_CHANNEL_DATA_TYPE: return channel_data_type(texture);
  case QUERY_CHANNEL_ORDER: return channel_order(texture);
  case QUERY_NORMALIZED_COORDS: return texture->normalized_coords;
  case QUERY_FORCE_UNNORMALIZED: return !texture->normalized_coords;
  case QUERY_FILTER_MODE: return texture->linear_filter;
  case QUERY_ADDR_MODE_0:
  case QUERY_ADDR_MODE_1:
  case QUERY_ADDR_MODE_2: return modes[texture->address_mode[what - QUERY_ADDR_MODE_0] & 3];
  case QUERY_ARRAY_SIZE: return texture->layers;
  case QUERY_NUM_MIPMAP_LEVELS: return texture->level_count;
  case QUERY_NUM_SAMPLES: return 1;
  default: return 0;
  }
}

TextureStatus texture_execute(const Texture *texture, const TextureReader *reader, uint32_t imm, const uint32_t coordinates[8],
                              const uint32_t gradients[8], uint32_t data[8], uint64_t *address) {
  TexelAccess access = {.texture = texture, .reader = reader, .imm = imm, .status = TEXTURE_DONE};
  unsigned operation = texture_field(imm, TEXTURE_OPERATION, 4);
  if (operation == TEXTURE_TXQ || operation == TEXTURE_SUQ) {
    unsigned level = imm & TEXTURE_HAS_LOD ? min_u32(coordinates[0], max_u32(texture->level_count, 1) - 1) : 0;
    memset(data, 0, 8 * sizeof *data);
    data[0] = query(texture, (TextureQuery)texture_field(imm, TEXTURE_DETAIL, 4), level);
  } else if (operation <= TEXTURE_TLD4) {
    execute_fetch(&access, coordinates, gradients, data);
  } else {
    surface_execute(&access, coordinates, data);
  }
  *address = access.address;
  return access.status;
}
