// A machine of one warp whose events are made by hand: every bit-cycle is counted on paper.
#include "ace/ace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 8, ALL = -1, END = 99 }; // registers; the last cycle: launches have 100
enum { RF, PRED, SHARED, QUEUE, CACHE, SECRET, SP, REGIONS };
#define EVERY UINT32_MAX

static const Region regions[REGIONS] = {
    [RF] = {.name = "rf",
            .role = REGION_ROLE_REGISTERS,
            .unit = "lane",
            .dims = {{"sm", 1}, {"reg", ROWS}},
            .dim_count = 2,
            .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
            .rows = ROWS,
            .units = 32,
            .bits = 32,
            .row_bytes = 128,
            .unit_bytes = 4},
    [PRED] = {.name = "pred",
              .role = REGION_ROLE_PREDICATES,
              .unit = "pred",
              .dims = {{"sm", 1}, {"warp", 1}},
              .dim_count = 2,
              .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
              .rows = 1,
              .units = 15,
              .bits = 32,
              .base = 1024,
              .row_bytes = 64,
              .unit_bytes = 4},
    [SHARED] = {.name = "shared",
                .role = REGION_ROLE_SHARED,
                .unit = "word",
                .dims = {{"sm", 1}, {"row", 1}},
                .dim_count = 2,
                .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
                .rows = 1,
                .units = 32,
                .bits = 32,
                .base = 1088,
                .row_bytes = 128,
                .unit_bytes = 4},
    [QUEUE] = {.name = "queue.entry",
               .unit = "entry",
               .dims = {{"place", 2}},
               .dim_count = 1,
               .flags = REGION_INJECTABLE | REGION_HASHED | REGION_PLACES,
               .rows = 2,
               .units = 1,
               .bits = 8,
               .base = 1216,
               .row_bytes = 4,
               .unit_bytes = 4},
    [CACHE] = {.name = "cache",
               .unit = "word",
               .dims = {{"line", 1}},
               .dim_count = 1,
               .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
               .rows = 1,
               .units = 4,
               .bits = 32,
               .base = 1280,
               .row_bytes = 16,
               .unit_bytes = 4},
    [SECRET] = {.name = "secret",
                .unit = "entry",
                .dims = {{"gpu", 1}},
                .dim_count = 1,
                .flags = REGION_INJECTABLE | REGION_HASHED,
                .rows = 1,
                .units = 1,
                .bits = 32,
                .base = 1344,
                .row_bytes = 4,
                .unit_bytes = 4},
    [SP] = {.name = "unit.sp",
            .unit = "lane",
            .dims = {{"sm", 1}},
            .dim_count = 1,
            .flags = REGION_INJECTABLE | REGION_OUTPUT,
            .rows = 1,
            .units = 32,
            .bits = 32},
};
static const RegionTable table = {regions, REGIONS, 2048};

// ---- The program ---------------------------------------------------------------------------------------
enum { MOVE, MASK, ADD, COPY, STORE, COMPARE, SELECT, STORE_SHARED, LOAD_SHARED, BRANCH, INSTRUCTIONS };

typedef struct Toy {
  Arena *arena;
  Ace *ace;
  HookChain chain;
  HookMachine machine;
  Program program;
  Instr code[INSTRUCTIONS];
  uint32_t lines[INSTRUCTIONS];
  uint64_t issues;
} Toy;

static Instr make(const char *text) {
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    if (strcmp(op_info[op].text, text) == 0) return instr_rest((Op)op);
  }
  fail_msg("no instruction %s", text);
  return instr_rest((Op)0);
}

static void write_program(Toy *toy) {
  Instr *code = toy->code;
  code[MOVE] = make("mov.b32"); // r0 = 5
  code[MOVE].select = SELECT_IMM_A, code[MOVE].imm = 5, code[MOVE].d[0] = 0;
  code[MASK] = make("and.b32"); // r1 = r0 & 0xFF
  code[MASK].d[0] = 1, code[MASK].a = 0, code[MASK].select = SELECT_IMM_B, code[MASK].imm = 0xFF;
  code[ADD] = make("add.b32"); // r2 = r1 + r0
  code[ADD].d[0] = 2, code[ADD].a = 1, code[ADD].b = 0;
  code[COPY] = make("mov.b32"); // r3 = r2
  code[COPY].d[0] = 3, code[COPY].a = 2;
  code[STORE] = make("st.global.b32"); // [r4] = r2
  code[STORE].a = 4, code[STORE].d[0] = 2;
  code[COMPARE] = make("setp.lt.s32"); // p0 = r0 < 0
  code[COMPARE].a = 0, code[COMPARE].select = SELECT_IMM_B, code[COMPARE].pd[0] = 0;
  code[SELECT] = make("selp.b32"); // r3 = p0 ? r0 : r1
  code[SELECT].d[0] = 3, code[SELECT].a = 0, code[SELECT].b = 1, code[SELECT].ps = 0;
  code[STORE_SHARED] = make("st.shared.b32"); // shared[r4] = r2
  code[STORE_SHARED].a = 4, code[STORE_SHARED].d[0] = 2;
  code[LOAD_SHARED] = make("ld.shared.b32"); // r3 = shared[r4]
  code[LOAD_SHARED].a = 4, code[LOAD_SHARED].d[0] = 3;
  code[BRANCH] = make("bra"); // @p0
  code[BRANCH].guard = 0;
  for (uint32_t i = 0; i < INSTRUCTIONS; i++) toy->lines[i] = 100 + i;
  toy->program = (Program){.decoded = code, .lines = toy->lines, .code_count = INSTRUCTIONS};
}

