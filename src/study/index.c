// Every claim of every paper with its finding: those that studies have judged, and those that none measures yet.
#include "report/page.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>

extern const char study_index_page[]; // index.html

typedef struct KnownClaim {
  const char *study, *paper; // of a paper's first line: the name of its study, its title
  const char *name, *published, *text;
} KnownClaim;

static const KnownClaim known_claims[] = {
#define PAPER(study, paper) {study, paper, NULL, NULL, NULL},
#define PUBLISHED(name, published, text) {NULL, NULL, name, published, text},
#include "study/claims.def"
#undef PAPER
#undef PUBLISHED
};

const char *const index_not_measured = "not measured", *const index_not_run = "study not run";

// ---- Rows --------------------------------------------------------------------------------------------------------------

static const char *said(const StudyPart *part, const char *key) {
  const char *text = study_value(part, key);
  return text != NULL ? text : "";
}

static const char *number_text(Arena *arena, const StudyTable *table, const char *column) {
  uint32_t at = study_column(table, column);
  if (at == UINT32_MAX || table->rows.items[0][at].kind != DATUM_NUMBER) return NULL;
  return arena_format(arena, "%.4g", table->rows.items[0][at].number);
}

// "0.9 to 1.4 in 12 rows": where the values of several rows lie.
static const char *range_text(Arena *arena, const StudyTable *table) {
  uint32_t at = study_column(table, "value");
  double least = INFINITY, most = -INFINITY;
  for (uint32_t i = 0; i < table->rows.count; i++) {
    const StudyDatum *datum = &table->rows.items[i][at];
    if (datum->kind == DATUM_NUMBER) least = fmin(least, datum->number), most = fmax(most, datum->number);
  }
  return least > most ? arena_format(arena, "%u rows", table->rows.count)
                      : arena_format(arena, "%.4g to %.4g in %u rows", least, most, table->rows.count);
}

// One number with its interval, or how many of several rows agree.
static const char *ours_text(Arena *arena, const StudyJudged *claim) {
  const StudyTable *table = &claim->table;
  if (table->rows.count == 0) return "";
  if (table->rows.count > 1 && claim->rows == NULL) return range_text(arena, table);
  if (table->rows.count > 1) {
    uint32_t agree = 0;
    for (uint32_t i = 0; i < table->rows.count; i++) agree += claim->rows[i] == FINDING_AGREES;
    return arena_format(arena, "%u of %u rows agree", agree, table->rows.count);
  }
  const char *value = number_text(arena, table, "value"), *low = number_text(arena, table, "low"),
             *high = number_text(arena, table, "high");
  if (value == NULL) return "";
  return low != NULL && high != NULL ? arena_format(arena, "%s (%s to %s)", value, low, high) : value;
}

static void add_judged(const StudyOutcome *outcome, const char *study, Arena *arena, IndexRows *rows) {
  for (uint32_t i = 0; i < outcome->claims.count; i++) {
    const StudyJudged *claim = &outcome->claims.items[i];
    const char *published = said(claim->part, "published");
    if (*published == '\0' && study_column(&claim->table, "published") != UINT32_MAX) published = "by row";
    *VEC_PUSH(rows, arena) = (IndexRow){.study = study,
                                        .name = claim->part->name,
                                        .text = said(claim->part, "text"),
                                        .place = said(claim->part, "place"),
                                        .published = published,
                                        .ours = ours_text(arena, claim),
                                        .finding = finding_names[claim->finding],
                                        .reason = claim->reason != NULL ? claim->reason : "",
                                        .fitted = study_value(claim->part, "fitted") != NULL};
  }
}

static bool has_row(const IndexRows *rows, const char *name) {
  for (uint32_t i = 0; i < rows->count; i++) {
    if (strcmp(rows->items[i].name, name) == 0) return true;
  }
  return false;
}

// A study with the name of a paper goes where the paper stands; others come after all papers.
static const StudyOutcome *outcome_of(const StudyIndex *index, const char *study) {
  for (uint32_t i = 0; i < index->studies.count; i++) {
    if (strcmp(index->studies.items[i].study->builtin, study) == 0) return &index->studies.items[i];
  }
  return NULL;
}

static bool is_paper(const char *study) {
  for (size_t i = 0; i < COUNT_OF(known_claims); i++) {
    if (known_claims[i].study != NULL && strcmp(known_claims[i].study, study) == 0) return true;
  }
  return false;
}

static bool is_builtin(const char *study) {
  for (uint32_t i = 0; i < builtin_study_file_count; i++) {
    if (strcmp(builtin_study_files[i].study, study) == 0) return true;
  }
  return false;
}

void study_index_rows(const StudyIndex *index, Arena *arena, IndexRows *rows) {
  const char *study = NULL;
  for (size_t i = 0; i < COUNT_OF(known_claims); i++) {
    const KnownClaim *known = &known_claims[i];
    if (known->study != NULL) {
      study = known->study;
      const StudyOutcome *outcome = outcome_of(index, study);
      if (outcome != NULL) add_judged(outcome, study, arena, rows);
    } else if (!has_row(rows, known->name)) {
      *VEC_PUSH(rows, arena) =
          (IndexRow){.study = study,
                     .name = known->name,
                     .text = known->text,
                     .place = "",
                     .published = known->published,
                     .ours = "",
                     .finding = outcome_of(index, study) == NULL && is_builtin(study) ? index_not_run : index_not_measured,
                     .reason = ""};
    }
  }
  for (uint32_t i = 0; i < index->studies.count; i++) {
    const StudyOutcome *outcome = &index->studies.items[i];
    if (!is_paper(outcome->study->builtin)) add_judged(outcome, outcome->study->builtin, arena, rows);
  }
}

