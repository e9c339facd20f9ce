// Who comes first where warps or blocks meet in a word of memory while blocks are carried out again.
//
// Warps of one block are on one SM, whose memory instructions leave in the order in which they issued, and they are carried out here in the
// order of the golden run. That order holds as long as nothing has diverged from the golden run before the earlier of the
// two, or when they lie further apart than anything can shift them (twice the golden run's longest access, and once
// more for each access that went elsewhere).
// Blocks may be on different SMs: there what was over in the golden run before anything diverged has come first; else only the margin counts, and
// for a store before which nothing has diverged, twice the longest store. Who writes a word last may be left open, if nobody reads it.
// L1 caches do not hear of other SMs' writes: what another block writes is read from the L2 only if nobody has read of its line before.
#include "settle/course.h"

#include <sys/mman.h>

bool in_constants(const Course *at, uint64_t word) {
  const uint8_t *bank = at->frame.environment.const_bank, *place = at->frame.memory + word * WORD;
  return bank != NULL && place + WORD > bank && place < bank + at->frame.launch->program->const_bytes;
}

// Further apart than anything can shift them: each access elsewhere may have taken that much longer, or shorter.
static bool is_long_before(const Course *at, uint32_t earlier, uint32_t later) {
  return !at->again.is_timeless && earlier != NO_TIME && later != NO_TIME &&
         (uint64_t)earlier + at->frame.margin + at->again.elsewhere * at->frame.latency < later;
}

// Another block's access that issued at `issued` is over before this one. Up to where something diverges, times are those of the
// golden run; so this access does not come before that.
static bool is_over(Course *at, uint32_t issued, uint32_t latency) {
  if (is_long_before(at, issued, at->now.time)) return true;
  uint64_t over = (uint64_t)issued + latency;
  if (!at->past.has_times || issued == NO_TIME || over >= min_u32(at->now.time, at->again.diverged_at)) return false;
  at->meetings.needed = max_u32(at->meetings.needed, (uint32_t)over);
  return true;
}

// An access at `earlier` by another warp of the block, and now this one: times up to the result must be right for that to be their order;
// NO_TIME: it is not known.
static uint32_t order_needs(const Course *at, uint32_t earlier) {
  if (!at->past.has_times || earlier == NO_TIME || at->now.time == NO_TIME || earlier >= at->now.time) return NO_TIME;
  return is_long_before(at, earlier, at->now.time) ? 0 : earlier;
}

static bool is_in_order(Course *at, uint32_t earlier) {
  uint32_t needed = order_needs(at, earlier);
  if (needed != NO_TIME) at->meetings.needed = max_u32(at->meetings.needed, needed);
  return needed != NO_TIME;
}

// Another warp of the block has written it, without a barrier since.
static bool is_after_write(const Course *at, const Visit *place) {
  return place->writer != NOBODY && place->write_epoch == at->now.step.epoch && place->write_warp != at->now.step.warp;
}

// Another warp has read it.
static bool is_after_read(const Course *at, const Visit *place) {
  return place->read_epoch == at->now.step.epoch && (place->read_warps & ~(UINT64_C(1) << at->now.step.warp)) != 0;
}

// Two warps write the same: their order does not matter, but whoever writes something else later comes after both.
static bool writes_the_same(const Course *at, const Visit *place, unsigned how, uint32_t value) {
  return how == WATCH_WRITE && is_after_write(at, place) && place->value == value;
}

static void note_visit(const Course *at, Visit *place, unsigned how, uint8_t bytes, uint32_t value) {
  uint32_t block = at->now.step.block + 1;
  bool is_same = writes_the_same(at, place, how, value);
  if ((how & WATCH_READ) != 0) {
    if (place->read_epoch != at->now.step.epoch) place->read_warps = 0;
    place->read_time = place->read_warps == 0 ? at->now.time : max_u32(place->read_time, at->now.time);
    place->reader = place->reader == NOBODY || place->reader == block ? block : MANY;
    place->read_epoch = at->now.step.epoch;
    place->read_step = at->again.step;
    place->read_warps |= UINT64_C(1) << at->now.step.warp;
  }
  if ((how & WATCH_WRITE) != 0) {
    place->bytes = place->write_step == at->again.step ? place->bytes | bytes : bytes;
    place->writer = block;
    place->write_epoch = at->now.step.epoch;
    place->write_warp = is_same ? SEVERAL : (uint8_t)at->now.step.warp;
    place->write_step = at->again.step;
    place->write_time = is_same ? max_u32(place->write_time, at->now.time) : at->now.time;
    place->value = value;
  }
}

