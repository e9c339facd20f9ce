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
      cmocka_unit_test(shows_the_defect_of_table_2),
      cmocka_unit_test(cells_are_those_of_their_sm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
