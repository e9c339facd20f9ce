// Trials: simulations of faults that end before their launch does. Where a launch's blocks do not depend on each other, the struck block's
// end decides what becomes of a fault, with that of the blocks that write where it has written; often only who writes some words last is not
// known, and a trial ends when they have been written. What differs in memory by then is followed further without time (follow.h).
//
// Under protections a wrong value may be put right at once, or the instruction carried out again. So a trial also ends when its whole state equals
// that of the fault-free run: of a second clone that is some cycles ahead, then of the golden run at its checkpoints. Where something was
// put right late, in the last launch, it goes on to the end: then the time is known, too.
//
// A fault in any other structure is tried to the end of its launch, if that is the last one. Such a trial ends early when its state is that of the
// fault-free run, or that of an earlier trial in the same cycle (ends.c): both end alike then.
//
// What memory is after that launch is known from the functional machine (follow.c). Where there is none that does the same, the outcomes wait for the golden
// run's own end: where memory is the same then, only the time is of interest. The others are simulated.
//
// A trial runs on a clone of the machine that a golden run is on, put into its state at the cycle in which the fault begins to
// matter; the golden run waits meanwhile. That costs a fraction of what a process does. Each of the workers, which are processes, goes
// through a golden run of its own and takes every n-th fault. What they tell nothing of is simulated to its end (simulate.c).
#include "settle/trial.h"
#include "base/process.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_RETURNED_WORDS = 1 << 16, MOST_LINES = 256, MOST_OPEN = 256, SLICE = 32 }; // SLICE: cycles
enum { LEAST_AHEAD = 24, MOST_AHEAD = 64, ALONE_CYCLES = 4096 }; // ALONE_CYCLES: without anything to end by but an equal state

// Which blocks of the launch have begun (those below `begun`), and ended.
typedef struct Blocks {
  uint32_t total, begun;
  uint8_t *ended;
} Blocks;

// Stores to the line of an open word.
typedef struct OpenLine {
  uint64_t line;
  uint32_t left, own_left; // not answered yet; of the struck block
  bool is_alone;           // no other block has sent any
} OpenLine;

// The launch that the golden run is in.
typedef struct RunLaunch {
  const Program *program;
  uint32_t launch, block_warps; // launch: its number
  Blocks blocks;
  uint64_t base, line_total, line_bytes; // of device memory
  uint32_t *sent, *answered;             // by line: stores so far
  bool has_lasting;                      // state that outlives the launch: what its words are does not tell what comes after it
} RunLaunch;

// A machine in the golden run's state, made for a launch when it is first needed.
typedef struct Clone {
  Machine *machine;
  Memory *memory;
  Hook observer;
} Clone;

// The trial that is under way on the clone.
typedef struct Trial {
  const Draw *own;
  Strike strike;
  const HookMachine *view; // of the clone
  const LaunchMemory *kept;
  bool is_whole;      // goes to the end of the launch
  const KnownEnd *as; // it has come upon the way of an earlier one, which ended so
  Blocks blocks;
  const Unfinished *unfinished; // NULL: nothing is known
  OpenLine open[MOST_OPEN];     // by open word
  bool ends_with_block;         // and those that write where it has written
  bool is_over;                 // the struck block has ended
  bool is_decided;              // nothing that is still to come can change what has become wrong
  uint64_t lines[MOST_LINES];   // where the struck block has written since
  uint32_t line_count;
} Trial;

// Under protections: a second clone, without faults, some cycles ahead.
typedef struct Ahead {
  Machine *machine;
  Memory *memory;
  Checkpoint at; // where it is; UINT64_MAX: at the launch's end
} Ahead;

// Where the trial's state is compared with that of the fault-free run.
typedef struct Meeting {
  Checkpoint next;            // UINT64_MAX: never
  uint32_t first, checkpoint; // of the golden run, after the strike; to be looked at next
} Meeting;

struct Trials { // of one worker
  Target *target;
  const Settling *settling;
  const Draw *draws;
  uint32_t count, next, step;
  int to;    // pipe
  Hook hook; // in the golden run
  bool is_protected;
  RunLaunch run;
  Clone clone;
  Trial trial;
  Ahead ahead;
  Meeting meeting;
  TrialEnds *ends; // of this launch's trials
  TrialHeadVec waiting;
  bool is_stopped; // nothing more is tried
};

// ---- On the clone ----------------------------------------------------------------------------------

static void note_block(Blocks *blocks, const BlockEvent *event) {
  if (!event->done) blocks->begun = (uint32_t)event->who->block + 1;
  else if (event->who->block < blocks->total) blocks->ended[event->who->block] = 1;
}

