// Signals that end a command in order: Ctrl-C, SIGTERM, SIGHUP. While they are held they wait until they are asked for; those that were ignored
// when the command began (nohup) stay ignored.
#ifndef REDOUBT_CLI_INTERRUPT_H
#define REDOUBT_CLI_INTERRUPT_H

#include <stdbool.h>

enum { EXIT_SIGNAL = 128 }; // the exit code is so much more than the signal

void interrupt_hold(void);
void interrupt_release(void);        // they end the process again
int interrupt_take(void);            // one that has come; 0: none
bool interrupt_is_heard(int number); // not ignored

#endif
