// A hash table from values' names to their hashes. Names are 64-bit hashes themselves: two that collide are a chance of
// 1 in 10^6 among ten million values, and would hide a difference, never invent an outcome.
#include "explain/explain_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 16, MOST_SLOTS = 1 << 25 }; // at most 512 MiB, half of it used

static LoggedValue *find(const ValueLog *log, uint64_t key) {
  uint64_t slot = key & log->mask;
  while (log->items[slot].key != 0 && log->items[slot].key != key) slot = (slot + 1) & log->mask;
  return &log->items[slot];
}

static void grow(ValueLog *log) {
  uint64_t slots = log->items == NULL ? FIRST_SLOTS : 2 * (log->mask + 1);
  ValueLog larger = {.items = calloc(slots, sizeof *log->items), .mask = slots - 1, .count = log->count};
  ASSERT(larger.items != NULL);
  for (uint64_t i = 0; log->items != NULL && i <= log->mask; i++) {
    if (log->items[i].key != 0) *find(&larger, log->items[i].key) = log->items[i];
  }
  free(log->items);
  *log = larger;
}

void value_log_put(ValueLog *log, uint64_t key, uint32_t pc, uint32_t hash) {
  if (key == 0) key = 1;
  if (log->items == NULL || 2 * log->count > log->mask) {
    log->full = log->mask + 1 >= MOST_SLOTS;
    if (log->full) return;
    grow(log);
  }
  LoggedValue *at = find(log, key);
  log->count += at->key == 0;
  *at = (LoggedValue){key, pc, hash};
}

const LoggedValue *value_log_get(const ValueLog *log, uint64_t key) {
  if (log->items == NULL) return NULL;
  const LoggedValue *at = find(log, key == 0 ? 1 : key);
  return at->key == 0 ? NULL : at;
}

void value_log_free(ValueLog *log) {
  free(log->items);
  *log = (ValueLog){0};
}

bool value_log_save(const ValueLog *log, const char *path) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  uint64_t slots = log->items == NULL ? 0 : log->mask + 1;
  ValueLog head = {.count = log->count, .mask = slots, .full = log->full};
  bool good = fwrite(&head, sizeof head, 1, file) == 1 && (slots == 0 || fwrite(log->items, sizeof *log->items, slots, file) == slots);
  return fclose(file) == 0 && good;
}

bool value_log_load(ValueLog *log, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  bool good = fread(log, sizeof *log, 1, file) == 1 && log->mask <= MOST_SLOTS;
  uint64_t slots = good ? log->mask : 0;
  log->items = slots == 0 ? NULL : calloc(slots, sizeof *log->items);
  ASSERT(slots == 0 || log->items != NULL);
  log->mask = slots == 0 ? 0 : slots - 1;
  good = good && (slots == 0 || fread(log->items, sizeof *log->items, slots, file) == slots);
  fclose(file);
  return good;
}
