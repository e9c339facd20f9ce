// Jumps out of a loaded object into a library that is loaded when the first of them is taken.
//
// A function is replaced by five bytes, a jump to its entry in the island: memory near the object, since such a jump reaches 2 GiB.
// There a second jump leads on, to wherever the entry's `target` says. Five bytes fit nearly everywhere: functions begin at multiples of 16.
#ifndef REDOUBT_STATIC_ISLAND_H
#define REDOUBT_STATIC_ISLAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int IslandRefusal(const char *name); // what a function that the library does not have does instead

typedef struct IslandLibrary {
  const char *path;
  void *handle;          // NULL: not loaded
  IslandRefusal *refuse; // see entry.S: third field
} IslandLibrary;

typedef struct IslandEntry {
  void *target;           // where the jump leads
  void *lazy;             // who looks for the target at the first call
  const char *name;       // see entry.S: third field
  IslandLibrary *library; // fourth
} IslandEntry;

typedef struct Island {
  uint8_t *code;
  IslandEntry *entries;
  uint32_t count, room;
} Island;

enum { ISLAND_JUMP_BYTES = 5 };

bool island_new(Island *island, uint64_t near, uint32_t room); // false: no free memory in reach
// The entry for this function: where the jump at its first bytes leads.
const uint8_t *island_entry(Island *island, IslandLibrary *library, const char *name);
bool island_seal(Island *island); // its code can be executed from now on

#endif
