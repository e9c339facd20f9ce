// See statistics.h.
#include "campaign/statistics.h"

#include <math.h>

double normal_quantile(double confidence) {
  double low = 0, high = 40, goal = confidence < 0 ? 0 : confidence > 1 - 1e-15 ? 1 - 1e-15 : confidence;
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    if (erf(middle / sqrt(2)) < goal) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

Interval wilson_interval(uint64_t hits, uint64_t trials, double confidence) {
  if (trials == 0) return (Interval){0, 1};
  double n = (double)trials, p = (double)hits / n, z = normal_quantile(confidence), zz = z * z;
  double centre = (p + zz / (2 * n)) / (1 + zz / n);
  double half = z / (1 + zz / n) * sqrt(p * (1 - p) / n + zz / (4 * n * n));
  Interval interval = {centre - half, centre + half};
  if (hits == 0 || interval.low < 0) interval.low = 0;
  if (hits == trials || interval.high > 1) interval.high = 1;
  return interval;
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
