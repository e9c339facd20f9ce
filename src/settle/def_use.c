// Def-use of the cells that faults strike, watched during the golden run. A fault whose cells are next written, or never
// accessed again, changes nothing. Exact: told accesses are all there are (region.h, TRACED and not LOOKED_AT), and a fault that is
// read first is simulated: from that cycle on if it then still is what it was, else from its own. A fault that lasts changes nothing
// until bits are read that are not as it holds them.
#include "settle/settle.h"

enum { NO_DRAW = UINT32_MAX };

// What is known of a draw's cells.
typedef struct Cells {
  uint32_t units;   // struck, and neither overwritten since nor read
  uint32_t open;    // units that the reader found struck and that have not been overwritten since
  uint64_t read_to; // before the strike: 1 + the latest instruction that has read the struck units since they were written
  uint32_t next;    // draw in its row's list
} Cells;

typedef struct DefUse {
  Residents residents; // first: of the hook
  Hook hook;
  WatchedDraws watched;
  Cells *cells;    // by draw
  uint8_t **rows;  // per region: bit per row, NULL where nothing is struck
  uint32_t *heads; // hash table of rows: first draw of a list
  uint32_t mask;
} DefUse;

static uint32_t row_hash(const DefUse *at, uint16_t region, uint64_t row) {
  uint64_t key[2] = {region, row};
  return (uint32_t)hash_bytes(key, sizeof key, 0) & at->mask;
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

static bool is_watched(const DefUse *at, const CellEvent *event) {
  const uint8_t *rows = event->region < at->watched.table->count ? at->rows[event->region] : NULL;
  return rows != NULL && (rows[event->row / 8] >> event->row % 8 & 1) != 0;
}

static void note_reader(const DefUse *at, const HookMachine *machine, const CellEvent *event, Draw *draw, Cells *cells) {
  const Residents *residents = &at->residents;
  RegionRole role = at->watched.table->items[event->region].role;
  bool is_rf = role == REGION_ROLE_REGISTERS, is_shared = role == REGION_ROLE_SHARED;
  bool is_known = is_rf || is_shared || role == REGION_ROLE_PREDICATES;
  // Accesses of shared memory come in one order for all warps; those of registers only in that of their own.
  if (!is_known || event->who->issue == UINT64_MAX || (!is_shared && event->who->issue < cells->read_to)) return;
  uint32_t rows = at->watched.table->items[event->region].dims[1].count, row = (uint32_t)(event->row % rows);
  uint32_t sm = (uint32_t)(event->row / rows), block_slot = event->who->warp / residents->block_warps;
  if (is_rf) row %= max_u32(machine->warp_rows, 1);
  else if (is_shared) row %= residents->shared_rows;
  draw->reader = (Reader){.launch = residents->launch,
                          .block = residents_of(residents, sm, block_slot),
                          .warp = event->who->warp % residents->block_warps,
                          .sm = sm,
                          .first_warp = block_slot * residents->block_warps,
                          .place = is_rf       ? RERUN_REGISTER
                                   : is_shared ? RERUN_SHARED
                                               : RERUN_PREDICATES,
                          .row = row,
                          .pc = event->who->pc,
                          .issue = event->who->issue,
                          .units = cells->units};
  cells->open = is_shared ? 0 : cells->units;
}

// Reads before the strike, and those after the first: is there one point in the warp's program at which the bit turned over?
static void note_order(const HookMachine *machine, const CellEvent *event, Draw *draw, Cells *cells) {
  if (draw->fault.from > machine->cycle) {
    if ((draw->struck & event->units) != 0)
      cells->read_to = event->who->issue == UINT64_MAX ? UINT64_MAX : max_u64(cells->read_to, event->who->issue + 1);
  } else if ((cells->open & event->units) != 0 && event->who->issue < draw->reader.issue) {
    draw->reader.launch = 0;
  }
}

// A cell that is stuck matters from here on. What an intermittent one has left there depends on when it was written: from its own time on.
static void note_altered(const HookMachine *machine, const CellEvent *event, Draw *draw) {
  draw->strike_at = draw->fault.model == FAULT_DUTY ? draw->fault.from : machine->cycle;
  draw_read_by(draw, machine->program, event->who->pc);
}

static void read_lasting(const DefUse *at, const HookMachine *machine, const CellEvent *event, Draw *draw, Cells *cells) {
  bool is_met = draw->fault.from <= machine->cycle && (cells->units & event->units) != 0;
  if (is_met) draw->read = 1;
  if (!is_met || !fault_alters_cells(at->watched.table, &draw->fault, event)) return;
  cells->units = 0;
  note_altered(machine, event, draw);
}

static void read_struck(const DefUse *at, const HookMachine *machine, const CellEvent *event, Draw *draw, Cells *cells) {
  note_order(machine, event, draw, cells);
  if (draw->fault.from > machine->cycle || (cells->units & event->units) == 0) return;
  bool whole = cells->units == draw->struck;
  draw->read = 1;
  note_reader(at, machine, event, draw, cells);
  cells->units = 0;
  draw->strike_at = whole ? machine->cycle : draw->fault.from;
  draw_read_by(draw, machine->program, event->who->pc);
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  DefUse *at = hook->own;
  if (!is_watched(at, event)) return VERDICT_PASS;
  for (uint32_t i = at->heads[row_hash(at, event->region, event->row)]; i != NO_DRAW; i = at->cells[i].next) {
    Draw *draw = &at->watched.draws[i];
    if (!strikes(draw, event->region, event->row)) continue;
    if (fault_lasts(&draw->fault)) read_lasting(at, machine, event, draw, &at->cells[i]);
    else read_struck(at, machine, event, draw, &at->cells[i]);
  }
  return VERDICT_PASS;
}

static void write_struck(const HookMachine *machine, const CellEvent *event, Draw *draw, Cells *cells) {
  if (draw->fault.from > machine->cycle) {
    if ((draw->struck & ~event->units) == 0) cells->read_to = 0;
    return;
  }
  cells->open &= ~event->units;
  if (cells->units == 0) return;
  cells->units &= ~event->units;
  if (cells->units == 0) draw->settled = SETTLED_OVERWRITTEN;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  DefUse *at = hook->own;
  if (!is_watched(at, event)) return VERDICT_PASS;
  for (uint32_t i = at->heads[row_hash(at, event->region, event->row)]; i != NO_DRAW; i = at->cells[i].next) {
    Draw *draw = &at->watched.draws[i];
    if (strikes(draw, event->region, event->row) && !fault_lasts(&draw->fault)) write_struck(machine, event, draw, &at->cells[i]);
  }
  return VERDICT_PASS;
}

// The launch is over: what is put to rest on the chip is gone, and with it what was struck there. What is kept for the next launch goes on.
static void on_finish(Hook *hook, HookMachine *machine) {
  DefUse *at = hook->own;
  for (uint32_t i = 0; i < at->watched.count; i++) {
    Draw *draw = &at->watched.draws[i];
    bool is_over = draw->fault.from <= machine->cycle && !fault_lasts(&draw->fault);
    bool is_kept = (at->watched.table->items[draw->fault.site.region].flags & REGION_KEPT) != 0;
    if (at->cells[i].units == 0 || !is_over || is_kept) continue;
    at->cells[i].units = 0;
    draw->settled = SETTLED_UNREAD;
  }
}

// ---- The settler -------------------------------------------------------------------------------------

static void watch_draw(DefUse *at, uint32_t index) {
  Draw *draw = &at->watched.draws[index];
  const Region *region = &at->watched.table->items[draw->fault.site.region];
  if (!region_tells_accesses(region) || draw->fault.model == FAULT_PATTERN) return; // lists are by row
  at->cells[index].units = draw->struck = struck_units(at->watched.table, &draw->fault);
  draw->read = 0;
  uint8_t **rows = &at->rows[draw->fault.site.region];
  if (*rows == NULL) *rows = arena_alloc(at->watched.arena, region->rows / 8 + 1);
  (*rows)[draw->fault.site.row / 8] |= (uint8_t)(1u << draw->fault.site.row % 8);
  uint32_t *head = &at->heads[row_hash(at, draw->fault.site.region, draw->fault.site.row)];
  at->cells[index].next = *head;
  *head = index;
}

static Hook *watch(const WatchedDraws *watched) {
  Arena *arena = watched->arena;
  DefUse *at = ARENA_NEW(arena, DefUse);
  uint32_t heads = 64;
  while (heads < 2 * watched->count) heads *= 2;
  *at = (DefUse){.watched = *watched, .mask = heads - 1};
  at->cells = ARENA_ARRAY(arena, Cells, watched->count + 1);
  at->rows = ARENA_ARRAY(arena, uint8_t *, watched->table->count);
  at->heads = ARENA_ARRAY(arena, uint32_t, heads);
  memset(at->heads, 0xFF, heads * sizeof *at->heads);
  for (uint32_t i = 0; i < watched->count; i++) watch_draw(at, i);
  at->hook = residents_hook("def-use", &at->residents, arena);
  at->hook.finish = on_finish;
  at->hook.read = on_read;
  at->hook.write = on_write;
  return &at->hook;
}

// What has not been touched until the end.
static void seen(const WatchedDraws *watched, Hook *hook) {
  const DefUse *at = hook->own;
  for (uint32_t i = 0; i < watched->count; i++) {
    if (at->cells[i].units != 0 && watched->draws[i].settled == SETTLED_COUNT) watched->draws[i].settled = SETTLED_UNREAD;
  }
}

const Settler settle_def_use = {.name = "def-use", .is_for = settles_by_watching, .watch = watch, .seen = seen, .in_program = true};
