// The warp chapter: shuffles at the ends of segments, partly active warps, groups with different member
// masks, d in the same register as a source. Lanes that do not run keep d and pd.
#include "isa/isa_internal.h"

#include <setjmp.h>

#include <cmocka.h>

enum { OLD = 0x0DD, EVERY_LANE = 0xFFFFFFFF };

typedef struct Warp {
  uint32_t d[WARP_LANES], a[2 * WARP_LANES], b[WARP_LANES], c[WARP_LANES];
  LaneOp op;
} Warp;

// a = 100 + lane, masks full, d = OLD, pd = {0, 0}.
static void warp_reset(Warp *warp, uint32_t active) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    warp->d[lane] = OLD;
    row_set(warp->a, lane, 2, 100 + lane);
    warp->b[lane] = warp->c[lane] = EVERY_LANE;
  }
  warp->op = (LaneOp){.d = warp->d, .a = warp->a, .b = warp->b, .c = warp->c, .active = active};
}

static void run(Warp *warp, Op op) { lane_functions()[op](&warp->op); }

static void fill(uint32_t *row, uint32_t value) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) row[lane] = value;
}

// ---- Shuffles ------------------------------------------------------------------------------------
typedef struct ShuffleCase {
  Op op;
  uint32_t amount, c; // PTX's operands b and c
  unsigned lane, source;
  bool in_range;
} ShuffleCase;

// c as CUDA's intrinsics make it: width w is segment mask (32 - w) << 8, clamp 0 for up and 31 for others.
static const ShuffleCase shuffle_cases[] = {
    {OP_SHFL_SYNC_UP_B32, 1, 0, 5, 4, true},
    {OP_SHFL_SYNC_UP_B32, 1, 0, 0, 0, false},
    {OP_SHFL_SYNC_UP_B32, 31, 0, 31, 0, true},
    {OP_SHFL_SYNC_UP_B32, 31, 0, 30, 30, false},
    {OP_SHFL_SYNC_UP_B32, 4, 16 << 8, 19, 19, false}, // lane 15 is another segment
    {OP_SHFL_SYNC_UP_B32, 4, 16 << 8, 20, 16, true},
    {OP_SHFL_SYNC_UP_B32, 0, 0, 7, 7, true},
    {OP_SHFL_SYNC_UP_B32, 32, 0, 7, 7, true}, // only five bits of the amount count
    {OP_SHFL_SYNC_DOWN_B32, 1, 31, 30, 31, true},
    {OP_SHFL_SYNC_DOWN_B32, 1, 31, 31, 31, false},
    {OP_SHFL_SYNC_DOWN_B32, 31, 31, 0, 31, true},
    {OP_SHFL_SYNC_DOWN_B32, 31, 31, 1, 1, false},
    {OP_SHFL_SYNC_DOWN_B32, 4, 24 << 8 | 31, 12, 12, false}, // segments of 8
    {OP_SHFL_SYNC_DOWN_B32, 4, 24 << 8 | 31, 11, 15, true},
    {OP_SHFL_SYNC_DOWN_B32, 1, 6, 6, 6, false}, // clamp at lane 6
    {OP_SHFL_SYNC_DOWN_B32, 1, 6, 5, 6, true},
    {OP_SHFL_SYNC_BFLY_B32, 1, 31, 6, 7, true},
    {OP_SHFL_SYNC_BFLY_B32, 16, 31, 5, 21, true},
    {OP_SHFL_SYNC_BFLY_B32, 16, 16 << 8 | 31, 5, 5, false},
    {OP_SHFL_SYNC_BFLY_B32, 16, 16 << 8 | 31, 21, 5, true}, // below the segment is not above its end
    {OP_SHFL_SYNC_BFLY_B32, 31, 31, 0, 31, true},
    {OP_SHFL_SYNC_IDX_B32, 7, 31, 25, 7, true},
    {OP_SHFL_SYNC_IDX_B32, 31, 31, 0, 31, true},
    {OP_SHFL_SYNC_IDX_B32, 3, 24 << 8 | 31, 25, 27, true},
    {OP_SHFL_SYNC_IDX_B32, 11, 24 << 8 | 31, 25, 27, true}, // the number counts inside the segment
    {OP_SHFL_SYNC_IDX_B32, 9, 8, 3, 3, false},              // beyond the clamp
};

