// Campaigns on a small machine: the fast way finds what the slow way finds, whatever the number of workers, whether it was
// interrupted, killed, or done in shards.
#include "campaign/campaign.h"
#include "campaign/golden_store.h"
#include "settle/settle.h"
#include "journal/statistics.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct Bed {
  Arena *arena;
  Spec spec;
  Diags diags;
  char folder[64];
  uint32_t journals;
} Bed;

// ---- Set up ----------------------------------------------------------------------------------------

static int bed_new(void **state) {
  Bed *bed = calloc(1, sizeof *bed);
  assert_non_null(bed);
  bed->arena = arena_new();
  assert_true(spec_load(&bed->spec, bed->arena, "fermi-gtx480", &bed->diags));
  assert_true(spec_set(&bed->spec, "sm.count", "2", NULL, 0, &bed->diags));
  assert_true(spec_set(&bed->spec, "dram.controllers", "2", NULL, 0, &bed->diags));
  snprintf(bed->folder, sizeof bed->folder, P_tmpdir "/redoubt-campaign-XXXXXX");
  assert_non_null(mkdtemp(bed->folder));
  *state = bed;
  return 0;
}

static int bed_free(void **state) {
  Bed *bed = *state;
  for (uint32_t i = 0; i < bed->journals; i++) unlink(arena_format(bed->arena, "%s/%u.db", bed->folder, i));
  rmdir(bed->folder);
  diags_free(&bed->diags);
  arena_free(bed->arena);
  free(bed);
  return 0;
}

static const char *new_journal(Bed *bed) { return arena_format(bed->arena, "%s/%u.db", bed->folder, bed->journals++); }

static CampaignOptions plain(Bed *bed, const char *structures, uint64_t faults) {
  return (CampaignOptions){.settlers = all_settlers,
                           .structures = structures,
                           .model = "flip",
                           .window = "all",
                           .protection = "none",
                           .faults = faults,
                           .confidence = 0.99,
                           .seed = 7,
                           .jobs = 2,
                           .shards = 1,
                           .timeout = 4,
                           .prune = true,
                           .snapshot = true,
                           .journal = new_journal(bed)};
}

static CampaignEnd run(Bed *bed, const char *workload, const CampaignOptions *options) {
  WorkloadChoice choice = {.workload = workload_find(workload), .size = SIZE_TINY, .seed = 1};
  Target *target = target_workload(bed->arena, &choice, &bed->spec, &bed->diags);
  assert_non_null(target);
  return campaign_run(target, options, &bed->diags);
}

static void run_whole(Bed *bed, const char *workload, const CampaignOptions *options) {
  CampaignEnd end = run(bed, workload, options);
  if (end == CAMPAIGN_COMPLETE) return;
  Text text = {0};
  for (uint32_t i = 0; i < bed->diags.count; i++) diag_format(&bed->diags.items[i], &text);
  fail_msg("campaign on %s, %s: end %d %s", workload, options->structures, (int)end, text.at == NULL ? "" : text.at);
}

// ---- Journals compared -----------------------------------------------------------------------------

static const char *dump(Bed *bed, const char *path) {
  Journal *journal = journal_read(path, &bed->diags);
  assert_non_null(journal);
  Text text = {0};
  journal_dump(journal, &text);
  const char *copy = arena_copy_text(bed->arena, text.at, text.length);
  text_free(&text);
  journal_close(journal);
  return copy;
}

typedef struct Outcomes {
  Bed *bed;
  Text text;
  uint64_t counts[OUTCOME_COUNT], settled[SETTLED_COUNT], lines;
} Outcomes;

static bool add_outcome(void *context, const FaultRow *row) {
  Outcomes *outcomes = context;
  text_add(&outcomes->text, "%llu %s %s %llu %llu %.17g %s\n", (unsigned long long)row->id, row->fault, outcome_info[row->outcome].name,
           (unsigned long long)row->cycles, (unsigned long long)row->wrong, row->worst, row->note);
  outcomes->counts[row->outcome]++;
  outcomes->settled[row->settled]++;
  outcomes->lines += row->line != 0;
  return true;
}

