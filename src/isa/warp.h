// Bodies of the warp chapter: functions of all lanes at once. Source: PTX ISA manual, "Data Movement
// and Conversion Instructions" (shfl.sync) and "Parallel Synchronization and Communication Instructions".
#ifndef REDOUBT_ISA_WARP_H
#define REDOUBT_ISA_WARP_H

#include "isa/isa.h"

#endif
