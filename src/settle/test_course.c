// One launch and blocks of it carried out again: which words of memory come to differ, what a later launch makes of them, who wins
// where blocks meet, and what cannot be told. After each of them memory is as the fault-free run left it.
#include "settle/course.h"
#include "settle/test_target.h"

enum { WORDS = 256, BLOCK = 64, ENOUGH = 1000000 };

#define HEAD ".version 6.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 table[16];\n"
#define ENTRY(name) \
  ".visible .entry " name "(.param .u64 p0, .param .u64 p1, .param .u64 p2) {\n\
  .reg .u32 %t, %b, %x, %n;\n .reg .u64 %in, %out, %a;\n .reg .pred %p;\n\
  mov.u32 %t, %tid.x;\n mov.u32 %b, %ctaid.x;\n mad.lo.u32 %t, %b, 64, %t;\n\
  ld.param.u64 %in, [p0];\n ld.param.u64 %out, [p1];\n"
#define LOAD(index) " mad.wide.u32 %a, " index ", 4, %in;\n ld.global.u32 %x, [%a];\n"
#define STORE(type) " mad.wide.u32 %a, %t, 4, %out;\n st.global." type " [%a], %x;\n"
#define END " ret;\n}\n"
// Blocks for which the condition holds are late by far more than an access takes.
#define WAIT_IF(condition, block) \
  " mov.u32 %n, 1;\n setp." condition ".u32 %p, %b, " block ";\n @%p mov.u32 %n, 5000;\nwait:\n sub.u32 %n, %n, 1;\n\
  setp.ne.u32 %p, %n, 0;\n @%p bra wait;\n"
#define WAIT(condition) WAIT_IF(condition, "0")

static const char ptx[] = HEAD                                             // accesses of each: 0 is the load, 1 the store
    ENTRY("triple") LOAD("%t") " mul.lo.u32 %x, %x, 3;\n" STORE("u32") END // out[i] = 3 * in[i]
        ENTRY("cross") " xor.b32 %n, %t, 64;\n" LOAD("%n") " add.u32 %x, %x, 1;\n" STORE("u32") END // out[i] = in[i ^ 64] + 1
            ENTRY("clear") LOAD("%t") STORE("u32") END ENTRY("part") LOAD("%t") STORE("u8")
                END ENTRY("constant") " mov.u32 %n, table;\n ld.const.u32 %x, [%n];\n" STORE("u32") END ENTRY("clock")
                    LOAD("%t") " mov.u32 %n, %clock;\n" STORE("u32") END;
static const char late_ptx[] = HEAD ENTRY("triple") LOAD("%t") WAIT("ne") STORE("u32") END;  // all but block 0
static const char early_ptx[] = HEAD ENTRY("triple") LOAD("%t") WAIT("eq") STORE("u32") END; // block 0

// All but block 3 read what it writes later.
static const char overtaken_ptx[] = HEAD ENTRY("triple") LOAD("%t") " mul.lo.u32 %x, %x, 3;\n" STORE("u32") END ENTRY(
    "overtaken") " mov.u32 %x, 7;\n and.b32 %n, %t, 63;\n add.u32 %n, %n, 192;\n mad.wide.u32 %a, %n, 4, %in;\n setp.ne.u32 %p, %b, 3;\n\
  @%p ld.global.u32 %x, [%a];\n" WAIT_IF("eq", "3") STORE("u32") END;
static const char same_ptx[] = HEAD ENTRY("triple") LOAD("%t") " mov.u32 %x, 7;\n" STORE("u32") END;
// shared[t] = in[t]; after a barrier out[t] = shared[t]. Accesses: load, shared store, shared load, store.
static const char shared_ptx[] = HEAD ENTRY("triple") " .shared .align 128 .b8 tile[256];\n mov.u32 %n, %tid.x;\n shl.b32 %n, %n, 2;\n\
  mov.u32 %x, tile;\n add.u32 %n, %n, %x;\n" LOAD("%t") " st.shared.u32 [%n], %x;\n bar.sync 0;\n ld.shared.u32 %x, [%n];\n" STORE("u32")
    END;
static const char late_load_ptx[] = HEAD ENTRY("triple") WAIT("ne") LOAD("%t") STORE("u32") END;

