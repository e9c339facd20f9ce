// Mirrors: an SM that is fenced off, loads that one reply answers on two SMs, what mirrors see of their own stores, loads that cost nothing.
#include "device/test_actions.h"

enum { WORDS = 64, THREADS = 16 }; // half a warp: one request

// ---- The fence -------------------------------------------------------------------------------------------

static Verdict fence_odd(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Toy *toy = hook->own;
  (void)event;
  for (uint32_t sm = 1; sm < TOY_SMS && toy->sends; sm += 2)
    assert_true(machine->act(machine, &(Action){.kind = ACTION_FENCE, .sm = sm, .on = true}));
  hook_wake(hook, machine, machine->cycle + 1);
  return VERDICT_PASS;
}

// The cells that say which blocks are mirrors are broken: they say that none is.
static bool hold_mirrors(Toy *toy, HookMachine *machine) {
  const Region *region = &machine->regions->items[region_find(machine->regions, "action.mirrors")];
  (void)toy;
  for (uint32_t sm = 0; sm < TOY_SMS; sm++) memset(machine->block + region->base + sm * region->row_bytes, 0, sizeof(uint64_t));
  return true;
}

static void a_fence_holds_when_a_cell_does_not(void **state) {
  (void)state;
  Arena *arena = arena_new();
  uint64_t wrong[2] = {0};
  for (uint32_t i = 0; i < workload_count; i += 3) {
    Spec spec;
    toy_spec(&spec, arena, "tesla-hints");
    ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL);
    for (uint32_t fenced = 0; fenced < 2; fenced++) {
      Toy toy = {.every = 1, .act = hold_mirrors, .sends = fenced == 1};
      toy_open(&toy, ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_FENCE));
      toy.hook.next_cycle = UINT64_MAX;
      toy.hook.block = toy_mirror_odd;
      toy.hook.launch = fence_odd;
      ToyResult result = toy_run(workloads[i], &spec, &toy.hook, NULL, NULL);
      wrong[fenced] += result.trap != TRAP_NONE || result.output_hash != plain.output_hash || result.blocks != plain.blocks;
    }
  }
  assert_int_equal(wrong[1], 0);
  assert_true(wrong[0] > workload_count / 6); // without it, blocks count twice
  arena_free(arena);
}

// A block that is no mirror keeps the fence open: the launch would wait for it in vain.
static Verdict fence_late(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  (void)hook;
  if (!event->done && !event->stopped) machine->act(machine, &(Action){.kind = ACTION_FENCE, .sm = event->who->sm, .on = true});
  return VERDICT_PASS;
}

static void only_an_sm_without_blocks_is_fenced(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "fermi-gtx480");
  Toy toy = {0};
  toy_open(&toy, ACTION_BIT(ACTION_FENCE));
  toy.hook.block = fence_late;
  const Workload *workload = workload_find("vecadd");
  ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL), result = toy_run(workload, &spec, &toy.hook, NULL, NULL);
  assert_int_equal(result.trap, TRAP_NONE);
  assert_int_equal(result.output_hash, plain.output_hash);
  assert_int_equal(toy.done[ACTION_FENCE], 0);
  assert_true(toy.left_out[ACTION_FENCE] > 0);
  arena_free(arena);
}

// ---- One reply for two SMs ---------------------------------------------------------------------------------

