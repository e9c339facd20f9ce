// Texture and surface operations on small textures, results worked out by hand from the CUDA C
// Programming Guide's formulas.
#include "machine/parts/texture.h"
#include "isa/float.h"

#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

enum { BASE = 0x1000, STORE_BYTES = 4096, MAX_PARTS = 16 };

// Memory of the tests: STORE_BYTES at BASE.
static bool store_read(void *context, uint64_t address, void *to, uint32_t bytes) {
  if (address < BASE || address + bytes > BASE + STORE_BYTES) return false;
  memcpy(to, (uint8_t *)context + (address - BASE), bytes);
  return true;
}
static bool store_write(void *context, uint64_t address, const void *from, uint32_t bytes) {
  if (address < BASE || address + bytes > BASE + STORE_BYTES) return false;
  memcpy((uint8_t *)context + (address - BASE), from, bytes);
  return true;
}
static uint8_t store[STORE_BYTES];

static TextureForm form_of(const char *text) {
  Slice parts[MAX_PARTS];
  unsigned count = 0;
  const char *at = text;
  while (count < MAX_PARTS) {
    const char *dot = strchr(at, '.');
    parts[count++] = (Slice){at, (uint32_t)(dot ? (size_t)(dot - at) : strlen(at))};
    if (!dot) break;
    at = dot + 1;
  }
  TextureForm form;
  if (!texture_parse(parts, count, &form)) form.op = OP_COUNT;
  return form;
}

static TextureStatus run(const Texture *texture, const char *text, const uint32_t coordinates[8], const uint32_t gradients[8],
                         uint32_t data[8]) {
  static const uint32_t none[8] = {0};
  TextureReader reader = {store_read, store_write, store};
  TextureForm form = form_of(text);
  uint64_t address;
  if (form.op == OP_COUNT) fail_msg("not parsed: %s", text);
  return texture_execute(texture, &reader, form.imm, coordinates, gradients ? gradients : none, data, &address);
}
static uint32_t f(float value) { return bits_of_f32(value); }
#define AT(...) ((const uint32_t[8]){__VA_ARGS__})

static void expect_float(const Texture *texture, const char *text, const uint32_t coordinates[8], float want) {
  uint32_t data[8];
  assert_int_equal(run(texture, text, coordinates, NULL, data), TEXTURE_DONE);
  if (data[0] != f(want)) fail_msg("%s: %.9g, not %.9g", text, (double)f32_of(data[0]), (double)want);
}

// Floats 10, 20, 30, 40 in a row of 4 (1D), or rows of 4 with hundreds per row and thousands per slice.
static Texture grid(TextureShape shape, uint32_t width, uint32_t height, uint32_t depth) {
  Texture texture = {.in_use = true, .shape = shape, .channel_bits = {32, 0, 0, 0}, .kind = TEXEL_FLOAT, .level_count = 1};
  for (unsigned i = 0; i < 3; i++) texture.address_mode[i] = ADDRESS_CLAMP;
  texture.levels[0] = (TextureLevel){BASE, width, height, depth, 16, 64};
  for (uint32_t z = 0; z < (depth ? depth : 1); z++)
    for (uint32_t y = 0; y < (height ? height : 1); y++)
      for (uint32_t x = 0; x < width; x++) {
        float value = (float)(10 * (x + 1) + 100 * y + 1000 * z);
        memcpy(store + z * 64 + y * 16 + x * 4, &value, 4);
      }
  return texture;
}

