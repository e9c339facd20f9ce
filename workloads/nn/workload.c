// Nearest neighbour: distances, then a minimum with its index per block; the host takes the least block.
#include "device/workload.h"

enum { THREADS = 128 }; // as in kernel.cu
enum { RECORDS = 16 };  // threads of a block that computes distances: half a warp

typedef struct Data {
  const float *x, *y;
  DeviceAddress device_x, device_y, device_distance, device_least, device_where;
  uint32_t n, blocks;
  float query_x, query_y;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->blocks = (data->n + THREADS - 1) / THREADS;
  data->x = workload_random_f32(run, data->n, 0, 0.0f, 360.0f);
  data->y = workload_random_f32(run, data->n, 1, -90.0f, 90.0f);
  data->query_x = 30.0f;
  data->query_y = 50.0f;
  data->device_x = workload_buffer(run, data->x, data->n * 4ull);
  data->device_y = workload_buffer(run, data->y, data->n * 4ull);
  data->device_distance = workload_buffer(run, NULL, data->n * 4ull);
  data->device_least = workload_buffer(run, NULL, data->blocks * 4ull);
  data->device_where = workload_buffer(run, NULL, data->blocks * 4ull);
  workload_output(run, "distance", data->device_distance, ELEMENT_F32, data->n);
  workload_output(run, "least", data->device_least, ELEMENT_F32, data->blocks);
  workload_output(run, "where", data->device_where, ELEMENT_U32, data->blocks);
  return data->device_x && data->device_y && data->device_distance && data->device_least && data->device_where;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1};
  const uint32_t records[3] = {RECORDS, 1, 1}, windows[3] = {(data->n + RECORDS - 1) / RECORDS, 1, 1};
  const void *distances[] = {&data->device_x, &data->device_y, &data->device_distance, &data->n, &data->query_x, &data->query_y};
  const void *nearest[] = {&data->device_distance, &data->device_least, &data->device_where, &data->n};
  return workload_launch(run, "nn_distances", windows, records, 0, distances, COUNT_OF(distances)) &&
         workload_launch(run, "nn_nearest", grid, block, 0, nearest, COUNT_OF(nearest));
}

// The nearest point is checked against the device's own distances, exactly: rounding cannot change it.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *distance = ARENA_ARRAY(run->arena, float, data->n), *least = ARENA_ARRAY(run->arena, float, data->blocks);
  uint32_t *where = ARENA_ARRAY(run->arena, uint32_t, data->blocks);
  double *expected = ARENA_ARRAY(run->arena, double, data->n);
  if (!device_read(run->device, distance, data->device_distance, data->n * 4ull) ||
      !device_read(run->device, least, data->device_least, data->blocks * 4ull) ||
      !device_read(run->device, where, data->device_where, data->blocks * 4ull)) {
    return false;
  }
  for (uint32_t i = 0; i < data->n; i++) {
    double dx = (double)data->x[i] - data->query_x, dy = (double)data->y[i] - data->query_y;
    expected[i] = __builtin_sqrt(dx * dx + dy * dy);
  }
  if (!workload_near(run, "distance", distance, expected, data->n, 1e-6)) return false;
  for (uint32_t b = 0; b < data->blocks; b++) {
    uint32_t best = b * THREADS;
    for (uint32_t i = best; i < data->n && i < (b + 1) * THREADS; i++) best = distance[i] < distance[best] ? i : best;
    if (where[b] != best || least[b] != distance[best]) return workload_fail(run, "where[%u] = %u, expected %u", b, where[b], best);
  }
  return true;
}

const Workload workload_nn = {
    .name = "nn",
    .summary = "nearest neighbour; half-filled warps and square roots, then a minimum per block",
    .params = {{"n", "points", {700, 8192, 262144, 2 << 20}, 1, 1u << 28}},
    .traits = {{RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.45, "half-filled warps", SIZE_TINY},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 6, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