typedef struct Bench Bench;
struct Bench {
  Arena *arena;
  Spec spec, functional;
  Diags diags;
  TestProgram program;
  Target target;
  Timeline *timeline;
  Launcher launcher;
  bool has_times, may_be_open;
  WordList words;
  void (*each)(Bench *bench, Course *course, const Launch *launch);
  const Launch *launch;
  uint32_t launches;
};

static void ignore(void *context, DeviceAddress address, uint64_t bytes) { (void)context, (void)address, (void)bytes; }

// The launch, the test's part, and memory compared.
static void on_launch(void *context, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap) {
  Bench *bench = context;
  CourseOptions options = {.timeline = bench->has_times ? bench->timeline : NULL, .readers = true};
  options.spec = &bench->spec;
  options.may_be_open = bench->may_be_open;
  Course *course = course_new(environment, launch, &options, stats, trap);
  assert_int_equal(trap->kind, TRAP_NONE);
  uint64_t bytes = memory_extent(environment->memory);
  uint8_t *copy = malloc(bytes);
  assert_non_null(copy);
  memcpy(copy, memory_bytes(environment->memory), bytes);
  bench->launch = launch;
  bench->launches++;
  bench->each(bench, course, launch);
  assert_memory_equal(copy, memory_bytes(environment->memory), bytes);
  free(copy);
  course_free(course);
}

// The program on a machine with time, whose times are kept, and then on the functional one with `each` at every launch.
static void bench_run(Bench *bench, const char *text, bool (*host)(TestProgram *program)) {
  bench->arena = arena_new();
  assert_true(spec_load(&bench->spec, bench->arena, "fermi-gtx480", &bench->diags));
  assert_true(spec_set(&bench->spec, "sm.count", "4", NULL, 0, &bench->diags));
  bench->program.text = text;
  bench->program.host = host;
  bench->program.grid = WORDS / BLOCK;
  bench->program.block = BLOCK;
  bench->program.words = WORDS;
  bench->timeline = timeline_new(bench->arena);
  HookChain chain = {.hooks = {timeline_hook(bench->timeline)}, .count = 1};
  bench->target = test_target(&bench->program, &bench->spec);
  bool good = bench->target.start(&bench->target, &chain, &bench->diags) && bench->target.run(&bench->target);
  if (!good) test_fail(&bench->diags, "the machine with time");
  bench->target.finish(&bench->target);
  bench->functional = bench->spec;
  bench->functional.machine_model = MODEL_FUNCTIONAL;
  bench->launcher = (Launcher){.context = bench, .launch = on_launch, .host_reads = ignore, .host_wrote = ignore};
  bench->target = test_target(&bench->program, &bench->functional);
  bench->target.launcher = &bench->launcher;
  good = bench->target.start(&bench->target, NULL, &bench->diags) && bench->target.run(&bench->target);
  if (!good) test_fail(&bench->diags, "the functional machine");
  bench->target.finish(&bench->target);
  words_free(&bench->words);
  diags_free(&bench->diags);
  arena_free(bench->arena);
}

// ---- Strikes ---------------------------------------------------------------------------------------

typedef enum Part { DATA, ADDRESS_LOW, ADDRESS_HIGH } Part;

typedef struct Blow {
  uint32_t block, warp, access, lane, bit;
  Part part;
} Blow;

// A bit of a register that an access reads.
static RerunFlip flip_at(const Bench *bench, const Blow *strike) {
  const Launch *launch = bench->launch;
  MomentKey key = {(uint32_t)launch->number, strike->block, strike->warp};
  Moment moment;
  assert_true(timeline_moment(bench->timeline, &key, strike->access, &moment));
  uint32_t pc = launch->kernel->entry, left = strike->access;
  for (;; pc++) {
    assert_true(pc < launch->kernel->end);
    Kind kind = op_info[launch->program->decoded[pc].op].kind;
    if ((kind == KIND_LOAD || kind == KIND_STORE) && left-- == 0) break;
  }
  const Instr *instr = &launch->program->decoded[pc];
  RerunFlip flip = {.warp = strike->warp, .before = moment.issue, .pc = pc};
  flip.row = strike->part == DATA ? instr->d[0] : strike->part == ADDRESS_LOW ? instr->a : instr->a + 1u;
  flip.change[strike->lane] = 1u << strike->bit;
  return flip;
}

static CourseResult strike(Bench *bench, Course *course, const Blow *at, WordList *words) {
  RerunFlip flip = flip_at(bench, at);
  return course_strike(course, at->block, &flip, ENOUGH, words);
}

