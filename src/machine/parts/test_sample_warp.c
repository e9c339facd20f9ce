// Fetches of a whole warp give what fetches lane by lane give, to the bit: random textures, coordinates at and far beyond every edge.
#include "machine/parts/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { TEXTURES = 3000, MOST_SIDE = 9, ROWS = 3, GUARD = 0x5A5A5A5A };

typedef struct Bench {
  Memory *memory;
  Texture texture;
  MachineEnvironment environment;
  uint64_t seed, draws;
} Bench;

static uint32_t draw(Bench *bench, uint32_t bound) { return (uint32_t)random_below(random_draw(bench->seed, 0, bench->draws++), bound); }

static bool read_texel(void *context, uint64_t address, void *to, uint32_t bytes) {
  const uint8_t *host = memory_at(context, address, bytes);
  if (host != NULL) memcpy(to, host, bytes);
  return host != NULL;
}

static void make_texture(Bench *bench, uint64_t address, unsigned dimensions) {
  static const uint8_t counts[] = {1, 2, 4}, sizes[] = {8, 16, 32};
  Texture *texture = &bench->texture;
  *texture = (Texture){.in_use = true, .level_count = 1, .kind = (TexelKind)draw(bench, 3), .lod_max = 10.0f};
  unsigned channels = counts[draw(bench, 3)], bits = sizes[draw(bench, 3)];
  if (texture->kind == TEXEL_FLOAT && bits == 8) bits = 16;
  for (unsigned i = 0; i < channels; i++) texture->channel_bits[i] = (uint8_t)bits;
  texture->read_as_float = draw(bench, 2) != 0;
  texture->linear_filter = draw(bench, 2) != 0;
  texture->normalized_coords = draw(bench, 2) != 0;
  texture->linear_memory = dimensions == 1 && draw(bench, 4) == 0;
  for (unsigned i = 0; i < 3; i++) texture->address_mode[i] = (AddressMode)draw(bench, 4);
  TextureLevel *level = &texture->levels[0];
  *level = (TextureLevel){.address = address, .width = 1 + draw(bench, MOST_SIDE)};
  if (dimensions > 1) level->height = 1 + draw(bench, MOST_SIDE);
  if (dimensions > 2) level->depth = 1 + draw(bench, MOST_SIDE);
  level->row_pitch = align_up(level->width * channels * bits / 8, 16);
  level->slice_pitch = level->row_pitch * max_u32(level->height, 1);
}

static uint32_t coordinate(Bench *bench, bool is_float) {
  static const float odd[] = {0.0f,   -0.0f,       0.5f, 1.0f,        -0.5f,        1e30f,      -1e30f,
                              1e-30f, 0.99999994f, 8.5f, 1.0f / 0.0f, -1.0f / 0.0f, 0.0f / 0.0f};
  if (!is_float) return draw(bench, 40) - 15;
  if (draw(bench, 4) == 0) return bits_of_f32(odd[draw(bench, COUNT_OF(odd))]);
  float value = (random_unit_f32(random_draw(bench->seed, 1, bench->draws++)) - 0.3f) * (draw(bench, 2) == 0 ? 2.5f : 20.0f);
  return bits_of_f32(value);
}

static void compare(Bench *bench, uint32_t imm, Op op, uint32_t active) {
  uint32_t handle[2 * WARP_LANES] = {0}, coordinates[4 * WARP_LANES], fast[4][WARP_LANES], slow[4][WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) handle[lane] = 1;
  for (unsigned i = 0; i < 4 * WARP_LANES; i++) coordinates[i] = coordinate(bench, (imm & TEXTURE_COORDINATES_F32) != 0);
  for (unsigned i = 0; i < 4 * WARP_LANES; i++) fast[i / WARP_LANES][i % WARP_LANES] = slow[i / WARP_LANES][i % WARP_LANES] = GUARD;
  SampleRows rows = {.handle = handle, .coordinates = coordinates, .gradients = coordinates, .data = {fast[0], fast[1], fast[2], fast[3]}};
  bool at_once = sample_warp(&bench->environment, imm, active, &rows);
  bool has_border = false;
  for (unsigned i = 0; i < 3; i++) has_border |= bench->texture.address_mode[i] == ADDRESS_BORDER;
  bool is_rare = has_border || (bench->texture.linear_memory && bench->texture.normalized_coords);
  assert_true(at_once || is_rare);
  if (!at_once) return;
  for (unsigned k = 0; k < 4; k++) rows.data[k] = slow[k];
  TextureReader reader = {.read = read_texel, .context = bench->memory};
  Instr instr = {.op = op, .imm = imm};
  AccessViolation violation;
  for (uint32_t left = active; left != 0; left &= left - 1) {
    assert_true(sample_lane(&bench->environment, &reader, &instr, (unsigned)__builtin_ctz(left), &rows, &violation));
  }
  assert_memory_equal(fast, slow, sizeof fast);
}

