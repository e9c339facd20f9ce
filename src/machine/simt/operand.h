// Where the operands of an instruction are while it is in the pipeline: which rows of a collector hold the registers of which
// slot, and which rows of a latch its results. Sources come in the order d (instructions that read their d slots), a, b, c; the
// registers of a slot lie in consecutive rows. A member mask has a row even when it is implied (MOD_FULL_MASK).
#ifndef REDOUBT_SIMT_OPERAND_H
#define REDOUBT_SIMT_OPERAND_H

#include "machine/simt/state.h"

enum { OPERAND_SLOTS = SLOT_C + 1 }; // d[0..3], a, b, c

typedef struct OperandRows {
  uint8_t first[OPERAND_SLOTS]; // row of the slot's first register; 0 when it has none
  uint8_t count[OPERAND_SLOTS]; // rows; 0: the slot takes no part
  uint8_t rows;                 // of all slots; at most SIMT_SOURCE_ROWS, or SIMT_RESULT_ROWS
} OperandRows;

OperandRows operand_sources(const Instr *instr);
OperandRows operand_results(const Instr *instr);

// SLOT_A..SLOT_C: the one that an immediate or a constant stands for; OPERAND_SLOTS: none.
unsigned operand_selected(const Instr *instr);
// SLOT_A..SLOT_C: the one whose value is all ones without a register (MOD_FULL_MASK); OPERAND_SLOTS: none.
unsigned operand_full_mask(const Instr *instr);
static inline TypeId operand_type(const OpInfo *info, unsigned slot) {
  return slot < SLOT_A ? info->d : slot == SLOT_A ? info->a : slot == SLOT_B ? info->b : info->c;
}
static inline uint8_t operand_register(const Instr *instr, unsigned slot) {
  return slot < SLOT_A ? instr->d[slot] : slot == SLOT_A ? instr->a : slot == SLOT_B ? instr->b : instr->c;
}
// Predicates that the instruction writes: bit 0 = pd[0], bit 1 = pd[1]. PRED_TRUE counts: whoever writes skips it.
static inline unsigned operand_predicates(const OpInfo *info) {
  if ((info->flags & OP_PRED_OUT) != 0) return 3;
  return (info->flags & OP_CARRY_OUT) != 0 ? 1 : 0;
}

// False for legal words that no program holds but that a damaged one may: registers that the kernel does not have.
bool operand_is_possible(const Instr *instr, uint32_t registers);

#endif
