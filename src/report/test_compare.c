// What B changes against A, net, worked out by hand: 100 faults in each structure, of 2^20 bits in rf and 2^15 in the parity bits, 1,000 FIT per Mbit.
// So a share of rf is worth 1,000 FIT, one of parity.rf 31.25. Intervals are those of a script of a dozen lines, from the formulas of Wilson, Newcombe
// and Zou and Donner.
#include "report/pairs.h"
#include "report/test_made.h"

enum { FAULTS = 100 };

// A structure with its faults. The k-th faults of two sides are pairs if `draw` is the same.
typedef struct Struck {
  const char *name; // NULL: no more
  uint32_t rows;    // of 32 bits
  double rate;
  StructureKind kind;
  uint32_t draw;
  Stretch outcomes[6];
} Struck;

typedef struct Side {
  const char *protection, *model, *arguments, *structures, *cells, *settings; // cells: the note
  uint64_t scheme_bits;
  Struck struck[4];
} Side;

static void put_side(Shelf *shelf, const Side *side) {
  StructureRow rows[4];
  uint8_t outcomes[4][FAULTS];
  uint32_t count = 0;
  for (; side->struck[count].name != NULL; count++) {
    const Struck *struck = &side->struck[count];
    rows[count] = (StructureRow){
        .region = (uint16_t)(count + 3), .name = struck->name, .title = "made up", .rows = struck->rows, .units = 1, .bits = 32};
    rows[count].raw_fit_per_mbit = struck->rate;
    rows[count].kind = (uint8_t)struck->kind;
    assert_int_equal(lay(outcomes[count], struck->outcomes), FAULTS);
  }
  JournalMeta meta = {.target = "made-up",
                      .arguments = side->arguments == NULL ? "size=none\n" : side->arguments,
                      .machine = "m",
                      .settings = side->settings == NULL ? "" : side->settings,
                      .protection = side->protection,
                      .model = side->model == NULL ? "flip" : side->model,
                      .structures = side->structures == NULL ? "all" : side->structures,
                      .window = "all",
                      .timeout = 10,
                      .shards = 1};
  Diags diags = {0};
  Journal *journal = shelf_begin(&meta, rows, count, 1000, FAULTS * count);
  shelf_note(journal, NOTE_CHIP_BITS, 1 << 22);
  shelf_note(journal, NOTE_SCHEME_BITS, side->scheme_bits);
  assert_true(side->cells == NULL || journal_put_note(journal, NOTE_CELLS, side->cells, &diags));
  for (uint32_t i = 0; i < FAULTS * count; i++) {
    const Struck *struck = &side->struck[i % count];
    char fault[64];
    snprintf(fault, sizeof fault, "flip:%s[row=%u,bit=%u]@100", struck->name, (unsigned)(i / count), (unsigned)struck->draw);
    FaultRow row = fault_row();
    row.id = row.class_of = i;
    row.number = (int64_t)(i / count);
    row.fault = fault;
    row.model = meta.model;
    row.region = rows[i % count].region;
    row.cycle = 100;
    row.launch = 1;
    row.outcome = outcomes[i % count][i / count];
    shelf_put(journal, &row);
  }
  shelf_end(shelf, journal, FAULTS * count);
}

// Without: 20 SDCs and 10 crashes of 100. With: both kinds are detected, and 5 that did nothing. Of its own cells 40 raise an alarm.
#define PLAIN_RF                                                           \
  {                                                                        \
    "rf", 1 << 15, 1000, KIND_CELLS, 0, {                                  \
      {20, OUTCOME_SDC}, {10, OUTCOME_DUE_ADDRESS}, { 70, OUTCOME_MASKED } \
    }                                                                      \
  }
#define GUARDED_RF                                   \
  {                                                  \
    "rf", 1 << 15, 1000, KIND_CELLS, 0, {            \
      {35, OUTCOME_DETECTED}, { 65, OUTCOME_MASKED } \
    }                                                \
  }
