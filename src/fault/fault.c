// The table of fault models, faults as text, and the bits that a fault strikes.
#include "fault/fault.h"
#include "fault/fault_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const FaultModelInfo fault_models[FAULT_MODELS] = {
#define MODEL(id, name, arguments, permanent, summary) {name, arguments, summary, permanent},
#include "fault/fault.def"
#undef MODEL
};

// ---- Text ------------------------------------------------------------------------------------------

static bool bad(Diags *diags, const char *text, const char *what) {
  return diags_add(diags, NULL, 0, 0, "fault '%s': %s; a fault reads like flip:rf[sm=3,reg=12,lane=7,bit=4]@12345", text, what);
}

static bool find_model(const char *name, Fault *fault, Diags *diags) {
  const char *names[FAULT_MODELS];
  for (uint32_t i = 0; i < FAULT_MODELS; i++) names[i] = fault_models[i].name;
  for (uint32_t i = 0; i < FAULT_MODELS; i++) {
    if (strcmp(names[i], name) != 0) continue;
    fault->model = (FaultModel)i;
    return true;
  }
  const char *near = text_nearest(name, names, FAULT_MODELS);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "no fault model '%s'; did you mean '%s'?", name, near);
  return diags_add(diags, NULL, 0, 0, "no fault model '%s'; 'redoubt list faults' shows all", name);
}

// "(3)" or "(100,900)"; "(4,17)" where the model draws: with the seed of its draws.
static bool parse_arguments(const char *at, Fault *fault) {
  const char *wanted = fault_models[fault->model].arguments;
  uint32_t count = wanted[0] == '\0' ? 0 : strchr(wanted, ',') != NULL ? 2 : 1;
  for (uint32_t i = 0; i < count; i++) {
    if (!text_number(&at, false, &fault->arguments[i]) || fault->arguments[i] == 0 || fault->arguments[i] > UINT32_MAX) return false;
    if (i + 1 < count && *at++ != ',') return false;
  }
  if (fault->model == FAULT_RANDOM && *at == ',') return at++, text_number(&at, false, &fault->seed) && *at == '\0';
  return *at == '\0';
}

// "12345", "100-", "100-200"
static bool parse_time(const char *at, Fault *fault) {
  bool permanent = fault_lasts(fault);
  if (!text_number(&at, false, &fault->from)) return false;
  fault->to = permanent ? UINT64_MAX : fault->from;
  if (*at == '-') {
    at++;
    if (*at != '\0' && !text_number(&at, false, &fault->to)) return false;
  }
  return *at == '\0' && fault->to >= fault->from;
}

// From a region that has them as a dimension.
static uint64_t warps_per_sm(const RegionTable *regions) {
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if (region->dim_count >= 2 && strcmp(region->dims[1].name, "warp") == 0) return region->dims[1].count;
  }
  return FAULT_NO_WARP;
}

// Takes "warp=W," out of a site of the register file: the row then counts within that warp.
static bool take_warp(const RegionTable *regions, const char *text, Text *site, Fault *fault, Diags *diags) {
  fault->warp = FAULT_NO_WARP;
  char *key = strstr(site->at, "warp=");
  if (strncmp(site->at, "rf[", 3) != 0 || key == NULL) return true;
  const char *end = key + 5;
  uint64_t warp = 0, warps = warps_per_sm(regions);
  if (!text_number(&end, false, &warp) || (*end != ',' && *end != ']')) {
    return diags_add(diags, NULL, 0, 0, "fault '%s': warp= needs a whole number", text);
  }
  if (warp >= warps)
    return diags_add(diags, NULL, 0, 0, "fault '%s': warp=%" PRIu64 " is out of range: 0 to %" PRIu64, text, warp, warps - 1);
  fault->warp = (uint32_t)warp;
  end += *end == ',';
  memmove(key, end, strlen(end) + 1);
  return true;
}

// The ':' after the model, past its arguments, which may hold one.
static char *find_colon(char *text) {
  char *colon = strchr(text, ':'), *open = strchr(text, '(');
  if (open == NULL || (colon != NULL && colon < open)) return colon;
  char *close = strstr(open, "):");
  return close == NULL ? colon : close + 1;
}

