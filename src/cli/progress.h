// What a campaign says while it runs, and how it takes Ctrl-C and its like. On a terminal: a few lines that are drawn again and again in one
// place; elsewhere, if asked for, the same lines now and then.
#ifndef REDOUBT_CLI_PROGRESS_H
#define REDOUBT_CLI_PROGRESS_H

#include "campaign/campaign.h"

// What can be seen at one moment.
typedef struct ProgressView {
  const CampaignProgress *progress;
  double confidence;
  double seconds;     // since the first fault
  uint64_t settled;   // faults since then
  uint64_t simulated; // simulations since then
  uint32_t columns;   // of the terminal; lines are cut there. 0: never
  bool ended;         // a campaign that is sure enough ends before its last fault
  bool of_used;       // faults are drawn from what is used: shares are of that
} ProgressView;
// The lines, each with its line feed; how many.
uint32_t progress_format(const ProgressView *view, Text *out);
void duration_format(double seconds, Text *out); // "8 s", "3 min 20 s", "2 h 10 min"

typedef struct ProgressScreen {
  const char *target;
  const CampaignOptions *options;
  bool wanted, terminal, quiet;
  uint32_t lines;                    // that stand on the terminal and will be drawn over
  double began, faults_began, shown; // host seconds
  bool estimated;                    // the cost has been said
  uint64_t done_before;              // faults that an earlier run had settled
  uint64_t expected, simulated;      // simulations: left when last told, done since
  uint64_t internal;                 // failures of Redoubt itself so far
  int stopped_by;                    // the signal that has come; 0: none
  bool keeps_holding;                // signals, after the first one too
  CampaignProgress last;             // that was told
} ProgressScreen;
void progress_open(ProgressScreen *screen, const char *target, const CampaignOptions *options);
bool progress_told(void *screen, const CampaignProgress *progress); // as CampaignOptions.progress
void progress_close(ProgressScreen *screen);                        // the campaign has come to its end: how it stands

#endif
