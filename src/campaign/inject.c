// Simulations of faults. One process runs the target without faults; whenever a fault's moment comes, it forks: the child has the
// whole state of machine and host for nothing, strikes, and goes on alone. It stops when the state equals the golden
// run's at a checkpoint, or at the end, tells the outcome through a pipe, and is gone. A hash costs as much as many simulated
// cycles, so checkpoints are looked at ever more seldom: most faults that vanish do so soon. Where the launch's blocks do not depend on
// each other, it also stops when the struck block has ended and those that write where it has written: what differs in memory
// by then goes back to be followed (follow.h).
//
// Without snapshots every fault is a run of its own from the beginning, with the fault's hook attached. Permanent faults are
// always run so: they never leave the state as it was.
#include "campaign/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 256, MOST_RETURNED_WORDS = 1 << 16, MOST_LINES = 256 };

typedef struct Child {
  pid_t pid;
  int from; // pipe
  uint64_t id;
} Child;

typedef struct Injector {
  Hook hook;
  Target *target;
  const InjectOptions *options;
  const Draw *draws;
  uint32_t count, next;
  Child children[MOST_JOBS];
  uint32_t running;
  bool stopped;
  uint32_t launch, block_warps; // number of the current one
  uint32_t begun;               // its blocks so far
  uint8_t *ended;               // by block
  // In a child
  const Draw *own; // NULL in the parent
  int to;
  uint32_t first, checkpoint; // after the strike; to be looked at next
  uint64_t limit;             // cycle at which it counts as endless
  const LaunchMemory *kept;   // of the launch in which it struck; NULL: it goes on to the end
  bool is_over;               // the struck block has ended
  bool is_decided;            // nothing that is still to come can change what has become wrong
  bool trapped;
  uint64_t lines[MOST_LINES]; // where the struck block has written since
  uint32_t line_count;
} Injector;

// What follows a record with settled == SETTLED_COUNT.
typedef struct ReturnedHead {
  uint32_t launch, count; // launch 0: it has to be simulated to its end; count: words
} ReturnedHead;

// ---- Pipes ------------------------------------------------------------------------------------------

