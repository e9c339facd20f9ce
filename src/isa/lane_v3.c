// The lane functions for x86-64-v3 (AVX2, FMA, BMI2); the build file sets the flags.
// Not under sanitizers: without vectors it is the baseline again, which they have, and it takes long to compile.
#if defined(__x86_64__) && !defined(REDOUBT_SANITIZED)
#define LANE_TABLE lane_functions_v3
#include "isa/lane.inc"
#endif