static void shuffles_reach_the_right_lane(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(shuffle_cases); i++)
    for (unsigned shared = 0; shared < 2; shared++) { // d is a register of its own, or that of a
      const ShuffleCase *test = &shuffle_cases[i];
      Warp warp;
      warp_reset(&warp, EVERY_LANE);
      fill(warp.b, (test->amount & 31) | test->c << 8);
      if (shared) warp.op.d = warp.a;
      run(&warp, test->op);
      if (warp.op.d[test->lane] != 100 + test->source) fail_msg("case %d: %u", (int)i, warp.op.d[test->lane]);
      assert_int_equal(warp.op.pd[0] >> test->lane & 1, test->in_range);
      assert_int_equal(warp.op.pd[0], ~warp.op.pd[1]);
    }
}

static void shuffles_leave_inactive_lanes_alone(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, 0x0000F0F1);
  fill(warp.b, 4 | 31 << 8);
  warp.op.pd[0] = 0xAAAAAAAA, warp.op.pd[1] = 0x55555555;
  run(&warp, OP_SHFL_SYNC_DOWN_B32);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(warp.d[lane], warp.op.active >> lane & 1 ? 104 + lane : OLD);
  assert_int_equal(warp.op.pd[0], (0xAAAAAAAA & ~0x0000F0F1u) | 0x0000F0F1);
  assert_int_equal(warp.op.pd[1], 0x55555555 & ~0x0000F0F1u);
}

static void every_lane_may_ask_for_another(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, EVERY_LANE);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) warp.b[lane] = (31 - lane) | 31 << 8;
  run(&warp, OP_SHFL_SYNC_IDX_B32);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(warp.d[lane], 131 - lane);
}

// ---- Votes ---------------------------------------------------------------------------------------
typedef struct VoteCase {
  uint32_t active, mask, ps;
  bool all, any, uniform;
  uint32_t ballot;
} VoteCase;

static const VoteCase vote_cases[] = {
    {EVERY_LANE, EVERY_LANE, EVERY_LANE, true, true, true, EVERY_LANE},
    {EVERY_LANE, EVERY_LANE, 0, false, false, true, 0},
    {EVERY_LANE, EVERY_LANE, 0x80000000, false, true, false, 0x80000000},
    {EVERY_LANE, 0x7FFFFFFF, 0x80000000, false, false, true, 0}, // the only yes is no member
    {0x0000FFFF, EVERY_LANE, 0x0000FFFF, true, true, true, 0x0000FFFF},
    {0x0000FFFF, EVERY_LANE, 0xFFFF0000, false, false, true, 0}, // the yeses do not run
    {0x00000001, 0x00000001, 0x00000001, true, true, true, 1},
    {0xF000000F, 0xF000000F, 0x3000000F, false, true, false, 0x3000000F},
};

static void votes_count_active_members(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(vote_cases); i++) {
    const VoteCase *test = &vote_cases[i];
    const struct {
      Op op;
      bool expected;
    } votes[] = {{OP_VOTE_SYNC_ALL_PRED, test->all}, {OP_VOTE_SYNC_ANY_PRED, test->any}, {OP_VOTE_SYNC_UNI_PRED, test->uniform}};
    for (size_t k = 0; k < COUNT_OF(votes); k++) {
      Warp warp;
      warp_reset(&warp, test->active);
      fill(warp.a, test->mask);
      warp.op.ps = test->ps;
      run(&warp, votes[k].op);
      if (warp.op.pd[0] != (votes[k].expected ? test->active : 0)) fail_msg("case %d, %s", (int)i, op_info[votes[k].op].text);
      assert_int_equal(warp.op.pd[1], votes[k].expected ? 0 : test->active);
    }
    Warp warp;
    warp_reset(&warp, test->active);
    fill(warp.a, test->mask);
    warp.op.ps = test->ps;
    run(&warp, OP_VOTE_SYNC_BALLOT_B32);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(warp.d[lane], test->active >> lane & 1 ? test->ballot : OLD);
  }
}

