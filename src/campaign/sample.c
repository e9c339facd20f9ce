// Which faults a campaign injects. A fault is number `k` of its structure: its bit, cycle and seed depend on the campaign's seed, the structure's
// name and `k` alone. So another structure beside it, or another order of them, leaves a structure's faults as they were. Fault `id` of the
// campaign is a pure function of the population and id: on any machine, in any order.
#include "campaign/campaign_internal.h"
#include "campaign/used.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAW_BIT, DRAW_CYCLE, DRAW_SEED, DRAW_FIRST, DRAW_TURN };
enum { MOST_EVERY = 1000000000 };

// "rf" and "stack.pc" mean the region of that name; "stack", where there is none, every region "stack.*" or "stack_*"; "all" every cell on
// the chip that a real GPU has.
static bool is_meant(const RegionTable *table, const Region *region, const char *name) {
  size_t length = strlen(name);
  if (strcmp(name, "all") == 0) return region_is_hardware(region);
  if (region_find(table, name) != REGION_NONE) return strcmp(region->name, name) == 0;
  return strncmp(region->name, name, length) == 0 && (region->name[length] == '.' || region->name[length] == '_');
}

static bool no_structure(const RegionTable *table, const char *name, Diags *diags) {
  const char *names[256];
  uint32_t count = 0;
  if (region_find(table, name) != REGION_NONE)
    return diags_add(diags, NULL, 0, 0, "faults do not strike '%s': it is a note of the simulator, not hardware", name);
  for (uint32_t i = 0; i < table->count && count < COUNT_OF(names); i++) {
    if ((table->items[i].flags & REGION_INJECTABLE) != 0) names[count++] = table->items[i].name;
  }
  const char *near = text_nearest(name, names, count);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "this machine has no structure '%s'; did you mean '%s'?", name, near);
  return diags_add(diags, NULL, 0, 0,
                   "this machine has no structure '%s'; 'redoubt list structures' shows all, with --protect also the protection's", name);
}

static bool add_region(Population *population, const RegionTable *table, uint16_t index, const StructurePart *part, Diags *diags) {
  const Region *region = &table->items[index];
  uint64_t rows;
  uint32_t units, bits, known = 0;
  part_shape(region, part, &rows, &units, &bits);
  while (known < population->count && population->regions[known] != index) known++;
  bool is_other = known < population->count && (part->is_part || population->parts[known].is_part);
  if (is_other) return diags_add(diags, NULL, 0, 0, "structure %s: one part of it at a time", region->name);
  if (known < population->count || region_bits(region) == 0) return true; // named twice it counts once
  if (population->count == COUNT_OF(population->regions)) return diags_add(diags, NULL, 0, 0, "too many structures at once");
  population->regions[population->count] = index;
  population->parts[population->count] = *part;
  population->bits[population->count++] = rows * units * bits;
  return true;
}

static bool add_part(Population *population, const RegionTable *table, const char *name, const char *keys, Diags *diags) {
  uint16_t index = region_find(table, name);
  StructurePart part;
  if (index == REGION_NONE || (table->items[index].flags & REGION_INJECTABLE) == 0) return no_structure(table, name, diags);
  return part_parse(&table->items[index], keys, &part, diags) && add_region(population, table, index, &part, diags);
}

static bool add_structure(Population *population, const RegionTable *table, char *name, Diags *diags) {
  char *bracket = strchr(name, '[');
  if (bracket != NULL) {
    *bracket = '\0';
    return add_part(population, table, name, bracket + 1, diags);
  }
  bool found = false;
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    if ((region->flags & REGION_INJECTABLE) == 0 || !is_meant(table, region, name)) continue;
    found = true;
    if (!add_region(population, table, (uint16_t)i, &(StructurePart){0}, diags)) return false;
  }
  return found || no_structure(table, name, diags);
}

// Up to the next comma that stands in no brackets.
static size_t name_length(const char *names) {
  size_t length = strcspn(names, ",[");
  if (names[length] != '[') return length;
  length += strcspn(names + length, "]");
  return length + strcspn(names + length, ",");
}

static bool add_structures(Population *population, const RegionTable *table, const char *names, Diags *diags) {
  Arena *arena = arena_new();
  bool good = true;
  while (*names != '\0' && good) {
    size_t length = name_length(names);
    if (length > 0) good = add_structure(population, table, arena_copy_text(arena, names, length), diags);
    names += length + (names[length] == ',');
  }
  arena_free(arena);
  if (!good) return false;
  if (population->count == 0) { return diags_add(diags, NULL, 0, 0, "no structure to strike: these are empty on this machine"); }
  return true;
}

