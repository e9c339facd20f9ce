// A map from pointers to pointers: open addressing, linear probing, grown at half full.
#include "cudart/runtime.h"

#include <stdlib.h>

static uint32_t slot_of(const PointerMap *map, const void *key) {
  uint64_t mixed = address_of(key) * UINT64_C(0x9E3779B97F4A7C15);
  uint32_t slot = (uint32_t)(mixed >> 32) & (map->capacity - 1);
  while (map->keys[slot] != NULL && map->keys[slot] != key) slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

void *pointer_map_get(const PointerMap *map, const void *key) {
  if (map->count == 0 || key == NULL) return NULL;
  uint32_t slot = slot_of(map, key);
  return map->keys[slot] == NULL ? NULL : map->values[slot];
}

static void grow(PointerMap *map) {
  PointerMap old = *map;
  map->capacity = old.capacity == 0 ? 64 : 2 * old.capacity;
  map->keys = calloc(map->capacity, sizeof *map->keys);
  map->values = calloc(map->capacity, sizeof *map->values);
  ASSERT(map->keys != NULL && map->values != NULL);
  for (uint32_t i = 0; i < old.capacity; i++) {
    if (old.keys[i] == NULL) continue;
    uint32_t slot = slot_of(map, old.keys[i]);
    map->keys[slot] = old.keys[i];
    map->values[slot] = old.values[i];
  }
  free(old.keys);
  free(old.values);
}

void pointer_map_put(PointerMap *map, const void *key, void *value) {
  if (2 * map->count >= map->capacity) grow(map);
  uint32_t slot = slot_of(map, key);
  if (map->keys[slot] == NULL) map->count++;
  map->keys[slot] = key;
  map->values[slot] = value;
}

void *pointer_map_take(PointerMap *map, const void *key) {
  if (map->count == 0 || key == NULL) return NULL;
  uint32_t slot = slot_of(map, key);
  if (map->keys[slot] == NULL) return NULL;
  void *value = map->values[slot];
  map->keys[slot] = NULL;
  map->count--;
  // Keys that were pushed past the hole move back.
  for (uint32_t i = (slot + 1) & (map->capacity - 1); map->keys[i] != NULL; i = (i + 1) & (map->capacity - 1)) {
    const void *key_here = map->keys[i];
    void *value_here = map->values[i];
    map->keys[i] = NULL;
    uint32_t place = slot_of(map, key_here);
    map->keys[place] = key_here;
    map->values[place] = value_here;
  }
  return value;
}
