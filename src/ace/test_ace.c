// Every bit-cycle is counted on paper.
#include "ace/test_toy.h"

// Written in 10, stored in 30, written again in 50.
static void test_lifetimes(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, ADD, EVERY, -1, -1, 2);
  step(&toy, 30, STORE, EVERY, 2, -1, -1);
  step(&toy, 49, ADD, EVERY, -1, -1, 2);
  finish(&toy);
  expect(&toy, "rf", ACE_OUTPUT, 20 * ROW);
  expect(&toy, "rf", ACE_OVERWRITTEN, 20 * ROW);
  expect(&toy, "rf", ACE_UNREAD, 49 * ROW);
  expect(&toy, "rf", ACE_EMPTY, 100 * 7 * ROW + 11 * ROW);
  assert_int_equal(ace_line_count(toy.ace), 1);
  assert_int_equal(ace_line(toy.ace, 0)->line, 100 + ADD); // which made the value
  assert_int_equal(ace_line(toy.ace, 0)->bits[structure(&toy, "rf")], 20 * ROW);
  close_toy(&toy);
}

// r0 -> and -> r1 -> add -> r2 -> mov -> r3, which nobody reads: mov is dead, the others transitively so.
static void test_dead_chain(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, MOVE, EVERY, -1, -1, 0); // r0 in 10
  step(&toy, 20, MASK, EVERY, 0, -1, 1); // r1 in 21
  step(&toy, 30, ADD, EVERY, 1, -1, 2);  // r2 in 31
  step(&toy, 40, COPY, EVERY, 2, -1, 3); // r3 in 41
  finish(&toy);
  expect(&toy, "rf", ACE_DEAD_LATER, 10 * ROW + 9 * ROW); // r0 until 20, r1 until 30
  expect(&toy, "rf", ACE_DEAD, 9 * ROW);                  // r2 until 40
  expect(&toy, "rf", ACE_DATA, 0);
  expect(&toy, "rf", ACE_UNREAD, (79 + 69 + 59 + 58) * ROW);
  close_toy(&toy);
}

// The same, but r2 is stored. Of r0 only eight bits are looked at, though add could have taken all.
static void test_masked(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, MOVE, EVERY, -1, -1, 0);
  step(&toy, 20, MASK, EVERY, 0, -1, 1);
  step(&toy, 30, ADD, EVERY, 1, -1, 2);
  step(&toy, 40, STORE, EVERY, 2, -1, -1);
  finish(&toy);
  expect(&toy, "rf", ACE_DATA, 10 * 32 * 8 + 9 * ROW);
  expect(&toy, "rf", ACE_MASKED, 10 * 32 * 24);
  expect(&toy, "rf", ACE_OUTPUT, 9 * ROW);
  expect(&toy, "rf", ACE_DEAD, 0);
  close_toy(&toy);
}

// Half of the lanes are stored; the other half is overwritten by the other half of the warp.
static void test_lanes(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, ADD, EVERY, -1, -1, 2);
  step(&toy, 30, STORE, 0xFFFF, 2, -1, -1);
  step(&toy, 49, ADD, 0xFFFF0000, -1, -1, 2);
  finish(&toy);
  expect(&toy, "rf", ACE_OUTPUT, 20 * 16 * LANE);
  expect(&toy, "rf", ACE_OVERWRITTEN, 40 * 16 * LANE);
  expect(&toy, "rf", ACE_UNREAD, (69 + 49) * 16 * LANE);
  close_toy(&toy);
}

// A result that still lies in its register when its instruction leaves the window: who made its operands cannot be called dead.
static void test_undecided(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, MOVE, EVERY, -1, -1, 0);
  step(&toy, 20, MASK, EVERY, 0, -1, 1);
  for (uint32_t i = 0; i < 100; i++) step(&toy, 30, ADD, EVERY, -1, -1, 2); // a window of 64
  finish(&toy);
  expect(&toy, "rf", ACE_UNDECIDED, 10 * 32 * 8);
  expect(&toy, "rf", ACE_DEAD, 0);
  assert_int_equal(ace_window(toy.ace), 64);
  close_toy(&toy);
}

// With a protection that looks at bits when they are read, nothing is dead or masked.
static void test_all_reads_count(void **state) {
  Toy toy;
  (void)state;
  open_with(&toy, &(AceOptions){.window = 64, .all_reads_count = true}, NULL, 0);
  step(&toy, 9, MOVE, EVERY, -1, -1, 0);
  step(&toy, 20, MASK, EVERY, 0, -1, 1);
  finish(&toy);
  expect(&toy, "rf", ACE_DATA, 10 * ROW);
  expect(&toy, "rf", ACE_MASKED, 0);
  close_toy(&toy);
}

