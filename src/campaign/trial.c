// Trials: simulations of faults that end before their launch does. Where a launch's blocks do not depend on each other, the struck block's
// end decides what becomes of a fault, with that of the blocks that write where it has written: what differs in memory by then is
// followed further without time (follow.h).
//
// A trial runs on a clone of the machine that a golden run is on, put into its state at the cycle in which the fault begins to
// matter; the golden run waits meanwhile. That costs a fraction of what a process does. Each of the workers, which are processes, goes
// through a golden run of its own and takes every n-th fault. What they tell nothing of is simulated to its end (inject.c).
#include "campaign/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RETURNED_WORDS = 1 << 16, MOST_LINES = 256, SLICE = 32, LOOK_UP_MS = 100 }; // SLICE: cycles

// Which blocks of the launch have begun (those below `begun`), and ended.
typedef struct Blocks {
  uint32_t total, begun;
  uint8_t *ended;
} Blocks;

typedef struct Trials { // of one worker
  Target *target;
  const TrialOptions *options;
  const Draw *draws;
  uint32_t count, next, step;
  int to;                 // pipe
  Hook hook;              // in the golden run
  const Program *program; // of the current launch
  uint32_t launch, block_warps;
  Blocks blocks;
  // The clone, made for a launch when it is first needed, and the trial on it
  Machine *clone;
  Memory *memory;
  Hook observer;
  const Draw *own;
  const LaunchMemory *kept; // NULL: the fault has to be simulated to its end
  Blocks clone_blocks;
  bool is_over;               // the struck block has ended
  bool is_decided;            // nothing that is still to come can change what has become wrong
  uint64_t lines[MOST_LINES]; // where the struck block has written since
  uint32_t line_count;
} Trials;

// What a worker tells of a fault: its outcome, or with settled == SETTLED_COUNT words that differ after the launch.
typedef struct TrialHead {
  Record record;
  uint32_t launch, count;
} TrialHead;

// ---- On the clone ----------------------------------------------------------------------------------

static void note_block(Blocks *blocks, const BlockEvent *event) {
  if (!event->done) blocks->begun = (uint32_t)event->block + 1;
  else if (event->block < blocks->total) blocks->ended[event->block] = 1;
}

// Whether the others that use the struck block's lines have ended, or are still to begin.
static bool lines_are_decided(Trials *at) {
  bool decided = true;
  for (uint32_t i = 0; i < at->line_count && at->kept != NULL; i++) {
    LineState state = launch_memory_line(at->kept, at->lines[i], at->own->reader.block, at->clone_blocks.begun, at->clone_blocks.ended);
    decided &= state == LINE_DECIDED;
    if (state == LINE_READ) at->kept = NULL; // it may go wrong, too
  }
  return decided && at->kept != NULL;
}

static Verdict on_clone_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Trials *at = hook->own;
  (void)machine;
  note_block(&at->clone_blocks, event);
  at->is_over |= event->done && event->block == at->own->reader.block;
  at->is_decided = at->is_over && lines_are_decided(at);
  return VERDICT_PASS;
}

static Verdict on_clone_memory(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Trials *at = hook->own;
  const Reader *struck = &at->own->reader;
  (void)machine;
  bool is_ours = event->sm == struck->sm && event->warp >= struck->first_warp && event->warp < struck->first_warp + at->block_warps;
  if (event->stage != MEMORY_REQUEST || !event->write || !is_ours) return VERDICT_PASS;
  for (uint32_t i = 0; i < at->line_count; i++) {
    if (at->lines[i] == event->address) return VERDICT_PASS;
  }
  if (at->line_count < MOST_LINES) at->lines[at->line_count++] = event->address;
  else at->kept = NULL;
  return VERDICT_PASS;
}

static void on_clone_cycle(Hook *hook, HookMachine *machine) {
  const Trials *at = hook->own;
  fault_strike(machine, &at->own->fault);
  hook->next_cycle = UINT64_MAX;
}

// ---- A trial ---------------------------------------------------------------------------------------

