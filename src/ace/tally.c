// Sums of bit-cycles: by structure and cause, of each kernel, of each line, over time; and answers about single bits.
//
// What is not accounted for is empty: `empty` is never summed but is what is left of all bit-cycles.
#include "ace/ace_internal.h"

#include <stdlib.h>

enum { FIRST_SLICE = 16 }; // cycles

const AceCauseInfo ace_causes[ACE_CAUSES] = {
#define CAUSE(id, name, is_ace, meaning) [ACE_##id] = {name, meaning, is_ace},
#include "ace/cause.def"
#undef CAUSE
};

static void *grow(void *array, uint32_t *room, size_t size) {
  *room = *room == 0 ? 16 : 2 * *room;
  array = realloc(array, *room * size);
  ASSERT(array != NULL);
  return array;
}

// ---- Which structures ------------------------------------------------------------------------------

static AceTold told_of(const Region *region, bool is_named) {
  if ((region->flags & REGION_OUTPUT) != 0) return ACE_TOLD;
  if ((region->flags & REGION_OUTSIDE) != 0) return ACE_OUTSIDE;
  bool is_looked_at = (region->flags & REGION_LOOKED_AT) != 0 && (region->flags & REGION_TAKEN_OUT) == 0;
  bool is_told = ((region->flags & REGION_TRACED) != 0 && !is_looked_at) || (region->flags & REGION_PLACES) != 0 ||
                 (is_named && (region->flags & REGION_DECIDED) != 0);
  return is_told ? ACE_TOLD : ACE_HELD_ALWAYS;
}

// "rf,unit": a name, or all whose names begin with it and a dot; "all": without what no such GPU has.
static bool name_matches(const char *name, size_t length, const Region *region) {
  if (length == 3 && memcmp(name, "all", 3) == 0) return region->origin.kind != ORIGIN_SIMULATOR;
  return strncmp(region->name, name, length) == 0 && (region->name[length] == '\0' || region->name[length] == '.');
}

static bool is_wanted(const char *names, const Region *region) {
  for (const char *at = names == NULL ? "all" : names; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
    if (name_matches(at, strcspn(at, ","), region)) return true;
  }
  return false;
}

// Structures with all these flags, and none of those.
static bool name_is_known(const RegionTable *regions, const char *name, size_t length, uint32_t with, uint32_t without) {
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if ((region->flags & with) == with && (region->flags & without) == 0 && region->rows > 0 && name_matches(name, length, region))
      return true;
  }
  return false;
}

static bool names_are_known(const RegionTable *regions, const char *names, Diags *diags) {
  for (const char *at = names; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
    int length = (int)strcspn(at, ",");
    if (name_is_known(regions, at, (size_t)length, REGION_INJECTABLE, REGION_INNER)) continue;
    if (name_is_known(regions, at, (size_t)length, REGION_INJECTABLE, 0))
      return diags_add(diags, NULL, 0, 0, "'%.*s': ACE analysis does not look inside units; a campaign does", length, at);
    return diags_add(diags, NULL, 0, 0, "no structure '%.*s'; 'redoubt list structures' shows those of a machine", length, at);
  }
  return true;
}

bool tally_open(Tally *tally, const RegionTable *regions, const char *names, Diags *diags) {
  tally->regions = regions;
  if (!names_are_known(regions, names, diags)) return false;
  tally->of_region = new_array(regions->count, sizeof *tally->of_region);
  tally->structures = new_array(regions->count, sizeof *tally->structures);
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    bool is_inner = (region->flags & REGION_INNER) != 0; // what becomes of a value inside a unit is not followed
    bool wanted = !is_inner && (region->flags & REGION_INJECTABLE) != 0 && region_bits(region) > 0 && is_wanted(names, region);
    tally->of_region[i] = wanted ? (uint16_t)tally->count : REGION_NONE;
    if (!wanted) continue;
    tally->structures[tally->count++] = (AceStructure){.name = region->name,
                                                       .region = (uint16_t)i,
                                                       .told = told_of(region, names != NULL),
                                                       .is_output = (region->flags & REGION_OUTPUT) != 0,
                                                       .bit_count = region_bits(region),
                                                       .lanes = region->rows * region->units};
  }
  tally->slices = new_array(tally->count, sizeof *tally->slices);
  tally->probe_first = new_array(regions->count, sizeof *tally->probe_first);
  tally->slice = FIRST_SLICE;
  return true;
}

static void free_launches(Tally *tally);

