// Actions on caches and writes, what mirrors may not do, the queue, and all of it while bits flip.
#include "device/test_actions.h"

// ---- Prefetches ----------------------------------------------------------------------------------------

static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};

static void ask_for(HookMachine *machine, uint32_t sm, ActionCache cache, uint64_t address) {
  Action action = {.kind = ACTION_PREFETCH, .sm = sm, .cache = cache, .address = address};
  machine->act(machine, &action); // a full queue is no error
}

// What follows a request comes too, into the cache that asked and into the L2.
static Verdict prefetch_next(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Who *who = event->who;
  (void)hook;
  if (who->client == CLIENT_CONSTANT) ask_for(machine, who->sm, PREFETCH_CONSTANT, event->address + 128);
  if (who->client == CLIENT_TEXTURE) ask_for(machine, who->sm, PREFETCH_TEXTURE, event->address + 128);
  if (who->client == CLIENT_LOAD) ask_for(machine, who->sm, PREFETCH_DATA, event->address + 128);
  if (who->client == CLIENT_LOAD) ask_for(machine, who->sm, PREFETCH_L2, event->address + 256);
  return VERDICT_PASS;
}

static Verdict prefetch_code(Hook *hook, HookMachine *machine, FetchEvent *event) {
  (void)hook;
  ask_for(machine, event->who->sm, PREFETCH_INSTRUCTION, action_code_address(event->who->pc + 8));
  return VERDICT_PASS;
}

static void prefetches_change_no_result(void **state) {
  (void)state;
  Arena *arena = arena_new();
  uint64_t seen[3] = {0}, faster = 0;
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    Spec spec;
    toy_spec(&spec, arena, machines[i / TEST_STEP % COUNT_OF(machines)]);
    Toy toy = {0};
    toy_open(&toy, ACTION_BIT(ACTION_PREFETCH));
    toy.hook.request = prefetch_next;
    toy.hook.fetch = prefetch_code;
    toy.hook.prefetch = toy_prefetch;
    ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL), result = toy_run(workloads[i], &spec, &toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    // What came was used or went: the end of a launch empties all caches.
    assert_int_equal(toy.prefetched[PREFETCH_FILLED], toy.prefetched[PREFETCH_USED] + toy.prefetched[PREFETCH_EVICTED]);
    assert_true(toy.prefetched[PREFETCH_FILLED] <= toy.done[ACTION_PREFETCH]);
    for (uint32_t k = 0; k < 3; k++) seen[k] += toy.prefetched[k];
    faster += result.cycles < plain.cycles;
  }
  print_message("%lu lines were prefetched, %lu used, %lu not; %lu of %u programs became faster\n", seen[0], seen[1], seen[2], faster,
                workload_count);
  assert_true(seen[PREFETCH_USED] > 100 / TEST_STEP && seen[PREFETCH_EVICTED] > 100 / TEST_STEP);
  assert_true(faster > workload_count / 4 / TEST_STEP);
  arena_free(arena);
}

// Of one cache, or of what mirrors bring.
typedef struct Lines {
  uint64_t told[2][3]; // prefetched and brought by mirrors, by PrefetchStage
} Lines;

static Verdict note_lines(Hook *hook, HookMachine *machine, const PrefetchEvent *event) {
  Lines *lines = hook->own;
  (void)machine;
  if (event->cache == PREFETCH_DATA || event->mirror) lines->told[event->mirror][event->stage]++;
  if (event->mirror) assert_true(event->cache == PREFETCH_L2 && event->who->sm % 2 == 1 && event->who->client == CLIENT_LOAD);
  return VERDICT_PASS;
}

// Without an L1, loads that come while the line is under way have it; nobody has it afterwards.
static void without_an_l1_loads_join_a_prefetch(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "tesla-hints");
  Lines lines = {0};
  Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .own = &lines, .actions = ACTION_BIT(ACTION_PREFETCH), .next_cycle = UINT64_MAX};
  hook.request = prefetch_next;
  hook.prefetch = note_lines;
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL), result = toy_run(workloads[i], &spec, &hook, NULL, NULL);
    assert_int_equal(result.output_hash, plain.output_hash);
  }
  const uint64_t *told = lines.told[0];
  assert_int_equal(told[PREFETCH_FILLED], told[PREFETCH_USED] + told[PREFETCH_EVICTED]);
  assert_true(told[PREFETCH_USED] > 100 / TEST_STEP && told[PREFETCH_EVICTED] > 100 / TEST_STEP);
  arena_free(arena);
}

