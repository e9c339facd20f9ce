// Full redundancy: which instructions issue twice, comparison, the third issue, the vote; the holding buffer under overlap, when full,
// and with any of its bits flipped.
#include "protect/test_toy.h"

static const RegionTable no_regions = {NULL, 0, 0};
static const HookShape shape = {.sms = 2, .warps = 4, .block_slots = 1};

enum { BLOCK = 5, PC = 40 };

static Op find_op(const char *text) {
  for (uint32_t i = 0; i < OP_COUNT; i++) {
    if (strcmp(op_info[i].text, text) == 0) return (Op)i;
  }
  fail_msg("no row %s", text);
  return (Op)0;
}

static Who who_of(uint32_t warp, uint64_t number) { return (Who){.sm = 1, .warp = warp, .block_slot = BLOCK, .pc = PC, .issue = number}; }

static Verdict issue(Toy *toy, const char *op, uint32_t warp, uint64_t number, uint8_t *copies) {
  Instr instr = instr_rest(find_op(op));
  Who who = who_of(warp, number);
  LanePart part = {.filled = UINT32_MAX};
  PlanEvent event = {.who = &who, .instr = &instr, .unit = op_info[instr.op].unit, .copies = 1, .part = &part};
  Verdict verdict = hooks_plan(&toy->chain, &toy->machine, &event);
  *copies = event.copies;
  return verdict;
}

typedef struct Result {
  uint32_t rows[8][WARP_LANES];
  uint32_t predicates[2];
  uint32_t mask, row_count;
  uint32_t shift;   // its lane slots are so many lanes of 16 further than its threads
  bool is_not_last; // parts of the instruction are still to come
} Result;

static Result make_result(uint32_t row_count) {
  Result result = {.predicates = {0xF0F0F0F0, 0x12345678}, .mask = 0xFFFF00FF, .row_count = row_count};
  for (uint32_t r = 0; r < 8; r++) {
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) result.rows[r][lane] = 1000 * r + lane;
  }
  return result;
}

// The event of a result whose threads are on their own lanes, or shifted.
typedef struct Told {
  uint8_t owner_of[WARP_LANES], thread[WARP_LANES];
  PartOwner owner;
  uint32_t mask, predicates[2], rows[8][WARP_LANES];
} Told;
static uint32_t slot_of(const Result *result, uint32_t thread) { return thread / 16 * 16 + (thread + result->shift) % 16; }

static void told_fill(Told *told, const Result *result) {
  memset(told, 0, sizeof *told);
  for (uint32_t thread = 0; thread < WARP_LANES; thread++) {
    uint32_t slot = slot_of(result, thread);
    told->thread[slot] = (uint8_t)thread;
    told->mask |= (result->mask >> thread & 1) << slot;
    for (uint32_t k = 0; k < 2; k++) told->predicates[k] |= (result->predicates[k] >> thread & 1) << slot;
    for (uint32_t r = 0; r < 8; r++) told->rows[r][slot] = result->rows[r][thread];
  }
}

static void told_give_back(const Told *told, Result *result) {
  memset(result->predicates, 0, sizeof result->predicates);
  for (uint32_t thread = 0; thread < WARP_LANES; thread++) {
    uint32_t slot = slot_of(result, thread);
    for (uint32_t k = 0; k < 2; k++) result->predicates[k] |= (told->predicates[k] >> slot & 1) << thread;
    for (uint32_t r = 0; r < 8; r++) result->rows[r][thread] = told->rows[r][slot];
  }
}

static Verdict give_op(Toy *toy, const char *op, uint32_t warp, uint64_t number, uint8_t copy, Result *result) {
  Instr instr = instr_rest(find_op(op));
  Who who = who_of(warp, number);
  Told told;
  told_fill(&told, result);
  ResultEvent event = {.who = &who,
                       .instr = &instr,
                       .copy = copy,
                       .copies = copy < 2 ? 2 : (uint8_t)(copy + 1),
                       .mask = told.mask,
                       .owner = &told.owner,
                       .owner_of = told.owner_of,
                       .thread = told.thread,
                       .owners = 1,
                       .is_last = !result->is_not_last,
                       .rows = &told.rows[0][0],
                       .row_count = result->row_count,
                       .predicates = told.predicates};
  Verdict verdict = hooks_result(&toy->chain, &toy->machine, &event);
  told_give_back(&told, result);
  assert_int_equal(event.compared, told.mask); // observers learn of it
  return verdict;
}

