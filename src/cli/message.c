// What the command says on stderr, and the clock.
#include "cli/cli.h"

#include <stdio.h>
#include <time.h>

static void say(const char *format, va_list arguments) {
  fflush(stdout);
  fputs("redoubt: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void message_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

int message_usage(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  fprintf(stderr, "Try 'redoubt%s%s --help'.\n", command[0] == '\0' ? "" : " ", command);
  return EXIT_BAD_INPUT;
}

int message_diags(Diags *diags) {
  fflush(stdout);
  for (uint32_t i = 0; i < diags->count; i++) {
    Text line = {0};
    if (diags->items[i].file == NULL) text_add(&line, "redoubt: ");
    Text rest = {0};
    diag_format(&diags->items[i], &rest);
    const char *text = rest.at;
    if (diags->items[i].file == NULL && strncmp(text, "error: ", 7) == 0) text += 7;
    text_add(&line, "%s", text);
    fputs(line.at, stderr);
    text_free(&rest);
    text_free(&line);
  }
  diags_free(diags);
  return EXIT_BAD_INPUT;
}

double host_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
