// Faults followed without time. A wrong bit in a register changes what one warp computes from a known instruction on. As long as
// the program's course does not depend on time, what comes of it can be found by carrying out again, on the functional
// machine, only the blocks that the wrong values reach: the struck one, and in later launches those that read what it left
// wrong in memory. Faults are carried along a fault-free run of the program as the words of memory in which they
// differ from it; many at once, at almost no cost.
//
// A result is taken only where it is the same on the machine with time, whatever the order of warps and blocks:
// - where warps of a block meet in memory without a barrier between them, or blocks of a launch at all, the golden run's time tells who
//   comes first (visit.c); of a launch after one that has taken another course it does not, since caches are not as they were;
// - nothing is read that tells time or place, no texture, no call to the outside; the host does not read what is wrong;
// - a right output counts as masked only if every instruction, mask and address was that of the fault-free run: then so is the time;
// - a program that runs longer is trusted to end before the limit only if its further instructions could take extra_cycles each; one
//   that does not end has carried out more instructions in one warp than the limit has cycles.
// Everything else is left to simulate.c.
#include "settle/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST_EXTRA = 1000, MOST_KEPT_WORDS = 1 << 26 };

typedef enum TrailState { TRAIL_AHEAD, TRAIL_GOING, TRAIL_SETTLED, TRAIL_LOST } TrailState;

// A fault under way: where memory differs from the fault-free run between two launches.
typedef struct Trail {
  const Draw *draw;
  TrailState state;
  const Returned *returned; // NULL: begins with the draw's reader
  bool same_flow;           // so far: the same instructions, masks and addresses
  uint64_t late;            // cycles that it may take longer than without the fault
  WordList words;
  OpenWordVec open; // of one that is lost: all that is not known after the launch
  bool has_parted;  // goes on in another process
  Record record;
} Trail;

struct Follower {
  Target twin;            // the target, its launches carried out here
  const FollowHost *host; // of a program that drives its run itself; NULL: run_twin does
  bool has_parted;        // this is a process of one fault alone
  Trail *alone; // that, between launches with its wrong words in memory and the right ones in its list; NULL: a kernel has trapped
  Launcher launcher;
  const Settling *settling;
  Following *following;
  bool is_again; // faults that come back from trials; the others begin with their reader
  const Golden *golden;
  uint64_t limit; // cycle at which a run counts as endless
  uint64_t slack; // cycles that a faulty run may take longer
  Trail *trails;
  uint32_t count, going;
  uint64_t kept_words;
  bool failed; // or stopped: everything that is not settled is left
  bool judges;
  Course *course; // of the current launch
  Memory *memory;
  const Returned *trapped; // in the process of a fault whose trial has trapped
};

static bool goes_on(const Follower *at) { return at->settling->listener->goes_on(at->settling->listener->context); }

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

// What is not known is left to a trial.
static void leave_open(Follower *at, Trail *trail, const OpenWordVec *open) {
  at->going -= trail->state == TRAIL_GOING;
  trail->state = TRAIL_LOST;
  for (uint32_t i = 0; i < open->count; i++) *VEC_PUSH(&trail->open, at->settling->arena) = open->items[i];
}

static RerunFlip flip_of(const Follower *at, const Draw *draw) {
  RerunFlip flip = {.warp = draw->reader.warp, .before = draw->reader.issue, .pc = draw->reader.pc, .row = draw->reader.row};
  flip.place = draw->reader.place;
  flip.is_past = draw->reader.is_past;
  memcpy(flip.change, draw->reader.change, sizeof flip.change);
  if (draw->fault.is_output) return flip;
  Site bits[FAULT_MAX_BITS];
  HookMachine nowhere = {.regions = &at->golden->table};
  uint32_t count = fault_bits(&at->golden->table, &nowhere, &draw->fault, bits);
  for (uint32_t i = 0; i < count; i++) {
    if ((draw->reader.units >> bits[i].unit & 1) != 0) flip.change[bits[i].unit] ^= 1u << bits[i].bit;
  }
  return flip;
}