// One load of a line by each thread; in the second program the warp has written the line itself before.
static const char head[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry kernel(.param .u64 out) {\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n";
static const char loads[] = "ld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd1+128], %r2;\nret;\n}\n";
static const char stores_first[] = "add.u32 %r3, %r1, 100;\nst.global.u32 [%rd1], %r3;\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\n"
                                   "st.global.u32 [%rd1+128], %r2;\nret;\n}\n";
static const char loads_volatile[] = "ld.volatile.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%rd1+128], %r2;\nret;\n}\n";
static const char *const bodies[] = {loads, stores_first, loads_volatile};

typedef struct Watch {
  uint64_t until;                 // SM 0 issues nothing before
  uint64_t asked[2], answered[2]; // cycles of the load's request and response, by SM; 0: none
} Watch;

static Verdict start_late(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  const Watch *watch = hook->own;
  return event->who->sm == 0 && machine->cycle < watch->until ? VERDICT_STALL : VERDICT_PASS;
}

static Verdict see_request(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Watch *watch = hook->own;
  if (event->who->client != CLIENT_LOAD || event->who->sm > 1) return VERDICT_PASS;
  watch->asked[event->who->sm] = machine->cycle;
  if (event->join != NULL) *event->join = event->who->sm ^ 1;
  return VERDICT_PASS;
}

static Verdict see_response(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Watch *watch = hook->own;
  if (event->who->client == CLIENT_LOAD && event->who->sm <= 1) watch->answered[event->who->sm] = machine->cycle;
  return VERDICT_PASS;
}

// Runs the program with SM 0 held back until that cycle; how many of its loads another reply has answered.
static uint64_t run_late(const Spec *spec, uint32_t body, uint16_t free_cycles, uint64_t until, Watch *watch) {
  char text[2000];
  *watch = (Watch){.until = until};
  Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .own = watch, .actions = ACTION_BIT(ACTION_MIRROR), .next_cycle = UINT64_MAX};
  hook.block = toy_mirror_odd;
  hook.issue = start_late;
  hook.request = see_request;
  hook.response = see_response;
  hook.mirrors.free_cycles = free_cycles;
  ToyProgram program;
  snprintf(text, sizeof text, "%s%s", head, bodies[body]);
  toy_program_open(&program, spec, &hook, text, 4 * WORDS);
  uint32_t before[WORDS], after[WORDS];
  for (uint32_t i = 0; i < WORDS; i++) before[i] = 1000 + i;
  assert_true(device_write(program.device, program.out, before, sizeof before));
  const void *arguments[] = {&program.out};
  assert_true(toy_program_launch(&program, 1, THREADS, arguments, 1));
  assert_true(device_read(program.device, after, program.out, sizeof after));
  for (uint32_t i = 0; i < THREADS; i++) assert_int_equal(after[32 + i], body == 1 ? 101 + i : 1001 + i);
  uint64_t shared = device_launch_record(program.device, 0)->stats.value[STAT_SHARED_REPLIES];
  device_free(program.device);
  return shared;
}

static void a_load_joins_while_the_mirror_s_is_under_way(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "tesla-hints");
  Watch watch;
  uint64_t last_joined = 0, first_alone = UINT64_MAX, answered = 0, joined = 0;
  run_late(&spec, 0, 0, 100000, &watch);
  uint64_t begins = watch.asked[1], ends = watch.answered[1]; // of the mirror's load
  assert_true(begins > 0 && ends > begins + 100);
  for (uint64_t until = begins; until < ends + 40; until += until < ends - 110 || until > ends - 60 ? 29 : 1) {
    if (run_late(&spec, 0, 0, until, &watch) == 1) {
      last_joined = max_u64(last_joined, watch.asked[0]);
      answered = watch.answered[0];
      assert_int_equal(watch.answered[1], ends);
      assert_true(answered == ends || answered + 1 == ends); // when the network has it, and the mirror a cycle later at most
      joined++;
    } else if (watch.asked[0] > begins + 60) {
      first_alone = min_u64(first_alone, watch.asked[0]);
      assert_true(watch.answered[0] > ends + 100); // its own request takes its time
    }
  }
  assert_true(joined > 10);
  assert_true(first_alone >= answered); // until the very cycle
  assert_true(last_joined < answered && first_alone - last_joined <= 8);
  for (uint64_t until = begins; until < ends; until += 29) { // what is stale, and what must see memory, is not joined
    assert_int_equal(run_late(&spec, 1, 0, until, &watch), 0);
    assert_int_equal(run_late(&spec, 2, 0, until, &watch), 0);
  }
  arena_free(arena);
}

// ---- What a mirror sees of its own stores --------------------------------------------------------------------

