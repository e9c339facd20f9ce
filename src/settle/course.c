// One launch on the functional machine: who reads and writes what, the course of each warp, and blocks carried out again in a
// memory that differs. See follow.h.
//
// Memory is looked at in words of four bytes. After the fault-free run there are copies of what it found and what it left; a block is
// carried out again on what it left, with the block's own words as it found them. That is the same as the launch
// from its beginning, as long as no word that one block writes is read or written by another.
//
// Where warps or blocks do meet in a word, the golden run's time decides (visit.c): warps of a block take their turns in the order in
// which their accesses issued there.
#include "settle/course.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { MOST_RETRIES = 16, FREE_TURN = 4096 };

static void *pages_new(uint64_t bytes) {
  void *pages = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(pages != MAP_FAILED);
  return pages;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t mix_step(uint64_t hash, const WatchedStep *step) {
  return mix(mix(hash, (uint64_t)step->pc << 32 | step->mask), step->active);
}

// Words [*first, *last] of an access; false: outside of what the launch found.
static bool words_of(const Course *at, uint64_t address, uint32_t bytes, uint64_t *first, uint64_t *last) {
  *first = (address - at->base) / WORD;
  *last = (address + bytes - 1 - at->base) / WORD;
  return *last < at->words;
}

static uint64_t warp_index(const Course *at, uint32_t block, uint32_t warp) { return (uint64_t)block * at->block_warps + warp; }

// A lane of an access. In shared memory only the passes that all of them take together count.
static void note_place(Course *at, Space space, uint64_t address, uint32_t bytes, unsigned how, uint64_t *flow) {
  uint32_t lane = at->lanes_left == 0 ? WARP_LANES : (uint32_t)__builtin_ctz(at->lanes_left);
  bool is_atomic = how == (WATCH_READ | WATCH_WRITE);
  at->lanes_left &= at->lanes_left - 1;
  if (space == SPACE_SHARED && !is_atomic && lane < WARP_LANES) {
    at->shared_address[lane] = address;
    at->shared_lanes |= 1u << lane;
    at->shared_bytes = bytes;
  } else {
    *flow = mix(*flow, address);
    at->places = (uint32_t)mix(at->places, address);
  }
}

static void note_passes(Course *at, uint64_t *flow) {
  if (at->shared_lanes == 0) return;
  uint32_t passes = shared_passes(at->spec, at->shared_address, at->shared_lanes, at->shared_bytes);
  *flow = mix(*flow, passes);
  at->places = (uint32_t)mix(at->places, passes);
  at->shared_lanes = 0;
}

// ---- The fault-free run ------------------------------------------------------------------------------

// The last access is over.
static void note_end(Course *at) {
  Warpath *warp = &at->warpaths[warp_index(at, at->now.block, at->now.warp)];
  if (!at->is_access) return;
  PastAccess *access = &warp->accesses.items[warp->accesses.count - 1];
  note_passes(at, &warp->flow);
  access->after = (uint32_t)warp->flow;
  access->places = at->places;
  at->is_access = false;
}

static void note_step(void *context, const WatchedStep *step) {
  Course *at = context;
  note_end(at);
  Warpath *warp = &at->warpaths[warp_index(at, step->block, step->warp)];
  at->now = *step;
  warp->flow = mix_step(warp->flow, step);
  warp->steps++;
}

// The first lane of an access.
static void note_access(Course *at, Warpath *warp) {
  MomentKey key = {(uint32_t)at->launch->number, at->now.block, at->now.warp};
  Moment moment = {0};
  uint32_t issue = (uint32_t)(warp->steps - 1);
  at->has_times = at->has_times && timeline_moment(at->timeline, &key, warp->accesses.count, &moment) && moment.issue == issue;
  at->accesses++;
  at->is_access = true;
  at->places = 0;
  at->lanes_left = at->now.active;
  at->time = at->has_times ? moment.time : NO_TIME;
  *VEC_PUSH(&warp->accesses, at->arena) = (PastAccess){.issue = issue, .pc = at->now.pc, .time = at->time, .before = (uint32_t)warp->flow};
}

static void note_read(Course *at, uint64_t word) {
  Use *use = &at->uses[word];
  uint32_t block = at->now.block + 1;
  use->first_read = use->reader == NOBODY ? at->time : min_u32(use->first_read, at->time);
  use->last_read = max_u32(use->last_read, at->time);
  use->reader = use->reader == NOBODY || use->reader == block ? block : MANY;
  uint64_t line = word / LINE_WORDS;
  if (!at->keeps_readers || at->line_reader[line] == block) return;
  at->line_reader[line] = block;
  *VEC_PUSH(&at->readers, at->arena) = (LineBlock){line, at->now.block};
}

static void note_store(Course *at, uint64_t line) {
  uint32_t last = at->line_stores[line];
  LineStores *stores = last == 0 ? NULL : &at->stores.items[last - 1];
  if (stores == NULL || stores->block != at->now.block) {
    stores = VEC_PUSH(&at->stores, at->arena);
    *stores = (LineStores){.line = line, .block = at->now.block};
    at->line_stores[line] = at->stores.count;
  }
  stores->count += stores->last != at->accesses;
  stores->last = at->accesses;
}

static void note_write(Course *at, uint64_t word, bool is_whole) {
  Use *use = &at->uses[word];
  uint32_t block = at->now.block + 1;
  if (use->writer == NOBODY) *VEC_PUSH(&at->writes, at->arena) = (BlockWord){at->now.block, word};
  use->first_write = use->writer == NOBODY ? at->time : min_u32(use->first_write, at->time);
  use->last_write = max_u32(use->last_write, at->time);
  use->writer = use->writer == NOBODY || use->writer == block ? block : MANY;
  use->partly |= !is_whole;
  note_store(at, word / LINE_WORDS);
}

static void note_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Course *at = context;
  Warpath *warp = &at->warpaths[warp_index(at, at->now.block, at->now.warp)];
  uint64_t first, last;
  if (!at->is_access) note_access(at, warp);
  note_place(at, space, address, bytes, how, &warp->flow);
  if (space == SPACE_SHARED) {
    for (uint64_t word = address / WORD; word <= (address + bytes - 1) / WORD; word++) {
      at->is_racy |= word >= MOST_SHARED_WORDS || visit_past(at, &at->shared[word], how);
    }
  }
  if (space != SPACE_GLOBAL) return;
  if (!words_of(at, address, bytes, &first, &last)) at->is_lost = true;
  for (uint64_t word = first; word <= last && !at->is_lost; word++) {
    at->is_racy |= visit_past(at, &at->visits[word], how);
    if ((how & WATCH_READ) != 0) note_read(at, word);
    if ((how & WATCH_WRITE) != 0) note_write(at, word, (address & (WORD - 1)) == 0 && (bytes & (WORD - 1)) == 0);
  }
}