// What a journal says of its faults, but how they were settled.
static Outcomes outcomes_of(Bed *bed, const char *path) {
  Outcomes outcomes = {.bed = bed};
  Journal *journal = journal_read(path, &bed->diags);
  assert_non_null(journal);
  assert_true(journal_each_fault(journal, add_outcome, &outcomes));
  journal_close(journal);
  return outcomes;
}

static void assert_same_outcomes(Bed *bed, const char *fast, const char *slow) {
  Outcomes a = outcomes_of(bed, fast), b = outcomes_of(bed, slow);
  assert_string_equal(a.text.at, b.text.at);
  text_free(&a.text);
  text_free(&b.text);
}

// ---- The fast way and the slow way -----------------------------------------------------------------

// What the run without faults never reads changes nothing.
static bool check_read(void *context, const FaultRow *row) {
  uint64_t *counts = context;
  counts[1 + row->read]++;
  if (row->read == 0 && row->outcome != OUTCOME_MASKED)
    fail_msg("%s is never read and ends as %s", row->fault, outcome_info[row->outcome].name);
  return true;
}

static void compare_ways(Bed *bed, const char *workload, CampaignOptions options) {
  uint64_t counts[3] = {0};
  run_whole(bed, workload, &options);
  Journal *journal = journal_read(options.journal, &bed->diags);
  assert_true(journal_each_fault(journal, check_read, counts));
  journal_close(journal);
  CampaignOptions slow = options;
  slow.prune = slow.snapshot = false;
  slow.journal = new_journal(bed);
  run_whole(bed, workload, &slow);
  assert_same_outcomes(bed, options.journal, slow.journal);
}

static void test_fast_is_slow(void **state) {
  Bed *bed = *state;
  compare_ways(bed, "scalarprod", plain(bed, "rf", 60));
  compare_ways(bed, "matmul", plain(bed, "shared", 40));
  compare_ways(bed, "reduction", plain(bed, "l2", 40));
  CampaignOptions looked_at = plain(bed, "ibuffer", 40); // before it is read
  looked_at.seed = 1;
  compare_ways(bed, "scalarprod", looked_at);
}

// Some units of the row may be overwritten before others are read.
static void test_wide_faults(void **state) {
  Bed *bed = *state;
  CampaignOptions options = plain(bed, "shared", 60);
  options.model = "lanes";
  options.window = "cycles:2000-2100";
  compare_ways(bed, "scan", options);
  options = plain(bed, "rf", 40);
  options.model = "random(5)";
  compare_ways(bed, "scalarprod", options);
}

static void test_each_shortcut_alone(void **state) {
  Bed *bed = *state;
  CampaignOptions both = plain(bed, "rf,latch.result", 120), prune = both, snapshot = both;
  run_whole(bed, "matmul", &both);
  prune.snapshot = false;
  prune.journal = new_journal(bed);
  run_whole(bed, "matmul", &prune);
  snapshot.prune = false;
  snapshot.journal = new_journal(bed);
  run_whole(bed, "matmul", &snapshot);
  assert_same_outcomes(bed, both.journal, prune.journal);
  assert_same_outcomes(bed, both.journal, snapshot.journal);
  Outcomes pruned = outcomes_of(bed, prune.journal), hashed = outcomes_of(bed, snapshot.journal);
  assert_true(pruned.settled[SETTLED_UNREAD] > 0 && pruned.settled[SETTLED_OVERWRITTEN] > 0 && pruned.settled[SETTLED_HASH] == 0);
  assert_true(hashed.settled[SETTLED_HASH] > 0 && hashed.settled[SETTLED_UNREAD] == 0);
  assert_true(pruned.lines > 0); // whoever read a fault first is known
  text_free(&pruned.text);
  text_free(&hashed.text);
}

