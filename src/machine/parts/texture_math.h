// Arithmetic of texture addressing that single lanes (texture.c) and whole warps (sample_warp.c) share.
#ifndef REDOUBT_PARTS_TEXTURE_MATH_H
#define REDOUBT_PARTS_TEXTURE_MATH_H

#include "machine/parts/texel.h"

static inline uint32_t texture_extent(const Texture *texture, unsigned level, unsigned dimension) {
  const TextureLevel *at = &texture->levels[level];
  uint32_t size = dimension == 0 ? at->width : dimension == 1 ? at->height : at->depth;
  return max_u32(size, 1);
}

// Texel index under the address mode; -1: the border.
static inline int64_t texture_resolve(int64_t index, int64_t size, AddressMode mode) {
  if (index >= 0 && index < size) return index;
  int64_t period = 2 * size, inside;
  switch (mode) {
  case ADDRESS_WRAP: inside = index % size; return inside < 0 ? inside + size : inside;
  case ADDRESS_MIRROR:
    inside = index % period;
    if (inside < 0) inside += period;
    return inside < size ? inside : period - 1 - inside;
  case ADDRESS_BORDER: return -1;
  default: return index < 0 ? 0 : size - 1;
  }
}

// Largest whole number not above x, kept where an int64_t can hold it; NaN counts as 0.
static inline int64_t texture_floor(double x) {
  const double limit = 0x1p52;
  if (!(x > -limit)) return x <= -limit ? -(INT64_C(1) << 52) : 0;
  if (x >= limit) return INT64_C(1) << 52;
  int64_t towards_zero = (int64_t)x;
  return towards_zero - ((double)towards_zero > x);
}

// Wrap and mirror are for normalized coordinates; elsewhere they clamp. Reducing first keeps large ones exact.
static inline double texture_scale(double coordinate, AddressMode mode, bool is_normalized, uint32_t size) {
  if (!is_normalized) return coordinate;
  if (mode == ADDRESS_WRAP) coordinate -= __builtin_floor(coordinate);
  if (mode == ADDRESS_MIRROR) coordinate -= 2.0 * __builtin_floor(coordinate / 2.0);
  return coordinate * (double)size;
}

// The weight of the upper of two neighbours, in 1/256, for a place that is `from_centre` texels after the centre of texel 0.
static inline unsigned texture_weight(double from_centre, int64_t first) {
  double fraction = from_centre - (double)first;
  return fraction > 0.0 && fraction < 1.0 ? (unsigned)(fraction * 256.0 + 0.5) : 0;
}

#endif
