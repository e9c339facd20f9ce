// The one table through which anything sees or touches a machine: faults, protections, observers.
//
// A hook is a struct of nullable functions. The machine calls the chain at each place and obeys the strongest
// verdict; it never learns who is there. hook.def has one row per event. Order is physics: bits that leave a cell or unit walk the chain forwards
// [faults, protections, observers]: damage, then check; bits that enter a cell walk it backwards over faults
// and protections: encode, then damage. Observers come last and change nothing.
//
// A scheme's own state is a region of the machine's block, asked for in `attach`; so it is cloned, hashed, saved
// and itself injectable. `own` holds configuration only and no pointer into a block: one hook of a protection serves a machine and all its clones.
#ifndef REDOUBT_HOOK_H
#define REDOUBT_HOOK_H

#include "config/config.h"
#include "hook/action.h"
#include "hook/part.h"
#include "hook/region.h"
#include "program/program.h"

typedef enum Verdict {
  VERDICT_PASS,
  VERDICT_FIXED,  // something was wrong and has been put right
  VERDICT_STALL,  // not now: ask again next cycle
  VERDICT_HOLD,   // result: the hook has taken it, nothing is written back
  VERDICT_REPEAT, // result: carry the instruction out once more; of a hook with `repeats` alone
  VERDICT_DROP,   // arrival: it has no effect and counts as answered
  VERDICT_HALT,   // detected and not to be repaired: the launch ends with TRAP_DETECTED
  VERDICT_COUNT
} Verdict;
// Which are legal for which event is a column of hook.def. One that is not is an ASSERT in debug builds (REDOUBT_STRICT). In others the hook is refused:
// its verdict counts as PASS, HookMachine.refused names it, and the machine ends the launch with one line that says so.

typedef enum HookClass { HOOK_FAULT, HOOK_PROTECTION, HOOK_OBSERVER } HookClass;

typedef struct Hook Hook;
// A verdict that was not legal: whose, for which event.
typedef struct Refusal {
  const Hook *hook;
  const char *event;
  Verdict verdict;
} Refusal;
// A warp's next instruction, as HookMachine.look_at shows it. False from it: there is no such warp, or its instruction is not in its buffer.
typedef struct WarpView {
  bool is_ready;        // it could issue in this cycle, if its scheduler chose it
  uint32_t pc, threads; // active and guard
  uint64_t issue;       // number that the instruction will have
  InstrWord word;
  uint32_t scheduler, block_slot;
  const uint8_t *home; // lane slot of each of its 32 threads; good during the call
} WarpView;

// What schemes count, one row each in tally.def.
typedef enum TallyId {
#define STAT(id, name, unit, meaning) TALLY_##id,
#include "hook/tally.def"
#undef STAT
  TALLY_COUNT
} TallyId;

// What hooks may know of the machine they are attached to. Pointers are re-made when the block moves.
typedef struct HookMachine HookMachine;
struct HookMachine {
  uint8_t *block;
  uint8_t *memory; // host address of device memory's first byte; for REGION_OUTSIDE
  const RegionTable *regions;
  const Spec *spec;
  const Program *program; // of the current launch
  uint32_t warp_rows;     // register rows of each warp in it: those of warp w start at w * warp_rows
  uint64_t cycle;
  uint64_t still_until;                      // in `cycle`: before this cycle no cell changes but by the hook that is called; 0: not known
  uint64_t *corrected, *detected, *repeated; // counters in the block, part of every launch's statistics; hooks count
  uint64_t *tally;                           // TALLY_COUNT counters in the block, likewise; NULL: the machine has none
  Refusal refused;                           // .hook is NULL: nobody
  const Hook *halted;                        // who said HALT last, of several for one event the first; NULL: nobody
  // Does the place hold nothing now? Then this bit is written before it is read again. NULL: the machine does not know.
  bool (*is_free)(const HookMachine *machine, const Site *site);
  // Of a REGION_DECIDED structure: will every further use of this bit, and every write of it, be told in `decide`? NULL: no.
  bool (*is_told)(const HookMachine *machine, const Site *site);
  // What a warp would issue next, without any effect; NULL: not known. See WarpView.
  bool (*look_at)(const HookMachine *machine, uint32_t sm, uint32_t warp, WarpView *view);
  // A statistic of the launch so far, by its name (docs/statistics.md): NULL: there is none. NULL as a whole: not known.
  const uint64_t *(*stat)(const HookMachine *machine, const char *name);
  // Queues an action for the next cycle. False: the queue is full, it is none that the hooks need, or it names what is not there. NULL: no hook needs any.
  bool (*act)(HookMachine *machine, const Action *action);
};

