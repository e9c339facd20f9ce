// How a simulated fault becomes a trap that a person can act on: what was wrong with the address, and whose it was.
#ifndef REDOUBT_PARTS_FAULT_H
#define REDOUBT_PARTS_FAULT_H

#include "machine/parts/access.h"

// Starts a trap from a fault. Illegal addresses without a note get one: how far from which allocation, or the space's size.
void fault_describe(const AccessFault *fault, const MemoryView *view, const char *note, Trap *trap);
// Adds the place: kernel, function, line, block, thread.
void fault_locate(const Launch *launch, const uint32_t block[3], uint32_t warp, unsigned lane, uint32_t pc, Trap *trap);

#endif
