// Loops over the 32 lanes of a warp that machines with time run for every access: addresses, which lanes share a line, words to and from
// lanes. Built for several levels of the host's vector units and chosen at run time, as the lane functions of isa/ are; all give the same bits.
#ifndef REDOUBT_PARTS_ROWS_H
#define REDOUBT_PARTS_ROWS_H

#include "isa/isa.h"

// A valid stretch of addresses, [first, last], and where it lies.
typedef struct RowStretch {
  uint64_t first, last, to;
  uint64_t align; // bits that must be zero
  uint64_t rest;  // the address that lanes which do not take part stand for
} RowStretch;

typedef struct RowExtent {
  uint64_t least, most;
} RowExtent;

typedef struct RowFunctions {
  // Low and high words of low + high << 32 + offset; 0 where a lane does not take part. high NULL: 32-bit addresses.
  void (*add)(const uint32_t *low, const uint32_t *high, uint64_t offset, uint32_t lanes, uint32_t sum[2][WARP_LANES]);
  // Every lane's place in the stretch. False: some lane's address is outside or not aligned; the places are written all the same.
  bool (*translate)(const uint32_t address[2][WARP_LANES], uint32_t lanes, const RowStretch *stretch, uint64_t place[WARP_LANES]);
  // Both at once: the place of low + high << 32 + offset, of the stretch's `rest` where a lane does not take part.
  bool (*place)(const uint32_t *low, const uint32_t *high, uint64_t offset, uint32_t lanes, const RowStretch *stretch,
                uint64_t place[WARP_LANES]);
  // The lanes with (address & mask) == value.
  uint32_t (*matching)(const uint64_t address[WARP_LANES], uint64_t mask, uint64_t value);
  uint32_t (*due)(const uint64_t time[WARP_LANES], uint64_t now); // the lanes with time <= now
  // Bytes of a line of 128 that the lanes use, `bytes` each, a power of two up to 16.
  void (*bytes_of)(const uint64_t address[WARP_LANES], uint32_t lanes, uint32_t bytes, uint64_t half[2]);
  uint32_t (*words_of)(const uint64_t address[WARP_LANES]); // of a line of 128 bytes: that the lanes' addresses name, all lanes
  RowExtent (*extent)(const uint64_t address[WARP_LANES], uint32_t lanes); // of the lanes' addresses; lanes is not 0
  // to[lane] = from[address % 128 / 4] in those of the lanes whose word is one of `words`.
  void (*deliver)(const uint32_t from[WARP_LANES], uint32_t words, const uint64_t address[WARP_LANES], uint32_t lanes,
                  uint32_t to[WARP_LANES]);
  // to[lane] = from[(address & mask) / 4] in those lanes; the words' numbers are below 2^31.
  void (*gather)(const uint32_t *from, const uint64_t address[WARP_LANES], uint64_t mask, uint32_t lanes, uint32_t to[WARP_LANES]);
  void (*blend)(const uint32_t from[WARP_LANES], uint32_t lanes, uint32_t to[WARP_LANES]); // to[lane] = from[lane] in those lanes
  void (*count)(uint64_t counts[WARP_LANES], uint32_t lanes);                              // counts[lane]++ of those lanes
  // Rows and bits whose lanes stand in another order; of a place only the low five bits count.
  // to[lane] = from[place[lane]] in those lanes.
  void (*permute)(const uint32_t from[WARP_LANES], const uint8_t place[WARP_LANES], uint32_t lanes, uint32_t to[WARP_LANES]);
  uint32_t (*bits_from)(uint32_t bits, const uint8_t place[WARP_LANES]);           // bit `lane` is bit place[lane] of `bits`
  uint32_t (*bits_to)(uint32_t bits, const uint8_t place[WARP_LANES]);             // bit place[lane] is set where bit `lane` of `bits` is
  uint32_t (*differing)(const uint8_t a[WARP_LANES], const uint8_t b[WARP_LANES]); // the lanes in which they are not the same
  void (*bytes_from)(uint32_t bits, uint8_t bytes[WARP_LANES]);                    // all ones where the lane's bit is set, else 0
} RowFunctions;

extern const RowFunctions row_functions_baseline, row_functions_v3, row_functions_v4;
const RowFunctions *row_functions(void);        // the best for this processor
const RowFunctions *row_build(unsigned number); // 0 = baseline; NULL: not for this processor

#endif