void record_trap(Record *record, const Trap *trap, const Program *program) {
  Text text = {0};
  trap_format(trap, program, &text);
  snprintf(record->note, sizeof record->note, "%.*s", (int)strcspn(text.at, "\n"), text.at);
  text_free(&text);
  record->outcome = target_trap_outcome(trap->kind);
}

void record_timeout(Record *record) {
  snprintf(record->note, sizeof record->note, "still running at the limit");
  record->outcome = OUTCOME_TIMEOUT;
}

// A further instruction of a warp, or an access to another address, counts as so many cycles: at least as many as the machine file makes possible.
static uint64_t extra_cycles(const Follower *at) { return max_u64(LEAST_EXTRA, machine_accesses(at->twin.spec).longest); }

// It ends before the limit.
static bool is_in_time(const Follower *at, const Trail *trail) { return trail->same_flow || (at->slack > 0 && trail->late <= at->slack); }

// The launch that begins takes the time that it takes without the fault, as far as the launches before it decide that. What they have left in
// caches depends on their course, and on every address.
static bool has_golden_times(const Follower *at, const Trail *trail) {
  return trail->same_flow || !machine_accesses(at->twin.spec).keeps_caches;
}

// The host hears of it, in a process of its own. The others go on without it.
static void part(Follower *at, Trail *trail, bool same_flow) {
  at->has_parted = at->host->part(at->host->context, (uint32_t)(trail - at->trails));
  if (at->has_parted) {
    at->host->knows_time(at->host->context, same_flow);
  } else {
    trail->has_parted = true;
    lose(at, trail);
  }
}

// What a launch has made of it.
static void take_end(Follower *at, Trail *trail, const CourseResult *result, const Launch *launch) {
  trail->same_flow &= result->same_flow;
  trail->late += result->extra * extra_cycles(at);
  if (result->end == RERUN_ENDLESS) {
    record_timeout(&trail->record);
    settle(at, trail, trail->record.outcome);
  } else if (result->end == RERUN_UNKNOWN || !is_in_time(at, trail)) {
    lose(at, trail);
  } else if (result->end == RERUN_TRAPPED && at->host != NULL) {
    part(at, trail, false);
  } else if (result->end == RERUN_TRAPPED) {
    record_trap(&trail->record, course_trap(at->course), launch->program);
    settle(at, trail, trail->record.outcome);
  } else if (course_open(at->course)->count > 0) {
    leave_open(at, trail, course_open(at->course));
  } else if (trail->words.count == 0) { // memory is as it would have been
    if (trail->same_flow) settle(at, trail, OUTCOME_MASKED);
    else lose(at, trail);
  }
}

static void advance(Follower *at, Trail *trail, const Launch *launch) {
  CourseResult result;
  if (trail->state == TRAIL_GOING) {
    result = course_go_on(at->course, &trail->words, at->limit, has_golden_times(at, trail));
  } else {
    RerunFlip flip = flip_of(at, trail->draw);
    trail->state = TRAIL_GOING;
    at->going++;
    result = course_strike(at->course, trail->draw->reader.block, &flip, at->limit, &trail->words);
  }
  take_end(at, trail, &result, launch);
}

static bool is_struck_in(const Trail *trail, const Launch *launch) {
  return trail->state == TRAIL_AHEAD && trail->returned == NULL && trail->draw->reader.launch == launch->number;
}

// A trial has found that the fault makes this launch trap.
static void take_trap(Follower *at, Trail *trail, const Launch *launch, Trap *trap) {
  at->going++;
  trail->state = TRAIL_GOING;
  part(at, trail, false);
  if (!at->has_parted) return;
  at->trapped = trail->returned;
  *trap = trail->returned->trap;
  trap->kernel = trap->function = launch->kernel->name;
}