static inline void hook_tally(const HookMachine *machine, TallyId id, uint64_t by) {
  if (machine->tally != NULL) machine->tally[id] += by;
}

// ---- Who -----------------------------------------------------------------------------------------
// Who in an SM, or below it, an access of memory is for.
typedef enum Client {
  CLIENT_NONE, // no access, or not known
  CLIENT_INSTRUCTION,
  CLIENT_CONSTANT,
  CLIENT_TEXTURE, // textures, surfaces and matrix fragments
  CLIENT_LOAD,
  CLIENT_STORE,
  CLIENT_ATOMIC,
  CLIENT_WRITE_BACK, // a cache gives dirty bytes back
  CLIENT_PREFETCH,   // an action of a hook
  CLIENT_COUNT
} Client;

// On whose behalf something happens. Every event begins with a pointer to one, filled once per instruction or packet. What is not known says so.
#define WHO_NO_INDEX UINT32_MAX  // sm, block_slot, warp, pc
#define WHO_NO_NUMBER UINT64_MAX // launch, block, issue, request
typedef struct Who {
  uint64_t launch;  // number, from 1
  uint64_t block;   // linear index in the grid
  uint64_t issue;   // number of the instruction within its warp; copies of an instruction share it
  uint64_t request; // number of the memory request within the launch
  uint32_t sm, block_slot, warp, pc;
  Client client;
} Who;
// clang-format off
#define WHO_NOBODY (Who){WHO_NO_NUMBER, WHO_NO_NUMBER, WHO_NO_NUMBER, WHO_NO_NUMBER, WHO_NO_INDEX, WHO_NO_INDEX, WHO_NO_INDEX, WHO_NO_INDEX, CLIENT_NONE}
// clang-format on

// ---- Events ------------------------------------------------------------------------------------
// Bits leave cells (read) or have entered them (write). `data` is unit 0 of the row; the machine has the row's
// units in `units` in its hands, so a hook that repairs changes them in place. A write of part of a unit is told
// as a read and then a write.
typedef struct CellEvent {
  const Who *who;
  uint16_t region;
  uint32_t units; // bit i: unit i
  uint64_t row;
  uint8_t *data;
} CellEvent;

typedef struct LaunchEvent {
  const Who *who;
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; // of a block
  uint32_t block_slots;  // blocks of it that an SM can have at once; 0: not known
} LaunchEvent;

typedef struct BlockEvent { // a block goes to an SM, or (done) has left it
  const Who *who;
  bool done;
  bool stopped; // it was abandoned: nothing of it will be issued or written back; `done` follows when its last packets are back
  bool mirror;  // ACTION_MIRROR has made it
  uint8_t copy; // of a point that a rasteriser has issued several times: which
} BlockEvent;

typedef struct FetchEvent { // instruction words enter a warp's buffer
  const Who *who;
  InstrWord *word;
} FetchEvent;

// A warp instruction is about to issue. A hook may be asked again for the same instruction when another said STALL: who->issue
// tells, and the ResultEvents of its parts will have it.
typedef struct IssueEvent {
  const Who *who;
  uint32_t scheduler;
  const Instr *instr;
  Unit unit;
  uint32_t mask;       // threads that will execute: active and guard
  uint32_t idle_lanes; // lane slots that a plain issue leaves unused
} IssueEvent;

