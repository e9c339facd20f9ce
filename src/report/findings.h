// What has to be said beside numbers. One list, made once: text, page, CSV and JSON say it in the same words and the same order.
#ifndef REDOUBT_FINDINGS_H
#define REDOUBT_FINDINGS_H

#include "base/base.h"

#include <jansson.h>

typedef enum Severity {
  SEVERITY_NOTE,
  SEVERITY_CAUTION,  // a number is easily misread without it
  SEVERITY_BLOCKING, // for its sake something is not told at all
  SEVERITIES
} Severity;
extern const char *const severity_names[SEVERITIES]; // "note"

// A list of names for a sentence. Zero-initialise.
typedef struct Names {
  Text text;
  uint32_t count, left_out;
} Names;
enum { MOST_NAMES = 8, ALL_NAMES = INT32_MAX };
void names_add(Names *names, const char *name, uint32_t most); // from that many on they are only counted
const char *names_end(Arena *arena, Names *names);             // "rf, shared and 3 more"; frees it

typedef struct Finding {
  Severity severity;
  const char *about; // what it is about: "permanent rf"; "": all
  const char *text;  // sentences
} Finding;
// Zero-initialise, with the arena that texts lie in.
typedef struct Findings {
  Arena *arena;
  VEC(Finding) items; // in the order in which they were added
} Findings;

// For a terminal of 80 columns. The cursor stands at the column `indent`, where the further lines begin, too.
enum { WRAPPED_INDENT = 10 };
void text_add_wrapped(Text *out, uint32_t indent, const char *text);

// Its place in the list.
uint32_t findings_add(Findings *findings, Severity severity, const char *about, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// All of them, the gravest first: for a terminal of 80 columns, as rows severity,about,finding, as an array.
void findings_text(const Findings *findings, Text *out);
void findings_csv(const Findings *findings, Text *out);
json_t *findings_json(const Findings *findings);

#endif