// "adjacent(2)", cut into words in place.
static bool parse_model(char *text, Fault *fault, Diags *diags) {
  char *open = strchr(text, '(');
  size_t length = strlen(text);
  if (open != NULL) {
    if (text[length - 1] != ')') return diags_add(diags, NULL, 0, 0, "fault model '%s': a '(' is not closed", text);
    text[length - 1] = '\0';
    *open++ = '\0';
  }
  const char *arguments = open == NULL ? "" : open;
  if (!find_model(text, fault, diags)) return false;
  if (fault->model == FAULT_PATTERN) return pattern_parse(arguments, fault, diags);
  if (parse_arguments(arguments, fault)) return true;
  const char *wanted = fault_models[fault->model].arguments;
  if (wanted[0] == '\0') return diags_add(diags, NULL, 0, 0, "fault model %s takes no numbers", text);
  return diags_add(diags, NULL, 0, 0, "fault model %s takes (%s), whole numbers from 1", text, wanted);
}

bool fault_parse_model(const char *text, Fault *fault, Diags *diags) {
  *fault = (Fault){.warp = FAULT_NO_WARP};
  Text copy = {0};
  text_add(&copy, "%s", text);
  bool good = parse_model(copy.at, fault, diags);
  text_free(&copy);
  return good;
}

static bool parse_parts(const RegionTable *regions, const char *text, char *copy, Fault *fault, Diags *diags) {
  char *at = strrchr(copy, '@'), *colon = find_colon(copy);
  if (at == NULL || colon == NULL || colon > at) return bad(diags, text, "is not MODEL:SITE@CYCLE");
  *at++ = *colon++ = '\0';
  if (!parse_model(copy, fault, diags)) return false;
  if (!parse_time(at, fault)) return bad(diags, text, "the time after '@' is not a cycle, FROM- or FROM-TO");
  Text site = {0};
  text_add(&site, "%s", colon);
  bool good = take_warp(regions, text, &site, fault, diags) && site_parse(regions, site.at, &fault->site, diags);
  if (good) fault->is_output = (regions->items[fault->site.region].flags & REGION_OUTPUT) != 0;
  text_free(&site);
  return good;
}

bool fault_parse(const RegionTable *regions, const char *text, Fault *fault, Diags *diags) {
  *fault = (Fault){.warp = FAULT_NO_WARP};
  Text copy = {0};
  text_add(&copy, "%s", text);
  bool good = parse_parts(regions, text, copy.at, fault, diags);
  text_free(&copy);
  return good;
}

static void format_site(const RegionTable *regions, const Fault *fault, Text *out) {
  size_t start = out->length;
  site_format(regions, &fault->site, out);
  const char *reg = strstr(out->at + start, "reg=");
  if (fault->warp == FAULT_NO_WARP || reg == NULL) return;
  Text tail = {0};
  text_add(&tail, "%s", reg);
  out->length = (size_t)(reg - out->at);
  text_add(out, "warp=%u,%s", fault->warp, tail.at);
  text_free(&tail);
}

void fault_format(const RegionTable *regions, const Fault *fault, Text *out) {
  const FaultModelInfo *model = &fault_models[fault->model];
  text_add(out, "%s", model->name);
  if (fault->model == FAULT_PATTERN) {
    text_add(out, "(");
    pattern_format(fault, out);
  } else if (model->arguments[0] != '\0') {
    text_add(out, "(%" PRIu64, fault->arguments[0]);
  }
  if (strchr(model->arguments, ',') != NULL) text_add(out, ",%" PRIu64, fault->arguments[1]);
  if (fault->model == FAULT_RANDOM && fault->seed != 0) text_add(out, ",%" PRIu64, fault->seed);
  text_add(out, "%s", model->arguments[0] != '\0' ? "):" : ":");
  format_site(regions, fault, out);
  text_add(out, "@%" PRIu64, fault->from);
  if (!model->permanent) return;
  text_add(out, "-");
  if (fault->to != UINT64_MAX) text_add(out, "%" PRIu64, fault->to);
}

// ---- Bits ------------------------------------------------------------------------------------------

