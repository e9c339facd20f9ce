// What the figures of the FMEDA are about: the chip, or what the user declares; how much of the chip's raw rate that is; and where a standing
// may be told.
#include "report/fmeda_internal.h"

#include <math.h>
#include <stdlib.h>

// ---- Declared ----------------------------------------------------------------------------------------

static bool covers(const FmedaScope *item, uint32_t type) { return item->type == FMEDA_TYPES || item->type == type; }

bool scope_names(const Fmeda *fmeda, FmedaType type, const char *structure) {
  bool found = false;
  for (uint32_t i = 0; i < fmeda->options->scope.count && !found; i++) {
    const FmedaScope *item = &fmeda->options->scope.items[i];
    found = covers(item, type) && strcmp(item->structure, structure) == 0;
  }
  return found;
}

bool scope_wants(const Fmeda *fmeda, FmedaType type) {
  bool any = fmeda->options->scope.count == 0;
  for (uint32_t i = 0; i < fmeda->options->scope.count && !any; i++) any = covers(&fmeda->options->scope.items[i], type);
  return any;
}

// ---- Cells -------------------------------------------------------------------------------------------

const char *cell_name(const Fmeda *fmeda, const FmedaCell *cell) {
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *other = &fmeda->cells.items[i];
    if (other != cell && other->type == cell->type && strcmp(other->structure, cell->structure) == 0)
      return arena_format(fmeda->arena, "%s %s", cell->structure, cell->model);
  }
  return cell->structure;
}

bool cell_counts(const FmedaCell *cell, uint32_t type) {
  return !cell->is_outside && cell->faults > 0 && (type == FMEDA_TYPES || cell->type == (FmedaType)type);
}

bool is_first_cell(const Fmeda *fmeda, const FmedaCell *cell) {
  for (const FmedaCell *other = fmeda->cells.items; other < cell; other++) {
    if (other->type == cell->type && strcmp(other->structure, cell->structure) == 0) return false;
  }
  return true;
}

// ---- In words ------------------------------------------------------------------------------------------

static void add_declared(const Fmeda *fmeda, uint32_t type, Names *names) {
  for (uint32_t i = 0; i < fmeda->options->scope.count; i++) {
    const FmedaScope *item = &fmeda->options->scope.items[i];
    if (covers(item, type)) names_add(names, item->structure, ALL_NAMES);
  }
}

static void add_struck(const Fmeda *fmeda, uint32_t type, Names *names) {
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell_counts(cell, type) && is_first_cell(fmeda, cell)) names_add(names, cell->structure, MOST_NAMES);
  }
}

// "transient faults of rf, shared; permanent faults of rf". What was declared in full.
static const char *scope_text(const Fmeda *fmeda) {
  bool is_declared = fmeda->options->scope.count > 0;
  Text text = {0};
  if (!is_declared) text_add(&text, "the chip, struck: ");
  const char *before = "";
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) {
    Names names = {0};
    if (is_declared) add_declared(fmeda, type, &names);
    else add_struck(fmeda, type, &names);
    if (names.count == 0) continue;
    text_add(&text, "%s%s faults of %s", before, fmeda_types[type], names_end(fmeda->arena, &names));
    before = "; ";
  }
  const char *copy = arena_copy_text(fmeda->arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// ---- Of the chip ---------------------------------------------------------------------------------------

// FIT per Mbit of cells on the chip, of all models of a type that have a rate (config.def).
double rate_per_mbit(const char *settings, FmedaType type) {
  double upsets = 1 + (setting_of(settings, "fit.adjacent2") + setting_of(settings, "fit.adjacent3")) / 1e6;
  if (type == FMEDA_TRANSIENT) return setting_of(settings, "fit.sram") / 1000 * upsets;
  return 2 * setting_of(settings, "fit.permanent") / 1000; // stuck at 0, and at 1
}

// Journals before version 5 do not say what kind a structure is: cells on the chip have the machine's rate, and fit into it.
static bool is_on_chip(const FmedaCell *cell, double chip_bits) {
  if (cell->kind != KIND_NOT_KNOWN) return cell->kind == KIND_CELLS;
  return !cell->is_own_state && cell->machine_fit > 0 && (double)cell->bits <= chip_bits;
}

// Of all cells on the chip, and of functional units that were given a rate. The units' own rates are in no machine file.
static double share_of_chip(const Fmeda *fmeda, FmedaType type) {
  const FmedaJournal *first = &fmeda->journals.items[0];
  double chip_bits = report_note(first->report, NOTE_CHIP_BITS), boards = 1, struck = 0, instead = 0;
  double per_mbit = rate_per_mbit(first->report->meta->settings, type);
  if (chip_bits <= 0 || per_mbit <= 0) return -1;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    boards = fmax(boards, cell->boards);
    bool is_cells = is_on_chip(cell, chip_bits);
    if (cell->type != type || (!is_cells && cell->kind != KIND_OUTPUT)) continue;
    if (is_cells) instead += cell->fit - cell->machine_fit; // a rate that is given takes the place of the machine's
    else instead += cell->fit;
    if (!cell->is_outside) struck += cell->fit;
  }
  double chip = chip_bits / (1 << 20) * per_mbit * boards + instead;
  return chip > 0 ? fmin(struck / chip, 1) : -1;
}

