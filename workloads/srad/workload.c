// Speckle-reducing anisotropic diffusion: two launches a step, and between steps the host measures the speckle of a part of the image
// that should be even.
#include "device/workload.h"

enum { TILE = 16 }; // as in kernel.cu

static const float rate = 0.5f;

typedef struct Data {
  float *image;
  DeviceAddress device_image, device_coefficient;
  DeviceAddress device_difference[4]; // to north, south, west, east
  int32_t side;
  uint32_t steps;
} Data;

static uint64_t pixel_count(const Data *data) { return (uint64_t)data->side * (uint64_t)data->side; }

// An even background with a brighter square in its lower right half, both with speckle: every pixel is multiplied by 0.7 to 1.3.
static void make_image(WorkloadRun *run, Data *data) {
  data->image = workload_random_f32(run, pixel_count(data), 0, 0.7f, 1.3f);
  for (int32_t y = data->side / 2; y < data->side * 7 / 8; y++) {
    for (int32_t x = data->side / 2; x < data->side * 7 / 8; x++) data->image[y * data->side + x] *= 3.0f;
  }
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->side = (int32_t)run->param[0] * TILE;
  data->steps = (uint32_t)run->param[1];
  make_image(run, data);
  data->device_image = workload_buffer(run, data->image, pixel_count(data) * 4);
  data->device_coefficient = workload_buffer(run, NULL, pixel_count(data) * 4);
  for (uint32_t i = 0; i < COUNT_OF(data->device_difference); i++) {
    data->device_difference[i] = workload_buffer(run, NULL, pixel_count(data) * 4);
    if (!data->device_difference[i]) return false;
  }
  workload_output_matrix(run, "image", data->device_image, ELEMENT_F32, (uint64_t)data->side, (uint64_t)data->side);
  workload_output_matrix(run, "coefficient", data->device_coefficient, ELEMENT_F32, (uint64_t)data->side, (uint64_t)data->side);
  return data->device_image && data->device_coefficient;
}

// Variance by squared mean of the upper half of the image, where there is background alone.
static double speckle_of(double sum, double sum_of_squares, const Data *data) {
  double count = (double)(pixel_count(data) / 2), mean = sum / count;
  return (sum_of_squares / count - mean * mean) / (mean * mean);
}

static bool measure_speckle(WorkloadRun *run, float *half, float *speckle) {
  Data *data = run->data;
  double sum = 0, sum_of_squares = 0;
  if (!device_read(run->device, half, data->device_image, pixel_count(data) / 2 * 4)) return false;
  for (uint64_t i = 0; i < pixel_count(data) / 2; i++) {
    sum += half[i];
    sum_of_squares += (double)half[i] * half[i];
  }
  *speckle = (float)speckle_of(sum, sum_of_squares, data);
  return true;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, TILE, 1}, grid[3] = {(uint32_t)run->param[0], (uint32_t)run->param[0], 1};
  float *half = ARENA_ARRAY(run->arena, float, pixel_count(data) / 2), speckle;
  const DeviceAddress *to = data->device_difference;
  const void *coefficient[] = {&data->device_image, &to[0], &to[1], &to[2], &to[3], &data->device_coefficient, &data->side, &speckle};
  const void *update[] = {&data->device_image, &to[0], &to[1], &to[2], &to[3], &data->device_coefficient, &data->side, &rate};
  for (uint32_t step = 0; step < data->steps; step++) {
    if (!measure_speckle(run, half, &speckle)) return false;
    if (!workload_launch(run, "srad_coefficient", grid, block, 0, coefficient, COUNT_OF(coefficient))) return false;
    if (!workload_launch(run, "srad_update", grid, block, 0, update, COUNT_OF(update))) return false;
  }
  return true;
}

// The differences of pixel (x, y) to north, south, west and east.
static void differences(const Data *data, const double *image, int32_t x, int32_t y, double to[4]) {
  int32_t side = data->side, at = y * side + x;
  to[0] = image[y > 0 ? at - side : at] - image[at];
  to[1] = image[y < side - 1 ? at + side : at] - image[at];
  to[2] = image[x > 0 ? at - 1 : at] - image[at];
  to[3] = image[x < side - 1 ? at + 1 : at] - image[at];
}

static double coefficient_on_host(const double to[4], double here, double speckle) {
  double squares = to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + to[3] * to[3];
  double laplacian = (to[0] + to[1] + to[2] + to[3]) / here, base = 1 + laplacian / 4;
  double variation = (squares / (here * here) / 2 - laplacian * laplacian / 16) / (base * base);
  double c = 1 / (1 + (variation - speckle) / (speckle * (1 + speckle)));
  return c < 0 ? 0 : c > 1 ? 1 : c;
}

static void step_on_host(const Data *data, double *image, double *coefficient, double *next) {
  double sum = 0, sum_of_squares = 0, to[4];
  int32_t side = data->side;
  for (uint64_t i = 0; i < pixel_count(data) / 2; i++) {
    sum += image[i];
    sum_of_squares += image[i] * image[i];
  }
  double speckle = speckle_of(sum, sum_of_squares, data);
  for (int32_t at = 0; at < side * side; at++) {
    differences(data, image, at % side, at / side, to);
    coefficient[at] = coefficient_on_host(to, image[at], speckle);
  }
  for (int32_t at = 0; at < side * side; at++) {
    int32_t x = at % side, y = at / side;
    differences(data, image, x, y, to);
    double south = coefficient[y < side - 1 ? at + side : at], east = coefficient[x < side - 1 ? at + 1 : at];
    next[at] = image[at] + (double)rate / 4 * (coefficient[at] * (to[0] + to[2]) + south * to[1] + east * to[3]);
  }
  memcpy(image, next, pixel_count(data) * sizeof *image);
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t count = pixel_count(data);
  float *got = ARENA_ARRAY(run->arena, float, count);
  bool missing;
  double *image = workload_expected(run, 2 * count, &missing), *coefficient = image + count;
  if (missing) {
    double *next = ARENA_ARRAY(run->arena, double, count);
    for (uint64_t i = 0; i < count; i++) image[i] = data->image[i];
    for (uint32_t step = 0; step < data->steps; step++) step_on_host(data, image, coefficient, next);
  }
  if (!device_read(run->device, got, data->device_image, count * 4)) return false;
  if (!workload_near(run, "image", got, image, count, 1e-5)) return false;
  if (!device_read(run->device, got, data->device_coefficient, count * 4)) return false;
  return workload_near(run, "coefficient", got, coefficient, count, 1e-4);
}

const Workload workload_srad = {
    .name = "srad",
    .summary = "diffusion that reduces speckle; stencil with halo, two launches a step, measured by the host between",
    .params = {{"tiles", "tiles of 16 x 16 pixels along each side", {2, 6, 24, 64}, 2, 512},
               {"steps", "time steps", {2, 2, 2, 4}, 1, 1000}},
    .traits = {{RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 10, "stencils over the whole image", SIZE_SMALL},
               {RATIO_MEMORY_INTENSITY, TRAIT_AT_LEAST, 150, "stencils over the whole image", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
