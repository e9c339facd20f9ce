// Atomic operations of a warp. Lanes take effect in order of their number where addresses collide.
#ifndef REDOUBT_PARTS_ATOMIC_H
#define REDOUBT_PARTS_ATOMIC_H

#include "machine/parts/access.h"

typedef struct AtomicRows {
  LaneFunction function; // new value from old (a), b, c
  uint32_t *d;           // old values go here; NULL: nowhere
  const uint32_t *b, *c;
  uint16_t mods;
  uint32_t imm;
} AtomicRows;

// access: space, element_bytes, address, offset, active; its data rows are not used.
// *changed is set when a value in memory changed.
bool atomic_execute(const MemoryView *view, const Access *access, const AtomicRows *rows, Window *window, bool *changed,
                    AccessViolation *violation);

#endif