// Where the fault's first bit is in the launch that runs now. False: its warps have no such register.
static bool first_bit(const HookMachine *machine, const Region *region, const Fault *fault, Site *site) {
  *site = fault->site;
  if (fault->warp == FAULT_NO_WARP || region->dim_count < 2) return true;
  uint64_t rows = region->rows / region->dims[0].count, sm = site->row / rows, number = site->row % rows;
  uint64_t row = (uint64_t)fault->warp * machine->warp_rows + number;
  site->row = sm * rows + row % rows;
  return number < machine->warp_rows && row < rows;
}

static uint32_t random_bits(const Region *region, const Fault *fault, Site site, Site bits[FAULT_MAX_BITS]) {
  uint64_t row_bits = (uint64_t)region->units * region->bits;
  uint32_t wanted = (uint32_t)min_u64(min_u64(fault->arguments[0], FAULT_MAX_BITS), row_bits), count = 0;
  bits[count++] = site;
  for (uint64_t draw = 0; count < wanted; draw++) {
    uint64_t number = random_below(random_draw(fault->seed, site.row, draw), row_bits);
    Site next = {
        .region = site.region, .row = site.row, .unit = (uint32_t)(number / region->bits), .bit = (uint32_t)(number % region->bits)};
    uint32_t same = 0;
    while (same < count && (bits[same].unit != next.unit || bits[same].bit != next.bit)) same++;
    if (same == count) bits[count++] = next;
  }
  return count;
}

uint32_t fault_bits(const RegionTable *regions, const HookMachine *machine, const Fault *fault, Site bits[FAULT_MAX_BITS]) {
  const Region *region = &regions->items[fault->site.region];
  Site site;
  if (!first_bit(machine, region, fault, &site)) return 0;
  uint32_t first = site.bit, count = 1;
  switch (fault->model) {
  case FAULT_RANDOM: return random_bits(region, fault, site, bits);
  case FAULT_PATTERN: return pattern_bits(region, fault, site, bits);
  case FAULT_ADJACENT: count = (uint32_t)min_u64(fault->arguments[0], region->bits); break;
  case FAULT_BYTE: first = site.bit / 8 * 8, count = min_u32(8, region->bits - first); break;
  case FAULT_LANES: count = region->units; break;
  default: break;
  }
  if (fault->model == FAULT_ADJACENT) first = min_u32(first, region->bits - count); // at the end of a unit: its last bits
  for (uint32_t i = 0; i < count; i++) {
    bits[i] = site;
    if (fault->model == FAULT_LANES) bits[i].unit = i;
    else bits[i].bit = first + i;
  }
  return count;
}

// ---- Hooks -----------------------------------------------------------------------------------------

// Of an asleep one it is not known which: it watches all.
static bool fault_watches(const Hook *hook, uint16_t region) { return ((const FaultHook *)hook->own)->fault.site.region == region; }

Hook *fault_hook(Arena *arena, const Fault *fault) {
  FaultHook *at = ARENA_NEW(arena, FaultHook);
  at->fault = *fault;
  at->hook = (Hook){.name = fault_models[fault->model].name, .kind = HOOK_FAULT, .own = at, .next_cycle = UINT64_MAX};
  at->hook.watches = fault_watches;
  if (fault->is_output) output_hook(at);
  else if (fault_lasts(fault)) stuck_hook(at);
  else flip_hook(at);
  return &at->hook;
}

Hook *fault_hook_asleep(Arena *arena, bool cells, bool outputs) {
  FaultHook *at = ARENA_NEW(arena, FaultHook);
  at->fault = (Fault){.model = FAULT_STUCK0, .site.region = REGION_NONE, .from = UINT64_MAX};
  at->hook = (Hook){.name = "asleep", .kind = HOOK_FAULT, .own = at};
  if (cells) stuck_hook(at);
  if (outputs) output_hook(at);
  at->hook.next_cycle = UINT64_MAX;
  return &at->hook;
}

void fault_hook_wake(Hook *hook, const HookMachine *machine, const Fault *fault) {
  FaultHook *at = hook->own;
  at->fault = *fault;
  hook->watches = fault_watches;
  if (!fault->is_output) hook->next_cycle = machine->cycle;
}
