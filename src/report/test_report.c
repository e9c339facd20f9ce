// What a report makes of a journal: confidence, intervals of groups, boards, and why there is no FIT.
#include "report/test_shelf.h"

#include <math.h>

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

// rf: 1 Mbit, 1,000 FIT per Mbit, 16 SDCs of 80 faults; unit.sp: 1,024 bits without a rate, 20 of 40; 1,200 cycles.
static void times_by_hand(void **state) {
  (void)state;
  const JournalMeta meta = meta_of("flip", "");
  Journal *journal = journal_of(&meta, 0.95);
  Report *report = report_of(journal, 0);
  Estimate fit = report_fit(report, MEASURE_SDC), hours = estimate_inverse(fit, 1e9), cycles = report_cycles_between_sdc(report);
  Interval share = wilson_interval(16, 80, 0.95);
  assert_near(fit.value, 200, 1e-9);
  assert_near(hours.value, 5e6, 1e-3);
  assert_near(hours.low, 1e9 / (1000 * share.high), 1e-3); // a high rate is a short time
  assert_near(cycles.value, 1200 / ((0.2 * 1048576 + 0.5 * 1024) / (1048576 + 1024)), 1e-6);
  report_free(report);
  journal_close(journal);
}

// Two rates: 1 Mbit of rf at 1,000 FIT per Mbit, 2 Mbit of dram at 10; 30 and 20 SDCs of 100 faults each.
static Report *report_of_two_rates(const char *model, const char *settings, Journal **journal) {
  const StructureRow rated[] = {
      {.region = 3, .name = "rf", .title = "", .rows = 1024, .units = 32, .bits = 32, .kind = KIND_CELLS, .raw_fit_per_mbit = 1000},
      {.region = 4, .name = "dram", .title = "", .rows = 2048, .units = 32, .bits = 32, .kind = KIND_MEMORY, .raw_fit_per_mbit = 10}};
  JournalMeta meta = meta_of(model, "");
  meta.settings = settings;
  *journal = shelf_begin(&meta, rated, COUNT_OF(rated), 1200, 200);
  for (uint64_t i = 0; i < 200; i++) {
    FaultRow row = fault_row();
    row.id = row.class_of = i;
    row.fault = "flip:made-up@1";
    row.model = model;
    row.region = rated[i / 100].region;
    row.launch = 1;
    row.outcome = i % 100 < (i < 100 ? 30 : 20) ? OUTCOME_SDC : OUTCOME_MASKED;
    shelf_put(*journal, &row);
  }
  Diags diags = {0};
  assert_true(journal_reached(*journal, 200, true, &diags) && journal_commit(*journal, &diags));
  return report_of(*journal, 0.95);
}

