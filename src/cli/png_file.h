// Pictures as PNG files, by libpng.
#ifndef REDOUBT_CLI_PNG_FILE_H
#define REDOUBT_CLI_PNG_FILE_H

#include "base/base.h"

// Four floats from 0 to 1 for each pixel, row by row, in the arena. False, with a diagnostic: the file cannot be read.
bool png_read(const char *path, Arena *arena, uint32_t most_edge, float **pixels, uint32_t *width, uint32_t *height, Diags *diags);
// `channels` (1 or 3) floats for each pixel; what is below 0 becomes 0, what is above 1 becomes 1. Adds the file's bytes.
bool png_write(const float *pixels, uint32_t channels, uint32_t width, uint32_t height, Text *out, Diags *diags);

#endif
