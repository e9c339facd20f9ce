// Faults that are followed come to what their simulation comes to: on random kernels, with host code between launches, and with time
// that is short. More random programs by hand: campaign_test_follow FIRST_SEED COUNT.
#include "settle/follow.h"
#include "settle/test_kernels.h"
#include "settle/test_target.h"

#include <unistd.h>

// Sanitizers make processes slow: there a part of the faults is enough, whose outcomes are compared all the same. How many come to
// something is counted without.
#ifdef __SANITIZE_ADDRESS__
enum { LESS = 8 };
#else
enum { LESS = 1 };
#endif
#define ASSERT_SOME(condition) assert_true(LESS > 1 || (condition))

typedef struct Bed {
  Arena *arena;
  Spec spec;
  Diags diags;
  char folder[64];
  uint32_t journals;
} Bed;

static void bed_open(Bed *bed, const char *machine) {
  *bed = (Bed){.arena = arena_new()};
  static const char *const small[][2] = {{"sm.count", "2"},      {"sm.registers", "4096"}, {"dram.controllers", "2"},
                                         {"memory.bytes", "4M"}, {"sm.shared", "4K"},      {"block.shared", "4K"}};
  assert_true(spec_load(&bed->spec, bed->arena, machine, &bed->diags));
  for (uint32_t i = 0; i < COUNT_OF(small); i++) assert_true(spec_set(&bed->spec, small[i][0], small[i][1], NULL, 0, &bed->diags));
  if (!spec_check(&bed->spec, NULL, &bed->diags)) test_fail(&bed->diags, machine);
  snprintf(bed->folder, sizeof bed->folder, P_tmpdir "/redoubt-follow-XXXXXX");
  assert_non_null(mkdtemp(bed->folder));
}

static void bed_close(Bed *bed) {
  for (uint32_t i = 0; i < bed->journals; i++) unlink(arena_format(bed->arena, "%s/%u.db", bed->folder, i));
  rmdir(bed->folder);
  diags_free(&bed->diags);
  arena_free(bed->arena);
}

static CampaignOptions plain(Bed *bed, uint64_t faults, uint64_t seed) {
  return (CampaignOptions){.settlers = all_settlers,
                           .structures = "rf",
                           .model = "flip",
                           .window = "all",
                           .protection = "none",
                           .faults = faults / LESS,
                           .confidence = 0.99,
                           .seed = seed,
                           .jobs = 2,
                           .shards = 1,
                           .timeout = 10,
                           .prune = true,
                           .snapshot = true,
                           .journal = arena_format(bed->arena, "%s/%u.db", bed->folder, bed->journals++)};
}

// ---- Both ways -------------------------------------------------------------------------------------

typedef struct Tally {
  Text text;
  uint64_t counts[OUTCOME_COUNT], settled[SETTLED_COUNT];
  uint64_t followed[OUTCOME_COUNT]; // of those that were followed
} Tally;

static bool add_row(void *context, const FaultRow *row) {
  Tally *tally = context;
  text_add(&tally->text, "%llu %s %s %llu %llu %.17g %s\n", (unsigned long long)row->id, row->fault, outcome_info[row->outcome].name,
           (unsigned long long)row->cycles, (unsigned long long)row->wrong, row->worst, row->note);
  tally->counts[row->outcome]++;
  tally->settled[row->settled]++;
  tally->followed[row->outcome] += row->settled == SETTLED_FOLLOWED;
  return true;
}

static Tally run(Bed *bed, TestProgram *program, const CampaignOptions *options) {
  Tally tally = {0};
  Target target = test_target(program, &bed->spec);
  if (campaign_run(&target, options, &bed->diags) != CAMPAIGN_COMPLETE) test_fail(&bed->diags, "campaign");
  Journal *journal = journal_read(options->journal, &bed->diags);
  assert_non_null(journal);
  assert_true(journal_each_fault(journal, add_row, &tally));
  journal_close(journal);
  return tally;
}

static uint64_t first_difference(const char *a, const char *b) {
  uint64_t line = 0, start = 0;
  for (uint64_t i = 0; a[i] != '\0' && a[i] == b[i]; i++) {
    if (a[i] == '\n') start = i + 1, line++;
  }
  print_error("followed:  %.*s\nsimulated: %.*s\n", (int)strcspn(a + start, "\n"), a + start, (int)strcspn(b + start, "\n"), b + start);
  return line;
}

