// Faults as text and back, what is said of wrong ones, and every model on a toy block.
#include "fault/fault.h"
#include "fault/test_regions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct Toy {
  Arena *arena;
  HookChain chain;
  HookMachine machine;
  uint8_t block[BLOCK];
  uint32_t rows[4][WARP_LANES]; // what a unit makes
  uint32_t predicates[2];
} Toy;

static Fault parsed(const char *text) {
  Fault fault;
  Diags diags = {0};
  if (!fault_parse(&toy_table, text, &fault, &diags)) fail_msg("%s: %s", text, diags.items[0].text);
  return fault;
}

static void toy_open(Toy *toy, const char *text) {
  memset(toy, 0, sizeof *toy);
  toy->arena = arena_new();
  toy->machine = (HookMachine){.block = toy->block, .regions = &toy_table, .warp_rows = 2};
  if (text == NULL) return;
  Fault fault = parsed(text);
  assert_true(hook_chain_add(&toy->chain, fault_hook(toy->arena, &fault)));
}

static void toy_close(Toy *toy) { arena_free(toy->arena); }

static void toy_cycle(Toy *toy, uint64_t cycle) {
  toy->machine.cycle = cycle;
  if (hooks_next_cycle(&toy->chain, &toy->machine) <= cycle) hooks_cycle(&toy->chain, &toy->machine);
}

static uint32_t word(const Toy *toy, uint32_t row, uint32_t lane) {
  uint32_t value;
  memcpy(&value, toy->block + row * 128 + lane * 4, sizeof value);
  return value;
}

// As a machine writes a row, and tells.
static void toy_write(Toy *toy, uint32_t row, uint32_t value) {
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) memcpy(toy->block + row * 128 + lane * 4, &value, sizeof value);
  CellEvent event = {.region = RF, .units = UINT32_MAX, .row = row, .data = toy->block + row * 128};
  hooks_write(&toy->chain, &toy->machine, &event);
}

static uint32_t bits_set(const Toy *toy) {
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof toy->block; i++) count += (uint32_t)__builtin_popcount(toy->block[i]);
  return count;
}

// ---- Text ------------------------------------------------------------------------------------------

static void test_round_trip(void **state) {
  (void)state;
  static const char *const texts[] = {
      "flip:rf[sm=1,reg=3,lane=7,bit=4]@12345",
      "flip:rf[sm=1,warp=2,reg=1,lane=7,bit=4]@0",
      "adjacent(3):rf[sm=0,reg=0,lane=31,bit=31]@9",
      "random(4):rf[sm=0,reg=0,lane=0,bit=0]@9",
      "random(4,18446744073709551615):rf[sm=0,reg=0,lane=0,bit=0]@9",
      "byte:queue[place=3,entry=1,bit=11]@1",
      "lanes:rf[sm=0,reg=1,lane=0,bit=2]@1",
      "pattern(0.0.0+0.1.0+1.0.-3):rf[sm=0,reg=1,lane=0,bit=9]@4",
      "stuck0:rf[sm=0,reg=1,lane=0,bit=2]@0-",
      "stuck1:queue[place=0,entry=0,bit=0]@5-10",
      "duty(100,900):rf[sm=0,reg=1,lane=0,bit=2]@7-",
      "flip:unit.sp[sm=1,sp=1,lane=7,bit=31]@99",
      "stuck0:unit.wide[sm=0,lane=0,bit=63]@0-",
      "lanes:unit.sp[sm=0,sp=0,lane=0,bit=5]@3",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    Fault fault = parsed(texts[i]);
    Text text = {0};
    fault_format(&toy_table, &fault, &text);
    assert_string_equal(text.at, texts[i]);
    text_free(&text);
  }
}

