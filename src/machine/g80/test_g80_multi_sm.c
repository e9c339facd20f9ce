// Several SMs: right results for every split of the grid, the defect of the thesis's Table 2, and cells of every SM in their place.
#include "machine/g80/g80_internal.h"
#include "machine/g80/test_machine.h"

static void thesis_spec(Spec *spec, uint32_t sms) {
  Diags diags = {0};
  Arena *arena = arena_new();
  assert_true(spec_load(spec, arena, "flexgrip-thesis", &diags));
  spec->g80_sms = sms;
  diags_free(&diags);
  arena_free(arena);
}

static void splits_any_grid(void **state) {
  (void)state;
  static const uint32_t sms[] = {1, 2, 3, 5, 8, 16, 32}, blocks[] = {1, 2, 7, 8, 9, 23, 30};
  for (uint32_t i = 0; i < COUNT_OF(sms); i++) {
    for (uint32_t j = 0; j < COUNT_OF(blocks); j++) {
      Spec spec;
      thesis_spec(&spec, sms[i]);
      Vecadd v = {blocks[j], 64, j % 2 == 1};
      Machine *machine = make_vecadd(&spec, &v);
      assert_true(machine_run(machine, FAR_CYCLE));
      assert_true(vecadd_right(&v, machine));
      G80Result result;
      g80_result(machine, &result);
      assert_int_equal(result.pass_count, (blocks[j] + 8 * sms[i] - 1) / (8 * sms[i]));
      machine_free(machine);
    }
  }
}

enum { DEALT_SMS = 3, DEALT_BLOCKS = 32 }; // a full pass of 24 blocks, then one of 8: 3, 3 and 2
typedef struct Dealt {
  uint32_t sm[DEALT_BLOCKS], times[DEALT_BLOCKS];
} Dealt;

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Dealt *dealt = hook->own;
  (void)machine;
  assert_in_range(event->who->block, 0, DEALT_BLOCKS - 1);
  if (event->done) return VERDICT_PASS;
  dealt->sm[event->who->block] = event->who->sm;
  dealt->times[event->who->block]++;
  return VERDICT_PASS;
}

static void deal(uint32_t policy, uint64_t seed, Dealt *dealt) {
  Spec spec;
  thesis_spec(&spec, DEALT_SMS);
  spec.dispatch_policy = policy;
  spec.dispatch_seed = seed;
  *dealt = (Dealt){0};
  Vecadd v = {DEALT_BLOCKS, 32, false};
  Hook hook = {.name = "test", .kind = HOOK_OBSERVER, .own = dealt, .block = on_block, .next_cycle = UINT64_MAX};
  HookChain chain = {.hooks = {&hook}, .count = 1};
  Machine *first = make_vecadd(&spec, &v), *machine = machine_clone(first, NULL, &chain);
  assert_true(machine_run(machine, FAR_CYCLE));
  assert_true(vecadd_right(&v, machine));
  for (uint32_t i = 0; i < DEALT_BLOCKS; i++) assert_int_equal(dealt->times[i], 1);
  machine_free(machine);
  machine_free(first);
}

// Every block once, where the policy says.
static void deals_blocks_by_policy(void **state) {
  (void)state;
  static const uint32_t even_odd[DEALT_SMS] = {0, 2, 1};
  Dealt dealt, other;
  for (uint32_t policy = 0; policy < 3; policy++) {
    deal(policy, 1, &dealt);
    for (uint32_t i = 0; i < DEALT_BLOCKS; i++) {
      uint32_t place = i % 24, ordered = i < 24 ? i / 8 : min_u32(place / 3, 2);
      assert_int_equal(dealt.sm[i], policy == 0 ? place % DEALT_SMS : policy == 1 ? ordered : even_odd[place % DEALT_SMS]);
    }
  }
  deal(3, 1, &dealt);
  bool differs = false;
  for (uint64_t seed = 2; seed < 6; seed++) {
    deal(3, seed, &other);
    differs |= memcmp(&dealt, &other, sizeof dealt) != 0;
  }
  assert_true(differs);
}

