// Lanes to memory requests, by generation.
//   gt200   (compute capability 1.2 and 1.3) by half-warp: the segment of the lowest lane's address, 32 bytes for single bytes, 64 for
//           two, else 128; all lanes of the half-warp in it; halved as long as only one half is used.
//   fermi   128-byte lines; 8-byte accesses by half-warp, 16-byte ones by quarter. What goes past the L1 asks for 32-byte sectors.
//   turing  32-byte sectors, those of one line in one request.
// Source: CUDA C Programming Guide 4.2, appendix F.3.2 and F.4.2; later editions, "Global Memory" of compute capability 5.x to 7.x.
#include "machine/simt/memop.h"

typedef enum Coalescer { COALESCE_GT200, COALESCE_FERMI, COALESCE_TURING } Coalescer; // order of config.def's choices

enum { SECTOR_BYTES = 32, HALF_WARP = WARP_LANES / 2 };

static uint32_t lane_range(uint32_t lane, uint32_t group) {
  if (group >= WARP_LANES) return UINT32_MAX;
  return ((1u << group) - 1) << (lane / group * group);
}

// The lanes of `left` whose bytes lie in the aligned stretch of `bytes` around `address`, and which bytes of the line they use.
static uint32_t lanes_in(const Simt *m, const uint64_t *address, uint32_t left, uint64_t first, uint32_t shift, uint32_t lane_bytes,
                         ByteMask *used) {
  uint64_t stretch = UINT64_MAX << shift;
  uint32_t lanes = m->rows->matching(address, stretch, first & stretch) & left;
  m->rows->bytes_of(address, lanes, lane_bytes, used->half);
  return lanes;
}

// Whole sectors around the bytes.
static ByteMask sectors_of(ByteMask bytes) {
  ByteMask sectors;
  for (uint32_t h = 0; h < 2; h++) {
    uint64_t low = (uint32_t)bytes.half[h] != 0 ? UINT32_MAX : 0, high = bytes.half[h] >> SECTOR_BYTES != 0 ? UINT32_MAX : 0;
    sectors.half[h] = low | high << SECTOR_BYTES;
  }
  return sectors;
}

static ByteMask segment_of(uint64_t first, uint32_t bytes, ByteMask used) {
  uint32_t at = (uint32_t)first & (LINE_BYTES - 1) & ~(bytes - 1);
  while (bytes > SECTOR_BYTES) {
    uint32_t half = bytes / 2;
    if (bytes_cover(bytes_from(at, half), used)) bytes = half;
    else if (bytes_cover(bytes_from(at + half, half), used)) bytes = half, at += half;
    else break;
  }
  return bytes_from(at, bytes);
}

bool coalesce_joins_lanes(const Spec *spec) { return spec->ldst_coalescer != COALESCE_GT200; } // half-warps there

Transaction coalesce_next(const Simt *m, const uint64_t address[WARP_LANES], uint32_t left, uint32_t lane_bytes) {
  unsigned lane = (unsigned)__builtin_ctz(left);
  uint64_t first = address[lane];
  Coalescer kind = (Coalescer)m->spec->ldst_coalescer;
  Transaction made = {.line = line_of(first)};
  if (kind == COALESCE_GT200) {
    uint32_t segment = lane_bytes == 1 ? 32 : lane_bytes == 2 ? 64 : LINE_BYTES;
    uint32_t shift = (uint32_t)__builtin_ctz(segment);
    made.lanes = lanes_in(m, address, left & lane_range(lane, HALF_WARP), first, shift, lane_bytes, &made.bytes);
    made.fetch = segment_of(first, segment, made.bytes);
    return made;
  }
  uint32_t group = kind == COALESCE_FERMI && lane_bytes > 4 ? WARP_LANES * 4 / lane_bytes : WARP_LANES;
  made.lanes = lanes_in(m, address, left & lane_range(lane, group), first, (uint32_t)__builtin_ctz(LINE_BYTES), lane_bytes, &made.bytes);
  made.fetch = sectors_of(made.bytes);
  return made;
}
