// The fragment processor as those see it who launch programs on it. A launch is a domain of fragments (grid x and y); the one argument of its
// kernel is a FragmentParams.
#ifndef REDOUBT_FRAGMENT_H
#define REDOUBT_FRAGMENT_H

#include "machine/machine.h"
#include "shader/shader.h"

enum { FRAGMENT_TEXEL_BYTES = 16, FRAGMENT_MOST_EDGE = 4096 };

typedef struct FragmentTexture {
  uint32_t address;       // from the memory's first byte; texels of four floats, in Morton's order
  uint32_t width, height; // 0: there is none
} FragmentTexture;
typedef struct FragmentParams {
  uint32_t frame; // from the memory's first byte: red, green, blue and depth of each fragment, row by row
  FragmentTexture texture[SHADER_TEXTURES];
} FragmentParams;

// The place of a texel in its texture, in texels: bits of x and y in turn, those of the longer edge last. Edges are rounded up to powers of two.
uint32_t fragment_morton(uint32_t x, uint32_t y, uint32_t width, uint32_t height);
uint64_t fragment_texture_bytes(uint32_t width, uint32_t height);
// The texel that a read names: nearest; normalised coordinates repeat, those of RECT are clamped.
void fragment_texel(const FragmentTexture *texture, const ShaderRead *read, uint32_t *x, uint32_t *y);

// A program that devices load, of a fragment program; takes it over.
Program *fragment_program(const char *file, ShaderProgram *shader);

#endif
