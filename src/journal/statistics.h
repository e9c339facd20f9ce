// Statistics of campaigns: how sure a share is, and how many faults it takes.
#ifndef REDOUBT_STATISTICS_H
#define REDOUBT_STATISTICS_H

#include "base/base.h"

typedef struct Interval {
  double low, high;
} Interval;

// Whoever asks for one: between 0.5 and 1. The rule is what those are told whose confidence is not.
extern const char confidence_rule[];
bool confidence_is_possible(double confidence);
// x with P(|N(0,1)| < x) = confidence: 0.95 -> 1.95996.
double normal_quantile(double confidence);
// Wilson's score interval for `hits` of `trials`; 0..1 without trials.
Interval wilson_interval(uint64_t hits, uint64_t trials, double confidence);
// The interval reaches no farther than `margin` from its middle, once it is multiplied by `drawn`: the share that the trials are drawn from.
bool wilson_is_tight(uint64_t hits, uint64_t trials, double drawn, double margin, double confidence);
// The same for a share that comes from as much as `trials` of equal weight. Of trials with weights that is the square of the weights' sum
// over the sum of their squares (Kish, Survey Sampling, 1965).
Interval wilson_share(double share, double trials, double confidence);
// The same things looked at twice: how many are hits both times, the first time alone, the second time alone, never. With weights:
// how many equally weighted things would tell as much.
typedef struct PairedCounts {
  double both, first, second, neither;
} PairedCounts;
// For the first share times its weight less the second times its own. Where both weights are 1 it is Newcombe's method 10 (Statistics in Medicine 17,
// 1998, pages 2635 to 2650), which puts the two shares' Wilson intervals together with the correlation between them; other weights scale those
// intervals first. -weight_2..weight_1 without any.
Interval paired_interval(PairedCounts counts, double weight_1, double weight_2, double confidence);
// For the first share less the second, of two samples that have nothing to do with each other: Newcombe's method 10 for independent
// proportions (Statistics in Medicine 17, 1998, pages 873 to 890).
Interval difference_interval(double share_1, Interval interval_1, double share_2, Interval interval_2);
// A sum of independent estimates, each times its weight, when the interval of each is known (Zou and Donner, Statistics in Medicine 27, 2008, pages
// 1693 to 1702: the method of variance estimates recovery). Zero-initialise.
typedef struct EstimateSum {
  double value, below, above; // the sum; squares of how far the limits lie from it
} EstimateSum;
void estimate_sum_add(EstimateSum *sum, double weight, double value, Interval interval);
Interval estimate_sum_interval(const EstimateSum *sum); // may reach below 0
// Of one estimate over another, neither below 0, by the same method: the ratios for which the first less ratio times the second may be 0
// (Donner and Zou, Statistical Methods in Medical Research 21, 2012, pages 347 to 359). high is infinite where the second may be 0.
Interval ratio_interval(double value_1, Interval interval_1, double value_2, Interval interval_2);
// Leveugle et al., DATE 2009: faults needed for that margin when each of `population` possible ones is equally likely, p = 0.5.
uint64_t sample_size(double population, double margin, double confidence);
double sample_margin(double population, uint64_t sample, double confidence); // its inverse

#endif
