// Faults as text and back, what is said of wrong ones, and every model on a toy block.
#include "fault/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

// Two SMs with 4 warps: a register file of 8 rows each that tells its accesses, and a queue that does not.
enum { RF, WARPS, QUEUE, REGIONS, QUEUE_BASE = 2 * 8 * 128 + 64, BLOCK = QUEUE_BASE + 64 };

static const Region toy_regions[REGIONS] = {
    [RF] = {.name = "rf",
            .title = "registers",
            .unit = "lane",
            .meaning = "",
            .dims = {{"sm", 2}, {"reg", 8}},
            .dim_count = 2,
            .flags = REGION_HASHED | REGION_INJECTABLE | REGION_TRACED,
            .rows = 16,
            .units = 32,
            .bits = 32,
            .row_bytes = 128,
            .unit_bytes = 4},
    [WARPS] = {.name = "warp.pc",
               .title = "warp table",
               .unit = "",
               .meaning = "",
               .dims = {{"sm", 2}, {"warp", 4}},
               .dim_count = 2,
               .flags = REGION_HASHED | REGION_INJECTABLE,
               .rows = 8,
               .units = 1,
               .bits = 12,
               .base = 2048,
               .row_bytes = 2,
               .unit_bytes = 2},
    [QUEUE] = {.name = "queue",
               .title = "queue",
               .unit = "entry",
               .meaning = "",
               .dims = {{"slot", 4}},
               .dim_count = 1,
               .flags = REGION_HASHED | REGION_INJECTABLE,
               .rows = 4,
               .units = 2,
               .bits = 12,
               .base = QUEUE_BASE,
               .row_bytes = 4,
               .unit_bytes = 2},
};
static const RegionTable toy_table = {toy_regions, REGIONS, BLOCK};

typedef struct Toy {
  Arena *arena;
  HookChain chain;
  HookMachine machine;
  uint8_t block[BLOCK];
  uint32_t rows[2][WARP_LANES]; // what a unit makes
  uint8_t lane_of[WARP_LANES];
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
  if (hooks_next_cycle(&toy->chain) <= cycle) hooks_cycle(&toy->chain, &toy->machine);
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
      "byte:queue[slot=3,entry=1,bit=11]@1",
      "lanes:rf[sm=0,reg=1,lane=0,bit=2]@1",
      "pattern(0.0.0+0.1.0+1.0.-3):rf[sm=0,reg=1,lane=0,bit=9]@4",
      "stuck0:rf[sm=0,reg=1,lane=0,bit=2]@0-",
      "stuck1:queue[slot=0,entry=0,bit=0]@5-10",
      "duty(100,900):rf[sm=0,reg=1,lane=0,bit=2]@7-",
      "unit:sp[sm=1,sp=1,lane=7,bit=31]@99",
      "unit0:sfu[sm=0,sfu=0,lane=0,bit=0]@0-",
      "unit1:ldst[sm=0,ldst=0,lane=31,bit=5]@3-4",
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
  refused("flip(2):rf[sm=0,reg=0,lane=0,bit=0]@1", "model flip takes ()");
  refused("pattern:rf[sm=0,reg=0,lane=0,bit=0]@1", "takes (FILE)");
  refused("pattern(1.2):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(0.0.0+):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(0.0.9999999):rf[sm=0,reg=0,lane=0,bit=0]@1", "not bits like");
  refused("pattern(no such file):rf[sm=0,reg=0,lane=0,bit=0]@1", "cannot");
  refused("unit:rf[sm=0,reg=0,lane=0,bit=0]@1", "outputs of units are named like");
  refused("unit:sp[sm=0,sp=0,lane=32,bit=0]@1", "lane=32 is out of range: 0 to 31");
  refused("unit:sp[sm=2,sp=0,lane=0,bit=0]@1", "sm=2 is out of range: 0 to 1");
  refused("unit:dsp[sm=0,dsp=0,lane=0,bit=0]@1", "no unit 'dsp'");
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
  assert_int_equal(bits_of("adjacent(99):queue[slot=0,entry=0,bit=3]@0", bits), 12);
  assert_int_equal(bits[0].bit, 0);
  assert_int_equal(bits_of("byte:queue[slot=0,entry=1,bit=9]@0", bits), 4); // bits 8 to 11 of 12
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
  uint32_t count = bits_of("random(24,5):queue[slot=2,entry=1,bit=3]@0", bits); // all that the row has
  assert_int_equal(count, 24);
  assert_true(bits[0].unit == 1 && bits[0].bit == 3);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(bits[i].row == 2 && bits[i].unit < 2 && bits[i].bit < 12);
    for (uint32_t k = 0; k < i; k++) assert_true(bits[i].unit != bits[k].unit || bits[i].bit != bits[k].bit);
  }
  assert_int_equal(bits_of("random(1000):queue[slot=2,entry=1,bit=3]@0", again), 24);
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
  toy_open(&toy, "stuck1:queue[slot=1,entry=1,bit=9]@5-7");
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
  LaunchEvent launch = {.number = 2, .kernel = "k"};
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

