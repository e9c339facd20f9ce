// Machine code as nvcc embeds it beside the PTX (cubins: ELF files). Only the register counts of its kernels are read.
#ifndef REDOUBT_CUDART_CUBIN_H
#define REDOUBT_CUDART_CUBIN_H

#include "base/base.h"

typedef struct CubinKernel {
  const char *name; // in the cubin's own bytes
  uint32_t registers;
} CubinKernel;

typedef struct CubinKernels {
  CubinKernel *items;
  uint32_t count, capacity;
} CubinKernels;

// False: these bytes are no whole cubin; nothing beyond them is read, and what was found stays.
bool cubin_kernels(const uint8_t *bytes, size_t count, Arena *arena, CubinKernels *kernels);

#endif
