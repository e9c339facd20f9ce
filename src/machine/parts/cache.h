// A set-associative cache that holds its data, and its miss registers. Used as L1 data, constant, texture,
// instruction and L2 cache, with or without sectors. A line has what hardware has: a valid bit for each sector, a dirty bit for each byte,
// and its place in the order of use. A byte is there if its sector is valid or the byte is dirty, so that stores need not fetch the
// rest (write-validate); a sector of which all bytes are there becomes valid.
//
// Lines are allocated when they are filled or written. An owner that must reserve one pins it: a pinned line is no victim.
// Plain data: part of a machine's block, where any bits of lines and miss registers are legal. Emptying a line clears its valid and
// dirty bits alone: tag and data stay what they are, and a flip that makes the line valid brings them back. Finding changes nothing: whoever
// uses a line touches it, and the line that was touched longest ago is the victim. Tags, what is known of lines, and data are arrays of their own: looking for a line reads the tags of its
// set, side by side, and nothing else of the other ways.
#ifndef REDOUBT_PARTS_CACHE_H
#define REDOUBT_PARTS_CACHE_H

#include "machine/parts/rows.h"

enum { LINE_BYTES = 128, LINE_WORDS = LINE_BYTES / 4, MSHR_MOST_WAITERS = 16, MSHR_MOST = 256 };

// Which bytes of a 128-byte line: bit i of the 128 = byte i.
typedef struct ByteMask {
  uint64_t half[2];
} ByteMask;

static inline bool bytes_any(ByteMask mask) { return (mask.half[0] | mask.half[1]) != 0; }
static inline ByteMask bytes_and(ByteMask a, ByteMask b) { return (ByteMask){{a.half[0] & b.half[0], a.half[1] & b.half[1]}}; }
static inline ByteMask bytes_or(ByteMask a, ByteMask b) { return (ByteMask){{a.half[0] | b.half[0], a.half[1] | b.half[1]}}; }
static inline ByteMask bytes_but(ByteMask a, ByteMask b) { return (ByteMask){{a.half[0] & ~b.half[0], a.half[1] & ~b.half[1]}}; }
static inline bool bytes_cover(ByteMask all, ByteMask part) { return !bytes_any(bytes_but(part, all)); }
static inline ByteMask bytes_from(uint32_t first, uint32_t count) {
  ByteMask mask = {{0, 0}};
  uint32_t last = min_u32(first + min_u32(count, LINE_BYTES), LINE_BYTES);
  for (uint32_t h = 0; h < 2; h++) {
    uint32_t from = max_u32(first, h * 64), to = min_u32(last, h * 64 + 64);
    if (from >= to) continue;
    uint64_t ones = to - from == 64 ? UINT64_MAX : (UINT64_C(1) << (to - from)) - 1;
    mask.half[h] = ones << (from & 63);
  }
  return mask;
}
uint32_t bytes_count(ByteMask mask);
// Words (bit i = bytes 4i..4i+3) with any byte in the mask; with all of them. Whole lines are most common.
uint32_t bytes_words_any_of(ByteMask mask);
uint32_t bytes_words_all_of(ByteMask mask);
static inline bool bytes_are_all(ByteMask mask) { return (mask.half[0] & mask.half[1]) == UINT64_MAX; }
static inline uint32_t bytes_words_any(ByteMask mask) { return bytes_are_all(mask) ? UINT32_MAX : bytes_words_any_of(mask); }
static inline uint32_t bytes_words_all(ByteMask mask) { return bytes_are_all(mask) ? UINT32_MAX : bytes_words_all_of(mask); }
void bytes_copy(void *to, const void *from, ByteMask mask); // both whole lines

typedef struct CacheShape {
  uint32_t sets, ways; // any positive numbers
  uint32_t line_bytes; // 32, 64 or 128
  uint32_t sector;     // bytes that one valid bit is for: 1, 32, 64 or 128
} CacheShape;
CacheShape cache_shape(uint64_t bytes, uint64_t ways, uint64_t line_bytes, uint64_t sector);
// Bits of a line's place in the order of its set: what true LRU takes; one at least.
uint32_t cache_order_bits(const CacheShape *shape);
// Bits of a tag where addresses have `address_bits`: what hardware would store.
uint32_t cache_tag_bits(const CacheShape *shape, uint32_t address_bits);
static inline uint32_t cache_lines(const CacheShape *shape) { return shape->sets * shape->ways; }

typedef struct CacheTag {
  uint64_t tag; // line address / line_bytes / sets; meaningless unless its line is valid
} CacheTag;
typedef struct CacheLine {
  uint32_t order;  // how many of its set were touched since it was, XOR its way: all lines may begin as zeros
  uint32_t pinned; // 1: reserved, no victim
  ByteMask valid;  // bit of the first byte of a sector: the sector is there
  ByteMask dirty;
} CacheLine;
typedef struct CacheData {
  uint32_t word[LINE_WORDS];
} CacheData;

// Of a cache, in the block: its sets * ways tags, lines and data.
typedef struct Cache {
  const CacheShape *shape;
  CacheTag *tags;
  CacheLine *lines;
  CacheData *data;
} Cache;

