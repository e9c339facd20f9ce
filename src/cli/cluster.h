// Campaigns and studies on a cluster: what the commands share. docs/cluster.md has the protocol.
#ifndef REDOUBT_CLI_CLUSTER_H
#define REDOUBT_CLI_CLUSTER_H

#include "cluster/cluster.h"

struct CampaignRun;

// ---- Plans made (cluster_plan.c) -----------------------------------------------------------------------------
// A new plan, or the one in the folder if it is of the same command. NULL, with a diagnostic: of another one, or it cannot be made.
ClusterPlan *cluster_plan_open(ClusterPlan *wanted, bool *is_new, Diags *diags);
// The whole path of a plan's folder. It may be named by what it makes: a campaign's journal, or a study's folder.
const char *cluster_folder(const char *named, Arena *arena);
// What plans of campaigns and studies have in common. `folder` need not be there.
ClusterPlan *cluster_plan_begin(const char *folder, const char *options, int argc, char **argv, Arena *arena, Diags *diags);
// Tasks for one campaign: measured, then cut. `most`: faults that it has; more are not measured.
bool cluster_plan_measure(ClusterPlan *plan, uint64_t most, bool quiet, Diags *diags);
// The words of a command with others added, before what belongs to an application.
void cluster_words(ClusterWords *words, Arena *arena, const char *const *command, uint32_t count, const char *const *more);

// ---- Cells of a study (cluster_study.c) ---------------------------------------------------------------------------
bool cluster_seal_cell(const ClusterPlan *plan, uint32_t task, const char *result, Diags *diags); // that goes to its place next
bool cluster_is_cell(const ClusterPlan *plan, uint32_t task); // what is there is this task's; it is read to the end

// ---- From plan to result ----------------------------------------------------------------------------------------
// Hands out tasks till all is there, and watches; the exit code. EXIT_OK: the result is there.
int cluster_watch(ClusterPlan *plan, bool quiet);  // cluster_watch.c
int cluster_show_scripts(const ClusterPlan *plan); // dry-run

typedef VEC(uint32_t) TaskList;
typedef enum Advance { ADVANCE_DONE, ADVANCE_MISSING, ADVANCE_FAILED } Advance;
// Looks at every result; adds a round, or puts the result together, if all of them are there. `missing`: tasks to be handed out. False,
// with diagnostics: something else than a task is wrong (cluster_gather.c).
bool cluster_advance(ClusterPlan *plan, Advance *advance, TaskList *missing, Diags *diags);
void cluster_say_failed(const ClusterPlan *plan);
void cluster_try_again(ClusterPlan *plan); // after a failure: all tasks have all their tries again

// ---- Slurm (cluster_slurm.c) --------------------------------------------------------------------------------------
typedef struct SlurmJobs {
  uint32_t running, waiting; // array tasks
  bool gathers;              // the job that puts things together is there
} SlurmJobs;
bool slurm_is_here(Diags *diags);                          // its commands are; else says what would help
bool slurm_jobs(const ClusterPlan *plan, SlurmJobs *jobs); // false: Slurm does not answer
uint32_t slurm_array_size(void);                           // the most tasks of one array
bool slurm_submit(ClusterPlan *plan, const TaskList *tasks, bool quiet, Diags *diags);

// ---- Processes (cluster_process.c) ----------------------------------------------------------------------------------
// Runs a program to its end; what it wrote to stdout and stderr. Its exit code; 127: it could not be started.
int process_output(const char *const *words, Text *out);
typedef struct OwnProcess { // this program with other words
  const char *const *words; // NULL-ended, words[0] is the program's name
  const char *work;         // folder; NULL: as it is
  int out, err;             // where they go; -1: stays as it is
} OwnProcess;
// Runs it to its end; a signal that ends this process is handed on and remembered in `*stopped_by`. The exit code; 128 + the signal that killed it.
int own_process_run(const OwnProcess *process, int *stopped_by);
_Noreturn void own_process_become(const OwnProcess *process); // for a process that was just started
uint64_t own_hash(void);                                      // of this program's file
void folder_remove(const char *path);                         // with all that is in it

// ---- Counted (cluster_status.c) ---------------------------------------------------------------------------------------
typedef struct ClusterCount {
  uint32_t done, missing;
  uint32_t damaged;               // or of another task
  uint64_t faults, faults_in_all; // of the tasks there are
  VEC(ReceiptStructure) structures;
} ClusterCount;
void cluster_count(const ClusterPlan *plan, Arena *arena, ClusterCount *count);
void cluster_progress(const ClusterPlan *plan, const ClusterCount *count, Text *out); // one line

#endif