// Whether the others that use the struck block's lines have ended, or are still to begin.
static bool lines_are_decided(Trials *at) {
  bool decided = true;
  for (uint32_t i = 0; i < at->trial.line_count; i++) {
    LineState state =
        launch_memory_line(at->trial.kept, at->trial.lines[i], at->trial.own->reader.block, at->trial.blocks.begun, at->trial.blocks.ended);
    decided &= state == LINE_DECIDED;
    if (state == LINE_READ) at->trial.ends_with_block = false; // another may go wrong, too
  }
  return decided && at->trial.ends_with_block;
}

static Verdict on_clone_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Trials *at = hook->own;
  (void)machine;
  note_block(&at->trial.blocks, event);
  at->trial.is_over |= event->done && event->who->block == at->trial.own->reader.block;
  at->trial.is_decided = at->trial.is_over && at->trial.kept != NULL && lines_are_decided(at);
  return VERDICT_PASS;
}

static uint64_t line_at(const Trials *at, uint64_t address) { return (address - at->run.base) / at->run.line_bytes; }

// What a slice gives back to DRAM was stored before.
static bool is_store(const MemoryEvent *event) { return event->write && event->who->sm != WHO_NO_INDEX; }

static void note_store(Trials *at, const MemoryEvent *event, bool is_ours) {
  uint64_t line = line_at(at, event->address);
  for (uint32_t i = 0; at->trial.unfinished != NULL && i < at->trial.unfinished->open.count; i++) {
    OpenLine *open = &at->trial.open[i];
    if (open->line != line) continue;
    open->is_alone &= is_ours;
    open->left -= event->moment == MEMORY_RESPONSE && open->left > 0;
    open->own_left -= event->moment == MEMORY_RESPONSE && is_ours && open->own_left > 0;
  }
}

static void note_line(Trials *at, uint64_t line) {
  for (uint32_t i = 0; i < at->trial.line_count; i++) {
    if (at->trial.lines[i] == line) return;
  }
  if (at->trial.line_count < MOST_LINES) at->trial.lines[at->trial.line_count++] = line;
  else at->trial.ends_with_block = false;
}

static Verdict on_clone_memory(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Trials *at = hook->own;
  const Reader *struck = &at->trial.own->reader;
  (void)machine;
  bool is_ours =
      event->who->sm == struck->sm && event->who->warp >= struck->first_warp && event->who->warp < struck->first_warp + at->run.block_warps;
  if (!is_store(event)) return VERDICT_PASS;
  note_store(at, event, is_ours && !at->trial.is_over);
  if (event->moment == MEMORY_REQUEST && is_ours) note_line(at, event->address);
  return VERDICT_PASS;
}

static void on_clone_cycle(Hook *hook, HookMachine *machine) {
  Trials *at = hook->own;
  at->trial.strike = fault_strike(machine, &at->trial.own->fault);
  at->trial.view = machine;
  hook->next_cycle = UINT64_MAX;
}

static Verdict on_clone_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  strike_result(&((Trials *)hook->own)->trial.strike, machine, event);
  return VERDICT_PASS;
}

// ---- A trial ---------------------------------------------------------------------------------------

static Settled settles_as(const Trials *at) { return at->trial.is_whole ? SETTLED_RUN : SETTLED_BLOCK; }

static void tell(const Trials *at, const TrialHead *head, const WordList *words) {
  trial_ends_add(at->ends, head, words);
  bool whole = pipe_write(at->to, head, sizeof *head) && pipe_write(at->to, words->items, head->count * sizeof *words->items);
  if (!whole) _exit(1);
}

// The words that were left open.
static void tell_open_words(const Trials *at, const Record *record) {
  WordList words = {0};
  const OpenWordVec *open = &at->trial.unfinished->open;
  machine_flush(at->clone.machine);
  for (uint32_t i = 0; i < open->count; i++) {
    uint64_t word = (open->items[i].address - at->run.base) / sizeof(uint32_t);
    uint32_t value, writer = at->trial.kept->uses[word].writer;
    bool is_to_come = at->trial.open[i].left > 0 && writer != 0 && writer != at->trial.own->reader.block + 1;
    memcpy(&value, memory_bytes(at->clone.memory) + word * sizeof value, sizeof value);
    if (is_to_come) value = at->trial.kept->after[word];
    words_add(&words, open->items[i].address, value);
  }
  tell(at, &(TrialHead){.record = *record, .settles_as = settles_as(at), .launch = at->run.launch, .count = words.count, .is_open = true},
       &words);
  words_free(&words);
}

