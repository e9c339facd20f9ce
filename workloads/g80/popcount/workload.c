// Bits set in each word, in G80 machine code (workloads/g80/README.md).
#include "image.h"

enum { WORDS = 0, COUNTS = 0x10000, PARAMS = 2 };

static uint32_t elements(const WorkloadRun *run) { return (uint32_t)(run->param[0] * run->param[1]); }

static bool prepare(WorkloadRun *run) {
  uint32_t n = elements(run);
  if (n > (COUNTS - WORDS) / 4) return workload_refuse(run, "%u threads are more than those for which there is memory", n);
  G80Image *image = g80_image(run);
  for (uint32_t i = 0; i < n; i++)
    image->words[WORDS / 4 + i] = (uint32_t)random_draw(run->seed, i, 0) & (uint32_t)random_draw(run->seed, i, 1);
  image->grid[0] = (uint32_t)run->param[0];
  image->block[0] = (uint32_t)run->param[1];
  memcpy(image->params, (const uint32_t[]){WORDS, COUNTS}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "popcount", PARAMS); }

static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words + WORDS / 4;
  uint32_t n = elements(run), *expected = ARENA_ARRAY(run->arena, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) expected[i] = (uint32_t)__builtin_popcount(words[i]);
  return g80_same(run, "counts", g80_read(run, COUNTS, n), expected, n);
}

const Workload workload_g80_popcount = {
    .name = "g80.popcount",
    .summary = "bits set in each word, in G80 machine code: a loop that threads leave at different times",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid", {4, 16, 32, 128}, 1, 8192}, {"threads", "threads per block", {32, 32, 32, 32}, 1, 1024}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