static void note_lost(void *context) { ((Course *)context)->is_lost = true; }

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
  for (uint32_t i = 0; i < at->writes.count; i++) {
    const Use *use = &at->uses[at->writes.items[i].word];
    at->is_racy |= use->writer == MANY || (use->reader != NOBODY && use->reader != use->writer);
  }
  if (at->writes.count > 0) qsort(at->writes.items, at->writes.count, sizeof *at->writes.items, by_block);
  if (at->stores.count > 0) qsort(at->stores.items, at->stores.count, sizeof *at->stores.items, stores_by_line);
  if (at->readers.count > 0) qsort(at->readers.items, at->readers.count, sizeof *at->readers.items, by_line);
  for (uint32_t i = 0; i < at->writes.count; i++) at->first_write[at->writes.items[i].block + 1] = i + 1;
  for (uint32_t block = 1; block <= at->blocks; block++) {
    if (at->first_write[block] == 0) at->first_write[block] = at->first_write[block - 1];
  }
}

// ---- A block carried out again -----------------------------------------------------------------------

static void diverge(Course *at, uint32_t time) { at->diverged_at = min_u32(at->diverged_at, time); }

// The last access is over: was it the one of the fault-free run?
static void end_access(Course *at) {
  if (at->is_access) note_passes(at, &at->again[at->now.warp].flow);
  if (at->same != NULL && (uint32_t)at->again[at->same_warp].flow != at->same->after) diverge(at, at->same->time);
  at->elsewhere += at->is_access && (at->past == NULL || at->past->places != at->places);
  at->same = NULL;
  at->is_access = false;
}

