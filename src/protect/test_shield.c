// Warped-Shield on a toy machine: over random masks, maps and rules every thread runs exactly once, on a healthy lane of its cluster, in the
// least number of sub-warps; the text's example; every way to give a map; what is refused.
#include "protect/shield.h"
#include "protect/test_toy.h"

#include <stdio.h>
#include <unistd.h>

enum { SMS = 2, SPS = 2, LANES = 16 };
static const Region outputs[] = {
    {.name = "unit.sp",
     .title = "outputs",
     .unit = "lane",
     .meaning = "toy",
     .dims = {{"sm", SMS}, {"sp", SPS}},
     .dim_count = 2,
     .flags = REGION_OUTPUT | REGION_INJECTABLE,
     .rows = SMS * SPS,
     .units = LANES,
     .bits = 32},
    {.name = "unit.sfu",
     .title = "outputs",
     .unit = "lane",
     .meaning = "toy",
     .dims = {{"sm", SMS}},
     .dim_count = 1,
     .flags = REGION_OUTPUT | REGION_INJECTABLE,
     .rows = SMS,
     .units = 4,
     .bits = 32},
    {.name = "unit.agu",
     .title = "outputs",
     .unit = "lane",
     .meaning = "toy",
     .dims = {{"sm", SMS}},
     .dim_count = 1,
     .flags = REGION_OUTPUT | REGION_INJECTABLE,
     .rows = SMS,
     .units = LANES,
     .bits = 64},
};
static const RegionTable table = {outputs, COUNT_OF(outputs), 64};
static const HookShape shape = {.sms = SMS, .warps = 4, .block_slots = 2};
static const ShieldRule all = {.shuffle = true, .deform = true, .intersp = true};

static LanePart part_of(uint32_t threads) {
  LanePart part = {.filled = 0};
  for (uint32_t left = threads; left != 0; left &= left - 1)
    part_put(&part, (uint32_t)__builtin_ctz(left), 0, (uint32_t)__builtin_ctz(left), false);
  return part;
}

static uint32_t lanes_of(uint32_t lanes) { return lanes == 32 ? UINT32_MAX : (1u << lanes) - 1; }

// ---- Properties ----------------------------------------------------------------------------------------

// Sub-warps of the worst group, counted thread by thread. A sub-warp takes at most as many threads of a group as it has healthy lane slots, so
// no number below this is possible.
static uint32_t least(uint32_t threads, uint32_t lanes, uint32_t healthy, bool pool) {
  uint32_t most = 0, width = lanes < 4 ? lanes : 4;
  for (uint32_t group = 0; group < 64; group++) { // of every cluster in every turn
    uint32_t active = 0, slots = 0;
    for (uint32_t slot = 0; slot < 32; slot++) {
      uint32_t lane = slot % lanes, turn = pool ? 0 : slot / lanes;
      if (turn * (lanes / width) + lane / width != group) continue;
      active += threads >> slot & 1;
      slots += healthy >> lane & 1;
    }
    if (active > 0 && slots == 0) return SHIELD_NEVER;
    if (active > 0 && (active + slots - 1) / slots > most) most = (active + slots - 1) / slots;
  }
  return most;
}

// Deals all sub-warps; their number.
static uint32_t deal_all(const ShieldRule *rule, uint32_t threads, uint32_t lanes, uint32_t healthy) {
  uint32_t left = threads, parts = 0;
  for (; left != 0; parts++) {
    LanePart part = part_of(left);
    shield_deal(rule, &part, lanes, healthy);
    assert_int_not_equal(part.filled, 0);
    for (uint32_t slots = part.filled; slots != 0; slots &= slots - 1) {
      uint32_t slot = (uint32_t)__builtin_ctz(slots), thread = part.thread[slot];
      assert_int_equal(left >> thread & 1, 1); // not yet, and not twice
      left &= ~(1u << thread);
      assert_int_equal(healthy >> slot % lanes & 1, 1);
      assert_int_equal(slot % lanes / 4, thread % lanes / 4);
      if (!rule->pool) assert_int_equal(slot / lanes, thread / lanes);
    }
  }
  return parts;
}