static bool no_kernel(const GoldenVec *launches, const char *kernel, Diags *diags) {
  const char *names[256] = {"none at all"};
  uint32_t count = min_u32(launches->count, COUNT_OF(names));
  for (uint32_t i = 0; i < count; i++) names[i] = launches->items[i].kernel;
  const char *near = text_nearest(kernel, names, count);
  return diags_add(diags, NULL, 0, 0, "the program launches no kernel '%s', but %s", kernel, SHORT_NAME(near == NULL ? names[0] : near));
}

// The one launched kernel that has this name; an exact name is never ambiguous.
static bool find_kernel(Population *population, const char *name, Diags *diags) {
  const GoldenVec *launches = &population->golden->launches;
  const char *found = NULL, *other = NULL;
  for (uint32_t i = 0; i < launches->count; i++) {
    const char *symbol = launches->items[i].kernel;
    bool is_exact = strcmp(symbol, name) == 0;
    if (is_exact) other = NULL;
    if (is_exact || (found == NULL && symbol_is_called(symbol, name))) found = symbol;
    if (is_exact) break;
    if (strcmp(found == NULL ? symbol : found, symbol) != 0 && symbol_is_called(symbol, name)) other = symbol;
  }
  population->kernel = found;
  if (found == NULL) return no_kernel(launches, name, diags);
  return other == NULL ||
         diags_add(diags, NULL, 0, 0, "kernels '%s' and '%s' are both called '%s'; give the whole name", found, other, name);
}

static bool window_of_kernel(Population *population, const char *kernel, Diags *diags) {
  const GoldenVec *launches = &population->golden->launches;
  if (!find_kernel(population, kernel, diags)) return false;
  population->cycles = 0;
  for (uint32_t i = 0; i < launches->count; i++) {
    if (strcmp(launches->items[i].kernel, population->kernel) == 0) population->cycles += launches->items[i].cycles;
  }
  return population->cycles > 0 || no_kernel(launches, kernel, diags);
}

static bool set_window(Population *population, const char *window, Diags *diags) {
  uint64_t all = population->golden->cycles, from, to;
  const GoldenVec *launches = &population->golden->launches; // before the first, nothing runs
  population->first_cycle = launches->count == 0 ? 0 : launches->items[0].began_at;
  population->cycles = all - population->first_cycle;
  if (strcmp(window, "all") == 0) return true;
  if (strncmp(window, "kernel:", 7) == 0) return window_of_kernel(population, window + 7, diags);
  const char *at = window + (strncmp(window, "cycles:", 7) == 0 ? 7 : 0);
  bool good = at > window && text_number(&at, false, &from) && *at++ == '-' && text_number(&at, false, &to) && *at == '\0';
  if (!good || from >= to || to > all) {
    return diags_add(diags, NULL, 0, 0, "window '%s': must be all, kernel:NAME or cycles:FROM-TO within 0-%" PRIu64, window, all);
  }
  population->first_cycle = from;
  population->cycles = to - from;
  return true;
}

// The n-th cycle of the window.
static uint64_t window_cycle(const Population *population, uint64_t number) {
  const GoldenVec *launches = &population->golden->launches;
  for (uint32_t i = 0; population->kernel != NULL && i < launches->count; i++) {
    const GoldenRow *launch = &launches->items[i];
    if (strcmp(launch->kernel, population->kernel) != 0) continue;
    if (number < launch->cycles) return launch->began_at + number;
    number -= launch->cycles;
  }
  return population->first_cycle + number;
}

uint64_t population_total(const Population *population) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < population->count; i++) bits += population->bits[i];
  return bits;
}

// The machine's structures come first in each round, then those of a protection, which get faults of their own.
static void deal_structures(Population *population, const RegionTable *table) {
  for (uint32_t pass = 0, next = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < population->count; i++) {
      if ((table->items[population->regions[i]].owned_by_scheme != 0) == (pass == 1)) population->dealt[next++] = (uint16_t)i;
    }
    if (pass == 0) population->machine_count = next > 0 ? next : population->count;
  }
  for (uint32_t i = 0; i < population->count; i++)
    population->seeds[i] = part_hash(&table->items[population->regions[i]], &population->parts[i], population->seed);
}

