// What has to be said beside the figures of the FMEDA, and what keeps a standing from being told. No verdict without knowledge: a figure that
// leaves something out that was struck, or that is about less than it seems, is not held against a target.
#include "report/fmeda_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const double ENOUGH = 0.99; // of the chip's raw rate, or of the bits that a mechanism adds

static const char *const plural[FMEDA_TYPES] = {"transient faults", "permanent faults"};
static const char *const begins[FMEDA_TYPES] = {"Transient faults", "Permanent faults"};

// Rounded towards 0: 98.96% is not 99.0%.
static double percent_down(double share) { return floor(share * 1000) / 10; }

// ---- Added ---------------------------------------------------------------------------------------------

// All rows of a type, and the PMHF, which it is a part of.
static uint32_t rows_of(const Fmeda *fmeda, FmedaType type) {
  uint32_t rows = row_bit(METRIC_SPFM, type) | (type == FMEDA_PERMANENT ? row_bit(METRIC_LFM, type) : 0);
  for (uint32_t of = 0; of <= FMEDA_TYPES; of++) rows |= of == type || of == FMEDA_TYPES ? row_bit(METRIC_PMHF, of) : 0;
  return scope_wants(fmeda, type) ? rows : 0;
}

#define BLOCK(fmeda, rows_, about, ...)                                                                 \
  *VEC_PUSH(&(fmeda)->blocks, (fmeda)->arena) = (FmedaBlock) {                                          \
    .finding = findings_add(&(fmeda)->findings, SEVERITY_BLOCKING, about, __VA_ARGS__), .rows = (rows_) \
  }
#define CAUTION(fmeda, about, ...) findings_add(&(fmeda)->findings, SEVERITY_CAUTION, about, __VA_ARGS__)
#define NOTE(fmeda, about, ...) findings_add(&(fmeda)->findings, SEVERITY_NOTE, about, __VA_ARGS__)

static bool any_of(const Fmeda *fmeda, FmedaType type) {
  bool any = false;
  for (uint32_t i = 0; i < fmeda->cells.count && !any; i++)
    any = cell_counts(&fmeda->cells.items[i], type) && !fmeda->cells.items[i].is_own_state;
  return any;
}

// ---- Whether it is about all that it should be about -----------------------------------------------------

static bool is_struck(const Fmeda *fmeda, FmedaType type, const char *structure) {
  bool found = false;
  for (uint32_t i = 0; i < fmeda->cells.count && !found; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    found = cell_counts(cell, type) && strcmp(cell->structure, structure) == 0;
  }
  return found;
}

static void find_declared(Fmeda *fmeda, FmedaType type) {
  Names missing = {0};
  for (uint32_t i = 0; i < fmeda->options->scope.count; i++) {
    const FmedaScope *item = &fmeda->options->scope.items[i];
    if ((item->type == FMEDA_TYPES || item->type == type) && !is_struck(fmeda, type, item->structure))
      names_add(&missing, item->structure, ALL_NAMES);
  }
  if (missing.count == 0) return;
  BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type], "The scope names %s of %s, which no campaign has.", plural[type],
        names_end(fmeda->arena, &missing));
}

static void find_chip(Fmeda *fmeda, FmedaType type) {
  double share = fmeda->chip_share[type];
  static const char *const needs = "A verdict needs 99% of it, or a declared scope (--scope).";
  if (!any_of(fmeda, type)) {
    BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type], "No campaign has %s, and no --scope leaves them out.", plural[type]);
  } else if (share < 0) {
    BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type],
          "The chip's raw rate of %s is not known (%s, or old journals), and so not how much of it was struck. %s", plural[type],
          type == FMEDA_PERMANENT ? "fit.permanent is 0" : "fit.sram is 0", needs);
  } else if (share < ENOUGH) {
    BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type], "%s struck %.1f%% of the chip's raw rate; the rest is in no figure. %s",
          begins[type], percent_down(share), needs);
  } else {
    NOTE(fmeda, fmeda_types[type], "%s struck %.1f%% of the chip's raw rate.", begins[type], percent_down(share));
  }
}

