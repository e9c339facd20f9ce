// Reissue, with events made by hand: what raster operations write, compare and send back; what the rasteriser is given.
#include "protect/test_toy.h"

enum { WIDTH = 8, HEIGHT = 8 };
static const HookShape shape = {.sms = 4, .warps = 4, .block_slots = 4};
static const RegionTable none = {NULL, 0, 0};

typedef struct Frame {
  Toy toy;
  uint32_t word[WIDTH * HEIGHT][4];
} Frame;

static void open_frame(Frame *frame, const char *protection) {
  memset(frame, 0, sizeof *frame);
  assert_true(toy_open(&frame->toy, &none, &shape, protection));
  hooks_begin(&frame->toy.chain, &frame->toy.machine);
  Who who = WHO_NOBODY;
  LaunchEvent launch = {.who = &who, .grid = {WIDTH, HEIGHT, 1}};
  assert_int_equal(hooks_launch(&frame->toy.chain, &frame->toy.machine, &launch), VERDICT_PASS);
}

// A result comes to a raster operation, as a machine has it.
static Verdict result(Frame *frame, uint32_t x, uint32_t y, uint32_t value) {
  Who who = WHO_NOBODY;
  uint32_t words[4] = {value, value + 1, value + 2, value + 3};
  MergeEvent event = {.who = &who, .unit = x % 4, .x = x, .y = y, .width = WIDTH, .value = words};
  Verdict verdict = hooks_merge(&frame->toy.chain, &frame->toy.machine, &event);
  if (event.wants_old) {
    event.wants_old = false;
    event.old = frame->word[y * WIDTH + x];
    verdict = hooks_merge(&frame->toy.chain, &frame->toy.machine, &event);
  }
  if (verdict == VERDICT_PASS) memcpy(frame->word[y * WIDTH + x], words, sizeof words);
  return verdict;
}

static void next_cycle(Frame *frame) {
  frame->toy.machine.cycle++;
  if (hooks_next_cycle(&frame->toy.chain, &frame->toy.machine) <= frame->toy.machine.cycle)
    hooks_cycle(&frame->toy.chain, &frame->toy.machine);
}

static PointEvent ask(Frame *frame, bool has_own, bool is_drained) {
  static const Who who = {.launch = 1};
  PointEvent event = {
      .who = &who, .x = 7, .y = 7, .width = WIDTH, .height = HEIGHT, .has_own = has_own, .is_drained = is_drained, .copies = 1};
  hooks_point(&frame->toy.chain, &frame->toy.machine, &event);
  return event;
}

static void test_two_copies(void **state) {
  (void)state;
  Frame frame;
  open_frame(&frame, "reissue");
  assert_int_equal(ask(&frame, true, false).copies, 2);
  assert_int_equal(result(&frame, 1, 2, 10), VERDICT_PASS); // the first is written
  assert_int_equal(result(&frame, 1, 2, 10), VERDICT_DROP); // the second compared
  assert_int_equal(frame.toy.corrected, 0);
  assert_false(ask(&frame, false, true).is_other);
  assert_int_equal(result(&frame, 3, 4, 10), VERDICT_PASS);
  assert_int_equal(result(&frame, 3, 4, 11), VERDICT_DROP); // one of them is wrong
  assert_int_equal(frame.toy.corrected, 1);
  PointEvent event = ask(&frame, true, false);
  assert_false(event.is_other); // the way back takes a cycle
  assert_true(ask(&frame, false, true).waits);
  next_cycle(&frame);
  event = ask(&frame, true, false);
  assert_true(event.is_other); // and comes before new points
  assert_int_equal(event.x, 3);
  assert_int_equal(event.y, 4);
  assert_int_equal(event.copies, 2);
  assert_false(ask(&frame, true, false).is_other);
  assert_int_equal(result(&frame, 3, 4, 10), VERDICT_PASS); // its word was emptied
  assert_int_equal(result(&frame, 3, 4, 10), VERDICT_DROP);
  assert_int_equal(frame.toy.tally[TALLY_REISSUE_WRONG], 1);
  assert_int_equal(frame.toy.tally[TALLY_REISSUE_AGAIN], 1);
  toy_close(&frame.toy);
}

