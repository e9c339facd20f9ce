// One run with faults. It happens in a process of its own, so that an endless run can be ended at any cycle and a failure of
// Redoubt itself is told from an outcome; what it finds is left in memory that both share.
#include "campaign/order.h"
#include "campaign/golden.h"
#include "base/process.h"
#include "explain/explain_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const fate_text[FATE_COUNT] = {
    [FATE_NOT_STRUCK] = "not-struck",
    [FATE_NO_CELL] = "no-cell",
    [FATE_NOT_TOLD] = "not-told",
    [FATE_READ] = "read",
    [FATE_OVERWRITTEN] = "overwritten",
    [FATE_RESET] = "reset",
    [FATE_DEAD] = "dead",
    [FATE_RESULT] = "result",
    [FATE_IDLE] = "idle",
};

typedef struct Shared { // between the two processes
  FaultRun run;
  bool finished, trace_failed;
} Shared;

typedef struct Single {
  Target *target;
  const FaultRunOptions *options;
  Arena *arena;
  Golden golden;
  Fault faults[FAULT_RUN_MOST];
  ValueLog log;
  Tracer *tracer;
  Shared *shared;
  Diags *diags;
} Single;

// ---- Runs without faults -------------------------------------------------------------------------------------------

static bool parse_faults(Single *at) {
  const FaultRunOptions *options = at->options;
  for (uint32_t i = 0; i < options->fault_count; i++) {
    if (!fault_parse(&at->golden.table, options->faults[i], &at->faults[i], at->diags)) return false;
    Text text = {0};
    fault_format(&at->golden.table, &at->faults[i], &text);
    at->shared->run.faults[i] = arena_copy_text(at->arena, text.at, text.length);
    text_free(&text);
  }
  at->shared->run.fault_count = options->fault_count;
  return true;
}

// "CYCLE fault", a line each: what a trace points at.
static void list_marks(const Single *at, Text *out) {
  for (uint32_t i = 0; i < at->options->fault_count; i++)
    text_add(out, "%" PRIu64 " fault: %s\n", at->faults[i].from, at->shared->run.faults[i]);
}

// A process of the program's own does it.
static bool run_elsewhere(Single *at, TraceMode mode) {
  Text marks = {0};
  list_marks(at, &marks);
  TracedRun wish = {.mode = mode,
                    .explain = at->options->explain,
                    .limit = at->golden.cycles * at->options->timeout,
                    .faults = at->faults,
                    .marks = mode == TRACE_COMPARE ? marks.at : NULL,
                    .run = &at->shared->run};
  bool good = at->target->traced(at->target, &wish, at->diags);
  text_free(&marks);
  return good;
}

// The same run once more, seen by the tracer.
static bool observe(Single *at, TraceMode mode) {
  if (at->target->traced != NULL) return run_elsewhere(at, mode);
  HookChain chain;
  if (!standing_chain(at->options->protections, at->golden.standing, at->arena, &chain) ||
      !hook_chain_add(&chain, tracer_hook(at->tracer, mode))) {
    return diags_add(at->diags, NULL, 0, 0, "too many protections for an explanation");
  }
  bool good = at->target->start(at->target, &chain, at->diags);
  if (good && !at->target->run(at->target)) good = diags_add(at->diags, NULL, 0, 0, "internal error: two runs without faults differ");
  at->target->finish(at->target);
  return good;
}

static bool fits_journal(const Single *at) {
  const FaultRunOptions *options = at->options;
  bool same_program = options->program_hash == 0 || options->program_hash == at->golden.program_hash;
  if (!same_program) return diags_add(at->diags, NULL, 0, 0, "the program is not the one of the journal: it has changed since");
  if (options->layout_hash == 0 || options->layout_hash == at->golden.layout_hash) return true;
  return diags_add(at->diags, NULL, 0, 0, "the machine's state is not laid out as in the journal: another version of Redoubt wrote it");
}

// ---- The run with faults, in the child -----------------------------------------------------------------------------

typedef struct Limit {
  Hook hook;
  Shared *shared;
  Attachments *trace; // NULL: none
} Limit;

