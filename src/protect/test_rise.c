// RISE, rule by rule, each at N-1 and N: Eq. 1, timers, samples, counters and who sets them, which blocks are redundant, whom idle lanes are lent to,
// and what becomes of shadows.
#include "protect/rise.h"
#include "protect/test_toy.h"

enum { CONTROLLERS = 2, ENTRIES = 4, SMS = 4, WARPS = 8, SLOTS = 4, PC = 40 };

static const Region queue_region = {.name = "dramq.data",
                                    .title = "DRAM queue",
                                    .unit = "word",
                                    .meaning = "data",
                                    .dims = {{"controller", CONTROLLERS}, {"slot", ENTRIES}},
                                    .dim_count = 2,
                                    .flags = REGION_INJECTABLE,
                                    .rows = CONTROLLERS * ENTRIES,
                                    .units = 32,
                                    .bits = 32,
                                    .row_bytes = 128,
                                    .unit_bytes = 4};
static const RegionTable machine_regions = {&queue_region, 1, 1024};
static const RegionTable no_regions = {NULL, 0, 0};
static const HookShape shape = {.sms = SMS, .warps = WARPS, .block_slots = SLOTS};

static WarpView views[WARPS]; // what look_at shows; pc 0: no such warp
static uint8_t homes[WARPS][WARP_LANES];

static bool look_at(const HookMachine *machine, uint32_t sm, uint32_t warp, WarpView *view) {
  (void)machine, (void)sm;
  *view = views[warp];
  view->home = homes[warp];
  return views[warp].pc != 0;
}

static Spec spec;
static Toy toy;

static void open_rise(const char *protection) {
  memset(views, 0, sizeof views);
  for (uint32_t i = 0; i < WARPS * WARP_LANES; i++) homes[i / WARP_LANES][i % WARP_LANES] = (uint8_t)(i % WARP_LANES);
  assert_true(toy_open(&toy, &machine_regions, &shape, protection));
  spec = (Spec){.l2_slices = 1, .sm_threads = 1024, .sm_registers = 16384, .sm_shared = 16384};
  toy.machine.spec = &spec;
  toy.machine.warp_rows = 8;
  toy.machine.look_at = look_at;
}
static void close_rise(void) { toy_close(&toy); }

static uint64_t cell(const char *name, uint64_t row) {
  uint16_t region = region_find(&toy.table, name);
  assert_int_not_equal(region, REGION_NONE);
  return unit_get(&toy.table.items[region], toy_row(&toy, region, row));
}