// What was struck and has no rate is in no sum: then a figure of the others would hide it.
static void find_unrated(Fmeda *fmeda, FmedaType type) {
  Names names = {0};
  const char *first = NULL;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, type) || cell->fit > 0) continue;
    names_add(&names, arena_format(fmeda->arena, "%s (%.1f%% residual)", cell_name(fmeda, cell), 100 * cell->shares[CLASS_RESIDUAL].value),
              ALL_NAMES);
    if (first == NULL) first = cell->structure;
  }
  if (first == NULL) return;
  BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type],
        "No rate of %s is known for %s, so no figure of them is complete. --rate %s:%s=FIT gives one; a --scope without it leaves it out.",
        plural[type], names_end(fmeda->arena, &names), fmeda_types[type], first);
}

static void find_parts(Fmeda *fmeda, FmedaType type) {
  Names names = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell_counts(cell, type) && cell->is_part) names_add(&names, cell_name(fmeda, cell), ALL_NAMES);
  }
  if (names.count == 0) return;
  BLOCK(fmeda, rows_of(fmeda, type), fmeda_types[type], "Of %s only a part was struck with %s.", names_end(fmeda->arena, &names),
        plural[type]);
}

// Upsets of single bits and of neighbours are models of their own. (Of the chip as a whole this is in its share.)
static void find_other_models(Fmeda *fmeda) {
  Names names = {0};
  double per_mbit = rate_per_mbit(fmeda->journals.items[0].report->meta->settings, FMEDA_TRANSIENT);
  for (uint32_t i = 0; i < fmeda->cells.count && per_mbit > 0; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, FMEDA_TRANSIENT) || cell->kind != KIND_CELLS || cell->is_given || !is_first_cell(fmeda, cell)) continue;
    double struck = 0, all = (double)cell->bits / (1 << 20) * per_mbit * cell->boards;
    for (uint32_t k = i; k < fmeda->cells.count; k++) {
      const FmedaCell *other = &fmeda->cells.items[k];
      if (cell_counts(other, FMEDA_TRANSIENT) && strcmp(other->structure, cell->structure) == 0) struck += other->fit;
    }
    if (struck < ENOUGH * all)
      names_add(&names, arena_format(fmeda->arena, "%s (%.1f%%)", cell->structure, percent_down(struck / all)), ALL_NAMES);
  }
  if (names.count == 0) return;
  BLOCK(fmeda, rows_of(fmeda, FMEDA_TRANSIENT), fmeda_types[FMEDA_TRANSIENT],
        "Only a part of the raw rate of transient faults was struck, the rest is of other models (flip, adjacent): %s.",
        names_end(fmeda->arena, &names));
}

// A cell can be stuck at 0 and at 1.
static void find_other_value(Fmeda *fmeda) {
  Names names = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    bool is_stuck = strncmp(cell->model, "stuck", 5) == 0, has_other = false;
    if (!cell_counts(cell, FMEDA_PERMANENT) || !is_stuck) continue;
    for (uint32_t k = 0; k < fmeda->cells.count && !has_other; k++) {
      const FmedaCell *other = &fmeda->cells.items[k];
      has_other = other != cell && strncmp(other->model, "stuck", 5) == 0 && strcmp(other->structure, cell->structure) == 0;
    }
    if (!has_other) names_add(&names, arena_format(fmeda->arena, "%s (%s)", cell->structure, cell->model), ALL_NAMES);
  }
  if (names.count == 0) return;
  BLOCK(fmeda, rows_of(fmeda, FMEDA_PERMANENT), fmeda_types[FMEDA_PERMANENT],
        "Half of the permanent faults is missing: nothing was stuck at the other value in %s.", names_end(fmeda->arena, &names));
}

