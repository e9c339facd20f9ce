// What a campaign found, read from its journal.
#include "lib/lib_internal.h"

#include "journal/statistics.h"

#include <stdlib.h>

enum { MOST_REGIONS = 256 };

struct RedoubtResults {
  Arena *arena;
  Journal *journal;
  FaultCursor *cursor; // NULL: at the beginning
  const char *names[MOST_REGIONS];
  uint32_t structure_count;
};

static bool take_structure(void *context, const StructureRow *row) {
  RedoubtResults *results = context;
  results->structure_count++;
  if (row->region < MOST_REGIONS) results->names[row->region] = arena_copy_text(results->arena, row->name, strlen(row->name));
  return true;
}

RedoubtResults *redoubt_results_open(const char *journal, RedoubtError *error) {
  lib_begin(error);
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
  if (results->cursor != NULL) journal_end_faults(results->cursor);
  results->cursor = NULL;
}

void redoubt_results_close(RedoubtResults *results) {
  if (results == NULL) return;
  redoubt_results_rewind(results);
  journal_close(results->journal);
  arena_free(results->arena);
}

bool redoubt_results_complete(const RedoubtResults *results) { return journal_state(results->journal).complete; }

static const char *structure_name(const RedoubtResults *results, uint16_t region) {
  return region < MOST_REGIONS && results->names[region] != NULL ? results->names[region] : "";
}

bool redoubt_results_next(RedoubtResults *results, RedoubtFault *fault, RedoubtError *error) {
  lib_begin(error);
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

static bool add_to_tally(void *context, const FaultRow *row) {
  Tally *tally = context;
  bool counts = tally->structure == NULL || strcmp(structure_name(tally->results, row->region), tally->structure) == 0;
  tally->total += counts;
  tally->count += counts && strcmp(outcome_info[row->outcome].group, tally->group) == 0;
  return true;
}

static bool is_group(const char *group) {
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    if (strcmp(outcome_info[i].group, group) == 0) return true;
  }
  return false;
}

bool redoubt_results_share(RedoubtResults *results, const char *structure, const char *group, double confidence, RedoubtShare *share,
                           RedoubtError *error) {
  lib_begin(error);
  if (!redoubt_results_complete(results)) return lib_fail_text(error, "the campaign is unfinished: shares over a part of it are biased");
  if (!is_group(group)) return lib_fail_text(error, "no outcome is of the group '%s'", group);
  if (!(confidence > 0.5 && confidence < 1)) return lib_fail_text(error, "the confidence must be between 0.5 and 1");
  if (structure == NULL && results->structure_count > 1)
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
  return true;
}