static void test_short_forms(void **state) {
  (void)state;
  Fault fault = parsed("stuck1:rf[bit=4,lane=2,reg=1,warp=3,sm=1]@8");
  assert_int_equal(fault.warp, 3);
  assert_int_equal(fault.site.row, 9);
  assert_int_equal(fault.from, 8);
  assert_true(fault.to == UINT64_MAX); // a permanent fault lasts
  fault = parsed("flip:rf[sm=0,reg=1,lane=0,bit=0]@8");
  assert_int_equal(fault.warp, FAULT_NO_WARP);
  assert_int_equal(fault.to, 8);
}

static void refused(const char *text, const char *said) {
  Fault fault;
  Diags diags = {0};
  assert_false(fault_parse(&toy_table, text, &fault, &diags));
  assert_int_equal(diags.count, 1);
  if (strstr(diags.items[0].text, said) == NULL) fail_msg("'%s' does not contain '%s'", diags.items[0].text, said);
  diags_free(&diags);
}

static void test_refusals(void **state) {
  (void)state;
  refused("", "is not MODEL:SITE@CYCLE");
  refused("flip", "is not MODEL:SITE@CYCLE");
  refused("flip:rf[sm=0,reg=0,lane=0,bit=0]", "is not MODEL:SITE@CYCLE");
  refused("flop:rf[sm=0,reg=0,lane=0,bit=0]@1", "did you mean 'flip'?");
  refused("xyzzy:rf[sm=0,reg=0,lane=0,bit=0]@1", "'redoubt list faults'");
  refused("flip:rg[sm=0,reg=0,lane=0,bit=0]@1", "did you mean 'rf'?");
  refused("flip:rf[sm=0,rg=0,lane=0,bit=0]@1", "did you mean 'reg'?");
  refused("flip:rf[sm=2,reg=0,lane=0,bit=0]@1", "sm=2 is out of range: 0 to 1");
  refused("flip:rf[sm=0,reg=0,lane=32,bit=0]@1", "lane=32 is out of range: 0 to 31");
  refused("flip:rf[sm=0,reg=0,lane=0]@1", "needs also bit (0 to 31)");
  refused("flip:rf[sm=0,warp=4,reg=0,lane=0,bit=0]@1", "warp=4 is out of range: 0 to 3");
  refused("flip:rf[sm=0,warp=x,reg=0,lane=0,bit=0]@1", "warp= needs a whole number");
  refused("flip:rf[sm=0,reg=0,lane=0,bit=0]@", "the time after '@'");
  refused("flip:rf[sm=0,reg=0,lane=0,bit=0]@9x", "the time after '@'");
  refused("stuck0:rf[sm=0,reg=0,lane=0,bit=0]@9-3", "the time after '@'");
  refused("adjacent:rf[sm=0,reg=0,lane=0,bit=0]@1", "model adjacent takes (n)");
  refused("adjacent(0):rf[sm=0,reg=0,lane=0,bit=0]@1", "model adjacent takes (n)");
  refused("adjacent(3:rf[sm=0,reg=0,lane=0,bit=0]@1", "a '(' is not closed");
  refused("duty(5):rf[sm=0,reg=0,lane=0,bit=0]@1-", "model duty takes (on,off)");
  refused("duty(18446744073709551615,1):rf[sm=0,reg=0,lane=0,bit=0]@1-", "model duty takes (on,off)");
  refused("flip(2):rf[sm=0,reg=0,lane=0,bit=0]@1", "fault model flip takes no numbers");
  refused("pattern:rf[sm=0,reg=0,lane=0,bit=0]@1", "takes (FILE)");
  refused("pattern(1.2):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(0.0.0+):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(0.0.9999999):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(no such file):rf[sm=0,reg=0,lane=0,bit=0]@1", "cannot");
  refused("flip:unit.sp[sm=0,sp=0,lane=16,bit=0]@1", "lane=16 is out of range: 0 to 15");
  refused("flip:unit.sq[sm=0,sp=0,lane=0,bit=0]@1", "no structure 'unit.sq'; did you mean 'unit.sp'?");
}

// ---- Bits ------------------------------------------------------------------------------------------