// Faults whose trial has ended within this launch go on from here.
static void take_returned(Follower *at, const Launch *launch, Trap *trap) {
  for (uint32_t i = 0; i < at->count && !at->has_parted && !at->failed; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state != TRAIL_AHEAD || trail->returned == NULL || trail->returned->launch != launch->number) continue;
    if (trail->returned->trap.kind != TRAP_NONE) {
      take_trap(at, trail, launch, trap);
      continue;
    }
    for (uint32_t k = 0; k < trail->returned->words.count; k++) {
      words_add(&trail->words, trail->returned->words.items[k].address, trail->returned->words.items[k].value);
    }
    trail->late = trail->returned->late;
    trail->state = TRAIL_GOING;
    at->going++;
    if (!is_in_time(at, trail)) lose(at, trail);
  }
}

static bool is_left_to_trials(const Trail *trail) { return trail->state == TRAIL_LOST && !fault_lasts(&trail->draw->fault); }

// Some of the faults of this launch have to be simulated: what helps to end that early is kept.
static void keep_memory(Follower *at, const Launch *launch) {
  bool wanted = false;
  for (uint32_t i = 0; i < at->count && !at->is_again && !at->following->blocks_again; i++) {
    const Trail *trail = &at->trails[i];
    wanted |= trail->state == TRAIL_LOST && !trail->has_parted && trail->draw->reader.launch == launch->number;
  }
  LaunchMemory kept;
  if (!wanted || at->failed || at->kept_words > MOST_KEPT_WORDS || !course_keep(at->course, &kept)) return;
  at->kept_words += kept.words;
  *VEC_PUSH(&at->following->kept, at->settling->arena) = kept;
}

// It is not followed from the strike on, but a trial needs the launch.
static bool is_kept_for(const Follower *at, const Trail *trail, const Launch *launch) {
  return at->following->is_protected && !at->following->blocks_again && !at->is_again && trail->state == TRAIL_LOST &&
         trail->draw->reader.launch == launch->number;
}

static bool is_wanted(const Follower *at, const Launch *launch) {
  bool wanted = at->going > 0;
  for (uint32_t i = 0; i < at->count && !wanted; i++)
    wanted = is_struck_in(&at->trails[i], launch) || is_kept_for(at, &at->trails[i], launch);
  return wanted && !at->failed;
}

// The last launch is over. Faults that are not followed are tried to its end: what memory is without them must be known then.
static void keep_last(Follower *at, const MachineEnvironment *environment, const Launch *launch) {
  bool wanted = !at->is_again && at->host == NULL && !at->failed && launch->number == at->golden->launches.count, any = false;
  for (uint32_t i = 0; i < at->following->kept.count; i++) wanted &= at->following->kept.items[i].launch != launch->number;
  for (uint32_t i = 0; i < at->count && !any; i++) any = is_left_to_trials(&at->trails[i]);
  if (!wanted || !any || memory_extent(environment->memory) / sizeof(uint32_t) > MOST_KEPT_WORDS) return;
  *VEC_PUSH(&at->following->kept, at->settling->arena) = launch_memory_after(environment->memory, launch);
}

static bool is_as_with_time(const Follower *at, const Launch *launch, Stats *stats) {
  return at->host == NULL || at->host->is_same(at->host->context, launch, stats);
}

static void launch_plain(Follower *at, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  functional_run(environment, launch, stats, trap);
  if (!is_as_with_time(at, launch, stats)) at->failed = true;
  keep_last(at, environment, launch);
  take_returned(at, launch, trap);
}

// The host has seen what the fault has made wrong, and launches once more. As long as it does what it does without the fault, the
// launch is carried out as there, and again where it reads what is wrong.
static void launch_alone(Follower *at, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  const FollowHost *host = at->host;
  Trail *trail = at->alone;
  if (trail == NULL) host->stop(host->context, false);
  words_swap(&trail->words, at->memory);
  if (at->failed || !host->is_next(host->context, launch)) host->stop(host->context, false);
  CourseOptions options = {.timeline = at->following->timeline, .readers = true, .spec = at->twin.spec};
  at->course = course_new(environment, launch, &options, stats, trap);
  if (trap->kind != TRAP_NONE || !is_as_with_time(at, launch, stats)) host->stop(host->context, false);
  CourseResult result = course_go_on(at->course, &trail->words, at->limit, has_golden_times(at, trail));
  trail->same_flow &= result.same_flow;
  trail->late += result.extra * extra_cycles(at);
  if (result.end == RERUN_ENDLESS) host->stop(host->context, true);
  if (result.end == RERUN_UNKNOWN || !is_in_time(at, trail)) host->stop(host->context, false);
  host->knows_time(host->context, trail->same_flow && result.end != RERUN_TRAPPED);
  if (result.end == RERUN_TRAPPED) {
    *trap = *course_trap(at->course);
    at->alone = NULL;
    return; // the course stays: the trap is its
  }
  words_swap(&trail->words, at->memory);
  course_free(at->course);
  at->course = NULL;
}

