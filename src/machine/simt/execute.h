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

extern const uint32_t lane_bit[WARP_LANES]; // 1 << lane: loops over lanes with a mask become vector code

static inline Collector *collector_at(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.collectors[sm * m->dims.collectors + index];
}
static inline Flight *flight_at(const Simt *m, uint32_t sm, uint32_t index) { return &m->at.flights[sm * SIMT_FLIGHTS + index]; }
static inline FlightOperands *flight_operands(const Simt *m, uint32_t sm, uint32_t index) {
  return &m->at.operands[sm * SIMT_FLIGHTS + index];
}
// The row of the register file that holds a register of a warp, whatever faults have made of the warp's base.
static inline uint32_t register_row(const Simt *m, uint32_t sm, uint32_t warp, uint32_t number) {
  uint32_t row = simt_warp(m, sm, warp % m->dims.warps)->register_base + number;
  return row < m->dims.register_rows ? row : row % m->dims.register_rows;
}
static inline RegisterRow *register_at(const Simt *m, uint32_t sm, uint32_t row) {
  return &m->at.registers[(size_t)sm * m->dims.register_rows + row];
}
// Threads of `lanes` whose registers are those of the warp of the lowest of them; `lanes` is not 0.
static inline uint32_t lanes_of_same_warp(const Slot *slot, uint32_t lanes) {
  uint32_t same = 0;
  uint8_t warp = slot->warp_of[__builtin_ctz(lanes)];
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctz(left);
    if (slot->warp_of[lane] == warp) same |= 1u << lane;
  }
  return same;
}

// collect.c. The instruction at `place` of the order has left its collector.
void collect_release(Simt *m, uint32_t sm, uint32_t place);
// An instruction whose operands are known comes once more. False: no collector is free.
bool collect_again(Simt *m, uint32_t sm, const Slot *slot, const FlightOperands *operands, uint32_t rows);

#endif