// ---- Sampling in one dimension ------------------------------------------------------------------------
typedef struct LineCase {
  AddressMode mode;
  bool normalized, linear;
  float x, want;
} LineCase;
static const LineCase line_cases[] = {
    {ADDRESS_CLAMP, false, false, 0.0f, 10},
    {ADDRESS_CLAMP, false, false, 0.99f, 10},
    {ADDRESS_CLAMP, false, false, 1.0f, 20},
    {ADDRESS_CLAMP, false, false, 3.99f, 40},
    {ADDRESS_CLAMP, false, false, 4.0f, 40},
    {ADDRESS_CLAMP, false, false, -7.0f, 10},
    {ADDRESS_CLAMP, false, false, 1e30f, 40},
    {ADDRESS_CLAMP, false, false, -1e30f, 10},
    {ADDRESS_BORDER, false, false, -0.01f, 5},
    {ADDRESS_BORDER, false, false, 4.0f, 5},
    {ADDRESS_BORDER, false, false, 0.0f, 10},
    {ADDRESS_WRAP, false, false, 5.0f, 40},
    {ADDRESS_CLAMP, true, false, 0.25f, 20},
    {ADDRESS_CLAMP, true, false, 1.0f, 40},
    {ADDRESS_WRAP, true, false, 1.0f, 10},
    {ADDRESS_WRAP, true, false, -0.25f, 40},
    {ADDRESS_WRAP, true, false, 7.75f, 40},
    {ADDRESS_WRAP, true, false, 1000.5f, 30},
    {ADDRESS_MIRROR, true, false, 1.125f, 40},
    {ADDRESS_MIRROR, true, false, -0.125f, 10},
    {ADDRESS_MIRROR, true, false, 2.25f, 20},
    {ADDRESS_MIRROR, true, false, -1.25f, 40},
    {ADDRESS_CLAMP, false, true, 0.5f, 10},
    {ADDRESS_CLAMP, false, true, 1.0f, 15},
    {ADDRESS_CLAMP, false, true, 1.75f, 22.5f},
    {ADDRESS_CLAMP, false, true, 0.0f, 10},
    {ADDRESS_CLAMP, false, true, 4.0f, 40},
    {ADDRESS_BORDER, false, true, 0.0f, 7.5f},
    {ADDRESS_BORDER, false, true, 4.0f, 22.5f},
    {ADDRESS_BORDER, false, true, -2.0f, 5},
    {ADDRESS_WRAP, true, true, 0.0f, 25},
    {ADDRESS_WRAP, true, true, 1.0f, 25},
    {ADDRESS_MIRROR, true, true, 0.0f, 10},
    {ADDRESS_MIRROR, true, true, 1.0f, 40},
    {ADDRESS_CLAMP, true, true, 0.25f, 15},
    // weights of 8 bits: 0.001 rounds to 0, 0.002 to 1/256, 0.998 to 255/256, 0.9999 to 1
    {ADDRESS_CLAMP, false, true, 0.501f, 10},
    {ADDRESS_CLAMP, false, true, 0.502f, 10.0390625f},
    {ADDRESS_CLAMP, false, true, 1.498f, 19.9609375f},
    {ADDRESS_CLAMP, false, true, 1.4999f, 20},
};
static void test_line(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(line_cases); i++) {
    const LineCase *item = &line_cases[i];
    Texture texture = grid(TEXTURE_1D, 4, 0, 0);
    texture.address_mode[0] = item->mode;
    texture.normalized_coords = item->normalized;
    texture.linear_filter = item->linear;
    texture.border[0] = 5;
    expect_float(&texture, "tex.1d.v4.f32.f32", AT(f(item->x)), item->want);
  }
}

static void test_not_a_number(void **state) {
  (void)state;
  static const uint32_t odd[] = {0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x80000001};
  for (unsigned i = 0; i < COUNT_OF(odd) * 16; i++) {
    Texture texture = grid(TEXTURE_3D, 4, 4, 4);
    for (unsigned k = 0; k < 3; k++) texture.address_mode[k] = (AddressMode)(i / COUNT_OF(odd) % 4);
    texture.normalized_coords = i & 1, texture.linear_filter = i & 2;
    uint32_t x = odd[i % COUNT_OF(odd)], data[8];
    assert_int_equal(run(&texture, "tex.3d.v4.f32.f32", AT(x, x, x), NULL, data), TEXTURE_DONE);
    assert_int_equal(run(&texture, "tex.cube.v4.f32.f32", AT(x, x, x), NULL, data), TEXTURE_DONE);
  }
}

