// The functional machine's own: prepared instructions and the runner. Semantics are in parts/.
#ifndef REDOUBT_FUNCTIONAL_H
#define REDOUBT_FUNCTIONAL_H

#include "machine/machine.h"
#include "machine/parts/access.h"
#include "machine/parts/block.h"
#include "machine/parts/cluster.h"
#include "machine/parts/sample.h"

// What the loop does with an instruction.
typedef enum StepKind {
  STEP_UNPREPARED, // zeroed memory: prepared when first met
  STEP_ALU,        // registers only
  STEP_PREDICATED, // ALU that reads or writes predicates
  STEP_LOAD,
  STEP_STORE,
  STEP_BRANCH,
  STEP_WARP,    // waits for its members, then as ALU with predicates
  STEP_SPECIAL, // everything rarer, by the row's kind
  STEP_ILLEGAL, // a word that is no instruction
  STEP_OUTSIDE, // the place after the last instruction
} StepKind;

// Where a source row is: offsets count 32-bit words.
enum { BASE_REGISTERS, BASE_CONSTANTS, BASE_COUNT };

// An instruction made ready: everything that does not change between two executions in one launch.
typedef struct Step {
  LaneFunction function;
  uint32_t d[4], a, b, c;         // word offsets
  uint8_t a_base, b_base, c_base; // which base a, b, c count from; d: registers
  uint8_t kind;
  uint8_t guard, ps, pa, pd[2]; // indices into Warp.predicates
  uint8_t stat;                 // counts up at each execution
  uint16_t mods, op;
  uint32_t guard_flip, ps_flip; // all ones when negated
  uint32_t imm, target, reconverge;
  uint8_t space, element_bytes, elements;
  bool sign_extend, wide;
  Window window; // where its last access was valid
} Step;

// A warp that may do nothing but wait: its registers at a backward branch (warp.c). Kept by warp, a few at a time; lost ones cost time only.
typedef struct SpinNote {
  uint64_t key;     // block and warp, plus 1; 0: nobody's
  uint64_t hash;    // of its registers, when it last took the branch
  uint32_t pc;      // where that leads
  uint32_t count;   // backward branches since then, or since the last comparison
  uint32_t wait;    // of them before the next comparison
  bool is_compared; // the hash holds
} SpinNote;
enum { SPIN_NOTES = 128 };

typedef struct Runner {
  const MachineEnvironment *environment;
  const Launch *launch;
  const Program *program;
  const LaneFunction *functions;
  Stats *stats;
  Trap *trap;
  BlockLayout layout;
  Step *steps;         // one per instruction and STEP_OUTSIDE
  uint32_t *constants; // rows: zeros, ones, then constants and immediates as they are met
  uint32_t constant_rows;
  MemoryView view;   // of the current warp
  uint64_t executed; // warp instructions of the launch
  uint64_t thread_executed;
  uint32_t interleave; // instructions of a warp before the next one of its block has a turn
  MachineWatch *watch; // NULL: nobody watches
  uint32_t pc;         // of the last instruction; kept while somebody watches
  bool polled;         // since last reset: looked at what others may change: volatile loads, atomics, fences, sleep
  bool progress;       // since last reset: memory changed, a thread ended or a barrier completed
  SpinNote spins[SPIN_NOTES];
  // Of the cluster whose block runs, by rank; NULL: has ended.
  Block *members[MOST_CLUSTER_BLOCKS];
  uint8_t *peers[MOST_CLUSTER_BLOCKS];
} Runner;

enum { ZERO_ROWS = 8, ONES_ROWS = 1 };

// Zeroed bytes with an aligned start.
typedef struct Chunk {
  void *start;   // NULL: there was no memory
  void *bytes;   // as allocated
  size_t mapped; // bytes of address space; 0 = from malloc
} Chunk;
Chunk chunk_new(size_t bytes);
void chunk_free(Chunk *chunk);

// The parts of a Runner that a launch decides; `stats` and `trap` are the caller's. The chunks are the runner's, until it is closed.
typedef struct RunnerChunks {
  Chunk steps, constants;
} RunnerChunks;
void runner_open(Runner *run, const MachineEnvironment *environment, const Launch *launch, RunnerChunks *chunks);
void runner_close(RunnerChunks *chunks);

void step_prepare(Runner *run, uint32_t pc);

typedef enum WarpEnd {
  WARP_ENDED,   // all its threads have
  WARP_WAITS,   // for other warps
  WARP_SPENT,   // its quantum
  WARP_YIELDED, // said that it has nothing to do for now
  WARP_TRAPPED, // run->trap says why
} WarpEnd;
WarpEnd warp_run(Runner *run, Block *block, uint32_t warp, uint32_t quantum);

// The current instruction of a warp in the loop's hands.
typedef struct WarpContext {
  Runner *run;
  Block *block;
  Warp *warp;
  SimtEntry *entries;
  uint32_t *registers;
  const uint32_t *bases[BASE_COUNT];
  uint32_t index; // of the warp in the block
  // Copy of the top entry of the stack; the stack's own is stale until front_save.
  uint32_t pc, mask, reconverge;
  uint32_t threads; // number of lanes in mask
  bool gives_way;   // it waits for what others do: end the turn
} WarpContext;

static inline void front_save(WarpContext *at) { at->entries[at->warp->stack.depth - 1].pc = at->pc; }

// What an instruction did to the flow of control.
typedef enum StepResult {
  STEP_NEXT,     // go on with the next instruction
  STEP_BRANCHED, // pc is set
  STEP_RELOAD,   // the stack has changed: take its top
  STEP_YIELD,    // as NEXT, and let others run
  STEP_TRAP,
} StepResult;
StepResult step_special(WarpContext *at, Step *step, uint32_t active);
// Warp-wide instructions: true when the members are there; then *active is who takes part, and *others are those of them that
// waited in other entries of the stack. False: the top has begun to wait.
bool step_members(WarpContext *at, const Step *step, uint32_t *active, uint32_t *others);
// After a warp-wide instruction: the top and the others go on.
StepResult step_pass(WarpContext *at, uint32_t others);

// Clusters (cluster.c): the blocks of the one that runs; its barrier; threads of it have ended.
ClusterView cluster_view(const Runner *run);
StepResult step_cluster_barrier(WarpContext *at, const Step *step, uint32_t active);
void cluster_recheck(WarpContext *at);

// While somebody watches (watch.c). A memory access carried out and told; what is not told in accesses.
StepResult watch_memory(WarpContext *at, Step *step, Access *access, bool store);
void watch_keep(Access *access, uint32_t kept[2 * WARP_LANES]); // addresses: what is loaded may come to lie where they were
void watch_tell(const WarpContext *at, const Access *access, unsigned how);
bool watch_takes(const WarpContext *at, const Step *step, const Access *access, const uint32_t *b); // an atomic
void watch_rare(const WarpContext *at, const Step *step, uint32_t active);
// As fragment_load or fragment_store, and sample_execute; for a watch that wants rare touches.
bool watch_fragment(const WarpContext *at, const Access *access, const uint32_t *stride, uint32_t *rows, bool store,
                    AccessViolation *violation);
bool watch_texture(const WarpContext *at, uint32_t active, const SampleRows *rows, AccessViolation *violation);

// Both fill run->trap; always STEP_TRAP.
StepResult step_violation(WarpContext *at, const AccessViolation *violation, const char *note);
StepResult step_trap(WarpContext *at, TrapKind kind, uint32_t lanes);

#endif
