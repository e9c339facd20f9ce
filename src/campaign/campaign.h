// A fault campaign: a golden run, faults drawn from it, each settled by what is known of its cell or by a simulation from
// the moment it matters, and a journal of it all. See docs/campaigns.md.
#ifndef REDOUBT_CAMPAIGN_H
#define REDOUBT_CAMPAIGN_H

#include "journal/journal.h"
#include "campaign/target.h"
#include "fault/fault.h"

typedef struct CampaignProgress {
  uint64_t done, total; // faults; done: in the journal, on disk
  uint64_t before;      // of those done: by an earlier run
  uint64_t beyond;      // faults of the whole campaign beyond those asked for: of a protection's own structures
  uint64_t simulations; // that the faults left are expected to need
  bool is_expected;     // that is known
  uint64_t golden_cycles;
  uint64_t counts[OUTCOME_COUNT]; // of those done: biased, since what is quickly settled comes first
  uint64_t settled[SETTLED_COUNT];
  uint64_t checks, checked;              // of the self-check: to be simulated once more, and so far
  uint64_t sample;                       // faults before the first that is not done: a fair sample
  uint64_t sample_counts[OUTCOME_COUNT]; // of these
} CampaignProgress;

const char *settings_text(Arena *arena, const Spec *spec); // every parameter as a journal keeps it

// Where a journal comes from, for its readers; NULL: not told.
typedef struct CampaignOrigin {
  const char *version, *commit, *binary, *date, *command, *host, *folder, *program;
} CampaignOrigin;
bool campaign_put_origin(Journal *journal, const CampaignOrigin *origin, Diags *diags); // of the first run that writes to it

struct Settler;
// CampaignOptions.verify: what was decided on a protection's word alone (verify.c).
#define VERIFY_WORDS UINT64_MAX
typedef struct CampaignOptions {
  const struct Settler *const *settlers; // how faults are settled, in this order, NULL last (settle/settle.h)
  const char *structures;                // "rf,shared"
  const char *model;                     // "flip", "adjacent(2)"
  const char *window;                    // "all", "kernel:NAME", "cycles:A-B"
  const char *protection;                // as given, for the journal
  const HookChain *protections;
  const char *standing; // a fault in every run, also in the one that the others are compared with; NULL: none
  bool every;           // not drawn: every bit of the structures once
  bool by_bits;         // drawn over all bits of all structures, instead of as many faults for each structure
  bool from_used;       // drawn from what the run without faults reads, instead of all bits and cycles
  uint64_t faults;      // how many in the machine's structures; a protection's own get as many each; 0: from margin and confidence
  double margin;        // 0: 0.01, if no number is given
  double confidence;
  uint64_t seed;
  uint32_t jobs; // simulations at one time
  uint32_t shard, shards;
  uint64_t first, end;         // only faults with these numbers, without `end`; end 0: all
  const char *enough;          // "rf,shared": no more faults of these structures; NULL: of all
  uint64_t timeout;            // multiple of the golden run's cycles
  OutputTolerances tolerances; // of outputs; of CUDA programs the target has them
  bool prune;                  // settle by def-use where that is exact
  bool snapshot;               // start each simulation from the golden run's state, stop when it is in that state again
  uint64_t verify;             // faults of each Way that are decided once more in full; VERIFY_WORDS
  const char *journal;
  const char *golden_folder; // where golden runs are kept for other campaigns; NULL: nowhere
  CampaignOrigin origin;
  // Told now and then, and at the end; false stops the campaign after what is running.
  bool (*progress)(void *context, const CampaignProgress *progress);
  void *context;
} CampaignOptions;

CampaignOptions campaign_defaults(void);
// False, with a diagnostic: a number has no sense, or two options do not go together. campaign_run asks, too.
bool campaign_check(const CampaignOptions *options, Diags *diags);
// What is said of a value of faults, margin, confidence, jobs or timeout that is refused; NULL: it is good.
const char *campaign_number_rule(const char *name, double value);

bool campaign_is_protected(const CampaignOptions *options); // --protect none wants nothing

typedef enum CampaignEnd { CAMPAIGN_COMPLETE, CAMPAIGN_STOPPED, CAMPAIGN_FAILED, CAMPAIGN_DIFFERS, CAMPAIGN_INTERNAL } CampaignEnd;
// FAILED: diagnostics say why. DIFFERS: the self-check has failed, and diagnostics say where. INTERNAL: some simulations failed in Redoubt itself; the journal says which.
CampaignEnd campaign_run(Target *target, const CampaignOptions *options, Diags *diags);

#endif
