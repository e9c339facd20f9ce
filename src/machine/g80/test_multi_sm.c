// Several SMs: right results for every split of the grid, the thesis's times, and the defect of its Table 2.
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
      G80Machine *machine = make_vecadd(&spec, &v);
      assert_true(g80_run(machine, FAR_CYCLE));
      assert_true(vecadd_right(&v, machine));
      G80Result result;
      g80_result(machine, &result);
      assert_int_equal(result.pass_count, (blocks[j] + 8 * sms[i] - 1) / (8 * sms[i]));
      g80_free(machine);
    }
  }
}

typedef struct ThesisTime {
  uint32_t sms, blocks, threads;
  uint64_t ns;
} ThesisTime;

// Tables 1 and 3 of the thesis: vector addition, absolute times of the end of SMP_Processing.
static const ThesisTime times[] = {
    {1, 8, 64, 297635},  {1, 16, 64, 593515}, {1, 32, 64, 1185275}, {2, 8, 64, 220555},   {2, 16, 64, 438425},
    {2, 32, 64, 875095}, {4, 8, 64, 162735},  {4, 16, 64, 323765},  {4, 32, 64, 644885},  {8, 8, 64, 145055},
    {8, 16, 64, 293905}, {8, 32, 64, 592555}, {16, 8, 64, 165295},  {16, 16, 64, 276075}, {16, 32, 64, 563545},
    {1, 16, 32, 307915}, {1, 32, 32, 614075}, {2, 16, 32, 227145},  {2, 32, 32, 452535},
};

static void takes_the_thesiss_times(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(times); i++) {
    Spec spec;
    G80Result result;
    thesis_spec(&spec, times[i].sms);
    Vecadd v = {times[i].blocks, times[i].threads, true};
    G80Machine *machine = make_vecadd(&spec, &v);
    assert_true(g80_run(machine, FAR_CYCLE));
    assert_true(vecadd_right(&v, machine));
    g80_result(machine, &result);
    assert_in_range(result.kernel_done_ns, times[i].ns * 95 / 100, times[i].ns * 105 / 100);
    g80_free(machine);
  }
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
    G80Machine *machine = make_vecadd(&spec, &v);
    assert_true(g80_run(machine, FAR_CYCLE));
    assert_int_equal(vecadd_right(&v, machine), i % 2 == 0 || row->consistent);
    g80_free(machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(splits_any_grid),
      cmocka_unit_test(takes_the_thesiss_times),
      cmocka_unit_test(shows_the_defect_of_table_2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
