// Nearest neighbour in G80 machine code: the distance of each record from a point (workloads/g80/README.md).
#include "image.h"

#include <math.h>

enum { RECORDS = 0, DISTANCES = 0x8000, PARAMS = 5 };
static const float LATITUDE = 30, LONGITUDE = 90;

static uint32_t records(const WorkloadRun *run) { return (uint32_t)(run->param[0] * run->param[1]); }

static bool prepare(WorkloadRun *run) {
  uint32_t n = records(run);
  if (n > (DISTANCES - RECORDS) / 8) return workload_refuse(run, "%u records are more than the memory takes", n);
  G80Image *image = g80_image(run);
  const float *latitudes = workload_random_f32(run, n, 0, 0, 60), *longitudes = workload_random_f32(run, n, 1, 0, 180);
  for (uint32_t i = 0; i < n; i++) {
    image->words[RECORDS / 4 + 2 * i] = bits_of_f32(latitudes[i]);
    image->words[RECORDS / 4 + 2 * i + 1] = bits_of_f32(longitudes[i]);
  }
  image->grid[0] = (uint32_t)run->param[0];
  image->block[0] = (uint32_t)run->param[1];
  memcpy(image->params, (const uint32_t[]){RECORDS, DISTANCES, n, bits_of_f32(LATITUDE), bits_of_f32(LONGITUDE)},
         PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "nn", PARAMS); }

// The root goes through RSQ and RCP, which are not exact.
static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words, *got = g80_read(run, DISTANCES, records(run));
  for (uint32_t i = 0; got != NULL && i < records(run); i++) {
    float x = LATITUDE - f32_of(words[RECORDS / 4 + 2 * i]), y = LONGITUDE - f32_of(words[RECORDS / 4 + 2 * i + 1]);
    double expected = sqrt((double)x * x + (double)y * y);
    if (!(fabs((double)f32_of(got[i]) - expected) <= 1e-6 * expected))
      return workload_fail(run, "distance[%u] is %.9g, expected %.9g", i, (double)f32_of(got[i]), expected);
  }
  return got != NULL;
}

const Workload workload_g80_nn = {
    .name = "g80.nn",
    .summary = "distances from a point in G80 machine code: roots and reciprocals",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid", {4, 16, 32, 128}, 1, 4096}, {"threads", "threads per block", {32, 32, 32, 32}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
