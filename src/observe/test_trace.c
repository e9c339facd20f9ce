// The trace: parses as JSON whatever happened, slices of a thread never overlap, names and lines are there, memory stays bounded.
#include "observe/observe.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct Bench {
  Arena *arena;
  HookChain chain;
  HookMachine machine;
  Hook *hook;
  Text text;
  size_t largest; // piece
  Program program;
  uint32_t lines[16];
} Bench;

static void collect(void *context, const char *bytes, size_t count) {
  Bench *bench = context;
  text_add_bytes(&bench->text, bytes, count);
  if (count > bench->largest) bench->largest = count;
}

static void open_bench(Bench *bench, uint64_t from, uint64_t to) {
  *bench = (Bench){.arena = arena_new()};
  for (uint32_t i = 0; i < COUNT_OF(bench->lines); i++) bench->lines[i] = i == 0 ? 0 : 100 + i;
  bench->program = (Program){.lines = bench->lines, .code_count = COUNT_OF(bench->lines)};
  bench->machine.program = &bench->program;
  bench->hook = trace_new(&(TraceOptions){collect, bench, from, to, 100}, bench->arena);
  hook_chain_add(&bench->chain, bench->hook);
  HookShape shape = {.sms = 2, .warps = 4, .block_slots = 3};
  Diags diags = {0};
  assert_true(hook_layout_attach(hook_layout_begin(bench->arena, &(RegionTable){0}, &shape), &bench->chain, &diags));
}

static json_t *close_bench(Bench *bench) {
  trace_close(bench->hook);
  size_t length = bench->text.length;
  trace_close(bench->hook); // once is enough, twice does no harm
  assert_int_equal(bench->text.length, length);
  json_error_t error;
  json_t *root = json_loads(bench->text.at, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) fail_msg("line %d: %s", error.line, error.text);
  assert_true(json_is_array(json_object_get(root, "traceEvents")));
  text_free(&bench->text);
  arena_free(bench->arena);
  return root;
}

static void launch(Bench *bench, uint64_t cycle, uint64_t number, const char *kernel) {
  bench->machine.cycle = cycle;
  hooks_launch(&bench->chain, &bench->machine, &(LaunchEvent){.who = &(Who){.launch = number}, .kernel = kernel});
}

static void commit(Bench *bench, uint32_t sm, uint32_t warp, uint64_t issued_at, uint64_t cycle) {
  Instr instr = instr_rest((Op)0);
  bench->machine.cycle = cycle;
  hooks_commit(
      &bench->chain, &bench->machine,
      &(CommitEvent){
          .who = &(Who){.sm = sm, .warp = warp, .pc = (uint32_t)(issued_at % 20)}, .mask = 0xFF, .instr = &instr, .issued_at = issued_at});
}

static int64_t number_of(const json_t *event, const char *key) { return json_integer_value(json_object_get(event, key)); }
static const char *text_of(const json_t *event, const char *key) { return json_string_value(json_object_get(event, key)); }

static size_t count_phase(const json_t *root, const char *phase) {
  size_t index, count = 0;
  json_t *event;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event) { count += strcmp(text_of(event, "ph"), phase) == 0; }
  return count;
}

static const json_t *find_event(const json_t *root, const char *phase, const char *name) {
  size_t index;
  json_t *event;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event) {
    if (strcmp(text_of(event, "ph"), phase) == 0 && strcmp(text_of(event, "name"), name) == 0) return event;
  }
  return NULL;
}

// Every two slices of one thread: one after the other.
static void assert_slices_apart(const json_t *root) {
  const json_t *events = json_object_get(root, "traceEvents");
  size_t i, j;
  json_t *a, *b;
  json_array_foreach(events, i, a) {
    if (strcmp(text_of(a, "ph"), "X") != 0) continue;
    int64_t start = number_of(a, "ts"), end = start + number_of(a, "dur");
    assert_true(end >= start);
    json_array_foreach(events, j, b) {
      bool same_thread = number_of(a, "pid") == number_of(b, "pid") && number_of(a, "tid") == number_of(b, "tid");
      if (j <= i || !same_thread || strcmp(text_of(b, "ph"), "X") != 0) continue;
      int64_t other = number_of(b, "ts"), other_end = other + number_of(b, "dur");
      if (!(end <= other || other_end <= start)) fail_msg("[%ld,%ld) and [%ld,%ld) overlap", start, end, other, other_end);
    }
  }
}

