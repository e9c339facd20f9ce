// A journal's answer as tables for a terminal. Shares are in percent, each with its interval.
#include "report/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_NAME = 12, ESTIMATE_WIDTH = 18, MOST_NAMED = 4 };

// "12.34 (11.02-13.80)", or "-" where it is not known. Terminals are often 80 columns wide.
static void format_estimate(Estimate estimate, double factor, char text[64]) {
  if (!estimate.is_known) snprintf(text, 64, "-");
  else snprintf(text, 64, "%.2f (%.2f-%.2f)", factor * estimate.value, factor * estimate.low, factor * estimate.high);
}

// Detected errors have a column only where a protection can detect.
static bool has_detected(const Report *report) { return tally_group(&report->all, "detected") > 0; }

// `plain`: the faults of a row are no sample of cells, so that a share of them is no AVF.
static void add_head(const Report *report, int name, const char *what, bool plain, Text *out) {
  static const char *const shares[MEASURES] = {"SDC", "DUE", "detected", "any of these"};
  text_add(out, "%-*s %8s", name, what, "faults");
  for (uint32_t m = 0; m < MEASURES; m++) {
    if (m == MEASURE_DETECTED && !has_detected(report)) continue;
    char title[32];
    snprintf(title, sizeof title, "%s %%", plain ? shares[m] : measures[m].title);
    text_add(out, "  %-*s", m == MEASURE_AVF ? 0 : ESTIMATE_WIDTH, title);
  }
  text_add(out, "\n");
}

static void add_estimates(const Report *report, int name, const char *what, uint64_t faults, const Estimate estimates[MEASURES],
                          Text *out) {
  text_add(out, "%-*s %8" PRIu64, name, what, faults);
  for (uint32_t m = 0; m < MEASURES; m++) {
    char text[64];
    if (m == MEASURE_DETECTED && !has_detected(report)) continue;
    format_estimate(estimates[m], 100, text);
    text_add(out, "  %-*s", ESTIMATE_WIDTH, text);
  }
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

static void add_row(const Report *report, int name, const char *what, const Tally *tally, Text *out) {
  Estimate estimates[MEASURES];
  for (uint32_t m = 0; m < MEASURES; m++) estimates[m] = report_estimate(report, tally, (Measure)m);
  add_estimates(report, name, what, tally->total, estimates, out);
}

// All structures, each by its bits. The intervals are those of the sum, not of a single sample.
static void add_chip_row(const Report *report, int name, Text *out) {
  Estimate estimates[MEASURES];
  for (uint32_t m = 0; m < MEASURES; m++) estimates[m] = report_chip(report, (Measure)m);
  add_estimates(report, name, "all, by bits", report->all.total, estimates, out);
}

static void add_kernel_row(const Report *report, int name, const KernelSummary *kernel, Text *out) {
  Estimate estimates[MEASURES];
  for (uint32_t m = 0; m < MEASURES; m++) estimates[m] = mixed_estimate(report, &kernel->tally, (Measure)m);
  add_estimates(report, name, kernel->name, kernel->tally.all.total, estimates, out);
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

static void add_structures(const Report *report, Text *out) {
  int name = LEAST_NAME;
  for (uint32_t i = 0; i < report->structures.count; i++) name = widest(name, report->structures.items[i].name);
  add_head(report, name, "structure", false, out);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total > 0) add_row(report, name, structure->name, &structure->tally, out);
  }
  if (report->structures.count != 1 || report->all.total == 0) add_chip_row(report, name, out);
  add_unstruck(report, out);
}

// Only for structures of which it is known how much is used.
static void add_used(const Report *report, Text *out) {
  const char *before = "\n";
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    Estimate used = structure_used(report, structure, MEASURE_AVF);
    char text[64];
    if (!used.is_known) continue;
    format_estimate(used, 100, text);
    text_add(out, "%sAVF of the used part of %s  %s %% (%.1f%% of it is used)\n", before, structure->name, text, 100 * structure->used);
    if (used.value > 1) text_add(out, "  More than 100%%: by chance, or because cells matter that no resident block owns\n");
    before = "";
  }
}

// A rate with four digits; a zero shows how large it may be.
static void add_fit_cell(Estimate fit, Text *out) {
  char text[64];
  if (!fit.is_known) snprintf(text, sizeof text, "-");
  else snprintf(text, sizeof text, "%.4g (%.3g-%.3g)", fit.value, fit.low, fit.high);
  text_add(out, "  %-20s", text);
}

