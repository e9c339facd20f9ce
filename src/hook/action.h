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
  ACTION_HOLD,       // stores of a block are held in its SM; later they are sent, written, or thrown away. See ActionHold
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

// What is to become of a block's stores to global memory. Its own loads see what is held; nobody else does.
typedef enum ActionHold {
  HOLD_NONE,
  HOLD_KEEP,  // from now on they are held; when the block ends they are written, those of a mirror thrown away
  HOLD_WAIT,  // the same, but the block that has ended waits with what it holds until it is told what to do; ABANDON throws it away
  HOLD_SEND,  // it has ended: what it holds travels to its partitions, is told there (arrival) and has no effect; it stays held
  HOLD_WRITE, // it has ended: what it holds is written, then the block is done
  HOLD_FRESH, // of no block: the SM's L1 data cache forgets what was read of global memory, as after an acquire
  HOLD_STEPS
} ActionHold;

// What each kind looks at stands in brackets.
typedef struct Action {
  ActionKind kind;
  uint32_t sm;                       // whose queue it waits in [all]; where it happens [all but REDISPATCH]
  uint32_t block_slot;               // of the SM [ABANDON, HOLD, COPY: the mirror]
  uint64_t block;                    // linear index [MIRROR, REDISPATCH]
  ActionCache cache;                 // [PREFETCH]
  ActionHold hold;                   // [HOLD; MIRROR: none, KEEP or WAIT from its beginning]
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
