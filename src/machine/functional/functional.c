// The functional machine: right results, no timing.
//
// Blocks run in order. Within a block, warps take turns, each until it ends, waits or has used its quantum. A block
// that gets nowhere on its own - it waits for what another block will do, or just runs long - is set aside, and the next
// one starts; set-aside blocks take turns with it. Everything is a function of the launch and of memory: the same
// inputs give the same order.
#include "machine/functional/functional.h"
#include "machine/parts/violation.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
  WARP_QUANTUM = 4096,         // warp instructions
  BLOCK_QUANTUM = 2000000,     // warp instructions before a busy block is set aside
  COOPERATIVE_QUANTUM = 65536, // the same where all blocks are resident from the start
  IDLE_ROUNDS = 4,             // rounds over all warps without progress before a block is set aside
  PROGRESS_INTERVAL = 1 << 22, // warp instructions between two calls of the progress function
  ROW_ALIGN = 64,
  MAPPED_BYTES = 1 << 26,
  LOCAL_ESTIMATE = 1 << 20, // bytes of a block's local memory that are probably touched
};
static const uint64_t most_resident_bytes = UINT64_C(1) << 30; // state of set-aside blocks

typedef enum BlockEnd {
  BLOCK_ENDED,
  BLOCK_BUSY,  // has used its quantum
  BLOCK_IDLE,  // only looks at memory, again and again: somebody else has to write there
  BLOCK_STUCK, // waits for other blocks of its cluster
  BLOCK_TRAPPED,
} BlockEnd;

// Large ones are mapped, so that only what is touched takes memory: the local memory of a thousand deep stacks is
// mostly never used.
Chunk chunk_new(size_t bytes) {
  Chunk chunk = {.mapped = bytes >= MAPPED_BYTES ? bytes + ROW_ALIGN : 0};
  if (chunk.mapped != 0) {
    chunk.bytes = mmap(NULL, chunk.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunk.bytes == MAP_FAILED) return (Chunk){NULL, NULL, 0};
  } else {
    chunk.bytes = calloc(1, bytes + ROW_ALIGN);
    if (chunk.bytes == NULL) return chunk;
  }
  uintptr_t address = (uintptr_t)chunk.bytes;
  chunk.start = (uint8_t *)chunk.bytes + (align_up(address, ROW_ALIGN) - address);
  return chunk;
}

void chunk_free(Chunk *chunk) {
  if (chunk->mapped != 0) munmap(chunk->bytes, chunk->mapped);
  else free(chunk->bytes);
  *chunk = (Chunk){NULL, NULL, 0};
}

// Blocks that have begun and not ended, in the order of their turns.
typedef struct Residents {
  Chunk *items;
  uint32_t count, room;
  Chunk spare; // state of a block that has ended, to be used again
} Residents;

// ---- Traps -----------------------------------------------------------------------------------------

StepResult step_violation(WarpContext *at, const AccessViolation *violation, const char *note) {
  Trap *trap = at->run->trap;
  violation_describe(violation, &at->run->view, note, trap);
  violation_locate(at->run->launch, at->block->index, at->index, violation->lane, at->pc, trap);
  const Step *step = &at->run->steps[at->pc];
  bool through_frame = step->a_base == BASE_REGISTERS && step->a == 0;
  uint32_t frame = at->run->launch->kernel->recursive ? at->registers[violation->lane] : 0;
  if (violation_outgrows(violation, at->run->launch, at->pc, through_frame, frame, at->run->view.local_bytes))
    trap->kind = TRAP_STACK_OVERFLOW;
  return STEP_TRAP;
}

StepResult step_trap(WarpContext *at, TrapKind kind, uint32_t lanes) {
  AccessViolation violation = {.kind = kind, .lane = lanes == 0 ? 0 : (unsigned)__builtin_ctz(lanes)};
  char note[96] = ""; // here it is not local memory that is too small
  if (kind == TRAP_STACK_OVERFLOW)
    snprintf(note, sizeof note, "a warp has %u entries for branches and calls", at->run->layout.stack_capacity);
  return step_violation(at, &violation, note);
}