// The interval of a FIT holds those of every rate within its factor; rates that are in common move together; more than one rate: all of them.
static void fit_holds_the_rates(void **state) {
  (void)state;
  const struct {
    const char *model, *settings;
    double rf, dram; // their factors
    const char *said;
  } cases[] = {{"flip", "fit.sram=1000000\n", 1, 1, "Intervals: the sampling's alone; no uncertainty is given for fit.sram and fit.dram."},
               {"flip", "fit.sram_factor=4000\nfit.dram_factor=2500\n", 4, 2.5,
                "raw rates up to 4 (fit.sram_factor) and 2.5 (fit.dram_factor) times larger or smaller, which more faults do not narrow."},
               {"flip", "x=1\nfit.dram_factor=2000\n", 1, 2,
                "larger or smaller, which more faults do not narrow; no uncertainty is given for fit.sram."},
               {"adjacent(2)", "fit.adjacent2_factor=3000\nfit.sram_factor=2000\n", 6, 3, "2 (fit.sram_factor) and 3"},
               {"stuck0", "fit.sram_factor=4000\nfit.permanent_factor=5000\n", 5, 5, "5 (fit.permanent_factor)"},
               {"flip", "fit.sram_factor=999\nfit.dram_factor=nan\n", 1, 1, "the sampling's alone"}}; // damaged journals
  Interval rf = wilson_interval(30, 100, 0.95), dram = wilson_interval(20, 100, 0.95);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Journal *journal;
    Report *report = report_of_two_rates(cases[i].model, cases[i].settings, &journal);
    double f = cases[i].rf, g = cases[i].dram;
    Estimate one = structure_fit(report, &report->structures.items[0], MEASURE_SDC), sum = report_fit(report, MEASURE_SDC);
    assert_near(one.value, 300, 1e-9);
    assert_near(one.low, 1000 * rf.low / f, 1e-9);
    assert_near(one.high, 1000 * rf.high * f, 1e-9);
    assert_near(sum.value, 304, 1e-9);
    assert_near(sum.low, 300 / f + 4 / g - hypot(1000 / f * (0.3 - rf.low), 20 / g * (0.2 - dram.low)), 1e-9);
    assert_near(sum.high, 300 * f + 4 * g + hypot(1000 * f * (rf.high - 0.3), 20 * g * (dram.high - 0.2)), 1e-9);
    Text text = {0};
    report_text(report, &text);
    assert_says(text.at, cases[i].said);
    text_free(&text);
    report_free(report);
    journal_close(journal);
  }
  Estimate worse = estimate_rate((Estimate){true, -0.1, -0.3, 0.2}, 100, 4),
           better = estimate_rate((Estimate){true, 0.2, 0.1, 0.3}, 100, 4);
  assert_true(worse.low == -120 && worse.high == 80 && better.low == 2.5 && better.high == 120); // of a difference
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

typedef struct SentenceCase {
  const char *model, *protection, *window;
  uint8_t outcomes[5]; // every fault of a structure ends as one of them, in turn
  uint32_t count, structures;
  bool is_complete, partial;
  const char *said;
} SentenceCase;

static Journal *journal_ending(const SentenceCase *at) {
  Diags diags = {0};
  JournalMeta meta = meta_of(at->model, "");
  meta.protection = at->protection;
  meta.window = at->window;
  Journal *journal = journal_open(":memory:", &meta, &diags);
  assert_non_null(journal);
  const uint64_t faults = 1000ull * at->structures;
  const GoldenRow launch = {.launch = 1, .kernel = "first", .cycles = 500};
  assert_true(journal_put_golden(journal, &launch, 1, &diags) &&
              journal_put_structures(journal, structures, COUNT_OF(structures), &diags) &&
              journal_begin(journal, &(JournalPlan){at->is_complete ? faults : faults + 1000, 0, 0.95}, &diags));
  for (uint64_t i = 0; i < faults; i++) {
    FaultRow row = fault_row();
    row.id = row.class_of = i;
    row.fault = "made-up@1";
    row.model = at->model;
    row.region = structures[i % at->structures].region;
    row.launch = 1;
    row.outcome = i % at->structures == 0 ? at->outcomes[i / at->structures % at->count] : OUTCOME_MASKED;
    shelf_put(journal, &row);
  }
  assert_true(journal_reached(journal, faults, at->is_complete, &diags) && journal_commit(journal, &diags));
  return journal;
}