static Verdict give(Toy *toy, uint32_t warp, uint64_t number, uint8_t copy, Result *result) {
  return give_op(toy, "add.b32", warp, number, copy, result);
}

static bool block_is_zero(const Toy *toy) {
  for (size_t i = 0; i < toy->table.block_bytes; i++) {
    if (toy->machine.block[i] != 0) return false;
  }
  return true;
}

static void test_what_is_duplicated(void **state) {
  (void)state;
  static const struct {
    const char *op;
    uint8_t copies;
  } cases[] = {{"add.b32", 2}, {"fma.rn.f32", 2}, {"ld.global.b32", 2}, {"st.global.b32", 2}, {"atom.add.u32", 2}, {"bra", 1}, {"exit", 1}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Toy toy;
    uint8_t copies;
    assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
    assert_int_equal(issue(&toy, cases[i].op, 0, 1, &copies), VERDICT_PASS);
    if (copies != cases[i].copies) fail_msg("%s issues %d times", cases[i].op, copies);
    toy_close(&toy);
  }
  for (uint32_t op = 0; op < OP_COUNT; op++) { // a clock never reads the same twice; fences and barriers have no result
    Toy toy;
    uint8_t copies;
    Kind kind = op_info[op].kind;
    bool once = (op_info[op].flags & IT_VOLATILE_RESULT) != 0 || kind == KIND_FENCE || kind == KIND_BARRIER || kind == KIND_SYSTEM;
    if (!once) continue;
    assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
    assert_int_equal(issue(&toy, op_info[op].text, 0, 1, &copies), VERDICT_PASS);
    assert_int_equal(copies, 1);
    assert_true(block_is_zero(&toy));
    toy_close(&toy);
  }
}

static void test_equal_copies_pass(void **state) {
  (void)state;
  Toy toy;
  uint8_t copies;
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
  for (uint32_t rows = 0; rows <= 8; rows++) {
    Result first = make_result(rows), second = make_result(rows);
    assert_int_equal(issue(&toy, "add.b32", 2, rows, &copies), VERDICT_PASS);
    assert_int_equal(give(&toy, 2, rows, 0, &first), VERDICT_HOLD);
    for (uint32_t lane = 8; lane < 16; lane++) second.rows[0][lane] = 77; // lanes that do not execute hold anything
    second.predicates[0] ^= 0x0000FF00;
    assert_int_equal(give(&toy, 2, rows, 1, &second), VERDICT_PASS);
    assert_true(block_is_zero(&toy));                                    // equal states have equal bytes
    assert_int_equal(toy.tally[TALLY_REDUNDANCY_HELD], (rows + 1) * 24); // threads of the first copy
    assert_int_equal(toy.tally[TALLY_REDUNDANCY_COMPARED], (rows + 1) * 24);
  }
  assert_int_equal(toy.corrected + toy.detected + toy.repeated, 0);
  toy_close(&toy);
}

// One wrong bit in one of the three copies, anywhere: found, and the right value comes out.
static void test_one_wrong_copy(void **state) {
  (void)state;
  Toy toy;
  uint8_t copies;
  uint64_t number = 0;
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
  for (uint32_t wrong = 0; wrong < 2; wrong++) {
    for (uint32_t bit = 0; bit < 3 * 32 * 32 + 64; bit += 1 + bit % 7) {
      Result result[3], good = make_result(3);
      for (int i = 0; i < 3; i++) result[i] = good;
      uint32_t word = bit / 32, lane = word < 96 ? word % 32 : bit % 32;
      uint32_t *struck = word < 96 ? &result[wrong].rows[word / 32][lane] : &result[wrong].predicates[word - 96];
      *struck ^= 1u << bit % 32;
      bool executes = (good.mask >> lane & 1) != 0;
      number++;
      toy.corrected = toy.detected = toy.repeated = 0;
      assert_int_equal(issue(&toy, "add.b32", 3, number, &copies), VERDICT_PASS);
      assert_int_equal(give(&toy, 3, number, 0, &result[0]), VERDICT_HOLD);
      assert_int_equal(give(&toy, 3, number, 1, &result[1]), executes ? VERDICT_REPEAT : VERDICT_PASS);
      if (executes) {
        assert_int_equal(give(&toy, 3, number, 2, &result[2]), VERDICT_FIXED);
        assert_memory_equal(&result[2], &good, sizeof good);
      }
      assert_int_equal(toy.repeated, executes);
      assert_int_equal(toy.corrected, executes);
      assert_int_equal(toy.detected, 0);
      assert_true(block_is_zero(&toy));
    }
  }
  toy_close(&toy);
}

