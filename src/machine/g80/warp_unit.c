// The warp unit: the pool of 32 warps and the strict round robin over it (reference, "Warp unit"). A warp that is busy is
// polled every 2 cycles, not skipped; finished and fenced warps are passed over, 2 cycles each.
//
// Polls that find a busy warp change nothing, so they are not simulated: the unit is parked until that warp's state changes.
#include "machine/g80/g80_internal.h"

enum { POLL_CYCLES = 2, STATE_VISIBLE = 2, DONE_VISIBLE = 3, DONE_CYCLES = 2, BARRIER_READY = 4 };

static uint32_t get(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp) {
  reads(m, id, warp_number(sm, warp));
  return *warp_cell(m, id, sm, warp);
}
static void put(const G80Machine *m, RegionId id, uint32_t sm, uint32_t warp, uint32_t value) {
  *warp_cell(m, id, sm, warp) = value;
  writes(m, id, warp_number(sm, warp));
}
static uint32_t state_of(const G80Machine *m, uint32_t sm, uint32_t warp) { return get(m, REGION_ID_wp_state, sm, warp) & 3; }
static uint32_t warps_of(const G80Sm *s) { return min_u32(s->unit.warps & 63, G80_WARPS); }

// The first poll at or after `cycle`.
static uint64_t poll_from(const G80Sm *s, uint64_t cycle) {
  if (cycle <= s->poll_grid) return s->poll_grid;
  return s->poll_grid + align_up(cycle - s->poll_grid, POLL_CYCLES);
}

static void step_pointer(G80Sm *s) {
  uint32_t next = (s->unit.pointer & 31) + 1;
  s->unit.pointer = next >= warps_of(s) ? 0 : next;
}

static bool all_finished(const G80Machine *m, uint32_t sm) {
  for (uint32_t i = 0; i < warps_of(&m->sm[sm]); i++) {
    if (state_of(m, sm, i) != WARP_FINISHED) return false;
  }
  return true;
}

static bool any_to_issue(const G80Machine *m, uint32_t sm) {
  for (uint32_t i = 0; i < warps_of(&m->sm[sm]); i++) {
    uint32_t state = state_of(m, sm, i);
    if (state == WARP_READY || state == WARP_ACTIVE) return true;
  }
  return false;
}

static void issue(G80Machine *m, uint32_t sm, uint32_t warp, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  put(m, REGION_ID_wp_state, sm, warp, WARP_ACTIVE);
  s->changed_at[warp] = cycle;
  step_pointer(s);
  s->poll_mode = POLL_ISSUING;
  s->poll_at = G80_NEVER;
  pipeline_issue(m, sm, warp, cycle);
}

static void pass_over(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  if (any_to_issue(m, sm)) {
    step_pointer(s);
    s->poll_grid = s->poll_at = cycle + POLL_CYCLES;
    return;
  }
  s->poll_mode = POLL_OFF; // all are finished or wait at barriers
  s->poll_at = G80_NEVER;
  if (s->done_at == G80_NEVER && all_finished(m, sm)) s->done_at = cycle + DONE_CYCLES;
}

static void pause(G80Sm *s, PollMode mode) {
  s->poll_mode = mode;
  s->poll_at = G80_NEVER;
}

void warp_unit_poll(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  const G80Stage *fetch = &s->stages[STAGE_FETCH];
  if ((s->unit.pointer & 31) >= warps_of(s)) s->unit.pointer = 0;
  uint32_t warp = s->unit.pointer & 31;
  uint32_t state = state_of(m, sm, warp);
  uint64_t visible = s->changed_at[warp] + STATE_VISIBLE;
  if (state == WARP_ACTIVE) {
    pause(s, POLL_PARKED);
  } else if (cycle < visible) {
    s->poll_at = poll_from(s, visible);
  } else if (state != WARP_READY) {
    pass_over(m, sm, cycle);
  } else if (fetch->busy != 0) {
    pause(s, POLL_CHOSEN);
  } else if (cycle < fetch->last_at + 1) {
    s->poll_at = fetch->last_at + 1;
  } else {
    issue(m, sm, warp, cycle);
  }
}

// The last lane group of an instruction has entered FETCH: on to the next warp.
void warp_unit_issued(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  s->poll_mode = POLL_POLLING;
  s->poll_grid = s->poll_at = cycle + POLL_CYCLES;
}

// FETCH is free: a warp that has been chosen enters it in the next cycle.
void warp_unit_fetch_free(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  if (s->poll_mode != POLL_CHOSEN) return;
  s->poll_mode = POLL_POLLING;
  s->poll_at = cycle + 1;
}

// A warp's state has changed: the unit may be parked at it.
static void wake(G80Machine *m, uint32_t sm, uint64_t visible) {
  G80Sm *s = &m->sm[sm];
  if (s->poll_mode != POLL_PARKED && s->poll_mode != POLL_OFF) return;
  s->poll_mode = POLL_POLLING;
  s->poll_at = poll_from(s, visible);
}

void warp_unit_written(G80Machine *m, uint32_t sm, const G80Job *job, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  uint32_t warp = job->warp & 31;
  put(m, REGION_ID_wp_pc, sm, warp, job->next_pc);
  put(m, REGION_ID_wp_current, sm, warp, job->next_mask);
  put(m, REGION_ID_wp_state, sm, warp, (job->ends & 1) != 0 ? WARP_FINISHED : WARP_READY);
  s->changed_at[warp] = cycle;
  if ((job->ends & 1) != 0 && all_finished(m, sm)) {
    s->done_at = poll_from(s, cycle + DONE_VISIBLE) + DONE_CYCLES;
    pause(s, POLL_OFF);
    return;
  }
  wake(m, sm, cycle + STATE_VISIBLE);
}

// The warp waits at its block's barrier. Finished warps never arrive.
bool warp_unit_barrier(G80Machine *m, uint32_t sm, const G80Job *job, uint64_t cycle, uint32_t *warps) {
  G80Sm *s = &m->sm[sm];
  uint32_t warp = job->warp & 31, cta = get(m, REGION_ID_wp_cta, sm, warp) & 15, count = 0;
  put(m, REGION_ID_wp_pc, sm, warp, job->next_pc);
  put(m, REGION_ID_wp_current, sm, warp, job->next_mask);
  put(m, REGION_ID_wp_state, sm, warp, WARP_WAITING_FENCE);
  s->changed_at[warp] = cycle;
  bool all = true;
  for (uint32_t i = 0; i < warps_of(s); i++) {
    if ((get(m, REGION_ID_wp_cta, sm, i) & 15) != cta) continue;
    all = all && state_of(m, sm, i) == WARP_WAITING_FENCE;
    count++;
  }
  *warps = count;
  for (uint32_t i = 0; all && i < warps_of(s); i++) {
    if ((get(m, REGION_ID_wp_cta, sm, i) & 15) != cta) continue;
    put(m, REGION_ID_wp_state, sm, i, WARP_READY);
    s->changed_at[i] = cycle + BARRIER_READY;
  }
  wake(m, sm, cycle + STATE_VISIBLE);
  return all;
}

void warp_unit_rearm(G80Machine *m, uint32_t sm, uint64_t cycle) {
  G80Sm *s = &m->sm[sm];
  bool paused = s->poll_mode == POLL_PARKED || (s->poll_mode == POLL_OFF && s->done_at == G80_NEVER);
  if ((s->controller.state & 31) != CTL_RUN || !paused) return;
  s->poll_mode = POLL_POLLING;
  s->poll_at = poll_from(s, cycle);
}