static void on_launch(void *context, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  Follower *at = context;
  if (at->has_parted) {
    launch_alone(at, environment, launch, stats, trap);
    return;
  }
  if (!is_wanted(at, launch)) {
    launch_plain(at, environment, launch, stats, trap);
    return;
  }
  CourseOptions options = {.timeline = at->following->timeline, .readers = at->going > 0};
  options.spec = at->twin.spec;
  options.may_be_open = !at->is_again;
  at->course = course_new(environment, launch, &options, stats, trap);
  if (trap->kind != TRAP_NONE || !is_as_with_time(at, launch, stats)) at->failed = true;
  for (uint32_t i = 0; i < at->count && !at->failed && !at->has_parted; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state != TRAIL_GOING && !is_struck_in(trail, launch)) continue;
    advance(at, trail, launch);
    at->failed = !goes_on(at);
  }
  if (at->has_parted) {
    *trap = *course_trap(at->course);
    return; // the course stays: the trap is its
  }
  keep_memory(at, launch);
  keep_last(at, environment, launch);
  course_free(at->course);
  at->course = NULL;
  take_returned(at, launch, trap);
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

// The output's elements that a word holds parts of, compared. `last` keeps those that have been.
static void judge_word(const Follower *at, uint64_t address, uint64_t last[TARGET_MAX_OUTPUTS], Judgement *judgement) {
  for (uint32_t i = 0; i < at->golden->outputs.count; i++) {
    const TargetOutput *golden = &at->golden->outputs.items[i];
    TargetOutput got = *golden;
    uint32_t bytes = element_bytes(golden->type);
    uint64_t end = golden->address + golden->count * bytes;
    if (address + sizeof(uint32_t) <= golden->address || address >= end) continue;
    got.bytes = memory_bytes(at->memory) + (golden->address - memory_base(at->memory));
    uint64_t first = address <= golden->address ? 0 : (address - golden->address) / bytes;
    uint64_t stop = min_u64((address + sizeof(uint32_t) - golden->address + bytes - 1) / bytes, golden->count);
    for (uint64_t index = max_u64(first, last[i]); index < stop; index++) target_compare_element(golden, &got, index, judgement);
    last[i] = max_u64(last[i], stop);
  }
}

// The output is right.
static Outcome outcome_by_time(const Follower *at, const Returned *returned) {
  if (returned->is_corrected) return OUTCOME_CORRECTED;
  return returned->cycles == at->golden->cycles ? OUTCOME_MASKED : OUTCOME_PERFORMANCE;
}

static void judge(Follower *at, Trail *trail) {
  Target *twin = &at->twin;
  Judgement judgement = {0};
  uint64_t last[TARGET_MAX_OUTPUTS] = {0};
  words_sort(&trail->words);
  words_swap(&trail->words, at->memory);
  for (uint32_t i = 0; i < trail->words.count; i++) judge_word(at, trail->words.items[i].address, last, &judgement);
  bool wrong = judgement.wrong > 0;
  Outcome outcome = wrong ? target_wrong_outcome(twin, &judgement) : OUTCOME_MASKED;
  words_swap(&trail->words, at->memory);
  trail->record.wrong = judgement.wrong;
  trail->record.worst = judgement.worst;
  trail->record.pattern = target_pattern(&judgement);
  bool may_be_order = trail->returned != NULL && at->golden->adds_floats > 0; // time has passed: additions may have come in another order
  if (wrong && may_be_order) lose(at, trail);
  else if (wrong) settle(at, trail, outcome);
  else if (trail->same_flow) settle(at, trail, OUTCOME_MASKED);
  else if (trail->returned != NULL && trail->returned->is_whole) settle(at, trail, outcome_by_time(at, trail->returned));
  else lose(at, trail);
}

