// What the files of the FMEDA share.
#ifndef REDOUBT_FMEDA_INTERNAL_H
#define REDOUBT_FMEDA_INTERNAL_H

#include "report/fmeda.h"
#include "report/report_internal.h"

extern const char fmeda_page_html[]; // fmeda.html, as text

typedef struct Mark { // one fault of a journal
  uint64_t number;    // within its structure; of older journals: of the fault
  uint64_t hash;      // of the fault's text
  uint64_t cycle, cycles;
  uint16_t region;
  uint8_t outcome;
  int8_t read; // as the journal has it: 1, 0, or NOTHING
} Mark;
typedef VEC(Mark) MarkVec;

// A structure's faults in one journal, in order of number.
typedef struct Source {
  const FmedaJournal *journal;
  const MarkVec *marks; // of the whole journal
  uint16_t region;
} Source;

enum { MOST_SOURCES = 16 };
// What there is of a structure under one fault model.
typedef struct CellSources {
  Source base; // journal NULL: none
  Source mechanisms[MOST_SOURCES], tests[MOST_SOURCES];
  uint32_t mechanism_count, test_count;
} CellSources;

typedef struct SecondFaults { // a campaign with a first fault that stands
  Source second, alone;       // alone: the same without it; journal NULL: not there
  uint64_t pairs, bad, met;   // met: not masked, or in bits that are read
} SecondFaults;

// ---- What becomes of faults (fmeda_class.c) -------------------------------------------------------------
void cell_classify(const Fmeda *fmeda, FmedaCell *cell, const CellSources *sources);
void count_second(const Fmeda *fmeda, SecondFaults *second); // adds to its counts
void cell_finish(const Fmeda *fmeda, FmedaCell *cell);       // then: shares
void fmeda_measure_times(Fmeda *fmeda, MarkVec *const *marks);

// ---- What the figures are about (fmeda_scope.c) ------------------------------------------------------------
void fmeda_apply_scope(Fmeda *fmeda);                                        // once rates are known, and whose state is whose
bool scope_names(const Fmeda *fmeda, FmedaType type, const char *structure); // it is declared, with this in it
bool scope_wants(const Fmeda *fmeda, FmedaType type);                        // faults of this type
const char *cell_name(const Fmeda *fmeda, const FmedaCell *cell);            // "rf", or of several models "rf stuck0"
bool cell_counts(const FmedaCell *cell, uint32_t type);                      // is in the sums of that type; FMEDA_TYPES: of both
bool is_first_cell(const Fmeda *fmeda, const FmedaCell *cell);               // of its structure and type: models are several cells
double rate_per_mbit(const char *settings, FmedaType type); // of cells on the chip, over all models that the machine has a rate of; 0: none
static inline uint32_t row_bit(MetricId metric, uint32_t type) { return 1u << ((uint32_t)metric * (FMEDA_TYPES + 1) + type); }

// ---- What is to be said beside them (fmeda_findings.c) -----------------------------------------------------
void fmeda_find(Fmeda *fmeda); // at last

// ---- How sure rates are (fmeda_rates.c) --------------------------------------------------------------------
// Rates within their factors: each at its lower or at its upper end. What is a sum or a ratio of sums has its extremes there.
enum { MOST_RATES = 64, MOST_UNSURE = 10 }; // groups of structures that have a rate in common; of these with a factor
typedef struct RateCorner {
  double scale[MOST_RATES];
} RateCorner;
extern const RateCorner rates_as_given;
bool rates_check(const Fmeda *fmeda, Diags *diags); // false: too many have a factor
uint32_t rates_corners(const Fmeda *fmeda);         // how many; 1: no rate has a factor
RateCorner rates_corner(const Fmeda *fmeda, uint32_t corner);
double cell_fit(const FmedaCell *cell, const RateCorner *corner);
double cell_rate_factor(const Fmeda *fmeda, const FmedaCell *cell);
void estimate_hold(Estimate *estimate, Estimate there); // its interval is widened to hold that one
void fmeda_rates_text(const Fmeda *fmeda, Text *out);   // what intervals hold

// ---- Sums (fmeda_figures.c) -----------------------------------------------------------------------------
void fmeda_sum(Fmeda *fmeda);
Estimate share_estimate(uint64_t hits, uint64_t trials, double confidence); // not known without trials
Estimate share_scaled(Estimate share, double drawn);                        // of what the trials are drawn from, as a share of all
Estimate share_rest(Estimate share);                                        // 1 less it

#endif
