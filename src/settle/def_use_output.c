// Faults in outputs of functional units, watched during the golden run: one in whose cycle no result passes its lane changes nothing, one
// that lasts nothing until a result passes that is not as it holds it. Of transients it is known which instruction's result goes wrong,
// and in which register: there they are followed from.
#include "settle/settle.h"

#include <stdlib.h>

typedef struct OutputRow { // its draws in `draws`, by cycle: those that a result may still meet
  uint32_t next, end;
} OutputRow;

struct OutputWatch {
  Draw **draws;     // by row and cycle
  OutputRow **rows; // by region; NULL: none of its outputs is struck
};

static bool is_watched(const Draw *draw) { return draw->fault.is_output && draw->fault.model != FAULT_PATTERN; }
static bool is_over(const Draw *draw, uint64_t cycle) {
  return draw->units == 0 || (!fault_lasts(&draw->fault) && draw->fault.from + FAULT_OUTPUT_CYCLES <= cycle);
}

static int by_place(const void *left, const void *right) {
  const Fault *a = &(*(Draw *const *)left)->fault, *b = &(*(Draw *const *)right)->fault;
  if (a->site.region != b->site.region) return a->site.region < b->site.region ? -1 : 1;
  if (a->site.row != b->site.row) return a->site.row < b->site.row ? -1 : 1;
  return a->from < b->from ? -1 : a->from > b->from;
}

OutputWatch *output_watch_new(Arena *arena, const RegionTable *table, Draw *draws, uint32_t count) {
  OutputWatch *watch = ARENA_NEW(arena, OutputWatch);
  watch->draws = ARENA_ARRAY(arena, Draw *, count + 1);
  watch->rows = ARENA_ARRAY(arena, OutputRow *, table->count);
  uint32_t watched = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_watched(&draws[i])) continue;
    draws[i].units = 1; // waits for a result
    watch->draws[watched++] = &draws[i];
  }
  qsort(watch->draws, watched, sizeof *watch->draws, by_place);
  for (uint32_t i = 0; i < watched; i++) {
    const Site *site = &watch->draws[i]->fault.site;
    OutputRow **rows = &watch->rows[site->region];
    if (*rows == NULL) *rows = ARENA_ARRAY(arena, OutputRow, table->items[site->region].rows);
    OutputRow *row = &(*rows)[site->row];
    if (row->end == 0) row->next = i;
    row->end = i + 1;
  }
  return watched == 0 ? NULL : watch;
}

// Results of others are addresses.
static bool computes(const OpInfo *info) { return info->kind == KIND_ALU || info->kind == KIND_WARP || info->kind == KIND_SREG; }

// The register or predicate that goes wrong, and how; RERUN_NOWHERE: none, or more than one.
static RerunPlace wrong_place(const ResultEvent *event, const ResultBit *bits, uint32_t count, Reader *reader) {
  const Instr *instr = event->instr;
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

static void note_strike(const HookMachine *machine, const ResultEvent *event, Draw *draw) {
  draw->units = 0;
  draw->strike_at = machine->cycle;
  draw_read_by(draw, machine->program, event->who->pc);
}

static void note_result(const Residents *residents, const HookMachine *machine, const ResultEvent *event, Draw *draw) {
  ResultBit bits[FAULT_MAX_BITS];
  uint32_t count = fault_result_bits(machine->regions, &draw->fault, machine->cycle, event, bits);
  if (count == 0) return;
  note_strike(machine, event, draw);
  uint32_t slot = event->who->warp / residents->block_warps;
  draw->reader = (Reader){.launch = residents->launch,
                          .block = residents_of(residents, event->who->sm, slot),
                          .warp = event->who->warp % residents->block_warps,
                          .sm = event->who->sm,
                          .first_warp = slot * residents->block_warps,
                          .pc = event->who->pc,
                          .issue = event->who->issue + 1,
                          .is_past = true};
  draw->reader.place = wrong_place(event, bits, count, &draw->reader);
}

void output_watch_result(OutputWatch *watch, const Residents *residents, const HookMachine *machine, const ResultEvent *event) {
  if (watch->rows[event->region] == NULL) return;
  OutputRow *row = &watch->rows[event->region][event->row];
  while (row->next < row->end && is_over(watch->draws[row->next], machine->cycle)) row->next++;
  for (uint32_t i = row->next; i < row->end && watch->draws[i]->fault.from <= machine->cycle; i++) {
    Draw *draw = watch->draws[i];
    if (draw->units == 0) continue;
    if (!fault_lasts(&draw->fault)) note_result(residents, machine, event, draw);
    else if (fault_alters_result(machine->regions, &draw->fault, machine->cycle, event)) note_strike(machine, event, draw);
  }
}
