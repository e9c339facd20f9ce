// The units of the faulty-SM scheme, one by one, on a machine that only notes what is asked of it.
#include "protect/hints.h"
#include "protect/test_toy.h"

#include <stdio.h>

enum { MOST_ACTIONS = 64, WARPS = 8, SLOTS = 4, QUEUE = 8, THRESHOLD = 10, PERIOD = 100 };

static Action asked[MOST_ACTIONS];
static uint32_t asked_count, asked_room;

static bool note_action(HookMachine *machine, const Action *action) {
  (void)machine;
  if (asked_count >= asked_room) return false;
  asked[asked_count++] = *action;
  return true;
}

typedef struct Bed {
  Toy toy;
  uint64_t tally[TALLY_COUNT];
  Program program;
  Hook *hook;
  const Hints *own;
} Bed;

// TPCs of `tpc_sms` SMs. A launch of blocks of two warps has begun.
static void open_bed(Bed *bed, uint32_t sms, uint32_t tpc_sms, const char *options) {
  HookShape shape = {.sms = sms, .warps = WARPS, .block_slots = SLOTS, .tpc_sms = tpc_sms};
  char text[200];
  snprintf(text, sizeof text, "hints:queue=8,threshold=10,period=100%s", options);
  *bed = (Bed){0};
  if (!toy_open(&bed->toy, &(RegionTable){NULL, 0, 0}, &shape, text)) fail_msg("%s", bed->toy.diags.items[0].text);
  bed->program.code_count = 1000;
  bed->toy.machine.tally = bed->tally;
  bed->toy.machine.act = note_action;
  bed->toy.machine.program = &bed->program;
  bed->toy.machine.warp_rows = 16;
  bed->hook = bed->toy.chain.hooks[0];
  bed->own = bed->hook->own;
  asked_count = 0;
  asked_room = MOST_ACTIONS;
  bed->hook->launch(bed->hook, &bed->toy.machine, &(LaunchEvent){.grid = {4, 1, 1}, .block = {64, 1, 1}});
  assert_int_equal(asked_count, __builtin_popcountll(bed->own->faulty)); // faulty SMs are fenced off
  for (uint32_t i = 0; i < asked_count; i++)
    assert_true(asked[i].kind == ACTION_FENCE && asked[i].on && hints_is_faulty(bed->own, asked[i].sm));
  asked_count = 0;
}

static void close_bed(Bed *bed) { toy_close(&bed->toy); }

static Verdict tell_block(Bed *bed, uint32_t sm, uint32_t slot, uint64_t block, bool mirror, bool done) {
  Who who = {.sm = sm, .block_slot = slot, .block = block};
  return bed->hook->block(bed->hook, &bed->toy.machine, &(BlockEvent){.who = &who, .mirror = mirror, .done = done});
}

// Block 5 runs in slot 1 of SM 0 and is mirrored in slot 2 of SM 1.
static void start_pair(Bed *bed) {
  assert_int_equal(tell_block(bed, 0, 1, 5, false, false), VERDICT_PASS);
  assert_int_equal(asked_count, 1);
  assert_true(asked[0].kind == ACTION_MIRROR && asked[0].sm == 1 && asked[0].block == 5);
  assert_int_equal(tell_block(bed, 1, 2, 5, true, false), VERDICT_PASS);
  asked_count = 0;
}

static void tell_issue(Bed *bed, uint32_t sm, uint32_t slot, uint32_t warp, uint32_t pc) {
  Who who = {.sm = sm, .block_slot = slot, .warp = warp, .pc = pc, .issue = pc};
  bed->hook->issue(bed->hook, &bed->toy.machine, &(IssueEvent){.who = &who});
}

static void tell_fetch(Bed *bed, uint32_t sm, uint32_t slot, uint32_t warp, uint32_t pc) {
  Who who = {.sm = sm, .block_slot = slot, .warp = warp, .pc = pc, .issue = WHO_NO_NUMBER};
  InstrWord word;
  memset(&word, 0, sizeof word);
  bed->hook->fetch(bed->hook, &bed->toy.machine, &(FetchEvent){.who = &who, .word = &word});
}

