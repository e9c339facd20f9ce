// Histogram in 64 bins: byte counters per thread in shared memory, then a merge of the blocks.
#include "device/workload.h"

enum { BINS = 64, THREADS = 64, MERGERS = 256 }; // as in kernel.cu

typedef struct Data {
  uint32_t *values;
  DeviceAddress device_values, device_partial, device_bins;
  uint32_t words, each, blocks;
} Data;

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->words = (uint32_t)run->param[0];
  data->each = (uint32_t)run->param[1];
  data->blocks = (data->words + THREADS * data->each - 1) / (THREADS * data->each);
  data->values = ARENA_ARRAY(run->arena, uint32_t, data->words);
  for (uint32_t i = 0; i < data->words; i++) data->values[i] = (uint32_t)random_draw(run->seed, i, 0);
  data->device_values = workload_buffer(run, data->values, data->words * 4ull);
  data->device_partial = workload_buffer(run, NULL, data->blocks * BINS * 4ull);
  data->device_bins = workload_buffer(run, NULL, BINS * 4);
  workload_output(run, "bins", data->device_bins, ELEMENT_U32, BINS);
  return data->device_values && data->device_partial && data->device_bins;
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {data->blocks, 1, 1}, mergers[3] = {MERGERS, 1, 1}, merges[3] = {BINS, 1, 1};
  const void *count[] = {&data->device_values, &data->device_partial, &data->words, &data->each};
  const void *merge[] = {&data->device_partial, &data->device_bins, &data->blocks};
  return workload_launch(run, "histogram64_blocks", grid, block, 0, count, COUNT_OF(count)) &&
         workload_launch(run, "histogram64_merge", merges, mergers, 0, merge, COUNT_OF(merge));
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t got[BINS], expected[BINS] = {0};
  if (!device_read(run->device, got, data->device_bins, sizeof got)) return false;
  for (uint32_t i = 0; i < data->words; i++) {
    for (uint32_t byte = 0; byte < 4; byte++) expected[(data->values[i] >> 8 * byte & 255) >> 2]++;
  }
  for (uint32_t bin = 0; bin < BINS; bin++) {
    if (got[bin] != expected[bin]) return workload_fail(run, "bins[%u] = %u, expected %u", bin, got[bin], expected[bin]);
  }
  return true;
}

const Workload workload_histogram64 = {
    .name = "histogram64",
    .summary = "histogram of bytes; byte counters per thread in shared memory, then a merge",
    .params = {{"words", "words of four bytes", {1200, 32768, 2 << 20, 4 << 20}, 1, 1u << 28},
               {"each", "words that a thread takes; its counters are bytes", {8, 63, 63, 63}, 1, 63}},
    .traits = {{RATIO_SHARED_SHARE, TRAIT_AT_LEAST, 0.14, "counters in shared memory", SIZE_SMALL},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 5, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
