// How our number stands to a published one. Where there is chance in ours, its interval decides; elsewhere the plain difference.
#include "study/study.h"

#include <math.h>
#include <stdlib.h>

const char *const finding_names[FINDINGS] = {"agrees", "agrees in part", "differs", "not decided", "cannot be compared", "not judged"};

static bool read_number(const char **text, double *number) {
  char *end;
  *number = strtod(*text, &end);
  bool good = end != *text && isfinite(*number);
  *text = end + strspn(end, " ");
  return good;
}

bool published_parse(const char *text, Published *published) {
  *published = (Published){.low = -INFINITY, .high = INFINITY};
  text += strspn(text, " ");
  bool below = *text == '<', above = *text == '>';
  if (below || above) {
    text += text[1] == '=' ? 2 : 1;
    return read_number(&text, below ? &published->high : &published->low) && *text == '\0';
  }
  if (!read_number(&text, &published->low)) return false;
  published->high = published->low;
  if (strncmp(text, "..", 2) == 0) {
    text += 2;
    if (!read_number(&text, &published->high)) return false;
  }
  return *text == '\0' && published->low <= published->high;
}

bool tolerance_parse(const char *text, Tolerance *tolerance) {
  double number;
  *tolerance = (Tolerance){0};
  if (!read_number(&text, &number) || number < 0) return false;
  if (*text == '%') tolerance->relative = number / 100, text += 1 + strspn(text + 1, " ");
  else tolerance->absolute = number;
  return *text == '\0';
}

static double allowed(Tolerance tolerance, double published) { return tolerance.absolute + tolerance.relative * fabs(published); }

// All of the interval inside the range that agrees: yes; all of it outside: no. One that reaches over an end is good enough if our value lies
// inside and the interval is no wider than the range: then chance alone explains it. A bound (<1.5) has no such range.
static Finding compare(const Ours *ours, double low, double high) {
  if (isnan(ours->value)) return FINDING_NOT_DECIDED;
  if (ours->low > high || ours->high < low) return FINDING_DIFFERS;
  if (ours->low >= low && ours->high <= high) return FINDING_AGREES;
  bool inside = ours->value >= low && ours->value <= high, is_bound = isinf(low) || isinf(high);
  return inside && !is_bound && ours->high - ours->low <= high - low ? FINDING_AGREES : FINDING_NOT_DECIDED;
}

Finding finding_of_figure(const Ours *ours, const Published *published, Tolerance tolerance) {
  double low = published->low - (isfinite(published->low) ? allowed(tolerance, published->low) : 0);
  double high = published->high + (isfinite(published->high) ? allowed(tolerance, published->high) : 0);
  return compare(ours, low, high);
}

Finding finding_of_trend(const Ours *ours) {
  if (isnan(ours->value)) return FINDING_NOT_DECIDED;
  if (ours->low > 0) return FINDING_AGREES;
  return ours->high <= 0 ? FINDING_DIFFERS : FINDING_NOT_DECIDED;
}

// Of pairs without any difference one in twenty is clear by chance, at 95%: a few clear ones decide nothing.
Finding finding_of_group(const Finding *findings, uint32_t count) {
  uint32_t counts[FINDINGS] = {0};
  for (uint32_t i = 0; i < count; i++) counts[findings[i]]++;
  uint32_t follow = counts[FINDING_AGREES], oppose = counts[FINDING_DIFFERS];
  if (follow + oppose == 0 || follow + oppose < counts[FINDING_NOT_DECIDED]) return FINDING_NOT_DECIDED;
  if (oppose == 0) return FINDING_AGREES;
  return follow > oppose ? FINDING_IN_PART : FINDING_DIFFERS;
}

Finding finding_of_all(const Finding *findings, uint32_t count) {
  uint32_t counts[FINDINGS] = {0};
  for (uint32_t i = 0; i < count; i++) counts[findings[i]]++;
  if (count == 0) return FINDING_CANNOT;
  for (uint32_t i = 0; i < FINDINGS; i++) {
    if (counts[i] == count) return (Finding)i;
  }
  if (counts[FINDING_AGREES] + counts[FINDING_IN_PART] > 0) return FINDING_IN_PART;
  return counts[FINDING_DIFFERS] > 0 ? FINDING_DIFFERS : FINDING_NOT_DECIDED;
}