// ---- More dimensions, layers, cubes -----------------------------------------------------------------------
static void test_plane_and_volume(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_2D, 4, 3, 0);
  expect_float(&texture, "tex.2d.v4.f32.f32", AT(f(2.5f), f(1.5f)), 130);
  expect_float(&texture, "tex.2d.v4.f32.s32", AT(2, 2), 230);
  expect_float(&texture, "tex.2d.v4.f32.s32", AT(9, (uint32_t)-4), 40);
  texture.linear_filter = true;
  expect_float(&texture, "tex.2d.v4.f32.f32", AT(f(1.0f), f(1.0f)), 65);      // (10 + 20 + 110 + 120) / 4
  expect_float(&texture, "tex.2d.v4.f32.f32", AT(f(1.25f), f(0.75f)), 42.5f); // 10 + 7.5 + 25
  expect_float(&texture, "tex.2d.v4.f32.s32", AT(1, 1), 120);
  texture = grid(TEXTURE_3D, 4, 4, 4);
  expect_float(&texture, "tex.3d.v4.f32.f32", AT(f(3.5f), f(2.5f), f(1.5f)), 1240);
  texture.linear_filter = true;
  expect_float(&texture, "tex.3d.v4.f32.f32", AT(f(1.0f), f(1.0f), f(1.0f)), 565); // 15 + 50 + 500
}

static void test_layers(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_2D, 4, 4, 4);
  texture.layers = 4;
  texture.levels[0].depth = 0;
  expect_float(&texture, "tex.a2d.v4.f32.f32", AT(2, f(1.5f), f(0.5f)), 2020);
  expect_float(&texture, "tex.a2d.v4.f32.f32", AT(9, f(1.5f), f(0.5f)), 3020); // the last layer
  texture.linear_filter = true;
  expect_float(&texture, "tex.a2d.v4.f32.f32", AT(1, f(1.0f), f(1.0f)), 1065); // never between layers
  texture.shape = TEXTURE_1D;
  texture.levels[0].height = 0;
  expect_float(&texture, "tex.a1d.v4.f32.f32", AT(3, f(1.0f)), 3015);
}

// Six faces of 2 x 2; face k holds 1000k + ...
static void test_cube(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_CUBE, 2, 2, 12);
  texture.levels[0].depth = 0;
  static const struct {
    float x, y, z, want;
  } cases[] = {
      {1, 0.5f, 0.5f, 10},     {1, -0.5f, -0.5f, 120},   // +x: s = -z, t = -y
      {-1, 0.5f, -0.5f, 1010}, {-1, 0.5f, 0.5f, 1020},   // -x: s = z
      {-0.5f, 1, -0.5f, 2010}, {0.5f, 1, 0.5f, 2120},    // +y: s = x, t = z
      {-0.5f, -1, 0.5f, 3010}, {-0.5f, -1, -0.5f, 3110}, // -y: t = -z
      {-0.5f, 0.5f, 1, 4010},  {0.5f, -0.5f, 2, 4120},   // +z: s = x, t = -y
      {0.5f, 0.5f, -1, 5010},  {-0.5f, 0.5f, -1, 5020},  // -z: s = -x
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    expect_float(&texture, "tex.cube.v4.f32.f32", AT(f(cases[i].x), f(cases[i].y), f(cases[i].z)), cases[i].want);
  texture.layers = 2;
  expect_float(&texture, "tex.acube.v4.f32.f32", AT(1, f(-1.0f), f(0.5f), f(0.5f)), 7020);
}

