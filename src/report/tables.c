// A journal's answer as tables for a terminal. Shares are in percent, each with its interval.
#include "report/findings.h"
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = MEASURE_AVF + 1 }; // measures in tables
enum { LEAST_NAME = 12, ESTIMATE_WIDTH = 19, MOST_NAMED = 4 };

// `plain`: the faults of a row are no sample of cells, so that a share of them is no AVF.
static void add_head(int name, const char *what, bool plain, Text *out) {
  static const char *const shares[COLUMNS] = {"SDC", "DUE", "any of these"};
  text_add(out, "%-*s %7s", name, what, "faults");
  for (uint32_t m = 0; m < COLUMNS; m++) {
    char title[32];
    snprintf(title, sizeof title, "%s %%", plain ? shares[m] : measures[m].title);
    text_add(out, " %-*s", m == MEASURE_AVF ? 0 : ESTIMATE_WIDTH, title);
  }
  text_add(out, "\n");
}

static void add_estimates(int name, const char *what, uint64_t faults, const Estimate estimates[COLUMNS], Text *out) {
  text_add(out, "%-*s %7" PRIu64, name, what, faults);
  for (uint32_t m = 0; m < COLUMNS; m++) {
    char text[ESTIMATE_TEXT];
    text_add(out, " %-*s", ESTIMATE_WIDTH, estimate_text(estimates[m], AS_PERCENT, text));
  }
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

static void add_row(const Report *report, int name, const char *what, const Tally *tally, Text *out) {
  Estimate estimates[COLUMNS];
  for (uint32_t m = 0; m < COLUMNS; m++) estimates[m] = report_estimate(report, tally, (Measure)m);
  add_estimates(name, what, tally->total, estimates, out);
}

// All structures, each by its bits. The intervals are those of the sum, not of a single sample.
static void add_chip_row(const Report *report, int name, Text *out) {
  Estimate estimates[COLUMNS];
  for (uint32_t m = 0; m < COLUMNS; m++) estimates[m] = report_chip(report, (Measure)m);
  add_estimates(name, "all, by bits", report->all.total, estimates, out);
}

static void add_kernel_row(const Report *report, int name, const KernelSummary *kernel, Text *out) {
  Estimate estimates[COLUMNS];
  for (uint32_t m = 0; m < COLUMNS; m++) estimates[m] = mixed_estimate(report, &kernel->tally, (Measure)m);
  add_estimates(name, kernel->name, kernel->tally.all.total, estimates, out);
}

// A chip's figure without a part of the chip would be taken for that of the whole.
static void add_unstruck(const Report *report, Text *out) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) count += report->structures.items[i].tally.total == 0;
  if (count == 0 || report->all.total == 0) return;
  text_add(out, "No fault struck ");
  for (uint32_t i = 0, named = 0; i < report->structures.count && named < MOST_NAMED; i++) {
    if (report->structures.items[i].tally.total > 0) continue;
    text_add(out, "%s%s", named == 0 ? "" : ", ", report->structures.items[i].name);
    named++;
  }
  if (count > MOST_NAMED) text_add(out, " and %u more", count - MOST_NAMED);
  text_add(out, ": %.3g%% of the bits are in no sum here. More faults reach them\n",
           100 * (1 - report_struck_bits(report) / report_bits(report)));
}

static int widest(int width, const char *name) {
  int length = (int)strlen(name);
  return length > width ? length : width;
}

// What the faults stand for where they were drawn from a part.
static void add_drawn(const Report *report, Text *out) {
  if (!report_draws_used(report)) return;
  text_add(out, "Faults were drawn from what is used (--draw used): bits that the run without faults reads before it writes them.\n"
                "The rest is masked, and counts as that: every share is of all bits and cycles.\n");
}

static void add_structures(const Report *report, Text *out) {
  int name = LEAST_NAME;
  for (uint32_t i = 0; i < report->structures.count; i++) name = widest(name, report->structures.items[i].name);
  add_head(name, "structure", false, out);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total > 0) add_row(report, name, structure->name, &structure->tally, out);
  }
  if (report->structures.count != 1 || report->all.total == 0) add_chip_row(report, name, out);
  add_unstruck(report, out);
  add_drawn(report, out);
}

