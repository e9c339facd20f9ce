// The page: page.html with the journal's numbers and Vega put in. It needs nothing from elsewhere.
#include "report/report_internal.h"

#include <stdlib.h>
#include <strings.h>

enum { MOST_FAULTS = 5000 }; // in the table; of larger journals those that mattered come first
enum { REALS = JSON_REAL_PRECISION(9) };

// Adds to the list, of which `*count` are there, those that are masked or those that are not.
static bool choose_faults(const Report *report, bool masked, uint32_t *count, Text *list) {
  FaultCursor *cursor = journal_faults(report->journal);
  for (FaultRow row; *count < MOST_FAULTS && journal_next_fault(cursor, &row);) {
    if ((strcmp(outcome_info[row.outcome].group, "masked") == 0) != masked) continue;
    if ((*count)++ > 0) add_text(list, ",");
    report_fault(report, &row, REALS, list);
  }
  return journal_end_faults(cursor);
}

static char *page_summary(const Report *report, const char *path) {
  json_t *data = report_summary(report), *outcomes = json_array(), *groups = json_array();
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    json_array_append_new(outcomes, json_pack("{s:s, s:s, s:s}", "name", outcome_info[i].name, "group", outcome_info[i].group, "meaning",
                                              outcome_info[i].meaning));
  }
  for (uint32_t i = 0; i < REPORT_GROUPS; i++) json_array_append_new(groups, json_string(report_groups[i]));
  json_object_set_new(data, "outcomes", outcomes);
  json_object_set_new(data, "groups", groups);
  json_object_set_new(data, "journal", report_string(path));
  char *json = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS | REALS);
  json_decref(data);
  ASSERT(json != NULL);
  return json;
}

// The faults come last: put between the summaries and their closing brace.
static bool page_data(const Report *report, const char *path, Text *data) {
  uint32_t count = 0;
  char *summary = page_summary(report, path);
  text_add_bytes(data, summary, strlen(summary) - 1);
  free(summary);
  add_text(data, ",\"faults\":[");
  bool good = choose_faults(report, false, &count, data) && choose_faults(report, true, &count, data);
  add_text(data, "]}");
  return good;
}

// Inside a script element "</script" ends it, and "<!--" changes how its end is found. In Vega both can stand in strings
// and regular expressions only, where a backslash before '/' or '!' changes nothing.
static void add_script(Text *out, const char *text) {
  for (const char *next; (next = strchr(text, '<')) != NULL; text = next + 1) {
    text_add_bytes(out, text, (size_t)(next - text) + 1);
    if (strncasecmp(next, "</script", 8) == 0 || strncmp(next, "<!--", 4) == 0) text_add_bytes(out, "\\", 1);
  }
  text_add_bytes(out, text, strlen(text));
}

// In JSON '<' stands inside strings only.
static void add_data(Text *out, const char *text) {
  for (const char *next; (next = strchr(text, '<')) != NULL; text = next + 1) {
    text_add_bytes(out, text, (size_t)(next - text));
    text_add_bytes(out, "\\u003c", 6);
  }
  text_add_bytes(out, text, strlen(text));
}

bool report_page(const Report *report, const char *path, Text *out) {
  Text data = {0};
  if (!page_data(report, path, &data)) {
    text_free(&data);
    return false;
  }
  const char *vega = strstr(report_page_html, "/*VEGA*/"), *numbers = strstr(report_page_html, "/*DATA*/");
  ASSERT(vega != NULL && numbers != NULL && vega < numbers);
  text_add_bytes(out, report_page_html, (size_t)(vega - report_page_html));
  add_script(out, vega_js);
  vega += strlen("/*VEGA*/");
  text_add_bytes(out, vega, (size_t)(numbers - vega));
  add_data(out, data.at);
  numbers += strlen("/*DATA*/");
  text_add_bytes(out, numbers, strlen(numbers));
  text_free(&data);
  return true;
}
