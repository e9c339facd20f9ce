// Actions on blocks: mirrors change no result, abandoned blocks run again, copies are equal to what they were copied from.
#include "device/test_actions.h"
#include "protect/protect.h"

static const char *const machines[] = {"fermi-gtx480", "turing-rtx2060", "tesla-hints", "gt200-rise"};

// ---- Mirrors -------------------------------------------------------------------------------------------

static bool is_odd(const Who *who) { return who->sm % 2 == 1; }

// Blocks run on even SMs; each is mirrored on the odd SM beside it.
static Verdict mirror_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Toy *toy = hook->own;
  bool starts = !event->done && !event->stopped;
  if (starts && !event->mirror && is_odd(event->who)) return VERDICT_STALL;
  toy_note_block(toy, event);
  if (!starts || event->mirror) return VERDICT_PASS;
  Action action = {.kind = ACTION_MIRROR, .sm = event->who->sm + 1, .block = event->who->block, .sends = toy->sends};
  assert_true(machine->act(machine, &action));
  return VERDICT_PASS;
}

static void check_mirrors(bool sends, uint32_t step) {
  Arena *arena = arena_new();
  uint64_t mirrored = 0, blocks = 0;
  for (uint32_t i = 0; i < workload_count * COUNT_OF(machines); i += step * TEST_STEP) {
    Spec spec;
    toy_spec(&spec, arena, machines[i % COUNT_OF(machines)]);
    Toy toy = {.sends = sends};
    toy_open(&toy, ACTION_BIT(ACTION_MIRROR));
    toy.hook.block = mirror_block;
    ToyResult plain = toy_run(workloads[i / COUNT_OF(machines)], &spec, NULL, NULL, NULL);
    ToyResult result = toy_run(workloads[i / COUNT_OF(machines)], &spec, &toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(result.blocks, plain.blocks);
    assert_int_equal(toy.started, plain.blocks);
    assert_int_equal(toy.mirrors_started, toy.done[ACTION_MIRROR]);
    assert_true(result.mirror_instructions > 0);
    mirrored += toy.mirrors_started;
    blocks += toy.started;
  }
  assert_true(mirrored > blocks / 2); // some mirrors are still at work when the next block begins, and there is no room for another
  print_message("%lu of %lu blocks were mirrored\n", mirrored, blocks);
  arena_free(arena);
}

static void mirrors_change_no_result(void **state) {
  (void)state;
  check_mirrors(false, 3);
}

static void mirrors_that_send_change_no_result(void **state) {
  (void)state;
  check_mirrors(true, 3);
}

// ---- Abandoned and run again ---------------------------------------------------------------------------

// Kernels that only write what they do not read: a block may run any number of times, in parts too.
static const char *const idempotent[] = {"matmul", "vecadd", "blackscholes", "transpose", "convolution", "scalarprod", "raytrace", "aes"};

static Verdict again_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  toy_note_block(hook->own, event);
  if (!event->stopped) return VERDICT_PASS;
  Action action = {.kind = ACTION_REDISPATCH, .sm = event->who->sm, .block = event->who->block};
  assert_true(machine->act(machine, &action));
  return VERDICT_PASS;
}

// Some block of some SM stops.
static bool abandon_some(Toy *toy, HookMachine *machine) {
  if (toy->done[ACTION_ABANDON] >= toy->most) return false;
  Action action = {.kind = ACTION_ABANDON, .sm = toy_draw(toy, TOY_SMS), .block_slot = toy_draw(toy, 2)};
  assert_true(machine->act(machine, &action));
  return true;
}

static void abandoned_blocks_run_again(void **state) {
  (void)state;
  Arena *arena = arena_new();
  uint64_t abandoned = 0;
  for (uint32_t i = 0; i < COUNT_OF(idempotent) * COUNT_OF(machines); i++) {
    const Workload *workload = workload_find(idempotent[i % COUNT_OF(idempotent)]);
    Spec spec;
    toy_spec(&spec, arena, machines[i / COUNT_OF(idempotent) % COUNT_OF(machines)]);
    Toy toy = {.seed = i, .every = 13 + i % 71, .act = abandon_some, .most = 12};
    toy_open(&toy, ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH));
    toy.hook.block = again_block;
    ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL), result = toy_run(workload, &spec, &toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(result.blocks, plain.blocks);
    assert_int_equal(toy.stopped, toy.done[ACTION_ABANDON]);
    assert_int_equal(toy.started, plain.blocks + toy.stopped);
    assert_int_equal(toy.done[ACTION_REDISPATCH], toy.stopped);
    abandoned += toy.stopped;
  }
  print_message("%lu blocks were abandoned\n", abandoned);
  assert_true(abandoned > 200);
  arena_free(arena);
}

