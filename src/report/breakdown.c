// Outcomes by one column of the faults, for each structure apart: bits, opcodes, registers and the like.
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

// The column is an SQL expression over the view `results`. A digit and a colon put names in order and are not shown.
static const char *const expressions[] = {
    "bit",
    "opcode",
    "reg",
    "lane",
    "sm",
    "warp",
    "kernel",
    "CASE outcome_group WHEN 'sdc' THEN pattern END",
    "CASE WHEN outcome_group <> 'sdc' OR worst IS NULL THEN NULL WHEN wrong = 1 THEN '1:1' WHEN wrong < 10 THEN '2:2 to 9' WHEN wrong < 100"
    " THEN '3:10 to 99' WHEN wrong < 1000 THEN '4:100 to 999' ELSE '5:1000 or more' END",
    "CASE WHEN outcome_group <> 'sdc' OR worst IS NULL THEN NULL WHEN worst > 1e308 THEN '5:NaN or infinite' WHEN worst < 1e-6"
    " THEN '1:below 1e-6' WHEN worst < 1e-3 THEN '2:1e-6 to 1e-3' WHEN worst < 1 THEN '3:1e-3 to 1' ELSE '4:1 or more' END",
};
const BreakdownInfo breakdowns[] = {
    {"bit", "bit of the unit", BY_PLACE},
    {"opcode", "first instruction that read it", BY_READER},
    {"register", "register of the thread", BY_PLACE},
    {"lane", "lane", BY_PLACE},
    {"sm", "SM", BY_PLACE},
    {"warp", "place of the warp on its SM", BY_PLACE},
    {"kernel", "kernel", BY_PLACE},
    {"pattern", "how wrong elements lie (SDCs)", BY_ERROR},
    {"elements", "wrong elements (SDCs)", BY_ERROR},
    {"error", "largest relative error (SDCs)", BY_ERROR},
};
const uint32_t breakdown_count = COUNT_OF(breakdowns);
_Static_assert(COUNT_OF(expressions) == COUNT_OF(breakdowns), "one expression each");

enum { MOST_ROWS = 100000 }; // structures times keys

static uint8_t outcome_named(const char *name) {
  uint8_t i = 0;
  while (i < OUTCOME_COUNT && strcmp(outcome_info[i].name, name) != 0) i++;
  return i;
}

static const char *cell_text(Arena *arena, Cell cell) {
  if (cell.kind == CELL_INTEGER) return arena_format(arena, "%" PRId64, cell.integer);
  const char *text = cell.text[0] >= '0' && cell.text[0] <= '9' && cell.text[1] == ':' ? cell.text + 2 : cell.text;
  return arena_copy_text(arena, text, strlen(text));
}

bool report_breakdown(const Report *report, uint32_t which, Breakdown *breakdown, Diags *diags) {
  *breakdown = (Breakdown){0};
  const char *sql = arena_format(
      report->arena, "SELECT ifnull(structure, ''), %s AS key, outcome, count(*) FROM results GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
      expressions[which]);
  Query *query = journal_query(report->journal, sql);
  BreakdownRow *row = NULL;
  bool good = true;
  while (good && query_next(query)) {
    Cell key = query_cell(query, 1);
    uint64_t faults = (uint64_t)query_cell(query, 3).integer;
    uint8_t outcome = outcome_named(query_cell(query, 2).text);
    good = outcome < OUTCOME_COUNT && breakdown->rows.count < MOST_ROWS;
    if (key.kind == CELL_NULL) {
      breakdown->without += faults;
      continue;
    }
    const char *structure = query_cell(query, 0).text, *text = cell_text(report->arena, key);
    if (row == NULL || strcmp(row->structure, structure) != 0 || strcmp(row->key, text) != 0) {
      row = VEC_PUSH(&breakdown->rows, report->arena);
      row->structure = arena_copy_text(report->arena, structure, strlen(structure));
      row->key = text;
    }
    if (good) tally_add(&row->tally, outcome, faults, 1);
  }
  good = query_end(query) && good;
  for (uint32_t i = 0; i < breakdown->rows.count && breakdowns[which].kind == BY_ERROR; i++) {
    BreakdownRow *at = &breakdown->rows.items[i];
    for (uint32_t k = 0; k < report->structures.count; k++) {
      const StructureSummary *structure = &report->structures.items[k];
      if (strcmp(structure->name, at->structure) == 0) at->errors = tally_hits(&structure->tally, MEASURE_SDC);
    }
  }
  return good || journal_damaged(report->journal, diags);
}

Estimate breakdown_share(const Report *report, const BreakdownRow *row) {
  if (report->withheld || row->errors == 0) return (Estimate){0};
  Interval interval = wilson_interval(row->tally.total, row->errors, report->confidence);
  return (Estimate){true, (double)row->tally.total / (double)row->errors, interval.low, interval.high};
}