// A line of the L2 that only mirrors have asked for counts as prefetched: it is used when somebody else reads it.
static void lines_that_mirrors_bring_are_told(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, "tesla-hints");
  Lines lines = {0};
  Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .own = &lines, .actions = ACTION_BIT(ACTION_MIRROR), .next_cycle = UINT64_MAX};
  hook.block = toy_mirror_odd;
  hook.prefetch = note_lines;
  for (uint32_t i = 0; i < workload_count; i += 3) assert_int_equal(toy_run(workloads[i], &spec, &hook, NULL, NULL).trap, TRAP_NONE);
  const uint64_t *told = lines.told[1];
  assert_int_equal(told[PREFETCH_FILLED], told[PREFETCH_USED] + told[PREFETCH_EVICTED]);
  assert_true(told[PREFETCH_USED] > 100);
  assert_int_equal(lines.told[0][PREFETCH_FILLED], 0);
  arena_free(arena);
}

// Mirrors on odd SMs want the replies of their even neighbours, and these want the mirrors'.
static Verdict join_neighbour(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Lines *lines = hook->own;
  (void)machine;
  assert_non_null(event->join);
  assert_int_equal(*event->join, WHO_NO_INDEX);
  *event->join = lines->told[0][0]++ % 7 == 6 ? 99 : event->who->sm ^ 1; // 99: there is no such SM
  return VERDICT_PASS;
}

static void mirrors_and_their_neighbours_join_loads(void **state) {
  (void)state;
  static const char *const joining[] = {"tesla-hints", "fermi-gtx480"}; // without an L1, and with
  Arena *arena = arena_new();
  for (uint32_t k = 0; k < COUNT_OF(joining); k++) {
    uint64_t joined = 0, shared = 0;
    for (uint32_t i = k; i < workload_count; i += 2 * TEST_STEP) {
      Spec spec;
      Diags diags = {0};
      toy_spec(&spec, arena, joining[k]);
      assert_true(spec_set(&spec, "sm.per_tpc", "2", NULL, 0, &diags));
      Lines lines = {0};
      Hook hook = {.name = "toy", .kind = HOOK_PROTECTION, .own = &lines, .actions = ACTION_BIT(ACTION_MIRROR), .next_cycle = UINT64_MAX};
      hook.block = toy_mirror_odd;
      hook.request = join_neighbour;
      ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL), result = toy_run(workloads[i], &spec, &hook, NULL, NULL);
      assert_int_equal(result.trap, TRAP_NONE);
      assert_int_equal(result.output_hash, plain.output_hash);
      assert_int_equal(plain.joined_loads + plain.shared_replies, 0);
      joined += result.joined_loads;
      shared += result.shared_replies;
      diags_free(&diags);
    }
    print_message("%s: %lu loads of mirrors joined, %lu of others\n", joining[k], joined, shared);
    assert_true(joined > 20 && shared > 20);
  }
  arena_free(arena);
}

// ---- Programs that misbehave in a mirror -----------------------------------------------------------------