typedef enum CacheFind { CACHE_MISS, CACHE_PARTIAL, CACHE_HIT } CacheFind; // PARTIAL: the line is there, some bytes wanted are not

// `address` is any byte of the line. *index: the line, where it is there.
CacheFind cache_find(const Cache *cache, uint64_t address, ByteMask want, uint32_t *index);
// Where a new line of this address would go: an invalid way, else the least recently used. Pinned only if all ways are.
uint32_t cache_victim(const Cache *cache, uint64_t address);
void cache_touch(const Cache *cache, uint32_t index); // it was used last
// The line becomes one of this address, without a byte.
void cache_begin(const Cache *cache, uint32_t index, uint64_t address);
void cache_hold(const Cache *cache, uint32_t index, ByteMask bytes); // they have come, beside those that are there
// The tag that a line of this address has.
uint64_t cache_tag(const CacheShape *shape, uint64_t address);
uint64_t cache_line_address(const Cache *cache, uint32_t index);
static inline bool cache_line_valid(const CacheLine *line) { return bytes_any(bytes_or(line->valid, line->dirty)); }
static inline uint64_t sectors_spread(uint64_t valid, uint32_t sector) {
  return sector == 1 ? valid : sector == 32 ? (valid & UINT64_C(0x100000001)) * UINT32_MAX : 0 - (valid & 1);
}
// Bytes that are there.
static inline ByteMask cache_bytes(const CacheShape *shape, const CacheLine *line) {
  uint64_t low = sectors_spread(line->valid.half[0], shape->sector);
  uint64_t high = shape->sector == LINE_BYTES ? low : sectors_spread(line->valid.half[1], shape->sector);
  return (ByteMask){{low | line->dirty.half[0], high | line->dirty.half[1]}};
}
static inline void cache_empty(CacheLine *line) { // its tag and data stay what they are
  line->valid = line->dirty = (ByteMask){{0, 0}};
}

// A miss that is on its way, and who waits for it.
typedef struct MshrLine {
  uint64_t address; // of the line
} MshrLine;
typedef struct Mshr {
  uint64_t ready_at; // the owner's: when its data can be used
  ByteMask asked;    // bytes requested from below
  uint8_t stale;     // the line was written meanwhile: serves who waits, but is neither merged with nor filled. L2: waiters before a flush
  uint8_t waiters;
  uint8_t stage;    // L2: MemoryStage of those who wait
  uint8_t prefetch; // 1: asked for before anybody wanted it
  uint32_t line;    // the owner's: where the data will go
  uint32_t word;    // L2: the schemes', from the packet that brought the data
  uint32_t spare;
  uint32_t waiter[MSHR_MOST_WAITERS]; // meaning is the owner's
} Mshr;
typedef struct MshrUse {
  uint64_t bits[MSHR_MOST / 64]; // bit i: register i is in use
} MshrUse;

// The miss registers of a cache, in the block. Their addresses lie side by side: 32 at a time are compared, so as many entries less one,
// of any content, must follow the last.
typedef struct Mshrs {
  const RowFunctions *rows;
  MshrLine *lines;
  Mshr *registers;
  MshrUse *use;
  uint32_t count;
} Mshrs;
enum { MSHRS_BEHIND = WARP_LANES - 1 };

typedef enum MshrFind { MSHR_JOINED, MSHR_NEW, MSHR_FULL } MshrFind;
// Notes that `waiter` wants bytes of a line that is not there. JOINED: an outstanding request covers them. NEW: *index is a fresh
// register; send the request. FULL: no register, or no room to join: try again.
MshrFind mshr_want(const Mshrs *mshrs, uint32_t most_waiters, uint64_t line_address, ByteMask want, uint32_t waiter, uint32_t *index);
// The same without a waiter, for a line that nobody wants yet. JOINED: it is under way already. FULL: no register.
MshrFind mshr_prefetch(const Mshrs *mshrs, uint64_t line_address, ByteMask want, uint32_t *index);
// Joins a request that is under way and covers the bytes, or (false) does nothing.
bool mshr_join_only(const Mshrs *mshrs, uint32_t most_waiters, uint64_t line_address, ByteMask want, uint32_t waiter, uint32_t *index);
void mshr_mark_stale(const Mshrs *mshrs, uint64_t line_address);  // after a write to the line
uint32_t mshr_of_line(const Mshrs *mshrs, uint64_t line_address); // the first in use; `count` or more: none
uint32_t mshr_open(const Mshrs *mshrs);                           // the first that is free; `count` or more: none
void mshr_begin(const Mshrs *mshrs, uint32_t number, uint64_t line_address, const Mshr *fresh);
void mshr_end(const Mshrs *mshrs, uint32_t number); // it is free again
uint32_t mshr_waiters(const Mshr *mshr);            // how many of its waiters count
static inline bool mshr_is_used(const MshrUse *use, uint32_t number) { return (use->bits[number / 64] >> number % 64 & 1) != 0; }
static inline bool mshr_valid(const Mshrs *mshrs, uint32_t number) { return mshr_is_used(mshrs->use, number); }
uint32_t mshr_in_use(const Mshrs *mshrs);

#endif