// ---- Formats ----------------------------------------------------------------------------------------------
typedef struct FormatCase {
  TexelKind kind;
  uint8_t bits;
  bool as_float, srgb;
  uint32_t raw, want;
} FormatCase;
static const FormatCase format_cases[] = {
    {TEXEL_UNSIGNED, 8, false, false, 0xFF, 255},
    {TEXEL_SIGNED, 8, false, false, 0xFF, 0xFFFFFFFF},
    {TEXEL_UNSIGNED, 16, false, false, 0x8000, 0x8000},
    {TEXEL_SIGNED, 16, false, false, 0x8000, 0xFFFF8000},
    {TEXEL_UNSIGNED, 32, true, false, 0xFFFFFFFF, 0xFFFFFFFF},
    {TEXEL_UNSIGNED, 8, true, false, 0xFF, 0x3F800000},
    {TEXEL_UNSIGNED, 8, true, false, 51, 0x3E4CCCCD},
    {TEXEL_SIGNED, 8, true, false, 0x80, 0xBF800000},
    {TEXEL_SIGNED, 8, true, false, 0x81, 0xBF800000},
    {TEXEL_SIGNED, 8, true, false, 0x7F, 0x3F800000},
    {TEXEL_UNSIGNED, 16, true, false, 0xFFFF, 0x3F800000},
    {TEXEL_SIGNED, 16, true, false, 0x8000, 0xBF800000},
    {TEXEL_FLOAT, 16, false, false, 0x3C00, 0x3F800000},
    {TEXEL_FLOAT, 16, false, false, 0x0001, 0x33800000},
    {TEXEL_FLOAT, 32, false, false, 0x7FC00001, 0x7FC00001},
    {TEXEL_UNSIGNED, 8, true, true, 0, 0},
    {TEXEL_UNSIGNED, 8, true, true, 255, 0x3F800000},
    {TEXEL_UNSIGNED, 8, true, true, 188, 0x3F00BD2B},
};
static void test_formats(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(format_cases); i++) {
    const FormatCase *item = &format_cases[i];
    Texture texture = {.in_use = true, .shape = TEXTURE_1D, .channel_bits = {item->bits}, .kind = item->kind, .level_count = 1};
    texture.read_as_float = item->as_float, texture.srgb = item->srgb;
    texture.levels[0] = (TextureLevel){BASE, 4, 0, 0, 16, 64};
    memcpy(store + item->bits / 8, &item->raw, 4);
    uint32_t data[8];
    assert_int_equal(run(&texture, "tex.1d.v4.u32.s32", AT(1), NULL, data), TEXTURE_DONE);
    if (data[0] != item->want) fail_msg("format %zu: %08x, not %08x", i, data[0], item->want);
  }
  // four channels; absent ones read 0, 0, 1
  Texture texture = {.in_use = true, .channel_bits = {8, 8, 8, 8}, .level_count = 1};
  texture.levels[0] = (TextureLevel){BASE, 4, 0, 0, 16, 64};
  uint32_t data[8];
  memcpy(store + 4, "\x01\x02\x03\x04", 4);
  run(&texture, "tex.1d.v4.u32.s32", AT(1), NULL, data);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(data[i], i + 1);
  texture.channel_bits[2] = texture.channel_bits[3] = 0;
  run(&texture, "tex.1d.v4.u32.s32", AT(2), NULL, data);
  static const uint32_t two_channels[4] = {1, 2, 0, 1};
  assert_memory_equal(data, two_channels, sizeof two_channels);
  // f16x2 results
  texture = grid(TEXTURE_1D, 4, 0, 0);
  run(&texture, "tex.1d.v2.f16x2.f32", AT(f(1.0f)), NULL, data);
  assert_int_equal(data[0], 0x00004D00);
  assert_int_equal(data[1], 0x3C000000);
}

