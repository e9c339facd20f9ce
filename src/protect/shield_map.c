// The map of broken lanes: how users give it, where it lies in the machine's block, which SMs it leaves usable; see shield.h.
//
// A map is a pattern (`2-per-cluster`; `3+0-per-cluster`: three in SP 0, none in SP 1), drawn (`random`, an exact share of the lanes,
// never more than `most` of a cluster), or a file with a line for each lane, such as `unit.sp[sm=0,sp=1,lane=3]`.
#include "protect/shield.h"

#include <stdio.h>
#include <stdlib.h>

const char *const shield_unit_names[SHIELD_UNITS] = {"sp", "sfu", "fp64", "tensor", "agu"};
static const char *const titles[SHIELD_UNITS] = {"SP", "special function unit", "double-precision unit", "tensor unit", "address unit"};

// ---- Options -----------------------------------------------------------------------------------------

enum {
  OPTION_SHUFFLE,
  OPTION_DEFORM,
  OPTION_INTERSP,
  OPTION_POOL,
  OPTION_RETIRE,
  OPTION_UNITS,
  OPTION_MAP,
  OPTION_WHERE,
  OPTION_SEED,
  OPTION_DENSITY,
  OPTION_MOST,
  OPTION_CROSSBAR,
  OPTION_CONTROL,
  OPTIONS
};
const char *const shield_options[OPTIONS] = {"shuffle", "deform", "intersp", "pool", "retire",   "units",  "map",
                                             "where",   "seed",   "density", "most", "crossbar", "control"};
const uint32_t shield_option_count = OPTIONS;
enum { MOST_LATENCY = 64, DEFAULT_DENSITY = 25 };

// "pool", "pool=true" or "pool=false".
static bool read_switch(const ProtectArguments *arguments, const ProtectArgument *argument, bool *value, Diags *diags) {
  *value = argument->value == NULL || strcmp(argument->value, "true") == 0;
  if (*value || strcmp(argument->value, "false") == 0) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s is true or false", arguments->text, argument->key);
}

// "sp+sfu", "all".
static bool read_where(Shield *shield, const ProtectArguments *arguments, const ProtectArgument *argument, Diags *diags) {
  shield->where = 0;
  for (const char *at = argument->value == NULL ? "" : argument->value; *at != '\0';) {
    size_t length = strcspn(at, "+");
    uint32_t unit = 0;
    while (unit < SHIELD_UNITS && !(strlen(shield_unit_names[unit]) == length && memcmp(shield_unit_names[unit], at, length) == 0)) unit++;
    if (unit < SHIELD_UNITS) shield->where |= 1u << unit;
    else if (length == 3 && memcmp(at, "all", length) == 0) shield->where = (1u << SHIELD_UNITS) - 1;
    else
      return diags_add(diags, NULL, 0, 0, "%s: where is some of sp, sfu, fp64, tensor, agu, with + between them, or all", arguments->text);
    at += length + (at[length] == '+' ? 1 : 0);
  }
  return shield->where != 0 || diags_add(diags, NULL, 0, 0, "%s: where names no unit", arguments->text);
}

static bool read_number(const ProtectArguments *arguments, const ProtectArgument *argument, uint64_t most, uint32_t *value, Diags *diags) {
  uint64_t number;
  if (!protect_number(arguments, argument, 0, most, &number, diags)) return false;
  *value = (uint32_t)number;
  return true;
}

