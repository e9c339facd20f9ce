// Text for people: what may go to a terminal, and in which colours.
#ifndef REDOUBT_CLI_SCREEN_H
#define REDOUBT_CLI_SCREEN_H

#include "base/base.h"

#include <stdio.h>

typedef enum Colour { COLOUR_NONE, COLOUR_GOOD, COLOUR_BAD, COLOUR_DOUBTFUL, COLOUR_CAUGHT } Colour;

bool screen_has_colours(FILE *file);                                              // a terminal, and NO_COLOR is not set
void text_add_coloured(Text *text, FILE *file, Colour colour, const char *plain); // plain where the file has no colours
// Tables and lists, to stdout: control characters made visible; lines stay lines. False: it could not be written.
bool screen_print(const char *text);
// The same with names of outcomes, "passed" and "failed" in colours.
bool screen_print_outcomes(const char *text);

#endif