static uint32_t word_now(const Bench *bench, uint32_t buffer, uint32_t index) {
  uint32_t value;
  memcpy(&value, memory_at(device_memory(bench->program.device), bench->program.buffers[buffer] + 4 * index, 4), 4);
  return value;
}

static void assert_word(const Bench *bench, const WordList *words, uint32_t buffer, uint32_t index, uint32_t value) {
  for (uint32_t i = 0; i < words->count; i++) {
    if (words->items[i].address != bench->program.buffers[buffer] + 4 * index) continue;
    assert_int_equal(words->items[i].value, value);
    return;
  }
  fail_msg("word %u of buffer %u is not among the %u that differ", index, buffer, words->count);
}

static const Blow data_of_35 = {.block = 2, .warp = 1, .access = 1, .lane = 3, .bit = 4, .part = DATA};
enum { STRUCK = 2 * BLOCK + 32 + 3 }; // its word

static bool host_once(TestProgram *program) { return test_launch(program, "triple", 0, 1, 2); }

static void each_data(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  CourseResult result = strike(bench, course, &data_of_35, &words);
  assert_true(result.end == RERUN_ENDED && result.same_flow && result.extra == 0);
  assert_int_equal(words.count, 1);
  assert_word(bench, &words, 1, STRUCK, word_now(bench, 1, STRUCK) ^ 16);
  words_free(&words);
  Blow loaded = data_of_35; // the address of the load: another lane's number
  loaded.access = 0, loaded.part = ADDRESS_LOW, loaded.bit = 2;
  result = strike(bench, course, &loaded, &words);
  assert_true(result.end == RERUN_ENDED && !result.same_flow);
  assert_int_equal(result.extra, 1); // an access elsewhere
  assert_int_equal(words.count, 1);
  assert_word(bench, &words, 1, STRUCK, 3 * word_now(bench, 0, STRUCK ^ 1));
  words_free(&words);
}

static void each_address(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  Blow high = data_of_35, odd = data_of_35;
  (void)launch;
  high.part = ADDRESS_HIGH, high.bit = 3;
  assert_int_equal(strike(bench, course, &high, &words).end, RERUN_TRAPPED);
  assert_int_equal(course_trap(course)->kind, TRAP_ILLEGAL_ADDRESS);
  assert_int_equal(course_trap(course)->thread[0], 35);
  odd.part = ADDRESS_LOW, odd.bit = 0;
  assert_int_equal(strike(bench, course, &odd, &words).end, RERUN_TRAPPED);
  assert_int_equal(course_trap(course)->kind, TRAP_MISALIGNED);
  odd.bit = 2; // the next lane's word, of the same block: the later lane wins, and the struck lane's own is missing
  CourseResult result = strike(bench, course, &odd, &words);
  assert_true(result.end == RERUN_ENDED && !result.same_flow);
  assert_word(bench, &words, 1, STRUCK, 0);
  words_free(&words);
}

static void test_data(void **state) {
  (void)state;
  Bench bench = {.each = each_data};
  bench_run(&bench, ptx, host_once);
}

static void test_address(void **state) {
  (void)state;
  Bench bench = {.each = each_address};
  bench_run(&bench, ptx, host_once);
  bench = (Bench){.each = each_address, .has_times = true};
  bench_run(&bench, ptx, host_once);
}

// ---- Several launches ------------------------------------------------------------------------------

static bool host_twice(TestProgram *program) { return host_once(program) && test_launch(program, "cross", 1, 2, 0); }
static bool host_clears(TestProgram *program) { return host_once(program) && test_launch(program, "clear", 0, 1, 2); }
static bool host_clears_part(TestProgram *program) { return host_once(program) && test_launch(program, "part", 0, 1, 2); }

static void each_twice(Bench *bench, Course *course, const Launch *launch) {
  if (launch->number == 1) {
    assert_int_equal(strike(bench, course, &data_of_35, &bench->words).end, RERUN_ENDED);
    return;
  }
  CourseResult result = course_go_on(course, &bench->words, ENOUGH, true);
  assert_true(result.end == RERUN_ENDED && result.same_flow);
  assert_int_equal(bench->words.count, 2);
  assert_word(bench, &bench->words, 1, STRUCK, word_now(bench, 1, STRUCK) ^ 16);
  assert_word(bench, &bench->words, 2, STRUCK ^ 64, (word_now(bench, 1, STRUCK) ^ 16) + 1);
}

