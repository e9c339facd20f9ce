// --check races: accesses of different warps to the same bytes of shared or global memory that nothing puts in order. At least one of
// them writes, and not both are atomic or volatile. What puts two accesses in order:
//   a barrier of the block between them, for warps of one block;
//   a fence, an atomic or a volatile access of both sides after the first access: of both warps, or of both blocks if they are different.
// So a race that some other synchronisation happens to stand beside is not found; what is found is one. Lanes of one warp are taken to go
// on together. The first access that is kept of a word is the last write, and the last reads of two warps.
#ifndef REDOUBT_RACE_CHECK_H
#define REDOUBT_RACE_CHECK_H

#include "machine/machine.h"

typedef struct RaceCheck RaceCheck;
// The access that an access races with.
typedef struct RaceOther {
  uint32_t block, warp, pc; // linear; in the block
  bool wrote;
} RaceOther;

RaceCheck *race_check_new(Arena *arena);
void race_check_begin(RaceCheck *check, const Launch *launch);
void race_check_end(RaceCheck *check);
void race_check_step(RaceCheck *check, const WatchedStep *step);
// True: this access of the step told last races with *other. `owner`: the block whose shared memory it is.
bool race_check_touch(RaceCheck *check, Space space, uint32_t owner, uint64_t address, uint32_t bytes, unsigned how, RaceOther *other);

#endif
