// Preloaded into a program, for soak.py. CLOCK_SEED: its clock of the day is off by up to a day, and jumps forwards and backwards at every third look or so.
// DISK_BYTES: so many bytes can be written to files, then the disk is full; the write that meets its end is cut off.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400, EVERY = 3 };

// ---- The clock -------------------------------------------------------------------------------------------

static int64_t jump(void) {
  static uint32_t state;
  static int64_t off;
  const char *seed = getenv("CLOCK_SEED");
  if (seed == NULL) return 0;
  int is_first = state == 0;
  if (is_first) state = ((uint32_t)atoi(seed) + (uint32_t)getpid()) * 2654435761U | 1; // processes of one command differ, too
  state = state * 1664525U + 1013904223U;
  if (is_first || (state >> 8) % EVERY == 0) off = (int64_t)((state >> 4) % (2 * DAY)) - DAY;
  return off;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, time);
  if (clock == CLOCK_REALTIME && code == 0) time->tv_sec += jump(); // the monotonic clock does not jump on any machine
  return code;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *to = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

// ---- The disk --------------------------------------------------------------------------------------------

// How much of a write has room. Pipes and terminals have room for all.
static size_t room(int file, size_t bytes) {
  static int64_t left = -1;
  const char *most = getenv("DISK_BYTES");
  struct stat about;
  if (most == NULL || bytes == 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return bytes;
  if (left < 0) left = atoll(most);
  size_t fits = (uint64_t)left < bytes ? (size_t)left : bytes;
  left -= (int64_t)fits;
  if (fits == 0) errno = ENOSPC;
  return fits;
}

ssize_t write(int file, const void *from, size_t bytes) {
  static ssize_t (*real)(int, const void *, size_t);
  if (real == NULL) real = (ssize_t(*)(int, const void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "write");
  size_t fits = room(file, bytes);
  return fits == 0 && bytes > 0 ? -1 : real(file, from, fits);
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off64_t at) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (real == NULL) real = (ssize_t(*)(int, const void *, size_t, off64_t))(uintptr_t)dlsym(RTLD_NEXT, "pwrite64");
  size_t fits = room(file, bytes);
  return fits == 0 && bytes > 0 ? -1 : real(file, from, fits, at);
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) { return pwrite64(file, from, bytes, at); }
