// Processes that the commands about clusters start.
#include "cli/cli.h"
#include "cli/cluster.h"
#include "cli/interrupt.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

int process_output(const char *const *words, Text *out) {
  int ends[2], status = 0;
  if (pipe2(ends, O_CLOEXEC) != 0) return NOT_STARTED;
  pid_t child = process_fork(0);
  if (child == 0) {
    interrupt_release();
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execvp(words[0], (char *const *)(uintptr_t)words);
    _exit(NOT_STARTED);
  }
  close(ends[1]);
  char bytes[4096];
  for (ssize_t count; child > 0 && ((count = read(ends[0], bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR));) {
    if (count > 0) text_add_bytes(out, bytes, (size_t)count);
  }
  close(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) return NOT_STARTED;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

void own_process_become(const OwnProcess *process) {
  interrupt_release();
  if (process->out >= 0) dup2(process->out, STDOUT_FILENO);
  if (process->err >= 0) dup2(process->err, STDERR_FILENO);
  if (process->work == NULL || chdir(process->work) == 0) execv("/proc/self/exe", (char *const *)(uintptr_t)process->words);
  _exit(NOT_STARTED);
}

int own_process_run(const OwnProcess *process, int *stopped_by) {
  int status = 0;
  pid_t child = process_fork(SIGTERM);
  if (child == 0) own_process_become(process);
  if (child < 0) return NOT_STARTED;
  while (process_wait(child, &status) == 0) {
    int number = interrupt_take();
    if (number > 0) *stopped_by = number;
    if (number > 0) kill(child, SIGTERM);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

void folder_remove(const char *path) {
  enum { OPEN_AT_ONCE = 16 };
  nftw(path, remove_entry, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

uint64_t own_hash(void) {
  uint64_t hash;
  return file_hash("/proc/self/exe", &hash) ? hash : 0;
}