// A part of an instruction is about to issue: which threads it takes, and how often it issues. What hooks may change is marked (in/out).
// Threads that it does not take come in a later part. Memory and warp-wide instructions cannot be divided here: their `part` is only to be
// looked at, but for shadows of memory instructions. An instruction that no unit carries out (control flow, barriers) is never planned.
typedef struct PlanEvent {
  const Who *who;
  uint32_t scheduler;
  const Instr *instr;
  Unit unit;
  uint8_t number; // of the part within the instruction; copies share it
  uint8_t copy;   // 0: these threads issue for the first time; else it is the copy of that number, or (is_repeat) a repeat
  bool is_repeat; // a hook has said REPEAT
  uint8_t copies; // (in/out, copy 0) how often this part issues, in consecutive issue slots; 1 = once
  uint8_t next;   // (in/out) warp that shall issue next, as soon as it can; PART_ANY: no wish
  LanePart *part; // (in/out) as it would issue; guests, threads of other warps that are ready at the same instruction, as shadows
} PlanEvent;

// The same part, its threads decided: on which lanes, and on which SP. Threads that are left out come in a later part.
typedef struct PlaceEvent {
  const Who *who;
  uint32_t scheduler;
  const Instr *instr;
  Unit unit;
  uint8_t number; // of the part within the instruction; copies share it
  uint8_t copy;
  bool is_repeat;
  bool is_whole; // a memory instruction: all threads must be placed, or none moves
  uint8_t sps;   // SPs that it could take; 0: it goes to another unit
  uint8_t sp;    // (in/out) one of them; PART_ANY: whichever is free
  uint8_t
      late; // (in/out) further cycles until its result, or its addresses, for wires and crossbars on the way; units begin others meanwhile
  uint32_t lanes; // of the unit: lane slot s is lane s % lanes in turn s / lanes
  LanePart *part; // (in/out)
} PlaceEvent;

// A warp begins: where its threads live. `home` is a permutation; anything else counts as no change.
typedef struct HomeEvent {
  const Who *who;
  uint32_t index;   // of the warp in its block
  uint32_t threads; // that it has
  uint8_t *home;    // (in/out) lane slot of each of the 32 threads
} HomeEvent;

// What a unit that has told regions inside made its results of: a matrix product (isa/matrix.h). Row `row * steps + step` of its regions has the
// values of that step of k; step `steps` is step 0 again. Values inside are there in the cycles of the result.
typedef struct ResultInside {
  uint16_t product, sum; // regions
  uint32_t steps;
  const uint32_t *a, *b, *c; // the fragments of all threads, by thread
} ResultInside;

// A unit has its results, by lane slot. The unit's outputs are row `row` of the REGION_OUTPUT region `region`, which has as many units as the
// hardware has lanes: lane slot s leaves output s % lanes in turn s / lanes.
typedef struct ResultEvent {
  const Who *who;     // of the instruction that issued; threads of other warps may be with it
  const Instr *instr; // NULL: of a program of another form
  uint16_t region;
  uint64_t row;
  uint32_t cycles;         // that the outputs are busy with it, this one the last
  uint32_t mask;           // lane slots that computed
  uint32_t shadow;         // of them: shadows
  const PartOwner *owner;  // warps with threads in it; the first is the one that issued
  const uint8_t *owner_of; // of each lane slot: index in `owner`
  const uint8_t *thread;   // of each lane slot: thread of that warp
  uint32_t owners;
  uint8_t slots;              // lane slots that there are; 0: those of a warp
  uint8_t copy, copies;       // this is issue `copy` (from 0) of `copies` so far of its threads
  uint8_t part;               // number of the part within the instruction; copies share it
  bool is_last;               // of this copy: all its threads have come with this result
  uint32_t compared;          // (out) lane slots whose result a hook compares with that of another computation of the same thread
  uint32_t *rows;             // row_count * 32 words (in/out)
  uint32_t row_count;         // result registers; addresses (2 rows) for memory instructions
  uint32_t *predicates;       // two masks of lane slots (in/out); NULL when it makes none
  const ResultInside *inside; // NULL: the unit has no regions inside
} ResultEvent;

