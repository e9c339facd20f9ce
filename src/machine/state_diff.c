// Hash of a machine's state, and what differs between two states, by name.
#include "machine/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint8_t zeros[HOST_PAGE];

// Part of a stretch, with its place. 0: all of it is zero.
static uint64_t hash_part(const uint8_t *block, size_t at, size_t bytes) {
  return memcmp(block + at, zeros, bytes) == 0 ? 0 : max_u64(hash_bytes(block + at, bytes, at), 1);
}

// Pages that were not written since their hash was kept need not be read.
static uint64_t hash_watched(const uint8_t *block, size_t at, size_t bytes, const WatchedPages *watched) {
  size_t page = at / HOST_PAGE;
  if (!page_is_in(watched->touched, page)) return 0;
  if (bytes < HOST_PAGE || page_is_in(watched->written, page)) return hash_part(block, at, bytes);
  if (!page_is_in(watched->hashed, page)) watched->hashes[page] = hash_part(block, at, bytes);
  watched->hashed[page / 64] |= UINT64_C(1) << page % 64;
  return watched->hashes[page];
}

static uint64_t hash_untold(const uint8_t *block, size_t at, size_t bytes, TouchedPages *touched) {
  size_t first = (size_t)(block + at - touched->at) / HOST_PAGE, last = (size_t)(block + at + bytes - 1 - touched->at) / HOST_PAGE;
  bool may_hold = touched_page(touched, first) || touched_page(touched, last);
  return may_hold ? hash_part(block, at, bytes) : 0;
}

// Parts end at multiples of a page from the block's start: the hash must not depend on where the block lies. Zeros add nothing, so that pages that were never
// touched need not be read.
uint64_t state_hash(const StateLayout *layout, const uint8_t *block, const WatchedPages *watched) {
  uint64_t hash = 0;
  TouchedPages touched = {.file = -1};
  if (watched == NULL) touched_begin(&touched, block, layout->regions->block_bytes);
  for (uint32_t i = 0; i < layout->hashed_count; i++) {
    size_t end = layout->hashed[i].offset + layout->hashed[i].bytes;
    for (size_t at = layout->hashed[i].offset, bytes; at < end; at += bytes) {
      bytes = min_u64(align_up(at + 1, HOST_PAGE), end) - at;
      uint64_t part = watched != NULL ? hash_watched(block, at, bytes, watched) : hash_untold(block, at, bytes, &touched);
      if (part != 0) hash = hash_bytes(&part, sizeof part, hash);
    }
  }
  touched_end(&touched);
  return hash;
}

// The differing bits of one region, taken out of `bits`, which has a 1 wherever the blocks differ.
static uint64_t take_region(const RegionTable *table, uint16_t index, uint8_t *bits, Site *first) {
  const Region *region = &table->items[index];
  uint64_t count = 0;
  for (uint64_t row = 0; row < region->rows; row++) {
    for (uint32_t unit = 0; unit < region->units; unit++) {
      uint8_t *at = bits + region->base + row * region->row_bytes + unit * region->unit_bytes;
      uint64_t differ = unit_get(region, at);
      if (differ == 0) continue;
      if (count == 0) *first = (Site){index, row, unit, (uint32_t)__builtin_ctzll(differ)};
      count += (uint64_t)__builtin_popcountll(differ);
      unit_set(region, at, 0);
    }
  }
  return count;
}

static void add_difference(const RegionTable *table, const Site *first, bool value, uint64_t count, Text *out) {
  site_format(table, first, out);
  text_add(out, ": %d and %d; %" PRIu64 " bit%s of %s differ%s\n", value, !value, count, count == 1 ? "" : "s",
           table->items[first->region].name, count == 1 ? "s" : "");
}

// State that no structure names: queues' bookkeeping, times.
static uint64_t take_rest(const RegionTable *table, const uint8_t *bits, Text *out) {
  uint64_t count = 0;
  size_t first = 0;
  for (size_t i = 0; i < table->block_bytes; i++) {
    if (bits[i] == 0) continue;
    if (count == 0) first = i;
    count += (uint64_t)__builtin_popcount(bits[i]);
  }
  if (count > 0) text_add(out, "byte %zu of the block: %" PRIu64 " bit%s that no structure names\n", first, count, count == 1 ? "" : "s");
  return count;
}

uint64_t state_diff(const StateLayout *layout, const uint8_t *a, const uint8_t *b, Text *out) {
  const RegionTable *table = layout->regions;
  if (memcmp(a, b, table->block_bytes) == 0) return 0;
  uint8_t *bits = calloc(1, table->block_bytes);
  ASSERT(bits != NULL);
  for (uint32_t i = 0; i < layout->hashed_count; i++) {
    const ByteRange *range = &layout->hashed[i];
    for (size_t k = range->offset; k < range->offset + range->bytes; k++) bits[k] = a[k] ^ b[k];
  }
  uint64_t total = 0;
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    Site first;
    if ((region->flags & (REGION_OUTSIDE | REGION_OUTPUT | REGION_STAT)) != 0) continue;
    uint64_t count = take_region(table, (uint16_t)i, bits, &first);
    if (count > 0) add_difference(table, &first, (a[site_byte(region, &first)] & site_mask(&first)) != 0, count, out);
    total += count;
  }
  total += take_rest(table, bits, out);
  free(bits);
  return total;
}
