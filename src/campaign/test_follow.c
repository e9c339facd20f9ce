// Faults that are followed come to what their simulation comes to: on random kernels, with host code between launches, and with time
// that is short. More random programs by hand: campaign_test_follow FIRST_SEED COUNT.
#include "campaign/follow.h"
#include "campaign/test_kernels.h"
#include "campaign/test_target.h"

#include <unistd.h>

typedef struct Bed {
  Arena *arena;
  Spec spec;
  Diags diags;
  char folder[64];
  uint32_t journals;
} Bed;

static void bed_open(Bed *bed, const char *machine) {
  *bed = (Bed){.arena = arena_new()};
  static const char *const small[][2] = {{"sm.count", "2"}, {"sm.registers", "4096"}, {"dram.controllers", "2"}, {"memory.bytes", "4M"}};
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
  return (CampaignOptions){.structures = "rf",
                           .model = "flip",
                           .window = "all",
                           .protection = "none",
                           .faults = faults,
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

static Tally compare_random(uint64_t seed, uint64_t faults, bool prune) {
  static const char *const machines[] = {"fermi-gtx480", "gt200-rise", "turing-rtx2060", "tesla-hints"};
  static const char *const models[] = {"flip", "flip", "adjacent(2)", "random(3)", "lanes"};
  Bed bed;
  bed_open(&bed, machines[seed % COUNT_OF(machines)]);
  TestProgram program = {
      .text = random_text(seed, bed.arena), .host = random_host, .block = RANDOM_BLOCK, .words = RANDOM_WORDS, .seed = seed};
  program.grid = RANDOM_WORDS / RANDOM_BLOCK;
  program.outputs = random_draw(seed, 2, 2) % 2 == 0 ? 8 : 14;
  CampaignOptions options = plain(&bed, faults, seed);
  options.model = models[random_draw(seed, 3, 2) % COUNT_OF(models)];
  options.timeout = random_draw(seed, 4, 2) % 3 == 0 ? 2 : 10;
  Tally tally = compare(&bed, &program, &options, prune);
  bed_close(&bed);
  return tally;
}

static void test_random_programs(void **state) {
  (void)state;
  uint64_t followed = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) followed += compare_random(seed, 200, false).settled[SETTLED_FOLLOWED];
  assert_true(followed > 100);
}

static int by_hand(uint64_t first, uint64_t count) {
  uint64_t followed = 0, left = 0, faults = 0;
  for (uint64_t seed = first; seed < first + count; seed++) {
    print_message("seed %llu:", (unsigned long long)seed);
    Tally tally = compare_random(seed, 1000, true);
    print_message(" followed %llu simulated %llu\n", (unsigned long long)tally.settled[SETTLED_FOLLOWED],
                  (unsigned long long)(tally.settled[SETTLED_RUN] + tally.settled[SETTLED_HASH]));
    followed += tally.settled[SETTLED_FOLLOWED];
    left += tally.settled[SETTLED_RUN] + tally.settled[SETTLED_HASH];
    faults += 1000;
  }
  print_message("%llu faults: %llu followed, %llu simulated\n", (unsigned long long)faults, (unsigned long long)followed,
                (unsigned long long)left);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 3) return by_hand(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
