// Set-associative caches and miss registers; see cache.h. A line is found by comparing all ways of its set, as hardware does;
// the way that was touched longest ago gives way. Only the bits that hardware would store decide: a flipped tag makes a line one
// of another address in the same set.
#include "machine/parts/cache.h"

// ---- Byte masks --------------------------------------------------------------------------------
static uint32_t count_bits(uint64_t x) { // faster than a call where the processor's own cannot be used
  x -= x >> 1 & UINT64_C(0x5555555555555555);
  x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
  return (uint32_t)(((x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F)) * UINT64_C(0x0101010101010101) >> 56);
}

uint32_t bytes_count(ByteMask mask) { return bytes_are_all(mask) ? LINE_BYTES : count_bits(mask.half[0]) + count_bits(mask.half[1]); }

// Bits 0, 4, 8 ... of x side by side.
static uint32_t every_fourth(uint64_t x) {
  x &= UINT64_C(0x1111111111111111);
  x = (x | x >> 3) & UINT64_C(0x0303030303030303);
  x = (x | x >> 6) & UINT64_C(0x000F000F000F000F);
  x = (x | x >> 12) & UINT64_C(0x000000FF000000FF);
  return (uint32_t)((x | x >> 24) & 0xFFFF);
}

uint32_t bytes_words_any_of(ByteMask mask) {
  uint32_t words[2];
  for (uint32_t h = 0; h < 2; h++) {
    uint64_t pairs = mask.half[h] | mask.half[h] >> 1;
    words[h] = every_fourth(pairs | pairs >> 2);
  }
  return words[0] | words[1] << 16;
}

uint32_t bytes_words_all_of(ByteMask mask) {
  uint32_t words[2];
  for (uint32_t h = 0; h < 2; h++) {
    uint64_t pairs = mask.half[h] & mask.half[h] >> 1;
    words[h] = every_fourth(pairs & pairs >> 2);
  }
  return words[0] | words[1] << 16;
}

void bytes_copy(void *to, const void *from, ByteMask mask) {
  uint8_t *target = to;
  const uint8_t *source = from;
  uint32_t whole = bytes_words_all(mask);
  if (whole == UINT32_MAX) {
    memcpy(target, source, LINE_BYTES);
    return;
  }
  for (uint32_t left = whole; left != 0; left &= left - 1) {
    uint32_t at = 4 * (uint32_t)__builtin_ctz(left);
    memcpy(target + at, source + at, 4);
  }
  for (uint32_t left = bytes_words_any(mask) & ~whole; left != 0; left &= left - 1) {
    uint32_t at = 4 * (uint32_t)__builtin_ctz(left);
    for (uint32_t i = at; i < at + 4; i++) {
      if ((mask.half[i / 64] >> i % 64 & 1) != 0) target[i] = source[i];
    }
  }
}

// ---- Lines ---------------------------------------------------------------------------------------
CacheShape cache_shape(uint64_t bytes, uint64_t ways, uint64_t line_bytes, uint64_t sector) {
  uint64_t line = line_bytes <= 32 ? 32 : line_bytes <= 64 ? 64 : LINE_BYTES;
  uint64_t lines = bytes / line;
  CacheShape shape = {.line_bytes = (uint32_t)line,
                      .sector = (uint32_t)(sector <= 1    ? 1
                                           : sector <= 32 ? 32
                                           : sector <= 64 ? 64
                                                          : LINE_BYTES)};
  if (lines == 0) return shape; // no cache
  uint64_t used_ways = min_u64(max_u64(ways, 1), lines);
  shape.sets = (uint32_t)(lines / used_ways);
  shape.ways = (uint32_t)used_ways;
  return shape;
}

uint32_t cache_order_bits(const CacheShape *shape) { return shape->ways <= 2 ? 1 : 32 - (uint32_t)__builtin_clz(shape->ways - 1); }

uint32_t cache_tag_bits(const CacheShape *shape, uint32_t address_bits) {
  uint64_t last = ((UINT64_C(1) << min_u32(address_bits, 63)) - 1) / shape->line_bytes / max_u32(shape->sets, 1);
  return last == 0 ? 1 : 64 - (uint32_t)__builtin_clzll(last);
}

// Set and tag of an address.
typedef struct Place {
  uint32_t set;
  uint64_t tag;
} Place;

