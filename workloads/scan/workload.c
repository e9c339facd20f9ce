// Exclusive prefix sum: block scans, a scan of their totals (recursively), and the addition.
#include "device/workload.h"

enum { ITEMS = 256, MAX_LEVELS = 5 }; // ITEMS as in kernel.cu; 256^5 > 2^32

typedef struct Data {
  uint32_t *in;
  DeviceAddress device_in, device_out;
  DeviceAddress totals[MAX_LEVELS], scanned[MAX_LEVELS]; // of each level's blocks
  uint32_t n, levels;
} Data;

static uint32_t block_count(uint32_t n) { return (n + ITEMS - 1) / ITEMS; }

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->in = ARENA_ARRAY(run->arena, uint32_t, data->n);
  for (uint32_t i = 0; i < data->n; i++) data->in[i] = (uint32_t)random_below(random_draw(run->seed, i, 0), 100);
  data->device_in = workload_buffer(run, data->in, data->n * 4ull);
  data->device_out = workload_buffer(run, NULL, data->n * 4ull);
  if (!data->device_in || !data->device_out) return false;
  uint32_t count = data->n;
  do {
    count = block_count(count);
    data->totals[data->levels] = workload_buffer(run, NULL, count * 4ull);
    data->scanned[data->levels] = workload_buffer(run, NULL, count * 4ull);
    if (!data->totals[data->levels] || !data->scanned[data->levels]) return false;
    data->levels++;
  } while (count > 1);
  workload_output(run, "out", data->device_out, ELEMENT_U32, data->n);
  return true;
}

// Scans in[0..n) to out; the blocks' totals are scanned by the next level and added back.
static bool scan_level(WorkloadRun *run, uint32_t level, DeviceAddress in, DeviceAddress out, uint32_t n) {
  Data *data = run->data;
  const uint32_t block[3] = {ITEMS / 2, 1, 1}, grid[3] = {block_count(n), 1, 1};
  const void *scan[] = {&in, &out, &data->totals[level], &n};
  if (!workload_launch(run, "scan_blocks", grid, block, 0, scan, COUNT_OF(scan))) return false;
  if (grid[0] == 1) return true;
  if (!scan_level(run, level + 1, data->totals[level], data->scanned[level], grid[0])) return false;
  const void *add[] = {&out, &data->scanned[level], &n};
  return workload_launch(run, "scan_add", grid, block, 0, add, COUNT_OF(add));
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  return scan_level(run, 0, data->device_in, data->device_out, data->n);
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t *got = ARENA_ARRAY(run->arena, uint32_t, data->n), sum = 0;
  if (!device_read(run->device, got, data->device_out, data->n * 4ull)) return false;
  for (uint32_t i = 0; i < data->n; i++) {
    if (got[i] != sum) return workload_fail(run, "out[%u] = %u, expected %u", i, got[i], sum);
    sum += data->in[i];
  }
  return true;
}

const Workload workload_scan = {
    .name = "scan",
    .summary = "exclusive prefix sum; up-sweep and down-sweep, barriers, few active threads",
    .params = {{"n", "elements", {1000, 16384, 262144, 4 << 20}, 1, 1u << 28}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "load imbalance", SIZE_TINY},
               {RATIO_PARTIAL_ISSUES, TRAIT_AT_LEAST, 0.12, "few active threads near the root of the tree", SIZE_TINY},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 15, "memory-intensive", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