static bool read_option(Shield *shield, const ProtectArguments *arguments, const ProtectArgument *argument, uint32_t option, Diags *diags) {
  bool apart = false;
  switch (option) {
  case OPTION_SHUFFLE: return read_switch(arguments, argument, &shield->rule.shuffle, diags);
  case OPTION_DEFORM: return read_switch(arguments, argument, &shield->rule.deform, diags);
  case OPTION_INTERSP: return read_switch(arguments, argument, &shield->rule.intersp, diags);
  case OPTION_POOL: return read_switch(arguments, argument, &shield->rule.pool, diags);
  case OPTION_RETIRE: return read_switch(arguments, argument, &shield->retire, diags);
  case OPTION_UNITS:
    if (!read_switch(arguments, argument, &apart, diags)) return false;
    shield->pipes = apart ? SHIELD_PIPES : 1;
    return true;
  case OPTION_MAP:
    shield->map = argument->value;
    if (shield->map != NULL && shield->map[0] != '\0') return true;
    return diags_add(diags, NULL, 0, 0, "%s: map is a pattern such as 1-per-cluster, random, or a file", arguments->text);
  case OPTION_WHERE: return read_where(shield, arguments, argument, diags);
  case OPTION_SEED: return protect_number(arguments, argument, 0, UINT64_MAX, &shield->seed, diags);
  case OPTION_DENSITY: return protect_number(arguments, argument, 0, 100, &shield->density, diags);
  case OPTION_MOST: return protect_number(arguments, argument, 0, SHIELD_CLUSTER, &shield->most, diags);
  case OPTION_CROSSBAR: return read_number(arguments, argument, MOST_LATENCY, &shield->crossbar, diags);
  default: return read_number(arguments, argument, MOST_LATENCY, &shield->control, diags);
  }
}

bool shield_option(Shield *shield, const ProtectArguments *arguments, const ProtectArgument *argument, bool *good, Diags *diags) {
  for (uint32_t i = 0; i < OPTIONS; i++) {
    if (strcmp(argument->key, shield_options[i]) != 0) continue;
    *good = read_option(shield, arguments, argument, i, diags);
    return true;
  }
  return false;
}

Shield shield_make(const char *name, Arena *arena) {
  Shield shield = {.name = name, .arena = arena, .pipes = 1, .density = DEFAULT_DENSITY, .seed = 1, .where = 1u << SHIELD_SP};
  shield.most = SHIELD_CLUSTER - 1;
  return shield;
}

void shield_choose(Shield *shield) {
  ShieldRule *rule = &shield->rule;
  if (!rule->shuffle && !rule->deform && !rule->intersp) rule->shuffle = rule->deform = rule->intersp = true;
}

// ---- What users give ---------------------------------------------------------------------------------

static uint32_t rows_of(const Shield *shield, ShieldUnitId unit) { return shield->unit[unit].rows * shield->pipes; }
static bool breaks(const Shield *shield, uint32_t unit) {
  return (shield->where >> unit & 1) != 0 && shield->unit[unit].output != REGION_NONE;
}

static uint32_t width_of(const ShieldUnit *unit) { return min_u32(SHIELD_CLUSTER, unit->lanes); }
static uint32_t cluster_of(const ShieldUnit *unit, uint32_t lane) {
  uint32_t first = lane / width_of(unit) * width_of(unit), width = min_u32(width_of(unit), unit->lanes - first);
  return ((1u << width) - 1) << first;
}

// Of a cluster with fewer lanes as many stay healthy as of a whole one.
static uint32_t at_most(uint32_t cluster, uint64_t count) {
  uint32_t width = count_ones(cluster);
  return width - min_u32((uint32_t)(SHIELD_CLUSTER - count), width);
}

// The first lanes of cluster c are those from lane c of it on, so that no lane number is whole everywhere.
static void give_pattern(Shield *shield, const uint32_t *counts, uint32_t count_count) {
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    ShieldUnit *unit = &shield->unit[u];
    for (uint32_t row = 0; breaks(shield, u) && row < rows_of(shield, (ShieldUnitId)u); row++) {
      uint32_t output_row = row / shield->pipes, count = counts[(u == SHIELD_SP ? output_row % shield->sps : 0) % count_count];
      for (uint32_t lane = 0; lane < unit->lanes; lane++) {
        uint32_t width = width_of(unit), cluster = lane / width;
        uint32_t most = at_most(cluster_of(unit, lane), count);
        if ((lane % width + width - cluster % width) % width < most) unit->given[row] |= 1u << lane;
      }
    }
  }
}