// The rest of the launch is as without the fault. Caches have been flushed.
static void tell_words(const Trials *at, const Record *record) {
  WordList words = {0};
  launch_memory_compare(at->trial.kept, at->clone.memory, at->trial.blocks.ended, &words);
  TrialHead head = {.record = *record, .settles_as = settles_as(at), .launch = at->run.launch, .count = words.count};
  if (words.count <= MOST_RETURNED_WORDS) tell(at, &head, &words);
  words_free(&words);
}

static const LaunchMemory *kept_for(const Trials *at, const Draw *draw) {
  const LaunchMemoryVec *kept = &at->settling->following->kept;
  for (uint32_t i = 0; i < kept->count; i++) {
    const LaunchMemory *launch = &kept->items[i];
    if (launch->launch == draw->reader.launch && draw->reader.launch == at->run.launch && launch->uses != NULL) return launch;
  }
  return NULL;
}

// When this launch is over, all that is left is to look at memory and time.
static bool is_last_launch(const Trials *at) {
  return at->run.launch == at->settling->golden->launches.count && !at->settling->following->is_program;
}

// The launch is the last one, and what memory is after it is known; else NULL.
static const LaunchMemory *last_memory(const Trials *at) {
  const LaunchMemoryVec *kept = &at->settling->following->kept;
  const LaunchMemory *last = NULL;
  for (uint32_t i = 0; i < kept->count; i++) {
    if (kept->items[i].launch == at->run.launch) last = &kept->items[i];
  }
  return is_last_launch(at) ? last : NULL;
}

static Machine *golden_of(const Trials *at) { return device_machine(at->target->device(at->target)); }

static Machine *clone_with(const Trials *at, const HookChain *given, Memory **memory) {
  *memory = memory_clone(device_memory(at->target->device(at->target)), NULL);
  return *memory == NULL ? NULL : machine_clone(golden_of(at), *memory, given);
}

// False: there is no room, or memory of the program's own is in use.
static bool clone_golden(Trials *at) {
  HookChain chain = {.hooks = {&at->clone.observer}, .count = 1};
  if (at->clone.machine != NULL) machine_copy(at->clone.machine, golden_of(at));
  else at->clone.machine = clone_with(at, &chain, &at->clone.memory);
  at->trial.blocks.begun = at->run.blocks.begun;
  memcpy(at->trial.blocks.ended, at->run.blocks.ended, at->run.blocks.total);
  return at->clone.machine != NULL;
}

// ---- Where trials meet the fault-free run --------------------------------------------------------------

// Takes the machine without faults a little further than the trial that begins. False: there is no room for it.
static bool go_ahead(Trials *at, uint64_t now) {
  if (at->ahead.machine == NULL) {
    at->ahead.machine = clone_with(at, NULL, &at->ahead.memory);
    at->ahead.at = (Checkpoint){0};
  }
  if (at->ahead.machine == NULL) return false;
  if (at->ahead.at.cycle >= now + LEAST_AHEAD) return true;
  Machine *machine = at->ahead.machine;
  at->ahead.at = (Checkpoint){.cycle = UINT64_MAX};
  if (!machine_run(machine, now + MOST_AHEAD))
    at->ahead.at =
        (Checkpoint){.cycle = machine_now(machine), .hash = target_hash_with(at->target, machine), .digest = machine_digest(machine)};
  return true;
}

enum { CLOSE_LOOKS = 2, NEAR_LOOKS = 16, NEAR_STEP = 4, FAR_STEP = 16 };

// A hash costs as much as many cycles, so checkpoints are looked at ever more seldom: soon only each 4th and then each 16th of the golden run's, so
// that trials meet each other. The last one is always looked at: so it does not depend on the others whether a trial is found to be like the golden run.
static uint32_t checkpoint_after(const Trials *at, uint32_t checkpoint) {
  uint32_t last = at->settling->golden->checkpoint_count - 1, passed = checkpoint - at->meeting.first;
  uint32_t step = passed < CLOSE_LOOKS ? 1 : passed < NEAR_LOOKS ? NEAR_STEP : FAR_STEP;
  uint32_t next = (checkpoint / step + 1) * step;
  return checkpoint >= last ? last + 1 : min_u32(next, last);
}

static void take_checkpoint(Trials *at) {
  const Golden *golden = at->settling->golden;
  bool is_there = at->meeting.checkpoint < golden->checkpoint_count;
  at->meeting.next = is_there ? golden->checkpoints[at->meeting.checkpoint] : (Checkpoint){.cycle = UINT64_MAX};
}