static Verdict twice_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Toy *toy = hook->own;
  toy_note_block(toy, event);
  if (!event->done || toy->done[ACTION_REDISPATCH] >= toy->most) return VERDICT_PASS;
  Action action = {.kind = ACTION_REDISPATCH, .sm = 0, .block = event->who->block};
  machine->act(machine, &action);
  return VERDICT_PASS;
}

// The last one too: the launch is not over before it has ended again.
static void ended_blocks_run_again(void **state) {
  (void)state;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(idempotent); i++) {
    const Workload *workload = workload_find(idempotent[i]);
    Spec spec;
    toy_spec(&spec, arena, machines[i % COUNT_OF(machines)]);
    ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL);
    Toy toy = {.most = UINT32_MAX};
    toy_open(&toy, ACTION_BIT(ACTION_REDISPATCH));
    toy.most = (uint32_t)plain.blocks;
    toy.hook.block = twice_block;
    ToyResult result = toy_run(workload, &spec, &toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(result.blocks, plain.blocks + toy.done[ACTION_REDISPATCH]);
    assert_int_equal(toy.started, toy.ended);
    assert_true(toy.done[ACTION_REDISPATCH] >= plain.blocks);
  }
  arena_free(arena);
}

// A block that nobody sends out again is missing: the launch hangs, it does not end with wrong results.
static void abandoned_blocks_are_owed(void **state) {
  (void)state;
  Arena *arena = arena_new();
  Spec spec;
  toy_spec(&spec, arena, machines[0]);
  Toy toy = {.every = 900, .act = abandon_some, .most = 1};
  toy_open(&toy, ACTION_BIT(ACTION_ABANDON));
  ToyResult result = toy_run(workload_find("matmul"), &spec, &toy.hook, NULL, NULL);
  assert_int_equal(toy.done[ACTION_ABANDON], 1);
  assert_int_equal(result.trap, TRAP_HANG);
  arena_free(arena);
}

// ---- Copies --------------------------------------------------------------------------------------------

typedef struct Place {
  uint32_t sm, block_slot;
} Place;

static bool find_place(Toy *toy, uint32_t of[TOY_SMS][TOY_SLOTS], Place *place) {
  uint32_t first = toy_draw(toy, TOY_SMS * TOY_SLOTS);
  for (uint32_t i = 0; i < TOY_SMS * TOY_SLOTS; i++) {
    uint32_t at = (first + i) % (TOY_SMS * TOY_SLOTS);
    *place = (Place){at / TOY_SLOTS, at % TOY_SLOTS};
    if (of[place->sm][place->block_slot] != 0) return true;
  }
  return false;
}

// Any mirror goes on from where any block is.
static bool copy_some(Toy *toy, HookMachine *machine) {
  Place mirror, from;
  if (!find_place(toy, toy->mirror, &mirror) || !find_place(toy, toy->resident, &from)) return true;
  Action action = {
      .kind = ACTION_COPY, .sm = mirror.sm, .block_slot = mirror.block_slot, .from_sm = from.sm, .from_block_slot = from.block_slot};
  action.cycles = toy_draw(toy, 40);
  machine->act(machine, &action);
  return true;
}

// Rows of a structure that each SM has, `count` of them from `first` on.
static void assert_rows_equal(const HookMachine *machine, const char *name, Place a, uint32_t a_first, Place b, uint32_t b_first,
                              uint32_t count) {
  const Region *region = &machine->regions->items[region_find(machine->regions, name)];
  uint64_t per_sm = region->rows / region->dims[0].count;
  const uint8_t *base = machine->block + region->base;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t *row = base + (a.sm * per_sm + a_first + i) * region->row_bytes,
                  *other = base + (b.sm * per_sm + b_first + i) * region->row_bytes;
    assert_memory_equal(row, other, region->units * region->unit_bytes);
  }
}