// Which turn of the threads, and which group of the result's words, was on the outputs in `cycle`; the result is told in `now`. Turns are spread over the cycles;
// several in one cycle take turns from cycle to cycle, and so do the words of a result that is wider than the outputs. False: none of it was there then.
typedef struct OutputMoment {
  uint32_t turn, turns;   // lane slot = turn * units + unit
  uint32_t group, groups; // its first word = group * width
  uint32_t width;         // of the outputs, in words
} OutputMoment;
static inline uint32_t result_turns(const Region *outputs, const ResultEvent *event) {
  return ((event->slots == 0 ? WARP_LANES : event->slots) + outputs->units - 1) / outputs->units;
}
bool result_at(const Region *outputs, const ResultEvent *event, uint64_t now, uint64_t cycle, OutputMoment *moment);

typedef struct BranchEvent {
  const Who *who;
  uint32_t target, mask, taken;
} BranchEvent;

typedef enum MemoryMoment {
  MEMORY_REQUEST,
  MEMORY_EVICT,
  MEMORY_ARRIVAL,
  MEMORY_SERVICE,
  MEMORY_RESPONSE
} MemoryMoment; // the event's name

// Where a request spends its time. Together they are the time from request to response.
typedef enum MemoryStage {
  STAGE_QUEUE,         // of the SM, or of the slice that gives bytes back
  STAGE_NETWORK,       // on its way to the partition
  STAGE_SLICE,         // in the pipeline and before the tags of the L2 slice
  STAGE_MISS_REGISTER, // waits there for the controller to take it, and for its turn when the data has come
  STAGE_CONTROLLER,    // in the queue of the DRAM controller
  STAGE_DRAM,          // commands, bursts, pins
  STAGE_RETURN,        // the reply on its way to the SM
  MEMORY_STAGES
} MemoryStage;

// A request keeps who->request from its SM to DRAM and back. Numbers are unique in a launch and grow with time; they are not dense. One whose
// `request` was answered STALL is asked for again later, under another number; observers hear of it only when it goes.
// Every number told in `request` or `evict` is told once more in `response`, or its launch ends first (`finish`).
typedef struct MemoryEvent {
  const Who *who; // service: the first that waits for it
  MemoryMoment moment;
  uint32_t partition;
  uint64_t address;       // of a 128-byte line; physical
  uint64_t mask[2];       // bit i: byte i of the line is asked for, or carried
  uint32_t bytes;         // how many these are
  const uint32_t *data;   // 32 words of which `mask` counts; NULL: it carries none
  bool write;             // it changes memory; service: DRAM is written
  const Who *waiters;     // service, response: all that wait for the bytes, merged ones included; else who alone
  uint32_t waiter_count;  // a prefetch has none
  uint64_t waited;        // service: cycles in the controller's queue until now; response: since the request
  uint64_t entry;         // service: row of the controllers' queue ("dramq.*") in which it waited
  const uint32_t *stages; // MEMORY_STAGES: cycles in each of them so far
  uint32_t *join;         // (in/out) request of a load: an SM of the TPC whose reply for the line shall answer it, too; NULL: cannot be
  uint32_t *word;         // scheme word, see hook_word_get; what is written at request or service comes back with every reply to who waits
} MemoryEvent;

// A rasteriser is about to issue a point of its domain. Points go out one by one, the copies of a point behind one another. It is asked in every cycle
// in which it has room, also when the domain is at its end.
typedef struct PointEvent {
  const Who *who;             // block: the rasteriser's own point, if there is one
  uint32_t x, y;              // (in/out) that point, or (is_other) another one, which goes first
  uint32_t width, height;     // of the domain
  bool has_own;               // false: all points of the domain have gone out
  bool is_drained;            // and nothing is under way any more: without another point the launch ends
  bool is_other;              // (out) x and y are a hook's: the rasteriser's own comes later
  bool joins;                 // (out) with is_other: it goes with its neighbours, as the rasteriser's own points do
  bool waits;                 // (out) one will come later: the launch does not end
  bool restarts;              // (out) with !has_own: the domain is rasterised once more, from its first point
  uint8_t copies, first_copy; // (in/out) how many go out; the number of the first, which `block` tells
} PointEvent;