// A bit of any of the four words makes a difference.
static void test_every_bit(void **state) {
  (void)state;
  for (uint32_t bit = 0; bit < 128; bit++) {
    Frame frame;
    open_frame(&frame, "reissue");
    result(&frame, 0, 0, 100);
    frame.word[0][bit / 32] ^= 1u << bit % 32;
    result(&frame, 0, 0, 100);
    assert_int_equal(frame.toy.tally[TALLY_REISSUE_WRONG], 1);
    toy_close(&frame.toy);
  }
}

// The domain buffer is full: raster operations wait.
static void test_full_buffer(void **state) {
  (void)state;
  Frame frame;
  open_frame(&frame, "reissue:entries=1");
  for (uint32_t i = 0; i < 2; i++) { // the same latch
    result(&frame, 0, i, 10);
    assert_int_equal(result(&frame, 0, i, 11), VERDICT_DROP);
    next_cycle(&frame);
  }
  result(&frame, 0, 2, 10);
  assert_int_equal(result(&frame, 0, 2, 11), VERDICT_HOLD);
  assert_true(ask(&frame, true, false).is_other);
  next_cycle(&frame);
  assert_int_equal(result(&frame, 0, 2, 11), VERDICT_DROP);
  toy_close(&frame.toy);
}

static uint64_t results_in_order(const char *protection, const uint32_t *values, uint32_t count, uint32_t *left) {
  Frame frame;
  open_frame(&frame, protection);
  for (uint32_t i = 0; i < count; i++) {
    result(&frame, 5, 5, values[i]);
    next_cycle(&frame);
  }
  *left = frame.word[5 * WIDTH + 5][0];
  uint64_t wrong = frame.toy.tally[TALLY_REISSUE_WRONG];
  toy_close(&frame.toy);
  return wrong;
}

// A word that a program writes twice. Toggled bits allow it, if the copies of one write come before those of the next: that is the order of geometry. Broken, they
// compare results of different writes.
static void test_order_of_geometry(void **state) {
  (void)state;
  static const uint32_t in_order[] = {10, 10, 20, 20}, broken[] = {10, 20, 10, 20};
  uint32_t left;
  assert_int_equal(results_in_order("reissue", in_order, 4, &left), 1); // without toggling the second write is taken for an error
  assert_int_equal(results_in_order("reissue:toggle", in_order, 4, &left), 0);
  assert_int_equal(left, 20);
  assert_int_equal(results_in_order("reissue:toggle", broken, 4, &left), 2); // false alarms
  assert_int_equal(left, 10);                                                // and the frame has the older value
}

// One result of a point was lost: its word is full at the end.
static void test_left_full(void **state) {
  (void)state;
  Frame frame;
  open_frame(&frame, "reissue:toggle");
  result(&frame, 2, 3, 10);
  assert_false(ask(&frame, false, false).is_other); // others are still under way
  PointEvent event = ask(&frame, false, true);
  assert_true(event.is_other);
  assert_int_equal(event.x, 2);
  assert_int_equal(event.y, 3);
  assert_false(ask(&frame, false, true).is_other);
  assert_int_equal(frame.toy.tally[TALLY_REISSUE_LEFT], 1);
  toy_close(&frame.toy);
}

// A fault fills a latch of the way back: its point is issued once more, and the launch ends.
static void test_struck_latch(void **state) {
  (void)state;
  Frame frame;
  open_frame(&frame, "reissue");
  uint16_t region = region_find(&frame.toy.table, "reissue.path.valid");
  toy_flip(&frame.toy, &(Site){.region = region, .row = 1});
  assert_true(ask(&frame, false, true).waits);
  next_cycle(&frame);
  assert_true(ask(&frame, false, true).is_other);
  assert_false(ask(&frame, false, true).waits);
  toy_close(&frame.toy);
}

