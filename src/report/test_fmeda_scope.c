// What the figures of the FMEDA are about, what is said beside them, and when no standing is told: in text, page, CSV and JSON alike.
#include "report/test_made.h"

static bool is_found(const Fmeda *fmeda, const char *words) {
  bool found = false;
  for (uint32_t i = 0; i < fmeda->findings.items.count; i++) found |= strstr(fmeda->findings.items.items[i].text, words) != NULL;
  return found;
}

// ---- Bits that the program does not use ----------------------------------------------------------------

// Of 1000 flips 900 are masked: 800 in bits that nobody reads, 60 in bits that somebody does, of 40 it is not known. 100 are wrong; the
// mechanism corrects 90 of them.
enum { FLIPS = 1000, UNREAD = 800, READ = 60, UNKNOWN = 40, WRONG = 100, LEFT = 10 };

static void make_used(Shelf *shelf) {
  static uint8_t outcomes[FLIPS];
  static int8_t read[FLIPS];
  for (uint32_t i = 0; i < FLIPS; i++) read[i] = i < UNREAD ? 0 : i >= UNREAD + READ && i < UNREAD + READ + UNKNOWN ? NOTHING : 1;
  uint32_t count = lay(outcomes, (Stretch[]){{FLIPS - WRONG, OUTCOME_MASKED}, {WRONG, OUTCOME_SDC}, {0}});
  make(shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .read = read, .count = count, .fit_per_mbit = 50});
  lay(outcomes, (Stretch[]){{FLIPS - WRONG, OUTCOME_MASKED}, {WRONG - LEFT, OUTCOME_CORRECTED}, {LEFT, OUTCOME_SDC}, {0}});
  make(shelf, &(Made){"secded:rf", "flip", "rf", .outcomes = outcomes, .read = read, .count = count, .fit_per_mbit = 50});
}

static void test_used(void **state) {
  (void)state;
  Shelf shelf = {0};
  make_used(&shelf);
  for (uint32_t counts = 0; counts < 2; counts++) {
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1, .count_unused = counts != 0};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    const FmedaCell *rf = cell_named(fmeda, "rf", FMEDA_TRANSIENT);
    const Estimate *spfm = &fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_SPFM];
    uint64_t used = counts != 0 ? FLIPS : READ + WRONG;
    Interval interval = wilson_interval(used - LEFT, used, 0.95);
    assert_int_equal(rf->counts[CLASS_UNUSED], UNREAD + UNKNOWN);
    assert_int_equal(rf->unrecorded, UNKNOWN);
    assert_int_equal(rf->counts[CLASS_HARMLESS], READ);
    assert_int_equal(rf->counts[CLASS_DETECTED], WRONG - LEFT);
    assert_int_equal(rf->counts[CLASS_RESIDUAL], LEFT);
    assert_near(spfm->value, 1 - (double)LEFT / (double)used, 1e-12);
    assert_near(spfm->low, interval.low, 1e-12); // of one structure: of its faults that count
    assert_near(spfm->high, interval.high, 1e-12);
    assert_near(fmeda->sums[FMEDA_TRANSIENT].metrics[METRIC_PMHF].value, 50.0 * LEFT / FLIPS, 1e-12); // in whatever bits
    assert_true(is_found(
        fmeda,
        "84.0% of the raw rate of transient faults is in bits that this program does not use, or is not known to use (42.0 of 50.0 FIT)"));
    assert_true(is_found(fmeda, "not counted as used: 4.0% of rf."));
    fmeda_free(fmeda);
  }
  shelf_clear(&shelf);
}

