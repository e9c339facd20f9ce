// Sizes that programs hand over: sums and products that cannot wrap. What does not fit into 64 bits becomes SIZE_TOO_BIG,
// which no memory has, so that the check against the memory that follows refuses it. Every size that comes from outside and is
// added to or multiplied with another goes through here.
#ifndef REDOUBT_CUDART_SIZE_H
#define REDOUBT_CUDART_SIZE_H

#include "base/base.h"

#define SIZE_TOO_BIG UINT64_MAX

static inline uint64_t size_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_TOO_BIG : sum;
}

static inline uint64_t size_multiply(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_TOO_BIG : product;
}

static inline uint64_t size_align_up(uint64_t size, uint64_t power_of_two) {
  uint64_t sum, mask = power_of_two - 1;
  return __builtin_add_overflow(size, mask, &sum) ? SIZE_TOO_BIG : sum & ~mask;
}

// `count` things from `first` on are among `room` things.
static inline bool size_is_within(uint64_t first, uint64_t count, uint64_t room) { return first <= room && count <= room - first; }

// Bytes from the first to the last byte of a box: rows of `width` bytes, `height` rows in a slice, `depth` slices.
static inline uint64_t size_of_box(uint64_t width, uint64_t height, uint64_t depth, uint64_t row_pitch, uint64_t slice_pitch) {
  if (width == 0 || height == 0 || depth == 0) return 0;
  return size_add(size_add(size_multiply(depth - 1, slice_pitch), size_multiply(height - 1, row_pitch)), width);
}

#endif
