// What of the structures is used: the faults that a campaign with --draw used draws from. A fault is left out only if the run without faults (same
// schemes, same standing fault) reads none of the units that it strikes before it has written them; of faults that last: if it reads none of
// them from their onset on. Until the first such read the struck run is the fault-free one, so what is left out is masked, exactly.
// How much is used is counted in places: a unit of a row in a cycle of the window (of faults that strike several units of a row: a row in a
// cycle). Only structures all of whose accesses are told are counted; of the others everything counts as used.
//
// One run without faults counts and draws: each fault looks for a place of its own while places come by. The first is taken; the place after
// r takes over with a chance of 1 in r + 1. So each is as likely as any other in the end, however many there are, and which one it is
// depends on the seed, the structure's name, the fault's number in it and the run alone.
#ifndef REDOUBT_USED_H
#define REDOUBT_USED_H

#include "campaign/campaign_internal.h"

// A stretch of cycles of the window: a launch, or what lies between two of them.
typedef struct UsedStretch {
  uint64_t first, end; // cycles
  uint32_t launch;     // 0: none
} UsedStretch;

typedef struct UsedStructure {
  uint16_t region;
  bool is_told; // false: all of it counts as used
  bool by_row;  // the fault may strike any unit of its row: a place is a row in a cycle
  bool lasts;
  StructurePart part;
  uint64_t seed;
  uint64_t rows_units; // places in each cycle
  uint64_t used;       // places
  uint64_t slices[JOURNAL_SLICES];
} UsedStructure;

// A fault that looks for its place.
typedef struct UsedSeek {
  uint64_t number; // of the fault in its structure
  uint64_t next;   // place that takes over, from 1
  uint64_t row, cycle;
  uint32_t structure, unit, turn;
  bool is_found;
} UsedSeek;

// Plain data in one piece, which goes to the program's process and back where that is another: after it come the stretches, for each structure the
// places of each stretch, and the seeks.
typedef struct UsedSpace {
  uint64_t bytes;
  uint32_t structure_count, stretch_count, seek_count;
  uint64_t first_id;                 // of the seeks, one after the other
  uint64_t cycles;                   // of the window
  uint64_t slice_first, slice_until; // the cycles that slices divide
  bool is_filled;                    // by another process
  UsedStructure structures[MOST_STRUCTURES];
} UsedSpace;

// For faults [first_id, first_id + count) of a population; in the arena.
UsedSpace *used_new(const Population *population, const RegionTable *table, uint64_t first_id, uint32_t count, Arena *arena);
// The observer of the run, and after that run: what it has seen is in the space.
Hook *used_watch(UsedSpace *space, const RegionTable *table, Arena *arena);
bool used_any_told(const UsedSpace *space); // else no run is needed
const UsedSeek *used_seek(const UsedSpace *space, uint64_t id);
// Share of the places that are used: of a structure, in a stretch of it, in a slice of time. 1 where accesses are not told; of a stretch or slice
// without cycles of the window 0.
double used_share(const UsedSpace *space, uint32_t structure);
double used_share_in_stretch(const UsedSpace *space, uint32_t structure, uint32_t stretch);
double used_share_in_slice(const UsedSpace *space, uint32_t structure, uint32_t slice);
const UsedStretch *used_stretch(const UsedSpace *space, uint32_t stretch);
static inline uint64_t used_slice_start(const UsedSpace *space, uint32_t slice) {
  return space->slice_first + (space->slice_until - space->slice_first) * slice / JOURNAL_SLICES;
}

#endif