// rf: 10 FIT, half of it unread, a fifth of the rest residual. shared: 30 FIT, nothing read. A share of 10 x 0.5.
static void test_used_of_several(void **state) {
  (void)state;
  Shelf shelf = {0};
  uint8_t outcomes[200];
  int8_t read[200] = {0};
  uint32_t count = lay(outcomes, (Stretch[]){{180, OUTCOME_MASKED}, {20, OUTCOME_SDC}, {0}});
  for (uint32_t i = 100; i < count; i++) read[i] = 1;
  make(&shelf, &(Made){"none", "stuck0", "rf", .outcomes = outcomes, .read = read, .count = count, .fit_per_mbit = 10});
  memset(read, 0, sizeof read);
  lay(outcomes, (Stretch[]){{200, OUTCOME_MASKED}, {0}});
  make(&shelf, &(Made){"none", "stuck0", "shared", .outcomes = outcomes, .read = read, .count = count, .fit_per_mbit = 30});
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  const Estimate *metrics = fmeda->sums[FMEDA_PERMANENT].metrics;
  assert_near(metrics[METRIC_SPFM].value, 1 - 10 * 0.1 / (10 * 0.5), 1e-12);
  assert_near(metrics[METRIC_LFM].value, 1, 1e-12);
  assert_true(metrics[METRIC_SPFM].low < 0.75); // the unread 30 FIT might hold residual ones
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// A mechanism's own state that nobody reads is latent only where bits that nobody uses count.
static void test_used_latent(void **state) {
  (void)state;
  uint8_t outcomes[100];
  int8_t read[100];
  uint32_t count = lay(outcomes, (Stretch[]){{90, OUTCOME_MASKED}, {10, OUTCOME_CORRECTED}, {0}});
  for (uint32_t i = 0; i < count; i++) read[i] = i < 30 ? 0 : i < 70 ? NOTHING : 1;
  const uint32_t latent[] = {60, 90};
  for (uint32_t counts = 0; counts < 2; counts++) {
    Shelf shelf = {0};
    make(&shelf, &(Made){"secded:rf", "stuck1", "ecc.rf", .outcomes = outcomes, .read = read, .count = count, .fit_per_mbit = 1,
                         .kind = KIND_SCHEME});
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1, .count_unused = counts != 0};
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_int_equal(fmeda->cells.items[0].counts[CLASS_LATENT], latent[counts]); // of the rest it is not known: the worst
    assert_near(fmeda->sums[FMEDA_PERMANENT].metrics[METRIC_LFM].value, 1 - latent[counts] / (counts != 0 ? 100.0 : 70.0), 1e-12);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// ---- The second term of the PMHF -----------------------------------------------------------------------

// Own state: 5 FIT, 40 of 100 latent. Registers, permanent: 20 FIT, 30 of 100 found; transient: 400 FIT, 25 of 100 found. In 10^5 hours.
static void test_dual(void **state) {
  (void)state;
  Shelf shelf = {0};
  uint8_t outcomes[100];
  const double hours = 1e5, latent = 5 * 0.4, permanent = 20 * 0.3 + 5 * 0.6, transient = 400 * 0.25;
  uint32_t count = lay(outcomes, (Stretch[]){{40, OUTCOME_MASKED}, {60, OUTCOME_CORRECTED}, {0}});
  make(&shelf, &(Made){"ecc", "stuck1", "ecc.rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 5, .kind = KIND_SCHEME});
  lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {30, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"none", "stuck1", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 20, .kind = KIND_CELLS});
  lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {30, OUTCOME_CORRECTED}, {0}});
  make(&shelf, &(Made){"ecc", "stuck1", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 20, .kind = KIND_CELLS});
  lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {30, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"none", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 400, .kind = KIND_CELLS});
  lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {25, OUTCOME_CORRECTED}, {5, OUTCOME_SDC}, {0}});
  make(&shelf, &(Made){"ecc", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 400, .kind = KIND_CELLS});
  FmedaOptions options = {.confidence = 0.95, .lifetime = hours};
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  const FmedaSums *all = &fmeda->sums[FMEDA_TYPES];
  // 2 FIT x 109 FIT x 10^5 h: 2e-9 x 109e-9 x 1e5 an hour = 0.0218 FIT.
  assert_near(all->dual.value, 0.0218, 1e-12);
  assert_near(all->dual.value, latent * (permanent + transient) * hours * 1e-9, 1e-12);
  assert_near(all->metrics[METRIC_PMHF].value, 400 * 0.05 + 0.0218, 1e-12);
  assert_near(fmeda->sums[FMEDA_TRANSIENT].dual.value + fmeda->sums[FMEDA_PERMANENT].dual.value, all->dual.value, 1e-12);
  Estimate first = fmeda->sums[FMEDA_PERMANENT].classes[CLASS_LATENT], second = all->classes[CLASS_DETECTED];
  Interval latent_share = wilson_interval(40, 100, 0.95);
  assert_near(first.low, 5 * latent_share.low, 1e-12);
  assert_near(all->dual.low, first.low * second.low * hours * 1e-9, 1e-12);
  assert_near(all->dual.high, first.high * second.high * hours * 1e-9, 1e-12);
  // By steps of an hour of a life: latent by then, found in that hour. The term leaves out the half for the order of the two.
  double both = 0, step = 10;
  for (double hour = 0; hour < hours; hour += step)
    both += (1 - exp(-latent * 1e-9 * (hour + step / 2))) * (permanent + transient) * 1e-9 * step;
  assert_near(both / hours * 1e9 / all->dual.value, 0.5, 0.001);
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// ---- What is said, and what is withheld ------------------------------------------------------------------

