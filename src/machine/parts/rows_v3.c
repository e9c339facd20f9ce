// The row functions for x86-64-v3 (AVX2, BMI2); the build file sets the flags.
#if defined(__x86_64__)
#define ROW_TABLE row_functions_v3
#include "machine/parts/rows.inc"
#endif
