// Campaigns on CUDA programs. The program runs as a process of its own, with Redoubt's CUDA runtime library in it: twice
// without faults, then once more, and that process forks at the moment of each fault that def-use leaves. What the campaign and
// the library tell each other is in a file that both map (AppExchange).
//   the library's side   process.c (hooks), fork.c (a process for each fault), follow.c (faults followed without time), trial.c (faults tried)
//   the campaign's       app.c (runs without faults), jobs.c (those with), trace.c (explanations), judge.c (outcomes),
//                        same.c (two runs without faults), mask.c (what of standard output is compared), originals.c (the
//                        user's files)
//   both                 files.c (files without a name), left.c (processes left behind), sources.c (the program's PTX)
//
// A run is judged by what the host copies back, by standard output and by the files that the user names; how bad it is if they are
// wrong, by what the program itself says. The program must do the same every time it is run.
#ifndef REDOUBT_APP_H
#define REDOUBT_APP_H

#include "app/originals.h"
#include "settle/settle.h"
#include "explain/explain.h"

#include <semaphore.h>

enum {
  APP_MOST_LAUNCHES = 4096,
  APP_MOST_OUTPUTS = 16,
  APP_MOST_JOBS = 256,
  APP_SLOT_RUN = UINT16_MAX, // mark of a program that is only run
  APP_PATH = 4096,
  APP_FILE_PATH = 32,
  APP_MOST_KINDS = 2048,
  APP_MOST_COPIES = 4096,
  APP_MOST_FOLLOWED = 1 << 17, // faults at a time
  APP_GRANULE_BYTES = 2 << 20, // what programs can overrun, as with hardware's pages, unless users say otherwise
  APP_LEAD_BYTES = 1 << 16,    // likewise, before their first allocation
};
#define APP_EXCHANGE "REDOUBT_CAMPAIGN" // environment variable: the file's path
#define APP_FOLDER ".redoubt"           // ending of the folder beside an output file; see app_originals.h

// Memory of CUDA programs: checked by pages on every machine, with room before the first allocation, unless users say otherwise.
static inline void app_spec(Spec *spec) {
  if (spec->memory_granule == 0) spec->memory_granule = APP_GRANULE_BYTES;
  if (spec->memory_lead == 0) spec->memory_lead = APP_LEAD_BYTES;
}

typedef enum AppMode {
  APP_GOLDEN, // no fault; watches the draws
  APP_TRACE,  // no fault; observed for an explanation
  APP_STRIKE, // has faults
  APP_FORK,   // no fault; forks at the moment of each draw
  APP_FOLLOW, // no fault, no time; forks where the host is about to see what one has done
  APP_TRIAL,  // no fault; tries the draws on a copy of the machine
} AppMode;
// How the library ended the program before its end.
//   LOST        it could not be followed to its end
//   ELSEWHERE   a process has asked for a device although another has one: another program, or this one after exec
//   SILENT      the campaign has ended it, since it did nothing any more
typedef enum AppStop { APP_RAN_ON, APP_SETTLED, APP_TIMED_OUT, APP_LOST, APP_ELSEWHERE, APP_SILENT } AppStop;

typedef struct AppLaunch {
  char kernel[512];
  uint64_t began_at, cycles, thread_instructions, warp_instructions;
  uint32_t registers, needs;
  Resident resident;
  // For those that follow faults; 0: not known
  uint64_t memory_hash, memory_before; // after it, before it
  uint64_t request;                    // hash of what the host wants: kernel, grid, block, arguments
} AppLaunch;

// What the host copies back from the device, copy by copy. A kind of copy is where it comes from and how much it is.
typedef struct AppCopies {
  uint64_t count;
  uint64_t last;                    // kind of the last one
  uint64_t kinds[APP_MOST_KINDS];   // open addressing; 0: free
  uint32_t kind_count;              // half of them at most
  uint64_t hashes[APP_MOST_COPIES]; // of all bytes so far, after each copy
} AppCopies;
void app_copies_add(AppCopies *copies, uint64_t from, uint64_t bytes, uint64_t hash);
// Has this run copied back whatever the run without faults has, be it more or less often, and what came last as the last?
bool app_copies_reach(const AppCopies *copies, const AppCopies *golden);

// A copy from the device whose bytes may be off. Those of the run without faults are in the exchange's file of right copies.
typedef struct AppTolerated {
  uint64_t copy; // number, from 1
  OutputTolerance tolerance;
  uint64_t at, bytes; // in that file
} AppTolerated;
typedef struct AppTolerances {
  uint32_t count;
  int32_t right; // number of the file; -1: there is none
  AppTolerated items[MOST_TOLERANCES];
} AppTolerances;

