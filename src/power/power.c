// See power.h. All sums go in the order of power.def, in double precision and without the mathematics library, so that every compiler gives
// the same bits.
#include "power/power.h"

#include <inttypes.h>

enum { SCALE_CHIP = 1, SCALE_BOARD = 0, LEAKS_BITS = 1, LEAKS_LOGIC = 0 };

const EnergyInfo energy_info[ENERGY_COUNT] = {
#define ENERGY(name, place, group, statistics, unit, help) {#name, group, statistics, unit, help, SCALE_##place},
#define LEAKAGE(name, group, kind, statistic, unit, help)
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
};

const LeakageInfo leakage_info[LEAKAGE_COUNT] = {
#define ENERGY(name, place, group, statistics, unit, help)
#define LEAKAGE(name, group, kind, statistic, unit, help) {#name, group, statistic, unit, help, LEAKS_##kind},
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
};

// Dense arrays of cells, with the periphery of a memory. All other structures are latches.
static const char *const memories[] = {"rf",     "shared", "l1d",   "constant", "texture",   "icache", "icache2",
                                       "l2",     "pred",   "temp",  "half",     "input",     "output", "constants",
                                       "tcache", "rcache", "stack", "loop",     "ldst.data", "store"};

// ---- The model ---------------------------------------------------------------------------------------

static bool find_name(const PowerNames *names, Slice name, uint16_t *index) {
  for (uint32_t i = 0; i < names->count; i++) {
    if (strlen(names->items[i]) != name.length || memcmp(names->items[i], name.at, name.length) != 0) continue;
    *index = (uint16_t)i;
    return true;
  }
  return false;
}

// "a + b - c".
static bool bind(PowerTerms *terms, const char *text, const PowerNames *names) {
  int8_t sign = 1;
  *terms = (PowerTerms){0};
  for (uint32_t used = 0; *text != '\0'; used++) {
    Slice name = {text, (uint32_t)strcspn(text, " ")};
    if (used == POWER_MOST_TERMS || !find_name(names, name, &terms->index[used])) return false;
    terms->sign[used] = sign;
    text += name.length;
    if (*text == '\0') break;
    sign = text[1] == '-' ? -1 : 1;
    text += 3; // " + "
  }
  return true;
}

// A structure's own name, or what stands before its dot: "l1d.tag".
static bool is_memory(const char *name) {
  for (size_t i = 0; i < COUNT_OF(memories); i++) {
    size_t length = strlen(memories[i]);
    if (strncmp(name, memories[i], length) == 0 && (name[length] == '\0' || name[length] == '.')) return true;
  }
  return false;
}

LeakageId power_leakage_of(const Region *region) {
  if (region->owned_by_scheme != 0) return LEAKAGE_leak_scheme;
  return is_memory(region->name) ? LEAKAGE_leak_memory : LEAKAGE_leak_latch;
}

static void read_numbers(const Spec *spec, double energy_fj[ENERGY_COUNT], double leakage[LEAKAGE_COUNT]) {
#define ENERGY(name, place, group, statistics, unit, help) energy_fj[ENERGY_##name] = (double)spec->power_##name;
#define LEAKAGE(name, group, kind, statistic, unit, help) leakage[LEAKAGE_##name] = (double)spec->power_##name;
#include "config/power.def"
#undef ENERGY
#undef LEAKAGE
}

bool power_model(PowerModel *model, const Spec *spec, const RegionTable *regions, const PowerNames *names) {
  double energy_fj[ENERGY_COUNT], leakage[LEAKAGE_COUNT], scale = (double)spec->power_scale / 1000;
  *model = (PowerModel){.cycles_per_second = 1000 * (double)spec->clock_core_khz};
  read_numbers(spec, energy_fj, leakage);
  for (uint32_t i = 0; regions != NULL && i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if (region_is_hardware(region)) model->bits[power_leakage_of(region)] += region_bits(region);
  }
  bool good = bind(&model->cycles, "cycles", names);
  for (uint32_t i = 0; i < ENERGY_COUNT && good; i++) {
    good = bind(&model->event[i], energy_info[i].statistics, names);
    model->event_pj[i] = energy_fj[i] / 1000 * (energy_info[i].is_on_chip ? scale : 1);
    model->is_there |= energy_fj[i] > 0;
  }
  for (uint32_t i = 0; i < LEAKAGE_COUNT && good; i++) {
    bool is_of_bits = leakage_info[i].is_of_bits;
    good = bind(&model->logic[i], leakage_info[i].statistic, names);
    model->leak_w[i] = is_of_bits ? leakage[i] * 1e-12 * (double)model->bits[i] : leakage[i] * 1e-6;
    model->is_there |= leakage[i] > 0;
  }
  return good;
}

