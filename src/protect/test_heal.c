// heal on a toy machine: options, votes, and that no lane has two votes. What it does is shown by tests/proof/heal.sh on the SIMT machine.
#include "protect/test_toy.h"

#include <stdio.h>

static const Region narrow_sp = {.name = "unit.sp",
                                 .title = "outputs",
                                 .unit = "lane",
                                 .meaning = "toy",
                                 .dims = {{"sm", 1}, {"sp", 2}},
                                 .dim_count = 2,
                                 .flags = REGION_OUTPUT | REGION_INJECTABLE,
                                 .rows = 2,
                                 .units = 4,
                                 .bits = 32};
static const RegionTable table = {&narrow_sp, 1, 64};
static const HookShape shape = {.sms = 1, .warps = 2, .block_slots = 1};
static const Instr add = {.op = OP_ADD_B32};

static void wrong_options_are_refused(void **state) {
  (void)state;
  toy_refused(&table, &shape, "heal:treshold=3", "did you mean 'threshold'");
  toy_refused(&table, &shape, "heal:threshold=0", "from 1 to 63");
  toy_refused(&table, &shape, "heal:trials=32", "from 1 to 31");
  toy_refused(&table, &shape, "heal:detect=all", "detect must be dmr or rise");
  toy_refused(&table, &shape, "heal:units=true", "unknown option 'units'");
  toy_refused(&table, &shape, "heal:map=4-per-cluster", "no healthy lane left");
}

typedef struct Issue { // one instruction of warp 0
  uint64_t number;
  uint32_t broken[2]; // lanes of SP 0 and SP 1 that put out garbage
} Issue;

static Verdict copy_result(Toy *toy, const Issue *issue, uint8_t copy, uint8_t copies, uint32_t by) {
  static const uint8_t zeros[WARP_LANES];
  uint32_t rows[WARP_LANES];
  uint8_t thread[WARP_LANES];
  Who who = {.launch = 1, .issue = issue->number};
  PartOwner owner = {.issue = issue->number};
  for (uint32_t slot = 0; slot < WARP_LANES; slot++) { // rotated within its turn
    thread[slot] = (uint8_t)(slot / 4 * 4 + (slot + 4 - by) % 4);
    rows[slot] = 1000 + thread[slot];
    if ((issue->broken[0] >> slot % 4 & 1) != 0) rows[slot] = ~rows[slot] + copy;
  }
  ResultEvent event = {.who = &who,
                       .instr = &add,
                       .region = 0,
                       .row = 0,
                       .cycles = 1,
                       .mask = UINT32_MAX,
                       .owner = &owner,
                       .owner_of = zeros,
                       .thread = thread,
                       .owners = 1,
                       .copy = copy,
                       .copies = copies,
                       .is_last = true,
                       .rows = rows,
                       .row_count = 1};
  Verdict verdict = hooks_result(&toy->chain, &toy->machine, &event);
  for (uint32_t slot = 0; slot < WARP_LANES && verdict == VERDICT_FIXED; slot++) assert_int_equal(rows[slot], 1000 + thread[slot]);
  return verdict;
}

static void run(Toy *toy, const Issue *issue) {
  LanePart part = {.filled = UINT32_MAX};
  Who who = {.launch = 1, .issue = issue->number};
  PlanEvent plan = {.who = &who, .instr = &add, .copies = 1, .part = &part};
  assert_int_equal(hooks_plan(&toy->chain, &toy->machine, &plan), VERDICT_PASS);
  assert_int_equal(plan.copies, 2);
  assert_int_equal(copy_result(toy, issue, 0, 2, 0), VERDICT_HOLD);
  Verdict second = copy_result(toy, issue, 1, 2, 1);
  assert_int_equal(second, issue->broken[0] == 0 ? VERDICT_PASS : VERDICT_REPEAT);
  if (second == VERDICT_REPEAT) assert_int_equal(copy_result(toy, issue, 2, 3, 2), VERDICT_FIXED);
}

static uint32_t map_of(const Toy *toy, uint64_t row) {
  uint32_t lanes;
  memcpy(&lanes, toy_row(toy, region_find(&toy->table, "heal.sp"), row), sizeof lanes);
  return lanes;
}

static void open_toy(Toy *toy, const char *protection) {
  assert_true(toy_open(toy, &table, &shape, protection));
  Who who = {.launch = 1};
  LaunchEvent launch = {.who = &who, .kernel = "toy"};
  hooks_begin(&toy->chain, &toy->machine);
  assert_int_equal(hooks_launch(&toy->chain, &toy->machine, &launch), VERDICT_PASS);
}