static void launch(uint32_t blocks, uint32_t threads) {
  Who who = {.launch = 1};
  LaunchEvent event = {.who = &who, .kernel = "k", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
  assert_int_equal(hooks_launch(&toy.chain, &toy.machine, &event), VERDICT_PASS);
}

static void block(uint32_t sm, uint32_t slot, bool done) {
  Who who = {.launch = 1, .sm = sm, .block_slot = slot, .block = 10 * sm + slot};
  BlockEvent event = {.who = &who, .done = done};
  assert_int_equal(hooks_block(&toy.chain, &toy.machine, &event), VERDICT_PASS);
}

static uint32_t serve(uint64_t entry, uint64_t waited) {
  Who who = {.launch = 1, .sm = 1, .client = CLIENT_LOAD};
  uint32_t word = 0;
  MemoryEvent event = {
      .who = &who, .moment = MEMORY_SERVICE, .waiters = &who, .waiter_count = 1, .waited = waited, .entry = entry, .word = &word};
  assert_int_equal(hooks_service(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  return word;
}

static void respond(Client client, uint32_t sm, uint32_t slot, uint32_t cycles, uint64_t waited) {
  Who who = {.launch = 1, .sm = sm, .block_slot = slot, .warp = slot * 2, .client = client};
  uint32_t word = cycles;
  MemoryEvent event = {.who = &who, .moment = MEMORY_RESPONSE, .waiters = &who, .waiter_count = 1, .waited = waited, .word = &word};
  assert_int_equal(hooks_response(&toy.chain, &toy.machine, &event), VERDICT_PASS);
}

static Op find_op(const char *text) {
  for (uint32_t i = 0; i < OP_COUNT; i++) {
    if (strcmp(op_info[i].text, text) == 0) return (Op)i;
  }
  fail_msg("no row %s", text);
  return (Op)0;
}

// An instruction of warp `warp` goes through plan and place, with all its copies; returns how often it issued.
static uint64_t issues;
static uint32_t issue(uint32_t sm, uint32_t slot, uint32_t warp, const char *op) {
  Instr instr = instr_rest(find_op(op));
  Who who = {.launch = 1, .sm = sm, .block_slot = slot, .warp = warp, .pc = PC, .issue = ++issues};
  LanePart part = {.filled = UINT32_MAX};
  PlanEvent plan = {.who = &who, .instr = &instr, .unit = op_info[instr.op].unit, .copies = 1, .next = PART_ANY, .part = &part};
  assert_int_equal(hooks_plan(&toy.chain, &toy.machine, &plan), VERDICT_PASS);
  for (uint8_t copy = 0; copy < plan.copies; copy++) {
    PlaceEvent place = {.who = &who, .instr = &instr, .unit = plan.unit, .copy = copy, .lanes = 32, .part = &part};
    assert_int_equal(hooks_place(&toy.chain, &toy.machine, &place), VERDICT_PASS);
  }
  return plan.copies;
}

// ---- RP-FRISE --------------------------------------------------------------------------------------------

static void test_equation_1(void **state) {
  (void)state;
  RiseOptions options = {.threshold = 64, .reference = 128, .scales = true};
  assert_int_equal(rise_cycles(&options, 0, 500), 0);
  assert_int_equal(rise_cycles(&options, 64, 500), 0); // T_p <= T_thr_pend
  assert_int_equal(rise_cycles(&options, 65, 500), 65);
  assert_int_equal(rise_cycles(&options, 100, 128), 100); // T_acc_lat >= T_ref_lat
  assert_int_equal(rise_cycles(&options, 100, 127), 100); // 99.2, rounded up
  assert_int_equal(rise_cycles(&options, 128, 127), 127);
  assert_int_equal(rise_cycles(&options, 128, 1), 1);
  assert_int_equal(rise_cycles(&options, 129, 1), 2); // just above 1
  assert_int_equal(rise_cycles(&options, 1023, 0), 0);
  options.scales = false;
  assert_int_equal(rise_cycles(&options, 100, 1), 100);
  options.fixed = 7;
  assert_int_equal(rise_cycles(&options, 64, 1), 0);
  assert_int_equal(rise_cycles(&options, 65, 500), 7);
}

static void test_timers_saturate(void **state) {
  (void)state;
  static const uint64_t cases[][2] = {{1022, 1022}, {1023, 1023}, {1024, 1023}, {5000, 1023}, {64, 0}, {65, 65}};
  open_rise("rise:rp,threshold=64,scale=off");
  for (size_t i = 0; i < COUNT_OF(cases); i++) assert_int_equal(serve(3, cases[i][0]), cases[i][1]);
  close_rise();
}

static void test_timers_are_struck_and_set_to_zero(void **state) {
  (void)state;
  open_rise("rise:rp,threshold=0,scale=off");
  Site site = {.region = region_find(&toy.table, "rise.timer"), .row = 6, .bit = 9};
  assert_int_equal(toy.table.items[site.region].rows, CONTROLLERS * ENTRIES);
  assert_int_equal(toy.table.items[site.region].bits, 10);
  toy_flip(&toy, &site);
  assert_int_equal(serve(5, 100), 100);
  assert_int_equal(serve(6, 100), 612);
  HoldEvent take = {.region = 0, .last = 0, .row = 6}; // a request enters the entry
  assert_int_equal(hooks_take(&toy.chain, &toy.machine, &take), VERDICT_PASS);
  assert_int_equal(serve(6, 100), 100);
  close_rise();
}

// The sample of a period counts from its end on.
static void test_samples(void **state) {
  (void)state;
  open_rise("rise:rp,threshold=0,period=100");
  launch(8, 64);
  toy.machine.cycle = 10;
  respond(CLIENT_LOAD, 0, 0, 0, 50);
  toy.machine.cycle = 99;
  respond(CLIENT_LOAD, 0, 0, 0, 14); // mean 32 = a quarter of the reference
  assert_int_equal(serve(0, 400), 0);
  toy.machine.cycle = 100;
  assert_int_equal(serve(0, 400), 100);
  respond(CLIENT_INSTRUCTION, 0, 0, 0, 9999); // no data
  respond(CLIENT_STORE, 0, 0, 0, 9999);
  toy.machine.cycle = 250; // a period without an access leaves it
  assert_int_equal(serve(0, 400), 100);
  respond(CLIENT_TEXTURE, 0, 0, 0, 128);
  toy.machine.cycle = 300;
  assert_int_equal(serve(0, 400), 400);
  close_rise();
  open_rise("rise:rp,threshold=0,period=100,latency=last");
  respond(CLIENT_LOAD, 0, 0, 0, 999);
  respond(CLIENT_LOAD, 0, 0, 0, 64);
  toy.machine.cycle = 100;
  assert_int_equal(serve(0, 400), 200);
  close_rise();
}

// A counter is set by the first response that finds it at zero, for all warps, and gives exactly so many redundant issues.
static void test_counters(void **state) {
  (void)state;
  open_rise("rise:rp");
  launch(8, 33); // two warps
  block(1, 2, false);
  assert_int_equal(issue(1, 2, 4, "add.b32"), 1);
  respond(CLIENT_INSTRUCTION, 1, 2, 9, 50);
  respond(CLIENT_STORE, 1, 2, 9, 50);
  respond(CLIENT_LOAD, 1, 2, 0, 50);
  assert_int_equal(issue(1, 2, 4, "add.b32"), 1);
  respond(CLIENT_LOAD, 1, 2, 3, 50);
  assert_int_equal(cell("rise.counter", SLOTS + 2), 6);
  respond(CLIENT_CONSTANT, 1, 2, 500, 50); // while it runs
  assert_int_equal(cell("rise.counter", SLOTS + 2), 6);
  assert_int_equal(issue(1, 1, 2, "add.b32"), 1); // another block
  assert_int_equal(issue(1, 2, 4, "bra"), 1);     // nothing to compare
  for (uint32_t i = 0; i < 6; i++) assert_int_equal(issue(1, 2, 4 + i % 2, i % 3 == 0 ? "ld.global.b32" : "add.b32"), 2);
  assert_int_equal(issue(1, 2, 4, "add.b32"), 1);
  respond(CLIENT_ATOMIC, 1, 2, 1, 50);
  assert_int_equal(cell("rise.counter", SLOTS + 2), 2);
  block(1, 2, true);
  assert_int_equal(cell("rise.counter", SLOTS + 2), 0);
  close_rise();
}

static void test_the_largest_counter(void **state) {
  (void)state;
  open_rise("rise:rp");
  launch(8, 1024);
  respond(CLIENT_LOAD, 0, 0, 1023, 50);
  assert_int_equal(cell("rise.counter", 0), 1023 * 32);
  close_rise();
}

static void test_counters_of_warps(void **state) {
  (void)state;
  open_rise("rise:rp,by=warp");
  launch(8, 64);
  respond(CLIENT_LOAD, 1, 2, 1, 50); // for warp 4
  assert_int_equal(issue(1, 2, 5, "add.b32"), 1);
  assert_int_equal(issue(1, 2, 4, "add.b32"), 2);
  assert_int_equal(issue(1, 2, 4, "add.b32"), 1);
  close_rise();
}

// ---- IS-FRISE --------------------------------------------------------------------------------------------

static uint32_t picked(void) {
  uint32_t count = 0;
  for (uint32_t sm = 0; sm < SMS; sm++) count += cell("rise.pick", sm) != 0;
  return count;
}

static void test_remainders(void **state) {
  (void)state;
  static const uint32_t cases[][2] = {{3, 0}, {4, 0}, {5, 3}, {6, 2}, {7, 1}, {8, 0}, {41, 3}}; // blocks on 4 SMs; SMs that run fewer
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    for (uint32_t order = 0; order < 2; order++) {
      open_rise(order == 0 ? "rise:is" : "rise:is,choose=order");
      launch(cases[i][0], 64);
      assert_int_equal(picked(), cases[i][1]);
      if (order == 1) assert_int_equal(cell("rise.pick", 0), 0); // the first gets the remaining block
      close_rise();
    }
  }
}

// One of the blocks that the SM holds at one time, from its beginning to its end and no further.
static void test_a_redundant_block(void **state) {
  (void)state;
  open_rise("rise:full,choose=order");
  launch(4 * 8 + 1, 64);
  uint64_t before = cell("rise.pick", 3) - 1;
  assert_true(before < SLOTS);
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    block(3, slot, false);
    assert_int_equal(issue(3, slot, 2 * slot, "add.b32"), slot == before ? 2 : 1);
  }
  uint32_t slot = (uint32_t)before;
  respond(CLIENT_LOAD, 3, slot, 100, 50); // RP-FRISE is ignored
  for (uint32_t i = 0; i < 20; i++) assert_int_equal(issue(3, slot, 2 * slot, "add.b32"), 2);
  assert_int_equal(cell("rise.counter", 3 * SLOTS + slot), 1);
  block(3, slot, true);
  block(3, slot, false);
  assert_int_equal(issue(3, slot, 2 * slot, "add.b32"), 1);
  respond(CLIENT_LOAD, 3, slot, 100, 50);
  assert_int_equal(cell("rise.counter", 3 * SLOTS + slot), 200);
  close_rise();
}

static void test_following_loads(void **state) {
  (void)state;
  open_rise("rise:is,idle=follow");
  launch(100, 64);
  for (uint32_t i = 0; i < 3; i++) {
    block(0, i, false); // 1, 2, 3
    assert_int_equal(issue(0, i, 2 * i, "add.b32"), 1);
  }
  block(1, 0, false); // twice: 2
  assert_int_equal(issue(1, 0, 0, "add.b32"), 2);
  block(1, 1, false); // 3, and not 4
  assert_int_equal(issue(1, 1, 2, "add.b32"), 1);
  close_rise();
}

static Action acted[8];
static uint32_t acts;
static bool act(HookMachine *machine, const Action *action) {
  (void)machine;
  acted[acts++ % COUNT_OF(acted)] = *action;
  return true;
}

// An SM without a block takes the one that began last, once all have been sent out.
static void test_mirrors(void **state) {
  (void)state;
  open_rise("rise:is,idle=mirror");
  toy.machine.act = act;
  acts = 0;
  launch(3, 64);
  block(0, 0, false);
  block(1, 0, false);
  assert_int_equal(acts, 0);
  block(1, 1, false); // the last of them
  assert_int_equal(acts, 2);
  for (uint32_t i = 0; i < 2; i++) assert_true(acted[i].kind == ACTION_MIRROR && acted[i].sm == 2 + i && acted[i].block == 11);
  block(1, 1, true); // SM 1 has another
  assert_int_equal(acts, 2);
  block(0, 0, true);
  assert_int_equal(acts, 3);
  assert_true(acted[2].sm == 0 && acted[2].block == 10);
  block(1, 0, true); // nothing is left to be mirrored
  assert_int_equal(acts, 3);
  assert_int_equal(issue(1, 0, 0, "add.b32"), 1);
  close_rise();
}

// ---- Partial-RISE ------------------------------------------------------------------------------------------

typedef struct Planned {
  LanePart part;
  uint8_t copies, next;
} Planned;

static Planned plan(uint32_t warp, uint32_t filled, const char *op) {
  Instr instr = instr_rest(find_op(op));
  Who who = {.launch = 1, .sm = 1, .block_slot = warp / 2, .warp = warp, .pc = PC, .issue = 100 + warp};
  Planned planned = {.part = {.filled = filled}};
  memset(planned.part.warp, (int)warp, sizeof planned.part.warp);
  for (uint32_t i = 0; i < WARP_LANES; i++) planned.part.thread[i] = (uint8_t)i;
  PlanEvent event = {.who = &who, .instr = &instr, .unit = op_info[instr.op].unit, .copies = 1, .next = PART_ANY, .part = &planned.part};
  assert_int_equal(hooks_plan(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  planned.copies = event.copies, planned.next = event.next;
  return planned;
}

static void show(uint32_t warp, uint32_t pc, uint32_t threads, bool is_ready) {
  views[warp] = (WarpView){.is_ready = is_ready, .pc = pc, .threads = threads, .issue = 100 + warp, .block_slot = warp / 2};
}

static void test_whom_lanes_are_lent_to(void **state) {
  (void)state;
  open_rise("rise");
  launch(8, 64);
  show(2, PC, 0xFF, false);    // not ready
  show(3, PC + 1, 0xFF, true); // elsewhere
  show(4, PC, 0x0F, true);     // the same lanes
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY);
  show(5, PC, 0xFF, true);
  assert_int_equal(plan(1, UINT32_MAX, "add.b32").next, PART_ANY); // no lane is idle
  assert_int_equal(plan(1, 0x0F, "ld.global.b32").next, PART_ANY);
  assert_int_equal(plan(1, 0x0F, "bra").next, PART_ANY);
  Planned planned = plan(1, 0x0F, "add.b32");
  assert_int_equal(planned.next, 5);
  assert_int_equal(planned.copies, 1);
  assert_int_equal(planned.part.filled, 0xFF);
  assert_int_equal(planned.part.shadow, 0xF0);
  assert_int_equal(planned.part.warp[6], 5);
  assert_int_equal(planned.part.thread[6], 6);
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY); // it is helped already
  for (uint32_t i = 0; i < 4; i++) homes[4][i] = (uint8_t)(16 + i);
  planned = plan(1, 0x0F, "add.b32"); // shuffled
  assert_int_equal(planned.next, 4);
  assert_int_equal(planned.part.shadow, 0xF0000);
  assert_int_equal(planned.part.thread[17], 1);
  assert_int_equal(toy.tally[TALLY_RISE_HELPED], 2);
  close_rise();
}

// 3.3: warps in redundancy mode neither help nor are helped.
static void test_redundancy_mode_goes_first(void **state) {
  (void)state;
  open_rise("rise");
  launch(8, 64);
  show(4, PC, 0xF0, true);
  respond(CLIENT_LOAD, 1, 2, 1, 50); // the block of warp 4
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY);
  assert_int_equal(issue(1, 2, 4, "add.b32") + issue(1, 2, 4, "add.b32"), 4);
  respond(CLIENT_LOAD, 1, 0, 1, 50); // the block of warp 1
  Planned planned = plan(1, 0x0F, "add.b32");
  assert_int_equal(planned.copies, 2);
  assert_int_equal(planned.next, PART_ANY);
  assert_int_equal(issue(1, 0, 0, "add.b32") + issue(1, 0, 0, "add.b32"), 4);
  assert_int_equal(plan(1, 0x0F, "add.b32").next, 4);
  close_rise();
}