static void open_with(Toy *toy, const AceOptions *options, AceProbe *probes, uint32_t count) {
  *toy = (Toy){.arena = arena_new(), .ace = ace_new(options)};
  write_program(toy);
  Diags diags = {0};
  HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1};
  ace_ask(toy->ace, probes, count);
  hook_chain_add(&toy->chain, ace_hook(toy->ace));
  HookLayout *layout = hook_layout_begin(toy->arena, &table, &shape);
  assert_true(hook_layout_attach(layout, &toy->chain, &diags));
  toy->machine = (HookMachine){.regions = &table, .program = &toy->program, .warp_rows = ROWS};
  Who who = WHO_NOBODY;
  hooks_launch(&toy->chain, &toy->machine, &(LaunchEvent){.who = &who, .kernel = "kernel"});
}

static void open_toy(Toy *toy) { open_with(toy, &(AceOptions){.window = 64}, NULL, 0); }

static void finish(Toy *toy) {
  toy->machine.cycle = END;
  hooks_finish(&toy->chain, &toy->machine);
}

static void close_toy(Toy *toy) {
  ace_free(toy->ace);
  arena_free(toy->arena);
}

// ---- Events -------------------------------------------------------------------------------------------
static Who who_is(uint32_t pc, uint64_t issue) {
  Who who = WHO_NOBODY;
  who.sm = who.warp = who.block_slot = 0;
  who.pc = pc;
  who.issue = issue;
  return who;
}

static void cells(Toy *toy, uint64_t cycle, bool is_write, const Who *who, uint16_t region, uint64_t row, uint32_t units) {
  CellEvent event = {.who = who, .region = region, .units = units, .row = row};
  toy->machine.cycle = cycle;
  if (is_write) hooks_write(&toy->chain, &toy->machine, &event);
  else hooks_read(&toy->chain, &toy->machine, &event);
}

static void read_row(Toy *toy, uint64_t cycle, const Who *who, uint64_t row, uint32_t lanes) {
  cells(toy, cycle, false, who, RF, row, lanes);
}
static void write_row(Toy *toy, uint64_t cycle, const Who *who, uint64_t row, uint32_t lanes) {
  cells(toy, cycle, true, who, RF, row, lanes);
}

static Who issue(Toy *toy, uint64_t cycle, uint32_t pc, uint32_t mask) {
  Who who = who_is(pc, toy->issues++);
  toy->machine.cycle = cycle;
  hooks_issue(&toy->chain, &toy->machine,
              &(IssueEvent){.who = &who, .instr = &toy->code[pc], .unit = op_info[toy->code[pc].op].unit, .mask = mask});
  return who;
}

static void commit(Toy *toy, uint64_t cycle, const Who *who, uint32_t mask) {
  toy->machine.cycle = cycle;
  hooks_commit(&toy->chain, &toy->machine, &(CommitEvent){.who = who, .mask = mask, .instr = &toy->code[who->pc]});
}

// An instruction as a whole: reads in one cycle, writes in the next.
static void step(Toy *toy, uint64_t cycle, uint32_t pc, uint32_t mask, int a, int b, int d) {
  Who who = issue(toy, cycle, pc, mask);
  if (a >= 0) read_row(toy, cycle, &who, (uint64_t)a, mask);
  if (b >= 0) read_row(toy, cycle, &who, (uint64_t)b, mask);
  if (d >= 0) write_row(toy, cycle + 1, &who, (uint64_t)d, mask);
  commit(toy, cycle + 1, &who, mask);
}

static void result(Toy *toy, uint64_t cycle, const Who *who, uint32_t mask, uint32_t compared) {
  static const uint8_t owners[32];
  uint8_t threads[32];
  uint32_t rows[32] = {0};
  for (uint8_t i = 0; i < 32; i++) threads[i] = i;
  ResultEvent event = {.who = who,
                       .instr = &toy->code[who->pc],
                       .region = SP,
                       .row = 0,
                       .cycles = 1,
                       .mask = mask,
                       .owner_of = owners,
                       .thread = threads,
                       .owners = 1,
                       .copies = 1,
                       .is_last = true,
                       .compared = compared,
                       .rows = rows,
                       .row_count = 1};
  toy->machine.cycle = cycle;
  hooks_result(&toy->chain, &toy->machine, &event);
}

// ---- Sums ----------------------------------------------------------------------------------------------
static uint32_t structure(const Toy *toy, const char *name) {
  for (uint32_t i = 0; i < ace_structure_count(toy->ace); i++) {
    if (strcmp(ace_structure(toy->ace, i)->name, name) == 0) return i;
  }
  fail_msg("no structure %s", name);
  return 0;
}

static void expect(const Toy *toy, const char *name, AceCause cause, uint64_t bit_cycles) {
  uint32_t which = structure(toy, name);
  AceSums sums = ace_sums(toy->ace, which);
  uint64_t parts = ace_structure(toy->ace, which)->is_output ? ACE_PARTS : 1, all = 0;
  if (sums.bits[cause] != bit_cycles * parts)
    fail_msg("%s: %llu bit-cycles %s, not %llu", name, (unsigned long long)(sums.bits[cause] / parts), ace_causes[cause].name,
             (unsigned long long)bit_cycles);
  for (uint32_t k = 0; k < ACE_CAUSES; k++) all += sums.bits[k];
  assert_int_equal(all, parts * ace_structure(toy->ace, which)->bit_count * (END + 1)); // whatever there is, it adds up
}

enum { LANE = 32, ROW = 32 * 32 }; // bits

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
  assert_int_equal(ace_structure(toy.ace, structure(&toy, "secret"))->told, ACE_NOT_TOLD);
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
      cmocka_unit_test(test_slices_and_bytes),
      cmocka_unit_test(test_unknown_structure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