// Traps where a thread does not read back what it has stored: whole, after a later store, in part, as an atomic, after an atomic.
static const char reads_back[] =
    ".reg .pred %p<2>;\nadd.u32 %r2, %r1, 77;\nst.global.u32 [%rd1], %r2;\n"
    "ld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1], 5;\n"
    "setp.ne.u32 %p1, %r3, %r2;\n@%p1 trap;\n"
    "st.global.u8 [%rd1+1], 3;\nld.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, 773;\n@%p1 trap;\n"
    "st.global.u16 [%rd1+256], 9;\nld.global.u32 %r3, [%rd1+256];\nsetp.ne.u32 %p1, %r3, 9;\n@%p1 trap;\n" // its upper half is memory's: 0
    "atom.global.add.u32 %r3, [%rd1], 10;\nsetp.ne.u32 %p1, %r3, 773;\n@%p1 trap;\n"
    "ld.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, 783;\n@%p1 trap;\n"
    "atom.global.cas.b32 %r3, [%rd1], 783, 4;\nld.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p1, %r3, 4;\n@%p1 trap;\nret;\n}\n";
// Three lines are written, then read back.
static const char three_lines[] =
    ".reg .pred %p<2>;\nst.global.u32 [%rd1], 1;\nst.global.u32 [%rd1+128], 2;\nst.global.u32 [%rd1+256], 3;\n"
    "ld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p1, %r2, 1;\n@%p1 trap;\n"
    "ld.global.u32 %r2, [%rd1+128];\nsetp.ne.u32 %p1, %r2, 2;\n@%p1 trap;\n"
    "ld.global.u32 %r2, [%rd1+256];\nsetp.ne.u32 %p1, %r2, 3;\n@%p1 trap;\nret;\n}\n";

// The block waits until its mirror has ended, so that memory has nothing of its stores.
static Verdict wait_long(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  (void)hook;
  return event->who->sm % 2 == 0 && machine->cycle < 20000 ? VERDICT_STALL : VERDICT_PASS;
}

static uint64_t mirror_traps(const Spec *spec, const char *body, uint16_t lines) {
  char text[3000];
  Toy toy = {0};
  toy_open(&toy, ACTION_BIT(ACTION_MIRROR));
  toy.hook.block = toy_mirror_odd;
  toy.hook.issue = wait_long;
  toy.hook.mirrors.lines = lines;
  ToyProgram program;
  snprintf(text, sizeof text, "%s%s", head, body);
  toy_program_open(&program, spec, &toy.hook, text, 1024);
  const void *arguments[] = {&program.out};
  assert_true(toy_program_launch(&program, 1, 32, arguments, 1)); // the block itself never traps
  device_free(program.device);
  return toy.traps;
}

static void mirrors_read_back_what_they_keep(void **state) {
  (void)state;
  static const char *const kinds[] = {"tesla-hints", "fermi-gtx480", "turing-rtx2060"};
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(kinds); i++) {
    Spec spec;
    toy_spec(&spec, arena, kinds[i]);
    assert_int_equal(mirror_traps(&spec, reads_back, 0), 1);
    assert_int_equal(mirror_traps(&spec, reads_back, 8), 0);
    assert_int_equal(mirror_traps(&spec, three_lines, 2), 1);
    assert_int_equal(mirror_traps(&spec, three_lines, 3), 0);
  }
  arena_free(arena);
}

// ---- Loads that cost nothing ---------------------------------------------------------------------------------

static void free_loads_take_their_cycles_and_nothing_else(void **state) {
  (void)state;
  static const uint16_t cycles[] = {1, 2, 10, 11, 700};
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "tesla-hints");
  Watch watch;
  for (uint32_t i = 0; i < COUNT_OF(cycles); i++) {
    run_late(&spec, 0, cycles[i], 4000, &watch); // the block comes later
    assert_int_equal(watch.answered[1] - watch.asked[1], cycles[i]);
  }
  for (uint32_t i = 0; i < workload_count; i += 3) {
    Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .actions = ACTION_BIT(ACTION_MIRROR), .next_cycle = UINT64_MAX};
    hook.block = toy_mirror_odd;
    hook.mirrors = (MirrorWay){.lines = 4, .free_cycles = (uint16_t)(1 + i)};
    ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL), result = toy_run(workloads[i], &spec, &hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
  }
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fence_holds_when_a_cell_does_not),
      cmocka_unit_test(only_an_sm_without_blocks_is_fenced),
      cmocka_unit_test(a_load_joins_while_the_mirror_s_is_under_way),
      cmocka_unit_test(mirrors_read_back_what_they_keep),
      cmocka_unit_test(free_loads_take_their_cycles_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
