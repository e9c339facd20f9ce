// Reissue: configuration, and what its files share. The state is in the machine's block.
#ifndef REDOUBT_REISSUE_H
#define REDOUBT_REISSUE_H

#include "protect/protect_internal.h"

typedef enum ReissueOrder {
  ORDER_POINTS,  // the copies of a point follow one another
  ORDER_QUADS,   // those of four points do
  ORDER_GEOMETRY // the whole domain goes through the rasteriser once for each copy
} ReissueOrder;

typedef struct Reissue {
  uint8_t copies;
  bool toggles, apart, pairs, lockstep, off, scatters;
  ReissueOrder order;
  uint32_t entries, points, votes; // of the domain buffer; of the frame, at most; of the buffer of second results
  uint32_t pipes, latches;
  // Structures. Those that an option needs are there with it alone.
  uint16_t full, path, path_valid, buffer, ring, geometry, quad, quad_ring, pass, second, vote, vote_point, held, held_word, held_point,
      held_valid;
} Reissue;

// Row and unit of a structure; a bit of one that has a bit per point.
uint64_t reissue_get(const HookMachine *machine, uint16_t region, uint64_t row, uint32_t unit);
void reissue_set(const HookMachine *machine, uint16_t region, uint64_t row, uint32_t unit, uint64_t value);
bool reissue_bit(const HookMachine *machine, uint16_t region, uint64_t point);
void reissue_set_bit(const HookMachine *machine, uint16_t region, uint64_t point, bool value);
bool reissue_send(Hook *hook, HookMachine *machine, const MergeEvent *event); // false: the way back is taken

// reissue_vote.c: the second or third result of a point whose word is full; event->old is the first.
Verdict reissue_vote(Hook *hook, HookMachine *machine, MergeEvent *event, uint64_t point);

// reissue_scatter.c: a result of a program that scatters; and what waits at the end is thrown away.
Verdict reissue_scatter(Hook *hook, HookMachine *machine, const MergeEvent *event);
void reissue_scatter_ends(const Reissue *own, const HookMachine *machine);

#endif
