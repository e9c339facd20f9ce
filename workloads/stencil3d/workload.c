// Diffusion in a box: a 7-point stencil swept through planes, two grids in turn.
// Tiles of 16 x 16; 128 x 128 x 32 points are the smaller size of the usual program, which takes a hundred steps.
#include "device/workload.h"

enum { TILE = 16 }; // as in kernel.cu

typedef struct Data {
  const float *first;
  DeviceAddress grids[2];
  int32_t width, height, depth;
  uint32_t steps;
  uint64_t count;
  float centre, around; // weights of a cell and of each of its six neighbours; in all 1
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->width = (int32_t)run->param[0];
  data->height = (int32_t)run->param[1];
  data->depth = (int32_t)run->param[2];
  data->steps = (uint32_t)run->param[3];
  data->count = run->param[0] * run->param[1] * run->param[2];
  data->around = 0.1f;
  data->centre = 0.4f;
  data->first = workload_random_f32(run, data->count, 0, 1.0f, 2.0f);
  data->grids[0] = workload_buffer(run, data->first, data->count * 4);
  data->grids[1] = workload_buffer(run, data->first, data->count * 4); // the faces are never written
  workload_output(run, "u", data->grids[data->steps % 2], ELEMENT_F32, data->count);
  return data->grids[0] && data->grids[1];
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {TILE, TILE, 1};
  const uint32_t grid[3] = {((uint32_t)data->width - 2 + TILE - 1) / TILE, ((uint32_t)data->height - 2 + TILE - 1) / TILE, 1};
  for (uint32_t step = 0; step < data->steps; step++) {
    const void *arguments[] = {
        &data->grids[step % 2], &data->grids[(step + 1) % 2], &data->width, &data->height, &data->depth, &data->centre, &data->around};
    if (!workload_launch(run, "stencil3d", grid, block, 0, arguments, COUNT_OF(arguments))) return false;
  }
  return true;
}

// Faces are not written.
static void step_on_host(const void *of, const double *now, double *next) {
  const Data *data = of;
  int64_t w = data->width, plane = w * data->height;
  for (int64_t z = 1; z < data->depth - 1; z++) {
    for (int64_t y = 1; y < data->height - 1; y++) {
      for (int64_t x = 1; x < w - 1; x++) {
        int64_t i = z * plane + y * w + x;
        double sum = now[i - 1] + now[i + 1] + now[i - w] + now[i + w] + now[i - plane] + now[i + plane];
        next[i] = data->centre * now[i] + data->around * sum;
      }
    }
  }
}

// A step is some roundings of values between 1 and 2, and means do not grow: 1e-5 is far above their error.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  const WorkloadSteps steps = {"u", data->grids[data->steps % 2], data->first, data->count, data->steps, step_on_host};
  return workload_steps_near(run, &steps, 1e-5);
}

const Workload workload_stencil3d = {
    .name = "stencil3d",
    .summary = "diffusion in a box; plane sweep, lanes at the rims of tiles bring the halo",
    .params = {{"width", "points along x", {36, 66, 128, 512}, 3, 1u << 10},
               {"height", "points along y", {20, 50, 128, 512}, 3, 1u << 10},
               {"depth", "points along z", {5, 12, 32, 64}, 3, 1u << 10},
               {"steps", "time steps", {2, 2, 3, 2}, 1, 1000}},
    .traits = {{RATIO_DIVERGENT_BRANCH_SHARE, TRAIT_AT_LEAST, 0.04, "lanes at the rims of tiles bring the halo", SIZE_SMALL},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.12, "divergent", SIZE_DEFAULT},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "imbalance: some SMs have a block more", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
