// The reliability study of the multi-SM FlexGripPlus thesis, repeated: 16 campaigns of 6,970 upsets in the block scheduler.
//
// A fault is a pure function of (seed, campaign, index): a bit, uniform over the bits of the structure, and a cycle, uniform over
// the processing phase. Outcomes come from full simulation or from what is equal to it (golden.c, inject.c); a test compares
// both. Everything the thesis prints stands beside what was found here (thesis.def, verdict.c).
// Source: Faggiano, "An extended RT-level model of an NVIDIA GPU for safety-critical applications", 2022, chapter 4.
#ifndef REDOUBT_STUDY_H
#define REDOUBT_STUDY_H

#include "journal/statistics.h"
#include "machine/g80/g80.h"

typedef enum StudyApp { APP_VECADD, APP_SCALARPROD, APP_GRAY, APP_NN, APP_COUNT } StudyApp;
extern const char *const study_app_name[APP_COUNT];

typedef struct StudyConfig {
  StudyApp app;
  uint32_t sms, grid[2], block[2], blocks_per_core, sps;
  uint64_t start_ns, end_ns; // as the thesis prints them; 0: it does not
  uint32_t gprs;             // registers per thread; 0: as the kernel says
  bool thesis_registers;     // the defect behind Table 2
} StudyConfig;
enum { STUDY_CAMPAIGNS = 16, STUDY_FAULTS = 6970 };
extern const StudyConfig study_configs[STUDY_CAMPAIGNS];
static inline uint32_t study_blocks(const StudyConfig *config) { return config->grid[0] * config->grid[1]; }

// The machine of a configuration, before its first cycle. NULL after errors. cycle_limit 0: none.
Machine *study_machine(const StudyConfig *config, uint64_t cycle_limit, Diags *diags);
bool study_vecadd_right(const StudyConfig *config, const Machine *machine); // of a vector addition that has ended

// ---- Outcomes ----------------------------------------------------------------------------------------------------------
// Finer than the thesis's four classes, because its text can be read in two ways (docs/reproduce.md).
typedef enum StudyOutcome {
  EFFECT_MASKED,   // same results, same time
  EFFECT_TIME,     // same results, another time
  EFFECT_SDC,      // other results, same time
  EFFECT_SDC_TIME, // other results, another time
  EFFECT_HANG,     // nothing can happen any more and the kernel is not done
  EFFECT_TIMEOUT,  // still running at STUDY_LIMIT times the fault-free time
  STUDY_OUTCOMES
} StudyOutcome;
extern const char *const study_outcome_name[STUDY_OUTCOMES];
enum { STUDY_LIMIT = 3 };
typedef enum StudyClass { CLASS_SDC, CLASS_DUE, CLASS_PERFORMANCE, CLASS_MASKED, CLASS_COUNT } StudyClass;
extern const char *const study_class_name[CLASS_COUNT];
// Which class of the thesis. Its SDC is a mismatch, whatever the time. Another time with the right results is "performance", as in
// campaigns; the thesis says timeout, which in campaigns is a run that does not end by the limit, here a DUE.
StudyClass study_class(StudyOutcome outcome);

typedef enum StudyPhase { PHASE_CONFIGURATION, PHASE_PROCESSING, PHASE_EXCHANGE, PHASE_COUNT } StudyPhase;
extern const char *const study_phase_name[PHASE_COUNT];

// How an outcome was found.
typedef enum StudySettled { FOUND_DEAD, FOUND_SAME, FOUND_SIMULATED, STUDY_SETTLED } StudySettled;

// ---- Faults ------------------------------------------------------------------------------------------------------------
typedef enum StudyModel { MODEL_UPSET, MODEL_STUCK_0, MODEL_STUCK_1, STUDY_MODELS } StudyModel;
typedef enum StudyStructure {
  STRUCTURE_SCHEDULER,
  STRUCTURE_CONTROLLER,
  STRUCTURE_WARP_UNIT,
  STRUCTURE_ARBITERS,
  STRUCTURE_PIPELINE,
  STRUCTURE_COUNT
} StudyStructure;
extern const char *const study_structure_name[STRUCTURE_COUNT];

typedef struct StudyFault {
  Site site;
  uint64_t cycle; // the bit flips before this cycle; stuck-at faults are there from the start
  StudyModel model;
} StudyFault;

typedef struct StudyFound { // written by workers
  uint8_t outcome, settled;
} StudyFound;

// ---- A fault-free run, and what makes faults cheap (golden.c) --------------------------------------------------------------
typedef struct Golden Golden;
// NULL after errors. Without snapshots every fault is simulated from the beginning, as stuck-at faults are anyway.
Golden *golden_new(const StudyConfig *config, StudyStructure structure, bool snapshots, Diags *diags);
void golden_free(Golden *golden);
const G80Result *golden_result(const Golden *golden);
uint64_t golden_start(const Golden *golden); // first cycle of the processing phase
uint64_t golden_end(const Golden *golden);   // the cycle kernel_done is seen in
const RegionTable *golden_regions(const Golden *golden);
uint64_t golden_bits(const Golden *golden); // of the structure
StudyPhase golden_phase(const Golden *golden, uint64_t cycle);
uint64_t golden_phase_cycles(const Golden *golden, StudyPhase phase);
uint64_t golden_last_exchange(const Golden *golden); // its last cycle; 0: there is none

