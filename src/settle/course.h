// One launch on the functional machine and blocks of it carried out again: what course.c, past.c, again.c, visit.c and access.c share.
#ifndef REDOUBT_COURSE_H
#define REDOUBT_COURSE_H

#include "settle/follow.h"

enum {
  WORD = 4,
  MOST_SHARED_WORDS = 1 << 16,
  COURSE_WARPS = 64, // the most of a block
  SEVERAL = 255,     // warps that have written the same, in whatever order
  MARGIN_LATENCIES = 2,
  NOBODY = 0
};
#define MANY UINT32_MAX
#define NO_TIME UINT32_MAX

// A word in the fault-free run. Blocks are 1 + their linear index here, NOBODY or MANY; times are those of the golden run (follow.h).
typedef struct Use {
  uint32_t writer, reader;
  uint32_t first_write, last_write, first_read, last_read;
  bool partly; // some write was of a part of the word
} Use;

// A word when blocks are carried out again; what is of another time (stamp) does not count.
typedef struct Visit {
  uint32_t stamp;
  uint32_t writer, reader; // blocks, as above
  uint32_t write_epoch, read_epoch;
  uint32_t write_step, read_step; // their numbers
  uint32_t write_time, read_time; // read_time: the latest
  uint64_t read_warps;            // in read_epoch
  uint8_t write_warp;             // or SEVERAL
  uint8_t bytes;                  // written by write_step
  uint32_t value;                 // then
  uint32_t open;                  // times up to this one must be right for its last writer to be known; NO_TIME: it is not; 0: it is
} Visit;

// An access of a warp in the fault-free run, with its course (hashes) before and after.
typedef struct PastAccess {
  uint32_t issue, pc, time, before, after;
  uint32_t places; // hash of its addresses alone
} PastAccess;
typedef VEC(PastAccess) AccessVec;

typedef struct Warpath { // of a warp in the fault-free run
  uint64_t flow, steps;
  AccessVec accesses;
} Warpath;

typedef struct AgainWarp { // of a warp carried out again
  uint64_t flow, steps;
  uint32_t number;    // of the next past access
  uint32_t last_time; // of an access that was where it should be
} AgainWarp;

typedef struct BlockWord { // a block has written a word
  uint32_t block;
  uint64_t word;
} BlockWord;
typedef struct LineBlock { // a block has read of a line
  uint64_t line;
  uint32_t block;
} LineBlock;
typedef struct LineStores { // a block's accesses that have written to a line
  uint64_t line;
  uint32_t block, count;
  uint64_t last; // its number
} LineStores;
typedef struct LineCount { // the same of a block carried out again
  uint32_t stamp, step, count;
} LineCount;
typedef VEC(BlockWord) BlockWordVec;
typedef VEC(LineStores) LineStoresVec;
typedef VEC(LineBlock) LineBlockVec;
typedef VEC(uint64_t) WordVec;

// The launch, and what is known of the machine with time (course.c). Nothing of it changes after course_new.
typedef struct CourseFrame {
  Arena *arena;
  MachineEnvironment environment;
  const Launch *launch;
  uint64_t base;
  uint8_t *memory;
  uint64_t words;
  uint32_t *before, *after; // memory as the launch found and left it
  uint32_t blocks, block_warps;
  const Timeline *timeline;
  const Spec *spec;
  MachineAccesses machine;
  uint32_t line_shift;    // words of a line, as a power of two
  uint32_t latency;       // the longest of an access in the golden run
  uint32_t store_latency; // of a store
  uint32_t margin;        // time by which accesses must lie apart for their order to be certain, as long as the block has gone nowhere else
} CourseFrame;

// The step under way, and its access to memory (access.c).
typedef struct AccessNow {
  WatchedStep step;
  bool is_access;  // it has touched memory
  uint32_t time;   // then: when it came in the golden run, or NO_TIME
  uint32_t places; // and the hash of its addresses; of those in shared memory, only of the passes that they take
  uint32_t lanes_left;
  uint64_t shared_address[WARP_LANES];
  uint32_t shared_lanes, shared_bytes; // of which the passes are not counted yet
} AccessNow;
void access_step(AccessNow *now, const WatchedStep *step, uint64_t *flow); // `flow`: hash of the warp's course
void access_begin(AccessNow *now, uint32_t time);                          // its first lane
void access_lane(AccessNow *now, Space space, uint64_t address, uint32_t bytes, unsigned how, uint64_t *flow);
void access_end(AccessNow *now, const CourseFrame *frame, uint64_t *flow); // all lanes have been told
void access_forget(AccessNow *now);

