// A map from pointers to pointers: open addressing, linear probing, grown at half full.
#include "cudart/runtime.h"

#include <stdlib.h>

static uint32_t entry_of(const PointerMap *map, const void *key) {
  uint64_t mixed = address_of(key) * UINT64_C(0x9E3779B97F4A7C15);
  uint32_t entry = (uint32_t)(mixed >> 32) & (map->capacity - 1);
  while (map->keys[entry] != NULL && map->keys[entry] != key) entry = (entry + 1) & (map->capacity - 1);
  return entry;
}

void *pointer_map_get(const PointerMap *map, const void *key) {
  if (map->count == 0 || key == NULL) return NULL;
  uint32_t entry = entry_of(map, key);
  return map->keys[entry] == NULL ? NULL : map->values[entry];
}

static void grow(PointerMap *map) {
  PointerMap old = *map;
  map->capacity = old.capacity == 0 ? 64 : 2 * old.capacity;
  map->keys = calloc(map->capacity, sizeof *map->keys);
  map->values = calloc(map->capacity, sizeof *map->values);
  ASSERT(map->keys != NULL && map->values != NULL);
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.keys[i] == NULL) continue;
    uint32_t entry = entry_of(map, old.keys[i]);
    map->keys[entry] = old.keys[i];
    map->values[entry] = old.values[i];
  }
  free(old.keys);
  free(old.values);
}

void pointer_map_put(PointerMap *map, const void *key, void *value) {
  if (2 * map->count >= map->capacity) grow(map);
  uint32_t entry = entry_of(map, key);
  if (map->keys[entry] == NULL) map->count++;
  map->keys[entry] = key;
  map->values[entry] = value;
}

void *pointer_map_take(PointerMap *map, const void *key) {
  if (map->count == 0 || key == NULL) return NULL;
  uint32_t entry = entry_of(map, key);
  if (map->keys[entry] == NULL) return NULL;
  void *value = map->values[entry];
  map->keys[entry] = NULL;
  map->count--;
  // Keys that were pushed past the hole move back.
  for (uint32_t i = (entry + 1) & (map->capacity - 1); map->keys[i] != NULL; i = (i + 1) & (map->capacity - 1)) {
    const void *key_here = map->keys[i];
    void *value_here = map->values[i];
    map->keys[i] = NULL;
    uint32_t place = entry_of(map, key_here);
    map->keys[place] = key_here;
    map->values[place] = value_here;
  }
  return value;
}