// Bytes of the upper half of a line. The SM whose load it shall join, or WHO_NO_INDEX.
static uint32_t load_bytes(Bed *bed, uint32_t sm, uint32_t slot, uint32_t warp, uint32_t pc, uint64_t line, uint64_t mask) {
  Who who = {.sm = sm, .block_slot = slot, .warp = warp, .pc = pc, .issue = pc, .client = CLIENT_LOAD};
  uint32_t join = WHO_NO_INDEX;
  MemoryEvent event = {.who = &who, .address = line, .mask = {0, mask}, .bytes = (uint32_t)__builtin_popcountll(mask), .join = &join};
  bed->hook->request(bed->hook, &bed->toy.machine, &event);
  return join;
}

static void tell_load(Bed *bed, uint32_t sm, uint32_t slot, uint32_t warp, uint32_t pc, uint64_t line) {
  load_bytes(bed, sm, slot, warp, pc, line, UINT64_MAX);
}

static uint64_t queued(const Bed *bed) { return hints_at(bed->own, &bed->toy.machine, CELLS_RING, 0)[1]; }

static void run_to(Bed *bed, uint64_t cycle) {
  while (hook_wakes_at(bed->hook, &bed->toy.machine) <= cycle) {
    bed->toy.machine.cycle = hook_wakes_at(bed->hook, &bed->toy.machine);
    hook_wake(bed->hook, &bed->toy.machine, UINT64_MAX);
    bed->hook->cycle(bed->hook, &bed->toy.machine);
  }
  bed->toy.machine.cycle = cycle;
}

// ---- Hints ---------------------------------------------------------------------------------------------

static void a_hint_has_104_bits(void **state) {
  (void)state;
  assert_int_equal(HINT_SM_BITS + HINT_TYPE_BITS + HINT_STAMP_BITS + HINT_WARP_BITS + HINT_SPECIFIC_BITS, HINT_BITS);
  for (uint64_t i = 0; i < 1000; i++) {
    Hint hint = {.sm = (uint32_t)random_below(random_draw(1, i, 0), 64),
                 .type = (HintType)random_below(random_draw(1, i, 1), HINT_TYPES),
                 .stamp = (uint32_t)random_draw(1, i, 2),
                 .warp = (uint32_t)random_below(random_draw(1, i, 3), 1024),
                 .specific = random_draw(1, i, 4) >> 10};
    uint64_t cells[2];
    hint_pack(&hint, cells);
    assert_true(cells[0] >> HINT_UNIT_BITS == 0 && cells[1] >> HINT_UNIT_BITS == 0);
    Hint back = hint_unpack(cells);
    assert_true(back.sm == hint.sm && back.type == hint.type && back.stamp == hint.stamp && back.warp == hint.warp);
    assert_int_equal(back.specific, hint.specific);
  }
  uint64_t range = hint_range(UINT64_C(0x3FFFFFFFFFF80), 3, 31);
  assert_true(range >> HINT_SPECIFIC_BITS == 0);
  assert_int_equal(hint_line(range), UINT64_C(0x3FFFFFFFFFF80));
}

// ---- Gathering and the queue -----------------------------------------------------------------------------

static void a_full_queue_stops_gathering(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  start_pair(&bed);
  tell_issue(&bed, 0, 1, 2, 0);
  uint32_t room = QUEUE + 1; // and the gathering unit's register
  for (uint32_t i = 0; i < room; i++) {
    assert_int_equal(bed.tally[TALLY_HINTS_FULL], 0);
    tell_issue(&bed, 1, 2, 4, 500);
    tell_fetch(&bed, 1, 2, 4, 500 + 4 * i);
    assert_int_equal(queued(&bed), i);
  }
  tell_fetch(&bed, 1, 2, 4, 700);
  assert_int_equal(queued(&bed), QUEUE);
  assert_int_equal(bed.tally[TALLY_HINTS_FULL], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_ICACHE], room);
  // They are all far ahead: compared again and again, never lost, in their order.
  run_to(&bed, 60);
  assert_int_equal(queued(&bed), QUEUE);
  assert_int_equal(asked_count, 0);
  tell_issue(&bed, 0, 1, 2, 495);
  run_to(&bed, 99);
  assert_int_equal(queued(&bed), 0);
  assert_int_equal(asked_count, room);
  for (uint32_t i = 0; i < room; i++) {
    bool found = false;
    for (uint32_t k = 0; k < room; k++) found |= asked[k].address == action_code_address(500 + 4 * i);
    assert_true(found);
  }
  close_bed(&bed);
}