// The fault-free run (past.c). Nothing of it changes afterwards.
typedef struct CoursePast {
  Use *uses;         // by word
  Warpath *warpaths; // by block and warp
  bool has_times;
  bool is_lost; // somebody did what is not told
  bool is_racy; // results may depend on time: warps or blocks meet in memory
  bool keeps_readers;
  uint32_t *line_reader; // the last block that read of it
  uint64_t accesses;     // so far
  uint32_t *line_stores; // 1 + the index in `stores` of the last block that wrote to it
  LineStoresVec stores;  // by line, after the run
  BlockWordVec writes;   // by block, after the run
  uint32_t *first_write; // by block
  LineBlockVec readers;
} CoursePast;

// A block carried out again (again.c).
typedef struct CourseAgain {
  Rerun *rerun;
  RerunOrder order;
  Trap trap;
  uint32_t block, step;
  AgainWarp warps[COURSE_WARPS];
  const PastAccess *past; // the access under way as it was in the fault-free run; NULL: there was none
  const PastAccess *same; // if the warp's course was the same up to it
  uint32_t same_warp;
  uint64_t elsewhere;   // accesses that were not there, or to other addresses
  bool is_timeless;     // the golden run's times say nothing: an earlier launch has taken another course, and caches are not as they were
  uint32_t diverged_at; // from when on its times may be others; NO_TIME: never
} CourseAgain;

// Who meets whom in memory, when blocks are carried out again (visit.c).
typedef struct Meetings {
  Visit *visits, *shared;             // by word: of global memory; of the block's shared memory
  uint32_t visit_stamp, shared_stamp; // the attempt; the block
  WordVec written;
  LineCount *stores_again; // by line
  bool may_be_open;        // who writes a word last may be left open
  uint32_t back_to;        // what other blocks write long after this time is seen as it was before; NO_TIME: as it was left
  bool goes_back;          // that has changed: once more
  uint32_t needed;         // times up to this one have decided an order by little: they must be right
} Meetings;

// Each part is changed by the functions of its own file alone.
struct Course {
  CourseFrame frame;
  AccessNow now;
  CoursePast past;
  CourseAgain again;
  Meetings meetings;
  MachineWatch watch; // who is told of the run under way: past.c or again.c
  // What belongs to the fault under way (course.c)
  uint32_t *marks, *chosen; // by block: stamp of the fault that it belongs to; list of these blocks
  uint32_t stamp;           // the fault
  bool leaves_open;         // when a block is struck, who writes a word last may be left open
  OpenWordVec open_words;
};

static inline uint64_t line_of(const Course *at, uint64_t word) { return word >> at->frame.line_shift; }
static inline uint64_t line_count(const Course *at) { return line_of(at, at->frame.words) + 1; }
static inline uint64_t warp_index(const Course *at, uint32_t block, uint32_t warp) {
  return (uint64_t)block * at->frame.block_warps + warp;
}
// Words [*first, *last] of an access; false: outside of what the launch found.
bool words_of(const Course *at, uint64_t address, uint32_t bytes, uint64_t *first, uint64_t *last);
void *pages_new(uint64_t bytes); // zeroed when first touched

void past_run(Course *at, const CourseOptions *options, Stats *stats, Trap *trap);
void past_free(Course *at);
void again_new(Course *at);
void again_run(Course *at, uint32_t block, const RerunFlip *flip, uint64_t most, CourseResult *result);

static inline uint32_t word_get(const Course *at, uint64_t word) {
  uint32_t value;
  memcpy(&value, at->frame.memory + word * WORD, sizeof value);
  return value;
}
static inline void word_set(const Course *at, uint64_t word, uint32_t value) {
  memcpy(at->frame.memory + word * WORD, &value, sizeof value);
}
bool in_constants(const Course *at, uint64_t word); // constants are read without being told
// Of a word that another block writes: whether it is seen as it was before.
static inline bool is_seen_early(const Course *at, const Use *use) {
  return at->meetings.back_to != NO_TIME && use->first_write != NO_TIME &&
         (uint64_t)at->meetings.back_to + at->frame.margin < use->first_write;
}

void meetings_new(Course *at);
void meetings_free(Course *at);
void meetings_fault(Meetings *meetings, bool may_be_open); // what follows is of another fault,
void meetings_attempt(Meetings *meetings);                 // of another attempt at it,
void meetings_block(Meetings *meetings);                   // of another block
// In the fault-free run, where nobody's order matters yet: do warps of a block meet?
bool past_shared(Course *at, uint64_t word, unsigned how);
bool past_global(Course *at, uint64_t word, unsigned how);
void meetings_after_past(Course *at);
// A word is touched. False: what is read or left there depends on an order that is not known.
bool visit_shared(Course *at, uint64_t word, unsigned how);
bool visit_global(Course *at, uint64_t word, uint64_t address, uint32_t bytes, unsigned how);
bool is_left_open(const Course *at, uint64_t word); // who writes it last is not known

#endif
