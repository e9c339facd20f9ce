// The golden run: what happens without faults, and what runs with faults are compared with.
#ifndef REDOUBT_GOLDEN_H
#define REDOUBT_GOLDEN_H

#include "campaign/target.h"
#include "fault/fault.h"
#include "journal/occupancy.h"

enum { MOST_CHECKPOINTS = 256, FIRST_SPACING = 64, GOLDEN_NOTE = 384 };

typedef struct Checkpoint {
  uint64_t cycle, hash, digest; // of the state: machine_digest
  uint64_t corrected;           // by protections until then: more than 0 only with a standing fault
} Checkpoint;

typedef VEC(GoldenRow) GoldenVec;

typedef struct Resident { // of a launch, summed over its cycles, on all SMs
  double warps, register_rows, shared_rows;
  double needed_rows;            // of register_rows: those that the code names. The others are padding: nobody ever accesses them
  double sm_cycles, busy_cycles; // of all SMs; of those with a block
} Resident;

typedef struct GoldenPhase { // as a machine tells them (PhaseEvent)
  uint32_t launch;
  int64_t sm; // -1: all
  const char *name;
  uint64_t at;
} GoldenPhase;

typedef struct Golden {
  Arena *arena;
  Checkpoint checkpoints[MOST_CHECKPOINTS]; // ascending
  uint32_t checkpoint_count;
  uint64_t spacing;
  GoldenVec launches;
  VEC(GoldenPhase) phases; // of all launches, as they were told
  Resident *residents;     // by launch, from 0
  TargetOutputs outputs;
  uint64_t cycles; // of all launches: when the machine's clock stops
  double seconds;  // of processor time
  uint64_t program_hash, layout_hash;
  uint64_t memory_hash;          // at the end; not of programs in processes of their own
  uint64_t corrected;            // by protections, in all launches
  uint64_t adds_floats;          // launches whose program adds floats in memory: their order may decide about last digits
  double dynamic_nj, leakage_nj; // energy by the power model; both 0: the machine has none
  char uncovered[GOLDEN_NOTE];   // the first kernel that a protection does not cover, and why; empty: none
  char idle[GOLDEN_NOTE];        // protections that never acted; empty: none
  const Fault *standing;         // a fault that stands in this run and in all that are compared with it; NULL: none
  Region *regions;               // copies, for after the device is gone
  RegionTable table;
} Golden;
// The observer that fills it while a target runs; golden->arena is there. golden_measure takes what the device knows at the end.
Hook *golden_watch(Golden *golden, Target *target, const RegionTable *table);
void golden_measure(const Hook *watch, Golden *golden);
void golden_limit_memory(Golden *golden, uint64_t bytes); // of device memory only what is allocated can be struck
// Mean share that belongs to resident work, in the launches of a kernel (NULL: all); 0: not known.
double golden_used(const Golden *golden, const Region *region, const char *kernel);
double golden_needed(const Golden *golden, const Region *region, const char *kernel); // the same without padding of registers
// How full the launches of a kernel (NULL: all) keep the machine.
Occupancy golden_occupancy(const Golden *golden, const Spec *spec, const char *kernel);
Occupancy occupancy_of(const Spec *spec, const Resident *resident);
Resident resident_of(const LaunchRecord *launch); // without shared memory, of which a record says nothing
void golden_keep_regions(Golden *golden, const RegionTable *table);
// Runs the target once without faults, with further observers (NULL: none).
bool golden_run(Target *target, const HookChain *protections, const HookChain *watchers, Golden *golden, Diags *diags);
// The same, with a fault that stands in it, as text (NULL: none). Refused where that fault alone ends the run or spoils its outputs.
bool golden_run_standing(Target *target, const HookChain *protections, const char *standing, Golden *golden, Diags *diags);
// What each run has beside its own fault: protections, and a fresh hook for the fault that stands in all of them. False: too many.
bool standing_chain(const HookChain *protections, const Fault *standing, Arena *arena, HookChain *chain);
// The machine's state, in the place of the target's own, is that of the golden run there. The cycle is the same.
bool golden_is_met(const Checkpoint *here, Target *target, const Machine *machine);
TargetRight golden_right(const Golden *golden,
                         const struct OrderLog *order); // what runs are judged by; NULL: the order of additions is not known
// Of processor time: no simulation of a fault takes so long, unless it hangs without the machine's clock going on.
uint64_t golden_allowance(const Golden *golden, uint64_t timeout);

#endif
