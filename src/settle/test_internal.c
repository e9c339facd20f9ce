// Failures of Redoubt itself: a simulation that dies, says nothing or says too little is no outcome of its fault. It is a class of
// its own, fails the campaign, and is tried again by the next run. The target here is a workload that fails so in the processes of
// simulations, and in no others.
#include "campaign/campaign.h"
#include "settle/settlers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

typedef enum Failure { FAIL_NOT, FAIL_KILLED, FAIL_SEGFAULT, FAIL_HANGS, FAIL_SILENT, FAIL_SHORT, FAIL_COUNT } Failure;
static const char *const said[FAIL_COUNT] = {"", "ended by signal 9", "ended by signal 11", "hung", "exit code 7", "exit code 7"};

typedef struct Failing {
  Target target;       // what the campaign sees; its `own` is this struct
  Target *inner, seen; // the workload; how it is called
  pid_t parent;
  Failure failure;
} Failing;

typedef struct Bed {
  Arena *arena;
  Spec spec;
  Diags diags;
  char folder[64];
} Bed;

// ---- The target ------------------------------------------------------------------------------------

// The workload with whatever the campaign has set in its target, which may be a copy of ours.
static Target *inner_of(Target *target) {
  Failing *failing = target->own;
  failing->seen = *target;
  failing->seen.own = failing->inner->own;
  return &failing->seen;
}
static const Target *workload_of(const Target *target) { return ((const Failing *)target->own)->inner; }
static bool start(Target *target, const HookChain *hooks, Diags *diags) {
  return workload_of(target)->start(inner_of(target), hooks, diags);
}
static bool check(Target *target) { return workload_of(target)->check(inner_of(target)); }
static Device *device(Target *target) { return workload_of(target)->device(inner_of(target)); }
static void finish(Target *target) { workload_of(target)->finish(inner_of(target)); }
static void outputs(Target *target, TargetOutputs *to, Arena *arena) { workload_of(target)->outputs(inner_of(target), to, arena); }

// A few bytes into the pipe of this simulation, the only one that it can write to.
static void write_too_little(void) {
  for (int file = 3; file < 64; file++) {
    struct stat about;
    if (fstat(file, &about) == 0 && S_ISFIFO(about.st_mode) && write(file, "short", 5) == 5) return;
  }
}

// With a limit to processor time this comes by itself, after a minute at least.
static void hang(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= 3600) raise(SIGXCPU);
}

static bool run(Target *target) {
  const Failing *failing = target->own;
  bool done = failing->inner->run(inner_of(target));
  if (getpid() == failing->parent || failing->failure == FAIL_NOT) return done;
  if (failing->failure == FAIL_KILLED) raise(SIGKILL);
  if (failing->failure == FAIL_SEGFAULT) {
    signal(SIGSEGV, SIG_DFL); // a sanitizer may have taken it
    raise(SIGSEGV);
  }
  if (failing->failure == FAIL_HANGS) hang();
  if (failing->failure == FAIL_SHORT) write_too_little();
  _exit(7);
}

static Failing *failing_new(Bed *bed, Failure failure) {
  WorkloadChoice choice = {.workload = workload_find("scalarprod"), .size = SIZE_TINY, .seed = 1};
  Failing *failing = ARENA_NEW(bed->arena, Failing);
  failing->inner = target_workload(bed->arena, &choice, &bed->spec, &bed->diags);
  assert_non_null(failing->inner);
  failing->target = *failing->inner; // its name, arguments and machine
  failing->target.own = failing;
  failing->target.start = start;
  failing->target.run = run;
  failing->target.check = check;
  failing->target.outputs = outputs;
  failing->target.device = device;
  failing->target.finish = finish;
  failing->parent = getpid();
  failing->failure = failure;
  return failing;
}

// ---- Tests -----------------------------------------------------------------------------------------