static uint32_t bits_of(const char *text, Site bits[FAULT_MAX_BITS]) {
  Fault fault = parsed(text);
  HookMachine machine = {.regions = &toy_table, .warp_rows = 2};
  return fault_bits(&toy_table, &machine, &fault, bits);
}

static void test_bits(void **state) {
  (void)state;
  Site bits[FAULT_MAX_BITS];
  assert_int_equal(bits_of("flip:rf[sm=1,warp=2,reg=1,lane=7,bit=4]@0", bits), 1);
  assert_int_equal(bits[0].row, 8 + 2 * 2 + 1);
  assert_int_equal(bits_of("flip:rf[sm=1,warp=2,reg=2,lane=7,bit=4]@0", bits), 0); // warps have two registers
  assert_int_equal(bits_of("adjacent(3):rf[sm=0,reg=0,lane=5,bit=4]@0", bits), 3);
  for (uint32_t i = 0; i < 3; i++) assert_true(bits[i].bit == 4 + i && bits[i].unit == 5);
  assert_int_equal(bits_of("adjacent(3):rf[sm=0,reg=0,lane=5,bit=31]@0", bits), 3); // at the end: the last three
  assert_int_equal(bits[0].bit, 29);
  assert_int_equal(bits_of("adjacent(99):queue[place=0,entry=0,bit=3]@0", bits), 12);
  assert_int_equal(bits[0].bit, 0);
  assert_int_equal(bits_of("byte:queue[place=0,entry=1,bit=9]@0", bits), 4); // bits 8 to 11 of 12
  assert_int_equal(bits[0].bit, 8);
  assert_int_equal(bits_of("lanes:rf[sm=0,reg=3,lane=9,bit=2]@0", bits), 32);
  for (uint32_t i = 0; i < 32; i++) assert_true(bits[i].unit == i && bits[i].bit == 2 && bits[i].row == 3);
}

static void test_pattern_bits(void **state) {
  (void)state;
  Site bits[FAULT_MAX_BITS];
  assert_int_equal(bits_of("pattern(0.0.0+0.1.0+1.0.-3+0.0.0):rf[sm=0,reg=1,lane=0,bit=9]@4", bits), 3);
  assert_true(bits[0].row == 1 && bits[0].unit == 0 && bits[0].bit == 9);
  assert_true(bits[1].row == 1 && bits[1].unit == 1 && bits[1].bit == 9);
  assert_true(bits[2].row == 2 && bits[2].unit == 0 && bits[2].bit == 6);
  assert_int_equal(bits_of("pattern(0.-1.0+-2.0.0+15.0.0+0.32.0+0.0.-10+0.0.23):rf[sm=0,reg=1,lane=0,bit=9]@4", bits), 0); // all outside
}

