// The warp chapter; see warp.h. Plain loops: these are permutations and reductions of 32 words.
#include "isa/warp.h"

// ---- Results ---------------------------------------------------------------------------------------
static uint32_t lowest_lane(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

static void write_lanes(LaneOp *op, const uint32_t result[WARP_LANES]) {
  if (op->active == ~0u) {
    memcpy(op->d, result, WARP_LANES * sizeof *result);
    return;
  }
  for (uint32_t rest = op->active; rest; rest &= rest - 1) op->d[lowest_lane(rest)] = result[lowest_lane(rest)];
}

static void write_uniform(LaneOp *op, uint32_t lanes, uint32_t value) {
  for (; lanes; lanes &= lanes - 1) op->d[lowest_lane(lanes)] = value;
}

static void write_predicates(LaneOp *op, uint32_t lanes, uint32_t holds) {
  op->pd[0] = (op->pd[0] & ~lanes) | (holds & lanes);
  op->pd[1] = (op->pd[1] & ~lanes) | (~holds & lanes);
}

// ---- Groups: active lanes whose member masks are equal ------------------------------------------------
typedef struct Group {
  uint32_t lanes;   // who asks
  uint32_t members; // who takes part
} Group;

static Group next_group(const LaneOp *op, const uint32_t *masks, uint32_t remaining) {
  if (op->mods & MOD_FULL_MASK) return (Group){remaining, op->active};
  uint32_t mask = masks[lowest_lane(remaining)], lanes = 0;
  for (uint32_t rest = remaining; rest; rest &= rest - 1)
    if (masks[lowest_lane(rest)] == mask) lanes |= 1u << lowest_lane(rest);
  return (Group){lanes, op->active & mask};
}

// ---- Shuffles ---------------------------------------------------------------------------------------------
typedef struct Segment {
  int amount, first, last; // lane or delta; the lane's segment as clamp and mask give it
  int mask;
} Segment;

static Segment segment_of(uint32_t packed, int lane) {
  int clamp = packed >> 8 & 31, mask = packed >> 16 & 31;
  return (Segment){.amount = packed & 31, .first = lane & mask, .last = (lane & mask) | (clamp & ~mask), .mask = mask};
}

#define SHUFFLE(name, source_lane, in_range)                 \
  void name(LaneOp *op) {                                    \
    uint32_t result[WARP_LANES], valid = 0;                  \
    for (int lane = 0; lane < WARP_LANES; lane++) {          \
      const Segment segment = segment_of(op->b[lane], lane); \
      const int source = (source_lane);                      \
      const bool is_valid = (in_range);                      \
      result[lane] = op->a[is_valid ? source : lane];        \
      valid |= (uint32_t)is_valid << lane;                   \
    }                                                        \
    write_lanes(op, result);                                 \
    write_predicates(op, op->active, valid);                 \
  }
SHUFFLE(warp_shuffle_up, lane - segment.amount, source >= segment.last)
SHUFFLE(warp_shuffle_down, lane + segment.amount, source <= segment.last)
SHUFFLE(warp_shuffle_butterfly, lane ^ segment.amount, source <= segment.last)
SHUFFLE(warp_shuffle_index, segment.first | (segment.amount & ~segment.mask), source <= segment.last)
#undef SHUFFLE

// ---- Votes --------------------------------------------------------------------------------------------------
#define VOTE(name, holds)                                   \
  void name(LaneOp *op) {                                   \
    for (uint32_t remaining = op->active; remaining;) {     \
      const Group group = next_group(op, op->a, remaining); \
      const uint32_t yes = op->ps & group.members;          \
      write_predicates(op, group.lanes, (holds) ? ~0u : 0); \
      remaining &= ~group.lanes;                            \
    }                                                       \
  }
VOTE(warp_vote_all, yes == group.members)
VOTE(warp_vote_any, yes != 0)
VOTE(warp_vote_uniform, yes == group.members || yes == 0)
#undef VOTE

void warp_vote_ballot(LaneOp *op) {
  uint32_t result[WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++) result[lane] = op->ps & op->active & (op->mods & MOD_FULL_MASK ? ~0u : op->a[lane]);
  write_lanes(op, result);
}

// ---- Matches ------------------------------------------------------------------------------------------------
static uint32_t same_value(const LaneOp *op, unsigned registers, uint32_t members, uint64_t value) {
  uint32_t same = 0;
  for (; members; members &= members - 1)
    if (row_get(op->a, lowest_lane(members), registers) == value) same |= 1u << lowest_lane(members);
  return same;
}

static void match_any(LaneOp *op, unsigned registers) {
  uint32_t result[WARP_LANES] = {0};
  for (uint32_t rest = op->active; rest; rest &= rest - 1) {
    unsigned lane = lowest_lane(rest);
    uint32_t members = op->active & (op->mods & MOD_FULL_MASK ? ~0u : op->b[lane]);
    result[lane] = same_value(op, registers, members, row_get(op->a, lane, registers));
  }
  write_lanes(op, result);
}

static void match_all(LaneOp *op, unsigned registers) {
  uint32_t result[WARP_LANES] = {0}, matches = 0;
  for (uint32_t remaining = op->active; remaining;) {
    const Group group = next_group(op, op->b, remaining);
    uint64_t value = group.members ? row_get(op->a, lowest_lane(group.members), registers) : 0;
    bool is_same = same_value(op, registers, group.members, value) == group.members;
    for (uint32_t rest = group.lanes; rest; rest &= rest - 1) result[lowest_lane(rest)] = is_same ? group.members : 0;
    if (is_same) matches |= group.lanes;
    remaining &= ~group.lanes;
  }
  write_lanes(op, result);
  write_predicates(op, op->active, matches);
}

void warp_match_any_b32(LaneOp *op) { match_any(op, 1); }
void warp_match_any_b64(LaneOp *op) { match_any(op, 2); }
void warp_match_all_b32(LaneOp *op) { match_all(op, 1); }
void warp_match_all_b64(LaneOp *op) { match_all(op, 2); }

// ---- Reductions ---------------------------------------------------------------------------------------------
#define REDUCTION(name, initial, combined)                                                     \
  void name(LaneOp *op) {                                                                      \
    uint32_t result[WARP_LANES] = {0};                                                         \
    for (uint32_t remaining = op->active; remaining;) {                                        \
      const Group group = next_group(op, op->b, remaining);                                    \
      uint32_t x = (initial);                                                                  \
      for (uint32_t rest = group.members; rest; rest &= rest - 1) {                            \
        const uint32_t y = op->a[lowest_lane(rest)];                                           \
        x = (combined);                                                                        \
      }                                                                                        \
      for (uint32_t rest = group.lanes; rest; rest &= rest - 1) result[lowest_lane(rest)] = x; \
      remaining &= ~group.lanes;                                                               \
    }                                                                                          \
    write_lanes(op, result);                                                                   \
  }
REDUCTION(warp_reduce_add, 0, x + y)
REDUCTION(warp_reduce_min_u32, UINT32_MAX, y < x ? y : x)
REDUCTION(warp_reduce_min_s32, INT32_MAX, (int32_t)y < (int32_t)x ? y : x)
REDUCTION(warp_reduce_max_u32, 0, y > x ? y : x)
REDUCTION(warp_reduce_max_s32, 0x80000000, (int32_t)y > (int32_t)x ? y : x)
REDUCTION(warp_reduce_and, ~0u, (x) & (y))
REDUCTION(warp_reduce_or, 0, x | y)
REDUCTION(warp_reduce_xor, 0, x ^ y)

// f32 by the order of the numbers: as integers, with the bits below the sign reversed for negative ones, so that -0 < +0.
enum { CANONICAL_NAN = 0x7FFFFFFF, F32_SIGN = 0x80000000, F32_INFINITY = 0x7F800000 };
static bool is_nan(uint32_t bits) { return (bits & ~F32_SIGN) > F32_INFINITY; }
static int32_t f32_rank(uint32_t bits) { return (int32_t)(bits & F32_SIGN ? bits ^ ~F32_SIGN : bits); }

typedef struct F32Choice {
  bool largest, absolute, keeps_nan;
} F32Choice;
// `x`: what was chosen before, the canonical NaN at the start (`is_first`).
static uint32_t f32_choose(F32Choice how, uint32_t x, uint32_t y, bool is_first) {
  if (how.absolute) y &= ~F32_SIGN;
  if (is_nan(y)) return how.keeps_nan ? CANONICAL_NAN : x;
  if (is_nan(x)) return how.keeps_nan && !is_first ? x : y;
  return (how.largest ? f32_rank(y) > f32_rank(x) : f32_rank(y) < f32_rank(x)) ? y : x;
}
#define REDUCTION_F32(name, ...) \
  REDUCTION(warp_reduce_##name##_f32, CANONICAL_NAN, f32_choose((F32Choice){__VA_ARGS__}, x, y, rest == group.members))
REDUCTION_F32(min, .largest = false)
REDUCTION_F32(min_abs, .absolute = true)
REDUCTION_F32(min_nan, .keeps_nan = true)
REDUCTION_F32(min_abs_nan, .absolute = true, .keeps_nan = true)
REDUCTION_F32(max, .largest = true)
REDUCTION_F32(max_abs, .largest = true, .absolute = true)
REDUCTION_F32(max_nan, .largest = true, .keeps_nan = true)
REDUCTION_F32(max_abs_nan, .largest = true, .absolute = true, .keeps_nan = true)
#undef REDUCTION_F32
#undef REDUCTION

// ---- Masks ----------------------------------------------------------------------------------------------------
void warp_active_mask(LaneOp *op) { write_uniform(op, op->active, op->active); }

void warp_elect(LaneOp *op) {
  uint32_t elected = 0, result[WARP_LANES] = {0};
  for (uint32_t remaining = op->active; remaining;) {
    const Group group = next_group(op, op->a, remaining);
    uint32_t leader = lowest_lane(group.members ? group.members : group.lanes);
    for (uint32_t rest = group.lanes; rest; rest &= rest - 1) result[lowest_lane(rest)] = leader;
    elected |= group.lanes & 1u << leader;
    remaining &= ~group.lanes;
  }
  write_lanes(op, result);
  write_predicates(op, op->active, elected);
}