// What happened, in one sentence. Shares of several structures count by bits: 1,048,576 of rf and 1,024 of unit.sp.
static void one_sentence_says_what_happened(void **state) {
  (void)state;
  const SentenceCase cases[] = {
      {"flip",
       "none",
       "all",
       {OUTCOME_MASKED, OUTCOME_SDC, OUTCOME_DUE_ADDRESS, OUTCOME_MASKED, OUTCOME_SDC_CRITICAL},
       5,
       1,
       true,
       false,
       "Of 1,000 bit flips in rf, 40.0% (37.0 to 43.1) do nothing, 40.0% (37.0 to 43.1)\n"
       "make a wrong result and 20.0% (17.6 to 22.6) end the program. In parentheses:\nintervals at 95%.\n"},
      {"flip",
       "secded:rf",
       "all",
       {OUTCOME_CORRECTED},
       1,
       1,
       true,
       false,
       "Of 1,000 bit flips in rf, none (at most 0.38%) do nothing, all (at least 99.6%)\n"
       "are corrected, none (at most 0.38%) make a wrong result and none (at most 0.38%)\nend the program."},
      {"stuck1",
       "dmr",
       "cycles:0-1",
       {OUTCOME_DETECTED, OUTCOME_TIMEOUT, OUTCOME_PERFORMANCE, OUTCOME_MASKED},
       4,
       1,
       true,
       false,
       "Of 1,000 permanent faults (stuck1) in rf, window cycles:0-1, 25.0% (22.4 to\n27.8) do nothing, 25.0% (22.4 to 27.8) "
       "change only the time that the program\ntakes, 25.0% (22.4 to 27.8) are detected but not repaired, none (at most 0.38%)\n"
       "make a wrong result and 25.0% (22.4 to 27.8) end or hang the program."},
      {"flip",
       "none",
       "all",
       {OUTCOME_SDC},
       1,
       2,
       true,
       false,
       "Of 2,000 bit flips in rf and unit.sp, weighted by their bits, 0.098% (0.097 to\n0.48) do nothing, 99.9% (99.5 to 99.9) make a "
       "wrong result"},
      {"adjacent(2)", "none", "all", {OUTCOME_SDC}, 1, 1, false, true, "Of the first 1,000 faults (adjacent(2)) in rf, none "},
      {"flip", "none", "all", {OUTCOME_SDC}, 1, 1, false, false, ""},
      {"flip", "none", "all", {OUTCOME_SDC, OUTCOME_INTERNAL}, 2, 1, true, false, ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    Journal *journal = journal_ending(&cases[i]);
    Report *report = report_read(journal, &(ReportOptions){.partial = cases[i].partial}, &diags);
    assert_non_null(report);
    Text text = {0}, all = {0};
    text_add(&text, "%s", "");
    report_sentence(report, &text);
    if (strncmp(text.at, cases[i].said, strlen(cases[i].said)) != 0 || (cases[i].said[0] == '\0' && text.length > 0))
      fail_msg("case %zu: '%s' instead of '%s'", i, text.at, cases[i].said);
    report_text(report, &all);
    const char *sentence = strstr(all.at, text.at), *table = strstr(all.at, "\nstructure ");
    assert_true(table != NULL && sentence != NULL && sentence < table); // before any figure
    assert_null(strstr(all.at, "settled:"));                            // that is for developers
    text_free(&text);
    text_free(&all);
    report_free(report);
    journal_close(journal);
  }
}

static bool take_bytes(void *context, const char *bytes, size_t count) {
  text_add_bytes(context, bytes, count);
  return true;
}

// A sum of FIT says in every form whom it leaves out.
static void a_sum_names_whom_it_lacks(void **state) {
  (void)state;
  const JournalMeta meta = meta_of("flip", "");
  Journal *journal = journal_of(&meta, 0.95);
  Report *report = report_of(journal, 0);
  Text csv = {0}, json = {0}, page = {0};
  assert_true(report_csv(report, CSV_CAMPAIGN, &(Sink){take_bytes, &csv}) && report_json(report, &(Sink){take_bytes, &json}) &&
              report_page(report, "a.db", &page));
  assert_non_null(strstr(csv.at, "\nfit_without,unit.sp\n"));
  assert_non_null(strstr(json.at, "\"fit_without\""));
  assert_non_null(strstr(page.at, "\"fit_without\":[\"unit.sp\"]"));
  text_free(&csv);
  text_free(&json);
  text_free(&page);
  report_free(report);
  journal_close(journal);
}

static void an_interval_has_one_form(void **state) {
  (void)state;
  const struct {
    Estimate estimate;
    EstimateForm form;
    const char *text;
  } cases[] = {
      {{false, 1, 1, 1}, AS_PERCENT, "-"},
      {{true, 0.1234, 0.1102, 0.138}, AS_PERCENT, "12.3 (11.0 to 13.8)"},
      {{true, 0.0062, 0.0038, 0.0104}, AS_PERCENT, "0.62 (0.38 to 1.04)"},
      {{true, 0, 0, 0.000412}, AS_PERCENT, "0 (0 to 0.041)"},
      {{true, 0.0000051, 0.0000004, 0.3}, AS_PERCENT, "<0.001 (<0.001 to 30.0)"},
      {{true, 0.008, 0.00094, 0.0647}, AS_PERCENT, "0.80 (0.09 to 6.47)"}, // no more decimals than the value
      {{true, 0.00025, 0.000044, 0.0015}, AS_PERCENT, "0.025 (0.0044 to 0.15)"},
      {{true, 0.09996, 0.09994, 0.9996}, AS_PERCENT, "10.0 (9.99 to 100)"}, // a digit fewer once it is rounded up to 10
      {{true, 0.9998, 0.99, 0.9999}, AS_PERCENT, ">99.9 (99.0 to 100)"},    // not 100, and not an interval of 100 alone
      {{true, 1, 0.9999, 1}, AS_PERCENT, "100 (99.9 to 100)"},
      {{true, 0.49, 0.366, 0.615}, AS_SHORT_PERCENT, "49 (36 to 62)"}, // away from the value
      {{true, 0.998, 0.9951, 1}, AS_SHORT_PERCENT, ">99 (99 to 100)"},
      {{true, 0.03, 0.006, 0.0949}, AS_SHORT_PERCENT, "3.0 (0.6 to 9.5)"},
      {{true, -0.125, -1, 0.659}, AS_PERCENT, "-12.5 (-100 to 65.9)"},
      {{true, -0.00001, -0.5, 0}, AS_PERCENT, "-0.001 (-50.0 to 0)"},
      {{true, 31.2234, 18.79, 51.83}, AS_NUMBER, "31.2 (18.8 to 51.8)"},
      {{true, 1, 0.67, 3.2034e7}, AS_NUMBER, "1.00 (0.670 to 3.20e+07)"},
      {{true, 1234, 1000, INFINITY}, AS_NUMBER, "1230 (more than 1000)"},
      {{true, INFINITY, 1000, INFINITY}, AS_NUMBER, "more than 1000"},
      {{true, 0.00999951, 0.000412, 99951}, AS_NUMBER, "0.0100 (4.12e-04 to 1.00e+05)"},
      {{true, 0, 0, 99949}, AS_NUMBER, "0 (0 to 99900)"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[ESTIMATE_TEXT];
    assert_string_equal(estimate_text(cases[i].estimate, cases[i].form, text), cases[i].text);
  }
}

// How full the machine was is said; a low occupancy is warned of, in tables, the short form and JSON. What a journal does not say is not made up.
static void occupancy_is_said(void **state) {
  (void)state;
  const struct {
    const char *sms, *warps, *registers; // NULL: the journal is older
    const char *line;                    // NULL: none
    bool is_low;
  } cases[] = {
      {NULL, NULL, NULL, "occupancy  not recorded: the journal is of an older Redoubt\n", false},
      {"none", "none", "none", NULL, false},
      {"0.975", "0.173", "0.194", "occupancy  14.6 of 15 SMs with blocks, 17.3% of warps, 19.4% of registers\n", true},
      {"0.975", "0.34", "0.1", "occupancy  14.6 of 15 SMs with blocks, 34.0% of warps, 10.0% of registers\n", false},
      {"1", "0.1", "0.334", "occupancy  15.0 of 15 SMs with blocks, 10.0% of warps, 33.4% of registers\n", false},
      {"0.33", "0.33", "0.33", "occupancy  5.0 of 15 SMs with blocks, 33.0% of warps, 33.0% of registers\n", true},
      {"0.33", "0.9", "0.9", "occupancy  5.0 of 15 SMs with blocks, 90.0% of warps, 90.0% of registers\n", true},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Diags diags = {0};
    JournalMeta meta = meta_of("flip", "size=tiny\n");
    meta.settings = "fit.sram=1000000\nsm.count=15\n";
    Journal *journal = journal_of(&meta, 0.95);
    if (cases[i].sms != NULL)
      assert_true(journal_put_note(journal, NOTE_OCCUPANCY_SMS, cases[i].sms, &diags) &&
                  journal_put_note(journal, NOTE_OCCUPANCY_WARPS, cases[i].warps, &diags) &&
                  journal_put_note(journal, NOTE_OCCUPANCY_REGISTERS, cases[i].registers, &diags));
    Report *report = report_of(journal, 0);
    Text whole = {0}, brief = {0}, json = {0};
    report_text(report, &whole);
    report_brief_text(report, &brief);
    const char *texts[] = {whole.at, brief.at};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
      if (strstr(texts[k], cases[i].line == NULL ? "occupancy" : cases[i].line) == NULL && cases[i].line != NULL)
        fail_msg("case %zu: no '%s' in\n%s", i, cases[i].line, texts[k]);
      assert_true((strstr(texts[k], "occupancy") == NULL) == (cases[i].line == NULL));
      assert_true((strstr(texts[k], "LOW OCCUPANCY, under 33%") != NULL) == cases[i].is_low);
    }
    assert_true(strncmp(brief.at, "Of 120 bit flips ", 17) == 0 && strstr(brief.at, "structure ") == NULL);
    Sink sink = {take_bytes, &json};
    assert_true(report_json(report, &sink));
    bool has_numbers = cases[i].line != NULL && cases[i].sms != NULL;
    assert_true((strstr(json.at, "\"occupancy\": null") == NULL) == has_numbers);
    assert_true((strstr(json.at, "\"low\": true") != NULL) == cases[i].is_low);
    text_free(&whole);
    text_free(&brief);
    text_free(&json);
    report_free(report);
    journal_close(journal);
  }
}

// The AVF of the used part comes from the faults that struck there, and is withheld where none did.
static void used_part_is_of_used_faults(void **state) {
  (void)state;
  const JournalMeta meta = meta_of("flip", "size=tiny\n");
  Journal *journal = journal_of(&meta, 0.95);
  Report *report = report_of(journal, 0);
  StructureSummary *rf = &report->structures.items[0];
  rf->resident = 0.5;
  rf->is_read_known = true;
  rf->used = (Tally){0};
  Text text = {0};
  report_text(report, &text);
  assert_non_null(strstr(text.at, "AVF of the used part of rf  not known: none of its"));
  assert_false(structure_used(report, rf, MEASURE_AVF).is_known);
  tally_add(&rf->used, OUTCOME_SDC, 3, 1);
  tally_add(&rf->used, OUTCOME_MASKED, 1, 1);
  Estimate used = structure_used(report, rf, MEASURE_AVF);
  assert_true(used.is_known && used.value == 0.75 && used.high <= 1);
  text.length = 0;
  report_text(report, &text);
  assert_non_null(strstr(text.at, "AVF of the used part of rf  75"));
  assert_non_null(strstr(text.at, "held by resident work: 50.0% of it"));
  rf->resident = 0.01; // more than 100% would be no share
  const char *why;
  assert_false(structure_resident(report, rf, MEASURE_AVF, &why).is_known);
  assert_non_null(why);
  rf->is_read_known = false;
  assert_false(structure_used(report, rf, MEASURE_AVF).is_known || structure_used_share(report, rf).is_known);
  text_free(&text);
  report_free(report);
  journal_close(journal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(confidence_is_what_was_asked),
      cmocka_unit_test(groups_follow_one_rule),
      cmocka_unit_test(times_by_hand),
      cmocka_unit_test(fit_holds_the_rates),
      cmocka_unit_test(twice_is_a_protection),
      cmocka_unit_test(no_fit_says_what_helps),
      cmocka_unit_test(a_sum_names_whom_it_lacks),
      cmocka_unit_test(one_sentence_says_what_happened),
      cmocka_unit_test(an_interval_has_one_form),
      cmocka_unit_test(occupancy_is_said),
      cmocka_unit_test(used_part_is_of_used_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
