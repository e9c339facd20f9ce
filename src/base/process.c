// See process.h: starting processes, an end that is waited for without becoming deaf, a limit for those that hang, whole messages through pipes.
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t process_fork(int dies_by) {
  pid_t parent = getpid();
  fflush(NULL);
  pid_t pid = fork();
  if (pid != 0 || dies_by == 0) return pid;
  prctl(PR_SET_PDEATHSIG, dies_by);
  if (getppid() != parent) raise(dies_by); // it has ended before
  return 0;
}

// Not close_range: Linux has it as it is needed here from 5.11 on, the C library from 2.34 on.
void process_keep_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    int file = (int)strtol(entry->d_name, NULL, 10);
    if (file > STDERR_FILENO) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  if (folder != NULL) closedir(folder);
}

// ---- Silence -----------------------------------------------------------------------------------------

typedef struct Seen { // of one process in /proc
  pid_t pid, parent;
  char state;
  uint64_t ticks; // its own, and those of children that have ended
  bool is_ours;   // the one that is watched, or started by it
} Seen;
typedef struct SeenList {
  Seen *items;
  uint32_t count, capacity;
} SeenList;

bool process_about(pid_t pid, const char *name, char *text, size_t bytes) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = file < 0 ? -1 : read(file, text, bytes - 1);
  if (file >= 0) close(file);
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

// A name may hold anything, parentheses too.
static bool see(pid_t pid, Seen *seen) {
  char text[1024];
  process_about(pid, "stat", text, sizeof text);
  const char *name_end = strrchr(text, ')');
  unsigned long long user = 0, system = 0;
  long long user_below = 0, system_below = 0;
  int parent = 0;
  *seen = (Seen){.pid = pid};
  if (name_end == NULL || sscanf(name_end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", &seen->state, &parent,
                                 &user, &system, &user_below, &system_below) != 6)
    return false;
  seen->parent = parent;
  seen->ticks = user + system + (uint64_t)user_below + (uint64_t)system_below;
  return true;
}

static void see_all(SeenList *list) {
  DIR *folder = opendir("/proc");
  for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    Seen seen;
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (pid <= 0 || !see(pid, &seen)) continue;
    if (list->count == list->capacity) {
      list->capacity = 2 * list->capacity + 64;
      list->items = realloc(list->items, list->capacity * sizeof *list->items);
      ASSERT(list->items != NULL);
    }
    list->items[list->count++] = seen;
  }
  if (folder != NULL) closedir(folder);
}

static bool is_ours(const SeenList *list, pid_t pid) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->items[i].pid == pid) return list->items[i].is_ours;
  }
  return false;
}

static void mark_ours(SeenList *list, pid_t root) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < list->count; i++) {
      Seen *seen = &list->items[i];
      if (seen->is_ours || (seen->pid != root && !is_ours(list, seen->parent))) continue;
      seen->is_ours = more = true;
    }
  }
}

// Runs, or waits for a disk or a debugger.
static bool is_busy(char state) { return state == 'R' || state == 'D' || state == 't'; }

// Has any of them worked since the last look?
static bool has_worked(ProcessWatch *watch) {
  SeenList list = {0};
  uint64_t ticks = 0, started = 0;
  bool busy = false;
  see_all(&list);
  mark_ours(&list, watch->pid);
  for (uint32_t i = 0; i < list.count; i++) {
    const Seen *seen = &list.items[i];
    if (!seen->is_ours) continue;
    ticks += seen->ticks;
    started = hash_bytes(&seen->pid, sizeof seen->pid, started);
    busy = busy || is_busy(seen->state);
  }
  free(list.items);
  busy = busy || ticks != watch->ticks || started != watch->started;
  watch->ticks = ticks;
  watch->started = started;
  return busy;
}