static void test_three_copies(void **state) {
  (void)state;
  static const uint32_t wrong[][3] = {{11, 10, 10}, {10, 11, 10}, {10, 10, 11}};
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++) {
    Frame frame;
    open_frame(&frame, "reissue:copies=3");
    assert_int_equal(ask(&frame, true, false).copies, 3);
    for (uint32_t k = 0; k < 3; k++) result(&frame, 1, 1, wrong[i][k]);
    assert_int_equal(frame.word[WIDTH + 1][0], 10);
    assert_int_equal(frame.toy.tally[TALLY_REISSUE_OUTVOTED], 1);
    assert_int_equal(frame.toy.tally[TALLY_REISSUE_WRONG], 0);
    toy_close(&frame.toy);
  }
  static const uint32_t all_differ[] = {10, 11, 12, 20, 20, 20};
  uint32_t left;
  assert_int_equal(results_in_order("reissue:copies=3", all_differ, 6, &left), 1);
  assert_int_equal(left, 20);
}

static void test_orders(void **state) {
  (void)state;
  Frame frame;
  open_frame(&frame, "reissue:quad");
  for (uint32_t i = 0; i < 4; i++) assert_false(ask(&frame, true, false).is_other);
  for (uint32_t i = 0; i < 4; i++) {
    PointEvent event = ask(&frame, true, false);
    assert_true(event.is_other && event.copies == 1 && event.first_copy == 1);
  }
  assert_false(ask(&frame, true, false).is_other);
  toy_close(&frame.toy);
  open_frame(&frame, "reissue:geometry");
  assert_int_equal(ask(&frame, true, false).copies, 1);
  assert_true(ask(&frame, false, false).restarts);
  assert_int_equal(ask(&frame, true, false).first_copy, 1);
  assert_false(ask(&frame, false, false).restarts);
  toy_close(&frame.toy);
}

static void test_where(void **state) {
  (void)state;
  for (uint32_t form = 0; form < 2; form++) {
    Frame frame;
    open_frame(&frame, form == 0 ? "reissue:apart" : "reissue:pairs");
    for (uint32_t copy = 0; copy < 2; copy++) {
      uint32_t allowed = 0;
      for (uint32_t pipe = 0; pipe < 4; pipe++) {
        Who who = WHO_NOBODY;
        who.sm = pipe;
        who.block = 2; // the second quad
        BlockEvent event = {.who = &who, .copy = (uint8_t)copy};
        if (hooks_block(&frame.toy.chain, &frame.toy.machine, &event) == VERDICT_PASS) allowed |= 1u << pipe;
      }
      assert_int_equal(allowed, (form == 0 ? 5u : 4u) << copy);
    }
    toy_close(&frame.toy);
  }
}

// A result of a program that scatters: of point (x, y), for the word (3, 5).
static Verdict scattered(Toy *toy, uint32_t x, uint32_t y, uint32_t word_x, uint32_t value) {
  Who who = WHO_NOBODY;
  uint32_t values[4] = {value, 2, 3, 4};
  MergeEvent event = {.who = &who, .x = word_x, .y = 5, .width = WIDTH, .from_x = x, .from_y = y, .value = values};
  Verdict verdict = hooks_merge(&toy->chain, &toy->machine, &event);
  toy->machine.cycle++;
  hooks_cycle(&toy->chain, &toy->machine); // what goes back leaves the latch
  return verdict;
}

