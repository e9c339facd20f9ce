// Simulations of faults. One process runs the target without faults; whenever a fault's moment comes, it forks: the child has the
// whole state of machine and host for nothing, strikes, and goes on alone. It stops when the state equals the golden
// run's at a checkpoint, or at the end, tells the outcome through a pipe, and is gone. A hash costs as much as many simulated
// cycles, so checkpoints are looked at ever more seldom: most faults that vanish do so soon.
//
// Faults that last never leave the state as it was: they go on to the end. Without snapshots every fault is a run of its own from the
// beginning, with the fault's hook attached.
#include "settle/settle.h"
#include "base/process.h"
#include "campaign/order.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LEAST_LOT = 64, MOST_LOT = 512 };

typedef struct Injector {
  Hook hook;
  Target *target;
  const Settling *settling;
  const Draw *draws;
  uint32_t count, next;
  Pool pool;
  bool stopped;
  Hook *asleep;    // of faults that last; NULL: they do not
  OrderLog *order; // in which additions come; NULL: it cannot matter, or cannot be known
  // In a child
  const Draw *own; // NULL in the parent
  int to;
  Strike strike;
  uint32_t first, checkpoint; // after the strike; to be looked at next
  uint64_t limit;             // cycle at which it counts as endless
} Injector;

// ---- What strikes ----------------------------------------------------------------------------------

bool any_output(const Draw *draws, uint32_t count) {
  bool any = false;
  for (uint32_t i = 0; i < count && !any; i++) any = draws[i].fault.is_output;
  return any;
}

Hook *asleep_for(Arena *arena, const Draw *draws, uint32_t count) {
  bool cells = false;
  for (uint32_t i = 0; i < count && !cells; i++) cells = !draws[i].fault.is_output;
  return fault_hook_asleep(arena, cells, any_output(draws, count));
}

// ---- In the child ----------------------------------------------------------------------------------

static _Noreturn void tell(Injector *at, Outcome outcome, Settled settled, const Judgement *judgement) {
  Record record = {.id = at->own->id, .outcome = outcome, .settled = settled};
  record.cycles = judgement->cycles;
  record.wrong = judgement->wrong;
  record.worst = judgement->worst;
  record.pattern = target_pattern(judgement);
  snprintf(record.note, sizeof record.note, "%s", judgement->note);
  _exit(pipe_write(at->to, &record, sizeof record) ? 0 : 1);
}

// The first checkpoint after this cycle.
static uint32_t checkpoint_after(const Golden *golden, uint32_t from, uint64_t cycle) {
  while (from < golden->checkpoint_count && golden->checkpoints[from].cycle <= cycle) from++;
  return from;
}

static void wait_for_checkpoint(Injector *at) {
  const Golden *golden = at->settling->golden;
  at->hook.next_cycle = at->checkpoint < golden->checkpoint_count ? golden->checkpoints[at->checkpoint].cycle : at->limit;
}

// A checkpoint, or the limit.
static void child_cycle(Injector *at, HookMachine *machine) {
  const Golden *golden = at->settling->golden;
  if (machine->cycle >= at->limit)
    tell(at, OUTCOME_TIMEOUT, SETTLED_RUN, &(Judgement){.cycles = machine->cycle, .note = "still running at the limit"});
  const Checkpoint *here = &golden->checkpoints[at->checkpoint];
  bool can_be_same = at->checkpoint < golden->checkpoint_count && here->cycle == machine->cycle && strike_is_over(&at->strike, here->cycle);
  if (can_be_same && golden_is_met(here, at->target, device_machine(at->target->device(at->target)))) {
    bool corrected = *machine->corrected + target_stat(at->target, STAT_CORRECTED) > here->corrected;
    tell(at, corrected ? OUTCOME_CORRECTED : OUTCOME_MASKED, SETTLED_HASH, &(Judgement){.cycles = golden->cycles});
  }
  uint32_t passed = at->checkpoint - at->first;
  at->checkpoint = checkpoint_after(golden, at->checkpoint + passed, machine->cycle);
  wait_for_checkpoint(at);
}

static _Noreturn void child_judge(Injector *at, bool done) {
  Judgement judgement;
  Arena *arena = arena_new();
  TargetRight right = golden_right(at->settling->golden, at->order);
  target_judge(at->target, done, &right, arena, &judgement);
  tell(at, judgement.outcome, SETTLED_RUN, &judgement);
}

// ---- In the parent ---------------------------------------------------------------------------------

static void give(Injector *at, const Record *record) {
  const Listener *listener = at->settling->listener;
  if (!listener->take(listener->context, record)) at->stopped = true;
}

// A child that ends without a whole record has failed in Redoubt itself.
static void take_record(Injector *at, PoolJob *job) {
  Record record;
  uint64_t id = job->tag;
  bool whole = pipe_read(job->from, &record, sizeof record) && record.id == id && record.outcome < OUTCOME_COUNT;
  int status = pool_end(&at->pool, job);
  if (!whole) {
    record = (Record){.id = id, .outcome = OUTCOME_INTERNAL, .settled = SETTLED_RUN};
    process_end_note(status, record.note, sizeof record.note);
  }
  give(at, &record);
}

// Waits until fewer than `most` are running.
static void wait_for_room(Injector *at, uint32_t most) {
  const Listener *listener = at->settling->listener;
  while (at->pool.running >= most && at->pool.running > 0) {
    PoolJob *job = pool_wait(&at->pool);
    if (job != NULL) take_record(at, job);
    else if (!listener->goes_on(listener->context)) at->stopped = true;
  }
}

