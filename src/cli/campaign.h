// What commands that run campaigns share.
#ifndef REDOUBT_CLI_CAMPAIGN_H
#define REDOUBT_CLI_CAMPAIGN_H

#include "campaign/campaign.h"
#include "cli/progress.h"
#include "cli/run.h"

typedef struct CampaignRun {
  RunOptions target; // first: it shares options with 'redoubt run'
  CampaignOptions options;
  bool has_seed;            // of the faults; else it is that of the inputs
  bool machine_chosen;      // by us: there was no --machine
  const char *const *words; // after `redoubt`, in the order in which they were given
  uint32_t word_count;
  const char *cluster; // --cluster; NULL: this process alone
  bool is_part;        // of a larger work: its tables are not shown
  Arena *arena;
  ProgressScreen screen;
} CampaignRun;
CampaignOrigin origin_of(Arena *arena, int argc, char **argv);      // who runs what, for a journal
OptionTake option_faults;                                           // a number, or all: every bit once
OptionTake option_fault_seed;                                       // both for structs that begin with a CampaignRun
void campaign_default(CampaignRun *run, int argc, char **argv);     // as main's: for the journal. run->arena is to be freed
bool campaign_complete(CampaignRun *run, const Operands *operands); // once options are taken; false, after a message: they are wrong
int campaign_one(CampaignRun *run);                                 // the exit code

#endif
