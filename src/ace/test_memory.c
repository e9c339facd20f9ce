// Global and local memory: which stores are dead. Events are made by hand.
#include "ace/test_toy.h"

enum { BUFFER = 0x20000000, LINE = 128 };

// Lanes touch consecutive words, or bytes at such places.
static void addresses(Toy *toy, uint64_t cycle, const Who *who, uint64_t from) {
  uint8_t threads[32];
  uint32_t rows[2 * 32] = {0};
  for (uint8_t i = 0; i < 32; i++) {
    threads[i] = i;
    rows[i] = (uint32_t)from + (who->pc == STORE_LOCAL ? 0 : 4u * i);
  }
  static const uint8_t owners[32];
  ResultEvent event = {.who = who,
                       .instr = &toy->code[who->pc],
                       .region = AGU,
                       .cycles = 1,
                       .mask = EVERY,
                       .owner_of = owners,
                       .thread = threads,
                       .owners = 1,
                       .copies = 1,
                       .is_last = true,
                       .rows = rows,
                       .row_count = 2};
  toy->machine.cycle = cycle;
  hooks_result(&toy->chain, &toy->machine, &event);
}

static void store(Toy *toy, uint64_t cycle, uint32_t pc, int from, uint64_t to) {
  Who who = issue(toy, cycle, pc, EVERY);
  read_row(toy, cycle, &who, (uint64_t)from, EVERY);
  addresses(toy, cycle, &who, to);
  commit(toy, cycle + 5, &who, EVERY);
}

static void load(Toy *toy, uint64_t cycle, uint32_t pc, uint64_t from) {
  Who who = issue(toy, cycle, pc, EVERY);
  addresses(toy, cycle, &who, from);
  write_row(toy, cycle + 5, &who, 3, EVERY);
  commit(toy, cycle + 5, &who, EVERY);
}

static void host(Toy *toy, HostAccess access, uint64_t from, uint64_t bytes) {
  Who nobody = WHO_NOBODY;
  HookMachine none = {.cycle = 0};
  hooks_host(&toy->chain, &none, &(HostEvent){&nobody, access, from, bytes});
}

static void next_launch(Toy *toy) {
  Who who = WHO_NOBODY;
  toy->machine.cycle = END;
  hooks_finish(&toy->chain, &toy->machine);
  toy->machine.cycle = END + 1;
  hooks_launch(&toy->chain, &toy->machine, &(LaunchEvent){.who = &who, .kernel = "kernel"});
  toy->machine.cycle = 2 * END + 1;
  hooks_finish(&toy->chain, &toy->machine);
  toy->machine.cycle = END;
}

// r2 is written in 10 and stored in 20: what happens to it then decides whether it matters. The launch ends before the host does anything.
typedef void Then(Toy *toy);
static void nothing(Toy *toy) { (void)toy; }
static void host_reads_some(Toy *toy) { host(toy, HOST_READS, BUFFER + LINE - 1, 1); }
static void host_reads_beside(Toy *toy) { host(toy, HOST_READS, BUFFER + LINE, 1 << 20); }
static void host_reads_all(Toy *toy) { host(toy, HOST_READS, 0, UINT64_MAX); }
static void host_overwrites(Toy *toy) {
  host(toy, HOST_WRITES, BUFFER, LINE);
  host_reads_some(toy);
}
static void host_overwrites_most(Toy *toy) {
  host(toy, HOST_WRITES, BUFFER, LINE - 1); // a byte of a word stays
  host_reads_some(toy);
}
static void loaded_for_nothing(Toy *toy) { load(toy, 40, LOAD, BUFFER); }
static void loaded_and_used(Toy *toy) {
  load(toy, 50, LOAD, BUFFER + LINE - 4); // one lane of its words
  step(toy, 60, STORE, EVERY, 3, -1, -1); // where to is not told
}
static void overwritten(Toy *toy) { store(toy, 40, STORE, 6, BUFFER); }
static void overwritten_in_part(Toy *toy) { store(toy, 40, STORE, 6, BUFFER + 4); }
static void overwritten_by_bytes(Toy *toy) { store(toy, 40, STORE_BYTE, 5, BUFFER); }
static void overwritten_then_used(Toy *toy) {
  overwritten(toy);
  loaded_and_used(toy);
}
static void added_to(Toy *toy) { load(toy, 40, ATOMIC, BUFFER); }
static void loaded_by_somebody(Toy *toy) {
  Who who = who_is(LOAD, 77); // that was not told
  addresses(toy, 40, &who, BUFFER + 64 * LINE);
}
static void loaded_past_its_end(Toy *toy) { // by a load that leaves the window before its data has come
  Who who = issue(toy, 30, LOAD, EVERY);
  addresses(toy, 30, &who, BUFFER + 64 * LINE);
  for (uint32_t i = 0; i < 70; i++) step(toy, 40, ADD, EVERY, -1, -1, 6);
}

