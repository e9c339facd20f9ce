// Outcomes by one column of the faults, for each structure apart: bits, opcodes, registers and the like.
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

// The column as an SQL expression over faults and launches. A digit and a colon put names in order and are not shown. BY_ERROR: only SDCs are
// asked for.
static const char *const expressions[] = {
    "bit",
    "opcode",
    "reg",
    "lane",
    "sm",
    "warp",
    "name",
    "pattern",
    "CASE WHEN worst IS NULL THEN NULL WHEN wrong = 1 THEN '1:1' WHEN wrong < 10 THEN '2:2 to 9' WHEN wrong < 100"
    " THEN '3:10 to 99' WHEN wrong < 1000 THEN '4:100 to 999' ELSE '5:1000 or more' END",
    "CASE WHEN worst IS NULL THEN NULL WHEN worst > 1e308 THEN '5:NaN or infinite' WHEN worst < 1e-6"
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

// A journal may have millions of faults and there are ten breakdowns: no more is asked for than needed.
static Query *ask(const Report *report, uint32_t which) {
  uint64_t below = report->withheld ? INT64_MAX : min_u64(report->state.below, INT64_MAX);
  const char *launches = strcmp(expressions[which], "name") == 0 ? " LEFT JOIN launches USING (launch)" : "";
  const char *errors =
      breakdowns[which].kind == BY_ERROR ? " AND outcome IN (SELECT outcome FROM outcomes WHERE outcome_group = 'sdc')" : "";
  return journal_query(report->journal, arena_format(report->arena,
                                                     "SELECT region, %s AS key, outcome, count(*) FROM faults%s WHERE id < %" PRIu64
                                                     "%s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
                                                     expressions[which], launches, below, errors));
}

bool report_breakdown(const Report *report, uint32_t which, Breakdown *breakdown, Diags *diags) {
  *breakdown = (Breakdown){0};
  Query *query = ask(report, which);
  BreakdownRow *row = NULL;
  bool good = true;
  while (good && query_next(query)) {
    Cell key = query_cell(query, 1);
    uint64_t faults = (uint64_t)query_cell(query, 3).integer;
    uint8_t outcome = outcome_named(query_cell(query, 2).text);
    const StructureSummary *structure = report_structure(report, (uint16_t)query_cell(query, 0).integer);
    good = outcome < OUTCOME_COUNT && breakdown->rows.count < MOST_ROWS;
    if (key.kind == CELL_NULL || structure == NULL) {
      breakdown->without += faults;
      continue;
    }
    const char *text = cell_text(report->arena, key);
    if (row == NULL || row->structure != structure->name || strcmp(row->key, text) != 0) {
      row = VEC_PUSH(&breakdown->rows, report->arena);
      row->structure = structure->name;
      row->key = text;
      row->errors = tally_hits(&structure->tally, MEASURE_SDC);
    }
    if (good) tally_add(&row->tally, outcome, faults, 1);
  }
  good = query_end(query) && good;
  return good || journal_damaged(report->journal, diags);
}

Estimate breakdown_share(const Report *report, const BreakdownRow *row) {
  if (report->withheld || row->errors == 0) return (Estimate){0};
  Interval interval = wilson_interval(row->tally.total, row->errors, report->confidence);
  return (Estimate){true, (double)row->tally.total / (double)row->errors, interval.low, interval.high};
}
