// Vector addition: bandwidth bound, no reuse, no divergence but in the last block.
#include "device/workload.h"

typedef struct Data {
  const float *a, *b;
  DeviceAddress device_a, device_b, device_c;
  uint32_t n;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->a = workload_random_f32(run, data->n, 0, -100.0f, 100.0f);
  data->b = workload_random_f32(run, data->n, 1, -100.0f, 100.0f);
  data->device_a = workload_buffer(run, data->a, data->n * 4ull);
  data->device_b = workload_buffer(run, data->b, data->n * 4ull);
  data->device_c = workload_buffer(run, NULL, data->n * 4ull);
  workload_output(run, "c", data->device_c, ELEMENT_F32, data->n);
  return data->device_a && data->device_b && data->device_c;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {(uint32_t)run->param[1], 1, 1}, grid[3] = {(data->n + block[0] - 1) / block[0], 1, 1};
  const void *arguments[] = {&data->device_a, &data->device_b, &data->device_c, &data->n};
  return workload_launch(run, "vecadd", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->n);
  bool missing;
  double *expected = workload_expected(run, data->n, &missing);
  if (!device_read(run->device, got, data->device_c, data->n * 4ull)) return false;
  for (uint32_t i = 0; i < data->n && missing; i++) expected[i] = data->a[i] + data->b[i];
  return workload_near(run, "c", got, expected, data->n, 0.0);
}

const Workload workload_vecadd = {
    .name = "vecadd",
    .summary = "c = a + b; bandwidth bound, no reuse",
    .params = {{"n", "elements", {1000, 16384, 262144, 4 << 20}, 1, 1u << 28},
               {"threads", "threads per block", {128, 256, 256, 256}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