static bool visit_past(const Course *at, Visit *place, unsigned how) {
  uint32_t stamp = at->now.step.block + 1;
  if (place->stamp != stamp) *place = (Visit){.stamp = stamp};
  bool meets = is_after_write(at, place) || ((how & WATCH_WRITE) != 0 && is_after_read(at, place));
  note_visit(at, place, how, 0, 0);
  return meets;
}

bool past_shared(Course *at, uint64_t word, unsigned how) { return visit_past(at, &at->meetings.shared[word], how); }
bool past_global(Course *at, uint64_t word, unsigned how) { return visit_past(at, &at->meetings.visits[word], how); }

// In shared memory the last of an instruction's lanes wins, on every machine.
bool visit_shared(Course *at, uint64_t word, unsigned how) {
  uint32_t bytes, value = 0;
  const uint8_t *shared = rerun_shared(at->again.rerun, &bytes);
  if (word >= MOST_SHARED_WORDS || word * WORD >= bytes) return false;
  memcpy(&value, shared + word * WORD, min_u64(WORD, bytes - word * WORD));
  Visit *place = &at->meetings.shared[word];
  if (place->stamp != at->meetings.shared_stamp) *place = (Visit){.stamp = at->meetings.shared_stamp};
  bool good = !is_after_write(at, place) || writes_the_same(at, place, how, value) || is_in_order(at, place->write_time);
  if ((how & WATCH_WRITE) != 0 && is_after_read(at, place)) good &= is_in_order(at, place->read_time);
  note_visit(at, place, how, 0, value);
  return good;
}

// ---- Global memory -------------------------------------------------------------------------------------

// The bytes of a word that [address, address + bytes) covers.
static uint8_t bytes_in(const Course *at, uint64_t word, uint64_t address, uint32_t bytes) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < WORD; i++) {
    uint64_t byte = at->frame.base + word * WORD + i;
    mask |= (uint32_t)(byte >= address && byte < address + bytes) << i;
  }
  return (uint8_t)mask;
}

static bool line_is_unread(const Course *at, uint64_t word) {
  uint64_t line = line_of(at, word), end = (line + 1) << at->frame.line_shift;
  for (uint64_t i = line << at->frame.line_shift; i < end && i < at->frame.words; i++) {
    const Visit *place = &at->meetings.visits[i];
    bool is_read = place->stamp == at->meetings.visit_stamp && place->reader != NOBODY && place->read_step != at->again.step;
    if (is_read || at->past.uses[i].reader != NOBODY) return false;
  }
  return true;
}

// A read of what another block of the launch writes. Long before it does so, every cache has the word as it was.
static bool read_foreign(Course *at, uint64_t word, const Use *use, const Visit *place) {
  bool is_early = is_long_before(at, at->now.time, use->first_write);
  if (place->writer != NOBODY) return false;
  if (is_early == is_seen_early(at, use))
    return is_early || (line_is_unread(at, word) && is_over(at, use->last_write, at->frame.store_latency));
  if (!is_early) return false;
  at->meetings.back_to = min_u32(at->meetings.back_to, at->now.time);
  at->meetings.goes_back = true;
  return false;
}

// This store is in place before another block's, at `later`. If nothing has diverged before, it comes when its golden run's does; what
// comes after it may shift a little.
static bool is_in_place_before(Course *at, uint32_t later) {
  if (is_long_before(at, at->now.time, later)) return true;
  bool is_exact = at->past.has_times && at->now.time <= at->again.diverged_at && at->now.time != NO_TIME;
  if (!is_exact || later == NO_TIME || at->now.time + (uint64_t)MARGIN_LATENCIES * at->frame.store_latency >= later) return false;
  at->meetings.needed = max_u32(at->meetings.needed, at->now.time);
  return true;
}

// A write to what another block of the launch writes; it has happened already.
static bool write_foreign(Course *at, uint64_t word, const Use *use) {
  if (word_get(at, word) == at->frame.after[word] && use->reader == NOBODY) return true; // nobody can tell them apart
  if (is_over(at, use->last_write, at->frame.store_latency)) return true;
  if (use->partly || !is_in_place_before(at, use->first_write)) return false;
  word_set(at, word, at->frame.after[word]);
  return true;
}

// Who writes it last need not be known, if nobody reads it.
static bool leave_open(const Course *at, const Use *use, Visit *place, uint32_t needed) {
  bool may = at->meetings.may_be_open && !at->past.is_racy && use->reader == NOBODY && place->reader == NOBODY;
  if (may) place->open = max_u32(place->open, needed);
  return may;
}

