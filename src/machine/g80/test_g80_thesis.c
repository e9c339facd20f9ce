// The thesis's runs with our kernels: Table 1 within 5% each, Tables 3 to 6 within 10% each, and right results in all.
#include "machine/g80/test_machine.h"

typedef enum Kernel { VECADD, SCALARPROD, GRAY, NN } Kernel;
static const char *const names[] = {"vecadd", "scalarprod", "gray", "nn"};

typedef struct Run {
  Kernel kernel;
  uint32_t sms, grid[2], block[2], blocks_per_core, sps; // sps: 0 = 8, 2 = 32
  uint64_t end_ns;
  uint32_t percent; // the tolerance
} Run;

// FlexGripPlus multi-SM thesis, 2022: absolute end of SMP_Processing.
static const Run runs[] = {
    {VECADD, 1, {8, 1}, {64, 1}, 8, 0, 297635, 5},
    {VECADD, 1, {16, 1}, {64, 1}, 8, 0, 593515, 5},
    {VECADD, 1, {32, 1}, {64, 1}, 8, 0, 1185275, 5},
    {VECADD, 2, {8, 1}, {64, 1}, 8, 0, 220555, 5},
    {VECADD, 2, {16, 1}, {64, 1}, 8, 0, 438425, 5},
    {VECADD, 2, {32, 1}, {64, 1}, 8, 0, 875095, 5},
    {VECADD, 4, {8, 1}, {64, 1}, 8, 0, 162735, 5},
    {VECADD, 4, {16, 1}, {64, 1}, 8, 0, 323765, 5},
    {VECADD, 4, {32, 1}, {64, 1}, 8, 0, 644885, 5},
    {VECADD, 8, {8, 1}, {64, 1}, 8, 0, 145055, 5},
    {VECADD, 8, {16, 1}, {64, 1}, 8, 0, 293905, 5},
    {VECADD, 8, {32, 1}, {64, 1}, 8, 0, 592555, 5},
    {VECADD, 16, {8, 1}, {64, 1}, 8, 0, 165295, 5},
    {VECADD, 16, {16, 1}, {64, 1}, 8, 0, 276075, 5},
    {VECADD, 16, {32, 1}, {64, 1}, 8, 0, 563545, 5},
    {VECADD, 1, {16, 1}, {32, 1}, 8, 0, 307915, 10},
    {VECADD, 1, {32, 1}, {32, 1}, 8, 0, 614075, 10},
    {VECADD, 2, {16, 1}, {32, 1}, 8, 0, 227145, 10},
    {VECADD, 2, {32, 1}, {32, 1}, 8, 0, 452535, 10},
    {SCALARPROD, 1, {16, 1}, {512, 1}, 2, 0, 14623695, 10},
    {SCALARPROD, 1, {32, 1}, {512, 1}, 2, 0, 29244655, 10},
    {SCALARPROD, 2, {16, 1}, {512, 1}, 2, 0, 8471695, 10},
    {SCALARPROD, 2, {32, 1}, {512, 1}, 2, 0, 16940655, 10},
    {GRAY, 1, {4, 4}, {16, 16}, 4, 2, 2969455, 10},
    {GRAY, 1, {8, 8}, {8, 8}, 8, 2, 2998215, 10},
    {GRAY, 2, {4, 4}, {16, 16}, 4, 2, 2350095, 10},
    {GRAY, 2, {8, 8}, {8, 8}, 8, 2, 2352295, 10},
    {NN, 1, {16, 1}, {32, 1}, 8, 2, 244115, 10},
    {NN, 1, {32, 1}, {32, 1}, 8, 2, 486215, 10},
    {NN, 2, {16, 1}, {32, 1}, 8, 2, 182585, 10},
    {NN, 2, {32, 1}, {32, 1}, 8, 2, 363155, 10},
};