// A thread on an even SM writes 1. On an odd one it does what `way` says.
static const char misbehaves[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);\n"
    ".extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n"
    ".extern .func (.param .b64 pointer) malloc (.param .b64 bytes);\n"
    ".global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
    ".visible .entry kernel(.param .u64 out, .param .u32 way) {\n"
    ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [way];\n"
    "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r2, %r3, %r4, %r2;\n"
    "mul.wide.u32 %rd2, %r2, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %r5, %smid;\nand.b32 %r5, %r5, 1;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra odd;\n"
    "mov.u32 %r7, 0;\nagain:\nadd.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 400;\n@%p3 bra again;\n" // mirrors have time enough
    "st.global.u32 [%rd1], 1;\nret;\n"
    "odd:\n"
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra wild;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra stop;\n"
    "setp.eq.u32 %p1, %r1, 2;\n@%p1 bra crooked;\nsetp.eq.u32 %p1, %r1, 3;\n@%p1 bra dead;\n"
    "setp.eq.u32 %p1, %r1, 4;\n@%p1 bra asserts;\nsetp.eq.u32 %p1, %r1, 5;\n@%p1 bra prints;\n"
    "setp.eq.u32 %p1, %r1, 6;\n@%p1 bra heap;\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 bra endless;\n"
    "st.global.u32 [%rd1], 66;\natom.global.add.u32 %r6, [%rd1], 100;\nmembar.gl;\nst.volatile.global.u32 [%rd1], %r6;\nret;\n"
    "wild:\nmov.u64 %rd3, 64;\nst.global.u32 [%rd3], 1;\nret;\n"
    "stop:\ntrap;\nret;\n"
    "crooked:\nadd.u64 %rd3, %rd1, 1;\nst.global.u32 [%rd3], 1;\nret;\n"
    "dead:\nsetp.lt.u32 %p2, %r2, 32;\n@%p2 bra other;\nbar.sync 0, 128;\nret;\nother:\nbar.sync 1, 128;\nret;\n"
    "asserts:\nmov.u64 %rd4, text;\ncvta.global.u64 %rd4, %rd4;\n{\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param "
    ".b64 e;\n"
    "st.param.b64 [a], %rd4;\nst.param.b64 [b], %rd4;\nst.param.b32 [c], 1;\nst.param.b64 [d], %rd4;\nst.param.b64 [e], 1;\n"
    "call.uni __assertfail, (a, b, c, d, e);\n}\nret;\n"
    "prints:\nmov.u64 %rd4, text;\ncvta.global.u64 %rd4, %rd4;\nmov.u64 %rd5, 0;\n{\n.param .b64 a;\n.param .b64 b;\n.param .b32 s;\n"
    "st.param.b64 [a], %rd4;\nst.param.b64 [b], %rd5;\ncall.uni (s), vprintf, (a, b);\n}\nret;\n"
    "heap:\n{\n.param .b64 n;\n.param .b64 p;\nst.param.b64 [n], 64;\ncall.uni (p), malloc, (n);\nld.param.b64 %rd6, [p];\n}\n"
    "cvt.u32.u64 %r8, %rd6;\nst.global.u32 [%rd1], %r8;\nret;\n"
    "endless:\nbra endless;\n}\n";
enum { WAYS = 9, TRAPPING_WAYS = 5, THREADS = 64, BLOCKS = 6, OUT_BYTES = BLOCKS * THREADS * 4 };

static Verdict mirror_beside(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Toy *toy = hook->own;
  bool starts = !event->done && !event->stopped;
  if (starts && !event->mirror && event->who->sm % 2 == 1) return VERDICT_STALL;
  toy_note_block(toy, event);
  if (!starts || event->mirror) return VERDICT_PASS;
  Action action = {.kind = ACTION_MIRROR, .sm = event->who->sm + 1, .block = event->who->block, .sends = toy->sends};
  machine->act(machine, &action);
  return VERDICT_PASS;
}

static void check_way(const Spec *spec, uint32_t way, bool sends) {
  Toy toy = {.sends = sends};
  ToyProgram program;
  uint32_t got[BLOCKS * THREADS];
  toy_open(&toy, ACTION_BIT(ACTION_MIRROR));
  toy.hook.block = mirror_beside;
  toy_program_open(&program, spec, &toy.hook, misbehaves, OUT_BYTES);
  const void *arguments[] = {&program.out, &way};
  if (!toy_program_launch(&program, BLOCKS, THREADS, arguments, 2)) fail_msg("way %u: %s", way, device_error(program.device));
  assert_true(device_read(program.device, got, program.out, sizeof got));
  for (uint32_t i = 0; i < BLOCKS * THREADS; i++) assert_int_equal(got[i], 1);
  assert_int_equal(program.printed, 0);
  assert_true(toy.mirrors_started > 0);
  bool traps = way < TRAPPING_WAYS;
  if ((toy.traps > 0) != traps || (toy.mirrors_stopped > 0) != traps)
    fail_msg("%s: way %u: %lu traps, %lu stopped", spec->machine, way, toy.traps, toy.mirrors_stopped);
  device_free(program.device);
}

