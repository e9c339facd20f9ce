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

static AceTold told_of(const Region *region) {
  if ((region->flags & REGION_OUTPUT) != 0) return ACE_TOLD;
  if ((region->flags & REGION_OUTSIDE) != 0) return ACE_OUTSIDE;
  bool all_accesses = (region->flags & (REGION_TRACED | REGION_LOOKED_AT)) == REGION_TRACED;
  return all_accesses || (region->flags & REGION_PLACES) != 0 ? ACE_TOLD : ACE_NOT_TOLD;
}

// "rf,unit": a name, or all whose names begin with it and a dot; "all".
static bool name_matches(const char *name, size_t length, const char *region) {
  if (length == 3 && memcmp(name, "all", 3) == 0) return true;
  return strncmp(region, name, length) == 0 && (region[length] == '\0' || region[length] == '.');
}

static bool is_wanted(const char *names, const char *region) {
  if (names == NULL) return true;
  for (const char *at = names; *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
    if (name_matches(at, strcspn(at, ","), region)) return true;
  }
  return false;
}

static bool name_is_known(const RegionTable *regions, const char *name, size_t length) {
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if ((region->flags & REGION_INJECTABLE) != 0 && region->rows > 0 && name_matches(name, length, region->name)) return true;
  }
  return false;
}

static bool names_are_known(const RegionTable *regions, const char *names, Diags *diags) {
  for (const char *at = names; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
    int length = (int)strcspn(at, ",");
    if (!name_is_known(regions, at, (size_t)length))
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
    bool wanted = (region->flags & REGION_INJECTABLE) != 0 && region_bits(region) > 0 && is_wanted(names, region->name);
    tally->of_region[i] = wanted ? (uint16_t)tally->count : REGION_NONE;
    if (!wanted) continue;
    tally->structures[tally->count++] = (AceStructure){.name = region->name,
                                                       .region = (uint16_t)i,
                                                       .told = told_of(region),
                                                       .is_output = (region->flags & REGION_OUTPUT) != 0,
                                                       .bit_count = region_bits(region),
                                                       .lanes = region->rows * region->units};
  }
  tally->launch = new_array(tally->count, sizeof *tally->launch);
  tally->last = new_array(tally->count, sizeof *tally->last);
  tally->slices = new_array(tally->count, sizeof *tally->slices);
  tally->by_pc = new_array(tally->count, sizeof *tally->by_pc);
  tally->probe_first = new_array(regions->count, sizeof *tally->probe_first);
  tally->slice = FIRST_SLICE;
  return true;
}

void tally_close(Tally *tally) {
  for (uint32_t i = 0; i < tally->kernel_count; i++) {
    free((void *)(uintptr_t)tally->kernels[i].name);
    free(tally->kernels[i].sums);
  }
  for (uint32_t i = 0; i < tally->line_count; i++) free(tally->lines[i].bits);
  for (uint32_t i = 0; i < tally->count && tally->names != NULL; i++) free(tally->names[i]);
  free(tally->names);
  for (uint32_t i = 0; i < tally->count && tally->by_pc != NULL; i++) free(tally->by_pc[i]);
  free(tally->kernels);
  free(tally->lines);
  free(tally->by_pc);
  free(tally->slices);
  free(tally->launch);
  free(tally->last);
  free(tally->structures);
  free(tally->of_region);
  free(tally->probe_first);
}

// ---- Launches --------------------------------------------------------------------------------------

static uint32_t find_kernel(Tally *tally, const char *name) {
  for (uint32_t i = 0; i < tally->kernel_count; i++) {
    if (strcmp(tally->kernels[i].name, name) == 0) return i;
  }
  if (tally->kernel_count == tally->kernel_room) tally->kernels = grow(tally->kernels, &tally->kernel_room, sizeof *tally->kernels);
  char *copy = strdup(name);
  ASSERT(copy != NULL);
  tally->kernels[tally->kernel_count] = (AceKernel){.name = copy, .sums = new_array(tally->count, sizeof(AceSums))};
  return tally->kernel_count++;
}

void tally_launch(Tally *tally, const HookMachine *machine, const char *kernel) {
  tally->began_at = machine->cycle;
  tally->program = machine->program;
  tally->kernel = find_kernel(tally, kernel);
  memset(tally->launch, 0, tally->count * sizeof *tally->launch);
  uint32_t pcs = machine->program == NULL ? 0 : machine->program->code_count;
  for (uint32_t i = 0; i < tally->count; i++) {
    if (pcs > tally->by_pc_room || tally->by_pc[i] == NULL) {
      free(tally->by_pc[i]);
      tally->by_pc[i] = new_array(max_u32(pcs, tally->by_pc_room), sizeof **tally->by_pc);
    }
    memset(tally->by_pc[i], 0, pcs * sizeof **tally->by_pc);
  }
  tally->by_pc_room = max_u32(pcs, tally->by_pc_room);
}

