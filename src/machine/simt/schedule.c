// Warp schedulers: which of the warps that may go on issues.
//
//   lrr        loose round robin: the next one after the warp that issued last
//   gto        greedy then oldest: the same warp again, else the oldest (Rogers et al., MICRO 2012, section 3)
//   two-level  round robin over a small active set; a warp leaves it when it begins to wait for memory or at a barrier, and
//              others that are ready enter in turn (Gebhart et al., ISCA 2011, section 3)
//   fair       the one that has issued least
//   frfs       first ready, first served
// Ties go to the older warp, then to the lower number. Scheduler s of n has the warps w with w mod n = s.
#include "machine/simt/issue.h"

// What a policy wants the least of.
static uint64_t rank_of(const Simt *m, const SimtWarp *at) {
  switch ((SchedulePolicy)m->spec->scheduler_policy) {
  case SCHEDULE_FAIR: return at->issued;
  case SCHEDULE_FRFS: return at->ready_since;
  default: return 0;
  }
}

static uint32_t least_of(const Simt *m, uint32_t sm, uint64_t set) {
  uint32_t best = (uint32_t)__builtin_ctzll(set);
  const SimtWarp *best_at = simt_warp(m, sm, best);
  for (uint64_t left = set & (set - 1); left != 0; left &= left - 1) {
    uint32_t warp = (uint32_t)__builtin_ctzll(left);
    const SimtWarp *at = simt_warp(m, sm, warp);
    uint64_t rank = rank_of(m, at), best_rank = rank_of(m, best_at);
    if (rank > best_rank || (rank == best_rank && at->age >= best_at->age)) continue;
    best = warp;
    best_at = at;
  }
  return best;
}

static inline uint32_t pick(Simt *m, uint32_t sm, SchedulerState *at, uint64_t set) {
  if (m->spec->scheduler_policy == SCHEDULE_TWO_LEVEL) set &= schedule_active(m, &m->at.sms[sm], at, set);
  if (set == 0) return SIMT_MOST_WARPS;
  switch ((SchedulePolicy)m->spec->scheduler_policy) {
  case SCHEDULE_LRR:
  case SCHEDULE_TWO_LEVEL: return schedule_first_after(set, at->last);
  case SCHEDULE_GTO:
    if ((set & bit_of(at->last % SIMT_MOST_WARPS)) != 0) return at->last % SIMT_MOST_WARPS;
    return least_of(m, sm, set);
  default: return least_of(m, sm, set);
  }
}

// The same choice with each bit the other way. `before` are the scheduler's cells when it chose `warp`.
static __attribute__((noinline, cold)) void tell_pick(Simt *m, uint32_t sm, uint32_t scheduler, const SchedulerState *before, uint64_t set,
                                                      uint32_t warp) {
  const SmState *state = &m->at.sms[sm];
  const SchedulerState *after = &state->schedulers[scheduler];
  DecideEvent last = {.region = REGION_SCHEDULER_LAST, .row = sm, .unit = scheduler};
  for (uint64_t bit = 1; bit < SIMT_MOST_WARPS; bit <<= 1) {
    SchedulerState other = *before;
    other.last ^= (uint32_t)bit;
    if (pick(m, sm, &other, set) != warp) last.decided |= bit;
  }
  simt_decided(m, who_sm(m, sm), &last);
  if (m->spec->scheduler_policy != SCHEDULE_TWO_LEVEL) return;
  DecideEvent active = {.region = REGION_SCHEDULER_ACTIVE, .row = sm, .unit = scheduler};
  for (uint64_t left = state->present & ~(state->waits[IDLE_MEMORY] | state->waits[IDLE_BARRIER]); left != 0; left &= left - 1) {
    SchedulerState other = *before;
    other.active ^= left & -left;
    bool is_same = pick(m, sm, &other, set) == warp && other.active == after->active && other.entered == after->entered;
    active.decided |= is_same ? 0 : left & -left;
  }
  active.written = ~active.decided; // what is left of the set was chosen anew
  simt_decided(m, who_sm(m, sm), &active);
}

uint32_t schedule_pick(Simt *m, uint32_t sm, uint32_t scheduler, uint64_t ready, uint64_t tried) {
  SchedulerState *at = &m->at.sms[sm].schedulers[scheduler];
  if (!decisions_are_wanted(m)) return pick(m, sm, at, ready & ~tried);
  SchedulerState before = *at;
  uint32_t warp = pick(m, sm, at, ready & ~tried);
  tell_pick(m, sm, scheduler, &before, ready & ~tried, warp);
  return warp;
}

static __attribute__((noinline, cold)) void tell_issued(Simt *m, uint32_t sm, uint32_t scheduler, uint32_t warp, bool long_latency) {
  DecideEvent event = {.region = REGION_SCHEDULER_LAST, .row = sm, .unit = scheduler, .written = UINT64_MAX};
  simt_decided(m, who_sm(m, sm), &event);
  event.region = REGION_SCHEDULER_ACTIVE;
  event.written = bit_of(warp);
  if (long_latency) simt_decided(m, who_sm(m, sm), &event);
}

void schedule_issued(Simt *m, uint32_t sm, uint32_t scheduler, uint32_t warp, bool long_latency) {
  SchedulerState *at = &m->at.sms[sm].schedulers[scheduler];
  if (decisions_are_wanted(m)) tell_issued(m, sm, scheduler, warp, long_latency);
  at->last = warp;
  if (at->wanted == warp + 1) at->wanted = 0;
  if (long_latency) at->active &= ~bit_of(warp);
}
