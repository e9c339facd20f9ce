// What journals say: tables, intervals, exports, the page. Sees nothing but journals.
#ifndef REDOUBT_REPORT_H
#define REDOUBT_REPORT_H

#include "journal/journal.h"
#include "journal/occupancy.h"
#include "journal/statistics.h"

// ---- Tallies -----------------------------------------------------------------------------------------
// Outcomes of one group of faults: a structure, a kernel, a line, a stretch of time. Where faults of several structures come together
// they have weights: each structure counts by its bits, however many of its faults were drawn.
typedef struct Tally {
  uint64_t total;
  uint64_t counts[OUTCOME_COUNT];
  double weight, squares; // sums of the weights, and of their squares
  double weights[OUTCOME_COUNT];
  double undrawn; // share of what the faults stand for that none was drawn from: what strikes there is masked (--draw used)
} Tally;
void tally_add(Tally *tally, uint8_t outcome, uint64_t faults, double weight); // weight: of each

enum { REPORT_GROUPS = 8, DUE_PARTS = 3 };
extern const char *const report_groups[REPORT_GROUPS];       // groups of outcomes, in the order of columns
extern const char *const due_parts[DUE_PARTS];               // of the group "due"
uint64_t tally_group(const Tally *tally, const char *group); // faults: "sdc", "due", ...
uint64_t tally_part(const Tally *tally, const char *part);   // of DUEs: "crash", "hang", "detected"
double tally_share(const Tally *tally, const char *group);   // by weight; of nothing 0

// What faults can do that somebody must pay for. Their sum is the AVF.
// SDCs are also counted together with wrong outputs that only another order of additions has made (outcome sdc-order).
typedef enum Measure { MEASURE_SDC, MEASURE_DUE, MEASURE_AVF, MEASURE_SDC_ORDER, MEASURES } Measure;
typedef struct MeasureInfo {
  const char *key;   // "sdc_avf": in CSV and JSON
  const char *title; // "SDC-AVF"
} MeasureInfo;
extern const MeasureInfo measures[MEASURES];
bool measure_counts(Measure measure, uint8_t outcome);
bool measure_is_shown(Measure measure, const Tally *all); // in tables for people: SDCs with other orders only where there are any
uint64_t tally_hits(const Tally *tally, Measure measure);

// A number with its interval. Not known: no faults, no rate, or withheld because the journal is unfinished.
typedef struct Estimate {
  bool is_known;
  double value, low, high;
} Estimate;
Estimate tally_estimate(const Tally *tally, Measure measure, double confidence);
Estimate estimate_times(Estimate estimate, double factor);      // factor <= 0: not known
Estimate estimate_inverse(Estimate estimate, double numerator); // numerator / estimate; of 0: infinite
// Numbers in texts have at most three digits that count; those of CSV and JSON all of them (numbers.c).
typedef struct NumberText {
  char at[32];
} NumberText;
NumberText number_text(double value);                // "12.3", "0.0412", "1230", "3.20e+07"
NumberText percent_text(double share);               // "12.3", "0.62", "0.041", "<0.001", ">99.9": nothing and all are 0 and 100 alone
NumberText percent_limit(double share, bool is_low); // of an interval: a lower one is rounded down to "99.9"
// "12.3 (11.0 to 13.8)", "-" where it is not known: the one form of an interval in text, as in pages. Never two numbers with a dash between them, which may
// be a minus. An end that is not bounded: "12.3 (more than 11.0)", or "more than 11.0" where the value is not bounded either.
typedef enum EstimateForm {
  AS_NUMBER,
  AS_PERCENT,      // of a share; of a difference of shares: in points
  AS_SHORT_PERCENT // two digits, for tables of many columns; the ends of the interval are rounded away from the value
} EstimateForm;
enum { ESTIMATE_TEXT = 128 };
const char *estimate_text(Estimate estimate, EstimateForm form, char text[ESTIMATE_TEXT]);

// ---- One journal -------------------------------------------------------------------------------------
#define REPORT_CONFIDENCE 0.99 // where nobody says another
typedef struct ReportOptions {
  double confidence; // 0: the one that the campaign was asked for
  bool partial;      // of an unfinished journal: shares over the faults that are complete
} ReportOptions;

