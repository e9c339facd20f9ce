// Regions of a machine's state: names, numbering of bits, sites as users write them, listings.
// Invariant: a Site that site_parse or region_site returned lies inside its region.
#include "hook/region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

const char *const origin_names[ORIGIN_COUNT] = {"modelled", "stands for", "simulator"};

uint16_t region_find(const RegionTable *table, const char *name) {
  for (uint32_t i = 0; i < table->count; i++) {
    if (strcmp(table->items[i].name, name) == 0) return (uint16_t)i;
  }
  return REGION_NONE;
}

uint16_t region_with_role(const RegionTable *table, RegionRole role) {
  for (uint32_t i = 0; i < table->count; i++) {
    if (table->items[i].role == role) return (uint16_t)i;
  }
  return REGION_NONE;
}

uint32_t region_shared_row(const RegionTable *table) {
  uint16_t shared = region_with_role(table, REGION_ROLE_SHARED);
  return shared == REGION_NONE ? 1 : table->items[shared].units * (uint32_t)table->items[shared].unit_bytes;
}

Site region_site(const RegionTable *table, uint16_t region, uint64_t number) {
  ASSERT(region < table->count && number < region_bits(&table->items[region]));
  const Region *item = &table->items[region];
  uint64_t unit = number / item->bits;
  return (Site){region, unit / item->units, (uint32_t)(unit % item->units), (uint32_t)(number % item->bits)};
}

uint64_t unit_get(const Region *region, const uint8_t *unit) {
  uint64_t value = 0;
  memcpy(&value, unit, (region->bits + 7) / 8);
  return region->bits == 64 ? value : value & ((UINT64_C(1) << region->bits) - 1);
}

void unit_set(const Region *region, uint8_t *unit, uint64_t value) {
  size_t bytes = (region->bits + 7) / 8;
  uint64_t mask = region->bits == 64 ? UINT64_MAX : (UINT64_C(1) << region->bits) - 1, old = 0;
  memcpy(&old, unit, bytes);
  value = (old & ~mask) | (value & mask);
  memcpy(unit, &value, bytes);
}

// ---- Sites as text -------------------------------------------------------------------------------
// The keys of a region's sites: its dims, its unit, its bit.
enum { MOST_KEYS = REGION_MAX_DIMS + 2 };
typedef struct SiteKeys {
  const char *name[MOST_KEYS];
  uint64_t limit[MOST_KEYS]; // values are below
  uint32_t count;
} SiteKeys;

static SiteKeys site_keys(const Region *region) {
  SiteKeys keys = {0};
  for (uint32_t i = 0; i < region->dim_count; i++) {
    keys.name[keys.count] = region->dims[i].name;
    keys.limit[keys.count++] = region->dims[i].count;
  }
  keys.name[keys.count] = region->units > 1 ? region->unit : NULL;
  keys.limit[keys.count++] = region->units;
  keys.name[keys.count] = "bit";
  keys.limit[keys.count++] = region->bits;
  return keys;
}

void site_format(const RegionTable *table, const Site *site, Text *out) {
  const Region *region = &table->items[site->region];
  SiteKeys keys = site_keys(region);
  uint64_t values[MOST_KEYS], row = site->row;
  values[keys.count - 1] = site->bit;
  values[keys.count - 2] = site->unit;
  for (uint32_t i = region->dim_count; i-- > 0;) {
    values[i] = row % region->dims[i].count;
    row /= region->dims[i].count;
  }
  text_add(out, "%s", region->name);
  const char *before = "[";
  for (uint32_t i = 0; i < keys.count; i++) {
    if (keys.name[i] == NULL) continue;
    text_add(out, "%s%s=%" PRIu64, before, keys.name[i], values[i]);
    before = ",";
  }
  text_add(out, "]");
}

typedef struct SiteParse {
  const char *text; // all of it, for messages
  const Region *region;
  SiteKeys keys;
  uint64_t values[MOST_KEYS];
  bool given[MOST_KEYS];
  Diags *diags;
} SiteParse;

