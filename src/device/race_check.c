// A cell for each word of memory that is touched: who wrote it last and who read it last. Cells lie in pages, found by their address; those of
// shared memory are a block's. Launches put everything in order, so that nothing outlives one.
#include "device/race_check.h"

#include <stdlib.h>

enum { PAGE_WORDS = 256, FIRST_PAGES = 1024, WORD = 4, READERS = 2 };

typedef struct Toucher {
  uint64_t time; // steps of the launch; 0: nobody
  uint32_t block, warp, epoch, pc;
  uint8_t bytes;   // of the word
  bool is_ordered; // atomic or volatile
} Toucher;

typedef struct Cell {
  Toucher write, reads[READERS];
} Cell;

typedef struct Page {
  uint64_t key; // of its first word; the block is part of it in shared memory
  Cell cells[PAGE_WORDS];
} Page;

struct RaceCheck {
  const Launch *launch;
  WatchedStep now;
  uint64_t time;
  uint64_t *block_ordered, *warp_ordered; // when each last had a fence, an atomic or a volatile access
  uint32_t warps;                         // of a block
  Page **pages;                           // open addressing
  uint64_t page_count, room;
};

RaceCheck *race_check_new(Arena *arena) { return ARENA_NEW(arena, RaceCheck); }

void race_check_begin(RaceCheck *check, const Launch *launch) {
  uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  check->launch = launch;
  check->time = 0;
  check->warps = (launch->block[0] * launch->block[1] * launch->block[2] + WARP_LANES - 1) / WARP_LANES;
  check->block_ordered = calloc(blocks, sizeof(uint64_t));
  check->warp_ordered = calloc(blocks * check->warps, sizeof(uint64_t));
  check->room = FIRST_PAGES;
  check->pages = calloc(check->room, sizeof(Page *));
  ASSERT(check->block_ordered != NULL && check->warp_ordered != NULL && check->pages != NULL);
}

void race_check_end(RaceCheck *check) {
  for (uint64_t i = 0; i < check->room; i++) free(check->pages[i]);
  free(check->pages);
  free(check->block_ordered);
  free(check->warp_ordered);
  *check = (RaceCheck){0};
}

// ---- Pages -----------------------------------------------------------------------------------------

static Page **place_of_page(Page **pages, uint64_t room, uint64_t key) {
  uint64_t at = hash_bytes(&key, sizeof key, 0) % room;
  while (pages[at] != NULL && pages[at]->key != key) at = (at + 1) % room;
  return &pages[at];
}

static void make_room(RaceCheck *check) {
  uint64_t room = 2 * check->room;
  Page **pages = calloc(room, sizeof *pages);
  ASSERT(pages != NULL);
  for (uint64_t i = 0; i < check->room; i++) {
    if (check->pages[i] != NULL) *place_of_page(pages, room, check->pages[i]->key) = check->pages[i];
  }
  free(check->pages);
  check->pages = pages;
  check->room = room;
}

static Cell *cell_of(RaceCheck *check, Space space, uint32_t owner, uint64_t word) {
  uint64_t number = word / PAGE_WORDS, key = number << 1;
  if (space == SPACE_SHARED) key = ((uint64_t)owner << 24 | number) << 1 | 1;
  Page **place = place_of_page(check->pages, check->room, key);
  if (*place == NULL) {
    if (2 * ++check->page_count > check->room) {
      make_room(check);
      place = place_of_page(check->pages, check->room, key);
    }
    *place = calloc(1, sizeof **place);
    ASSERT(*place != NULL);
    (*place)->key = key;
  }
  return &(*place)->cells[word % PAGE_WORDS];
}

// ---- Order -----------------------------------------------------------------------------------------

static bool is_ordering(const Instr *instr) {
  unsigned kind = op_info[instr->op].kind;
  bool is_access = kind == KIND_LOAD || kind == KIND_STORE;
  return kind == KIND_ATOMIC || kind == KIND_FENCE || (is_access && (instr->mods & MOD_VOLATILE) != 0);
}

static const Instr *instr_now(const RaceCheck *check) { return &check->launch->program->decoded[check->now.pc]; }

void race_check_step(RaceCheck *check, const WatchedStep *step) {
  check->now = *step;
  check->time++;
  if (step->pc >= check->launch->program->code_count || !is_ordering(instr_now(check))) return;
  check->block_ordered[step->block] = check->time;
  check->warp_ordered[(uint64_t)step->block * check->warps + step->warp] = check->time;
}

static bool races(const RaceCheck *check, const Toucher *before, const Toucher *now) {
  bool overlap = before->time != 0 && (before->bytes & now->bytes) != 0;
  bool same_block = before->block == now->block;
  if (!overlap || (same_block && before->warp == now->warp) || (before->is_ordered && now->is_ordered)) return false;
  if (same_block && before->epoch != now->epoch) return false;
  const uint64_t *ordered = same_block ? check->warp_ordered : check->block_ordered;
  uint64_t first = same_block ? (uint64_t)before->block * check->warps + before->warp : before->block;
  uint64_t second = same_block ? (uint64_t)now->block * check->warps + now->warp : now->block;
  return ordered[first] <= before->time || ordered[second] <= before->time;
}

static bool find(const RaceCheck *check, const Toucher *before, const Toucher *now, bool wrote, RaceOther *other) {
  if (!races(check, before, now)) return false;
  *other = (RaceOther){before->block, before->warp, before->pc, wrote};
  return true;
}

// The bytes of one word.
static bool touch_word(RaceCheck *check, Cell *cell, const Toucher *now, unsigned how, RaceOther *other) {
  bool found = find(check, &cell->write, now, true, other);
  for (uint32_t i = 0; i < READERS && !found && (how & WATCH_WRITE) != 0; i++) found = find(check, &cell->reads[i], now, false, other);
  if ((how & WATCH_WRITE) != 0) {
    cell->write = *now;
    return found;
  }
  const Toucher *last = &cell->reads[0];
  if (last->time != 0 && (last->block != now->block || last->warp != now->warp)) cell->reads[1] = *last;
  cell->reads[0] = *now;
  return found;
}

bool race_check_touch(RaceCheck *check, Space space, uint32_t owner, uint64_t address, uint32_t bytes, unsigned how, RaceOther *other) {
  if (space != SPACE_SHARED && space != SPACE_GLOBAL) return false;
  const WatchedStep *step = &check->now;
  bool found = false;
  Toucher now = {check->time, step->block, step->warp, step->epoch, step->pc, 0, is_ordering(instr_now(check))};
  for (uint64_t word = address / WORD; word * WORD < address + bytes; word++) {
    uint64_t from = max_u64(address, word * WORD) - word * WORD, to = min_u64(address + bytes, (word + 1) * WORD) - word * WORD;
    now.bytes = (uint8_t)((1u << to) - (1u << from));
    RaceOther with;
    if (touch_word(check, cell_of(check, space, owner, word), &now, how, &with) && !found) *other = with, found = true;
  }
  return found;
}
