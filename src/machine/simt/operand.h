// Where the operands of an instruction are while it is in the pipeline: which rows of a collector hold the registers of which
// operand, and which rows of a latch its results. Sources come in the order d (instructions that read their d operands), a, b, c; the
// registers of an operand lie in consecutive rows. A member mask has a row even when it is implied (MOD_FULL_MASK).
#ifndef REDOUBT_SIMT_OPERAND_H
#define REDOUBT_SIMT_OPERAND_H

#include "machine/simt/state.h"

enum { VALUE_OPERANDS = OPERAND_C + 1 }; // d[0..3], a, b, c

typedef struct OperandRows {
  uint8_t first[VALUE_OPERANDS]; // row of the operand's first register
  uint8_t count[VALUE_OPERANDS]; // rows; 0: the operand takes no part
  uint8_t rows;                  // of all operands; at most SIMT_SOURCE_ROWS, or SIMT_RESULT_ROWS
} OperandRows;

// Result operand s has the rows from s * registers on.
typedef struct OperandResults {
  uint32_t count, registers, rows;
} OperandResults;

static inline TypeId operand_type(const OpInfo *info, unsigned operand) {
  return operand < OPERAND_A ? info->d : operand == OPERAND_A ? info->a : operand == OPERAND_B ? info->b : info->c;
}

// How many d operands an instruction with a d column has.
static inline unsigned operand_data_count(const Instr *instr, const OpInfo *info) {
  if (info->kind == KIND_ALU) return 1;
  if (info->kind == KIND_TEXTURE) return 4;
  return info->kind == KIND_LOAD || info->kind == KIND_STORE ? mods_vector_count(instr->mods) : 1;
}

// The address of a memory instruction is a pair unless its space is small or a modifier says so.
static inline unsigned operand_address_rows(const Instr *instr, const OpInfo *info) {
  bool wide = info->kind == KIND_ATOMIC ? info->space == SPACE_GENERIC || info->space == SPACE_GLOBAL : type_info[info->a].registers == 2;
  return wide && (instr->mods & MOD_ADDRESS32) == 0 ? 2 : 1;
}

// Rows of a source operand a, b or c.
static inline unsigned operand_source_rows(const Instr *instr, const OpInfo *info, unsigned operand) {
  if (operand == OPERAND_A && info->space != SPACE_NONE && info->a != TYPE_none) return operand_address_rows(instr, info);
  return type_info[operand_type(info, operand)].registers;
}

// Every stage asks for these, for every instruction: computed from the row's columns, not through op_operands; test_operand.c
// holds them against it for all rows and modifiers.
static inline OperandRows operand_sources(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  unsigned d = type_info[info->d].registers, data = (info->flags & IT_DATA_IN) != 0 ? operand_data_count(instr, info) : 0;
  OperandRows at = {.rows = 0};
  for (unsigned operand = 0; operand < VALUE_OPERANDS; operand++) {
    unsigned count = operand >= OPERAND_A ? operand_source_rows(instr, info, operand) : operand < data ? d : 0;
    at.first[operand] = at.rows;
    at.count[operand] = (uint8_t)count;
    at.rows = (uint8_t)(at.rows + count);
  }
  return at;
}

static inline OperandResults operand_results(const Instr *instr) {
  const OpInfo *info = &op_info[instr->op];
  unsigned count = (info->flags & IT_DATA_IN) == 0 ? operand_data_count(instr, info) : 0, registers = type_info[info->d].registers;
  return (OperandResults){count, registers, count * registers};
}

// OPERAND_A..OPERAND_C: the one that an immediate or a constant stands for; VALUE_OPERANDS: none.
unsigned operand_selected(const Instr *instr);
// OPERAND_A..OPERAND_C: the one whose value is all ones without a register (MOD_FULL_MASK); VALUE_OPERANDS: none.
unsigned operand_full_mask(const Instr *instr);
static inline uint8_t operand_register(const Instr *instr, unsigned operand) {
  return operand < OPERAND_A ? instr->d[operand] : operand == OPERAND_A ? instr->a : operand == OPERAND_B ? instr->b : instr->c;
}
// Predicates that the instruction writes: bit 0 = pd[0], bit 1 = pd[1]. PRED_TRUE counts: whoever writes skips it.
static inline unsigned operand_predicates(const OpInfo *info) {
  if ((info->flags & IT_PRED_OUT) != 0) return 3;
  return (info->flags & IT_CARRY_OUT) != 0 ? 1 : 0;
}

// Registers and predicates that the instruction writes, and (with_sources) those it reads, as the scoreboard has them.
void operand_marks(const Instr *instr, bool with_sources, Scoreboard *marks);

// False for legal words that no program holds but that a damaged one may: registers that the kernel does not have.
bool operand_is_possible(const Instr *instr, uint32_t registers);

#endif