static bool unknown_region(const RegionTable *table, const char *text, const char *name, Diags *diags) {
  const char **names = malloc((table->count + 1) * sizeof *names);
  ASSERT(names != NULL);
  for (uint32_t i = 0; i < table->count; i++) names[i] = table->items[i].name;
  const char *near = text_nearest(name, names, table->count);
  free(names);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "%s: this machine has no structure '%s'; did you mean '%s'?", text, name, near);
  return diags_add(diags, NULL, 0, 0, "%s: this machine has no structure '%s'; 'redoubt list structures' shows all", text, name);
}

static bool unknown_key(const SiteParse *parse, const char *key) {
  const char *names[MOST_KEYS];
  uint32_t count = 0;
  Text all = {0};
  for (uint32_t i = 0; i < parse->keys.count; i++) {
    if (parse->keys.name[i] == NULL) continue;
    names[count++] = parse->keys.name[i];
    text_add(&all, "%s%s", all.length == 0 ? "" : ", ", parse->keys.name[i]);
  }
  const char *near = text_nearest(key, names, count), *name = parse->region->name;
  if (near != NULL) {
    diags_add(parse->diags, NULL, 0, 0, "%s: %s has no '%s'; did you mean '%s'?", parse->text, name, key, near);
  } else {
    diags_add(parse->diags, NULL, 0, 0, "%s: %s has no '%s', but %s", parse->text, name, key, all.at);
  }
  text_free(&all);
  return false;
}

static bool parse_value(SiteParse *parse, uint32_t key, const char *word) {
  char *end;
  errno = 0;
  bool hexadecimal = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
  uint64_t value = strtoull(word, &end, hexadecimal ? 16 : 10);
  const char *name = parse->keys.name[key];
  if (word[0] < '0' || word[0] > '9' || *end != '\0' || (errno != 0 && errno != ERANGE)) {
    return diags_add(parse->diags, NULL, 0, 0, "%s: %s=%s is not a whole number", parse->text, name, word);
  }
  if (errno == ERANGE || value >= parse->keys.limit[key]) {
    return diags_add(parse->diags, NULL, 0, 0, "%s: %s=%s is out of range: 0 to %" PRIu64, parse->text, name, word,
                     parse->keys.limit[key] - 1);
  }
  if (parse->given[key]) return diags_add(parse->diags, NULL, 0, 0, "%s: %s is given twice", parse->text, name);
  parse->given[key] = true;
  parse->values[key] = value;
  return true;
}

// "key=value", cut out and without blanks around it.
static bool parse_pair(SiteParse *parse, char *pair) {
  char *equals = strchr(pair, '=');
  if (equals == NULL) return diags_add(parse->diags, NULL, 0, 0, "%s: '%s' is not key=value", parse->text, pair);
  *equals = '\0';
  for (uint32_t i = 0; i < parse->keys.count; i++) {
    if (parse->keys.name[i] != NULL && strcmp(parse->keys.name[i], pair) == 0) return parse_value(parse, i, equals + 1);
  }
  return unknown_key(parse, pair);
}

static bool check_complete(const SiteParse *parse) {
  Text missing = {0};
  for (uint32_t i = 0; i < parse->keys.count; i++) {
    if (parse->given[i] || parse->keys.limit[i] <= 1) continue;
    text_add(&missing, "%s%s (0 to %" PRIu64 ")", missing.length == 0 ? "" : ", ", parse->keys.name[i], parse->keys.limit[i] - 1);
  }
  bool complete = missing.length == 0;
  if (!complete) diags_add(parse->diags, NULL, 0, 0, "%s: %s needs also %s", parse->text, parse->region->name, missing.at);
  text_free(&missing);
  return complete;
}

// `rest` is what stands between the brackets; it is cut into words in place.
static bool parse_pairs(SiteParse *parse, char *rest) {
  while (*rest != '\0') {
    char *comma = rest + strcspn(rest, ",");
    char *next = *comma == ',' ? comma + 1 : comma;
    *comma = '\0';
    rest += strspn(rest, " ");
    size_t length = strlen(rest);
    while (length > 0 && rest[length - 1] == ' ') rest[--length] = '\0';
    if (!parse_pair(parse, rest)) return false;
    rest = next;
  }
  return check_complete(parse);
}