// A fault that lasts is never overwritten and never stopped by a hash; it matters once something is read that is not as it holds it.
static void test_permanent_faults(void **state) {
  Bed *bed = *state;
  static const char *const models[] = {"stuck0", "stuck1", "duty(20,30)"};
  for (size_t i = 0; i < COUNT_OF(models); i++) {
    CampaignOptions options = plain(bed, "rf,latch.result,unit.sp", 60);
    options.model = models[i];
    options.window = "cycles:0-900";
    compare_ways(bed, "vecadd", options);
    Outcomes outcomes = outcomes_of(bed, options.journal);
    uint64_t unread = outcomes.settled[SETTLED_UNREAD], run = outcomes.settled[SETTLED_RUN];
    assert_true(unread > 0 && run > 0 && unread + run + outcomes.settled[SETTLED_CLASS] == 60);
    text_free(&outcomes.text);
  }
}

// ---- Whether struck bits are read ---------------------------------------------------------------------

typedef struct Access {
  uint64_t cycle, row;
  uint32_t units;
  bool is_write, is_end; // is_end: of a launch
} Access;
typedef struct Watch {
  Hook hook;
  Arena *arena;
  uint16_t region;
  VEC(Access) accesses;
} Watch;

static Verdict note_access(Watch *watch, const HookMachine *machine, const CellEvent *event, bool is_write) {
  if (event->region == watch->region)
    *VEC_PUSH(&watch->accesses, watch->arena) = (Access){machine->cycle, event->row, event->units, is_write, false};
  return VERDICT_PASS;
}
static Verdict see_read(Hook *hook, HookMachine *machine, const CellEvent *event) { return note_access(hook->own, machine, event, false); }
static Verdict see_write(Hook *hook, HookMachine *machine, const CellEvent *event) { return note_access(hook->own, machine, event, true); }
static void see_end(Hook *hook, HookMachine *machine) {
  Watch *watch = hook->own;
  *VEC_PUSH(&watch->accesses, watch->arena) = (Access){.cycle = machine->cycle, .is_end = true};
}

static bool check_by_accesses(void *context, const FaultRow *row) {
  const Watch *watch = context;
  int64_t expected = 0;
  bool lasts = strncmp(row->fault, "stuck", 5) == 0, is_open = true;
  for (uint32_t i = 0; i < watch->accesses.count && is_open && expected == 0; i++) {
    const Access *access = &watch->accesses.items[i];
    if (access->cycle < row->cycle) continue;
    bool is_met = !access->is_end && access->row == (uint64_t)row->row && (access->units >> row->unit & 1) != 0;
    expected = is_met && !access->is_write;
    is_open = lasts || !(access->is_end || (is_met && access->is_write));
  }
  if (row->read != expected) fail_msg("%s: read %d, not %d", row->fault, (int)row->read, (int)expected);
  return true;
}

// Found again in a list of all accesses of the run without faults, for every fault.
static void test_read(void **state) {
  Bed *bed = *state;
  const struct {
    const char *workload, *structure, *model;
  } cases[] = {{"scalarprod", "rf", "flip"}, {"scan", "shared", "flip"}, {"scan", "rf", "stuck1"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    CampaignOptions options = plain(bed, cases[i].structure, 300);
    options.model = cases[i].model;
    options.window = "cycles:100-1500";
    run_whole(bed, cases[i].workload, &options);
    WorkloadChoice choice = {.workload = workload_find(cases[i].workload), .size = SIZE_TINY, .seed = 1};
    Target *target = target_workload(bed->arena, &choice, &bed->spec, &bed->diags);
    Golden golden = {.arena = bed->arena};
    Watch watch = {.arena = bed->arena, .hook = {.name = "accesses", .kind = HOOK_OBSERVER}};
    watch.hook.own = &watch;
    watch.hook.read = see_read;
    watch.hook.write = see_write;
    watch.hook.finish = see_end;
    Machine *like = machine_new(&bed->spec, NULL, &bed->diags);
    watch.region = region_find(machine_regions(like), cases[i].structure);
    machine_free(like);
    HookChain watchers = {.hooks = {&watch.hook}, .count = 1};
    assert_true(golden_run(target, NULL, &watchers, &golden, &bed->diags));
    Journal *journal = journal_read(options.journal, &bed->diags);
    assert_true(journal_each_fault(journal, check_by_accesses, &watch));
    uint64_t counts[3] = {0};
    assert_true(journal_each_fault(journal, check_read, counts));
    assert_true(counts[0] == 0 && counts[1] > 0 && counts[2] > 0);
    journal_close(journal);
  }
}

// The same faults, with cells that correct single bits: all those that are read are repaired.
static void test_protected(void **state) {
  Bed *bed = *state;
  CampaignOptions bare = plain(bed, "rf", 120);
  run_whole(bed, "scalarprod", &bare);
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, protect_new("secded:rf", bed->arena, &bed->diags)));
  CampaignOptions guarded = plain(bed, "rf", 120);
  guarded.protection = "secded:rf";
  guarded.protections = &chain;
  compare_ways(bed, "scalarprod", guarded);
  Outcomes a = outcomes_of(bed, bare.journal), b = outcomes_of(bed, guarded.journal);
  assert_true(a.counts[OUTCOME_MASKED] < 120);
  assert_true(b.counts[OUTCOME_CORRECTED] > 0);
  assert_int_equal(b.counts[OUTCOME_CORRECTED] + b.counts[OUTCOME_MASKED], 120);
  text_free(&a.text);
  text_free(&b.text);
}

