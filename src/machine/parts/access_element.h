// One element of one lane between memory and its register; shared by the lane-by-lane and the bulk transfers.
#ifndef REDOUBT_PARTS_ACCESS_ELEMENT_H
#define REDOUBT_PARTS_ACCESS_ELEMENT_H

#include "machine/parts/access.h"

// `bytes` is a constant in every caller's copy, so that one of the cases remains.
static inline __attribute__((always_inline)) void element_in(uint32_t *row, unsigned lane, const uint8_t *from, unsigned bytes, bool sign) {
  uint16_t half;
  switch (bytes) {
  case 1: row[lane] = sign ? (uint32_t)(int32_t)(int8_t)from[0] : from[0]; break;
  case 2:
    memcpy(&half, from, 2);
    row[lane] = sign ? (uint32_t)(int32_t)(int16_t)half : half;
    break;
  case 4: memcpy(&row[lane], from, 4); break;
  default:
    memcpy(&row[lane], from, 4);
    memcpy(&row[WARP_LANES + lane], from + 4, 4);
    break;
  }
}

static inline __attribute__((always_inline)) void element_out(const uint32_t *row, unsigned lane, uint8_t *to, unsigned bytes) {
  uint16_t half = (uint16_t)row[lane];
  switch (bytes) {
  case 1: to[0] = (uint8_t)row[lane]; break;
  case 2: memcpy(to, &half, 2); break;
  case 4: memcpy(to, &row[lane], 4); break;
  default:
    memcpy(to, &row[lane], 4);
    memcpy(to + 4, &row[WARP_LANES + lane], 4);
    break;
  }
}

#endif
