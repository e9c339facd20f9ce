// How far outputs may be from those of the run without faults: --tolerance. One rule for all that judges outputs.
#ifndef REDOUBT_TOLERANCE_H
#define REDOUBT_TOLERANCE_H

#include "base/base.h"
#include "device/workload.h"

typedef struct OutputTolerance {
  const char *name; // of the output
  bool has_type;    // else the output brings its own
  ElementType type; // what its bytes are
  bool is_relative; // to the element without faults; else absolute
  double bound;     // 0: every bit counts
} OutputTolerance;

enum { MOST_TOLERANCES = 16 };
typedef struct OutputTolerances {
  OutputTolerance items[MOST_TOLERANCES];
  uint32_t count;
} OutputTolerances;

// Adds "NAME:TYPE:rel=X", "NAME:TYPE:abs=X", or the same without a type. NULL, or what is wrong with it.
const char *tolerance_add(OutputTolerances *tolerances, Arena *arena, const char *text);
const OutputTolerance *tolerance_of(const OutputTolerances *tolerances, const char *name); // NULL: none
// As journals keep them, one per line; and so they can be added again, line by line.
const char *tolerances_text(const OutputTolerances *tolerances, Arena *arena);

// A number as an element of that type is one.
double element_number(ElementType type, const uint8_t *bytes);
// All elements that lie in `bytes` bytes: does each equal its own, or lie within the bound? NaN and infinity never do. False, too, if they end in the middle
// of an element.
bool tolerance_accepts(const OutputTolerance *tolerance, const uint8_t *golden, const uint8_t *got, uint64_t bytes);

#endif
