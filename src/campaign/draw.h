// A fault that was drawn, what is known of it, and what became of it.
#ifndef REDOUBT_DRAW_H
#define REDOUBT_DRAW_H

#include "campaign/target.h"
#include "fault/fault.h"

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
  uint32_t struck;    // units that it strikes, where accesses are told
  uint8_t settled;    // Settled, or SETTLED_COUNT: has to be simulated
  uint64_t strike_at; // cycle from which it matters: the fault's own, or that of the first read
  uint64_t class_of;  // lowest id of its class
  uint32_t line;      // PTX line of the first reader
  uint32_t pc;        // of that instruction
  uint16_t op;        // what it does; OP_COUNT: not known
  Reader reader;
  int64_t read; // the run without faults reads what it strikes (fault.def): 1, 0, or NOTHING: not known
  bool is_told; // its record has been taken
} Draw;
static inline Draw draw_new(uint64_t id, const Fault *fault) {
  return (Draw){.id = id,
                .fault = *fault,
                .settled = SETTLED_COUNT,
                .strike_at = fault->from,
                .class_of = id,
                .op = OP_COUNT,
                .pc = UINT32_MAX,
                .read = NOTHING};
}
int draw_by_strike(const void *left, const void *right); // for qsort

// What became of a fault. Of fixed size: processes tell it through pipes, written at once.
typedef struct Record {
  uint64_t id, cycles, wrong;
  double worst;
  uint32_t outcome, settled, pattern; // pattern: WrongPattern
  uint32_t unanswered;                // 1 + what would have come of a detected fault if nobody had answered the detection; 0: not known
  char note[JUDGEMENT_NOTE];
} Record;

#endif
