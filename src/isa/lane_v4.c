// The lane functions for x86-64-v4 (AVX-512); the build file sets the flags.
#if defined(__x86_64__)
#define LANE_TABLE lane_functions_v4
#include "isa/lane.inc"
#endif
