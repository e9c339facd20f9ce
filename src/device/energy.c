// See energy.h.
#include "device/energy.h"

void energy_model(PowerModel *model, const Spec *spec, const RegionTable *regions) {
  const char *names[STAT_COUNT];
  for (uint32_t i = 0; i < STAT_COUNT; i++) names[i] = stat_info[i].name;
  bool bound = power_model(model, spec, regions, &(PowerNames){names, STAT_COUNT});
  ASSERT(bound); // power.def names statistics of stat.def
}

Energy energy_of(const PowerModel *model, const Stats *stats) { return power_energy(model, stats->value); }