enum { REPORT_SLICES = JOURNAL_SLICES };

typedef struct StructureSummary {
  const char *name, *title;
  uint16_t region;
  uint64_t bits;      // in the machine
  double resident;    // share that belongs to resident work; 0: not known
  double drawn;       // share that its faults are drawn from: all bits and cycles, or those that are used. It is exact
  double needed;      // the same without registers that are padding: held, but named by no code; 0: not known
  const char *origin; // of its cells: "modelled", ...; "": not recorded
  const char *stands_for;
  double fit_per_mbit; // of the campaign's fault model; 0: not known
  double weight;       // of each of its faults among those of all; 1 on average. Of faults drawn from what is used: if these were all
  uint8_t kind;        // StructureKind
  Tally tally;
  Tally used;         // of those in bits that the run without faults reads
  bool is_read_known; // which these are
} StructureSummary;

// Faults of several structures: their outcomes together, and those of each structure. Intervals are made of the latter, since structures are sampled apart.
typedef struct TallyPart {
  uint32_t structure; // its place in Report.structures
  Tally tally;
} TallyPart;
typedef struct MixedTally {
  Tally all;
  VEC(TallyPart) parts; // ascending; structures without faults are not there
  double *drawn;        // where faults are drawn from what is used: of each structure here, as StructureSummary.drawn; NULL: all of it
} MixedTally;

// Raw rates that a machine file gives, each within a factor of its own (rates.c).
typedef enum RateId { RATE_SRAM, RATE_DRAM, RATE_ADJACENT2, RATE_ADJACENT3, RATE_PERMANENT, RATES } RateId;
#define MOST_RATE_FACTOR 1000.0
extern const char *const rate_keys[RATES];                    // "fit.sram"
double rate_factor(const char *settings, RateId rate);        // 1: none is given
uint32_t rates_of(const char *model, uint8_t structure_kind); // whose product a structure's rate under a fault model is; bits: 1 << RateId
// A rate times a share, or a difference of shares: for all rates within the factor.
Estimate estimate_rate(Estimate share, double rate, double factor);

typedef struct KernelSummary {
  const char *name;   // as people write it
  const char *symbol; // as the program names it
  uint32_t launches;
  uint64_t cycles;
  MixedTally tally;
} KernelSummary;

typedef struct LineSummary {
  uint32_t source, line;
  MixedTally tally;
} LineSummary;

typedef struct LaunchSummary {
  uint32_t launch, kernel; // its place among the kernels
  uint32_t source;
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
  MixedTally tally;
} LaunchSummary;

// Everything a report shows, from one pass over the journal.
typedef struct Report {
  Arena *arena;
  const Journal *journal;
  const JournalMeta *meta; // with --twice among the protections, not among the arguments
  JournalState state;
  bool is_at_most; // fewer faults than asked for will do: the campaign ends when it is sure enough
  bool withheld;   // unfinished, and nobody asked for a part: counts are shown, shares are not
  double confidence;
  Tally all;
  uint64_t first[OUTCOME_COUNT]; // number of the first fault that ended so; where there is none it says nothing
  uint64_t settled[SETTLED_COUNT];
  uint64_t ways[WAY_COUNT], verified[WAY_COUNT]; // faults, and those of them that the self-check has found alike
  VEC(StructureSummary) structures;
  VEC(KernelSummary) kernels;
  VEC(LaunchSummary) launches;      // ascending
  VEC(LineSummary) lines;           // ascending; faults that no instruction with a known line read are in none
  uint64_t cycles;                  // of the golden run
  uint64_t from, until;             // the cycles in which faults strike
  MixedTally slices[REPORT_SLICES]; // by time, from `from` to `until`
} Report;
// NULL: the journal is damaged. report_free. Limits what is read of the journal to the faults that are complete, unless shares are withheld.
Report *report_read(Journal *journal, const ReportOptions *options, Diags *diags);
void report_free(Report *report);
uint64_t report_slice_start(const Report *report, uint32_t slice);               // its first cycle; of REPORT_SLICES: the end
const StructureSummary *report_structure(const Report *report, uint16_t region); // NULL: none
// False, with a diagnostic: it is unfinished and its shares are withheld, so it cannot stand beside others.
bool report_is_whole(const Report *report, Diags *diags);
// "unfinished: 312 of 8000 faults, biased; ..." Nothing where the journal is complete.
void report_state_text(const Report *report, Text *out);
// What the self-check says: a line for each way of which it has decided faults once more, and under protections one for what it has not. Nothing is said of
// others.
void report_verified_text(const Report *report, Text *out);
Estimate report_verified_bound(const Report *report,
                               Way way); // the share of a way's outcomes that are wrong, at 95%; not known: none was checked
