// Texture fetches of a whole warp: those that most programs make. One texture for all lanes, without mipmaps, layers, cube faces, offsets
// and depth comparison, with 1, 2 or 4 channels of one size; point and linear. The level must lie in valid memory as a whole, so that no
// lane can fail. Everything else goes lane by lane (sample.c). Results are the same to the bit: tests compare both ways.
#include "isa/float.h"
#include "machine/parts/sample.h"
#include "machine/parts/texture_math.h"

typedef enum Format {
  FORMAT_F32,
  FORMAT_F16,
  FORMAT_UNORM8,
  FORMAT_SNORM8,
  FORMAT_UNORM16,
  FORMAT_SNORM16,
  FORMAT_U8,
  FORMAT_S8,
  FORMAT_U16,
  FORMAT_S16,
  FORMAT_32,
  FORMAT_NONE
} Format;

typedef struct Plan {
  const Texture *texture;
  const uint8_t *base; // of the level
  Format format;
  bool is_float, linear, whole, is_normalized;
  unsigned dimensions, channels;
  AddressMode modes[3];
  uint32_t sizes[3];
  uint64_t pitches[3]; // bytes from one texel to the next
} Plan;

// ---- What can be done at once ----------------------------------------------------------------------

static Format format_of(const Texture *texture, unsigned channels) {
  unsigned bits = texture->channel_bits[0];
  for (unsigned i = 0; i < 4; i++) {
    if (texture->channel_bits[i] != (i < channels ? bits : 0)) return FORMAT_NONE;
  }
  bool is_signed = texture->kind == TEXEL_SIGNED, is_float = texel_reads_float(texture);
  if (texture->kind == TEXEL_FLOAT) return bits == 32 ? FORMAT_F32 : bits == 16 ? FORMAT_F16 : FORMAT_NONE;
  if (texture->srgb && is_float) return FORMAT_NONE;
  switch (bits) {
  case 8: return is_float ? (is_signed ? FORMAT_SNORM8 : FORMAT_UNORM8) : (is_signed ? FORMAT_S8 : FORMAT_U8);
  case 16: return is_float ? (is_signed ? FORMAT_SNORM16 : FORMAT_UNORM16) : (is_signed ? FORMAT_S16 : FORMAT_U16);
  case 32: return FORMAT_32;
  default: return FORMAT_NONE;
  }
}

static const Texture *texture_of_all(const MachineEnvironment *environment, uint32_t active, const uint32_t *handles) {
  unsigned first = (unsigned)__builtin_ctz(active);
  uint64_t handle = row_get(handles, first, 2);
  for (uint32_t left = active; left != 0; left &= left - 1) {
    if (row_get(handles, (unsigned)__builtin_ctz(left), 2) != handle) return NULL;
  }
  if (handle == 0 || handle > environment->texture_count || !environment->textures[handle - 1].in_use) return NULL;
  return &environment->textures[handle - 1];
}

static bool is_plain(uint32_t imm, unsigned *dimensions) {
  const uint32_t extras = TEXTURE_HAS_OFFSET | TEXTURE_HAS_COMPARE;
  unsigned geometry = texture_field(imm, TEXTURE_GEOMETRY, 3);
  *dimensions = geometry == GEOMETRY_1D ? 1 : geometry == GEOMETRY_2D ? 2 : 3;
  return texture_field(imm, TEXTURE_OPERATION, 4) == TEXTURE_TEX && (imm & extras) == 0 && geometry <= GEOMETRY_3D &&
         texture_field(imm, TEXTURE_RESULT, 2) != TEXTURE_F16X2;
}

static bool set_addressing(Plan *plan, Memory *memory) {
  const TextureLevel *level = &plan->texture->levels[0];
  const uint64_t pitches[3] = {texel_bytes(plan->texture), level->row_pitch, level->slice_pitch};
  uint64_t last = 0;
  for (unsigned i = 0; i < plan->dimensions; i++) {
    AddressMode mode = plan->texture->address_mode[i];
    if (!plan->is_normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR)) mode = ADDRESS_CLAMP;
    if (mode == ADDRESS_BORDER) return false;
    plan->modes[i] = mode;
    plan->sizes[i] = texture_extent(plan->texture, 0, i);
    plan->pitches[i] = pitches[i];
    last += (plan->sizes[i] - 1) * pitches[i];
  }
  plan->base = memory_at(memory, level->address, last + pitches[0]);
  return plan->base != NULL;
}

