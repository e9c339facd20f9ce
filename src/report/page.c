// The page: page.html with the journal's numbers and Vega put in. It needs nothing from elsewhere.
#include "report/report_internal.h"

#include <stdlib.h>

enum { MOST_FAULTS = 5000 }; // in the table; of larger journals those that mattered come first

typedef struct Chosen {
  json_t *faults;
  bool masked; // this round takes the masked ones
} Chosen;

static bool choose(void *context, const FaultRow *row) {
  Chosen *chosen = context;
  bool masked = strcmp(outcome_info[row->outcome].group, "masked") == 0;
  if (masked == chosen->masked) report_fault_json(chosen->faults, row);
  return json_array_size(chosen->faults) < MOST_FAULTS;
}

static json_t *page_data(const Report *report, const char *path) {
  json_t *data = report_summary(report), *outcomes = json_array();
  Chosen chosen = {.faults = json_array()};
  journal_each_fault(report->journal, choose, &chosen);
  chosen.masked = true;
  if (json_array_size(chosen.faults) < MOST_FAULTS) journal_each_fault(report->journal, choose, &chosen);
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    json_array_append_new(outcomes, json_pack("{s:s, s:s, s:s}", "name", outcome_info[i].name, "group", outcome_info[i].group, "meaning",
                                              outcome_info[i].meaning));
  }
  json_object_set_new(data, "faults", chosen.faults);
  json_object_set_new(data, "outcomes", outcomes);
  json_object_set_new(data, "journal", json_string(path));
  return data;
}

// "</script>" inside a script would end it.
static void add_script(Text *out, const char *text) {
  for (const char *next; (next = strstr(text, "</")) != NULL; text = next + 2) {
    text_add_bytes(out, text, (size_t)(next - text));
    text_add_bytes(out, "<\\/", 3);
  }
  text_add_bytes(out, text, strlen(text));
}

void report_page(const Report *report, const char *path, Text *out) {
  json_t *data = page_data(report, path);
  char *json = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(data);
  ASSERT(json != NULL);
  const struct { const char *mark, *text; } parts[] = {{"/*VEGA*/", vega_js}, {"/*DATA*/", json}};
  const char *rest = report_page_html;
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    const char *at = strstr(rest, parts[i].mark);
    ASSERT(at != NULL);
    text_add_bytes(out, rest, (size_t)(at - rest));
    add_script(out, parts[i].text);
    rest = at + strlen(parts[i].mark);
  }
  text_add_bytes(out, rest, strlen(rest));
  free(json);
}
