// What ACE analysis found, as tables. Everything is a SELECT over the tables of ace.def; this file only lays it out.
#include "report/avf.h"

#include "report/report_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *const avf_tables[AVF_TABLES] = {"structures", "kernels", "lines", "slices", "against", "causes", "launches"};

// Shares of a structure's bit-cycles, and of a unit's lane-cycles, by cause. The same columns for structures and for each kernel.
#define SHARE(column, condition) "total(iif(" condition ", bit_cycles, 0)) / total(bit_cycles) AS " column
// clang-format off
#define SHARES \
  SHARE("avf", "ace") ", " \
  "iif(lanes > 0, total(iif(ace, lane_cycles, 0)) / total(lane_cycles), NULL) AS lane_avf, " \
  SHARE("undecided", "cause = 'undecided'") ", " \
  SHARE("empty", "cause = 'empty'") ", " \
  SHARE("unread", "cause = 'unread'") ", " \
  SHARE("overwritten", "cause = 'overwritten'") ", " \
  SHARE("inactive", "cause = 'inactive'") ", " \
  SHARE("dead", "cause = 'dead'") ", " \
  SHARE("dead_later", "cause = 'dead-later'") ", " \
  SHARE("masked", "cause = 'masked'") ", " \
  SHARE("compared", "cause = 'compared'")
// clang-format on
// Of the campaign that analysis is held against: how much of a structure its faults are drawn from. The rest is never read, so it is neither ACE nor does a
// fault in it harm.
#define DRAWN "ifnull((SELECT CAST(value AS REAL) FROM ace_notes WHERE key = 'drawn ' || f.structure), 1.0)"
#define FROM_SUMS " FROM ace_structures s JOIN ace a USING (structure) WHERE told IN ('yes', 'held') "
static const char *const selects[AVF_TABLES] = {
    [AVF_STRUCTURES] = "SELECT structure, bits, followed, " SHARES FROM_SUMS "GROUP BY s.rowid ORDER BY s.rowid",
    [AVF_KERNELS] = "SELECT structure, kernel, bits, " SHARES FROM_SUMS "GROUP BY s.rowid, kernel ORDER BY s.rowid, min(a.rowid)",
    [AVF_LINES] = "SELECT structure, kernel, line, bit_cycles, bit_cycles / sum(bit_cycles) OVER (PARTITION BY structure) AS share"
                  " FROM ace_lines ORDER BY rowid",
    [AVF_SLICES] = "SELECT structure, cycle, cycles, bit_cycles, bit_cycles / (bits * cycles) AS avf FROM ace_slices JOIN ace_structures s"
                   " USING (structure) ORDER BY s.rowid, cycle",
    [AVF_AGAINST] =
        "SELECT structure, cause, ace, outcome, outcome_group, settled, faults, first, " DRAWN " AS drawn FROM ace_faults f ORDER BY rowid",
    [AVF_CAUSES] = "SELECT structure, kernel, cause, ace, bit_cycles, lane_cycles FROM ace ORDER BY rowid",
    [AVF_LAUNCHES] =
        "SELECT launch, kernel, structure, cycles, bit_cycles, undecided, bit_cycles / (bits * cycles) AS avf FROM ace_launches"
        " JOIN ace_structures s USING (structure) ORDER BY launch, s.rowid",
};

static uint64_t number_of(const Journal *journal, const char *sql) {
  Query *query = journal_query(journal, sql);
  uint64_t value = query_next(query) ? (uint64_t)query_cell(query, 0).integer : UINT64_MAX;
  query_end(query);
  return value;
}

// Journals of earlier versions say nothing of single launches.
static const char *select_of(const Journal *journal, AvfTable table) {
  bool is_missing = table == AVF_LAUNCHES && number_of(journal, "SELECT count(*) FROM sqlite_master WHERE name = 'ace_launches'") == 0;
  return is_missing ? "SELECT 0 AS launch WHERE 0" : selects[table];
}

static Query *query_of(const Journal *journal, AvfTable table) { return journal_query(journal, select_of(journal, table)); }

static char *note_of(const Journal *journal, const char *key) {
  char sql[120];
  snprintf(sql, sizeof sql, "SELECT value FROM ace_notes WHERE key = '%s'", key);
  Query *query = journal_query(journal, sql);
  char *value = strdup(query_next(query) ? query_cell(query, 0).text : "");
  query_end(query);
  ASSERT(value != NULL);
  return value;
}

uint64_t avf_violations(const Journal *journal) {
  return number_of(journal,
                   "SELECT total(faults) FROM ace_faults WHERE NOT ace AND outcome_group IN ('sdc', 'due') AND outcome <> 'detected'");
}

