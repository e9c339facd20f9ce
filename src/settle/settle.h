// Ways to say what becomes of a fault: by what is known of its cell (def_use.c), along the program without time (follow.h), or by a simulation.
#ifndef REDOUBT_SETTLE_H
#define REDOUBT_SETTLE_H

#include "campaign/campaign.h"
#include "campaign/draw.h"
#include "campaign/golden.h"

// ---- Which block is where (residents.c) ------------------------------------------------------------
typedef struct Residents {
  uint32_t launch;      // number of the current one
  uint32_t block_warps; // of each of its blocks
  uint32_t shared_rows; // likewise, of 128 bytes
  uint32_t slots;       // for blocks, per SM
  uint32_t *blocks;     // by SM and slot: linear index
} Residents;
// A hook passes its events on. Warp `w` of an SM is number w % block_warps of the block in slot w / block_warps, row `r` of its shared memory
// number r % shared_rows of the block in slot r / shared_rows.
void residents_attach(Residents *at, Arena *arena, const HookLayout *layout);
void residents_launch(Residents *at, const LaunchEvent *event);
void residents_block(Residents *at, const BlockEvent *event);
uint32_t residents_of(const Residents *at, uint32_t sm, uint32_t slot); // linear index of the block

// ---- Def-use of struck cells (def_use.c) ------------------------------------------------------------
typedef struct Pruner Pruner; // watches the rows that the draws strike
Pruner *pruner_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count);
Hook *pruner_hook(Pruner *pruner);
void pruner_finish(Pruner *pruner);                                 // what has not been touched is settled; classes are found
void draw_read_by(Draw *draw, const Program *program, uint32_t pc); // the instruction that first reads it, or whose result it strikes
typedef struct OutputWatch OutputWatch;                             // of the pruner, for outputs of functional units (def_use_output.c)
OutputWatch *output_watch_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count); // NULL: none of them is struck
void output_watch_result(OutputWatch *watch, const Residents *residents, const HookMachine *machine, const ResultEvent *event);

typedef struct Timeline Timeline; // see follow.h
Timeline *timeline_new(Arena *arena);

// ---- Simulations (simulate.c) ------------------------------------------------------------------------
bool any_output(const Draw *draws, uint32_t count);                // strikes outputs of functional units: results must be told
Hook *asleep_for(Arena *arena, const Draw *draws, uint32_t count); // of faults that last, for any of these
// Simulates the draws [0, count), all with settled == SETTLED_COUNT, in order of strike_at.
typedef struct InjectOptions {
  const CampaignOptions *campaign;
  const Golden *golden;
  const Listener *listener;
} InjectOptions;
bool inject_all(Target *target, const InjectOptions *options, const Draw *draws, uint32_t count, Diags *diags);

#endif
