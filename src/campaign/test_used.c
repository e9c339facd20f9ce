// What is used of a structure, against a count of every unit in every cycle; places are drawn from that, each as likely as any other, and are a
// function of the seed, the structure's name, the fault's number and the run alone.
#include "campaign/used.h"

#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

enum { ROWS = 6, UNITS = 4, CYCLES = 120, EVENTS = 90 };
static const Region cells[] = {
    {.name = "kept",
     .unit = "unit",
     .dims = {{"sm", 2}, {"row", 3}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE | REGION_TRACED | REGION_KEPT,
     .rows = ROWS,
     .units = UNITS,
     .bits = 8},
    {.name = "gone",
     .unit = "unit",
     .dims = {{"sm", 2}, {"row", 3}},
     .dim_count = 2,
     .flags = REGION_INJECTABLE | REGION_TRACED,
     .rows = ROWS,
     .units = UNITS,
     .bits = 8},
    {.name = "untold", .unit = "unit", .dims = {{"row", 3}}, .dim_count = 1, .flags = REGION_INJECTABLE, .rows = 3, .units = 2, .bits = 8},
    {.name = "looked",
     .unit = "unit",
     .dims = {{"row", 3}},
     .dim_count = 1,
     .flags = REGION_INJECTABLE | REGION_TRACED | REGION_LOOKED_AT,
     .rows = 3,
     .units = 2,
     .bits = 8},
};
static GoldenRow launches[] = {
    {.launch = 1, .kernel = "k", .began_at = 0, .cycles = 40},
    {.launch = 2, .kernel = "other", .began_at = 45, .cycles = 35}, // 40 to 44: between two launches
    {.launch = 3, .kernel = "k", .began_at = 80, .cycles = 40},
};

typedef struct Access { // of region 0 and 1 alike
  uint64_t cycle, row;
  uint32_t units;
  enum { READ, WRITE, FINISH } kind;
} Access;

typedef struct Case {
  const char *structures, *model, *window;
  uint64_t seed;
} Case;

static uint32_t random_events(uint64_t seed, Access *events) {
  uint32_t count = 0;
  uint64_t ends[] = {39, 79, 119};
  for (uint64_t cycle = 0, end = 0; cycle < CYCLES; cycle++) {
    for (uint64_t k = random_below(random_draw(seed, cycle, 0), 3); k > 0 && count + 4 < EVENTS; k--) {
      uint64_t draw = random_draw(seed, cycle, k);
      uint32_t units = (uint32_t)(draw >> 8 & 15);
      if (units == 0) units = 15;
      events[count++] = (Access){cycle, draw >> 16 & 7, units, (draw >> 24 & 3) == 0 ? WRITE : READ};
      events[count - 1].row %= ROWS;
    }
    if (cycle == ends[end]) events[count++] = (Access){cycle, 0, 0, FINISH}, end = min_u64(end + 1, 2);
  }
  return count;
}

// Whether a fault in that unit and cycle is met: its next access says so.
static bool is_met(const Access *events, uint32_t count, bool kept, bool lasts, uint64_t row, uint32_t unit, uint64_t cycle) {
  for (uint32_t i = 0; i < count; i++) {
    if (events[i].cycle < cycle) continue;
    if (events[i].kind == FINISH && !kept && !lasts) return false;
    if (events[i].kind == FINISH || events[i].row != row || (events[i].units >> unit & 1) == 0) continue;
    if (events[i].kind == READ) return true;
    if (!lasts) return false;
  }
  return false;
}

static bool in_window(const Case *at, uint64_t cycle) {
  if (strcmp(at->window, "all") == 0) return true;
  if (strcmp(at->window, "kernel:k") == 0) return cycle < 40 || cycle >= 80;
  return cycle >= 30 && cycle < 95; // cycles:30-95
}

static bool in_part(const Case *at, uint64_t row, uint32_t unit) {
  return strchr(at->structures, '[') == NULL || (row / 3 == 1 && unit == 2); // [sm=1,unit=2]
}

static Golden golden_of(void) {
  Golden golden = {.cycles = CYCLES, .table = {cells, COUNT_OF(cells), 64}};
  golden.launches.items = launches;
  golden.launches.count = COUNT_OF(launches);
  return golden;
}

static void tell(Hook *hook, const Access *events, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    HookMachine machine = {.cycle = events[i].cycle};
    for (uint16_t region = 0; region < 2 && events[i].kind != FINISH; region++) {
      CellEvent event = {.region = region, .units = events[i].units, .row = events[i].row};
      if (events[i].kind == READ) hook->read(hook, &machine, &event);
      else hook->write(hook, &machine, &event);
    }
    if (events[i].kind == FINISH) hook->finish(hook, &machine);
  }
}