// The copies were on other lanes: the same thread is compared with itself, and a lane that is stuck strikes three threads.
static void test_copies_on_other_lanes(void **state) {
  (void)state;
  Toy toy;
  Result result[3], good = make_result(2);
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr:shuffle=1"));
  for (uint32_t i = 0; i < 3; i++) {
    result[i] = good;
    result[i].shift = i;
  }
  assert_int_equal(give(&toy, 0, 1, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 1, 1, &result[1]), VERDICT_PASS);
  for (uint32_t i = 0; i < 3; i++) {
    result[i] = good;
    result[i].shift = i;
    result[i].rows[0][6 - i] |= 1u << 20; // lane 6
  }
  assert_int_equal(give(&toy, 0, 2, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 2, 1, &result[1]), VERDICT_REPEAT);
  assert_int_equal(give(&toy, 0, 2, 2, &result[2]), VERDICT_FIXED);
  assert_memory_equal(result[2].rows, good.rows, sizeof good.rows);
  assert_true(block_is_zero(&toy));
  toy_close(&toy);
}

// The second copy comes in two results: each is compared with its own threads, and the last frees the entry.
static void test_a_copy_in_pieces(void **state) {
  (void)state;
  Toy toy;
  uint8_t copies;
  Result whole = make_result(1), low = make_result(1), high = make_result(1), wrong;
  low.mask = whole.mask & 0x0000FFFF, high.mask = whole.mask & 0xFFFF0000;
  low.is_not_last = true;
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr:entries=1"));
  assert_int_equal(issue(&toy, "add.b32", 0, 1, &copies), VERDICT_PASS);
  assert_int_equal(give(&toy, 0, 1, 0, &whole), VERDICT_HOLD);
  wrong = low;
  wrong.rows[0][5] ^= 4;
  assert_int_equal(give(&toy, 0, 1, 1, &wrong), VERDICT_REPEAT);
  assert_int_equal(issue(&toy, "add.b32", 1, 1, &copies), VERDICT_STALL); // the entry is taken
  assert_int_equal(give(&toy, 0, 1, 1, &high), VERDICT_PASS);
  assert_int_equal(give(&toy, 0, 1, 2, &low), VERDICT_FIXED);
  assert_true(block_is_zero(&toy));
  assert_int_equal(give(&toy, 0, 2, 0, &whole), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 2, 1, &high), VERDICT_HALT); // the others never come
  assert_int_equal(toy.corrected, 1);
  assert_int_equal(toy.detected, 1);
  toy_close(&toy);
}

// Two copies wrong in different lanes still vote right lane by lane; in the same lane there is no majority.
static void test_two_wrong_copies(void **state) {
  (void)state;
  Toy toy;
  Result result[3], good = make_result(2);
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
  for (int i = 0; i < 3; i++) result[i] = good;
  result[0].rows[0][0] ^= 4;
  result[2].rows[1][31] ^= 8;
  assert_int_equal(give(&toy, 0, 1, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 1, 1, &result[1]), VERDICT_REPEAT);
  assert_int_equal(give(&toy, 0, 1, 2, &result[2]), VERDICT_FIXED);
  assert_memory_equal(&result[2], &good, sizeof good);
  for (int i = 0; i < 3; i++) {
    result[i] = good;
    result[i].rows[1][5] ^= 1u << i;
  }
  assert_int_equal(give(&toy, 0, 2, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 2, 1, &result[1]), VERDICT_REPEAT);
  assert_int_equal(give(&toy, 0, 2, 2, &result[2]), VERDICT_HALT);
  assert_int_equal(toy.corrected, 1);
  assert_int_equal(toy.detected, 1);
  assert_int_equal(toy.repeated, 2);
  for (int i = 0; i < 3; i++) result[i] = good; // a wrong mask cannot be voted on
  result[0].mask ^= 1;
  assert_int_equal(give(&toy, 0, 3, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 3, 1, &result[1]), VERDICT_HALT);
  result[0] = good;
  result[0].rows[0][0] ^= 1;
  result[2].mask ^= 2;
  assert_int_equal(give(&toy, 0, 4, 0, &result[0]), VERDICT_HOLD);
  assert_int_equal(give(&toy, 0, 4, 1, &result[1]), VERDICT_REPEAT);
  assert_int_equal(give(&toy, 0, 4, 2, &result[2]), VERDICT_HALT);
  assert_int_equal(toy.detected, 3);
  assert_true(block_is_zero(&toy));
  toy_close(&toy);
}