static _Noreturn void leave(Limit *limit) {
  Diags diags = {0};
  limit->shared->trace_failed = limit->trace != NULL && !attachments_close(limit->trace, &diags);
  limit->shared->finished = true;
  _exit(0);
}

static void on_limit(Hook *hook, HookMachine *machine) {
  Limit *limit = hook->own;
  limit->shared->run.judgement = (Judgement){.outcome = OUTCOME_TIMEOUT, .cycles = machine->cycle, .note = "still running at the limit"};
  leave(limit);
}

static void note_first_wrong(Single *at, FaultRun *run) {
  TargetOutputs got = {0};
  at->target->outputs(at->target, &got, at->arena);
  for (uint32_t i = 0; i < got.count && i < at->golden.outputs.count; i++) {
    const TargetOutput *expected = &at->golden.outputs.items[i];
    uint32_t bytes = element_bytes(expected->type);
    for (uint64_t k = 0; k < expected->count; k++) {
      if (memcmp(expected->bytes + k * bytes, got.items[i].bytes + k * bytes, bytes) == 0) continue;
      run->output = expected->name;
      run->output_index = k;
      run->output_expected = target_element(expected, k);
      run->output_got = target_element(&got.items[i], k);
      return;
    }
  }
}

static void keep_output(Single *at) {
  TargetOutputs got = {0};
  at->target->outputs(at->target, &got, at->arena);
  if (got.count == 0) return;
  size_t bytes = (size_t)got.items[0].count * element_bytes(got.items[0].type);
  memcpy(at->options->got, got.items[0].bytes, bytes < at->options->got_bytes ? bytes : at->options->got_bytes);
}

static bool open_trace(const Single *at, Limit *limit, Attachments *trace, HookChain *chain) {
  if (at->options->trace == NULL) return true;
  Text marks = {0};
  list_marks(at, &marks);
  AttachmentWishes wishes = *at->options->trace;
  wishes.protections = NULL; // they are in the chain
  wishes.trace_marks = marks.at;
  bool good = attachments_open(trace, &wishes, at->diags) && hook_chain_add(chain, trace->trace);
  text_free(&marks);
  limit->trace = good ? trace : NULL;
  return good;
}

static void add_stats(const Device *device, FaultRun *run) {
  run->has_stats = true;
  for (uint32_t i = 0; i < device_launch_count(device); i++) {
    for (uint32_t k = 0; k < STAT_COUNT; k++) run->stats.value[k] += device_launch_record(device, i)->stats.value[k];
  }
}

static _Noreturn void run_struck(Single *at) {
  process_allow(golden_allowance(&at->golden, at->options->timeout));
  Limit limit = {.shared = at->shared};
  limit.hook = (Hook){.name = "limit", .kind = HOOK_OBSERVER, .own = &limit, .cycle = on_limit};
  limit.hook.next_cycle = at->golden.cycles * at->options->timeout;
  HookChain chain;
  bool room = standing_chain(at->options->protections, at->golden.standing, at->arena, &chain) && hook_chain_add(&chain, &limit.hook);
  for (uint32_t i = 0; i < at->options->fault_count; i++) room = hook_chain_add(&chain, fault_hook(at->arena, &at->faults[i])) && room;
  bool is_order_known = at->golden.adds_floats > 0 && order_is_known(at->target, at->options->protections);
  OrderLog *order = is_order_known ? order_log_new(at->arena) : NULL;
  if (order != NULL) room = hook_chain_add(&chain, order_log_hook(order)) && room;
  if (at->options->explain) room = hook_chain_add(&chain, tracer_hook(at->tracer, TRACE_COMPARE)) && room;
  Attachments trace;
  room = room && open_trace(at, &limit, &trace, &chain);
  if (!room || !at->target->start(at->target, &chain, at->diags)) _exit(1);
  bool done = at->target->run(at->target);
  FaultRun *run = &at->shared->run;
  TargetRight right = golden_right(&at->golden, order);
  target_judge(at->target, done, &right, at->arena, &run->judgement);
  if (run->judgement.wrong > 0) note_first_wrong(at, run);
  if (at->options->got != NULL) keep_output(at);
  add_stats(at->target->device(at->target), run);
  leave(&limit);
}

