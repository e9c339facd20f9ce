// Structures whose values are not followed. Of cells whose accesses are told: from the last access to a read, a bit matters; to a write, or to
// the launch's end, it does not. Where logic also looks at what was written and not taken out yet, that matters, too. Of places that are taken and
// released: while they are taken, every bit matters. Of cells of control logic: until a bit decides something, but not until it is written.
// What is kept over launches is decided in a later one, and counts for those that it lay there.
#include "ace/ace_internal.h"

#include <stdlib.h>

static bool has_times(const Cells *cells, uint16_t region) { return cells->last[region] != NULL; }

void cells_open(Cells *cells, Tally *tally, const Flow *flow) {
  uint32_t count = tally->regions->count;
  *cells = (Cells){.tally = tally};
  cells->last = new_array(count, sizeof *cells->last);
  cells->taken = new_array(count, sizeof *cells->taken);
  cells->was_read = new_array(count, sizeof *cells->was_read);
  cells->decided = new_array(count, sizeof *cells->decided);
  cells->tails = new_array(count, sizeof *cells->tails);
  cells->oldest_tail = UINT32_MAX;
  for (uint32_t i = 0; i < count; i++) {
    const Region *region = &tally->regions->items[i];
    if (!tally_wants(tally, (uint16_t)i) || flow_has(flow, (uint16_t)i)) continue;
    uint64_t units = region->rows * region->units;
    if (tally->structures[tally->of_region[i]].told != ACE_TOLD) continue;
    if ((region->flags & (REGION_TRACED | REGION_LOOKED_AT)) == REGION_TRACED || (region->flags & REGION_TAKEN_OUT) != 0) {
      cells->last[i] = new_array(units, sizeof(uint32_t));
      if ((region->flags & REGION_LOOKED_AT) != 0) cells->was_read[i] = new_array(units, 1);
      if ((region->flags & REGION_KEPT) != 0) cells->tails[i] = new_array(units, sizeof(Tail));
    } else if ((region->flags & REGION_PLACES) != 0) {
      cells->taken[i] = new_array(region->rows, sizeof(uint32_t));
    } else if ((region->flags & REGION_DECIDED) != 0) {
      uint32_t *since = new_array(units * region->bits, sizeof(uint32_t));
      cells->decided[i] = new_array(units, sizeof(Decided));
      for (uint64_t k = 0; k < units; k++) cells->decided[i][k].since = &since[k * region->bits];
    }
  }
}

bool cells_decide_any(const Cells *cells) {
  bool any = false;
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) any = any || cells->decided[i] != NULL;
  return any;
}

bool cells_take_any(const Cells *cells) {
  bool any = false;
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) any = any || cells->taken[i] != NULL;
  return any;
}

void cells_close(Cells *cells) {
  for (uint32_t i = 0; cells->tally != NULL && i < cells->tally->regions->count; i++) {
    free(cells->last[i]);
    free(cells->taken[i]);
    free(cells->was_read[i]);
    free(cells->tails[i]);
    if (cells->decided[i] != NULL) free(cells->decided[i][0].since);
    free(cells->decided[i]);
  }
  free(cells->was_read);
  free(cells->tails);
  free(cells->decided);
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

// What became of a unit is known: it counts for the launches before number `until`, too, since it was last accessed.
static void end_tail(Cells *cells, uint16_t region, uint64_t cell, uint32_t until, AceCause cause) {
  Tally *tally = cells->tally;
  uint32_t units = tally->regions->items[region].units;
  Tail *tail = &cells->tails[region][cell];
  for (uint32_t launch = tail->launch; launch != 0 && launch < until; launch++) {
    uint32_t cycles = (uint32_t)tally->launches[launch - 1].cycles;
    tally_turn_to(tally, launch);
    add(cells, region, cell / units, (uint32_t)(cell % units), launch == tail->launch ? tail->from : 0, cycles, cause);
  }
  tally_turn_to(tally, tally->launch_number);
  *tail = (Tail){0};
}

static void end_tails(Cells *cells, const CellEvent *event, AceCause cause, uint32_t units) {
  if (cells->tails[event->region] == NULL) return;
  uint32_t count = cells->tally->regions->items[event->region].units;
  for (uint32_t left = units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left);
    if (unit >= count || cells->tails[event->region][event->row * count + unit].launch == 0) continue;
    end_tail(cells, event->region, event->row * count + unit, cells->tally->launch_number, cause);
  }
}

