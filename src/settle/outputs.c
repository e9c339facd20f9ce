// Faults in outputs of functional units, watched during the golden run: one in whose cycle no result passes its lane changes nothing, one
// that lasts nothing until a result passes that is not as it holds it. Of transients it is known which instruction's result goes wrong,
// and in which register: there they are followed from.
#include "settle/settle.h"

#include <stdlib.h>

typedef struct OutputRow { // its draws in `draws`, by cycle: those that a result may still meet
  uint32_t next, end;
} OutputRow;

typedef struct Outputs {
  Residents residents; // first: of the hook
  Hook hook;
  WatchedDraws watched;
  Draw **draws;     // by row and cycle
  OutputRow **rows; // by region; NULL: none of its outputs is struck
  bool *waits;      // by draw: for a result that it alters
} Outputs;

// Inside a unit, faults of several values may alter more bits than are told: they are simulated.
static bool is_watched(const RegionTable *table, const Draw *draw) {
  const Fault *fault = &draw->fault;
  if (!fault->is_output || fault->model == FAULT_PATTERN) return false;
  bool is_inner = (table->items[fault->site.region].flags & REGION_INNER) != 0;
  return !is_inner || fault_lasts(fault) || (fault->model != FAULT_LANES && fault->model != FAULT_RANDOM);
}
static bool *waits_of(const Outputs *at, const Draw *draw) { return &at->waits[draw - at->watched.draws]; }
static bool is_over(const Outputs *at, const Draw *draw, uint64_t cycle) {
  return !*waits_of(at, draw) || (!fault_lasts(&draw->fault) && draw->fault.from + FAULT_OUTPUT_CYCLES <= cycle);
}

static int by_place(const void *left, const void *right) {
  const Fault *a = &(*(Draw *const *)left)->fault, *b = &(*(Draw *const *)right)->fault;
  if (a->site.region != b->site.region) return a->site.region < b->site.region ? -1 : 1;
  if (a->site.row != b->site.row) return a->site.row < b->site.row ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

// Results of others are addresses.
static bool computes(const OpInfo *info) { return info->kind == KIND_ALU || info->kind == KIND_WARP || info->kind == KIND_SREG; }

// The register or predicate that goes wrong, and how; RERUN_NOWHERE: none, or more than one.
static RerunPlace wrong_place(const ResultEvent *event, const ResultBit *bits, uint32_t count, Reader *reader) {
  const Instr *instr = event->instr;
  if (instr == NULL) return RERUN_NOWHERE;
  const OpInfo *info = &op_info[instr->op];
  bool is_register = !bits[0].is_predicate;
  if (!computes(info) || (is_register && type_info[info->d].registers != event->row_count)) return RERUN_NOWHERE;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = bits[i].slot, thread = event->thread[slot] % WARP_LANES;
    bool is_own = event->owner_of[slot] == 0 && (event->shadow >> slot & 1) == 0;
    if (!is_own || (is_register && bits[i].word != bits[0].word)) return RERUN_NOWHERE;
    if (is_register) reader->change[thread] ^= 1u << bits[i].bit;
    else if (instr->pd[bits[i].bit] < MAX_PREDICATES) reader->change[instr->pd[bits[i].bit]] ^= 1u << thread;
  }
  reader->row = is_register ? instr->d[0] + bits[0].word : 0;
  return is_register ? RERUN_REGISTER : RERUN_PREDICATES;
}

static void note_strike(const Outputs *at, const HookMachine *machine, const ResultEvent *event, Draw *draw) {
  *waits_of(at, draw) = false;
  draw->strike_at = machine->cycle;
  draw_read_by(draw, machine->program, event->who->pc);
}