static Verdict check_copy(Hook *hook, HookMachine *machine, const ActionEvent *event) {
  Toy *toy = hook->own;
  const Action *action = event->action;
  toy_action(hook, machine, event);
  if (action->kind != ACTION_COPY || !event->done) return VERDICT_PASS;
  Place to = {action->sm, action->block_slot}, from = {action->from_sm, action->from_block_slot};
  uint32_t warps = toy->most; // of a block
  assert_rows_equal(machine, "rf", to, to.block_slot * warps * machine->warp_rows, from, from.block_slot * warps * machine->warp_rows,
                    warps * machine->warp_rows);
  assert_rows_equal(machine, "pred", to, to.block_slot * warps, from, from.block_slot * warps, warps);
  assert_rows_equal(machine, "warp.alive", to, to.block_slot * warps, from, from.block_slot * warps, warps);
  toy->mirror[to.sm][to.block_slot] = toy->resident[from.sm][from.block_slot];
  return VERDICT_PASS;
}

static Verdict note_warps(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Toy *toy = hook->own;
  (void)machine;
  toy->most = (event->block[0] * event->block[1] * event->block[2] + 31) / 32;
  memset(toy->resident, 0, sizeof toy->resident);
  memset(toy->mirror, 0, sizeof toy->mirror);
  return VERDICT_PASS;
}

static void copies_are_equal_and_change_no_result(void **state) {
  (void)state;
  Arena *arena = arena_new();
  uint64_t copied = 0;
  for (uint32_t i = 0; i < workload_count; i += TEST_STEP) {
    Spec spec;
    toy_spec(&spec, arena, machines[i / TEST_STEP % COUNT_OF(machines)]);
    Toy toy = {.seed = i, .every = 200 + i, .act = copy_some};
    toy_open(&toy, ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_COPY));
    toy.hook.block = mirror_block;
    toy.hook.launch = note_warps;
    toy.hook.action = check_copy;
    ToyResult plain = toy_run(workloads[i], &spec, NULL, NULL, NULL), result = toy_run(workloads[i], &spec, &toy.hook, NULL, NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(toy.traps, 0); // of mirrors: what they go on with makes sense
    copied += toy.done[ACTION_COPY];
  }
  print_message("%lu copies\n", copied);
  assert_true(copied > 200 / TEST_STEP);
  arena_free(arena);
}

// Protections that keep something of each instruction or cell know what happens to blocks.
static void other_protections_go_along(void **state) {
  (void)state;
  static const char *const others[] = {"dmr", "secded:all"};
  Arena *arena = arena_new();
  Diags diags = {0};
  for (uint32_t i = 0; i < 2 * COUNT_OF(idempotent); i++) {
    const Workload *workload = workload_find(idempotent[i / 2]);
    Spec spec;
    toy_spec(&spec, arena, machines[i / 2 % COUNT_OF(machines)]);
    Toy abandons = {.seed = i, .every = 61, .act = abandon_some, .most = 9}, copies = {.seed = i, .every = 150, .act = copy_some};
    toy_open(&abandons, ACTION_BIT(ACTION_ABANDON) | ACTION_BIT(ACTION_REDISPATCH));
    abandons.hook.block = again_block;
    toy_open(&copies, ACTION_BIT(ACTION_MIRROR) | ACTION_BIT(ACTION_COPY));
    copies.hook.block = mirror_block;
    copies.hook.launch = note_warps;
    ToyResult plain = toy_run(workload, &spec, NULL, NULL, NULL);
    ToyResult result = toy_run(workload, &spec, &abandons.hook, protect_new(others[i % 2], arena, &diags), NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    result = toy_run(workload, &spec, &copies.hook, protect_new(others[i % 2], arena, &diags), NULL);
    assert_int_equal(result.trap, TRAP_NONE);
    assert_int_equal(result.output_hash, plain.output_hash);
    assert_int_equal(result.corrected + result.repeated, 0);
  }
  diags_free(&diags);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mirrors_change_no_result),   cmocka_unit_test(mirrors_that_send_change_no_result),
      cmocka_unit_test(abandoned_blocks_run_again), cmocka_unit_test(ended_blocks_run_again),
      cmocka_unit_test(abandoned_blocks_are_owed),  cmocka_unit_test(copies_are_equal_and_change_no_result),
      cmocka_unit_test(other_protections_go_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