static void every_thread_runs_once_on_a_healthy_lane(void **state) {
  (void)state;
  static const uint32_t widths[] = {1, 2, 4, 8, 16, 32};
  uint32_t never = 0, deformed = 0, shuffled = 0;
  for (uint64_t i = 0; i < 60000; i++) {
    uint64_t bits = random_draw(5, i, 0);
    uint32_t lanes = widths[random_below(random_draw(5, i, 1), COUNT_OF(widths))];
    uint32_t threads = (uint32_t)(random_draw(5, i, 2) & (bits % 3 == 0 ? UINT64_MAX : random_draw(5, i, 3)));
    uint32_t healthy = (uint32_t)(random_draw(5, i, 4) | (bits % 2 == 0 ? random_draw(5, i, 5) : 0)) & lanes_of(lanes);
    if (bits % 7 == 0) threads = UINT32_MAX;
    if (threads == 0) continue;
    ShieldRule rule = all;
    rule.pool = (bits >> 8 & 1) != 0;
    LanePart part = part_of(threads);
    uint32_t expected = least(threads, lanes, healthy, rule.pool), needs = shield_needs(&rule, &part, lanes, healthy);
    assert_int_equal(needs, expected);
    ShieldRule alone = {.shuffle = true, .pool = rule.pool};
    assert_int_equal(shield_needs(&alone, &part, lanes, healthy), expected == 1 ? 1 : SHIELD_NEVER);
    never += needs == SHIELD_NEVER;
    if (needs == SHIELD_NEVER) continue;
    assert_int_equal(deal_all(&rule, threads, lanes, healthy), expected);
    deformed += needs > 1;
    shuffled += needs == 1;
    ShieldRule no_shuffle = {.deform = true, .pool = rule.pool};
    uint32_t apart = shield_needs(&no_shuffle, &part, lanes, healthy);
    assert_true(apart >= expected && apart <= expected + 1);
    assert_int_equal(deal_all(&no_shuffle, threads, lanes, healthy), apart);
  }
  assert_true(never > 1000 && deformed > 1000 && shuffled > 1000);
}

// Shadows take lanes that are left; threads come first.
static void shadows_never_push_threads_out(void **state) {
  (void)state;
  for (uint64_t i = 0; i < 5000; i++) {
    uint32_t threads = (uint32_t)random_draw(6, i, 0), shadows = (uint32_t)random_draw(6, i, 1) & ~threads;
    uint32_t healthy = (uint32_t)(random_draw(6, i, 2) | 0x1111) & 0xFFFF;
    LanePart part = part_of(threads | shadows), alone = part_of(threads);
    part.shadow = shadows;
    shield_deal(&all, &part, LANES, healthy);
    shield_deal(&all, &alone, LANES, healthy);
    assert_int_equal(part.filled & ~part.shadow, alone.filled);
    assert_int_equal(part.filled & ~(healthy | healthy << 16), 0);
  }
}

// Two, two, four sub-warps for one, two, three faults in a full cluster.
static void full_clusters_need_two_two_four(void **state) {
  (void)state;
  static const uint32_t needs[] = {1, 2, 2, 4};
  ShieldRule pool = all;
  pool.pool = true;
  LanePart part = part_of(UINT32_MAX), some = part_of(0x0001000F);
  for (uint32_t faults = 0; faults < 4; faults++) {
    uint32_t healthy = 0xFFFF & ~((1u << faults) - 1);
    assert_int_equal(shield_needs(&all, &part, LANES, healthy), needs[faults]);
    assert_int_equal(shield_needs(&pool, &part, LANES, healthy), needs[faults]);
  }
  assert_int_equal(shield_needs(&all, &some, LANES, 0xFFFE), 2);  // four threads of one half, three lanes
  assert_int_equal(shield_needs(&pool, &some, LANES, 0xFFFE), 1); // five of both halves, six lane slots
  assert_int_equal(shield_needs(&all, &part, LANES, 0xFFF0), SHIELD_NEVER);
}

// ---- Events ----------------------------------------------------------------------------------------------

static const Instr add = {.op = OP_ADD_B32}, fadd = {.op = OP_ADD_RN_F32}, load = {.op = OP_LD_GLOBAL_B32};

static PlaceEvent place_of(const Who *who, LanePart *part, const Instr *instr) {
  bool is_load = op_info[instr->op].kind == KIND_LOAD;
  return (PlaceEvent){
      .who = who, .instr = instr, .sps = is_load ? 0 : SPS, .sp = PART_ANY, .lanes = LANES, .part = part, .is_whole = is_load};
}