static void find_outside(Fmeda *fmeda) {
  Names names = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell->is_outside || cell->faults == 0) continue;
    names_add(&names,
              arena_format(fmeda->arena, "%s %s (%.1f%% residual)", cell->structure, cell->model, 100 * cell->shares[CLASS_RESIDUAL].value),
              ALL_NAMES);
  }
  if (names.count > 0) CAUTION(fmeda, "scope", "Struck and outside the scope, so in no figure: %s.", names_end(fmeda->arena, &names));
}

static void find_scope(Fmeda *fmeda) {
  bool is_declared = fmeda->options->scope.count > 0;
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) {
    if (!scope_wants(fmeda, (FmedaType)type)) continue;
    if (is_declared) find_declared(fmeda, (FmedaType)type);
    else find_chip(fmeda, (FmedaType)type);
    find_unrated(fmeda, (FmedaType)type);
    find_parts(fmeda, (FmedaType)type);
    if (!is_declared || !any_of(fmeda, (FmedaType)type)) continue;
    if (fmeda->chip_share[type] < 0)
      NOTE(fmeda, "scope", "How much of the chip's raw rate of %s the scope holds is not known.", plural[type]);
    else NOTE(fmeda, "scope", "The scope holds %.1f%% of the chip's raw rate of %s.", percent_down(fmeda->chip_share[type]), plural[type]);
  }
  if (is_declared) find_other_models(fmeda);
  find_other_value(fmeda);
  find_outside(fmeda);
}

// ---- Whether the program uses what was struck ------------------------------------------------------------

static void find_used(Fmeda *fmeda, FmedaType type) {
  const FmedaSums *sums = &fmeda->sums[type];
  Names unused = {0}, unrecorded = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, type)) continue;
    if (cell->counts[CLASS_UNUSED] == cell->faults && cell->unrecorded == 0) names_add(&unused, cell_name(fmeda, cell), MOST_NAMES);
    if (cell->unrecorded > 0)
      names_add(&unrecorded,
                arena_format(fmeda->arena, "%.1f%% of %s", 100 * (double)cell->unrecorded / (double)cell->faults, cell_name(fmeda, cell)),
                MOST_NAMES);
  }
  Estimate share = estimate_times(sums->classes[CLASS_UNUSED], sums->raw > 0 ? 100 / sums->raw : 0);
  if (share.is_known && share.value > 0)
    CAUTION(fmeda, fmeda_types[type],
            "%.1f%% of the raw rate of %s is in bits that this program does not use%s (%s of %s FIT). %s: it argues nothing about "
            "another program.",
            share.value, plural[type], unrecorded.count > 0 ? ", or is not known to use" : "",
            number_text(sums->classes[CLASS_UNUSED].value).at, number_text(sums->raw).at,
            fmeda->options->count_unused ? "SPFM and LFM count it as safe (--count-unused), PMHF as harmless"
                                         : "SPFM and LFM leave it out, PMHF counts it as harmless");
  if (unused.count > 0)
    CAUTION(fmeda, fmeda_types[type], "The program uses no struck bit of %s: what %s do there is not known.",
            names_end(fmeda->arena, &unused), plural[type]);
  if (unrecorded.count > 0)
    CAUTION(fmeda, fmeda_types[type],
            "Harmless, and no journal says whether the program uses the bits, so not counted as used: %s. Journals before version 5, "
            "campaigns with --no-prune and structures whose accesses are not told do not say.",
            names_end(fmeda->arena, &unrecorded));
  if (any_of(fmeda, type) && sums->is_known && sums->used.value <= 0)
    BLOCK(fmeda, row_bit(METRIC_SPFM, type) | row_bit(METRIC_LFM, type), fmeda_types[type],
          "The program uses none of the bits that %s struck: there is nothing to take a share of.", plural[type]);
}

