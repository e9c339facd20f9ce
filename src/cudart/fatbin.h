// Fat binaries as nvcc embeds them: entries of PTX or machine code, one per architecture, PTX
// usually compressed. Found by parsing (docs/cuda.md has the layout).
#ifndef REDOUBT_CUDART_FATBIN_H
#define REDOUBT_CUDART_FATBIN_H

#include "base/base.h"

typedef struct FatEntry {
  bool is_ptx;          // else machine code
  uint32_t arch;        // 75 for compute_75
  const uint8_t *bytes; // payload as stored
  uint64_t stored_bytes, compressed_bytes, text_bytes;
  uint64_t flags;
} FatEntry;

typedef struct FatBinary {
  FatEntry *items; // in file order
  uint32_t count, capacity;
} FatBinary;

// Reads the entry headers. `limit` is the most bytes that may be read, here and for the texts of the entries.
bool fatbin_parse(const void *data, size_t limit, Arena *arena, FatBinary *fat, Diags *diags);
// What an entry holds, decompressed into the arena, with a NUL after it; NULL after a diagnosis.
uint8_t *fatbin_bytes(const FatEntry *entry, Arena *arena, size_t *length, Diags *diags);
// The PTX text of an entry, decompressed into the arena and NUL-terminated; NULL after a diagnosis.
char *fatbin_text(const FatEntry *entry, Arena *arena, size_t *length, Diags *diags);

#endif
