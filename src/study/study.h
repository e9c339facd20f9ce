// Studies: text files that say what to run, what to measure and what was published. The engine runs their cells, keeps what they
// gave in one SQLite file, judges every claim and shows the paper beside us.
//
//   study_read -> study_cells -> (each cell run once, by the command) -> study_collect -> study_judge -> text, CSV, JSON, page
#ifndef REDOUBT_STUDY_H
#define REDOUBT_STUDY_H

#include "base/base.h"

// ---- The file ----------------------------------------------------------------------------------------------
typedef enum StudySection {
  SECTION_STUDY,
  SECTION_RUN,
  SECTION_CAMPAIGN,
  SECTION_MEASURE,
  SECTION_CLAIM,
  SECTION_TABLE,
  SECTION_CHART,
  SECTIONS
} StudySection;
extern const char *const study_section_names[SECTIONS]; // "study", "run", ...

typedef struct StudyKey {
  StudySection section;
  const char *name;
  bool is_needed;
  const char *meaning;
} StudyKey;
extern const StudyKey study_keys[]; // study.def
extern const uint32_t study_key_count;

typedef struct StudyValue {
  const StudyKey *key;
  const char *text;
  bool is_quick; // quick.KEY: instead of KEY with --quick
  int line;
} StudyValue;

typedef struct StudyPart { // [run base]
  StudySection section;
  const char *name;
  int line;
  VEC(StudyValue) values;
} StudyPart;

// Studies that are built in: study.ini and the CSV files of studies/NAME.
typedef struct BuiltinStudyFile {
  const char *study, *name, *text;
} BuiltinStudyFile;
extern const BuiltinStudyFile builtin_study_files[];
extern const uint32_t builtin_study_file_count;

typedef struct StudyFile {
  Arena *arena;
  const char *path, *folder; // as the user named it
  const char *builtin;       // its name; NULL: a file
  VEC(StudyPart) parts;      // in the order of the file; the first is [study]
  double confidence;
} StudyFile;
// NULL, with diagnostics: cannot be read, or says what no study can. study_close.
StudyFile *study_read(const char *path, Diags *diags);
StudyFile *study_parse(const char *path, const char *text, Diags *diags);
StudyFile *study_builtin(const char *name, const char *file,
                         Diags *diags); // file: "study.ini", "beyond.ini"; NULL, with a diagnostic: there is none of that name
void study_close(StudyFile *study);
const char *study_value(const StudyPart *part, const char *key); // NULL: not said
int study_line(const StudyPart *part, const char *key);          // of the key; of the section where the key is not said
const StudyPart *study_part(const StudyFile *study, StudySection section, const char *name);

// ---- Cells: one run or one campaign each ----------------------------------------------------------------------
typedef struct StudySweep {
  const char *name, *value;
} StudySweep;
enum { STUDY_SWEEPS = 8, STUDY_CELLS = 100000 };

typedef struct StudyCell {
  const StudyPart *part;
  const char *target, *machine, *size; // size: "" where none is said
  StudySweep sweeps[STUDY_SWEEPS];
  uint32_t sweep_count;
  VEC(const char *) words; // after `redoubt`: all that decides its result
  uint64_t program;        // a hash of what will run it
  uint64_t hash;           // of the words, the files that they name, and the program
  bool may_fail;           // wrong results and traps are results
  const char *file;        // "cells/0123456789abcdef.json" or ".db", in the study's folder of results
} StudyCell;
typedef struct StudyCells {
  Arena *arena;
  VEC(StudyCell) items;
} StudyCells;
// Names of sets (@rise) become their workloads: an arena's NULL-ended list; NULL: there is no such set.
typedef const char *const *StudySet(const char *name, Arena *arena);
typedef struct StudyChoice {
  bool quick;
  uint64_t program; // a hash of the program that will run the cells
  StudySet *set;
} StudyChoice;
bool study_cells(const StudyFile *study, const StudyChoice *choice, Arena *arena, StudyCells *cells, Diags *diags);
void study_command(const StudyCell *cell, Text *out);                  // "redoubt run ..." as a shell takes it
void study_words(const char *const *words, uint32_t count, Text *out); // the same of a cell's words

// ---- Results ---------------------------------------------------------------------------------------------------
typedef struct StudyResults StudyResults; // the SQLite file: a table for each run and campaign, and one for each CSV beside the study
// Reads what the cells have written under `folder`, and every CSV file beside the study. Made anew each time. NULL after errors.
StudyResults *study_collect(const StudyFile *study, const StudyCells *cells, const char *folder, Diags *diags);
// The same in memory and without rows, before anything is run. `columns`: those of a run's statistics, NULL after the last.
StudyResults *study_shape(const StudyFile *study, const StudyCells *cells, const char *const *columns, Diags *diags);
void study_results_close(StudyResults *results);