// Inputs, small whole numbers, so that sums are exact in any order. Addresses are words of global memory.
enum { ELEMENTS = 512, WIDTH = 64, A_WORD = 0x400, B_WORD = 0x4400 };
static uint32_t input(Kernel kernel, uint32_t word) {
  if (kernel == GRAY) return word * 37 & 255;
  return bits_of_f32((float)(word * 7 % 60));
}

static void set_params(const Run *run, uint32_t threads, G80Launch *launch) {
  static const uint32_t params[4][5] = {
      {0, 0x8000, 0x10000}, {0, 0x1000, 0x11000, 0, ELEMENTS}, {0, 0x10000, WIDTH, WIDTH}, {0, 0x8000, 0, 0x41f00000, 0x42b40000}};
  memcpy(launch->params, params[run->kernel], sizeof params[0]);
  if (run->kernel == SCALARPROD) launch->params[3] = run->grid[0];
  if (run->kernel == NN) launch->params[2] = threads;
}

static float square(float x) { return x * x; }

// What the output's word `i` must be, and where it lies.
static bool output_right(const Run *run, const uint32_t *memory, uint32_t i) {
  const uint32_t places[] = {0x4000, 0, 0x4000, 0x2000};
  uint32_t word = memory[places[run->kernel] + i];
  float sum = 0, found = f32_of(word);
  switch (run->kernel) {
  case VECADD: return found == f32_of(input(VECADD, i)) + f32_of(input(VECADD, 0x2000 + i));
  case SCALARPROD:
    for (uint32_t j = i * ELEMENTS; j < (i + 1) * ELEMENTS; j++)
      sum += f32_of(input(SCALARPROD, A_WORD + j)) * f32_of(input(SCALARPROD, B_WORD + j));
    return found == sum;
  case GRAY: {
    uint32_t pixel = i / 3 * 3;
    float exact = 0.299f * (float)input(GRAY, pixel) + 0.587f * (float)input(GRAY, pixel + 1) + 0.114f * (float)input(GRAY, pixel + 2);
    return (float)word <= exact + 0.001f && (float)word > exact - 1.001f;
  }
  default:
    sum = square(30 - f32_of(input(NN, 2 * i))) + square(90 - f32_of(input(NN, 2 * i + 1)));
    return found * found >= sum * 0.9999f && found * found <= sum * 1.0001f;
  }
}

static void check(const Run *run, uint32_t threads, const Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  assert_int_equal(result.outcome, G80_DONE);
  assert_in_range(result.kernel_done_ns, run->end_ns * (100 - run->percent) / 100, run->end_ns * (100 + run->percent) / 100);
  uint32_t count = run->kernel == SCALARPROD ? run->grid[0] : run->kernel == GRAY ? 3 * threads : threads;
  for (uint32_t i = 0; i < count; i++) assert_true(output_right(run, (const uint32_t *)(const void *)result.global, i));
}

static void runs_as_in_the_thesis(void **state) {
  (void)state;
  static uint32_t image[G80_GLOBAL_BYTES / 4];
  for (uint32_t i = 0; i < COUNT_OF(runs); i++) {
    const Run *run = &runs[i];
    Spec spec;
    Diags diags = {0};
    Arena *arena = arena_new();
    assert_true(spec_load(&spec, arena, "flexgrip-thesis", &diags));
    spec.g80_sms = run->sms;
    spec.g80_sps = run->sps;
    uint32_t threads = run->grid[0] * run->grid[1] * run->block[0] * run->block[1];
    for (uint32_t j = 0; j < COUNT_OF(image); j++) image[j] = input(run->kernel, j);
    G80Launch launch = {.grid = {run->grid[0], run->grid[1]}, .block = {run->block[0], run->block[1], 1}};
    launch.blocks_per_core = run->blocks_per_core;
    launch.global = (const uint8_t *)image;
    launch.global_bytes = sizeof image;
    set_params(run, threads, &launch);
    Machine *machine = make_kernel(&spec, names[run->kernel], &launch);
    assert_true(machine_run(machine, G80_NEVER));
    check(run, threads, machine);
    machine_free(machine);
    arena_free(arena);
    diags_free(&diags);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runs_as_in_the_thesis)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
