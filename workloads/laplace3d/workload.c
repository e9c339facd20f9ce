// Laplace's equation in a box: Jacobi steps, planes with halo in shared memory, two grids in turn.
// Tiles of 32 x 4, 100 points a side and 4 x 25 blocks as in the papers' program.
#include "device/workload.h"

enum { TILE_X = 32, TILE_Y = 4 }; // as in kernel.cu

typedef struct Data {
  const float *first;
  DeviceAddress grids[2];
  int32_t width, height, depth;
  uint32_t steps;
  uint64_t count;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (int32_t)run->param[0];
  data->height = (int32_t)run->param[1];
  data->depth = (int32_t)run->param[2];
  data->steps = (uint32_t)run->param[3];
  data->count = run->param[0] * run->param[1] * run->param[2];
  data->first = workload_random_f32(run, data->count, 0, 1.0f, 2.0f);
  data->grids[0] = workload_buffer(run, data->first, data->count * 4);
  data->grids[1] = workload_buffer(run, NULL, data->count * 4);
  workload_output(run, "u", data->grids[data->steps % 2], ELEMENT_F32, data->count);
  return data->grids[0] && data->grids[1];
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE_X, TILE_Y, 1};
  const uint32_t grid[3] = {((uint32_t)data->width + TILE_X - 1) / TILE_X, ((uint32_t)data->height + TILE_Y - 1) / TILE_Y, 1};
  for (uint32_t step = 0; step < data->steps; step++) {
    const void *arguments[] = {&data->grids[step % 2], &data->grids[(step + 1) % 2], &data->width, &data->height, &data->depth};
    if (!workload_launch(run, "laplace3d", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

static void step_on_host(const void *of, const double *now, double *next) {
  const Data *data = of;
  int64_t w = data->width, h = data->height, d = data->depth, plane = w * h;
  for (int64_t z = 0; z < d; z++) {
    for (int64_t y = 0; y < h; y++) {
      for (int64_t x = 0; x < w; x++) {
        int64_t i = z * plane + y * w + x;
        bool face = x == 0 || x == w - 1 || y == 0 || y == h - 1 || z == 0 || z == d - 1;
        next[i] = face ? now[i] : (now[i - 1] + now[i + 1] + now[i - w] + now[i + w] + now[i - plane] + now[i + plane]) / 6.0;
      }
    }
  }
}

// A step is six roundings of values between 1 and 2, and means do not grow: 1e-5 is far above their error.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  const WorkloadSteps steps = {"u", data->grids[data->steps % 2], data->first, data->count, data->steps, step_on_host};
  return workload_steps_near(run, &steps, 1e-5);
}

const Workload workload_laplace3d = {
    .name = "laplace3d",
    .summary = "Laplace's equation in a box; three planes with halo in shared memory, halo branches, partly filled warps",
    .params = {{"width", "points along x", {40, 70, 100, 200}, 1, 1u << 10},
               {"height", "points along y", {9, 30, 100, 200}, 1, 1u << 10},
               {"depth", "points along z", {5, 20, 100, 200}, 1, 1u << 10},
               {"steps", "Jacobi steps", {2, 2, 1, 2}, 1, 1000}},
    .traits = {{RATIO_DIVERGENT_BRANCH_SHARE, TRAIT_AT_LEAST, 0.015, "halo branches", SIZE_TINY},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.2, "the last tiles are partly filled", SIZE_TINY}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