static void tell(const Trials *at, const TrialHead *head, const WordList *words) {
  bool whole = pipe_write(at->to, head, sizeof *head) && pipe_write(at->to, words->items, head->count * sizeof *words->items);
  if (!whole) _exit(1);
}

// The rest of the launch is as without the fault.
static void tell_words(const Trials *at, const Record *record) {
  WordList words = {0};
  machine_flush(at->clone);
  launch_memory_compare(at->kept, at->memory, at->clone_blocks.ended, &words);
  TrialHead head = {.record = *record, .launch = at->launch, .count = words.count};
  if (words.count <= MOST_RETURNED_WORDS) tell(at, &head, &words);
  words_free(&words);
}

static const LaunchMemory *kept_for(const Trials *at, const Draw *draw) {
  const LaunchMemoryVec *kept = at->options->kept;
  for (uint32_t i = 0; i < kept->count; i++) {
    if (kept->items[i].launch == draw->reader.launch && draw->reader.launch == at->launch) return &kept->items[i];
  }
  return NULL;
}

static void clone_golden(Trials *at) {
  Machine *golden = device_machine(at->target->device(at->target));
  if (at->clone != NULL) {
    machine_copy(at->clone, golden);
  } else {
    HookChain chain = {.hooks = {&at->observer}, .count = 1};
    at->memory = memory_clone(device_memory(at->target->device(at->target)), NULL);
    if (at->memory == NULL) _exit(1);
    at->clone = machine_clone(golden, at->memory, &chain);
  }
  at->clone_blocks.begun = at->blocks.begun;
  memcpy(at->clone_blocks.ended, at->blocks.ended, at->blocks.total);
}

static void try_one(Trials *at, const Draw *draw) {
  const CampaignOptions *campaign = at->options->campaign;
  uint64_t limit = at->options->golden->cycles * campaign->timeout; // cycle at which it counts as endless
  at->own = draw;
  at->kept = kept_for(at, draw);
  at->is_over = at->is_decided = false;
  at->line_count = 0;
  if (at->kept == NULL) return;
  clone_golden(at);
  at->observer.next_cycle = machine_now(at->clone);
  bool ended = false;
  while (!ended && !at->is_decided && at->kept != NULL && machine_now(at->clone) < limit) {
    ended = machine_run(at->clone, min_u64(machine_now(at->clone) + SLICE, limit));
  }
  const Trap *trap = machine_trap(at->clone);
  if (at->kept == NULL) return;
  Record record = {.id = draw->id, .settled = SETTLED_RUN};
  if (ended && trap->kind != TRAP_NONE) record_trap(&record, trap, at->program);
  else if (!ended && !at->is_decided) record_timeout(&record);
  else record.settled = SETTLED_COUNT;
  if (record.settled == SETTLED_COUNT) tell_words(at, &record);
  else tell(at, &(TrialHead){.record = record}, &(WordList){0});
}

// ---- In the golden run -------------------------------------------------------------------------------

static void drop_clone(Trials *at) {
  machine_free(at->clone);
  memory_free(at->memory);
  at->clone = NULL;
  at->memory = NULL;
}