// "the protection never acted in the run without faults: ..." Nothing where it did. `whose`: before it.
void report_idle_text(const Report *report, const char *whose, Text *out);

// Of a group of faults; not known where shares are withheld.
Estimate report_estimate(const Report *report, const Tally *tally, Measure measure);
// Faults were drawn from what is used.
bool report_draws_used(const Report *report);
// AVF of the part that is used, which the run without faults reads before it is written, from the faults that struck there alone. Not known where none did,
// or where the journal does not say which these are.
Estimate structure_used(const Report *report, const StructureSummary *structure, Measure measure);
Estimate structure_used_share(const Report *report, const StructureSummary *structure); // how much of it that part is
// AVF over the share of the cells that resident work holds (AVF-util: Farazmand, Ubal and Kaeli), and over that without padding. Not known if it is no share: by
// chance, or because others matter too, it or an end of its interval would be more than 1. *why then says so, else it is NULL.
Estimate structure_resident(const Report *report, const StructureSummary *structure, Measure measure, const char **why);
Estimate structure_needed(const Report *report, const StructureSummary *structure, Measure measure, const char **why); // without padding
// Raw rate times AVF, in failures per 10^9 hours. The interval holds the sampling and the rate's factor.
Estimate structure_fit(const Report *report, const StructureSummary *structure, Measure measure);
double structure_rate_factor(const Report *report, const StructureSummary *structure);
void report_rates_text(const Report *report, Text *out); // what intervals of FIT and MTBF hold, without a full stop
// It was struck, and no sum of FIT holds it, since no rate is known.
static inline bool structure_lacks_rate(const StructureSummary *structure) {
  return structure->tally.total > 0 && structure->fit_per_mbit <= 0;
}
// All structures that a fault has struck: AVF weighted by bits; the sum of FIT over those with a rate. Of the others nothing is known: they are in no sum.
Estimate report_chip(const Report *report, Measure measure);
// The same of the faults of a kernel, a launch, a line, a stretch of time.
Estimate mixed_estimate(const Report *report, const MixedTally *tally, Measure measure);
const Tally *mixed_part(const MixedTally *tally, uint32_t structure); // never NULL: of a structure without faults an empty one
Estimate report_outcome(const Report *report, uint8_t outcome);       // the same for one outcome: DUEs by cause
Estimate report_masked(const Report *report);                         // of what does nothing: what is not used, too
Estimate report_fit(const Report *report, Measure measure);
double report_bits(const Report *report);
double report_struck_bits(const Report *report); // of the structures in those sums
// Energy of the run without faults, in nJ; 0: not known, for the machine has no power model or the journal is older.
double report_energy(const Report *report);
double report_note(const Report *report, JournalNote note);        // as a number; 0: there is none
bool report_occupancy(const Report *report, Occupancy *occupancy); // false: the journal is of a version that did not record it
// --twice boards has two GPUs, which work at the same time; everything else has one. Both are struck, so AVFs are means over both; FIT counts both.
uint32_t report_boards(const Report *report);
uint64_t report_time(const Report *report);      // cycles that the run without faults takes: of two boards those of the longer run
double report_scheme_bits(const Report *report); // bits that the protection adds, a second board among them
// MTBF as in the thesis on FlexGripPlus (section 4.2.3), in cycles: the run's length over the share of SDCs.
Estimate report_cycles_between_sdc(const Report *report);

