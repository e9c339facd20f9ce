// CUDA arrays: linear storage in device memory, row after row, slice after slice.
#ifndef REDOUBT_CUDART_ARRAY_H
#define REDOUBT_CUDART_ARRAY_H

#include "cudart/runtime.h"

enum { ARRAY_LAYERED = 1, ARRAY_CUBEMAP = 4, MOST_LEVELS = 16 };

struct Array {
  ChannelDesc channels;
  Extent extent; // as asked for: zeros for absent dimensions
  uint32_t flags;
  uint64_t address, row_pitch, slice_pitch;
  bool is_level; // storage belongs to a mipmap
};

struct Mipmap {
  ChannelDesc channels;
  Extent extent;
  uint32_t flags, level_count;
  Array *levels[MOST_LEVELS];
};

uint32_t array_texel_bytes(const Array *array);

#endif