static void a_fetch_of_several_instructions_is_one_hint(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  start_pair(&bed);
  for (uint32_t pc = 8; pc < 12; pc++) tell_fetch(&bed, 1, 2, 4, pc);
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_ICACHE], 1);
  tell_fetch(&bed, 1, 2, 4, 12);
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_ICACHE], 2);
  tell_fetch(&bed, 1, 2, 5, 12); // of another warp
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_ICACHE], 3);
  close_bed(&bed);
}

static void a_load_makes_two_hints(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, ",merge=ask");
  start_pair(&bed);
  tell_load(&bed, 1, 2, 5, 3, 0x1080);
  tell_load(&bed, 1, 2, 5, 3, UINT64_C(1) << 48 | 0x80); // local memory
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_MERGE], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_L2], 1);
  run_to(&bed, 20);
  assert_int_equal(asked_count, 1); // the faulty SM's own load brings the line into the L2
  assert_true(asked[0].kind == ACTION_PREFETCH && asked[0].sm == 0 && asked[0].cache == PREFETCH_DATA && asked[0].address == 0x1080);
  tell_load(&bed, 0, 1, 3, 3, 0x1080);
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_L2], 1);
  close_bed(&bed);
}

// ---- Loads that meet -------------------------------------------------------------------------------------

// The faulty SM's load is at 50. The partner's joins it if it is less than THRESHOLD away, and asks for no more.
static void a_load_joins_within_range_and_time(void **state) {
  (void)state;
  static const struct {
    uint32_t pc;
    uint64_t line, mask;
    uint32_t join;
  } cases[] = {{50, 0x1080, UINT64_MAX, 1},
               {50 - THRESHOLD + 1, 0x1080, UINT64_MAX, 1},
               {50 - THRESHOLD, 0x1080, UINT64_MAX, WHO_NO_INDEX},
               {50 + THRESHOLD - 1, 0x1080, 0xF0, 1},
               {50 + THRESHOLD, 0x1080, 0xF0, WHO_NO_INDEX},
               {50, 0x1100, UINT64_MAX, WHO_NO_INDEX}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Bed bed;
    open_bed(&bed, 2, 2, "");
    start_pair(&bed);
    assert_int_equal(load_bytes(&bed, 1, 2, 5, 50, 0x1080, UINT64_MAX), 0); // a mirror joins its partner's, if there is one
    bool joins = cases[i].join == 1;
    assert_int_equal(load_bytes(&bed, 0, 1, 3, cases[i].pc, cases[i].line, cases[i].mask), cases[i].join);
    assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], joins);
    assert_int_equal(load_bytes(&bed, 0, 1, 3, cases[i].pc, cases[i].line, cases[i].mask), WHO_NO_INDEX); // a hint is used once
    assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], joins);
    run_to(&bed, 20);
    assert_int_equal(asked_count, 0);
    close_bed(&bed);
  }
}

static void a_load_outside_the_range_asks_itself(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  start_pair(&bed);
  load_bytes(&bed, 1, 2, 5, 50, 0x1080, 0xFF0);
  assert_int_equal(load_bytes(&bed, 0, 1, 3, 50, 0x1080, 0xFFF), WHO_NO_INDEX);
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], 0);
  assert_int_equal(load_bytes(&bed, 0, 1, 3, 50, 0x1080, 0xF0), 1);
  close_bed(&bed);
}

