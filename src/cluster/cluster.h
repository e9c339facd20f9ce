// Campaigns and studies as tasks in a folder that all computers of a cluster see. docs/cluster.md is the protocol for its users.
//
// A plan says which commands there are (outputs) and which tasks they are cut into. A task's result appears whole, under its own name, and
// after it a receipt with its length and hash. So what is missing, cut off or damaged is known from the folder alone, whoever ran the tasks, and
// running a task twice does no harm: its result is a pure function of the plan.
#ifndef REDOUBT_CLUSTER_H
#define REDOUBT_CLUSTER_H

#include "journal/journal.h"

// ---- What the user wants (options.c): "slurm:partition=long,cpus=4", "local:2", "folder" -------------------
typedef enum ClusterKind { CLUSTER_NONE, CLUSTER_LOCAL, CLUSTER_SLURM, CLUSTER_FOLDER, CLUSTER_KINDS } ClusterKind;
extern const char *const cluster_kind_names[CLUSTER_KINDS];

typedef VEC(const char *) ClusterWords;

typedef struct ClusterOptions {
  ClusterKind kind;
  bool dry_run;       // print the scripts, do nothing
  uint32_t processes; // local: tasks at one time
  uint32_t cpus;      // of a task
  uint32_t minutes;   // that a task should take
  uint32_t tasks;     // how many; 0: as many as that needs
  uint32_t throttle;  // tasks of an array at one time; 0: no limit of ours
  uint32_t tries;     // of a task until it counts as failed
  uint32_t poll;      // seconds between two looks
  uint32_t limit;     // minutes after which Slurm ends a task; 0: four times what it should take, and ten more
  const char *partition, *account, *qos, *memory, *scratch, *folder; // NULL: not said
  ClusterWords extra;                                                // further words for sbatch
} ClusterOptions;
bool cluster_options_parse(const char *text, Arena *arena, ClusterOptions *options, Diags *diags);
extern const char cluster_options_help[];

// ---- The plan (plan.c): plan.json ---------------------------------------------------------------------------
typedef enum ClusterState { CLUSTER_RUNNING, CLUSTER_DONE, CLUSTER_FAILED } ClusterState;

typedef struct ClusterOutput { // a command, and what it makes
  ClusterWords words;          // after `redoubt`
  const char *file;            // where its result goes
  bool is_run;                 // JSON of a run; else the journal of a campaign
} ClusterOutput;

typedef struct ClusterTask {
  uint32_t output;
  uint64_t first, end; // faults of a campaign; end 0: all of it, and its file is the output's
  const char *enough;  // structures of which enough is known; "": none
  uint32_t tries;      // how often it was handed out
  uint32_t submission; // when last; 0: never
  uint32_t place;      // in that submission's list: the line, from 0
} ClusterTask;

typedef struct ClusterPlan {
  Arena *arena;
  const char *folder;  // absolute; not in the file
  bool is_study;       // else one campaign, whose output the tasks are parts of
  const char *command; // as the user gave it
  const char *work;    // the folder it was given in
  const char *program; // this program's file
  uint64_t program_hash, identity;
  const char *options_text;
  ClusterOptions options; // from that text
  ClusterWords finish;    // of a study: the command that judges it once its cells are there
  VEC(ClusterOutput) outputs;
  VEC(ClusterTask) tasks;
  uint32_t bundle;         // tasks that one process of a job carries out
  double seconds_per_task; // as planned; 0: not known
  uint32_t submissions;
  uint32_t rounds; // of a campaign with a margin
  ClusterState state;
  const char *message; // why it failed; "": nothing
} ClusterPlan;
ClusterPlan *cluster_plan_new(const char *folder, Arena *arena);
ClusterPlan *cluster_plan_read(const char *folder, Arena *arena, Diags *diags); // NULL, with a diagnostic: there is none, or it is damaged
bool cluster_plan_write(const ClusterPlan *plan, Diags *diags);                 // whole, or not at all
uint32_t cluster_plan_limit(const ClusterPlan *plan, uint32_t tries); // minutes that a process of a job gets; doubled with each further try
uint64_t cluster_plan_identity(const ClusterPlan *plan);
const char *cluster_plan_name(const ClusterPlan *plan);                      // of its jobs
const char *cluster_plan_file(const ClusterPlan *plan, const char *name);    // in its folder
const char *cluster_task_file(const ClusterPlan *plan, uint32_t task);       // where its result goes
const char *cluster_task_receipt(const ClusterPlan *plan, uint32_t task);    // results/000012.ok
const char *cluster_task_failure(const ClusterPlan *plan, uint32_t task);    // results/000012.failed
const char *cluster_task_unfinished(const ClusterPlan *plan, uint32_t task); // results/000012.unfinished.db
const char *cluster_task_log(const ClusterPlan *plan, uint32_t task);        // of its last try

