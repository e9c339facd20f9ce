// What DUEs consist of: crashes, hangs, and what a protection detected and could not repair. A detection is a false DUE if the run comes to a right
// output when nobody answers it; else it is a true one, and what would have come says what it saved from.
#include "report/report_internal.h"

#include <stdio.h>

const char *const due_names[DUE_ROWS] = {"crash", "hang", "detected", "true_sdc", "true_crash", "true_hang", "false", "not_recorded"};

// Of a detected fault: what would have come. Old journals do not say.
static DueRow detected_row(const char *unanswered) {
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    const OutcomeInfo *info = &outcome_info[i];
    if (strcmp(info->name, unanswered) != 0) continue;
    if (strcmp(info->part, "crash") == 0) return DUE_TRUE_CRASH;
    if (strcmp(info->part, "hang") == 0) return DUE_TRUE_HANG;
    return strcmp(info->group, "sdc") == 0 ? DUE_TRUE_SDC : DUE_FALSE;
  }
  return DUE_NOT_RECORDED;
}

static void add_faults(DueCounts *counts, const char *part, const char *unanswered, uint64_t faults) {
  for (uint32_t row = DUE_CRASH; row <= DUE_DETECTED; row++) {
    if (strcmp(due_names[row], part) == 0) counts->faults[row] += faults;
  }
  if (strcmp(part, "detected") == 0) counts->faults[detected_row(unanswered)] += faults;
}

bool report_due(const Report *report, DueCounts **by_structure, Diags *diags) {
  DueCounts *counts = ARENA_ARRAY(report->arena, DueCounts, report->structures.count + 1);
  Query *query = journal_query(report->journal, "SELECT structure, due_part, unanswered, count(*) FROM results WHERE outcome_group = 'due' "
                                                "GROUP BY 1, 2, 3");
  while (query_next(query)) {
    for (uint32_t i = 0; i < report->structures.count; i++) {
      if (strcmp(report->structures.items[i].name, query_cell(query, 0).text) != 0) continue;
      char part[16];
      snprintf(part, sizeof part, "%s", query_cell(query, 1).text);
      add_faults(&counts[i], part, query_cell(query, 2).text, (uint64_t)query_cell(query, 3).integer);
    }
  }
  *by_structure = counts;
  return query_end(query) || journal_damaged(report->journal, diags);
}

uint64_t due_faults(const Report *report, const DueCounts *by_structure, DueRow row) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < report->structures.count; i++) sum += by_structure[i].faults[row];
  return sum;
}

Estimate due_of_structure(const Report *report, const DueCounts *by_structure, uint32_t structure, DueRow row) {
  uint64_t hits = by_structure[structure].faults[row];
  return report_hits(report, structure, hits);
}

Estimate due_of_all(const Report *report, const DueCounts *by_structure, DueRow row) {
  uint64_t *hits = ARENA_ARRAY(report->arena, uint64_t, report->structures.count + 1);
  for (uint32_t i = 0; i < report->structures.count; i++) hits[i] = by_structure[i].faults[row];
  return report_all_hits(report, hits);
}