static const char *paper_of(const StudyIndex *index, const char *study) {
  const StudyOutcome *outcome = outcome_of(index, study);
  for (size_t i = 0; i < COUNT_OF(known_claims); i++) {
    if (known_claims[i].study != NULL && strcmp(known_claims[i].study, study) == 0) return known_claims[i].paper;
  }
  ASSERT(outcome != NULL);
  return said(&outcome->study->parts.items[0], "title");
}

// ---- Outputs -------------------------------------------------------------------------------------------------------------

static const char quick_note[] = "Quick form: smaller programs and fewer faults. It shows values and judges nothing.";

static void add_tally(const IndexRows *rows, Text *out) {
  uint32_t told = 0;
  for (uint32_t f = 0; f < FINDINGS + 2; f++) {
    const char *name = f < FINDINGS ? finding_names[f] : f == FINDINGS ? index_not_run : index_not_measured;
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows->count; i++) count += strcmp(rows->items[i].finding, name) == 0;
    if (count > 0) text_add(out, "%s%u %s", told++ > 0 ? ", " : "", count, name);
  }
}

void study_index_text(const StudyIndex *index, const IndexRows *rows, Text *out) {
  if (index->quick) text_add(out, "%s\n", quick_note);
  uint32_t width = 0;
  for (uint32_t i = 0; i < rows->count; i++) width = max_u32(width, (uint32_t)strlen(rows->items[i].name));
  for (uint32_t i = 0; i < rows->count; i++) {
    const IndexRow *row = &rows->items[i];
    if (i == 0 || strcmp(row->study, rows->items[i - 1].study) != 0) text_add(out, "\n%s\n", paper_of(index, row->study));
    text_add(out, "  %-*s  %-18s  published %-12s  ours %s%s\n", (int)width, row->name, row->finding,
             *row->published != '\0' ? row->published : "trend", *row->ours != '\0' ? row->ours : "-", row->fitted ? " (fitted)" : "");
  }
  text_add(out, "\n%u claims: ", rows->count);
  add_tally(rows, out);
  text_add(out, "\n");
}

void study_index_csv(const IndexRows *rows, Text *out) {
  text_add(out, "study,claim,finding,fitted,published,ours,place,text,reason\n");
  for (uint32_t i = 0; i < rows->count; i++) {
    const IndexRow *row = &rows->items[i];
    const char *const cells[] = {row->study, row->name, row->finding, row->fitted ? "fitted" : "", row->published, row->ours,
                                 row->place, row->text, row->reason};
    for (size_t c = 0; c < COUNT_OF(cells); c++) {
      text_add(out, c == 0 ? "" : ",");
      text_add_csv_name(out, cells[c]);
    }
    text_add(out, "\n");
  }
}

// In a table's cell of Markdown no bar may stand.
static void add_cell(Text *out, const char *text) {
  text_add(out, " ");
  for (; *text != '\0'; text++) text_add(out, *text == '|' ? "\\|" : "%c", *text);
  text_add(out, " |");
}

void study_index_markdown(const StudyIndex *index, const IndexRows *rows, Text *out) {
  text_add(out, "# Every claim of the papers, and what we found\n\nResults of commit `%s`.\n\nMade by `redoubt reproduce all`. ",
           index->commit);
  if (index->quick) text_add(out, "%s ", quick_note);
  text_add(out, "%u claims: ", rows->count);
  add_tally(rows, out);
  text_add(out, ".\n");
  for (uint32_t i = 0; i < rows->count; i++) {
    const IndexRow *row = &rows->items[i];
    if (i == 0 || strcmp(row->study, rows->items[i - 1].study) != 0)
      text_add(out, "\n## %s\n\n%s\n\n| claim | what was claimed | published | ours | finding |\n|---|---|---|---|---|\n", row->study,
               paper_of(index, row->study));
    text_add(out, "|");
    add_cell(out, row->name);
    add_cell(out, row->text);
    add_cell(out, *row->published != '\0' ? row->published : "trend");
    add_cell(out, *row->ours != '\0' ? row->ours : "-");
    text_add(out, " %s%s |\n", row->finding, row->fitted ? " (fitted)" : "");
  }
}

void study_index_html(const StudyIndex *index, const IndexRows *rows, Text *out) {
  json_t *claims = json_array(), *papers = json_object();
  for (uint32_t i = 0; i < rows->count; i++) {
    const IndexRow *row = &rows->items[i];
    json_object_set_new(
        papers, row->study,
        json_pack("{s:o, s:b}", "paper", report_string(paper_of(index, row->study)), "page", outcome_of(index, row->study) != NULL));
    json_array_append_new(claims, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b}", "study", row->study, "name", row->name, "text",
                                            report_string(row->text), "place", report_string(row->place), "published",
                                            report_string(row->published), "ours", report_string(row->ours), "reason",
                                            report_string(row->reason), "finding", row->finding, "fitted", row->fitted));
  }
  Text tally = {0};
  add_tally(rows, &tally);
  json_t *root = json_pack("{s:b, s:s, s:s, s:o, s:o}", "quick", index->quick, "commit", index->commit, "tally", tally.at, "papers", papers,
                           "claims", claims);
  char *json = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
  ASSERT(json != NULL);
  page_fill(study_index_page, json, out);
  text_free(&tally);
  json_decref(root);
  free(json);
}
