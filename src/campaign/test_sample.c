// Which faults are drawn: inside their window, evenly over cells, the same for the same seed.
#include "campaign/campaign_internal.h"

#include <setjmp.h>
#include <cmocka.h>

static const Region cells[] = {
    {.name = "a", .unit = "unit", .dims = {{"row", 3}}, .dim_count = 1, .flags = REGION_INJECTABLE, .rows = 3, .units = 2, .bits = 8},
    {.name = "b.x", .unit = "unit", .dims = {{"row", 1}}, .dim_count = 1, .flags = REGION_INJECTABLE, .rows = 1, .units = 1, .bits = 16},
    {.name = "b.y", .unit = "unit", .dims = {{"row", 1}}, .dim_count = 1, .flags = REGION_INJECTABLE, .rows = 1, .units = 1, .bits = 32},
    {.name = "o",
     .unit = "lane",
     .dims = {{"row", 1}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE | REGION_OUTPUT,
     .rows = 1,
     .units = 4,
     .bits = 32},
    {.name = "dram",
     .unit = "word",
     .dims = {{"row", 9}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE | REGION_OUTSIDE,
     .rows = 9,
     .units = 4,
     .bits = 32},
    {.name = "counter", .unit = "unit", .dims = {{"row", 1}}, .dim_count = 1, .flags = REGION_STAT, .rows = 1, .units = 1, .bits = 32},
};
static GoldenRow launches[] = {
    {.launch = 1, .kernel = "k", .began_at = 0, .cycles = 100},
    {.launch = 2, .kernel = "other", .began_at = 100, .cycles = 50},
    {.launch = 3, .kernel = "k", .began_at = 150, .cycles = 300},
};

static Golden golden_of(void) {
  Golden golden = {.cycles = 450, .table = {cells, COUNT_OF(cells), 64}};
  golden.launches.items = launches;
  golden.launches.count = COUNT_OF(launches);
  return golden;
}

static bool make(Population *population, const Golden *golden, const char *structures, const char *window, const char *says) {
  Diags diags = {0};
  CampaignOptions options = {.structures = structures, .window = window, .model = "flip", .seed = 7};
  bool good = population_make(population, golden, &options, &diags);
  if (says != NULL) assert_non_null(strstr(diags.items[0].text, says));
  diags_free(&diags);
  return good;
}

enum { DRAWS = 20000 };

static void a_kernel_is_all_its_launches(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  assert_true(make(&population, &golden, "a", "kernel:k", NULL));
  uint32_t first = 0;
  for (uint64_t i = 0; i < DRAWS; i++) {
    uint64_t cycle = population_draw(&population, &golden.table, i).from;
    assert_true(cycle < 100 || (cycle >= 150 && cycle < 450));
    first += cycle < 100;
  }
  assert_in_range(first, DRAWS * 22 / 100, DRAWS * 28 / 100); // a quarter of its cycles
}

static void windows_bound_the_cycles(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  assert_true(make(&population, &golden, "a", "cycles:120-130", NULL));
  for (uint64_t i = 0; i < DRAWS; i++) assert_in_range(population_draw(&population, &golden.table, i).from, 120, 129);
  assert_false(make(&population, &golden, "a", "kernel:none", "launches no kernel 'none'"));
  assert_false(make(&population, &golden, "a", "cycles:120-451", "within 0-450"));
  assert_false(make(&population, &golden, "a", "cycles:120-120", "cycles:FROM-TO"));
}

// Structures are struck in turns, their bits evenly; names before a dot mean the whole group.
static void structures_take_turns(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  assert_true(make(&population, &golden, "b", "all", NULL));
  uint32_t wide = 0, high = 0;
  for (uint64_t i = 0; i < DRAWS; i++) {
    Fault fault = population_draw(&population, &golden.table, i), again = population_draw(&population, &golden.table, i);
    assert_memory_equal(&fault, &again, sizeof fault);
    assert_true(fault.site.region == 1 || fault.site.region == 2);
    assert_int_equal(fault.site.region, 1 + population_structure(&population, i));
    wide += fault.site.region == 2;
    high += fault.site.region == 2 && fault.site.bit >= 24;
  }
  assert_int_equal(wide, DRAWS / 2);
  assert_in_range(high, DRAWS / 2 * 23 / 100, DRAWS / 2 * 27 / 100); // a quarter of its bits
  assert_true(make(&population, &golden, "b.y", "all", NULL));
  assert_int_equal(population_draw(&population, &golden.table, 0).site.region, 2);
  assert_false(make(&population, &golden, "counter", "all", "no structure 'counter'"));
  assert_false(make(&population, &golden, "c", "all", "no structure 'c'"));
}

// Every round has each structure once, and every shard gets about as many of each, whatever their numbers.
static void shards_get_all_structures(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= 12; count++) {
    Population population = {.count = count, .seed = 3};
    for (uint64_t round = 0; round < 100; round++) {
      uint32_t seen = 0;
      for (uint32_t i = 0; i < count; i++) seen |= 1u << population_structure(&population, round * count + i);
      assert_int_equal(seen, (1u << count) - 1);
    }
    for (uint32_t shards = 1; shards <= 16; shards++) {
      uint32_t hits[16][12] = {{0}};
      for (uint64_t id = 0; id < DRAWS * 2; id++) hits[id % shards][population_structure(&population, id)]++;
      uint32_t even = DRAWS * 2 / shards / count;
      for (uint32_t s = 0; s < shards; s++) {
        for (uint32_t i = 0; i < count; i++) assert_in_range(hits[s][i], even * 6 / 10, even * 14 / 10);
      }
    }
  }
}

// What is named twice counts once; "all" is every cell on the chip.
static void structures_count_once(void **state) {
  (void)state;
  static const struct {
    const char *structures;
    uint32_t count;
    double bits;
  } cases[] = {{"a,a", 1, 48}, {"b,b.x", 2, 48}, {"b.x,b", 2, 48}, {"all", 3, 96}, {"a,all,b.y", 3, 96}, {"all,dram", 4, 96 + 9 * 128},
               {"o", 1, 128}};
  Golden golden = golden_of();
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Population population;
    assert_true(make(&population, &golden, cases[i].structures, "all", NULL));
    assert_int_equal(population.count, cases[i].count);
    double size = 0;
    for (uint32_t k = 0; k < population.count; k++) size += population_size(&population, k);
    assert_true(size == cases[i].bits * 450);
  }
  Population population;
  assert_true(make(&population, &golden, "o", "all", NULL));
  assert_true(population_draw(&population, &golden.table, 0).is_output);
  assert_true(make(&population, &golden, "a", "all", NULL));
  assert_false(population_draw(&population, &golden.table, 0).is_output);
}

