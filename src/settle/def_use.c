// Def-use of the cells that faults strike, watched during the golden run. A fault whose cells are next written, or never
// accessed again, changes nothing; faults that strike the same bits between the same two accesses do the same. Exact: told
// accesses are all there are (region.h, TRACED and not LOOKED_AT), and a fault that is read first is simulated: from that
// cycle on if it then still is what it was, else from its own.
//
// Of structures whose accesses are not told, places that hold nothing are known: what strikes there is gone. A fault that lasts changes
// nothing until bits are read that are not as it holds them. Outputs of functional units: def_use_output.c.
#include "settle/settle.h"

#include <stdlib.h>

enum { NO_DRAW = UINT32_MAX };

struct Pruner {
  Hook hook;
  Arena *arena;
  const RegionTable *table;
  Draw *draws;
  uint32_t count;
  uint8_t **watched; // per region: bit per row, NULL where nothing is
  uint32_t *heads;   // hash table of rows: first draw of a list
  uint32_t mask;
  uint16_t rf, predicates, shared;
  Residents residents;
  OutputWatch *outputs; // NULL: none is struck
  Draw **by_cycle;      // of structures whose accesses are not told: to be looked at when they are struck
  uint32_t struck_next, struck_count;
};

static uint32_t row_hash(const Pruner *pruner, uint16_t region, uint64_t row) {
  uint64_t key[2] = {region, row};
  return (uint32_t)hash_bytes(key, sizeof key, 0) & pruner->mask;
}

static bool strikes(const Draw *draw, uint16_t region, uint64_t row) {
  return draw->fault.site.region == region && draw->fault.site.row == row;
}

static uint32_t struck_units(const RegionTable *table, const Fault *fault) {
  Site bits[FAULT_MAX_BITS];
  HookMachine nowhere = {.regions = table};
  uint32_t count = fault_bits(table, &nowhere, fault, bits), units = 0;
  for (uint32_t i = 0; i < count; i++) units |= 1u << bits[i].unit;
  return units;
}

// ---- Events ----------------------------------------------------------------------------------------

static bool is_watched(const Pruner *pruner, const CellEvent *event) {
  const uint8_t *rows = event->region < pruner->table->count ? pruner->watched[event->region] : NULL;
  return rows != NULL && (rows[event->row / 8] >> event->row % 8 & 1) != 0;
}

void draw_read_by(Draw *draw, const Program *program, uint32_t pc) {
  if (program == NULL || pc >= program->code_count) return;
  draw->line = program->lines == NULL ? 0 : program->lines[pc];
  draw->pc = pc;
  draw->op = program->decoded == NULL ? OP_COUNT : program->decoded[pc].op;
}

static bool attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Pruner *pruner = hook->own;
  (void)diags;
  residents_attach(&pruner->residents, pruner->arena, layout);
  return true;
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)machine;
  residents_launch(&((Pruner *)hook->own)->residents, event);
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)machine;
  residents_block(&((Pruner *)hook->own)->residents, event);
  return VERDICT_PASS;
}

static void note_reader(const Pruner *pruner, const HookMachine *machine, const CellEvent *event, Draw *draw) {
  const Residents *residents = &pruner->residents;
  bool is_rf = event->region == pruner->rf, is_shared = event->region == pruner->shared;
  bool is_known = is_rf || is_shared || event->region == pruner->predicates;
  // Accesses of shared memory come in one order for all warps; those of registers only in that of their own.
  if (!is_known || event->who->issue == UINT64_MAX || (!is_shared && event->who->issue < draw->read_to)) return;
  uint32_t rows = pruner->table->items[event->region].dims[1].count, row = (uint32_t)(event->row % rows);
  uint32_t sm = (uint32_t)(event->row / rows), slot = event->who->warp / residents->block_warps;
  if (is_rf) row %= max_u32(machine->warp_rows, 1);
  else if (is_shared) row %= residents->shared_rows;
  draw->reader = (Reader){.launch = residents->launch,
                          .block = residents_of(residents, sm, slot),
                          .warp = event->who->warp % residents->block_warps,
                          .sm = sm,
                          .first_warp = slot * residents->block_warps,
                          .place = is_rf       ? RERUN_REGISTER
                                   : is_shared ? RERUN_SHARED
                                               : RERUN_PREDICATES,
                          .row = row,
                          .pc = event->who->pc,
                          .issue = event->who->issue,
                          .units = draw->units};
  draw->open = is_shared ? 0 : draw->units;
}

// Reads before the strike, and those after the first: is there one point in the warp's program at which the bit turned over?
static void note_order(const HookMachine *machine, const CellEvent *event, Draw *draw) {
  if (draw->fault.from > machine->cycle) {
    if ((draw->struck & event->units) != 0)
      draw->read_to = event->who->issue == UINT64_MAX ? UINT64_MAX : max_u64(draw->read_to, event->who->issue + 1);
  } else if ((draw->open & event->units) != 0 && event->who->issue < draw->reader.issue) {
    draw->reader.launch = 0;
  }
}