static void again_step(void *context, const WatchedStep *step) {
  Course *at = context;
  AgainWarp *warp = &at->again[step->warp];
  end_access(at);
  at->now = *step;
  warp->flow = mix_step(warp->flow, step);
  warp->steps++;
  at->step++;
}

// The next access of the fault-free run that the warp has not passed; NULL: none.
static const PastAccess *next_access(Course *at, uint32_t index, uint64_t issue) {
  AgainWarp *warp = &at->again[index];
  const AccessVec *accesses = &at->warpaths[warp_index(at, at->block, index)].accesses;
  while (warp->number < accesses->count && accesses->items[warp->number].issue < issue) warp->number++;
  return warp->number < accesses->count ? &accesses->items[warp->number] : NULL;
}

// The first lane of an access: when would it have come? As long as nothing has diverged, it comes then.
static void begin_access(Course *at) {
  AgainWarp *warp = &at->again[at->now.warp];
  const PastAccess *past = next_access(at, at->now.warp, warp->steps - 1);
  bool is_there = past != NULL && past->issue == warp->steps - 1 && past->pc == at->now.pc;
  bool is_same = is_there && past->before == (uint32_t)warp->flow;
  at->is_access = true;
  at->places = 0;
  at->lanes_left = at->now.active;
  at->past = is_there ? past : NULL;
  at->time = is_there ? past->time : NO_TIME;
  if (!is_same) diverge(at, warp->last_time);
  if (is_there) warp->last_time = past->time;
  at->same = is_same ? past : NULL;
  at->same_warp = at->now.warp;
}

static void again_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Course *at = context;
  uint64_t first, last;
  bool good = true;
  if (!at->is_access) begin_access(at);
  note_place(at, space, address, bytes, how, &at->again[at->now.warp].flow);
  if (space == SPACE_SHARED) {
    for (uint64_t word = address / WORD; word <= (address + bytes - 1) / WORD; word++) good &= visit_shared(at, word, how);
  } else if (space == SPACE_GLOBAL) {
    good = words_of(at, address, bytes, &first, &last);
    for (uint64_t word = first; word <= last && last < at->words; word++) good &= visit_global(at, word, address, bytes, how);
  }
  if (!good) at->watch.stop = true;
}

static void again_lost(void *context) { ((Course *)context)->watch.stop = true; }

static uint64_t next_in_order(void *context, uint32_t warp, uint64_t count, uint32_t *left) {
  Course *at = context;
  const PastAccess *past = at->has_times ? next_access(at, warp, count) : NULL;
  *left = past == NULL ? FREE_TURN : (uint32_t)(past->issue - count);
  return past == NULL ? UINT64_MAX : past->time;
}

static bool has_same_flow(const Course *at, uint32_t block) {
  for (uint32_t warp = 0; warp < at->block_warps; warp++) {
    if (at->again[warp].flow != at->warpaths[warp_index(at, block, warp)].flow) return false;
  }
  return true;
}

// One warp's further steps take time, whatever the others save.
static uint64_t further_steps(const Course *at, uint32_t block) {
  uint64_t further = 0;
  for (uint32_t warp = 0; warp < at->block_warps; warp++) {
    uint64_t now = at->again[warp].steps, past = at->warpaths[warp_index(at, block, warp)].steps;
    further += now > past ? now - past : 0;
  }
  return further;
}

