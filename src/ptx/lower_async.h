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
// The end of st.async and red.async: with .mbarrier::complete_tx::bytes the bytes that were written count at the barrier, operand 2.
bool counts_at_barrier(const PtxInstr *instr);
bool count_at_barrier(Fn *fn, const PtxInstr *instr, uint32_t bytes);
// Parts of their opcodes that only they have.
bool is_async_part(const PtxInstr *instr, Slice part);
bool lower_bulk(Fn *fn, const PtxInstr *instr); // cp.async.bulk, cp.reduce.async.bulk
bool lower_fill(Fn *fn, const PtxInstr *instr); // st.bulk

#endif