// ---- For a terminal ------------------------------------------------------------------------------------

static void add_share(const Query *query, uint32_t column, Text *out) {
  Cell cell = query_cell(query, column);
  if (cell.kind == CELL_NULL) text_add(out, " %8s", "-");
  else text_add(out, " %8s", percent_text(cell.real).at);
}

// The heads have a line break where names are longer than their numbers.
static const char share_heads[] = " %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n";
static void add_heads(int width, const char *what, Text *out) {
  text_add(out, "%-*s %12s", width, what, "bits");
  text_add(out, share_heads, "AVF %", "lanes %", "undecid.", "empty", "unread", "overwr.", "inactive", "dead", "d. later", "masked",
           "compared");
}

static bool add_structures(const Journal *journal, Text *out) {
  add_heads(18, "structure", out);
  Query *query = query_of(journal, AVF_STRUCTURES);
  while (query_next(query)) {
    text_add(out, "%-18s %12" PRId64, query_cell(query, 0).text, query_cell(query, 1).integer);
    for (uint32_t i = 3; i < query_columns(query); i++) add_share(query, i, out);
    text_add(out, "\n");
  }
  return query_end(query);
}

// Registers that a block holds and its code never names are padding: real GPUs hand out as many as NVIDIA's compiler counts.
static bool add_registers(const Journal *journal, Text *out) {
  char *used_text = note_of(journal, "rf used"), *needed_text = note_of(journal, "rf needed");
  double used = strtod(used_text, NULL), needed = strtod(needed_text, NULL);
  free(used_text);
  free(needed_text);
  Query *query = query_of(journal, AVF_STRUCTURES);
  while (query_next(query)) {
    if (strcmp(query_cell(query, 0).text, "rf") != 0) continue;
    double avf = query_cell(query, 3).real;
    if (needed > 0) {
      text_add(out, "\nAVF of the used part of rf    %s %% (%s%% of it is used: registers that blocks hold, sm.register_source)\n",
               percent_text(avf / used).at, percent_text(used).at);
      text_add(out, "AVF of the needed part of rf  %s %% (%s%% of it is needed: those of them that our code names)\n",
               percent_text(avf / needed).at, percent_text(needed).at);
      text_add(out, "%s%% of the used part is padding: no instruction names it, so it is never ACE\n", percent_text(1 - needed / used).at);
    } else {
      text_add(out, "\nwhich part of rf blocks hold, and which of that is padding, is not recorded\n");
    }
  }
  return query_end(query);
}

static bool add_untold(const Journal *journal, Text *out) {
  Query *query = journal_query(journal, "SELECT told, group_concat(structure, ', ') FROM ace_structures WHERE told <> 'yes' GROUP BY told");
  while (query_next(query)) {
    Cell told = query_cell(query, 0), names = query_cell(query, 1);
    if (strcmp(told.text, "held") == 0)
      text_add(out,
               "counts as ACE as long as a launch runs: %s\n(not told when it is in use; what schedulers decide by is followed if "
               "--structure names it)\n",
               names.text);
    else text_add(out, "no number (%s): %s\n", told.text, names.text);
  }
  return query_end(query);
}

static bool add_kernels(const Journal *journal, Text *out) {
  if (number_of(journal, "SELECT count(DISTINCT kernel) FROM ace") < 2) return true;
  text_add(out, "\nAVF %% by kernel\n%-18s %-32s %8s %8s\n", "structure", "kernel", "AVF %", "lanes %");
  Query *query = query_of(journal, AVF_KERNELS);
  while (query_next(query)) {
    if (query_cell(query, 3).real <= 0) continue;
    text_add(out, "%-18s", query_cell(query, 0).text);
    text_add(out, " %-32.32s", SHORT_NAME(query_cell(query, 1).text));
    add_share(query, 3, out);
    add_share(query, 4, out);
    text_add(out, "\n");
  }
  return query_end(query);
}

static bool add_lines(const Journal *journal, Text *out) {
  Query *query = journal_query(journal, "SELECT structure, kernel, line, share, number FROM (SELECT structure, kernel, line, bit_cycles / "
                                        "sum(bit_cycles) OVER (PARTITION BY structure) AS share, row_number() OVER (PARTITION BY structure "
                                        "ORDER BY bit_cycles DESC, rowid) AS number, rowid AS place FROM ace_lines WHERE structure IN "
                                        "('rf', 'unit.sp', 'shared')) WHERE number <= 5 ORDER BY structure, number");
  bool is_first = true;
  while (query_next(query)) {
    if (is_first) text_add(out, "\nPTX lines that make most of it: share of the structure's ACE bit-cycles\n");
    is_first = false;
    text_add(out, "%-18s", query_cell(query, 0).text);
    text_add(out, " %-32.32s", SHORT_NAME(query_cell(query, 1).text));
    text_add(out, " line %5" PRId64 " %8s\n", query_cell(query, 2).integer, percent_text(query_cell(query, 3).real).at);
  }
  return query_end(query);
}