static void each_cleared(Bench *bench, Course *course, const Launch *launch) {
  if (launch->number == 1) {
    assert_int_equal(strike(bench, course, &data_of_35, &bench->words).end, RERUN_ENDED);
    return;
  }
  assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_ENDED);
  assert_int_equal(bench->words.count, 0);
}

static void each_partly_cleared(Bench *bench, Course *course, const Launch *launch) {
  if (launch->number == 1) assert_int_equal(strike(bench, course, &data_of_35, &bench->words).end, RERUN_ENDED);
  else assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_UNKNOWN);
}

static bool host_overtaken(TestProgram *program) { return host_once(program) && test_launch(program, "overtaken", 1, 1, 2); }

// A word that is wrong at the beginning and is overwritten at the end has been read by then.
static void each_overtaken(Bench *bench, Course *course, const Launch *launch) {
  if (launch->number == 1) {
    Blow at = {.block = 3, .warp = 0, .access = 1, .lane = 3, .bit = 4, .part = DATA};
    assert_int_equal(strike(bench, course, &at, &bench->words).end, RERUN_ENDED);
    assert_int_equal(bench->words.count, 1);
    return;
  }
  uint32_t wrong = 3 * word_now(bench, 0, 3 * BLOCK + 3) ^ 16;
  assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_ENDED);
  assert_int_equal(bench->words.count, 3);
  for (uint32_t block = 0; block < 3; block++) assert_word(bench, &bench->words, 1, block * BLOCK + 3, wrong);
}

static void test_launches(void **state) {
  (void)state;
  Bench bench = {.each = each_twice};
  bench_run(&bench, ptx, host_twice);
  assert_int_equal(bench.launches, 2);
  bench = (Bench){.each = each_cleared};
  bench_run(&bench, ptx, host_clears);
  bench = (Bench){.each = each_partly_cleared};
  bench_run(&bench, ptx, host_clears_part);
  bench = (Bench){.each = each_overtaken, .has_times = true};
  bench_run(&bench, overtaken_ptx, host_overtaken);
}

// ---- Blocks that meet ------------------------------------------------------------------------------

// Thread 64, the first of block 1, writes to thread 0's word instead of its own.
static CourseResult strike_into_0(Bench *bench, Course *course, WordList *words) {
  RerunFlip flip = flip_at(bench, &(Blow){.block = 1, .warp = 0, .access = 1, .lane = 0, .part = ADDRESS_LOW});
  uint64_t out = bench->program.buffers[1];
  flip.change[0] = (uint32_t)(out ^ (out + 64 * sizeof(uint32_t)));
  return course_strike(course, 1, &flip, ENOUGH, words);
}

static void each_unknown(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_0(bench, course, &words).end, RERUN_UNKNOWN);
  words_free(&words);
}

static void each_later_wins(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_0(bench, course, &words).end, RERUN_ENDED);
  assert_int_equal(words.count, 2);
  assert_word(bench, &words, 1, 0, word_now(bench, 0, 64));
  assert_word(bench, &words, 1, 64, 0);
  words_free(&words);
}

static void each_earlier_loses(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_0(bench, course, &words).end, RERUN_ENDED);
  assert_int_equal(words.count, 1);
  assert_word(bench, &words, 1, 64, 0);
  words_free(&words);
}

// Who writes thread 0's word last is left open: each of both blocks stores to its line once.
static void each_open(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_0(bench, course, &words).end, RERUN_ENDED);
  assert_int_equal(words.count, 1);
  assert_word(bench, &words, 1, 64, 0);
  assert_int_equal(course_open(course)->count, 1);
  const OpenWord *open = &course_open(course)->items[0];
  assert_int_equal(open->address, bench->program.buffers[1]);
  assert_int_equal(open->stores, 2);
  assert_int_equal(open->own_stores, 1);
  assert_int_equal(strike(bench, course, &data_of_35, &words).end, RERUN_ENDED);
  assert_int_equal(course_open(course)->count, 0);
  words_free(&words);
}

