// Faults followed without time. A wrong bit in a register changes what one warp computes from a known instruction on. As long as
// the program's course does not depend on time, what comes of it can be found by carrying out again, on the functional
// machine, only the blocks that the wrong values reach: the struck one, and in later launches those that read what it left
// wrong in memory. Faults are carried along a fault-free run of the program as the words of memory in which they
// differ from it; many at once, at almost no cost.
//
// A result is taken only where it is the same on the machine with time, whatever the order of warps and blocks:
// - where warps of a block meet in memory without a barrier between them, or blocks of a launch at all, the golden run's time tells who
//   comes first (visit.c);
// - nothing is read that tells time or place, no texture, no call to the outside; the host does not read what is wrong;
// - a right output counts as masked only if every instruction, mask and address was that of the fault-free run: then so is the time;
// - a program that runs longer is trusted to end before the limit only if its further instructions could take EXTRA_CYCLES each; one
//   that does not end has carried out more instructions in one warp than the limit has cycles.
// Everything else is left to inject.c.
#include "campaign/follow.h"

#include <stdio.h>
#include <stdlib.h>

enum { EXTRA_CYCLES = 1000, COALESCER_GT200 = 0 }; // config.def: by half-warp

typedef enum TrailState { TRAIL_AHEAD, TRAIL_GOING, TRAIL_SETTLED, TRAIL_LOST } TrailState;

// A fault under way: where memory differs from the fault-free run between two launches.
typedef struct Trail {
  const Draw *draw;
  TrailState state;
  bool same_flow; // so far: the same instructions, masks and addresses
  uint64_t extra; // warp instructions more than without the fault
  WordList words;
  Record record;
} Trail;

typedef struct Follower {
  Target twin; // the target on the functional machine
  Spec spec;
  Launcher launcher;
  const Golden *golden;
  const Timeline *timeline;
  uint64_t limit; // cycle at which a run counts as endless
  uint64_t slack; // cycles that a faulty run may take longer
  Trail *trails;
  uint32_t count, going;
  bool failed, judges;
  Course *course; // of the current launch
  Memory *memory;
} Follower;

// ---- One fault through one launch ------------------------------------------------------------------

static void lose(Follower *at, Trail *trail) {
  at->going -= trail->state == TRAIL_GOING;
  trail->state = TRAIL_LOST;
  trail->words.count = 0;
}

static void settle(Follower *at, Trail *trail, Outcome outcome) {
  at->going -= trail->state == TRAIL_GOING;
  trail->state = TRAIL_SETTLED;
  trail->words.count = 0;
  trail->record.outcome = outcome;
}

static RerunFlip flip_of(const Follower *at, const Draw *draw) {
  RerunFlip flip = {.warp = draw->reader.warp, .before = draw->reader.issue, .pc = draw->reader.pc, .reg = draw->reader.row};
  Site bits[FAULT_MAX_BITS];
  HookMachine nowhere = {.regions = &at->golden->table};
  uint32_t count = fault_bits(&at->golden->table, &nowhere, &draw->fault, bits);
  for (uint32_t i = 0; i < count; i++) {
    if ((draw->reader.units >> bits[i].unit & 1) != 0) flip.change[bits[i].unit] ^= 1u << bits[i].bit;
  }
  return flip;
}

static void note_trap(const Launch *launch, const Trap *trap, Record *record) {
  Text text = {0};
  trap_format(trap, launch->program, &text);
  snprintf(record->note, sizeof record->note, "%.*s", (int)strcspn(text.at, "\n"), text.at);
  text_free(&text);
}

// What a launch has made of it.
static void take_end(Follower *at, Trail *trail, const CourseResult *result, const Launch *launch) {
  trail->same_flow &= result->same_flow;
  trail->extra += result->extra;
  bool in_time = trail->same_flow || (at->slack > 0 && trail->extra * EXTRA_CYCLES <= at->slack);
  if (result->end == RERUN_ENDLESS) {
    snprintf(trail->record.note, sizeof trail->record.note, "still running at the limit");
    settle(at, trail, OUTCOME_TIMEOUT);
  } else if (result->end == RERUN_UNKNOWN || !in_time) {
    lose(at, trail);
  } else if (result->end == RERUN_TRAPPED) {
    note_trap(launch, course_trap(at->course), &trail->record);
    settle(at, trail, target_trap_outcome(course_trap(at->course)->kind));
  } else if (trail->words.count == 0) { // memory is as it would have been
    if (trail->same_flow) settle(at, trail, OUTCOME_MASKED);
    else lose(at, trail);
  }
}

static void advance(Follower *at, Trail *trail, const Launch *launch) {
  CourseResult result;
  if (trail->state == TRAIL_GOING) {
    result = course_go_on(at->course, &trail->words, at->limit);
  } else {
    RerunFlip flip = flip_of(at, trail->draw);
    trail->state = TRAIL_GOING;
    at->going++;
    result = course_strike(at->course, trail->draw->reader.block, &flip, at->limit, &trail->words);
  }
  take_end(at, trail, &result, launch);
}

static bool is_struck_in(const Trail *trail, const Launch *launch) {
  return trail->state == TRAIL_AHEAD && trail->draw->reader.launch == launch->number;
}

static bool is_wanted(const Follower *at, const Launch *launch) {
  bool wanted = at->going > 0;
  for (uint32_t i = 0; i < at->count && !wanted; i++) wanted = is_struck_in(&at->trails[i], launch);
  return wanted && !at->failed;
}