static void test_looking_alone(void **state) {
  (void)state;
  open_rise("rise:partial,help=off");
  launch(8, 64);
  show(3, PC, 0x0F, true);
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY);
  show(4, PC, 0x1F, true);
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY);
  show(5, PC, 0xF0, true);
  assert_int_equal(plan(1, 0x0F, "add.b32").next, PART_ANY);
  assert_int_equal(toy.tally[TALLY_RISE_DIVERGED], 3);
  assert_int_equal(toy.tally[TALLY_RISE_MATCHED], 3);
  assert_int_equal(toy.tally[TALLY_RISE_MATCHED_LANE], 2);
  assert_int_equal(toy.tally[TALLY_RISE_MATCHED_LANES], 1);
  assert_int_equal(toy.tally[TALLY_RISE_HELPED], 0);
  close_rise();
}

// 3.2.1: a block of less than a warp uses its idle lanes itself.
static void test_blocks_of_less_than_a_warp(void **state) {
  (void)state;
  for (uint32_t threads = 31; threads <= 32; threads++) {
    open_rise("rise:partial");
    launch(8, threads);
    Planned planned = plan(1, 0x00FFFFFF, "add.b32");
    assert_int_equal(planned.part.shadow, threads == 31 ? 0xFF000000 : 0);
    assert_int_equal(toy.tally[TALLY_RISE_DIVERGED], 1);
    if (threads == 31) {
      assert_int_equal(planned.part.thread[24], 0);
      assert_int_equal(planned.part.warp[24], 1);
      assert_int_equal(planned.part.thread[31], 7);
    }
    close_rise();
  }
}

