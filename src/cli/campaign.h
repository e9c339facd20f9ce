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
  bool is_one_of_many; // its tables are shown, but what to do next is said of all
  bool verbose;        // --verbose
  Arena *arena;
  ProgressScreen screen;
} CampaignRun;
const char *command_text(Arena *arena, const char *const *words,
                         uint32_t count);                           // "redoubt ..." as a shell takes it, and a journal keeps it
CampaignOrigin origin_of(Arena *arena, int argc, char **argv);      // who runs what, for a journal
const char *program_file_hash(Arena *arena, const char *target);    // NULL: of what is built in, or cannot be read
OptionTake option_faults;                                           // a number, or all: every bit once
OptionTake option_fault_seed;                                       // both for structs that begin with a CampaignRun
OptionTake option_campaign_whole, option_campaign_real;             // a number of campaigns that has the option's name
void campaign_default(CampaignRun *run, int argc, char **argv);     // as main's: for the journal. run->arena is to be freed
bool campaign_complete(CampaignRun *run, const Operands *operands); // once options are taken; false, after a message: they are wrong
int campaign_one(CampaignRun *run);                                 // the exit code
int campaign_show(const CampaignRun *run, Diags *diags); // the tables of one that is complete, and what to do next; the exit code
void campaign_say_next_of_many(const CampaignRun *run, const char *folder); // of the journals in it
void campaign_say_internal(const CampaignRun *run);                         // which of its simulations failed in Redoubt itself

#endif