// The fault-free run must have ended as on the machine with time.
static bool is_same_run(const Follower *at) { return memory_hash(at->memory, 0) == at->golden->memory_hash; }

static void drop_kept(LaunchMemoryVec *kept) {
  for (uint32_t i = 0; i < kept->count; i++) launch_memory_free(&kept->items[i]);
  kept->count = 0;
}

// What is not known of a fault, for its trial.
static void keep_open(Follower *at, Trail *trail) {
  Unfinished unfinished = {.id = trail->record.id, .words = trail->words, .open = trail->open, .late = trail->late};
  if (trail->open.count > 0) *VEC_PUSH(&at->following->unfinished, at->settling->arena) = unfinished;
  else words_free(&trail->words);
}

static void run_twin(Follower *at, Diags *diags) {
  Target *twin = &at->twin;
  bool good = twin->start(twin, NULL, diags);
  if (good) at->memory = device_memory(twin->device(twin));
  good = good && twin->run(twin) && !at->failed;
  at->judges = true;
  good = good && is_same_run(at);
  if (!good && !at->is_again) drop_kept(&at->following->kept); // what is kept is not what the machine with time leaves
  for (uint32_t i = 0; i < at->count; i++) {
    Trail *trail = &at->trails[i];
    if (!good) lose(at, trail);
    else if (trail->state == TRAIL_GOING) judge(at, trail);
    good = good && goes_on(at);
  }
  twin->finish(twin);
}

// ---- The settlers ------------------------------------------------------------------------------------

static Trail trail_of(const Follower *at, const Draw *draw) {
  const Following *following = at->following;
  Trail trail = {.draw = draw, .record = {.id = draw->id, .settled = SETTLED_FOLLOWED}};
  for (uint32_t i = 0; at->is_again && i < following->returned.count; i++) {
    if (following->returned.items[i].id == draw->id) trail.returned = &following->returned.items[i];
  }
  bool is_known = trail.returned != NULL || (!at->is_again && draw->reader.launch != 0);
  trail.same_flow = trail.returned == NULL;
  if (trail.returned != NULL) trail.record.settled = trail.returned->settles_as;
  bool passes = following->passes_values && !following->blocks_again && !draw->fault.is_output;
  bool is_checked = following->is_protected && trail.returned == NULL && !passes;
  if (!is_known || is_checked || fault_lasts(&draw->fault)) trail.state = TRAIL_LOST;
  return trail;
}

// Tells those that are settled, and keeps the others.
static uint32_t tell(Follower *at, Draw *draws) {
  const Listener *listener = at->settling->listener;
  uint32_t left = 0;
  bool going = true;
  for (uint32_t i = 0; i < at->count; i++) {
    Trail *trail = &at->trails[i];
    bool is_settled = trail->state == TRAIL_SETTLED;
    bool is_whole = trail->returned != NULL && trail->returned->is_whole;
    trail->record.cycles = is_whole ? trail->returned->cycles : at->golden->cycles;
    if (is_settled && going) going = listener->take(listener->context, &trail->record);
    if (!is_settled) draws[left++] = draws[i];
    keep_open(at, trail);
  }
  return left;
}

