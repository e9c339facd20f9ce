// Every bit of the SIMT machine: plain structs, kept in arrays of one pointer-free block. state.def lists the arrays and
// names the cells in them that hardware would have.
//
// Rules. Structs have no padding (checked in state.c), so equal states have equal bytes. An entry that is not in use is all
// zeros. Any value of an INJECTABLE field is legal: readers mask indices and check counts. Times are absolute cycles.
#ifndef REDOUBT_SIMT_STATE_H
#define REDOUBT_SIMT_STATE_H

#include "config/config.h"
#include "hook/region.h"
#include "machine/machine.h"
#include "machine/parts/block.h"
#include "machine/parts/cache.h"
#include "machine/parts/dram.h"
#include "machine/parts/network.h"
#include "machine/parts/packet.h"
#include "machine/simt/code.h"
#include "machine/snapshot.h"

enum {
  SIMT_MOST_WARPS = 64, // per SM: warp sets are 64-bit masks
  SIMT_MOST_SCHEDULERS = 8,
  SIMT_MOST_SPS = 8,
  SIMT_MOST_COLLECTORS = 64,
  SIMT_SOURCE_ROWS = 24,  // the most source registers of any instruction (wmma)
  SIMT_RESULT_ROWS = 8,   // the most result registers
  SIMT_TENSOR_STEPS = 16, // multipliers of a lane of the tensor unit, one after the other in its sum: as deep as the usual products
  SIMT_FLIGHTS = 32,      // instructions of an SM between dispatch and write-back
  SIMT_MEMORY_ROWS = 8,   // registers a load or store moves per lane
  SIMT_MOST_MEMOPS = 128,
  SIMT_MEMORY_RING = 144, // the most memory instructions and gathers
  SIMT_GATHER_LINES = 64, // lines a texture or fragment instruction collects at a time
  SIMT_REPLIES = 8,       // packets from the interconnect that wait in an SM
  SIMT_CONSTANT_MSHRS = 4,
  SIMT_TEXTURE_MSHRS = 16,
  SIMT_MOST_L2_MSHRS = MSHR_MOST, // config.def's limit
  SIMT_MOST_L2_PIPE = 128,        // requests on their way to a slice's tags
  SIMT_MOST_RANGES = 128,
  SIMT_ACTIONS = 16,       // of an SM that wait to be carried out
  SIMT_MOST_SMS = 1024,    // config.def's limit
  SIMT_MOST_SINKS = 2048,  // SMs or slices: config.def's limits
  SIMT_PLAN_OWNERS = 16,   // the most warps in one part: a large warp and its guests
  SIMT_MOST_PLANS = 320,   // per SM: a bit mask
  SIMT_MOST_TICKETS = 384, // per SM: a bit mask
  SOURCE_NONE = 0xFFFF,    // a source row that is filled without a register: RZ, immediate, constant
};

// The machine as a whole; the block scheduler.
typedef struct SimtCore {
  uint64_t cycle;      // since the machine was made
  uint64_t began_at;   // cycle of the launch
  uint64_t next_block; // linear index of the block that goes out next
  uint64_t blocks_done;
  uint64_t block_total;  // of the launch
  uint64_t dispatch_at;  // cycle from which the next block may go out
  uint64_t ages;         // blocks dispatched so far: warps' age
  uint64_t instructions; // warp instructions issued in the launch, for its limit
  uint32_t dispatch_sm;  // round robin
  uint32_t trapped;      // TrapKind of the launch
  uint32_t trap_sm, trap_warp, trap_pc, trap_lane;
  uint64_t trap_address;
  uint32_t trap_space, trap_bytes;
  uint64_t resident;                           // blocks in all SMs
  uint64_t packets;                            // requests without their reply: the interconnect rests when there are none
  uint64_t const_written;                      // 1: the launch has written where its constants lie
  uint64_t local_touched;                      // bytes of each warp's local memory, from its start, that may not be zero
  uint64_t slices_at;                          // the least slices_at of the block: no slice has anything to do before that
  uint64_t controllers_at;                     // no DRAM controller has anything to do before that
  uint64_t sent_from[SIMT_MOST_SMS / 64];      // bit i: the output queue of SM i holds packets
  uint64_t replied_from[SIMT_MOST_SINKS / 64]; // likewise of slices
} SimtCore;