static bool holds_words(const char *text, const char *words) { // whatever the line breaks
  char *plain = malloc(strlen(text) + 1), *to = plain;
  for (const char *at = text; *at != '\0'; at++) {
    bool is_space = *at == ' ' || *at == '\n';
    if (!is_space || to == plain || to[-1] != ' ') *to++ = is_space ? ' ' : *at;
  }
  *to = '\0';
  bool found = strstr(plain, words) != NULL;
  free(plain);
  return found;
}

static void assert_said(const char *form, const Text *text, const char *words) {
  if (!holds_words(text->at, words)) fail_msg("%s does not say '%s':\n%s", form, words, strlen(text->at) < 20000 ? text->at : "");
}

// Every finding in every form, in the same words.
static void assert_alike(const Fmeda *fmeda) {
  Text text = {0}, page = {0}, json = {0}, tables[FMEDA_TABLES] = {{0}};
  fmeda_text(fmeda, &text);
  fmeda_page(fmeda, &page);
  fmeda_json(fmeda, &json);
  for (uint32_t i = 0; i < FMEDA_TABLES; i++) fmeda_csv(fmeda, (FmedaTable)i, &tables[i]);
  for (uint32_t i = 0; i < fmeda->findings.items.count; i++) {
    const Finding *finding = &fmeda->findings.items.items[i];
    assert_said("text", &text, finding->text);
    assert_said("page", &page, finding->text);
    assert_said("JSON", &json, finding->text);
    assert_said("CSV", &tables[FMEDA_FINDINGS], finding->text);
    if (finding->severity == SEVERITY_BLOCKING) assert_said("metrics.csv", &tables[FMEDA_METRICS], finding->text);
  }
  assert_said("text", &text, fmeda->scope);
  assert_said("JSON", &json, fmeda->scope);
  assert_said("page", &page, fmeda->scope);
  assert_said("metrics.csv", &tables[FMEDA_METRICS], fmeda->scope);
  for (const char *line = text.at; *line != '\0'; line += strcspn(line, "\n") + 1) {
    if (strcspn(line, "\n") > 80) fail_msg("wider than 80 columns: %.*s", (int)strcspn(line, "\n"), line);
  }
  text_free(&text);
  text_free(&page);
  text_free(&json);
  for (uint32_t i = 0; i < FMEDA_TABLES; i++) text_free(&tables[i]);
}

typedef struct Case {
  const char *scope[3], *rate[2]; // "permanent:rf": rates of 5 FIT
  Standing spfm[2], lfm, pmhf;    // against ASIL B; SPFM of transients, of permanent faults
  const char *says[4], *silent;
} Case;

static uint32_t type_named(const char *text) {
  if (strncmp(text, "transient:", 10) == 0) return FMEDA_TRANSIENT;
  return strncmp(text, "permanent:", 10) == 0 ? FMEDA_PERMANENT : FMEDA_TYPES;
}

