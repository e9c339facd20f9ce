// Ratios of statistics; see ratio.h and ratio.def.
#include "machine/ratio.h"

#define ONE(a) \
  { STAT_##a, 1 }
#define RANGE(a, b) \
  { STAT_##a, STAT_##b - STAT_##a + 1 }
#define SUM(...) \
  { __VA_ARGS__ }
const RatioInfo ratio_info[RATIO_COUNT] = {
#define RATIO(id, name, scale, above, below, meaning) [RATIO_##id] = {name, meaning, scale, above, below},
#include "machine/ratio.def"
#undef RATIO
};

static uint64_t sum(const Stats *stats, const RatioTerm terms[RATIO_MOST_TERMS]) {
  uint64_t total = 0;
  for (int i = 0; i < RATIO_MOST_TERMS; i++) {
    for (uint32_t k = 0; k < terms[i].count; k++) total += stats->value[terms[i].first + k];
  }
  return total;
}

bool ratio_value(RatioId ratio, const Stats *stats, double *value) {
  uint64_t above = sum(stats, ratio_info[ratio].above), below = sum(stats, ratio_info[ratio].below);
  if (below == 0) return false;
  *value = ratio_info[ratio].scale * (double)above / (double)below;
  return true;
}

double simulated_milliseconds(const Stats *stats, const Spec *spec) {
  return (double)stats->value[STAT_CYCLES] / (double)spec->clock_core_khz;
}

static void add_sum(Text *out, const RatioTerm terms[RATIO_MOST_TERMS]) {
  for (int i = 0; i < RATIO_MOST_TERMS && terms[i].count > 0; i++) {
    text_add(out, "%s`%s`", i == 0 ? " " : " + ", stat_info[terms[i].first].name);
    if (terms[i].count > 1) text_add(out, " to `%s`", stat_info[terms[i].first + terms[i].count - 1].name);
  }
  text_add(out, " |");
}

void ratios_markdown(Text *out) {
  text_add(out, "| ratio | of | to | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < RATIO_COUNT; i++) {
    const RatioInfo *info = &ratio_info[i];
    text_add(out, "| `%s` |", info->name);
    if (info->scale != 1) text_add(out, " %g x", info->scale);
    add_sum(out, info->above);
    add_sum(out, info->below);
    text_add(out, " %s |\n", info->meaning);
  }
}
