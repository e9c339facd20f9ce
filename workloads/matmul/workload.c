// Matrix multiplication in shared-memory tiles: compute bound, regular, full warps.
#include "device/workload.h"

enum { TILE = 16 }; // as in kernel.cu

typedef struct Data {
  const float *a, *b;
  DeviceAddress device_a, device_b, device_c;
  uint32_t n;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0] * TILE;
  uint64_t count = (uint64_t)data->n * data->n;
  data->a = workload_random_f32(run, count, 0, 0.0f, 1.0f);
  data->b = workload_random_f32(run, count, 1, 0.0f, 1.0f);
  data->device_a = workload_buffer(run, data->a, count * 4);
  data->device_b = workload_buffer(run, data->b, count * 4);
  data->device_c = workload_buffer(run, NULL, count * 4);
  workload_output_matrix(run, "c", data->device_c, ELEMENT_F32, data->n, data->n);
  return data->device_a && data->device_b && data->device_c;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, TILE, 1}, grid[3] = {data->n / TILE, data->n / TILE, 1};
  const void *arguments[] = {&data->device_a, &data->device_b, &data->device_c, &data->n};
  return workload_launch(run, "matmul", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t n = data->n;
  uint64_t count = (uint64_t)n * n;
  float *got = ARENA_ARRAY(run->arena, float, count);
  bool missing;
  double *expected = workload_expected(run, count, &missing);
  if (!device_read(run->device, got, data->device_c, count * 4)) return false;
  for (uint32_t row = 0; row < n && missing; row++) {
    for (uint32_t k = 0; k < n; k++) {
      double a = data->a[(uint64_t)row * n + k];
      const float *b = &data->b[(uint64_t)k * n];
      for (uint32_t column = 0; column < n; column++) expected[(uint64_t)row * n + column] += a * b[column];
    }
  }
  return workload_near(run, "c", got, expected, count, 1e-5);
}

const Workload workload_matmul = {
    .name = "matmul",
    .summary = "c = a * b in 16 x 16 shared-memory tiles; compute bound",
    .params = {{"tiles", "tiles of 16 along each side", {2, 4, 16, 32}, 1, 256}},
    .traits = {{RATIO_SHARED_SHARE, TRAIT_AT_LEAST, 0.4, "works in shared memory", SIZE_TINY},
               {RATIO_MEMORY_INTENSITY, TRAIT_AT_MOST, 80, "few requests an instruction", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
