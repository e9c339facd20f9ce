// What a report makes of a journal: confidence, intervals of groups, boards, and why there is no FIT.
#include "report/test_shelf.h"

static const StructureRow structures[] = {
    {.region = 3, .name = "rf", .title = "register file", .rows = 1024, .units = 32, .bits = 32, .raw_fit_per_mbit = 1000},
    {.region = 5, .name = "unit.sp", .title = "outputs of SPs", .rows = 32, .units = 1, .bits = 32},
};
enum { FAULTS = 120 };

static JournalMeta meta_of(const char *model, const char *arguments) {
  return (JournalMeta){.target = "made-up",
                       .arguments = arguments,
                       .machine = "m",
                       .settings = "fit.sram=1000000\nfit.permanent=0\n",
                       .protection = "none",
                       .model = model,
                       .structures = "rf,unit.sp",
                       .window = "all",
                       .timeout = 10,
                       .shards = 1};
}

// Two launches of two kernels, with faults of both structures in each. Every fifth fault is an SDC in rf, every second one in unit.sp.
static Journal *journal_of(const JournalMeta *meta, double confidence) {
  Diags diags = {0};
  Journal *journal = journal_open(":memory:", meta, &diags);
  assert_non_null(journal);
  const GoldenRow launches[] = {{.launch = 1, .kernel = "first", .cycles = 500},
                                {.launch = 2, .kernel = "second", .began_at = 500, .cycles = 700}};
  assert_true(journal_put_golden(journal, launches, COUNT_OF(launches), &diags) &&
              journal_put_structures(journal, structures, COUNT_OF(structures), &diags) &&
              journal_begin(journal, &(JournalPlan){FAULTS, 0, confidence}, &diags));
  for (uint64_t i = 0; i < FAULTS; i++) {
    FaultRow row = fault_row();
    bool is_unit = i % 3 == 0;
    row.id = row.class_of = i;
    row.fault = "flip:made-up@1";
    row.model = meta->model;
    row.region = structures[is_unit].region;
    row.cycle = 1200 * i / FAULTS;
    row.launch = row.cycle < 500 ? 1 : 2;
    row.line = row.launch;
    row.outcome = i % (is_unit ? 2 : 5) == 0 ? OUTCOME_SDC_CRITICAL : OUTCOME_MASKED;
    shelf_put(journal, &row);
  }
  assert_true(journal_reached(journal, FAULTS, true, &diags) && journal_commit(journal, &diags));
  return journal;
}

static Report *report_of(Journal *journal, double confidence) {
  Diags diags = {0};
  Report *report = report_read(journal, &(ReportOptions){.confidence = confidence}, &diags);
  assert_non_null(report);
  return report;
}

static void confidence_is_what_was_asked(void **state) {
  (void)state;
  const JournalMeta meta = meta_of("flip", "size=tiny\n");
  const struct {
    double asked, given, used;
  } cases[] = {{0.95, 0, 0.95}, {0.95, 0.9, 0.9}, {0, 0, REPORT_CONFIDENCE}, {7, 0, REPORT_CONFIDENCE}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Journal *journal = journal_of(&meta, cases[i].asked);
    Report *report = report_of(journal, cases[i].given);
    assert_true(report->confidence == cases[i].used);
    report_free(report);
    journal_close(journal);
  }
}

static void assert_same(Estimate a, Estimate b) {
  assert_true(a.is_known && b.is_known && a.value == b.value && a.low == b.low && a.high == b.high);
}

