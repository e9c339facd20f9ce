// See used.h. An access at cycle t says what becomes of what strikes its units after their last access and up to t: a read, that the fault is met;
// a write, that it is gone. The end of a launch puts what is not kept to rest.
#include "campaign/used.h"

#include <stdlib.h>

enum { DRAW_PLACE = 16 }; // and the numbers after it: apart from those of sample.c

// ---- The block -----------------------------------------------------------------------------------------

static UsedStretch *stretches_of(UsedSpace *space) { return (UsedStretch *)(space + 1); }
static uint64_t *counts_of(UsedSpace *space) { return (uint64_t *)(stretches_of(space) + space->stretch_count); }
static UsedSeek *seeks_of(UsedSpace *space) {
  return (UsedSeek *)(counts_of(space) + (size_t)space->structure_count * space->stretch_count);
}
static uint64_t *count_at(UsedSpace *space, uint32_t structure, uint32_t stretch) {
  return &counts_of(space)[(size_t)structure * space->stretch_count + stretch];
}
static UsedSpace *own(const UsedSpace *space) { return (UsedSpace *)(uintptr_t)space; } // for readers of its parts

const UsedStretch *used_stretch(const UsedSpace *space, uint32_t stretch) { return &stretches_of(own(space))[stretch]; }

const UsedSeek *used_seek(const UsedSpace *space, uint64_t id) {
  ASSERT(id >= space->first_id && id - space->first_id < space->seek_count);
  return &seeks_of(own(space))[id - space->first_id];
}

bool used_any_told(const UsedSpace *space) {
  bool any = false;
  for (uint32_t i = 0; i < space->structure_count; i++) any |= space->structures[i].is_told;
  return any;
}

static uint64_t overlap(uint64_t first, uint64_t end, uint64_t other_first, uint64_t other_end) {
  uint64_t from = max_u64(first, other_first), to = min_u64(end, other_end);
  return to > from ? to - from : 0;
}

static double share_of(const UsedStructure *structure, uint64_t used, uint64_t cycles) {
  if (!structure->is_told) return 1;
  return cycles == 0 ? 0 : (double)used / ((double)structure->rows_units * (double)cycles);
}

double used_share(const UsedSpace *space, uint32_t structure) {
  return share_of(&space->structures[structure], space->structures[structure].used, space->cycles);
}

double used_share_in_stretch(const UsedSpace *space, uint32_t structure, uint32_t stretch) {
  const UsedStretch *at = used_stretch(space, stretch);
  return share_of(&space->structures[structure], *count_at(own(space), structure, stretch), at->end - at->first);
}

double used_share_in_slice(const UsedSpace *space, uint32_t structure, uint32_t slice) {
  uint64_t cycles = 0;
  for (uint32_t i = 0; i < space->stretch_count; i++) {
    const UsedStretch *at = used_stretch(space, i);
    cycles += overlap(at->first, at->end, used_slice_start(space, slice), used_slice_start(space, slice + 1));
  }
  return share_of(&space->structures[structure], space->structures[structure].slices[slice], cycles);
}

// ---- Before the run --------------------------------------------------------------------------------------

typedef VEC(UsedStretch) StretchVec;

static void add_stretch(StretchVec *stretches, uint64_t first, uint64_t end, uint32_t launch, Arena *arena) {
  if (first < end) *VEC_PUSH(stretches, arena) = (UsedStretch){first, end, launch};
}

// The window, cut where launches begin and end.
static StretchVec cut_window(const Population *population, Arena *arena) {
  StretchVec stretches = {0};
  const GoldenVec *launches = &population->golden->launches;
  uint64_t at = population->first_cycle, end = at + population->cycles;
  for (uint32_t i = 0; i < launches->count; i++) {
    const GoldenRow *launch = &launches->items[i];
    uint64_t first = launch->began_at, until = launch->began_at + launch->cycles;
    if (population->kernel != NULL) {
      if (strcmp(launch->kernel, population->kernel) == 0) add_stretch(&stretches, first, until, launch->launch, arena);
      continue;
    }
    add_stretch(&stretches, at, min_u64(first, end), 0, arena);
    add_stretch(&stretches, max_u64(at, first), min_u64(until, end), launch->launch, arena);
    at = max_u64(at, min_u64(until, end));
  }
  if (population->kernel == NULL) add_stretch(&stretches, at, end, 0, arena);
  return stretches;
}