// The partner was first: the hint is useful when it is made, and does not go into the queue.
static void a_hint_meets_a_load_before_it(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, ",types=merge");
  start_pair(&bed);
  assert_int_equal(load_bytes(&bed, 0, 1, 3, 50, 0x1080, UINT64_MAX), WHO_NO_INDEX);
  assert_int_equal(load_bytes(&bed, 1, 2, 5, 50, 0x1080, UINT64_MAX), 0);
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_GENERATED_MERGE], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_DELIVERED_MERGE], 1);
  run_to(&bed, 20);
  assert_int_equal(queued(&bed), 0);
  assert_int_equal(bed.tally[TALLY_HINTS_LATE_MERGE], 0);
  load_bytes(&bed, 1, 2, 5, 50, 0x1080, UINT64_MAX); // the next one waits
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], 1);
  close_bed(&bed);
}

// ---- Comparing -------------------------------------------------------------------------------------------

static void the_threshold_is_exact(void **state) {
  (void)state;
  const char *const orders[] = {",order=pc", ",order=issue"};
  for (uint32_t k = 0; k < 2; k++) {
    Bed bed;
    open_bed(&bed, 2, 2, orders[k]);
    start_pair(&bed);
    tell_issue(&bed, 0, 1, 2, 100);
    uint32_t distance;
    Hint hint = {.sm = 1, .warp = 2, .stamp = 100 + THRESHOLD - 1};
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_NOW);
    assert_int_equal(distance, THRESHOLD - 1);
    hint.stamp = 100 + THRESHOLD;
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_EARLY);
    hint.stamp = 100;
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_NOW);
    hint.stamp = 99;
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_LATE);
    hint.stamp = 100;
    hint.warp = 4; // no block is there
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_LATE);
    hint.warp = 1000; // nor is such a warp
    assert_int_equal(hints_judge(bed.own, &bed.toy.machine, &hint, &distance), HINT_LATE);
    close_bed(&bed);
  }
}

static void a_hint_waits_for_room(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  start_pair(&bed);
  tell_fetch(&bed, 1, 2, 4, 8);
  asked_room = 0; // the SM's queue of actions is full
  run_to(&bed, 40);
  assert_int_equal(bed.tally[TALLY_HINTS_DELIVERED_ICACHE], 0);
  assert_true((*hints_at(bed.own, &bed.toy.machine, CELLS_FULL, 0) & FULL_PROCESS) != 0);
  asked_room = MOST_ACTIONS;
  run_to(&bed, 50);
  assert_int_equal(bed.tally[TALLY_HINTS_DELIVERED_ICACHE], 1);
  close_bed(&bed);
}

// ---- Worth -------------------------------------------------------------------------------------------------

static uint64_t *counter(const Bed *bed, HintType type) { return hints_at(bed->own, &bed->toy.machine, CELLS_COUNTER, type); }

static void counters_stop_at_their_ends(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  const HookMachine *machine = &bed.toy.machine;
  assert_int_equal(*counter(&bed, HINT_L2), 128);
  for (uint32_t i = 0; i < 127; i++) hints_up(bed.own, machine, 0, HINT_L2, 1);
  assert_int_equal(*counter(&bed, HINT_L2), 255);
  hints_up(bed.own, machine, 0, HINT_L2, 1);
  hints_up(bed.own, machine, 0, HINT_L2, 100);
  assert_int_equal(*counter(&bed, HINT_L2), 255);
  for (uint32_t i = 0; i < 255; i++) hints_down(bed.own, machine, 0, HINT_L2);
  assert_int_equal(*counter(&bed, HINT_L2), 0);
  hints_down(bed.own, machine, 0, HINT_L2);
  assert_int_equal(*counter(&bed, HINT_L2), 0);
  assert_int_equal(*counter(&bed, HINT_MERGE), 128);
  close_bed(&bed);
}