static void test_same_as_lane_by_lane(void **state) {
  (void)state;
  static const Op ops[] = {OP_TEX_X1, OP_TEX_X2, OP_TEX_X4};
  static const TextureGeometry geometries[] = {GEOMETRY_1D, GEOMETRY_2D, GEOMETRY_3D};
  Diags diags = {0};
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1};
  Bench bench = {.memory = memory_new(&options, &diags), .seed = 7};
  assert_non_null(bench.memory);
  bench.environment = (MachineEnvironment){.memory = bench.memory, .textures = &bench.texture, .texture_count = 1};
  const uint64_t bytes = 1 << 15;
  uint64_t address = memory_alloc(bench.memory, bytes, 256);
  uint8_t *host = memory_at(bench.memory, address, bytes);
  for (uint64_t i = 0; i < bytes; i++) host[i] = (uint8_t)draw(&bench, 256);
  for (uint32_t i = 0; i < TEXTURES; i++) {
    unsigned dimensions = 1 + i % 3;
    make_texture(&bench, address, dimensions);
    uint32_t imm = (uint32_t)geometries[dimensions - 1] << TEXTURE_GEOMETRY | draw(&bench, 3) << TEXTURE_RESULT;
    if (draw(&bench, 4) != 0) imm |= TEXTURE_COORDINATES_F32;
    compare(&bench, imm, ops[dimensions - 1], i % 5 == 0 ? 0x80000001 : i % 7 == 0 ? 0x0F0F0F0F : UINT32_MAX);
  }
  memory_free(bench.memory);
}

// What would fail in some lane is left to the way lane by lane, which says where.
static void test_what_is_left(void **state) {
  (void)state;
  Diags diags = {0};
  MemoryOptions options = {.base = GLOBAL_BASE64, .capacity = 1 << 20, .granule = 1};
  Bench bench = {.memory = memory_new(&options, &diags)};
  uint64_t address = memory_alloc(bench.memory, 64, 256);
  bench.texture = (Texture){.in_use = true, .level_count = 1, .channel_bits = {32}, .kind = TEXEL_FLOAT};
  for (unsigned i = 0; i < 3; i++) bench.texture.address_mode[i] = ADDRESS_CLAMP;
  bench.texture.levels[0] = (TextureLevel){.address = address, .width = 16, .row_pitch = 64, .slice_pitch = 64};
  bench.environment = (MachineEnvironment){.memory = bench.memory, .textures = &bench.texture, .texture_count = 1};
  uint32_t handle[2 * WARP_LANES] = {0}, rows_of[ROWS + 4][WARP_LANES] = {{0}};
  SampleRows rows = {.handle = handle, .coordinates = rows_of[0], .data = {rows_of[3], rows_of[4], rows_of[5], rows_of[6]}};
  assert_false(sample_warp(&bench.environment, 0, 1, &rows)); // no texture
  handle[0] = 1;
  assert_true(sample_warp(&bench.environment, 0, 1, &rows));
  assert_false(sample_warp(&bench.environment, 0, 3, &rows)); // two lanes, two textures
  bench.texture.levels[0].width = 17;
  assert_false(sample_warp(&bench.environment, 0, 1, &rows)); // past the end of the memory
  memory_free(bench.memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_lane_by_lane), cmocka_unit_test(test_what_is_left)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
