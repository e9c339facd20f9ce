// What of the process's memory can be read: /proc/self/maps. Images that programs pass by pointer have no length, and
// a damaged one must not make us read beyond the memory that holds it.
#include "cudart/runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

size_t mapped_bytes(const void *pointer) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (file == NULL) return 0;
  uint64_t at = address_of(pointer), end = at, first, last;
  char *line = NULL, access;
  size_t room = 0;
  while (getline(&line, &room, file) >= 0) { // sorted by address
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &first, &last, &access) != 3 || access != 'r' || last <= end) continue;
    if (first > end) break;
    end = last; // neighbours count as one
  }
  free(line);
  fclose(file);
  return end - at;
}