// Real GPUs hand out as many registers as NVIDIA's compiler counts; code of ours names fewer.
static void add_needed(const Report *report, const StructureSummary *structure, Text *out) {
  char text[ESTIMATE_TEXT];
  const char *why;
  bool is_known = structure->needed > 0;
  if (structure->needed >= structure->resident) return;
  if (!is_known && strcmp(structure->name, "rf") == 0) text_add(out, "  which of the held registers are padding is not recorded\n");
  if (!is_known) return;
  Estimate needed = structure_needed(report, structure, MEASURE_AVF, &why);
  text_add(out, "AVF of the needed part of %s  ", structure->name);
  if (needed.is_known) text_add(out, "%s %%", estimate_text(needed, AS_PERCENT, text));
  else text_add(out, "unknown");
  text_add(out, " (%s%% of it is needed)\n", percent_text(structure->needed).at);
  if (why != NULL) text_add(out, "  %s\n", why);
  text_add(out,
           "  Held are the registers of blocks (sm.register_source), needed those of them that our code names.\n"
           "  %s%% of what is held is padding: no instruction names it, so no fault there does harm.\n",
           percent_text(1 - structure->needed / structure->resident).at);
}

static void add_resident(const Report *report, const StructureSummary *structure, Text *out) {
  const char *why;
  Estimate avf = structure_resident(report, structure, MEASURE_AVF, &why);
  char text[ESTIMATE_TEXT];
  if (structure->resident <= 0) return;
  text_add(out, "  held by resident work: %s%% of it", percent_text(structure->resident).at);
  if (avf.is_known) text_add(out, ", AVF over that share (AVF-util) %s %%", estimate_text(avf, AS_PERCENT, text));
  else if (why != NULL) text_add(out, ". AVF over that share is not known: %s", why);
  text_add(out, "\n");
  add_needed(report, structure, out);
}

// SDCs together with what only adds in another order.
static void add_with_order(const Report *report, Text *out) {
  const char *title = measures[MEASURE_SDC_ORDER].title;
  char text[ESTIMATE_TEXT];
  if (!measure_is_shown(MEASURE_SDC_ORDER, &report->all)) return;
  text_add(out, "\n");
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (!measure_is_shown(MEASURE_SDC_ORDER, &structure->tally)) continue;
    text_add(out, "%s of additions in %s  %s %%\n", title, structure->name,
             estimate_text(report_estimate(report, &structure->tally, MEASURE_SDC_ORDER), AS_PERCENT, text));
  }
  if (report->structures.count > 1)
    text_add(out, "%s of additions, all by bits  %s %%\n", title, estimate_text(report_chip(report, MEASURE_SDC_ORDER), AS_PERCENT, text));
}

// Of structures of which it is known how much belongs to resident work, and of all if faults are drawn from what is used.
static void add_used(const Report *report, Text *out) {
  const char *before = "\n";
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    Estimate used = structure_used(report, structure, MEASURE_AVF), share = structure_used_share(report, structure);
    bool is_shown = structure->resident > 0 || structure->drawn < 1, is_exact = share.low >= share.high;
    char text[ESTIMATE_TEXT];
    if (!is_shown || report->withheld || structure->tally.total == 0) continue;
    text_add(out, "%sAVF of the used part of %s  ", before, structure->name);
    before = "";
    if (used.is_known) {
      text_add(out, "%s %%, of %" PRIu64 " faults there\n", estimate_text(used, AS_PERCENT, text), structure->used.total);
      text_add(out, "  used (read before it is next written): %s %% of its bits and cycles\n",
               is_exact ? percent_text(share.value).at : estimate_text(share, AS_PERCENT, text));
    } else if (!share.is_known) {
      text_add(out, "not recorded\n");
    } else if (structure->drawn <= 0) {
      text_add(out, "none: the run without faults reads nothing of it, so its AVF is 0\n");
    } else {
      text_add(out, "not known: none of its %" PRIu64 " faults struck what is used; take more, or --draw used\n", structure->tally.total);
    }
    add_resident(report, structure, out);
  }
}

// A zero shows how large it may be.
static void add_fit_cell(Estimate fit, Text *out) {
  char text[ESTIMATE_TEXT];
  text_add(out, "  %-21s", estimate_text(fit, AS_NUMBER, text));
}

static void add_hours(const char *what, Estimate fit, Text *out) {
  Estimate hours = estimate_inverse(fit, 1e9);
  if (!hours.is_known) return;
  char text[ESTIMATE_TEXT];
  text_add(out, "%-16s%s hours\n", what, estimate_text(hours, AS_NUMBER, text));
}