// A raster operation has a result in its hands. PASS: it writes it; DROP: it does not. With `wants_old` it reads what the frame holds through its cache, and
// the event comes again, with `old`: in the same cycle if the cache has it.
typedef struct MergeEvent {
  const Who *who; // block: the point
  uint32_t unit;  // raster operation
  uint32_t x, y, width;
  uint32_t from_x, from_y; // the point that has computed it: another one if the program scatters
  uint32_t *value;         // (in/out) four words: red, green, blue, depth
  const uint32_t *old;     // the same four words of the frame; NULL: not asked for
  bool wants_old;          // (out)
} MergeEvent;

// Rows `row` of the structures `region` to `last`, which lie together, begin or end to hold something.
typedef struct HoldEvent {
  const Who *who;
  uint16_t region, last;
  uint64_t row;
} HoldEvent;

// Control logic has used a cell of a REGION_DECIDED structure, or written it. Bits that are in neither mask stay as they were.
typedef struct DecideEvent {
  const Who *who;
  uint16_t region;
  uint64_t row;
  uint32_t unit;
  uint64_t decided; // bits each of which, had it alone been the other way, would have made a difference to what has been done
  uint64_t written; // of the others: those that have a new value now, whatever they were
} DecideEvent;

typedef struct CommitEvent { // an instruction has written back
  const Who *who;
  uint32_t mask;
  const Instr *instr; // NULL: of a program of another form (program_text_at)
  uint64_t issued_at; // cycle
} CommitEvent;

typedef struct TrapEvent {
  const Who *who;
  uint32_t kind;  // TrapKind
  bool of_thread; // a thread of `who` has done it; else the launch as a whole ends: it hangs, or is stopped
} TrapEvent;

typedef struct ActionEvent { // an action was carried out, or could not be
  const Who *who;
  const Action *action;
  bool done;
} ActionEvent;

// Of a block whose stores are held (ACTION_HOLD).
typedef enum HeldStage {
  HELD_FULL,  // there is no room for a store, or it is an atomic, which cannot be held; PASS: it goes as if nothing were held
  HELD_ENDED, // the block has ended and waits for HOLD_SEND, HOLD_WRITE or ABANDON
  HELD_SENT,  // what it holds has been to the partitions and back; it waits again
} HeldStage;
typedef struct HeldEvent {
  const Who *who;
  HeldStage stage;
  bool mirror;
  uint32_t lines, bytes; // that are held
} HeldEvent;

typedef enum PrefetchStage { PREFETCH_FILLED, PREFETCH_USED, PREFETCH_EVICTED } PrefetchStage; // USED: for the first time; EVICTED: unused
// Of a line that ACTION_PREFETCH has brought, or into the second level a load of a mirror (`mirror`), which nobody else had asked for.
typedef struct PrefetchEvent {
  const Who *who; // the SM of the cache; second level: the SM that has asked for it
  PrefetchStage stage;
  ActionCache cache;
  uint64_t address; // physical, of the line
  bool mirror;
} PrefetchEvent;

// One entry of a time line, for observers: unit busy, line filled, row opened.
// A launch has phases where the machine tells them: who->sm begins one, or (WHO_NO_INDEX) all of it.
typedef struct PhaseEvent {
  const Who *who;
  const char *name; // "configuration", "processing", "exchange"
  uint64_t at;      // its first cycle; may lie ahead
} PhaseEvent;

// What the host does with device memory between launches. The device tells it to the hooks that it was made with, not to those of clones; the
// HookMachine is empty.
typedef enum HostAccess {
  HOST_READS,  // or copies it to another place
  HOST_WRITES, // or frees it: what was there is gone
  HOST_SHOWS,  // the launch that follows reads it by other ways than loads: a constant bank
} HostAccess;
typedef struct HostEvent {
  const Who *who;
  HostAccess access;
  uint64_t address, bytes; // 0, UINT64_MAX: any of it
} HostEvent;

typedef struct SpanEvent {
  const Who *who;
  const char *track; // "l2", "dram"
  uint32_t instance;
  const char *what;
  uint64_t start, end; // cycles
} SpanEvent;