// A trap that no instruction has raised: the first thread that is alive stands for all.
static void trap_block(Runner *run, Block *block, TrapKind kind) {
  *run->trap = (Trap){.kind = kind};
  for (uint32_t i = 0; i < run->layout.warps; i++) {
    const Warp *warp = block_warp(&run->layout, block, i);
    if (warp->stack.depth == 0) continue;
    const SimtEntry *top = &block_entries(&run->layout, block, i)[warp->stack.depth - 1];
    if (kind == TRAP_BARRIER_DEADLOCK && top->state == ENTRY_AT_BARRIER) {
      const char *whose = top->place == BLOCK_CLUSTER_BARRIER ? "the cluster's barrier, for this block: " : "";
      snprintf(run->trap->note, sizeof run->trap->note, "%sbarrier %u has %u of %u threads", whose, top->place,
               block->barriers[top->place].any,
               block->barriers[top->place].expected != 0 ? block->barriers[top->place].expected : block->alive);
    }
    violation_locate(run->launch, block->index, i, (unsigned)__builtin_ctz(top->mask), top->pc, run->trap);
    return;
  }
}

// ---- Blocks ------------------------------------------------------------------------------------------

static bool within_limits(Runner *run, Block *block, uint64_t *next_progress) {
  const MachineEnvironment *environment = run->environment;
  if (environment->instruction_limit != 0 && run->executed >= environment->instruction_limit) {
    trap_block(run, block, TRAP_LIMIT);
    return false;
  }
  if (environment->progress == NULL || run->executed < *next_progress) return true;
  *next_progress = run->executed + PROGRESS_INTERVAL;
  run->stats->value[STAT_CYCLES] = run->stats->value[STAT_WARP_INSTRUCTIONS] = run->executed;
  run->stats->value[STAT_THREAD_INSTRUCTIONS] = run->thread_executed;
  if (environment->progress(environment->progress_context, run->stats)) return true;
  trap_block(run, block, TRAP_STOPPED);
  return false;
}

// All warps of the block wait: those that only wait for lanes of their own warp are let go.
static bool force_one(Runner *run, Block *block) {
  for (uint32_t i = 0; i < run->layout.warps; i++) {
    Warp *warp = block_warp(&run->layout, block, i);
    if (!simt_force(&warp->stack, block_entries(&run->layout, block, i))) continue;
    warp->waits = false;
    return true;
  }
  return false;
}

// A bit for every warp that can run.
static uint64_t ready_warps(const Runner *run, Block *block) {
  uint64_t ready = 0;
  for (uint32_t i = 0; i < run->layout.warps; i++) {
    const Warp *warp = block_warp(&run->layout, block, i);
    if (!warp->waits && warp->stack.depth > 0) ready |= UINT64_C(1) << i;
  }
  return ready;
}

// A quantum of instructions of every warp that can run, a few of each by turns: warps of hardware go on together, and programs that lack
// a barrier rely on it. Who waits or gives way is out until the next round. *ran: somebody could.
static bool run_round(Runner *run, Block *block, uint32_t quantum, bool *ran) {
  uint64_t ready = ready_warps(run, block);
  *ran = ready != 0;
  for (uint32_t done = 0; done < quantum && ready != 0;) {
    bool alone = (ready & (ready - 1)) == 0;
    uint32_t turn = alone ? quantum - done : min_u32(run->interleave, quantum - done);
    for (uint64_t left = ready; left != 0; left &= left - 1) {
      uint32_t warp = (uint32_t)__builtin_ctzll(left);
      WarpEnd end = warp_run(run, block, warp, turn);
      if (end == WARP_TRAPPED) return false;
      if (end != WARP_SPENT) ready &= ~(UINT64_C(1) << warp);
    }
    done += turn;
  }
  run->progress |= ready != 0; // busy with something
  return true;
}

// Some of its threads wait for other blocks of the cluster.
static bool is_at_cluster_barrier(const Runner *run, Block *block) {
  for (uint32_t i = 0; i < run->layout.warps; i++) {
    const SimtStack *stack = &block_warp(&run->layout, block, i)->stack;
    const SimtEntry *entries = block_entries(&run->layout, block, i);
    for (uint32_t k = 0; k < stack->depth; k++) {
      if (entries[k].state == ENTRY_AT_BARRIER && entries[k].place == BLOCK_CLUSTER_BARRIER) return true;
    }
  }
  return false;
}

static BlockEnd run_block(Runner *run, Block *block, uint64_t quantum, uint64_t *next_progress) {
  uint64_t last = run->executed + quantum;
  uint64_t limit = run->environment->instruction_limit;
  uint32_t idle = 0;
  while (block->alive > 0) {
    bool ran = false;
    run->progress = run->polled = false;
    uint32_t turn = limit == 0 || limit - run->executed > WARP_QUANTUM ? WARP_QUANTUM : (uint32_t)(limit - run->executed);
    if (!run_round(run, block, turn, &ran)) return BLOCK_TRAPPED;
    if (!within_limits(run, block, next_progress)) return BLOCK_TRAPPED;
    if (!ran && block->alive > 0 && !force_one(run, block)) {
      if (launch_has_clusters(run->launch) && is_at_cluster_barrier(run, block)) return BLOCK_STUCK;
      trap_block(run, block, TRAP_BARRIER_DEADLOCK);
      return BLOCK_TRAPPED;
    }
    idle = run->progress || !run->polled ? 0 : idle + 1;
    if (block->alive == 0) break;
    if (idle >= IDLE_ROUNDS) return BLOCK_IDLE;
    if (run->executed >= last) return BLOCK_BUSY;
  }
  run->stats->value[STAT_BLOCKS]++;
  return BLOCK_ENDED;
}