static void late_hints_count_down_and_useful_ones_up(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 2, 2, "");
  start_pair(&bed);
  tell_issue(&bed, 0, 1, 2, 100);
  tell_issue(&bed, 1, 2, 4, 90);
  tell_fetch(&bed, 1, 2, 4, 96);
  run_to(&bed, 20);
  assert_int_equal(bed.tally[TALLY_HINTS_LATE_ICACHE], 1);
  assert_int_equal(*counter(&bed, HINT_ICACHE), 127);
  tell_issue(&bed, 1, 2, 4, 104);
  tell_fetch(&bed, 1, 2, 4, 108);
  run_to(&bed, 40);
  assert_int_equal(bed.tally[TALLY_HINTS_DELIVERED_ICACHE], 1);
  tell_fetch(&bed, 0, 1, 2, 104); // another block
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_ICACHE], 0);
  tell_fetch(&bed, 0, 1, 2, 110);
  tell_fetch(&bed, 0, 1, 2, 111); // counts once
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_ICACHE], 1);
  assert_int_equal(*counter(&bed, HINT_ICACHE), 128);
  Who who = {.sm = 0};
  PrefetchEvent event = {.who = &who, .stage = PREFETCH_EVICTED, .cache = PREFETCH_DATA};
  bed.hook->prefetch(bed.hook, &bed.toy.machine, &event);
  assert_int_equal(*counter(&bed, HINT_MERGE), 127);
  assert_int_equal(bed.tally[TALLY_HINTS_WASTED_MERGE], 1);
  event.stage = PREFETCH_USED;
  bed.hook->prefetch(bed.hook, &bed.toy.machine, &event);
  assert_int_equal(*counter(&bed, HINT_MERGE), 128);
  assert_int_equal(bed.tally[TALLY_HINTS_USEFUL_MERGE], 1);
  close_bed(&bed);
}

// ---- Periods -------------------------------------------------------------------------------------------------

// A period begins with its first hint, in cycle 40, and ends `PERIOD` cycles later.
static void open_period(Bed *bed, const char *options) {
  open_bed(bed, 2, 2, options);
  start_pair(bed);
  bed->toy.machine.cycle = 40;
  tell_fetch(bed, 1, 2, 4, 8);
}

static void a_period_ends_on_its_cycle(void **state) {
  (void)state;
  Bed bed;
  open_period(&bed, "");
  hints_down(bed.own, &bed.toy.machine, 0, HINT_MERGE);
  run_to(&bed, 40 + PERIOD - 1);
  assert_int_equal(bed.tally[TALLY_HINTS_PERIODS], 0);
  assert_true(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  run_to(&bed, 40 + PERIOD);
  assert_int_equal(bed.tally[TALLY_HINTS_PERIODS], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_OFF], 1);
  assert_false(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  assert_true(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_ICACHE));
  assert_false(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_OTHER)); // never asked for
  assert_int_equal(*counter(&bed, HINT_MERGE), 128);
  // It is on again after a period without it.
  tell_fetch(&bed, 1, 2, 4, 16);
  run_to(&bed, 400);
  assert_int_equal(bed.tally[TALLY_HINTS_PERIODS], 2);
  assert_true(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  run_to(&bed, 4000); // without hints there are no periods
  assert_int_equal(bed.tally[TALLY_HINTS_PERIODS], 2);
  assert_int_equal(hook_wakes_at(bed.hook, &bed.toy.machine), UINT64_MAX);
  close_bed(&bed);
}

static uint32_t copies_asked(void) {
  uint32_t copies = 0;
  for (uint32_t i = 0; i < asked_count; i++) {
    if (asked[i].kind != ACTION_COPY) continue;
    copies++;
    assert_true(asked[i].sm == 1 && asked[i].block_slot == 2 && asked[i].from_sm == 0 && asked[i].from_block_slot == 1);
    assert_int_equal(asked[i].cycles, 2 * 16); // a cycle for each register row of the block's two warps
  }
  return copies;
}

static void more_than_half_off_resynchronises(void **state) {
  (void)state;
  for (uint32_t off = 0; off <= 3; off++) {
    Bed bed;
    open_period(&bed, "");
    for (uint32_t type = 0; type < off; type++) hints_down(bed.own, &bed.toy.machine, 0, (HintType)(2 - type));
    if (off == 3) hints_down(bed.own, &bed.toy.machine, 0, HINT_ICACHE); // delivered hints are not useful yet: no change by them
    run_to(&bed, 40 + PERIOD);
    assert_int_equal(bed.tally[TALLY_HINTS_OFF], off);
    assert_int_equal(copies_asked(), off >= 2 ? 1 : 0);
    close_bed(&bed);
  }
}

