// Formatted output of kernels' printf: C's conversions on arguments in simulated memory.
#ifndef REDOUBT_PARTS_FORMAT_H
#define REDOUBT_PARTS_FORMAT_H

#include "base/base.h"

// Where arguments and strings come from. Both return false for addresses that are not valid, which ends the formatting.
typedef struct FormatSource {
  bool (*argument)(void *context, uint32_t offset, uint32_t bytes, void *to); // at `offset` of the argument area
  bool (*byte)(void *context, uint64_t address, char *to);                    // of a string
  void *context;
  uint32_t pointer_bytes; // 4 or 8; also the size of long and size_t
} FormatSource;

// Appends to `out`. *arguments is the number of arguments that were used. A conversion that C does not
// know is printed as it stands. False: a source said no.
bool format_print(const FormatSource *source, uint64_t format, Text *out, uint32_t *arguments);
// Appends a NUL-terminated string of simulated memory, at most `most` bytes; "(null)" for address 0.
bool format_string(const FormatSource *source, uint64_t address, uint32_t most, Text *out);

#endif
