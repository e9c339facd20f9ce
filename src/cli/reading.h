// Journals that a command reads, with what they say.
#ifndef REDOUBT_CLI_READING_H
#define REDOUBT_CLI_READING_H

#include "report/report.h"

#define CONFIDENCE_HELP "of the intervals (default: what the campaign was asked for; 0.99 where campaigns differ in it)"

#define VERBOSE_HELP "also say by which shortcuts faults were settled, for developers"

enum { MOST_JOURNALS = 1024 };

// All of them or none.
typedef struct Reading {
  Arena *arena;
  Journal **journals;
  Report **reports;
  uint32_t count;
} Reading;
bool reading_open(Reading *reading, char **paths, uint32_t count, const ReportOptions *options, Diags *diags);
void reading_close(Reading *reading); // also of one that was not opened
// The exit code: a journal whose figures cannot be trusted, or that has none to show, is no success.
int reading_code(const Reading *reading);
bool reading_whole(const Reading *reading, Diags *diags); // what takes several journals needs the shares of all
void reading_say_internal(const Reading *reading);        // simulations that failed in Redoubt itself; tables say so themselves
bool is_folder(const char *path);                         // that is there

#endif
