// Figures for a safety case, from journals alone: what faults do by structure and failure mode, how much of it mechanisms detect, and
// the metrics of ISO 26262-5 with intervals. docs/safety.md says what each word means here and what is not claimed.
//
// SPFM, LFM, PMHF and their targets agree with public summaries, which docs/safety.md names. From memory, not checked: that bits which a program
// does not use stay out of SPFM and LFM, that transient and permanent faults are judged apart, the classes of coverage. The standard's text was not at hand.
#ifndef REDOUBT_FMEDA_H
#define REDOUBT_FMEDA_H

#include "report/findings.h"
#include "report/report.h"

// Transient and permanent faults are reported apart.
typedef enum FmedaType { FMEDA_TRANSIENT, FMEDA_PERMANENT, FMEDA_TYPES } FmedaType;
extern const char *const fmeda_types[FMEDA_TYPES + 1]; // the last: "together"

// What a fault does to the program if no mechanism is there.
typedef enum FailureMode { MODE_NONE, MODE_LATE, MODE_TOLERABLE, MODE_WRONG, MODE_TRAP, MODE_HANG, MODE_FOUND, FAILURE_MODES } FailureMode;
extern const char *const failure_modes[FAILURE_MODES]; // "wrong output"

// What becomes of it: the shares of a structure. They add up to 1.
typedef enum FaultClass {
  CLASS_UNUSED,   // harmless, and it is not known that the program uses the struck bits: it does not read them while the fault is there
  CLASS_HARMLESS, // it does, and comes to no harm
  CLASS_DETECTED,
  CLASS_RESIDUAL,
  CLASS_LATENT,
  FAULT_CLASSES
} FaultClass;
extern const char *const fault_classes[FAULT_CLASSES]; // "not_used"

typedef struct FmedaRate { // FIT of a whole structure, given by the user
  FmedaType type;
  const char *structure;
  double fit, factor; // it may be so many times larger or smaller; 1: none is given
} FmedaRate;

// What the figures are to be about.
typedef struct FmedaScope {
  uint32_t type; // FMEDA_TYPES: both
  const char *structure;
} FmedaScope;

typedef struct FmedaOptions {
  double confidence;
  bool traps, watchdog;   // the platform's own mechanisms are there: errors that the machine reports; a limit on the run's time
  bool tolerable_is_safe; // wrong results that the program's own check accepts violate nothing
  bool silent;            // corrections are not reported: permanent faults that are corrected stay latent
  double ftti, reaction;  // seconds; ftti 0: not given. A detection counts if it and the reaction to it come within it
  double test_interval;   // seconds between two runs of the tests
  double lifetime;        // hours
  bool count_unused;      // bits that the program does not use count as safe, in SPFM and LFM
  VEC(FmedaRate) rates;
  VEC(FmedaScope) scope; // empty: the chip
} FmedaOptions;

// One campaign.
typedef enum FmedaRole { ROLE_BASE, ROLE_MECHANISM, ROLE_SECOND, ROLE_TEST } FmedaRole;
extern const char *const fmeda_roles[ROLE_TEST + 1];
typedef struct FmedaJournal {
  const Report *report;
  FmedaRole role;
  const char *mechanism; // its name: the protection, or a test's program; "": none
  uint64_t content;      // hash of what it holds
} FmedaJournal;

// How much of the dangerous faults a mechanism keeps from doing harm. Paired: on the same faults.
typedef struct Coverage {
  const char *mechanism;
  bool is_paired;
  uint64_t dangerous, left; // of the faults without mechanism; of these with it. Paired only
  Estimate danger, leaves;  // the same as shares of all faults
  Estimate share;           // 1 - left / dangerous
  uint64_t induced;         // harmless without it, dangerous with it
} Coverage;

typedef struct ModeRow {
  uint64_t faults, left; // of this mode; of these residual, with everything that is there
  Estimate share;        // of the structure's faults
  Estimate coverage;     // of dangerous modes: 1 - left / faults
} ModeRow;

// A structure under one fault model.
typedef struct FmedaCell {
  const char *structure, *title, *model;
  FmedaType type;
  uint64_t bits;      // of one board
  uint32_t boards;    // that the system has: two if one of its mechanisms is --twice boards
  double fit;         // raw, of all boards; 0: no rate is known, and no sum holds it
  double machine_fit; // the machine file's, whatever the user gives
  bool is_given;      // the rate is the user's
  uint64_t rates;     // whose product it is: bits of RateId, or RATES + the place of the user's
  bool is_outside;    // of the scope: in no sum
  bool is_part;       // some journal struck a part of it alone
  uint8_t kind;       // StructureKind
  uint64_t faults;    // that the shares are of
  double drawn;       // share of the structure that they are drawn from (--draw used); what strikes the rest is masked
  FaultClass undrawn; // which class that rest is of
  uint64_t left_out;  // further ones without mechanisms that some journal lacks
  bool is_own_state;  // of a mechanism; of journals that do not say: no campaign without mechanisms has it
  uint64_t counts[FAULT_CLASSES];
  uint64_t unrecorded; // of CLASS_UNUSED: no journal says whether the bits are used
  Estimate shares[FAULT_CLASSES];
  Estimate used, rest; // what SPFM is a share of; what LFM is: without residual ones
  ModeRow modes[FAILURE_MODES];
  VEC(Coverage) coverages;         // of each mechanism
  Coverage together;               // of all that were measured on the same faults; mechanism NULL: none
  double best, independent;        // its lower bound, the best of them; its upper bound if they had nothing to do with each other
  uint32_t first_tried, first_bad; // first faults of mechanisms tried with second ones; of these with which a second one did harm
  uint32_t first_idle;             // further ones whose second faults were all masked and unread: they tell nothing
  uint64_t pairs, bad_pairs;
  const FmedaJournal *measured[16]; // what the shares come from
  uint32_t measured_count;
} FmedaCell;

