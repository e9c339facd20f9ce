// What the files of the faulty-SM scheme share (hints.c opens with the paper and what is modelled).
//
//   hints.c         options, state, the hook
//   hints_blocks.c  which blocks a faulty SM mirrors, and how it is made equal to its partner again
//   hints_gather.c  the gathering unit: from what a faulty SM does to hints
//   hints_queue.c   the queue of a TPC and the processing unit of a partner
//   hints_worth.c   what became of hints; the disabling unit and its period
#ifndef REDOUBT_PROTECT_HINTS_H
#define REDOUBT_PROTECT_HINTS_H

#include "hook/hook.h"

typedef enum HintType { HINT_ICACHE, HINT_MERGE, HINT_L2, HINT_OTHER, HINT_TYPES } HintType;
typedef enum HintOrder { ORDER_PC, ORDER_ISSUE } HintOrder;                          // what the time stamp is
typedef enum HintDisable { DISABLE_PERIOD, DISABLE_NOW, DISABLE_NEVER } HintDisable; // when a type goes off
enum {
  HINT_SM_BITS = 6,
  HINT_TYPE_BITS = 2,
  HINT_STAMP_BITS = 32,
  HINT_WARP_BITS = 10,
  HINT_SPECIFIC_BITS = 54,
  HINT_BITS = 104,
  HINT_UNIT_BITS = HINT_BITS / 2, // a hint lies in two units of a row
  HINT_BLOCK_BYTES = 64,          // of instructions: "fetched from L1 cache 64 bytes at a time"
  HINT_COUNTER_BITS = 8,
  HINT_COUNTER_MIDDLE = 1 << (HINT_COUNTER_BITS - 1),
  HINT_PERIOD_BITS = 20,
  HINT_MOST_PERIOD = (1 << HINT_PERIOD_BITS) - 1,
  HINT_MOST_QUEUE = 16384,
  HINT_MOST_VIEW = 4096,
  HINT_MOST_SMS = 1 << HINT_SM_BITS,
  HINT_STEP = 4,           // cycles between two turns of the processing unit: in so many an SM issues one warp instruction
  HINT_WATCHES = 256,      // addresses whose use is awaited, per SM and kind
  HINT_NOT_ISSUED = 1,     // unit 2 of `at`: the warp has not issued anything
  HINT_NO_SM = UINT16_MAX, // no partner
};

typedef struct Hint {
  uint32_t sm; // faulty, that has made it
  HintType type;
  uint32_t stamp; // program counter of the faulty SM's warp when it was gathered, or how many instructions that warp had issued
  uint32_t warp;  // of the partner, whose hint it is
  uint64_t specific;
} Hint;

// Rows of cells. All but the last five are the hardware that the paper counts.
typedef enum HintCells {
  CELLS_QUEUE,   // [tpc][place]: hints
  CELLS_RING,    // [tpc]: head, count
  CELLS_PERIOD,  // [tpc]: cycle in which the period began, in HINT_PERIOD_BITS
  CELLS_GATHER,  // [sm]: the register of the gathering unit
  CELLS_PROCESS, // [sm]: that of the processing unit
  CELLS_FULL,    // [sm]: which of the two hold a hint
  CELLS_COUNTER, // [sm][type]
  CELLS_ON,      // [sm]: types that are on
  CELLS_BLOCK,   // [sm][block slot]: 1 + block, and of a mirror its partner's block slot, of a partner's block BLOCK_ bits
  CELLS_AT,      // [sm][warp]: program counter, instructions issued, HINT_NOT_ISSUED: what the SM knows of its warps
  CELLS_TURN, // [tpc]: hints still to be compared in this round; 1: hints came in this period; warps of a block; when the length was last added up
  CELLS_WATCH, // [sm][kind][entry]: 1 + address, hints that named it; for statistics and the counters
  CELLS_SINCE, // [sm]: when a mirror was last like its partner; for statistics
  CELLS_COUNT
} HintCells;
enum { FULL_GATHER = 1, FULL_PROCESS = 2 };
enum { BLOCK_FELL = 1, BLOCK_WANTS_COPY = 2 }; // its mirror has trapped; the next mirror goes on from where the block is
typedef enum HintWatch { WATCH_CODE, WATCH_LINE, WATCH_MERGE, WATCH_ASKED, WATCH_KINDS } HintWatch;

typedef struct Hints {
  uint32_t threshold, queue, period, resync, checks, wrong, tpcs, view, free; // options; see hints.c
  uint32_t types;                                                             // bit t: type t
  HintOrder order;
  HintDisable disable;
  bool off, perfect;
  bool sends;     // hints for the L2 become prefetches
  bool asks;      // hints to merge become early requests of the partner; else its loads join those of the faulty SM
  bool each;      // a faulty SM in each of the first `tpcs` TPCs; else `named`
  uint64_t named; // bit s: SM s is faulty
  // Filled in when the scheme is attached
  uint32_t sms, tpc_sms, tpc_count, warps, block_slots;
  uint32_t code_bytes, code_block;    // bytes of an instruction; instructions of a block that a hint names
  uint64_t faulty;                    // bit s: SM s
  uint16_t partner[HINT_MOST_SMS];    // of a faulty SM: its healthy one, or HINT_NO_SM
  uint8_t helpers[HINT_MOST_SMS];     // of a healthy SM: how many faulty ones help it
  uint8_t helper_rank[HINT_MOST_SMS]; // of a faulty SM: which of them it is
  uint16_t cells[CELLS_COUNT];
} Hints;