// As many votes as the threshold within a window; one fewer, or spread over windows, are transients.
static void votes_of_one_window_count(void **state) {
  (void)state;
  Toy toy;
  uint64_t number = 0;
  Issue good = {0}, bad = {.broken = {1u << 2, 0}};
  open_toy(&toy, "heal:threshold=3,window=100");
  for (uint32_t window = 0; window < 20; window++) { // two in each
    toy.machine.cycle = 100 * window + 10;
    for (uint32_t i = 0; i < 2; i++) bad.number = number++, run(&toy, &bad);
    good.number = number++, run(&toy, &good);
    assert_int_equal(map_of(&toy, 0), 0);
  }
  bad.number = number++, run(&toy, &bad); // the third of the last window
  assert_int_equal(map_of(&toy, 0), 1u << 2);
  assert_int_equal(map_of(&toy, 1), 0);
  assert_int_equal(toy.detected, 0);
  toy_close(&toy);
}

// The last healthy lane of a cluster stays: here it is the only one that SP 1 and SP 0 have left.
static void the_last_lane_stays(void **state) {
  (void)state;
  Toy toy;
  open_toy(&toy, "heal:threshold=1");
  uint32_t dead = 0xF, one_left = 0xB;
  memcpy(toy_row(&toy, region_find(&toy.table, "heal.sp"), 1), &dead, sizeof dead);
  memcpy(toy_row(&toy, region_find(&toy.table, "heal.sp"), 0), &one_left, sizeof one_left);
  for (uint64_t i = 0; i < 10; i++) run(&toy, &(Issue){.number = i, .broken = {1u << 2, 0}});
  assert_int_equal(map_of(&toy, 0), one_left);
  toy_close(&toy);
}

// Three lanes stay in a unit, since three copies vote.
static void three_lanes_stay(void **state) {
  (void)state;
  Toy toy;
  uint64_t number = 0;
  open_toy(&toy, "heal:threshold=1");
  for (uint32_t lane = 1; lane < 3; lane++) {
    for (uint64_t i = 0; i < 4; i++) run(&toy, &(Issue){.number = number++, .broken = {1u << lane, 0}});
    assert_int_equal(map_of(&toy, 0), 1u << 1);
  }
  toy_close(&toy);
}

// ---- Where copies go ---------------------------------------------------------------------------------------

enum { WIDE_LANES = 16 };
static const Region wide_sp = {.name = "unit.sp",
                               .title = "outputs",
                               .unit = "lane",
                               .meaning = "toy",
                               .dims = {{"sm", 1}, {"sp", 2}},
                               .dim_count = 2,
                               .flags = REGION_OUTPUT | REGION_INJECTABLE,
                               .rows = 2,
                               .units = WIDE_LANES,
                               .bits = 32};
static const RegionTable wide_table = {&wide_sp, 1, 64};

typedef struct Passage { // an instruction on its way, and the lanes that each thread has been on
  Toy *toy;
  Who who;
  uint8_t part;
  uint32_t lanes[WARP_LANES];
} Passage;

// A copy's threads are placed as far as there is room: each on a lane of its own, healthy, and new to it.
static LanePart placed(Passage *passage, const LanePart *offered, uint8_t copy, uint8_t *sp) {
  LanePart part = *offered;
  bool is_repeat = copy == 2;
  PlaceEvent event = {.who = &passage->who,
                      .instr = &add,
                      .number = passage->part,
                      .copy = copy,
                      .is_repeat = is_repeat,
                      .is_whole = is_repeat,
                      .sps = 2,
                      .sp = PART_ANY,
                      .lanes = WIDE_LANES,
                      .part = &part};
  assert_int_equal(hooks_place(&passage->toy->chain, &passage->toy->machine, &event), VERDICT_PASS);
  uint32_t broken = event.sp == PART_ANY ? map_of(passage->toy, 0) | map_of(passage->toy, 1) : map_of(passage->toy, event.sp);
  assert_true(part.filled != 0 && (!is_repeat || count_ones(part.filled) == count_ones(offered->filled)));
  for (uint32_t left = part.filled; left != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left), bit = 1u << slot % WIDE_LANES;
    assert_int_equal(broken & bit, 0);
    assert_int_equal(passage->lanes[part.thread[slot]] & bit, 0);
    passage->lanes[part.thread[slot]] |= bit;
  }
  *sp = event.sp == PART_ANY ? 0 : event.sp;
  return part;
}