// Only what is named is held: all bits of it are struck, and no other.
static void parts_hold_what_they_name(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  assert_true(make(&population, &golden, "a[unit=1,row=2],b.x", "all", NULL));
  assert_int_equal(population.bits[0], 8);
  assert_int_equal(population.bits[1], 16);
  uint32_t struck = 0;
  for (uint64_t i = 0; i < DRAWS; i++) {
    Fault fault = population_draw(&population, &golden.table, i);
    if (fault.site.region != 0) continue;
    assert_true(fault.site.row == 2 && fault.site.unit == 1 && fault.site.bit < 8);
    struck |= 1u << fault.site.bit;
  }
  assert_int_equal(struck, 0xFF);
  assert_true(make(&population, &golden, "a[bit=7]", "all", NULL));
  assert_int_equal(population.bits[0], 6);
  assert_false(make(&population, &golden, "a[row=3]", "all", "row is a number from 0 to 2"));
  assert_false(make(&population, &golden, "a[lane=1]", "all", "has no such key"));
  assert_false(make(&population, &golden, "a[row=1", "all", "does not end with ']'"));
  assert_false(make(&population, &golden, "a[row]", "all", "is a number"));
  assert_false(make(&population, &golden, "a[row=1],a", "all", "one part of it at a time"));
  assert_false(make(&population, &golden, "b[row=0]", "all", "no structure 'b'"));
}

// Each bit of each structure once.
static void every_bit_comes_once(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  Diags diags = {0};
  CampaignOptions options = {.structures = "a[row=1],b.y", .window = "cycles:0-1", .model = "stuck1", .seed = 7, .every = true};
  assert_true(population_make(&population, &golden, &options, &diags));
  assert_int_equal(population_total(&population), 16 + 32);
  uint8_t seen[48] = {0};
  for (uint64_t i = 0; i < 48; i++) {
    Fault fault = population_draw(&population, &golden.table, i);
    assert_int_equal(fault.from, 0);
    assert_int_equal(population_structure(&population, i), fault.site.region == 0 ? 0 : 1);
    uint32_t place = fault.site.region == 0 ? fault.site.unit * 8 + fault.site.bit : 16 + fault.site.bit;
    assert_int_equal(seen[place]++, 0);
    if (fault.site.region == 0) assert_int_equal(fault.site.row, 1);
  }
}

// Drawn by bits, a structure is struck as often as its bits are many.
static void bits_are_alike(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population population;
  Diags diags = {0};
  CampaignOptions options = {.structures = "a[row=1],b.y", .window = "cycles:0-1", .model = "flip", .seed = 7, .by_bits = true};
  assert_true(population_make(&population, &golden, &options, &diags));
  uint32_t seen[48] = {0}, least = UINT32_MAX, most = 0;
  for (uint64_t i = 0; i < 48000; i++) {
    Fault fault = population_draw(&population, &golden.table, i);
    assert_int_equal(population_structure(&population, i), fault.site.region == 0 ? 0 : 1);
    seen[fault.site.region == 0 ? fault.site.unit * 8 + fault.site.bit : 16 + fault.site.bit]++;
  }
  for (uint32_t i = 0; i < 48; i++) least = min_u32(least, seen[i]), most = max_u32(most, seen[i]);
  assert_in_range(least, 880, 1000);
  assert_in_range(most, 1000, 1120);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_is_all_its_launches), cmocka_unit_test(windows_bound_the_cycles),
      cmocka_unit_test(structures_take_turns),        cmocka_unit_test(shards_get_all_structures),
      cmocka_unit_test(structures_count_once),        cmocka_unit_test(parts_hold_what_they_name),
      cmocka_unit_test(every_bit_comes_once),         cmocka_unit_test(bits_are_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
