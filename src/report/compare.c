// Two journals of one fault list side by side: what became of each fault, and how much the AVF changed. Its interval is
// Newcombe's for paired proportions (method 10; statistics.h): unlike Wald's it holds for small shares, and it does not shrink to a
// point when no fault changed sides.
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_STRUCTURES = 256 };

typedef struct StructurePairs {
  char name[64];
  uint16_t region;
  double bits;
  double pairs;
  PairedCounts vulnerable; // in both, in A alone, in B alone, in none
} StructurePairs;

typedef struct Pairs {
  uint64_t moved[OUTCOME_COUNT][OUTCOME_COUNT];
  uint64_t pairs, differ;    // same number: same bits, other bits
  uint64_t alone_a, alone_b; // in one journal only
  StructurePairs structures[MOST_STRUCTURES];
  uint32_t structure_count;
} Pairs;

static bool add_structure(void *context, const StructureRow *row) {
  Pairs *pairs = context;
  if (pairs->structure_count == MOST_STRUCTURES) return false;
  StructurePairs *structure = &pairs->structures[pairs->structure_count++];
  snprintf(structure->name, sizeof structure->name, "%s", row->name);
  structure->region = row->region;
  structure->bits = (double)row->rows * row->units * row->bits;
  return true;
}

static void add_pair(Pairs *pairs, const FaultRow *a, const FaultRow *b) {
  if (strcmp(a->fault, b->fault) != 0) {
    pairs->differ++;
    return;
  }
  pairs->pairs++;
  pairs->moved[a->outcome][b->outcome]++;
  bool in_a = outcome_is_vulnerable(a->outcome), in_b = outcome_is_vulnerable(b->outcome);
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    StructurePairs *structure = &pairs->structures[i];
    if (structure->region != a->region) continue;
    structure->pairs++;
    structure->vulnerable.both += in_a && in_b;
    structure->vulnerable.first += in_a && !in_b;
    structure->vulnerable.second += !in_a && in_b;
    structure->vulnerable.neither += !in_a && !in_b;
  }
}

// Both in order of number, so one walk finds all pairs.
static bool pair_up(const Journal *a, const Journal *b, Pairs *pairs, Diags *diags) {
  if (!journal_each_structure(a, add_structure, pairs)) return journal_damaged(a, diags);
  FaultCursor *from_a = journal_faults(a), *from_b = journal_faults(b);
  FaultRow left, right;
  bool more_a = journal_next_fault(from_a, &left), more_b = journal_next_fault(from_b, &right);
  while (more_a || more_b) {
    bool take_a = more_a && (!more_b || left.id <= right.id), take_b = more_b && (!more_a || right.id <= left.id);
    if (take_a && take_b) add_pair(pairs, &left, &right);
    pairs->alone_a += take_a && !take_b;
    pairs->alone_b += take_b && !take_a;
    if (take_a) more_a = journal_next_fault(from_a, &left);
    if (take_b) more_b = journal_next_fault(from_b, &right);
  }
  bool good_a = journal_end_faults(from_a), good_b = journal_end_faults(from_b);
  if (!good_a) return journal_damaged(a, diags);
  if (!good_b) return journal_damaged(b, diags);
  if (pairs->pairs > 0) return true;
  return diags_add(diags, NULL, 0, 0,
                   "the journals have no fault in common: they need the same workload, machine, structures, window and seed");
}

static void add_journal(Text *out, const char *name, const JournalMeta *meta) {
  text_add(out, "%s: %s on %s, protection %s\n", name, meta->target, meta->machine, meta->protection);
}

static void add_moves(const Pairs *pairs, Text *out) {
  text_add(out, "%-16s -> %-16s %9s\n", "in A", "in B", "faults");
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      if (pairs->moved[i][k] == 0) continue;
      text_add(out, "%-16s -> %-16s %9" PRIu64 "\n", outcome_info[i].name, outcome_info[k].name, pairs->moved[i][k]);
    }
  }
}

