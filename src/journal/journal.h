// The journal of a campaign: one SQLite file (WAL) with the spec, the golden run, every fault and its outcome, and enough
// to replay any fault exactly. Whatever a report shows comes from here. Opened by one writer at a time; readers at any time.
// Rows are committed in batches; what progress has reported done is on disk. docs/journal.md is the schema for its readers.
#ifndef REDOUBT_JOURNAL_H
#define REDOUBT_JOURNAL_H

#include "base/base.h"

// Of the file's format and of what its rows mean (PRAGMA user_version). Journals of the oldest version and later are read.
enum { JOURNAL_VERSION = 6, JOURNAL_OLDEST = 3 };

typedef enum Outcome {
#define OUTCOME(id, name, group, part, meaning) OUTCOME_##id,
#include "journal/outcome.def"
#undef OUTCOME
  OUTCOME_COUNT
} Outcome;
typedef struct OutcomeInfo {
  const char *name;  // "sdc-critical"
  const char *group; // "sdc": what tables add up
  const char *part;  // of a DUE: "crash", "hang", "detected"; else ""
  const char *meaning;
} OutcomeInfo;
extern const OutcomeInfo outcome_info[OUTCOME_COUNT];

// How a fault was settled.
typedef enum Settled {
  SETTLED_RUN,         // simulated to the end
  SETTLED_HASH,        // simulated until the state equalled the golden run's
  SETTLED_BLOCK,       // simulated until the struck block had ended, then followed
  SETTLED_FOLLOWED,    // its wrong values were followed through the program, whose course does not depend on time
  SETTLED_OVERWRITTEN, // the next access of the cell is a write
  SETTLED_UNREAD,      // the cell is never accessed again
  SETTLED_CLASS,       // same outcome as another fault of its equivalence class
  SETTLED_COUNT
} Settled;
extern const char *const settled_text[SETTLED_COUNT];

// The same, as the self-check tells them apart: by what an outcome rests on.
typedef enum Way {
  WAY_UNREAD,    // nothing read what was struck
  WAY_CLASS,     // another fault does the same
  WAY_FOLLOWED,  // wrong values were followed through the program
  WAY_SIMULATED, // on a machine in the state of the run without faults
  WAY_COUNT
} Way;
extern const Way settled_way[SETTLED_COUNT];
extern const char *const way_text[WAY_COUNT]; // "followed"

// How the wrong elements of an output lie.
typedef enum WrongPattern {
  PATTERN_NONE, // no element is wrong, or it is not known which
  PATTERN_SINGLE,
  PATTERN_ROW,       // next to each other, or in one row of a matrix
  PATTERN_COLUMN,    // in one column of a matrix
  PATTERN_BLOCK,     // they fill at least half of a rectangle of a matrix
  PATTERN_SCATTERED, // none of these, or in several outputs
  PATTERN_COUNT
} WrongPattern;
extern const char *const pattern_text[PATTERN_COUNT];

// What identifies a campaign: a journal is resumed only where all of it is equal. All text, in the order of the table `meta`.
typedef struct JournalMeta {
  const char *target;     // "scalarprod", "kernel.ptx", "./app"
  const char *arguments;  // everything that decides the run: size, parameters, seed, kernel arguments, one per line
  const char *machine;    // name
  const char *settings;   // key=value of every parameter, one per line
  const char *protection; // "none", "secded:rf"
  const char *model;      // "flip"
  const char *structures; // "rf,shared"
  const char *window;     // when faults strike: "all", "kernel:NAME", "cycles:A-B"
  const char *standing;   // a fault that stands in every run; "" or NULL: none
  const char *sampling;   // which faults: "by structure", "by bits", "every bit"; "" or NULL: dealt evenly, as before version 6, or none
  const char *draw;       // from what: "all", "used"; "" or NULL: all
  uint64_t program_hash, layout_hash, seed;
  const char *tolerance;  // of outputs, one per line; "" or NULL: none
  uint64_t timeout;       // multiple of the golden run's cycles at which a run counts as endless
  uint64_t shard, shards; // 0 of 1 for a whole campaign
  uint64_t first, end;    // a part of a campaign: faults with these numbers, without `end`; end 0: all
  const char *enough;     // of these structures the part has no faults, since enough was known of them; "" or NULL: none
} JournalMeta;

typedef struct GoldenRow { // the golden run, one row per launch; totals are sums
  uint32_t launch;
  const char *kernel; // as the program names it; the file also has its C++ name
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
  uint32_t registers; // per thread; 0: not known
  uint32_t source;    // that its lines count in; 0: not known
  uint32_t needs;     // of its registers: those that the code names; 0: not known
} GoldenRow;

typedef enum StructureKind {
  KIND_NOT_KNOWN, // journals before version 5
  KIND_CELLS,     // cells on the chip
  KIND_OUTPUT,    // of a functional unit: logic, no cells
  KIND_MEMORY,    // device memory, outside the chip
  KIND_SCHEME,    // a protection's own
  KIND_COUNT
} StructureKind;
extern const char *const structure_kinds[KIND_COUNT]; // "cells"; "" where not known

