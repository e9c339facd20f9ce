// Special registers: what S2R and its kin read.
#ifndef REDOUBT_PARTS_SPECIAL_H
#define REDOUBT_PARTS_SPECIAL_H

#include "machine/parts/block.h"

// What the values depend on beyond the block.
typedef struct SpecialContext {
  const Launch *launch;
  const BlockLayout *layout;
  const Block *block;
  uint32_t warp;
  uint32_t sm, sm_count;
  uint64_t clock;       // cycles so far
  uint64_t nanoseconds; // simulated time
} SpecialContext;

// Writes the value of every lane in `active` to the row (two rows when registers is 2).
void special_read(const SpecialContext *context, uint32_t number, unsigned registers, uint32_t active, uint32_t *rows);

// Thread index of a lane, as %tid has it.
void special_thread(const Launch *launch, uint32_t warp, unsigned lane, uint32_t thread[3]);

#endif
