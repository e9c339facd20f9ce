// Matrix transpose: memory bound, shared memory used to keep both sides coalesced.
#include "device/workload.h"

enum { TILE = 32, ROWS = 8 }; // as in kernel.cu

typedef struct Data {
  const float *in;
  DeviceAddress device_in, device_out;
  uint32_t width, height;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (uint32_t)run->param[0];
  data->height = (uint32_t)run->param[1];
  uint64_t count = (uint64_t)data->width * data->height;
  data->in = workload_random_f32(run, count, 0, -1.0f, 1.0f);
  data->device_in = workload_buffer(run, data->in, count * 4);
  data->device_out = workload_buffer(run, NULL, count * 4);
  workload_output_matrix(run, "out", data->device_out, ELEMENT_F32, data->width, data->height);
  return data->device_in && data->device_out;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, ROWS, 1}, grid[3] = {(data->width + TILE - 1) / TILE, (data->height + TILE - 1) / TILE, 1};
  const void *arguments[] = {&data->device_in, &data->device_out, &data->width, &data->height};
  return workload_launch(run, "transpose", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint64_t count = (uint64_t)data->width * data->height;
  float *got = ARENA_ARRAY(run->arena, float, count);
  bool missing;
  double *expected = workload_expected(run, count, &missing);
  if (!device_read(run->device, got, data->device_out, count * 4)) return false;
  for (uint64_t i = 0; i < count && missing; i++) expected[i % data->width * data->height + i / data->width] = data->in[i];
  return workload_near(run, "out", got, expected, count, 0.0);
}

const Workload workload_transpose = {
    .name = "transpose",
    .summary = "matrix transpose through padded tiles; memory bound",
    .params = {{"width", "columns", {50, 128, 1024, 2048}, 1, 1u << 14}, {"height", "rows", {40, 128, 1024, 2048}, 1, 1u << 14}},
    .traits = {{RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 30, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