void tally_close(Tally *tally) {
  free_launches(tally);
  for (uint32_t i = 0; i < tally->kernel_count; i++) {
    free((void *)(uintptr_t)tally->kernels[i].name);
    free(tally->kernels[i].sums);
  }
  for (uint32_t i = 0; i < tally->line_count; i++) free(tally->lines[i].bits);
  for (uint32_t i = 0; i < tally->count && tally->names != NULL; i++) free(tally->names[i]);
  free(tally->names);
  free(tally->kernels);
  free(tally->lines);
  free(tally->slices);
  free(tally->structures);
  free(tally->of_region);
  free(tally->probe_first);
}

// ---- Launches --------------------------------------------------------------------------------------

static void free_code(KernelCode *code, uint32_t structures) {
  for (uint32_t i = 0; i < structures && code->bits != NULL; i++) free(code->bits[i]);
  free(code->bits);
  free(code->lines);
  *code = (KernelCode){0};
}

static void free_launches(Tally *tally) {
  for (uint32_t i = 0; i < tally->open_count; i++) free(tally->open[i].sums);
  for (uint32_t i = 0; i < tally->launch_count; i++) {
    free(tally->launches[i].bits);
    free(tally->launches[i].undecided);
  }
  for (uint32_t i = 0; i < tally->kernel_count && tally->codes != NULL; i++) free_code(&tally->codes[i], tally->count);
  free(tally->open);
  free(tally->launches);
  free(tally->codes);
}

static uint32_t find_kernel(const Tally *tally, const char *name) { // kernel_count: not there
  uint32_t i = 0;
  while (i < tally->kernel_count && strcmp(tally->kernels[i].name, name) != 0) i++;
  return i;
}

static uint32_t add_kernel(Tally *tally, const char *name) {
  if (tally->kernel_count == tally->kernel_room) tally->kernels = grow(tally->kernels, &tally->kernel_room, sizeof *tally->kernels);
  if (tally->kernel_count == tally->code_room) tally->codes = grow(tally->codes, &tally->code_room, sizeof *tally->codes);
  char *copy = strdup(name);
  ASSERT(copy != NULL);
  tally->kernels[tally->kernel_count] = (AceKernel){.name = copy, .sums = new_array(tally->count, sizeof(AceSums))};
  tally->codes[tally->kernel_count] = (KernelCode){0};
  return tally->kernel_count++;
}

static uint32_t line_count(const Program *program) { return program == NULL || program->lines == NULL ? 0 : program->code_count; }

static bool is_same_code(const KernelCode *code, const Program *program) {
  uint32_t count = line_count(program);
  return code->count == count && (count == 0 || memcmp(code->lines, program->lines, count * sizeof *code->lines) == 0);
}

bool tally_is_new_code(const Tally *tally, const HookMachine *machine, const char *kernel) {
  uint32_t number = find_kernel(tally, kernel);
  return number < tally->kernel_count && !is_same_code(&tally->codes[number], machine->program);
}

static AceLine *find_line(Tally *tally, uint32_t kernel, uint32_t line) {
  uint32_t i = tally->line_count;
  while (i > 0 && (tally->lines[i - 1].kernel > kernel || (tally->lines[i - 1].kernel == kernel && tally->lines[i - 1].line > line))) i--;
  if (i > 0 && tally->lines[i - 1].kernel == kernel && tally->lines[i - 1].line == line) return &tally->lines[i - 1];
  if (tally->line_count == tally->line_room) tally->lines = grow(tally->lines, &tally->line_room, sizeof *tally->lines);
  memmove(&tally->lines[i + 1], &tally->lines[i], (tally->line_count - i) * sizeof *tally->lines);
  tally->line_count++;
  tally->lines[i] = (AceLine){.kernel = kernel, .line = line, .bits = new_array(tally->count, sizeof(uint64_t))};
  return &tally->lines[i];
}

// What was kept by instruction goes to the lines.
static void add_lines(Tally *tally, uint32_t kernel) {
  KernelCode *code = &tally->codes[kernel];
  for (uint32_t i = 0; i < tally->count && code->bits != NULL; i++) {
    for (uint32_t pc = 0; pc < code->count && code->bits[i] != NULL; pc++) {
      if (code->bits[i][pc] == 0) continue;
      find_line(tally, kernel, code->lines[pc])->bits[i] += code->bits[i][pc];
      code->bits[i][pc] = 0;
    }
  }
}