// ---- The same journal ------------------------------------------------------------------------------

static void test_workers(void **state) {
  Bed *bed = *state;
  CampaignOptions one = plain(bed, "rf,shared", 150), two = one, five = one;
  one.jobs = 1;
  two.journal = new_journal(bed);
  five.jobs = 5;
  five.journal = new_journal(bed);
  run_whole(bed, "matmul", &one);
  run_whole(bed, "matmul", &two);
  run_whole(bed, "matmul", &five);
  assert_string_equal(dump(bed, one.journal), dump(bed, two.journal));
  assert_string_equal(dump(bed, one.journal), dump(bed, five.journal));
}

typedef struct Stopper {
  uint64_t at; // faults done
  bool kill;
} Stopper;

static bool stop(void *context, const CampaignProgress *progress) {
  const Stopper *stopper = context;
  if (progress->done < stopper->at) return true;
  if (stopper->kill) kill(getpid(), SIGKILL);
  return false;
}

static void test_interrupted(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf", 150), parts = whole;
  run_whole(bed, "matmul", &whole);
  parts.journal = new_journal(bed);
  parts.progress = stop;
  static const uint64_t stops[] = {0, 1, 129, 140, 145};
  for (size_t i = 0; i < COUNT_OF(stops); i++) {
    Stopper stopper = {.at = stops[i]};
    parts.context = &stopper;
    assert_int_equal(run(bed, "matmul", &parts), CAMPAIGN_STOPPED);
  }
  parts.progress = NULL;
  run_whole(bed, "matmul", &parts);
  assert_string_equal(dump(bed, whole.journal), dump(bed, parts.journal));
}

// More faults than before: the old ones stay as they are.
static void test_extended(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf", 150), parts = plain(bed, "rf", 60);
  run_whole(bed, "matmul", &whole);
  run_whole(bed, "matmul", &parts);
  parts.faults = 150;
  run_whole(bed, "matmul", &parts);
  assert_string_equal(dump(bed, whole.journal), dump(bed, parts.journal));
}

static uint64_t faults_in(Bed *bed, const char *path) {
  Journal *journal = journal_read(path, &bed->diags);
  assert_non_null(journal);
  uint64_t count = journal_fault_count(journal);
  journal_close(journal);
  return count;
}

static void test_killed(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf", 150), parts = whole;
  run_whole(bed, "matmul", &whole);
  parts.journal = new_journal(bed);
  for (uint64_t at = 130; at <= 140; at += 10) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      Stopper stopper = {.at = at, .kill = true};
      parts.progress = stop;
      parts.context = &stopper;
      run(bed, "matmul", &parts);
      _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_in_range(faults_in(bed, parts.journal), at, 149); // what was reported done is there
  }
  run_whole(bed, "matmul", &parts);
  assert_string_equal(dump(bed, whole.journal), dump(bed, parts.journal));
}