// An address and a guard matter though their instruction does nothing of use.
static void test_roots(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  Who nobody = WHO_NOBODY;
  step(&toy, 9, ADD, EVERY, -1, -1, 4);
  Who load = issue(&toy, 20, LOAD_SHARED, EVERY);
  read_row(&toy, 20, &load, 4, EVERY);
  write_row(&toy, 25, &load, 3, EVERY);
  commit(&toy, 25, &load, EVERY);
  Who compare = issue(&toy, 30, COMPARE, 0xFF); // writes a part of p0: told as a read and a write
  cells(&toy, 31, false, &nobody, PRED, 0, 1);
  cells(&toy, 31, true, &compare, PRED, 0, 1);
  commit(&toy, 31, &compare, 0xFF);
  Who branch = who_is(BRANCH, toy.issues);
  cells(&toy, 41, false, &branch, PRED, 0, 1); // before it is told
  issue(&toy, 41, BRANCH, EVERY);
  finish(&toy);
  expect(&toy, "rf", ACE_ADDRESS, 10 * ROW);
  expect(&toy, "pred", ACE_CONTROL, 10 * 8 + 42 * 24); // lanes that were not written lie there from the beginning
  expect(&toy, "pred", ACE_UNREAD, 58 * 32);
  close_toy(&toy);
}

// A predicate that only chooses between dead values is dead; of what it is compared with 0, one bit counts.
static void test_predicates(void **state) {
  Toy toy;
  (void)state;
  for (uint32_t is_used = 0; is_used < 2; is_used++) {
    open_toy(&toy);
    step(&toy, 9, MOVE, EVERY, -1, -1, 0);
    Who compare = issue(&toy, 20, COMPARE, EVERY);
    read_row(&toy, 20, &compare, 0, EVERY);
    cells(&toy, 21, true, &compare, PRED, 0, 1);
    commit(&toy, 21, &compare, EVERY);
    Who select = who_is(SELECT, toy.issues);
    cells(&toy, 31, false, &select, PRED, 0, 1);
    select = issue(&toy, 31, SELECT, EVERY);
    write_row(&toy, 32, &select, 2, EVERY);
    commit(&toy, 32, &select, EVERY);
    if (is_used != 0) step(&toy, 40, STORE, EVERY, 2, -1, -1);
    finish(&toy);
    expect(&toy, "pred", ACE_DATA, is_used != 0 ? 10 * 32 : 0);
    expect(&toy, "pred", ACE_DEAD, is_used != 0 ? 0 : 10 * 32);
    expect(&toy, "rf", ACE_DATA, is_used != 0 ? 10 * 32 : 0);
    expect(&toy, "rf", ACE_MASKED, is_used != 0 ? 10 * 32 * 31 : 0);
    expect(&toy, "rf", ACE_DEAD_LATER, is_used != 0 ? 0 : 10 * ROW);
    close_toy(&toy);
  }
}

// Through shared memory: what is stored there is needed if a load of it is.
static void test_shared(void **state) {
  Toy toy;
  (void)state;
  for (uint32_t is_used = 0; is_used < 2; is_used++) {
    open_toy(&toy);
    step(&toy, 9, ADD, EVERY, -1, -1, 2);
    Who store = issue(&toy, 20, STORE_SHARED, EVERY);
    read_row(&toy, 20, &store, 2, EVERY);
    cells(&toy, 25, true, &store, SHARED, 0, EVERY);
    commit(&toy, 25, &store, EVERY);
    Who load = issue(&toy, 40, LOAD_SHARED, EVERY);
    cells(&toy, 40, false, &load, SHARED, 0, 0xF);
    write_row(&toy, 45, &load, 2, EVERY);
    commit(&toy, 45, &load, EVERY);
    if (is_used != 0) step(&toy, 60, STORE, EVERY, 2, -1, -1);
    finish(&toy);
    expect(&toy, "shared", ACE_DATA, is_used != 0 ? 15 * 4 * LANE : 0);
    expect(&toy, "shared", ACE_DEAD, is_used != 0 ? 0 : 15 * 4 * LANE);
    expect(&toy, "shared", ACE_UNREAD, 59 * 4 * LANE + 74 * 28 * LANE);
    expect(&toy, "rf", ACE_DATA, is_used != 0 ? 10 * ROW : 0); // all that the store took: which lane wrote which word is not kept
    expect(&toy, "rf", ACE_DEAD_LATER, is_used != 0 ? 0 : 10 * ROW);
    close_toy(&toy);
  }
}

