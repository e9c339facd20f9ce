// Matrix fragments between memory and registers: wmma.load, wmma.store, ldmatrix, stmatrix.
#ifndef REDOUBT_PARTS_FRAGMENT_H
#define REDOUBT_PARTS_FRAGMENT_H

#include "machine/parts/access.h"

// access: space, wide, address, active; offset 0. `rows` are the fragment's registers, as many as `registers` says.
bool fragment_load(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, uint32_t *rows,
                   AccessFault *fault);
bool fragment_store(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, const uint32_t *rows,
                    AccessFault *fault);

#endif