#define PARITY_BITS                                  \
  {                                                  \
    "parity.rf", 1 << 10, 1000, KIND_SCHEME, 0, {    \
      {60, OUTCOME_MASKED}, { 40, OUTCOME_DETECTED } \
    }                                                \
  }
#define CHIP "rf=1048576\nl2=1048576\nunit.sp=0\n"
#define CELLS CHIP "parity.rf=32768\n"
#define BITS (1 << 15)

static void assert_estimate(Estimate got, double value, double low, double high) {
  assert_true(got.is_known);
  assert_near(got.value, value, 1e-6);
  assert_near(got.low, low, 1e-6);
  assert_near(got.high, high, 1e-6);
}

static void two_sides(Shelf *shelf, const Side *a, const Side *b, Pairs *pairs) {
  Diags diags = {0};
  put_side(shelf, a);
  put_side(shelf, b);
  if (!pairs_read(pairs, shelf->reports[0], shelf->reports[1], &diags)) fail_msg("%s", diags.items[0].text);
}

static const Side plain = {.protection = "none", .cells = CHIP, .struck = {PLAIN_RF}};
static const Side guarded = {.protection = "parity", .cells = CELLS, .scheme_bits = BITS, .struck = {GUARDED_RF, PARITY_BITS}};

static void the_schemes_cells_count(void **state) {
  (void)state;
  static const double a[MEASURES][3] = {{200, 133.3669333310325, 288.82916559315885},
                                        {100, 55.2291370606751, 174.36566150491345},
                                        {300, 218.9488529493276, 395.84854633346663},
                                        {200, 133.3669333310325, 288.82916559315885}}; // SDCs again: no other order of additions
  static const double b[MEASURES][3] = {{0, 0, 37.01155703071539},
                                        {362.5, 276.09608463958193, 460.0036715025939},
                                        {362.5, 276.09608463958193, 460.0036715025939},
                                        {0, 0, 37.01155703071539}};
  static const double removed[MEASURES][3] = {{200, 123.77781866445328, 288.82916559315885},
                                              {-262.5, -351.1133189933068, -175.26358800751925},
                                              {-62.5, -110.91251382224775, -14.936244131676894},
                                              {200, 123.77781866445328, 288.82916559315885}};
  Shelf shelf = {0};
  Pairs pairs;
  two_sides(&shelf, &plain, &guarded, &pairs);
  for (uint32_t m = 0; m < MEASURES; m++) {
    Change fit = net_change(&pairs, (Measure)m, UNIT_FIT), points = net_change(&pairs, (Measure)m, UNIT_POINTS);
    assert_estimate(fit.a, a[m][0], a[m][1], a[m][2]);
    assert_estimate(fit.b, b[m][0], b[m][1], b[m][2]);
    assert_estimate(fit.removed, removed[m][0], removed[m][1], removed[m][2]);
    // Rates are the same everywhere, so that points of A's bits are FIT / 1,000: further cells make no AVF smaller.
    assert_estimate(points.removed, removed[m][0] / 1000, removed[m][1] / 1000, removed[m][2] / 1000);
    assert_estimate(points.b, b[m][0] / 1000, b[m][1] / 1000, b[m][2] / 1000);
  }
  assert_true(pairs.alone_a == 0 && pairs.alone_b == 0 && pairs.same == FAULTS);
  assert_true(unstruck_cells(pairs.b, pairs.a).bits <= 0 && unstruck_cells(pairs.a, pairs.b).bits <= 0);
  shelf_clear(&shelf);
}

