// Hash of a machine's state, and what differs between two states, by name.
#include "machine/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

static const uint8_t zeros[HOST_PAGE];

static uint64_t word_at(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

// A field's word in a copy of the state becomes what it means.
static void reduce_word(const StateField *field, uint8_t *at, uint64_t now) {
  if (field->kind != FIELD_UNTIL || word_at(at) <= now * field->scale) memset(at, 0, sizeof(uint64_t));
}

static void reduce_field(const StateField *field, size_t at, size_t bytes, uint64_t now, uint8_t copy[HOST_PAGE]) {
  size_t width = field->words * sizeof(uint64_t), end = field->offset + field->count * field->stride;
  size_t element = at < field->offset ? field->offset : field->offset + (at - field->offset) / field->stride * field->stride;
  for (; element < min_u64(at + bytes, end); element += field->stride) {
    for (size_t word = element; word < element + width; word += sizeof(uint64_t)) {
      if (word >= at && word < at + bytes) reduce_word(field, copy + (word - at), now);
    }
  }
}

typedef enum Reduced { REDUCED_NOT, REDUCED, REDUCED_BY_TIME } Reduced; // BY_TIME: another cycle may give something else

// A copy of part of a stretch in which fields are what they mean. Words do not lie across the ends of parts.
static Reduced reduce(const StateLayout *layout, const uint8_t *block, size_t at, size_t bytes, uint8_t copy[HOST_PAGE]) {
  Reduced reduced = REDUCED_NOT;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const StateField *field = &layout->fields[i];
    if (at + bytes <= field->offset || at >= field->offset + field->count * field->stride) continue;
    if (reduced == REDUCED_NOT) memcpy(copy, block + at, bytes);
    reduce_field(field, at, bytes, word_at(block + layout->clock), copy);
    reduced = max_u32(reduced, field->kind == FIELD_UNTIL ? REDUCED_BY_TIME : REDUCED);
  }
  return reduced;
}

// Part of a stretch, with its place. 0: all of it is zero.
static uint64_t hash_part(const StateLayout *layout, const uint8_t *block, size_t at, size_t bytes, bool *is_by_time) {
  uint8_t copy[HOST_PAGE];
  Reduced reduced = reduce(layout, block, at, bytes, copy);
  const uint8_t *from = reduced == REDUCED_NOT ? block + at : copy;
  *is_by_time = reduced == REDUCED_BY_TIME;
  return memcmp(from, zeros, bytes) == 0 ? 0 : max_u64(hash_bytes(from, bytes, at), 1);
}

// Pages that were not written since their hash was kept need not be read.
static uint64_t hash_watched(const StateLayout *layout, const uint8_t *block, size_t at, size_t bytes, const WatchedPages *watched) {
  size_t page = at / HOST_PAGE;
  bool is_by_time;
  if (!page_is_in(watched->touched, page)) return 0;
  if (bytes < HOST_PAGE || page_is_in(watched->written, page)) return hash_part(layout, block, at, bytes, &is_by_time);
  if (page_is_in(watched->hashed, page)) return watched->hashes[page];
  uint64_t hash = hash_part(layout, block, at, bytes, &is_by_time);
  if (is_by_time) return hash;
  watched->hashes[page] = hash;
  watched->hashed[page / 64] |= UINT64_C(1) << page % 64;
  return hash;
}

// What is known of the pages of a block: by somebody who watches it, else by the host. Asked for in ascending order, twice.
typedef struct BlockPages {
  const uint8_t *block;
  const WatchedPages *watched; // NULL: nobody does
  TouchedPages touched;
} BlockPages;

static BlockPages pages_of(const StateLayout *layout, const uint8_t *block, const WatchedPages *watched) {
  BlockPages pages = {.block = block, .watched = watched, .touched = {.file = -1}};
  if (watched == NULL) touched_begin(&pages.touched, block, layout->regions->block_bytes);
  return pages;
}

// A stretch that lies in at most two pages.
static bool may_hold(BlockPages *pages, size_t at, size_t bytes) {
  if (pages->watched != NULL)
    return page_is_in(pages->watched->touched, at / HOST_PAGE) || page_is_in(pages->watched->touched, (at + bytes - 1) / HOST_PAGE);
  size_t first = (size_t)(pages->block + at - pages->touched.at) / HOST_PAGE;
  size_t last = (size_t)(pages->block + at + bytes - 1 - pages->touched.at) / HOST_PAGE;
  return touched_page(&pages->touched, first) || touched_page(&pages->touched, last);
}

// Parts end at multiples of a page from the block's start: the hash must not depend on where the block lies. Zeros add nothing, so that pages that were never
// touched need not be read.
uint64_t state_hash(const StateLayout *layout, const uint8_t *block, const WatchedPages *watched) {
  uint64_t hash = 0;
  bool is_by_time;
  BlockPages pages = pages_of(layout, block, watched);
  for (uint32_t i = 0; i < layout->hashed_count; i++) {
    size_t end = layout->hashed[i].offset + layout->hashed[i].bytes;
    for (size_t at = layout->hashed[i].offset, bytes; at < end; at += bytes) {
      bytes = min_u64(align_up(at + 1, HOST_PAGE), end) - at;
      uint64_t part = watched != NULL               ? hash_watched(layout, block, at, bytes, watched)
                      : may_hold(&pages, at, bytes) ? hash_part(layout, block, at, bytes, &is_by_time)
                                                    : 0;
      if (part != 0) hash = hash_bytes(&part, sizeof part, hash);
    }
  }
  touched_end(&pages.touched);
  return hash;
}

uint64_t state_digest(const StateLayout *layout, const uint8_t *block) {
  uint64_t digest = 1;
  bool is_by_time;
  size_t at = layout->hashed[0].offset, end = at + layout->digest;
  for (size_t bytes; at < end; at += bytes) {
    bytes = min_u64(align_up(at + 1, HOST_PAGE), end) - at;
    uint64_t part = hash_part(layout, block, at, bytes, &is_by_time);
    digest = hash_bytes(&part, sizeof part, digest);
  }
  return max_u64(digest, 1);
}

// The differing bits of one region, taken out of `bits`, which has a 1 wherever the blocks differ.
static uint64_t take_region(const RegionTable *table, uint16_t index, uint8_t *bits, Site *first) {
  const Region *region = &table->items[index];
  uint64_t count = 0;
  for (uint64_t row = 0; row < region->rows; row++) {
    for (uint32_t unit = 0; unit < region->units; unit++) {
      uint8_t *at = bits + region_row_at(region, row) + unit * region->unit_bytes;
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
