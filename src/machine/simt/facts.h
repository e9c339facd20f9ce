// What every stage asks of an instruction, worked out once for each instruction of the program: registers and predicates for the scoreboard, rows of
// operands and results, the unit's port. Words that faults have changed are worked out when they are met.
#ifndef REDOUBT_SIMT_FACTS_H
#define REDOUBT_SIMT_FACTS_H

#include "machine/simt/execute.h"
#include "machine/simt/operand.h"

enum { NO_ROW = UINT8_MAX };

typedef struct Facts {
  Scoreboard uses, writes; // registers and predicates that it reads or writes; that it writes
  OperandRows sources;
  OperandResults results;
  uint8_t port;                        // Port
  uint8_t timing;                      // Timing
  uint8_t predicates;                  // operand_predicates
  uint8_t value_row;                   // first row of the operand that an immediate or a constant stands for; NO_ROW: none
  uint8_t ones_row;                    // row of an implied member mask; NO_ROW: none
  uint8_t value_operand;               // operand of value_row
  uint8_t registers[SIMT_SOURCE_ROWS]; // of each source row; REG_ZERO: no register
} Facts;

// The class of an operation.
Timing timing_of(Op op);
// What the machine file says of the classes. At the start.
void timing_prepare(Simt *m);
static inline uint32_t latency_of(const Simt *m, const Instr *instr, Timing timing) {
  uint32_t own = m->class_latency[timing];
  return own != 0 ? own : m->unit_latency[op_info[instr->op].unit];
}
static inline uint32_t interval_of(const Simt *m, const Instr *instr, Timing timing) {
  uint32_t own = m->class_interval[timing];
  return own != 0 ? own : m->unit_interval[op_info[instr->op].unit];
}

void facts_make(const Instr *instr, Facts *facts);
// At the start of a launch, and of a clone's life. `facts_count` of them belong to `facts_of`.
void facts_prepare(Simt *m);
void facts_free(Simt *m);

static inline const Facts *facts_at(const Simt *m, const Instr *instr, Facts *scratch) {
  size_t index = ((uintptr_t)instr - (uintptr_t)m->facts_of) / sizeof *instr;
  if (__builtin_expect(index < m->facts_count, 1)) return &m->facts[index];
  facts_make(instr, scratch);
  return scratch;
}

#endif