// ---- The grid ----------------------------------------------------------------------------------------

static bool resident_add(Runner *run, Residents *residents, uint64_t linear) {
  if (residents->count == residents->room) {
    residents->room = residents->room == 0 ? 16 : 2 * residents->room;
    residents->items = realloc(residents->items, residents->room * sizeof *residents->items);
    ASSERT(residents->items != NULL);
  }
  Chunk chunk = residents->spare.start != NULL ? residents->spare : chunk_new(run->layout.bytes);
  residents->spare = (Chunk){NULL, NULL, 0};
  if (chunk.start == NULL) {
    *run->trap = (Trap){.kind = TRAP_STACK_OVERFLOW, .kernel = run->launch->kernel->name};
    snprintf(run->trap->note, sizeof run->trap->note, "the host has no %zu bytes for a block with %u bytes of local memory per thread",
             run->layout.bytes, run->layout.local_bytes);
    return false;
  }
  residents->items[residents->count++] = chunk;
  block_start(&run->layout, chunk.start, run->launch, linear);
  run->stats->value[STAT_WARPS] += run->layout.warps;
  return true;
}

static void resident_remove(Residents *residents, uint32_t index) {
  chunk_free(&residents->spare);
  residents->spare = residents->items[index];
  memmove(&residents->items[index], &residents->items[index + 1], (residents->count - index - 1) * sizeof *residents->items);
  residents->count--;
}

static void residents_free(Residents *residents) {
  for (uint32_t i = 0; i < residents->count; i++) chunk_free(&residents->items[i]);
  chunk_free(&residents->spare);
  free(residents->items);
}

// The blocks that run of the cluster of one of them.
static void set_members(Runner *run, const Residents *residents, const Block *block) {
  uint64_t number = cluster_number(run->launch, block->index);
  memset(run->members, 0, sizeof run->members);
  memset(run->peers, 0, sizeof run->peers);
  for (uint32_t i = 0; i < residents->count; i++) {
    Block *other = residents->items[i].start;
    if (cluster_number(run->launch, other->index) != number) continue;
    uint32_t rank = cluster_rank(run->launch, other->index) % MOST_CLUSTER_BLOCKS;
    run->members[rank] = other;
    run->peers[rank] = block_shared(&run->layout, other);
  }
}

// One turn of a resident block; it is gone afterwards if it has ended.
static BlockEnd run_resident(Runner *run, Residents *residents, uint32_t index, uint64_t *next_progress) {
  // Long blocks get longer turns the more of them there are, so that few are under way at once.
  bool takes_turns = run->launch->cooperative || launch_has_clusters(run->launch);
  uint64_t quantum = takes_turns ? COOPERATIVE_QUANTUM : (uint64_t)BLOCK_QUANTUM * residents->count;
  const Block *block = residents->items[index].start;
  if (launch_has_clusters(run->launch)) set_members(run, residents, block);
  BlockEnd end = run_block(run, residents->items[index].start, quantum, next_progress);
  if (end != BLOCK_ENDED) return end;
  if (run->watch != NULL && run->watch->ended != NULL) run->watch->ended(run->watch->context, block->linear);
  resident_remove(residents, index);
  return end;
}

// A turn of each resident. *moved: at least one of them was not idle. False: a trap.
static bool run_residents(Runner *run, Residents *residents, uint64_t *next_progress, bool *moved) {
  for (uint32_t index = 0; index < residents->count;) {
    BlockEnd end = run_resident(run, residents, index, next_progress);
    if (end == BLOCK_TRAPPED) return false;
    *moved |= end != BLOCK_IDLE && end != BLOCK_STUCK;
    index += end != BLOCK_ENDED;
  }
  return true;
}

