// One launch on the functional machine, and some of its blocks carried out again in a memory that differs. See follow.h and course.h.
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

enum { MOST_RETRIES = 16 };

void *pages_new(uint64_t bytes) {
  void *pages = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(pages != MAP_FAILED);
  return pages;
}

bool words_of(const Course *at, uint64_t address, uint32_t bytes, uint64_t *first, uint64_t *last) {
  *first = (address - at->frame.base) / WORD;
  *last = (address + bytes - 1 - at->frame.base) / WORD;
  return *last < at->frame.words;
}

// ---- Blocks in a memory that differs -------------------------------------------------------------------

// False: the block shares words with others.
static bool undo_block(const Course *at, uint32_t block) {
  bool own = true;
  for (uint32_t i = at->past.first_write[block]; i < at->past.first_write[block + 1]; i++) {
    uint64_t word = at->past.writes.items[i].word;
    own &= at->past.uses[word].writer == block + 1;
    word_set(at, word, at->frame.before[word]);
  }
  return own;
}

// Notes a word that has come to differ, and puts it back.
static void take_word(const Course *at, uint64_t word, WordList *words) {
  uint32_t value = word_get(at, word);
  if (value == at->frame.after[word]) return;
  if (!is_left_open(at, word)) words_add(words, at->frame.base + word * WORD, value);
  word_set(at, word, at->frame.after[word]);
}

// Accesses of the others that write to a word's line.
static uint32_t stores_of_others(const Course *at, uint64_t word, uint32_t block) {
  uint64_t line = line_of(at, word);
  uint32_t low = 0, high = at->past.stores.count, count = 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (at->past.stores.items[middle].line < line) low = middle + 1;
    else high = middle;
  }
  for (; low < at->past.stores.count && at->past.stores.items[low].line == line; low++) {
    if (at->past.stores.items[low].block != block) count += at->past.stores.items[low].count;
  }
  return count;
}

static void take_open_words(Course *at, uint32_t block) {
  for (uint32_t i = 0; i < at->meetings.written.count; i++) {
    uint64_t word = at->meetings.written.items[i];
    uint32_t own = at->meetings.stores_again[line_of(at, word)].count;
    OpenWord open = {at->frame.base + word * WORD, own + stores_of_others(at, word, block), own};
    if (is_left_open(at, word)) *VEC_PUSH(&at->open_words, at->frame.arena) = open;
  }
}

static bool is_ours(const Course *at, const Use *use) { return use->writer != MANY && at->marks[use->writer - 1] == at->stamp; }

// Words that others write and that are seen as they were before.
static void set_early_words(const Course *at, const uint32_t *values) {
  for (uint32_t i = 0; i < at->past.writes.count && at->meetings.back_to != NO_TIME; i++) {
    uint64_t word = at->past.writes.items[i].word;
    const Visit *place = &at->meetings.visits[word];
    bool is_written_again = place->stamp == at->meetings.visit_stamp && place->writer != NOBODY;
    if (is_seen_early(at, &at->past.uses[word]) && !is_ours(at, &at->past.uses[word]) && !is_written_again)
      word_set(at, word, values[word]);
  }
}

static void take_words(const Course *at, uint32_t chosen, const WordList *placed, WordList *words) {
  set_early_words(at, at->frame.after);
  for (uint32_t i = 0; i < placed->count; i++) take_word(at, (placed->items[i].address - at->frame.base) / WORD, words);
  for (uint32_t k = 0; k < chosen; k++) {
    uint32_t block = at->chosen[k];
    for (uint32_t i = at->past.first_write[block]; i < at->past.first_write[block + 1]; i++)
      take_word(at, at->past.writes.items[i].word, words);
  }
  for (uint32_t i = 0; i < at->meetings.written.count; i++) take_word(at, at->meetings.written.items[i], words);
}

// The words as the chosen blocks find them. What another block overwrites is gone, unless they come before. False: nothing can be said.
static bool place_words(const Course *at, const WordList *words) {
  bool good = true;
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t word = (words->items[i].address - at->frame.base) / WORD;
    const Use *use = &at->past.uses[word];
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
  meetings_fault(&at->meetings, flip != NULL && at->leaves_open);
  for (uint32_t retry = 0; at->meetings.goes_back && retry < MOST_RETRIES; retry++) {
    result = (CourseResult){.end = RERUN_ENDED, .same_flow = true};
    words->count = 0;
    meetings_attempt(&at->meetings);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) good &= undo_block(at, at->chosen[i]);
    set_early_words(at, at->frame.before);
    good &= place_words(at, &placed);
    if (!good) result.end = RERUN_UNKNOWN;
    for (uint32_t i = 0; i < count && result.end != RERUN_UNKNOWN; i++) again_run(at, at->chosen[i], flip, most, &result);
    take_words(at, count, &placed, words);
  }
  if (at->meetings.goes_back) result.end = RERUN_UNKNOWN;
  words_free(&placed);
  return result;
}