static void run_again(Course *at, uint32_t block, const RerunFlip *flip, uint64_t most, CourseResult *result) {
  at->shared_stamp++;
  at->block = block;
  at->watch.stop = false;
  at->same = NULL;
  at->is_access = false;
  at->shared_lanes = 0;
  at->elsewhere = 0;
  at->diverged_at = NO_TIME;
  at->needed = 0;
  memset(at->again, 0, at->block_warps * sizeof *at->again);
  RerunEnd end = rerun_block(at->rerun, block, flip, most);
  end_access(at);
  bool is_second = end != RERUN_ENDED && result->end != RERUN_ENDED; // of two traps, time decides which comes first
  if (end == RERUN_UNKNOWN || is_second || at->needed > at->diverged_at) {
    result->end = RERUN_UNKNOWN;
    return;
  }
  if (end != RERUN_ENDED) {
    result->end = end;
    at->trap = *rerun_trap(at->rerun);
  }
  result->same_flow &= has_same_flow(at, block);
  if (!result->same_flow && at->is_racy) result->end = RERUN_UNKNOWN; // other blocks may do otherwise at other times
  result->extra += further_steps(at, block) + at->elsewhere;
}

// ---- Blocks in a memory that differs -------------------------------------------------------------------

// False: the block shares words with others.
static bool undo_block(const Course *at, uint32_t block) {
  bool own = true;
  for (uint32_t i = at->first_write[block]; i < at->first_write[block + 1]; i++) {
    uint64_t word = at->writes.items[i].word;
    own &= at->uses[word].writer == block + 1;
    word_set(at, word, at->before[word]);
  }
  return own;
}

static bool is_left_open(const Course *at, uint64_t word) {
  const Visit *place = &at->visits[word];
  return place->stamp == at->visit_stamp && (place->open == NO_TIME || place->open > at->diverged_at);
}

// Notes a word that has come to differ, and puts it back.
static void take_word(const Course *at, uint64_t word, WordList *words) {
  uint32_t value = word_get(at, word);
  if (value == at->after[word]) return;
  if (!is_left_open(at, word)) words_add(words, at->base + word * WORD, value);
  word_set(at, word, at->after[word]);
}

// Accesses of the others that write to a word's line.
static uint32_t stores_of_others(const Course *at, uint64_t word, uint32_t block) {
  uint64_t line = word / LINE_WORDS;
  uint32_t low = 0, high = at->stores.count, count = 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (at->stores.items[middle].line < line) low = middle + 1;
    else high = middle;
  }
  for (; low < at->stores.count && at->stores.items[low].line == line; low++) {
    if (at->stores.items[low].block != block) count += at->stores.items[low].count;
  }
  return count;
}

static void take_open_words(Course *at, uint32_t block) {
  for (uint32_t i = 0; i < at->written.count; i++) {
    uint64_t word = at->written.items[i];
    uint32_t own = at->stores_again[word / LINE_WORDS].count;
    OpenWord open = {at->base + word * WORD, own + stores_of_others(at, word, block), own};
    if (is_left_open(at, word)) *VEC_PUSH(&at->open_words, at->arena) = open;
  }
}

static bool is_ours(const Course *at, const Use *use) { return use->writer != MANY && at->marks[use->writer - 1] == at->stamp; }

// Words that others write and that are seen as they were before.
static void set_early_words(const Course *at, const uint32_t *values) {
  for (uint32_t i = 0; i < at->writes.count && at->back_to != NO_TIME; i++) {
    uint64_t word = at->writes.items[i].word;
    const Visit *place = &at->visits[word];
    bool is_written_again = place->stamp == at->visit_stamp && place->writer != NOBODY;
    if (is_seen_early(at, &at->uses[word]) && !is_ours(at, &at->uses[word]) && !is_written_again) word_set(at, word, values[word]);
  }
}

static void take_words(const Course *at, uint32_t chosen, const WordList *placed, WordList *words) {
  set_early_words(at, at->after);
  for (uint32_t i = 0; i < placed->count; i++) take_word(at, (placed->items[i].address - at->base) / WORD, words);
  for (uint32_t k = 0; k < chosen; k++) {
    uint32_t block = at->chosen[k];
    for (uint32_t i = at->first_write[block]; i < at->first_write[block + 1]; i++) take_word(at, at->writes.items[i].word, words);
  }
  for (uint32_t i = 0; i < at->written.count; i++) take_word(at, at->written.items[i], words);
}

