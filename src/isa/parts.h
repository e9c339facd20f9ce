// The dot parts of an opcode that are still to be read, for the parsers of compound opcodes.
#ifndef REDOUBT_ISA_PARTS_H
#define REDOUBT_ISA_PARTS_H

#include "base/base.h"

typedef struct Parts {
  const Slice *at;
  unsigned left;
} Parts;

// Takes the next part if it is `text`.
static inline bool next_is(Parts *parts, const char *text) {
  if (!parts->left || !slice_is(parts->at[0], text)) return false;
  parts->at++, parts->left--;
  return true;
}

#endif