// A unit of 32 lanes: a result that is stored, one that is dead, one of half a warp, one that is compared.
static void test_units(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  const struct {
    uint32_t mask, compared;
    bool is_stored;
  } cases[] = {{EVERY, 0, true}, {EVERY, 0, false}, {0xFFFF, 0, true}, {EVERY, EVERY, true}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    uint64_t cycle = 10 + 10 * i;
    Who who = issue(&toy, cycle, ADD, cases[i].mask);
    result(&toy, cycle + 1, &who, cases[i].mask, cases[i].compared);
    write_row(&toy, cycle + 1, &who, 2, cases[i].mask);
    commit(&toy, cycle + 1, &who, cases[i].mask);
    if (cases[i].is_stored) step(&toy, cycle + 5, STORE, cases[i].mask, 2, -1, -1);
  }
  finish(&toy);
  AceSums sums = ace_sums(toy.ace, structure(&toy, "unit.sp"));
  assert_int_equal(sums.lanes[ACE_DATA], (32 + 16) * ACE_PARTS);
  assert_int_equal(sums.lanes[ACE_DEAD], 32 * ACE_PARTS);
  assert_int_equal(sums.lanes[ACE_INACTIVE], 16 * ACE_PARTS);
  assert_int_equal(sums.lanes[ACE_COMPARED], 32 * ACE_PARTS);
  assert_int_equal(sums.lanes[ACE_EMPTY], 96 * 32 * ACE_PARTS);
  expect(&toy, "unit.sp", ACE_DATA, (32 + 16) * 32);
  close_toy(&toy);
}

// Places count while they are taken, cells from the last access to a read; of what is not told there is no number.
static void test_other_structures(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  Who nobody = WHO_NOBODY, load = who_is(LOAD_SHARED, 0);
  HoldEvent hold = {.who = &nobody, .region = QUEUE, .last = QUEUE, .row = 1};
  toy.machine.cycle = 10;
  hooks_take(&toy.chain, &toy.machine, &hold);
  toy.machine.cycle = 25;
  hooks_release(&toy.chain, &toy.machine, &hold);
  toy.machine.cycle = 90;
  hooks_take(&toy.chain, &toy.machine, &hold); // and never released
  cells(&toy, 5, true, &load, CACHE, 0, 0x3);
  cells(&toy, 20, false, &load, CACHE, 0, 0x1);
  cells(&toy, 50, true, &load, CACHE, 0, 0x3);
  cells(&toy, 60, false, &load, CACHE, 0, 0x4); // it was there before the launch
  finish(&toy);
  expect(&toy, "queue.entry", ACE_HELD, (15 + 9) * 8);
  expect(&toy, "cache", ACE_READ, (15 + 61) * LANE);
  expect(&toy, "cache", ACE_OVERWRITTEN, (30 + 45) * LANE);
  expect(&toy, "cache", ACE_UNREAD, (49 + 49 + 39) * LANE);
  assert_int_equal(ace_structure(toy.ace, structure(&toy, "secret"))->told, ACE_HELD_ALWAYS);
  expect(&toy, "secret", ACE_HELD, 100 * 32); // nothing is told of it
  close_toy(&toy);
}

// Logic looks at what lies in the buffer: what was written matters, whether it is read or not; what was read is gone.
static void test_looked_at(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  Who who = who_is(ADD, 0);
  cells(&toy, 9, true, &who, BUFFERED, 0, 0xF);
  cells(&toy, 19, false, &who, BUFFERED, 0, 0xF); // issued
  cells(&toy, 29, true, &who, BUFFERED, 0, 0xF);
  cells(&toy, 39, true, &who, BUFFERED, 0, 0x3); // thrown away
  finish(&toy);
  expect(&toy, "buffer", ACE_CONTROL, 10 * 4 * LANE);
  expect(&toy, "buffer", ACE_OVERWRITTEN, 10 * 4 * LANE);
  expect(&toy, "buffer", ACE_HELD, 10 * 2 * LANE + 60 * 2 * LANE + 70 * 2 * LANE);
  close_toy(&toy);
}

// Bit 0 decides something in 29 and is written in 39, bit 1 is written in 19, bit 2 is never told, bit 3 from 39 on.
static void test_decided(void **state) {
  Toy toy;
  (void)state;
  AceProbe probes[] = {{.site = {LOGIC, 0, 0, 0}, .cycle = 29}, {.site = {LOGIC, 0, 0, 0}, .cycle = 30}};
  open_with(&toy, &(AceOptions){.window = 64, .structures = "all"}, probes, COUNT_OF(probes));
  Who nobody = WHO_NOBODY;
  DecideEvent events[] = {{&nobody, LOGIC, 0, 0, 0, 0x2}, {&nobody, LOGIC, 0, 0, 0x1, 0}, {&nobody, LOGIC, 0, 0, 0, 0x1}};
  for (uint32_t i = 0; i < COUNT_OF(events); i++) {
    toy.machine.cycle = 19 + 10 * i;
    hooks_decide(&toy.chain, &toy.machine, &events[i]);
  }
  finish(&toy);
  expect(&toy, "logic", ACE_CONTROL, 30);
  expect(&toy, "logic", ACE_OVERWRITTEN, 20 + 10);
  expect(&toy, "logic", ACE_HELD, 100 + 40);
  expect(&toy, "logic", ACE_UNREAD, 80 + 60 + 60);
  assert_int_equal(probes[0].cause, ACE_CONTROL);
  assert_int_equal(probes[1].cause, ACE_OVERWRITTEN);
  close_toy(&toy);
  open_toy(&toy); // it is not named
  finish(&toy);
  expect(&toy, "logic", ACE_HELD, 100 * 4);
  close_toy(&toy);
}

