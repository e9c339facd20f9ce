// What the files of the library share: handles, errors.
#ifndef REDOUBT_LIB_INTERNAL_H
#define REDOUBT_LIB_INTERNAL_H

#include "campaign/target.h"
#include "device/attachments.h"
#include "lib/redoubt.h"

struct RedoubtMachine {
  Arena *arena;
  Spec spec;
  const char *protections; // "secded:rf dmr"; NULL: none
  RedoubtStructure *structures;
  uint32_t structure_count;
};

struct RedoubtProgram {
  Arena *arena;            // of the program
  Arena *run, *injection;  // of what the last call of each kind left
  Spec spec;               // as the machine was when the program was opened
  const char *protections; // likewise
  Target *target;
  TargetOutputs outputs; // of the last run
};

// Always false; `diags` is freed. Without diagnostics: "failed".
bool lib_fail(RedoubtError *error, Diags *diags);
bool lib_fail_text(RedoubtError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lib_begin(RedoubtError *error); // no error yet
// False, with an error: the caller gave NULL for what is called so.
bool lib_given(const void *pointer, const char *name, RedoubtError *error);

// NULL, with an error: the machine's names and texts are copied.
RedoubtProgram *lib_program_new(const RedoubtMachine *machine, RedoubtError *error);
// A kernel of PTX text as a target (ptx_program.c). NULL, with diagnostics.
Target *lib_ptx_target(RedoubtProgram *program, const char *name, const char *text, const RedoubtLaunch *launch, Diags *diags);

#endif
