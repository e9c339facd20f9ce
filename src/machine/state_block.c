// The block that a machine's state lies in, and layouts of clones; see snapshot.h.
#include "machine/snapshot.h"

#include <stdlib.h>

uint8_t *state_block_new(size_t bytes) {
  uint8_t *block = aligned_alloc(64, align_up(bytes, 64));
  ASSERT(block != NULL);
  return block;
}

uint8_t *state_block_moved(uint8_t *block, size_t bytes) {
  uint8_t *fresh = state_block_new(bytes);
  memcpy(fresh, block, bytes);
  memset(block, 0xA5, bytes); // whoever still points there shall notice
  free(block);
  return fresh;
}

void state_layout_copy(Arena *arena, const StateLayout *from, StateLayout *to, RegionTable *regions) {
  Region *items = ARENA_ARRAY(arena, Region, from->regions->count);
  ByteRange *hashed = ARENA_ARRAY(arena, ByteRange, from->hashed_count);
  memcpy(items, from->regions->items, from->regions->count * sizeof *items);
  memcpy(hashed, from->hashed, from->hashed_count * sizeof *hashed);
  *regions = (RegionTable){items, from->regions->count, from->regions->block_bytes};
  *to = (StateLayout){.regions = regions, .hashed = hashed, .hashed_count = from->hashed_count};
}