static void set_code(Tally *tally, uint32_t kernel, const Program *program) {
  KernelCode *code = &tally->codes[kernel];
  if (is_same_code(code, program) && code->bits != NULL) return;
  add_lines(tally, kernel);
  free_code(code, tally->count);
  code->count = line_count(program);
  code->lines = new_array(code->count, sizeof *code->lines);
  code->bits = new_array(tally->count, sizeof *code->bits);
  if (code->count > 0) memcpy(code->lines, program->lines, code->count * sizeof *code->lines);
}

void tally_launch(Tally *tally, const HookMachine *machine, const char *kernel) {
  uint32_t number = find_kernel(tally, kernel);
  if (number == tally->kernel_count) number = add_kernel(tally, kernel);
  set_code(tally, number, machine->program);
  if (tally->open_count == tally->open_room) tally->open = grow(tally->open, &tally->open_room, sizeof *tally->open);
  if (tally->launch_count == tally->launch_room) tally->launches = grow(tally->launches, &tally->launch_room, sizeof *tally->launches);
  tally->launch_number++;
  if (tally->open_count == 0) tally->open_first = tally->launch_number;
  tally->open[tally->open_count++] =
      (OpenLaunch){.kernel = number, .past = tally->cycles, .began_at = machine->cycle, .sums = new_array(tally->count, sizeof(AceSums))};
  tally->launches[tally->launch_count++] = (AceLaunch){
      .kernel = number, .bits = new_array(tally->count, sizeof(uint64_t)), .undecided = new_array(tally->count, sizeof(uint64_t))};
  tally_turn_to(tally, tally->launch_number);
}

static void add_launch(Tally *tally, const OpenLaunch *open, AceLaunch *launch) {
  AceKernel *kernel = &tally->kernels[open->kernel];
  for (uint32_t i = 0; i < tally->count; i++) {
    for (uint32_t k = 0; k < ACE_CAUSES; k++) {
      kernel->sums[i].bits[k] += open->sums[i].bits[k];
      kernel->sums[i].lanes[k] += open->sums[i].lanes[k];
      if (ace_causes[k].is_ace) launch->bits[i] += open->sums[i].bits[k];
    }
    launch->undecided[i] = open->sums[i].bits[ACE_UNDECIDED];
  }
}

void tally_decided(Tally *tally, uint32_t before) {
  uint32_t count = min_u32(before - min_u32(before, tally->open_first), tally->open_count);
  for (uint32_t i = 0; i < count; i++) {
    add_launch(tally, &tally->open[i], &tally->launches[tally->open_first + i - 1]);
    free(tally->open[i].sums);
  }
  tally->open_count -= count;
  tally->open_first += count;
  if (count > 0) memmove(tally->open, &tally->open[count], tally->open_count * sizeof *tally->open);
  tally->at = tally->open_count == 0 ? NULL : &tally->open[tally->open_count - 1];
  for (uint32_t i = 0; i < tally->kernel_count && tally->open_count == 0; i++) add_lines(tally, i);
}

void tally_finish(Tally *tally, const HookMachine *machine) {
  uint64_t cycles = tally_time(tally, machine);
  const OpenLaunch *launch = &tally->open[tally->open_count - 1];
  tally->kernels[launch->kernel].launches++;
  tally->kernels[launch->kernel].cycles += cycles;
  tally->launches[tally->launch_count - 1].cycles = cycles;
  for (uint32_t i = 0; i < tally->probe_count; i++) { // those that nothing has answered met nothing
    AceProbe *probe = &tally->probes[i];
    uint16_t structure = tally->of_region[probe->site.region];
    bool is_now = probe->cycle >= launch->began_at && probe->cycle <= machine->cycle;
    if (!is_now || structure == REGION_NONE || tally->structures[structure].told == ACE_OUTSIDE) continue;
    probe->is_known = true;
    if (tally->structures[structure].told == ACE_HELD_ALWAYS) probe->cause = ACE_HELD;
  }
  for (uint32_t i = 0; i < tally->count; i++) {
    const AceStructure *structure = &tally->structures[i];
    if (structure->told != ACE_HELD_ALWAYS) continue;
    tally_sum(tally, structure->region, ACE_HELD, structure->bit_count * cycles);
    tally_slice(tally, structure->region, 0, (uint32_t)cycles, structure->bit_count);
  }
  tally->cycles += cycles;
}

// ---- Slices of time ----------------------------------------------------------------------------------
// Of a stretch the slice in which it begins gets a part, and every one after it the whole, until it ends.

