// Sums of integers and floats: each launch leaves one partial sum a block, until one is left.
#include "device/workload.h"

enum { ITEMS = 512 }; // a block's elements, as in kernel.cu

typedef struct Data {
  int32_t *integers;
  const float *floats;
  DeviceAddress integer_buffers[2], float_buffers[2]; // each launch reads one and writes the other
  uint32_t n;
  uint32_t result; // which buffer holds the last sum
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->integers = ARENA_ARRAY(run->arena, int32_t, data->n);
  for (uint32_t i = 0; i < data->n; i++) data->integers[i] = (int32_t)random_draw(run->seed, i, 0);
  data->floats = workload_random_f32(run, data->n, 1, 0.0f, 1.0f);
  for (int i = 0; i < 2; i++) {
    data->integer_buffers[i] = workload_buffer(run, i == 0 ? data->integers : NULL, data->n * 4ull);
    data->float_buffers[i] = workload_buffer(run, i == 0 ? data->floats : NULL, data->n * 4ull);
    if (!data->integer_buffers[i] || !data->float_buffers[i]) return false;
  }
  for (uint32_t left = data->n; left > 1; left = (left + ITEMS - 1) / ITEMS) data->result ^= 1;
  workload_output(run, "integer_sum", data->integer_buffers[data->result], ELEMENT_S32, 1);
  workload_output(run, "float_sum", data->float_buffers[data->result], ELEMENT_F32, 1);
  return true;
}

static bool reduce(WorkloadRun *run, const char *kernel, const DeviceAddress buffers[2]) {
  Data *data = run->data;
  uint32_t from = 0;
  for (uint32_t left = data->n; left > 1; from ^= 1) {
    const uint32_t block[3] = {ITEMS / 2, 1, 1}, grid[3] = {(left + ITEMS - 1) / ITEMS, 1, 1};
    const void *arguments[] = {&buffers[from], &buffers[from ^ 1], &left};
    if (!workload_launch(run, kernel, grid, block, 0, arguments, COUNT_OF(arguments))) return false;
    left = grid[0];
  }
  return true;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  return reduce(run, "reduce_int", data->integer_buffers) && reduce(run, "reduce_float", data->float_buffers);
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t integer_sum = 0, got_integer;
  double float_sum = 0.0;
  float got_float;
  for (uint32_t i = 0; i < data->n; i++) {
    integer_sum += (uint32_t)data->integers[i];
    float_sum += data->floats[i];
  }
  if (!device_read(run->device, &got_integer, data->integer_buffers[data->result], 4) ||
      !device_read(run->device, &got_float, data->float_buffers[data->result], 4)) {
    return false;
  }
  if (got_integer != integer_sum) return workload_fail(run, "integer_sum = %u, expected %u", got_integer, integer_sum);
  return workload_near(run, "float_sum", &got_float, &float_sum, 1, 1e-5);
}

const Workload workload_reduction = {
    .name = "reduction",
    .summary = "sums of integers and floats; trees in shared memory, several launches",
    .params = {{"n", "elements", {3000, 16384, 262144, 4 << 20}, 1, 1u << 28}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "load imbalance", SIZE_TINY},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 10, "memory-intensive", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
