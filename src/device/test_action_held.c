// Held stores: the block itself sees them, nobody else does, and they can be thrown away as if the block had not run.
#include "device/test_actions.h"

static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};
enum { ROOM = 1024 };

static const uint32_t needed =
    ACTION_BIT(ACTION_HOLD) | ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH);

static bool starts(const BlockEvent *event) { return !event->done && !event->stopped; }

static void act(HookMachine *machine, const Who *who, ActionKind kind, ActionHold hold) {
  Action action = {.kind = kind, .sm = who->sm, .block_slot = who->block_slot, .block = who->block, .hold = hold};
  assert_true(machine->act(machine, &action));
}

// Atomics cannot be held: of the workloads these have none on global memory.
static bool is_covered(const Workload *workload) { return strcmp(workload->name, "hybridsort") != 0; }

typedef struct Keeper {
  Toy toy;
  ActionHold hold;
  uint64_t ended, sent, full, arrived, bytes, sent_bytes;
  uint8_t runs[1 << 16]; // of each block of the launch
} Keeper;

static void keeper_open(Keeper *keeper, ActionHold hold) {
  memset(keeper, 0, sizeof *keeper);
  toy_open(&keeper->toy, needed);
  keeper->toy.hook.own = keeper;
  keeper->toy.hook.action = NULL;
  keeper->toy.hook.trap = NULL;
  keeper->toy.hook.held_lines = ROOM;
  keeper->hold = hold;
}

static Verdict hold_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Keeper *keeper = hook->own;
  if (starts(event) && !event->mirror) act(machine, event->who, ACTION_HOLD, keeper->hold);
  return VERDICT_PASS;
}

// ---- Kept and written ----------------------------------------------------------------------------------

static Verdict send_then_write(Hook *hook, HookMachine *machine, const HeldEvent *event) {
  Keeper *keeper = hook->own;
  keeper->full += event->stage == HELD_FULL;
  keeper->ended += event->stage == HELD_ENDED;
  keeper->sent += event->stage == HELD_SENT;
  if (event->stage == HELD_ENDED) keeper->bytes += event->bytes;
  if (event->stage == HELD_FULL) return VERDICT_PASS;
  act(machine, event->who, ACTION_HOLD, event->stage == HELD_ENDED ? HOLD_SEND : HOLD_WRITE);
  return VERDICT_PASS;
}

static Verdict count_arrival(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Keeper *keeper = hook->own;
  (void)machine;
  if (event->who->client != CLIENT_STORE) return VERDICT_PASS;
  keeper->arrived++;
  keeper->sent_bytes += event->bytes;
  return VERDICT_PASS;
}

// Every store of every block is held; what is held is sent, and then written.
static void held_stores_change_no_result(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Keeper *keeper = ARENA_NEW(arena, Keeper);
  for (uint32_t i = 0; i < workload_count; i++) {
    const Workload *workload = workloads[i];
    if (!is_covered(workload)) continue;
    Spec spec;
    toy_spec(&spec, arena, machines[i % COUNT_OF(machines)]);
    ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL);
    for (uint32_t way = 0; way < 2; way++) {
      keeper_open(keeper, way == 0 ? HOLD_KEEP : HOLD_WAIT);
      keeper->toy.hook.block = hold_block;
      keeper->toy.hook.held = send_then_write;
      keeper->toy.hook.arrival = count_arrival;
      ToyResult result = toy_run(workload, &spec, &keeper->toy.hook, NULL, NULL);
      assert_int_equal(result.trap, TRAP_NONE);
      assert_int_equal(result.output_hash, plain.output_hash);
      assert_int_equal(result.blocks, plain.blocks);
      if (keeper->full > 0) print_message("%s: %lu stores found no room\n", workload->name, keeper->full);
      if (way == 0 || keeper->full > 0) continue;
      assert_int_equal(keeper->ended, plain.blocks);
      assert_int_equal(keeper->sent, plain.blocks);
      assert_true(keeper->sent_bytes >= 2 * keeper->bytes); // and what is written of local memory
    }
  }
  arena_free(arena);
}

// ---- Thrown away ---------------------------------------------------------------------------------------

static Verdict forget_runs(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Keeper *keeper = hook->own;
  (void)machine, (void)event;
  memset(keeper->runs, 0, sizeof keeper->runs);
  return VERDICT_PASS;
}

static Verdict throw_first_away(Hook *hook, HookMachine *machine, const HeldEvent *event) {
  Keeper *keeper = hook->own;
  uint8_t *runs = &keeper->runs[event->who->block % sizeof keeper->runs];
  if (++*runs > 1) {
    act(machine, event->who, ACTION_HOLD, HOLD_WRITE);
    return VERDICT_PASS;
  }
  keeper->ended++;
  act(machine, event->who, ACTION_ABANDON, HOLD_NONE);
  act(machine, event->who, ACTION_REDISPATCH, HOLD_NONE);
  return VERDICT_PASS;
}

// Every block runs twice, also where it updates memory in place: what the first run has stored was never there.
static void blocks_whose_stores_are_thrown_away_run_again(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Keeper *keeper = ARENA_NEW(arena, Keeper);
  for (uint32_t i = 0; i < workload_count; i++) {
    const Workload *workload = workloads[i];
    if (!is_covered(workload)) continue;
    Spec spec;
    toy_spec(&spec, arena, machines[(i + 1) % COUNT_OF(machines)]);
    ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL);
    keeper_open(keeper, HOLD_WAIT);
    keeper->toy.hook.launch = forget_runs;
    keeper->toy.hook.block = hold_block;
    keeper->toy.hook.held = throw_first_away;
    ToyResult result = toy_run(workload, &spec, &keeper->toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(result.blocks, plain.blocks);
    assert_int_equal(keeper->ended, plain.blocks);
  }
  arena_free(arena);
}

