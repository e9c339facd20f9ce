// Ratios of statistics; see ratio.h and ratio.def.
#include "cli/ratio.h"

// A sum has one or two terms: the second is STAT_COUNT where there is none.
#define SUM_OF(a, b, ...) \
  { STAT_##a, STAT_##b }
#define SUM(...) SUM_OF(__VA_ARGS__, COUNT, COUNT)
const RatioInfo ratio_info[RATIO_COUNT] = {
#define RATIO(id, name, above, below, meaning) [RATIO_##id] = {name, meaning, above, below},
#include "cli/ratio.def"
#undef RATIO
};

static uint64_t sum(const Stats *stats, const StatId terms[RATIO_MOST_TERMS]) {
  uint64_t total = 0;
  for (int i = 0; i < RATIO_MOST_TERMS && terms[i] != STAT_COUNT; i++) total += stats->value[terms[i]];
  return total;
}

bool ratio_value(RatioId ratio, const Stats *stats, double *value) {
  uint64_t above = sum(stats, ratio_info[ratio].above), below = sum(stats, ratio_info[ratio].below);
  if (below == 0) return false;
  *value = (double)above / (double)below;
  return true;
}

bool ratio_occupancy(const Stats *stats, const Spec *spec, double *value) {
  if (!ratio_value(RATIO_RESIDENT_WARPS, stats, value)) return false;
  *value /= (double)(spec->sm_threads / WARP_LANES);
  return true;
}

double simulated_milliseconds(const Stats *stats, const Spec *spec) {
  return (double)stats->value[STAT_CYCLES] / (double)spec->clock_core_khz;
}

void ratios_markdown(Text *out) {
  text_add(out, "| ratio | of | to | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < RATIO_COUNT; i++) {
    const RatioInfo *info = &ratio_info[i];
    const StatId *sums[2] = {info->above, info->below};
    text_add(out, "| `%s` |", info->name);
    for (int k = 0; k < 2; k++) {
      text_add(out, " `%s`", stat_info[sums[k][0]].name);
      if (sums[k][1] != STAT_COUNT) text_add(out, " + `%s`", stat_info[sums[k][1]].name);
      text_add(out, " |");
    }
    text_add(out, " %s |\n", info->meaning);
  }
}