static UsedSpace *seen(const Case *at, const Golden *golden, uint64_t first, uint32_t draws, Population *population, Arena *arena) {
  Diags diags = {0};
  CampaignOptions options = {.structures = at->structures, .window = at->window, .model = at->model, .seed = at->seed};
  assert_true(population_make(population, golden, &options, &diags));
  UsedSpace *space = used_new(population, &golden->table, first, draws, arena);
  Access events[EVENTS];
  tell(used_watch(space, &golden->table, arena), events, random_events(at->seed, events));
  population->used = space;
  return space;
}

static const Case cases[] = {
    {"kept", "flip", "all", 1},
    {"gone", "flip", "all", 2},
    {"gone", "adjacent(2)", "cycles:30-95", 3},
    {"kept", "flip", "kernel:k", 4},
    {"gone", "stuck1", "all", 5},
    {"kept", "stuck0", "cycles:30-95", 6},
    {"gone[sm=1,unit=2]", "flip", "all", 7},
    {"kept[sm=1,unit=2]", "byte", "kernel:k", 8},
};

static void what_is_used_is_counted(void **state) {
  (void)state;
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    const Case *at = &cases[c];
    bool kept = strncmp(at->structures, "kept", 4) == 0, lasts = strncmp(at->model, "stuck", 5) == 0;
    Arena *arena = arena_new();
    Golden golden = golden_of();
    Population population;
    UsedSpace *space = seen(at, &golden, 0, 0, &population, arena);
    Access events[EVENTS];
    uint32_t count = random_events(at->seed, events);
    uint64_t used = 0, slices[JOURNAL_SLICES] = {0}, stretches[8] = {0};
    for (uint64_t place = 0; place < (uint64_t)ROWS * UNITS * CYCLES; place++) {
      uint64_t row = place / CYCLES / UNITS, cycle = place % CYCLES;
      uint32_t unit = (uint32_t)(place / CYCLES % UNITS), slice = 0, stretch = 0;
      if (!in_window(at, cycle) || !in_part(at, row, unit) || !is_met(events, count, kept, lasts, row, unit, cycle)) continue;
      used++;
      while (used_slice_start(space, slice + 1) <= cycle) slice++;
      while (used_stretch(space, stretch)->end <= cycle) stretch++;
      slices[slice]++;
      stretches[stretch]++;
    }
    assert_true(used > 10 && space->structures[0].used == used);
    double cells_of = (double)space->structures[0].rows_units;
    for (uint32_t i = 0; i < JOURNAL_SLICES; i++) assert_true(space->structures[0].slices[i] == slices[i]);
    for (uint32_t i = 0; i < space->stretch_count; i++) {
      const UsedStretch *stretch = used_stretch(space, i);
      double share = (double)stretches[i] / (cells_of * (double)(stretch->end - stretch->first));
      assert_true(used_share_in_stretch(space, 0, i) == share);
    }
    assert_true(used_share(space, 0) == (double)used / (cells_of * (double)population.cycles));
    arena_free(arena);
  }
}