// A cell that is stuck matters from here on. What an intermittent one has left there depends on when it was written: from its own time on.
static void note_altered(const HookMachine *machine, const CellEvent *event, Draw *draw) {
  draw->units = 0;
  draw->strike_at = draw->fault.model == FAULT_DUTY ? draw->fault.from : machine->cycle;
  draw_read_by(draw, machine->program, event->who->pc);
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Pruner *pruner = hook->own;
  if (!is_watched(pruner, event)) return VERDICT_PASS;
  for (uint32_t i = pruner->heads[row_hash(pruner, event->region, event->row)]; i != NO_DRAW; i = pruner->draws[i].next) {
    Draw *draw = &pruner->draws[i];
    if (!strikes(draw, event->region, event->row)) continue;
    if (fault_lasts(&draw->fault)) {
      bool is_met = draw->fault.from <= machine->cycle && (draw->units & event->units) != 0;
      if (is_met && fault_alters_cells(pruner->table, &draw->fault, event)) note_altered(machine, event, draw);
      continue;
    }
    note_order(machine, event, draw);
    if (draw->fault.from > machine->cycle || (draw->units & event->units) == 0) continue;
    bool whole = draw->units == draw->struck;
    note_reader(pruner, machine, event, draw);
    draw->units = 0;
    draw->strike_at = whole ? machine->cycle : draw->fault.from;
    draw_read_by(draw, machine->program, event->who->pc);
  }
  return VERDICT_PASS;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Pruner *pruner = hook->own;
  if (!is_watched(pruner, event)) return VERDICT_PASS;
  for (uint32_t i = pruner->heads[row_hash(pruner, event->region, event->row)]; i != NO_DRAW; i = pruner->draws[i].next) {
    Draw *draw = &pruner->draws[i];
    if (!strikes(draw, event->region, event->row) || fault_lasts(&draw->fault)) continue;
    if (draw->fault.from > machine->cycle) {
      if ((draw->struck & ~event->units) == 0) draw->read_to = 0;
      continue;
    }
    draw->open &= ~event->units;
    if (draw->units == 0) continue;
    draw->units &= ~event->units;
    if (draw->units == 0) draw->settled = SETTLED_OVERWRITTEN;
  }
  return VERDICT_PASS;
}

static bool strikes_nothing(const HookMachine *machine, const Fault *fault) {
  Site bits[FAULT_MAX_BITS];
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  bool all = machine->is_free != NULL;
  for (uint32_t i = 0; i < count && all; i++) all = machine->is_free(machine, &bits[i]);
  return all;
}

// The strikes of this cycle.
static void on_cycle(Hook *hook, HookMachine *machine) {
  Pruner *pruner = hook->own;
  for (; pruner->struck_next < pruner->struck_count; pruner->struck_next++) {
    Draw *draw = pruner->by_cycle[pruner->struck_next];
    if (draw->fault.from > machine->cycle) break;
    if (draw->fault.from == machine->cycle && strikes_nothing(machine, &draw->fault)) draw->settled = SETTLED_UNREAD;
  }
  if (pruner->struck_next < pruner->struck_count) hook->next_cycle = pruner->by_cycle[pruner->struck_next]->fault.from;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Pruner *pruner = hook->own;
  output_watch_result(pruner->outputs, &pruner->residents, machine, event);
  return VERDICT_PASS;
}

// The launch is over: everything on the chip is put to rest, and what was struck there is gone.
static void on_finish(Hook *hook, HookMachine *machine) {
  Pruner *pruner = hook->own;
  for (uint32_t i = 0; i < pruner->count; i++) {
    Draw *draw = &pruner->draws[i];
    bool is_over = draw->fault.from <= machine->cycle && pruner->watched[draw->fault.site.region] != NULL && !fault_lasts(&draw->fault);
    if (draw->units == 0 || !is_over) continue;
    draw->units = 0;
    draw->settled = SETTLED_UNREAD;
  }
}

// ---- Draws -----------------------------------------------------------------------------------------