// Rates within a factor of 4, the same in both: all limits move away by 4, and what is less stays less.
static void rates_are_unsure_in_both(void **state) {
  (void)state;
  Side a = plain, b = guarded;
  a.settings = b.settings = "fit.sram_factor=4000\n";
  Shelf shelf = {0};
  Pairs pairs;
  two_sides(&shelf, &a, &b, &pairs);
  Change sdc = net_change(&pairs, MEASURE_SDC, UNIT_FIT), due = net_change(&pairs, MEASURE_DUE, UNIT_FIT);
  assert_estimate(sdc.a, 200, 133.3669333310325 / 4, 288.82916559315885 * 4);
  assert_estimate(sdc.removed, 200, 123.77781866445328 / 4, 288.82916559315885 * 4);
  assert_estimate(due.removed, -262.5, -351.1133189933068 * 4, -175.26358800751925 / 4);
  assert_near(net_change(&pairs, MEASURE_SDC, UNIT_POINTS).removed.low, 0.12377781866445328, 1e-9); // rates say nothing of shares
  Estimate alone = report_fit(pairs.a, MEASURE_SDC);
  assert_estimate(sdc.a, alone.value, alone.low, alone.high); // as 'report' has it
  shelf_clear(&shelf);
}

static void the_other_way_round_it_is_the_same(void **state) {
  (void)state;
  Shelf there = {0}, back = {0};
  Pairs one, other;
  two_sides(&there, &plain, &guarded, &one);
  two_sides(&back, &guarded, &plain, &other);
  for (uint32_t m = 0; m < MEASURES; m++) {
    Estimate removed = net_change(&one, (Measure)m, UNIT_FIT).removed, added = net_change(&other, (Measure)m, UNIT_FIT).removed;
    assert_estimate(added, -removed.value, -removed.high, -removed.low);
  }
  shelf_clear(&there);
  shelf_clear(&back);
}

// A pair of boards is twice the bits: 1,000 x 0.20 less 2,000 x 0.05 FIT, with the correlation of the pairs.
static void boards_count_twice(void **state) {
  (void)state;
  const Side boards = {.protection = "none",
                       .arguments = "size=none\ntwice=boards\n",
                       .struck = {{"rf", 1 << 15, 1000, KIND_CELLS, 0, {{5, OUTCOME_SDC}, {25, OUTCOME_MASKED}, {70, OUTCOME_MASKED}}}}};
  Shelf shelf = {0};
  Pairs pairs;
  two_sides(&shelf, &plain, &boards, &pairs);
  Change change = net_change(&pairs, MEASURE_SDC, UNIT_FIT);
  assert_estimate(change.b, 100, 43.08735830873596, 223.50093846383822);
  assert_estimate(change.removed, 100, -14.388515049720496, 184.08524311315057);
  shelf_clear(&shelf);
}

// Beside a structure that is paired stands one that is not.
static void each_structure_is_paired_by_itself(void **state) {
  (void)state;
#define OTHER(draws)                            \
  {                                             \
    "l2", 1 << 15, 1000, KIND_CELLS, draws, {   \
      {20, OUTCOME_SDC}, { 80, OUTCOME_MASKED } \
    }                                           \
  }
  const Side a = {.protection = "none", .struck = {PLAIN_RF, {"shared", 1 << 15, 1000, KIND_CELLS, 0, {{100, OUTCOME_MASKED}}}, OTHER(0)}};
  const Side b = {.protection = "none", .struck = {PLAIN_RF, {"shared", 1 << 15, 1000, KIND_CELLS, 0, {{100, OUTCOME_MASKED}}}, OTHER(1)}};
  Shelf shelf = {0};
  Pairs pairs;
  two_sides(&shelf, &a, &b, &pairs);
  assert_true(is_paired(&pairs, &pairs.structures[0]) && !is_paired(&pairs, &pairs.structures[2]));
  Interval share = wilson_interval(20, 100, 0.95), difference = difference_interval(0.2, share, 0.2, share);
  assert_estimate(structure_change(&pairs, &pairs.structures[2], MEASURE_SDC, UNIT_SHARE).removed, 0, difference.low, difference.high);
  Text text = {0};
  Diags diags = {0};
  assert_true(report_compare(shelf.reports[0], shelf.reports[1], &text, &diags));
  assert_non_null(strstr(text.at, "\nnot paired is l2: its faults are others in B\n"));
  text_free(&text);
  shelf_clear(&shelf);
}