// What ACE calls by its name and injection by another: AVF from above, from injection, and where the difference lies.
static bool add_against(const Journal *journal, Text *out) {
  if (number_of(journal, "SELECT count(*) FROM ace_faults") == 0) return true;
  char *path = note_of(journal, "against"), *left_out = note_of(journal, "left out");
  text_add(out, "\nAgainst injection (%s)", path);
  text_add(out, strcmp(left_out, "0") == 0 ? "\n" : "; not compared: %s\n", left_out);
  free(path);
  free(left_out);
  text_add(out, "%-18s %8s %8s %8s %8s   %s\n", "structure", "faults", "ACE %", "harm %", "both %",
           "ACE and harmless, by who reads it last, % of all faults");
  Query *query = journal_query(
      journal,
      "SELECT structure, sum(faults), " DRAWN " * sum(iif(ace, faults, 0)) / sum(faults), " DRAWN
      " * sum(iif(outcome_group IN ('sdc', 'due', "
      "'detected'),"
      " faults, 0)) / sum(faults), " DRAWN " * sum(iif(ace AND outcome_group IN ('sdc', 'due', 'detected'), faults, 0)) / sum(faults),"
      " (SELECT group_concat(cause || ' ' || printf('%.3g', 100.0 * " DRAWN
      " * n / all_faults), ', ') FROM (SELECT cause, sum(faults) AS n, (SELECT"
      " sum(faults) FROM ace_faults c WHERE c.structure = f.structure) AS all_faults FROM ace_faults b WHERE b.structure = f.structure AND "
      "ace AND"
      " outcome_group NOT IN ('sdc', 'due', 'detected') GROUP BY cause ORDER BY n DESC)) FROM ace_faults f GROUP BY structure ORDER BY "
      "min(rowid)");
  while (query_next(query)) {
    text_add(out, "%-18s %8" PRId64, query_cell(query, 0).text, query_cell(query, 1).integer);
    for (uint32_t i = 2; i < 5; i++) add_share(query, i, out);
    text_add(out, "   %s\n", query_cell(query, 5).text);
  }
  bool good = query_end(query);
  if (number_of(journal, "SELECT count(*) FROM ace_notes WHERE key LIKE 'drawn %'") > 0)
    text_add(out, "The campaign drew its faults from what is used; the rest is not ACE, and counts here.\n");
  uint64_t wrong = avf_violations(journal);
  if (wrong == 0) text_add(out, "No SDC or DUE in a bit-cycle that is un-ACE.\n");
  else text_add(out, "%" PRIu64 " SDCs or DUEs in bit-cycles that are un-ACE: a defect of the analysis or of the injection.\n", wrong);
  query = journal_query(journal, "SELECT first, structure, cause, outcome, faults FROM ace_faults WHERE NOT ace AND outcome_group IN "
                                 "('sdc', 'due') AND outcome <> 'detected'");
  while (query_next(query)) {
    text_add(out, "  fault %" PRId64 " and %" PRId64 " more:", query_cell(query, 0).integer, query_cell(query, 4).integer - 1);
    for (uint32_t i = 1; i < 4; i++) text_add(out, " %s", query_cell(query, i).text);
    text_add(out, "\n");
  }
  return query_end(query) && good;
}

bool avf_text(const Journal *journal, Text *out) {
  const JournalMeta *meta = journal_meta(journal);
  if (!journal_has_ace(journal)) return false;
  char *window = note_of(journal, "window"), *cycles = note_of(journal, "cycles"), *reads = note_of(journal, "all reads count");
  text_add(out, "%s on %s, protection %s: ACE analysis of %s cycles\n", meta->target, meta->machine, meta->protection, cycles);
  if (strcmp(window, "0") != 0) text_add(out, "undecided after %s warp instructions counts as ACE\n", window);
  else text_add(out, "values are not followed on this machine: whatever is read counts as ACE\n");
  if (strcmp(reads, "1") == 0)
    text_add(out, "every read counts: the protection looks at bits when they are read, so that dead and masked are not told apart\n");
  free(window);
  free(cycles);
  free(reads);
  text_add(out, "shares of all bit-cycles in percent; of units also of lane-cycles\n\n");
  return add_structures(journal, out) && add_registers(journal, out) && add_untold(journal, out) && add_kernels(journal, out) &&
         add_lines(journal, out) && add_against(journal, out);
}