static void add_hours(const char *what, Estimate fit, Text *out) {
  Estimate hours = estimate_inverse(fit, 1e9);
  if (!hours.is_known) return;
  text_add(out, "%-16s", what);
  if (isinf(hours.value)) text_add(out, "more than %.4g hours\n", hours.low);
  else if (isinf(hours.high)) text_add(out, "%.4g hours (more than %.4g)\n", hours.value, hours.low);
  else text_add(out, "%.4g hours (%.4g to %.4g)\n", hours.value, hours.low, hours.high);
}

static void add_fit_cells(const Report *report, Estimate sdc, Estimate due, Estimate detected, Text *out) {
  add_fit_cell(sdc, out);
  add_fit_cell(due, out);
  if (has_detected(report)) add_fit_cell(detected, out);
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

// Raw rate times AVF, where the machine file gives a rate for this fault model.
static void add_fit(const Report *report, Text *out) {
  if (!report_fit(report, MEASURE_AVF).is_known) return;
  int name = LEAST_NAME;
  for (uint32_t i = 0; i < report->structures.count; i++) name = widest(name, report->structures.items[i].name);
  text_add(out, "\n%-*s %11s %8s  %-20s  %s%s\n", name, "structure", "bits", "FIT/Mbit", "SDC FIT (interval)", "DUE FIT (interval)",
           has_detected(report) ? "    detected FIT (interval)" : "");
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0 || structure->fit_per_mbit <= 0) continue;
    text_add(out, "%-*s %11" PRIu64 " %8.4g", name, structure->name, structure->bits, structure->fit_per_mbit);
    add_fit_cells(report, structure_fit(report, structure, MEASURE_SDC), structure_fit(report, structure, MEASURE_DUE),
                  structure_fit(report, structure, MEASURE_DETECTED), out);
  }
  if (report->structures.count > 1) {
    double bits = 0; // of the lines above
    for (uint32_t i = 0; i < report->structures.count; i++) {
      const StructureSummary *structure = &report->structures.items[i];
      bits += structure->fit_per_mbit > 0 && structure->tally.total > 0 ? (double)structure->bits : 0;
    }
    text_add(out, "%-*s %11.0f %8s", name, "sum", bits, "");
    add_fit_cells(report, report_fit(report, MEASURE_SDC), report_fit(report, MEASURE_DUE), report_fit(report, MEASURE_DETECTED), out);
  }
  text_add(out, "Failures per 10^9 hours. Intervals: those of the AVFs; raw rates count as exact.\n");
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

// Of the machine that the campaign ran on; 0: it does not say.
static uint64_t setting_of(const Report *report, const char *key) {
  size_t length = strlen(key);
  for (const char *line = report->meta->settings; line != NULL && *line != '\0'; line = *line == '\n' ? line + 1 : strchr(line, '\n')) {
    if (strncmp(line, key, length) == 0 && line[length] == '=') return strtoull(line + length + 1, NULL, 10);
  }
  return 0;
}

// Why structures have no FIT, where somebody might look for it, and what gives them one.
static void add_no_fit(const Report *report, Text *out) {
  const char *model = report->meta->model, *key = rate_key(model), *first = NULL, *before = "\nno FIT of ";
  if (report->withheld || report->all.total == 0) return;
  for (uint32_t i = 0, named = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->fit_per_mbit > 0 || structure->tally.total == 0) continue;
    if (named < MOST_NAMED) text_add(out, "%s%s", before, structure->name);
    else if (named == MOST_NAMED) text_add(out, " and others");
    if (first == NULL) first = structure->name;
    before = ", ";
    named++;
  }
  if (first == NULL) return;
  if (strcmp(first, "dram") == 0 && key != NULL && strcmp(key, "fit.sram") == 0) key = "fit.dram"; // it lies outside the chip
  if (key != NULL && setting_of(report, key) == 0) {
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
  if (isinf(between.value)) text_add(out, "more than %.4g", between.low);
  else text_add(out, "%.4g (%.4g to %.4g)", between.value, between.low, between.high);
  text_add(out, ": cycles of the run / SDC-AVF\n");
}

static void add_energy(const Report *report, Text *out) {
  if (report_energy(report) <= 0) return;
  text_add(out, "energy          %.4g nJ without faults, %.0f%% leakage; a model, for ratios\n", report_energy(report),
           100 * strtod(journal_note(report->journal, NOTE_ENERGY_LEAKAGE), NULL) / report_energy(report));
}