uint32_t process_silence(ProcessWatch *watch, pid_t pid) {
  enum { LOOKS_A_SECOND = 1000 / LOOK_UP_MS };
  if (watch->pid != pid) *watch = (ProcessWatch){.pid = pid};
  if (++watch->looks < LOOKS_A_SECOND) return watch->silent;
  watch->looks = 0;
  Seen seen;
  bool works = !see(pid, &seen) || is_busy(seen.state) || has_worked(watch); // one that cannot be seen is not judged
  watch->silent = works ? 0 : watch->silent + 1;
  return watch->silent;
}

// ---- One process -------------------------------------------------------------------------------------

// Comes back when the process has ended, or when it is time to look up.
static void wait_a_while(pid_t pid) {
#ifdef SYS_pidfd_open // from Linux 5.3 on, in the C library from 2.36 on
  int file = (int)syscall(SYS_pidfd_open, pid, 0);
#else
  int file = -1;
#endif
  struct pollfd end = {.fd = file, .events = POLLIN};
  poll(&end, file >= 0 ? 1 : 0, LOOK_UP_MS);
  if (file >= 0) close(file);
}

static int end_within(pid_t pid, uint32_t patience) {
  ProcessWatch watch = {0};
  bool was_silent = false;
  for (int status = 0;;) {
    pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return was_silent ? SILENT_END : status;
    wait_a_while(pid);
    if (process_silence(&watch, pid) < patience) continue;
    was_silent = true;
    kill(pid, SIGKILL);
  }
}

int process_end(pid_t pid) { return end_within(pid, SILENCE_SECONDS); }

int process_read(pid_t pid, int from, uint32_t patience, Text *out) {
  ProcessWatch watch = {0};
  bool was_silent = false;
  char bytes[4096];
  for (ssize_t count = 1; count != 0 && !was_silent;) {
    struct pollfd wait = {.fd = from, .events = POLLIN};
    int ready = poll(&wait, 1, LOOK_UP_MS);
    if (ready == 0) was_silent = process_silence(&watch, pid) >= patience;
    if (ready <= 0) continue;
    count = read(from, bytes, sizeof bytes);
    if (count < 0 && errno != EINTR) break;
    if (count > 0) text_add_bytes(out, bytes, (size_t)count);
  }
  if (was_silent) kill(pid, SIGKILL);
  int status = end_within(pid, patience);
  return was_silent ? SILENT_END : status;
}

static void on_alarm(int signal_number) { (void)signal_number; } // waitpid returns, that is all

// The alarm comes again and again, for the first may come before waitpid is called.
pid_t process_wait(pid_t pid, int *status) {
  const struct timeval period = {.tv_usec = LOOK_UP_MS * 1000};
  struct sigaction wake = {.sa_handler = on_alarm}, before;
  sigaction(SIGALRM, &wake, &before);
  setitimer(ITIMER_REAL, &(struct itimerval){period, period}, NULL);
  pid_t ended = waitpid(pid, status, 0);
  int error = errno;
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  sigaction(SIGALRM, &before, NULL);
  errno = error;
  return ended < 0 && error == EINTR ? 0 : ended;
}