static inline const Hints *hints_own(const Hook *hook) { return hook->own; }
static inline bool hints_is_faulty(const Hints *own, uint32_t sm) { return sm < own->sms && (own->faulty >> sm & 1) != 0; }
static inline bool hints_is_helped(const Hints *own, uint32_t sm) { return sm < own->sms && own->helpers[sm] != 0; }
static inline uint64_t *hints_at(const Hints *own, const HookMachine *machine, HintCells cells, uint64_t row) {
  const Region *region = &machine->regions->items[own->cells[cells]];
  return (uint64_t *)(void *)(machine->block + region->base + (row < region->rows ? row : row % region->rows) * region->row_bytes);
}
static inline uint32_t hints_block_warps(const Hints *own, const HookMachine *machine) { // of each block of the launch
  return max_u32((uint32_t)hints_at(own, machine, CELLS_TURN, 0)[2], 1);
}
static inline TallyId hints_tally_of(TallyId first, HintType type) { return (TallyId)((uint32_t)first + type); }
static inline void hints_count(const HookMachine *machine, TallyId first, HintType type, uint64_t by) {
  hook_tally(machine, hints_tally_of(first, type), by);
}

// ---- Hints ---------------------------------------------------------------------------------------------
void hint_pack(const Hint *hint, uint64_t cells[2]);
Hint hint_unpack(const uint64_t cells[2]);
static inline uint64_t hint_range(uint64_t address, uint32_t first_word, uint32_t last_word) { // specific: a line, and words of it
  return ((address >> 7 & ((UINT64_C(1) << 43) - 1)) << 11) | first_word << 5 | last_word;
}
static inline uint64_t hint_line(uint64_t specific) { return specific >> 11 << 7; }
static inline uint32_t hint_first_word(uint64_t specific) { return (uint32_t)(specific >> 5 & 31); }
static inline uint32_t hint_last_word(uint64_t specific) { return (uint32_t)(specific & 31); }

// ---- Blocks --------------------------------------------------------------------------------------------
Verdict hints_block(Hook *hook, HookMachine *machine, const BlockEvent *event);
Verdict hints_action(Hook *hook, HookMachine *machine, const ActionEvent *event);
// Warp of the partner that a mirror's warp is a copy of. False: there is none.
bool hints_partner_warp(const Hints *own, const HookMachine *machine, const Who *who, uint32_t *warp);
void hints_resynchronise(const Hints *own, HookMachine *machine, uint32_t partner);

// ---- Gathering -----------------------------------------------------------------------------------------
void hints_gather_fetch(Hook *hook, HookMachine *machine, const Who *who);
void hints_gather_request(Hook *hook, HookMachine *machine, const MemoryEvent *event);
uint64_t hints_range_of(const MemoryEvent *event); // the line and the words that it asks for, as hints have them

// ---- Queue and processing ------------------------------------------------------------------------------
bool hints_push(const Hints *own, const HookMachine *machine, uint32_t tpc, const uint64_t cells[2]); // false: full
// Where a hint stands to its partner's warp.
typedef enum HintTime { HINT_LATE, HINT_NOW, HINT_EARLY } HintTime;
HintTime hints_judge(const Hints *own, const HookMachine *machine, const Hint *hint, uint32_t *distance);
bool hints_deliver(const Hints *own, HookMachine *machine, const Hint *hint); // false: not now
void hints_process(const Hints *own, HookMachine *machine, uint32_t tpc);
void hints_moved(Hook *hook, HookMachine *machine, uint32_t sm); // the partner has issued, or a hint has come: compare anew

// ---- Worth ---------------------------------------------------------------------------------------------
bool hints_type_is_on(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type);
void hints_up(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type, uint32_t by);
void hints_down(const Hints *own, const HookMachine *machine, uint32_t partner, HintType type);
void hints_watch(const Hints *own, const HookMachine *machine, uint32_t partner, HintWatch kind, uint64_t key);
void hints_wanted(const Hints *own, const HookMachine *machine, uint32_t partner, HintWatch kind, uint64_t key);
// Loads of the partner that lie within the range and the time of a hint. Whichever of the two comes first waits for the other.
bool hints_meets(const Hints *own, const HookMachine *machine, const Hint *hint); // the partner has asked already
void hints_offer(const Hints *own, const HookMachine *machine, const Hint *hint);
bool hints_is_offered(const Hints *own, const HookMachine *machine, const Hint *hint);
void hints_merge(const Hints *own, const HookMachine *machine, const MemoryEvent *event); // the partner asks
Verdict hints_prefetch(Hook *hook, HookMachine *machine, const PrefetchEvent *event);
void hints_aged(const Hints *own, const HookMachine *machine, uint32_t faulty, TallyId first, uint64_t by);
void hints_begin(const Hints *own, const HookMachine *machine);
// Ends the period of a TPC if it is time; the cycle in which it will be.
uint64_t hints_period(const Hints *own, HookMachine *machine, uint32_t tpc);

#endif
