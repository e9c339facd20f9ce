// What the lowering of asynchronous copies and that of bulk copies share.
#ifndef REDOUBT_PTX_LOWER_ASYNC_H
#define REDOUBT_PTX_LOWER_ASYNC_H

#include "ptx/lower.h"

enum { MBARRIER_COUNT = 20, MBARRIER_TX = 40, MBARRIER_PHASE = 61, MBARRIER_MASK = 0xFFFFF }; // fields of an mbarrier, see lower_async.c

// A predicate that also holds the instruction's own guard.
Vref under_guard(Fn *fn, Vref predicate);
bool barrier_address(Fn *fn, const PtxInstr *instr, const PtxOperand *operand, Address *address);
bool read_bytes(Fn *fn, const PtxOperand *operand, Value *bytes); // a count of bytes, 64 bits wide
// So many bytes of the barrier's phase have come.
void complete_transactions(Fn *fn, const Address *address, const Value *bytes);
bool lower_bulk(Fn *fn, const PtxInstr *instr); // cp.async.bulk, cp.reduce.async.bulk

#endif
