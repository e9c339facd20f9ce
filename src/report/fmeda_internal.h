// What the files of the FMEDA share.
#ifndef REDOUBT_FMEDA_INTERNAL_H
#define REDOUBT_FMEDA_INTERNAL_H

#include "report/fmeda.h"
#include "report/report_internal.h"

extern const char fmeda_page_html[]; // fmeda.html, as text

typedef struct Mark { // one fault of a journal
  uint64_t id, hash;  // hash: of the fault's text
  uint64_t cycle, cycles;
  uint16_t region;
  uint8_t outcome;
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
} SecondFaults;

// ---- What becomes of faults (fmeda_class.c) -------------------------------------------------------------
void cell_classify(const Fmeda *fmeda, FmedaCell *cell, const CellSources *sources);
void cell_add_second(const Fmeda *fmeda, FmedaCell *cell, const SecondFaults *second); // after that
void cell_finish(const Fmeda *fmeda, FmedaCell *cell);                                 // then: shares
void fmeda_measure_times(Fmeda *fmeda, MarkVec *const *marks);

// ---- Sums (fmeda_figures.c) -----------------------------------------------------------------------------
void fmeda_sum(Fmeda *fmeda);
Estimate share_estimate(uint64_t hits, uint64_t trials, double confidence); // not known without trials

#endif