// As users bring it.
static void test_pattern_file(void **state) {
  (void)state;
  static const struct {
    const char *contents, *said; // NULL: it is good
  } cases[] = {{"# three cells\n0 0 0\n\n  0\t1 0 # beside\n1 0 -3", NULL},
               {"0 0 0\n0 0\n", "not three whole numbers"},
               {"0 0 0 0\n", "more than three numbers"},
               {"x\n", "not three whole numbers"},
               {"# nothing\n", "names no bit"},
               {"", "names no bit"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char path[] = P_tmpdir "/pattern:XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, cases[i].contents, strlen(cases[i].contents)) >= 0);
    close(file);
    char text[128];
    snprintf(text, sizeof text, "pattern(%s):rf[sm=0,reg=1,lane=0,bit=9]@4", path);
    if (cases[i].said != NULL) {
      refused(text, cases[i].said);
    } else {
      Fault fault = parsed(text);
      Text back = {0};
      fault_format(&toy_table, &fault, &back);
      assert_string_equal(back.at, "pattern(0.0.0+0.1.0+1.0.-3):rf[sm=0,reg=1,lane=0,bit=9]@4");
      text_free(&back);
    }
    unlink(path);
  }
}

static uint32_t same_bits(const Site *a, const Site *b, uint32_t count) {
  uint32_t same = 0;
  for (uint32_t i = 0; i < count; i++) same += a[i].row == b[i].row && a[i].unit == b[i].unit && a[i].bit == b[i].bit;
  return same;
}

static void test_random_bits(void **state) {
  (void)state;
  Site bits[FAULT_MAX_BITS], again[FAULT_MAX_BITS];
  uint32_t count = bits_of("random(24,5):queue[place=2,entry=1,bit=3]@0", bits); // all that the row has
  assert_int_equal(count, 24);
  assert_true(bits[0].unit == 1 && bits[0].bit == 3);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(bits[i].row == 2 && bits[i].unit < 2 && bits[i].bit < 12);
    for (uint32_t k = 0; k < i; k++) assert_true(bits[i].unit != bits[k].unit || bits[i].bit != bits[k].bit);
  }
  assert_int_equal(bits_of("random(1000):queue[place=2,entry=1,bit=3]@0", again), 24);
  assert_int_equal(bits_of("random(8,5):rf[sm=0,reg=0,lane=1,bit=3]@0", bits), 8);
  assert_int_equal(bits_of("random(8,5):rf[sm=0,reg=0,lane=1,bit=3]@77", again), 8);
  assert_int_equal(same_bits(bits, again, 8), 8); // the seed alone decides
  assert_int_equal(bits_of("random(8,6):rf[sm=0,reg=0,lane=1,bit=3]@0", again), 8);
  assert_true(same_bits(bits, again, 8) < 8);
}

// ---- Cells -----------------------------------------------------------------------------------------

static void test_flip(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "flip:rf[sm=0,reg=3,lane=7,bit=4]@10");
  for (uint64_t cycle = 0; cycle < 10; cycle++) toy_cycle(&toy, cycle);
  assert_int_equal(bits_set(&toy), 0);
  toy_cycle(&toy, 10);
  assert_int_equal(word(&toy, 3, 7), 16);
  assert_int_equal(bits_set(&toy), 1);
  toy_write(&toy, 3, 0);
  for (uint64_t cycle = 11; cycle < 30; cycle++) toy_cycle(&toy, cycle);
  assert_int_equal(bits_set(&toy), 0); // once
  toy_close(&toy);
}

static void test_strike(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t bits;
  } cases[] = {{"adjacent(2):rf[sm=1,reg=3,lane=7,bit=4]@0", 2},
               {"random(5):rf[sm=1,reg=3,lane=7,bit=4]@0", 5},
               {"byte:rf[sm=1,reg=3,lane=7,bit=4]@0", 8},
               {"lanes:rf[sm=1,reg=3,lane=7,bit=4]@0", 32}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Toy toy;
    toy_open(&toy, NULL);
    Fault fault = parsed(cases[i].text);
    fault_strike(&toy.machine, &fault);
    assert_int_equal(bits_set(&toy), cases[i].bits);
    fault_strike(&toy.machine, &fault); // flips, not sets
    assert_int_equal(bits_set(&toy), 0);
    toy_close(&toy);
  }
}

static void test_stuck(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "stuck1:rf[sm=0,reg=3,lane=7,bit=4]@5-20");
  toy_write(&toy, 3, 0);
  assert_int_equal(bits_set(&toy), 0); // not yet
  toy_cycle(&toy, 5);
  assert_int_equal(word(&toy, 3, 7), 16);
  toy_write(&toy, 3, 0);
  assert_int_equal(word(&toy, 3, 7), 16); // after every write
  assert_int_equal(bits_set(&toy), 1);
  toy_write(&toy, 2, 0);
  assert_int_equal(bits_set(&toy), 1);
  toy_cycle(&toy, 21);
  toy_write(&toy, 3, 0);
  assert_int_equal(bits_set(&toy), 0); // over
  toy_close(&toy);
  toy_open(&toy, "stuck0:rf[sm=0,reg=3,lane=7,bit=4]@0-");
  toy_cycle(&toy, 0);
  toy_write(&toy, 3, UINT32_MAX);
  assert_int_equal(word(&toy, 3, 7), ~16u);
  assert_int_equal(word(&toy, 3, 6), UINT32_MAX);
  toy_close(&toy);
}

