// The machine against runs of the RTL, to the nanosecond and to the bit; its state as one block of named cells.
#include "machine/g80/test_machine.h"
#include "machine/g80/test_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RESULTS_AT = 0x1000 };

static void released_spec(Spec *spec) {
  Diags diags = {0};
  Arena *arena = arena_new();
  assert_true(spec_load(spec, arena, "flexgrip", &diags));
  diags_free(&diags);
  arena_free(arena);
}

static Machine *make_rtl_run(const RtlRun *run) {
  Spec spec;
  released_spec(&spec);
  SassProgram program = program_of(run->words, run->word_count);
  G80Launch launch = {.grid = {1, 1}, .blocks_per_core = 1, .gprs = 32, .shared_bytes = 1024, .param_count = 1, .constant_bytes = 32};
  memcpy(launch.block, run->block, sizeof launch.block);
  return make(&spec, &program, &launch);
}

static void check_rtl_run(const RtlRun *run, const Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  assert_int_equal(result.outcome, G80_DONE);
  assert_int_equal(result.start_ns, run->start_ns);
  assert_int_equal(result.kernel_done_ns, run->done_ns);
  for (uint32_t i = 0; i < G80_GLOBAL_BYTES; i += 4) {
    uint32_t word, index = (i - RESULTS_AT) / 4;
    memcpy(&word, result.global + i, 4);
    assert_int_equal(word, i >= RESULTS_AT && index < run->result_count ? run->results[index] : 0);
  }
}

static void runs_as_the_rtl(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    Machine *machine = make_rtl_run(&rtl_runs[i]);
    assert_true(machine_run(machine, FAR_CYCLE));
    check_rtl_run(&rtl_runs[i], machine);
    machine_free(machine);
  }
}

// Stopping, moving and looking change nothing.
static void stops_anywhere(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    Machine *machine = make_rtl_run(&rtl_runs[i]);
    Machine *clone = machine_clone(machine, NULL, NULL);
    for (uint64_t cycle = 150; !machine_run(machine, cycle); cycle += 1 + cycle % 7) {
      machine_copy(clone, machine);
      assert_int_equal(machine_hash(clone), machine_hash(machine));
      machine_copy(machine, clone);
    }
    check_rtl_run(&rtl_runs[i], machine);
    machine_free(clone);
    machine_free(machine);
  }
}

static void at_every_cycle(Hook *hook, HookMachine *machine) { hook->next_cycle = machine->cycle + 1; }

static Verdict count_cells(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine, (void)event;
  ++*(uint64_t *)hook->own;
  return VERDICT_PASS;
}

static Verdict count_commits(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  assert_true(event->issued_at < machine->cycle && event->who->warp < 32);
  ++*(uint64_t *)hook->own;
  return VERDICT_PASS;
}

// Whoever looks on changes neither time nor results.
static void hooks_change_nothing(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    uint64_t told = 0;
    Hook hook = {.name = "test", .kind = HOOK_FAULT, .own = &told, .read = count_cells, .write = count_cells, .commit = count_commits};
    HookChain chain = {.hooks = {&hook}, .count = 1};
    for (uint32_t often = 0; often < 2; often++) {
      hook.cycle = often != 0 ? at_every_cycle : NULL;
      hook.next_cycle = 0;
      Machine *plain = make_rtl_run(&rtl_runs[i]), *machine = machine_clone(plain, NULL, &chain);
      assert_true(machine_run(machine, FAR_CYCLE));
      check_rtl_run(&rtl_runs[i], machine);
      machine_free(machine);
      machine_free(plain);
    }
    assert_true(told > 1000);
  }
}

typedef struct Recorder {
  Machine *machine;
  uint64_t hashes; // of the states in every third cycle, together
} Recorder;

static void record_state(Hook *hook, HookMachine *machine) {
  Recorder *at = hook->own;
  const uint64_t words[] = {at->hashes, machine->cycle, machine_hash(at->machine)};
  at->hashes = hash_bytes(words, sizeof words, 0);
  hook->next_cycle = machine->cycle + 3;
}

