// What a journal says: tables, intervals, exports, the page. Sees nothing but the journal.
#ifndef REDOUBT_REPORT_H
#define REDOUBT_REPORT_H

#include "journal/journal.h"
#include "journal/statistics.h"

// Outcomes of one group of faults: a structure, a kernel, a line, a stretch of time. Where faults of several structures come together
// they have weights: each structure counts by its bits, however many of its faults were drawn.
typedef struct Tally {
  uint64_t total;
  uint64_t counts[OUTCOME_COUNT];
  double weight, squares; // sums of the weights, and of their squares
  double weights[OUTCOME_COUNT];
} Tally;
void tally_add(Tally *tally, uint8_t outcome, double weight);
uint64_t tally_group(const Tally *tally, const char *group); // faults: "sdc", "due", ...
uint64_t tally_vulnerable(const Tally *tally);               // wrong, ended or detected: what AVF counts
double tally_share(const Tally *tally, const char *group);   // by weight; 0 without faults
double tally_avf(const Tally *tally);
Interval tally_interval(const Tally *tally, double share, double confidence);
bool outcome_is_vulnerable(uint8_t outcome);

enum { REPORT_GROUPS = 7 };
extern const char *const report_groups[REPORT_GROUPS]; // groups of outcomes, in the order of columns

enum { REPORT_SLICES = 50 };

typedef struct StructureSummary {
  const char *name, *title;
  uint16_t region;
  uint64_t bits; // in the machine
  double used;   // share that belongs to resident work; 0: not known
  double fit_per_mbit;
  double weight; // of each of its faults among those of all; 1 on average
  Tally tally;
} StructureSummary;

typedef struct KernelSummary {
  const char *name;
  uint32_t launches;
  uint64_t cycles;
  Tally tally;
  Tally *by_structure; // in the order of the structures
} KernelSummary;

typedef struct LineSummary {
  uint32_t line;
  Tally tally;
} LineSummary;

typedef struct LaunchSummary {
  uint32_t launch, kernel; // its place among the kernels
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
  Tally tally;
} LaunchSummary;

// Everything a report shows, from one pass over the journal.
typedef struct Report {
  Arena *arena;
  const Journal *journal;
  const JournalMeta *meta;
  double confidence;
  uint64_t counted; // faults
  Tally all;
  uint64_t settled[SETTLED_COUNT];
  VEC(StructureSummary) structures;
  VEC(KernelSummary) kernels;
  VEC(LaunchSummary) launches; // ascending
  VEC(LineSummary) lines;      // ascending; faults that no instruction with a known line read are in none
  uint64_t cycles;             // of the golden run
  uint64_t from, until;        // the cycles in which faults strike
  Tally slices[REPORT_SLICES]; // by time, from `from` to `until`
} Report;
Report *report_read(const Journal *journal, double confidence, Diags *diags); // report_free; NULL: the journal is damaged
void report_free(Report *report);
uint64_t report_slice_start(const Report *report, uint32_t slice);               // its first cycle; of REPORT_SLICES: the end
const StructureSummary *report_structure(const Report *report, uint16_t region); // NULL: none

// FIT of a structure: its raw rate times its AVF. Rates in failures per 10^9 hours.
double structure_fit(const StructureSummary *structure, double avf);
// Of all structures struck: AVF weighted by bits, their bits, the sum of their FIT; 0 where not known.
typedef struct ChipSummary {
  double avf, bits, fit;
} ChipSummary;
ChipSummary report_chip(const Report *report);
// MTBF as in the thesis on FlexGripPlus (section 4.2.3), in cycles: the run's length over the share of SDCs; 0 without any.
double report_cycles_between_sdc(const Report *report);

// Where long exports go, piece by piece. False: cannot be written, stop.
typedef struct Sink {
  bool (*write)(void *context, const char *bytes, size_t count);
  void *context;
} Sink;

// Tables as CSV. All but the faults come from the summaries alone.
typedef enum CsvTable { CSV_FAULTS, CSV_CAMPAIGN, CSV_STRUCTURES, CSV_KERNELS, CSV_LAUNCHES, CSV_LINES, CSV_TIME, CSV_COUNT } CsvTable;
extern const char *const csv_names[CSV_COUNT]; // "faults", "campaign", ...

void report_text(const Report *report, Text *out);                      // tables for a terminal
bool report_csv(const Report *report, CsvTable table, const Sink *out); // false: not written, or the journal is damaged
bool report_json(const Report *report, const Sink *out);                // summaries and every fault; false likewise
bool report_page(const Report *report, const char *path, Text *out);    // one HTML page; path: the journal's, for replay commands
// Two journals of one fault list, e.g. with and without a protection.
bool report_compare(const Journal *a, const Journal *b, double confidence, Text *out, Diags *diags);

#endif
