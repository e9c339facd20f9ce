// What the files of `redoubt avf` share.
#ifndef REDOUBT_CLI_AVF_H
#define REDOUBT_CLI_AVF_H

#include "cli/campaign.h"
#include "journal/journal.h"
#include "report/avf.h"

// ---- What journals say of it (avf_show.c), for 'redoubt report', too -------------------------------------
typedef struct AvfShown {
  const Files *files;
  const char *page, *csv, *json; // NULL: none, or the terminal
  bool has_csv, has_json;
} AvfShown;
bool avf_show(const AvfShown *shown, const Journal *journal, Diags *diags); // tables for people, unless files are wanted
bool avf_to_folder(const AvfShown *shown);                                  // all tables, a file each
const char *avf_table_path(const AvfShown *shown, uint32_t table);          // there
bool avf_show_two(const Journal *a, const Journal *b, Diags *diags);        // side by side

// ---- The command -----------------------------------------------------------------------------------------
typedef struct AvfWishes {
  RunOptions run;         // first: it shares options with 'redoubt run'
  const char *structures; // NULL: all
  uint32_t window;
  const char *against; // journal of a campaign; NULL: none
  const char *journal; // to be kept; NULL: none
  const char *page;
  AvfShown shown;
  CampaignOrigin origin;
} AvfWishes;

// A fault of the campaign: what ACE analysis is asked about it, and what injection found.
typedef struct AvfFault {
  uint8_t outcome, settled;
} AvfFault;
typedef struct AvfDrawn { // a structure that its faults are drawn from a part of
  uint16_t region;
  double share;
} AvfDrawn;
typedef struct AvfAgainst {
  const char *path;
  AceProbe *probes; // id: index in `faults`
  AvfFault *faults;
  uint64_t *ids;
  uint32_t count;
  uint64_t left_out; // faults of other models than single flips
  uint64_t cycles;   // of its run
  AvfDrawn drawn[64];
  uint32_t drawn_count;
} AvfAgainst;
// The faults of a campaign on this very run. False, with diagnostics: it is not, or it cannot be read. avf_against_free.
bool avf_against_read(AvfAgainst *against, const char *path, const JournalMeta *meta, Diags *diags);
void avf_against_free(AvfAgainst *against);
// What was found, and who found what where they differ, as a journal that is open for writing.
typedef struct AvfFacts { // of the run, which ACE analysis does not see
  bool all_reads_count;
  double held_rows,
      needed_rows; // registers of warps: times cycles, summed over the launches; needed: those that the code names. 0: not known
} AvfFacts;
bool avf_journal_fill(Journal *journal, const Ace *ace, const AvfAgainst *against, const AvfFacts *facts, Diags *diags);

#endif