// Chi-square of as many draws for each place; all of them used.
static void each_place_is_as_likely(void **state) {
  (void)state;
  enum { EACH = 40 };
  static uint32_t drawn[ROWS][UNITS][CYCLES];
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    const Case *at = &cases[c];
    bool kept = strncmp(at->structures, "kept", 4) == 0, lasts = strncmp(at->model, "stuck", 5) == 0;
    Arena *arena = arena_new();
    Golden golden = golden_of();
    Population population;
    uint32_t places = (uint32_t)seen(at, &golden, 0, 0, &population, arena)->structures[0].used, draws = EACH * places;
    seen(at, &golden, 0, draws, &population, arena);
    Access events[EVENTS];
    uint32_t count = random_events(at->seed, events);
    memset(drawn, 0, sizeof drawn);
    for (uint32_t id = 0; id < draws; id++) {
      Fault fault = population_draw(&population, &golden.table, id);
      assert_true(in_window(at, fault.from) && in_part(at, fault.site.row, fault.site.unit) && fault.site.bit < 8);
      assert_true(is_met(events, count, kept, lasts, fault.site.row, fault.site.unit, fault.from));
      drawn[fault.site.row][fault.site.unit][fault.from]++;
    }
    double chi = 0, degrees = places - 1;
    uint32_t met = 0;
    for (uint32_t i = 0; i < ROWS * UNITS * CYCLES; i++) {
      double off = (double)(&drawn[0][0][0])[i] - EACH;
      met += (&drawn[0][0][0])[i] > 0;
      if ((&drawn[0][0][0])[i] > 0) chi += off * off / EACH;
    }
    chi += (places - met) * EACH; // of those that no fault was drawn from
    assert_true(fabs(chi - degrees) < 5 * sqrt(2 * degrees));
    arena_free(arena);
  }
}

// Another batch, other structures beside it: the same faults.
static void draws_are_a_function_of_their_number(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Golden golden = golden_of();
  Population alone, beside, later;
  Case one = {"gone", "flip", "all", 9}, two = {"kept,gone", "flip", "all", 9};
  seen(&one, &golden, 0, 60, &alone, arena);
  seen(&two, &golden, 0, 120, &beside, arena);
  seen(&one, &golden, 37, 23, &later, arena);
  for (uint64_t id = 0; id < 120; id++) {
    Fault fault = population_draw(&beside, &golden.table, id);
    if (fault.site.region != 1) continue;
    Fault same = population_draw(&alone, &golden.table, population_number(&beside, id));
    assert_true(same.site.row == fault.site.row && same.site.unit == fault.site.unit && same.site.bit == fault.site.bit &&
                same.from == fault.from && same.seed == fault.seed);
  }
  for (uint64_t id = 37; id < 60; id++) {
    Fault fault = population_draw(&later, &golden.table, id), same = population_draw(&alone, &golden.table, id);
    assert_true(same.site.row == fault.site.row && same.site.unit == fault.site.unit && same.from == fault.from);
  }
  arena_free(arena);
}

// A fault in several units of a row counts as used where any of them may be; a row is over once all of it is written.
static void rows_are_used_as_a_whole(void **state) {
  (void)state;
  const char *const models[] = {"lanes", "random(3)"};
  for (size_t m = 0; m < COUNT_OF(models); m++) {
    Case at = {"gone", models[m], "all", 10};
    Arena *arena = arena_new();
    Golden golden = golden_of();
    Population population;
    UsedSpace *space = seen(&at, &golden, 0, 500, &population, arena);
    Access events[EVENTS];
    uint32_t count = random_events(at.seed, events);
    uint64_t least = 0;
    for (uint64_t place = 0; place < (uint64_t)ROWS * CYCLES; place++) {
      bool any = false;
      for (uint32_t unit = 0; unit < UNITS; unit++) any |= is_met(events, count, false, false, place / CYCLES, unit, place % CYCLES);
      least += any;
    }
    assert_true(space->structures[0].used >= least && space->structures[0].used < (uint64_t)ROWS * CYCLES);
    for (uint64_t id = 0; id < 500; id++) assert_true(used_seek(space, id)->is_found);
    arena_free(arena);
  }
}

static void what_is_not_told_counts_as_used(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Golden golden = golden_of();
  Population population;
  Case at = {"untold,looked", "flip", "all", 11}, pattern = {"gone", "pattern(0.0.0+1.0.0)", "all", 11};
  UsedSpace *space = seen(&at, &golden, 0, 10, &population, arena);
  assert_false(used_any_told(space));
  assert_true(used_share(space, 0) == 1 && used_share(space, 1) == 1 && used_share_in_slice(space, 0, 7) == 1);
  assert_false(used_seek(space, 3)->is_found);
  assert_false(used_any_told(seen(&pattern, &golden, 0, 10, &population, arena))); // its bits may lie in other rows
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_used_is_counted),
      cmocka_unit_test(each_place_is_as_likely),
      cmocka_unit_test(draws_are_a_function_of_their_number),
      cmocka_unit_test(rows_are_used_as_a_whole),
      cmocka_unit_test(what_is_not_told_counts_as_used),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