double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double process_seconds(int who) {
  struct rusage usage;
  getrusage(who, &usage);
  return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void process_allow(uint64_t seconds) {
  struct rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = min_u64((uint64_t)process_seconds(RUSAGE_SELF) + seconds + 1, limit.rlim_max);
  setrlimit(RLIMIT_CPU, &limit);
}

void process_end_note(int status, char *note, size_t bytes) {
  if (status == SILENT_END) snprintf(note, bytes, "the simulation did nothing for %d s: it was ended", SILENCE_SECONDS);
  else if (!WIFSIGNALED(status)) snprintf(note, bytes, "the simulation ended without a result (exit code %d)", WEXITSTATUS(status));
  else if (WTERMSIG(status) == SIGXCPU) snprintf(note, bytes, "the simulation hung: it took more processor time than any run can");
  else snprintf(note, bytes, "the simulation was ended by signal %d", WTERMSIG(status));
}

bool pipe_write(int to, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  while (count > 0) {
    ssize_t written = write(to, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    count -= (size_t)written;
  }
  return true;
}

bool pipe_read(int from, void *bytes, size_t count) {
  uint8_t *at = bytes;
  while (count > 0) {
    ssize_t got = read(from, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= (size_t)got;
  }
  return true;
}

// ---- Several at a time -------------------------------------------------------------------------------

PoolSide pool_start(Pool *pool, const PoolWish *wish, int *to) {
  int ends[2] = {-1, -1};
  if (pool->running == MOST_JOBS) {
    errno = EAGAIN;
    return POOL_FAILED;
  }
  if (wish->tells && pipe2(ends, O_CLOEXEC) != 0) return POOL_FAILED;
  pid_t pid = process_fork(wish->dies_by);
  if (pid == 0) {
    if (wish->seconds > 0) process_allow(wish->seconds);
    if (wish->tells) close(ends[0]);
    if (to != NULL) *to = ends[1];
    return POOL_CHILD;
  }
  int error = errno;
  if (wish->tells) close(ends[1]);
  if (wish->tells && pid < 0) close(ends[0]);
  errno = error;
  if (pid < 0) return POOL_FAILED;
  pool->jobs[pool->running++] = (PoolJob){.pid = pid, .from = ends[0], .tag = wish->tag};
  return POOL_PARENT;
}

static PoolJob *next_ready(Pool *pool) {
  while (pool->next < pool->running) {
    PoolJob *job = &pool->jobs[pool->next++];
    if (!job->is_ready) continue;
    job->is_ready = false;
    return job;
  }
  return NULL;
}

static PoolJob *wait_for_end(Pool *pool) {
  int status = 0;
  pid_t pid = process_wait(-1, &status);
  for (uint32_t i = 0; i < pool->running && pid > 0; i++) {
    if (pool->jobs[i].pid != pid) continue;
    pool->jobs[i].has_ended = true;
    pool->jobs[i].status = status;
    return &pool->jobs[i];
  }
  return NULL;
}

static uint32_t patience_of(const Pool *pool) { return pool->patience == 0 ? SILENCE_SECONDS : pool->patience; }

// It is time to look up: whoever has been silent for too long is ended, which the next look sees.
static void end_silent(Pool *pool) {
  for (uint32_t i = 0; i < pool->running; i++) {
    PoolJob *job = &pool->jobs[i];
    if (process_silence(&job->watch, job->pid) < patience_of(pool)) continue;
    job->was_silent = true;
    kill(job->pid, SIGKILL);
  }
}

PoolJob *pool_wait(Pool *pool) {
  PoolJob *job = next_ready(pool); // that an earlier look has found
  if (job != NULL || pool->running == 0) return job;
  if (pool->jobs[0].from < 0) {
    job = wait_for_end(pool);
    if (job == NULL) end_silent(pool);
    return job;
  }
  struct pollfd waits[MOST_JOBS];
  for (uint32_t i = 0; i < pool->running; i++) waits[i] = (struct pollfd){.fd = pool->jobs[i].from, .events = POLLIN};
  int ready = poll(waits, pool->running, LOOK_UP_MS);
  for (uint32_t i = 0; i < pool->running; i++) pool->jobs[i].is_ready = ready > 0 && waits[i].revents != 0;
  pool->next = 0;
  if (ready == 0) end_silent(pool);
  return next_ready(pool);
}

int pool_end(Pool *pool, PoolJob *job) {
  if (job->from >= 0) close(job->from);
  int status = job->has_ended ? job->status : end_within(job->pid, patience_of(pool));
  if (job->was_silent) status = SILENT_END;
  uint32_t index = (uint32_t)(job - pool->jobs);
  *job = pool->jobs[--pool->running];
  if (pool->next > index) pool->next = index; // the one that has taken its place may be ready, too
  return status;
}

void pool_signal(const Pool *pool, int number) {
  for (uint32_t i = 0; i < pool->running; i++) kill(pool->jobs[i].pid, number);
}