// Settled with all shortcuts and with none (prune: only those that def-use knows): the same. Returns the first.
static Tally compare(Bed *bed, TestProgram *program, const CampaignOptions *options, bool prune) {
  CampaignOptions slow = *options;
  slow.prune = prune;
  slow.snapshot = false;
  slow.journal = plain(bed, 0, 0).journal;
  Tally fast = run(bed, program, options), all = run(bed, program, &slow);
  assert_int_equal(all.settled[SETTLED_FOLLOWED], 0);
  if (strcmp(fast.text.at, all.text.at) != 0) {
    first_difference(fast.text.at, all.text.at);
    fail_msg("a fault that was followed came to something else");
  }
  text_free(&all.text);
  text_free(&fast.text);
  return fast;
}

// ---- Random programs -------------------------------------------------------------------------------

enum { RANDOM_WORDS = 256, RANDOM_BLOCK = 64 };

// The second kernel reads what the first has written; between them the host may read, write or look.
static bool random_host(TestProgram *own) {
  uint32_t habit = (uint32_t)(random_draw(own->seed, 0, 2) % 5), word = 0, value = 77;
  if (!test_launch(own, "first", 0, 1, 2)) return false;
  if (habit == 1 && !device_read(own->device, &word, own->buffers[2] + 64, 4)) return false;
  if (habit == 2 && !device_write(own->device, own->buffers[2] + 130, &value, 3)) return false;
  if (habit == 3 && !device_set(own->device, own->buffers[2], 0, 256)) return false;
  if (habit == 4 && !device_copy(own->device, own->buffers[1], own->buffers[2], 128)) return false;
  if (!test_launch(own, "second", 2, 1, 3)) return false;
  return (word & 1) == 0 || test_launch(own, "second", 3, 1, 2);
}

static const char *random_text(uint64_t seed, Arena *arena) {
  Text text = {0};
  KernelWriter at = {.to = &text, .seed = seed, .words = RANDOM_WORDS, .block = RANDOM_BLOCK, .meets = random_draw(seed, 1, 2) % 2 == 0};
  write_module_head(&text, RANDOM_WORDS);
  write_kernel(&at, "first");
  at.statements = 0;
  write_kernel(&at, "second");
  const char *copy = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return copy;
}

// Structures: NULL, as the seed says.
static Tally compare_random(uint64_t seed, uint64_t faults, bool prune, const char *structures) {
  static const char *const machines[] = {"fermi-gtx480", "gt200-rise", "turing-rtx2060", "tesla-hints"};
  static const char *const models[] = {"flip", "flip", "adjacent(2)", "random(3)", "lanes"};
  Bed bed;
  bed_open(&bed, machines[seed % COUNT_OF(machines)]);
  TestProgram program = {
      .text = random_text(seed, bed.arena), .host = random_host, .block = RANDOM_BLOCK, .words = RANDOM_WORDS, .seed = seed};
  program.grid = RANDOM_WORDS / RANDOM_BLOCK;
  program.outputs = random_draw(seed, 2, 2) % 2 == 0 ? 8 : 14;
  CampaignOptions options = plain(&bed, faults, seed);
  options.structures = structures != NULL ? structures : random_draw(seed, 5, 2) % 2 == 0 ? "rf" : "rf,shared,pred";
  options.model = models[random_draw(seed, 3, 2) % COUNT_OF(models)];
  options.timeout = random_draw(seed, 4, 2) % 3 == 0 ? 2 : 10;
  Tally tally = compare(&bed, &program, &options, prune);
  bed_close(&bed);
  return tally;
}

static void test_random_programs(void **state) {
  (void)state;
  uint64_t followed = 0;
  for (uint64_t seed = 1; seed <= 5; seed++) followed += compare_random(seed, 300, false, NULL).settled[SETTLED_FOLLOWED];
  ASSERT_SOME(followed > 50);
}

// Wrong results and addresses of units, on each of the machines.
static void test_unit_outputs(void **state) {
  (void)state;
  uint64_t followed = 0;
  for (uint64_t seed = 4; seed <= 7; seed++) {
    followed += compare_random(seed, 300, false, "unit.sp").settled[SETTLED_FOLLOWED];
    compare_random(seed, 100, false, "unit.agu,unit.sfu");
  }
  ASSERT_SOME(followed > 50);
}