static void next_meeting(Trials *at) {
  const Golden *golden = at->settling->golden;
  uint64_t now = machine_now(at->clone.machine);
  while (at->meeting.checkpoint < golden->checkpoint_count && golden->checkpoints[at->meeting.checkpoint].cycle <= now)
    at->meeting.checkpoint = checkpoint_after(at, at->meeting.checkpoint);
  take_checkpoint(at);
}

// Faults are put right some cycles after the strike, so it would be too early to look before that. The golden run's own checkpoint does if it comes
// soon; else the machine ahead gives one, but not behind the last checkpoint: see checkpoint_after.
static void first_meeting(Trials *at) {
  const Golden *golden = at->settling->golden;
  uint64_t now = machine_now(at->clone.machine), from = now + (at->is_protected ? LEAST_AHEAD : 1);
  uint32_t first = 0, last = max_u32(golden->checkpoint_count, 1) - 1;
  at->meeting.next = (Checkpoint){.cycle = UINT64_MAX};
  if (!at->is_protected && !at->trial.is_whole) return;
  while (first < golden->checkpoint_count && golden->checkpoints[first].cycle <= now) first++;
  while (first < last && golden->checkpoints[first].cycle < from) first++;
  bool is_there = first < golden->checkpoint_count, is_soon = is_there && golden->checkpoints[first].cycle <= from + MOST_AHEAD;
  at->meeting.checkpoint = at->meeting.first = first;
  take_checkpoint(at);
  bool needs_ahead = at->is_protected && is_there && !is_soon && go_ahead(at, now);
  if (needs_ahead && at->ahead.at.cycle <= golden->checkpoints[last].cycle) at->meeting.next = at->ahead.at;
}

static bool was_corrected(const Trials *at) { return at->is_protected && *at->trial.view->corrected > 0; }

// Something was put right, so most likely the values are right: only the end tells the time. That of a launch that is not the last does not.
static bool goes_on_for_time(const Trials *at) { return was_corrected(at) && at->trial.unfinished == NULL; }

// Whatever comes, it goes on to the run's end.
static bool goes_to_end(const Trials *at) { return at->trial.is_whole || (goes_on_for_time(at) && is_last_launch(at)); }

// The state is that of the run without the fault, or that of an earlier trial. A hash is taken only where the digest is that of one of them. So of all trials
// that meet in a state the first leaves only its digest there, the second its hash, and the third finds it.
static bool is_same_here(Trials *at, uint64_t now) {
  const Machine *machine = at->clone.machine;
  TrialLook look = {.cycle = now, .digest = machine_digest(machine), .corrected = *at->trial.view->corrected};
  bool can_be_golden = look.digest == at->meeting.next.digest, may_end_alike = goes_to_end(at);
  bool was_there = may_end_alike && trial_ends_find(at->ends, &look) != NULL;
  if (can_be_golden || was_there) look.hash = target_hash_with(at->target, machine);
  if (can_be_golden && look.hash == at->meeting.next.hash) return true;
  if (may_end_alike && look.hash != 0) at->trial.as = trial_ends_find(at->ends, &look);
  if (at->trial.as != NULL) return true;
  if (may_end_alike) trial_ends_mark(at->ends, &look);
  return false;
}

// If it was to be compared here.
static bool has_met(Trials *at) {
  uint64_t now = machine_now(at->clone.machine);
  if (now < at->meeting.next.cycle) return false;
  if (now == at->meeting.next.cycle && strike_is_over(&at->trial.strike, now) && is_same_here(at, now)) return true;
  next_meeting(at);
  return false;
}

// ---- A trial from begin to end -------------------------------------------------------------------------

static void begin_trial(Trials *at, const Draw *draw) {
  const UnfinishedVec *unfinished = &at->settling->following->unfinished;
  at->trial.own = draw;
  at->trial.is_over = at->trial.is_decided = false;
  at->trial.ends_with_block = true;
  at->trial.line_count = 0;
  at->trial.unfinished = NULL;
  at->trial.as = NULL;
  trial_ends_begin(at->ends);
  for (uint32_t i = 0; i < unfinished->count; i++) {
    if (unfinished->items[i].id == draw->id && unfinished->items[i].open.count <= MOST_OPEN) at->trial.unfinished = &unfinished->items[i];
  }
  for (uint32_t i = 0; at->trial.unfinished != NULL && i < at->trial.unfinished->open.count; i++) {
    const OpenWord *open = &at->trial.unfinished->open.items[i];
    uint64_t line = line_at(at, open->address);
    at->trial.open[i] =
        (OpenLine){line, open->stores - min_u32(open->stores, at->run.answered[line]), open->own_stores, at->run.sent[line] == 0};
  }
}

