// The kernels of workloads/g80 compute what their README says, to the bit, and have the size that it says.
#include "sass/test_interpreter.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static Interpreter *load(const char *name, uint32_t words, uint32_t params) {
  Diags diags = {0};
  char path[64];
  snprintf(path, sizeof path, "workloads/g80/%s/kernel.sass", name);
  SassProgram *program = sass_read(path, &diags);
  for (uint32_t i = 0; i < diags.count; i++) print_message("%d: %s\n", diags.items[i].line, diags.items[i].text);
  assert_non_null(program);
  diags_free(&diags);
  assert_int_equal(program->count, words);
  assert_int_equal(program->param_count, params);
  assert_string_equal(program->name, name);
  Interpreter *in = calloc(1, sizeof *in);
  assert_non_null(in);
  in->program = program;
  return in;
}

static void unload(Interpreter *in) {
  sass_program_free((SassProgram *)in->program);
  free(in);
}

static void word_set(Interpreter *in, uint32_t at, uint32_t value) { bytes_set(in->global, GLOBAL_BYTES, at, 4, value); }
static uint32_t word_get(const Interpreter *in, uint32_t at) { return bytes_get(in->global, GLOBAL_BYTES, at, 4); }
static void float_set(Interpreter *in, uint32_t at, float value) { word_set(in, at, bits_of_f32(value)); }
static float float_get(const Interpreter *in, uint32_t at) { return f32_of(word_get(in, at)); }

static void fill(Interpreter *in, uint32_t at, uint32_t count, float scale, uint64_t array) {
  for (uint32_t i = 0; i < count; i++) float_set(in, at + 4 * i, scale * random_unit_f32(random_draw(1, i, array)));
}

// Registers above those that the file asks for belong to other warps.
static void assert_registers(const Interpreter *in) {
  for (uint32_t i = 0; i < in->program->count;) {
    SassInstr instr;
    sass_decode(in->program->words[i], i + 1 < in->program->count ? in->program->words[i + 1] : 0, &instr);
    const SassOperand *operands[] = {&instr.d, &instr.a, &instr.b, &instr.c};
    for (unsigned k = 0; k < COUNT_OF(operands); k++) {
      bool real = operands[k]->kind == SASS_GPR && !operands[k]->zero && operands[k]->field != SASS_DISCARD_FIELD;
      if (real) assert_in_range(operands[k]->value, 0, in->program->gprs - 1);
    }
    assert_true(instr.legal);
    i += instr.bytes / 4u;
  }
}

static void check_vecadd(uint32_t threads, uint32_t blocks) {
  Interpreter *in = load("vecadd", 21, 10);
  assert_registers(in);
  uint32_t count = threads * blocks;
  fill(in, 0x0000, count, 100, 0);
  fill(in, 0x8000, count, 1, 1);
  TestLaunch launch = {{threads, 1, 1}, {blocks, 1}, {0x0000, 0x8000, 0x10000, count}, 10};
  assert_true(interpret(in, &launch));
  for (uint32_t i = 0; i < count; i++) {
    float sum = float_get(in, 4 * i) + float_get(in, 0x8000 + 4 * i);
    assert_int_equal(word_get(in, 0x10000 + 4 * i), bits_of_f32(sum));
  }
  unload(in);
}

static void test_vecadd(void **state) {
  (void)state;
  check_vecadd(32, 16);
  check_vecadd(64, 32);
}

static float tree_sum(const Interpreter *in, uint32_t a, uint32_t b, uint32_t elements, uint32_t threads) {
  float s[512] = {0};
  for (uint32_t t = 0; t < threads; t++) {
    for (uint32_t e = t; e < elements; e += threads) s[t] = fmaf(float_get(in, a + 4 * e), float_get(in, b + 4 * e), s[t]);
  }
  for (uint32_t stride = threads / 2; stride > 0; stride /= 2) {
    for (uint32_t t = 0; t < stride; t++) s[t] = s[t + stride] + s[t];
  }
  return s[0];
}

