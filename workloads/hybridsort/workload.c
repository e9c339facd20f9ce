// Hybrid sort: a bucket phase of one-warp blocks with the counters of 1,024 buckets in shared memory, then a merge sort of each bucket by
// ever fewer threads. The host chooses the buckets' limits, and where the buckets begin.
#include "device/workload.h"

#include <stdlib.h>

enum { BUCKETS = 1024, WARP = 32, ITEMS = 1024, VECTOR = 4, THREADS = 256 }; // the first three as in kernel.cu

typedef struct Data {
  float *in;
  float least, most;
  DeviceAddress device_in, device_out, lists[2]; // lists: the buckets with their filling, in turn
  DeviceAddress device_bins, device_place, device_counts, device_totals, device_limits, device_offsets;
  uint64_t limits; // texture
  uint32_t n, blocks;
} Data;

// Products of two random numbers: most are small, so that buckets of the same width would not do.
static void make_list(WorkloadRun *run, Data *data) {
  const float *other = workload_random_f32(run, data->n, 1, 0.0f, 16.0f);
  data->in = workload_random_f32(run, data->n, 0, 0.0f, 16.0f);
  for (uint32_t i = 0; i < data->n; i++) {
    data->in[i] *= other[i];
    if (i == 0 || data->in[i] < data->least) data->least = data->in[i];
    if (i == 0 || data->in[i] > data->most) data->most = data->in[i];
  }
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->n = (uint32_t)run->param[0];
  data->blocks = (data->n + ITEMS - 1) / ITEMS;
  make_list(run, data);
  data->device_in = workload_buffer(run, data->in, data->n * 4ull);
  data->device_out = workload_buffer(run, NULL, data->n * 4ull);
  data->device_bins = workload_buffer(run, NULL, BUCKETS * 4);
  data->device_place = workload_buffer(run, NULL, data->n * 4ull);
  data->device_counts = workload_buffer(run, NULL, (uint64_t)data->blocks * BUCKETS * 4);
  data->device_totals = workload_buffer(run, NULL, BUCKETS * 4);
  data->device_limits = workload_buffer(run, NULL, BUCKETS * 4);
  data->device_offsets = workload_buffer(run, NULL, BUCKETS * 4);
  data->limits = workload_texture(run, data->device_limits, ELEMENT_F32, 1, BUCKETS);
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t bytes = (data->n + (uint64_t)BUCKETS * VECTOR) * 4;
    data->lists[i] = workload_buffer(run, NULL, bytes);
    if (!data->lists[i] || !device_set(run->device, data->lists[i], 0x7f, bytes)) return false; // 0x7f7f7f7f is above all elements
  }
  workload_output(run, "sorted", data->device_out, ELEMENT_F32, data->n);
  return data->device_in && data->device_out && data->device_bins && data->device_place && data->device_counts && data->device_totals &&
         data->device_limits && data->device_offsets && data->limits;
}

// limits[i]: where 1/1024 x (i + 1) of the elements are below, if those of a bin are spread evenly.
static void choose_limits(const Data *data, const uint32_t bins[BUCKETS], float limits[BUCKETS]) {
  double width = ((double)data->most - data->least) / BUCKETS, below = 0;
  uint32_t bin = 0;
  for (uint32_t i = 0; i < BUCKETS; i++) {
    double wanted = (double)data->n / BUCKETS * (i + 1);
    while (bin < BUCKETS && below + bins[bin] < wanted) below += bins[bin++];
    double share = bin < BUCKETS && bins[bin] > 0 ? (wanted - below) / bins[bin] : 0;
    limits[i] = (float)(data->least + width * (bin + share));
  }
}

static bool launch_bucket_phase(WorkloadRun *run, uint32_t totals[BUCKETS]) {
  Data *data = run->data;
  const uint32_t block[3] = {WARP, 1, 1}, grid[3] = {data->blocks, 1, 1}, bucket_grid[3] = {BUCKETS / WARP, 1, 1};
  uint32_t bins[BUCKETS];
  float limits[BUCKETS], spread = data->most - data->least, bins_per_unit = spread > 0 ? BUCKETS / spread : 0;
  const void *histogram[] = {&data->device_in, &data->device_bins, &data->least, &bins_per_unit, &data->n};
  const void *count[] = {&data->device_in, &data->device_place, &data->device_counts, &data->limits, &data->n};
  const void *prefix[] = {&data->device_counts, &data->device_totals, &data->blocks};
  if (!workload_launch(run, "hybridsort_histogram", grid, block, 0, histogram, COUNT_OF(histogram))) return false;
  if (!device_read(run->device, bins, data->device_bins, sizeof bins)) return false;
  choose_limits(data, bins, limits);
  return device_write(run->device, data->device_limits, limits, sizeof limits) &&
         workload_launch(run, "hybridsort_count", grid, block, 0, count, COUNT_OF(count)) &&
         workload_launch(run, "hybridsort_prefix", bucket_grid, block, 0, prefix, COUNT_OF(prefix)) &&
         device_read(run->device, totals, data->device_totals, BUCKETS * 4);
}

