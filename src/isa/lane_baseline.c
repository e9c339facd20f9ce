// The lane functions for any processor of the host architecture.
#define LANE_TABLE lane_functions_baseline
#include "isa/lane.inc"
