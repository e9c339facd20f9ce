// What the files of the study share.
#ifndef REDOUBT_STUDY_INTERNAL_H
#define REDOUBT_STUDY_INTERNAL_H

#include "flexgrip/study.h"

#include "fault/fault.h"

extern const char g80_vecadd_sass[], g80_scalarprod_sass[], g80_gray_sass[], g80_nn_sass[]; // workloads/g80, as text

typedef VEC(uint64_t) Cycles;

// Accesses to a register of the scheduler, ascending, the first of each cycle.
typedef struct CellAccess {
  uint64_t cycle;
  bool write;
} CellAccess;
typedef VEC(CellAccess) CellLog;

typedef struct Snapshot {
  uint64_t cycle;
  Machine *machine;
  uint64_t hash;
  uint64_t wait_until; // taken right after a pass began: the last cycle in which the scheduler waits for it; else 0
} Snapshot;

struct Golden {
  Arena *arena;
  StudyConfig config;
  StudyStructure structure;
  Machine *machine; // before its first cycle, with the cycle limit; others are clones of it
  Machine *worker;  // for faulty runs
  Machine *held;    // for runs with a stuck bit; made for the first
  Hook *stuck;      // its fault
  Machine *ended;
  G80Result result;
  uint64_t start, end; // cycles
  Snapshot *snapshots; // ascending; the first at cycle 0
  uint32_t snapshot_count;
  uint16_t *regions; // of the structure
  uint32_t region_count;
  uint64_t bits;
  // Of the block scheduler only:
  uint32_t *first_log; // by region of the machine; UINT32_MAX: none
  CellLog *logs;
  Cycles edges; // at which the scheduler's clock edge was simulated
  uint16_t state_region, num_blocks_region;
  uint8_t *ever_zero, *ever_one; // bits that have had this value, by byte of the block; NULL: not collected
};

// What is known of a fault without a simulation. `at` is the cycle of an equal fault.
typedef enum Knowledge { KNOWN_MASKED, KNOWN_EQUAL } Knowledge;
Knowledge golden_equal(const Golden *golden, const StudyFault *fault, uint64_t *at);

StudyOutcome outcome_of(const Golden *golden, const Machine *machine); // of a run that has ended

#endif