static void groups_with_different_masks_vote_apart(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, EVERY_LANE);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) warp.a[lane] = lane < 16 ? 0x0000FFFF : 0xFFFF0000;
  warp.op.ps = 0x0000FFFF;
  run(&warp, OP_VOTE_SYNC_ALL_PRED);
  assert_int_equal(warp.op.pd[0], 0x0000FFFF);
  run(&warp, OP_VOTE_SYNC_BALLOT_B32);
  assert_int_equal(warp.d[0], 0x0000FFFF);
  assert_int_equal(warp.d[31], 0);
}

static void full_mask_needs_no_row(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, 0x0000FFFF);
  fill(warp.a, 0);
  warp.op.mods = MOD_FULL_MASK;
  warp.op.ps = 0x00FF00FF;
  run(&warp, OP_VOTE_SYNC_BALLOT_B32);
  assert_int_equal(warp.d[3], 0x000000FF);
  run(&warp, OP_VOTE_SYNC_ANY_PRED);
  assert_int_equal(warp.op.pd[0], 0x0000FFFF);
}

// ---- Matches ---------------------------------------------------------------------------------------
static void match_any_finds_equals(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, 0x7FFFFFFF);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) warp.a[lane] = lane % 3;
  fill(warp.b, 0xFFFFFFF7); // lane 3 is no member
  run(&warp, OP_MATCH_ANY_SYNC_B32);
  assert_int_equal(warp.d[0], 0x49249241);
  assert_int_equal(warp.d[1], 0x12492492);
  assert_int_equal(warp.d[2], 0x24924924);
  assert_int_equal(warp.d[31], OLD);
  warp_reset(&warp, EVERY_LANE);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(warp.a, lane, 2, (uint64_t)(lane & 1) << 32 | 5);
  run(&warp, OP_MATCH_ANY_SYNC_B64); // the upper halves tell them apart
  assert_int_equal(warp.d[0], 0x55555555);
  assert_int_equal(warp.d[31], 0xAAAAAAAA);
}

static void match_all_needs_all(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, 0x0FFFFFFF);
  fill(warp.a, 7);
  run(&warp, OP_MATCH_ALL_SYNC_B32);
  assert_int_equal(warp.d[5], 0x0FFFFFFF);
  assert_int_equal(warp.op.pd[0], 0x0FFFFFFF);
  warp.a[13] = 8;
  run(&warp, OP_MATCH_ALL_SYNC_B32);
  assert_int_equal(warp.d[5], 0);
  assert_int_equal(warp.op.pd[0], 0);
  fill(warp.b, ~(1u << 13)); // who differs is no member
  run(&warp, OP_MATCH_ALL_SYNC_B32);
  assert_int_equal(warp.d[5], 0x0FFFDFFF);
  warp_reset(&warp, EVERY_LANE);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) row_set(warp.a, lane, 2, UINT64_C(1) << 40);
  run(&warp, OP_MATCH_ALL_SYNC_B64);
  assert_int_equal(warp.d[0], EVERY_LANE);
  warp.a[WARP_LANES + 31] ^= 1;
  run(&warp, OP_MATCH_ALL_SYNC_B64);
  assert_int_equal(warp.d[0], 0);
}

