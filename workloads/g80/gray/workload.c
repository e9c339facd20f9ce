// Gray filter in G80 machine code: a thread for each pixel (workloads/g80/README.md).
#include "image.h"

#include <math.h>

enum { COLOUR = 0, GRAY = 0x10000, CHANNELS = 3, LEVELS = 256, PARAMS = 4 };

static bool prepare(WorkloadRun *run) {
  uint32_t root = g80_grid_side(run, (uint32_t)run->param[0]), width = (uint32_t)run->param[1], words = CHANNELS * width * width;
  if (root == 0) return false;
  if (words > (GRAY - COLOUR) / 4) return workload_refuse(run, "an image of %u x %u pixels is more than the memory takes", width, width);
  G80Image *image = g80_image(run);
  for (uint32_t i = 0; i < words; i++) image->words[COLOUR / 4 + i] = (uint32_t)random_below(random_draw(run->seed, i, 0), LEVELS);
  for (uint32_t i = 0; i < 2; i++) image->grid[i] = root, image->block[i] = (width + root - 1) / root;
  memcpy(image->params, (const uint32_t[]){COLOUR, GRAY, width, width}, PARAMS * sizeof(uint32_t));
  return g80_place(run);
}

static bool launch(WorkloadRun *run) { return g80_start(run, "gray", PARAMS); }

static bool check(WorkloadRun *run) {
  const uint32_t *words = ((G80Image *)run->data)->words;
  uint32_t count = CHANNELS * (uint32_t)(run->param[1] * run->param[1]), *expected = ARENA_ARRAY(run->arena, uint32_t, count);
  for (uint32_t i = 0; i < count; i += CHANNELS) {
    float gray = (float)words[i] * 0.299f;
    gray = fmaf((float)words[i + 1], 0.587f, gray);
    gray = fmaf((float)words[i + 2], 0.114f, gray);
    for (uint32_t k = 0; k < CHANNELS; k++) expected[i + k] = (uint32_t)gray;
  }
  return g80_same(run, "gray", g80_read(run, GRAY, count), expected, count);
}

const Workload workload_g80_gray = {
    .name = "g80.gray",
    .summary = "gray filter in G80 machine code: conversions, three stores a thread",
    .form = FORM_G80,
    .params = {{"blocks", "blocks of the grid, a square number", {4, 16, 64, 64}, 1, 1024},
               {"width", "width and height of the image", {16, 64, 64, 64}, 1, 73}},
    .prepare = prepare,
    .launch = launch,
    .check = check,
};
