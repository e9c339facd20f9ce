// Arenas: chained chunks, each twice the last up to a limit; freed as a whole.
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Chunk {
  struct Chunk *next;
  size_t used, size;
  _Alignas(16) uint8_t bytes[];
} Chunk;

struct Arena {
  Chunk *newest;
  size_t total;
};

enum { FIRST_CHUNK_BYTES = 16 << 10, LARGEST_CHUNK_BYTES = 4 << 20 };

Arena *arena_new(void) {
  Arena *arena = calloc(1, sizeof *arena);
  ASSERT(arena != NULL);
  return arena;
}

void arena_free(Arena *arena) {
  if (arena == NULL) return;
  for (Chunk *chunk = arena->newest; chunk != NULL;) {
    Chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  free(arena);
}

static Chunk *add_chunk(Arena *arena, size_t needed) {
  size_t size = arena->newest == NULL ? FIRST_CHUNK_BYTES : 2 * arena->newest->size;
  if (size > LARGEST_CHUNK_BYTES) size = LARGEST_CHUNK_BYTES;
  if (size < needed) size = needed;
  Chunk *chunk = calloc(1, sizeof(Chunk) + size);
  ASSERT(chunk != NULL);
  chunk->size = size;
  chunk->next = arena->newest;
  arena->newest = chunk;
  return chunk;
}

void *arena_alloc(Arena *arena, size_t bytes) {
  size_t rounded = (size_t)align_up(bytes == 0 ? 1 : bytes, 16);
  Chunk *chunk = arena->newest;
  if (chunk == NULL || chunk->size - chunk->used < rounded) chunk = add_chunk(arena, rounded);
  void *result = chunk->bytes + chunk->used;
  chunk->used += rounded;
  arena->total += rounded;
  return result;
}

char *arena_copy_text(Arena *arena, const char *text, size_t length) {
  char *copy = arena_alloc(arena, length + 1);
  if (length > 0) memcpy(copy, text, length);
  return copy;
}

char *arena_format(Arena *arena, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  ASSERT(length >= 0);
  char *text = arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return text;
}

size_t arena_bytes(const Arena *arena) { return arena->total; }

void *vec_grow(Arena *arena, void *items, uint32_t *capacity, size_t item_bytes) {
  uint32_t grown = *capacity == 0 ? 8 : 2 * *capacity;
  ASSERT(grown > *capacity);
  void *larger = arena_alloc(arena, grown * item_bytes);
  if (*capacity > 0) memcpy(larger, items, *capacity * item_bytes);
  *capacity = grown;
  return larger;
}
