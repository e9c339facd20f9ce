// The FMEDA on made-up journals: against figures calculated by hand, against a count of the same faults by other code, and its intervals
// against a simulation of what they are intervals of.
#include "report/test_made.h"

// ---- By hand -----------------------------------------------------------------------------------------

// rf: 100 FIT, transient. Of 1000 faults 900 masked, 60 wrong, 20 tolerable, 15 traps, 5 hangs. The mechanism corrects 50 and detects 6
// of the wrong ones, corrects the tolerable ones, and leaves the rest as it is.
// shared: 50 FIT, transient, no mechanism: 490 masked, 10 wrong.
// rf: 10 FIT, permanent: 80 masked, 20 wrong; with the mechanism 15 of these are corrected, 5 stay wrong.
// ecc.rf: 4 FIT, permanent, state of the mechanism: 70 masked, 30 corrected.
static void make_example(Shelf *shelf) {
  static uint8_t outcomes[MOST_FAULTS];
  uint32_t count = lay(outcomes, (Stretch[]){{900, OUTCOME_MASKED},
                                             {60, OUTCOME_SDC_CRITICAL},
                                             {20, OUTCOME_SDC_TOLERABLE},
                                             {15, OUTCOME_DUE_ADDRESS},
                                             {5, OUTCOME_TIMEOUT},
                                             {0}});
  make(shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 100});
  count = lay(outcomes, (Stretch[]){{900, OUTCOME_MASKED},
                                    {50, OUTCOME_CORRECTED},
                                    {6, OUTCOME_DETECTED},
                                    {4, OUTCOME_SDC_CRITICAL},
                                    {20, OUTCOME_CORRECTED},
                                    {15, OUTCOME_DUE_ADDRESS},
                                    {5, OUTCOME_TIMEOUT},
                                    {0}});
  make(shelf, &(Made){"secded:rf", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 100});
  count = lay(outcomes, (Stretch[]){{490, OUTCOME_MASKED}, {10, OUTCOME_SDC_CRITICAL}, {0}});
  make(shelf, &(Made){"none", "flip", "shared", .outcomes = outcomes, .count = count, .fit_per_mbit = 50});
  count = lay(outcomes, (Stretch[]){{80, OUTCOME_MASKED}, {20, OUTCOME_SDC_CRITICAL}, {0}});
  make(shelf, &(Made){"none", "stuck1", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 10});
  count = lay(outcomes, (Stretch[]){{80, OUTCOME_MASKED}, {15, OUTCOME_CORRECTED}, {5, OUTCOME_SDC_CRITICAL}, {0}});
  make(shelf, &(Made){"secded:rf", "stuck1", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 10});
  count = lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {30, OUTCOME_CORRECTED}, {0}});
  make(shelf, &(Made){"secded:rf", "stuck1", "ecc.rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 4});
}

static void check_metrics(const Fmeda *fmeda, uint32_t type, double spfm, double lfm, double pmhf) {
  const Estimate *metrics = fmeda->sums[type].metrics;
  assert_int_equal(metrics[METRIC_SPFM].is_known, spfm >= 0);
  if (spfm >= 0) assert_near(metrics[METRIC_SPFM].value, spfm, 1e-12);
  assert_int_equal(metrics[METRIC_LFM].is_known, lfm >= 0);
  if (lfm >= 0) assert_near(metrics[METRIC_LFM].value, lfm, 1e-12);
  assert_near(metrics[METRIC_PMHF].value, pmhf, 1e-9);
}

static void test_by_hand(void **state) {
  (void)state;
  Shelf shelf = {0};
  make_example(&shelf);
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1e4, .count_unused = true};
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  const FmedaCell *rf = cell_named(fmeda, "rf", FMEDA_TRANSIENT);
  assert_int_equal(rf->counts[CLASS_HARMLESS], 900);
  assert_int_equal(rf->counts[CLASS_DETECTED], 76);
  assert_int_equal(rf->counts[CLASS_RESIDUAL], 24); // 4 wrong, 15 traps, 5 hangs
  assert_near(rf->together.share.value, 0.76, 1e-12);
  assert_near(rf->modes[MODE_WRONG].coverage.value, 56.0 / 60, 1e-12);
  assert_near(rf->modes[MODE_WRONG].share.value, 0.06, 1e-12);
  assert_near(rf->modes[MODE_TRAP].coverage.value, 0, 1e-12);
  // Transient: raw 150, residual 100 x 0.024 + 50 x 0.02 = 3.4. Permanent: raw 14, residual 10 x 0.05 = 0.5, latent 4 x 0.7 = 2.8.
  // Found: transient 100 x 0.076 = 7.6, permanent 10 x 0.15 + 4 x 0.3 = 2.7. Two faults: latent x found x 10^4 h x 10^-9.
  check_metrics(fmeda, FMEDA_TRANSIENT, 1 - 3.4 / 150, -1, 3.4 + 2.8 * 7.6 * 1e-5);
  check_metrics(fmeda, FMEDA_PERMANENT, 1 - 0.5 / 14, 1 - 2.8 / 13.5, 0.5 + 2.8 * 2.7 * 1e-5);
  check_metrics(fmeda, FMEDA_TYPES, -1, -1, 3.9 + 2.8 * 10.3 * 1e-5);
  // The interval of the transient SPFM: Wilson's of 24 of 1000 and of 10 of 500, put together as squares.
  Interval a = wilson_interval(24, 1000, 0.95), b = wilson_interval(10, 500, 0.95);
  double above = sqrt(pow(100 * (a.high - 0.024), 2) + pow(50 * (b.high - 0.02), 2));
  assert_near(fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM].low, 1 - (3.4 + above) / 150, 1e-12);
  assert_int_equal(metric_standing(METRIC_SPFM, fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM], ASIL_B), STANDING_SHOWN);
  assert_int_equal(metric_standing(METRIC_SPFM, fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM], ASIL_D), STANDING_MISSED);
  assert_int_equal(metric_standing(METRIC_SPFM, fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM], ASIL_C), STANDING_NOT_SHOWN);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// The same with what else may be wished for.