static void test_nothing_happened(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  json_t *root = close_bench(&bench);
  assert_int_equal(count_phase(root, "X"), 0);
  json_decref(root);
}

static void test_mangled_kernel(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  launch(&bench, 0, 1, "_Z5saxpyifPKfPf");
  commit(&bench, 0, 0, 1, 9);
  hooks_finish(&bench.chain, &bench.machine);
  json_t *root = close_bench(&bench);
  const json_t *slice = find_event(root, "X", "saxpy");
  assert_non_null(slice);
  assert_string_equal(text_of(json_object_get(slice, "args"), "symbol"), "_Z5saxpyifPKfPf");
  json_decref(root);
}

static void test_overlapping_instructions(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  launch(&bench, 0, 1, "kernel \"with\" \\ quotes\n");
  for (uint64_t i = 0; i < 400; i++) { // up to 25 at a time in one warp: more than there are rows
    uint64_t length = random_below(random_draw(1, i, 0), i < 200 ? 6 : 25);
    commit(&bench, (uint32_t)(i % 2), (uint32_t)(i % 3), i, i + length);
  }
  hooks_finish(&bench.chain, &bench.machine);
  json_t *root = close_bench(&bench);
  assert_int_equal(count_phase(root, "X"), 401);
  assert_slices_apart(root);
  assert_non_null(find_event(root, "X", "kernel \"with\" \\ quotes\n"));
  assert_int_equal(number_of(root, "dropped"), 0);
  json_decref(root);
}

static void test_what_a_slice_says(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  launch(&bench, 0, 1, "k");
  commit(&bench, 1, 3, 7, 30);
  Text name = {0};
  Instr instr = instr_rest((Op)0);
  instr_format(&instr, &name);
  json_t *root = close_bench(&bench);
  const json_t *slice = find_event(root, "X", name.at);
  assert_non_null(slice);
  assert_int_equal(number_of(slice, "ts"), 7);
  assert_int_equal(number_of(slice, "dur"), 23);
  const json_t *arguments = json_object_get(slice, "args");
  assert_int_equal(number_of(arguments, "pc"), 7);
  assert_int_equal(number_of(arguments, "line"), 107);
  assert_string_equal(text_of(arguments, "mask"), "000000ff");
  const json_t *named = NULL;
  json_t *event;
  size_t index;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event) {
    bool is_name = strcmp(text_of(event, "ph"), "M") == 0 && strcmp(text_of(event, "name"), "thread_name") == 0;
    if (is_name && number_of(event, "tid") == number_of(slice, "tid") && number_of(event, "pid") == number_of(slice, "pid")) named = event;
  }
  assert_non_null(named);
  assert_string_equal(text_of(json_object_get(named, "args"), "name"), "warp 3");
  text_free(&name);
  json_decref(root);
}

static void test_memory_and_spans(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  launch(&bench, 0, 1, "k");
  for (uint32_t i = 0; i < 20; i++) {
    bench.machine.cycle = 100 + i;
    hooks_request(&bench.chain, &bench.machine,
                  &(MemoryEvent){.who = &(Who){.sm = 1}, .moment = MEMORY_REQUEST, .address = 128 * i, .bytes = 128});
    hooks_service(&bench.chain, &bench.machine,
                  &(MemoryEvent){.who = &(Who){.sm = 1}, .moment = MEMORY_SERVICE, .partition = 2, .waited = 50, .write = true});
    hooks_response(
        &bench.chain, &bench.machine,
        &(MemoryEvent){.who = &(Who){.sm = 1}, .moment = MEMORY_RESPONSE, .waited = 500, .stages = (uint32_t[MEMORY_STAGES]){10, 490}});
    hooks_span(&bench.chain, &bench.machine, &(SpanEvent){&(Who){0}, "dram", 2, "activate", 100 + i, 120 + i});
    hooks_span(&bench.chain, &bench.machine, &(SpanEvent){&(Who){0}, "l2", i % 4, "miss", 90 + i, 95 + i});
  }
  json_t *root = close_bench(&bench);
  assert_int_equal(count_phase(root, "i"), 20);
  assert_int_equal(count_phase(root, "b"), 40);
  assert_int_equal(count_phase(root, "e"), 40);
  assert_int_equal(count_phase(root, "X"), 41);
  assert_slices_apart(root);
  assert_non_null(find_event(root, "b", "partition 2"));
  assert_non_null(find_event(root, "X", "activate"));
  json_decref(root);
}