// The state of a mechanism belongs to whatever the mechanism is there for.
void fmeda_apply_scope(Fmeda *fmeda) {
  fmeda->scope = scope_text(fmeda);
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    FmedaCell *cell = &fmeda->cells.items[i];
    bool is_declared = fmeda->options->scope.count > 0;
    cell->is_outside =
        is_declared && (cell->is_own_state ? !scope_wants(fmeda, cell->type) : !scope_names(fmeda, cell->type, cell->structure));
  }
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) fmeda->chip_share[type] = share_of_chip(fmeda, (FmedaType)type);
}

// ---- Rows of the table of metrics ------------------------------------------------------------------------

// Single faults of one type may be judged without the other. The PMHF is a sum over all.
static uint32_t whole_type(const Fmeda *fmeda) {
  if (!scope_wants(fmeda, FMEDA_PERMANENT)) return FMEDA_TRANSIENT;
  return scope_wants(fmeda, FMEDA_TRANSIENT) ? FMEDA_TYPES : FMEDA_PERMANENT;
}

bool fmeda_is_judged(const Fmeda *fmeda, MetricId metric, uint32_t type) {
  switch (metric) {
  case METRIC_SPFM: return type < FMEDA_TYPES;
  case METRIC_LFM: return type == FMEDA_PERMANENT;
  default: return type == whole_type(fmeda);
  }
}

bool fmeda_has_row(const Fmeda *fmeda, MetricId metric, uint32_t type) {
  bool any = metric == METRIC_PMHF;
  for (uint32_t i = 0; i < fmeda->cells.count && !any; i++) any = cell_counts(&fmeda->cells.items[i], type);
  return fmeda->sums[type].metrics[metric].is_known || (any && fmeda_is_judged(fmeda, metric, type));
}

Standing fmeda_standing(const Fmeda *fmeda, MetricId metric, uint32_t type, Asil asil) {
  if (!fmeda_is_judged(fmeda, metric, type)) return STANDING_UNKNOWN;
  for (uint32_t i = 0; i < fmeda->blocks.count; i++) {
    if ((fmeda->blocks.items[i].rows & row_bit(metric, type)) != 0) return STANDING_WITHHELD;
  }
  return metric_standing(metric, fmeda->sums[type].metrics[metric], asil);
}

void fmeda_reasons(const Fmeda *fmeda, MetricId metric, uint32_t type, Text *out) {
  bool any = false;
  for (uint32_t i = 0; i < fmeda->blocks.count && fmeda_is_judged(fmeda, metric, type); i++) {
    const FmedaBlock *block = &fmeda->blocks.items[i];
    if ((block->rows & row_bit(metric, type)) == 0) continue;
    text_add(out, "%s%s", any ? " " : "", fmeda->findings.items.items[block->finding].text);
    any = true;
  }
}