// A table as SQL gives it: texts and numbers.
typedef enum StudyDatumKind { DATUM_NOTHING, DATUM_NUMBER, DATUM_TEXT } StudyDatumKind;
typedef struct StudyDatum {
  StudyDatumKind kind;
  double number;
  const char *text; // of a number too
} StudyDatum;
typedef struct StudyTable {
  VEC(const char *) columns;
  VEC(StudyDatum *) rows; // each with a datum for every column
} StudyTable;
bool study_query(StudyResults *results, const StudyPart *part, Arena *arena, StudyTable *table, Diags *diags); // its `sql`
uint32_t study_column(const StudyTable *table, const char *name);                                              // UINT32_MAX: none

// ---- Findings --------------------------------------------------------------------------------------------------
// How a number of ours stands to a published one.
typedef enum Finding {
  FINDING_AGREES,
  FINDING_IN_PART, // of several: some agree
  FINDING_DIFFERS,
  FINDING_NOT_DECIDED, // the interval is too wide
  FINDING_CANNOT,      // cannot be compared
  FINDING_NOT_JUDGED,  // the quick form has values and no findings
  FINDINGS
} Finding;
extern const char *const finding_names[FINDINGS];

typedef struct Published { // a number, or where it lies
  double low, high;        // both the same: the number
} Published;
bool published_parse(const char *text, Published *published);
typedef struct Tolerance {
  double absolute, relative;
} Tolerance;
bool tolerance_parse(const char *text, Tolerance *tolerance);

typedef struct Ours { // low and high the same as value: no chance in it
  double value, low, high;
} Ours;
Finding finding_of_figure(const Ours *ours, const Published *published, Tolerance tolerance);
Finding finding_of_trend(const Ours *ours); // above 0
Finding finding_of_all(const Finding *findings, uint32_t count);
// Pairs of one kind that a trend is claimed of, where each may be clear by chance: decided when at least half of them are.
Finding finding_of_group(const Finding *findings, uint32_t count);

typedef struct StudyJudged {
  const StudyPart *part;
  Finding finding;
  const char *reason; // FINDING_CANNOT, or which parameter was fitted; NULL
  StudyTable table;
  Finding *rows; // of the table; NULL: they are not judged
} StudyJudged;
typedef struct StudyShown { // a table or a chart
  const StudyPart *part;
  StudyTable table;
} StudyShown;
typedef struct StudyOutcome {
  const StudyFile *study;
  const StudyCells *cells;
  bool quick;
  VEC(StudyJudged) claims;
  VEC(StudyShown) shown;
} StudyOutcome;
// Every claim, table and chart, in the order of the file.
bool study_judge_all(const StudyFile *study, const StudyCells *cells, bool quick, StudyResults *results, Arena *arena,
                     StudyOutcome *outcome, Diags *diags);

// What of the measures, claims, tables and charts is wrong whatever the cells give. Known before anything is run.
bool study_check(const StudyFile *study, const StudyCells *cells, const char *const *columns, Diags *diags);

// ---- Outputs ---------------------------------------------------------------------------------------------------
void study_as_text(const StudyOutcome *outcome, Text *out);
void study_table_csv(const StudyTable *table, Text *out);
char *study_as_json(const StudyOutcome *outcome); // free
void study_as_html(const StudyOutcome *outcome, Text *out);

// ---- The index: every claim of every paper -----------------------------------------------------------------------
typedef struct StudyIndex {
  bool quick;
  const char *commit;        // of the program that ran them
  VEC(StudyOutcome) studies; // that have been run; each built in
} StudyIndex;
typedef struct IndexRow {
  const char *study, *name, *text, *place, *published, *ours; // "" where there is none
  const char *finding;                                        // its name, or one of the two below
  const char *reason;
  bool fitted;
} IndexRow;
typedef VEC(IndexRow) IndexRows;
extern const char *const index_not_measured; // no study has it
extern const char *const index_not_run;      // its study was not run, or is not finished
void study_index_rows(const StudyIndex *index, Arena *arena, IndexRows *rows);
void study_index_text(const StudyIndex *index, const IndexRows *rows, Text *out);
void study_index_csv(const IndexRows *rows, Text *out);
void study_index_markdown(const StudyIndex *index, const IndexRows *rows, Text *out);
void study_index_html(const StudyIndex *index, const IndexRows *rows, Text *out);

#endif