static void test_linear_memory(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_1D, 4, 0, 0);
  texture.linear_memory = true;
  texture.linear_filter = true;
  expect_float(&texture, "tex.1d.v4.f32.s32", AT(3), 40);
  expect_float(&texture, "tex.1d.v4.f32.s32", AT(4), 0);
  expect_float(&texture, "tex.1d.v4.f32.s32", AT((uint32_t)-1), 0);
  texture.levels[0].address = 0x10;
  uint32_t data[8];
  assert_int_equal(run(&texture, "tex.1d.v4.f32.s32", AT(3), NULL, data), TEXTURE_BAD_ADDRESS);
}

// ---- Mipmaps, gradients, gather, offsets, queries --------------------------------------------------------
static Texture pyramid(void) {
  Texture texture = grid(TEXTURE_2D, 4, 4, 0);
  texture.normalized_coords = true;
  texture.level_count = 3;
  texture.lod_max = 10;
  texture.levels[1] = (TextureLevel){BASE + 1024, 2, 2, 0, 16, 64};
  texture.levels[2] = (TextureLevel){BASE + 2048, 1, 1, 0, 16, 64};
  for (unsigned level = 1; level < 3; level++)
    for (unsigned i = 0; i < 4; i++) {
      float value = (float)(1000 * level);
      memcpy(store + 1024 * level + i / 2 * 16 + i % 2 * 4, &value, 4);
    }
  return texture;
}
static void test_levels(void **state) {
  (void)state;
  Texture texture = pyramid();
  static const struct {
    float lod, bias, low, high, nearest, linear;
  } cases[] = {
      {0, 0, 0, 10, 10, 10},         {0.49f, 0, 0, 10, 10, 0},  {0.5f, 0, 0, 10, 1000, 505}, {1, 0, 0, 10, 1000, 1000},
      {1.25f, 0, 0, 10, 1000, 1250}, {7, 0, 0, 10, 2000, 2000}, {-3, 0, 0, 10, 10, 10},      {0, 1, 0, 10, 1000, 1000},
      {2, 0, 0, 1, 1000, 1000},      {0, 0, 2, 10, 2000, 2000},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    texture.lod_bias = cases[i].bias, texture.lod_min = cases[i].low, texture.lod_max = cases[i].high;
    texture.mip_linear = false;
    expect_float(&texture, "tex.level.2d.v4.f32.f32", AT(f(0.1f), f(0.1f), f(cases[i].lod)), cases[i].nearest);
    texture.mip_linear = true;
    if (cases[i].linear != 0) expect_float(&texture, "tex.level.2d.v4.f32.f32", AT(f(0.1f), f(0.1f), f(cases[i].lod)), cases[i].linear);
  }
  texture = pyramid();
  uint32_t data[8];
  run(&texture, "tex.grad.2d.v4.f32.f32", AT(f(0.1f), f(0.1f)), AT(f(0.5f), 0, 0, 0, 0, f(0.25f)), data); // 2 texels a step: level 1
  assert_int_equal(data[0], f(1000));
  run(&texture, "tex.grad.2d.v4.f32.f32", AT(f(0.1f), f(0.1f)), AT(0), data);
  assert_int_equal(data[0], f(10));
  run(&texture, "tex.grad.2d.v4.f32.f32", AT(f(0.1f), f(0.1f)), AT(0, 0, 0, 0, f(0.0f), f(5.0f)), data);
  assert_int_equal(data[0], f(2000));
}

static void test_gather(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_2D, 4, 4, 0);
  uint32_t data[8];
  run(&texture, "tld4.r.2d.v4.f32.f32", AT(f(2.0f), f(1.0f)), NULL, data); // texels 1..2 by 0..1
  const float want[4] = {120, 130, 30, 20};
  for (unsigned i = 0; i < 4; i++) assert_int_equal(data[i], f(want[i]));
  run(&texture, "tld4.a.2d.v4.f32.f32", AT(f(2.0f), f(1.0f)), NULL, data);
  for (unsigned i = 0; i < 4; i++) assert_int_equal(data[i], f(1));
}

