// Texels: where they lie in memory and how their bits become values, and back.
#ifndef REDOUBT_PARTS_TEXEL_H
#define REDOUBT_PARTS_TEXEL_H

#include "machine/parts/texture.h"

// One access to a texture or surface object by one lane.
typedef struct TexelAccess {
  const Texture *texture;
  const TextureReader *reader;
  uint32_t imm;
  TextureStatus status; // the first failure
  uint64_t address;     // its place
} TexelAccess;

// Four channels: floats, or the bits of integers where is_float is false.
typedef struct Texel {
  bool is_float;
  union {
    float f[4];
    uint32_t u[4];
  };
} Texel;

uint32_t texel_bytes(const Texture *texture);
bool texel_reads_float(const Texture *texture); // fetches give floats
uint64_t texel_address(const Texture *texture, unsigned level, uint64_t x, uint64_t y, uint64_t z);

// Zero on failure, with the status set. Absent channels read 0, 0, 1 (y, z, w).
Texel texel_read(TexelAccess *access, uint64_t address);
// Converts `data` (f32 bits or integers by `result`) to the object's format and stores it.
void texel_write(TexelAccess *access, uint64_t address, TextureResult result, const uint32_t data[4]);

bool texel_load(TexelAccess *access, uint64_t address, void *to, uint32_t bytes);
void texel_store(TexelAccess *access, uint64_t address, const void *from, uint32_t bytes);

// surface.c: suld, sust, sured of one lane; data as for texture_execute.
void surface_execute(TexelAccess *access, const uint32_t coordinates[8], uint32_t data[8]);

#endif
