// A machine that heals itself: heal_proof permanent|intermittent|second|idle LANES SHARD/SHARDS [WORKLOAD...], heal_proof transient COUNT THRESHOLD,
// or heal_proof pairs COUNT SHARD/SHARDS [WORKLOAD...].
//
// The first two: every workload, twice on one machine, with LANES different lanes that break in the middle of the first run: for good, or now and then. All outputs
// must be right. What is measured: cycles from the first wrong result to its detection, and to the entry in the map; what the lane was found to be; the time of
// the run before, of the one in which the lane breaks, and of the next. `second` is `permanent` on a machine that has lost lanes before: its map
// is drawn at random, up to three lanes of each cluster. `idle` is `permanent` with RISE's idle time instead of full redundancy: there the first run
// may be wrong or end early, which is counted; a run that begins with the lane in the map must be right, unless the
// lane comes back into use. `transient`: one workload again and again, COUNT single wrong results at random lanes,
// some of them close together; entries in the map are false ones. Every wrong output must come from the one case in which three copies cannot know better
// (heal_witness.h). `pairs` makes that case: two copies of one thread of one instruction are struck, to the same bits or to others. The last line is what heal.sh adds up.
#include "heal_witness.h"

enum { WINDOW = 256, TRIALS = 8, OFTEN = 500, MOST_ROWS = 8 };
typedef enum Mode { PERMANENT, INTERMITTENT, TRANSIENT, PAIR } Mode;

// Two copies of a thread of an instruction that are struck alike or not.
typedef struct Pair {
  uint64_t result;   // the thread is one of this result of a first copy, counted from 0
  uint32_t copies;   // bit for each of the two
  uint32_t spoil[2]; // what they are turned by
  uint64_t seen;     // results of first copies so far
  uint32_t struck;   // of the two
  bool is_found, is_predicate;
  ThreadName name;
} Pair;

typedef struct Lane {
  Hook hook, watch;
  Mode mode;
  Spoil spoil;
  uint32_t row, lane;
  uint64_t seed, from, on, off, next, draws;
  uint16_t output, map, votes;
  uint32_t kind;                 // as heal has found: 1 on trial, 2 permanent, 3 intermittent
  uint64_t first, found, mapped; // cycles of the first wrong result, its detection, the entry; 0: not yet
  uint64_t strikes, false_entries, came_back;
  uint32_t was_mapped;
  bool is_here, has_left; // the lane is in the map; it came back into use
  bool is_looked_at;      // the map as it was given is known
  uint32_t given[MOST_ROWS];
  Witness witness;
  Pair pair;
  double expected, expected_predicates; // strikes of a thread of which another copy has been struck; of them those of predicates alone
  uint64_t before;                      // cycle of the last result of an SP
  bool is_struck;                       // there was a strike, of:
  ThreadName struck;
  uint32_t struck_copy;
} Lane;

static bool is_active(const Lane *lane, uint64_t cycle) {
  if (cycle < lane->from) return false;
  return lane->mode == PERMANENT || (cycle - lane->from) % (lane->on + lane->off) < lane->on;
}

static bool spoil(Lane *lane, ResultEvent *event, uint32_t slot) {
  bool is_changed = false;
  for (uint32_t r = 0; r < event->row_count; r++) {
    uint32_t *word = &event->rows[r * WARP_LANES + slot], was = *word, bit = 1u << lane->seed % 8;
    *word = lane->spoil == SPOIL_STUCK0   ? was & ~bit
            : lane->spoil == SPOIL_STUCK1 ? was | bit
                                          : (uint32_t)random_draw(lane->seed, lane->draws++, 0);
    is_changed |= *word != was;
  }
  for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) {
    uint32_t was = event->predicates[k];
    event->predicates[k] = lane->spoil == SPOIL_STUCK0   ? was & ~(1u << slot)
                           : lane->spoil == SPOIL_STUCK1 ? was | 1u << slot
                                                         : was ^ 1u << slot;
    is_changed |= event->predicates[k] != was;
  }
  return is_changed;
}

// A thread's result in this lane slot becomes a wrong one.
static void strike(Lane *lane, ResultEvent *event, uint32_t slot) {
  lane->strikes += spoil(lane, event, slot) ? 1 : 0;
  witness_struck(&lane->witness, event, slot);
  lane->is_struck = true;
  lane->struck = thread_name(event, slot);
  lane->struck_copy = event->copy;
}

