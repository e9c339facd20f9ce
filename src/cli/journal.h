// What commands about journals share.
#ifndef REDOUBT_CLI_JOURNAL_H
#define REDOUBT_CLI_JOURNAL_H

#include "base/base.h"

// The tables of a journal, to the terminal. `*internal`: how many simulations in it have failed in Redoubt itself.
bool report_print(const char *path, double confidence, uint64_t *internal, Diags *diags);

#endif
