// The power model: what a run's events and cycles cost in energy, by the numbers of the machine file. power.def has a row for each.
//
// Dynamic energy is events times energy per event; the machine counts events as statistics, which are found by their names, so that no machine
// is known here. Leakage is power times simulated time: of cells by their bits, of logic by a number of its own. It is a model with a relative
// meaning: ratios between runs of one machine file. docs/power.md says what is left out.
#ifndef REDOUBT_POWER_H
#define REDOUBT_POWER_H

#include "config/config.h"
#include "hook/region.h"

typedef enum EnergyId {
#define ENERGY(name, place, group, statistics, unit, help) ENERGY_##name,
#define LEAKAGE(name, group, kind, statistic, unit, help)
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
  ENERGY_COUNT
} EnergyId;

typedef enum LeakageId {
#define ENERGY(name, place, group, statistics, unit, help)
#define LEAKAGE(name, group, kind, statistic, unit, help) LEAKAGE_##name,
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
  LEAKAGE_COUNT
} LeakageId;

typedef struct EnergyInfo {
  const char *name, *group, *statistics, *unit, *help;
  bool is_on_chip; // power.scale applies
} EnergyInfo;
extern const EnergyInfo energy_info[ENERGY_COUNT];

typedef struct LeakageInfo {
  const char *name, *group, *statistic, *unit, *help;
  bool is_of_bits;
} LeakageInfo;
extern const LeakageInfo leakage_info[LEAKAGE_COUNT];

enum { POWER_MOST_TERMS = 4 };

// Statistics that count an event: a sum.
typedef struct PowerTerms {
  uint16_t index[POWER_MOST_TERMS];
  int8_t sign[POWER_MOST_TERMS]; // 0: the term is not used
} PowerTerms;

// Numbers of one machine with its protections, bound to the statistics of a run. Plain data.
typedef struct PowerModel {
  bool is_there; // some number is not 0; else the machine file gives no energies
  double event_pj[ENERGY_COUNT];
  PowerTerms event[ENERGY_COUNT];
  double leak_w[LEAKAGE_COUNT]; // of cells: all of them together; of logic: of one SM, or of the chip
  PowerTerms logic[LEAKAGE_COUNT];
  uint64_t bits[LEAKAGE_COUNT]; // of cells
  PowerTerms cycles;
  double cycles_per_second;
} PowerModel;

// Statistics by name, in the order of a run's counts.
typedef struct PowerNames {
  const char *const *items;
  uint32_t count;
} PowerNames;

// In picojoules.
typedef struct Energy {
  double event[ENERGY_COUNT], leak[LEAKAGE_COUNT];
  double dynamic, leakage, total;
  double seconds; // simulated
} Energy;

// `regions`: of the machine with its protections; NULL: it has no cells. Every statistic that power.def names must be among `names`: false if not.
bool power_model(PowerModel *model, const Spec *spec, const RegionTable *regions, const PowerNames *names);
Energy power_energy(const PowerModel *model, const uint64_t *counts);
double energy_watts(const Energy *energy);                         // mean power; 0 where no time has passed
LeakageId power_leakage_of(const Region *region);                  // whose number holds for a structure's cells
double power_region_watts(const Spec *spec, const Region *region); // leakage of one structure

// Events and leakage in groups, as reports show them: "registers", "leakage".
enum { POWER_MOST_GROUPS = 12 };
typedef struct EnergyGroups {
  uint32_t count;
  const char *name[POWER_MOST_GROUPS];
  double pj[POWER_MOST_GROUPS];
} EnergyGroups;
EnergyGroups energy_groups(const Energy *energy); // "protection" has both what protections do and what their cells leak

void power_list(Text *out);     // `redoubt list power`
void power_markdown(Text *out); // the same as a table of docs/power.md

#endif