// All stores to the open words' lines are in place, or the struck block's are before the first of any other.
static bool is_known(const Trials *at) {
  bool known = at->trial.unfinished != NULL;
  for (uint32_t i = 0; known && i < at->trial.unfinished->open.count; i++) {
    const OpenLine *open = &at->trial.open[i];
    known = open->left == 0 || (open->is_alone && open->own_left == 0);
  }
  return known || at->trial.is_decided;
}

typedef enum TrialEnd { TRIAL_ENDED, TRIAL_SAME, TRIAL_KNOWN, TRIAL_ENDLESS, TRIAL_IN_VAIN } TrialEnd;

static TrialEnd run_trial(Trials *at) {
  uint64_t limit = at->settling->golden->cycles * at->settling->options->timeout; // cycle at which it counts as endless
  uint64_t alone = machine_now(at->clone.machine) + ALONE_CYCLES;
  bool is_last = at->run.launch == at->settling->golden->launches.count;
  for (;;) {
    uint64_t now = machine_now(at->clone.machine);
    if (machine_run(at->clone.machine, min_u64(min_u64(now + SLICE, limit), max_u64(at->meeting.next.cycle, now + 1)))) return TRIAL_ENDED;
    now = machine_now(at->clone.machine);
    if (has_met(at)) return TRIAL_SAME;
    if (at->trial.kept == NULL && !at->trial.is_whole && now >= alone) return TRIAL_IN_VAIN;
    bool is_known_now = at->trial.kept != NULL && is_known(at);
    if (is_known_now && !goes_on_for_time(at)) return TRIAL_KNOWN;
    if (is_known_now && !is_last) return TRIAL_IN_VAIN;
    if (now >= limit) return TRIAL_ENDLESS;
  }
}

static void tell_outcome(const Trials *at, Record record, Outcome outcome, uint64_t cycles) {
  record.outcome = outcome;
  record.cycles = cycles;
  tell(at, &(TrialHead){.record = record}, &(WordList){0});
}

// When it was detected is told, too. The host of a CUDA program hears of it.
static void tell_trap(const Trials *at, const Record *open) {
  const Trap *trap = machine_trap(at->clone.machine);
  Record record = {.id = open->id, .settled = SETTLED_RUN};
  TrialHead head = {.record = *open, .settles_as = settles_as(at), .launch = at->run.launch, .trap = *trap};
  head.trap.kernel = head.trap.function = NULL; // of this process
  if (at->settling->following->is_program) {
    tell(at, &head, &(WordList){0});
    return;
  }
  record_trap(&record, trap, at->run.program);
  tell_outcome(at, record, record.outcome, open->cycles);
}

static Outcome outcome_by_time(const Trials *at, uint64_t cycles) {
  if (was_corrected(at)) return OUTCOME_CORRECTED;
  return cycles == at->settling->golden->cycles ? OUTCOME_MASKED : OUTCOME_PERFORMANCE;
}

// The last launch has come to its end: but for what the host does with the words that differ, all is known.
static void tell_whole(const Trials *at, const LaunchMemory *last, const Record *record) {
  uint64_t cycles = machine_now(at->clone.machine);
  if (memory_in_use(at->clone.memory) != memory_in_use(device_memory(at->target->device(at->target))))
    return; // it has allocated some itself
  WordList words = {0};
  launch_memory_compare(last, at->clone.memory, NULL, &words);
  if (words.count == 0) {
    tell_outcome(at, (Record){.id = record->id, .settled = SETTLED_RUN}, outcome_by_time(at, cycles), cycles);
  } else if (words.count <= MOST_RETURNED_WORDS) {
    TrialHead head = {.record = *record, .settles_as = settles_as(at), .launch = at->run.launch, .count = words.count};
    head.is_whole = true;
    head.is_corrected = was_corrected(at);
    tell(at, &head, &words);
  }
  words_free(&words);
}

static void wait_with(Trials *at, const TrialHead *head) { *VEC_PUSH(&at->waiting, at->settling->arena) = *head; }

// The last launch has come to its end, and nobody knows yet what memory is without the fault.
static void wait_for_golden(Trials *at, const Record *record) {
  TrialHead head = {.record = *record, .is_waiting = true, .memory = memory_hash(at->clone.memory, 0)};
  head.record.outcome = outcome_by_time(at, record->cycles);
  head.record.settled = SETTLED_RUN;
  trial_ends_add(at->ends, &head, &(WordList){0});
  wait_with(at, &head);
}

