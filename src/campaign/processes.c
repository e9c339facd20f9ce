// What a campaign needs of its processes: an end that it waits for without becoming deaf, a limit for those that hang, and whole
// messages through pipes.
#include "campaign/processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

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