static void test_what_counts(void **state) {
  (void)state;
  Shelf shelf = {0};
  make_example(&shelf);
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1e4, .traps = true, .watchdog = true, .tolerable_is_safe = true, .silent = true};
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  const FmedaCell *rf = cell_named(fmeda, "rf", FMEDA_TRANSIENT), *stuck = cell_named(fmeda, "rf", FMEDA_PERMANENT);
  assert_int_equal(rf->counts[CLASS_HARMLESS], 920);
  assert_int_equal(rf->counts[CLASS_RESIDUAL], 4);
  assert_int_equal(rf->together.dangerous, 80);
  assert_int_equal(rf->coverages.count, 3); // the mechanism, traps, the watchdog
  assert_near(rf->coverages.items[0].share.value, 56.0 / 80, 1e-12);
  assert_near(rf->coverages.items[1].share.value, 15.0 / 80, 1e-12);
  assert_near(rf->coverages.items[2].share.value, 5.0 / 80, 1e-12);
  assert_near(rf->together.share.value, 76.0 / 80, 1e-12);
  assert_near(rf->best, 0.7, 1e-12);
  assert_near(rf->independent, 1 - 0.3 * (65.0 / 80) * (75.0 / 80), 1e-12);
  assert_int_equal(stuck->counts[CLASS_LATENT], 15); // corrected, and nobody is told
  fmeda_free(fmeda);
  FmedaOptions given = {.confidence = 0.95, .lifetime = 1e4};
  FmedaRate rate = {FMEDA_PERMANENT, "rf", 70, 1};
  given.rates.items = &rate;
  given.rates.count = 1;
  fmeda = read_all(&shelf, 0, &given);
  assert_near(fmeda->sums[FMEDA_PERMANENT].raw, 74, 1e-12);
  assert_near(fmeda->sums[FMEDA_PERMANENT].metrics[METRIC_SPFM].value, 1 - 70 * 0.05 / 74, 1e-12);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// A cycle is a microsecond, and faults strike in cycle 100. Ten are detected in cycles 110, 120, ... 200: after 10 to 100 us.