static void mirrors_have_no_effect_outside(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < WAYS * 2 * COUNT_OF(machines); i++) {
    Spec spec;
    toy_spec(&spec, arena, machines[i / 2 / WAYS]);
    spec.limit_instructions = 16000; // those of mirrors do not count
    check_way(&spec, i / 2 % WAYS, i % 2 == 1);
  }
  arena_free(arena);
}

// ---- Writes that are dropped -----------------------------------------------------------------------------

// Each thread adds to the first word until it has found 7 there three times; whoever finds something else traps.
static const char counts[] =
    ".version 6.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out, .param .u32 way) {\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, 0;\n"
    "again:\natom.global.add.u32 %r2, [%rd1], 1;\nsetp.ne.u32 %p1, %r2, 7;\n@%p1 trap;\n"
    "st.global.u32 [%rd1+4], %r1;\nmembar.gl;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 3;\n@%p2 bra again;\nret;\n}\n";

static Verdict drop_all(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Toy *toy = hook->own;
  (void)event;
  for (uint32_t sm = 0; sm < TOY_SMS; sm++) {
    Action action = {.kind = ACTION_DROP, .sm = sm, .on = toy->most == 0};
    assert_true(machine->act(machine, &action));
  }
  return VERDICT_PASS;
}

static void dropped_writes_count_as_answered(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < 2 * COUNT_OF(machines); i++) {
    Spec spec;
    toy_spec(&spec, arena, machines[i / 2]);
    Toy toy = {.most = i % 2}; // 1: the writes take effect
    ToyProgram program;
    toy_open(&toy, ACTION_BIT(ACTION_DROP));
    toy.hook.launch = drop_all;
    toy_program_open(&program, &spec, &toy.hook, counts, OUT_BYTES);
    uint32_t before[2] = {7, 1000}, after[2];
    assert_true(device_write(program.device, program.out, before, sizeof before));
    uint32_t way = 0;
    const void *arguments[] = {&program.out, &way};
    bool good = toy_program_launch(&program, BLOCKS, THREADS, arguments, 2);
    assert_int_equal(good, i % 2 == 0);
    assert_int_equal(toy.done[ACTION_DROP], TOY_SMS);
    assert_true(device_read(program.device, after, program.out, sizeof after));
    if (i % 2 == 0) assert_memory_equal(before, after, sizeof before);
    else assert_int_equal(device_trap(program.device)->kind, TRAP_TRAP);
    device_free(program.device);
  }
  arena_free(arena);
}

// ---- Asking --------------------------------------------------------------------------------------------

static Verdict ask_wrongly(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)hook, (void)event;
  const Action wrong[] = {
      {.kind = ACTION_NONE},
      {.kind = ACTION_KINDS},
      {.kind = ACTION_COPY, .sm = 0}, // not among what it needs
      {.kind = ACTION_ABANDON, .sm = TOY_SMS},
      {.kind = ACTION_ABANDON, .block_slot = 64},
      {.kind = ACTION_PREFETCH, .cache = PREFETCH_CACHES},
      {.kind = ACTION_REDISPATCH, .block = UINT64_C(1) << 32},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) assert_false(machine->act(machine, &wrong[i]));
  Action nothing = {.kind = ACTION_ABANDON, .sm = 1}; // no block is there yet
  for (uint32_t i = 0; i < 16; i++) assert_true(machine->act(machine, &nothing));
  assert_false(machine->act(machine, &nothing)); // full
  nothing.sm = 0;
  assert_true(machine->act(machine, &nothing));
  const Action useless[] = {{.kind = ACTION_REDISPATCH, .block = 0}, // has not run yet
                            {.kind = ACTION_REDISPATCH, .block = 100000},
                            {.kind = ACTION_PREFETCH, .cache = PREFETCH_INSTRUCTION, .address = 64},
                            {.kind = ACTION_PREFETCH, .cache = PREFETCH_CONSTANT, .address = 64}};
  for (size_t i = 0; i < COUNT_OF(useless); i++) assert_true(machine->act(machine, &useless[i]));
  return VERDICT_PASS;
}

