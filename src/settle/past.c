// The fault-free run of a launch: who reads and writes what, and the course of each warp. See course.h.
#include "settle/course.h"

#include <stdlib.h>
#include <sys/mman.h>

// The last access is over.
static void note_end(Course *at) {
  if (!at->now.is_access) return;
  Warpath *warp = &at->past.warpaths[warp_index(at, at->now.step.block, at->now.step.warp)];
  PastAccess *access = &warp->accesses.items[warp->accesses.count - 1];
  access_end(&at->now, &at->frame, &warp->flow);
  access->after = (uint32_t)warp->flow;
  access->places = at->now.places;
}

static void note_step(void *context, const WatchedStep *step) {
  Course *at = context;
  note_end(at);
  Warpath *warp = &at->past.warpaths[warp_index(at, step->block, step->warp)];
  access_step(&at->now, step, &warp->flow);
  warp->steps++;
}

// The first lane of an access.
static void note_access(Course *at, Warpath *warp) {
  MomentKey key = {(uint32_t)at->frame.launch->number, at->now.step.block, at->now.step.warp};
  Moment moment = {0};
  uint32_t issue = (uint32_t)(warp->steps - 1);
  bool is_known = at->past.has_times && timeline_moment(at->frame.timeline, &key, warp->accesses.count, &moment) && moment.issue == issue;
  at->past.has_times = is_known;
  at->past.accesses++;
  access_begin(&at->now, is_known ? moment.time : NO_TIME);
  PastAccess access = {.issue = issue, .pc = at->now.step.pc, .time = at->now.time, .before = (uint32_t)warp->flow};
  *VEC_PUSH(&warp->accesses, at->frame.arena) = access;
}

static void note_read(Course *at, uint64_t word) {
  Use *use = &at->past.uses[word];
  uint32_t block = at->now.step.block + 1;
  use->first_read = use->reader == NOBODY ? at->now.time : min_u32(use->first_read, at->now.time);
  use->last_read = max_u32(use->last_read, at->now.time);
  use->reader = use->reader == NOBODY || use->reader == block ? block : MANY;
  uint64_t line = line_of(at, word);
  if (!at->past.keeps_readers || at->past.line_reader[line] == block) return;
  at->past.line_reader[line] = block;
  *VEC_PUSH(&at->past.readers, at->frame.arena) = (LineBlock){line, at->now.step.block};
}

static void note_store(Course *at, uint64_t line) {
  uint32_t last = at->past.line_stores[line];
  LineStores *stores = last == 0 ? NULL : &at->past.stores.items[last - 1];
  if (stores == NULL || stores->block != at->now.step.block) {
    stores = VEC_PUSH(&at->past.stores, at->frame.arena);
    *stores = (LineStores){.line = line, .block = at->now.step.block};
    at->past.line_stores[line] = at->past.stores.count;
  }
  stores->count += stores->last != at->past.accesses;
  stores->last = at->past.accesses;
}

static void note_write(Course *at, uint64_t word, bool is_whole) {
  Use *use = &at->past.uses[word];
  uint32_t block = at->now.step.block + 1;
  if (use->writer == NOBODY) *VEC_PUSH(&at->past.writes, at->frame.arena) = (BlockWord){at->now.step.block, word};
  use->first_write = use->writer == NOBODY ? at->now.time : min_u32(use->first_write, at->now.time);
  use->last_write = max_u32(use->last_write, at->now.time);
  use->writer = use->writer == NOBODY || use->writer == block ? block : MANY;
  use->partly |= !is_whole;
  note_store(at, line_of(at, word));
}

