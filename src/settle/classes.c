// Faults that strike the same bits between the same two accesses do the same: they are one class, and one of them is enough.
#include "settle/settle.h"

#include <stdlib.h>

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

static void seen(const WatchedDraws *watched, Hook *hook) {
  (void)hook;
  Draw **order = malloc((watched->count + 1) * sizeof *order);
  ASSERT(order != NULL);
  uint32_t live = 0;
  for (uint32_t i = 0; i < watched->count; i++) {
    if (watched->draws[i].settled == SETTLED_COUNT) order[live++] = &watched->draws[i];
  }
  qsort(order, live, sizeof *order, by_class);
  for (uint32_t i = 1; i < live; i++) {
    if (!same_class(order[i - 1], order[i])) continue;
    order[i]->class_of = order[i - 1]->class_of;
    order[i]->settled = SETTLED_CLASS;
  }
  free(order);
}

const Settler settle_classes = {.name = "classes", .is_for = settles_by_watching, .seen = seen, .in_program = true};
