// How full a run without faults keeps the machine. Faults where nothing lies do nothing, so shares of faults mean little without it.
#ifndef REDOUBT_OCCUPANCY_H
#define REDOUBT_OCCUPANCY_H

#include "base/base.h"

// A run that keeps less than this of the warps and of the registers in use, or of the SMs busy, leaves most of the machine empty.
#define OCCUPANCY_LEAST (1.0 / 3)

typedef struct Occupancy {
  bool is_known;                // false: the machine does not tell
  double sms, warps, registers; // shares: SMs with blocks, places for warps, registers that belong to a warp; means over the run's cycles
  uint64_t sm_count;            // of the machine
} Occupancy;

bool occupancy_is_low(const Occupancy *occupancy);
void occupancy_text(const Occupancy *occupancy, Text *out); // "14.6 of 15 SMs with blocks, 17.3% of warps, 19.4% of registers"

#endif
