// What a study found: text, CSV, JSON and the page.
#include "report/page.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>

extern const char study_page[]; // page.html

// ---- Text ----------------------------------------------------------------------------------------------------------

static const char *said(const StudyPart *part, const char *key) {
  const char *text = study_value(part, key);
  return text != NULL ? text : "";
}

// `text` broken at spaces into lines of at most 80 characters, each after `indent` spaces.
static void add_lines(Text *out, const char *text, uint32_t indent) {
  const uint32_t most = 80;
  uint32_t used = 0;
  for (const char *next = text; *(next += strspn(next, " ")) != '\0';) {
    uint32_t length = (uint32_t)strcspn(next, " ");
    if (used > 0 && used + 1 + length > most) {
      text_add(out, "\n");
      used = 0;
    }
    if (used == 0) {
      text_add(out, "%*s", (int)indent, "");
      used = indent;
    } else {
      text_add(out, " ");
      used++;
    }
    text_add_bytes(out, next, length);
    used += length;
    next += length;
  }
  text_add(out, "\n");
}

static void table_text(const StudyTable *table, const Finding *findings, Text *out) {
  Arena *arena = arena_new();
  const uint32_t columns = table->columns.count;
  uint32_t *widths = ARENA_ARRAY(arena, uint32_t, columns + 1);
  for (uint32_t c = 0; c < columns; c++) {
    widths[c] = (uint32_t)strlen(table->columns.items[c]);
    for (uint32_t r = 0; r < table->rows.count; r++) widths[c] = max_u32(widths[c], (uint32_t)strlen(table->rows.items[r][c].text));
  }
  for (uint32_t r = 0; r <= table->rows.count; r++) {
    text_add(out, "   ");
    for (uint32_t c = 0; c < columns; c++) {
      bool is_head = r == 0;
      const char *text = is_head ? table->columns.items[c] : table->rows.items[r - 1][c].text;
      bool is_number = table->rows.count > 0 && table->rows.items[is_head ? 0 : r - 1][c].kind == DATUM_NUMBER;
      text_add(out, is_number ? " %*s" : " %-*s", (int)widths[c], text);
    }
    if (findings != NULL && r > 0) text_add(out, "  %s", finding_names[findings[r - 1]]);
    while (out->at[out->length - 1] == ' ') out->at[--out->length] = '\0';
    text_add(out, "\n");
  }
  arena_free(arena);
}

static void add_head(const StudyOutcome *outcome, Text *out) {
  const StudyPart *study = &outcome->study->parts.items[0];
  add_lines(out, said(study, "title"), 0);
  if (*said(study, "paper") != '\0') add_lines(out, said(study, "paper"), 0);
  if (outcome->quick) add_lines(out, "Quick form: smaller programs and fewer faults. It shows values and judges nothing.", 0);
  Text about = {0};
  text_add(&about, "Intervals at %.4g%%.", 100 * outcome->study->confidence);
  if (outcome->claims.count > 0 && !outcome->quick)
    text_add(&about, " A number agrees within the tolerance of its claim; a claim that names none allows no difference.");
  add_lines(out, about.at, 0);
  text_free(&about);
  text_add(out, "\n");
}

// "published: 26.4%; tolerance 2%; Table 3", as far as it is said.
static void add_published(const StudyPart *claim, Text *out) {
  static const struct { const char *key, *title; } parts[] = {{"published", "published: "}, {"tolerance", "tolerance "}, {"place", ""}};
  const char *before = "  ";
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    const char *text = said(claim, parts[i].key);
    if (*text == '\0') continue;
    text_add(out, "%s%s%s", before, parts[i].title, text);
    before = "; ";
  }
  if (*before == ';') text_add(out, "\n");
}

static void claim_text(const StudyJudged *claim, Text *out) {
  text_add(out, "%s: %s%s\n", claim->part->name, finding_names[claim->finding],
           study_value(claim->part, "fitted") != NULL ? " (fitted)" : "");
  add_lines(out, said(claim->part, "text"), 2);
  add_published(claim->part, out);
  if (claim->reason != NULL) add_lines(out, claim->reason, 2);
  if (claim->table.rows.count > 0) table_text(&claim->table, claim->rows, out);
  text_add(out, "\n");
}