// ---- The hook ----------------------------------------------------------------------------------
// Hands out regions while the machine is being laid out. How far events' indices go: hooks size their state by it.
typedef struct HookShape {
  uint32_t sms, warps, block_slots; // both per SM
  uint32_t tpc_sms;                 // SMs of a TPC, those that lie together; 0: the machine has no TPCs
  uint32_t instruction_bytes;       // of an instruction as its caches count it; 0: as ours
  uint32_t untold;                  // WANT_*: events that the machine does not tell
  bool pairs;                       // neighbouring cores share a cache and can run in lockstep
} HookShape;
typedef struct HookLayout HookLayout;
// A new region: name, title, unit, meaning, dims, units, bits, unit_bytes and GUARDED of `wanted` say what; the rest is filled in. Its
// cells are zeroed bytes of the block, INJECTABLE and HASHED; `life` says when they are zeroed again. A region that lives for one instruction has
// the dimensions sm, warp and, to tell the latest n instructions of a warp apart, n. REGION_NONE, with a diagnostic: the name is taken.
uint16_t hook_add_region(HookLayout *layout, const Region *wanted, RegionLife life, Diags *diags);
uint64_t hook_instruction_row(const Region *region, uint32_t sm, uint32_t warp,
                              uint64_t issue);                    // of a region that lives for one instruction
const RegionTable *hook_layout_regions(const HookLayout *layout); // what is there already: the machine's own, and earlier hooks'
const HookShape *hook_layout_shape(const HookLayout *layout);

// How mirrors (ACTION_MIRROR) work on a machine. Of several hooks, the most that any asks for.
typedef struct MirrorWay {
  uint16_t lines;       // of an SM's own stores that its mirrors keep and read back; 0: they see memory as others have made it
  uint16_t free_cycles; // their loads cost nothing and take so long: for limit studies; 0: they are like others
} MirrorWay;

struct Hook {
  const char *name;
  HookClass kind;
  // Statistics that show that a protection acts, with spaces between them: if none of them counts anything in a run, it did nothing, and that is told.
  // "": there is none that always would.
  const char *signs;
  void *own;        // configuration; the owner of the hook frees it
  uint32_t actions; // that it calls for, ACTION_BIT(kind) of each; observers call for none
  MirrorWay mirrors;
  // Called before anything else of the hook is looked at, with the actions that the machine offers: a scheme that has several forms takes one. NULL: it has one.
  bool (*fit)(Hook *hook, uint32_t offers, Diags *diags);
  bool (*attach)(Hook *hook, HookLayout *layout, Diags *diags);
  // Does it protect this kernel? False: it runs without, and `why` says for which reason, in one line. NULL: it asks nothing of kernels.
  bool (*covers)(const Hook *hook, const Program *program, const char *kernel, Text *why);
  // After a launch of such a kernel, with what schemes have counted in it: what of it ran unprotected all the same, in one line with the remedy. It adds nothing
  // to `why` where all is well. NULL: nothing ever does.
  void (*lacks)(const Hook *hook, const uint64_t tallies[TALLY_COUNT], Text *why);
  // Can it serve this launch at all? Asked before anything of it happens. False: the launch is refused, and one line in `diags` says why and what to do.
  // NULL: it serves every launch.
  bool (*admits)(const Hook *hook, const Program *program, const LaunchEvent *event, Diags *diags);
#define EVENT(name, ID, Event, direction, verdicts, moment) Verdict (*name)(Hook * hook, HookMachine * machine, Event * event);
#define MOMENT(name, ID, moment) void (*name)(Hook * hook, HookMachine * machine);
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  uint16_t held_lines; // room in each SM for stores that ACTION_HOLD holds, in lines of 128 bytes; a launch's blocks share it evenly
  uint8_t word_bits;   // of the scheme word that packets carry: how many this hook wants for itself
  uint8_t word_shift;  // and where they begin: given when the machine is laid out
  // Machines may spare the hook accesses of other structures; they ask when a launch begins, or when a clone is copied to. NULL: watches all.
  bool (*watches)(const Hook *hook, uint16_t region);
  uint32_t needs; // WANT_*: events without which the hook is of no use: a machine that does not tell them refuses it
  bool repeats;   // `result` may say REPEAT: operands are kept for it until then
  bool lockstep;  // copies of a point go to a pair of cores, which carry them out in the same cycles; for machines with HookShape.pairs
  // A protection that neither changes nor refuses a value that all copies of an instruction have alike: what was read wrong goes the way
  // that it goes without the protection, so that campaigns may follow it.
  bool passes_values;
  bool
      unanswered; // HALT has no effect, the run goes on with the values as they are: so that campaigns see what would have come of what was detected
  // When `cycle` is first called; UINT64_MAX: not until hook_wake says so. Faults and observers, each of which belongs to one machine, keep their
  // next here: it is outside the hash, since runs with and without a fault must hash alike. A protection's next lies in the block.
  uint64_t next_cycle;
  uint16_t wake;   // 1 + the region of a protection's next wake-up; filled in when it is attached
  bool only_looks; // in `cycle`, as observers do: a machine in which nothing else is to come hangs, and need not wait for it
};

