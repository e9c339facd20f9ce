// Dot product: streaming loads, a shared-memory tree with barriers and idle warps at its end.
#include "device/workload.h"

enum { THREADS = 256 }; // as in kernel.cu

typedef struct Data {
  const float *a, *b;
  DeviceAddress device_a, device_b, device_partial;
  uint32_t n, blocks;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->blocks = (uint32_t)run->param[1];
  data->a = workload_random_f32(run, data->n, 0, 0.0f, 1.0f);
  data->b = workload_random_f32(run, data->n, 1, 0.0f, 1.0f);
  data->device_a = workload_buffer(run, data->a, data->n * 4ull);
  data->device_b = workload_buffer(run, data->b, data->n * 4ull);
  data->device_partial = workload_buffer(run, NULL, data->blocks * 4ull);
  workload_output(run, "partial", data->device_partial, ELEMENT_F32, data->blocks);
  return data->device_a && data->device_b && data->device_partial;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1};
  const void *arguments[] = {&data->device_a, &data->device_b, &data->device_partial, &data->n};
  return workload_launch(run, "scalarprod", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->blocks);
  bool missing;
  double *expected = workload_expected(run, data->blocks, &missing);
  if (!device_read(run->device, got, data->device_partial, data->blocks * 4ull)) return false;
  for (uint32_t i = 0; i < data->n && missing; i++) expected[i / THREADS % data->blocks] += (double)data->a[i] * data->b[i];
  return workload_near(run, "partial", got, expected, data->blocks, 1e-5);
}

const Workload workload_scalarprod = {
    .name = "scalarprod",
    .summary = "dot product; streaming loads and a shared-memory tree",
    .params = {{"n", "elements", {3000, 16384, 262144, 4 << 20}, 1, 1u << 28},
               {"blocks", "blocks of 256 threads", {4, 16, 128, 256}, 1, 65535}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "load imbalance", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