static void check_scalarprod(uint32_t threads, uint32_t blocks, uint32_t vectors, uint32_t elements) {
  Interpreter *in = load("scalarprod", 134, 5);
  assert_registers(in);
  fill(in, 0x1000, vectors * elements, 1, 0);
  fill(in, 0x11000, vectors * elements, 2, 1);
  TestLaunch launch = {{threads, 1, 1}, {blocks, 1}, {0, 0x1000, 0x11000, vectors, elements}, 5};
  assert_true(interpret(in, &launch));
  for (uint32_t v = 0; v < vectors; v++) {
    float expected = tree_sum(in, 0x1000 + 4 * v * elements, 0x11000 + 4 * v * elements, elements, threads);
    assert_int_equal(word_get(in, 4 * v), bits_of_f32(expected));
  }
  unload(in);
}

static void test_scalarprod(void **state) {
  (void)state;
  check_scalarprod(512, 16, 16, 512);
  check_scalarprod(512, 32, 32, 512);
  check_scalarprod(64, 4, 10, 200); // several vectors a block, threads with fewer elements than others
  check_scalarprod(256, 8, 5, 37);  // blocks without a vector, threads without an element
}

static void check_gray(uint32_t side, uint32_t blocks, uint32_t width, uint32_t height) {
  Interpreter *in = load("gray", 77, 4);
  assert_registers(in);
  for (uint32_t i = 0; i < 3 * width * height; i++) word_set(in, 4 * i, (uint32_t)random_below(random_draw(1, i, 0), 256));
  TestLaunch launch = {{side, side, 1}, {blocks, blocks}, {0, 0x10000, width, height}, 4};
  assert_true(interpret(in, &launch));
  for (uint32_t pixel = 0; pixel < width * height; pixel++) {
    float value = (float)word_get(in, 12 * pixel) * 0.299f;
    value = fmaf((float)word_get(in, 12 * pixel + 4), 0.587f, value);
    value = fmaf((float)word_get(in, 12 * pixel + 8), 0.114f, value);
    for (uint32_t channel = 0; channel < 3; channel++) assert_int_equal(word_get(in, 0x10000 + 12 * pixel + 4 * channel), (uint32_t)value);
  }
  assert_int_equal(word_get(in, 0x10000 + 12 * width * height), 0);
  unload(in);
}

static void test_gray(void **state) {
  (void)state;
  check_gray(16, 4, 64, 64);
  check_gray(8, 8, 64, 64);
  check_gray(8, 8, 50, 39); // threads beside the image
}

static void check_nn(uint32_t blocks, uint32_t records) {
  Interpreter *in = load("nn", 62, 5);
  assert_registers(in);
  for (uint32_t i = 0; i < records; i++) {
    float_set(in, 8 * i, 60 * random_unit_f32(random_draw(1, i, 0)));
    float_set(in, 8 * i + 4, 180 * random_unit_f32(random_draw(1, i, 1)));
  }
  float_set(in, 0, 30);
  float_set(in, 4, 90); // the point itself: distance 0
  TestLaunch launch = {{32, 1, 1}, {blocks, 1}, {0, 0x8000, records, bits_of_f32(30), bits_of_f32(90)}, 5};
  assert_true(interpret(in, &launch));
  for (uint32_t i = 0; i < records; i++) {
    float dx = 30 - float_get(in, 8 * i), dy = 90 - float_get(in, 8 * i + 4);
    float exact = sqrtf(dx * dx + dy * dy);
    assert_in_range(word_get(in, 0x8000 + 4 * i) - bits_of_f32(exact) + 2, 0, 4);
  }
  assert_int_equal(word_get(in, 0x8000), 0);
  assert_int_equal(word_get(in, 0x8000 + 4 * records), 0);
  unload(in);
}

static void test_nn(void **state) {
  (void)state;
  check_nn(16, 512);
  check_nn(32, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vecadd),
      cmocka_unit_test(test_scalarprod),
      cmocka_unit_test(test_gray),
      cmocka_unit_test(test_nn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
