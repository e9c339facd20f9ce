// The lane functions for x86-64-v4 (AVX-512); the build file sets the flags.
// Not where programs are fuzzed: what reads them needs no vectors, and it takes long to compile.
#if defined(__x86_64__) && !defined(REDOUBT_BASELINE_LANES)
#define LANE_TABLE lane_functions_v4
#include "isa/lane.inc"
#endif