// Kernels in which faults have found something: a word not put back after a trap, wrong words of a row of shared memory, a limit that comes after
// the struck block's end.
static void test_seeds(void **state) {
  static const struct { uint64_t seed, faults; } found[] = {{1178, 600}, {3036, 600}, {3047, 600}, {3048, 600}, {3070, 600}, {9049, 780}};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(found); i++) {
    Tally tally = compare_random(found[i].seed, found[i].faults, true, NULL);
    ASSERT_SOME(tally.settled[SETTLED_FOLLOWED] > 0);
  }
}

// ---- Hosts -------------------------------------------------------------------------------------------

#define HEAD ".version 6.0\n.target sm_70\n.address_size 64\n"
#define ENTRY(name) ".visible .entry " name "(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n"

// first: out[i] = in[i] times a power of 5; second: the same of its neighbour in the next block. So many products that faults meet them.
#define FIVE_TIMES "mul.lo.u32 %x, %x, 5;\n"
#define MANY_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES FIVE_TIMES
#define MULTIPLY(name, distance) \
  ENTRY(name)                    \
  "\
  .reg .u32 %t, %b, %x;\n .reg .u64 %in, %out, %a;\n\
  mov.u32 %t, %tid.x;\n mov.u32 %b, %ctaid.x;\n mad.lo.u32 %t, %b, 64, %t;\n\
  ld.param.u64 %in, [p0];\n ld.param.u64 %out, [p1];\n\
  add.u32 %b, %t, " distance ";\n and.b32 %b, %b, 255;\n mad.wide.u32 %a, %b, 4, %in;\n ld.global.u32 %x, [%a];\n\
  " MANY_TIMES MANY_TIMES "mad.wide.u32 %a, %t, 4, %out;\n st.global.u32 [%a], %x;\n ret;\n}\n"
static const char multiply_ptx[] = HEAD MULTIPLY("first", "0") MULTIPLY("second", "64");

// The host looks at results and goes on accordingly.
static bool host_that_reads(TestProgram *own) {
  uint32_t sum = 0, words[RANDOM_WORDS];
  if (!test_launch(own, "first", 0, 1, 2) || !device_read(own->device, words, own->buffers[1], sizeof words)) return false;
  for (uint32_t i = 0; i < RANDOM_WORDS; i++) sum += words[i];
  return device_write(own->device, own->buffers[3], &sum, sizeof sum) && test_launch(own, "second", 3, 2, 0);
}

static bool host_that_writes(TestProgram *own) {
  bool good = test_launch(own, "first", 0, 1, 2) && device_set(own->device, own->buffers[1], 7, RANDOM_WORDS * 4);
  return good && test_launch(own, "second", 1, 2, 0);
}

static bool host_that_does_neither(TestProgram *own) { return test_launch(own, "first", 0, 1, 2) && test_launch(own, "second", 1, 2, 0); }

static Tally compare_host(bool (*host)(TestProgram *own), const char *window, uint64_t timeout) {
  Bed bed;
  bed_open(&bed, "fermi-gtx480");
  TestProgram program = {.text = multiply_ptx, .host = host, .grid = 4, .block = 64, .words = RANDOM_WORDS, .seed = 5, .outputs = 4};
  CampaignOptions options = plain(&bed, 2500, 3);
  options.window = window;
  options.timeout = timeout;
  Tally tally = compare(&bed, &program, &options, true);
  bed_close(&bed);
  return tally;
}

static void test_hosts(void **state) {
  (void)state;
  Tally tally = compare_host(host_that_does_neither, "kernel:first", 10);
  ASSERT_SOME(tally.followed[OUTCOME_SDC] > 0);
  tally = compare_host(host_that_reads, "kernel:first", 10);
  ASSERT_SOME(tally.counts[OUTCOME_SDC] > 0);
  assert_int_equal(tally.followed[OUTCOME_SDC], 0); // what the host reads is left to simulation
  tally = compare_host(host_that_writes, "kernel:first", 10);
  assert_int_equal(tally.counts[OUTCOME_SDC], 0);
  ASSERT_SOME(tally.followed[OUTCOME_MASKED] > 0);
}

static void test_no_time(void **state) {
  (void)state;
  Tally tally = compare_host(host_that_does_neither, "all", 1);
  ASSERT_SOME(tally.followed[OUTCOME_SDC] > 0);
}