static void open_with(Toy *toy, const char *protection) {
  if (!toy_open(toy, &table, &shape, protection)) fail_msg("%s: %s", protection, toy->diags.items[0].text);
  Who who = {.launch = 1};
  LaunchEvent launch = {.who = &who, .kernel = "toy"};
  hooks_begin(&toy->chain, &toy->machine);
  assert_int_equal(hooks_launch(&toy->chain, &toy->machine, &launch), VERDICT_PASS);
}

static uint32_t map_of(const Toy *toy, const char *region, uint64_t row) {
  uint32_t lanes;
  memcpy(&lanes, toy_row(toy, region_find(&toy->table, region), row), sizeof lanes);
  return lanes;
}

static uint32_t sp_for(Toy *toy, uint32_t warp, uint32_t threads, uint32_t *taken) {
  Who who = {.launch = 1, .warp = warp};
  LanePart part = part_of(threads);
  PlaceEvent event = place_of(&who, &part, &add);
  assert_int_equal(hooks_place(&toy->chain, &toy->machine, &event), VERDICT_PASS);
  *taken = (uint32_t)__builtin_popcount(part.filled);
  return event.sp;
}

// "If a warp has 12 active threads and one SP has 12 healthy lanes and the second SP has fewer than 12", the first takes it, undivided. The
// text counts lanes of the SP. A lane serves one thread of each half here, and threads keep to their clusters: so the twelve
// are three in each of the four clusters of a half.
static void twelve_threads_take_the_sp_with_twelve_lanes(void **state) {
  (void)state;
  Toy toy;
  uint32_t taken;
  open_with(&toy, "shield:map=2+1-per-cluster");
  assert_int_equal(sp_for(&toy, 0, 0x7777, &taken), 1); // SP 1 has 12 healthy lanes, SP 0 eight
  assert_int_equal(taken, 12);
  assert_int_equal(sp_for(&toy, 1, 0x7777, &taken), 1);
  assert_int_equal(taken, 12);
  assert_int_equal(sp_for(&toy, 0, 0x0FFF, &taken), PART_ANY); // full clusters need two sub-warps on both: as the machine does
  assert_int_equal(taken, 6);
  toy_close(&toy);
  open_with(&toy, "shield:map=2+1-per-cluster,pool=true"); // four threads of a cluster on four lane slots of two lanes: once, on any SP
  assert_int_equal(sp_for(&toy, 0, 0x0FFF, &taken), PART_ANY);
  assert_int_equal(taken, 12);
  toy_close(&toy);
  open_with(&toy, "shield:map=2+1-per-cluster,shuffle,deform"); // without it, the SP of the warp's number
  assert_int_equal(sp_for(&toy, 0, 0x7777, &taken), 0);
  assert_int_equal(taken, 8);
  toy_close(&toy);
}

static void dead_clusters_go_to_the_other_sp(void **state) {
  (void)state;
  Toy toy;
  uint32_t taken;
  open_with(&toy, "shield:map=4+2-per-cluster");
  assert_int_equal(sp_for(&toy, 0, UINT32_MAX, &taken), 1);
  assert_int_equal(taken, 16);
  toy_close(&toy);
  // Cluster 0 is dead in SP 0, cluster 1 in SP 1: each does what it can.
  open_with(&toy, "shield");
  uint32_t maps[2] = {0x000F, 0x00F0};
  for (uint32_t sp = 0; sp < SPS; sp++) memcpy(toy_row(&toy, region_find(&toy.table, "shield.sp"), sp), &maps[sp], sizeof maps[sp]);
  assert_int_equal(sp_for(&toy, 0, 0x00FF, &taken), 0);
  assert_int_equal(taken, 4);
  assert_int_equal(sp_for(&toy, 0, 0x000F, &taken), 1);
  toy_close(&toy);
}