// New blocks start one by one. When one does not end, the residents get a turn each between new blocks: after 1, and
// as long as they are idle after 2, 4, 8 ... new ones.
static void run_grid(Runner *run, Residents *residents) {
  const uint32_t *grid = run->launch->grid;
  uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], next = 0, next_progress = PROGRESS_INTERVAL;
  uint64_t state_bytes = run->layout.local_at + min_u64(run->layout.bytes - run->layout.local_at, LOCAL_ESTIMATE);
  uint64_t most = max_u64(most_resident_bytes / state_bytes, 1);
  uint64_t stride = 1, fresh = run->launch->cooperative ? blocks : 1;
  while (next < blocks || residents->count > 0) {
    if (next < blocks && residents->count < most && (fresh > 0 || residents->count == 0)) {
      if (!resident_add(run, residents, next++)) return;
      BlockEnd end = run_resident(run, residents, residents->count - 1, &next_progress);
      if (end == BLOCK_TRAPPED) return;
      if (end != BLOCK_IDLE && fresh > 0) fresh--;
      continue;
    }
    bool moved = false;
    if (!run_residents(run, residents, &next_progress, &moved)) return;
    stride = moved ? 1 : min_u64(2 * stride, blocks);
    fresh = stride;
  }
}

// Clusters start one by one, whole. When the blocks that run get nowhere, the next one starts, too.
static void run_clusters(Runner *run, Residents *residents) {
  const uint32_t *grid = run->launch->grid, size = cluster_blocks(run->launch);
  uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2], next = 0, next_progress = PROGRESS_INTERVAL;
  bool moved = false;
  while (next < blocks || residents->count > 0) {
    if (next < blocks && !moved) {
      for (uint32_t i = 0; i < size; i++) {
        if (!resident_add(run, residents, cluster_block_at(run->launch, next++))) return;
      }
    }
    uint64_t before = run->executed;
    moved = false;
    if (!run_residents(run, residents, &next_progress, &moved)) return;
    if (moved || next < blocks || residents->count == 0 || run->executed != before) continue;
    trap_block(run, residents->items[0].start, TRAP_BARRIER_DEADLOCK); // nobody has done anything, and nobody will
    return;
  }
}

static void set_view(Runner *run) {
  const MachineEnvironment *environment = run->environment;
  const Launch *launch = run->launch;
  run->view = (MemoryView){.bulk = bulk_functions(),
                           .memory = environment->memory,
                           .global = memory_bytes(environment->memory),
                           .global_base = memory_base(environment->memory),
                           .shared_bytes = run->layout.shared_bytes,
                           .local_bytes = run->layout.local_bytes,
                           .launch = launch,
                           .peers = run->peers,
                           .banks = {launch->params, environment->const_bank, environment->symbol_bank},
                           .bank_bytes = {launch->kernel->param_bytes, launch->program->const_bytes, 8 * launch->program->symbol_count}};
  for (unsigned i = 0; i < BANK_COUNT; i++) {
    if (run->view.banks[i] == NULL) run->view.bank_bytes[i] = 0;
  }
}

void runner_open(Runner *run, const MachineEnvironment *environment, const Launch *launch, RunnerChunks *chunks) {
  *run = (Runner){.environment = environment,
                  .launch = launch,
                  .program = launch->program,
                  .functions = lane_functions(),
                  .stats = run->stats,
                  .trap = run->trap,
                  .interleave = environment->interleave != 0 ? environment->interleave : WARP_QUANTUM,
                  .watch = environment->watch};
  block_layout(&run->layout, launch, environment->stack_bytes);
  set_view(run);
  size_t code = launch->program->code_count;
  chunks->steps = chunk_new((code + 1) * sizeof(Step));
  chunks->constants = chunk_new((ZERO_ROWS + ONES_ROWS + 2 * code) * WARP_LANES * sizeof(uint32_t));
  ASSERT(chunks->steps.start != NULL && chunks->constants.start != NULL);
  run->steps = chunks->steps.start;
  run->constants = chunks->constants.start;
  run->constant_rows = ZERO_ROWS + ONES_ROWS;
  memset(run->constants + ZERO_ROWS * WARP_LANES, 0xFF, WARP_LANES * sizeof(uint32_t));
}

void runner_close(RunnerChunks *chunks) {
  chunk_free(&chunks->constants);
  chunk_free(&chunks->steps);
}

void functional_run(const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  *stats = (Stats){{0}};
  *trap = (Trap){.kind = TRAP_NONE, .kernel = launch->kernel->name};
  Runner run = {.stats = stats, .trap = trap};
  RunnerChunks chunks;
  runner_open(&run, environment, launch, &chunks);
  Residents residents = {0};
  if (launch_has_clusters(launch)) run_clusters(&run, &residents);
  else run_grid(&run, &residents);
  residents_free(&residents);
  runner_close(&chunks);
  stats->value[STAT_CYCLES] = stats->value[STAT_WARP_INSTRUCTIONS] = run.executed;
  stats->value[STAT_THREAD_INSTRUCTIONS] = run.thread_executed;
}
