// What the files of reissue for direct compute share: its options, its structures. See reissue_blocks.c for the source and the readings.
#ifndef REDOUBT_PROTECT_REISSUE_BLOCKS_H
#define REDOUBT_PROTECT_REISSUE_BLOCKS_H

#include "protect/protect_internal.h"

typedef enum BlocksCells {
  // Of each place for a block, sm * block_slots + block slot. A pair of copies goes by the place of its first copy.
  CELLS_STATE, // PLACE_ bits
  CELLS_BLOCK, // index in the grid
  CELLS_PEER,  // 1 + place of the other copy; 0: not there yet
  CELLS_TIME,  // low bits of the cycles in which it began and ended
  CELLS_LINES, // that it holds; of the first copy also those that the pair has taken of the comparators' room
  CELLS_AGAIN, // blocks that were reissued and have not ended: 1 + index; how often, or AGAIN_ALONE
  // Of each SM, and of the dispatcher
  CELLS_TAKEN, // places taken
  CELLS_CORE,  // CORE_ fields
  // Of each entry of a partition's comparator
  CELLS_FULL, // the full/empty bit of the sector
  CELLS_KEY,  // 1 + place of the pair, and number of the sector; 0: no entry
  CELLS_MASK, // bytes
  CELLS_DATA,
  CELLS_USED, // of each partition: entries that are or were in use, from the first on
  CELLS_COUNT
} BlocksCells;

enum {
  PLACE_LIVE = 1,    // a copy of a covered block is here
  PLACE_MIRROR = 2,  // the second copy
  PLACE_ENDED = 4,   // it has ended and holds its stores
  PLACE_SENDING = 8, // they are on their way to be compared
  PLACE_SENT = 16,   // all have been
  PLACE_WRONG = 32,  // first copy: something differed
  PLACE_AGREED = 64, // nothing did
  PLACE_GONE = 128,  // to be abandoned: it is over, or is to run again
  PLACE_TOLD = 256,  // the machine knows what to do with it
  PLACE_BITS = 9
};
// Of the dispatcher. PENDING: 1 + place whose second copy is to go out next. SERIAL: 1 + place of the block that runs while no other does.
enum { CORE_COVERS, CORE_PENDING, CORE_CREDIT, CORE_SLOTS, CORE_HALT, CORE_SERIAL, CORE_WRITING, CORE_STARTED, CORE_STALE, CORE_FIELDS };
enum { SERIAL_FROM = 2 }; // reissue of a block from which on nothing else runs beside it
enum { LINES_HELD, LINES_CREDIT };
enum { AGAIN_ALONE = 255 };
enum { SECTOR_BYTES = 32, SECTOR_WORDS = 8, LINE_SECTORS = 4 };

typedef struct Blocks {
  uint32_t lines;    // room of an SM for held stores
  uint32_t sectors;  // entries of a partition's comparator
  uint32_t tries;    // reissues of a block before the launch ends
  uint32_t patience; // a copy is late when it has run so many times as long as the other, and 20,000 cycles
  bool waves;        // blocks write what they hold when all that run have agreed; else each as soon as its copies have
  bool same;         // both copies may run on one SM
  bool strict;       // kernels that cannot be covered are not run
  // Of the machine
  uint32_t sms, block_slots, places, partitions;
  uint16_t cells[CELLS_COUNT];
} Blocks;

static inline uint64_t *blocks_at(const Blocks *own, const HookMachine *machine, BlocksCells cells, uint64_t row) {
  const Region *region = &machine->regions->items[own->cells[cells]];
  return (uint64_t *)(void *)(machine->block + region->base + row * region->row_bytes);
}
static inline uint64_t *blocks_core(const Blocks *own, const HookMachine *machine) { return blocks_at(own, machine, CELLS_CORE, 0); }

// reissue_sectors.c: the comparators at the partitions.
bool sectors_compare(const Blocks *own, HookMachine *machine, uint32_t pair,
                     const MemoryEvent *event);                                      // false: they differ, or there is no room
bool sectors_are_left(const Blocks *own, const HookMachine *machine, uint32_t pair); // full: only one copy has stored them
void sectors_forget(const Blocks *own, const HookMachine *machine, uint32_t pair);

// reissue_cover.c: which kernels can be covered.
bool reissue_covers(const Hook *hook, const Program *program, const char *kernel, Text *why);

#endif