static void add_fit_cells(Estimate sdc, Estimate due, Text *out) {
  add_fit_cell(sdc, out);
  add_fit_cell(due, out);
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

// Raw rate times AVF, where the machine file gives a rate for this fault model.
static void add_fit(const Report *report, Text *out) {
  if (!report_fit(report, MEASURE_AVF).is_known) return;
  int name = LEAST_NAME;
  for (uint32_t i = 0; i < report->structures.count; i++) name = widest(name, report->structures.items[i].name);
  text_add(out, "\n%-*s %11s %8s  %-21s  %s\n", name, "structure", "bits", "FIT/Mbit", "SDC FIT (interval)", "DUE FIT (interval)");
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0 || structure->fit_per_mbit <= 0) continue;
    text_add(out, "%-*s %11" PRIu64 " %8s", name, structure->name, structure->bits, number_text(structure->fit_per_mbit).at);
    add_fit_cells(structure_fit(report, structure, MEASURE_SDC), structure_fit(report, structure, MEASURE_DUE), out);
  }
  if (report->structures.count > 1) {
    double bits = 0; // of the lines above
    for (uint32_t i = 0; i < report->structures.count; i++) {
      const StructureSummary *structure = &report->structures.items[i];
      bits += structure->fit_per_mbit > 0 && structure->tally.total > 0 ? (double)structure->bits : 0;
    }
    text_add(out, "%-*s %11.0f %8s", name, "sum", bits, "");
    add_fit_cells(report_fit(report, MEASURE_SDC), report_fit(report, MEASURE_DUE), out);
  }
  Text intervals = {0};
  report_rates_text(report, &intervals);
  text_add_wrapped(out, 0, arena_format(report->arena, "Failures per 10^9 hours. %s.", intervals.at));
  text_free(&intervals);
  add_hours("MTBF by SDC", report_fit(report, MEASURE_SDC), out);
  add_hours("MTBF by any", report_fit(report, MEASURE_AVF), out);
}

// The parameter that gives cells a rate under the campaign's model; NULL: there is none.
static const char *rate_key(const char *model) {
  static const struct {
    const char *model, *key;
  } keys[] = {{"flip", "fit.sram"},        {"adjacent(1)", "fit.sram"}, {"adjacent(2)", "fit.adjacent2"}, {"adjacent(3)", "fit.adjacent3"},
              {"stuck0", "fit.permanent"}, {"stuck1", "fit.permanent"}};
  for (size_t i = 0; i < COUNT_OF(keys); i++) {
    if (strcmp(keys[i].model, model) == 0) return keys[i].key;
  }
  return NULL;
}

// Why structures have no FIT, where somebody might look for it, and what gives them one.
static void add_no_fit(const Report *report, Text *out) {
  const char *model = report->meta->model, *key = rate_key(model), *first = NULL, *before = "\nno FIT of ";
  if (report->withheld || report->all.total == 0) return;
  for (uint32_t i = 0, named = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (!structure_lacks_rate(structure)) continue;
    if (named < MOST_NAMED) text_add(out, "%s%s", before, structure->name);
    else if (named == MOST_NAMED) text_add(out, " and others");
    if (first == NULL) first = structure->name;
    before = ", ";
    named++;
  }
  if (first == NULL) return;
  if (strcmp(first, "dram") == 0 && key != NULL && strcmp(key, "fit.sram") == 0) key = "fit.dram"; // it lies outside the chip
  if (key != NULL && setting_of(report->meta->settings, key) <= 0) {
    text_add(out, ": the machine has no rate for model %s. Give it one in a new campaign: --set %s=N,\n", model, key);
    text_add(out, "as 'redoubt list parameters' says\n");
    return;
  }
  text_add(out, key == NULL ? ": no rate is known for model %s.\n" : ": rates (fit.*) are those of memory cells, and this is logic.\n",
           model);
  text_add(out, "'redoubt fmeda %s --rate %s:%s=FIT' takes a rate of your own\n", journal_path(report->journal),
           strncmp(model, "stuck", 5) == 0 || strncmp(model, "duty", 4) == 0 ? "permanent" : "transient", first);
}

static void add_between(const Report *report, Text *out) {
  Estimate between = report_cycles_between_sdc(report);
  if (!between.is_known) return;
  text_add(out, "cycles per SDC  ");
  char text[ESTIMATE_TEXT];
  text_add(out, "%s: cycles of the run / SDC-AVF\n", estimate_text(between, AS_NUMBER, text));
}