// "2-per-cluster", "3+0-per-cluster". False: it is none.
static bool parse_pattern(Shield *shield) {
  uint32_t counts[SHIELD_MOST_SPS], count = 0;
  const char *at = shield->map;
  for (;; at++) {
    char *end;
    if (*at < '0' || *at > '9' || count == SHIELD_MOST_SPS) return false;
    unsigned long number = strtoul(at, &end, 10);
    if (number > SHIELD_CLUSTER) return false;
    counts[count++] = (uint32_t)number;
    at = end;
    if (*at != '+') break;
  }
  if (strcmp(at, "-per-cluster") != 0) return false;
  give_pattern(shield, counts, count);
  return true;
}

// Exactly `density` percent of the lanes of each kind of unit, as far as clusters may lose so many: lanes in a random order.
static void draw_unit(const Shield *shield, ShieldUnit *unit, uint32_t u) {
  uint64_t lanes = (uint64_t)unit->rows * shield->pipes * unit->lanes, wanted = (lanes * shield->density + 50) / 100;
  uint32_t *order = arena_alloc(shield->arena, lanes * sizeof *order);
  for (uint32_t i = 0; i < lanes; i++) order[i] = i;
  for (uint64_t i = lanes; i-- > 1;) {
    uint64_t k = random_below(random_draw(shield->seed, i, u), i + 1);
    uint32_t was = order[i];
    order[i] = order[k];
    order[k] = was;
  }
  for (uint64_t i = 0; i < lanes && wanted > 0; i++) {
    uint32_t row = order[i] / unit->lanes, lane = order[i] % unit->lanes;
    uint32_t cluster = cluster_of(unit, lane);
    if (count_ones(unit->given[row] & cluster) >= at_most(cluster, shield->most)) continue;
    unit->given[row] |= 1u << lane;
    wanted--;
  }
}

// A line: "unit.sp[sm=0,sp=1,lane=3]", and `int` or `fp` behind it where these are mapped apart.
static bool read_line(Shield *shield, const RegionTable *regions, char *line, Diags *diags) {
  char *close = strchr(line, ']');
  if (close == NULL) return diags_add(diags, NULL, 0, 0, "a line of a map reads like unit.sp[sm=0,sp=1,lane=3]");
  const char *pipe = close + 1 + strspn(close + 1, " \t");
  bool is_int = strcmp(pipe, "int") == 0, is_fp = strcmp(pipe, "fp") == 0;
  if (*pipe != '\0' && !(shield->pipes > 1 && (is_int || is_fp)))
    return diags_add(diags, NULL, 0, 0, "'%s': behind a lane stands nothing, or with units=true: int or fp", pipe);
  *close = '\0';
  Site site;
  Text text = {0};
  text_add(&text, "%s,bit=0]", line);
  bool good = site_parse(regions, text.at, &site, diags);
  text_free(&text);
  for (uint32_t u = 0; good && u < SHIELD_UNITS; u++) {
    ShieldUnit *unit = &shield->unit[u];
    if (unit->output != site.region) continue;
    for (uint32_t i = 0; i < shield->pipes; i++) {
      bool is_meant = (i == 0 && !is_fp) || (i == 1 && !is_int);
      if (is_meant) unit->given[site.row * shield->pipes + i] |= 1u << site.unit;
    }
    return true;
  }
  return good && diags_add(diags, NULL, 0, 0, "'%s]' is no lane of unit.sp, unit.sfu, unit.fp64, unit.tensor or unit.agu", line);
}