static Verdict told(const Passage *passage, const LanePart *part, uint8_t copy, uint8_t sp, bool is_last) {
  static const uint8_t zeros[WARP_LANES];
  uint32_t rows[WARP_LANES];
  PartOwner owner = {.issue = passage->who.issue};
  for (uint32_t slot = 0; slot < WARP_LANES; slot++) rows[slot] = copy == 1 ? 1 : 1000u + part->thread[slot];
  ResultEvent event = {.who = &passage->who,
                       .instr = &add,
                       .row = sp,
                       .cycles = 1,
                       .mask = part->filled,
                       .owner = &owner,
                       .owner_of = zeros,
                       .thread = part->thread,
                       .owners = 1,
                       .copy = copy,
                       .copies = copy == 2 ? 3 : 2,
                       .part = passage->part,
                       .is_last = is_last,
                       .rows = rows,
                       .row_count = 1};
  return hooks_result(&passage->toy->chain, &passage->toy->machine, &event);
}

// Threads that are where `part` has put them, as far as `now` has left them out.
static LanePart left_out(const LanePart *part, const LanePart *now) {
  LanePart rest = *part;
  uint32_t gone = 0;
  for (uint32_t left = now->filled; left != 0; left &= left - 1) gone |= 1u << now->thread[__builtin_ctz(left)];
  for (uint32_t slot = 0; slot < WARP_LANES; slot++) {
    if ((gone >> rest.thread[slot] & 1) != 0) rest.filled &= ~(1u << slot);
  }
  return rest;
}

// Every second copy is wrong, so that every thread is computed three times.
static void pass(Passage *passage, uint32_t threads) {
  LanePart waiting = {.filled = threads};
  for (uint8_t i = 0; i < WARP_LANES; i++) waiting.thread[i] = i;
  for (passage->part = 0; waiting.filled != 0; passage->part++) {
    PlanEvent plan = {.who = &passage->who, .instr = &add, .number = passage->part, .copies = 1, .part = &waiting};
    assert_int_equal(hooks_plan(&passage->toy->chain, &passage->toy->machine, &plan), VERDICT_PASS);
    uint8_t sp;
    LanePart first = placed(passage, &waiting, 0, &sp), again = first;
    waiting = left_out(&waiting, &first);
    assert_int_equal(told(passage, &first, 0, sp, true), VERDICT_HOLD);
    while (again.filled != 0) {
      LanePart second = placed(passage, &again, 1, &sp);
      again = left_out(&again, &second);
      assert_int_equal(told(passage, &second, 1, sp, again.filled == 0), VERDICT_REPEAT);
      LanePart third = placed(passage, &second, 2, &sp);
      assert_int_equal(told(passage, &third, 2, sp, again.filled == 0), VERDICT_FIXED);
    }
  }
}

// Whatever lanes are lost, the three copies of a thread are on three lanes: one that breaks is outvoted.
static void no_lane_has_two_votes(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 120; seed++) {
    Toy toy;
    char text[100];
    snprintf(text, sizeof text, "heal:threshold=63,rotate=%u,map=random,density=%u,most=3,seed=%u",
             seed % 3 == 0 ? 8u : (unsigned)(seed % 4 + 1), (unsigned)(seed % 8 * 12), (unsigned)seed);
    assert_true(toy_open(&toy, &wide_table, &shape, text));
    Who who = {.launch = 1};
    LaunchEvent launch = {.who = &who, .kernel = "toy"};
    hooks_begin(&toy.chain, &toy.machine);
    assert_int_equal(hooks_launch(&toy.chain, &toy.machine, &launch), VERDICT_PASS);
    for (uint64_t number = 0; number < 8; number++) {
      Passage passage = {.toy = &toy, .who = {.launch = 1, .issue = number, .warp = number % 2}};
      toy.machine.cycle += 2000;
      pass(&passage, number == 0 ? UINT32_MAX : (uint32_t)random_draw(seed, number, 0) | 1);
    }
    assert_int_equal(toy.detected, 0);
    toy_close(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_options_are_refused), cmocka_unit_test(votes_of_one_window_count), cmocka_unit_test(the_last_lane_stays),
      cmocka_unit_test(three_lanes_stay),          cmocka_unit_test(no_lane_has_two_votes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