// A timeout of one run may be the end of the other where they are given different times.
static void add_timeouts(const Pairs *pairs, const JournalMeta *a, const JournalMeta *b, Text *out) {
  uint64_t timeouts = 0;
  if (a->timeout == b->timeout) return;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) timeouts += pairs->moved[OUTCOME_TIMEOUT][i] + pairs->moved[i][OUTCOME_TIMEOUT];
  timeouts -= pairs->moved[OUTCOME_TIMEOUT][OUTCOME_TIMEOUT];
  if (timeouts == 0) return;
  text_add(out,
           "runs count as endless at %" PRIu64 " times the fault-free cycles in A, at %" PRIu64 " times in B: %" PRIu64
           " of these faults depend on it\n",
           a->timeout, b->timeout, timeouts);
}

static void add_change(const char *name, const PairedCounts *counts, double confidence, Text *out) {
  double n = counts->both + counts->first + counts->second + counts->neither;
  Interval interval = paired_interval(*counts, confidence);
  text_add(out, "%s falls by %.3f%% from A to B (%.3f to %.3f at %.4g%%)\n", name, 100 * (counts->first - counts->second) / n,
           100 * interval.low, 100 * interval.high, 100 * confidence);
}

// Each structure counts by its bits; all together for as many pairs as weigh the same.
static PairedCounts weigh(const Pairs *pairs) {
  PairedCounts sum = {0};
  double bits = 0, squares = 0;
  for (uint32_t i = 0; i < pairs->structure_count; i++) bits += pairs->structures[i].pairs > 0 ? pairs->structures[i].bits : 0;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    if (structure->pairs <= 0) continue;
    squares += structure->bits / bits * (structure->bits / bits) / structure->pairs;
  }
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    if (structure->pairs <= 0) continue;
    double weight = structure->bits / bits / structure->pairs / squares;
    sum.both += weight * structure->vulnerable.both;
    sum.first += weight * structure->vulnerable.first;
    sum.second += weight * structure->vulnerable.second;
    sum.neither += weight * structure->vulnerable.neither;
  }
  return sum;
}

static void add_changes(const Pairs *pairs, double confidence, Text *out) {
  uint32_t struck = 0;
  const StructurePairs *only = NULL;
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    if (pairs->structures[i].pairs <= 0) continue;
    struck++;
    only = &pairs->structures[i];
  }
  text_add(out, "\n");
  if (struck == 1) {
    add_change("AVF", &only->vulnerable, confidence, out);
    return;
  }
  for (uint32_t i = 0; i < pairs->structure_count; i++) {
    const StructurePairs *structure = &pairs->structures[i];
    char name[80];
    snprintf(name, sizeof name, "AVF of %s", structure->name);
    if (structure->pairs > 0) add_change(name, &structure->vulnerable, confidence, out);
  }
  PairedCounts all = weigh(pairs);
  if (struck > 0) add_change("size-weighted AVF", &all, confidence, out);
}

bool report_compare(const Journal *a, const Journal *b, double confidence, Text *out, Diags *diags) {
  Pairs *pairs = calloc(1, sizeof *pairs);
  ASSERT(pairs != NULL);
  bool good = pair_up(a, b, pairs, diags);
  if (good) {
    add_journal(out, "A", journal_meta(a));
    add_journal(out, "B", journal_meta(b));
    text_add(out, "%" PRIu64 " faults in both\n", pairs->pairs);
    if (pairs->alone_a + pairs->alone_b > 0) {
      text_add(out, "%" PRIu64 " in A alone, %" PRIu64 " in B alone: not compared\n", pairs->alone_a, pairs->alone_b);
    }
    if (pairs->differ > 0) text_add(out, "%" PRIu64 " have the same number but strike other bits: not compared\n", pairs->differ);
    add_timeouts(pairs, journal_meta(a), journal_meta(b), out);
    text_add(out, "\n");
    add_moves(pairs, out);
    add_changes(pairs, confidence, out);
  }
  free(pairs);
  return good;
}
