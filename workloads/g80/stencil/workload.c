// Sums of three neighbours in G80 machine code (workloads/g80/README.md).
#include "image.h"

enum { A = 0, C = 0x10000, PARAMS = 2, NEIGHBOURS = 2 };

static uint32_t elements(const WorkloadRun *run) { return (uint32_t)(run->param[0] * run->param[1]); }

static bool prepare(WorkloadRun *run) {
  uint32_t n = elements(run);
  if (n + NEIGHBOURS > (C - A) / 4) return workload_refuse(run, "%u threads are more than those for which there is memory", n);
  G80Image *image = g80_image(run);
  g80_fill(image, A, workload_random_f32(run, n + NEIGHBOURS, 0, 0, 1), n + NEIGHBOURS);
  image->grid[0] = (uint32_t)run->param[0];
  image->block[0] = (uint32_t)run->param[1];
  memcpy(image->params, (const uint32_t[]){A, C}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "stencil", PARAMS); }

static bool check(WorkloadRun *run) {
  const uint32_t *a = ((G80Image *)run->data)->words + A / 4;
  uint32_t n = elements(run), *expected = ARENA_ARRAY(run->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    float sum = f32_of(a[i]) + f32_of(a[i + 1]);
    expected[i] = bits_of_f32(sum + f32_of(a[i + 2]));
  }
  return g80_same(run, "c", g80_read(run, C, n), expected, n);
}

const Workload workload_g80_stencil = {
    .name = "g80.stencil",
    .summary = "sums of three neighbours in G80 machine code: blocks read what others read",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid", {4, 16, 32, 128}, 1, 8192}, {"threads", "threads per block", {32, 32, 32, 32}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
