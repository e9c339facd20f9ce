// See process.h: starting processes, an end that is waited for without becoming deaf, a limit for those that hang, whole messages through pipes.
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

int process_end(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
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
  if (!WIFSIGNALED(status)) snprintf(note, bytes, "the simulation ended without a result (exit code %d)", WEXITSTATUS(status));
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

PoolJob *pool_wait(Pool *pool) {
  PoolJob *job = next_ready(pool); // that an earlier look has found
  if (job != NULL || pool->running == 0) return job;
  if (pool->jobs[0].from < 0) return wait_for_end(pool);
  struct pollfd waits[MOST_JOBS];
  for (uint32_t i = 0; i < pool->running; i++) waits[i] = (struct pollfd){.fd = pool->jobs[i].from, .events = POLLIN};
  int ready = poll(waits, pool->running, LOOK_UP_MS);
  for (uint32_t i = 0; i < pool->running; i++) pool->jobs[i].is_ready = ready > 0 && waits[i].revents != 0;
  pool->next = 0;
  return next_ready(pool);
}

int pool_end(Pool *pool, PoolJob *job) {
  if (job->from >= 0) close(job->from);
  int status = job->has_ended ? job->status : process_end(job->pid);
  uint32_t index = (uint32_t)(job - pool->jobs);
  *job = pool->jobs[--pool->running];
  if (pool->next > index) pool->next = index; // the one that has taken its place may be ready, too
  return status;
}

void pool_signal(const Pool *pool, int number) {
  for (uint32_t i = 0; i < pool->running; i++) kill(pool->jobs[i].pid, number);
}