// How likely the next transient strikes another copy of the thread that was struck last: it comes in any of the next 2 * OFTEN cycles, strikes the first result
// from then on, and there any of the threads at work.
static void expect(Lane *lane, const HookMachine *machine, const ResultEvent *event) {
  double share = (double)(machine->cycle - min_u64(lane->before, machine->cycle)) / (2.0 * OFTEN) / (double)count_ones(event->mask);
  lane->before = machine->cycle;
  for (uint32_t left = event->mask & ~event->shadow; left != 0 && lane->is_struck; left &= left - 1) {
    ThreadName name = thread_name(event, (uint32_t)__builtin_ctz(left));
    if (event->copy == lane->struck_copy || !is_same_thread(&name, &lane->struck)) continue;
    lane->expected += share;
    if (event->row_count == 0) lane->expected_predicates += share;
  }
}

static void strike_now_and_then(Lane *lane, const HookMachine *machine, ResultEvent *event) {
  expect(lane, machine, event);
  if (machine->cycle < lane->next) return;
  // one thread's result, whose lane is drawn among those at work
  uint32_t at = (uint32_t)random_below(random_draw(lane->seed, lane->strikes, 1), (uint64_t)__builtin_popcount(event->mask)),
           slots = event->mask;
  while (at-- > 0) slots &= slots - 1;
  strike(lane, event, (uint32_t)__builtin_ctz(slots));
  lane->next = machine->cycle + 1 + random_below(random_draw(lane->seed, lane->draws++, 2), 2 * OFTEN);
}

// The copies of the pair's thread, when they come.
static void strike_pair(Lane *lane, ResultEvent *event) {
  Pair *pair = &lane->pair;
  uint32_t threads = event->mask & ~event->shadow;
  if (event->copies < 2 || threads == 0) return;
  if (event->copy == 0 && pair->seen++ == pair->result) {
    uint32_t at = (uint32_t)random_below(random_draw(lane->seed, 0, 1), count_ones(threads)), slots = threads;
    while (at-- > 0) slots &= slots - 1;
    pair->name = thread_name(event, (uint32_t)__builtin_ctz(slots));
    pair->is_predicate = event->row_count == 0;
    pair->is_found = true;
  }
  for (uint32_t left = threads; left != 0 && pair->is_found && (pair->copies >> event->copy & 1) != 0; left &= left - 1) {
    uint32_t slot = (uint32_t)__builtin_ctz(left);
    ThreadName name = thread_name(event, slot);
    if (!is_same_thread(&name, &pair->name)) continue;
    for (uint32_t r = 0; r < event->row_count; r++) event->rows[r * WARP_LANES + slot] ^= pair->spoil[pair->struck % 2];
    for (uint32_t k = 0; k < 2 && event->predicates != NULL; k++) event->predicates[k] ^= 1u << slot;
    pair->struck++;
    witness_struck(&lane->witness, event, slot);
  }
}

// The map as it was given. A lane of it is broken already: the next one breaks.
static void look_at_map(Lane *lane, const HookMachine *machine, uint32_t lanes) {
  const Region *region = &machine->regions->items[lane->map];
  for (uint64_t row = 0; row < min_u64(region->rows, MOST_ROWS) && !lane->is_looked_at; row++)
    memcpy(&lane->given[row], machine->block + region->base + row * region->row_bytes, sizeof lane->given[row]);
  lane->is_looked_at = true;
  while ((lane->given[lane->row] >> lane->lane & 1) != 0) lane->lane = (lane->lane + 1) % lanes;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Lane *lane = hook->own;
  uint32_t lanes = machine->regions->items[lane->output].units;
  if (!lane->is_looked_at) look_at_map(lane, machine, lanes);
  witness_before(&lane->witness, machine, event);
  if (event->region != lane->output || event->mask == 0) return VERDICT_PASS;
  if (lane->mode == TRANSIENT) strike_now_and_then(lane, machine, event);
  if (lane->mode == PAIR) strike_pair(lane, event);
  if (lane->mode == TRANSIENT || lane->mode == PAIR || event->row != lane->row || !is_active(lane, machine->cycle)) return VERDICT_PASS;
  for (uint32_t slot = lane->lane; slot < WARP_LANES; slot += lanes) {
    bool is_met = (event->mask >> slot & 1) != 0 && spoil(lane, event, slot) && (event->shadow >> slot & 1) == 0;
    if (is_met && lane->first == 0) lane->first = machine->cycle;
  }
  return VERDICT_PASS;
}

