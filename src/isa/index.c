// Finds a row by its canonical spelling: a hash table with open addressing, built once per user.
#include "isa/isa.h"

enum { INDEX_ENTRIES = 8192, ENTRY_EMPTY = 0xFFFF };
_Static_assert(OP_COUNT * 3 < INDEX_ENTRIES * 2, "the index must stay at most two thirds full");

struct OpIndex {
  uint16_t entries[INDEX_ENTRIES];
};

static uint32_t first_entry(Slice text) { return (uint32_t)hash_bytes(text.at, text.length, 0) % INDEX_ENTRIES; }

OpIndex *op_index_new(Arena *arena) {
  OpIndex *index = ARENA_NEW(arena, OpIndex);
  memset(index->entries, 0xFF, sizeof index->entries);
  for (unsigned op = 0; op < OP_COUNT; op++) {
    uint32_t entry = first_entry(slice_of(op_info[op].text));
    while (index->entries[entry] != ENTRY_EMPTY) entry = (entry + 1) % INDEX_ENTRIES;
    index->entries[entry] = (uint16_t)op;
  }
  return index;
}

bool op_find(const OpIndex *index, Slice text, Op *op) {
  for (uint32_t entry = first_entry(text); index->entries[entry] != ENTRY_EMPTY; entry = (entry + 1) % INDEX_ENTRIES) {
    if (!slice_is(text, op_info[index->entries[entry]].text)) continue;
    *op = (Op)index->entries[entry];
    return true;
  }
  return false;
}