static bool make_plan(const MachineEnvironment *environment, uint32_t imm, uint32_t active, const SampleRows *rows, Plan *plan) {
  *plan = (Plan){.whole = (imm & TEXTURE_COORDINATES_F32) == 0};
  if (active == 0 || !is_plain(imm, &plan->dimensions)) return false;
  plan->texture = texture_of_all(environment, active, rows->handle);
  if (plan->texture == NULL || plan->texture->level_count > 1 || plan->texture->layers != 0) return false;
  for (unsigned i = 0; i < 4; i++) plan->channels += plan->texture->channel_bits[i] != 0;
  if (plan->channels == 3 || plan->channels == 0) return false;
  plan->format = format_of(plan->texture, plan->channels);
  plan->is_float = texel_reads_float(plan->texture);
  plan->is_normalized = plan->texture->normalized_coords && !plan->whole;
  if (plan->texture->linear_memory && plan->is_normalized) return false;
  plan->linear = plan->texture->linear_filter && plan->is_float && !plan->whole && !plan->texture->linear_memory;
  return plan->format != FORMAT_NONE && set_addressing(plan, environment->memory);
}

// ---- Texels ----------------------------------------------------------------------------------------

static inline float signed_fraction(int32_t value, double most) {
  double fraction = (double)value / most;
  return fraction < -1.0 ? -1.0f : (float)fraction;
}

// Channel number `i` of a texel, as the bits of a float or an integer.
static inline uint32_t channel(Format format, const uint8_t *texel, unsigned i) {
  uint32_t word;
  uint16_t half;
  switch (format) {
  case FORMAT_F32:
  case FORMAT_32: memcpy(&word, texel + 4 * i, 4); return word;
  case FORMAT_F16: memcpy(&half, texel + 2 * i, 2); return bits_of_f32(f16_to_f32(half));
  case FORMAT_UNORM8: return bits_of_f32((float)((double)texel[i] / 255.0));
  case FORMAT_SNORM8: return bits_of_f32(signed_fraction((int8_t)texel[i], 127.0));
  case FORMAT_UNORM16: memcpy(&half, texel + 2 * i, 2); return bits_of_f32((float)((double)half / 65535.0));
  case FORMAT_SNORM16: memcpy(&half, texel + 2 * i, 2); return bits_of_f32(signed_fraction((int16_t)half, 32767.0));
  case FORMAT_U8: return texel[i];
  case FORMAT_S8: return (uint32_t)(int32_t)(int8_t)texel[i];
  case FORMAT_U16: memcpy(&half, texel + 2 * i, 2); return half;
  case FORMAT_S16: memcpy(&half, texel + 2 * i, 2); return (uint32_t)(int32_t)(int16_t)half;
  default: return 0;
  }
}

// ---- Places ----------------------------------------------------------------------------------------

// Positions of all lanes in one dimension, in texels.
static void place_lanes(const Plan *plan, unsigned dimension, const uint32_t *row, double at[WARP_LANES]) {
  AddressMode mode = plan->modes[dimension];
  uint32_t size = plan->sizes[dimension];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) at[lane] = plan->whole ? (double)(int32_t)row[lane] : (double)f32_of(row[lane]);
  if (!plan->is_normalized) return;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) at[lane] = texture_scale(at[lane], mode, true, size);
}

static inline uint64_t offset_of(const Plan *plan, unsigned dimension, int64_t index) {
  return (uint64_t)texture_resolve(index, plan->sizes[dimension], plan->modes[dimension]) * plan->pitches[dimension];
}

// The two neighbours of every lane in one dimension: byte offsets, and the weight of the upper one in 1/256.
typedef struct Neighbours {
  uint64_t offset[2][WARP_LANES];
  uint32_t weight[WARP_LANES];
} Neighbours;