static void disabling_is_an_option(void **state) {
  (void)state;
  Bed bed;
  open_period(&bed, ",disable=now");
  hints_down(bed.own, &bed.toy.machine, 0, HINT_MERGE);
  assert_false(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  hints_up(bed.own, &bed.toy.machine, 0, HINT_MERGE, 1);
  assert_true(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  close_bed(&bed);
  open_period(&bed, ",disable=never");
  for (uint32_t type = 0; type < 3; type++) hints_down(bed.own, &bed.toy.machine, 0, (HintType)type);
  run_to(&bed, 40 + PERIOD);
  assert_int_equal(bed.tally[TALLY_HINTS_OFF], 0);
  assert_int_equal(copies_asked(), 0);
  assert_true(hints_type_is_on(bed.own, &bed.toy.machine, 0, HINT_MERGE));
  close_bed(&bed);
}

// ---- Blocks ----------------------------------------------------------------------------------------------------

static void mirrors_follow_their_blocks(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 4, 2, "");
  assert_int_equal(tell_block(&bed, 1, 0, 0, false, false), VERDICT_STALL); // a faulty SM gets no block
  assert_int_equal(tell_block(&bed, 3, 0, 0, false, false), VERDICT_STALL);
  start_pair(&bed);
  assert_int_equal(tell_block(&bed, 1, 3, 5, true, false), VERDICT_STALL); // it is mirrored already
  assert_int_equal(tell_block(&bed, 1, 3, 6, true, false), VERDICT_STALL); // nobody has it
  assert_int_equal(tell_block(&bed, 0, 1, 5, false, true), VERDICT_PASS);
  assert_int_equal(asked_count, 1);
  assert_true(asked[0].kind == ACTION_ABANDON && asked[0].sm == 1 && asked[0].block_slot == 2);
  // While the old mirror goes, a new block begins: its mirror finds no room, and is asked for again when there is.
  tell_block(&bed, 0, 1, 7, false, false);
  asked_count = 0;
  tell_block(&bed, 1, 2, 5, true, true);
  assert_int_equal(asked_count, 1);
  assert_true(asked[0].kind == ACTION_MIRROR && asked[0].sm == 1 && asked[0].block == 7);
  // A mirror that comes to its end before its block is not run again, until the SMs are made equal.
  tell_block(&bed, 1, 0, 7, true, false);
  asked_count = 0;
  tell_block(&bed, 1, 0, 7, true, true);
  assert_int_equal(asked_count, 0);
  hints_resynchronise(bed.own, &bed.toy.machine, 0);
  assert_true(asked_count == 1 && asked[0].kind == ACTION_MIRROR && asked[0].block == 7);
  asked_count = 0;
  tell_block(&bed, 1, 0, 7, true, false);
  assert_true(asked_count == 1 && asked[0].kind == ACTION_COPY && asked[0].from_block_slot == 1);
  close_bed(&bed);
}

static void tpcs_of_three(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 7, 3, ",faulty=0+2+3+4+5"); // one healthy, none healthy, and a TPC of one
  assert_int_equal(bed.own->partner[0], 1);
  assert_int_equal(bed.own->partner[2], 1);
  assert_int_equal(bed.own->helpers[1], 2);
  assert_int_equal(bed.own->partner[4], HINT_NO_SM);
  assert_int_equal(bed.own->helpers[6], 0);
  tell_block(&bed, 1, 0, 0, false, false); // helpers share the slots
  tell_block(&bed, 1, 1, 1, false, false);
  assert_true(asked_count == 2 && asked[0].sm == 0 && asked[1].sm == 2);
  assert_int_equal(tell_block(&bed, 4, 0, 0, true, false), VERDICT_STALL);
  assert_int_equal(tell_block(&bed, 6, 0, 2, false, false), VERDICT_PASS);
  close_bed(&bed);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  RegionTable none = {NULL, 0, 0};
  HookShape shape = {.sms = 2, .warps = WARPS, .block_slots = SLOTS, .tpc_sms = 2}, many = shape;
  many.sms = 80;
  toy_refused(&none, &shape, "hints:faulty=3", "there is no SM 3; this machine has 2");
  toy_refused(&none, &shape, "hints:faulty=0+1", "no healthy SM is left");
  HookShape single = shape;
  single.tpc_sms = 1;
  toy_refused(&none, &single, "hints", "no healthy SM is left: one SM of every TPC is faulty, and TPCs of this machine have one SM each");
  toy_refused(&none, &shape, "hints:faulty=1+", "faulty must be each, none, or numbers of SMs");
  toy_refused(&none, &shape, "hints:faulty=x", "faulty must be each, none, or numbers of SMs");
  toy_refused(&none, &shape, "hints:merge=both", "merge must be join or ask");
  toy_refused(&none, &shape, "hints:view=4097", "4096");
  toy_refused(&none, &shape, "hints:free=65536", "65535");
  toy_refused(&none, &shape, "hints:types=icache+l3", "types must be icache, merge, l2, other");
  toy_refused(&none, &shape, "hints:use=on", "use must be hints or off");
  toy_refused(&none, &shape, "hints:queue=0", "queue must be a whole number from 1 to 16384");
  toy_refused(&none, &shape, "hints:treshold=3", "did you mean 'threshold'?");
  toy_refused(&none, &many, "hints:faulty=1", "6 bits name at most 64 SMs");
}