// Cells that are not told are forced at the start of every cycle.
static void test_stuck_untold(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "stuck1:queue[place=1,entry=1,bit=9]@5-7");
  for (uint64_t cycle = 5; cycle < 8; cycle++) {
    toy.block[QUEUE_BASE + 7] = 0;
    toy_cycle(&toy, cycle);
    assert_int_equal(toy.block[QUEUE_BASE + 7], 2);
  }
  toy.block[QUEUE_BASE + 7] = 0;
  toy_cycle(&toy, 8);
  assert_int_equal(bits_set(&toy), 0);
  toy_close(&toy);
}

// A new launch finds its cells at rest; the stuck one is not.
static void test_stuck_launch(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "stuck1:rf[sm=0,reg=3,lane=7,bit=4]@5-");
  toy_cycle(&toy, 5);
  memset(toy.block, 0, sizeof toy.block);
  LaunchEvent launch = {.who = &(Who){.launch = 2}, .kernel = "k"};
  hooks_launch(&toy.chain, &toy.machine, &launch);
  toy_cycle(&toy, 6);
  assert_int_equal(word(&toy, 3, 7), 16);
  toy_close(&toy);
}

static void test_duty(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "duty(2,3):rf[sm=0,reg=3,lane=7,bit=4]@10-");
  for (uint64_t cycle = 0; cycle < 40; cycle++) {
    toy_cycle(&toy, cycle);
    bool starts = cycle >= 10 && (cycle - 10) % 5 == 0, on = cycle >= 10 && (cycle - 10) % 5 < 2;
    if (starts) assert_int_equal(word(&toy, 3, 7), 16); // by itself
    toy_write(&toy, 3, 0);
    assert_int_equal(word(&toy, 3, 7), on ? 16 : 0);
  }
  toy_close(&toy);
}

// ---- Outputs of units ------------------------------------------------------------------------------

static ResultEvent result_of(Toy *toy, uint16_t region, uint64_t row, uint32_t cycles, uint32_t row_count) {
  memset(toy->rows, 0, sizeof toy->rows);
  memset(toy->predicates, 0, sizeof toy->predicates);
  return (ResultEvent){.region = region,
                       .row = row,
                       .cycles = cycles,
                       .mask = UINT32_MAX,
                       .rows = toy->rows[0],
                       .row_count = row_count,
                       .predicates = row_count == 0 ? toy->predicates : NULL};
}

static uint32_t rows_set(const Toy *toy) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 4 * WARP_LANES; i++) count += (uint32_t)__builtin_popcount(toy->rows[i / WARP_LANES][i % WARP_LANES]);
  return count + (uint32_t)__builtin_popcount(toy->predicates[0]) + (uint32_t)__builtin_popcount(toy->predicates[1]);
}