static void test_memory(void **state) {
  (void)state;
  const struct {
    Then *then, *host;
    bool matters, is_read;
  } cases[] = {
      {nothing, nothing, false, false},
      {nothing, host_reads_some, true, false},
      {nothing, host_reads_beside, false, false},
      {nothing, host_reads_all, true, false},
      {nothing, host_overwrites, false, false},
      {nothing, host_overwrites_most, true, false},
      {loaded_for_nothing, nothing, false, true},
      {loaded_and_used, nothing, true, true},
      {overwritten, host_reads_all, false, false},
      {overwritten_in_part, host_reads_all, true, false}, // all that it stored, or nothing
      {overwritten_by_bytes, host_reads_all, true, false},
      {overwritten_then_used, nothing, false, false},
      {added_to, nothing, true, true},
      {loaded_by_somebody, nothing, true, false},
  };
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Toy toy;
    open_toy(&toy);
    step(&toy, 9, ADD, EVERY, -1, -1, 2);
    store(&toy, 20, STORE, 2, BUFFER);
    cases[i].then(&toy);
    toy.machine.cycle = END;
    hooks_finish(&toy.chain, &toy.machine);
    cases[i].host(&toy);
    ace_end(toy.ace, false);
    AceSums sums = ace_sums(toy.ace, structure(&toy, "rf"));
    AceCause dead = cases[i].is_read ? ACE_DEAD_LATER : ACE_DEAD;
    if (sums.bits[ACE_OUTPUT] < (cases[i].matters ? 10 * ROW : 0) || sums.bits[dead] != (cases[i].matters ? 0 : 10 * ROW))
      fail_msg("case %u: %llu bit-cycles output, %llu dead", i, (unsigned long long)sums.bits[ACE_OUTPUT],
               (unsigned long long)sums.bits[dead]);
    close_toy(&toy);
  }
}

static void test_window_of_memory(void **state) {
  Toy toy;
  (void)state;
  open_toy(&toy);
  step(&toy, 9, ADD, EVERY, -1, -1, 2);
  store(&toy, 20, STORE, 2, BUFFER);
  loaded_past_its_end(&toy);
  finish(&toy);
  expect(&toy, "rf", ACE_UNDECIDED, 10 * ROW); // its window has ended before the host could read it
  close_toy(&toy);
}

// A load that is under way when a store comes may get the old value or the new one.
static void test_under_way(void **state) {
  Toy toy;
  (void)state;
  for (uint32_t is_late = 0; is_late < 2; is_late++) {
    open_toy(&toy);
    Who who = issue(&toy, 5, LOAD, EVERY);
    addresses(&toy, 5, &who, BUFFER);
    if (is_late != 0) commit(&toy, 8, &who, EVERY);
    step(&toy, 9, ADD, EVERY, -1, -1, 2);
    store(&toy, 20, STORE, 2, BUFFER);
    overwritten(&toy);
    write_row(&toy, 50, &who, 3, EVERY);
    if (is_late == 0) commit(&toy, 50, &who, EVERY);
    step(&toy, 60, STORE, EVERY, 3, -1, -1);
    toy.machine.cycle = END;
    hooks_finish(&toy.chain, &toy.machine);
    ace_end(toy.ace, false);
    expect(&toy, "rf", ACE_DEAD, is_late != 0 ? 10 * ROW : 0);
    close_toy(&toy);
  }
}

// From one launch to the next, and the sums of each.
static void test_launches(void **state) {
  Toy toy;
  (void)state;
  for (uint32_t is_read = 0; is_read < 2; is_read++) {
    open_toy(&toy);
    step(&toy, 9, ADD, EVERY, -1, -1, 2);
    store(&toy, 20, STORE, 2, BUFFER);
    next_launch(&toy);
    if (is_read != 0) host_reads_some(&toy);
    ace_end(toy.ace, false);
    assert_int_equal(ace_launch_count(toy.ace), 2);
    uint32_t rf = structure(&toy, "rf");
    assert_int_equal(ace_launch(toy.ace, 0)->bits[rf], is_read != 0 ? 10 * ROW : 0);
    assert_int_equal(ace_launch(toy.ace, 0)->cycles, END + 1);
    assert_int_equal(ace_launch(toy.ace, 1)->bits[rf], 0);
    assert_int_equal(ace_line_count(toy.ace), 1 + is_read); // the store has addresses
    close_toy(&toy);
  }
}

// Local memory ends with its launch; a later store to the same word ends it at once. What a launch reads in other ways is needed.
static void test_other_memory(void **state) {
  Toy toy;
  (void)state;
  for (uint32_t way = 0; way < 4; way++) {
    open_toy(&toy);
    if (way == 1) toy.code[TEXTURE] = make("tex.x1");
    if (way == 2) host(&toy, HOST_SHOWS, BUFFER + 4, 4);
    next_launch(&toy);
    Who who = WHO_NOBODY;
    toy.machine.cycle = 2 * END + 2;
    if (way == 2) host(&toy, HOST_SHOWS, BUFFER + 4, 4);
    hooks_launch(&toy.chain, &toy.machine, &(LaunchEvent){.who = &who, .kernel = "kernel"});
    uint64_t from = 2 * END + 2;
    step(&toy, from + 9, ADD, EVERY, -1, -1, 2);
    if (way == 3) store(&toy, from + 20, STORE_LOCAL, 2, 16);
    else store(&toy, from + 20, STORE, 2, BUFFER);
    toy.machine.cycle = from + END;
    hooks_finish(&toy.chain, &toy.machine);
    if (way == 3) host_reads_all(&toy);
    ace_end(toy.ace, false);
    AceSums sums = ace_sums(toy.ace, structure(&toy, "rf"));
    assert_int_equal(sums.bits[ACE_OUTPUT], way == 1 || way == 2 ? 10 * ROW : 0);
    assert_int_equal(sums.bits[ACE_DEAD], way == 1 || way == 2 ? 0 : 10 * ROW);
    close_toy(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory),   cmocka_unit_test(test_window_of_memory), cmocka_unit_test(test_under_way),
      cmocka_unit_test(test_launches), cmocka_unit_test(test_other_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
