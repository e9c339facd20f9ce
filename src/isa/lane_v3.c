// The lane functions for x86-64-v3 (AVX2, FMA, BMI2); the build file sets the flags.
#if defined(__x86_64__)
#define LANE_TABLE lane_functions_v3
#include "isa/lane.inc"
#endif
