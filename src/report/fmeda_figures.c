// Sums over structures: rates by class, SPFM, LFM, PMHF, and coverages over a fault type. Structures are sampled apart, so distances of
// limits add up as squares (statistics.h).
#include "report/fmeda_internal.h"

#include <math.h>

const MetricInfo fmeda_metrics[METRICS] = {
    {"SPFM", "%", true, {0.90, 0.97, 0.99}},
    {"LFM", "%", true, {0.60, 0.80, 0.90}},
    {"PMHF", "FIT", false, {100, 100, 10}},
};
const char *const asil_names[ASILS] = {"B", "C", "D"};
const char *const standing_text[STANDINGS] = {"-", "shown", "not shown", "missed", "withheld"};

Standing metric_standing(MetricId metric, Estimate estimate, Asil asil) {
  const MetricInfo *info = &fmeda_metrics[metric];
  double target = info->targets[asil];
  if (!estimate.is_known) return STANDING_UNKNOWN;
  if (info->is_share) return estimate.low >= target ? STANDING_SHOWN : estimate.high >= target ? STANDING_NOT_SHOWN : STANDING_MISSED;
  return estimate.high < target ? STANDING_SHOWN : estimate.low < target ? STANDING_NOT_SHOWN : STANDING_MISSED;
}

const char *coverage_class(double coverage) {
  return coverage >= 0.99 ? "high" : coverage >= 0.90 ? "medium" : coverage >= 0.60 ? "low" : "none";
}

Estimate share_estimate(uint64_t hits, uint64_t trials, double confidence) {
  if (trials == 0) return (Estimate){0};
  Interval interval = wilson_interval(hits, trials, confidence);
  return (Estimate){true, (double)hits / (double)trials, interval.low, interval.high};
}

Estimate share_scaled(Estimate share, double drawn) {
  return (Estimate){share.is_known, drawn * share.value, drawn * share.low, drawn * share.high};
}

Estimate share_rest(Estimate share) { return (Estimate){share.is_known, 1 - share.value, 1 - share.high, 1 - share.low}; }

static void add(EstimateSum *sum, double weight, Estimate part) {
  estimate_sum_add(sum, weight, part.value, (Interval){part.low, part.high});
}

// A sum of rates: not below 0, not above `most`.
static Estimate sum_estimate(const EstimateSum *sum, double most) {
  Interval interval = estimate_sum_interval(sum);
  return (Estimate){true, sum->value, fmax(interval.low, 0), fmin(interval.high, most)};
}

// 1 less a ratio of two sums.
static Estimate complement(Estimate part, Estimate whole) {
  if (!part.is_known || !whole.is_known || whole.value <= 0) return (Estimate){0};
  Interval ratio = ratio_interval(part.value, (Interval){part.low, part.high}, whole.value, (Interval){whole.low, whole.high});
  return (Estimate){true, 1 - part.value / whole.value, fmax(1 - ratio.high, 0), 1 - ratio.low};
}

// Of the rates that are in the sums, what is residual. A structure by itself: of its faults that count. Of several, both sums come from the
// same samples, but count as independent: that makes the interval wider than need be.
static Estimate spfm(const Fmeda *fmeda, uint32_t type, const FmedaSums *sums) {
  const FmedaCell *only = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, type)) continue;
    only = cell;
    count++;
  }
  if (count != 1) return complement(sums->classes[CLASS_RESIDUAL], sums->used);
  if (fmeda->options->count_unused && only->drawn < 1)
    return share_rest(share_scaled(share_estimate(only->counts[CLASS_RESIDUAL], only->faults, fmeda->options->confidence), only->drawn));
  uint64_t used = only->faults - (fmeda->options->count_unused ? 0 : only->counts[CLASS_UNUSED]);
  return share_estimate(used - only->counts[CLASS_RESIDUAL], used, fmeda->options->confidence);
}

static void sum_type(const Fmeda *fmeda, uint32_t type, const RateCorner *rates, FmedaSums *sums) {
  EstimateSum classes[FAULT_CLASSES] = {0}, used = {0}, rest = {0};
  sums->is_known = true;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    if (!cell_counts(cell, type)) continue;
    double fit = cell_fit(cell, rates);
    sums->is_known &= fit > 0;
    sums->raw += fit;
    add(&used, fit, cell->used);
    add(&rest, fit, cell->rest);
    for (uint32_t c = 0; c < FAULT_CLASSES; c++) {
      if (c != CLASS_LATENT || cell->type == FMEDA_PERMANENT) add(&classes[c], fit, cell->shares[c]); // a transient does not stay
    }
  }
  sums->is_known &= sums->raw > 0;
  if (!sums->is_known) return; // of what has no rate nothing is known: a sum of the rest would hide it
  for (uint32_t c = 0; c < FAULT_CLASSES; c++) sums->classes[c] = sum_estimate(&classes[c], sums->raw);
  sums->used = sum_estimate(&used, sums->raw);
  sums->rest = sum_estimate(&rest, sums->raw);
  if (type < FMEDA_TYPES) sums->metrics[METRIC_SPFM] = spfm(fmeda, type, sums); // of both, the frequent one would hide the other
  if (type == FMEDA_PERMANENT) sums->metrics[METRIC_LFM] = complement(sums->classes[CLASS_LATENT], sums->rest); // transients do not stay
  sums->metrics[METRIC_PMHF] = sums->classes[CLASS_RESIDUAL];
}

