// How sure the rates are that the FMEDA's figures are made of (rates.c says how the two uncertainties come together). SPFM, LFM and coverages are ratios of
// sums: with a single rate it cancels, with several the ratio is least or most where each rate is at one of its ends. So all of these corners are looked at.
#include "report/fmeda_internal.h"

#include <math.h>

#define EACH_SCALE_8 1, 1, 1, 1, 1, 1, 1, 1
const RateCorner rates_as_given = {
    {EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8, EACH_SCALE_8}};

static double factor_of(const Fmeda *fmeda, uint32_t rate) {
  if (rate >= RATES) return fmax(fmeda->options->rates.items[rate - RATES].factor, 1);
  return rate_factor(fmeda->journals.items[0].report->meta->settings, (RateId)rate);
}

// Those that some structure of the figures has, and that have a factor.
static uint32_t unsure_rates(const Fmeda *fmeda, uint32_t rates[MOST_RATES]) {
  uint64_t used = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) used |= fmeda->cells.items[i].rates;
  for (uint32_t i = 0; i < MOST_RATES; i++) {
    if ((used >> i & 1) != 0 && factor_of(fmeda, i) > 1) rates[count++] = i;
  }
  return count;
}

bool rates_check(const Fmeda *fmeda, Diags *diags) {
  uint32_t rates[MOST_RATES], count = unsure_rates(fmeda, rates);
  if (count <= MOST_UNSURE) return true;
  return diags_add(diags, NULL, 0, 0, "%u rates have a factor, and at most %u can: give some --rate without one", count, MOST_UNSURE);
}

uint32_t rates_corners(const Fmeda *fmeda) {
  uint32_t rates[MOST_RATES];
  return 1u << unsure_rates(fmeda, rates);
}

RateCorner rates_corner(const Fmeda *fmeda, uint32_t corner) {
  uint32_t rates[MOST_RATES], count = unsure_rates(fmeda, rates);
  RateCorner at = rates_as_given;
  for (uint32_t i = 0; i < count; i++)
    at.scale[rates[i]] = (corner >> i & 1) != 0 ? factor_of(fmeda, rates[i]) : 1 / factor_of(fmeda, rates[i]);
  return at;
}

double cell_fit(const FmedaCell *cell, const RateCorner *corner) {
  double fit = cell->fit;
  for (uint32_t i = 0; i < MOST_RATES; i++) fit *= (cell->rates >> i & 1) != 0 ? corner->scale[i] : 1;
  return fit;
}

double cell_rate_factor(const Fmeda *fmeda, const FmedaCell *cell) {
  double factor = 1;
  for (uint32_t i = 0; i < MOST_RATES; i++) factor *= (cell->rates >> i & 1) != 0 ? factor_of(fmeda, i) : 1;
  return factor;
}

void estimate_hold(Estimate *estimate, Estimate there) {
  if (!estimate->is_known || !there.is_known) return;
  estimate->low = fmin(estimate->low, there.low);
  estimate->high = fmax(estimate->high, there.high);
}

void fmeda_rates_text(const Fmeda *fmeda, Text *out) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < fmeda->cells.count; i++) used |= fmeda->cells.items[i].fit > 0 ? fmeda->cells.items[i].rates : 0;
  text_add(out, rates_corners(fmeda) > 1 ? "Intervals: the sampling" : "Intervals: the sampling's alone");
  Text machine = {0};
  rates_text(fmeda->journals.items[0].report->meta->settings, (uint32_t)used & ((1u << RATES) - 1), &machine);
  if (machine.length > 0) text_add(out, "; %s", machine.at);
  text_free(&machine);
  for (uint32_t i = 0; i < fmeda->options->rates.count; i++) {
    const FmedaRate *rate = &fmeda->options->rates.items[i];
    if (rate->factor > 1) text_add(out, "; %s:%s up to %.4g times (--rate)", fmeda_types[rate->type], rate->structure, rate->factor);
    else text_add(out, "; no uncertainty is given for %s:%s (--rate)", fmeda_types[rate->type], rate->structure);
  }
  text_add(out, ".");
}