static void test_times(void **state) {
  (void)state;
  Shelf shelf = {0};
  uint8_t outcomes[20];
  uint64_t cycles[20] = {0};
  uint32_t count = lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {10, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 1});
  lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {10, OUTCOME_DETECTED}, {0}});
  for (uint32_t i = 0; i < 10; i++) cycles[10 + i] = 110 + 10 * i;
  make(&shelf, &(Made){"dmr", "flip", "rf", .outcomes = outcomes, .cycles = cycles, .count = count, .fit_per_mbit = 1});
  const struct {
    double ftti, reaction;
    uint64_t residual;
  } cases[] = {{0, 0, 0}, {100e-6, 0, 0}, {99e-6, 0, 1}, {45e-6, 0, 6}, {45e-6, 10e-6, 7}, {1e-6, 0, 10}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1, .ftti = cases[i].ftti, .reaction = cases[i].reaction};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_int_equal(fmeda->cells.items[0].counts[CLASS_RESIDUAL], cases[i].residual);
    assert_int_equal(fmeda->times.count, 1);
    assert_int_equal(fmeda->times.items[0].late, cases[i].residual);
    assert_near(fmeda->times.items[0].most, 100e-6, 1e-12);
    assert_near(fmeda->times.items[0].median, 60e-6, 1e-12);
    fmeda_free(fmeda);
  }
  shelf_clear(&shelf);
}

