// Which faults a campaign injects. Fault `id` is a pure function of the population and id: on any machine, in any order.
#include "campaign/campaign_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAW_BIT, DRAW_CYCLE, DRAW_SEED };

// "stack" means every region "stack.*"; "stack.pc" that one; "rf" the one of that name and those behind its dot.
static bool belongs(const char *region, const char *name, size_t length) {
  return strncmp(region, name, length) == 0 && (region[length] == '\0' || region[length] == '.');
}

static bool add_structure(Population *population, const RegionTable *table, const char *name, size_t length, Diags *diags) {
  bool found = false;
  const char *exact_names[256];
  uint32_t names = 0;
  char word[64];
  snprintf(word, sizeof word, "%.*s", (int)length, name);
  uint16_t exact = region_find(table, word);
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    bool counts = (region->flags & REGION_INJECTABLE) != 0;
    if (names < COUNT_OF(exact_names)) exact_names[names++] = region->name;
    bool meant = exact != REGION_NONE ? i == exact : belongs(region->name, word, length);
    if (!counts || !meant || population->count == COUNT_OF(population->regions)) continue;
    found = true;
    uint64_t before = population->count == 0 ? 0 : population->bits[population->count - 1];
    population->regions[population->count] = (uint16_t)i;
    population->bits[population->count++] = before + region_bits(region);
  }
  if (found) return true;
  const char *near = text_nearest(word, exact_names, names);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "this machine has no structure '%s'; did you mean '%s'?", word, near);
  return diags_add(diags, NULL, 0, 0, "this machine has no structure '%s'; 'redoubt list structures' shows all", word);
}

static bool add_structures(Population *population, const RegionTable *table, const char *names, Diags *diags) {
  while (*names != '\0') {
    size_t length = strcspn(names, ",");
    if (length > 0 && !add_structure(population, table, names, length, diags)) return false;
    names += length + (names[length] == ',');
  }
  if (population->count == 0 || population->bits[population->count - 1] == 0) {
    return diags_add(diags, NULL, 0, 0, "no structure to strike: these are empty on this machine");
  }
  return true;
}

static bool window_of_kernel(Population *population, const char *kernel, Diags *diags) {
  const GoldenVec *launches = &population->golden->launches;
  population->kernel = kernel;
  population->cycles = 0;
  for (uint32_t i = 0; i < launches->count; i++) {
    if (strcmp(launches->items[i].kernel, kernel) == 0) population->cycles += launches->items[i].cycles;
  }
  return population->cycles > 0 || diags_add(diags, NULL, 0, 0, "the program launches no kernel '%s'", kernel);
}

static bool set_window(Population *population, const char *window, Diags *diags) {
  uint64_t all = population->golden->cycles, from, to;
  population->cycles = all;
  if (strcmp(window, "all") == 0) return true;
  if (strncmp(window, "kernel:", 7) == 0) return window_of_kernel(population, window + 7, diags);
  int length = 0;
  bool good = sscanf(window, "cycles:%" SCNu64 "-%" SCNu64 "%n", &from, &to, &length) == 2 && window[length] == '\0';
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

// The model with its arguments, by way of a whole fault's text.
static bool set_model(Population *population, const RegionTable *table, const char *model, Diags *diags) {
  Text text = {0}, site = {0};
  Site first = region_site(table, population->regions[0], 0);
  site_format(table, &first, &site);
  text_add(&text, "%s:%s@0", model, site.at);
  bool good = fault_parse(table, text.at, &population->pattern, diags);
  if (good && population->pattern.model >= FAULT_UNIT) {
    good = diags_add(diags, NULL, 0, 0, "model '%s' strikes no cells; run it with 'redoubt run --fault'", model);
  }
  text_free(&text);
  text_free(&site);
  return good;
}

bool population_make(Population *population, const Golden *golden, const CampaignOptions *options, Diags *diags) {
  *population = (Population){.seed = options->seed, .golden = golden};
  return add_structures(population, &golden->table, options->structures, diags) && set_window(population, options->window, diags) &&
         set_model(population, &golden->table, options->model, diags);
}

double population_size(const Population *population) {
  return (double)population->bits[population->count - 1] * (double)population->cycles;
}

Fault population_draw(const Population *population, const RegionTable *table, uint64_t id) {
  uint64_t bit = random_below(random_draw(population->seed, id, DRAW_BIT), population->bits[population->count - 1]);
  uint32_t i = 0;
  while (population->bits[i] <= bit) i++;
  Fault fault = population->pattern;
  fault.site = region_site(table, population->regions[i], i == 0 ? bit : bit - population->bits[i - 1]);
  fault.from = window_cycle(population, random_below(random_draw(population->seed, id, DRAW_CYCLE), population->cycles));
  fault.to = fault_models[fault.model].permanent ? UINT64_MAX : fault.from;
  fault.seed = random_draw(population->seed, id, DRAW_SEED);
  return fault;
}
