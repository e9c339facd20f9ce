// The row functions for x86-64-v4 (AVX-512); the build file sets the flags.
#if defined(__x86_64__)
#define ROW_TABLE row_functions_v4
#include "machine/parts/rows.inc"
#endif
