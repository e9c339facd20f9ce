// What ACE analysis found (redoubt avf), from the tables of a journal: AVF by structure, kernel, line and time, un-ACE by cause, and beside it
// what injection found.
#ifndef REDOUBT_REPORT_AVF_H
#define REDOUBT_REPORT_AVF_H

#include "journal/journal.h"

typedef enum AvfTable { AVF_STRUCTURES, AVF_KERNELS, AVF_LINES, AVF_SLICES, AVF_AGAINST, AVF_CAUSES, AVF_LAUNCHES, AVF_TABLES } AvfTable;
extern const char *const avf_tables[AVF_TABLES]; // "structures", "kernels", ...

// False: the journal is damaged, or has nothing of the kind.
bool avf_text(const Journal *journal, Text *out); // for a terminal
bool avf_csv(const Journal *journal, AvfTable table, Text *out);
bool avf_json(const Journal *journal, Text *out);                // all tables
bool avf_page(const Journal *journal, Text *out);                // one HTML page
bool avf_compare(const Journal *a, const Journal *b, Text *out); // two runs side by side, structure by structure
// Faults that did harm in a bit-cycle that was called un-ACE: a defect of one of the two. UINT64_MAX: not known.
uint64_t avf_violations(const Journal *journal);

#endif