// Which bit of a result a transient turns over, told in a given cycle; word 4 and 5: the predicates, a bit per lane slot.
static void test_output(void **state) {
  (void)state;
  enum { NONE = 9 };
  static const struct {
    const char *fault;
    uint16_t region;
    uint64_t row, cycle;
    uint32_t cycles, row_count, mask;
    uint32_t word, slot, bits;
  } cases[] = {
      // Two turns in one cycle take turns.
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 3, 10, 1, 1, UINT32_MAX, 0, 7, 16},
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@11", SP, 3, 11, 1, 1, UINT32_MAX, 0, 23, 16},
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 2, 10, 1, 1, UINT32_MAX, NONE, 0, 0},   // another SP
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 1, 10, 1, 1, UINT32_MAX, NONE, 0, 0},   // another SM
      {"flip:unit.sp[sm=0,sp=1,lane=7,bit=4]@10", WIDE, 1, 10, 1, 1, UINT32_MAX, NONE, 0, 0}, // another unit
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 3, 10, 1, 1, ~(1u << 7), NONE, 0, 0},   // the lane slot is empty
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 3, 9, 1, 1, UINT32_MAX, NONE, 0, 0},    // before its time
      {"flip:unit.sp[sm=1,sp=1,lane=7,bit=4]@10", SP, 3, 11, 1, 1, UINT32_MAX, NONE, 0, 0},   // after it
      // The outputs are busy with a result for some cycles, which its turns share; the last is the one in which it is told.
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 13, 4, 2, UINT32_MAX, 0, 7, 1},
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 12, 4, 2, UINT32_MAX, 0, 15, 1},
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 10, 4, 2, UINT32_MAX, 0, 31, 1},
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 14, 4, 2, UINT32_MAX, NONE, 0, 0},
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 17, 8, 2, UINT32_MAX, 0, 7, 1}, // two cycles each
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 16, 8, 2, UINT32_MAX, 0, 7, 1},
      {"flip:unit.wide[sm=0,lane=7,bit=0]@10", WIDE, 0, 15, 8, 2, UINT32_MAX, 0, 15, 1},
      // Wide outputs hold two words; results that are wider yet pass group by group.
      {"flip:unit.wide[sm=0,lane=7,bit=40]@10", WIDE, 0, 13, 4, 2, UINT32_MAX, 1, 7, 256},
      {"flip:unit.wide[sm=0,lane=7,bit=40]@10", WIDE, 0, 13, 4, 1, UINT32_MAX, NONE, 0, 0},
      {"flip:unit.wide[sm=0,lane=7,bit=40]@11", WIDE, 0, 14, 4, 4, UINT32_MAX, 3, 7, 256},
      {"flip:unit.sp[sm=0,sp=0,lane=7,bit=4]@10", SP, 0, 10, 1, 4, UINT32_MAX, 2, 7, 16},
      // Comparisons put out a bit or two.
      {"flip:unit.sp[sm=0,sp=0,lane=7,bit=0]@10", SP, 0, 10, 1, 0, UINT32_MAX, 4, 0, 1 << 7},
      {"flip:unit.sp[sm=0,sp=0,lane=7,bit=1]@10", SP, 0, 10, 1, 0, UINT32_MAX, 5, 0, 1 << 7},
      {"flip:unit.sp[sm=0,sp=0,lane=7,bit=2]@10", SP, 0, 10, 1, 0, UINT32_MAX, NONE, 0, 0},
      {"adjacent(3):unit.sp[sm=0,sp=0,lane=7,bit=4]@10", SP, 0, 10, 1, 1, UINT32_MAX, 0, 7, 7 << 4},
      {"byte:unit.sp[sm=0,sp=0,lane=7,bit=9]@10", SP, 0, 10, 1, 1, UINT32_MAX, 0, 7, 255 << 8},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Toy toy;
    toy_open(&toy, cases[i].fault);
    ResultEvent event = result_of(&toy, cases[i].region, cases[i].row, cases[i].cycles, cases[i].row_count);
    event.mask = cases[i].mask;
    toy.machine.cycle = cases[i].cycle;
    hooks_result(&toy.chain, &toy.machine, &event);
    uint32_t got = 0;
    if (cases[i].word < 4) got = toy.rows[cases[i].word][cases[i].slot];
    else if (cases[i].word < 6) got = toy.predicates[cases[i].word - 4];
    bool good = got == cases[i].bits && rows_set(&toy) == (uint32_t)__builtin_popcount(got);
    if (!good) fail_msg("case %zu: %s: %u bits are set", i, cases[i].fault, rows_set(&toy));
    memset(toy.rows, 0, sizeof toy.rows);
    memset(toy.predicates, 0, sizeof toy.predicates);
    hooks_result(&toy.chain, &toy.machine, &event);
    if (cases[i].word != NONE) assert_int_equal(rows_set(&toy), 0); // once
    toy_close(&toy);
  }
}

