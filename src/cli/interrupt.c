// See interrupt.h. Nothing is kept: what is held is asked of the process itself.
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

bool interrupt_is_heard(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN;
}

static sigset_t ending_signals(void) {
  static const int all[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (interrupt_is_heard(all[i])) sigaddset(&set, all[i]);
  }
  return set;
}

void interrupt_hold(void) {
  sigset_t set = ending_signals();
  sigprocmask(SIG_BLOCK, &set, NULL);
}

void interrupt_release(void) {
  sigset_t set = ending_signals();
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int interrupt_take(void) {
  sigset_t set = ending_signals();
  int number = sigtimedwait(&set, NULL, &(struct timespec){0});
  return number > 0 ? number : 0;
}
