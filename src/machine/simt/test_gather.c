// Textures, surfaces and matrix fragments of one SM before memory that answers late, against the same carried out at once
// (parts/sample.c, parts/fragment.c). Random places need more lines than there is room for, so that they come in rounds.
#include "isa/matrix.h"
#include "isa/texture.h"
#include "machine/parts/fragment.h"
#include "machine/parts/sample.h"
#include "machine/simt/test_bed.h"

enum { IMAGE_WIDTH = 64, IMAGE_HEIGHT = 64, IMAGE_BYTES = IMAGE_WIDTH * IMAGE_HEIGHT * 4, MOST_PARTS = 16 };

typedef struct Yard {
  Bed bed;
  uint64_t image; // the same address in both memories
  Texture texture;
  MachineEnvironment environment, reference;
} Yard;

static void yard_open(Yard *yard, uint64_t seed) {
  Bed *bed = &yard->bed;
  bed_open(bed, seed);
  bed->pipe.spec.ldst_out = 1 + seed % 4;
  bed->pipe.spec.texture_bytes = 1024;
  bed->pipe.spec.texture_ways = 2;
  bed_build(bed);
  yard->image = memory_alloc(bed->pipe.memory, IMAGE_BYTES, 256);
  assert_int_equal(memory_alloc(bed->memory, IMAGE_BYTES, 256), yard->image);
  uint8_t *bytes = memory_at(bed->pipe.memory, yard->image, IMAGE_BYTES);
  for (uint32_t i = 0; i < IMAGE_BYTES / 4; i++) {
    float value = (float)draw(bed, 1000) * 0.25f;
    memcpy(bytes + 4 * i, &value, 4);
  }
  memcpy(memory_at(bed->memory, yard->image, IMAGE_BYTES), bytes, IMAGE_BYTES);
  yard->texture = (Texture){.in_use = true,
                            .shape = TEXTURE_2D,
                            .channel_bits = {32},
                            .kind = TEXEL_FLOAT,
                            .address_mode = {ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP},
                            .linear_filter = seed % 2 == 0,
                            .level_count = 1};
  yard->texture.levels[0] =
      (TextureLevel){.address = yard->image, .width = IMAGE_WIDTH, .height = IMAGE_HEIGHT, .row_pitch = IMAGE_WIDTH * 4};
  yard->environment = (MachineEnvironment){.memory = bed->pipe.memory, .textures = &yard->texture, .texture_count = 1};
  yard->reference = (MachineEnvironment){.memory = bed->memory, .textures = &yard->texture, .texture_count = 1};
  bed->pipe.m.environment = &yard->environment;
}

static void compare_all(Yard *yard, uint32_t registers) {
  Bed *bed = &yard->bed;
  bed_drain(bed);
  assert_memory_equal(memory_at(bed->memory, yard->image, IMAGE_BYTES), memory_at(bed->pipe.memory, yard->image, IMAGE_BYTES), IMAGE_BYTES);
  assert_memory_equal(bed->shared, bed->pipe.m.at.shared, SHARED_BYTES);
  for (uint32_t number = 16; number < 16 + registers; number++) {
    assert_memory_equal(bed->registers[0][number], pipe_register(&bed->pipe, 0, number), 128);
  }
  assert_int_equal(simt_warp(&bed->pipe.m, 0, 0)->loads, 0);
  assert_int_equal(simt_warp(&bed->pipe.m, 0, 0)->stores, 0);
}

// ---- Fragments -------------------------------------------------------------------------------------------

static MatrixForm form_of(const char *text) {
  Slice parts[MOST_PARTS];
  unsigned count = 0;
  MatrixForm form;
  for (const char *dot; count < MOST_PARTS; text = dot + 1) {
    dot = strchr(text, '.');
    parts[count++] = (Slice){text, (uint32_t)(dot != NULL ? (size_t)(dot - text) : strlen(text))};
    if (dot == NULL) break;
  }
  assert_true(matrix_parse(parts, count, &form));
  return form;
}