static void test_homes(void **state) {
  (void)state;
  open_rise("rise:partial");
  uint8_t first[WARP_LANES], home[WARP_LANES];
  for (uint32_t round = 0; round < 3; round++) {
    Who who = {.launch = 1, .block = round == 1 ? 6 : 5};
    HomeEvent event = {.who = &who, .index = 0, .threads = UINT32_MAX, .home = home};
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++) home[i] = (uint8_t)i;
    assert_int_equal(hooks_home(&toy.chain, &toy.machine, &event), VERDICT_PASS);
    for (uint32_t i = 0; i < WARP_LANES; i++) lanes |= 1u << home[i];
    assert_int_equal(lanes, UINT32_MAX); // a permutation
    if (round == 0) memcpy(first, home, sizeof first);
    assert_int_equal(memcmp(first, home, sizeof first) == 0, round != 1); // the same for the same warp
  }
  close_rise();
}

// ---- Shadows -------------------------------------------------------------------------------------------------

typedef struct Computed {
  uint32_t rows[2][WARP_LANES];
  uint32_t compared;
} Computed;

static Computed computed(void) {
  Computed result = {.compared = 0};
  for (uint32_t i = 0; i < 2 * WARP_LANES; i++) result.rows[i / WARP_LANES][i % WARP_LANES] = 7 * i;
  return result;
}

