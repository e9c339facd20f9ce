// Random upsets at a rate, for runs: what a protection costs as faults become more.
#ifndef REDOUBT_UPSETS_H
#define REDOUBT_UPSETS_H

#include "fault/fault.h"

// "1000:temp,pc" or "1000:temp,pc:7": in every 1000 cycles a bit of these structures flips; 7 is the seed. For one machine. NULL: a diagnostic says why.
Hook *upsets_new(const char *text, Arena *arena, Diags *diags);

#endif
