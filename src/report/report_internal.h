// What the files of the report share.
#ifndef REDOUBT_REPORT_INTERNAL_H
#define REDOUBT_REPORT_INTERNAL_H

#include "report/report.h"

#include <jansson.h>

extern const char vega_js[] __attribute__((visibility("hidden"))); // Vega, as text
extern const char report_page_html[];                              // page.html, as text

json_t *report_summary(const Report *report);               // all but the single faults
bool report_fault_json(void *context, const FaultRow *row); // appends one to the array `context`

#endif
