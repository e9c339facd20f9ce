// What the schemes' files share with protect.c: the arguments of a protection, cut apart.
#ifndef REDOUBT_PROTECT_INTERNAL_H
#define REDOUBT_PROTECT_INTERNAL_H

#include "protect/protect.h"

typedef struct ProtectArgument { // "key=value", or "key" alone with value NULL
  const char *key, *value;
} ProtectArgument;

typedef struct ProtectArguments {
  const char *text; // all of it, for messages
  const ProtectArgument *items;
  uint32_t count;
} ProtectArguments;

// A whole number in least..most; false with a diagnostic otherwise.
bool protect_number(const ProtectArguments *arguments, const ProtectArgument *argument, uint64_t least, uint64_t most, uint64_t *value,
                    Diags *diags);
// For an argument that the scheme does not have; `known` are those it has. Always false.
bool protect_unknown(const ProtectArguments *arguments, const char *key, const char *const *known, uint32_t known_count, Diags *diags);

// A structure that a scheme adds, and the region for it: units of 8 bytes, one dimension. More dimensions and smaller units are the scheme's to set.
typedef struct CellsRow {
  const char *name, *title, *unit, *meaning;
  uint32_t units, bits;
} CellsRow;
Region protect_cells(const CellsRow *row, const char *dim, uint32_t count);

Hook *none_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *null_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *dmr_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *hints_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *parity_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *heal_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *shield_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *reissue_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);        // takes one of these two forms
Hook *reissue_points_new(const ProtectArguments *arguments, Arena *arena, Diags *diags); // fragment machines
Hook *reissue_blocks_new(const ProtectArguments *arguments, Arena *arena, Diags *diags); // SIMT machines
Hook *rise_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *secded_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);
Hook *twin_new(const ProtectArguments *arguments, Arena *arena, Diags *diags);

#endif