typedef struct SchedulerState {
  uint64_t active;      // two-level: the active set, bit = warp
  uint64_t ready_order; // frfs: bumps each time a warp becomes ready
  uint32_t last;        // warp that issued last
  uint32_t entered;     // two-level: warp that entered the active set last
  uint32_t wanted;      // warp + 1 that a hook wants to issue next; 0: none
  uint32_t spare;
} SchedulerState;

// Why no instruction issued: each cycle of each SM goes to one of these.
typedef enum IdleReason {
  IDLE_NONE,     // something issued, or SPs were at work
  IDLE_EMPTY,    // no block: load imbalance
  IDLE_MEMORY,   // every warp that could go on waits for memory
  IDLE_BARRIER,  // or for a barrier
  IDLE_FETCH,    // or for its instructions
  IDLE_PIPELINE, // or for results of arithmetic, or for a unit
  IDLE_REASONS
} IdleReason;

typedef struct SmState {
  uint64_t counted_to; // statistics of time are complete up to this cycle
  uint64_t sp_free_at[SIMT_MOST_SPS];
  uint64_t sfu_free_at, fp64_free_at, tensor_free_at, ldst_free_at, shared_free_at;
  SchedulerState schedulers[SIMT_MOST_SCHEDULERS];
  uint32_t idle_reason;               // IdleReason since counted_to
  uint32_t resident;                  // blocks
  uint32_t fetch_next;                // round robin over warps
  uint32_t collect_next;              // round robin over collectors, for banks
  uint32_t memory_head, memory_count; // ring of memory instructions in program order that still make requests; see MemOp
  uint16_t memory_ring[SIMT_MEMORY_RING];
  uint64_t memory_used[2];                       // bit i: memory instruction i is in use
  uint64_t done_count;                           // entries of done_queue
  uint8_t done_queue[SIMT_MOST_MEMOPS];          // memory instructions whose results are complete, by ready_at
  uint64_t stores_out;                           // write packets without reply
  uint64_t memory_stalled_at;                    // cycle since which the head of the ring could not go on; 0: it can
  uint64_t block_slots;                          // bit s: block slot s is taken
  uint64_t ending;                               // of them: all threads have ended, some of their accesses have not
  uint64_t present;                              // bit w: entry w of the warp table holds a warp with living threads
  uint64_t waits[IDLE_REASONS];                  // of them, by reason: need not be looked at until front_awake
  uint64_t wants_collector;                      // of them: wait for a collector
  uint64_t wants_ldst;                           // of them: wait for a place in the load/store queue
  uint64_t fetch_wants;                          // warps with room in their buffer and no miss under way
  uint64_t fetch_stalled;                        // of them: found no miss register
  uint64_t fetch_looks;                          // bit i: instruction miss register i is to look into the second level
  uint64_t sp_busy_until;                        // some SP works until then (idle statistics)
  uint64_t sp_partial;                           // bit s: SP s works for an instruction that leaves lanes idle
  uint64_t collect_used;                         // bit i: collector i holds an instruction
  uint64_t collect_pending;                      // bit i: and lacks operands
  uint32_t collect_count, flight_count;          // entries of the lists below
  uint32_t flights_used;                         // bit i: flight i holds an instruction
  uint32_t gathers_used;                         // bit i: gather i holds an instruction
  uint64_t plans_used[SIMT_MOST_PLANS / 64];     // bit i: plan i is in use; see Plan
  uint64_t tickets_used[SIMT_MOST_TICKETS / 64]; // bit i: ticket i is in use; see Ticket
  uint8_t collect_order[SIMT_MOST_COLLECTORS];   // collectors in use, oldest first
  uint8_t collect_port[SIMT_MOST_COLLECTORS];    // of each collector: the unit port it waits for, see execute.h
  uint8_t flight_queue[SIMT_FLIGHTS];            // flights in use, by done_at
} SmState;