static Place place_of(const CacheShape *shape, uint64_t address) {
  uint64_t number = address >> __builtin_ctz(shape->line_bytes);
  uint32_t sets = shape->sets;
  if ((sets & (sets - 1)) == 0) return (Place){(uint32_t)number & (sets - 1), number >> __builtin_ctz(sets)};
  return (Place){(uint32_t)(number % sets), number / sets};
}

uint64_t cache_tag(const CacheShape *shape, uint64_t address) { return place_of(shape, address).tag; }

CacheFind cache_find(const Cache *cache, uint64_t address, ByteMask want, uint32_t *index) {
  const CacheShape *shape = cache->shape;
  if (shape->sets == 0) return CACHE_MISS;
  Place place = place_of(shape, address);
  uint32_t first = place.set * shape->ways;
  for (uint32_t i = first; i < first + shape->ways; i++) {
    if (cache->tags[i].tag != place.tag) continue;
    ByteMask there = cache_bytes(shape, &cache->lines[i]);
    if (!bytes_any(there)) continue;
    *index = i;
    return bytes_cover(there, want) ? CACHE_HIT : CACHE_PARTIAL;
  }
  return CACHE_MISS;
}

uint32_t cache_victim(const Cache *cache, uint64_t address) {
  const CacheLine *lines = cache->lines;
  uint32_t ways = cache->shape->ways, first = place_of(cache->shape, address).set * ways, best = first;
  bool is_pinned = true;
  uint32_t oldest = 0;
  for (uint32_t way = 0; way < ways; way++) {
    const CacheLine *line = &lines[first + way];
    if (line->pinned != 0) continue;
    if (!cache_line_valid(line)) return first + way;
    if (!is_pinned && (line->order ^ way) <= oldest) continue;
    best = first + way;
    oldest = line->order ^ way;
    is_pinned = false;
  }
  return best;
}

// After a flip two lines of a set may have the same place; it stays within the bits that there are.
void cache_touch(const Cache *cache, uint32_t index) {
  uint32_t ways = cache->shape->ways, own = index % ways, place = cache->lines[index].order ^ own;
  CacheLine *lines = &cache->lines[index - own];
  if (place == 0) return;
  for (uint32_t way = 0; way < ways; way++) {
    uint32_t other = lines[way].order ^ way;
    if (other < place) lines[way].order = (other + 1) ^ way;
  }
  lines[own].order = own;
}

void cache_begin(const Cache *cache, uint32_t index, uint64_t address) {
  cache->tags[index].tag = cache_tag(cache->shape, address);
  cache_empty(&cache->lines[index]);
}

// A bit for each sector of half a line, at its first byte, all bytes of which are in the mask.
static uint64_t whole_sectors(uint64_t bytes, uint32_t sector) {
  if (sector == 1) return bytes;
  if (sector > 32) return bytes == UINT64_MAX ? 1 : 0;
  for (uint32_t shift = 1; shift < 32; shift *= 2) bytes &= bytes >> shift;
  return bytes & UINT64_C(0x100000001);
}

void cache_hold(const Cache *cache, uint32_t index, ByteMask bytes) {
  const CacheShape *shape = cache->shape;
  CacheLine *line = &cache->lines[index];
  uint32_t sector = shape->sector;
  ByteMask there = bytes_or(cache_bytes(shape, line), bytes);
  uint64_t low = whole_sectors(there.half[0], sector), high = whole_sectors(there.half[1], sector);
  if (shape->line_bytes == 32 && sector > 1) low &= 1;
  line->valid = sector == LINE_BYTES ? (ByteMask){{shape->line_bytes == LINE_BYTES ? low & high : low, 0}} : (ByteMask){{low, high}};
}

uint64_t cache_line_address(const Cache *cache, uint32_t index) {
  return (cache->tags[index].tag * cache->shape->sets + index / cache->shape->ways) * cache->shape->line_bytes;
}

// ---- Miss registers --------------------------------------------------------------------------------
uint32_t mshr_waiters(const Mshr *mshr) { return min_u32(mshr->waiters, MSHR_MOST_WAITERS); }

// Of the 32 registers from `first` on, those in use for this line.
static uint32_t matching(const Mshrs *mshrs, uint32_t first, uint64_t line_address) {
  uint32_t used = (uint32_t)(mshrs->use->bits[first / 64] >> first % 64);
  if (used == 0) return 0;
  return mshrs->rows->matching((const uint64_t *)(const void *)&mshrs->lines[first], UINT64_MAX, line_address) & used;
}