// Thread 64, of warp 0, writes to the word of thread 96, of warp 1.
static CourseResult strike_into_96(Bench *bench, Course *course, WordList *words) {
  RerunFlip flip = flip_at(bench, &(Blow){.block = 1, .warp = 0, .access = 1, .lane = 0, .part = ADDRESS_LOW});
  uint64_t out = bench->program.buffers[1];
  flip.change[0] = (uint32_t)((out + 96 * sizeof(uint32_t)) ^ (out + 64 * sizeof(uint32_t)));
  return course_strike(course, 1, &flip, ENOUGH, words);
}

static void each_same(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_96(bench, course, &words).end, RERUN_ENDED);
  assert_int_equal(words.count, 1);
  assert_word(bench, &words, 1, 64, 0);
  words_free(&words);
}

static void each_different(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  (void)launch;
  assert_int_equal(strike_into_96(bench, course, &words).end, RERUN_UNKNOWN);
  words_free(&words);
}

static void test_open(void **state) {
  (void)state;
  Bench bench = {.each = each_open, .has_times = true, .may_be_open = true};
  bench_run(&bench, ptx, host_once);
  bench = (Bench){.each = each_open, .may_be_open = true};
  bench_run(&bench, late_ptx, host_once);
}

// A lane of warp 0 stores to a word of warp 1 in shared memory. That is in the same bank: the time is as it was, and with it the order.
static void each_same_bank(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  Blow at = {.block = 1, .warp = 0, .access = 1, .lane = 5, .bit = 7, .part = ADDRESS_LOW};
  (void)launch;
  CourseResult result = strike(bench, course, &at, &words);
  assert_true(result.end == RERUN_ENDED && result.same_flow && result.extra == 0);
  words_free(&words);
}

// The lane's own word, and that of a lane whose bank it now needs, too.
static void each_other_bank(Bench *bench, Course *course, const Launch *launch) {
  WordList words = {0};
  Blow at = {.block = 1, .warp = 0, .access = 1, .lane = 5, .bit = 2, .part = ADDRESS_LOW};
  (void)launch;
  CourseResult result = strike(bench, course, &at, &words);
  assert_true(result.end == RERUN_ENDED && result.same_flow); // the same word is no conflict
  words_free(&words);
  RerunFlip flip = flip_at(bench, &at);
  flip.change[5] = 4 | 128; // another word of that bank
  result = course_strike(course, 1, &flip, ENOUGH, &words);
  assert_false(result.end == RERUN_ENDED && result.same_flow);
  words_free(&words);
}

static void test_banks(void **state) {
  (void)state;
  Bench bench = {.each = each_same_bank, .has_times = true};
  bench_run(&bench, shared_ptx, host_once);
  bench = (Bench){.each = each_other_bank, .has_times = true};
  bench_run(&bench, shared_ptx, host_once);
}

static void test_same(void **state) {
  (void)state;
  Bench bench = {.each = each_same};
  bench_run(&bench, same_ptx, host_once);
  bench = (Bench){.each = each_different};
  bench_run(&bench, ptx, host_once);
}

// Thread 64 reads what thread 0 writes: as it was, or as it will be.
static uint32_t read_of_0(Bench *bench, Course *course) {
  RerunFlip flip = flip_at(bench, &(Blow){.block = 1, .warp = 0, .access = 0, .lane = 0, .part = ADDRESS_LOW});
  WordList words = {0};
  flip.change[0] = (uint32_t)(bench->program.buffers[1] ^ (bench->program.buffers[0] + 64 * sizeof(uint32_t)));
  CourseResult result = course_strike(course, 1, &flip, ENOUGH, &words);
  assert_int_equal(result.end, RERUN_ENDED);
  assert_int_equal(words.count, 1);
  assert_int_equal(words.items[0].address, bench->program.buffers[1] + 64 * sizeof(uint32_t));
  uint32_t value = words.items[0].value;
  words_free(&words);
  return value;
}

static void each_reads_old(Bench *bench, Course *course, const Launch *launch) {
  (void)launch;
  assert_int_equal(read_of_0(bench, course), 0);
}

static void each_reads_new(Bench *bench, Course *course, const Launch *launch) {
  (void)launch;
  assert_int_not_equal(word_now(bench, 1, 0), 0);
  assert_int_equal(read_of_0(bench, course), word_now(bench, 1, 0));
}