static int by_hand(uint64_t first, uint64_t count, const char *structures) {
  uint64_t followed = 0, left = 0, faults = 0;
  for (uint64_t seed = first; seed < first + count; seed++) {
    print_message("seed %llu:", (unsigned long long)seed);
    Tally tally = compare_random(seed, 1000, true, structures);
    print_message(" followed %llu simulated %llu\n", (unsigned long long)tally.settled[SETTLED_FOLLOWED],
                  (unsigned long long)(tally.settled[SETTLED_RUN] + tally.settled[SETTLED_HASH] + tally.settled[SETTLED_BLOCK]));
    followed += tally.settled[SETTLED_FOLLOWED];
    left += tally.settled[SETTLED_RUN] + tally.settled[SETTLED_HASH] + tally.settled[SETTLED_BLOCK];
    faults += 1000;
  }
  print_message("%llu faults: %llu followed, %llu simulated\n", (unsigned long long)faults, (unsigned long long)followed,
                (unsigned long long)left);
  return 0;
}

// ---- Time --------------------------------------------------------------------------------------------

static bool launch_once(TestProgram *own) { return test_launch(own, "kernel", 0, 1, 2); }

// Warp 0 says how often each of eight warps turns: 100 times itself, the others 500. A wrong bit may make the first turn much
// longer and the others less.
static const char turns_ptx[] = HEAD ENTRY("kernel") "\
  .reg .u32 %n, %m, %w, %t, %x;\n\
  .reg .u64 %out;\n\
  .reg .pred %p, %q;\n\
  .shared .align 4 .b8 turns[32];\n\
  mov.u32 %n, %ntid.x;\n\
  sub.u32 %n, %n, 156;\n\
  mov.u32 %t, %tid.x;\n\
  mov.u32 %x, 200;\n\
wait:\n\
  sub.u32 %x, %x, 1;\n\
  setp.ne.u32 %p, %x, 0;\n\
  @%p bra wait;\n\
  setp.ge.u32 %q, %t, 8;\n\
  @%q bra ready;\n\
  sub.u32 %m, 600, %n;\n\
  max.s32 %m, %m, 1;\n\
  setp.eq.u32 %p, %t, 0;\n\
  selp.b32 %m, %n, %m, %p;\n\
  mov.u32 %w, turns;\n\
  shl.b32 %x, %t, 2;\n\
  add.u32 %w, %w, %x;\n\
  st.shared.u32 [%w], %m;\n\
ready:\n\
  bar.sync 0;\n\
  shr.u32 %x, %t, 5;\n\
  shl.b32 %x, %x, 2;\n\
  mov.u32 %w, turns;\n\
  add.u32 %w, %w, %x;\n\
  ld.shared.u32 %m, [%w];\n\
  mov.u32 %x, %t;\n\
again:\n\
  mad.lo.u32 %x, %x, 3, %m;\n\
  sub.u32 %m, %m, 1;\n\
  setp.ne.u32 %p, %m, 0;\n\
  @%p bra again;\n\
  ld.param.u64 %out, [p2];\n\
  mad.wide.u32 %out, %t, 4, %out;\n\
  st.global.u32 [%out], %x;\n\
  ret;\n}\n";

// Thread 0 says with which stride all of eight warps read. A wrong bit of it makes of one transaction 32.
static const char stride_ptx[] = HEAD ENTRY("kernel") "\
  .reg .u32 %s, %i, %t, %x, %y, %n, %w;\n\
  .reg .u64 %in, %out, %a;\n\
  .reg .pred %p;\n\
  .shared .align 4 .b8 stride[4];\n\
  mov.u32 %t, %tid.x;\n\
  ld.param.u64 %in, [p0];\n\
  mov.u32 %s, %ntid.y;\n\
  mov.u32 %x, 200;\n\
wait:\n\
  sub.u32 %x, %x, 1;\n\
  setp.ne.u32 %p, %x, 0;\n\
  @%p bra wait;\n\
  mov.u32 %w, stride;\n\
  setp.eq.u32 %p, %t, 0;\n\
  @%p st.shared.u32 [%w], %s;\n\
  bar.sync 0;\n\
  ld.shared.u32 %s, [%w];\n\
  mul.lo.u32 %i, %t, %s;\n\
  mov.u32 %n, 0;\n\
  mov.u32 %x, 0;\n\
again:\n\
  shl.b32 %y, %n, 8;\n\
  add.u32 %y, %y, %i;\n\
  and.b32 %y, %y, 16383;\n\
  mad.wide.u32 %a, %y, 4, %in;\n\
  ld.global.u32 %y, [%a];\n\
  xor.b32 %x, %x, %y;\n\
  add.u32 %n, %n, 1;\n\
  setp.ne.u32 %p, %n, 40;\n\
  @%p bra again;\n\
  ld.param.u64 %out, [p2];\n\
  mad.wide.u32 %out, %t, 4, %out;\n\
  st.global.u32 [%out], %x;\n\
  ret;\n}\n";