// An entry of the warp table. `warp` is what all machines know of a warp: stack header, lanes, predicates.
typedef struct SimtWarp {
  Warp warp;
  uint8_t valid; // holds a warp that has not ended
  uint8_t block_slot;
  uint8_t index;            // in its block
  uint8_t buffered;         // instructions in its buffer
  uint16_t register_base;   // first row
  uint8_t fetch_wait;       // an instruction miss is under way
  uint8_t waits_constant;   // for a line of constant memory
  uint32_t fetch_pc;        // next to fetch
  uint32_t to_issue;        // large-warp mode: threads that still have to issue the instruction at the head of the buffer
  uint64_t issued;          // instructions issued: Fair; numbers copies
  uint64_t next_issue_at;   // control instructions take time
  uint64_t age;             // dispatch order of its block, then index
  uint64_t ready_since;     // frfs
  uint64_t fetched_at;      // cycle the instructions under way arrive
  uint32_t loads, stores;   // memory instructions and write packets without reply
  uint8_t has_rest;         // parts of its last instruction are still to issue: see Rest
  uint8_t shuffled;         // its threads are not on the lanes of their numbers: see home
  uint8_t drain;            // waits until its loads and stores are done (fences, system calls)
  uint8_t head;             // ring of the instruction buffer: place of the oldest
  uint8_t arriving;         // of the buffered: those that are there only from fetched_at on
  uint8_t parts;            // large-warp mode: parts that the instruction at the head of the buffer has led
  uint16_t ticket;          // large-warp mode: of the instruction at the head of the buffer; 0: none
  uint8_t home[WARP_LANES]; // home lane slot of thread i; looked at if `shuffled`
} SimtWarp;

typedef struct BufferEntry { // an instruction in a warp's buffer
  InstrWord word;
  uint32_t pc;
  uint32_t valid;
} BufferEntry;

// Registers with a result under way: bit n of word n / 64. Each instruction clears what it set.
typedef struct Scoreboard {
  uint64_t registers[4];
  uint64_t predicates; // bit n: predicate n
} Scoreboard;

typedef struct RegisterRow {
  uint32_t lane[WARP_LANES];
} RegisterRow;

typedef struct SharedRow { // 128 bytes of shared memory
  uint32_t word[LINE_WORDS];
} SharedRow;

// What a part of an instruction takes along from issue to write-back. A part has 32 lane slots: (turn, lane) of its unit is number
// turn * lanes + lane.
typedef struct Uop {
  InstrWord word;
  uint64_t issue;     // number within the warp; all parts share it
  uint64_t issued_at; // cycle
  uint32_t pc;
  uint32_t mask;   // lane slots that compute
  uint32_t ps, pa; // source predicates, negation applied: of each lane slot; of warp-wide instructions, of each thread
  uint8_t valid;
  uint8_t warp;
  uint8_t copy, copies; // this is issue `copy` (from 0) of `copies` of its threads
  uint8_t sp;           // which SP, or 0
  uint8_t bound_to;     // SP + 1 that it must take; 0: any
  uint16_t plan;        // number of its Plan; 0: plain, lane slot i computes thread i of `warp`
  uint16_t ticket;      // number of its Ticket; 0: the instruction is this one part. Parts of several warps have them in their plan
  uint8_t part;         // number of the part within the instruction; its copies share it
  uint8_t is_early;     // a later copy is to come: of a memory instruction only that makes the access
  uint8_t has_more;     // this copy of the part did not find room for all its threads: others follow
  uint8_t late;         // further cycles until its result: a wish of hooks
  uint8_t spare[2];
} Uop;

// How the lane slots of a part are filled, where that is not plain.
typedef struct PlanOwner { // a warp with threads in it
  uint64_t issue;          // number of the instruction within that warp
  uint16_t ticket;         // 0: none
  uint8_t warp;
  uint8_t spare[5];
} PlanOwner;
typedef struct Plan {
  uint32_t shadow;              // lane slots that are compared and never written
  uint32_t members;             // of a warp-wide instruction: all its threads, whatever part they are in
  uint64_t owners;              // entries of `owner` in use
  uint8_t owner_of[WARP_LANES]; // of each lane slot: index in `owner`
  uint8_t thread[WARP_LANES];   // of each lane slot
  PlanOwner owner[SIMT_PLAN_OWNERS];
} Plan;