static void what_cannot_be_is_left_out(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, machines[0]);
  Toy toy = {0};
  toy_open(&toy, ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH) | ACTION_BIT(ACTION_PREFETCH));
  toy.hook.launch = ask_wrongly;
  const Workload *workload = workload_find("vecadd");
  ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL), result = toy_run(workload, &spec, &toy.hook, NULL, NULL);
  assert_int_equal(result.output_hash, plain.output_hash);
  assert_int_equal(result.cycles, plain.cycles);
  assert_int_equal(toy.left_out[ACTION_ABANDON], 17);
  assert_int_equal(toy.left_out[ACTION_REDISPATCH], 2);
  assert_int_equal(toy.left_out[ACTION_PREFETCH], 2);
  for (uint32_t i = 0; i < ACTION_KINDS; i++) assert_int_equal(toy.done[i], 0);
  arena_free(arena);
}

static void refused(const char *machine, HookClass kind, const char *line) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  assert_true(spec_load(&spec, arena, machine, &diags));
  Hook hook = {.name = "toy", .kind = kind, .actions = ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_COPY), .next_cycle = UINT64_MAX};
  HookChain chain = {0};
  assert_true(hook_chain_add(&chain, &hook));
  DeviceOptions options = {.spec = &spec, .hooks = &chain};
  assert_null(device_new(&options, &diags));
  assert_int_equal(diags.count, 1);
  assert_string_equal(diags.items[0].text, line);
  diags_free(&diags);
  arena_free(arena);
}

static void schemes_that_need_what_is_not_there_are_refused(void **state) {
  (void)state;
  refused("functional", HOOK_PROTECTION, "toy needs a machine that can mirror a block; machine 'functional' cannot");
  refused("flexgrip-thesis", HOOK_PROTECTION, "toy needs a machine that can mirror a block; machine 'flexgrip-thesis' cannot");
  refused("fermi-gtx480", HOOK_OBSERVER, "toy only looks on, so it cannot mirror a block");
}

// ---- Faults --------------------------------------------------------------------------------------------

// Anything that may be asked for, at any time.
static bool act_wildly(Toy *toy, HookMachine *machine) {
  for (uint32_t i = toy_draw(toy, 4); i > 0; i--) {
    Action action = {.kind = (ActionKind)(1 + toy_draw(toy, ACTION_KINDS - 1)),
                     .sm = toy_draw(toy, TOY_SMS),
                     .block_slot = toy_draw(toy, 4),
                     .block = toy_draw(toy, 12),
                     .cache = (ActionCache)toy_draw(toy, PREFETCH_CACHES),
                     .from_sm = toy_draw(toy, TOY_SMS),
                     .from_block_slot = toy_draw(toy, 4),
                     .cycles = toy_draw(toy, 60),
                     .on = toy_draw(toy, 8) == 0,
                     .sends = toy_draw(toy, 2) == 0,
                     .hold = (ActionHold)toy_draw(toy, HOLD_STEPS)};
    action.address =
        action.cache == PREFETCH_INSTRUCTION ? action_code_address(toy_draw(toy, 200)) : GLOBAL_BASE64 + toy_draw(toy, 1 << 16);
    machine->act(machine, &action);
  }
  if (toy->device != NULL && toy_draw(toy, 20) == 0) machine_move(device_machine(*toy->device));
  return toy->draws < toy->most;
}

static Verdict wild_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Action action = {.kind = ACTION_REDISPATCH, .sm = event->who->sm, .block = event->who->block};
  (void)hook;
  if (event->stopped && !event->mirror) machine->act(machine, &action);
  return VERDICT_PASS;
}