// The cycle in whose beginning `cycle` is called next, whoever the hook is; UINT64_MAX: never.
void hook_wake(Hook *hook, HookMachine *machine, uint64_t cycle);
uint64_t hook_wakes_at(const Hook *hook, const HookMachine *machine);

// The hook's own bits of a packet's scheme word.
static inline uint32_t hook_word_get(const Hook *hook, const MemoryEvent *event) {
  return *event->word >> hook->word_shift & (uint32_t)((UINT64_C(1) << hook->word_bits) - 1);
}
static inline void hook_word_set(const Hook *hook, const MemoryEvent *event, uint32_t value) {
  uint32_t mask = (uint32_t)((UINT64_C(1) << hook->word_bits) - 1) << hook->word_shift;
  *event->word = (*event->word & ~mask) | (value << hook->word_shift & mask);
}

enum { HOOK_WORD_BITS = 32 };                                   // of a packet's scheme word, for all hooks together
enum { MAX_PROTECTIONS = 8, MAX_HOOKS = MAX_PROTECTIONS + 16 }; // and those of a campaign, of faults and a trace
// The hooks of one machine in their order: faults, protections, observers.
typedef struct HookChain {
  Hook *hooks[MAX_HOOKS];
  uint32_t count;
} HookChain;
bool hook_chain_add(HookChain *chain, Hook *hook);             // keeps the order; false: the chain is full
void hook_chain_answers(const HookChain *chain, bool answers); // false: Hook.unanswered, of all protections
bool hook_chain_is_unanswered(const HookChain *chain);         // NULL: no
// The chain of a clone: the protections of `chain`, without its faults and observers, and the hooks in `given` (NULL: none). False: too many.
bool hook_chain_clone(const HookChain *chain, const HookChain *given, HookChain *clone);

// Which events anybody wants: machines test a bit before they build an event.
typedef enum HookEventId {
#define EVENT(name, ID, Event, direction, verdicts, moment) HOOK_EVENT_##ID,
#define MOMENT(name, ID, moment) HOOK_EVENT_##ID,
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  HOOK_EVENTS
} HookEventId;
enum {
#define EVENT(name, ID, Event, direction, verdicts, moment) WANT_##ID = 1u << HOOK_EVENT_##ID,
#define MOMENT(name, ID, moment) WANT_##ID = 1u << HOOK_EVENT_##ID,
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  WANT_CELLS = WANT_READ | WANT_WRITE,
  WANT_REPEAT = 1u << HOOK_EVENTS, // `result` may say REPEAT
};
uint32_t hook_chain_wants(const HookChain *chain);
uint32_t hook_chain_word_bits(const HookChain *chain); // of the scheme word that any wants
uint32_t hook_chain_actions(const HookChain *chain);   // of all of them
MirrorWay hook_chain_mirrors(const HookChain *chain);
uint32_t hook_chain_held_lines(const HookChain *chain); // the most that any wants
bool hook_chain_lockstep(const HookChain *chain);       // does any want it?
// Does a machine that offers these actions have what each hook needs, and can they go together? If not, a diagnostic says who misses what.
bool hook_chain_served(const HookChain *chain, uint32_t offers, const char *machine, Diags *diags);
// Does every hook serve this launch? If not, a diagnostic says why.
bool hook_chain_admits(const HookChain *chain, const Program *program, const LaunchEvent *event, Diags *diags);