// The launch has come to its end. Its words are followed.
static void tell_end(Trials *at, const Record *record) {
  const LaunchMemory *last = last_memory(at);
  machine_flush(at->clone.machine); // by which a protection may find what was struck in a cache
  if (machine_trap(at->clone.machine)->kind != TRAP_NONE) tell_trap(at, record);
  else if (last != NULL) tell_whole(at, last, record);
  else if (is_last_launch(at)) wait_for_golden(at, record);
  else if (at->trial.kept != NULL && !at->run.has_lasting) tell_words(at, record);
}

// A trial that went this way before has told it.
static void tell_as_before(Trials *at) {
  TrialHead head = at->trial.as->head;
  head.record.id = at->trial.own->id;
  head.settles_as = settles_as(at);
  if (head.is_waiting) wait_with(at, &head);
  else tell(at, &head, &at->trial.as->words);
}

// A fault that the trial may tell something of.
static bool is_for_trial(Trials *at, const Draw *draw) {
  at->trial.kept = kept_for(at, draw);
  bool several = (draw->struck & (draw->struck - 1)) != 0;
  if (at->is_protected && several && !at->settling->following->passes_values)
    at->trial.kept = NULL; // those that nobody has read yet may be found later
  at->trial.is_whole = at->trial.kept == NULL && is_last_launch(at);
  return !fault_lasts(&draw->fault) && (at->trial.kept != NULL || at->is_protected || at->trial.is_whole);
}

static void tell_trial(Trials *at, TrialEnd end) {
  uint64_t id = at->trial.own->id;
  Record record = {.id = id, .settled = SETTLED_RUN}, open = {.id = id, .settled = SETTLED_COUNT};
  open.cycles = machine_now(at->clone.machine);
  if (at->trial.as != NULL) {
    tell_as_before(at);
  } else if (end == TRIAL_ENDED && machine_trap(at->clone.machine)->kind != TRAP_NONE) {
    tell_trap(at, &open);
  } else if (end == TRIAL_ENDLESS) {
    record_timeout(&record);
    tell_outcome(at, record, record.outcome, 0);
  } else if (end == TRIAL_SAME) {
    record.settled = SETTLED_HASH;
    tell_outcome(at, record, was_corrected(at) ? OUTCOME_CORRECTED : OUTCOME_MASKED, at->settling->golden->cycles);
  } else if (end == TRIAL_ENDED) {
    tell_end(at, &open);
  } else if (end == TRIAL_KNOWN && at->trial.is_decided) {
    machine_flush(at->clone.machine);
    if (!at->run.has_lasting) tell_words(at, &open);
  } else if (end == TRIAL_KNOWN) {
    tell_open_words(at, &open);
  }
}

static void try_one(Trials *at, const Draw *draw) {
  if (at->is_stopped || !is_for_trial(at, draw)) return;
  begin_trial(at, draw);
  if (!clone_golden(at)) {
    at->is_stopped = true;
    return;
  }
  at->clone.observer.next_cycle = machine_now(at->clone.machine);
  first_meeting(at);
  TrialEnd end = run_trial(at);
  bool has_told = at->settling->following->is_program && machine_would_print(at->clone.machine); // the host, what nobody can compare
  if (!has_told) tell_trial(at, end);
}

// ---- In the golden run -------------------------------------------------------------------------------

static void drop_clone(Trials *at) {
  machine_free(at->clone.machine);
  machine_free(at->ahead.machine);
  memory_free(at->clone.memory);
  memory_free(at->ahead.memory);
  at->clone.machine = at->ahead.machine = NULL;
  at->clone.memory = at->ahead.memory = NULL;
}

static void blocks_new(Blocks *blocks, uint32_t total) {
  free(blocks->ended);
  *blocks = (Blocks){.total = total, .ended = calloc((size_t)total + 1, 1)};
  ASSERT(blocks->ended != NULL);
}

