// How a violation becomes a trap that a person can act on: what was wrong with the address, and whose it was.
#ifndef REDOUBT_PARTS_VIOLATION_H
#define REDOUBT_PARTS_VIOLATION_H

#include "machine/parts/access.h"

// Starts a trap from a violation. Illegal addresses without a note get one: how far from which allocation, or the space's size.
void violation_describe(const AccessViolation *violation, const MemoryView *view, const char *note, Trap *trap);
// Adds the place: kernel, function, line, block, thread.
void violation_locate(const Launch *launch, const uint32_t block[3], uint32_t warp, unsigned lane, uint32_t pc, Trap *trap);
// Does the violation mean that a recursive kernel's stack was too small? Frames are reached through r0, which holds the frame: past the end,
// the access was through it, or to an array of a frame that has no room. frame: the thread's r0.
bool violation_outgrows(const AccessViolation *violation, const Launch *launch, uint32_t pc, bool through_frame, uint32_t frame,
                        uint64_t local_bytes);

#endif
