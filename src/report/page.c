// The page: page.html with the journal's numbers and Vega put in. It needs nothing from elsewhere.
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { MOST_FAULTS = 5000 }; // in the table; of larger journals those that mattered come first
enum { REALS = JSON_REAL_PRECISION(9) };

// Adds to the list, of which `*count` are there, those that are masked or those that are not.
static bool choose_faults(const Report *report, const char *which, uint32_t *count, Text *list) {
  char sql[160];
  snprintf(sql, sizeof sql, "SELECT * FROM results WHERE outcome %s 'masked' ORDER BY id LIMIT %u", which, MOST_FAULTS - *count);
  Query *query = journal_query(report->journal, sql);
  while (query_next(query)) {
    if ((*count)++ > 0) add_text(list, ",");
    report_result(query, REALS, list);
  }
  return query_end(query);
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
  char *summary = page_summary(report, path);
  text_add_bytes(data, summary, strlen(summary) - 1);
  free(summary);
  add_text(data, ",\"faults\":[");
  uint32_t count = 0; // those that mattered come first
  bool good = choose_faults(report, "<>", &count, data) && choose_faults(report, "=", &count, data);
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

// Markers in a page, in any order, and what takes their place.
void page_fill(const char *page, const char *json, Text *out) {
  const struct {
    const char *marker, *text;
    void (*add)(Text *out, const char *text);
  } parts[] = {{"/*STYLE*/", common_css, add_text},
               {"/*VEGA*/", vega_js, add_script},
               {"/*DATA*/", json, add_data},
               {"/*COMMON*/", common_js, add_script}};
  for (;;) {
    const char *next = NULL;
    size_t which = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
      const char *at = strstr(page, parts[i].marker);
      if (at != NULL && (next == NULL || at < next)) next = at, which = i;
    }
    if (next == NULL) break;
    text_add_bytes(out, page, (size_t)(next - page));
    parts[which].add(out, parts[which].text);
    page = next + strlen(parts[which].marker);
  }
  add_text(out, page);
}

bool report_page(const Report *report, const char *path, Text *out) {
  Text data = {0};
  bool good = page_data(report, path, &data);
  if (good) page_fill(report_page_html, data.at, out);
  text_free(&data);
  return good;
}