static void each_read_unknown(Bench *bench, Course *course, const Launch *launch) {
  (void)launch;
  RerunFlip flip = flip_at(bench, &(Blow){.block = 1, .warp = 0, .access = 0, .lane = 0, .part = ADDRESS_LOW});
  WordList words = {0};
  flip.change[0] = (uint32_t)(bench->program.buffers[1] ^ (bench->program.buffers[0] + 64 * sizeof(uint32_t)));
  assert_int_equal(course_strike(course, 1, &flip, ENOUGH, &words).end, RERUN_UNKNOWN);
  words_free(&words);
}

static void test_reading(void **state) {
  (void)state;
  Bench bench = {.each = each_reads_old, .has_times = true};
  bench_run(&bench, early_ptx, host_once);
  bench = (Bench){.each = each_reads_new, .has_times = true};
  bench_run(&bench, late_load_ptx, host_once);
  bench = (Bench){.each = each_read_unknown, .has_times = true}; // at about the same time
  bench_run(&bench, ptx, host_once);
  bench = (Bench){.each = each_read_unknown};
  bench_run(&bench, late_load_ptx, host_once);
}

// A store of which one lane traps, after another has written to a word that is not its own: that word is put back, too.
static void each_trapped_store(Bench *bench, Course *course, const Launch *launch) {
  RerunFlip flip = flip_at(bench, &(Blow){.block = 1, .warp = 0, .access = 1, .lane = 9, .bit = 0, .part = ADDRESS_LOW});
  uint64_t out = bench->program.buffers[1], into = bench->program.buffers[3];
  WordList words = {0};
  (void)launch;
  flip.change[0] = (uint32_t)(into ^ (out + 64 * sizeof(uint32_t)));
  assert_int_equal(course_strike(course, 1, &flip, ENOUGH, &words).end, RERUN_TRAPPED);
  words_free(&words);
}

static void test_trapped_store(void **state) {
  (void)state;
  Bench bench = {.each = each_trapped_store};
  bench_run(&bench, ptx, host_once);
}

static void test_meeting(void **state) {
  (void)state;
  Bench bench = {.each = each_unknown}; // nothing is known of time
  bench_run(&bench, late_ptx, host_once);
  bench = (Bench){.each = each_unknown, .has_times = true}; // both at about the same time
  bench_run(&bench, ptx, host_once);
  bench = (Bench){.each = each_later_wins, .has_times = true};
  bench_run(&bench, late_ptx, host_once);
  bench = (Bench){.each = each_earlier_loses, .has_times = true};
  bench_run(&bench, early_ptx, host_once);
}

// ---- What cannot be told ---------------------------------------------------------------------------

static void each_lost(Bench *bench, Course *course, const Launch *launch) {
  (void)launch;
  assert_int_equal(strike(bench, course, &data_of_35, &bench->words).end, RERUN_UNKNOWN);
  words_add(&bench->words, bench->program.buffers[0], 5);
  assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_UNKNOWN);
}

static bool host_clock(TestProgram *program) { return test_launch(program, "clock", 0, 1, 2); }

static void test_lost(void **state) {
  (void)state;
  Bench bench = {.each = each_lost};
  bench_run(&bench, ptx, host_clock);
  bench = (Bench){.each = each_lost, .program = {.cooperative = true}};
  bench_run(&bench, ptx, host_once);
}

static bool host_constant(TestProgram *program) { return test_launch(program, "constant", 0, 1, 2); }

static void each_constant(Bench *bench, Course *course, const Launch *launch) {
  DeviceAddress address;
  uint64_t bytes;
  (void)launch;
  assert_true(module_symbol(bench->program.module, "table", &address, &bytes));
  words_add(&bench->words, bench->program.buffers[0], 5); // which the kernel does not read
  assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_ENDED);
  assert_int_equal(bench->words.count, 1);
  words_add(&bench->words, address, 5);
  assert_int_equal(course_go_on(course, &bench->words, ENOUGH, true).end, RERUN_UNKNOWN);
}

static void test_constants(void **state) {
  (void)state;
  Bench bench = {.each = each_constant};
  bench_run(&bench, ptx, host_constant);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data),    cmocka_unit_test(test_address),   cmocka_unit_test(test_launches),
      cmocka_unit_test(test_meeting), cmocka_unit_test(test_reading),   cmocka_unit_test(test_trapped_store),
      cmocka_unit_test(test_lost),    cmocka_unit_test(test_constants), cmocka_unit_test(test_open),
      cmocka_unit_test(test_same),    cmocka_unit_test(test_banks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