// The results of a planned part.
static Verdict give(uint32_t warp, const Planned *planned, uint8_t copy, uint8_t copies, const Instr *instr, Computed *result) {
  Who who = {.launch = 1, .sm = 1, .block_slot = warp / 2, .warp = warp, .pc = PC, .issue = 100 + warp};
  PartOwner owner[2] = {{.issue = 100 + warp, .warp = warp, .block_slot = warp / 2}, {.issue = 0}};
  uint8_t owner_of[WARP_LANES] = {0};
  for (uint32_t i = 0; i < WARP_LANES; i++) {
    if ((planned->part.filled >> i & 1) == 0 || planned->part.warp[i] == warp) continue;
    owner_of[i] = 1;
    owner[1] = (PartOwner){.issue = 100u + planned->part.warp[i], .warp = planned->part.warp[i], .block_slot = planned->part.warp[i] / 2u};
  }
  ResultEvent event = {.who = &who,
                       .instr = instr,
                       .mask = planned->part.filled,
                       .shadow = planned->part.shadow,
                       .owner = owner,
                       .owner_of = owner_of,
                       .thread = planned->part.thread,
                       .owners = 2,
                       .copy = copy,
                       .copies = copies,
                       .is_last = true,
                       .rows = result->rows[0],
                       .row_count = 2};
  Verdict verdict = hooks_result(&toy.chain, &toy.machine, &event);
  result->compared = event.compared;
  return verdict;
}

