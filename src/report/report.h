// What a journal says: tables, intervals, exports, the page. Sees nothing but the journal.
#ifndef REDOUBT_REPORT_H
#define REDOUBT_REPORT_H

#include "campaign/journal.h"

// Outcomes of one group of faults: a structure, a kernel, a line, a stretch of time.
typedef struct Tally {
  uint64_t total;
  uint64_t counts[OUTCOME_COUNT];
} Tally;
void tally_add(Tally *tally, uint8_t outcome);
uint64_t tally_group(const Tally *tally, const char *group); // "sdc", "due", ...
uint64_t tally_vulnerable(const Tally *tally);               // wrong, ended or detected: what AVF counts

enum { REPORT_MOST_STRUCTURES = 64, REPORT_MOST_LAUNCHES = 4096, REPORT_SLICES = 50, REPORT_MOST_LINES = 4096 };

typedef struct StructureSummary {
  char name[32], title[48];
  uint16_t region;
  uint64_t bits; // in the machine
  double used;   // share that belongs to resident work; 0: not known
  double fit_per_mbit;
  Tally tally;
} StructureSummary;

typedef struct KernelSummary {
  char name[128];
  uint32_t launches;
  uint64_t cycles;
  Tally tally;
} KernelSummary;

typedef struct LineSummary {
  uint32_t line;
  Tally tally;
} LineSummary;

// Everything a report shows, from one pass over the journal.
typedef struct Report {
  Arena *arena;
  const Journal *journal;
  const JournalMeta *meta;
  double confidence;
  Tally all;
  uint64_t settled[SETTLED_COUNT];
  StructureSummary structures[REPORT_MOST_STRUCTURES];
  uint32_t structure_count;
  KernelSummary kernels[64];
  uint32_t kernel_count;
  uint32_t *kernel_of_launch;  // by launch number; REPORT_MOST_LAUNCHES of them
  uint64_t cycles;             // of the golden run
  Tally slices[REPORT_SLICES]; // by time
  LineSummary *lines;          // ascending; REPORT_MOST_LINES at most
  uint32_t line_count;
} Report;
Report *report_read(const Journal *journal, double confidence); // report_free
void report_free(Report *report);

void report_text(const Report *report, Text *out);                   // tables for a terminal
bool report_csv(const Journal *journal, Text *out);                  // every fault
bool report_json(const Report *report, Text *out);                   // summaries and every fault
void report_page(const Report *report, const char *path, Text *out); // one HTML page; path: the journal's, for replay commands
// Two journals of one fault list, e.g. with and without a protection.
bool report_compare(const Journal *a, const Journal *b, double confidence, Text *out, Diags *diags);

// FIT of a structure: its raw rate times its AVF. Rates in failures per 10^9 hours.
double structure_fit(const StructureSummary *structure, double avf);

#endif