static void add_energy(const Report *report, Text *out) {
  if (report_energy(report) <= 0) return;
  text_add(out, "energy          %.4g nJ without faults, %.0f%% leakage; a model, for ratios\n", report_energy(report),
           100 * strtod(journal_note(report->journal, NOTE_ENERGY_LEAKAGE), NULL) / report_energy(report));
}

// What would have come of detected faults, if nobody had answered the detection. A journal that cannot be read has been told of.
static void add_detected(const Report *report, Text *out) {
  static const char *const names[DUE_ROWS] = {[DUE_TRUE_SDC] = "  true: SDC",
                                              [DUE_TRUE_CRASH] = "  true: crash",
                                              [DUE_TRUE_HANG] = "  true: hang",
                                              [DUE_FALSE] = "  false",
                                              [DUE_NOT_RECORDED] = "  not recorded"};
  Diags ignored = {0};
  DueCounts *counts;
  bool good = report_due(report, &counts, &ignored);
  diags_free(&ignored);
  for (uint32_t row = DUE_TRUE_SDC; good && row < DUE_ROWS; row++) {
    uint64_t faults = due_faults(report, counts, (DueRow)row);
    char text[ESTIMATE_TEXT];
    if (faults == 0) continue;
    text_add(out, "%-15s %8" PRIu64, names[row], faults);
    if (!report->withheld) text_add(out, "  %s", estimate_text(due_of_all(report, counts, (DueRow)row), AS_PERCENT, text));
    text_add(out, "\n");
  }
}

// Outcomes by cause. Several structures count by their bits, as in the line of all.
// What the words mean would not fit beside the shares: terminals are often 80 columns wide.
static void add_causes(const Report *report, Text *out) {
  bool any = false;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    char text[ESTIMATE_TEXT];
    if (report->all.counts[i] == 0) continue;
    if (!any) text_add(out, "\n%-15s %8s", "outcome", "faults");
    if (!any && !report->withheld) text_add(out, "  %s", report->structures.count > 1 ? "share, by bits %" : "share %");
    if (!any) text_add(out, "\n");
    any = true;
    text_add(out, "%-15s %8" PRIu64, outcome_info[i].name, report->all.counts[i]);
    if (!report->withheld) text_add(out, "  %s", estimate_text(report_outcome(report, (uint8_t)i), AS_PERCENT, text));
    text_add(out, "\n");
    if (i == OUTCOME_DETECTED) add_detected(report, out);
  }
  if (any) text_add(out, "'redoubt list faults' says what each of them means\n");
}

void report_settled_text(const Report *report, Text *out) {
  if (report->all.total == 0) return;
  text_add(out, "\nsettled:");
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) {
    if (report->settled[i] > 0) text_add(out, " %s %" PRIu64, settled_text[i], report->settled[i]);
  }
  uint64_t run = report->settled[SETTLED_RUN];
  if (report->withheld) text_add(out, "\n");
  else text_add(out, "; %.2f%% without a simulation to the end\n", 100.0 * (double)(report->all.total - run) / (double)report->all.total);
}

static void add_kernels(const Report *report, Text *out) {
  int name = LEAST_NAME;
  for (uint32_t i = 0; i < report->kernels.count; i++) name = widest(name, report->kernels.items[i].name);
  text_add(out, "\n");
  add_head(name, "kernel", false, out);
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    const KernelSummary *kernel = &report->kernels.items[i];
    add_kernel_row(report, name, kernel, out);
    for (uint32_t k = 0; k < report->structures.count && report->structures.count > 1; k++) {
      char part[64];
      snprintf(part, sizeof part, "  %s", report->structures.items[k].name);
      const Tally *struck = mixed_part(&kernel->tally, k);
      if (struck->total > 0) add_row(report, name, part, struck, out);
    }
  }
}

void report_internal(const Report *report, Text *out) {
  uint64_t internal = report->all.counts[OUTCOME_INTERNAL];
  const char *differs = journal_note(report->journal, NOTE_DIFFERS);
  if (differs[0] != '\0') text_add(out, "SELF-CHECK FAILED: no figure here can be trusted. Simulated in full, %s\n\n", differs);
  if (internal == 0) return;
  text_add(out,
           "INTERNAL ERROR: %" PRIu64 " simulations failed in Redoubt itself, not by their fault: no figure here can be trusted.\n"
           "The same campaign run again tries them again.\n\n",
           internal);
}

void report_idle_text(const Report *report, const char *whose, Text *out) {
  const char *idle = journal_note(report->journal, NOTE_IDLE);
  if (idle[0] != '\0') text_add(out, "%sthe protection never acted in the run without faults: %s\n", whose, idle);
}

