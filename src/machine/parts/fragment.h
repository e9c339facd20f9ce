// Matrix fragments between memory and registers: wmma.load, wmma.store, ldmatrix, stmatrix.
#ifndef REDOUBT_PARTS_FRAGMENT_H
#define REDOUBT_PARTS_FRAGMENT_H

#include "machine/parts/access.h"

// access: space, wide, address, active; offset 0. `rows` are the fragment's registers, as many as `registers` says.
bool fragment_load(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, uint32_t *rows,
                   AccessViolation *violation);
bool fragment_store(const MemoryView *view, const Access *access, Op op, uint32_t imm, const uint32_t *stride, const uint32_t *rows,
                    AccessViolation *violation);

// The same with the caller's way to memory. `move` brings a piece of a lane's fragment into `data`, or takes it from there; false ends
// the instruction, and the caller knows why. Rows are written when all pieces are there.
typedef bool (*FragmentMove)(void *context, unsigned lane, uint64_t address, uint32_t bytes, uint8_t *data);
typedef struct FragmentWay {
  FragmentMove move;
  void *context;
} FragmentWay;
bool fragment_load_by(const Access *access, const Instr *instr, const uint32_t *stride, uint32_t *rows, FragmentWay way);
bool fragment_store_by(const Access *access, const Instr *instr, const uint32_t *stride, const uint32_t *rows, FragmentWay way);

#endif