// The words as the chosen blocks find them. What another block overwrites is gone, unless they come before. False: nothing can be said.
static bool place_words(const Course *at, const WordList *words) {
  bool good = true;
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t word = (words->items[i].address - at->base) / WORD;
    const Use *use = &at->uses[word];
    bool is_overwritten = use->writer != NOBODY && !is_ours(at, use);
    good &= use->writer != MANY && !in_constants(at, word) && !(is_overwritten && use->partly);
    if (!is_overwritten || is_seen_early(at, use)) word_set(at, word, words->items[i].value);
  }
  return good;
}

// The chosen blocks, struck or with other words in memory. When one reads what another block writes later, they are done once more
// with such words as they were before.
static CourseResult run_chosen(Course *at, uint32_t count, const RerunFlip *flip, uint64_t most, WordList *words) {
  CourseResult result = {.end = RERUN_UNKNOWN};
  WordList placed = *words;
  *words = (WordList){0};
  at->open_words.count = 0;
  at->back_to = NO_TIME;
  at->goes_back = true;
  for (uint32_t retry = 0; at->goes_back && retry < MOST_RETRIES; retry++) {
    result = (CourseResult){.end = RERUN_ENDED, .same_flow = true};
    words->count = at->written.count = 0;
    at->goes_back = false;
    at->visit_stamp++;
    bool good = true;
    for (uint32_t i = 0; i < count; i++) good &= undo_block(at, at->chosen[i]);
    set_early_words(at, at->before);
    good &= place_words(at, &placed);
    if (!good) result.end = RERUN_UNKNOWN;
    for (uint32_t i = 0; i < count && result.end != RERUN_UNKNOWN; i++) run_again(at, at->chosen[i], flip, most, &result);
    take_words(at, count, &placed, words);
  }
  if (at->goes_back) result.end = RERUN_UNKNOWN;
  words_free(&placed);
  return result;
}

CourseResult course_strike(Course *at, uint32_t block, const RerunFlip *flip, uint64_t most, WordList *words) {
  bool is_ordered = flip->place != RERUN_SHARED || at->has_times; // which warps have read it before is a matter of time
  if (at->is_lost || block >= at->blocks || !is_ordered) return (CourseResult){.end = RERUN_UNKNOWN};
  at->stamp++;
  at->chosen[0] = block;
  at->marks[block] = at->stamp;
  at->may_be_open = at->leaves_open;
  CourseResult result = run_chosen(at, 1, flip, most, words);
  at->may_be_open = false;
  take_open_words(at, block);
  return result;
}

// The blocks that read of the words' lines.
static uint32_t choose(Course *at, const WordList *words) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t line = (words->items[i].address - at->base) / WORD / LINE_WORDS;
    uint32_t low = 0, high = at->readers.count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (at->readers.items[middle].line < line) low = middle + 1;
      else high = middle;
    }
    for (; low < at->readers.count && at->readers.items[low].line == line; low++) {
      uint32_t block = at->readers.items[low].block;
      if (at->marks[block] != at->stamp) at->chosen[count++] = block;
      at->marks[block] = at->stamp;
    }
  }
  return count;
}

CourseResult course_go_on(Course *at, WordList *words, uint64_t most) {
  bool good = !at->is_lost;
  for (uint32_t i = 0; i < words->count; i++) good &= (words->items[i].address - at->base) / WORD < at->words;
  if (!good) return (CourseResult){.end = RERUN_UNKNOWN};
  at->stamp++;
  return run_chosen(at, choose(at, words), NULL, most, words);
}

const Trap *course_trap(const Course *course) { return &course->trap; }
const OpenWordVec *course_open(const Course *course) { return &course->open_words; }

bool course_keep(const Course *at, LaunchMemory *kept) {
  if (at->is_lost || at->is_racy) return false;
  *kept = (LaunchMemory){.launch = (uint32_t)at->launch->number, .blocks = at->blocks, .base = at->base, .words = at->words};
  kept->after = malloc(at->words * sizeof *kept->after + 1);
  kept->uses = malloc(at->words * sizeof *kept->uses + 1);
  ASSERT(kept->after != NULL && kept->uses != NULL);
  memcpy(kept->after, at->after, at->words * WORD);
  for (uint64_t i = 0; i < at->words; i++) kept->uses[i] = (KeptUse){at->uses[i].writer, at->uses[i].reader};
  return true;
}

