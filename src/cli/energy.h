// Energy of runs, as the command shows it: figures for scripts, a line for people.
#ifndef REDOUBT_CLI_ENERGY_H
#define REDOUBT_CLI_ENERGY_H

#include "device/energy.h"

// Numbers of a run, or of a launch, with their units in their names.
typedef enum EnergyFigure { ENERGY_DYNAMIC_NJ, ENERGY_LEAKAGE_NJ, ENERGY_TOTAL_NJ, ENERGY_MEAN_POWER_MW, ENERGY_FIGURES } EnergyFigure;
extern const char *const energy_figure_name[ENERGY_FIGURES];
double energy_figure(const Energy *energy, EnergyFigure figure);

// Leakage by structure.
typedef struct EnergyStructure {
  const char *name; // in the arena
  double watts;
} EnergyStructure;

typedef struct RunPower {
  PowerModel model;
  VEC(EnergyStructure) structures; // those that leak
} RunPower;

// Of a machine with the protections of these names (NULL: none). A machine without time has no energies.
RunPower run_power(const Spec *spec, const char *protections, Arena *arena);

// Flat numbers for `object`; null: the machine has no energies. `whole`: by event and structure too.
struct json_t;
void energy_json(const RunPower *power, const Stats *stats, bool whole, struct json_t *object);
void energy_summary(const PowerModel *model, const Stats *stats, Text *out); // lines of a summary

#endif