// A warp's instruction that issues in several parts: the last one to return clears the scoreboard.
typedef struct Ticket {
  uint16_t issued, returned; // parts; those that are sure to come count as issued
  uint8_t state;             // TicketState
  uint8_t warp;
  uint16_t spare;
} Ticket;
typedef enum TicketState {
  TICKET_OPEN = 1,  // threads of it still have to issue
  TICKET_DEALT = 2, // its threads are dealt over parts
  TICKET_KEPT = 4,  // warp-wide: and its operands are in `kept`
} TicketState;

// What is still to issue of a warp's instruction that has left the buffer.
typedef struct Rest {
  Uop uop;          // the part whose threads issue again; it owns the uop's plan. uop.copy: the next copy
  uint32_t again;   // lane slots of it still to issue in that copy
  uint32_t left;    // threads that have not issued at all
  uint32_t members; // all threads of the instruction
  uint32_t ps, pa;  // source predicates of the threads
  uint32_t empty;   // issue slots that copies of an instruction without work take
  uint16_t ticket;
  uint8_t copies; // of each part
  uint8_t part;   // number of the next
  uint8_t spare[4];
} Rest;

typedef struct Collector {
  Uop uop;
  uint32_t pending;                           // bit i: row i is still to be read from the register file
  uint16_t rows;                              // in use
  uint16_t whole;                             // reads all lanes of a row, not only those of the mask: warp-wide instructions
  uint16_t source[SIMT_SOURCE_ROWS];          // register row of the SM (with a plan: register), or SOURCE_NONE; see operand.h
  uint32_t row[SIMT_SOURCE_ROWS][WARP_LANES]; // by lane slot; of warp-wide instructions by thread
} Collector;

typedef struct Flight { // in a unit's pipeline, its results already in the latch
  Uop uop;
  uint64_t done_at;
  uint16_t rows;
  uint8_t has_predicates;
  uint8_t waits;         // FlightWait
  uint32_t operand_rows; // kept in `operands` for that
  uint32_t predicates[2];
  uint32_t row[SIMT_RESULT_ROWS][WARP_LANES]; // by lane slot
} Flight;
typedef enum FlightWait {
  FLIGHT_GOES,
  FLIGHT_AGAIN, // a hook wants it carried out once more: waits for a collector
  FLIGHT_WRITES // hooks let it pass: waits until later copies of its threads have read their operands
} FlightWait;

// Operands of a flight, kept as long as a hook may ask for its instruction again: registers may have changed by then.
typedef struct FlightOperands {
  uint32_t row[SIMT_SOURCE_ROWS][WARP_LANES];
} FlightOperands;

typedef enum MemStage {
  MEM_FREE,
  MEM_ADDRESS, // in address generation until ready_at
  MEM_REQUEST, // makes requests
  MEM_WAIT,    // all requests made; waits for replies
  MEM_DONE,    // results complete; writes back from ready_at on
} MemStage;

// What the head of the load/store queue waits for, where it is known.
typedef enum HeadWait {
  HEAD_GOES,           // nothing, or nobody knows
  HEAD_WAITS_REGISTER, // a miss register of the L1
  HEAD_WAITS_ROOM,     // room in the SM's queue to the interconnect
} HeadWait;

// What a memory instruction does; see memop.h.
typedef enum MemAction { ACTION_LOAD, ACTION_STORE, ACTION_ATOMIC } MemAction;

