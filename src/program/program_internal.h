// What the files about finished programs share.
#ifndef REDOUBT_PROGRAM_INTERNAL_H
#define REDOUBT_PROGRAM_INTERNAL_H

#include "program/program.h"

uint64_t program_hash(const Program *program);

// The register or predicate number in an operand of an instruction, numbered as in OperandUse.
uint8_t instr_operand(const Instr *instr, unsigned operand);
// Whether the operand's register is read or written at all: not RZ or PT, not taken by a constant.
bool instr_operand_used(const Instr *instr, const OperandUse *use);

// Physical registers live before each instruction of a function, as counts.
typedef struct PhysicalLive {
  uint16_t *registers, *predicates; // by instruction - entry
} PhysicalLive;
void program_live_counts(const Program *program, const Function *function, Arena *arena, PhysicalLive *live);

#endif
