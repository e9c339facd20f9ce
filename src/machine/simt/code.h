// Code lines of a machine whose instructions are smaller than ours. Caches, wires and memory count an instruction as front.instruction bytes; ours has
// INSTR_BYTES. With 8 of 16 a line holds as many instructions as on the modelled GPU, and its cells hold one half of each: the low half of
// those at even places, the high half of the others. The other halves lie beside the line and go wherever it goes: rest arrays of the caches,
// Packet.other. They are no cells, so that a structure has as many bits as on the modelled GPU and every bit of an instruction stands an equal
// chance to be in one.
#ifndef REDOUBT_SIMT_CODE_H
#define REDOUBT_SIMT_CODE_H

#include "isa/isa.h"
#include "machine/parts/cache.h"

typedef struct CodeRest { // word by word beside CacheData.word
  uint32_t data[LINE_WORDS];
} CodeRest;

// A line of code on its way.
typedef struct CodeWords {
  uint32_t data[LINE_WORDS], rest[LINE_WORDS];
} CodeWords;

// What the cells hold of the instruction, and what lies beside them; and back.
static inline uint64_t code_cells(InstrWord word, uint64_t pc) { return pc % 2 == 0 ? word.low : word.high; }
static inline uint64_t code_rest(InstrWord word, uint64_t pc) { return code_cells(word, pc + 1); }
static inline InstrWord code_join(uint64_t cells, uint64_t rest, uint64_t pc) {
  uint64_t swap = (cells ^ rest) & -(pc & 1); // no branch: every other one goes the other way
  return (InstrWord){.low = cells ^ swap, .high = rest ^ swap};
}

#endif
