// Texture sampling and surface access: pure functions of a texture object and memory, shared by all
// machines. Filtering follows the CUDA C Programming Guide, appendix "Texture Fetching": point
// sampling takes texel floor(x); linear filtering interpolates between floor(x - 0.5) and its
// neighbour with weights in 1.8 fixed point.
#ifndef REDOUBT_PARTS_TEXTURE_H
#define REDOUBT_PARTS_TEXTURE_H

#include "isa/texture.h"
#include "machine/machine.h"

// How texel bytes are reached. Both return false for an address that is not valid, which ends the
// fetch with TEXTURE_BAD_ADDRESS. `write` may be NULL where nothing is stored.
typedef struct TextureReader {
  bool (*read)(void *context, uint64_t address, void *to, uint32_t bytes);
  bool (*write)(void *context, uint64_t address, const void *from, uint32_t bytes);
  void *context;
} TextureReader;

typedef enum TextureStatus {
  TEXTURE_DONE,
  TEXTURE_BAD_ADDRESS, // a texel lies in memory that is not allocated: TRAP_ILLEGAL_ADDRESS
  TEXTURE_OUTSIDE,     // surface access outside, in .trap mode: TRAP_ILLEGAL_ADDRESS
  TEXTURE_MISFIT,      // the instruction does not fit the object, e.g. misaligned surface x: TRAP_MISALIGNED
} TextureStatus;

// One lane of any KIND_TEXTURE instruction. coordinates: the registers of b; gradients: those of c
// (8 each, zeros beyond the row's width). data: operand i of d at data[i], or at data[2i] and data[2i + 1]
// for rows whose d is 64 bits wide; in: what a store writes; out: results (untouched by stores).
// *address is set to the place of the failure.
TextureStatus texture_execute(const Texture *texture, const TextureReader *reader, uint32_t imm, const uint32_t coordinates[8],
                              const uint32_t gradients[8], uint32_t data[8], uint64_t *address);

#endif