double power_region_watts(const Spec *spec, const Region *region) {
  double energy_fj[ENERGY_COUNT], leakage[LEAKAGE_COUNT];
  read_numbers(spec, energy_fj, leakage);
  return region_is_hardware(region) ? leakage[power_leakage_of(region)] * 1e-12 * (double)region_bits(region) : 0;
}

// ---- Energy ------------------------------------------------------------------------------------------

// What is taken away is part of what was added; a fault in a counter cannot make it less than nothing.
static double count_of(const PowerTerms *terms, const uint64_t *counts) {
  uint64_t added = 0, taken = 0;
  for (uint32_t i = 0; i < POWER_MOST_TERMS; i++) {
    if (terms->sign[i] > 0) added += counts[terms->index[i]];
    if (terms->sign[i] < 0) taken += counts[terms->index[i]];
  }
  return (double)(added - min_u64(taken, added));
}

Energy power_energy(const PowerModel *model, const uint64_t *counts) {
  Energy energy = {.seconds = count_of(&model->cycles, counts) / model->cycles_per_second};
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) {
    energy.event[i] = model->event_pj[i] * count_of(&model->event[i], counts);
    energy.dynamic += energy.event[i];
  }
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) {
    double seconds = leakage_info[i].is_of_bits ? energy.seconds : count_of(&model->logic[i], counts) / model->cycles_per_second;
    energy.leak[i] = model->leak_w[i] * seconds * 1e12;
    energy.leakage += energy.leak[i];
  }
  energy.total = energy.dynamic + energy.leakage;
  return energy;
}

double energy_watts(const Energy *energy) { return energy->seconds > 0 ? energy->total * 1e-12 / energy->seconds : 0; }

static void add_to_group(EnergyGroups *groups, const char *name, double pj) {
  uint32_t i = 0;
  while (i < groups->count && strcmp(groups->name[i], name) != 0) i++;
  if (i == POWER_MOST_GROUPS) return; // a test sees that there are fewer
  if (i == groups->count) groups->name[groups->count++] = name;
  groups->pj[i] += pj;
}

EnergyGroups energy_groups(const Energy *energy) {
  EnergyGroups groups = {0};
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) add_to_group(&groups, energy_info[i].group, energy->event[i]);
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) {
    add_to_group(&groups, i == LEAKAGE_leak_scheme ? leakage_info[i].group : "leakage", energy->leak[i]);
  }
  return groups;
}

// ---- The table -----------------------------------------------------------------------------------------

void power_list(Text *out) {
  text_add(out, "%-16s %-11s %-21s %s\n", "power.", "group", "unit", "counted by, and what");
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) {
    const EnergyInfo *info = &energy_info[i];
    text_add(out, "%-16s %-11s fJ per %-14s %s: %s\n", info->name, info->group, info->unit, info->statistics, info->help);
  }
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) {
    const LeakageInfo *info = &leakage_info[i];
    text_add(out, "%-16s %-11s %-21s %s: %s\n", info->name, info->group, info->unit, info->is_of_bits ? "bits and time" : info->statistic,
             info->help);
  }
}

void power_markdown(Text *out) {
  text_add(out, "| power. | group | unit | counted by | what |\n|---|---|---|---|---|\n");
  for (uint32_t i = 0; i < ENERGY_COUNT; i++) {
    const EnergyInfo *info = &energy_info[i];
    text_add(out, "| `%s` | %s | fJ per %s | `%s` | %s%s |\n", info->name, info->group, info->unit, info->statistics, info->help,
             info->is_on_chip ? "" : "; not scaled");
  }
  for (uint32_t i = 0; i < LEAKAGE_COUNT; i++) {
    const LeakageInfo *info = &leakage_info[i];
    text_add(out, "| `%s` | leakage: %s | %s | %s%s%s | %s |\n", info->name, info->group, info->unit, info->is_of_bits ? "" : "`",
             info->is_of_bits ? "bits and time" : info->statistic, info->is_of_bits ? "" : "`", info->help);
  }
}
