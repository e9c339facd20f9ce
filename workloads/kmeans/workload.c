// K-means clustering: features through a texture, centres in constant memory, a last launch of one block.
// Blocks of 256 threads, 34 features and 5 clusters as in the papers' program, which has more points.
// Traits on fermi-gtx480 at default size: texture_fetches / warp_instructions >= 4%; constant_accesses / warp_instructions >= 10%;
// idle_empty / sm_cycles >= 10% (imbalance: one block makes the new centres).
#include "device/workload.h"

#include <math.h>

enum { THREADS = 256, MOST_CENTRES = 2048 }; // as in kernel.cu

typedef struct Data {
  float *features, *initial; // of points, of centres
  DeviceAddress by_point, by_feature, members, sums, counts, centres;
  uint64_t texture_by_point, texture_by_feature;
  int32_t points, feature_count, clusters, blocks;
  uint32_t rounds, centre_count;
} Data;

// Points scattered around as many spots as there are clusters. The first points are the first centres.
static void scatter(WorkloadRun *run, Data *data) {
  uint32_t width = (uint32_t)data->feature_count;
  const float *spots = workload_random_f32(run, data->centre_count, 0, -4, 4);
  data->features = workload_random_f32(run, (uint64_t)data->points * width, 1, -2, 2);
  for (uint32_t point = 0; point < (uint32_t)data->points; point++) {
    uint32_t spot = (uint32_t)random_below(random_draw(run->seed, point, 2), (uint64_t)data->clusters);
    for (uint32_t i = 0; i < width; i++) data->features[(uint64_t)point * width + i] += spots[spot * width + i];
  }
  data->initial = ARENA_ARRAY(run->arena, float, data->centre_count);
  memcpy(data->initial, data->features, data->centre_count * 4ull);
}

static bool allocate(WorkloadRun *run, Data *data) {
  uint64_t values = (uint64_t)data->points * (uint64_t)data->feature_count, blocks = (uint64_t)data->blocks;
  data->by_point = workload_buffer(run, data->features, values * 4);
  data->by_feature = workload_buffer(run, NULL, values * 4);
  data->members = workload_buffer(run, NULL, (uint64_t)data->points * 4);
  data->sums = workload_buffer(run, NULL, blocks * data->centre_count * 4);
  data->counts = workload_buffer(run, NULL, blocks * (uint64_t)data->clusters * 4);
  data->centres = workload_buffer(run, data->initial, data->centre_count * 4ull);
  data->texture_by_point = workload_texture(run, data->by_point, ELEMENT_F32, 1, (uint32_t)values);
  data->texture_by_feature = workload_texture(run, data->by_feature, ELEMENT_F32, 1, (uint32_t)values);
  return data->members && data->sums && data->counts && data->centres && data->texture_by_point && data->texture_by_feature;
}

static bool prepare(WorkloadRun *run) {
  Data *data = run->data = ARENA_NEW(run->arena, Data);
  data->points = (int32_t)run->param[0];
  data->feature_count = (int32_t)run->param[1];
  data->clusters = (int32_t)run->param[2];
  data->rounds = (uint32_t)run->param[3];
  data->blocks = (data->points + THREADS - 1) / THREADS;
  data->centre_count = (uint32_t)(data->clusters * data->feature_count);
  if (data->centre_count > MOST_CENTRES) return workload_refuse(run, "clusters times features: at most %d", MOST_CENTRES);
  if (data->clusters > data->points) return workload_refuse(run, "more clusters than points");
  scatter(run, data);
  if (!allocate(run, data)) return false;
  workload_output(run, "members", data->members, ELEMENT_S32, (uint64_t)data->points);
  workload_output(run, "centres", data->centres, ELEMENT_F32, data->centre_count);
  return true;
}

// Nearest centres, sums, new centres; the centres lie in device memory, and pass through the host to constant memory.
static bool launch_round(WorkloadRun *run) {
  Data *data = run->data;
  float centres[MOST_CENTRES];
  uint64_t bytes = data->centre_count * 4ull;
  if (!device_read(run->device, centres, data->centres, bytes) || !workload_constant(run, "kmeans_centres", centres, bytes)) return false;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {(uint32_t)data->blocks, 1, 1}, one[3] = {1, 1, 1};
  const void *nearest[] = {&data->texture_by_feature, &data->members, &data->points, &data->feature_count, &data->clusters};
  const void *sum[] = {&data->texture_by_point, &data->members,       &data->sums,    &data->counts,
                       &data->points,           &data->feature_count, &data->clusters};
  const void *centre[] = {&data->sums, &data->counts, &data->centres, &data->blocks, &data->feature_count, &data->clusters};
  return workload_launch(run, "kmeans_nearest", grid, block, 0, nearest, COUNT_OF(nearest)) &&
         workload_launch(run, "kmeans_sum", grid, block, 0, sum, COUNT_OF(sum)) &&
         workload_launch(run, "kmeans_centre", one, block, 0, centre, COUNT_OF(centre));
}

