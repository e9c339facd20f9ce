// Surface loads, stores and reductions. x counts bytes for the .b forms and texels for the .p forms.
// Outside the surface: .trap fails, .clamp takes the nearest place inside, .zero reads 0 and drops stores.
// Source: PTX ISA manual, "Surface Instructions".
#include "machine/parts/texel.h"

// Where a lane's access goes.
typedef struct Place {
  int64_t x, y, z;
} Place;

static Place place_of(TextureGeometry geometry, const uint32_t coordinates[8]) {
  int64_t c[3] = {(int32_t)coordinates[0], (int32_t)coordinates[1], (int32_t)coordinates[2]};
  switch (geometry) {
  case GEOMETRY_1D: return (Place){c[0], 0, 0};
  case GEOMETRY_2D: return (Place){c[0], c[1], 0};
  case GEOMETRY_A1D: return (Place){c[1], 0, c[0]};
  case GEOMETRY_A2D: return (Place){c[1], c[2], c[0]};
  default: return (Place){c[0], c[1], c[2]};
  }
}

static int64_t clamp_to(int64_t value, int64_t last) { return value > last ? last : value < 0 ? 0 : value; }

// Brings the place inside or says that there is nothing to do; x in bytes, `bytes` of them from there.
static bool settle(TexelAccess *access, Place *place, uint32_t bytes) {
  const Texture *texture = access->texture;
  const TextureLevel *level = &texture->levels[0];
  unsigned outside = texture_field(access->imm, TEXTURE_COMPONENT, 2);
  uint32_t slices = texture->layers                  ? texture->layers * (texture->shape == TEXTURE_CUBE ? 6u : 1u)
                    : texture->shape == TEXTURE_CUBE ? 6u
                                                     : max_u32(level->depth, 1);
  int64_t last_x = (int64_t)level->width * texel_bytes(texture) - bytes;
  int64_t last_y = (int64_t)max_u32(level->height, 1) - 1, last_z = (int64_t)slices - 1;
  bool is_inside = place->x >= 0 && place->x <= last_x && place->y >= 0 && place->y <= last_y && place->z >= 0 && place->z <= last_z;
  if (is_inside) return true;
  if (outside == SURFACE_CLAMP && last_x >= 0) {
    *place = (Place){clamp_to(place->x, last_x), clamp_to(place->y, last_y), clamp_to(place->z, last_z)};
    return true;
  }
  if (outside == SURFACE_TRAP) {
    access->status = TEXTURE_OUTSIDE;
    access->address = level->address + (uint64_t)place->z * level->slice_pitch + (uint64_t)place->y * level->row_pitch + (uint64_t)place->x;
  }
  return false;
}

static uint64_t address_of(const Texture *texture, Place place) {
  return texel_address(texture, 0, 0, (uint64_t)place.y, (uint64_t)place.z) + (uint64_t)place.x;
}

// ---- suld.b, sust.b ------------------------------------------------------------------------------------
static void move_bytes(TexelAccess *access, Place place, bool is_store, uint32_t data[8]) {
  uint32_t element = 1u << texture_field(access->imm, TEXTURE_ELEMENT_BYTES, 2);
  uint32_t count = min_u32(1u << texture_field(access->imm, TEXTURE_ELEMENTS, 2), element == 8 ? 2 : 4), bytes = element * count;
  uint32_t registers = element == 8 ? 2 : 1;
  uint8_t buffer[16] = {0};
  if (!is_store) memset(data, 0, 8 * sizeof *data);
  if (!settle(access, &place, bytes)) return;
  if (place.x % bytes != 0) {
    access->status = TEXTURE_MISFIT;
    access->address = address_of(access->texture, place);
    return;
  }
  if (is_store) {
    for (uint32_t i = 0; i < count; i++) memcpy(buffer + i * element, data + i * registers, element);
    texel_store(access, address_of(access->texture, place), buffer, bytes);
  } else if (texel_load(access, address_of(access->texture, place), buffer, bytes)) {
    for (uint32_t i = 0; i < count; i++) memcpy(data + i * registers, buffer + i * element, element);
  }
}

// ---- sured ---------------------------------------------------------------------------------------------
static uint64_t reduce(unsigned operation, uint64_t old, uint64_t value, unsigned bits, bool is_signed) {
  unsigned unused = 64 - bits;
  bool is_less = is_signed ? (int64_t)(value << unused) < (int64_t)(old << unused) : value < old;
  switch (operation) {
  case SURED_MIN: return is_less ? value : old;
  case SURED_MAX: return is_less ? old : value;
  case SURED_AND: return old & value;
  case SURED_OR: return old | value;
  default: return old + value;
  }
}

static void reduce_place(TexelAccess *access, Place place, const uint32_t data[8]) {
  uint32_t bytes = texture_field(access->imm, TEXTURE_ELEMENT_BYTES, 2) == 3 ? 8 : 4;
  bool is_signed = texture_field(access->imm, TEXTURE_RESULT, 2) == TEXTURE_S32;
  uint64_t old = 0, value = 0;
  if (!settle(access, &place, bytes)) return;
  uint64_t address = address_of(access->texture, place);
  if (place.x % bytes != 0) {
    access->status = TEXTURE_MISFIT;
    access->address = address;
    return;
  }
  memcpy(&value, data, bytes);
  if (!texel_load(access, address, &old, bytes)) return;
  uint64_t result = reduce(texture_field(access->imm, TEXTURE_DETAIL, 4), old, value, 8 * bytes, is_signed);
  texel_store(access, address, &result, bytes);
}

void surface_execute(TexelAccess *access, const uint32_t coordinates[8], uint32_t data[8]) {
  unsigned operation = texture_field(access->imm, TEXTURE_OPERATION, 4);
  Place place = place_of((TextureGeometry)texture_field(access->imm, TEXTURE_GEOMETRY, 3), coordinates);
  if (operation == TEXTURE_SUST_P || operation == TEXTURE_SURED_P) place.x *= texel_bytes(access->texture);
  if (operation == TEXTURE_SULD || operation == TEXTURE_SUST) {
    move_bytes(access, place, operation == TEXTURE_SUST, data);
  } else if (operation == TEXTURE_SUST_P) {
    TextureResult result = (TextureResult)texture_field(access->imm, TEXTURE_RESULT, 2);
    if (settle(access, &place, texel_bytes(access->texture))) texel_write(access, address_of(access->texture, place), result, data);
  } else {
    reduce_place(access, place, data);
  }
}