// Outcomes by cause. Several structures count by their bits, as in the line of all.
// What the words mean would not fit beside the shares: terminals are often 80 columns wide.
static void add_causes(const Report *report, Text *out) {
  bool any = false;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    char text[64];
    if (report->all.counts[i] == 0) continue;
    if (!any) text_add(out, "\n%-15s %8s", "outcome", "faults");
    if (!any && !report->withheld) text_add(out, "  %s", report->structures.count > 1 ? "share, by bits %" : "share %");
    if (!any) text_add(out, "\n");
    any = true;
    text_add(out, "%-15s %8" PRIu64, outcome_info[i].name, report->all.counts[i]);
    format_estimate(report_outcome(report, (uint8_t)i), 100, text);
    if (!report->withheld) text_add(out, "  %s", text);
    text_add(out, "\n");
  }
  if (any) text_add(out, "'redoubt list faults' says what each of them means\n");
}

static void add_settled(const Report *report, Text *out) {
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
  add_head(report, name, "kernel", false, out);
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

// Before anything else: whoever reads on must know.
static void add_internal(const Report *report, Text *out) {
  uint64_t internal = report->all.counts[OUTCOME_INTERNAL];
  if (internal == 0) return;
  text_add(out,
           "INTERNAL ERROR: %" PRIu64 " simulations failed in Redoubt itself, not by their fault: no figure here can be trusted.\n"
           "The same campaign run again tries them again.\n\n",
           internal);
}

void report_text(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  add_internal(report, out);
  text_add(out, "%s on %s, protection %s, model %s, window %s, seed %" PRIu64 "; intervals at %.4g%%\n", meta->target, meta->machine,
           meta->protection, meta->model, meta->window, meta->seed, 100 * report->confidence);
  const char *uncovered = journal_note(report->journal, NOTE_UNCOVERED);
  if (uncovered[0] != '\0') text_add(out, "NOT PROTECTED: %s\n", uncovered);
  if (strchr(meta->structures, '[') != NULL) text_add(out, "struck, and meant by every figure, is this part alone: %s\n", meta->structures);
  if (meta->standing[0] != '\0') text_add(out, "a first fault stands in every run: %s\n", meta->standing);
  if (report_boards(report) > 1)
    text_add(out,
             "two boards, which work at the same time: a run takes %" PRIu64 " cycles. Shares are means over both, FIT is that of both\n",
             report_time(report));
  if (meta->end > 0) text_add(out, "faults %" PRIu64 " to %" PRIu64 " of a campaign alone\n", meta->first, meta->end - 1);
  if (meta->shards > 1) text_add(out, "shard %" PRIu64 " of %" PRIu64 " alone\n", meta->shard, meta->shards);
  report_state_text(report, out);
  text_add(out, "\n");
  add_structures(report, out);
  add_used(report, out);
  add_fit(report, out);
  add_no_fit(report, out);
  add_between(report, out);
  add_energy(report, out);
  if (report->kernels.count > 1) add_kernels(report, out);
  add_causes(report, out);
  add_settled(report, out);
}

static void add_breakdown_head(const Report *report, const BreakdownInfo *info, const char *structure, int name, Text *out) {
  text_add(out, "\n%s, by %s\n", structure, info->title);
  if (info->kind == BY_ERROR) text_add(out, "%-*s %9s  %s\n", name, info->name, "SDCs", "share of the structure's SDCs %");
  else add_head(report, name, info->name, info->kind == BY_READER, out);
}

static void add_breakdown_row(const Report *report, const BreakdownInfo *info, const BreakdownRow *row, int name, Text *out) {
  char text[64];
  if (info->kind != BY_ERROR) {
    add_row(report, name, row->key, &row->tally, out);
    return;
  }
  format_estimate(breakdown_share(report, row), 100, text);
  text_add(out, "%-*s %9" PRIu64 "  %s\n", name, row->key, row->tally.total, text);
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
    if (structure == NULL || strcmp(structure, row->structure) != 0) add_breakdown_head(report, info, row->structure, name, out);
    structure = row->structure;
    add_breakdown_row(report, info, row, name, out);
  }
  if (breakdown.rows.count == 0) text_add(out, "\nno fault has a known %s\n", info->name);
  else if (breakdown.without > 0 && info->kind != BY_ERROR)
    text_add(out, "\n%" PRIu64 " faults have no %s: no instruction read them, or it does not apply\n", breakdown.without, info->name);
  return true;
}