static void test_shards(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf,shared", 100);
  run_whole(bed, "matmul", &whole);
  const char *shards[3];
  for (uint32_t i = 0; i < 3; i++) {
    CampaignOptions shard = plain(bed, "rf,shared", 100);
    shard.shard = i;
    shard.shards = 3;
    run_whole(bed, "matmul", &shard);
    shards[i] = shard.journal;
  }
  const char *merged = new_journal(bed);
  assert_true(journal_merge(merged, shards, 3, &bed->diags));
  assert_string_equal(dump(bed, whole.journal), dump(bed, merged));
}

// Runs of numbers, in the middle of a batch too, are put together to the same.
static void test_parts(void **state) {
  Bed *bed = *state;
  static const uint64_t ends[] = {0, 13, 64, 100};
  CampaignOptions whole = plain(bed, "rf,shared", 100);
  run_whole(bed, "matmul", &whole);
  const char *parts[3];
  for (uint32_t i = 0; i < 3; i++) {
    CampaignOptions part = plain(bed, "rf,shared", 100);
    part.first = ends[i];
    part.end = ends[i + 1];
    run_whole(bed, "matmul", &part);
    assert_int_equal(faults_in(bed, part.journal), ends[i + 1] - ends[i]);
    parts[i] = part.journal;
  }
  const char *merged = new_journal(bed);
  assert_true(journal_merge(merged, parts, 3, &bed->diags));
  assert_string_equal(dump(bed, whole.journal), dump(bed, merged));
}

// Stopped after some faults and gone on with, a campaign ends as if it had not been stopped.
static void assert_same_in_parts(Bed *bed, const CampaignOptions *whole, uint64_t first) {
  CampaignOptions parts = *whole;
  parts.journal = new_journal(bed);
  Stopper stopper = {.at = first};
  parts.progress = stop;
  parts.context = &stopper;
  assert_int_equal(run(bed, "vecadd", &parts), CAMPAIGN_STOPPED);
  parts.progress = NULL;
  run_whole(bed, "vecadd", &parts);
  assert_string_equal(dump(bed, whole->journal), dump(bed, parts.journal));
}

// Stops when the interval is tight, at the same fault whether it was interrupted or not.
static void test_sequential(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf", 0);
  whole.margin = 0.012;
  whole.window = "cycles:0-200";
  run_whole(bed, "vecadd", &whole);
  uint64_t count = faults_in(bed, whole.journal);
  assert_int_equal(count, 4096); // a batch is enough, for most are masked; the worst case would need 11,520
  assert_same_in_parts(bed, &whole, 2000);
}

typedef struct StructureCounts {
  uint64_t settled[8], bad[8]; // by region's place among those seen
  uint16_t regions[8];
  uint32_t count;
} StructureCounts;

static bool count_structure(void *context, const FaultRow *row) {
  StructureCounts *counts = context;
  uint32_t i = 0;
  while (i < counts->count && counts->regions[i] != row->region) i++;
  if (i == counts->count) counts->regions[counts->count++] = row->region;
  const char *group = outcome_info[row->outcome].group;
  counts->settled[i]++;
  counts->bad[i] += strcmp(group, "sdc") == 0 || strcmp(group, "due") == 0;
  return true;
}

typedef struct NameOf {
  Bed *bed;
  uint16_t region;
  const char *name;
} NameOf;

static bool find_name(void *context, const StructureRow *row) {
  NameOf *wanted = context;
  if (row->region == wanted->region) wanted->name = arena_copy_text(wanted->bed->arena, row->name, strlen(row->name));
  return true;
}