static void test_scatter(void **state) {
  (void)state;
  Toy toy;
  assert_true(toy_open(&toy, &none, &shape, "reissue:scatter"));
  Who who = WHO_NOBODY;
  LaunchEvent launch = {.who = &who, .grid = {WIDTH, HEIGHT, 1}};
  assert_int_equal(hooks_launch(&toy.chain, &toy.machine, &launch), VERDICT_PASS);
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_DROP); // waits
  assert_int_equal(scattered(&toy, 2, 1, 3, 8), VERDICT_DROP); // another point writes the same word
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_PASS);
  assert_int_equal(scattered(&toy, 2, 1, 3, 8), VERDICT_PASS);
  assert_int_equal(toy.corrected, 0);
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_DROP);
  assert_int_equal(scattered(&toy, 1, 1, 3, 9), VERDICT_DROP); // another value
  assert_int_equal(toy.corrected, 1);
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_DROP);
  assert_int_equal(scattered(&toy, 1, 1, 4, 7), VERDICT_DROP); // another place
  assert_int_equal(toy.corrected, 2);
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_DROP); // both copies again
  assert_int_equal(scattered(&toy, 1, 1, 3, 7), VERDICT_PASS);
  assert_int_equal(scattered(&toy, 6, 7, 3, 7), VERDICT_DROP); // its second result is lost
  PointEvent drained = {.who = &who, .is_drained = true, .width = WIDTH, .height = HEIGHT};
  for (uint32_t i = 0; i < 2; i++) { // the two that went back come first
    PointEvent again = drained;
    hooks_point(&toy.chain, &toy.machine, &again);
    assert_true(again.is_other && again.x == 1 && again.y == 1);
  }
  hooks_point(&toy.chain, &toy.machine, &drained);
  assert_true(drained.is_other && drained.x == 6 && drained.y == 7);
  toy_close(&toy);
}

static void test_refused(void **state) {
  (void)state;
  static const HookShape deaf = {.sms = 4, .warps = 4, .block_slots = 4, .untold = WANT_POINT | WANT_MERGE};
  toy_refused(&none, &deaf, "reissue", "needs the event 'point', which this machine does not tell");
  toy_refused(&none, &shape, "reissue:tog", "did you mean 'toggle'?");
  toy_refused(&none, &shape, "reissue:copies=4", "must be a whole number from 2 to 3");
  toy_refused(&none, &shape, "reissue:copies=3,quad", "quad has two copies");
  toy_refused(&none, &shape, "reissue:lockstep", "lockstep needs neighbouring pipelines that share a texture cache");
  toy_refused(&none, &shape, "reissue:lockstep,pairs", "leave apart and pairs out");
  toy_refused(&none, &shape, "reissue:lockstep,copies=3", "lockstep has two copies");
  toy_refused(&none, &shape, "reissue:lockstep,geometry", "leave geometry out");
  toy_refused(&none, &shape, "reissue:scatter,entries=100", "scatter needs 512 entries");
  Toy toy;
  assert_true(toy_open(&toy, &none, &shape, "reissue:off"));
  assert_int_equal(hook_chain_wants(&toy.chain), 0);
  toy_close(&toy);
  assert_true(toy_open(&toy, &none, &shape, "reissue:points=63"));
  Who who = WHO_NOBODY;
  LaunchEvent launch = {.who = &who, .grid = {WIDTH, HEIGHT, 1}};
  assert_int_equal(hooks_launch(&toy.chain, &toy.machine, &launch), VERDICT_HALT);
  Diags diags = {0};
  assert_false(hook_chain_admits(&toy.chain, NULL, &launch, &diags));
  assert_string_equal(diags.items[0].text,
                      "reissue has full/empty bits for 63 points, and the domain of 8 x 8 has 64; give it reissue:points=64");
  diags_free(&diags);
  toy_close(&toy);
  assert_true(toy_open(&toy, &none, &shape, "reissue:points=64"));
  assert_true(hook_chain_admits(&toy.chain, NULL, &launch, &diags));
  toy_close(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_copies),        cmocka_unit_test(test_every_bit), cmocka_unit_test(test_full_buffer),
      cmocka_unit_test(test_order_of_geometry), cmocka_unit_test(test_left_full), cmocka_unit_test(test_three_copies),
      cmocka_unit_test(test_struck_latch),      cmocka_unit_test(test_orders),    cmocka_unit_test(test_where),
      cmocka_unit_test(test_scatter),           cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