// A second board is all of the chip once more: whoever has it has twice the rate, in journals of whichever order.
static void test_boards(void **state) {
  (void)state;
  uint8_t outcomes[20];
  uint32_t count = lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {10, OUTCOME_SDC}, {0}});
  const Made one = {"none", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 7};
  Made two = one, host = one;
  two.arguments = "size=none\ntwice=boards\n";
  host.arguments = "size=none\ntwice=host\n";
  const struct {
    const Made *made[2];
    double fit;
  } cases[] = {{{&one, &host}, 7}, {{&one, &two}, 14}, {{&two, &one}, 14}, {{&host, &two}, 14}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    for (size_t k = 0; k < 2; k++) make(&shelf, cases[i].made[k]);
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_int_equal(fmeda->cells.count, 1);
    assert_near(fmeda->cells.items[0].fit, cases[i].fit, 1e-12);
    assert_int_equal(fmeda->cells.items[0].bits, 1 << 20);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// First faults in a mechanism: of 50 that nobody notices two were tried; with one of them second faults do harm that they do not do alone.
static void test_second_faults(void **state) {
  (void)state;
  Shelf shelf = {0};
  uint8_t outcomes[128];
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  uint32_t count = lay(outcomes, (Stretch[]){{50, OUTCOME_MASKED}, {50, OUTCOME_DETECTED}, {0}});
  make(&shelf, &(Made){"dmr", "stuck1", "dmr.mask", .outcomes = outcomes, .count = count, .fit_per_mbit = 2});
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  assert_near(fmeda->cells.items[0].shares[CLASS_LATENT].value, 0.5, 1e-12); // untried: all of them
  fmeda_free(fmeda);
  count = lay(outcomes, (Stretch[]){{30, OUTCOME_CORRECTED}, {2, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"dmr", "flip", "unit.sp", .outcomes = outcomes, .count = count, .fit_per_mbit = 1});
  Made second = {"dmr", "flip", "unit.sp", "stuck1:dmr.mask[row=1]@0-", .outcomes = outcomes, .count = count};
  make(&shelf, &second); // no worse than without the first
  lay(outcomes, (Stretch[]){{27, OUTCOME_CORRECTED}, {5, OUTCOME_SDC}, {0}});
  second.standing = "stuck1:dmr.mask[row=2]@0-";
  make(&shelf, &second);
  fmeda = read_all(&shelf, 0, &options);
  const FmedaCell *mask = cell_named(fmeda, "dmr.mask", FMEDA_PERMANENT);
  assert_int_equal(mask->first_tried, 2);
  assert_int_equal(mask->first_bad, 1);
  assert_int_equal(mask->pairs, 64);
  assert_int_equal(mask->bad_pairs, 3);
  assert_near(mask->shares[CLASS_LATENT].value, 0.25, 1e-12);
  assert_near(mask->shares[CLASS_HARMLESS].value, 0.25, 1e-12);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// ---- Counted by other code -----------------------------------------------------------------------------

static uint8_t draw(uint64_t seed, uint64_t id, const uint8_t *choices, uint32_t count) {
  return choices[random_below(random_draw(seed, id, 0), count)];
}

// Two mechanisms and a test library on the same random faults: the union fault by fault.
static void test_union(void **state) {
  (void)state;
  static const uint8_t bare[] = {OUTCOME_MASKED, OUTCOME_SDC, OUTCOME_SDC_CRITICAL, OUTCOME_DUE_ADDRESS};
  static const uint8_t held[] = {OUTCOME_MASKED, OUTCOME_SDC, OUTCOME_SDC, OUTCOME_CORRECTED, OUTCOME_DETECTED, OUTCOME_DUE_ADDRESS};
  static const uint8_t test[] = {OUTCOME_MASKED, OUTCOME_MASKED, OUTCOME_PERFORMANCE, OUTCOME_SDC, OUTCOME_TIMEOUT};
  enum { FAULTS = 3000 };
  static uint8_t outcomes[4][FAULTS];
  uint64_t dangerous = 0, left[4] = {0}, residual = 0;
  for (uint32_t i = 0; i < FAULTS; i++) {
    outcomes[0][i] = draw(1, i, bare, COUNT_OF(bare));
    outcomes[1][i] = draw(2, i, held, COUNT_OF(held));
    outcomes[2][i] = draw(3, i, held, COUNT_OF(held));
    outcomes[3][i] = draw(4, i, test, COUNT_OF(test));
    bool is_bad[3];
    for (uint32_t k = 0; k < 3; k++) is_bad[k] = measure_counts(MEASURE_AVF, outcomes[k][i]) && outcomes[k][i] != OUTCOME_DETECTED;
    bool is_flagged = outcomes[3][i] == OUTCOME_SDC || outcomes[3][i] == OUTCOME_TIMEOUT;
    bool any_stops = false;
    for (uint32_t k = 1; k < 3; k++) any_stops |= outcomes[k][i] == OUTCOME_CORRECTED || outcomes[k][i] == OUTCOME_DETECTED;
    dangerous += is_bad[0];
    for (uint32_t k = 1; k < 3; k++) left[k] += is_bad[0] && is_bad[k];
    left[3] += is_bad[0] && !is_flagged;
    left[0] += is_bad[0] && is_bad[1] && is_bad[2] && !is_flagged;
    residual += !is_flagged && (is_bad[0] ? is_bad[1] && is_bad[2] : (is_bad[1] || is_bad[2]) && !any_stops);
  }
  Shelf shelf = {0};
  const char *const names[] = {"none", "one", "two"};
  for (uint32_t k = 0; k < 3; k++)
    make(&shelf, &(Made){names[k], "stuck0", "unit.sp", .outcomes = outcomes[k], .count = FAULTS, .fit_per_mbit = 1});
  make(&shelf, &(Made){"none", "stuck0", "unit.sp", .target = "march", .outcomes = outcomes[3], .count = FAULTS, .fit_per_mbit = 1});
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  Fmeda *fmeda = read_all(&shelf, 1, &options);
  const FmedaCell *cell = &fmeda->cells.items[0];
  assert_int_equal(cell->coverages.count, 3);
  for (uint32_t k = 0; k < 3; k++) {
    assert_int_equal(cell->coverages.items[k].dangerous, dangerous);
    assert_int_equal(cell->coverages.items[k].left, left[k + 1]);
    assert_true(cell->together.share.value >= cell->coverages.items[k].share.value);
  }
  assert_int_equal(cell->together.left, left[0]);
  assert_int_equal(cell->counts[CLASS_RESIDUAL], residual);
  assert_string_equal(cell->coverages.items[2].mechanism, "test march");
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// A campaign on other faults is not paired: the coverage is that of the two shares, and the better campaign counts.
static void test_other_faults(void **state) {
  (void)state;
  Shelf shelf = {0};
  uint8_t outcomes[400];
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  uint32_t count = lay(outcomes, (Stretch[]){{300, OUTCOME_MASKED}, {100, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 1});
  count = lay(outcomes, (Stretch[]){{150, OUTCOME_MASKED}, {40, OUTCOME_CORRECTED}, {10, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"dmr", "flip", "rf", .seed = 7, .outcomes = outcomes, .count = count, .fit_per_mbit = 1});
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  const FmedaCell *cell = &fmeda->cells.items[0];
  assert_int_equal(cell->coverages.count, 1);
  assert_false(cell->coverages.items[0].is_paired);
  assert_near(cell->coverages.items[0].share.value, 1 - 0.05 / 0.25, 1e-12);
  assert_near(cell->shares[CLASS_RESIDUAL].value, 0.05, 1e-12);
  assert_null(cell->together.mechanism);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// ---- Intervals by simulation ---------------------------------------------------------------------------

enum { ROUNDS = 200, DRAWN = 200 };

static const double UNREAD = 0.4; // of the faults that are not dangerous

static void draw_structure(Shelf *shelf, uint64_t round, uint32_t structure, double danger, double left) {
  static uint8_t bare[DRAWN], held[DRAWN];
  static int8_t read[DRAWN];
  for (uint32_t i = 0; i < DRAWN; i++) {
    bool is_bad = random_unit_f64(random_draw(round, i, 2 * structure)) < danger;
    bool stays = random_unit_f64(random_draw(round, i, 2 * structure + 1)) < left;
    bare[i] = is_bad ? OUTCOME_SDC : OUTCOME_MASKED;
    read[i] = is_bad || random_unit_f64(random_draw(round, i, 10 + structure)) >= UNREAD;
    held[i] = !is_bad ? OUTCOME_MASKED : stays ? OUTCOME_SDC : OUTCOME_CORRECTED;
  }
  const char *name = structure == 0 ? "rf" : "shared";
  double fit = structure == 0 ? 100 : 40;
  make(shelf, &(Made){"none", "stuck0", name, .outcomes = bare, .read = read, .count = DRAWN, .fit_per_mbit = fit});
  make(shelf, &(Made){"ecc", "stuck0", name, .outcomes = held, .read = read, .count = DRAWN, .fit_per_mbit = fit});
}

static bool holds(Estimate estimate, double truth) { return estimate.low <= truth && truth <= estimate.high; }

// Dangerous 30% and 10%, of which 20% and 40% are left, and corrections are silent: the truth is known. Of the others two fifths are in bits
// that nobody reads.
static void test_intervals(void **state) {
  (void)state;
  const double residual = 100 * 0.3 * 0.2 + 40 * 0.1 * 0.4, danger = 100 * 0.3 + 40 * 0.1, latent = danger - residual;
  const double used = 100 * (1 - 0.7 * UNREAD) + 40 * (1 - 0.9 * UNREAD);
  uint32_t spfm = 0, lfm = 0, coverage = 0, single = 0;
  for (uint64_t round = 0; round < ROUNDS; round++) {
    Shelf shelf = {0};
    draw_structure(&shelf, round + 1, 0, 0.3, 0.2);
    draw_structure(&shelf, round + 1, 1, 0.1, 0.4);
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1, .silent = true};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    spfm += holds(fmeda->sums[FMEDA_PERMANENT].metrics[METRIC_SPFM], 1 - residual / used);
    lfm += holds(fmeda->sums[FMEDA_PERMANENT].metrics[METRIC_LFM], 1 - latent / (used - residual));
    coverage += holds(fmeda_union(fmeda, FMEDA_PERMANENT), 1 - residual / danger);
    single += holds(cell_named(fmeda, "rf", FMEDA_PERMANENT)->together.share, 0.8);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
  // 95% of 200 are 190, give or take 3.1: four times that below. The coverage over structures counts shares of one sample as independent,
  // so its interval is wider than need be.
  const uint32_t counts[] = {spfm, lfm, coverage, single};
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    if (counts[i] < 177) fail_msg("figure %zu: only %u of %d intervals hold the truth", i, counts[i], ROUNDS);
  }
  assert_true(spfm < ROUNDS && single < ROUNDS); // and they are not just wide
}

// A protected structure with both fault types, and the mechanism's own state, of which FIRSTS unnoticed faults are tried with second ones.
enum { SECONDS = 10, FIRSTS = 10 };

static void draw_two_faults(Shelf *shelf, uint64_t round, double latent, double meets) {
  static uint8_t outcomes[DRAWN], held[DRAWN];
  const char *models[] = {"flip", "stuck1"};
  const double fits[] = {300, 100};
  for (uint32_t m = 0; m < 2; m++) {
    for (uint32_t i = 0; i < DRAWN; i++) {
      bool is_bad = random_unit_f64(random_draw(round, i, 20 + 2 * m)) < 0.3,
           stays = random_unit_f64(random_draw(round, i, 21 + 2 * m)) < 0.05;
      outcomes[i] = is_bad ? OUTCOME_SDC : OUTCOME_MASKED;
      held[i] = !is_bad ? OUTCOME_MASKED : stays ? OUTCOME_SDC : OUTCOME_CORRECTED;
    }
    make(shelf, &(Made){"none", models[m], "rf", .outcomes = outcomes, .count = DRAWN, .fit_per_mbit = fits[m]});
    make(shelf, &(Made){"dmr", models[m], "rf", .outcomes = held, .count = DRAWN, .fit_per_mbit = fits[m]});
  }
  for (uint32_t i = 0; i < DRAWN; i++)
    outcomes[i] = random_unit_f64(random_draw(round, i, 30)) < latent ? OUTCOME_MASKED : OUTCOME_DETECTED;
  make(shelf, &(Made){"dmr", "stuck1", "dmr.mask", .outcomes = outcomes, .count = DRAWN, .fit_per_mbit = 50});
  for (uint32_t first = 0; first < FIRSTS; first++) {
    char standing[64];
    snprintf(standing, sizeof standing, "stuck1:dmr.mask[row=%u]@0-", (unsigned)first);
    bool is_bad = random_unit_f64(random_draw(round, first, 31)) < meets;
    lay(outcomes, (Stretch[]){{SECONDS - 1, OUTCOME_CORRECTED}, {1, is_bad ? OUTCOME_SDC : OUTCOME_CORRECTED}, {0}});
    make(shelf, &(Made){"dmr", "flip", "rf", standing, .seed = 1, .outcomes = outcomes, .count = SECONDS});
  }
}

// The PMHF with its second term: products and sums of limits, so the interval is a bound and holds more often than it says. 40% of the mechanism's
// faults go unnoticed, with half of which a second fault does harm.
static void test_intervals_of_two_faults(void **state) {
  (void)state;
  const double hours = 1e-2, latent = 50 * 0.4 * 0.5; // lifetime x 10^-9
  const double residual[] = {300 * 0.3 * 0.05, 100 * 0.3 * 0.05}, found[] = {300 * 0.3 * 0.95, 100 * 0.3 * 0.95 + 50 * 0.6};
  const double truth = residual[0] + residual[1] + latent * (found[0] + found[1]) * hours;
  const uint32_t rounds = ROUNDS / TEST_STEP;
  uint32_t dual = 0, pmhf = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    Shelf shelf = {0};
    draw_two_faults(&shelf, round + 1, 0.4, 0.5);
    FmedaOptions options = {.confidence = 0.95, .lifetime = hours * 1e9};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_int_equal(cell_named(fmeda, "dmr.mask", FMEDA_PERMANENT)->first_tried, FIRSTS);
    dual += holds(fmeda->sums[FMEDA_TYPES].dual, latent * (found[0] + found[1]) * hours);
    pmhf += holds(fmeda->sums[FMEDA_TYPES].metrics[METRIC_PMHF], truth);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
  if (dual < 0.95 * rounds || pmhf < 0.95 * rounds)
    fail_msg("of %u intervals %u of the second term and %u of the PMHF hold", rounds, dual, pmhf);
}

// ---- Rates -----------------------------------------------------------------------------------------------

// rf and shared without mechanisms, of the machine's rate; unit.sp of the user's. Residual: 5%, 20%, 50%.
static Fmeda *read_rated(Shelf *shelf, const char *settings, double unit, double factor) {
  static uint8_t outcomes[400];
  const char *const names[] = {"rf", "shared", "unit.sp"};
  const uint32_t residual[] = {20, 80, 200};
  for (uint32_t i = 0; i < COUNT_OF(names); i++) {
    lay(outcomes, (Stretch[]){{400 - residual[i], OUTCOME_MASKED}, {residual[i], OUTCOME_SDC}, {0}});
    make(shelf,
         &(Made){"none", "flip", names[i], .outcomes = outcomes, .count = 400, .fit_per_mbit = i < 2 ? 100 : 0, .settings = settings});
  }
  static FmedaRate rate;
  static FmedaOptions options;
  rate = (FmedaRate){FMEDA_TRANSIENT, "unit.sp", unit, factor};
  options = (FmedaOptions){.confidence = 0.95, .lifetime = 1e4};
  options.rates.items = &rate;
  options.rates.count = 1;
  return read_all(shelf, 0, &options);
}

static Estimate metric_rated(const char *settings, double unit, double factor, MetricId metric) {
  Shelf shelf = {0};
  Fmeda *fmeda = read_rated(&shelf, settings, unit, factor);
  Estimate estimate = fmeda->sums[FMEDA_TRANSIENT].metrics[metric];
  fmeda_free(fmeda);
  shelf_clear(&shelf);
  assert_true(estimate.is_known);
  return estimate;
}

// Against figures of exact rates at the ends: of the user's 50 FIT up to 3 times, and of the machine's up to 2 times, which scales rf and shared together,
// as the user's scales unit.sp the other way round.
static void test_rates(void **state) {
  (void)state;
  const char *unsure = "fit.sram_factor=2000\n";
  Estimate exact = metric_rated(NULL, 50, 1, METRIC_SPFM), spfm = metric_rated(unsure, 50, 3, METRIC_SPFM);
  Estimate most = metric_rated(NULL, 50.0 * 3 * 2, 1, METRIC_SPFM), least = metric_rated(NULL, 50.0 / 3 / 2, 1, METRIC_SPFM);
  assert_near(spfm.value, exact.value, 1e-12);
  assert_near(spfm.low, fmin(most.low, least.low), 1e-9);
  assert_near(spfm.high, fmax(most.high, least.high), 1e-9);
  assert_true(spfm.low < exact.low - 0.05 && spfm.high > exact.high + 0.05); // unit.sp is much worse than the others
  Estimate pmhf = metric_rated(unsure, 50, 3, METRIC_PMHF), high = metric_rated(NULL, 150, 1, METRIC_PMHF),
           low = metric_rated(NULL, 50.0 / 3, 1, METRIC_PMHF);
  Estimate machine = metric_rated(unsure, 50, 1, METRIC_PMHF), given = metric_rated(NULL, 50, 1, METRIC_PMHF);
  assert_near(pmhf.value, 0.05 * 100 + 0.2 * 100 + 0.5 * 50, 1e-9);
  assert_true(pmhf.low < low.low && pmhf.high > high.high && machine.low < given.low && machine.high > given.high);
  // One rate alone cancels in a ratio: it is in common.
  Shelf shelf = {0};
  Fmeda *fmeda = read_rated(&shelf, unsure, 50, 1);
  Text text = {0};
  fmeda_text(fmeda, &text);
  assert_says(text.at, "raw rates up to 2 (fit.sram_factor) times larger");
  assert_says(text.at, "no uncertainty is given for transient:unit.sp (--rate)");
  text_free(&text);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// All structures of one rate: SPFM and coverage do not depend on it, PMHF does, and by its whole factor.
static void test_one_rate(void **state) {
  (void)state;
  Estimate spfm[2], pmhf[2];
  for (uint32_t i = 0; i < 2; i++) {
    static uint8_t outcomes[400];
    Shelf shelf = {0};
    for (uint32_t k = 0; k < 2; k++) {
      lay(outcomes, (Stretch[]){{400 - 80 * k - 20, OUTCOME_MASKED}, {80 * k + 20, OUTCOME_SDC}, {0}});
      make(&shelf, &(Made){"none", "flip", k == 0 ? "rf" : "shared", .outcomes = outcomes, .count = 400, .fit_per_mbit = 100,
                           .settings = i == 0 ? NULL : "fit.sram_factor=4000\n"});
    }
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1e4};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    spfm[i] = fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM];
    pmhf[i] = fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_PMHF];
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
  assert_near(spfm[1].low, spfm[0].low, 1e-9);
  assert_near(spfm[1].high, spfm[0].high, 1e-9);
  assert_near(pmhf[1].low, pmhf[0].low / 4, 1e-9);
  assert_near(pmhf[1].high, pmhf[0].high * 4, 1e-9);
}

// ---- Refused -------------------------------------------------------------------------------------------

static void refuse(const Made *a, const Made *b, const char *why) {
  Shelf shelf = {0};
  Diags diags = {0};
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  make(&shelf, a);
  make(&shelf, b);
  assert_null(fmeda_read(shelf.reports, 2, 0, &options, &diags));
  if (strstr(diags.items[0].text, why) == NULL) fail_msg("%s", diags.items[0].text);
  diags_free(&diags);
  shelf_clear(&shelf);
}

static void test_refused(void **state) {
  (void)state;
  uint8_t outcomes[] = {OUTCOME_MASKED, OUTCOME_SDC}, broken[] = {OUTCOME_MASKED, OUTCOME_INTERNAL};
  Made plain = {"none", "flip", "rf", .outcomes = outcomes, .count = 2}, other = plain, bad = plain, second = plain;
  other.target = "another";
  bad.outcomes = broken;
  bad.protection = "dmr";
  second.standing = "stuck1:dmr.mask[row=1]@0-";
  refuse(&plain, &plain, "take one of them");
  refuse(&plain, &other, "another program");
  refuse(&plain, &bad, "failed in Redoubt itself");
  refuse(&plain, &second, "in no mechanism's state");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_what_counts),
      cmocka_unit_test(test_times),     cmocka_unit_test(test_second_faults),
      cmocka_unit_test(test_union),     cmocka_unit_test(test_other_faults),
      cmocka_unit_test(test_intervals), cmocka_unit_test(test_intervals_of_two_faults),
      cmocka_unit_test(test_rates),     cmocka_unit_test(test_one_rate),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_boards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
