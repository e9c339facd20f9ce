// What the stages of a campaign share.
#ifndef REDOUBT_CAMPAIGN_INTERNAL_H
#define REDOUBT_CAMPAIGN_INTERNAL_H

#include "campaign/campaign.h"

#include <sys/types.h>

// ---- The golden run (golden.c) -------------------------------------------------------------------
enum { MOST_CHECKPOINTS = 256, FIRST_SPACING = 64 };

typedef struct Checkpoint {
  uint64_t cycle, hash;
  uint64_t corrected; // by protections until then: more than 0 only with a standing fault
} Checkpoint;

typedef VEC(GoldenRow) GoldenVec;

typedef struct Resident { // of a launch, summed over its cycles, on all SMs
  double warps, register_rows, shared_rows;
} Resident;

typedef struct Golden {
  Arena *arena;
  Checkpoint checkpoints[MOST_CHECKPOINTS]; // ascending
  uint32_t checkpoint_count;
  uint64_t spacing;
  GoldenVec launches;
  Resident *residents; // by launch, from 0
  TargetOutputs outputs;
  uint64_t cycles; // of all launches: when the machine's clock stops
  double seconds;  // of processor time
  uint64_t program_hash, layout_hash;
  uint64_t memory_hash;  // at the end; not of programs in processes of their own
  uint64_t corrected;    // by protections, in all launches
  const Fault *standing; // a fault that stands in this run and in all that are compared with it; NULL: none
  Region *regions;       // copies, for after the device is gone
  RegionTable table;
} Golden;
// The observer that fills it while a target runs; golden->arena is there. golden_measure takes what the device knows at the end.
Hook *golden_watch(Golden *golden, Target *target, const RegionTable *table);
void golden_measure(const Hook *watch, Golden *golden);
void golden_limit_memory(Golden *golden, uint64_t bytes); // of device memory only what is allocated can be struck
// Mean share that belongs to resident work, in the launches of a kernel (NULL: all); 0: not known.
double golden_used(const Golden *golden, const Region *region, const char *kernel);
void golden_keep_regions(Golden *golden, const RegionTable *table);
// Runs the target once without faults, with further observers (NULL: none).
bool golden_run(Target *target, const HookChain *protections, const HookChain *watchers, Golden *golden, Diags *diags);
// The same, with a fault that stands in it, as text (NULL: none). Refused where that fault alone ends the run or spoils its outputs.
bool golden_run_standing(Target *target, const HookChain *protections, const char *standing, Golden *golden, Diags *diags);
// What each run has beside its own fault: protections, and a fresh hook for the fault that stands in all of them. False: too many.
bool standing_chain(const HookChain *protections, const Fault *standing, Arena *arena, HookChain *chain);
TargetRight golden_right(const Golden *golden); // what runs are judged by
// Of processor time: no simulation of a fault takes so long, unless it hangs without the machine's clock going on.
uint64_t golden_allowance(const Golden *golden, uint64_t timeout);

enum { MOST_STRUCTURES = 256 };
// ---- A part of a structure (structure_part.c) ----------------------------------------------------------------
typedef struct StructurePart {
  bool is_part;                        // false: the whole structure
  bool is_held[REGION_MAX_DIMS + 2];   // by key: dimensions, unit, bit
  uint64_t value[REGION_MAX_DIMS + 2]; // of those
} StructurePart;
bool part_parse(const Region *region, const char *keys, StructurePart *part, Diags *diags); // "sm=1,lane=3]"
void part_shape(const Region *region, const StructurePart *part, uint64_t *rows, uint32_t *units, uint32_t *bits);
Site part_site(const RegionTable *table, uint16_t region, const StructurePart *part, uint64_t number); // its n-th bit

// ---- Faults drawn (sample.c) ---------------------------------------------------------------------
typedef struct Population {
  uint16_t regions[MOST_STRUCTURES];
  uint64_t bits[MOST_STRUCTURES];
  StructurePart parts[MOST_STRUCTURES];
  uint32_t count;
  uint64_t first_cycle, cycles; // when faults strike
  const char *kernel;           // all launches of this kernel, `cycles` in all; NULL: [first_cycle, first_cycle + cycles)
  const Golden *golden;
  Fault pattern; // model and its arguments
  uint64_t seed;
  bool every; // not drawn: fault i is the i-th bit of all structures, at a drawn time
} Population;
bool population_make(Population *population, const Golden *golden, const CampaignOptions *options, Diags *diags);
double population_size(const Population *population, uint32_t structure); // bits times cycles
uint64_t population_total(const Population *population);                  // bits of all structures
// Which structure a fault strikes: they are dealt evenly, to every shard too. What is said of all weighs them by their bits.
uint32_t population_structure(const Population *population, uint64_t id);
Fault population_draw(const Population *population, const RegionTable *table, uint64_t id);

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