// What becomes of one process.
typedef struct AppRun {
  int32_t pid;        // of one that was forked, until it is judged; 0: this place is free
  uint32_t draw;      // that it strikes
  uint32_t inside;    // calls of the library under way: who dies then has died in Redoubt
  uint32_t finished;  // the program ended by itself, and what follows holds
  uint32_t stop;      // AppStop
  uint32_t delivered; // what the run without faults copies back was copied back
  uint32_t trap;      // TrapKind of the first launch that had one
  uint64_t seen, corrected, cycles;
  uint64_t judged;    // as seen, with right bytes in the place of those that are within a tolerance
  int32_t output;     // number of the campaign's file that has its standard output
  uint32_t same_flow; // APP_FOLLOW: its kernels took the time that they take without the fault
} AppRun;

typedef struct AppExchange {
  uint64_t bytes;           // of this struct: both sides are built alike
  uint32_t mode;            // AppMode
  int32_t campaign;         // process number; files of the campaign are named by their numbers there
  int32_t user, second;     // processes: the one that has the device; one that wanted another. 0: there is none
  int32_t values;           // file of the tracer's log
  int32_t timeline;         // file of the golden run's times, for those that follow faults; -1: not wanted
  int32_t sources;          // file of the PTX that is loaded; -1: it is known
  int32_t following;        // file of what following leaves to trials; -1: not wanted, or nothing
  int32_t returned;         // file of what trials have found for following to go on with; -1: they have not been there
  int32_t used;             // APP_GOLDEN: file of what is used, to be filled (campaign/used.h); -1: not wanted
  int32_t told;             // APP_TRIAL: file of what it finds
  char temporary[APP_PATH]; // folder of further files, which have no name
  // Of the run without faults: from it, and to the others
  uint32_t checkpoint_count;
  Checkpoint checkpoints[MOST_CHECKPOINTS];
  uint64_t cycles, program_hash, memory_bytes;
  double dynamic_nj, leakage_nj; // as in Golden
  char uncovered[GOLDEN_NOTE];   // likewise
  char idle[GOLDEN_NOTE];        // likewise
  uint32_t has_time;             // the device is a machine with time
  uint32_t asks_time;            // the host has asked how long something took
  uint32_t launch_count;
  AppLaunch launches[APP_MOST_LAUNCHES];
  AppCopies copies;   // of the first process, without faults
  AppCopies expected; // of an earlier one
  AppTolerances tolerances;
  bool keeps_right; // APP_GOLDEN: the first one
  // With faults
  Fault faults[FAULT_RUN_MOST];
  uint32_t fault_count;
  uint64_t strike_at, limit;
  bool can_settle; // one fault, struck at strike_at; the run stops when the state is the golden run's again
  // For an explanation
  bool explain;
  uint32_t trace;   // TraceMode
  char marks[8192]; // of FAULT_RUN_MOST faults of FAULT_MAX_BITS bits, for a trace of the run with faults
  FaultRun traced;
  bool unanswered; // what protections detect has no effect (Hook.unanswered)
  // Following and trials
  bool is_protected, passes_values; // as of struct Following
  uint32_t first_draw, draw_step;   // APP_TRIAL: which of the draws
  // Forking
  sem_t room;       // places for processes that are free
  uint32_t stopped; // no more of them
  uint64_t cpu_seconds;
  uint32_t place_count, kept_count;
  char kept[ORIGINALS_MOST][APP_PATH]; // output files, and links to them: as in Originals
  AppRun runs[APP_MOST_JOBS + 1];      // the process that the campaign starts, then those that it forks
  uint8_t followed[APP_MOST_FOLLOWED]; // by draw: 1 + the outcome of one that was followed to its end; 0: not known
  uint32_t draw_count;
  Draw draws[]; // to be watched, or to be struck, those in order of strike_at
} AppExchange;

// ---- The campaign's side ---------------------------------------------------------------------------
typedef struct AppChoice {
  char *const *arguments;     // of the program, its name first, NULL last
  const char *const *outputs; // files that it writes
  uint32_t output_count;
  const char *const *ignored; // lines of standard output that are not compared: regular expressions
  uint32_t ignored_count;
  const OutputTolerances *tolerances;                   // of output files, and of copies from the device ("copy3")
  bool ignores_output;                                  // nothing of standard output is compared
  const char *temporary;                                // folder of files that are there only while the campaign is
  void (*say)(void *context, const char *text);         // to the user; NULL: nobody listens
  const HookChain *protections;                         // as the program's machine will have them: for the list of structures
  bool (*goes_on)(void *context);                       // asked now and then while the program runs; false: it is ended at once
  void (*prepare)(void *context, const char *exchange); // in the new process: sets the environment
  void *context;
} AppChoice;
Target *target_app(Arena *arena, const AppChoice *choice, const Spec *spec, Diags *diags);
void target_app_free(Target *target);
// The target's arguments, in the text that journals keep, and back again.
typedef VEC(char *) AppWords;
typedef struct AppWishes {
  AppWords arguments, outputs, ignored; // the program's name first
  bool ignores_output;
} AppWishes;
bool target_app_read(const char *text, Arena *arena, AppWishes *wishes); // false: the text is not of a CUDA program