// A launch that a trap ends leaves blocks open; the next one begins with its clock at zero.
static void test_trap_and_next_launch(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  launch(&bench, 0, 1, "first");
  bench.machine.cycle = 10;
  hooks_block(&bench.chain, &bench.machine, &(BlockEvent){.who = &(Who){.sm = 0, .block_slot = 1, .block = 5}});
  hooks_block(&bench.chain, &bench.machine, &(BlockEvent){.who = &(Who){.sm = 1, .block_slot = 2, .block = 6}});
  bench.machine.cycle = 40;
  hooks_block(&bench.chain, &bench.machine, &(BlockEvent){.who = &(Who){.sm = 0, .block_slot = 1, .block = 5}, .done = true});
  commit(&bench, 0, 0, 20, 60);
  hooks_trap(&bench.chain, &bench.machine, &(TrapEvent){.who = &(Who){0}});
  launch(&bench, 0, 2, "second");
  commit(&bench, 0, 0, 1, 5);
  json_t *root = close_bench(&bench);
  const json_t *done = find_event(root, "X", "block 5"), *cut = find_event(root, "X", "block 6");
  assert_int_equal(number_of(done, "ts"), 10);
  assert_int_equal(number_of(done, "dur"), 30);
  assert_int_equal(number_of(cut, "dur"), 50);
  assert_non_null(find_event(root, "i", "trap"));
  assert_int_equal(number_of(find_event(root, "X", "first"), "dur"), 60);
  assert_int_equal(number_of(find_event(root, "X", "second"), "ts"), 60);
  assert_slices_apart(root);
  json_decref(root);
}

static void test_window(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 50, 60);
  for (uint64_t i = 0; i < 100; i++) commit(&bench, 0, 0, i, i + 1);
  json_t *root = close_bench(&bench);
  assert_int_equal(count_phase(root, "X"), 10);
  json_decref(root);
}

// ---- Curves and marks --------------------------------------------------------------------------------
// A machine with eight places of a queue and two statistics.
typedef struct Fake {
  uint64_t instructions, accesses, misses;
  uint32_t used;
} Fake;
static Fake fake;

static bool fake_is_free(const HookMachine *machine, const Site *site) {
  (void)machine;
  return site->row >= fake.used;
}

static const uint64_t *fake_stat(const HookMachine *machine, const char *name) {
  (void)machine;
  if (strcmp(name, "warp_instructions") == 0) return &fake.instructions;
  if (strcmp(name, "l1d_accesses") == 0) return &fake.accesses;
  return strcmp(name, "l1d_misses") == 0 ? &fake.misses : NULL;
}

static void at_cycle(Bench *bench, uint64_t cycle) {
  bench->machine.cycle = cycle;
  if (hooks_next_cycle(&bench->chain, &bench->machine) <= cycle) hooks_cycle(&bench->chain, &bench->machine);
}

typedef struct CurvePoint {
  const char *name;
  int64_t at;
  double value;
} CurvePoint;

static void assert_points(const json_t *root, const CurvePoint *points, size_t count) {
  size_t index, seen = 0;
  json_t *event;
  json_array_foreach(json_object_get(root, "traceEvents"), index, event) {
    if (strcmp(text_of(event, "ph"), "C") != 0) continue;
    assert_true(seen < count);
    assert_string_equal(text_of(event, "name"), points[seen].name);
    assert_int_equal(number_of(event, "ts"), points[seen].at);
    double value = json_number_value(json_object_get(json_object_get(event, "args"), "value"));
    if (value != points[seen].value) fail_msg("%s at %ld: %g", points[seen].name, (long)points[seen].at, value);
    seen++;
  }
  assert_int_equal(seen, count);
}