// ---- What became of each (prune.c) -----------------------------------------------------------------
// The instruction that reads a struck register, predicate or word of shared memory first, or the one after that whose result was
// struck: where the fault begins to matter in the order of the program.
typedef struct Reader {
  uint32_t launch;         // number, from 1; 0: not known, or struck between two reads that came in another order
  uint32_t block, warp;    // linear index; index in the block
  uint32_t sm, first_warp; // where the block is
  RerunPlace place;
  uint32_t row; // register of the warp, or row of the block's shared memory
  uint32_t pc;
  uint64_t issue; // instructions of the warp before it
  uint32_t units; // struck and not overwritten by then
  // Of a struck result
  bool is_past;                // `pc` is that of the instruction before, which made it
  uint32_t change[WARP_LANES]; // as of RerunFlip
} Reader;

typedef struct Draw {
  Fault fault;
  uint64_t id;
  uint32_t struck;    // units that it strikes
  uint32_t units;     // of them: not overwritten since, nor read
  uint8_t settled;    // Settled, or SETTLED_COUNT: has to be simulated
  uint64_t strike_at; // cycle from which it matters: the fault's own, or that of the first read
  uint64_t class_of;  // lowest id of its class
  uint32_t line;      // PTX line of the first reader
  uint32_t pc;        // of that instruction
  uint16_t op;        // what it does; OP_COUNT: not known
  Reader reader;
  uint32_t open;    // units that the reader found struck and that have not been overwritten since
  uint64_t read_to; // before the strike: 1 + the latest instruction that has read the struck units since they were written
  uint32_t next;    // in its row's list
  bool is_told;     // its record has been taken
} Draw;

typedef struct Pruner Pruner; // watches the rows that the draws strike
Pruner *pruner_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count);
Hook *pruner_hook(Pruner *pruner);
void pruner_finish(Pruner *pruner);                                 // what has not been touched is settled; classes are found
void draw_read_by(Draw *draw, const Program *program, uint32_t pc); // the instruction that first reads it, or whose result it strikes
typedef struct OutputWatch OutputWatch;                             // of the pruner, for outputs of functional units (prune_output.c)
OutputWatch *output_watch_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count); // NULL: none of them is struck
void output_watch_result(OutputWatch *watch, const Residents *residents, const HookMachine *machine, const ResultEvent *event);

typedef struct Timeline Timeline; // see follow.h
Timeline *timeline_new(Arena *arena);

// ---- Processes (processes.c) -------------------------------------------------------------------------
enum { MOST_JOBS = 256, LOOK_UP_MS = 100 };                  // how often those who wait ask whether to go on
pid_t process_wait(pid_t pid, int *status);                  // as waitpid, but 0 when it is time to look up
void process_allow(uint64_t seconds);                        // of processor time from now on; then this process is ended by SIGXCPU
double process_seconds(int who);                             // RUSAGE_SELF, RUSAGE_CHILDREN
void process_end_note(int status, char *note, size_t bytes); // of a simulation that has failed in Redoubt itself
bool pipe_write(int to, const void *bytes, size_t count);
bool pipe_read(int from, void *bytes, size_t count); // exactly so many; false: it has ended before

// ---- Simulations (inject.c) ------------------------------------------------------------------------
bool any_output(const Draw *draws, uint32_t count);                // strikes outputs of functional units: results must be told
Hook *asleep_for(Arena *arena, const Draw *draws, uint32_t count); // of faults that last, for any of these
// What a child process tells: fixed size, written at once.
typedef struct Record {
  uint64_t id, cycles, wrong;
  double worst;
  uint32_t outcome, settled, pattern; // pattern: WrongPattern
  char note[JUDGEMENT_NOTE];
} Record;
// Simulates the draws [0, count), all with settled == SETTLED_COUNT, in order of strike_at.
typedef struct InjectOptions {
  const CampaignOptions *campaign;
  const Golden *golden;
  const Listener *listener;
} InjectOptions;
bool inject_all(Target *target, const InjectOptions *options, const Draw *draws, uint32_t count, Diags *diags);

#endif