static void note_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Course *at = context;
  Warpath *warp = &at->past.warpaths[warp_index(at, at->now.step.block, at->now.step.warp)];
  uint64_t first, last;
  if (!at->now.is_access) note_access(at, warp);
  access_lane(&at->now, space, address, bytes, how, &warp->flow);
  if (space == SPACE_SHARED) {
    for (uint64_t word = address / WORD; word <= (address + bytes - 1) / WORD; word++) {
      at->past.is_racy |= word >= MOST_SHARED_WORDS || past_shared(at, word, how);
    }
  }
  if (space != SPACE_GLOBAL) return;
  if (!words_of(at, address, bytes, &first, &last)) at->past.is_lost = true;
  for (uint64_t word = first; word <= last && !at->past.is_lost; word++) {
    at->past.is_racy |= past_global(at, word, how);
    if ((how & WATCH_READ) != 0) note_read(at, word);
    if ((how & WATCH_WRITE) != 0) note_write(at, word, (address & (WORD - 1)) == 0 && (bytes & (WORD - 1)) == 0);
  }
}

static void note_lost(void *context) { ((Course *)context)->past.is_lost = true; }

static int by_line(const void *left, const void *right) {
  const LineBlock *a = left, *b = right;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return a->block < b->block ? -1 : a->block > b->block;
}

static int stores_by_line(const void *left, const void *right) {
  const LineStores *a = left, *b = right;
  if (a->line != b->line) return a->line < b->line ? -1 : 1;
  return a->block < b->block ? -1 : a->block > b->block;
}

static int by_block(const void *left, const void *right) {
  const BlockWord *a = left, *b = right;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return a->word < b->word ? -1 : a->word > b->word;
}

static void sort_notes(Course *at) {
  for (uint32_t i = 0; i < at->past.writes.count; i++) {
    const Use *use = &at->past.uses[at->past.writes.items[i].word];
    at->past.is_racy |= use->writer == MANY || (use->reader != NOBODY && use->reader != use->writer);
  }
  if (at->past.writes.count > 0) qsort(at->past.writes.items, at->past.writes.count, sizeof *at->past.writes.items, by_block);
  if (at->past.stores.count > 0) qsort(at->past.stores.items, at->past.stores.count, sizeof *at->past.stores.items, stores_by_line);
  if (at->past.readers.count > 0) qsort(at->past.readers.items, at->past.readers.count, sizeof *at->past.readers.items, by_line);
  for (uint32_t i = 0; i < at->past.writes.count; i++) at->past.first_write[at->past.writes.items[i].block + 1] = i + 1;
  for (uint32_t block = 1; block <= at->frame.blocks; block++) {
    if (at->past.first_write[block] == 0) at->past.first_write[block] = at->past.first_write[block - 1];
  }
}

void past_run(Course *at, const CourseOptions *options, Stats *stats, Trap *trap) {
  CoursePast *past = &at->past;
  Arena *arena = at->frame.arena;
  past->is_lost = at->frame.launch->cooperative || at->frame.launch->cluster[0] != 0; // blocks read each other's shared memory
  past->keeps_readers = options->readers;
  past->has_times = options->timeline != NULL;
  past->uses = pages_new(at->frame.words * sizeof *past->uses);
  past->line_stores = pages_new(line_count(at) * sizeof *past->line_stores);
  past->line_reader = pages_new(line_count(at) * sizeof *past->line_reader);
  past->warpaths = ARENA_ARRAY(arena, Warpath, at->frame.blocks * at->frame.block_warps);
  past->first_write = ARENA_ARRAY(arena, uint32_t, at->frame.blocks + 1);
  at->watch = (MachineWatch){.context = at, .step = note_step, .touch = note_touch, .lost = note_lost};
  functional_run(&at->frame.environment, at->frame.launch, stats, trap);
  note_end(at);
  sort_notes(at);
}

void past_free(Course *at) {
  munmap(at->past.uses, at->frame.words * sizeof *at->past.uses + 1);
  munmap(at->past.line_stores, line_count(at) * sizeof *at->past.line_stores + 1);
  munmap(at->past.line_reader, line_count(at) * sizeof *at->past.line_reader + 1);
}
