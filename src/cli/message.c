// What the command says: messages on stderr, tables on stdout, and the clock. Text from outside (paths, names, journals) may hold
// anything, so nothing is written before control characters are made visible; colours are put in after that.
#include "cli/cli.h"

#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// One line: where, what it is (in a colour), and the rest.
static void print_line(const char *where, const char *kind, const char *text) {
  Text line = {0};
  fflush(stdout);
  text_add_visible(&line, where, strlen(where), "");
  text_add_coloured(&line, stderr, COLOUR_BAD, kind);
  text_add_visible(&line, text, strlen(text), "");
  text_add_bytes(&line, "\n", 1);
  fputs(line.at, stderr);
  text_free(&line);
}

static void say(const char *kind, const char *format, va_list arguments) {
  char *text = NULL;
  int length = vasprintf(&text, format, arguments);
  ASSERT(length >= 0);
  print_line("", kind, text);
  free(text);
}

void message_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("redoubt: ", format, arguments);
  va_end(arguments);
}

void message_note(bool quiet, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (!quiet) say("", format, arguments);
  va_end(arguments);
}

int message_usage(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("redoubt: ", format, arguments);
  va_end(arguments);
  fprintf(stderr, "Try 'redoubt%s%s --help'.\n", command[0] == '\0' ? "" : " ", command);
  return EXIT_BAD_INPUT;
}

// Reading order: files as they were met, then lines, then columns.
static int compare_diags(const Diag *a, const Diag *b) {
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  if (a->column != b->column) return a->column < b->column ? -1 : 1;
  return 0;
}

// Insertion sort: stable, and the lists are short or nearly sorted.
static void sort_diags(Diag *items, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    Diag moved = items[i];
    uint32_t place = i;
    for (; place > 0 && compare_diags(&moved, &items[place - 1]) < 0; place--) items[place] = items[place - 1];
    items[place] = moved;
  }
}

static bool same_file(const Diag *a, const Diag *b) { return a->file != NULL && b->file != NULL && strcmp(a->file, b->file) == 0; }

// As diag_format writes it, with "error:" in a colour.
static void print_diag(const Diag *diag) {
  if (diag->file == NULL) {
    print_line("", "redoubt: ", diag->text);
    return;
  }
  Text line = {0};
  diag_format(diag, &line);
  line.at[line.length - 1] = '\0'; // print_line ends it
  size_t head = line.length - 1 - strlen(diag->text) - strlen("error: ");
  line.at[head] = '\0';
  print_line(line.at, "error: ", diag->text);
  text_free(&line);
}

// Passes of the front end report one after the other; people read a file from top to bottom. Of
// several problems at one place the first is the cause, the others follow from it.
int message_diags(Diags *diags) {
  for (uint32_t first = 0, end; first < diags->count; first = end) {
    for (end = first + 1; end < diags->count && same_file(&diags->items[first], &diags->items[end]);) end++;
    sort_diags(diags->items + first, end - first);
    for (uint32_t i = first; i < end; i++) {
      const Diag *diag = &diags->items[i];
      bool repeats = i > first && diag->line > 0 && compare_diags(diag, diag - 1) == 0;
      if (!repeats) print_diag(diag);
    }
  }
  diags_free(diags);
  return EXIT_BAD_INPUT;
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double host_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }
double cpu_seconds(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
