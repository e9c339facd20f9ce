// Operands that are consecutive registers (lower_tuple.c).
#ifndef REDOUBT_PTX_LOWER_TUPLE_H
#define REDOUBT_PTX_LOWER_TUPLE_H

#include "ptx/lower.h"

// The items of a vector operand; a lone operand is its own only item.
uint32_t operand_items(const PtxOperand *operand, const PtxOperand **items);
// Elements of `width` registers each, as one tuple to read.
bool read_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref *tuple);
// Likewise to write; finish_tuple after the instruction copies it out where it is not in place.
bool write_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref *tuple);
void finish_tuple(Fn *fn, const PtxOperand *items, uint32_t count, unsigned width, Vref tuple);

#endif
