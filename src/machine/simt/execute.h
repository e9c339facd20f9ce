// What collectors, units and write-back share: ports of the units, collectors given back, instructions carried out again.
#ifndef REDOUBT_SIMT_EXECUTE_H
#define REDOUBT_SIMT_EXECUTE_H

#include "machine/simt/simt.h"

// Where a complete instruction leaves its collector.
typedef enum Port {
  PORT_SP, // integer, logic, single precision, warp-wide instructions, special registers
  PORT_SFU,
  PORT_FP64,
  PORT_TENSOR,
  PORT_LDST,   // loads, stores, atomics
  PORT_GATHER, // textures, surfaces, matrix fragments
  PORT_NONE,   // control flow: carried out at issue, never meant to be here
  PORT_COUNT
} Port;
Port port_of(const Instr *instr);
// Looks across the threads of its warp: shuffles, votes, matrix products.
static inline bool is_warp_wide(const OpInfo *info) {
  return info->kind == KIND_WARP || (info->kind == KIND_MATRIX && info->space == SPACE_NONE);
}

static inline Collector *collector_at(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.collectors[sm * m->dims.collectors + index];
}
static inline Flight *flight_at(const Simt *m, uint32_t sm, uint32_t index) { return &m->at.flights[sm * SIMT_FLIGHTS + index]; }
static inline FlightOperands *flight_operands(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.operands[sm * SIMT_FLIGHTS + index];
}
// The row of the register file that holds a register of a warp, whatever faults have made of the warp's base.
static inline uint32_t register_row(const Simt *m, uint32_t sm, uint32_t warp, uint32_t number) {
  uint32_t row = simt_warp(m, sm, ring_place(warp, m->dims.warps))->register_base + number;
  return row < m->dims.register_rows ? row : row % m->dims.register_rows;
}
static inline RegisterRow *register_at(const Simt *m, uint32_t sm, uint32_t row) {
  return &m->at.registers[(size_t)sm * m->dims.register_rows + row];
}
// Which scheduler has the warp: large warps are dealt to the schedulers as a whole.
static inline uint32_t scheduler_of_warp(const Simt *m, uint32_t warp) {
  return warp / max_u32((uint32_t)m->spec->scheduler_large_warp, 1) % m->dims.schedulers;
}

// collect.c. The instruction at `place` of the order has left its collector.
void collect_release(Simt *m, uint32_t sm, uint32_t place);
// An instruction whose operands are known, in the order of its collector. False: no collector is free.
bool collect_known(Simt *m, uint32_t sm, const Uop *uop, const FlightOperands *operands, uint32_t rows);

#endif