static void on_launch(void *context, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  Follower *at = context;
  if (!is_wanted(at, launch)) {
    functional_run(environment, launch, stats, trap);
    return;
  }
  CourseOptions options = {.timeline = at->timeline, .keeps_lanes = at->spec.ldst_coalescer != COALESCER_GT200, .readers = at->going > 0};
  at->course = course_new(environment, launch, &options, stats, trap);
  if (trap->kind != TRAP_NONE) at->failed = true;
  for (uint32_t i = 0; i < at->count && !at->failed; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state == TRAIL_GOING || is_struck_in(trail, launch)) advance(at, trail, launch);
  }
  course_free(at->course);
  at->course = NULL;
}

// ---- The host between launches ---------------------------------------------------------------------

static void on_host_reads(void *context, DeviceAddress from, uint64_t bytes) {
  Follower *at = context;
  for (uint32_t i = 0; i < at->count && at->going > 0 && !at->judges; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state == TRAIL_GOING && words_meet(&trail->words, from, bytes)) lose(at, trail);
  }
}

// Both runs now have the same there; but a word of which only a part was written is not kept track of.
static void on_host_wrote(void *context, DeviceAddress to, uint64_t bytes) {
  Follower *at = context;
  for (uint32_t i = 0; i < at->count && at->going > 0; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state != TRAIL_GOING) continue;
    words_remove(&trail->words, to, bytes);
    if (words_meet(&trail->words, to, bytes)) lose(at, trail);
  }
}

// ---- The end ---------------------------------------------------------------------------------------

static void judge(Follower *at, Trail *trail) {
  Target *twin = &at->twin;
  Arena *arena = arena_new();
  TargetOutputs got = {0};
  Verdicts verdicts = {0};
  words_swap(&trail->words, at->memory);
  twin->outputs(twin, &got, arena);
  target_compare(&at->golden->outputs, &got, &verdicts);
  bool wrong = verdicts.wrong > 0, tolerable = wrong && twin->has_check && twin->check(twin);
  words_swap(&trail->words, at->memory);
  arena_free(arena);
  trail->record.wrong = verdicts.wrong;
  trail->record.worst = verdicts.worst;
  if (wrong) settle(at, trail, !twin->has_check ? OUTCOME_SDC : tolerable ? OUTCOME_SDC_TOLERABLE : OUTCOME_SDC_CRITICAL);
  else if (trail->same_flow) settle(at, trail, OUTCOME_MASKED);
  else lose(at, trail);
}

// The fault-free run must have ended with the outputs of the machine with time.
static bool is_same_run(Follower *at) {
  Arena *arena = arena_new();
  TargetOutputs got = {0};
  Verdicts verdicts = {0};
  at->twin.outputs(&at->twin, &got, arena);
  target_compare(&at->golden->outputs, &got, &verdicts);
  arena_free(arena);
  return verdicts.wrong == 0;
}

static void run_twin(Follower *at, Diags *diags) {
  Target *twin = &at->twin;
  bool good = twin->start(twin, NULL, diags);
  if (good) at->memory = device_memory(twin->device(twin));
  good = good && twin->run(twin) && !at->failed;
  at->judges = true;
  good = good && is_same_run(at);
  for (uint32_t i = 0; i < at->count; i++) {
    Trail *trail = &at->trails[i];
    if (!good) lose(at, trail);
    else if (trail->state == TRAIL_GOING) judge(at, trail);
  }
  twin->finish(twin);
}

bool follow_can(const Target *target, const CampaignOptions *options) {
  bool is_bare = options->protections == NULL || options->protections->count == 0;
  return is_bare && options->prune && options->snapshot && target->inject == NULL && target->spec->machine_model == MODEL_SIMT &&
         target->spec->scheduler_large_warp <= 1;
}

uint32_t follow_all(Target *target, const FollowOptions *options, Draw *draws, uint32_t count, RecordTaker take, void *context) {
  const Golden *golden = options->golden;
  if (count == 0) return count;
  Follower *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Follower){.twin = *target, .spec = *target->spec, .golden = golden, .count = count, .timeline = options->timeline};
  at->limit = golden->cycles * options->timeout;
  at->slack = golden->cycles * (options->timeout - 1);
  at->spec.machine_model = MODEL_FUNCTIONAL;
  at->launcher = (Launcher){.context = at, .launch = on_launch, .host_reads = on_host_reads, .host_wrote = on_host_wrote};
  at->twin.spec = &at->spec;
  at->twin.launcher = &at->launcher;
  at->trails = calloc(count, sizeof *at->trails);
  ASSERT(at->trails != NULL);
  for (uint32_t i = 0; i < count; i++) {
    at->trails[i] = (Trail){.draw = &draws[i], .same_flow = true, .record = {.id = draws[i].id, .settled = SETTLED_FOLLOWED}};
    if (draws[i].reader.launch == 0 || fault_models[draws[i].fault.model].permanent) lose(at, &at->trails[i]);
  }
  Diags diags = {0};
  run_twin(at, &diags);
  diags_free(&diags);
  uint32_t left = 0;
  bool going = true;
  for (uint32_t i = 0; i < count; i++) {
    Trail *trail = &at->trails[i];
    bool is_settled = trail->state == TRAIL_SETTLED;
    trail->record.cycles = golden->cycles;
    if (is_settled && going) going = take(context, &trail->record);
    if (!is_settled) draws[left++] = draws[i];
    words_free(&trail->words);
  }
  free(at->trails);
  free(at);
  return left;
}