bool population_make(Population *population, const Golden *golden, const CampaignOptions *options, Diags *diags) {
  *population = (Population){.seed = options->seed, .golden = golden, .every = options->every, .by_bits = options->by_bits};
  bool good = add_structures(population, &golden->table, options->structures, diags) && set_window(population, options->window, diags) &&
              fault_parse_model(options->model, &population->pattern, diags);
  deal_structures(population, &golden->table);
  if (good && options->every && population_total(population) > MOST_EVERY)
    return diags_add(diags, NULL, 0, 0, "every bit of these structures: more than %d faults; give a number", MOST_EVERY);
  return good;
}

double population_size(const Population *population, uint32_t structure) {
  return (double)population->bits[structure] * (double)population->cycles;
}

// One structure after the other, bit by bit; `*bit`: of that structure.
static uint32_t structure_of_bit(const Population *population, uint64_t *bit) {
  uint32_t structure = 0;
  while (structure + 1 < population->count && *bit >= population->bits[structure]) *bit -= population->bits[structure++];
  return structure;
}

// Of all structures together.
static uint64_t drawn_bit(const Population *population, uint64_t id) {
  return random_below(random_draw(population->seed, id, DRAW_BIT), population_total(population));
}

// A round has each structure once. Where it begins is drawn, so that whoever takes every n-th fault gets all of them. The machine's structures come
// in the same order whether those of a protection are between them or not.
static uint32_t dealt_structure(const Population *population, uint64_t round, uint64_t place) {
  uint64_t count = population->count, machine = population->machine_count;
  uint64_t turn = machine == count ? 0 : random_below(random_draw(population->seed, round, DRAW_TURN), count);
  uint64_t slot = (place + turn) % count;
  if (slot >= machine) return population->dealt[slot];
  uint64_t before = min_u64(place, machine - min_u64(turn, machine)); // of the machine's, in this round
  if (place + turn > count) before += min_u64(place + turn - count, machine);
  return population->dealt[(before + random_below(random_draw(population->seed, round, DRAW_FIRST), machine)) % machine];
}

uint32_t population_structure(const Population *population, uint64_t id) {
  if (population->every) return structure_of_bit(population, &id);
  if (population->by_bits) {
    uint64_t bit = drawn_bit(population, id);
    return structure_of_bit(population, &bit);
  }
  return dealt_structure(population, id / population->count, id % population->count);
}

uint64_t population_number(const Population *population, uint64_t id) {
  return population->every || population->by_bits ? id : id / population->count;
}

static bool is_of_machine(const Population *population, uint32_t structure) {
  uint32_t place = 0;
  while (population->dealt[place] != structure) place++;
  return place < population->machine_count;
}

uint64_t population_dealt(const Population *population, uint64_t faults) {
  if (population->every || population->by_bits) return faults;
  uint64_t id = faults / population->machine_count * population->count;
  for (uint64_t left = faults % population->machine_count; left > 0; id++)
    left -= is_of_machine(population, population_structure(population, id));
  return id;
}

// Of structures whose faults are numbered by themselves that depends on their name.
uint64_t population_seed(const Population *population, uint32_t structure) {
  return population->every || population->by_bits ? population->seed : population->seeds[structure];
}

// In the place that a run without faults has found for it. Where nothing is used there is none: it is drawn from all, and masked.
static void move_to_used(const Population *population, uint64_t id, Fault *fault) {
  const UsedSeek *seek = population->used == NULL ? NULL : used_seek(population->used, id);
  if (seek == NULL || !seek->is_found) return;
  fault->site.row = seek->row;
  if (!population->used->structures[seek->structure].by_row) fault->site.unit = seek->unit;
  fault->from = seek->cycle;
}

Fault population_draw(const Population *population, const RegionTable *table, uint64_t id) {
  uint32_t structure = population_structure(population, id);
  bool is_dealt = !population->every && !population->by_bits;
  uint64_t number = population_number(population, id), seed = population_seed(population, structure);
  uint64_t bit = random_below(random_draw(seed, number, DRAW_BIT), population->bits[structure]);
  if (!is_dealt) {
    bit = population->every ? id : drawn_bit(population, id);
    structure_of_bit(population, &bit);
  }
  Fault fault = population->pattern;
  fault.site = part_site(table, population->regions[structure], &population->parts[structure], bit);
  fault.is_output = (table->items[fault.site.region].flags & REGION_OUTPUT) != 0;
  fault.from = window_cycle(population, random_below(random_draw(seed, number, DRAW_CYCLE), population->cycles));
  move_to_used(population, id, &fault);
  fault.to = fault_lasts(&fault) ? UINT64_MAX : fault.from;
  fault.seed = random_draw(seed, number, DRAW_SEED);
  return fault;
}
