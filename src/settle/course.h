// What course.c and visit.c share: one launch on the functional machine and blocks of it carried out again.
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

struct Course {
  Arena *arena;
  MachineEnvironment environment;
  MachineWatch watch;
  const Launch *launch;
  uint64_t base;
  uint8_t *memory;
  uint64_t words;
  uint32_t *before, *after; // memory as the launch found and left it
  uint32_t blocks, block_warps;
  WatchedStep now;
  bool is_access;  // the current step has touched memory
  uint32_t time;   // then: when it came in the golden run, or NO_TIME
  uint32_t places; // and the hash of its addresses; of those in shared memory, only of the passes that they take
  uint32_t lanes_left;
  uint64_t shared_address[WARP_LANES];
  uint32_t shared_lanes, shared_bytes; // of which the passes are not counted yet
  // The fault-free run
  const Timeline *timeline;
  const Spec *spec;
  bool has_times;
  bool keeps_lanes;
  uint32_t latency;       // the longest of an access in the golden run
  uint32_t store_latency; // of a store
  uint32_t margin;        // time by which accesses must lie apart for their order to be certain, as long as the block has gone nowhere else
  Use *uses;
  Warpath *warpaths; // by block and warp
  bool is_lost;      // somebody did what is not told
  bool is_racy;      // results may depend on time: warps or blocks meet in memory
  bool keeps_readers;
  uint32_t *line_reader; // the last block that read of it
  uint64_t accesses;     // so far
  uint32_t *line_stores; // 1 + the index in `stores` of the last block that wrote to it
  LineStoresVec stores;  // by line, after the run
  BlockWordVec writes;   // by block, after the run
  uint32_t *first_write; // by block
  LineBlockVec readers;
  // Blocks carried out again
  Rerun *rerun;
  RerunOrder order;
  uint32_t *marks, *chosen;    // by block: stamp of the fault that it belongs to; list of these blocks
  uint32_t stamp, visit_stamp; // the fault; the attempt
  Visit *visits;
  WordVec written;
  LineCount *stores_again; // by line
  bool leaves_open;        // when a block is struck, who writes a word last may be left open
  bool may_be_open;        // it is
  OpenWordVec open_words;
  uint32_t back_to; // what other blocks write long after this time is seen as it was before; NO_TIME: as it was left
  bool goes_back;   // that has changed: once more
  Trap trap;
  // One of them
  uint32_t block, step;
  uint32_t shared_stamp;
  Visit *shared;
  AgainWarp again[COURSE_WARPS];
  const PastAccess *past; // the access under way as it was in the fault-free run; NULL: there was none
  const PastAccess *same; // if the warp's course was the same up to it
  uint32_t same_warp;
  uint64_t elsewhere;   // accesses that were not there, or to other addresses
  uint32_t diverged_at; // from when on its times may be others; NO_TIME: never
  uint32_t needed;      // times up to this one have decided an order by little: they must be right
};

static inline uint32_t word_get(const Course *at, uint64_t word) {
  uint32_t value;
  memcpy(&value, at->memory + word * WORD, sizeof value);
  return value;
}
static inline void word_set(const Course *at, uint64_t word, uint32_t value) { memcpy(at->memory + word * WORD, &value, sizeof value); }
bool in_constants(const Course *at, uint64_t word); // constants are read without being told
// Of a word that another block writes: whether it is seen as it was before.
static inline bool is_seen_early(const Course *at, const Use *use) {
  return at->back_to != NO_TIME && use->first_write != NO_TIME && (uint64_t)at->back_to + at->margin < use->first_write;
}

// A word is touched. False: what is read or left there depends on an order that is not known.
bool visit_shared(Course *at, uint64_t word, unsigned how);
// In the fault-free run, where nobody's order matters yet: do warps of a block meet?
bool visit_past(const Course *at, Visit *place, unsigned how);
bool visit_global(Course *at, uint64_t word, uint64_t address, uint32_t bytes, unsigned how);

#endif