// The union of mechanisms is counted over faults that every journal has.
static void find_left_out(Fmeda *fmeda) {
  Names names = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell->left_out == 0 || !cell_counts(cell, FMEDA_TYPES)) continue;
    names_add(&names,
              arena_format(fmeda->arena, "%" PRIu64 " of %" PRIu64 " of %s %s", cell->left_out, cell->left_out + cell->faults,
                           cell->structure, cell->model),
              MOST_NAMES);
  }
  if (names.count > 0)
    CAUTION(fmeda, "",
            "Faults that some journal lacks are left out: %s. Strike the same structures in all campaigns, with the same number of faults.",
            names_end(fmeda->arena, &names));
}

// ---- When it struck ----------------------------------------------------------------------------------------

static void find_windows(Fmeda *fmeda) {
  static const char *const plain[FMEDA_TYPES] = {"all", "cycles:0-1"};
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) {
    Names names = {0};
    for (uint32_t i = 0; i < fmeda->cells.count; i++) {
      const FmedaCell *cell = &fmeda->cells.items[i];
      if (!cell_counts(cell, type) || cell->measured_count == 0) continue;
      const char *window = cell->measured[0]->report->meta->window;
      if (strcmp(window, plain[type]) != 0)
        names_add(&names, arena_format(fmeda->arena, "%s (%s)", cell_name(fmeda, cell), window), MOST_NAMES);
    }
    if (names.count == 0) continue;
    if (type == FMEDA_TRANSIENT)
      CAUTION(fmeda, fmeda_types[type], "Transient faults struck in a part of the run alone: %s.", names_end(fmeda->arena, &names));
    else
      CAUTION(
          fmeda, fmeda_types[type],
          "Permanent faults struck while the program ran: %s. A program that begins with them meets them more often; --window cycles:0-1 "
          "strikes at the start.",
          names_end(fmeda->arena, &names));
  }
}

// ---- Latent faults -----------------------------------------------------------------------------------------

// Bits of a mechanism's own that permanent faults struck, each structure once.
static double own_bits_struck(const Fmeda *fmeda, const char *mechanism) {
  double bits = 0;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, FMEDA_PERMANENT) || !cell->is_own_state || !is_first_cell(fmeda, cell)) continue;
    bool is_of = false;
    for (uint32_t k = 0; k < cell->measured_count; k++) is_of |= strcmp(cell->measured[k]->mechanism, mechanism) == 0;
    bits += is_of ? (double)cell->bits : 0;
  }
  return bits;
}

static void find_own_state(Fmeda *fmeda) {
  uint32_t rows = row_bit(METRIC_LFM, FMEDA_PERMANENT) | row_bit(METRIC_PMHF, FMEDA_PERMANENT) | row_bit(METRIC_PMHF, FMEDA_TYPES);
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const FmedaJournal *journal = &fmeda->journals.items[i];
    bool is_new = journal->role == ROLE_MECHANISM;
    for (uint32_t k = 0; k < i && is_new; k++)
      is_new = fmeda->journals.items[k].role != ROLE_MECHANISM || strcmp(fmeda->journals.items[k].mechanism, journal->mechanism) != 0;
    double bits = is_new ? report_note(journal->report, NOTE_SCHEME_BITS) : 0;
    double share = bits > 0 ? own_bits_struck(fmeda, journal->mechanism) / bits : 1;
    if (share >= ENOUGH) continue;
    BLOCK(fmeda, rows, journal->mechanism,
          "%s adds %.0f bits of its own, and permanent faults struck %.1f%% of them: how much of it is latent is not known. 'redoubt list "
          "structures --protect %s' names them.",
          journal->mechanism, bits, percent_down(share), journal->mechanism);
  }
}