static uint32_t follow_all(Settling *settling, bool is_again, Draw *draws, uint32_t count) {
  const Golden *golden = settling->golden;
  uint64_t timeout = settling->options->timeout;
  Follower *at = calloc(1, sizeof *at);
  ASSERT(at != NULL);
  *at = (Follower){.twin = *settling->target, .settling = settling, .following = settling->following, .is_again = is_again};
  at->golden = golden;
  at->count = count;
  at->limit = golden->cycles * timeout;
  at->slack = golden->cycles * (timeout - 1);
  at->launcher = (Launcher){.context = at, .launch = on_launch, .host_reads = on_host_reads, .host_wrote = on_host_wrote};
  at->twin.launcher = &at->launcher;
  at->trails = calloc(count, sizeof *at->trails);
  ASSERT(at->trails != NULL);
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    at->trails[i] = trail_of(at, &draws[i]);
    any |= at->trails[i].state != TRAIL_LOST || (!is_again && is_left_to_trials(&at->trails[i]));
  }
  Diags diags = {0};
  if (any) run_twin(at, &diags);
  diags_free(&diags);
  uint32_t left = tell(at, draws);
  free(at->trails);
  free(at);
  return left;
}

// ---- A program that drives its run itself ------------------------------------------------------------

// What is freed stays as it is until it is allocated again, and is zero then: the device says so as of any write.
static void ignore_reads(void *context, DeviceAddress from, uint64_t bytes) { (void)context, (void)from, (void)bytes; }

static void on_wrote(void *context, DeviceAddress to, uint64_t bytes) { follower_wrote(context, to, bytes); }

Follower *follower_new(const Settling *settling, bool is_again, const FollowHost *host, uint64_t limit) {
  Follower *at = ARENA_NEW(settling->arena, Follower);
  *at = (Follower){.twin = *settling->target, .settling = settling, .host = host, .golden = settling->golden, .count = settling->count};
  at->following = settling->following;
  at->is_again = is_again;
  at->limit = limit;
  at->slack = limit - min_u64(limit, at->golden->cycles);
  at->launcher = (Launcher){.context = at, .launch = on_launch, .host_reads = ignore_reads, .host_wrote = on_wrote};
  at->trails = ARENA_ARRAY(settling->arena, Trail, at->count + 1);
  for (uint32_t i = 0; i < at->count; i++) at->trails[i] = trail_of(at, &settling->draws[i]);
  return at;
}

const Launcher *follower_launcher(const Follower *at) { return &at->launcher; }
void follower_begin(Follower *at, Memory *memory) { at->memory = memory; }

void follower_reads(Follower *at, DeviceAddress from, uint64_t bytes) {
  for (uint32_t i = 0; i < at->count && at->going > 0 && !at->has_parted; i++) {
    Trail *trail = &at->trails[i];
    if (trail->state != TRAIL_GOING || !words_meet(&trail->words, from, bytes)) continue;
    if (at->failed) lose(at, trail);
    else part(at, trail, trail->same_flow);
    if (!at->has_parted) continue;
    words_swap(&trail->words, at->memory);
    at->alone = trail;
  }
}

static void wrote_alone(Follower *at, DeviceAddress to, uint64_t bytes) {
  if (at->alone == NULL) return;
  words_remove(&at->alone->words, to, bytes);
  if (words_meet(&at->alone->words, to, bytes)) at->failed = true;
}

void follower_wrote(Follower *at, DeviceAddress to, uint64_t bytes) {
  if (at->has_parted) wrote_alone(at, to, bytes);
  else on_host_wrote(at, to, bytes);
}

void follower_loses(Follower *at, DeviceAddress from, uint64_t bytes) {
  if (!at->has_parted) on_host_reads(at, from, bytes);
  else if (at->alone != NULL && words_meet(&at->alone->words, from, bytes)) at->failed = true;
}

void follower_asks_time(Follower *at) {
  for (uint32_t i = 0; i < at->count && !at->has_parted; i++) {
    if (at->trails[i].state == TRAIL_GOING && !at->trails[i].same_flow) lose(at, &at->trails[i]);
  }
}

void follower_fails(Follower *at) { at->failed = true; }

bool follower_end(Follower *at, uint32_t draw, Outcome *outcome) {
  Trail *trail = &at->trails[draw];
  if (trail->state == TRAIL_GOING && trail->same_flow && !at->failed) settle(at, trail, OUTCOME_MASKED); // nobody has seen what is wrong
  *outcome = (Outcome)trail->record.outcome;
  return trail->state == TRAIL_SETTLED;
}