static void test_offset_and_compare(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_2D, 4, 4, 0);
  TextureForm form = form_of("tex.2d.v4.f32.f32");
  TextureReader reader = {store_read, store_write, store};
  uint64_t address;
  uint32_t data[8];
  texture_extend(&form, true, false);
  assert_int_equal(form.b_registers, 4);
  texture_execute(&texture, &reader, form.imm, AT(f(1.5f), f(1.5f), (uint32_t)-1, 2), AT(0), data, &address);
  assert_int_equal(data[0], f(310));
  form = form_of("tex.2d.v4.f32.f32");
  texture_extend(&form, false, true);
  texture.linear_filter = true;
  texture_execute(&texture, &reader, form.imm, AT(f(2.0f), f(0.5f), f(25.0f)), AT(0), data, &address); // 25 <= 20? 25 <= 30?
  assert_int_equal(data[0], f(0.5f));
}

static void test_queries(void **state) {
  (void)state;
  Texture texture = pyramid();
  static const struct {
    const char *text;
    uint32_t want;
  } cases[] = {
      {"txq.width.b32", 4},
      {"txq.height.b32", 4},
      {"txq.depth.b32", 0},
      {"txq.level.width.b32", 2},
      {"txq.channel_data_type.b32", 0x10DE},
      {"txq.channel_order.b32", 0x10B0},
      {"txq.normalized_coords.b32", 1},
      {"txq.num_mipmap_levels.b32", 3},
      {"txq.addr_mode_0.b32", 3},
      {"txq.filter_mode.b32", 0},
      {"suq.width.b32", 4},
      {"suq.array_size.b32", 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint32_t data[8];
    run(&texture, cases[i].text, AT(1), NULL, data);
    if (data[0] != cases[i].want) fail_msg("%s: %u", cases[i].text, data[0]);
  }
}

// ---- Surfaces -----------------------------------------------------------------------------------------------
static void test_surface_loads(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_2D, 4, 4, 0);
  for (unsigned i = 0; i < STORE_BYTES; i++) store[i] = (uint8_t)i;
  uint32_t data[8];
  assert_int_equal(run(&texture, "suld.b.2d.b32.trap", AT(8, 1), NULL, data), TEXTURE_DONE);
  assert_int_equal(data[0], 0x1B1A1918);
  assert_int_equal(run(&texture, "suld.b.2d.v4.b8.trap", AT(4, 2), NULL, data), TEXTURE_DONE);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(data[i], 0x24 + i);
  assert_int_equal(run(&texture, "suld.b.2d.v2.b64.trap", AT(0, 3), NULL, data), TEXTURE_DONE);
  assert_int_equal(data[3], 0x3F3E3D3C);
  assert_int_equal(run(&texture, "suld.b.2d.b32.trap", AT(16, 0), NULL, data), TEXTURE_OUTSIDE);
  assert_int_equal(run(&texture, "suld.b.2d.b32.trap", AT(0, 4), NULL, data), TEXTURE_OUTSIDE);
  assert_int_equal(run(&texture, "suld.b.2d.b32.trap", AT((uint32_t)-4, 0), NULL, data), TEXTURE_OUTSIDE);
  assert_int_equal(run(&texture, "suld.b.2d.b32.trap", AT(2, 0), NULL, data), TEXTURE_MISFIT);
  assert_int_equal(run(&texture, "suld.b.2d.b32.clamp", AT(400, (uint32_t)-9), NULL, data), TEXTURE_DONE);
  assert_int_equal(data[0], 0x0F0E0D0C);
  assert_int_equal(run(&texture, "suld.b.2d.b32.zero", AT(0, 4), NULL, data), TEXTURE_DONE);
  assert_int_equal(data[0], 0);
}

