// The page of `redoubt reproduce`: the study's page with its numbers and Vega put in. It needs nothing from elsewhere.
#include "cli/cli.h"
#include "report/report_internal.h"
#include "flexgrip/study.h"

// "</script" inside a script would end it; it can only stand in a string there, where "<\/script" is the same.
static void add_script(Text *out, const char *text) {
  for (const char *next; (next = strstr(text, "</script")) != NULL; text = next + 2) {
    text_add_bytes(out, text, (size_t)(next - text));
    text_add_bytes(out, "<\\/", 3);
  }
  text_add_bytes(out, text, strlen(text));
}

void reproduce_page(const Study *study, Text *out) {
  Text data = {0};
  study_json(study, &data);
  const struct { const char *mark, *text; } parts[] = {{"/*VEGA*/", vega_js}, {"/*DATA*/", data.at}};
  const char *rest = study_page_html;
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    const char *at = strstr(rest, parts[i].mark);
    ASSERT(at != NULL);
    text_add_bytes(out, rest, (size_t)(at - rest));
    add_script(out, parts[i].text);
    rest = at + strlen(parts[i].mark);
  }
  text_add_bytes(out, rest, strlen(rest));
  text_free(&data);
}
