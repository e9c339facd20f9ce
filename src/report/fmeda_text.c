// The FMEDA as tables for a terminal of 80 columns. CSV and JSON have every interval.
#include "report/fmeda_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME = 13 };

static void trim(Text *out) {
  while (out->length > 0 && out->at[out->length - 1] == ' ') out->length--;
  text_add(out, "\n");
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
  text_add(out, "unused: harmless, in bits not used (not read) by this program; %s SPFM, LFM\n",
           options->count_unused ? "safe in" : "not in");
}

static NumberText fit_cell(double fit) { return fit <= 0 ? (NumberText){"-"} : number_text(fit); }

static const char *residual_cell(const FmedaCell *cell, char text[ESTIMATE_TEXT]) {
  Estimate residual = cell->shares[CLASS_RESIDUAL];
  return estimate_text(residual, cell->type == FMEDA_TRANSIENT || residual.high < 0.01 ? AS_PERCENT : AS_SHORT_PERCENT, text);
}

// As wide as their cells: a row has to fit into 80 columns.
typedef struct StructureColumns {
  int name, fit, residual;
} StructureColumns;

static StructureColumns structure_columns(const Fmeda *fmeda, FmedaType type) {
  StructureColumns columns = {name_width(fmeda), (int)strlen("FIT"), (int)strlen("residual")};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    char text[ESTIMATE_TEXT];
    if (cell->type != type) continue;
    columns.fit = (int)max_u32((uint32_t)columns.fit, (uint32_t)strlen(fit_cell(cell->fit).at));
    columns.residual = (int)max_u32((uint32_t)columns.residual, (uint32_t)strlen(residual_cell(cell, text)));
  }
  return columns;
}

// Transient faults do not stay, so none of them is latent.
static void add_structure(const Fmeda *fmeda, const FmedaCell *cell, StructureColumns columns, Text *out) {
  char text[ESTIMATE_TEXT];
  text_add(out, "%-*s %*s %6.1f %8.1f %5.1f", columns.name, cell_name(fmeda, cell), columns.fit, fit_cell(cell->fit).at,
           100 * cell->shares[CLASS_UNUSED].value, 100 * cell->shares[CLASS_HARMLESS].value, 100 * cell->shares[CLASS_DETECTED].value);
  text_add(out, " %-*s", columns.residual, residual_cell(cell, text));
  if (cell->type == FMEDA_PERMANENT) text_add(out, " %s", estimate_text(cell->shares[CLASS_LATENT], AS_SHORT_PERCENT, text));
  trim(out);
}

static void add_structures(const Fmeda *fmeda, FmedaType type, Text *out) {
  StructureColumns columns = structure_columns(fmeda, type);
  bool any = false, stays = type == FMEDA_PERMANENT;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell->type != type) continue;
    if (!any) {
      text_add(out, "\n%s faults: raw FIT, %% of them\n%-*s %*s %6s %8s %5s %-*s%s", stays ? "Permanent" : "Transient", columns.name,
               "structure", columns.fit, "FIT", "unused", "harmless", "found", columns.residual, "residual", stays ? " latent" : "");
      trim(out);
    }
    any = true;
    add_structure(fmeda, cell, columns, out);
  }
}

static void add_modes(const Fmeda *fmeda, FmedaType type, Text *out) {
  char share[ESTIMATE_TEXT], coverage[ESTIMATE_TEXT];
  int width = name_width(fmeda);
  bool any = false;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    for (uint32_t m = MODE_LATE; m < FAILURE_MODES && cell->type == type; m++) {
      const ModeRow *mode = &cell->modes[m];
      if (mode->faults == 0) continue;
      if (!any) text_add(out, "\n%-*s %-16s %-19s %5s %s\n", width, "structure", "failure mode", "share %", "FIT", "coverage %");
      any = true;
      text_add(out, "%-*s %-16s %-19s %5s %s\n", width, cell_name(fmeda, cell), failure_modes[m],
               estimate_text(mode->share, AS_PERCENT, share), fit_cell(cell->fit * mode->share.value).at,
               estimate_text(mode->coverage, AS_SHORT_PERCENT, coverage));
    }
  }
}

static void add_coverage_row(const char *name, int width, const Coverage *coverage, Text *out) {
  char share[ESTIMATE_TEXT];
  text_add(out, "%-*s %-20s %-19s %-7s", width, name, coverage->mechanism, estimate_text(coverage->share, AS_SHORT_PERCENT, share),
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
    if (!any) text_add(out, "\n%-*s %-20s %-19s %-7s %s\n", width, "structure", "mechanism", "coverage %", "class", "of dangerous");
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
      text_add(out, "%-*s   not counted: from %.1f (the best) to %.1f (independent)\n", width, "", 100 * cell->best,
               100 * cell->independent);
  }
  if (any) text_add(out, "class: of the interval's lower limit; low from 60%%, medium 90%%, high 99%%\n");
}

enum { VALUE_WIDTH = 24 };

static void add_metric(const Fmeda *fmeda, MetricId metric, uint32_t type, Text *out) {
  const MetricInfo *info = &fmeda_metrics[metric];
  Estimate estimate = fmeda->sums[type].metrics[metric];
  char text[ESTIMATE_TEXT], value[ESTIMATE_TEXT + 16];
  estimate_text(estimate, info->is_share ? AS_PERCENT : AS_NUMBER, text);
  snprintf(value, sizeof value, "%s %s", text, estimate.is_known ? info->unit : "");
  text_add(out, "%-6s %-10s %-*s", info->name, fmeda_types[type], VALUE_WIDTH, value);
  if (strlen(value) > VALUE_WIDTH) text_add(out, "\n%-6s %-10s %-*s", "", "", VALUE_WIDTH, ""); // terminals have 80 columns
  for (uint32_t a = 0; a < ASILS; a++) text_add(out, " %-11s", standing_text[fmeda_standing(fmeda, metric, type, (Asil)a)]);
  trim(out);
}

static void add_metrics(const Fmeda *fmeda, Text *out) {
  text_add(out, "\nAgainst ASIL targets\n%-*s", WRAPPED_INDENT, "scope");
  text_add_wrapped(out, WRAPPED_INDENT, fmeda->scope);
  text_add(out, "%-6s %-10s %-24s %-11s %-11s %s\n", "metric", "faults", "value (interval)", "ASIL B", "ASIL C", "ASIL D");
  for (uint32_t m = 0; m < METRICS; m++) {
    for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
      if (fmeda_has_row(fmeda, (MetricId)m, i)) add_metric(fmeda, (MetricId)m, i, out);
    }
  }
  text_add(out, "shown: the whole interval meets the target. missed: none of it does. not shown:\n"
                "a part; more faults would tell. withheld: a blocking finding below says why.\n");
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
  add_times(fmeda, out);
  add_metrics(fmeda, out);
  findings_text(&fmeda->findings, out);
  add_manifest(fmeda, out);
}
