// The cells of a study, run as commands of this program, several at a time.
#ifndef REDOUBT_CLI_STUDY_H
#define REDOUBT_CLI_STUDY_H

#include "study/study.h"

typedef struct CellWishes {
  const char *folder; // of results
  uint32_t jobs, shard, shards;
  bool quiet;
} CellWishes;
bool cell_is_done(const StudyCell *cell, const char *folder);
double cell_seconds(const StudyCell *cell, const char *folder); // how long it took when it was run; below 0: not known
// Runs those that are not done. The exit code: EXIT_OK, that of the first that failed, or 128 + the signal that ended it.
int cells_run(const StudyCells *cells, const CellWishes *wishes);

#endif
