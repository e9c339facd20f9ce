// The FMEDA as tables for a terminal of 80 columns. CSV and JSON have every interval.
#include "report/fmeda_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 13 };

// With fewer digits where the numbers are large: a row has to fit.
static const char *estimate_cell(Estimate estimate, double factor, int digits, char text[48]) {
  if (factor * estimate.high >= 10 && digits > 1) digits = 1;
  if (!estimate.is_known) snprintf(text, 48, "-");
  else
    snprintf(text, 48, "%.*f (%.*f-%.*f)", digits, factor * estimate.value, digits, factor * estimate.low, digits, factor * estimate.high);
  return text;
}

static void trim(Text *out) {
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
}

// "rf" or, where a structure was struck under several models of its type, "rf stuck0".
static const char *cell_name(const Fmeda *fmeda, const FmedaCell *cell) {
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *other = &fmeda->cells.items[i];
    if (other != cell && other->type == cell->type && strcmp(other->structure, cell->structure) == 0)
      return arena_format(fmeda->arena, "%s %s", cell->structure, cell->model);
  }
  return cell->structure;
}

static int name_width(const Fmeda *fmeda) {
  int width = NAME;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    int length = (int)strlen(cell_name(fmeda, &fmeda->cells.items[i]));
    width = length > width ? length : width;
  }
  return width;
}

static void add_head(const Fmeda *fmeda, Text *out) {
  const JournalMeta *meta = fmeda->journals.items[0].report->meta;
  const FmedaOptions *options = fmeda->options;
  text_add(out, "FMEDA of %s on %s: %u journals; intervals at %.4g%%\n", meta->target, meta->machine, fmeda->journals.count,
           100 * options->confidence);
  text_add(out, "dangerous: wrong outputs%s, error traps, hangs\n", options->tolerable_is_safe ? "" : " (tolerable ones too)");
  text_add(out, "found: what a mechanism detects or corrects%s%s%s\n", options->traps ? ", error traps" : "",
           options->watchdog ? ", hangs" : "", options->silent ? "; silent corrections" : "");
}

static void add_structures(const Fmeda *fmeda, FmedaType type, Text *out) {
  char text[48];
  int width = name_width(fmeda);
  bool any = false;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell->type != type) continue;
    if (!any)
      text_add(out, "\n%s faults\n%-*s %8s %7s %7s  %-19s  %s\n", type == FMEDA_TRANSIENT ? "Transient" : "Permanent", width, "structure",
               "raw FIT", "safe %", "found %", "residual %", "latent %");
    any = true;
    text_add(out, "%-*s ", width, cell_name(fmeda, cell));
    if (cell->fit > 0) text_add(out, "%8.4g", cell->fit);
    else text_add(out, "%8s", "-");
    text_add(out, " %7.2f %7.2f  %-19s", 100 * cell->shares[CLASS_SAFE].value, 100 * cell->shares[CLASS_DETECTED].value,
             estimate_cell(cell->shares[CLASS_RESIDUAL], 100, 2, text));
    text_add(out, "  %s\n", type == FMEDA_TRANSIENT ? "-" : estimate_cell(cell->shares[CLASS_LATENT], 100, 1, text));
  }
}

static void add_modes(const Fmeda *fmeda, FmedaType type, Text *out) {
  char share[48], coverage[48];
  int width = name_width(fmeda);
  bool any = false;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    for (uint32_t m = MODE_LATE; m < FAILURE_MODES && cell->type == type; m++) {
      const ModeRow *mode = &cell->modes[m];
      if (mode->faults == 0) continue;
      if (!any) text_add(out, "\n%-*s %-16s %-18s %8s  %s\n", width, "structure", "failure mode", "share %", "raw FIT", "coverage %");
      any = true;
      text_add(out, "%-*s %-16s %-18s ", width, cell_name(fmeda, cell), failure_modes[m], estimate_cell(mode->share, 100, 2, share));
      if (cell->fit > 0) text_add(out, "%8.3g", cell->fit * mode->share.value);
      else text_add(out, "%8s", "-");
      text_add(out, "  %s\n", estimate_cell(mode->coverage, 100, 1, coverage));
    }
  }
}