static Verdict on_watch(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Lane *lane = hook->own;
  const Region *region = &machine->regions->items[lane->map];
  uint32_t wrong = 0;
  bool was_here = lane->is_here;
  witness_after(&lane->witness, machine, event);
  if (lane->found == 0 && *machine->repeated > 0) lane->found = machine->cycle;
  for (uint64_t row = 0; row < region->rows; row++) {
    uint32_t map;
    memcpy(&map, machine->block + region->base + row * region->row_bytes, sizeof map);
    map &= ~lane->given[row % MOST_ROWS];
    bool is_here = lane->mode < TRANSIENT && row == lane->row && (map >> lane->lane & 1) != 0;
    if (is_here && lane->mapped == 0) lane->mapped = machine->cycle;
    if (row == lane->row) lane->is_here = is_here;
    wrong += (uint32_t)__builtin_popcount(map) - (is_here ? 1 : 0);
  }
  if (wrong > lane->was_mapped) lane->false_entries += wrong - lane->was_mapped;
  if (wrong < lane->was_mapped) lane->came_back += lane->was_mapped - wrong;
  lane->was_mapped = wrong;
  lane->has_left |= was_here && !lane->is_here;
  const Region *votes = &machine->regions->items[lane->votes];
  lane->kind = machine->block[votes->base + lane->row * votes->row_bytes + lane->lane * votes->unit_bytes] & 3;
  return VERDICT_PASS;
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Lane *lane = hook->own;
  (void)diags;
  lane->output = region_find(hook_layout_regions(layout), "unit.sp");
  lane->map = region_find(hook_layout_regions(layout), "heal.sp");
  lane->votes = region_find(hook_layout_regions(layout), "heal.vote.sp");
  return lane->map != REGION_NONE && lane->votes != REGION_NONE;
}

// ---- Runs ------------------------------------------------------------------------------------------------

typedef struct Bench {
  Arena *arena;
  Diags diags;
  HookChain chain;
  Device *device;
} Bench;

static void bench_open(Bench *bench, const Spec *spec, const char *protection, Lane *lane) {
  *bench = (Bench){.arena = arena_new()};
  lane->hook = (Hook){.name = "lane", .kind = HOOK_FAULT, .own = lane, .result = on_result, .next_cycle = UINT64_MAX};
  lane->watch =
      (Hook){.name = "watch", .kind = HOOK_OBSERVER, .own = lane, .attach = on_attach, .result = on_watch, .next_cycle = UINT64_MAX};
  Hook *heal = protect_new(protection, bench->arena, &bench->diags);
  if (heal == NULL) broken_die(protection, &bench->diags);
  hook_chain_add(&bench->chain, &lane->hook);
  hook_chain_add(&bench->chain, heal);
  hook_chain_add(&bench->chain, &lane->watch);
  DeviceOptions options = {.spec = spec, .hooks = &bench->chain};
  bench->device = device_new(&options, &bench->diags);
  if (bench->device == NULL) broken_die("device", &bench->diags);
}

static void bench_close(Bench *bench) {
  device_free(bench->device);
  diags_free(&bench->diags);
  arena_free(bench->arena);
}

typedef struct Ran {
  bool is_done;
  uint64_t hash, cycles;
} Ran;

static Ran bench_run(Bench *bench, const Workload *workload) {
  WorkloadRun work = {0};
  uint32_t before = device_launch_count(bench->device);
  if (!workload_start(&work, workload, SIZE_TINY, bench->device, &bench->diags) || !workload->prepare(&work))
    broken_die(workload->name, &bench->diags);
  Ran ran = {.is_done = workload->launch(&work)};
  for (uint32_t i = before; i < device_launch_count(bench->device); i++)
    ran.cycles += device_launch_record(bench->device, i)->stats.value[STAT_CYCLES];
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < work.output_count && ran.is_done; i++) {
    uint64_t bytes = work.outputs[i].count * element_bytes(work.outputs[i].type);
    uint8_t *copy = arena_alloc(arena, bytes + 1);
    if (device_read(bench->device, copy, work.outputs[i].address, bytes)) ran.hash = hash_bytes(copy, bytes, ran.hash);
  }
  arena_free(arena);
  workload_finish(&work);
  return ran;
}

