// Separable convolution of radius 8: halos in shared memory, weights in constant memory, much arithmetic.
// Rows in blocks of 16 x 4, columns in blocks of 16 x 8, eight pixels a thread, as in the papers' program.
// Traits on fermi-gtx480 at default size: unit_fp32 / warp_instructions >= 25%; loads_shared / warp_instructions >= 25%;
// idle_full / sm_cycles <= 35% (computation); active_32 / issued >= 99%.
#include "device/workload.h"

enum { RADIUS = 8, WEIGHTS = 2 * RADIUS + 1, RESULTS = 8, ROWS_X = 16, ROWS_Y = 4, COLUMNS_X = 16, COLUMNS_Y = 8 }; // as in kernel.cu

typedef struct Data {
  const float *image, *weights;
  DeviceAddress in, between, out;
  int32_t width, height;
  uint64_t pixels;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (int32_t)run->param[0] * RESULTS * ROWS_X;
  data->height = (int32_t)run->param[1] * RESULTS * COLUMNS_Y;
  data->pixels = (uint64_t)data->width * (uint64_t)data->height;
  data->image = workload_random_f32(run, data->pixels, 0, 0, 16);
  data->weights = workload_random_f32(run, WEIGHTS, 1, 0.1f, 1);
  data->in = workload_buffer(run, data->image, data->pixels * 4);
  data->between = workload_buffer(run, NULL, data->pixels * 4);
  data->out = workload_buffer(run, NULL, data->pixels * 4);
  workload_output_matrix(run, "out", data->out, ELEMENT_F32, (uint64_t)data->height, (uint64_t)data->width);
  return data->in && data->between && data->out && workload_constant(run, "convolution_weights", data->weights, WEIGHTS * 4);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t width = (uint32_t)data->width, height = (uint32_t)data->height;
  const uint32_t rows_block[3] = {ROWS_X, ROWS_Y, 1}, rows_grid[3] = {width / (RESULTS * ROWS_X), height / ROWS_Y, 1};
  const uint32_t columns_block[3] = {COLUMNS_X, COLUMNS_Y, 1}, columns_grid[3] = {width / COLUMNS_X, height / (RESULTS * COLUMNS_Y), 1};
  const void *rows[] = {&data->in, &data->between, &data->width};
  const void *columns[] = {&data->between, &data->out, &data->width, &data->height};
  return workload_launch(run, "convolution_rows", rows_grid, rows_block, 0, rows, COUNT_OF(rows)) &&
         workload_launch(run, "convolution_columns", columns_grid, columns_block, 0, columns, COUNT_OF(columns));
}

// One pass: `out` at (x, y) from the pixels of `in` up to RADIUS steps away along dx, dy.
static void pass(const Data *data, const double *in, double *out, int32_t dx, int32_t dy) {
  for (int32_t y = 0; y < data->height; y++) {
    for (int32_t x = 0; x < data->width; x++) {
      double sum = 0;
      for (int32_t j = -RADIUS; j <= RADIUS; j++) {
        int32_t from_x = x - j * dx, from_y = y - j * dy;
        bool inside = from_x >= 0 && from_x < data->width && from_y >= 0 && from_y < data->height;
        if (inside) sum += data->weights[RADIUS + j] * in[from_y * data->width + from_x];
      }
      out[y * data->width + x] = sum;
    }
  }
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->pixels);
  bool missing;
  double *expected = workload_expected(run, data->pixels, &missing);
  if (!device_read(run->device, got, data->out, data->pixels * 4)) return false;
  if (missing) {
    double *between = ARENA_ARRAY(run->arena, double, data->pixels);
    for (uint64_t i = 0; i < data->pixels; i++) expected[i] = data->image[i];
    pass(data, expected, between, 1, 0);
    pass(data, between, expected, 0, 1);
  }
  return workload_near(run, "out", got, expected, data->pixels, 1e-5);
}

const Workload workload_convolution = {
    .name = "convolution",
    .summary = "separable convolution of radius 8; halos in shared memory, multiply-adds",
    .params = {{"width", "strips of 128 pixels along x", {1, 2, 8, 24}, 1, 128},
               {"height", "strips of 64 pixels along y", {1, 2, 16, 48}, 1, 256}},
    .traits = {{RATIO_SHARED_SHARE, TRAIT_AT_LEAST, 0.25, "tiles in shared memory", SIZE_TINY},
               {RATIO_IDLE_FULL, TRAIT_AT_MOST, 0.35, "arithmetic keeps the SPs busy", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