// Address in register 0, stride in register 2; data from register 16 on.
static void run_fragment(Yard *yard, const char *text, bool scattered) {
  Bed *bed = &yard->bed;
  MatrixForm form = form_of(text);
  const OpInfo *info = &op_info[form.op];
  bool is_shared = info->space == SPACE_SHARED, is_store = form.use == MATRIX_STORE;
  Instr instr = instr_rest(form.op);
  instr.imm = form.imm;
  instr.d[0] = 16, instr.a = 0, instr.b = 2;
  uint32_t pc = 0;
  bed->pipe.program.code_count = 1;
  bed->pipe.code[pc] = instr_encode(&instr);
  assert_true(instr_decode(bed->pipe.code[pc], &bed->pipe.decoded[pc]));
  uint64_t base = is_shared ? 0 : yard->image;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint64_t at = base + (scattered ? draw(bed, is_shared ? 4 : 400) * 32 : is_shared ? lane % 8 * 16 : 0);
    bed->registers[0][0][lane] = (uint32_t)at;
    bed->registers[0][1][lane] = (uint32_t)(at >> 32);
    bed->registers[0][2][lane] = is_shared ? 8 : 16;
    for (uint32_t k = 16; k < 24 && is_store; k++) {
      bed->registers[0][k][lane] = draw(bed, 1u << 30);
      pipe_register(&bed->pipe, 0, k)[lane] = bed->registers[0][k][lane];
    }
  }
  take(bed, 0, pc, UINT32_MAX);
  MemoryView view = {.memory = bed->memory,
                     .global = memory_bytes(bed->memory),
                     .global_base = memory_base(bed->memory),
                     .shared = bed->shared,
                     .shared_bytes = SHARED_BYTES};
  Access access = {
      .space = info->space, .wide = operand_sources(&instr).count[OPERAND_A] == 2, .active = UINT32_MAX, .address = bed->registers[0][0]};
  AccessViolation violation;
  uint32_t *rows = bed->registers[0][16];
  if (is_store) assert_true(fragment_store(&view, &access, form.op, form.imm, bed->registers[0][2], rows, &violation));
  else assert_true(fragment_load(&view, &access, form.op, form.imm, bed->registers[0][2], rows, &violation));
  compare_all(yard, type_info[info->d].registers);
}

static void test_fragments(void **state) {
  (void)state;
  static const char *const forms[] = {
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16",  "wmma.load.b.sync.aligned.col.m16n16k16.global.f16",
      "wmma.load.c.sync.aligned.row.m16n16k16.global.f32",  "wmma.store.d.sync.aligned.row.m16n16k16.global.f32",
      "wmma.store.d.sync.aligned.col.m16n16k16.global.f16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
      "wmma.load.a.sync.aligned.row.m8n8k32.global.s4",
  };
  for (uint64_t seed = 1; seed <= 12; seed++) {
    Yard yard;
    yard_open(&yard, seed);
    for (uint32_t i = 0; i < SHARED_BYTES; i++) yard.bed.shared[i] = (uint8_t)(i * 7 + seed);
    memcpy(yard.bed.pipe.m.at.shared, yard.bed.shared, SHARED_BYTES);
    for (size_t i = 0; i < COUNT_OF(forms); i++) run_fragment(&yard, forms[i], false);
    for (size_t i = 0; i < COUNT_OF(forms); i++) run_fragment(&yard, forms[i], true);
    bed_close(&yard.bed);
  }
}

// ---- Textures and surfaces ---------------------------------------------------------------------------------

