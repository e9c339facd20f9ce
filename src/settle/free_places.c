// Of structures whose accesses are not told, the places that hold nothing are known when a fault strikes: what strikes there is gone.
#include "settle/settle.h"

#include <stdlib.h>

typedef struct FreePlaces {
  Hook hook;
  Draw **draws; // in order of time
  uint32_t next, count;
} FreePlaces;

static bool strikes_nothing(const HookMachine *machine, const Fault *fault) {
  Site bits[FAULT_MAX_BITS];
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  bool all = machine->is_free != NULL;
  for (uint32_t i = 0; i < count && all; i++) all = machine->is_free(machine, &bits[i]);
  return all;
}

// The strikes of this cycle.
static void on_cycle(Hook *hook, HookMachine *machine) {
  FreePlaces *at = hook->own;
  for (; at->next < at->count; at->next++) {
    Draw *draw = at->draws[at->next];
    if (draw->fault.from > machine->cycle) break;
    if (draw->fault.from != machine->cycle || !strikes_nothing(machine, &draw->fault)) continue;
    draw->settled = SETTLED_UNREAD;
    draw->read = 0;
  }
  if (at->next < at->count) hook->next_cycle = at->draws[at->next]->fault.from;
}

static int by_cycle(const void *left, const void *right) {
  const Draw *a = *(Draw *const *)left, *b = *(Draw *const *)right;
  return a->fault.from < b->fault.from ? -1 : a->fault.from > b->fault.from;
}

static Hook *watch(const WatchedDraws *watched) {
  FreePlaces *at = ARENA_NEW(watched->arena, FreePlaces);
  at->draws = ARENA_ARRAY(watched->arena, Draw *, watched->count + 1);
  for (uint32_t i = 0; i < watched->count; i++) {
    const Fault *fault = &watched->draws[i].fault;
    bool is_told = region_tells_accesses(&watched->table->items[fault->site.region]);
    bool is_struck_once = fault->model != FAULT_PATTERN && !fault->is_output && !fault_lasts(fault);
    if (!is_told && is_struck_once) at->draws[at->count++] = &watched->draws[i];
  }
  if (at->count == 0) return NULL;
  qsort(at->draws, at->count, sizeof *at->draws, by_cycle);
  at->hook = (Hook){.name = "free places", .kind = HOOK_OBSERVER, .own = at, .cycle = on_cycle};
  at->hook.next_cycle = at->draws[0]->fault.from;
  return &at->hook;
}

const Settler settle_free_places = {.name = "free places", .is_for = settles_by_watching, .watch = watch, .in_program = true};
