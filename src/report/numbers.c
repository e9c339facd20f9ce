// Numbers for people: three digits at most, whatever is printed. CSV and JSON keep all of them. Pages do the same (common.js).
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_WITH_EXPONENT = 5, LAST_WITH_EXPONENT = -4, MOST_DECIMALS = 8 };

static NumberText fixed(double value, int decimals) {
  NumberText text;
  snprintf(text.at, sizeof text.at, "%.*f", decimals < 0 ? 0 : decimals > MOST_DECIMALS ? MOST_DECIMALS : decimals, value);
  return text;
}

NumberText number_text(double value) {
  NumberText text;
  if (value == 0) return (NumberText){"0"};
  snprintf(text.at, sizeof text.at, "%.2e", value); // rounded, so that 9.996 has the exponent of 10
  int exponent = isfinite(value) ? atoi(strchr(text.at, 'e') + 1) : 0;
  if (!isfinite(value) || exponent >= FIRST_WITH_EXPONENT || exponent <= LAST_WITH_EXPONENT) return text;
  return fixed(strtod(text.at, NULL), 2 - exponent);
}

// Decimals of a percentage, so that it has so many digits from its ones on.
static int decimals_of(double percent, int digits) {
  int decimals = digits - 1;
  for (double bound = 10; decimals > 0 && fabs(strtod(fixed(percent, decimals).at, NULL)) >= bound; bound *= 10) decimals--;
  return decimals;
}

static NumberText percent_in(double percent, int digits) {
  NumberText text;
  if (percent == 0) return (NumberText){"0"};
  if (percent > 0 && percent < 0.001) return (NumberText){"<0.001"};
  if (fabs(percent) >= 0.1) return fixed(percent, decimals_of(percent, digits));
  snprintf(text.at, sizeof text.at, "%.2g", percent);
  return text;
}

static bool is_all(double percent, int digits) { return percent < 100 && strcmp(percent_in(percent, digits).at, "100") == 0; }

// What is not all is not shown as 100.
static NumberText percent_digits(double share, int digits) {
  double percent = 100 * share;
  if (is_all(percent, digits)) return digits == 2 ? (NumberText){">99"} : (NumberText){">99.9"};
  return percent_in(percent, digits);
}

NumberText percent_text(double share) { return percent_digits(share, 3); }

// Away from the value, where a digit less would otherwise make the interval narrower than it is, or end it at all or nothing.
static NumberText limit_digits(double share, int digits, bool is_low) {
  double percent = 100 * share;
  if (is_low && is_all(percent, digits)) return digits == 2 ? (NumberText){"99"} : (NumberText){"99.9"};
  if (digits == 2 && decimals_of(percent, digits) == 0) percent = is_low ? floor(percent) : ceil(percent);
  return percent_in(percent, digits);
}

NumberText percent_limit(double share, bool is_low) { return limit_digits(share, 3, is_low); }

const char *estimate_text(Estimate estimate, EstimateForm form, char text[ESTIMATE_TEXT]) {
  NumberText middle, low, high;
  int digits = form == AS_SHORT_PERCENT ? 2 : 3;
  if (form == AS_NUMBER) {
    middle = number_text(estimate.value);
    low = number_text(estimate.low);
    high = number_text(estimate.high);
  } else {
    middle = percent_digits(estimate.value, digits);
    low = limit_digits(estimate.low, digits, true);
    high = limit_digits(estimate.high, digits, false);
    // No more decimals than the value has: "0.80 (0.09 to 6.47)", as long as that is not 0.
    bool is_fine = 100 * estimate.low >= 0.01 && 100 * estimate.low < 0.1 && 100 * estimate.value >= 0.1;
    if (is_fine) low = fixed(100 * estimate.low, digits - 1);
  }
  if (!estimate.is_known) snprintf(text, ESTIMATE_TEXT, "-");
  else if (isinf(estimate.value)) snprintf(text, ESTIMATE_TEXT, "more than %s", low.at);
  else if (isinf(estimate.high)) snprintf(text, ESTIMATE_TEXT, "%s (more than %s)", middle.at, low.at);
  else snprintf(text, ESTIMATE_TEXT, "%s (%s to %s)", middle.at, low.at, high.at);
  return text;
}