// ---- The block's own view ------------------------------------------------------------------------------

// A thread adds 1 to its word as often as it finds it below 5, through memory each time, by words and by bytes; then it stores what it counted.
static const char in_place[] = ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry kernel(.param .u64 out) {\n"
                               ".reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
                               "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
                               "mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r7, 0;\n"
                               "loop:\nld.global.u32 %r5, [%rd3];\nadd.u32 %r5, %r5, 1;\nst.global.u8 [%rd3], %r5;\nadd.u32 %r7, %r7, 1;\n"
                               "ld.global.u8 %r6, [%rd3];\nsetp.lt.u32 %p1, %r6, 5;\n@%p1 bra loop;\n"
                               "shl.b32 %r8, %r7, 8;\nadd.u32 %r8, %r8, %r6;\nst.global.u32 [%rd3], %r8;\nret;\n}\n";

static Verdict mirror_here(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Keeper *keeper = hook->own;
  if (!starts(event) || event->mirror) return VERDICT_PASS;
  Action action = {.kind = ACTION_MIRROR, .sm = (event->who->sm + 1) % TOY_SMS, .block = event->who->block, .hold = keeper->hold};
  assert_true(machine->act(machine, &action));
  if (keeper->hold != HOLD_NONE) act(machine, event->who, ACTION_HOLD, keeper->hold);
  return VERDICT_PASS;
}

static Verdict see_held(Hook *hook, HookMachine *machine, const HeldEvent *event) {
  Keeper *keeper = hook->own;
  if (event->stage == HELD_FULL) {
    keeper->full++;
    return VERDICT_PASS;
  }
  if (event->mirror && event->stage == HELD_ENDED) {
    act(machine, event->who, ACTION_HOLD, HOLD_SEND);
  } else if (event->mirror) {
    keeper->sent++;
    act(machine, event->who, ACTION_ABANDON, HOLD_NONE);
  } else {
    act(machine, event->who, ACTION_HOLD, HOLD_WRITE);
  }
  return VERDICT_PASS;
}

// The mirror counts to five as the block does, and what it sends is what the block writes.
static Verdict check_arrival(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  Keeper *keeper = hook->own;
  (void)machine;
  for (uint32_t i = 0; event->data != NULL && event->who->client == CLIENT_STORE && i < 32; i++) {
    if ((event->mask[i / 16] >> i % 16 * 4 & 15) != 15) continue;
    assert_int_equal(event->data[i], 0x505);
    keeper->arrived++;
  }
  return VERDICT_PASS;
}

static void blocks_see_what_they_hold(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Keeper *keeper = ARENA_NEW(arena, Keeper);
  for (uint32_t i = 0; i < COUNT_OF(machines); i++) {
    enum { BLOCKS = 8, THREADS = 96, WORDS = BLOCKS * THREADS };
    Spec spec;
    toy_spec(&spec, arena, machines[i]);
    keeper_open(keeper, HOLD_WAIT);
    keeper->toy.hook.block = mirror_here;
    keeper->toy.hook.held = see_held;
    keeper->toy.hook.arrival = check_arrival;
    ToyProgram program;
    uint32_t out[WORDS];
    toy_program_open(&program, &spec, &keeper->toy.hook, in_place, sizeof out);
    assert_true(toy_program_launch(&program, BLOCKS, THREADS, (const void *const[]){&program.out}, 1));
    assert_true(device_read(program.device, out, program.out, sizeof out));
    for (uint32_t k = 0; k < WORDS; k++) assert_int_equal(out[k], 0x505);
    assert_int_equal(keeper->full, 0);
    assert_true(keeper->sent > 0);
    assert_true(keeper->arrived > WORDS);
    device_free(program.device);
  }
  arena_free(arena);
}

// Without room, what cannot be held goes its way if the hook lets it, and waits if not.
static void stores_without_room_are_told(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Keeper *keeper = ARENA_NEW(arena, Keeper);
  enum { THREADS = 512 };
  Spec spec;
  toy_spec(&spec, arena, machines[0]);
  keeper_open(keeper, HOLD_WAIT);
  keeper->toy.hook.held_lines = 8; // a line for each of up to eight blocks, of which this kernel needs sixteen
  keeper->toy.hook.block = hold_block;
  keeper->toy.hook.held = see_held;
  ToyProgram program;
  uint32_t out[THREADS];
  toy_program_open(&program, &spec, &keeper->toy.hook, in_place, sizeof out);
  assert_true(toy_program_launch(&program, 1, THREADS, (const void *const[]){&program.out}, 1));
  assert_true(device_read(program.device, out, program.out, sizeof out));
  for (uint32_t k = 0; k < THREADS; k++) assert_int_equal(out[k], 0x505);
  assert_true(keeper->full > 0);
  device_free(program.device);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(held_stores_change_no_result),
      cmocka_unit_test(blocks_whose_stores_are_thrown_away_run_again),
      cmocka_unit_test(blocks_see_what_they_hold),
      cmocka_unit_test(stores_without_room_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