bool site_parse(const RegionTable *table, const char *text, Site *site, Diags *diags) {
  Text copy = {0};
  text_add(&copy, "%s", text);
  size_t name_length = strcspn(copy.at, "[");
  bool bracket = copy.at[name_length] == '[', closed = bracket && copy.at[copy.length - 1] == ']';
  if (bracket) copy.at[name_length] = '\0';
  if (closed) copy.at[copy.length - 1] = '\0';
  uint16_t region = region_find(table, copy.at);
  bool good = false;
  if (bracket && !closed) {
    diags_add(diags, NULL, 0, 0, "%s: does not end with ']'; a site reads like rf[sm=3,reg=12,lane=7,bit=4]", text);
  } else if (region == REGION_NONE) {
    unknown_region(table, text, copy.at, diags);
  } else if (region_bits(&table->items[region]) == 0) {
    diags_add(diags, NULL, 0, 0, "%s: this machine has no %s", text, table->items[region].title);
  } else {
    const Region *item = &table->items[region];
    SiteParse parse = {.text = text, .region = item, .keys = site_keys(item), .diags = diags};
    good = parse_pairs(&parse, bracket ? copy.at + name_length + 1 : copy.at + name_length);
    *site =
        (Site){.region = region, .unit = (uint32_t)parse.values[parse.keys.count - 2], .bit = (uint32_t)parse.values[parse.keys.count - 1]};
    for (uint32_t i = 0; i < item->dim_count; i++) site->row = site->row * item->dims[i].count + parse.values[i];
  }
  text_free(&copy);
  return good;
}

// ---- Checks and listings -------------------------------------------------------------------------
static bool check_shape(const Region *region, Diags *diags) {
  uint64_t rows = 1;
  for (uint32_t i = 0; i < region->dim_count; i++) rows *= region->dims[i].count;
  if (region->dim_count > REGION_MAX_DIMS || rows != region->rows) {
    return diags_add(diags, NULL, 0, 0, "region %s: its rows are not the product of its dimensions", region->name);
  }
  if (region->bits < 1 || region->bits > 64 || region->units < 1 || region->units > REGION_MAX_UNITS) {
    return diags_add(diags, NULL, 0, 0, "region %s: %u units of %u bits", region->name, region->units, region->bits);
  }
  if ((region->flags & REGION_OUTPUT) != 0) return true; // in no memory
  bool units_overlap = region->units > 1 && region->unit_bytes * 8 < region->bits;
  if (units_overlap || (region->rows > 1 && region->row_bytes == 0)) {
    return diags_add(diags, NULL, 0, 0, "region %s: its units or rows lie over each other", region->name);
  }
  return true;
}

// Marks the region's bits in `taken`, a picture of the block.
static bool take_bits(const RegionTable *table, uint16_t index, uint8_t *taken, Diags *diags) {
  const Region *region = &table->items[index];
  uint64_t bits = region_bits(region);
  for (uint64_t i = 0; i < bits; i++) {
    Site site = region_site(table, index, i);
    size_t byte = site_byte(region, &site);
    if (byte >= table->block_bytes) return diags_add(diags, NULL, 0, 0, "region %s: reaches past the block", region->name);
    if ((taken[byte] & site_mask(&site)) != 0) {
      return diags_add(diags, NULL, 0, 0, "region %s: byte %zu belongs to another region or row too", region->name, byte);
    }
    taken[byte] |= site_mask(&site);
  }
  return true;
}

bool region_table_check(const RegionTable *table, Diags *diags) {
  uint32_t before = diags->count;
  uint8_t *taken = calloc(1, table->block_bytes + 1);
  ASSERT(taken != NULL);
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    if (region_find(table, region->name) != i) diags_add(diags, NULL, 0, 0, "region %s: the name is taken twice", region->name);
    if (!check_shape(region, diags)) continue;
    if ((region->flags & (REGION_OUTSIDE | REGION_OUTPUT)) == 0) take_bits(table, (uint16_t)i, taken, diags);
  }
  free(taken);
  return diags->count == before;
}

