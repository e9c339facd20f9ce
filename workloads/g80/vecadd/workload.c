// Vector addition in G80 machine code, as the multi-SM FlexGripPlus thesis measures it (workloads/g80/README.md).
#include "image.h"

enum { A = 0, B = 0x8000, C = 0x10000, PARAMS = 10 };

static uint32_t elements(const WorkloadRun *run) { return (uint32_t)(run->param[0] * run->param[1]); }

static bool prepare(WorkloadRun *run) {
  uint32_t n = elements(run);
  if (n > (B - A) / 4) return workload_refuse(run, "%u threads are more than the %u for which there is memory", n, (B - A) / 4);
  G80Image *image = g80_image(run);
  g80_fill(image, A, workload_random_f32(run, n, 0, 0, 1), n);
  g80_fill(image, B, workload_random_f32(run, n, 1, 0, 1), n);
  image->grid[0] = (uint32_t)run->param[0];
  image->block[0] = (uint32_t)run->param[1];
  memcpy(image->params, (const uint32_t[]){A, B, C, n}, 4 * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "vecadd", PARAMS); }

static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words;
  uint32_t n = elements(run), *expected = ARENA_ARRAY(run->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) expected[i] = bits_of_f32(f32_of(words[A / 4 + i]) + f32_of(words[B / 4 + i]));
  return g80_same(run, "c", g80_read(run, C, n), expected, n);
}

const Workload workload_g80_vecadd = {
    .name = "g80.vecadd",
    .summary = "c = a + b in G80 machine code",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid", {4, 16, 32, 128}, 1, 8192}, {"threads", "threads per block", {32, 32, 32, 64}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
