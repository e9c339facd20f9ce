// Calls out of the kernel: printf, assertions, the heap. The argument area lies in the caller's local memory, as a
// callee would find its parameters, with the result after them (program/mir.h).
#ifndef REDOUBT_PARTS_SYSTEM_H
#define REDOUBT_PARTS_SYSTEM_H

#include "machine/parts/access.h"

typedef struct SystemContext {
  const MemoryView *view;
  const MachineEnvironment *environment;
  const Launch *launch;
  const uint32_t *block; // index of the block, for messages
  uint32_t warp;
} SystemContext;

// Each active lane makes the call, in order. `areas` is the row of their argument areas' local addresses.
// False: violation->kind says why; `note` then holds an assertion's text.
// *heap_changed: blocks were given back, so what was remembered of valid windows is void.
bool system_execute(const SystemContext *context, Op op, uint32_t active, const uint32_t *areas, bool *heap_changed,
                    AccessViolation *violation, char note[256]);

#endif
