// What commands about journals share.
#ifndef REDOUBT_CLI_JOURNAL_H
#define REDOUBT_CLI_JOURNAL_H

#include "base/base.h"

bool report_print(const char *path, double confidence, Diags *diags); // the tables of a journal, to the terminal

#endif