// Section II.D: three counters and two hint registers per SM, a queue and a counter of cycles per TPC.
static void the_hardware_is_what_the_paper_counts(void **state) {
  (void)state;
  Bed bed;
  HookShape shape = {.sms = 2, .warps = WARPS, .block_slots = SLOTS, .tpc_sms = 2};
  assert_true(toy_open(&bed.toy, &(RegionTable){NULL, 0, 0}, &shape, "hints"));
  const RegionTable *table = &bed.toy.table;
  assert_int_equal(region_bits(&table->items[region_find(table, "hints.queue")]), 2048 * 104);
  assert_int_equal(region_bits(&table->items[region_find(table, "hints.gather")]), 2 * 104);
  assert_int_equal(region_bits(&table->items[region_find(table, "hints.process")]), 2 * 104);
  close_bed(&bed);
}

// Mirrors that were made equal to their partner's block, and those that could not be. Actions of healthy SMs are not its own.
static void equal_mirrors_are_counted(void **state) {
  (void)state;
  Bed bed;
  open_bed(&bed, 4, 2, "");
  Who who = {.sm = 1};
  Action action = {.kind = ACTION_COPY, .sm = 1, .block_slot = 2, .from_sm = 0, .from_block_slot = 1};
  ActionEvent event = {.who = &who, .action = &action, .done = true};
  bed.hook->action(bed.hook, &bed.toy.machine, &event);
  assert_int_equal(bed.tally[TALLY_HINTS_RESYNCS], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_RESYNC_FAILS], 0);
  event.done = false;
  bed.hook->action(bed.hook, &bed.toy.machine, &event);
  action.sm = 0;
  bed.hook->action(bed.hook, &bed.toy.machine, &event);
  assert_int_equal(bed.tally[TALLY_HINTS_RESYNCS], 1);
  assert_int_equal(bed.tally[TALLY_HINTS_RESYNC_FAILS], 1);
  close_bed(&bed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hint_has_104_bits),
      cmocka_unit_test(a_full_queue_stops_gathering),
      cmocka_unit_test(a_fetch_of_several_instructions_is_one_hint),
      cmocka_unit_test(a_load_makes_two_hints),
      cmocka_unit_test(a_load_joins_within_range_and_time),
      cmocka_unit_test(a_load_outside_the_range_asks_itself),
      cmocka_unit_test(a_hint_meets_a_load_before_it),
      cmocka_unit_test(the_threshold_is_exact),
      cmocka_unit_test(a_hint_waits_for_room),
      cmocka_unit_test(counters_stop_at_their_ends),
      cmocka_unit_test(late_hints_count_down_and_useful_ones_up),
      cmocka_unit_test(a_period_ends_on_its_cycle),
      cmocka_unit_test(more_than_half_off_resynchronises),
      cmocka_unit_test(disabling_is_an_option),
      cmocka_unit_test(mirrors_follow_their_blocks),
      cmocka_unit_test(equal_mirrors_are_counted),
      cmocka_unit_test(tpcs_of_three),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(the_hardware_is_what_the_paper_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
