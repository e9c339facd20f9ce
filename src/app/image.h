// Which program a process runs: exec puts another one in its place, and that may be one without our libraries. Of all that a process has of
// its own, exec takes signal handlers away, whatever else the program keeps, and /proc tells which there are even after the process's end. Each of
// our libraries therefore gives the process a handler of a signal that the C library keeps for itself (it ends threads that are cancelled) and
// that nobody else can ask for; `redoubt run` looks for it (cli/run_app.c). The handler is never called.
#ifndef REDOUBT_IMAGE_H
#define REDOUBT_IMAGE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IMAGE_SIGNAL = 32 };

static inline void image_nothing(int signal_number) { (void)signal_number; }

// As Linux has it: the C library refuses this signal.
typedef struct ImageAction {
  void (*handler)(int);
  unsigned long flags;
  void *restorer;
  unsigned long mask;
} ImageAction;

static inline void image_mark(void) {
  ImageAction now = {0}, own = {.handler = image_nothing};
#ifdef SA_RESTORER
  own.flags = SA_RESTORER;
#elif defined(__x86_64__)
  own.flags = 0x04000000; // there it must be
#endif
  long known = syscall(SYS_rt_sigaction, IMAGE_SIGNAL, NULL, &now, sizeof own.mask);
  bool is_handled = known != 0 || (now.handler != SIG_DFL && now.handler != SIG_IGN); // whoever has started us may ignore it
  if (!is_handled) syscall(SYS_rt_sigaction, IMAGE_SIGNAL, &own, NULL, sizeof own.mask);
}

// Does this process, which may have ended, run a program that has called it? True if that cannot be known. (image.c)
bool image_is_marked(pid_t pid);

#endif