// A protection has state that outlives launches. Wake-ups, which are no cells, are bound to be equal when the time is.
static bool keeps_state(const RegionTable *regions) {
  bool any = false;
  for (uint32_t i = 0; i < regions->count && !any; i++) {
    any = regions->items[i].life == LIFE_MACHINE && (regions->items[i].flags & REGION_INJECTABLE) != 0;
  }
  return any;
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Trials *at = hook->own;
  uint32_t blocks = event->grid[0] * event->grid[1] * event->grid[2];
  at->run.program = machine->program;
  at->run.has_lasting = keeps_state(machine->regions);
  at->run.launch = (uint32_t)event->who->launch;
  at->run.block_warps = max_u32((event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
  blocks_new(&at->run.blocks, blocks);
  blocks_new(&at->trial.blocks, blocks);
  trial_ends_free(at->ends);
  at->ends = trial_ends_new();
  const Memory *memory = device_memory(at->target->device(at->target));
  at->run.base = memory_base(memory);
  bool has_lines = machine_can(machine->spec, MACHINE_IS_FOLLOWED); // else nothing is left open
  at->run.line_bytes = has_lines ? machine_accesses(machine->spec).line_words * sizeof(uint32_t) : 1;
  at->run.line_total = has_lines ? memory_extent(memory) / at->run.line_bytes + 1 : 1;
  free(at->run.sent);
  at->run.sent = calloc(2 * at->run.line_total, sizeof *at->run.sent);
  ASSERT(at->run.sent != NULL);
  at->run.answered = at->run.sent + at->run.line_total;
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)machine;
  note_block(&((Trials *)hook->own)->run.blocks, event);
  return VERDICT_PASS;
}

static Verdict on_memory(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Trials *at = hook->own;
  uint64_t line = line_at(at, event->address);
  (void)machine;
  if (!is_store(event) || line >= at->run.line_total) return VERDICT_PASS;
  at->run.sent[line] += event->moment == MEMORY_REQUEST;
  at->run.answered[line] += event->moment == MEMORY_RESPONSE;
  return VERDICT_PASS;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Trials *at = hook->own;
  for (; at->next < at->count && at->draws[at->next].strike_at <= machine->cycle; at->next += at->step) {
    try_one(at, &at->draws[at->next]);
    process_allow(golden_allowance(at->settling->golden, at->settling->options->timeout));
  }
  bool is_over = at->next >= at->count || at->is_stopped;
  if (is_over && at->waiting.count == 0) _exit(0); // the rest of the golden run is of no interest
  hook->next_cycle = is_over ? UINT64_MAX : at->draws[at->next].strike_at;
}

// The golden run's last launch is over, and its caches are flushed.
static void tell_waiting(Trials *at) {
  uint64_t memory = memory_hash(device_memory(at->target->device(at->target)), 0);
  trial_ends_begin(at->ends);
  for (uint32_t i = 0; i < at->waiting.count; i++) {
    if (at->waiting.items[i].memory == memory) tell(at, &at->waiting.items[i], &(WordList){0});
  }
  at->waiting.count = 0;
}

static void on_finish(Hook *hook, HookMachine *machine) {
  Trials *at = hook->own;
  (void)machine;
  drop_clone(at);
  if (at->waiting.count > 0) tell_waiting(at);
}

Trials *trials_new(const Settling *settling, const TrialTurns *turns) {
  Trials *at = ARENA_NEW(settling->arena, Trials);
  *at = (Trials){.target = settling->target, .settling = settling, .draws = turns->draws, .count = turns->count, .next = turns->first};
  at->step = turns->step;
  at->to = turns->to;
  at->is_protected = settling->following->is_protected;
  at->hook = (Hook){.name = "trial", .kind = HOOK_OBSERVER, .own = at, .launch = on_launch, .block = on_block, .cycle = on_cycle};
  at->hook.request = at->hook.response = on_memory;
  at->hook.finish = on_finish;
  at->hook.next_cycle = at->next < at->count ? at->draws[at->next].strike_at : 0;
  at->clone.observer = (Hook){.name = "trial", .kind = HOOK_FAULT, .own = at, .block = on_clone_block};
  at->clone.observer.request = at->clone.observer.response = on_clone_memory;
  at->clone.observer.cycle = on_clone_cycle;
  if (any_output(at->draws, at->count)) at->clone.observer.result = on_clone_result;
  return at;
}

Hook *trials_hook(Trials *at) { return &at->hook; }
void trials_stop(Trials *at) { at->is_stopped = true; }

static _Noreturn void work(const Settling *settling, const TrialTurns *turns) {
  Diags diags = {0};
  const HookChain *protections = settling->options->protections;
  HookChain chain = protections == NULL ? (HookChain){0} : *protections;
  Target *target = settling->target;
  Trials *at = trials_new(settling, turns);
  bool good = hook_chain_add(&chain, &at->hook) && target->start(target, &chain, &diags) && target->run(target);
  _exit(good ? 0 : 1);
}

// ---- In the parent ---------------------------------------------------------------------------------

// A campaign that is killed takes its simulations with it.
static void start_worker(const Settling *settling, TrialTurns *turns, Pool *pool) {
  PoolWish wish = {.tells = true, .dies_by = SIGKILL, .seconds = golden_allowance(settling->golden, settling->options->timeout)};
  if (pool_start(pool, &wish, &turns->to) == POOL_CHILD) work(settling, turns); // without it, its faults are simulated to the end
}

static uint32_t value_after(const Settling *settling, uint32_t launch, uint64_t address) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < settling->following->kept.count; i++) {
    const LaunchMemory *kept = &settling->following->kept.items[i];
    if (kept->launch == launch) value = kept->after[(address - kept->base) / sizeof value];
  }
  return value;
}

