// Faults followed through a program without time: follow.c carries them along a fault-free run of the program on the functional
// machine; course.c knows what the blocks of one launch read and wrote there, and carries some of them out again.
#ifndef REDOUBT_FOLLOW_H
#define REDOUBT_FOLLOW_H

#include "settle/settle.h"

// ---- Words of memory that differ (words.c) -----------------------------------------------------------
typedef struct Word {
  uint64_t address; // a multiple of four
  uint32_t value;
} Word;
typedef struct WordList {
  Word *items;
  uint32_t count, room;
} WordList;
void words_add(WordList *words, uint64_t address, uint32_t value);
void words_free(WordList *words);
void words_sort(WordList *words); // by address
bool words_meet(const WordList *words, uint64_t address, uint64_t bytes);
void words_remove(WordList *words, uint64_t address, uint64_t bytes); // those that lie in it whole
void words_swap(WordList *words, Memory *memory);                     // values in the list with those in memory

// ---- When accesses came in the golden run (timeline.c) -----------------------------------------------
// Times are cycles since the launch's first, in eighths: of one cycle, the schedulers of an SM issue one after the other.
typedef struct Moment {
  uint32_t issue; // instructions of the warp before it
  uint32_t time;  // at which it issued
} Moment;
typedef struct Timeline Timeline;
typedef struct MomentKey {
  uint32_t launch, block, warp; // number of the launch, from 1; linear index; index in the block
} MomentKey;
Timeline *timeline_new(Arena *arena);
Hook *timeline_hook(Timeline *timeline);
bool timeline_save(const Timeline *timeline, const char *path); // for another process of this build
Timeline *timeline_load(Arena *arena, const char *path);        // NULL: it cannot be read
uint32_t timeline_longest(const Timeline *timeline);            // cycles from issue to write-back
uint32_t timeline_longest_store(const Timeline *timeline);      // until it has been performed
// The access `number` of a warp, in the order of its program. False: there is none, or there were too many to keep.
bool timeline_moment(const Timeline *timeline, const MomentKey *key, uint32_t number, Moment *moment);

// ---- One launch (course.c) -----------------------------------------------------------------------------
typedef struct Course Course;
// A word of which only time tells who writes it last; nobody reads it.
typedef struct OpenWord {
  uint64_t address;
  uint32_t stores, own_stores; // accesses to its line in this launch, of all blocks and of the struck one: after them it is decided
} OpenWord;
typedef VEC(OpenWord) OpenWordVec;
typedef struct CourseResult {
  RerunEnd end;
  bool same_flow; // every instruction, mask and address was that of the fault-free run; in shared memory, the same banks are enough
  uint64_t extra; // warp instructions more than there, and accesses to other addresses
} CourseResult;
typedef struct CourseOptions {
  const Timeline *timeline; // NULL: nothing is known of time
  const Spec *spec;         // of the machine with time
  bool readers;             // there will be course_go_on: which blocks read a line is noted, too
  bool may_be_open;         // words may be left open
} CourseOptions;
// Carries the launch out, as functional_run does, and notes who reads and writes what.
Course *course_new(const MachineEnvironment *environment, const Launch *launch, const CourseOptions *options, Stats *stats, Trap *trap);
void course_free(Course *course);
// The launch again with one block struck; or with other words in memory at its start. `words` are what memory has then that differs
// from the fault-free run's; memory itself is left as that run left it. `most` instructions of a warp.
CourseResult course_strike(Course *course, uint32_t block, const RerunFlip *flip, uint64_t most, WordList *words);
// has_golden_times: caches are as they were when the golden run's launch began, so its times count.
CourseResult course_go_on(Course *course, WordList *words, uint64_t most, bool has_golden_times);
const Trap *course_trap(const Course *course);
const OpenWordVec *course_open(const Course *course); // after course_strike: what is left open; it is not in `words`

// What a trial must know of a launch to end before it does: once the struck block has ended, and those that write where it has
// written, the others do what they do without the fault, if none of them reads there.
typedef struct KeptUse {
  uint32_t writer, reader; // 1 + linear index of the block; 0: nobody; UINT32_MAX: several
} KeptUse;
typedef struct LaunchMemory {
  uint32_t launch; // number
  uint32_t blocks;
  uint64_t base, words; // of memory
  uint32_t line_words;  // of the caches
  uint32_t *after;      // as the launch left them
  KeptUse *uses;        // NULL: not known. Then only what has come to the launch's end can be compared
} LaunchMemory;
typedef VEC(LaunchMemory) LaunchMemoryVec;
bool course_keep(const Course *course, LaunchMemory *kept);             // false: its results may depend on time
LaunchMemory launch_memory_after(Memory *memory, const Launch *launch); // the launch is over; without uses
void launch_memory_free(LaunchMemory *kept);
// Who else uses the line at a device address: what launch_memory_line says of it, given which blocks have begun (those below `begun`)
// and ended.
typedef enum LineState {
  LINE_DECIDED, // whoever else writes there has done so, or will after this
  LINE_WAITS,   // for a block that has not ended
  LINE_READ,    // somebody else reads there
} LineState;
LineState launch_memory_line(const LaunchMemory *kept, uint64_t line, uint32_t block, uint32_t begun, const uint8_t *ended);
// Words that will differ at the launch's end, when the caches are flushed and the blocks not in `ended` are still to end. NULL: this is the end.
void launch_memory_compare(const LaunchMemory *kept, Memory *memory, const uint8_t *ended, WordList *words);