static Verdict wild_held(Hook *hook, HookMachine *machine, const HeldEvent *event) {
  Toy *toy = hook->own;
  Action action = {.kind = ACTION_HOLD, .sm = event->who->sm, .block_slot = event->who->block_slot, .hold = HOLD_WRITE};
  if (event->stage == HELD_ENDED && toy_draw(toy, 2) == 0) action.hold = HOLD_SEND;
  if (event->stage != HELD_FULL) machine->act(machine, &action);
  return VERDICT_PASS;
}

typedef struct Striker {
  uint64_t seed, every, strikes, most_cycles, in_actions;
} Striker;

static void strike(Hook *hook, HookMachine *machine) {
  Striker *striker = hook->own;
  const RegionTable *regions = machine->regions;
  uint32_t chosen = (uint32_t)random_below(random_draw(striker->seed, striker->strikes, 1), regions->count);
  const Region *region = &regions->items[chosen];
  hook->next_cycle = machine->cycle + striker->every;
  if (machine->cycle > striker->most_cycles) fail_msg("seed %lu: the machine does not end", striker->seed);
  striker->strikes++;
  if (region_bits(region) == 0 || !region_is_on_chip(region)) return;
  Site site = region_site(regions, (uint16_t)chosen, random_below(random_draw(striker->seed, striker->strikes, 2), region_bits(region)));
  machine->block[site_byte(region, &site)] ^= site_mask(&site);
  striker->in_actions += strncmp(region->title, "actions", 7) == 0;
}

static void any_flip_is_survived(void **state) {
  (void)state;
  static const char *const subjects[] = {"matmul", "bfs", "hybridsort", "reduction", "nqueens", "convolution"};
  Arena *arena = arena_new();
  uint64_t strikes = 0, in_actions = 0, done[ACTION_KINDS] = {0}, ended[TRAP_COUNT] = {0};
  for (uint32_t run = 0; run < 120 / TEST_STEP; run++) {
    Spec spec;
    Device *device = NULL;
    toy_spec(&spec, arena, machines[run % COUNT_OF(machines)]);
    spec.limit_instructions = 100000;
    Striker striker = {.seed = run, .every = 7 + run % 41, .most_cycles = 2000000};
    Hook fault = {.name = "striker", .kind = HOOK_FAULT, .own = &striker, .cycle = strike, .next_cycle = 50};
    Toy toy = {.seed = run, .every = 5 + run % 53, .act = act_wildly, .most = 3000, .device = &device};
    toy_open(&toy, ~0u << 1 & ((1u << ACTION_KINDS) - 1));
    toy.hook.mirrors.lines = 8;
    toy.hook.block = wild_block;
    toy.hook.held = wild_held;
    toy.hook.held_lines = 24;
    ToyResult result = toy_run(workload_find(subjects[run % COUNT_OF(subjects)]), &spec, &toy.hook, run % 8 == 7 ? NULL : &fault, &device);
    strikes += striker.strikes;
    in_actions += striker.in_actions;
    ended[result.trap]++;
    for (uint32_t i = 0; i < ACTION_KINDS; i++) done[i] += toy.done[i];
  }
  for (uint32_t i = 0; i < TRAP_COUNT; i++) {
    if (ended[i] > 0) print_message("%s: %lu\n", trap_info[i].name, ended[i]);
  }
  for (uint32_t i = 1; i < ACTION_KINDS; i++) {
    print_message("%s: %lu\n", action_names[i], done[i]);
    assert_true(done[i] > 50 / TEST_STEP);
  }
  print_message("%lu strikes, %lu in the state of actions\n", strikes, in_actions);
  assert_true(in_actions > 100 / TEST_STEP);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefetches_change_no_result),
      cmocka_unit_test(without_an_l1_loads_join_a_prefetch),
      cmocka_unit_test(lines_that_mirrors_bring_are_told),
      cmocka_unit_test(mirrors_and_their_neighbours_join_loads),
      cmocka_unit_test(mirrors_have_no_effect_outside),
      cmocka_unit_test(dropped_writes_count_as_answered),
      cmocka_unit_test(what_cannot_be_is_left_out),
      cmocka_unit_test(schemes_that_need_what_is_not_there_are_refused),
      cmocka_unit_test(any_flip_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
