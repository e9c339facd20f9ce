// What the files of the report share.
#ifndef REDOUBT_REPORT_INTERNAL_H
#define REDOUBT_REPORT_INTERNAL_H

#include "report/page.h"
#include "report/report.h"

extern const char vega_js[] __attribute__((visibility("hidden"))); // Vega, as text
extern const char common_css[], common_js[];                       // what pages share, as text
extern const char report_page_html[], matrix_page_html[];          // page.html, matrix.html, as text
extern const char avf_page_html[];                                 // avf.html

void report_internal(const Report *report, Text *out); // failures of Redoubt itself: before anything else, since whoever reads on must know
void report_conditions(const Report *report, Text *out); // what limits what the figures mean
void report_occupancy_text(const Report *report, Text *out);
const JournalMeta *report_meta(const JournalMeta *from, Arena *arena); // as Report.meta has it
json_t *report_summary(const Report *report);                          // all but the single faults
// So many of a structure's faults, as a share; and of all structures, by their bits.
Estimate report_hits(const Report *report, uint32_t structure, uint64_t hits);
Estimate report_all_hits(const Report *report, const uint64_t *hits); // by structure
// A row of the view `results` as JSON, straight into text: a journal has millions of them. `reals`: how many digits, as flags of jansson.
void report_result(const Query *query, size_t reals, Text *out);
// Three cells of CSV, with a comma before each.
void csv_estimate(Text *out, Estimate estimate);
json_t *json_estimate(Estimate estimate);
json_t *json_notes(const Journal *journal);
double setting_of(const char *settings, const char *key); // of the machine that a campaign ran on; 0: it does not say
void rates_text(const char *settings, uint32_t rates, Text *out);

// Pieces of a row. printf's formats are most of an export's time.
void add_text(Text *out, const char *text);
void add_count(Text *out, uint64_t count);

// A sink filled by way of a buffer.
typedef struct Writer {
  const Sink *sink;
  Text text;
  bool good;
} Writer;
void writer_flush(Writer *writer, size_t above); // passes on what is there when it is more than that
bool writer_end(Writer *writer);                 // passes on the rest

#endif