// Handle in registers 0 and 1, coordinates in 2 and 3, data or results from 16 on.
static void run_sample(Yard *yard, Op op, uint32_t imm, uint32_t mask) {
  Bed *bed = &yard->bed;
  Instr instr = instr_rest(op);
  instr.imm = imm;
  instr.a = 0, instr.b = 2;
  for (unsigned k = 0; k < 4; k++) instr.d[k] = (uint8_t)(16 + k);
  bed->pipe.program.code_count = 1;
  bed->pipe.code[0] = instr_encode(&instr);
  assert_true(instr_decode(bed->pipe.code[0], &bed->pipe.decoded[0]));
  bool is_float = (imm & TEXTURE_COORDINATES_F32) != 0, is_store = (op_info[op].flags & IT_DATA_IN) != 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint32_t x = draw(bed, IMAGE_WIDTH), y = draw(bed, IMAGE_HEIGHT);
    bed->registers[0][0][lane] = 1;
    bed->registers[0][1][lane] = 0;
    bed->registers[0][2][lane] = is_float ? bits_of_f32((float)x + 0.25f) : 4 * x;
    bed->registers[0][3][lane] = is_float ? bits_of_f32((float)y + 0.75f) : y;
    for (uint32_t k = 16; k < 20 && is_store; k++) {
      bed->registers[0][k][lane] = draw(bed, 1u << 30);
      pipe_register(&bed->pipe, 0, k)[lane] = bed->registers[0][k][lane];
    }
  }
  take(bed, 0, 0, mask);
  SampleRows rows = {.handle = bed->registers[0][0], .coordinates = bed->registers[0][2], .gradients = bed->registers[0][30]};
  for (unsigned k = 0; k < 4; k++) rows.data[k] = bed->registers[0][16 + k];
  AccessViolation violation;
  assert_true(sample_execute(&yard->reference, op, imm, mask, &rows, &violation));
  compare_all(yard, 4);
}

static void test_samples(void **state) {
  (void)state;
  const uint32_t plane = GEOMETRY_2D << TEXTURE_GEOMETRY, words = 2u << TEXTURE_ELEMENT_BYTES;
  const struct {
    Op op;
    uint32_t imm;
  } cases[] = {
      {OP_TEX_X2, TEXTURE_TEX | plane | TEXTURE_F32 << TEXTURE_RESULT | TEXTURE_COORDINATES_F32},
      {OP_TEX_X2, TEXTURE_TLD4 | plane | TEXTURE_F32 << TEXTURE_RESULT | TEXTURE_COORDINATES_F32},
      {OP_SULD_X2, TEXTURE_SULD | plane | words},
      {OP_SUST_X2, TEXTURE_SUST | plane | words},
      {OP_SULD_X2, TEXTURE_SULD | plane | words},
      {OP_SURED_X2, TEXTURE_SURED | plane | words | SURED_ADD << TEXTURE_DETAIL},
      {OP_SURED_X2, TEXTURE_SURED | plane | words | SURED_MAX << TEXTURE_DETAIL | TEXTURE_S32 << TEXTURE_RESULT},
      {OP_SULD_X2, TEXTURE_SULD | plane | words},
  };
  for (uint64_t seed = 1; seed <= 12; seed++) {
    Yard yard;
    yard_open(&yard, seed);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
      run_sample(&yard, cases[i].op, cases[i].imm, UINT32_MAX);
      // Once the image has been written, what the texture cache holds of it is old, as on hardware: no texture follows.
      if (i < 2) run_sample(&yard, cases[i].op, cases[i].imm, draw(&yard.bed, UINT32_MAX) | 1);
    }
    assert_true(pipe_stat(&yard.bed.pipe, STAT_TEXTURE_MISSES) > 0);
    bed_close(&yard.bed);
  }
}

// A second fetch of the same place finds its line: the filter's latency and nothing else.
static void test_texture_time(void **state) {
  (void)state;
  Yard yard;
  yard_open(&yard, 1);
  Bed *bed = &yard.bed;
  bed->delay = 200;
  bed->pipe.m.environment = &yard.environment;
  Instr instr = instr_rest(OP_TEX_X2);
  instr.imm = TEXTURE_TEX | GEOMETRY_2D << TEXTURE_GEOMETRY | TEXTURE_F32 << TEXTURE_RESULT | TEXTURE_COORDINATES_F32;
  instr.a = 0, instr.b = 2, instr.d[0] = 16;
  uint32_t pc = pipe_put(&bed->pipe, &instr);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) bed->registers[0][0][lane] = 1;
  uint64_t times[2];
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t began = simt_now(&bed->pipe.m);
    take(bed, 0, pc, UINT32_MAX);
    bed_drain(bed);
    times[i] = simt_now(&bed->pipe.m) - began;
  }
  assert_int_equal(times[1], 1 + bed->pipe.spec.texture_latency);
  assert_int_equal(times[0], times[1] + bed->delay);
  bed_close(bed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fragments),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_texture_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