static void find_neighbours(const Plan *plan, unsigned dimension, const double at[WARP_LANES], uint32_t active, Neighbours *out) {
  for (uint32_t left = active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    double from_centre = at[lane] - 0.5;
    int64_t first = texture_floor(from_centre);
    out->weight[lane] = texture_weight(from_centre, first);
    out->offset[0][lane] = offset_of(plan, dimension, first);
    out->offset[1][lane] = offset_of(plan, dimension, first + 1);
  }
}

// ---- Fetches ---------------------------------------------------------------------------------------

static inline void put(const Plan *plan, const SampleRows *rows, unsigned lane, const uint32_t values[4]) {
  for (unsigned i = 0; i < plan->channels; i++) rows->data[i][lane] = values[i];
  for (unsigned i = plan->channels; i < 4; i++) rows->data[i][lane] = i < 3 ? 0 : plan->is_float ? bits_of_f32(1.0f) : 1;
}

static inline void point_lanes(const Plan *plan, Format format, double at[3][WARP_LANES], uint32_t active, const SampleRows *rows) {
  for (uint32_t left = active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    int64_t x = texture_floor(at[0][lane]);
    if (plan->texture->linear_memory && plan->dimensions == 1 && (x < 0 || x >= plan->sizes[0])) { // zeros, the last channel too
      for (unsigned i = 0; i < 4; i++) rows->data[i][lane] = 0;
      continue;
    }
    uint64_t offset = offset_of(plan, 0, x);
    for (unsigned i = 1; i < plan->dimensions; i++) offset += offset_of(plan, i, texture_floor(at[i][lane]));
    uint32_t values[4];
    for (unsigned i = 0; i < plan->channels; i++) values[i] = channel(format, plan->base + offset, i);
    put(plan, rows, lane, values);
  }
}

static inline void linear_lanes(const Plan *plan, Format format, const Neighbours *near, uint32_t active, const SampleRows *rows) {
  for (uint32_t left = active; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    double sums[4] = {0, 0, 0, 0};
    for (unsigned corner = 0; corner < 1u << plan->dimensions; corner++) {
      uint32_t weight = 1; // of 256 to the power of the dimensions: exact
      uint64_t offset = 0;
      for (unsigned i = 0; i < plan->dimensions; i++) {
        unsigned upper = corner >> i & 1;
        weight *= upper ? near[i].weight[lane] : 256 - near[i].weight[lane];
        offset += near[i].offset[upper][lane];
      }
      if (weight == 0) continue; // an infinity there does not matter
      static const double units[4] = {1.0, 0x1p-8, 0x1p-16, 0x1p-24};
      double product = weight * units[plan->dimensions];
      for (unsigned i = 0; i < plan->channels; i++) sums[i] += product * (double)f32_of(channel(format, plan->base + offset, i));
    }
    uint32_t values[4];
    for (unsigned i = 0; i < plan->channels; i++) values[i] = bits_of_f32(f32_canonical((float)sums[i]));
    put(plan, rows, lane, values);
  }
}

// The loops once for each format, so that nothing is decided per texel.
#define FORMATS(X) \
  X(FORMAT_F32)    \
  X(FORMAT_F16)    \
  X(FORMAT_UNORM8) X(FORMAT_SNORM8) X(FORMAT_UNORM16) X(FORMAT_SNORM16) X(FORMAT_U8) X(FORMAT_S8) X(FORMAT_U16) X(FORMAT_S16) X(FORMAT_32)

bool sample_warp(const MachineEnvironment *environment, uint32_t imm, uint32_t active, const SampleRows *rows) {
  Plan plan;
  if (!make_plan(environment, imm, active, rows, &plan)) return false;
  double at[3][WARP_LANES];
  for (unsigned i = 0; i < plan.dimensions; i++) place_lanes(&plan, i, rows->coordinates + i * WARP_LANES, at[i]);
  Neighbours near[3];
  for (unsigned i = 0; i < plan.dimensions && plan.linear; i++) find_neighbours(&plan, i, at[i], active, &near[i]);
  switch (plan.format) {
#define RUN(format)                                                   \
  case format:                                                        \
    if (plan.linear) linear_lanes(&plan, format, near, active, rows); \
    else point_lanes(&plan, format, at, active, rows);                \
    return true;
    FORMATS(RUN)
#undef RUN
  default: return false;
  }
}