static void test_surface_stores(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_3D, 4, 4, 4);
  memset(store, 0, sizeof store);
  uint32_t data[8] = {0x11223344, 0x55667788, 0x99AABBCC, 0xDDEEFF00}, word;
  assert_int_equal(run(&texture, "sust.b.3d.v2.b16.trap", AT(4, 2, 1), NULL, data), TEXTURE_DONE);
  memcpy(&word, store + 64 + 32 + 4, 4);
  assert_int_equal(word, 0x77883344);
  assert_int_equal(run(&texture, "sust.b.3d.b8.zero", AT(4, 2, 9), NULL, data), TEXTURE_DONE);
  assert_int_equal(run(&texture, "sust.b.3d.b8.trap", AT(4, 2, 9), NULL, data), TEXTURE_OUTSIDE);
  assert_int_equal(run(&texture, "sust.b.3d.b8.clamp", AT(4, 2, 9), NULL, data), TEXTURE_DONE);
  assert_int_equal(store[3 * 64 + 32 + 4], 0x44);
  // formatted: x in texels, values converted
  texture = (Texture){.in_use = true, .shape = TEXTURE_2D, .channel_bits = {8, 8, 8, 8}, .level_count = 1};
  texture.levels[0] = (TextureLevel){BASE, 4, 4, 0, 16, 64};
  const uint32_t numbers[8] = {300, 5, 0, 0xFFFFFFFF};
  memcpy(data, numbers, sizeof data);
  run(&texture, "sust.p.2d.v4.u32.trap", AT(1, 1), NULL, data);
  assert_memory_equal(store + 20, "\xFF\x05\x00\xFF", 4);
  for (unsigned i = 0; i < 4; i++) data[i] = f((float)i * 0.5f - 0.25f);
  run(&texture, "sust.p.2d.v4.f32.trap", AT(1, 1), NULL, data);
  assert_memory_equal(store + 20, "\x00\x40\xBF\xFF", 4); // -0.25, 0.25, 0.75, 1.25 of 255
}

