// Structures whose values are not followed. Of cells whose accesses are told: from the last access to a read, a bit matters; to a write, or to
// the launch's end, it does not. Of places that are taken and released: while they are taken, every bit matters.
#include "ace/ace_internal.h"

#include <stdlib.h>

static bool has_times(const Cells *cells, uint16_t region) { return cells->last[region] != NULL; }

void cells_open(Cells *cells, Tally *tally, const Flow *flow) {
  uint32_t count = tally->regions->count;
  *cells = (Cells){.tally = tally};
  cells->last = new_array(count, sizeof *cells->last);
  cells->taken = new_array(count, sizeof *cells->taken);
  for (uint32_t i = 0; i < count; i++) {
    const Region *region = &tally->regions->items[i];
    if (!tally_wants(tally, (uint16_t)i) || flow_has(flow, (uint16_t)i)) continue;
    if ((region->flags & (REGION_TRACED | REGION_LOOKED_AT)) == REGION_TRACED) {
      cells->last[i] = new_array(region->rows * region->units, sizeof(uint32_t));
    } else if ((region->flags & REGION_PLACES) != 0) {
      cells->taken[i] = new_array(region->rows, sizeof(uint32_t));
    }
  }
}

void cells_close(Cells *cells) {
  for (uint32_t i = 0; cells->tally != NULL && i < cells->tally->regions->count; i++) {
    free(cells->last[i]);
    free(cells->taken[i]);
  }
  free(cells->last);
  free(cells->taken);
}

static uint64_t bits_mask(const Region *region) { return region->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << region->bits) - 1; }

static void add(Cells *cells, uint16_t region, uint64_t row, uint32_t unit, uint32_t from, uint32_t to, AceCause cause) {
  Tally *tally = cells->tally;
  const Region *at = &tally->regions->items[region];
  tally_sum(tally, region, cause, (uint64_t)(to - from) * at->bits);
  if (ace_causes[cause].is_ace) tally_slice(tally, region, from, to, at->bits);
  if (tally_is_asked(tally, region, row)) tally_answer(tally, region, row, unit, bits_mask(at), from, to, cause);
}

// Units of a row mostly have the same times: they are added together.
static void add_units(Cells *cells, const CellEvent *event, uint32_t now, AceCause cause, uint32_t units) {
  Tally *tally = cells->tally;
  const Region *region = &tally->regions->items[event->region];
  uint32_t *last = &cells->last[event->region][event->row * region->units];
  uint32_t first = UINT32_MAX, same = 0;
  bool asked = tally->probe_first[event->region] != 0;
  for (uint32_t left = units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left), from = last[unit];
    if (unit >= region->units || from == 0) continue; // empty until now
    if (asked || (first != UINT32_MAX && from != first)) {
      add(cells, event->region, event->row, unit, from - 1, now, cause);
      continue;
    }
    first = from;
    same++;
  }
  if (same == 0) return;
  tally_sum(tally, event->region, cause, (uint64_t)(now - (first - 1)) * region->bits * same);
  if (ace_causes[cause].is_ace) tally_slice(tally, event->region, first - 1, now, (uint64_t)region->bits * same);
}

static void touch(Cells *cells, const CellEvent *event, uint32_t now) {
  const Region *region = &cells->tally->regions->items[event->region];
  uint32_t *last = &cells->last[event->region][event->row * region->units];
  for (uint32_t unit = 0; unit < region->units; unit++) {
    if ((event->units >> unit & 1) != 0) last[unit] = now + 1;
  }
}

static bool is_nobody(const Who *who) { return who->pc == WHO_NO_INDEX && who->client == CLIENT_NONE; }

void cells_read(Cells *cells, const HookMachine *machine, const CellEvent *event) {
  if (!has_times(cells, event->region)) return;
  uint32_t now = tally_time(cells->tally, machine);
  const Region *region = &cells->tally->regions->items[event->region];
  uint32_t *last = &cells->last[event->region][event->row * region->units];
  for (uint32_t left = event->units; left != 0; left &= left - 1) { // read before anything was written: it was there from the beginning
    uint32_t unit = (uint32_t)__builtin_ctz(left);
    if (unit < region->units && last[unit] == 0) last[unit] = 1;
  }
  bool is_code = event->who->client == CLIENT_INSTRUCTION;
  add_units(cells, event, now, is_code ? ACE_CONTROL : ACE_READ, event->units);
  touch(cells, event, now);
}

void cells_write(Cells *cells, const HookMachine *machine, const CellEvent *event) {
  if (!has_times(cells, event->region)) return;
  uint32_t now = tally_time(cells->tally, machine);
  add_units(cells, event, now, is_nobody(event->who) ? ACE_UNREAD : ACE_OVERWRITTEN, event->units);
  touch(cells, event, now);
}

static void release(Cells *cells, uint16_t region, uint64_t row, uint32_t now) {
  Tally *tally = cells->tally;
  const Region *at = &tally->regions->items[region];
  uint32_t *taken = &cells->taken[region][row], from = *taken - 1;
  if (*taken == 0) return;
  *taken = 0;
  tally_sum(tally, region, ACE_HELD, (uint64_t)(now - from) * at->bits * at->units);
  tally_slice(tally, region, from, now, (uint64_t)at->bits * at->units);
  if (!tally_is_asked(tally, region, row)) return;
  for (uint32_t unit = 0; unit < at->units; unit++) tally_answer(tally, region, row, unit, bits_mask(at), from, now, ACE_HELD);
}

void cells_take(Cells *cells, const HookMachine *machine, const HoldEvent *event) {
  uint32_t now = tally_time(cells->tally, machine);
  for (uint32_t region = event->region; region <= event->last; region++) {
    if (cells->taken[region] == NULL) continue;
    if (cells->taken[region][event->row] == 0) cells->taken[region][event->row] = now + 1;
  }
}

void cells_release(Cells *cells, const HookMachine *machine, const HoldEvent *event) {
  uint32_t now = tally_time(cells->tally, machine);
  for (uint32_t region = event->region; region <= event->last; region++) {
    if (cells->taken[region] != NULL) release(cells, (uint16_t)region, event->row, now);
  }
}

static void finish_cells(Cells *cells, uint16_t region, uint32_t now) {
  const Region *at = &cells->tally->regions->items[region];
  for (uint64_t i = 0; i < at->rows * at->units; i++) {
    uint32_t *last = &cells->last[region][i];
    if (*last != 0) add(cells, region, i / at->units, (uint32_t)(i % at->units), *last - 1, now, ACE_UNREAD);
    *last = 0;
  }
}

void cells_finish(Cells *cells, const HookMachine *machine) {
  uint32_t now = tally_time(cells->tally, machine);
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) {
    if (has_times(cells, (uint16_t)i)) finish_cells(cells, (uint16_t)i, now);
    if (cells->taken[i] == NULL) continue;
    for (uint64_t row = 0; row < cells->tally->regions->items[i].rows; row++) release(cells, (uint16_t)i, row, now);
  }
}
