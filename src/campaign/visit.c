// Who comes first where warps or blocks meet in a word of memory while blocks are carried out again.
//
// Warps of one block are on one SM, whose memory instructions leave in the order in which they issued, and they are carried out here in the
// order of the golden run. That order holds as long as nothing has diverged from the golden run before the earlier of the
// two, or when they lie further apart than anything can shift them (twice the golden run's longest access, and once
// more for each access that went elsewhere).
// Blocks may be on different SMs: there only the margin counts; for stores, while nothing has diverged, the longest store.
// L1 caches do not hear of other SMs' writes: what another block writes is read from the L2 only if nobody has read of its line before.
#include "campaign/course.h"

bool in_constants(const Course *at, uint64_t word) {
  const uint8_t *bank = at->environment.const_bank, *place = at->memory + word * WORD;
  return bank != NULL && place + WORD > bank && place < bank + at->launch->program->const_bytes;
}

// Further apart than anything can shift them: each access elsewhere may have taken that much longer, or shorter.
static bool is_long_before(const Course *at, uint32_t earlier, uint32_t later) {
  return earlier != NO_TIME && later != NO_TIME && (uint64_t)earlier + at->margin + at->elsewhere * at->latency < later;
}

// Another block's access that issued at `issued` is over before this one. Up to where something diverges, times are those of the
// golden run; so this access does not come before that.
static bool is_over(Course *at, uint32_t issued, uint32_t latency) {
  if (is_long_before(at, issued, at->time)) return true;
  uint64_t over = (uint64_t)issued + latency;
  if (!at->has_times || issued == NO_TIME || over >= min_u32(at->time, at->diverged_at)) return false;
  at->needed = max_u32(at->needed, (uint32_t)over);
  return true;
}

// An access at `earlier` by another warp of the block, and now this one.
static bool is_in_order(Course *at, uint32_t earlier) {
  if (!at->has_times || earlier == NO_TIME || at->time == NO_TIME || earlier >= at->time) return false;
  if (!is_long_before(at, earlier, at->time)) at->needed = max_u32(at->needed, earlier);
  return true;
}

// Warps without a barrier between them.
static bool warps_are_in_order(Course *at, const Visit *place, unsigned how, bool is_shared) {
  bool writes = (how & WATCH_WRITE) != 0;
  bool after_write = place->writer != NOBODY && place->write_epoch == at->now.epoch && place->write_warp != at->now.warp;
  bool after_read = writes && place->read_epoch == at->now.epoch && (place->read_warps & ~(UINT64_C(1) << at->now.warp)) != 0;
  if (after_write && (how & WATCH_READ) != 0 && !is_shared) return false; // a request under way may be joined
  if (after_write && !is_in_order(at, place->write_time)) return false;
  return !after_read || is_in_order(at, place->read_time);
}

static void note_visit(const Course *at, Visit *place, unsigned how, uint8_t bytes) {
  uint32_t block = at->now.block + 1;
  if ((how & WATCH_READ) != 0) {
    if (place->read_epoch != at->now.epoch) place->read_warps = 0;
    place->read_time = place->read_warps == 0 ? at->time : max_u32(place->read_time, at->time);
    place->reader = place->reader == NOBODY || place->reader == block ? block : MANY;
    place->read_epoch = at->now.epoch;
    place->read_step = at->step;
    place->read_warps |= UINT64_C(1) << at->now.warp;
  }
  if ((how & WATCH_WRITE) != 0) {
    place->bytes = place->write_step == at->step ? place->bytes | bytes : bytes;
    place->writer = block;
    place->write_epoch = at->now.epoch;
    place->write_warp = (uint8_t)at->now.warp;
    place->write_step = at->step;
    place->write_time = at->time;
  }
}

bool visit_past(const Course *at, Visit *place, unsigned how) {
  uint32_t stamp = at->now.block + 1;
  if (place->stamp != stamp) *place = (Visit){.stamp = stamp};
  bool after_write = place->writer != NOBODY && place->write_epoch == at->now.epoch && place->write_warp != at->now.warp;
  bool after_read = place->read_epoch == at->now.epoch && (place->read_warps & ~(UINT64_C(1) << at->now.warp)) != 0;
  note_visit(at, place, how, 0);
  return after_write || ((how & WATCH_WRITE) != 0 && after_read);
}