// ---- What DUEs consist of (due.c) --------------------------------------------------------------------------
typedef enum DueRow {
  DUE_CRASH,
  DUE_HANG,
  DUE_DETECTED, // of them the rows that follow
  DUE_TRUE_SDC, // if nobody had answered the detection, this would have come
  DUE_TRUE_CRASH,
  DUE_TRUE_HANG,
  DUE_FALSE,        // a right output
  DUE_NOT_RECORDED, // it is not known
  DUE_ROWS
} DueRow;
extern const char *const due_names[DUE_ROWS]; // "crash", "true_sdc"
typedef struct DueCounts {
  uint64_t faults[DUE_ROWS];
} DueCounts;
bool report_due(const Report *report, DueCounts **by_structure, Diags *diags); // in the report's arena
uint64_t due_faults(const Report *report, const DueCounts *by_structure, DueRow row);
Estimate due_of_structure(const Report *report, const DueCounts *by_structure, uint32_t structure, DueRow row);
Estimate due_of_all(const Report *report, const DueCounts *by_structure, DueRow row); // by bits

// ---- Breakdowns: outcomes by one column, for each structure ----------------------------------------------
typedef enum BreakdownKind {
  BY_PLACE,  // of cells: the shares are their AVFs; of faults drawn from what is used those of the used part
  BY_READER, // of faults that were read: shares of these
  BY_ERROR,  // of SDCs alone: how many of them
} BreakdownKind;
typedef struct BreakdownInfo {
  const char *name, *title; // "bit", "bit of the unit"
  BreakdownKind kind;
} BreakdownInfo;
extern const BreakdownInfo breakdowns[];
extern const uint32_t breakdown_count;
typedef struct BreakdownRow {
  const char *structure;
  const char *key; // "31", "add.f32", "single"
  Tally tally;
  uint64_t errors; // BY_ERROR: SDCs of the structure in all
} BreakdownRow;
typedef struct Breakdown {
  VEC(BreakdownRow) rows; // by structure, then by key
  uint64_t without;       // faults that have nothing in that column
} Breakdown;
bool report_breakdown(const Report *report, uint32_t which, Breakdown *breakdown, Diags *diags); // in the report's arena
// BY_ERROR: the row's share of its structure's SDCs.
Estimate breakdown_share(const Report *report, const BreakdownRow *row);

// ---- Outputs -----------------------------------------------------------------------------------------
// Where long exports go, piece by piece. False: cannot be written, stop.
typedef struct Sink {
  bool (*write)(void *context, const char *bytes, size_t count);
  void *context;
} Sink;

// Tables as CSV.
typedef enum CsvTable {
  CSV_FAULTS,
  CSV_CAMPAIGN,
  CSV_STRUCTURES,
  CSV_KERNELS,
  CSV_LAUNCHES,
  CSV_LINES,
  CSV_TIME,
  CSV_BREAKDOWN,
  CSV_SEVERITY,
  CSV_COUNT
} CsvTable;
extern const char *const csv_names[CSV_COUNT]; // "faults", "campaign", ...

void report_text(const Report *report, Text *out);         // tables for a terminal, what happened in one sentence before them
void report_brief_text(const Report *report, Text *out);   // that sentence and how full the machine was: for the end of a campaign
void report_sentence(const Report *report, Text *out);     // that sentence; nothing where no share may be shown
void report_settled_text(const Report *report, Text *out); // by which shortcuts the campaign got there: for developers
bool report_breakdown_text(const Report *report, uint32_t which, Text *out, Diags *diags);
bool report_csv(const Report *report, CsvTable table, const Sink *out); // false: not written, or the journal is damaged
bool report_json(const Report *report, const Sink *out);                // summaries and every fault; false likewise
bool report_page(const Report *report, const char *path, Text *out);    // one HTML page; path: the journal's, for replay commands

// ---- Several journals --------------------------------------------------------------------------------
// Two of them, e.g. with and without a protection: what it removes, with intervals, and what it costs.
bool report_compare(const Report *a, const Report *b, Text *out, Diags *diags);
// The first against each of the others: a row or an object for each measure and structure.
bool report_compare_csv(Report *const *reports, uint32_t count, Text *out, Diags *diags);
bool report_compare_json(Report *const *reports, uint32_t count, Text *out, Diags *diags);
// Any number: programs by protections. Text, CSV or JSON.
typedef enum MatrixForm { MATRIX_TEXT, MATRIX_CSV, MATRIX_JSON, MATRIX_PAGE } MatrixForm;
bool report_matrix(Report *const *reports, uint32_t count, MatrixForm form, Text *out, Diags *diags);

#endif