static AceLine *find_line(Tally *tally, uint32_t line) {
  uint32_t i = tally->line_count;
  while (i > 0 &&
         (tally->lines[i - 1].kernel > tally->kernel || (tally->lines[i - 1].kernel == tally->kernel && tally->lines[i - 1].line > line)))
    i--;
  if (i > 0 && tally->lines[i - 1].kernel == tally->kernel && tally->lines[i - 1].line == line) return &tally->lines[i - 1];
  if (tally->line_count == tally->line_room) tally->lines = grow(tally->lines, &tally->line_room, sizeof *tally->lines);
  memmove(&tally->lines[i + 1], &tally->lines[i], (tally->line_count - i) * sizeof *tally->lines);
  tally->line_count++;
  tally->lines[i] = (AceLine){.kernel = tally->kernel, .line = line, .bits = new_array(tally->count, sizeof(uint64_t))};
  return &tally->lines[i];
}

static void add_lines(Tally *tally) {
  const Program *program = tally->program;
  for (uint32_t pc = 0; program != NULL && program->lines != NULL && pc < program->code_count; pc++) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < tally->count; i++) all |= tally->by_pc[i][pc];
    if (all == 0) continue;
    AceLine *line = find_line(tally, program->lines[pc]);
    for (uint32_t i = 0; i < tally->count; i++) line->bits[i] += tally->by_pc[i][pc];
  }
}

void tally_finish(Tally *tally, const HookMachine *machine) {
  uint64_t cycles = tally_time(tally, machine);
  AceKernel *kernel = &tally->kernels[tally->kernel];
  kernel->launches++;
  kernel->cycles += cycles;
  for (uint32_t i = 0; i < tally->count; i++) {
    for (uint32_t k = 0; k < ACE_CAUSES; k++) {
      kernel->sums[i].bits[k] += tally->launch[i].bits[k];
      kernel->sums[i].lanes[k] += tally->launch[i].lanes[k];
    }
  }
  memcpy(tally->last, tally->launch, tally->count * sizeof *tally->last);
  add_lines(tally);
  tally->last_cycles = cycles;
  tally->cycles += cycles;
  for (uint32_t i = 0; i < tally->probe_count; i++) { // those that nothing has answered met nothing
    AceProbe *probe = &tally->probes[i];
    uint16_t structure = tally->of_region[probe->site.region];
    bool is_now = probe->cycle >= tally->began_at && probe->cycle <= machine->cycle;
    if (is_now && structure != REGION_NONE && tally->structures[structure].told == ACE_TOLD) probe->is_known = true;
  }
}

// ---- Slices of time ----------------------------------------------------------------------------------
// Of a stretch the slice in which it begins gets a part, and every one after it the whole, until it ends: level[s] is what begins with slice s.

static void double_slices(Tally *tally) {
  int64_t cycles = (int64_t)tally->slice;
  for (uint32_t i = 0; i < tally->count; i++) {
    Slices *slices = &tally->slices[i], was = *slices;
    memset(slices, 0, sizeof *slices);
    for (uint32_t k = 0; k < ACE_SLICES / 2; k++) {
      slices->partial[k] = was.partial[2 * k] + was.partial[2 * k + 1] + cycles * was.level[2 * k + 1];
      slices->level[k] += was.level[2 * k];
      slices->level[k + 1] += was.level[2 * k + 1];
    }
    slices->level[ACE_SLICES / 2] += was.level[ACE_SLICES];
  }
  tally->slice *= 2;
}

static void add_edge(Tally *tally, Slices *slices, uint64_t time, int64_t weight) {
  uint64_t slice = time / tally->slice;
  slices->partial[slice] += weight * (int64_t)((slice + 1) * tally->slice - time);
  slices->level[slice + 1] += weight;
}

void tally_slice(Tally *tally, uint16_t region, uint32_t from, uint32_t to, uint64_t weight) {
  uint64_t past = tally->cycles; // launches follow one another
  if (from >= to || weight == 0) return;
  while ((past + to) / tally->slice >= ACE_SLICES) double_slices(tally);
  Slices *slices = &tally->slices[tally->of_region[region]];
  add_edge(tally, slices, past + from, (int64_t)weight);
  add_edge(tally, slices, past + to, -(int64_t)weight);
}

void tally_slice_at(Tally *tally, uint16_t region, uint32_t time, uint64_t bits) {
  uint64_t past = tally->cycles;
  while ((past + time) / tally->slice >= ACE_SLICES) double_slices(tally);
  tally->slices[tally->of_region[region]].partial[(past + time) / tally->slice] += (int64_t)bits;
}

void tally_line(Tally *tally, uint16_t region, uint32_t pc, uint64_t bits) {
  if (pc < tally->by_pc_room && tally->program != NULL && pc < tally->program->code_count)
    tally->by_pc[tally->of_region[region]][pc] += bits;
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
    if (probe->site.region != region || probe->site.row != row || probe->cycle >= tally->began_at + to) return;
    bool is_met = probe->cycle >= tally->began_at + from && probe->site.unit == unit && (bits >> probe->site.bit & 1) != 0;
    if (is_met) probe->cause = cause;
  }
}
