// What the files of isa/ and its tests share: the builds of the lane functions.
#ifndef REDOUBT_ISA_INTERNAL_H
#define REDOUBT_ISA_INTERNAL_H

#include "isa/isa.h"

// One build of all lane functions (lane.inc), for one level of the host's instruction set.
typedef struct LaneBuild {
  const char *name;
  const LaneFunction *functions; // OP_COUNT of them
  bool runs_here;                // this processor has what the build needs
} LaneBuild;
enum { LANE_BUILDS = 3 };
LaneBuild lane_build(unsigned number); // 0 = baseline; functions is NULL where the build does not exist

extern const LaneFunction lane_functions_baseline[OP_COUNT];
#if defined(__x86_64__)
extern const LaneFunction lane_functions_v3[OP_COUNT];
extern const LaneFunction lane_functions_v4[OP_COUNT];
#endif

#endif
