// Rows of faults: which are ours and which are in the journal already, and what comes to it when a fault is settled.
#include "campaign/campaign_internal.h"
#include "base/process.h"

#include <inttypes.h>
#include <stdlib.h>

static const double COMMIT_SECONDS = 0.05;
enum { KNOWN_AT_FIRST = 4096, LOOK_AT_CLOCK = 64, COMMIT_EVERY = 1024 };

static uint32_t launch_at(const Golden *golden, uint64_t cycle) {
  for (uint32_t i = 0; i < golden->launches.count; i++) {
    const GoldenRow *launch = &golden->launches.items[i];
    if (cycle >= launch->began_at && cycle < launch->began_at + launch->cycles) return launch->launch;
  }
  return 0;
}

// This shard's or part's, and of a structure of which not enough is known.
bool rows_is_ours(const Campaign *at, uint64_t id) {
  return id >= at->part_first && id < at->part_end && id % at->options->shards == at->options->shard &&
         !at->tight[population_structure(&at->population, id)];
}

// The outcome of a fault that is in the journal, or NOT_KNOWN.
uint8_t rows_outcome(const Campaign *at, uint64_t id) {
  uint64_t place = id - at->part_first;
  return id >= at->part_first && place < at->known_count ? at->known[place] : NOT_KNOWN;
}

// A fault is in the journal now.
void rows_know(Campaign *at, uint64_t id, uint8_t outcome) {
  uint64_t place = id - at->part_first;
  if (place >= at->known_count) {
    uint64_t count = max_u64(KNOWN_AT_FIRST, 2 * (place + 1));
    at->known = realloc(at->known, count);
    ASSERT(at->known != NULL);
    memset(at->known + at->known_count, NOT_KNOWN, count - at->known_count);
    at->known_count = count;
  }
  at->known[place] = outcome;
}

// The fair sample grows up to the next fault that is missing. Those that are left out because enough is known of their structure are not.
static void extend_sample(Campaign *at, uint64_t end) {
  for (; at->sample_end < end; at->sample_end++) {
    uint64_t id = at->sample_end;
    uint8_t known = rows_outcome(at, id);
    if (known == NOT_KNOWN && rows_is_ours(at, id)) return;
    if (known == NOT_KNOWN) continue;
    at->progress.sample++;
    at->progress.sample_counts[known % OUTCOME_COUNT]++;
  }
}

bool rows_commit(Campaign *at) {
  at->uncommitted = 0;
  at->committed_at = clock_seconds();
  if (!journal_commit(at->journal, at->diags)) return false;
  extend_sample(at, at->first_id + at->draw_count);
  at->told = at->progress;
  return true;
}

static bool is_good(uint32_t outcome) {
  return outcome == OUTCOME_MASKED || outcome == OUTCOME_PERFORMANCE || outcome == OUTCOME_CORRECTED;
}

void rows_count_settled(Campaign *at, uint64_t id, uint32_t outcome) {
  uint32_t structure = population_structure(&at->population, id);
  at->settled[structure]++;
  at->bad[structure] += !is_good(outcome);
}

// Where a fault strikes and who reads it, as columns.
static void fill_place(const Campaign *at, const Draw *draw, FaultRow *row) {
  const Site *site = &draw->fault.site;
  const Region *region = &at->golden.table.items[site->region];
  uint64_t left = site->row;
  row->row = (int64_t)site->row;
  row->unit = site->unit;
  row->bit = site->bit;
  if (strcmp(region->unit, "lane") == 0) row->lane = site->unit;
  for (uint32_t i = region->dim_count; i-- > 0; left /= max_u32(region->dims[i].count, 1)) {
    int64_t number = (int64_t)(left % max_u32(region->dims[i].count, 1));
    if (strcmp(region->dims[i].name, "sm") == 0) row->sm = number;
    if (strcmp(region->dims[i].name, "warp") == 0) row->warp = number;
    if (strcmp(region->dims[i].name, "lane") == 0) row->lane = number;
    if (strcmp(region->dims[i].name, "reg") == 0) row->reg = number;
  }
  // The register file's rows are dealt to warps as the launch's kernel needs them.
  uint32_t registers = row->launch == 0 ? 0 : at->golden.launches.items[row->launch - 1].registers;
  if (region->role == REGION_ROLE_REGISTERS && row->reg >= 0) {
    row->warp = registers == 0 ? NOTHING : row->reg / registers;
    row->reg = registers == 0 ? NOTHING : row->reg % registers;
  }
  if (draw->reader.launch != 0) row->block = draw->reader.block;
  if (draw->pc == UINT32_MAX) return;
  row->pc = draw->pc;
  row->line = draw->line;
  if (draw->op < OP_COUNT) row->opcode = op_info[draw->op].text;
}

static bool is_wrong_output(uint32_t outcome) {
  return strcmp(outcome_info[outcome].group, "sdc") == 0 || outcome == OUTCOME_TOLERATED || outcome == OUTCOME_SDC_ORDER;
}

// How long a run with wrong results took is known only where no fault is followed without time.
uint64_t rows_cycles(const Campaign *at, const Record *record) {
  bool ends = is_good(record->outcome) || record->outcome == OUTCOME_DETECTED;
  return ends || (is_wrong_output(record->outcome) && !machine_can(at->target->spec, MACHINE_IS_FOLLOWED)) ? record->cycles : 0;
}

