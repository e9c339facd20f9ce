// Every claim of a study against what was found, and its tables and charts.
#include "study/study.h"

#include <math.h>
#include <stdio.h>

// Of what a key of the part says.
static bool wrong(const StudyFile *study, const StudyPart *part, const char *key, const char *what, const char *text, Diags *diags) {
  return diags_add(diags, study->path, study_line(part, key), 0, "[%s %s]: %s%s%s%s", study_section_names[part->section], part->name, what,
                   text != NULL ? " '" : "", text != NULL ? text : "", text != NULL ? "'" : "");
}

// `value`, `low` or `high` of a row. Where there is none: `otherwise`. False: it is a text.
static bool number_at(const StudyFile *study, const StudyJudged *judged, uint32_t row, const char *name, double otherwise, double *number,
                      Diags *diags) {
  uint32_t column = study_column(&judged->table, name);
  const StudyDatum *datum = column != UINT32_MAX ? &judged->table.rows.items[row][column] : NULL;
  *number = datum != NULL && datum->kind == DATUM_NUMBER ? datum->number : otherwise;
  if (datum == NULL || datum->kind != DATUM_TEXT || *datum->text == '\0') return true;
  char what[64];
  snprintf(what, sizeof what, "`%s` of row %u is no number, but", name, row + 1);
  return wrong(study, judged->part, "sql", what, datum->text, diags);
}

static bool ours_of(const StudyFile *study, const StudyJudged *judged, uint32_t row, Ours *ours, Diags *diags) {
  if (!number_at(study, judged, row, "value", NAN, &ours->value, diags) ||
      !number_at(study, judged, row, "low", ours->value, &ours->low, diags) ||
      !number_at(study, judged, row, "high", ours->value, &ours->high, diags))
    return false;
  if (!(ours->low > ours->high)) return true;
  char what[96];
  snprintf(what, sizeof what, "`low` of row %u is %.6g, above `high`, which is %.6g", row + 1, ours->low, ours->high);
  return wrong(study, judged->part, "sql", what, NULL, diags);
}

static bool read_published(const StudyFile *study, const StudyPart *part, const char *key, const char *text, Published *published,
                           Diags *diags) {
  return published_parse(text, published) ||
         wrong(study, part, key, "a published number is written 1.5, <1.5, >=0.5 or 1.1..1.2, not", text, diags);
}

// The published number of a row: its own, or the claim's. False: wrongly written. *is_trend: there is none.
static bool published_of(const StudyFile *study, const StudyJudged *judged, uint32_t row, Published *published, bool *is_trend,
                         Diags *diags) {
  uint32_t column = study_column(&judged->table, "published");
  const char *text = study_value(judged->part, "published");
  if (column != UINT32_MAX)
    text = judged->table.rows.items[row][column].kind == DATUM_NOTHING ? NULL : judged->table.rows.items[row][column].text;
  *is_trend = text == NULL && column == UINT32_MAX;
  return text == NULL || read_published(study, judged->part, column != UINT32_MAX ? "sql" : "published", text, published, diags);
}

static bool judge_row(const StudyFile *study, StudyJudged *judged, uint32_t row, Tolerance tolerance, Diags *diags) {
  Ours ours;
  Published published = {.low = NAN, .high = NAN};
  bool is_trend;
  if (!ours_of(study, judged, row, &ours, diags) || !published_of(study, judged, row, &published, &is_trend, diags)) return false;
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

// The table of a claim, which has a column `value`.
static bool claim_table(const StudyFile *study, const StudyPart *part, StudyResults *results, Arena *arena, StudyTable *table,
                        Tolerance *tolerance, Diags *diags) {
  const char *text = study_value(part, "tolerance");
  *tolerance = (Tolerance){0};
  if (text != NULL && !tolerance_parse(text, tolerance))
    return wrong(study, part, "tolerance", "a tolerance is written 0.05 or 5%, not", text, diags);
  if (!study_query(results, part, arena, table, diags)) return false;
  return study_column(table, "value") != UINT32_MAX || wrong(study, part, "sql", "'sql' gives no column 'value'", NULL, diags);
}

static bool judge_claim(const StudyFile *study, const StudyPart *part, StudyResults *results, Arena *arena, StudyJudged *judged,
                        Diags *diags) {
  *judged = (StudyJudged){.part = part, .reason = study_value(part, "cannot"), .finding = FINDING_CANNOT};
  if (judged->reason != NULL) return true;
  judged->reason = study_value(part, "fitted");
  Tolerance tolerance;
  if (!claim_table(study, part, results, arena, &judged->table, &tolerance, diags)) return false;
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
  if (!known) return wrong(study, chart->part, "kind", "a chart's kind is bars, lines, stack or heat, not", kind, diags);
  const char *const wanted[] = {"x", strcmp(kind, "heat") == 0 ? "y" : "series", "value"};
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    if (study_column(&chart->table, wanted[i]) == UINT32_MAX)
      return wrong(study, chart->part, "sql", "'sql' gives no column", wanted[i], diags);
  }
  return true;
}

// What was measured with smaller programs and fewer faults says nothing of what was published.
static void leave_unjudged(StudyJudged *judged) {
  judged->finding = FINDING_NOT_JUDGED;
  judged->rows = NULL;
}

bool study_judge_all(const StudyFile *study, const StudyCells *cells, bool quick, StudyResults *results, Arena *arena,
                     StudyOutcome *outcome, Diags *diags) {
  *outcome = (StudyOutcome){.study = study, .cells = cells, .quick = quick};
  bool good = true;
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *part = &study->parts.items[i];
    if (part->section == SECTION_CLAIM) {
      StudyJudged *judged = VEC_PUSH(&outcome->claims, arena);
      good = judge_claim(study, part, results, arena, judged, diags) && good;
      if (quick) leave_unjudged(judged);
    }
    if (part->section != SECTION_TABLE && part->section != SECTION_CHART) continue;
    StudyShown *shown = VEC_PUSH(&outcome->shown, arena);
    shown->part = part;
    good = study_query(results, part, arena, &shown->table, diags) &&
           (part->section == SECTION_TABLE || check_chart(study, shown, diags)) && good;
  }
  return good;
}

static bool check_claim(const StudyFile *study, const StudyPart *part, StudyResults *results, Arena *arena, Diags *diags) {
  const char *text = study_value(part, "published");
  Published published;
  Tolerance tolerance;
  StudyTable table;
  if (study_value(part, "cannot") != NULL) return true;
  if (text != NULL && !read_published(study, part, "published", text, &published, diags)) return false;
  return claim_table(study, part, results, arena, &table, &tolerance, diags);
}

bool study_check(const StudyFile *study, const StudyCells *cells, const char *const *columns, Diags *diags) {
  StudyResults *results = study_shape(study, cells, columns, diags);
  if (results == NULL) return false;
  Arena *arena = arena_new();
  bool good = true;
  for (uint32_t i = 0; i < study->parts.count; i++) {
    const StudyPart *part = &study->parts.items[i];
    StudyShown shown = {.part = part};
    if (part->section == SECTION_CLAIM) good = check_claim(study, part, results, arena, diags) && good;
    if (part->section == SECTION_TABLE || part->section == SECTION_CHART)
      good = study_query(results, part, arena, &shown.table, diags) &&
             (part->section == SECTION_TABLE || check_chart(study, &shown, diags)) && good;
  }
  arena_free(arena);
  study_results_close(results);
  return good;
}