void study_as_text(const StudyOutcome *outcome, Text *out) {
  add_head(outcome, out);
  uint32_t counts[FINDINGS] = {0};
  for (uint32_t i = 0; i < outcome->claims.count; i++) {
    claim_text(&outcome->claims.items[i], out);
    counts[outcome->claims.items[i].finding]++;
  }
  for (uint32_t i = 0; i < outcome->shown.count; i++) {
    const StudyShown *shown = &outcome->shown.items[i];
    if (shown->part->section == SECTION_CHART) continue; // the page draws it, a CSV file has its numbers
    text_add(out, "%s%s%s\n", said(shown->part, "title"), *said(shown->part, "place") != '\0' ? "; " : "", said(shown->part, "place"));
    table_text(&shown->table, NULL, out);
    text_add(out, "\n");
  }
  uint32_t claims = outcome->claims.count, cells = outcome->cells->items.count;
  text_add(out, claims == 0 ? "no claims" : claims == 1 ? "1 claim:" : "%u claims:", claims);
  for (uint32_t i = 0, told = 0; i < FINDINGS; i++) {
    if (counts[i] > 0) text_add(out, "%s %u %s", told++ > 0 ? "," : "", counts[i], finding_names[i]);
  }
  text_add(out, cells == 1 ? "; 1 cell\n" : "; %u cells\n", cells);
}

// ---- CSV ---------------------------------------------------------------------------------------------------------------

void study_table_csv(const StudyTable *table, Text *out) {
  for (uint32_t c = 0; c < table->columns.count; c++) {
    text_add(out, c == 0 ? "" : ",");
    text_add_csv_name(out, table->columns.items[c]);
  }
  text_add(out, "\n");
  for (uint32_t r = 0; r < table->rows.count; r++) {
    for (uint32_t c = 0; c < table->columns.count; c++) {
      const StudyDatum *datum = &table->rows.items[r][c];
      text_add(out, c == 0 ? "" : ",");
      if (datum->kind == DATUM_NUMBER) text_add(out, "%.17g", datum->number);
      else if (datum->kind == DATUM_TEXT) text_add_csv_name(out, datum->text);
    }
    text_add(out, "\n");
  }
}

// ---- JSON --------------------------------------------------------------------------------------------------------------

static json_t *table_json(const StudyTable *table, const Finding *findings) {
  json_t *columns = json_array(), *rows = json_array();
  for (uint32_t c = 0; c < table->columns.count; c++) json_array_append_new(columns, report_string(table->columns.items[c]));
  for (uint32_t r = 0; r < table->rows.count; r++) {
    json_t *row = json_array();
    for (uint32_t c = 0; c < table->columns.count; c++) {
      const StudyDatum *datum = &table->rows.items[r][c];
      bool finite = datum->kind == DATUM_NUMBER && isfinite(datum->number);
      json_array_append_new(row, finite ? json_real(datum->number) : datum->kind == DATUM_TEXT ? report_string(datum->text) : json_null());
    }
    if (findings != NULL) json_array_append_new(row, json_string(finding_names[findings[r]]));
    json_array_append_new(rows, row);
  }
  return json_pack("{s:o, s:o}", "columns", columns, "rows", rows);
}

static json_t *part_json(const StudyPart *part) {
  json_t *object = json_object();
  json_object_set_new(object, "name", report_string(part->name));
  for (uint32_t i = 0; i < part->values.count; i++) {
    const StudyValue *value = &part->values.items[i];
    if (!value->is_quick) json_object_set_new(object, value->key->name, report_string(value->text));
  }
  return object;
}

static json_t *cells_json(const StudyCells *cells) {
  json_t *array = json_array();
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    Text command = {0};
    study_command(cell, &command);
    json_array_append_new(array, json_pack("{s:s, s:o, s:o, s:s}", "part", cell->part->name, "target", report_string(cell->target),
                                           "command", report_string(command.at), "file", cell->file));
    text_free(&command);
  }
  return array;
}

char *study_as_json(const StudyOutcome *outcome) {
  json_t *claims = json_array(), *shown = json_array();
  for (uint32_t i = 0; i < outcome->claims.count; i++) {
    const StudyJudged *claim = &outcome->claims.items[i];
    json_t *object = part_json(claim->part);
    json_object_set_new(object, "finding", json_string(finding_names[claim->finding]));
    json_object_set_new(object, "reason", claim->reason != NULL ? report_string(claim->reason) : json_null());
    json_object_set_new(object, "table", table_json(&claim->table, claim->rows));
    json_array_append_new(claims, object);
  }
  for (uint32_t i = 0; i < outcome->shown.count; i++) {
    json_t *object = part_json(outcome->shown.items[i].part);
    json_object_set_new(object, "table", table_json(&outcome->shown.items[i].table, NULL));
    json_array_append_new(shown, object);
  }
  json_t *root = json_pack("{s:o, s:b, s:f, s:o, s:o, s:o}", "study", part_json(&outcome->study->parts.items[0]), "quick", outcome->quick,
                           "confidence", outcome->study->confidence, "claims", claims, "shown", shown, "cells", cells_json(outcome->cells));
  char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
  json_decref(root);
  ASSERT(text != NULL);
  return text;
}

// ---- Page --------------------------------------------------------------------------------------------------------------

void study_as_html(const StudyOutcome *outcome, Text *out) {
  char *json = study_as_json(outcome);
  page_fill(study_page, json, out);
  free(json);
}