// As a cluster does it: the first batches; the others without the structure of which these were enough; one batch too many.
static void assert_same_in_rounds(Bed *bed, const CampaignOptions *whole, uint16_t enough, uint64_t from) {
  uint32_t batch = journal_batch(true, 2), count = 0;
  NameOf name = {.bed = bed, .region = enough};
  Journal *journal = journal_read(whole->journal, &bed->diags);
  uint64_t end = strtoull(journal_note(journal, NOTE_SETTLED_BELOW), NULL, 10) + batch;
  assert_true(journal_each_structure(journal, find_name, &name));
  journal_close(journal);
  const char *paths[16];
  for (uint64_t first = 0; first < end; first += batch) {
    CampaignOptions part = *whole;
    part.first = first;
    part.end = first + batch;
    if (first >= from) part.enough = arena_format(bed->arena, "shared,%s", name.name);
    paths[count++] = part.journal = new_journal(bed);
    run_whole(bed, "vecadd", &part);
  }
  const char *merged = new_journal(bed);
  assert_true(journal_merge(merged, paths, count, &bed->diags));
  assert_string_equal(dump(bed, whole->journal), dump(bed, merged));
}

// Each structure is drawn until its own interval is narrow enough, and no longer.
static void test_sequential_structures(void **state) {
  Bed *bed = *state;
  CampaignOptions whole = plain(bed, "rf,unit.sp", 0);
  whole.margin = 0.008;
  whole.window = "cycles:700-900";
  run_whole(bed, "vecadd", &whole);
  Journal *journal = journal_read(whole.journal, &bed->diags);
  StructureCounts counts = {0};
  assert_true(journal_each_fault(journal, count_structure, &counts));
  journal_close(journal);
  assert_int_equal(counts.count, 2);
  for (uint32_t i = 0; i < 2; i++) {
    Interval interval = wilson_interval(counts.bad[i], counts.settled[i], whole.confidence);
    assert_true((interval.high - interval.low) / 2 <= 0.008);
  }
  assert_true(counts.settled[0] != counts.settled[1]); // one of them was sure before the other
  assert_same_in_parts(bed, &whole, 1500);
  uint32_t sure = counts.settled[1] < counts.settled[0]; // earlier; of two structures each gets half of a batch
  assert_same_in_rounds(bed, &whole, counts.regions[sure], 2 * counts.settled[sure]);
}

// ---- Every structure -------------------------------------------------------------------------------

static bool use_of(void *context, const StructureRow *row) {
  double *used = context;
  *used = row->used;
  assert_true(row->raw_fit_per_mbit > 0);
  return true;
}

static void test_used_share(void **state) {
  Bed *bed = *state;
  static const char *const names[] = {"rf", "shared", "l2", "pred", "stack.mask"};
  double used[COUNT_OF(names)];
  for (uint32_t i = 0; i < COUNT_OF(names); i++) {
    CampaignOptions options = plain(bed, names[i], 1);
    run_whole(bed, "matmul", &options);
    Journal *journal = journal_read(options.journal, &bed->diags);
    assert_true(journal_each_structure(journal, use_of, &used[i]));
    journal_close(journal);
  }
  assert_true(used[0] > 0.01 && used[0] < 1);
  assert_true(used[1] > 0.001 && used[1] < 1);
  assert_true(used[2] == 0); // not known
  assert_true(used[3] > 0.01 && used[3] < 1);
  assert_true(used[4] == used[3]); // as many warps
}

// No flip anywhere makes Redoubt itself fail: every structure of the machine, twenty faults each.
static void test_every_structure(void **state) {
  Bed *bed = *state;
  DeviceOptions device_options = {.spec = &bed->spec};
  Device *device = device_new(&device_options, &bed->diags);
  const RegionTable *regions = machine_regions(device_machine(device));
  uint32_t tried = 0;
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if ((region->flags & REGION_INJECTABLE) == 0 || region->rows == 0) continue;
    CampaignOptions options = plain(bed, region->name, 20);
    options.seed = i;
    run_whole(bed, "scalarprod", &options); // an internal failure is another end
    tried++;
  }
  assert_true(tried > 30);
  device_free(device);
}

// ---- The list of settlers --------------------------------------------------------------------------

static bool is_for_all(const Settling *at) {
  (void)at;
  return true;
}

static bool is_for_none(const Settling *at) {
  (void)at;
  return false;
}

static void see_first_third(const WatchedDraws *watched, Hook *hook) {
  assert_null(hook); // it has not watched
  for (uint32_t i = 0; i < watched->count; i++) {
    if (watched->draws[i].id % 3 == 0) watched->draws[i].settled = SETTLED_UNREAD;
  }
}