static bool read_file(Shield *shield, const RegionTable *regions, Diags *diags) {
  char *text;
  size_t bytes;
  if (!file_read(shield->arena, shield->map, &text, &bytes, diags)) return false;
  for (int line = 1; *text != '\0'; line++) {
    char *next = text + strcspn(text, "\n");
    bool is_last = *next == '\0';
    *next = '\0';
    text[strcspn(text, "#\r")] = '\0';
    text += strspn(text, " \t");
    for (size_t end = strlen(text); end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t'); end--) text[end - 1] = '\0';
    if (*text != '\0' && !read_line(shield, regions, text, diags)) {
      diags->items[diags->count - 1].file = arena_copy_text(diags->arena, shield->map, strlen(shield->map));
      diags->items[diags->count - 1].line = line;
      return false;
    }
    text = is_last ? next : next + 1;
  }
  return true;
}

static bool fill_given(Shield *shield, const RegionTable *regions, Diags *diags) {
  if (shield->map == NULL || strcmp(shield->map, "none") == 0 || parse_pattern(shield)) return true;
  if (strstr(shield->map, "-per-cluster") != NULL)
    return diags_add(diags, NULL, 0, 0,
                     "%s: map=%s: a pattern is K-per-cluster or, for SP 0 and SP 1, K+K-per-cluster, with K from 0 to %d", shield->name,
                     shield->map, SHIELD_CLUSTER);
  if (strcmp(shield->map, "random") != 0) return read_file(shield, regions, diags);
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    if (breaks(shield, u)) draw_unit(shield, &shield->unit[u], u);
  }
  return true;
}

// ---- In the block --------------------------------------------------------------------------------------

static uint8_t *row_at(const Shield *shield, const HookMachine *machine, ShieldUnitId unit, uint32_t row, uint32_t pipe) {
  const Region *region = &machine->regions->items[shield->unit[unit].map];
  return machine->block + region->base + ((uint64_t)row * shield->pipes + pipe) % region->rows * region->row_bytes;
}

uint32_t shield_broken(const Shield *shield, const HookMachine *machine, ShieldUnitId unit, uint32_t row, uint32_t pipe) {
  if (shield->unit[unit].output == REGION_NONE) return 0;
  uint32_t lanes;
  memcpy(&lanes, row_at(shield, machine, unit, row, pipe), sizeof lanes);
  return lanes;
}

void shield_break(const Shield *shield, const HookMachine *machine, ShieldUnitId unit, uint32_t row, uint32_t pipe, uint32_t lane,
                  bool is_broken) {
  if (shield->unit[unit].output == REGION_NONE || lane >= shield->unit[unit].lanes) return;
  uint32_t lanes = shield_broken(shield, machine, unit, row, pipe);
  lanes = is_broken ? lanes | 1u << lane : lanes & ~(1u << lane);
  memcpy(row_at(shield, machine, unit, row, pipe), &lanes, sizeof lanes);
}

void shield_begin(const Shield *shield, const HookMachine *machine) {
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    const ShieldUnit *unit = &shield->unit[u];
    for (uint32_t row = 0; unit->output != REGION_NONE && row < rows_of(shield, (ShieldUnitId)u); row++) {
      memcpy(row_at(shield, machine, (ShieldUnitId)u, row / shield->pipes, row % shield->pipes), &unit->given[row],
             sizeof unit->given[row]);
    }
  }
}

// ---- What it leaves ------------------------------------------------------------------------------------

// The lanes that are broken in every SP of the SM, or in its unit.
static uint32_t broken_everywhere(const Shield *shield, const HookMachine *machine, uint32_t u, uint32_t sm, uint32_t pipe) {
  uint32_t per_sm = u == SHIELD_SP ? shield->sps : 1, clusters = 0;
  const ShieldUnit *unit = &shield->unit[u];
  for (uint32_t lane = 0; lane < unit->lanes; lane += width_of(unit)) {
    bool is_dead = true;
    for (uint32_t i = 0; i < per_sm && is_dead; i++) {
      uint32_t row = sm * per_sm + i;
      uint32_t broken =
          machine == NULL ? unit->given[row * shield->pipes + pipe] : shield_broken(shield, machine, (ShieldUnitId)u, row, pipe);
      is_dead = (cluster_of(unit, lane) & ~broken) == 0;
    }
    if (is_dead) clusters |= cluster_of(unit, lane);
  }
  return clusters;
}

