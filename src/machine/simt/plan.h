// How a part gets its lane slots: threads are offered on their home lanes, hooks plan and place them, and what they have made of it is checked.
//
// A hook cannot do harm: threads that were not offered, or that are computed twice, become shadows or go; what it leaves out
// comes in a later part; guests must be ready at the same instruction. Memory instructions are not divided.
#ifndef REDOUBT_SIMT_PLAN_H
#define REDOUBT_SIMT_PLAN_H

#include "machine/simt/issue.h"
#include "machine/simt/part.h"

enum { PLAN_MOST_COPIES = 4 };

// A part, and what belongs to its lane slots.
typedef struct Fill {
  LanePart part;
  uint32_t ps, pa;              // source predicates
  uint8_t owner_of[WARP_LANES]; // index in Offer.owner
  uint8_t origin[WARP_LANES];   // lane slot in which it was offered; PART_ANY: a guest
} Fill;

typedef struct Offer {
  uint32_t sm, warp, pc;
  uint64_t issue;
  const Instr *instr;
  Port port; // of the instruction
  InstrWord word;
  bool is_wide, is_memory, is_fixed; // is_fixed: it keeps its lanes
  bool is_repeat;
  bool is_plain; // threads of one warp on the lanes of their numbers, as they were offered
  uint8_t part;  // number
  uint8_t copy, copies;
  uint8_t next, sp; // wishes of hooks; PART_ANY: none
  uint8_t late;     // likewise, in cycles
  Fill fill;
  uint32_t offered; // lane slots
  uint32_t taken;   // of them: those that issue now
  uint32_t owners;
  PlanOwner owner[SIMT_PLAN_OWNERS];  // the first issues
  uint32_t members, wide_ps, wide_pa; // warp-wide instructions: by thread
} Offer;

static inline bool plan_is_asked(const Simt *m) { return (m->wants & (WANT_PLAN | WANT_PLACE)) != 0; }

void offer_begin(Offer *offer, uint32_t sm, const Uop *uop, const Instr *instr);
// A warp; returns its index. SIMT_PLAN_OWNERS: there is no room.
uint32_t offer_owner(Offer *offer, uint32_t warp, uint64_t issue, uint16_t ticket);
// Threads of an owner on their home lanes, as far as those are free; bits of `ps` and `pa` are the threads'. Returns those that found room.
uint32_t offer_threads(const Simt *m, Offer *offer, uint32_t owner, uint32_t threads, uint32_t ps, uint32_t pa, bool may_move);
void offer_again(const Simt *m, Offer *offer, const Uop *uop, uint32_t slots); // lane slots of a part, as they were
// False: a hook wants to be asked again.
bool offer_plan(Simt *m, Offer *offer);
bool offer_place(Simt *m, Offer *offer);
uint32_t offer_threads_taken(const Simt *m, const Offer *offer, uint32_t owner); // of an owner
void offer_wish(Simt *m, const Offer *offer);                                    // the warp that hooks want next gets its turn
// Lanes, plan and predicates of the part. Tickets of the owners are set by then.
void offer_fill(Simt *m, const Offer *offer, Uop *uop);

// A part that a hook wants once more: both questions again. `slot` becomes the new part; its lane slot i was origin[i].
typedef enum Again { AGAIN_STAYS, AGAIN_MOVES, AGAIN_WAITS } Again;
Again again_asks(Simt *m, uint32_t sm, Uop *uop, const Instr *instr, uint8_t origin[WARP_LANES]);
// The same for a flight, which goes back to a collector with its operands. False: not now.
bool again_goes(Simt *m, uint32_t sm, Flight *flight, const Instr *instr, const FlightOperands *operands);

// rest.c. The parts of an instruction of one warp: `uop` has its threads in mask, ps and pa; `copies` of each part.
void rest_begin(Simt *m, const Next *n, const Uop *uop, uint32_t copies);
void rest_send(Simt *m, const Next *n, Offer *offer);                   // a part that hooks have agreed to
bool rest_part(Simt *m, const Next *n);                                 // the next part. False: not now
bool rest_issue(Simt *m, const Next *n);                                // the same, in an issue slot of its own
void rest_repeats(Simt *m, uint32_t sm, uint32_t warp, const Uop *uop); // copies of a part are to come
void rest_empty(Simt *m, const Next *n, uint32_t copies);               // copies of an instruction without work: they only take issue slots
bool rest_waits(const Simt *m, const Next *n);                          // for operands that the first part still collects

#endif
