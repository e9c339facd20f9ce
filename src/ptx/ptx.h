// PTX text -> Program.
#ifndef REDOUBT_PTX_H
#define REDOUBT_PTX_H

#include "program/mir.h"

typedef struct PtxSource {
  const char *file; // for diagnostics
  const char *text;
  size_t length;
} PtxSource;

// Compiles one module or links several (relocatable builds): names that are .visible, .weak,
// .common or .extern meet across modules, the others stay private to theirs.
// On error returns NULL with every problem in diags, each with its place.
Program *ptx_compile(const PtxSource *sources, uint32_t count, const MirOptions *options, Diags *diags);

// All problems of a file, as `redoubt check` shows them: syntax, unknown or unsupported
// instructions, operands that do not fit, undefined names. True when there is none.
bool ptx_check(const PtxSource *source, Diags *diags);

#endif
