// Processes that Redoubt starts: the one place that forks, a pool of those that run at the same time, and what both ends need.
// (The library inside a CUDA program forks that program itself: app/fork.c.)
#ifndef REDOUBT_PROCESS_H
#define REDOUBT_PROCESS_H

#include "base/base.h"

#include <sys/types.h>

enum { MOST_JOBS = 256, LOOK_UP_MS = 100 }; // how often those who wait ask whether to go on

// ---- Silence -----------------------------------------------------------------------------------------
// No process is waited for without end. The bound is on silence, never on work: a process is silent while neither it nor any that it has
// started takes processor time, or would if it could. Looks are counted, not hours: a campaign that was stopped for a night blames nobody.
enum { SILENCE_SECONDS = 600 }; // then one of our own is ended
enum { SILENT_END = 14 };       // SIGALRM: the signal in the status of one that was ended for it
typedef struct ProcessWatch {   // all zero: nothing is known yet
  pid_t pid;                    // that it is about
  uint64_t ticks, started;      // of processor time, of all of them; hash of who they are
  uint32_t looks, silent;       // since it was last looked at; seconds
} ProcessWatch;
// To be called whenever it is time to look up. For how many seconds the process has been silent.
uint32_t process_silence(ProcessWatch *watch, pid_t pid);

// As fork, with nothing of ours left in buffers. The child gets the signal `dies_by` when its parent ends (0: none).
pid_t process_fork(int dies_by);
pid_t process_wait(pid_t pid, int *status);                          // as waitpid, but 0 when it is time to look up
int process_end(pid_t pid);                                          // waits for it; its status. One that is silent is ended
int process_read(pid_t pid, int from, uint32_t patience, Text *out); // the same, with what it writes; seconds of silence
void process_keep_files(void);                                       // from the program that exec will put here: all but the standard ones
void process_allow(uint64_t seconds);                                // of processor time from now on; then this process is ended by SIGXCPU
bool process_about(pid_t pid, const char *name, char *text, size_t bytes); // the beginning of /proc/PID/NAME; false, and "": there is none
double clock_seconds(void);                                                // of a clock that only goes on
double process_seconds(int who);                                           // RUSAGE_SELF, RUSAGE_CHILDREN
void process_end_note(int status, char *note, size_t bytes);               // of a simulation that has failed in Redoubt itself
bool pipe_write(int to, const void *bytes, size_t count);
bool pipe_read(int from, void *bytes, size_t count); // exactly so many; false: it has ended before

// ---- Several at a time -------------------------------------------------------------------------------
typedef struct PoolJob {
  pid_t pid;
  int from;     // end of the pipe that it tells something through; -1: it does not
  uint64_t tag; // of whoever started it
  bool has_ended, is_ready, was_silent;
  int status;
  ProcessWatch watch;
} PoolJob;

typedef struct Pool { // all zero: empty
  PoolJob jobs[MOST_JOBS];
  uint32_t running, next; // next: to be looked at, of those that are ready
  uint32_t patience;      // seconds of silence after which a process is ended; 0: SILENCE_SECONDS
} Pool;

typedef struct PoolWish {
  uint64_t tag;
  bool tells;       // through a pipe
  int dies_by;      // signal, when the parent ends; 0: none
  uint64_t seconds; // of processor time; 0: as many as it likes
} PoolWish;

typedef enum PoolSide { POOL_FAILED, POOL_PARENT, POOL_CHILD } PoolSide;
// Both processes return from it. FAILED: there is no room, no pipe or no process (errno). *to: in the child, where it tells; may be NULL.
PoolSide pool_start(Pool *pool, const PoolWish *wish, int *to);
// One that has something to tell, or has ended without being able to; NULL: it is time to look up, or none is running. Those that tell end
// their pipe at their end; the processes of a pool do either all or none.
PoolJob *pool_wait(Pool *pool);
int pool_end(Pool *pool, PoolJob *job);         // waits for its end and forgets it; its status, SILENT_END if it was silent
void pool_signal(const Pool *pool, int number); // to all that are running

#endif