static bool settle_second_third(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  uint32_t left = 0;
  assert_null(hook);
  for (uint32_t i = 0; i < *count; i++) {
    assert_true(live[i].id % 3 != 0 && (i == 0 || live[i - 1].strike_at <= live[i].strike_at));
    Record record = {.id = live[i].id, .outcome = OUTCOME_DETECTED, .settled = SETTLED_HASH};
    if (live[i].id % 3 == 1) assert_true(at->listener->take(at->listener->context, &record));
    else live[left++] = live[i];
  }
  *count = left;
  return true;
}

static bool fail_at_once(Settling *at, Hook *hook, Draw *live, uint32_t *count) {
  (void)at, (void)hook, (void)live, (void)count;
  return false;
}

// Each way settles its part and the next one gets the rest; one that is not for the batch is not asked.
static void test_list(void **state) {
  Bed *bed = *state;
  static const Settler seer = {.name = "seer", .is_for = is_for_all, .seen = see_first_third};
  static const Settler other = {.name = "other", .is_for = is_for_all, .settle = settle_second_third};
  static const Settler absent = {.name = "absent", .is_for = is_for_none, .seen = see_first_third, .settle = fail_at_once};
  static const Settler *const list[] = {&seer, &absent, &other, &settle_simulate, NULL};
  CampaignOptions options = plain(bed, "rf", 30);
  options.settlers = list;
  run_whole(bed, "vecadd", &options);
  Outcomes outcomes = outcomes_of(bed, options.journal);
  assert_int_equal(outcomes.settled[SETTLED_UNREAD], 10);
  assert_int_equal(outcomes.counts[OUTCOME_DETECTED], 10);
  assert_int_equal(outcomes.settled[SETTLED_RUN] + outcomes.settled[SETTLED_HASH], 20);
  text_free(&outcomes.text);
}

// ---- Golden runs that are kept -----------------------------------------------------------------------

static Target *vecadd(Bed *bed, uint64_t seed) {
  WorkloadChoice choice = {.workload = workload_find("vecadd"), .size = SIZE_TINY, .seed = seed};
  return target_workload(bed->arena, &choice, &bed->spec, &bed->diags);
}

static void flip_byte(const char *path, long at) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  fseek(file, at, SEEK_SET);
  int byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
}

static void assert_same_golden(const Golden *a, const Golden *b) {
  assert_int_equal(a->checkpoint_count, b->checkpoint_count);
  assert_memory_equal(a->checkpoints, b->checkpoints, a->checkpoint_count * sizeof *a->checkpoints);
  assert_true(a->cycles == b->cycles && a->program_hash == b->program_hash && a->layout_hash == b->layout_hash);
  assert_true(a->memory_hash == b->memory_hash && a->launches.count == b->launches.count && a->table.count == b->table.count);
  assert_string_equal(a->launches.items[0].kernel, b->launches.items[0].kernel);
  assert_memory_equal(a->residents, b->residents, a->launches.count * sizeof *a->residents);
  for (uint32_t i = 0; i < a->table.count; i++) assert_int_equal(a->table.items[i].rows, b->table.items[i].rows);
  assert_int_equal(a->outputs.count, b->outputs.count);
  const TargetOutput *first = &a->outputs.items[0], *second = &b->outputs.items[0];
  assert_true(first->address == second->address && first->count == second->count);
  assert_memory_equal(first->bytes, second->bytes, first->count * element_bytes(first->type));
}

