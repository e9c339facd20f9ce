// Fast Walsh transform: one launch in shared memory, then one per stride in global memory. The inputs are small integers, so that every
// sum is exact in single precision, and the check too.
#include "device/workload.h"

enum { THREADS = 256, BLOCK = 1024, MOST_INPUT = 3, MOST_PASSES = 6 }; // 3 x 1024 x 4^6 < 2^24: exact
_Static_assert(MOST_INPUT *BLOCK *(1 << 2 * MOST_PASSES) < 1 << 24, "sums must be exact");

typedef struct Data {
  float *in;
  DeviceAddress device_data;
  uint32_t n, passes;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->passes = (uint32_t)run->param[0];
  data->n = (uint32_t)BLOCK << 2 * data->passes;
  data->in = ARENA_ARRAY(run->arena, float, data->n);
  for (uint32_t i = 0; i < data->n; i++)
    data->in[i] = (float)random_below(random_draw(run->seed, i, 0), 2 * MOST_INPUT + 1) - (float)MOST_INPUT;
  data->device_data = workload_buffer(run, data->in, data->n * 4ull);
  workload_output(run, "transform", data->device_data, ELEMENT_F32, data->n);
  return data->device_data != 0;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->n / BLOCK, 1, 1};
  const void *arguments[] = {&data->device_data};
  if (!workload_launch(run, "fwt_shared", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  for (uint32_t stride = BLOCK; stride < data->n; stride *= 4) {
    const void *pass[] = {&data->device_data, &stride};
    if (!workload_launch(run, "fwt_global", grid, block, 0, pass, COUNT_OF(pass))) return false;
  }
  return true;
}

static void transform_on_host(double *at, uint32_t n) {
  for (uint32_t stride = 1; stride < n; stride *= 2) {
    for (uint32_t i = 0; i < n; i++) {
      if (i & stride) continue;
      double a = at[i], b = at[i + stride];
      at[i] = a + b;
      at[i + stride] = a - b;
    }
  }
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->n);
  bool missing;
  double *expected = workload_expected(run, data->n, &missing);
  if (!device_read(run->device, got, data->device_data, data->n * 4ull)) return false;
  for (uint32_t i = 0; i < data->n && missing; i++) expected[i] = data->in[i];
  if (missing) transform_on_host(expected, data->n);
  return workload_near(run, "transform", got, expected, data->n, 0);
}

const Workload workload_fwt = {
    .name = "fwt",
    .summary = "fast Walsh transform; radix 4 in shared memory, then passes with large strides",
    .params = {{"passes", "passes in global memory, of 1,024 x 4^passes elements", {1, 2, 4, 6}, 0, MOST_PASSES}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.08, "blocks do not fill the SMs evenly", SIZE_SMALL},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 40, "global passes", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