// ---- Made and freed ------------------------------------------------------------------------------------

static uint32_t *copy_memory(const Course *at) {
  uint32_t *copy = malloc(at->words * WORD + 1);
  ASSERT(copy != NULL);
  memcpy(copy, at->memory, at->words * WORD);
  return copy;
}

static void watch_run(Course *at, Stats *stats, Trap *trap) {
  at->watch = (MachineWatch){.context = at, .step = note_step, .touch = note_touch, .lost = note_lost};
  at->before = copy_memory(at);
  functional_run(&at->environment, at->launch, stats, trap);
  note_end(at);
  at->after = copy_memory(at);
  sort_notes(at);
  at->visit_stamp = at->shared_stamp = at->blocks;
  at->watch = (MachineWatch){.context = at, .step = again_step, .touch = again_touch, .lost = again_lost};
}

static void set_shape(Course *at, const MachineEnvironment *environment, const Launch *launch) {
  const uint32_t *grid = launch->grid, *block = launch->block;
  at->environment = *environment;
  at->environment.watch = &at->watch;
  at->launch = launch;
  at->base = memory_base(environment->memory);
  at->memory = memory_bytes(environment->memory);
  at->words = memory_extent(environment->memory) / WORD;
  at->blocks = grid[0] * grid[1] * grid[2];
  at->block_warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
}

Course *course_new(const MachineEnvironment *environment, const Launch *launch, const CourseOptions *options, Stats *stats, Trap *trap) {
  Arena *arena = arena_new();
  Course *at = ARENA_NEW(arena, Course);
  at->arena = arena;
  set_shape(at, environment, launch);
  at->is_lost = launch->cooperative;
  at->keeps_readers = options->readers;
  at->keeps_lanes = options->keeps_lanes;
  at->leaves_open = options->may_be_open;
  at->timeline = options->timeline;
  at->spec = options->spec;
  at->has_times = options->timeline != NULL;
  at->latency = options->timeline == NULL ? 0 : timeline_longest(options->timeline);
  at->margin = MARGIN_LATENCIES * at->latency;
  at->store_latency = options->timeline == NULL ? 0 : timeline_longest_store(options->timeline);
  at->uses = pages_new(at->words * sizeof *at->uses);
  at->visits = pages_new(at->words * sizeof *at->visits);
  at->shared = pages_new(MOST_SHARED_WORDS * sizeof *at->shared);
  at->line_stores = pages_new((at->words / LINE_WORDS + 1) * sizeof *at->line_stores);
  at->stores_again = pages_new((at->words / LINE_WORDS + 1) * sizeof *at->stores_again);
  at->line_reader = pages_new((at->words / LINE_WORDS + 1) * sizeof *at->line_reader);
  at->warpaths = ARENA_ARRAY(arena, Warpath, at->blocks * at->block_warps);
  at->first_write = ARENA_ARRAY(arena, uint32_t, at->blocks + 1);
  at->marks = ARENA_ARRAY(arena, uint32_t, at->blocks);
  at->chosen = ARENA_ARRAY(arena, uint32_t, at->blocks);
  watch_run(at, stats, trap);
  at->order = (RerunOrder){.context = at, .next = next_in_order};
  at->rerun = rerun_new(&at->environment, launch, &at->order);
  return at;
}

void course_free(Course *at) {
  rerun_free(at->rerun);
  free(at->before);
  free(at->after);
  munmap(at->uses, at->words * sizeof *at->uses + 1);
  munmap(at->visits, at->words * sizeof *at->visits + 1);
  munmap(at->shared, MOST_SHARED_WORDS * sizeof *at->shared + 1);
  munmap(at->line_stores, (at->words / LINE_WORDS + 1) * sizeof *at->line_stores + 1);
  munmap(at->stores_again, (at->words / LINE_WORDS + 1) * sizeof *at->stores_again + 1);
  munmap(at->line_reader, (at->words / LINE_WORDS + 1) * sizeof *at->line_reader + 1);
  arena_free(at->arena);
}
