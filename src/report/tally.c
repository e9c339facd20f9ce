// Tallies of outcomes, and what is estimated from them.
#include "report/report.h"

#include <math.h>

const char *const report_groups[REPORT_GROUPS] = {"masked", "performance", "sdc", "order", "tolerated", "due", "corrected", "internal"};

const char *const due_parts[DUE_PARTS] = {"crash", "hang", "detected"};

const MeasureInfo measures[MEASURES] = {
    [MEASURE_SDC] = {"sdc_avf", "SDC-AVF"},
    [MEASURE_DUE] = {"due_avf", "DUE-AVF"},
    [MEASURE_AVF] = {"avf", "AVF"},
    [MEASURE_SDC_ORDER] = {"sdc_avf_with_order", "SDC-AVF with order"},
};

bool measure_counts(Measure measure, uint8_t outcome) {
  const char *group = outcome_info[outcome % OUTCOME_COUNT].group;
  bool is_sdc = strcmp(group, "sdc") == 0, is_due = strcmp(group, "due") == 0;
  switch (measure) {
  case MEASURE_SDC: return is_sdc;
  case MEASURE_DUE: return is_due;
  case MEASURE_SDC_ORDER: return is_sdc || strcmp(group, "order") == 0;
  default: return is_sdc || is_due;
  }
}

bool measure_is_shown(Measure measure, const Tally *all) { return measure != MEASURE_SDC_ORDER || tally_group(all, "order") > 0; }

void tally_add(Tally *tally, uint8_t outcome, uint64_t faults, double weight) {
  double count = (double)faults;
  tally->total += faults;
  tally->counts[outcome % OUTCOME_COUNT] += faults;
  tally->weight += count * weight;
  tally->squares += count * weight * weight;
  tally->weights[outcome % OUTCOME_COUNT] += count * weight;
}

uint64_t tally_group(const Tally *tally, const char *group) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? tally->counts[i] : 0;
  return sum;
}

uint64_t tally_part(const Tally *tally, const char *part) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].part, part) == 0 ? tally->counts[i] : 0;
  return sum;
}

uint64_t tally_hits(const Tally *tally, Measure measure) {
  uint64_t sum = 0;
  for (uint8_t i = 0; i < OUTCOME_COUNT; i++) sum += measure_counts(measure, i) ? tally->counts[i] : 0;
  return sum;
}

double tally_share(const Tally *tally, const char *group) {
  double sum = 0, undrawn = strcmp(group, "masked") == 0 ? tally->undrawn : 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) sum += strcmp(outcome_info[i].group, group) == 0 ? tally->weights[i] : 0;
  return undrawn + (tally->weight <= 0 ? 0 : (1 - tally->undrawn) * sum / tally->weight);
}

// By as many faults of equal weight as tell the same (Kish; statistics.h).
Estimate tally_estimate(const Tally *tally, Measure measure, double confidence) {
  double sum = 0;
  if (tally->total == 0 || tally->weight <= 0) return (Estimate){0};
  for (uint8_t i = 0; i < OUTCOME_COUNT; i++) sum += measure_counts(measure, i) ? tally->weights[i] : 0;
  double share = sum / tally->weight, drawn = 1 - tally->undrawn;
  Interval interval = wilson_share(share, tally->weight * tally->weight / tally->squares, confidence);
  return (Estimate){true, drawn * share, drawn * interval.low, drawn * interval.high};
}

Estimate estimate_times(Estimate estimate, double factor) {
  if (!estimate.is_known || factor <= 0) return (Estimate){0};
  return (Estimate){true, estimate.value * factor, estimate.low * factor, estimate.high * factor};
}

Estimate estimate_inverse(Estimate estimate, double numerator) {
  if (!estimate.is_known || estimate.high <= 0) return (Estimate){0};
  double value = estimate.value > 0 ? numerator / estimate.value : INFINITY;
  return (Estimate){true, value, numerator / estimate.high, estimate.low > 0 ? numerator / estimate.low : INFINITY};
}
