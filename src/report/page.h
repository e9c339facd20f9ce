// What every page is made with: the shared style, scripts and charts, and numbers as JSON.
#ifndef REDOUBT_REPORT_PAGE_H
#define REDOUBT_REPORT_PAGE_H

#include "base/base.h"

#include <jansson.h>

void page_fill(const char *page, const char *json, Text *out); // the page with Vega and these numbers in it
json_t *report_string(const char *text);                       // whatever its bytes are: those that are not UTF-8 become '?'

#endif