// ---- A lane breaks -----------------------------------------------------------------------------------------

typedef struct Tally {
  uint64_t runs, met, found, mapped, detection, most_detection, entry, most_entry, kinds[4], false_entries, wrong, let, healthy, during,
      after;
} Tally;

static void complain(const Workload *workload, const Lane *lane, const char *what) {
  fprintf(stderr, "%s: lane %u of SP row %u from cycle %lu, spoil %d: %s\n", workload->name, lane->lane, lane->row, lane->from, lane->spoil,
          what);
}

// heal, on a machine that has lost up to so many lanes of a cluster before.
static void name_heal(char *text, size_t size, const char *detect, uint64_t most, uint64_t seed) {
  if (most == 0) snprintf(text, size, "heal:window=%d,trials=%d,detect=%s", WINDOW, TRIALS, detect);
  else
    snprintf(text, size, "heal:window=%d,trials=%d,detect=%s,map=random,density=%lu,most=%lu,seed=%lu", WINDOW, TRIALS, detect, 20 * most,
             most, seed);
}

static void breaks(const Workload *workload, const Spec *spec, Mode mode, const char *detect, bool is_second, uint64_t number,
                   uint64_t index, Tally *tally) {
  char protection[120];
  bool is_idle = strcmp(detect, "rise") == 0;
  name_heal(protection, sizeof protection, detect, is_second ? 1 + number % 3 : 0, number * 100 + index);
  Bench bench;
  Lane lane = {.mode = mode, .from = UINT64_MAX};
  bench_open(&bench, spec, protection, &lane);
  Ran healthy = bench_run(&bench, workload);
  bench_close(&bench);
  if (!healthy.is_done || lane.false_entries > 0) broken_die(workload->name, &bench.diags);
  uint64_t seed = number * 100 + index;
  lane = (Lane){.mode = mode, .spoil = (Spoil)(number % SPOILS), .seed = seed, .row = (uint32_t)random_below(random_draw(seed, 0, 3), 4)};
  lane.lane = (uint32_t)random_below(random_draw(seed, 1, 3), spec->sm_sp_lanes);
  lane.from = 1 + random_below(random_draw(seed, 2, 3), healthy.cycles / 2 + 1);
  lane.on = 3 * WINDOW;
  lane.off = 2 * WINDOW;
  bench_open(&bench, spec, protection, &lane);
  Ran during = bench_run(&bench, workload);
  bool was_mapped = lane.mapped > 0, is_right = during.is_done && during.hash == healthy.hash;
  Ran after = during.is_done ? bench_run(&bench, workload) : (Ran){0};
  bool stays_right = after.is_done && after.hash == healthy.hash,
       must_be_right = !is_idle || (was_mapped && !lane.has_left && during.is_done);
  tally->runs++;
  tally->let += is_idle && !is_right;
  bool is_wrong = (!is_idle && !is_right) || (must_be_right && !stays_right);
  if (is_wrong) complain(workload, &lane, during.is_done && after.is_done ? "wrong outputs" : "ended early");
  tally->wrong += is_wrong;
  tally->false_entries += lane.false_entries;
  tally->met += lane.first > 0;
  if (lane.first > 0 && lane.found >= lane.first) {
    tally->found++;
    tally->detection += lane.found - lane.first;
    if (lane.found - lane.first > tally->most_detection) tally->most_detection = lane.found - lane.first;
  }
  if (lane.mapped > 0) {
    tally->mapped++;
    tally->entry += lane.mapped - lane.first;
    if (lane.mapped - lane.first > tally->most_entry) tally->most_entry = lane.mapped - lane.first;
    tally->kinds[lane.kind]++;
  }
  if (lane.mapped > 0 && after.is_done) {
    tally->healthy += healthy.cycles;
    tally->during += during.cycles;
    tally->after += after.cycles;
  }
  bench_close(&bench);
}

