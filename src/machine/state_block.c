// The block that a machine's state lies in, and layouts of clones; see snapshot.h.
#include "machine/pages.h"
#include "machine/snapshot.h"

#include <errno.h>
#include <sys/mman.h>

static const size_t STATE_MOST_BYTES = (size_t)4 << 30;

static size_t room_for(size_t bytes) { return (size_t)align_up(bytes, HOST_PAGE); }

// The kernel's pages are zero, and those that nobody touches cost nothing.
uint8_t *state_block_new(size_t bytes) {
  void *block = mmap(NULL, room_for(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT(block != MAP_FAILED);
  return block;
}

// The structure that takes most of it.
static const Region *largest(const RegionTable *regions) {
  const Region *most = &regions->items[0];
  for (uint32_t i = 1; i < regions->count; i++) {
    if (region_bits(&regions->items[i]) > region_bits(most)) most = &regions->items[i];
  }
  return most;
}

uint8_t *state_block_make(const RegionTable *regions, Diags *diags) {
  size_t bytes = regions->block_bytes;
  if (bytes > STATE_MOST_BYTES) {
    diags_add(diags, NULL, 0, 0, "the machine's structures have %zu bytes, most of them '%s': at most %zu are simulated", bytes,
              largest(regions)->name, STATE_MOST_BYTES);
    return NULL;
  }
  void *block = mmap(NULL, room_for(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) return block;
  diags_add(diags, NULL, 0, 0, "there is no memory for the machine's structures, which have %zu bytes, most of them '%s': %s", bytes,
            largest(regions)->name, strerror(errno));
  return NULL;
}

void state_block_free(uint8_t *block, size_t bytes) {
  if (block != NULL) munmap(block, room_for(bytes));
}

uint8_t *state_block_moved(uint8_t *block, size_t bytes) {
  uint8_t *fresh = state_block_new(bytes);
  memcpy(fresh, block, bytes);
  state_block_free(block, bytes); // whoever still points there will notice
  return fresh;
}

void state_layout_copy(Arena *arena, const StateLayout *from, StateLayout *to, RegionTable *regions) {
  Region *items = ARENA_ARRAY(arena, Region, from->regions->count);
  ByteRange *hashed = ARENA_ARRAY(arena, ByteRange, from->hashed_count);
  memcpy(items, from->regions->items, from->regions->count * sizeof *items);
  memcpy(hashed, from->hashed, from->hashed_count * sizeof *hashed);
  *regions = (RegionTable){items, from->regions->count, from->regions->block_bytes};
  *to = *from;
  to->regions = regions;
  to->hashed = hashed;
}
