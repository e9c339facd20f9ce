// Who works on what in a folder of results: locks on places of one file, which end with the processes that hold them, however those end.
#ifndef REDOUBT_CLI_FOLDER_LOCK_H
#define REDOUBT_CLI_FOLDER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

// Places that are not a cell's. A cell's is its hash, without the two highest bits.
#define LOCK_PAGE (UINT64_C(1) << 62) // study.db, and the files that are made from it
#define LOCK_CLUSTER (LOCK_PAGE + 1)  // the plan of a cluster
static inline uint64_t lock_of_cell(uint64_t hash) { return hash & (LOCK_PAGE - 1); }

enum { LOCK_HELD = -1, LOCK_UNKNOWN = -2 }; // by somebody else; the file system has no locks, so nobody can tell
// A descriptor that holds it, and passes it on to processes that inherit it (it is close-on-exec at first); or one of the above.
int folder_lock(const char *folder, uint64_t place);
int folder_lock_wait(const char *folder, uint64_t place, bool quiet); // says that somebody is at work, and waits
void folder_unlock(int lock);

#endif
