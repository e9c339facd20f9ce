// See energy.h. The structures of the machine with its protections say how many bits leak, so a machine is made for it that never runs.
#include "cli/energy.h"

#include "device/attachments.h"
#include "machine/machines.h"

#include <jansson.h>

const char *const energy_figure_name[ENERGY_FIGURES] = {[ENERGY_DYNAMIC_NJ] = "energy_dynamic_nj",
                                                        [ENERGY_LEAKAGE_NJ] = "energy_leakage_nj",
                                                        [ENERGY_TOTAL_NJ] = "energy_total_nj",
                                                        [ENERGY_MEAN_POWER_MW] = "power_mean_mw"};

double energy_figure(const Energy *energy, EnergyFigure figure) {
  switch (figure) {
  case ENERGY_DYNAMIC_NJ: return energy->dynamic / 1000;
  case ENERGY_LEAKAGE_NJ: return energy->leakage / 1000;
  case ENERGY_TOTAL_NJ: return energy->total / 1000;
  default: return 1000 * energy_watts(energy);
  }
}

static void take_regions(RunPower *power, const Spec *spec, const RegionTable *regions, Arena *arena) {
  energy_model(&power->model, spec, regions);
  for (uint32_t i = 0; i < regions->count; i++) {
    double watts = power_region_watts(spec, &regions->items[i]);
    const char *name = regions->items[i].name;
    if (watts > 0) *VEC_PUSH(&power->structures, arena) = (EnergyStructure){arena_copy_text(arena, name, strlen(name)), watts};
  }
}

RunPower run_power(const Spec *spec, const char *protections, Arena *arena) {
  RunPower power = {0};
  Diags diags = {0};
  Attachments attachments;
  AttachmentWishes wishes = {.protections = protections};
  if (!machine_can(spec, MACHINE_HAS_TIME) || !attachments_open(&attachments, &wishes, &diags)) return power;
  Machine *machine = machine_new(spec, &attachments.chain, &diags);
  if (machine != NULL) {
    take_regions(&power, spec, machine_regions(machine), arena);
    machine_free(machine);
  }
  attachments_close(&attachments, &diags);
  return power;
}

// ---- For scripts -------------------------------------------------------------------------------------

static void add_events(const RunPower *power, const Energy *energy, json_t *object) {
  json_t *events = json_object(), *leakage = json_object(), *structures = json_object();
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) json_object_set_new(events, energy_info[i].name, json_real(energy->event[i] / 1000));
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) json_object_set_new(leakage, leakage_info[i].name, json_real(energy->leak[i] / 1000));
  for (uint32_t i = 0; i < power->structures.count; i++) {
    const EnergyStructure *structure = &power->structures.items[i];
    json_object_set_new(structures, structure->name, json_real(structure->watts * energy->seconds * 1e9));
  }
  json_object_set_new(object, "energy_nj",
                      json_pack("{s:o, s:o, s:o}", "dynamic", events, "leakage", leakage, "leakage_of_structures", structures));
}

void energy_json(const RunPower *power, const Stats *stats, bool whole, json_t *object) {
  Energy energy = energy_of(&power->model, stats);
  bool is_there = power->model.is_there;
  for (EnergyFigure i = 0; i < ENERGY_FIGURES; i++)
    json_object_set_new(object, energy_figure_name[i], is_there ? json_real(energy_figure(&energy, i)) : json_null());
  if (is_there && whole) add_events(power, &energy, object);
}

// ---- For people --------------------------------------------------------------------------------------

static void add_joules(Text *line, double pj) {
  static const char *const units[] = {"pJ", "nJ", "uJ", "mJ", "J"};
  uint32_t unit = 0;
  for (; pj >= 1000 && unit + 1 < COUNT_OF(units); unit++) pj /= 1000;
  text_add(line, "%.4g %s", pj, units[unit]);
}

void energy_summary(const PowerModel *model, const Stats *stats, Text *out) {
  if (!model->is_there) {
    text_add(out, "  %-14s not modelled: the machine file gives no energies (power.*)\n", "energy");
    return;
  }
  Energy energy = energy_of(model, stats);
  text_add(out, "  %-14s ", "energy");
  add_joules(out, energy.total);
  text_add(out, " = dynamic ");
  add_joules(out, energy.dynamic);
  text_add(out, " + leakage ");
  add_joules(out, energy.leakage);
  text_add(out, "; mean %.3g W; a model for ratios between runs, not a board's power\n", energy_watts(&energy));
  EnergyGroups groups = energy_groups(&energy);
  Text line = {0};
  for (uint32_t i = 0; i < groups.count && energy.total > 0; i++) {
    if (groups.pj[i] <= 0) continue;
    bool is_rest =
        strcmp(groups.name[i], "leakage") == 0 && energy.leak[LEAKAGE_leak_scheme] > 0; // a protection has what its own bits leak
    text_add(&line, "%s%s%s %.1f%%", line.length == 0 ? "" : ", ", groups.name[i], is_rest ? " of the rest" : "",
             100 * groups.pj[i] / energy.total);
  }
  if (line.length > 0) text_add(out, "  %-14s %s\n", "energy goes to", line.at);
  text_free(&line);
}