static int prove_breaks(Mode mode, const char *detect, bool is_second, const Spec *spec, int argc, char **argv) {
  unsigned long lanes = 0, shard = 0, shards = 1;
  if (argc < 2 || sscanf(argv[0], "%lu", &lanes) != 1 || sscanf(argv[1], "%lu/%lu", &shard, &shards) != 2) return 2;
  Tally tally = {0};
  for (uint32_t i = 0; i < workload_count; i++) {
    bool is_chosen = argc == 2;
    for (int k = 2; k < argc; k++) is_chosen |= strcmp(argv[k], workloads[i]->name) == 0;
    for (uint64_t number = shard; number < lanes && is_chosen; number += shards)
      breaks(workloads[i], spec, mode, detect, is_second, number, i, &tally);
  }
  printf("runs %lu met %lu found %lu mapped %lu detection %lu entry %lu trial %lu permanent %lu intermittent %lu back %lu false %lu wrong "
         "%lu let %lu "
         "healthy %lu during %lu after %lu most-detection %lu most-entry %lu\n",
         tally.runs, tally.met, tally.found, tally.mapped, tally.detection, tally.entry, tally.kinds[1], tally.kinds[2], tally.kinds[3],
         tally.kinds[0], tally.false_entries, tally.wrong, tally.let, tally.healthy, tally.during, tally.after, tally.most_detection,
         tally.most_entry);
  return tally.wrong > 0 ? 1 : 0;
}

// ---- Transients --------------------------------------------------------------------------------------------

static int prove_transients(const Spec *spec, int argc, char **argv) {
  unsigned long count = 0, threshold = 0;
  if (argc != 2 || sscanf(argv[0], "%lu", &count) != 1 || sscanf(argv[1], "%lu", &threshold) != 1) return 2;
  char protection[80];
  snprintf(protection, sizeof protection, "heal:threshold=%lu", threshold);
  Bench bench;
  Lane lane = {.mode = TRANSIENT, .seed = 77};
  const Workload *workload = workload_find("matmul");
  bench_open(&bench, spec, protection, &lane);
  Outcome golden = broken_run(workload, spec, NULL, 0);
  // wrong: outputs after transients that agreed; stopped: runs that ended as detected; strange: any of both without such transients
  uint64_t runs = 0, wrong = 0, stopped = 0, strange = 0;
  for (; lane.strikes < count; runs++) {
    const Witness before = lane.witness;
    Ran ran = bench_run(&bench, workload);
    bool is_stopped = !ran.is_done && device_trap(bench.device)->kind == TRAP_DETECTED;
    bool is_wrong = !is_stopped && (!ran.is_done || ran.hash != golden.hash), have_agreed = lane.witness.agreed > before.agreed;
    stopped += is_stopped;
    wrong += is_wrong;
    strange += (is_wrong && !have_agreed) || (is_stopped && lane.witness.met == before.met) ? 1 : 0;
  }
  bench_close(&bench);
  strange += lane.witness.unexplained;
  printf("threshold %lu transients %lu runs %lu wrong %lu false %lu back %lu stopped %lu met %lu agreed %lu expected %.2f predicates %.2f "
         "strange %lu\n",
         threshold, lane.strikes, runs, wrong, lane.false_entries, lane.came_back, stopped, lane.witness.met, lane.witness.agreed,
         lane.expected, lane.expected_predicates, strange);
  return strange > 0 ? 1 : 0;
}

// ---- Pairs of transients -------------------------------------------------------------------------------------

typedef struct PairTally {
  uint64_t pairs, agreed, predicates, written, wrong, differed, stopped, strange;
} PairTally;

