// Scalar products in G80 machine code: a block for each pair of vectors (workloads/g80/README.md).
#include "image.h"

#include <math.h>

enum { C = 0, A = 0x1000, B = 0x11000, PARAMS = 5 };

static bool prepare(WorkloadRun *run) {
  uint32_t vectors = (uint32_t)run->param[0], threads = (uint32_t)run->param[1], length = (uint32_t)run->param[2];
  if (vectors * length > (B - A) / 4)
    return workload_refuse(run, "%u vectors of %u elements are more than the memory takes", vectors, length);
  if ((threads & (threads - 1)) != 0) return workload_refuse(run, "threads must be a power of two, not %u", threads);
  G80Image *image = g80_image(run);
  g80_fill(image, A, workload_random_f32(run, vectors * length, 0, 0, 1), vectors * length);
  g80_fill(image, B, workload_random_f32(run, vectors * length, 1, 0, 1), vectors * length);
  image->grid[0] = vectors;
  image->block[0] = threads;
  memcpy(image->params, (const uint32_t[]){C, A, B, vectors, length}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "scalarprod", PARAMS); }

// In the order of the kernel's tree; the last warp adds without barriers.
static uint32_t product(const uint32_t *a, const uint32_t *b, uint32_t length, uint32_t threads, float *sums) {
  for (uint32_t t = 0; t < threads; t++) {
    sums[t] = 0;
    for (uint32_t e = t; e < length; e += threads) sums[t] = fmaf(f32_of(a[e]), f32_of(b[e]), sums[t]);
  }
  for (uint32_t stride = threads / 2; stride > 0; stride /= 2) {
    for (uint32_t t = 0; t < stride; t++) sums[t] = sums[t + stride] + sums[t];
  }
  return bits_of_f32(sums[0]);
}

static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words;
  uint32_t vectors = (uint32_t)run->param[0], threads = (uint32_t)run->param[1], length = (uint32_t)run->param[2];
  uint32_t *expected = ARENA_ARRAY(run->arena, uint32_t, vectors);
  float *sums = ARENA_ARRAY(run->arena, float, threads);
  for (uint32_t v = 0; v < vectors; v++)
    expected[v] = product(words + A / 4 + v * length, words + B / 4 + v * length, length, threads, sums);
  return g80_same(run, "c", g80_read(run, C, vectors), expected, vectors);
}

const Workload workload_g80_scalarprod = {
    .name = "g80.scalarprod",
    .summary = "scalar products of vectors in G80 machine code: shared memory and barriers",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid, and pairs of vectors", {2, 16, 32, 32}, 1, 1024},
               {"threads", "threads per block", {64, 512, 512, 512}, 64, 512},
               {"elements", "of a vector", {128, 512, 512, 512}, 1, 16384}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