static int bed_new(void **state) {
  Bed *bed = calloc(1, sizeof *bed);
  assert_non_null(bed);
  bed->arena = arena_new();
  assert_true(spec_load(&bed->spec, bed->arena, "fermi-gtx480", &bed->diags));
  assert_true(spec_set(&bed->spec, "sm.count", "2", NULL, 0, &bed->diags));
  assert_true(spec_set(&bed->spec, "dram.controllers", "2", NULL, 0, &bed->diags));
  snprintf(bed->folder, sizeof bed->folder, P_tmpdir "/redoubt-internal-XXXXXX");
  assert_non_null(mkdtemp(bed->folder));
  *state = bed;
  return 0;
}

static int bed_free(void **state) {
  Bed *bed = *state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", bed->folder);
  assert_int_equal(system(command), 0);
  diags_free(&bed->diags);
  arena_free(bed->arena);
  free(bed);
  return 0;
}

static CampaignEnd campaign(Bed *bed, Failure failure, bool snapshot, const char *journal) {
  CampaignOptions options = {.settlers = all_settlers,
                             .structures = "rf",
                             .model = "flip",
                             .window = "all",
                             .protection = "none",
                             .faults = snapshot ? 48 : 12,
                             .confidence = 0.99,
                             .seed = 7,
                             .jobs = 2,
                             .shards = 1,
                             .timeout = 4,
                             .snapshot = snapshot,
                             .journal = journal};
  return campaign_run(&failing_new(bed, failure)->target, &options, &bed->diags);
}

static char *content(const char *path) {
  Diags diags = {0};
  Text text = {0};
  Journal *journal = journal_read(path, &diags);
  assert_non_null(journal);
  journal_dump(journal, &text);
  journal_close(journal);
  return text.at;
}

typedef struct Seen {
  uint64_t internal, others;
  const char *said;
} Seen;

static bool look(void *context, const FaultRow *row) {
  Seen *seen = context;
  bool internal = row->outcome == OUTCOME_INTERNAL;
  seen->internal += internal;
  seen->others += !internal;
  if (internal && strstr(row->note, seen->said) == NULL) fail_msg("'%s' does not say '%s'", row->note, seen->said);
  return true;
}

// Fails, says which, and the next run settles them as if nothing had been.
static void fails_and_is_mended(Bed *bed, Failure failure, bool snapshot) {
  const char *broken = arena_format(bed->arena, "%s/%d-%d.db", bed->folder, (int)failure, snapshot);
  const char *whole = arena_format(bed->arena, "%s/whole-%d-%d.db", bed->folder, (int)failure, snapshot);
  assert_int_equal(campaign(bed, failure, snapshot, broken), CAMPAIGN_INTERNAL);
  Journal *journal = journal_read(broken, &bed->diags);
  assert_non_null(journal);
  Seen seen = {.said = said[failure]};
  assert_true(journal_each_fault(journal, look, &seen));
  journal_close(journal);
  assert_true(seen.internal > 0);
  assert_int_equal(seen.internal + seen.others, snapshot ? 48 : 12);
  assert_int_equal(campaign(bed, failure, snapshot, broken), CAMPAIGN_INTERNAL); // still
  assert_int_equal(campaign(bed, FAIL_NOT, snapshot, broken), CAMPAIGN_COMPLETE);
  assert_int_equal(campaign(bed, FAIL_NOT, snapshot, whole), CAMPAIGN_COMPLETE);
  char *left = content(broken), *right = content(whole);
  assert_string_equal(left, right);
  free(left);
  free(right);
}

static void test_simulations_that_fork(void **state) {
  for (Failure failure = FAIL_KILLED; failure < FAIL_COUNT; failure++) fails_and_is_mended(*state, failure, true);
}

static void test_simulations_from_the_beginning(void **state) {
  for (Failure failure = FAIL_KILLED; failure < FAIL_COUNT; failure++) fails_and_is_mended(*state, failure, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_simulations_that_fork), cmocka_unit_test(test_simulations_from_the_beginning)};
  return cmocka_run_group_tests(tests, bed_new, bed_free);
}