static void double_slices(Tally *tally) {
  int64_t cycles = (int64_t)tally->slice;
  for (uint32_t i = 0; i < tally->count; i++) {
    Slices *slices = &tally->slices[i], was = *slices;
    memset(slices, 0, sizeof *slices);
    for (uint32_t k = 0; k < ACE_SLICES / 2; k++) {
      slices->at[k].part = was.at[2 * k].part + was.at[2 * k + 1].part + cycles * was.at[2 * k].after;
      slices->at[k].after = was.at[2 * k].after + was.at[2 * k + 1].after;
    }
  }
  tally->slice *= 2;
}

// Slices are FIRST_SLICE cycles, doubled: a power of two.
static uint64_t slice_at(const Tally *tally, uint64_t time) { return time >> __builtin_ctzll(tally->slice); }

static void add_edge(Tally *tally, Slices *slices, uint64_t time, int64_t weight) {
  uint64_t slice = slice_at(tally, time);
  slices->at[slice].part += weight * (int64_t)((slice + 1) * tally->slice - time);
  slices->at[slice].after += weight;
}

void tally_slice(Tally *tally, uint16_t region, uint32_t from, uint32_t to, uint64_t weight) {
  uint64_t past = tally->at->past; // launches follow one another
  if (from >= to || weight == 0) return;
  while (slice_at(tally, past + to) >= ACE_SLICES) double_slices(tally);
  Slices *slices = &tally->slices[tally->of_region[region]];
  add_edge(tally, slices, past + from, (int64_t)weight);
  add_edge(tally, slices, past + to, -(int64_t)weight);
}

void tally_slice_at(Tally *tally, uint16_t region, uint32_t time, uint64_t bits) {
  uint64_t past = tally->at->past;
  while (slice_at(tally, past + time) >= ACE_SLICES) double_slices(tally);
  tally->slices[tally->of_region[region]].at[slice_at(tally, past + time)].part += (int64_t)bits;
}

void tally_line(Tally *tally, uint16_t region, uint32_t pc, uint64_t bits) {
  KernelCode *code = &tally->codes[tally->at->kernel];
  uint64_t **of_structure = &code->bits[tally->of_region[region]];
  if (pc >= code->count) return;
  if (*of_structure == NULL) *of_structure = new_array(code->count, sizeof **of_structure);
  (*of_structure)[pc] += bits;
}

// ---- Probes --------------------------------------------------------------------------------------------

static int by_place(const void *left, const void *right) {
  const AceProbe *a = left, *b = right;
  if (a->site.region != b->site.region) return a->site.region < b->site.region ? -1 : 1;
  if (a->site.row != b->site.row) return a->site.row < b->site.row ? -1 : 1;
  if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
  return a->id < b->id ? -1 : a->id > b->id;
}

void tally_ask(Tally *tally, AceProbe *probes, uint32_t count) {
  if (count > 0) qsort(probes, count, sizeof *probes, by_place);
  tally->probes = probes;
  tally->probe_count = count;
  for (uint32_t i = count; i > 0; i--) {
    ASSERT(probes[i - 1].site.region < tally->regions->count);
    probes[i - 1].cause = ACE_EMPTY;
    probes[i - 1].is_known = false;
    tally->probe_first[probes[i - 1].site.region] = i;
  }
}

uint32_t tally_first(const Tally *tally, uint16_t region, uint64_t row) {
  if (tally->probe_first[region] == 0) return tally->probe_count;
  uint32_t low = tally->probe_first[region] - 1, high = tally->probe_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const Site *site = &tally->probes[middle].site;
    if (site->region < region || (site->region == region && site->row < row)) low = middle + 1;
    else high = middle;
  }
  bool is_there = low < tally->probe_count && tally->probes[low].site.region == region && tally->probes[low].site.row == row;
  return is_there ? low : tally->probe_count;
}

bool tally_is_asked(const Tally *tally, uint16_t region, uint64_t row) {
  return tally->probe_first[region] != 0 && tally_first(tally, region, row) < tally->probe_count;
}

void tally_answer(Tally *tally, uint16_t region, uint64_t row, uint32_t unit, uint64_t bits, uint32_t from, uint32_t to, AceCause cause) {
  for (uint32_t i = tally_first(tally, region, row); i < tally->probe_count; i++) {
    AceProbe *probe = &tally->probes[i];
    if (probe->site.region != region || probe->site.row != row || probe->cycle >= tally->at->began_at + to) return;
    bool is_met = probe->cycle >= tally->at->began_at + from && probe->site.unit == unit && (bits >> probe->site.bit & 1) != 0;
    if (is_met) probe->cause = cause;
  }
}