// Instructions of several warps overlap; a full buffer stalls the issue until a comparison frees an entry.
static void test_overlap_and_stall(void **state) {
  (void)state;
  Toy toy;
  uint8_t copies;
  Result result = make_result(1);
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr:entries=3"));
  for (uint32_t warp = 0; warp < 3; warp++) assert_int_equal(issue(&toy, "add.b32", warp, 9, &copies), VERDICT_PASS);
  assert_int_equal(issue(&toy, "add.b32", 1, 9, &copies), VERDICT_PASS); // asked again for the same: has its entry
  assert_int_equal(issue(&toy, "add.b32", 3, 9, &copies), VERDICT_STALL);
  assert_int_equal(copies, 1);
  assert_int_equal(issue(&toy, "bra", 3, 9, &copies), VERDICT_PASS); // needs none
  for (uint32_t warp = 3; warp-- > 0;) {
    result.rows[0][0] = warp;
    assert_int_equal(give(&toy, warp, 9, 0, &result), VERDICT_HOLD);
  }
  result.rows[0][0] = 1;
  assert_int_equal(give(&toy, 1, 9, 1, &result), VERDICT_PASS);
  assert_int_equal(issue(&toy, "add.b32", 3, 9, &copies), VERDICT_PASS);
  assert_int_equal(copies, 2);
  for (uint32_t warp = 0; warp < 3; warp += 2) {
    result.rows[0][0] = warp;
    assert_int_equal(give(&toy, warp, 9, 1, &result), VERDICT_PASS);
  }
  assert_int_equal(hooks_launch(&toy.chain, &toy.machine, &(LaunchEvent){0}), VERDICT_PASS);
  assert_true(block_is_zero(&toy)); // a launch begins with an empty buffer
  toy_close(&toy);
}

// A shuffle that waits for lanes of its warp issues in vain, and again under another number: no entry is lost.
static void test_warp_wide_instructions(void **state) {
  (void)state;
  static const char shuffle[] = "shfl.sync.bfly.b32";
  Toy toy;
  uint8_t copies;
  Result result = make_result(1), same = result;
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr:entries=1"));
  for (uint64_t number = 1; number < 20; number++) {
    assert_int_equal(issue(&toy, shuffle, 2, number, &copies), VERDICT_PASS);
    assert_int_equal(copies, 2);
  }
  assert_int_equal(give_op(&toy, shuffle, 2, 19, 0, &result), VERDICT_HOLD);
  assert_int_equal(give_op(&toy, shuffle, 2, 19, 1, &same), VERDICT_PASS);
  assert_true(block_is_zero(&toy));
  assert_int_equal(issue(&toy, shuffle, 2, 20, &copies), VERDICT_PASS);
  assert_int_equal(issue(&toy, "add.b32", 2, 21, &copies), VERDICT_STALL);
  hooks_block(&toy.chain, &toy.machine, &(BlockEvent){.who = &(Who){.sm = 1, .block_slot = BLOCK}, .done = false});
  hooks_block(&toy.chain, &toy.machine, &(BlockEvent){.who = &(Who){.sm = 1, .block_slot = BLOCK + 1}, .done = true});
  hooks_block(&toy.chain, &toy.machine, &(BlockEvent){.who = &(Who){.sm = 0, .block_slot = BLOCK}, .done = true});
  assert_int_equal(issue(&toy, "add.b32", 2, 21, &copies), VERDICT_STALL);
  hooks_block(&toy.chain, &toy.machine, &(BlockEvent){.who = &(Who){.sm = 1, .block_slot = BLOCK}, .done = true});
  assert_int_equal(issue(&toy, "add.b32", 2, 21, &copies), VERDICT_PASS); // its block has ended: the entry is free
  toy_close(&toy);
}