void report_conditions(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  const char *uncovered = journal_note(report->journal, NOTE_UNCOVERED);
  if (uncovered[0] != '\0') text_add(out, "NOT PROTECTED: %s\n", uncovered);
  report_idle_text(report, "", out);
  report_verified_text(report, out);
  if (strchr(meta->structures, '[') != NULL) text_add(out, "struck, and meant by every figure, is this part alone: %s\n", meta->structures);
  const char *left_out = journal_note(report->journal, NOTE_LEFT_OUT);
  if (left_out[0] != '\0') text_add(out, "'all' leaves out what no such GPU has: %s\n", left_out);
  if (meta->standing[0] != '\0') text_add(out, "a first fault stands in every run: %s\n", meta->standing);
  if (report_boards(report) > 1)
    text_add(out,
             "two boards, which work at the same time: a run takes %" PRIu64 " cycles. Shares are means over both, FIT is that of both\n",
             report_time(report));
  for (const char *line = meta->tolerance; *line != '\0'; line += strcspn(line, "\n") + 1)
    text_add(out, "outputs may be off: %.*s\n", (int)strcspn(line, "\n"), line);
  if (meta->end > 0) text_add(out, "faults %" PRIu64 " to %" PRIu64 " of a campaign alone\n", meta->first, meta->end - 1);
  if (meta->shards > 1) text_add(out, "shard %" PRIu64 " of %" PRIu64 " alone\n", meta->shard, meta->shards);
  report_state_text(report, out);
}

void report_text(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  report_internal(report, out);
  text_add(out, "%s on %s, protection %s, model %s, window %s, seed %" PRIu64 "; intervals at %.4g%%\n", meta->target, meta->machine,
           meta->protection, meta->model, meta->window, meta->seed, 100 * report->confidence);
  report_conditions(report, out);
  text_add(out, "\n");
  report_sentence(report, out);
  report_occupancy_text(report, out);
  text_add(out, "\n");
  add_structures(report, out);
  add_with_order(report, out);
  add_used(report, out);
  add_fit(report, out);
  add_no_fit(report, out);
  add_between(report, out);
  add_energy(report, out);
  if (report->kernels.count > 1) add_kernels(report, out);
  add_causes(report, out);
}

static void add_breakdown_head(const BreakdownInfo *info, const char *structure, int name, Text *out) {
  text_add(out, "\n%s, by %s\n", structure, info->title);
  if (info->kind == BY_ERROR) text_add(out, "%-*s %9s  %s\n", name, info->name, "SDCs", "share of the structure's SDCs %");
  else add_head(name, info->name, info->kind == BY_READER, out);
}

static void add_breakdown_row(const Report *report, const BreakdownInfo *info, const BreakdownRow *row, int name, Text *out) {
  char text[ESTIMATE_TEXT];
  if (info->kind != BY_ERROR) {
    add_row(report, name, row->key, &row->tally, out);
    return;
  }
  text_add(out, "%-*s %9" PRIu64 "  %s\n", name, row->key, row->tally.total, estimate_text(breakdown_share(report, row), AS_PERCENT, text));
}

bool report_breakdown_text(const Report *report, uint32_t which, Text *out, Diags *diags) {
  const BreakdownInfo *info = &breakdowns[which];
  Breakdown breakdown;
  if (!report_breakdown(report, which, &breakdown, diags)) return false;
  int name = LEAST_NAME;
  const char *structure = NULL;
  for (uint32_t i = 0; i < breakdown.rows.count; i++) name = widest(name, breakdown.rows.items[i].key);
  for (uint32_t i = 0; i < breakdown.rows.count; i++) {
    const BreakdownRow *row = &breakdown.rows.items[i];
    if (structure == NULL || strcmp(structure, row->structure) != 0) add_breakdown_head(info, row->structure, name, out);
    structure = row->structure;
    add_breakdown_row(report, info, row, name, out);
  }
  bool is_of_used = report_draws_used(report) && info->kind == BY_PLACE && breakdown.rows.count > 0;
  if (is_of_used) text_add(out, "\nFaults were drawn from what is used: these are AVFs of the used part of each row, not of all of it.\n");
  if (breakdown.rows.count == 0) text_add(out, "\nno fault has a known %s\n", info->name);
  else if (breakdown.without > 0 && info->kind != BY_ERROR)
    text_add(out, "\n%" PRIu64 " faults have no %s: no instruction read them, or it does not apply\n", breakdown.without, info->name);
  return true;
}