// A row more is not committed yet. A commit waits for the disk: it takes as long as a hundred rows.
static bool is_commit_due(Campaign *at) {
  if (++at->uncommitted % LOOK_AT_CLOCK != 0) return false;
  return at->uncommitted >= COMMIT_EVERY || clock_seconds() - at->committed_at >= COMMIT_SECONDS;
}

// Writes a fault's row; what progress is told is committed first.
static bool put_row(Campaign *at, const Draw *draw, const Record *record) {
  Text text = {0};
  fault_format(&at->golden.table, &draw->fault, &text);
  FaultRow row = fault_row();
  row.id = draw->id;
  row.number = (int64_t)population_number(&at->population, draw->id);
  row.fault = text.at;
  row.model = at->options->model;
  row.region = draw->fault.site.region;
  row.cycle = draw->fault.from;
  row.launch = launch_at(&at->golden, draw->fault.from);
  fill_place(at, draw, &row);
  row.outcome = (uint8_t)record->outcome;
  row.settled = (uint8_t)record->settled;
  row.class_of = draw->class_of;
  row.cycles = rows_cycles(at, record);
  row.wrong = record->wrong;
  row.worst = record->worst;
  row.pattern = (uint8_t)record->pattern;
  row.note = record->note;
  row.read = draw->read;
  if (record->unanswered > 0) row.unanswered = (uint8_t)(record->unanswered - 1);
  bool good = journal_put_fault(at->journal, &row, at->diags);
  text_free(&text);
  at->progress.done++;
  at->progress.counts[record->outcome]++;
  at->progress.settled[record->settled]++;
  rows_know(at, draw->id, (uint8_t)record->outcome);
  rows_count_settled(at, draw->id, record->outcome);
  return good && (!is_commit_due(at) || (rows_commit(at) && campaign_report(at)));
}

// Ours, and not in the journal since an earlier run.
bool rows_is_left(const Campaign *at, uint64_t id) { return rows_is_ours(at, id) && rows_outcome(at, id) == NOT_KNOWN; }

// Of a detected fault it is asked next what would have come of it. What the run that goes on shows is told of the detected one.
static bool is_asked_further(Campaign *at, const Record *record, Record *whole) {
  *whole = *record;
  if (!at->is_unanswered && record->outcome == OUTCOME_DETECTED) {
    *VEC_PUSH(&at->detected, at->batch_arena) = *record;
    return true;
  }
  for (uint32_t i = 0; at->is_unanswered && i < at->detected.count; i++) {
    if (at->detected.items[i].id != record->id || record->outcome == OUTCOME_INTERNAL) continue;
    *whole = at->detected.items[i];
    if (record->outcome != OUTCOME_DETECTED) whole->unanswered = 1 + record->outcome;
  }
  return false;
}

bool rows_take(void *context, const Record *told) {
  Campaign *at = context;
  Record whole, *record = &whole;
  bool good = true;
  at->draws[told->id - at->first_id].is_told = true;
  if (is_asked_further(at, told, &whole)) return !at->stopped;
  const Draw *draw = &at->draws[record->id - at->first_id];
  for (uint32_t i = at->class_first[draw->class_of - at->first_id]; i != 0 && good; i = at->class_next[i - 1]) { // it, and all of its class
    const Draw *other = &at->draws[i - 1];
    if (!rows_is_left(at, other->id)) continue;
    Record same = *record;
    same.id = other->id;
    if (other->settled == SETTLED_CLASS) same.settled = SETTLED_CLASS;
    good = put_row(at, other, &same);
  }
  bool is_due = clock_seconds() - at->committed_at >= COMMIT_SECONDS; // many may come at once
  if (record->settled != SETTLED_FOLLOWED && at->progress.simulations > 0) at->progress.simulations--;
  if (!is_due) return good && !at->stopped;
  return good && rows_commit(at) && campaign_report(at);
}

// Those whose outcome is still to be found, by class, in order of id.
void rows_list_classes(Campaign *at, Arena *arena) {
  at->class_first = ARENA_ARRAY(arena, uint32_t, at->draw_count + 1);
  at->class_next = ARENA_ARRAY(arena, uint32_t, at->draw_count + 1);
  for (uint32_t i = at->draw_count; i > 0; i--) {
    const Draw *draw = &at->draws[i - 1];
    if (draw->settled < SETTLED_CLASS) continue;
    uint32_t *first = &at->class_first[draw->class_of - at->first_id];
    at->class_next[i - 1] = *first;
    *first = i;
  }
}

// What the golden run has shown to change nothing.
bool rows_put_seen(Campaign *at) {
  for (uint32_t i = 0; i < at->draw_count; i++) {
    const Draw *draw = &at->draws[i];
    if (draw->settled >= SETTLED_CLASS || !rows_is_left(at, draw->id)) continue;
    Record record = {.id = draw->id, .outcome = OUTCOME_MASKED, .settled = draw->settled, .cycles = at->golden.cycles};
    if (!put_row(at, draw, &record)) return false;
  }
  return true;
}
