// The row functions for what every processor of the architecture has.
#define ROW_TABLE row_functions_baseline
#include "machine/parts/rows.inc"