static UsedStructure structure_of(const Population *population, const RegionTable *table, uint32_t number) {
  const Region *region = &table->items[population->regions[number]];
  FaultModel model = population->pattern.model;
  uint64_t rows;
  uint32_t units, bits;
  part_shape(region, &population->parts[number], &rows, &units, &bits);
  UsedStructure structure = {.region = population->regions[number],
                             .is_told = region_tells_accesses(region) && model != FAULT_PATTERN,
                             .by_row = model == FAULT_LANES || model == FAULT_RANDOM,
                             .lasts = fault_models[model].permanent,
                             .part = population->parts[number],
                             .seed = population_seed(population, number)};
  structure.rows_units = structure.by_row ? rows : rows * units;
  return structure;
}

UsedSpace *used_new(const Population *population, const RegionTable *table, uint64_t first_id, uint32_t count, Arena *arena) {
  StretchVec stretches = cut_window(population, arena);
  size_t bytes =
      sizeof(UsedSpace) + stretches.count * (sizeof(UsedStretch) + population->count * sizeof(uint64_t)) + count * sizeof(UsedSeek);
  UsedSpace *space = arena_alloc(arena, bytes);
  *space = (UsedSpace){.bytes = bytes,
                       .structure_count = population->count,
                       .stretch_count = stretches.count,
                       .seek_count = count,
                       .first_id = first_id,
                       .cycles = population->cycles,
                       .slice_until = population->golden->cycles};
  bool is_all = population->kernel == NULL && population->cycles + population->first_cycle == population->golden->cycles;
  if (!is_all && stretches.count > 0) {
    space->slice_first = stretches.items[0].first;
    space->slice_until = stretches.items[stretches.count - 1].end;
  }
  for (uint32_t i = 0; i < population->count; i++) space->structures[i] = structure_of(population, table, i);
  if (stretches.count > 0) memcpy(stretches_of(space), stretches.items, stretches.count * sizeof *stretches.items);
  for (uint32_t i = 0; i < count; i++)
    seeks_of(space)[i] = (UsedSeek){
        .number = population_number(population, first_id + i), .structure = population_structure(population, first_id + i), .next = 1};
  return space;
}

// ---- During the run --------------------------------------------------------------------------------------

// Of one structure: until when it is known what becomes of a strike, and who seeks places in it.
typedef struct Watched {
  uint64_t *open;   // by unit, or by row: the first cycle of which it is not known
  uint64_t settled; // cycles before this one are settled for all of them
  uint32_t *heap;   // seeks, the one that takes over next first
  uint32_t waiting;
  uint32_t units; // of the part, as a mask
} Watched;

typedef struct UsedWatch {
  Hook hook;
  UsedSpace *space;
  const RegionTable *table;
  uint16_t *structure_of; // by region, from 1; 0: none
  Watched structures[MOST_STRUCTURES];
  uint32_t stretch; // the latest that has begun
} UsedWatch;

// The place that takes over after `place` comes later than m with a chance of place / m.
static uint64_t next_place(const UsedStructure *structure, UsedSeek *seek) {
  __extension__ typedef unsigned __int128 Wide;
  Wide random = (Wide)random_draw(structure->seed, seek->number, DRAW_PLACE + seek->turn++) + 1;
  Wide next = ((Wide)seek->next << 64) / random + 1;
  return next > UINT64_MAX ? UINT64_MAX : (uint64_t)next;
}

