// See statistics.h.
#include "journal/statistics.h"

#include <math.h>

const char confidence_rule[] = "must be a number between 0.5 and 1";

bool confidence_is_possible(double confidence) { return confidence > 0.5 && confidence < 1; }

double normal_quantile(double confidence) {
  double low = 0, high = 40, goal = confidence < 0 ? 0 : confidence > 1 - 1e-15 ? 1 - 1e-15 : confidence;
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    if (erf(middle / sqrt(2)) < goal) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

Interval wilson_share(double p, double n, double confidence) {
  if (n <= 0) return (Interval){0, 1};
  double z = normal_quantile(confidence), zz = z * z;
  double centre = (p + zz / (2 * n)) / (1 + zz / n);
  double half = z / (1 + zz / n) * sqrt(fmax(p * (1 - p), 0) / n + zz / (4 * n * n));
  Interval interval = {centre - half, centre + half};
  if (p <= 0 || interval.low < 0) interval.low = 0;
  if (p >= 1 || interval.high > 1) interval.high = 1;
  return interval;
}

Interval wilson_interval(uint64_t hits, uint64_t trials, double confidence) {
  return wilson_share(trials == 0 ? 0 : (double)hits / (double)trials, (double)trials, confidence);
}

bool wilson_is_tight(uint64_t hits, uint64_t trials, double drawn, double margin, double confidence) {
  Interval interval = wilson_interval(hits, trials, confidence);
  return drawn * (interval.high - interval.low) / 2 <= margin;
}

// How much the two shares go together, from -1 to 1; with the paper's continuity correction for positive ones.
static double paired_correlation(PairedCounts counts) {
  double a = counts.both, b = counts.first, c = counts.second, d = counts.neither;
  double margins = (a + b) * (c + d) * (a + c) * (b + d), cross = a * d - b * c;
  if (margins == 0) return 0;
  if (cross > 0) cross = fmax(cross - (a + b + c + d) / 2, 0);
  return cross / sqrt(margins);
}

// Distance of a limit from the difference, when one share may be off by x in one direction and the other by y in the other.
static double paired_distance(double x, double y, double correlation) { return sqrt(fmax(x * x - 2 * correlation * x * y + y * y, 0)); }

Interval paired_interval(PairedCounts counts, double weight_1, double weight_2, double confidence) {
  double hits_1 = counts.both + counts.first, hits_2 = counts.both + counts.second, trials = hits_1 + counts.second + counts.neither;
  if (trials <= 0) return (Interval){-weight_2, weight_1};
  double p1 = hits_1 / trials, p2 = hits_2 / trials, correlation = paired_correlation(counts), value = weight_1 * p1 - weight_2 * p2;
  Interval w1 = wilson_share(p1, trials, confidence), w2 = wilson_share(p2, trials, confidence);
  return (Interval){value - paired_distance(weight_1 * (p1 - w1.low), weight_2 * (w2.high - p2), correlation),
                    value + paired_distance(weight_1 * (w1.high - p1), weight_2 * (p2 - w2.low), correlation)};
}

Interval difference_interval(double share_1, Interval interval_1, double share_2, Interval interval_2) {
  return (Interval){share_1 - share_2 - paired_distance(share_1 - interval_1.low, interval_2.high - share_2, 0),
                    share_1 - share_2 + paired_distance(interval_1.high - share_1, share_2 - interval_2.low, 0)};
}

void estimate_sum_add(EstimateSum *sum, double weight, double value, Interval interval) {
  double below = weight * (value - interval.low), above = weight * (interval.high - value);
  sum->value += weight * value;
  sum->below += weight > 0 ? below * below : above * above;
  sum->above += weight > 0 ? above * above : below * below;
}

Interval estimate_sum_interval(const EstimateSum *sum) { return (Interval){sum->value - sqrt(sum->below), sum->value + sqrt(sum->above)}; }

// The first less r times the second, at its lower or its upper limit.
static double ratio_low(double r, double value_1, double below_1, double value_2, double above_2) {
  return value_1 - r * value_2 - paired_distance(below_1, r * above_2, 0);
}
static double ratio_high(double r, double value_1, double above_1, double value_2, double below_2) {
  return value_1 - r * value_2 + paired_distance(above_1, r * below_2, 0);
}

Interval ratio_interval(double value_1, Interval interval_1, double value_2, Interval interval_2) {
  double below_1 = value_1 - interval_1.low, above_1 = interval_1.high - value_1;
  double below_2 = value_2 - interval_2.low, above_2 = interval_2.high - value_2;
  Interval found = {0, INFINITY};
  if (value_2 <= 0) return found;
  double low = 0, high = value_1 / value_2;
  for (int i = 0; i < 100; i++) {
    double middle = (low + high) / 2;
    *(ratio_low(middle, value_1, below_1, value_2, above_2) > 0 ? &low : &high) = middle;
  }
  found.low = low;
  if (interval_2.low <= 0) return found;
  low = value_1 / value_2;
  for (high = 2 * low + 1; ratio_high(high, value_1, above_1, value_2, below_2) > 0 && high < 1e300;) high *= 2;
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    *(ratio_high(middle, value_1, above_1, value_2, below_2) > 0 ? &low : &high) = middle;
  }
  found.high = high;
  return found;
}

uint64_t sample_size(double population, double margin, double confidence) {
  double t = normal_quantile(confidence), n = population / (1 + margin * margin * (population - 1) / (t * t * 0.25));
  return (uint64_t)ceil(n);
}

double sample_margin(double population, uint64_t sample, double confidence) {
  double t = normal_quantile(confidence), n = (double)sample;
  if (sample == 0 || n >= population) return sample == 0 ? 1 : 0;
  return t * sqrt(0.25 / n * (population - n) / (population - 1));
}
