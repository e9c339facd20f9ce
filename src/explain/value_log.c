// A hash table from values' names to their hashes. Names are 64-bit hashes themselves: two that collide are a chance of
// 1 in 10^6 among ten million values, and would hide a difference, never invent an outcome.
#include "explain/explain_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ENTRIES = 1 << 16, MOST_ENTRIES = 1 << 25 }; // at most 512 MiB, half of it used

static LoggedValue *find(const ValueLog *log, uint64_t key) {
  uint64_t entry = key & log->mask;
  while (log->items[entry].key != 0 && log->items[entry].key != key) entry = (entry + 1) & log->mask;
  return &log->items[entry];
}

static void grow(ValueLog *log) {
  uint64_t entries = log->items == NULL ? FIRST_ENTRIES : 2 * (log->mask + 1);
  ValueLog larger = {.items = calloc(entries, sizeof *log->items), .mask = entries - 1, .count = log->count};
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
    log->full = log->mask + 1 >= MOST_ENTRIES;
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
  uint64_t entries = log->items == NULL ? 0 : log->mask + 1;
  ValueLog head = {.count = log->count, .mask = entries, .full = log->full};
  bool good =
      fwrite(&head, sizeof head, 1, file) == 1 && (entries == 0 || fwrite(log->items, sizeof *log->items, entries, file) == entries);
  return fclose(file) == 0 && good;
}

bool value_log_load(ValueLog *log, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  bool good = fread(log, sizeof *log, 1, file) == 1 && log->mask <= MOST_ENTRIES;
  uint64_t entries = good ? log->mask : 0;
  log->items = entries == 0 ? NULL : calloc(entries, sizeof *log->items);
  ASSERT(entries == 0 || log->items != NULL);
  log->mask = entries == 0 ? 0 : entries - 1;
  good = good && (entries == 0 || fread(log->items, sizeof *log->items, entries, file) == entries);
  fclose(file);
  return good;
}