// ---- Reductions --------------------------------------------------------------------------------------
static const uint32_t values[4] = {0x80000000, 0x7FFFFFFF, 0xFFFFFFFE, 0x00000003};
typedef struct ReduceCase {
  Op op;
  uint32_t active, mask, expected;
} ReduceCase;
static const ReduceCase reduce_cases[] = {
    {OP_REDUX_SYNC_ADD_U32, EVERY_LANE, EVERY_LANE, 0}, // 8 * (2^33) modulo 2^32
    {OP_REDUX_SYNC_ADD_S32, 0x0000000F, EVERY_LANE, 0x00000000}, {OP_REDUX_SYNC_ADD_S32, 0x0000000E, EVERY_LANE, 0x80000000},
    {OP_REDUX_SYNC_MIN_U32, EVERY_LANE, EVERY_LANE, 0x00000003}, {OP_REDUX_SYNC_MIN_U32, EVERY_LANE, 0x77777777, 0x7FFFFFFF},
    {OP_REDUX_SYNC_MIN_S32, EVERY_LANE, EVERY_LANE, 0x80000000}, {OP_REDUX_SYNC_MIN_S32, EVERY_LANE, 0xEEEEEEEE, 0xFFFFFFFE},
    {OP_REDUX_SYNC_MAX_U32, EVERY_LANE, EVERY_LANE, 0xFFFFFFFE}, {OP_REDUX_SYNC_MAX_S32, EVERY_LANE, EVERY_LANE, 0x7FFFFFFF},
    {OP_REDUX_SYNC_MAX_S32, 0x55555555, EVERY_LANE, 0xFFFFFFFE}, {OP_REDUX_SYNC_MAX_S32, 0x00000001, EVERY_LANE, 0x80000000},
    {OP_REDUX_SYNC_AND_B32, EVERY_LANE, 0x66666666, 0x7FFFFFFE}, {OP_REDUX_SYNC_OR_B32, EVERY_LANE, 0x99999999, 0x80000003},
    {OP_REDUX_SYNC_XOR_B32, 0x0000000F, EVERY_LANE, 0x00000002}, {OP_REDUX_SYNC_XOR_B32, EVERY_LANE, EVERY_LANE, 0},
};

// f32 in lanes i % 8: -0, +0, 2, -3, NaN, -infinity, the smallest number, a negative NaN.
static const uint32_t floats[8] = {0x80000000, 0, 0x40000000, 0xC0400000, 0x7FC00001, 0xFF800000, 1, 0xFFC00000};
enum { BOTH_ZEROS = 0x03030303, NUMBERS = 0x4F4F4F4F, ALL_BUT_NAN = 0x6F6F6F6F, NANS = 0x90909090, ANY_NAN = 0x7FFFFFFF };
static const ReduceCase float_cases[] = {
    {OP_REDUX_SYNC_MIN_F32, EVERY_LANE, BOTH_ZEROS, 0x80000000},
    {OP_REDUX_SYNC_MAX_F32, EVERY_LANE, BOTH_ZEROS, 0},
    {OP_REDUX_SYNC_MIN_F32, EVERY_LANE, EVERY_LANE, 0xFF800000},
    {OP_REDUX_SYNC_MAX_F32, EVERY_LANE, EVERY_LANE, 0x40000000},
    {OP_REDUX_SYNC_MIN_F32, NUMBERS, EVERY_LANE, 0xC0400000},
    {OP_REDUX_SYNC_MIN_F32, EVERY_LANE, NANS, ANY_NAN},
    {OP_REDUX_SYNC_MAX_F32, NANS, EVERY_LANE, ANY_NAN},
    {OP_REDUX_SYNC_MIN_ABS_F32, EVERY_LANE, EVERY_LANE, 0},
    {OP_REDUX_SYNC_MIN_ABS_F32, EVERY_LANE, 0x4C4C4C4C, 1},
    {OP_REDUX_SYNC_MAX_ABS_F32, EVERY_LANE, NUMBERS, 0x40400000},
    {OP_REDUX_SYNC_MAX_ABS_F32, EVERY_LANE, EVERY_LANE, 0x7F800000},
    {OP_REDUX_SYNC_MIN_NAN_F32, EVERY_LANE, EVERY_LANE, ANY_NAN},
    {OP_REDUX_SYNC_MIN_NAN_F32, EVERY_LANE, ALL_BUT_NAN, 0xFF800000},
    {OP_REDUX_SYNC_MAX_NAN_F32, EVERY_LANE, 0x00000018, ANY_NAN},
    {OP_REDUX_SYNC_MAX_NAN_F32, EVERY_LANE, ALL_BUT_NAN, 0x40000000},
    {OP_REDUX_SYNC_MIN_ABS_NAN_F32, EVERY_LANE, 0x80000001, ANY_NAN},
    {OP_REDUX_SYNC_MIN_ABS_NAN_F32, NUMBERS, EVERY_LANE, 0},
    {OP_REDUX_SYNC_MAX_ABS_NAN_F32, EVERY_LANE, NANS, ANY_NAN},
    {OP_REDUX_SYNC_MAX_ABS_NAN_F32, EVERY_LANE, 0x0000000C, 0x40400000},
};

