// What has to be said beside numbers; see findings.h.
#include "report/findings.h"
#include "report/page.h"

#include <stdarg.h>
#include <stdio.h>

const char *const severity_names[SEVERITIES] = {"note", "caution", "blocking"};

enum { WIDTH = 80 };

void names_add(Names *names, const char *name, uint32_t most) {
  if (names->count < most) text_add(&names->text, "%s%s", names->count == 0 ? "" : ", ", name);
  else names->left_out++;
  names->count++;
}

const char *names_end(Arena *arena, Names *names) {
  if (names->left_out > 0) text_add(&names->text, " and %u more", names->left_out);
  const char *copy = names->count == 0 ? "" : arena_copy_text(arena, names->text.at, names->text.length);
  text_free(&names->text);
  return copy;
}

uint32_t findings_add(Findings *findings, Severity severity, const char *about, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
  char *text = arena_alloc(findings->arena, length + 1);
  vsnprintf(text, length + 1, format, again);
  va_end(again);
  va_end(arguments);
  *VEC_PUSH(&findings->items, findings->arena) = (Finding){severity, about, text};
  return findings->items.count - 1;
}

// Calls for each finding, the gravest first.
static void each(const Findings *findings, void (*take)(void *context, const Finding *finding), void *context) {
  for (uint32_t severity = SEVERITIES; severity-- > 0;) {
    for (uint32_t i = 0; i < findings->items.count; i++) {
      if (findings->items.items[i].severity == (Severity)severity) take(context, &findings->items.items[i]);
    }
  }
}

// Words as long as the line has room for them.
void text_add_wrapped(Text *out, uint32_t indent, const char *text) {
  size_t column = indent;
  for (const char *at = text; *at != '\0';) {
    size_t length = strcspn(at, " ");
    if (column > indent && column + 1 + length > WIDTH) {
      text_add(out, "\n%*s", (int)indent, "");
      column = indent;
    } else if (column > indent) {
      text_add(out, " ");
      column++;
    }
    text_add(out, "%.*s", (int)length, at);
    column += length;
    at += length + (at[length] == ' ');
  }
  text_add(out, "\n");
}

static void take_text(void *context, const Finding *finding) {
  text_add(context, "%-*s", WRAPPED_INDENT, severity_names[finding->severity]);
  text_add_wrapped(context, WRAPPED_INDENT, finding->text);
}

static void take_csv(void *context, const Finding *finding) {
  text_add(context, "%s,", severity_names[finding->severity]);
  text_add_csv_name(context, finding->about);
  text_add(context, ",");
  text_add_csv(context, finding->text);
  text_add(context, "\n");
}

static void take_json(void *context, const Finding *finding) {
  json_array_append_new(context, json_pack("{s:s, s:o, s:o}", "severity", severity_names[finding->severity], "about",
                                           report_string(finding->about), "text", report_string(finding->text)));
}

void findings_text(const Findings *findings, Text *out) {
  if (findings->items.count > 0) text_add(out, "\nFindings\n");
  each(findings, take_text, out);
}

void findings_csv(const Findings *findings, Text *out) {
  text_add(out, "severity,about,finding\n");
  each(findings, take_csv, out);
}

json_t *findings_json(const Findings *findings) {
  json_t *array = json_array();
  each(findings, take_json, array);
  return array;
}