static bool run_child(Single *at) {
  if (at->target->traced != NULL) return run_elsewhere(at, TRACE_COMPARE);
  pid_t child = process_fork(SIGKILL);
  if (child < 0) return diags_add(at->diags, NULL, 0, 0, "no process for the run: %s", strerror(errno));
  if (child == 0) run_struck(at);
  int status = process_end(child);
  if (at->shared->trace_failed) {
    const AttachmentWishes *trace = at->options->trace;
    return diags_add(at->diags, trace->trace_as != NULL ? trace->trace_as : trace->trace, 0, 0, "cannot be written to its end");
  }
  if (at->shared->finished) return true;
  Judgement *judgement = &at->shared->run.judgement;
  *judgement = (Judgement){.outcome = OUTCOME_INTERNAL};
  process_end_note(status, judgement->note, sizeof judgement->note);
  return true;
}

// ---- All -----------------------------------------------------------------------------------------------------------

// A program of its own must do the same every time. Of those that are explained, the run that is observed is the second.
static bool run_golden_twice(Single *at) {
  Target *target = at->target;
  Golden again = {.arena = at->arena};
  if (!target->golden(target, NULL, 0, NULL, &at->golden, NULL, at->diags)) return false;
  return at->options->explain || target->golden(target, NULL, 0, NULL, &again, NULL, at->diags);
}

static bool run_golden(Single *at) {
  Target *target = at->target;
  if (target->golden != NULL) return run_golden_twice(at); // of a CUDA program no fault stands
  return golden_run_standing(target, at->options->protections, at->options->standing, &at->golden, at->diags) &&
         (at->options->tolerances == NULL || target_tolerate(&at->golden.outputs, at->options->tolerances, at->arena, at->diags));
}

static bool run_all(Single *at) {
  FaultRun *run = &at->shared->run;
  if (!run_golden(at)) return false;
  if (!fits_journal(at) || !parse_faults(at)) return false;
  run->golden_cycles = at->golden.cycles;
  at->tracer = tracer_new(at->arena, &at->log, at->faults, run);
  if (at->options->explain && !observe(at, TRACE_RECORD)) return false;
  if (at->log.full) run->log_full = true;
  if (!run_child(at)) return false;
  return !at->options->explain || run->step_count == 0 || observe(at, TRACE_FETCH);
}

// The text of the lines that are named.
static void find_text(const TargetSources *sources, Place *place) {
  const TargetSource *source = place->pc == UINT32_MAX ? NULL : target_source_at(sources, place->program, place->source);
  if (source == NULL) return;
  place->ptx = target_source_line(source, place->line);
  place->origin = ptx_origin(&source->origins, place->line);
}

static void find_texts(const TargetSources *sources, FaultRun *run) {
  for (uint32_t i = 0; i < run->fault_count; i++) find_text(sources, &run->accesses[i].at);
  for (uint32_t i = 0; i < run->step_count; i++) find_text(sources, &run->steps[i].at);
}

bool fault_run(Target *target, const FaultRunOptions *options, Arena *arena, FaultRun *run, Diags *diags) {
  if (options->fault_count > FAULT_RUN_MOST) {
    return diags_add(diags, NULL, 0, 0, "%u faults in one run: at most %d", options->fault_count, FAULT_RUN_MOST);
  }
  Single *at = ARENA_NEW(arena, Single);
  *at = (Single){.target = target, .options = options, .arena = arena, .golden.arena = arena, .diags = diags};
  at->shared = mmap(NULL, sizeof *at->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at->shared == MAP_FAILED) return diags_add(diags, NULL, 0, 0, "no memory for the run: %s", strerror(errno));
  bool good = run_all(at);
  *run = at->shared->run;
  run->outputs = at->golden.outputs;
  find_texts(&target->sources, run);
  munmap(at->shared, sizeof *at->shared);
  value_log_free(&at->log);
  return good;
}