static void check_case(const Shelf *shelf, const Case *at, uint32_t number) {
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  FmedaScope scope[3];
  FmedaRate rates[2];
  for (; options.scope.count < 3 && at->scope[options.scope.count] != NULL; options.scope.count++) {
    const char *text = at->scope[options.scope.count], *colon = strchr(text, ':');
    scope[options.scope.count] = (FmedaScope){type_named(text), colon == NULL ? text : colon + 1};
  }
  for (; options.rates.count < 2 && at->rate[options.rates.count] != NULL; options.rates.count++) {
    const char *text = at->rate[options.rates.count];
    rates[options.rates.count] = (FmedaRate){(FmedaType)type_named(text), strchr(text, ':') + 1, 5, 1};
  }
  options.scope.items = scope;
  options.rates.items = rates;
  Fmeda *fmeda = read_all(shelf, 0, &options);
  uint32_t whole = fmeda_is_judged(fmeda, METRIC_PMHF, FMEDA_TYPES)       ? FMEDA_TYPES
                   : fmeda_is_judged(fmeda, METRIC_PMHF, FMEDA_TRANSIENT) ? FMEDA_TRANSIENT
                                                                          : FMEDA_PERMANENT;
  const struct {
    MetricId metric;
    uint32_t type;
    Standing standing;
  } rows[] = {{METRIC_SPFM, FMEDA_TRANSIENT, at->spfm[0]},
              {METRIC_SPFM, FMEDA_PERMANENT, at->spfm[1]},
              {METRIC_LFM, FMEDA_PERMANENT, at->lfm},
              {METRIC_PMHF, whole, at->pmhf}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    Standing standing = fmeda_standing(fmeda, rows[i].metric, rows[i].type, ASIL_B);
    if (standing != rows[i].standing)
      fail_msg("case %u: %s %s is '%s', not '%s'", number, fmeda_metrics[rows[i].metric].name, fmeda_types[rows[i].type],
               standing_text[standing], standing_text[rows[i].standing]);
  }
  for (size_t i = 0; i < COUNT_OF(at->says) && at->says[i] != NULL; i++) {
    if (!is_found(fmeda, at->says[i])) fail_msg("case %u: nobody says '%s'", number, at->says[i]);
  }
  if (at->silent != NULL && is_found(fmeda, at->silent)) fail_msg("case %u: says '%s'", number, at->silent);
  assert_alike(fmeda);
  fmeda_free(fmeda);
}

#define YES STANDING_SHOWN
#define NO STANDING_MISSED
#define HELD STANDING_WITHHELD
#define NONE STANDING_UNKNOWN

// A chip of 10 Mbit. rf: 1 Mbit, flips of 100 FIT, all corrected; stuck at 0 and at 1, found all, 3 FIT each where a rate is known.
// unit.sp: stuck at 0 and at 1, a third of it residual.
static void make_chip(Shelf *shelf, const char *settings, double permanent) {
  static uint8_t outcomes[400];
  const Made base = {
      .protection = "none", .outcomes = outcomes, .count = 400, .settings = settings, .chip_mbit = 10, .window = "cycles:0-1"};
  static const char *const models[] = {"flip", "stuck0", "stuck1"};
  for (uint32_t i = 0; i < 3; i++) {
    Made made = base;
    made.model = models[i];
    made.structure = "rf";
    made.kind = KIND_CELLS;
    made.window = i == 0 ? "all" : base.window;
    made.fit_per_mbit = i == 0 ? 100 : permanent;
    lay(outcomes, (Stretch[]){{100, OUTCOME_MASKED}, {300, OUTCOME_SDC}, {0}});
    make(shelf, &made);
    lay(outcomes, (Stretch[]){{100, OUTCOME_MASKED}, {300, OUTCOME_CORRECTED}, {0}});
    made.protection = "secded:rf";
    make(shelf, &made);
  }
  for (uint32_t i = 1; i < 3; i++) {
    Made made = base;
    made.model = models[i];
    made.structure = "unit.sp";
    made.kind = KIND_OUTPUT;
    lay(outcomes, (Stretch[]){{277, OUTCOME_MASKED}, {123, OUTCOME_SDC}, {0}});
    make(shelf, &made);
  }
}

