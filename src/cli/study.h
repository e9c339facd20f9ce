// The cells of a study, run as commands of this program, several at a time.
#ifndef REDOUBT_CLI_STUDY_H
#define REDOUBT_CLI_STUDY_H

#include "study/study.h"

typedef struct CellWishes {
  const char *folder; // of results
  uint32_t jobs, shard, shards;
  bool quiet;
  const char *cluster;        // --cluster; NULL: processes of this command
  const char *const *command; // words after `redoubt` that run this study alone, without a cluster
  uint32_t command_count;
} CellWishes;
bool cell_is_done(const StudyCell *cell, const char *folder); // and its result is its own
// Says which results are not those of their cells, and removes them: they are run again.
void cells_remove_misfits(const StudyCells *cells, const char *folder);
double cell_seconds(const StudyCell *cell, const char *folder); // how long it took when it was run; below 0: not known
// Would every command be taken? False, after messages. Nothing is run.
bool cells_can_run(const StudyFile *study, const StudyCells *cells);
// Runs those that are not done. The exit code: EXIT_OK, that of the first that failed, or 128 + the signal that ended it.
int cells_run(const StudyCells *cells, const CellWishes *wishes);
// The same on a cluster (cluster_study.c). `*is_shown`: only the scripts were wanted.
int cells_on_cluster(const StudyCells *cells, const CellWishes *wishes, bool *is_shown);

#endif
