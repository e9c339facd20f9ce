// The step of a warp that is under way, and its access to memory, as hashes of the warp's course. See course.h.
#include "settle/course.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

void access_step(AccessNow *now, const WatchedStep *step, uint64_t *flow) {
  now->step = *step;
  *flow = mix(mix(*flow, (uint64_t)step->pc << 32 | step->mask), step->active);
}

void access_begin(AccessNow *now, uint32_t time) {
  now->is_access = true;
  now->places = 0;
  now->lanes_left = now->step.active;
  now->time = time;
}

// In shared memory only the passes that all lanes take together count.
void access_lane(AccessNow *now, Space space, uint64_t address, uint32_t bytes, unsigned how, uint64_t *flow) {
  uint32_t lane = now->lanes_left == 0 ? WARP_LANES : (uint32_t)__builtin_ctz(now->lanes_left);
  bool is_atomic = how == (WATCH_READ | WATCH_WRITE);
  now->lanes_left &= now->lanes_left - 1;
  if (space == SPACE_SHARED && !is_atomic && lane < WARP_LANES) {
    now->shared_address[lane] = address;
    now->shared_lanes |= 1u << lane;
    now->shared_bytes = bytes;
  } else {
    *flow = mix(*flow, address);
    now->places = (uint32_t)mix(now->places, address);
  }
}

void access_end(AccessNow *now, const CourseFrame *frame, uint64_t *flow) {
  now->is_access = false;
  if (now->shared_lanes == 0) return;
  uint32_t passes = frame->machine.shared_passes(frame->spec, now->shared_address, now->shared_lanes, now->shared_bytes);
  *flow = mix(*flow, passes);
  now->places = (uint32_t)mix(now->places, passes);
  now->shared_lanes = 0;
}

void access_forget(AccessNow *now) {
  now->is_access = false;
  now->shared_lanes = 0;
}