static void test_scope(void **state) {
  (void)state;
  static const Case cases[] = {
      // A tenth of the chip, and units without a rate beside 30.7% residual: SPFM of the registers alone was 100%, and B shown.
      {.spfm = {HELD, HELD},
       .lfm = HELD,
       .pmhf = HELD,
       .says = {"Transient faults struck 10.0% of the chip's raw rate",
                "No rate of permanent faults is known for unit.sp stuck0 (30.8% residual)",
                "A verdict needs 99% of it, or a declared scope (--scope)."}},
      // Declared, with all that it names.
      {.scope = {"rf"},
       .spfm = {YES, YES},
       .lfm = YES,
       .pmhf = YES,
       .says = {"The scope holds 10.0% of the chip's raw rate of transient faults.",
                "Struck and outside the scope, so in no figure: unit.sp stuck0 (30.8% residual)"},
       .silent = "A verdict needs"},
      // With the units: they need a rate, and miss the target with it.
      {.scope = {"rf", "permanent:unit.sp"},
       .spfm = {YES, HELD},
       .lfm = HELD,
       .pmhf = HELD,
       .says = {"No rate of permanent faults is known for unit.sp"}},
      {.scope = {"rf", "permanent:unit.sp"},
       .rate = {"permanent:unit.sp"},
       .spfm = {YES, NO},
       .lfm = YES,
       .pmhf = YES,
       .silent = "No rate of"},
      // Named and not struck.
      {.scope = {"rf", "shared"},
       .spfm = {HELD, HELD},
       .lfm = HELD,
       .pmhf = HELD,
       .says = {"The scope names transient faults of shared, which no campaign has.", "The scope names permanent faults of shared"}},
      // One type alone: then the PMHF is of that type.
      {.scope = {"transient:rf"},
       .spfm = {YES, NONE},
       .lfm = NONE,
       .pmhf = YES,
       .says = {"Struck and outside the scope, so in no figure: rf stuck0"}},
      {.scope = {"permanent:rf"}, .spfm = {NONE, YES}, .lfm = YES, .pmhf = YES},
  };
  Shelf shelf = {0};
  make_chip(&shelf, "fit.sram=100000\nfit.permanent=3000\n", 3);
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) check_case(&shelf, &cases[i], i);
  shelf_clear(&shelf);
  // The machine has no rate of permanent faults.
  static const Case without[] = {
      {.spfm = {HELD, HELD},
       .lfm = HELD,
       .pmhf = HELD,
       .says = {"The chip's raw rate of permanent faults is not known", "is known for rf stuck0"}},
      {.scope = {"rf"},
       .spfm = {YES, HELD},
       .lfm = HELD,
       .pmhf = HELD,
       .says = {"No rate of permanent faults is known for rf stuck0 (0.0% residual), rf stuck1"}},
      {.scope = {"rf"}, .rate = {"permanent:rf"}, .spfm = {YES, YES}, .lfm = YES, .pmhf = YES, .silent = "No rate of"},
  };
  shelf = (Shelf){0};
  make_chip(&shelf, "fit.sram=100000\nfit.permanent=0\n", 0);
  for (uint32_t i = 0; i < COUNT_OF(without); i++) check_case(&shelf, &without[i], 100 + i);
  shelf_clear(&shelf);
}