// A latent fault comes first and stays for the rest of the life; then one that a mechanism would have found. As if any two of them did harm,
// and without the half for the order: an upper bound, in FIT.
static void add_dual(const Fmeda *fmeda, FmedaSums all[FMEDA_TYPES + 1]) {
  Estimate latent = all[FMEDA_PERMANENT].classes[CLASS_LATENT];
  for (uint32_t i = 0; i <= FMEDA_TYPES; i++) {
    FmedaSums *sums = &all[i];
    Estimate found = sums->classes[CLASS_DETECTED], *pmhf = &sums->metrics[METRIC_PMHF];
    if (!latent.is_known || !found.is_known) continue;
    double hours = fmeda->options->lifetime * 1e-9;
    sums->dual = (Estimate){true, latent.value * found.value * hours, latent.low * found.low * hours, latent.high * found.high * hours};
    pmhf->value += sums->dual.value;
    pmhf->low += sums->dual.low;
    pmhf->high += sums->dual.high;
  }
}

static void sum_all(const Fmeda *fmeda, const RateCorner *rates, FmedaSums sums[FMEDA_TYPES + 1]) {
  for (uint32_t i = 0; i < FMEDA_TYPES; i++) sum_type(fmeda, i, rates, &sums[i]);
  if (sums[FMEDA_TRANSIENT].is_known && sums[FMEDA_PERMANENT].is_known) sum_type(fmeda, FMEDA_TYPES, rates, &sums[FMEDA_TYPES]);
  add_dual(fmeda, sums);
}

static void hold(FmedaSums *sums, const FmedaSums *there) {
  estimate_hold(&sums->used, there->used);
  estimate_hold(&sums->rest, there->rest);
  estimate_hold(&sums->dual, there->dual);
  for (uint32_t c = 0; c < FAULT_CLASSES; c++) estimate_hold(&sums->classes[c], there->classes[c]);
  for (uint32_t m = 0; m < METRICS; m++) estimate_hold(&sums->metrics[m], there->metrics[m]);
}

void fmeda_sum(Fmeda *fmeda) {
  uint32_t corners = rates_corners(fmeda);
  sum_all(fmeda, &rates_as_given, fmeda->sums);
  for (uint32_t corner = 0; corner < corners && corners > 1; corner++) {
    RateCorner rates = rates_corner(fmeda, corner);
    FmedaSums there[FMEDA_TYPES + 1] = {0};
    sum_all(fmeda, &rates, there);
    for (uint32_t i = 0; i <= FMEDA_TYPES; i++) hold(&fmeda->sums[i], &there[i]);
  }
}

// ---- Coverage over structures ----------------------------------------------------------------------------

// Structures count by their rates; by their bits where none of them has one.
static double weight_of(const FmedaCell *cell, const RateCorner *rates) {
  return rates == NULL ? (double)cell->bits * cell->boards : cell_fit(cell, rates);
}

static const Coverage *find_coverage(const FmedaCell *cell, const char *mechanism) {
  if (mechanism == NULL) return cell->together.mechanism == NULL ? NULL : &cell->together;
  for (uint32_t i = 0; i < cell->coverages.count; i++) {
    if (strcmp(cell->coverages.items[i].mechanism, mechanism) == 0) return &cell->coverages.items[i];
  }
  return NULL;
}

// `rates` NULL: by bits.
static Estimate cover_at(const Fmeda *fmeda, FmedaType type, const char *mechanism, const RateCorner *rates) {
  EstimateSum danger = {0}, leaves = {0};
  uint32_t count = 0;
  double most = 0;
  Estimate only = {0};
  for (uint32_t i = 0; i < fmeda->cells.count; i++) {
    const FmedaCell *cell = &fmeda->cells.items[i];
    const Coverage *coverage = cell->type == type ? find_coverage(cell, mechanism) : NULL;
    double weight = weight_of(cell, rates);
    if (coverage == NULL || weight <= 0 || !coverage->danger.is_known || !coverage->leaves.is_known) continue;
    add(&danger, weight, coverage->danger);
    add(&leaves, weight, coverage->leaves);
    most += weight;
    only = coverage->share;
    count++;
  }
  if (count == 0) return rates == NULL ? (Estimate){0} : cover_at(fmeda, type, mechanism, NULL);
  return count == 1 ? only : complement(sum_estimate(&leaves, most), sum_estimate(&danger, most));
}

static Estimate cover_type(const Fmeda *fmeda, FmedaType type, const char *mechanism) {
  Estimate estimate = cover_at(fmeda, type, mechanism, &rates_as_given);
  uint32_t corners = rates_corners(fmeda);
  for (uint32_t corner = 0; corner < corners && corners > 1; corner++) {
    RateCorner rates = rates_corner(fmeda, corner);
    estimate_hold(&estimate, cover_at(fmeda, type, mechanism, &rates));
  }
  return estimate;
}

Estimate fmeda_coverage(const Fmeda *fmeda, FmedaType type, const char *mechanism) { return cover_type(fmeda, type, mechanism); }
Estimate fmeda_union(const Fmeda *fmeda, FmedaType type) { return cover_type(fmeda, type, NULL); }
