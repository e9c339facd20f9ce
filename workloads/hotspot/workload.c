// Heat on a chip: a stencil with pyramids. Each launch takes several steps in shared memory, two grids in turn.
// Blocks of 16 x 16 as in the papers' program; at 4 steps a launch, 8 x 8 of their cells are right at the end.
#include "device/workload.h"

enum { TILE = 16, MOST_PYRAMID = (TILE - 1) / 2 }; // TILE as in kernel.cu; a block must keep a cell

typedef struct Data {
  const float *temperature, *power;
  DeviceAddress grids[2], last, device_power; // last: the grid that the last launch writes
  int32_t width, height;
  uint32_t steps, pyramid; // pyramid: steps per launch
  float conductance, leak, ambient;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = data->height = (int32_t)run->param[0];
  data->steps = (uint32_t)run->param[1];
  data->pyramid = (uint32_t)run->param[2];
  data->conductance = 0.1f;
  data->leak = 0.01f;
  data->ambient = 80.0f;
  uint64_t count = (uint64_t)data->width * (uint64_t)data->height;
  data->temperature = workload_random_f32(run, count, 0, 320.0f, 340.0f);
  data->power = workload_random_f32(run, count, 1, 0.0f, 0.5f);
  data->grids[0] = workload_buffer(run, data->temperature, count * 4);
  data->grids[1] = workload_buffer(run, NULL, count * 4);
  data->device_power = workload_buffer(run, data->power, count * 4);
  data->last = data->grids[(data->steps + data->pyramid - 1) / data->pyramid % 2];
  workload_output_matrix(run, "temperature", data->last, ELEMENT_F32, (uint64_t)data->height, (uint64_t)data->width);
  return data->grids[0] && data->grids[1] && data->device_power;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, TILE, 1};
  for (uint32_t launch = 0, step = 0; step < data->steps; launch++) {
    int32_t steps = (int32_t)min_u64(data->pyramid, data->steps - step);
    const uint32_t inner = TILE - 2 * (uint32_t)steps, tiles = ((uint32_t)data->width + inner - 1) / inner;
    const uint32_t grid[3] = {tiles, tiles, 1};
    const void *arguments[] = {&data->grids[launch % 2],
                               &data->device_power,
                               &data->grids[(launch + 1) % 2],
                               &data->width,
                               &data->height,
                               &steps,
                               &data->conductance,
                               &data->leak,
                               &data->ambient};
    if (!workload_launch(run, "hotspot_steps", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
    step += (uint32_t)steps;
  }
  return true;
}

static int32_t clamp(int32_t i, int32_t size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

static void step_on_host(const void *of, const double *now, double *next) {
  const Data *data = of;
  int32_t w = data->width, h = data->height;
  for (int32_t y = 0; y < h; y++) {
    for (int32_t x = 0; x < w; x++) {
      double here = now[y * w + x];
      double flow = now[y * w + clamp(x - 1, w)] + now[y * w + clamp(x + 1, w)] + now[clamp(y - 1, h) * w + x] +
                    now[clamp(y + 1, h) * w + x] - 4.0 * here;
      next[y * w + x] = here + data->conductance * flow + data->power[y * w + x] + data->leak * (data->ambient - here);
    }
  }
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  const WorkloadSteps steps = {"temperature", data->last,  data->temperature, (uint64_t)data->width * (uint64_t)data->height,
                               data->steps,   step_on_host};
  return workload_steps_near(run, &steps, 1e-5);
}

const Workload workload_hotspot = {
    .name = "hotspot",
    .summary = "heat on a chip; stencil in pyramids of several steps, lanes at the rims of blocks idle",
    .params = {{"side", "cells along each side", {40, 64, 256, 1024}, 2, 1u << 13},
               {"steps", "time steps", {3, 8, 8, 8}, 1, 1000},
               {"pyramid", "time steps per launch", {2, 4, 4, 4}, 1, MOST_PYRAMID}},
    .traits = {{RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.3, "lanes at the rims of blocks idle", SIZE_SMALL},
               {RATIO_DIVERGENT_BRANCH_SHARE, TRAIT_AT_LEAST, 0.02, "divergent", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
