// Texture and surface instructions of a warp: each lane's handle, coordinates and results around texture_execute.
#ifndef REDOUBT_PARTS_SAMPLE_H
#define REDOUBT_PARTS_SAMPLE_H

#include "machine/parts/access.h"
#include "machine/parts/texture.h"

typedef struct SampleRows {
  const uint32_t *handle;      // pair
  const uint32_t *coordinates; // as many rows as the row's b column says
  const uint32_t *gradients;   // c likewise
  uint32_t *data[4];           // operands of d
} SampleRows;

bool sample_execute(const MachineEnvironment *environment, Op op, uint32_t imm, uint32_t active, const SampleRows *rows,
                    AccessViolation *violation);
// All lanes at once, for the fetches that most programs make. False: not one of them, or some lane would fail; nothing is done.
bool sample_warp(const MachineEnvironment *environment, uint32_t imm, uint32_t active, const SampleRows *rows);
// One lane, with the caller's way to reach texels.
bool sample_lane(const MachineEnvironment *environment, const TextureReader *reader, const Instr *instr, unsigned lane,
                 const SampleRows *rows, AccessViolation *violation);

#endif