static bool write_all(int to, const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  while (count > 0) {
    ssize_t written = write(to, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    count -= (size_t)written;
  }
  return true;
}

static bool read_all(int from, void *bytes, size_t count) {
  uint8_t *at = bytes;
  while (count > 0) {
    ssize_t got = read(from, at, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    count -= (size_t)got;
  }
  return true;
}

// ---- In the child ----------------------------------------------------------------------------------

static _Noreturn void tell(Injector *at, Outcome outcome, Settled settled, const Verdicts *verdicts) {
  Record record = {.id = at->own->id, .outcome = outcome, .settled = settled};
  record.cycles = verdicts->cycles;
  record.wrong = verdicts->wrong;
  record.worst = verdicts->worst;
  snprintf(record.note, sizeof record.note, "%s", verdicts->note);
  _exit(write_all(at->to, &record, sizeof record) ? 0 : 1);
}

// The rest of the launch is as without the fault.
static _Noreturn void end_early(const Injector *at, const uint8_t *ended) {
  WordList words = {0};
  launch_memory_compare(at->kept, device_memory(at->target->device(at->target)), ended, &words);
  bool good = words.count <= MOST_RETURNED_WORDS;
  Record record = {.id = at->own->id, .settled = SETTLED_COUNT};
  ReturnedHead head = {good ? at->launch : 0, good ? words.count : 0};
  bool whole = write_all(at->to, &record, sizeof record) && write_all(at->to, &head, sizeof head) &&
               write_all(at->to, words.items, head.count * sizeof *words.items);
  _exit(whole ? 0 : 1);
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Injector *at = hook->own;
  (void)machine;
  at->launch = (uint32_t)event->number;
  at->block_warps = max_u32((event->block[0] * event->block[1] * event->block[2] + WARP_LANES - 1) / WARP_LANES, 1);
  at->begun = 0;
  free(at->ended);
  at->ended = calloc((size_t)event->grid[0] * event->grid[1] * event->grid[2] + 1, 1);
  ASSERT(at->ended != NULL);
  return VERDICT_PASS;
}

static bool has_kept(const Injector *at) { return at->kept != NULL && at->kept->launch == at->launch; }

// Whether the others that use the struck block's lines have ended, or are still to begin.
static bool lines_are_decided(Injector *at) {
  bool decided = true;
  for (uint32_t i = 0; i < at->line_count && at->kept != NULL; i++) {
    LineState state = launch_memory_line(at->kept, at->lines[i], at->own->reader.block, at->begun, at->ended);
    decided &= state == LINE_DECIDED;
    if (state == LINE_READ) at->kept = NULL; // it may go wrong, too
  }
  return decided && at->kept != NULL;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Injector *at = hook->own;
  if (!event->done) {
    at->begun = (uint32_t)event->block + 1;
    return VERDICT_PASS;
  }
  at->ended[event->block] = 1;
  if (!has_kept(at)) return VERDICT_PASS;
  at->is_over |= event->block == at->own->reader.block;
  at->is_decided = at->is_over && lines_are_decided(at);
  if (at->is_decided) hook->next_cycle = machine->cycle + 1;
  return VERDICT_PASS;
}

static Verdict on_memory(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Injector *at = hook->own;
  (void)machine;
  if (event->stage != MEMORY_REQUEST || !event->write || !has_kept(at)) return VERDICT_PASS;
  const Reader *struck = &at->own->reader;
  bool is_ours = event->sm == struck->sm && event->warp >= struck->first_warp && event->warp < struck->first_warp + at->block_warps;
  if (!is_ours) return VERDICT_PASS;
  for (uint32_t i = 0; i < at->line_count; i++) {
    if (at->lines[i] == event->address) return VERDICT_PASS;
  }
  if (at->line_count < MOST_LINES) at->lines[at->line_count++] = event->address;
  else at->kept = NULL;
  return VERDICT_PASS;
}

static Verdict on_trap(Hook *hook, HookMachine *machine, const TrapEvent *event) {
  (void)machine, (void)event;
  ((Injector *)hook->own)->trapped = true;
  return VERDICT_PASS;
}

// The launch has ended. If others follow, they need not be simulated.
static void on_finish(Hook *hook, HookMachine *machine) {
  Injector *at = hook->own;
  (void)machine;
  bool is_last = at->launch == at->options->golden->launches.count;
  if (has_kept(at) && !at->trapped && !is_last) end_early(at, NULL);
}

// The first checkpoint after this cycle.
static uint32_t checkpoint_after(const Golden *golden, uint32_t from, uint64_t cycle) {
  while (from < golden->checkpoint_count && golden->checkpoints[from].cycle <= cycle) from++;
  return from;
}

// A simulation that will end with its block does not look at checkpoints: they cost more than they would save.
static void wait_for_checkpoint(Injector *at) {
  const Golden *golden = at->options->golden;
  bool looks = at->kept == NULL && at->checkpoint < golden->checkpoint_count;
  at->hook.next_cycle = looks ? golden->checkpoints[at->checkpoint].cycle : at->limit;
}

// A checkpoint, or the limit.
static void child_cycle(Injector *at, HookMachine *machine) {
  const Golden *golden = at->options->golden;
  if (has_kept(at) && at->is_decided) {
    machine_flush(device_machine(at->target->device(at->target)));
    end_early(at, at->ended);
  }
  if (machine->cycle >= at->limit)
    tell(at, OUTCOME_TIMEOUT, SETTLED_RUN, &(Verdicts){.cycles = machine->cycle, .note = "still running at the limit"});
  const Checkpoint *here = &golden->checkpoints[at->checkpoint];
  if (at->checkpoint < golden->checkpoint_count && here->cycle == machine->cycle && target_hash(at->target) == here->hash) {
    bool corrected = *machine->corrected > 0 || target_stat(at->target, STAT_CORRECTED) > 0;
    tell(at, corrected ? OUTCOME_CORRECTED : OUTCOME_MASKED, SETTLED_HASH, &(Verdicts){.cycles = golden->cycles});
  }
  uint32_t passed = at->checkpoint - at->first;
  at->checkpoint = checkpoint_after(golden, at->checkpoint + passed, machine->cycle);
  wait_for_checkpoint(at);
}

static _Noreturn void child_judge(Injector *at, bool done) {
  Verdicts verdicts;
  Arena *arena = arena_new();
  target_judge(at->target, done, &at->options->golden->outputs, at->options->golden->cycles, arena, &verdicts);
  tell(at, verdicts.outcome, SETTLED_RUN, &verdicts);
}

// ---- In the parent ---------------------------------------------------------------------------------

// What comes back to be followed further.
static bool take_returned(const Injector *at, int from, uint64_t id) {
  ReturnedHead head;
  if (at->options->early == NULL || !read_all(from, &head, sizeof head) || head.count > MOST_RETURNED_WORDS) return false;
  Returned returned = {.id = id, .launch = head.launch};
  bool good = true;
  for (uint32_t i = 0; i < head.count && good; i++) {
    Word word;
    good = read_all(from, &word, sizeof word);
    words_add(&returned.words, word.address, word.value);
  }
  if (good && head.launch != 0) *VEC_PUSH(&at->options->early->returned, at->options->early->arena) = returned;
  else words_free(&returned.words);
  return good;
}

// A child that ends without a whole record has failed in Redoubt itself.
static void take_record(Injector *at, uint32_t index) {
  Child child = at->children[index];
  Record record;
  bool whole = read_all(child.from, &record, sizeof record) && record.id == child.id && record.outcome < OUTCOME_COUNT;
  bool returns = whole && record.settled == SETTLED_COUNT;
  if (returns) whole = take_returned(at, child.from, child.id);
  int status = 0;
  close(child.from);
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!whole) {
    record = (Record){.id = child.id, .outcome = OUTCOME_INTERNAL, .settled = SETTLED_RUN};
    if (WIFSIGNALED(status)) snprintf(record.note, sizeof record.note, "the simulation was ended by signal %d", WTERMSIG(status));
    else snprintf(record.note, sizeof record.note, "the simulation ended without a result (exit code %d)", WEXITSTATUS(status));
  }
  at->children[index] = at->children[--at->running];
  if (whole && returns) return;
  if (!at->options->take(at->options->context, &record)) at->stopped = true;
}

// Waits until fewer than `most` are running.
static void wait_for_room(Injector *at, uint32_t most) {
  while (at->running >= most && at->running > 0) {
    struct pollfd waits[MOST_JOBS];
    for (uint32_t i = 0; i < at->running; i++) waits[i] = (struct pollfd){.fd = at->children[i].from, .events = POLLIN};
    if (poll(waits, at->running, -1) < 0) continue;
    for (uint32_t i = at->running; i-- > 0;) {
      if (waits[i].revents != 0) take_record(at, i);
    }
  }
}

static const LaunchMemory *kept_for(const Injector *at, const Draw *draw) {
  const EarlyEnd *early = at->options->early;
  for (uint32_t i = 0; early != NULL && i < early->kept.count; i++) {
    if (early->kept.items[i].launch == draw->reader.launch) return &early->kept.items[i];
  }
  return NULL;
}

// True in the child.
static bool start_child(Injector *at, const Draw *draw) {
  int ends[2];
  wait_for_room(at, at->options->campaign->jobs);
  if (pipe(ends) != 0) {
    Record failed = {.id = draw->id, .outcome = OUTCOME_INTERNAL, .note = "no pipe for the simulation"};
    at->stopped |= !at->options->take(at->options->context, &failed);
    return false;
  }
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a campaign that is killed takes its simulations with it
    close(ends[0]);
    at->to = ends[1];
    at->own = draw;
    at->limit = at->options->golden->cycles * at->options->campaign->timeout;
    at->kept = kept_for(at, draw);
    return true;
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    Record failed = {.id = draw->id, .outcome = OUTCOME_INTERNAL, .note = "no process for the simulation"};
    at->stopped |= !at->options->take(at->options->context, &failed);
    return false;
  }
  at->children[at->running++] = (Child){.pid = pid, .from = ends[0], .id = draw->id};
  return false;
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Injector *at = hook->own;
  if (at->own != NULL) {
    child_cycle(at, machine);
    return;
  }
  while (!at->stopped && at->next < at->count && at->draws[at->next].strike_at <= machine->cycle) {
    const Draw *draw = &at->draws[at->next++];
    if (!start_child(at, draw)) continue;
    fault_strike(machine, &draw->fault);
    at->first = at->checkpoint = checkpoint_after(at->options->golden, at->checkpoint, machine->cycle);
    wait_for_checkpoint(at);
    return;
  }
  hook->next_cycle = at->stopped || at->next == at->count ? UINT64_MAX : at->draws[at->next].strike_at;
}