static void test_curves(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  Region regions[] = {{.name = "dramq.address", .rows = 8, .units = 1, .bits = 50, .unit_bytes = 8, .row_bytes = 8},
                      {.name = "warp.valid", .rows = 4, .units = 1, .bits = 1, .unit_bytes = 1, .row_bytes = 1, .base = 4}};
  RegionTable table = {regions, 2, 8};
  uint8_t block[8] = {1, 1, 1, 1, 1, 0, 1, 0}; // two warps
  bench.machine.regions = &table;
  bench.machine.block = block;
  bench.machine.is_free = fake_is_free;
  bench.machine.stat = fake_stat;
  fake = (Fake){.instructions = 1000, .used = 3};
  launch(&bench, 50, 1, "k"); // what was counted before does not matter
  for (uint64_t cycle = 50; cycle < 150; cycle++) at_cycle(&bench, cycle);
  fake = (Fake){.instructions = 1150, .used = 3, .accesses = 40, .misses = 10};
  at_cycle(&bench, 150);
  fake = (Fake){.instructions = 1300, .used = 5, .accesses = 40, .misses = 10}; // no access since: no hit rate
  at_cycle(&bench, 253);                                                        // the machine slept over 250
  fake.instructions = 1310;
  bench.machine.cycle = 263;
  hooks_finish(&bench.chain, &bench.machine);
  assert_int_equal(hooks_next_cycle(&bench.chain, &bench.machine), UINT64_MAX);
  json_t *root = close_bench(&bench);
  static const CurvePoint points[] = {
      {"IPC", 50, 1.5},
      {"active warps", 150, 2},
      {"DRAM queue", 150, 3},
      {"L1 hit rate in %", 50, 75},
      {"IPC", 150, 1.456},
      {"DRAM queue", 253, 5},
      {"IPC", 253, 1},
      // over
      {"IPC", 263, 0},
      {"active warps", 263, 0},
      {"DRAM queue", 263, 0},
      {"L1 hit rate in %", 263, 0},
  };
  assert_points(root, points, COUNT_OF(points));
  json_decref(root);
}

static void test_marks(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  assert_true(trace_mark(bench.hook, 70, "fault: \"one\""));
  assert_true(trace_mark(bench.hook, 30, "fault: two"));
  assert_true(trace_mark(bench.hook, 5000, "fault: never"));
  for (uint32_t i = 3; i < TRACE_MARKS; i++) assert_true(trace_mark(bench.hook, UINT64_MAX, "more"));
  assert_false(trace_mark(bench.hook, 1, "too many"));
  launch(&bench, 0, 1, "k");
  assert_int_equal(hooks_next_cycle(&bench.chain, &bench.machine), 30);
  for (uint64_t cycle = 0; cycle < 100; cycle++) at_cycle(&bench, cycle);
  json_t *root = close_bench(&bench);
  assert_int_equal(number_of(find_event(root, "i", "fault: two"), "ts"), 30);
  assert_int_equal(number_of(find_event(root, "i", "fault: \"one\""), "ts"), 70);
  assert_string_equal(text_of(find_event(root, "i", "fault: two"), "s"), "g");
  assert_null(find_event(root, "i", "fault: never"));
  json_decref(root);
}

// However long the run, text leaves in pieces and tracks without a place are counted, not kept.
static void test_bounded(void **state) {
  (void)state;
  Bench bench;
  open_bench(&bench, 0, 0);
  size_t held = arena_bytes(bench.arena);
  for (uint32_t i = 0; i < 40000; i++)
    hooks_span(&bench.chain, &bench.machine, &(SpanEvent){&(Who){0}, "unit", i % 20000, "busy", i, i + 1});
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  for (uint32_t i = 0; i < 100; i++) {
    char name[3] = {letters[i / 26], letters[i % 26], '\0'};
    hooks_span(&bench.chain, &bench.machine, &(SpanEvent){&(Who){0}, name, 0, "busy", i, i + 1});
  }
  assert_true(arena_bytes(bench.arena) < held + 64 * 64);
  assert_true(bench.largest < (1 << 17));
  json_t *root = close_bench(&bench);
  assert_true(number_of(root, "dropped") > 3000);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_happened), cmocka_unit_test(test_overlapping_instructions),
      cmocka_unit_test(test_mangled_kernel),   cmocka_unit_test(test_what_a_slice_says),
      cmocka_unit_test(test_memory_and_spans), cmocka_unit_test(test_trap_and_next_launch),
      cmocka_unit_test(test_window),           cmocka_unit_test(test_bounded),
      cmocka_unit_test(test_curves),           cmocka_unit_test(test_marks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