StudyFault study_draw(const Golden *golden, StudyModel model, uint64_t stream, uint64_t index);
StudyOutcome study_simulate(Golden *golden, const StudyFault *fault); // from the nearest snapshot, until it is the golden run again
StudyOutcome study_brute(Golden *golden, const StudyFault *fault);    // from the beginning to the end
// Every outcome of faults 0..count-1 that falls to slice `slice` of `slices`; `found` has `count` entries.
void study_settle(Golden *golden, const StudyFault *faults, uint32_t count, uint32_t slice, uint32_t slices, StudyFound *found);

// ---- Campaigns ---------------------------------------------------------------------------------------------------------
typedef struct StudyTally {
  uint64_t total, outcomes[STUDY_OUTCOMES];
} StudyTally;
void study_tally_add(StudyTally *tally, StudyOutcome outcome);
uint64_t study_tally_class(const StudyTally *tally, StudyClass class);

typedef struct StudyCampaign {
  StudyConfig config;
  StudyStructure structure;
  StudyModel model;
  uint64_t stream; // of random numbers
  uint32_t faults;
  // Found:
  Golden *golden;
  StudyFault *list;
  const StudyFound *found;                            // memory that workers share
  StudyTally all, phases[PHASE_COUNT], before, after; // before and after the end of the last exchange
  uint64_t settled[STUDY_SETTLED];
} StudyCampaign;
// Runs all of them in `workers` processes. Results do not depend on their number.
bool study_run(StudyCampaign *campaigns, uint32_t count, uint32_t workers, Diags *diags);
void study_campaigns_free(StudyCampaign *campaigns, uint32_t count);

// ---- The study -----------------------------------------------------------------------------------------------------------
enum { STUDY_TIMED = 15, STUDY_LIMITS = 12 };
typedef struct StudyTimed { // a row of Table 1
  StudyConfig config;
  uint64_t ns;
} StudyTimed;
typedef struct StudyLimit { // a row of Table 2
  StudyConfig config;
  uint32_t threads_per_sm;
  bool published, mended, thesis; // consistent: as printed, here, with thesis_register_addressing
} StudyLimit;

typedef enum StudyVerdict { JUDGED_AGREES, JUDGED_PARTLY, JUDGED_DIFFERS, JUDGED_UNSURE, JUDGED_NO_NUMBERS, STUDY_VERDICTS } StudyVerdict;
extern const char *const study_verdict_name[STUDY_VERDICTS];
typedef struct StudyClaim {
  const char *key, *text;
  StudyVerdict verdict;
  bool fitted;
  char found[320]; // what was found here
} StudyClaim;
enum { STUDY_CLAIMS = 14 };

typedef struct Study {
  Arena *arena;
  uint64_t seed;
  double confidence;
  StudyCampaign campaigns[STUDY_CAMPAIGNS];
  StudyTimed timed[STUDY_TIMED];
  StudyLimit limits[STUDY_LIMITS];
  StudyClaim claims[STUDY_CLAIMS];
  uint32_t claim_count;
} Study;
typedef struct StudyOptions {
  uint64_t seed;
  uint32_t faults; // per campaign
  uint32_t workers;
  double confidence;
} StudyOptions;
Study *study_new(const StudyOptions *options, Diags *diags); // runs everything; NULL after errors
void study_free(Study *study);
double study_mtbf(const StudyCampaign *campaign, double share); // cycles, by the thesis's formulas
// An interval for the difference of two shares, b - a (Newcombe 1998, method 10).
Interval study_difference(const StudyTally *a, const StudyTally *b, StudyClass class, double confidence);
void study_judge(Study *study); // fills claims
// Pairs of campaigns, or signals, against a claim: how verdicts are made (verdict.c).
typedef struct StudyPairs {
  uint32_t follow, oppose, level; // clearly as claimed, clearly not, not decided
} StudyPairs;
StudyVerdict study_judge_pairs(const StudyPairs *groups, uint32_t count);
typedef struct StudySignal {
  uint64_t faults[2], dues[2]; // until the end of the last exchange; after it
} StudySignal;
StudyVerdict study_judge_signals(const StudySignal *signals, uint32_t count, double confidence);

void study_text(const Study *study, Text *out);
void study_json(const Study *study, Text *out); // what the page draws
typedef struct StudyTable {
  const char *file;
  void (*write)(const Study *study, Text *out);
} StudyTable;
extern const StudyTable study_tables[];
extern const uint32_t study_table_count;
extern const char study_page_html[]; // with /*VEGA*/ and /*DATA*/

// ---- Beyond the thesis (beyond.c) ------------------------------------------------------------------------------------------
enum { STUDY_BEYOND_FAULTS = 300 }; // in each row, unless said otherwise
bool study_beyond(const StudyOptions *options, Text *out, Text *csv, Diags *diags);

#endif
