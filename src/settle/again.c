// A block carried out again, struck or in a memory that differs, beside its course in the fault-free run. See course.h.
#include "settle/course.h"

enum { FREE_TURN = 4096 };

static void diverge(Course *at, uint32_t time) { at->again.diverged_at = min_u32(at->again.diverged_at, time); }

// The last access is over: was it the one of the fault-free run?
static void end_access(Course *at) {
  CourseAgain *again = &at->again;
  bool was_access = at->now.is_access;
  if (was_access) access_end(&at->now, &at->frame, &again->warps[at->now.step.warp].flow);
  if (again->same != NULL && (uint32_t)again->warps[again->same_warp].flow != again->same->after) diverge(at, again->same->time);
  again->elsewhere += was_access && (again->past == NULL || again->past->places != at->now.places);
  again->same = NULL;
}

static void again_step(void *context, const WatchedStep *step) {
  Course *at = context;
  AgainWarp *warp = &at->again.warps[step->warp];
  end_access(at);
  access_step(&at->now, step, &warp->flow);
  warp->steps++;
  at->again.step++;
}

// The next access of the fault-free run that the warp has not passed; NULL: none.
static const PastAccess *next_access(Course *at, uint32_t index, uint64_t issue) {
  AgainWarp *warp = &at->again.warps[index];
  const AccessVec *accesses = &at->past.warpaths[warp_index(at, at->again.block, index)].accesses;
  while (warp->number < accesses->count && accesses->items[warp->number].issue < issue) warp->number++;
  return warp->number < accesses->count ? &accesses->items[warp->number] : NULL;
}

// The first lane of an access: when would it have come? As long as nothing has diverged, it comes then.
static void begin_access(Course *at) {
  AgainWarp *warp = &at->again.warps[at->now.step.warp];
  const PastAccess *past = next_access(at, at->now.step.warp, warp->steps - 1);
  bool is_there = past != NULL && past->issue == warp->steps - 1 && past->pc == at->now.step.pc;
  bool is_same = is_there && past->before == (uint32_t)warp->flow;
  at->again.past = is_there ? past : NULL;
  access_begin(&at->now, is_there ? past->time : NO_TIME);
  if (!is_same) diverge(at, warp->last_time);
  if (is_there) warp->last_time = past->time;
  at->again.same = is_same ? past : NULL;
  at->again.same_warp = at->now.step.warp;
}

static void again_touch(void *context, Space space, uint64_t address, uint32_t bytes, unsigned how) {
  Course *at = context;
  uint64_t first, last;
  bool good = true;
  if (!at->now.is_access) begin_access(at);
  access_lane(&at->now, space, address, bytes, how, &at->again.warps[at->now.step.warp].flow);
  if (space == SPACE_SHARED) {
    for (uint64_t word = address / WORD; word <= (address + bytes - 1) / WORD; word++) good &= visit_shared(at, word, how);
  } else if (space == SPACE_GLOBAL) {
    good = words_of(at, address, bytes, &first, &last);
    for (uint64_t word = first; word <= last && last < at->frame.words; word++) good &= visit_global(at, word, address, bytes, how);
  }
  if (!good) at->watch.stop = true;
}

static void again_lost(void *context) { ((Course *)context)->watch.stop = true; }

static uint64_t next_in_order(void *context, uint32_t warp, uint64_t count, uint32_t *left) {
  Course *at = context;
  const PastAccess *past = at->past.has_times ? next_access(at, warp, count) : NULL;
  *left = past == NULL ? FREE_TURN : (uint32_t)(past->issue - count);
  return past == NULL ? UINT64_MAX : past->time;
}

static bool has_same_flow(const Course *at, uint32_t block) {
  for (uint32_t warp = 0; warp < at->frame.block_warps; warp++) {
    if (at->again.warps[warp].flow != at->past.warpaths[warp_index(at, block, warp)].flow) return false;
  }
  return true;
}

// One warp's further steps take time, whatever the others save.
static uint64_t further_steps(const Course *at, uint32_t block) {
  uint64_t further = 0;
  for (uint32_t warp = 0; warp < at->frame.block_warps; warp++) {
    uint64_t now = at->again.warps[warp].steps, past = at->past.warpaths[warp_index(at, block, warp)].steps;
    further += now > past ? now - past : 0;
  }
  return further;
}

void again_run(Course *at, uint32_t block, const RerunFlip *flip, uint64_t most, CourseResult *result) {
  meetings_block(&at->meetings);
  access_forget(&at->now);
  at->watch.stop = false;
  at->again.block = block;
  at->again.same = NULL;
  at->again.elsewhere = 0;
  at->again.diverged_at = at->again.is_timeless ? 0 : NO_TIME;
  memset(at->again.warps, 0, at->frame.block_warps * sizeof *at->again.warps);
  RerunEnd end = rerun_block(at->again.rerun, block, flip, most);
  end_access(at);
  bool is_second = end != RERUN_ENDED && result->end != RERUN_ENDED; // of two traps, time decides which comes first
  if (end == RERUN_UNKNOWN || is_second || at->meetings.needed > at->again.diverged_at) {
    result->end = RERUN_UNKNOWN;
    return;
  }
  if (end != RERUN_ENDED) {
    result->end = end;
    at->again.trap = *rerun_trap(at->again.rerun);
  }
  result->same_flow &= has_same_flow(at, block);
  if (!result->same_flow && at->past.is_racy) result->end = RERUN_UNKNOWN; // other blocks may do otherwise at other times
  result->extra += further_steps(at, block) + at->again.elsewhere;
}

void again_new(Course *at) {
  at->watch = (MachineWatch){.context = at, .step = again_step, .touch = again_touch, .lost = again_lost};
  at->again.order = (RerunOrder){.context = at, .next = next_in_order};
  at->again.rerun = rerun_new(&at->frame.environment, at->frame.launch, &at->again.order);
}
