// A journal's answer as tables for a terminal.
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// A table of outcomes is as wide as it must be: terminals are often 80 columns. Groups of outcomes that no fault has are left out, but
// for those that everybody looks for; internal errors have no column: they stand among the outcomes below.
typedef struct OutcomeTable {
  const Report *report;
  int name;                  // width of the first column
  int groups[REPORT_GROUPS]; // widths; 0: left out
} OutcomeTable;
enum { LEAST_NAME = 14, LEAST_GROUP = 8 };

static OutcomeTable outcome_table(const Report *report) {
  OutcomeTable table = {.report = report, .name = LEAST_NAME};
  for (uint32_t g = 0; g + 1 < REPORT_GROUPS; g++) {
    const char *group = report_groups[g];
    bool always = strcmp(group, "masked") == 0 || strcmp(group, "sdc") == 0 || strcmp(group, "due") == 0;
    int width = (int)strlen(group) + 1;
    if (always || tally_group(&report->all, group) > 0) table.groups[g] = width > LEAST_GROUP ? width : LEAST_GROUP;
  }
  return table;
}

static void fit_name(OutcomeTable *table, const char *name) {
  int length = (int)strlen(name);
  if (length > table->name) table->name = length;
}

static void add_row(const OutcomeTable *table, const char *name, const Tally *tally, Text *out) {
  text_add(out, "%-*s %9" PRIu64, table->name, name, tally->total);
  for (uint32_t g = 0; g + 1 < REPORT_GROUPS; g++) {
    if (table->groups[g] == 0) continue;
    if (tally->total == 0) text_add(out, " %*s", table->groups[g], "-");
    else text_add(out, " %*.2f%%", table->groups[g] - 1, 100 * tally_share(tally, report_groups[g]));
  }
  Interval avf = tally_interval(tally, tally_avf(tally), table->report->confidence);
  if (tally->total == 0) text_add(out, "  -\n");
  else text_add(out, "  %6.2f%% (%.2f to %.2f)\n", 100 * tally_avf(tally), 100 * avf.low, 100 * avf.high);
}

static void add_head(const OutcomeTable *table, const char *what, Text *out) {
  text_add(out, "%-*s %9s", table->name, what, "faults");
  for (uint32_t g = 0; g + 1 < REPORT_GROUPS; g++) {
    if (table->groups[g] > 0) text_add(out, " %*s", table->groups[g], report_groups[g]);
  }
  text_add(out, "  AVF (interval)\n");
}

// Raw rate times AVF, where the machine file gives a rate; the interval is the AVF's.
static void add_fit(const Report *report, double fit, Text *out) {
  bool known = false;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    known = known || (report->structures.items[i].fit_per_mbit > 0 && report->structures.items[i].tally.total > 0);
  }
  if (!known) return;
  text_add(out, "\n%-18s %12s %12s %12s  %s\n", "structure", "bits", "FIT/Mbit", "FIT", "(interval)");
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    const Tally *tally = &structure->tally;
    if (tally->total == 0 || structure->fit_per_mbit <= 0) continue;
    Interval avf = tally_interval(tally, tally_avf(tally), report->confidence);
    text_add(out, "%-18s %12" PRIu64 " %12.4g %12.4g  (%.4g to %.4g)\n", structure->name, structure->bits, structure->fit_per_mbit,
             structure_fit(structure, tally_avf(tally)), structure_fit(structure, avf.low), structure_fit(structure, avf.high));
  }
  text_add(out, "FIT                 %.4g failures per 10^9 hours", fit);
  if (fit > 0) text_add(out, "; MTBF %.4g hours", 1e9 / fit);
  text_add(out, "\n");
}

static void add_structures(const Report *report, Text *out) {
  ChipSummary chip = report_chip(report);
  OutcomeTable table = outcome_table(report);
  for (uint32_t i = 0; i < report->structures.count; i++) fit_name(&table, report->structures.items[i].name);
  add_head(&table, "structure", out);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total > 0) add_row(&table, structure->name, &structure->tally, out);
  }
  if (report->structures.count != 1 || report->all.total == 0) add_row(&table, "all", &report->all, out);
  if (chip.bits > 0) text_add(out, "\nsize-weighted AVF   %.3f%% over %.0f bits\n", 100 * chip.avf, chip.bits);
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0 || structure->used <= 0) continue;
    text_add(out, "AVF of the used part of %s  %.3f%% (%.1f%% of it is used)\n", structure->name,
             100 * fmin(tally_avf(&structure->tally) / structure->used, 1), 100 * structure->used);
  }
  add_fit(report, chip.fit, out);
  double between = report_cycles_between_sdc(report);
  if (between > 0) text_add(out, "cycles per SDC      %.4g (cycles of the run / share of SDCs)\n", between);
}

static void add_causes(const Report *report, Text *out) {
  bool any = false;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    if (report->all.counts[i] == 0 || i == OUTCOME_MASKED) continue;
    if (!any) text_add(out, "\n%-18s %9s\n", "outcome", "faults");
    any = true;
    text_add(out, "%-18s %9" PRIu64 "  %s\n", outcome_info[i].name, report->all.counts[i], outcome_info[i].meaning);
  }
}

static void add_settled(const Report *report, Text *out) {
  if (report->all.total == 0) return;
  text_add(out, "\nsettled:");
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) {
    if (report->settled[i] > 0) text_add(out, " %s %" PRIu64, settled_text[i], report->settled[i]);
  }
  uint64_t run = report->settled[SETTLED_RUN];
  text_add(out, "; %.2f%% without a simulation to the end\n", 100.0 * (double)(report->all.total - run) / (double)report->all.total);
}

static void add_kernels(const Report *report, Text *out) {
  OutcomeTable table = outcome_table(report);
  for (uint32_t i = 0; i < report->kernels.count; i++) fit_name(&table, report->kernels.items[i].name);
  text_add(out, "\n");
  add_head(&table, "kernel", out);
  for (uint32_t i = 0; i < report->kernels.count; i++) {
    const KernelSummary *kernel = &report->kernels.items[i];
    add_row(&table, kernel->name, &kernel->tally, out);
    for (uint32_t k = 0; k < report->structures.count && report->structures.count > 1; k++) {
      char name[64];
      snprintf(name, sizeof name, "  %s", report->structures.items[k].name);
      if (kernel->by_structure[k].total > 0) add_row(&table, name, &kernel->by_structure[k], out);
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
  if (meta->shards > 1) text_add(out, "shard %" PRIu64 " of %" PRIu64 " alone\n", meta->shard, meta->shards);
  text_add(out, "\n");
  add_structures(report, out);
  if (report->kernels.count > 1) add_kernels(report, out);
  add_causes(report, out);
  add_settled(report, out);
}
