// The power model bound to what launches count: power/ knows statistics by name only.
#ifndef REDOUBT_DEVICE_ENERGY_H
#define REDOUBT_DEVICE_ENERGY_H

#include "machine/machine.h"
#include "power/power.h"

void energy_model(PowerModel *model, const Spec *spec, const RegionTable *regions); // regions: see power_model
Energy energy_of(const PowerModel *model, const Stats *stats);                      // of a launch, or of several added up

#endif