// Nor is any state on the way another one, who waits until when included.
static void lookers_on_leave_every_state(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(rtl_runs); i++) {
    uint64_t hashes[2];
    for (uint32_t others = 0; others < 2; others++) {
      Recorder recorder = {0};
      Hook looks = {.name = "looks on", .kind = HOOK_OBSERVER, .cycle = at_every_cycle};
      Hook records = {.name = "records", .kind = HOOK_OBSERVER, .own = &recorder, .cycle = record_state};
      HookChain chain = {.hooks = {&records, &looks}, .count = 1 + others};
      Machine *plain = make_rtl_run(&rtl_runs[i]);
      recorder.machine = machine_clone(plain, NULL, &chain);
      assert_true(machine_run(recorder.machine, FAR_CYCLE));
      hashes[others] = recorder.hashes;
      machine_free(recorder.machine);
      machine_free(plain);
    }
    assert_true(hashes[0] == hashes[1]);
  }
}

// ---- Vector add, measured in the RTL for 8, 16 and 32 SPs ------------------------------------------------------------
typedef struct VecaddRow {
  uint32_t sps, blocks, threads;
  uint64_t done_ns;
} VecaddRow;
static const VecaddRow vecadd_rows[] = {
    {0, 1, 32, 21465}, {0, 8, 32, 141055}, {0, 16, 32, 280545}, {0, 8, 64, 276335}, {0, 16, 64, 551105},
    {1, 1, 32, 17045}, {1, 8, 32, 105975}, {1, 8, 64, 206215},  {2, 1, 32, 14785},  {2, 8, 32, 88435},
};

static void adds_vectors_as_the_rtl(void **state) {
  (void)state;
  for (uint32_t i = 0; i < COUNT_OF(vecadd_rows); i++) {
    const VecaddRow *row = &vecadd_rows[i];
    Spec spec;
    G80Result result;
    released_spec(&spec);
    spec.g80_sps = row->sps;
    Vecadd v = {row->blocks, row->threads, false};
    Machine *machine = make_vecadd(&spec, &v);
    assert_true(machine_run(machine, FAR_CYCLE));
    g80_result(machine, &result);
    assert_int_equal(result.start_ns, 1535);
    assert_int_equal(result.kernel_done_ns, row->done_ns);
    assert_true(vecadd_right(&v, machine));
    machine_free(machine);
  }
}

static void images_are_words(void **state) {
  (void)state;
  static const uint8_t bytes[16] = {0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0, 0xef};
  Text text = {0};
  g80_write_words(bytes, sizeof bytes, &text);
  assert_string_equal(text.at, "12345678\n00000000\n000000ef\n");
  text_free(&text);
  g80_write_words(bytes + 12, 4, &text);
  assert_int_equal(text.length, 0);
  text_free(&text);

  Arena *arena = arena_new();
  Diags diags = {0};
  G80Words words;
  char path[] = P_tmpdir "/g80-words-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0 && write(file, "12345678\n0xEF 1\n\nxyz\n", 22) == 22);
  assert_false(g80_read_words(arena, path, 100, &words, &diags));
  assert_int_equal(diags.items[0].line, 4);
  assert_true(ftruncate(file, 17) == 0);
  assert_true(g80_read_words(arena, path, 3, &words, &diags));
  assert_int_equal(words.count, 3);
  assert_int_equal(words.items[1], 0xef);
  assert_false(g80_read_words(arena, path, 2, &words, &diags));
  close(file);
  unlink(path);
  diags_free(&diags);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_as_the_rtl),         cmocka_unit_test(stops_anywhere),
      cmocka_unit_test(hooks_change_nothing),    cmocka_unit_test(lookers_on_leave_every_state),
      cmocka_unit_test(adds_vectors_as_the_rtl), cmocka_unit_test(images_are_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