static void watch(Pruner *pruner, Arena *arena, uint32_t index) {
  Draw *draw = &pruner->draws[index];
  const Region *region = &pruner->table->items[draw->fault.site.region];
  draw->settled = SETTLED_COUNT;
  draw->strike_at = draw->fault.from;
  draw->class_of = draw->id;
  draw->op = OP_COUNT;
  draw->pc = UINT32_MAX;
  draw->next = NO_DRAW;
  bool told = (region->flags & (REGION_TRACED | REGION_LOOKED_AT)) == REGION_TRACED;
  bool one_row = draw->fault.model != FAULT_PATTERN; // lists are by row
  if (!told && one_row && !draw->fault.is_output && !fault_lasts(&draw->fault)) pruner->by_cycle[pruner->struck_count++] = draw;
  if (!told || !one_row) return;
  draw->units = draw->struck = struck_units(pruner->table, &draw->fault);
  uint8_t **rows = &pruner->watched[draw->fault.site.region];
  if (*rows == NULL) *rows = arena_alloc(arena, region->rows / 8 + 1);
  (*rows)[draw->fault.site.row / 8] |= (uint8_t)(1u << draw->fault.site.row % 8);
  uint32_t *head = &pruner->heads[row_hash(pruner, draw->fault.site.region, draw->fault.site.row)];
  draw->next = *head;
  *head = index;
}

static int by_cycle(const void *left, const void *right) {
  const Draw *a = *(Draw *const *)left, *b = *(Draw *const *)right;
  return a->fault.from < b->fault.from ? -1 : a->fault.from > b->fault.from;
}

Pruner *pruner_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count) {
  Pruner *pruner = ARENA_NEW(arena, Pruner);
  uint32_t slots = 64;
  while (slots < 2 * count) slots *= 2;
  *pruner = (Pruner){.arena = arena, .table = table, .draws = draws, .count = count, .mask = slots - 1, .rf = region_find(table, "rf")};
  pruner->predicates = region_find(table, "pred");
  pruner->shared = region_find(table, "shared");
  pruner->watched = ARENA_ARRAY(arena, uint8_t *, table->count);
  pruner->heads = ARENA_ARRAY(arena, uint32_t, slots);
  memset(pruner->heads, 0xFF, slots * sizeof *pruner->heads);
  pruner->by_cycle = ARENA_ARRAY(arena, Draw *, count + 1);
  for (uint32_t i = 0; i < count; i++) watch(pruner, arena, i);
  qsort(pruner->by_cycle, pruner->struck_count, sizeof *pruner->by_cycle, by_cycle);
  pruner->hook = (Hook){.name = "prune", .kind = HOOK_OBSERVER, .own = pruner, .attach = attach, .finish = on_finish};
  pruner->hook.launch = on_launch;
  pruner->hook.block = on_block;
  pruner->hook.read = on_read;
  pruner->hook.write = on_write;
  pruner->outputs = output_watch_new(arena, table, draws, count);
  if (pruner->outputs != NULL) pruner->hook.result = on_result;
  pruner->hook.cycle = on_cycle;
  pruner->hook.next_cycle = pruner->struck_count > 0 ? pruner->by_cycle[0]->fault.from : UINT64_MAX;
  return pruner;
}

Hook *pruner_hook(Pruner *pruner) { return &pruner->hook; }

// ---- Classes ---------------------------------------------------------------------------------------

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

// Outputs hold another thread's result in another cycle.
static uint64_t turn_of(const Draw *draw) { return draw->fault.is_output ? draw->fault.from : 0; }

// Draws of one class side by side, the lowest id first.
static int by_class(const void *left, const void *right) {
  const Draw *a = *(Draw *const *)left, *b = *(Draw *const *)right;
  int order = compare_u64(a->fault.site.region, b->fault.site.region);
  if (order == 0) order = compare_u64(a->fault.site.row, b->fault.site.row);
  if (order == 0) order = compare_u64(a->fault.site.unit, b->fault.site.unit);
  if (order == 0) order = compare_u64(a->fault.site.bit, b->fault.site.bit);
  if (order == 0) order = compare_u64(a->strike_at, b->strike_at);
  if (order == 0) order = compare_u64(turn_of(a), turn_of(b));
  return order != 0 ? order : compare_u64(a->id, b->id);
}

static bool same_class(const Draw *a, const Draw *b) {
  return a->fault.site.region == b->fault.site.region && a->fault.site.row == b->fault.site.row &&
         a->fault.site.unit == b->fault.site.unit && a->fault.site.bit == b->fault.site.bit && a->strike_at == b->strike_at &&
         turn_of(a) == turn_of(b) && a->fault.model != FAULT_RANDOM;
}

void pruner_finish(Pruner *pruner) {
  Draw **order = malloc((pruner->count + 1) * sizeof *order);
  ASSERT(order != NULL);
  uint32_t live = 0;
  for (uint32_t i = 0; i < pruner->count; i++) {
    Draw *draw = &pruner->draws[i];
    if (draw->units != 0 && draw->settled == SETTLED_COUNT) draw->settled = SETTLED_UNREAD;
    if (draw->settled == SETTLED_COUNT) order[live++] = draw;
  }
  qsort(order, live, sizeof *order, by_class);
  for (uint32_t i = 1; i < live; i++) {
    if (!same_class(order[i - 1], order[i])) continue;
    order[i]->class_of = order[i - 1]->class_of;
    order[i]->settled = SETTLED_CLASS;
  }
  free(order);
}
