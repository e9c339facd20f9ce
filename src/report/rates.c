// Raw rates and how sure they are. A machine file gives a rate and a factor: the rate may be so many times larger or smaller, alike on a scale of logarithms.
//
// How the two uncertainties come together: an interval of a FIT holds the sampling's intervals for every rate within its factor. Rates say nothing of how
// likely each of their values is, and their sources do not either, so the extremes are taken, not squares added. Structures of one rate have it in common:
// all of them are at its lower end, or all at its upper. A sum of FITs grows with every rate, and so do the limits of its interval (the lower one: since no
// limit is below 0). So its interval goes from the lower limit at the lowest rates to the upper limit at the highest.
#include "report/report_internal.h"

#include <math.h>
#include <stdlib.h>

const char *const rate_keys[RATES] = {[RATE_SRAM] = "fit.sram",
                                      [RATE_DRAM] = "fit.dram",
                                      [RATE_ADJACENT2] = "fit.adjacent2",
                                      [RATE_ADJACENT3] = "fit.adjacent3",
                                      [RATE_PERMANENT] = "fit.permanent"};

double setting_of(const char *settings, const char *key) {
  size_t length = strlen(key);
  for (const char *line = settings; line != NULL && *line != '\0'; line = *line == '\n' ? line + 1 : strchr(line, '\n')) {
    if (strncmp(line, key, length) == 0 && line[length] == '=') return strtod(line + length + 1, NULL);
  }
  return 0;
}

// Journals of other programs, and damaged ones, may say anything.
double rate_factor(const char *settings, RateId rate) {
  char key[32];
  snprintf(key, sizeof key, "%s_factor", rate_keys[rate]);
  double factor = setting_of(settings, key) / 1000;
  return factor >= 1 && factor <= MOST_RATE_FACTOR ? factor : 1;
}

uint32_t rates_of(const char *model, uint8_t kind) {
  uint32_t single = 1u << (kind == KIND_MEMORY ? RATE_DRAM : RATE_SRAM);
  if (strcmp(model, "flip") == 0 || strcmp(model, "adjacent(1)") == 0) return single;
  if (strcmp(model, "adjacent(2)") == 0) return single | 1u << RATE_ADJACENT2;
  if (strcmp(model, "adjacent(3)") == 0) return single | 1u << RATE_ADJACENT3;
  return strcmp(model, "stuck0") == 0 || strcmp(model, "stuck1") == 0 ? 1u << RATE_PERMANENT : 0;
}

double structure_rate_factor(const Report *report, const StructureSummary *structure) {
  uint32_t rates = structure->fit_per_mbit > 0 ? rates_of(report->meta->model, structure->kind) : 0;
  double factor = 1;
  for (uint32_t i = 0; i < RATES; i++) factor *= (rates >> i & 1) != 0 ? rate_factor(report->meta->settings, (RateId)i) : 1;
  return factor;
}

Estimate estimate_rate(Estimate share, double rate, double factor) {
  if (!share.is_known || rate <= 0) return (Estimate){0};
  return (Estimate){true, share.value * rate, share.low * rate * (share.low < 0 ? factor : 1 / factor),
                    share.high * rate * (share.high > 0 ? factor : 1 / factor)};
}

// "up to 4 (fit.sram_factor) and 10 (fit.dram_factor) times larger or smaller"; which of them have no factor.
void rates_text(const char *settings, uint32_t rates, Text *out) {
  const char *before = "raw rates up to ", *without = "";
  Text exact = {0};
  for (uint32_t i = 0; i < RATES; i++) {
    double factor = rate_factor(settings, (RateId)i);
    if ((rates >> i & 1) == 0) continue;
    if (factor > 1) {
      text_add(out, "%s%.4g (%s_factor)", before, factor, rate_keys[i]);
      before = " and ";
    } else {
      text_add(&exact, "%s%s", without, rate_keys[i]);
      without = " and ";
    }
  }
  bool any = strcmp(before, " and ") == 0;
  if (any) text_add(out, " times larger or smaller, which more faults do not narrow");
  if (exact.length > 0) text_add(out, "%sno uncertainty is given for %s", any ? "; " : "", exact.at);
  text_free(&exact);
}

void report_rates_text(const Report *report, Text *out) {
  uint32_t rates = 0;
  bool is_unsure = false;
  for (uint32_t i = 0; i < report->structures.count; i++) {
    const StructureSummary *structure = &report->structures.items[i];
    if (structure->tally.total == 0 || structure->fit_per_mbit <= 0) continue;
    rates |= rates_of(report->meta->model, structure->kind);
    is_unsure |= structure_rate_factor(report, structure) > 1;
  }
  text_add(out, "%s", "");
  if (rates == 0) return;
  text_add(out, "Intervals: %s", is_unsure ? "the sampling, and " : "the sampling's alone; ");
  rates_text(report->meta->settings, rates, out);
}