typedef struct StructureRow { // a region that faults may strike
  uint16_t region;
  const char *name, *title;
  uint64_t rows;
  uint32_t units, bits;
  double used;             // mean share of the cells that belong to resident work: AVF-util's denominator; 0 = not known
  double raw_fit_per_mbit; // how often the campaign's fault model happens by itself; 0: not known
  uint8_t kind;            // StructureKind
  double needed;           // as used, without registers that are padding; 0: not known, or not recorded
  const char *origin;      // of its cells: "modelled", ... (region.h); NULL: not recorded
  const char *stands_for;  // what a real GPU has in their place; NULL: the same cells
  double drawn;            // share of its bits and cycles that its faults are drawn from; what strikes the rest is masked, exactly. 1: all
} StructureRow;

// The same of a launch, or of a slice of the time in which faults strike. Where faults are drawn from all there are no such rows.
enum { JOURNAL_SLICES = 50 };
typedef struct DrawnRow {
  uint16_t region;
  uint32_t launch; // 0: of a slice
  int64_t slice;   // NOTHING: of a launch
  double drawn;
} DrawnRow;

enum { NOTHING = -1 }; // in a column: NULL

typedef struct FaultRow { // docs of the fields: fault.def
  uint64_t id;
  const char *fault, *model;
  uint16_t region;
  int64_t sm, warp, reg, row, lane, unit, bit;
  uint64_t cycle;
  uint32_t launch; // 0: none
  int64_t block, pc;
  const char *opcode; // "": not known
  uint32_t line;      // 0: none or not known
  uint8_t outcome, settled;
  uint64_t class_of;
  uint64_t cycles; // 0: wrong or none
  uint64_t wrong;
  double worst;
  uint8_t pattern;
  const char *note;
  int64_t read;
  uint8_t unanswered; // OUTCOME_COUNT: not known
  int64_t number;     // NOTHING: journals before version 6
  int64_t verified;   // 1 or NOTHING
} FaultRow;
FaultRow fault_row(void); // with nothing in any column

// ---- Files -------------------------------------------------------------------------------------------
typedef struct Journal Journal;
// Creates, or opens to resume. A file that is no journal, of another version, or of another campaign is refused with what differs.
Journal *journal_open(const char *path, const JournalMeta *meta, Diags *diags);
Journal *journal_read(const char *path, Diags *diags); // read only; one of an older version is read as if it were of this
void journal_close(Journal *journal);
const JournalMeta *journal_meta(const Journal *journal);
const char *journal_path(const Journal *journal);

// ---- Notes -------------------------------------------------------------------------------------------
typedef enum JournalNote {
#define NOTE(id, key, meaning) NOTE_##id,
#include "journal/note.def"
#undef NOTE
  NOTE_COUNT
} JournalNote;
extern const char *const note_keys[NOTE_COUNT];
bool journal_put_note(Journal *journal, JournalNote note, const char *value, Diags *diags);
const char *journal_note(const Journal *journal, JournalNote note);                             // "": there is none
bool journal_replace_note(const char *path, JournalNote note, const char *value, Diags *diags); // of a journal that nobody writes

// What was asked for. A new plan leaves what is there, but knows nothing of it yet.
typedef struct JournalPlan {
  uint64_t faults;           // numbered from 0; a shard has every `shards`-th of them. With a margin: at most
  double margin, confidence; // margin 0: a number of faults was asked for
} JournalPlan;
bool journal_begin(Journal *journal, const JournalPlan *plan, Diags *diags);
// Every fault with a smaller number that the plan wants is there; `complete`: and more are not wanted.
bool journal_reached(Journal *journal, uint64_t below, bool complete, Diags *diags);

// How far a journal has come. Faults that are settled quickly are written first and most of them are masked: shares over a part of the
// faults are biased, unless that part is all faults below a number.
typedef struct JournalState {
  bool complete;
  uint64_t asked;  // of this journal: of a shard its part; 0: not known (journals of version 3)
  uint64_t done;   // rows
  uint64_t below;  // faults with a smaller number are all there: a fair sample
  uint64_t sample; // how many these are
} JournalState;
JournalState journal_state(const Journal *journal);
// From now on only faults with smaller numbers are read, by cursors, counts and the view `results`.
bool journal_limit(Journal *journal, uint64_t below, Diags *diags);