// A load, store or atomic between dispatch and its last reply.
typedef struct MemOp {
  Uop uop;
  uint64_t ready_at;               // address generation, then results
  uint64_t address[WARP_LANES];    // physical; ADDRESS_SHARED and an offset in the SM's shared memory
  uint32_t stage;                  // MemStage
  uint32_t left;                   // lanes without a request yet
  uint32_t part;                   // local memory: lanes whose current word has a request
  uint32_t outstanding;            // replies awaited
  uint16_t op, mods;               // row of isa.def and modifiers
  uint8_t action;                  // MemAction
  uint8_t element_bytes, elements; // per lane
  uint8_t sign_extend;             // of elements smaller than a register
  uint8_t word;                    // local memory: the current word of each lane's datum
  uint8_t cached;                  // global loads look in the L1 data cache
  uint8_t spare[2];
  uint32_t kept;                               // of a mirror: lanes that have their data from its own stores (view.c)
  uint32_t data[SIMT_MEMORY_ROWS][WARP_LANES]; // store: what it writes; load: what has come; atomic: operand b, then old values
  uint32_t other[2][WARP_LANES];               // atomic: operand c
} MemOp;

// A texture or matrix fragment instruction: collects lines, then works on them; or makes lines, then writes them.
typedef struct Gather {
  Uop uop;
  uint64_t ready_at;                   // results
  uint32_t stage;                      // MemStage
  uint32_t lanes;                      // that this round serves
  uint32_t left;                       // lanes of later rounds
  uint32_t count;                      // lines wanted
  uint32_t asked, arrived;             // of them
  uint64_t address[SIMT_GATHER_LINES]; // physical, or ADDRESS_SHARED and an offset
  ByteMask bytes[SIMT_GATHER_LINES];   // that are used
  uint32_t line[SIMT_GATHER_LINES][LINE_WORDS];
  uint32_t source[SIMT_SOURCE_ROWS][WARP_LANES]; // operands as collected
  uint32_t result[SIMT_RESULT_ROWS][WARP_LANES];
} Gather;

// An L2 slice and its way to the DRAM.
typedef struct PartitionState {
  PacketQueue input;                             // requests in the slice's pipeline; partition_inputs holds them
  PacketQueue output;                            // replies for the network; partition_outputs holds them
  PacketQueue below;                             // reads and writes for the DRAM controller; partition_belows holds them
  uint32_t pending;                              // miss registers in use
  uint32_t serve_next;                           // round robin over miss registers whose data has come
  MshrUse used;                                  // miss registers
  uint64_t serving[SIMT_MOST_L2_MSHRS / 64];     // bit i: miss register i has its data, requests wait to be served
  uint64_t waiting[2 * SIMT_MOST_L2_MSHRS / 64]; // bit i: place i of l2_waiting is taken
} PartitionState;

typedef struct InputTime { // beside a slice's input queue: when the tag access is done
  uint64_t ready_at;
} InputTime;

// ---- Actions of schemes; see action.h and hook/action.h ----
typedef struct ActCore {
  uint64_t owed; // entries of `owed` in use: while there is none, nobody looks at them
} ActCore;

typedef struct Actor {       // what actions have made of an SM
  uint64_t mirrors;          // bit s: the block in block slot s is a mirror
  uint64_t senders;          // of them: stores and atomics travel to the partitions, where they have no effect
  uint64_t stopping;         // bit s: the block in block slot s was abandoned; its last packets are under way
  uint64_t fallen;           // of the mirrors: has trapped, stops at the start of the next cycle
  uint32_t drops;            // 1: stores and atomics of the SM have no effect
  uint32_t fenced;           // 1: all blocks of the SM are mirrors, whatever `mirrors` says
  uint32_t head, count;      // ring of actions
  uint32_t kept_next, spare; // line that is the oldest of those that mirrors keep
} Actor;

// A queued action. Fields of `word`, from bit 0 on; whatever bits are in them is legal.
typedef struct ActionEntry {
  uint64_t word;
  uint64_t operand; // address of a line, or index of a block
} ActionEntry;
enum {
  ACTION_KIND_AT = 0,             // 4 bits
  ACTION_CHOICE_AT = 4,           // 3: ActionCache of a prefetch, else ActionHold
  ACTION_BLOCK_SLOT_AT = 7,       // 6
  ACTION_FROM_BLOCK_SLOT_AT = 13, // 6
  ACTION_FROM_SM_AT = 19,         // 10
  ACTION_ON_AT = 29,              // 1
  ACTION_SENDS_AT = 30,           // 1
  ACTION_CYCLES_AT = 31,          // 16
  ACTION_WAITED_AT = 47,          // 16: cycles that it has waited at the head of its queue
  ACTION_WORD_BITS = 63,
};