// Units of a row mostly have the same times: they are added together.
static void add_units(Cells *cells, const CellEvent *event, uint32_t now, AceCause cause, uint32_t units) {
  Tally *tally = cells->tally;
  const Region *region = &tally->regions->items[event->region];
  uint32_t *last = &cells->last[event->region][event->row * region->units];
  uint32_t first = UINT32_MAX, same = 0;
  end_tails(cells, event, cause, units);
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

static void set_read(Cells *cells, const CellEvent *event, uint8_t is_read) {
  const Region *region = &cells->tally->regions->items[event->region];
  uint8_t *was_read = cells->was_read[event->region];
  for (uint32_t unit = 0; was_read != NULL && unit < region->units; unit++) {
    if ((event->units >> unit & 1) != 0) was_read[event->row * region->units + unit] = is_read;
  }
}

// Of cells that logic looks at: units that were written, and not read since.
static uint32_t unread_units(const Cells *cells, const CellEvent *event) {
  const Region *region = &cells->tally->regions->items[event->region];
  const uint8_t *was_read = cells->was_read[event->region];
  uint32_t units = 0;
  for (uint32_t unit = 0; was_read != NULL && unit < region->units; unit++)
    units |= (was_read[event->row * region->units + unit] == 0 ? 1u : 0u) << unit;
  return units & event->units;
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
  bool is_code = event->who->client == CLIENT_INSTRUCTION || region->role == REGION_ROLE_INSTRUCTIONS;
  add_units(cells, event, now, is_code ? ACE_CONTROL : ACE_READ, event->units);
  touch(cells, event, now);
  set_read(cells, event, 1);
}

void cells_write(Cells *cells, const HookMachine *machine, const CellEvent *event) {
  if (!has_times(cells, event->region)) return;
  uint32_t now = tally_time(cells->tally, machine), held = unread_units(cells, event);
  if (held != 0) add_units(cells, event, now, ACE_HELD, held);
  add_units(cells, event, now, is_nobody(event->who) ? ACE_UNREAD : ACE_OVERWRITTEN, event->units & ~held);
  touch(cells, event, now);
  set_read(cells, event, 0);
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

// A later launch may read what is kept: it begins that launch as it ends this one.
static void keep_cells(Cells *cells, uint16_t region) {
  const Region *at = &cells->tally->regions->items[region];
  for (uint64_t i = 0; i < at->rows * at->units; i++) {
    uint32_t *last = &cells->last[region][i];
    Tail *tail = &cells->tails[region][i];
    if (*last == 0) continue;
    if (tail->launch == 0) *tail = (Tail){cells->tally->launch_number, *last - 1};
    cells->oldest_tail = min_u32(cells->oldest_tail, tail->launch);
    *last = 1;
  }
}

static void decide_tails(Cells *cells, uint32_t before, uint32_t until, AceCause cause) {
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) {
    const Region *at = &cells->tally->regions->items[i];
    for (uint64_t k = 0; cells->tails[i] != NULL && k < at->rows * at->units; k++) {
      uint32_t launch = cells->tails[i][k].launch;
      if (launch != 0 && launch < before) end_tail(cells, (uint16_t)i, k, until, cause);
    }
  }
}

// Of launches long ago nothing is kept open: what still lies there since then counts as if it were needed.
uint32_t cells_oldest_launch(Cells *cells) {
  enum { MOST_OPEN = 256 };
  uint32_t next = cells->tally->launch_number + 1, oldest = next - min_u32(next, MOST_OPEN);
  if (cells->oldest_tail >= oldest) return cells->oldest_tail;
  decide_tails(cells, oldest, next, ACE_HELD);
  cells->oldest_tail = oldest;
  return oldest;
}

void cells_end(Cells *cells) { decide_tails(cells, UINT32_MAX, cells->tally->launch_number + 1, ACE_UNREAD); }

static void finish_cells(Cells *cells, uint16_t region, uint32_t now) {
  const Region *at = &cells->tally->regions->items[region];
  uint8_t *was_read = cells->was_read[region];
  for (uint64_t i = 0; i < at->rows * at->units; i++) {
    uint32_t *last = &cells->last[region][i];
    AceCause cause = was_read != NULL && was_read[i] == 0 ? ACE_HELD : ACE_UNREAD;
    if (*last != 0) add(cells, region, i / at->units, (uint32_t)(i % at->units), *last - 1, now, cause);
    *last = 0;
    if (was_read != NULL) was_read[i] = 0;
  }
}

// ---- Control logic ----------------------------------------------------------------------------------------
// Of a bit `decide` says when it made a difference and when it was written, while the machine says that all of this is told. A stretch is un-ACE
// only if that was so when it began and when it ended.

static uint64_t told_bits(const Cells *cells, const HookMachine *machine, uint16_t region, uint64_t cell) {
  const Region *at = &cells->tally->regions->items[region];
  uint64_t told = 0;
  for (uint32_t bit = 0; bit < at->bits && machine->is_told != NULL; bit++) {
    Site site = {region, cell / at->units, (uint32_t)(cell % at->units), bit};
    told |= (uint64_t)machine->is_told(machine, &site) << bit;
  }
  return told;
}

static void end_bit(Cells *cells, uint16_t region, uint64_t cell, uint32_t bit, uint32_t now, AceCause cause) {
  Tally *tally = cells->tally;
  const Region *at = &tally->regions->items[region];
  uint32_t *since = &cells->decided[region][cell].since[bit];
  tally_sum(tally, region, cause, now - *since);
  if (ace_causes[cause].is_ace) tally_slice(tally, region, *since, now, 1);
  if (tally_is_asked(tally, region, cell / at->units))
    tally_answer(tally, region, cell / at->units, (uint32_t)(cell % at->units), UINT64_C(1) << bit, *since, now, cause);
  *since = now;
}

void cells_decide(Cells *cells, const HookMachine *machine, const DecideEvent *event) {
  if (cells->decided[event->region] == NULL) return;
  const Region *region = &cells->tally->regions->items[event->region];
  uint64_t cell = event->row * region->units + event->unit, told = told_bits(cells, machine, event->region, cell);
  Decided *at = &cells->decided[event->region][cell];
  uint64_t ends = event->decided | event->written | (told ^ at->told);
  if (region->bits < 64) ends &= (UINT64_C(1) << region->bits) - 1;
  uint32_t now = tally_time(cells->tally, machine);
  for (uint64_t left = ends; left != 0; left &= left - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(left);
    bool decides = (event->decided >> bit & 1) != 0, is_told = (told & at->told) >> bit & 1;
    end_bit(cells, event->region, cell, bit, now, decides ? ACE_CONTROL : is_told ? ACE_OVERWRITTEN : ACE_HELD);
  }
  at->told = told;
}

void cells_launch(Cells *cells, const HookMachine *machine) {
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) {
    const Region *region = &cells->tally->regions->items[i];
    for (uint64_t k = 0; cells->decided[i] != NULL && k < region->rows * region->units; k++) {
      cells->decided[i][k].told = told_bits(cells, machine, (uint16_t)i, k);
      memset(cells->decided[i][k].since, 0, region->bits * sizeof(uint32_t));
    }
  }
}