// ---- Batches (rounds.c) --------------------------------------------------------------------------------
// Faults are settled in batches. A campaign with a margin looks up after each: structures of which enough is known get no more faults.
uint32_t journal_batch(bool has_margin, uint32_t structures); // faults of one
typedef struct RoundStructure {
  uint16_t region;
  const char *name;
  uint64_t settled, bad; // faults, of whole batches; those that are not masked, late or corrected
  double drawn;          // StructureRow.drawn
  bool is_tight;         // its interval is narrow enough
} RoundStructure;
// How far the parts of a campaign with a margin have come. Rows are taken in order of their numbers. Zero-initialise.
typedef struct Rounds {
  Arena *arena;
  uint64_t total;            // faults at most
  double margin, confidence; // margin 0: all of them
  uint64_t batch;
  uint64_t batch_end; // of the one that rows belong to
  bool is_sure;       // every structure's interval was narrow enough when the batch before batch_end had ended
  VEC(RoundStructure) structures;
} Rounds;
void rounds_begin(Rounds *rounds, const Journal *first, Arena *arena); // what was asked for, and which structures
bool rounds_take(Rounds *rounds, const FaultRow *row);                 // whether one machine would have settled it
void rounds_end(Rounds *rounds, uint64_t end);                         // all rows with smaller numbers were taken
uint64_t rounds_below(const Rounds *rounds, uint64_t end);             // after that: up to where one machine would have come
// How many faults the next batches should have in all, as far as what is known lets one foresee: whole batches, at least one.
uint64_t rounds_foresee(const Rounds *rounds);

// ---- Rows --------------------------------------------------------------------------------------------
bool journal_put_golden(Journal *journal, const GoldenRow *rows, uint32_t count, Diags *diags);
bool journal_put_structures(Journal *journal, const StructureRow *rows, uint32_t count, Diags *diags);
bool journal_put_drawn(Journal *journal, const DrawnRow *rows, uint32_t count, Diags *diags);
// PTX that lines count in, numbered from 1.
bool journal_put_source(Journal *journal, uint32_t number, const char *name, const char *text, Diags *diags);
bool journal_put_fault(Journal *journal, const FaultRow *row, Diags *diags); // a full disk is a diagnostic, nothing is lost
bool journal_commit(Journal *journal, Diags *diags);
uint64_t journal_fault_count(const Journal *journal);
// In order of id. The callback's false stops. False: stopped, or the file is damaged.
bool journal_each_fault(const Journal *journal, bool (*each)(void *context, const FaultRow *row), void *context);
bool journal_each_golden(const Journal *journal, bool (*each)(void *context, const GoldenRow *row), void *context);
bool journal_each_structure(const Journal *journal, bool (*each)(void *context, const StructureRow *row), void *context);
bool journal_each_drawn(const Journal *journal, bool (*each)(void *context, const DrawnRow *row), void *context);
// The same one at a time, to walk two journals side by side. A row's text lasts until the next.
typedef struct FaultCursor FaultCursor;
FaultCursor *journal_faults(const Journal *journal);
bool journal_next_fault(FaultCursor *cursor, FaultRow *row); // false at the end
bool journal_end_faults(FaultCursor *cursor);                // frees it; false: the file is damaged
// What went wrong when reading returned false, as a diagnostic; always false.
bool journal_damaged(const Journal *journal, Diags *diags);
bool journal_find_fault(const Journal *journal, uint64_t id, FaultRow *row, Arena *arena);

// ---- Queries: any SELECT over the tables and views (docs/journal.md) ------------------------------------
typedef enum CellKind { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT } CellKind;
typedef struct Cell {
  CellKind kind;
  int64_t integer;  // of every kind as SQLite converts it
  double real;      // likewise
  const char *text; // of CELL_TEXT; "" otherwise; until the next row
} Cell;
typedef struct Query Query;
Query *journal_query(const Journal *journal, const char *sql); // never NULL; query_end tells whether it was good
uint32_t query_columns(const Query *query);
const char *query_name(const Query *query, uint32_t column);
bool query_next(Query *query);
Cell query_cell(const Query *query, uint32_t column);
bool query_end(Query *query); // frees it; false: the file is damaged, or the text is no SELECT

// ---- ACE analysis (ace.def; docs/avf.md) -----------------------------------------------------------------
typedef enum JournalAceTable {
#define TABLE(id, name, columns, meaning) JOURNAL_ACE_##id,
#include "journal/ace.def"
#undef TABLE
  JOURNAL_ACE_TABLES
} JournalAceTable;
bool journal_begin_ace(Journal *journal, Diags *diags); // empty tables, whatever was there
bool journal_put_ace(Journal *journal, JournalAceTable table, const Cell *cells, uint32_t count, Diags *diags); // a row
bool journal_has_ace(const Journal *journal);

// ---- Whole journals ------------------------------------------------------------------------------------
// Shards or parts of one campaign, each complete, into one journal: the same content that one machine would have written. Parts may be
// given in any order; of a campaign with a margin they may hold more faults than it needs, which are left out.
bool journal_merge(const char *path, const char *const *shards, uint32_t count, Diags *diags);
// Content as text, in a fixed order: equal journals give equal text, whatever the file's bytes. Without where it comes from.
void journal_dump(const Journal *journal, Text *out);
// A hash of every row that says what was found, whatever the file's bytes. Without where it comes from (date, command, host). False: damaged.
bool journal_hash(const Journal *journal, uint64_t *hash);

#endif