enum {
  OWED_ENTRY = 1,  // the launch waits for it
  OWED_GONE = 2,   // nothing of its last run is under way any more
  OWED_WANTED = 4, // goes out before blocks that have not run yet
};
typedef struct Owed { // a block that was abandoned, or is to run once more
  uint32_t block;     // linear index
  uint32_t state;     // AGAIN_ bits; 0: no entry
} Owed;

// Stores of a block that are held or kept in its SM (held.c): a line of 128 bytes each, of which `bytes` counts.
typedef struct HeldLine {
  uint64_t address; // physical
  ByteMask bytes;
  uint32_t data[LINE_WORDS];
} HeldLine;
typedef struct HeldFor { // of a line that mirrors keep
  uint32_t block_slot;   // 1 + block slot of the mirror; 0: empty
} HeldFor;
typedef struct HeldBlock { // of a block slot
  uint32_t mode;           // HeldMode
  uint32_t lines;          // in use
  uint32_t next;           // to be sent or written
  uint32_t spare;
} HeldBlock;
typedef enum HeldMode {
  HELD_MODE_NONE,
  HELD_MODE_KEEPS,  // stores are held
  HELD_MODE_WAITS,  // stores are held, and the block's end waits for an action
  HELD_MODE_ENDED,  // the block has ended and waits
  HELD_MODE_SENDS,  // lines travel to their partitions, without effect
  HELD_MODE_WRITES, // lines are written; then the block is done
} HeldMode;

enum { SIMT_SENT = 64, SIMT_JOINED = 32 };
enum { SIMT_JOIN_STORES = 64 };
typedef struct SentLoad { // a load of an SM that is under way (join.c)
  uint64_t address, sent_at;
  ByteMask bytes;
  uint8_t turn, valid;
  uint8_t mirror; // it is a mirror's
  uint8_t stale;  // and older than what these SMs of the TPC know
  uint8_t spare[4];
} SentLoad;
typedef struct Joins {              // of an SM
  uint32_t mirrored;                // loads of mirrors in its part of `sent`
  uint8_t stores[SIMT_JOIN_STORES]; // by line, several share one: stores and atomics under way
} Joins;
typedef struct JoinedLoad { // a load that waits for the reply to another SM's
  uint64_t sent_at;         // of that one
  uint16_t sm;
  uint8_t turn, valid, spare[4];
  Packet request; // without data
} JoinedLoad;

enum { SIMT_FREE_LOADS = 64 };
typedef struct FreeLoad { // a load of a mirror that costs nothing (oracle.c)
  uint64_t ready_at;      // 0: none
  Packet reply;
} FreeLoad;

typedef struct Mark { // beside a line of a cache
  uint8_t fresh;      // 1: prefetched, and not used yet
  uint8_t mirror;     // L2, while fresh: a load of a mirror has brought it
  uint16_t sm;        // L2, while fresh: that has asked for it
} Mark;

