// What a machine offers schemes to do. A hook calls HookMachine.act on any event; the action waits in a queue of the machine's block and is carried
// out at the start of the next cycle, SM by SM, those of one SM in the order in which they came.
//
// Nothing is promised: an action that finds no room, or nothing to work on, is left out. The `action` event says how each one ended.
// A hook names what it needs in Hook.needs; a machine that does not offer it refuses the hook when it is attached.
#ifndef REDOUBT_ACTION_H
#define REDOUBT_ACTION_H

#include "base/base.h"

typedef enum ActionKind {
  ACTION_NONE,
  ACTION_PREFETCH,   // a line into a cache
  ACTION_DROP,       // from now on (`on`), stores and atomics of the SM have no effect; or they have again
  ACTION_MIRROR,     // a block also on this SM: nothing that it does has an effect outside, and the launch does not wait for it
  ACTION_ABANDON,    // a block stops where it is
  ACTION_REDISPATCH, // a block that was abandoned or has ended runs again from its beginning
  ACTION_COPY,       // a mirror goes on from where another block is
  ACTION_FENCE,      // from now on (`on`), every block of the SM counts as a mirror, and no other goes there; or they do again
  ACTION_KINDS
} ActionKind;
// A set of actions: Hook.needs, HookShape.offers.
#define ACTION_BIT(kind) (1u << (kind))
extern const char *const action_names[ACTION_KINDS];

typedef enum ActionCache {
  PREFETCH_INSTRUCTION, // the first-level caches of the SM
  PREFETCH_DATA,
  PREFETCH_CONSTANT,
  PREFETCH_TEXTURE,
  PREFETCH_L2, // a slice of the second level, over the network
  PREFETCH_CACHES
} ActionCache;

// What each kind looks at stands in brackets.
typedef struct Action {
  ActionKind kind;
  uint32_t sm;                       // whose queue it waits in [all]; where it happens [all but REDISPATCH]
  uint32_t block_slot;               // of the SM [ABANDON, COPY: the mirror]
  uint64_t block;                    // linear index [MIRROR, REDISPATCH]
  ActionCache cache;                 // [PREFETCH]
  uint64_t address;                  // as MemoryEvents have it; any byte of the line [PREFETCH]
  uint32_t from_sm, from_block_slot; // the block that is copied [COPY]
  uint32_t cycles;                   // that both blocks issue nothing afterwards, at most ACTION_MOST_CYCLES [COPY]
  bool on;                           // [DROP, FENCE]
  bool sends; // stores and atomics travel to the memory partitions and are told there, else they end in the SM [MIRROR]
} Action;
enum { ACTION_MOST_CYCLES = 0xFFFF };

// The address of an instruction, for PREFETCH_INSTRUCTION.
static inline uint64_t action_code_address(uint32_t pc) { return UINT64_C(2) << 48 | (uint64_t)pc * 16; }

#endif
