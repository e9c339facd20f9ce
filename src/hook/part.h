// A part of an instruction: which thread of which warp each lane slot of a unit computes.
//
// A unit has lanes, and a warp passes it in turns: 2 x 16 on a double-clocked SP of Fermi, 4 x 8 on Tesla. A *lane slot* is (turn, lane); its
// number is turn * lanes + lane, and there are 32 of them. A lane slot computes a thread, or nothing. A *shadow* is computed and
// compared, and never written. One thread may stand in several lane slots of a part; at most one of them is not a shadow.
#ifndef REDOUBT_HOOK_PART_H
#define REDOUBT_HOOK_PART_H

#include "isa/isa.h"

enum { PART_SLOTS = WARP_LANES, PART_MOST_WARPS = 16, PART_ANY = 0xFF };

typedef struct LanePart {
  uint32_t filled;            // bit s: lane slot s computes a thread
  uint32_t shadow;            // of them: shadows
  uint8_t warp[PART_SLOTS];   // of the SM
  uint8_t thread[PART_SLOTS]; // of that warp
} LanePart;

// Who a lane slot of a result belongs to.
typedef struct PartOwner {
  uint64_t issue; // number of the instruction within its warp
  uint32_t warp, block_slot;
} PartOwner;

static inline void part_put(LanePart *part, uint32_t slot, uint32_t warp, uint32_t thread, bool is_shadow) {
  uint32_t bit = 1u << slot % PART_SLOTS;
  part->filled |= bit;
  part->shadow = is_shadow ? part->shadow | bit : part->shadow & ~bit;
  part->warp[slot % PART_SLOTS] = (uint8_t)warp;
  part->thread[slot % PART_SLOTS] = (uint8_t)thread;
}

static inline void part_take_out(LanePart *part, uint32_t slots) {
  part->filled &= ~slots;
  part->shadow &= ~slots;
}

#endif
