// What the files of `redoubt list` share.
#ifndef REDOUBT_CLI_LIST_H
#define REDOUBT_CLI_LIST_H

#include "cli/run.h"

typedef struct ListOptions {
  RunOptions run; // of it the machine, protections, and how workloads are measured
  bool markdown, traits;
  Arena *arena;
} ListOptions;

int list_workloads(ListOptions *options, const Operands *operands); // list_workloads.c; operands begin with "workloads"

#endif