static void test_output_lanes(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "lanes:unit.sp[sm=0,sp=0,lane=3,bit=2]@11");
  ResultEvent event = result_of(&toy, SP, 0, 1, 1);
  toy.machine.cycle = 11;
  hooks_result(&toy.chain, &toy.machine, &event);
  for (uint32_t i = 0; i < WARP_LANES; i++) assert_int_equal(toy.rows[0][i], i < 16 ? 0 : 4); // the second turn
  toy_close(&toy);
}

// A lane that is stuck spoils every thread that passes it.
static void test_output_stuck(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "stuck1:unit.sp[sm=0,sp=0,lane=7,bit=0]@10-20");
  for (uint64_t cycle = 8; cycle < 24; cycle++) {
    ResultEvent event = result_of(&toy, SP, 0, 1, 2);
    toy.machine.cycle = cycle;
    hooks_result(&toy.chain, &toy.machine, &event);
    bool on = cycle >= 10 && cycle <= 20;
    assert_true(toy.rows[0][7] == on && toy.rows[1][7] == on && toy.rows[0][23] == on && rows_set(&toy) == (on ? 4 : 0));
  }
  toy_close(&toy);
  toy_open(&toy, "stuck0:unit.sp[sm=0,sp=0,lane=7,bit=0]@0-");
  ResultEvent event = result_of(&toy, SP, 0, 1, 1);
  toy.rows[0][7] = toy.rows[0][5] = 3;
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_int_equal(toy.rows[0][7], 2);
  assert_int_equal(toy.rows[0][5], 3);
  toy_close(&toy);
  toy_open(&toy, "duty(2,3):unit.sp[sm=0,sp=0,lane=7,bit=0]@10-");
  for (uint64_t cycle = 10; cycle < 30; cycle++) {
    event = result_of(&toy, SP, 0, 1, 1);
    toy.machine.cycle = cycle;
    hooks_result(&toy.chain, &toy.machine, &event);
    assert_int_equal(toy.rows[0][7], (cycle - 10) % 5 < 2);
  }
  toy_close(&toy);
}

// Those who choose the moment themselves: the state may be looked at again when the strike is over.
static void test_output_strike(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, NULL);
  Fault fault = parsed("flip:unit.wide[sm=0,lane=7,bit=0]@10");
  toy.machine.cycle = 10;
  Strike strike = fault_strike(&toy.machine, &fault);
  assert_false(strike_is_over(&strike, 11));
  assert_true(strike_is_over(&strike, 10 + FAULT_OUTPUT_CYCLES));
  ResultEvent event = result_of(&toy, WIDE, 0, 4, 1);
  assert_true(fault_meets(&toy_table, &fault, &event));
  assert_false(fault_is_passed(&toy_table, &fault, 9, &event)); // before it strikes
  assert_true(fault_is_passed(&toy_table, &fault, 13, &event));
  toy.machine.cycle = 13;
  strike_result(&strike, &toy.machine, &event);
  assert_int_equal(toy.rows[0][7], 1);
  assert_true(strike_is_over(&strike, 14));
  toy_close(&toy);
}

// ---- Those that last, begun by others --------------------------------------------------------------

