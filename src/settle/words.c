// Words of memory in which a faulty run differs; see follow.h.
#include "settle/follow.h"

#include <stdlib.h>

void words_add(WordList *words, uint64_t address, uint32_t value) {
  if (words->count == words->room) {
    words->room = words->room == 0 ? 8 : 2 * words->room;
    words->items = realloc(words->items, words->room * sizeof *words->items);
    ASSERT(words->items != NULL);
  }
  words->items[words->count++] = (Word){address, value};
}

void words_free(WordList *words) {
  free(words->items);
  *words = (WordList){0};
}

static int by_address(const void *left, const void *right) {
  const Word *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

void words_sort(WordList *words) {
  if (words->count > 0) qsort(words->items, words->count, sizeof *words->items, by_address);
}

bool words_meet(const WordList *words, uint64_t address, uint64_t bytes) {
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t word = words->items[i].address;
    if (word + sizeof(uint32_t) > address && word < address + bytes) return true;
  }
  return false;
}

void words_remove(WordList *words, uint64_t address, uint64_t bytes) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t word = words->items[i].address;
    if (word < address || word + sizeof(uint32_t) > address + bytes) words->items[kept++] = words->items[i];
  }
  words->count = kept;
}

void words_swap(WordList *words, Memory *memory) {
  for (uint32_t i = 0; i < words->count; i++) {
    Word *word = &words->items[i];
    uint8_t *at = memory_bytes(memory) + (word->address - memory_base(memory));
    uint32_t value;
    memcpy(&value, at, sizeof value);
    memcpy(at, &word->value, sizeof word->value);
    word->value = value;
  }
}
