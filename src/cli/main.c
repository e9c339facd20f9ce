// The redoubt command.
#include "cli/cli.h"
#include "cli/out_file.h"

#include <signal.h>
#include <unistd.h>

// A failed assertion says so and stops; scripts see the exit code that --help names.
static void on_failed_assertion(int number) {
  (void)number;
  out_abandon();
  _exit(EXIT_INTERNAL);
}

int main(int argc, char **argv) {
  signal(SIGABRT, on_failed_assertion);
  signal(SIGILL, on_failed_assertion);
  signal(SIGXFSZ, SIG_IGN); // the write that is too much fails instead, and whoever writes says so
  return cli_main(argc, argv);
}
