// Manual pages and completions of shells, made of the same tables as --help.
#ifndef REDOUBT_CLI_MANUAL_H
#define REDOUBT_CLI_MANUAL_H

#include "cli/options.h"

void manual_page(const Command *command, Text *out); // as man(7) wants it; NULL: the page of redoubt itself
void manual_markdown(Text *out);                     // every command, as a page of docs/
void completion_bash(Text *out);
void completion_zsh(Text *out);
void completion_fish(Text *out);

#endif