static void test_surface_reductions(void **state) {
  (void)state;
  Texture texture = grid(TEXTURE_1D, 4, 0, 0);
  static const struct {
    const char *text;
    uint32_t old, value, want;
  } cases[] = {
      {"sured.b.add.1d.u32.trap", 0xFFFFFFFF, 2, 1},       {"sured.b.min.1d.s32.trap", 5, 0xFFFFFFFF, 0xFFFFFFFF},
      {"sured.b.min.1d.u32.trap", 5, 0xFFFFFFFF, 5},       {"sured.b.max.1d.s32.trap", 5, 0xFFFFFFFF, 5},
      {"sured.b.and.1d.b32.trap", 0xF0F0, 0xFF00, 0xF000}, {"sured.b.or.1d.b32.trap", 0xF0F0, 0xFF00, 0xFFF0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint32_t data[8] = {cases[i].value}, word;
    memcpy(store + 8, &cases[i].old, 4);
    assert_int_equal(run(&texture, cases[i].text, AT(8), NULL, data), TEXTURE_DONE);
    memcpy(&word, store + 8, 4);
    assert_int_equal(word, cases[i].want);
  }
}

// ---- Opcodes ---------------------------------------------------------------------------------------------
static void test_forms(void **state) {
  (void)state;
  static const struct {
    const char *text;
    Op op;
    unsigned results, coordinates, b_registers;
    bool is_store, wide;
  } good[] = {
      {"tex.1d.v4.f32.s32", OP_TEX_X1, 4, 1, 1, false, false},
      {"tex.2d.v4.u32.f32", OP_TEX_X2, 4, 2, 2, false, false},
      {"tex.3d.v4.f32.f32", OP_TEX_X4, 4, 3, 3, false, false},
      {"tex.a1d.v4.f32.f32", OP_TEX_X2, 4, 2, 2, false, false},
      {"tex.acube.v4.f32.f32", OP_TEX_X4, 4, 4, 4, false, false},
      {"tex.level.2d.v4.f32.f32", OP_TEX_X4, 4, 2, 3, false, false},
      {"tex.level.acube.v4.f32.f32", OP_TEX_X8, 4, 4, 5, false, false},
      {"tex.grad.2d.v4.f32.f32", OP_TEX_GRAD_X2, 4, 2, 2, false, false},
      {"tex.base.2d.v4.f32.f32", OP_TEX_X2, 4, 2, 2, false, false},
      {"tld4.g.a2d.v4.u32.f32", OP_TEX_X4, 4, 3, 3, false, false},
      {"suld.b.1d.v4.b32.trap", OP_SULD_X1, 4, 1, 1, false, false},
      {"suld.b.3d.v2.b64.zero", OP_SULD_B64_X4, 2, 3, 3, false, true},
      {"sust.b.2d.b32.trap", OP_SUST_X2, 1, 2, 2, true, false},
      {"sust.b.a2d.v4.b32.trap", OP_SUST_X4, 4, 3, 3, true, false},
      {"sust.b.1d.cg.b64.trap", OP_SUST_B64_X1, 1, 1, 1, true, true},
      {"sured.b.add.2d.u64.trap", OP_SURED_B64_X2, 1, 2, 2, true, true},
      {"txq.width.b32", OP_TXQ, 1, 0, 0, false, false},
      {"txq.level.height.b32", OP_TXQ_LEVEL, 1, 0, 1, false, false},
  };
  static const char *const bad[] = {"tex",
                                    "tex.4d.v4.f32.f32",
                                    "tex.2d.f32.f32",
                                    "tex.2d.v4.f32",
                                    "tex.2d.v4.f64.f32",
                                    "tex.2d.v4.f32.f32.f32",
                                    "tld4.r.1d.v4.f32.f32",
                                    "tld4.2d.v4.f32.f32",
                                    "txq.colour.b32",
                                    "suld.b.cube.b32.trap",
                                    "suld.b.2d.b128.trap",
                                    "suld.b.2d.v4.b64.trap",
                                    "sust.q.2d.b32.trap",
                                    "sured.b.xor.2d.u32.trap",
                                    "suld.b.2d.b32.wrap",
                                    "txq.width.b64"};
  for (size_t i = 0; i < COUNT_OF(good); i++) {
    TextureForm form = form_of(good[i].text);
    if (form.op != good[i].op) fail_msg("%s: row %u", good[i].text, form.op);
    assert_int_equal(form.results, good[i].results);
    assert_int_equal(form.coordinates, good[i].coordinates);
    assert_int_equal(form.b_registers, good[i].b_registers);
    assert_int_equal(form.is_store, good[i].is_store);
    assert_int_equal(form.wide_data, good[i].wide);
  }
  for (size_t i = 0; i < COUNT_OF(bad); i++)
    if (form_of(bad[i]).op != OP_COUNT) fail_msg("parsed: %s", bad[i]);
}

// Any imm and any coordinates: some status, no crash.
static void test_any_imm(void **state) {
  (void)state;
  TextureReader reader = {store_read, store_write, store};
  for (unsigned draw = 0; draw < 200000; draw++) {
    Texture texture = draw & 1 ? pyramid() : grid(TEXTURE_3D, 4, 4, 4);
    texture.linear_filter = draw & 2, texture.mip_linear = draw & 4, texture.layers = draw >> 3 & 3;
    uint32_t words[24];
    uint64_t address;
    for (unsigned i = 0; i < COUNT_OF(words); i++) words[i] = (uint32_t)random_draw(1, draw, i);
    texture_execute(&texture, &reader, (uint32_t)random_draw(2, draw, 0), words, words + 8, words + 16, &address);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_line),
      cmocka_unit_test(test_not_a_number),
      cmocka_unit_test(test_plane_and_volume),
      cmocka_unit_test(test_layers),
      cmocka_unit_test(test_cube),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_linear_memory),
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_offset_and_compare),
      cmocka_unit_test(test_queries),
      cmocka_unit_test(test_surface_loads),
      cmocka_unit_test(test_surface_stores),
      cmocka_unit_test(test_surface_reductions),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_any_imm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
