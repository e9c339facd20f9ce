// Unit tests of the power model: events counted by hand, on statistics and structures of the test's own.
#include "power/power.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

// Every statistic that power.def names, once; others between them, so that an index is not a row's number.
typedef struct Bed {
  const char *names[128];
  uint64_t counts[128];
  PowerNames list;
  Spec spec;
} Bed;

static uint64_t *count_named(Bed *bed, const char *name, size_t length) {
  for (uint32_t i = 0; i < bed->list.count; i++) {
    if (strlen(bed->names[i]) == length && memcmp(bed->names[i], name, length) == 0) return &bed->counts[i];
  }
  return NULL;
}

static uint64_t *count_of(Bed *bed, const char *name) { return count_named(bed, name, strlen(name)); }

static void add_names(Bed *bed, Arena *arena, const char *text) {
  while (*text != '\0') {
    size_t length = strcspn(text, " ");
    bool is_sign = length == 1 && (*text == '+' || *text == '-');
    if (!is_sign && count_named(bed, text, length) == NULL) {
      bed->names[bed->list.count++] = "another";
      bed->names[bed->list.count++] = arena_copy_text(arena, text, length);
    }
    text += length + strspn(text + length, " ");
  }
}

static void bed_open(Bed *bed, Arena *arena) {
  *bed = (Bed){0};
  spec_default(&bed->spec);
  bed->spec.clock_core_khz = 500000;
  bed->list.items = bed->names;
  add_names(bed, arena, "cycles");
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) add_names(bed, arena, energy_info[i].statistics);
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) add_names(bed, arena, leakage_info[i].statistic);
  for (uint32_t i = 0; i < bed->list.count; i++) assert_true(i < COUNT_OF(bed->names) - 2);
}

static Energy energy(Bed *bed, const RegionTable *regions) {
  PowerModel model;
  assert_true(power_model(&model, &bed->spec, regions, &bed->list));
  return power_energy(&model, bed->counts);
}

static void assert_near(double value, double expected) {
  double difference = value > expected ? value - expected : expected - value;
  assert_true(difference <= 1e-9 * expected);
}

static void an_event_costs_its_energy(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  bed.spec.power_fp32 = 4600;
  bed.spec.power_issue = 40000;
  *count_of(&bed, "operations_fp32") = 320;
  *count_of(&bed, "issued") = 10;
  Energy all = energy(&bed, NULL);
  assert_near(all.event[ENERGY_fp32], 320 * 4.6);
  assert_near(all.event[ENERGY_issue], 400);
  assert_near(all.dynamic, 320 * 4.6 + 400);
  assert_near(all.total, all.dynamic);
  assert_true(all.leakage == 0);
  bed.spec.power_scale = 2000; // another process
  assert_near(energy(&bed, NULL).dynamic, 2 * all.dynamic);
}

// Sums of statistics, with a sign.
static void statistics_are_added_and_taken_away(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  bed.spec.power_shared = 1000;
  bed.spec.power_l1d_fill = 1000;
  *count_of(&bed, "loads_shared") = 3;
  *count_of(&bed, "stores_shared") = 4;
  *count_of(&bed, "shared_conflicts") = 5;
  *count_of(&bed, "l1d_misses") = 9;
  *count_of(&bed, "l1d_merged") = 2;
  Energy all = energy(&bed, NULL);
  assert_near(all.event[ENERGY_shared], 12);
  assert_near(all.event[ENERGY_l1d_fill], 7);
  *count_of(&bed, "l1d_merged") = 10; // a fault in a counter
  assert_true(energy(&bed, NULL).event[ENERGY_l1d_fill] == 0);
}

// Memory outside of the chip has its own process.
static void dram_is_not_scaled(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  bed.spec.power_dram = 8000000;
  bed.spec.power_scale = 5191;
  *count_of(&bed, "dram_reads") = 2;
  *count_of(&bed, "dram_writes") = 1;
  assert_near(energy(&bed, NULL).dynamic, 3 * 8000);
}

static const Region structures[] = {
    {.name = "rf", .rows = 10, .units = 32, .bits = 32, .flags = REGION_INJECTABLE},                          // 10,240 bits
    {.name = "l1d.tag", .rows = 10, .units = 1, .bits = 24, .flags = REGION_INJECTABLE},                      // 240
    {.name = "latch", .rows = 100, .units = 1, .bits = 1, .flags = REGION_INJECTABLE},                        // 100
    {.name = "ecc.rf", .rows = 10, .units = 32, .bits = 7, .flags = REGION_INJECTABLE, .owned_by_scheme = 1}, // 2,240
    {.name = "dram", .rows = 1000, .units = 32, .bits = 32, .flags = REGION_INJECTABLE | REGION_OUTSIDE},     // not on the chip
    {.name = "unit.sp", .rows = 1, .units = 32, .bits = 32, .flags = REGION_INJECTABLE | REGION_OUTPUT},      // no cells
};
static const RegionTable table = {.items = structures, .count = COUNT_OF(structures)};