static void find_second(Fmeda *fmeda, const FmedaCell *cell) {
  const char *name = cell_name(fmeda, cell);
  if (cell->first_idle > 0 && cell->first_tried == 0)
    BLOCK(fmeda, row_bit(METRIC_LFM, FMEDA_PERMANENT), cell->structure,
          "%s: every second fault was masked and none was read, with all of the %u first faults that were tried. That tells nothing; all "
          "unnoticed faults count as latent.",
          name, cell->first_idle);
  else if (cell->first_idle > 0)
    CAUTION(fmeda, cell->structure,
            "%s: with %u of %u first faults every second fault was masked and none was read. They tell nothing and do not count.", name,
            cell->first_idle, cell->first_idle + cell->first_tried);
  if (cell->first_tried > 0)
    NOTE(fmeda, cell->structure,
         "%s is a mechanism's own state. Unnoticed faults of it that were tried with second ones: %u, with %" PRIu64
         " second ones in all. Of these first faults %u let a second one do harm.",
         name, cell->first_tried, cell->pairs, cell->first_bad);
  else if (cell->first_idle == 0)
    NOTE(fmeda, cell->structure,
         "%s is a mechanism's own state. None of its unnoticed faults was tried with a second one, so all count as latent.", name);
}

static void find_latent(Fmeda *fmeda) {
  const FmedaSums *sums = &fmeda->sums[FMEDA_PERMANENT];
  if (sums->is_known && sums->classes[CLASS_DETECTED].value <= 0 && sums->classes[CLASS_LATENT].value <= 0)
    BLOCK(fmeda, row_bit(METRIC_LFM, FMEDA_PERMANENT), fmeda_types[FMEDA_PERMANENT],
          "No mechanism found or corrected a permanent fault. Where nothing is found nothing can be latent: LFM tells nothing.");
  if (any_of(fmeda, FMEDA_PERMANENT)) find_own_state(fmeda);
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (cell_counts(cell, FMEDA_PERMANENT) && cell->is_own_state) find_second(fmeda, cell);
    if (cell_counts(cell, FMEDA_TYPES) && cell->is_own_state && cell->kind == KIND_NOT_KNOWN)
      CAUTION(fmeda, cell->structure, "%s counts as a mechanism's own state: no campaign without one has it, and old journals do not say.",
              cell_name(fmeda, cell));
  }
  Estimate dual = sums->is_known ? fmeda->sums[fmeda->sums[FMEDA_TYPES].is_known ? FMEDA_TYPES : FMEDA_PERMANENT].dual : (Estimate){0};
  if (dual.is_known)
    NOTE(fmeda, "PMHF", "PMHF holds %s FIT (at most %s) for a latent fault and a second one in %.4g hours.", number_text(dual.value).at,
         number_text(dual.high).at, fmeda->options->lifetime);
}

// ---- All -------------------------------------------------------------------------------------------------

static void find_uncovered(Fmeda *fmeda) {
  for (uint32_t i = 0; i < fmeda->journals.count; i++) {
    const Journal *journal = fmeda->journals.items[i].report->journal;
    const char *uncovered = journal_note(journal, NOTE_UNCOVERED);
    if (uncovered[0] != '\0')
      CAUTION(fmeda, fmeda->journals.items[i].mechanism, "%s: not protected: %s.", journal_path(journal), uncovered);
    const char *idle = journal_note(journal, NOTE_IDLE);
    if (idle[0] != '\0')
      CAUTION(fmeda, fmeda->journals.items[i].mechanism, "%s: never acted in the run without faults: %s.", journal_path(journal), idle);
  }
}

void fmeda_find(Fmeda *fmeda) {
  find_scope(fmeda);
  for (uint32_t type = 0; type < FMEDA_TYPES; type++) find_used(fmeda, (FmedaType)type);
  find_left_out(fmeda);
  find_windows(fmeda);
  find_latent(fmeda);
  find_uncovered(fmeda);
  NOTE(fmeda, "", "SPFM and LFM are judged by fault type, PMHF over all faults of the scope.");
  Text rates = {0};
  fmeda_rates_text(fmeda, &rates);
  NOTE(fmeda, "", "Figures are of this program with these inputs, on a model of the machine. Rates are inputs. %s", rates.at);
  text_free(&rates);
  NOTE(fmeda, "",
       "The text of ISO 26262 was not at hand: formulas and targets are from memory, not checked against it; they agree with public "
       "summaries. "
       "Redoubt is no qualified tool (docs/safety.md).");
}
