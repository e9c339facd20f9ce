// Every claim of a study against what was found, and its tables and charts.
#include "study/study.h"

#include <math.h>

static bool wrong(const StudyFile *study, const StudyPart *part, const char *what, const char *text, Diags *diags) {
  return diags_add(diags, study->path, part->line, 0, "[%s %s]: %s%s%s%s", study_section_names[part->section], part->name, what,
                   text != NULL ? " '" : "", text != NULL ? text : "", text != NULL ? "'" : "");
}

static double number_at(const StudyTable *table, uint32_t row, uint32_t column, double otherwise) {
  if (column == UINT32_MAX) return otherwise;
  const StudyDatum *datum = &table->rows.items[row][column];
  return datum->kind == DATUM_NUMBER ? datum->number : otherwise;
}

// The published number of a row: its own, or the claim's. False: wrongly written. *is_trend: there is none.
static bool published_of(const StudyFile *study, const StudyJudged *judged, uint32_t row, Published *published, bool *is_trend,
                         Diags *diags) {
  uint32_t column = study_column(&judged->table, "published");
  const char *text = study_value(judged->part, "published");
  if (column != UINT32_MAX)
    text = judged->table.rows.items[row][column].kind == DATUM_NOTHING ? NULL : judged->table.rows.items[row][column].text;
  *is_trend = text == NULL && column == UINT32_MAX;
  if (text == NULL) return true;
  return published_parse(text, published) ||
         wrong(study, judged->part, "a published number is written 1.5, <1.5, >=0.5 or 1.1..1.2, not", text, diags);
}

static bool judge_row(const StudyFile *study, StudyJudged *judged, uint32_t row, Tolerance tolerance, Diags *diags) {
  const StudyTable *table = &judged->table;
  double value = number_at(table, row, study_column(table, "value"), NAN);
  Ours ours = {value, number_at(table, row, study_column(table, "low"), value), number_at(table, row, study_column(table, "high"), value)};
  Published published = {.low = NAN, .high = NAN};
  bool is_trend;
  if (!published_of(study, judged, row, &published, &is_trend, diags)) return false;
  if (is_trend) judged->rows[row] = finding_of_trend(&ours);
  else judged->rows[row] = isnan(published.low) ? FINDING_CANNOT : finding_of_figure(&ours, &published, tolerance);
  return true;
}

// Rows with the same text in the column `kind` are judged together, then the kinds. Rows without a kind are shown and not judged: exceptions.
static Finding finding_of_kinds(const StudyJudged *judged, uint32_t column, Arena *arena) {
  const StudyTable *table = &judged->table;
  Finding *kinds = ARENA_ARRAY(arena, Finding, table->rows.count + 1), *rows = ARENA_ARRAY(arena, Finding, table->rows.count + 1);
  uint32_t count = 0;
  for (uint32_t first = 0; first < table->rows.count; first++) {
    const char *kind = table->rows.items[first][column].text;
    uint32_t here = 0, before = 0;
    for (uint32_t i = 0; i < table->rows.count; i++) {
      if (strcmp(table->rows.items[i][column].text, kind) != 0) continue;
      before += i < first;
      rows[here++] = judged->rows[i];
    }
    if (before == 0 && *kind != '\0') kinds[count++] = finding_of_group(rows, here);
  }
  return finding_of_all(kinds, count);
}

static bool judge_claim(const StudyFile *study, const StudyPart *part, StudyResults *results, Arena *arena, StudyJudged *judged,
                        Diags *diags) {
  *judged = (StudyJudged){.part = part, .reason = study_value(part, "cannot"), .finding = FINDING_CANNOT};
  if (judged->reason != NULL) return true;
  judged->reason = study_value(part, "fitted");
  Tolerance tolerance = {0};
  const char *text = study_value(part, "tolerance");
  if (text != NULL && !tolerance_parse(text, &tolerance)) return wrong(study, part, "a tolerance is written 0.05 or 5%, not", text, diags);
  if (!study_query(results, part, arena, &judged->table, diags)) return false;
  if (study_column(&judged->table, "value") == UINT32_MAX) return wrong(study, part, "'sql' gives no column 'value'", NULL, diags);
  uint32_t count = judged->table.rows.count;
  judged->rows = ARENA_ARRAY(arena, Finding, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    if (!judge_row(study, judged, i, tolerance, diags)) return false;
  }
  uint32_t kind = study_column(&judged->table, "kind");
  judged->finding = kind != UINT32_MAX ? finding_of_kinds(judged, kind, arena) : finding_of_all(judged->rows, count);
  if (count == 0) judged->reason = "its measure has no rows";
  return true;
}

static bool check_chart(const StudyFile *study, const StudyShown *chart, Diags *diags) {
  static const char *const kinds[] = {"bars", "lines", "stack", "heat"};
  const char *kind = study_value(chart->part, "kind");
  bool known = false;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) known = known || strcmp(kinds[i], kind) == 0;
  if (!known) return wrong(study, chart->part, "a chart's kind is bars, lines, stack or heat, not", kind, diags);
  const char *const wanted[] = {"x", strcmp(kind, "heat") == 0 ? "y" : "series", "value"};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    if (study_column(&chart->table, wanted[i]) == UINT32_MAX) return wrong(study, chart->part, "'sql' gives no column", wanted[i], diags);
  }
  return true;
}

bool study_judge_all(const StudyFile *study, const StudyCells *cells, bool quick, StudyResults *results, Arena *arena,
                     StudyOutcome *outcome, Diags *diags) {
  *outcome = (StudyOutcome){.study = study, .cells = cells, .quick = quick};
  bool good = true;
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *part = &study->parts.items[i];
    if (part->section == SECTION_CLAIM) good = judge_claim(study, part, results, arena, VEC_PUSH(&outcome->claims, arena), diags) && good;
    if (part->section != SECTION_TABLE && part->section != SECTION_CHART) continue;
    StudyShown *shown = VEC_PUSH(&outcome->shown, arena);
    shown->part = part;
    good = study_query(results, part, arena, &shown->table, diags) &&
           (part->section == SECTION_TABLE || check_chart(study, shown, diags)) && good;
  }
  return good;
}