// Sizes that follow from a Spec.
typedef struct SimtDims {
  uint64_t scheduler_warps[SIMT_MOST_SCHEDULERS]; // of each scheduler: warps that it may have
  uint32_t acts;                                  // 1: hooks need actions
  uint32_t held;                                  // lines for held stores in each SM; 0: no hook holds any
  uint32_t mirror_lines;                          // that mirrors of an SM keep of their own stores; 0: they do not see them
  uint32_t mirror_free;                           // cycles of a mirror's load that costs nothing; 0: loads of mirrors are like others
  uint32_t sms, tpcs, warps, blocks, register_rows, shared_rows, stack, schedulers;
  uint32_t levels;    // of the stack: those that are cells of the SM
  uint32_t barriers;  // 1: the modelled GPU has convergence barriers in place of a stack
  uint32_t two_level; // 1: schedulers have an active set
  uint32_t unified;   // 1: and textures in its L1 data cache
  uint32_t planned;   // 1: a scheme says which thread runs where, or large warps are packed
  uint32_t shuffled;  // 1: a scheme gives threads other lanes when their block starts
  uint32_t collectors, memops, gathers, out, buffer, plans, tickets;
  uint32_t sps, sp_lanes, sfu_lanes, fp64_lanes, tensor_lanes, ldst_lanes;
  uint32_t l1d_lines, constant_lines, texture_lines, icache_lines, icache2_lines;
  uint32_t l1d_mshrs, icache_mshrs;
  uint32_t instruction_bytes; // of the modelled GPU
  uint32_t split;             // 1: that are less than ours, so half of each instruction lies beside its line (code.h)
  uint32_t partitions, slices, controllers, l2_lines, l2_mshrs, l2_queue, l2_inputs;
  uint32_t request_buffers, request_packets, reply_buffers, reply_packets;
  uint32_t banks, dram_queue, memory_rows, memory_lead;
  uint32_t word_bits;                                          // of the scheme word that hooks use; 0: none do
  uint32_t keeps_l2, keeps_icache, keeps_constant, keeps_turn; // 1: not put to rest at a launch's end
  CacheShape l1d, constant, texture, icache, icache2, l2;
  NetworkShape request, reply;
  DramShape dram;
} SimtDims;
typedef enum LaunchCache { LAUNCH_EMPTIED, LAUNCH_KEPT } LaunchCache; // config.def
typedef enum SchedulePolicy {
  SCHEDULE_LRR,
  SCHEDULE_GTO,
  SCHEDULE_TWO_LEVEL,
  SCHEDULE_FAIR,
  SCHEDULE_FRFS,
  SCHEDULE_POLICIES
} SchedulePolicy;                                                                      // config.def
typedef enum Divergence { DIVERGENCE_STACK, DIVERGENCE_BARRIERS } Divergence;          // config.def
typedef enum TextureArray { TEXTURE_OWN, TEXTURE_IN_L1D } TextureArray;                // config.def
typedef enum LaunchHost { LAUNCH_HOST_AROUND, LAUNCH_HOST_THROUGH } LaunchHost;        // config.def
typedef enum FrontRefill { FRONT_REFILL_ROOM, FRONT_REFILL_EMPTY } FrontRefill;        // config.def
typedef enum L2Fetch { L2_FETCH_TOGETHER, L2_FETCH_APART } L2Fetch;                    // config.def
typedef enum DispatchFirst { DISPATCH_FIRST_ZERO, DISPATCH_FIRST_NEXT } DispatchFirst; // config.def
void simt_dims(const Spec *spec, SimtDims *dims);

// Typed pointers into a block, one per array of state.def.
typedef struct SimtState {
#define ARRAY(name, Type, count, flags) Type *name;
#define CELLS(...)
#define MEMORY_CELLS(...)
#define OUTPUTS(...)
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
} SimtState;

typedef enum SimtRegion {
#define ARRAY(name, Type, count, flags)
#define CELLS(id, ...) REGION_##id,
#define MEMORY_CELLS(id, ...) REGION_##id,
#define OUTPUTS(id, ...) REGION_##id,
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
  SIMT_REGIONS,
  SIMT_PLAIN_REGIONS = REGION_ACTION_MIRRORS, // those that are there without actions
} SimtRegion;

// Fills regions[SIMT_REGIONS] and returns the bytes of the arrays.
size_t simt_layout(const SimtDims *dims, Region regions[SIMT_REGIONS]);
void simt_bind(const SimtDims *dims, uint8_t *block, SimtState *state);
// Stretches of the block that decide what happens next; returns their number, at most `most`.
uint32_t simt_hashed(const SimtDims *dims, ByteRange *ranges, uint32_t most);
size_t simt_digested(const SimtDims *dims); // bytes from the first of them on that change in nearly every cycle
uint32_t simt_fields(const SimtDims *dims, StateField fields[STATE_MOST_FIELDS]); // of which not every bit decides

#endif
