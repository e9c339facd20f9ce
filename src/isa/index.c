// Finds a row by its canonical spelling: a hash table with open addressing, built once per user.
#include "isa/isa.h"

enum { INDEX_SLOTS = 8192, SLOT_EMPTY = 0xFFFF };
_Static_assert(OP_COUNT * 3 < INDEX_SLOTS * 2, "the index must stay at most two thirds full");

struct OpIndex {
  uint16_t slots[INDEX_SLOTS];
};

static uint32_t first_slot(Slice text) { return (uint32_t)hash_bytes(text.at, text.length, 0) % INDEX_SLOTS; }

OpIndex *op_index_new(Arena *arena) {
  OpIndex *index = ARENA_NEW(arena, OpIndex);
  memset(index->slots, 0xFF, sizeof index->slots);
  for (unsigned op = 0; op < OP_COUNT; op++) {
    uint32_t slot = first_slot(slice_of(op_info[op].text));
    while (index->slots[slot] != SLOT_EMPTY) slot = (slot + 1) % INDEX_SLOTS;
    index->slots[slot] = (uint16_t)op;
  }
  return index;
}

bool op_find(const OpIndex *index, Slice text, Op *op) {
  for (uint32_t slot = first_slot(text); index->slots[slot] != SLOT_EMPTY; slot = (slot + 1) % INDEX_SLOTS) {
    if (!slice_is(text, op_info[index->slots[slot]].text)) continue;
    *op = (Op)index->slots[slot];
    return true;
  }
  return false;
}
