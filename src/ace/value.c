// How long a value lay in its row, how long it mattered, and why not. Lanes of a warp mostly have the same times; they are kept lane by lane only
// where they differ.
#include "ace/ace_internal.h"

#include <stdlib.h>

enum { FIRST_VALUES = 4096, FIRST_TIMES = 256 };

static const uint32_t lane_bit[WARP_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

// ---- Room ---------------------------------------------------------------------------------------------

void *pool_grow(void *items, uint32_t *room, uint32_t *free_item, const PoolShape *shape) {
  uint32_t was = *room, now = was == 0 ? shape->first_room : 2 * was;
  uint8_t *grown = realloc(items, now * shape->size);
  ASSERT(grown != NULL);
  memset(grown + was * shape->size, 0, (now - was) * shape->size);
  for (uint32_t i = now - 1; i >= max_u32(was, 1); i--) {
    memcpy(grown + i * shape->size + shape->next_at, free_item, sizeof *free_item);
    *free_item = i;
  }
  *room = now;
  return grown;
}

uint32_t value_new(Flow *flow, uint32_t lanes, uint32_t time) {
  if (flow->free == NOBODY) flow->values = pool_grow(flow->values, &flow->value_room, &flow->free, POOL_SHAPE(Value, FIRST_VALUES));
  uint32_t index = flow->free;
  Value *value = &flow->values[index];
  flow->free = value->next;
  *value = (Value){.held = lanes,
                   .lanes = lanes,
                   .born = time,
                   .read_until = time,
                   .live_until = time,
                   .pc = WHO_NO_INDEX,
                   .launch = flow->tally->launch_number};
  return index;
}

// From now on each lane has times of its own.
static LaneTimes *times_of(Flow *flow, Value *value) {
  if (value->times != 0) return &flow->times[value->times];
  if (flow->times_free == 0) flow->times = pool_grow(flow->times, &flow->times_room, &flow->times_free, POOL_SHAPE(LaneTimes, FIRST_TIMES));
  value->times = flow->times_free;
  LaneTimes *times = &flow->times[value->times];
  flow->times_free = times->next;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    times->read_until[i] = value->read_until;
    times->live_until[i] = value->live_until;
  }
  return times;
}

// ---- Reads --------------------------------------------------------------------------------------------

void value_read(Flow *flow, Value *value, uint32_t lanes, uint32_t time) {
  value->read |= lanes;
  if (value->times == 0 && lanes == value->lanes) {
    value->read_until = time;
    return;
  }
  LaneTimes *times = times_of(flow, value);
  for (unsigned i = 0; i < WARP_LANES; i++) { // without branches, so that it becomes vector code
    uint32_t taken = (lanes & lane_bit[i]) != 0 ? UINT32_MAX : 0;
    times->read_until[i] = (time & taken) | (times->read_until[i] & ~taken);
  }
}

static void raise_live(Flow *flow, Value *value, uint32_t lanes, uint32_t time) {
  if (value->times == 0 && lanes == value->lanes) {
    value->live_until = max_u32(value->live_until, time);
    return;
  }
  LaneTimes *times = times_of(flow, value);
  for (unsigned i = 0; i < WARP_LANES; i++) {
    uint32_t wanted = (lanes & lane_bit[i]) != 0 ? time : 0;
    times->live_until[i] = times->live_until[i] > wanted ? times->live_until[i] : wanted;
  }
}

void value_needed(Flow *flow, Value *value, const Source *source, uint32_t lanes, Role role, bool is_sure) {
  value->live |= lanes;
  if (is_sure) value->sure |= lanes;
  value->care |= source->care;
  if (role == ROLE_CONTROL || role == ROLE_ADDRESS || role == ROLE_OUTPUT) {
    if (value->role == ROLE_NONE || role < value->role) value->role = (uint8_t)role;
  }
  if (value->region != REGION_NONE) raise_live(flow, value, lanes, source->time);
  if (!node_is_there(flow, value->maker)) return;
  Node *maker = node_at(flow, value->maker);
  if (value->region == flow->predicates) maker->predicates_needed |= 1u << (value->word & 31);
  else if (value->word < NODE_WORDS) maker->care[value->word] |= source->care;
  else memset(maker->care, 0xFF, sizeof maker->care);
  node_needed(flow, value->maker, lanes, is_sure);
}

// ---- Its account ----------------------------------------------------------------------------------------

static uint64_t sum(const uint32_t *times, uint32_t lanes) {
  uint64_t all = 0;
  for (unsigned i = 0; i < WARP_LANES; i++) all += (lanes & lane_bit[i]) != 0 ? times[i] : 0;
  return all;
}

static uint64_t sum_read(const Flow *flow, const Value *value, uint32_t lanes) {
  if (lanes == 0) return 0;
  return value->times == 0 ? (uint64_t)value->read_until * count_ones(lanes) : sum(flow->times[value->times].read_until, lanes);
}

static uint64_t sum_live(const Flow *flow, const Value *value, uint32_t lanes) {
  if (lanes == 0) return 0;
  return value->times == 0 ? (uint64_t)value->live_until * count_ones(lanes) : sum(flow->times[value->times].live_until, lanes);
}

static uint32_t read_until(const Flow *flow, const Value *value, uint32_t lane) {
  return value->times == 0 ? value->read_until : flow->times[value->times].read_until[lane];
}