// ---- The library's side ----------------------------------------------------------------------------
typedef struct AppProcess AppProcess;
// NULL: no campaign, or the file cannot be used. Adds its hooks to the chain, for a device with this spec.
AppProcess *app_process_new(const char *exchange, HookChain *chain, const Spec *spec, Diags *diags);
// A trace is of the run with faults, if there are such: leaves it out of the wishes for any other. `marks` is kept by the caller.
enum { APP_MARKS = sizeof((AppExchange){0}.marks) };
void app_process_trace(const char *exchange, AttachmentWishes *wishes, char marks[APP_MARKS]);
// What to do before the process ends without returning, as at the limit.
void app_process_before_stop(AppProcess *process, void (*stopping)(void *context), void *context);
// The device is there. host_memory: a hash of all memory that kernels write and the host reads without a copy.
typedef uint64_t (*AppHostMemory)(const void *context, uint64_t seed);
void app_process_device(AppProcess *process, Device *device, AppHostMemory host_memory, const void *context);
// All memory that kernels write and the host reads without a copy, piece by piece.
typedef void (*AppHostRange)(void *context, uint64_t start, uint64_t bytes);
typedef void (*AppHostRanges)(const void *context, AppHostRange each, void *each_context);
void app_process_host_ranges(AppProcess *process, AppHostRanges ranges);
const Launcher *app_process_launcher(const AppProcess *process); // that the device must have; NULL: none
// Before bytes move between the host and the device, or within it. is_seen: the host has them then.
void app_process_moves(AppProcess *process, uint64_t to, uint64_t from, uint64_t bytes, bool is_seen);
void app_process_fills(AppProcess *process, uint64_t to, uint64_t bytes);
void app_process_registers(AppProcess *process); // memory of the program's own that kernels may use
void app_process_asks_time(AppProcess *process); // the host wants to know how long something has taken
void app_process_enter(AppProcess *process);     // NULL is fine for these
void app_process_leave(AppProcess *process);
// The host has these bytes from the device now; copied back: asked for, and judged.
void app_process_saw(AppProcess *process, const void *bytes, uint64_t count, bool copied_back);
void app_process_copied(AppProcess *process, uint64_t from, uint64_t bytes); // all of these bytes, by one call
void app_process_launches(AppProcess *process, uint64_t request);            // a launch begins; hash of what is wanted, not 0
void app_process_launched(AppProcess *process);                              // a launch has ended
void app_process_loaded(AppProcess *process, const Program *program, const PtxSource *sources, uint32_t count); // made of these
void app_process_forked(AppProcess *process); // in a process that the program has forked: no faults there
void app_process_finish(AppProcess *process); // the program ends

// ---- Files of both sides (files.c) ---------------------------------------------------------------
int app_temporary(const char *folder);                                        // a new file without a name; -1: none
const char *app_file_path(pid_t owner, int number, char path[APP_FILE_PATH]); // how any process opens a file of that one
bool app_copy_bytes(int from, int to, off_t bytes);                           // from its beginning
bool app_file_put(const char *path, const void *bytes, size_t count);         // all that is in it from its beginning
bool app_file_get(const char *path, void *bytes, size_t count);               // likewise

// ---- Processes that a run leaves behind (left.c) -------------------------------------------------
void app_mark(pid_t campaign, uint32_t seat);         // this process and all that it will start
uint32_t app_seat(pid_t campaign);                    // of this process; 0: it is not marked
uint32_t app_end_left(pid_t campaign, uint32_t seat); // those of that run; how many
uint32_t app_end_orphans(void);                       // those of campaigns that were killed

// ---- Forking (fork.c) ----------------------------------------------------------------------------
// Another process for draws[draw], child of the campaign's: its run there, NULL in this one and where there is none.
AppRun *app_fork(AppExchange *exchange, uint32_t draw);
const char *app_aside(const char *output, char path[APP_PATH]); // where an output file of the forking process is meanwhile

#endif