static void add_shape(const Region *region, Text *out) {
  for (uint32_t i = 0; i < region->dim_count; i++) text_add(out, "%u %s x ", region->dims[i].count, region->dims[i].name);
  if (region->units > 1) text_add(out, "%u %s x ", region->units, region->unit);
  text_add(out, "%u bit%s", region->bits, region->bits == 1 ? "" : "s");
}

// Bits of one SM, for what every SM has; 0 otherwise.
static uint64_t bits_per_sm(const Region *region) {
  bool per_sm = region->dim_count > 0 && region->dims[0].count > 0 && strcmp(region->dims[0].name, "sm") == 0;
  return per_sm ? region_bits(region) / region->dims[0].count : 0;
}

typedef struct Listed {
  const char *name;
  uint64_t bits, per_sm;
  const char *ecc, *cells, *shape;
} Listed;

static void add_listed(const Listed *listed, Text *out) {
  text_add(out, "%-18s %12" PRIu64, listed->name, listed->bits);
  if (listed->per_sm > 0) text_add(out, " %12" PRIu64, listed->per_sm);
  else text_add(out, " %12s", "");
  text_add(out, " %-4s %-10s %-46s ", listed->ecc, listed->cells, listed->shape);
}

// What it belongs to, and what its bits mean; small machines say both in one. Behind that, what a real GPU has in its place.
static void add_meaning(const Region *region, Text *out) {
  bool is_same = strcmp(region->title, region->meaning) == 0;
  text_add(out, is_same ? "%s" : "%s: %s", region->title, region->meaning);
  if (region->origin.kind == ORIGIN_STANDS_FOR) text_add(out, "; stands for %s", region->origin.what);
  if (region->origin.kind == ORIGIN_SIMULATOR) text_add(out, "; the simulator's own: %s", region->origin.what);
}

void regions_list(const RegionTable *table, Text *out) {
  Listed all = {.name = "all", .ecc = "", .cells = "", .shape = ""};
  text_add(out, "%-18s %12s %12s %-4s %-10s %-46s %s\n", "structure", "bits", "bits per SM", "ecc", "cells", "shape", "what");
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    if ((region->flags & REGION_INJECTABLE) == 0) continue; // the simulator's own notes
    Text shape = {0};
    add_shape(region, &shape);
    const Listed listed = {.name = region->name,
                           .bits = region_bits(region),
                           .per_sm = bits_per_sm(region),
                           .ecc = region_can_carry_ecc(region) ? "ecc" : "",
                           .cells = (region->flags & REGION_OUTPUT) != 0 ? "logic" : origin_names[region->origin.kind],
                           .shape = shape.at};
    add_listed(&listed, out);
    add_meaning(region, out);
    text_add(out, "\n");
    text_free(&shape);
    all.bits += region_is_hardware(region) ? listed.bits : 0;
    all.per_sm += region_is_hardware(region) ? listed.per_sm : 0;
  }
  add_listed(&all, out);
  text_add(out, "every cell on the chip, without the simulator's own\n");
}

void regions_markdown(const RegionTable *table, Text *out) {
  text_add(out, "| structure | cells | what | shape | bits | faults may strike | can carry ECC |\n|---|---|---|---|---|---|---|\n");
  for (uint32_t i = 0; i < table->count; i++) {
    const Region *region = &table->items[i];
    text_add(out, "| `%s` | %s | ", region->name, origin_names[region->origin.kind]);
    add_meaning(region, out);
    text_add(out, " | ");
    add_shape(region, out);
    text_add(out, " | %" PRIu64 " | %s | %s |\n", region_bits(region), (region->flags & REGION_INJECTABLE) != 0 ? "yes" : "no",
             region_can_carry_ecc(region) ? "yes" : "no");
  }
}