static void test_golden_store(void **state) {
  Bed *bed = *state;
  GoldenStore store = {arena_format(bed->arena, "%s/golden", bed->folder), "none", "binary"};
  Target *target = vecadd(bed, 1);
  Golden made = {.arena = bed->arena}, kept = {.arena = bed->arena};
  uint64_t key = golden_key(&store, target);
  assert_false(golden_load(&store, target, NULL, &kept));
  assert_true(golden_run(target, NULL, NULL, &made, &bed->diags));
  golden_save(&store, target, &made);
  assert_true(golden_load(&store, target, NULL, &kept));
  assert_same_golden(&made, &kept);
  // Another program, other inputs, another protection: another run.
  GoldenStore others[] = {{store.folder, "none", "other"}, {store.folder, "secded:rf", "binary"}};
  assert_true(golden_key(&others[0], target) != key && golden_key(&others[1], target) != key);
  assert_false(golden_load(&store, vecadd(bed, 2), NULL, &kept));
  assert_int_equal(golden_key(&(GoldenStore){store.folder, "none", NULL}, target), 0);
  // A file that is not whole is not believed, wherever it is broken.
  const char *path = arena_format(bed->arena, "%s/%016llx.golden", store.folder, (unsigned long long)key);
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  for (long at = 0; at < about.st_size; at += about.st_size / 37) {
    flip_byte(path, at);
    assert_false(golden_load(&store, target, NULL, &kept));
    flip_byte(path, at);
  }
  assert_int_equal(truncate(path, about.st_size - 1), 0);
  assert_false(golden_load(&store, target, NULL, &kept));
  // Campaigns: the one that makes the file, the one that reads it, and one without are the same to the byte.
  const char *dumps[3];
  for (uint32_t i = 0; i < COUNT_OF(dumps); i++) {
    CampaignOptions options = plain(bed, "rf,shared", 60);
    options.golden_folder = i == 0 ? NULL : store.folder;
    options.origin.binary = "binary";
    run_whole(bed, "vecadd", &options);
    dumps[i] = dump(bed, options.journal);
  }
  assert_string_equal(dumps[0], dumps[1]);
  assert_string_equal(dumps[0], dumps[2]);
  assert_true(golden_load(&store, target, NULL, &kept)); // the broken one was made anew
  unlink(path);
  rmdir(store.folder);
}

// ---- What is refused -------------------------------------------------------------------------------

static void assert_refused(Bed *bed, const char *workload, const CampaignOptions *options, const char *why) {
  assert_int_equal(run(bed, workload, options), CAMPAIGN_FAILED);
  assert_true(bed->diags.count > 0);
  Text text = {0};
  diag_format(&bed->diags.items[bed->diags.count - 1], &text);
  if (strstr(text.at, why) == NULL) fail_msg("'%s' does not say '%s'", text.at, why);
  text_free(&text);
  diags_free(&bed->diags);
  bed->diags = (Diags){0};
}

static void test_refused(void **state) {
  Bed *bed = *state;
  CampaignOptions options = plain(bed, "shraed", 5);
  assert_refused(bed, "vecadd", &options, "did you mean 'shared'?");
  options = plain(bed, "rf", 5);
  options.model = "flop";
  assert_refused(bed, "vecadd", &options, "did you mean 'flip'?");
  options = plain(bed, "rf", 5);
  options.window = "kernel:nothing";
  assert_refused(bed, "vecadd", &options, "launches no kernel");
  options.window = "cycles:5-1000000000";
  assert_refused(bed, "vecadd", &options, "must be all, kernel:NAME or cycles:FROM-TO");
  options = plain(bed, "rf", 5);
  run_whole(bed, "vecadd", &options);
  options.seed++;
  assert_refused(bed, "vecadd", &options, "seed");
  options.seed--;
  assert_refused(bed, "scalarprod", &options, "target");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fast_is_slow),
      cmocka_unit_test(test_wide_faults),
      cmocka_unit_test(test_each_shortcut_alone),
      cmocka_unit_test(test_permanent_faults),
      cmocka_unit_test(test_read),
      cmocka_unit_test(test_protected),
      cmocka_unit_test(test_workers),
      cmocka_unit_test(test_interrupted),
      cmocka_unit_test(test_extended),
      cmocka_unit_test(test_killed),
      cmocka_unit_test(test_shards),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_sequential),
      cmocka_unit_test(test_sequential_structures),
      cmocka_unit_test(test_used_share),
      cmocka_unit_test(test_every_structure),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_list),
      cmocka_unit_test(test_golden_store),
  };
  return cmocka_run_group_tests(tests, bed_new, bed_free);
}
