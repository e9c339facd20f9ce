// Histogram in 64 bins: shared and global atomics with conflicts.
#include "device/workload.h"

enum { BINS = 64 };

typedef struct Data {
  uint8_t *bytes;
  DeviceAddress device_bytes, device_bins;
  uint32_t n;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->bytes = ARENA_ARRAY(run->arena, uint8_t, data->n);
  for (uint32_t i = 0; i < data->n; i++) data->bytes[i] = (uint8_t)random_draw(run->seed, i, 0);
  data->device_bytes = workload_buffer(run, data->bytes, data->n);
  data->device_bins = workload_buffer(run, NULL, BINS * 4);
  workload_output(run, "bins", data->device_bins, ELEMENT_U32, BINS);
  return data->device_bytes && data->device_bins;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {128, 1, 1}, grid[3] = {(uint32_t)run->param[1], 1, 1};
  const void *arguments[] = {&data->device_bytes, &data->device_bins, &data->n};
  return workload_launch(run, "histogram64", grid, block, 0, arguments, COUNT_OF(arguments));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t got[BINS], expected[BINS] = {0};
  if (!device_read(run->device, got, data->device_bins, sizeof got)) return false;
  for (uint32_t i = 0; i < data->n; i++) expected[data->bytes[i] >> 2]++;
  for (uint32_t bin = 0; bin < BINS; bin++) {
    if (got[bin] != expected[bin]) return workload_fail(run, "bins[%u] = %u, expected %u", bin, got[bin], expected[bin]);
  }
  return true;
}

const Workload workload_histogram64 = {
    .name = "histogram64",
    .summary = "histogram of bytes; shared and global atomics with conflicts",
    .params = {{"n", "bytes", {3000, 16384, 262144, 4 << 20}, 1, 1u << 30},
               {"blocks", "blocks of 128 threads", {3, 16, 64, 240}, 1, 65535}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