static void add_coverage_row(const char *name, int width, const Coverage *coverage, Text *out) {
  char share[48];
  text_add(out, "%-*s %-20s %-20s %-7s", width, name, coverage->mechanism, estimate_cell(coverage->share, 100, 1, share),
           coverage->share.is_known ? coverage_class(coverage->share.low) : "-");
  if (coverage->is_paired) text_add(out, " %" PRIu64 " of %" PRIu64, coverage->dangerous - coverage->left, coverage->dangerous);
  else text_add(out, " other faults");
  if (coverage->induced > 0) text_add(out, ", %" PRIu64 " made", coverage->induced);
  trim(out);
}

// The platform's mechanisms are there for all structures; those that nothing meets are left out.
static bool is_worth_a_row(const Coverage *coverage) {
  return strncmp(coverage->mechanism, "platform", 8) != 0 || coverage->left < coverage->dangerous;
}

static void add_coverages(const Fmeda *fmeda, FmedaType type, Text *out) {
  int width = name_width(fmeda);
  bool any = false;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell->type != type || cell->coverages.count == 0) continue;
    if (!any) text_add(out, "\n%-*s %-20s %-20s %-7s %s\n", width, "structure", "mechanism", "coverage %", "class", "of dangerous");
    any = true;
    uint32_t rows = 0;
    for (uint32_t k = 0; k < cell->coverages.count; k++) {
      if (!is_worth_a_row(&cell->coverages.items[k])) continue;
      add_coverage_row(cell_name(fmeda, cell), width, &cell->coverages.items[k], out);
      rows++;
    }
    if (cell->together.mechanism == NULL || rows < 2) continue;
    add_coverage_row(cell_name(fmeda, cell), width, &cell->together, out);
    if (cell->best < cell->independent)
      text_add(out, "%-*s   not counted, it could be %.1f (the best) to %.1f (independent)\n", width, "", 100 * cell->best,
               100 * cell->independent);
  }
  if (any) text_add(out, "class: of the interval's lower limit; low from 60%%, medium 90%%, high 99%%\n");
}

static void add_metrics(const Fmeda *fmeda, Text *out) {
  text_add(out, "\n%-6s %-10s %-24s %-11s %-11s %s\n", "metric", "faults", "value (interval)", "ASIL B", "ASIL C", "ASIL D");
  for (uint32_t m = 0; m < METRICS; m++) {
    for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
      Estimate estimate = fmeda->sums[i].metrics[m];
      const MetricInfo *info = &fmeda_metrics[m];
      char text[48], value[64];
      if (!estimate.is_known) continue;
      estimate_cell(estimate, info->is_share ? 100 : 1, estimate.value >= 1000 && !info->is_share ? 0 : 2, text);
      snprintf(value, sizeof value, "%s %s", text, info->unit);
      text_add(out, "%-6s %-10s %-24s", info->name, fmeda_types[i], value);
      for (uint32_t a = 0; a < ASILS; a++) text_add(out, " %-11s", standing_text[metric_standing((MetricId)m, estimate, (Asil)a)]);
      trim(out);
    }
  }
  text_add(out, "shown: the whole interval meets the target. not shown: the estimate does, the\n"
                "interval reaches beyond it; more faults would tell. missed: the estimate fails.\n");
  Estimate dual = fmeda->sums[FMEDA_TYPES].dual;
  if (dual.is_known && dual.high > 0)
    text_add(out, "PMHF holds at most %.3g FIT for a latent and a second fault in %.4g hours.\n", dual.high, fmeda->options->lifetime);
}

static void add_times(const Fmeda *fmeda, Text *out) {
  for (uint32_t i = 0; i < fmeda->times.count; i++) {
    const FmedaTimes *times = &fmeda->times.items[i];
    if (i == 0) text_add(out, "\n%-22s %9s %12s %12s", "detection time", "detected", "median", "longest");
    if (i == 0) text_add(out, fmeda->options->ftti > 0 ? "  late\n" : "\n");
    text_add(out, "%-22s %9" PRIu64 " %9.3g us %9.3g us", times->mechanism, times->detected, 1e6 * times->median, 1e6 * times->most);
    if (fmeda->options->ftti > 0) text_add(out, "  %" PRIu64, times->late);
    text_add(out, "\n");
  }
  if (fmeda->options->ftti > 0)
    text_add(out, "%sFTTI %.4g ms, of which %.4g ms for the reaction; what comes later is residual\n", fmeda->times.count == 0 ? "\n" : "",
             1e3 * fmeda->options->ftti, 1e3 * fmeda->options->reaction);
}