static void test_not_ours_passes(void **state) {
  (void)state;
  Toy toy;
  Result result = make_result(1);
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr"));
  ResultEvent event = {.who = &(Who){.sm = 1}, .copies = 1, .mask = result.mask, .rows = &result.rows[0][0], .row_count = 1};
  assert_int_equal(hooks_result(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  assert_true(block_is_zero(&toy));
  toy_close(&toy);
}

// Any bit of the buffer flipped while a result is held: the right value comes out or the launch ends; never a wrong one.
static void test_flips_in_the_buffer(void **state) {
  (void)state;
  Toy toy;
  uint8_t copies;
  uint64_t number = 0, fixed = 0, passed = 0;
  assert_true(toy_open(&toy, &no_regions, &shape, "dmr:entries=2"));
  for (uint16_t region = 0; region < toy.table.count; region++) {
    uint64_t bits = region_bits(&toy.table.items[region]);
    for (uint64_t bit = 0; bit < bits; bit += 1 + bit % 3) {
      Result good = make_result(2), result = good;
      Site site = region_site(&toy.table, region, bit);
      number++;
      hooks_launch(&toy.chain, &toy.machine, &(LaunchEvent){0});
      memset(toy.machine.block, 0, toy.table.block_bytes);
      assert_int_equal(issue(&toy, "add.b32", 1, number, &copies), VERDICT_PASS);
      assert_int_equal(give(&toy, 1, number, 0, &result), VERDICT_HOLD);
      toy_flip(&toy, &site);
      result = good;
      Verdict verdict = give(&toy, 1, number, 1, &result);
      if (verdict == VERDICT_REPEAT) {
        result = good;
        verdict = give(&toy, 1, number, 2, &result);
        assert_int_equal(verdict, VERDICT_FIXED);
        fixed++;
      } else if (verdict == VERDICT_HALT) { // the held mask
        assert_true(region == 1 && site.unit == 0);
      } else {
        assert_int_equal(verdict, VERDICT_PASS);
        passed++;
      }
      assert_memory_equal(&result, &good, sizeof good);
    }
  }
  assert_true(fixed > 500 && passed > 500);
  toy_close(&toy);
}

static void test_names(void **state) {
  (void)state;
  Toy toy;
  toy_refused(&no_regions, &shape, "dmr:entries=0", "entries must be a whole number from 1 to 256");
  toy_refused(&no_regions, &shape, "dmr:entries", "entries must be a whole number");
  toy_refused(&no_regions, &shape, "dmr:shuffle=0", "shuffle must be a whole number from 1 to 31");
  toy_refused(&no_regions, &shape, "dmr:entrie=4", "unknown option 'entrie'; did you mean 'entries'?");
  toy_refused(&no_regions, &shape, "dmrr", "no protection 'dmrr'; did you mean 'dmr'?");
  toy_refused(&no_regions, &shape, "warpedshield", "'redoubt list protections' shows all");
  toy_refused(&no_regions, &shape, "null:x", "unknown option 'x'");
  assert_true(toy_open(&toy, &no_regions, &shape, "none"));
  assert_int_equal(hook_chain_wants(&toy.chain), 0);
  toy_close(&toy);
  assert_true(toy_open(&toy, &no_regions, &shape, "null"));
  assert_int_equal(hook_chain_wants(&toy.chain),
                   ((1u << HOOK_EVENTS) - 1) & ~(uint32_t)(WANT_HOME | WANT_PLAN | WANT_PLACE | WANT_TAKE | WANT_RELEASE | WANT_DECIDE));
  toy_close(&toy);
  assert_true(toy_open(&toy, &no_regions, &shape, "null:plan"));
  assert_int_equal(hook_chain_wants(&toy.chain), ((1u << HOOK_EVENTS) - 1) & ~(uint32_t)(WANT_TAKE | WANT_RELEASE | WANT_DECIDE));
  toy_close(&toy);
  assert_true(toy_open(&toy, &no_regions, &shape, "null:plan,places,decisions"));
  assert_int_equal(hook_chain_wants(&toy.chain), (1u << HOOK_EVENTS) - 1);
  assert_int_equal(toy.table.count, 1); // wake.null
  assert_true(hooks_next_cycle(&toy.chain, &toy.machine) == UINT64_MAX);
  toy_close(&toy);
  Text text = {0};
  protections_list(&text);
  for (uint32_t i = 0; i < protect_count; i++) assert_non_null(strstr(text.at, protect_info(i)->summary));
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_duplicated),
      cmocka_unit_test(test_equal_copies_pass),
      cmocka_unit_test(test_one_wrong_copy),
      cmocka_unit_test(test_two_wrong_copies),
      cmocka_unit_test(test_overlap_and_stall),
      cmocka_unit_test(test_not_ours_passes),
      cmocka_unit_test(test_copies_on_other_lanes),
      cmocka_unit_test(test_a_copy_in_pieces),
      cmocka_unit_test(test_warp_wide_instructions),
      cmocka_unit_test(test_flips_in_the_buffer),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
