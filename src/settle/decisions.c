// Faults in cells of control logic, such as those of the schedulers. From the strike on it is told which bits made a difference (region.h, DECIDED). A fault
// in another bit is gone when the cell is written, or when the launch ends; one in such a bit is simulated from the choice that it changes. Exact for one
// bit: several might make a difference together that none makes alone.
#include "settle/settle.h"

#include <stdlib.h>

enum { NO_DRAW = UINT32_MAX };

typedef struct Decisions {
  Hook hook;
  WatchedDraws watched;
  uint32_t *order; // draws in order of time
  uint32_t next, count;
  uint32_t **heads; // per region, by row and unit: the first draw that has struck there and is not decided; NULL: nothing is struck
  uint32_t *others; // by draw: the next of its list
} Decisions;

static uint32_t *head_of(const Decisions *at, uint16_t region, uint64_t row, uint32_t unit) {
  return &at->heads[region][row * at->watched.table->items[region].units + unit];
}

static bool is_told(const HookMachine *machine, const Site *site) { return machine->is_told != NULL && machine->is_told(machine, site); }

// The strikes of this cycle. Those on free places are settled already.
static void on_cycle(Hook *hook, HookMachine *machine) {
  Decisions *at = hook->own;
  for (; at->next < at->count; at->next++) {
    uint32_t index = at->order[at->next];
    const Draw *draw = &at->watched.draws[index];
    const Site *site = &draw->fault.site;
    if (draw->fault.from > machine->cycle) break;
    if (draw->fault.from < machine->cycle || draw->settled != SETTLED_COUNT || !is_told(machine, site)) continue;
    uint32_t *head = head_of(at, site->region, site->row, site->unit);
    at->others[index] = *head;
    *head = index;
  }
  if (at->next < at->count) hook->next_cycle = at->watched.draws[at->order[at->next]].fault.from;
}

static Verdict on_decide(Hook *hook, HookMachine *machine, const DecideEvent *event) {
  const Decisions *at = hook->own;
  if (at->heads[event->region] == NULL) return VERDICT_PASS;
  uint32_t *link = head_of(at, event->region, event->row, event->unit);
  while (*link != NO_DRAW) {
    uint32_t index = *link;
    Draw *draw = &at->watched.draws[index];
    bool decides = (event->decided >> draw->fault.site.bit & 1) != 0, is_gone = (event->written >> draw->fault.site.bit & 1) != 0;
    if (decides) draw->read = 1; // that a choice has looked at it and found no difference is not told
    if (decides) draw->strike_at = machine->cycle;
    else if (is_gone) draw->settled = SETTLED_OVERWRITTEN;
    if (decides || is_gone) *link = at->others[index];
    else link = &at->others[index];
  }
  return VERDICT_PASS;
}

// The launch is over: everything on the chip is put to rest, but for what is kept for the next one.
static void on_finish(Hook *hook, HookMachine *machine) {
  const Decisions *at = hook->own;
  const RegionTable *table = at->watched.table;
  (void)machine;
  for (uint32_t i = 0; i < table->count; i++) {
    bool rests = at->heads[i] != NULL && (table->items[i].flags & REGION_KEPT) == 0;
    for (uint64_t k = 0; rests && k < table->items[i].rows * table->items[i].units; k++) {
      for (uint32_t draw = at->heads[i][k]; draw != NO_DRAW; draw = at->others[draw]) at->watched.draws[draw].settled = SETTLED_UNREAD;
      at->heads[i][k] = NO_DRAW;
    }
  }
}

// ---- The settler -------------------------------------------------------------------------------------

static int by_cycle(const void *left, const void *right, void *context) {
  const Draw *draws = context, *a = &draws[*(const uint32_t *)left], *b = &draws[*(const uint32_t *)right];
  return a->fault.from < b->fault.from ? -1 : a->fault.from > b->fault.from;
}

static void watch_draw(Decisions *at, uint32_t index) {
  const Fault *fault = &at->watched.draws[index].fault;
  const Region *region = &at->watched.table->items[fault->site.region];
  if ((region->flags & REGION_DECIDED) == 0 || fault->model != FAULT_FLIP) return;
  at->order[at->count++] = index;
  uint32_t **heads = &at->heads[fault->site.region];
  if (*heads != NULL) return;
  *heads = ARENA_ARRAY(at->watched.arena, uint32_t, region->rows * region->units);
  memset(*heads, 0xFF, region->rows * region->units * sizeof **heads);
}

static Hook *watch(const WatchedDraws *watched) {
  Arena *arena = watched->arena;
  Decisions *at = ARENA_NEW(arena, Decisions);
  at->watched = *watched;
  at->order = ARENA_ARRAY(arena, uint32_t, watched->count + 1);
  at->others = ARENA_ARRAY(arena, uint32_t, watched->count + 1);
  at->heads = ARENA_ARRAY(arena, uint32_t *, watched->table->count);
  for (uint32_t i = 0; i < watched->count; i++) watch_draw(at, i);
  if (at->count == 0) return NULL;
  qsort_r(at->order, at->count, sizeof *at->order, by_cycle, watched->draws);
  at->hook = (Hook){.name = "decisions", .kind = HOOK_OBSERVER, .own = at, .cycle = on_cycle, .decide = on_decide, .finish = on_finish};
  at->hook.next_cycle = watched->draws[at->order[0]].fault.from;
  return &at->hook;
}

const Settler settle_decisions = {.name = "decisions", .is_for = settles_by_watching, .watch = watch, .in_program = true};