static uint32_t live_until(const Flow *flow, const Value *value, uint32_t lane) {
  return value->times == 0 ? value->live_until : flow->times[value->times].live_until[lane];
}

static uint32_t bits_of(const Flow *flow, const Value *value) { return value->region == flow->predicates ? 1 : 32; }

// Predicates have a bit for each lane, others a unit.
static void answer(Flow *flow, const Value *value, uint32_t lane, uint32_t bits, uint32_t from, uint32_t to, AceCause cause) {
  bool is_predicate = value->region == flow->predicates;
  uint64_t which = is_predicate ? (uint64_t)(bits & 1) << lane : bits;
  tally_answer(flow->tally, value->region, value->row, is_predicate ? value->unit : lane, which, from, to, cause);
}

void value_ended(Flow *flow, const Value *value, uint32_t lanes, uint32_t time, AceCause cause) {
  bool is_empty = value->is_empty && value->read == 0;
  if (is_empty || !tally_wants(flow->tally, value->region)) return;
  uint64_t lived = (uint64_t)time * count_ones(lanes) - sum_read(flow, value, lanes);
  tally_sum(flow->tally, value->region, cause, lived * bits_of(flow, value));
  if (!tally_is_asked(flow->tally, value->region, value->row)) return;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    answer(flow, value, lane, UINT32_MAX, read_until(flow, value, lane), time, cause);
  }
}

static AceCause cause_of(const Value *value, uint32_t lane) {
  if ((value->sure >> lane & 1) == 0) return ACE_UNDECIDED;
  switch ((Role)value->role) {
  case ROLE_ADDRESS: return ACE_ADDRESS;
  case ROLE_CONTROL: return ACE_CONTROL;
  case ROLE_OUTPUT: return ACE_OUTPUT;
  default: return ACE_DATA;
  }
}

static void answer_all(Flow *flow, const Value *value, uint32_t care) {
  uint32_t all = bits_of(flow, value) == 1 ? 1 : UINT32_MAX;
  for (uint32_t left = value->read; left != 0; left &= left - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(left), until = live_until(flow, value, lane);
    bool is_live = (value->live >> lane & 1) != 0;
    if (is_live) {
      answer(flow, value, lane, care & all, value->born, until, cause_of(value, lane));
      answer(flow, value, lane, ~care & all, value->born, until, ACE_MASKED);
    }
    AceCause dead = (value->later >> lane & 1) != 0 ? ACE_DEAD_LATER : ACE_DEAD;
    answer(flow, value, lane, all, is_live ? until : value->born, read_until(flow, value, lane), dead);
  }
}

static void slice_lanes(Flow *flow, const Value *value, uint32_t bits) {
  Tally *tally = flow->tally;
  if (value->times == 0) {
    tally_slice(tally, value->region, value->born, value->live_until, (uint64_t)count_ones(value->live) * bits);
    return;
  }
  for (uint32_t left = value->live; left != 0; left &= left - 1)
    tally_slice(tally, value->region, value->born, live_until(flow, value, (uint32_t)__builtin_ctz(left)), bits);
}

// Until the last read that matters.
static void add_live(Flow *flow, const Value *value, uint32_t care) {
  Tally *tally = flow->tally;
  uint32_t sure = value->live & value->sure, unsure = value->live & ~value->sure, looked_at = count_ones(care);
  uint64_t born = value->born, masked = bits_of(flow, value) - looked_at;
  uint64_t sure_time = sum_live(flow, value, sure) - born * count_ones(sure);
  uint64_t unsure_time = sum_live(flow, value, unsure) - born * count_ones(unsure);
  if (sure != 0) tally_sum(tally, value->region, cause_of(value, (uint32_t)__builtin_ctz(sure)), sure_time * looked_at);
  tally_sum(tally, value->region, ACE_UNDECIDED, unsure_time * looked_at);
  tally_sum(tally, value->region, ACE_MASKED, (sure_time + unsure_time) * masked);
  if (value->pc != WHO_NO_INDEX) tally_line(tally, value->region, value->pc, (sure_time + unsure_time) * looked_at);
  slice_lanes(flow, value, looked_at);
}

// After that, until the last read at all.
static void add_dead(Flow *flow, const Value *value) {
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t some = k == 0 ? value->later : ~value->later, only = value->read & ~value->live & some, after = value->live & some;
    if ((only | after) == 0) continue;
    uint64_t time = sum_read(flow, value, only | after) - (uint64_t)value->born * count_ones(only) - sum_live(flow, value, after);
    tally_sum(flow->tally, value->region, k == 0 ? ACE_DEAD_LATER : ACE_DEAD, time * bits_of(flow, value));
  }
}

void value_settle(Flow *flow, uint32_t index) {
  Value *value = &flow->values[index];
  if (value->region == REGION_NONE) {
    memory_unchain(flow, index);
  } else if (value->read != 0 && tally_wants(flow->tally, value->region)) {
    uint32_t care = bits_of(flow, value) == 1 ? value->care & 1 : value->care;
    tally_turn_to(flow->tally, value->launch);
    if (value->live != 0) add_live(flow, value, care);
    add_dead(flow, value);
    if (tally_is_asked(flow->tally, value->region, value->row)) answer_all(flow, value, care);
    tally_turn_to(flow->tally, flow->tally->launch_number);
  }
  if (value->times != 0) {
    flow->times[value->times].next = flow->times_free;
    flow->times_free = value->times;
  }
  value->next = flow->free;
  flow->free = index;
}
