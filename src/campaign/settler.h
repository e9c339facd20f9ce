// A way to settle faults. It answers one question: can this fault be settled here, and to what? A campaign has a list of such ways and tries
// them in order, the cheapest first; what one leaves goes to the next. The ways that there are: src/settle.
#ifndef REDOUBT_SETTLER_H
#define REDOUBT_SETTLER_H

#include "campaign/campaign.h"
#include "campaign/draw.h"
#include "campaign/golden.h"

// Faults whose golden run is watched.
typedef struct WatchedDraws {
  Arena *arena; // lives as long as they do
  const RegionTable *table;
  Draw *draws;
  uint32_t count;
} WatchedDraws;

// A batch of faults.
typedef struct Settling {
  Target *target;
  const CampaignOptions *options;
  const Golden *golden;
  Draw *draws; // all of it: draws[i].id is draws[0].id + i
  uint32_t count;
  Arena *arena;                // lives as long as the batch
  const Listener *listener;    // is told what becomes of a fault
  struct Following *following; // what following leaves to trials, and trials to following (follow.h); NULL: nothing yet
  Diags *diags;
} Settling;
static inline Draw *settling_draw(const Settling *at, uint64_t id) { return &at->draws[id - at->draws[0].id]; }

// All functions but is_for may be NULL: there is nothing to do then.
typedef struct Settler {
  const char *name;
  bool (*is_for)(const Settling *at); // may settle faults of this batch
  // Before the golden run of a batch: the hook that looks on. What it finds it writes into the draws.
  Hook *(*watch)(const WatchedDraws *watched);
  // After that run. A draw with `settled` below SETTLED_CLASS changes nothing: it is masked. One with SETTLED_CLASS ends as `class_of` does.
  void (*seen)(const WatchedDraws *watched, Hook *hook);
  // Tells the listener what becomes of some of live[0, *count), which are sorted by strike_at; keeps the others, in their order.
  // False: it was stopped, or failed with a diagnostic.
  bool (*settle)(Settling *at, Hook *hook, Draw *live, uint32_t *count);
  void (*finish)(Settling *at); // the batch is over
  bool simulates;               // with time, and with the protections: may settle detected faults once more, with the detection unanswered
  bool in_program;              // `watch` and `seen` need the draws alone: of CUDA programs, they are called in the program's process
} Settler;

enum { MOST_SETTLERS = 16 };
// Of a list, NULL last: adds the hooks of those in `wanted` (bit i: the i-th) to the chain. False: it is full.
bool settlers_watch(const Settler *const *settlers, uint32_t wanted, const WatchedDraws *watched, Hook *hooks[MOST_SETTLERS],
                    HookChain *chain);
void settlers_seen(const Settler *const *settlers, uint32_t wanted, const WatchedDraws *watched, Hook *hooks[MOST_SETTLERS]);
uint32_t settlers_in_program(const Settler *const *settlers); // those that are watched there

#endif