static void finish_decided(Cells *cells, const HookMachine *machine, uint16_t region, uint32_t now) {
  const Region *at = &cells->tally->regions->items[region];
  for (uint64_t cell = 0; cell < at->rows * at->units; cell++) {
    uint64_t told = told_bits(cells, machine, region, cell) & cells->decided[region][cell].told;
    if ((at->flags & REGION_KEPT) != 0) told = 0;
    for (uint32_t bit = 0; bit < at->bits; bit++) end_bit(cells, region, cell, bit, now, (told >> bit & 1) != 0 ? ACE_UNREAD : ACE_HELD);
  }
}

void cells_finish(Cells *cells, const HookMachine *machine) {
  uint32_t now = tally_time(cells->tally, machine);
  cells->oldest_tail = UINT32_MAX;
  for (uint32_t i = 0; i < cells->tally->regions->count; i++) {
    bool is_kept = (cells->tally->regions->items[i].flags & REGION_KEPT) != 0;
    if (has_times(cells, (uint16_t)i) && cells->tails[i] != NULL) keep_cells(cells, (uint16_t)i);
    else if (has_times(cells, (uint16_t)i)) finish_cells(cells, (uint16_t)i, now);
    if (cells->decided[i] != NULL) finish_decided(cells, machine, (uint16_t)i, now);
    if (cells->taken[i] == NULL) continue;
    for (uint64_t row = 0; row < cells->tally->regions->items[i].rows; row++) {
      bool stays = is_kept && cells->taken[i][row] != 0;
      release(cells, (uint16_t)i, row, now);
      cells->taken[i][row] = stays ? 1 : 0;
    }
  }
}