// The order in which warps of the block come: what one writes is not read by another without a barrier, as a request under way may be joined.
static bool warps_are_in_order(Course *at, const Use *use, Visit *place, unsigned how, bool together) {
  bool writes = (how & WATCH_WRITE) != 0, reads = (how & WATCH_READ) != 0;
  if (is_after_write(at, place)) {
    if (reads) return false;
    bool is_left = together && leave_open(at, use, place, order_needs(at, place->write_time));
    if (!is_left && !is_in_order(at, place->write_time)) return false;
  }
  return !writes || !is_after_read(at, place) || is_in_order(at, place->read_time);
}

static void count_store(Course *at, uint64_t word) {
  LineCount *line = &at->meetings.stores_again[line_of(at, word)];
  if (line->stamp != at->meetings.visit_stamp) *line = (LineCount){.stamp = at->meetings.visit_stamp};
  line->count += line->count == 0 || line->step != at->again.step;
  line->step = at->again.step;
}

bool visit_global(Course *at, uint64_t word, uint64_t address, uint32_t bytes, unsigned how) {
  const Use *use = &at->past.uses[word];
  Visit *place = &at->meetings.visits[word];
  uint32_t block = at->now.step.block + 1;
  uint8_t covered = bytes_in(at, word, address, bytes);
  uint32_t value = word_get(at, word);
  bool reads = (how & WATCH_READ) != 0, writes = (how & WATCH_WRITE) != 0, good = true;
  bool together = at->frame.machine.joins_lanes && bytes <= WORD && !reads; // lanes of an instruction go to a line in one request
  if (place->stamp != at->meetings.visit_stamp) *place = (Visit){.stamp = at->meetings.visit_stamp};
  if (writes && place->writer == NOBODY) *VEC_PUSH(&at->meetings.written, at->frame.arena) = word;
  if (writes) count_store(at, word);
  if (writes && in_constants(at, word)) good = false;
  bool is_foreign = use->writer != NOBODY && use->writer != block;
  if (is_foreign && reads) good &= !writes && read_foreign(at, word, use, place);
  else if (is_foreign) good &= write_foreign(at, word, use) || (together && leave_open(at, use, place, NO_TIME));
  if (reads && place->open == NO_TIME) good = false;
  if (reads && place->open != NO_TIME) at->meetings.needed = max_u32(at->meetings.needed, place->open);
  if (writes && use->reader != NOBODY && use->reader != block) good &= is_over(at, use->last_read, at->frame.latency);
  // Of blocks that are carried out for one fault, none may meet another. Of an instruction's lanes the last wins, if they go together.
  good &= place->writer == NOBODY || place->writer == block;
  good &= !writes || place->reader == NOBODY || place->reader == block;
  good &= reads || together || place->writer == NOBODY || place->write_step != at->again.step || (place->bytes & covered) == 0;
  good &= writes_the_same(at, place, how, value) || warps_are_in_order(at, use, place, how, together);
  note_visit(at, place, how, covered, value);
  return good;
}

bool is_left_open(const Course *at, uint64_t word) {
  const Visit *place = &at->meetings.visits[word];
  return place->stamp == at->meetings.visit_stamp && (place->open == NO_TIME || place->open > at->again.diverged_at);
}

// ---- Made, begun anew, freed ---------------------------------------------------------------------------

void meetings_new(Course *at) {
  at->meetings.visits = pages_new(at->frame.words * sizeof *at->meetings.visits);
  at->meetings.shared = pages_new(MOST_SHARED_WORDS * sizeof *at->meetings.shared);
  at->meetings.stores_again = pages_new(line_count(at) * sizeof *at->meetings.stores_again);
}

void meetings_free(Course *at) {
  munmap(at->meetings.visits, at->frame.words * sizeof *at->meetings.visits + 1);
  munmap(at->meetings.shared, MOST_SHARED_WORDS * sizeof *at->meetings.shared + 1);
  munmap(at->meetings.stores_again, line_count(at) * sizeof *at->meetings.stores_again + 1);
}

// The fault-free run has used a stamp for each block.
void meetings_after_past(Course *at) { at->meetings.visit_stamp = at->meetings.shared_stamp = at->frame.blocks; }

void meetings_fault(Meetings *meetings, bool may_be_open) {
  meetings->back_to = NO_TIME;
  meetings->goes_back = true;
  meetings->may_be_open = may_be_open;
}

void meetings_attempt(Meetings *meetings) {
  meetings->written.count = 0;
  meetings->goes_back = false;
  meetings->visit_stamp++;
}

void meetings_block(Meetings *meetings) {
  meetings->shared_stamp++;
  meetings->needed = 0;
}