uint64_t follower_trapped_at(const Follower *at) { return at->trapped == NULL ? 0 : at->trapped->late; }

void follower_keep(Follower *at) {
  if (at->failed) drop_kept(&at->following->kept);
  for (uint32_t i = 0; i < at->count && !at->failed && !at->is_again; i++) keep_open(at, &at->trails[i]);
}

static bool values_pass(const HookChain *protections) {
  bool all = true;
  for (uint32_t i = 0; protections != NULL && i < protections->count; i++) all &= protections->hooks[i]->passes_values;
  return all;
}

// What programs can name: a register, a predicate, a word of shared memory, a result.
static bool is_named(const Region *region) {
  return region->role == REGION_ROLE_REGISTERS || region->role == REGION_ROLE_PREDICATES || region->role == REGION_ROLE_SHARED ||
         (region->flags & REGION_OUTPUT) != 0;
}

// Or a mirror of it runs beside it, under the same number.
static bool blocks_run_again(const CampaignOptions *options) {
  const uint32_t actions = ACTION_BIT(ACTION_REDISPATCH) | ACTION_BIT(ACTION_MIRROR);
  return options->protections != NULL && (hook_chain_actions(options->protections) & actions) != 0;
}

bool settles_by_following(const Settling *at) {
  const CampaignOptions *options = at->options;
  bool is_protected = campaign_is_protected(options), any = false;
  bool is_ours = at->target->inject == NULL || (at->target->follow != NULL && !blocks_run_again(options));
  bool can =
      options->standing == NULL && options->prune && options->snapshot && is_ours && machine_can(at->target->spec, MACHINE_IS_FOLLOWED);
  for (uint32_t i = 0; i < at->count && can && !any; i++) {
    const Region *region = &at->golden->table.items[at->draws[i].fault.site.region];
    bool is_tried = at->target->inject == NULL && !fault_lasts(&at->draws[i].fault);
    any = is_tried || is_named(region) || (is_protected && (region->flags & REGION_TRACED) != 0);
  }
  return can && any;
}

// Only what programs can name is followed along their accesses.
static Hook *watch(const WatchedDraws *watched) {
  bool any = false;
  for (uint32_t i = 0; i < watched->count && !any; i++) any = is_named(&watched->table->items[watched->draws[i].fault.site.region]);
  return any ? timeline_hook(timeline_new(watched->arena)) : NULL;
}

Following *following_new(const Settling *at) {
  Following *following = ARENA_NEW(at->arena, Following);
  following->is_protected = campaign_is_protected(at->options);
  following->passes_values = values_pass(at->options->protections);
  following->blocks_again = blocks_run_again(at->options);
  return following;
}

void following_free(Following *following) {
  if (following->file != NULL) {
    munmap(following->file, following->file_bytes);
    following->kept.count = 0;
  }
  drop_kept(&following->kept);
  for (uint32_t i = 0; i < following->returned.count; i++) words_free(&following->returned.items[i].words);
  for (uint32_t i = 0; i < following->unfinished.count; i++) words_free(&following->unfinished.items[i].words);
}

static bool settle_all(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  at->following = following_new(at);
  if (at->target->follow != NULL) return *count == 0 || at->target->follow(at->target, at, false, live, count);
  at->following->timeline = hook == NULL ? NULL : hook->own;
  if (*count > 0) *count = follow_all(at, false, live, *count);
  return true;
}

static bool settle_again(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  (void)hook;
  if (*count == 0 || at->following->returned.count == 0) return true;
  if (at->target->follow != NULL) return at->target->follow(at->target, at, true, live, count);
  *count = follow_all(at, true, live, *count);
  return true;
}

static void finish(Settling *at) {
  if (at->following != NULL) following_free(at->following);
}

const Settler settle_follow = {.name = "follow", .is_for = settles_by_following, .watch = watch, .settle = settle_all, .finish = finish};
const Settler settle_returned = {.name = "returned", .is_for = settles_by_following, .settle = settle_again};
