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

// Where the lines of a module's text come from, by its .file and .loc (origin.c).
typedef struct PtxOrigin {
  const char *file; // as the compiler was given it; NULL: not said
  uint32_t line;
} PtxOrigin;
typedef struct PtxOrigins {
  const PtxOrigin *items; // of line 1, 2, ...
  uint32_t count;
} PtxOrigins;
PtxOrigins ptx_origins(Arena *arena, const char *text, size_t length);
PtxOrigin ptx_origin(const PtxOrigins *origins, uint32_t line); // any number will do

#endif
