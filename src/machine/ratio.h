// Ratios of statistics: the machine counts raw integers, only reports divide. Summaries, JSON, traits of workloads and docs take
// them from one table, ratio.def.
#ifndef REDOUBT_MACHINE_RATIO_H
#define REDOUBT_MACHINE_RATIO_H

#include "machine/machine.h"

enum { RATIO_MOST_TERMS = 4 };

typedef enum RatioId {
#define RATIO(id, name, scale, above, below, meaning) RATIO_##id,
#include "machine/ratio.def"
#undef RATIO
  RATIO_COUNT
} RatioId;

// `count` statistics from `first` on, in the order of stat.def; 0: the term is not used.
typedef struct RatioTerm {
  StatId first;
  uint32_t count;
} RatioTerm;

typedef struct RatioInfo {
  const char *name, *meaning;
  double scale; // 1000: the ratio is told per thousand
  RatioTerm above[RATIO_MOST_TERMS], below[RATIO_MOST_TERMS];
} RatioInfo;
extern const RatioInfo ratio_info[RATIO_COUNT];

// False: what it would be divided by is 0.
bool ratio_value(RatioId ratio, const Stats *stats, double *value);
double simulated_milliseconds(const Stats *stats, const Spec *spec);
void ratios_markdown(Text *out);

#endif