// The first of the heap has a later place now.
static void sift_down(Watched *watched, const UsedSeek *seeks) {
  uint32_t *heap = watched->heap, at = 0;
  for (;;) {
    uint32_t least = at;
    for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < watched->waiting; child++) {
      if (seeks[heap[child]].next < seeks[heap[least]].next) least = child;
    }
    if (least == at) return;
    uint32_t moved = heap[at];
    heap[at] = heap[least];
    heap[least] = moved;
    at = least;
  }
}

// Cycles of the window in [from, to), by stretch and slice; stretches that begin later have not come.
static uint64_t count_cycles(UsedWatch *at, uint64_t from, uint64_t to, uint32_t structure, uint32_t units) {
  UsedSpace *space = at->space;
  UsedStructure *of = &space->structures[structure];
  uint64_t cycles = 0;
  while (at->stretch + 1 < space->stretch_count && stretches_of(space)[at->stretch + 1].first < to) at->stretch++;
  for (uint32_t i = at->stretch + 1; i-- > 0 && stretches_of(space)[i].end > from;) {
    const UsedStretch *stretch = &stretches_of(space)[i];
    uint64_t here = overlap(from, to, stretch->first, stretch->end), first = max_u64(from, stretch->first);
    if (here == 0) continue;
    cycles += here;
    *count_at(space, structure, i) += here * units;
    uint64_t length = space->slice_until - space->slice_first;
    uint32_t slice = (uint32_t)((first - space->slice_first) * JOURNAL_SLICES / length);
    while (used_slice_start(space, slice + 1) <= first) slice++;
    for (; slice < JOURNAL_SLICES && used_slice_start(space, slice) < first + here; slice++)
      of->slices[slice] += units * overlap(first, first + here, used_slice_start(space, slice), used_slice_start(space, slice + 1));
  }
  return cycles;
}

// The n-th cycle of the window from `from` on.
static uint64_t nth_cycle(UsedSpace *space, uint64_t from, uint64_t n) {
  for (uint32_t i = 0; i < space->stretch_count; i++) {
    const UsedStretch *stretch = &stretches_of(space)[i];
    uint64_t first = max_u64(from, stretch->first), here = stretch->end > first ? stretch->end - first : 0;
    if (n < here) return first + n;
    n -= here;
  }
  return from; // there are more
}

static uint32_t nth_unit(uint32_t units, uint64_t n) {
  for (; n > 0; n--) units &= units - 1;
  return (uint32_t)__builtin_ctz(units);
}

// Places come by: these units of the row, from `from` up to the current cycle. A fault in a row as a whole has all of its units as one.
static void come_by(UsedWatch *at, uint32_t structure, uint64_t row, uint32_t units, uint64_t from, uint64_t to) {
  UsedSpace *space = at->space;
  UsedStructure *of = &space->structures[structure];
  Watched *watched = &at->structures[structure];
  UsedSeek *seeks = seeks_of(space);
  uint32_t each = of->by_row ? 1 : (uint32_t)__builtin_popcount(units);
  uint64_t cycles = count_cycles(at, from, to, structure, each), last = of->used + cycles * each;
  while (watched->waiting > 0 && seeks[watched->heap[0]].next <= last) {
    UsedSeek *seek = &seeks[watched->heap[0]];
    uint64_t place = seek->next - of->used - 1;
    seek->row = row;
    seek->unit = nth_unit(units, place / cycles);
    seek->cycle = nth_cycle(space, from, place % cycles);
    seek->is_found = true;
    seek->next = next_place(of, seek);
    sift_down(watched, seeks);
  }
  of->used = last;
}

// Of the structure's part; 0: the row is not of it.
static uint32_t units_of(const UsedWatch *at, const CellEvent *event, uint32_t structure) {
  const UsedStructure *of = &at->space->structures[structure];
  bool is_in = !of->part.is_part || part_has_row(&at->table->items[event->region], &of->part, event->row);
  return is_in ? event->units & (of->by_row ? UINT32_MAX : at->structures[structure].units) : 0;
}

