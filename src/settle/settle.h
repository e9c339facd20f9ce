// The ways to settle a fault (campaign/settler.h), in the order in which campaigns try them. To add one, write a file with a Settler and add
// it to the list in settlers.c.
#ifndef REDOUBT_SETTLE_H
#define REDOUBT_SETTLE_H

#include "campaign/settler.h"
#include "settle/settlers.h"

// By what the golden run shows of the struck place
extern const Settler settle_def_use;     // its cells are written before they are read, or never read
extern const Settler settle_free_places; // it held nothing
extern const Settler settle_decisions;   // it made no difference to control logic
extern const Settler settle_outputs;     // of a functional unit: no result passed
extern const Settler settle_classes;     // another fault does the same
// Without time: along the program, on the functional machine
extern const Settler settle_follow;
extern const Settler settle_trial;    // with time, but only until the struck block has ended
extern const Settler settle_returned; // what trials leave, along the program again
// By a simulation to the end
extern const Settler settle_simulate;

// ---- What several of them need -----------------------------------------------------------------------
bool settles_by_watching(const Settling *at);                       // users want what is exact without simulating it
void draw_read_by(Draw *draw, const Program *program, uint32_t pc); // the instruction that first reads it, or whose result it strikes
bool any_output(const Draw *draws, uint32_t count);                 // strikes outputs of functional units: results must be told
Hook *asleep_for(Arena *arena, const Draw *draws, uint32_t count);  // of faults that last, for any of these

// ---- Which block is where (residents.c) ------------------------------------------------------------
// Warp `w` of an SM is number w % block_warps of the block in block slot w / block_warps, row `r` of its shared memory number r % shared_rows of the
// block in block slot r / shared_rows.
typedef struct Residents {
  Arena *arena;
  uint32_t launch;      // number of the current one
  uint32_t block_warps; // of each of its blocks
  uint32_t shared_rows; // likewise
  uint32_t shared_row_bytes;
  uint32_t block_slots; // per SM
  uint32_t *blocks;     // by SM and block slot: linear index
} Residents;
// An observer that keeps it up to date. `own` is the first field of what the hook owns; other events may be added to it.
Hook residents_hook(const char *name, Residents *own, Arena *arena);
Verdict residents_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event); // for hooks with a launch of their own
uint32_t residents_of(const Residents *at, uint32_t sm, uint32_t block_slot);         // linear index of the block

#endif