// A fault whose trial has ended so: `words` differ after the launch; or, of a CUDA program, the launch has trapped.
typedef struct Returned {
  uint64_t id;
  uint32_t launch;
  uint64_t late; // cycles that the program may take longer; with a trap, the cycle in which it came
  WordList words;
  Trap trap; // without names
  // The launch was the last one, and the trial has come to its end: the run takes `cycles`. A protection has put something right.
  bool is_whole, is_corrected;
  uint64_t cycles;
  uint32_t settles_as; // Settled
} Returned;
typedef VEC(Returned) ReturnedVec;
// A fault of which all is known but some words of the launch in which it struck.
typedef struct Unfinished {
  uint64_t id;
  WordList words; // that differ after the launch
  OpenWordVec open;
  uint64_t late; // as of Returned
} Unfinished;
typedef VEC(Unfinished) UnfinishedVec;
// What following, trials and following again give each other.
typedef struct Following {
  const Timeline *timeline;
  LaunchMemoryVec kept;     // of launches with faults that are left
  UnfinishedVec unfinished; // some of those that are left
  ReturnedVec returned;     // from trials: they go on after their launch
  // There are protections. Those that let values pass change nothing for wrong values that were read from cells; else, and for outputs of units,
  // nothing is followed from the strike on, and launches are only kept for trials.
  bool is_protected, passes_values;
  bool
      blocks_again; // one of them may send blocks out again, or mirror them: the end of a block does not say what has become of it, and nothing is followed
  // Of a CUDA program: its host hears of traps and goes on, and what its kernels print is judged, too. It may ask for the time.
  bool is_program, asks_time;
  void *file; // that has the arrays of `kept`; NULL: they are allocated
  size_t file_bytes;
} Following;
Following *following_new(const Settling *settling);
void following_free(Following *following); // all but itself
// From one process to another of this build. What is read is added to `following`, which has nothing kept yet; false: it has nothing then.
bool following_save(const Following *following, const char *path);
bool following_load(Following *following, Arena *arena, const char *path);
bool settles_by_following(const Settling *at); // some faults strike what programs can name, and nothing stands in the way
void record_trap(Record *record, const Trap *trap, const Program *program);
void record_timeout(Record *record);

// ---- Following where the host's code is not ours ---------------------------------------------------------
// A CUDA program drives its run itself, on a device whose launches are carried out here. Where it is about to see what a fault has made wrong, or that a kernel
// has trapped, it goes on in a process of its own.
typedef struct FollowHost {
  void *context;
  // After a launch without faults: is memory as the machine with time left it? False: nothing more is followed. Gives the launch its time.
  bool (*is_same)(void *context, const Launch *launch, Stats *stats);
  // A process in which the fault number `draw` has come to the host. True in that one.
  bool (*part)(void *context, uint32_t draw);
  // In such a process. Is a launch the same as without faults, with the same memory before it, when what the fault has made wrong is put right?
  bool (*is_next)(void *context, const Launch *launch);
  void (*knows_time)(void *context, bool is_known); // all launches so far have taken the time that they take without faults
  void (*stop)(void *context, bool is_endless); // the fault has made a launch endless; else it cannot be followed further. Does not return
} FollowHost;
typedef struct Follower Follower;
// Follows settling->draws as settling->following says: each from its reader on, or those that have come back from trials from there on (is_again). It lives as
// long as settling->arena. limit: cycle at which a run counts as endless.
Follower *follower_new(const Settling *settling, bool is_again, const FollowHost *host, uint64_t limit);
const Launcher *follower_launcher(const Follower *follower);
void follower_begin(Follower *follower, Memory *memory);
void follower_reads(Follower *follower, DeviceAddress from, uint64_t bytes); // the host is about to, or may from now on
void follower_wrote(Follower *follower, DeviceAddress to, uint64_t bytes);
void follower_loses(Follower *follower, DeviceAddress from, uint64_t bytes); // what differs there is not followed further
void follower_asks_time(Follower *follower); // the host does: faults of which the time is not known are not followed further
void follower_fails(Follower *follower);     // nothing is followed further
bool follower_end(Follower *follower, uint32_t draw, Outcome *outcome); // at the run's end: is it settled?
uint64_t follower_trapped_at(const Follower *follower); // in a process of one fault whose trial has trapped: the cycle; else 0
void follower_keep(Follower *follower);                 // at the run's end: settling->following has what trials need

// ---- Trials where the host's code is not ours ------------------------------------------------------------
// Somebody else drives a golden run, with the hook of these trials attached. It ends the process when there is nothing left to try.
typedef struct TrialTurns {
  const Draw *draws; // in order of strike_at
  uint32_t count, first, step;
  int to; // file in which they tell
} TrialTurns;
typedef struct Trials Trials;
Trials *trials_new(const Settling *settling, const TrialTurns *turns); // lives as long as settling->arena
Hook *trials_hook(Trials *trials);
void trials_stop(Trials *trials); // this run is not the golden one, or cannot be cloned: no more
// Takes what one of them has told next. False: there is no more. *goes_on becomes false if the campaign shall stop.
bool trials_take(const Settling *settling, int from, bool *goes_on);

#endif