// Kernels, launches and lines that hold the same faults of several structures have the same intervals.
static void groups_follow_one_rule(void **state) {
  (void)state;
  const JournalMeta meta = meta_of("flip", "size=tiny\n");
  Journal *journal = journal_of(&meta, 0.95);
  Report *report = report_of(journal, 0);
  assert_true(report->kernels.count == 2 && report->launches.count == 2 && report->lines.count == 2);
  for (uint32_t i = 0; i < 2; i++) {
    const MixedTally *kernel = &report->kernels.items[i].tally;
    assert_int_equal(kernel->parts.count, 2);
    assert_int_equal(mixed_part(kernel, 0)->total + mixed_part(kernel, 1)->total, kernel->all.total);
    Estimate estimate = mixed_estimate(report, kernel, MEASURE_SDC);
    assert_same(estimate, mixed_estimate(report, &report->launches.items[i].tally, MEASURE_SDC));
    assert_same(estimate, mixed_estimate(report, &report->lines.items[i].tally, MEASURE_SDC));
    // One sample of mixed weights would have another interval.
    assert_true(estimate.high != tally_estimate(&kernel->all, MEASURE_SDC, report->confidence).high);
  }
  assert_int_equal(mixed_part(&report->slices[0], 9)->total, 0);
  report_free(report);
  journal_close(journal);
}

static void twice_is_a_protection(void **state) {
  (void)state;
  const struct {
    const char *arguments, *kept, *protection;
    uint32_t boards;
    uint64_t time;
  } cases[] = {{"seed=1\nvalue=twice=boards\n", "seed=1\nvalue=twice=boards\n", "none", 1, 1200},
               {"seed=1\ntwice=host\n", "seed=1\n", "--twice host", 1, 1200},
               {"seed=1\ntwice=boards\nvalue=x\n", "seed=1\nvalue=x\n", "--twice boards", 2, 700}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const JournalMeta meta = meta_of("flip", cases[i].arguments);
    Journal *journal = journal_of(&meta, 0.95);
    Diags diags = {0};
    assert_true(journal_put_note(journal, NOTE_CHIP_BITS, "1000", &diags) && journal_put_note(journal, NOTE_SCHEME_BITS, "10", &diags));
    Report *report = report_of(journal, 0);
    assert_string_equal(report->meta->protection, cases[i].protection);
    assert_string_equal(report->meta->arguments, cases[i].kept);
    assert_int_equal(report_boards(report), cases[i].boards);
    assert_int_equal(report_time(report), cases[i].time);
    assert_true(report_scheme_bits(report) == (cases[i].boards == 2 ? 1020 : 10));
    const StructureSummary *rf = &report->structures.items[0];
    double share = report_estimate(report, &rf->tally, MEASURE_SDC).value;
    assert_true(structure_fit(report, rf, MEASURE_SDC).value == share * 1000 * cases[i].boards);
    report_free(report);
    journal_close(journal);
  }
}

// What has no rate is named, with what gives it one.
static void no_fit_says_what_helps(void **state) {
  (void)state;
  const struct {
    const char *model, *said;
  } cases[] = {
      {"flip", "no FIT of unit.sp: rates (fit.*) are those of memory cells, and this is logic.\n"
               "'redoubt fmeda :memory: --rate transient:unit.sp=FIT' takes a rate of your own\n"},
      {"stuck1", "no FIT of unit.sp: the machine has no rate for model stuck1. Give it one in a new campaign: --set fit.permanent=N,\n"},
      {"duty(50,50)", "no FIT of unit.sp: no rate is known for model duty(50,50).\n"
                      "'redoubt fmeda :memory: --rate permanent:unit.sp=FIT' takes a rate of your own\n"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const JournalMeta meta = meta_of(cases[i].model, "");
    Journal *journal = journal_of(&meta, 0.95);
    Report *report = report_of(journal, 0);
    Text text = {0};
    report_text(report, &text);
    if (strstr(text.at, cases[i].said) == NULL) fail_msg("'%s' does not say '%s'", text.at, cases[i].said);
    text_free(&text);
    report_free(report);
    journal_close(journal);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(confidence_is_what_was_asked),
      cmocka_unit_test(groups_follow_one_rule),
      cmocka_unit_test(twice_is_a_protection),
      cmocka_unit_test(no_fit_says_what_helps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