// ---- Both ways -------------------------------------------------------------------------------------

static bool chain_with(const CampaignOptions *options, Hook *first, Hook *second, HookChain *chain, Diags *diags) {
  *chain = options->protections == NULL ? (HookChain){0} : *options->protections;
  bool room = hook_chain_add(chain, first) && (second == NULL || hook_chain_add(chain, second));
  return room || diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
}

// All faults from one run that forks.
static bool inject_forking(Injector *at, Diags *diags) {
  HookChain chain;
  at->hook.next_cycle = at->count == 0 ? UINT64_MAX : at->draws[0].strike_at;
  if (!chain_with(at->options->campaign, &at->hook, NULL, &chain, diags)) return false;
  bool good = at->target->start(at->target, &chain, diags);
  bool done = good && at->target->run(at->target);
  if (at->own != NULL) child_judge(at, done);
  at->target->finish(at->target);
  wait_for_room(at, 1);
  return good;
}

// Each fault in a run of its own.
static bool inject_single(Injector *at, const Draw *draw, Diags *diags) {
  if (!start_child(at, draw)) return true;
  Arena *arena = arena_new();
  HookChain chain;
  at->hook.next_cycle = at->limit;
  at->checkpoint = at->options->golden->checkpoint_count;
  bool good = chain_with(at->options->campaign, fault_hook(arena, &draw->fault), &at->hook, &chain, diags) &&
              at->target->start(at->target, &chain, diags);
  if (!good) _exit(1);
  child_judge(at, at->target->run(at->target));
}

bool inject_all(Target *target, const InjectOptions *options, const Draw *draws, uint32_t count, Diags *diags) {
  Injector *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Injector){.target = target, .options = options, .draws = draws, .count = count};
  at->hook = (Hook){.name = "inject", .kind = HOOK_FAULT, .own = at, .cycle = on_cycle, .next_cycle = UINT64_MAX};
  if (options->early != NULL) {
    at->hook.launch = on_launch;
    at->hook.block = on_block;
    at->hook.memory = on_memory;
    at->hook.trap = on_trap;
    at->hook.finish = on_finish;
  }
  bool permanent = count > 0 && fault_models[draws[0].fault.model].permanent, good = true;
  if (options->campaign->snapshot && !permanent) {
    good = inject_forking(at, diags);
  } else {
    for (uint32_t i = 0; i < count && !at->stopped && good; i++) good = inject_single(at, &draws[i], diags);
    wait_for_room(at, 1);
  }
  free(at->ended);
  free(at);
  return good;
}