typedef enum MetricId { METRIC_SPFM, METRIC_LFM, METRIC_PMHF, METRICS } MetricId;
typedef enum Asil { ASIL_B, ASIL_C, ASIL_D, ASILS } Asil;
typedef struct MetricInfo {
  const char *name, *unit;
  bool is_share; // more is better; else less is
  double targets[ASILS];
} MetricInfo;
extern const MetricInfo fmeda_metrics[METRICS];
extern const char *const asil_names[ASILS];
// The interval decides. Shown: all of it meets the target. Missed: none of it does. Withheld: a finding says why.
typedef enum Standing { STANDING_UNKNOWN, STANDING_SHOWN, STANDING_NOT_SHOWN, STANDING_MISSED, STANDING_WITHHELD, STANDINGS } Standing;
extern const char *const standing_text[STANDINGS];
Standing metric_standing(MetricId metric, Estimate estimate, Asil asil); // of the number alone

typedef struct FmedaSums { // FIT
  bool is_known;           // every structure of the scope that was struck has a rate
  double raw;
  Estimate used, rest; // as of a structure
  Estimate classes[FAULT_CLASSES];
  Estimate metrics[METRICS];
  Estimate dual; // part of the PMHF: a latent fault, then one that its mechanism would have found
} FmedaSums;

// Detection times of a mechanism, in seconds.
typedef struct FmedaTimes {
  const char *mechanism;
  uint64_t detected, late; // late: not within the FTTI
  double median, most;
} FmedaTimes;

// A finding that keeps standings from being told.
typedef struct FmedaBlock {
  uint32_t finding; // its place
  uint32_t rows;    // bits: METRIC * (FMEDA_TYPES + 1) + type
} FmedaBlock;

typedef struct Fmeda {
  Arena *arena;
  const FmedaOptions *options;
  VEC(FmedaJournal) journals;
  VEC(FmedaCell) cells;            // by type, then in the order of the journals
  FmedaSums sums[FMEDA_TYPES + 1]; // intervals hold every rate within its factor
  VEC(FmedaTimes) times;
  double clock_hz;
  const char *scope;              // in words
  double chip_share[FMEDA_TYPES]; // of the chip's raw rate, what the figures are about; below 0: not known
  Findings findings;
  VEC(FmedaBlock) blocks;
} Fmeda;

// All of it. NULL, with diagnostics: journals that do not belong together, are unfinished or damaged. fmeda_free.
// `test_count`: so many of the reports, the last ones, are of test programs.
Fmeda *fmeda_read(Report *const *reports, uint32_t count, uint32_t test_count, const FmedaOptions *options, Diags *diags);
void fmeda_free(Fmeda *fmeda);
const char *coverage_class(double coverage); // "high", "medium", "low", "none"
// The coverage of a mechanism over all structures of a type that it was measured on; not known: none.
Estimate fmeda_coverage(const Fmeda *fmeda, FmedaType type, const char *mechanism);
// The same with everything that is there.
Estimate fmeda_union(const Fmeda *fmeda, FmedaType type);

// A row of the table of metrics: SPFM and LFM are judged by fault type, PMHF as a whole.
bool fmeda_is_judged(const Fmeda *fmeda, MetricId metric, uint32_t type);
bool fmeda_has_row(const Fmeda *fmeda, MetricId metric, uint32_t type);
Standing fmeda_standing(const Fmeda *fmeda, MetricId metric, uint32_t type, Asil asil);
void fmeda_reasons(const Fmeda *fmeda, MetricId metric, uint32_t type, Text *out); // why it is withheld, as findings say it

void fmeda_text(const Fmeda *fmeda, Text *out);
typedef enum FmedaTable { FMEDA_MODES, FMEDA_COVERAGE, FMEDA_METRICS, FMEDA_FINDINGS, FMEDA_MANIFEST, FMEDA_TABLES } FmedaTable;
extern const char *const fmeda_tables[FMEDA_TABLES]; // "fmeda", ...
void fmeda_csv(const Fmeda *fmeda, FmedaTable table, Text *out);
void fmeda_json(const Fmeda *fmeda, Text *out);
void fmeda_page(const Fmeda *fmeda, Text *out);

#endif
