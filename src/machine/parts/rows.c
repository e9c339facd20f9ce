// Which build of the row functions to use: that of the lane functions.
#include "machine/parts/rows.h"

const RowFunctions *row_build(unsigned number) {
  if (number == 0) return &row_functions_baseline;
#if defined(__x86_64__)
  if (number == 1 && lane_level() >= 1) return &row_functions_v3;
  if (number == 2 && lane_level() >= 2) return &row_functions_v4;
#endif
  return NULL;
}

const RowFunctions *row_functions(void) { return row_build(lane_level()); }