static bool launch(WorkloadRun *run) {
  Data *data = run->data;
  const uint32_t block[3] = {THREADS, 1, 1}, grid[3] = {(uint32_t)data->blocks, 1, 1};
  const void *turn[] = {&data->by_point, &data->by_feature, &data->points, &data->feature_count};
  if (!workload_launch(run, "kmeans_turn", grid, block, 0, turn, COUNT_OF(turn))) return false;
  for (uint32_t round = 0; round < data->rounds; round++) {
    if (!launch_round(run)) return false;
  }
  return true;
}

// ---- The same on the host, operation by operation ----------------------------------------------

static int32_t nearest_on_host(const Data *data, const float *centres, const float *point) {
  int32_t best = 0;
  float least = 3.4e38f;
  for (int32_t cluster = 0; cluster < data->clusters; cluster++) {
    float distance = 0;
    for (int32_t i = 0; i < data->feature_count; i++) {
      float difference = point[i] - centres[cluster * data->feature_count + i];
      distance = fmaf(difference, difference, distance);
    }
    if (distance >= least) continue;
    least = distance;
    best = cluster;
  }
  return best;
}

// Sums a block's points first, then the blocks, as the device does: the order decides how sums are rounded.
static void centre_on_host(const Data *data, const int32_t *members, uint32_t index, float *centres) {
  uint32_t width = (uint32_t)data->feature_count;
  int32_t cluster = (int32_t)(index / width), count = 0;
  float sum = 0;
  for (int32_t first = 0; first < data->points; first += THREADS) {
    float of_block = 0;
    for (int32_t point = first; point < data->points && point < first + THREADS; point++) {
      if (members[point] != cluster) continue;
      of_block += data->features[(uint64_t)point * width + index % width];
      count++;
    }
    sum += of_block;
  }
  if (count > 0) centres[index] = sum / (float)count;
}

static void rounds_on_host(const Data *data, int32_t *members, float *centres) {
  memcpy(centres, data->initial, data->centre_count * 4ull);
  for (uint32_t round = 0; round < data->rounds; round++) {
    for (int32_t point = 0; point < data->points; point++) {
      members[point] = nearest_on_host(data, centres, data->features + (uint64_t)point * (uint64_t)data->feature_count);
    }
    for (uint32_t i = 0; i < data->centre_count; i++) centre_on_host(data, members, i, centres);
  }
}

// Exact: both sides do the same IEEE operations in the same order, so that no point near a border can differ.
static bool check(WorkloadRun *run) {
  Data *data = run->data;
  uint32_t points = (uint32_t)data->points;
  int32_t *members = ARENA_ARRAY(run->arena, int32_t, points), *got_members = ARENA_ARRAY(run->arena, int32_t, points);
  float *centres = ARENA_ARRAY(run->arena, float, data->centre_count), *got_centres = ARENA_ARRAY(run->arena, float, data->centre_count);
  if (!device_read(run->device, got_members, data->members, points * 4ull) ||
      !device_read(run->device, got_centres, data->centres, data->centre_count * 4ull)) {
    return false;
  }
  bool missing;
  double *expected = workload_expected(run, points + data->centre_count, &missing);
  if (missing) {
    rounds_on_host(data, members, centres);
    for (uint32_t i = 0; i < points; i++) expected[i] = members[i];
    for (uint32_t i = 0; i < data->centre_count; i++) expected[points + i] = (double)centres[i];
  }
  for (uint32_t i = 0; i < points; i++) {
    if (got_members[i] != expected[i]) return workload_fail(run, "members[%u] = %d, expected %g", i, got_members[i], expected[i]);
  }
  return workload_near(run, "centres", got_centres, expected + points, data->centre_count, 0);
}

const Workload workload_kmeans = {
    .name = "kmeans",
    .summary = "k-means clustering; features through a texture, centres in constant memory",
    .params = {{"points", "points, 256 a block", {300, 4096, 10240, 65536}, 1, 1u << 22},
               {"features", "features of a point", {5, 8, 34, 34}, 1, 64},
               {"clusters", "clusters", {3, 5, 5, 5}, 1, 64},
               {"rounds", "rounds", {2, 2, 1, 2}, 1, 1000}},
    .traits = {{RATIO_TEXTURE_SHARE, TRAIT_AT_LEAST, 0.04, "features in a texture", SIZE_TINY},
               {RATIO_IDLE_EMPTY, TRAIT_AT_LEAST, 0.1, "blocks do not fill the SMs evenly", SIZE_DEFAULT}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