static void blocks_new(Blocks *blocks, uint32_t total) {
  free(blocks->ended);
  *blocks = (Blocks){.total = total, .ended = calloc((size_t)total + 1, 1)};
  ASSERT(blocks->ended != NULL);
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Trials *at = hook->own;
  uint32_t blocks = event->grid[0] * event->grid[1] * event->grid[2];
  at->program = machine->program;
  at->launch = (uint32_t)event->number;
  at->block_warps = max_u32((event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
  blocks_new(&at->blocks, blocks);
  blocks_new(&at->clone_blocks, blocks);
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)machine;
  note_block(&((Trials *)hook->own)->blocks, event);
  return VERDICT_PASS;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Trials *at = hook->own;
  for (; at->next < at->count && at->draws[at->next].strike_at <= machine->cycle; at->next += at->step) try_one(at, &at->draws[at->next]);
  if (at->next >= at->count) _exit(0); // the rest of the golden run is of no interest
  hook->next_cycle = at->draws[at->next].strike_at;
}

static void on_finish(Hook *hook, HookMachine *machine) {
  (void)machine;
  drop_clone(hook->own);
}

static _Noreturn void work(Trials *at) {
  Diags diags = {0};
  HookChain chain = {.hooks = {&at->hook}, .count = 1};
  at->hook = (Hook){.name = "trial", .kind = HOOK_OBSERVER, .own = at, .launch = on_launch, .block = on_block, .cycle = on_cycle};
  at->hook.finish = on_finish;
  at->hook.next_cycle = at->draws[at->next].strike_at;
  at->observer = (Hook){.name = "trial", .kind = HOOK_FAULT, .own = at, .block = on_clone_block, .memory = on_clone_memory};
  at->observer.cycle = on_clone_cycle;
  bool good = at->target->start(at->target, &chain, &diags) && at->target->run(at->target);
  _exit(good ? 0 : 1);
}

// ---- In the parent ---------------------------------------------------------------------------------

typedef struct Worker {
  pid_t pid;
  int from; // pipe; -1: it has ended
} Worker;

static bool start_worker(Target *target, const TrialOptions *options, const Draw *draws, Trials *shape, Worker *worker) {
  int ends[2];
  *worker = (Worker){.from = -1};
  if (pipe(ends) != 0) return false;
  fflush(NULL);
  worker->pid = fork();
  if (worker->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a campaign that is killed takes its simulations with it
    close(ends[0]);
    shape->target = target;
    shape->options = options;
    shape->draws = draws;
    shape->to = ends[1];
    work(shape);
  }
  close(ends[1]);
  if (worker->pid < 0) close(ends[0]);
  else worker->from = ends[0];
  return worker->pid > 0;
}

static void end_worker(Worker *worker) {
  if (worker->from < 0) return;
  close(worker->from);
  worker->from = -1;
  while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR) continue;
}

// What has come from a worker. False: the campaign shall stop.
static bool take(const TrialOptions *options, Worker *worker) {
  TrialHead head;
  bool whole = pipe_read(worker->from, &head, sizeof head) && head.count <= MOST_RETURNED_WORDS;
  Returned returned = {.id = head.record.id, .launch = head.launch};
  for (uint32_t i = 0; whole && i < head.count; i++) {
    Word word;
    whole = pipe_read(worker->from, &word, sizeof word);
    if (whole) words_add(&returned.words, word.address, word.value);
  }
  if (whole && head.record.settled != SETTLED_COUNT) return options->take(options->context, &head.record);
  if (whole) {
    *VEC_PUSH(options->returned, options->arena) = returned;
  } else {
    words_free(&returned.words);
    end_worker(worker);
  }
  return true;
}

bool try_all(Target *target, const TrialOptions *options, const Draw *draws, uint32_t count) {
  Worker workers[MOST_JOBS];
  struct pollfd waits[MOST_JOBS];
  uint32_t jobs = min_u32(min_u32(options->campaign->jobs, MOST_JOBS), count), running = 0;
  bool goes_on = true;
  for (uint32_t i = 0; i < jobs; i++) {
    Trials shape = {.count = count, .next = i, .step = jobs};
    running += start_worker(target, options, draws, &shape, &workers[i]);
  }
  while (running > 0 && goes_on) {
    for (uint32_t i = 0; i < jobs; i++) waits[i] = (struct pollfd){.fd = workers[i].from, .events = POLLIN};
    int ready = poll(waits, jobs, LOOK_UP_MS);
    for (uint32_t i = 0; i < jobs && ready > 0 && goes_on; i++) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      goes_on = take(options, &workers[i]);
      running -= workers[i].from < 0;
    }
    goes_on = goes_on && options->goes_on(options->context);
  }
  for (uint32_t i = 0; i < jobs; i++) {
    if (workers[i].from >= 0) kill(workers[i].pid, SIGKILL);
    end_worker(&workers[i]);
  }
  return goes_on;
}