static void test_asleep(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, NULL);
  Hook *hook = fault_hook_asleep(toy.arena, true, true);
  assert_true(hook_chain_add(&toy.chain, hook));
  toy_write(&toy, 3, 0);
  ResultEvent event = result_of(&toy, SP, 0, 1, 1);
  hooks_launch(&toy.chain, &toy.machine, &(LaunchEvent){0});
  hooks_result(&toy.chain, &toy.machine, &event);
  toy_cycle(&toy, 5);
  assert_true(bits_set(&toy) == 0 && rows_set(&toy) == 0);
  Fault cell = parsed("stuck1:rf[sm=0,reg=3,lane=7,bit=4]@2-"), output = parsed("stuck1:unit.sp[sm=0,sp=0,lane=7,bit=0]@2-");
  fault_hook_wake(hook, &toy.machine, &cell);
  toy_cycle(&toy, 5);
  assert_int_equal(word(&toy, 3, 7), 16);
  toy_write(&toy, 3, 0);
  assert_true(word(&toy, 3, 7) == 16 && bits_set(&toy) == 1);
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_int_equal(rows_set(&toy), 0);
  toy_close(&toy);
  toy_open(&toy, NULL);
  hook = fault_hook_asleep(toy.arena, true, true);
  assert_true(hook_chain_add(&toy.chain, hook));
  fault_hook_wake(hook, &toy.machine, &output);
  event = result_of(&toy, SP, 0, 1, 1);
  toy.machine.cycle = 2;
  hooks_launch(&toy.chain, &toy.machine, &(LaunchEvent){0});
  toy_cycle(&toy, 2);
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_true(bits_set(&toy) == 0 && toy.rows[0][7] == 1 && toy.rows[0][23] == 1 && rows_set(&toy) == 2);
  toy_close(&toy);
}

// Whether what is read or passes would be another with the fault.
static void test_alters(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, NULL);
  static const struct {
    const char *fault;
    uint32_t value;
    bool alters;
  } cases[] = {{"stuck1:X[lane=7,bit=4]@0-", 0, true},    {"stuck1:X[lane=7,bit=4]@0-", 16, false},
               {"stuck0:X[lane=7,bit=4]@0-", 16, true},   {"stuck0:X[lane=7,bit=4]@0-", ~16u, false},
               {"duty(2,3):X[lane=7,bit=4]@0-", 0, true}, {"duty(2,3):X[lane=7,bit=4]@0-", 16, false}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[80];
    const char *model_end = strchr(cases[i].fault, 'X'), *keys = model_end + 2;
    snprintf(text, sizeof text, "%.*srf[sm=0,reg=3,%s", (int)(model_end - cases[i].fault), cases[i].fault, keys);
    Fault cell = parsed(text);
    toy_write(&toy, 3, cases[i].value);
    CellEvent read = {.region = RF, .units = 1u << 7, .row = 3, .data = toy.block + 3 * 128};
    assert_int_equal(fault_alters_cells(&toy_table, &cell, &read), cases[i].alters);
    read.units = ~(1u << 7);
    assert_false(fault_alters_cells(&toy_table, &cell, &read)); // another lane is read
    snprintf(text, sizeof text, "%.*sunit.sp[sm=0,sp=0,%s", (int)(model_end - cases[i].fault), cases[i].fault, keys);
    Fault output = parsed(text);
    ResultEvent event = result_of(&toy, SP, 0, 1, 1);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) toy.rows[0][lane] = cases[i].value;
    assert_int_equal(fault_alters_result(&toy_table, &output, 5, &event), cases[i].alters);
    assert_true(fault_is_passed(&toy_table, &output, 5, &event)); // whether that alters it or not
    event.mask = ~(1u << 7 | 1u << 23);
    assert_false(fault_alters_result(&toy_table, &output, 5, &event)); // nobody is on that lane
    assert_false(fault_is_passed(&toy_table, &output, 5, &event));
    event.mask = UINT32_MAX, event.row = 1;
    assert_false(fault_alters_result(&toy_table, &output, 5, &event));
    assert_false(fault_is_passed(&toy_table, &output, 5, &event));
  }
  toy_close(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_short_forms),   cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_bits),         cmocka_unit_test(test_random_bits),   cmocka_unit_test(test_pattern_bits),
      cmocka_unit_test(test_pattern_file), cmocka_unit_test(test_flip),          cmocka_unit_test(test_strike),
      cmocka_unit_test(test_stuck),        cmocka_unit_test(test_stuck_untold),  cmocka_unit_test(test_stuck_launch),
      cmocka_unit_test(test_duty),         cmocka_unit_test(test_output),        cmocka_unit_test(test_output_lanes),
      cmocka_unit_test(test_output_stuck), cmocka_unit_test(test_output_strike), cmocka_unit_test(test_asleep),
      cmocka_unit_test(test_alters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