// ---- CSV, JSON, page -------------------------------------------------------------------------------------

static void add_cell(const Query *query, uint32_t column, Text *out) {
  Cell cell = query_cell(query, column);
  if (cell.kind == CELL_TEXT) text_add_csv_name(out, cell.text);
  else if (cell.kind == CELL_INTEGER) text_add(out, "%" PRId64, cell.integer);
  else if (cell.kind == CELL_REAL) text_add(out, "%.9g", cell.real);
}

bool avf_csv(const Journal *journal, AvfTable table, Text *out) {
  Query *query = query_of(journal, table);
  uint32_t columns = query_columns(query);
  for (uint32_t i = 0; i < columns; i++) text_add(out, "%s%s", query_name(query, i), i + 1 < columns ? "," : "\n");
  while (query_next(query)) {
    for (uint32_t i = 0; i < columns; i++) {
      add_cell(query, i, out);
      text_add(out, "%s", i + 1 < columns ? "," : "\n");
    }
  }
  return query_end(query);
}

static json_t *cell_json(const Query *query, uint32_t column) {
  Cell cell = query_cell(query, column);
  if (cell.kind == CELL_TEXT) return report_string(cell.text);
  if (cell.kind == CELL_INTEGER) return json_integer((json_int_t)cell.integer);
  return cell.kind == CELL_REAL ? json_real(cell.real) : json_null();
}

static json_t *rows_json(const Journal *journal, const char *sql, bool *good) {
  json_t *rows = json_array();
  Query *query = journal_query(journal, sql);
  while (query_next(query)) {
    json_t *row = json_object();
    for (uint32_t i = 0; i < query_columns(query); i++) json_object_set_new(row, query_name(query, i), cell_json(query, i));
    json_array_append_new(rows, row);
  }
  *good = query_end(query) && *good;
  return rows;
}

static char *all_json(const Journal *journal, size_t flags, bool *good) {
  const JournalMeta *meta = journal_meta(journal);
  json_t *root = json_object();
  json_object_set_new(root, "target", report_string(meta->target));
  json_object_set_new(root, "machine", report_string(meta->machine));
  json_object_set_new(root, "protection", report_string(meta->protection));
  json_object_set_new(root, "origin", json_notes(journal));
  json_object_set_new(root, "notes", rows_json(journal, "SELECT key, value FROM ace_notes", good));
  json_object_set_new(root, "untold", rows_json(journal, "SELECT structure, told FROM ace_structures WHERE told <> 'yes'", good));
  for (uint32_t i = 0; i < AVF_TABLES; i++) json_object_set_new(root, avf_tables[i], rows_json(journal, select_of(journal, i), good));
  char *json = json_dumps(root, flags | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
  json_decref(root);
  ASSERT(json != NULL);
  return json;
}

bool avf_json(const Journal *journal, Text *out) {
  bool good = true;
  char *json = all_json(journal, JSON_INDENT(1), &good);
  text_add_bytes(out, json, strlen(json));
  text_add(out, "\n");
  free(json);
  return good;
}

bool avf_page(const Journal *journal, Text *out) {
  bool good = true;
  char *json = all_json(journal, JSON_COMPACT, &good);
  page_fill(avf_page_html, json, out);
  free(json);
  return good;
}

// ---- Two runs ----------------------------------------------------------------------------------------------

bool avf_compare(const Journal *a, const Journal *b, Text *out) {
  text_add(out, "%-18s %8s %8s %9s   ACE analysis, AVF %%; of units, of lane-cycles\n", "structure", "A", "B", "B / A - 1");
  Query *first = query_of(a, AVF_STRUCTURES);
  bool good = true;
  while (query_next(first)) {
    Query *second = query_of(b, AVF_STRUCTURES);
    while (query_next(second)) {
      if (strcmp(query_cell(first, 0).text, query_cell(second, 0).text) != 0) continue;
      uint32_t column = query_cell(first, 4).kind == CELL_NULL ? 3 : 4;
      double of_a = query_cell(first, column).real, of_b = query_cell(second, column).real;
      text_add(out, "%-18s %8s %8s", query_cell(first, 0).text, percent_text(of_a).at, percent_text(of_b).at);
      if (of_a > 0) text_add(out, " %+8.2f%%\n", 100 * (of_b / of_a - 1));
      else text_add(out, " %9s\n", "-");
    }
    good = query_end(second) && good;
  }
  return query_end(first) && good;
}
