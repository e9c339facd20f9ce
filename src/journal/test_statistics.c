// Statistics against published values and against each other.
#include "journal/statistics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_near(double got, double expected, double tolerance) {
  if (fabs(got - expected) > tolerance) fail_msg("%.9g instead of %.9g", got, expected);
}

// Two-sided quantiles of the normal distribution, from tables.
static void test_quantiles(void **state) {
  (void)state;
  assert_near(normal_quantile(0.90), 1.644854, 1e-6);
  assert_near(normal_quantile(0.95), 1.959964, 1e-6);
  assert_near(normal_quantile(0.99), 2.575829, 1e-6);
  assert_near(normal_quantile(0.998), 3.090232, 1e-6);
}

// Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29 at 95%.
static void test_wilson(void **state) {
  (void)state;
  static const struct {
    uint64_t hits, trials;
    double low, high;
  } cases[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0.0, 0.1611}, {1, 29, 0.0061, 0.1718}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Interval interval = wilson_interval(cases[i].hits, cases[i].trials, 0.95);
    assert_near(interval.low, cases[i].low, 5e-5);
    assert_near(interval.high, cases[i].high, 5e-5);
  }
}

static void test_wilson_at_its_ends(void **state) {
  (void)state;
  Interval none = wilson_interval(0, 0, 0.99), never = wilson_interval(0, 1000, 0.99), always = wilson_interval(1000, 1000, 0.99);
  assert_true(none.low == 0 && none.high == 1);
  assert_true(never.low == 0 && never.high > 0 && never.high < 0.01);
  assert_true(always.high == 1 && always.low < 1 && always.low > 0.99);
}

// Weights: as wide as for the number of equally weighted trials that tell as much.
static void test_weighted(void **state) {
  (void)state;
  Interval whole = wilson_interval(30, 120, 0.95), same = wilson_share(0.25, 120, 0.95), fewer = wilson_share(0.25, 60, 0.95);
  assert_true(whole.low == same.low && whole.high == same.high);
  assert_true(fewer.low < same.low && fewer.high > same.high);
  Interval none = wilson_share(0, 0, 0.95), never = wilson_share(0, 33.5, 0.95), always = wilson_share(1, 33.5, 0.95);
  assert_true(none.low == 0 && none.high == 1 && never.low == 0 && never.high < 0.2 && always.high == 1 && always.low > 0.8);
}

// Newcombe 1998 (paired data), table II, method 10, at 95%; the last is the example of Fagerland, Lydersen and Laake,
// Statistics in Medicine 33 (2014), which gives three digits.
static void test_paired(void **state) {
  (void)state;
  static const struct {
    PairedCounts counts;
    double low, high, digits;
  } cases[] = {{{36, 12, 2, 0}, 0.0569, 0.3404, 5e-5},
               {{18, 12, 2, 18}, 0.0562, 0.3290, 5e-5},
               {{53, 0, 0, 1}, -0.0729, 0.0729, 5e-5},
               {{0, 30, 0, 0}, 0.8395, 1.0, 5e-5},
               {{1, 1, 7, 12}, -0.507, -0.026, 5e-4}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    Interval interval = paired_interval(cases[i].counts, 1, 1, 0.95);
    assert_near(interval.low, cases[i].low, cases[i].digits);
    assert_near(interval.high, cases[i].high, cases[i].digits);
  }
}

// Exchanged it is the same with the other sign; sure of more it is wider; without any pair it says nothing; large counts are fine.
static void test_paired_at_its_ends(void **state) {
  (void)state;
  Interval there = paired_interval((PairedCounts){5, 9, 2, 100}, 1, 1, 0.99),
           back = paired_interval((PairedCounts){5, 2, 9, 100}, 1, 1, 0.99);
  assert_near(there.low, -back.high, 1e-12);
  assert_near(there.high, -back.low, 1e-12);
  Interval less = paired_interval((PairedCounts){5, 9, 2, 100}, 1, 1, 0.9);
  assert_true(less.low > there.low && less.high < there.high);
  Interval none = paired_interval((PairedCounts){0}, 1, 1, 0.99);
  assert_true(none.low == -1 && none.high == 1);
  Interval same = paired_interval((PairedCounts){0, 0, 0, 1000}, 1, 1, 0.99); // no fault did harm: still not sure that none ever does
  assert_true(same.low < 0 && same.low > -0.01 && same.high > 0 && same.high < 0.01);
  Interval large = paired_interval((PairedCounts){1000000, 900000, 100000, 998000000}, 1, 1, 0.99);
  assert_true(large.low > 0.00079 && large.low < 0.0008 && large.high > 0.0008 && large.high < 0.00081);
}

// Weights scale the shares and their Wilson intervals: 3 x 0.6 less 0.4; 1 x 0.6 alone has Wilson's interval. By a script of the formulas.
static void test_paired_with_weights(void **state) {
  (void)state;
  const PairedCounts counts = {18, 12, 2, 18};
  Interval three = paired_interval(counts, 3, 1, 0.95), one = paired_interval(counts, 1, 0, 0.95), share = wilson_share(0.6, 50, 0.95);
  assert_near(three.low, 1.0279238243656046, 1e-9);
  assert_near(three.high, 1.7336543176417447, 1e-9);
  assert_near(one.low, share.low, 1e-12);
  assert_near(one.high, share.high, 1e-12);
}