static bool find_structure(const UsedWatch *at, const CellEvent *event, uint32_t *structure) {
  uint16_t number = event->region < at->table->count ? at->structure_of[event->region] : 0;
  *structure = number - 1u;
  return number > 0;
}

// Those of the units with the same history come by together.
static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  UsedWatch *at = hook->own;
  uint32_t structure;
  if (!find_structure(at, event, &structure)) return VERDICT_PASS;
  const UsedStructure *of = &at->space->structures[structure];
  Watched *watched = &at->structures[structure];
  uint32_t left = units_of(at, event, structure), width = at->table->items[event->region].units;
  uint64_t *open = &watched->open[event->row * (of->by_row ? 1 : width)], end = machine->cycle + 1;
  if (of->by_row && left != 0) {
    come_by(at, structure, event->row, 1, max_u64(*open, watched->settled), end);
    *open = end;
    return VERDICT_PASS;
  }
  while (left != 0) {
    uint64_t from = open[__builtin_ctz(left)];
    uint32_t same = 0;
    for (uint32_t units = left; units != 0; units &= units - 1) same |= open[__builtin_ctz(units)] == from ? units & -units : 0;
    if (max_u64(from, watched->settled) < end) come_by(at, structure, event->row, same, max_u64(from, watched->settled), end);
    for (uint32_t units = same; units != 0; units &= units - 1) open[__builtin_ctz(units)] = end;
    left &= ~same;
  }
  return VERDICT_PASS;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  UsedWatch *at = hook->own;
  uint32_t structure;
  if (!find_structure(at, event, &structure)) return VERDICT_PASS;
  const UsedStructure *of = &at->space->structures[structure];
  uint32_t width = at->table->items[event->region].units, all = width == 32 ? UINT32_MAX : (1u << width) - 1;
  if (of->lasts) return VERDICT_PASS; // what is stuck stays so
  if (of->by_row) {
    if ((event->units & all) == all) at->structures[structure].open[event->row] = machine->cycle + 1;
    return VERDICT_PASS;
  }
  for (uint32_t units = units_of(at, event, structure); units != 0; units &= units - 1)
    at->structures[structure].open[event->row * width + (uint32_t)__builtin_ctz(units)] = machine->cycle + 1;
  return VERDICT_PASS;
}

// The launch is over: what was struck in what is put to rest now is gone.
static void on_finish(Hook *hook, HookMachine *machine) {
  UsedWatch *at = hook->own;
  for (uint32_t i = 0; i < at->space->structure_count; i++) {
    const UsedStructure *of = &at->space->structures[i];
    bool is_kept = (at->table->items[of->region].flags & REGION_KEPT) != 0;
    if (of->is_told && !of->lasts && !is_kept) at->structures[i].settled = machine->cycle + 1;
  }
}

Hook *used_watch(UsedSpace *space, const RegionTable *table, Arena *arena) {
  UsedWatch *at = ARENA_NEW(arena, UsedWatch);
  at->space = space;
  at->table = table;
  at->structure_of = ARENA_ARRAY(arena, uint16_t, table->count);
  for (uint32_t i = 0; i < space->structure_count; i++) {
    const UsedStructure *of = &space->structures[i];
    const Region *region = &table->items[of->region];
    Watched *watched = &at->structures[i];
    if (!of->is_told) continue;
    at->structure_of[of->region] = (uint16_t)(i + 1);
    watched->open = ARENA_ARRAY(arena, uint64_t, of->by_row ? region->rows : region->rows * region->units);
    watched->units = part_units(region, &of->part);
    watched->heap = ARENA_ARRAY(arena, uint32_t, space->seek_count + 1);
    for (uint32_t k = 0; k < space->seek_count; k++) {
      if (seeks_of(space)[k].structure == i) watched->heap[watched->waiting++] = k;
    }
  }
  at->hook = (Hook){.name = "used", .kind = HOOK_OBSERVER, .own = at, .read = on_read, .write = on_write, .finish = on_finish};
  return &at->hook;
}
