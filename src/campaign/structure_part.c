// A part of a structure, as users name it: rf[sm=1,lane=3] is every register and every bit of lane 3 on SM 1. Keys are those of a fault's
// site: what is named is held, the rest is free.
#include "campaign/campaign_internal.h"

#include <inttypes.h>
#include <stdlib.h>

// The keys of a region: its dimensions, its unit, its bit. The unit has no name where a row has one unit only.
static uint32_t key_count(const Region *region) { return region->dim_count + 2; }

static const char *key_name(const Region *region, uint32_t key) {
  if (key < region->dim_count) return region->dims[key].name;
  return key == region->dim_count ? region->unit : "bit";
}

static uint64_t key_limit(const Region *region, uint32_t key) {
  if (key < region->dim_count) return region->dims[key].count;
  return key == region->dim_count ? region->units : region->bits;
}

static bool hold(const Region *region, const char *text, size_t length, StructurePart *part, Diags *diags) {
  size_t name = 0;
  while (name < length && text[name] != '=') name++;
  for (uint32_t key = 0; key < key_count(region); key++) {
    if (strlen(key_name(region, key)) != name || strncmp(key_name(region, key), text, name) != 0) continue;
    char *end;
    uint64_t value = strtoull(text + name + (name < length), &end, 10);
    if (name == length || end != text + length || text[name + 1] < '0' || text[name + 1] > '9' || value >= key_limit(region, key))
      return diags_add(diags, NULL, 0, 0, "structure %s[%.*s]: %.*s is a number from 0 to %" PRIu64, region->name, (int)length, text,
                       (int)name, text, key_limit(region, key) - 1);
    part->is_held[key] = true;
    part->value[key] = value;
    return part->is_part = true;
  }
  return diags_add(diags, NULL, 0, 0, "structure %s[%.*s]: %s has no such key; 'redoubt list structures' shows what it is made of",
                   region->name, (int)length, text, region->name);
}

bool part_parse(const Region *region, const char *keys, StructurePart *part, Diags *diags) {
  *part = (StructurePart){0};
  bool good = true;
  while (good && *keys != '\0' && *keys != ']') {
    size_t length = strcspn(keys, ",]");
    good = hold(region, keys, length, part, diags);
    keys += length + (keys[length] == ',');
  }
  if (!good || strcmp(keys, "]") == 0) return good;
  return diags_add(diags, NULL, 0, 0, "structure %s[...: does not end with ']'", region->name);
}

void part_shape(const Region *region, const StructurePart *part, uint64_t *rows, uint32_t *units, uint32_t *bits) {
  *rows = 1;
  for (uint32_t key = 0; key < region->dim_count; key++) *rows *= part->is_held[key] ? 1 : region->dims[key].count;
  *units = part->is_held[region->dim_count] ? 1 : region->units;
  *bits = part->is_held[region->dim_count + 1] ? 1 : region->bits;
}

// The number's digits are the free keys, the bit last.
Site part_site(const RegionTable *table, uint16_t index, const StructurePart *part, uint64_t number) {
  const Region *region = &table->items[index];
  if (!part->is_part) return region_site(table, index, number);
  uint64_t values[REGION_MAX_DIMS + 2] = {0}, row = 0;
  for (uint32_t key = key_count(region); key-- > 0;) {
    uint64_t limit = part->is_held[key] ? 1 : key_limit(region, key);
    values[key] = part->is_held[key] ? part->value[key] : number % limit;
    number /= limit;
  }
  for (uint32_t key = 0; key < region->dim_count; key++) row = row * region->dims[key].count + values[key];
  return (Site){index, row, (uint32_t)values[region->dim_count], (uint32_t)values[region->dim_count + 1]};
}

bool part_has_row(const Region *region, const StructurePart *part, uint64_t row) {
  bool is_in = true;
  for (uint32_t key = region->dim_count; key-- > 0; row /= region->dims[key].count)
    is_in &= !part->is_held[key] || part->value[key] == row % region->dims[key].count;
  return is_in;
}

uint32_t part_units(const Region *region, const StructurePart *part) {
  if (part->is_held[region->dim_count]) return 1u << part->value[region->dim_count];
  return region->units == 32 ? UINT32_MAX : (1u << region->units) - 1;
}

uint64_t part_hash(const Region *region, const StructurePart *part, uint64_t seed) {
  Text name = {0};
  text_add(&name, "%s", region->name);
  for (uint32_t key = 0; key < key_count(region); key++) {
    if (part->is_held[key]) text_add(&name, "[%s=%" PRIu64 "]", key_name(region, key), part->value[key]);
  }
  uint64_t hash = hash_bytes(name.at, name.length, seed);
  text_free(&name);
  return hash;
}