static uint64_t cycles_with(uint32_t sms, uint32_t arbiters, uint32_t outcome) {
  Spec spec;
  thesis_spec(&spec, sms);
  spec.g80_arbiters = arbiters;
  Vecadd v = {16, 64, true};
  Machine *machine = make_vecadd(&spec, &v);
  assert_true(machine_run(machine, FAR_CYCLE));
  G80Result result;
  g80_result(machine, &result);
  assert_int_equal(result.outcome, outcome);
  if (outcome == G80_DONE) assert_true(vecadd_right(&v, machine));
  machine_free(machine);
  return result.cycles;
}

// The thesis's arbiters lose nothing and cost waiting; ports of an SM's own cost none; the released arbiter loses what comes at once.
static void arbiters_decide_who_waits(void **state) {
  (void)state;
  enum { RELEASED, THESIS, PRIVATE };
  assert_int_equal(cycles_with(1, PRIVATE, G80_DONE), cycles_with(1, THESIS, G80_DONE)); // alone nobody waits
  uint64_t alone = cycles_with(1, THESIS, G80_DONE), shared = cycles_with(2, THESIS, G80_DONE), own = cycles_with(2, PRIVATE, G80_DONE);
  assert_in_range(2 * own, alone, alone + 8); // half of it, and the block scheduler's part
  assert_true(shared > own + own / 4);
  cycles_with(2, RELEASED, G80_HANG);
  cycles_with(1, RELEASED, G80_DONE);
}

typedef struct LimitRow {
  uint32_t sms, blocks, threads;
  bool consistent;
} LimitRow;
static const LimitRow limits[] = {
    {1, 128, 32, true}, {1, 64, 64, true}, {1, 32, 128, true},  {2, 128, 32, true}, {2, 64, 64, true},  {2, 32, 128, true},
    {4, 128, 32, true}, {4, 64, 64, true}, {4, 32, 128, false}, {8, 128, 32, true}, {8, 64, 64, false}, {8, 32, 128, false},
};

static void shows_the_defect_of_table_2(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2 * COUNT_OF(limits); i++) {
    const LimitRow *row = &limits[i / 2];
    Spec spec;
    thesis_spec(&spec, row->sms);
    spec.g80_thesis_register_addressing = i % 2;
    Vecadd v = {row->blocks, row->threads, true};
    Machine *machine = make_vecadd(&spec, &v);
    assert_true(machine_run(machine, FAR_CYCLE));
    assert_int_equal(vecadd_right(&v, machine), i % 2 == 0 || row->consistent);
    machine_free(machine);
  }
}

// A site of an SM is the cell that the SM itself uses.
static void cells_are_those_of_their_sm(void **state) {
  (void)state;
  Spec spec;
  thesis_spec(&spec, 16);
  Vecadd v = {16, 32, false};
  Machine *machine = make_vecadd(&spec, &v);
  for (uint32_t sm = 0; sm < 16; sm++) {
    const void *cells[] = {&g80_in(machine)->sm[sm].controller.idx, &g80_in(machine)->sm[sm].stages[STAGE_WRITE].job.gpr_base,
                           &g80_in(machine)->sm[sm].write_address[0], warp_cell(g80_in(machine), REGION_ID_wp_pc, sm, 0)};
    const char *const names[] = {"ctl_idx", "write_gpr_base", "write_address", "wp_pc"};
    for (uint32_t i = 0; i < COUNT_OF(cells); i++) {
      uint16_t number = region_find(machine_regions(machine), names[i]);
      assert_int_not_equal(number, REGION_NONE);
      const Region *region = &machine_regions(machine)->items[number];
      Site site = {.region = number, .row = sm * (region->rows / 16)};
      assert_ptr_equal(machine_block(machine) + site_byte(region, &site), cells[i]);
    }
  }
  machine_free(machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splits_any_grid),
      cmocka_unit_test(deals_blocks_by_policy),
      cmocka_unit_test(arbiters_decide_who_waits),
      cmocka_unit_test(shows_the_defect_of_table_2),
      cmocka_unit_test(cells_are_those_of_their_sm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