// ---- Units -----------------------------------------------------------------------------------------

static ResultEvent result_of(Toy *toy, Unit unit, uint32_t sm, uint32_t sp, uint32_t mask) {
  memset(toy->rows, 0, sizeof toy->rows);
  for (uint32_t i = 0; i < WARP_LANES; i++) toy->lane_of[i] = (uint8_t)(i ^ 1); // thread 6 runs on lane 7
  return (ResultEvent){.sm = sm, .sp = sp, .unit = unit, .mask = mask, .lane_of = toy->lane_of, .rows = toy->rows[0], .row_count = 2};
}

static uint32_t rows_set(const Toy *toy) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2 * WARP_LANES; i++) count += toy->rows[i / WARP_LANES][i % WARP_LANES] != 0;
  return count;
}

static void test_unit(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "unit:sp[sm=1,sp=1,lane=7,bit=4]@10");
  const ResultEvent others[] = {result_of(&toy, UNIT_ALU, 0, 1, UINT32_MAX), result_of(&toy, UNIT_ALU, 1, 0, UINT32_MAX),
                                result_of(&toy, UNIT_SFU, 1, 1, UINT32_MAX), result_of(&toy, UNIT_ALU, 1, 1, ~(1u << 6))};
  toy.machine.cycle = 9;
  ResultEvent event = result_of(&toy, UNIT_ALU, 1, 1, UINT32_MAX);
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_int_equal(rows_set(&toy), 0); // too early
  toy.machine.cycle = 12;
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    event = others[i];
    hooks_result(&toy.chain, &toy.machine, &event);
    assert_int_equal(rows_set(&toy), 0); // another SM, SP, kind of unit; an idle lane
  }
  event = result_of(&toy, UNIT_ALU, 1, 1, UINT32_MAX);
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_true(toy.rows[0][6] == 16 && toy.rows[1][6] == 16 && rows_set(&toy) == 2); // the thread on that lane
  event = result_of(&toy, UNIT_ALU, 1, 1, UINT32_MAX);
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_int_equal(rows_set(&toy), 0); // once
  toy_close(&toy);
}

static void test_unit_stuck(void **state) {
  (void)state;
  Toy toy;
  toy_open(&toy, "unit1:sfu[sm=0,sfu=0,lane=7,bit=0]@10-20");
  for (uint64_t cycle = 8; cycle < 24; cycle++) {
    toy.machine.cycle = cycle;
    ResultEvent event = result_of(&toy, UNIT_SFU, 0, 0, UINT32_MAX);
    hooks_result(&toy.chain, &toy.machine, &event);
    assert_int_equal(toy.rows[0][6], cycle >= 10 && cycle <= 20);
  }
  toy_close(&toy);
  toy_open(&toy, "unit0:sp[sm=0,sp=0,lane=7,bit=0]@0-");
  ResultEvent event = result_of(&toy, UNIT_ALU, 0, 0, UINT32_MAX);
  toy.rows[0][6] = toy.rows[0][5] = 3;
  hooks_result(&toy.chain, &toy.machine, &event);
  assert_int_equal(toy.rows[0][6], 2);
  assert_int_equal(toy.rows[0][5], 3);
  toy_close(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_short_forms),  cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_bits),         cmocka_unit_test(test_random_bits),  cmocka_unit_test(test_pattern_bits),
      cmocka_unit_test(test_pattern_file), cmocka_unit_test(test_flip),         cmocka_unit_test(test_strike),
      cmocka_unit_test(test_stuck),        cmocka_unit_test(test_stuck_untold), cmocka_unit_test(test_stuck_launch),
      cmocka_unit_test(test_duty),         cmocka_unit_test(test_unit),         cmocka_unit_test(test_unit_stuck),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
