// A journal's answer as tables for a terminal, and two journals side by side.
#include "campaign/statistics.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const char *const groups[] = {"masked", "performance", "sdc", "due", "detected", "corrected", "internal"};

static void add_share(Text *out, uint64_t hits, uint64_t total) {
  if (total == 0) text_add(out, " %12s", "-");
  else text_add(out, " %11.2f%%", 100.0 * (double)hits / (double)total);
}

static void add_row(Text *out, const char *name, const Tally *tally, double confidence) {
  text_add(out, "%-18s %9" PRIu64, name, tally->total);
  for (uint32_t g = 0; g + 1 < COUNT_OF(groups); g++) add_share(out, tally_group(tally, groups[g]), tally->total);
  Interval avf = wilson_interval(tally_vulnerable(tally), tally->total, confidence);
  double share = tally->total == 0 ? 0 : (double)tally_vulnerable(tally) / (double)tally->total;
  text_add(out, "  %6.2f%% (%.2f to %.2f)\n", 100 * share, 100 * avf.low, 100 * avf.high);
}

static void add_head(Text *out, const char *what) {
  text_add(out, "%-18s %9s", what, "faults");
  for (uint32_t g = 0; g + 1 < COUNT_OF(groups); g++) text_add(out, " %12s", groups[g]);
  text_add(out, "  AVF (interval)\n");
}

static void add_structures(const Report *report, Text *out) {
  double weighted = 0, bits = 0, fit = 0;
  add_head(out, "structure");
  for (uint32_t i = 0; i < report->structure_count; i++) {
    const StructureSummary *structure = &report->structures[i];
    if (structure->tally.total == 0) continue;
    double avf = (double)tally_vulnerable(&structure->tally) / (double)structure->tally.total;
    add_row(out, structure->name, &structure->tally, report->confidence);
    weighted += avf * (double)structure->bits;
    bits += (double)structure->bits;
    fit += structure_fit(structure, avf);
  }
  if (report->structure_count > 1) add_row(out, "all", &report->all, report->confidence);
  if (bits > 0) text_add(out, "\nsize-weighted AVF   %.3f%% over %.0f bits\n", 100 * weighted / bits, bits);
  if (fit > 0) text_add(out, "FIT                 %.4g failures per 10^9 hours; MTBF %.4g hours\n", fit, 1e9 / fit);
  for (uint32_t i = 0; i < report->structure_count; i++) {
    const StructureSummary *structure = &report->structures[i];
    if (structure->tally.total == 0 || structure->used <= 0) continue;
    double avf = (double)tally_vulnerable(&structure->tally) / (double)structure->tally.total;
    text_add(out, "AVF of the used part of %s  %.3f%% (%.1f%% of it is used)\n", structure->name, 100 * fmin(avf / structure->used, 1),
             100 * structure->used);
  }
}

static void add_causes(const Report *report, Text *out) {
  bool any = false;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    if (report->all.counts[i] == 0 || strcmp(outcome_info[i].name, "masked") == 0) continue;
    if (!any) text_add(out, "\n%-18s %9s\n", "outcome", "faults");
    any = true;
    text_add(out, "%-18s %9" PRIu64 "  %s\n", outcome_info[i].name, report->all.counts[i], outcome_info[i].meaning);
  }
}

static void add_settled(const Report *report, Text *out) {
  text_add(out, "\nsettled:");
  for (uint32_t i = 0; i < SETTLED_COUNT; i++) {
    if (report->settled[i] > 0) text_add(out, " %s %" PRIu64, settled_text[i], report->settled[i]);
  }
  uint64_t run = report->settled[SETTLED_RUN];
  if (report->all.total > 0) {
    text_add(out, "; %.2f%% without a simulation to the end", 100.0 * (double)(report->all.total - run) / (double)report->all.total);
  }
  text_add(out, "\n");
}

void report_text(const Report *report, Text *out) {
  const JournalMeta *meta = report->meta;
  text_add(out, "%s on %s, protection %s, model %s, window %s, seed %" PRIu64 "; intervals at %.4g%%\n\n", meta->target, meta->machine,
           meta->protection, meta->model, meta->window, meta->seed, 100 * report->confidence);
  add_structures(report, out);
  if (report->kernel_count > 1) {
    text_add(out, "\n");
    add_head(out, "kernel");
    for (uint32_t i = 0; i < report->kernel_count; i++)
      add_row(out, report->kernels[i].name, &report->kernels[i].tally, report->confidence);
  }
  add_causes(report, out);
  add_settled(report, out);
}

// ---- Two journals ----------------------------------------------------------------------------------

typedef struct Pairs {
  const Journal *other;
  Arena *arena;
  uint64_t moved[OUTCOME_COUNT][OUTCOME_COUNT];
  uint64_t pairs, unpaired, differ;
  uint64_t only_a, only_b; // vulnerable in one of them only
} Pairs;

static bool is_vulnerable(uint8_t outcome) {
  Tally one = {0};
  tally_add(&one, outcome);
  return tally_vulnerable(&one) > 0;
}

static bool pair_fault(void *context, const FaultRow *row) {
  Pairs *pairs = context;
  FaultRow other;
  Arena *scratch = arena_new();
  if (!journal_find_fault(pairs->other, row->id, &other, scratch)) {
    pairs->unpaired++;
  } else if (strcmp(row->fault, other.fault) != 0) {
    pairs->differ++;
  } else {
    pairs->pairs++;
    pairs->moved[row->outcome][other.outcome]++;
    pairs->only_a += is_vulnerable(row->outcome) && !is_vulnerable(other.outcome);
    pairs->only_b += !is_vulnerable(row->outcome) && is_vulnerable(other.outcome);
  }
  arena_free(scratch);
  return true;
}

bool report_compare(const Journal *a, const Journal *b, double confidence, Text *out, Diags *diags) {
  Pairs *pairs = calloc(1, sizeof *pairs);
  ASSERT(pairs != NULL);
  pairs->other = b;
  journal_each_fault(a, pair_fault, pairs);
  bool good = pairs->pairs > 0;
  if (!good)
    diags_add(diags, NULL, 0, 0, "the journals have no fault in common: they need the same workload, machine, structures, window and seed");
  if (good) {
    text_add(out, "A: %s on %s, protection %s\nB: %s on %s, protection %s\n%" PRIu64 " faults in both\n\n", journal_meta(a)->target,
             journal_meta(a)->machine, journal_meta(a)->protection, journal_meta(b)->target, journal_meta(b)->machine,
             journal_meta(b)->protection, pairs->pairs);
    if (pairs->differ > 0) text_add(out, "%" PRIu64 " have the same number but strike other bits: not compared\n\n", pairs->differ);
    text_add(out, "%-16s -> %-16s %9s\n", "in A", "in B", "faults");
    for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
      for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
        if (pairs->moved[i][k] > 0)
          text_add(out, "%-16s -> %-16s %9" PRIu64 "\n", outcome_info[i].name, outcome_info[k].name, pairs->moved[i][k]);
      }
    }
    // Newcombe's plain interval for a paired difference, from the faults that changed sides.
    double n = (double)pairs->pairs, gain = (double)pairs->only_a - (double)pairs->only_b;
    double spread = sqrt((double)pairs->only_a + (double)pairs->only_b - gain * gain / n) * normal_quantile(confidence);
    text_add(out, "\nAVF falls by %.3f%% from A to B (%.3f to %.3f at %.4g%%)\n", 100 * gain / n, 100 * (gain - spread) / n,
             100 * (gain + spread) / n, 100 * confidence);
  }
  free(pairs);
  return good;
}