// True in the child. A campaign that is killed takes its simulations with it.
static bool start_child(Injector *at, const Draw *draw) {
  const Settling *settling = at->settling;
  wait_for_room(at, min_u32(settling->options->jobs, MOST_JOBS));
  PoolWish wish = {.tag = draw->id, .tells = true, .dies_by = SIGKILL};
  wish.seconds = golden_allowance(settling->golden, settling->options->timeout);
  PoolSide side = pool_start(&at->pool, &wish, &at->to);
  if (side == POOL_FAILED) give(at, &(Record){.id = draw->id, .outcome = OUTCOME_INTERNAL, .note = "no process for the simulation"});
  if (side != POOL_CHILD) return false;
  at->own = draw;
  at->limit = settling->golden->cycles * settling->options->timeout;
  return true;
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
    hook->only_looks = true; // from here on: for the golden run's state, and for the limit
    at->first = at->checkpoint = checkpoint_after(at->settling->golden, at->checkpoint, machine->cycle);
    if (at->asleep == NULL) {
      at->strike = fault_strike(machine, &draw->fault);
    } else {
      fault_hook_wake(at->asleep, machine, &draw->fault);
      at->checkpoint = at->settling->golden->checkpoint_count;
    }
    wait_for_checkpoint(at);
    return;
  }
  hook->next_cycle = at->stopped || at->next == at->count ? UINT64_MAX : at->draws[at->next].strike_at;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  strike_result(&((Injector *)hook->own)->strike, machine, event);
  return VERDICT_PASS;
}

// ---- Both ways -------------------------------------------------------------------------------------

// A log of a run that is to begin.
static void log_order(Injector *at, Arena *arena) {
  const Settling *settling = at->settling;
  bool wanted = settling->golden->adds_floats > 0 && order_is_known(at->target, settling->options->protections);
  at->order = wanted ? order_log_new(arena) : NULL;
}

static bool chain_with(const Injector *at, Arena *arena, Hook *first, Hook *second, HookChain *chain, Diags *diags) {
  const Settling *settling = at->settling;
  bool room = standing_chain(settling->options->protections, settling->golden->standing, arena, chain) && hook_chain_add(chain, first) &&
              (second == NULL || hook_chain_add(chain, second)) && (at->order == NULL || hook_chain_add(chain, order_log_hook(at->order)));
  return room || diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
}

// All faults from one run that forks.
static bool inject_forking(Injector *at, Diags *diags) {
  HookChain chain;
  Arena *arena = arena_new();
  at->hook.next_cycle = at->count == 0 ? UINT64_MAX : at->draws[0].strike_at;
  if (at->count > 0 && fault_lasts(&at->draws[0].fault)) at->asleep = asleep_for(arena, at->draws, at->count);
  else if (any_output(at->draws, at->count)) at->hook.result = on_result;
  log_order(at, arena);
  bool good = chain_with(at, arena, &at->hook, at->asleep, &chain, diags) && at->target->start(at->target, &chain, diags);
  bool done = good && at->target->run(at->target);
  if (at->own != NULL) child_judge(at, done);
  at->target->finish(at->target);
  order_log_free(at->order);
  arena_free(arena);
  wait_for_room(at, 1);
  return good;
}

// Each fault in a run of its own.
static bool inject_single(Injector *at, const Draw *draw, Diags *diags) {
  if (!start_child(at, draw)) return true;
  Arena *arena = arena_new();
  HookChain chain;
  at->hook.next_cycle = at->limit;
  at->hook.only_looks = true;
  at->checkpoint = at->settling->golden->checkpoint_count;
  log_order(at, arena);
  bool good =
      chain_with(at, arena, fault_hook(arena, &draw->fault), &at->hook, &chain, diags) && at->target->start(at->target, &chain, diags);
  if (!good) _exit(1);
  child_judge(at, at->target->run(at->target));
}

// Simulates the draws [0, count), in order of strike_at.
static bool simulate_here(const Settling *settling, const Draw *draws, uint32_t count) {
  Injector *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Injector){.target = settling->target, .settling = settling, .draws = draws, .count = count};
  at->hook = (Hook){.name = "inject", .kind = HOOK_FAULT, .own = at, .cycle = on_cycle, .next_cycle = UINT64_MAX};
  bool good = true;
  if (settling->options->snapshot) {
    good = inject_forking(at, settling->diags);
  } else {
    for (uint32_t i = 0; i < count && !at->stopped && good; i++) good = inject_single(at, &draws[i], settling->diags);
    wait_for_room(at, 1);
  }
  good = good && !at->stopped;
  free(at);
  return good;
}

// ---- The settler -------------------------------------------------------------------------------------

static int by_id(const void *left, const void *right) {
  const Draw *a = left, *b = right;
  return a->id < b->id ? -1 : a->id > b->id;
}

static bool simulate_lot(const Settling *at, const Draw *live, uint32_t count) {
  Target *target = at->target;
  if (target->inject == NULL) return simulate_here(at, live, count);
  return target->inject(target, at->options, at->golden, live, count, at->listener);
}

static bool is_always(const Settling *at) {
  (void)at;
  return true;
}

// Simulations go along one run without faults, in order of time. They go in lots, lowest numbers first and small lots before large ones: so a
// campaign that is stopped has a first part that is complete, for the price of a run without faults for each lot.
static bool settle(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  (void)hook;
  qsort(live, *count, sizeof *live, by_id);
  bool good = true;
  for (uint32_t first = 0, lot; first < *count && good; first += lot) {
    lot = min_u32(min_u32(max_u32(first, LEAST_LOT), MOST_LOT), *count - first);
    qsort(live + first, lot, sizeof *live, draw_by_strike);
    good = simulate_lot(at, live + first, lot) && at->listener->goes_on(at->listener->context);
  }
  if (good) *count = 0;
  return good;
}

const Settler settle_simulate = {.name = "simulate", .is_for = is_always, .settle = settle, .simulates = true};
