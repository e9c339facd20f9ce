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

enum { NOT_STARTED = 127, ANSWER_SECONDS = 120 };

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
  if (child > 0) status = process_read(child, ends[0], ANSWER_SECONDS, out);
  close(ends[0]);
  if (child < 0) return NOT_STARTED;
  if (status == SILENT_END) message_error("%s (process %d) has not answered for %d s: it was ended", words[0], (int)child, ANSWER_SECONDS);
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
  ProcessWatch watch = {0};
  bool is_silent = false;
  while (process_wait(child, &status) == 0) {
    int number = interrupt_take();
    if (number > 0) *stopped_by = number;
    if (number > 0) kill(child, SIGTERM);
    if (is_silent || process_silence(&watch, child) < SILENCE_SECONDS) continue;
    is_silent = true;
    message_error("redoubt %s (process %d) has done nothing for %d s: it was ended", process->words[1], (int)child, SILENCE_SECONDS);
    kill(child, SIGKILL);
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