// What is said of a bit agrees with the sums, at the first and last cycle of each stretch.
static void test_probes(void **state) {
  (void)state;
  static const struct {
    uint64_t cycle;
    uint32_t unit, bit;
    AceCause cause;
  } cases[] = {{9, 0, 0, ACE_EMPTY},   {10, 0, 0, ACE_EMPTY}, // struck before the write of its cycle
               {11, 0, 0, ACE_DATA},   {20, 0, 0, ACE_DATA},   {20, 0, 8, ACE_MASKED}, {11, 31, 31, ACE_MASKED},
               {21, 0, 0, ACE_UNREAD}, {99, 5, 0, ACE_UNREAD}, {0, 0, 0, ACE_EMPTY}};
  AceProbe probes[COUNT_OF(cases)];
  for (uint32_t i = 0; i < COUNT_OF(cases); i++)
    probes[i] = (AceProbe){.site = {.region = RF, .row = 0, .unit = cases[i].unit, .bit = cases[i].bit}, .cycle = cases[i].cycle, .id = i};
  Toy toy;
  open_with(&toy, &(AceOptions){.window = 64, .structures = "rf"}, probes, COUNT_OF(cases));
  step(&toy, 9, MOVE, EVERY, -1, -1, 0);
  step(&toy, 20, MASK, EVERY, 0, -1, 2);
  step(&toy, 30, STORE, EVERY, 2, -1, -1);
  finish(&toy);
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    uint64_t id = probes[i].id;
    assert_true(probes[i].is_known);
    if (probes[i].cause != cases[id].cause)
      fail_msg("cycle %llu, bit %u: %s, not %s", (unsigned long long)cases[id].cycle, cases[id].bit, ace_causes[probes[i].cause].name,
               ace_causes[cases[id].cause].name);
  }
  assert_int_equal(ace_structure_count(toy.ace), 1);
  close_toy(&toy);
}

// Over time: all slices together are the sum.
static void test_slices_and_bytes(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, ADD, EVERY, -1, -1, 2);
  step(&toy, 90, STORE, EVERY, 2, -1, -1);
  finish(&toy);
  uint32_t rf = structure(&toy, "rf");
  uint64_t each, bits[ACE_SLICES], all = 0;
  uint32_t count = ace_slices(toy.ace, rf, &each, bits);
  for (uint32_t i = 0; i < count; i++) all += bits[i];
  assert_int_equal(all, 80 * ROW);
  assert_int_equal(bits[1], each * ROW); // whole within it
  Text text = {0};
  ace_pack(toy.ace, &text);
  Ace *back = ace_unpack(text.at, text.length, NULL, 0);
  assert_non_null(back);
  AceSums there = ace_sums(toy.ace, rf), here = ace_sums(back, rf);
  assert_memory_equal(&there, &here, sizeof there);
  assert_string_equal(ace_structure(back, rf)->name, "rf");
  assert_int_equal(ace_cycles(back), 100);
  for (size_t length = 0; length < text.length; length += 7) assert_null(ace_unpack(text.at, length, NULL, 0)); // cut off
  ace_free(back);
  text_free(&text);
  close_toy(&toy);
}

static void test_unknown_structure(void **state) {
  (void)state;
  Ace *ace = ace_new(&(AceOptions){.structures = "rf,nothing"});
  Arena *arena = arena_new();
  HookChain chain = {.count = 0};
  Diags diags = {0};
  hook_chain_add(&chain, ace_hook(ace));
  HookLayout *layout = hook_layout_begin(arena, &table, &(HookShape){.sms = 1, .warps = 1});
  assert_false(hook_layout_attach(layout, &chain, &diags));
  assert_non_null(strstr(diags.items[0].text, "no structure 'nothing'"));
  diags_free(&diags);
  ace_free(ace);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lifetimes),
      cmocka_unit_test(test_dead_chain),
      cmocka_unit_test(test_masked),
      cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_undecided),
      cmocka_unit_test(test_all_reads_count),
      cmocka_unit_test(test_roots),
      cmocka_unit_test(test_predicates),
      cmocka_unit_test(test_shared),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_probes),
      cmocka_unit_test(test_other_structures),
      cmocka_unit_test(test_looked_at),
      cmocka_unit_test(test_decided),
      cmocka_unit_test(test_slices_and_bytes),
      cmocka_unit_test(test_unknown_structure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