static bool buffer_is_empty(void) {
  for (uint32_t i = 0; i < 32; i++) {
    if (cell("rise.tag", 32 + i) != 0) return false; // of SM 1
  }
  return true;
}

// Warp 1 computes threads 4 to 7 of warp 5 along.
static Planned help_warp_5(const char *protection, Instr *instr) {
  open_rise(protection);
  launch(8, 64);
  show(5, PC, 0xFF, true);
  *instr = instr_rest(find_op("add.b32"));
  instr->d[0] = 1, instr->a = 2, instr->b = 3;
  Planned host = plan(1, 0x0F, "add.b32");
  assert_int_equal(host.part.shadow, 0xF0);
  return host;
}

static Planned helped_part(void) {
  Planned helped = {.part = {.filled = 0xFF}};
  memset(helped.part.warp, 5, sizeof helped.part.warp);
  for (uint32_t i = 0; i < WARP_LANES; i++) helped.part.thread[i] = (uint8_t)i;
  return helped;
}

static void test_shadows_agree(void **state) {
  (void)state;
  Instr instr;
  Planned host = help_warp_5("rise:partial", &instr), helped = helped_part();
  Computed one = computed(), two = computed();
  assert_int_equal(give(1, &host, 0, 1, &instr, &one), VERDICT_PASS);
  assert_int_equal(one.compared, 0xF0);
  assert_int_equal(give(5, &helped, 0, 1, &instr, &two), VERDICT_PASS);
  assert_int_equal(two.compared, 0xF0);
  assert_int_equal(toy.tally[TALLY_REDUNDANCY_COMPARED], 4);
  assert_true(buffer_is_empty());
  close_rise();
}