// ---- Tasks of a campaign (cut.c) --------------------------------------------------------------------------
// What a fault costs, from two samples: seconds = fixed + faults * each.
typedef struct ClusterCost {
  double fixed, each;
} ClusterCost;
ClusterCost cost_of(double seconds_1, uint64_t faults_1, double seconds_2, uint64_t faults_2);
// How many faults a task shall have: a whole number of batches, or an even share of one.
uint64_t cluster_task_faults(const ClusterCost *cost, double seconds, uint64_t batch);
uint64_t cluster_task_faults_of(uint64_t total, uint32_t tasks, uint64_t batch);
// Adds tasks for the faults from `first` to `end`, which are cut at ends of batches.
void cluster_plan_cut(ClusterPlan *plan, uint64_t first, uint64_t end, uint64_t size, uint64_t batch, const char *enough);

// ---- Results (receipt.c) ----------------------------------------------------------------------------------
typedef struct ReceiptStructure {
  const char *name;
  uint64_t counts[OUTCOME_COUNT];
  double undrawn; // share of it that no fault was drawn from (--draw used): what strikes there is masked
} ReceiptStructure;
typedef struct Receipt {
  bool is_named;                   // the next line is known; receipts of earlier versions do not say it
  uint64_t plan, task, first, end; // what it is for: the plan's identity, the task, its faults
  uint64_t bytes, hash;            // of the result
  uint64_t faults;
  double seconds;
  const char *host;
  VEC(ReceiptStructure) structures;
} Receipt;
// Copies a file: aside, to disk, then renamed. Its length and hash go into the receipt.
bool result_publish(const char *from, const char *to, Receipt *receipt, Diags *diags);
bool text_publish(const char *path, const Text *text, Diags *diags); // the same for a text
void receipt_name(Receipt *receipt, const ClusterPlan *plan, uint32_t task);
bool receipt_write(const char *path, const Receipt *receipt, Diags *diags);
bool receipt_read(const char *path, Arena *arena, Receipt *receipt);                                // false: none, or no receipt
bool receipt_count(Receipt *receipt, const char *journal, Arena *arena, Diags *diags);              // faults by structure and outcome
typedef enum ResultState { RESULT_GOOD, RESULT_MISSING, RESULT_DAMAGED, RESULT_OTHER } ResultState; // OTHER: of another task or plan
// Thorough: by its hash too, not by its length alone.
ResultState result_state(const ClusterPlan *plan, uint32_t task, bool thorough, Arena *arena, Receipt *receipt);

// ---- Scripts for Slurm (script.c) ----------------------------------------------------------------------------
typedef struct ArrayJob {
  uint32_t submission, count; // its list, and how many lines that has
  uint32_t tries;             // of its tasks, for the limit of time
} ArrayJob;
void script_array(const ClusterPlan *plan, const ArrayJob *job, Text *out);
void script_gather(const ClusterPlan *plan, Text *out);
// The list of a submission: a line for each process, with the numbers of its tasks, at most plan->bundle. Notes their places in the plan.
uint32_t script_list(ClusterPlan *plan, const uint32_t *tasks, uint32_t count, Text *out); // how many lines

#endif
