// What of a CUDA program's standard output is not compared: all of it or lines by pattern, if users say so, and numbers that vary between
// runs without faults, such as times.
#ifndef REDOUBT_APP_MASK_H
#define REDOUBT_APP_MASK_H

#include "base/base.h"

#include <regex.h>
#include <stdio.h>

typedef struct MaskedNumber {
  uint64_t line;   // from 1, ignored lines not counted
  uint32_t number; // on the line, from 0
} MaskedNumber;
typedef VEC(MaskedNumber) MaskedNumbers;

typedef struct AppMask {
  Arena *arena;
  bool all;              // nothing of it is compared
  VEC(regex_t) ignored;  // lines that match one of them
  MaskedNumbers numbers; // in order
  uint32_t said;         // of the numbers: users know
} AppMask;

bool app_mask_ignore(AppMask *mask, const char *pattern, Diags *diags); // a POSIX extended regular expression
void app_mask_free(AppMask *mask);
uint64_t app_mask_hash(const AppMask *mask, const char *path, uint64_t seed); // of what is compared of the file
// Two outputs of runs without faults: masks the numbers that differ. False: more than numbers differ; `what` says where.
bool app_mask_learn(AppMask *mask, const char *before, const char *now, Text *what);
// Which lines have numbers that are not compared, as they stand in the file; those that were said before are left out.
void app_mask_tell(AppMask *mask, const char *path, Text *out);

bool app_first_difference(const char *one, const char *other, const char *name, Text *out); // of two files; false: none

// The lines of a file that are compared, as they are compared.
typedef struct MaskedLines {
  const AppMask *mask;
  FILE *file;
  char *raw, *line; // as in the file; as compared
  size_t raw_room, line_room, raw_length, length;
  uint64_t number; // of the line, from 1
  uint32_t next;   // of the masked numbers
} MaskedLines;
void masked_lines_open(MaskedLines *lines, const AppMask *mask, const char *path);
bool masked_lines_next(MaskedLines *lines); // false: no more
void masked_lines_close(MaskedLines *lines);
void masked_lines_show(const MaskedLines *lines, bool there, Text *out); // in a message; not there: "nothing"

#endif
