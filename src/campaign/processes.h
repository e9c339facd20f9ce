// What a campaign needs of its processes.
#ifndef REDOUBT_PROCESSES_H
#define REDOUBT_PROCESSES_H

#include "base/base.h"

#include <sys/types.h>

enum { MOST_JOBS = 256, LOOK_UP_MS = 100 };                  // how often those who wait ask whether to go on
pid_t process_wait(pid_t pid, int *status);                  // as waitpid, but 0 when it is time to look up
void process_allow(uint64_t seconds);                        // of processor time from now on; then this process is ended by SIGXCPU
double process_seconds(int who);                             // RUSAGE_SELF, RUSAGE_CHILDREN
void process_end_note(int status, char *note, size_t bytes); // of a simulation that has failed in Redoubt itself
bool pipe_write(int to, const void *bytes, size_t count);
bool pipe_read(int from, void *bytes, size_t count); // exactly so many; false: it has ended before

#endif