// Leveugle et al., DATE 2009: 9,604 faults give 1% at 95%; at 99% it is 0.25 * (2.5758 / 0.01)^2.
static void test_sample_size(void **state) {
  (void)state;
  assert_int_equal(sample_size(1e15, 0.01, 0.95), 9604);
  assert_int_equal(sample_size(1e15, 0.01, 0.99), 16588);
  assert_int_equal(sample_size(1e15, 0.05, 0.95), 385);
  assert_int_equal(sample_size(100, 0.0001, 0.99), 100); // never more than there are
}

static void test_margin_is_the_inverse(void **state) {
  (void)state;
  for (double margin = 0.002; margin < 0.2; margin *= 1.7) {
    uint64_t size = sample_size(5e7, margin, 0.99);
    assert_true(sample_margin(5e7, size, 0.99) <= margin);
    assert_true(sample_margin(5e7, size - 1, 0.99) > margin * 0.999);
    assert_true(sample_margin(5e7, size - size / 10, 0.99) > margin);
  }
  assert_true(sample_margin(1000, 1000, 0.99) == 0);
  assert_true(sample_margin(1000, 0, 0.99) == 1);
}

// How often the interval holds the truth where a campaign looks at it after each batch and ends as soon as it is narrow: 2,000 campaigns of each share.
// They end after different counts, and where hits are few that favours ends with too few of them.
static void test_ends_when_sure(void **state) {
  (void)state;
  const struct {
    double share, margin;
    uint32_t batch;
  } cases[] = {{0.012, 0.002, 512}, {0.05, 0.01, 512}, {0.3, 0.02, 512}, {0.002, 0.002, 512}, {0.004, 0.0015, 2048}};
  enum { CAMPAIGNS = 2000 };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    uint64_t held = 0, least = UINT64_MAX, most = 0;
    for (uint64_t campaign = 0; campaign < CAMPAIGNS; campaign++) {
      uint64_t hits = 0, settled = 0;
      do {
        for (uint32_t k = 0; k < cases[i].batch; k++, settled++)
          hits += random_unit_f64(random_draw(i, campaign, settled)) < cases[i].share;
      } while (!wilson_is_tight(hits, settled, 1, cases[i].margin, 0.95));
      Interval interval = wilson_interval(hits, settled, 0.95);
      held += interval.low <= cases[i].share && cases[i].share <= interval.high;
      least = min_u64(least, settled);
      most = max_u64(most, settled);
    }
    // 95% of 2,000 are 1,900, give or take 9.7; Wilson's interval itself holds between 94 and 98% of them, since hits are whole.
    if (held < 1860 || held > 1970) fail_msg("share %g, margin %g: %d of %d hold", cases[i].share, cases[i].margin, (int)held, CAMPAIGNS);
    assert_true(most > least);
  }
}

// Over a number that is known exactly it is the first estimate's interval, scaled; over one that may be 0 it has no end. How often it
// holds the truth: 2,000 pairs of samples.
static void test_ratio(void **state) {
  (void)state;
  Interval known = ratio_interval(3, (Interval){2, 5}, 4, (Interval){4, 4});
  assert_near(known.low, 0.5, 1e-9);
  assert_near(known.high, 1.25, 1e-9);
  assert_true(isinf(ratio_interval(3, (Interval){2, 5}, 4, (Interval){0, 9}).high));
  assert_near(ratio_interval(0, (Interval){0, 1}, 4, (Interval){2, 6}).low, 0, 1e-12);
  uint32_t held = 0;
  for (uint64_t round = 0; round < 2000; round++) {
    uint64_t hits[2] = {0};
    for (uint64_t i = 0; i < 200; i++) {
      hits[0] += random_unit_f64(random_draw(1, round, i)) < 0.1;
      hits[1] += random_unit_f64(random_draw(2, round, i)) < 0.3;
    }
    Interval ratio = ratio_interval((double)hits[0] / 200, wilson_interval(hits[0], 200, 0.95), (double)hits[1] / 200,
                                    wilson_interval(hits[1], 200, 0.95));
    held += ratio.low <= 1.0 / 3 && 1.0 / 3 <= ratio.high;
  }
  assert_true(held >= 1860 && held <= 1940); // 1900, give or take four times 9.7
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles),
      cmocka_unit_test(test_ratio),
      cmocka_unit_test(test_wilson),
      cmocka_unit_test(test_wilson_at_its_ends),
      cmocka_unit_test(test_weighted),
      cmocka_unit_test(test_paired),
      cmocka_unit_test(test_paired_at_its_ends),
      cmocka_unit_test(test_paired_with_weights),
      cmocka_unit_test(test_sample_size),
      cmocka_unit_test(test_margin_is_the_inverse),
      cmocka_unit_test(test_ends_when_sure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