// ---- For machines --------------------------------------------------------------------------------
// A machine lays its own state out, then lets the hooks append theirs; regions start at multiples of 64 bytes.
//   layout = hook_layout_begin(...); if (!hook_layout_attach(layout, &chain, diags)) ...; table = hook_layout_finish(layout);
// Everything lives in the arena, which must outlive the table. Bytes [own.block_bytes, table.block_bytes) are the schemes': all HASHED.
HookLayout *hook_layout_begin(Arena *arena, const RegionTable *own, const HookShape *shape);
bool hook_layout_attach(HookLayout *layout, const HookChain *chain, Diags *diags);
RegionTable hook_layout_finish(const HookLayout *layout);
// Lifetimes: the machine says when an instruction is about to issue, before hooks are told (needed only if there is such state),
// and when a launch has ended.
bool hooks_keep_instructions(const RegionTable *regions);
void hooks_instruction_begins(const RegionTable *regions, uint8_t *block, uint32_t sm, uint32_t warp, uint64_t issue);
void hooks_launch_ended(const RegionTable *regions, uint8_t *block);

// hooks_NAME(): call every hook that has the function, in the order of the event's direction; the strongest verdict. What observers
// return is not looked at. Mostly there is one hook: it is called here, without a walk.
Verdict hook_said(HookMachine *machine, const Hook *hook, HookEventId event, Verdict verdict); // what the only one has said, if not PASS
#define EVENT(name, ID, Event, direction, verdicts, moment)                                        \
  Verdict hooks_walk_##name(const HookChain *chain, HookMachine *machine, Event *event);           \
  static inline Verdict hooks_##name(const HookChain *chain, HookMachine *machine, Event *event) { \
    Hook *only = chain->hooks[0];                                                                  \
    if (chain->count != 1 || only->name == NULL) return hooks_walk_##name(chain, machine, event);  \
    Verdict said = only->name(only, machine, event);                                               \
    if (__builtin_expect(said == VERDICT_PASS, 1)) return VERDICT_PASS;                            \
    return hook_said(machine, chain->hooks[0], HOOK_EVENT_##ID, said);                             \
  }
#define MOMENT(name, ID, moment) void hooks_##name(const HookChain *chain, HookMachine *machine);
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
// For events that come by the thousand: whom to tell, found once. That is the only hook of the chain, or else `walker`, which is filled in and whose
// functions walk the chain; it stays good as long as both do.
Hook *hook_chain_listener(const HookChain *chain, Hook *walker);
// hook_tell_NAME(): as hooks_NAME(), without a test. Only for events that the chain wants; read and write, take and release count as one each.
#define EVENT(name, ID, Event, direction, verdicts, moment)                                    \
  static inline Verdict hook_tell_##name(Hook *listener, HookMachine *machine, Event *event) { \
    Verdict said = listener->name(listener, machine, event);                                   \
    if (__builtin_expect(said == VERDICT_PASS, 1)) return VERDICT_PASS;                        \
    return hook_said(machine, listener, HOOK_EVENT_##ID, said);                                \
  }
#define MOMENT(name, ID, moment)
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
// hooks_cycle calls those whose cycle has come. Those who only look come first and find the state that the cycle before has left: a clone that
// is taken then equals one taken before. Whoever does not arm itself again in the call is disarmed after it.
void hooks_begin(const HookChain *chain, HookMachine *machine); // the machine has been made: protections' first wake-ups go into the block
uint64_t hooks_next_cycle(const HookChain *chain, const HookMachine *machine);  // the earliest that any wants
uint32_t hooks_changing(const HookChain *chain, const HookMachine *machine);    // how many may change something by themselves, now or later
uint64_t hooks_next_change(const HookChain *chain, const HookMachine *machine); // of those that may change something then

void hook_halt_format(const HookMachine *machine, Text *out); // who said HALT: the scheme's name
void hook_refusal_format(const Refusal *refused, Text *out);  // the line that names the scheme
const char *client_name(Client client);
void hook_events_list(Text *out);     // hook.def: `redoubt list events`
void hook_events_markdown(Text *out); // hook.def as the table of docs/hooks.md

#endif
