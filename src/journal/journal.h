// The journal of a campaign: one SQLite file (WAL) with the spec, the golden run, every fault and its outcome, and enough
// to replay any fault exactly. Whatever a report shows comes from here. Opened by one writer at a time; readers at any time.
// Rows are committed in batches; what progress has reported done is on disk.
#ifndef REDOUBT_JOURNAL_H
#define REDOUBT_JOURNAL_H

#include "base/base.h"

enum { JOURNAL_VERSION = 3 }; // of the file's format and of what its rows mean; no other is read

typedef enum Outcome {
#define OUTCOME(id, name, group, meaning) OUTCOME_##id,
#include "journal/outcome.def"
#undef OUTCOME
  OUTCOME_COUNT
} Outcome;
typedef struct OutcomeInfo {
  const char *name;  // "sdc-critical"
  const char *group; // "sdc": what tables add up
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
  uint64_t program_hash, layout_hash, seed;
  uint64_t timeout;       // multiple of the golden run's cycles at which a run counts as endless
  uint64_t shard, shards; // 0 of 1 for a whole campaign
} JournalMeta;

typedef struct GoldenRow { // the golden run, one row per launch; totals are sums
  uint32_t launch;
  const char *kernel;
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
} GoldenRow;

typedef struct StructureRow { // a region that faults may strike
  uint16_t region;
  const char *name, *title;
  uint64_t rows;
  uint32_t units, bits;
  double used; // mean share of the cells that belong to resident work: AVF-util's denominator; 0 = not known
  double raw_fit_per_mbit;
} StructureRow;

typedef struct FaultRow {
  uint64_t id;       // its number in the campaign: what its random draws are made from
  const char *fault; // text form (fault.h)
  uint16_t region;
  uint64_t cycle;
  uint32_t launch; // during which it struck
  uint32_t line;   // PTX line of the first instruction that read it; 0 = none or not known
  uint8_t outcome, settled;
  uint64_t class_of; // SETTLED_CLASS: the fault that stands for it
  uint64_t cycles;   // of a run with the right output; 0: wrong or none
  uint64_t wrong;    // output elements that differ
  double worst;      // largest relative error among them
  const char *note;  // trap line, detail
} FaultRow;

typedef struct Journal Journal;
// Creates, or opens to resume. A file that is no journal, of another version, or of another campaign is refused with what differs.
Journal *journal_open(const char *path, const JournalMeta *meta, Diags *diags);
Journal *journal_read(const char *path, Diags *diags); // read only
void journal_close(Journal *journal);
const JournalMeta *journal_meta(const Journal *journal);
bool journal_put_golden(Journal *journal, const GoldenRow *rows, uint32_t count, Diags *diags);
bool journal_put_structures(Journal *journal, const StructureRow *rows, uint32_t count, Diags *diags);
bool journal_put_fault(Journal *journal, const FaultRow *row, Diags *diags); // a full disk is a diagnostic, nothing is lost
bool journal_commit(Journal *journal, Diags *diags);
bool journal_has_fault(const Journal *journal, uint64_t id);
uint64_t journal_fault_count(const Journal *journal);
// In order of id. The callback's false stops. False: stopped, or the file is damaged.
bool journal_each_fault(const Journal *journal, bool (*each)(void *context, const FaultRow *row), void *context);
bool journal_each_golden(const Journal *journal, bool (*each)(void *context, const GoldenRow *row), void *context);
bool journal_each_count(const Journal *journal, bool (*each)(void *context, uint16_t region, uint64_t faults),
                        void *context); // by structure
bool journal_each_structure(const Journal *journal, bool (*each)(void *context, const StructureRow *row), void *context);
// The same one at a time, to walk two journals side by side. A row's text lasts until the next.
typedef struct FaultCursor FaultCursor;
FaultCursor *journal_faults(const Journal *journal);
bool journal_next_fault(FaultCursor *cursor, FaultRow *row); // false at the end
bool journal_end_faults(FaultCursor *cursor);                // frees it; false: the file is damaged
// What went wrong when reading returned false, as a diagnostic; always false.
bool journal_damaged(const Journal *journal, Diags *diags);
bool journal_find_fault(const Journal *journal, uint64_t id, FaultRow *row, Arena *arena);
// Shards of one campaign into one journal: the same content that one machine would have written.
bool journal_merge(const char *path, const char *const *shards, uint32_t count, Diags *diags);
// Content as text, in a fixed order: equal journals give equal text, whatever the file's bytes.
void journal_dump(const Journal *journal, Text *out);

#endif