// A unit of the SM that cannot take every warp; `machine` NULL: as the map was given. SHIELD_UNITS: none.
static uint32_t unusable_unit(const Shield *shield, const HookMachine *machine, uint32_t sm, uint32_t *lanes) {
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    if (shield->unit[u].output == REGION_NONE) continue;
    for (uint32_t pipe = 0; pipe < shield->pipes; pipe++) {
      *lanes = broken_everywhere(shield, machine, u, sm, pipe);
      if (*lanes != 0) return u;
    }
  }
  return SHIELD_UNITS;
}

bool shield_sm_is_usable(const Shield *shield, const HookMachine *machine, uint32_t sm) {
  uint32_t lanes;
  return unusable_unit(shield, machine, sm, &lanes) == SHIELD_UNITS;
}

static bool leaves_enough(const Shield *shield, Diags *diags) {
  uint32_t usable = 0, lanes = 0;
  for (uint32_t sm = 0; sm < shield->sms; sm++) {
    uint32_t unit = unusable_unit(shield, NULL, sm, &lanes);
    if (unit == SHIELD_UNITS) usable++;
    else if (!shield->retire)
      return diags_add(diags, NULL, 0, 0,
                       "%s: SM %u has no healthy lane left in cluster %u of any %s; retire=true sends its blocks elsewhere", shield->name,
                       sm, (uint32_t)__builtin_ctz(lanes) / width_of(&shield->unit[unit]), titles[unit]);
  }
  return usable > 0 || diags_add(diags, NULL, 0, 0, "%s: the map leaves no SM that can run every warp", shield->name);
}

// ---- Structures ------------------------------------------------------------------------------------------

static bool add_map(Shield *shield, HookLayout *layout, uint32_t u, Diags *diags) {
  ShieldUnit *unit = &shield->unit[u];
  char output[32], name[64];
  snprintf(output, sizeof output, "unit.%s", shield_unit_names[u]);
  snprintf(name, sizeof name, "%s.%s", shield->name, shield_unit_names[u]);
  unit->output = region_find(hook_layout_regions(layout), output);
  if (unit->output == REGION_NONE) return true;
  const Region outputs = hook_layout_regions(layout)->items[unit->output];
  if (outputs.units > PART_SLOTS || outputs.dim_count >= REGION_MAX_DIMS)
    return diags_add(diags, NULL, 0, 0, "%s: the lanes of %s are too many", shield->name, output);
  unit->lanes = outputs.units;
  unit->rows = (uint32_t)outputs.rows;
  unit->given = arena_alloc(shield->arena, (size_t)rows_of(shield, (ShieldUnitId)u) * sizeof *unit->given);
  memset(unit->given, 0, (size_t)rows_of(shield, (ShieldUnitId)u) * sizeof *unit->given);
  Region map = {.name = name,
                .title = "map of broken lanes",
                .unit = "entry",
                .meaning = "bit l: lane l is broken",
                .dim_count = outputs.dim_count,
                .units = 1,
                .bits = unit->lanes,
                .unit_bytes = 4};
  memcpy(map.dims, outputs.dims, sizeof map.dims);
  if (shield->pipes > 1) map.dims[map.dim_count++] = (RegionDim){"pipe", shield->pipes};
  unit->map = hook_add_region(layout, &map, LIFE_MACHINE, diags);
  return unit->map != REGION_NONE;
}

bool shield_attach(Shield *shield, HookLayout *layout, Diags *diags) {
  shield->sms = max_u32(hook_layout_shape(layout)->sms, 1);
  for (uint32_t u = 0; u < SHIELD_UNITS; u++) {
    if (!add_map(shield, layout, u, diags)) return false;
  }
  if (shield->unit[SHIELD_SP].output == REGION_NONE)
    return diags_add(diags, NULL, 0, 0, "%s: this machine has no SPs whose lanes are known (unit.sp)", shield->name);
  shield->sps = shield->unit[SHIELD_SP].rows / shield->sms;
  if (shield->sps == 0 || shield->sps > SHIELD_MOST_SPS)
    return diags_add(diags, NULL, 0, 0, "%s: an SM has 1 to %d SPs", shield->name, SHIELD_MOST_SPS);
  return fill_given(shield, hook_layout_regions(layout), diags) && leaves_enough(shield, diags);
}