// Tells the device where buckets begin, and moves the elements to them. Returns the size of the largest in vectors; 0 = failed.
static uint32_t launch_scatter(WorkloadRun *run, const uint32_t totals[BUCKETS]) {
  Data *data = run->data;
  const uint32_t block[3] = {WARP, 1, 1}, grid[3] = {data->blocks, 1, 1};
  uint32_t starts[BUCKETS + 1] = {0}, firsts[BUCKETS + 1] = {0}, offsets[BUCKETS], largest = 1;
  for (uint32_t i = 0; i < BUCKETS; i++) {
    uint32_t total = min_u32(totals[i], data->n), vectors = (total + VECTOR - 1) / VECTOR; // a fault may have made it anything
    firsts[i + 1] = firsts[i] + total;
    starts[i + 1] = starts[i] + vectors;
    offsets[i] = starts[i] * VECTOR;
    if (vectors > largest) largest = vectors;
  }
  const void *scatter[] = {&data->device_in, &data->lists[0], &data->device_place, &data->device_counts, &data->device_offsets, &data->n};
  bool done = workload_constant(run, "starts", starts, sizeof starts) && workload_constant(run, "firsts", firsts, sizeof firsts) &&
              device_write(run->device, data->device_offsets, offsets, sizeof offsets) &&
              workload_launch(run, "hybridsort_scatter", grid, block, 0, scatter, COUNT_OF(scatter));
  return done ? largest : 0;
}

static bool launch_merge_phase(WorkloadRun *run, const char *kernel, uint32_t threads_per_bucket, const void *const *arguments,
                               uint32_t count) {
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {(BUCKETS * threads_per_bucket + THREADS - 1) / THREADS, 1, 1};
  return workload_launch(run, kernel, grid, block, 0, arguments, count);
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t totals[BUCKETS], now = 0, largest;
  if (!launch_bucket_phase(run, totals)) return false;
  largest = launch_scatter(run, totals);
  if (largest == 0) return false;
  uint32_t threads = largest;
  const void *fours[] = {&data->lists[0], &threads};
  if (!launch_merge_phase(run, "hybridsort_fours", threads, fours, COUNT_OF(fours))) return false;
  for (uint32_t length = 1; length < largest; length *= 2) {
    threads = (largest + 2 * length - 1) / (2 * length);
    const void *merge[] = {&data->lists[now], &data->lists[1 - now], &threads, &length};
    if (!launch_merge_phase(run, "hybridsort_merge", threads, merge, COUNT_OF(merge))) return false;
    now = 1 - now;
  }
  threads = largest * VECTOR;
  const void *pack[] = {&data->lists[now], &data->device_out, &threads};
  return launch_merge_phase(run, "hybridsort_pack", threads, pack, COUNT_OF(pack));
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static bool check(WorkloadRun *run) {
  Data *data = run->data;
  float *got = ARENA_ARRAY(run->arena, float, data->n);
  bool missing;
  double *expected = workload_expected(run, data->n, &missing);
  for (uint32_t i = 0; i < data->n && missing; i++) expected[i] = data->in[i];
  if (missing) qsort(expected, data->n, sizeof *expected, compare);
  return device_read(run->device, got, data->device_out, data->n * 4ull) && workload_near(run, "sorted", got, expected, data->n, 0);
}

const Workload workload_hybridsort = {
    .name = "hybridsort",
    .summary = "bucket sort by one-warp blocks, then merge sort of each bucket; scattered, ever fewer threads",
    .params = {{"n", "elements", {2500, 16384, 131072, 1 << 20}, 1, 1u << 22}},
    .traits = {{RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.3, "unequal buckets", SIZE_SMALL},
               {RATIO_DRAM_WAIT, TRAIT_AT_LEAST, 15, "memory-intensive", SIZE_SMALL},
               {RATIO_MEMORY_INTENSITY, TRAIT_AT_LEAST, 600, "scattered elements", SIZE_SMALL}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
