// Transpose of a square matrix in G80 machine code (workloads/g80/README.md).
#include "image.h"

enum { IN = 0, OUT = 0x10000, PARAMS = 3 };

static bool prepare(WorkloadRun *run) {
  uint32_t root = g80_grid_side(run, (uint32_t)run->param[0]), side = (uint32_t)run->param[1];
  if (root == 0) return false;
  uint32_t width = root * side, words = width * width;
  if (words > (OUT - IN) / 4) return workload_refuse(run, "a matrix of %u x %u words is more than the memory takes", width, width);
  G80Image *image = g80_image(run);
  for (uint32_t i = 0; i < words; i++) image->words[IN / 4 + i] = (uint32_t)random_draw(run->seed, i, 0);
  for (uint32_t i = 0; i < 2; i++) image->grid[i] = root, image->block[i] = side;
  memcpy(image->params, (const uint32_t[]){IN, OUT, width}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "transpose", PARAMS); }

static bool check(WorkloadRun *run) {
  const G80Image *image = run->data;
  uint32_t width = image->params[2], words = width * width, *expected = ARENA_ARRAY(run->arena, uint32_t, words);
  for (uint32_t i = 0; i < words; i++) expected[i % width * width + i / width] = image->words[IN / 4 + i];
  return g80_same(run, "out", g80_read(run, OUT, words), expected, words);
}

const Workload workload_g80_transpose = {
    .name = "g80.transpose",
    .summary = "transpose of a square matrix in G80 machine code: blocks of two dimensions",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid, a square number", {4, 16, 64, 64}, 1, 1024},
               {"side", "width and height of a block", {4, 8, 8, 16}, 1, 32}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
