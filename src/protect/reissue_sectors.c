// Reissue for direct compute: comparators at the memory partitions.
//
// What a copy has stored arrives sector by sector, 32 bytes each. The first that comes finds its sector empty: data and byte mask are kept, and the
// sector's bit is set to full. The second finds it full: both are compared bit by bit, and the bit is toggled back to empty. A sector that is
// left full when both copies are through has been stored by one of them alone.
#include "protect/reissue_blocks.h"

static uint64_t key_of(uint32_t pair, uint64_t address) {
  return (uint64_t)(pair + 1) << 45 | (address / SECTOR_BYTES & ((UINT64_C(1) << 45) - 1));
}

static uint64_t first_row(const Blocks *own, uint32_t partition) { return (uint64_t)(partition % own->partitions) * own->sectors; }

// Entries are taken from the first on; `used` is never less than the last that is taken.
static uint64_t used_of(const Blocks *own, const HookMachine *machine, uint32_t partition) {
  return min_u64(*blocks_at(own, machine, CELLS_USED, partition % own->partitions), own->sectors);
}

// The entry with this key; UINT64_MAX: there is none.
static uint64_t find(const Blocks *own, const HookMachine *machine, uint32_t partition, uint64_t key) {
  uint64_t first = first_row(own, partition), used = used_of(own, machine, partition);
  const uint64_t *keys = blocks_at(own, machine, CELLS_KEY, first);
  for (uint64_t i = 0; i < used; i++) {
    if (keys[i] == key) return first + i;
  }
  return UINT64_MAX;
}

static uint64_t take(const Blocks *own, const HookMachine *machine, uint32_t partition) {
  uint64_t used = used_of(own, machine, partition), row = find(own, machine, partition, 0);
  if (row != UINT64_MAX) return row;
  if (used >= own->sectors) return UINT64_MAX;
  *blocks_at(own, machine, CELLS_USED, partition % own->partitions) = used + 1;
  return first_row(own, partition) + used;
}

static void clear(const Blocks *own, const HookMachine *machine, uint64_t row) {
  *blocks_at(own, machine, CELLS_FULL, row) = 0;
  *blocks_at(own, machine, CELLS_KEY, row) = 0;
  *blocks_at(own, machine, CELLS_MASK, row) = 0;
  memset(blocks_at(own, machine, CELLS_DATA, row), 0, SECTOR_BYTES);
}

// Words with the bytes that count; the others are 0.
static void masked(uint32_t mask, const uint32_t *data, uint32_t words[SECTOR_WORDS]) {
  for (uint32_t i = 0; i < SECTOR_WORDS; i++) {
    uint32_t bytes = 0;
    for (uint32_t k = 0; k < 4; k++) bytes |= (mask >> (4 * i + k) & 1) != 0 ? UINT32_C(0xFF) << 8 * k : 0;
    words[i] = data[i] & bytes;
  }
}

static bool compare_one(const Blocks *own, HookMachine *machine, uint32_t partition, uint64_t key, uint32_t mask, const uint32_t *data) {
  uint32_t words[SECTOR_WORDS];
  masked(mask, data, words);
  uint64_t row = find(own, machine, partition, key);
  bool is_full = row != UINT64_MAX && *blocks_at(own, machine, CELLS_FULL, row) != 0;
  if (is_full) {
    bool same =
        *blocks_at(own, machine, CELLS_MASK, row) == mask && memcmp(blocks_at(own, machine, CELLS_DATA, row), words, sizeof words) == 0;
    clear(own, machine, row);
    hook_tally(machine, TALLY_REISSUE_SECTORS, 1);
    return same;
  }
  if (row == UINT64_MAX) row = take(own, machine, partition);
  if (row == UINT64_MAX) return false;
  *blocks_at(own, machine, CELLS_FULL, row) = 1;
  *blocks_at(own, machine, CELLS_KEY, row) = key;
  *blocks_at(own, machine, CELLS_MASK, row) = mask;
  memcpy(blocks_at(own, machine, CELLS_DATA, row), words, sizeof words);
  return true;
}

bool sectors_compare(const Blocks *own, HookMachine *machine, uint32_t pair, const MemoryEvent *event) {
  bool same = true;
  for (uint32_t i = 0; i < LINE_SECTORS; i++) {
    uint32_t mask = (uint32_t)(event->mask[i / 2] >> i % 2 * SECTOR_BYTES);
    uint64_t key = key_of(pair, event->address + (uint64_t)i * SECTOR_BYTES);
    if (mask != 0) same &= compare_one(own, machine, event->partition, key, mask, event->data + (size_t)i * SECTOR_WORDS);
  }
  return same;
}

static bool is_of(uint64_t key, uint32_t pair) { return key >> 45 == (uint64_t)pair + 1; }

bool sectors_are_left(const Blocks *own, const HookMachine *machine, uint32_t pair) {
  for (uint32_t partition = 0; partition < own->partitions; partition++) {
    uint64_t used = used_of(own, machine, partition);
    for (uint64_t i = 0; i < used; i++) {
      if (is_of(*blocks_at(own, machine, CELLS_KEY, first_row(own, partition) + i), pair)) return true;
    }
  }
  return false;
}

void sectors_forget(const Blocks *own, const HookMachine *machine, uint32_t pair) {
  for (uint32_t partition = 0; partition < own->partitions; partition++) {
    uint64_t used = used_of(own, machine, partition), last = 0;
    for (uint64_t i = 0; i < used; i++) {
      uint64_t row = first_row(own, partition) + i;
      if (is_of(*blocks_at(own, machine, CELLS_KEY, row), pair)) clear(own, machine, row);
      if (*blocks_at(own, machine, CELLS_KEY, row) != 0) last = i + 1;
    }
    *blocks_at(own, machine, CELLS_USED, partition) = last;
  }
}