static void add_latent(const Fmeda *fmeda, Text *out) {
  const char *before = "\n";
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell->is_own_state || cell->type != FMEDA_PERMANENT) continue;
    text_add(out, "%s%s counts as a mechanism's own state: no campaign without one has it.\n", before, cell_name(fmeda, cell));
    if (cell->first_tried > 0)
      text_add(out, "  %u unnoticed faults were tried, with %" PRIu64 " second ones: %u let one do harm\n", cell->first_tried, cell->pairs,
               cell->first_bad);
    else text_add(out, "  Its unnoticed faults were not tried with second ones: all count as latent\n");
    before = "";
  }
}

// The first of a structure's cells with faults of this type; stuck at 0 and at 1 are two.
static bool is_first(const Fmeda *fmeda, uint32_t number) {
  const FmedaCell *cell = &fmeda->cells.items[number];
  for (uint32_t i = 0; i < number; i++) {
    const FmedaCell *other = &fmeda->cells.items[i];
    if (other->type == cell->type && other->fit > 0 && strcmp(other->structure, cell->structure) == 0) return false;
  }
  return true;
}

// How much of the chip this is about: cells that have a rate. Device memory is no part of it.
static void add_struck(const Fmeda *fmeda, Text *out) {
  static const char *const names[FMEDA_TYPES] = {[FMEDA_TRANSIENT] = "Transients", [FMEDA_PERMANENT] = "Permanent faults"};
  double chip = strtod(journal_note(fmeda->journals.items[0].report->journal, NOTE_CHIP_BITS), NULL);
  const char *before = "\n";
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) {
    double struck = 0;
    for (uint32_t i = 0; i < fmeda->cells.count; i++) {
      const FmedaCell *cell = &fmeda->cells.items[i];
      bool is_counted = cell->type == (FmedaType)type && !cell->is_own_state && cell->fit > 0 && is_first(fmeda, i);
      struck += is_counted ? (double)cell->bits : 0;
    }
    if (struck <= 0 || struck > chip) continue;
    text_add(out, "%s%s struck %.1f%% of the chip's bits; the rest is in no sum.\n", before, names[type], 100 * struck / chip);
    before = "";
  }
}

static void add_missing(const Fmeda *fmeda, Text *out) {
  const char *before = "\nNo rate, so in no sum (--rate gives one): ";
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell->fit > 0) continue;
    text_add(out, "%s%s %s", before, cell->structure, cell->model);
    before = ", ";
  }
  if (before[0] == ',') text_add(out, "\n");
}

static void add_manifest(const Fmeda *fmeda, Text *out) {
  text_add(out, "\nEvidence (--csv FOLDER, --json: commands and all hashes)\n");
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    const JournalMeta *meta = journal->report->meta;
    text_add(out, "[%u] %s: %s, %s, seed %" PRIu64 ", %" PRIu64 " faults\n    content %016" PRIx64 ", program %016" PRIx64 "\n", i + 1,
             journal_path(journal->report->journal), journal->role == ROLE_BASE ? fmeda_roles[ROLE_BASE] : journal->mechanism, meta->model,
             meta->seed, journal->report->all.total, journal->content, meta->program_hash);
  }
}

void fmeda_text(const Fmeda *fmeda, Text *out) {
  add_head(fmeda, out);
  for (uint32_t i = 0; i < FMEDA_TYPES; i++) {
    add_structures(fmeda, (FmedaType)i, out);
    add_modes(fmeda, (FmedaType)i, out);
    add_coverages(fmeda, (FmedaType)i, out);
  }
  add_latent(fmeda, out);
  add_times(fmeda, out);
  add_struck(fmeda, out);
  add_missing(fmeda, out);
  add_metrics(fmeda, out);
  add_manifest(fmeda, out);
  text_add(out, "Rates are inputs and count as exact. No qualified tool: see docs/safety.md\n");
}