CourseResult course_strike(Course *at, uint32_t block, const RerunFlip *flip, uint64_t most, WordList *words) {
  bool is_ordered = flip->place != RERUN_SHARED || at->past.has_times; // which warps have read it before is a matter of time
  if (at->past.is_lost || block >= at->frame.blocks || !is_ordered) return (CourseResult){.end = RERUN_UNKNOWN};
  at->stamp++;
  at->chosen[0] = block;
  at->marks[block] = at->stamp;
  CourseResult result = run_chosen(at, 1, flip, most, words);
  take_open_words(at, block);
  return result;
}

// The blocks that read of the words' lines.
static uint32_t choose(Course *at, const WordList *words) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < words->count; i++) {
    uint64_t line = line_of(at, (words->items[i].address - at->frame.base) / WORD);
    uint32_t low = 0, high = at->past.readers.count;
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (at->past.readers.items[middle].line < line) low = middle + 1;
      else high = middle;
    }
    for (; low < at->past.readers.count && at->past.readers.items[low].line == line; low++) {
      uint32_t block = at->past.readers.items[low].block;
      if (at->marks[block] != at->stamp) at->chosen[count++] = block;
      at->marks[block] = at->stamp;
    }
  }
  return count;
}

CourseResult course_go_on(Course *at, WordList *words, uint64_t most, bool has_golden_times) {
  bool good = !at->past.is_lost;
  for (uint32_t i = 0; i < words->count; i++) good &= (words->items[i].address - at->frame.base) / WORD < at->frame.words;
  if (!good) return (CourseResult){.end = RERUN_UNKNOWN};
  at->stamp++;
  bool has_times = at->past.has_times;
  at->again.is_timeless = !has_golden_times;
  at->past.has_times = has_times && has_golden_times;
  CourseResult result = run_chosen(at, choose(at, words), NULL, most, words);
  at->again.is_timeless = false;
  at->past.has_times = has_times;
  return result;
}

const Trap *course_trap(const Course *course) { return &course->again.trap; }
const OpenWordVec *course_open(const Course *course) { return &course->open_words; }

bool course_keep(const Course *at, LaunchMemory *kept) {
  if (at->past.is_lost || at->past.is_racy) return false;
  *kept = (LaunchMemory){
      .launch = (uint32_t)at->frame.launch->number, .blocks = at->frame.blocks, .base = at->frame.base, .words = at->frame.words};
  kept->line_words = at->frame.machine.line_words;
  kept->after = malloc(at->frame.words * sizeof *kept->after + 1);
  kept->uses = malloc(at->frame.words * sizeof *kept->uses + 1);
  ASSERT(kept->after != NULL && kept->uses != NULL);
  memcpy(kept->after, at->frame.after, at->frame.words * WORD);
  for (uint64_t i = 0; i < at->frame.words; i++) kept->uses[i] = (KeptUse){at->past.uses[i].writer, at->past.uses[i].reader};
  return true;
}

// ---- Made and freed ------------------------------------------------------------------------------------

static uint32_t *copy_memory(const Course *at) {
  uint32_t *copy = malloc(at->frame.words * WORD + 1);
  ASSERT(copy != NULL);
  memcpy(copy, at->frame.memory, at->frame.words * WORD);
  return copy;
}

static void set_frame(CourseFrame *frame, const MachineEnvironment *environment, const Launch *launch, const CourseOptions *options) {
  const uint32_t *grid = launch->grid, *block = launch->block;
  frame->environment = *environment;
  frame->launch = launch;
  frame->base = memory_base(environment->memory);
  frame->memory = memory_bytes(environment->memory);
  frame->words = memory_extent(environment->memory) / WORD;
  frame->blocks = grid[0] * grid[1] * grid[2];
  frame->block_warps = (block[0] * block[1] * block[2] + WARP_LANES - 1) / WARP_LANES;
  frame->timeline = options->timeline;
  frame->spec = options->spec;
  frame->machine = machine_accesses(options->spec);
  frame->line_shift = (uint32_t)__builtin_ctz(frame->machine.line_words);
  frame->latency = options->timeline == NULL ? 0 : timeline_longest(options->timeline);
  frame->margin = MARGIN_LATENCIES * frame->latency;
  frame->store_latency = options->timeline == NULL ? 0 : timeline_longest_store(options->timeline);
}

Course *course_new(const MachineEnvironment *environment, const Launch *launch, const CourseOptions *options, Stats *stats, Trap *trap) {
  Arena *arena = arena_new();
  Course *at = ARENA_NEW(arena, Course);
  at->frame.arena = arena;
  set_frame(&at->frame, environment, launch, options);
  at->frame.environment.watch = &at->watch;
  at->leaves_open = options->may_be_open;
  at->marks = ARENA_ARRAY(arena, uint32_t, at->frame.blocks);
  at->chosen = ARENA_ARRAY(arena, uint32_t, at->frame.blocks);
  meetings_new(at);
  at->frame.before = copy_memory(at);
  past_run(at, options, stats, trap);
  at->frame.after = copy_memory(at);
  meetings_after_past(at);
  again_new(at);
  return at;
}

void course_free(Course *at) {
  rerun_free(at->again.rerun);
  free(at->frame.before);
  free(at->frame.after);
  past_free(at);
  meetings_free(at);
  arena_free(at->frame.arena);
}
