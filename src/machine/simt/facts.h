// What every stage asks of an instruction, worked out once for each instruction of the program: registers and predicates for the scoreboard, rows of
// operands and results, the unit's port. Words that faults have changed are worked out when they are met.
#ifndef REDOUBT_SIMT_FACTS_H
#define REDOUBT_SIMT_FACTS_H

#include "machine/simt/execute.h"
#include "machine/simt/operand.h"

enum { NO_ROW = UINT8_MAX, SOURCE_BITS = 16, SOURCES_AT_ONCE = 64 / SOURCE_BITS };
#define SOURCES_EACH UINT64_C(0x0001000100010001)

typedef enum FactFlags {
  FACT_CONTROL = 1,    // carried out at issue: control flow, barriers, fences, system calls
  FACT_DRAINS = 2,     // waits until nothing of its warp waits in a collector or for memory
  FACT_WIDE = 4,       // is_warp_wide
  FACT_WHOLE = 8,      // reads all lanes of its sources
  FACT_LONG = 16,      // reads memory that may be far away
  FACT_BRANCH = 32,    // a branch to a place that the instruction names
  FACT_POLLS = 64,     // counts for Warp.polls
  FACT_CONSTANT = 128, // has an operand in constant memory
  FACT_SPECIAL = 256,  // reads a special register
} FactFlags;

struct Facts {
  Scoreboard uses, writes; // registers and predicates that it reads or writes; that it writes
  OperandRows sources;
  OperandResults results;
  uint8_t port;                        // Port
  uint8_t predicates;                  // operand_predicates
  uint8_t value_row;                   // first row of the operand that an immediate or a constant stands for; NO_ROW: none
  uint8_t ones_row;                    // row of an implied member mask; NO_ROW: none
  uint8_t value_operand;               // operand of value_row
  uint8_t unit;                        // Unit
  uint8_t timing;                      // Timing
  uint16_t flags;                      // FactFlags
  uint8_t pa;                          // predicate that operand a names; PRED_TRUE: none
  uint16_t predicates_read;            // bit i: the guard or an operand is predicate i
  uint8_t registers[SIMT_SOURCE_ROWS]; // of each source row; REG_ZERO: no register
  uint32_t register_rows;              // bit i: source row i is read from the register file
  uint32_t filled_rows;                // the others
  uint32_t highest;                    // of the source registers
  // Of the first source rows, SOURCE_BITS each.
  uint64_t source_numbers;                                 // their registers
  uint64_t source_registers;                               // all ones: it is read from the register file
  uint64_t source_others;                                  // all ones: it is filled without a register
  uint8_t action, element_bytes, elements, sign_extend;    // of memory instructions: see MemOp
  bool bypasses;                                           // of loads: they do not look in the L1 data cache
  uint32_t constant_bank, constant_offset, constant_bytes; // FACT_CONSTANT
};

// The class of an operation.
Timing timing_of(Op op);
// What the machine file says of the classes. At the start.
void timing_prepare(Simt *m);
static inline uint32_t latency_of(const Simt *m, const Facts *facts) {
  uint32_t own = m->class_latency[facts->timing];
  return own != 0 ? own : m->unit_latency[facts->unit];
}
static inline uint32_t interval_of(const Simt *m, const Facts *facts) {
  uint32_t own = m->class_interval[facts->timing];
  return own != 0 ? own : m->unit_interval[facts->unit];
}

void facts_make(const Instr *instr, Facts *facts);
// At the start of a launch, and of a clone's life. `facts_count` of them belong to `facts_of`.
void facts_prepare(Simt *m);
void facts_free(Simt *m);

// Of an instruction that may be decoded from a damaged word.
static inline const Facts *facts_at(const Simt *m, const Instr *instr, Facts *scratch) {
  size_t index = ((uintptr_t)instr - (uintptr_t)m->facts_of) / sizeof *instr;
  if (__builtin_expect(index < m->facts_count, 1)) return &m->facts[index];
  facts_make(instr, scratch);
  return scratch;
}

// The instruction of a word and its facts, as simt_decode and facts_at find them. NULL: no legal instruction.
static inline const Instr *facts_decode(const Simt *m, const Uop *uop, Instr *scratch, Facts *own, const Facts **facts) {
  uint32_t pc = uop->pc;
  const InstrWord *code = m->program->code;
  if (__builtin_expect(pc < m->facts_count && uop->word.low == code[pc].low && uop->word.high == code[pc].high, 1)) {
    *facts = &m->facts[pc];
    return &m->facts_of[pc];
  }
  const Instr *instr = simt_decode_damaged(m, uop->word, scratch);
  *facts = own;
  if (instr != NULL) facts_make(instr, own);
  return instr;
}

// Results are in: clears what the instruction had marked.
static inline void board_clear(Simt *m, uint32_t sm, uint32_t warp, const Facts *facts) {
  Scoreboard *board = simt_scoreboard(m, sm, warp);
  for (uint32_t i = 0; i < 4; i++) board->registers[i] &= ~facts->writes.registers[i];
  board->predicates &= ~facts->writes.predicates;
  front_results(m, sm, UINT64_C(1) << warp);
  sm_wake(m, sm, simt_now(m) + 1);
}

// A free collector for an instruction; its number. All of it is zero but what faults may have done to its cells.
static inline uint32_t collect_new(Simt *m, uint32_t sm, uint8_t port) {
  SmState *state = &m->at.sms[sm];
  ASSERT(state->collect_count < m->dims.collectors);
  uint32_t index = (uint32_t)__builtin_ctzll(~state->collect_used);
  state->collect_used |= UINT64_C(1) << index;
  state->collect_order[state->collect_count++] = (uint8_t)index;
  state->collect_port[index] = port;
  return index;
}
// The uop of a new collector is there: begins to collect its operands.
void collect_begin(Simt *m, uint32_t sm, uint32_t index, const Instr *instr, const Facts *facts);
// collect_take for those who have the facts.
void collect_known_facts(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts);
// writeback_rows for those who have the facts: as many rows as the instruction has results.
void writeback_known(Simt *m, uint32_t sm, const Uop *uop, const Instr *instr, const Facts *facts, uint32_t (*rows)[WARP_LANES],
                     const uint32_t *predicates);

#endif