// What the first lines say, and what they must not.
static void the_first_lines_say_it(void **state) {
  (void)state;
  const Side unstruck = {.protection = "parity", .structures = "rf", .cells = CELLS, .scheme_bits = BITS, .struck = {GUARDED_RF}};
  const Side older = {.protection = "parity", .scheme_bits = BITS, .struck = {GUARDED_RF}};
  const Side of_4 = {.protection = "parity",
                     .scheme_bits = BITS,
                     .struck = {{"rf", 1 << 15, 1000, KIND_NOT_KNOWN, 0, {{100, OUTCOME_MASKED}}},
                                {"parity.rf", 1 << 10, 1000, KIND_NOT_KNOWN, 0, {{100, OUTCOME_MASKED}}}}};
  const Side old_plain = {.protection = "none", .struck = {PLAIN_RF}};
  const Side of_3 = {.protection = "parity", .struck = {GUARDED_RF}};
  const Side logic = {.protection = "none", .struck = {{"unit.sp", 32, 0, KIND_OUTPUT, 0, {{100, OUTCOME_MASKED}}}}};
  const Side mixed = {.protection = "none", .struck = {PLAIN_RF, {"unit.sp", 32, 0, KIND_OUTPUT, 0, {{100, OUTCOME_MASKED}}}}};
  const Side wider = {.protection = "none", .struck = {PLAIN_RF, {"l2", 32, 9, KIND_CELLS, 0, {{100, OUTCOME_MASKED}}}}};
  const Side stuck = {.protection = "none", .model = "stuck1", .struck = {PLAIN_RF}};
  const struct {
    const Side *a, *b;
    const char *said[6], *unsaid[2];
  } cases[] = {
      {&plain,
       &guarded,
       {"net, per 10^9 hours  A  ",
        "\n  SDC FIT            200 (133 to 289)        0 (0 to 37.0)           200 (124 to 289)        less in B\n",
        "\n  DUE FIT            100 (55.2 to 174)       362 (276 to 460)        -262 (-351 to -175)     more in B\n",
        "\n  over rf; and what B alone has: parity.rf\n", "\n  B costs +0.00% time, +0.781% bits\n", "all, of A's bits "},
       {"NOT IN IT", "left out"}},
      {&plain,
       &unstruck,
       {"\n  NOT IN IT: parity.rf (32768 bits), which B adds and its campaign did not strike: their harm is not counted.\n"
        "  --structure rf,parity.rf or --structure all strikes them\n",
        "\n  over rf\n"},
       {"left out", "not recorded"}},
      {&unstruck, &plain, {"NOT IN IT: parity.rf (32768 bits), which A adds"}, {"B adds"}},
      {&unstruck,
       &guarded,
       {"\n  left out: parity.rf, struck in B: it was not struck in the other one, which has it, too\n"},
       {"NOT IN IT"}},
      {&unstruck, &unstruck, {"\n  over rf\n", "no difference shown\n"}, {"NOT IN IT", "left out"}},
      {&plain, &older, {"NOT IN IT: cells without a recorded name (32768 bits)"}, {"--structure"}},
      {&old_plain,
       &of_4,
       {"left out: parity.rf, struck in B: its journal is older than version 5",
        "whether the protection of B adds further cells is not recorded"},
       {"NOT IN IT"}},
      {&old_plain,
       &of_3,
       {"whether the protection of B adds further cells is not recorded: the journal is of an older Redoubt\n"},
       {"NOT IN IT"}},
      {&of_3,
       &guarded,
       {"left out: parity.rf, struck in B: its journal does not say which cells the other one's protection adds"},
       {"NOT IN IT"}},
      {&logic, &logic, {"net, % of A's bits   A", "\n  over unit.sp\n"}, {"FIT", "all, "}},
      {&mixed,
       &mixed,
       {"net, per 10^9 hours", "in no FIT, since no rate is known: unit.sp\nnet, % of A's bits", "all, by bits"},
       {"of A's bits:"}},
      {&plain,
       &wider,
       {"left out: l2, struck in B: it was not struck in the other one, which has it, too\n",
        "0 faults in A alone, 100 in B alone: not compared\n"},
       {"B alone has:"}},
      {&plain, &stuck, {"they differ in: model\n", "net, % of A's bits   A"}, {"FIT"}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Shelf shelf = {0};
    Text text = {0};
    Diags diags = {0};
    put_side(&shelf, cases[i].a);
    put_side(&shelf, cases[i].b);
    assert_true(report_compare(shelf.reports[0], shelf.reports[1], &text, &diags));
    for (size_t k = 0; k < COUNT_OF(cases[i].said) && cases[i].said[k] != NULL; k++) {
      if (strstr(text.at, cases[i].said[k]) == NULL) fail_msg("case %zu: no '%s' in\n%s", i, cases[i].said[k], text.at);
    }
    for (size_t k = 0; k < COUNT_OF(cases[i].unsaid) && cases[i].unsaid[k] != NULL; k++) {
      if (strstr(text.at, cases[i].unsaid[k]) != NULL) fail_msg("case %zu: '%s' in\n%s", i, cases[i].unsaid[k], text.at);
    }
    text_free(&text);
    shelf_clear(&shelf);
  }
}

// A number of JSON under a path of three keys.
static double number_at(const json_t *object, const char *estimate, const char *key) {
  return json_real_value(json_object_get(json_object_get(object, estimate), key));
}

// 'report' of two journals and 'compare' say one interval, in every form.
static void forms_agree(void **state) {
  (void)state;
  Shelf shelf = {0};
  Pairs pairs;
  Diags diags = {0};
  Text matrix = {0}, csv = {0}, json = {0}, other = {0};
  two_sides(&shelf, &plain, &guarded, &pairs);
  Estimate sdc = net_change(&pairs, MEASURE_SDC, UNIT_FIT).removed, due = net_change(&pairs, MEASURE_DUE, UNIT_POINTS).removed;
  assert_true(report_matrix(shelf.reports, 2, MATRIX_TEXT, &matrix, &diags) && report_matrix(shelf.reports, 2, MATRIX_JSON, &json, &diags));
  assert_non_null(strstr(matrix.at, "  200 (124 to 289)          -262 (-351 to -175)\n"));
  json_t *object = json_loads(json.at, 0, NULL), *cell = json_array_get(json_object_get(object, "cells"), 1);
  assert_near(number_at(cell, "sdc_fit_removed", "low"), sdc.low, 1e-9);
  assert_near(number_at(cell, "due_removed", "high"), due.high, 1e-9);
  json_decref(object);
  assert_true(report_compare_json(shelf.reports, 2, &other, &diags) && report_compare_csv(shelf.reports, 2, &csv, &diags));
  object = json_loads(other.at, 0, NULL);
  const json_t *changes = json_object_get(json_array_get(object, 0), "changes"), *all = json_array_get(changes, 2);
  assert_string_equal(json_string_value(json_object_get(all, "structure")), "all");
  assert_near(number_at(all, "fit_removed", "low"), sdc.low, 1e-9);
  assert_string_equal(json_string_value(json_object_get(json_array_get(changes, 1), "note")), "B alone has it");
  assert_non_null(strstr(csv.at, "sdc_avf,all,0.2,"));
  assert_non_null(strstr(csv.at, ",\"B alone has it\"\n"));
  json_decref(object);
  text_free(&matrix);
  text_free(&csv);
  text_free(&json);
  text_free(&other);
  shelf_clear(&shelf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_schemes_cells_count),
      cmocka_unit_test(the_other_way_round_it_is_the_same),
      cmocka_unit_test(boards_count_twice),
      cmocka_unit_test(rates_are_unsure_in_both),
      cmocka_unit_test(each_structure_is_paired_by_itself),
      cmocka_unit_test(the_first_lines_say_it),
      cmocka_unit_test(forms_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