// 99% of the chip's raw rate, and a little less; a given rate takes the place of the machine's.
static void test_of_the_chip(void **state) {
  (void)state;
  static uint8_t outcomes[400];
  uint32_t count = lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {390, OUTCOME_CORRECTED}, {0}});
  const struct {
    double mbit;
    const char *rate;
    double share;
    Standing standing;
  } cases[] = {{1, NULL, 1, YES}, {1.01, NULL, 1 / 1.01, YES}, {1.02, NULL, 1 / 1.02, HELD}, {2, "transient:rf", 5 / 105.0, HELD}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    const Made made = {"dmr",
                       "flip",
                       "rf",
                       .outcomes = outcomes,
                       .count = count,
                       .fit_per_mbit = 100,
                       .kind = KIND_CELLS,
                       .settings = "fit.sram=100000\n"};
    make(&shelf, &made);
    shelf_note(shelf.journals[0], NOTE_CHIP_BITS, (uint64_t)(cases[i].mbit * (1 << 20)));
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
    FmedaRate rate = {FMEDA_TRANSIENT, "rf", 5, 1};
    options.rates.items = &rate;
    options.rates.count = cases[i].rate != NULL;
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_near(fmeda->chip_share[FMEDA_TRANSIENT], cases[i].share, 1e-6);
    assert_int_equal(fmeda_standing(fmeda, METRIC_SPFM, FMEDA_TRANSIENT, ASIL_B), cases[i].standing);
    assert_int_equal(fmeda_standing(fmeda, METRIC_PMHF, FMEDA_TYPES, ASIL_B), STANDING_WITHHELD); // nothing permanent was struck
    assert_true(is_found(fmeda, "No campaign has permanent faults"));
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// Upsets of two bits are a fifth as frequent as those of one: who strikes with them alone strikes a sixth of the rate.
static void test_models(void **state) {
  (void)state;
  static uint8_t outcomes[400];
  uint32_t count = lay(outcomes, (Stretch[]){{10, OUTCOME_MASKED}, {390, OUTCOME_CORRECTED}, {0}});
  Made flip = {"dmr", "flip", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 100, .kind = KIND_CELLS}, two = flip;
  flip.settings = two.settings = "fit.sram=100000\nfit.adjacent2=200000\n";
  two.model = "adjacent(2)";
  two.fit_per_mbit = 20;
  const struct {
    const Made *made[2];
    Standing standing;
    const char *says;
  } cases[] = {{{&flip, &two}, YES, NULL}, {{&two}, HELD, "rf (16.6%)"}, {{&flip}, HELD, "rf (83.3%)"}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    for (uint32_t k = 0; k < 2 && cases[i].made[k] != NULL; k++) make(&shelf, cases[i].made[k]);
    FmedaScope scope = {FMEDA_TRANSIENT, "rf"};
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
    options.scope.items = &scope;
    options.scope.count = 1;
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    assert_int_equal(fmeda_standing(fmeda, METRIC_SPFM, FMEDA_TRANSIENT, ASIL_B), cases[i].standing);
    if (cases[i].says != NULL && !is_found(fmeda, cases[i].says)) fail_msg("case %u: nobody says '%s'", i, cases[i].says);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// What a single journal lacks.
static void test_lacks(void **state) {
  (void)state;
  static uint8_t outcomes[100];
  uint32_t count = lay(outcomes, (Stretch[]){{40, OUTCOME_MASKED}, {60, OUTCOME_CORRECTED}, {0}});
  const Made rf = {"secded:rf",           "stuck0", "rf", .outcomes = outcomes, .count = count, .fit_per_mbit = 1, .kind = KIND_CELLS,
                   .window = "cycles:0-1"};
  Made part = rf, late = rf, own = rf, own_part = rf, ecc = rf, plain = rf, fewer = rf;
  part.structures = "shared,rf[sm=1,reg=3]";
  late.window = "all";
  own.scheme_bits = 1 << 20;
  own_part.scheme_bits = (1 << 20) + (1 << 16);
  ecc.structure = "ecc.rf";
  ecc.kind = KIND_SCHEME;
  plain.protection = "none";
  fewer.count = 60;
  const struct {
    const Made *made, *also;
    const char *says;
    Standing spfm, lfm;
  } cases[] = {{&rf, NULL, "nothing was stuck at the other value in rf (stuck0)", HELD, HELD},
               {&part, NULL, "Of rf only a part was struck with permanent faults.", HELD, HELD},
               {&late, NULL, "strikes at the start", HELD, HELD},
               {&plain, &fewer, "Faults that some journal lacks are left out: 40 of 100 of rf stuck0.", HELD, HELD},
               {&own, NULL, "secded:rf adds 1048576 bits of its own, and permanent faults struck 0.0% of them", HELD, HELD},
               {&own_part, &ecc, "secded:rf adds 1114112 bits of its own, and permanent faults struck 94.1% of them", HELD, HELD}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    make(&shelf, cases[i].made);
    if (cases[i].also != NULL) make(&shelf, cases[i].also);
    FmedaScope scope = {FMEDA_PERMANENT, "rf"};
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
    options.scope.items = &scope;
    options.scope.count = 1;
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    if (!is_found(fmeda, cases[i].says)) fail_msg("case %u: nobody says '%s'", i, cases[i].says);
    assert_int_equal(fmeda_standing(fmeda, METRIC_SPFM, FMEDA_PERMANENT, ASIL_B), cases[i].spfm);
    assert_int_equal(fmeda_standing(fmeda, METRIC_LFM, FMEDA_PERMANENT, ASIL_B), cases[i].lfm);
    assert_alike(fmeda);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// ---- LFM from nothing --------------------------------------------------------------------------------------

// Own state with 50 unnoticed faults; two first faults, tried with second ones that are masked and unread, or not.
static void test_second_faults(void **state) {
  (void)state;
  static uint8_t own[100], alone[40], masked[40], met[40];
  static int8_t unread[40];
  lay(own, (Stretch[]){{50, OUTCOME_MASKED}, {50, OUTCOME_DETECTED}, {0}});
  lay(alone, (Stretch[]){{40, OUTCOME_CORRECTED}, {0}});
  lay(masked, (Stretch[]){{40, OUTCOME_MASKED}, {0}});
  lay(met, (Stretch[]){{39, OUTCOME_MASKED}, {1, OUTCOME_CORRECTED}, {0}});
  const struct {
    const uint8_t *outcomes[2];
    const int8_t *read[2];
    uint32_t idle, tried;
    Standing lfm;
    const char *says;
  } cases[] = {
      {{masked, masked}, {unread, unread}, 2, 0, HELD, "every second fault was masked and none was read, with all of the 2 first faults"},
      {{masked, met}, {unread, unread}, 1, 1, YES, "with 1 of 2 first faults every second fault was masked and none was read"},
      {{masked, masked}, {unread, NULL}, 1, 1, YES, "tried with second ones: 1, with 40 second ones in all. Of these first faults 0 let"},
      {{met, met}, {unread, unread}, 0, 2, YES, "tried with second ones: 2, with 80 second ones in all"}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    for (uint32_t value = 0; value < 2; value++)
      make(&shelf, &(Made){"dmr", value == 0 ? "stuck0" : "stuck1", "dmr.mask", .outcomes = own, .count = 100, .fit_per_mbit = 1,
                           .kind = KIND_SCHEME, .scheme_bits = 1 << 20});
    for (uint32_t value = 0; value < 2; value++)
      make(&shelf, &(Made){"dmr", value == 0 ? "stuck0" : "stuck1", "rf", .outcomes = alone, .count = 40, .fit_per_mbit = 1000,
                           .kind = KIND_CELLS});
    for (uint32_t k = 0; k < 2; k++)
      make(&shelf, &(Made){"dmr", "flip", "unit.sp", k == 0 ? "stuck1:dmr.mask[row=1]@0-" : "stuck1:dmr.mask[row=2]@0-",
                           .outcomes = cases[i].outcomes[k], .read = cases[i].read[k], .count = 40});
    FmedaScope scope = {FMEDA_PERMANENT, "rf"};
    FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
    options.scope.items = &scope;
    options.scope.count = 1;
    Fmeda *fmeda = read_all(&shelf, 0, &options);
    const FmedaCell *mask = NULL;
    for (uint32_t k = 0; k < fmeda->cells.count; k++) {
      const FmedaCell *cell = &fmeda->cells.items[k];
      if (strcmp(cell->structure, "dmr.mask") == 0 && strcmp(cell->model, "stuck1") == 0) mask = cell;
    }
    assert_int_equal(mask->first_idle, cases[i].idle);
    assert_int_equal(mask->first_tried, cases[i].tried);
    assert_near(mask->shares[CLASS_LATENT].value, cases[i].tried == 0 ? 0.5 : 0, 1e-12); // nothing learnt: all of them
    assert_int_equal(fmeda_standing(fmeda, METRIC_LFM, FMEDA_PERMANENT, ASIL_B), cases[i].lfm);
    if (!is_found(fmeda, cases[i].says)) fail_msg("case %u: nobody says '%s'", i, cases[i].says);
    assert_alike(fmeda);
    fmeda_free(fmeda);
    shelf_clear(&shelf);
  }
}

// Without a mechanism nothing is found, so nothing can be latent: 100% of nothing.
static void test_no_mechanism(void **state) {
  (void)state;
  Shelf shelf = {0};
  static uint8_t outcomes[100];
  lay(outcomes, (Stretch[]){{70, OUTCOME_MASKED}, {30, OUTCOME_SDC}, {0}});
  for (uint32_t value = 0; value < 2; value++)
    make(&shelf, &(Made){"none", value == 0 ? "stuck0" : "stuck1", "rf", .outcomes = outcomes, .count = 100, .fit_per_mbit = 1,
                         .kind = KIND_CELLS});
  FmedaScope scope = {FMEDA_PERMANENT, "rf"};
  FmedaOptions options = {.confidence = 0.95, .lifetime = 1};
  options.scope.items = &scope;
  options.scope.count = 1;
  Fmeda *fmeda = read_all(&shelf, 0, &options);
  assert_near(fmeda->sums[FMEDA_PERMANENT].metrics[METRIC_LFM].value, 1, 1e-12);
  assert_int_equal(fmeda_standing(fmeda, METRIC_LFM, FMEDA_PERMANENT, ASIL_B), STANDING_WITHHELD);
  assert_int_equal(fmeda_standing(fmeda, METRIC_SPFM, FMEDA_PERMANENT, ASIL_B), STANDING_MISSED);
  assert_true(is_found(fmeda, "LFM tells nothing"));
  fmeda_free(fmeda);
  shelf_clear(&shelf);
}

// ---- The interval decides ------------------------------------------------------------------------------------

static void test_standing(void **state) {
  (void)state;
  const struct {
    MetricId metric;
    double low, value, high;
    Asil asil;
    Standing standing;
  } cases[] = {{METRIC_SPFM, 0.90, 0.95, 0.99, ASIL_B, STANDING_SHOWN},     {METRIC_SPFM, 0.8999, 0.95, 0.99, ASIL_B, STANDING_NOT_SHOWN},
               {METRIC_SPFM, 0.80, 0.85, 0.90, ASIL_B, STANDING_NOT_SHOWN}, {METRIC_SPFM, 0.80, 0.85, 0.8999, ASIL_B, STANDING_MISSED},
               {METRIC_LFM, 0.90, 0.95, 1.00, ASIL_D, STANDING_SHOWN},      {METRIC_LFM, 0.10, 0.59, 0.61, ASIL_B, STANDING_NOT_SHOWN},
               {METRIC_LFM, 0.10, 0.50, 0.59, ASIL_B, STANDING_MISSED},     {METRIC_PMHF, 0, 5, 9.99, ASIL_D, STANDING_SHOWN},
               {METRIC_PMHF, 0, 5, 10, ASIL_D, STANDING_NOT_SHOWN},         {METRIC_PMHF, 9, 12, 20, ASIL_D, STANDING_NOT_SHOWN},
               {METRIC_PMHF, 10, 12, 20, ASIL_D, STANDING_MISSED}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Standing standing = metric_standing(cases[i].metric, (Estimate){true, cases[i].value, cases[i].low, cases[i].high}, cases[i].asil);
    if (standing != cases[i].standing) fail_msg("case %zu: %s", i, standing_text[standing]);
  }
  assert_int_equal(metric_standing(METRIC_SPFM, (Estimate){0}, ASIL_B), STANDING_UNKNOWN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_used),         cmocka_unit_test(test_used_of_several), cmocka_unit_test(test_used_latent),
      cmocka_unit_test(test_dual),         cmocka_unit_test(test_scope),           cmocka_unit_test(test_of_the_chip),
      cmocka_unit_test(test_models),       cmocka_unit_test(test_lacks),           cmocka_unit_test(test_second_faults),
      cmocka_unit_test(test_no_mechanism), cmocka_unit_test(test_standing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