// A wrong bit in shadow or thread: a third issue, and the right value. Threads without a shadow must be as they were.
static void test_shadows_differ(void **state) {
  (void)state;
  for (uint32_t wrong = 0; wrong < 3; wrong++) {
    Instr instr;
    Planned host = help_warp_5("rise:partial", &instr), helped = helped_part();
    Computed result[3] = {computed(), computed(), computed()}, good = computed();
    result[wrong == 0 ? 0 : 1].rows[1][6] ^= 16;
    if (wrong == 2) result[1].rows[0][0] ^= 1; // beside it, in a thread without a shadow
    assert_int_equal(give(1, &host, 0, 1, &instr, &result[0]), VERDICT_PASS);
    assert_int_equal(give(5, &helped, 0, 1, &instr, &result[1]), VERDICT_REPEAT);
    assert_int_equal(give(5, &helped, 1, 2, &instr, &result[2]), wrong == 2 ? VERDICT_HALT : VERDICT_FIXED);
    assert_int_equal(toy.repeated, 1);
    assert_int_equal(toy.corrected, wrong != 2);
    assert_int_equal(toy.detected, wrong == 2);
    if (wrong != 2) assert_memory_equal(result[2].rows, good.rows, sizeof good.rows);
    assert_true(buffer_is_empty());
    close_rise();
  }
}

static void test_shadows_that_come_too_late(void **state) {
  (void)state;
  Instr instr;
  Planned host = help_warp_5("rise:partial", &instr), helped = helped_part();
  Computed one = computed(), two = computed();
  one.rows[0][6] ^= 1;
  assert_int_equal(give(5, &helped, 0, 1, &instr, &two), VERDICT_PASS);
  assert_int_equal(two.compared, 0);
  assert_int_equal(give(1, &host, 0, 1, &instr, &one), VERDICT_PASS);
  assert_int_equal(toy.tally[TALLY_REDUNDANCY_UNUSED], 4);
  assert_true(buffer_is_empty());
  close_rise();
}

// Copies of the helped warp are compared among themselves.
static void test_shadows_of_a_warp_with_copies(void **state) {
  (void)state;
  Instr instr;
  Planned host = help_warp_5("rise", &instr), helped = helped_part();
  Computed result[3] = {computed(), computed(), computed()};
  assert_int_equal(give(1, &host, 0, 1, &instr, &result[0]), VERDICT_PASS);
  assert_int_equal(give(5, &helped, 0, 2, &instr, &result[1]), VERDICT_HOLD);
  assert_int_equal(give(5, &helped, 1, 2, &instr, &result[2]), VERDICT_PASS);
  assert_int_equal(toy.tally[TALLY_REDUNDANCY_UNUSED], 4);
  assert_true(buffer_is_empty());
  close_rise();
}

static void test_within_a_warp(void **state) {
  (void)state;
  for (uint32_t wrong = 0; wrong < 2; wrong++) {
    open_rise("rise:partial");
    launch(8, 16);
    Instr instr = instr_rest(find_op("add.b32"));
    Planned part = plan(1, 0x0F, "add.b32"), again = part;
    Computed first = computed(), third = computed(), good = computed();
    for (uint32_t i = 0; i < 4; i++) first.rows[0][4 + i] = first.rows[0][i], first.rows[1][4 + i] = first.rows[1][i];
    Computed agreed = first;
    assert_int_equal(part.part.shadow, 0xF0);
    assert_int_equal(give(1, &part, 0, 1, &instr, &agreed), VERDICT_PASS);
    assert_int_equal(agreed.compared, 0xFF);
    part = plan(1, 0x0F, "add.b32");
    first.rows[0][wrong == 0 ? 2 : 6] ^= 1u << 31;
    part_take_out(&again.part, again.part.shadow); // shadows are not repeated
    assert_int_equal(give(1, &part, 0, 1, &instr, &first), VERDICT_REPEAT);
    assert_int_equal(give(1, &again, 1, 2, &instr, &third), VERDICT_FIXED);
    assert_memory_equal(third.rows, good.rows, sizeof good.rows);
    assert_true(buffer_is_empty());
    close_rise();
  }
}