// Lane i holds values[i % count].
static void check_reductions(const ReduceCase *cases, size_t case_count, const uint32_t *list, unsigned count) {
  for (size_t i = 0; i < case_count; i++) {
    const ReduceCase *test = &cases[i];
    Warp warp;
    warp_reset(&warp, test->active);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) warp.a[lane] = list[lane % count];
    fill(warp.b, test->mask);
    warp.op.d = warp.a; // in place
    uint32_t before[WARP_LANES];
    memcpy(before, warp.a, sizeof before);
    run(&warp, test->op);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      uint32_t expected = test->active >> lane & 1 ? test->expected : before[lane];
      if (warp.a[lane] != expected) fail_msg("case %d, lane %u: %x, not %x", (int)i, lane, warp.a[lane], expected);
    }
  }
}

static void reductions_combine_members(void **state) {
  (void)state;
  check_reductions(reduce_cases, COUNT_OF(reduce_cases), values, COUNT_OF(values));
  check_reductions(float_cases, COUNT_OF(float_cases), floats, COUNT_OF(floats));
}

static void the_lowest_member_is_elected(void **state) {
  (void)state;
  Warp warp;
  warp_reset(&warp, 0xFFFFFF00);
  fill(warp.a, 0x0FFFF0FF);
  run(&warp, OP_ELECT_SYNC);
  assert_int_equal(warp.d[31], 12);
  assert_int_equal(warp.d[0], OLD);
  assert_int_equal(warp.op.pd[0], 1u << 12);
  warp_reset(&warp, 0x00F000F0);
  run(&warp, OP_ACTIVEMASK_B32);
  assert_int_equal(warp.d[4], 0x00F000F0);
  assert_int_equal(warp.d[0], OLD);
}

// Nobody active: nothing changes and nothing is read out of bounds.
static void empty_warps_do_nothing(void **state) {
  (void)state;
  for (unsigned op = 0; op < OP_COUNT; op++) {
    if (op_info[op].kind != KIND_WARP) continue;
    Warp warp;
    warp_reset(&warp, 0);
    warp.op.pd[0] = 0x12345678;
    run(&warp, (Op)op);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) assert_int_equal(warp.d[lane], OLD);
    assert_int_equal(warp.op.pd[0], 0x12345678);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shuffles_reach_the_right_lane),
      cmocka_unit_test(shuffles_leave_inactive_lanes_alone),
      cmocka_unit_test(every_lane_may_ask_for_another),
      cmocka_unit_test(votes_count_active_members),
      cmocka_unit_test(groups_with_different_masks_vote_apart),
      cmocka_unit_test(full_mask_needs_no_row),
      cmocka_unit_test(match_any_finds_equals),
      cmocka_unit_test(match_all_needs_all),
      cmocka_unit_test(reductions_combine_members),
      cmocka_unit_test(the_lowest_member_is_elected),
      cmocka_unit_test(empty_warps_do_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