// In shared memory the last of an instruction's lanes wins, on every machine.
bool visit_shared(Course *at, uint64_t word, unsigned how) {
  if (word >= MOST_SHARED_WORDS) return false;
  Visit *place = &at->shared[word];
  if (place->stamp != at->shared_stamp) *place = (Visit){.stamp = at->shared_stamp};
  bool good = warps_are_in_order(at, place, how, true);
  note_visit(at, place, how, 0);
  return good;
}

// ---- Global memory -------------------------------------------------------------------------------------

// The bytes of a word that [address, address + bytes) covers.
static uint8_t bytes_in(const Course *at, uint64_t word, uint64_t address, uint32_t bytes) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < WORD; i++) {
    uint64_t byte = at->base + word * WORD + i;
    mask |= (uint32_t)(byte >= address && byte < address + bytes) << i;
  }
  return (uint8_t)mask;
}

static bool line_is_unread(const Course *at, uint64_t word) {
  uint64_t first = word / LINE_WORDS_KEPT * LINE_WORDS_KEPT;
  for (uint64_t i = first; i < first + LINE_WORDS_KEPT && i < at->words; i++) {
    const Visit *place = &at->visits[i];
    bool is_read = place->stamp == at->visit_stamp && place->reader != NOBODY && place->read_step != at->step;
    if (is_read || at->uses[i].reader != NOBODY) return false;
  }
  return true;
}

// A read of what another block of the launch writes. Long before it does so, every cache has the word as it was.
static bool read_foreign(Course *at, uint64_t word, const Use *use, const Visit *place) {
  bool is_early = is_long_before(at, at->time, use->first_write);
  if (place->writer != NOBODY) return false;
  if (is_early == is_seen_early(at, use)) return is_early || (line_is_unread(at, word) && is_over(at, use->last_write, at->store_latency));
  if (!is_early) return false;
  at->back_to = min_u32(at->back_to, at->time);
  at->goes_back = true;
  return false;
}

// This store is in place before another block's, at `later`. If nothing has diverged before, it comes when its golden run's does; what
// comes after it may shift a little.
static bool is_in_place_before(Course *at, uint32_t later) {
  if (is_long_before(at, at->time, later)) return true;
  bool is_exact = at->has_times && at->time <= at->diverged_at && at->time != NO_TIME;
  if (!is_exact || later == NO_TIME || at->time + (uint64_t)MARGIN_LATENCIES * at->store_latency >= later) return false;
  at->needed = max_u32(at->needed, at->time);
  return true;
}

// A write to what another block of the launch writes; it has happened already.
static bool write_foreign(Course *at, uint64_t word, const Use *use) {
  if (word_get(at, word) == at->after[word] && use->reader == NOBODY) return true; // nobody can tell them apart
  if (is_over(at, use->last_write, at->store_latency)) return true;
  if (use->partly || !is_in_place_before(at, use->first_write)) return false;
  word_set(at, word, at->after[word]);
  return true;
}

bool visit_global(Course *at, uint64_t word, uint64_t address, uint32_t bytes, unsigned how) {
  const Use *use = &at->uses[word];
  Visit *place = &at->visits[word];
  uint32_t block = at->now.block + 1;
  uint8_t covered = bytes_in(at, word, address, bytes);
  bool reads = (how & WATCH_READ) != 0, writes = (how & WATCH_WRITE) != 0, good = true;
  if (place->stamp != at->visit_stamp) *place = (Visit){.stamp = at->visit_stamp};
  if (writes && place->writer == NOBODY) *VEC_PUSH(&at->written, at->arena) = word;
  if (writes && in_constants(at, word)) good = false;
  bool is_foreign = use->writer != NOBODY && use->writer != block;
  if (is_foreign && reads) good &= !writes && read_foreign(at, word, use, place);
  else if (is_foreign) good &= write_foreign(at, word, use);
  if (writes && use->reader != NOBODY && use->reader != block) good &= is_over(at, use->last_read, at->latency);
  // Of blocks that are carried out for one fault, none may meet another. Of an instruction's lanes the last wins, if they go together.
  good &= place->writer == NOBODY || place->writer == block;
  good &= !writes || place->reader == NOBODY || place->reader == block;
  bool together = at->keeps_lanes && bytes <= WORD;
  good &= reads || together || place->writer == NOBODY || place->write_step != at->step || (place->bytes & covered) == 0;
  good &= warps_are_in_order(at, place, how, false);
  note_visit(at, place, how, covered);
  return good;
}