// Written first: what overwrites a source of its own cannot be computed again.
static void test_order_of_writing(void **state) {
  (void)state;
  for (uint32_t overwrites = 0; overwrites < 2; overwrites++) {
    Instr instr;
    Planned host = help_warp_5("rise:partial,order=write", &instr), helped = helped_part();
    Computed result[3] = {computed(), computed(), computed()};
    if (overwrites == 1) instr.b = instr.d[0];
    result[1].rows[0][6] ^= 1;
    assert_int_equal(give(1, &host, 0, 1, &instr, &result[0]), VERDICT_PASS);
    assert_int_equal(give(5, &helped, 0, 1, &instr, &result[1]), overwrites == 1 ? VERDICT_HALT : VERDICT_REPEAT);
    if (overwrites == 0) assert_int_equal(give(5, &helped, 1, 2, &instr, &result[2]), VERDICT_FIXED);
    close_rise();
  }
}

// The third issue comes through the front end: so many cycles later and not before.
static void test_refetching(void **state) {
  (void)state;
  Instr instr;
  Planned host = help_warp_5("rise:partial,refetch=4", &instr), helped = helped_part();
  Computed one = computed(), two = computed();
  Who who = {.launch = 1, .sm = 1, .block_slot = 2, .warp = 5, .pc = PC, .issue = 105};
  PlanEvent event = {.who = &who, .instr = &instr, .copy = 1, .copies = 2, .is_repeat = true, .part = &helped.part};
  two.rows[0][6] ^= 1;
  toy.machine.cycle = 70000; // beyond the cell's 16 bits
  assert_int_equal(give(1, &host, 0, 1, &instr, &one), VERDICT_PASS);
  assert_int_equal(give(5, &helped, 0, 1, &instr, &two), VERDICT_REPEAT);
  for (; toy.machine.cycle < 70006; toy.machine.cycle++) {
    assert_int_equal(hooks_plan(&toy.chain, &toy.machine, &event), toy.machine.cycle < 70004 ? VERDICT_STALL : VERDICT_PASS);
  }
  close_rise();
}

static void test_refusals(void **state) {
  (void)state;
  toy_refused(&machine_regions, &shape, "rise:partal", "did you mean 'partial'?");
  toy_refused(&machine_regions, &shape, "rise:rp,threshhold=4", "did you mean 'threshold'?");
  toy_refused(&machine_regions, &shape, "rise:threshold=1024", "threshold must be a whole number from 0 to 1023");
  toy_refused(&machine_regions, &shape, "rise:reference=100", "reference must be a power of two");
  toy_refused(&machine_regions, &shape, "rise:order=first", "order must be hold or write");
  toy_refused(&machine_regions, &shape, "rise:idle=late", "idle must be start, follow or mirror");
  toy_refused(&no_regions, &shape, "rise:rp", "input buffers at its memory controllers");
  Toy other;
  assert_true(toy_open(&other, &no_regions, &shape, "rise:is"));
  toy_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equation_1),
      cmocka_unit_test(test_timers_saturate),
      cmocka_unit_test(test_timers_are_struck_and_set_to_zero),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_counters),
      cmocka_unit_test(test_the_largest_counter),
      cmocka_unit_test(test_counters_of_warps),
      cmocka_unit_test(test_remainders),
      cmocka_unit_test(test_a_redundant_block),
      cmocka_unit_test(test_following_loads),
      cmocka_unit_test(test_mirrors),
      cmocka_unit_test(test_whom_lanes_are_lent_to),
      cmocka_unit_test(test_redundancy_mode_goes_first),
      cmocka_unit_test(test_looking_alone),
      cmocka_unit_test(test_blocks_of_less_than_a_warp),
      cmocka_unit_test(test_homes),
      cmocka_unit_test(test_shadows_agree),
      cmocka_unit_test(test_shadows_differ),
      cmocka_unit_test(test_shadows_that_come_too_late),
      cmocka_unit_test(test_shadows_of_a_warp_with_copies),
      cmocka_unit_test(test_within_a_warp),
      cmocka_unit_test(test_order_of_writing),
      cmocka_unit_test(test_refetching),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
