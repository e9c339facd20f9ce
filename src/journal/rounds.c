// Batches of faults, and when a campaign with a margin has enough of them. The same rule for one machine, which looks up after each batch, and
// for a cluster, which may settle several batches at a time and leaves out afterwards what one machine would not have settled.
#include "journal/journal_internal.h"
#include "journal/statistics.h"

#include <math.h>
#include <stdlib.h>

// Each batch costs two fault-free runs; a campaign that stops when it is sure enough looks up after each.
enum { SMALL_BATCH = 4096, LEAST_EACH = 512, LARGE_BATCH = 16384 };

uint32_t journal_batch(bool has_margin, uint32_t structures) {
  return has_margin ? max_u32(SMALL_BATCH, LEAST_EACH * structures) : LARGE_BATCH;
}

static bool add_structure(void *context, const StructureRow *row) {
  Rounds *rounds = context;
  const char *name = arena_copy_text(rounds->arena, row->name, strlen(row->name));
  *VEC_PUSH(&rounds->structures, rounds->arena) = (RoundStructure){.region = row->region, .name = name, .drawn = row->drawn};
  return true;
}

void rounds_begin(Rounds *rounds, const Journal *first, Arena *arena) {
  *rounds = (Rounds){.arena = arena, .total = strtoull(journal_note(first, NOTE_ASKED_FAULTS), NULL, 10)};
  rounds->margin = strtod(journal_note(first, NOTE_ASKED_MARGIN), NULL);
  rounds->confidence = strtod(journal_note(first, NOTE_ASKED_CONFIDENCE), NULL);
  journal_each_structure(first, add_structure, rounds);
  rounds->batch = rounds->batch_end = journal_batch(rounds->margin > 0, rounds->structures.count);
}

// A batch has ended.
static void look_up(Rounds *rounds) {
  bool all = true;
  for (uint32_t i = 0; i < rounds->structures.count; i++) {
    RoundStructure *structure = &rounds->structures.items[i];
    structure->is_tight = wilson_is_tight(structure->bad, structure->settled, structure->drawn, rounds->margin, rounds->confidence);
    all &= structure->is_tight;
  }
  rounds->is_sure = all;
}

// Looks up at the end of each batch that ends at `id` or before it.
static void go_to(Rounds *rounds, uint64_t id) {
  while (!rounds->is_sure && id >= rounds->batch_end) {
    look_up(rounds);
    if (!rounds->is_sure) rounds->batch_end += rounds->batch;
  }
}

static bool is_bad(uint8_t outcome) {
  const char *group = outcome_info[outcome].group;
  return strcmp(group, "sdc") == 0 || strcmp(group, "due") == 0 || outcome == OUTCOME_INTERNAL;
}

bool rounds_take(Rounds *rounds, const FaultRow *row) {
  if (rounds->margin <= 0) return true;
  go_to(rounds, row->id);
  for (uint32_t i = 0; i < rounds->structures.count && !rounds->is_sure; i++) {
    RoundStructure *structure = &rounds->structures.items[i];
    if (structure->region != row->region || structure->is_tight) continue;
    structure->settled++;
    structure->bad += is_bad(row->outcome);
    return true;
  }
  return false;
}

void rounds_end(Rounds *rounds, uint64_t end) {
  if (rounds->margin > 0) go_to(rounds, end);
}

uint64_t rounds_below(const Rounds *rounds, uint64_t end) { return rounds->is_sure ? min_u64(rounds->batch_end, rounds->total) : end; }

// Faults that make Wilson's interval as narrow as asked for, if the share stays what it is: found by halving.
static double faults_for(double share, double margin, double confidence) {
  double low = 1, high = 1e12;
  for (int i = 0; i < 60; i++) {
    double middle = sqrt(low * high);
    Interval interval = wilson_share(share, middle, confidence);
    if ((interval.high - interval.low) / 2 > margin) low = middle;
    else high = middle;
  }
  return high;
}

uint64_t rounds_foresee(const Rounds *rounds) {
  double most = 0, each = (double)rounds->batch / (double)max_u32(rounds->structures.count, 1);
  for (uint32_t i = 0; i < rounds->structures.count; i++) {
    const RoundStructure *structure = &rounds->structures.items[i];
    if (structure->is_tight || structure->settled == 0) continue;
    double share = (double)structure->bad / (double)structure->settled;
    double left = faults_for(share, rounds->margin / structure->drawn, rounds->confidence) - (double)structure->settled;
    most = fmax(most, ceil(left / each));
  }
  double batches = fmin(fmax(most, 1), ceil((double)rounds->total / (double)rounds->batch));
  return (uint64_t)batches * rounds->batch;
}