static Tally compare_text(const char *text, uint32_t threads, uint32_t words, uint64_t timeout, uint64_t faults) {
  Bed bed;
  bed_open(&bed, "fermi-gtx480");
  assert_true(spec_set(&bed.spec, "sm.count", "1", NULL, 0, &bed.diags));
  assert_true(spec_set(&bed.spec, "sm.registers", "3072", NULL, 0, &bed.diags));
  TestProgram program = {.text = text, .host = launch_once, .grid = 1, .block = threads, .words = words, .seed = 5, .outputs = 4};
  CampaignOptions options = plain(&bed, faults, 3);
  options.model = "lanes";
  options.timeout = timeout;
  options.window = "cycles:200-1800"; // before the number is used
  Tally tally = compare(&bed, &program, &options, true);
  bed_close(&bed);
  return tally;
}

static void test_longer_turns(void **state) {
  (void)state;
  Tally tally = compare_text(turns_ptx, 256, 256, 2, 3000);
  ASSERT_SOME(tally.counts[OUTCOME_TIMEOUT] > 0 && tally.settled[SETTLED_FOLLOWED] > 0);
}

static void test_scattered_accesses(void **state) {
  (void)state;
  Tally tally = compare_text(stride_ptx, 256, 16384, 2, 1500);
  ASSERT_SOME(tally.counts[OUTCOME_TIMEOUT] > 0 && tally.settled[SETTLED_FOLLOWED] > 0);
}

// All threads of a block store at about the same time. A wrong index is another thread's, of this block or of another: only time tells who
// comes last. What is loaded before keeps times from being those of the golden run.
#define RACE(load) \
  HEAD ENTRY("kernel") "\
  .reg .u32 %n, %t, %x;\n\
  .reg .u64 %in, %out, %a;\n\
  .reg .pred %p;\n\
  mov.u32 %t, %tid.x;\n\
  mov.u32 %n, %ctaid.x;\n\
  mad.lo.u32 %t, %n, 64, %t;\n\
  ld.param.u64 %in, [p0];\n\
  ld.param.u64 %out, [p2];\n\
  mov.u32 %x, %t;\n\
  mov.u32 %n, 50;\n\
wait:\n\
  sub.u32 %n, %n, 1;\n\
  setp.ne.u32 %p, %n, 0;\n\
  @%p bra wait;\n\
  mad.wide.u32 %a, %t, 4, %in;\n\
  " load "mad.wide.u32 %a, %t, 4, %out;\n\
  st.global.u32 [%a], %x;\n\
  ret;\n}\n"
static const char race_ptx[] = RACE(""), load_race_ptx[] = RACE("ld.global.u32 %x, [%a];\n  ");

static void test_races(void **state) {
  static const struct {
    const char *text;
    uint32_t grid; // four blocks fit at a time
  } races[] = {{race_ptx, 4}, {race_ptx, 16}, {load_race_ptx, 4}, {load_race_ptx, 16}};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(races); i++) {
    Bed bed;
    bed_open(&bed, "fermi-gtx480");
    assert_true(spec_set(&bed.spec, "sm.registers", "1024", NULL, 0, &bed.diags));
    TestProgram program = {.text = races[i].text, .host = launch_once, .block = 64, .words = 1024, .seed = 5, .outputs = 4};
    program.grid = races[i].grid;
    CampaignOptions options = plain(&bed, 800, 3);
    Tally tally = compare(&bed, &program, &options, true);
    ASSERT_SOME(tally.settled[SETTLED_BLOCK] > 0 && tally.settled[SETTLED_FOLLOWED] > 0);
    bed_close(&bed);
  }
}

int main(int argc, char **argv) {
  if (argc >= 3) return by_hand(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10), argv[3]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_unit_outputs),
      cmocka_unit_test(test_seeds),
      cmocka_unit_test(test_hosts),
      cmocka_unit_test(test_no_time),
      cmocka_unit_test(test_longer_turns),
      cmocka_unit_test(test_scattered_accesses),
      cmocka_unit_test(test_races),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
