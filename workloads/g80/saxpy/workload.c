// y = a x + y in G80 machine code (workloads/g80/README.md).
#include "image.h"

#include <math.h>

enum { X = 0, Y = 0x8000, PARAMS = 4 };
static const float FACTOR = 2.5f;

static uint32_t elements(const WorkloadRun *run) { return (uint32_t)(run->param[0] * run->param[1]); }

static bool prepare(WorkloadRun *run) {
  uint32_t n = elements(run);
  if (n > (Y - X) / 4) return workload_refuse(run, "%u threads are more than the %u for which there is memory", n, (Y - X) / 4);
  G80Image *image = g80_image(run);
  g80_fill(image, X, workload_random_f32(run, n, 0, -1, 1), n);
  g80_fill(image, Y, workload_random_f32(run, n, 1, -1, 1), n);
  image->grid[0] = (uint32_t)run->param[0];
  image->block[0] = (uint32_t)run->param[1];
  memcpy(image->params, (const uint32_t[]){X, Y, bits_of_f32(FACTOR), n}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "saxpy", PARAMS); }

static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words;
  uint32_t n = elements(run), *expected = ARENA_ARRAY(run->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) expected[i] = bits_of_f32(fmaf(f32_of(words[X / 4 + i]), FACTOR, f32_of(words[Y / 4 + i])));
  return g80_same(run, "y", g80_read(run, Y, n), expected, n);
}

const Workload workload_g80_saxpy = {
    .name = "g80.saxpy",
    .summary = "y = a x + y in G80 machine code, in place",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid", {4, 16, 32, 128}, 1, 8192}, {"threads", "threads per block", {32, 32, 32, 32}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
