// What a campaign found, read from its journal.
#include "lib/lib_internal.h"

#include "journal/statistics.h"

#include <stdlib.h>

typedef struct StructureName {
  uint16_t region;
  const char *name;
  double drawn; // share of it that its faults are drawn from
} StructureName;

struct RedoubtResults {
  Arena *arena;
  Journal *journal;
  FaultCursor *cursor; // NULL: at the beginning
  VEC(StructureName) structures;
};

static bool take_structure(void *context, const StructureRow *row) {
  RedoubtResults *results = context;
  *VEC_PUSH(&results->structures, results->arena) =
      (StructureName){row->region, arena_copy_text(results->arena, row->name, strlen(row->name)), row->drawn};
  return true;
}

RedoubtResults *redoubt_results_open(const char *journal, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(journal, "journal", error)) return NULL;
  Diags diags = {0};
  Journal *opened = journal_read(journal, &diags);
  if (opened == NULL) return lib_fail(error, &diags), NULL;
  Arena *arena = arena_new();
  RedoubtResults *results = ARENA_NEW(arena, RedoubtResults);
  results->arena = arena;
  results->journal = opened;
  if (!journal_each_structure(opened, take_structure, results)) {
    journal_damaged(opened, &diags);
    lib_fail(error, &diags);
    redoubt_results_close(results);
    return NULL;
  }
  return results;
}

void redoubt_results_rewind(RedoubtResults *results) {
  if (results == NULL) return;
  if (results->cursor != NULL) journal_end_faults(results->cursor);
  results->cursor = NULL;
}

void redoubt_results_close(RedoubtResults *results) {
  if (results == NULL) return;
  redoubt_results_rewind(results);
  journal_close(results->journal);
  arena_free(results->arena);
}

bool redoubt_results_complete(const RedoubtResults *results) { return results != NULL && journal_state(results->journal).complete; }

static const char *structure_name(const RedoubtResults *results, uint16_t region) {
  for (uint32_t i = 0; i < results->structures.count; i++) {
    if (results->structures.items[i].region == region) return results->structures.items[i].name;
  }
  return "";
}

bool redoubt_results_next(RedoubtResults *results, RedoubtFault *fault, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(results, "results", error) || !lib_given(fault, "fault", error)) return false;
  if (results->cursor == NULL) results->cursor = journal_faults(results->journal);
  FaultRow row;
  if (journal_next_fault(results->cursor, &row)) {
    const OutcomeInfo *info = &outcome_info[row.outcome];
    *fault = (RedoubtFault){.id = row.id,
                            .fault = row.fault,
                            .structure = structure_name(results, row.region),
                            .outcome = info->name,
                            .group = info->group,
                            .note = row.note,
                            .cycle = row.cycle,
                            .wrong_elements = row.wrong,
                            .largest_error = row.worst};
    return true;
  }
  bool whole = journal_end_faults(results->cursor);
  results->cursor = NULL;
  if (whole) return false;
  Diags diags = {0};
  journal_damaged(results->journal, &diags);
  return lib_fail(error, &diags);
}

typedef struct Tally {
  const RedoubtResults *results;
  const char *structure, *group;
  uint64_t count, total;
} Tally;

// Of a group, or of a part of the DUEs.
static bool is_of(uint32_t outcome, const char *group) {
  return strcmp(outcome_info[outcome].group, group) == 0 || (group[0] != '\0' && strcmp(outcome_info[outcome].part, group) == 0);
}

static bool add_to_tally(void *context, const FaultRow *row) {
  Tally *tally = context;
  bool counts = tally->structure == NULL || strcmp(structure_name(tally->results, row->region), tally->structure) == 0;
  tally->total += counts;
  tally->count += counts && is_of(row->outcome, tally->group);
  return true;
}

static bool is_group(const char *group) {
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    if (is_of(i, group)) return true;
  }
  return false;
}

static double drawn_of(const RedoubtResults *results, const char *structure) {
  for (uint32_t i = 0; i < results->structures.count; i++) {
    const StructureName *at = &results->structures.items[i];
    if (structure == NULL || strcmp(at->name, structure) == 0) return at->drawn;
  }
  return 1;
}

// Where faults are drawn from what is used, what strikes the rest is masked.
static void weigh(RedoubtShare *share, double drawn, bool is_masked, double confidence) {
  if (drawn >= 1 || share->total == 0) return;
  uint64_t hits = is_masked ? share->total - share->count : share->count;
  Interval of = wilson_interval(hits, share->total, confidence);
  double value = drawn * (double)hits / (double)share->total, low = drawn * of.low, high = drawn * of.high;
  share->share = is_masked ? 1 - value : value;
  share->low = is_masked ? 1 - high : low;
  share->high = is_masked ? 1 - low : high;
}

bool redoubt_results_share(RedoubtResults *results, const char *structure, const char *group, double confidence, RedoubtShare *share,
                           RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(results, "results", error) || !lib_given(group, "group", error) || !lib_given(share, "share", error)) return false;
  if (!redoubt_results_complete(results)) return lib_fail_text(error, "the campaign is unfinished: shares over a part of it are biased");
  if (!is_group(group)) return lib_fail_text(error, "no outcome is of the group '%s'", group);
  if (!confidence_is_possible(confidence)) return lib_fail_text(error, "confidence %g: %s", confidence, confidence_rule);
  if (structure == NULL && results->structures.count > 1)
    return lib_fail_text(error, "the campaign struck several structures, whose shares do not add up: name one of them");
  Tally tally = {.results = results, .structure = structure, .group = group};
  if (!journal_each_fault(results->journal, add_to_tally, &tally)) {
    Diags diags = {0};
    journal_damaged(results->journal, &diags);
    return lib_fail(error, &diags);
  }
  if (tally.total == 0 && structure != NULL) return lib_fail_text(error, "the campaign struck nothing in '%s'", structure);
  Interval interval = wilson_interval(tally.count, tally.total, confidence);
  *share = (RedoubtShare){.count = tally.count, .total = tally.total, .low = interval.low, .high = interval.high};
  share->share = tally.total == 0 ? 0 : (double)tally.count / (double)tally.total;
  weigh(share, drawn_of(results, structure), strcmp(group, "masked") == 0, confidence);
  return true;
}