static void note_result(const Outputs *at, const HookMachine *machine, const ResultEvent *event, Draw *draw) {
  const Residents *residents = &at->residents;
  ResultBit bits[FAULT_MAX_BITS];
  uint32_t count = fault_result_bits(machine->regions, &draw->fault, machine->cycle, event, bits);
  if (count == 0) return;
  note_strike(at, machine, event, draw);
  uint32_t block_slot = event->who->warp / residents->block_warps;
  draw->reader = (Reader){.launch = residents->launch,
                          .block = residents_of(residents, event->who->sm, block_slot),
                          .warp = event->who->warp % residents->block_warps,
                          .sm = event->who->sm,
                          .first_warp = block_slot * residents->block_warps,
                          .pc = event->who->pc,
                          .issue = event->who->issue + 1,
                          .is_past = true};
  draw->reader.place = wrong_place(event, bits, count, &draw->reader);
}

// ---- Events ------------------------------------------------------------------------------------------

static void see_row(const Outputs *at, const HookMachine *machine, const ResultEvent *event, uint16_t region, uint64_t number) {
  OutputRow *row = &at->rows[region][number];
  while (row->next < row->end && is_over(at, at->draws[row->next], machine->cycle)) row->next++;
  for (uint32_t i = row->next; i < row->end && at->draws[i]->fault.from <= machine->cycle; i++) {
    Draw *draw = at->draws[i];
    if (!*waits_of(at, draw)) continue;
    if (draw->read == 0) draw->read = fault_is_passed(machine->regions, &draw->fault, machine->cycle, event);
    if (!fault_lasts(&draw->fault)) note_result(at, machine, event, draw);
    else if (fault_alters_result(machine->regions, &draw->fault, machine->cycle, event)) note_strike(at, machine, event, draw);
  }
}

static void see_inside(const Outputs *at, const HookMachine *machine, const ResultEvent *event, uint16_t region) {
  uint32_t steps = event->inside->steps;
  for (uint32_t step = 0; at->rows[region] != NULL && step < steps; step++) see_row(at, machine, event, region, event->row * steps + step);
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Outputs *at = hook->own;
  if (at->rows[event->region] != NULL) see_row(at, machine, event, event->region, event->row);
  if (event->inside == NULL) return VERDICT_PASS;
  see_inside(at, machine, event, event->inside->product);
  see_inside(at, machine, event, event->inside->sum);
  return VERDICT_PASS;
}

// ---- The settler -------------------------------------------------------------------------------------

static void find_rows(Outputs *at, uint32_t count) {
  const RegionTable *table = at->watched.table;
  at->rows = ARENA_ARRAY(at->watched.arena, OutputRow *, table->count);
  for (uint32_t i = 0; i < count; i++) {
    const Site *site = &at->draws[i]->fault.site;
    OutputRow **rows = &at->rows[site->region];
    if (*rows == NULL) *rows = ARENA_ARRAY(at->watched.arena, OutputRow, table->items[site->region].rows);
    OutputRow *row = &(*rows)[site->row];
    if (row->end == 0) row->next = i;
    row->end = i + 1;
  }
}

static Hook *watch(const WatchedDraws *watched) {
  Arena *arena = watched->arena;
  Outputs *at = ARENA_NEW(arena, Outputs);
  *at = (Outputs){.watched = *watched};
  at->draws = ARENA_ARRAY(arena, Draw *, watched->count + 1);
  at->waits = ARENA_ARRAY(arena, bool, watched->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < watched->count; i++) {
    if (!is_watched(watched->table, &watched->draws[i])) continue;
    at->waits[i] = true;
    watched->draws[i].read = 0;
    at->draws[count++] = &watched->draws[i];
  }
  if (count == 0) return NULL;
  qsort(at->draws, count, sizeof *at->draws, by_place);
  find_rows(at, count);
  at->hook = residents_hook("outputs", &at->residents, arena);
  at->hook.result = on_result;
  return &at->hook;
}

static void seen(const WatchedDraws *watched, Hook *hook) {
  const Outputs *at = hook == NULL ? NULL : hook->own;
  for (uint32_t i = 0; at != NULL && i < watched->count; i++) {
    if (at->waits[i] && watched->draws[i].settled == SETTLED_COUNT) watched->draws[i].settled = SETTLED_UNREAD;
  }
}

const Settler settle_outputs = {.name = "outputs", .is_for = settles_by_watching, .watch = watch, .seen = seen, .in_program = true};
