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
    {.name = "check.a",
     .unit = "unit",
     .dims = {{"row", 2}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE,
     .rows = 2,
     .units = 1,
     .bits = 8,
     .owned_by_scheme = 1},
    {.name = "check.b",
     .unit = "unit",
     .dims = {{"row", 1}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE,
     .rows = 1,
     .units = 1,
     .bits = 8,
     .owned_by_scheme = 1},
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

// A mangled kernel answers to what people call it, as long as that is one of those that run.
static void a_window_takes_any_name_of_a_kernel(void **state) {
  (void)state;
  GoldenRow rows[] = {{.launch = 1, .kernel = "_Z5scalePfj", .cycles = 100},
                      {.launch = 2, .kernel = "_Z3sumIfEvPT_", .began_at = 100, .cycles = 50},
                      {.launch = 3, .kernel = "_Z3sumIdEvPT_", .began_at = 150, .cycles = 200},
                      {.launch = 4, .kernel = "_Z5scalePfj", .began_at = 350, .cycles = 100}};
  Golden golden = golden_of();
  golden.launches.items = rows;
  Population population;
  const struct {
    const char *name, *symbol, *says;
    uint32_t count;
    uint64_t cycles;
  } cases[] = {{"kernel:scale", "_Z5scalePfj", NULL, 4, 200},
               {"kernel:_Z5scalePfj", "_Z5scalePfj", NULL, 4, 200},
               {"kernel:scale(float*, unsigned int)", "_Z5scalePfj", NULL, 4, 200},
               {"kernel:sum<double>", "_Z3sumIdEvPT_", NULL, 4, 200},
               {"kernel:sum", "_Z3sumIfEvPT_", NULL, 2, 50},
               {"kernel:sum", NULL, "kernels '_Z3sumIfEvPT_' and '_Z3sumIdEvPT_' are both called 'sum'", 4, 0},
               {"kernel:scal", NULL, "launches no kernel 'scal'", 4, 0}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    golden.launches.count = cases[i].count;
    bool good = make(&population, &golden, "a", cases[i].name, cases[i].says);
    assert_int_equal(good, cases[i].says == NULL);
    if (!good) continue;
    assert_string_equal(population.kernel, cases[i].symbol);
    assert_int_equal(population.cycles, cases[i].cycles);
  }
  rows[1].kernel = "scale"; // an exact name is never ambiguous
  golden.launches.count = 4;
  assert_true(make(&population, &golden, "a", "kernel:scale", NULL));
  assert_int_equal(population.cycles, 50);
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
  assert_false(make(&population, &golden, "counter", "all", "do not strike 'counter'"));
  assert_false(make(&population, &golden, "c", "all", "no structure 'c'"));
}

// Every round has each structure once, and every shard gets about as many of each, whatever their numbers.
static void shards_get_all_structures(void **state) {
  (void)state;
  for (uint32_t count = 1; count <= 12; count++) {
    Population population = {.count = count, .machine_count = count, .seed = 3};
    for (uint16_t i = 0; i < count; i++) population.dealt[i] = i;
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

// What no such GPU has is struck by name alone.
static void all_leaves_out_the_simulators_own(void **state) {
  (void)state;
  Region own[COUNT_OF(cells)];
  memcpy(own, cells, sizeof own);
  own[0].origin = SIMULATORS_OWN("not there");
  own[1].origin = STANDS_FOR("something else");
  Golden golden = golden_of();
  golden.table.items = own;
  Population all, named, both;
  assert_true(make(&all, &golden, "all", "all", NULL) && make(&named, &golden, "a", "all", NULL) &&
              make(&both, &golden, "all,a", "all", NULL));
  assert_int_equal(all.count, 4);
  assert_int_equal(named.count, 1);
  assert_int_equal(both.count, 5);
  for (uint32_t i = 0; i < all.count; i++) assert_int_not_equal(all.regions[i], 0);
}

// What is named twice counts once; "all" is every cell on the chip.
static void structures_count_once(void **state) {
  (void)state;
  static const struct {
    const char *structures;
    uint32_t count;
    double bits;
  } cases[] = {{"a,a", 1, 48}, {"b,b.x", 2, 48}, {"b.x,b", 2, 48}, {"all", 5, 120}, {"a,all,b.y", 5, 120}, {"all,dram", 6, 120 + 9 * 128},
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

// The faults of one structure, by their number within it.
static void list_faults(const Golden *golden, const char *structures, uint16_t region, Fault *faults, uint32_t count) {
  Population population;
  assert_true(make(&population, golden, structures, "all", NULL));
  uint32_t found = 0;
  for (uint64_t id = 0; found < count; id++) {
    Fault fault = population_draw(&population, &golden->table, id);
    if (fault.site.region != region) continue;
    assert_int_equal(population_number(&population, id), found);
    faults[found++] = fault;
  }
}

// Whatever else is struck, and however it is written, a structure has the same faults; another structure, or a part of it, has others.
static void structures_have_their_own_faults(void **state) {
  (void)state;
  enum { COUNT = 200 };
  static const char *const lists[] = {"a,b.x", "b.x,a", "all", "dram,o,b,a", "a,check"};
  static Fault alone[COUNT], there[COUNT];
  Golden golden = golden_of();
  list_faults(&golden, "a", 0, alone, COUNT);
  for (size_t i = 0; i < COUNT_OF(lists); i++) {
    list_faults(&golden, lists[i], 0, there, COUNT);
    assert_memory_equal(alone, there, sizeof alone);
  }
  list_faults(&golden, "a[unit=1,row=2],b", 0, alone, COUNT);
  list_faults(&golden, "b.y,a[row=2,unit=1]", 0, there, COUNT);
  assert_memory_equal(alone, there, sizeof alone);
  list_faults(&golden, "a[unit=0,row=2]", 0, there, COUNT);
  uint32_t same = 0;
  for (uint32_t i = 0; i < COUNT; i++) same += alone[i].from == there[i].from;
  assert_in_range(same, 0, 5); // by chance: of 450 cycles
  list_faults(&golden, "b.x", 1, there, COUNT);
  same = 0;
  for (uint32_t i = 0; i < COUNT; i++) same += alone[i].from == there[i].from;
  assert_in_range(same, 0, 5);
}

// How many of the first faults strike each structure.
static void count_faults(const Population *population, uint64_t end, uint32_t counts[8]) {
  memset(counts, 0, 8 * sizeof *counts);
  for (uint64_t id = 0; id < end; id++) counts[population_structure(population, id)]++;
}

// The machine's structures share what was asked for, in the same order as without the others; those of a protection get as many each beyond it.
static void protections_get_faults_of_their_own(void **state) {
  (void)state;
  Golden golden = golden_of();
  Population plain, with, only;
  assert_true(make(&plain, &golden, "a,b", "all", NULL));
  assert_true(make(&with, &golden, "check.a,a,b,check.b", "all", NULL));
  assert_true(make(&only, &golden, "check", "all", NULL));
  for (uint64_t faults = 1; faults <= 100; faults++) {
    uint32_t counts[8], plain_counts[8], low = (uint32_t)faults / 3, high = ((uint32_t)faults + 2) / 3;
    assert_int_equal(population_dealt(&plain, faults), faults);
    assert_int_equal(population_dealt(&only, faults), faults);
    uint64_t end = population_dealt(&with, faults);
    count_faults(&with, end, counts);
    count_faults(&plain, faults, plain_counts);
    assert_int_equal(counts[1] + counts[2] + counts[3], faults);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(counts[1 + i], plain_counts[i]);
    assert_in_range(counts[0], low, high);
    assert_in_range(counts[4], low, high);
    assert_true(faults == 1 || population_dealt(&with, faults - 1) < end); // more faults go on from fewer
  }
  uint32_t shards[3][8] = {{0}};
  for (uint64_t id = 0; id < 5 * 3000; id++) shards[id % 3][population_structure(&with, id)]++;
  for (uint32_t i = 0; i < 3; i++) {
    for (uint32_t k = 0; k < 5; k++) assert_in_range(shards[i][k], 850, 1150);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_is_all_its_launches),
      cmocka_unit_test(windows_bound_the_cycles),
      cmocka_unit_test(a_window_takes_any_name_of_a_kernel),
      cmocka_unit_test(structures_take_turns),
      cmocka_unit_test(shards_get_all_structures),
      cmocka_unit_test(structures_count_once),
      cmocka_unit_test(all_leaves_out_the_simulators_own),
      cmocka_unit_test(parts_hold_what_they_name),
      cmocka_unit_test(every_bit_comes_once),
      cmocka_unit_test(bits_are_alike),
      cmocka_unit_test(structures_have_their_own_faults),
      cmocka_unit_test(protections_get_faults_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
