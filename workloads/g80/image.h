// What the G80 programs share: one image of all of global memory, which is the output too. A fault that lets a block write
// where no array lies must not go unseen. Addresses in the image are those that kernels are given.
#ifndef WORKLOADS_G80_IMAGE_H
#define WORKLOADS_G80_IMAGE_H

#include "device/workload.h"

enum { G80_IMAGE_WORDS = 1 << 16, G80_WARP = 32, G80_MOST_PARAMS = 15 };

typedef struct G80Image {
  uint32_t words[G80_IMAGE_WORDS]; // before the launch
  DeviceAddress address;
  uint32_t grid[3], block[3];
  uint32_t params[G80_MOST_PARAMS];
} G80Image;

// An image of zeros; the caller fills it, then g80_place copies it to the device.
static inline G80Image *g80_image(WorkloadRun *run) {
  G80Image *image = ARENA_NEW(run->arena, G80Image);
  for (uint32_t i = 0; i < 3; i++) image->grid[i] = image->block[i] = 1;
  run->data = image;
  return image;
}

static inline void g80_fill(G80Image *image, uint32_t address, const float *values, uint32_t count) {
  memcpy(image->words + address / 4, values, count * sizeof *values);
}

static inline bool g80_place(WorkloadRun *run) {
  G80Image *image = run->data;
  image->address = workload_buffer(run, image->words, sizeof image->words);
  workload_output(run, "global", image->address, ELEMENT_U32, G80_IMAGE_WORDS);
  return image->address != 0;
}

static inline bool g80_start(WorkloadRun *run, const char *kernel, uint32_t count) {
  const G80Image *image = run->data;
  const void *arguments[G80_MOST_PARAMS];
  for (uint32_t i = 0; i < count; i++) arguments[i] = &image->params[i];
  return workload_launch(run, kernel, image->grid, image->block, 0, arguments, count);
}

static inline const uint32_t *g80_read(WorkloadRun *run, uint32_t address, uint32_t count) {
  const G80Image *image = run->data;
  uint32_t *words = ARENA_ARRAY(run->arena, uint32_t, count);
  return device_read(run->device, words, image->address + address, count * 4ull) ? words : NULL;
}

// The side of a square grid of so many blocks; 0, with the reason: they make no square.
static inline uint32_t g80_grid_side(WorkloadRun *run, uint32_t blocks) {
  uint32_t side = 1;
  while (side * side < blocks) side++;
  if (side * side == blocks) return side;
  workload_refuse(run, "blocks must be a square number, not %u", blocks);
  return 0;
}

// To the bit: the machine's arithmetic is IEEE's.
static inline bool g80_same(WorkloadRun *run, const char *name, const uint32_t *got, const uint32_t *expected, uint32_t count) {
  for (uint32_t i = 0; got != NULL && i < count; i++) {
    if (got[i] != expected[i]) return workload_fail(run, "%s[%u] is 0x%08x, expected 0x%08x", name, i, got[i], expected[i]);
  }
  return got != NULL;
}

#endif