static void cells_leak_by_their_bits(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  bed.spec.power_leak_memory = 100000; // pW
  bed.spec.power_leak_latch = 200000;
  bed.spec.power_leak_scheme = 50000;
  bed.spec.power_scale = 3000; // leakage is given as it is
  *count_of(&bed, "cycles") = 1000;
  Energy all = energy(&bed, &table); // 2 us: 0.2 pJ for a bit of 100 nW
  assert_near(all.leak[LEAKAGE_leak_memory], 0.2 * (10240 + 240));
  assert_near(all.leak[LEAKAGE_leak_latch], 0.4 * 100);
  assert_near(all.leak[LEAKAGE_leak_scheme], 0.1 * 2240);
  assert_near(all.leakage, 0.2 * (10240 + 240) + 0.4 * 100 + 0.1 * 2240);
  assert_near(energy_watts(&all), 1e-12 * all.total / 2e-6);
  double watts = 0;
  for (uint32_t i = 0; i < table.count; i++) watts += power_region_watts(&bed.spec, &structures[i]);
  assert_near(watts * 2e-6 * 1e12, all.leakage);
  *count_of(&bed, "cycles") = 2000;
  assert_near(energy(&bed, &table).leakage, 2 * all.leakage); // twice as long
  bed.spec.clock_core_khz = 1000000;
  assert_near(energy(&bed, &table).leakage, all.leakage); // and twice as fast
}

static void logic_leaks_by_the_sm(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  bed.spec.power_leak_sm = 200000; // uW
  bed.spec.power_leak_chip = 1000000;
  *count_of(&bed, "cycles") = 500;
  *count_of(&bed, "sm_cycles") = 15 * 500;
  Energy all = energy(&bed, NULL); // 1 us
  assert_near(all.leakage, 1e6 * (15 * 0.2 + 1));
  assert_near(energy_watts(&all), 4);
}

static void groups_hold_all_energy(void **state) {
  Bed bed;
  bed_open(&bed, *state);
#define ENERGY(name, place, group, statistics, unit, help) bed.spec.power_##name = 1000 + 7 * ENERGY_##name;
#define LEAKAGE(name, group, kind, statistic, unit, help) bed.spec.power_##name = 1000000 + LEAKAGE_##name;
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
  for (uint32_t i = 0; i < bed.list.count; i++) bed.counts[i] = 100 + i;
  Energy all = energy(&bed, &table);
  EnergyGroups groups = energy_groups(&all);
  double sum = 0, protection = 0;
  for (uint32_t i = 0; i < groups.count; i++) {
    sum += groups.pj[i];
    protection += strcmp(groups.name[i], "protection") == 0 ? groups.pj[i] : 0;
  }
  assert_true(groups.count < POWER_MOST_GROUPS);
  assert_near(sum, all.total);
  assert_near(protection, all.event[ENERGY_compare] + all.event[ENERGY_compare_point] + all.event[ENERGY_hold] +
                              all.event[ENERGY_hold_line] + all.event[ENERGY_compare_sector] + all.event[ENERGY_check_bit] +
                              all.event[ENERGY_moved] + all.event[ENERGY_hint] + all.leak[LEAKAGE_leak_scheme]);
}

// docs/power.md, "Why 21 W and not 250 W": a second of 15 SMs that do two multiply-adds a cycle on all lanes; without the cells' leakage.
static void peak_is_what_the_page_says(void **state) {
  Bed bed;
  Diags diags = {0};
  bed_open(&bed, *state);
  assert_true(spec_load(&bed.spec, *state, "fermi-gtx480", &diags));
  const uint64_t cycles = 700000000, sms = 15, issued = 2 * sms * cycles;
  *count_of(&bed, "cycles") = cycles;
  *count_of(&bed, "sm_cycles") = sms * cycles;
  *count_of(&bed, "issued") = *count_of(&bed, "icache_accesses") = *count_of(&bed, "register_writes") = issued;
  *count_of(&bed, "register_reads") = 3 * issued;
  *count_of(&bed, "operations_fp32") = 32 * issued;
  Energy all = energy(&bed, NULL);
  const struct {
    double pj, watts;
  } parts[] = {{all.event[ENERGY_issue] + all.event[ENERGY_fetch], 1.2},
               {all.event[ENERGY_register_read] + all.event[ENERGY_register_write], 9.5},
               {all.event[ENERGY_fp32], 3.4},
               {all.event[ENERGY_clock], 1.4}};
  assert_near(all.seconds, 1);
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    assert_true(parts[i].pj * 1e-12 > parts[i].watts - 0.05 && parts[i].pj * 1e-12 < parts[i].watts + 0.05);
}

static void a_machine_without_numbers_has_no_model(void **state) {
  Bed bed;
  bed_open(&bed, *state);
  PowerModel model;
  assert_true(power_model(&model, &bed.spec, &table, &bed.list));
  assert_false(model.is_there);
  bed.spec.power_leak_chip = 1;
  assert_true(power_model(&model, &bed.spec, &table, &bed.list));
  assert_true(model.is_there);
  bed.names[1] = "no such statistic";
  assert_false(power_model(&model, &bed.spec, &table, &bed.list));
}

static int make_arena(void **state) {
  *state = arena_new();
  return 0;
}

static int free_arena(void **state) {
  arena_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_event_costs_its_energy),  cmocka_unit_test(statistics_are_added_and_taken_away),
      cmocka_unit_test(dram_is_not_scaled),         cmocka_unit_test(cells_leak_by_their_bits),
      cmocka_unit_test(logic_leaks_by_the_sm),      cmocka_unit_test(groups_hold_all_energy),
      cmocka_unit_test(peak_is_what_the_page_says), cmocka_unit_test(a_machine_without_numbers_has_no_model),
  };
  return cmocka_run_group_tests(tests, make_arena, free_arena);
}