static void no_way_ends_the_launch(void **state) {
  (void)state;
  static const char *const some[] = {"shield:shuffle,map=1-per-cluster", "shield:intersp,map=1-per-cluster",
                                     "shield:map=1-per-cluster,where=agu"};
  for (size_t i = 0; i < COUNT_OF(some); i++) {
    Toy toy;
    open_with(&toy, some[i]);
    Who who = {.launch = 1};
    LanePart part = part_of(UINT32_MAX), before = part;
    PlaceEvent event = place_of(&who, &part, i == 2 ? &load : &add);
    assert_int_equal(hooks_place(&toy.chain, &toy.machine, &event), VERDICT_HALT);
    assert_int_equal(toy.detected, 1);
    assert_memory_equal(&part, &before, sizeof part);
    part = part_of(0x00010002);
    event = place_of(&who, &part, i == 2 ? &load : &add);
    bool goes = hooks_place(&toy.chain, &toy.machine, &event) == VERDICT_PASS;
    assert_int_equal(goes, i != 1); // thread 16 stands on the broken lane 0
    toy_close(&toy);
  }
}

static void latencies_are_charged(void **state) {
  (void)state;
  Toy toy;
  open_with(&toy, "shield:map=1+0-per-cluster,crossbar=3,control=5");
  Who who = {.launch = 1};
  LanePart part = part_of(1u << 4);
  PlaceEvent event = place_of(&who, &part, &add);
  assert_int_equal(hooks_place(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  assert_int_equal(event.late, 3); // lane 4 is whole in both SPs
  part = part_of(UINT32_MAX);
  event = place_of(&who, &part, &add);
  assert_int_equal(hooks_place(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  assert_int_equal(event.sp, 1);
  assert_int_equal(event.late, 8);
  toy_close(&toy);
}

// Integer and floating-point units of a lane apart.
static void pipes_are_mapped_apart(void **state) {
  (void)state;
  char path[] = P_tmpdir "/redoubt-map-XXXXXX";
  int file = mkstemp(path);
  static const char text[] = "# a map\nunit.sp[sm=0,sp=0,lane=0] fp\n  unit.sp[sp=1,sm=0,lane=0]   # both\nunit.sfu[sm=1,lane=2] int\n\n";
  assert_int_equal(write(file, text, sizeof text - 1), (ssize_t)sizeof text - 1);
  close(file);
  char protection[64];
  snprintf(protection, sizeof protection, "shield:units=true,map=%s", path);
  Toy toy;
  open_with(&toy, protection);
  static const uint32_t expected[] = {0, 1, 1, 1, 0, 0, 0, 0}; // SM, SP, pipe
  for (uint32_t row = 0; row < COUNT_OF(expected); row++) assert_int_equal(map_of(&toy, "shield.sp", row), expected[row]);
  assert_int_equal(map_of(&toy, "shield.sfu", 2), 4);
  assert_int_equal(map_of(&toy, "shield.sfu", 3), 0);
  Who who = {.launch = 1};
  LanePart part = part_of(0xF);
  PlaceEvent event = place_of(&who, &part, &add);
  assert_int_equal(hooks_place(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  assert_true(event.sp == 0 && part.filled == 0xF); // the integer unit is whole
  part = part_of(0xF);
  event = place_of(&who, &part, &fadd);
  assert_int_equal(hooks_place(&toy.chain, &toy.machine, &event), VERDICT_PASS);
  assert_int_equal(part.filled, 0xE);
  toy_close(&toy);
  snprintf(protection, sizeof protection, "shield:map=%s", path);
  toy_refused(&table, &shape, protection, "behind a lane stands nothing");
  unlink(path);
}

// ---- Maps ------------------------------------------------------------------------------------------------

static void patterns_break_what_they_say(void **state) {
  (void)state;
  Toy toy;
  open_with(&toy, "shield:map=3+1-per-cluster,where=sp+sfu");
  for (uint32_t row = 0; row < SMS * SPS; row++) {
    for (uint32_t cluster = 0; cluster < 4; cluster++) {
      assert_int_equal(__builtin_popcount(map_of(&toy, "shield.sp", row) >> 4 * cluster & 0xF), row % SPS == 0 ? 3 : 1);
    }
  }
  assert_int_equal(__builtin_popcount(map_of(&toy, "shield.sfu", 0)), 3);
  assert_int_equal(map_of(&toy, "shield.agu", 0), 0);
  toy_close(&toy);
  for (uint32_t density = 0; density <= 75; density += 5) {
    char protection[64];
    snprintf(protection, sizeof protection, "shield:map=random,density=%u,seed=%u", density, density);
    open_with(&toy, protection);
    uint32_t broken = 0;
    for (uint32_t row = 0; row < SMS * SPS; row++) {
      uint32_t map = map_of(&toy, "shield.sp", row);
      broken += (uint32_t)__builtin_popcount(map);
      for (uint32_t cluster = 0; cluster < 4; cluster++) assert_true(__builtin_popcount(map >> 4 * cluster & 0xF) <= 3);
    }
    assert_int_equal(broken, (SMS * SPS * LANES * density + 50) / 100);
    toy_close(&toy);
  }
}

// The map is filled in once, not at every launch; what struck it stays.
static void the_map_lasts(void **state) {
  (void)state;
  Toy toy;
  open_with(&toy, "shield:map=1-per-cluster");
  uint32_t before = map_of(&toy, "shield.sp", 0);
  toy_flip(&toy, &(Site){.region = region_find(&toy.table, "shield.sp"), .bit = 7});
  Who who = {.launch = 2};
  LaunchEvent launch = {.who = &who, .kernel = "toy"};
  hooks_launch_ended(&toy.table, toy.machine.block);
  hooks_launch(&toy.chain, &toy.machine, &launch);
  hooks_cycle(&toy.chain, &toy.machine);
  assert_int_equal(map_of(&toy, "shield.sp", 0), before ^ 1u << 7);
  toy_close(&toy);
}

static void unusable_sms_are_refused_or_retired(void **state) {
  (void)state;
  toy_refused(&table, &shape, "shield:map=4-per-cluster", "SM 0 has no healthy lane left in cluster 0 of any SP; retire=true");
  toy_refused(&table, &shape, "shield:map=4-per-cluster,retire=true", "no SM");
  toy_refused(&table, &shape, "shield:map=4-per-cluster,where=sfu", "cluster 0 of any special function unit");
  Toy toy;
  open_with(&toy, "shield:map=4+3-per-cluster,retire=true");
  Who who = {.launch = 1, .sm = 1};
  BlockEvent block = {.who = &who};
  assert_int_equal(hooks_block(&toy.chain, &toy.machine, &block), VERDICT_PASS);
  uint32_t dead = 0xF;
  memcpy(toy_row(&toy, region_find(&toy.table, "shield.sp"), 3), &dead, sizeof dead);
  assert_int_equal(hooks_block(&toy.chain, &toy.machine, &block), VERDICT_STALL);
  who.sm = 0;
  assert_int_equal(hooks_block(&toy.chain, &toy.machine, &block), VERDICT_PASS);
  memcpy(toy_row(&toy, region_find(&toy.table, "shield.sp"), 1), &dead, sizeof dead);
  assert_int_equal(hooks_block(&toy.chain, &toy.machine, &block), VERDICT_HALT);
  toy_close(&toy);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  static const char *const wrong[][2] = {
      {"shield:shufle", "did you mean 'shuffle'"},
      {"shield:pool=maybe", "true or false"},
      {"shield:map", "map is a pattern"},
      {"shield:map=5-per-cluster", "K from 0 to 4"},
      {"shield:density=101", "from 0 to 100"},
      {"shield:where=sp+dp", "where is some of"},
      {"shield:map=random,crossbar=65", "from 0 to 64"},
      {"shield:where=", "where names no unit"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) toy_refused(&table, &shape, wrong[i][0], wrong[i][1]);
  RegionTable bare = {outputs + 1, 2, 64};
  toy_refused(&bare, &shape, "shield", "no SPs");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_thread_runs_once_on_a_healthy_lane),
      cmocka_unit_test(shadows_never_push_threads_out),
      cmocka_unit_test(full_clusters_need_two_two_four),
      cmocka_unit_test(twelve_threads_take_the_sp_with_twelve_lanes),
      cmocka_unit_test(dead_clusters_go_to_the_other_sp),
      cmocka_unit_test(no_way_ends_the_launch),
      cmocka_unit_test(latencies_are_charged),
      cmocka_unit_test(pipes_are_mapped_apart),
      cmocka_unit_test(patterns_break_what_they_say),
      cmocka_unit_test(the_map_lasts),
      cmocka_unit_test(unusable_sms_are_refused_or_retired),
      cmocka_unit_test(wrong_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