// The words that were known, and those that were open as far as they differ.
static void finish(const Settling *settling, Returned *returned) {
  WordList open = returned->words;
  returned->words = (WordList){0};
  for (uint32_t i = 0; i < settling->following->unfinished.count; i++) {
    const Unfinished *known = &settling->following->unfinished.items[i];
    if (known->id == returned->id) returned->late = known->late;
    for (uint32_t k = 0; known->id == returned->id && k < known->words.count; k++) {
      words_add(&returned->words, known->words.items[k].address, known->words.items[k].value);
    }
  }
  for (uint32_t i = 0; i < open.count; i++) {
    const Word *word = &open.items[i];
    if (word->value != value_after(settling, returned->launch, word->address)) words_add(&returned->words, word->address, word->value);
  }
  words_free(&open);
}

bool trials_take(const Settling *settling, int from, bool *goes_on) {
  TrialHead head = {0};
  bool whole = pipe_read(from, &head, sizeof head) && head.count <= MOST_RETURNED_WORDS;
  Returned returned = {.id = head.record.id, .launch = head.launch, .trap = head.trap};
  returned.late = head.is_whole ? 0 : head.record.cycles; // what is left takes no longer than all without faults
  returned.is_whole = head.is_whole;
  returned.is_corrected = head.is_corrected;
  returned.cycles = head.record.cycles;
  returned.settles_as = head.settles_as;
  for (uint32_t i = 0; whole && i < head.count; i++) {
    Word word;
    whole = pipe_read(from, &word, sizeof word);
    if (whole) words_add(&returned.words, word.address, word.value);
  }
  if (!whole) {
    words_free(&returned.words);
    return false;
  }
  if (head.record.settled != SETTLED_COUNT) {
    *goes_on = settling->listener->take(settling->listener->context, &head.record);
    return true;
  }
  if (head.is_open) finish(settling, &returned);
  *VEC_PUSH(&settling->following->returned, settling->arena) = returned;
  return true;
}

// Tries draws[0, count). Some may neither be taken nor returned. False: stopped.
static bool try_all(const Settling *settling, const Draw *draws, uint32_t count) {
  Pool pool = {.running = 0};
  uint32_t jobs = min_u32(min_u32(settling->options->jobs, MOST_JOBS), count);
  bool goes_on = true;
  for (uint32_t i = 0; i < jobs; i++)
    start_worker(settling, &(TrialTurns){.draws = draws, .count = count, .first = i, .step = jobs}, &pool);
  while (pool.running > 0 && goes_on) {
    PoolJob *worker = pool_wait(&pool);
    if (worker != NULL && !trials_take(settling, worker->from, &goes_on)) pool_end(&pool, worker);
    goes_on = goes_on && settling->listener->goes_on(settling->listener->context);
  }
  pool_signal(&pool, SIGKILL);
  while (pool.running > 0) pool_end(&pool, &pool.jobs[0]);
  return goes_on;
}

static bool settle(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  (void)hook;
  if (at->following == NULL) at->following = following_new(at); // nothing can be followed
  bool helps = at->following->kept.count > 0 || at->following->is_protected || at->target->inject == NULL;
  if (*count == 0 || !helps) return true;
  bool good = at->target->try_faults == NULL ? try_all(at, live, *count) : at->target->try_faults(at->target, at, live, *count);
  if (!good) return false;
  uint32_t left = 0;
  for (uint32_t i = 0; i < *count; i++) {
    if (!settling_draw(at, live[i].id)->is_told) live[left++] = live[i];
  }
  *count = left;
  return true;
}

// Whatever machine has time can be cloned.
static bool is_for(const Settling *at) {
  const CampaignOptions *options = at->options;
  bool is_ours = at->target->inject == NULL && options->standing == NULL && options->prune && options->snapshot, any = false;
  for (uint32_t i = 0; i < at->count && is_ours && !any; i++) any = !fault_lasts(&at->draws[i].fault);
  return any || settles_by_following(at);
}

const Settler settle_trial = {.name = "trial", .is_for = is_for, .settle = settle, .simulates = true};
