// What binds a result to its cell: a file beside it that says which cell, which command, which program, and what its rows are.
#ifndef REDOUBT_CLI_CELL_SEAL_H
#define REDOUBT_CLI_CELL_SEAL_H

#include "base/base.h"

typedef struct CellName {
  const char *path; // of the result; its last part is the cell's name
  bool is_run;      // JSON of a run; else the journal of a campaign
  const char *const *words;
  uint32_t word_count; // after `redoubt`
  uint64_t program;    // a hash of what has run it
} CellName;

typedef enum CellState {
  CELL_ABSENT,
  CELL_UNFINISHED, // a journal of this cell that goes on
  CELL_DONE,       // whole, and of this cell
  CELL_MISFIT,     // of something else, changed, or damaged
} CellState;
// `why`: of a misfit, what is the matter; empty otherwise.
CellState cell_state(const CellName *name, Text *why);
// Of a result that is whole; it may lie elsewhere (`result`) until it goes to its place.
bool cell_seal(const CellName *name, const char *result, Diags *diags);
void cell_remove(const CellName *name); // the result with its seal, and what SQLite has left beside it

#endif
