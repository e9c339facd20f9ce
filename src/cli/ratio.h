// Ratios of statistics: the machine counts raw integers, only reports divide.
#ifndef REDOUBT_CLI_RATIO_H
#define REDOUBT_CLI_RATIO_H

#include "machine/machine.h"

enum { RATIO_MOST_TERMS = 2 };

typedef enum RatioId {
#define RATIO(id, name, above, below, meaning) RATIO_##id,
#include "cli/ratio.def"
#undef RATIO
  RATIO_COUNT
} RatioId;

typedef struct RatioInfo {
  const char *name, *meaning;
  StatId above[RATIO_MOST_TERMS], below[RATIO_MOST_TERMS]; // unused terms: STAT_COUNT
} RatioInfo;
extern const RatioInfo ratio_info[RATIO_COUNT];

// False: what it would be divided by is 0.
bool ratio_value(RatioId ratio, const Stats *stats, double *value);
// Share of the warps that an SM can hold that were resident, mean over time.
bool ratio_occupancy(const Stats *stats, const Spec *spec, double *value);
double simulated_milliseconds(const Stats *stats, const Spec *spec);
void ratios_markdown(Text *out);

// ---- GPGPU-Sim's names (gpgpusim.c) ------------------------------------------------------------
// Prints "name = value" lines of one launch, in GPGPU-Sim's words: gpu_sim_* are the launch's, all others count from the start of
// the program, as there. `so_far` includes the launch.
void gpgpusim_launch(const char *kernel, uint32_t number, const Stats *launch, const Stats *so_far, const Spec *spec, Text *out);
void gpgpusim_markdown(Text *out);

#endif