uint32_t mshr_of_line(const Mshrs *mshrs, uint64_t line_address) {
  for (uint32_t first = 0; first < mshrs->count; first += WARP_LANES) {
    uint32_t found = matching(mshrs, first, line_address);
    if (found != 0) return first + (uint32_t)__builtin_ctz(found);
  }
  return MSHR_MOST;
}

uint32_t mshr_open(const Mshrs *mshrs) {
  for (uint32_t w = 0; w * 64 < mshrs->count; w++) {
    uint64_t open = ~mshrs->use->bits[w];
    if (open != 0) return w * 64 + (uint32_t)__builtin_ctzll(open);
  }
  return MSHR_MOST;
}

void mshr_begin(const Mshrs *mshrs, uint32_t number, uint64_t line_address, const Mshr *fresh) {
  mshrs->lines[number].address = line_address;
  mshrs->registers[number] = *fresh;
  mshrs->use->bits[number / 64] |= UINT64_C(1) << number % 64;
}

void mshr_end(const Mshrs *mshrs, uint32_t number) {
  mshrs->lines[number].address = 0;
  mshrs->registers[number] = (Mshr){0};
  mshrs->use->bits[number / 64] &= ~(UINT64_C(1) << number % 64);
}

// The first register that covers the bytes; MSHR_MOST: none.
static uint32_t covering(const Mshrs *mshrs, uint64_t line_address, ByteMask want) {
  for (uint32_t first = 0; first < mshrs->count; first += WARP_LANES) {
    for (uint32_t left = matching(mshrs, first, line_address); left != 0; left &= left - 1) {
      uint32_t number = first + (uint32_t)__builtin_ctz(left);
      const Mshr *mshr = &mshrs->registers[number];
      if (mshr->stale == 0 && bytes_cover(mshr->asked, want)) return number;
    }
  }
  return MSHR_MOST;
}

static MshrFind mshr_join(Mshr *mshr, uint32_t most_waiters, uint32_t waiter) {
  uint32_t waiters = mshr_waiters(mshr);
  if (waiters >= min_u32(most_waiters, MSHR_MOST_WAITERS)) return MSHR_FULL;
  mshr->waiter[waiters] = waiter;
  mshr->waiters = (uint8_t)(waiters + 1);
  return MSHR_JOINED;
}

MshrFind mshr_want(const Mshrs *mshrs, uint32_t most_waiters, uint64_t line_address, ByteMask want, uint32_t waiter, uint32_t *index) {
  uint32_t found = covering(mshrs, line_address, want), open = found < mshrs->count ? found : mshr_open(mshrs);
  if (open >= mshrs->count) return MSHR_FULL;
  *index = open;
  if (open == found) return mshr_join(&mshrs->registers[found], most_waiters, waiter);
  mshr_begin(mshrs, open, line_address, &(Mshr){.asked = want, .waiters = 1, .waiter = {waiter}});
  return MSHR_NEW;
}

MshrFind mshr_prefetch(const Mshrs *mshrs, uint64_t line_address, ByteMask want, uint32_t *index) {
  uint32_t found = covering(mshrs, line_address, want), open = found < mshrs->count ? found : mshr_open(mshrs);
  if (open >= mshrs->count) return MSHR_FULL;
  *index = open;
  if (open == found) return MSHR_JOINED;
  mshr_begin(mshrs, open, line_address, &(Mshr){.asked = want, .prefetch = 1});
  return MSHR_NEW;
}

bool mshr_join_only(const Mshrs *mshrs, uint32_t most_waiters, uint64_t line_address, ByteMask want, uint32_t waiter, uint32_t *index) {
  uint32_t found = covering(mshrs, line_address, want);
  if (found >= mshrs->count) return false;
  *index = found;
  return mshr_join(&mshrs->registers[found], most_waiters, waiter) == MSHR_JOINED;
}

void mshr_mark_stale(const Mshrs *mshrs, uint64_t line_address) {
  for (uint32_t first = 0; first < mshrs->count; first += WARP_LANES) {
    for (uint32_t left = matching(mshrs, first, line_address); left != 0; left &= left - 1)
      mshrs->registers[first + (uint32_t)__builtin_ctz(left)].stale = 1;
  }
}

uint32_t mshr_in_use(const Mshrs *mshrs) {
  uint32_t used = 0;
  for (uint32_t i = 0; i < mshrs->count; i++) used += mshr_valid(mshrs, i) ? 1 : 0;
  return used;
}