// Two of the three copies of a thread, to the same bits or to others. A predicate has one bit: two wrong ones agree.
static void pair_strikes(const Workload *workload, const Spec *spec, uint64_t results, uint64_t golden, uint64_t number, uint64_t seed,
                         PairTally *tally) {
  static const uint32_t copies[3] = {3, 5, 6};
  char protection[120];
  name_heal(protection, sizeof protection, "dmr", random_below(random_draw(seed, 4, 1), 4), seed);
  Lane lane = {.mode = PAIR, .seed = seed, .pair = {.copies = copies[random_below(random_draw(seed, 5, 1), 3)]}};
  uint32_t first = 1u << random_below(random_draw(seed, 1, 1), 32), other = 1u << random_below(random_draw(seed, 2, 1), 32);
  bool is_same = random_below(random_draw(seed, 6, 1), 2) == 0;
  lane.pair.spoil[0] = first;
  lane.pair.spoil[1] = is_same ? first : first == other ? ~other : other;
  lane.pair.result = random_below(random_draw(seed, 3, 1), results);
  Bench bench;
  bench_open(&bench, spec, protection, &lane);
  Ran ran = bench_run(&bench, workload);
  bool agree = is_same || lane.pair.is_predicate, is_stopped = !ran.is_done && device_trap(bench.device)->kind == TRAP_DETECTED;
  bool is_written = lane.witness.agreed == 1, is_right = ran.is_done && ran.hash == golden;
  bench_close(&bench);
  tally->pairs += lane.pair.struck == 2;
  tally->agreed += agree;
  tally->predicates += lane.pair.is_predicate;
  tally->written += agree && is_written;
  tally->wrong += agree && !is_right;
  tally->differed += !agree;
  tally->stopped += !agree && is_stopped;
  bool is_strange = lane.witness.unexplained > 0 || lane.pair.struck != 2 || (agree ? !is_written : !is_stopped || lane.witness.agreed > 0);
  tally->strange += is_strange;
  if (is_strange) fprintf(stderr, "%s: pair %lu of %s: not as it must end\n", workload->name, number, protection);
}

static int prove_pairs(const Spec *spec, int argc, char **argv) {
  unsigned long count = 0, shard = 0, shards = 1;
  if (argc < 2 || sscanf(argv[0], "%lu", &count) != 1 || sscanf(argv[1], "%lu/%lu", &shard, &shards) != 2) return 2;
  PairTally tally = {0};
  for (uint32_t i = 0; i < workload_count; i++) {
    bool is_chosen = argc == 2;
    for (int k = 2; k < argc; k++) is_chosen |= strcmp(argv[k], workloads[i]->name) == 0;
    if (!is_chosen) continue;
    Bench bench;
    Lane lane = {.mode = PAIR};
    bench_open(&bench, spec, "heal", &lane);
    Ran golden = bench_run(&bench, workloads[i]);
    bench_close(&bench);
    for (uint64_t number = shard; number < count; number += shards)
      pair_strikes(workloads[i], spec, lane.pair.seen, golden.hash, number, number * 100 + i, &tally);
  }
  printf("pairs %lu agreed %lu predicates %lu written %lu wrong %lu differed %lu stopped %lu strange %lu\n", tally.pairs, tally.agreed,
         tally.predicates, tally.written, tally.wrong, tally.differed, tally.stopped, tally.strange);
  return tally.strange > 0 ? 1 : 0;
}

int main(int argc, char **argv) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  bool good = spec_load(&spec, arena, "fermi-gtx480", &diags) && spec_set(&spec, "sm.count", "2", NULL, 0, &diags) &&
              spec_set(&spec, "limit.instructions", "2000000", NULL, 0, &diags); // a wrong loop counter may go on for ever
  if (!good) broken_die("machine", &diags);
  int code = 2;
  if (argc > 2 && strcmp(argv[1], "permanent") == 0) code = prove_breaks(PERMANENT, "dmr", false, &spec, argc - 2, argv + 2);
  if (argc > 2 && strcmp(argv[1], "intermittent") == 0) code = prove_breaks(INTERMITTENT, "dmr", false, &spec, argc - 2, argv + 2);
  if (argc > 2 && strcmp(argv[1], "second") == 0) code = prove_breaks(PERMANENT, "dmr", true, &spec, argc - 2, argv + 2);
  if (argc > 2 && strcmp(argv[1], "idle") == 0) code = prove_breaks(PERMANENT, "rise", false, &spec, argc - 2, argv + 2);
  if (argc > 2 && strcmp(argv[1], "pairs") == 0) code = prove_pairs(&spec, argc - 2, argv + 2);
  if (argc > 2 && strcmp(argv[1], "transient") == 0) code = prove_transients(&spec, argc - 2, argv + 2);
  if (code == 2)
    fprintf(stderr,
            "heal_proof permanent|intermittent|second|idle LANES SHARD/SHARDS [WORKLOAD...] | transient COUNT THRESHOLD | pairs COUNT "
            "SHARD/SHARDS [WORKLOAD...]\n");
  diags_free(&diags);
  arena_free(arena);
  return code;
}
